/* write_tensors.c: operations with loops of their own. Sums go in the order of runtime/ops, in f64, so that they are
 * the same bits; products of matrices add up in order of their inner dimension, which BLAS does not promise. */
#include "language/portable/writer.h"

#include <string.h>

/* ---- loops over a shape ------------------------------------------------------------------------------------------ */

const char *const write_letters[TL_MAX_RANK] = {"i0", "i1", "i2", "i3", "i4", "i5", "i6", "i7"};

void write_open(writer *w, const char *letter, int64_t count) {
    write_line(w, "for (int32_t %s = 0; %s < %lld; %s++) {", letter, letter, (long long)count, letter);
    w->depth++;
}

void write_close(writer *w) {
    w->depth--;
    write_line(w, "}");
}

/* Dimensions but one; index[d] are their write_letters, "0" for those of one element. Returns how many loops are
 * open. */
/* Over those dimensions that are not in [from, to). */
static uint32_t open_outside(writer *w, const fact *shape, uint32_t from, uint32_t to, const char *index[TL_MAX_RANK]) {
    uint32_t opened = 0;
    for (uint32_t d = 0; d < shape->rank; d++) {
        index[d] = "0";
        if ((d >= from && d < to) || shape->dim[d] == 1)
            continue;
        index[d] = write_letters[d];
        write_open(w, write_letters[d], shape->dim[d]);
        opened++;
    }
    return opened;
}

uint32_t write_open_without(writer *w, const fact *shape, uint32_t without, const char *index[TL_MAX_RANK]) {
    return open_outside(w, shape, without, without + 1, index);
}

void write_close_all(writer *w, uint32_t count) {
    while (count-- > 0)
        write_close(w);
}

const char *write_array(writer *w, ir_value v) {
    return write_root(w, w->l->places[v].root);
}

const char *write_at(writer *w, ir_value v, const char *const *index) {
    return writer_printf(w, "%s[%s]", write_array(w, v), write_place(w, v, index));
}

int64_t write_known(writer *w, const ir_instr *i, const char *name, int64_t otherwise) {
    int64_t number;
    ir_value v = portable_operand(i, name);
    return v && ir_const_int(w->f, v, &number) ? number : otherwise;
}

uint32_t write_dim_of(writer *w, const ir_instr *i, const fact *shape) {
    int64_t dim = write_known(w, i, "dim", -1);
    return (uint32_t)(dim < 0 ? dim + shape->rank : dim);
}

/* One type for all of an operation's elements. */
bool write_is_of(writer *w, const ir_instr *i, ir_value v, tl_dtype dtype) {
    if (layout_fact(w->l, v)->dtype == dtype)
        return true;
    portable_refuse(w->p, NULL, i->span,
                    "`%s` of other elements than its result's: convert the tensor before, with `as Tensor<…>`",
                    tl_abi_functions[i->abi].symbol + 10);
    return false;
}

/* ---- products ---------------------------------------------------------------------------------------------------- */

typedef struct product {
    ir_value a, b, out;
    uint32_t rank_a, rank_b, lead; /* leading dimensions of the result */
    int64_t n, k, m;
} product;

static const char *lead_place(writer *w, ir_value v, uint32_t own_lead, uint32_t lead, const char *row,
                              const char *column) {
    const char *index[TL_MAX_RANK + 2];
    const fact *shape = layout_fact(w->l, v);
    for (uint32_t d = 0; d < own_lead; d++)
        index[d] = shape->dim[d] == 1 ? "0" : write_letters[lead - own_lead + d];
    uint32_t n = own_lead;
    if (row)
        index[n++] = row;
    if (column)
        index[n++] = column;
    return write_at(w, v, index);
}

/* Whole numbers wrap, by functions. */
static void write_whole(writer *w, const product *p, const char *out, const char *a, const char *b) {
    if (p->rank_b > 1 && p->m != 1)
        write_open(w, "j", p->m);
    write_line(w, "int64_t sum = 0;");
    write_line(w, "for (int32_t k = 0; k < %lld; k++)", (long long)p->k);
    w->depth++;
    write_line(w, "sum = %s(sum, %s(%s, %s));", functions_whole(w->set, IR_ADD, IR_I64),
               functions_whole(w->set, IR_MUL, IR_I64), a, b);
    w->depth--;
    write_line(w, "%s = sum;", out);
    if (p->rank_b > 1 && p->m != 1)
        write_close(w);
}

static void write_matmul(writer *w, const ir_instr *i) {
    const fact *a = layout_fact(w->l, i->args[0]), *b = layout_fact(w->l, i->args[1]),
               *out = layout_fact(w->l, i->result);
    product p = {.a = i->args[0], .b = i->args[1], .out = i->result, .rank_a = a->rank, .rank_b = b->rank};
    p.k = a->dim[a->rank - 1];
    p.n = a->rank > 1 ? a->dim[a->rank - 2] : 1;
    p.m = b->rank > 1 ? b->dim[b->rank - 1] : 1;
    p.lead = out->rank - (a->rank > 1) - (b->rank > 1);
    if (!write_is_of(w, i, p.a, out->dtype) || !write_is_of(w, i, p.b, out->dtype))
        return;
    const char *row = p.n == 1 ? "0" : "i", *column = p.m == 1 ? "0" : "j", *inner = "k";
    bool is_whole = out->dtype == TL_I64;
    if (!is_whole)
        row = column = inner = "0";
    for (uint32_t d = 0; d < p.lead; d++)
        write_open(w, write_letters[d], out->dim[d]);
    if (is_whole && p.n != 1)
        write_open(w, "i", p.n);
    else
        write_line(w, "{");
    w->depth += !is_whole || p.n == 1;
    const char *from = lead_place(w, p.a, a->rank > 1 ? a->rank - 2 : 0, p.lead, a->rank > 1 ? row : NULL, inner);
    const char *by = lead_place(w, p.b, b->rank > 1 ? b->rank - 2 : 0, p.lead, inner, b->rank > 1 ? column : NULL);
    const char *to = lead_place(w, p.out, p.lead, p.lead, a->rank > 1 ? row : NULL, b->rank > 1 ? column : NULL);
    if (is_whole)
        write_whole(w, &p, to, from, by);
    else
        write_real_product(w, p.a, p.b, p.out, from, by, to);
    write_close(w);
    write_close_all(w, p.lead);
}

/* ---- sums -------------------------------------------------------------------------------------------------------- */

/* The sum of f32 of runtime/ops/row_fold.c; apart: the one that converts each element. */
static const char *sum_by_fours(writer *w, const char *apart) {
    static const char text[] =
        "/* The sum of n elements, four in f32 before they are added in f64; none in f32 where that is infinite. */\n"
        "static inline double sum_f32(const float *x, int32_t n, int32_t s, double start) {\n"
        "    double lane[16] = {0}, sum = start;\n"
        "    int32_t i = 0;\n"
        "    if (s == 1 && n >= 16) {\n"
        "        for (; i + 64 <= n; i += 64)\n"
        "            for (int32_t l = i; l < i + 16; l++)\n"
        "                lane[l - i] += (double)((x[l] + x[l + 16]) + (x[l + 32] + x[l + 48]));\n"
        "        for (; i + 16 <= n; i += 16)\n"
        "            for (int32_t l = 0; l < 16; l++)\n"
        "                lane[l] += (double)x[i + l];\n"
        "        for (int32_t l = 0; l < 8; l++)\n"
        "            lane[l] += lane[l + 8];\n"
        "        for (int32_t l = 0; l < 4; l++)\n"
        "            lane[l] += lane[l + 4];\n"
        "        sum += (lane[0] + lane[2]) + (lane[1] + lane[3]);\n"
        "    } else if (n >= 16) {\n"
        "        for (; i + 4 <= n; i += 4)\n"
        "            sum += (double)((x[i * s] + x[(i + 1) * s]) + (x[(i + 2) * s] + x[(i + 3) * s]));\n"
        "    }\n"
        "    for (; i < n; i++)\n"
        "        sum += (double)x[i * s];\n"
        "    return sum - sum == 0 ? sum : %s(x, n, s, start);\n"
        "}\n";
    functions_need(w->set, "sum_f32", writer_printf(w, text, apart));
    return "sum_f32";
}

/* The fold of runtime/ops/row_fold.c: in 16 lanes where the elements lie side by side. */
static const char *fold_function(writer *w, tl_dtype dtype, bool product) {
    static const char text[] =
        "/* The %s of n elements; side by side they go in 16 lanes, in f64. */\n"
        "static inline %s %s(const %s *x, int32_t n, int32_t stride, %s sum) {\n"
        "    int32_t i = 0;\n"
        "    if (stride == 1 && n >= 16) {\n"
        "        %s lane[16];\n"
        "        for (int32_t l = 0; l < 16; l++)\n"
        "            lane[l] = %d;\n"
        "        for (; i + 16 <= n; i += 16)\n"
        "            for (int32_t l = 0; l < 16; l++)\n"
        "                lane[l] = lane[l] %c (%s)x[i + l];\n"
        "        for (int32_t l = 0; l < 16; l++)\n"
        "            sum = sum %c lane[l];\n"
        "    }\n"
        "    for (; i < n; i++)\n"
        "        sum = sum %c (%s)x[i * stride];\n"
        "    return sum;\n"
        "}\n";
    const char *type = functions_element_type(dtype), *sum = dtype == TL_I64 ? "uint64_t" : "double";
    const bool fours = dtype == TL_F32 && !product;
    const char *name = writer_printf(w, "%s_%s",
                                     product ? "product"
                                     : fours ? "apart"
                                             : "sum",
                                     dtype == TL_F32   ? "f32"
                                     : dtype == TL_F64 ? "f64"
                                                       : "i64");
    char op = product ? '*' : '+';
    functions_need(
        w->set, name,
        writer_printf(w, text, product ? "product" : "sum", sum, name, type, sum, sum, product, op, sum, op, op, sum));
    return fours ? sum_by_fours(w, name) : name;
}

static const char *counted(writer *w, tl_dtype dtype, const char *total, int64_t count, bool mean) {
    const char *type = functions_element_type(dtype), *text = writer_printf(w, "(%s)%s", type, total);
    return mean ? writer_printf(w, "%s / (%s)%lld", text, type, (long long)count) : text;
}

static void fold_all(writer *w, const ir_instr *i, bool product, bool mean) {
    const fact *t = layout_fact(w->l, i->args[0]);
    tl_dtype dtype = layout_fact(w->l, i->result)->dtype;
    const char *fold = fold_function(w, dtype, product), *sum = dtype == TL_I64 ? "uint64_t" : "double";
    if (!write_is_of(w, i, i->args[0], dtype))
        return;
    write_line(w, "{");
    w->depth++;
    write_line(w, "%s total = %d;", sum, product);
    if (layout_is_dense(w->l, i->args[0])) {
        write_line(w, "total = %s(%s + %lld, %lld, 1, total);", fold, write_array(w, i->args[0]),
                   (long long)w->l->places[i->args[0]].offset, (long long)fact_elements(t));
    } else {
        const char *index[TL_MAX_RANK];
        uint32_t last = t->rank - 1, opened = write_open_without(w, t, last, index);
        write_line(w, "total = %s(&%s, %lld, %lld, total);", fold, write_at(w, i->args[0], index),
                   (long long)t->dim[last], (long long)w->l->places[i->args[0]].stride[last]);
        write_close_all(w, opened);
    }
    write_line(w, "%s[0] = %s;", write_array(w, i->result), counted(w, dtype, "total", fact_elements(t), mean));
    write_close(w);
}

/* Index of the result from that of the operand without dim. */
static void without(const char *const *index, uint32_t rank, uint32_t dim, const char *out[TL_MAX_RANK]) {
    for (uint32_t d = 0, k = 0; d < rank; d++)
        if (d != dim)
            out[k++] = index[d];
}

static void fold_dim(writer *w, const ir_instr *i, bool mean) {
    const fact *t = layout_fact(w->l, i->args[0]);
    tl_dtype dtype = layout_fact(w->l, i->result)->dtype;
    const char *fold = fold_function(w, dtype, false), *index[TL_MAX_RANK], *to[TL_MAX_RANK];
    uint32_t dim = write_dim_of(w, i, t);
    if (!write_is_of(w, i, i->args[0], dtype))
        return;
    uint32_t opened = write_open_without(w, t, dim, index);
    without(index, t->rank, dim, to);
    const char *total = writer_printf(w, "%s(&%s, %lld, %lld, 0)", fold, write_at(w, i->args[0], index),
                                      (long long)t->dim[dim], (long long)w->l->places[i->args[0]].stride[dim]);
    write_line(w, "%s = %s;", write_at(w, i->result, to), counted(w, dtype, total, t->dim[dim], mean));
    write_close_all(w, opened);
}

/* ---- the largest and the smallest -------------------------------------------------------------------------------- */

/* x beats best: NaN beats all but NaN, the first among equals stays. */
static void write_search(writer *w, const ir_instr *i, bool all, bool smallest, bool place) {
    const fact *t = layout_fact(w->l, i->args[0]);
    const char *index[TL_MAX_RANK], *to[TL_MAX_RANK], *type = functions_element_type(t->dtype);
    uint32_t dim = all ? t->rank : write_dim_of(w, i, t), opened = 0;
    bool real = t->dtype == TL_F32 || t->dtype == TL_F64;
    if (fact_elements(t) == 0 || (!all && t->dim[dim] == 0)) {
        portable_refuse(w->p, NULL, i->span, "there is nothing to choose from");
        return;
    }
    for (uint32_t d = 0; d < t->rank; d++)
        index[d] = "0";
    if (!all)
        opened = write_open_without(w, t, dim, index);
    write_line(w, "{");
    w->depth++;
    write_line(w, "%s best = %s;", type, write_at(w, i->args[0], index));
    if (place)
        write_line(w, "int64_t place = 0, n = 0;");
    uint32_t inner = 0;
    const char *found[TL_MAX_RANK];
    memcpy(found, index, sizeof found);
    if (all) {
        inner = write_open_without(w, t, t->rank, found);
    } else {
        write_open(w, "k", t->dim[dim]);
        found[dim] = "k";
        inner = 1;
    }
    write_line(w, "const %s x = %s;", type, write_at(w, i->args[0], found));
    write_line(w, real ? "if (x %c best || (x != x && best == best)) {" : "if (x %c best) {", smallest ? '<' : '>');
    w->depth++;
    write_line(w, "best = x;");
    if (place)
        write_line(w, "place = n;");
    write_close(w);
    if (place)
        write_line(w, "n++;");
    write_close_all(w, inner);
    without(index, t->rank, dim, to);
    write_line(w, "%s = %s;", all ? writer_printf(w, "%s[0]", write_array(w, i->result)) : write_at(w, i->result, to),
               place ? "place" : "best");
    write_close(w);
    write_close_all(w, opened);
}

/* ---- lines: softmax, standardise --------------------------------------------------------------------------------- */

static const char *softmax_function(writer *w, tl_dtype dtype, bool logarithm) {
    static const char text[] =
        "/* One line of n elements; side by side they are added in 16 lanes. */\n"
        "static inline void %s(const %s *x, int32_t sx, %s *y, int32_t sy, int32_t n) {\n"
        "    double lane[16] = {0}, sum = 0;\n"
        "    %s largest = x[0];\n"
        "    for (int32_t i = 1; i < n; i++)\n"
        "        largest = x[i * sx] > largest ? x[i * sx] : largest;\n"
        "    for (int32_t i = 0; i < n; i++) {\n"
        "        const %s e = %s;\n"
        "        y[i * sy] = e;\n"
        "        if (sy == 1)\n"
        "            lane[i %% 16] += (double)e;\n"
        "        else\n"
        "            sum += (double)e;\n"
        "    }\n"
        "    for (int32_t l = 0; l < 16 && sy == 1; l++)\n"
        "        sum += lane[l];\n"
        "%s}\n";
    const char *type = functions_element_type(dtype),
               *name = writer_printf(w, "%ssoftmax_%s", logarithm ? "log_" : "", dtype == TL_F32 ? "f32" : "f64");
    masu__buffer e = {0};
    const char *parts[5] = {0};
    functions_put_value(w->set, "exp_of((T)(", dtype, parts, &e);
    masu__buffer_puts(&e, "x[i * sx] - largest))");
    const char *end = logarithm ? writer_printf(w,
                                                "    const %s shift = largest + (%s)log(sum);\n"
                                                "    for (int32_t i = 0; i < n; i++)\n"
                                                "        y[i * sy] = x[i * sx] - shift;\n",
                                                type, type)
                                : writer_printf(w,
                                                "    const %s factor = (%s)(1 / sum);\n"
                                                "    for (int32_t i = 0; i < n; i++)\n"
                                                "        y[i * sy] *= factor;\n",
                                                type, type);
    functions_need(w->set, name, writer_printf(w, text, name, type, type, type, type, masu__buffer_text(&e), end));
    write_drop(w, &e);
    return name;
}

static void write_softmax(writer *w, const ir_instr *i) {
    const fact *t = layout_fact(w->l, i->args[0]);
    tl_dtype dtype = layout_fact(w->l, i->result)->dtype;
    if (!write_is_of(w, i, i->args[0], dtype))
        return;
    const char *line = softmax_function(w, dtype, i->abi == TL_FN_tl_tensor_log_softmax), *index[TL_MAX_RANK];
    uint32_t dim = t->rank ? write_dim_of(w, i, t) : 0, opened = write_open_without(w, t, dim, index);
    write_line(w, "%s(&%s, %lld, &%s, %lld, %lld);", line, write_at(w, i->args[0], index),
               (long long)w->l->places[i->args[0]].stride[dim], write_at(w, i->result, index),
               (long long)w->l->places[i->result].stride[dim], (long long)t->dim[dim]);
    write_close_all(w, opened);
}

static const char *standardise_function(writer *w, tl_dtype dtype) {
    static const char text[] =
        "/* The sum of x, or of (x - mean)², over a line; in 16 lanes. */\n"
        "static inline double line_sum_%s(const %s *x, int32_t sx, int32_t n, int squares, %s mean) {\n"
        "    double lane[16] = {0};\n"
        "    const int32_t whole = n / 16 * 16;\n"
        "    for (int32_t i = 0; i < n; i++) {\n"
        "        if (i == whole)\n"
        "            for (int32_t l = 1; l < 16; l++)\n"
        "                lane[0] += lane[l];\n"
        "        const %s d = x[i * sx] - mean;\n"
        "        lane[i < whole ? i %% 16 : 0] += (double)(squares ? d * d : x[i * sx]);\n"
        "    }\n"
        "    if (n == whole)\n"
        "        for (int32_t l = 1; l < 16; l++)\n"
        "            lane[0] += lane[l];\n"
        "    return lane[0];\n"
        "}\n\n"
        "/* One line with mean 0 and variance 1; then, where there are any, times weight plus bias. */\n"
        "static inline void %s(const %s *x, int32_t sx, %s *y, int32_t n, double eps, const %s *weight, const %s "
        "*bias) {\n"
        "    const %s mean = (%s)(line_sum_%s(x, sx, n, 0, 0) / (double)n);\n"
        "    const %s rate = (%s)(1 / sqrt(line_sum_%s(x, sx, n, 1, mean) / (double)n + eps));\n"
        "    for (int32_t i = 0; i < n; i++)\n"
        "        y[i] = weight ? (x[i * sx] - mean) * rate * weight[i] + bias[i] : (x[i * sx] - mean) * rate;\n"
        "}\n";
    const char *t = functions_element_type(dtype), *s = dtype == TL_F32 ? "f32" : "f64",
               *name = writer_printf(w, "standardise_%s", s);
    functions_need(w->set, name, writer_printf(w, text, s, t, t, t, name, t, t, t, t, t, t, s, t, t, s));
    return name;
}

/* How far apart the elements of v lie along its last `count` dimensions taken as one line, 0: not evenly. */
static int64_t line_stride(const writer *w, ir_value v, uint32_t count) {
    const fact *f = layout_fact(w->l, v);
    const int64_t *stride = w->l->places[v].stride;
    int64_t step = 0, length = 1;
    for (uint32_t d = f->rank; d-- > f->rank - count;) {
        if (f->dim[d] == 1)
            continue;
        if (step == 0)
            step = stride[d];
        else if (stride[d] != step * length)
            return 0;
        length *= f->dim[d];
    }
    return step == 0 ? 1 : step;
}

/* A parameter of one line: its address. */
static const char *line_of(writer *w, const ir_instr *i, const char *parameter, uint32_t *rank) {
    static const char *const first[TL_MAX_RANK] = {"0", "0", "0", "0", "0", "0", "0", "0"};
    const ir_value v = portable_operand(i, parameter);
    const fact *f = layout_fact(w->l, v), *t = layout_fact(w->l, i->args[0]);
    bool fits = f->rank <= t->rank && line_stride(w, v, f->rank) == 1;
    for (uint32_t d = 0; fits && d < f->rank; d++)
        fits = f->dim[d] == t->dim[t->rank - f->rank + d];
    *rank = f->rank;
    if (fits)
        return writer_printf(w, "&%s", write_at(w, v, first));
    portable_refuse(
        w->p, NULL, i->span,
        "`layer_norm` whose %s is not of the last dimensions' shape: write `x.layer_norm([…]) * weight + bias`",
        parameter);
    return NULL;
}

static void write_standardise(writer *w, const ir_instr *i) {
    const fact *t = layout_fact(w->l, i->args[0]);
    tl_dtype dtype = layout_fact(w->l, i->result)->dtype;
    const char *index[TL_MAX_RANK], *weight = "0", *bias = "0";
    const bool scaled = i->abi == TL_FN_tl_tensor_standardise_to;
    uint32_t rank = 1, other = 1;
    for (uint32_t a = 0; a < (scaled ? 3u : 1u); a++)
        if (!write_is_of(w, i, i->args[a], dtype))
            return;
    if (scaled) {
        weight = line_of(w, i, "weight", &rank);
        bias = line_of(w, i, "bias", &other);
    }
    if (!weight || !bias)
        return;
    const int64_t step = line_stride(w, i->args[0], rank);
    if (rank != other || rank == 0 || step == 0) {
        portable_refuse(w->p, NULL, i->span,
                        "`layer_norm` of lines that do not lie evenly: write `x.contiguous()` before");
        return;
    }
    int64_t n = 1;
    for (uint32_t d = t->rank - rank; d < t->rank; d++)
        n *= t->dim[d];
    uint32_t opened = open_outside(w, t, t->rank - rank, t->rank, index);
    write_line(w, "%s(&%s, %lld, &%s, %lld, %s, %s, %s);", standardise_function(w, dtype),
               write_at(w, i->args[0], index), (long long)step, write_at(w, i->result, index), (long long)n,
               write_text(w, portable_operand(i, "eps")), weight, bias);
    write_close_all(w, opened);
}

/* ---- all --------------------------------------------------------------------------------------------------------- */

static void write_loops(writer *w, const ir_instr *i) {
    switch ((int)i->abi) {
    case TL_FN_tl_tensor_matmul:
        write_matmul(w, i);
        break;
    case TL_FN_tl_tensor_sum:
    case TL_FN_tl_tensor_mean:
    case TL_FN_tl_tensor_prod:
        fold_all(w, i, i->abi == TL_FN_tl_tensor_prod, i->abi == TL_FN_tl_tensor_mean);
        break;
    case TL_FN_tl_tensor_sum_dim:
    case TL_FN_tl_tensor_mean_dim:
        fold_dim(w, i, i->abi == TL_FN_tl_tensor_mean_dim);
        break;
    case TL_FN_tl_tensor_max:
    case TL_FN_tl_tensor_min:
    case TL_FN_tl_tensor_argmax:
    case TL_FN_tl_tensor_argmin:
        write_search(w, i, true, i->abi == TL_FN_tl_tensor_min || i->abi == TL_FN_tl_tensor_argmin,
                     i->abi == TL_FN_tl_tensor_argmax || i->abi == TL_FN_tl_tensor_argmin);
        break;
    case TL_FN_tl_tensor_max_dim:
    case TL_FN_tl_tensor_min_dim:
    case TL_FN_tl_tensor_argmax_dim:
    case TL_FN_tl_tensor_argmin_dim:
        write_search(w, i, false, i->abi == TL_FN_tl_tensor_min_dim || i->abi == TL_FN_tl_tensor_argmin_dim,
                     i->abi == TL_FN_tl_tensor_argmax_dim || i->abi == TL_FN_tl_tensor_argmin_dim);
        break;
    case TL_FN_tl_tensor_softmax:
    case TL_FN_tl_tensor_log_softmax:
        write_softmax(w, i);
        break;
    case TL_FN_tl_tensor_standardise:
    case TL_FN_tl_tensor_standardise_to:
        write_standardise(w, i);
        break;
    case TL_FN_tl_tensor_cat:
        write_cat(w, i);
        break;
    case TL_FN_tl_tensor_stack:
        write_stack(w, i);
        break;
    case TL_FN_tl_tensor_pad:
        write_pad(w, i);
        break;
    case TL_FN_tl_tensor_convolve:
        write_convolve(w, i);
        break;
    case TL_FN_tl_tensor_unfold:
        write_unfold(w, i);
        break;
    case TL_FN_tl_tensor_fold:
        write_fold(w, i);
        break;
    case TL_FN_tl_tensor_tril:
    case TL_FN_tl_tensor_triu:
        write_triangle(w, i);
        break;
    case TL_FN_tl_tensor_index_select:
        write_select(w, i, i->args[0], portable_operand(i, "index"), write_dim_of(w, i, layout_fact(w->l, i->args[0])));
        break;
    case TL_FN_tl_tensor_embedding: {
        bool first = layout_fact(w->l, i->args[0])->dtype == TL_I64;
        write_select(w, i, i->args[first], i->args[!first], 0);
        break;
    }
    default:
        write_gather(w, i);
        break;
    }
}

static void write_read(writer *w, const ir_instr *i) {
    const fact *t = layout_fact(w->l, i->args[0]);
    const char *place;
    const bool exact = i->abi == TL_FN_tl_tensor_exact_f32 || i->abi == TL_FN_tl_tensor_exact_f64 ||
                       i->abi == TL_FN_tl_tensor_exact_i64;
    const tl_dtype as = i->abi == TL_FN_tl_tensor_exact_f32   ? TL_F32
                        : i->abi == TL_FN_tl_tensor_exact_f64 ? TL_F64
                                                              : TL_I64;
    if (exact && !portable_reads_exactly(t->dtype, as))
        portable_refuse(w->p, NULL, i->span, "nothing says here what this tensor holds, and it is read as less");
    if (i->abi == TL_FN_tl_tensor_get_f64 || i->abi == TL_FN_tl_tensor_get_i64 || (exact && i->arg_count > 1)) {
        place = write_checked_index(w, i, i->args[0]);
    } else {
        const char *index[TL_MAX_RANK];
        for (uint32_t d = 0; d < t->rank; d++)
            index[d] = "0";
        if (fact_elements(t) != 1)
            portable_refuse(w->p, NULL, i->span, "this tensor is not a single number");
        place = write_place(w, i->args[0], index);
    }
    const char *text = writer_printf(w, "%s[%s]", write_array(w, i->args[0]), place);
    ir_type type = ir_type_of(w->f, i->result);
    bool real = t->dtype == TL_F32 || t->dtype == TL_F64;
    if (type == IR_I64 && real)
        text = writer_printf(w, "%s(%s)", functions_saturating(w->set, t->dtype == TL_F32 ? IR_F32 : IR_F64, IR_I64),
                             text);
    else if (type == IR_BOOL)
        text = writer_printf(w, "%s != 0", text);
    else
        text = writer_printf(w, "(%s)%s", functions_c_type(type), text);
    write_line(w, "v%u = %s;", i->result, text);
}

void write_tensor(writer *w, const step *step) {
    const ir_instr *i = step->i;
    if (i->op == IR_COMPREHEND) {
        write_comprehension(w, i);
        return;
    }
    switch (portable_written(i->abi)) {
    case WRITTEN_ELEMENT:
        write_element_loop(w, i);
        break;
    case WRITTEN_VIEW:
        write_view(w, i);
        break;
    case WRITTEN_UPDATE:
        write_update(w, step);
        break;
    case WRITTEN_FILL:
    case WRITTEN_MAKE:
        write_made(w, i);
        break;
    case WRITTEN_NUMBER:
        write_read(w, i);
        break;
    default:
        write_loops(w, i);
        break;
    }
}
