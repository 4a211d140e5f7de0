/* The calls of the pool of virtual memory: rows B14, B18; and the host's pages under it. */
#include "unit/allocators/vm_fixture.h"

#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- B18: three sizes -------------------------------------------------------------------------------- */

static void three_sizes(void **state) {
    vm_fixture *f = *state;
    static const size_t wanted[] = {1, GRANULE - 1, GRANULE, GRANULE + 1, 3 * GRANULE + 7};
    static const size_t granules[] = {1, 1, 1, 2, 4};
    for (size_t i = 0; i < 5; i++) {
        void *ptr = vm_take(f, wanted[i]);
        masu_vm_block block = vm_ask(f, ptr);
        assert_int_equal((uintptr_t)ptr % GRANULE, 0);
        assert_int_equal(block.user_bytes, wanted[i]);
        assert_int_equal(block.mapped_bytes, granules[i] * GRANULE);
        assert_int_equal(block.reserved_bytes, granules[i] * GRANULE);
        masu_vm_stats stats = vm_stats(f->vm);
        assert_int_equal(stats.user_bytes, wanted[i]);
        assert_int_equal(stats.mapped_bytes, granules[i] * GRANULE);
        vm_give(f, ptr);
    }
    void *ptr;
    assert_int_equal(masu_vm_reserve_growable(f->vm, 5, 10 * GRANULE, 77, &ptr), MASU_OK);
    masu_vm_block block = vm_ask(f, (char *)ptr + 9 * GRANULE);
    assert_ptr_equal(block.address, ptr);
    assert_int_equal(block.user_bytes, 5);
    assert_int_equal(block.mapped_bytes, GRANULE);
    assert_int_equal(block.reserved_bytes, 10 * GRANULE);
    assert_int_equal(block.owner, 77);
    assert_null(block.piece_address);
    vm_give(f, ptr);
}

static void nothing_and_too_much(void **state) {
    vm_fixture *f = *state;
    void *ptr = f;
    assert_int_equal(masu_vm_alloc(f->vm, 0, 0, 0, &ptr), MASU_OK);
    assert_null(ptr);
    masu_vm_stats before = vm_stats(f->vm);
    for (size_t k = 0; k <= 4096; k++) {
        assert_int_not_equal(masu_vm_alloc(f->vm, SIZE_MAX - k, 0, 0, &ptr), MASU_OK);
        assert_null(ptr);
    }
    for (unsigned bits = 50; bits < 64; bits++) {
        assert_int_not_equal(masu_vm_alloc(f->vm, (size_t)1 << bits, 0, 0, &ptr), MASU_OK);
        assert_int_not_equal(masu_vm_alloc(f->vm, 1, (size_t)1 << bits, 0, &ptr), MASU_OK);
    }
    assert_int_equal(masu_vm_alloc(f->vm, 1, 3, 0, &ptr), MASU_ERR_INVALID_ARGUMENT);
    assert_int_equal(masu_vm_reserve_growable(f->vm, 0, 0, 0, &ptr), MASU_ERR_INVALID_ARGUMENT);
    masu_vm_stats after = vm_stats(f->vm);
    assert_true(after.failures > 4096);
    after.failures = 0;
    after.metadata_bytes = before.metadata_bytes;
    assert_memory_equal(&before, &after, sizeof after);
}

static void every_alignment_is_kept(void **state) {
    vm_fixture *f = *state;
    void *ptr[20];
    size_t count = 0;
    for (size_t alignment = 1; alignment <= GIB; alignment *= 4) {
        assert_int_equal(masu_vm_alloc(f->vm, 3 * GRANULE, alignment, 0, &ptr[count]), MASU_OK);
        assert_int_equal((uintptr_t)ptr[count] % alignment, 0);
        count++;
    }
    vm_judge(f);
    for (size_t i = 0; i < count; i++)
        vm_give(f, ptr[i]);
    assert_int_equal(vm_stats(f->vm).space_largest_free_bytes, vm_stats(f->vm).space_bytes);
}

static void wrong_pointers_are_told_apart(void **state) {
    vm_fixture *f = *state;
    char *a = vm_take(f, GRANULE), *b = vm_take(f, GRANULE);
    int local;
    void *out;
    assert_int_equal(masu_vm_free(f->vm, a + 1), MASU_ERR_INTERIOR_POINTER);
    assert_int_equal(masu_vm_free(f->vm, &local), MASU_ERR_FOREIGN_POINTER);
    assert_int_equal(masu_vm_resize(f->vm, b + 4096, 1, &out), MASU_ERR_INTERIOR_POINTER);
    assert_ptr_equal(out, b + 4096);
    assert_int_equal(masu_vm_move(f->vm, a, b + 1), MASU_ERR_INTERIOR_POINTER);
    assert_int_equal(masu_vm_free(f->vm, NULL), MASU_OK);
    vm_give(f, a);
    assert_int_equal(masu_vm_free(f->vm, a), MASU_ERR_DOUBLE_FREE);
    assert_int_equal(masu_vm_move(f->vm, a, b), MASU_ERR_DOUBLE_FREE);
    assert_int_equal(masu_vm_resize(f->vm, a, 1, &out), MASU_ERR_DOUBLE_FREE);
    vm_give(f, b);
}

static void bad_configurations_are_refused(void **state) {
    (void)state;
    masu_device *device;
    masu_vm *vm;
    assert_int_equal(masu_device_create_null(0, &device), MASU_OK);
    static const double wrong[] = {-0.01, 1.01, NAN, INFINITY, -INFINITY};
    for (int i = 0; i < 5; i++) {
        masu_vm_config config = masu_vm_config_default(device);
        config.fragment_ratio = wrong[i];
        assert_int_equal(masu_vm_create(&config, &vm), MASU_ERR_INVALID_ARGUMENT);
        assert_null(vm);
    }
    masu_vm_config config = masu_vm_config_default(NULL);
    assert_int_equal(masu_vm_create(&config, &vm), MASU_ERR_INVALID_ARGUMENT);
    config.device = device;
    assert_int_equal(masu_vm_create(&config, &vm), MASU_OK);
    masu_device *over;
    assert_int_equal(masu_device_create_over_vm(vm, &over), MASU_OK);
    masu_vm *second;
    config.device = over; /* a device without virtual memory */
    assert_int_equal(masu_vm_create(&config, &second), MASU_ERR_UNSUPPORTED);
    assert_int_equal(masu_device_destroy(over), MASU_OK);
    assert_int_equal(masu_vm_destroy(vm), MASU_OK);
    assert_int_equal(masu_device_destroy(device), MASU_OK);
}

/* ---- B14 ----------------------------------------------------------------------------------------------- */

static void grows_in_place_when_there_is_room(void **state) {
    vm_fixture *f = *state;
    void *ptr = vm_take(f, GRANULE + 5);
    vm_fill(ptr, GRANULE + 5, 1);
    for (size_t granules = 2; granules <= 16; granules *= 2) {
        assert_ptr_equal(vm_resize(f, ptr, granules * GRANULE), ptr);
        assert_true(vm_has(ptr, GRANULE, GRANULE + 5, 1));
        vm_fill((char *)ptr + granules / 2 * GRANULE, granules / 2 * GRANULE, 9);
    }
    assert_int_equal(vm_stats(f->vm).grown_elsewhere, 0);
    vm_give(f, ptr);
}

static void grows_elsewhere_when_the_neighbour_is_taken(void **state) {
    vm_fixture *f = *state;
    void *ptr = vm_take(f, 3 * GRANULE), *wall = vm_take(f, GRANULE);
    vm_fill(ptr, 3 * GRANULE, 2);
    vm_fill(wall, GRANULE, 3);
    void *moved = vm_resize(f, ptr, 5 * GRANULE);
    assert_ptr_not_equal(moved, ptr);
    assert_true(vm_has(moved, 3 * GRANULE, 3 * GRANULE, 2));
    assert_true(vm_has(wall, GRANULE, GRANULE, 3));
    vm_fill(moved, 5 * GRANULE, 4);
    masu_vm_stats stats = vm_stats(f->vm);
    assert_int_equal(stats.grown_elsewhere, 1);
    assert_int_equal(stats.copies, 0);
    assert_int_equal(stats.held_bytes, 6 * GRANULE); /* nothing was created twice */
    assert_int_equal(masu_vm_free(f->vm, ptr), MASU_ERR_DOUBLE_FREE);
    /* what has grown once stands where it can grow again */
    assert_ptr_equal(vm_resize(f, moved, 9 * GRANULE), moved);
    assert_true(vm_has(moved, 5 * GRANULE, 5 * GRANULE, 4));
    vm_give(f, moved);
    vm_give(f, wall);
}

static void shrinks_and_gives_its_end_back(void **state) {
    vm_fixture *f = *state;
    void *ptr = vm_take(f, 8 * GRANULE);
    vm_fill(ptr, 8 * GRANULE, 5);
    assert_ptr_equal(vm_resize(f, ptr, 3 * GRANULE + 1), ptr);
    masu_vm_block block = vm_ask(f, ptr);
    assert_int_equal(block.mapped_bytes, 4 * GRANULE);
    assert_int_equal(block.reserved_bytes, 4 * GRANULE);
    assert_int_equal(vm_stats(f->vm).stock_bytes, 4 * GRANULE);
    assert_true(vm_has(ptr, 3 * GRANULE, 8 * GRANULE, 5));
    assert_ptr_equal(vm_resize(f, ptr, 3 * GRANULE), ptr);
    void *next = vm_take(f, 5 * GRANULE); /* the addresses are free again */
    assert_ptr_equal(next, (char *)ptr + 3 * GRANULE);
    vm_give(f, next);
    assert_ptr_equal(vm_resize(f, ptr, 0), ptr);
    assert_int_equal(vm_ask(f, ptr).mapped_bytes, 0);
    assert_ptr_equal(vm_resize(f, ptr, 2 * GRANULE), ptr);
    vm_fill(ptr, 2 * GRANULE, 6);
    vm_give(f, ptr);
}

static void moves_and_leaves_the_source_empty(void **state) {
    vm_fixture *f = *state;
    void *a = vm_take(f, 4 * GRANULE + 3), *b = vm_take(f, 5 * GRANULE);
    vm_fill(a, 4 * GRANULE + 3, 1);
    vm_fill(b, 5 * GRANULE, 2);
    assert_int_equal(masu_vm_move(f->vm, b, a), MASU_OK);
    vm_judge(f);
    assert_true(vm_has(b, 4 * GRANULE + 3, 4 * GRANULE + 3, 1));
    assert_int_equal(vm_ask(f, a).mapped_bytes, 0);
    assert_int_equal(vm_ask(f, a).user_bytes, 0);
    assert_int_equal(vm_ask(f, b).user_bytes, 5 * GRANULE);
    assert_int_equal(vm_stats(f->vm).stock_bytes, 5 * GRANULE); /* what b held */
    assert_int_equal(masu_vm_move(f->vm, b, b), MASU_OK);
    assert_int_equal(masu_vm_move(f->vm, b, a), MASU_OK); /* an empty source: nothing */
    assert_true(vm_has(b, 4 * GRANULE + 3, 4 * GRANULE + 3, 1));
    vm_give(f, a);
    vm_give(f, b);
}

/* The resize of the seed: allocate the larger, move the smaller into it, free the smaller. */
static void a_move_into_a_larger_block_extends(void **state) {
    vm_fixture *f = *state;
    for (int loop = 0; loop < 10; loop++) {
        void *old = vm_take(f, 6 * GRANULE);
        vm_fill(old, 6 * GRANULE, (unsigned)loop);
        void *fresh = vm_take(f, 12 * GRANULE);
        vm_fill(fresh, 12 * GRANULE, 99);
        assert_int_equal(masu_vm_move(f->vm, fresh, old), MASU_OK);
        vm_judge(f);
        assert_true(vm_has(fresh, 6 * GRANULE, 6 * GRANULE, (unsigned)loop));
        masu_vm_block block = vm_ask(f, fresh);
        assert_int_equal(block.user_bytes, 12 * GRANULE);
        assert_int_equal(block.mapped_bytes, 12 * GRANULE);
        vm_fill(fresh, 12 * GRANULE, 100);
        assert_true(vm_has(fresh, 12 * GRANULE, 12 * GRANULE, 100));
        vm_give(f, old);
        vm_give(f, fresh);
        assert_true(vm_stats(f->vm).held_bytes <= 18 * GRANULE);
    }
}

static void a_move_needs_room(void **state) {
    vm_fixture *f = *state;
    void *small = vm_take(f, GRANULE), *large = vm_take(f, 2 * GRANULE), *empty;
    vm_fill(large, 2 * GRANULE, 1);
    assert_int_equal(masu_vm_move(f->vm, small, large), MASU_ERR_SIZE_MISMATCH);
    assert_true(vm_has(large, 2 * GRANULE, 2 * GRANULE, 1));
    assert_int_equal(masu_vm_reserve_growable(f->vm, 0, 4 * GRANULE, 0, &empty), MASU_OK);
    assert_int_equal(masu_vm_move(f->vm, empty, large), MASU_OK); /* takes the source's size */
    assert_int_equal(vm_ask(f, empty).user_bytes, 2 * GRANULE);
    assert_true(vm_has(empty, 2 * GRANULE, 2 * GRANULE, 1));
    vm_give(f, small);
    vm_give(f, large);
    vm_give(f, empty);
}

static void copies_or_moves(void **state) {
    vm_fixture *f = *state;
    bool moved;
    void *a = vm_take(f, 2 * GRANULE), *b = vm_take(f, 2 * GRANULE);
    vm_fill(a, 2 * GRANULE, 1);
    /* a backup: both readable */
    assert_int_equal(masu_vm_copy_or_move(f->vm, b, a, 2 * GRANULE, false, &moved), MASU_OK);
    assert_false(moved);
    assert_true(vm_has(a, 2 * GRANULE, 2 * GRANULE, 1) && vm_has(b, 2 * GRANULE, 2 * GRANULE, 1));
    /* given up, but only a part: copied */
    vm_fill(a, 2 * GRANULE, 2);
    assert_int_equal(masu_vm_copy_or_move(f->vm, b, a, GRANULE, true, &moved), MASU_OK);
    assert_false(moved);
    assert_true(vm_has(b, GRANULE, 2 * GRANULE, 2));
    assert_int_equal(((unsigned char *)b)[2 * GRANULE - 1], vm_mark_of(1, GRANULE + 1));
    /* given up whole */
    assert_int_equal(masu_vm_copy_or_move(f->vm, b, a, 2 * GRANULE, true, &moved), MASU_OK);
    assert_true(moved);
    assert_true(vm_has(b, 2 * GRANULE, 2 * GRANULE, 2));
    assert_int_equal(vm_ask(f, a).mapped_bytes, 0);
    assert_int_equal(masu_vm_copy_or_move(f->vm, a, b, 1, true, &moved), MASU_ERR_SIZE_MISMATCH);
    vm_give(f, a);
    vm_give(f, b);
}

static void what_is_measured_decides(void **state) {
    vm_fixture *f = *state;
    size_t bytes = SIZE_MAX;
    assert_int_equal(masu_vm_measure(f->vm, &bytes), MASU_OK);
    assert_true(bytes <= 16 * GRANULE);
    assert_int_equal(vm_stats(f->vm).live_blocks, 0);
}

/* ---- the host's pages --------------------------------------------------------------------------------------- */

static size_t address_bytes(void) {
    size_t pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    assert_non_null(file);
    assert_int_equal(fscanf(file, "%zu", &pages), 1);
    fclose(file);
    return pages * (size_t)sysconf(_SC_PAGESIZE);
}

static bool touching_faults(volatile char *address) {
    pid_t child = fork();
    if (child == 0) {
        signal(SIGSEGV, SIG_DFL);
        *address = 1;
        _exit(0);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    return !(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static void what_is_not_mapped_faults(void **state) {
    vm_fixture *f = *state;
    char *a = vm_take(f, 2 * GRANULE), *b = vm_take(f, 2 * GRANULE);
    assert_false(touching_faults(a));
    assert_int_equal(masu_vm_move(f->vm, b, a), MASU_OK);
    assert_true(touching_faults(a));
    assert_false(touching_faults(b + 2 * GRANULE - 1));
    vm_resize(f, b, GRANULE);
    assert_true(touching_faults(b + GRANULE));
    vm_give(f, b);
    assert_true(touching_faults(b));
    vm_give(f, a);
}

/* Parent and child write different things into the same pool, and neither sees the other's. */
static void a_forked_child_shares_no_byte(void **state) {
    vm_fixture *f = *state;
    void *old = vm_take(f, 2 * GRANULE), *cached = vm_take(f, GRANULE);
    vm_fill(old, 2 * GRANULE, 1);
    vm_fill(cached, GRANULE, 1);
    vm_give(f, cached);
    pid_t child = fork();
    if (child == 0) {
        void *mine = NULL;
        bool fine = vm_has(old, 2 * GRANULE, 2 * GRANULE, 1) && masu_vm_alloc(f->vm, GRANULE, 0, 0, &mine) == MASU_OK;
        vm_fill(old, 2 * GRANULE, 2);
        vm_fill(mine, GRANULE, 2);
        fine = fine && masu_vm_resize(f->vm, old, 6 * GRANULE, &old) == MASU_OK;
        _exit(fine && vm_has(old, 2 * GRANULE, 2 * GRANULE, 2) && masu_vm_valid(f->vm) ? 0 : 1);
    }
    void *mine = vm_take(f, GRANULE);
    vm_fill(mine, GRANULE, 3);
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    assert_true(vm_has(old, 2 * GRANULE, 2 * GRANULE, 1));
    assert_true(vm_has(mine, GRANULE, GRANULE, 3));
    vm_give(f, old);
    vm_give(f, mine);
}

/* Where addresses are limited the default takes what there is; what was asked for is refused. */
static void scarce_addresses(void **state) {
    (void)state;
    struct rlimit before, tight;
    masu_device *host;
    masu_vm *vm, *none;
    assert_int_equal(getrlimit(RLIMIT_AS, &before), 0);
    assert_int_equal(masu_device_create_host(&host), MASU_OK);
    tight = before;
    tight.rlim_cur = (rlim_t)address_bytes() + ((rlim_t)80 << 30);
    assert_int_equal(setrlimit(RLIMIT_AS, &tight), 0);
    masu_vm_config config = masu_vm_config_default(host);
    masu_status status = masu_vm_create(&config, &vm);
    config.reserve_bytes = (uint64_t)1 << 40;
    masu_status refused = masu_vm_create(&config, &none);
    assert_int_equal(setrlimit(RLIMIT_AS, &before), 0);
    assert_int_equal(status, MASU_OK);
    assert_int_equal(refused, MASU_ERR_ADDRESS_SPACE);
    assert_true(vm_stats(vm).space_bytes >= 32 * GIB && vm_stats(vm).space_bytes <= 80 * GIB);
    assert_int_equal(masu_vm_destroy(vm), MASU_OK);
    assert_int_equal(masu_device_destroy(host), MASU_OK);
}

static size_t resident_bytes(void) {
    char text[128];
    size_t pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    assert_non_null(file);
    assert_non_null(fgets(text, sizeof text, file));
    fclose(file);
    assert_int_equal(sscanf(text, "%*u %zu", &pages), 1);
    return pages * (size_t)sysconf(_SC_PAGESIZE);
}

static void trim_gives_pages_back(void **state) {
    vm_fixture *f = *state;
    size_t start = resident_bytes();
    char *ptr = vm_take(f, 32 * GRANULE);
    for (size_t at = 0; at < 32 * GRANULE; at += 4096)
        ptr[at] = 1;
    assert_true(resident_bytes() >= start + 60 * MIB);
    vm_give(f, ptr);
    assert_true(resident_bytes() >= start + 60 * MIB); /* cached */
    assert_int_equal(masu_vm_trim(f->vm, 0), MASU_OK);
    assert_true(resident_bytes() <= start + 8 * MIB);
}

/* What is held beyond a new limit stays; growth is refused until the stock has made room; 0 lifts it. */
static void a_limit_may_change(void **state) {
    vm_fixture *f = *state;
    void *a, *b;
    assert_int_equal(masu_vm_alloc(f->vm, 4 * GRANULE, 0, 0, &a), MASU_OK);
    masu_vm_set_limit(f->vm, 2 * GRANULE - 1); /* two granules */
    assert_int_equal(masu_vm_alloc(f->vm, GRANULE, 0, 0, &b), MASU_ERR_LIMIT_REACHED);
    assert_int_equal(masu_vm_free(f->vm, a), MASU_OK);
    assert_int_equal(masu_vm_trim(f->vm, 0), MASU_OK);
    assert_int_equal(masu_vm_alloc(f->vm, 3 * GRANULE, 0, 0, &b), MASU_ERR_LIMIT_REACHED);
    assert_int_equal(masu_vm_alloc(f->vm, 2 * GRANULE, 0, 0, &a), MASU_OK);
    masu_vm_set_limit(f->vm, 0);
    assert_int_equal(masu_vm_alloc(f->vm, 9 * GRANULE, 0, 0, &b), MASU_OK);
    assert_int_equal(masu_vm_free(f->vm, a), MASU_OK);
    assert_int_equal(masu_vm_free(f->vm, b), MASU_OK);
    masu_vm_set_limit(NULL, 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        ON_PAGES(three_sizes),
        ON_SIZES(nothing_and_too_much),
        ON_SIZES(every_alignment_is_kept),
        ON_SIZES(wrong_pointers_are_told_apart),
        cmocka_unit_test(bad_configurations_are_refused),
        ON_PAGES(grows_in_place_when_there_is_room),
        ON_PAGES(grows_elsewhere_when_the_neighbour_is_taken),
        ON_PAGES(shrinks_and_gives_its_end_back),
        ON_PAGES(moves_and_leaves_the_source_empty),
        ON_PAGES(a_move_into_a_larger_block_extends),
        ON_PAGES(a_move_needs_room),
        ON_PAGES(copies_or_moves),
        ON_PAGES(what_is_measured_decides),
        ON_PAGES(what_is_not_mapped_faults),
        ON_PAGES(a_forked_child_shares_no_byte),
        cmocka_unit_test(scarce_addresses),
        ON_PAGES(trim_gives_pages_back),
        ON_PAGES(a_limit_may_change),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
