# `masu build --shared`: functions of a program for callers in C and C++.
lib=$MASU_TMP/libnet.so
cc=$(sed -n 's/^CMAKE_C_COMPILER:[A-Z]*=//p' "$MASU_BUILD/CMakeCache.txt")
sanitize=${MASU_SANITIZE:+-fsanitize=$MASU_SANITIZE}

calls='m = Net::new(3, 2); Net::forward(m, [2, 3]); Net::learn(m, 0.5); identity([2, 3])'
expect_status 0 "$MASU" build --shared tests/cli/build_shared.tl -o "$lib" --header "$MASU_TMP/net.h" --arena "$calls"
expect_stdout ''
expect_stderr ''
# Only the table leaves it: two modules in one process do not see each other.
nm -D --defined-only "$lib" | grep -v ' [AU] ' | cut -d' ' -f3 >"$MASU_TMP/symbols"
[ "$(cat "$MASU_TMP/symbols")" = "masu_module
net_module" ] || fail "other symbols: $(cat "$MASU_TMP/symbols")"

# shellcheck disable=SC2086 # a list of flags
expect_status 0 "$cc" $sanitize -std=c11 -O1 -Wall -Wextra -Wpedantic -Werror -Iinclude -I"$MASU_TMP" tests/cli/build_shared.c \
    -o "$MASU_TMP/caller" "$lib" -Wl,-rpath,"$MASU_TMP"
expect_status 0 "$MASU_TMP/caller"
expect_stdout ''
if command -v g++ >/dev/null && [ -z "$MASU_SANITIZE" ]; then
    expect_status 0 g++ -xc++ -std=c++11 -O1 -Wall -Wextra -Wpedantic -Werror -Iinclude -I"$MASU_TMP" tests/cli/build_shared.c \
        -o "$MASU_TMP/caller" -xnone "$lib" -Wl,-rpath,"$MASU_TMP"
    expect_status 0 "$MASU_TMP/caller"
    printf '#include "net.h"\n' >"$MASU_TMP/strict.cpp"
    expect_status 0 g++ -std=c++17 -fsyntax-only -Wall -Wextra -Wpedantic -Wold-style-cast -Wcast-align -Wzero-as-null-pointer-constant -Werror \
        -Iinclude -I"$MASU_TMP" "$MASU_TMP/strict.cpp"
fi

# Threads, and two modules in one process.
expect_status 0 "$MASU" build --shared tests/cli/build_shared.tl --name two -o "$MASU_TMP/2.so"
# shellcheck disable=SC2086 # a list of flags
expect_status 0 "$cc" $sanitize -std=gnu11 -O1 -Wall -Wextra -Werror -Iinclude -I"$MASU_TMP" tests/cli/build_shared_threads.c \
    -o "$MASU_TMP/caller" "$lib" -lpthread -ldl -Wl,-rpath,"$MASU_TMP"
expect_status 0 "$MASU_TMP/caller" "$MASU_TMP/2.so"

# The example.
# shellcheck disable=SC2086 # a list of flags
expect_status 0 env CC="$cc" sh examples/embed.sh "$MASU" $sanitize
expect_in_stdout 'fitted: yes'
expect_in_stdout 'sin 1 is about 0.8, sin 2 is about 0.9'
expect_in_stdout 'examples/embed.tl:25:24: error: shapes [9, 1] and [2, 1] cannot be broadcast'

# What C cannot call is an error at its place; so is what would never run.
refused() { # SAID TEXT
    printf '%s\n' "$2" >"$MASU_TMP/wrong.tl"
    expect_status 1 "$MASU" build --shared "$MASU_TMP/wrong.tl" -o "$MASU_TMP/wrong.so"
    expect_in_stderr "$1"
}
refused 'wrong.tl:1:8: error: `f` cannot be called from C: it has type parameters' 'pub fn f<T>(x: T) -> T { x }'
refused 'cannot be called from C: `Vec<f32>` has no form there' 'pub fn f(x: Vec<f32>) { }'
refused '`Option` has type parameters' 'pub fn f() -> Option<f32> { None }'
refused 'cannot be called from C: `(f32, f32)` has no form there' 'pub fn f(x: (f32, f32)) { }'
refused 'cannot be called from C: `&mut f32` would write to a number' 'pub fn f(x: &mut f32) { *x = 1.0; }'
refused 'cannot be called from C: `&mut String` would write' 'pub fn f(x: &mut String) { }'
refused 'the elements of `Tensor<u8>` are not one of' 'pub fn f(x: Tensor<u8>) { }'
refused '`P` has type parameters' 'struct P<T> { t: T } pub fn f(p: P<f32>) { }'
refused '`Inner` has a `drop`' 'struct Inner { n: i64 } impl Drop for Inner { fn drop(&mut self) { println!("{}", self.n); } } struct P { t: Vec<Inner> } pub fn f(p: &P) { }'
refused 'another function is called `wrong_P_f` there' 'struct P { n: i64 } impl P { pub fn f(&self) -> i64 { self.n } } pub fn P_f() { }'
refused 'another function is called `wrong_create` there' 'pub fn create() { }'
refused 'another function is called `wrong_P_clone` there' 'struct P { n: i64 } impl P { pub fn clone(&self) -> i64 { self.n } }'
refused 'there is no `pub fn` for callers in C' 'fn f() { } pub(crate) fn g() { }'
refused 'wrong.tl:2:1: error: this never runs: a shared module has no `main`' 'pub fn f() { }
for i in 0..3 { f(); }'
refused 'this never runs: a shared module has no `main`' 'fn g() -> i64 { 3 }
let x = g();
pub fn f() { }'
refused 'error: there is no variable `y`' 'pub fn f() -> i64 { y }'

expect_status 2 "$MASU" build --header "$MASU_TMP/x.h" tests/cli/build_shared.tl -o "$lib"
expect_in_stderr '--header goes with --shared'
expect_status 2 "$MASU" build --shared tests/cli/build_shared.tl -o "$MASU_TMP/2.so"
expect_in_stderr '`2` is not a name that C can begin with'
expect_status 1 "$MASU" build --shared tests/cli/build_shared.tl -o "$lib" --header "$MASU_TMP/none/net.h"
expect_in_stderr 'cannot write'

# In an arena, and without one after the first round, calls ask the system for nothing. A sanitizer has a malloc of its
# own.
if [ -z "$MASU_SANITIZE" ] && ! grep -q 'MASU_HEAVY:BOOL=ON' "$MASU_BUILD/CMakeCache.txt"; then
    # shellcheck disable=SC2086 # a list of flags
    expect_status 0 "$cc" -std=gnu11 -D_GNU_SOURCE -O1 -Wall -Wextra -Werror -Iinclude -I"$MASU_TMP" tests/cli/build_shared_arena.c \
        -o "$MASU_TMP/caller" "$lib" -Wl,-rpath,"$MASU_TMP"
    expect_status 0 "$MASU_TMP/caller"
fi

# The calls whose arena is asked for are made, and say what is wrong with them.
rehearsed() { # SAID CALLS
    expect_status 1 "$MASU" build --shared tests/cli/build_shared.tl -o "$MASU_TMP/wrong.so" --header "$MASU_TMP/wrong.h" --arena "$2"
    expect_in_stderr "$1"
}
rehearsed 'the module has no such function before this at `(1)`' 'none(1)'
rehearsed 'a shape such as [2, 3] is wanted at `3)`' 'relu(3)'
rehearsed 'argument `self`: the handle is NULL' 'Net::forward(m, [2, 3])'
rehearsed 'a tensor of 2 dimensions is wanted' 'm = Net::new(1, 2); Net::forward(m, [2])'
rehearsed 'another argument is wanted at `)`' 'Net::new(1)'
rehearsed '`;` is wanted at `constant()`' 'constant() constant()'
rehearsed 'only a function that yields one handle gives it a name' 'a = constant()'
rehearsed 'a name is wanted at ``' ''
expect_status 0 "$MASU" build --shared tests/cli/build_shared.tl -o "$MASU_TMP/net2.so" --header "$MASU_TMP/net2.h" \
    --arena ' greet("a b", 3) ; stats([4]); flip([0]); count([2]); wide(3); odd(1, 2.5, 3, true, "x");'
grep -q 'NET2_ARENA_BYTES = ' "$MASU_TMP/net2.h" || fail 'no size in the header'
expect_status 2 "$MASU" build --shared tests/cli/build_shared.tl -o "$lib" --arena 'constant()'
expect_in_stderr '--arena goes with --header'
