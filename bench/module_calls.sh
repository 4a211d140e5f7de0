#!/bin/sh
# What a call from C costs: functions of tests/cli/build_shared.tl, in nanoseconds of the process's time a call.
#
#     sh bench/module_calls.sh [MASU]      MASU: the command (build/release/masu)
set -eu
cd "$(dirname "$0")/.."
masu=${1:-build/release/masu}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$masu" build --shared tests/cli/build_shared.tl -o "$work/libnet.so" --header "$work/net.h"
cat >"$work/bench.c" <<'C'
#include <stdio.h>
#include <time.h>
#include "net.h"
enum { CALLS = 1000000 };
static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}
#define TIME(what, call)                                                          \
    do {                                                                          \
        double best = 1e9;                                                        \
        for (int r = 0; r < 5; r++) {                                             \
            double start = now();                                                 \
            for (int i = 0; i < CALLS / 5; i++)                                   \
                if ((call) != MASU_OK)                                            \
                    return 1;                                                     \
            double each = (now() - start) / (CALLS / 5);                          \
            best = each < best ? each : best;                                     \
        }                                                                         \
        printf("%-40s %4.0f ns\n", what, best);                                   \
    } while (0)
int main(void) {
    net *n;
    net_Net *m;
    float x[64] = {1}, o[64];
    int64_t shape[2] = {8, 8}, d;
    masu_tensor vx = masu_tensor_of(MASU_F32, x, 2, shape), place = masu_tensor_of(MASU_F32, o, 2, shape), y = masu_tensor_wanted();
    if (net_create(NULL, &n) != MASU_OK || net_Net_new(n, 8, 8, &m) != MASU_OK)
        return 1;
    TIME("two numbers in, one out", net_main_of(n, 5, 3, &d));
    TIME("relu of 8x8 into the caller's memory", net_relu(n, &vx, &place));
    TIME("relu of 8x8, the result released", (net_relu(n, &vx, &y) == MASU_OK ? (net_tensor_release(&y), MASU_OK) : MASU_ERR_PANIC));
    TIME("8x8 through a handle's weights", net_Net_forward(n, m, &vx, &place));
    net_Net_drop(m);
    net_destroy(n);
    return 0;
}
C
"${CC:-cc}" -O2 -Iinclude -I"$work" "$work/bench.c" -L"$work" -lnet -Wl,-rpath,"$work" -o "$work/bench"
"$work/bench"
