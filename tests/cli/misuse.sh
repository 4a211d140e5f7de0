# Used wrongly: status 2, a word on stderr, nothing on stdout.
misused() { # TEXT-ON-STDERR COMMAND…
    text=$1
    shift
    expect_status 2 "$@"
    expect_stdout ''
    expect_in_stderr "$text"
}
misused 'masu help' "$MASU"
misused 'did you mean `run`' "$MASU" rnu
misused 'no command' "$MASU" ''
for command in run check explain; do
    misused "masu $command --help" "$MASU" "$command"
    misused '--frobnicate' "$MASU" "$command" --frobnicate examples/structs.tl
    misused 'no-such-pass' "$MASU" "$command" --no-no-such-pass examples/structs.tl
    misused 'nonsense' "$MASU" "$command" --dump=nonsense examples/structs.tl
done
misused 'report' "$MASU" run --report=xml examples/structs.tl
misused 'report-file' "$MASU" run examples/structs.tl --report-file
misused 'seed' "$MASU" run --seed=-1 examples/structs.tl
misused 'version' "$MASU" version now
misused 'nobody' "$MASU" help nobody
