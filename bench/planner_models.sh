#!/bin/sh
# The networks of $MASU_DATA/models: the bound, the plan, what a greedy planner (largest first, into the
# first gap) reaches, and the peak in place and reordered. A Markdown table.
#
#     sh bench/planner_models.sh [MASU]      MASU: the command (build/release/masu)
here=$(dirname "$0")/..
masu=${1:-$here/build/release/masu}
data=${MASU_DATA:-$here/../shared/data}/models
[ -d "$data" ] || { echo "$data is not there" >&2; exit 1; }
temporary=$(mktemp -d) || exit 1
trap 'rm -r "$temporary"' EXIT

# BUFFERS HEIGHT OUTCOME SECONDS of a plan, from the command's summary
plan() {
    "$masu" plan "$@" --time 5 --output "$temporary/out.json" 2>&1 | tr -d , |
        sed -nE 's/^([0-9]+) buffers height ([0-9]+) bytes( \(.*\))? ([a-z]+); ([0-9.]+) s.*/\1 \2 \4 \5/p'
}

greedy() { awk -F, 'NR > 1 { n++; l[n] = $2; u[n] = $3; s[n] = $4; o[n] = n }
    END {
        for (i = 2; i <= n; i++) { # largest first; equals as they stand
            x = o[i]; for (j = i - 1; j > 0 && s[o[j]] < s[x]; j--) o[j + 1] = o[j]; o[j + 1] = x }
        for (i = 1; i <= n; i++) {
            x = o[i]; at = 0
            do { moved = 0
                for (j = 1; j < i; j++) { y = o[j]
                    if (l[x] < u[y] && l[y] < u[x] && at < p[y] + s[y] && p[y] < at + s[x]) { at = p[y] + s[y]; moved = 1 } }
            } while (moved)
            p[x] = at; if (at + s[x] > high) high = at + s[x] }
        printf "%d\n", high }' "$1"; }

echo "| network | buffers | bound | plan | proven | s | greedy by size | in place | reordered | both |"
echo "|---|---|---|---|---|---|---|---|---|---|"
for file in "$data"/*.csv; do
    case $file in *.ops.csv) continue ;; esac
    name=$(basename "$file" .csv) ops=$data/$(basename "$file" .csv).ops.csv
    set -- $(plan "$file")
    bound=$(sed -nE 's/.*"lower_bound": ([0-9]+).*/\1/p' "$temporary/out.json")
    row="| $name | $1 | $bound | $2 | $([ "$3" = optimal ] && echo yes || echo no) | $4 | $(greedy "$file")"
    for flags in --in-place --reorder "--in-place --reorder"; do
        set -- $([ -f "$ops" ] && plan "$file" --ops "$ops" $flags)
        row="$row | ${2:--}"
    done
    echo "$row |"
done
