/* test_report.c: what the report counts, and both ways of showing it. */
#include "runtime_fixture.h"

#include <stdio.h>

static char *text_of(void (*print)(const tl_report *, FILE *), const tl_report *report) {
    char *text = NULL;
    size_t length = 0;
    FILE *file = open_memstream(&text, &length);
    assert_non_null(file);
    print(report, file);
    fclose(file);
    return text;
}

static const tl_report balanced = {
    .peak_bytes = 13036,
    .allocations = 1402117,
    .frees = 1402117,
    .pool_hits = 1402100,
    .pool_misses = 17,
    .device_allocations = 1,
    .reserved_bytes = 4 << 20,
    .cached_bytes = 4 << 20,
    .retain_ops = 3,
    .release_ops = 1,
    .frame_depth_peak = 12,
    .rss_bytes = 70 << 20,
    .rss_peak_bytes = 72 << 20,
    .rss_anon_bytes = 11 << 20,
    .rss_anon_peak_bytes = 12 << 20,
    .wall_seconds = 2.5,
};

static void assert_says(const char *text, const char *wanted) {
    if (!strstr(text, wanted))
        fail_msg("\"%s\" is missing in\n%s", wanted, text);
}

static void a_person_reads_it(void **state) {
    (void)state;
    char *text = text_of(tl_report_print, &balanced);
    assert_says(text, "memory report");
    assert_says(text, "0 live, 0 B");
    assert_says(text, "peak 12.7 KiB");
    assert_says(text, "1,402,117 taken");
    assert_says(text, "1,402,117 given back");
    assert_says(text, "17 misses, 1 device call\n");
    assert_says(text, "4.0 MiB reserved");
    assert_says(text, "3 retains");
    assert_says(text, "1 release\n");
    assert_says(text, "frames up to 12 deep");
    assert_says(text, "70.0 MiB resident");
    assert_says(text, "peak 72.0 MiB, anonymous 12.0 MiB");
    assert_says(text, "2.50 s");
    assert_says(text, "nothing leaked");
    assert_null(strstr(text, "STILL LIVE"));
    free(text);
}

/* Characters of the line up to its second column, or 0 when it has none. */
static size_t second_column(const char *line, const char *end) {
    size_t label = 2 + 14;
    for (const char *at = line + label; at + 2 < end; at++)
        if (at[0] == ' ' && at[1] == ' ' && at[2] != ' ')
            return (size_t)(at + 2 - line);
    return 0;
}

static void its_columns_are_aligned(void **state) {
    (void)state;
    char *text = text_of(tl_report_print, &balanced);
    size_t column = 0, lines = 0;
    for (const char *line = text; *line;) {
        const char *end = strchr(line, '\n');
        assert_non_null(end);
        assert_true(end == line || end[-1] != ' ');
        size_t here = line[0] == ' ' ? second_column(line, end) : 0;
        if (here != 0) {
            assert_true(column == 0 || column == here);
            column = here;
            lines++;
        }
        line = end + 1;
    }
    assert_int_equal(lines, 9);
    free(text);
}

static void what_is_left_is_named(void **state) {
    (void)state;
    tl_report report = balanced;
    report.live_tensors = 1;
    report.live_bytes = 4096;
    report.live_objects = 2;
    report.scope_depth = 1;
    char *text = text_of(tl_report_print, &report);
    assert_says(text, "STILL LIVE: 1 tensor, 4,096 bytes, 2 objects, 1 open scope\n");
    assert_null(strstr(text, "nothing leaked"));
    free(text);
    uint64_t *const fields[] = {&report.live_nodes, &report.live_grads, &report.registered, &report.frame_depth};
    static const char *const words[] = {"1 node\n", "1 gradient\n", "1 registration\n", "1 frame\n"};
    for (int i = 0; i < 4; i++) {
        report = balanced;
        *fields[i] = 1;
        text = text_of(tl_report_print, &report);
        assert_says(text, words[i]);
        free(text);
    }
}

static void short_times_are_milliseconds_and_no_request_has_no_rate(void **state) {
    (void)state;
    tl_report report = {.wall_seconds = 0.0123};
    char *text = text_of(tl_report_print, &report);
    assert_says(text, "12.3 ms");
    assert_says(text, "never asked");
    free(text);
}

/* The number behind "name": in the object; fails when it is missing or there twice. */
static double json_number(const char *json, const char *name) {
    char key[64];
    snprintf(key, sizeof key, "\"%s\": ", name);
    const char *at = strstr(json, key);
    if (!at)
        fail_msg("%s is missing", name);
    assert_null(strstr(at + 1, key));
    return strtod(at + strlen(key), NULL);
}

static void a_program_reads_it(void **state) {
    (void)state;
    tl_report report = balanced;
    report.live_tensors = UINT64_MAX;
    char *json = text_of(tl_report_print_json, &report);
    assert_int_equal(json[0], '{');
    assert_int_equal(json[strlen(json) - 2], '}');
    assert_says(json, "\"live_tensors\": 18446744073709551615,");
    assert_true(json_number(json, "peak_bytes") == 13036);
    assert_true(json_number(json, "wall_seconds") == 2.5);
    static const char *const names[] = {
        "live_tensors",     "live_bytes",     "peak_bytes",       "allocations",         "frees",
        "grown_tensors",    "kept_bytes",     "pool_hits",        "pool_misses",         "device_allocations",
        "device_frees",     "reserved_bytes", "cached_bytes",     "metadata_bytes",      "metadata_reserved",
        "retain_ops",       "release_ops",    "live_nodes",       "live_grads",          "live_objects",
        "scope_depth",      "frame_depth",    "frame_depth_peak", "registered",          "placed",
        "frame_bytes_peak", "reused",         "slotted",          "slot_growths",        "slot_bytes_peak",
        "rss_bytes",        "rss_peak_bytes", "rss_anon_bytes",   "rss_anon_peak_bytes", "seed",
        "wall_seconds"};
    size_t count = sizeof names / sizeof names[0], colons = 0, commas = 0;
    for (size_t i = 0; i < count; i++)
        json_number(json, names[i]);
    for (const char *at = json; *at; at++) {
        colons += *at == ':';
        commas += *at == ',';
    }
    assert_int_equal(colons, count);
    assert_int_equal(commas, count - 1);
    free(json);
}

static void it_counts_what_happens(void **state) {
    (void)state;
    tl_runtime *rt = open_runtime(NULL);
    tl_report before, now;
    tl_runtime_get_report(rt, &before);
    assert_int_equal(before.allocations, 0);
    tl_tensor *a = make_vector(1000), *b = make_vector(10);
    tl_object *s = make_string("text");
    tl__tensor_drop(b);
    tl_tensor *view = NULL;
    assert_int_equal(tl__tensor_view(a, &view), MASU_OK);
    tl_mem_enter_scope();
    tl_mem_register_tensor(view);
    tl_frame *frame = tl_mem_function_enter(1);
    tl_runtime_get_report(rt, &now);
    assert_int_equal(now.live_tensors, 2);
    assert_int_equal(now.live_bytes, 4000);
    assert_int_equal(now.peak_bytes, 4040);
    assert_int_equal(now.allocations, 2);
    assert_int_equal(now.frees, 1);
    assert_int_equal(now.pool_hits + now.pool_misses, 2);
    assert_int_equal(now.live_objects, 1);
    assert_int_equal(now.registered, 1);
    assert_int_equal(now.scope_depth, 1);
    assert_int_equal(now.frame_depth, 1);
    assert_int_equal(now.metadata_bytes,
                     2 * sizeof(tl_tensor) + sizeof(tl_storage) + sizeof(tl_string) + strlen("text") + 1);
    assert_true(now.reserved_bytes >= now.live_bytes + now.cached_bytes);
    assert_true(now.wall_seconds >= before.wall_seconds);
    tl_mem_function_exit(frame);
    tl_mem_exit_scope();
    tl__object_drop(s);
    tl__tensor_drop(a);
    close_runtime(rt);
}

/* 32 MiB written to: the kernel's numbers must move, and the peak stay when the memory is back in the pool. */
static void resident_memory_comes_from_the_kernel(void **state) {
    (void)state;
    enum { BIG = 32 << 20 };
    tl_runtime *rt = open_runtime(NULL);
    tl_report before, during, after;
    tl_runtime_get_report(rt, &before);
    assert_true(before.rss_bytes > 0);
    assert_true(before.rss_peak_bytes > 0);
    assert_true(before.rss_anon_bytes > 0);
    tl_tensor *t = NULL;
    assert_int_equal(tl__tensor_new_zeroed(TL_BOOL, 1, (int64_t[]){BIG}, &t), MASU_OK);
    memset(t->data, 1, BIG);
    tl_runtime_get_report(rt, &during);
    assert_true(during.rss_bytes > before.rss_bytes + BIG / 2);
    assert_true(during.rss_anon_bytes > before.rss_anon_bytes + BIG / 2);
    assert_true(during.rss_anon_peak_bytes >= during.rss_anon_bytes);
    tl__tensor_drop(t);
    assert_int_equal(masu_heap_trim(rt->payload, 0), MASU_OK);
    tl_runtime_get_report(rt, &after);
    assert_true(after.rss_anon_bytes < during.rss_anon_bytes);
    assert_true(after.rss_anon_peak_bytes >= during.rss_anon_bytes);
    close_runtime(rt);
}

/* What was touched before a heap had to grow is in the peak although nobody has asked for a report meanwhile. */
static void growth_samples_the_peak(void **state) {
    (void)state;
    enum { BIG = 24 << 20, LARGER = 512 << 20 };
    tl_runtime *rt = open_runtime(NULL);
    uint64_t before = rt->rss_anon_peak_bytes;
    tl_tensor *first = NULL, *second = NULL;
    assert_int_equal(tl__tensor_new(TL_BOOL, 1, (int64_t[]){BIG}, &first), MASU_OK);
    memset(first->data, 1, BIG);
    assert_true(rt->rss_anon_peak_bytes < before + BIG / 2);
    assert_int_equal(tl__tensor_new(TL_BOOL, 1, (int64_t[]){LARGER}, &second), MASU_OK); /* not touched */
    assert_true(rt->rss_anon_peak_bytes > before + BIG / 2);
    tl__tensor_drop(first);
    tl__tensor_drop(second);
    close_runtime(rt);
}

static void steady_work_asks_the_device_no_more(void **state) {
    (void)state;
    tl_runtime *rt = open_runtime(NULL);
    tl_report first, last;
    for (int epoch = 0; epoch < 300; epoch++) {
        tl_tensor *t[4];
        for (int i = 0; i < 4; i++)
            t[i] = make_vector(1 + 700 * i);
        tl_object *s = make_string("steady");
        tl__object_drop(s);
        for (int i = 0; i < 4; i++)
            tl__tensor_drop(t[i]);
        if (epoch == 0)
            tl_runtime_get_report(rt, &first);
    }
    tl_runtime_get_report(rt, &last);
    assert_int_equal(last.device_allocations, first.device_allocations);
    assert_int_equal(last.pool_misses, first.pool_misses);
    assert_int_equal(last.metadata_reserved, first.metadata_reserved);
    assert_int_equal(last.allocations, 300 * 4);
    close_runtime(rt);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_person_reads_it),
        cmocka_unit_test(its_columns_are_aligned),
        cmocka_unit_test(what_is_left_is_named),
        cmocka_unit_test(short_times_are_milliseconds_and_no_request_has_no_rate),
        cmocka_unit_test(a_program_reads_it),
        cmocka_unit_test(it_counts_what_happens),
        cmocka_unit_test(resident_memory_comes_from_the_kernel),
        cmocka_unit_test(growth_samples_the_peak),
        cmocka_unit_test(steady_work_asks_the_device_no_more),
    };
    return cmocka_run_group_tests_name("report", tests, NULL, NULL);
}
