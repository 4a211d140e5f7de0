# Every example of the tables of operations on drawn operands: values, gradients, views against copies. Then that
# nothing is left out: an operation of docs/operations.md has such cases or stands in exempt.txt, not both; an example
# of any shape was asked in f32 and f64, in every rank that it takes, without elements, on views of each kind (expanded
# ones where equal elements leave one answer).
folder=tests/vectors
for program in "$folder"/any_[0-9].tl; do
    expect_status 0 "$MASU" run "$program"
    expect_stderr ''
done

awk -f "$folder/coverage.awk" "$folder"/any_[0-9].tl >"$MASU_TMP/coverage"
[ "$(wc -l <"$MASU_TMP/coverage")" -gt 300 ] || fail 'the recorded programs have no cases'
sed -n '/^## Vec/q; s/^| `\(t\.\|Tensor::\)\([a-z_0-9]*\)[(<].*/\2/p' docs/operations.md | sort -u >"$MASU_TMP/named"
cut -d' ' -f1 "$MASU_TMP/coverage" | sort -u >"$MASU_TMP/drawn"
sed '/^#/d; s/^[^:]*: //' "$folder/exempt.txt" | tr ' ' '\n' | sort >"$MASU_TMP/exempt"
comm -23 "$MASU_TMP/named" "$MASU_TMP/drawn" | comm -23 - "$MASU_TMP/exempt" >"$MASU_TMP/left"
[ ! -s "$MASU_TMP/left" ] || fail "neither drawn nor exempt: $(tr '\n' ' ' <"$MASU_TMP/left")"
comm -12 "$MASU_TMP/exempt" "$MASU_TMP/drawn" >"$MASU_TMP/both"
[ ! -s "$MASU_TMP/both" ] || fail "exempt, but drawn: $(tr '\n' ' ' <"$MASU_TMP/both")"
comm -23 "$MASU_TMP/exempt" "$MASU_TMP/named" >"$MASU_TMP/stale"
[ ! -s "$MASU_TMP/stale" ] || fail "exempt, but no operation: $(tr '\n' ' ' <"$MASU_TMP/stale")"

# Types are those of operands that may have several; square matrices are drawn as rows (test_operations has views of
# them).
awk '{ generic = length($5) > 3; highest = $5 ~ /6/
    if ($4 != "-" && ($4 !~ /f/ || $4 !~ /d/)) print $1 ": not in f32 and f64"
    if (generic && !highest) print $1 ": not in rank 6"
    if (generic && $6 == 0) print $1 ": never without elements"
    if (generic && $7 != "-" && $4 != "-" && ($7 !~ /1/ || $7 !~ /2/ || $7 !~ /3/)) print $1 ": not on all views"
    for (rank = 1; generic && rank < 6; rank++)
        if ($5 ~ "[0-" (rank - 1) "]" && $5 !~ rank) print $1 ": not in rank " rank }' "$MASU_TMP/coverage" >"$MASU_TMP/holes"
[ "$(awk '$7 ~ /4/' "$MASU_TMP/coverage" | wc -l)" -gt 250 ] || fail 'too few on expanded views'
[ ! -s "$MASU_TMP/holes" ] || fail "$(cat "$MASU_TMP/holes")"

expect_derived "$folder/record_any.py"
