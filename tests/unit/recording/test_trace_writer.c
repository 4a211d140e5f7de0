/* Who writes a trace to disk, and when: one thread or a writer of its own, full rings, a fork, a killed process, a full
 * disk, no memory. */
#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "trace_file_fixture.h"

#include "base/lock.h"

/* So many events that the writer is behind at some moment, on a slow build too. A build that checks whole pools at each
 * call takes 1 ms a request, so rounds are short. */
static void use_until_behind(masu_trace *trace) {
    masu_record_stats stats = {0};
    for (int round = 0; round < 500 && stats.dropped + stats.waits == 0; round++) {
        use_heap(trace, 1000, 0);
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

/* One thread writes from the beginning to the end, however many others come and go. Must be the first test: it begins
 * in a process of one thread. */
static void one_thread_writes(void **state) {
    (void)state;
    masu_trace *trace = new_trace(NULL);
    masu_record_stats stats;
    assert_int_equal(masu_trace_record_to(trace, path, &(masu_record_config){.ring_records = 1024}), MASU_OK);
    assert_true(has_more_threads(1));
    use_heap(trace, 3000, 0); /* more than the ring holds */

    pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    pthread_t other;
    pthread_mutex_lock(&lock);
    assert_int_equal(pthread_create(&other, NULL, wait_for_end, &lock), 0);
    use_heap(trace, 3000, 0);
    assert_true(has_more_threads(2));
    pthread_mutex_unlock(&lock);
    pthread_join(other, NULL);
    use_heap(trace, 3000, 0);
    assert_true(has_more_threads(1));
    assert_int_equal(masu_trace_record_end(trace, &stats), MASU_OK);
    assert_true(has_more_threads(0));
    assert_true(stats.events > 6000 && stats.dropped == 0);
    masu_trace_destroy(trace);
    is_all_of(stats.events);
}

/* The file of a child that was killed: a recording that is cut, with so many events at least, behind "the last". */
static void read_killed(pid_t child, uint64_t events) {
    int status;
    masu__recording r;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status));
    read_file(&r);
    assert_true(r.is_cut);
    assert_true(r.event_count >= events);
    assert_string_equal(masu__recording_text(&r, r.events[r.event_count - 1].text), "the last");
    masu__recording_destroy(&r);
}

/* Without a thread, too: the first event after 50 ms has all before it written. */
static void a_process_killed_before_its_thread_leaves_a_readable_file(void **state) {
    (void)state;
    pid_t child = fork();
    if (child == 0) {
        masu_trace *trace = new_trace(NULL);
        if (masu_trace_record_to(trace, path, &(masu_record_config){.later = true}) != MASU_OK)
            _exit(1);
        use_heap(trace, 500, 0);
        usleep(60000);
        masu_trace_mark(trace, MASU_MARK_NOTE, "the last", 0, 0);
        kill(getpid(), SIGKILL);
    }
    read_killed(child, 500);
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
        masu_trace_mark(trace, MASU_MARK_NOTE, "the last", 0, 0);
        masu_record_stats stats = {0};
        uint64_t before = 1;
        for (int i = 0; i < 100 && before != stats.written_bytes; i++) { /* until all is on the disk */
            before = stats.written_bytes;
            usleep(100000);
            masu_trace_record_get_stats(trace, &stats);
        }
        kill(getpid(), SIGKILL);
    }
    read_killed(child, 500);
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

int main(void) {
    count_at_first();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(one_thread_writes, begin, end),
        cmocka_unit_test_setup_teardown(a_process_killed_before_its_thread_leaves_a_readable_file, begin, end),
        cmocka_unit_test_setup_teardown(what_is_dropped_is_said, begin, end),
        cmocka_unit_test_setup_teardown(a_small_ring_waits_and_loses_nothing, begin, end),
        cmocka_unit_test_setup_teardown(a_recording_may_begin_before_its_thread, begin, end),
        cmocka_unit_test_setup_teardown(a_pipe_waits_for_its_thread, begin, end),
        cmocka_unit_test_setup_teardown(a_file_has_one_recording_at_a_time, begin, end),
        cmocka_unit_test_setup_teardown(a_child_records_nothing, begin, end),
        cmocka_unit_test_setup_teardown(a_killed_process_leaves_a_readable_file, begin, end),
        cmocka_unit_test_setup_teardown(the_environment_is_read_when_it_is_asked, begin, end),
        cmocka_unit_test_setup_teardown(a_full_disk_is_said_and_stops_nobody, begin, end),
        cmocka_unit_test_setup_teardown(without_memory_nothing_is_recorded, begin, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
