# What the check leaves behind is as src/language/syntax/tree.h promises, and so is the IR after every pass: `--verify`
# of every golden, of the programs that are valid in Rust, too, and of the examples. Mistakes of the programs are
# theirs; one of the compiler is an internal error.
count=0
for program in tests/golden/*.tl tests/rust/programs/*.tl examples/*.tl; do
    count=$((count + 1))
    status=0
    timeout 60 "$MASU" check --verify "$program" >"$MASU_TMP/out" 2>"$MASU_TMP/err" || status=$?
    case $status in
    0 | 1) ;;
    *) fail "$program ends with $status: $(head -5 "$MASU_TMP/err")" ;;
    esac
    if grep -q 'internal error' "$MASU_TMP/out" "$MASU_TMP/err"; then
        fail "$program: $(grep -h -A3 'internal error' "$MASU_TMP/out" "$MASU_TMP/err")"
    fi
done
[ "$count" -ge 600 ] || fail "only $count programs"
