/* page.c: one whole state of a page, out of a file that is not trusted. */
#include "tool/top/top.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { MOST_PART = 4096, MOST_SOURCES = 256, TRIES = 50, NAP_NS = 200 * 1000 };

static bool read_at(int file, void *out, size_t bytes, uint64_t at) {
    char *to = out;
    while (bytes > 0) {
        ssize_t got = pread(file, to, bytes, (off_t)at);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return false;
        to += got;
        at += (uint64_t)got;
        bytes -= (size_t)got;
    }
    return true;
}

/* Copies the fields that both know of a part `there` bytes long. */
static void take_part(void *out, size_t known, const char *from, uint32_t there) {
    memset(out, 0, known);
    memcpy(out, from, there < known ? there : known);
}

static void make_shown(char *text, size_t bytes) {
    text[bytes - 1] = 0;
    for (; *text; text++)
        if ((unsigned char)*text < 0x20 || *text == 0x7f)
            *text = '?';
}

static const char *head_fault(const masu__page_head *head) {
    if (memcmp(head->magic, MASU__PAGE_MAGIC, sizeof head->magic) != 0)
        return "it is not a page of `masu run --publish` or MASU_PUBLISH";
    if (head->version != MASU__PAGE_VERSION)
        return "the page is of another version of masu: use the `masu top` that belongs to it";
    if (head->head_bytes < offsetof(masu__page_head, program) || head->now_bytes < offsetof(masu__page_now, spare) ||
        head->source_bytes < offsetof(masu__page_source, stats) + sizeof(size_t) || head->head_bytes > MOST_PART ||
        head->now_bytes > MOST_PART || head->source_bytes > MOST_PART || head->source_capacity > MOST_SOURCES)
        return "the page is damaged: its parts have no size that can be";
    return NULL;
}

/* end, then what lies between, then begin: see page_format.h. */
static top_reading read_state(int file, top_page *page) {
    static char state[(MOST_SOURCES + 1) * MOST_PART];
    const masu__page_head *head = &page->head;
    size_t bytes = head->now_bytes + (size_t)head->source_capacity * head->source_bytes;
    uint64_t begin, end;
    if (!read_at(file, &end, sizeof end, head->head_bytes + bytes) || !read_at(file, state, bytes, head->head_bytes) ||
        !read_at(file, &begin, sizeof begin, head->head_bytes))
        return TOP_BAD;
    take_part(&page->now, sizeof page->now, state, head->now_bytes);
    uint32_t count = page->now.source_count;
    if (count > head->source_capacity)
        count = head->source_capacity;
    if (count > MASU_PUBLISH_SOURCES)
        count = MASU_PUBLISH_SOURCES;
    page->now.source_count = count;
    for (uint32_t i = 0; i < count; i++) {
        masu__page_source *source = &page->sources[i];
        take_part(source, sizeof *source, state + head->now_bytes + (size_t)i * head->source_bytes, head->source_bytes);
        make_shown(source->name, sizeof source->name);
    }
    return begin == end ? TOP_READ : TOP_TORN;
}

static top_reading read_open(int file, top_page *page, const char **why) {
    struct stat what;
    if (fstat(file, &what) != 0 || !S_ISREG(what.st_mode)) {
        *why = "it is not a file";
        return TOP_BAD;
    }
    size_t there = what.st_size < (off_t)sizeof page->head ? (size_t)what.st_size : sizeof page->head;
    memset(&page->head, 0, sizeof page->head);
    if (!read_at(file, &page->head, there, 0)) {
        *why = strerror(errno);
        return TOP_BAD;
    }
    if ((*why = head_fault(&page->head)))
        return TOP_BAD;
    if (page->head.head_bytes < sizeof page->head)
        memset((char *)&page->head + page->head.head_bytes, 0, sizeof page->head - page->head.head_bytes);
    make_shown(page->head.program, sizeof page->head.program);
    top_reading reading = TOP_TORN;
    for (int i = 0; i < TRIES && reading == TOP_TORN; i++) {
        if (i > 0)
            nanosleep(&(struct timespec){.tv_nsec = NAP_NS}, NULL);
        reading = read_state(file, page);
    }
    *why = reading == TOP_BAD ? "the page is cut off" : NULL;
    return reading;
}

top_reading top_page_read(const char *path, top_page *out, const char **why) {
    static top_page page; /* 20 KiB: the command reads one at a time */
    *why = NULL;
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (file < 0) {
        *why = strerror(errno);
        return errno == ENOENT ? TOP_ABSENT : TOP_BAD;
    }
    top_reading reading = read_open(file, &page, why);
    close(file);
    if (reading == TOP_READ)
        *out = page;
    return reading;
}
