/* Random life of a pool of virtual memory against an array of what is live: every operation, contents
 * looked at each time, refusals in between.
 *
 *     test_vm SEED     repeats one run
 */
#include "fake_cuda/controls.h"
#include "unit/allocators/vm_fixture.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/rng.h"

enum { SLOTS = 24, STEPS = 700, MOST_GRANULES = 9 };

typedef struct slot {
    void *address; /* NULL: empty */
    size_t bytes;  /* of the block now */
    size_t filled; /* its size when it was filled; contents hold up to min(bytes, filled) */
    unsigned mark;
} slot;

typedef struct run {
    vm_fixture f;
    uint64_t seed;
    int step;
    bool pages; /* memory that can be looked at */
    masu__rng rng;
    unsigned marks;
    slot slots[SLOTS];
} run;

#define HOLDS(r, x)                                                                          \
    do {                                                                                     \
        if (!(x))                                                                            \
            fail_msg("seed %llu step %d: %s", (unsigned long long)(r)->seed, (r)->step, #x); \
    } while (0)

static size_t random_bytes(run *r) {
    size_t granules = masu__rng_below(&r->rng, MOST_GRANULES);
    static const size_t edge[] = {0, 1, GRANULE - 1, GRANULE / 2};
    return granules * GRANULE + edge[masu__rng_below(&r->rng, 4)];
}

static void fill(run *r, slot *s) {
    s->mark = ++r->marks % 200;
    s->filled = s->bytes;
    if (r->pages)
        vm_fill(s->address, s->bytes, s->mark);
}

static void check_slot(run *r, const slot *s) {
    size_t known = s->filled < s->bytes ? s->filled : s->bytes;
    if (r->pages && s->address)
        HOLDS(r, vm_has(s->address, known, s->filled, s->mark));
    if (s->address)
        HOLDS(r, vm_ask(&r->f, s->address).user_bytes == s->bytes);
}

/* One call in some is refused by the device; it must then have changed nothing. */
static void maybe_arm(run *r) {
    if (masu__rng_below(&r->rng, 3) == 0)
        masu_device_fail_at(r->f.device, 1 + masu__rng_below(&r->rng, 8), false);
}

static void disarm(run *r) {
    masu_device_fail_at(r->f.device, 0, false);
}

static void do_alloc(run *r, slot *s) {
    size_t bytes = random_bytes(r);
    bool growable = masu__rng_below(&r->rng, 3) == 0;
    void *out;
    maybe_arm(r);
    masu_status status = growable ? masu_vm_reserve_growable(r->f.vm, bytes, 12 * GRANULE, 0, &out)
                                  : masu_vm_alloc(r->f.vm, bytes, 0, 0, &out);
    disarm(r);
    if (status != MASU_OK || !out)
        return;
    *s = (slot){.address = out, .bytes = bytes};
    fill(r, s);
}

static void do_free(run *r, slot *s) {
    maybe_arm(r);
    masu_status status = masu_vm_free(r->f.vm, s->address);
    disarm(r);
    if (status == MASU_OK)
        *s = (slot){0};
}

static void do_resize(run *r, slot *s) {
    size_t bytes = random_bytes(r);
    void *out;
    maybe_arm(r);
    masu_status status = masu_vm_resize(r->f.vm, s->address, bytes, &out);
    disarm(r);
    HOLDS(r, status == MASU_OK || out == s->address);
    if (status != MASU_OK)
        return;
    s->address = out;
    if (s->filled > bytes)
        s->filled = s->filled; /* the marks stand where they stood */
    s->bytes = bytes;
    check_slot(r, s);
    fill(r, s);
}

static void do_move(run *r, slot *dst, slot *src) {
    if (!dst->address || !src->address)
        return;
    size_t before = vm_ask(&r->f, src->address).mapped_bytes;
    maybe_arm(r);
    masu_status status = masu_vm_move(r->f.vm, dst->address, src->address);
    disarm(r);
    if (status != MASU_OK || dst == src || before == 0)
        return;
    slot moved = *src;
    src->bytes = src->filled = 0;
    dst->bytes = moved.bytes > dst->bytes ? moved.bytes : dst->bytes;
    if (r->pages)
        HOLDS(r,
              vm_has(dst->address, moved.filled < moved.bytes ? moved.filled : moved.bytes, moved.filled, moved.mark));
    fill(r, dst);
}

static void do_copy(run *r, slot *dst, slot *src) {
    if (!dst->address || !src->address || dst == src || dst->bytes < src->bytes || !src->bytes)
        return;
    bool moved, give_up = masu__rng_below(&r->rng, 2);
    maybe_arm(r);
    masu_status status = masu_vm_copy_or_move(r->f.vm, dst->address, src->address, src->bytes, give_up, &moved);
    disarm(r);
    if (status != MASU_OK)
        return;
    if (r->pages)
        HOLDS(r, vm_has(dst->address, src->bytes, src->filled, src->mark));
    if (moved)
        src->bytes = src->filled = 0;
    fill(r, dst);
}

static void one_step(run *r) {
    slot *s = &r->slots[masu__rng_below(&r->rng, SLOTS)];
    slot *other = &r->slots[masu__rng_below(&r->rng, SLOTS)];
    unsigned kind = (unsigned)masu__rng_below(&r->rng, 10);
    if (!s->address)
        do_alloc(r, s);
    else if (kind < 3)
        do_free(r, s);
    else if (kind < 6)
        do_resize(r, s);
    else if (kind < 8)
        do_move(r, s, other);
    else if (kind < 9)
        do_copy(r, s, other);
    else
        masu_vm_trim(r->f.vm, masu__rng_below(&r->rng, 20) * GRANULE);
}

typedef enum ground { HOST, DRIVER, SIZES } ground;

static void live(uint64_t seed, ground on) {
    static run r;
    masu_device *inner;
    r = (run){.seed = seed, .pages = on != SIZES};
    masu__rng_seed(&r.rng, seed);
    if (on == HOST)
        assert_int_equal(masu_device_create_host(&inner), MASU_OK);
    else if (on == DRIVER)
        assert_int_equal(masu_device_create_cuda(&(masu_cuda_config){.library = fake_cuda()->path}, &inner), MASU_OK);
    else
        assert_int_equal(masu_device_create_null(100 * GRANULE, &inner), MASU_OK);
    masu_vm_config config = masu_vm_config_default(NULL);
    config.reserve_bytes = 220 * GRANULE;
    config.fragment_ratio = seed % 3 == 0 ? 0.0 : 0.25;
    config.max_cached_bytes = seed % 2 ? SIZE_MAX : 20 * GRANULE;
    config.max_piece_bytes = seed % 5 == 0 ? GRANULE : 0;
    vm_copier = on == DRIVER ? inner : NULL;
    vm_open(&r.f, inner, config);
    for (r.step = 0; r.step < STEPS; r.step++) {
        one_step(&r);
        if (masu_check_verdict(r.f.check) != MASU_VERDICT_FINE || !masu_vm_valid(r.f.vm))
            fail_msg("seed %llu step %d: %s", (unsigned long long)seed, r.step,
                     masu_verdict_name(masu_check_verdict(r.f.check)));
        if (r.step % 16 == 0)
            for (int i = 0; i < SLOTS; i++)
                check_slot(&r, &r.slots[i]);
    }
    for (int i = 0; i < SLOTS; i++) {
        check_slot(&r, &r.slots[i]);
        assert_int_equal(masu_vm_free(r.f.vm, r.slots[i].address), MASU_OK);
    }
    vm_close(&r.f, MASU_OK);
    if (on == DRIVER && fake_cuda()->simulated) {
        fake_cuda_report report;
        fake_cuda()->report(&report);
        if (report.misuses > 0)
            fail_msg("driver misused: %s", fake_cuda()->last_misuse());
        assert_int_equal(report.handles + report.mappings + report.reservations, 0);
    }
    vm_copier = NULL;
}

static uint64_t only_seed;

static void on_pages(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed <= 4; seed++)
        live(only_seed ? only_seed : seed, HOST);
}

static void on_the_driver(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed <= 3; seed++)
        live(only_seed ? only_seed : seed, DRIVER);
}

static void on_sizes(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed <= 20; seed++)
        live(only_seed ? only_seed : seed, SIZES);
}

/* ---- B20 ------------------------------------------------------------------------------------------------ */

enum { READERS = 2, MOVES = 100000 };

typedef struct reader {
    const unsigned char *block;
    _Atomic bool *stop;
    bool torn;
} reader;

static void *read_on(void *argument) {
    reader *me = argument;
    while (!atomic_load(me->stop)) {
        me->torn |= !vm_has(me->block, 4 * GRANULE, 4 * GRANULE, 50);
        usleep(20); /* the mover shall get on, too */
    }
    return NULL;
}

/* Two blocks change their contents, three moves each time, 10⁵ moves, while others read other blocks. */
static void swapped_by_moves(void **state) {
    (void)state;
    masu_device *host;
    masu_vm *vm;
    assert_int_equal(masu_device_create_host(&host), MASU_OK);
    masu_vm_config config = masu_vm_config_default(host);
    assert_int_equal(masu_vm_create(&config, &vm), MASU_OK);
    void *a, *b, *spare, *others[READERS];
    _Atomic bool stop = false;
    reader readers[READERS];
    pthread_t threads[READERS];
    assert_int_equal(masu_vm_alloc(vm, GRANULE, 0, 0, &a), MASU_OK);
    assert_int_equal(masu_vm_alloc(vm, GRANULE, 0, 0, &b), MASU_OK);
    assert_int_equal(masu_vm_reserve_growable(vm, 0, GRANULE, 0, &spare), MASU_OK);
    for (int i = 0; i < READERS; i++) {
        assert_int_equal(masu_vm_alloc(vm, 4 * GRANULE, 0, 0, &others[i]), MASU_OK);
        vm_fill(others[i], 4 * GRANULE, 50);
        readers[i] = (reader){others[i], &stop, false};
        assert_int_equal(pthread_create(&threads[i], NULL, read_on, &readers[i]), 0);
    }
    vm_fill(a, GRANULE, 1);
    vm_fill(b, GRANULE, 2);
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
    int swaps = (MOVES / 60) | 1;
#else
    int swaps = (MOVES / 3) | 1;
#endif
    for (int i = 0; i < swaps; i++) {
        assert_int_equal(masu_vm_move(vm, spare, a), MASU_OK);
        assert_int_equal(masu_vm_move(vm, a, b), MASU_OK);
        assert_int_equal(masu_vm_move(vm, b, spare), MASU_OK);
        if (i % 1000 == 0)
            assert_true(vm_has(a, GRANULE, GRANULE, i % 2 ? 1 : 2));
    }
    assert_true(vm_has(a, GRANULE, GRANULE, 2));
    assert_true(vm_has(b, GRANULE, GRANULE, 1));
    stop = true;
    for (int i = 0; i < READERS; i++) {
        pthread_join(threads[i], NULL);
        assert_false(readers[i].torn);
        assert_int_equal(masu_vm_free(vm, others[i]), MASU_OK);
    }
    assert_int_equal(masu_vm_free(vm, a), MASU_OK);
    assert_int_equal(masu_vm_free(vm, b), MASU_OK);
    assert_int_equal(masu_vm_free(vm, spare), MASU_OK);
    assert_int_equal(masu_vm_destroy(vm), MASU_OK);
    assert_int_equal(masu_device_destroy(host), MASU_OK);
}

/* ---- threads ---------------------------------------------------------------------------------------------- */

enum { THREADS = 4, ROUNDS = 60 };

typedef struct worker {
    masu_vm *vm;
    unsigned number;
    bool wrong;
} worker;

static void *allocate_on(void *argument) {
    worker *me = argument;
    masu__rng rng;
    masu__rng_seed(&rng, me->number);
    for (int i = 0; i < ROUNDS; i++) {
        size_t bytes = GRANULE * (1 + masu__rng_below(&rng, 3));
        void *ptr, *moved, *other;
        if (masu_vm_alloc(me->vm, bytes, 0, me->number, &ptr) != MASU_OK)
            continue;
        vm_fill(ptr, bytes, me->number);
        me->wrong |= masu_vm_resize(me->vm, ptr, bytes + 2 * GRANULE, &moved) != MASU_OK;
        me->wrong |= !vm_has(moved, bytes, bytes, me->number);
        me->wrong |= masu_vm_alloc(me->vm, bytes + 2 * GRANULE, 0, me->number, &other) != MASU_OK;
        me->wrong |= masu_vm_move(me->vm, other, moved) != MASU_OK;
        me->wrong |= !vm_has(other, bytes, bytes, me->number);
        me->wrong |= masu_vm_free(me->vm, moved) != MASU_OK;
        me->wrong |= masu_vm_free(me->vm, other) != MASU_OK;
        if (i % 16 == 0)
            masu_vm_trim(me->vm, 4 * GRANULE);
    }
    return NULL;
}

static void many_threads(void **state) {
    (void)state;
    masu_device *host;
    masu_vm *vm;
    pthread_t threads[THREADS];
    worker workers[THREADS];
    assert_int_equal(masu_device_create_host(&host), MASU_OK);
    masu_vm_config config = masu_vm_config_default(host);
    assert_int_equal(masu_vm_create(&config, &vm), MASU_OK);
    for (unsigned i = 0; i < THREADS; i++) {
        workers[i] = (worker){vm, i + 1, false};
        assert_int_equal(pthread_create(&threads[i], NULL, allocate_on, &workers[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_join(threads[i], NULL), 0);
        assert_false(workers[i].wrong);
    }
    masu_vm_stats stats;
    masu_vm_get_stats(vm, &stats);
    assert_int_equal(stats.live_blocks, 0);
    assert_int_equal(stats.user_bytes + stats.mapped_bytes, 0);
    assert_true(masu_vm_valid(vm));
    assert_int_equal(masu_vm_destroy(vm), MASU_OK);
    assert_int_equal(masu_device_destroy(host), MASU_OK);
}

int main(int argc, char **argv) {
    only_seed = argc > 1 ? strtoull(argv[1], NULL, 10) : 0;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(on_pages),         cmocka_unit_test(on_the_driver), cmocka_unit_test(on_sizes),
        cmocka_unit_test(swapped_by_moves), cmocka_unit_test(many_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
