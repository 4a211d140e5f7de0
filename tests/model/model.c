/* model.c: the model. */
#include "model/model.h"

#include <stdlib.h>
#include <string.h>

model_seeds model_seeds_wanted(const uint64_t *usual, size_t count) {
    model_seeds list = {.count = 0};
    const char *text = getenv("MASU_MODEL_SEEDS");
    for (size_t i = 0; !text && i < count; i++)
        list.seed[list.count++] = usual[i];
    while (text && list.count < MODEL_MOST_SEEDS) {
        char *end;
        uint64_t seed = strtoull(text, &end, 0);
        if (end == text)
            break;
        list.seed[list.count++] = seed;
        text = end;
    }
    return list;
}

int model_steps_wanted(int usual) {
    const char *text = getenv("MASU_MODEL_STEPS");
    int steps = text ? atoi(text) : 0;
    return steps > 0 ? steps : usual;
}

void model_start(model *m, uint64_t seed, bool writable) {
    memset(m, 0, sizeof *m);
    m->seed = seed;
    m->writable = writable;
    masu__rng_seed(&m->rng, seed);
}

model_block *model_any_slot(model *m) {
    return &m->slots[masu__rng_below(&m->rng, MODEL_SLOTS)];
}

size_t model_random_bytes(model *m, size_t most) {
    static const size_t borders[] = {1, 63, 64, 65, 255, 256, 257, 1024, 1025, 16383, 16384, 16385, 131072};
    switch (masu__rng_below(&m->rng, 8)) {
    case 0:
        return borders[masu__rng_below(&m->rng, sizeof borders / sizeof *borders)];
    case 1:
        return 1 + masu__rng_below(&m->rng, most);
    case 2:
    case 3:
        return 1 + masu__rng_below(&m->rng, 40000);
    default:
        return 1 + masu__rng_below(&m->rng, 3000);
    }
}

size_t model_random_alignment(model *m, size_t most) {
    if (masu__rng_below(&m->rng, 8) != 0)
        return 0;
    size_t alignment = 1;
    while (alignment < most && masu__rng_below(&m->rng, 6) != 0)
        alignment *= 2;
    return alignment;
}

static bool apart(const model_block *a, const unsigned char *address, size_t bytes) {
    return a->address + a->bytes <= address || address + bytes <= a->address;
}

/* First and last bytes are enough to see a neighbour's write, and cheap for large blocks. */
static size_t painted(size_t bytes) {
    return bytes < 256 ? bytes : 256;
}

void model_add(model *m, model_block *slot, void *address, size_t bytes, size_t alignment) {
    HOLDS(m, slot->address == NULL && address != NULL);
    HOLDS(m, (uintptr_t)address % 64 == 0);
    HOLDS(m, alignment == 0 || (uintptr_t)address % alignment == 0);
    for (size_t i = 0; i < MODEL_SLOTS; i++)
        HOLDS(m, m->slots[i].address == NULL || apart(&m->slots[i], address, bytes));
    *slot = (model_block){address, bytes, (unsigned char)masu__rng_next(&m->rng)};
    if (m->writable) {
        memset(slot->address, slot->mark, painted(bytes));
        memset(slot->address + bytes - painted(bytes), slot->mark, painted(bytes));
    }
    m->allocations++;
    m->live_blocks++;
    m->live_bytes += bytes;
    if (m->live_bytes > m->peak_bytes)
        m->peak_bytes = m->live_bytes;
}

void model_check_contents(model *m, const model_block *slot) {
    if (!m->writable || !slot->address)
        return;
    for (size_t i = 0; i < painted(slot->bytes); i++) {
        HOLDS(m, slot->address[i] == slot->mark);
        HOLDS(m, slot->address[slot->bytes - 1 - i] == slot->mark);
    }
}

void model_remove(model *m, model_block *slot) {
    m->frees++;
    m->live_blocks--;
    m->live_bytes -= slot->bytes;
    *slot = (model_block){0};
}

void model_remove_all(model *m) {
    for (size_t i = 0; i < MODEL_SLOTS; i++)
        m->slots[i] = (model_block){0};
    m->frees = m->allocations;
    m->live_blocks = 0;
    m->live_bytes = 0;
    m->peak_bytes = 0;
}
