# A wrong program or input: status 1, the error on stderr with place, source line and caret, nothing on stdout.
wrong() { # COMMAND…
    expect_status 1 "$@"
    expect_stdout ''
}
printf 'fn main() {\n    let a = 1;\n    a = 2;\n    unknown(3);\n}\n' >"$MASU_TMP/two.tl"
for command in check run explain; do
    wrong "$MASU" "$command" "$MASU_TMP/two.tl"
    expect_in_stderr "$MASU_TMP/two.tl:3:5: error: "
    expect_in_stderr "    a = 2;"
    expect_in_stderr "$MASU_TMP/two.tl:4:5: error: "
    grep -q '^[ |0-9]*\^' "$MASU_TMP.stderr" || fail "no caret in: $(cat "$MASU_TMP.stderr")"
done
# All files of one command are judged, the good ones silently.
wrong "$MASU" check "$MASU_TMP/two.tl" examples/structs.tl
expect_status 0 "$MASU" check examples/structs.tl
expect_stdout ''
expect_stderr ''

# Standard input has a name of its own.
expect_status 1 sh -c '"$1" check - <"$2"' sh "$MASU" "$MASU_TMP/two.tl"
expect_in_stderr '<stdin>:3:5: error: '

# Input that is no program
for command in check run explain; do
    wrong "$MASU" "$command" "$MASU_TMP/missing.tl"
    expect_in_stderr 'missing.tl'
    wrong "$MASU" "$command" "$MASU_TMP"
    wrong "$MASU" "$command" /dev/null
    expect_in_stderr 'main'
    wrong "$MASU" "$command" "$MASU"
    expect_in_stderr 'error: '
done

# An error while the program runs, from a number that the compiler cannot know: what was printed before stays,
# and place and call stack are named.
cat >"$MASU_TMP/late.tl" <<'TL'
fn at(t: Tensor, i: i64) -> f32 {
    t[i]
}
fn main() {
    println("before");
    println("{}", at(Tensor::ones([3]), args_get(0).to_i64()));
}
TL
expect_status 1 "$MASU" run --report=json --report-file="$MASU_TMP/json" "$MASU_TMP/late.tl" 7
expect_stdout before
expect_in_stderr "late.tl:2:"
expect_in_stderr "late.tl:6:"
expect_report "$MASU_TMP/json" live_tensors == 0
expect_report "$MASU_TMP/json" scope_depth == 0

# Output that cannot be written is an error, not a success.
expect_status 1 sh -c '"$1" help >/dev/full' sh "$MASU"
expect_in_stderr 'standard output'
expect_status 1 sh -c '"$1" run examples/structs.tl >/dev/full' sh "$MASU"
