# tests/run.sh in a tree of its own: a line for each kind, what failed below it, the sums in the last line; --failed
# runs again what failed, and forgets it once it passes.
tree=$MASU_TMP/tree
mkdir -p "$tree/tests/cli" "$tree/tests/install" "$tree/build"
cp tests/run.sh tests/one.sh tests/expect.sh "$tree/tests/"
echo 'MASU_SANITIZE:STRING=' >"$tree/build/CMakeCache.txt"
echo 'true' >"$tree/tests/cli/good.sh"
echo 'fail "as it should"' >"$tree/tests/cli/bad.sh"
echo 'true' >"$tree/tests/install/other.sh"
run_tests() { # STATUS LAST-LINE ARGUMENTS…
    status=$1 last=$2
    shift 2
    expect_status "$status" "$tree/tests/run.sh" --build build "$@"
    [ "$(tail -n 1 "$MASU_TMP.stdout")" = "$last" ] || fail "$* ends with: $(tail -n 1 "$MASU_TMP.stdout")"
}
run_tests 1 '2 passed, 1 failed' --only cli,install
grep -qE '^cli +1 passed, 1 FAILED in [0-9]+ s of processor time$' "$MASU_TMP.stdout" || fail "$(cat "$MASU_TMP.stdout")"
grep -qE '^install +1 passed in [0-9]+ s of processor time$' "$MASU_TMP.stdout" || fail "$(cat "$MASU_TMP.stdout")"
expect_in_stdout 'FAIL tests/cli/bad.sh'
[ "$(grep -c ' s  tests/' "$tree/build/test_times")" -eq 3 ] || fail "three times: $(cat "$tree/build/test_times")"
expect_in_stdout '---- cli: tests/cli/bad.sh'
expect_in_stdout 'as it should'
run_tests 1 '0 passed, 1 failed' --failed
run_tests 0 '1 passed, 0 failed' --only cli --match good
run_tests 1 '0 passed, 1 failed' --failed
echo 'true' >"$tree/tests/cli/bad.sh"
run_tests 0 '1 passed, 0 failed' --failed --verbose
expect_in_stdout 'ok   tests/cli/bad.sh'
run_tests 0 '0 passed, 0 failed' --failed
run_tests 1 '0 passed, 1 failed' --only cli --match nothing_of_the_kind
# What is left out is counted apart and says why: a whole script, and functions of a program; without a reason it is a
# failure.
echo 'skip "no such tool"' >"$tree/tests/cli/absent.sh"
printf '#!/bin/sh\necho "[  SKIPPED ] of_a_program"\n' >"$tree/build/test_some"
mkdir -p "$tree/build/tests/unit" && mv "$tree/build/test_some" "$tree/build/tests/unit/test_some" && chmod +x "$tree/build/tests/unit/test_some"
run_tests 0 '2 passed, 0 failed, 1 skipped' --only cli
expect_in_stdout 'tests/cli/absent.sh: skipped: no such tool'
run_tests 0 '1 passed, 0 failed, 1 skipped' --only unit
expect_in_stdout 'tests/unit/test_some: [  SKIPPED ] of_a_program'
echo 'exit 77' >"$tree/tests/cli/absent.sh"
run_tests 1 '2 passed, 1 failed' --only cli
expect_in_stdout 'skipped without a reason'
# A golden program that expects errors expects all of them: one more is told.
mkdir "$MASU_TMP/golden"
printf '//! mode: check\n//! status: 1\n//! stderr: one.tl:1:1: error: the first\n' >"$MASU_TMP/one.tl"
printf '#!/bin/sh\necho "one.tl:1:1: error: the first" >&2\n[ ! -f "%s/more" ] || echo "one.tl:2:1: error: the second" >&2\nexit 1\n' \
    "$MASU_TMP" >"$MASU_TMP/masu" && chmod +x "$MASU_TMP/masu"
golden() { expect_status "$1" env MASU="$MASU_TMP/masu" MASU_TMP="$MASU_TMP/golden" sh tests/golden.sh "$MASU_TMP/one.tl"; }
golden 0
touch "$MASU_TMP/more"
golden 1
expect_in_stdout 'no other error or warning on stderr'

# Each test opens with the rule or the promise that it proves.
for test in tests/cli/*.sh tests/install/*.sh tests/hostile/*.sh; do
    sed -n '/^#!/d; p; q' "$test" | grep -qE '^# .{20}' || echo "$test"
done >"$MASU_TMP/silent"
find tests/unit tests/model tests/hostile tests/fuzz -name 'test_*.c' | while IFS= read -r test; do
    head -n 1 "$test" | grep -qE '^/[*] .{20}' || echo "$test"
done >>"$MASU_TMP/silent"
for test in tests/golden/*.tl; do
    grep -qE '^ *// .{8}' "$test" || echo "$test"
done >>"$MASU_TMP/silent"
[ ! -s "$MASU_TMP/silent" ] || fail "tests that do not say what they prove: $(tr '\n' ' ' <"$MASU_TMP/silent")"
