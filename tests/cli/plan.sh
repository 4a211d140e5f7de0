# masu plan: rows of every kind, good and bad, and what comes out. Nothing is written on an error.
plan="$MASU plan"
file=$MASU_TMP/in.csv
write() { printf "$1" >"$file"; } # FORMAT

# ---- the worked example, every way in -------------------------------------------------------------
rows='b1,0,3,4\nb2,3,9,4\nb3,0,9,4\nb4,9,21,4\nb5,0,21,4\n'
write "id,lower,upper,size\n$rows"
expect_status 0 $plan "$file"
expect_in_stdout '5 buffers, height 12 bytes, optimal'
expect_status 0 $plan "$file" --capacity 12 --output -
expect_in_stdout 'id,lower,upper,size,offset'
expect_in_stderr 'optimal'
[ "$(wc -l <"$MASU_TMP.stdout")" -eq 6 ] || fail "a header and five rows"
expect_status 0 $plan "$file" --output "$MASU_TMP/out.json" --svg "$MASU_TMP/out.svg" --quiet
expect_stdout ''
expect_status 0 $plan --check "$MASU_TMP/out.json"
expect_in_stdout 'FINE: 5 buffers, height 12 bytes'
grep -q '<title>b3' "$MASU_TMP/out.svg" || fail "hovering does not name b3"
[ "$(grep -c '<rect x=' "$MASU_TMP/out.svg")" -eq 5 ] || fail "five rectangles"
expect_status 0 $plan "$file" --compare --time 1
expect_in_stdout 'valleys by area'
expect_in_stdout 'first fit by area'

same() { # what FILE says is the example
    expect_status 0 $plan "$file"
    expect_in_stdout '5 buffers, height 12 bytes, optimal'
}
write 'id,lower,upper,size\r\nb1,0,3,4\r\nb2,3,9,4\r\nb3,0,9,4\r\n\r\nb4,9,21,4\r\nb5,0,21,4\r\n' && same
printf '\357\273\277id,lower,upper,size\n'"$rows" >"$file" && same
write "id,lower,upper,size\nb1,0,3,4\nb2,3,9,4\nb3,0,9,4\nb4,9,21,4\nb5,0,21,4" && same
write 'id\tlower\tupper\tsize\nb1\t0\t3\t4\nb2\t3\t9\t4\nb3\t0\t9\t4\nb4\t9\t21\t4\nb5\t0\t21\t4\n' && same
write 'id,start,end,size\nb1,0,2,4\nb2,3,8,4\nb3,0,8,4\nb4,9,20,4\nb5,0,20,4\n' && same
write 'size,note,upper,lower,id\n4,x,3,0,b1\n4,,9,3,b2\n4,"a,b",9,0,b3\n4,x,21,9,b4\n4,x,21,0,"b""5"\n' && same
write '[{"id":"b1","lower":0,"upper":3,"size":4},{"id":2,"lower":3,"upper":9,"size":4},
{"id":3,"lower":0,"upper":9,"size":4,"more":{"a":[1,{}]}},{"id":4,"lower":9,"upper":21,"size":4},{"id":5,"lower":0,"upper":21,"size":4}]' && same
expect_status 0 sh -c "$plan - <'$file'"

# ---- what the columns mean ------------------------------------------------------------------------
write 'id,lower,upper,size,alignment,gaps,offset,hint\na,0,8,10,,2-6,,\nb,2,6,10,4,,,\n'
expect_status 0 $plan "$file"
expect_in_stdout 'height 10 bytes, optimal'
write 'id,lower,upper,size,gaps\na,0,8,10,2-6@0:3\nb,2,6,7,\n'
expect_status 0 $plan "$file" --output "$MASU_TMP/window.json"
expect_in_stdout 'height 10 bytes, optimal'
grep -q '\[2, 6, 0, 3\]' "$MASU_TMP/window.json" || fail 'the window is written'
expect_status 0 $plan --check "$MASU_TMP/window.json"
expect_status 0 $plan "$file" --output -
expect_in_stdout '2-6@0:3'
write 'id,lower,upper,size,hint\na,0,9,4,4\nb,0,9,4,0\n'
expect_status 0 $plan "$file" --output -
expect_in_stdout 'a,0,9,4,4'
write 'id,lower,upper,size,offset\na,0,9,4,6\nb,0,9,6,\nc,3,9,2,\n'
expect_status 0 $plan "$file" --output -
expect_in_stdout 'a,0,9,4,6'
write 'id,lower,upper,size\n'
expect_status 0 $plan "$file"
expect_in_stdout '0 buffers, height 0 bytes, optimal'
write 'id,lower,upper,size\na,-5,9,2199023255552\nb,-9223372036854775808,0,2199023255552\n'
expect_status 0 $plan "$file"
expect_in_stdout '4,398,046,511,104 bytes'
write '{"capacity": 8, "buffers": [{"id":"a","lower":0,"upper":2,"size":4},{"id":"b","lower":1,"upper":3,"size":4}],
 "relations": [{"kind":"may_share","a":"a","b":"b"}]}'
expect_status 0 $plan "$file"
expect_in_stdout 'height 4 bytes, optimal'

# ---- no plan --------------------------------------------------------------------------------------
write "id,lower,upper,size\n$rows"
expect_status 1 $plan "$file" --capacity 11 --output "$MASU_TMP/none.csv"
expect_stdout ''
expect_in_stderr 'at least 12 bytes are needed'
expect_in_stderr 'these 3 buffers alone cannot be placed: b1 b3 b5'
[ ! -e "$MASU_TMP/none.csv" ] || fail "written although there is no plan"

# ---- the judge ------------------------------------------------------------------------------------
judged() { # VERDICT ROWS [OPTIONS [COLUMN]]
    verdict=$1
    write "id,lower,upper,size,alignment,offset${4:+,$4}\n$2"
    expect_status 1 $plan --check "$file" ${3:-}
    expect_in_stdout "$verdict"
}
judged 'OVERLAP: a and b' 'a,0,4,4,1,0\nb,3,5,4,1,3\n'
judged 'MISALIGNED: a' 'a,0,4,4,8,4\n'
judged 'OUTSIDE: a' 'a,0,4,4,1,4\n' '--capacity 7'
write 'id,lower,upper,size\na,0,4,4\n'
expect_status 1 $plan --check "$file"
expect_in_stderr 'no offset'

# What holds between rows is in the table, too: a plan in place is judged right from its own file, and is the next plan's.
write 'id,lower,upper,size\nx 1,0,2,8\ny,1,3,8\nz,2,4,8\n'
expect_status 0 $plan "$file"
expect_in_stdout 'height 16 bytes, optimal'
write 'id,lower,upper,size,May_Share\nx 1,0,2,8,\ny,1,3,8,x\\ 1\nz,2,4,8, y \n'
expect_status 0 $plan "$file" --output "$MASU_TMP/place.csv"
expect_in_stdout 'height 8 bytes, optimal'
grep -q '^y,1,3,8,0,x\\ 1$' "$MASU_TMP/place.csv" || fail "what y lies over is not in its row"
expect_status 0 $plan --check "$MASU_TMP/place.csv"
expect_in_stdout 'FINE: 3 buffers, height 8 bytes'
sed 's/,[^,]*$//' "$MASU_TMP/place.csv" >"$file" # without the last column nothing may lie over another
expect_status 1 $plan --check "$file"
expect_in_stdout 'OVERLAP: x 1 and y'
write '[{"id":"a","lower":0,"upper":9,"size":4},{"id":"b","lower":0,"upper":9,"size":2},{"id":"c","lower":20,"upper":21,"size":4},
{"id":"d,e","lower":0,"upper":9,"size":1}]'
write "{\"buffers\": $(cat "$file"), \"relations\": [{\"kind\": \"must_share\", \"a\": \"d,e\", \"b\": \"b\"}, {\"kind\": \"must_not_share\", \"a\": \"a\", \"b\": \"c\"},
 {\"kind\": \"must_not_share\", \"a\": \"b\", \"b\": \"c\"}]}"
expect_status 0 $plan "$file" --output "$MASU_TMP/tied.csv"
expect_in_stdout 'height 10 bytes, optimal'
expect_status 0 $plan --check "$MASU_TMP/tied.csv"
expect_status 0 $plan "$MASU_TMP/tied.csv" --output "$MASU_TMP/tied.json" --quiet
[ "$(grep -c '"kind": ' "$MASU_TMP/tied.json")" -eq 3 ] || fail "three relations go from JSON to CSV and back"
judged 'TOGETHER: a and c' 'a,0,4,4,1,0,\nc,5,6,4,1,2,a\n' '' must_not_share
judged 'APART: a and c' 'a,0,4,4,1,0,\nc,5,6,4,1,4,a\n' '' must_share

# All are fixed, in holes of a group and out of them: b lies in what w keeps of its gap, or below that.
fixed() { # STATUS OFFSET
    write '{"buffers": [{"id":"w","lower":1,"upper":3,"size":4,"gaps":[[1,2,3,4]],"offset":0},{"id":"v","lower":4,"upper":5,"size":1,"offset":0},
 {"id":"b","lower":1,"upper":2,"size":1,"offset":'$2'}], "relations": [{"kind":"must_share","a":"w","b":"v"}]}'
    expect_status $1 $plan "$file"
}
fixed 0 1
fixed 1 3
expect_in_stderr 'no plan'
grep -q 'none is ruled out' "$MASU_TMP.stderr" && fail "where all are fixed, one plan is looked at, and that is the proof"

# ---- bad rows: file, line, column, what was expected ----------------------------------------------
bad() { # PLACE EXPECTED TEXT
    printf "$3" >"$file"
    expect_status 1 $plan "$file" --output "$MASU_TMP/bad.csv" --svg "$MASU_TMP/bad.svg"
    expect_stdout ''
    expect_in_stderr "$file:$1: error: "
    expect_in_stderr "$2"
    [ ! -e "$MASU_TMP/bad.csv" ] && [ ! -e "$MASU_TMP/bad.svg" ] || fail "written on an error"
}
head='id,lower,upper,size\n'
bad 1:1 'a first line' ''
bad 1:15 'a column named size' 'id,lower,upper\na,0,1\n'
bad 3:9 'ids of other buffers, separated by spaces, found "no"' 'id,lower,upper,size,may_share\na,0,2,4,\nb,0,2,4,a no\n'
bad 2:9 'ids of other buffers' 'id,lower,upper,size,may_share\na,0,2,4,a\n'
bad 1:13 'a column named lower' 'id,uppe,size\n'
bad 1:10 'each column once' 'id,lower,lower,size\n'
bad 2:6 'a life of at least one moment' "${head}a,10,10,4\n"
bad 2:5 'an end behind the beginning' "${head}a,9,2,4\n"
bad 2:7 'not negative' "${head}a,0,1,-4\n"
bad 2:7 'below 2^64' "${head}a,0,1,18446744073709551616\n"
bad 2:7 'a size below 2^62' "${head}a,0,1,9223372036854775807\n"
bad 2:3 'a whole number' "${head}a,x,1,4\n"
bad 2:3 'between -2^63 and 2^63' "${head}a,99999999999999999999,1,4\n"
bad 2:6 'expected 4 fields, found 3' "${head}a,0,1\n"
bad 2:9 'no more fields' "${head}a,0,1,4,5\n"
bad 4:1 'found "a" again' "${head}a,0,1,4\nb,0,1,4\na,0,1,4\n"
bad 2:1 'an id' "${head},0,1,4\n"
bad 2:1 'a closing quote' "${head}\"a,0,1,4\n"
bad 3:1 'add up to less than 2^62' "${head}a,0,1,3000000000000000000\nb,5,6,3000000000000000000\n"
bad 2:9 'from-to' 'id,lower,upper,size,gaps\na,0,9,4,3\n'
bad 2:9 'a window of the gap as @from:to' 'id,lower,upper,size,gaps\na,0,9,4,3-4@2:1\n'
bad 2:9 'windows inside the buffer' 'id,lower,upper,size,gaps\na,0,9,4,3-4@1:5\n'
bad 2:9 'gaps inside the life' 'id,lower,upper,size,gaps\na,0,9,4,3-12\n'
bad 2:9 'a power of two' 'id,lower,upper,size,alignment\na,0,9,4,3\n'
bad 1:1 'a list named buffers' '{"capacity": 3}'
bad 1:14 'an object' '{"buffers": [3]}'
bad 1:14 'id, lower, upper and size' '{"buffers": [{"id": 1}]}'
bad 1:21 'the end of the file' '{"buffers": []}     x'
bad 1:46 'not negative' '[{"id":"a","lower":0,"upper":2,      "size": -3}]'
bad 1:1 'text in UTF-8, found the byte 0x00' '\0\0'

# ---- graphs and memories --------------------------------------------------------------------------
write 'id,lower,upper,size\nx,0,1,8\ny,0,2,8\nz,1,3,8\n'
printf 'op,type,inputs,outputs\n0,Relu,x,y\n1,Relu,y,z\n' >"$MASU_TMP/ops.csv"
expect_status 0 $plan "$file" --ops "$MASU_TMP/ops.csv" --in-place
expect_in_stdout 'height 8 bytes, optimal'
expect_status 0 $plan "$file" --ops "$MASU_TMP/ops.csv" --reorder
expect_in_stdout 'order: peak 16 bytes'
expect_status 0 $plan "$file" --memory fast=8 --memory slow=1K --output -
expect_in_stdout 'offset,memory'
expect_in_stderr 'fast: '
expect_status 1 $plan "$file" --memory fast=4 --memory slow=8
expect_in_stderr 'does not fit into slow'
printf 'op,type,inputs,outputs\n0,Relu,x,nobody\n' >"$MASU_TMP/ops.csv"
expect_status 1 $plan "$file" --ops "$MASU_TMP/ops.csv"
expect_in_stderr "ops.csv:2:10: error: expected ids of buffers"

# What nothing reads is a result: it is there at the end of every order. What no operator names lives as it did.
ops=$MASU_TMP/ops.csv
write 'id,lower,upper,size\nimage,0,2,90\nmask,0,2,3\nlabel,1,2,3\n'
printf 'op,type,inputs,outputs\nfirst,Conv,image,mask\nsecond,Conv,image,label\n' >"$ops"
expect_status 0 $plan "$file" --ops "$ops" --reorder
expect_in_stdout 'height 96 bytes, optimal'
expect_in_stdout '; run first second'
write 'id,lower,upper,size\nin,0,1,2\nloose,0,1,6\nt,0,2,9\nu,1,3,9\n'
printf 'op,type,inputs,outputs\n0,Conv,in,t\n1,Conv,t,u\n2,Output,u,\n' >"$ops"
expect_status 0 $plan "$file" --ops "$ops" --reorder
expect_in_stdout 'order: peak 18 bytes'
# What outlives its last reader is not written over, wherever that reader runs.
write 'id,lower,upper,size\nx,0,3,50\nkept,0,3,5\ny,1,3,5\nz,2,3,5\n'
printf 'op,type,inputs,outputs\n0,Conv,x,kept\n1,Relu,kept,y\n2,Conv,x,z\n' >"$ops"
expect_status 0 $plan "$file" --ops "$ops" --reorder --in-place --output "$MASU_TMP/kept.csv" --quiet
awk -F, 'NR > 1 && $1 != "x" { if (seen[$5]++) exit 1 }' "$MASU_TMP/kept.csv" ||
    fail "three results that are there at the end share a place"
# Lives and operators agree, or the operator is named.
write 'id,lower,upper,size\na,0,1,4\nb,1,3,4\n'
printf 'op,type,inputs,outputs\n0,Conv,,a\n1,Conv,a,b\n' >"$ops"
expect_status 1 $plan "$file" --ops "$ops"
expect_in_stderr 'ops.csv:3:1: error: expected a to live when operator 1 reads it, at moment 1; its life is 0 to 1'
# A buffer fits in place where it would not beside its input.
write 'id,lower,upper,size\na,0,2,4\nb,1,3,4\n'
printf 'op,type,inputs,outputs\n0,Input,,a\n1,Relu,a,b\n2,Output,b,\n' >"$ops"
expect_status 0 $plan "$file" --ops "$ops" --in-place --memory fast=4 --memory slow=1
# Groups with a tie come whole to one memory; what nothing uses does not overlap.
write '{"buffers":[{"id":"a","lower":0,"upper":4,"size":6},{"id":"b","lower":0,"upper":4,"size":6},
{"id":"c","lower":7,"upper":9,"size":3}],"relations":[{"kind":"must_share","a":"c","b":"b"}]}'
expect_status 0 $plan "$file" --memory fast=6 --memory slow --output "$MASU_TMP/tied.json" --quiet
expect_status 0 $plan --check "$MASU_TMP/tied.json"
write 'id,lower,upper,size,alignment,uses\na,0,1,1,4,0\nf,0,1,1,4,0\nb,0,1,3,1,1\n'
expect_status 1 $plan "$file" --memory fast=2 --memory slow=3
expect_in_stderr 'does not fit into slow'
# A fixed buffer is as high as it ends, whatever a window leaves of it.
write 'id,lower,upper,size,gaps,offset\na,4,6,5,4-6@1:2,2\n'
expect_status 0 $plan "$file"
expect_in_stdout 'height 7 bytes, optimal'

# ---- used wrongly ---------------------------------------------------------------------------------
wrong() { # TEXT ARGUMENTS…
    text=$1
    shift
    expect_status 2 $plan "$@"
    expect_stdout ''
    expect_in_stderr "$text"
}
wrong 'which file'
wrong 'did you mean `--capacity`' --capacty 3 "$file"
wrong 'expected bytes' --capacity 3X "$file"
wrong 'expected seconds' --time -1 "$file"
wrong 'one of the two' --minimize --capacity 4 "$file"
wrong 'is too many' "$file" "$file"
wrong 'needs --ops' --in-place "$file"
wrong 'NAME=BYTES' --memory fast= "$file"
wrong 'a value is missing' "$file" --svg
wrong 'only judges' --check --compare "$file"
wrong 'leave --time out' --check --time 1 "$file"
wrong 'leave --seed out' --seed 3 --check "$file"
wrong 'leave --threads out' --verify --threads 1 "$file"
expect_status 1 $plan "$MASU_TMP/nowhere.csv"
expect_in_stderr 'cannot read'

# ---- memories -------------------------------------------------------------------------------------
write 'id,lower,upper,size,uses\na,0,4,8,2\nb,1,5,8,3\nc,4,6,16,1\n'
expect_status 0 $plan "$file" --memory fast=8 --memory slow --output -
expect_in_stdout 'b,1,5,8,3,0,fast'
expect_in_stdout 'c,4,6,16,1,0,slow'
expect_status 2 $plan "$file" --memory fast=8 --memory fast=16
expect_in_stderr 'each name once'
expect_status 2 $plan "$file" --memory fast=0 --memory slow
expect_status 1 $plan "$file" --memory fast=8 --memory slow=8
expect_in_stderr 'what is left does not fit into slow'
write 'id,lower,upper,size,uses\na,0,4,4611686018427387,9000000\n'
expect_status 0 $plan "$file" --memory slow
expect_in_stdout 'traffic 18,446,744,073,709,551,615'

# ---- late ---------------------------------------------------------------------------------------------
# A first plan that needs longer than --time comes all the same, and it is said how long it took.
awk 'BEGIN { print "id,lower,upper,size"; for (i = 0; i < 600000; i++) print i "," i % 9973 "," i % 9973 + 1 + i % 61 "," 64 + i % 4099 }' >"$file"
expect_status 0 $plan "$file" --time 0.001
expect_in_stdout '600000 buffers'
expect_in_stderr 'masu plan: --time 0.001 was over before the first plan was there: with 600000 buffers it took'
