/* write_svg.c: a plan as a picture: time to the right, offsets up, one panel a memory.
 *
 *     ┌──────────────────────────────┐ height
 *     │ rectangles: one a buffer,    │ - - - - - - no plan is lower than this (where it is)
 *     │ coloured by row, named where │
 *     │ there is room                │        hover: id, life, size, offset
 *     └──────────────────────────────┘ 0
 *      ▂▃▅▇▅▂▁▂▂▅▆▆▂▁                          how much is live at each moment, in the same scale of time
 *
 * Sections, not moments, give the width, so that what happens quickly can be seen: the axis is cut at
 * each birth and death. What a buffer keeps in its gaps is drawn paler, and all its stretches are
 * one group, lit up together. With 10 buffers each is named; with 10 000 names and outlines are left
 * out where they would be smaller than can be read, and the file stays below 200 bytes a buffer.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/meta.h"
#include "tool/plan/plan_table.h"

enum {
    LEFT = 96,
    TOP = 40,
    WIDTH = 1200,
    RIGHT = 24,
    ALONE = 600,  /* the panel's height when it is the only one */
    SHARED = 300, /* when there are more */
    TICKS = 26,   /* below each panel, for the moments */
    STRIP = 64,   /* below those: what is live */
    APART = 56,   /* to the next panel's title and itself */
    MOST_SHORTENED = 1000,
    SMALLEST_FONT = 6
};

typedef struct picture {
    const plan_answer *answer;
    int64_t *moments; /* ascending, distinct */
    size_t moment_count, room;
    masu__buffer *out;
    /* of the panel that is being drawn */
    const plan_part *part;
    size_t part_number;
    double height; /* bytes */
    int top, tall; /* where it is */
} picture;

/* One stretch of a row's life in which it keeps the same bytes. */
typedef struct stretch {
    int64_t lower, upper;
    uint64_t from, to; /* bytes from the row's offset */
} stretch;

/* Stretch number k of row; false behind the last. Gaps without window give empty ones. */
static bool stretch_of(const masu_plan_row *row, size_t k, stretch *out) {
    size_t gap = k / 2;
    if (gap > row->gap_count || (gap == row->gap_count && k % 2 == 1))
        return false;
    if (k % 2 == 1) {
        const masu_plan_gap *g = &row->gaps[gap];
        *out = (stretch){g->lower, g->upper, g->window_lower, g->window_upper};
        return true;
    }
    *out = (stretch){gap > 0 ? row->gaps[gap - 1].upper : row->lower,
                     gap < row->gap_count ? row->gaps[gap].lower : row->upper, 0, row->size_bytes};
    return true;
}

static bool is_seen(const stretch *s) {
    return s->lower < s->upper && s->from < s->to;
}

static bool is_here(const picture *p, size_t i) {
    return !p->answer->in->memory_of || p->answer->in->memory_of[i] == p->part_number;
}

/* ---- scales ---------------------------------------------------------------------------------- */

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

static size_t section_of(const picture *p, int64_t moment) {
    size_t low = 0, high = p->moment_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (p->moments[middle] < moment)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static double section_width(const picture *p) {
    return (double)WIDTH / (double)(p->moment_count > 1 ? p->moment_count - 1 : 1);
}

static double x_of(const picture *p, int64_t moment) {
    return LEFT + (double)section_of(p, moment) * section_width(p);
}

static double y_of(const picture *p, double offset) {
    return p->top + p->tall - offset * p->tall / p->height;
}

/* ---- buffers --------------------------------------------------------------------------------- */

/* Neighbouring rows get colours far apart. */
static int hue_of(size_t i) {
    return (int)(i * 137 % 360);
}

/* Up to end; control characters and the two that XML does not know become spaces. */
static void put_text(masu__buffer *out, const char *text, const char *end) {
    for (; text < end; text++) {
        bool unknown = end - text >= 3 && memcmp(text, "\xEF\xBF", 2) == 0 && (unsigned char)text[2] >= 0xBE;
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
            masu__buffer_putc(out, (unsigned char)*text < 32 || unknown ? ' ' : *text);
        }
        text += unknown ? 2 : 0;
    }
}

static void put_hover(picture *p, size_t i) {
    const masu_plan_row *row = &p->answer->table->rows[i];
    const char *id = p->answer->table->ids[i];
    masu__buffer_puts(p->out, "<title>");
    put_text(p->out, id, id + strlen(id));
    masu__buffer_printf(p->out, "\n[%" PRId64 ", %" PRId64 ")\n", row->lower, row->upper);
    masu__buffer_put_grouped(p->out, row->size_bytes);
    masu__buffer_puts(p->out, " bytes at ");
    masu__buffer_put_grouped(p->out, p->answer->offsets[i]);
    masu__buffer_puts(p->out, "</title>");
}

static size_t letters(const char *text) {
    size_t count = 0;
    for (; *text; text++)
        count += ((unsigned char)*text & 0xC0) != 0x80;
    return count;
}

/* The name along the longer side, where it fits at a size that can be read. Its end, which says
 * more than its beginning, where only that fits and the buffers are few. */
static void put_name(picture *p, size_t i, double x, double y, double width, double height) {
    const char *id = p->answer->table->ids[i], *from = id;
    size_t count = letters(id);
    bool upright = height > width && (double)count * SMALLEST_FONT * 0.62 > width;
    double along = upright ? height : width, across = upright ? width : height;
    double size = across < 16 ? across * 0.8 : 12;
    while (size > SMALLEST_FONT && (double)count * size * 0.62 > along)
        size -= 1;
    if (size < SMALLEST_FONT)
        return;
    size_t fitting = (size_t)(along / (size * 0.62));
    if (fitting < count && (fitting < 5 || p->answer->table->count > MOST_SHORTENED))
        return;
    for (size_t skip = fitting < count ? count - fitting + 1 : 0; skip > 0; skip--)
        do
            from++;
        while (((unsigned char)*from & 0xC0) == 0x80);
    masu__buffer_printf(p->out, "<text x=\"%.1f\" y=\"%.1f\" font-size=\"%.1f\"", x + width / 2,
                        y + height / 2 + (upright ? 0 : size * 0.35), size);
    if (upright)
        masu__buffer_printf(p->out, " transform=\"rotate(-90 %.1f %.1f)\" dy=\".35em\"", x + width / 2, y + height / 2);
    masu__buffer_puts(p->out, from > id ? ">…" : ">");
    put_text(p->out, from, id + strlen(id));
    masu__buffer_puts(p->out, "</text>\n");
}

static void put_stretch(picture *p, size_t i, const stretch *s, bool whole, bool hover) {
    double x = x_of(p, s->lower), width = x_of(p, s->upper) - x;
    double top = y_of(p, (double)p->answer->offsets[i] + (double)s->to);
    double height = y_of(p, (double)p->answer->offsets[i] + (double)s->from) - top;
    bool outlined = width > 4 && height > 4;
    masu__buffer_printf(p->out,
                        "<rect x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" height=\"%.2f\" fill=\"hsl(%d,%d%%,%d%%)\"%s", x,
                        top, width, height, hue_of(i), 55 + (int)(i % 3) * 10, 68 + (int)(i / 3 % 3) * 6,
                        !whole     ? " class=\"w\""
                        : outlined ? " class=\"o\""
                                   : "");
    masu__buffer_putc(p->out, hover ? '>' : '/');
    if (hover)
        put_hover(p, i);
    masu__buffer_puts(p->out, hover ? "</rect>\n" : ">\n");
}

static void put_buffer(picture *p, size_t i) {
    const masu_plan_row *row = &p->answer->table->rows[i];
    stretch s, widest = {0};
    bool group = row->gap_count > 0;
    if (group) {
        masu__buffer_puts(p->out, "<g>");
        put_hover(p, i);
    }
    for (size_t k = 0; stretch_of(row, k, &s); k++) {
        if (!is_seen(&s))
            continue;
        put_stretch(p, i, &s, k % 2 == 0, !group);
        if (k % 2 == 0 &&
            (!is_seen(&widest) || x_of(p, s.upper) - x_of(p, s.lower) > x_of(p, widest.upper) - x_of(p, widest.lower)))
            widest = s;
    }
    if (group)
        masu__buffer_puts(p->out, "</g>\n");
    if (!is_seen(&widest))
        return;
    double x = x_of(p, widest.lower), y = y_of(p, (double)(p->answer->offsets[i] + widest.to));
    put_name(p, i, x, y, x_of(p, widest.upper) - x, y_of(p, (double)p->answer->offsets[i]) - y);
}

/* ---- axes ------------------------------------------------------------------------------------ */

static void put_height(picture *p, uint64_t bytes) {
    double y = y_of(p, (double)bytes);
    masu__buffer_printf(p->out, "<path d=\"M%d %.1fh%d\" stroke=\"#ccc\"/><text class=\"l\" x=\"%d\" y=\"%.1f\">",
                        LEFT - 4, y, WIDTH + 4, LEFT - 8, y + 4);
    masu__buffer_put_bytes(p->out, bytes);
    masu__buffer_puts(p->out, "</text>\n");
}

/* Multiples of a power of two, and the top. */
static void put_heights(picture *p) {
    uint64_t top = (uint64_t)p->height, step = 1;
    while (top / step > 8)
        step *= 2;
    for (uint64_t at = 0; at < top && y_of(p, (double)at) - p->top > 14; at += step)
        put_height(p, at);
    put_height(p, top);
}

static void put_moments(picture *p) {
    size_t widest = 0;
    for (size_t i = 0; i<p->moment_count; i += p->moment_count> 1 ? p->moment_count - 1 : 1) {
        masu__buffer text = {0};
        masu__buffer_printf(&text, "%" PRId64, p->moments[i]);
        widest = text.length > widest ? text.length : widest;
        p->out->failed |= text.failed;
        masu__buffer_destroy(&text);
    }
    double needed = (double)widest * 7 + 14;
    needed = needed < WIDTH / 16.0 ? WIDTH / 16.0 : needed;
    size_t step = (size_t)(needed / section_width(p)) + 1;
    for (size_t i = 0; i < p->moment_count; i += step)
        masu__buffer_printf(p->out, "<text x=\"%.1f\" y=\"%d\" font-size=\"11\">%" PRId64 "</text>\n",
                            x_of(p, p->moments[i]), p->top + p->tall + 16, p->moments[i]);
}

/* No plan is lower than this, where the plan is higher. */
static void put_bound(picture *p) {
    if (p->part->lower_bound_bytes > 0 && p->part->lower_bound_bytes < p->part->height_bytes)
        masu__buffer_printf(p->out, "<path d=\"M%d %.1fh%d\" class=\"bound\"/>\n", LEFT,
                            y_of(p, (double)p->part->lower_bound_bytes), WIDTH);
}

/* Draws the load, section by section. */
static void put_load(picture *p) {
    const plan_table *t = p->answer->table;
    size_t sections = p->moment_count > 0 ? p->moment_count - 1 : 0;
    double *load = masu__meta_calloc(sections + 1, sizeof *load), live = 0;
    if (!load) {
        p->out->failed = true;
        return;
    }
    stretch s;
    for (size_t i = 0; i < t->count; i++)
        for (size_t k = 0; is_here(p, i) && stretch_of(&t->rows[i], k, &s); k++)
            if (is_seen(&s)) {
                load[section_of(p, s.lower)] += (double)(s.to - s.from);
                load[section_of(p, s.upper)] -= (double)(s.to - s.from);
            }
    int bottom = p->top + p->tall + TICKS + STRIP;
    masu__buffer_printf(p->out, "<path class=\"live\" d=\"M%d %d", LEFT, bottom);
    for (size_t i = 0; i < sections; i++) {
        live += load[i];
        masu__buffer_printf(p->out, "V%.1fH%.2f", bottom - live * STRIP / p->height,
                            LEFT + (double)(i + 1) * section_width(p));
    }
    masu__buffer_printf(p->out, "V%dZ\"/><text class=\"l\" x=\"%d\" y=\"%d\">live</text>\n", bottom, LEFT - 8,
                        bottom - 4);
    masu__meta_free(load, (sections + 1) * sizeof *load);
}

/* ---- panels ---------------------------------------------------------------------------------- */

static void put_title(picture *p) {
    size_t count = 0;
    for (size_t i = 0; i < p->answer->table->count; i++)
        count += is_here(p, i);
    masu__buffer_printf(p->out, "<text x=\"%d\" y=\"%d\" font-size=\"14\">", LEFT + WIDTH / 2, p->top - 16);
    if (p->part->name) {
        put_text(p->out, p->part->name, p->part->name + strlen(p->part->name));
        masu__buffer_puts(p->out, ": ");
    }
    masu__buffer_printf(p->out, "%zu buffer%s, height ", count, count == 1 ? "" : "s");
    masu__buffer_put_grouped(p->out, p->part->height_bytes);
    masu__buffer_puts(p->out, " bytes");
    if (p->part->capacity_bytes > 0) {
        masu__buffer_puts(p->out, " of ");
        masu__buffer_put_grouped(p->out, p->part->capacity_bytes);
    }
    masu__buffer_puts(p->out, "; no plan is lower than ");
    masu__buffer_put_grouped(p->out, p->part->lower_bound_bytes);
    masu__buffer_puts(p->out, "</text>\n");
}

static void put_panel(picture *p) {
    p->height = p->part->height_bytes ? (double)p->part->height_bytes : 1;
    put_title(p);
    put_heights(p);
    put_moments(p);
    put_load(p);
    for (size_t i = 0; i < p->answer->table->count; i++)
        if (is_here(p, i))
            put_buffer(p, i);
    put_bound(p);
}

static void put_style(picture *p, int height) {
    masu__buffer_printf(p->out,
                        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" "
                        "font-family=\"sans-serif\" text-anchor=\"middle\">\n"
                        "<style>.o{stroke:#333;stroke-width:.5}.w{fill-opacity:.5}"
                        ".l{text-anchor:end;font-size:11px}.live{fill:#9ab}.bound{stroke:#c00;stroke-dasharray:6 4}"
                        "rect:hover,g:hover rect{stroke:#000;stroke-width:2}text,path{pointer-events:none}</style>\n"
                        "<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\" pointer-events=\"none\"/>\n",
                        LEFT + WIDTH + RIGHT, height);
}

void plan_write_svg(const plan_answer *answer, masu__buffer *out) {
    picture p = {.answer = answer, .out = out};
    p.tall = answer->in->count > 1 ? SHARED : ALONE;
    int each = p.tall + TICKS + STRIP + APART;
    if (!find_moments(&p)) {
        out->failed = true;
        return;
    }
    put_style(&p, TOP + each * (int)answer->in->count - APART + 32);
    for (size_t m = 0; m < answer->in->count; m++) {
        p.part = &answer->in->parts[m];
        p.part_number = m;
        p.top = TOP + each * (int)m;
        put_panel(&p);
    }
    masu__buffer_printf(out,
                        "<text x=\"%d\" y=\"%d\" font-size=\"11\">time (one step a birth or death)</text>\n</svg>\n",
                        LEFT + WIDTH / 2, TOP + each * (int)answer->in->count - APART + 20);
    masu__meta_free(p.moments, p.room * sizeof *p.moments);
}
