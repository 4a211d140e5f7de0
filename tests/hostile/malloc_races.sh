# The functions of libmasu-malloc.so under ThreadSanitizer, which has a malloc of its own: so they have other names here,
# those that tests/malloc/storm.c calls. Threads that hand blocks to each other, come and go, fork (grow), and run out of
# memory. Two parts of the storm are left out, which the sanitizer does not bear: threads that are started in the child of
# a fork, and destructors of thread data that allocate in the last round, when it has left the thread.
[ "$MASU_SANITIZE" = thread ] || skip 'a build with -fsanitize=thread runs it (cmake --preset tsan)'
cc=$(sed -n 's/^CMAKE_C_COMPILER:[A-Z]*=//p' "$MASU_BUILD/CMakeCache.txt")
names='malloc calloc realloc free cfree posix_memalign aligned_alloc memalign valloc pvalloc malloc_usable_size reallocarray
    malloc_trim mallinfo mallinfo2 malloc_info malloc_stats mallopt __libc_malloc __libc_calloc __libc_realloc __libc_free
    __libc_cfree __libc_memalign __libc_valloc __libc_pvalloc __posix_memalign'
renamed=
for name in $names; do renamed="$renamed -D$name=raced_$name"; done
sources=$(find integrations/malloc -name '*.c' ! -name new.c) # operators are named by the C++ library
# shellcheck disable=SC2086 # lists of words
expect_status 0 "$cc" -O1 -g -w -fsanitize=thread -fno-builtin -D_GNU_SOURCE $renamed -Iinclude -I"$MASU_BUILD/include" \
    $sources tests/malloc/storm.c -o "$MASU_TMP/storm" "$MASU_BUILD/libmasu.a" -pthread -ldl -lm
nm "$MASU_TMP/storm" | grep -q ' T raced_malloc$' || fail 'the functions have kept their names'

raced() { # WHAT…   of the storm; settings in front of it by env
    expect_status 0 env TSAN_OPTIONS="$TSAN_OPTIONS:die_after_fork=0" MASU_REPORT=json "$@"
    grep -q 'WARNING: ThreadSanitizer' "$MASU_TMP.stderr" && fail "$(head -n 40 "$MASU_TMP.stderr")"
    grep -q '"refused_frees":0' "$MASU_TMP.stderr" || fail "no block was freed there: $(cat "$MASU_TMP.stderr")"
}
for what in 'threads 100' 'waves 200' 'grow 2'; do
    # shellcheck disable=SC2086 # two words
    raced "$MASU_TMP/storm" $what
done
raced MASU_CHECKED=1 "$MASU_TMP/storm" threads 20
raced MASU_DECAY_MS=1 MASU_DECAY_THREAD=1 "$MASU_TMP/storm" threads 50
raced MASU_MAX_IDLE=1M "$MASU_TMP/storm" threads 50
raced MASU_TRACE="$MASU_TMP/trace" MASU_PUBLISH="$MASU_TMP/page" "$MASU_TMP/storm" threads 20
for nth in 1 2 3 5; do raced MASU_FAIL_AT=$nth "$MASU_TMP/storm" refused; done
