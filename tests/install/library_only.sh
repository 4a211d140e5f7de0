# The library part builds, installs and serves a program without LLVM, BLAS, cmocka and pkg-config.
cc=$(sed -n 's/^CMAKE_C_COMPILER:[A-Z]*=//p' "$MASU_BUILD/CMakeCache.txt")
expect_status 0 cmake -S . -B "$MASU_TMP/build" -G Ninja -DCMAKE_C_COMPILER="$cc" -DMASU_RUNTIME=OFF -DMASU_LANGUAGE=OFF \
    -DMASU_TESTS=OFF -DMASU_BENCH=OFF -DCMAKE_BUILD_TYPE=Debug -DCMAKE_C_FLAGS_DEBUG=-O0 -DCMAKE_DISABLE_FIND_PACKAGE_PkgConfig=ON
expect_status 0 cmake --build "$MASU_TMP/build"
expect_status 0 cmake --install "$MASU_TMP/build" --prefix "$MASU_TMP/prefix"

library=$(find "$MASU_TMP/prefix" -name 'libmasu.so.*.*')
expect_status 0 readelf -d "$library"
needed=$(sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' "$MASU_TMP.stdout" | grep -v -E '^(libc|libm|ld-linux-x86-64|ld-linux-aarch64)\.so\.' || true)
[ -z "$needed" ] || fail "expected: libmasu.so needs the C library only; actual: $needed"
grep -q "SONAME.*\[libmasu\.so\.[0-9]*\]" "$MASU_TMP.stdout" || fail "libmasu.so has no soname"

# Only public names leave it.
expect_status 0 nm -D --defined-only "$library"
private=$(awk '$3 !~ /^masu_[a-z0-9]/ || $3 ~ /^masu__/ { print $3 }' "$MASU_TMP.stdout")
[ -z "$private" ] || fail "expected: public names only; actual: $private"

expect_status 0 cmake -S tests/install -B "$MASU_TMP/user" -DCMAKE_PREFIX_PATH="$MASU_TMP/prefix" -DCMAKE_C_COMPILER="$cc"
expect_status 0 cmake --build "$MASU_TMP/user"
expect_status 0 "$MASU_TMP/user/with_shared"
expect_in_stdout "served two blocks"
