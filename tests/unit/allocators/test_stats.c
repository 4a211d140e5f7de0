/* What services show: the struct adds up and may grow, the text is what Prometheus reads, and nothing asks for
 * memory. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <masu/alloc.h>
#include <masu/stats.h>

#include "base/meta.h"

enum { KIB = 1 << 10, MIB = 1 << 20 };

static masu_stats stats_of(const masu_heap *heap) {
    masu_stats s = {.struct_bytes = sizeof s};
    assert_int_equal(masu_stats_get(heap, &s), MASU_OK);
    return s;
}

static void level_adds_up(const masu_stats_level *level) {
    assert_int_equal(level->hits + level->misses, level->allocations);
    assert_int_equal(level->live_bytes + level->idle_bytes + level->slack_bytes, level->reserved_bytes);
    assert_int_equal(level->allocations - level->frees, level->live_blocks);
}

static masu_heap *heap_on(masu_device *device, size_t limit_bytes) {
    masu_heap *heap;
    masu_heap_config config = masu_heap_config_default();
    config.device = device;
    config.limit_bytes = limit_bytes;
    config.pool_bytes = MIB;
    assert_int_equal(masu_heap_create(&config, &heap), MASU_OK);
    return heap;
}

static void levels_add_up_and_say_who_served(void **state) {
    (void)state;
    masu_heap *heap = heap_on(NULL, 4 * MIB);
    void *small[10], *large, *none;
    for (int i = 0; i < 10; i++)
        assert_int_equal(masu_heap_alloc(heap, 100, 0, &small[i]), MASU_OK);
    assert_int_equal(masu_heap_alloc(heap, 300 * KIB, 0, &large), MASU_OK);
    assert_int_equal(masu_heap_free(heap, small[3], 100), MASU_OK);

    masu_stats s = stats_of(heap);
    level_adds_up(&s.heap);
    level_adds_up(&s.buckets);
    level_adds_up(&s.bestfit);
    assert_int_equal(s.heap.allocations, 11);
    assert_int_equal(s.heap.frees, 1);
    assert_int_equal(s.heap.live_bytes, 900 + 300 * KIB);
    assert_int_equal(s.heap.peak_live_bytes, 1000 + 300 * KIB);
    assert_int_equal(s.buckets.allocations, 10);
    assert_int_equal(s.buckets.frees, 1);
    assert_int_equal(s.buckets.misses, 1);
    assert_int_equal(s.buckets.live_bytes, 900);
    assert_int_equal(s.bestfit.allocations, 2); /* a slab, and the large one */
    assert_int_equal(s.bestfit.live_bytes, 300 * KIB + s.buckets.reserved_bytes);
    assert_int_equal(s.heap.reserved_bytes, s.bestfit.reserved_bytes);
    assert_int_equal(s.device_blocks_taken, 1);
    assert_int_equal(s.device_alloc_calls, 1);
    assert_int_equal(s.device_live_bytes, s.heap.reserved_bytes);

    /* before it refuses, the heap gives back what it has, parts of slabs too */
    assert_int_equal(masu_heap_alloc(heap, 8 * MIB, 0, &none), MASU_ERR_LIMIT_REACHED);
    s = stats_of(heap);
    level_adds_up(&s.heap);
    level_adds_up(&s.buckets);
    level_adds_up(&s.bestfit);
    assert_int_equal(s.heap.refusals, 1);
    assert_int_equal(s.heap.live_bytes, 900 + 300 * KIB);

    for (int i = 0; i < 10; i++)
        if (i != 3)
            assert_int_equal(masu_heap_free(heap, small[i], 100), MASU_OK);
    assert_int_equal(masu_heap_free(heap, large, 300 * KIB), MASU_OK);
    assert_int_equal(masu_heap_trim(heap, 0), MASU_OK);
    s = stats_of(heap);
    assert_int_equal(s.heap.live_blocks, 0);
    assert_int_equal(s.heap.reserved_bytes, 0);
    assert_int_equal(s.device_blocks_returned, 1);
    assert_int_equal(s.device_free_calls, 1);
    masu_heap_reset_stats(heap);
    s = stats_of(heap);
    assert_int_equal(s.heap.allocations, 0);
    assert_int_equal(s.heap.refusals, 0);
    assert_int_equal(masu_heap_destroy(heap), MASU_OK);
}

static void the_process_wide_pool_counts_threads(void **state) {
    (void)state;
    void *block = masu_alloc(200);
    assert_non_null(block);
    masu_stats s = stats_of(NULL);
    assert_true(s.heap.live_blocks >= 1 && s.heap.allocations >= 1);
    level_adds_up(&s.heap);
    masu_heap_stats same;
    masu_get_stats(&same);
    assert_int_equal(s.thread_caches, same.thread_caches);
    assert_int_equal(s.heap.reserved_bytes, same.reserved_bytes);
    assert_int_equal(masu_free(block, 200), MASU_OK);
}

static void every_kind_of_heap(void **state) {
    (void)state;
    for (int kind = 0; kind < 16; kind++) {
        masu_heap_config config = masu_heap_config_default();
        config.checked = kind & 1;
        config.fine_classes = kind & 2;
        config.thread_safe = kind & 4;
        config.guarded = kind & 8;
        config.small_blocks = 5; /* slabs before the first request */
        masu_heap *heap;
        void *blocks[40];
        assert_int_equal(masu_heap_create(&config, &heap), MASU_OK);
        for (int i = 0; i < 40; i++)
            assert_int_equal(masu_heap_alloc(heap, 1 + (size_t)i * i * 50, 0, &blocks[i]), MASU_OK);
        for (int i = 0; i < 40; i += 3)
            assert_int_equal(masu_heap_free(heap, blocks[i], 1 + (size_t)i * i * 50), MASU_OK);
        masu_stats s = stats_of(heap);
        level_adds_up(&s.heap);
        level_adds_up(&s.buckets);
        level_adds_up(&s.bestfit);
        assert_int_equal(s.heap.allocations, 40);
        assert_int_equal(s.heap.frees, 14);
        for (int i = 0; i < 40; i++)
            if (i % 3)
                assert_int_equal(masu_heap_free(heap, blocks[i], 1 + (size_t)i * i * 50), MASU_OK);
        assert_int_equal(masu_heap_destroy(heap), MASU_OK);
    }
}

/* A device without host access has no buckets. */
static void sizes_only(void **state) {
    (void)state;
    masu_device *device;
    assert_int_equal(masu_device_create_null(0, &device), MASU_OK);
    masu_heap *heap = heap_on(device, 0);
    void *block;
    assert_int_equal(masu_heap_alloc(heap, 100, 0, &block), MASU_OK);
    masu_stats s = stats_of(heap);
    level_adds_up(&s.heap);
    assert_int_equal(s.buckets.allocations, 0);
    assert_int_equal(s.bestfit.allocations, 1);
    assert_int_equal(masu_heap_free(heap, block, 100), MASU_OK);
    assert_int_equal(masu_heap_destroy(heap), MASU_OK);
    assert_int_equal(masu_device_destroy(device), MASU_OK);
}

static void refused_memory_is_counted(void **state) {
    (void)state;
    masu_device *host, *device;
    assert_int_equal(masu_device_create_host(&host), MASU_OK);
    assert_int_equal(masu_device_create_faulty(host, &device), MASU_OK);
    masu_heap *heap = heap_on(device, 0);
    assert_int_equal(masu_device_fail_as(device, MASU_ERR_OUT_OF_MEMORY), MASU_OK);
    assert_int_equal(masu_device_fail_at(device, 1, true), MASU_OK);
    void *block;
    for (int i = 0; i < 3; i++)
        assert_int_equal(masu_heap_alloc(heap, 50 * KIB, 0, &block), MASU_ERR_OUT_OF_MEMORY);
    masu_stats s = stats_of(heap);
    level_adds_up(&s.heap);
    assert_int_equal(s.heap.refusals, 3);
    assert_int_equal(s.heap.allocations, 0);
    assert_true(s.device_refused_calls >= 3);
    assert_int_equal(s.device_alloc_calls, 0);
    assert_int_equal(masu_heap_destroy(heap), MASU_OK);
    assert_int_equal(masu_device_destroy(device), MASU_OK);
    assert_int_equal(masu_device_destroy(host), MASU_OK);
}

static void callers_of_other_versions_are_served(void **state) {
    (void)state;
    masu_heap *heap = heap_on(NULL, 0);
    void *block;
    assert_int_equal(masu_heap_alloc(heap, 100, 0, &block), MASU_OK);
    struct {
        masu_stats stats;
        unsigned char more[40];
    } later;
    memset(&later, 0xAB, sizeof later);
    later.stats.struct_bytes = offsetof(masu_stats, buckets); /* an earlier one, which knew the heap alone */
    assert_int_equal(masu_stats_get(heap, &later.stats), MASU_OK);
    assert_int_equal(later.stats.heap.allocations, 1);
    assert_int_equal(((unsigned char *)&later)[offsetof(masu_stats, buckets)], 0xAB);
    later.stats.struct_bytes = sizeof later;
    assert_int_equal(masu_stats_get(heap, &later.stats), MASU_OK);
    assert_int_equal(later.stats.struct_bytes, sizeof later);
    assert_int_equal(later.stats.device_alloc_calls, 1);
    for (size_t i = 0; i < sizeof later.more; i++)
        assert_int_equal(later.more[i], 0);
    later.stats.struct_bytes = offsetof(masu_stats, buckets) - 1;
    assert_int_equal(masu_stats_get(heap, &later.stats), MASU_ERR_INVALID_ARGUMENT);
    assert_int_equal(masu_stats_get(heap, NULL), MASU_ERR_INVALID_ARGUMENT);
    assert_int_equal(masu_heap_free(heap, block, 100), MASU_OK);
    assert_int_equal(masu_heap_destroy(heap), MASU_OK);
}

/* ---- the text ------------------------------------------------------------------------------------------- */

static char text[64 * KIB];

/* The rules of the format, read line by line; how many samples there are. */
static size_t samples_of(const char *page) {
    char name[100] = "", line[1000];
    size_t samples = 0;
    bool typed = false;
    while (*page) {
        size_t length = strcspn(page, "\n");
        assert_true(page[length] == '\n' && length < sizeof line);
        memcpy(line, page, length);
        line[length] = 0;
        page += length + 1;
        if (strncmp(line, "# HELP ", 7) == 0) {
            assert_true(strcspn(line + 7, " ") < sizeof name);
            sscanf(line + 7, "%99s", name);
            assert_int_equal(strncmp(name, "masu_", 5), 0);
            assert_int_equal(name[strspn(name, "abcdefghijklmnopqrstuvwxyz_")], 0);
            typed = false;
        } else if (strncmp(line, "# TYPE ", 7) == 0) {
            char typed_name[100], type[100];
            assert_int_equal(sscanf(line + 7, "%99s %99s", typed_name, type), 2);
            assert_string_equal(typed_name, name);
            bool total = strlen(name) > 6 && strcmp(name + strlen(name) - 6, "_total") == 0;
            assert_string_equal(type, total ? "counter" : "gauge");
            assert_false(typed);
            typed = true;
        } else {
            size_t own = strcspn(line, "{ ");
            assert_true(typed && own == strlen(name) && strncmp(line, name, own) == 0);
            char *number = strrchr(line, ' '), *end;
            strtoull(number + 1, &end, 10);
            assert_true(end > number + 1 && *end == 0);
            samples++;
        }
    }
    return samples;
}

static void text_is_what_prometheus_reads(void **state) {
    (void)state;
    masu_stats a = {.struct_bytes = sizeof a}, b = a;
    a.heap.allocations = UINT64_MAX;
    b.bestfit.peak_live_bytes = 7;
    b.device_refused_calls = 3;
    masu_stats_label first = {"pool", "a\\b \"c\"\nd {,} é"}, second[] = {{"pool", "b"}, {"shard", "2"}};
    masu_stats_source sources[] = {{&a, &first, 1}, {&b, second, 2}};
    size_t length;
    assert_int_equal(masu_stats_text(sources, 2, text, sizeof text, &length), MASU_OK);
    assert_int_equal(length, strlen(text));
    assert_int_equal(samples_of(text), 2 * (11 * 3 + 3 * 2 + 9));
    assert_non_null(strstr(
        text, "\nmasu_allocations_total{pool=\"a\\\\b \\\"c\\\"\\nd {,} é\",level=\"heap\"} 18446744073709551615\n"));
    assert_non_null(strstr(text, "\nmasu_live_peak_bytes{pool=\"b\",shard=\"2\",level=\"bestfit\"} 7\n"));
    assert_non_null(strstr(text, "\nmasu_device_refused_calls_total{pool=\"b\",shard=\"2\"} 3\n"));
    assert_null(strstr(text, "masu_live_peak_bytes{pool=\"b\",shard=\"2\",level=\"buckets\"}"));

    /* one heap, no label; a caller that knows less says less */
    masu_stats_source alone = {.stats = &a};
    assert_int_equal(masu_stats_text(&alone, 1, text, sizeof text, &length), MASU_OK);
    assert_int_equal(samples_of(text), 11 * 3 + 3 * 2 + 9);
    assert_non_null(strstr(text, "\nmasu_thread_caches 0\n"));
    a.struct_bytes = offsetof(masu_stats, buckets);
    assert_int_equal(masu_stats_text(&alone, 1, text, sizeof text, &length), MASU_OK);
    assert_int_equal(samples_of(text), 14);
}

static void every_length_of_buffer(void **state) {
    (void)state;
    masu_stats s = stats_of(NULL);
    masu_stats_source source = {.stats = &s};
    size_t whole, length;
    assert_int_equal(masu_stats_text(&source, 1, NULL, 0, &whole), MASU_OK);
    for (size_t bytes = 0; bytes <= whole + 2; bytes++) {
        memset(text, 0x7F, whole + 4);
        masu_status status = masu_stats_text(&source, 1, text, bytes, &length);
        assert_int_equal(status, bytes > whole ? MASU_OK : MASU_ERR_LIMIT_REACHED);
        assert_int_equal(length, whole);
        assert_int_equal(text[bytes], 0x7F);
        if (bytes > 0)
            assert_int_equal(strlen(text), bytes > whole ? whole : 0);
    }
}

typedef struct taken {
    size_t calls, stop_at;
} taken;

static bool take(void *context, const char *piece, size_t length) {
    taken *t = context;
    assert_true(piece && length > 0);
    return ++t->calls != t->stop_at;
}

static void a_writer_may_stop(void **state) {
    (void)state;
    masu_stats s = stats_of(NULL);
    masu_stats_source source = {.stats = &s};
    taken t = {0};
    assert_int_equal(masu_stats_write(&source, 1, take, &t), MASU_OK);
    assert_true(t.calls > 2);
    for (size_t n = 1; n <= t.calls; n++) {
        taken stops = {.stop_at = n};
        assert_int_equal(masu_stats_write(&source, 1, take, &stops), MASU_ERR_IO);
        assert_int_equal(stops.calls, n);
    }
}

static void wrong_labels_are_refused(void **state) {
    (void)state;
    masu_stats s = stats_of(NULL), empty = {0};
    static const masu_stats_label wrong[] = {
        {"", "x"},
        {"1a", "x"},
        {"__a", "x"},
        {"a-b", "x"},
        {"level", "x"},
        {NULL, "x"},
        {"a", NULL},
        {"a", "\xff"},
        {"a", "\xc0\x80"},
        {"a", "\xed\xa0\x80"},
        {"a", "\xf4\x90\x80\x80"},
        {"a", "\xe2\x82"},
        {"a:b", "x"},
        {"a", "\xe0\x80\x80"},
        {"\xc3\xa9", "x"},
    };
    taken t = {0};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        masu_stats_source source = {&s, &wrong[i], 1};
        assert_int_equal(masu_stats_write(&source, 1, take, &t), MASU_ERR_INVALID_ARGUMENT);
    }
    masu_stats_label twice[] = {{"a", "x"}, {"a", "y"}}, ab[] = {{"a", "1"}, {"b", "2"}},
                     ba[] = {{"b", "2"}, {"a", "1"}};
    masu_stats_label nothing = {"c", ""};
    masu_stats_source cases[][2] = {
        {{&s, twice, 2}, {&s, ab, 2}},      {{&s, ab, 2}, {&s, ba, 2}},     {{&s, NULL, 0}, {&s, NULL, 0}},
        {{&s, NULL, 0}, {&s, &nothing, 1}}, {{&s, ab, 2}, {NULL, NULL, 0}}, {{&s, ab, 2}, {&empty, NULL, 0}},
        {{&s, NULL, 1}, {&s, ab, 2}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_int_equal(masu_stats_write(cases[i], 2, take, &t), MASU_ERR_INVALID_ARGUMENT);
    assert_int_equal(t.calls, 0);
    masu_stats_source good[] = {{&s, ab, 1}, {&s, ab, 2}};
    size_t length;
    assert_int_equal(masu_stats_write(good, 2, take, &t), MASU_OK);
    assert_int_equal(masu_stats_write(good, 2, NULL, &t), MASU_ERR_INVALID_ARGUMENT);
    assert_int_equal(masu_stats_write(NULL, 1, take, &t), MASU_ERR_INVALID_ARGUMENT);
    assert_int_equal(masu_stats_text(good, 2, text, sizeof text, NULL), MASU_ERR_INVALID_ARGUMENT);
    assert_int_equal(masu_stats_text(good, 2, NULL, 5, &length), MASU_ERR_INVALID_ARGUMENT);
}

static void nothing_asks_for_memory(void **state) {
    (void)state;
    masu_heap *heap = heap_on(NULL, 0);
    void *block;
    assert_int_equal(masu_heap_alloc(heap, 100, 0, &block), MASU_OK);
    uint64_t held = masu__meta_live_bytes();
    masu__fault_arm_repeat(1, true);
    masu_stats s = stats_of(heap), process = stats_of(NULL);
    masu_stats_label label = {"heap", "own"};
    masu_stats_source sources[] = {{&s, &label, 1}, {.stats = &process}};
    size_t length;
    assert_int_equal(masu_stats_text(sources, 2, text, sizeof text, &length), MASU_OK);
    assert_false(masu__fault_fired());
    masu__fault_arm(0);
    assert_int_equal(masu__meta_live_bytes(), held);
    assert_int_equal(s.heap.allocations, 1);
    assert_int_equal(masu_heap_free(heap, block, 100), MASU_OK);
    assert_int_equal(masu_heap_destroy(heap), MASU_OK);
}

static void pools_that_are_not_heaps_say_the_same_words(void **state) {
    (void)state;
    masu_vm *vm;
    masu_device *device;
    void *first, *second;
    assert_int_equal(masu_device_create_host(&device), MASU_OK);
    masu_vm_config vm_config = masu_vm_config_default(device);
    assert_int_equal(masu_vm_create(&vm_config, &vm), MASU_OK);
    assert_int_equal(masu_vm_alloc(vm, 3 * MIB + 1, 0, 0, &first), MASU_OK);
    assert_int_equal(masu_vm_alloc(vm, MIB, 0, 0, &second), MASU_OK);
    assert_int_equal(masu_vm_free(vm, second), MASU_OK);
    masu_vm_stats vm_stats;
    masu_stats all[4];
    masu_vm_get_stats(vm, &vm_stats);
    masu_stats_of_vm(&vm_stats, &all[0]);
    level_adds_up(&all[0].heap);
    assert_int_equal(all[0].heap.live_bytes, 3 * MIB + 1);
    assert_int_equal(all[0].heap.allocations, 2);
    assert_true(all[0].heap.idle_bytes >= MIB && all[0].heap.slack_bytes > 0);
    assert_int_equal(masu_vm_free(vm, first), MASU_OK);
    assert_int_equal(masu_vm_destroy(vm), MASU_OK);
    masu_device_destroy(device);

    masu_arena *arena;
    masu_ring *ring;
    masu_arena_stats arena_stats;
    masu_ring_stats ring_stats;
    assert_int_equal(masu_arena_create(NULL, &arena), MASU_OK);
    assert_non_null(masu_arena_alloc(arena, 1000, 0));
    masu_arena_get_stats(arena, &arena_stats);
    masu_stats_of_arena(&arena_stats, &all[1]);
    level_adds_up(&all[1].heap);
    assert_true(all[1].heap.live_bytes >= 1000 && all[1].heap.live_bytes < 1100);
    assert_int_equal(
        masu_ring_create(&(masu_ring_config){.struct_bytes = sizeof(masu_ring_config), .bytes = 4096}, &ring), MASU_OK);
    assert_non_null(masu_ring_alloc(ring, 4000, 0));
    assert_null(masu_ring_alloc(ring, 4000, 0));
    masu_ring_get_stats(ring, &ring_stats);
    masu_stats_of_ring(&ring_stats, &all[2]);
    assert_int_equal(all[2].heap.live_bytes + all[2].heap.idle_bytes, 4096);
    assert_int_equal(all[2].heap.refusals, 1);
    const masu_streams_stats streams = {.allocations = 7,
                                        .frees = 5,
                                        .same_stream = 3,
                                        .other_stream = 1,
                                        .fetched = 3,
                                        .live_blocks = 2,
                                        .live_bytes = 200,
                                        .cached_bytes = 50};
    masu_stats_of_streams(&streams, &all[3]);
    level_adds_up(&all[3].heap);

    /* One text for all of them, and nothing in it of what they do not have. */
    static const masu_stats_label names[4] = {
        {"pool", "vm"}, {"pool", "step"}, {"pool", "staging"}, {"pool", "streams"}};
    masu_stats_source sources[4];
    for (int i = 0; i < 4; i++)
        sources[i] = (masu_stats_source){&all[i], &names[i], 1};
    char text[16384];
    size_t length;
    assert_int_equal(masu_stats_text(sources, 4, text, sizeof text, &length), MASU_OK);
    assert_non_null(strstr(text, "masu_live_bytes{pool=\"vm\",level=\"heap\"} 3145729\n"));
    assert_non_null(strstr(text, "masu_refusals_total{pool=\"staging\",level=\"heap\"} 1\n"));
    assert_non_null(strstr(text, "masu_hits_total{pool=\"streams\",level=\"heap\"} 4\n"));
    assert_null(strstr(text, "level=\"buckets\""));
    assert_null(strstr(text, "masu_device_live_bytes{"));
    assert_int_equal(masu_ring_destroy(ring), MASU_OK);
    assert_int_equal(masu_arena_destroy(arena), MASU_OK);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(levels_add_up_and_say_who_served),
        cmocka_unit_test(the_process_wide_pool_counts_threads),
        cmocka_unit_test(every_kind_of_heap),
        cmocka_unit_test(sizes_only),
        cmocka_unit_test(refused_memory_is_counted),
        cmocka_unit_test(callers_of_other_versions_are_served),
        cmocka_unit_test(text_is_what_prometheus_reads),
        cmocka_unit_test(every_length_of_buffer),
        cmocka_unit_test(a_writer_may_stop),
        cmocka_unit_test(wrong_labels_are_refused),
        cmocka_unit_test(nothing_asks_for_memory),
        cmocka_unit_test(pools_that_are_not_heaps_say_the_same_words),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
