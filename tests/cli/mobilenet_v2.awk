# MobileNet v2 for `masu plan --ops`, from the table of blocks (t, c, n, s) that was published with it: OUT.csv and
# OUT.ops.csv, a byte an element, 224 × 224 pixels. Each block but the first of a row ends by adding what it began with.
#
#     awk -v out=OUT [-v tail=1] -f tests/cli/mobilenet_v2.awk
#
# tail: from the last operator of the first block of 24 channels on, as where the blocks before are computed in patches.
function tensor(bytes) { count++; size_of[count] = bytes; born[count] = last[count] = step; return count }
function op(type, a, b, bytes,    y) {
    y = tensor(bytes)
    last[a] = last[b] = step
    operators[step] = step "," type "," a (b ? " " b : "") "," y
    step++
    return y
}
function block(x, t, c, s,    y) {
    y = t > 1 ? op("Conv", x, 0, side * side * depth * t) : x
    side /= s
    y = op("DepthwiseConv", y, 0, side * side * depth * t)
    y = op("Conv", y, 0, side * side * c)
    y = s == 1 && c == depth ? op("Add", x, y, side * side * c) : y
    depth = c
    return y
}
BEGIN {
    step = 0
    rows = split("1 16 1 1  6 24 2 2  6 32 3 2  6 64 4 2  6 96 3 1  6 160 3 2  6 320 1 1", table, " ") / 4
    side = tail ? 56 : 112
    depth = tail ? 24 : 32
    x = op("Conv", tensor(tail ? side * side * 144 : 224 * 224 * 3), 0, side * side * depth)
    for (row = tail ? 1 : 0; row < rows; row++)
        for (i = tail && row == 1 ? 1 : 0; i < table[4 * row + 3]; i++)
            x = block(x, table[4 * row + 1], table[4 * row + 2], i == 0 ? table[4 * row + 4] : 1)
    x = op("Conv", x, 0, side * side * 1280)
    x = op("AveragePool", x, 0, 1280)
    x = op("Conv", x, 0, 1000)
    print "id,lower,upper,size" > (out ".csv")
    for (k = 1; k <= count; k++) print k "," born[k] "," last[k] + 1 "," size_of[k] > (out ".csv")
    print "op,type,inputs,outputs" > (out ".ops.csv")
    for (k = 0; k < step; k++) print operators[k] > (out ".ops.csv")
}
