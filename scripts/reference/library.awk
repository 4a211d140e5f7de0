# libmasu.3 from the public headers: what each is for, and each of its calls.
#
#     awk -v version=… -f roff.awk -f library.awk include/masu/masu.h include/masu/*.h include/masu/status.def
#
# masu.h comes first and says which headers there are; others are passed over. What is compiled into the caller for its
# speed and is not to be called by name (_slow, magazines, windows) is left out.
function opening_end(text) {
    sub(/ [^.]*:$/, "", text) # what comes next is a drawing
    print roff(text)
}
function call_end(    name) {
    gsub(/MASU_API |static inline /, "", call)
    gsub(/[ \t]+/, " ", call)
    gsub(/ ?__attribute__\(\([a-z_]*(\([a-z0-9, ]*\))?\)\)/, "", call)
    gsub(/ ?MASU_(RE)?ALLOCATE[SD]\([0-9, ]*\)/, "", call)
    sub(/ *[{].*/, ";", call)
    sub(/^ /, "", call)
    name = call
    sub(/\(.*/, "", name)
    if (name !~ /_slow$|masu_(magazine|window|page_code)/)
        printf ".br\n\\fB%s\\fR\n", roff(call)
    call = ""
}
BEGIN {
    title("libmasu", 3, "allocators for every device, and a planner of memory")
    print ".SH SYNOPSIS\n\\fB#include <masu/masu.h>\\fR\n.PP\n\\fBcc program.c $(pkg\\-config \\-\\-cflags \\-\\-libs masu)\\fR"
    print ".SH DESCRIPTION"
    print roff("The library hands out memory of the host and of devices, decides in advance where buffers of known lives shall lie,")
    print roff("judges what an allocator does, and records it. It never prints, exits or aborts: a call that can fail returns a status.")
    print roff("What each call promises, costs and returns, and which threads may call it, its header says.")
}
FNR == NR && /^#include <masu\// { wanted[substr($2, 7, length($2) - 7)] = 1 }
FNR == 1 {
    file = FILENAME
    sub(/.*\//, "", file)
    comment = ""
    in_opening = /^\/\* [a-z_]+\.h: /
    call = ""
    passed = FNR == NR || (!(file in wanted) && file !~ /\.def$/)
    if (passed)
        next
    if (in_opening) {
        header = substr($2, 1, length($2) - 1)
        printf ".SS <masu/%s>\n", roff(header)
        sub(/^\/\* [a-z_]+\.h: */, "")
        comment = $0
        if (sub(/ *\*\/.*/, "", comment)) {
            opening_end(comment)
            in_opening = 0
        }
        next
    }
}
passed { next }
in_opening && (/^ \*$/ || /^ *\*\/$/) { opening_end(comment); in_opening = 0; next }
in_opening {
    sub(/^ \* */, "")
    in_opening = !sub(/ *\*\/.*/, "")
    comment = comment " " $0
    if (!in_opening)
        opening_end(comment)
    next
}
/^MASU_STATUS\(/ {
    if (!statuses++)
        print ".SH STATUSES"
    line = $0
    sub(/^MASU_STATUS\(/, "", line)
    sub(/"\)$/, "", line)
    at = index(line, ", \"")
    printf ".TP\n\\fB%s\\fR\n%s\n", roff(substr(line, 1, at - 1)), roff(substr(line, at + 3))
    next
}
/^MASU_API / || /static inline / { call = $0 }
call != "" && !/^MASU_API / && !/static inline / { call = call " " $0 }
call != "" { sub(/;[ \t]*\/\*.*\*\/$/, ";", call) } # what is said beside a call is not of it
call != "" && call ~ /;$|[{]$/ { call_end() }
END {
    print ".SH SEE ALSO\n\\fBmasu\\fR(1)"
    exit failed
}
