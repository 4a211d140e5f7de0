# masu plan against files and command lines that mean harm: each is refused with its place, or means what the
# documentation says; nothing is written, and what stood in the files stays.
plan="$MASU plan"
cd "$MASU_TMP"
echo before >out.csv
echo before >out.svg

refused() { # STATUS TEXT ARGUMENTS…   on standard error, and both files are as they were
    status=$1 text=$2
    shift 2
    expect_status "$status" $plan "$@" --output out.csv --svg out.svg
    expect_stdout ''
    expect_in_stderr "$text"
    [ "$(cat out.csv out.svg)" = "before
before" ] || fail "written on an error"
    [ -z "$(find . -name '*.tmp')" ] || fail "left behind: $(find . -name '*.tmp')"
}
bad() { # PLACE EXPECTED FORMAT
    printf "$3" >in
    refused 1 "in:$1: error: expected $2" in
}
good() { # ANSWER FORMAT ARGUMENTS…
    answer=$1
    printf "$2" >in
    shift 2
    expect_status 0 $plan in --output - "$@"
    expect_in_stdout "$answer"
}

# ---- bytes ----------------------------------------------------------------------------------------
head='id,lower,upper,size\n'
bad 1:1 'a first line' ''
bad 1:1 'a first line' '\r\n\n\r\n'
bad 2:2 'text in UTF-8, found the byte 0x00' "${head}a\000b,0,1,4\n"
bad 2:8 'text in UTF-8, found the byte 0x00' "${head}a,0,1,4\000\n"
bad 2:1 'text in UTF-8, found the byte 0xFF' "${head}\377,0,1,4\n"
bad 2:2 'text in UTF-8, found the byte 0xC3' "${head}a\303,0,1,4\n"
bad 2:1 'text in UTF-8, found the byte 0xC0' "${head}\300\200,0,1,4\n"
bad 1:9 'text in UTF-8, found the byte 0xED' '[{"id":"\355\240\200"}]'
bad 2:7 'a whole number of bytes, not negative, found "4?b"' "${head}a,0,1,4\rb,0,1,4\n"
bad 1:20 'a column named id' 'id;lower;upper;size\na;0;1;4\n'
good 'ä€😀,0,1,4,0' "${head}ä€😀,0,1,4\n"

# ---- tables ---------------------------------------------------------------------------------------
good 'id,lower,upper,size,offset' "$head"
good 'a,0,1,0,0' "${head}a,0,1,0\n"
good '"a, ""b""",0,1,4,0' "${head}\"a, \"\"b\"\"\",0,1,4\r\n"
good 'a,0,1,4,0' "${head}  a , 0 ,\t1, 4 \n"
bad 2:3 'an id, found ""' "${head}  \n"
bad 2:1 'a closing quote' "${head}\"a,0,1,4\nb,0,1,4\n"
bad 2:4 'the end of the field' "${head}\"a\"b,0,1,4\n"
bad 2:3 'a whole number (a moment), found "+1"' "${head}a,+1,2,4\n"
bad 2:3 'a whole number (a moment), found "1.5"' "${head}a,1.5,2,4\n"
bad 2:3 'a whole number (a moment), found "1e3"' "${head}a,1e3,2000,4\n"
bad 2:3 'a whole number (a moment), found ""' "${head}a,,1,4\n"
bad 2:7 'a whole number of bytes, not negative, found "0x10"' "${head}a,0,1,0x10\n"
bad 2:5 'a number between -2^63 and 2^63' "${head}a,0,9223372036854775808,4\n"
bad 2:5 'an end below 2^63 - 1' 'id,start,end,size\na,0,9223372036854775807,4\n'
bad 1:20 'lower,upper or start,end, not both' 'id,start,upper,size\na,0,1,4\n'
bad 2:9 'an offset below 2^62' 'id,lower,upper,size,offset\na,0,1,4,18446744073709551615\n'
bad 2:11 'an offset that is a multiple of the alignment' 'id,lower,upper,size,alignment,offset\na,0,1,4,4,2\n'
bad 2:11 'an offset that is a multiple' '\357\273\277id,lower,upper,size,alignment,offset\na,0,1,4,4,2\n'
bad 2:5 'an alignment below 2^62' 'id,lower,upper,size,alignment\na,0,1,4,9223372036854775808\n'
bad 2:9 'a whole number of bytes, not negative' 'id,lower,upper,size,uses\na,0,1,4,-1\n'
bad 4:1 'sizes that add up to less than 2^62' \
    "${head}a,0,1,2305843009213693951\nb,5,6,2305843009213693951\nc,7,8,9\n"
{ printf "$head" && head -c 3000000 /dev/zero | tr '\0' a && echo ,0,1,x; } >in
refused 1 'in:2:3000006: error: expected a whole number' in
{ printf "$head" && head -c 3000000 /dev/zero | tr '\0' ,; } >in
refused 1 'in:2:1: error: expected an id' in

# ---- JSON -----------------------------------------------------------------------------------------
a='"id":"a","lower":0,"upper":2'
good 'a,0,2,4,0' "[{$a,\"size\":4}]"
good 'a,-9223372036854775808,2,4,0' '[{"id":"a","lower":-9223372036854775808,"upper":2,"size":4}]'
good '"aA€""",0,2,4,0' '[{"id":"a\\u0041\\u20AC\\"","lower":0,"upper":2,"size":4}]'
good '7,0,2,4,0' '{"x":[1.5e-3,{"y":null}],"buffers":[{"id":7,"start":0,"end":1,"size":4}],"z":false}'
bad 1:41 'each name once in a buffer' "[{$a,\"size\":4,\"size\":8}]"
bad 1:42 'an object' "[{$a,\"size\":4},]"
bad 1:41 'a string' "[{$a,\"size\":4,}]"
bad 1:39 'a whole number' "[{$a,\"size\":1e2}]"
bad 1:39 'a number between' "[{$a,\"size\":18446744073709551615}]"
bad 1:39 'a number' "[{$a,\"size\":\"4\"}]"
bad 1:8 'escapes of JSON' '[{"id":"\\ud800"}]'
bad 1:8 'escapes of JSON' '[{"id":"\\q"}]'
bad 1:8 'an id' '[{"id":""}]'
bad 1:8 'a number' '[{"id":null}]'
bad 1:8 'a closing quote' '[{"id":"a'
bad 1:2 'lower and upper or start and end, not both' '[{"id":"a","start":0,"upper":2,"size":4}]'
bad 2:33 'an offset that is a multiple' "[{$a,\n\"size\":4,\"alignment\":4,\"offset\":2}]"
bad 2:1 'an id that has not been used, found "a" again' "[{$a,\"size\":4},\n{$a,\"size\":4}]"
bad 1:15 'each name once' '{"buffers":[],"buffers":[]}'
bad 1:15 'each name once' '{"capacity":4,"capacity":5,"buffers":[]}'
bad 1:13 'a capacity above 0' '{"capacity":0,"buffers":[]}'
bad 1:13 'a whole number of bytes, not negative' '{"capacity":-1,"buffers":[]}'
bad 1:19 'a number' '{"buffers":[],"x":tru}'
bad 1:23 'a comma or }' '{"buffers":[],"x":truex}'
bad 1:19 'a number' '{"buffers":[],"x":+-..e}'
bad 1:2 'buffers before relations' '{"relations":[],"buffers":[]}'
relations="{\"buffers\":[{$a,\"size\":4}],\"relations\":["
bad 1:92 'the id of a buffer above' "$relations{\"kind\":\"must_share\",\"a\":\"b\"}]}"
printf '{"buffers":[],"x":%s}' "$(head -c 100000 /dev/zero | tr '\0' '[')" >in
refused 1 'in:1:84: error: expected less nesting' in

# ---- operators ------------------------------------------------------------------------------------
ops() { # PLACE EXPECTED FORMAT
    printf "${head}x,0,2,8\ny,1,3,8\n" >in
    printf "$3" >ops
    refused 1 "ops:$1: error: expected $2" in --ops ops
}
ops 1:1 'a first line op,type,inputs,outputs' ''
ops 2:10 'ids of buffers, found "nobody"' 'op,type,inputs,outputs\n0,Relu,x,nobody\n'
ops 2:7 'op,type,inputs,outputs' 'op,type,inputs,outputs\n0,Relu\n'
ops 2:11 'the end of the line' 'op,type,inputs,outputs\n0,Relu,x,y,z\n'
ops 2:8 'text in UTF-8' 'op,type,inputs,outputs\n0,Relu,\000,y\n'
printf 'op,type,inputs,outputs\n0,Relu,y,x\n1,Relu,x,y\n' >ops
refused 1 'an operator reads what is made later' in --ops ops --reorder

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
refused 2 'expected NAME=BYTES' right --memory 'a,b'
refused 2 'needs --ops' right --reorder
expect_status 2 $plan right --output x --svg x
expect_in_stderr 'cannot be the same file'
refused 1 'no plan fits into 7 bytes' right --capacity 7

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
