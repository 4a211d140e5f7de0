#!/bin/sh
# Writes microcontroller.tl as C, translates it with its caller by any compiler and runs it.
#     sh examples/microcontroller.sh [MASU [FLAGS…]]         CC: the compiler; RUN: what runs the program, such as
#                                                            qemu-arm
set -eu
cd "$(dirname "$0")/.."
masu=${1:-build/release/masu}
[ $# -eq 0 ] || shift
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"$masu" build --c examples/microcontroller.tl -o "$folder/motion.c" --header "$folder/motion.h" --arena "classify([8, 3])"
# shellcheck disable=SC2086 # CC and RUN are words
${CC:-cc} -std=c11 -O2 -Wall -Wextra -Werror -pedantic "-I$folder" examples/microcontroller.c "$folder/motion.c" "$@" -lm -o "$folder/motion"
# shellcheck disable=SC2086 # words
${RUN:-} "$folder/motion"
