#!/bin/sh
# Runs one program that carries its expectation (the form stands in tests/golden/README.md) and says what differs.
#
#     tests/golden.sh FILE.tl [FLAGS[,FLAGS…]]     once with each, an empty one being the program as it stands. With
#                                                  FLAGS the program's own report: lines and its counters are left out.
#
# How often it ran stands in $MASU_TMP/runs afterwards.
set -eu
file=$1
name=$(basename "$file")
folder=$(dirname "$file")
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
    key ~ /^(status|stderr|args|flags|mode|report|repeat|counters|steady)$/ && text != "" { put(key, text); next }
    { print FILENAME ":" FNR ": not an expectation: " $0; failed = 1 }
    END { exit failed }
' "$file"

line() { # VARIABLE KEY DEFAULT
    value=$3
    [ ! -f "$tmp/$2" ] || IFS= read -r value <"$tmp/$2"
    eval "$1=\$value"
}
line expected_status status 0
line mode mode run
line own_flags flags ''
line own_args args ''
line counters counters ''
line steady steady ''
asserted=
[ ! -f "$tmp/report" ] || asserted=$(tr '\n' ';' <"$tmp/report")
[ -z "$counters" ] || grep -v "^$counters" "$tmp/expected" >"$tmp/expected.uncounted" || true

failed=0
runs=0
differs() {
    printf 'expected: %s\nactual:   %s\n' "$1" "$2"
    wrong=1
}

# run_masu REPORT ARGUMENTS…: the status in $status
run_masu() {
    report=
    [ "$mode" != run ] || report="--report=json --report-file=$1"
    # What a program says on standard error is the program's: warnings have golden programs that expect them.
    [ "$mode" != run ] || [ -f "$tmp/stderr" ] || report="$report -q"
    shift
    status=0
    runs=$((runs + 1))
    # shellcheck disable=SC2086 # words, split at spaces
    (cd "$folder" && exec "$MASU" "$mode" $own_flags $flags $report "$name" "$@") >"$tmp/out" 2>"$tmp/err" </dev/null || status=$?
}

compare_output() {
    wanted=$tmp/expected
    [ -f "$wanted" ] || return 0
    if [ -n "$flags" ] && [ -n "$counters" ]; then
        wanted=$tmp/expected.uncounted
        grep -v "^$counters" "$tmp/out" >"$tmp/out.uncounted" || true
        mv "$tmp/out.uncounted" "$tmp/out"
    fi
    cmp -s "$wanted" "$tmp/out" && return
    echo "stdout, - expected, + actual:"
    diff -u "$wanted" "$tmp/out" | tail -n +3 | head -n 60
    wrong=1
}

compare_errors() {
    if [ -f "$tmp/stderr" ]; then
        while IFS= read -r text; do
            grep -qF -e "$text" "$tmp/err" || differs "stderr … $text …" "see stderr"
        done <"$tmp/stderr"
        # An error or a warning that no line expects is one too many.
        more=$(grep -E ': (error|warning): ' "$tmp/err" | grep -vF -f "$tmp/stderr" | head -n 3)
        [ -z "$more" ] || differs "no other error or warning on stderr" "$more"
    elif [ "$expected_status" -eq 0 ] && [ -s "$tmp/err" ]; then
        differs "nothing on stderr" "see stderr"
    fi
}

compare_report() {
    if [ -s "$tmp/json" ]; then
        wanted=$always
        [ -n "$flags" ] || wanted="$wanted; $asserted"
        awk -v assertions="$wanted" -f tests/report.awk "$tmp/json" || wrong=1
    else
        differs "a report" "none was written"
    fi
    rm -f "$tmp/json"
}

# The program as often around its loop as each of three numbers says, which lie equally far apart: a round costs the
# same however many there were before, and none leaves anything behind.
compare_rounds() {
    # shellcheck disable=SC2086 # three numbers
    set -- $steady
    for rounds in "$1" "$2" "$3"; do
        run_masu "$tmp/rounds.$rounds" "$rounds"
        [ "$status" -eq "$expected_status" ] || differs "status $expected_status after $rounds rounds" "status $status"
    done
    awk -f tests/steady.awk "$tmp/rounds.$1" "$tmp/rounds.$2" "$tmp/rounds.$3" || wrong=1
}

# shellcheck disable=SC2086 # words, split at spaces
once() { # flags are set
    wrong=0
    run_masu "$tmp/json" $own_args
    [ "$status" -eq "$expected_status" ] || differs "status $expected_status" "status $status"
    compare_output
    compare_errors
    [ "$mode" != run ] || compare_report
    [ -z "$steady" ] || [ -n "$flags" ] || compare_rounds
    [ "$wrong" -ne 0 ] || return 0
    failed=1
    [ -z "$flags" ] || echo "with $flags"
    [ ! -s "$tmp/err" ] || { echo "stderr:" && head -n 40 "$tmp/err"; }
}

rest=${2:-},
while [ -n "$rest" ]; do
    flags=${rest%%,*}
    rest=${rest#*,}
    once
done
echo "$runs" >"$tmp/runs"
exit "$failed"
