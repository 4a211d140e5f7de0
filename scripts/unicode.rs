// unicode.rs: writes src/runtime/value/unicode.def from what Rust's library says of every character, so that masu says
// the same.
//
//     rustc -O scripts/unicode.rs -o /tmp/unicode && /tmp/unicode >src/runtime/value/unicode.def

// Ranges [first, last] in steps of 1 or 2, with one number each that all characters of a range share.
fn ranges(mut of: impl FnMut(char) -> Option<i64>) -> Vec<(u32, u32, u32, i64)> {
    let mut out: Vec<(u32, u32, u32, i64)> = Vec::new();
    for code in 128..0x110000u32 {
        let found = match char::from_u32(code).and_then(&mut of) { Some(d) => d, None => continue };
        if let Some(r) = out.last_mut() {
            if r.3 == found && (code == r.1 + r.2 || (r.0 == r.1 && code - r.1 <= 2)) {
                r.2 = code - r.1;
                r.1 = code;
                continue;
            }
        }
        out.push((code, code, 1, found));
    }
    out
}

fn put(name: &str, comment: &str, rows: Vec<String>) {
    println!("\n/* {} */", comment);
    let mut line = String::new();
    for row in rows {
        let row = format!("{}({})", name, row);
        if line.len() + row.len() > 118 { println!("{}", line); line.clear(); }
        if !line.is_empty() { line.push(' '); }
        line.push_str(&row);
    }
    println!("{}", line);
}

fn property(name: &str, comment: &str, is: fn(char) -> bool) {
    put(name, comment, ranges(|c| if is(c) { Some(0) } else { None }).iter().map(|r| format!("0x{:X}, 0x{:X}, {}", r.0, r.1, r.2)).collect());
}

fn letters(c: char, upper: bool) -> Vec<char> { if upper { c.to_uppercase().collect() } else { c.to_lowercase().collect() } }

fn case(name: &str, comment: &str, upper: bool) {
    let one = |c: char| { let l = letters(c, upper); if l.len() == 1 && l[0] != c { Some(l[0] as i64 - c as i64) } else { None } };
    put(name, comment, ranges(one).iter().map(|r| format!("0x{:X}, 0x{:X}, {}, {}", r.0, r.1, r.2, r.3)).collect());
}

fn long(name: &str, comment: &str, upper: bool) {
    let rows = (128..0x110000).filter_map(char::from_u32).filter(|c| letters(*c, upper).len() > 1).map(|c| {
        let l = letters(c, upper);
        format!("0x{:X}, 0x{:X}, 0x{:X}, 0x{:X}", c as u32, l[0] as u32, l[1] as u32, l.get(2).map_or(0, |x| *x as u32))
    });
    put(name, comment, rows.collect());
}

const KINDS: [&str; 11] = ["ALPHABETIC", "NUMERIC", "LOWERCASE", "UPPERCASE", "ESCAPED", "TO_UPPER", "TO_LOWER", "LONG_UPPER",
    "LONG_LOWER", "CASE_IGNORED", "CASED"];

fn main() {
    let (major, minor, update) = char::UNICODE_VERSION;
    println!("/* unicode.def: characters beyond ASCII, of Unicode {}.{}.{}. Written by scripts/unicode.rs; a range is first, last,\n * step. */", major, minor, update);
    println!("\n/* Who includes this says what one of them is to become; the others are nothing, and none is left behind. */");
    for kind in KINDS { println!("#ifndef {kind}\n#define {kind}(...)\n#endif"); }
    property("ALPHABETIC", "letters and what counts as one", |c| c.is_alphabetic());
    property("NUMERIC", "digits, numerals, fractions", |c| c.is_numeric());
    property("LOWERCASE", "small letters", |c| c.is_lowercase());
    property("UPPERCASE", "capital letters", |c| c.is_uppercase());
    property("ESCAPED", "what {:?} shows by its number", |c| c.escape_debug().count() > 1);
    case("TO_UPPER", "a range, and what is added for the capital letter", true);
    case("TO_LOWER", "a range, and what is added for the small letter", false);
    long("LONG_UPPER", "a character and the two or three that are its capitals; 0: no third", true);
    long("LONG_LOWER", "a character and the letters that are its small ones", false);
    // A capital sigma is another small letter at the end of a word: what a word goes on behind, and what is of a case without
    // being small or capital, is found by asking for the small letters of such a word.
    let ends = |word: String| word.to_lowercase().ends_with('ς');
    let marks = ranges(|c| if !ends(format!("{}Σ", c)) && ends(format!("Α{}Σ", c)) { Some(0) } else { None });
    put("CASE_IGNORED", "marks that a word goes on behind", marks.iter().map(|r| format!("0x{:X}, 0x{:X}, {}", r.0, r.1, r.2)).collect());
    let title = ranges(|c| if ends(format!("{}Σ", c)) && !c.is_lowercase() && !c.is_uppercase() { Some(0) } else { None });
    put("CASED", "letters of a case that are neither small nor capital", title.iter().map(|r| format!("0x{:X}, 0x{:X}, {}", r.0, r.1, r.2)).collect());
    println!();
    for kind in KINDS { println!("#undef {kind}"); }
}
