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
#include "language/pass/explain_frame.h"

enum { MOST_ROWS = 24, MOST_COLUMNS = 72, MOST_SHOWN = 400, NAME_BYTES = 24 };

typedef struct tenant {
    const ir_instr *def;
    uint32_t first, last;
    char letter;
} tenant;

typedef struct picture {
    const ir_function *f;
    tenant tenants[MOST_SHOWN];
    uint32_t count;
    uint32_t columns[2 * MOST_SHOWN]; /* points, ascending */
    uint32_t column_count;
    uint64_t rows[2 * MOST_SHOWN]; /* addresses, ascending */
    uint32_t row_count;
} picture;

/* ---- gathering ------------------------------------------------------------------------------------- */

static char letter_for(uint32_t n) {
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
    return letters[n % (sizeof letters - 1)];
}

static int by_size_u32(const void *a, const void *b) {
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

static int by_size_u64(const void *a, const void *b) {
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static void add_tenant(picture *p, const ir_instr *i) {
    const ir_value_info *info = &p->f->values[i->result];
    p->tenants[p->count] = (tenant){i, info->point_first, info->point_last, letter_for(p->count)};
    p->columns[p->column_count++] = info->point_first;
    p->columns[p->column_count++] = info->point_last;
    p->rows[p->row_count++] = i->place.at;
    p->rows[p->row_count++] = i->place.at + i->place.bytes;
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
            if (i->place.bytes && p->count < MOST_SHOWN)
                add_tenant(p, i);
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
        if (address >= t->def->place.at && address < t->def->place.at + t->def->place.bytes &&
            point >= t->first && point <= t->last)
            letter = t->letter;
    }
    return letter;
}

static uint32_t line_of(const ir_instr *i) {
    return i->span.file ? source_place_of(i->span).line : 0;
}

/* The line at which a tensor is made at this point; 0 where one only ends. */
static uint32_t line_at(const picture *p, uint32_t point) {
    for (uint32_t k = 0; k < p->count; k++)
        if (p->tenants[k].first == point)
            return line_of(p->tenants[k].def);
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
            masu__buffer_putc(
                out, lives_there(p, address, p->columns[thinned(c, columns, p->column_count)]));
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

static void put_name(const ir_function *f, const ir_instr *i, masu__buffer *out) {
    const ir_value_info *info = &f->values[i->result];
    if (info->name || !info->span.file) {
        masu__buffer_printf(out, "%s", info->name ? info->name : "?");
        return;
    }
    const char *text = info->span.file->text + info->span.offset;
    uint32_t length = 0;
    while (length < info->span.length && length < NAME_BYTES &&
           (unsigned char)text[length] >= ' ' && (unsigned char)text[length] < 0x7F)
        length++;
    masu__buffer_append(out, text, length);
}

static bool meets(const ir_instr *a, const ir_instr *b) {
    return a->place.at < b->place.at + b->place.bytes && b->place.at < a->place.at + a->place.bytes;
}

static void put_sharers(const picture *p, const tenant *t, masu__buffer *out) {
    uint32_t shown = 0;
    for (uint32_t k = 0; k < p->count && shown < 8; k++) {
        if (&p->tenants[k] == t || !meets(p->tenants[k].def, t->def))
            continue;
        masu__buffer_printf(out, "%s%c", shown ? " " : "  shared with ", p->tenants[k].letter);
        shown++;
    }
}

static void put_list(const picture *p, masu__buffer *out) {
    for (uint32_t k = 0; k < p->count; k++) {
        const tenant *t = &p->tenants[k];
        masu__buffer_printf(out, "    %c  at %-8" PRIu64 "%8" PRIu64 " bytes  line %-5" PRIu32,
                            t->letter, t->def->place.at, t->def->place.bytes, line_of(t->def));
        put_name(p->f, t->def, out);
        put_sharers(p, t, out);
        masu__buffer_putc(out, '\n');
    }
}

void explain_frame(const ir_function *f, masu__buffer *out) {
    if (f->room_bytes == 0)
        return;
    picture *p = masu__meta_calloc(1, sizeof *p);
    if (!p) {
        out->failed = true;
        return;
    }
    p->f = f;
    gather(p);
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

void explain_frame_json(const ir_function *f, masu__buffer *out) {
    const char *comma = "";
    masu__buffer_printf(
        out, "\"frame_bytes\": %" PRIu64 ", \"frame_lower_bound\": %" PRIu64 ", \"tensors\": [",
        f->room_bytes, f->room_bound);
    for (uint32_t b = 0; b < f->block_count; b++) {
        for (const ir_instr *i = f->blocks[b]->first; i; i = i->next) {
            if (i->place.bytes == 0)
                continue;
            masu__buffer_printf(out,
                                "%s{\"line\": %" PRIu32 ", \"offset\": %" PRIu64
                                ", \"bytes\": %" PRIu64 ", \"from\": %" PRIu32 ", \"to\": %" PRIu32
                                "}",
                                comma, line_of(i), i->place.at, i->place.bytes,
                                f->values[i->result].point_first, f->values[i->result].point_last);
            comma = ", ";
        }
    }
    masu__buffer_putc(out, ']');
}

/* ---- passes ------------------------------------------------------------------------------------------------ */

void explain_tallies(const ir_module *m, masu__buffer *out) {
    masu__buffer_puts(
        out, "\nbehind        acquires  releases  over an operand  in a frame  protected\n");
    for (uint32_t k = 0; k < m->tally_count; k++) {
        const ir_tally *t = &m->tallies[k];
        masu__buffer_printf(
            out, "%-12s  %8" PRIu32 "  %8" PRIu32 "  %15" PRIu32 "  %10" PRIu32 "  %9" PRIu32 "\n",
            t->pass, t->acquires, t->releases, t->over, t->framed, t->rooted);
    }
}

void explain_tallies_json(const ir_module *m, masu__buffer *out) {
    masu__buffer_putc(out, '[');
    for (uint32_t k = 0; k < m->tally_count; k++) {
        const ir_tally *t = &m->tallies[k];
        masu__buffer_printf(
            out,
            "%s\n    {\"pass\": \"%s\", \"acquires\": %" PRIu32 ", \"releases\": %" PRIu32
            ", \"over\": %" PRIu32 ", \"framed\": %" PRIu32 ", \"rooted\": %" PRIu32 "}",
            k ? "," : "", t->pass, t->acquires, t->releases, t->over, t->framed, t->rooted);
    }
    masu__buffer_puts(out, "\n  ]");
}
