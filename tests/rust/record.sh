#!/bin/sh
# Records what rustc makes of every expression (expressions.awk, expressions.txt) in expressions.out, one line each:
# the expression, a tab, its value as {:?} shows it; and what every program of programs/ prints, beside it in NAME.out.
# Needs rustc; the tests only read the files.
#
#     tests/rust/record.sh            says which expressions Rust refuses, and records none of these; a program it refuses
#                                     ends it
set -eu
cd "$(dirname "$0")"
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
awk -f expressions.awk expressions.txt >"$tmp/all"
program() { # expressions on stdin
    echo '#![allow(warnings)] #![allow(arithmetic_overflow)] #![allow(unconditional_panic)]'
    awk '{ n++; printf "fn e%d() -> String { format!(\"{:?}\", %s) }\n", n, $0 }
         END { print "fn main() {"; for (i = 1; i <= n; i++) printf "println!(\"{}\", e%d());\n", i; print "}" }'
}
while :; do
    program <"$tmp/all" >"$tmp/all.rs"
    if rustc -O --edition 2021 -C overflow-checks=on "$tmp/all.rs" -o "$tmp/all.exe" 2>"$tmp/errors"; then
        break
    fi
    sed -n 's/^ *--> [^:]*:\([0-9]*\):.*/\1/p' "$tmp/errors" | sort -nu >"$tmp/lines"
    [ -s "$tmp/lines" ] || { cat "$tmp/errors" && exit 1; }
    awk 'NR == FNR { wrong[$1 - 1]; next } FNR in wrong { print "refused by rustc: " $0 >"/dev/stderr"; next } { print }' \
        "$tmp/lines" "$tmp/all" >"$tmp/fewer"
    mv "$tmp/fewer" "$tmp/all"
done
"$tmp/all.exe" | sed 's/\\n/\\n/g' >"$tmp/values"
[ "$(wc -l <"$tmp/values")" = "$(wc -l <"$tmp/all")" ]
paste "$tmp/all" "$tmp/values" >expressions.out
wc -l expressions.out
for program in programs/*.tl; do
    rustc -A warnings -C overflow-checks=on --edition 2021 "$program" -o "$tmp/program.exe"
    "$tmp/program.exe" >"${program%.tl}.out" 2>/dev/null
done
