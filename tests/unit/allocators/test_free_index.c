/* The free index against a linear search, over a table of blocks that lie apart. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "allocators/bestfit/free_index.h"
#include "base/rng.h"

enum { BLOCKS = 400 };

static masu__free_index index_under_test;
static masu__block_table table;

static bool valid(void) {
    masu__free_tally tally;
    size_t count = 0, bytes = 0;
    for (masu__block_id id = 1; id <= table.used; id++)
        if (table.at[id].state == MASU__BLOCK_FREE) {
            count++;
            bytes += table.at[id].bytes;
        }
    return masu__free_index_valid(&index_under_test, &table, &tally) && tally.count == count && tally.bytes == bytes;
}

static bool precedes(const masu__block *a, size_t bytes, uintptr_t address) {
    return a->bytes < bytes || (a->bytes == bytes && a->address < address);
}

/* The first block in order of (size, address) that does not precede the pair. */
static masu__block_id search(size_t bytes, uintptr_t address) {
    masu__block_id best = 0;
    for (masu__block_id id = 1; id <= table.used; id++) {
        const masu__block *b = &table.at[id];
        if (b->state != MASU__BLOCK_FREE || precedes(b, bytes, address))
            continue;
        if (!best || precedes(b, table.at[best].bytes, table.at[best].address))
            best = id;
    }
    return best;
}

static size_t largest(void) {
    size_t bytes = 0;
    for (masu__block_id id = 1; id <= table.used; id++)
        if (table.at[id].state == MASU__BLOCK_FREE && table.at[id].bytes > bytes)
            bytes = table.at[id].bytes;
    return bytes;
}

static masu__block_id add(uintptr_t address, size_t bytes) {
    assert_true(masu__blocks_reserve(&table, 1));
    masu__block_id id = masu__blocks_take(&table);
    table.at[id].address = address;
    table.at[id].bytes = bytes;
    table.at[id].ground = MASU__GROUND_BLOCKS;
    return id;
}

static void start(void) {
    masu__free_index_clear(&index_under_test);
    masu__blocks_destroy(&table);
}

static int end(void **state) {
    (void)state;
    start();
    return 0;
}

/* Blocks never overlap: block k begins at some multiple of room and is no larger. */
typedef struct layout {
    unsigned room_bits;
    bool downwards; /* later blocks at lower addresses */
} layout;

static size_t random_bytes(masu__rng *rng, unsigned room_bits) {
    unsigned bits = (unsigned)masu__rng_below(rng, room_bits - MASU__GRAIN_SHIFT + 1);
    size_t units = (size_t)1 << bits, part = masu__rng_below(rng, 3) * (units / 3);
    size_t bytes = (units + (bits == room_bits - MASU__GRAIN_SHIFT ? 0 : part)) * MASU__GRAIN;
    if (masu__rng_below(rng, 4) == 0)
        return (1 + masu__rng_below(rng, (size_t)1 << (room_bits - MASU__GRAIN_SHIFT))) * MASU__GRAIN;
    return masu__rng_below(rng, 4) ? bytes : (size_t)5 << MASU__GRAIN_SHIFT; /* many equal ones */
}

static uintptr_t place(const layout *l, size_t k) {
    size_t turn = l->downwards ? BLOCKS - k : k + 1;
    return (uintptr_t)turn << l->room_bits;
}

static void check_search(masu__rng *rng, const layout *l) {
    size_t bytes = random_bytes(rng, l->room_bits);
    masu__block_id found = masu__free_index_at_least(&index_under_test, &table, bytes);
    assert_int_equal(found, search(bytes, 0));
    if (found)
        assert_int_equal(masu__free_index_after(&index_under_test, &table, found),
                         search(table.at[found].bytes, table.at[found].address + 1));
    assert_int_equal(masu__free_index_largest(&index_under_test, &table), largest());
}

static void compare_with_search(const layout *l, uint64_t seed) {
    masu__rng rng;
    masu__rng_seed(&rng, seed);
    start();
    for (size_t k = 0; k < BLOCKS; k++)
        add(place(l, k), MASU__GRAIN);
    for (int step = 0; step < 8000; step++) {
        size_t reach = (size_t)step / 16 < BLOCKS ? (size_t)step / 16 + 1 : BLOCKS;
        masu__block_id id = 1 + (masu__block_id)masu__rng_below(&rng, reach);
        if (table.at[id].state == MASU__BLOCK_FREE) {
            masu__free_index_remove(&index_under_test, &table, id);
        } else {
            table.at[id].bytes = random_bytes(&rng, l->room_bits);
            masu__free_index_insert(&index_under_test, &table, id);
        }
        check_search(&rng, l);
        if (step % 500 == 0)
            assert_true(valid());
    }
}

static void finds_what_a_linear_search_finds(void **state) {
    (void)state;
    for (unsigned bits = 10; bits <= 54; bits += 11)
        for (int downwards = 0; downwards < 2; downwards++)
            compare_with_search(&(layout){bits, downwards}, 23 + bits);
}

static void every_size_has_a_bin(void **state) {
    (void)state;
    for (unsigned bits = MASU__GRAIN_SHIFT; bits < 64; bits++) {
        start();
        size_t least = (size_t)1 << bits, most = least - 1 + least - MASU__GRAIN + 1;
        masu__block_id low = add(64, least);
        masu__free_index_insert(&index_under_test, &table, low);
        assert_true(valid());
        assert_int_equal(masu__free_index_at_least(&index_under_test, &table, least), low);
        assert_int_equal(masu__free_index_at_least(&index_under_test, &table, most), most == least ? low : 0);
        masu__free_index_remove(&index_under_test, &table, low);
        table.at[low].bytes = most;
        masu__free_index_insert(&index_under_test, &table, low);
        assert_int_equal(masu__free_index_at_least(&index_under_test, &table, least), low);
        assert_int_equal(masu__free_index_at_least(&index_under_test, &table, most), low);
        assert_true(valid());
    }
}

/* Of one bin, and the larger hangs left of the smaller. */
static void the_largest_may_hang_left(void **state) {
    (void)state;
    start();
    size_t base = (size_t)1 << 30;
    masu__block_id root = add(base, base + MASU__GRAIN), left = add(3 * base, base + 2 * MASU__GRAIN);
    masu__free_index_insert(&index_under_test, &table, root);
    masu__free_index_insert(&index_under_test, &table, left);
    assert_int_equal(table.at[root].as.free.child[0], left);
    assert_int_equal(masu__free_index_largest(&index_under_test, &table), base + 2 * MASU__GRAIN);
}

/* And right of it: sizes as far apart as may be, in every order of coming, and the largest taken out again and
 * again. */
static void the_largest_may_hang_right(void **state) {
    (void)state;
    enum { SIZES = 16 };
    size_t base = (size_t)1 << 30;
    for (size_t step = MASU__GRAIN; step <= base / SIZES; step *= 2)
        for (size_t order = 1; order < SIZES; order += 2) { /* odd: it meets each size once */
            start();
            for (size_t i = 0; i < SIZES; i++) {
                masu__block_id id = add((i + 1) * 3 * base, base + (i * order + 5) % SIZES * step);
                masu__free_index_insert(&index_under_test, &table, id);
                assert_int_equal(masu__free_index_largest(&index_under_test, &table), largest());
            }
            for (size_t left = SIZES; left-- > 0;) {
                masu__block_id last = masu__free_index_last(&index_under_test, &table);
                assert_int_equal(table.at[last].bytes, base + left * step);
                masu__free_index_remove(&index_under_test, &table, last);
                table.at[last].state = MASU__BLOCK_LIVE;
            }
        }
}

/* Equal blocks in a long row: the tree is as deep as the row's logarithm, not as the row. */
static void depth_is_logarithmic(void **state) {
    (void)state;
    enum { ROW = 50000 };
    start();
    for (uintptr_t k = 0; k < ROW; k++)
        masu__free_index_insert(&index_under_test, &table, add(((uintptr_t)1 << 46) + k * 8192, 4096));
    unsigned deepest = 0;
    for (masu__block_id id = 1; id <= table.used; id++) {
        unsigned depth = 0;
        for (masu__block_id up = id; up; up = table.at[up].as.free.parent)
            depth++;
        deepest = depth > deepest ? depth : deepest;
    }
    assert_true(deepest <= 24);
    assert_true(valid());
}

static void the_check_sees_what_is_wrong(void **state) {
    (void)state;
    start();
    masu__block_id a = add(64, 640), b = add(6400, 640);
    masu__free_index_insert(&index_under_test, &table, a);
    masu__free_index_insert(&index_under_test, &table, b);
    assert_true(valid());
    table.at[a].bytes += MASU__GRAIN * 1000; /* lies in the wrong bin */
    assert_false(valid());
    table.at[a].bytes -= MASU__GRAIN * 1000;
    table.at[b].address += 16 * MASU__GRAIN; /* under the wrong key */
    assert_false(valid());
    table.at[b].address -= 16 * MASU__GRAIN;
    masu__block_id root = index_under_test.roots[table.at[a].as.free.bin];
    index_under_test.roots[table.at[a].as.free.bin] = 0;
    assert_false(valid());
    index_under_test.roots[table.at[a].as.free.bin] = root;
    assert_true(valid());
    index_under_test.summary[0] = 0;
    assert_false(valid());
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(finds_what_a_linear_search_finds, end),
        cmocka_unit_test_teardown(every_size_has_a_bin, end),
        cmocka_unit_test_teardown(the_largest_may_hang_left, end),
        cmocka_unit_test_teardown(the_largest_may_hang_right, end),
        cmocka_unit_test_teardown(depth_is_logarithmic, end),
        cmocka_unit_test_teardown(the_check_sees_what_is_wrong, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
