#!/bin/sh
# Fails the nth allocation for n = 1, 2, 3 … while a program runs, until a run gets through: every failing run must
# end with status 1 and an "out of memory" error, every tensor and object released, the report balanced, no crash.
#
#     MASU=build/release/masu sh tests/hostile/sweep.sh      or through tests/run.sh
#
# MASU_FAIL_AT=n is the command's own switch: the nth request for memory after compilation is refused.
# The last line of each program says at how many points it was failed; none at all means that the switch does nothing,
# which fails the test.
set -eu
masu=${MASU:-build/release/masu}
work=${MASU_TMP:-$(mktemp -d)}
mkdir -p "$work"
report=$work/report.json
# A program that still fails after so many points never gets through.
limit=${MASU_SWEEP_LIMIT:-3000}
always='live_tensors == 0; live_objects == 0; live_nodes == 0; live_grads == 0; frame_depth == 0; scope_depth == 0'

stop() { # NAME N TEXT
    echo "$1, MASU_FAIL_AT=$2: $3"
    echo "stderr:"
    head -n 20 "$work/err"
    exit 1
}

# After a failed run: the error stands at a place of the program and names its cause; nothing is left.
check_failed_run() { # NAME N STATUS
    [ "$3" -lt 128 ] || stop "$1" "$2" "crashed, status $3"
    [ "$3" -eq 1 ] || stop "$1" "$2" "status $3 in place of 1"
    grep -qE '\.tl:[0-9]+:[0-9]+: error: .*out of memory' "$work/err" || stop "$1" "$2" "no out of memory error with a place"
    [ -s "$report" ] || stop "$1" "$2" "no report"
    awk -v assertions="$always" -f tests/report.awk "$report" || stop "$1" "$2" "the report does not balance"
}

# The program is run by the command, or is an executable: the same switch, and a run takes a tenth of the time.
by_command() { # FILE [ARGS]; the report goes to $report
    "$masu" run --report=json --report-file="$report" "$@"
}
by_itself() { # FILE [ARGS]
    shift
    MASU_REPORT=json MASU_REPORT_FILE="$report" "$work/program" "$@"
}

sweep() { # HOW FILE [ARGS]
    how=$1
    file=$2
    shift
    name=$(basename "$file")
    [ "$how" = by_command ] || "$masu" build "$file" -o "$work/program"
    # What the undisturbed program prints: a run that got through must print the same.
    "$how" "$@" >"$work/expected" 2>"$work/err" </dev/null || stop "$name" 0 "fails by itself"
    n=0
    while :; do
        n=$((n + 1))
        [ "$n" -le "$limit" ] || stop "$name" "$n" "still failing: the sweep never gets through"
        rm -f "$report"
        status=0
        MASU_FAIL_AT=$n
        export MASU_FAIL_AT
        "$how" "$@" >"$work/out" 2>"$work/err" </dev/null || status=$?
        unset MASU_FAIL_AT
        [ "$status" -ne 0 ] || break
        check_failed_run "$name" "$n" "$status"
    done
    cmp -s "$work/expected" "$work/out" || stop "$name" "$n" "got through, with another output"
    awk -v assertions="$always" -f tests/report.awk "$report" || stop "$name" "$n" "the report does not balance"
    [ "$n" -gt 1 ] || stop "$name" 1 "the first allocation was not refused: nothing was tested"
    echo "$name: failed at each of $((n - 1)) points, released everything each time, then got through"
    points=$((points + n - 1))
}

points=0
sweep by_command tests/golden/a18_views.tl
sweep by_itself examples/structs.tl
# Structs, views, autograd, comprehensions, strings, recursion. All golden programs, in one process each:
# test_goldens.c.
for program in a10_parameter_into_struct a18_views a21_accumulation a26_captured_tensors grad_comprehension \
    lang_strings a15_tail_recursion_small; do
    [ -f "tests/golden/$program.tl" ] || { echo "tests/golden/$program.tl is not there" && exit 1; }
    sweep by_itself "tests/golden/$program.tl"
done
echo "$points points swept"
