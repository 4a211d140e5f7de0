# libmasu-malloc.so under threads, forks, signals, and without memory: every block carries marks (tests/malloc/storm.c).
library=$MASU_BUILD/libmasu-malloc.so
[ -z "$MASU_SANITIZE" ] || skip "a sanitizer replaces malloc itself"
cc=$(sed -n 's/^CMAKE_C_COMPILER:[A-Z]*=//p' "$MASU_BUILD/CMakeCache.txt")
storm=$MASU_TMP/storm
expect_status 0 "$cc" -O1 -fno-builtin -w -pthread tests/malloc/storm.c -o "$storm"

for what in 'threads 1000' 'waves 1000' fork signals 'grow 4' ends; do
    # shellcheck disable=SC2086 # two words
    expect_status 0 env LD_PRELOAD="$library" MASU_REPORT=json "$storm" $what
    expect_in_stderr '"refused_frees":0'
done
expect_status 0 env LD_PRELOAD="$library" MASU_HUGE_PAGES=1 "$storm" threads 20
expect_status 0 env LD_PRELOAD="$library" MASU_CHECKED=1 "$storm" threads 20
expect_status 0 env LD_PRELOAD="$library" MASU_HUGE_PAGES=1 "$storm" grow 2

# Refused by the device from the nth call on, by a limit, by the system: ENOMEM each time, and what was served stays
# whole.
nth=1
while :; do
    expect_status 0 env LD_PRELOAD="$library" MASU_FAIL_AT=$nth "$storm" refused
    [ "$(cat "$MASU_TMP.stdout")" -gt 0 ] || break # the program asks for no more
    nth=$((nth + 1))
done
[ $nth -gt 3 ] || fail "nothing was refused from call $nth on"
for limit in 1M 5M 100M; do
    expect_status 0 env LD_PRELOAD="$library" MASU_LIMIT=$limit "$storm" refused
    [ "$(cat "$MASU_TMP.stdout")" -gt 0 ] || fail "nothing was refused with $limit"
done
expect_status 0 sh -c 'ulimit -v 300000 && LD_PRELOAD="$1" exec "$2" refused' sh "$library" "$storm"
[ "$(cat "$MASU_TMP.stdout")" -gt 0 ] || fail 'nothing was refused by the system'
