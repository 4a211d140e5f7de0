# The headers are clean C++ for g++ and clang++ in each standard, also where much is warned of, and containers run on
# the pools.
expect_status 0 cmake --install "$MASU_BUILD" --prefix "$MASU_TMP/prefix"
prefix=$MASU_TMP/prefix
library=$(find "$prefix" -name libmasu.a)
sanitize=${MASU_SANITIZE:+-fsanitize=$MASU_SANITIZE}
found=0
for compiler in g++ clang++; do
    command -v "$compiler" >/dev/null || { echo "skipped: $compiler is not installed" && continue; }
    found=1
    flags="-Wall -Wextra -Wpedantic -Wold-style-cast -Wcast-align -Wzero-as-null-pointer-constant -Wconversion -Wshadow"
    [ "$compiler" = g++ ] || flags="-Weverything -Wno-c++98-compat -Wno-c++98-compat-pedantic -Wno-padded -Wno-weak-vtables"
    for standard in c++11 'c++17 -fno-exceptions' c++20; do
        # shellcheck disable=SC2086 # lists of flags
        expect_status 0 "$compiler" -std=$standard $flags -Werror $sanitize -I"$prefix/include" tests/install/containers.cpp \
            -o "$MASU_TMP/containers" "$library" -lpthread -lm -ldl
        expect_status 0 "$MASU_TMP/containers"
        expect_stdout "containers served"
    done
    # What is known of a block's size is known to the compiler.
    echo '#include <masu/masu.h>
unsigned long known() { void *p = masu_alloc_zeroed(10, 10); unsigned long n = __builtin_object_size(p, 0); masu_free(p, 100); return n; }
int main() { return known() == 100 ? 0 : 1; }' >"$MASU_TMP/known.cpp"
    expect_status 0 "$compiler" -O2 $sanitize -I"$prefix/include" "$MASU_TMP/known.cpp" -o "$MASU_TMP/known" "$library" -lpthread -lm -ldl
    expect_status 0 "$MASU_TMP/known"
    echo '#include <masu/masu.h>
int main() { masu_alloc(100); masu_realloc_unsized(nullptr, 5); }' >"$MASU_TMP/lost.cpp"
    "$compiler" -std=c++11 -Wall -I"$prefix/include" -c "$MASU_TMP/lost.cpp" -o "$MASU_TMP/lost.o" 2>"$MASU_TMP/lost"
    [ "$(grep -c 'warn.unused.result' "$MASU_TMP/lost")" -ge 2 ] || fail "expected: two warnings about lost blocks; actual: $(cat "$MASU_TMP/lost")"
done
[ "$found" = 1 ] || fail "no C++ compiler"
