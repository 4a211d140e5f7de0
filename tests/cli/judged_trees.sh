# --verify asks the tree's judge (check_tree_valid) behind the checker: the promises of src/language/syntax/tree.h hold for
# every program that is compiled. Heavy builds ask it always.
for program in tests/golden/lang_*.tl tests/golden/refs_*.tl tests/golden/prog_*.tl examples/*.tl; do
    head -n 5 "$program" | grep -q '^//! *mode: *check' && continue
    "$MASU" check --verify "$program" >"$MASU_TMP/out" 2>&1 || fail "$program: $(head -n 3 "$MASU_TMP/out")"
done
