/* Devices of one's own: what creation refuses, ranges, and the conformance suite: every device there is passes it, and
 * each way to be wrong is found by the clause that says so. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>
#include <stdlib.h>

#include "base/meta.h"
#include "devices/devices.h"
#include "fake_cuda/controls.h"

/* ---- a table over the host's device, with one thing wrong in it ------------------------------------------------ */

typedef enum wrong {
    NOTHING,
    NO_ADDRESS,
    MISALIGNED,
    OVERLAP,
    DIRTY,
    FORGETS,
    ODD_STATUS,
    UNMAP_LOSES,
    UNMAP_TAKES_MORE,
    REMAP_LOSES,
    REMAP_TURNS,
    COPY_LEAVES,
    COPY_MOVES,
    JOIN_LIES,
    DISCARD_TAKES_MORE,
    PURGE_TAKES_MORE,
    CARRY_LOSES,
    CARRY_TAKES_MORE,
    RESERVES_NOWHERE,
    WRONGS
} wrong;

typedef struct mine {
    masu_device *host;
    wrong wrong;
    void *first; /* handed out */
    int destroyed;
} mine;

static masu_status mine_alloc(void *context, size_t bytes, void **out) {
    mine *m = context;
    size_t got;
    if (m->wrong == NO_ADDRESS)
        return MASU_OK;
    if (m->wrong == OVERLAP && m->first) {
        *out = m->first;
        return MASU_OK;
    }
    if (m->wrong == ODD_STATUS)
        return MASU_ERR_SYNTAX;
    masu_status status = masu__device_alloc(m->host, bytes, out, &got);
    if (status == MASU_OK && m->wrong == DIRTY)
        ((char *)*out)[bytes / 2] = 1;
    if (status == MASU_OK && m->wrong == FORGETS && m->first)
        memset(m->first, 0, 1);
    if (status == MASU_OK && m->wrong == MISALIGNED)
        *out = (char *)*out + 8;
    if (status == MASU_OK && !m->first)
        m->first = *out;
    return status;
}

static masu_status mine_free(void *context, void *ptr, size_t bytes) {
    mine *m = context;
    if (m->wrong == OVERLAP)
        return MASU_OK;
    if (m->first == ptr)
        m->first = NULL;
    return masu__device_free(m->host, (void *)((uintptr_t)ptr & ~(uintptr_t)4095), bytes);
}

static void mine_purge(void *context, void *ptr, size_t bytes) {
    mine *m = context;
    memset(ptr, 0, bytes + (m->wrong == PURGE_TAKES_MORE));
}

static masu_status mine_carry(void *context, const masu_device_carrying *what, void **out) {
    mine *m = context;
    size_t bytes;
    masu_status status = masu__device_carry(m->host, what, out, &bytes);
    if (status == MASU_OK && m->wrong == CARRY_LOSES && what->whole)
        ((char *)*out)[what->bytes - 1] = 0;
    if (status == MASU_OK && m->wrong == CARRY_TAKES_MORE && !what->whole)
        ((char *)what->from)[what->bytes] = 0;
    return status;
}

static void mine_destroy(void *context) {
    ((mine *)context)->destroyed++;
}

static masu_status mine_reserve(void *context, size_t bytes, void **out) {
    mine *m = context;
    masu_status status = masu__device_reserve(m->host, bytes, out);
    if (status == MASU_OK && m->wrong == RESERVES_NOWHERE) {
        masu__device_unreserve(m->host, *out, bytes);
        *out = NULL;
    }
    return status;
}

static masu_status mine_unreserve(void *context, void *address, size_t bytes) {
    return masu__device_unreserve(((mine *)context)->host, address, bytes);
}

static masu_status mine_create(void *context, size_t bytes, uint64_t *handle) {
    masu__piece piece = {0};
    masu_status status = masu__device_create(((mine *)context)->host, bytes, &piece);
    *handle = piece.handle;
    return status;
}

static masu_status mine_release(void *context, masu_device_piece piece) {
    return masu__device_release(((mine *)context)->host, piece);
}

static masu_status mine_map(void *context, void *address, masu_device_piece piece) {
    return masu__device_map(((mine *)context)->host, address, piece);
}

static masu_status mine_access(void *context, void *address, size_t bytes) {
    return masu__device_access(((mine *)context)->host, address, bytes);
}

static masu_status mine_unmap(void *context, void *address, const masu_device_piece *pieces, size_t count) {
    mine *m = context;
    if (m->wrong == UNMAP_LOSES)
        *(char *)address = 0;
    if (m->wrong == UNMAP_TAKES_MORE) {
        ((char *)address)[pieces[0].bytes] = 0;
        m->wrong = NOTHING; /* what follows the next may not be there */
    }
    return masu__device_unmap(m->host, address, pieces, count);
}

static masu_status mine_remap(void *context, void *from, void *to, const masu_device_piece *pieces, size_t count) {
    mine *m = context;
    masu_status status = masu__device_remap(m->host, from, to, pieces, count);
    if (m->wrong == REMAP_LOSES)
        ((char *)to)[pieces[0].bytes] = 0;
    if (m->wrong == REMAP_TURNS) {
        char first = *(char *)to;
        *(char *)to = ((char *)to)[pieces[0].bytes];
        ((char *)to)[pieces[0].bytes] = first;
    }
    return status;
}

static masu_status mine_copy(void *context, void *to, const void *from, size_t bytes) {
    mine *m = context;
    if (m->wrong == COPY_LEAVES)
        bytes--;
    masu_status status = masu__device_copy(m->host, to, from, bytes);
    if (m->wrong == COPY_MOVES)
        memset((void *)(uintptr_t)from, 0, 1);
    return status;
}

static masu_status mine_discard(void *context, void *address, const masu_device_piece *pieces, size_t count) {
    mine *m = context;
    size_t bytes = 0;
    for (size_t i = 0; i < count; i++)
        bytes += pieces[i].bytes;
    if (m->wrong == DISCARD_TAKES_MORE)
        ((char *)address)[bytes] = 0;
    return masu__device_discard(m->host, address, pieces, count);
}

static masu_status mine_split(void *context, masu_device_piece piece, size_t first_bytes, uint64_t *rest) {
    mine *m = context;
    masu__piece second = {0};
    masu_status status = masu__device_split(m->host, &piece, first_bytes, &second);
    *rest = second.handle;
    return status;
}

static volatile uint64_t lost; /* what was lied about, and nobody has */

static bool mine_join(void *context, masu_device_piece first, masu_device_piece rest) {
    mine *m = context;
    if (masu__device_join(m->host, &first, rest))
        return true;
    if (m->wrong == JOIN_LIES)
        lost = rest.handle;
    return m->wrong == JOIN_LIES;
}

static masu_device_table my_table(void) {
    return (masu_device_table){
        .struct_bytes = sizeof(masu_device_table),
        .name = "mine",
        .flags = MASU_DEVICE_HOST_ACCESS | MASU_DEVICE_ZEROED | MASU_DEVICE_DIVISIBLE,
        .alignment_bytes = 4096,
        .granularity_bytes = 4096,
        .vm_granularity_bytes = 2 << 20,
        .alloc = mine_alloc,
        .free = mine_free,
        .destroy = mine_destroy,
        .purge = mine_purge,
        .reserve = mine_reserve,
        .unreserve = mine_unreserve,
        .create = mine_create,
        .release = mine_release,
        .map = mine_map,
        .access = mine_access,
        .unmap = mine_unmap,
        .remap = mine_remap,
        .copy = mine_copy,
        .discard = mine_discard,
        .split = mine_split,
        .join = mine_join,
        .carry = mine_carry,
    };
}

static masu_status conform(masu_device *device, masu_conform_report *report) {
    *report = (masu_conform_report){.struct_bytes = sizeof *report};
    return masu_device_conform(device, report);
}

static void passes(masu_device *device) {
    masu_conform_report report;
    masu_status status = conform(device, &report);
    if (status != MASU_OK)
        fail_msg("%s: %s (%s)", device->info.name, report.what, masu_status_name(report.status));
    assert_true(report.checks > 500);
    assert_string_equal(report.what, "");
    assert_int_equal(masu_device_destroy(device), MASU_OK);
}

static void every_device_conforms(void **state) {
    (void)state;
    masu_device *device, *inner;
    masu_cuda_config cuda = {.library = fake_cuda()->path};
    assert_int_equal(masu_device_create_host(&device), MASU_OK);
    passes(device);
    assert_int_equal(masu_device_create_null(0, &device), MASU_OK);
    passes(device);
    assert_int_equal(masu_device_create_cuda(&cuda, &device), MASU_OK);
    passes(device);
    assert_int_equal(masu_device_create_host(&inner), MASU_OK);
    assert_int_equal(masu_device_create_faulty(inner, &device), MASU_OK);
    passes(device);
    mine m = {.host = inner};
    masu_device_table table = my_table();
    assert_int_equal(masu_device_create_custom(&table, &m, &device), MASU_OK);
    passes(device);
    assert_int_equal(m.destroyed, 1);
    table.purge = NULL;
    table.carry = NULL;
    table.discard = NULL; /* the optional ones away */
    table.split = NULL;
    table.join = NULL;
    table.destroy = NULL;
    table.flags &= ~(uint32_t)MASU_DEVICE_DIVISIBLE;
    assert_int_equal(masu_device_create_custom(&table, &m, &device), MASU_OK);
    passes(device);
    assert_int_equal(masu_device_destroy(inner), MASU_OK);
    assert_int_equal(masu__meta_live_bytes(), 0);
}

static void finds_what_is_wrong(void **state) {
    (void)state;
    static const char *const clauses[WRONGS] = {
        [NO_ADDRESS] = "alloc",
        [MISALIGNED] = "alloc",
        [OVERLAP] = "alloc: blocks do not overlap",
        [DIRTY] = "alloc: fresh memory is zero",
        [PURGE_TAKES_MORE] = "blocks keep their contents",
        [FORGETS] = "blocks keep their contents",
        [CARRY_LOSES] = "carry: a whole block keeps its contents",
        [CARRY_TAKES_MORE] = "blocks keep their contents",
        [ODD_STATUS] = "alloc",
        [UNMAP_LOSES] = "unmap and map: a piece keeps its contents",
        [UNMAP_TAKES_MORE] = "unmap: neighbours stay",
        [REMAP_LOSES] = "remap: pieces keep their contents and order",
        [REMAP_TURNS] = "remap: pieces keep their contents and order",
        [COPY_LEAVES] = "copy: the contents are there",
        [COPY_MOVES] = "copy: the source stays",
        [JOIN_LIES] = "join: halves that have moved stay two",
        [DISCARD_TAKES_MORE] = "discard: neighbours stay",
        [RESERVES_NOWHERE] = "reserve",
    };
    for (int w = 1; w < WRONGS; w++) {
        masu_device *device, *host;
        masu_conform_report report;
        masu_device_table table = my_table();
        if (!clauses[w])
            continue;
        assert_int_equal(masu_device_create_host(&host), MASU_OK);
        mine m = {.host = host, .wrong = (wrong)w};
        assert_int_equal(masu_device_create_custom(&table, &m, &device), MASU_OK);
        assert_int_not_equal(conform(device, &report), MASU_OK);
        assert_string_equal(report.what, clauses[w]);
        bool refused = !strchr(clauses[w], ':') && w != FORGETS && w != PURGE_TAKES_MORE && w != CARRY_TAKES_MORE;
        assert_int_equal(report.status, refused ? MASU_ERR_DEVICE_FAILURE : MASU_ERR_CORRUPT);
        masu_device_destroy(device);
        bool loses = w == OVERLAP; /* what was handed out twice */
        assert_int_equal(masu_device_destroy(host), loses ? MASU_ERR_LEAK : MASU_OK);
    }
}

/* Each call refused once, wherever the suite makes it: it says so, and gives everything back. */
static void a_refusal_loses_nothing(void **state) {
    (void)state;
    for (uint64_t nth = 1;; nth += nth < 64 ? 1 : 13) {
        masu_device *device, *inner;
        masu_conform_report report;
        assert_int_equal(masu_device_create_host(&inner), MASU_OK);
        assert_int_equal(masu_device_create_faulty(inner, &device), MASU_OK);
        assert_int_equal(masu_device_fail_at(device, nth, false), MASU_OK);
        masu_status status = conform(device, &report);
        assert_int_equal(masu_device_destroy(device), MASU_OK);
        assert_int_equal(masu_device_destroy(inner), MASU_OK);
        if (status == MASU_OK)
            break;
        assert_true(report.what[0] != 0);
        assert_int_equal(status, report.status);
        assert_true(nth < 5000);
    }
}

/* ---- making ----------------------------------------------------------------------------------------------------- */

static void creation_wants_a_whole_table(void **state) {
    (void)state;
    masu_device *device = (void *)1;
    mine m = {0};
    assert_int_equal(masu_device_create_custom(NULL, &m, &device), MASU_ERR_INVALID_ARGUMENT);
    assert_null(device);
    masu_device_table t = my_table();
    assert_int_equal(masu_device_create_custom(&t, &m, NULL), MASU_ERR_INVALID_ARGUMENT);
#define REFUSED(change)                                                                      \
    t = my_table();                                                                          \
    change;                                                                                  \
    assert_int_equal(masu_device_create_custom(&t, &m, &device), MASU_ERR_INVALID_ARGUMENT); \
    assert_null(device)
    REFUSED(t.struct_bytes = 0);
    REFUSED(t.struct_bytes = offsetof(masu_device_table, free));
    REFUSED(t.name = NULL);
    REFUSED(t.alloc = NULL);
    REFUSED(t.free = NULL);
    REFUSED(t.alignment_bytes = 0);
    REFUSED(t.alignment_bytes = 4095);
    REFUSED(t.granularity_bytes = 32);
    REFUSED(t.granularity_bytes = 96);
    REFUSED(t.flags |= MASU_DEVICE_STREAMS);
    REFUSED(t.flags |= 1u << 30);
    REFUSED(t.vm_granularity_bytes = 0);
    REFUSED(t.vm_granularity_bytes = 2048);
    REFUSED(t.vm_granularity_bytes = 3 << 20);
    REFUSED(t.vm_large_bytes = 1 << 20);
    REFUSED(t.remap = NULL);
    REFUSED(t.copy = NULL);
    REFUSED(t.access = NULL);
    REFUSED(t.split = NULL);
    REFUSED(t.join = NULL);
    REFUSED(t.flags &= ~(uint32_t)MASU_DEVICE_DIVISIBLE);
#undef REFUSED
    assert_int_equal(m.destroyed, 0);
    masu_device *host;
    assert_int_equal(masu_device_create_host(&host), MASU_OK);
    masu__fault_arm(1);
    t = my_table();
    assert_int_equal(masu_device_create_custom(&t, &m, &device), MASU_ERR_OUT_OF_MEMORY);
    masu__fault_arm(0);
    assert_int_equal(m.destroyed, 0);
    assert_int_equal(masu_device_destroy(host), MASU_OK);
    t.alignment_bytes = t.granularity_bytes = 64; /* the least that there is */
    assert_int_equal(masu_device_create_custom(&t, &m, &device), MASU_OK);
    assert_int_equal(masu_device_destroy(device), MASU_OK);
    assert_int_equal(m.destroyed, 1);
}

/* An author's table of an earlier version is shorter, of a later one longer. */
static void tables_carry_their_size(void **state) {
    (void)state;
    struct {
        masu_device_table table;
        void *later[2];
    } wide = {my_table(), {NULL, NULL}};
    masu_device *device, *host;
    assert_int_equal(masu_device_create_host(&host), MASU_OK);
    mine m = {.host = host};
    wide.table.struct_bytes = sizeof wide;
    assert_int_equal(masu_device_create_custom(&wide.table, &m, &device), MASU_OK);
    passes(device);
    wide.later[1] = &m;
    assert_int_equal(masu_device_create_custom(&wide.table, &m, &device), MASU_ERR_UNSUPPORTED);
    masu_device_table narrow = my_table(); /* blocks only; what follows is not looked at */
    narrow.struct_bytes = offsetof(masu_device_table, vm_granularity_bytes);
    narrow.flags &= ~(uint32_t)MASU_DEVICE_DIVISIBLE;
    assert_int_equal(masu_device_create_custom(&narrow, &m, &device), MASU_OK);
    assert_int_equal(device->info.vm_granularity_bytes, 0);
    passes(device);
    masu_conform_report report = {.struct_bytes = 8};
    assert_int_equal(masu_device_conform(host, &report), MASU_ERR_INVALID_ARGUMENT);
    assert_int_equal(masu_device_conform(NULL, NULL), MASU_ERR_INVALID_ARGUMENT);
    assert_int_equal(masu_device_destroy(host), MASU_OK);
}

/* ---- ranges ------------------------------------------------------------------------------------------------------ */

static masu_range_config range_of(void *base, size_t bytes) {
    return (masu_range_config){
        .struct_bytes = sizeof(masu_range_config), .base = base, .bytes = bytes, .flags = MASU_DEVICE_HOST_ACCESS};
}

static void ranges(void **state) {
    (void)state;
    enum { BYTES = 1 << 20 };
    char *memory = malloc(BYTES + 200);
    masu_device *device;
    void *a, *b, *c;
    size_t bytes;
    uint64_t before = masu__meta_live_bytes();
    memset(memory, 7, BYTES + 200);
    masu_range_config config = range_of(memory + 1, BYTES); /* aligned to nothing */
    assert_int_equal(masu_device_create_range(&config, &device), MASU_OK);
    size_t inside = device->info.memory_bytes;
    assert_true(inside % 4096 == 0 && inside >= BYTES - 2 * 4096 && inside <= BYTES);
    passes(device);
    memset(memory, 7, BYTES + 200);
    assert_int_equal(masu_device_create_range(&config, &device), MASU_OK);
    /* All of it, to the last granule; then in thirds, freed so that the middle one merges with both. */
    assert_int_equal(masu__device_alloc(device, inside, &a, &bytes), MASU_OK);
    assert_true((char *)a > memory && (char *)a + inside <= memory + 1 + BYTES);
    assert_int_equal(masu__device_alloc(device, 1, &b, &bytes), MASU_ERR_OUT_OF_MEMORY);
    assert_int_equal(masu__device_free(device, a, inside), MASU_OK);
    size_t third = inside / 3 / 4096 * 4096;
    assert_int_equal(masu__device_alloc(device, third, &a, &bytes), MASU_OK);
    assert_int_equal(masu__device_alloc(device, third, &b, &bytes), MASU_OK);
    assert_int_equal(masu__device_alloc(device, third, &c, &bytes), MASU_OK);
    assert_int_equal(masu__device_free(device, b, 4096), MASU_ERR_DEVICE_FAILURE);
    assert_int_equal(masu__device_free(device, (char *)b + 4096, third), MASU_ERR_DEVICE_FAILURE);
    assert_int_equal(masu__device_free(device, a, third), MASU_OK);
    assert_int_equal(masu__device_free(device, c, third), MASU_OK);
    assert_int_equal(masu__device_free(device, b, third), MASU_OK);
    assert_int_equal(masu__device_alloc(device, inside, &a, &bytes), MASU_OK);
    assert_int_equal(masu__device_free(device, a, inside), MASU_OK);
    for (size_t i = 0; i < BYTES + 200; i++)
        assert_int_equal(memory[i], 7); /* never written */
    assert_int_equal(masu_device_destroy(device), MASU_OK);
    free(memory);
    /* Of memory that nobody can touch. */
    config = range_of((void *)((uintptr_t)1 << 50), (size_t)1 << 40);
    config.flags = 0;
    config.granularity_bytes = 1 << 16;
    assert_int_equal(masu_device_create_range(&config, &device), MASU_OK);
    passes(device);
    assert_int_equal(masu__meta_live_bytes(), before);
}

static void ranges_that_are_none(void **state) {
    (void)state;
    static char memory[8192];
    masu_device *device = (void *)1;
    masu_range_config c;
    uint64_t before = masu__meta_live_bytes();
#define REFUSED(status, change)                                      \
    c = range_of(memory, sizeof memory);                             \
    change;                                                          \
    assert_int_equal(masu_device_create_range(&c, &device), status); \
    assert_null(device)
    REFUSED(MASU_ERR_INVALID_ARGUMENT, c.base = NULL);
    REFUSED(MASU_ERR_INVALID_ARGUMENT, c.bytes = 0);
    REFUSED(MASU_ERR_INVALID_ARGUMENT, c.bytes = 100);
    REFUSED(MASU_ERR_INVALID_ARGUMENT, c.bytes = SIZE_MAX);
    REFUSED(MASU_ERR_INVALID_ARGUMENT, c.granularity_bytes = 32);
    REFUSED(MASU_ERR_INVALID_ARGUMENT, c.granularity_bytes = 100);
    REFUSED(MASU_ERR_INVALID_ARGUMENT, c.granularity_bytes = 1 << 20);
    REFUSED(MASU_ERR_INVALID_ARGUMENT, c.flags |= MASU_DEVICE_ZEROED);
    REFUSED(MASU_ERR_INVALID_ARGUMENT, c.flags |= MASU_DEVICE_STREAMS);
    REFUSED(MASU_ERR_INVALID_ARGUMENT, c.struct_bytes = 0);
    for (uint64_t nth = 1; nth <= 3; nth++) {
        REFUSED(MASU_ERR_OUT_OF_MEMORY, masu__fault_arm(nth));
        masu__fault_arm(0);
        assert_int_equal(masu__meta_live_bytes(), before);
    }
#undef REFUSED
    assert_int_equal(masu_device_create_range(NULL, &device), MASU_ERR_INVALID_ARGUMENT);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_device_conforms),   cmocka_unit_test(finds_what_is_wrong),
        cmocka_unit_test(a_refusal_loses_nothing), cmocka_unit_test(creation_wants_a_whole_table),
        cmocka_unit_test(tables_carry_their_size), cmocka_unit_test(ranges),
        cmocka_unit_test(ranges_that_are_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
