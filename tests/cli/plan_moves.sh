# masu plan --moves: values that move between memories; weights, pins and reserved bytes.
plan="$MASU plan"
cat >"$MASU_TMP/v.csv" <<'C'
id,lower,upper,size
a,0,6,8
b,3,4,16
C
# a is made at 0 and read at 1 and 5; b, as large as fast, is made and read between.
cat >"$MASU_TMP/v.ops.csv" <<'C'
op,type,inputs,outputs
0,Conv,,a
1,Conv,a a a a,
2,Conv,,
3,Conv,b,b
4,Conv,,
5,Conv,a a a a a a a a a,
C
v="$MASU_TMP/v.csv --ops $MASU_TMP/v.ops.csv"
fast="--memory fast=16,slow=64"

# ---- what is said ------------------------------------------------------------------------------------------
# With moves 2 × 8 bytes of slow; without: b there (32 bytes) rather than a (14 × 8).
expect_status 0 $plan $v $fast --moves
expect_in_stdout 'cost: 16, proven: none is cheaper'
expect_in_stdout 'one memory for life: 32, proven: none is cheaper; bytes of slow: 32, now 16 (÷ 2.00)'
expect_in_stdout '2 moves:'
expect_in_stdout 'before operator 5'
expect_status 0 $plan $v $fast --moves --channel 3
expect_in_stdout 'cost: 32, proven' # 8 bytes need three operators on each way: a cannot be back
expect_status 0 $plan $v $fast --moves --channel 8 --csv
grep -c '^move,a,' "$MASU_TMP.stdout" | grep -qx 2 || fail "moves: $(cat "$MASU_TMP.stdout")"
expect_status 0 $plan $v $fast --moves --move-cost 0
expect_in_stdout 'cost: 0, proven'
expect_status 0 $plan $v --memory fast=16:latency=1,slow=64:latency=10 --moves
expect_in_stdout "cost: $((14 * 8 + 2 * 16 + 2 * 8 * 11)), proven"
expect_status 0 $plan $v --memory fast=16:bandwidth=8G,slow=64:bandwidth=2G --moves --quiet --json
grep -q '"cost": 4096' "$MASU_TMP.stdout" && grep -q '"cost": 1024' "$MASU_TMP.stdout" || fail "bandwidths: $(cat "$MASU_TMP.stdout")"

# ---- pins, homes, reserved bytes ------------------------------------------------------------------------------
expect_status 0 $plan $v $fast --moves --pin a=fast
expect_in_stdout 'cost: 32, proven'
expect_status 0 $plan $v $fast --moves --home a=slow --csv
grep -q '^place,a,slow,0,' "$MASU_TMP.stdout" || fail "home: $(cat "$MASU_TMP.stdout")"
expect_status 0 $plan $v $fast --moves --reserve fast=0..8
expect_in_stdout 'cost: 32, proven'
expect_status 0 $plan $v $fast --reserve fast=0..8 --csv # no moves: one memory for life
grep -q '^place,a,fast,0,6,8,8,,$' "$MASU_TMP.stdout" && grep -q '^reserved,,fast,0,6,8,0,,$' "$MASU_TMP.stdout" || fail "reserved: $(cat "$MASU_TMP.stdout")"
expect_status 0 $plan "$MASU_TMP/v.csv" $fast --pin b=fast --csv # no operators: uses are those of the column, 1 each
grep -q '^place,b,fast,' "$MASU_TMP.stdout" && grep -q '^place,a,slow,' "$MASU_TMP.stdout" || fail "pin: $(cat "$MASU_TMP.stdout")"
printf 'id,lower,upper,size,offset\na,0,6,8,8\nb,3,4,8,\n' >"$MASU_TMP/at.csv"
expect_status 0 $plan "$MASU_TMP/at.csv" $fast --pin a=fast --csv
grep -q '^place,a,fast,0,6,8,8,,$' "$MASU_TMP.stdout" && grep -q '^place,b,fast,3,4,8,0,,$' "$MASU_TMP.stdout" || fail "offset: $(cat "$MASU_TMP.stdout")"
expect_status 1 $plan "$MASU_TMP/at.csv" --memory fast=16:latency=0,slow:latency=1
expect_in_stderr 'buffer a has an offset: say of which memory, with --pin BUFFER=MEMORY'
expect_status 1 $plan $v --memory fast=16,slow=7 --moves
expect_in_stderr 'no plan is possible: the memories cannot hold these buffers' # a and b at 3: 8 in one, 16 in the other

# Ranges that overlap or touch are one, in whatever order.
for ranges in '--reserve fast=0..6 --reserve fast=4..8' '--reserve fast=4..8 --reserve fast=0..4' '--reserve fast=0..8 --reserve fast=2..3 --reserve fast=0..8'; do
    expect_status 0 $plan $v $fast --moves $ranges --csv
    [ "$(grep -c '^reserved,,fast,' "$MASU_TMP.stdout")" = 1 ] || fail "$ranges: $(cat "$MASU_TMP.stdout")"
    expect_status 0 $plan $v $fast --moves $ranges
    expect_in_stdout 'cost: 32, proven'
done

# ---- files ---------------------------------------------------------------------------------------------------------
expect_status 0 $plan $v $fast --moves --channel 8 --output "$MASU_TMP/out.csv" --svg "$MASU_TMP/out.svg" --header "$MASU_TMP/v_plan.h"
grep -q '^a:2,.*,slow$' "$MASU_TMP/out.csv" && grep -q '<svg' "$MASU_TMP/out.svg" || fail "files: $(cat "$MASU_TMP/out.csv")"
expect_status 0 $plan --check "$MASU_TMP/out.csv" $fast
expect_in_stdout 'FINE: fast: 3 buffers'
cat >"$MASU_TMP/use.c" <<'C'
#include <string.h>
#include "v_plan.h"
static unsigned char fast[V_FAST_ARENA_BYTES + 1], slow[V_SLOW_ARENA_BYTES + 1], *const memory[] = {fast, slow};
/* Operators 0 … 5 with real bytes: a is written at 0 and must be right at 1 and 5, wherever it is then. */
static unsigned char *find(int buffer, int op) {
    for (int i = V_PLACE_COUNT - 1; i >= 0; i--)
        if (v_places[i].buffer == buffer && v_places[i].begin <= op && op < v_places[i].end) {
            int ready = 1;
            for (int k = 0; k < V_MOVE_COUNT; k++)
                if (v_moves[k].buffer == buffer && v_moves[k].to == v_places[i].memory && v_moves[k].begin == v_places[i].begin && v_moves[k].end > op)
                    ready = 0;
            if (ready)
                return memory[v_places[i].memory] + v_places[i].offset;
        }
    return 0;
}
int main(void) {
    int next = 0, wrong = 0;
    for (int op = 0; op < 6; op++) {
        for (; next < V_MOVE_COUNT && v_moves[next].end <= op; next++)
            memcpy(memory[v_moves[next].to] + v_moves[next].to_offset, memory[v_moves[next].from] + v_moves[next].from_offset, v_moves[next].bytes);
        if (op == 0)
            memset(find(0, op), 'a', 8);
        if (op == 3)
            memset(find(1, op), 'b', 16);
        if (op == 1 || op == 5)
            wrong |= memcmp(find(0, op), "aaaaaaaa", 8) != 0;
    }
    return wrong || V_MOVE_COUNT != 2 || V_MEMORY_COUNT != 2;
}
C
cc -std=c11 -Wall -Wextra -Werror -I "$MASU_TMP" "$MASU_TMP/use.c" -o "$MASU_TMP/use" || fail "the header: $(cat "$MASU_TMP/v_plan.h")"
"$MASU_TMP/use" || fail "the moves of the header leave other bytes"

# ---- in place, and in another order ---------------------------------------------------------------------------------
printf 'id,lower,upper,size\nx,0,1,16\na,0,2,16\nb,1,3,16\nc,2,4,16\n' >"$MASU_TMP/chain.csv"
printf 'op,type,inputs,outputs\n0,Conv,x,a\n1,Relu,a,b\n2,Reshape,b,c\n3,Conv,c,\n' >"$MASU_TMP/chain.ops.csv"
chain="$MASU_TMP/chain.csv --ops $MASU_TMP/chain.ops.csv $fast --moves"
expect_status 0 $plan $chain
expect_in_stdout 'cost: 48, proven' # x, or a once and b once more
expect_status 0 $plan $chain --in-place --output "$MASU_TMP/chain.json"
expect_in_stdout 'cost: 16, proven' # x alone: a, b and c are one place of fast, and the Reshape reads nothing
expect_in_stdout 'in place: 2 of 2 results that may, 32 bytes'
expect_status 0 $plan --check "$MASU_TMP/chain.json" $fast
expect_in_stdout 'FINE: fast: 3 buffers'
# Two branches of a diamond: one after the other they fit, side by side they do not.
printf 'id,lower,upper,size\nx,0,2,4\na,0,3,12\nb,1,4,12\nc,2,5,4\nd,3,5,4\n' >"$MASU_TMP/two.csv"
printf 'op,type,inputs,outputs\nfirst,Conv,x,a\nsecond,Conv,x,b\nthird,Conv,a,c\nfourth,Conv,b,d\nfifth,Add,c d,\n' >"$MASU_TMP/two.ops.csv"
two="$MASU_TMP/two.csv --ops $MASU_TMP/two.ops.csv --memory fast=20,slow --moves"
expect_status 0 $plan $two
expect_in_stdout 'cost: 24, proven'
expect_status 0 $plan $two --reorder --in-place --header "$MASU_TMP/two_plan.h"
expect_in_stdout 'cost: 0, proven'
expect_in_stdout 'run first third second fourth fifth'
grep -q 'two_order\[5\] = {0, 2, 1, 3, 4};' "$MASU_TMP/two_plan.h" || fail "order: $(cat "$MASU_TMP/two_plan.h")"
expect_status 0 $plan $two --reorder --json
grep -q '"order": \[0, 2, 1, 3, 4\]' "$MASU_TMP.stdout" || fail "order: $(cat "$MASU_TMP.stdout")"
printf 'op,type,inputs,outputs\n0,Conv,b,a\n1,Conv,x,b\n' >"$MASU_TMP/late.ops.csv"
printf 'id,lower,upper,size\nx,0,2,4\na,0,2,4\nb,0,2,4\n' >"$MASU_TMP/late.csv"
expect_status 1 $plan "$MASU_TMP/late.csv" --ops "$MASU_TMP/late.ops.csv" $fast --moves --reorder
expect_in_stderr 'an operator reads what is made later'
# Drawn graphs: byte by byte, and every order by itself.
python3 tests/cli/plan_moves_bytes.py "$MASU" "$MASU_TMP" 24 || fail "a plan in place or in another order computes other bytes"

# ---- refused, with what to write instead -----------------------------------------------------------------------------
misuse() { expect_status 2 $plan "$@"; }
misuse $v --moves
expect_in_stderr '--moves needs two memories or more'
misuse "$MASU_TMP/v.csv" $fast --moves
expect_in_stderr '--moves needs --ops FILE'
cp "$MASU_TMP/v.csv" "$MASU_TMP/own.csv"
misuse "$MASU_TMP/own.csv" --ops "$MASU_TMP/v.ops.csv" $fast --moves --header "$MASU_TMP/own.csv"
expect_in_stderr 'that is the file that is planned'
misuse "$MASU_TMP/own.csv" --svg "$MASU_TMP/../$(basename "$MASU_TMP")/own.csv"
misuse $v $fast --moves --output "$MASU_TMP/v.ops.csv"
expect_in_stderr 'that is the file of operators'
cmp -s "$MASU_TMP/v.csv" "$MASU_TMP/own.csv" || fail 'a table was written over'
ln -sf own.csv "$MASU_TMP/link.csv"
misuse $v --output "$MASU_TMP/own.csv" --svg "$MASU_TMP/link.csv"
expect_in_stderr 'cannot be the same file'
misuse $v $fast --channel 8
expect_in_stderr '--channel is about moves: say --moves, too'
misuse $v --memory fast=16:latency=1,slow --moves
expect_in_stderr 'all memories have :latency=N, or all have :bandwidth=N, or none has a weight'
misuse $v --memory fast=16:latency=1,slow:bandwidth=1G --moves
misuse $v $fast --moves --check
for memory in fast=16:latency fast=16:latency=x fast=16:latency=1048577 fast=16:speed=1 fast=0 fast=16,fast=8 fast=16, ,fast =16 :latency=1 fast=16:bandwidth=0 'fa st=1'; do
    misuse $v --memory "$memory" --memory slow --moves
    expect_in_stderr "expected NAME=BYTES"
done
for pin in a a= =fast a=none ; do
    misuse $v $fast --moves --pin "$pin"
    expect_in_stderr 'expected BUFFER=MEMORY'
done
for range in fast fast=0 fast=8..8 fast=9..8 none=0..8 fast=-1..8 fast=0..x fast=..8 fast=0..; do
    misuse $v $fast --moves --reserve "$range"
    expect_in_stderr 'expected MEMORY=FROM..TO'
done
misuse $v $fast --moves --channel 0
misuse $v $fast --moves --constants none
expect_in_stderr '--constants none: expected a memory that --memory names'
misuse $v $fast --moves --constants slow
expect_in_stderr '--constants is for networks'
misuse $v $fast --moves --move-cost 1048577
expect_status 1 $plan $v $fast --moves --pin z=fast
expect_in_stderr '--pin z: no buffer of'
expect_status 1 $plan $v $fast --moves --pin a=fast --home a=slow
expect_in_stderr 'buffer a stays in one memory by --pin and begins in another by --home'
expect_status 1 $plan $v $fast --moves --pin a=fast --pin a=slow
expect_status 1 $plan $v $fast --moves --reserve fast=0..17
expect_in_stderr 'no plan is possible'
printf 'id,lower,upper,size,gaps\na,0,6,8,2-4\nb,3,4,16,\n' >"$MASU_TMP/gaps.csv"
expect_status 1 $plan "$MASU_TMP/gaps.csv" --ops "$MASU_TMP/v.ops.csv" $fast --moves
expect_in_stderr 'buffer a has gaps'
printf 'id,lower,upper,size\na,0,9000000,8\nb,3,4,16\n' >"$MASU_TMP/long.csv"
expect_status 1 $plan "$MASU_TMP/long.csv" --ops "$MASU_TMP/v.ops.csv" $fast --moves
expect_in_stderr 'a moment is an operator'
printf 'id,lower,upper,size\na,0,6,1125899906842624\nb,3,4,16\n' >"$MASU_TMP/huge.csv"
expect_status 1 $plan "$MASU_TMP/huge.csv" --ops "$MASU_TMP/v.ops.csv" $fast --moves
expect_in_stderr 'add up beyond 2^50'

# ---- a network of .onnx, and those of $MASU_DATA ---------------------------------------------------------------------
for python in /usr/bin/python3 python3; do "$python" -c 'import numpy' 2>/dev/null && break || python=; done
if [ -n "$python" ]; then
    "$python" - "$MASU_TMP/net.onnx" <<'PY' || fail "the network"
import sys
sys.path.insert(0, "tests/cli")
from onnx_write import graph, info, model, node
# x is read at once and again at the end; between, two large ones fill the fast memory.
made = graph([node("Relu", ["x"], ["a"]), node("Concat", ["a", "a"], ["b"], axis=0), node("Relu", ["b"], ["c"]), node("ReduceSum", ["c"], ["d"], keepdims=1),
              node("Add", ["d", "x"], ["e"]), node("Mul", ["e", "x"], ["f"]), node("Sub", ["f", "x"], ["y"])], [info("x", (64,))], [info("y", (64,))])
open(sys.argv[1], "wb").write(model(made))
PY
    expect_status 0 $plan "$MASU_TMP/net.onnx" --memory fast=1K,slow --moves --alignment 4
    expect_in_stdout 'proven: none is cheaper'
    expect_status 0 $plan "$MASU_TMP/net.onnx" --memory fast=1K,slow --moves --header "$MASU_TMP/net_plan.h" --quiet
    # Three constants in slow, 64 floats each; with moves that are free the channel brings them before their operators.
    "$python" - "$MASU_TMP/weights.onnx" <<'PY' || fail "the network with weights"
import sys
sys.path.insert(0, "tests/cli")
import numpy as np
from onnx_write import graph, info, model, node
w = [("w%d" % i, np.zeros(64, np.float32)) for i in range(3)]
made = graph([node("Add", ["x", "w0"], ["a"]), node("Mul", ["a", "w1"], ["b"]), node("Add", ["b", "w2"], ["y"])], [info("x", (64,))], [info("y", (64,))], w)
open(sys.argv[1], "wb").write(model(made))
PY
    weights="$MASU_TMP/weights.onnx --memory fast=1K,slow --constants slow"
    expect_status 0 $plan $weights # for life: they stay where they begin
    expect_in_stdout 'one memory for life: cost 768, proven'
    expect_status 0 $plan $weights --moves
    expect_in_stdout 'cost: 768, proven'
    expect_status 0 $plan $weights --moves --move-cost 0 --channel 256
    expect_in_stdout 'cost: 0, proven' # the first comes before the first operator
    expect_status 0 $plan $weights --moves --move-cost 0 --channel 128
    expect_in_stdout 'cost: 512, proven' # two operators for each: only one is there in time
    grep -q 'NET_MOVE_COUNT' "$MASU_TMP/net_plan.h" || fail "header: $(cat "$MASU_TMP/net_plan.h")"
fi
# ---- MobileNet v2: what a block begins with is read twice, and may lie in slow while the block is wide -------------------
v2=$MASU_TMP/v2 tail=$MASU_TMP/tail
awk -v out="$v2" -f tests/cli/mobilenet_v2.awk
awk -v out="$tail" -v tail=1 -f tests/cli/mobilenet_v2.awk
expect_status 0 $plan "$v2.csv"
expect_in_stdout 'height 1,505,280 bytes'
# The first rows have no shortcut and are wider than fast: what they move to and fro is most of the traffic.
expect_status 0 $plan "$v2.csv" --ops "$v2.ops.csv" --memory fast=928256,slow --moves
expect_in_stdout 'cost: 2,558,976, proven: none is cheaper'
expect_in_stdout 'one memory for life: 2,634,240, proven: none is cheaper; bytes of slow: 2,634,240, now 2,558,976 (÷ 1.03)'
# The peak of the rest is inside a block with a shortcut, 75,264 bytes: for life three times that, moved out twice.
expect_status 0 $plan "$tail.csv" --ops "$tail.ops.csv" --memory fast=903168,slow --moves
expect_in_stdout 'cost: 150,528, proven: none is cheaper'
expect_in_stdout 'one memory for life: 225,792, proven: none is cheaper; bytes of slow: 225,792, now 150,528 (÷ 1.50)'
expect_in_stdout '1 move:'
expect_in_stdout '  2: fast at 451584'
expect_status 0 $plan "$tail.csv" --ops "$tail.ops.csv" --memory fast=978432,slow --moves # it fits: nothing moves
expect_in_stdout 'cost: 0, proven: none is cheaper'

data=${MASU_DATA:-../shared/data}/models
[ -f "$data/tflm_mobilenet_v2_quantized_1x3x224x224.csv" ] || exit 0
mobile=$data/tflm_mobilenet_v2_quantized_1x3x224x224
expect_status 0 $plan "$mobile.csv" --ops "$mobile.ops.csv" --memory sram=256K,psram=16M --moves
expect_in_stdout 'cost: 13,958,912, proven: none is cheaper'
expect_status 0 $plan "$mobile.csv" --ops "$mobile.ops.csv" --memory sram=256K,psram=16M --moves --in-place --reorder
expect_in_stdout 'proven: none is cheaper'
expect_in_stdout 'results that may'
