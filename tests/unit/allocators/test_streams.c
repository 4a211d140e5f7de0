/* Streams: freed memory is never reused before the work that uses it is done. On the simulated driver, which does
 * queued work at the latest possible moment. */
#include "fake_cuda/controls.h"
#include "unit/allocators/vm_fixture.h"

#include <masu/check.h>

#include "base/rng.h"

typedef struct stage {
    masu_device *cuda, *device; /* device: faulty, around it */
    masu_vm *vm;
    masu_bestfit *bestfit;
    masu_streams *streams;
    void *stream[4];
    masu_trace *trace;
    masu_check *judge; /* of the pool and of the streams in front of it */
} stage;

static void open_stage(stage *s, bool over_vm, size_t limit_bytes) {
    *s = (stage){0};
    masu_cuda_config cuda = {.library = fake_cuda()->path};
    assert_int_equal(masu_device_create_cuda(&cuda, &s->cuda), MASU_OK);
    assert_int_equal(masu_device_create_faulty(s->cuda, &s->device), MASU_OK);
    assert_int_equal(masu_check_create(&s->judge), MASU_OK);
    masu_trace_config trace = {.sink = masu_check_sink, .sink_context = s->judge, .start_on = true};
    assert_int_equal(masu_trace_create(&trace, &s->trace), MASU_OK);
    masu_streams_config config = {.device = s->device, .thread_safe = true, .trace = s->trace, .name = "work"};
    if (over_vm) {
        masu_vm_config vm = vm_small_config();
        vm.device = s->device;
        vm.trace = s->trace;
        vm.limit_bytes = limit_bytes;
        assert_int_equal(masu_vm_create(&vm, &s->vm), MASU_OK);
        config.vm = s->vm;
    } else {
        masu_bestfit_config bestfit = masu_bestfit_config_default(s->device);
        bestfit.initial_bytes = 0;
        bestfit.trace = s->trace;
        bestfit.pool_bytes = 4 * MIB;
        bestfit.limit_bytes = limit_bytes;
        assert_int_equal(masu_bestfit_create(&bestfit, &s->bestfit), MASU_OK);
        config.bestfit = s->bestfit;
    }
    assert_int_equal(masu_streams_create(&config, &s->streams), MASU_OK);
    for (int i = 0; i < 4; i++)
        assert_int_equal(fake_cuda()->stream_create(&s->stream[i], 0), 0);
}

static void close_stage(stage *s) {
    fake_cuda_report report;
    assert_true(masu_streams_valid(s->streams));
    assert_int_equal(masu_streams_destroy(s->streams), MASU_OK);
    if (s->vm)
        assert_int_equal(masu_vm_destroy(s->vm), MASU_OK);
    if (s->bestfit)
        assert_int_equal(masu_bestfit_destroy(s->bestfit), MASU_OK);
    assert_string_equal(masu_verdict_name(masu_check_verdict(s->judge)), masu_verdict_name(MASU_VERDICT_FINE));
    masu_check_destroy(s->judge);
    assert_true(masu_trace_emitted(s->trace) > 4);
    masu_trace_destroy(s->trace);
    for (int i = 0; i < 4; i++)
        fake_cuda()->stream_destroy(s->stream[i]);
    assert_int_equal(masu_device_destroy(s->device), MASU_OK);
    assert_int_equal(masu_device_destroy(s->cuda), MASU_OK);
    fake_cuda()->report(&report);
    if (report.misuses > 0)
        fail_msg("driver misused: %s", fake_cuda()->last_misuse());
    assert_int_equal(report.events + report.handles + report.allocations + report.mappings, 0);
    assert_int_equal(masu__meta_live_bytes(), 0);
}

static void *take(stage *s, size_t bytes, int stream) {
    void *ptr;
    assert_int_equal(masu_streams_alloc(s->streams, bytes, s->stream[stream], &ptr), MASU_OK);
    assert_true(masu_streams_valid(s->streams));
    return ptr;
}

static void give(stage *s, void *ptr, int stream) {
    assert_int_equal(masu_streams_free(s->streams, ptr, s->stream[stream]), MASU_OK);
    assert_true(masu_streams_valid(s->streams));
}

static masu_streams_stats stats_of(stage *s) {
    masu_streams_stats stats;
    masu_streams_get_stats(s->streams, &stats);
    return stats;
}

/* A block serves a request that leaves an eighth of the request unused, of its own stream and of another whose work is
 * done; one that would leave more waits for a better request. */
static void an_eighth_may_be_wasted(void **state) {
    (void)state;
    for (int own = 0; own < 2; own++)
        for (int above = 0; above < 2; above++) {
            stage s;
            open_stage(&s, false, 0);
            void *a = take(&s, 9 * MIB + (above ? 64 : 0) * (size_t)1024, 0);
            give(&s, a, 0);
            fake_cuda()->run(s.stream[0]);
            void *b = take(&s, 8 * MIB, own ? 0 : 1);
            assert_int_equal(stats_of(&s).same_stream, own && !above);
            assert_int_equal(stats_of(&s).other_stream, !own && !above);
            assert_int_equal(stats_of(&s).fetched, 1 + above);
            give(&s, b, own ? 0 : 1);
            close_stage(&s);
        }
}

static void the_same_stream_reuses_at_once(void **state) {
    (void)state;
    for (int over_vm = 0; over_vm < 2; over_vm++) {
        stage s;
        open_stage(&s, over_vm, 0);
        void *a = take(&s, 3 * MIB, 0);
        fake_cuda()->fill((uintptr_t)a, 1, 3 * MIB, s.stream[0]); /* queued, not done */
        give(&s, a, 0);
        assert_ptr_equal(take(&s, 3 * MIB, 0), a);
        assert_int_equal(stats_of(&s).same_stream, 1);
        assert_int_equal(stats_of(&s).waits, 0);
        give(&s, a, 0);
        close_stage(&s);
    }
}

static void another_stream_only_after_the_event(void **state) {
    (void)state;
    for (int over_vm = 0; over_vm < 2; over_vm++) {
        stage s;
        open_stage(&s, over_vm, 0);
        unsigned char *a = take(&s, 3 * MIB, 0), *b;
        fake_cuda()->fill((uintptr_t)a, 1, 3 * MIB, s.stream[0]);
        give(&s, a, 0);
        b = take(&s, 3 * MIB, 1);
        assert_ptr_not_equal(b, a);
        fake_cuda()->fill((uintptr_t)b, 2, 3 * MIB, s.stream[1]);
        fake_cuda()->run(s.stream[1]);
        fake_cuda()->run(s.stream[0]);
        assert_int_equal(b[0], 2);
        assert_int_equal(b[3 * MIB - 1], 2);
        assert_ptr_equal(take(&s, 3 * MIB, 1), a); /* its event has come */
        assert_int_equal(stats_of(&s).other_stream, 1);
        assert_int_equal(stats_of(&s).waits, 0);
        give(&s, a, 1);
        give(&s, b, 1);
        close_stage(&s);
    }
}

/* One stream stalls; a second runs out and what is idle is merged; a third must not get the stalled memory. */
static void merging_forgets_no_event(void **state) {
    (void)state;
    for (int over_vm = 0; over_vm < 2; over_vm++) {
        stage s;
        open_stage(&s, over_vm, 0);
        unsigned char *x = take(&s, 2 * MIB, 0), *y = take(&s, 2 * MIB, 1);
        fake_cuda()->fill((uintptr_t)x, 0xaa, 2 * MIB, s.stream[0]); /* stalled */
        give(&s, x, 0);
        give(&s, y, 1);
        fake_cuda()->run(s.stream[1]);
        void *large = take(&s, 12 * MIB, 1); /* more than its list has: what is idle merges */
        assert_true(stats_of(&s).returned >= 1);
        unsigned char *z = take(&s, 2 * MIB, 2);
        if (!over_vm) /* there, returning waited for all work, the stalled too */
            assert_ptr_not_equal(z, x);
        fake_cuda()->fill((uintptr_t)z, 0x55, 2 * MIB, s.stream[2]);
        fake_cuda()->run(s.stream[2]);
        fake_cuda()->run(s.stream[0]); /* the stalled work happens now */
        for (size_t at = 0; at < 2 * MIB; at += 4096)
            assert_int_equal(z[at], 0x55);
        give(&s, large, 1);
        give(&s, z, 2);
        close_stage(&s);
    }
}

static void when_there_is_no_more_it_waits(void **state) {
    (void)state;
    for (int over_vm = 0; over_vm < 2; over_vm++) {
        stage s;
        void *out;
        open_stage(&s, over_vm, 8 * MIB);
        void *a = take(&s, 4 * MIB, 0), *b = take(&s, 4 * MIB, 0);
        fake_cuda()->fill((uintptr_t)a, 1, 4 * MIB, s.stream[0]);
        fake_cuda()->fill((uintptr_t)b, 1, 4 * MIB, s.stream[0]);
        assert_int_equal(masu_streams_alloc(s.streams, 4 * MIB, s.stream[1], &out), MASU_ERR_LIMIT_REACHED);
        give(&s, a, 0);
        give(&s, b, 0);
        out = take(&s, 6 * MIB, 1); /* after waiting for stream 0 */
        assert_true(stats_of(&s).waits >= 1);
        give(&s, out, 1);
        close_stage(&s);
    }
}

static void a_block_that_others_use_waits_for_them(void **state) {
    (void)state;
    stage s;
    open_stage(&s, false, 0);
    void *a = take(&s, MIB, 0);
    assert_int_equal(masu_streams_use(s.streams, a, s.stream[1]), MASU_OK);
    assert_int_equal(masu_streams_use(s.streams, a, s.stream[1]), MASU_OK);
    assert_int_equal(masu_streams_use(s.streams, (char *)a + 64, s.stream[1]), MASU_ERR_FOREIGN_POINTER);
    fake_cuda()->fill((uintptr_t)a, 1, MIB, s.stream[1]);
    give(&s, a, 0);
    void *b = take(&s, MIB, 0); /* not even its own stream may have it yet */
    assert_ptr_not_equal(b, a);
    fake_cuda()->run(s.stream[0]);
    void *c = take(&s, MIB, 0);
    assert_ptr_not_equal(c, a);
    fake_cuda()->run(s.stream[1]);
    assert_ptr_equal(take(&s, MIB, 0), a);
    give(&s, a, 0);
    give(&s, b, 0);
    give(&s, c, 0);
    close_stage(&s);
}

/* A new stream gets the handle of one that is gone, and no claim on its blocks. */
static void a_handle_used_again_is_another_stream(void **state) {
    (void)state;
    stage s;
    void *reborn;
    open_stage(&s, false, 0);
    void *a = take(&s, MIB, 0), *stalled = take(&s, MIB, 1);
    assert_int_equal(masu_streams_use(s.streams, a, s.stream[1]), MASU_OK);
    fake_cuda()->fill((uintptr_t)a, 1, MIB, s.stream[1]); /* stream 1 still works on it */
    give(&s, a, 0);
    fake_cuda()->stream_destroy(s.stream[0]);
    assert_int_equal(fake_cuda()->stream_create(&reborn, 0), 0);
    assert_ptr_equal(reborn, s.stream[0]);
    void *b = take(&s, MIB, 0);
    assert_ptr_not_equal(b, a);
    assert_int_equal(stats_of(&s).same_stream, 0);
    give(&s, b, 0);
    give(&s, stalled, 1);
    close_stage(&s);
}

static void wrong_frees_and_refusals(void **state) {
    (void)state;
    stage s;
    void *out;
    int local;
    open_stage(&s, true, 0);
    void *a = take(&s, MIB, 0);
    assert_int_equal(masu_streams_free(s.streams, &local, s.stream[0]), MASU_ERR_FOREIGN_POINTER);
    masu_device_fail_at(s.device, 1, false); /* the mark */
    assert_int_equal(masu_streams_free(s.streams, a, s.stream[0]), MASU_ERR_DEVICE_FAILURE);
    assert_true(masu_streams_valid(s.streams));
    assert_int_equal(stats_of(&s).live_blocks, 1);
    give(&s, a, 0);
    assert_int_equal(masu_streams_free(s.streams, a, s.stream[0]), MASU_ERR_FOREIGN_POINTER);
    for (uint64_t nth = 1;; nth++) {
        masu_device_fail_at(s.device, nth, false);
        masu_status status = masu_streams_alloc(s.streams, 7 * MIB, s.stream[1], &out);
        masu_device_fail_at(s.device, 0, false);
        assert_true(masu_streams_valid(s.streams));
        if (status == MASU_OK)
            break;
        assert_null(out);
    }
    give(&s, out, 1);
    assert_int_equal(masu_streams_alloc(s.streams, 0, NULL, &out), MASU_OK);
    assert_null(out);
    assert_int_equal(masu_streams_alloc(s.streams, SIZE_MAX, NULL, &out), MASU_ERR_OVERFLOW);
    close_stage(&s);
    masu_device *host;
    masu_streams *none;
    assert_int_equal(masu_device_create_host(&host), MASU_OK);
    masu_streams_config config = {.device = host};
    assert_int_equal(masu_streams_create(&config, &none), MASU_ERR_INVALID_ARGUMENT);
    assert_int_equal(masu_device_destroy(host), MASU_OK);
}

/* Random blocks on four streams; each is filled on its stream when it is taken and must still hold that at the
 * moment its stream comes to the check, whatever the order in which streams run. */
static void random_streams(void **state) {
    (void)state;
    enum { SLOTS = 12, STEPS = 3000, BYTES = 64 << 10 };
    for (uint64_t seed = 1; seed <= 6; seed++) {
        stage s;
        masu__rng rng;
        struct {
            unsigned char *block;
            int stream;
            unsigned char mark;
        } slots[SLOTS] = {0};
        open_stage(&s, seed % 2, seed == 3 ? 32 * MIB : 0);
        masu__rng_seed(&rng, seed);
        for (int step = 0; step < STEPS; step++) {
            size_t k = masu__rng_below(&rng, SLOTS);
            int stream = (int)masu__rng_below(&rng, 4);
            if (masu__rng_below(&rng, 8) == 0) {
                fake_cuda()->run(s.stream[stream]);
            } else if (!slots[k].block) {
                slots[k].block = take(&s, BYTES * (1 + masu__rng_below(&rng, 4)), stream);
                slots[k].stream = stream;
                slots[k].mark = (unsigned char)step;
                fake_cuda()->fill((uintptr_t)slots[k].block, slots[k].mark, BYTES, s.stream[stream]);
            } else {
                /* the owner's stream runs now; nobody else's work may have come over it */
                fake_cuda()->run(s.stream[slots[k].stream]);
                assert_int_equal(slots[k].block[0], slots[k].mark);
                assert_int_equal(slots[k].block[BYTES - 1], slots[k].mark);
                fake_cuda()->fill((uintptr_t)slots[k].block, 0xee, BYTES, s.stream[slots[k].stream]);
                give(&s, slots[k].block, slots[k].stream);
                slots[k].block = NULL;
            }
        }
        for (int k = 0; k < SLOTS; k++)
            if (slots[k].block)
                give(&s, slots[k].block, slots[k].stream);
        close_stage(&s);
    }
}

int main(void) {
    if (!fake_cuda()->simulated) {
        print_message("only the simulated driver delays work on purpose\n");
        return 0;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_same_stream_reuses_at_once),
        cmocka_unit_test(an_eighth_may_be_wasted),
        cmocka_unit_test(another_stream_only_after_the_event),
        cmocka_unit_test(merging_forgets_no_event),
        cmocka_unit_test(when_there_is_no_more_it_waits),
        cmocka_unit_test(a_block_that_others_use_waits_for_them),
        cmocka_unit_test(a_handle_used_again_is_another_stream),
        cmocka_unit_test(wrong_frees_and_refusals),
        cmocka_unit_test(random_streams),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
