# masu explain-error: lists the kinds, explains one by code or by message; `masu check` names the kinds it met.
expect_status 0 "$MASU" explain-error
expect_in_stdout 'E0104  a pattern that forgets values'
expect_status 0 "$MASU" explain-error E0104
expect_in_stdout 'Every value of the matched type needs an arm'
expect_status 2 "$MASU" explain-error E9999
expect_in_stderr 'there is no error `E9999`'
expect_status 0 "$MASU" explain-error 'there is no variable `cannot be broadcast`'
expect_in_stdout 'E0102: a name that nothing declares'
expect_status 2 "$MASU" explain-error 'no message of the compiler'
printf 'fn main() {\n    let x: i64 = 2.5;\n    match x { 1 => println("one") }\n    y + 1;\n    z + 1;\n}\n' >"$MASU_TMP/a.tl"
expect_status 1 "$MASU" check "$MASU_TMP/a.tl"
expect_in_stderr 'note: `masu explain-error E0101`: a value of another type'
expect_in_stderr 'note: `masu explain-error E0104`: a pattern that forgets values'
[ "$(grep -c E0102 "$MASU_TMP.stderr")" -eq 1 ] || fail 'a kind is named once'

# Every message is a row, and an answer to its own text. Nothing in the compiler or the command finds out by a message's
# words what it was.
grep -E '^(ERROR|ERROR_HELP|WARNING)\(' -A1 src/language/diagnose/diagnostics.def | tr '\n' ' ' | sed 's/ERROR\(_HELP\)\{0,1\}(/\n&/g; s/WARNING(/\n&/g' |
    sed -n 's/^[A-Z_]*(\([a-z0-9_]*\), \([EW][0-9]*\), *"\(\([^"\\]\|\\.\)*\)"[,)] .*/\2 \3/p' | grep -v ' %s$' | sed 's/\\"/"/g; s/%[.*0-9]*\(lld\|llu\|s\|u\|d\)/x/g' | sort -u >"$MASU_TMP/rows"
[ "$(wc -l <"$MASU_TMP/rows")" -ge 200 ] || fail "only $(wc -l <"$MASU_TMP/rows") rows found"
cut -d' ' -f2- "$MASU_TMP/rows" >"$MASU_TMP/messages"
expect_status 0 sh -c "'$MASU' explain-error - <'$MASU_TMP/messages'"
sort -u "$MASU_TMP.stdout" >"$MASU_TMP/coded"
diff "$MASU_TMP/rows" "$MASU_TMP/coded" >"$MASU_TMP/differ" || fail "rows whose text has another code: $(head -n 6 "$MASU_TMP/differ")"
! grep -rnE 'str(str|cmp|ncmp)\([^;]*->message' src/language src/tool | grep -v 'diagnose/diagnostics.c.*entry->message, message' || fail 'a message is read again'
# A call names a row: no text stands in it.
! grep -rnE '(diagnostics_say|parser_say)\([^;"]*, "' src/language | grep -v 'row, "%s"' || fail 'a message outside of diagnostics.def'

# Every kind is met by a golden program, but for the compiler's own mistakes, what ends a running program, and what only
# `masu build --shared` and `--c` say (build_shared.sh, plain_c.sh).
{ "$MASU" check tests/golden/err_*.tl tests/golden/warn_*.tl 2>&1 || :; } | sed -n 's/^note: `masu explain-error \([EW][0-9]*\)`.*/\1/p' | sort -u >"$MASU_TMP/met"
"$MASU" explain-error | cut -d' ' -f1 | grep -vE "E0900|E0125|E0128|E0129" | sort >"$MASU_TMP/kinds"
comm -13 "$MASU_TMP/met" "$MASU_TMP/kinds" >"$MASU_TMP/unmet"
[ ! -s "$MASU_TMP/unmet" ] || fail "no golden program meets $(tr '\n' ' ' <"$MASU_TMP/unmet")"
