/* write_products.c: products of matrices and convolutions of real numbers: a function for each shape, as loops that any
 * compiler turns into vectors: the counts are constants, neighbours lie side by side, and rows share what they read.
 *
 *     matmul, b's rows side by side   b turned round                     convolve
 *     c[0..4) += x u + y v + …        a panel of b is put side by side   out[0..R) += taps of one row of the image
 *     four rows of c, four of b       first; few rows: 16 sums at once   R outputs; the border apart
 *
 * What must stay true (tests/cli/plain_c.sh compares bits): each element is summed in order of the inner dimension (of
 * channels, rows and columns), as the plain loop would; the result's array is none that is read.
 */
#include <stdio.h>

#include "language/portable/writer.h"

enum { ROWS = 4, STEPS = 4, COLUMNS = 4, MOST_TAPS = 16, PANEL = 16, PANEL_DEPTH = 32 };

/* Text of one function while it is made. */
typedef struct text {
    masu__buffer out;
    const char *type;
    const char *a, *b, *c; /* what the matrices are called */
    char places[4][96];
    uint32_t depth, next_place;
} text;

static void line(text *t, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void line(text *t, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    masu__buffer_fill(&t->out, ' ', 4 * (size_t)t->depth);
    masu__buffer_vprintf(&t->out, format, arguments);
    masu__buffer_putc(&t->out, '\n');
    va_end(arguments);
}

/* "3 + ox * 2": a place, without what is 0 or 1. Its text lives for the line. */
static const char *index_of(text *t, const char *letter, long long by, long long from) {
    char *out = t->places[t->next_place++ % 4];
    char factor[32] = "";
    if (by != 1)
        snprintf(factor, sizeof factor, " * %lld", by);
    if (from == 0)
        snprintf(out, sizeof t->places[0], "%s%s", letter, factor);
    else
        snprintf(out, sizeof t->places[0], "%s%s %c %lld", letter, factor, from < 0 ? '-' : '+',
                 from < 0 ? -from : from);
    return out;
}

static void close_brace(text *t) {
    t->depth--;
    line(t, "}");
}

/* for (int32_t j = 0; j < 12; j++), then the rest: what goes into vectors evenly is apart from what does not. */
static int64_t even_part(int64_t from, int64_t to) {
    return to - from >= 8 ? from + (to - from) / 4 * 4 : to;
}

static void keep(writer *w, const char *name, text *t) {
    functions_need(w->set, name, masu__buffer_text(&t->out));
    write_drop(w, &t->out);
}

/* ---- matrices ---------------------------------------------------------------------------------------------------- */

/* n · k by k · m; strides of rows and columns, in elements. */
typedef struct matrices {
    long long n, k, m, a_row, a_column, b_row, b_column, c_row, c_column;
} matrices;

/* `count` rows of c, over all of k, `step` rows of b at a time. */
static void put_rows(text *t, const matrices *p, int count, int64_t from, int64_t to, int step) {
    if (from == to)
        return;
    if (step > 1)
        line(t, "for (int32_t k = %lld; k < %lld; k += %d) {", (long long)from, (long long)to, step);
    else
        line(t, "for (int32_t k = %lld; k < %lld; k++) {", (long long)from, (long long)to);
    t->depth++;
    for (int s = 0; s < step; s++) {
        line(t, "const %s *const u%d = %s + %s;", t->type, s, t->b, index_of(t, "k", p->b_row, s * p->b_row));
        for (int r = 0; r < count; r++)
            line(t, "const %s x%d%d = %s[%s];", t->type, r, s, t->a,
                 index_of(t, "k", p->a_column, r * p->a_row + s * p->a_column));
    }
    int64_t even = even_part(0, p->m);
    for (int part = 0; part < 2; part++) {
        if ((part ? even : 0) == (part ? p->m : even))
            continue;
        line(t, "for (int32_t j = %lld; j < %lld; j++) {", (long long)(part ? even : 0),
             (long long)(part ? p->m : even));
        t->depth++;
        for (int r = 0; r < count; r++) {
            masu__buffer_fill(&t->out, ' ', 4 * (size_t)t->depth);
            masu__buffer_printf(&t->out, "%s[%s] = %s[%s]", t->c, index_of(t, "j", 1, r * p->c_row), t->c,
                                index_of(t, "j", 1, r * p->c_row));
            for (int s = 0; s < step; s++)
                masu__buffer_printf(&t->out, " + x%d%d * u%d[j]", r, s, s);
            masu__buffer_puts(&t->out, ";\n");
        }
        close_brace(t);
    }
    close_brace(t);
}

static void put_all_rows(text *t, const matrices *p, int count) {
    int64_t even = p->k / STEPS * STEPS;
    put_rows(t, p, count, 0, even, STEPS);
    put_rows(t, p, count, even, p->k, 1);
}

static void put_row_block(text *t, const matrices *p, int count) {
    for (int r = 0; r < count; r++) {
        line(t, "for (int32_t j = 0; j < %lld; j++)", p->m);
        line(t, "    c[%s] = 0;", index_of(t, "j", 1, r * p->c_row));
    }
    put_all_rows(t, p, count);
}

/* Sums of `count` rows of a and `columns` of b, each along k. */
static void put_sums(text *t, const matrices *p, int count, int64_t from, int64_t to, int columns) {
    if (from == to)
        return;
    line(t, "for (int32_t j = %lld; j < %lld; j += %d) {", (long long)from, (long long)to, columns);
    t->depth++;
    for (int r = 0; r < count; r++)
        for (int s = 0; s < columns; s++)
            line(t, "%s s%d%d = 0;", t->type, r, s);
    line(t, "for (int32_t k = 0; k < %lld; k++) {", p->k);
    t->depth++;
    for (int r = 0; r < count; r++)
        line(t, "const %s x%d = a[%s];", t->type, r, index_of(t, "k", p->a_column, r * p->a_row));
    for (int s = 0; s < columns; s++)
        line(t, "const %s u%d = b[(j + %d) * %lld + k * %lld];", t->type, s, s, p->b_column, p->b_row);
    for (int r = 0; r < count; r++)
        for (int s = 0; s < columns; s++)
            line(t, "s%d%d += x%d * u%d;", r, s, r, s);
    close_brace(t);
    for (int r = 0; r < count; r++)
        for (int s = 0; s < columns; s++)
            line(t, "c[%lld + (j + %d) * %lld] = s%d%d;", r * p->c_row, s, p->c_column, r, s);
    close_brace(t);
}

static void put_block(text *t, const matrices *p, int count) {
    if (p->b_column == 1 && p->c_column == 1 && p->m > 1) {
        put_row_block(t, p, count);
        return;
    }
    int64_t even = p->m / COLUMNS * COLUMNS;
    put_sums(t, p, count, 0, even, COLUMNS);
    put_sums(t, p, count, even, p->m, 1);
}

/* b turned round, and enough rows of a: parts of b are put side by side, then they are rows. */
static void put_panels(text *t, const matrices *p) {
    long long depth = p->k < PANEL_DEPTH ? p->k : PANEL_DEPTH, deep = p->k / depth * depth, wide = p->m / PANEL * PANEL;
    long long even = p->n / ROWS * ROWS;
    char rows[32];
    matrices part = *p;
    part.m = part.b_row = PANEL;
    part.k = depth;
    snprintf(rows, sizeof rows, "%lld", even);
    t->a = "x", t->b = "panel", t->c = "to";
    line(t, "%s panel[%lld];", t->type, depth * PANEL);
    line(t, "for (int32_t first = 0; first < %lld; first += %d) {", wide, PANEL);
    t->depth++;
    line(t, "for (int32_t i = 0; i < %lld; i++)", p->n);
    line(t, "    for (int32_t j = 0; j < %d; j++)", PANEL);
    line(t, "        c[i * %lld + first + j] = 0;", p->c_row);
    line(t, "for (int32_t from = 0; from < %lld; from += %lld) {", deep, depth);
    t->depth++;
    line(t, "for (int32_t j = 0; j < %d; j++)", PANEL);
    line(t, "    for (int32_t k = 0; k < %lld; k++)", depth);
    line(t, "        panel[k * %d + j] = b[(first + j) * %lld + (from + k) * %lld];", PANEL, p->b_column, p->b_row);
    for (int rest = 0; rest < 2; rest++) {
        if (rest && even == p->n)
            continue;
        if (rest)
            line(t, "{");
        else
            line(t, "for (int32_t i = 0; i < %lld; i += %d) {", even, ROWS);
        t->depth++;
        line(t, "%s *const to = c + %s * %lld + first;", t->type, rest ? rows : "i", p->c_row);
        line(t, "const %s *const x = a + %s * %lld + from * %lld;", t->type, rest ? rows : "i", p->a_row, p->a_column);
        put_all_rows(t, &part, rest ? (int)(p->n - even) : ROWS);
        close_brace(t);
    }
    close_brace(t);
    t->a = "a", t->b = "b", t->c = "c";
    if (deep < p->k) {
        line(t, "for (int32_t i = 0; i < %lld; i++)", p->n);
        line(t, "    for (int32_t k = %lld; k < %lld; k++)", deep, p->k);
        line(t, "        for (int32_t j = 0; j < %d; j++)", PANEL);
        line(t, "            c[i * %lld + first + j] += a[i * %lld + k * %lld] * b[(first + j) * %lld + k * %lld];",
             p->c_row, p->a_row, p->a_column, p->b_column, p->b_row);
    }
    close_brace(t);
    if (wide < p->m) {
        line(t, "for (int32_t i = 0; i < %lld; i++) {", p->n);
        t->depth++;
        put_sums(t, p, 1, wide, p->m, 1);
        line(t, "a += %lld;", p->a_row);
        line(t, "c += %lld;", p->c_row);
        close_brace(t);
    }
}

/* c = a b for these shapes; the function's name. */
static const char *matrix_function(writer *w, const matrices *p, tl_dtype dtype) {
    text t = {.type = functions_element_type(dtype), .a = "a", .b = "b", .c = "c"};
    bool is_turned = p->b_column != 1 && p->c_column == 1 && p->n >= ROWS && p->m >= PANEL;
    bool is_dense = p->a_row == p->k && p->a_column == 1 && p->b_row == p->m && p->b_column == 1 && p->c_row == p->m &&
                    p->c_column == 1;
    const char *name = writer_printf(w, "matmul_%lldx%lldx%lld", p->n, p->k, p->m);
    if (!is_dense)
        name = writer_printf(w, "%s_by_%lld_%lld_%lld_%lld_%lld_%lld", name, p->a_row, p->a_column, p->b_row,
                             p->b_column, p->c_row, p->c_column);
    name = writer_printf(w, "%s_%s", name, dtype == TL_F32 ? "f32" : "f64");
    line(&t, "/* c = a b, [%lld, %lld] [%lld, %lld]; each element in order of the inner dimension. */", p->n, p->k,
         p->k, p->m);
    line(&t, "static void %s(%s *restrict c, const %s *restrict a, const %s *restrict b) {", name, t.type, t.type,
         t.type);
    t.depth++;
    long long blocks = is_turned ? 0 : p->n / ROWS * ROWS;
    if (is_turned)
        put_panels(&t, p);
    if (blocks > 0) {
        line(&t, "for (int32_t i = 0; i < %lld; i += %d) {", blocks, ROWS);
        t.depth++;
        put_block(&t, p, ROWS);
        line(&t, "a += %lld;", ROWS * p->a_row);
        line(&t, "c += %lld;", ROWS * p->c_row);
        close_brace(&t);
    }
    if (!is_turned && p->n > blocks)
        put_block(&t, p, (int)(p->n - blocks));
    close_brace(&t);
    keep(w, name, &t);
    return name;
}

void write_real_product(writer *w, ir_value a, ir_value b, ir_value c, const char *from, const char *by,
                        const char *to) {
    const fact *fa = layout_fact(w->l, a), *fb = layout_fact(w->l, b), *fc = layout_fact(w->l, c);
    const int64_t *sa = w->l->places[a].stride, *sb = w->l->places[b].stride, *sc = w->l->places[c].stride;
    bool has_rows = fa->rank > 1, has_columns = fb->rank > 1;
    matrices p = {.n = has_rows ? fa->dim[fa->rank - 2] : 1,
                  .k = fa->dim[fa->rank - 1],
                  .m = has_columns ? fb->dim[fb->rank - 1] : 1,
                  .a_row = has_rows ? sa[fa->rank - 2] : 0,
                  .a_column = sa[fa->rank - 1],
                  .b_row = has_columns ? sb[fb->rank - 2] : sb[fb->rank - 1],
                  .b_column = has_columns ? sb[fb->rank - 1] : 1,
                  .c_row = has_rows ? sc[fc->rank - 1 - has_columns] : 0,
                  .c_column = has_columns ? sc[fc->rank - 1] : 1};
    if (p.k > 0) {
        write_line(w, "%s(&%s, &%s, &%s);", matrix_function(w, &p, fc->dtype), to, from, by);
        return;
    }
    write_open(w, "i", p.n);
    write_open(w, "j", p.m);
    write_line(w, "(&%s)[i * %lld + j * %lld] = 0;", to, p.c_row, p.c_column);
    write_close_all(w, 2);
}

/* ---- convolutions ------------------------------------------------------------------------------------------------ */

typedef struct convolution {
    const write_window *by;
    long long channels, height, width, outs;
    const int64_t *x, *w, *out; /* strides of all four dimensions */
} convolution;

/* Taps at one place of the border, each that is inside of the image. */
static void put_border(text *t, const convolution *v, int outs, long long from, long long to) {
    const write_window *by = v->by;
    if (from >= to)
        return;
    line(t, "for (int32_t ox = %lld; ox < %lld; ox++)", from, to);
    t->depth++;
    line(t, "for (int32_t kx = 0; kx < %lld; kx++) {", by->kernel[1]);
    t->depth++;
    line(t, "const int32_t x = %s + %s;", index_of(t, "ox", by->stride[1], 0),
         index_of(t, "kx", by->dilation[1], -by->padding[1]));
    line(t, "if (x < 0 || x >= %lld)", v->width);
    t->depth++;
    line(t, "continue;");
    t->depth--;
    for (int o = 0; o < outs; o++)
        line(t, "to[%s] += taps[%s] * row[%s];", index_of(t, "ox", v->out[3], o * v->out[1]),
             index_of(t, "kx", v->w[3], o * v->w[0]), index_of(t, "x", v->x[3], 0));
    close_brace(t);
    t->depth--;
}

/* Where all taps are inside: one pass over the row for all of them. */
static void put_inside(text *t, const convolution *v, int outs, long long from, long long to) {
    const write_window *by = v->by;
    int64_t even = even_part(from, to);
    for (int part = 0; part < 2; part++) {
        long long begin = part ? even : from, end = part ? to : even;
        if (begin >= end)
            continue;
        line(t, "for (int32_t ox = %lld; ox < %lld; ox++) {", begin, end);
        t->depth++;
        for (int o = 0; o < outs; o++) {
            masu__buffer_fill(&t->out, ' ', 4 * (size_t)t->depth);
            const char *at = index_of(t, "ox", v->out[3], o * v->out[1]);
            masu__buffer_printf(&t->out, "to[%s] = to[%s]", at, at);
            for (int k = 0; k < by->kernel[1]; k++)
                masu__buffer_printf(
                    &t->out, " + t%d%c * row[%s]", o, 'a' + k,
                    index_of(t, "ox", by->stride[1] * v->x[3], (k * by->dilation[1] - by->padding[1]) * v->x[3]));
            masu__buffer_puts(&t->out, ";\n");
        }
        close_brace(t);
    }
}

/* So many outputs at once: for each row of the result, over channels and rows of the kernel. */
static void put_outputs(text *t, const convolution *v, int outs) {
    const write_window *by = v->by;
    long long reach = (by->kernel[1] - 1) * by->dilation[1], places = by->places[1];
    long long low = (by->padding[1] + by->stride[1] - 1) / by->stride[1], last = v->width - 1 + by->padding[1] - reach;
    long long high = last < 0 ? 0 : last / by->stride[1] + 1;
    low = low < places ? low : places;
    high = high < low ? low : high < places ? high : places;
    if (by->kernel[1] > MOST_TAPS)
        low = high = places;
    line(t, "for (int32_t oy = 0; oy < %lld; oy++) {", by->places[0]);
    t->depth++;
    line(t, "%s *restrict const to = out + oy * %lld;", t->type, (long long)v->out[2]);
    for (int o = 0; o < outs; o++) {
        line(t, "for (int32_t ox = 0; ox < %lld; ox++)", places);
        t->depth++;
        line(t, "to[%s] = 0;", index_of(t, "ox", v->out[3], o * v->out[1]));
        t->depth--;
    }
    line(t, "for (int32_t c = 0; c < %lld; c++)", v->channels);
    t->depth++;
    line(t, "for (int32_t ky = 0; ky < %lld; ky++) {", by->kernel[0]);
    t->depth++;
    line(t, "const int32_t y = %s + %s;", index_of(t, "oy", by->stride[0], 0),
         index_of(t, "ky", by->dilation[0], -by->padding[0]));
    line(t, "if (y < 0 || y >= %lld)", v->height);
    t->depth++;
    line(t, "continue;");
    t->depth--;
    line(t, "const %s *const row = image + c * %lld + y * %lld, *const taps = kernel + c * %lld + ky * %lld;", t->type,
         (long long)v->x[1], (long long)v->x[2], (long long)v->w[1], (long long)v->w[2]);
    for (int o = 0; low < high && o < outs; o++)
        for (int k = 0; k < by->kernel[1]; k++)
            line(t, "const %s t%d%c = taps[%lld];", t->type, o, 'a' + k, (long long)(o * v->w[0] + k * v->w[3]));
    put_border(t, v, outs, 0, low);
    put_inside(t, v, outs, low, high);
    put_border(t, v, outs, high, places);
    close_brace(t);
    t->depth--;
    close_brace(t);
}

static bool is_dense(const int64_t *stride, long long second, long long third, long long fourth) {
    return stride[3] == 1 && stride[2] == fourth && stride[1] == third * fourth && stride[0] == second * third * fourth;
}

/* All that the text follows from. */
static const char *convolution_name(writer *w, const convolution *v, tl_dtype dtype) {
    const write_window *by = v->by;
    const int64_t *const all[] = {v->x, v->w, v->out};
    const char *name = writer_printf(w, "convolve_%lldx%lldx%lld_%lldx%lldx%lld", v->channels, v->height, v->width,
                                     v->outs, by->kernel[0], by->kernel[1]);
    if (by->stride[0] != 1 || by->stride[1] != 1)
        name = writer_printf(w, "%s_step_%lldx%lld", name, by->stride[0], by->stride[1]);
    if (by->padding[0] != 0 || by->padding[1] != 0)
        name = writer_printf(w, "%s_pad_%lldx%lld", name, by->padding[0], by->padding[1]);
    if (by->dilation[0] != 1 || by->dilation[1] != 1)
        name = writer_printf(w, "%s_wide_%lldx%lld", name, by->dilation[0], by->dilation[1]);
    if (!is_dense(v->x, v->channels, v->height, v->width) ||
        !is_dense(v->w, v->channels, by->kernel[0], by->kernel[1]) ||
        !is_dense(v->out, v->outs, by->places[0], by->places[1]))
        for (int k = 0; k < 3; k++)
            for (int d = 0; d < 4; d++)
                name = writer_printf(w, "%s_%lld", name, (long long)all[k][d]);
    return writer_printf(w, "%s_%s", name, dtype == TL_F32 ? "f32" : "f64");
}

static const char *convolution_function(writer *w, const convolution *v, tl_dtype dtype) {
    const write_window *by = v->by;
    text t = {.type = functions_element_type(dtype)};
    int together = by->kernel[1] * 4 <= MOST_TAPS ? 4 : by->kernel[1] * 2 <= MOST_TAPS ? 2 : 1;
    const char *name = convolution_name(w, v, dtype);
    line(&t, "/* A kernel over an image; each element in order of channels, rows and columns. */");
    line(&t, "static void %s(%s *restrict out, const %s *restrict image, const %s *restrict kernel) {", name, t.type,
         t.type, t.type);
    t.depth++;
    long long blocks = v->outs / together * together;
    if (blocks > 0) {
        line(&t, "for (int32_t o = 0; o < %lld; o += %d) {", blocks, together);
        t.depth++;
        put_outputs(&t, v, together);
        line(&t, "out += %lld;", (long long)(together * v->out[1]));
        line(&t, "kernel += %lld;", (long long)(together * v->w[0]));
        close_brace(&t);
    }
    if (v->outs > blocks)
        put_outputs(&t, v, (int)(v->outs - blocks));
    close_brace(&t);
    keep(w, name, &t);
    return name;
}

void write_real_convolution(writer *w, const ir_instr *i, const write_window *by) {
    const fact *x = layout_fact(w->l, i->args[0]), *out = layout_fact(w->l, i->result);
    convolution v = {.by = by,
                     .channels = x->dim[1],
                     .height = x->dim[2],
                     .width = x->dim[3],
                     .outs = out->dim[1],
                     .x = w->l->places[i->args[0]].stride,
                     .w = w->l->places[i->args[1]].stride,
                     .out = w->l->places[i->result].stride};
    const char *const at[] = {x->dim[0] == 1 ? "0" : "n", "0", "0", "0"}, *const all[] = {"0", "0", "0", "0"};
    write_open(w, "n", x->dim[0]);
    write_line(w, "%s(&%s, &%s, &%s);", convolution_function(w, &v, out->dtype), write_at(w, i->result, at),
               write_at(w, i->args[0], at), write_at(w, i->args[1], all));
    write_close(w);
}
