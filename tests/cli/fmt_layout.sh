# masu fmt over every program there is: a second time changes nothing, the words and comments stay, and a text whose
# blanks and indentation are others is laid out the same.
mkdir "$MASU_TMP/as" "$MASU_TMP/is" "$MASU_TMP/other"
cp tests/golden/*.tl examples/*.tl "$MASU_TMP/as"
cp "$MASU_TMP/as"/* "$MASU_TMP/is"
cd "$MASU_TMP/is"
"$MASU" fmt *.tl 2>../refused || true
sed -n 's/^\([a-zA-Z0-9_]*\.tl\):[0-9:]* error: .*/\1/p' ../refused | sort -u | while read -r f; do
    cmp -s "$f" "../as/$f" || fail "$f cannot be read, and has changed"
    rm "$f" "../as/$f"
done
[ "$(ls | wc -l)" -gt 300 ] || fail 'hardly any program can be laid out'
expect_status 0 "$MASU" fmt --check *.tl
cat ../as/*.tl | tr -d ' \t\n\r' >../before
cat *.tl | tr -d ' \t\n\r' >../after
cmp ../before ../after || fail 'something else than blanks has changed'

# Lines with texts and characters stay: their blanks count.
cd "$MASU_TMP/as"
awk 'BEGIN { srand(7) }
    /^#!\// || /["\047]/ || /\/\*/ || /\*\// { print >("../other/" FILENAME); next }
    {
        comment = match($0, /\/\/.*/) ? substr($0, RSTART) : ""
        code = comment == "" ? $0 : substr($0, 1, RSTART - 1)
        sub(/^[ \t]+/, "", code)
        gsub(/ /, rand() < 0.5 ? "   " : "\t", code)
        printf "%*s%s%s\n", int(rand() * 9), "", code, comment >("../other/" FILENAME)
    }
    FNR == 1 && last != "" { close(last) }
    { last = "../other/" FILENAME }' *.tl
cd "$MASU_TMP/other"
expect_status 0 "$MASU" fmt *.tl
diff -r ../is ../other >../differs || fail "another layout of the same: $(head -n 20 ../differs)"

# Lines that end in two bytes, and a last one without its end.
first=$(ls | head -n 1)
sed 's/$/\r/' "$first" >../crlf.tl
expect_status 0 sh -c '"$1" fmt - <../crlf.tl >../laid && cmp ../laid "$2"' sh "$MASU" "$first"
printf 'fn main() { }' >../short.tl
expect_status 1 "$MASU" fmt --check ../short.tl
expect_status 0 "$MASU" fmt ../short.tl
expect_status 0 "$MASU" fmt --check ../short.tl
