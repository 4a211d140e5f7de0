/* Growing slots and the caller's room: what compiled code says before an operation, and where the result then lies. */
#include <masu/device.h>

#include "base/meta.h"
#include "runtime_fixture.h"

static void close_slots(tl_runtime *rt) {
    tl__slots_end(rt);
    close_runtime(rt);
}

static tl_frame *enter_with(uint32_t first, uint32_t end) {
    tl_frame *frame = tl_mem_function_enter(0);
    frame->growing_first = first;
    frame->growing_end = end;
    return frame;
}

static tl_tensor *ones(int64_t n) {
    return tl_tensor_ones(1, &n, false);
}

static tl_tensor *grown(tl_frame *frame, uint32_t slot, int64_t n) {
    frame->grow = slot + 1;
    tl_tensor *t = ones(n);
    frame->grow = 0;
    return t;
}

static tl_report report_of(tl_runtime *rt) {
    tl_report report;
    assert_true(tl_runtime_valid(rt));
    tl_runtime_get_report(rt, &report);
    return report;
}

static void a_buffer_stays_and_grows(void **state) {
    (void)state;
    tl_runtime *rt = open_runtime(NULL);
    tl_frame *frame = enter_with(3, 5);
    tl_tensor *t = grown(frame, 0, 100);
    void *data = t->data;
    tl_tensor_release_safe(t);
    for (int64_t n = 1; n <= 100; n++) {
        t = grown(frame, 0, n);
        assert_ptr_equal(t->data, data);
        tl_tensor_release_safe(t);
    }
    assert_int_equal(report_of(rt).allocations, 1);
    t = grown(frame, 0, 101); /* half as large again, so that the next fifty fit */
    tl_tensor_release_safe(t);
    t = grown(frame, 0, 150);
    tl_report report = report_of(rt);
    assert_int_equal(report.allocations, 2);
    assert_int_equal(report.slot_growths, 2);
    assert_int_equal(report.slotted, 103);
    assert_int_equal(report.slot_bytes_peak, 600);
    assert_int_equal(report.live_bytes, 0);
    assert_int_equal(report.live_tensors, 1);
    tl_tensor_release_safe(t);
    tl_mem_function_exit(frame);
    close_slots(rt);
}

/* Whoever finds the slot taken takes another of the function, and then the pool. */
static void nobody_is_turned_out(void **state) {
    (void)state;
    tl_runtime *rt = open_runtime(NULL);
    tl_frame *frame = enter_with(0, 2);
    tl_tensor *a = grown(frame, 0, 4), *b = grown(frame, 0, 4), *c = grown(frame, 0, 4);
    assert_int_equal(a->storage->slot, 1);
    assert_int_equal(b->storage->slot, 2);
    assert_int_equal(c->storage->slot, 0);
    tl_frame *inner = enter_with(0, 2); /* the same function again */
    tl_tensor *d = grown(inner, 0, 4);
    assert_int_equal(d->storage->slot, 0);
    tl_tensor_release_safe(a);
    tl_tensor *e = grown(inner, 1, 4);
    assert_int_equal(e->storage->slot, 1);
    tl_tensor *rest[] = {b, c, d, e};
    for (int k = 0; k < 4; k++) {
        assert_true(((float *)rest[k]->data)[3] == 1.0f);
        assert_true(tl_runtime_valid(rt));
        tl_tensor_release_safe(rest[k]);
    }
    tl_mem_function_exit(frame);
    assert_int_equal(report_of(rt).live_tensors, 0);
    close_slots(rt);
}

static void views_hold_the_slot(void **state) {
    (void)state;
    tl_runtime *rt = open_runtime(NULL);
    tl_frame *frame = enter_with(0, 1);
    tl_tensor *a = grown(frame, 0, 4), *view = tl_tensor_reshape(a, 1, (int64_t[]){4});
    tl_tensor_release_safe(a);
    tl_tensor *b = grown(frame, 0, 4);
    assert_int_equal(b->storage->slot, 0);
    tl_tensor_release_safe(view);
    tl_tensor *c = grown(frame, 0, 4);
    assert_int_equal(c->storage->slot, 1);
    tl_tensor_release_safe(b);
    tl_tensor_release_safe(c);
    tl_mem_function_exit(frame);
    close_slots(rt);
}

static void large_and_empty_ones_need_no_slot(void **state) {
    (void)state;
    tl_runtime *rt = open_runtime(NULL);
    tl_frame *frame = enter_with(0, 1);
    tl_tensor *empty = grown(frame, 0, 0), *large = grown(frame, 0, TL_SLOT_BYTES_MAX / 4 + 1);
    assert_int_equal(empty->storage->slot, 0);
    assert_int_equal(large->storage->slot, 0);
    tl_tensor_release_safe(empty);
    tl_tensor_release_safe(large);
    tl_mem_function_exit(frame);
    close_slots(rt);
}

/* ---- results of calls -------------------------------------------------------------------------- */

static tl_tensor *built(tl_frame *callee, uint32_t result, int64_t n) {
    callee->want = result + 1;
    tl_tensor *t = ones(n);
    callee->want = 0;
    return t;
}

static void a_result_lies_where_the_caller_wants_it(void **state) {
    (void)state;
    tl_runtime *rt = open_runtime(NULL);
    tl_frame *caller = tl_mem_function_enter_room(0, 128, 0, NULL);
    caller->growing_end = 2;
    tl_dest dests[] = {{.place = (char *)caller->room + 64, .bytes = 16}, {.grow = 2}};
    caller->dests = dests;
    tl_frame *callee = tl_mem_function_enter(0);
    tl_tensor *a = built(callee, 0, 4), *b = built(callee, 1, 7);
    assert_ptr_equal(a->data, (char *)caller->room + 64);
    assert_int_equal(b->storage->slot, 2);
    tl_tensor *second = built(callee, 0, 4); /* the first may be alive: it is not written over */
    assert_false(tl__in_frame(rt, second->data));
    tl_mem_function_exit(callee);
    caller->dests = NULL;
    assert_true(((float *)a->data)[3] == 1.0f && ((float *)b->data)[6] == 1.0f);
    tl_report report = report_of(rt);
    assert_int_equal(report.placed, 1);
    assert_int_equal(report.slotted, 1);
    tl_tensor *rest[] = {a, b, second};
    for (int k = 0; k < 3; k++)
        tl_tensor_release_safe(rest[k]);
    tl_mem_function_exit(caller);
    close_slots(rt);
}

/* A function that hands on what it was given by another one: its own caller's wish counts. No caller, or one without a
 * wish: a pool. */
static void wishes_are_handed_on(void **state) {
    (void)state;
    tl_runtime *rt = open_runtime(NULL);
    tl_frame *outer = enter_with(0, 1);
    tl_tensor *alone = built(outer, 0, 4);
    tl_dest wish = {.grow = 1}, passed = {.want = 1};
    outer->dests = &wish;
    tl_frame *middle = tl_mem_function_enter(0);
    tl_frame *unasked = tl_mem_function_enter(0);
    tl_tensor *none = built(unasked, 0, 4);
    tl_mem_function_exit(unasked);
    middle->dests = &passed;
    tl_frame *inner = tl_mem_function_enter(0);
    tl_tensor *t = built(inner, 0, 4);
    assert_int_equal(t->storage->slot, 1);
    assert_int_equal(alone->storage->slot, 0);
    assert_int_equal(none->storage->slot, 0);
    tl_tensor *rest[] = {t, alone, none};
    for (int k = 0; k < 3; k++)
        tl_tensor_release_safe(rest[k]);
    tl_mem_function_exit(outer);
    close_slots(rt);
}

/* ---- over an operand ---------------------------------------------------------------------------- */

static bool lends(tl_frame *frame, tl_tensor *t) {
    frame->spent = t;
    tl_tensor *over = tl_tensor_mul_scalar(t, 2.0);
    frame->spent = NULL;
    bool same = over->data == t->data;
    tl_tensor_release_safe(over);
    return same;
}

/* What lies in a slot may only be written over by what goes no further. */
static void slots_lend_to_what_stays(void **state) {
    (void)state;
    tl_runtime *rt = open_runtime(NULL);
    tl_frame *caller = enter_with(0, 2);
    tl_tensor *mine = grown(caller, 0, 4), *wanted;
    assert_false(lends(caller, mine)); /* the result may go anywhere */
    tl_dest dest = {.grow = 2};
    caller->dests = &dest;
    tl_frame *callee = enter_with(2, 3);
    callee->want = 1;
    assert_true(lends(callee, mine)); /* it lies in a slot of the caller then, as is wished */
    callee->want = 0;
    wanted = grown(callee, 0, 4);
    callee->want = 1;
    assert_false(lends(callee, wanted)); /* a slot of the callee's own does not outlive the call */
    callee->want = 0;
    callee->grow = 1;
    assert_true(lends(callee, mine));
    callee->grow = 0;
    tl_tensor_release_safe(mine);
    tl_tensor_release_safe(wanted);
    tl_mem_function_exit(caller);
    close_slots(rt);
}

static void what_is_made_on_the_way_has_a_slot(void **state) {
    (void)state;
    tl_runtime *rt = open_runtime(NULL);
    tl_frame *caller = tl_mem_function_enter_room(0, 64, 0, NULL);
    tl_dest dest = {.place = caller->room, .bytes = 16};
    caller->dests = &dest;
    tl_frame *callee = enter_with(0, 1);
    callee->want = callee->grow = 1;
    tl_tensor *on_the_way = ones(6);
    tl_tensor *result = ones(4);
    callee->want = callee->grow = 0;
    assert_int_equal(on_the_way->storage->slot, callee->growing_first + 1);
    assert_ptr_equal(result->data, caller->room);
    tl_tensor_release_safe(on_the_way);
    tl_tensor_release_safe(result);
    tl_mem_function_exit(caller);
    close_slots(rt);
}

static void a_place_lends_to_the_same_result(void **state) {
    (void)state;
    tl_runtime *rt = open_runtime(NULL);
    tl_frame *caller = tl_mem_function_enter_room(0, 64, 0, NULL);
    tl_dest dest = {.place = caller->room, .bytes = 16};
    caller->dests = &dest;
    tl_frame *callee = tl_mem_function_enter(0);
    tl_tensor *t = built(callee, 0, 4);
    assert_false(lends(callee, t));
    callee->want = 1;
    assert_true(lends(callee, t));
    callee->want = 0;
    tl_tensor_release_safe(t);
    tl_mem_function_exit(caller);
    close_slots(rt);
}

/* ---- the end of memory ------------------------------------------------------------------------------ */

/* Refused at each request in turn: the slot is as if nobody had asked, and nothing is lost. */
static void a_refused_growth_leaves_nothing(void **state) {
    (void)state;
    tl_runtime *rt = open_runtime(NULL);
    tl_frame *frame = enter_with(0, 1);
    tl_tensor *first = ones(1); /* headers and storages are there */
    for (uint64_t nth = 1; nth <= 2; nth++) {
        masu__fault_arm(nth);
        assert_null(grown(frame, 0, 64));
        masu__fault_arm(0);
        assert_raised(rt, MASU_ERR_OUT_OF_MEMORY, "out of memory");
        assert_true(tl_runtime_valid(rt));
    }
    tl_tensor *t = grown(frame, 0, 64);
    assert_int_equal(t->storage->slot, 1);
    tl_tensor_release_safe(t);
    masu__fault_arm(1);
    assert_null(grown(frame, 0, 65));
    masu__fault_arm(0);
    assert_raised(rt, MASU_ERR_OUT_OF_MEMORY, "out of memory");
    assert_int_equal(report_of(rt).live_tensors, 1);
    tl_tensor_release_safe(first);
    tl_mem_function_exit(frame);
    close_slots(rt);
}

static void idle_buffers_make_room(void **state) {
    (void)state;
    tl_runtime *rt = open_runtime(NULL);
    tl_frame *frame = enter_with(0, 2);
    tl_tensor *kept = grown(frame, 0, 4), *gone = grown(frame, 1, 400);
    tl_tensor_release_safe(gone);
    assert_int_equal(rt->slot_bytes, 1616);
    assert_true(tl__slots_trim(rt));
    assert_int_equal(rt->slot_bytes, 16);
    assert_false(tl__slots_trim(rt));
    assert_true(tl_runtime_valid(rt));
    tl_tensor_release_safe(kept);
    tl_mem_function_exit(frame);
    close_slots(rt);
}

/* The device gives nothing more: what an idle slot holds is enough for what is asked. */
static void a_pool_short_of_memory_gets_them(void **state) {
    (void)state;
    masu_device *host, *device;
    assert_int_equal(masu_device_create_host(&host), MASU_OK);
    assert_int_equal(masu_device_create_faulty(host, &device), MASU_OK);
    tl_runtime *rt = open_runtime(&(tl_runtime_config){.device = device});
    tl_frame *frame = enter_with(0, 1);
    tl_tensor_release_safe(grown(frame, 0, 3 << 18));
    assert_int_equal(masu_device_fail_at(device, 1, true), MASU_OK);
    tl_tensor *taken[64];
    int count = 0;
    while (rt->slot_bytes > 0) { /* until what the device had given is used up */
        assert_true(count < 64);
        assert_non_null(taken[count++] = ones(1 << 18));
    }
    while ((taken[count] = ones(1 << 18)))
        assert_true(++count < 64);
    assert_raised(rt, MASU_ERR_DEVICE_FAILURE, "");
    assert_int_equal(masu_device_fail_at(device, 0, false), MASU_OK);
    while (count > 0)
        tl_tensor_release_safe(taken[--count]);
    tl_mem_function_exit(frame);
    close_slots(rt);
    assert_int_equal(masu_device_destroy(device), MASU_OK);
    assert_int_equal(masu_device_destroy(host), MASU_OK);
}

static void program(void) {
    tl_frame *frame = enter_with(0, 1);
    tl_tensor_release_safe(grown(frame, 0, 4));
    tl_mem_function_exit(frame);
}

static void a_run_ends_without_slots(void **state) {
    (void)state;
    tl_runtime *rt;
    assert_int_equal(tl_runtime_create(NULL, &rt), MASU_OK);
    assert_int_equal(tl_runtime_run(rt, program, NULL), MASU_OK);
    tl_report report = report_of(rt);
    assert_int_equal(report.slotted, 1);
    assert_int_equal(report.allocations, 1);
    assert_int_equal(report.frees, 1);
    assert_int_equal(rt->slot_bytes, 0);
    assert_null(rt->slots);
    tl_runtime_destroy(rt);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_buffer_stays_and_grows),
        cmocka_unit_test(nobody_is_turned_out),
        cmocka_unit_test(views_hold_the_slot),
        cmocka_unit_test(large_and_empty_ones_need_no_slot),
        cmocka_unit_test(a_result_lies_where_the_caller_wants_it),
        cmocka_unit_test(wishes_are_handed_on),
        cmocka_unit_test(slots_lend_to_what_stays),
        cmocka_unit_test(what_is_made_on_the_way_has_a_slot),
        cmocka_unit_test(a_place_lends_to_the_same_result),
        cmocka_unit_test(a_refused_growth_leaves_nothing),
        cmocka_unit_test(idle_buffers_make_room),
        cmocka_unit_test(a_pool_short_of_memory_gets_them),
        cmocka_unit_test(a_run_ends_without_slots),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
