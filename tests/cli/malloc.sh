# libmasu-malloc.so in place of malloc: what C, POSIX and C++ say of it, its names, its report, settings that are not
# understood.
library=$MASU_BUILD/libmasu-malloc.so
[ -z "$MASU_SANITIZE" ] || skip "a sanitizer replaces malloc itself"
cc=$(sed -n 's/^CMAKE_C_COMPILER:[A-Z]*=//p' "$MASU_BUILD/CMakeCache.txt")
case $cc in *clang*) cxx=$cc++ ;; *) cxx=g++ ;; esac
face=$MASU_TMP/face

expect_status 0 "$cc" -O1 -fno-builtin -w tests/malloc/face.c -o "$face"
for settings in MASU_NOTHING=1 MASU_HUGE_PAGES=1 MASU_CHECKED=1 MASU_LIMIT=2G; do
    expect_status 0 env LD_PRELOAD="$library" "$settings" "$face"
    expect_stdout ''
    expect_stderr ''
done
# linked, in place of preloaded
expect_status 0 "$cc" -O1 -fno-builtin -w tests/malloc/face.c "$library" -Wl,-rpath,"$MASU_BUILD" -o "$face.linked"
expect_status 0 env MASU_REPORT=json "$face.linked"
expect_in_stderr '"refused_frees":0'

if command -v "$cxx" >/dev/null; then
    expect_status 0 "$cxx" -std=c++17 -O0 -pthread tests/malloc/operators.cpp -o "$MASU_TMP/operators"
    expect_status 0 env LD_PRELOAD="$library" MASU_REPORT=json "$MASU_TMP/operators"
    expect_stdout ''
    expect_in_stderr '"refused_frees":0'
fi

# Whatever mimalloc puts in place of the C library's is here too.
mimalloc=$(ls /usr/lib/*/libmimalloc.so.2 /usr/lib/libmimalloc.so.2 2>/dev/null | head -n 1)
if [ -n "$mimalloc" ]; then
    nm -D --defined-only "$mimalloc" | awk '$3 !~ /^mi_/ && $2 ~ /[TWV]/ { print $3 }' | sort >"$MASU_TMP/theirs"
    nm -D --defined-only "$library" | awk '{ print $3 }' | sort >"$MASU_TMP/ours"
    [ -s "$MASU_TMP/theirs" ] || fail 'mimalloc exports nothing'
    [ -z "$(comm -23 "$MASU_TMP/theirs" "$MASU_TMP/ours")" ] || fail "missing: $(comm -23 "$MASU_TMP/theirs" "$MASU_TMP/ours")"
fi
nm -D --defined-only "$library" | grep -q ' masu_' && fail 'names of masu leave the library'

# The report: on standard error, also of a program that closes it at its end; in a file that processes share, or one for
# each. (A shell that leaves by _exit says nothing.)
expect_status 0 env LD_PRELOAD="$library" MASU_REPORT=text ls /
expect_in_stderr 'blocks given'
expect_status 0 env LD_PRELOAD="$library" MASU_REPORT=json MASU_REPORT_FILE="$MASU_TMP/shared" sh -c 'ls / >/dev/null; ls /; true'
[ "$(grep -c '^{"process":[0-9]*,"allocations":[1-9][0-9]*,.*}$' "$MASU_TMP/shared")" = 2 ] || fail "$(cat "$MASU_TMP/shared")"
mkdir "$MASU_TMP/each"
expect_status 0 env LD_PRELOAD="$library" MASU_REPORT=json MASU_REPORT_FILE="$MASU_TMP/each/%p" sh -c 'ls / >/dev/null; ls /; true'
[ "$(ls "$MASU_TMP/each" | wc -l)" = 2 ] || fail "$(ls "$MASU_TMP/each")"

# What lies idle goes back: by calls, by a thread in a program that rests, by a cap, by mallopt. The program prints the
# MiB that it had at most beyond its beginning, and those that it has at the end.
expect_status 0 "$cc" -O1 -fno-builtin -w tests/malloc/idle.c -o "$MASU_TMP/idle"
idle_mib() { # FIRST LAST, of the run before
    read -r most last <"$MASU_TMP.stdout"
    [ "$most" -ge "$1" ] && [ "$last" -le "$2" ] || fail "$last_command: $most MiB at most, $last at the end"
}
expect_status 0 env LD_PRELOAD="$library" "$MASU_TMP/idle" rest
read -r most last <"$MASU_TMP.stdout"
[ "$last" -gt 60 ] || fail "$last MiB at the end: the test shows nothing"
expect_status 0 env LD_PRELOAD="$library" MASU_DECAY_MS=100 MASU_DECAY_THREAD=1 "$MASU_TMP/idle" rest
idle_mib 90 15
expect_status 0 env LD_PRELOAD="$library" MASU_DECAY_MS=100 "$MASU_TMP/idle" call
idle_mib 90 15
expect_status 0 env LD_PRELOAD="$library" MASU_MAX_IDLE=8M "$MASU_TMP/idle" none
idle_mib 90 15
expect_status 0 env LD_PRELOAD="$library" "$MASU_TMP/idle" mallopt
idle_mib 90 15
expect_status 0 env LD_PRELOAD="$library" MASU_DECAY_THREAD=1 ls /
expect_in_stderr 'has no effect without MASU_DECAY_MS'

for wrong in MASU_DECAY_MS=soon MASU_MAX_IDLE=M MASU_REPORT=much MASU_LIMIT=12X MASU_LIMIT=-5 MASU_HUGE_PAGES=yes MASU_FAIL_AT=99999999999999999999999; do
    expect_status 0 env LD_PRELOAD="$library" "$wrong" ls /
    expect_in_stderr "masu-malloc: $wrong is not understood"
done

# What is freed twice ends a program that asks for checks.
cat >"$MASU_TMP/twice.c" <<'C'
#include <stdlib.h>
int main(void) {
    void *volatile a = malloc(100), *volatile b = malloc(100);
    free(a), free(b), free(a);
    return 0;
}
C
expect_status 0 "$cc" -O0 -fno-builtin -w "$MASU_TMP/twice.c" -o "$MASU_TMP/twice"
(env LD_PRELOAD="$library" MASU_CHECKED=1 "$MASU_TMP/twice" 2>"$MASU_TMP/said") && fail 'a double free goes through'
grep -q 'masu-malloc: free of 0x' "$MASU_TMP/said" || fail "$(cat "$MASU_TMP/said")"
