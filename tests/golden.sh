#!/bin/sh
# Runs one program that carries its expectation (the form stands in tests/golden/README.md) and says what differs.
#
#     tests/golden.sh FILE.tl [FLAGS]     with FLAGS the program's own report: lines are left out
set -eu
file=$1
flags=${2:-}
name=$(basename "$file")
tmp=$MASU_TMP
always='live_tensors == 0; live_nodes == 0; live_grads == 0; live_objects == 0; frame_depth == 0; scope_depth == 0'

awk -v tmp="$tmp" '
    function put(key, text) { print text >(tmp "/" key) }
    !/^\/\/!/ { next }
    /^\/\/! \|/ {
        if (!output) { print FILENAME ":" FNR ": output before an output: line"; failed = 1 }
        text = substr($0, 6)
        sub(/^ /, "", text)
        put("expected", text)
        next
    }
    {
        text = substr($0, 4)
        sub(/^ +/, "", text)
        key = text
        sub(/:.*/, "", key)
        sub(key == "stderr" ? "^stderr: ?" : "^[a-z]+: *", "", text)
    }
    key == "output" && text == "" { output = 1; printf "" >(tmp "/expected"); next }
    key ~ /^(status|stderr|args|flags|mode|report|repeat)$/ && text != "" { put(key, text); next }
    { print FILENAME ":" FNR ": not an expectation: " $0; failed = 1 }
    END { exit failed }
' "$file"

read_or() { if [ -f "$tmp/$1" ]; then cat "$tmp/$1"; else echo "$2"; fi; }
expected_status=$(read_or status 0)
mode=$(read_or mode run)
report=
[ "$mode" != run ] || report="--report=json --report-file=$tmp/json"

status=0
# shellcheck disable=SC2046,SC2086 # words, split at spaces
(cd "$(dirname "$file")" && exec "$MASU" "$mode" $(read_or flags '') $flags $report "$name" $(read_or args '')) \
    >"$tmp/out" 2>"$tmp/err" </dev/null || status=$?

failed=0
differs() {
    printf 'expected: %s\nactual:   %s\n' "$1" "$2"
    failed=1
}

[ "$status" -eq "$expected_status" ] || differs "status $expected_status" "status $status"
if [ -f "$tmp/expected" ] && ! cmp -s "$tmp/expected" "$tmp/out"; then
    echo "stdout, - expected, + actual:"
    diff -u "$tmp/expected" "$tmp/out" | tail -n +3 | head -n 60
    failed=1
fi
if [ -f "$tmp/stderr" ]; then
    while IFS= read -r text; do
        grep -qF -e "$text" "$tmp/err" || differs "stderr … $text …" "see stderr"
    done <"$tmp/stderr"
elif [ "$expected_status" -eq 0 ] && [ -s "$tmp/err" ]; then
    differs "nothing on stderr" "see stderr"
fi
if [ "$mode" = run ]; then
    if [ -s "$tmp/json" ]; then
        wanted=$always
        [ -n "$flags" ] || [ ! -f "$tmp/report" ] || wanted="$wanted; $(tr '\n' ';' <"$tmp/report")"
        awk -v assertions="$wanted" -f tests/report.awk "$tmp/json" || failed=1
    else
        differs "a report" "none was written"
    fi
fi
if [ "$failed" -ne 0 ] && [ -s "$tmp/err" ]; then
    echo "stderr:"
    head -n 40 "$tmp/err"
fi
exit "$failed"
