/* deferred.c: what was freed during a capture, until it has ended.
 *
 *     2 * blocks alive <= slots;  waiting <= blocks alive
 *
 * A set of addresses with open addressing. It grows when a block is allocated, where an error can be said, so that
 * a free finds room in any case; and being a set, it knows a block that is freed twice.
 */
#include "interpose.h"

#include <pthread.h>
#include <stdlib.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards what follows */
static void **slots;
static size_t slot_count, alive, waiting;
static size_t cursor; /* where the next to leave is looked for */

static size_t home_of(const void *ptr, size_t count) {
    return (size_t)(((uintptr_t)ptr >> 8) * 0x9E3779B97F4A7C15u >> 20) & (count - 1);
}

/* The slot that holds ptr, or the empty one where it belongs. */
static void **slot_for(void **set, size_t count, const void *ptr) {
    size_t i = home_of(ptr, count);
    while (set[i] && set[i] != ptr)
        i = (i + 1) & (count - 1);
    return &set[i];
}

static bool grow(void) {
    size_t count = slot_count ? 2 * slot_count : 1024;
    void **fresh = calloc(count, sizeof *fresh);
    if (!fresh)
        return false;
    for (size_t i = 0; i < slot_count; i++)
        if (slots[i])
            *slot_for(fresh, count, slots[i]) = slots[i];
    free(slots);
    slots = fresh;
    slot_count = count;
    cursor = 0;
    return true;
}

bool masu_cuda_defer_room(void) {
    pthread_mutex_lock(&lock);
    bool room = 2 * (alive + 1) <= slot_count || grow();
    alive += room;
    pthread_mutex_unlock(&lock);
    return room;
}

void masu_cuda_defer_drop(void) {
    pthread_mutex_lock(&lock);
    alive--;
    pthread_mutex_unlock(&lock);
}

bool masu_cuda_defer(void *ptr) {
    pthread_mutex_lock(&lock);
    void **slot = slot_for(slots, slot_count, ptr);
    bool fresh = !*slot;
    *slot = ptr;
    waiting += fresh;
    pthread_mutex_unlock(&lock);
    return fresh;
}

/* Entries behind an emptied slot move up, so that nothing is cut off from where its address is looked for. */
static void empty(size_t hole) {
    size_t mask = slot_count - 1;
    for (size_t i = (hole + 1) & mask; slots[i]; i = (i + 1) & mask)
        if (((i - home_of(slots[i], slot_count)) & mask) >= ((i - hole) & mask)) {
            slots[hole] = slots[i];
            hole = i;
        }
    slots[hole] = NULL;
}

void *masu_cuda_undefer(void) {
    void *ptr = NULL;
    pthread_mutex_lock(&lock);
    while (waiting > 0 && !(ptr = slots[cursor]))
        cursor = (cursor + 1) & (slot_count - 1);
    if (ptr) {
        empty(cursor);
        waiting--;
    }
    pthread_mutex_unlock(&lock);
    return ptr;
}
