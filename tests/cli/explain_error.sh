# masu explain-error: lists the kinds, explains one; `masu check` names the kinds it met.
expect_status 0 "$MASU" explain-error
expect_in_stdout 'E0104  a match that forgets values'
expect_status 0 "$MASU" explain-error E0104
expect_in_stdout 'Every value of the matched type needs an arm'
expect_status 2 "$MASU" explain-error E9999
expect_in_stderr 'there is no error `E9999`'
printf 'fn main() {\n    let x: i64 = 2.5;\n    match x { 1 => println("one") }\n    y + 1;\n    z + 1;\n}\n' >"$MASU_TMP/a.tl"
expect_status 1 "$MASU" check "$MASU_TMP/a.tl"
expect_in_stderr 'note: `masu explain-error E0101`: a value of another type'
expect_in_stderr 'note: `masu explain-error E0104`: a match that forgets values'
[ "$(grep -c E0102 "$MASU_TMP.stderr")" -eq 1 ] || fail 'a kind is named once'
