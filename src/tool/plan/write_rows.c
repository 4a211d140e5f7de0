/* write_rows.c: plans as CSV and JSON. Both can be read again: the offset column is what --check
 * judges, or what the next plan must keep. */
#include <inttypes.h>
#include <string.h>

#include "tool/plan/plan_table.h"

static bool has_alignment(const plan_table *t) {
    for (size_t i = 0; i < t->count; i++)
        if (t->rows[i].alignment_bytes > 1)
            return true;
    return false;
}

static bool has_gaps(const plan_table *t) {
    for (size_t i = 0; i < t->count; i++)
        if (t->rows[i].gap_count > 0)
            return true;
    return false;
}

static void put_row_csv(const plan_answer *a, size_t i, bool alignment, bool gaps, const plan_csv_links *links,
                        masu__buffer *out) {
    const masu_plan_row *row = &a->table->rows[i];
    plan_put_id(out, a->table->ids[i]);
    masu__buffer_printf(out, ",%" PRId64 ",%" PRId64 ",%" PRIu64, row->lower, row->upper, row->size_bytes);
    if (alignment)
        masu__buffer_printf(out, ",%" PRIu64, row->alignment_bytes ? row->alignment_bytes : 1);
    if (gaps)
        masu__buffer_putc(out, ',');
    for (size_t g = 0; g < row->gap_count; g++) {
        const masu_plan_gap *gap = &row->gaps[g];
        masu__buffer_printf(out, "%s%" PRId64 "-%" PRId64, g ? " " : "", gap->lower, gap->upper);
        if (gap->window_upper > 0)
            masu__buffer_printf(out, "@%" PRIu64 ":%" PRIu64, gap->window_lower, gap->window_upper);
    }
    if (a->table->has_uses)
        masu__buffer_printf(out, ",%" PRIu64, a->table->uses[i]);
    masu__buffer_printf(out, ",%" PRIu64, a->offsets[i]);
    if (a->in->memory_of)
        masu__buffer_printf(out, ",%s", a->in->parts[a->in->memory_of[i]].name);
    plan_csv_put_links(links, i, out);
    masu__buffer_putc(out, '\n');
}

void plan_write_csv(const plan_answer *a, masu__buffer *out) {
    bool alignment = has_alignment(a->table), gaps = has_gaps(a->table);
    plan_csv_links links;
    if (!plan_csv_links_open(&links, a->table)) {
        out->failed = true;
        return;
    }
    masu__buffer_printf(out, "id,lower,upper,size%s%s%s,offset%s", alignment ? ",alignment" : "", gaps ? ",gaps" : "",
                        a->table->has_uses ? ",uses" : "", a->in->memory_of ? ",memory" : "");
    for (int kind = 0; kind < PLAN_RELATION_KINDS; kind++)
        if (links.has[kind])
            masu__buffer_printf(out, ",%s", plan_relation_names[kind]);
    masu__buffer_putc(out, '\n');
    for (size_t i = 0; i < a->table->count; i++)
        put_row_csv(a, i, alignment, gaps, &links, out);
    plan_csv_links_close(&links);
}

static void put_row_json(const plan_answer *a, size_t i, masu__buffer *out) {
    const masu_plan_row *row = &a->table->rows[i];
    masu__buffer_puts(out, "    {\"id\": ");
    masu__buffer_json_string(out, a->table->ids[i], strlen(a->table->ids[i]));
    masu__buffer_printf(out, ", \"lower\": %" PRId64 ", \"upper\": %" PRId64 ", \"size\": %" PRIu64, row->lower,
                        row->upper, row->size_bytes);
    if (row->alignment_bytes > 1)
        masu__buffer_printf(out, ", \"alignment\": %" PRIu64, row->alignment_bytes);
    for (size_t g = 0; g < row->gap_count; g++) {
        const masu_plan_gap *gap = &row->gaps[g];
        masu__buffer_printf(out, "%s[%" PRId64 ", %" PRId64, g ? ", " : ", \"gaps\": [", gap->lower, gap->upper);
        if (gap->window_upper > 0)
            masu__buffer_printf(out, ", %" PRIu64 ", %" PRIu64, gap->window_lower, gap->window_upper);
        masu__buffer_puts(out, g + 1 == row->gap_count ? "]]" : "]");
    }
    if (a->table->has_uses)
        masu__buffer_printf(out, ", \"uses\": %" PRIu64, a->table->uses[i]);
    masu__buffer_printf(out, ", \"offset\": %" PRIu64, a->offsets[i]);
    if (a->in->memory_of) {
        const char *name = a->in->parts[a->in->memory_of[i]].name;
        masu__buffer_puts(out, ", \"memory\": ");
        masu__buffer_json_string(out, name, strlen(name));
    }
    masu__buffer_printf(out, "}%s\n", i + 1 < a->table->count ? "," : "");
}

void plan_write_json(const plan_answer *a, masu__buffer *out) {
    const plan_table *t = a->table;
    masu__buffer_puts(out, "{\n");
    if (!a->in->memory_of)
        masu__buffer_printf(out, "  \"height\": %" PRIu64 ",\n  \"lower_bound\": %" PRIu64 ",\n",
                            a->in->parts[0].height_bytes, a->in->parts[0].lower_bound_bytes);
    masu__buffer_puts(out, "  \"buffers\": [\n");
    for (size_t i = 0; i < t->count; i++)
        put_row_json(a, i, out);
    masu__buffer_puts(out, "  ]");
    for (size_t i = 0; i < t->relation_count; i++) {
        masu__buffer_printf(out, "%s    {\"kind\": \"%s\", \"a\": ", i ? ",\n" : ",\n  \"relations\": [\n",
                            plan_relation_names[t->relations[i].kind]);
        const char *x = t->ids[t->relations[i].a], *y = t->ids[t->relations[i].b];
        masu__buffer_json_string(out, x, strlen(x));
        masu__buffer_puts(out, ", \"b\": ");
        masu__buffer_json_string(out, y, strlen(y));
        masu__buffer_putc(out, '}');
    }
    masu__buffer_puts(out, t->relation_count ? "\n  ]\n}\n" : "\n}\n");
}
