# Executables: what they print, how they end and what their report counts is what `masu run` says.
exe=$MASU_TMP/program
cannot="$MASU_TMP/none"

. tests/executables.sh

same_as_run_each 1 examples/structs.tl examples/mlp.tl tests/golden/lang_seeded_random.tl tests/golden/err_panic.tl
same_as_run_each 3 tests/golden/own_*.tl tests/golden/sh*.tl

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
