# repeats.awk: places of the same six lines or more, one row a pair: FILE:LINE-LINE FILE:LINE.
#
#     awk -f scripts/repeats.awk FILE…
#
# Comments, blank lines, includes, lone brackets, `break;` and `return x;` do not count, for they say nothing of their
# own; spaces are folded. Runs that lie in more than eight places are the manner of the language and do not count
# either.

function code_of(line,    end) {
    if (in_comment) {
        end = index(line, "*/")
        if (end == 0) return ""
        in_comment = 0
        line = substr(line, end + 2)
    }
    sub(/\/\/.*/, "", line)
    while (match(line, /\/\*([^*]|\*[^\/])*\*\//)) line = substr(line, 1, RSTART - 1) substr(line, RSTART + RLENGTH)
    if (match(line, /\/\*/)) { in_comment = 1; line = substr(line, 1, RSTART - 1) }
    gsub(/[ \t]+/, " ", line)
    sub(/^ /, "", line)
    sub(/ $/, "", line)
    return line
}

function is_thin(line) {
    return line !~ /[A-Za-z0-9]/ || line ~ /^#/ || line ~ /^(break|continue|default:|else|do|\} else) ?[;{]?$/ ||
           line ~ /^return [A-Za-z_0-9]*;$/ || line ~ /^extern "C"/
}

FNR == 1 { in_comment = 0 }
{
    line = code_of($0)
    if (is_thin(line)) next
    n++
    text[n] = line
    file[n] = FILENAME
    number[n] = FNR
}
END {
    six = 6
    for (i = 1; i + six - 1 <= n; i++) {
        if (file[i] != file[i + six - 1]) continue
        key = text[i]
        for (k = 1; k < six; k++) key = key "\n" text[i + k]
        window[i] = key
        places[key] = places[key] " " i
        times[key]++
    }
    for (i = 1; i <= n; i++) {
        if (!(i in window) || times[window[i]] < 2 || times[window[i]] > 8) continue
        count = split(places[window[i]], other, " ")
        for (o = 1; o <= count; o++) {
            j = other[o] + 0
            if (j <= i || ((i - 1) " " (j - 1)) in paired) { if (j > i) paired[i " " j] = 1; continue }
            paired[i " " j] = 1
            pair = file[i] " " file[j]
            length_ = six
            while (i + length_ < j && file[i + length_] == file[i] && file[j + length_] == file[j] && text[i + length_] == text[j + length_]) length_++
            print file[i] ":" number[i] "-" number[i + length_ - 1] " " file[j] ":" number[j]
        }
    }
}
