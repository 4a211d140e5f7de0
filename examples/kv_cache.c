/* A key-value cache that grows with every token and is never copied. Build against the installed
 * library:  cc kv_cache.c $(pkg-config --cflags --libs masu)
 *
 *     kv_cache [MIB]     grows to so much, 512 by default, and looks at every token again at the end
 *
 * A language model keeps a key and a value for each token it has read, for each layer one growing
 * tensor. Allocating for the longest possible text wastes most of it; growing by allocate, copy and free
 * copies each token many times and needs twice the memory at every step. Here each layer has the
 * addresses for the longest text from the beginning, and memory for what was read. */
#include <masu/masu.h>
#include <stdio.h>
#include <stdlib.h>

enum { LAYERS = 8, TOKEN_BYTES = 2 * 4096 }; /* a key and a value of 1024 floats each */

typedef struct layer {
    unsigned char *tokens;
    size_t count, capacity; /* in tokens */
} layer;

static unsigned char mark_of(size_t l, size_t token) {
    return (unsigned char)(token * 31 + l * 7 + 1);
}

/* Doubles when it is full: in place, for the addresses are there. */
static masu_status append(masu_vm *vm, layer *l, unsigned char mark) {
    if (l->count == l->capacity) {
        void *grown;
        size_t capacity = l->capacity ? 2 * l->capacity : 256;
        masu_status status = masu_vm_resize(vm, l->tokens, capacity * TOKEN_BYTES, &grown);
        if (status != MASU_OK)
            return status;
        l->tokens = grown;
        l->capacity = capacity;
    }
    unsigned char *token = l->tokens + l->count++ * TOKEN_BYTES;
    token[0] = token[TOKEN_BYTES / 2] = token[TOKEN_BYTES - 1] = mark;
    return MASU_OK;
}

static bool holds(const layer *l, size_t number) {
    for (size_t t = 0; t < l->count; t++) {
        const unsigned char *token = l->tokens + t * TOKEN_BYTES;
        unsigned char mark = mark_of(number, t);
        if (token[0] != mark || token[TOKEN_BYTES / 2] != mark || token[TOKEN_BYTES - 1] != mark)
            return false;
    }
    return true;
}

static bool run(masu_vm *vm, size_t bytes) {
    layer layers[LAYERS] = {0};
    size_t tokens = bytes / LAYERS / TOKEN_BYTES;
    for (size_t l = 0; l < LAYERS; l++) {
        void *start;
        if (masu_vm_reserve_growable(vm, 0, (size_t)64 << 30, l, &start) != MASU_OK)
            return false;
        layers[l].tokens = start;
    }
    for (size_t t = 0; t < tokens; t++)
        for (size_t l = 0; l < LAYERS; l++)
            if (append(vm, &layers[l], mark_of(l, t)) != MASU_OK)
                return false;
    masu_vm_stats stats;
    masu_vm_get_stats(vm, &stats);
    printf("%zu tokens in each of %d layers: %llu growths in place, %llu elsewhere, %llu copies\n", tokens, LAYERS,
           (unsigned long long)stats.grown_in_place, (unsigned long long)stats.grown_elsewhere,
           (unsigned long long)stats.copies);
    printf("%llu MiB asked for, %llu MiB of memory, %llu GiB of addresses, in one reservation\n",
           (unsigned long long)(stats.user_bytes >> 20), (unsigned long long)(stats.held_bytes >> 20),
           (unsigned long long)(stats.reserved_bytes >> 30));
    bool fine = true;
    for (size_t l = 0; l < LAYERS; l++) {
        fine = fine && layers[l].count == tokens && holds(&layers[l], l);
        fine = masu_vm_free(vm, layers[l].tokens) == MASU_OK && fine;
    }
    printf("every token is what it was: %s\n", fine ? "yes" : "NO");
    return fine;
}

int main(int argc, char **argv) {
    size_t mib = argc > 1 ? strtoull(argv[1], NULL, 10) : 512;
    masu_device *device;
    masu_vm *vm;
    if (masu_device_create_host(&device) != MASU_OK)
        return 1;
    masu_vm_config config = masu_vm_config_default(device);
    if (masu_vm_create(&config, &vm) != MASU_OK)
        return 1;
    bool fine = run(vm, mib << 20);
    bool clean = masu_vm_destroy(vm) == MASU_OK && masu_device_destroy(device) == MASU_OK;
    return fine && clean ? 0 : 1;
}
