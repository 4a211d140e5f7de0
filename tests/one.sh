#!/bin/sh
# Runs one test in a process of its own, with a time limit, and notes how it ended. Called by tests/run.sh only.
#
#     tests/one.sh 'NUMBER|KIND|NAME|FLAGS'      NAME is a path; FLAGS are those a golden program is run with, one time
#                                                after the other, apart by commas
#
# Writes $MASU_WORK/NUMBER.result (pass, skip or fail, kind, name, how many runs that were, seconds of processor time),
# NUMBER.out (what it printed) and NUMBER.skipped (what was left out, and why). A test that is left out as a whole ends
# with status 77 and says "skipped: …".
set -u
IFS='|' read -r number kind name flags <<LINE
$1
LINE
MASU_TMP=$MASU_WORK/$number.tmp
out=$MASU_WORK/$number.out
export MASU_TMP
mkdir "$MASU_TMP"

# A sweep is hundreds of runs, a golden program about ten; installing may have to build first.
case $kind in hostile | install | golden) MASU_TIMEOUT=$((MASU_TIMEOUT * 5)) ;; esac
limit() { timeout -k 10 "$MASU_TIMEOUT" "$@"; }

status=0
case $kind:$name in
golden:*) limit sh tests/golden.sh "$name" "$flags" >"$out" 2>&1 || status=$? ;;
*.sh) limit sh -euc ". tests/expect.sh; . \"\$0\"" "./$name" >"$out" 2>&1 </dev/null || status=$? ;;
*) limit "$name" >"$out" 2>&1 </dev/null || status=$? ;;
esac

verdict=pass
case $status in
0) ;;
77) verdict=skip ;; # only with a reason: "skipped: …"
*) verdict=fail ;;
esac
# Reasons, and the functions of a program that were left out; cmocka ends with a list of them.
[ "$verdict" = fail ] || grep -E '^skipped: |^\[  SKIPPED \] [a-z]' "$out" | sort -u >"$MASU_WORK/$number.skipped"
if [ "$verdict" = skip ] && [ ! -s "$MASU_WORK/$number.skipped" ]; then
    echo "skipped without a reason" >>"$out"
    verdict=fail
fi
case $status in
124 | 137) echo "timed out after $MASU_TIMEOUT s" >>"$out" ;;
0 | 1 | 77) ;;
*) echo "ended with status $status" >>"$out" ;;
esac

label=${name#"$MASU_BUILD/"}
case $flags in '' | *,*) ;; *) label="$label $flags" ;; esac
runs=1
[ ! -f "$MASU_TMP/runs" ] || read -r runs <"$MASU_TMP/runs"
# Processor time of all that ran here; `times` would speak of a subshell inside a pipe.
times >"$MASU_TMP/times"
seconds=$(awk -F'[ms ]' 'NR == 2 { print 60 * $1 + $2 + 60 * $4 + $5 }' "$MASU_TMP/times")
# Whole at once: a reader may wait for it.
echo "$verdict|$kind|$label|$runs|$seconds" >"$MASU_WORK/$number.ending"
mv "$MASU_WORK/$number.ending" "$MASU_WORK/$number.result"
if [ "$verdict" = fail ]; then
    echo "FAIL $label"
elif [ "$MASU_VERBOSE" = yes ]; then
    echo "ok   $label"
fi
rm -rf "$MASU_TMP" "$MASU_TMP".*
