# The mutation script can fail: it lists every kind of change, names those that a test does not see, and none that it
# sees.
tree=$MASU_TMP/tree
mkdir -p "$tree/scripts" "$tree/src"
cp scripts/mutate.sh "$tree/scripts/"
cat >"$tree/src/largest.c" <<'TEXT'
/* if (a < b) in a comment, and "a < b" in a literal, stay. */
#define LEAST (1 < 2)
int largest(int a, int b, int *calls) {
    const char *text = "a < b"; /* 5 */
    masu_assert(a + 1 > 0);
    (*calls)++;
    if (a > b && text)
        return a;
    return b;
}
TEXT
cat >"$tree/src/test.c" <<'TEXT'
#include <assert.h>
#define masu_assert(x) (void)(x)
#include "largest.c"
int main(void) {
    int calls = 0;
    assert(largest(1, 2, &calls) == 2 && largest(5, 3, &calls) == 5);
#ifdef STRICT
    assert(calls == 2);
#endif
    return 0;
}
TEXT
expect_status 0 "$tree/scripts/mutate.sh" --list src/largest.c
expect_in_stdout 'src/largest.c:6: dropped: (*calls)++; → ;'
expect_in_stdout 'src/largest.c:7: comparison: if (a > b && text) → if (a >= b && text)'
expect_in_stdout 'src/largest.c:7: comparison: if (a > b && text) → if (a <= b && text)'
expect_in_stdout 'src/largest.c:7: condition: if (a > b && text) → if (a > b || text)'
expect_in_stdout 'src/largest.c:7: condition: if (a > b && text) → if (!(a > b && text))'
for line in 1 2 4 5; do
    ! grep -q "largest.c:$line:" "$MASU_TMP.stdout" || fail "line $line is changed: $(cat "$MASU_TMP.stdout")"
done

check='cc -o "$PWD/program" src/test.c && ./program'
strict='cc -DSTRICT -o "$PWD/program" src/test.c && ./program'
# Equal numbers make >= mean the same; nobody looks at calls.
expect_status 1 "$tree/scripts/mutate.sh" --run "$check" src/largest.c
expect_in_stdout 'src/largest.c:6: dropped: (*calls)++; → ;'
expect_in_stdout 'src/largest.c:7: comparison: if (a > b && text) → if (a >= b && text)'
expect_in_stdout '5 mutants of 5 drawn with seed 1: 3 noticed, 2 not'
expect_status 1 "$tree/scripts/mutate.sh" --run "$strict" --work "$MASU_TMP/kept" src/largest.c
expect_in_stdout '5 mutants of 5 drawn with seed 1: 4 noticed, 1 not'
cmp "$tree/src/largest.c" "$MASU_TMP/kept/src/largest.c" || fail 'the kept copy is left changed'
# The same seed draws the same, a folder is all its files, and what is drawn is counted.
expect_status 0 "$tree/scripts/mutate.sh" --run false --seed 4 --count 2 src
cp "$MASU_TMP.stdout" "$MASU_TMP/first"
expect_in_stdout '2 mutants of'
expect_status 0 "$tree/scripts/mutate.sh" --run false --seed 4 --count 2 src
cmp "$MASU_TMP/first" "$MASU_TMP.stdout" || fail 'one seed draws two things'

expect_status 2 "$tree/scripts/mutate.sh"
expect_in_stderr 'usage: scripts/mutate.sh'
expect_status 2 "$tree/scripts/mutate.sh" --count many src
expect_status 2 "$tree/scripts/mutate.sh" --seed
expect_status 2 "$tree/scripts/mutate.sh" scripts
expect_in_stderr 'no C file in scripts'
# A tree whose tests nobody knows is refused, not passed.
expect_status 2 "$tree/scripts/mutate.sh" src/largest.c
