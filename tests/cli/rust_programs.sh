# Programs that are valid in Rust and masu (tests/rust/programs): each prints what rustc's does. Those in
# tests/rust/programs_differ.txt do not yet, each with its reason; one that does by now is a mistake there, too.
# Nothing may print something else in silence unless a line says so: "prints" before the reason.
known=tests/rust/programs_differ.txt
count=0
for program in tests/rust/programs/*.tl; do
    name=$(basename "$program" .tl)
    count=$((count + 1))
    status=0
    timeout 60 "$MASU" run "$program" >"$MASU_TMP/actual" 2>"$MASU_TMP/errors" || status=$?
    reason=$(sed -n "s/^$name: //p" "$known")
    if [ "$status" -eq 0 ] && cmp -s "tests/rust/programs/$name.out" "$MASU_TMP/actual"; then
        [ -z "$reason" ] || fail "take $name out of $known, it prints what Rust prints"
        continue
    fi
    [ -n "$reason" ] || {
        diff "tests/rust/programs/$name.out" "$MASU_TMP/actual" || true
        head -5 "$MASU_TMP/errors"
        fail "$program prints something else than in Rust (status $status)"
    }
    case $reason in
    prints\ *) ;;
    *) [ "$status" -eq 1 ] || fail "$program ends with $status, $known says that it is refused" ;;
    esac
done
[ "$count" -ge 100 ] || fail "only $count programs"
