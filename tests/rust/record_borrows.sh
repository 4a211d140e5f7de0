#!/bin/sh
# Records what rustc says of every program of borrows.txt (a program behind each line "=== NAME") in borrows.out, one line
# each: the name and "accepted", or "refused" and rustc's code. Needs rustc; the tests only read the files.
#
#     tests/rust/record_borrows.sh
set -eu
cd "$(dirname "$0")"
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
awk -v folder="$tmp" '/^=== / { name = $2; print name; next } { print >(folder "/" name ".rs") }' borrows.txt >"$tmp/names"
while read -r name; do
    if rustc -A warnings --edition 2021 --emit=metadata --crate-name program --out-dir "$tmp" "$tmp/$name.rs" 2>"$tmp/errors"; then
        echo "$name accepted"
    else
        echo "$name refused $(sed -n 's/^error\[\(E[0-9]*\)\].*/\1/p' "$tmp/errors" | sort -u | paste -sd,)"
    fi
done <"$tmp/names" >borrows.out
wc -l borrows.out
