/* microcontroller.c: calls `classify` of microcontroller.tl, which `masu build --c` wrote as C, with an arena of static
 * memory. */
#include <stdio.h>

#include "motion.h"

static _Alignas(8) unsigned char memory[MOTION_ARENA_BYTES];

static void show(const char *what, float x, float y, float z, float shake) {
    motion context = {.arena = memory, .arena_bytes = sizeof memory};
    float samples[8 * 3], chances[3];
    int64_t most = 0;
    for (int i = 0; i < 8; i++) {
        samples[3 * i] = x + (i % 2 ? shake : -shake);
        samples[3 * i + 1] = y;
        samples[3 * i + 2] = z;
    }
    motion_const_f32 in = motion_classify_samples(samples);
    motion_f32 out = motion_classify_out0(chances);
    if (motion_classify(&context, &in, &out, &most) != MOTION_OK)
        printf("microcontroller.tl:%d:%d: %s\n", (int)context.line, (int)context.column, context.message);
    else
        printf("%s: %d (%d%%)\n", what, (int)most, (int)(chances[most] * 100));
}

int main(void) {
    show("flat", 0, 0, 1, 0);
    show("on its side", 1, 0, 0, 0);
    show("shaken", 0, 0, 1, 2);
    printf("%d bytes of arena\n", MOTION_ARENA_BYTES);
    return 0;
}
