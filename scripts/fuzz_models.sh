#!/bin/sh
# The readers of networks under libFuzzer and the sanitizers, SECONDS each: see tests/fuzz/model_bytes.c. Needs clang
# and Python with NumPy. A finding stays in the folder that is printed.
#
#     scripts/fuzz_models.sh BUILD SECONDS [FORMAT…]     FORMAT: tflite onnx (both)
set -eu
cd "$(dirname "$0")/.."
build=$1 seconds=$2
shift 2
[ $# -gt 0 ] || set -- tflite onnx
work=$(mktemp -d)
. scripts/libfuzzer.sh
mkdir "$work/tflite.seeds" "$work/onnx.seeds" "$work/objects"

# Seeds: what the tests make, and the smaller ones of $MASU_DATA.
MASU=$build/masu MASU_TMP=$work KEEP=$work/tflite.seeds sh -c '. tests/expect.sh; . tests/cli/networks.sh' >/dev/null
/usr/bin/python3 tests/cli/onnx_files.py "$build/masu" "$work" "$work/onnx.seeds" >/dev/null
for file in "${MASU_DATA:-../shared/data}"/models/source/*; do
    [ -f "$file" ] && [ "$(wc -c <"$file")" -lt 32768 ] && cp "$file" "$work/${file##*.}.seeds/" || true
done

options="-D_GNU_SOURCE -g -O1 -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=undefined -Isrc -Iinclude -I$build/include -I$build/models -w"
for format in "$@"; do
    for source in src/models/*.c src/models/import/*.c src/models/*.cc "$build/models/onnx.pb-c.c" "$build/models/import_library.c" src/base/arena.c src/base/meta.c src/base/buffer.c src/base/assert.c tests/fuzz/model_bytes.c; do
        case $source in *.cc) compiler="clang++ -std=c++17 -fno-exceptions -fno-rtti" ;; *) compiler=clang ;; esac
        # shellcheck disable=SC2086 # options
        $compiler $options "-DFUZZ_FORMAT=MASU__MODEL_$(printf %s "$format" | tr a-z A-Z)" -c "$source" -o "$work/objects/$(basename "$source").o"
    done
    clang++ -fsanitize=fuzzer,address,undefined "$work"/objects/*.o -lprotobuf-c -o "$work/$format"
    echo "fuzz $format: $(ls "$work/$format.seeds" | wc -l) seeds, $seconds s"
    fuzz_run "$work/$format" "$work/$format.seeds" 32768 2048 20
done
fuzz_end
