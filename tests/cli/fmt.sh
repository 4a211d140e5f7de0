# masu fmt: lays a file out, and a second time changes nothing; --check names what would change.
cat >"$MASU_TMP/a.tl" <<'TEXT'
fn   main( ){
let x=1+2 ;   // sum


  if x > 2{ println( "{}",x ) ;}
      let t = [1.0, -2.0].relu()
  .exp();
match x{1=>println("a"),
_ =>{println("b")}}
}
TEXT
expect_status 1 "$MASU" fmt --check "$MASU_TMP/a.tl"
expect_stdout "$MASU_TMP/a.tl"
expect_status 0 "$MASU" fmt "$MASU_TMP/a.tl"
expect_stdout ''
expect_status 0 cat "$MASU_TMP/a.tl"
expect_stdout 'fn main() {
    let x = 1 + 2; // sum

    if x > 2 { println("{}", x); }
    let t = [1.0, -2.0].relu()
        .exp();
    match x { 1 => println("a"),
        _ => { println("b") } }
}'
expect_status 0 "$MASU" fmt --check "$MASU_TMP/a.tl"
expect_stdout ''

# What cannot be read stays as it is.
echo 'fn main() { let = 1; }' >"$MASU_TMP/b.tl"
expect_status 1 "$MASU" fmt "$MASU_TMP/b.tl"
expect_in_stderr "b.tl:1:17: error: expected a pattern, found \`=\`"
expect_status 0 cat "$MASU_TMP/b.tl"
expect_stdout 'fn main() { let = 1; }'

# The tokens are the same: the programs of the tests print the same when formatted.
for name in lang_second_ring lang_formatting prog_mlp; do
    cp "tests/golden/$name.tl" "$MASU_TMP/c.tl"
    expect_status 0 "$MASU" run "$MASU_TMP/c.tl"
    before=$(cat "$MASU_TMP.stdout")
    expect_status 0 "$MASU" fmt "$MASU_TMP/c.tl"
    expect_status 0 "$MASU" run "$MASU_TMP/c.tl"
    expect_stdout "$before"
done
