#!/bin/sh
# examples/digits.tl beside bench/digits.py, one thread each, three times in turns: CPU time of the whole processes.
# Arguments: the folder with digits.csv, and masu (build/release/masu).
set -eu
data=$1/digits.csv masu=${2:-build/release/masu}
export OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1
for _ in 1 2 3; do
    for command in "$masu run --log /dev/null examples/digits.tl" "/usr/bin/python3 bench/digits.py"; do
        # shellcheck disable=SC2086
        sh -c 'exec 3>&1; { time -p $0 "$1" >&3; } 2>&1' "$command" "$data"
    done
done
