/* report.c: the report, for a person and for a program.
 *
 *     memory report ───────────────────────────────────────────
 *       tensors       live 0                   peak 12.7 KiB
 *       …
 *       verdict       nothing leaked: 1,402 buffers taken, 1,402 given back
 *
 * Both texts are put together in memory and written at once.
 */
#include <inttypes.h>

#include "base/buffer.h"
#include "runtime/state.h"

enum { LABEL_WIDTH = 14, FIRST_WIDTH = 26, LINE_WIDTH = 66 };

/* ---- for a person ------------------------------------------------------------------------------------------------ */

static void put_count(masu__buffer *text, uint64_t count, const char *one, const char *many) {
    masu__buffer_put_grouped(text, count);
    masu__buffer_printf(text, " %s", count == 1 ? one : many);
}

static void begin_line(masu__buffer *text, const char *label) {
    masu__buffer_printf(text, "  %-*s", LABEL_WIDTH, label);
}

/* The second column starts at the same place in every line. Returns where the first began. */
static void second_column(masu__buffer *text, size_t line_start) {
    size_t used = text->length - line_start, wanted = 2 + LABEL_WIDTH + FIRST_WIDTH;
    masu__buffer_fill(text, ' ', used < wanted ? wanted - used : 2);
}

static void put_tensors(masu__buffer *text, const tl_report *r) {
    size_t start = text->length;
    begin_line(text, "tensors");
    put_count(text, r->live_tensors, "live", "live");
    masu__buffer_puts(text, ", ");
    masu__buffer_put_bytes(text, r->live_bytes);
    second_column(text, start);
    masu__buffer_puts(text, "peak ");
    masu__buffer_put_bytes(text, r->peak_bytes);
    masu__buffer_putc(text, '\n');
}

static void put_buffers(masu__buffer *text, const tl_report *r) {
    size_t start = text->length;
    begin_line(text, "buffers");
    put_count(text, r->allocations, "taken", "taken");
    second_column(text, start);
    put_count(text, r->frees, "given back", "given back");
    masu__buffer_putc(text, '\n');
    if (r->placed + r->reused == 0)
        return;
    start = text->length;
    begin_line(text, "");
    put_count(text, r->placed, "in frames", "in frames");
    masu__buffer_puts(text, ", ");
    masu__buffer_put_bytes(text, r->frame_bytes_peak);
    second_column(text, start);
    put_count(text, r->reused, "written over", "written over");
    masu__buffer_puts(text, " an operand\n");
}

/* Only where it happened. */
static void put_slots(masu__buffer *text, const tl_report *r) {
    size_t start = text->length;
    if (r->slotted == 0)
        return;
    begin_line(text, "");
    put_count(text, r->slotted, "in growing slots", "in growing slots");
    masu__buffer_puts(text, ", ");
    masu__buffer_put_bytes(text, r->slot_bytes_peak);
    second_column(text, start);
    put_count(text, r->slot_growths, "growth", "growths");
    masu__buffer_putc(text, '\n');
}

/* Rows that were joined in place; nothing where there were none. */
static void put_growth(masu__buffer *text, const tl_report *r) {
    size_t start = text->length;
    if (r->grown_tensors == 0)
        return;
    begin_line(text, "growth");
    put_count(text, r->grown_tensors, "join in place", "joins in place");
    second_column(text, start);
    masu__buffer_put_bytes(text, r->kept_bytes);
    masu__buffer_puts(text, " not copied\n");
}

static void put_pool(masu__buffer *text, const tl_report *r) {
    uint64_t asked = r->pool_hits + r->pool_misses;
    size_t start = text->length;
    begin_line(text, "pool");
    if (asked == 0)
        masu__buffer_puts(text, "never asked");
    else
        masu__buffer_printf(text, "%.2f %% hits", 100.0 * (double)r->pool_hits / (double)asked);
    second_column(text, start);
    put_count(text, r->pool_misses, "miss", "misses");
    masu__buffer_puts(text, ", ");
    put_count(text, r->device_allocations, "device call", "device calls");
    masu__buffer_putc(text, '\n');
    start = text->length;
    begin_line(text, "");
    masu__buffer_put_bytes(text, r->reserved_bytes);
    masu__buffer_puts(text, " reserved");
    second_column(text, start);
    masu__buffer_put_bytes(text, r->cached_bytes);
    masu__buffer_puts(text, " of it free\n");
}

static void put_counts(masu__buffer *text, const tl_report *r) {
    size_t start = text->length;
    begin_line(text, "counts");
    put_count(text, r->retain_ops, "retain", "retains");
    second_column(text, start);
    put_count(text, r->release_ops, "release", "releases");
    masu__buffer_putc(text, '\n');
}

static void put_autograd(masu__buffer *text, const tl_report *r) {
    size_t start = text->length;
    begin_line(text, "autograd");
    put_count(text, r->live_nodes, "node live", "nodes live");
    second_column(text, start);
    put_count(text, r->live_grads, "gradient live", "gradients live");
    masu__buffer_putc(text, '\n');
}

static void put_program(masu__buffer *text, const tl_report *r) {
    size_t start = text->length;
    begin_line(text, "program");
    masu__buffer_puts(text, "frames up to ");
    masu__buffer_put_grouped(text, r->frame_depth_peak);
    masu__buffer_puts(text, " deep");
    second_column(text, start);
    put_count(text, r->live_objects, "object live", "objects live");
    masu__buffer_puts(text, ", ");
    masu__buffer_put_bytes(text, r->metadata_bytes);
    masu__buffer_putc(text, '\n');
}

static void put_process(masu__buffer *text, const tl_report *r) {
    size_t start = text->length;
    begin_line(text, "process");
    masu__buffer_put_bytes(text, r->rss_bytes);
    masu__buffer_puts(text, " resident");
    second_column(text, start);
    masu__buffer_puts(text, "peak ");
    masu__buffer_put_bytes(text, r->rss_peak_bytes);
    masu__buffer_puts(text, ", anonymous ");
    masu__buffer_put_bytes(text, r->rss_anon_peak_bytes);
    masu__buffer_putc(text, '\n');
}

static void put_time(masu__buffer *text, const tl_report *r) {
    size_t start = text->length;
    begin_line(text, "time");
    if (r->wall_seconds < 1.0)
        masu__buffer_printf(text, "%.1f ms", 1e3 * r->wall_seconds);
    else
        masu__buffer_printf(text, "%.2f s", r->wall_seconds);
    second_column(text, start);
    masu__buffer_printf(text, "seed %" PRIu64 "\n", r->seed);
}

static bool nothing_left(const tl_report *r) {
    return r->live_tensors == 0 && r->live_bytes == 0 && r->live_nodes == 0 && r->live_grads == 0 &&
           r->live_objects == 0 && r->registered == 0 && r->scope_depth == 0 && r->frame_depth == 0;
}

static void put_leak(masu__buffer *text, uint64_t count, const char *one, const char *many, const char **comma) {
    if (count == 0)
        return;
    masu__buffer_puts(text, *comma);
    put_count(text, count, one, many);
    *comma = ", ";
}

static void put_verdict(masu__buffer *text, const tl_report *r) {
    const char *comma = "";
    begin_line(text, "verdict");
    if (nothing_left(r)) {
        masu__buffer_puts(text, "nothing leaked\n");
        return;
    }
    masu__buffer_puts(text, "STILL LIVE: ");
    put_leak(text, r->live_tensors, "tensor", "tensors", &comma);
    put_leak(text, r->live_bytes, "byte", "bytes", &comma);
    put_leak(text, r->live_objects, "object", "objects", &comma);
    put_leak(text, r->live_nodes, "node", "nodes", &comma);
    put_leak(text, r->live_grads, "gradient", "gradients", &comma);
    put_leak(text, r->registered, "registration", "registrations", &comma);
    put_leak(text, r->scope_depth, "open scope", "open scopes", &comma);
    put_leak(text, r->frame_depth, "frame", "frames", &comma);
    masu__buffer_putc(text, '\n');
}

static void put_rule(masu__buffer *text, const char *title) {
    size_t start = text->length;
    masu__buffer_puts(text, title);
    for (size_t used = text->length - start; used < LINE_WIDTH; used++)
        masu__buffer_puts(text, "─");
    masu__buffer_putc(text, '\n');
}

void tl_report_print(const tl_report *report, FILE *out) {
    masu__buffer text = {0};
    put_rule(&text, "memory report ");
    put_tensors(&text, report);
    put_buffers(&text, report);
    put_slots(&text, report);
    put_growth(&text, report);
    put_pool(&text, report);
    put_counts(&text, report);
    put_autograd(&text, report);
    put_program(&text, report);
    put_process(&text, report);
    put_time(&text, report);
    put_verdict(&text, report);
    put_rule(&text, "");
    fputs(masu__buffer_text(&text), out);
    masu__buffer_destroy(&text);
}

/* ---- for a program ----------------------------------------------------------------------------------------------- */

/* Every number of the report but the time, in this order. */
#define REPORT_COUNTS(X)   \
    X(live_tensors)        \
    X(live_bytes)          \
    X(peak_bytes)          \
    X(allocations)         \
    X(frees)               \
    X(grown_tensors)       \
    X(kept_bytes)          \
    X(pool_hits)           \
    X(pool_misses)         \
    X(device_allocations)  \
    X(device_frees)        \
    X(reserved_bytes)      \
    X(cached_bytes)        \
    X(metadata_bytes)      \
    X(metadata_reserved)   \
    X(retain_ops)          \
    X(release_ops)         \
    X(live_nodes)          \
    X(live_grads)          \
    X(live_objects)        \
    X(scope_depth)         \
    X(frame_depth)         \
    X(frame_depth_peak)    \
    X(registered)          \
    X(placed)              \
    X(frame_bytes_peak)    \
    X(reused)              \
    X(slotted)             \
    X(slot_growths)        \
    X(slot_bytes_peak)     \
    X(rss_bytes)           \
    X(rss_peak_bytes)      \
    X(rss_anon_bytes)      \
    X(rss_anon_peak_bytes) \
    X(seed)

#define COUNT_ONE(name) +1
_Static_assert(sizeof(tl_report) == (0 REPORT_COUNTS(COUNT_ONE)) * sizeof(uint64_t) + sizeof(double),
               "a field of tl_report is missing in the list above");

static void put_line_counts(masu__buffer *text, const tl_report_line *l) {
    const struct {
        const char *name;
        uint64_t count;
    } counts[] = {
        {"acquires", l->counts.acquires}, {"releases", l->counts.releases}, {"moves", l->counts.moves},
        {"borrows", l->counts.borrows},   {"slots", l->counts.slots},       {"allocations", l->counts.allocations},
        {"placed", l->counts.placed},     {"reused", l->counts.reused},     {"slotted", l->counts.slotted}};
    for (size_t k = 0; k < sizeof counts / sizeof counts[0]; k++) {
        masu__buffer_puts(text, "  \"");
        for (const char *c = l->path ? l->path : ""; *c; c++) {
            if (*c == '"' || *c == '\\')
                masu__buffer_putc(text, '\\');
            masu__buffer_putc(text, *c);
        }
        masu__buffer_printf(text, "%sline_%" PRIu32 "_%s\": %" PRIu64 ",\n", l->path ? ":" : "", l->line,
                            counts[k].name, counts[k].count);
    }
}

void tl_report_print_json(const tl_report *report, FILE *out) {
    tl_report_print_json_lines(report, NULL, 0, out);
}

void tl_report_print_json_lines(const tl_report *report, const tl_report_line *lines, size_t line_count, FILE *out) {
    masu__buffer text = {0};
    masu__buffer_puts(&text, "{\n");
#define PUT_COUNT(name) masu__buffer_printf(&text, "  \"" #name "\": %" PRIu64 ",\n", report->name);
    REPORT_COUNTS(PUT_COUNT)
    for (size_t l = 0; l < line_count; l++)
        put_line_counts(&text, &lines[l]);
    masu__buffer_printf(&text, "  \"wall_seconds\": %.6f\n}\n", report->wall_seconds);
    fputs(masu__buffer_text(&text), out);
    masu__buffer_destroy(&text);
}
