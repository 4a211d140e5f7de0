# What the drawn cases of any_*.tl cover, a line for each example:
#
#     name  cases  gradients  types  ranks  without elements  views  wild
#
# A case is a line of numbers: see Case.line in record_any.py. Ranks are those of the first operand that is no index.
/^fn title\(/ {
    text = $0
    while (match(text, /[0-9]+ => "[a-z_0-9A-Z]+/)) {
        entry = substr(text, RSTART, RLENGTH)
        text = substr(text, RSTART + RLENGTH)
        split(entry, part, " => \"")
        name[part[1]] = part[2]
    }
}
/let cases: Vec<String> = / {
    sub(/^[^"]*"/, "")
    sub(/"\.split.*/, "")
    count = split($0, lines, "\\\\n")
    for (i = 1; i <= count; i++)
        read_case(lines[i])
}
function read_case(line, f, k, at, o, d, rank, seen) {
    split(line, f, " ")
    k = f[1]
    cases[k]++
    gradients[k] += f[3]
    at = 4
    for (o = 0; o < f[2]; o++) {
        if (f[at + 1] != 6 && f[at + 1] != 3)
            types[k] = add(types[k], substr("fdib", f[at] + 1, 1))
        if (f[at + 4] > 0)
            views[k] = add(views[k], f[at + 4])
        wild[k] += f[at + 5]
        at += 7 + f[at + 6]
        rank = f[at]
        ranks[k] = add(ranks[k], rank)
        for (d = 1; d <= rank; d++)
            empty[k] += f[at + d] == 0
        at += 1 + rank
    }
}
function add(set, x) { return index(set, x) ? set : set x }
END {
    for (k in cases)
        print name[k], cases[k], gradients[k], types[k] ? types[k] : "-", ranks[k], empty[k] + 0, views[k] ? views[k] : "-", wild[k]
}
