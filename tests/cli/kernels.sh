# masu plan of problems of kernel compilers (dsa-solver's schema version 1): what each part means, shown by problems
# whose answer can be told by hand; and what is refused, with its place.
file=$MASU_TMP/kernel.json out=$MASU_TMP/plan.json

buffer() { # ID LOWER UPPER SIZE [POOL] [ALIGNMENT]
    printf '{"id": %s, "name": "b%s", "live_intervals": [{"lower": %s, "upper": %s}], "size": %s, "allowed_pools": [%s], "alignment": %s}' \
        "$1" "$1" "$2" "$3" "$4" "${5:-7}" "${6:-1}"
}
pool() { # ID NAME CAPACITY RANGES
    printf '{"id": %s, "name": "%s", "capacity": %s, "reserved_ranges": [%s]}' "$1" "$2" "$3" "${4:-}"
}
colocations='' separations='' exclusions='' pins='' costs='' terms='"total_peak", "max_peak"' pools=$(pool 7 Vec null)
problem() { # BUFFERS
    cat >"$file" <<JSON
{"profile": "pypto_research_v1", "instance": "by hand", "schema_version": 1, "metadata": {"producer": "a test"},
 "problem": {"buffers": [$1],
  "constraints": {"colocations": [$colocations], "separations": [$separations], "temporal_exclusions": [$exclusions],
                  "pinned_allocations": [$pins]},
  "cost_model": {"reuse_penalties": [$costs]},
  "objective": {"aggregation": "lexicographic", "terms": [$terms]},
  "pools": [$pools], "pypto_structure": {"alias_classes": [], "pipeline_groups": []}}}
JSON
}
plans() { # TEXT…   each in what is said
    expect_status 0 "$MASU" plan "$file" --output "$out" --threads 1
    for text in "$@"; do expect_in_stdout "$text"; done
}
at() { # BUFFER OFFSET
    grep -q "\"buffer\": $1, \"pool\": [0-9]*, \"offset\": $2}" "$out" || fail "buffer $1 is not at $2: $(cat "$out")"
}

# ---- lives, alignments, separations ----------------------------------------------------------------
three="$(buffer 0 0 2 40), $(buffer 1 2 4 40), $(buffer 2 4 6 30)"
problem "$three" && plans 'Vec: 3 buffers, height 40 bytes, optimal'
separations='{"first": 0, "second": 1, "reasons": ["pipeline_stage"]}'
problem "$three" && plans 'height 80 bytes, optimal'
separations='{"first": 0, "second": 1}, {"first": 1, "second": 2}, {"first": 2, "second": 0}'
problem "$three" && plans 'height 110 bytes, optimal'
problem "$(buffer 0 0 2 40 7 32), $(buffer 1 2 4 40 7 32), $(buffer 2 4 6 30 7 32)" && plans 'height 136 bytes, optimal'
separations=''
# two stretches of life: the second buffer lies in the gap
problem '{"id": 0, "name": "", "live_intervals": [{"lower": 6, "upper": 8}, {"lower": 0, "upper": 2}], "size": 9, "allowed_pools": [7], "alignment": 1}, '"$(buffer 1 3 5 9)"
plans 'height 9 bytes, optimal'

# ---- pools, reserved ranges, pins, colocations ------------------------------------------------------
pools="$(pool 3 Left 64 '{"begin": 0, "end": 16}'), $(pool 7 Vec 64 '{"begin": 40, "end": 48}'), $(pool 9 Acc null)"
problem "$(buffer 0 0 2 40 3), $(buffer 1 0 2 40), $(buffer 2 0 2 10)"
expect_status 0 "$MASU" plan "$file" --output "$out"
expect_stdout 'Left: 1 buffers, height 56 bytes, optimal
Vec: 2 buffers, height 58 bytes, optimal
Acc: 0 buffers, height 0 bytes, optimal'
at 0 16 && at 1 0 && at 2 48
# a range above everything is no part of the height
problem "$(buffer 1 0 2 30), $(buffer 2 0 2 10)" && plans 'Vec: 2 buffers, height 40 bytes, optimal'
expect_status 0 "$MASU" plan "$file" --json
expect_in_stdout '{"pool": 7, "name": "Vec", "buffers": 2, "planned": true, "height": 40, "lower_bound": 40, "optimal": true, '
problem "$(buffer 1 0 2 30), $(buffer 2 0 2 30)"
expect_status 1 "$MASU" plan "$file" --output "$MASU_TMP/none.json"
expect_in_stderr 'Vec: no plan fits into 64 bytes: at least '
[ ! -e "$MASU_TMP/none.json" ] || fail 'a file of a plan that does not fit'
pools=$(pool 7 Vec null)
pins='{"buffer": 1, "pool": 7, "offset": 5, "exclusive_for_all_time": false}'
problem "$(buffer 0 0 2 5), $(buffer 1 2 4 5)" && plans 'height 10 bytes, optimal' && at 0 0 && at 1 5
pins='{"buffer": 1, "pool": 7, "offset": 2, "exclusive_for_all_time": true}'
problem "$(buffer 0 0 2 5), $(buffer 1 2 4 5)" && plans 'height 12 bytes, optimal' && at 0 7
pins='{"buffer": 1, "pool": 7, "offset": 2, "exclusive_for_all_time": false}'
problem "$(buffer 0 0 2 5), $(buffer 1 2 4 5)" && plans 'height 7 bytes, optimal' && at 1 2
pins=''
colocations='{"first": 0, "second": 2}'
problem "$(buffer 0 0 2 5), $(buffer 1 0 4 5), $(buffer 2 2 4 9)" && plans 'height 14 bytes, optimal'
colocations=''
exclusions='{"first": 0, "second": 1}'
problem "$(buffer 0 0 2 5), $(buffer 1 2 4 5)" && plans 'height 5 bytes, optimal'
exclusions=''

# ---- reuse costs ------------------------------------------------------------------------------------
terms='"capacity_overflow", "reuse_cost"' pools=$(pool 7 Vec 64)
costs='{"first": 0, "second": 1, "cost": 5, "reason": "generic"}, {"first": 1, "second": 2, "cost": 2, "reason": "cross_pipe"}, {"first": 0, "second": 2, "cost": 3, "reason": "generic"}'
slots="$(buffer 0 0 1 32 7 32), $(buffer 1 1 2 32 7 32), $(buffer 2 2 3 32 7 32)"
problem "$slots" && plans 'reuse cost 2, the least'
pools=$(pool 7 Vec 96)
problem "$slots" && plans 'reuse cost 0, the least'
pools=$(pool 7 Vec 63)
problem "$slots" && plans 'reuse cost 10, the least'
pools=$(pool 7 Vec 31)
problem "$slots"
expect_status 1 "$MASU" plan "$file"
expect_in_stderr 'no plan fits into 31 bytes'
# the lowest, and of these the cheapest: 0 and 1 together, or 0 and 2, or 1 and 2
terms='"total_peak", "reuse_cost"' pools=$(pool 7 Vec null)
problem "$slots, $(buffer 3 0 1 32 7 32)" && plans 'height 64 bytes, optimal, reuse cost 2, the least'
# a cost that no one asks for is not looked at
terms='"max_peak"'
problem "$slots" && plans 'Vec: 3 buffers, height 32 bytes, optimal'
! grep -q 'reuse cost' "$MASU_TMP.stdout" || fail 'a cost without a term'

# ---- what comes out ---------------------------------------------------------------------------------
expect_status 0 "$MASU" plan "$file" --output "$MASU_TMP/plan.csv" --svg "$MASU_TMP/plan.svg" --quiet
expect_stdout ''
expect_status 0 "$MASU" plan --check "$MASU_TMP/plan.csv"
expect_in_stdout 'FINE: Vec: 3 buffers'

# ---- what is refused --------------------------------------------------------------------------------
refuses() { # TEXT
    expect_status 1 "$MASU" plan "$file"
    expect_in_stderr "$file:"
    expect_in_stderr "$1"
    expect_stdout ''
}
spoil() { sed "$1" "$file" >"$MASU_TMP/spoilt" && mv "$MASU_TMP/spoilt" "$file"; } # SED
terms='"total_peak"' costs=''
problem "$(buffer 0 0 2 5), $(buffer 0 2 4 5)" && refuses 'expected an id that has not been used'
problem "$(buffer 0 0 2 5 8)" && refuses 'expected a buffer in one of the pools'
problem "$(buffer 0 0 2 5 7,8)" && refuses 'expected one pool for each buffer'
problem "$(buffer 0 2 2 5)" && refuses 'expected an interval whose upper is above its lower'
problem "$(buffer 0 0 2 5 7 24)" && refuses 'expected a power of two as alignment'
problem "$three" && spoil 's/"schema_version": 1/"schema_version": 2/' && refuses 'expected schema version 1'
problem "$three" && spoil 's/"metadata"/"meta"/' && refuses 'expected a name that schema version 1 has here'
problem "$three" && spoil 's/, "allowed_pools": \[7\]//' && refuses 'expected a member "allowed_pools"'
problem "$three" && spoil 's/"size": 40/"size": 40, "size": 41/' && refuses 'expected each name once'
problem "$three" && spoil 's/"lexicographic"/"weighted"/' && refuses 'expected lexicographic'
terms='"bank_cost"' && problem "$three" && refuses 'expected capacity_overflow, total_peak, max_peak or reuse_cost'
terms='"reuse_cost", "total_peak"' && problem "$three" && refuses 'expected reuse_cost as the last term'
terms='"total_peak"'
exclusions='{"first": 0, "second": 1}' && problem "$(buffer 0 0 3 5), $(buffer 1 2 4 5)" && refuses 'expected buffers whose lives are apart'
exclusions='' separations='{"first": 0, "second": 9}' && problem "$three" && refuses 'expected ids of buffers'
separations='{"first": 1, "second": 1}' && problem "$three" && refuses 'expected two different buffers'
separations='' pins='{"buffer": 0, "pool": 8, "offset": 0, "exclusive_for_all_time": true}' && problem "$three" && refuses 'expected the pool of the buffer'
pins='' pools="$(pool 7 Vec null), $(pool 7 Left null)" && problem "$three" && refuses 'expected a pool whose id and name no other has'
pools=$(pool 7 Vec null '{"begin": 4, "end": 2}') && problem "$three" && refuses 'expected a range that ends at or behind its beginning'
pools=$(pool 7 Vec null)
problem "$three"
for option in --minimize '--capacity 9' '--memory a=9' '--ops x' --check --compare --csv '--header x'; do
    expect_status 2 "$MASU" plan "$file" $option
    expect_in_stderr 'is the problem of a kernel'
done
# cut short anywhere it is refused in a word
length=$(wc -c <"$file")
for part in 3 5 7 11 13 17 19 23 29 31 37 41 43 47; do
    head -c $((length * part / 48)) "$file" >"$MASU_TMP/cut.json"
    expect_status 1 "$MASU" plan "$MASU_TMP/cut.json"
    expect_in_stderr 'error: expected'
done
