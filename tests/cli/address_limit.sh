# Under a limit of addresses `masu run` and executables end: by what the program says, or by an error; never by waiting for
# a thread that found no memory.
[ -z "$MASU_SANITIZE" ] || skip "a sanitizer needs all addresses"
cat >"$MASU_TMP/product.tl" <<'TEXT'
fn main() {
    let a = Tensor::ones([300, 300]);
    println!("{}", a.matmul(a).sum());
}
TEXT
expect_status 0 "$MASU" build "$MASU_TMP/product.tl" -o "$MASU_TMP/product"
limited() { # KiB COMMAND…
    limit=$1
    shift
    rc=0
    # shellcheck disable=SC3045 # dash and bash have it
    (ulimit -v "$limit" && exec timeout 60 "$@") >"$MASU_TMP/said" 2>"$MASU_TMP/errors" || rc=$?
    [ "$rc" -ne 124 ] || fail "$1 waits for ever with $limit KiB"
    [ "$rc" -ne 0 ] || [ "$(cat "$MASU_TMP/said")" = 27000000 ] || fail "$limit KiB: $(cat "$MASU_TMP/said")"
    [ "$rc" -eq 0 ] || [ -s "$MASU_TMP/errors" ] || fail "$limit KiB: ended with $rc and without a word"
    ended=$rc
}
for limit in 100000 150000 200000 260000; do
    limited "$limit" "$MASU" run "$MASU_TMP/product.tl"
    limited "$limit" "$MASU_TMP/product"
done
limited 2000000 "$MASU" run "$MASU_TMP/product.tl"
[ "$ended" -eq 0 ] || fail "2 GB are not enough: $(cat "$MASU_TMP/errors")"
limited 2000000 "$MASU_TMP/product"
[ "$ended" -eq 0 ] || fail "2 GB are not enough for an executable: $(cat "$MASU_TMP/errors")"
