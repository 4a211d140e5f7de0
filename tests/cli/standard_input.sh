# Standard input by line, by letters to the end, and not at all; the program's arguments; what is flushed is seen at
# once. The values are what rustc's executable of the same text prints.
cat >"$MASU_TMP/sum.tl" <<'END'
use std::io::{stdin, BufRead};
fn main() {
    let mut first = String::new();
    let n = stdin().read_line(&mut first).unwrap();
    println!("{} {:?}", n, first);
    let mut total = 0i64;
    for line in stdin().lock().lines() {
        let line = line.unwrap();
        match line.trim().parse::<i64>() {
            Ok(n) => total += n,
            Err(e) => println!("{:?}: {}", line, e),
        }
    }
    println!("{}", total);
    let mut more = String::new();
    println!("{} {:?}", stdin().read_line(&mut more).unwrap(), more);
}
END
printf 'h\303\251llo\r\n1\nx\n\n40' >"$MASU_TMP/input"
expect_status 0 sh -c '"$1" run "$2" <"$3"' sh "$MASU" "$MASU_TMP/sum.tl" "$MASU_TMP/input"
cat >"$MASU_TMP/expected" <<'END'
8 "héllo\r\n"
"x": invalid digit found in string
"": cannot parse integer from empty string
41
0 ""
END
diff "$MASU_TMP/expected" "$MASU_TMP.stdout"

expect_status 0 "$MASU" run "$MASU_TMP/sum.tl"
printf '0 ""\n0\n0 ""\n' | diff - "$MASU_TMP.stdout"

cat >"$MASU_TMP/arguments.tl" <<'END'
use std::env;
use std::io::Write;
use std::process;
fn main() {
    let args: Vec<String> = env::args().collect();
    if args.len() < 3 {
        eprintln!("usage: {} NAME COUNT", args[0]);
        process::exit(2);
    }
    let count: usize = args[2].parse().unwrap_or(0);
    for i in 0..count {
        print!("{} ", i);
        std::io::stdout().flush().unwrap();
    }
    println!("{} {:?}", args[1], env::args().nth(1));
    for a in env::args().skip(1) {
        println!("{}", a);
    }
}
END
expect_status 0 "$MASU" run "$MASU_TMP/arguments.tl" name 3
printf '0 1 2 name Some("name")\nname\n3\n' | diff - "$MASU_TMP.stdout"
expect_status 2 "$MASU" run "$MASU_TMP/arguments.tl"
grep -q "^usage: .*arguments.tl NAME COUNT$" "$MASU_TMP.stderr" || fail "the program's own name is not args[0]"
