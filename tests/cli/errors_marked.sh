# Wrong programs (errors_marked.txt), one or several mistakes each: as many errors as mistakes, each on its line, marked
# there by `//~`; what people bring from other languages, misspelt names, wrong numbers and types of arguments, shapes.
mkdir "$MASU_TMP/marked"
awk -v folder="$MASU_TMP/marked" '
    /^=== / {
        file = sprintf("%03d.tl", ++count)
        line = 0
        next
    }
    {
        line++
        for (at = $0; sub("//~", "", at); )
            print file ":" line
        sub(" *//~.*", "")
        print >(folder "/" file)
    }' tests/cli/errors_marked.txt | sort >"$MASU_TMP/wanted"
[ "$(wc -l <"$MASU_TMP/wanted")" -gt 200 ] || fail 'hardly any mistakes in errors_marked.txt'
here=$PWD
case $MASU in /*) ;; *) MASU=$here/$MASU ;; esac
cd "$MASU_TMP/marked"
expect_status 1 "$MASU" check *.tl
cd "$here"
sed -n 's/^\([0-9]*\.tl:[0-9]*\):[0-9]*: error: .*/\1/p' "$MASU_TMP.stderr" | sort >"$MASU_TMP/found"
diff "$MASU_TMP/wanted" "$MASU_TMP/found" >"$MASU_TMP/differs" ||
    fail "errors that are marked and not said (<), said and not marked (>): $(cat "$MASU_TMP/differs")"

# A caret stands below what it shows: tabs, characters of two columns, line ends of two bytes.
printf 'fn main() {\r\n\tlet s = "\346\227\245\346\234\254"; let b = nope;\r\n}\r\n' >"$MASU_TMP/wide.tl"
expect_status 1 "$MASU" check "$MASU_TMP/wide.tl"
expect_in_stderr "wide.tl:2:24: error: there is no variable"
grep -q "^$(printf '\t')                        ^~~~\$" "$MASU_TMP.stderr" || fail "caret: $(cat "$MASU_TMP.stderr")"
