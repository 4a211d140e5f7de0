/* Memory that follows use: what a trim leaves, and what is kept without one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <pthread.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include <masu/alloc.h>
#include <masu/heap.h>

#include "allocators/bestfit/bestfit_pool.h"
#include "base/annotate.h"
#include "base/rng.h"

/* What a sanitizer notes of memory is resident too. */
#if MASU__ASAN || defined(__SANITIZE_THREAD__)
#define SHADOWED true
#else
#define SHADOWED false
#endif

enum { KIB = 1 << 10, MIB = 1 << 20, BLOCKS = 2048 };

static void *blocks[BLOCKS];

static size_t resident_bytes(void) {
    long whole, resident = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    assert_non_null(file);
    assert_int_equal(fscanf(file, "%ld %ld", &whole, &resident), 2);
    fclose(file);
    return (size_t)resident * (size_t)sysconf(_SC_PAGESIZE);
}

static masu_heap *heap_of(size_t max_idle_bytes, uint64_t idle_allocations, masu_pool_policy policy) {
    masu_heap *heap;
    masu_heap_config config = masu_heap_config_default();
    config.max_idle_bytes = max_idle_bytes;
    config.idle_allocations = idle_allocations;
    config.policy = policy;
    config.pool_bytes = 4 * MIB;
    assert_int_equal(masu_heap_create(&config, &heap), MASU_OK);
    return heap;
}

static masu_heap_stats stats_of(const masu_heap *heap) {
    masu_heap_stats s;
    masu_heap_get_stats(heap, &s);
    assert_int_equal(s.live_bytes + s.cached_bytes + s.free_bytes + s.slack_bytes, s.reserved_bytes);
    assert_true(masu_heap_valid(heap));
    return s;
}

static void take_all(masu_heap *heap, size_t bytes) {
    for (int i = 0; i < BLOCKS; i++) {
        assert_int_equal(masu_heap_alloc(heap, bytes, 0, &blocks[i]), MASU_OK);
        memset(blocks[i], i, bytes);
    }
}

static void give_all_but_every(masu_heap *heap, size_t bytes, int step) {
    for (int i = 0; i < BLOCKS; i++)
        if (step == 0 || i % step != 0)
            assert_int_equal(masu_heap_free(heap, blocks[i], bytes), MASU_OK);
}

static void assert_every_holds(size_t bytes, int step) {
    for (int i = 0; i < BLOCKS; i += step)
        for (size_t k = 0; k < bytes; k += k + 64 < bytes ? 64 : bytes)
            assert_int_equal(((unsigned char *)blocks[i])[k], (unsigned char)i);
}

/* Sizes below, at and above the classes of the buckets, and no multiple of a page. */
static void a_trim_empties_what_lies_between_live_blocks(void **state) {
    (void)state;
    static const size_t sizes[] = {8000, 16384, 20000, 65536, 70001};
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        masu_heap *heap = heap_of(0, 0, MASU_POOL_REUSE);
        size_t before = resident_bytes(), bytes = sizes[s];
        take_all(heap, bytes);
        give_all_but_every(heap, bytes, 64);
        assert_int_equal(masu_heap_trim(heap, 0), MASU_OK);
        if (!SHADOWED)
            assert_true(resident_bytes() < before + BLOCKS / 64 * (bytes + 2 * 4096 + 8192) + 2 * MIB);
        assert_every_holds(bytes, 64);
        void *again;
        assert_int_equal(masu_heap_alloc(heap, 3 * bytes, 0, &again), MASU_OK); /* what was emptied serves */
        memset(again, 1, 3 * bytes);
        assert_every_holds(bytes, 64);
        assert_int_equal(masu_heap_free(heap, again, 3 * bytes), MASU_OK);
        for (int i = 0; i < BLOCKS; i += 64)
            assert_int_equal(masu_heap_free(heap, blocks[i], bytes), MASU_OK);
        assert_int_equal(masu_heap_destroy(heap), MASU_OK);
    }
}

static void a_trim_keeps_what_it_is_told_to(void **state) {
    (void)state;
    enum { BYTES = 64 * KIB };
    for (size_t keep = 0; keep <= 128 * (size_t)MIB; keep += 32 * MIB) {
        masu_heap *heap = heap_of(0, 0, MASU_POOL_REUSE);
        size_t before = resident_bytes();
        take_all(heap, BYTES);
        give_all_but_every(heap, BYTES, 32);
        assert_int_equal(masu_heap_trim(heap, keep), MASU_OK);
        size_t now = resident_bytes() - before, live = BLOCKS / 32 * BYTES;
        if (!SHADOWED) {
            assert_true(now < live + keep + 2 * MIB);
            assert_true(now + 2 * MIB > (keep + live < BLOCKS * BYTES ? keep + live : BLOCKS * BYTES));
        }
        assert_every_holds(BYTES, 32);
        for (int i = 0; i < BLOCKS; i += 32)
            assert_int_equal(masu_heap_free(heap, blocks[i], BYTES), MASU_OK);
        assert_int_equal(masu_heap_destroy(heap), MASU_OK);
    }
}

static void idle_memory_has_a_cap(void **state) {
    (void)state;
    for (size_t cap = 4 * MIB; cap <= 64 * (size_t)MIB; cap *= 4) {
        masu_heap *heap = heap_of(cap, 0, MASU_POOL_REUSE);
        take_all(heap, 50000);
        uint64_t reserved = stats_of(heap).reserved_bytes;
        give_all_but_every(heap, 50000, 0);
        masu_heap_stats s = stats_of(heap);
        assert_true(s.reserved_bytes <= cap && s.reserved_bytes + 8 * MIB > cap && reserved > 90 * MIB);
        take_all(heap, 50000);
        give_all_but_every(heap, 50000, 0);
        assert_true(stats_of(heap).reserved_bytes <= cap);
        assert_int_equal(masu_heap_destroy(heap), MASU_OK);
    }
}

static void a_cap_under_a_block_keeps_none(void **state) {
    (void)state;
    masu_heap *heap = heap_of(1, 0, MASU_POOL_REUSE);
    void *ptr;
    for (int i = 0; i < 20; i++) {
        assert_int_equal(masu_heap_alloc(heap, 5 * MIB + (size_t)i, 0, &ptr), MASU_OK);
        assert_int_equal(masu_heap_free(heap, ptr, 5 * MIB + (size_t)i), MASU_OK);
        assert_int_equal(stats_of(heap).reserved_bytes, 0);
    }
    assert_int_equal(masu_heap_destroy(heap), MASU_OK);
}

static void a_persistent_pool_keeps_all(void **state) {
    (void)state;
    masu_heap *heap = heap_of(1, 4, MASU_POOL_PERSISTENT);
    take_all(heap, 50000);
    uint64_t reserved = stats_of(heap).reserved_bytes;
    give_all_but_every(heap, 50000, 0);
    assert_int_equal(masu_heap_trim(heap, 0), MASU_OK);
    assert_int_equal(stats_of(heap).reserved_bytes, reserved);
    assert_int_equal(masu_heap_destroy(heap), MASU_OK);
}

static void idle_memory_goes_without_growth(void **state) {
    (void)state;
    masu_heap *heap = heap_of(0, 1000, MASU_POOL_REUSE);
    void *ptr;
    take_all(heap, 50000);
    give_all_but_every(heap, 50000, 0);
    assert_true(stats_of(heap).reserved_bytes > 90 * MIB);
    for (int i = 0; i < 1300; i++) { /* none of these asks the device */
        assert_int_equal(masu_heap_alloc(heap, 20000, 0, &ptr), MASU_OK);
        assert_int_equal(masu_heap_free(heap, ptr, 20000), MASU_OK);
    }
    assert_true(stats_of(heap).reserved_bytes <= 8 * MIB);
    assert_int_equal(masu_heap_destroy(heap), MASU_OK);
}

static void a_device_without_pages_is_left_alone(void **state) {
    (void)state;
    masu_device *device;
    masu_bestfit *pool;
    void *some[3];
    assert_int_equal(masu_device_create_null(0, &device), MASU_OK);
    masu_bestfit_config config = masu_bestfit_config_default(device);
    config.max_idle_bytes = 1;
    assert_int_equal(masu_bestfit_create(&config, &pool), MASU_OK);
    for (int i = 0; i < 3; i++)
        assert_int_equal(masu_bestfit_alloc(pool, 100 * (size_t)MIB, 0, 0, &some[i]), MASU_OK);
    assert_int_equal(masu_bestfit_free(pool, some[1]), MASU_OK);
    assert_int_equal(masu_bestfit_trim(pool, 0), MASU_OK);
    assert_true(masu_bestfit_valid(pool));
    masu_bestfit_reset(pool);
    masu_bestfit_stats s;
    masu_bestfit_get_stats(pool, &s);
    assert_int_equal(s.reserved_bytes, 0);
    assert_true(masu_bestfit_valid(pool));
    assert_int_equal(masu_bestfit_destroy(pool), MASU_OK);
    assert_int_equal(masu_device_destroy(device), MASU_OK);
}

/* An idle device block of just the cap stays, one granule more goes. */
static void idle_memory_of_just_the_cap_stays(void **state) {
    (void)state;
    for (size_t more = 0; more <= 4096; more += 4096) {
        masu_device *device;
        masu_bestfit *pool;
        void *block;
        masu_bestfit_stats s;
        assert_int_equal(masu_device_create_host(&device), MASU_OK);
        masu_bestfit_config config = masu_bestfit_config_default(device);
        config.initial_bytes = 0;
        config.pool_bytes = 4096;
        config.max_idle_bytes = MIB;
        assert_int_equal(masu_bestfit_create(&config, &pool), MASU_OK);
        assert_int_equal(masu_bestfit_alloc(pool, MIB + more, 0, 0, &block), MASU_OK);
        assert_int_equal(masu_bestfit_free(pool, block), MASU_OK);
        masu_bestfit_get_stats(pool, &s);
        assert_int_equal(s.reserved_bytes, more ? 0 : MIB);
        assert_int_equal(masu_bestfit_destroy(pool), MASU_OK);
        assert_int_equal(masu_device_destroy(device), MASU_OK);
    }
}

static bool is_resident(void *page) {
    unsigned char seen;
    assert_int_equal(mincore(page, 4096, &seen), 0);
    return seen & 1;
}

/* At the nth look the pages of a block that was idle at the looks before go back, if it is of 64 KiB at least. */
static void pages_go_back_at_the_look_they_are_due(void **state) {
    (void)state;
    enum { LEAST = 64 << 10, LOOKS = 3 };
    for (size_t bytes = LEAST - 4096; bytes <= LEAST; bytes += 4096) {
        masu_device *device;
        masu_bestfit *pool;
        void *block, *behind;
        assert_int_equal(masu_device_create_host(&device), MASU_OK);
        masu_bestfit_config config = masu_bestfit_config_default(device);
        config.initial_bytes = config.pool_bytes = MIB;
        assert_int_equal(masu_bestfit_create(&config, &pool), MASU_OK);
        assert_int_equal(masu_bestfit_alloc(pool, bytes, 4096, 0, &block), MASU_OK);
        assert_int_equal(masu_bestfit_alloc(pool, bytes, 4096, 0, &behind), MASU_OK);
        memset(block, 1, bytes);
        assert_int_equal(masu_bestfit_free(pool, block), MASU_OK);
        for (unsigned look = 1; look <= LOOKS; look++) {
            assert_true(is_resident(block));
            masu__bestfit_age(pool, LOOKS);
        }
        assert_int_equal(is_resident(block), bytes < LEAST);
        assert_true(masu_bestfit_valid(pool));
        assert_int_equal(masu_bestfit_free(pool, behind), MASU_OK);
        assert_int_equal(masu_bestfit_destroy(pool), MASU_OK);
        assert_int_equal(masu_device_destroy(device), MASU_OK);
    }
}

/* ---- the process-wide pool: what was used before is used first -------------------------------- */

/* Where every block is looked at, each goes alone; ThreadSanitizer keeps pages of its own beside each. */
static bool blocks_go_alone(void) {
#if defined(MASU_HEAVY) || defined(__SANITIZE_THREAD__)
    return true;
#else
    return masu__annotate_wanted();
#endif
}

enum { MANY = 400000, PHASE_BYTES = 32 * MIB };
static void *many[MANY];

static size_t fill(size_t bytes, size_t all) {
    size_t count = all / bytes;
    assert_true(count <= MANY);
    for (size_t i = 0; i < count; i++) {
        many[i] = masu_alloc(bytes);
        assert_non_null(many[i]);
        memset(many[i], 1, bytes);
    }
    return count;
}

static void empty(size_t bytes, size_t count) {
    for (size_t i = 0; i < count; i++)
        assert_int_equal(masu_free(many[i], bytes), MASU_OK);
}

/* Each phase needs the same amount in other pieces: the memory of the one before serves it. */
static void phases_of_other_sizes_share_pages(void **state) {
    (void)state;
    static const size_t sizes[] = {20000, 1 * MIB, 100, 12000, 3 * MIB, 8 * KIB, 50000};
    if (blocks_go_alone()) {
        print_message("skipped: each block is one of its own in this build\n");
        skip();
    }
    size_t first = 0;
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        empty(sizes[s], fill(sizes[s], PHASE_BYTES));
        if (s == 0)
            first = resident_bytes();
    }
    size_t last = resident_bytes();
    print_message("resident after the first phase %zu KiB, after all %zu KiB\n", first / KIB, last / KIB);
    assert_true(last < first + PHASE_BYTES / 2 + 16 * (size_t)MIB); /* the cap, and what phases do not share */
    assert_int_equal(masu_trim(0), MASU_OK);
    assert_true(masu_valid());
}

/* Small blocks are gone when large ones come, and these lie where their slabs lay: all but those that would keep more
 * of a slab from coming back than they take. */
static void large_blocks_take_the_pages_of_slabs(void **state) {
    (void)state;
    enum { SMALL = 1 * KIB, LARGE = 200 * KIB, BYTES = 12 * MIB };
    if (blocks_go_alone())
        skip();
    assert_int_equal(masu_trim(0), MASU_OK);
    empty(SMALL, fill(SMALL, BYTES));
    size_t before = resident_bytes();
    size_t count = fill(LARGE, BYTES);
    size_t grown = resident_bytes() - before;
    print_message("grown by %zu of %d KiB\n", grown / KIB, BYTES / KIB);
    assert_true(grown < BYTES / 4);
    empty(LARGE, count);
    assert_int_equal(masu_trim(0), MASU_OK);
    assert_true(masu_valid());
}

/* Where two holes would do, the tighter one is taken, though it was made of blocks that the thread kept: what is kept
 * merges before another block is cut. */
static void what_is_kept_merges_before_a_block_is_cut(void **state) {
    (void)state;
    enum { COUNT = 48, PIECE = 300 * KIB, WIDE = 8, TIGHT = 3 };
    char *pieces[COUNT], *whole = NULL;
    if (blocks_go_alone())
        skip();
    assert_int_equal(masu_trim(0), MASU_OK);
    for (int i = 0; i < COUNT; i++)
        assert_non_null(pieces[i] = masu_alloc(PIECE));
    for (int i = 4; i < 4 + WIDE; i++)
        assert_int_equal(masu_free(pieces[i], PIECE), MASU_OK);
    masu_thread_flush();
    for (int i = 20; i < 20 + TIGHT; i++)
        assert_int_equal(masu_free(pieces[i], PIECE), MASU_OK);
    masu_heap_stats s;
    masu_get_stats(&s);
    assert_true(s.thread_cached_bytes >= TIGHT * PIECE);
    assert_non_null(whole = masu_alloc((TIGHT - 1) * PIECE + PIECE / 2));
    assert_ptr_equal(whole, pieces[20]);
    assert_int_equal(masu_free(whole, (TIGHT - 1) * PIECE + PIECE / 2), MASU_OK);
    for (int i = 0; i < COUNT; i++)
        if ((i < 4 || i >= 4 + WIDE) && (i < 20 || i >= 20 + TIGHT))
            assert_int_equal(masu_free(pieces[i], PIECE), MASU_OK);
    assert_int_equal(masu_trim(0), MASU_OK);
    assert_true(masu_valid());
}

/* Sizes that take turns in a program that has little else: each keeps its block. */
static void sizes_that_take_turns_keep_their_blocks(void **state) {
    (void)state;
    enum { SIZES = 32, ROUNDS = 20, BASE = 64 * KIB, STEP = 4 * KIB };
    if (blocks_go_alone())
        skip();
    assert_int_equal(masu_trim(0), MASU_OK);
    size_t sum = 0;
    for (int i = 0; i < SIZES * ROUNDS; i++) {
        size_t bytes = BASE + (size_t)(i % SIZES) * STEP;
        sum += i < SIZES ? bytes : 0;
        void *block = masu_alloc(bytes);
        assert_non_null(block);
        assert_int_equal(masu_free(block, bytes), MASU_OK);
    }
    masu_heap_stats s;
    masu_get_stats(&s);
    print_message("kept %zu of %zu KiB\n", (size_t)s.thread_cached_bytes / KIB, sum / KIB);
    assert_true(s.thread_cached_bytes >= sum / 2); /* one class less may be kept where a hole served two */
    assert_int_equal(masu_trim(0), MASU_OK);
    assert_true(masu_valid());
}

/* A thousand small blocks between large ones: freed, the large ones are one hole again, for slabs lie elsewhere. */
static void slabs_are_not_in_the_way_of_large_blocks(void **state) {
    (void)state;
    enum { COUNT = 24, PIECE = 256 * KIB, BETWEEN = 40 };
    char *pieces[COUNT], *whole;
    void *small[COUNT][BETWEEN];
    if (blocks_go_alone())
        skip();
    assert_int_equal(masu_trim(0), MASU_OK);
    for (int i = 0; i < COUNT; i++) {
        assert_non_null(pieces[i] = masu_alloc(PIECE));
        for (int k = 0; k < BETWEEN; k++)
            assert_non_null(small[i][k] = masu_alloc(6000));
    }
    for (int i = 0; i < COUNT; i++)
        assert_int_equal(masu_free(pieces[i], PIECE), MASU_OK);
    assert_non_null(whole = masu_alloc((size_t)COUNT * PIECE));
    assert_ptr_equal(whole, pieces[0]);
    assert_int_equal(masu_free(whole, (size_t)COUNT * PIECE), MASU_OK);
    for (int i = 0; i < COUNT; i++)
        for (int k = 0; k < BETWEEN; k++)
            assert_int_equal(masu_free(small[i][k], 6000), MASU_OK);
    assert_int_equal(masu_trim(0), MASU_OK);
    assert_true(masu_valid());
}

/* Above the cap slabs go back as they came: no record for each small block, an address for those below it. */
static void small_blocks_above_the_cap_leave_no_records(void **state) {
    (void)state;
    masu_heap_stats before, after;
    if (blocks_go_alone()) {
        print_message("skipped: each block is one of its own in this build\n");
        skip();
    }
    masu_get_stats(&before);
    for (int round = 0; round < 3; round++)
        empty(64, fill(64, (size_t)MANY * 64));
    masu_get_stats(&after);
    assert_true(after.metadata_bytes < before.metadata_bytes + 3 * (size_t)MIB);
    assert_true(after.cached_bytes <= 17 * (size_t)MIB);
    assert_true(masu_valid());
    assert_int_equal(masu_trim(0), MASU_OK);
    masu_get_stats(&after);
    assert_int_equal(after.live_blocks, 0);
}

/* ---- the pool of the process --------------------------------------------------------------------------------- */

#if defined(MASU_HEAVY) || MASU__ASAN || defined(__SANITIZE_THREAD__)
#define WITH_CACHES 0 /* or what a sanitizer notes of each access is resident too */
#else
#define WITH_CACHES 1
#endif

static size_t size_at(int i) {
    return 1000 + (size_t)(i * 7919) % 60000;
}

/* Blocks of both kinds, of which every 64th stays, so that no device block is wholly free. */
static void fill_and_free(void) {
    for (int i = 0; i < BLOCKS; i++) {
        blocks[i] = masu_alloc(size_at(i));
        memset(blocks[i], 1, size_at(i));
    }
    for (int i = 0; i < BLOCKS; i++)
        if (i % 64 != 0)
            assert_int_equal(masu_free(blocks[i], size_at(i)), MASU_OK);
}

static void free_the_rest(void) {
    for (int i = 0; i < BLOCKS; i += 64)
        assert_int_equal(masu_free(blocks[i], size_at(i)), MASU_OK);
    assert_true(masu_valid());
}

static void rest(unsigned ms) {
    usleep(ms * 1000);
}

enum { STEPS = 16 * KIB / 64, ROUND = 2000 };
static void *handed[STEPS + ROUND];

static void *frees_what_is_handed(void *wrong) {
    for (int i = 0; i < STEPS + ROUND; i++)
        if (masu_free(handed[i], i < STEPS ? (size_t)(i + 1) * 64 : 64) != MASU_OK)
            return wrong;
    return NULL;
}

/* What a thread leaves to the others is noted in slots: as many as there are blocks, not as many as there could be. */
static void notes_between_threads_follow_use(void **state) {
    (void)state;
    masu_heap_stats before, after;
    pthread_t thread;
    void *wrong = NULL;
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < STEPS + ROUND; i++)
            assert_non_null(handed[i] = masu_alloc(i < STEPS ? (size_t)(i + 1) * 64 : 64));
        masu_get_stats(&before);
        assert_int_equal(pthread_create(&thread, NULL, frees_what_is_handed, &wrong), 0);
        assert_int_equal(pthread_join(thread, &wrong), 0);
        assert_null(wrong);
        masu_get_stats(&after);
        assert_in_range(after.metadata_bytes, 0, before.metadata_bytes + 40 * KIB);
        assert_true(masu_valid());
    }
}

static void idle_memory_decays(void **state) {
    (void)state;
    if (!WITH_CACHES)
        skip();
    assert_int_equal(masu_set_idle(0, 0), MASU_OK);
    fill_and_free();
    size_t full = resident_bytes();
    rest(60);
    masu_decay();
    assert_in_range(resident_bytes(), full - MIB, full + MIB); /* nobody asked for it */
    assert_int_equal(masu_set_idle(0, 40), MASU_OK);
    for (int look = 0; look < 6; look++) {
        rest(30);
        for (int i = 0; i < 2000; i++) /* a program that goes on */
            assert_int_equal(masu_free(masu_alloc(300 + (size_t)(i % 7) * 100), 300 + (size_t)(i % 7) * 100), MASU_OK);
        masu_thread_flush();
        masu_decay();
    }
    assert_true(masu_valid());
    assert_in_range(resident_bytes(), 0, full - 40 * MIB);
    free_the_rest();
    assert_int_equal(masu_set_idle(0, 0), MASU_OK);
}

enum { HOLES_BYTES = MIB * 9 / 4 }; /* beside live blocks, in their pages */

static void idle_memory_is_capped(void **state) {
    (void)state;
    if (!WITH_CACHES)
        skip();
    assert_int_equal(masu_trim(0), MASU_OK);
    size_t before = resident_bytes();
    for (size_t cap = 4 * MIB; cap <= 32 * MIB; cap *= 2) {
        assert_int_equal(masu_set_idle(cap, 0), MASU_OK);
        fill_and_free();
        masu_heap_stats s;
        masu_get_stats(&s);
        assert_in_range(resident_bytes(), 0, before + s.live_bytes + s.metadata_bytes + cap + HOLES_BYTES);
        free_the_rest();
        assert_in_range(resident_bytes(), 0, before + s.metadata_bytes + cap + HOLES_BYTES);
    }
    assert_int_equal(masu_set_idle(0, 0), MASU_OK);
    fill_and_free();
    assert_in_range(resident_bytes(), before + 40 * MIB, SIZE_MAX);
    free_the_rest();
    assert_int_equal(masu_trim(0), MASU_OK);
}

static void *churn(void *seed) {
    for (int i = 0; i < 30000; i++) {
        size_t bytes = size_at(i * (int)(intptr_t)seed);
        char *block = masu_alloc(bytes);
        block[0] = block[bytes - 1] = 1;
        if (masu_free(block, bytes) != MASU_OK)
            return seed;
    }
    return NULL;
}

static void threads_work_while_memory_goes(void **state) {
    pthread_t threads[4];
    (void)state;
    if (masu_set_idle(2 * MIB, 2) == MASU_ERR_UNSUPPORTED)
        skip();
    for (intptr_t i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, churn, (void *)(i + 3)), 0);
    for (int i = 0; i < 20; i++) {
        rest(2);
        masu_decay();
        assert_int_equal(masu_set_idle(i % 2 ? 2 * MIB : 0, (uint64_t)(i % 3)), MASU_OK);
    }
    for (int i = 0; i < 4; i++) {
        void *wrong;
        pthread_join(threads[i], &wrong);
        assert_null(wrong);
    }
    assert_true(masu_valid());
    assert_int_equal(masu_set_idle(0, 0), MASU_OK);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_trim_empties_what_lies_between_live_blocks),
        cmocka_unit_test(a_trim_keeps_what_it_is_told_to),
        cmocka_unit_test(idle_memory_has_a_cap),
        cmocka_unit_test(a_cap_under_a_block_keeps_none),
        cmocka_unit_test(a_persistent_pool_keeps_all),
        cmocka_unit_test(idle_memory_goes_without_growth),
        cmocka_unit_test(a_device_without_pages_is_left_alone),
        cmocka_unit_test(idle_memory_of_just_the_cap_stays),
        cmocka_unit_test(pages_go_back_at_the_look_they_are_due),
        cmocka_unit_test(what_is_kept_merges_before_a_block_is_cut),
        cmocka_unit_test(sizes_that_take_turns_keep_their_blocks),
        cmocka_unit_test(slabs_are_not_in_the_way_of_large_blocks),
        cmocka_unit_test(phases_of_other_sizes_share_pages),
        cmocka_unit_test(large_blocks_take_the_pages_of_slabs),
        cmocka_unit_test(small_blocks_above_the_cap_leave_no_records),
        cmocka_unit_test(notes_between_threads_follow_use),
        cmocka_unit_test(idle_memory_decays),
        cmocka_unit_test(idle_memory_is_capped),
        cmocka_unit_test(threads_work_while_memory_goes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
