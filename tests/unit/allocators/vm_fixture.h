/* vm_fixture.h: a pool of virtual memory with its judge, over the host's pages, the simulated CUDA driver or sizes
 * only, and contents that can be recognised.
 *
 * Contents: the first and the last word of each granule carry a mark and the granule's number, so that a
 * block of any size costs two touches a granule.
 */
#ifndef MASU_TESTS_VM_FIXTURE_H
#define MASU_TESTS_VM_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <masu/masu.h>

#include "base/meta.h"
#include "devices/devices.h"

#define MIB     ((size_t)1 << 20)
#define GIB     ((size_t)1 << 30)
#define GRANULE (2 * MIB)

/* NULL: the processor reads and writes blocks itself; else this device does, for memory that only it
 * can reach. */
static masu_device *vm_copier;

static inline void vm_poke(unsigned char *at, unsigned char value) {
    if (vm_copier)
        assert_int_equal(masu__device_copy(vm_copier, at, &value, 1), MASU_OK);
    else
        *at = value;
}

static inline unsigned char vm_peek(const unsigned char *at) {
    unsigned char value;
    if (!vm_copier)
        return *at;
    assert_int_equal(masu__device_copy(vm_copier, &value, at, 1), MASU_OK);
    return value;
}

typedef struct vm_fixture {
    masu_device *inner, *device; /* device: faulty, around inner */
    masu_trace *trace;
    masu_check *check;
    masu_vm *vm;
} vm_fixture;

static inline masu_vm_stats vm_stats(masu_vm *vm) {
    masu_vm_stats stats;
    masu_vm_get_stats(vm, &stats);
    return stats;
}

static inline void vm_open(vm_fixture *f, masu_device *inner, masu_vm_config config) {
    f->inner = inner;
    assert_int_equal(masu_device_create_faulty(inner, &f->device), MASU_OK);
    assert_int_equal(masu_check_create(&f->check), MASU_OK);
    masu_trace_config trace = {.sink = masu_check_sink, .sink_context = f->check, .start_on = true};
    assert_int_equal(masu_trace_create(&trace, &f->trace), MASU_OK);
    config.device = f->device;
    config.trace = f->trace;
    assert_int_equal(masu_vm_create(&config, &f->vm), MASU_OK);
}

/* The judge agrees with the pool. */
static inline void vm_judge(vm_fixture *f) {
    masu_vm_stats stats = vm_stats(f->vm);
    masu_check_totals totals;
    masu_check_get_totals(f->check, masu_vm_number(f->vm), &totals);
    if (masu_check_verdict(f->check) != MASU_VERDICT_FINE)
        fail_msg("judge: %s", masu_verdict_name(masu_check_verdict(f->check)));
    assert_int_equal(totals.live_bytes, stats.user_bytes);
    assert_int_equal(totals.live_blocks, stats.live_blocks);
    assert_true(masu_vm_valid(f->vm));
}

static inline void vm_close(vm_fixture *f, masu_status expected) {
    vm_judge(f);
    assert_int_equal(masu_vm_destroy(f->vm), expected);
    assert_int_equal(masu_check_verdict(f->check), MASU_VERDICT_FINE);
    masu_trace_destroy(f->trace);
    masu_check_destroy(f->check);
    assert_int_equal(masu_device_destroy(f->device), MASU_OK);
    assert_int_equal(masu_device_destroy(f->inner), MASU_OK);
    assert_int_equal(masu__meta_live_bytes(), 0);
}

static inline masu_vm_config vm_small_config(void) {
    masu_vm_config config = masu_vm_config_default(NULL);
    config.reserve_bytes = 256 * MIB;
    return config;
}

static inline int vm_setup_host(void **state) {
    static vm_fixture f;
    masu_device *host;
    assert_int_equal(masu_device_create_host(&host), MASU_OK);
    vm_open(&f, host, vm_small_config());
    *state = &f;
    return 0;
}

static inline int vm_setup_null(void **state) {
    static vm_fixture f;
    masu_device *null;
    assert_int_equal(masu_device_create_null(0, &null), MASU_OK);
    vm_open(&f, null, masu_vm_config_default(NULL));
    *state = &f;
    return 0;
}

static inline int vm_teardown(void **state) {
    vm_close(*state, MASU_OK);
    return 0;
}

#define ON_PAGES(test) cmocka_unit_test_setup_teardown(test, vm_setup_host, vm_teardown)
#define ON_SIZES(test) cmocka_unit_test_setup_teardown(test, vm_setup_null, vm_teardown)

static inline void *vm_take(vm_fixture *f, size_t bytes) {
    void *ptr;
    assert_int_equal(masu_vm_alloc(f->vm, bytes, 0, 0, &ptr), MASU_OK);
    vm_judge(f);
    return ptr;
}

static inline void vm_give(vm_fixture *f, void *ptr) {
    assert_int_equal(masu_vm_free(f->vm, ptr), MASU_OK);
    vm_judge(f);
}

static inline void *vm_resize(vm_fixture *f, void *ptr, size_t bytes) {
    void *out;
    assert_int_equal(masu_vm_resize(f->vm, ptr, bytes, &out), MASU_OK);
    vm_judge(f);
    return out;
}

static inline masu_vm_block vm_ask(vm_fixture *f, const void *address) {
    masu_vm_block block;
    assert_int_equal(masu_vm_query(f->vm, address, &block), MASU_OK);
    return block;
}

/* One byte at each of the given block's granule borders, within bytes. */
static inline unsigned char vm_mark_of(unsigned mark, size_t at) {
    return (unsigned char)(mark * 37 + at / GRANULE * 11 + (at % GRANULE != 0) * 5 + 1);
}

static inline void vm_fill(void *ptr, size_t bytes, unsigned mark) {
    unsigned char *memory = ptr;
    for (size_t at = 0; at < bytes; at += GRANULE) {
        size_t last = (bytes - at < GRANULE ? bytes : at + GRANULE) - 1;
        vm_poke(memory + at, vm_mark_of(mark, at));
        if (last != at)
            vm_poke(memory + last, vm_mark_of(mark, at + 1));
    }
}

/* The first `bytes` of a block that was filled when it was of filled_bytes. */
static inline bool vm_has(const void *ptr, size_t bytes, size_t filled_bytes, unsigned mark) {
    const unsigned char *memory = ptr;
    for (size_t at = 0; at < bytes; at += GRANULE) {
        size_t last = (filled_bytes - at < GRANULE ? filled_bytes : at + GRANULE) - 1;
        if (vm_peek(memory + at) != vm_mark_of(mark, at))
            return false;
        if (last != at && last < bytes && vm_peek(memory + last) != vm_mark_of(mark, at + 1))
            return false;
    }
    return true;
}

#endif
