# Reads a command's usage text and writes the options in it, one a line, apart by tabs:
#
#     OPTION   SEPARATOR   VALUE   TEXT           --report-file   " "   FILE   where the report goes
#
# SEPARATOR is "=", " " or nothing; a VALUE in capitals is to be replaced, any other is meant as it is written (a|b:
# either). What is in a usage line has no TEXT there; the same option may come again with one. The last lines say what
# else the command takes: "FILE" and "COMMAND" for arguments of that kind.
function put(part, text,    option, separator, value) {
    if (part !~ /^--?[A-Za-z]/)
        return
    match(part, /^--?[A-Za-z][A-Za-z0-9-]*/)
    option = substr(part, 1, RLENGTH)
    value = substr(part, RLENGTH + 1)
    if (value ~ / .* [a-z]/) {
        print "reference: two blanks are missing behind what is explained in: " part > "/dev/stderr"
        failed = 1
    }
    separator = substr(value, 1, 1)
    if (separator == "[") { # --history[=N]
        separator = substr(value, 2, 1)
        sub(/\]$/, "", value)
        value = substr(value, 2)
    }
    value = substr(value, 2)
    sub(/\[.*/, "", value)
    printf "%s\t%s\t%s\t%s\n", option, separator, value, text
}
function flush(    parts, count, i) {
    if (term == "")
        return
    count = split(term, parts, ", ")
    for (i = 1; i <= count; i++)
        put(parts[i], text)
    term = ""
}
# the options of a usage line, each behind a blank or a bracket
function usage_line(line,    before, found) {
    gsub(/…/, "", line)
    if (line ~ / \[?FILE/)
        takes["FILE"] = 1
    if (line ~ / \[?COMMAND/)
        takes["COMMAND"] = 1
    while (match(line, /[ \[]--?[A-Za-z][A-Za-z-]*(=[A-Za-z.:]+| [A-Z][A-Za-z.]*| [a-z]+\|[a-z|]+)?/)) {
        found = substr(line, RSTART + 1, RLENGTH - 1)
        line = substr(line, RSTART + RLENGTH)
        put(found, "")
    }
}
/^Usage: / || (in_usage && /^       masu /) { in_usage = 1; usage_line($0); next }
{ in_usage = 0 }
/^  [^ ]/ {
    flush()
    term = substr($0, 3)
    text = ""
    if (match(term, /   *[^ ]/)) {
        text = substr(term, RSTART + RLENGTH - 1)
        term = substr(term, 1, RSTART - 1)
    }
    next
}
/^   +[^ ]/ && term != "" { sub(/^ +/, ""); text = text " " $0; next }
{ flush() }
END {
    flush()
    for (kind in takes)
        print kind
    exit failed
}
