# Training 8 queens: the board is valid, and from the hundredth epoch on memory stands still.
expect_status 0 "$MASU" run examples/n_queens.tl
expect_in_stdout 'epoch 100 '
grep '^[Q.] ' "$MASU_TMP.stdout" | tail -n 8 | awk '
    {
        if (NF != 8) wrong = "a row of " NF
        for (c = 1; c <= 8; c++)
            if ($c == "Q") { queens++; row[NR]++; column[c]++; up[NR + c]++; down[NR - c]++ }
    }
    END {
        if (NR != 8 || queens != 8) wrong = queens + 0 " queens in " NR " rows"
        for (i in row) if (row[i] > 1) wrong = "two in a row"
        for (i in column) if (column[i] > 1) wrong = "two in a column"
        for (i in up) if (up[i] > 1) wrong = "two on a rising diagonal"
        for (i in down) if (down[i] > 1) wrong = "two on a falling diagonal"
        if (wrong != "") { print "the board: " wrong; exit 1 }
    }' || fail "$(tail -n 12 "$MASU_TMP.stdout")"

long=20000
[ -z "$MASU_SANITIZE" ] || long=1000
value() { # EPOCHS KEY
    sed 's/[{},]/\n/g' "$MASU_TMP/$1" | sed -n "s/^ *\"$2\": *//p"
}
train() { # EPOCHS: one attempt, whatever its board; the report goes to $MASU_TMP/EPOCHS
    expect_status 0 "$MASU" run --report=json --report-file="$MASU_TMP/$1" examples/n_queens.tl "$1" 1
}
train 100
train 200
train "$long"
[ "$(value "$long" allocations)" -gt "$(value 100 allocations)" ] || fail "$long epochs allocate no more than 100"
for key in pool_misses device_allocations peak_bytes; do
    expect_report "$MASU_TMP/$long" "$key" == "$(value 100 "$key")"
done
expect_report "$MASU_TMP/$long" live_tensors == 0

# Resident memory is the machine's, and the executable's pages come and go with the page cache: only the pages of the
# heap and the stacks stay flat. Sanitizers have pages of their own.
if [ -z "$MASU_SANITIZE" ]; then
    expect_report "$MASU_TMP/$long" rss_anon_bytes '<=' "$(($(value 200 rss_anon_bytes) + 512 * 1024))"
    expect_report "$MASU_TMP/$long" rss_anon_peak_bytes '<' "$((16 * 1024 * 1024))"
    expect_report "$MASU_TMP/$long" rss_peak_bytes '<' "$((96 * 1024 * 1024))"
fi

# The most that tensors ever take, in pools and in frames together.
[ "$(($(value "$long" peak_bytes) + $(value "$long" frame_bytes_peak)))" -le 13036 ] || fail "tensors take more than 13,036 bytes"
expect_report "$MASU_TMP/$long" retain_ops == 0
# Not a single acquire in what was compiled.
expect_status 0 "$MASU" explain --json examples/n_queens.tl
grep -q '"acquires": 0, ' "$MASU_TMP.stdout" || fail "explain counts no acquires"
! grep -qE '"acquires": [1-9]' "$MASU_TMP.stdout" || fail "an acquire is left"
