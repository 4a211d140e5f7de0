#!/bin/sh
# Writes the manual pages of the command and its completions for bash, zsh and fish, from what the command says of
# itself: `masu help`, `masu help COMMAND` and the names of passes. An option of a usage text is therefore in all of
# them.
#
#     scripts/reference/commands.sh MASU OUT      OUT/man1/masu*.1, OUT/bash/masu, OUT/zsh/_masu, OUT/fish/masu.fish
set -eu
masu=$1
out=$2
here=$(dirname "$0")
LC_ALL=C
export LC_ALL

rm -rf "$out/man1" "$out/bash" "$out/zsh" "$out/fish"
mkdir -p "$out/man1" "$out/bash" "$out/zsh" "$out/fish"
version=$("$masu" version)
version=${version#masu }
table=$out/options.tsv
: >"$table"

# page NAME SUMMARY SEE_ALSO <USAGE
page() {
    awk -v name="$1" -v summary="$2" -v also="$3" -v version="$version" \
        -f "$here/roff.awk" -f "$here/pages.awk" >"$out/man1/$1.1"
}

"$masu" help >"$out/usage"
awk '/^  [a-z]/ { name = $1; sub(/^  [a-z-]+ +/, ""); print name "\t" $0 }' "$out/usage" >"$out/commands"
[ -s "$out/commands" ] || {
    echo "reference: masu help names no command" >&2
    exit 1
}
pages=$(awk '{ printf "masu-%s ", $1 }' "$out/commands")
sed '1d' "$out/usage" | sed '1{/^$/d;}' >"$out/overview"
page masu "$(sed -n '1s/^masu \(.*\)\.$/\1/p' "$out/usage")" "${pages}libmasu" <"$out/overview"

tab=$(printf '\t')
passes=$("$masu" help --passes --optional)
while IFS=$tab read -r command summary; do
    "$masu" help "$command" >"$out/usage"
    page "masu-$command" "$summary" masu <"$out/usage"
    printf '%s\tSUMMARY\t%s\n' "$command" "$summary" >>"$table"
    awk -f "$here/options.awk" "$out/usage" >"$out/options"
    awk -v command="$command" -v passes="$passes" '
        BEGIN { FS = OFS = "\t"; count = split(passes, pass, "[ \n]+") }
        $1 == "--no-PASS" { for (i = 1; i <= count; i++) print command, "--no-" pass[i], "", "", "leaves " pass[i] " out"; next }
        { print command, $0 }' "$out/options" >>"$table"
done <"$out/commands"

for shell in bash zsh fish; do
    case $shell in bash) file=masu ;; zsh) file=_masu ;; fish) file=masu.fish ;; esac
    awk -v shell="$shell" -f "$here/completions.awk" "$table" >"$out/$shell/$file"
done
rm -f "$out/usage" "$out/overview" "$out/commands" "$out/options"
