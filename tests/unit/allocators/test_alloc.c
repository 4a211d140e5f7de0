/* The process-wide pool's whole surface: blocks of any size and alignment may be given to any of its calls; a wrong
 * call is refused and changes nothing; growing step by step is cheap. */
#include <pthread.h>
#include <sys/mman.h>

#include "alloc_fixture.h"

#include "allocators/heap/large.h"
#include "base/rng.h"

enum way { FREE, FREE_UNSIZED, FREE_ALIGNED, REALLOC_UP, REALLOC_DOWN, REALLOC_UNSIZED, REALLOC_ALIGNED, WAYS };

static void end_by(enum way way, void *ptr, size_t bytes, size_t alignment) {
    size_t now = way == REALLOC_UP ? bytes * 3 + 1 : way == REALLOC_DOWN ? bytes / 3 + 1 : bytes + 100;
    void *moved = NULL;
    switch (way) {
    case FREE:
        assert_int_equal(masu_free(ptr, bytes), MASU_OK);
        return;
    case FREE_UNSIZED:
        assert_int_equal(masu_free_unsized(ptr), MASU_OK);
        return;
    case FREE_ALIGNED:
        assert_int_equal(masu_free_aligned(ptr, bytes, alignment), MASU_OK);
        return;
    case REALLOC_UNSIZED:
        moved = masu_realloc_unsized(ptr, now);
        break;
    case REALLOC_ALIGNED:
        assert_int_equal(masu_realloc_aligned(ptr, bytes, now, alignment, &moved), MASU_OK);
        assert_int_equal((uintptr_t)moved % (alignment ? alignment : 64), 0);
        break;
    default:
        moved = masu_realloc(ptr, bytes, now);
    }
    assert_non_null(moved);
    assert_holds(moved, bytes < now ? bytes : now);
    memset(moved, 1, now);
    assert_int_equal(masu_free(moved, now), MASU_OK);
}

static void every_block_may_go_to_every_call(void **state) {
    (void)state;
    static const size_t sizes[] = {
        1, 64, 65, 100, 4000, 4096, 5000, 16384, 16385, 20000, 64 * KIB, 70000, MIB + 1, 3 * MIB, 70 * (size_t)MIB};
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
        for (size_t alignment = 0; alignment <= 2 * MIB; alignment = alignment ? alignment * 2 : 1)
            for (enum way way = FREE; way < WAYS; way++)
                for (int checked = 0; checked < 2; checked++) {
                    if (sizes[s] > 4 * MIB && alignment % 4096 != 0)
                        continue; /* takes its time */
                    void *ptr = take(sizes[s], alignment);
                    if (checked)
                        assert_int_equal(masu_set_checked(true), MASU_OK);
                    end_by(way, ptr, sizes[s], alignment);
                    if (!checked)
                        continue;
                    end_by(way, take(sizes[s], alignment), sizes[s], alignment); /* from birth to end */
                    assert_int_equal(masu_set_checked(!WITH_CACHES), MASU_OK);
                }
    assert_all_is_home();
}

/* A small block lies at a multiple of more than it has to now and then. Where it is resized with that alignment it
 * stays, and goes back with it as any other: the size of its class is less than the alignment. */
static void a_block_aligned_by_chance(void **state) {
    (void)state;
    enum { COUNT = 2048 };
    static void *blocks[COUNT];
    int lucky = 0;
    for (int i = 0; i < COUNT; i++)
        assert_non_null(blocks[i] = masu_alloc(50));
    for (int i = 0; i < COUNT; i++)
        for (size_t alignment = 16384; alignment >= 128; alignment /= 2) {
            void *same;
            if ((uintptr_t)blocks[i] % alignment != 0)
                continue;
            assert_int_equal(masu_realloc_aligned(blocks[i], 50, 60, alignment, &same), MASU_OK);
            assert_true((uintptr_t)same % alignment == 0);
            assert_int_equal(masu_free_aligned(same, 60 + MIB, alignment), MASU_ERR_SIZE_MISMATCH);
            assert_int_equal(masu_free_aligned(same, 60, alignment), MASU_OK);
            blocks[i] = NULL;
            lucky++;
            break;
        }
    assert_in_range(lucky, 16, COUNT);
    for (int i = 0; i < COUNT; i++)
        assert_int_equal(masu_free(blocks[i], 50), MASU_OK);
    assert_all_is_home();
}

static void a_wrong_size_changes_nothing(void **state) {
    (void)state;
    static const size_t sizes[] = {1, 100, 4096, 16384, 16385, 100000, 2 * MIB, 65 * (size_t)MIB};
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        void *ptr = take(sizes[s], 0), *out;
        size_t beyond = masu_usable_size(ptr) + 1;
        volatile size_t end = SIZE_MAX;
        masu_heap_stats before = stats_now();
        assert_int_equal(masu_free(ptr, beyond), MASU_ERR_SIZE_MISMATCH);
        assert_int_equal(masu_free(ptr, 0), MASU_ERR_SIZE_MISMATCH);
        assert_int_equal(masu_free(ptr, end), MASU_ERR_SIZE_MISMATCH);
        assert_null(masu_realloc(ptr, beyond, 10));
        assert_null(masu_realloc(ptr, 0, 10));
        assert_null(masu_realloc(ptr, sizes[s], end - 5));
        assert_int_equal(masu_realloc_aligned(ptr, beyond, 10, 64, &out), MASU_ERR_SIZE_MISMATCH);
        assert_null(out);
        assert_int_equal(masu_realloc_aligned(ptr, sizes[s], 10, 48, &out), MASU_ERR_INVALID_ARGUMENT);
        assert_int_equal(masu_realloc_aligned(ptr, sizes[s], end, 64, &out), MASU_ERR_OVERFLOW);
        assert_false(masu_resize_in_place(ptr, beyond, 1));
        assert_false(masu_resize_in_place(ptr, sizes[s], 0));
        assert_int_equal(stats_now().live_blocks, before.live_blocks);
        assert_true(masu_valid());
        assert_holds(ptr, sizes[s]);
        assert_int_equal(masu_free(ptr, sizes[s]), MASU_OK);
    }
    assert_all_is_home();
}

/* A block freed with the size of another class comes back from its own. */
static void nothing_is_filed_wrongly(void **state) {
    (void)state;
    if (!WITH_CACHES)
        return; /* sizes are known exactly there: test_checked */
    masu__rng rng;
    masu__rng_seed(&rng, 7);
    for (int round = 0; round < 20000; round++) {
        size_t bytes = 1 + masu__rng_below(&rng, round % 16 == 0 ? 300000 : 20000);
        void *ptr = take(bytes, 0);
        assert_int_equal(masu_free(ptr, 1 + masu__rng_below(&rng, (uint32_t)bytes)), MASU_OK);
    }
    assert_all_is_home();
}

static void usable_bytes_are_usable(void **state) {
    (void)state;
    for (size_t bytes = 1; bytes < 200000; bytes += 1 + bytes / 7) {
        unsigned char *ptr = take(bytes, 0), *beside = take(bytes, 0);
        size_t usable = masu_usable_size(ptr);
        assert_true(usable >= bytes);
        if (WITH_CACHES)
            memset(ptr, 1, usable);
        assert_holds(beside, bytes);
        assert_int_equal(masu_usable_size(ptr + 8), 0);
        assert_int_equal(masu_free_unsized(ptr), MASU_OK);
        assert_int_equal(masu_free(beside, bytes), MASU_OK);
    }
}

static void zeroed_at_an_alignment(void **state) {
    (void)state;
    void *out;
    volatile size_t end = SIZE_MAX;
    for (size_t alignment = 1; alignment <= 64 * KIB; alignment *= 4)
        for (size_t count = 1; count < 100000; count = count * 3 + 1) {
            (void)masu_free(take(count * 8, alignment), count * 8); /* what lies there is not zero */
            assert_int_equal(masu_alloc_zeroed_aligned(count, 8, alignment, &out), MASU_OK);
            assert_int_equal((uintptr_t)out % alignment, 0);
            for (size_t i = 0; i < count; i++)
                assert_int_equal(((uint64_t *)out)[i], 0);
            assert_int_equal(masu_free_unsized(out), MASU_OK);
        }
    assert_int_equal(masu_alloc_zeroed_aligned(end, 2, 64, &out), MASU_ERR_OVERFLOW);
    assert_null(out);
    assert_int_equal(masu_alloc_zeroed_aligned(2, 8, 65, &out), MASU_ERR_INVALID_ARGUMENT);
    assert_int_equal(masu_alloc_zeroed_aligned(0, 8, 64, &out), MASU_OK);
    assert_null(out);
    assert_int_equal(masu_alloc_zeroed_aligned(1, 8, 64, NULL), MASU_ERR_INVALID_ARGUMENT);
    assert_all_is_home();
}

/* How often the block had to move, and how many bytes were copied for it. */
static void growing_step_by_step_is_amortised(void **state) {
    (void)state;
    if (!WITH_CACHES)
        return; /* under checks each change of size is a new block */
    unsigned char *ptr = masu_alloc(8), *beside = NULL;
    size_t bytes = 8, moved = 0;
    memset(ptr, 0x5a, bytes);
    for (int step = 0; step < 100000; step++, bytes += 8) {
        unsigned char *now = masu_realloc(ptr, bytes, bytes + 8);
        assert_non_null(now);
        if (now != ptr) {
            moved += bytes;
            assert_int_equal(masu_free(beside, 100000), MASU_OK);
            beside = masu_alloc(100000); /* stands in the way */
        }
        ptr = now;
        memset(ptr + bytes, 0x5a, 8);
    }
    assert_holds(ptr, bytes);
    assert_true(moved < 40 * bytes);
    assert_int_equal(masu_free(ptr, bytes), MASU_OK);
    assert_int_equal(masu_free(beside, 100000), MASU_OK);
    assert_all_is_home();
}

static void growing_in_place(void **state) {
    (void)state;
    if (!WITH_CACHES)
        return;
    unsigned char *ptr = take(MIB, 0);
    assert_true(masu_resize_in_place(ptr, MIB, 8 * MIB)); /* nothing lies behind it yet */
    assert_holds(ptr, MIB);
    memset(ptr, 0x5a, 8 * MIB);
    assert_true(masu_usable_size(ptr) >= 8 * MIB);
    assert_true(masu_resize_in_place(ptr, 8 * MIB, 5 * MIB));
    assert_int_equal(masu_free_unsized(ptr), MASU_OK);
    unsigned char *first = take(200000, 0), *second = take(200000, 0);
    assert_false(second > first && masu_resize_in_place(first, 200000, (size_t)(second - first) + 1));
    assert_int_equal(masu_free(first, 200000), MASU_OK);
    assert_int_equal(masu_free(second, 200000), MASU_OK);
    assert_all_is_home();
}

static void large_classes_cover_their_range(void **state) {
    (void)state;
    size_t before = MASU_BUCKET_MAX_BYTES;
    for (unsigned i = 0; i < MASU__LARGE_CLASSES; i++) {
        size_t bytes = masu__large_class_bytes(i);
        assert_int_equal(masu__large_class_of(before + 1), i);
        assert_int_equal(masu__large_class_of(bytes), i);
        assert_int_equal(bytes % MASU__PAGE_BYTES, 0);
        assert_true(bytes - before <= (before < 128 * KIB ? 8 * KIB : before / 16));
        before = bytes;
    }
    assert_int_equal(before, MASU__LARGE_MOST_BYTES);
    assert_false(masu__large_has_class(before + 1));
    assert_false(masu__large_has_class(MASU_BUCKET_MAX_BYTES));
}

static void large_blocks_freed_twice(void **state) {
    (void)state;
    for (size_t bytes = 16385; bytes < 100 * (size_t)MIB; bytes = bytes * 5 + 3) {
        void *ptr = take(bytes, 0);
        assert_int_equal(masu_free(ptr, bytes), MASU_OK);
        assert_int_equal(masu_free(ptr, bytes), MASU_ERR_DOUBLE_FREE);
        assert_int_equal(masu_free_unsized(ptr), MASU_ERR_DOUBLE_FREE);
        assert_null(masu_realloc_unsized(ptr, 10));
    }
    assert_all_is_home();
}

/* The end of each device block is lost to blocks that do not fit there: the pool that nobody configured doubles. */
static void large_blocks_take_few_device_blocks(void **state) {
    (void)state;
    enum { BLOCKS = 40 };
    const size_t bytes = 20 * (size_t)MIB;
    void *blocks[BLOCKS];
    assert_int_equal(masu_trim(0), MASU_OK);
    masu_heap_stats before = stats_now();
    for (size_t i = 0; i < BLOCKS; i++)
        assert_non_null(blocks[i] = masu_alloc(bytes));
    masu_heap_stats s = stats_now();
    if (WITH_CACHES) {
        assert_in_range(s.device_allocations - before.device_allocations, 1, 5);
        assert_true(s.reserved_bytes <= 2 * BLOCKS * bytes);
    }
    for (size_t i = 0; i < BLOCKS; i++)
        assert_int_equal(masu_free(blocks[i], bytes), MASU_OK);
    assert_all_is_home();
}

/* ---- packed blocks ------------------------------------------------------------------------------ */

static size_t packed_block_bytes(size_t bytes) {
    static const size_t classes[] = {16, 32, 48, 64, 80, 96, 112, 128, 160, 192, 224, 256};
    size_t i = 0;
    while (classes[i] < bytes)
        i++;
    return classes[i];
}

static void packed_blocks_lie_closely(void **state) {
    (void)state;
    enum { EACH = 200 };
    static unsigned char *blocks[MASU_PACKED_BYTES][EACH];
    for (size_t i = 0; i < EACH; i++)
        for (size_t bytes = 1; bytes <= MASU_PACKED_BYTES; bytes++) {
            unsigned char *block = blocks[bytes - 1][i] = masu_alloc_packed(bytes);
            assert_non_null(block);
            assert_int_equal((uintptr_t)block % 16, 0);
            memset(block, (int)(bytes + i), bytes);
        }
    if (WITH_CACHES) {
        uint64_t asked = EACH * MASU_PACKED_BYTES * (MASU_PACKED_BYTES + 1) / 2;
        assert_in_range(stats_now().live_bytes, asked, asked * 115 / 100);
    }
    for (size_t bytes = 1; bytes <= MASU_PACKED_BYTES; bytes++)
        for (size_t i = 0; i < EACH; i++) {
            unsigned char *block = blocks[bytes - 1][i];
            for (size_t k = 0; k < bytes; k++)
                assert_int_equal(block[k], (unsigned char)(bytes + i));
            if (WITH_CACHES)
                assert_int_equal(masu_usable_size(block), packed_block_bytes(bytes));
            assert_int_equal(i % 2 ? masu_free(block, bytes) : masu_free_unsized(block), MASU_OK);
        }
    assert_null(masu_alloc_packed(0));
    void *above = masu_alloc_packed(MASU_PACKED_BYTES + 1);
    assert_int_equal((uintptr_t)above % 64, 0);
    assert_int_equal(masu_free(above, MASU_PACKED_BYTES + 1), MASU_OK);
    assert_all_is_home();
}

static void packed_blocks_may_go_to_every_call(void **state) {
    (void)state;
    for (size_t bytes = 1; bytes <= 270; bytes += 7)
        for (enum way way = FREE; way < WAYS; way++)
            for (int checked = 0; checked < 3; checked++) {
                assert_int_equal(masu_set_checked(checked == 1 || !WITH_CACHES), MASU_OK);
                void *ptr = masu_alloc_packed(bytes);
                memset(ptr, 0x5a, bytes);
                if (checked == 2)
                    assert_int_equal(masu_set_checked(true), MASU_OK);
                end_by(way, ptr, bytes, 0);
            }
    assert_int_equal(masu_set_checked(!WITH_CACHES), MASU_OK);
    assert_all_is_home();
}

static void packed_blocks_are_judged(void **state) {
    (void)state;
    for (int checked = 0; checked < 2; checked++) {
        assert_int_equal(masu_set_checked(checked || !WITH_CACHES), MASU_OK);
        unsigned char *a = masu_alloc_packed(10), *b = masu_alloc_packed(10), *out;
        assert_int_equal(masu_free(a, 17), MASU_ERR_SIZE_MISMATCH);
        assert_int_equal(masu_free(a, 64), MASU_ERR_SIZE_MISMATCH);
        assert_int_equal(masu_free(a, 0), MASU_ERR_SIZE_MISMATCH);
        assert_null(masu_realloc(a, 17, 8));
        out = masu_realloc(a, 10, 12); /* at a multiple of 64 from now on */
        assert_int_equal((uintptr_t)out % 64, 0);
        assert_int_equal(masu_free(b, 10), MASU_OK);
        assert_int_equal(masu_free(b, 10), MASU_ERR_DOUBLE_FREE);
        assert_int_equal(masu_free_unsized(b), MASU_ERR_DOUBLE_FREE);
        assert_int_equal(masu_free(out, 12), MASU_OK);
    }
    assert_int_equal(masu_set_checked(!WITH_CACHES), MASU_OK);
    assert_all_is_home();
}

/* The last block of a slab that ends within a page is as fast as any: that page shows the class too. */
static void the_page_a_slab_ends_in_is_known(void **state) {
    (void)state;
    enum { MANY = 3000 };
    static void *blocks[MANY];
    for (size_t i = 0; i < MANY; i++) {
        assert_non_null(blocks[i] = masu_alloc(192));
        if (WITH_CACHES)
            assert_int_equal(masu_page_code(blocks[i]), masu_page_code(blocks[0]));
    }
    for (size_t i = 0; i < MANY; i++)
        assert_int_equal(masu_free_unsized(blocks[i]), MASU_OK);
    assert_all_is_home();
}

/* Whatever lay there before, and though what was never used is not touched. */
static void zeroed_blocks_are_zero(void **state) {
    (void)state;
    for (size_t bytes = 20000; bytes < (size_t)100 * MIB; bytes = bytes * 2 + 4321) {
        unsigned char *block = masu_alloc(bytes);
        memset(block, 0xee, bytes);
        void *hold = masu_alloc(100);
        assert_int_equal(masu_free(block, bytes), MASU_OK);
        if (bytes % 3 == 0)
            assert_int_equal(masu_trim(bytes / 2 + 777), MASU_OK);
        for (size_t part = bytes + 9000; part > bytes / 3; part = part * 2 / 3) {
            block = masu_alloc_zeroed(1, part);
            assert_non_null(block);
            assert_true(block[0] == 0 && memcmp(block, block + 1, part - 1) == 0);
            memset(block, 0xdd, part);
            assert_int_equal(masu_free(block, part), MASU_OK);
        }
        assert_int_equal(masu_free(hold, 100), MASU_OK);
    }
    assert_all_is_home();
}

static void zeroed_pages_are_not_touched(void **state) {
    (void)state;
    if (!WITH_CACHES)
        skip();
    size_t bytes = (size_t)512 * MIB;
    unsigned char *block = masu_alloc_zeroed(bytes / 8, 8), resident[4];
    assert_non_null(block);
    for (size_t at = bytes / 2; at < bytes; at += bytes / 16) {
        assert_int_equal(mincore(block + at, 4 * 4096, resident), 0);
        for (int i = 0; i < 4; i++)
            assert_int_equal(resident[i] & 1, 0);
    }
    assert_int_equal(masu_free(block, bytes), MASU_OK);
    assert_all_is_home();
}

/* A page that no caller asked for stays untouched, also when all that is cached goes home. */
static void fresh_pages_come_singly(void **state) {
    (void)state;
    enum { COUNT = 6, BYTES = 16 << 10 };
    void *blocks[COUNT];
    if (!WITH_CACHES)
        skip();
    for (int i = 0; i < COUNT; i++) {
        assert_non_null(blocks[i] = masu_alloc(BYTES));
        assert_int_equal(stats_now().thread_cached_bytes, 0);
    }
    for (int i = 0; i < COUNT; i++)
        assert_int_equal(masu_free(blocks[i], BYTES), MASU_OK);
    assert_int_equal(stats_now().thread_cached_bytes, COUNT * BYTES);
    masu_thread_flush();
    for (int i = 0; i < COUNT; i++)
        assert_non_null(blocks[i] = masu_alloc(BYTES)); /* used before: in batches */
    for (int i = 0; i < COUNT; i++)
        assert_int_equal(masu_free(blocks[i], BYTES), MASU_OK);
    assert_all_is_home();
}

/* count blocks of each packed size come and go. */
static void use_small_sizes(int count) {
    enum { SIZES = 16, MOST = 1000 };
    static void *blocks[SIZES][MOST];
    for (int s = 0; s < SIZES; s++)
        for (int i = 0; i < count; i++) {
            assert_non_null(blocks[s][i] = masu_alloc_packed((size_t)s * 16 + 1));
            memset(blocks[s][i], s, (size_t)s * 16 + 1);
        }
    for (int s = 0; s < SIZES; s++)
        for (int i = 0; i < count; i++)
            assert_int_equal(masu_free_unsized(blocks[s][i]), MASU_OK);
    assert_true(masu_valid());
}

static void *metadata_of_a_thread(void *few) {
    use_small_sizes(1);
    *(uint64_t *)few = stats_now().metadata_bytes;
    use_small_sizes(1000); /* its magazines get more slots, and leave theirs to each other */
    return NULL;
}

/* A thread of a few blocks of each small size takes a few pages of metadata, and they go back with it. */
static void slots_follow_use(void **state) {
    (void)state;
    pthread_t thread;
    uint64_t few;
    if (!WITH_CACHES)
        skip();
    use_small_sizes(1000);
    uint64_t before = 0;
    for (int i = 0; i < 2; i++) { /* from the second on slabs and slots for what lies between the threads are there */
        before = stats_now().metadata_bytes;
        assert_int_equal(pthread_create(&thread, NULL, metadata_of_a_thread, &few), 0);
        assert_int_equal(pthread_join(thread, NULL), 0);
    }
    assert_true(few > before);
    assert_true(few <= before + 12 * KIB);
    assert_true(stats_now().metadata_bytes <= before + 12 * KIB);
    assert_all_is_home();
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fresh_pages_come_singly), /* first, before anything has been used */
        cmocka_unit_test(slots_follow_use),
        cmocka_unit_test(large_classes_cover_their_range),
        cmocka_unit_test(growing_in_place),
        cmocka_unit_test(every_block_may_go_to_every_call),
        cmocka_unit_test(a_block_aligned_by_chance),
        cmocka_unit_test(a_wrong_size_changes_nothing),
        cmocka_unit_test(nothing_is_filed_wrongly),
        cmocka_unit_test(zeroed_at_an_alignment),
        cmocka_unit_test(growing_step_by_step_is_amortised),
        cmocka_unit_test(large_blocks_freed_twice),
        cmocka_unit_test(usable_bytes_are_usable),
        cmocka_unit_test(large_blocks_take_few_device_blocks),
        cmocka_unit_test(packed_blocks_lie_closely),
        cmocka_unit_test(packed_blocks_may_go_to_every_call),
        cmocka_unit_test(packed_blocks_are_judged),
        cmocka_unit_test(the_page_a_slab_ends_in_is_known),
        cmocka_unit_test(zeroed_blocks_are_zero),
        cmocka_unit_test(zeroed_pages_are_not_touched),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
