/* The page of a running program (masu/publish.h) and its reader: a state is seen whole or not at all; what is cut,
 * damaged, of another version or no page is said so; what is not a page is never replaced; a child of fork leaves all
 * alone. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <masu/masu.h>

#include "base/rng.h"
#include "tool/top/top.h"

static char path[64];
static top_page page;

static int set_up(void **state) {
    (void)state;
    snprintf(path, sizeof path, "/tmp/masu-test-page-%ld", (long)getpid());
    unlink(path);
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    unlink(path);
    return 0;
}

static masu_publisher *begin(unsigned period_ms) {
    masu_publisher *publisher;
    masu_publish_config config = {
        .struct_bytes = sizeof config, .path = path, .program = "a test", .period_ms = period_ms};
    assert_int_equal(masu_publish_begin(&config, &publisher), MASU_OK);
    return publisher;
}

static void is_bad(const char *expected) {
    const char *why;
    memset(&page, 7, sizeof page);
    assert_int_equal(top_page_read(path, &page, &why), TOP_BAD);
    assert_non_null(strstr(why, expected));
    assert_int_equal(page.now.source_count, 0x07070707);
}

static void is_read(void) {
    const char *why;
    assert_int_equal(top_page_read(path, &page, &why), TOP_READ);
}

/* ---- what is there ----------------------------------------------------------------------------------------------- */

static void a_heap_is_seen_as_it_is(void **state) {
    (void)state;
    masu_heap *heap;
    void *block;
    masu_heap_config config = masu_heap_config_default();
    assert_int_equal(masu_heap_create(&config, &heap), MASU_OK);
    masu_publisher *publisher = begin(1000000);
    assert_int_equal(masu_publish_heap(publisher, heap, "a\nserver"), MASU_OK);
    assert_int_equal(masu_heap_alloc(heap, 300000, 0, &block), MASU_OK);
    masu_publish_now(publisher);
    is_read();
    assert_string_equal(page.head.program, "a test");
    assert_int_equal(page.head.process, getpid());
    assert_int_equal(page.now.state, MASU__PAGE_RUNS);
    assert_int_equal(page.now.source_count, 1);
    assert_string_equal(page.sources[0].name, "a?server");
    masu_stats stats = {.struct_bytes = sizeof stats};
    assert_int_equal(masu_stats_get(heap, &stats), MASU_OK);
    assert_memory_equal(&page.sources[0].stats, &stats, sizeof stats);
    assert_int_equal(stats.heap.live_bytes, 300000);

    masu_publish_drop(publisher, heap);
    is_read();
    assert_int_equal(page.now.source_count, 0);
    assert_int_equal(masu_heap_free(heap, block, 300000), MASU_OK);
    assert_int_equal(masu_heap_destroy(heap), MASU_OK);
    masu_publish_end(publisher);
    is_read();
    assert_int_equal(page.now.state, MASU__PAGE_ENDED);
}

static masu_status fill_all(void *context, masu_stats *out) {
    uint64_t *turn = context, *number = &out->heap.allocations;
    ++*turn;
    for (size_t i = 0; i < sizeof out->heap / sizeof *number; i++)
        number[i] = *turn;
    return MASU_OK;
}

/* Every state has one number everywhere in a source, and all sources keep their distance. */
static void a_state_is_whole(void **state) {
    (void)state;
    uint64_t turns[MASU_PUBLISH_SOURCES] = {0};
    unsigned different = 0;
    masu_publisher *publisher = begin(10);
    for (int i = 0; i < MASU_PUBLISH_SOURCES; i++)
        assert_int_equal(masu_publish_source(publisher, "x", fill_all, &turns[i]), MASU_OK);
    assert_int_equal(masu_publish_source(publisher, "x", fill_all, &turns[0]), MASU_ERR_LIMIT_REACHED);
    pid_t writer = fork();
    if (writer == 0) { /* another process reads, so that both really run at once */
        uint64_t last = 0, behind[MASU_PUBLISH_SOURCES] = {0};
        const char *why;
        for (int i = 0; i < 100000 && different < 50; i++) {
            if (top_page_read(path, &page, &why) != TOP_READ)
                continue;
            uint64_t ahead = page.sources[0].stats.heap.allocations;
            for (uint32_t k = 0; k < page.now.source_count; k++) {
                const uint64_t *number = &page.sources[k].stats.heap.allocations;
                behind[k] = last ? behind[k] : ahead - *number; /* it came later, by so many turns */
                for (size_t n = 0; n < sizeof page.sources[k].stats.heap / 8; n++)
                    if (number[n] != ahead - behind[k] || ahead < last)
                        _exit(1);
            }
            different += ahead != last;
            last = ahead;
        }
        _exit(different < 50 ? 2 : 0);
    }
    int status = 0;
    while (waitpid(writer, &status, WNOHANG) == 0) {
        masu_publish_now(publisher);
        usleep(100);
    }
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
    masu_publish_end(publisher);
}

/* ---- what is not there ------------------------------------------------------------------------------------------- */

static void write_file(const void *bytes, size_t count) {
    int file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    assert_true(file >= 0);
    assert_int_equal(write(file, bytes, count), count);
    close(file);
}

enum {
    PAGE_BYTES = sizeof(masu__page_head) + sizeof(masu__page_now) + MASU_PUBLISH_SOURCES * sizeof(masu__page_source) + 8
};
static unsigned char image[PAGE_BYTES + 100];

static void take_image(void) {
    uint64_t turn = 0;
    masu_publisher *publisher = begin(0);
    assert_int_equal(masu_publish_source(publisher, "one", fill_all, &turn), MASU_OK);
    masu_publish_end(publisher);
    int file = open(path, O_RDONLY);
    assert_int_equal(read(file, image, sizeof image), PAGE_BYTES);
    close(file);
}

static void bad_pages_are_told_apart(void **state) {
    (void)state;
    const char *why;
    assert_int_equal(top_page_read(path, &page, &why), TOP_ABSENT);
    write_file("", 0);
    is_bad("not a page");
    write_file("#!/bin/sh\n", 10);
    is_bad("not a page");
    unlink(path);
    take_image();
    masu__page_head *head = (masu__page_head *)image;
    for (size_t bytes = sizeof *head; bytes < PAGE_BYTES; bytes += 97) {
        write_file(image, bytes);
        is_bad("cut off");
    }
    head->version++;
    write_file(image, PAGE_BYTES);
    is_bad("another version");
    head->version--;
    head->source_bytes = 3;
    write_file(image, PAGE_BYTES);
    is_bad("damaged");
    head->source_bytes = sizeof(masu__page_source);
    image[sizeof *head]++; /* begin is ahead of end: its writer died there */
    write_file(image, PAGE_BYTES);
    assert_int_equal(top_page_read(path, &page, &why), TOP_TORN);
    unlink(path);
    assert_int_equal(mkfifo(path, 0600), 0);
    is_bad("not a file");
    unlink(path);
    assert_int_equal(mkdir(path, 0700), 0);
    is_bad("not a file");
    rmdir(path);
}

/* Fields were added behind each part, or are not there yet. */
static void later_and_earlier_pages_are_read(void **state) {
    (void)state;
    unlink(path);
    take_image();
    const masu__page_head *was = (const masu__page_head *)image;
    for (int grown = -8; grown <= 8; grown += 16) {
        static unsigned char other[2 * PAGE_BYTES];
        masu__page_head head = *was;
        size_t at = head.head_bytes;
        head.now_bytes += (uint32_t)grown;
        head.source_bytes += (uint32_t)grown;
        memset(other, 0xee, sizeof other);
        memcpy(other, &head, sizeof head);
        size_t now = grown < 0 ? head.now_bytes : was->now_bytes,
               source = grown < 0 ? head.source_bytes : was->source_bytes;
        memcpy(other + at, image + at, now);
        memcpy(other + at + head.now_bytes, image + at + was->now_bytes, source);
        size_t end = at + head.now_bytes + (size_t)head.source_capacity * head.source_bytes;
        memcpy(other + end, image + PAGE_BYTES - 8, 8);
        unlink(path);
        write_file(other, end + 8);
        is_read();
        assert_int_equal(page.now.source_count, 1);
        assert_string_equal(page.sources[0].name, "one");
        assert_int_equal(page.sources[0].stats.heap.metadata_bytes, page.sources[0].stats.heap.allocations);
        assert_int_equal(page.sources[0].stats.device_peak_bytes, 0);
    }
}

/* Any bytes: it ends, within its memory, and what it reads is within bounds. */
static void any_bytes_are_survived(void **state) {
    (void)state;
    static unsigned char other[PAGE_BYTES];
    masu__rng rng;
    const char *why;
    unsigned read = 0;
    unlink(path);
    take_image();
    masu__rng_seed(&rng, 20);
    for (int i = 0; i < 400; i++) {
        memcpy(other, image, sizeof other);
        unsigned changes = 1 + (unsigned)(masu__rng_next(&rng) % 8);
        for (unsigned k = 0; k < changes; k++)
            other[masu__rng_next(&rng) % (k % 2 ? sizeof(masu__page_head) : 400)] = (unsigned char)masu__rng_next(&rng);
        write_file(other, sizeof other - masu__rng_next(&rng) % 2 * (masu__rng_next(&rng) % sizeof other));
        if (top_page_read(path, &page, &why) != TOP_READ)
            continue;
        read++;
        assert_true(page.now.source_count <= MASU_PUBLISH_SOURCES);
        assert_true(strnlen(page.head.program, sizeof page.head.program) < sizeof page.head.program);
    }
    assert_true(read > 10);
}

/* ---- what is replaced, and by whom ------------------------------------------------------------------------------- */

static void what_is_not_a_page_stays(void **state) {
    (void)state;
    masu_publisher *publisher;
    masu_publish_config config = {.struct_bytes = sizeof config, .path = path};
    write_file("my thesis", 9);
    assert_int_equal(masu_publish_begin(&config, &publisher), MASU_ERR_INVALID_ARGUMENT);
    assert_null(publisher);
    struct stat what;
    assert_int_equal(stat(path, &what), 0);
    assert_int_equal(what.st_size, 9);
    unlink(path);
    assert_int_equal(symlink("/dev/null", path), 0);
    assert_int_equal(masu_publish_begin(&config, &publisher), MASU_ERR_INVALID_ARGUMENT);
    unlink(path);
    config.path = "/dev/null";
    assert_int_equal(masu_publish_begin(&config, &publisher), MASU_ERR_INVALID_ARGUMENT);
    config.path = "/no/such/folder/page";
    assert_int_equal(masu_publish_begin(&config, &publisher), MASU_ERR_IO);
    config.struct_bytes = 0;
    assert_int_equal(masu_publish_begin(&config, &publisher), MASU_ERR_INVALID_ARGUMENT);
    masu_publish_end(begin(0));
    masu_publish_end(begin(0)); /* an old page is replaced */
    masu_publish_end(NULL);
    assert_int_equal(masu_publish_heap(NULL, NULL, "x"), MASU_OK);
}

static void a_child_leaves_it_alone(void **state) {
    (void)state;
    uint64_t turn = 0;
    masu_publisher *publisher = begin(0);
    pid_t child = fork();
    if (child == 0) {
        masu_publish_source(publisher, "of the child", fill_all, &turn);
        masu_publish_now(publisher);
        masu_publish_end(publisher);
        _exit(0);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    is_read();
    assert_int_equal(page.now.source_count, 0);
    assert_int_equal(page.now.state, MASU__PAGE_RUNS);
    masu_publish_end(publisher);
}

/* Somebody cuts the file, and removes it: the program goes on. */
static void a_cut_page_harms_no_program(void **state) {
    (void)state;
    masu_publisher *publisher = begin(10);
    for (int i = 0; i < 5; i++) {
        assert_int_equal(truncate(path, 0), 0);
        masu_publish_now(publisher);
        is_bad("not a page");
    }
    unlink(path);
    masu_publish_now(publisher);
    masu_publish_end(publisher);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_heap_is_seen_as_it_is, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_state_is_whole, set_up, tear_down),
        cmocka_unit_test_setup_teardown(bad_pages_are_told_apart, set_up, tear_down),
        cmocka_unit_test_setup_teardown(later_and_earlier_pages_are_read, set_up, tear_down),
        cmocka_unit_test_setup_teardown(any_bytes_are_survived, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_is_not_a_page_stays, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_child_leaves_it_alone, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_cut_page_harms_no_program, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
