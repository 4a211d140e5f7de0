/* explain_frame.c: a frame drawn: addresses upwards, the program's points to the right.
 *
 *     the frame of f{b}: 512 bytes, no plan needs less (lower bound 512)
 *
 *           512 ┬
 *           256 │  bbd         one row a range of addresses in which the same tensors live,
 *             0 │ aaccc        one column a point at which a tensor comes or goes
 *                 22345        the line of the source, last digit
 *
 *         a  at 0      256 bytes  line 2    `a`      shared with c
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/meta.h"
#include "language/explain/explain_frame.h"

enum { MOST_ROWS = 24, MOST_COLUMNS = 72, MOST_SHOWN = 400, NAME_BYTES = 24 };

typedef struct tenant {
    ir_value value;
    const ir_place *place;
    uint32_t first, last;
    char letter;
    uint32_t round; /* how often the letters had been used up before it: a, then a1 */
} tenant;

typedef struct picture {
    const ir_function *f;
    tenant tenants[MOST_SHOWN];
    uint32_t count, left_out;
    uint32_t columns[2 * MOST_SHOWN]; /* points, ascending */
    uint32_t column_count;
    uint64_t rows[2 * MOST_SHOWN]; /* addresses, ascending */
    uint32_t row_count;
} picture;

/* ---- gathering ------------------------------------------------------------------------------------- */

static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
enum { LETTERS = sizeof letters - 1 };

static int by_size_u32(const void *a, const void *b) {
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

static int by_size_u64(const void *a, const void *b) {
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static void add_tenant(picture *p, ir_value v) {
    const ir_value_info *info = &p->f->values[v];
    const ir_place *place = ir_place_of(p->f, v);
    if (!place || place->bytes == 0)
        return;
    if (p->count == MOST_SHOWN) {
        p->left_out++;
        return;
    }
    p->tenants[p->count] = (tenant){
        v, place, info->point_first, info->point_last, letters[p->count % LETTERS], p->count / LETTERS};
    p->columns[p->column_count++] = info->point_first;
    p->columns[p->column_count++] = info->point_last;
    p->rows[p->row_count++] = place->at;
    p->rows[p->row_count++] = place->at + place->bytes;
    p->count++;
}

static uint32_t unique_u32(uint32_t *numbers, uint32_t count) {
    uint32_t kept = 0;
    qsort(numbers, count, sizeof *numbers, by_size_u32);
    for (uint32_t k = 0; k < count; k++)
        if (kept == 0 || numbers[kept - 1] != numbers[k])
            numbers[kept++] = numbers[k];
    return kept;
}

static uint32_t unique_u64(uint64_t *numbers, uint32_t count) {
    uint32_t kept = 0;
    qsort(numbers, count, sizeof *numbers, by_size_u64);
    for (uint32_t k = 0; k < count; k++)
        if (kept == 0 || numbers[kept - 1] != numbers[k])
            numbers[kept++] = numbers[k];
    return kept;
}

static void gather(picture *p) {
    for (uint32_t b = 0; b < p->f->block_count; b++)
        for (const ir_instr *i = p->f->blocks[b]->first; i; i = i->next)
            for (uint32_t r = 0; r < i->result_count; r++)
                add_tenant(p, i->result + r);
    p->column_count = unique_u32(p->columns, p->column_count);
    p->row_count = unique_u64(p->rows, p->row_count);
}

/* ---- drawing ----------------------------------------------------------------------------------------- */

static uint32_t thinned(uint32_t k, uint32_t shown, uint32_t all) {
    return shown < all ? (uint32_t)((uint64_t)k * all / shown) : k;
}

/* Who lives at the address at that point; the younger one where one is written over the other. */
static char lives_there(const picture *p, uint64_t address, uint32_t point) {
    char letter = ' ';
    for (uint32_t k = 0; k < p->count; k++) {
        const tenant *t = &p->tenants[k];
        if (address >= t->place->at && address < t->place->at + t->place->bytes && point >= t->first &&
            point <= t->last)
            letter = t->letter;
    }
    return letter;
}

static uint32_t line_of(const ir_function *f, ir_value v) {
    const ir_instr *i = f->values[v].def;
    return i->span.file ? source_place_of(i->span).line : 0;
}

/* The line at which a tensor is made at this point; 0 where one only ends. */
static uint32_t line_at(const picture *p, uint32_t point) {
    for (uint32_t k = 0; k < p->count; k++)
        if (p->tenants[k].first == point)
            return line_of(p->f, p->tenants[k].value);
    return 0;
}

static void draw(const picture *p, masu__buffer *out) {
    uint32_t rows = p->row_count - 1 < MOST_ROWS ? p->row_count - 1 : MOST_ROWS;
    uint32_t columns = p->column_count < MOST_COLUMNS ? p->column_count : MOST_COLUMNS;
    masu__buffer_printf(out, "  %10" PRIu64 " ┬\n", p->f->room_bytes);
    for (uint32_t r = rows; r-- > 0;) {
        uint64_t address = p->rows[thinned(r, rows, p->row_count - 1)];
        masu__buffer_printf(out, "  %10" PRIu64 " │ ", address);
        for (uint32_t c = 0; c < columns; c++)
            masu__buffer_putc(out, lives_there(p, address, p->columns[thinned(c, columns, p->column_count)]));
        masu__buffer_putc(out, '\n');
    }
    masu__buffer_puts(out, "        line   ");
    for (uint32_t c = 0; c < columns; c++) {
        uint32_t line = line_at(p, p->columns[thinned(c, columns, p->column_count)]);
        masu__buffer_putc(out, line ? (char)('0' + line % 10) : '.');
    }
    masu__buffer_puts(out, "   (last digit)\n");
}

/* ---- the list ------------------------------------------------------------------------------------------ */

static void put_name(const ir_function *f, ir_value v, masu__buffer *out) {
    const ir_value_info *info = &f->values[v];
    if (info->name || !info->span.file) {
        masu__buffer_printf(out, "%s", info->name ? info->name : "?");
        return;
    }
    const char *text = info->span.file->text + info->span.offset;
    uint32_t length = 0;
    while (length < info->span.length && length < NAME_BYTES && (unsigned char)text[length] >= ' ' &&
           (unsigned char)text[length] < 0x7F)
        length++;
    masu__buffer_append(out, text, length);
}

static bool meets(const ir_place *a, const ir_place *b) {
    return a->at < b->at + b->bytes && b->at < a->at + a->bytes;
}

static void put_label(const tenant *t, masu__buffer *out) {
    masu__buffer_putc(out, t->letter);
    if (t->round > 0)
        masu__buffer_printf(out, "%" PRIu32, t->round);
}

static void put_sharers(const picture *p, const tenant *t, masu__buffer *out) {
    enum { MOST_SHARERS = 8 };
    uint32_t count = 0;
    for (uint32_t k = 0; k < p->count; k++) {
        if (&p->tenants[k] == t || !meets(p->tenants[k].place, t->place))
            continue;
        if (count < MOST_SHARERS) {
            masu__buffer_puts(out, count ? " " : "  shared with ");
            put_label(&p->tenants[k], out);
        }
        count++;
    }
    if (count > MOST_SHARERS)
        masu__buffer_printf(out, " and %" PRIu32 " more", count - MOST_SHARERS);
}

static void put_list(const picture *p, masu__buffer *out) {
    for (uint32_t k = 0; k < p->count; k++) {
        const tenant *t = &p->tenants[k];
        masu__buffer_puts(out, "    ");
        put_label(t, out);
        masu__buffer_printf(out, "%s at %-8" PRIu64 "%8" PRIu64 " bytes  line %-5" PRIu32, t->round ? "" : " ",
                            t->place->at, t->place->bytes, line_of(p->f, t->value));
        put_name(p->f, t->value, out);
        put_sharers(p, t, out);
        masu__buffer_putc(out, '\n');
    }
    if (p->left_out > 0)
        masu__buffer_printf(out, "    and %" PRIu32 " more that are not drawn\n", p->left_out);
}

/* NULL: nothing to draw, or no memory left. */
static picture *picture_of(const ir_function *f, masu__buffer *out) {
    picture *p = f->room_bytes > 0 ? masu__meta_calloc(1, sizeof *p) : NULL;
    out->failed |= f->room_bytes > 0 && !p;
    if (!p)
        return NULL;
    p->f = f;
    gather(p);
    if (p->count > 0)
        return p;
    masu__meta_free(p, sizeof *p);
    return NULL;
}

void explain_frame(const ir_function *f, masu__buffer *out) {
    picture *p = picture_of(f, out);
    if (!p)
        return;
    masu__buffer_printf(out, "\nthe frame of %s: %" PRIu64 " bytes, ", f->name, f->room_bytes);
    if (f->room_bytes == f->room_bound)
        masu__buffer_puts(out, "and no plan needs less\n\n");
    else
        masu__buffer_printf(out, "at least %" PRIu64 " are needed\n\n", f->room_bound);
    draw(p, out);
    masu__buffer_putc(out, '\n');
    put_list(p, out);
    masu__meta_free(p, sizeof *p);
}

/* ---- for a page ------------------------------------------------------------------------------------------- */

enum { SVG_WIDTH = 800, SVG_HEIGHT = 200 };

static uint32_t column_of(const picture *p, uint32_t point) {
    uint32_t c = 0;
    while (c + 1 < p->column_count && p->columns[c] < point)
        c++;
    return c;
}

static void put_tenant_svg(const picture *p, const tenant *t, masu__buffer *out) {
    double across = (double)SVG_WIDTH / p->column_count;
    double up = (double)SVG_HEIGHT / (double)p->f->room_bytes;
    double x = across * column_of(p, t->first), y = up * (double)(t->place->at + t->place->bytes);
    masu__buffer_printf(out,
                        "<g><rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\"/><text x=\"%.1f\" y=\"%.1f\">",
                        x, SVG_HEIGHT - y, across * (column_of(p, t->last) + 1) - x, up * (double)t->place->bytes,
                        x + 2, SVG_HEIGHT - y + 11);
    put_label(t, out);
    masu__buffer_puts(out, "</text><title>");
    masu__buffer name = {0};
    put_name(p->f, t->value, &name);
    masu__buffer_html(out, masu__buffer_text(&name), name.length);
    out->failed |= name.failed;
    masu__buffer_destroy(&name);
    masu__buffer_printf(out, ", line %" PRIu32 ": bytes %" PRIu64 " to %" PRIu64 "</title></g>\n",
                        line_of(p->f, t->value), t->place->at, t->place->at + t->place->bytes);
}

void explain_frame_svg(const ir_function *f, masu__buffer *out) {
    picture *p = picture_of(f, out);
    if (!p)
        return;
    masu__buffer_printf(out,
                        "<p>The frame: addresses upwards from 0 to %" PRIu64
                        ", the program's course to the right.</p>\n<svg width=%d height=%d>\n",
                        f->room_bytes, SVG_WIDTH, SVG_HEIGHT);
    for (uint32_t k = 0; k < p->count; k++)
        put_tenant_svg(p, &p->tenants[k], out);
    masu__buffer_puts(out, "</svg>\n<pre>");
    masu__buffer listed = {0};
    put_list(p, &listed);
    masu__buffer_html(out, masu__buffer_text(&listed), listed.length);
    out->failed |= listed.failed;
    masu__buffer_destroy(&listed);
    masu__buffer_puts(out, "</pre>\n");
    masu__meta_free(p, sizeof *p);
}

/* ---- as data ---------------------------------------------------------------------------------------------- */

void explain_frame_json(const ir_function *f, masu__buffer *out) {
    const char *comma = "";
    masu__buffer_printf(out, "\"frame_bytes\": %" PRIu64 ", \"frame_lower_bound\": %" PRIu64 ", \"tensors\": [",
                        f->room_bytes, f->room_bound);
    for (ir_value v = 1; v < f->value_count; v++) {
        const ir_place *place = ir_place_of(f, v);
        if (!place || place->bytes == 0)
            continue;
        masu__buffer_printf(out,
                            "%s{\"line\": %" PRIu32 ", \"offset\": %" PRIu64 ", \"bytes\": %" PRIu64
                            ", \"from\": %" PRIu32 ", \"to\": %" PRIu32 "}",
                            comma, line_of(f, v), place->at, place->bytes, f->values[v].point_first,
                            f->values[v].point_last);
        comma = ", ";
    }
    masu__buffer_putc(out, ']');
}
