# tests/run.sh in a tree of its own: a line for each kind, what failed below it, the sums in the last line; --failed runs again
# what failed, and forgets it once it passes.
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
grep -qE '^cli +1 passed, 1 FAILED in [0-9]+ s$' "$MASU_TMP.stdout" || fail "$(cat "$MASU_TMP.stdout")"
grep -qE '^install +1 passed in [0-9]+ s$' "$MASU_TMP.stdout" || fail "$(cat "$MASU_TMP.stdout")"
expect_in_stdout 'FAIL tests/cli/bad.sh'
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
