/* build_shared_arena.c: calls inside of an arena ask nobody for memory: malloc and mmap are this program's own here and
 * count. The bytes that arena_used says are enough for the same calls, and a unit less is not: then a status says
 * so. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "net.h"

enum { UNIT = MASU_INSTANCE_UNIT, FRAMES = 65536, LARGEST = 32 * UNIT + FRAMES };

static unsigned long calls;

/* masu calls glibc's functions by their own names, others by the usual ones; both come here. */
static void *found(const char *name) {
    void *function = dlsym(RTLD_NEXT, name);
    if (!function)
        abort();
    return function;
}

void *__libc_malloc(size_t bytes);
void *__libc_calloc(size_t count, size_t bytes);
void *__libc_realloc(void *p, size_t bytes);

void *__libc_malloc(size_t bytes) {
    static void *(*real)(size_t);
    calls++;
    if (!real)
        *(void **)&real = found("__libc_malloc");
    return real(bytes);
}
void *__libc_calloc(size_t count, size_t bytes) {
    static void *(*real)(size_t, size_t);
    calls++;
    if (!real)
        *(void **)&real = found("__libc_calloc");
    return real(count, bytes);
}
void *__libc_realloc(void *p, size_t bytes) {
    static void *(*real)(void *, size_t);
    calls++;
    if (!real)
        *(void **)&real = found("__libc_realloc");
    return real(p, bytes);
}
void *malloc(size_t bytes) {
    return __libc_malloc(bytes);
}
void *calloc(size_t count, size_t bytes) {
    return __libc_calloc(count, bytes);
}
void *realloc(void *p, size_t bytes) {
    return __libc_realloc(p, bytes);
}
void *mmap(void *at, size_t bytes, int protection, int flags, int file, off_t offset) {
    calls++;
    return (void *)syscall(SYS_mmap, at, bytes, protection, flags, file, offset);
}

static _Alignas(UNIT) char memory[LARGEST];
static net *n;

#define CHECK(what)                                                     \
    do {                                                                \
        if (!(what)) {                                                  \
            printf("line %d: %s: %s\n", __LINE__, #what, net_error(n)); \
            exit(1);                                                    \
        }                                                               \
    } while (0)

static masu_status work(int rounds, unsigned long *asked) {
    float x[6] = {1, 2, 3, 4, 5, 6}, y[4];
    int64_t in[2] = {2, 3}, out[2] = {2, 2}, steps = 0;
    masu_tensor vx = masu_tensor_of(MASU_F32, x, 2, in), vy = masu_tensor_of(MASU_F32, y, 2, out);
    net_Net *m = NULL;
    masu_status status = net_Net_new(n, 3, 2, &m);
    for (int i = 0; status == MASU_OK && i < rounds; i++) {
        unsigned long before = calls;
        masu_tensor made = masu_tensor_wanted();
        status = net_Net_forward(n, m, &vx, &vy);
        if (status == MASU_OK)
            status = net_Net_learn(n, m, 0.5f, &steps);
        if (status == MASU_OK)
            status = net_identity(n, &vx, &made);
        net_tensor_release(&made);
        if (i > 0 && asked)
            *asked += calls - before;
    }
    net_Net_drop(m);
    return status;
}

static masu_status in_arena(size_t bytes, size_t *used, unsigned long *asked) {
    masu_instance_options options;
    memset(&options, 0, sizeof options);
    options.struct_bytes = sizeof options;
    options.arena = memory;
    options.arena_bytes = bytes;
    masu_status status = net_create(&options, &n);
    if (status != MASU_OK)
        return status;
    status = work(100, asked);
    *used = net_arena_used(n);
    net_destroy(n);
    return status;
}

int main(void) {
    size_t used = 0, again = 0;
    unsigned long asked = 0;
    CHECK(in_arena(LARGEST, &used, &asked) == MASU_OK && asked == 0);
    CHECK(used > FRAMES && used < LARGEST && used % UNIT == FRAMES);
    CHECK(in_arena(used, &again, &asked) == MASU_OK && again == used && asked == 0);
    CHECK(used == NET_ARENA_BYTES); /* what the build has found out */
    for (size_t less = UNIT + FRAMES; less < used; less += UNIT)
        CHECK(in_arena(less, &again, NULL) == MASU_ERR_OUT_OF_MEMORY);
    CHECK(in_arena(FRAMES, &again, NULL) == MASU_ERR_INVALID_ARGUMENT);
    unsigned long before = calls;
    /* Without an arena the pools have what they need after the first round, too. */
    CHECK(net_create(NULL, &n) == MASU_OK && work(2, NULL) == MASU_OK);
    asked = 0;
    CHECK(work(100, &asked) == MASU_OK && asked == 0 && net_arena_used(n) == 0);
    net_destroy(n);
    CHECK(calls > before);
    return 0;
}
