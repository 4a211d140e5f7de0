/* read_recording.c: a recorded run as rows: each block lives from the event that made it to the event that ended it. A
 * moment is the number of an event. Blocks of several streams share the arena, as a plan of the whole run would have
 * it.
 *
 * A block that changes its size is a row for each size. Its row names the line that asked for it, where that is known.
 */
#include <string.h>

#include "base/meta.h"
#include "recording/recording.h"
#include "tool/plan/plan_table.h"

enum { GPU_ALIGNMENT = 512, HOST_ALIGNMENT = 64 };

typedef struct gatherer {
    const masu__recording *r;
    const masu__lives *lives;
    plan_table *table;
    size_t *row_of; /* of each ALLOC, plus one */
    uint16_t device;
    bool out_of_memory;
} gatherer;

/* "b17 net.py:30": the innermost place that has a file. */
static const char *name_of(gatherer *g, size_t event) {
    const masu__recording *r = g->r;
    for (uint32_t at = r->events[event].place; at; at = r->places[at].caller) {
        const char *file = masu__recording_text(r, r->places[at].file), *slash = strrchr(file, '/');
        if (*file && r->places[at].line)
            return masu__arena_printf(&g->table->arena, "b%zu %s:%u", g->table->count, slash ? slash + 1 : file,
                                      r->places[at].line);
    }
    return masu__arena_printf(&g->table->arena, "b%zu", g->table->count);
}

static void begin_row(gatherer *g, size_t event, size_t alloc) {
    const masu__recorded_event *e = &g->r->events[event];
    const char *name = name_of(g, event);
    masu_plan_row *row = name ? plan_table_add(g->table) : NULL;
    if (!row) {
        g->out_of_memory = true;
        return;
    }
    bool is_gpu = strcmp(g->r->source_format, "PyTorch snapshot") == 0;
    uint64_t least = is_gpu ? GPU_ALIGNMENT : HOST_ALIGNMENT;
    row->size_bytes = e->bytes;
    row->lower = (int64_t)event;
    row->upper = (int64_t)g->r->event_count;
    row->alignment_bytes = (uint64_t)1 << e->alignment_log2 > least ? (uint64_t)1 << e->alignment_log2 : least;
    g->table->ids[g->table->count - 1] = name;
    g->row_of[alloc] = g->table->count;
}

static void end_row(gatherer *g, size_t event, size_t alloc) {
    if (g->row_of[alloc] && g->table->rows[g->row_of[alloc] - 1].lower < (int64_t)event)
        g->table->rows[g->row_of[alloc] - 1].upper = (int64_t)event;
}

static void gather(gatherer *g) {
    for (size_t i = 0; i < g->r->event_count && !g->out_of_memory; i++) {
        const masu__recorded_event *e = &g->r->events[i];
        uint32_t of = g->lives->of[i];
        if (e->device != g->device || e->flags & MASU__RECORDED_INNER)
            continue;
        if (e->kind == MASU__RECORDED_ALLOC) {
            begin_row(g, i, i);
        } else if ((e->kind == MASU__RECORDED_RESIZE || e->kind == MASU__RECORDED_MOVE) && of != MASU__LIVES_NONE &&
                   g->row_of[of] && g->table->rows[g->row_of[of] - 1].size_bytes != e->bytes) {
            end_row(g, i, of);
            begin_row(g, i, of);
        }
    }
    for (size_t i = 0; i < g->r->event_count && !g->out_of_memory; i++)
        if (g->r->events[i].kind == MASU__RECORDED_ALLOC && g->lives->of[i] != MASU__LIVES_NONE)
            end_row(g, g->lives->of[i], i);
}

/* The only device that has blocks, or the one that is named. */
static bool choose_device(const masu__recording *r, const char *path, const char *name, uint16_t *out,
                          masu__buffer *message) {
    const char *last = NULL;
    masu__buffer all = {0};
    unsigned found = 0;
    for (unsigned d = 0; d < r->device_count; d++) {
        size_t i = 0;
        while (i < r->event_count && (r->events[i].kind != MASU__RECORDED_ALLOC || r->events[i].device != d))
            i++;
        last = masu__recording_text(r, r->devices[d].name);
        if (i == r->event_count || (name && strcmp(name, last) != 0))
            continue;
        masu__buffer_printf(&all, "%s%s", found ? ", " : "", last);
        *out = (uint16_t)d;
        found++;
    }
    if (found == 0)
        masu__buffer_printf(message, "%s: error: no block%s%s in it\n", path, name ? " of device " : "",
                            name ? name : "");
    else if (found > 1)
        masu__buffer_printf(message,
                            "%s: error: blocks of several devices, and a plan is of one: name it with --device (%s)\n",
                            path, masu__buffer_text(&all));
    masu__buffer_destroy(&all);
    return found == 1;
}

bool plan_is_recording(const char *text, size_t length) {
    return masu__pickle_begins(text, length) || masu__trace_is(text, length);
}

static bool read_rows(const masu__recording *r, const char *path, const char *device, plan_table *out,
                      masu__buffer *message) {
    masu__lives lives = {0};
    gatherer g = {.r = r, .lives = &lives, .table = out};
    if (!choose_device(r, path, device, &g.device, message))
        return false;
    size_t bytes = (r->event_count + 1) * sizeof *g.row_of;
    g.row_of = masu__meta_calloc(r->event_count + 1, sizeof *g.row_of);
    g.out_of_memory = !g.row_of || masu__lives_find(r, &lives) != MASU_OK;
    if (!g.out_of_memory)
        gather(&g);
    masu__meta_free(g.row_of, bytes);
    masu__lives_destroy(&lives);
    if (g.out_of_memory)
        masu__buffer_printf(message, "%s: error: out of memory\n", path);
    return !g.out_of_memory;
}

bool plan_parse_recording(const char *path, const char *text, size_t length, const char *device, plan_table *out,
                          masu__buffer *message) {
    masu__recording r;
    masu__buffer why = {0};
    *out = (plan_table){0};
    masu_status status = tool_parse_recording(text, length, &r, &why);
    if (status != MASU_OK)
        masu__buffer_printf(message, "%s: error: %s\n", path,
                            why.length ? masu__buffer_text(&why) : masu_status_text(status));
    masu__buffer_destroy(&why);
    if (status != MASU_OK)
        return false;
    bool right = read_rows(&r, path, device, out, message);
    if (right)
        tool_say_missing("plan", path, &r);
    masu__recording_destroy(&r);
    return right;
}
