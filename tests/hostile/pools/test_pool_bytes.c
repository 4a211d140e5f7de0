/* The fuzz target on bytes drawn from seeds, and on files: test_pool_bytes [FILE…]. A failure
 * aborts; the seed that was running is in the message before. */
#include <stdio.h>
#include <stdlib.h>

#include "fuzz/pool_bytes.c"

#include "base/rng.h"

#ifdef MASU_HEAVY
enum { SEEDS = 50 };
#else
enum { SEEDS = 500 };
#endif

static int run_file(const char *path) {
    static uint8_t data[1 << 20];
    FILE *file = fopen(path, "rb");
    if (!file)
        return 1;
    size_t size = fread(data, 1, sizeof data, file);
    fclose(file);
    return LLVMFuzzerTestOneInput(data, size);
}

int main(int argc, char **argv) {
    static uint8_t data[2048];
    for (int i = 1; i < argc; i++)
        if (run_file(argv[i]) != 0)
            return 1;
    if (argc > 1)
        return 0;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        masu__rng rng;
        masu__rng_seed(&rng, seed);
        size_t size = masu__rng_below(&rng, sizeof data);
        for (size_t i = 0; i < size; i++)
            data[i] = (uint8_t)masu__rng_next(&rng);
        printf("\rseed %llu", (unsigned long long)seed);
        fflush(stdout);
        LLVMFuzzerTestOneInput(data, size);
    }
    printf("\n");
    return 0;
}
