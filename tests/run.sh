#!/bin/sh
# Runs the tests of a build folder, each in a process of its own, two at a time. A line for each kind says how many
# passed and what they cost; what failed is shown below, then what was left out and why. The last line is "N passed, N
# failed", and where something was left out ", N skipped"; the status is 1 when any failed.
# The build folder keeps which tests failed (--failed runs these again) and what each cost (test_times, the dearest
# first).
#
#     layers    scripts/check_layers.sh on the project
#     cli       tests/cli/*.sh, the command and the scripts from outside
#     install   tests/install/*.sh, programs built against an installed copy
#     unit, model, hostile    programs of BUILD/tests (hostile: also tests/hostile/*.sh)
#     fuzz      programs of BUILD/tests/fuzz: random programs and histories, a fixed few of them
#     golden    tests/golden/*.tl as they stand, audited, with optional passes switched off singly, and with all of them
#               off
set -eu

usage() {
    cat <<'TEXT'
usage: tests/run.sh [--build FOLDER] [--only KIND,…] [--match TEXT] [--golden-flags FLAGS] [--every-pass]
                    [--failed] [--verbose] [--jobs N] [--timeout S]
  --build FOLDER         build/release
  --only KIND,…          of layers, cli, install, unit, model, hostile, fuzz, golden
  --match TEXT           only tests whose path contains TEXT
  --golden-flags FLAGS   only golden programs, once, with these flags of masu
  --failed               only what failed last time
  --verbose              a line for each test
  --every-pass           each golden program with each pass switched off, not with some of them in turns
  --jobs N, --timeout S  2 at a time; 120 s each, 600 s under a sanitizer
TEXT
}

cd "$(dirname "$0")/.."
build=build/release
only=layers,cli,install,unit,model,hostile,fuzz,golden
match=
golden_flags=
every_pass=no
failed_only=no
MASU_VERBOSE=no
jobs=2
limit=
broken=0
while [ $# -gt 0 ]; do
    case $1 in
    --help) usage && exit 0 ;;
    --every-pass) every_pass=yes && shift ;;
    --failed) failed_only=yes && shift ;;
    --verbose) MASU_VERBOSE=yes && shift ;;
    --build | --only | --match | --golden-flags | --jobs | --timeout)
        [ $# -ge 2 ] || { usage >&2 && exit 2; }
        case $1 in
        --build) build=$2 ;;
        --only) only=$2 ;;
        --match) match=$2 ;;
        --golden-flags) golden_flags=$2 only=golden ;;
        --jobs) jobs=$2 ;;
        --timeout) limit=$2 ;;
        esac
        shift 2
        ;;
    *) usage >&2 && exit 2 ;;
    esac
done
[ -f "$build/CMakeCache.txt" ] || {
    echo "tests: $build is no build folder; run make first" >&2
    exit 2
}

MASU_BUILD=$(cd "$build" && pwd)
MASU=$MASU_BUILD/masu
MASU_SANITIZE=$(sed -n 's/^MASU_SANITIZE:STRING=//p' "$MASU_BUILD/CMakeCache.txt")
MASU_TIMEOUT=${limit:-$([ -n "$MASU_SANITIZE" ] && echo 600 || echo 120)}
MASU_WORK=$(mktemp -d)
trap 'rm -rf "$MASU_WORK"' EXIT
trap 'exit 130' INT TERM
# One thread for BLAS: tests run beside each other. A sanitizer's finding is a status of its own.
OPENBLAS_NUM_THREADS=1
ASAN_OPTIONS=exitcode=99${ASAN_OPTIONS:+:$ASAN_OPTIONS}
UBSAN_OPTIONS=print_stacktrace=1:exitcode=99${UBSAN_OPTIONS:+:$UBSAN_OPTIONS}
TSAN_OPTIONS=exitcode=99${TSAN_OPTIONS:+:$TSAN_OPTIONS}
export MASU_VERBOSE MASU_BUILD MASU MASU_SANITIZE MASU_TIMEOUT MASU_WORK OPENBLAS_NUM_THREADS ASAN_OPTIONS UBSAN_OPTIONS TSAN_OPTIONS
unset MAKEFLAGS MFLAGS MAKELEVEL PRESET PREFIX

plan=$MASU_WORK/plan
: >"$plan"
wanted() { case ",$only," in *",$1,"*) return 0 ;; *) return 1 ;; esac }
add() { # KIND FLAGS, names on stdin
    while IFS= read -r name; do
        case $name in *"$match"*) echo "$1|$name|$2" >>"$plan" ;; esac
    done
}
scripts_of() { [ ! -d "$1" ] || find "$1" -name '*.sh' -type f | sort; }
programs_of() { [ ! -d "$1" ] || find "$1" -name 'test_*' -type f -perm -u+x | sort; }
goldens() { [ ! -d tests/golden ] || find tests/golden -name '*.tl' -type f | sort; }
# Programs that are repeated, audited and with passes switched off: those that run and do not refuse.
repeatable_goldens() { goldens | xargs -r grep -LE '^//! *(mode: *check|repeat: *no)'; }
single_goldens() { goldens | xargs -r grep -lE '^//! *(mode: *check|repeat: *no)'; }

list_tests() {
    ! wanted layers || echo scripts/check_layers.sh | add layers ''
    ! wanted cli || scripts_of tests/cli | add cli ''
    ! wanted install || scripts_of tests/install | add install ''
    ! wanted unit || programs_of "$MASU_BUILD/tests/unit" | add unit ''
    ! wanted model || programs_of "$MASU_BUILD/tests/model" | add model ''
    ! wanted fuzz || programs_of "$MASU_BUILD/tests/fuzz" | add fuzz ''
    ! wanted hostile || { programs_of "$MASU_BUILD/tests/hostile" && scripts_of tests/hostile; } | add hostile ''
    if [ -n "$golden_flags" ]; then
        repeatable_goldens | add golden "$golden_flags"
    elif wanted golden; then
        passes=$("$MASU" help --passes --optional) || {
            echo "tests: $MASU help --passes --optional does not list the optional passes" >&2
            broken=1
        }
        # Every program as it stands, audited, without all passes, and without some of them singly, in turns, so that
        # each pass is left out by many programs: the families of ownership (a*, own_*, sh*) without a sixth of the
        # passes, the others without a sixteenth.
        family='tests/golden/(a[0-9]|own_|sh[0-9])'
        all=
        for pass in $passes; do all="$all --no-$pass"; done
        flags_of_turn() { # TURN OF_TURNS
            number=0
            printf ',--audit'
            for pass in $passes; do
                [ $((number % $2)) -ne "$1" ] || printf ',--no-%s' "$pass"
                number=$((number + 1))
            done
            printf ',%s\n' "${all# }"
        }
        in_turns() { # OF_TURNS, names on stdin
            cat >"$MASU_WORK/in_turns"
            turn=0
            while [ "$turn" -lt "$1" ]; do
                awk -v turn="$turn" -v turns="$1" 'NR % turns == turn' "$MASU_WORK/in_turns" |
                    add golden "$(flags_of_turn "$turn" "$1")"
                turn=$((turn + 1))
            done
        }
        single_goldens | add golden ''
        repeatable_goldens | grep -E "$family" | in_turns $([ "$every_pass" = yes ] && echo 1 || echo 6)
        repeatable_goldens | grep -vE "$family" | in_turns $([ "$every_pass" = yes ] && echo 1 || echo 16)
    fi
}

kept=$MASU_BUILD/failed_tests
if [ "$failed_only" = yes ]; then
    while IFS='|' read -r kind name flags; do
        ! wanted "$kind" || echo "$name" | add "$kind" "$flags"
    done <<LIST
$([ ! -f "$kept" ] || cat "$kept")
LIST
else
    list_tests
fi
awk '{ print NR "|" $0 }' "$plan" >"$MASU_WORK/numbered"

# verdict_of NUMBER: verdict, kind, label, runs, seconds of processor time
verdict_of() {
    runs=1 seconds=0
    IFS='|' read -r verdict kind label runs seconds <"$MASU_WORK/$1.result" || verdict=lost
}

# One pool for all kinds, so that no core waits for the last test of a kind; kinds of long tests come first. Behind it a
# reporter prints each kind's line when its last test has ended.
groups='layers install hostile cli model unit fuzz golden'
for group in $groups; do
    grep "^[0-9]*|$group|" "$MASU_WORK/numbered" >"$MASU_WORK/group.$group" || rm "$MASU_WORK/group.$group"
done
has_ended() { [ -f "$MASU_WORK/$1.result" ] || [ -f "$MASU_WORK/ended" ] || [ ! -d "$MASU_WORK" ]; }
report_groups() {
    for group in $groups; do
        [ -f "$MASU_WORK/group.$group" ] || continue
        while IFS='|' read -r number rest; do
            until has_ended "$number"; do sleep 0.2; done
            verdict_of "$number"
            echo "$verdict|$runs|$seconds"
        done <"$MASU_WORK/group.$group" | awk -F'|' -v group="$group" '
            $1 == "pass" { passed += $2 }
            $1 != "pass" && $1 != "skip" { failed++ }
            { seconds += $3 }
            END {
                printf "%-8s %5d passed%s in %.0f s of processor time\n", group, passed, failed ? ", " failed " FAILED" : "", seconds
                print passed + 0, failed + 0 >ENVIRON["MASU_WORK"] "/sum." group
            }'
    done
}
report_groups &
reporter=$!
for group in $groups; do
    [ ! -f "$MASU_WORK/group.$group" ] || cat "$MASU_WORK/group.$group"
done | xargs -r -d '\n' -n 1 -P "$jobs" sh tests/one.sh || true
: >"$MASU_WORK/ended"
wait "$reporter" || broken=1

passed=0
failed=$broken
total=$(wc -l <"$plan")
for sum in "$MASU_WORK"/sum.*; do
    [ -f "$sum" ] || continue
    read -r more_passed more_failed <"$sum"
    passed=$((passed + more_passed))
    failed=$((failed + more_failed))
done
: >"$MASU_WORK/failed"
: >"$MASU_WORK/skipped"
: >"$MASU_WORK/times"
while IFS='|' read -r number rest; do
    verdict_of "$number"
    [ ! -s "$MASU_WORK/$number.skipped" ] || sed "s|^|$label: |" "$MASU_WORK/$number.skipped" >>"$MASU_WORK/skipped"
    case $verdict in pass | skip) ;; *) echo "$number|$rest" >>"$MASU_WORK/failed" ;; esac
    printf '%8.2f s  %s\n' "$seconds" "$label" >>"$MASU_WORK/times"
done <"$MASU_WORK/numbered"
sort -rn "$MASU_WORK/times" >"$MASU_BUILD/test_times" || true
while IFS='|' read -r number kind name flags; do
    label=$name
    verdict_of "$number"
    printf '\n---- %s: %s\n' "$kind" "$label"
    cat "$MASU_WORK/$number.out" || true
done <"$MASU_WORK/failed"
# Of what was not run now it is still known whether it failed.
{
    [ ! -f "$kept" ] || grep -vxFf "$plan" "$kept" || true
    cut -d'|' -f2- "$MASU_WORK/failed"
} >"$MASU_WORK/kept"
mv "$MASU_WORK/kept" "$kept" 2>/dev/null || true
echo
if [ "$total" -eq 0 ] && [ "$failed_only" = no ]; then
    echo "tests: nothing to run" >&2
    failed=$((failed + 1))
fi
skipped=$(wc -l <"$MASU_WORK/skipped" | tr -d ' ')
[ "$skipped" -eq 0 ] || { echo "left out:" && sed 's/^/  /' "$MASU_WORK/skipped"; }
if [ "$skipped" -eq 0 ]; then echo "$passed passed, $failed failed"; else echo "$passed passed, $failed failed, $skipped skipped"; fi
[ "$failed" -eq 0 ]
