# Every program of docs/language.md and docs/training.md prints what stands below it; docs/operations.md is what the
# tables say.
awk -v folder="$MASU_TMP" '
    /^```tl$/ { number++; file = sprintf("%s/%02d.tl", folder, number); next }
    /^```text$/ { file = sprintf("%s/%02d.expected", folder, number); next }
    /^```$/ { file = ""; next }
    file != "" { print > file }' docs/language.md docs/training.md
[ -f "$MASU_TMP/01.tl" ] || fail "docs/language.md has no programs"
for program in "$MASU_TMP"/*.tl; do
    expected=${program%.tl}.expected
    [ -f "$expected" ] || fail "$program: nothing says what it prints"
    expect_status 0 "$MASU" run "$program"
    expect_stdout "$(cat "$expected")"
    expect_status 0 "$MASU" check "$program"
    expect_stderr ''
    expect_status 0 "$MASU" fmt "$program"
done
expect_status 0 "$MASU" help --operations
expect_stdout "$(cat docs/operations.md)"
