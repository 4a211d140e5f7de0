# A program builds and runs against an installed copy, found by pkg-config and by find_package, also after the
# installed tree was moved.
preset=$(basename "$MASU_BUILD")
if [ "$MASU_BUILD" = "$PWD/build/$preset" ]; then
    expect_status 0 make install PRESET="$preset" PREFIX="$MASU_TMP/first"
else
    expect_status 0 cmake --install "$MASU_BUILD" --prefix "$MASU_TMP/first"
fi
mv "$MASU_TMP/first" "$MASU_TMP/prefix"
prefix=$MASU_TMP/prefix
libraries=$(dirname "$(find "$prefix" -name libmasu.so)")
version=$(sed -n 's/^#define MASU_VERSION_TEXT *"\(.*\)"/\1/p' include/masu/version.h)
served="masu $version served two blocks"
cc=$(sed -n 's/^CMAKE_C_COMPILER:[A-Z]*=//p' "$MASU_BUILD/CMakeCache.txt")
sanitize=${MASU_SANITIZE:+-fsanitize=$MASU_SANITIZE}

expect_status 0 "$prefix/bin/masu" version
expect_in_stdout "$version"

# Pages of the manual, and what three shells look for. tests/cli/reference.sh says what is in those of the command.
for file in man/man1/masu.1 man/man1/masu-run.1 man/man3/libmasu.3 bash-completion/completions/masu \
    zsh/site-functions/_masu fish/vendor_completions.d/masu.fish; do
    [ -s "$prefix/share/$file" ] || fail "share/$file is not installed"
done
for command in $("$prefix/bin/masu" help | sed -n 's/^  \([a-z][a-z-]*\) .*/\1/p'); do
    [ -s "$prefix/share/man/man1/masu-$command.1" ] || fail "masu-$command has no page"
done
# Each header that masu.h includes has its part, with each of its calls.
for header in $(sed -n 's,^#include <masu/\(.*\)>,\1,p' include/masu/masu.h); do
    sed -n 's/^MASU_API .*[ *]\(masu_[a-z_0-9]*\)(.*/\1/p' "include/masu/$header" | grep -v '_slow$' >"$MASU_TMP/calls" || true
    while read -r call; do
        grep -q "[ *]$call(" "$prefix/share/man/man3/libmasu.3" || fail "libmasu(3) does not say $call of $header"
    done <"$MASU_TMP/calls"
done
grep -q ' masu_alloc(size_t' "$prefix/share/man/man3/libmasu.3" || grep -q '\*masu_alloc(size_t' "$prefix/share/man/man3/libmasu.3" ||
    fail 'libmasu(3) does not say masu_alloc, which is compiled into the caller'
if command -v groff >/dev/null; then
    expect_status 0 groff -ww -man -Tutf8 "$prefix/share/man/man3/libmasu.3"
    expect_stderr ''
fi

# What needs LLVM is a program of its own, found from where the command lies.
expect_status 0 "$prefix/bin/masu" run examples/structs.tl
cp "$MASU_TMP.stdout" "$MASU_TMP/ran"
expect_status 0 "$prefix/bin/masu" build examples/structs.tl -o "$MASU_TMP/built"
expect_status 0 "$MASU_TMP/built"
expect_stdout "$(cat "$MASU_TMP/ran")"
# A program's functions for C and C++ need the installed headers only.
expect_status 0 "$prefix/bin/masu" build --shared tests/cli/build_shared.tl -o "$MASU_TMP/libnet.so" --header "$MASU_TMP/net.h"
# shellcheck disable=SC2086 # a list of flags
expect_status 0 "$cc" $sanitize -std=c11 -Wall -Wextra -Wpedantic -Werror -I"$prefix/include" -I"$MASU_TMP" tests/cli/build_shared.c \
    -o "$MASU_TMP/caller" "$MASU_TMP/libnet.so" -Wl,-rpath,"$MASU_TMP"
expect_status 0 "$MASU_TMP/caller"
if command -v g++ >/dev/null; then
    # shellcheck disable=SC2086
    expect_status 0 g++ $sanitize -xc++ -std=c++17 -Wall -Wextra -Werror -I"$prefix/include" -I"$MASU_TMP" tests/cli/build_shared.c \
        -o "$MASU_TMP/caller" -xnone "$MASU_TMP/libnet.so" -Wl,-rpath,"$MASU_TMP"
    expect_status 0 "$MASU_TMP/caller"
fi
rm "$prefix"/libexec/masu-compiler
expect_status 0 "$prefix/bin/masu" check examples/structs.tl
expect_status 1 "$prefix/bin/masu" run examples/structs.tl
expect_in_stderr "masu-compiler is missing"

# malloc's place, by linking and by preloading
if [ -z "$MASU_SANITIZE" ]; then
    expect_status 0 env LD_PRELOAD="$libraries/libmasu-malloc.so" MASU_REPORT=text ls /
    expect_in_stderr 'blocks given'
    printf '#include <stdlib.h>\nint main(void) { free(malloc(7)); return 0; }\n' >"$MASU_TMP/linked.c"
    expect_status 0 "$cc" -fno-builtin "$MASU_TMP/linked.c" -o "$MASU_TMP/linked" -L"$libraries" -lmasu-malloc
    expect_status 0 env LD_LIBRARY_PATH="$libraries" MASU_REPORT=text "$MASU_TMP/linked"
    expect_in_stderr 'blocks given'
    [ -s "$libraries/libmasu-torch.so" ] && [ -s "$prefix/include/masu/masu_torch.h" ] && [ -s "$prefix/share/doc/masu/torch.md" ] ||
        fail "PyTorch's allocator is not installed"
    [ -s "$prefix/share/doc/masu/malloc.md" ] || fail 'its README is not installed'
fi

# Each header stands alone, under a strict dialect.
for header in "$prefix"/include/masu/*.h; do
    echo "#include <masu/$(basename "$header")>" >"$MASU_TMP/alone.c"
    echo "int alone;" >>"$MASU_TMP/alone.c"
    expect_status 0 "$cc" -std=c11 -Wall -Wextra -Wpedantic -Werror -fsyntax-only -I"$prefix/include" "$MASU_TMP/alone.c"
done

# pkg-config, shared and static
PKG_CONFIG_PATH=$libraries/pkgconfig
export PKG_CONFIG_PATH
expect_status 0 pkg-config --modversion masu
expect_stdout "$version"
# shellcheck disable=SC2046,SC2086 # lists of flags
expect_status 0 "$cc" $sanitize tests/install/program.c -o "$MASU_TMP/shared" $(pkg-config --cflags --libs masu)
expect_status 0 env LD_LIBRARY_PATH="$libraries" "$MASU_TMP/shared"
expect_stdout "$served"
# shellcheck disable=SC2046,SC2086
expect_status 0 "$cc" $sanitize tests/install/program.c -o "$MASU_TMP/static" \
    $(pkg-config --cflags masu) "$libraries/libmasu.a" $(pkg-config --static --libs-only-other masu)
expect_status 0 "$MASU_TMP/static"
expect_stdout "$served"

# find_package
expect_status 0 cmake -S tests/install -B "$MASU_TMP/user" -DCMAKE_PREFIX_PATH="$prefix" \
    -DCMAKE_C_COMPILER="$cc" -DCMAKE_C_FLAGS="$sanitize"
expect_status 0 cmake --build "$MASU_TMP/user"
for program in with_shared with_static; do
    expect_status 0 "$MASU_TMP/user/$program"
    expect_stdout "$served"
done
