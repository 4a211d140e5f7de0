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

# Every message that the compiler's sources can say has a kind: the texts are read out of the calls that report.
cat src/language/syntax/*.c src/language/front/*.c src/language/pass/shape*.c src/language/facts/shape*.c src/language/language.c | tr '\n' ' ' | awk '
    {
        all = $0
        gsub(/parser_expected\(/, "\001E", all)
        gsub(/parser_refuse\(/, "\001R", all)
        gsub(/(diagnostics_error|diagnostics_warning|parser_error)\(/, "\001D", all)
        n = split(all, call, "\001")
        for (i = 2; i <= n; i++) {
            kind = substr(call[i], 1, 1)
            text = call[i]
            sub(/;.*/, ";", text)
            choice = text ~ /\?/
            while (match(text, /"([^"\\]|\\.)*"([ ]+"([^"\\]|\\.)*")*/)) {
                literal = substr(text, RSTART + 1, RLENGTH - 2)
                text = substr(text, RSTART + RLENGTH)
                gsub(/"[ ]+"/, "", literal)
                gsub(/\\"/, "\"", literal)
                gsub(/%[.*0-9]*(llu|lld|s|u|d)/, "x", literal)
                sub(/takes x x, x given/, "takes 2 arguments, 1 given", literal)
                sub(/needs x x$/, "needs field x", literal)
                if (kind == "E") literal = "expected " literal ", found `x`"
                if (kind == "R") literal = "masu does not accept " literal
                if (literal ~ / / && literal !~ /^(expected x|x|x, | \{.*|an? `.*|values? (is|are))$/ && literal !~ /^expected x,/)
                    print literal
                if (!choice) break
            }
        }
    }' | sort -u >"$MASU_TMP/messages"
[ "$(wc -l <"$MASU_TMP/messages")" -ge 150 ] || fail "only $(wc -l <"$MASU_TMP/messages") messages found in the sources"
"$MASU" explain-error - <"$MASU_TMP/messages" >"$MASU_TMP/coded" || {
    grep '^- ' "$MASU_TMP/coded"
    fail 'messages without a kind'
}

# Every kind is met by a golden program, but for the compiler's own mistakes and what takes a file of 2 GiB.
{ "$MASU" check tests/golden/err_*.tl tests/golden/warn_*.tl 2>&1 || :; } | sed -n 's/^note: `masu explain-error \([EW][0-9]*\)`.*/\1/p' | sort -u >"$MASU_TMP/met"
"$MASU" explain-error | cut -d' ' -f1 | grep -v E0900 | sort >"$MASU_TMP/kinds"
comm -13 "$MASU_TMP/met" "$MASU_TMP/kinds" >"$MASU_TMP/unmet"
[ ! -s "$MASU_TMP/unmet" ] || fail "no golden program meets $(tr '\n' ' ' <"$MASU_TMP/unmet")"
