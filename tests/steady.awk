# Checks that rounds of a loop cost the same: three reports of the same program, whose numbers of rounds lie equally far
# apart.
#     awk -f tests/steady.awk FEW MORE MOST
# What counts events grows by as much from the second to the third as from the first to the second; what is alive at
# once, and what comes from the system, is the same in all three. Prints what is not; status 1 then.
FNR == 1 { report++ }
match($0, /"[a-z_0-9]+": *[0-9.]+/) {
    split(substr($0, RSTART, RLENGTH), part, /": */)
    key = substr(part[1], 2)
    value[key, report] = part[2]
    known[key] = 1
}

function judge(name, steady) {
    if (name in known && steady) return
    print name " over the rounds: " value[name, 1] ", " value[name, 2] ", " value[name, 3]
    failed = 1
}

END {
    events = "allocations frees retain_ops release_ops placed reused pool_hits"
    levels = "peak_bytes frame_bytes_peak pool_misses device_allocations device_frees reserved_bytes frame_depth_peak " \
        "live_tensors live_bytes live_nodes live_grads live_objects registered"
    if (report != 3) { print "three reports, not " report + 0; exit 1 }
    count = split(events, names, " ")
    for (k = 1; k <= count; k++)
        judge(names[k], value[names[k], 3] - value[names[k], 2] == value[names[k], 2] - value[names[k], 1])
    count = split(levels, names, " ")
    for (k = 1; k <= count; k++)
        judge(names[k], value[names[k], 3] == value[names[k], 2] && value[names[k], 2] == value[names[k], 1])
    exit failed
}
