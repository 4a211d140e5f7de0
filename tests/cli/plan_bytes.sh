# Plans of reordered and in-place graphs are executed on bytes: what an operator reads must be what was made, in the
# order that is said, and results must be there at the end.
graphs=$MASU_TMP/graphs
mkdir -p "$graphs"
execute() { # OPS PLAN ORDER
    awk -f tests/cli/plan_bytes.awk "$1" "$2" "$3" >"$MASU_TMP/lost" ||
        fail "$4: $(cat "$MASU_TMP/lost")
operators: $(cat "$1")
plan: $(cat "$2")
$(cat "$3")"
}
number=0
while [ "$number" -lt 60 ]; do
    number=$((number + 1))
    awk -v draw="$number" -v folder="$graphs" -f tests/cli/plan_bytes.awk
    name=$graphs/$number
    for how in '' --in-place --reorder '--in-place --reorder' '--in-place --reorder --memory fast=8 --memory slow'; do
        # shellcheck disable=SC2086 # options, split at spaces
        expect_status 0 "$MASU" plan "$name.csv" --ops "$name.ops.csv" $how --time 1 --output "$name.plan.csv"
        execute "$name.ops.csv" "$name.plan.csv" "$MASU_TMP.stdout" "graph $number, $how"
    done
done

# The execution can fail: one buffer over another, a result that is written over, an order that reads too early.
ops=$MASU_TMP/ops
printf 'op,type,inputs,outputs\n0,Conv,x,a\n1,Relu,a,b\n2,Conv,x,c\n' >"$ops"
: >"$MASU_TMP/none"
echo 'order: run 0 1 2' >"$MASU_TMP/order"
wrong() { # WHAT-IT-SAYS PLAN-ROWS
    { echo 'id,lower,upper,size,offset'; printf "$2"; } >"$MASU_TMP/wrong.csv"
    ! awk -f tests/cli/plan_bytes.awk "$ops" "$MASU_TMP/wrong.csv" "$MASU_TMP/order" >"$MASU_TMP/said" || fail "not lost: $2"
    grep -q "$1" "$MASU_TMP/said" || fail "says: $(cat "$MASU_TMP/said")"
}
wrong "byte 3 of x is a's when operator 0 reads it" 'x,0,3,4,0\na,0,2,4,3\nb,1,3,4,8\nc,2,3,4,12\n'
wrong "byte 0 of b is c's at the end" 'x,0,3,4,0\na,0,2,4,4\nb,1,3,4,4\nc,2,3,4,4\n'
wrong "of a is b's" 'x,0,3,4,0\na,0,2,4,4\nb,1,3,4,5\nc,2,3,4,12\n'
