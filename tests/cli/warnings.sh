# `masu run` and `masu build` show warnings as `masu check` does; -q leaves them out, but never an error.
printf 'fn main() {\n    let mut x = 1;\n    println(x);\n}\n' >"$MASU_TMP/warned.tl"
wanted=$("$MASU" check "$MASU_TMP/warned.tl" 2>&1 | grep -v '^note: `masu explain-error')
case $wanted in *'warning: nothing writes to `x`'*) ;; *) fail "masu check said: $wanted" ;; esac
expect_status 0 "$MASU" run "$MASU_TMP/warned.tl"
expect_stdout 1
expect_stderr "$wanted"
for quiet in -q --quiet; do
    expect_status 0 "$MASU" run $quiet "$MASU_TMP/warned.tl"
    expect_stdout 1
    expect_stderr ''
    expect_status 0 "$MASU" check $quiet "$MASU_TMP/warned.tl"
    expect_stderr ''
done
expect_status 0 "$MASU" build "$MASU_TMP/warned.tl" -o "$MASU_TMP/warned"
expect_stderr "$wanted"
expect_status 0 "$MASU_TMP/warned"
expect_stdout 1
expect_stderr ''
printf 'fn main() {\n    let mut x = 1;\n    println(y);\n}\n' >"$MASU_TMP/wrong.tl"
expect_status 1 "$MASU" run -q "$MASU_TMP/wrong.tl"
expect_in_stderr 'error: there is no variable `y`'
