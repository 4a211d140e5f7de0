/* A trace on disk: what is read is what happened; it can be cut anywhere; drops are counted; a fork and a killed
 * process leave a readable file. */
#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include <masu/masu.h>

#include "base/lock.h"
#include "base/meta.h"
#include "base/rng.h"
#include "recording/recording.h"

static char path[64];

static int begin(void **state) {
    (void)state;
    strcpy(path, "/tmp/masu-trace-XXXXXX");
    int file = mkstemp(path);
    return file < 0 || close(file);
}

static int end(void **state) {
    (void)state;
    unlink(path);
    return masu__meta_live_blocks() == 0 ? 0 : -1;
}

typedef struct bytes {
    unsigned char *data;
    size_t length;
} bytes;

static bytes load(void) {
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    bytes b = {malloc(1 << 22), 0};
    assert_non_null(b.data);
    b.length = fread(b.data, 1, 1 << 22, file);
    assert_true(b.length < 1 << 22);
    fclose(file);
    return b;
}

static void read_file(masu__recording *out) {
    bytes b = load();
    masu__recording_fault fault;
    assert_int_equal(masu__trace_read(b.data, b.length, out, &fault), MASU_OK);
    assert_true(masu__recording_valid(out));
    free(b.data);
}

/* Every block of the heap is asked for and given back in some order; `kept` stay. */
static void use_heap(masu_trace *trace, unsigned rounds, unsigned kept) {
    masu_heap_config config = masu_heap_config_default();
    config.trace = trace;
    config.name = "test heap";
    masu_heap *heap;
    assert_int_equal(masu_heap_create(&config, &heap), MASU_OK);
    masu__rng rng;
    masu__rng_seed(&rng, 3);
    void *blocks[64] = {NULL};
    size_t sizes[64];
    for (unsigned i = 0; i < rounds; i++) {
        unsigned k = (unsigned)masu__rng_below(&rng, 64);
        if (blocks[k])
            assert_int_equal(masu_heap_free(heap, blocks[k], sizes[k]), MASU_OK);
        sizes[k] = 1 + masu__rng_below(&rng, i % 8 ? 4000 : 200000);
        assert_int_equal(masu_heap_alloc_at(heap, sizes[k], 0, MASU_HERE, &blocks[k]), MASU_OK);
    }
    for (unsigned k = kept; k < 64; k++)
        if (blocks[k])
            assert_int_equal(masu_heap_free(heap, blocks[k], sizes[k]), MASU_OK);
    masu_heap_destroy(heap);
}

typedef struct seen {
    masu_event *events;
    size_t count;
} seen;

static void see(void *context, const masu_event *event) {
    seen *s = context;
    s->events[s->count++] = *event;
}

static masu_trace *new_trace(seen *s) {
    masu_trace *trace;
    masu_trace_config config = {.sink = s ? see : NULL, .sink_context = s};
    assert_int_equal(masu_trace_create(&config, &trace), MASU_OK);
    return trace;
}

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
            assert_non_null(strstr(masu__recording_text(&r, r.places[to->place].file), "test_trace_file.c"));
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

/* So many events that the writer is behind at some moment, on a slow build too. */
static void use_until_behind(masu_trace *trace) {
    masu_record_stats stats = {0};
    for (int round = 0; round < 50 && stats.dropped + stats.waits == 0; round++) {
        use_heap(trace, 30000, 0);
        masu_trace_record_get_stats(trace, &stats);
    }
}

static void what_is_dropped_is_said(void **state) {
    (void)state;
    masu_trace *trace = new_trace(NULL);
    masu_record_config config = {.ring_records = 64, .when_full = MASU_RECORD_DROPS};
    assert_int_equal(masu_trace_record_to(trace, path, &config), MASU_OK);
    use_until_behind(trace);
    masu_record_stats stats;
    assert_int_equal(masu_trace_record_end(trace, &stats), MASU_OK);
    masu_trace_destroy(trace);
    masu__recording r;
    read_file(&r);
    assert_true(stats.dropped > 0);
    assert_int_equal(r.lost_events, stats.dropped); /* those at the end too */
    masu__recording_destroy(&r);
}

static void a_small_ring_waits_and_loses_nothing(void **state) {
    (void)state;
    masu_trace *trace = new_trace(NULL);
    assert_int_equal(masu_trace_record_to(trace, path, &(masu_record_config){.ring_records = 64}), MASU_OK);
    use_until_behind(trace);
    masu_record_stats stats;
    assert_int_equal(masu_trace_record_end(trace, &stats), MASU_OK);
    masu_trace_destroy(trace);
    masu__recording r;
    read_file(&r);
    assert_int_equal(stats.dropped, 0);
    assert_true(stats.waits > 0);
    assert_int_equal(r.lost_events, 0);
    masu__recording_destroy(&r);
}

static unsigned threads_at_first; /* a sanitizer has one of its own */

static unsigned count_threads(void) {
    unsigned count = 0;
    DIR *tasks = opendir("/proc/self/task");
    assert_non_null(tasks);
    for (struct dirent *task; (task = readdir(tasks));)
        count += task->d_name[0] != '.';
    closedir(tasks);
    return count;
}

/* Whether there are so many more than at the beginning; one that was joined is still seen for a moment. */
static bool has_more_threads(unsigned more) {
    for (int i = 0; i < 200; i++) {
        if (count_threads() == threads_at_first + more)
            return true;
        usleep(10000);
    }
    return false;
}

static void *no_work(void *nothing) {
    return nothing;
}

/* Where the C library does not say that there is one thread, a sanitizer begins its own with the first. */
static void count_at_first(void) {
    pthread_t thread;
    if (!MASU__ALONE && pthread_create(&thread, NULL, no_work, NULL) == 0) {
        pthread_join(thread, NULL);
        usleep(100000);
    }
    threads_at_first = count_threads();
}

static void *wait_for_end(void *lock) {
    pthread_mutex_lock(lock);
    pthread_mutex_unlock(lock);
    return NULL;
}

/* Events follow each other without a gap: each block that goes is one that came. */
static void is_all_of(uint64_t events) {
    masu__recording r;
    masu__lives lives;
    read_file(&r);
    assert_false(r.is_cut);
    assert_int_equal(r.lost_events, 0);
    assert_int_equal(r.event_count, events);
    assert_int_equal(masu__lives_find(&r, &lives), MASU_OK);
    assert_int_equal(lives.live_at_end + lives.strays + lives.doubled, 0);
    masu__lives_destroy(&lives);
    masu__recording_destroy(&r);
}

/* A process of one thread stays one, and nothing waits in it; once it has a second, a writer takes over. Must be the
 * first test: the C library never says again that there is one thread. */
static void a_program_of_one_thread_is_its_own_writer(void **state) {
    (void)state;
    masu_trace *trace = new_trace(NULL);
    masu_record_stats stats;
    bool alone = MASU__ALONE; /* false where nothing says so, as under ThreadSanitizer */
    assert_int_equal(masu_trace_record_to(trace, path, NULL), MASU_OK);
    use_heap(trace, 30000, 0); /* more than all rings hold */
    assert_true(has_more_threads(alone ? 0 : 1));
    masu_trace_record_get_stats(trace, &stats);
    assert_true(stats.events > 30000 && stats.dropped == 0 && (!alone || stats.waits == 0));
    assert_true(!alone || stats.written_bytes > 250000);

    pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    pthread_t other;
    pthread_mutex_lock(&lock);
    assert_int_equal(pthread_create(&other, NULL, wait_for_end, &lock), 0);
    usleep(60000);
    use_heap(trace, 30000, 0);
    assert_true(has_more_threads(2));
    pthread_mutex_unlock(&lock);
    pthread_join(other, NULL);
    use_heap(trace, 3000, 0);
    assert_int_equal(masu_trace_record_end(trace, &stats), MASU_OK);
    assert_true(has_more_threads(0));
    masu_trace_destroy(trace);
    is_all_of(stats.events);
}

/* The file of a child that was killed: a recording that is cut, with so many events at least. */
static void read_killed(pid_t child, uint64_t events, masu__recording *r) {
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status));
    read_file(r);
    assert_true(r->is_cut);
    assert_true(r->event_count >= events);
}

/* Without a thread, too: the first event after 50 ms has all before it written. */
static void a_killed_process_of_one_thread_leaves_a_readable_file(void **state) {
    (void)state;
    pid_t child = fork();
    if (child == 0) {
        masu_trace *trace = new_trace(NULL);
        if (masu_trace_record_to(trace, path, NULL) != MASU_OK)
            _exit(1);
        use_heap(trace, 500, 0);
        usleep(MASU__ALONE ? 60000 : 100000);
        masu_trace_mark(trace, MASU_MARK_NOTE, "the last", 0, 0);
        kill(getpid(), SIGKILL);
    }
    masu__recording r;
    read_killed(child, 500, &r);
    if (MASU__ALONE)
        assert_string_equal(masu__recording_text(&r, r.events[r.event_count - 1].text), "the last");
    masu__recording_destroy(&r);
}

/* Until the thread is there, who records writes; it may be ended without one. */
static void a_recording_may_begin_before_its_thread(void **state) {
    (void)state;
    for (int started = 0; started < 2; started++) {
        masu_trace *trace = new_trace(NULL);
        masu_record_stats stats;
        masu_record_config config = {.ring_records = 1024, .later = true};
        assert_int_equal(masu_trace_record_to(trace, path, &config), MASU_OK);
        use_heap(trace, 3000, 0);
        assert_true(has_more_threads(0));
        if (started) {
            assert_int_equal(masu_trace_record_start(trace), MASU_OK);
            assert_int_equal(masu_trace_record_start(trace), MASU_OK); /* there is one already */
            assert_true(has_more_threads(1));
        }
        use_heap(trace, 3000, 0);
        assert_int_equal(masu_trace_record_end(trace, &stats), MASU_OK);
        assert_int_equal(masu_trace_record_start(trace), MASU_OK);
        masu_trace_destroy(trace);
        assert_int_equal(stats.dropped, 0);
        is_all_of(stats.events);
    }
    assert_int_equal(masu_trace_record_start(NULL), MASU_OK);
}

/* A pipe is written by a thread alone, since its reader may be this program: before there is one, the ring is all, and
 * what does not fit is counted. */
static void a_pipe_waits_for_its_thread(void **state) {
    (void)state;
    for (int started = 0; started < 2; started++) {
        masu_trace *trace = new_trace(NULL);
        masu_record_stats stats;
        unlink(path);
        assert_int_equal(mkfifo(path, 0600), 0);
        int reader = open(path, O_RDONLY | O_NONBLOCK);
        assert_true(reader >= 0);
        masu_record_config config = {.ring_records = 512, .later = true};
        assert_int_equal(masu_trace_record_to(trace, path, &config), MASU_OK);
        assert_true(has_more_threads(0));
        use_heap(trace, 50, 0);
        if (started)
            assert_int_equal(masu_trace_record_start(trace), MASU_OK);
        use_heap(trace, 1000, 0); /* the pipe holds 64 KiB */
        assert_int_equal(masu_trace_record_end(trace, &stats), MASU_OK);
        masu_trace_destroy(trace);
        unsigned char *data = malloc(1 << 17);
        ssize_t length = read(reader, data, 1 << 17);
        assert_true(length > 0);
        close(reader);
        masu__recording r;
        masu__recording_fault fault;
        assert_int_equal(masu__trace_read(data, (size_t)length, &r, &fault), MASU_OK);
        assert_false(r.is_cut);
        assert_int_equal(r.event_count, stats.events);
        assert_int_equal(r.lost_events, stats.dropped);
        assert_true(started ? stats.dropped == 0 : stats.dropped > 0 && stats.waits == 0);
        masu__recording_destroy(&r);
        free(data);
    }
}

/* Two that write one file would make it unreadable for both. */
static void a_file_has_one_recording_at_a_time(void **state) {
    (void)state;
    masu_trace *first = new_trace(NULL), *second = new_trace(NULL);
    assert_int_equal(masu_trace_record_to(first, path, NULL), MASU_OK);
    use_heap(first, 100, 0);
    assert_int_equal(masu_trace_record_to(second, path, NULL), MASU_ERR_IO);
    assert_false(masu_trace_is_on(second));
    masu_record_stats stats;
    assert_int_equal(masu_trace_record_end(first, &stats), MASU_OK);
    masu__recording r;
    read_file(&r);
    assert_int_equal(r.event_count, stats.events);
    masu__recording_destroy(&r);
    assert_int_equal(masu_trace_record_to(second, path, NULL), MASU_OK);
    masu_trace_destroy(second);
    masu_trace_destroy(first);
    read_file(&r);
    assert_int_equal(r.event_count, 0);
    masu__recording_destroy(&r);
}

/* The child neither writes nor waits; the parent goes on. */
static void a_child_records_nothing(void **state) {
    (void)state;
    masu_trace *trace = new_trace(NULL);
    assert_int_equal(masu_trace_record_to(trace, path, &(masu_record_config){.ring_records = 64}), MASU_OK);
    use_heap(trace, 100, 0);
    pid_t child = fork();
    if (child == 0) {
        use_heap(trace, 3000, 0);
        masu_trace_begin(trace, MASU_MARK_NOTE, "in the child");
        bool fine = masu_trace_record_end(trace, NULL) == MASU_OK;
        masu_trace_destroy(trace);
        _exit(fine ? 0 : 1);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    use_heap(trace, 100, 0);
    masu_record_stats stats;
    assert_int_equal(masu_trace_record_end(trace, &stats), MASU_OK);
    masu_trace_destroy(trace);
    masu__recording r;
    read_file(&r);
    assert_false(r.is_cut);
    assert_int_equal(r.lost_events, 0);
    for (size_t i = 0; i < r.event_count; i++)
        assert_int_equal(r.events[i].text, 0);
    masu__recording_destroy(&r);
}

static void a_killed_process_leaves_a_readable_file(void **state) {
    (void)state;
    pid_t child = fork();
    if (child == 0) {
        masu_trace *trace = new_trace(NULL);
        if (masu_trace_record_to(trace, path, NULL) != MASU_OK)
            _exit(1);
        use_heap(trace, 500, 0);
        masu_record_stats stats = {0};
        uint64_t before = 1;
        for (int i = 0; i < 100 && before != stats.written_bytes; i++) { /* until all is on the disk */
            before = stats.written_bytes;
            usleep(100000);
            masu_trace_record_get_stats(trace, &stats);
        }
        kill(getpid(), SIGKILL);
    }
    masu__recording r;
    read_killed(child, 500, &r);
    masu__recording_destroy(&r);
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

static void the_environment_is_read_when_it_is_asked(void **state) {
    (void)state;
    masu_trace *trace = new_trace(NULL);
    unsetenv("MASU_TRACE");
    assert_int_equal(masu_trace_record_from_environment(trace, NULL), MASU_OK);
    assert_false(masu_trace_is_on(trace));
    setenv("MASU_TRACE", "/no/such/folder/file", 1);
    assert_int_equal(masu_trace_record_from_environment(trace, NULL), MASU_ERR_IO);
    setenv("MASU_TRACE", path, 1);
    assert_int_equal(masu_trace_record_from_environment(trace, NULL), MASU_OK);
    assert_true(masu_trace_is_on(trace));
    unsetenv("MASU_TRACE");
    masu_trace_destroy(trace);
    masu__recording r;
    read_file(&r);
    assert_false(r.is_cut);
    masu__recording_destroy(&r);
}

static void a_full_disk_is_said_and_stops_nobody(void **state) {
    (void)state;
    masu_trace *trace = new_trace(NULL);
    masu_status status = masu_trace_record_to(trace, "/dev/full", &(masu_record_config){.ring_records = 64});
    assert_int_equal(status, MASU_ERR_IO); /* not even the head */
    masu_trace_destroy(trace);
}

static void without_memory_nothing_is_recorded(void **state) {
    (void)state;
    for (uint64_t nth = 1;; nth++) {
        masu_trace *trace = new_trace(NULL);
        masu__fault_arm(nth);
        masu_status status = masu_trace_record_to(trace, path, NULL);
        bool fired = masu__fault_fired();
        masu__fault_arm(0);
        assert_int_equal(status, fired ? MASU_ERR_OUT_OF_MEMORY : MASU_OK);
        masu_trace_destroy(trace);
        bytes b = load();
        for (uint64_t part = 1; !fired; part++) {
            masu__recording r;
            masu__recording_fault fault;
            masu__fault_arm(part);
            status = masu__trace_read(b.data, b.length, &r, &fault);
            fired = !masu__fault_fired();
            masu__fault_arm(0);
            assert_int_equal(status, fired ? MASU_OK : MASU_ERR_OUT_OF_MEMORY);
            if (status == MASU_OK)
                masu__recording_destroy(&r);
        }
        free(b.data);
        if (status == MASU_OK)
            break;
    }
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

/* The head says when it began and in which process; each of 4,096 lines is told apart from the others, those after them
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
    count_at_first();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_killed_process_of_one_thread_leaves_a_readable_file, begin, end),
        cmocka_unit_test_setup_teardown(a_program_of_one_thread_is_its_own_writer, begin, end),
        cmocka_unit_test_setup_teardown(what_is_read_is_what_happened, begin, end),
        cmocka_unit_test_setup_teardown(a_cut_file_is_read_up_to_the_cut, begin, end),
        cmocka_unit_test_setup_teardown(damage_is_found_and_harms_nothing, begin, end),
        cmocka_unit_test_setup_teardown(what_is_dropped_is_said, begin, end),
        cmocka_unit_test_setup_teardown(a_small_ring_waits_and_loses_nothing, begin, end),
        cmocka_unit_test_setup_teardown(a_recording_may_begin_before_its_thread, begin, end),
        cmocka_unit_test_setup_teardown(a_pipe_waits_for_its_thread, begin, end),
        cmocka_unit_test_setup_teardown(a_file_has_one_recording_at_a_time, begin, end),
        cmocka_unit_test_setup_teardown(a_child_records_nothing, begin, end),
        cmocka_unit_test_setup_teardown(a_killed_process_leaves_a_readable_file, begin, end),
        cmocka_unit_test_setup_teardown(a_program_says_what_it_does, begin, end),
        cmocka_unit_test_setup_teardown(the_environment_is_read_when_it_is_asked, begin, end),
        cmocka_unit_test_setup_teardown(a_full_disk_is_said_and_stops_nobody, begin, end),
        cmocka_unit_test_setup_teardown(arenas_are_seen_with_their_lines, begin, end),
        cmocka_unit_test_setup_teardown(the_head_and_very_many_lines, begin, end),
        cmocka_unit_test_setup_teardown(without_memory_nothing_is_recorded, begin, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
