# Text for a page of the manual: what both pages.awk and library.awk need.

# The line as man shows it. Words in `…` become bold.
function roff(line,    out, i, parts, count) {
    gsub(/\\/, "\\e", line)
    gsub(/-/, "\\-", line)
    gsub(/'/, "\\(aq", line)
    gsub(/\^/, "\\(ha", line)
    gsub(/~/, "\\(ti", line)
    gsub(/…/, "...", line)
    gsub(/×/, "\\(mu", line)
    gsub(/≤/, "\\(<=", line)
    gsub(/≥/, "\\(>=", line)
    gsub(/─|│|┌|└|┐|┘|├|┤|┬|┴|┼/, "|", line)
    gsub(/►|→/, "\\(->", line)
    if (line ~ /[\200-\377]/) {
        print "reference: roff.awk has no escape for a character in: " line > "/dev/stderr"
        failed = 1
    }
    count = split(line, parts, "`")
    out = parts[1]
    for (i = 2; i <= count; i++)
        out = out (i % 2 == 0 && i < count ? "\\fB" : i % 2 ? "\\fR" : "\\(ga") parts[i]
    if (out ~ /^\./)
        out = "\\&" out
    return out
}
function title(name, section, summary) {
    printf ".\\\" Made by scripts/reference; do not edit.\n"
    printf ".TH \"%s\" %s \"\" \"masu %s\" \"masu\"\n.nh\n.ad l\n", roff(toupper(name)), section, version
    printf ".SH NAME\n%s \\- %s\n", roff(name), roff(summary)
}
