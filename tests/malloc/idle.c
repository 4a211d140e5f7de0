/* idle.c: uses 100 MiB in blocks of many sizes, frees all but a few, and then rests, goes on calling, or does nothing.
 * Prints the MiB resident at most and at the end, beyond the beginning. */
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { BLOCKS = 4000 };

static void *blocks[BLOCKS];

static long resident_mib(void) {
    long whole, resident = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (fscanf(file, "%ld %ld", &whole, &resident) != 2)
        return -1;
    fclose(file);
    return resident * sysconf(_SC_PAGESIZE) >> 20;
}

int main(int argc, char **argv) {
    const char *then = argc > 1 ? argv[1] : "";
    long before = resident_mib();
    if (strcmp(then, "mallopt") == 0 && (mallopt(M_TRIM_THRESHOLD, 8 << 20) != 1 || mallopt(M_MMAP_MAX, 1) != 0))
        return 1;
    for (int i = 0; i < BLOCKS; i++) {
        size_t bytes = i % 2 ? 500 : 50000;
        blocks[i] = malloc(bytes);
        memset(blocks[i], 1, bytes);
    }
    long most = resident_mib() - before;
    for (int i = 0; i < BLOCKS; i++)
        if (i % 200 > 1)
            free(blocks[i]);
    if (strcmp(then, "rest") == 0)
        usleep(600000);
    for (int i = 0; strcmp(then, "call") == 0 && i < 60; i++) {
        void *held[200];
        for (int k = 0; k < 200; k++)
            held[k] = malloc(20000 + 100 * k);
        for (int k = 0; k < 200; k++)
            free(held[k]);
        usleep(10000);
    }
    printf("%ld %ld\n", most, resident_mib() - before);
    return 0;
}
