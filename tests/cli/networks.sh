# masu plan of .tflite files: small networks that flatc makes here, and those of $MASU_DATA where it is there.
plan="$MASU plan"
command -v flatc >/dev/null || fail "flatc, which the build needs, is not there"
# Control flow needs the options that the program's own table of fields leaves to its reader.
sed 's/options: ubyte (id: 4, deprecated)/options: Bodies (id: 4)/' src/models/tflite.fbs >"$MASU_TMP/made.fbs"
network() { # NAME: a file from the JSON on standard input
    cat >"$MASU_TMP/$1.json"
    (cd "$MASU_TMP" && flatc --binary made.fbs "$1.json" >flatc.log 2>&1 && mv "$1.bin" "$1.tflite" 2>/dev/null ||
        [ -f "$1.tflite" ]) || fail "flatc: $(cat "$MASU_TMP/flatc.log")"
    [ -z "${KEEP:-}" ] || cp "$MASU_TMP/$1.tflite" "$KEEP/$(cksum <"$MASU_TMP/$1.tflite" | tr ' ' _)" # scripts/fuzz_models.sh
}
codes='operator_codes: [{deprecated_builtin_code: 3}, {deprecated_builtin_code: 2}, {deprecated_builtin_code: 19}, {deprecated_builtin_code: 22},
    {deprecated_builtin_code: 0}, {deprecated_builtin_code: 127, builtin_code: 129}, {deprecated_builtin_code: 118}, {deprecated_builtin_code: 119}, {deprecated_builtin_code: 32, custom_code: "mine"}]'
tensor() { printf '{name: "%s", shape: [%s], type: %s, buffer: %s}' "$1" "$2" "${3:-0}" "${4:-1}"; } # NAME DIMS [TYPE [BUFFER]]
ways() { awk -F, 'NR > 1 { printf "%s%s %s", (NR > 2 ? "; " : ""), $1, $2 } END { print "" }' "$MASU_TMP.stdout"; }
expect_ways() { # FILE HEIGHTS
    expect_status 0 $plan "$1" --csv
    [ "$(ways)" = "$2" ] || fail "$1: $(ways), expected $2"
}

# ---- what a runtime that takes the largest first misses -----------------------------------------------
# x 32 bytes, a 80, b 96, y 96; b is made while x and a wait: 208. Largest first, later first: y at 0, b behind it at 96, … 224.
network skip <<J
{version: 3, $codes, buffers: [{}, {}, {data: [1, 2, 3, 4]}],
 subgraphs: [{tensors: [$(tensor x 8), $(tensor a 20), $(tensor b 24), $(tensor y 24), $(tensor w 1 0 2)], inputs: [0], outputs: [3],
   operators: [{opcode_index: 0, inputs: [0, 4], outputs: [1]}, {opcode_index: 1, inputs: [1, 0], outputs: [2]}, {opcode_index: 0, inputs: [2, 4, -1], outputs: [3]}]}]}
J
skip=$MASU_TMP/skip.tflite
expect_ways "$skip" 'TensorFlow Lite Micro 224; planned 208; in place 208'
expect_status 0 $plan "$skip"
expect_in_stdout '1 graph, 3 operators, 4 tensors in the arena, aligned to 16'
expect_in_stdout 'Not in it: 1 constants (4 bytes)'
expect_in_stdout 'proven: none is lower'
expect_in_stdout 'The peak, 208 bytes, is at operator 1 CONCATENATION:'
expect_in_stdout 'x: float32 8, an input'
expect_in_stdout 'no order with a lower peak was found'
expect_status 0 $plan "$skip" --output "$MASU_TMP/skip.csv" --svg "$MASU_TMP/skip.svg"
expect_status 0 $plan --check "$MASU_TMP/skip.csv"
expect_in_stdout 'FINE: 4 buffers, height 208 bytes'
expect_status 0 $plan "$skip" --json
python3 -c 'import json, sys; t = json.load(open(sys.argv[1])); assert t["ways"][1] == {"way": "planned", "arena": 208, "at_least": 208, "proven": True}, t; assert [b["tensor"] for b in t["buffers"]] == [0, 1, 2, 3]' "$MASU_TMP.stdout" || fail "the table as JSON"
expect_status 1 $plan "$skip" --capacity 207
expect_in_stderr 'no plan fits'
expect_status 0 $plan "$skip" --capacity 208

# ---- the plan in the file -----------------------------------------------------------------------------
expect_status 1 $plan --verify "$skip"
expect_in_stdout 'has no plan: the runtime makes one'
expect_status 0 $plan "$skip" --quiet --write-model "$MASU_TMP/with.tflite"
expect_status 0 $plan --verify "$MASU_TMP/with.tflite"
expect_in_stdout 'FINE: 4 of 4 buffers have an offset, the runtime places 0; arena 208 bytes'
expect_ways "$MASU_TMP/with.tflite" 'TensorFlow Lite Micro 208; planned 208; in place 208'
# A second plan replaces the first; the file stays one that the verifier likes.
expect_status 0 $plan "$MASU_TMP/with.tflite" --quiet --write-model "$MASU_TMP/again.tflite"
expect_status 0 $plan --verify "$MASU_TMP/again.tflite"
(cd "$MASU_TMP" && flatc --json --strict-json --raw-binary --defaults-json made.fbs -- again.tflite) || fail "flatc does not read the file"
python3 - "$MASU_TMP/again.json" <<'PY' || fail "the written file"
import json, struct, sys
m = json.load(open(sys.argv[1]))
assert m["version"] == 3 and len(m["operator_codes"]) == 9 and m["buffers"][2]["data"] == [1, 2, 3, 4], m
plans = [row for row in m["metadata"] if row["name"] == "OfflineMemoryAllocation"]
assert len(plans) == 1
words = struct.unpack("<8i", bytes(m["buffers"][plans[0]["buffer"]]["data"]))
assert words[:3] == (0, 1, 5) and words[7] == -1 and min(words[3:7]) == 0, words
PY

# ---- plans that are wrong -------------------------------------------------------------------------------
bytes_of() { for word in "$@"; do printf '%d,%d,%d,%d,' $((word & 255)) $((word >> 8 & 255)) $((word >> 16 & 255)) $((word >> 24 & 255)); done; }
planned() { # WORDS…: the same network with this plan
    sed "s/buffers: \[{}, {}, {data: \[1, 2, 3, 4\]}\]/buffers: [{}, {}, {data: [1, 2, 3, 4]}, {data: [$(bytes_of "$@" | sed 's/,$//')]}], metadata: [{name: \"OfflineMemoryAllocation\", buffer: 3}]/" \
        "$MASU_TMP/skip.json" | network wrong
}
verdict() { expect_status 1 $plan --verify "$MASU_TMP/wrong.tflite"; expect_in_stdout "WRONG: $1"; }
planned 0 1 5 0 32 112 0 -1
expect_status 0 $plan --verify "$MASU_TMP/wrong.tflite"
expect_in_stdout 'FINE: 4 of 4 buffers have an offset, the runtime places 0; arena 208 bytes'
planned 0 1 5 -1 32 112 0 -1
expect_status 0 $plan --verify "$MASU_TMP/wrong.tflite"
expect_in_stdout 'FINE: 3 of 4 buffers have an offset, the runtime places 1; arena 208 bytes'
planned 0 1 5 0 16 112 0 -1 && verdict 'x (0 to 32) and a (16 to 96) share bytes while both are needed'
planned 0 1 5 0 32 120 0 -1 && verdict 'b has the offset 120, which is not a multiple of 16'
planned 0 1 5 0 32 -16 0 -1 && verdict 'b has the offset -16'
planned 0 1 4 0 32 112 0 && verdict 'the plan is for 4 tensors; the file has 5'
planned 0 1 5 0 32 112 && verdict 'the plan says 5 offsets and ends after 3'
planned 0 1 && verdict 'the plan has 8 bytes'

# Tensors that a custom operator has at one offset do not move; without such a plan it is an operator like others.
custom() { # REST: x 64 and s 64 → mine y 16
    network custom <<J
{version: 3, $codes, $1, subgraphs: [{tensors: [$(tensor x 16), $(tensor s 16), $(tensor y 4)], inputs: [0, 1], outputs: [2],
   operators: [{opcode_index: 8, inputs: [0, 1], outputs: [2]}]}]}
J
}
custom "buffers: [{}, {}, {data: [$(bytes_of 0 1 3 0 0 64 | sed 's/,$//')]}], metadata: [{name: \"OfflineMemoryAllocation\", buffer: 2}]"
expect_status 1 $plan "$MASU_TMP/custom.tflite" --memory fast=64,slow --moves
expect_in_stderr 'operator 0 mine is custom, and the file'"'"'s plan (OfflineMemoryAllocation) has its tensors x and s at one offset'
expect_status 1 $plan "$MASU_TMP/custom.tflite" --memory fast=64,slow --pin x=slow
expect_in_stderr 'mine is custom'
expect_status 0 $plan "$MASU_TMP/custom.tflite" --memory fast=64,slow
custom 'buffers: [{}, {}]'
expect_status 0 $plan "$MASU_TMP/custom.tflite" --memory fast=64,slow --moves

# ---- in place, views, order ---------------------------------------------------------------------------
# x 64 → conv a 64 → relu b 64 → reshape c 64 → conv y 16
network chain <<J
{version: 3, $codes, buffers: [{}, {}],
 subgraphs: [{tensors: [$(tensor x 16), $(tensor a 16), $(tensor b 16), $(tensor c 4,4), $(tensor y 4)], inputs: [0], outputs: [4],
   operators: [{opcode_index: 0, inputs: [0], outputs: [1]}, {opcode_index: 2, inputs: [1], outputs: [2]}, {opcode_index: 3, inputs: [2], outputs: [3]}, {opcode_index: 0, inputs: [3], outputs: [4]}]}]}
J
expect_ways "$MASU_TMP/chain.tflite" 'TensorFlow Lite Micro 128; planned 128; in place 128'
expect_status 0 $plan "$MASU_TMP/chain.tflite" --in-place --quiet --write-model "$MASU_TMP/with.tflite"
expect_status 0 $plan --verify "$MASU_TMP/with.tflite"
expect_in_stdout '2 in place; arena 128 bytes'
# Two branches of 64 → 1024 → 16 each, one behind the other: their large tensors need not meet.
network branches <<J
{version: 3, $codes, buffers: [{}, {}],
 subgraphs: [{tensors: [$(tensor x 16), $(tensor a 256), $(tensor b 256), $(tensor p 4), $(tensor q 4), $(tensor y 4)], inputs: [0], outputs: [5],
   operators: [{opcode_index: 0, inputs: [0], outputs: [1]}, {opcode_index: 0, inputs: [0], outputs: [2]}, {opcode_index: 0, inputs: [1], outputs: [3]},
     {opcode_index: 0, inputs: [2], outputs: [4]}, {opcode_index: 4, inputs: [3, 4], outputs: [5]}]}]}
J
expect_ways "$MASU_TMP/branches.tflite" 'TensorFlow Lite Micro 2112; planned 2112; in place 2112; reordered 1104; reordered in place 1104'
# A comparison is of the plan that is asked for: x 64 → relu a 64, over x → conv y 16.
network over <<J
{version: 3, $codes, buffers: [{}, {}],
 subgraphs: [{tensors: [$(tensor x 16), $(tensor a 16), $(tensor y 4)], inputs: [0], outputs: [2],
   operators: [{opcode_index: 2, inputs: [0], outputs: [1]}, {opcode_index: 0, inputs: [1], outputs: [2]}]}]}
J
compared() { # HEIGHT FILE OPTIONS…
    height=$1
    shift
    expect_status 0 $plan "$@" --compare --time 0.1
    grep -q "^first fit by area  *$height " "$MASU_TMP.stdout" || fail "$* is not compared at $height"
}
compared 128 "$MASU_TMP/over.tflite"
compared 80 "$MASU_TMP/over.tflite" --in-place
compared 2112 "$MASU_TMP/branches.tflite" --in-place
compared 1104 "$MASU_TMP/branches.tflite" --reorder
expect_status 2 $plan "$MASU_TMP/over.tflite" --compare --header x.h
expect_in_stderr 'leave --header out'
expect_status 2 $plan "$MASU_TMP/over.tflite" --compare --write-model x.tflite
expect_in_stderr 'leave --write-model out'
expect_status 0 $plan "$MASU_TMP/branches.tflite" --reorder --quiet --write-model "$MASU_TMP/with.tflite"
expect_status 0 $plan --verify "$MASU_TMP/with.tflite"
expect_in_stdout 'arena 1,104 bytes'

# ---- scratch, memories, header --------------------------------------------------------------------------
expect_status 0 $plan "$skip" --scratch CONCATENATION=100 --scratch 0=16 --csv
[ "$(ways)" = 'TensorFlow Lite Micro 320; planned 320; in place 320' ] || fail "scratch: $(ways)"
expect_status 1 $plan "$skip" --scratch POOL=16
expect_in_stderr '--scratch POOL: no operator has this number, type or name; types are: '
grep -q 'types are:.* CONCATENATION' "$MASU_TMP.stderr" || fail "types: $(cat "$MASU_TMP.stderr")"
expect_in_stderr 'no operator has this number, type or name'
expect_status 0 $plan "$skip" --memory fast=96 --memory slow --header "$MASU_TMP/skip.h"
expect_in_stdout 'fast: '
cat >"$MASU_TMP/use.c" <<'C'
#include "skip.h"
static char fast[SKIP_FAST_ARENA_BYTES + 1], slow[SKIP_SLOW_ARENA_BYTES + 1];
int main(void) {
    const void *memories[SKIP_MEMORY_COUNT] = {fast, slow};
    skip_buffer_plan plan;
    if (!skip_fill(&plan, memories) || plan.buffer_count != 4)
        return 1;
    for (int i = 0; i < 4; i++) {
        const char *base = skip_memory[i] ? slow : fast;
        if (fast + plan.offsets[i] != base + skip_buffer_offset[i] || skip_tensor_memory[i] != skip_memory[i] ||
            skip_tensor_offset[i] != (int64_t)skip_buffer_offset[i])
            return 2;
    }
    return skip_tensor_offset[4] == -1 && SKIP_FAST_ARENA_BYTES <= 96 ? 0 : 3;
}
C
expect_status 0 "${CC:-cc}" -Wall -Wextra -Werror -fno-pie -no-pie -o "$MASU_TMP/use" "$MASU_TMP/use.c"
expect_status 0 "$MASU_TMP/use"

# ---- control flow ---------------------------------------------------------------------------------------
# CALL_ONCE runs graph 1: its input t and result u live inside the operator, beside x.
network once <<J
{version: 3, $codes, buffers: [{}, {}],
 subgraphs: [{tensors: [$(tensor x 16), $(tensor y 16)], inputs: [0], outputs: [1],
   operators: [{opcode_index: 5, options_kind: 103, options: {first: 1}, inputs: [], outputs: []}, {opcode_index: 0, inputs: [0], outputs: [1]}]},
   {tensors: [$(tensor t 8), $(tensor u 32)], inputs: [0], outputs: [1], operators: [{opcode_index: 0, inputs: [0], outputs: [1]}]}]}
J
expect_ways "$MASU_TMP/once.tflite" 'TensorFlow Lite Micro 224; planned 224; in place 224'
expect_status 0 $plan "$MASU_TMP/once.tflite"
expect_in_stdout 'The peak, 224 bytes, is at graph 1, operator 0 CONV_2D:'
expect_in_stdout 'not tried: an operator runs other graphs'
bad() { # TEXT EDIT: the file with this change is refused
    sed "$2" "$MASU_TMP/once.json" | network bad
    expect_status 1 $plan "$MASU_TMP/bad.tflite"
    expect_in_stderr "$1"
}
bad 'operator 0 of graph 0 runs graph 9; there are 2' 's/first: 1/first: 9/'
bad 'a graph runs itself' 's/first: 1/first: 0/'
bad 'does not say which graphs it runs' 's/options_kind: 103/options_kind: 92/'
bad 'names tensor 7; its graph has 2' 's/inputs: \[0\], outputs: \[1\]}\]}\]}/inputs: [7], outputs: [1]}]}]}/'
bad 'has operator code 77; there are 9' 's/opcode_index: 5/opcode_index: 77/'
bad 'tensor 0 is in buffer 66; there are 2' 's/{name: "x", shape: \[16\], type: 0, buffer: 1/{name: "x", shape: [16], type: 0, buffer: 66/'
bad 'cannot tell the size of `x` (elements without a fixed size)' 's/{name: "x", shape: \[16\], type: 0/{name: "x", shape: [16], type: 5/'
bad 'tensor 0 has a dimension of -5' 's/{name: "x", shape: \[16\]/{name: "x", shape: [-5]/'
bad 'cannot tell the size of `x` (a dimension is open)' 's/{name: "x", shape: \[16\]/{name: "x", shape: [-1]/'
bad 'tensor 0 is larger than 2^62 bytes' 's/{name: "x", shape: \[16\]/{name: "x", shape: [2000000000, 2000000000, 2000000000]/'

# ---- damaged files, wrong options -------------------------------------------------------------------------
for length in 0 4 8 40 200; do
    head -c "$length" "$skip" >"$MASU_TMP/cut.tflite"
    expect_status 1 $plan "$MASU_TMP/cut.tflite"
    expect_in_stderr 'error: '
done
misuse() { expect_status 2 $plan "$@"; }
misuse "$skip" --dim batch=1
misuse "$skip" --check
misuse "$skip" --ops "$MASU_TMP/skip.csv"
misuse "$skip" --verify --output x
misuse "$skip" --json --csv
misuse "$skip" --alignment 8
misuse "$skip" --memory a --reorder
misuse "$skip" --memory a --write-model x
misuse "$MASU_TMP/skip.csv" --verify
misuse "$MASU_TMP/skip.csv" --header x
misuse "$MASU_TMP/skip.csv" --in-place

# ---- a name that says another format --------------------------------------------------------------------
cp "$skip" "$MASU_TMP/other.onnx"
expect_status 1 $plan "$MASU_TMP/other.onnx"
expect_in_stderr 'these are the bytes of a TensorFlow Lite file: give it a name in .tflite'
printf '\010\007\022\004test' >"$MASU_TMP/other.tflite"
expect_status 1 $plan "$MASU_TMP/other.tflite"
expect_in_stderr 'these may be the bytes of an ONNX file: give it a name in .onnx'
cp "$skip" "$MASU_TMP/other.bin"
expect_status 0 $plan "$MASU_TMP/other.bin"
expect_status 1 $plan "$skip" --memory only=64
expect_in_stderr 'a slower --memory beside it, such as --memory slow, takes the rest'

# ---- real ones --------------------------------------------------------------------------------------------
folder=${MASU_DATA:-../shared/data}/models/source
[ -d "$folder" ] || exit 0
expect_ways "$folder/tflm_audio_preprocessor_int8.tflite" 'TensorFlow Lite Micro 3040; planned 2096; in place 2096'
for file in "$folder"/*.tflite; do
    expect_status 0 $plan "$file" --csv --in-place --write-model "$MASU_TMP/with.tflite"
    ! grep -q ',no$' "$MASU_TMP.stdout" || fail "$file: not proven: $(cat "$MASU_TMP.stdout")"
    expect_status 0 $plan --verify "$MASU_TMP/with.tflite"
done
expect_status 0 $plan "$folder/tflm_person_detect_vela.tflite" # its plan lays an accelerator's tensors on each other
expect_in_stdout '1 operator, 4 tensors in the arena'
expect_in_stdout 'The peak, 158,160 bytes (154.5 KiB), is at operator 0 ethos-u (more than the arena: '
expect_status 0 $plan --verify "$folder/tflm_person_detect_vela.tflite"
expect_in_stdout 'is custom and must know'
expect_in_stdout 'FINE: 4 of 4 buffers'
expect_status 1 $plan "$folder/tflm_person_detect_vela.tflite" --memory fast=64K,slow=2M --moves
expect_in_stderr 'operator 0 ethos-u is custom'
expect_in_stderr 'has its tensors _split_1_scratch and _split_1_scratch_fast at one offset'
expect_status 0 $plan "$folder/tflm_person_detect_vela.tflite" --memory fast=64K,slow=2M
