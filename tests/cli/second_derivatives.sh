# Derivatives of derivatives of every operation of the tables, against differences; the programs are what the tables give.
for program in tests/vectors/second_[0-9].tl; do
    expect_status 0 "$MASU" run "$program"
    expect_stderr ''
    grep -q '^0 of [0-9]* differ$' "$MASU_TMP/stdout" || fail "$program: $(cat "$MASU_TMP/stdout")"
done
expect_status 0 python3 -B tests/vectors/second.py --check
