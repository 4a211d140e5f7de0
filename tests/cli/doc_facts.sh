# scripts/check_pages.sh: the pages name nothing that is not there, neither a file nor a function nor an option, and prose is
# not wider than the ruler; and the script finds each kind of fault in a page that has them.
expect_status 0 sh scripts/check_pages.sh "$MASU"
paths=$(sed -n 's/^check_pages: \([0-9]*\) paths.*/\1/p' "$MASU_TMP.stdout")
commands=$(sed -n 's/.* \([0-9]*\) commands$/\1/p' "$MASU_TMP.stdout")
[ "$paths" -gt 80 ] && [ "$commands" -gt 60 ] || fail "only $paths paths and $commands commands were found"
page=$MASU_TMP/page.md
cat >"$page" <<'PAGE'
# A page
`src/no_such_file.c`, `no_such_name.h` and [a link](nowhere.md), [a heading](#none-of-it), `masu_no_such_call`,
`MASU_NO_SUCH_VARIABLE`, and:

    masu run --no-such-option program.tl
PAGE
printf 'wide %0120d\n' 0 >>"$page"
expect_status 1 sh scripts/check_pages.sh "$MASU" "$page"
for found in src/no_such_file.c no_such_name.h 'nowhere.md leads nowhere' 'no heading none-of-it' masu_no_such_call \
    MASU_NO_SUCH_VARIABLE --no-such-option 'at most 120 characters'; do
    expect_in_stdout "$found"
done
[ "$(grep -c . "$MASU_TMP.stdout")" -eq 10 ] || fail "more than the faults: $(cat "$MASU_TMP.stdout")"
