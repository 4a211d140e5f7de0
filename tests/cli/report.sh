# The memory report: for a person on stdout, as one JSON object wherever --report-file says.
expect_status 0 "$MASU" run examples/structs.tl
plain=$(cat "$MASU_TMP.stdout")
expect_stderr ''

expect_status 0 "$MASU" run examples/structs.tl --report
expect_in_stdout "$(echo "$plain" | head -n 1)"
[ "$(wc -l <"$MASU_TMP.stdout")" -gt "$(echo "$plain" | wc -l)" ] || fail "--report prints nothing"
expect_in_stdout live

expect_status 0 "$MASU" run --no-frames examples/structs.tl --report=json --report-file="$MASU_TMP/json"
expect_stdout "$plain"
expect_stderr ''
for key in live_tensors live_bytes scope_depth; do
    expect_report "$MASU_TMP/json" "$key" == 0
done
for key in pool_hits pool_misses retain_ops release_ops; do
    expect_report "$MASU_TMP/json" "$key" '>=' 0
done
for key in peak_bytes allocations device_allocations rss_bytes rss_peak_bytes rss_anon_peak_bytes; do
    expect_report "$MASU_TMP/json" "$key" '>=' 1
done
expect_report "$MASU_TMP/json" wall_seconds '<' 60
[ "$(tr -d '\n' <"$MASU_TMP/json" | grep -c '^{.*}$')" -eq 1 ] || fail "not one object: $(cat "$MASU_TMP/json")"

# Without a file the object goes to stderr.
expect_status 0 "$MASU" run examples/structs.tl --report=json
expect_stdout "$plain"
expect_report "$MASU_TMP.stderr" live_tensors == 0

expect_status 1 "$MASU" run examples/structs.tl --report=json --report-file="$MASU_TMP/no/such/folder"
expect_in_stderr 'no/such/folder'
