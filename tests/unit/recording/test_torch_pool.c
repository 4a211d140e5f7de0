/* The model of PyTorch's caching allocator against what its documentation says of sizes, splits and segments, worked
 * out by hand; and against itself over random requests. Addresses count from the model's first one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/meta.h"
#include "base/rng.h"
#include "recording/torch_pool.h"

#define KIB  ((uint64_t)1 << 10)
#define MIB  ((uint64_t)1 << 20)
#define BASE ((uint64_t)1 << 44)

/* What the model did since it was asked last: "+20M@0 =3M@0" is a segment of 20 MiB at 0 and in it a block of 3 MiB. */
static char told[4096];

static void put_size(char *out, uint64_t bytes) {
    if (bytes && bytes % MIB == 0)
        sprintf(out, "%lluM", (unsigned long long)(bytes / MIB));
    else if (bytes && bytes % KIB == 0)
        sprintf(out, "%lluK", (unsigned long long)(bytes / KIB));
    else
        sprintf(out, "%llu", (unsigned long long)bytes);
}

static void on_step(void *context, const masu__torch_step *step) {
    (void)context;
    char bytes[32], address[32];
    put_size(bytes, step->bytes);
    put_size(address, step->address - BASE);
    snprintf(told + strlen(told), sizeof told - strlen(told), "%s%c%s@%s", *told ? " " : "", "=+-mu"[step->kind], bytes,
             address);
}

static masu__torch_pool *make(masu__torch_settings settings) {
    masu__torch_config config = {.settings = settings, .step = on_step};
    masu__torch_pool *pool;
    assert_int_equal(masu__torch_pool_create(&config, &pool), MASU_OK);
    *told = 0;
    return pool;
}

static void expect(masu__torch_pool *pool, const char *wanted) {
    if (strcmp(told, wanted) != 0)
        fail_msg("`%s`, not `%s`", told, wanted);
    assert_true(masu__torch_pool_valid(pool));
    *told = 0;
}

static uint32_t take(masu__torch_pool *pool, uint64_t bytes) {
    uint32_t handle;
    masu_status status = masu__torch_alloc(pool, bytes, (masu__torch_whose){0}, 0, &handle);
    assert_true(status == MASU_OK || (status == MASU_ERR_LIMIT_REACHED && handle == 0));
    return handle;
}

static void rounds(void **state) {
    (void)state;
    masu__torch_settings s = masu__torch_settings_default();
    assert_int_equal(masu__torch_round(&s, 0), 512);
    assert_int_equal(masu__torch_round(&s, 1), 512);
    assert_int_equal(masu__torch_round(&s, 513), 1024);
    assert_int_equal(masu__torch_round(&s, 3 * MIB + 1), 3 * MIB + 512);
    assert_true(masu__torch_round(&s, UINT64_MAX) == UINT64_MAX);
    /* The example of the documentation: 1200 in four parts between 1024 and 2048 is 1280. Here in MiB. */
    for (int i = 0; i < MASU__TORCH_ROUNDUP_STEPS; i++)
        s.roundup[i] = 4;
    assert_int_equal(masu__torch_round(&s, 1200 * MIB), 1280 * MIB);
    assert_int_equal(masu__torch_round(&s, 1280 * MIB), 1280 * MIB);
    assert_int_equal(masu__torch_round(&s, 1281 * MIB), 1536 * MIB);
    assert_int_equal(masu__torch_round(&s, 1025 * MIB), 1280 * MIB);
    assert_int_equal(masu__torch_round(&s, 2048 * MIB), 2048 * MIB);
    assert_int_equal(masu__torch_round(&s, 2000), 2048); /* no more than 512 * 4: by 512 */
    s.roundup[0] = 0;                                    /* up to 2 MiB as ever, above in parts */
    assert_int_equal(masu__torch_round(&s, MIB + 1), MIB + 512);
    assert_int_equal(masu__torch_round(&s, 2 * MIB + 1), 2 * MIB + 512 * KIB);
    assert_int_equal(masu__torch_segment_bytes(MIB), 2 * MIB);
    assert_int_equal(masu__torch_segment_bytes(MIB + 512), 20 * MIB);
    assert_int_equal(masu__torch_segment_bytes(10 * MIB - 512), 20 * MIB);
    assert_int_equal(masu__torch_segment_bytes(10 * MIB), 10 * MIB);
    assert_int_equal(masu__torch_segment_bytes(10 * MIB + 512), 12 * MIB);
}

static void splits_and_merges(void **state) {
    (void)state;
    masu__torch_pool *pool = make(masu__torch_settings_default());
    uint32_t a = take(pool, 100), b = take(pool, 1000), c = take(pool, 512);
    expect(pool, "+2M@0 =512@0 =1K@512 =512@1536");
    masu__torch_free(pool, a);
    masu__torch_free(pool, c); /* merges with what is free behind */
    uint32_t d = take(pool, 500);
    expect(pool, "=512@0"); /* the smallest that fits */
    masu__torch_free(pool, d);
    masu__torch_free(pool, b);
    uint32_t e = take(pool, 1 * MIB), f = take(pool, 1 * MIB), g = take(pool, 512);
    expect(pool, "=1M@0 =1M@1M +2M@2M =512@2M");
    uint32_t h = take(pool, 3 * MIB), i = take(pool, 16 * MIB + 512 * KIB), j = take(pool, 18 * MIB);
    expect(pool, "+20M@4M =3M@4M =17M@7M +18M@24M =18M@24M"); /* a rest of 512 KiB is not cut off */
    uint32_t all[] = {e, f, g, h, i, j};
    for (int k = 0; k < 6; k++)
        assert_int_equal(masu__torch_free(pool, all[k]), MASU_OK);
    assert_int_equal(masu__torch_free(pool, all[0]), MASU_ERR_DOUBLE_FREE);
    masu__torch_release(pool, 0, false);
    expect(pool, "-18M@24M -20M@4M -2M@0 -2M@2M"); /* large ones by size, then small ones */
    assert_int_equal(masu__torch_get_stats(pool).reserved_bytes, 0);
    assert_int_equal(masu__torch_get_stats(pool).peak_reserved_bytes, 42 * MIB);
    masu__torch_pool_destroy(pool);
}

static void streams_and_pools_share_nothing(void **state) {
    (void)state;
    masu__torch_pool *pool = make(masu__torch_settings_default());
    uint32_t a, b;
    masu__torch_whose other = {.stream = 7}, graph = {.private_pool = 1}, device = {.device = 1};
    masu__torch_free(pool, take(pool, 2 * MIB));
    masu__torch_alloc(pool, 2 * MIB, other, 0, &a);
    masu__torch_alloc(pool, 2 * MIB, graph, 0, &b);
    masu__torch_alloc(pool, 2 * MIB, device, 0, &b);
    masu__torch_pend(pool, a); /* still in use elsewhere: its neighbour stays apart */
    masu__torch_alloc(pool, 19 * MIB, other, 0, &b);
    expect(pool, "+20M@0 =2M@0 +20M@20M =2M@20M +20M@40M =2M@40M +20M@60M =2M@60M +20M@80M =20M@80M");
    masu__torch_free(pool, a);
    masu__torch_alloc(pool, 19 * MIB, other, 0, &a);
    expect(pool, "=20M@20M");
    masu__torch_pool_destroy(pool);
}

static void limits(void **state) {
    (void)state;
    masu__torch_settings s = masu__torch_settings_default();
    s.capacity_bytes = 64 * MIB;
    masu__torch_pool *pool = make(s);
    uint32_t a = take(pool, 30 * MIB), b = take(pool, 30 * MIB);
    masu__torch_free(pool, a);
    uint32_t c = take(pool, 32 * MIB); /* 62 are taken: the free 30 go back first */
    expect(pool, "+30M@0 =30M@0 +30M@30M =30M@30M -30M@0 +32M@60M =32M@60M");
    assert_int_equal(take(pool, 4 * MIB), 0);
    assert_int_equal(masu__torch_get_stats(pool).refused, 1);
    masu__torch_free(pool, b), masu__torch_free(pool, c);
    masu__torch_pool_destroy(pool);

    s.max_split_bytes = 20 * MIB; /* large ones are not cut, and not given to small requests */
    pool = make(s);
    a = take(pool, 40 * MIB);
    masu__torch_free(pool, a);
    b = take(pool, 5 * MIB);
    expect(pool, "+40M@0 =40M@0 +20M@40M =5M@40M");
    c = take(pool, 25 * MIB); /* within 20 MiB of its size: the whole block */
    expect(pool, "=40M@0");
    masu__torch_free(pool, c);
    c = take(pool, 20 * MIB); /* 40 is not less than 20 + 20: one block goes back, which is enough */
    expect(pool, "-40M@0 +20M@60M =20M@60M");
    masu__torch_free(pool, b), masu__torch_free(pool, c);
    masu__torch_pool_destroy(pool);
}

static void collects_garbage(void **state) {
    (void)state;
    masu__torch_settings s = masu__torch_settings_default();
    s.allowed_bytes = 100 * MIB;
    s.gc_threshold = 0.5;
    masu__torch_pool *pool = make(s);
    uint32_t a = take(pool, 20 * MIB), b = take(pool, 24 * MIB), c = take(pool, 12 * MIB);
    masu__torch_free(pool, a);
    masu__torch_free(pool, take(pool, 30 * MIB)); /* 56 of 100 are more than half: the old 20 go, not yet the 30 */
    expect(pool, "+20M@0 =20M@0 +24M@20M =24M@20M +12M@44M =12M@44M -20M@0 +30M@56M =30M@56M");
    masu__torch_free(pool, b), masu__torch_free(pool, c);
    masu__torch_pool_destroy(pool);
}

static void expands(void **state) {
    (void)state;
    masu__torch_settings s = masu__torch_settings_default();
    s.expandable = true;
    s.capacity_bytes = 80 * MIB; /* 90 MiB of addresses for small ones, in whole pages; 100 for large ones */
    masu__torch_pool *pool = make(s);
    uint32_t a = take(pool, 30 * MIB), b = take(pool, 10 * MIB), c = take(pool, 15 * MIB);
    expect(pool, "m40M@0 =30M@0 =10M@30M m20M@40M =15M@40M");
    masu__torch_free(pool, a);
    uint32_t d = take(pool, 20 * MIB + 512), e = take(pool, 100);
    expect(pool, "=20972032@0 m2M@100M =512@100M"); /* cut to the last 512 bytes */
    uint32_t f = take(pool, 25 * MIB);              /* 15 unmapped pages do not fit: the device has 18 MiB */
    assert_int_equal(f, 0);
    expect(pool, "");
    masu__torch_free(pool, d);
    masu__torch_release(pool, 0,
                        false); /* whole pages of 20 MiB from the beginning of the segment: the first; not [20, 30) */
    expect(pool, "u20M@0");
    f = take(pool, 12 * MIB); /* at the lowest address, though there is room behind */
    expect(pool, "m20M@0 =12M@0");
    masu__torch_free(pool, b), masu__torch_free(pool, c), masu__torch_free(pool, e), masu__torch_free(pool, f);
    masu__torch_release(pool, 0, false);
    expect(pool, "u60M@0 u2M@100M");
    assert_int_equal(masu__torch_get_stats(pool).reserved_bytes, 0);
    masu__torch_pool_destroy(pool);
}

static int by_address(const void *a, const void *b) {
    const masu__torch_block *x = a, *y = b;
    return x->address < y->address ? -1 : x->address > y->address;
}

/* Whatever is asked: equations hold, live blocks lie apart, limits are kept, and everything can go back. */
static void random_requests(void **state) {
    (void)state;
    enum { LIVE = 40, STEPS = 3000 };
    for (uint64_t seed = 1; seed <= 8; seed++) {
        masu__rng rng;
        masu__rng_seed(&rng, seed);
        masu__torch_settings s = masu__torch_settings_default();
        s.expandable = seed % 2;
        s.capacity_bytes = seed % 3 ? 300 * MIB : 0;
        s.max_split_bytes = seed % 4 == 2 ? 30 * MIB : UINT64_MAX;
        s.allowed_bytes = seed == 8 ? 250 * MIB : 0;
        s.gc_threshold = seed == 8 ? 0.6 : 0;
        masu__torch_config config = {.settings = s};
        masu__torch_pool *pool;
        assert_int_equal(masu__torch_pool_create(&config, &pool), MASU_OK);
        uint32_t live[LIVE] = {0};
        for (int step = 0; step < STEPS; step++) {
            size_t at = masu__rng_below(&rng, LIVE);
            masu__torch_whose whose = {.stream = at % 3, .device = (uint16_t)(at % 2)};
            if (live[at]) {
                assert_int_equal(masu__torch_free(pool, live[at]), MASU_OK);
                live[at] = 0;
            } else {
                masu__torch_alloc(pool, masu__rng_below(&rng, (uint64_t)64 << masu__rng_below(&rng, 21)) + 1, whose, at,
                                  &live[at]);
            }
            if (step % 500 == 0)
                masu__torch_release(pool, 0, true);
            if (step % 50 == 0)
                assert_true(masu__torch_pool_valid(pool));
        }
        masu__torch_block blocks[LIVE];
        size_t count = 0;
        for (size_t i = 0; i < LIVE; i++)
            if (live[i]) {
                blocks[count++] = masu__torch_look(pool, live[i]);
                assert_true(blocks[count - 1].owner == i && blocks[count - 1].bytes >= blocks[count - 1].asked_bytes);
            }
        qsort(blocks, count, sizeof *blocks, by_address);
        for (size_t i = 1; i < count; i++)
            assert_true(blocks[i].address >= blocks[i - 1].address + blocks[i - 1].bytes);
        assert_true(s.capacity_bytes == 0 || masu__torch_get_stats(pool).peak_reserved_bytes <= 2 * s.capacity_bytes);
        for (size_t i = 0; i < LIVE; i++)
            if (live[i])
                masu__torch_free(pool, live[i]);
        masu__torch_release(pool, 0, true);
        masu__torch_release(pool, 1, true);
        assert_true(masu__torch_pool_valid(pool));
        assert_int_equal(masu__torch_get_stats(pool).reserved_bytes, 0);
        masu__torch_pool_destroy(pool);
    }
}

static void survives_without_memory(void **state) {
    (void)state;
    uint64_t before = masu__meta_live_blocks();
    for (uint64_t nth = 1;; nth++) {
        masu__torch_settings s = masu__torch_settings_default();
        s.expandable = true;
        masu__torch_config config = {.settings = s};
        masu__torch_pool *pool = NULL;
        uint32_t handles[60] = {0};
        masu__fault_arm(nth);
        masu_status status = masu__torch_pool_create(&config, &pool);
        for (uint32_t i = 0; i < 60 && status == MASU_OK; i++)
            status = masu__torch_alloc(pool, (i + 1) * 300 * KIB, (masu__torch_whose){.stream = i % 20}, 0,
                                       &handles[i]);
        for (size_t i = 0; i < 60 && status == MASU_OK; i += 2)
            status = masu__torch_free(pool, handles[i]);
        if (status == MASU_OK)
            status = masu__torch_release(pool, 0, false);
        bool fired = masu__fault_fired();
        masu__fault_arm(0);
        assert_int_equal(status, fired ? MASU_ERR_OUT_OF_MEMORY : MASU_OK);
        masu__torch_pool_destroy(pool);
        assert_int_equal(masu__meta_live_blocks(), before);
        if (!fired)
            break;
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rounds),
        cmocka_unit_test(splits_and_merges),
        cmocka_unit_test(streams_and_pools_share_nothing),
        cmocka_unit_test(limits),
        cmocka_unit_test(collects_garbage),
        cmocka_unit_test(expands),
        cmocka_unit_test(random_requests),
        cmocka_unit_test(survives_without_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
