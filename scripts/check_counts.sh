#!/bin/sh
# Counts what the tree should have less of, and fails where there is more of it than the table allows. The table is a
# ratchet: a number in it goes down, never up. What counts is printed, so that it can be found.
#
#     scripts/check_counts.sh [BUILD] [NAME…]     without NAME all rows; BUILD is needed for circles of files
#     scripts/check_counts.sh --list NAME         the places that one row counts
#
# tests/cli/counts.sh runs it and shows that each row finds what it is for.
set -eu

# name most goal: what is counted
table() {
    cat <<'TEXT'
long_files        0   0   files of C over 600 lines, tests included
repeats           8  10   pairs of places with the same six lines
checker_fields   16  20   fields of the checker's context, or of a part of it that has more
file_circle      12  12   files of the language that call each other in a circle
library_names     9  20   comparisons with a spelt name that is not a word of the language, in the checker
unasserted        0   0   files of the language that say what must stay true, and neither assert it nor name its test
no_noun           0   0   "is no X", "are no X": write "is not an X"
stands            0   0   "stands" where "is" or "lies" is meant
nobody            0   0   "nobody", "whoever": say who
anew              0   0   "anew": write "again"
likewise          0   0   a bare "Likewise."
told              0   0   "told": say who says what, "known", "seen" or "apart"
likewise_words     0   0   "likewise": write what is so
what_comments     0   0   comments that begin with "What": name the thing
what_sentences    0   0   sentences of pages that begin with "What": name the thing
of_sentences      0   0   sentences without a verb that begin with "Of"
TEXT
}

sources() { find src integrations -name '*.[ch]' | sort; }
prose() { find src include docs README.md ARCHITECTURE.md CONTRIBUTING.md \( -name '*.[ch]' -o -name '*.def' -o -name '*.md' -o -name '*.tl' \) ! -path docs/operations.md ! -path docs/errors.md | sort; }
# shellcheck disable=SC2046 # file names of the project have no spaces
word() { grep -nE -e "$1" $(prose) || true; }

count_long_files() { find src integrations include bench examples tests -name '*.[ch]' | sort | xargs wc -l | awk '$1 > 600 && $2 != "total" { print $2 ": " $1 " lines" }'; }
count_repeats() { sources | xargs awk -f scripts/repeats.awk; }
# Of the checker's context and of each part of it, the fields of the largest.
count_checker_fields() {
    find src/language/front src/language/types src/language/names -name '*.h' | sort | xargs awk '
        /^typedef struct (checker|check_[a-z_]*|name_table) \{/ { inside = 1; count = 0; next }
        inside && /^\}/ { inside = 0; if (count > most) { most = count; for (i = 1; i <= count; i++) row[i] = field[i] } }
        inside { where = FILENAME ":" FNR ": " $0; gsub(/\/\*.*\*\//, ""); sub(/\/\*.*/, "")
                 if (/;/) { n = gsub(/,/, ","); for (i = 0; i <= n; i++) field[++count] = where } }
        END { for (i = 1; i <= most; i++) print row[i] }'
}
# A part of an expression is an expression: what checks it, and what lowers it, goes up through front/check_walk.h and
# lower/lower_walk.c, one call each, which no edge shows.
count_file_circle() {
    [ -f "$build/libmasu_language.a" ] || { echo "check_counts: no $build/libmasu_language.a" >&2; exit 2; }
    nm -A "$build/libmasu_language.a" 2>/dev/null | awk -f scripts/file_cycles.awk
}
count_library_names() {
    find src/language/front src/language/types src/language/names src/language/elaborate src/language/borrow -name '*.c' 2>/dev/null | sort |
        xargs awk -f scripts/library_names.awk
}
count_unasserted() {
    find src/language -name '*.[ch]' 2>/dev/null | sort |
        xargs -r grep -lE 'must stay true|stays true|after it:' | xargs -r grep -LE '_ASSERT\(|assert|tests/|_valid|ir_verify' || true
}
count_no_noun() { word '(^|[^A-Za-z`])(is|are) no [a-z`]' | grep -vE '[Tt]here (is|are) no|(is|are) no (longer|more|higher|lower)' || true; }
count_stands() { word '(^|[^A-Za-z_`])stands?([^A-Za-z_`(]|$)'; }
count_nobody() { word '(^|[^A-Za-z])([Nn]obody|[Ww]hoever)([^A-Za-z]|$)'; }
count_anew() { word '(^|[^A-Za-z])anew([^A-Za-z]|$)'; }
count_likewise() { word 'Likewise\.'; }
count_told() { word '(^|[^A-Za-z])told([^A-Za-z]|$)'; }
count_likewise_words() { word '(^|[^A-Za-z])[Ll]ikewise([^A-Za-z]|$)'; }
count_what_comments() { word '(^|[^"])(/\*|//+!?) What ' | grep -v 'What must stay true' || true; }
count_what_sentences() {
    find . -name build -prune -o -name '*.md' -print | grep -vE '/docs/(errors|operations)\.md$' | sort |
        xargs grep -nE '(^|[.:] |\* )What [^?]*$' || true
}
count_of_sentences() { word '(^|\. |/\* |: |^ \* )Of (a|an|the|what|all|two|one|each|its|those|that|these|such)( |$)'; }

cd "${MASU_COUNTED:-$(dirname "$0")/..}"
if [ "${1:-}" = --list ]; then
    build=${3:-build/release}
    "count_$2"
    exit
fi
build=${1:-build/release}
[ $# -eq 0 ] || shift
status=0
wanted=" $* "
list=$(mktemp)
trap 'rm -f "$list"' EXIT
while read -r name most goal text; do
    [ "$wanted" = "  " ] || case $wanted in *" $name "*) ;; *) continue ;; esac
    "count_$name" >"$list"
    count=$(wc -l <"$list")
    printf '%-15s %4d of at most %d, to be %d: %s\n' "$name" "$count" "$most" "$goal" "$text"
    [ "$count" -gt "$most" ] || continue
    cat "$list"
    status=1
done <<TABLE
$(table)
TABLE
exit $status
