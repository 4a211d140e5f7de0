/* Random operations on every pool over every device, against the model and before the judge.
 *
 *     test_pools [SEED]     see also model.h
 */
#include "model/model.h"

#include <stdlib.h>
#include <string.h>

#include <masu/masu.h>

#include "base/meta.h"

enum { MIB = 1 << 20 };

#ifdef MASU_HEAVY /* make check-heavy: five seeds, nine arrangements, a million operations */
enum { STEPS = 22000 };
static const uint64_t usual_seeds[] = {1, 20261127, 0x6d617375, 4, 5};
#else
enum { STEPS = 30000 };
static const uint64_t usual_seeds[] = {1, 20261127, 0x6d617375};
#endif

static model_seeds seeds;
static int steps;

typedef struct rig {
    model m;
    masu_device *inner, *device; /* device: inner, or a faulty one around it */
    bool faulty;
    masu_check *check;
    masu_trace *trace;
    masu_bestfit *bestfit;
    masu_bucket *bucket;
    masu_heap *heap;
} rig;

/* ---- devices and judge ----------------------------------------------------------------------- */

static void rig_open(rig *r, uint64_t seed, bool host, bool faulty) {
    memset(r, 0, sizeof *r);
    model_start(&r->m, seed, host);
    r->faulty = faulty;
    assert_int_equal(host ? masu_device_create_host(&r->inner) : masu_device_create_null(0, &r->inner), MASU_OK);
    r->device = r->inner;
    if (faulty)
        assert_int_equal(masu_device_create_faulty(r->inner, &r->device), MASU_OK);
    assert_int_equal(masu_check_create(&r->check), MASU_OK);
    masu_trace_config config = {.sink = masu_check_sink, .sink_context = r->check, .start_on = true};
    assert_int_equal(masu_trace_create(&config, &r->trace), MASU_OK);
}

static void rig_close(rig *r) {
    HOLDS(&r->m, masu_check_verdict(r->check) == MASU_VERDICT_FINE);
    masu_trace_destroy(r->trace);
    masu_check_destroy(r->check);
    if (r->faulty)
        HOLDS(&r->m, masu_device_destroy(r->device) == MASU_OK);
    HOLDS(&r->m, masu_device_destroy(r->inner) == MASU_OK);
    HOLDS(&r->m, masu__meta_live_bytes() == 0);
}

/* A faulty device fails now and then: at the next call, or a little later, or for a while. */
static void rig_disturb(rig *r) {
    if (r->faulty && masu__rng_below(&r->m.rng, 50) == 0)
        masu_device_fail_at(r->device, masu__rng_below(&r->m.rng, 4), masu__rng_below(&r->m.rng, 2));
}

static void rig_calm(rig *r) {
    if (r->faulty)
        masu_device_fail_at(r->device, 0, false);
}

static void judge_agrees(rig *r, uint32_t pool, const masu_check_totals *claimed) {
    HOLDS(&r->m, masu_check_verdict(r->check) == MASU_VERDICT_FINE);
    masu_verdict verdict = masu_check_claim(r->check, pool, claimed);
    if (verdict != MASU_VERDICT_FINE)
        fail_msg("seed %llu step %d: the judge says: %s", (unsigned long long)r->m.seed, r->m.step,
                 masu_verdict_name(verdict));
}

static void bestfit_before_the_judge(rig *r) {
    masu_bestfit_stats s;
    masu_bestfit_get_stats(r->bestfit, &s);
    judge_agrees(
        r, masu_bestfit_number(r->bestfit),
        &(masu_check_totals){s.allocations, s.frees, s.live_blocks, s.used_bytes, s.peak_used_bytes, s.reserved_bytes});
    HOLDS(&r->m, s.peak_reserved_bytes >= s.reserved_bytes && s.largest_free_bytes <= s.free_bytes);
}

/* ---- the best-fit pool ----------------------------------------------------------------------- */

static void bestfit_alloc(rig *r, model_block *slot) {
    void *ptr = r;
    size_t bytes = model_random_bytes(&r->m, 3 * MIB), alignment = model_random_alignment(&r->m, 4 * MIB);
    masu_status status = masu_bestfit_alloc(r->bestfit, bytes, alignment, (uint64_t)r->m.step, &ptr);
    if (status != MASU_OK) {
        HOLDS(&r->m, r->faulty && status == MASU_ERR_DEVICE_FAILURE && ptr == NULL);
        return;
    }
    model_add(&r->m, slot, ptr, bytes, alignment);
}

static void bestfit_free(rig *r, model_block *slot) {
    model_check_contents(&r->m, slot);
    unsigned char *address = slot->address;
    HOLDS(&r->m, masu_bestfit_free(r->bestfit, address + 64 * (slot->bytes > 64)) ==
                     (slot->bytes > 64 ? MASU_ERR_INTERIOR_POINTER : MASU_OK));
    if (slot->bytes > 64)
        HOLDS(&r->m, masu_bestfit_free_sized(r->bestfit, address, slot->bytes) == MASU_OK);
    model_remove(&r->m, slot);
    masu_status again = masu_bestfit_free(r->bestfit, address);
    HOLDS(&r->m, again == MASU_ERR_DOUBLE_FREE);
}

static void bestfit_rare(rig *r) {
    switch (masu__rng_below(&r->m.rng, 40)) {
    case 0:
        masu_bestfit_reset(r->bestfit);
        model_remove_all(&r->m);
        break;
    case 1: {
        masu_status status = masu_bestfit_trim(r->bestfit, masu__rng_below(&r->m.rng, 20 * MIB));
        HOLDS(&r->m, status == MASU_OK || (r->faulty && status == MASU_ERR_DEVICE_FAILURE));
        break;
    }
    default:
        break;
    }
}

static void bestfit_compare(rig *r) {
    masu_bestfit_stats s;
    model *m = &r->m;
    masu_bestfit_get_stats(r->bestfit, &s);
    HOLDS(m, s.used_bytes == m->live_bytes && s.live_blocks == m->live_blocks);
    HOLDS(m, s.allocations == m->allocations && s.frees == m->frees);
    HOLDS(m, s.peak_used_bytes == m->peak_bytes);
    HOLDS(m, s.used_bytes + s.slack_bytes + s.free_bytes == s.reserved_bytes);
}

static void bestfit_run(uint64_t seed, bool host, bool faulty) {
    static rig r;
    rig_open(&r, seed, host, faulty);
    masu_bestfit_config config = masu_bestfit_config_default(r.device);
    config.trace = r.trace;
    config.pool_bytes = MIB;
    config.initial_bytes = 0;
    config.thread_safe = seed % 2;
    assert_int_equal(masu_bestfit_create(&config, &r.bestfit), MASU_OK);
    for (r.m.step = 0; r.m.step < steps; r.m.step++) {
        rig_disturb(&r);
        model_block *slot = model_any_slot(&r.m);
        slot->address ? bestfit_free(&r, slot) : bestfit_alloc(&r, slot);
        bestfit_compare(&r);
        if (r.m.step % 256 == 0) {
            bestfit_rare(&r);
            bestfit_before_the_judge(&r);
            HOLDS(&r.m, masu_bestfit_valid(r.bestfit));
        }
    }
    rig_calm(&r);
    HOLDS(&r.m, masu_bestfit_destroy(r.bestfit) == (r.m.live_blocks ? MASU_ERR_LEAK : MASU_OK));
    rig_close(&r);
}

/* ---- buckets over best fit ------------------------------------------------------------------- */

static void bucket_alloc(rig *r, model_block *slot) {
    void *ptr = r;
    size_t bytes = model_random_bytes(&r->m, 100000), alignment = model_random_alignment(&r->m, 65536);
    masu_status status = masu_bucket_alloc(r->bucket, bytes, alignment, &ptr);
    if (status != MASU_OK) {
        HOLDS(&r->m, r->faulty && status == MASU_ERR_DEVICE_FAILURE && ptr == NULL);
        return;
    }
    model_add(&r->m, slot, ptr, bytes, alignment);
}

static void bucket_free(rig *r, model_block *slot, bool checked) {
    model_check_contents(&r->m, slot);
    unsigned char *address = slot->address;
    size_t bytes = slot->bytes;
    if (checked) {
        HOLDS(&r->m, masu_bucket_free(r->bucket, address, bytes + 1) == MASU_ERR_SIZE_MISMATCH);
        HOLDS(&r->m, masu_bucket_free(r->bucket, address + 8, bytes) == MASU_ERR_INTERIOR_POINTER);
    }
    bool unsized = checked && bytes % 2;
    HOLDS(&r->m, (unsized ? masu_bucket_free_unsized(r->bucket, address)
                          : masu_bucket_free(r->bucket, address, bytes)) == MASU_OK);
    model_remove(&r->m, slot);
    if (checked)
        HOLDS(&r->m, masu_bucket_free(r->bucket, address, bytes) == MASU_ERR_DOUBLE_FREE);
}

static size_t bucket_rare(rig *r, size_t cap) {
    switch (masu__rng_below(&r->m.rng, 8)) {
    case 0:
        HOLDS(&r->m, masu_bucket_trim(r->bucket, masu__rng_below(&r->m.rng, MIB)) == MASU_OK);
        break;
    case 1:
        HOLDS(&r->m, masu_bucket_clear(r->bucket) == MASU_OK);
        break;
    case 2:
        cap = masu__rng_below(&r->m.rng, 4 * MIB);
        HOLDS(&r->m, masu_bucket_set_max_cached(r->bucket, cap) == MASU_OK);
        break;
    default:
        break;
    }
    return cap;
}

static void bucket_compare(rig *r, size_t cap) {
    masu_bucket_stats s;
    model *m = &r->m;
    masu_bucket_get_stats(r->bucket, &s);
    HOLDS(m, s.live_bytes == m->live_bytes && s.live_blocks + s.bypass_live_blocks == m->live_blocks);
    HOLDS(m, s.allocations == m->allocations && s.frees == m->frees && s.peak_live_bytes == m->peak_bytes);
    HOLDS(m, s.hits + s.misses + s.bypasses == s.allocations);
    HOLDS(m, s.live_block_bytes + s.cached_bytes == s.slab_bytes && s.cached_bytes <= cap);
}

static void bucket_before_the_judge(rig *r) {
    masu_bucket_stats s;
    masu_check_totals seen;
    masu_bucket_get_stats(r->bucket, &s);
    masu_check_get_totals(r->check, masu_bucket_number(r->bucket), &seen);
    judge_agrees(r, masu_bucket_number(r->bucket),
                 &(masu_check_totals){s.allocations - s.bypasses, seen.frees, s.live_blocks,
                                      s.live_bytes - s.bypass_live_bytes, seen.peak_bytes, s.slab_bytes});
}

/* checked and traced, or neither: the plain pool's hot paths must be run as well. */
static void bucket_run(uint64_t seed, bool faulty, bool checked) {
    static rig r;
    rig_open(&r, seed, true, faulty);
    masu_bestfit_config below = masu_bestfit_config_default(r.device);
    below.trace = r.trace;
    below.pool_bytes = MIB;
    below.initial_bytes = 0;
    assert_int_equal(masu_bestfit_create(&below, &r.bestfit), MASU_OK);
    masu_bucket_config config = masu_bucket_config_default(r.bestfit);
    size_t cap = config.max_cached_bytes = 2 * MIB;
    config.trace = checked ? r.trace : NULL;
    config.checked = checked;
    config.thread_safe = seed % 2;
    config.fine_classes = seed / 2 % 2;
    assert_int_equal(masu_bucket_create(&config, &r.bucket), MASU_OK);
    for (r.m.step = 0; r.m.step < steps; r.m.step++) {
        rig_disturb(&r);
        model_block *slot = model_any_slot(&r.m);
        slot->address ? bucket_free(&r, slot, checked) : bucket_alloc(&r, slot);
        bucket_compare(&r, cap);
        if (r.m.step % 256 == 0) {
            cap = bucket_rare(&r, cap);
            bestfit_before_the_judge(&r);
            if (checked)
                bucket_before_the_judge(&r);
            HOLDS(&r.m, masu_bucket_valid(r.bucket) && masu_bestfit_valid(r.bestfit));
        }
    }
    for (size_t i = 0; i < MODEL_SLOTS; i++)
        if (r.m.slots[i].address)
            bucket_free(&r, &r.m.slots[i], checked);
    rig_calm(&r);
    HOLDS(&r.m, masu_bucket_destroy(r.bucket) == MASU_OK);
    HOLDS(&r.m, masu_bestfit_destroy(r.bestfit) == MASU_OK);
    rig_close(&r);
}

/* ---- the heap -------------------------------------------------------------------------------- */

static void heap_compare(rig *r) {
    masu_heap_stats s;
    model *m = &r->m;
    masu_heap_get_stats(r->heap, &s);
    HOLDS(m, s.live_bytes == m->live_bytes && s.live_blocks == m->live_blocks && s.peak_bytes == m->peak_bytes);
    HOLDS(m, s.allocations == m->allocations && s.frees == m->frees && s.hits + s.misses == s.allocations);
    HOLDS(m, s.live_bytes + s.cached_bytes + s.free_bytes + s.slack_bytes == s.reserved_bytes);
}

static void heap_step(rig *r) {
    void *ptr = r;
    model_block *slot = model_any_slot(&r->m);
    if (slot->address) {
        model_check_contents(&r->m, slot);
        HOLDS(&r->m, masu_heap_free(r->heap, slot->address, slot->bytes) == MASU_OK);
        model_remove(&r->m, slot);
        return;
    }
    size_t bytes = model_random_bytes(&r->m, MIB), alignment = model_random_alignment(&r->m, 2 * MIB);
    masu_status status = masu_heap_alloc(r->heap, bytes, alignment, &ptr);
    if (status == MASU_OK)
        model_add(&r->m, slot, ptr, bytes, alignment);
    else
        HOLDS(&r->m, r->faulty && status == MASU_ERR_DEVICE_FAILURE && ptr == NULL);
}

static void heap_run(uint64_t seed, bool host, bool faulty) {
    static rig r;
    rig_open(&r, seed, host, faulty);
    masu_heap_config config = masu_heap_config_default();
    config.device = r.device;
    config.trace = seed % 3 ? r.trace : NULL;
    config.checked = seed % 4 == 1;
    config.thread_safe = seed % 2;
    config.fine_classes = seed / 2 % 2;
    config.pool_bytes = 4 * MIB;
    config.initial_bytes = MIB;
    assert_int_equal(masu_heap_create(&config, &r.heap), MASU_OK);
    for (r.m.step = 0; r.m.step < steps; r.m.step++) {
        rig_disturb(&r);
        heap_step(&r);
        heap_compare(&r);
        if (r.m.step % 256 != 0)
            continue;
        HOLDS(&r.m, masu_heap_valid(r.heap) && masu_check_verdict(r.check) == MASU_VERDICT_FINE);
        masu_status status = masu__rng_below(&r.m.rng, 6) ? MASU_OK
                                                          : masu_heap_trim(r.heap, masu__rng_below(&r.m.rng, 8 * MIB));
        HOLDS(&r.m, status == MASU_OK || (r.faulty && status == MASU_ERR_DEVICE_FAILURE));
        if (masu__rng_below(&r.m.rng, 4) == 0)
            HOLDS(&r.m, masu_heap_set_checked(r.heap, masu__rng_below(&r.m.rng, 2)) == MASU_OK);
    }
    rig_calm(&r);
    HOLDS(&r.m, masu_heap_destroy(r.heap) == (r.m.live_blocks ? MASU_ERR_LEAK : MASU_OK));
    rig_close(&r);
}

/* ---- arrangements ---------------------------------------------------------------------------- */

#define ARRANGEMENT(name, run)                   \
    static void name(void **state) {             \
        (void)state;                             \
        for (size_t i = 0; i < seeds.count; i++) \
            run;                                 \
    }

ARRANGEMENT(bestfit_on_host, bestfit_run(seeds.seed[i], true, false))
ARRANGEMENT(bestfit_on_null, bestfit_run(seeds.seed[i], false, false))
ARRANGEMENT(bestfit_on_faulty, bestfit_run(seeds.seed[i], false, true))
ARRANGEMENT(bucket_checked, bucket_run(seeds.seed[i], false, true))
ARRANGEMENT(bucket_plain, bucket_run(seeds.seed[i], false, false))
ARRANGEMENT(bucket_on_faulty, bucket_run(seeds.seed[i], true, i % 2))
ARRANGEMENT(heap_on_host, heap_run(seeds.seed[i], true, false))
ARRANGEMENT(heap_on_null, heap_run(seeds.seed[i], false, false))
ARRANGEMENT(heap_on_faulty, heap_run(seeds.seed[i], true, true))

int main(int argc, char **argv) {
    seeds = model_seeds_wanted(usual_seeds, sizeof usual_seeds / sizeof *usual_seeds);
    steps = model_steps_wanted(STEPS);
    if (argc > 1)
        seeds = (model_seeds){{strtoull(argv[1], NULL, 0)}, 1};
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bestfit_on_host), cmocka_unit_test(bestfit_on_null), cmocka_unit_test(bestfit_on_faulty),
        cmocka_unit_test(bucket_checked),  cmocka_unit_test(bucket_plain),    cmocka_unit_test(bucket_on_faulty),
        cmocka_unit_test(heap_on_host),    cmocka_unit_test(heap_on_null),    cmocka_unit_test(heap_on_faulty),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
