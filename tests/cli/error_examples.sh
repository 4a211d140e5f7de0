# Every explanation of `masu explain-error` holds an example, and `masu check` (`masu run`, where only a run finds it)
# finds in that example what it explains.
# The lines that begin with four blanks are one program: items stand alone, the rest stands in `main`.
"$MASU" explain-error | cut -d' ' -f1 >"$MASU_TMP/codes"
[ "$(wc -l <"$MASU_TMP/codes")" -ge 25 ] || fail 'the list of kinds is too short'
while read -r code; do
    case $code in
    E0004) # takes a program that is too large for an explanation
        awk 'BEGIN { s = "1"; for (i = 0; i < 300; i++) s = "(" s ")"; print "fn main() { println(" s "); }" }' >"$MASU_TMP/example.tl" ;;
    E0900) continue ;; # a mistake of the compiler has no example
    *)
        "$MASU" explain-error "$code" | awk '
            /^    / {
                line = substr($0, 5)
                item = line ~ /^(async fn|pub fn|fn|struct|enum|trait|impl|const|use|mod) /
                if (item) items = items line "\n"; else body = body line "\n"
                whole = whole || line ~ /fn main/
            }
            END {
                printf "%s", items
                if (!whole) printf "fn main() {\n%s}\n", body
                exit items == "" && body == ""
            }' >"$MASU_TMP/example.tl" || fail "the explanation of $code has no example" ;;
    esac
    if [ "$code" = E0125 ] || [ "$code" = E0128 ] || [ "$code" = E0129 ]; then # only a run or a shared build finds it, and its message is what is asked about
        command=run
        [ "$code" = E0125 ] || command="build --shared -o $MASU_TMP/example.so"
        [ "$code" != E0129 ] || command="build --c -o $MASU_TMP/example.c --header $MASU_TMP/example.h --arena f([2])"
        # shellcheck disable=SC2086 # words
        "$MASU" $command "$MASU_TMP/example.tl" >/dev/null 2>"$MASU_TMP/run" || :
        "$MASU" explain-error "$(sed -n '1s/.*: error: //p' "$MASU_TMP/run")" >"$MASU_TMP/said" 2>&1 || :
    else
        "$MASU" check "$MASU_TMP/example.tl" >/dev/null 2>"$MASU_TMP/said" || :
    fi
    grep -qE "masu explain-error $code|^$code:" "$MASU_TMP/said" || {
        cat "$MASU_TMP/example.tl" "$MASU_TMP/said"
        fail "the example of $code does not show it"
    }
done <"$MASU_TMP/codes"
