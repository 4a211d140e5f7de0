#!/bin/sh
# Tries plain C (`masu build --c`) with a compiler for bare ARM: what the example prints in Thumb code under qemu-arm is
# what the host prints, and how large it is for a Cortex-M4 (whose own profile qemu-arm does not start). Needs Debian's
# gcc-arm-none-eabi, libnewlib-arm-none-eabi and qemu-user (tests/cli/plain_c_targets.sh compares more).
#     scripts/try_microcontroller.sh [MASU]
set -eu
cd "$(dirname "$0")/.."
masu=${1:-build/release/masu}
for program in arm-none-eabi-gcc arm-none-eabi-size qemu-arm; do
    command -v "$program" >/dev/null || {
        echo "try_microcontroller: $program is missing: apt-get install gcc-arm-none-eabi libnewlib-arm-none-eabi qemu-user" >&2
        exit 2
    }
done
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
sh examples/microcontroller.sh "$masu" >"$folder/host"
CC=arm-none-eabi-gcc RUN='qemu-arm -cpu cortex-a7' sh examples/microcontroller.sh "$masu" \
    -mcpu=cortex-a7 -mthumb -mfloat-abi=soft --specs=rdimon.specs >"$folder/target"
diff "$folder/host" "$folder/target" || {
    echo "try_microcontroller: the target differs" >&2
    exit 1
}
cat "$folder/target"
"$masu" build --c examples/microcontroller.tl -o "$folder/motion.c" --header "$folder/motion.h" --arena "classify([8, 3])"
arm-none-eabi-gcc -std=c11 -Os -mcpu=cortex-m4 -mthumb -c "$folder/motion.c" -o "$folder/motion.o"
arm-none-eabi-size "$folder/motion.o"
