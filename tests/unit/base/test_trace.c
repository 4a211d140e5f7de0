/* The event stream: order, ring, sink, switch. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/meta.h"
#include "base/trace.h"

static void count_sink(void *context, const masu_event *event) {
    uint64_t *seen = context;
    assert_true(event->sequence == *seen);
    ++*seen;
}

static void send(masu_trace *trace, uint64_t count) {
    for (uint64_t i = 0; i < count; i++)
        if (masu__trace_wanted(trace))
            masu__trace_emit(trace, (masu_event){.kind = MASU_EVENT_ALLOC, .address = 64 * i, .bytes = 1});
}

static void the_ring_keeps_the_latest(void **state) {
    (void)state;
    masu_trace *trace;
    masu_event events[16];
    assert_int_equal(masu_trace_create(&(masu_trace_config){.ring_events = 5, .start_on = true}, &trace), MASU_OK);
    send(trace, 3);
    assert_int_equal(masu_trace_read(trace, events, 16), 3);
    assert_int_equal(events[0].sequence, 0);
    assert_int_equal(masu_trace_dropped(trace), 0);
    send(trace, 17);
    assert_int_equal(masu_trace_emitted(trace), 20);
    assert_int_equal(masu_trace_dropped(trace), 12); /* 5 was rounded up to 8 */
    assert_int_equal(masu_trace_read(trace, events, 16), 8);
    for (uint64_t i = 0; i < 8; i++)
        assert_int_equal(events[i].sequence, 12 + i);
    assert_int_equal(masu_trace_read(trace, events, 2), 2);
    assert_int_equal(events[1].sequence, 13);
    masu_trace_destroy(trace);
}

static void the_sink_sees_all_while_on(void **state) {
    (void)state;
    uint64_t seen = 0;
    masu_trace *trace;
    assert_int_equal(masu_trace_create(&(masu_trace_config){.sink = count_sink, .sink_context = &seen}, &trace),
                     MASU_OK);
    send(trace, 4);
    assert_int_equal(seen, 0);
    masu_trace_set_on(trace, true);
    assert_true(masu_trace_is_on(trace));
    send(trace, 4);
    masu_trace_set_on(trace, false);
    send(trace, 4);
    assert_int_equal(seen, 4);
    assert_int_equal(masu_trace_read(trace, NULL, 0), 0);
    masu_trace_destroy(trace);
}

static void no_trace_is_never_on(void **state) {
    (void)state;
    masu_trace_set_on(NULL, true);
    assert_false(masu__trace_wanted(NULL));
    masu_trace_destroy(NULL);
    assert_false(masu_trace_is_on(NULL));
}

static void creation_fails_cleanly(void **state) {
    (void)state;
    masu_trace *trace = (masu_trace *)&(char){0};
    uint64_t bytes = masu__meta_live_bytes();
    assert_int_equal(masu_trace_create(NULL, &trace), MASU_ERR_INVALID_ARGUMENT);
    assert_null(trace);
    assert_int_equal(masu_trace_create(&(masu_trace_config){.ring_events = SIZE_MAX}, &trace), MASU_ERR_OVERFLOW);
    for (uint64_t nth = 1; nth <= 2; nth++) {
        masu__fault_arm(nth);
        assert_int_equal(masu_trace_create(&(masu_trace_config){.ring_events = 8}, &trace), MASU_ERR_OUT_OF_MEMORY);
        assert_null(trace);
    }
    masu__fault_arm(0);
    assert_int_equal(masu__meta_live_bytes(), bytes);
}

static void pool_numbers_differ(void **state) {
    (void)state;
    uint32_t a = masu__trace_new_pool(), b = masu__trace_new_pool();
    assert_true(a != 0 && b != 0 && a != b);
    assert_string_equal(masu_event_kind_name(MASU_EVENT_FREE_PART), "free-part");
    assert_string_equal(masu_event_kind_name(MASU_EVENT_KIND_COUNT), "unknown");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_ring_keeps_the_latest), cmocka_unit_test(the_sink_sees_all_while_on),
        cmocka_unit_test(no_trace_is_never_on),      cmocka_unit_test(creation_fails_cleanly),
        cmocka_unit_test(pool_numbers_differ),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
