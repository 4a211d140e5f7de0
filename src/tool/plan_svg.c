/* plan_svg.c: a plan as a picture: time to the right, offsets up.
 *
 *     ┌──────────────────────────────┐ height
 *     │ rectangles: one a buffer,    │
 *     │ coloured by id, named where  │        a grey line: how much is live at each moment
 *     │ there is room                │
 *     └──────────────────────────────┘ 0      hover: id, life, size, offset
 *
 * Sections, not moments, give the width, so that what happens quickly can be seen: the axis is cut at
 * each birth and death. With 10 buffers each is named; with 10 000 names and outlines are left out
 * where they would be smaller than can be read, and the file stays near 100 bytes a buffer.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/meta.h"
#include "tool/plan.h"

enum {
    LEFT = 96,
    TOP = 40,
    WIDTH = 1200,
    HEIGHT = 640,
    BOTTOM = 56,
    RIGHT = 24,
    MOST_OUTLINED = 1000
};

typedef struct picture {
    const plan_answer *answer;
    int64_t *moments; /* ascending, distinct */
    size_t moment_count, room;
    double height; /* bytes */
    masu__buffer *out;
} picture;

static int by_moment(const void *a, const void *b) {
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static bool find_moments(picture *p) {
    const plan_table *t = p->answer->table;
    p->room = 1;
    for (size_t i = 0; i < t->count; i++)
        p->room += 2 + 2 * t->rows[i].gap_count;
    p->moments = masu__meta_alloc(p->room * sizeof *p->moments);
    if (!p->moments)
        return false;
    size_t count = 0;
    for (size_t i = 0; i < t->count; i++) {
        p->moments[count++] = t->rows[i].lower;
        p->moments[count++] = t->rows[i].upper;
        for (size_t g = 0; g < t->rows[i].gap_count; g++) {
            p->moments[count++] = t->rows[i].gaps[g].lower;
            p->moments[count++] = t->rows[i].gaps[g].upper;
        }
    }
    qsort(p->moments, count, sizeof *p->moments, by_moment);
    for (size_t i = 0; i < count; i++)
        if (p->moment_count == 0 || p->moments[p->moment_count - 1] != p->moments[i])
            p->moments[p->moment_count++] = p->moments[i];
    return true;
}

static double x_of(const picture *p, int64_t moment) {
    size_t low = 0, high = p->moment_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (p->moments[middle] < moment)
            low = middle + 1;
        else
            high = middle;
    }
    return LEFT + (double)low * WIDTH / (double)(p->moment_count > 1 ? p->moment_count - 1 : 1);
}

static double y_of(const picture *p, double offset) {
    return TOP + HEIGHT - offset * HEIGHT / p->height;
}

/* Neighbouring ids get colours far apart. */
static int hue_of(size_t i) {
    return (int)(i * 137 % 360);
}

static void put_text(masu__buffer *out, const char *text) {
    for (; *text; text++) {
        switch (*text) {
        case '<':
            masu__buffer_puts(out, "&lt;");
            break;
        case '>':
            masu__buffer_puts(out, "&gt;");
            break;
        case '&':
            masu__buffer_puts(out, "&amp;");
            break;
        default:
            masu__buffer_putc(out, (unsigned char)*text < 32 ? ' ' : *text);
        }
    }
}

static void put_bytes(masu__buffer *out, uint64_t bytes) {
    masu__buffer_put_grouped(out, bytes);
}

static void put_hover(picture *p, size_t i) {
    const masu_plan_row *row = &p->answer->table->rows[i];
    masu__buffer_puts(p->out, "<title>");
    put_text(p->out, p->answer->table->ids[i]);
    masu__buffer_printf(p->out, "\n[%" PRId64 ", %" PRId64 ")\n", row->lower, row->upper);
    put_bytes(p->out, row->size_bytes);
    masu__buffer_puts(p->out, " bytes at ");
    put_bytes(p->out, p->answer->offsets[i]);
    masu__buffer_puts(p->out, "</title>");
}

static void put_name(picture *p, size_t i, double x, double y, double width, double height) {
    const char *id = p->answer->table->ids[i];
    double size = height < 16 ? height * 0.8 : 12;
    if (size < 5 || (double)strlen(id) * size * 0.62 > width)
        return;
    masu__buffer_printf(p->out, "<text x=\"%.1f\" y=\"%.1f\" font-size=\"%.1f\">", x + width / 2,
                        y + height / 2 + size * 0.35, size);
    put_text(p->out, id);
    masu__buffer_puts(p->out, "</text>\n");
}

static void put_stretch(picture *p, size_t i, int64_t lower, int64_t upper) {
    const masu_plan_row *row = &p->answer->table->rows[i];
    double x = x_of(p, lower), width = x_of(p, upper) - x;
    double top = y_of(p, (double)p->answer->offsets[i] + (double)row->size_bytes);
    double height = y_of(p, (double)p->answer->offsets[i]) - top;
    bool outlined = width > 4 && height > 4;
    masu__buffer_printf(p->out,
                        "<rect x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" height=\"%.2f\" "
                        "fill=\"hsl(%d,%d%%,%d%%)\"%s>",
                        x, top, width, height, hue_of(i), 55 + (int)(i % 3) * 10,
                        68 + (int)(i / 3 % 3) * 6, outlined ? " class=\"o\"" : "");
    put_hover(p, i);
    masu__buffer_puts(p->out, "</rect>\n");
    put_name(p, i, x, top, width, height);
}

static void put_buffers(picture *p) {
    const plan_table *t = p->answer->table;
    for (size_t i = 0; i < t->count; i++) {
        if (t->rows[i].size_bytes == 0)
            continue;
        int64_t from = t->rows[i].lower;
        for (size_t g = 0; g <= t->rows[i].gap_count; g++) {
            bool gap = g < t->rows[i].gap_count;
            int64_t to = gap ? t->rows[i].gaps[g].lower : t->rows[i].upper;
            if (to > from)
                put_stretch(p, i, from, to);
            from = gap ? t->rows[i].gaps[g].upper : to;
        }
    }
}

static void put_axes(picture *p) {
    for (int i = 0; i <= 4; i++) {
        uint64_t bytes = (uint64_t)(p->height * i / 4);
        double y = y_of(p, (double)bytes);
        masu__buffer_printf(p->out,
                            "<path d=\"M%d %.1fh%d\" stroke=\"#ccc\"/><text class=\"l\" x=\"%d\" "
                            "y=\"%.1f\">",
                            LEFT - 4, y, WIDTH + 4, LEFT - 8, y + 4);
        masu__buffer_put_bytes(p->out, bytes);
        masu__buffer_puts(p->out, "</text>\n");
    }
    size_t step = p->moment_count > 9 ? (p->moment_count - 1) / 8 : 1;
    for (size_t i = 0; i < p->moment_count; i += step)
        masu__buffer_printf(p->out,
                            "<text x=\"%.1f\" y=\"%d\" font-size=\"11\">%" PRId64 "</text>\n",
                            x_of(p, p->moments[i]), TOP + HEIGHT + 18, p->moments[i]);
    masu__buffer_printf(p->out,
                        "<text x=\"%d\" y=\"%d\" font-size=\"11\">time (one step a birth or "
                        "death)</text>\n",
                        LEFT + WIDTH / 2, TOP + HEIGHT + 40);
}

/* What is live, section by section: where it touches the top no plan could be lower. */
static void put_load(picture *p) {
    const plan_table *t = p->answer->table;
    size_t sections = p->moment_count > 0 ? p->moment_count - 1 : 0;
    double *load = masu__meta_calloc(sections + 1, sizeof *load);
    if (!load) {
        p->out->failed = true;
        return;
    }
    double step = sections ? (double)WIDTH / (double)sections : 0;
    for (size_t i = 0; i < t->count; i++) {
        int64_t from = t->rows[i].lower;
        for (size_t g = 0; g <= t->rows[i].gap_count; g++) {
            bool gap = g < t->rows[i].gap_count;
            int64_t to = gap ? t->rows[i].gaps[g].lower : t->rows[i].upper;
            if (to > from) {
                load[(size_t)((x_of(p, from) - LEFT) / step + 0.5)] +=
                    (double)t->rows[i].size_bytes;
                load[(size_t)((x_of(p, to) - LEFT) / step + 0.5)] -= (double)t->rows[i].size_bytes;
            }
            from = gap ? t->rows[i].gaps[g].upper : to;
        }
    }
    masu__buffer_printf(p->out, "<defs><path id=\"load\" d=\"M%d %d", LEFT, TOP + HEIGHT);
    double live = 0;
    for (size_t s = 0; s < sections; s++) {
        live += load[s];
        masu__buffer_printf(p->out, "V%.1fH%.2f", y_of(p, live < 0 ? 0 : live),
                            LEFT + (double)(s + 1) * step);
    }
    masu__buffer_printf(p->out, "V%d\"/></defs><use href=\"#load\" class=\"area\"/>\n",
                        TOP + HEIGHT);
    masu__meta_free(load, (sections + 1) * sizeof *load);
}

/* The same line once more, above the buffers, where there are few enough to see it. */
static void put_outline(picture *p) {
    if (p->moment_count < MOST_OUTLINED)
        masu__buffer_puts(p->out, "<use href=\"#load\" class=\"line\"/>\n");
}

static void put_frame(picture *p) {
    const masu_plan_result *r = p->answer->result;
    masu__buffer_printf(p->out,
                        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" "
                        "font-family=\"sans-serif\" text-anchor=\"middle\">\n"
                        "<style>.o{stroke:#333;stroke-width:.5}.l{text-anchor:end;font-size:11px}"
                        "#load{stroke-width:.8;stroke-opacity:.6}.line{fill:none;stroke:#000}"
                        ".area{fill:#eef}"
                        "rect:hover{stroke:#000;stroke-width:2}text{pointer-events:none}</style>\n"
                        "<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\" "
                        "pointer-events=\"none\"/>\n",
                        LEFT + WIDTH + RIGHT, TOP + HEIGHT + BOTTOM);
    masu__buffer_printf(p->out, "<text x=\"%d\" y=\"24\" font-size=\"14\">%zu buffers, height ",
                        LEFT + WIDTH / 2, p->answer->table->count);
    put_bytes(p->out, r->height_bytes);
    masu__buffer_puts(p->out, " bytes, no plan is lower than ");
    put_bytes(p->out, r->lower_bound_bytes);
    masu__buffer_puts(p->out, "; outlined: what is live</text>\n");
}

void plan_write_svg(const plan_answer *answer, masu__buffer *out) {
    picture p = {.answer = answer, .out = out};
    p.height = answer->result->height_bytes ? (double)answer->result->height_bytes : 1;
    if (!find_moments(&p)) {
        out->failed = true;
        return;
    }
    put_frame(&p);
    put_load(&p);
    put_axes(&p);
    put_buffers(&p);
    put_outline(&p);
    masu__buffer_puts(out, "</svg>\n");
    masu__meta_free(p.moments, p.room * sizeof *p.moments);
}
