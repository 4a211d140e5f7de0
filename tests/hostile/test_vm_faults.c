/* Virtual memory: every call of the device fails once, in every operation; every request for metadata; and, on the
 * simulated CUDA driver, every call of the driver.
 *
 * After each refusal the block's contents, the statistics and the addresses are as before, every
 * equation holds, the judge is content, and the same call then succeeds. Then the same with every
 * call failing from the nth on, so that the way back is refused too: nothing may be lost or
 * handed out twice.
 */
#include "fake_cuda/controls.h"
#include "unit/allocators/vm_fixture.h"

enum { PARTS = 10 };

static bool on_cuda;

/* The device below everything: a fresh one for each scene. */
static masu_device *make_device(void) {
    masu_device *device;
    if (on_cuda)
        assert_int_equal(masu_device_create_cuda(&(masu_cuda_config){.library = fake_cuda()->path}, &device), MASU_OK);
    else
        assert_int_equal(masu_device_create_host(&device), MASU_OK);
    vm_copier = on_cuda ? device : NULL;
    return device;
}

/* What fails: calls of the device, requests for metadata, or calls of the driver below the device. */
typedef enum target { DEVICE, METADATA, DRIVER } target;

static void arm(masu_device *device, target what, uint64_t nth, bool repeat) {
    if (what == METADATA)
        masu__fault_arm_repeat(nth, repeat);
    else if (what == DEVICE)
        assert_int_equal(masu_device_fail_at(device, nth, repeat), MASU_OK);
    else
        fake_cuda()->refuse(NULL, nth, 999, repeat);
}

static void disarm(masu_device *device) {
    masu__fault_arm(0);
    masu_device_fail_at(device, 0, false);
    if (on_cuda && fake_cuda()->simulated)
        fake_cuda()->refuse(NULL, 0, 0, 0);
}

/* The driver has nothing left of the scene, and was never misused. */
static void audit_driver(void) {
    fake_cuda_report report;
    if (!on_cuda || !fake_cuda()->simulated)
        return;
    fake_cuda()->report(&report);
    if (report.misuses > 0)
        fail_msg("driver misused: %s", fake_cuda()->last_misuse());
    assert_int_equal(report.handles + report.mappings + report.reservations + report.aliases, 0);
}

/* Blocks on which operations are tried: ten pieces in the stock, a block with a wall behind it, one
 * with room. */
typedef struct scene {
    vm_fixture f;
    void *walled, *wall, *roomy, *empty;
    void *result;
} scene;

#define SPARSE (3 * GRANULE + 17)

static void open_scene(scene *s) {
    masu_device *inner = make_device();
    void *parts[2 * PARTS];
    masu_vm_config config = vm_small_config();
    config.fragment_ratio = 0.02;
    config.max_piece_bytes = 2 * GRANULE;
    *s = (scene){0};
    vm_open(&s->f, inner, config);
    s->walled = vm_take(&s->f, SPARSE);
    s->wall = vm_take(&s->f, GRANULE);
    for (int i = 0; i < 2 * PARTS; i++)
        parts[i] = vm_take(&s->f, GRANULE);
    s->roomy = vm_take(&s->f, 5 * GRANULE);
    assert_int_equal(masu_vm_reserve_growable(s->f.vm, 0, 16 * GRANULE, 0, &s->empty), MASU_OK);
    for (int i = 0; i < 2 * PARTS; i++)
        if (i % 2 == 0)
            vm_give(&s->f, parts[i]);
    for (int i = 1; i < 2 * PARTS; i += 2)
        vm_resize(&s->f, parts[i], 0); /* keeps its addresses, not its memory */
    assert_int_equal(masu_vm_trim(s->f.vm, PARTS * GRANULE), MASU_OK);
    vm_fill(s->walled, SPARSE, 1);
    vm_fill(s->wall, GRANULE, 2);
    vm_fill(s->roomy, 5 * GRANULE, 3);
    masu_vm_reset_stats(s->f.vm);
    vm_judge(&s->f);
}

static bool contents_hold(const scene *s, const void *walled) {
    return vm_has(walled, 3 * GRANULE, SPARSE, 1) && vm_has(s->wall, GRANULE, GRANULE, 2);
}

static bool free_any(void *context, const masu_vm_block *block) {
    *(void **)context = block->address;
    return false;
}

static void close_scene(scene *s) {
    disarm(s->f.device);
    assert_int_equal(masu_vm_trim(s->f.vm, SIZE_MAX), MASU_OK); /* clears what is stuck */
    for (void *block = NULL;; block = NULL) {
        masu_vm_visit(s->f.vm, free_any, &block);
        if (!block)
            break;
        assert_int_equal(masu_vm_free(s->f.vm, block), MASU_OK);
    }
    masu_vm_stats stats = vm_stats(s->f.vm);
    assert_int_equal(stats.stuck_pieces, 0);
    assert_int_equal(stats.held_bytes, stats.stock_bytes);
    vm_close(&s->f, MASU_OK);
    audit_driver();
}

/* ---- the operations ------------------------------------------------------------------------------------ */

typedef masu_status (*operation)(scene *s);

static masu_status scatter(scene *s) { /* ten fragments and two created pieces */
    return masu_vm_alloc(s->f.vm, 14 * GRANULE, 0, 0, &s->result);
}

static masu_status grow_elsewhere(scene *s) {
    return masu_vm_resize(s->f.vm, s->walled, 15 * GRANULE, &s->result);
}

static masu_status grow_in_place(scene *s) {
    return masu_vm_resize(s->f.vm, s->roomy, 18 * GRANULE, &s->result);
}

static masu_status grow_empty(scene *s) {
    return masu_vm_resize(s->f.vm, s->empty, 12 * GRANULE, &s->result);
}

static masu_status shrink(scene *s) { /* across a piece, which is cut */
    return masu_vm_resize(s->f.vm, s->roomy, GRANULE, &s->result);
}

static masu_status move(scene *s) { /* dst is larger: its end is kept, a piece is cut */
    return masu_vm_move(s->f.vm, s->roomy, s->wall);
}

static masu_status move_into_empty(scene *s) {
    return masu_vm_move(s->f.vm, s->empty, s->walled);
}

static masu_status copy_given_up(scene *s) {
    masu_status status = masu_vm_alloc(s->f.vm, SPARSE, 0, 0, &s->result);
    if (status != MASU_OK)
        return status;
    status = masu_vm_copy_or_move(s->f.vm, s->result, s->walled, SPARSE, true, NULL);
    if (status != MASU_OK) { /* the sweep wants the state before */
        disarm(s->f.device);
        assert_int_equal(masu_vm_free(s->f.vm, s->result), MASU_OK);
    }
    return status;
}

static masu_status give(scene *s) {
    return masu_vm_free(s->f.vm, s->walled);
}

static masu_status trim(scene *s) {
    return masu_vm_trim(s->f.vm, 0);
}

typedef struct step {
    const char *name;
    operation run;
    bool keeps_stock; /* a refusal leaves the stock as it was */
} step;

static const step steps[] = {
    {"scatter", scatter, true},
    {"grow elsewhere", grow_elsewhere, true},
    {"grow in place", grow_in_place, true},
    {"grow empty", grow_empty, true},
    {"shrink", shrink, true},
    {"move", move, true},
    {"move into empty", move_into_empty, true},
    {"copy given up", copy_given_up, false},
    {"free", give, true},
    {"trim", trim, false},
};
enum { STEPS = sizeof steps / sizeof *steps };

/* What a refusal must not change. Counters of device calls may rise: the calls were made. */
static masu_vm_stats state_of(masu_vm *vm) {
    masu_vm_stats s = vm_stats(vm);
    s.failures = s.drains = 0;
    s.metadata_bytes = 0;
    s.mapped_pieces = s.stock_pieces = 0;     /* what was cut may stay cut */
    s.pieces_created = s.pieces_released = 0; /* their difference is in the pieces */
    s.peak_held_bytes = s.most_pieces = 0;
    return s;
}

static void assert_undone(const scene *s, const step *step, uint64_t nth, const masu_vm_stats *before) {
    masu_vm_stats after = state_of(s->f.vm), expected = *before;
    vm_judge((vm_fixture *)&s->f);
    if (!contents_hold(s, s->walled) || !vm_has(s->roomy, 5 * GRANULE, 5 * GRANULE, 3))
        fail_msg("%s, call %llu: contents differ", step->name, (unsigned long long)nth);
    if (!step->keeps_stock) {
        expected.stock_bytes = after.stock_bytes;
        expected.stock_pieces = after.stock_pieces;
        expected.held_bytes = after.held_bytes;
        expected.allocations = after.allocations, expected.frees = after.frees;
        expected.hot_allocs = after.hot_allocs, expected.cold_allocs = after.cold_allocs;
        expected.stock_fragments = after.stock_fragments, expected.stock_exact = after.stock_exact;
        expected.stock_cut = after.stock_cut;
        expected.peak_mapped_bytes = after.peak_mapped_bytes;
        expected.peak_user_bytes = after.peak_user_bytes;
    }
    if (memcmp(&expected, &after, sizeof after) != 0)
        fail_msg("%s, call %llu: the state differs", step->name, (unsigned long long)nth);
}

/* Returns at how many calls the operation was failed. */
static uint64_t sweep(const step *step, target what) {
    for (uint64_t nth = 1;; nth++) {
        scene s;
        open_scene(&s);
        masu_vm_stats before = state_of(s.f.vm);
        arm(s.f.device, what, nth, false);
        masu_status status = step->run(&s);
        disarm(s.f.device);
        if (status == MASU_OK) {
            vm_judge(&s.f);
            close_scene(&s);
            return nth - 1;
        }
        assert_true(status == MASU_ERR_DEVICE_FAILURE || status == MASU_ERR_OUT_OF_MEMORY);
        assert_undone(&s, step, nth, &before);
        assert_int_equal(step->run(&s), MASU_OK);
        vm_judge(&s.f);
        close_scene(&s);
    }
}

static void sweep_all(target what) {
    for (int i = 0; i < STEPS; i++) {
        uint64_t points = sweep(&steps[i], what);
        print_message("%s: %llu points\n", steps[i].name, (unsigned long long)points);
        assert_true(points >= 1 || what == METADATA);
    }
}

static void every_call_of_the_device_fails_once(void **state) {
    (void)state;
    sweep_all(DEVICE);
}

static void every_request_for_metadata_fails_once(void **state) {
    (void)state;
    sweep_all(METADATA);
}

static void every_call_of_the_driver_fails_once(void **state) {
    (void)state;
    if (!fake_cuda()->simulated) {
        print_message("skipped: only the simulated driver fails on demand\n");
        skip();
    }
    sweep_all(DRIVER);
}

/* The destination of a refused move is as before, or, when the way back was refused as well, an empty block at its
 * address; a block like any other in both cases. Blocks that nobody moved into are whole. */
static void destination_lives(scene *s, operation run) {
    if (vm_ask(&s->f, s->roomy).user_bytes == 0)
        assert_ptr_equal(run, move);
    else
        assert_true(vm_has(s->roomy, 5 * GRANULE, 5 * GRANULE, 3));
    s->roomy = vm_resize(&s->f, s->roomy, 5 * GRANULE);
    vm_fill(s->roomy, 5 * GRANULE, 4);
    assert_true(vm_has(s->roomy, 5 * GRANULE, 5 * GRANULE, 4));
    assert_true(contents_hold(s, s->walled));
}

/* The nth call is refused, or all from it on, for every n until the operation succeeds. What nobody
 * gave up is whole after each, wherever it was to go. */
static void refuse(operation run, target what, bool from_there_on, masu_status how) {
    masu_status status;
    uint64_t nth = 1;
    do {
        scene s;
        open_scene(&s);
        masu_device_fail_as(s.f.device, how);
        arm(s.f.device, what, nth++, from_there_on);
        status = run(&s);
        disarm(s.f.device);
        vm_judge(&s.f);
        if (status != MASU_OK) {
            assert_true(contents_hold(&s, s.walled));
            destination_lives(&s, run);
        }
        close_scene(&s);
    } while (status != MASU_OK);
}

/* From the nth call on everything is refused, also the way back. */
static void refuse_from(target what) {
    for (int i = 0; i < STEPS; i++)
        refuse(steps[i].run, what, true, MASU_ERR_DEVICE_FAILURE);
}

static void the_way_back_is_refused_too(void **state) {
    (void)state;
    refuse_from(DEVICE);
}

static void the_driver_refuses_the_way_back_too(void **state) {
    (void)state;
    if (!fake_cuda()->simulated) {
        print_message("skipped: only the simulated driver fails on demand\n");
        skip();
    }
    refuse_from(DRIVER);
}

/* The device says that it could not clear up behind itself. */
static void places_that_are_lost(void **state) {
    (void)state;
    static const operation runs[] = {scatter, grow_elsewhere, grow_empty, move};
    for (int i = 0; i < 4; i++)
        refuse(runs[i], DEVICE, false, MASU_ERR_CORRUPT);
}

/* B15: the device has no more memory half-way through a scatter: the stock is given back once. */
static void exhaustion_drains_once(void **state) {
    (void)state;
    scene s;
    open_scene(&s);
    assert_int_equal(masu_device_fail_as(s.f.device, MASU_ERR_OUT_OF_MEMORY), MASU_OK);
    assert_int_equal(masu_device_fail_at(s.f.device, 1, false), MASU_OK); /* the first create */
    void *ptr;
    assert_int_equal(masu_vm_alloc(s.f.vm, 60 * GRANULE, 0, 0, &ptr), MASU_OK);
    assert_int_equal(vm_stats(s.f.vm).drains, 1);
    assert_int_equal(vm_stats(s.f.vm).stock_bytes, 0);
    vm_judge(&s.f);
    close_scene(&s);
    /* nothing but refusals: one drain, and an end */
    open_scene(&s);
    masu_device_fail_as(s.f.device, MASU_ERR_OUT_OF_MEMORY);
    masu_device_stats before, after;
    assert_int_equal(masu_vm_free(s.f.vm, s.wall), MASU_OK);
    s.wall = vm_take(&s.f, GRANULE);
    vm_fill(s.wall, GRANULE, 2);
    masu_device_get_stats(s.f.device, &before);
    masu_device_fail_at(s.f.device, 1, true);
    assert_int_equal(masu_vm_alloc(s.f.vm, 60 * GRANULE, 0, 0, &ptr), MASU_ERR_OUT_OF_MEMORY);
    masu_device_fail_at(s.f.device, 0, false);
    masu_device_get_stats(s.f.device, &after);
    assert_true(after.failed_calls - before.failed_calls <= 2 + PARTS);
    assert_true(contents_hold(&s, s.walled));
    vm_judge(&s.f);
    close_scene(&s);
}

/* Creation of the pool itself. */
static void creation_fails_cleanly(void **state) {
    (void)state;
    masu_device *host, *device;
    masu_vm *vm;
    assert_int_equal(masu_device_create_host(&host), MASU_OK);
    assert_int_equal(masu_device_create_faulty(host, &device), MASU_OK);
    masu_vm_config config = masu_vm_config_default(device);
    masu_device_fail_at(device, 1, false);
    assert_int_equal(masu_vm_create(&config, &vm), MASU_ERR_DEVICE_FAILURE);
    assert_null(vm);
    for (uint64_t nth = 1;; nth++) {
        masu__fault_arm(nth);
        masu_status status = masu_vm_create(&config, &vm);
        masu__fault_arm(0);
        if (status == MASU_OK)
            break;
        assert_int_equal(status, MASU_ERR_OUT_OF_MEMORY);
        assert_null(vm);
    }
    masu_device_fail_at(device, 1, false);
    assert_int_equal(masu_vm_destroy(vm), MASU_ERR_DEVICE_FAILURE);
    assert_int_equal(masu_device_destroy(device), MASU_ERR_LEAK);
    assert_int_equal(masu_device_destroy(host), MASU_ERR_LEAK);
    assert_int_equal(masu__meta_live_bytes(), 0);
}

static int use_host(void **state) {
    (void)state;
    on_cuda = false;
    return 0;
}

static int use_cuda(void **state) {
    (void)state;
    on_cuda = true;
    return 0;
}

int main(void) {
    const struct CMUnitTest on_host[] = {
        cmocka_unit_test(every_call_of_the_device_fails_once),
        cmocka_unit_test(every_request_for_metadata_fails_once),
        cmocka_unit_test(the_way_back_is_refused_too),
        cmocka_unit_test(places_that_are_lost),
        cmocka_unit_test(exhaustion_drains_once),
        cmocka_unit_test(creation_fails_cleanly),
    };
    const struct CMUnitTest on_the_driver[] = {
        cmocka_unit_test(every_call_of_the_device_fails_once),
        cmocka_unit_test(every_request_for_metadata_fails_once),
        cmocka_unit_test(every_call_of_the_driver_fails_once),
        cmocka_unit_test(the_way_back_is_refused_too),
        cmocka_unit_test(the_driver_refuses_the_way_back_too),
        cmocka_unit_test(places_that_are_lost),
        cmocka_unit_test(exhaustion_drains_once),
    };
    int failed = cmocka_run_group_tests(on_host, use_host, NULL);
    return failed + cmocka_run_group_tests(on_the_driver, use_cuda, NULL);
}
