/* plain_c_weights.c: a network whose weights are constants of its C file against the same network with weights of the
 * caller's, who reads them from the same file of tensors: bit for bit. Says what is wrong. */
#include "baked.h"
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

_Static_assert(BAKED_FLASH_BYTES == 4 * (48 + 8 + 40 + 5), "weights and nothing else");

int main(int count, char **arguments) {
    static float b1[8], b2[5], w1[48], w2[40]; /* as they lie in the file: by name */
    static _Alignas(8) unsigned char arena[BAKED_ARENA_BYTES];
    float x[24], y[20], z[20];
    uint64_t header = 0;
    FILE *file = fopen(arguments[count - 1], "rb");
    if (!file || fread(&header, 8, 1, file) != 1 || fseek(file, (long)header, SEEK_CUR) != 0 ||
        fread(b1, sizeof b1, 1, file) + fread(b2, sizeof b2, 1, file) + fread(w1, sizeof w1, 1, file) +
                fread(w2, sizeof w2, 1, file) !=
            4)
        return 2;
    fclose(file);
    baked context = {.arena = arena, .arena_bytes = sizeof arena};
    baked_Mlp own = {.w1 = w1, .b1 = b1, .w2 = w2, .b2 = b2, .scale = 0.5};
    const baked_Mlp *kept = &baked_m_weights;
    if (memcmp(kept->w1, w1, sizeof w1) || memcmp(kept->b1, b1, sizeof b1) || memcmp(kept->w2, w2, sizeof w2) ||
        memcmp(kept->b2, b2, sizeof b2) || kept->scale != own.scale)
        printf("the constants are not those of the file\n");
    if (!signbit(kept->b1[1]) || kept->b1[2] == 0 || !isinf(kept->b1[3]))
        printf("the file does not have what is to be shown\n");
    if ((uintptr_t)kept->w1 % 8 || (uintptr_t)kept->b2 % 8)
        printf("the constants are not aligned\n");
    for (int i = 0; i < 24; i++)
        x[i] = (float)(i * 7 % 11) / 4 - 1;
    baked_const_f32 in = baked_Mlp_forward_x(x);
    baked_f32 from_flash = baked_Mlp_forward_out(y), from_caller = baked_Mlp_forward_out(z);
    if (baked_Mlp_forward(&context, kept, &in, &from_flash) != BAKED_OK ||
        baked_Mlp_forward(&context, &own, &in, &from_caller) != BAKED_OK)
        printf("%s\n", context.message);
    if (memcmp(y, z, sizeof y) || !(y[0] > 0 && y[0] < 1))
        printf("other results\n");
    return 0;
}
