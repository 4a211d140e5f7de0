# masu whatif: tables of requests, snapshots made by hand, and the recorded ones; what is wrong is said with its place.
whatif="$MASU whatif"
file=$MASU_TMP/in.csv
write() { printf "$1" >"$file"; } # FORMAT
row() { # NAME COLUMN   what a row of the last output says; the columns are separated by more than one space
    grep "^$1" "$MASU_TMP.stdout" | head -n 1 | sed 's/   */|/g' | cut -d'|' -f"$2"
}

# ---- a table: three blocks of which two live at once -------------------------------------------------
write 'event,id,bytes\nalloc,0,3145728\nalloc,1,1048576\nfree,0,\nstep,,\nalloc,0,2097152\n'
expect_status 0 $whatif "$file" --no-malloc
expect_in_stdout 'table of requests, 4 requests for 3 blocks, at most 4.0 MiB live'
expect_in_stdout 'no allocator can go below 4.0 MiB, which is live at once.'
[ "$(row 'planner' 3)" = "4.0 MiB" ] || fail "the planner needs what is live"
[ "$(row 'PyTorch, its defaults' 3)" = "22.0 MiB" ] || fail "PyTorch takes a segment of 20 MiB and one of 2 MiB"
[ "$(row 'masu virtual memory' 3)" = "6.0 MiB" ] || fail "pages of 2 MiB: 4 and 2"
[ "$(grep -c ' fine ' "$MASU_TMP.stdout")" -eq 7 ] || fail "the judge follows every pool and the plan"
cp "$MASU_TMP.stdout" "$MASU_TMP/first"
expect_status 0 $whatif "$file" --no-malloc --device null
[ "$(row 'masu best fit' 3)" = "5.0 MiB" ] || fail "a block of 3 MiB, and one of 2 MiB for the request of 1: $(row 'masu best fit' 3)"
columns() { sed 's/ *[0-9.]* ms/ -/' "$1"; } # all but the times
expect_status 0 sh -c "$whatif - --no-malloc <'$file'"
columns "$MASU_TMP/first" | sed 1d >"$MASU_TMP/a"
columns "$MASU_TMP.stdout" | sed 1d >"$MASU_TMP/b"
cmp "$MASU_TMP/a" "$MASU_TMP/b" || fail "two replays of one file differ"

expect_status 0 $whatif "$file" # the system's own malloc is there always
expect_in_stdout 'glibc malloc'
row 'glibc malloc' 3 | grep -q MiB || fail "no figures of glibc: $(cat "$MASU_TMP.stdout")"

expect_status 0 $whatif "$file" --no-malloc --limit 4MiB --json
expect_in_stdout '"peak_live_bytes":4194304'
expect_in_stdout '{"allocator":"PyTorch, its defaults","ran":true,"seconds":null,"peak_reserved_bytes":2097152,'
expect_in_stdout '"refused":2,'

write '\357\273\277event,id,bytes\nalloc,0,64\n' && expect_status 0 $whatif "$file" --no-malloc
expect_in_stdout '1 requests for 1 blocks'
write 'bytes,id,event,place\r\n10,0,alloc,a\r\n,0,free,b' && expect_status 0 $whatif "$file" --no-malloc
expect_in_stdout '2 requests for 1 blocks'
write 'event,id,bytes\nstep,,\n' && expect_status 0 $whatif "$file"
expect_in_stdout 'nothing was requested in it'

wrong() { # FORMAT MESSAGE
    write "$1"
    expect_status 1 $whatif "$file"
    expect_stdout ''
    expect_in_stderr "masu whatif: $file: $2"
}
wrong 'event,id,bytes\nalloc,0,1\nalloc,0,2\n' 'line 3: block 0 is live already'
wrong 'event,id,bytes\nfree,0,\n' 'line 2: block 0 is not live'
wrong 'event,id,bytes\nalloc,0,\n' 'line 2: bytes is missing'
wrong 'event,id,bytes\nalloc,0,-1\n' 'line 2: bytes: a number from 0 to 2^60 was expected, found `-1`'
wrong 'event,id,bytes\nalloc,999999999999,1\n' 'line 2: id 999999999999: ids are counted from 0, without large gaps'
wrong 'event,name,id,bytes2\n' 'line 1: the column `bytes` is missing'
wrong 'what is this' 'neither a memory snapshot'
wrong '\200\004c' 'byte 2: GLOBAL: masu reads plain data only'
wrong '\200\004N.' 'a pickle, but not a memory snapshot'

expect_status 2 $whatif
expect_in_stderr 'a file is missing'
expect_status 2 $whatif a b
expect_in_stderr 'one file at a time'
expect_status 2 $whatif --limt 3 a
expect_in_stderr 'did you mean `--limit`'
expect_status 2 $whatif --limit 3parsecs a
expect_in_stderr '`3parsecs` is not a size such as 40GiB'
expect_status 2 $whatif --device moon a
expect_in_stderr '`moon` is neither null nor host'
expect_status 1 $whatif "$MASU_TMP/none.pickle"

# ---- a trace of masu: the same peak as the program's own report ------------------------------------------------
expect_status 0 "$MASU" run examples/linear_regression.tl --report --trace "$MASU_TMP/run.trace"
expect_status 0 $whatif "$MASU_TMP/run.trace" --no-malloc
expect_in_stdout 'masu trace 1, '
grep -q WRONG "$MASU_TMP.stdout" && fail "the judge disagrees"
live=$(sed -n 's/.*at most \(.*\) live$/\1/p' "$MASU_TMP.stdout" | head -n 1)
expect_status 0 "$MASU" report "$MASU_TMP/run.trace" --text
expect_in_stdout "at most $live alive"

# ---- a refused request ----------------------------------------------------------------------------------
if command -v python3 >/dev/null 2>&1; then
    for protocol in 2 3 4 5; do
        python3 tests/cli/whatif_oom.py "$MASU_TMP/oom.pickle" $protocol
        expect_status 0 $whatif "$MASU_TMP/oom.pickle" --no-malloc
        expect_in_stdout 'the model made all 11 recorded steps'
    done
    [ "$(row 'PyTorch, as recorded' 3)" = "96.0 MiB" ] || fail "three segments: 30, 32 and 34 MiB"
    expect_in_stdout 'Refused: 40.0 MiB at net.py:77 (forward)'
    expect_in_stdout 'Reserved 96.0 MiB, live 7.0 MiB; the device had 8.0 MiB left, and the allocator 87.0 MiB free'
    expect_in_stdout 'The largest hole in its own pool: 30.0 MiB.'
    expect_in_stdout 'the settings of the snapshot       refuses 1'
    expect_in_stdout 'expandable_segments:True           serves every request'
    expect_in_stdout 'Set expandable_segments:True: it would have served every request.'
    expect_status 0 $whatif "$MASU_TMP/oom.pickle" --no-malloc --json
    python3 -c 'import json, sys; d = json.load(sys.stdin)["devices"][0]; assert d["model"]["follows"] and d["refusals"][0]["bytes"] == 40 << 20' <"$MASU_TMP.stdout" ||
        fail "the JSON cannot be read, or says something else"
    python3 tests/cli/whatif_split.py "$MASU_TMP/split.pickle"
    expect_status 0 $whatif "$MASU_TMP/split.pickle" --no-malloc
    expect_in_stdout 'The largest hole in its own pool: 20.0 MiB.'
    expect_in_stdout 'Nearest to a hole of that size: 36.0 MiB at 0x7f0001400000, split by 1 live block of 2.0 MiB:'
    expect_in_stdout '2.0 MiB at 0x7f0002200000 from net.py:13 (forward)'
    expect_in_stdout 'None of these settings serves every request.'
else
    echo "skipped: no python3, so that no snapshot with a refused request could be written"
fi

# ---- runs that never were, by an allocator written once more -------------------------------------------------
if command -v python3 >/dev/null 2>&1; then
    for run in '1 split' 5 12 14 '26 expandable'; do
        set -- $(python3 tests/cli/torch_allocator.py "$MASU_TMP/run.pickle" $run) # steps, reserved
        expect_status 0 $whatif "$MASU_TMP/run.pickle" --no-malloc --steps 100 --json
        [ "$(grep -o "\"follows\":true,\"steps\":$1,\"reserved_bytes\":$2," "$MASU_TMP.stdout" | wc -l)" -eq 2 ] ||
            fail "run $run: the model does not make all $1 steps: $(grep -o '"model":[^}]*' "$MASU_TMP.stdout")"
        grep -q '"judge":"wrong"' "$MASU_TMP.stdout" && fail "run $run: the judge disagrees"
    done
fi

# ---- recorded ones: what PyTorch reserved, what is live, and what the planner needs -----------------------
data=${MASU_DATA:-../shared/data}/snapshots
if [ ! -f "$data/conv_c.pickle" ]; then
    echo "skipped: the recorded snapshots are not in $data: set MASU_DATA to the folder that has snapshots/"
    exit 0
fi
# The sentence says what the rows say: more, hardly less, or less.
while read -r name reserved live says; do
    expect_status 0 $whatif "$data/$name.pickle" --no-malloc
    [ "$(row 'PyTorch, as recorded' 3)" = "$reserved MiB" ] || fail "$name: reserved $(row 'PyTorch, as recorded' 3)"
    expect_in_stdout ", at most $live MiB live"
    [ "$(grep -c 'WRONG' "$MASU_TMP.stdout")" -eq 0 ] || fail "$name: the judge disagrees"
    [ "$(row planner 3)" = "$live MiB" ] || fail "$name: the planner needs $(row planner 3)"
    expect_in_stdout "$says"
done <<'ROWS'
conv_c 128.0 103.2 Set expandable_segments:True: it would have saved 20.0 MiB of 128.0 MiB
train_a_512 59,920.0 52,326.2 Set expandable_segments:True: it would have saved 6.7 GiB of 58.5 GiB
infer_b_128 1,682.0 1,656.4 Leave expandable_segments off: with it the peak would have been 1,686.0 MiB, not 1,682.0 MiB
infer_b_512 1,890.0 1,859.0 expandable_segments:True matters little: with it the peak would have been 1,882.0 MiB, not
ROWS

# ---- the planner reads recordings, too ---------------------------------------------------------------------
expect_status 0 "$MASU" plan "$data/conv_c.pickle"
expect_in_stdout '1966 buffers, height 108,2'
expect_in_stdout 'optimal'
expect_status 0 "$MASU" plan "$data/infer_b_128.pickle" --output "$MASU_TMP/plan.csv" --quiet
expect_status 0 "$MASU" plan --check "$MASU_TMP/plan.csv"
expect_in_stdout 'FINE: 1503 buffers'
expect_status 2 "$MASU" plan --check "$data/conv_c.pickle"
expect_in_stderr 'is a recording'
expect_status 1 "$MASU" plan "$data/conv_c.pickle" --device cuda:7
expect_in_stderr 'no block of device cuda:7'
