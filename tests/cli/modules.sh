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

# Each file has names of its own; messages show them as they are written.
cat >"$MASU_TMP/own.tl" <<'TEXT2'
mod left;
mod right;
use left::Thing;
use right::{self as r, helper as rh};
fn helper() -> i64 { 1 }
fn main() {
    println!("{} {} {} {}", helper(), left::helper(), right::helper(), rh());
    let t = Thing { size: LIMIT };
    println!("{:?} {:?} {}", t, r::Thing::new(2.5), left::both());
    println!("{} {}", t.twice(), right::Thing::new(1.5).twice());
}
const LIMIT: i64 = 4;
TEXT2
cat >"$MASU_TMP/left.tl" <<'TEXT2'
use crate::right;
#[derive(Debug)]
pub struct Thing { pub size: i64 }
impl Thing { pub fn twice(&self) -> i64 { self.size * 2 } }
pub fn helper() -> i64 { 10 }
pub fn both() -> i64 { self::helper() + right::helper() + super::helper() }
TEXT2
cat >"$MASU_TMP/right.tl" <<'TEXT2'
#[derive(Debug)]
pub struct Thing { pub weight: f64 }
impl Thing {
    pub fn new(weight: f64) -> Thing { Thing { weight } }
    pub fn twice(&self) -> f64 { self.weight * 2.0 }
}
pub fn helper() -> i64 { LIMIT }
const LIMIT: i64 = 100;
TEXT2
expect_status 0 "$MASU" run "$MASU_TMP/own.tl"
expect_stdout '1 10 100 100
Thing { size: 4 } Thing { weight: 2.5 } 111
8 3'
expect_stderr ''

sed -i 's/LIMIT };/left::Thing { size: 1 } };/' "$MASU_TMP/own.tl"
echo 'fn wrong() -> Thing { helper(1) } fn wrong() {}' >>"$MASU_TMP/right.tl"
expect_status 1 "$MASU" run "$MASU_TMP/own.tl"
expect_in_stderr "own.tl:8:27: error: expected \`i64\`, found \`Thing\`"
expect_in_stderr "right.tl:9:23: error: \`helper\` takes 0 arguments, 1 given"
expect_in_stderr "right.tl:9:38: error: \`wrong\` is declared twice"
