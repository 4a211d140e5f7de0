#!/bin/sh
# One ruler for every C file: .clang-format; lines of at most 120 characters, which clang-format does not promise for
# comments; and declarations of headers that a comment does not tear. Prints the places that differ; exits 1 when there are some, 77 when the files have the length but the
# clang-format that the tree is written with is not installed.
#
#     scripts/check_format.sh [ROOT]         the tree around this script, or another one
#     clang-format -i FILE…                  mends
#
# A list that reads better as it is written is put between `clang-format off` and `clang-format on`.
set -eu
version=14
cd "${1:-$(dirname "$0")/..}"
files() { find src include integrations bench examples tests -name '*.[ch]' 2>/dev/null | sort; }

status=0
if files | LC_ALL=C.UTF-8 xargs grep -nE '^.{121,}' /dev/null; then
    echo 'check_format: these lines are longer than 120 characters' >&2
    status=1
fi
# A declaration that is torn: its last line has the comment that made it too long, or its first ends with the bracket.
if files | grep '\.h$' | xargs grep -nE '^ {8,}[^/*=]*\);.*/\*|^[a-z_].*\($' /dev/null; then
    echo 'check_format: these declarations are torn: put the comment above' >&2
    status=1
fi
found=$(command -v "clang-format-$version" || command -v clang-format) || found=
case $("${found:-false}" --version 2>/dev/null || true) in
*"version $version."*) ;;
*) [ $status -ne 0 ] || { echo "check_format: no clang-format $version" >&2; status=77; }; exit $status ;;
esac
files | xargs "$found" --dry-run --Werror || status=1
exit $status
