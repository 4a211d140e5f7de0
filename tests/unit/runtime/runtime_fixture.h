/* runtime_fixture.h: what every test of the runtime does: open one, make small things, demand that nothing is left.
 * Each test program includes it once, behind cmocka's own headers. */
#ifndef MASU_TEST_RUNTIME_FIXTURE_H
#define MASU_TEST_RUNTIME_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/meta.h"
#include "runtime/state.h"
#include "runtime/value/objects.h"

#define UNUSED __attribute__((unused))

/* How deep is deep: heavy builds walk the whole heap at every request, so the square of this is what they take. */
#ifdef MASU_HEAVY
enum { DEEP = 2000 };
#else
enum { DEEP = 100000 };
#endif

/* Entered in this thread, without a program. */
static UNUSED tl_runtime *open_runtime(const tl_runtime_config *config) {
    tl_runtime *rt = NULL;
    assert_int_equal(tl_runtime_create(config, &rt), MASU_OK);
    tl_runtime_enter(rt);
    return rt;
}

static UNUSED void assert_nothing_left(tl_runtime *rt) {
    tl_report r;
    tl_runtime_get_report(rt, &r);
    assert_int_equal(r.live_tensors, 0);
    assert_int_equal(r.live_bytes, 0);
    assert_int_equal(r.live_objects, 0);
    assert_int_equal(r.metadata_bytes, 0);
    assert_int_equal(r.registered, 0);
    assert_int_equal(r.scope_depth, 0);
    assert_int_equal(r.frame_depth, 0);
    assert_int_equal(r.allocations, r.frees);
    assert_true(tl_runtime_valid(rt));
}

static UNUSED void close_runtime(tl_runtime *rt) {
    assert_nothing_left(rt);
    tl_runtime_leave(rt);
    tl_runtime_destroy(rt);
}

/* [count] of f32, elements 0, 1, 2, … */
static UNUSED tl_tensor *make_vector(int64_t count) {
    tl_tensor *t = NULL;
    assert_int_equal(tl__tensor_new(TL_F32, 1, &count, &t), MASU_OK);
    for (int64_t i = 0; i < count; i++)
        ((float *)t->data)[i] = (float)i;
    return t;
}

static UNUSED tl_object *make_string(const char *text) {
    tl_object *s = NULL;
    assert_int_equal(tl__string_new(text, (int64_t)strlen(text), &s), MASU_OK);
    return s;
}

/* The error raised since the last look, which must be of this status and say this. */
static UNUSED void assert_raised(tl_runtime *rt, masu_status status, const char *text) {
    const tl_error *error = tl_runtime_error(rt);
    assert_int_equal(error->status, status);
    if (!strstr(error->text, text))
        fail_msg("\"%s\" does not say \"%s\"", error->text, text);
    tl_runtime_clear_error(rt);
    assert_int_equal(tl_runtime_error(rt)->status, MASU_OK);
}

/* Runs scenario again and again with the 1st, 2nd, … request for memory refused, until none is. A refusal may be
 * made good by asking for less; otherwise it must end in an error that says so. Nothing is left behind in either
 * case. Returns how many refusals became errors. */
static UNUSED uint64_t sweep_failures(tl_runtime *rt, void (*scenario)(void)) {
    uint64_t errors = 0;
    for (uint64_t nth = 1;; nth++) {
        tl_error error;
        masu__fault_arm(nth);
        masu_status status = tl_runtime_run(rt, scenario, &error);
        bool fired = masu__fault_fired();
        masu__fault_arm(0);
        assert_true(tl_runtime_valid(rt));
        assert_int_equal(rt->tensors.live, 0);
        assert_int_equal(rt->live_objects, 0);
        if (status != MASU_OK) {
            assert_true(fired);
            assert_int_equal(status, MASU_ERR_OUT_OF_MEMORY);
            assert_non_null(strstr(error.text, "out of memory"));
            errors++;
        }
        if (!fired)
            return errors;
        assert_true(nth < 10000);
    }
}

#endif
