#!/bin/sh
# Runs every measurement of a build folder, one after the other, so that none disturbs another.
#
#     scripts/bench.sh BUILD [--json]
set -eu
cd "$(dirname "$0")/.."
build=$1
shift

found=0
failed=0
for program in "$build"/bench/*; do
    if [ ! -f "$program" ] || [ ! -x "$program" ]; then continue; fi
    found=$((found + 1))
    "$program" "$@" || {
        echo "bench: $program ended with status $?" >&2
        failed=1
    }
done
if [ "$found" -eq 0 ]; then
    echo "bench: no program in $build/bench" >&2
    exit 1
fi
exit "$failed"
