/* counts_by_line.c: what the runtime counted by place, brought together by source line. */
#include <stdlib.h>
#include <string.h>

#include "base/meta.h"
#include "tool/native/run_end.h"
#include "tool/tool.h"

static int compare(const void *a, const void *b) {
    const tl_report_line *x = a, *y = b;
    if (!x->path != !y->path)
        return x->path ? 1 : -1;
    int paths = x->path ? strcmp(x->path, y->path) : 0;
    return paths ? paths : (x->line > y->line) - (x->line < y->line);
}

static void add(tl_line_counts *to, const tl_line_counts *from) {
    to->visits += from->visits;
    to->acquires += from->acquires;
    to->releases += from->releases;
    to->moves += from->moves;
    to->borrows += from->borrows;
    to->slots += from->slots;
    to->allocations += from->allocations;
    to->placed += from->placed;
    to->reused += from->reused;
    to->slotted += from->slotted;
}

bool tool_lines(tl_runtime *rt, const void *program, tool_place *place_of, tool_report_options *options) {
    const tl_line_counts *sites;
    uint32_t site_count = tl_runtime_lines(rt, &sites);
    masu_place_info place;
    options->lines = masu__meta_calloc(site_count + 1, sizeof *options->lines);
    if (!options->lines)
        return false;
    options->line_room = site_count + 1;
    size_t count = 0, kept = 0;
    for (uint32_t s = 1; s < site_count; s++)
        if (sites[s].visits > 0 && place_of(program, s, &place))
            options->lines[count++] = (tl_report_line){place.path, place.line, sites[s]};
    qsort(options->lines, count, sizeof *options->lines, compare);
    for (size_t l = 0; l < count; l++)
        if (kept > 0 && compare(&options->lines[kept - 1], &options->lines[l]) == 0)
            add(&options->lines[kept - 1].counts, &options->lines[l].counts);
        else
            options->lines[kept++] = options->lines[l];
    options->line_count = kept;
    return true;
}

void tool_lines_free(tool_report_options *options) {
    masu__meta_free(options->lines, options->line_room * sizeof *options->lines);
    options->lines = NULL;
}
