# Every example runs, twice the same, and leaves nothing behind.
for example in examples/*.tl; do
    expect_status 0 "$MASU" check "$example"
    expect_status 0 "$MASU" run "$example" --log "$MASU_TMP/log.csv" --report=json --report-file="$MASU_TMP/json"
    expect_stderr ''
    [ -s "$MASU_TMP.stdout" ] || fail "$example prints nothing"
    for key in live_tensors live_bytes live_nodes live_grads live_objects scope_depth frame_depth; do
        expect_report "$MASU_TMP/json" "$key" == 0
    done
    # Numbers that the kernel decides may differ between two runs.
    grep -v memory "$MASU_TMP.stdout" >"$MASU_TMP/first"
    sed 's/,/\n/g' "$MASU_TMP/json" | grep -v -e rss_ -e wall_ >"$MASU_TMP/first.json"
    expect_status 0 "$MASU" run "$example" --log "$MASU_TMP/log.csv" --report=json --report-file="$MASU_TMP/json"
    grep -v memory "$MASU_TMP.stdout" | diff "$MASU_TMP/first" - || fail "$example: two runs differ"
    sed 's/,/\n/g' "$MASU_TMP/json" | grep -v -e rss_ -e wall_ | diff "$MASU_TMP/first.json" - ||
        fail "$example: the reports of two runs differ"
done
