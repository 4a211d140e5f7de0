/* A bucket pool that a trace watches: each refusal is one event, with the bytes that were asked for. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <masu/bucket.h>
#include <masu/trace.h>

#include "base/meta.h"

enum { MIB = 1 << 20 };

typedef struct fixture {
    masu_device *device;
    masu_bestfit *backing;
    masu_bucket *pool;
} fixture;

static void open_backing(fixture *f) {
    assert_int_equal(masu_device_create_host(&f->device), MASU_OK);
    masu_bestfit_config config = masu_bestfit_config_default(f->device);
    config.pool_bytes = config.initial_bytes = 16 * MIB;
    assert_int_equal(masu_bestfit_create(&config, &f->backing), MASU_OK);
}

static masu_bucket_stats stats_of(masu_bucket *pool) {
    masu_bucket_stats s;
    masu_bucket_get_stats(pool, &s);
    return s;
}

typedef struct refusals {
    uint32_t pool;
    uint64_t count, bytes;
} refusals;

static void count_refusals(void *context, const masu_event *event) {
    refusals *r = context;
    if (event->kind != MASU_EVENT_REFUSED || event->pool != r->pool)
        return;
    r->count++;
    r->bytes = event->bytes;
}

static void a_trace_is_told_of_each_refusal(void **state) {
    (void)state;
    fixture f;
    refusals told = {0};
    masu_trace *trace;
    masu_trace_config of = {.sink = count_refusals, .sink_context = &told, .start_on = true};
    assert_int_equal(masu_trace_create(&of, &trace), MASU_OK);
    open_backing(&f);
    masu_bucket_config config = masu_bucket_config_default(f.backing);
    config.trace = trace;
    assert_int_equal(masu_bucket_create(&config, &f.pool), MASU_OK);
    told.pool = masu_bucket_number(f.pool);
    void *ptr;
    assert_int_not_equal(masu_bucket_alloc(f.pool, SIZE_MAX / 4, 128, &ptr), MASU_OK);
    assert_int_equal(told.count, stats_of(f.pool).failures);
    assert_int_equal(told.count, 1);
    assert_true(told.bytes == SIZE_MAX / 4);
    assert_int_equal(masu_bucket_destroy(f.pool), MASU_OK);
    assert_int_equal(masu_bestfit_destroy(f.backing), MASU_OK);
    assert_int_equal(masu_device_destroy(f.device), MASU_OK);
    masu_trace_destroy(trace);
    assert_int_equal(masu__meta_live_bytes(), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_trace_is_told_of_each_refusal)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
