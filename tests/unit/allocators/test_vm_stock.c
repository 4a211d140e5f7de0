/* Borders of the pool of virtual memory, each from both sides: which pieces leave the stock and how many, which
 * fragments are allowed, from what size on a copy becomes a move, and what a move that is refused twice leaves behind.
 */
#include "unit/allocators/vm_fixture.h"

enum { MOST_DROPPED = 64 };

/* Serial numbers of the pieces that went back to the device, in order; those that were created, too. */
typedef struct leaving {
    uint64_t added[MOST_DROPPED], dropped[MOST_DROPPED];
    size_t add_count, drop_count;
    masu_check *check;
} leaving;

static void note(void *context, const masu_event *event) {
    leaving *l = context;
    masu_check_event(l->check, event);
    if (event->kind == MASU_EVENT_PIECE_ADD && l->add_count < MOST_DROPPED)
        l->added[l->add_count++] = event->owner;
    if (event->kind == MASU_EVENT_PIECE_DROP && l->drop_count < MOST_DROPPED)
        l->dropped[l->drop_count++] = event->owner;
}

typedef struct watched {
    leaving seen;
    masu_device *device;
    masu_trace *trace;
    masu_vm *vm;
} watched;

static void watch(watched *w, size_t limit_granules, double ratio) {
    *w = (watched){0};
    assert_int_equal(masu_device_create_null(0, &w->device), MASU_OK);
    assert_int_equal(masu_check_create(&w->seen.check), MASU_OK);
    masu_trace_config trace = {.sink = note, .sink_context = &w->seen, .start_on = true};
    assert_int_equal(masu_trace_create(&trace, &w->trace), MASU_OK);
    masu_vm_config config = masu_vm_config_default(w->device);
    config.trace = w->trace;
    config.limit_bytes = limit_granules * GRANULE;
    config.fragment_ratio = ratio;
    assert_int_equal(masu_vm_create(&config, &w->vm), MASU_OK);
}

static void unwatch(watched *w) {
    assert_int_equal(masu_vm_destroy(w->vm), MASU_OK);
    assert_int_equal(masu_check_verdict(w->seen.check), MASU_VERDICT_FINE);
    masu_check_destroy(w->seen.check);
    masu_trace_destroy(w->trace);
    assert_int_equal(masu_device_destroy(w->device), MASU_OK);
    assert_int_equal(masu__meta_live_bytes(), 0);
}

static void *take(watched *w, size_t granules) {
    void *ptr;
    assert_int_equal(masu_vm_alloc(w->vm, granules * GRANULE, 0, 0, &ptr), MASU_OK);
    return ptr;
}

static void give(watched *w, void *ptr) {
    assert_int_equal(masu_vm_free(w->vm, ptr), MASU_OK);
}

/* Four pieces of two granules in the stock, the second the oldest, then the fourth, the first, the third. */
static void fill_stock(watched *w) {
    void *part[4];
    static const int order[] = {1, 3, 0, 2};
    for (int i = 0; i < 4; i++)
        part[i] = take(w, 2);
    for (int i = 0; i < 4; i++)
        give(w, part[order[i]]);
}

static void assert_dropped(const watched *w, size_t count, const int *which) {
    assert_int_equal(w->seen.drop_count, count);
    for (size_t i = 0; i < count; i++)
        assert_int_equal(w->seen.dropped[i], w->seen.added[which[i]]);
}

/* Of a stock of eight under a limit of ten; a request finds two free and needs what is missing, no more. */
static void a_limit_takes_the_oldest_and_only_what_is_missing(void **state) {
    (void)state;
    static const int oldest[] = {1, 3, 0, 2};
    static const struct {
        size_t request, dropped;
    } cases[] = {{3, 1}, {4, 1}, {5, 2}, {6, 2}, {7, 3}, {9, 4}, {10, 4}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        watched w;
        watch(&w, 10, 1.0);
        fill_stock(&w);
        void *ptr = take(&w, cases[i].request);
        assert_dropped(&w, cases[i].dropped, oldest);
        assert_int_equal(vm_stats(w.vm).stock_bytes, (8 - 2 * cases[i].dropped) * GRANULE);
        give(&w, ptr);
        unwatch(&w);
    }
    /* One more than the limit gives nothing back: it could not be had anyway. */
    watched w;
    void *none;
    watch(&w, 10, 1.0);
    fill_stock(&w);
    assert_int_equal(masu_vm_alloc(w.vm, 11 * GRANULE, 0, 0, &none), MASU_ERR_LIMIT_REACHED);
    assert_int_equal(w.seen.drop_count, 0);
    assert_int_equal(vm_stats(w.vm).stock_bytes, 8 * GRANULE);
    unwatch(&w);
}

static void a_trim_takes_the_oldest(void **state) {
    (void)state;
    static const int oldest[] = {1, 3, 0, 2};
    for (size_t keep = 0; keep <= 8; keep++) {
        watched w;
        watch(&w, 0, 0.25);
        fill_stock(&w);
        assert_int_equal(masu_vm_trim(w.vm, keep * GRANULE), MASU_OK);
        assert_dropped(&w, (8 - keep + 1) / 2, oldest);
        unwatch(&w);
    }
}

/* At a ratio of a quarter a piece of 25 serves a request of 100, one of 24 does not. */
static void the_ratio_itself_is_allowed(void **state) {
    (void)state;
    for (size_t granules = 24; granules <= 26; granules++) {
        watched w;
        watch(&w, 0, 0.25);
        void *part = take(&w, granules);
        give(&w, part);
        void *ptr = take(&w, 100);
        assert_int_equal(vm_stats(w.vm).stock_fragments, granules >= 25);
        assert_int_equal(vm_stats(w.vm).fragments_rejected, granules < 25);
        give(&w, ptr);
        unwatch(&w);
    }
}

/* ---- copy or move ------------------------------------------------------------------------------------------ */

static void from_copy_below_bytes_on_it_is_a_move(void **state) {
    (void)state;
    static const size_t sizes[] = {4 * GRANULE - 1, 4 * GRANULE, 4 * GRANULE + 1};
    masu_device *host;
    assert_int_equal(masu_device_create_host(&host), MASU_OK);
    masu_vm_config config = vm_small_config();
    config.copy_below_bytes = 4 * GRANULE;
    vm_fixture f;
    vm_open(&f, host, config);
    for (size_t i = 0; i < 3; i++)
        for (int given_up = 0; given_up < 2; given_up++) {
            void *from = vm_take(&f, sizes[i]), *to = vm_take(&f, sizes[i]);
            bool moved = !given_up;
            vm_fill(from, sizes[i], 5);
            assert_int_equal(masu_vm_copy_or_move(f.vm, to, from, sizes[i], given_up, &moved), MASU_OK);
            assert_int_equal(moved, given_up && sizes[i] >= 4 * GRANULE);
            assert_true(vm_has(to, sizes[i], sizes[i], 5));
            assert_int_equal(vm_ask(&f, from).mapped_bytes == 0, moved);
            vm_give(&f, from);
            vm_give(&f, to);
        }
    vm_close(&f, MASU_OK);
}

static void what_is_no_block_is_refused(void **state) {
    vm_fixture *f = *state;
    void *ptr = vm_take(f, GRANULE), *other = vm_take(f, GRANULE), *out = NULL;
    char foreign;
    assert_int_equal(masu_vm_move(NULL, ptr, other), MASU_ERR_INVALID_ARGUMENT);
    assert_int_equal(masu_vm_move(f->vm, NULL, other), MASU_ERR_INVALID_ARGUMENT);
    assert_int_equal(masu_vm_move(f->vm, ptr, NULL), MASU_ERR_INVALID_ARGUMENT);
    assert_int_equal(masu_vm_move(f->vm, &foreign, other), MASU_ERR_FOREIGN_POINTER);
    assert_int_equal(masu_vm_move(f->vm, ptr, &foreign), MASU_ERR_FOREIGN_POINTER);
    assert_int_equal(masu_vm_move(f->vm, (char *)ptr + 1, other), MASU_ERR_INTERIOR_POINTER);
    assert_int_equal(masu_vm_copy_or_move(NULL, ptr, other, 1, true, NULL), MASU_ERR_INVALID_ARGUMENT);
    assert_int_equal(masu_vm_copy_or_move(f->vm, NULL, other, 1, true, NULL), MASU_ERR_INVALID_ARGUMENT);
    assert_int_equal(masu_vm_copy_or_move(f->vm, ptr, NULL, 1, true, NULL), MASU_ERR_INVALID_ARGUMENT);
    assert_int_equal(masu_vm_copy_or_move(f->vm, ptr, other, GRANULE + 1, true, NULL), MASU_ERR_SIZE_MISMATCH);
    assert_int_equal(masu_vm_resize(f->vm, NULL, 1, &out), MASU_ERR_INVALID_ARGUMENT);
    assert_int_equal(masu_vm_resize(NULL, ptr, 1, &out), MASU_ERR_INVALID_ARGUMENT);
    assert_int_equal(masu_vm_resize(f->vm, ptr, 1, NULL), MASU_ERR_INVALID_ARGUMENT);
    assert_int_equal(masu_vm_resize(f->vm, ptr, SIZE_MAX, &out), MASU_ERR_OVERFLOW);
    assert_int_equal(masu_vm_reserve_growable(f->vm, 0, 0, 0, &out), MASU_ERR_INVALID_ARGUMENT);
    assert_int_equal(masu_vm_alloc(f->vm, 1, 3, 0, &out), MASU_ERR_INVALID_ARGUMENT);
    assert_int_equal(masu_vm_alloc(f->vm, SIZE_MAX - GRANULE, 0, 0, &out), MASU_ERR_OVERFLOW);
    assert_int_equal(masu_vm_free(NULL, ptr), MASU_ERR_INVALID_ARGUMENT);
    assert_int_equal(masu_vm_trim(NULL, 0), MASU_ERR_INVALID_ARGUMENT);
    assert_int_equal(masu_vm_measure(NULL, NULL), MASU_ERR_INVALID_ARGUMENT);
    vm_judge(f);
    vm_give(f, ptr);
    vm_give(f, other);
}

/* The border that was measured lies within what was measured, and nothing of the measurement stays. */
static void measured(void **state) {
    vm_fixture *f = *state;
    size_t border = SIZE_MAX;
    masu_vm_stats before = vm_stats(f->vm);
    assert_int_equal(masu_vm_measure(f->vm, &border), MASU_OK);
    assert_true(border > 0 && border <= 16 * GRANULE);
    masu_vm_stats after = vm_stats(f->vm);
    assert_int_equal(after.live_blocks, before.live_blocks);
    assert_int_equal(after.user_bytes, before.user_bytes);
    assert_true(after.copies > before.copies);
}

/* ---- a move that is refused -------------------------------------------------------------------------------- */

/* The destination is larger and in pieces that end where the source does: its end is kept. Every call from the nth on
 * is refused, so the way back is too; what was kept is then a piece in the stock and not lost. */
static void what_was_kept_is_not_lost(void **state) {
    (void)state;
    masu_status status = MASU_ERR_DEVICE_FAILURE;
    for (uint64_t nth = 1; status != MASU_OK; nth++) {
        masu_device *null;
        vm_fixture f;
        masu_vm_config config = vm_small_config();
        config.max_piece_bytes = 2 * GRANULE;
        assert_int_equal(masu_device_create_null(0, &null), MASU_OK);
        vm_open(&f, null, config);
        void *to = vm_take(&f, 6 * GRANULE), *from = vm_take(&f, 2 * GRANULE);
        assert_int_equal(vm_ask(&f, to).pieces, 3);
        assert_int_equal(masu_device_fail_at(f.device, nth, true), MASU_OK);
        status = masu_vm_move(f.vm, to, from);
        assert_int_equal(masu_device_fail_at(f.device, 0, false), MASU_OK);
        vm_judge(&f);
        masu_vm_stats stats = vm_stats(f.vm);
        assert_int_equal(stats.held_bytes, 8 * GRANULE);
        assert_int_equal(stats.mapped_bytes + stats.stock_bytes + stats.stuck_bytes, 8 * GRANULE);
        assert_true(nth < 20);
        vm_give(&f, to);
        vm_give(&f, from);
        assert_int_equal(masu_vm_trim(f.vm, 0), MASU_OK);
        assert_int_equal(vm_stats(f.vm).held_bytes, 0);
        vm_close(&f, MASU_OK);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_limit_takes_the_oldest_and_only_what_is_missing),
        cmocka_unit_test(a_trim_takes_the_oldest),
        cmocka_unit_test(the_ratio_itself_is_allowed),
        cmocka_unit_test(from_copy_below_bytes_on_it_is_a_move),
        ON_PAGES(what_is_no_block_is_refused),
        ON_PAGES(measured),
        cmocka_unit_test(what_was_kept_is_not_lost),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
