/* alloc_fixture.h: the process-wide pool for tests: its counters, blocks that are recognised, the state without any. */
#ifndef MASU_TESTS_ALLOC_FIXTURE_H
#define MASU_TESTS_ALLOC_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <masu/alloc.h>

#include "base/annotate.h"

enum { KIB = 1 << 10, MIB = 1 << 20 };

/* In a heavy build the pool is checked from the start, and a memory checker follows every block: no caches then. */
#if defined(MASU_HEAVY) || MASU__ASAN
#define WITH_CACHES 0
#else
#define WITH_CACHES 1
#endif

static inline masu_heap_stats stats_now(void) {
    masu_heap_stats s;
    masu_get_stats(&s);
    return s;
}

static inline void assert_all_is_home(void) {
    assert_true(masu_valid());
    assert_int_equal(stats_now().live_blocks, 0);
    assert_int_equal(stats_now().live_bytes, 0);
    assert_int_equal(masu_trim(0), MASU_OK);
    assert_int_equal(stats_now().reserved_bytes, 0);
    assert_true(masu_valid());
}

static inline void *take(size_t bytes, size_t alignment) {
    void *ptr;
    assert_int_equal(masu_alloc_aligned(bytes, alignment, &ptr), MASU_OK);
    assert_int_equal((uintptr_t)ptr % (alignment ? alignment : 64), 0);
    memset(ptr, 0x5a, bytes);
    return ptr;
}

static inline void assert_holds(const void *ptr, size_t bytes) {
    const unsigned char *at = ptr;
    for (size_t i = 0; i < bytes; i += i < 256 ? 1 : 509)
        assert_int_equal(at[i], 0x5a);
    if (bytes > 0)
        assert_int_equal(at[bytes - 1], 0x5a);
}

#endif
