# Executables: what they print, how they end and what their report counts is what `masu run` says.
exe=$MASU_TMP/program
cannot="$MASU_TMP/none"

same_as_run() { # FILE
    (cd "$(dirname "$1")" && "$MASU" build "$(basename "$1")" -o "$exe") >"$MASU_TMP/said" 2>&1 ||
        fail "masu build $1: $(cat "$MASU_TMP/said")"
    [ ! -s "$MASU_TMP/said" ] || fail "masu build $1 says: $(cat "$MASU_TMP/said")"
    run=0
    (cd "$(dirname "$1")" && exec "$MASU" run --report=json --report-file="$MASU_TMP/run.json" "$(basename "$1")") \
        >"$MASU_TMP/run.out" 2>"$MASU_TMP/run.err" </dev/null || run=$?
    built=0
    (cd "$(dirname "$1")" && MASU_REPORT=json MASU_REPORT_FILE="$MASU_TMP/exe.json" exec "$exe") \
        >"$MASU_TMP/exe.out" 2>"$MASU_TMP/exe.err" </dev/null || built=$?
    [ "$run" -eq "$built" ] || fail "$1: run ends with $run, the executable with $built"
    cmp "$MASU_TMP/run.out" "$MASU_TMP/exe.out" || fail "$1: other output"
    cmp "$MASU_TMP/run.err" "$MASU_TMP/exe.err" || fail "$1: other errors"
    # Resident memory, time and what the command itself took from the system are the process's own.
    for report in run exe; do
        grep -vE '"(rss|wall|metadata_reserved)' "$MASU_TMP/$report.json" >"$MASU_TMP/$report.counts"
    done
    diff "$MASU_TMP/run.counts" "$MASU_TMP/exe.counts" || fail "$1: other counters"
}

for program in examples/structs.tl examples/mlp.tl tests/golden/own_*.tl tests/golden/sh*.tl \
    tests/golden/a28_*.tl tests/golden/lang_seeded_random.tl \
    tests/golden/err_panic.tl; do
    [ ! -f "$program" ] || grep -qE '^//! *(args|flags|mode):' "$program" || same_as_run "$program"
done

# Arguments are the program's; memory is a small process's.
expect_status 0 "$MASU" build examples/n_queens.tl -o "$exe"
MASU_REPORT=json MASU_REPORT_FILE=$MASU_TMP/report expect_status 0 "$exe" 20000 1
expect_in_stdout 'epoch 20000 '
expect_report "$MASU_TMP/report" peak_bytes '<=' 13036
expect_report "$MASU_TMP/report" retain_ops == 0
expect_report "$MASU_TMP/report" live_tensors == 0
[ -n "$MASU_SANITIZE" ] || expect_report "$MASU_TMP/report" rss_peak_bytes '<' $((6 * 1024 * 1024))

# What can be wrong.
expect_status 2 "$MASU" build examples/n_queens.tl
expect_in_stderr '-o EXE is missing'
expect_status 2 "$MASU" build -o "$exe"
expect_status 1 env CC="$cannot" "$MASU" build examples/structs.tl -o "$exe"
expect_in_stderr 'needs a C compiler'
expect_status 1 "$MASU" build --library "$cannot" examples/structs.tl -o "$exe"
expect_in_stderr 'to link with'
expect_status 1 "$MASU" build tests/golden/err_types.tl -o "$exe"
expect_in_stderr 'error:'
