/* Freeing and shrinking where the system has nothing more to give: at its limit of mappings and at its limit of
 * addresses; default reservations that many pools share; limits that are no multiple of anything; blocks put aside. */
#include "unit/allocators/vm_fixture.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { BLOCKS = 12 };

/* What a test does to its process ends with a child. */
static void in_a_child(void (*body)(void)) {
    pid_t child = fork();
    if (child == 0) {
        body();
        _exit(0);
    }
    int status = 1;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

#define CHILD_HOLDS(x)                 \
    do {                               \
        if (!(x))                      \
            _exit(__LINE__ % 200 + 1); \
    } while (0)

typedef struct world {
    masu_device *device;
    masu_vm *vm;
    char *block[BLOCKS];
} world;

/* Even blocks are of one piece, odd ones grew in two; every fourth follows its neighbour without a border. */
static world make_world(void) {
    world w;
    void *out;
    CHILD_HOLDS(masu_device_create_host(&w.device) == MASU_OK);
    masu_vm_config config = masu_vm_config_default(w.device);
    config.reserve_bytes = (uint64_t)1 << 30;
    CHILD_HOLDS(masu_vm_create(&config, &w.vm) == MASU_OK);
    for (int i = 0; i < BLOCKS; i++) {
        CHILD_HOLDS(masu_vm_alloc(w.vm, 4 * GRANULE, 0, 0, (void **)&w.block[i]) == MASU_OK);
        if (i % 2) {
            CHILD_HOLDS(masu_vm_resize(w.vm, w.block[i], 6 * GRANULE, &out) == MASU_OK);
            w.block[i] = out;
        }
        memset(w.block[i], i + 1, 4 * GRANULE);
    }
    return w;
}

static void give_all_back(world *w) {
    void *out;
    CHILD_HOLDS(masu_vm_resize(w->vm, w->block[0], 0, &out) == MASU_OK && out == w->block[0]);
    CHILD_HOLDS(masu_vm_resize(w->vm, w->block[1], GRANULE, &out) == MASU_OK);
    CHILD_HOLDS(out == w->block[1] && w->block[1][GRANULE - 1] == 2);
    for (int i = 2; i < BLOCKS - 1; i++)
        CHILD_HOLDS(masu_vm_free(w->vm, w->block[i]) == MASU_OK);
    CHILD_HOLDS(w->block[BLOCKS - 1][4 * GRANULE - 1] == BLOCKS);
    CHILD_HOLDS(masu_vm_valid(w->vm));
    CHILD_HOLDS(masu_vm_trim(w->vm, 0) == MASU_OK);
    masu_vm_stats stats = vm_stats(w->vm);
    CHILD_HOLDS(stats.stock_bytes == 0 && stats.stuck_bytes == 0);
}

static void use_again(world *w) {
    void *again, *out;
    CHILD_HOLDS(masu_vm_resize(w->vm, w->block[0], 4 * GRANULE, &out) == MASU_OK);
    CHILD_HOLDS(out == w->block[0]);
    CHILD_HOLDS(masu_vm_alloc(w->vm, 3 * GRANULE, 0, 0, &again) == MASU_OK);
    memset(out, 1, 4 * GRANULE);
    memset(again, 2, 3 * GRANULE);
    CHILD_HOLDS(masu_vm_free(w->vm, again) == MASU_OK);
    CHILD_HOLDS(masu_vm_free(w->vm, w->block[0]) == MASU_OK);
    CHILD_HOLDS(masu_vm_free(w->vm, w->block[1]) == MASU_OK);
    CHILD_HOLDS(masu_vm_free(w->vm, w->block[BLOCKS - 1]) == MASU_OK);
    CHILD_HOLDS(masu_vm_destroy(w->vm) == MASU_OK);
    CHILD_HOLDS(masu_device_destroy(w->device) == MASU_OK);
}

enum { MOST_FILLERS = 1 << 20 };
static char *filler[MOST_FILLERS];
static size_t fillers;

/* Single pages that no neighbour merges with, until the kernel has no mapping left. */
static void take_all_mappings(void) {
    for (; fillers < MOST_FILLERS; fillers++) {
        int access = fillers % 2 ? PROT_READ : PROT_READ | PROT_WRITE;
        filler[fillers] = mmap(NULL, 4096, access, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (filler[fillers] == MAP_FAILED)
            return;
    }
}

static void give_back_at_the_limit_of_mappings(void) {
    world w = make_world();
    take_all_mappings();
    CHILD_HOLDS(fillers < MOST_FILLERS);
    give_all_back(&w);
    while (fillers > 0)
        munmap(filler[--fillers], 4096);
    use_again(&w);
}

static void destroy_at_the_limit_of_mappings(void) {
    world w = make_world();
    take_all_mappings();
    CHILD_HOLDS(masu_vm_destroy(w.vm) == MASU_ERR_LEAK);
    CHILD_HOLDS(masu_device_destroy(w.device) == MASU_OK);
}

static void give_back_without_addresses(void) {
    world w = make_world();
    struct rlimit before, none = {0, 0};
    CHILD_HOLDS(getrlimit(RLIMIT_AS, &before) == 0);
    none.rlim_max = before.rlim_max;
    CHILD_HOLDS(setrlimit(RLIMIT_AS, &none) == 0);
    give_all_back(&w);
    CHILD_HOLDS(setrlimit(RLIMIT_AS, &before) == 0);
    use_again(&w);
}

/* Blocks of the device itself: neighbours merge into one mapping, and taking one out of the middle cuts it. */
static void device_blocks_at_the_limit(void) {
    masu_device *device;
    masu_bestfit *pool[32];
    void *ptr;
    CHILD_HOLDS(masu_device_create_host(&device) == MASU_OK);
    for (int i = 0; i < 32; i++) {
        masu_bestfit_config config = masu_bestfit_config_default(device);
        config.pool_bytes = config.initial_bytes = 1 << 20;
        CHILD_HOLDS(masu_bestfit_create(&config, &pool[i]) == MASU_OK);
        CHILD_HOLDS(masu_bestfit_alloc(pool[i], 1000, 0, 0, &ptr) == MASU_OK);
        memset(ptr, 1, 1000);
        CHILD_HOLDS(masu_bestfit_free(pool[i], ptr) == MASU_OK);
    }
    take_all_mappings();
    for (int i = 1; i < 32; i += 2)
        CHILD_HOLDS(masu_bestfit_destroy(pool[i]) == MASU_OK);
    for (int i = 0; i < 32; i += 2)
        CHILD_HOLDS(masu_bestfit_destroy(pool[i]) == MASU_OK);
    masu_device_stats stats;
    masu_device_get_stats(device, &stats);
    CHILD_HOLDS(stats.live_bytes == 0 && stats.failed_calls == 0);
    CHILD_HOLDS(masu_device_destroy(device) == MASU_OK);
}

static void few_addresses(void) {
    masu_device *device;
    masu_vm *vm;
    void *ptr;
    struct rlimit limit = {(rlim_t)512 << 20, (rlim_t)512 << 20};
    CHILD_HOLDS(setrlimit(RLIMIT_AS, &limit) == 0);
    CHILD_HOLDS(masu_device_create_host(&device) == MASU_OK);
    masu_vm_config config = masu_vm_config_default(device);
    CHILD_HOLDS(masu_vm_create(&config, &vm) == MASU_OK);
    CHILD_HOLDS(masu_vm_alloc(vm, 32 << 20, 0, 0, &ptr) == MASU_OK);
    memset(ptr, 1, 32 << 20);
    CHILD_HOLDS(masu_vm_free(vm, ptr) == MASU_OK);
    CHILD_HOLDS(masu_vm_destroy(vm) == MASU_OK);
}

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define LIMITS_REACH_THE_SANITIZER 1 /* which needs mappings and addresses of its own, and dies without */
#else
#define LIMITS_REACH_THE_SANITIZER 0
#endif

static void nothing_left(void **state) {
    (void)state;
    if (LIMITS_REACH_THE_SANITIZER) {
        print_message("skipped: the sanitizer itself needs the address space that is limited here\n");
        skip();
    }
    in_a_child(give_back_at_the_limit_of_mappings);
    in_a_child(destroy_at_the_limit_of_mappings);
    in_a_child(give_back_without_addresses);
    in_a_child(device_blocks_at_the_limit);
    in_a_child(few_addresses);
}

static void thousand_pools(void **state) {
    enum { POOLS = 1000 };
    static masu_vm *vm[POOLS];
    masu_device *device;
    (void)state;
    assert_int_equal(masu_device_create_null(0, &device), MASU_OK);
    masu_vm_config config = masu_vm_config_default(device);
    uint64_t sum = 0, first = 0, last = 0;
    for (int round = 0; round < 2; round++) { /* what is destroyed no longer takes part */
        for (int i = 0; i < POOLS; i++) {
            assert_int_equal(masu_vm_create(&config, &vm[i]), MASU_OK);
            last = vm_stats(vm[i]).space_bytes;
            first = i == 0 ? last : first;
            sum += last;
        }
        assert_int_equal(first, (uint64_t)1 << 40);
        assert_true(last >= (uint64_t)8 << 30);
        for (int i = 0; i < POOLS; i++)
            assert_int_equal(masu_vm_destroy(vm[i]), MASU_OK);
    }
    assert_true(sum / 2 < (uint64_t)64 << 40);
    masu_device_destroy(device);
}

static void limits_of_any_number(void **state) {
    vm_fixture *f = *state;
    static const size_t over[] = {1, 100, 4097, GRANULE - 1};
    for (size_t i = 0; i < 4; i++) {
        masu_vm *vm;
        void *ptr, *more;
        masu_vm_config config = masu_vm_config_default(f->device);
        config.limit_bytes = 5 * GRANULE + over[i];
        assert_int_equal(masu_vm_create(&config, &vm), MASU_OK);
        assert_int_equal(masu_vm_alloc(vm, config.limit_bytes + GRANULE, 0, 0, &more), MASU_ERR_LIMIT_REACHED);
        assert_int_equal(masu_vm_alloc(vm, config.limit_bytes, 0, 0, &ptr), MASU_OK);
        assert_int_equal(masu_vm_alloc(vm, 1, 0, 0, &more), MASU_ERR_LIMIT_REACHED);
        assert_int_equal(masu_vm_free(vm, ptr), MASU_OK);
        assert_int_equal(masu_vm_destroy(vm), MASU_OK);
    }
}

/* A block without memory keeps its addresses, whoever comes meanwhile; a smaller one gives up those behind it. */
static void put_aside(void **state) {
    vm_fixture *f = *state;
    void *aside = vm_take(f, 9 * GRANULE), *full = vm_take(f, 9 * GRANULE), *out, *other[4];
    memset(full, 7, 9 * GRANULE);
    for (int round = 0; round < 3; round++) {
        assert_int_equal(masu_vm_resize(f->vm, aside, 0, &out), MASU_OK);
        assert_int_equal(vm_ask(f, aside).reserved_bytes, 9 * GRANULE);
        for (int i = 0; i < 4; i++) {
            other[i] = vm_take(f, (size_t)(i + 1) * GRANULE);
            assert_true((char *)other[i] >= (char *)aside + 9 * GRANULE ||
                        (char *)other[i] + (i + 1) * GRANULE <= (char *)aside);
        }
        assert_int_equal(masu_vm_resize(f->vm, aside, (size_t)(9 - round) * GRANULE, &out), MASU_OK);
        assert_ptr_equal(out, aside);
        for (int i = 0; i < 4; i++)
            vm_give(f, other[i]);
    }
    assert_int_equal(masu_vm_resize(f->vm, aside, 0, &out), MASU_OK);
    assert_int_equal(masu_vm_move(f->vm, aside, full), MASU_OK);
    assert_int_equal(((char *)aside)[9 * GRANULE - 1], 7);
    assert_int_equal(masu_vm_resize(f->vm, aside, 2 * GRANULE, &out), MASU_OK);
    assert_int_equal(vm_ask(f, aside).reserved_bytes, 2 * GRANULE);
    vm_give(f, aside);
    vm_give(f, full);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_left),
        cmocka_unit_test(thousand_pools),
        ON_PAGES(limits_of_any_number),
        ON_PAGES(put_aside),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
