# Derivatives of derivatives of every operation of the tables, against differences; the programs are what the tables
# give.
for program in tests/vectors/second_[0-9].tl; do
    expect_status 0 "$MASU" run "$program"
    expect_stderr ''
    expect_in_stdout '0 of 5'
done
expect_status 0 python3 -B tests/vectors/second.py --check
