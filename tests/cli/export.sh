# masu export: a recording as CSV, which masu reads again, and as a trace of Perfetto, which protoc-c decodes.
export="$MASU export"
file=$MASU_TMP/in.csv
printf 'event,id,bytes\nalloc,0,3145728\nalloc,1,1000\nfree,0,\nstep,,\nalloc,0,2097152\n' >"$file"

expect_status 0 $export "$file" -o -  --format csv
expect_stdout 'event,id,bytes,given_bytes,time_ns,address,device,stream,pool,place
alloc,0,3145728,3145728,0,4096,,0,,""
alloc,1,1000,1000,1,3149824,,0,,""
free,0,3145728,0,2,4096,,0,,""
mark,,0,0,3,0,,0,,""
alloc,2,2097152,2097152,4,3150848,,0,,""'
expect_status 0 $export "$file" -o "$MASU_TMP/out.csv"
expect_status 0 $export "$MASU_TMP/out.csv" -o "$MASU_TMP/again.csv"
cmp "$MASU_TMP/out.csv" "$MASU_TMP/again.csv" || fail "an exported table is not the same after another export"

decoded() { # FILE
    protoc-c --decode=masu.perfetto.Trace --proto_path=src/tool/export perfetto.proto <"$1" >"$MASU_TMP/decoded" ||
        fail "$1 is not a trace"
}
expect_status 0 $export "$file" -o "$MASU_TMP/out.pftrace"
decoded "$MASU_TMP/out.pftrace"
[ "$(grep -c 'TYPE_COUNTER' "$MASU_TMP/decoded")" -eq 8 ] || fail "four events of blocks, two counters each"
[ "$(grep 'counter_value' "$MASU_TMP/decoded" | tr -dc '0-9\n' | sort -n | tail -n 1)" -eq 3146728 ] || fail "the peak"
grep -q 'name: "step"' "$MASU_TMP/decoded" || fail "the mark is lost"
grep -q 'unit: UNIT_SIZE_BYTES' "$MASU_TMP/decoded" || fail "a counter without a unit"

if command -v python3 >/dev/null 2>&1; then
    python3 tests/cli/whatif_oom.py "$MASU_TMP/oom.pickle"
    expect_status 0 $export "$MASU_TMP/oom.pickle" -o "$MASU_TMP/oom.csv"
    grep -q '^refused,,41943040,.*,cuda:0,0,large pool,"at::empty < net.py:77 forward < train.py:99 <module>"$' "$MASU_TMP/oom.csv" ||
        fail "the refused request has no stack: $(grep '^refused' "$MASU_TMP/oom.csv")"
    grep -q '^alloc,4,2097152,3145728,' "$MASU_TMP/oom.csv" || fail "a block has what was too little to cut off: $(grep '^alloc,4' "$MASU_TMP/oom.csv")"
    expect_status 0 $export "$MASU_TMP/oom.pickle" -o "$MASU_TMP/oom.perfetto-trace"
    decoded "$MASU_TMP/oom.perfetto-trace"
    grep -q 'name: "refused"' "$MASU_TMP/decoded" || fail "the refused request is lost"
    grep -q 'counter_value: 100663296' "$MASU_TMP/decoded" || fail "96 MiB were reserved"
    expect_status 0 "$MASU" whatif "$MASU_TMP/oom.csv" --no-malloc
    expect_in_stdout 'at most 38.0 MiB live'
else
    echo "skipped: no python3, so that no snapshot could be written"
fi

expect_status 2 $export "$file"
expect_in_stderr '-o OUT is missing'
expect_status 2 $export "$file" -o "$MASU_TMP/out.txt"
expect_in_stderr 'say --format csv or perfetto'
expect_status 2 $export "$file" -o - --format xml
expect_in_stderr '`xml` is neither csv nor perfetto'
expect_status 1 $export "$MASU_TMP/none" -o -  --format csv
expect_status 1 $export "$file" -o "$MASU_TMP/no/such.csv"
expect_in_stderr 'no/such.csv'
