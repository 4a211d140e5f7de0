# References and what may be done to their places meanwhile: masu refuses what rustc refuses, and nothing else. The
# programs are tests/rust/borrows.txt, what rustc says is recorded in borrows.out; differences on purpose are told in
# borrows_differ.txt.
mkdir "$MASU_TMP/borrows"
awk -v folder="$MASU_TMP/borrows" '/^=== / { name = $2; next } { print >(folder "/" name ".tl") }' tests/rust/borrows.txt
count=0
while read -r name verdict code; do
    count=$((count + 1))
    program=$MASU_TMP/borrows/$name.tl
    said=accepted
    "$MASU" check "$program" >"$MASU_TMP/out" 2>&1 || said=refused
    if grep -q "^$name: " tests/rust/borrows_differ.txt; then
        [ "$said" != "$verdict" ] || fail "take $name out of borrows_differ.txt: masu and rustc agree"
        continue
    fi
    [ "$said" = "$verdict" ] || {
        cat "$program" "$MASU_TMP/out"
        fail "rustc: $name is $verdict ${code:-}, masu: $said"
    }
    [ "$said" = accepted ] || grep -q 'E0126' "$MASU_TMP/out" || {
        cat "$program" "$MASU_TMP/out"
        fail "$name is refused for another reason"
    }
done <tests/rust/borrows.out
[ "$count" -ge 100 ] || fail "only $count programs"
