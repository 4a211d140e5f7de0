# `masu explain` shows the whole source, every line of it, with what happens to tensors beside it.
for example in examples/*.tl; do
    expect_status 0 "$MASU" explain "$example"
    expect_stderr ''
    while IFS= read -r line; do
        case $line in
        *[a-z]*) grep -qF -e "$line" "$MASU_TMP.stdout" || fail "$example: this line is missing: $line" ;;
        esac
    done <"$example"
    [ "$(wc -c <"$MASU_TMP.stdout")" -gt "$(wc -c <"$example")" ] || fail "$example: nothing is explained"
done

# The same as data and as a page.
expect_status 0 "$MASU" explain --json examples/n_queens.tl
expect_in_stdout '"lower_bound": '
expect_status 0 "$MASU" explain --html examples/n_queens.tl
expect_in_stdout '<span class=d>'
expect_in_stdout '<pre>'
expect_status 0 "$MASU" explain --json examples/n_queens.tl
expect_in_stdout '"passes": ['
expect_in_stdout '"frame_lower_bound": '
