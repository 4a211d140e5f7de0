#!/bin/sh
# Mutated example and golden programs through the compiler until the time is over: see tests/fuzz/programs.c. Findings
# stay in the folder that is printed; `fuzz_programs --reduce FINDING.tl` says what is left of one, which belongs into
# tests/fuzz/found.
#
#     scripts/fuzz.sh BUILD SECONDS [SEED]     the same seed gives the same mutants
set -eu
cd "$(dirname "$0")/.."
keep=$(mktemp -d)
status=0
"$1/tests/fuzz/fuzz_programs" --seconds="$2" --seed="${3:-1}" --keep="$keep" \
    examples/*.tl tests/golden/*.tl tests/fuzz/found/*.tl || status=$?
[ "$status" -ne 0 ] || rm -rf "$keep"
exit "$status"
