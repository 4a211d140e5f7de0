/* Snapshots that were made by hand: what stood before the first entry is found, the model follows the entries, and
 * where an entry is changed it says so. The real ones are in test_snapshot_data.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/meta.h"
#include "recording/recording.h"
#include "unit/recording/write_pickle.h"

#define MIB (1LL << 20)
#define LOW (1LL << 40)

static void read_all(masu__buffer *bytes, masu__recording *out) {
    masu__buffer why = {0};
    masu_status status = masu__snapshot_read(bytes->data, bytes->length, out, &why);
    if (status != MASU_OK)
        fail_msg("%d: %s", (int)status, masu__buffer_text(&why));
    assert_true(masu__recording_valid(out));
    masu__buffer_destroy(bytes);
}

static void expect_wrong(masu__buffer *bytes, const char *wanted) {
    masu__recording r;
    masu__buffer why = {0};
    assert_int_equal(masu__snapshot_read(bytes->data, bytes->length, &r, &why), MASU_ERR_INVALID_ARGUMENT);
    if (strcmp(masu__buffer_text(&why), wanted) != 0)
        fail_msg("`%s`, not `%s`", masu__buffer_text(&why), wanted);
    masu__buffer_destroy(&why);
    masu__buffer_destroy(bytes);
}

static void expect_followed(masu__recording *r, size_t steps, const char *why) {
    masu__torch_followed f;
    assert_int_equal(masu__torch_follow(r, NULL, &f), MASU_OK);
    if (f.parted != (*why != 0) || (*why && !strstr(masu__buffer_text(&f.why), why)))
        fail_msg("`%s`, not `%s`", masu__buffer_text(&f.why), why);
    if (!*why)
        assert_int_equal(f.steps, steps);
    masu__torch_followed_destroy(&f);
}

/* A block of 3 MiB that stood and goes, one of 2 MiB that stood and stays, one that comes, a segment that stood and
 * went. */
static void put_plain(masu__buffer *b, long long asked) {
    begin_snapshot(b);
    open_segment(b, LOW, 20 * MIB, 0, 0);
    put_block(b, LOW, 3 * MIB, 3 * MIB, 0);
    put_block(b, LOW + 3 * MIB, 2 * MIB, 2 * MIB - 100, 1);
    put_block(b, LOW + 5 * MIB, 15 * MIB, 15 * MIB, 1);
    close_segment(b);
    begin_traces(b);
    put_entry(b, "segment_free", LOW + 64 * MIB, 2 * MIB, 0, 10);
    put_entry(b, "free_requested", LOW, 3 * MIB, 0, 11);
    put_entry(b, "alloc", LOW + 5 * MIB, asked, 0,
              12); /* not into the hole of 3 MiB; the rest is too small to be cut */
    put_entry(b, "free_completed", LOW, 3 * MIB, 0, 13);
    end_snapshot(b, -1, 0);
}

static void finds_what_stood(void **state) {
    (void)state;
    masu__buffer bytes = {0};
    masu__recording r;
    put_plain(&bytes, 14 * MIB + 512);
    /* The last block is 15 MiB as the file has it, but was asked for with 14 MiB and 512 bytes. */
    read_all(&bytes, &r);
    assert_int_equal(r.standing_count, 4);
    assert_int_equal(r.events[0].kind, MASU__RECORDED_SEGMENT_ADD);
    assert_int_equal(r.events[0].address, LOW);
    assert_int_equal(r.events[1].kind, MASU__RECORDED_SEGMENT_ADD);
    assert_int_equal(r.events[1].address, LOW + 64 * MIB);
    assert_int_equal(r.events[2].address, LOW + 3 * MIB);
    assert_int_equal(r.events[2].bytes, 2 * MIB - 100);
    assert_int_equal(r.events[3].address, LOW);
    assert_int_equal(r.events[3].bytes, 3 * MIB);
    assert_int_equal(r.event_count, 8);
    assert_int_equal(r.events[4].kind, MASU__RECORDED_SEGMENT_DROP);
    assert_int_equal(r.events[7].time_ns, 3000);
    assert_int_equal(r.began_at_ns, 10000);
    masu__lives lives;
    assert_int_equal(masu__lives_find(&r, &lives), MASU_OK);
    assert_true(lives.strays == 0 && lives.doubled == 0 && lives.live_at_end == 2 && lives.of[3] == 7);
    masu__lives_destroy(&lives);
    expect_followed(&r, 2, "");
    assert_int_equal(r.events[6].given_bytes, 15 * MIB); /* the reader has asked the model already */
    uint64_t given[8] = {0};
    masu__torch_followed f;
    assert_int_equal(masu__torch_follow(&r, given, &f), MASU_OK);
    assert_int_equal(given[6], 15 * MIB);
    assert_int_equal(given[2], 2 * MIB);
    assert_int_equal(f.stats.peak_reserved_bytes, 22 * MIB);
    masu__torch_followed_destroy(&f);
    masu__recording_destroy(&r);
}

static void parts_where_an_entry_is_changed(void **state) {
    (void)state;
    masu__buffer bytes = {0};
    masu__recording r;
    put_plain(&bytes, 4 * MIB);
    read_all(&bytes, &r);
    expect_followed(&r, 0,
                    "at the end: recorded is alloc of 15728640 bytes at 0x10000500000, the model has alloc of 4194304");
    masu__recording_destroy(&r);

    begin_snapshot(&bytes); /* 3 MiB fit into the hole of 4 MiB before */
    open_segment(&bytes, LOW, 20 * MIB, 0, 0);
    put_block(&bytes, LOW, 4 * MIB, 0, 0);
    put_block(&bytes, LOW + 4 * MIB, 2 * MIB, 2 * MIB, 1);
    put_block(&bytes, LOW + 6 * MIB, 3 * MIB, 3 * MIB, 1);
    put_block(&bytes, LOW + 9 * MIB, 11 * MIB, 0, 0);
    close_segment(&bytes);
    begin_traces(&bytes);
    put_entry(&bytes, "alloc", LOW + 6 * MIB, 3 * MIB, 0, 1);
    end_snapshot(&bytes, -1, 0);
    read_all(&bytes, &r);
    expect_followed(&r, 0, "the model serves at 0x10000000000 (4194304 bytes), recorded is alloc at 0x10000600000");
    masu__recording_destroy(&r);

    begin_snapshot(&bytes); /* when one goes back, all that are free do */
    open_segment(&bytes, LOW, 20 * MIB, 0, 0);
    put_block(&bytes, LOW, 20 * MIB, 0, 0);
    close_segment(&bytes);
    begin_traces(&bytes);
    put_entry(&bytes, "segment_free", LOW + 32 * MIB, 20 * MIB, 0, 1);
    end_snapshot(&bytes, -1, 0);
    read_all(&bytes, &r);
    expect_followed(
        &r, 0,
        "the model gives a segment back at 0x10000000000 (20971520 bytes), recorded is segment-drop at 0x10002000000");
    masu__recording_destroy(&r);

    begin_snapshot(&bytes); /* no segment at the end */
    begin_traces(&bytes);
    put_entry(&bytes, "segment_alloc", LOW, 2 * MIB, 0, 1);
    put_entry(&bytes, "alloc", LOW, 512, 0, 2);
    end_snapshot(&bytes, 0, -1);
    read_all(&bytes, &r);
    expect_followed(&r, 2, ""); /* nothing is known of its end: nothing to compare */
    masu__recording_destroy(&r);

    begin_snapshot(&bytes); /* the segment of a small request is 2 MiB */
    begin_traces(&bytes);
    put_entry(&bytes, "segment_alloc", LOW, 20 * MIB, 0, 1);
    put_entry(&bytes, "alloc", LOW, 512, 0, 2);
    end_snapshot(&bytes, 0, -1);
    read_all(&bytes, &r);
    expect_followed(&r, 0, "the model takes a segment at 0x10000000000 (2097152 bytes), recorded is segment-add");
    masu__recording_destroy(&r);
}

static void put_expanding(masu__buffer *b) {
    begin_snapshot(b);
    open_segment(b, LOW, 40 * MIB, 0, 1);
    put_block(b, LOW, 4 * MIB, 4 * MIB, 1);
    put_block(b, LOW + 4 * MIB, 31 * MIB, 31 * MIB, 1);
    put_block(b, LOW + 35 * MIB, 5 * MIB, 0, 0);
    close_segment(b);
    open_segment(b, LOW + 8192 * MIB, 2 * MIB, 1, 1);
    put_block(b, LOW + 8192 * MIB, 512, 400, 1);
    put_block(b, LOW + 8192 * MIB + 512, 2 * MIB - 512, 0, 0);
    close_segment(b);
    begin_traces(b);
    put_entry(b, "free_requested", LOW + 4 * MIB, 16 * MIB, 0, 1); /* stood: 4 + 16 of 20 MiB */
    put_entry(b, "free_completed", LOW + 4 * MIB, 16 * MIB, 0, 1);
    put_entry(b, "segment_map", LOW + 20 * MIB, 20 * MIB, 0, 2); /* 16 are free, 15 more are wanted */
    put_entry(b, "alloc", LOW + 4 * MIB, 31 * MIB, 0, 3);
    put_entry(b, "segment_map", LOW + 8192 * MIB, 2 * MIB, 0, 4);
    put_entry(b, "alloc", LOW + 8192 * MIB, 400, 0, 5);
    end_snapshot(b, 1, -1);
}

static void follows_expandable_segments(void **state) {
    (void)state;
    masu__buffer bytes = {0};
    masu__recording r;
    put_expanding(&bytes);
    read_all(&bytes, &r);
    assert_int_equal(r.standing_count, 4); /* a segment, its first page, two blocks */
    assert_true(r.events[0].flags & MASU__RECORDED_EXPANDABLE);
    assert_int_equal(r.events[1].kind, MASU__RECORDED_MAP);
    assert_int_equal(r.events[1].given_bytes, 20 * MIB);
    expect_followed(&r, 4, "");
    masu__recording_destroy(&r);
}

static void several_devices_and_oom(void **state) {
    (void)state;
    masu__buffer bytes = {0};
    masu__recording r;
    begin_snapshot(&bytes);
    begin_traces(&bytes);
    put_entry(&bytes, "segment_alloc", LOW, 2 * MIB, 0, 5);
    put_entry(&bytes, "alloc", LOW, 512, 0, 5);
    put_entry(&bytes, "oom", 123, 7 * MIB, 3, 9);
    next_device(&bytes);
    put_entry(&bytes, "segment_alloc", LOW, 2 * MIB, 9, 4);
    put_entry(&bytes, "alloc", LOW, 512, 9, 6);
    put_entry(&bytes, "snapshot", 0, 0, 0, 7);
    end_snapshot(&bytes, 0, -1);
    read_all(&bytes, &r);
    assert_int_equal(r.event_count, 6);
    static const uint64_t devices[] = {1, 0, 0, 1, 1, 0};
    for (size_t i = 0; i < 6; i++)
        assert_int_equal(r.devices[r.events[i].device].number, devices[i]);
    assert_string_equal(masu__recording_text(&r, r.devices[r.events[0].device].name), "cuda:1");
    assert_int_equal(r.streams[r.events[3].stream].handle, 9);
    assert_int_equal(r.events[4].kind, MASU__RECORDED_MARK);
    assert_int_equal(r.events[5].kind, MASU__RECORDED_REFUSED);
    assert_int_equal(r.events[5].bytes, 7 * MIB);
    assert_int_equal(r.events[5].other, 123);
    expect_followed(&r, 4, "");
    masu__recording_destroy(&r);
}

static void put_frame(masu__buffer *b, const char *name, const char *file, int line) {
    open_dict(b);
    put_word(b, "name", name);
    put_word(b, "filename", file);
    put_number(b, "line", line);
    close_dict(b);
}

/* The recorder's own frames are left out, compiled code has a function only, and a stack that is used twice is kept
 * once. */
static void places_are_those_of_the_program(void **state) {
    (void)state;
    masu__buffer b = {0};
    masu__recording r;
    begin_snapshot(&b);
    begin_traces(&b);
    for (int i = 0; i < 2; i++) {
        open_dict(&b);
        put_word(&b, "action", i ? "free_completed" : "alloc");
        put_number(&b, "addr", LOW);
        put_number(&b, "size", 512);
        put_text(&b, "frames");
        open_list(&b);
        put_frame(&b, "torch::unwind::unwind()", "??", 0);
        put_frame(&b, "malloc_block(int)", "CUDACachingAllocator.cpp", 0);
        put_frame(&b, "forward", "net.py", 30);
        put_frame(&b, "<module>", "train.py", 9);
        close_list(&b);
        close_dict(&b);
    }
    end_snapshot(&b, -1, 0);
    read_all(&b, &r);
    assert_int_equal(r.place_count, 4); /* not known, and three */
    assert_int_equal(r.events[0].place, r.events[1].place);
    static const char *const wanted[] = {"|malloc_block(int)|0", "net.py|forward|30", "train.py|<module>|9"};
    uint32_t at = r.events[0].place;
    for (size_t i = 0; i < 3; i++, at = r.places[at].caller) {
        char shown[100];
        snprintf(shown, sizeof shown, "%s|%s|%u", masu__recording_text(&r, r.places[at].file),
                 masu__recording_text(&r, r.places[at].function), r.places[at].line);
        assert_string_equal(shown, wanted[i]);
    }
    assert_int_equal(at, 0);
    masu__recording_destroy(&r);
}

static void says_what_is_wrong(void **state) {
    (void)state;
    masu__buffer b = {0};
    put_begin(&b), open_list(&b), close_list(&b), put_end(&b);
    expect_wrong(&b,
                 "a pickle, but not a memory snapshot: a dict with `segments` and `device_traces` was expected, as "
                 "torch.cuda.memory._dump_snapshot writes it");
    begin_snapshot(&b), open_segment(&b, LOW, 20 * MIB, 0, 0), put_block(&b, LOW, 3 * MIB, 3 * MIB, 1),
        close_segment(&b);
    begin_traces(&b), end_snapshot(&b, -1, 0);
    expect_wrong(&b, "segments[0]: its blocks have 3145728 bytes, and total_size is 20971520");
    begin_snapshot(&b), open_segment(&b, LOW, 20 * MIB, 0, 0), put_block(&b, LOW + 512, 3 * MIB, 3 * MIB, 1),
        close_segment(&b);
    begin_traces(&b), end_snapshot(&b, -1, 0);
    expect_wrong(&b, "segments[0].blocks[0]: the block does not lie behind the one before it, inside its segment");
    begin_snapshot(&b), begin_traces(&b), put_entry(&b, "dance", LOW, 1, 0, 0), end_snapshot(&b, -1, 0);
    expect_wrong(&b, "device_traces[0].entry[0]: action `dance` is not known");
    begin_snapshot(&b), begin_traces(&b), put_entry(&b, "alloc", LOW, -1, 0, 0), end_snapshot(&b, -1, 0);
    expect_wrong(&b, "device_traces[0].entry[0].size: -1 is below 0");
    begin_snapshot(&b), begin_traces(&b), put_text(&b, "x"), end_snapshot(&b, -1, 0);
    expect_wrong(&b, "device_traces[0].entry[0]: not a dict, so that it has no `action`");
    begin_snapshot(&b), begin_traces(&b), put_entry(&b, "alloc", -4, 512, 0, 0), end_snapshot(&b, -1, 0);
    expect_wrong(&b, "device_traces[0].entry[0].addr: -4 is below 0");
    begin_snapshot(&b), begin_traces(&b), put_entry(&b, "segment_alloc", LOW, 1LL << 62, 0, 0), end_snapshot(&b, -1, 0);
    expect_wrong(
        &b, "device_traces[0].entry[0]: 4611686018427387904 bytes at 1099511627776 run over the end of all addresses");
    for (int twice = 0; twice < 2; twice++) {
        if (!twice)
            begin_snapshot(&b);
        open_segment(&b, LOW + twice * MIB, 2 * MIB, 1, 0), put_block(&b, LOW + twice * MIB, 2 * MIB, 0, 0),
            close_segment(&b);
    }
    begin_traces(&b), end_snapshot(&b, -1, 0);
    expect_wrong(&b, "two segments share address 1099512676352");
}

/* One entry that is a million entries: the file is small, so that the reader stops. */
static void shared_lists_are_bounded(void **state) {
    (void)state;
    masu__buffer b = {0};
    put_begin(&b), open_dict(&b), put_text(&b, "segments"), open_list(&b), close_list(&b),
        put_text(&b, "device_traces");
    masu__buffer_puts(&b, "](]\x94(");
    put_entry(&b, "alloc", LOW, 512, 0, 1);
    masu__buffer_puts(&b, "\x94");
    for (int i = 0; i < 500; i++)
        masu__buffer_append(&b, "h\1", 2);
    close_list(&b);
    for (int i = 0; i < 200; i++)
        masu__buffer_append(&b, "h\0", 2);
    close_list(&b), close_dict(&b), put_end(&b);
    masu__recording r;
    masu__buffer why = {0};
    assert_int_equal(masu__snapshot_read(b.data, b.length, &r, &why), MASU_ERR_INVALID_ARGUMENT);
    assert_non_null(strstr(masu__buffer_text(&why), "more entries than the file has bytes"));
    masu__buffer_destroy(&why);
    masu__buffer_destroy(&b);
}

static void survives_without_memory(void **state) {
    (void)state;
    masu__buffer bytes = {0};
    put_expanding(&bytes);
    uint64_t before = masu__meta_live_blocks();
    for (uint64_t nth = 1;; nth++) {
        masu__recording r;
        masu__buffer why = {0};
        masu__torch_followed f;
        masu__fault_arm(nth);
        masu_status status = masu__snapshot_read(bytes.data, bytes.length, &r, &why);
        masu_status followed = status == MASU_OK ? masu__torch_follow(&r, NULL, &f) : status;
        bool fired = masu__fault_fired();
        masu__fault_arm(0);
        assert_int_equal(followed, fired ? MASU_ERR_OUT_OF_MEMORY : MASU_OK);
        if (followed == MASU_OK)
            masu__torch_followed_destroy(&f);
        if (status == MASU_OK)
            masu__recording_destroy(&r);
        masu__buffer_destroy(&why);
        assert_int_equal(masu__meta_live_blocks(), before);
        if (!fired)
            break;
    }
    masu__buffer_destroy(&bytes);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_what_stood),
        cmocka_unit_test(parts_where_an_entry_is_changed),
        cmocka_unit_test(follows_expandable_segments),
        cmocka_unit_test(several_devices_and_oom),
        cmocka_unit_test(places_are_those_of_the_program),
        cmocka_unit_test(says_what_is_wrong),
        cmocka_unit_test(shared_lists_are_bounded),
        cmocka_unit_test(survives_without_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
