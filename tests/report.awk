# Checks numbers of a report, one flat JSON object:
#     awk -v assertions='key op number [; key op number …]' -f tests/report.awk REPORT
# op is == <= >= or <. A line of the program on which nothing happened is not in the report, and counts 0. Prints each
# assertion that does not hold; status 1 when one does not.
{ text = text $0 " " }

function is_quiet_line(key) { return key ~ /^line_[0-9]+_[a-z]+$/ && text ~ /"line_[0-9]+_/ }

function value_of(key,    rest) {
    if (!match(text, "\"" key "\"[ \t]*:[ \t]*")) return is_quiet_line(key) ? 0 : "missing"
    rest = substr(text, RSTART + RLENGTH)
    if (!match(rest, /^-?[0-9][0-9.eE+-]*/)) return "no number"
    return substr(rest, 1, RLENGTH)
}

function holds(value, op, bound) {
    if (value !~ /^-?[0-9]/) return 0
    value += 0
    bound += 0
    if (op == "==") return value == bound
    if (op == "<=") return value <= bound
    if (op == ">=") return value >= bound
    if (op == "<") return value < bound
    return 0
}

END {
    count = split(assertions, assertion, ";")
    for (i = 1; i <= count; i++) {
        fields = split(assertion[i], part, " ")
        if (fields == 0) continue
        if (fields != 3 || part[3] !~ /^-?[0-9][0-9.e+]*$/ || part[2] !~ /^(==|<=|>=|<)$/) {
            print "report: not an assertion: " assertion[i]
            failed = 1
            continue
        }
        value = value_of(part[1])
        if (holds(value, part[2], part[3])) continue
        print "expected: report " part[1] " " part[2] " " part[3]
        print "actual:   " part[1] " = " value
        failed = 1
    }
    exit failed
}
