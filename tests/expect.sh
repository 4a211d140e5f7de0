# What the shell tests say. Read into every tests/*/*.sh by tests/one.sh, which gives them:
#
#     MASU        the command                       MASU_BUILD  the build folder
#     MASU_TMP    an empty folder of their own      and the project's root as current folder
#
# Each expectation that does not hold prints expected and actual and ends the test.

fail() {
    echo "$*"
    exit 1
}

# skip REASON   ends the test: what it needs is not there. It is counted apart, with its reason.
skip() {
    echo "skipped: $*"
    exit 77
}

# expect_status STATUS COMMAND…   runs it; its output is then in $MASU_TMP.stdout and $MASU_TMP.stderr
expect_status() {
    expected_status=$1
    shift
    last_command=$*
    actual_status=0
    "$@" >"$MASU_TMP.stdout" 2>"$MASU_TMP.stderr" </dev/null || actual_status=$?
    [ "$actual_status" -eq "$expected_status" ] && return
    echo "command:  $last_command"
    echo "expected: status $expected_status"
    echo "actual:   status $actual_status"
    show_output
    exit 1
}

show_output() {
    echo "stdout:" && head -n 20 "$MASU_TMP.stdout"
    [ "$(wc -l <"$MASU_TMP.stdout")" -le 20 ] || { echo "…" && tail -n 30 "$MASU_TMP.stdout"; }
    echo "stderr:" && head -n 40 "$MASU_TMP.stderr"
}

# expect_stdout TEXT, expect_stderr TEXT   the whole stream, a last newline aside
expect_stdout() { expect_whole stdout "$1"; }
expect_stderr() { expect_whole stderr "$1"; }
expect_whole() {
    [ "$(cat "$MASU_TMP.$1")" = "$2" ] && return
    echo "command:  $last_command"
    printf 'expected on %s:\n%s\nactual:\n' "$1" "$2"
    head -n 40 "$MASU_TMP.$1"
    exit 1
}

# expect_in_stdout TEXT, expect_in_stderr TEXT   somewhere in the stream
expect_in_stdout() { expect_in stdout "$1"; }
expect_in_stderr() { expect_in stderr "$1"; }
expect_in() {
    grep -qF -e "$2" "$MASU_TMP.$1" && return
    echo "command:  $last_command"
    printf 'expected on %s: … %s …\nactual:\n' "$1" "$2"
    show_output
    exit 1
}

# expect_report FILE KEY OP NUMBER   a number of the report that --report=json wrote
expect_report() {
    awk -v assertions="$2 $3 $4" -f tests/report.awk "$1" || exit 1
}

# expect_derived SCRIPT   what PyTorch gave is derived again by SCRIPT --check where PyTorch is installed
expect_derived() {
    for python in python3 /usr/bin/python3; do
        if "$python" -c 'import torch' 2>/dev/null; then
            expect_status 0 "$python" -B -W ignore "$1" --check
            return
        fi
    done
    echo 'not derived again: PyTorch is not installed'
}
