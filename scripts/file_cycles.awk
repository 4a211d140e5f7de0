# file_cycles.awk: objects that call each other in a circle, one row an object of the largest: NAME
#
#     nm -A ARCHIVE… | awk -f scripts/file_cycles.awk
#
# An edge is an undefined symbol that another object defines. Tarjan's algorithm, with a stack of its own.

{
    name = $1
    sub(/:[0-9a-f]*$/, "", name)
    sub(/.*:/, "", name)
    kind = $(NF - 1)
    if (NF < 2 || length(kind) != 1) next
    if (!(name in known)) { known[name] = 1; objects[++count] = name }
    if (kind ~ /[TDRBC]/) home[$NF] = name
    else if (kind == "U") wants[name] = wants[name] " " $NF
}

function edges_of(v,    part, n, i, to) {
    n = split(wants[v], part, " ")
    for (i = 1; i <= n; i++) {
        to = home[part[i]]
        if (to != "" && to != v && !((v, to) in edge)) { edge[v, to] = 1; target[v, ++degree[v]] = to }
    }
}

function lower(v, value) { if (value < low[v]) low[v] = value }

function enter(v) {
    seen[v] = low[v] = ++clock
    stack[++depth] = v
    on[v] = 1
    edges_of(v)
}

function leave(v,    w, size, members) {
    if (low[v] != seen[v]) return
    do {
        w = stack[depth--]
        delete on[w]
        members = members " " w
        size++
    } while (w != v)
    if (size > largest) { largest = size; circle = members }
}

END {
    for (i = 1; i <= count; i++) {
        if (objects[i] in seen) continue
        path = 1
        way[1] = objects[i]
        enter(objects[i])
        while (path > 0) {
            v = way[path]
            if (++next_of[v] > degree[v]) {
                leave(v)
                if (--path > 0) lower(way[path], low[v])
                continue
            }
            w = target[v, next_of[v]]
            if (!(w in seen)) { enter(w); way[++path] = w }
            else if (w in on) lower(v, seen[w])
        }
    }
    n = split(circle, member, " ")
    for (i = 1; i <= n && largest > 1; i++) print member[i]
}
