# Plain C (`masu build --c`) on processors of other kinds under qemu-user: what a function yields there is what it yields
# here, bit for bit. A target whose tools are not here is left out, and named: Debian's qemu-user with
# gcc-arm-linux-gnueabihf (32 bits, floating point), gcc-powerpc-linux-gnu (32 bits, the most significant byte first),
# gcc-arm-none-eabi with libnewlib-arm-none-eabi (Thumb, no floating point, another C library).
[ -z "$MASU_SANITIZE" ] || skip "nothing of it is instrumented"
cc=$(sed -n 's/^CMAKE_C_COMPILER:[A-Z]*=//p' "$MASU_BUILD/CMakeCache.txt")

calls='m = Mlp::new(6, 8, 5); Mlp::new(6, 8, 5); Mlp::forward(m, [4, 6]); Mlp::nudge(m, [5], _)
    ; conv([2, 3, 8, 8], [4, 3, 3, 3], [4]); steps([1, 3, 7, 14], [5, 3, 3, 3], [5]); turned([2, 7, 45], [2, 21, 45])
    ; attend([2, 5, 8], [8, 8], [8, 8], [8, 8]); elements([7, 5], [5]); sums([6, 37]); parts([4, 3], [2], _)
    ; recur([3, 4], [4, 4], _); blur([6, 7], _); counts([9], [9]); collatz(_); mixed(_, _, _); power([5, 5], _); fibs(_)
    ; grid([3, 2]); latest(_); either(_, [4])'
expect_status 0 "$MASU" build --c tests/cli/plain_c.tl -o "$MASU_TMP/net.c" --header "$MASU_TMP/net.h" --arena "$calls"

# Weights as constants: bytes of a file that was written here, numbers there.
cat tests/cli/plain_c.tl tests/cli/plain_c_save.tl >"$MASU_TMP/save.tl"
expect_status 0 "$MASU" run "$MASU_TMP/save.tl" "$MASU_TMP/w.safetensors"
expect_status 0 "$MASU" build --c tests/cli/plain_c.tl -o "$MASU_TMP/baked.c" --header "$MASU_TMP/baked.h" \
    --arena 'm = Mlp::new(6, 8, 5); Mlp::forward(m, [4, 6])' --weights "m=$MASU_TMP/w.safetensors"
cat >"$MASU_TMP/flash.c" <<'TEXT'
#include "baked.h"
#include <stdio.h>
static _Alignas(8) unsigned char arena[BAKED_ARENA_BYTES];
int main(void) {
    float x[24], y[20];
    baked context = {.arena = arena, .arena_bytes = sizeof arena};
    for (int i = 0; i < 24; i++)
        x[i] = (float)(i * 7 % 11) / 4 - 1;
    baked_const_f32 in = baked_Mlp_forward_x(x);
    baked_f32 out = baked_Mlp_forward_out(y);
    printf("%d", (int)baked_Mlp_forward(&context, &baked_m_weights, &in, &out));
    for (int i = 0; i < 20; i++)
        printf(" %.9g", (double)y[i]);
    for (int i = 0; i < 8; i++)
        printf(" %.9g", (double)baked_m_weights.b1[i]);
    printf("\n");
    return 0;
}
TEXT

compiled() { # PROGRAM COMPILER FLAGS…: both programs, by a compiler that says nothing
    program=$1
    shift
    for flags in -O2 -Os; do
        expect_status 0 "$@" -std=c11 "$flags" -Wall -Wextra -Werror -pedantic "-I$MASU_TMP" tests/cli/plain_c_bits.c \
            "$MASU_TMP/net.c" -lm -o "$MASU_TMP/$program$flags"
        expect_stderr ''
    done
    expect_status 0 "$@" -std=c11 -O2 "-I$MASU_TMP" "$MASU_TMP/flash.c" "$MASU_TMP/baked.c" -lm -o "$MASU_TMP/$program-flash"
}
compiled host "$cc"
for part in -O2 -flash; do
    expect_status 0 "$MASU_TMP/host$part"
    cp "$MASU_TMP.stdout" "$MASU_TMP/host$part.txt"
done
for line in 'one byte less: 1' 'row -1: 18 at 47:35, index out of range'; do
    grep -qx "$line" "$MASU_TMP/host-O2.txt" || fail "no line \"$line\""
done
[ "$(wc -l <"$MASU_TMP/host-O2.txt")" -eq 142 ] || fail 'another number of lines'

absent=
target() { # NAME LIBRARY EMULATOR COMPILER FLAGS…
    name=$1 library=$2 emulator=$3
    shift 3
    # shellcheck disable=SC2086 # an emulator with its flags
    set -- ${emulator%% *} "$@"
    for needed in "$1" "$2"; do
        command -v "$needed" >/dev/null || {
            absent="$absent $needed"
            return 0
        }
    done
    shift
    [ "$("$1" "-print-file-name=$library")" != "$library" ] || { # a compiler alone
        absent="$absent $library of $1"
        return 0
    }
    compiled "$name" "$@"
    for part in -O2 -Os -flash; do
        # shellcheck disable=SC2086 # an emulator with its flags
        expect_status 0 $emulator "$MASU_TMP/$name$part"
        measure=$MASU_TMP/host$part.txt
        [ -e "$measure" ] || measure=$MASU_TMP/host-O2.txt
        diff "$measure" "$MASU_TMP.stdout" >"$MASU_TMP/other" || fail "$name$part: $(head -c 400 "$MASU_TMP/other")"
    done
}
target armhf libc.a qemu-arm arm-linux-gnueabihf-gcc -static
target powerpc libc.a qemu-ppc powerpc-linux-gnu-gcc -static
target thumb librdimon.a 'qemu-arm -cpu cortex-a7' arm-none-eabi-gcc -mcpu=cortex-a7 -mthumb -mfloat-abi=soft --specs=rdimon.specs
[ -z "$absent" ] || echo "skipped: not here:$absent"
