# The library of the language is programs in the language: every file of it passes `masu check --library`, which checks
# each function that depends on no type and no closure without a call, and is laid out as `masu fmt` does.
root=$(cd "$(dirname "$0")/../.." && pwd)
library="$root/src/language/library"
for file in "$library"/*.tl "$library"/*/*.tl; do
    expect_status 0 "$MASU" check --library "$file"
    expect_stdout ''
    expect_stderr ''
    expect_status 0 "$MASU" fmt --check "$file"
done

# A mistake in a body that nothing calls is found, at its place in the file.
mkdir -p "$MASU_TMP/language/library"
{
    cat "$library/hash.tl"
    printf 'impl i64 {\n    fn __never_called(self) -> String { self + 1 }\n}\n'
} >"$MASU_TMP/language/library/hash.tl"
expect_status 1 "$MASU" check --library "$MASU_TMP/language/library/hash.tl"
expect_in_stderr "$MASU_TMP/language/library/hash.tl:19:"

# A name of the library that only a comment or a text says is not loaded; one that a program names is, wherever it is
# written, and a function of a program goes before it.
cat >"$MASU_TMP/own.tl" <<'TEXT'
// trace cosh
struct Word { text: String }
impl Word { fn trace(self) -> String { self.text } }
fn cosh(x: f64) -> f64 { x + 1.0 }
fn main() {
    let w = Word { text: "cosh(" };
    println("{} {} {}", w.trace(), cosh(1.0), eye(2).trace());
    let y: f64 = 0.0;
    println("{} {}", y.cosh(), 300i16.count_ones());
}
fn eye(n: i64) -> Tensor { Tensor::eye(n) }
TEXT
expect_status 0 "$MASU" run "$MASU_TMP/own.tl"
expect_stdout 'cosh( 2 2
1 4'

# A fact is said of a name that something declares: a file of the library, an operation, or a fact of what the compiler
# makes itself. A word in capitals is known to the compiler, and a fact is said once of a name.
said() { # DIRECTIVE
    printf '//! says %s\n\nfn known() {}\n' "$1" >"$MASU_TMP/said.tl"
    "$MASU_BUILD/masu_embed" "$MASU_TMP/said.c" "$MASU_TMP/said.tl" >/dev/null 2>"$MASU_TMP/said.txt"
}
said 'writes: known fill_' || fail "refused: $(cat "$MASU_TMP/said.txt")"
said 'text_call tl_string_trim: made_here' || fail "refused: $(cat "$MASU_TMP/said.txt")"
for wrong in 'writes: unknown' 'known: known' 'stage MAPPPED: known' 'writes: known known'; do
    ! said "$wrong" || fail "taken: //! says $wrong"
    grep -qE 'unknown|words.def|twice' "$MASU_TMP/said.txt" || fail "says no reason: $(cat "$MASU_TMP/said.txt")"
done
