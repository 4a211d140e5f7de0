# Layers of the library as plain C, with the weights of a file: what has no product in it yields what `masu run` yields,
# bit for bit; products are added up in another order, and agree to the third decimal.
cc=$(sed -n 's/^CMAKE_C_COMPILER:[A-Z]*=//p' "$MASU_BUILD/CMakeCache.txt")
sanitize=${MASU_SANITIZE:+-fsanitize=$MASU_SANITIZE}
cat >"$MASU_TMP/all.tl" <<'TEXT'
struct Same {
    batch: BatchNorm2d, group: GroupNorm, layer: LayerNorm, root: RMSNorm, drop: Dropout, most: MaxPool2d, mean: AvgPool2d,
    cover: AdaptiveAvgPool2d, shuffle: PixelShuffle, zero: ZeroPad2d, soft: Softmax, log: LogSoftmax,
    leaky: LeakyReLU, elu: ELU, learned: PReLU, table: Embedding, steps: i64,
}
impl Same {
    pub fn new() -> Same {
        let mut all = Same {
            batch: BatchNorm2d::new(4), group: GroupNorm::new(2, 4), layer: LayerNorm::new(8), root: RMSNorm::new(8),
            drop: Dropout::new(0.5), most: MaxPool2d::new(3, 2, 1), mean: AvgPool2d::new(2), cover: AdaptiveAvgPool2d::new(3),
            shuffle: PixelShuffle::new(2), zero: ZeroPad2d::new(2), soft: Softmax::new(1),
            log: LogSoftmax::new(), leaky: LeakyReLU::new(), elu: ELU::new(), learned: PReLU::new(), table: Embedding::new(5, 3),
            steps: 3,
        };
        all.batch.running_mean = Tensor::randn([4]);
        all.batch.running_var = Tensor::rand([4]) + 0.5;
        all.eval();
        all
    }
    pub fn forward(&mut self, x: Tensor<f32, 4>, rows: Tensor<i64, 2>) -> Tensor<f32, 1> {
        let mut parts: Vec<Tensor> = Vec::new();
        parts.push(self.batch.forward(x).flatten());
        parts.push(self.group.forward(x).flatten());
        parts.push(self.layer.forward(x).flatten());
        parts.push(self.root.forward(x).flatten());
        parts.push(self.drop.forward(x).flatten());
        parts.push(self.most.forward(x).flatten());
        parts.push(self.mean.forward(x).flatten());
        parts.push(self.cover.forward(x).flatten());
        parts.push(self.shuffle.forward(x).flatten());
        parts.push(self.zero.forward(x).flatten());
        parts.push(self.soft.forward(x).flatten());
        parts.push(self.log.forward(x).flatten());
        parts.push(self.leaky.forward(x).flatten());
        parts.push(self.elu.forward(x).flatten());
        parts.push(self.learned.forward(x).flatten());
        parts.push(self.table.forward(rows).flatten());
        parts.push(Tensor::ones([self.steps]));
        Tensor::cat(parts, 0)
    }
}
struct Near {
    wide: Conv2d, apart: Conv2d, back: ConvTranspose2d, row: Conv1d, last: Linear, heads: MultiheadAttention,
    block: TransformerEncoderLayer, gru: GRUCell, lstm: LSTMCell,
}
impl Near {
    pub fn new() -> Near {
        let mut all = Near {
            wide: Conv2d::new(4, 6, 3, 2, 1), apart: Conv2d::new(4, 8, 3, 1, 2, 2, 4), back: ConvTranspose2d::new(4, 2, 3, 2, 1, 1),
            row: Conv1d::new(8, 4, 3, 1, 1), last: Linear::new(8, 3), heads: MultiheadAttention::new(8, 2),
            block: TransformerEncoderLayer::new(8, 2, 16), gru: GRUCell::new(8, 6), lstm: LSTMCell::new(8, 6),
        };
        all.eval();
        all
    }
    pub fn forward(&self, x: Tensor<f32, 4>) -> Tensor<f32, 1> {
        let rows = x.reshape([4, 8, 8]);
        let none = Tensor::zeros([8, 6]);
        let (h, c) = self.lstm.forward(rows[1], (none, none));
        let mut parts: Vec<Tensor> = Vec::new();
        parts.push(self.wide.forward(x).flatten());
        parts.push(self.apart.forward(x).flatten());
        parts.push(self.back.forward(x).flatten());
        parts.push(self.row.forward(rows).flatten());
        parts.push(self.last.forward(x).flatten());
        parts.push(self.heads.forward(rows).flatten());
        parts.push(self.block.forward(rows).flatten());
        parts.push(self.gru.forward(rows[0], none).flatten());
        parts.push(h.flatten());
        parts.push(c.flatten());
        Tensor::cat(parts, 0)
    }
}
fn main() {
    let folder = std::env::args().nth(1).unwrap();
    let x = ((Tensor::arange(0, 256) % 37 - 18.0) / 8.0).reshape([1, 4, 8, 8]);
    let rows: Tensor<i64, 2> = [[0, 4, 2], [1, 3, 0]];
    let mut same = Same::new();
    same.save(folder + "/same.safetensors");
    let a = same.forward(x, rows);
    for i in 0..a.dim(0) { println!("{}", f32::to_bits(a[i])); }
    let near = Near::new();
    near.save(folder + "/near.safetensors");
    let b = near.forward(x);
    for i in 0..b.dim(0) { println!("{:.3}", b[i] + 1000.0); }
}
TEXT
expect_status 0 "$MASU" run "$MASU_TMP/all.tl" "$MASU_TMP"
cp "$MASU_TMP.stdout" "$MASU_TMP/expected"
expect_status 0 "$MASU" build --c "$MASU_TMP/all.tl" -o "$MASU_TMP/all.c" --header "$MASU_TMP/all.h" \
    --arena 's = Same::new(); Same::forward(s, [1, 4, 8, 8], [2, 3]); n = Near::new(); Near::forward(n, [1, 4, 8, 8])' \
    --weights "s=$MASU_TMP/same.safetensors" --weights "n=$MASU_TMP/near.safetensors"
cat >"$MASU_TMP/call.c" <<'TEXT'
#include "all.h"
#include <stdio.h>
#include <string.h>
static _Alignas(8) unsigned char arena[ALL_ARENA_BYTES];
static float x[256], y[8192];
int main(void) {
    int64_t rows[6] = {0, 4, 2, 1, 3, 0};
    all context = {.arena = arena, .arena_bytes = sizeof arena};
    for (int i = 0; i < 256; i++)
        x[i] = ((float)(i % 37) - 18) / 8;
    all_const_f32 in = all_Same_forward_x(x), too = all_Near_forward_x(x);
    all_const_i64 at = all_Same_forward_rows(rows);
    all_f32 out = all_Same_forward_out(y);
    int wrong = all_Same_forward(&context, &all_s_weights, &in, &at, &out);
    for (int i = 0; i < out.shape[0]; i++) {
        uint32_t bits;
        memcpy(&bits, &y[i], sizeof bits);
        printf("%lu\n", (unsigned long)bits);
    }
    all_f32 near = all_Near_forward_out(y);
    wrong += all_Near_forward(&context, &all_n_weights, &too, &near);
    for (int i = 0; i < near.shape[0]; i++)
        printf("%.3f\n", (double)(y[i] + 1000));
    return wrong;
}
TEXT
# shellcheck disable=SC2086 # a list of flags
expect_status 0 "$cc" -std=c11 -O1 -Wall -Wextra -Werror -pedantic -ffreestanding $sanitize -c "$MASU_TMP/all.c" -o "$MASU_TMP/all.o"
# shellcheck disable=SC2086 # a list of flags
expect_status 0 "$cc" $sanitize -std=c11 -Wall -Wextra -Werror -pedantic -I"$MASU_TMP" "$MASU_TMP/call.c" "$MASU_TMP/all.o" -o "$MASU_TMP/call" -lm
expect_status 0 "$MASU_TMP/call"
cmp -s "$MASU_TMP.stdout" "$MASU_TMP/expected" || fail "$(diff "$MASU_TMP.stdout" "$MASU_TMP/expected" | head -20)"

# Layers without a number that varies are structs all the same.
printf '%s\n' 'struct Pool { l: MaxPool2d }' 'impl Pool {' '    pub fn new() -> Pool { Pool { l: MaxPool2d::new(2) } }' \
    '    pub fn forward(&self, x: Tensor<f32, 4>) -> Tensor<f32, 4> { self.l.forward(x) }' '}' >"$MASU_TMP/pool.tl"
expect_status 0 "$MASU" build --c "$MASU_TMP/pool.tl" -o "$MASU_TMP/pool.c" --header "$MASU_TMP/pool.h" --arena 'p = Pool::new(); Pool::forward(p, [1, 1, 4, 4])'
expect_status 0 "$cc" -std=c11 -Wall -Wextra -Werror -pedantic -ffreestanding -c "$MASU_TMP/pool.c" -o "$MASU_TMP/pool.o"
