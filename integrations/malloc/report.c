/* report.c: numbers of the pool, for glibc's functions that tell them and at the end of the program.
 *
 * At the end other threads may still run and standard error may be closed: so the text is put together in a buffer of
 * its own and written at once, without the C library's streams.
 */
#include "adapter.h"

#include <fcntl.h>
#include <limits.h>
#include <malloc.h>
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

#include "names.h"

/* ---- the report ------------------------------------------------------------------------------ */

typedef struct row {
    const char *name, *meaning;
    uint64_t value;
    bool is_bytes;
} row;

enum { ROWS = 15 };

static uint64_t resident_peak(void) {
    struct rusage usage;
    return getrusage(RUSAGE_SELF, &usage) == 0 ? (uint64_t)usage.ru_maxrss << 10 : 0;
}

static void rows_fill(row rows[ROWS]) {
    masu_heap_stats s;
    masu_get_stats(&s);
    const row filled[ROWS] = {
        {"allocations", "blocks given", s.allocations, false},
        {"frees", "blocks freed", s.frees, false},
        {"live_blocks", "blocks in use", s.live_blocks, false},
        {"live_bytes", "in use", s.live_bytes, true},
        {"peak_bytes", "in use at most", s.peak_bytes, true},
        {"free_bytes", "free", s.free_bytes + s.cached_bytes, true},
        {"thread_cached_bytes", "of it in caches of threads", s.thread_cached_bytes, true},
        {"slack_bytes", "lost to rounding", s.slack_bytes, true},
        {"reserved_bytes", "addresses held", s.reserved_bytes, true},
        {"peak_reserved_bytes", "addresses held at most", s.peak_reserved_bytes, true},
        {"metadata_bytes", "records", s.metadata_bytes, true},
        {"resident_peak_bytes", "resident at most, the whole process", resident_peak(), true},
        {"thread_caches", "threads with a cache", s.thread_caches, false},
        {"failures", "requests refused", s.failures, false},
        {"refused_frees", "frees refused", masu_malloc_refusals(), false},
    };
    memcpy(rows, filled, sizeof filled);
}

static size_t add(char *out, size_t room, size_t at, int more) {
    (void)out;
    return more < 0 || (size_t)more >= room - at ? room - 1 : at + (size_t)more;
}

static size_t write_text(const row *rows, char *out, size_t room) {
    size_t at = add(out, room, 0, snprintf(out, room, "masu-malloc, process %ld\n", (long)getpid()));
    for (int i = 0; i < ROWS; i++)
        at = add(out, room, at,
                 rows[i].is_bytes ? snprintf(out + at, room - at, "  %14.3f MiB  %s\n",
                                             (double)rows[i].value / (1 << 20), rows[i].meaning)
                                  : snprintf(out + at, room - at, "  %14llu      %s\n",
                                             (unsigned long long)rows[i].value, rows[i].meaning));
    return at;
}

static size_t write_json(const row *rows, char *out, size_t room) {
    size_t at = add(out, room, 0, snprintf(out, room, "{\"process\":%ld", (long)getpid()));
    for (int i = 0; i < ROWS; i++)
        at = add(out, room, at,
                 snprintf(out + at, room - at, ",\"%s\":%llu", rows[i].name, (unsigned long long)rows[i].value));
    return add(out, room, at, snprintf(out + at, room - at, "}\n"));
}

static void write_all(int file, const char *text, size_t bytes) {
    for (ssize_t n; bytes > 0 && (n = write(file, text, bytes)) > 0; bytes -= (size_t)n)
        text += n;
}

static void report(report_form form, int file) {
    char text[4096];
    row rows[ROWS];
    rows_fill(rows);
    size_t bytes = form == REPORT_JSON ? write_json(rows, text, sizeof text) : write_text(rows, text, sizeof text);
    write_all(file, text, bytes);
}

static int standard_error = STDERR_FILENO;

/* Many programs close standard error before a library hears of their end. */
static __attribute__((constructor)) void keep_standard_error(void) {
    enum { OUT_OF_THE_WAY = 64 };
    const settings *wanted = masu_malloc_settings();
    if (wanted->report == REPORT_NONE || wanted->report_file)
        return;
    int kept = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, OUT_OF_THE_WAY);
    standard_error = kept < 0 ? STDERR_FILENO : kept;
}

/* Processes that share a file add to it. */
static __attribute__((destructor)) void report_at_the_end(void) {
    const settings *wanted = masu_malloc_settings();
    char path[PATH_MAX];
    if (wanted->report == REPORT_NONE)
        return;
    if (!wanted->report_file) {
        report(wanted->report, standard_error);
        return;
    }
    masu_malloc_name_file(wanted->report_file, path, sizeof path);
    int file = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    if (file < 0) {
        masu_malloc_say("MASU_REPORT_FILE=%s cannot be written", path);
        return;
    }
    report(wanted->report, file);
    close(file);
}

/* ---- glibc's functions ----------------------------------------------------------------------- */

SHOWN struct mallinfo2 mallinfo2(void) {
    masu_heap_stats s;
    masu_get_stats(&s);
    return (struct mallinfo2){
        .arena = s.reserved_bytes,
        .ordblks = 1,
        .uordblks = s.live_bytes,
        .fordblks = s.reserved_bytes - s.live_bytes,
        .keepcost = s.largest_free_bytes,
    };
}

static int narrow(size_t bytes) {
    return bytes > INT_MAX ? INT_MAX : (int)bytes;
}

/* As mallinfo2, but what is more than an int can hold is INT_MAX. */
SHOWN struct mallinfo mallinfo(void) {
    struct mallinfo2 wide = mallinfo2();
    return (struct mallinfo){
        .arena = narrow(wide.arena),
        .ordblks = narrow(wide.ordblks),
        .uordblks = narrow(wide.uordblks),
        .fordblks = narrow(wide.fordblks),
        .keepcost = narrow(wide.keepcost),
    };
}

SHOWN void malloc_stats(void) {
    report(REPORT_TEXT, STDERR_FILENO);
}

SHOWN int malloc_info(int options, FILE *out) {
    row rows[ROWS];
    if (options != 0) {
        errno = EINVAL;
        return -1;
    }
    rows_fill(rows);
    fputs("<malloc version=\"masu\">\n", out);
    for (int i = 0; i < ROWS; i++)
        fprintf(out, "  <%s>%llu</%s>\n", rows[i].name, (unsigned long long)rows[i].value, rows[i].name);
    fputs("</malloc>\n", out);
    return ferror(out) ? -1 : 0;
}

/* 1: something was given back. */
SHOWN int malloc_trim(size_t keep) {
    masu_heap_stats s;
    masu_get_stats(&s);
    return masu_trim(keep) == MASU_OK && s.free_bytes + s.cached_bytes > keep;
}
