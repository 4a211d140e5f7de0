# Graphs of operators that are drawn, and plans of them that are executed on bytes. For tests/cli/plan_bytes.sh.
#
#     awk -v draw=N -v folder=F -f plan_bytes.awk          writes F/N.csv and F/N.ops.csv
#     awk -f plan_bytes.awk OPS PLAN ORDER                 runs the operators of OPS at the offsets of PLAN in the order
#                                                          that the file ORDER ends with (none: as they stand); says
#                                                          what is lost
#
# Each byte of a buffer carries the buffer's name. An element-wise operator reads and writes byte by byte; any other
# writes all it makes before it has read all it needs. What is read must still be there, and what nobody reads and lives
# to the end is there then.

function number(most) { return int(rand() * most) }

function draw_graph(    i, k, count, row, op, reads, type, name, size, last, kept, listed) {
    srand(draw)
    for (i = 0; i < draw; i++) rand()
    ops = 3 + number(6)
    rows = 1 + number(2)
    for (i = 0; i < rows; i++) { size[i] = 1 + number(4); made[i] = -1; last[i] = 0 }
    for (op = 0; op < ops; op++) {
        reads = 1 + number(2)
        inputs[op] = ""
        type = "Conv"
        for (k = 0; k < reads; k++) {
            row = rand() < 0.6 ? rows - 1 - number(rows < 3 ? rows : 3) : number(rows)
            if (index(" " inputs[op] " ", " b" row " ")) continue
            inputs[op] = inputs[op] (inputs[op] == "" ? "" : " ") "b" row
            last[row] = op
            read[row] = 1
            first = k == 0 ? row : first
        }
        size[rows] = 1 + number(5)
        if (rand() < 0.6) { type = reads == 1 ? "Relu" : "Add"; size[rows] = size[first] }
        made[rows] = last[rows] = op
        outputs[op] = "b" rows
        rows++
        if (rand() < 0.15) { size[rows] = 1 + number(3); made[rows] = last[rows] = op; outputs[op] = outputs[op] " b" rows; rows++; type = "Split" }
        types[op] = type
    }
    name = folder "/" draw
    print "id,lower,upper,size" >(name ".csv")
    for (i = 0; i < rows; i++) {
        if (rand() < 0.15) last[i] = ops - 1
        print "b" i "," (made[i] < 0 ? 0 : made[i]) "," last[i] + 1 "," size[i] >(name ".csv")
    }
    print "op,type,inputs,outputs" >(name ".ops.csv")
    for (op = 0; op < ops; op++) print op "," types[op] "," inputs[op] "," outputs[op] >(name ".ops.csv")
}

function lost(row, byte, when) {
    printf "%s: byte %d of %s is %s's %s\n", FILENAME, byte, row, memory[place[row], at[row] + byte], when
    failed = 1
}
function expect_byte(row, byte, when) { if (memory[place[row], at[row] + byte] != row) lost(row, byte, when) }
function expect_row(row, when,    k) { for (k = 0; k < sizes[row]; k++) expect_byte(row, k, when) }
function write_byte(row, byte) { memory[place[row], at[row] + byte] = row }

function run_operator(op, step,    in_count, out_count, ins, outs, i, k, most) {
    in_count = split(inputs[op], ins, " ")
    out_count = split(outputs[op], outs, " ")
    when = "when operator " op " reads it, step " step
    if (types[op] == "Relu" || types[op] == "Add") {
        most = sizes[outs[1]]
        for (k = 0; k < most; k++) {
            for (i = 1; i <= in_count; i++) if (k < sizes[ins[i]]) expect_byte(ins[i], k, when)
            write_byte(outs[1], k)
        }
        return
    }
    for (i = 1; i <= in_count; i++) expect_row(ins[i], when)
    for (i = 1; i <= out_count; i++) for (k = 0; k < sizes[outs[i]]; k++) write_byte(outs[i], k)
    for (i = 1; i <= in_count; i++) expect_row(ins[i], when ", beside its own results")
}

BEGIN { FS = ","; if (draw != "") { draw_graph(); exit } }
FNR == 1 { file++; if (file < 3) next }
file == 1 {
    types[$1] = $2; inputs[$1] = $3; outputs[$1] = $4
    ops++
    n = split($3, names, " "); for (i = 1; i <= n; i++) reader[names[i]] = 1
    n = split($4, names, " "); for (i = 1; i <= n; i++) maker[names[i]] = 1
}
file == 2 { sizes[$1] = $4; at[$1] = $5; place[$1] = $6; upper[$1] = $3; planned++ }
file == 3 && /run [0-9 ]+$/ { sub(/.*run /, ""); steps = split($0, order, " ") }
END {
    if (draw != "") exit
    if (planned == 0 || (steps > 0 && steps != ops)) { print "no plan, or not all operators run"; exit 1 }
    for (row in sizes) if (!(row in maker)) for (k = 0; k < sizes[row]; k++) write_byte(row, k)
    for (step = 1; step <= ops; step++) run_operator(steps > 0 ? order[step] : step - 1, step)
    for (row in sizes) if (!(row in reader) && upper[row] >= ops) expect_row(row, "at the end")
    exit failed
}
