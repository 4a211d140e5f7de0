# Input that nobody writes: the compiler answers with an error or takes it, in seconds, and never falls over.
never_falls() { # STATUS… FILE
    file=$2
    actual=0
    timeout 60 "$MASU" check "$file" >"$MASU_TMP.stdout" 2>"$MASU_TMP.stderr" || actual=$?
    [ "$actual" -eq "$1" ] || fail "$file: status $actual instead of $1: $(head -c 400 "$MASU_TMP.stderr")"
    [ "$1" -eq 0 ] || grep -q 'error: ' "$MASU_TMP.stderr" || fail "$file: no error is named"
    timeout 60 "$MASU" fmt --check "$file" >"$MASU_TMP.stdout" 2>"$MASU_TMP.stderr" || actual=$?
    [ "$actual" -le 1 ] || fail "masu fmt $file: status $actual"
}
repeat() { awk -v n="$1" -v text="$2" 'BEGIN { for (i = 0; i < n; i++) printf "%s", text }'; }
t=$MASU_TMP

count=0
for bracket in '(' '[' '{' '-' '!' '&' 'Some(' '|x| ' 'if true { ' 'x.f(' 'match x { _ => ' 'Vec<' '/*' '"' '[i | i <- 0..2 { '; do
    count=$((count + 1))
    { printf 'fn main() { let x = '; repeat 20000 "$bracket"; } >"$t/deep$count.tl"
done
actual=0
timeout 60 "$MASU" check "$t"/deep*.tl >"$MASU_TMP.stdout" 2>"$MASU_TMP.stderr" || actual=$?
[ "$actual" -eq 1 ] || fail "deep nesting: status $actual"
named=$(grep -c 'deep[0-9]*.tl:1:[0-9]*: error: ' "$MASU_TMP.stderr")
[ "$named" -ge "$count" ] || fail "deep nesting: $named messages for $count files"
{ printf 'fn main() { println('; repeat 100000 '('; printf 1; repeat 100000 ')'; printf '); }\n'; } >"$t/pairs.tl"
never_falls 1 "$t/pairs.tl"
{ printf 'fn f(x: '; repeat 100000 'Vec<'; printf 'i64'; repeat 100000 '>'; printf ') { }\nfn main() { }\n'; } >"$t/types.tl"
never_falls 1 "$t/types.tl"
{ printf 'fn main() { println(1'; repeat 100000 ' + 1'; printf '); }\n'; } >"$t/sum.tl"
never_falls 1 "$t/sum.tl"
{ printf 'fn main() { if false { }'; repeat 20000 ' else if false { }'; printf ' }\n'; } >"$t/else.tl"
never_falls 1 "$t/else.tl"

# A hundred thousand lines: of statements, of functions, of mistakes.
{ printf 'fn f(x: i64) { }\nfn main() {\n'; repeat 100000 '    f(1);
'; printf '}\n'; } >"$t/lines.tl"
never_falls 0 "$t/lines.tl"
{ printf 'fn main() {\n'; repeat 100000 '    println(y);
'; printf '}\n'; } >"$t/mistakes.tl"
never_falls 1 "$t/mistakes.tl"
awk 'BEGIN { for (i = 0; i < 20000; i++) printf "fn f%d(x: i64) -> i64 { x + %d }\n", i, i; print "fn main() { }" }' >"$t/functions.tl"
never_falls 0 "$t/functions.tl"
{ printf 'fn main() { let '; repeat 100000 'name'; printf ' = '; repeat 100000 9; printf '; println("'; repeat 100000 'long '; printf '"); }\n'; } >"$t/long.tl"
never_falls 1 "$t/long.tl"

# No text.
printf 'fn main() { println("a\0b"); \0 }\n' >"$t/nul.tl"
never_falls 1 "$t/nul.tl"
printf 'fn main() { let \377\376 = "\300\200\355\240\200"; }\n' >"$t/bytes.tl"
never_falls 1 "$t/bytes.tl"
head -c 100000 "$MASU" >"$t/binary.tl"
never_falls 1 "$t/binary.tl"
: >"$t/empty.tl"
never_falls 1 "$t/empty.tl"

# What contains itself: modules, structs, generics, constants, functions.
printf 'mod b;\nfn main() { f(); }\n' >"$t/a.tl"
printf 'mod a;\nmod b;\nfn f() { }\n' >"$t/b.tl"
actual=0
timeout 60 "$MASU" check "$t/a.tl" >"$MASU_TMP.stdout" 2>"$MASU_TMP.stderr" || actual=$?
[ "$actual" -le 1 ] || fail "modules in a circle: status $actual"
printf 'struct A { b: B }\nstruct B { c: (C, i64) }\nstruct C { a: A }\nfn main() { }\n' >"$t/structs.tl"
never_falls 1 "$t/structs.tl"
printf 'struct W<T> { x: T }\nfn grow<T>(x: T) { grow(W { x: x }); }\nfn main() { grow(1); }\n' >"$t/generic.tl"
never_falls 1 "$t/generic.tl"
printf 'enum L<T> { E, C(T, Vec<L<Vec<T>>>) }\nfn main() { let l: L<i64> = L::E; println(l); }\n' >"$t/nested.tl"
never_falls 1 "$t/nested.tl"
printf 'const A: i64 = B;\nconst B: i64 = A;\nfn main() { println(A); }\n' >"$t/constants.tl"
never_falls 1 "$t/constants.tl"
printf 'fn f(x: Tensor) -> Tensor { g(x) }\nfn g(x: Tensor) -> Tensor { f(x) }\nfn main() { println(f([1.0])); }\n' >"$t/calls.tl"
never_falls 0 "$t/calls.tl"

# What an operation cannot do is said when it is asked for, and nothing runs on without an end.
refuses() { # EXPRESSION WORDS
    printf 'fn main() {\n    let t = [[1.0, 2.0], [3.0, 4.0]];\n    let r = %s;\n    println("{:?} {:?}", r, t);\n}\n' "$1" >"$t/refused.tl"
    expect_status 1 timeout 60 "$MASU" run "$t/refused.tl"
    expect_in_stderr ": error: $2"
}
refuses 't.split(0)' '0 is not a length of a part in `t.split(0)`'
refuses 't.chunk(0)' '0 is not a number of parts in `t.chunk(0)`'
refuses 't.topk(-1)' '-1 is not a number of elements in `t.topk(-1)`'
refuses 't.repeat_interleave(-1)' '-1 is not a number of times in `t.repeat_interleave(-1)`'
refuses 't.repeat_interleave(-1, 0)' '-1 is not a number of times in `t.repeat_interleave(-1, 0)`'
refuses 't.dropout(1.5)' 'dropout: 1.5 is not a probability'
refuses 'Tensor::full([2], 3.0).bernoulli()' 'bernoulli: probabilities lie from 0 to 1, these from 3 to 3'
refuses 'Tensor::normal(0.0, -1.0, [2])' 'normal: -1 is not a deviation'
refuses 'Tensor::uniform([2], 2.0, 1.0)' 'uniform: no number lies from 2 up to 1'
refuses 't.reshape([1, 1, 2, 2]).conv2d([[[[1.0]]]], 0, 0)' 'stride, dilation and groups are at least 1 in `t.reshape([1, 1, 2, 2]).conv2d('
refuses 't.gather(1, [[0.5], [0.0]])' 'gather: 0.5 is not a whole number'
refuses 't.index_select(0, [0.5])' 'index_select: 0.5 is not a whole number'
refuses 't.cross_entropy([0.5, 1.0])' 'cross_entropy: 0.5 is not a whole number'
refuses 't.nll_loss([0.5, 1.0])' 'nll_loss: 0.5 is not a whole number'
refuses 'Tensor::one_hot([0.5], 2)' 'one_hot: 0.5 is not a whole number'
refuses '[1.5, 2.0].bincount()' 'bincount: 1.5 is not a whole number'
refuses '[1.0, 2.0].index_fill(0, [0.5], 3.0)' 'index_fill: 0.5 is not a whole number'
refuses '[1.0, 2.0].repetition_penalty([0.5], 1.5)' 'repetition_penalty: 0.5 is not a whole number'
refuses 't.bce_loss(t)' 'bce_loss: probabilities lie from 0 to 1, these from 1 to 4'
refuses 't.huber_loss(t, 0.0)' 'huber_loss: delta is 0, it is above 0'
refuses 't.smooth_l1_loss(t, -1.0)' 'smooth_l1_loss: beta is -1, it is not below 0'
refuses '(5.0).clamp(7.0, 3.0)' 'clamp: 7 to 3 is not a range'
refuses '[1.0, 2.0].cosine_similarity([1.0, 2.0], 4)' 'dimension 4 is out of range for shape [2]'
refuses 'vec![1, 2].step_by(0)' '0 is not a step in `[1, 2].step_by(0)`'

# A match of thousands of numbers is checked in a second.
{ printf 'fn main() { match args_count() {'; awk 'BEGIN { for (i = 0; i < 3000; i++) printf " %d => println(\"%d\"),", i, i }'; printf ' _ => println("more") } }\n'; } >"$t/match.tl"
never_falls 0 "$t/match.tl"

# A file that names the program as its module is told so.
printf 'mod turns;\nfn main() { }\n' >"$t/turns.tl"
expect_status 1 "$MASU" check "$t/turns.tl"
expect_in_stderr 'turns.tl:1:5: error: module `turns` is the program itself'
