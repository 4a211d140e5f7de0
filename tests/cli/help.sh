# Help and version: on stdout, status 0; the passes that help lists are those that --no-PASS takes.
version=$(sed -n 's/^#define MASU_VERSION_TEXT *"\(.*\)"/\1/p' include/masu/version.h)
expect_status 0 "$MASU" version
expect_stdout "masu $version"
expect_status 0 "$MASU" --version
expect_stdout "masu $version"

expect_status 0 "$MASU" --help
for command in run check explain explain-error fmt lsp import whatif export version help; do
    expect_in_stdout "  $command"
done
for command in run check explain explain-error fmt lsp import whatif export version help; do
    expect_status 0 "$MASU" "$command" --help
    expect_in_stdout "Usage: masu $command"
    expect_stderr ''
    usage=$(cat "$MASU_TMP.stdout")
    expect_status 0 "$MASU" help "$command"
    expect_stdout "$usage"
done

expect_status 0 "$MASU" help --passes --optional
optional=$(cat "$MASU_TMP.stdout")
[ -n "$optional" ] || fail "no pass is optional"
expect_status 0 "$MASU" help --passes
all=$(grep -o '^[a-z][a-z0-9-]*' "$MASU_TMP.stdout")
for pass in $all; do
    if echo "$optional" | grep -qx "$pass"; then
        expect_status 0 "$MASU" check "--no-$pass" examples/structs.tl
    else
        expect_status 2 "$MASU" check "--no-$pass" examples/structs.tl
    fi
done
for pass in $optional; do
    echo "$all" | grep -qx "$pass" || fail "$pass is optional, but no pass"
done
