/* look.c: what one sees of a page over time: is the program alive, how fast does it allocate, how did it get here. */
#include "tool/top/top.h"

#include <string.h>
#include <time.h>

#include "base/publish.h"

#define SECOND_NS 1000000000u

static uint64_t clock_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * SECOND_NS + (uint64_t)now.tv_nsec;
}

/* ---- the process ------------------------------------------------------------------------------------------------- */

/* "VmRSS:\t    1234 kB" */
static void read_resident(top_look *look) {
    char path[64], line[256];
    unsigned long long kib;
    snprintf(path, sizeof path, "/proc/%llu/status", (unsigned long long)look->page.head.process);
    FILE *file = fopen(path, "r");
    if (!file)
        return;
    while (fgets(line, sizeof line, file))
        if (sscanf(line, "VmRSS: %llu", &kib) == 1)
            look->resident_bytes = (uint64_t)kib << 10;
        else if (sscanf(line, "VmHWM: %llu", &kib) == 1)
            look->resident_peak_bytes = (uint64_t)kib << 10;
    fclose(file);
}

static bool is_there(const masu__page_head *head) {
    uint64_t start = masu__process_start(head->process);
    return start != 0 && (head->process_start == 0 || start == head->process_start);
}

/* A page that is left alone for ten periods, and one second, by a program that lives. */
static top_life life_of(const top_look *look, bool is_absent, uint64_t now) {
    const masu__page_head *head = &look->page.head;
    uint64_t patience = SECOND_NS + (uint64_t)head->period_ms * 10 * 1000 * 1000;
    if (look->page.now.state == MASU__PAGE_ENDED || is_absent)
        return TOP_ENDED;
    if (!is_there(head))
        return TOP_DIED;
    uint64_t written = head->began_clock_ns + look->page.now.time_ns;
    return now > written && now - written > patience ? TOP_STOPPED : TOP_RUNS;
}

/* ---- numbers ----------------------------------------------------------------------------------------------------- */

static double rate(uint64_t before, uint64_t now, double seconds) {
    return now > before && seconds > 0 ? (double)(now - before) / seconds : 0;
}

/* Sources come and go: one is the same when its place and its name are. */
static void find_rates(top_look *look) {
    const top_page *a = &look->before, *b = &look->page;
    double seconds = b->now.time_ns > a->now.time_ns ? (double)(b->now.time_ns - a->now.time_ns) / 1e9 : 0;
    for (uint32_t i = 0; i < b->now.source_count; i++) {
        bool is_same = look->has_before && i < a->now.source_count &&
                       strcmp(a->sources[i].name, b->sources[i].name) == 0;
        const masu_stats_level *was = &a->sources[i].stats.heap, *is = &b->sources[i].stats.heap;
        look->rates[i] = (top_rates){is_same ? rate(was->allocations, is->allocations, seconds) : 0,
                                     is_same ? rate(was->frees, is->frees, seconds) : 0};
    }
}

static void remember(top_look *look) {
    if (look->history == TOP_HISTORY) {
        look->history--;
        memmove(look->live, look->live + 1, sizeof look->live - sizeof *look->live);
        memmove(look->reserved, look->reserved + 1, sizeof look->reserved - sizeof *look->reserved);
    }
    uint64_t live = 0, reserved = 0;
    for (uint32_t i = 0; i < look->page.now.source_count; i++) {
        live += look->page.sources[i].stats.heap.live_bytes;
        reserved += look->page.sources[i].stats.heap.reserved_bytes;
    }
    look->live[look->history] = live;
    look->reserved[look->history++] = reserved;
}

bool top_look_at(top_look *look, const char **why) {
    static top_page page;
    bool is_first = look->history == 0;
    top_reading reading = top_page_read(look->path, &page, why);
    uint64_t now = clock_ns();
    if (is_first && reading == TOP_TORN)
        *why = "the page is half written: its program was ended while it wrote";
    if (is_first && reading != TOP_READ)
        return false;
    look->torn = reading == TOP_TORN ? look->torn + 1 : 0;
    if (reading == TOP_READ && (is_first || page.now.begin != look->page.now.begin)) {
        look->before = look->page;
        look->has_before = !is_first && look->page.head.process == page.head.process;
        look->page = page;
        find_rates(look);
    }
    /* A page that is gone, cut or not a page any more tells nothing: the last whole state is kept. */
    look->life = life_of(look, reading == TOP_ABSENT || reading == TOP_BAD, now);
    if (look->life == TOP_RUNS || look->life == TOP_STOPPED)
        read_resident(look);
    remember(look);
    return true;
}

/* ---- rows -------------------------------------------------------------------------------------------------------- */

/* Not the levels of what has none: frames, a pool of the program's own. */
static bool has_level(const masu_stats_level *level) {
    return level->allocations > 0 || level->reserved_bytes > 0;
}

unsigned top_rows(const top_look *look, bool with_levels, top_row rows[TOP_MOST_ROWS]) {
    unsigned count = 0;
    for (uint32_t i = 0; i < look->page.now.source_count; i++) {
        const masu__page_source *source = &look->page.sources[i];
        rows[count++] = (top_row){source->name, &source->stats.heap, &look->rates[i], false};
        if (with_levels && has_level(&source->stats.buckets))
            rows[count++] = (top_row){"buckets", &source->stats.buckets, NULL, true};
        if (with_levels && has_level(&source->stats.bestfit))
            rows[count++] = (top_row){"best fit", &source->stats.bestfit, NULL, true};
    }
    return count;
}

/* ---- words ------------------------------------------------------------------------------------------------------- */

const char *top_life_text(top_life life) {
    static const char *const texts[] = {"runs", "ended", "died without a word", "is stopped"};
    return texts[life];
}

const char *top_bytes_text(uint64_t bytes, char out[TOP_WORDS]) {
    static const char *const units[] = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    if (bytes < 1024) {
        snprintf(out, TOP_WORDS, "%u B", (unsigned)bytes);
        return out;
    }
    double value = (double)bytes / 1024;
    unsigned unit = 0;
    for (; value >= 999.95 && unit < sizeof units / sizeof *units - 1; unit++)
        value /= 1024;
    snprintf(out, TOP_WORDS, "%.1f %s", value, units[unit]);
    return out;
}

const char *top_count_text(double count, char out[TOP_WORDS]) {
    static const char units[] = " kMGTPE";
    unsigned unit = 0;
    for (; count >= 9999.5 && unit < sizeof units - 2; unit++)
        count /= 1000;
    snprintf(out, TOP_WORDS, units[unit] == ' ' ? "%.0f" : "%.0f%c", count, units[unit]);
    return out;
}

const char *top_share_text(uint64_t part, uint64_t whole, char out[TOP_WORDS]) {
    if (whole == 0 || part > whole)
        snprintf(out, TOP_WORDS, "-");
    else
        snprintf(out, TOP_WORDS, "%.1f %%", 100.0 * (double)part / (double)whole);
    return out;
}

const char *top_span_text(uint64_t ns, char out[TOP_WORDS]) {
    unsigned long long seconds = ns / SECOND_NS, tenths = ns / (SECOND_NS / 10) % 10;
    if (seconds < 60)
        snprintf(out, TOP_WORDS, "%llu.%llu s", seconds, tenths);
    else if (seconds < 3600)
        snprintf(out, TOP_WORDS, "%llu:%02llu min", seconds / 60, seconds % 60);
    else
        snprintf(out, TOP_WORDS, "%llu:%02llu h", seconds / 3600, seconds / 60 % 60);
    return out;
}
