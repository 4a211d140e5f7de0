#!/bin/sh
# Changes one operator of the sources at a time and asks the tests whether they notice. A change that no test notices is
# printed: a test is missing there, or the change means the same.
#
#     scripts/mutate.sh src/allocators/vm                     200 mutants, seed 1
#     scripts/mutate.sh --seed 7 --count 30 src/planner/judge.c
#     scripts/mutate.sh --list src/planner/judge.c            every place and what it would become; nothing is built
#
# The tree is never touched: a copy of it is configured once, and each mutant compiles one file and links the tests that
# judge its folder (tests_of). The tests must pass on the unchanged copy first. They run in the order of their time
# until one fails; one that takes four times as long as it did, and five seconds more, has failed too.
#
#     comparison   < <= > >= == !=                      constant    n becomes n + 1 or n - 1
#     arithmetic   + - * / % << >> & |                  condition   if, while, ?: and && || the other way round
#     dropped      a call, an assignment, break or continue is left out
set -eu
cd "$(dirname "$0")/.."

usage() {
    cat <<'TEXT'
usage: scripts/mutate.sh [--seed N] [--count N] [--tests TEXT,…] [--run COMMAND] [--preset NAME] [--work FOLDER] [--list] PATH…
  PATH…            C files, or folders of them
  --seed N         which mutants are drawn (1)
  --count N        how many (200, or all there are)
  --tests TEXT,…   tests whose path contains one of these, instead of those of the folder: unit/planner/test_plan,cli/plan
  --run COMMAND    instead of building and running tests: status 0 says that COMMAND, run in the copy, noticed nothing
  --preset NAME    the build (release)
  --work FOLDER    keep the copy and its build there for the next time
  --list           print all mutants, FILE:LINE: kind: what it was → what it becomes
Status: 0 all drawn mutants were noticed, 1 some were not, 2 used wrongly or the tests fail as it is.
TEXT
}

seed=1
count=200
tests=
run=
preset=release
work=
list=no
while [ $# -gt 0 ]; do
    case $1 in
    --help) usage && exit 0 ;;
    --list) list=yes && shift ;;
    --seed | --count | --tests | --run | --preset | --work)
        [ $# -ge 2 ] || { usage >&2 && exit 2; }
        case $1 in
        --seed) seed=$2 ;;
        --count) count=$2 ;;
        --tests) tests=$2 ;;
        --run) run=$2 ;;
        --preset) preset=$2 ;;
        --work) work=$2 ;;
        esac
        shift 2
        ;;
    -*) usage >&2 && exit 2 ;;
    *) break ;;
    esac
done
for number in "$seed" "$count"; do
    case $number in '' | *[!0-9]*) usage >&2 && exit 2 ;; esac
done
[ $# -gt 0 ] || { usage >&2 && exit 2; }
case "$*" in /* | *" /"*) usage >&2 && exit 2 ;; esac # paths are those of the project
files=$(find "$@" -name '*.c' -type f | sort) || exit 2
[ -n "$files" ] || {
    echo "mutate: no C file in $*" >&2
    exit 2
}

# Which tests judge a file: the first row whose folder it lies in.
tests_of() {
    while read -r folder wanted; do
        case $1 in "$folder"*) echo "$wanted" && return ;; esac
    done <<'ROWS'
src/allocators/vm/ unit/allocators/test_vm,unit/allocators/test_check,hostile/test_vm,model/test_vm
src/allocators/judge/ unit/allocators/test_check,unit/allocators/test_guard,model/test_vm,model/test_pools
src/allocators/ unit/allocators,hostile/pools,hostile/test_vm,model/test_pools,model/test_vm,model/test_process
src/devices/ unit/devices,unit/allocators/test_vm,hostile/test_vm
src/planner/ unit/planner,cli/plan,model/test_plan
src/base/ unit/base
src/runtime/ unit/runtime
src/language/ unit/language,golden
integrations/cuda/ hostile/interposer,cli/vmlog,install/
integrations/torch/ cli/torch
src/tool/ cli/
ROWS
    echo "mutate: which tests judge $1? say it with --tests" >&2
    exit 2
}

# ---- places ------------------------------------------------------------------------------------------------------
# One line for each mutant of FILE: its line, column, length and what stands there afterwards, apart by tabs; then the kind.
# Comments, literals, preprocessor lines and assertions are not touched.
places() {
    awk '
function blank(text) { gsub(/./, "\001", text); return text }
# The line, where comments and literals are masked; columns stay. in_comment is carried over.
function mask(line,    out, end, mark) {
    out = ""
    while (line != "") {
        if (in_comment) {
            end = index(line, "*/")
            if (end == 0) return out blank(line)
            in_comment = 0
            out = out blank(substr(line, 1, end + 1))
            line = substr(line, end + 2)
            continue
        }
        if (!match(line, /["\047]|\/\/|\/\*/)) return out line
        mark = substr(line, RSTART, RLENGTH)
        out = out substr(line, 1, RSTART - 1)
        line = substr(line, RSTART)
        if (mark == "//") return out blank(line)
        if (mark == "/*") { in_comment = 1; out = out "\001\001"; line = substr(line, 3); continue }
        if (!match(line, mark == "\"" ? "^\"([^\"\\\\]|\\\\.)*\"" : "^\047([^\047\\\\]|\\\\.)*\047")) return out blank(line)
        out = out blank(substr(line, 1, RLENGTH))
        line = substr(line, RLENGTH + 1)
    }
    return out
}
function put(column, length_, text, kind) { print FNR "\t" column "\t" length_ "\t" text "\t" kind }
function operators(code,    at, rest, name, number) {
    for (at = 1; match(rest = substr(code, at), / (<=|>=|==|!=|&&|\|\||<<|>>|[-<>+*\/%&|?]) /); at += RSTART) {
        name = substr(rest, RSTART + 1, RLENGTH - 2)
        if (name in becomes) put(at + RSTART, RLENGTH - 2, becomes[name], kind_of[name])
        if (name in also) put(at + RSTART, RLENGTH - 2, also[name], kind_of[name])
    }
    for (at = 1; match(rest = substr(code, at), /[^A-Za-z0-9_.\001][0-9]+[^A-Za-z0-9_.\001]/); at += RSTART + RLENGTH - 2) {
        number = substr(rest, RSTART + 1, RLENGTH - 2)
        if (length(number) > 9 || number ~ /^0./) continue
        put(at + RSTART, RLENGTH - 2, number + 1, "constant")
        if (number > 0) put(at + RSTART, RLENGTH - 2, number - 1, "constant")
    }
}
# if (…) and while (…) on one line: the condition the other way round.
function conditions(code,    open, depth, at, mark) {
    if (!match(code, /^[ }]*(else )?(if|while) \(/)) return
    open = RLENGTH
    for (at = open; at <= length(code); at++) {
        mark = substr(code, at, 1)
        depth += (mark == "(") - (mark == ")")
        if (depth == 0) {
            # One comparison alone has its other way round among the comparisons.
            mark = substr(code, open, at - open + 1)
            if (mark !~ /&&|\|\|/ && mark ~ / ([<>]=?|[!=]=) /) return
            put(open, at - open + 1, "(!" substr($0, open, at - open + 1) ")", "condition")
            return
        }
    }
}
function statement(code,    head, copy) {
    if (before !~ /[;{}:)]$|else$/ || code !~ /;$/ || code !~ /^ /) return
    head = code
    sub(/^ +/, "", head)
    copy = head
    if (gsub(/\(/, "", copy) != gsub(/\)/, "", copy)) return
    if (head !~ /^(break|continue);$/ && head !~ /^\(?\*?[A-Za-z_][A-Za-z0-9_.>\[\]+*-]*\)?(\(| [-+*\/|&^]?=[ ]|\+\+|--)/) return
    if (head ~ /^(return|goto|sizeof|for|while|if|do|else)[ (;]/) return
    put(length(code) - length(head) + 1, length(head), ";", "dropped")
}
BEGIN {
    becomes["<"] = "<="; becomes["<="] = "<"; becomes[">"] = ">="; becomes[">="] = ">"
    becomes["=="] = "!="; becomes["!="] = "=="
    also["<"] = ">="; also["<="] = ">"; also[">"] = "<="; also[">="] = "<"
    becomes["+"] = "-"; becomes["-"] = "+"; becomes["*"] = "+"; becomes["/"] = "*"; becomes["%"] = "/"
    becomes["<<"] = ">>"; becomes[">>"] = "<<"; becomes["&"] = "|"; becomes["|"] = "&"
    becomes["&&"] = "||"; becomes["||"] = "&&"; becomes["?"] = "== 0 ?"
    for (name in becomes) kind_of[name] = name ~ /^([<>]=?|[!=]=)$/ ? "comparison" : name ~ /^(&&|\|\||[?])$/ ? "condition" : "arithmetic"
}
{
    was_comment = in_comment
    code = mask($0)
    directive = continued || code ~ /^[ ]*#/
    continued = directive && code ~ /\\$/
    if (directive) next
    # An assertion ends with its statement.
    if (code ~ /assert *\(|ASSERT *\(|STATIC_ASSERT/) asserting = 1
    if (!asserting && code ~ /[^ \001]/) { operators(code); conditions(code); statement(code) }
    if (asserting && code ~ /;[ \001]*$/) asserting = 0
    gsub(/[ \001]+$/, "", code)
    if (code ~ /[^ ]/) before = code
}' "$1"
}

# FILE LINE COLUMN LENGTH TEXT: the file with that mutant.
mutated() {
    text=$5 awk -v line="$2" -v column="$3" -v len="$4" '
        NR == line { $0 = substr($0, 1, column - 1) ENVIRON["text"] substr($0, column + len) }
        { print }' "$1"
}

# FILE LINE COLUMN LENGTH TEXT KIND: one line that says it.
described() {
    text=$5 kind=$6 awk -v line="$2" -v column="$3" -v len="$4" '
        NR == line {
            was = $0
            now = substr($0, 1, column - 1) ENVIRON["text"] substr($0, column + len)
            sub(/^[ \t]+/, "", was)
            sub(/^[ \t]+/, "", now)
            printf "%s:%d: %s: %s → %s\n", FILENAME, NR, ENVIRON["kind"], was, now
        }' "$1"
}

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
trap 'exit 130' INT TERM
for file in $files; do
    places "$file" | awk -v file="$file" '{ print file "\t" $0 }'
done >"$scratch/all"
tab=$(printf '\t')
if [ "$list" = yes ]; then
    while IFS=$tab read -r file line column len text kind; do
        described "$file" "$line" "$column" "$len" "$text" "$kind"
    done <"$scratch/all"
    exit 0
fi
# The drawn ones first, the others behind them: what does not compile gives its turn to the next.
awk -v seed="$seed" '
    BEGIN { state = (seed * 48271 + 11) % 2147483647 }
    { state = (state * 48271 + 7) % 2147483647; print state "\t" $0 }' "$scratch/all" | sort -n | cut -f 2- >"$scratch/drawn"
total=$(wc -l <"$scratch/drawn" | tr -d ' ')

# ---- the copy ----------------------------------------------------------------------------------------------------
[ -n "$work" ] || work=$scratch/copy
mkdir -p "$work"
copy=$(cd "$work" && pwd)
# A kept copy loses what is gone, and a file is written only where it differs, so that its build stays.
sources() { find . \( -path ./build -o -path ./.git \) -prune -o -type f -print; }
(cd "$copy" && sources) | while IFS= read -r name; do
    [ -f "$name" ] || rm -f "$copy/$name"
done
sources | while IFS= read -r name; do
    cmp -s "$name" "$copy/$name" || { mkdir -p "$copy/${name%/*}" && cp -p "$name" "$copy/$name"; }
done

# The tree may change while this runs: mutants are made of what was copied.
originals=$scratch/originals
for file in $files; do
    mkdir -p "$originals/${file%/*}"
    cp "$file" "$originals/$file"
done

now_ms() { echo $(($(date +%s%N) / 1000000)); }
built=$copy/build/$preset
# TEXT,…: paths of test programs and scripts, without the folder of the build.
chosen() {
    {
        (cd "$built" && sed -n 's/^build \(tests\/[^ :|]*\/test_[a-z0-9_]*\): .*/\1/p' build.ninja)
        (cd "$copy" && find tests/cli tests/hostile tests/install -name '*.sh')
    } | sort -u | awk -v wanted="$1" '
        BEGIN { n = split(wanted, text, ",") }
        { for (i = 1; i <= n; i++) if (index($0, text[i])) { print; next } }'
}
# One test, its output in $scratch/out; $2 is the limit in seconds.
one_test() {
    case $1 in
    *.sh) (cd "$copy" && timeout -k 1 "$2" tests/run.sh --build "build/$preset" --only cli,hostile,install --match "${1#tests/}") ;;
    *) (cd "$copy" && timeout -k 1 "$2" "$built/$1") ;;
    esac >"$scratch/out" 2>&1
}
build_for() { # tests on stdin
    # shellcheck disable=SC2046 # a list of targets
    cmake --build "$built" --target $(sed -e 's/^tests\/cli\/.*/masu/' -e 's/^.*\.sh$/masu_tests/' | sort -u) >"$scratch/out" 2>&1
}
if [ -z "$run" ]; then
    (cd "$copy" && cmake --preset "$preset" -DMASU_WERROR=OFF >/dev/null) || exit 2
    if [ -z "$tests" ]; then
        for file in $files; do tests_of "$file" || exit 2; done | sort -u >"$scratch/wanted"
        tests=$(paste -s -d , "$scratch/wanted")
    fi
    chosen "$tests" >"$scratch/tests"
    [ -s "$scratch/tests" ] || {
        echo "mutate: no test is called $tests" >&2
        exit 2
    }
    build_for <"$scratch/tests" || { cat "$scratch/out" >&2 && exit 2; }
    while IFS= read -r name; do
        began=$(now_ms)
        one_test "$name" 600 </dev/null || {
            cat "$scratch/out" >&2
            echo "mutate: $name fails as it is" >&2
            exit 2
        }
        echo "$(($(now_ms) - began)) $name"
    done <"$scratch/tests" | sort -n >"$scratch/timed" || exit 2
    [ "$(wc -l <"$scratch/timed")" -eq "$(wc -l <"$scratch/tests")" ] || exit 2
fi

# 0: noticed by $noticed, 1: not noticed, 2: it does not compile.
verdict_of_mutant() {
    if [ -n "$run" ]; then
        noticed=$run
        if (cd "$copy" && sh -c "$run") >"$scratch/out" 2>&1 </dev/null; then return 1; else return 0; fi
    fi
    build_for <"$scratch/tests" || return 2
    while read -r took name; do
        noticed=$name
        one_test "$name" $((took * 4 / 1000 + 5)) </dev/null || return 0
    done <"$scratch/timed"
    return 1
}

drawn=0
survived=0
while IFS=$tab read -r file line column len text kind && [ "$drawn" -lt "$count" ]; do
    mutated "$originals/$file" "$line" "$column" "$len" "$text" >"$copy/$file"
    verdict=0
    verdict_of_mutant || verdict=$?
    [ "$verdict" -eq 2 ] || drawn=$((drawn + 1))
    if [ "$verdict" -eq 1 ]; then
        survived=$((survived + 1))
        (cd "$originals" && described "$file" "$line" "$column" "$len" "$text" "$kind")
    fi
    cp "$originals/$file" "$copy/$file"
done <"$scratch/drawn"
echo "$drawn mutants of $total drawn with seed $seed: $((drawn - survived)) noticed, $survived not"
[ "$survived" -eq 0 ]
