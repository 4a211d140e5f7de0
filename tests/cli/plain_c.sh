# `masu build --c`: functions of a program as C for processors without an operating system. What they yield is compared
# with the shared library.
cc=$(sed -n 's/^CMAKE_C_COMPILER:[A-Z]*=//p' "$MASU_BUILD/CMakeCache.txt")
sanitize=${MASU_SANITIZE:+-fsanitize=$MASU_SANITIZE}
strict='-std=c11 -O1 -Wall -Wextra -Werror -pedantic -ffreestanding'

calls='m = Mlp::new(6, 8, 5); Mlp::new(6, 8, 5); Mlp::forward(m, [4, 6]); Mlp::nudge(m, [5], _)
    ; conv([2, 3, 8, 8], [4, 3, 3, 3], [4]); steps([1, 3, 7, 14], [5, 3, 3, 3], [5]); turned([2, 7, 45], [2, 21, 45]); attend([2, 5, 8], [8, 8], [8, 8], [8, 8]); elements([7, 5], [5]); sums([6, 37])
    ; parts([4, 3], [2], _); recur([3, 4], [4, 4], _); blur([6, 7], _); counts([9], [9]); collatz(_); mixed(_, _, _); swap([4], [4]); literal([3])
    ; dots([3, 4], [2, 4]); power([5, 5], _); fibs(_); grid([3, 2]); latest(_); either(_, [4])'
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

# Weights as constants of the file: the results of the same weights in the caller's memory.
cat tests/cli/plain_c.tl tests/cli/plain_c_save.tl >"$MASU_TMP/save.tl"
weights=$MASU_TMP/w.safetensors
expect_status 0 "$MASU" run "$MASU_TMP/save.tl" "$weights"
baked() { # OPTIONS…
    "$MASU" build --c tests/cli/plain_c.tl -o "$MASU_TMP/baked.c" --header "$MASU_TMP/baked.h" "$@"
}
made='m = Mlp::new(6, 8, 5); Mlp::forward(m, [4, 6])'
expect_status 0 baked --arena "$made" --weights "m=$weights"
expect_stderr ''
for compiler in gcc clang; do
    command -v "$compiler" >/dev/null || continue
    # shellcheck disable=SC2086 # a list of flags
    expect_status 0 "$compiler" $strict -c "$MASU_TMP/baked.c" -o "$MASU_TMP/baked.o"
    expect_stderr ''
done
expect_status 0 "$cc" -fsyntax-only -xc++ -Wall -Wextra -Werror "$MASU_TMP/baked.h"
# shellcheck disable=SC2086 # a list of flags
expect_status 0 "$cc" $sanitize -std=c11 -I"$MASU_TMP" tests/cli/plain_c_weights.c "$MASU_TMP/baked.c" -o "$MASU_TMP/flash" -lm
expect_status 0 "$MASU_TMP/flash" "$weights"
expect_stdout ''
expect_status 0 baked --arena "$made" --weights "Mlp=$weights"
grep -q '^extern const baked_Mlp baked_Mlp_weights;$' "$MASU_TMP/baked.h" || fail 'the struct gives its name'

# Layers of the library: their shapes follow from the numbers that they are made with.
cat >"$MASU_TMP/layers.tl" <<'TEXT'
struct Net { wide: Conv2d, pool: MaxPool2d, first: Linear, norm: LayerNorm, cell: LSTMCell, drop: Dropout, last: Linear }
impl Net {
    pub fn new(ins: i64, outs: i64) -> Net {
        let mut net = Net {
            wide: Conv2d::new(1, 1, 3, 1, 1), pool: MaxPool2d::new(3, 1, 1), first: Linear::new(ins, 8), norm: LayerNorm::new(8),
            cell: LSTMCell::new(8, 6), drop: Dropout::new(0.5), last: Linear::new(6, outs),
        };
        net.eval();
        net
    }
    pub fn forward(&self, x: Tensor<f32, 2>) -> Tensor<f32, 1> {
        let mut h = Tensor::zeros([1, 6]);
        let mut c = Tensor::zeros([1, 6]);
        let seen = self.pool.forward(self.wide.forward(x.reshape([1, 1, x.dim(0), x.dim(1)]))).reshape([x.dim(0), x.dim(1)]);
        let words = self.drop.forward(self.norm.forward(self.first.forward(seen)).gelu());
        for i in 0..words.dim(0) {
            let (a, b) = self.cell.forward(words.narrow(0, i, 1), (h, c));
            h = a;
            c = b;
        }
        self.last.forward(h)[0]
    }
}
fn main() {
    let net = Net::new(4, 3);
    net.save(std::env::args().nth(1).unwrap());
    let y = net.forward((Tensor::arange(0, 20).reshape([5, 4]) - 9.5) / 4.0);
    println!("0 {:.3} {:.3} {:.3}", y[0], y[1], y[2]);
}
TEXT
expect_status 0 "$MASU" run "$MASU_TMP/layers.tl" "$MASU_TMP/layers.safetensors"
cp "$MASU_TMP.stdout" "$MASU_TMP/layers.expected"
expect_status 0 "$MASU" build --c "$MASU_TMP/layers.tl" -o "$MASU_TMP/layers.c" --header "$MASU_TMP/layers.h" \
    --arena 'm = Net::new(4, 3); Net::forward(m, [5, 4])' --weights "m=$MASU_TMP/layers.safetensors"
cat >"$MASU_TMP/call.c" <<'TEXT'
#include "layers.h"
#include <stdio.h>
static _Alignas(8) unsigned char arena[LAYERS_ARENA_BYTES];
int main(void) {
    float x[20], y[3];
    layers context = {.arena = arena, .arena_bytes = sizeof arena};
    for (int i = 0; i < 20; i++)
        x[i] = ((float)i - 9.5f) / 4;
    layers_const_f32 in = layers_Net_forward_x(x);
    layers_f32 out = layers_Net_forward_out(y);
    layers_status status = layers_Net_forward(&context, &layers_m_weights, &in, &out);
    printf("%d %.3f %.3f %.3f\n", (int)status, (double)y[0], (double)y[1], (double)y[2]);
    return 0;
}
TEXT
# shellcheck disable=SC2086 # a list of flags
expect_status 0 "$cc" $sanitize -std=c11 -Wall -Wextra -Werror -pedantic -I"$MASU_TMP" "$MASU_TMP/call.c" "$MASU_TMP/layers.c" -o "$MASU_TMP/call" -lm
expect_status 0 "$MASU_TMP/call"
expect_stdout "$(cat "$MASU_TMP/layers.expected")"

for field in wide_weight first_weight first_bias cell_bias_hh; do
    grep -q "^    const float \*$field; " "$MASU_TMP/layers.h" || fail "no field $field: $(grep float "$MASU_TMP/layers.h")"
done

# Whole numbers and bools of a struct are known from the call that makes it, unless another call has or writes others.
cat >"$MASU_TMP/known.tl" <<'TEXT'
struct S { n: i64, open: bool, gain: f64 }
impl S {
    pub fn new(n: i64) -> S { S { n: n, open: true, gain: 2.0 } }
    pub fn zeros(&self) -> Tensor<f32, 1> { let z: Tensor<f32, 1> = Tensor::ones([self.n]) * self.gain; if self.open { z } else { z.sum().reshape([1]) } }
    pub fn twice(&self) -> i64 { self.n * 2 }
    pub fn close(&mut self) { self.open = false; }
    pub fn more(&mut self) -> i64 { self.n += 1; self.n }
}
TEXT
known() { # ARENA
    "$MASU" build --c "$MASU_TMP/known.tl" -o "$MASU_TMP/known.c" --header "$MASU_TMP/known.h" --arena "$1"
}
fields() {
    sed -n '/^typedef struct known_S/,/^}/s/^    \(.*\) \(.*\);$/\2/p' "$MASU_TMP/known.h" | tr '\n' ' '
}
expect_status 0 known 's = S::new(3); S::zeros(s)'
[ "$(fields)" = 'gain ' ] || fail "fields: $(fields)"
grep -q 'out: f32 \[3\]' "$MASU_TMP/known.h" || fail 'the shape follows from the number'
expect_status 0 known 's = S::new(3); S::twice(s); S::more(s)'
[ "$(fields)" = 'n gain ' ] || fail "a number that a call changes: $(fields)"
expect_status 0 known 's = S::new(3); t = S::new(4); S::twice(s)'
[ "$(fields)" = 'n gain ' ] || fail "a number in which two calls differ: $(fields)"
expect_status 0 known 's = S::new(_); S::twice(s)'
[ "$(fields)" = 'n gain ' ] || fail "any number: $(fields)"
expect_status 1 known 's = S::new(3); S::zeros(s); S::more(s)'
expect_in_stderr 'the shape that `ones` makes is not known'
expect_status 1 known 's = S::new(3); S::zeros(s); S::close(s)'
expect_in_stderr 'which shapes there are depends on numbers that are not known here'

# Which variant an enum of a struct holds: said by the call that makes the struct, no field of C, and not changed.
cat >"$MASU_TMP/kinds.tl" <<'TEXT'
enum Kind { Sum, Scale(f64), Both(f64, f64) }
struct S { kind: Kind, bias: Option<Tensor<f32, 1>>, n: i64 }
impl S {
    pub fn new(n: i64) -> S { S { kind: Kind::Scale(2.0), bias: Some(Tensor::ones([3])), n: n } }
    pub fn go(&self, x: Tensor<f32, 1>) -> Tensor<f32, 1> {
        let y = match self.kind { Kind::Sum => x + x, Kind::Scale(f) => x * f, Kind::Both(a, b) => x * a + b };
        match self.bias { Some(b) => y + b, None => y }
    }
    pub fn count(&mut self) -> i64 { self.n += 1; self.n }
    pub fn lose(&mut self) { self.kind = Kind::Sum; }
}
TEXT
kinds() { # ARENA
    "$MASU" build --c "$MASU_TMP/kinds.tl" -o "$MASU_TMP/kinds.c" --header "$MASU_TMP/kinds.h" --arena "$1"
}
expect_status 0 kinds 's = S::new(_); S::new(_); S::go(s, [3]); S::count(s)'
cat >"$MASU_TMP/call.c" <<'TEXT'
#include "kinds.h"
#include <stdio.h>
static _Alignas(8) unsigned char arena[KINDS_ARENA_BYTES];
int main(void) {
    float bias[3], x[3] = {1, 2, 3}, y[3];
    int64_t n = 0;
    kinds context = {.arena = arena, .arena_bytes = sizeof arena};
    kinds_S s = {.bias = bias};
    kinds_const_f32 in = kinds_S_go_x(x);
    kinds_f32 out = kinds_S_go_out(y);
    int wrong = kinds_S_new(&context, 4, &s) + kinds_S_go(&context, &s, &in, &out) + kinds_S_count(&context, &s, &n);
    printf("%d %g %g %g %d\n", wrong, (double)y[0], (double)y[1], (double)y[2], (int)(n * 10 + s.n));
    return 0;
}
TEXT
# shellcheck disable=SC2086 # a list of flags
expect_status 0 "$cc" $sanitize -std=c11 -Wall -Wextra -Werror -pedantic -I"$MASU_TMP" "$MASU_TMP/call.c" "$MASU_TMP/kinds.c" -o "$MASU_TMP/call" -lm
expect_status 0 "$MASU_TMP/call"
expect_stdout '0 3 5 7 55'
expect_status 1 kinds 's = S::new(_); S::lose(s)'
expect_in_stderr 'which variant an enum of a struct holds is chosen when the C is written'

# All types of elements; numbers of the file, and what the call says where the file has none.
printf '%s\n' 'struct In { k: Tensor<f64, 1>, on: Tensor<bool, 1> } struct Mix { inner: In, i: Tensor<i64, 1>, n: i8, gain: f32, yes: bool }
impl Mix { pub fn new(gain: f32) -> Mix { Mix { inner: In { k: Tensor::zeros([1]), on: Tensor::from([true, true]) }, i: Tensor::from([7]), n: 3, gain: gain, yes: true } }
pub fn all(&self) -> (f64, i64, i64) { (self.inner.k[0].item() * self.gain as f64 + self.i.sum().item() as f64, self.n as i64, if self.yes && self.inner.on[1].item() { 1 } else { 0 }) } }' >"$MASU_TMP/mix.tl"
tensors() { # HEADER BYTES: a file of them
    printf '%b%s%b' "\\0$(printf %o ${#1})\\0\\0\\0\\0\\0\\0\\0" "$1" "$2" >"$MASU_TMP/t.safetensors"
}
mixed() { # ARENA
    "$MASU" build --c "$MASU_TMP/mix.tl" -o "$MASU_TMP/mix.c" --header "$MASU_TMP/mix.h" --arena "$1" --weights "m=$MASU_TMP/t.safetensors"
}
mix='{"i":{"dtype":"I8","shape":[1],"data_offsets":[0,1]},"inner.k":{"dtype":"F16","shape":[1],"data_offsets":[1,3]},"inner.on":{"dtype":"BOOL","shape":[2],"data_offsets":[3,5]}'
tensors "$mix,\"n\":{\"dtype\":\"U8\",\"shape\":[],\"data_offsets\":[5,6]}}" '\0376\0\076\0\01\0144'
expect_status 0 mixed 'm = Mix::new(0.25); Mix::all(m)'
for line in 'double weights_0_0\[1\]' '    0x1.8p+0,' 'unsigned char weights_0_1\[2\]' '    0, 1,' '(INT64_C(-2)),' '    \*out1 = INT64_C(100);' '    .gain = 0x1p-2f,'; do
    grep -q -e "$line" "$MASU_TMP/mix.c" || fail "no $line: $(cat "$MASU_TMP/mix.c")"
done
! grep -q '^    [a-z_0-9]* \(n\|yes\);' "$MASU_TMP/mix.h" || fail "a number that is known is a field: $(cat "$MASU_TMP/mix.h")"
expect_status 1 mixed 'm = Mix::new(_); Mix::all(m)'
expect_in_stderr '`gain` is missing, a f32[]'
tensors "$mix,\"n\":{\"dtype\":\"U8\",\"shape\":[],\"data_offsets\":[5,6]}}" '\0376\0\076\0\01\0310'
expect_status 1 mixed 'm = Mix::new(0.25); Mix::all(m)'
expect_in_stderr 'the type of `n` does not hold its number'

# Everything that does not fit at once; files that are none.
tensors '{"w1":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},"b1":{"dtype":"F64","shape":[1],"data_offsets":[8,16]},"w3":{"dtype":"I64","shape":[],"data_offsets":[16,24]}}' 'aaaaaaaabbbbbbbbcccccccc'
cp "$MASU_TMP/baked.c" "$MASU_TMP/before.c"
unfit() { # SAID ARENA NAME=FILE…
    said=$1 arena=$2
    shift 2
    for file; do set -- "$@" --weights "$file"; shift; done
    expect_status 1 baked --arena "$arena" "$@"
    expect_in_stderr "$said"
    cmp -s "$MASU_TMP/baked.c" "$MASU_TMP/before.c" || fail 'the C file was written'
}
unfit "t.safetensors: \`w1\` is f32[2] and not f32[6, 8]; \`b1\` is f64[1] and not f32[8]; \`w2\` is missing, a f32[8, 5]; \`b2\` is missing, a f32[5]; \`w3\` is not a field" "$made" "m=$MASU_TMP/t.safetensors"
unfit 'no call of --arena yields a struct or an instance of this name' "$made" "n=$weights"
unfit 'a function of this file writes to it' "$made; Mlp::nudge(m, [5], _)" "m=$weights"
unfit "cannot read $MASU_TMP/none.safetensors: No such file or directory" "$made" "m=$MASU_TMP/none.safetensors"
unfit "cannot read $MASU_TMP: Is a directory" "$made" "m=$MASU_TMP"
head -c 200 "$weights" >"$MASU_TMP/cut.safetensors"
unfit "cannot read $MASU_TMP/cut.safetensors: its header has " "$made" "m=$MASU_TMP/cut.safetensors"
unfit 'cannot read /dev/null: it is not a regular file' "$made" m=/dev/null
unfit 'cannot read tests/cli/plain_c.tl: it is not a .safetensors file' "$made" m=tests/cli/plain_c.tl
expect_status 2 baked --weights "$weights"
expect_in_stderr 'NAME=FILE.safetensors is wanted'
expect_status 2 baked --arena "$made" --weights "m=$weights" --weights "m=$weights"
expect_in_stderr '`m` is there twice'
expect_status 2 baked --arena "$made" --weights "m=$MASU_TMP/baked.h"
expect_in_stderr 'holds the weights: it would be written over'
expect_status 2 "$MASU" build --shared tests/cli/plain_c.tl -o "$MASU_TMP/x.so" --weights "m=$weights"
expect_in_stderr '--weights goes with --c'

# The example.
# shellcheck disable=SC2086 # a list of flags
expect_status 0 env CC="$cc" sh examples/microcontroller.sh "$MASU" $sanitize
expect_stdout 'flat: 0 (83%)
on its side: 1 (71%)
shaken: 2 (99%)
128 bytes of arena'

# Calls of several --arena are one list: each function is there.
expect_status 0 "$MASU" build --c tests/cli/plain_c.tl -o "$MASU_TMP/two.c" --header "$MASU_TMP/two.h" --arena 'literal([3])' \
    --arena 'fibs(_)' --arena='collatz(_)'
grep -c '^[a-z_0-9 ]*two_[a-z]*(two \*context' "$MASU_TMP/two.h" >"$MASU_TMP/many"
[ "$(cat "$MASU_TMP/many")" = 3 ] || fail "$(cat "$MASU_TMP/many") functions of three in two.h"

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
