/* A trace on disk: what is read is what happened; it can be cut anywhere; damage is found. */
#include <time.h>

#include "trace_file_fixture.h"

static void what_is_read_is_what_happened(void **state) {
    (void)state;
    seen s = {calloc(40000, sizeof *s.events), 0};
    masu_trace *trace = new_trace(&s);
    assert_int_equal(masu_trace_record_to(trace, path, &(masu_record_config){.program = "unit test"}), MASU_OK);
    assert_int_equal(masu_trace_record_to(trace, path, NULL), MASU_ERR_INVALID_ARGUMENT);
    use_heap(trace, 8000, 64);
    masu_record_stats stats;
    assert_int_equal(masu_trace_record_end(trace, &stats), MASU_OK);
    masu_trace_destroy(trace);
    assert_int_equal(stats.events, s.count);
    assert_int_equal(stats.dropped, 0);

    masu__recording r;
    read_file(&r);
    assert_false(r.is_cut);
    assert_string_equal(masu__recording_text(&r, r.settings[0].value), "unit test");
    size_t at = 0, places = 0;
    for (size_t i = 0; i < s.count; i++) {
        const masu_event *from = &s.events[i];
        if (from->kind != MASU_EVENT_ALLOC && from->kind != MASU_EVENT_FREE && from->kind != MASU_EVENT_EXTENT_ADD)
            continue;
        while (r.events[at].kind != MASU__RECORDED_ALLOC && r.events[at].kind != MASU__RECORDED_FREE &&
               r.events[at].kind != MASU__RECORDED_SEGMENT_ADD)
            at++;
        const masu__recorded_event *to = &r.events[at++];
        assert_int_equal(to->address, from->address);
        assert_int_equal(to->bytes, from->bytes);
        assert_int_equal(to->given_bytes, from->block_bytes);
        assert_int_equal(r.pools[to->pool].number, from->pool);
        if (to->kind == MASU__RECORDED_ALLOC && to->place) {
            assert_non_null(strstr(masu__recording_text(&r, r.places[to->place].file), "trace_file_fixture.h"));
            places++;
        }
    }
    assert_true(places >= 8000);
    bool found[2] = {false, false};
    for (unsigned i = 1; i < r.pool_count; i++) {
        const char *layer = masu__recording_text(&r, r.pools[i].layer);
        assert_string_equal(masu__recording_text(&r, r.pools[i].name), "test heap");
        found[0] |= strcmp(layer, "best fit") == 0;
        if (strcmp(layer, "bucket") == 0) {
            found[1] = true;
            assert_string_equal(masu__recording_text(&r, r.pools[r.pools[i].below].layer), "best fit");
        }
    }
    assert_true(found[0] && found[1]);
    /* What the program asked for, and lives at the end: the kept blocks; slabs are not requests. */
    masu__lives lives;
    assert_int_equal(masu__lives_find(&r, &lives), MASU_OK);
    assert_int_equal(lives.strays, 0);
    assert_int_equal(lives.doubled, 0);
    masu__lives_destroy(&lives);
    masu__recording_destroy(&r);
    free(s.events);
}

/* Cut at every byte, it is read up to there, and says so. */
static void a_cut_file_is_read_up_to_the_cut(void **state) {
    (void)state;
    masu_trace *trace = new_trace(NULL);
    assert_int_equal(masu_trace_record_to(trace, path, NULL), MASU_OK);
    use_heap(trace, 60, 0);
    assert_int_equal(masu_trace_record_end(trace, NULL), MASU_OK);
    masu_trace_destroy(trace);
    bytes b = load();
    size_t before = 0;
    for (size_t length = 0; length <= b.length; length++) {
        unsigned char *exact = malloc(length + 1); /* a sanitizer sees every byte too many */
        memcpy(exact, b.data, length);
        masu__recording r;
        masu__recording_fault fault;
        masu_status status = masu__trace_read(exact, length, &r, &fault);
        if (length < 32) {
            assert_int_equal(status, MASU_ERR_SYNTAX);
        } else {
            assert_int_equal(status, MASU_OK);
            assert_int_equal(r.is_cut, length < b.length);
            assert_true(r.event_count >= before);
            assert_true(masu__recording_valid(&r));
            before = r.event_count;
            masu__recording_destroy(&r);
        }
        free(exact);
    }
    assert_true(before > 100);
    free(b.data);
}

static void damage_is_found_and_harms_nothing(void **state) {
    (void)state;
    masu_trace *trace = new_trace(NULL);
    assert_int_equal(masu_trace_record_to(trace, path, NULL), MASU_OK);
    use_heap(trace, 60, 0);
    assert_int_equal(masu_trace_record_end(trace, NULL), MASU_OK);
    masu_trace_destroy(trace);
    bytes b = load();
    for (size_t at = 0; at < b.length; at++) {
        b.data[at] ^= 0x41;
        masu__recording r;
        masu__recording_fault fault;
        masu_status status = masu__trace_read(b.data, b.length, &r, &fault);
        if (status == MASU_OK) {
            assert_true(masu__recording_valid(&r));
            assert_true(at < 32 || r.is_cut); /* the head says when, and by whom: any number is one */
            masu__recording_destroy(&r);
        } else {
            assert_int_equal(status, MASU_ERR_SYNTAX);
            assert_true(at < 12);
        }
        b.data[at] ^= 0x41;
    }
    free(b.data);
}

/* Marks, places with callers, pools of others: what record.h offers a program. */
static void a_program_says_what_it_does(void **state) {
    (void)state;
    masu_trace *trace = new_trace(NULL);
    uint32_t pool = masu_trace_add_pool(trace, "malloc", "glibc", 0);
    masu_trace_begin(trace, MASU_MARK_STEP, "not recorded yet");
    assert_int_equal(masu_trace_record_to(trace, path, NULL), MASU_OK);
    masu_trace_place(trace, 7, 0, "main.c", "main", 10);
    masu_trace_place(trace, 8, 7, "work.c", "work", 20);
    masu_trace_begin(trace, MASU_MARK_STEP, "first");
    masu_trace_put(trace, &(masu_event){.kind = MASU_EVENT_ALLOC,
                                        .pool = pool,
                                        .address = 4096,
                                        .bytes = 10,
                                        .block_bytes = 16,
                                        .alignment_bytes = 16});
    masu_trace_put(trace, &(masu_event){.kind = MASU_EVENT_REFUSED, .pool = pool, .bytes = 1u << 30});
    masu_trace_end(trace, MASU_MARK_STEP, "first");
    masu_trace_mark(trace, MASU_MARK_PLAN, "arena", 100, 120);
    masu_trace_destroy(trace); /* ends the recording */
    masu__recording r;
    read_file(&r);
    assert_false(r.is_cut);
    assert_int_equal(r.event_count, 5);
    assert_int_equal(r.events[0].kind, MASU__RECORDED_BEGIN);
    assert_int_equal(r.events[0].other, MASU__MARK_STEP);
    assert_string_equal(masu__recording_text(&r, r.events[0].text), "first");
    assert_string_equal(masu__recording_text(&r, r.pools[r.events[1].pool].layer), "malloc");
    assert_int_equal(r.events[1].alignment_log2, 4);
    assert_int_equal(r.events[2].kind, MASU__RECORDED_REFUSED);
    assert_int_equal(r.events[2].bytes, 1u << 30);
    assert_int_equal(r.events[2].address, 0);
    assert_int_equal(r.events[4].given_bytes, 120);
    assert_int_equal(r.place_count, 3);
    assert_int_equal(r.places[2].caller, 1);
    assert_string_equal(masu__recording_text(&r, r.places[2].function), "work");
    masu__recording_destroy(&r);
}

/* What lies in front of a heap is the program's request, and the heap's block below it is not. */
static void arenas_are_seen_with_their_lines(void **state) {
    (void)state;
    masu_trace *trace = new_trace(NULL);
    assert_int_equal(masu_trace_record_to(trace, path, NULL), MASU_OK);
    masu_heap_config config = masu_heap_config_default();
    config.trace = trace;
    masu_heap *heap;
    masu_arena *arena;
    assert_int_equal(masu_heap_create(&config, &heap), MASU_OK);
    masu_arena_config of_step = {.struct_bytes = sizeof of_step, .heap = heap, .trace = trace, .name = "of a step"};
    assert_int_equal(masu_arena_create(&of_step, &arena), MASU_OK);
    masu_trace_set_here(MASU_HERE);
    int line = __LINE__ - 1;
    assert_non_null(masu_arena_alloc(arena, 300, 0));
    masu_arena_mark mark = masu_arena_here(arena);
    assert_non_null(masu_arena_alloc(arena, 90000, 0)); /* a second piece, from the lower pool of the heap */
    masu_trace_set_here(NULL);
    assert_non_null(masu_arena_alloc(arena, 50, 0));
    assert_int_equal(masu_arena_release(arena, mark), MASU_OK);
    masu_arena_reset(arena);
    assert_int_equal(masu_arena_destroy(arena), MASU_OK);
    assert_int_equal(masu_heap_destroy(heap), MASU_OK);
    assert_int_equal(masu_trace_record_end(trace, NULL), MASU_OK);
    masu_trace_destroy(trace);

    masu__recording r;
    masu__lives lives;
    read_file(&r);
    assert_int_equal(masu__lives_find(&r, &lives), MASU_OK);
    assert_int_equal(lives.live_at_end + lives.strays + lives.doubled, 0);
    unsigned requests = 0, inner = 0;
    for (size_t i = 0; i < r.event_count; i++) {
        const masu__recorded_event *e = &r.events[i];
        if (e->kind != MASU__RECORDED_ALLOC)
            continue;
        inner += (e->flags & MASU__RECORDED_INNER) != 0;
        if (e->flags & MASU__RECORDED_INNER)
            continue;
        assert_string_equal(masu__recording_text(&r, r.pools[e->pool].layer), "arena");
        assert_string_equal(masu__recording_text(&r, r.pools[e->pool].name), "of a step");
        static const uint64_t sizes[] = {300, 90000, 50};
        assert_int_equal(e->bytes, sizes[requests]);
        assert_int_equal(r.places[e->place].line, requests < 2 ? line : 0);
        requests++;
    }
    assert_int_equal(requests, 3);
    assert_true(inner >= 2); /* the pieces, and slabs of the heap */
    masu__lives_destroy(&lives);
    masu__recording_destroy(&r);
}

static uint64_t since_1970(void) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* The head says when it began and in which process; each of 4,096 lines has a number of its own, those after them
 * are not known. */
static void the_head_and_very_many_lines(void **state) {
    (void)state;
    enum { KNOWN = 4096, LINES = KNOWN + 300 };
    masu_trace *trace = new_trace(NULL);
    uint64_t before = since_1970();
    assert_int_equal(masu_trace_record_to(trace, path, NULL), MASU_OK);
    uint64_t after = since_1970();
    masu_heap_config config = masu_heap_config_default();
    config.trace = trace;
    masu_heap *heap;
    void *block;
    assert_int_equal(masu_heap_create(&config, &heap), MASU_OK);
    for (int again = 0; again < 2; again++)
        for (int line = 1; line <= LINES; line++) {
            assert_int_equal(masu_heap_alloc_at(heap, 40, 0, &(masu_place){.file = "many.c", .line = line}, &block),
                             MASU_OK);
            assert_int_equal(masu_heap_free(heap, block, 40), MASU_OK);
        }
    masu_heap_destroy(heap);
    masu_trace_destroy(trace);
    bytes b = load();
    uint64_t process = 0;
    for (int i = 7; i >= 0; i--)
        process = process << 8 | b.data[24 + i];
    assert_int_equal(process, getpid());
    free(b.data);
    masu__recording r;
    read_file(&r);
    assert_true(before <= r.began_at_ns && r.began_at_ns <= after);
    unsigned seen = 0;
    for (size_t i = 0; i < r.event_count; i++) {
        const masu__recorded_event *e = &r.events[i];
        if (e->kind != MASU__RECORDED_ALLOC || e->flags & MASU__RECORDED_INNER)
            continue;
        unsigned line = seen++ % LINES + 1;
        assert_int_equal(r.places[e->place].line, line <= KNOWN ? line : 0);
    }
    assert_int_equal(seen, 2 * LINES);
    masu__recording_destroy(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(what_is_read_is_what_happened, begin, end),
        cmocka_unit_test_setup_teardown(a_cut_file_is_read_up_to_the_cut, begin, end),
        cmocka_unit_test_setup_teardown(damage_is_found_and_harms_nothing, begin, end),
        cmocka_unit_test_setup_teardown(a_program_says_what_it_does, begin, end),
        cmocka_unit_test_setup_teardown(arenas_are_seen_with_their_lines, begin, end),
        cmocka_unit_test_setup_teardown(the_head_and_very_many_lines, begin, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
