/* Metadata from pages, as a build has it that is the process's malloc: blocks do not overlap, what is given back is
 * used again, calloc is zero, realloc keeps contents across the border to whole mappings; from several threads. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define MASU_META_PAGES 1
#include "base/meta_pages.c"

enum { BLOCKS = 400 };

static size_t size_at(int i) {
    return 1 + (size_t)i * (size_t)i * (size_t)i % 140000;
}

static void fill(unsigned char *block, size_t bytes, int value) {
    memset(block, value, bytes);
}

static bool holds(const unsigned char *block, size_t bytes, int value) {
    for (size_t i = 0; i < bytes; i++)
        if (block[i] != (unsigned char)value)
            return false;
    return true;
}

static void blocks_do_not_overlap(void **state) {
    unsigned char *blocks[BLOCKS];
    (void)state;
    for (int i = 0; i < BLOCKS; i++) {
        blocks[i] = i % 2 ? masu__meta_pages_alloc(size_at(i)) : masu__meta_pages_calloc(size_at(i));
        assert_non_null(blocks[i]);
        assert_int_equal((uintptr_t)blocks[i] % 16, 0);
        assert_true(i % 2 || holds(blocks[i], size_at(i), 0));
        fill(blocks[i], size_at(i), i);
    }
    for (int i = 0; i < BLOCKS; i++) {
        assert_true(holds(blocks[i], size_at(i), i));
        masu__meta_pages_free(blocks[i], size_at(i));
    }
}

static void what_is_given_back_is_used_again(void **state) {
    (void)state;
    for (size_t bytes = 1; bytes <= 65536; bytes = bytes * 3 / 2 + 1) {
        void *first = masu__meta_pages_alloc(bytes);
        fill(first, bytes, 0xff);
        masu__meta_pages_free(first, bytes);
        unsigned char *again = masu__meta_pages_calloc(bytes);
        assert_ptr_equal(again, first);
        assert_true(holds(again, bytes, 0));
        masu__meta_pages_free(again, bytes);
    }
}

static void realloc_keeps_contents(void **state) {
    unsigned char *block = NULL;
    size_t old = 0;
    (void)state;
    for (size_t bytes = 10; bytes < (size_t)3 << 20; bytes *= 2) {
        block = masu__meta_pages_realloc(block, old, bytes);
        assert_non_null(block);
        assert_true(holds(block, old, 3));
        fill(block, bytes, 3);
        old = bytes;
    }
    for (size_t bytes = old / 3; bytes > 10; bytes /= 3) {
        block = masu__meta_pages_realloc(block, old, bytes);
        assert_true(holds(block, bytes, 3));
        old = bytes;
    }
    masu__meta_pages_free(block, old);
    assert_null(masu__meta_pages_alloc(SIZE_MAX - 10));
}

static void *work(void *context) {
    int value = *(int *)context;
    for (int round = 0; round < 3000; round++) {
        size_t bytes = size_at(round % 90);
        unsigned char *a = masu__meta_pages_alloc(bytes), *b = masu__meta_pages_calloc(bytes);
        fill(a, bytes, value);
        if (!holds(b, bytes, 0))
            return context;
        fill(b, bytes, value);
        bool whole = holds(a, bytes, value);
        masu__meta_pages_free(a, bytes);
        masu__meta_pages_free(b, bytes);
        if (!whole)
            return context;
    }
    return NULL;
}

static void threads_share_it(void **state) {
    pthread_t threads[4];
    int values[4];
    (void)state;
    for (int i = 0; i < 4; i++) {
        values[i] = i + 1;
        assert_int_equal(pthread_create(&threads[i], NULL, work, &values[i]), 0);
    }
    for (int i = 0; i < 4; i++) {
        void *wrong;
        pthread_join(threads[i], &wrong);
        assert_null(wrong);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks_do_not_overlap),
        cmocka_unit_test(what_is_given_back_is_used_again),
        cmocka_unit_test(realloc_keeps_contents),
        cmocka_unit_test(threads_share_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
