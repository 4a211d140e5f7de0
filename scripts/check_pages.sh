#!/bin/sh
# Looks for what the pages name and the project does not have: files and headers, targets of links, functions and constants
# of the library, variables of the environment, options of the command; and for prose that is wider than the ruler. Prints
# each, and exits 1 when there are some.
#
#     scripts/check_pages.sh MASU [PAGE…]        MASU: the command, for its help; PAGE: instead of all pages
#
# tests/cli/doc_facts.sh runs it and shows that it finds each kind.
set -eu
cd "$(dirname "$0")/.."
masu=$1
shift
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
: >"$work/faults"
fault() { echo "$*" | tee -a "$work/faults"; }

pages=$*
[ -n "$pages" ] || pages=$(ls ./*.md docs/*.md docs/decisions/*.md integrations/*/README.md tests/golden/README.md)
sources='src include integrations examples scripts bench tests cmake editors Makefile CMakeLists.txt'
tree=$work/tree
git ls-files -co --exclude-standard >"$tree" 2>/dev/null || find $sources docs -type f >"$tree"

# Paths, between backquotes; a recipe may name a file that it makes.
grep -h '^New file `' CONTRIBUTING.md | cut -d'`' -f2 >"$work/made"
# shellcheck disable=SC2086 # file names of the project have no spaces
grep -ohE '`(src|docs|tests|examples|bench|scripts|include|integrations|cmake|editors)/[A-Za-z0-9_./*-]+`' $pages |
    tr -d '`' | sort -u >"$work/paths" || true
while read -r path; do
    # shellcheck disable=SC2086 # a name may have a star
    ls -d $path >/dev/null 2>&1 || grep -qxF "$path" "$work/made" || fault "the pages name $path, which does not exist"
done <"$work/paths"

# Names of files without their folder: (`bound.c`). The others are the reader's own, or the system's.
own=' cblas.h jansson.h zlib.h net.c net.h net.tl net.py caller.c program.tl net_plan.h lifetimes.csv x.npy masu_cuda.h model.ops.csv shapes.tl mod.tl b.py '
for name in $(grep -ohE '`[a-z_0-9]+\.(c|h|cc|def|tl|sh|awk|py|rs|proto)`' $pages | tr -d '`' | sort -u); do
    grep -qE "(^|/)$(echo "$name" | sed 's/\./\\./')\$" "$tree" && continue
    case $own in *" $name "*) ;; *) fault "the pages name $name, which is nowhere" ;; esac
done

# Links: the file, and its heading.
for page in $pages; do
    for link in $(grep -oE '\]\([A-Za-z0-9_./-]*(#[a-z0-9_-]+)?\)' "$page" | sed 's/^](//; s/)$//' | grep '[.#/]'); do
        target=$(dirname "$page")/${link%%#*}
        case $link in '#'*) target=$page ;; esac
        [ -e "$target" ] || fault "$page: $link leads nowhere"
        case $link in *'#'*) ;; *) continue ;; esac
        grep '^#' "$target" | sed 's/^#* //' | tr 'A-Z ' 'a-z-' | tr -cd 'a-z0-9_\n-' | grep -qxF "${link#*#}" ||
            fault "$page: $target has no heading ${link#*#}"
    done
done

# Functions, types and constants of the library, variables of the environment. A name that ends with _ has a star; tables
# make some (tl_tensor_relu); recipes make others, and programs have folders of their own.
cat $( (git ls-files -co --exclude-standard $sources 2>/dev/null || find $sources -type f) | grep -v doc_facts) 2>/dev/null |
    grep -oaE '[A-Za-z_][A-Za-z0-9_]*' | sort -u >"$work/words"
for word in $(ls $pages | grep -v CONTRIBUTING | xargs cat | grep -oaE '\b(masu|MASU|TL|VMM|tl)_[A-Za-z0-9_]+' | sort -u); do
    case $word in
    masu_language_* | masu_training_page) ;;
    tl_tensor_*) grep -qxF -e "$word" -e "${word#tl_tensor_}" "$work/words" ;;
    *_) grep -q "^$word" "$work/words" ;;
    *) grep -qxF "$word" "$work/words" ;;
    esac || fault "the pages name $word, which no source has"
done

# Options: of each command that is written out, in the help of that command; any other, somewhere.
cat $pages | tr '`' '\n' | grep -oE '(^|[ /])masu [a-z][a-z-]*( .*)?$' | sed 's/^[ /]*//; s/ #.*//' | sort -u >"$work/commands"
"$masu" help --passes >"$work/passes"
cut -d' ' -f2 "$work/commands" | sort -u | while read -r name; do
    "$masu" "$name" --help >"$work/help.$name" 2>&1 || rm "$work/help.$name"
done
while read -r line; do
    name=$(echo "$line" | cut -d' ' -f2)
    case $name in help | version) continue ;; esac
    [ -f "$work/help.$name" ] || continue # a word of a sentence: masu compiles, masu has
    for option in $(echo "$line" | grep -oE ' --[a-z][a-z-]+' | sort -u); do
        grep -qF -e "$option" "$work/help.$name" || grep -q "^ *${option#--no-} " "$work/passes" ||
            fault "masu $name --help does not say $option: $line"
    done
done <"$work/commands"

# The ruler: programs, tables and pages that are written by the command aside.
for page in $pages; do
    case $page in docs/errors.md | docs/operations.md) continue ;; esac
    awk '/^```/ { inside = !inside } !inside && !/^(    |\|)/ { print FILENAME ":" FNR ":" $0 }' "$page" >"$work/prose"
    ! LC_ALL=C.UTF-8 grep -E '^[^:]*:[0-9]*:.{121,}' "$work/prose" || fault "$page: prose is at most 120 characters wide"
done

echo "check_pages: $(wc -l <"$work/paths") paths, $(wc -l <"$work/commands") commands"
[ ! -s "$work/faults" ]
