# Executables against `masu run`, for the shell tests that read this file. exe: where they are built.

said_by() { sed -n "s/^\/\/! *$1: *//p" "$2"; }

# A program's own arguments go to both, and so do its flags: what only run knows stands in the environment.
same_as_run() { # FILE
    flags=$(said_by flags "$1") arguments=$(said_by args "$1")
    building=$(echo "$flags" | sed 's/--history=[0-9]*//; s/--seed=[0-9]*//')
    history=$(echo "$flags" | sed -n 's/.*--history=\([0-9]*\).*/\1/p')
    seed=$(echo "$flags" | sed -n 's/.*--seed=\([0-9]*\).*/\1/p')
    # shellcheck disable=SC2086 # words, split at spaces
    (cd "$(dirname "$1")" && "$MASU" build -q $building "$(basename "$1")" -o "$exe") >"$MASU_TMP/said" 2>&1 ||
        fail "masu build $1: $(cat "$MASU_TMP/said")"
    [ ! -s "$MASU_TMP/said" ] || fail "masu build $1 says: $(cat "$MASU_TMP/said")"
    run=0
    # shellcheck disable=SC2086
    (cd "$(dirname "$1")" && exec "$MASU" run -q $flags --report=json --report-file="$MASU_TMP/run.json" "$(basename "$1")" $arguments) \
        >"$MASU_TMP/run.out" 2>"$MASU_TMP/run.err" </dev/null || run=$?
    built=0
    # shellcheck disable=SC2086
    (cd "$(dirname "$1")" && MASU_REPORT=json MASU_REPORT_FILE="$MASU_TMP/exe.json" MASU_HISTORY=${history:-10000} MASU_SEED=${seed:-8} exec "$exe" $arguments) \
        >"$MASU_TMP/exe.out" 2>"$MASU_TMP/exe.err" </dev/null || built=$?
    [ "$run" -eq "$built" ] || fail "$1: run ends with $run, the executable with $built"
    cmp "$MASU_TMP/run.out" "$MASU_TMP/exe.out" || fail "$1: other output"
    cmp "$MASU_TMP/run.err" "$MASU_TMP/exe.err" || fail "$1: other errors"
    # Resident memory, time and what the command itself took from the system are the process's own.
    for report in run exe; do
        grep -vE '"(rss|wall|metadata_reserved)' "$MASU_TMP/$report.json" >"$MASU_TMP/$report.counts"
    done
    diff "$MASU_TMP/run.counts" "$MASU_TMP/exe.counts" || fail "$1: other counters"
}

# Each STEP-th program of the list that is run; when MASU_EVERY says so, all of them, which takes long
# under the sanitizers.
same_as_run_each() { # STEP FILE…
    step=$1
    shift
    [ -z "${MASU_EVERY:-}" ] || step=1
    number=0 built_count=0
    for program in "$@"; do
        grep -qE '^//! *mode: *check' "$program" && continue
        # How deep it gets depends on what of the stack was used before it: nothing of it is the same.
        case $program in *endless_recursion*) continue ;; esac
        number=$((number + 1))
        [ $((number % step)) -eq 0 ] || continue
        same_as_run "$program"
        built_count=$((built_count + 1))
    done
    [ "$built_count" -gt 0 ] || fail "no program was built"
    echo "$built_count of $number programs as executables"
}
