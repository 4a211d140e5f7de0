/* Where the pool of virtual memory takes its pieces from, what it keeps, and where blocks go: rows B16, B17, B19. */
#include "fake_cuda/controls.h"
#include "unit/allocators/vm_fixture.h"

/* ---- where pieces come from ------------------------------------------------------------------------------ */

static void the_stock_is_used_first(void **state) {
    vm_fixture *f = *state;
    void *ptr = vm_take(f, 4 * GRANULE);
    vm_give(f, ptr);
    masu_vm_stats before = vm_stats(f->vm);
    assert_int_equal(before.stock_bytes, 4 * GRANULE);
    vm_give(f, vm_take(f, 4 * GRANULE));
    masu_vm_stats after = vm_stats(f->vm);
    assert_int_equal(after.pieces_created, before.pieces_created);
    assert_int_equal(after.stock_exact, 1);
    assert_int_equal(after.hot_allocs, 1);
    assert_int_equal(after.cold_allocs, 1);
    /* a smaller request is cut off, and nothing is lost by it */
    void *small = vm_take(f, GRANULE);
    assert_int_equal(vm_stats(f->vm).stock_cut, 1);
    assert_int_equal(vm_stats(f->vm).held_bytes, 4 * GRANULE);
    vm_give(f, small);
    assert_int_equal(vm_stats(f->vm).stock_bytes, 4 * GRANULE);
}

/* Ten fragments become one block, and every part of it is its own: on the host and on the driver. */
static void stitch(masu_device *device) {
    masu_vm_config config = vm_small_config();
    vm_fixture g;
    config.fragment_ratio = 0.05;
    config.max_piece_bytes = GRANULE;
    vm_open(&g, device, config);
    void *parts[20];
    for (int i = 0; i < 20; i++) {
        parts[i] = vm_take(&g, GRANULE);
        vm_fill(parts[i], GRANULE, (unsigned)i);
    }
    for (int i = 0; i < 20; i += 2)
        vm_give(&g, parts[i]);
    masu_vm_stats before = vm_stats(g.vm);
    unsigned char *whole = vm_take(&g, 12 * GRANULE);
    masu_vm_stats after = vm_stats(g.vm);
    assert_int_equal(after.stock_fragments - before.stock_fragments, 10);
    assert_int_equal(after.pieces_created - before.pieces_created, 2);
    assert_int_equal(vm_ask(&g, whole).pieces, 12);
    vm_fill(whole, 12 * GRANULE, 77);
    assert_true(vm_has(whole, 12 * GRANULE, 12 * GRANULE, 77));
    for (int i = 1; i < 20; i += 2)
        assert_true(vm_has(parts[i], GRANULE, GRANULE, (unsigned)i));
    /* across a border, and what lies under an interior address */
    vm_poke(whole + 3 * GRANULE - 1, 1);
    vm_poke(whole + 3 * GRANULE, 2);
    assert_int_equal(vm_peek(whole + 3 * GRANULE - 1) + vm_peek(whole + 3 * GRANULE), 3);
    vm_fill(whole, 12 * GRANULE, 77);
    masu_vm_block block = vm_ask(&g, whole + 5 * GRANULE + 17);
    assert_ptr_equal(block.address, whole);
    assert_int_equal(block.user_bytes, 12 * GRANULE);
    assert_ptr_equal(block.piece_address, whole + 5 * GRANULE);
    assert_int_equal(block.piece_bytes, GRANULE);
    /* copied and moved as one */
    void *other = vm_take(&g, 12 * GRANULE);
    assert_int_equal(masu_vm_copy_or_move(g.vm, other, whole, 12 * GRANULE, false, NULL), MASU_OK);
    assert_true(vm_has(other, 12 * GRANULE, 12 * GRANULE, 77));
    assert_true(vm_has(whole, 12 * GRANULE, 12 * GRANULE, 77));
    vm_fill(whole, 12 * GRANULE, 78);
    assert_int_equal(masu_vm_move(g.vm, other, whole), MASU_OK);
    assert_true(vm_has(other, 12 * GRANULE, 12 * GRANULE, 78));
    vm_give(&g, whole);
    vm_give(&g, other);
    for (int i = 1; i < 20; i += 2)
        vm_give(&g, parts[i]);
    vm_close(&g, MASU_OK);
}

static masu_device *open_cuda(void) {
    masu_device *device;
    masu_cuda_config config = {.library = fake_cuda()->path};
    assert_int_equal(masu_device_create_cuda(&config, &device), MASU_OK);
    vm_copier = device;
    return device;
}

static void audit_driver(void) {
    fake_cuda_report report;
    vm_copier = NULL;
    if (!fake_cuda()->simulated)
        return;
    fake_cuda()->report(&report);
    if (report.misuses > 0)
        fail_msg("driver misused: %s", fake_cuda()->last_misuse());
    assert_int_equal(report.handles + report.mappings + report.reservations, 0);
}

static void fragments_are_stitched(void **state) {
    (void)state;
    masu_device *host;
    assert_int_equal(masu_device_create_host(&host), MASU_OK);
    stitch(host);
    stitch(open_cuda());
    audit_driver();
}

static masu_device *sizes_only(void) {
    masu_device *device;
    assert_int_equal(masu_device_create_null((uint64_t)8 * GIB, &device), MASU_OK);
    return device;
}

/* B16, and its reverse; part_bytes is 64 MiB in the seed. Where there is memory, both ends of each granule of
 * each block are written and looked at. */
typedef struct seed_test {
    masu_device *on;
    size_t part_bytes;
    double ratio;
    bool has_memory;
} seed_test;

enum { SEED_PARTS = 81, SEED_FRAGMENTS = 36 };

static void seed_fill(const seed_test *t, void *ptr, size_t bytes, unsigned mark) {
    if (t->has_memory)
        vm_fill(ptr, bytes, mark);
}

static void seed_hold(const seed_test *t, const void *ptr, size_t bytes, unsigned mark) {
    if (t->has_memory && !vm_has(ptr, bytes, bytes, mark))
        fail_msg("block %u: other contents", mark);
}

/* Every second block is freed. */
static void seed_begin(const seed_test *t, vm_fixture *g, void **parts) {
    masu_vm_config config = masu_vm_config_default(NULL);
    config.fragment_ratio = t->ratio;
    vm_open(g, t->on, config);
    for (unsigned i = 0; i < SEED_PARTS; i++) {
        parts[i] = vm_take(g, t->part_bytes);
        seed_fill(t, parts[i], t->part_bytes, i);
    }
    for (int i = 0; i < SEED_PARTS; i += 2)
        vm_give(g, parts[i]);
}

static void seed_end(const seed_test *t, vm_fixture *g, void **parts) {
    for (unsigned i = 1; i < SEED_PARTS; i += 2) {
        seed_hold(t, parts[i], t->part_bytes, i);
        vm_give(g, parts[i]);
    }
    vm_close(g, MASU_OK);
}

static void *seed_large(const seed_test *t, vm_fixture *g, size_t *bytes) {
    *bytes = (size_t)2355 * (t->part_bytes / 64) / GRANULE * GRANULE;
    void *large = vm_take(g, *bytes);
    seed_fill(t, large, *bytes, 99);
    seed_hold(t, large, *bytes, 99);
    masu_device_stats device;
    masu_device_get_stats(g->device, &device);
    assert_int_equal(device.reserve_calls, 1);
    assert_int_equal(device.reserved_bytes, vm_stats(g->vm).space_bytes);
    return large;
}

static void seed_fragments_stitched(seed_test t) {
    vm_fixture g;
    void *parts[SEED_PARTS];
    size_t bytes;
    bool divisible = t.on->info.flags & MASU_DEVICE_DIVISIBLE;
    seed_begin(&t, &g, parts);
    masu_vm_stats before = vm_stats(g.vm);
    void *large = seed_large(&t, &g, &bytes);
    masu_vm_stats after = vm_stats(g.vm);
    assert_int_equal(after.stock_fragments - before.stock_fragments, SEED_FRAGMENTS);
    assert_int_equal(vm_ask(&g, large).pieces, SEED_FRAGMENTS + 1); /* the last one cut or created */
    if (divisible)
        assert_true(after.held_bytes == before.held_bytes);
    /* and as one block: moved, its 37 pieces are in their order */
    void *other = vm_take(&g, bytes);
    assert_int_equal(masu_vm_move(g.vm, other, large), MASU_OK);
    seed_hold(&t, other, bytes, 99);
    vm_give(&g, large);
    vm_give(&g, other);
    seed_end(&t, &g, parts);
}

static void seed_fragments_kept(seed_test t) {
    vm_fixture g;
    void *parts[SEED_PARTS];
    size_t bytes;
    seed_begin(&t, &g, parts);
    masu_vm_stats before = vm_stats(g.vm);
    void *large = seed_large(&t, &g, &bytes);
    masu_vm_stats after = vm_stats(g.vm);
    assert_int_equal(after.stock_fragments, before.stock_fragments);
    assert_int_equal(after.fragments_rejected, before.fragments_rejected + 1);
    assert_int_equal(vm_ask(&g, large).pieces, 1);
    assert_int_equal(after.stock_bytes, before.stock_bytes); /* kept for small requests */
    void *small = vm_take(&g, t.part_bytes);
    assert_int_equal(vm_stats(g.vm).pieces_created, after.pieces_created);
    seed_fill(&t, small, t.part_bytes, 100);
    seed_hold(&t, large, bytes, 99);
    vm_give(&g, small);
    vm_give(&g, large);
    seed_end(&t, &g, parts);
}

static seed_test on_sizes(double ratio) {
    return (seed_test){sizes_only(), 64 * MIB, ratio, false};
}

static seed_test on_cuda(double ratio) {
    return (seed_test){open_cuda(), 64 * MIB, ratio, true};
}

/* An eighth of the size: huge pages make all of it real. */
static seed_test on_host(double ratio) {
    masu_device *host;
    assert_int_equal(masu_device_create_host(&host), MASU_OK);
    return (seed_test){host, 8 * MIB, ratio, true};
}

static void small_fragments_are_left_alone(void **state) {
    (void)state;
    seed_fragments_kept(on_sizes(0.25));
    seed_fragments_kept(on_sizes(1.0));
    seed_fragments_kept(on_host(0.25));
    seed_fragments_kept(on_cuda(0.25));
    audit_driver();
}

static void small_fragments_are_used_when_allowed(void **state) {
    (void)state;
    seed_fragments_stitched(on_sizes(0.02));
    seed_fragments_stitched(on_sizes(0.0));
    seed_fragments_stitched(on_host(0.02));
    seed_fragments_stitched(on_cuda(0.02));
    audit_driver();
}

/* Two sizes that do not fit each other, and a small block kept from each round: what is held stays bounded, whatever
 * the options. */
static void rounds_of_unlike_sizes_stay_bounded(void **state) {
    (void)state;
    static const double ratios[] = {0.0, 0.25, 1.0};
    static const size_t caps[] = {SIZE_MAX, 64 * MIB}, pieces[] = {0, 20 * MIB};
    for (int k = 0; k < 12; k++) {
        vm_fixture g;
        masu_vm_config config = masu_vm_config_default(NULL);
        config.fragment_ratio = ratios[k % 3];
        config.max_cached_bytes = caps[k / 3 % 2];
        config.max_piece_bytes = pieces[k / 6];
        vm_open(&g, sizes_only(), config);
        void *kept[100];
        for (int i = 0; i < 100; i++) {
            void *a = vm_take(&g, 91 * MIB), *b = vm_take(&g, 91 * MIB / 2);
            kept[i] = vm_take(&g, 2 * MIB);
            vm_give(&g, a);
            vm_give(&g, b);
            size_t live = 91 * MIB + 91 * MIB / 2 + (size_t)(i + 1) * 2 * MIB;
            if (vm_stats(g.vm).held_bytes > 2 * live)
                fail_msg("options %d, round %d: %zu held for %zu live", k, i, (size_t)vm_stats(g.vm).held_bytes, live);
        }
        for (int i = 0; i < 100; i++)
            vm_give(&g, kept[i]);
        vm_close(&g, MASU_OK);
    }
}

/* The ratio is of the request: at 0.25 no more than four fragments serve one, whatever remains. */
static void the_ratio_is_of_the_request(void **state) {
    vm_fixture *f = *state;
    static const size_t sizes[] = {30, 26, 20, 12, 9};
    void *parts[5], *walls[5];
    for (int i = 0; i < 5; i++) {
        parts[i] = vm_take(f, sizes[i] * GRANULE);
        walls[i] = vm_take(f, GRANULE);
    }
    for (int i = 0; i < 5; i++)
        vm_give(f, parts[i]);
    void *ptr = vm_take(f, 100 * GRANULE); /* 30 and 26; 20 is below 25 though it is not of 44 */
    masu_vm_block block = vm_ask(f, ptr);
    assert_int_equal(block.pieces, 3);
    assert_int_equal(vm_stats(f->vm).stock_fragments, 2);
    vm_give(f, ptr);
    for (int i = 0; i < 5; i++)
        vm_give(f, walls[i]);
}

static void the_cap_is_kept_and_trim_empties(void **state) {
    (void)state;
    masu_device *null;
    vm_fixture g;
    masu_vm_config config = masu_vm_config_default(NULL);
    assert_int_equal(masu_device_create_null(0, &null), MASU_OK);
    config.max_cached_bytes = 10 * GRANULE;
    vm_open(&g, null, config);
    void *parts[8];
    for (int i = 0; i < 8; i++)
        parts[i] = vm_take(&g, 3 * GRANULE);
    for (int i = 0; i < 8; i++) {
        vm_give(&g, parts[i]);
        assert_true(vm_stats(g.vm).stock_bytes <= 10 * GRANULE);
    }
    assert_int_equal(vm_stats(g.vm).stock_bytes, 9 * GRANULE);
    assert_int_equal(masu_vm_trim(g.vm, 4 * GRANULE), MASU_OK);
    assert_int_equal(vm_stats(g.vm).stock_bytes, 3 * GRANULE);
    assert_int_equal(masu_vm_trim(g.vm, 0), MASU_OK);
    masu_device_stats device;
    masu_device_get_stats(g.device, &device);
    assert_int_equal(device.physical_bytes, 0);
    assert_int_equal(device.created_pieces, device.released_pieces);
    vm_close(&g, MASU_OK);
}

/* ---- B19 ----------------------------------------------------------------------------------------------- */

static void addresses_and_memory_run_out_differently(void **state) {
    (void)state;
    masu_device *null;
    vm_fixture g;
    void *ptr, *a, *b;
    masu_vm_config config = masu_vm_config_default(NULL);
    assert_int_equal(masu_device_create_null(100 * GRANULE, &null), MASU_OK);
    config.reserve_bytes = 200 * GRANULE;
    vm_open(&g, null, config);
    /* addresses: memory is free, and the stock is left alone */
    assert_int_equal(masu_vm_reserve_growable(g.vm, GRANULE, 150 * GRANULE, 0, &a), MASU_OK);
    b = vm_take(&g, 10 * GRANULE);
    vm_give(&g, b);
    assert_int_equal(masu_vm_alloc(g.vm, 60 * GRANULE, 0, 0, &ptr), MASU_ERR_ADDRESS_SPACE);
    assert_int_equal(vm_stats(g.vm).drains, 0);
    assert_int_equal(vm_stats(g.vm).stock_bytes, 10 * GRANULE);
    /* memory: addresses are free; the stock is given back once, and then it suffices */
    b = vm_resize(&g, a, 95 * GRANULE);
    assert_ptr_equal(a, b);
    masu_vm_stats stats = vm_stats(g.vm);
    assert_true(stats.held_bytes <= 100 * GRANULE);
    assert_int_equal(masu_vm_alloc(g.vm, 10 * GRANULE, 0, 0, &ptr), MASU_ERR_OUT_OF_MEMORY);
    vm_give(&g, a);
    a = vm_take(&g, 40 * GRANULE);
    b = vm_take(&g, 50 * GRANULE);
    vm_give(&g, a);
    ptr = vm_take(&g, 45 * GRANULE);
    stats = vm_stats(g.vm);
    assert_true(stats.drains >= 1);
    vm_give(&g, ptr);
    vm_give(&g, b);
    vm_close(&g, MASU_OK);
}

static void a_limit_is_reached_exactly(void **state) {
    (void)state;
    masu_device *null;
    vm_fixture g;
    void *ptr;
    masu_vm_config config = masu_vm_config_default(NULL);
    assert_int_equal(masu_device_create_null(0, &null), MASU_OK);
    config.limit_bytes = 8 * GRANULE;
    vm_open(&g, null, config);
    void *a = vm_take(&g, 5 * GRANULE);
    assert_int_equal(masu_vm_alloc(g.vm, 4 * GRANULE, 0, 0, &ptr), MASU_ERR_LIMIT_REACHED);
    void *b = vm_take(&g, 3 * GRANULE);
    vm_give(&g, a);
    a = vm_take(&g, 1 * GRANULE); /* cut off the stock */
    ptr = vm_take(&g, 4 * GRANULE);
    assert_int_equal(vm_stats(g.vm).held_bytes, 8 * GRANULE);
    vm_give(&g, a);
    vm_give(&g, b);
    vm_give(&g, ptr);
    ptr = vm_take(&g, 8 * GRANULE); /* the stock does not stand in the way */
    vm_give(&g, ptr);
    vm_close(&g, MASU_OK);
}

/* ---- placement ------------------------------------------------------------------------------------------- */

static void growable_blocks_stand_where_there_is_room(void **state) {
    vm_fixture *f = *state;
    void *ptr[8];
    for (int i = 0; i < 8; i++)
        assert_int_equal(masu_vm_reserve_growable(f->vm, GRANULE, 0, 0, &ptr[i]), MASU_OK);
    for (size_t bytes = GRANULE; bytes <= 64 * GIB; bytes += bytes / 2 / GRANULE * GRANULE + GRANULE)
        for (int i = 0; i < 8; i++)
            assert_ptr_equal(vm_resize(f, ptr[i], bytes), ptr[i]);
    assert_int_equal(vm_stats(f->vm).grown_elsewhere, 0);
    for (int i = 0; i < 8; i++)
        vm_give(f, ptr[i]);
}

static void small_blocks_share_one_reservation(void **state) {
    vm_fixture *f = *state;
    masu_device *over;
    masu_heap *heap;
    static void *ptr[100000];
    assert_int_equal(masu_device_create_over_vm(f->vm, &over), MASU_OK);
    masu_heap_config config = masu_heap_config_default();
    config.device = over;
    config.initial_bytes = 0;
    assert_int_equal(masu_heap_create(&config, &heap), MASU_OK);
    for (int i = 0; i < 100000; i++)
        assert_int_equal(masu_heap_alloc(heap, 512, 0, &ptr[i]), MASU_OK);
    masu_device_stats device;
    masu_device_get_stats(f->device, &device);
    assert_int_equal(device.reserve_calls, 1);
    assert_true(vm_stats(f->vm).mapped_bytes <= (size_t)100000 * 512 + 3 * 64 * MIB);
    for (int i = 0; i < 100000; i++)
        assert_int_equal(masu_heap_free(heap, ptr[i], 512), MASU_OK);
    assert_int_equal(masu_heap_destroy(heap), MASU_OK);
    assert_int_equal(vm_stats(f->vm).live_blocks, 0);
    assert_int_equal(masu_device_destroy(over), MASU_OK);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        ON_SIZES(the_stock_is_used_first),
        cmocka_unit_test(fragments_are_stitched),
        cmocka_unit_test(small_fragments_are_left_alone),
        cmocka_unit_test(small_fragments_are_used_when_allowed),
        ON_SIZES(the_ratio_is_of_the_request),
        cmocka_unit_test(rounds_of_unlike_sizes_stay_bounded),
        cmocka_unit_test(the_cap_is_kept_and_trim_empties),
        cmocka_unit_test(addresses_and_memory_run_out_differently),
        cmocka_unit_test(a_limit_is_reached_exactly),
        ON_SIZES(growable_blocks_stand_where_there_is_room),
        ON_PAGES(small_blocks_share_one_reservation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
