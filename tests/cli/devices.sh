# The devices of examples/, built as their heads say: each keeps the contract, by the suite that every device passes,
# and serves a pool.
cc=$(sed -n 's/^CMAKE_C_COMPILER:[A-Z]*=//p' "$MASU_BUILD/CMakeCache.txt")
sanitize=${MASU_SANITIZE:+-fsanitize=$MASU_SANITIZE}
for name in device_memfd device_huge_pages device_mapped_file; do
    # shellcheck disable=SC2086 # no word when nothing is sanitized
    expect_status 0 "$cc" -O1 -Wall -Wextra -Werror $sanitize -Iinclude -I"$MASU_BUILD/include" examples/$name.c \
        "$MASU_BUILD/libmasu.a" -o "$MASU_TMP/$name" -pthread -lm
done
expect_status 0 "$MASU_TMP/device_memfd"
expect_in_stdout 'memfd: keeps the contract'
expect_in_stdout 'grown to 64 MiB: contents kept, MASU_OK'
expect_status 0 "$MASU_TMP/device_huge_pages"
expect_in_stdout 'huge pages of node 0: keeps the contract'
expect_in_stdout '100 matrices in 2 blocks of the device'
# A machine does not have a thousand nodes: its kernel says so, or knows nothing of nodes and is let off.
expect_in_stdout 'matrices'
"$MASU_TMP/device_huge_pages" 1023 >"$MASU_TMP/out" 2>"$MASU_TMP/err" && grep -q 'did not bind' "$MASU_TMP/out" ||
    grep -q 'alloc: the device refused the operation' "$MASU_TMP/err" || fail "node 1023: $(cat "$MASU_TMP/out" "$MASU_TMP/err")"
expect_status 2 "$MASU_TMP/device_huge_pages" -1
expect_status 0 "$MASU_TMP/device_mapped_file" "$MASU_TMP/file"
expect_in_stdout 'mapped file: keeps the contract'
at=$(sed -n 's/^written at //p' "$MASU_TMP.stdout")
[ "$(dd if="$MASU_TMP/file" bs=1 skip="$at" count=16 2>"$MASU_TMP/dd")" = 'kept by the file' ] || fail "the file does not have it at $at"
expect_status 2 "$MASU_TMP/device_mapped_file"
expect_status 2 "$MASU_TMP/device_mapped_file" "$MASU_TMP"
