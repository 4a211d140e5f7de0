# masu plan against files and command lines that mean harm: each is refused with its place, or means what the
# documentation says; nothing is written, and what stood in the files stays.
plan="$MASU plan"
cd "$MASU_TMP"
echo before >out.csv
echo before >out.svg

refused() { # STATUS TEXT ARGUMENTS…   on standard error; the files stay: untouched asks
    status=$1 text=$2
    shift 2
    expect_status "$status" $plan "$@" --output out.csv --svg out.svg
    [ ! -s "$MASU_TMP.stdout" ] || expect_stdout ''
    expect_in_stderr "$text"
}
untouched() {
    [ "$(cat out.csv out.svg)" = "before
before" ] || fail "written on an error"
    [ -z "$(find . -name '*.tmp')" ] || fail "left behind: $(find . -name '*.tmp')"
}
# ---- the readers: tests/unit/tool has the table of what they refuse ------------------------------
bad() { # PLACE EXPECTED FORMAT
    printf "$3" >in
    refused 1 "in:$1: error: expected $2" in
}
head='id,lower,upper,size\n'
bad 1:1 'a first line' ''
bad 2:2 'text in UTF-8, found the byte 0x00' "${head}a\000b,0,1,4\n"
bad 2:11 'an offset that is a multiple' '\357\273\277id,lower,upper,size,alignment,offset\na,0,1,4,4,2\n'
bad 2:1 'an id that has not been used, found "a" again' \
    '[{"id":"a","lower":0,"upper":2,"size":4},\n{"id":"a","lower":0,"upper":2,"size":4}]'
printf "${head}x,0,2,8\ny,1,3,8\n" >in
printf 'op,type,inputs,outputs\n0,Relu,x,nobody\n' >ops
refused 1 'ops:2:10: error: expected ids of buffers, found "nobody"' in --ops ops
printf "${head}x,0,2,8\ny,0,3,8\n" >in
printf 'op,type,inputs,outputs\n0,Relu,y,x\n1,Relu,x,y\n' >ops
refused 1 'an operator reads what is made later' in --ops ops --reorder
printf '%s' '[{"id":"ä\u0041\u20AC\"","lower":0,"upper":2,"size":4}]' >in
expect_status 0 $plan in --output -
expect_in_stdout '"äA€""",0,2,4,0'
untouched

# ---- files ----------------------------------------------------------------------------------------
printf "${head}a,0,2,4\nb,1,3,4\n" >right
refused 1 'cannot read nowhere' nowhere
refused 1 'cannot read .' .
refused 1 '/dev/null:1:1: error' /dev/null
refused 1 '<stdin>:1:1: error' -
refused 1 'cannot read nowhere' right --ops nowhere
unwritten() { # TEXT ARGUMENTS…
    text=$1
    shift
    expect_status 1 $plan right --quiet "$@"
    expect_in_stderr "$text"
    [ "$(cat out.csv)" = before ] && [ -z "$(find . -name '*.tmp')" ] || fail "written on an error"
}
unwritten 'cannot write /nonexistent/x' --output out.csv --svg /nonexistent/x
unwritten 'cannot write /dev/full' --output out.csv --svg /dev/full
unwritten 'cannot write /dev/full' --output /dev/full
unwritten 'cannot write .' --output . --svg out.svg
expect_status 1 sh -c "$plan right --output - >/dev/full"
expect_in_stderr 'cannot write -'
cp right same
ln -s same link
expect_status 0 $plan link --output link --quiet
[ -L link ] && [ "$(cat same)" = "id,lower,upper,size,offset
a,0,2,4,0
b,1,3,4,4" ] || fail "a plan over its own input"
chmod 640 same
expect_status 0 $plan same --output same --quiet
[ "$(stat -c %a same)" = 640 ] || fail "the mode of a file that was there changed"
untouched

# ---- command lines --------------------------------------------------------------------------------
for capacity in 0 -1 1.5 1T 1KK 9999999999999999999999 '' ' 5' 5k 0x10 4611686018427387905; do
    refused 2 "--capacity $capacity: expected bytes" right --capacity "$capacity"
done
refused 2 'expected a power of two' right --alignment 3
refused 2 'expected seconds' right --time 0
refused 2 'expected seconds' right --time nan
refused 2 'expected 1 to 64' right --threads 0
refused 2 'expected 1 to 64' right --threads 65
refused 2 'expected a whole number' right --seed -1
refused 2 'one of the two' right --capacity 4 --minimize
refused 2 'only judges' right --check
refused 2 '--compare only prints its table' right --compare
refused 2 'no --capacity' right --memory fast --capacity 4
refused 2 'expected NAME=BYTES' right --memory =4
refused 2 'expected NAME=BYTES' right --memory 'a:b'
refused 2 'needs --ops' right --reorder
expect_status 2 $plan right --output x --svg x
expect_in_stderr 'cannot be the same file'
refused 1 'no plan fits into 7 bytes' right --capacity 7
untouched

# ---- what contradicts itself -----------------------------------------------------------------------
pair='"buffers":[{"id":"a","lower":0,"upper":2,"size":4},{"id":"b","lower":1,"upper":3,"size":4}]'
printf '{%s,"relations":[{"kind":"must_share","a":"a","b":"b"},{"kind":"must_not_share","a":"a","b":"b"}]}' "$pair" >in
refused 1 'no plan is possible' in
printf 'id,lower,upper,size,offset\na,0,2,4,0\nb,1,3,4,2\n' >in
refused 1 'no plan is possible' in
untouched

# ---- several memories, judged ---------------------------------------------------------------------
printf 'id,lower,upper,size,uses\na,0,4,8,2\nb,1,5,8,3\nc,4,6,16,1\n' >in
expect_status 0 $plan in --memory fast=8 --memory slow --output m.csv --svg m.svg --quiet
[ "$(grep -c 'no plan is lower than' m.svg)" -eq 2 ] || fail "a panel for each memory"
expect_status 0 $plan --check m.csv --svg c.svg
expect_stdout 'FINE: slow: 2 buffers, height 16 bytes
FINE: fast: 1 buffers, height 8 bytes'
grep -q '>fast: 1 buffer, height 8 bytes;' c.svg || fail "the picture of a plan that is judged"
expect_status 0 $plan --check m.csv --memory fast=8 --memory slow
expect_status 1 $plan --check m.csv --memory fast=4 --memory slow
expect_stdout 'OUTSIDE: b'
expect_status 1 $plan --check m.csv --memory fast
expect_in_stderr 'in a memory that --memory does not name'
expect_status 1 $plan --check m.csv --capacity 99
expect_in_stderr 'has several memories'
printf 'id,lower,upper,size,offset,memory\na,0,4,8,0,f\nb,1,5,8,0,f\nc,0,4,8,0,s\n' >in
expect_status 1 $plan --check in
expect_stdout 'OVERLAP: a and b'
printf 'id,lower,upper,size,offset,memory\na,0,4,8,0,f\nb,1,5,8,0,\n' >in
expect_status 1 $plan --check in
expect_in_stderr 'b is in no memory'

# ---- what a picture says of strange names ---------------------------------------------------------
printf "id,lower,upper,size,gaps\n\"<a&\"\"'>\",0,9,8,3-5@0:2\n" >in
expect_status 0 $plan in --svg s.svg --quiet
grep -q "<title>&lt;a&amp;\"'&gt;\$" s.svg || fail "the name is escaped"
[ "$(grep -c '<rect x=' s.svg)" -eq 3 ] || fail "two stretches and the window between"
