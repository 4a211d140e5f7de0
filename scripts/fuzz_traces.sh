#!/bin/sh
# The reader of traces and all forms of the report under libFuzzer and the sanitizers: see tests/fuzz/trace_bytes.c.
# Needs clang and python3. A finding stays in the folder that is printed.
#
#     scripts/fuzz_traces.sh SECONDS [BUILD]     BUILD: where config headers are generated (build/release)
set -eu
cd "$(dirname "$0")/.."
seconds=$1 build=${2:-build/release}
work=$(mktemp -d)
. scripts/libfuzzer.sh
mkdir "$work/seeds"
# Seeds: a real trace, and the records of its chunks behind their number, for which the fuzzer makes head and checksum.
clang -Iinclude "-I$build/include" examples/puzzles/fragments.c "$build/libmasu.a" -lpthread -lm -o "$work/program"
MASU_TRACE="$work/seeds/whole" "$work/program" >/dev/null
python3 - "$work/seeds" <<'PY'
import sys
data = open(sys.argv[1] + "/whole", "rb").read()
at = 32
while at + 24 <= len(data):
    length = int.from_bytes(data[at + 4:at + 8], "little")
    open("%s/records%d" % (sys.argv[1], at), "wb").write(data[at + 12:at + 16] + data[at + 24:at + 24 + length])
    at += 24 + length
PY
sources=$(ls src/recording/*.c)
# shellcheck disable=SC2086 # a list of files
clang -D_GNU_SOURCE -g -O1 -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=undefined -Isrc -Iinclude "-I$build/include" \
    tests/fuzz/trace_bytes.c $sources src/tool/report/facts.c src/tool/report/holes.c src/tool/report/report_words.c \
    src/tool/report/report_text.c src/tool/report/report_json.c src/tool/report/report_html.c src/base/*.c -lm -lpthread \
    -o "$work/fuzz"
fuzz_run "$work/fuzz" "$work/seeds" 8192 2048 20
fuzz_end
