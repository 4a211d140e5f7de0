# What ends a running program is a row of src/runtime/errors.def: calls name the row, nothing reads a message again, and
# `masu explain-error` knows each of them; docs/errors.md is what it writes.
! grep -rnA1 -E "tl__error(_as)?\\(" src/runtime | tr -d "\n" | grep -oE "tl__error(_as)?\\([^;]{0,200}" | grep -vE "TL_SAY\\(|^tl__error\\((tl_error_row|row)|^tl__error_as\\(masu_status" || fail "a message outside of errors.def"
rows=$(grep -c '^RUN_ERROR(' src/runtime/errors.def)
[ "$rows" -ge 120 ] || fail "only $rows rows"
named=$(grep -rhoE 'TL_SAY\([a-z0-9_]+\)' src/runtime | grep -v '(row)' | sort -u | wc -l)
[ "$named" -eq "$rows" ] || fail "$rows rows, $named of them named by calls"
! grep -nE 'strstr|strcmp|strspn|strchr' src/language/error_text.c || fail 'a message is read again'
# The name of an operation goes beside the text: in the rows, and where the library refuses its operands.
! grep -vE '^RUN_ERROR\((panic|memory_is_missing),' src/runtime/errors.def | grep -E '(^ *|, )"([a-z_0-9]+|%s): [^"]' || fail 'a name in the text of a row'
! grep -rnE 'panic!?\("[a-z_0-9]+: ' src/language/library || fail 'a name in a text of the library: __refuse("name", "text")'
expect_status 0 "$MASU" explain-error --all
diff docs/errors.md "$MASU_TMP.stdout" >"$MASU_TMP/differ" || fail "docs/errors.md: write it with masu explain-error --all: $(head -n 6 "$MASU_TMP/differ")"
[ "$(grep -c '^\* while it runs: ' docs/errors.md)" -eq "$rows" ] || fail 'a row is not in docs/errors.md'
sed -n 's/^\* \(while it runs: \)\{0,1\}//p' docs/errors.md | sed 's/…/7/g' | grep '[a-z]\{3\} .*[a-z]\{3\}' |
    grep -vE 'let (x|7) = 7|x. 7, x' >"$MASU_TMP/messages"
expect_status 0 sh -c "'$MASU' explain-error - <'$MASU_TMP/messages'"

# What a program meets has the code of its row.
met() { # CODE PROGRAM
    printf '%s\n' "$2" >"$MASU_TMP/a.tl"
    expect_status 1 "$MASU" run "$MASU_TMP/a.tl"
    message=$(sed -n 's/^.*error: //p' "$MASU_TMP.stderr" | head -n 1)
    expect_status 0 "$MASU" explain-error "${message% in \`*}"
    expect_in_stdout "$1: "
}
met E0125 'fn at(n: i64) -> i64 { 10 / n } fn main() { println("{}", at(0)); }'
met E0125 'fn main() { let v = vec![1]; let n = v.len(); println("{}", v[n]); }'
met E0106 'fn read(n: i64) -> i64 { format!("{}", n).parse::<i64>().unwrap() } fn f(n: i64) -> Tensor { Tensor::ones([n]) } fn main() { println("{}", f(read(2)) + f(read(3))); }'
met E0105 'fn read(n: i64) -> i64 { format!("{}", n).parse::<i64>().unwrap() } fn f(n: i64) -> Tensor { Tensor::ones([2, n]) } fn main() { println("{}", f(read(2)).matmul(f(read(3)).transpose(0, 1))); }'
met E0124 'fn read(n: i64) -> i64 { format!("{}", n).parse::<i64>().unwrap() } fn f(n: i64) -> Tensor { GradTensor::ones([n]) * 2.0 } fn main() { f(read(3)).backward(); }'
# The help is the row's.
printf 'fn read(n: i64) -> i64 { format!("{}", n).parse::<i64>().unwrap() } fn f(n: i64) -> Tensor { GradTensor::ones([n]) * 2.0 } fn main() { f(read(3)).backward(); }\n' >"$MASU_TMP/a.tl"
expect_status 1 "$MASU" run "$MASU_TMP/a.tl"
expect_in_stderr 'note: `loss.sum()` and `loss.mean()` are one number'
# The shapes of operands are those of the row, not those a text happens to hold.
printf 'fn read(n: i64) -> i64 { format!("{}", n).parse::<i64>().unwrap() }\nfn f(n: i64) -> Tensor { Tensor::ones([n]) }\nfn main() { let a = f(read(2)); let b = f(read(3)); println("{}", a + b); }\n' >"$MASU_TMP/a.tl"
expect_status 1 "$MASU" run "$MASU_TMP/a.tl"
expect_in_stderr 'error: shapes [2] and [3] cannot be broadcast in `a + b`'
expect_in_stderr '`a` has shape [2]'
expect_in_stderr '`b` has shape [3]'
printf 'fn main() { let n = [1.0].len(); if n == 1 { panic("shapes [2] and [3]: shape [4]"); } }\n' >"$MASU_TMP/a.tl"
expect_status 1 "$MASU" run "$MASU_TMP/a.tl"
expect_in_stderr 'error: panic: shapes [2] and [3]: shape [4]'
! grep -q 'has shape' "$MASU_TMP.stderr" || fail 'a text of the program was read'
# What a program says itself stays whole, though it begins like the name of an operation; and in a library's operation
# that calls others the one that was called speaks.
printf 'fn main() { let v: Option<i64> = None; v.expect("sum: lost"); }\n' >"$MASU_TMP/a.tl"
expect_status 1 "$MASU" run "$MASU_TMP/a.tl"
expect_in_stderr 'error: panic: sum: lost'
printf 'fn pick(n: i64) -> Tensor { Tensor::ones([1, n, 5, 5]) }\nfn main() { println("{}", pick(args_count() + 3).conv2d(Tensor::ones([2, 4, 3, 3])).shape()); }\n' >"$MASU_TMP/a.tl"
expect_status 1 "$MASU" run "$MASU_TMP/a.tl"
expect_in_stderr 'error: conv2d: the images have 3 channels, the kernel takes 4'
