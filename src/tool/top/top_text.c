/* top_text.c: `masu top` for a pipe: a block of lines a look. */
#include "tool/top/top.h"

#include <string.h>
#include <time.h>

#include "tool/tool.h"

static void print_row(const top_row *row) {
    const masu_stats_level *l = row->level;
    char w[10][TOP_WORDS];
    printf("%s%-*.*s %10s %10s %10s %10s %10s %9s %9s %8s %8s\n", row->is_level ? "  " : "", row->is_level ? 20 : 22,
           22, row->name, top_bytes_text(l->live_bytes, w[0]), top_bytes_text(l->peak_live_bytes, w[1]),
           top_bytes_text(l->idle_bytes, w[2]), top_bytes_text(l->slack_bytes, w[3]),
           top_bytes_text(l->reserved_bytes, w[4]), top_count_text((double)l->live_blocks, w[5]),
           row->rates ? top_count_text(row->rates->allocations, w[6]) : "",
           top_share_text(l->hits, l->allocations, w[7]), top_count_text((double)l->refusals, w[8]));
}

static void print_look(const top_look *look) {
    const top_page *page = &look->page;
    char w[4][TOP_WORDS];
    printf("%s, process %llu, %s, %s since it began", page->head.program[0] ? page->head.program : "(no name)",
           (unsigned long long)page->head.process, top_life_text(look->life), top_span_text(page->now.time_ns, w[0]));
    if (look->resident_bytes)
        printf("; %s resident, at most %s", top_bytes_text(look->resident_bytes, w[1]),
               top_bytes_text(look->resident_peak_bytes, w[2]));
    printf("\n%-22s %10s %10s %10s %10s %10s %9s %9s %8s %8s\n", "pool", "live", "peak", "idle", "slack", "reserved",
           "blocks", "allocs/s", "hits", "refused");
    top_row rows[TOP_MOST_ROWS];
    unsigned count = top_rows(look, true, rows);
    for (unsigned i = 0; i < count; i++)
        print_row(&rows[i]);
}

int top_text(top_look *look, const top_options *options) {
    const struct timespec pause = {.tv_sec = options->interval_ms / 1000,
                                   .tv_nsec = (long)(options->interval_ms % 1000) * 1000000};
    const char *why;
    for (uint64_t i = 0;; i++) {
        if (i > 0)
            putchar('\n');
        print_look(look);
        bool is_over = look->life == TOP_ENDED || look->life == TOP_DIED;
        if (fflush(stdout) != 0 || is_over || (options->looks > 0 && i + 1 >= options->looks))
            return TOOL_OK;
        nanosleep(&pause, NULL);
        (void)top_look_at(look, &why);
    }
}
