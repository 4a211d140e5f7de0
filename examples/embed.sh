#!/bin/sh
# Builds embed.tl as a shared library with a header, embed.c against both, and runs it.
#
#     sh examples/embed.sh [MASU [FLAGS OF THE C COMPILER…]]      MASU: the command (build/release/masu)
set -eu
cd "$(dirname "$0")/.."
masu=${1:-build/release/masu}
[ $# -eq 0 ] || shift
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$masu" build --shared examples/embed.tl -o "$work/libembed.so" --header "$work/embed.h"
"${CC:-cc}" -std=c11 -Wall -Wextra "$@" -Iinclude -I"$work" examples/embed.c -L"$work" -lembed -Wl,-rpath,"$work" -lm -o "$work/embed"
"$work/embed"
