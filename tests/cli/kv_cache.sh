# The key-value cache of examples/: built as its head says, grown in place, with every token what it was.
cc=$(sed -n 's/^CMAKE_C_COMPILER:[A-Z]*=//p' "$MASU_BUILD/CMakeCache.txt")
sanitize=${MASU_SANITIZE:+-fsanitize=$MASU_SANITIZE}
# shellcheck disable=SC2086 # no word when nothing is sanitized
expect_status 0 "$cc" -O1 -Wall -Wextra -Werror $sanitize -Iinclude -I"$MASU_BUILD/include" examples/kv_cache.c \
    "$MASU_BUILD/libmasu.a" -o "$MASU_TMP/kv_cache" -pthread -lm
expect_status 0 "$MASU_TMP/kv_cache" 64
expect_in_stdout '1024 tokens in each of 8 layers: 24 growths in place, 0 elsewhere, 0 copies'
expect_in_stdout '64 MiB asked for, 64 MiB of memory'
expect_in_stdout 'every token is what it was: yes'
