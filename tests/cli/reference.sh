# Manual pages and completions of shells are made from usage texts: every option of every text is in all of them, no
# option that the command takes is missing in its text, the pages are good roff, and the shells that are here complete.
out=$MASU_TMP/reference
expect_status 0 sh scripts/reference/commands.sh "$MASU" "$out"
expect_stderr ''
commands=$("$MASU" help | sed -n 's/^  \([a-z][a-z-]*\) .*/\1/p')
[ "$(echo "$commands" | wc -l)" -ge 14 ] || fail "the overview names only: $commands"
passes=$("$MASU" help --passes --optional)

# options of a text, read in another way than scripts/reference/options.awk does: wherever they are
options_of() { grep -oE '(^|[] [(`,])--?[a-zA-Z][a-zA-Z-]*' | sed 's/^[^-]*//' | sort -u; }
# on_page FILE OPTION…   the page has them, as roff writes them
on_page() {
    page=$1
    shift
    for option in "$@"; do
        grep -qF -e "$(echo "$option" | sed 's/-/\\-/g')" "$page" || fail "$page does not say $option"
    done
}
checks=$MASU_TMP/checks.bash
{
    echo ". $out/bash/masu"
    echo 'offers() { # COMMAND OPTION: it is among what bash offers'
    echo '    COMP_WORDS=(masu "$1" "$2") COMP_CWORD=2; _masu'
    echo '    case " ${COMPREPLY[*]} " in *" $2 "* | *" $2= "*) ;; *) echo "bash does not offer $1 $2"; exit 1 ;; esac'
    echo '}'
} >"$checks"
: >"$MASU_TMP/said"
for command in $commands; do
    "$MASU" help "$command" | options_of >"$MASU_TMP/options"
    grep -qx -e --help "$MASU_TMP/options" || fail "$command does not say --help"
    cat "$MASU_TMP/options" >>"$MASU_TMP/said"
    page=$out/man1/masu-$command.1
    # shellcheck disable=SC2046 # options have no blanks
    on_page "$page" $(cat "$MASU_TMP/options")
    # In prose a text may name an option of another command; its own begin a line or stand in the usage.
    { "$MASU" help "$command" | grep -E '^Usage|^       masu|^  -' | sed 's/^\(  [^ ].*[^ ]\)   *[^ -].*/\1/' | options_of; } |
        grep -vx -e '--no-PASS' >"$MASU_TMP/own" || true
    if grep -qx -e --no-PASS "$MASU_TMP/options" && [ "$command" != help ]; then
        for pass in $passes; do echo "--no-$pass"; done >>"$MASU_TMP/own"
    fi
    while read -r option; do
        echo "offers $command $option" >>"$checks"
        sed -n "/^    $command)/,/;;/p" "$out/zsh/_masu" | grep -qE -e "'\*$option(=-)?\[" || fail "zsh does not know $command $option"
        case $option in --*) flag="-l ${option#--}" ;; *) flag="-s ${option#-}" ;; esac
        grep -qE -e "= $command' ($flag |-a '$option=)" "$out/fish/masu.fish" || fail "fish does not know $command $option"
    done <"$MASU_TMP/own"
done
expect_status 0 bash "$checks"
[ "$(grep -c '^offers' "$checks")" -ge 80 ] || fail 'too few options were found'

# What sources compare with, texts must say. --serve-requests is between masu and itself; --no- and a pass are above.
for option in $(grep -rhoE --include='*.c' '"--[a-z][a-z-]*=?"' src/tool | tr -d '"=' | sort -u); do
    case $option in --serve-requests | --no- | --version) continue ;; esac
    grep -qx -e "$option" "$MASU_TMP/said" || fail "$option is taken, and no usage text says it"
done

# The pages themselves. One formatter is enough.
for page in "$out"/man1/*.1; do
    if command -v groff >/dev/null; then
        expect_status 0 groff -ww -man -Tascii "$page"
        expect_stderr ''
    elif command -v mandoc >/dev/null; then
        expect_status 0 mandoc -Tlint -W error "$page"
    else
        echo 'skipped: neither groff nor mandoc is installed: pages are not formatted'
        break
    fi
done

# As a user would press TAB.
completes() { # EXPECTED WORDS…
    expected=$1
    shift
    expect_status 0 bash -c '. "$1"; shift; COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)); _masu; echo "${COMPREPLY[*]}"' bash "$out/bash/masu" "$@"
    expect_stdout "$expected"
}
completes whatif masu wh
completes examples/structs.tl masu run examples/struc
completes examples/structs.tl masu run --report examples/struc
completes README.md masu run --report-file READ
completes json masu run --report = js
completes 'csv perfetto' masu export --format ''
completes '' masu run --seed ''
completes 'explain explain-error' masu help expl
completes '' masu version ''
: >"$MASU_TMP/two words.tl"
completes "$MASU_TMP/two words.tl" masu check "$MASU_TMP/two"

if command -v zsh >/dev/null; then
    expect_status 0 zsh -n "$out/zsh/_masu"
else
    echo 'skipped: zsh is not installed: its completion is read, not run'
fi
if command -v fish >/dev/null; then
    expect_status 0 fish --no-config -c "source $out/fish/masu.fish; complete -C 'masu wh'"
    expect_in_stdout whatif
else
    echo 'skipped: fish is not installed: its completion is read, not run'
fi

# A text that cannot be read is an error of the build, not a page with a hole.
printf 'Usage: masu x\n\n  --one FILE is explained without two blanks\n' >"$MASU_TMP/usage"
expect_status 1 awk -f scripts/reference/options.awk "$MASU_TMP/usage"
expect_in_stderr 'two blanks are missing'
