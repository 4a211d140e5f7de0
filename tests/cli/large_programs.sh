# Programs that no person writes: what is long is compiled, what is deep is refused in words. Nobody's stack ends.
# Prints the program `fn main() { LEFT… MIDDLE RIGHT… }` with so many of LEFT and RIGHT.
nested() { awk -v l="$2" -v m="$3" -v r="$4" -v n="$1" 'BEGIN { printf "fn main() { let x = args_count(); let y = ";
    for (i = 0; i < n; i++) printf "%s", l; printf "%s", m; for (i = 0; i < n; i++) printf "%s", r; print "; println(\"{}\", y); }" }'; }
file=$MASU_TMP/large.tl

nested 1500 'x + ' 1 '' >"$file"
expect_status 0 "$MASU" run "$file"
expect_stdout 1
nested 1500 '' 'Tensor::ones([x])' ' + 1.0' >"$file"
expect_status 0 "$MASU" run "$file" 1
expect_stdout '[1501.0000]'
nested 100000 '' x ' + 1' >"$file"
expect_status 1 "$MASU" check "$file"
expect_in_stderr 'this expression is more than 4000 levels high'
for left in '(' '[' 'f(' '{' '! ' '- ' '|a| ' '& ' 'match 1 { _ => ' 'if x == 1 { 1 } else ' 'loop {' 'if true {'; do
    nested 100000 "$left" '{ 1 }' '' >"$file"
    expect_status 1 "$MASU" check "$file"
    expect_in_stderr 'this is nested more than 256 levels deep'
done

# Every loop of a long function was once reason to look at all of it again: 2000 loops took minutes.
awk 'BEGIN { print "fn main() {\n    let mut x = Tensor::ones([3]);\n    let mut n = 0;"
    for (i = 0; i < 2000; i++) print "    for k in 0..2 { x = x + 1.0; n += k; }"
    print "    println(\"{} {}\", x, n);\n}" }' >"$file"
expect_status 0 "$MASU" run "$file"
expect_stdout '[4001.0000, 4001.0000, 4001.0000] 2000'

# Each of these writes once copied the row it went to: minutes.
cat >"$file" <<'TL'
fn main() {
    let n = 1000000;
    let mut rows = vec![vec![0; n], vec![0; n]];
    for k in 0..n { rows[1][k] = k; rows[0][k] += rows[1][k]; }
    println("{}", rows[0].iter().sum());
}
TL
expect_status 0 timeout 60 "$MASU" run "$file"
expect_stdout 499999500000

# Lists of numbers are read, measured and written without a call: what stands there is for an index out of range, and
# for a list that somebody else has as well.
cat >"$file" <<'TL'
fn main() {
    let mut v = vec![1, 2, 3];
    let mut rows = vec![vec![1.0, 2.0], vec![3.0, 4.0]];
    for i in 0..2 { v[i] += v[i + 1] * v.len(); rows[i][i] = rows[i][1 - i] + rows[1][0]; }
    println("{:?} {:?}", v, rows);
}
TL
expect_status 0 "$MASU" run --dump=llvm "$file"
cat "$MASU_TMP.stdout" "$MASU_TMP.stderr" >"$MASU_TMP.llvm"
sed -n '/@masu_main/,/^}/p' "$MASU_TMP.llvm" | grep -A 1 'call .*@tl_vec_get' >"$MASU_TMP.calls" || fail 'no way out for an index out of range'
grep -v '^--' "$MASU_TMP.calls" | awk 'NR % 2 == 0 && !/unreachable/ { exit 1 }' || fail "an element is read by a call: $(cat "$MASU_TMP.calls")"
