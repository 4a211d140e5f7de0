#!/bin/sh
# Feeds mutated programs to `masu check` until the time is over. A program may be right or wrong (status 0 or
# 1); a crash, a sanitizer's report, a hang, or an error without a word on stderr is a finding. Findings stay in the folder
# that is printed at the end.
#
#     scripts/fuzz.sh MASU SECONDS [SEED]     the same seed gives the same mutants
set -eu
cd "$(dirname "$0")/.."
masu=$1
seconds=$2
seed=${3:-1}

seeds=$(find examples tests/golden -name '*.tl' | sort)
[ -n "$seeds" ] || {
    echo "fuzz: no program to start from" >&2
    exit 1
}
work=$(mktemp -d)
finish=$(($(date +%s) + seconds))
ASAN_OPTIONS=exitcode=99
UBSAN_OPTIONS=exitcode=99:print_stacktrace=1
export ASAN_OPTIONS UBSAN_OPTIONS

# Drops, doubles, exchanges and replaces tokens; which ones follows from the seed alone.
mutate() { # SEED FILE
    awk -v seed="$1" '
        BEGIN {
            srand(seed)
            words = split("( ) { } [ ] , ; : :: . .. -> => | || & && ! = == + - * / % < <= << 0 -1 1e999 99999999999999999999 \"" \
                          " \047 /* // let mut fn struct impl return break if else while for in match self x as i8 f64 Tensor", word, " ")
        }
        { text = text $0 "\n" }
        END {
            while (match(text, /[A-Za-z0-9_.]+|[^A-Za-z0-9_.]/)) {
                token[++n] = substr(text, RSTART, RLENGTH)
                text = substr(text, RSTART + RLENGTH)
            }
            for (round = 1 + int(rand() * 4); round > 0; round--) {
                at = 1 + int(rand() * n)
                other = 1 + int(rand() * n)
                kind = int(rand() * 5)
                if (kind == 0) token[at] = ""
                else if (kind == 1) token[at] = token[at] token[at]
                else if (kind == 2) { keep = token[at]; token[at] = token[other]; token[other] = keep }
                else if (kind == 3) token[at] = word[1 + int(rand() * words)]
                else if (rand() < 0.2) n = at
            }
            for (i = 1; i <= n; i++) printf "%s", token[i]
        }' "$2"
}

runs=0
findings=0
while [ "$(date +%s)" -lt "$finish" ]; do
    for file in $seeds; do
        [ "$(date +%s)" -lt "$finish" ] || break
        seed=$((seed + 1))
        mutate "$seed" "$file" >"$work/mutant.tl"
        status=0
        timeout -k 2 20 "$masu" check "$work/mutant.tl" >"$work/out" 2>&1 || status=$?
        runs=$((runs + 1))
        if [ "$status" -eq 0 ] || { [ "$status" -eq 1 ] && grep -q 'error:' "$work/out"; }; then
            continue
        fi
        findings=$((findings + 1))
        cp "$work/mutant.tl" "$work/finding-$seed.tl"
        cp "$work/out" "$work/finding-$seed.txt"
        echo "fuzz: status $status on $work/finding-$seed.tl ($file, seed $seed)"
    done
done

echo "fuzz: $runs programs, $findings findings"
if [ "$findings" -gt 0 ]; then
    exit 1
fi
rm -rf "$work"
