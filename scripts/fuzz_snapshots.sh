#!/bin/sh
# The readers of memory snapshots and of tables of requests under libFuzzer and the sanitizers, and the model that
# follows what they read: see tests/fuzz/snapshot_bytes.c. Needs clang and python3. A finding stays in the folder that
# is printed.
#
#     scripts/fuzz_snapshots.sh SECONDS [BUILD]     BUILD: where config headers are generated (build/release)
set -eu
cd "$(dirname "$0")/.."
seconds=$1 build=${2:-build/release}
work=$(mktemp -d)
. scripts/libfuzzer.sh
mkdir "$work/seeds"
for protocol in 2 3 4 5; do
    python3 tests/cli/whatif_oom.py "$work/seeds/oom$protocol.pickle" $protocol
done
printf 'event,id,bytes\nalloc,0,4096\nfree,0,\nstep,,\n' >"$work/seeds/requests.csv"
sources=$(ls src/recording/*.c)
# shellcheck disable=SC2086 # a list of files
clang -D_GNU_SOURCE -g -O1 -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=undefined -Isrc -Iinclude "-I$build/include" \
    tests/fuzz/snapshot_bytes.c $sources src/base/*.c -lm -lpthread -o "$work/fuzz"
fuzz_run "$work/fuzz" "$work/seeds" 16384 2048 20
fuzz_end
