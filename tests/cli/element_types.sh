# Operations written in the language keep the elements that PyTorch's rules give (tests/vectors/elements.txt): in the
# type that the compiler knows and in the tensor. Every example of the library is asked.
folder=tests/vectors
for type in f32 f64 i64 bool; do
    expect_status 0 "$MASU" run "$folder/elements_$type.tl"
    expect_stdout ''
done
sed -n 's/^ *\/\/\/ example: //p' src/language/library/tensor/*.tl | sort -u >"$MASU_TMP/examples"
sed -n 's/^[-fdib]* | //p' "$folder/elements.txt" | sort -u >"$MASU_TMP/ruled"
comm -23 "$MASU_TMP/examples" "$MASU_TMP/ruled" >"$MASU_TMP/missing"
[ ! -s "$MASU_TMP/missing" ] || { cat "$MASU_TMP/missing" && fail 'no rule for these: a line of elements.txt, then elements.py'; }

# Numbers that nothing can be done with: the program says what is wrong at its own place, in the words of the operation
# that it called, or goes on. No crash, no endless work, no inner operation, no place of the library.
n=0
while IFS= read -r line; do
    n=$((n + 1))
    printf 'fn main() {\n    %s\n}\n' "$line" >"$MASU_TMP/hostile.tl"
    status=0
    timeout 20 "$MASU" run "$MASU_TMP/hostile.tl" >/dev/null 2>"$MASU_TMP/said" || status=$?
    [ "$status" -le 1 ] || fail "status $status: $line"
    [ "$status" = 1 ] || continue
    sed -n '1s/^[^ ]*hostile.tl:2:[0-9]*: error: //p' "$MASU_TMP/said" >"$MASU_TMP/message"
    [ -s "$MASU_TMP/message" ] || { cat "$MASU_TMP/said" && fail "another place: $line"; }
    word=$(sed -n 's/^\([a-z_0-9]*\): .*/\1/p' "$MASU_TMP/message")
    case "$word $line" in
    ' '* | 'shape '*) ;;
    *) case $line in *"$word("*) ;; *) cat "$MASU_TMP/said" && fail "an inner operation: $line" ;; esac ;;
    esac
done <"$folder/hostile_arguments.txt"
[ "$n" -ge 150 ] || fail "only $n hostile arguments"
