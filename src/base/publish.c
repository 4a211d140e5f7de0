/* publish.c: the thread that writes the page of a running program. See masu/publish.h, page_format.h.
 *
 * What must stay true: sources are asked under the publisher's mutex alone, by one thread at a time; who holds that
 * mutex takes pools' locks, never the reverse. The file is written by calls and never mapped: a mapped file that
 * somebody cuts would kill the program that only wanted to be seen.
 */
#include "base/publish.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/meta.h"
#include "base/page_format.h"
#include "base/thread.h"

enum { DEFAULT_PERIOD_MS = 100, LEAST_PERIOD_MS = 10, FILE_MODE = 0600, STACK_BYTES = 256 << 10, MS_NS = 1000 * 1000 };

typedef struct published {
    masu_publish_fill fill;
    void *context;
} published;

/* Written at once: the image of the file behind the head. */
typedef struct page_image {
    masu__page_now now;
    masu__page_source sources[MASU_PUBLISH_SOURCES];
    uint64_t end;
} page_image;

struct masu_publisher {
    masu__bell bell; /* its mutex guards all below */
    pthread_t thread;
    pid_t process; /* that may write */
    int file;
    bool ends, is_own_place;
    unsigned period_ms;
    uint64_t start_ns;
    published sources[MASU_PUBLISH_SOURCES]; /* of image.sources, in the same order */
    page_image image;
    char path[MASU__PAGE_PATH_BYTES];
};

bool masu__page_path(char *out, const char *folder, uint64_t process) {
    int length = snprintf(out, MASU__PAGE_PATH_BYTES, "%s/masu-%llu.page", folder, (unsigned long long)process);
    return length > 0 && length < MASU__PAGE_PATH_BYTES;
}

/* "123 (any name) S 1 …": the state is field 3, the start field 22; the name may have blanks and brackets. */
uint64_t masu__process_start(uint64_t process) {
    enum { FROM_STATE = 19 };
    char path[64], text[1024];
    snprintf(path, sizeof path, "/proc/%llu/stat", (unsigned long long)process);
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return 0;
    ssize_t length = read(file, text, sizeof text - 1);
    close(file);
    text[length > 0 ? length : 0] = 0;
    const char *at = strrchr(text, ')');
    if (!at || !at[1] || at[2] == 'Z' || at[2] == 'X')
        return 0;
    at += 2;
    for (int i = 0; at && i < FROM_STATE; i++)
        at = strchr(at + 1, ' ');
    return at ? strtoull(at + 1, NULL, 10) : 0;
}

/* ---- writing ----------------------------------------------------------------------------------------------------- */

static bool write_at(int file, const void *bytes, size_t count, size_t at) {
    const char *from = bytes;
    while (count > 0) {
        ssize_t done = pwrite(file, from, count, (off_t)at);
        if (done < 0 && errno == EINTR)
            continue;
        if (done <= 0)
            return false;
        from += done;
        at += (size_t)done;
        count -= (size_t)done;
    }
    return true;
}

/* begin, what lies between, end: three calls, in this order. What fails is tried again with the next numbers. */
static bool write_image(masu_publisher *p) {
    page_image *image = &p->image;
    const size_t at = sizeof(masu__page_head), body = sizeof image->now.begin, end = offsetof(page_image, end);
    image->end = ++image->now.begin;
    return write_at(p->file, &image->now.begin, body, at) &&
           write_at(p->file, (const char *)image + body, end - body, at + body) &&
           write_at(p->file, &image->end, sizeof image->end, at + end);
}

/* Under the mutex. */
static void write_now(masu_publisher *p) {
    page_image *image = &p->image;
    for (uint32_t i = 0; i < image->now.source_count; i++) {
        masu_stats stats = {.struct_bytes = sizeof stats};
        if (p->sources[i].fill(p->sources[i].context, &stats) == MASU_OK)
            image->sources[i].stats = stats;
    }
    image->now.time_ns = masu__clock_ns() - p->start_ns;
    image->now.state = p->ends ? MASU__PAGE_ENDED : MASU__PAGE_RUNS;
    (void)write_image(p);
}

static void *write_for_ever(void *publisher) {
    masu_publisher *p = publisher;
    pthread_mutex_lock(&p->bell.mutex);
    while (!p->ends) {
        write_now(p);
        masu__bell_wait(&p->bell, (uint64_t)p->period_ms * MS_NS);
    }
    write_now(p);
    pthread_mutex_unlock(&p->bell.mutex);
    return NULL;
}

/* ---- beginning --------------------------------------------------------------------------------------------------- */

/* Whether path is free, or a page that may be replaced: never a device, a link, or a file of somebody's. */
static bool may_replace(const char *path) {
    char magic[8];
    struct stat what;
    if (lstat(path, &what) != 0)
        return errno == ENOENT;
    if (!S_ISREG(what.st_mode))
        return false;
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (file < 0)
        return false;
    bool is_page = read(file, magic, sizeof magic) == (ssize_t)sizeof magic &&
                   memcmp(magic, MASU__PAGE_MAGIC, sizeof magic) == 0;
    close(file);
    return is_page;
}

static bool write_head(const masu_publisher *p, const char *program) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    masu__page_head head = {
        .magic = MASU__PAGE_MAGIC,
        .version = MASU__PAGE_VERSION,
        .head_bytes = sizeof head,
        .now_bytes = sizeof(masu__page_now),
        .source_bytes = sizeof(masu__page_source),
        .source_capacity = MASU_PUBLISH_SOURCES,
        .period_ms = p->period_ms,
        .process = (uint64_t)p->process,
        .process_start = masu__process_start((uint64_t)p->process),
        .began_at_ns = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec,
        .began_clock_ns = p->start_ns,
    };
    if (program)
        strncpy(head.program, program, sizeof head.program - 1);
    return write_at(p->file, &head, sizeof head, 0);
}

/* Whole before it has its name: no reader ever sees half of it. */
static masu_status make_file(masu_publisher *p, const char *program) {
    char fresh[MASU__PAGE_PATH_BYTES + 32];
    if (!may_replace(p->path))
        return MASU_ERR_INVALID_ARGUMENT;
    snprintf(fresh, sizeof fresh, "%s.%ld", p->path, (long)p->process);
    (void)unlink(fresh); /* of a process of this number that was killed here */
    p->file = open(fresh, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, FILE_MODE);
    if (p->file < 0)
        return MASU_ERR_IO;
    if (write_head(p, program) && write_image(p) && rename(fresh, p->path) == 0)
        return MASU_OK;
    (void)unlink(fresh);
    return MASU_ERR_IO;
}

static masu_status start_thread(masu_publisher *p) {
    int failed = masu__thread_start(&p->thread, STACK_BYTES, write_for_ever, p);
    errno = failed ? failed : errno;
    return failed ? MASU_ERR_IO : MASU_OK;
}

static void publisher_free(masu_publisher *p) {
    if (p->file >= 0)
        close(p->file);
    if (p->process == getpid())
        masu__bell_destroy(&p->bell);
    masu__meta_free(p, sizeof *p);
}

static masu_publisher *publisher_create(unsigned period_ms) {
    masu_publisher *p = masu__meta_calloc(1, sizeof *p);
    if (!p)
        return NULL;
    masu__bell_init(&p->bell);
    p->file = -1;
    p->process = getpid();
    p->period_ms = period_ms == 0 ? DEFAULT_PERIOD_MS : period_ms < LEAST_PERIOD_MS ? LEAST_PERIOD_MS : period_ms;
    p->start_ns = masu__clock_ns();
    p->image.now.state = MASU__PAGE_RUNS;
    return p;
}

masu_status masu__publish_in(const char *folder, const masu_publish_config *given, masu_publisher **out) {
    masu_publish_config config = {.struct_bytes = sizeof config};
    if (!out)
        return MASU_ERR_INVALID_ARGUMENT;
    *out = NULL;
    if (given && given->struct_bytes == 0)
        return MASU_ERR_INVALID_ARGUMENT;
    if (given)
        memcpy(&config, given, given->struct_bytes < sizeof config ? given->struct_bytes : sizeof config);
    masu_publisher *p = publisher_create(config.period_ms);
    if (!p)
        return MASU_ERR_OUT_OF_MEMORY;
    p->is_own_place = !config.path;
    bool fits = config.path ? strlen(config.path) < sizeof p->path
                            : masu__page_path(p->path, folder, (uint64_t)p->process);
    if (fits && config.path)
        strcpy(p->path, config.path);
    masu_status status = fits ? make_file(p, config.program) : MASU_ERR_INVALID_ARGUMENT;
    bool is_there = status == MASU_OK;
    if (is_there)
        status = start_thread(p);
    if (status == MASU_OK) {
        *out = p;
        return MASU_OK;
    }
    int why = errno;
    if (is_there)
        (void)unlink(p->path);
    publisher_free(p);
    errno = why;
    return status;
}

masu_status masu_publish_begin(const masu_publish_config *config, masu_publisher **out) {
    return masu__publish_in(MASU__PAGE_FOLDER, config, out);
}

/* ---- while it runs ----------------------------------------------------------------------------------------------- */

/* Whether there is something to do here, with the mutex taken. */
static bool enter(masu_publisher *p) {
    if (!p || p->process != getpid())
        return false;
    pthread_mutex_lock(&p->bell.mutex);
    return true;
}

masu_status masu_publish_source(masu_publisher *p, const char *name, masu_publish_fill fill, void *context) {
    if (!name || !fill)
        return MASU_ERR_INVALID_ARGUMENT;
    if (!enter(p))
        return MASU_OK;
    uint32_t *count = &p->image.now.source_count;
    bool fits = *count < MASU_PUBLISH_SOURCES;
    if (fits) {
        masu__page_source *source = &p->image.sources[*count];
        *source = (masu__page_source){.stats.struct_bytes = sizeof source->stats};
        strncpy(source->name, name, sizeof source->name - 1);
        p->sources[*count] = (published){fill, context};
        ++*count;
        write_now(p);
    }
    pthread_mutex_unlock(&p->bell.mutex);
    return fits ? MASU_OK : MASU_ERR_LIMIT_REACHED;
}

void masu_publish_drop(masu_publisher *p, const void *context) {
    if (!enter(p))
        return;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < p->image.now.source_count; i++) {
        if (p->sources[i].context == context)
            continue;
        p->sources[kept] = p->sources[i];
        p->image.sources[kept++] = p->image.sources[i];
    }
    p->image.now.source_count = kept;
    write_now(p);
    pthread_mutex_unlock(&p->bell.mutex);
}

void masu_publish_now(masu_publisher *p) {
    if (!enter(p))
        return;
    write_now(p);
    pthread_mutex_unlock(&p->bell.mutex);
}

const char *masu_publish_path(const masu_publisher *p) {
    return p ? p->path : "";
}

void masu_publish_end(masu_publisher *p) {
    if (enter(p)) {
        p->ends = true;
        pthread_cond_signal(&p->bell.rings);
        pthread_mutex_unlock(&p->bell.mutex);
        pthread_join(p->thread, NULL);
        if (p->is_own_place)
            (void)unlink(p->path);
    }
    if (p)
        publisher_free(p);
}
