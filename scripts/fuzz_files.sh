#!/bin/sh
# The readers of files under libFuzzer and the sanitizers, SECONDS each: see tests/fuzz/file_bytes.c. Needs clang. A
# finding stays in the folder that is printed.
#
#     scripts/fuzz_files.sh MASU SECONDS [READER…]     READER: safetensors npy zip idx csv (all of them)
set -eu
cd "$(dirname "$0")/.."
masu=$1 seconds=$2
shift 2
[ $# -gt 0 ] || set -- safetensors npy zip idx csv
work=$(mktemp -d)
. scripts/libfuzzer.sh
mkdir "$work/seeds"

cat >"$work/seeds.tl" <<'TL'
use std::collections::HashMap;
fn main() {
    let folder = std::env::args().nth(1).unwrap();
    let mut all: HashMap<String, Tensor> = HashMap::new();
    all.insert("layers.0.weight", Tensor::arange(0.0, 6.0).reshape([2, 3]));
    all.insert("mean", Tensor::full([2], 0.1) as Tensor<f64>);
    all.insert("ids", Tensor::from_vec(vec![1, 2, 3]));
    all.insert("mask", Tensor::from_vec([1.0, 0.0]) > 0.5);
    all.insert("none", Tensor::zeros([0, 3]));
    Param::save(all, folder + "/all.safetensors");
    Param::save(all, folder + "/all.npz");
    all["layers.0.weight"].save(folder + "/f32.npy");
    all["ids"].save(folder + "/i64.npy");
    all["mask"].save(folder + "/bool.npy");
}
TL
"$masu" run "$work/seeds.tl" "$work/seeds"
printf '\000\000\010\002\000\000\000\002\000\000\000\003abcdef' >"$work/seeds/u8.idx"
printf '\000\000\015\001\000\000\000\001\077\200\000\000' >"$work/seeds/f32.idx"
gzip -nk "$work/seeds/u8.idx"
# shellcheck disable=SC2016
printf '\003\000\000\000\000\000\000\000{} ' >"$work/seeds/empty.safetensors"
printf 'a,b\n1.5,"x ""y"", z"\r\n,-2e10\n' >"$work/seeds/a.csv"
printf ';x\n123456789012345678901234567890;9007199254740993e-3\n' >"$work/seeds/b.csv"
if command -v python3 >/dev/null 2>&1; then # a deflated entry
    python3 - "$work/seeds" <<'PY'
import sys, zipfile
folder = sys.argv[1]
with zipfile.ZipFile(folder + "/deflated.npz", "w", zipfile.ZIP_DEFLATED) as z:
    z.write(folder + "/f32.npy", "x.npy")
    z.write(folder + "/i64.npy", "y.npy")
PY
fi

for reader in "$@"; do
    define="-DFUZZ_READER=tl__${reader}_read"
    [ "$reader" != csv ] || define=-DFUZZ_CSV
    # shellcheck disable=SC2046 # options, split at spaces
    clang -D_GNU_SOURCE -g -O1 -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=undefined -Isrc -Iinclude \
        "-I$(dirname "$masu")/include" $define tests/fuzz/file_bytes.c \
        src/runtime/files/stored.c src/runtime/files/cut_file.c src/runtime/files/npy.c src/runtime/files/idx.c src/runtime/files/zip.c \
        src/runtime/files/safetensors.c src/runtime/files/csv.c \
        src/base/arena.c src/base/decimal.c src/base/meta.c src/base/buffer.c src/base/assert.c $(pkg-config --cflags --libs jansson zlib) \
        -o "$work/$reader"
    echo "fuzz $reader: $seconds s"
    fuzz_run "$work/$reader" "$work/seeds" 4096 1024 10
done
fuzz_end
