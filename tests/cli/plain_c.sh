# `masu build --c`: functions of a program as C for processors without an operating system. What they yield is compared
# with the shared library.
cc=$(sed -n 's/^CMAKE_C_COMPILER:[A-Z]*=//p' "$MASU_BUILD/CMakeCache.txt")
sanitize=${MASU_SANITIZE:+-fsanitize=$MASU_SANITIZE}
strict='-std=c11 -O1 -Wall -Wextra -Werror -pedantic -ffreestanding'

calls='m = Mlp::new(6, 8, 5); Mlp::new(6, 8, 5); Mlp::forward(m, [4, 6]); Mlp::nudge(m, [5], _)
    ; conv([2, 3, 8, 8], [4, 3, 3, 3], [4]); steps([1, 3, 7, 14], [5, 3, 3, 3], [5]); turned([2, 7, 45], [2, 21, 45]); attend([2, 5, 8], [8, 8], [8, 8], [8, 8]); elements([7, 5], [5]); sums([6, 37])
    ; parts([4, 3], [2], _); recur([3, 4], [4, 4], _); blur([6, 7], _); counts([9], [9]); collatz(_); mixed(_, _, _); swap([4], [4]); literal([3])
    ; dots([3, 4], [2, 4]); power([5, 5], _); fibs(_)'
expect_status 0 "$MASU" build --c tests/cli/plain_c.tl -o "$MASU_TMP/net.c" --header "$MASU_TMP/net.h" --arena "$calls"
expect_stdout ''
expect_stderr ''
expect_status 0 "$MASU" build --shared tests/cli/plain_c.tl -o "$MASU_TMP/libref.so" --header "$MASU_TMP/ref.h"

# Without a word of any compiler; and nothing is called but functions of <math.h> and <string.h>.
for compiler in gcc clang; do
    command -v "$compiler" >/dev/null || continue
    # shellcheck disable=SC2086 # a list of flags
    expect_status 0 "$compiler" $strict -c "$MASU_TMP/net.c" -o "$MASU_TMP/net.o"
    expect_stderr ''
    nm -u "$MASU_TMP/net.o" | awk '$2 !~ /^(mem(cpy|set|move)|(exp|log|sin|cos|tanh|sqrt|fabs|fmod|floor|log1p|pow)f?|__stack_chk_fail)$/ { print $2 }' >"$MASU_TMP/called"
    [ ! -s "$MASU_TMP/called" ] || fail "$compiler: it calls $(cat "$MASU_TMP/called")"
done
expect_status 0 "$cc" -fsyntax-only -xc++ -Wall -Wextra -Werror "$MASU_TMP/net.h"

caller() { # FLAGS…
    # shellcheck disable=SC2086 # a list of flags
    expect_status 0 "$cc" $sanitize -std=gnu11 -O1 -g "$@" -Iinclude -I"$MASU_TMP" tests/cli/plain_c.c "$MASU_TMP/net.c" -o "$MASU_TMP/caller" \
        "$MASU_TMP/libref.so" -Wl,-rpath,"$MASU_TMP" -lm -lpthread
    expect_status 0 "$MASU_TMP/caller"
    expect_stdout ''
}
caller
[ -n "$MASU_SANITIZE" ] || caller -fsanitize=address,undefined -fno-sanitize-recover=all

# The example.
# shellcheck disable=SC2086 # a list of flags
expect_status 0 env CC="$cc" sh examples/microcontroller.sh "$MASU" $sanitize
expect_stdout 'flat: 0 (83%)
on its side: 1 (71%)
shaken: 2 (99%)
128 bytes of arena'

# What has no form there is an error at its place.
refused() { # SAID CALLS TEXT
    printf '%s\n' "$3" >"$MASU_TMP/wrong.tl"
    expect_status 1 "$MASU" build --c "$MASU_TMP/wrong.tl" -o "$MASU_TMP/w.c" --header "$MASU_TMP/w.h" ${2:+--arena "$2"}
    expect_in_stderr "$1"
    [ ! -e "$MASU_TMP/w.c" ] || fail "a file was written: $3"
}
refused 'wrong.tl:1:35: error: plain C: `print_f64` has no form in plain C' 'f(_)' 'pub fn f(x: f64) { println!("{}", x); }'
refused 'the shapes with which `f` is called, line 1: --arena' '' 'pub fn f(x: Tensor<f32, 1>) -> Tensor<f32, 1> { x * 2.0 }'
refused 'wrong.tl:1:53: error: plain C: `randn` has no form' 'f([3])' 'pub fn f(x: Tensor<f32, 1>) -> Tensor<f32, 1> { x + Tensor::randn([3]) }'
refused 'cannot be multiplied' 'f([2, 3])' 'pub fn f(x: Tensor<f32, 2>) -> Tensor<f32, 2> { x.matmul(x) }'
refused '`backward` has no form in plain C' 'f([2])' 'pub fn f(x: Tensor<f32, 1>) { let w = x.clone(); w.sum().backward(); }'
refused '`fib` calls itself: plain C has no bound for its stack' 'fib(_)' 'pub fn fib(n: i64) -> i64 { if n < 2 { n } else { fib(n - 1) + fib(n - 2) } }'
refused '--arena: the program has no such `pub fn`' 'g(1)' 'pub fn f(x: f64) -> f64 { x }'
refused '`f` is called twice' 'f([1]); f([2])' 'pub fn f(x: Tensor<f32, 1>) -> Tensor<f32, 1> { x }'
refused 'the shape that `zeros` makes is not known' 'f(_)' 'pub fn f(n: i64) -> f64 { Tensor::zeros([n]).sum().item() as f64 }'

expect_status 2 "$MASU" build --c tests/cli/plain_c.tl -o "$MASU_TMP/w.c"
expect_in_stderr '--c needs --header'
expect_status 2 "$MASU" build --c --shared tests/cli/plain_c.tl -o "$MASU_TMP/w.c" --header "$MASU_TMP/w.h"
expect_in_stderr '--shared or --c: one of the two'

# A number that its type does not hold is no other number.
for number in 9223372036854775808 -9223372036854775809; do
    refused 'the type does not hold the number' "g($number)" 'pub fn g(n: i64) -> i64 { n / 2 }'
done
refused 'the type does not hold the number' 'g(1e999)' 'pub fn g(x: f64) -> f64 { x / 2.0 }'
refused 'a number or _ is wanted' 'g(nan)' 'pub fn g(x: f64) -> f64 { x / 2.0 }'

# Files: both or neither, none over another, and none over the program; names that C has.
misuse() { # SAID OPTIONS…
    said=$1
    shift
    expect_status 2 "$MASU" build --c "$MASU_TMP/own.tl" "$@"
    expect_in_stderr "$said"
    [ "$(cat "$MASU_TMP/own.tl")" = 'pub fn g(n: i64) -> i64 { n / 2 }' ] || fail 'the program was written over'
}
echo 'pub fn g(n: i64) -> i64 { n / 2 }' >"$MASU_TMP/own.tl"
ln -sf own.tl "$MASU_TMP/link.c"
misuse 'is the program itself' -o "$MASU_TMP/own.tl" --header "$MASU_TMP/own.h"
misuse 'is the program itself' -o "$MASU_TMP/link.c" --header "$MASU_TMP/own.h"
misuse 'is the program itself' -o "$MASU_TMP/own.c" --header "$MASU_TMP/own.tl"
misuse 'name the same file' -o "$MASU_TMP/own.c" --header "$MASU_TMP/own.c"
misuse '`int` is not a name that C can begin with' -o "$MASU_TMP/own.c" --header "$MASU_TMP/int.h"
misuse '`class` is not a name' -o "$MASU_TMP/own.c" --header "$MASU_TMP/own.h" --name class
misuse 'plain C needs none' -o "$MASU_TMP/own.c" --header "$MASU_TMP/own.h" --library x
echo old >"$MASU_TMP/own.c"
expect_status 1 "$MASU" build --c "$MASU_TMP/own.tl" -o "$MASU_TMP/own.c" --header "$MASU_TMP/none/own.h"
expect_in_stderr "masu build: cannot write $MASU_TMP/none/own.h"
[ "$(cat "$MASU_TMP/own.c")" = old ] || fail 'the C file without its header'
expect_status 2 "$MASU" build "$MASU_TMP/own.tl" -o "$MASU_TMP/own.tl"

# Whatever a folder is called, the file is C.
mkdir -p "$MASU_TMP/a*" && cp "$MASU_TMP/own.tl" "$MASU_TMP/a*/own.tl"
expect_status 0 "$MASU" build --c "$MASU_TMP/a*/own.tl" -o "$MASU_TMP/named.c" --header "$MASU_TMP/named.h"
expect_status 0 "$cc" -fsyntax-only -Wall -Wextra -Werror "$MASU_TMP/named.c"
