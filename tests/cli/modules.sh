# A program over several files: `mod` reads the file beside it, `use` names variants, errors name the right file.
mkdir "$MASU_TMP/deep"
cat >"$MASU_TMP/main.tl" <<'TEXT'
mod shapes;
mod util {
    pub fn double(x: i64) -> i64 { x * 2 }
}
use shapes::Square;
use shapes::Kind::*;
use std::collections::HashMap;
fn main() {
    let s = Square { side: 3.0 };
    println("{} {}", s.area(), shapes::Square::new(2.0).area());
    println("{} {}", util::double(4), crate::util::double(5));
    match shapes::kind(1) { Small => println("small"), Large => println("large") }
    println("{}", deep::answer());
}
TEXT
cat >"$MASU_TMP/shapes.tl" <<'TEXT'
mod deep;
pub struct Square { pub side: f32 }
impl Square {
    pub fn new(side: f32) -> Square { Square { side } }
    pub fn area(self) -> f32 { self.side * self.side }
}
pub enum Kind { Small, Large }
pub fn kind(n: i64) -> Kind { if n < 5 { Kind::Small } else { Kind::Large } }
TEXT
echo 'pub fn answer() -> i64 { 42 }' >"$MASU_TMP/deep/mod.tl"
expect_status 0 "$MASU" run "$MASU_TMP/main.tl"
expect_stdout '9 4
8 10
small
42'
expect_stderr ''

echo 'pub fn answer() -> i64 { true }' >"$MASU_TMP/deep/mod.tl"
expect_status 1 "$MASU" run "$MASU_TMP/main.tl"
expect_in_stderr "deep/mod.tl:1:26: error: expected \`i64\`, found \`bool\`"

echo 'mod nowhere; fn main() {}' >"$MASU_TMP/no.tl"
expect_status 1 "$MASU" check "$MASU_TMP/no.tl"
expect_in_stderr "no.tl:1:5: error: there is no file \`nowhere.tl\` for this module"
