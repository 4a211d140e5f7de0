# MASU_TRACE under libmasu-malloc.so: what the trace says is what the pool counted, from the loader's first block on,
# for plain programs, threads, forks and handlers; who asked is named; one process at a time writes a file.
library=$MASU_BUILD/libmasu-malloc.so
[ -z "$MASU_SANITIZE" ] || skip "a sanitizer replaces malloc itself"
cc=$(sed -n 's/^CMAKE_C_COMPILER:[A-Z]*=//p' "$MASU_BUILD/CMakeCache.txt")
trace=$MASU_TMP/a.trace
counted=$MASU_TMP/counted

number() { sed -n "s/.*\"$1\":\([0-9]*\).*/\1/p" "$2" | head -n 1; } # NAME FILE
# traced PROGRAM…   runs it; the trace's numbers are those of the report at the end
traced() {
    rm -f "$counted" "$trace"
    expect_status 0 env LD_PRELOAD="$library" MASU_TRACE="$trace" MASU_REPORT=json MASU_REPORT_FILE="$counted" "$@"
    expect_stderr ''
    tail -n 1 "$counted" >"$MASU_TMP/last" # children of a fork report before it
    expect_status 0 "$MASU" report "$trace" --json
    tr ',' '\n' <"$MASU_TMP.stdout" >"$MASU_TMP/facts"
    expect_in_stdout '"missing":""'
    for pair in requests:allocations frees:frees live_blocks:live_blocks live_bytes:live_bytes peak_bytes:peak_bytes most_reserved_bytes:peak_reserved_bytes; do
        [ "$(number "${pair%:*}" "$MASU_TMP/facts")" = "$(number "${pair#*:}" "$MASU_TMP/last")" ] ||
            fail "$*: $pair is $(number "${pair%:*}" "$MASU_TMP/facts") in the trace, $(number "${pair#*:}" "$MASU_TMP/last") in the report"
    done
}

traced ls /
[ "$(number requests "$MASU_TMP/facts")" -gt 50 ] || fail 'too little is seen'
expect_in_stdout '"settings":{"program":"'
expect_in_stdout '"where":"libc.so.6+0x'
if python=$(python3 -c 'import sys; print(sys.executable)' 2>/dev/null); then
    traced "$python" -c 'print(len([bytearray(5000 + i) for i in range(3000)]))'
    [ "$(number peak_bytes "$MASU_TMP/facts")" -gt 15000000 ] || fail 'the arrays are not in it'
fi

expect_status 0 "$cc" -O1 -fno-builtin -w tests/malloc/face.c -o "$MASU_TMP/face"
traced "$MASU_TMP/face"
expect_status 0 "$cc" -O1 -fno-builtin -w -pthread tests/malloc/storm.c -o "$MASU_TMP/storm"
for what in 'threads 8' 'waves 100' fork signals 'grow 2' ends; do
    # shellcheck disable=SC2086 # a word and a number
    traced "$MASU_TMP/storm" $what
done

# Who asked: the function of the program that called, for each way to ask.
cat >"$MASU_TMP/who.c" <<'C'
#include <stdlib.h>
__attribute__((noinline)) void *leak_here(void) { void *volatile p = malloc(111111); return p; }
__attribute__((noinline)) void *zeroed_here(void) { void *volatile p = calloc(3, 77777); return p; }
__attribute__((noinline)) void *grown_here(void) { void *volatile p = realloc(NULL, 5); p = realloc(p, 333333); return p; }
__attribute__((noinline)) void *aligned_here(void) { void *volatile p = NULL; posix_memalign((void **)&p, 4096, 444444); return p; }
int main(void) { return !leak_here() + !zeroed_here() + !grown_here() + !aligned_here(); }
C
expect_status 0 "$cc" -g -O0 -fno-builtin -w "$MASU_TMP/who.c" -o "$MASU_TMP/who"
traced "$MASU_TMP/who"
if command -v addr2line >/dev/null; then
    for pair in leak_here:111111 zeroed_here:233331 grown_here:333333 aligned_here:444444; do
        tr -d '\n' <"$MASU_TMP.stdout" | sed 's/{"where"/\n&/g' | grep "^{\"where\":\"who+.*\"end_bytes\":${pair#*:}," >"$MASU_TMP/line" || fail "no line of ${pair#*:} bytes"
        address=$(sed 's/.*"where":"who+\(0x[0-9a-f]*\)".*/\1/' "$MASU_TMP/line" | head -n 1)
        [ "$(addr2line -f -e "$MASU_TMP/who" "$address" | head -n 1)" = "${pair%:*}" ] || fail "$pair: $address"
    done
fi

# A file each with %p; without it a program that is started meanwhile leaves the file alone and says so.
expect_status 0 env LD_PRELOAD="$library" MASU_TRACE="$MASU_TMP/each.%p" sh -c 'ls / >/dev/null; ls / >/dev/null; true'
[ "$(ls "$MASU_TMP"/each.* | wc -l)" = 3 ] || fail "$(ls "$MASU_TMP")"
for file in "$MASU_TMP"/each.*; do
    expect_status 0 "$MASU" report "$file"
done
expect_status 0 env LD_PRELOAD="$library" MASU_TRACE="$trace" sh -c 'ls / >/dev/null; true'
expect_in_stderr "MASU_TRACE=$trace is being written by another process; write %p in the name for a file each"
expect_status 0 "$MASU" report "$trace"
expect_in_stdout 'Requests '
expect_status 0 env LD_PRELOAD="$library" MASU_TRACE=/no/such/folder/file ls /
expect_in_stderr 'masu-malloc: MASU_TRACE=/no/such/folder/file cannot be written: No such file or directory; nothing is recorded'
expect_status 0 env LD_PRELOAD="$library" MASU_TRACE= ls /
expect_stderr ''

# The recorded calls on other allocators.
traced ls /
expect_status 0 "$MASU" whatif "$trace"
expect_in_stdout 'best fit'
