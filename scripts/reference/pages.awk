# A page of the manual from a usage text: awk -v name=masu-run -v summary=… -v version=… -v also=… -f roff.awk -f
# pages.awk
#
#     Usage: …              SYNOPSIS                       prose, up to an empty line    a paragraph of DESCRIPTION
#       TERM    text        a tagged paragraph             Exit status: …                a section of its own
function paragraph_end() {
    if (prose == "")
        return
    if (sub(/^Exit status: /, "", prose)) {
        exits = prose
    } else if (prose !~ /^[A-Za-z ]+:$/) {
        print ".PP\n" roff(prose)
    } else {
        sub(/:$/, "", prose)
        print ".SS " roff(prose)
    }
    prose = ""
}
function item_end() {
    if (term == "")
        return
    printf ".TP\n\\fB%s\\fR\n%s\n", roff(term), text == "" ? "\\&" : roff(text)
    term = ""
}
BEGIN { title(name, 1, summary) }
/^Usage: / { print ".SH SYNOPSIS"; in_usage = 1 }
in_usage && /masu/ {
    if (in_usage++ > 1)
        print ".br"
    sub(/^Usage: |^ +/, "")
    print "\\fB" roff($0) "\\fR"
    next
}
in_usage { print ".SH DESCRIPTION"; in_usage = 0 }
/^$/ { item_end(); paragraph_end(); next }
/^  [^ ]/ {
    item_end()
    paragraph_end()
    term = substr($0, 3)
    text = ""
    if (match(term, /   *[^ ]/)) {
        text = substr(term, RSTART + RLENGTH - 1)
        term = substr(term, 1, RSTART - 1)
    }
    next
}
/^   +[^ ]/ && term != "" { sub(/^ +/, ""); text = text (text == "" ? "" : " ") $0; next }
{ item_end(); prose = prose (prose == "" ? "" : " ") $0 }
/:$/ { paragraph_end() }
END {
    item_end()
    paragraph_end()
    if (exits != "")
        print ".SH EXIT STATUS\n" roff(exits)
    print ".SH SEE ALSO"
    count = split(also, others, " ")
    for (i = 1; i <= count; i++)
        printf "\\fB%s\\fR(%s)%s\n", roff(others[i]), others[i] == "libmasu" ? 3 : 1, i < count ? "," : ""
    exit failed
}
