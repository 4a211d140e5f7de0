#!/bin/sh
# TensorFlow Lite Micro's unchanged interpreter against what masu plans for it. Nothing of it belongs to the project:
# CHECKOUT is its source tree, compiled in WORK.
#
#     scripts/try_tflm.sh MASU CHECKOUT MODEL.tflite…
#
# What it needs from others (gemmlowp, flatbuffers, kissfft, ruy) is looked for in
# CHECKOUT/tensorflow/lite/micro/tools/make/downloads, where `make -f tensorflow/lite/micro/tools/make/Makefile
# third_party_downloads` puts it, or in $TFLM_THIRD_PARTY. WORK: $TFLM_WORK, with $TFLM_JOBS compilers at a time and
# $TFLM_CXXFLAGS (-O1); kept for the next run; a temporary folder when it is not set.
#
# For each model, run as it is, and with masu's plan inside: planned, in place, reordered, in place and reordered, and
# with two memories through the shim:
#   * buffers, their sizes and lives are those that masu counts (what is beyond them is scratch, which is then said with
#     --scratch);
#   * the arena's head has the bytes that masu says of the runtime as it is, and of the plan;
#   * outputs of three runs on drawn inputs are the same, bit for bit.
set -eu
[ $# -ge 3 ] || { sed -n '/^[^#]/q; 2,$s/^# \{0,1\}//p' "$0" >&2; exit 2; }
here=$(cd "$(dirname "$0")" && pwd)
masu=$1 checkout=$(cd "$2" && pwd)
shift 2
third=${TFLM_THIRD_PARTY:-$checkout/tensorflow/lite/micro/tools/make/downloads}
for part in gemmlowp flatbuffers kissfft ruy; do
    [ -d "$third/$part" ] || { echo "try_tflm: $third/$part is not there: see the head of this script" >&2; exit 1; }
done
if [ -n "${TFLM_WORK:-}" ]; then work=$TFLM_WORK; else work=$(mktemp -d) && trap 'rm -rf "$work"' EXIT; fi
mkdir -p "$work/objects"

# ---- the interpreter ------------------------------------------------------------------------------------
flags="-std=c++17 ${TFLM_CXXFLAGS:--O1} -w -fno-exceptions -fno-rtti -fno-threadsafe-statics -DTF_LITE_STATIC_MEMORY -DTF_LITE_DISABLE_X86_NEON
    -I$checkout -I$third -I$third/gemmlowp -I$third/flatbuffers/include -I$third/kissfft -I$third/ruy"
sources() { # not tests, nor what belongs to other machines
    cd "$checkout"
    find tensorflow -type d \( -path tensorflow/lite/experimental -o -path tensorflow/lite/micro \) -prune -false -o -name '*.cc' -o -name '*.c'
    ls tensorflow/lite/micro/*.cc tensorflow/lite/micro/arena_allocator/*.cc tensorflow/lite/micro/memory_planner/*.cc \
        tensorflow/lite/micro/tflite_bridge/*.cc tensorflow/lite/micro/kernels/*.cc signal/micro/kernels/*.cc signal/src/*.cc signal/src/kiss_fft_wrappers/*.cc
}
sources | sort -u | grep -vE '_test(_common)?\.cc$|/test_|/testing|_data\.cc$|/python/|tensorflow/lite/array\.cc|/mock_|/fake_|hexdump|kernel_runner|/tools/' >"$work/all"
# Of the kernels those that try_tflm.cc registers: the resolver's header says what each of its Add… means.
grep -o 'r\.Add[A-Za-z0-9]*' "$here/try_tflm.cc" | sed 's/r\.//' | sort -u >"$work/added"
awk 'NR == FNR { added[$1] = 1; next }
     /TfLiteStatus Add/ { name = $0; sub(/.*TfLiteStatus /, "", name); sub(/\(.*/, "", name) }
     name in added { line = $0; while (match(line, /Register_[A-Z0-9_]+/)) { print substr(line, RSTART, RLENGTH); line = substr(line, RSTART + RLENGTH) } }' \
    "$work/added" "$checkout/tensorflow/lite/micro/micro_mutable_op_resolver.h" | sort -u >"$work/registered"
while read -r source; do
    defined=$(grep -oE 'Registration\*? ?Register_[A-Z0-9_]+\(' "$checkout/$source" | grep -oE 'Register_[A-Z0-9_]+' || true)
    [ -n "$defined" ] && ! printf '%s\n' "$defined" | grep -qxFf "$work/registered" || echo "$source"
done <"$work/all" >"$work/list"
cat >"$work/compile.sh" <<'C'
object=$2/objects/$(printf %s "$1" | tr / _).o
[ -f "$object" ] || ${CXX:-g++} $3 -c "$1" -o "$object"
C
(cd "$checkout" && xargs -P "${TFLM_JOBS:-$(nproc)}" -I@ sh "$work/compile.sh" @ "$work" "$flags" <"$work/list")
# shellcheck disable=SC2086,SC2046 # options and files, split at spaces
${CXX:-g++} $flags "$here/try_tflm.cc" "$work"/objects/*.o -o "$work/try_tflm" -lm

# ---- the comparison ---------------------------------------------------------------------------------------
status=0
wrong() { echo "  WRONG: $*"; status=1; }
field() { sed -n "s/^$2 //p" "$1"; }
for model in "$@"; do
    name=$(basename "$model" .tflite)
    if ! "$work/try_tflm" "$model" >"$work/asis" 2>"$work/log"; then
        echo "$name: not run: $(head -n 1 "$work/log")"
        continue
    fi
    "$masu" plan "$model" --json --quiet >"$work/plan.json"
    tensors=$(grep -c '"tensor":' "$work/plan.json" || true)
    # Lives: lower and upper - 1. Buffers beyond the tensors are scratch: operator = moment - 1 in a model of one graph.
    sed -n 's/.*"lower": \(-*[0-9]*\), "upper": \(-*[0-9]*\), "size": \([0-9]*\),.*/\3 \1 \2/p' "$work/plan.json" | awk '{ print $1, $2, $3 - 1 }' >"$work/ours"
    field "$work/asis" buffer | head -n "$tensors" | awk '{ print $1, $2, $3 }' >"$work/theirs"
    cmp -s "$work/ours" "$work/theirs" || wrong "$name: buffers or lives differ: $(diff "$work/ours" "$work/theirs" | head -n 6)"
    scratch=$(field "$work/asis" buffer | tail -n +$((tensors + 1)) | awk '{ printf " --scratch %d=%d", $2 - 1, $1 }')
    # shellcheck disable=SC2086 # options
    "$masu" plan "$model" --csv $scratch >"$work/table"
    head=$(field "$work/asis" head)
    [ "$head" = "$(sed -n 's/^TensorFlow Lite Micro,\([0-9]*\),.*/\1/p' "$work/table")" ] || wrong "$name: the runtime's arena is $head, $(sed -n 2p "$work/table")"
    echo "$name: $tensors tensors, scratch:${scratch:- none}; as it is $head bytes"
    for how in '' --in-place --reorder '--in-place --reorder'; do
        # shellcheck disable=SC2086 # options
        "$masu" plan "$model" --quiet $scratch $how --write-model "$work/with.tflite" 2>"$work/said" || { wrong "$name $how: $(cat "$work/said")"; continue; }
        # shellcheck disable=SC2086 # options
        promised=$("$masu" plan "$work/with.tflite" --csv $scratch | sed -n 's/^TensorFlow Lite Micro,\([0-9]*\),.*/\1/p')
        "$masu" plan --verify "$work/with.tflite" >"$work/verdict" || wrong "$name $how: $(head -n 1 "$work/verdict")"
        "$work/try_tflm" "$work/with.tflite" >"$work/planned" 2>"$work/log" || { wrong "$name $how: the interpreter refuses: $(head -n 1 "$work/log")"; continue; }
        [ "$promised" = "$(field "$work/planned" head)" ] || wrong "$name $how: promised $promised, it is $(field "$work/planned" head)"
        [ "$(field "$work/asis" output)" = "$(field "$work/planned" output)" ] || wrong "$name $how: outputs differ"
        echo "  ${how:-planned}: $promised bytes, outputs the same"
    done
    # Half of the arena in a fast memory, the rest elsewhere.
    # shellcheck disable=SC2086 # options
    "$masu" plan "$model" --quiet $scratch --memory fast=$((head / 2 / 16 * 16 + 16)) --memory slow --header "$work/$name.h"
    prefix=$(sed -n 's/^typedef struct \(.*\)_buffer_plan {/\1/p' "$work/$name.h")
    # shellcheck disable=SC2086 # options and files
    ${CXX:-g++} $flags "-DPLAN_HEADER=\"$work/$name.h\"" "-DPLAN=$prefix" "$here/try_tflm.cc" "$work"/objects/*.o -o "$work/shim" -lm
    "$work/shim" "$model" >"$work/planned" 2>"$work/log" || wrong "$name: two memories: $(head -n 1 "$work/log")"
    [ "$(field "$work/asis" output)" = "$(field "$work/planned" output)" ] || wrong "$name: two memories: outputs differ"
    echo "  two memories: $(field "$work/planned" buffer | awk '$4 > 33554432 || $4 < 0 { slow++ } END { print slow + 0 }') of $(field "$work/planned" buffer | wc -l) buffers in the second, outputs the same"
done
exit "$status"
