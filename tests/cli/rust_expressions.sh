# Expressions that Rust and masu both have (tests/rust): each has the value that rustc gave it, as {:?} shows it. Those
# in tests/rust/differs.txt do not yet, each with its reason; one that does by now is a mistake there, too.
awk -F '\t' -v folder="$MASU_TMP" '
    NR == FNR { if ($0 !~ /^(#|$)/) known[$0]; next }
    {
        if ($1 in known) {
            alone++
            file = folder "/known" alone ".tl"
        } else {
            file = folder "/all" (n - n % 60) ".tl"
            n++
        }
        if (!(file in seen)) { seen[file]; print file >(folder "/files") }
        line[file]++
        printf "fn e%d() -> String { format!(\"{:?}\", %s) }\n", line[file], $1 >file
        print $2 >(file ".expected")
        print $1 >(file ".texts")
    }
    END {
        for (file in seen) {
            print "fn main() {" >file
            for (i = 1; i <= line[file]; i++) printf "    println!(\"{}\", e%d());\n", i >file
            print "}" >file
        }
        if (n < 500) { print "only " n " expressions"; exit 1 }
    }
' tests/rust/differs.txt tests/rust/expressions.out || fail "the expressions cannot be read"
while IFS= read -r file; do
    case $file in
    */known*)
        if "$MASU" run "$file" >"$file.actual" 2>/dev/null && cmp -s "$file.expected" "$file.actual"; then
            fail "take this out of tests/rust/differs.txt, it has its value: $(cat "$file.texts")"
        fi
        ;;
    *)
        expect_status 0 "$MASU" run "$file"
        paste "$file.texts" "$file.expected" >"$file.wanted"
        paste "$file.texts" "$MASU_TMP.stdout" >"$file.actual"
        diff "$file.wanted" "$file.actual" >"$file.diff" || { cat "$file.diff" && fail "values that rustc does not give"; }
        ;;
    esac
done <"$MASU_TMP/files"
