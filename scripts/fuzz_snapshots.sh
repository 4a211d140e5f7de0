#!/bin/sh
# The readers of memory snapshots and of tables of requests under libFuzzer and the sanitizers, and the model that follows what they
# read: see tests/fuzz/snapshot_bytes.c. Needs clang and python3. A finding stays in the folder that is printed.
#
#     scripts/fuzz_snapshots.sh SECONDS [BUILD]     BUILD: where config headers are generated (build/release)
set -eu
cd "$(dirname "$0")/.."
seconds=$1 build=${2:-build/release}
work=$(mktemp -d)
mkdir "$work/seeds" "$work/corpus" "$work/found"
for protocol in 2 3 4 5; do
    python3 tests/cli/whatif_oom.py "$work/seeds/oom$protocol.pickle" $protocol
done
printf 'event,id,bytes\nalloc,0,4096\nfree,0,\nstep,,\n' >"$work/seeds/requests.csv"
sources=$(ls src/recording/*.c)
# shellcheck disable=SC2086 # a list of files
clang -D_GNU_SOURCE -g -O1 -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=undefined -Isrc -Iinclude "-I$build/include" \
    tests/fuzz/snapshot_bytes.c $sources src/base/*.c -lm -lpthread -o "$work/fuzz"
status=0
"$work/fuzz" -max_total_time="$seconds" -max_len=16384 -rss_limit_mb=2048 -timeout=20 -print_final_stats=1 -verbosity=0 \
    -artifact_prefix="$work/found/" "$work/corpus" "$work/seeds" >"$work/log" 2>&1 || {
    status=1
    tail -n 40 "$work/log"
}
sed -n 's/^stat::number_of_executed_units: */runs: /p; s/^stat::peak_rss_mb: */MiB at most: /p' "$work/log"
if [ "$status" -eq 0 ]; then rm -rf "$work"; else echo "findings lie in $work"; fi
exit "$status"
