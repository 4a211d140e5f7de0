/* write_elements.c: loops that go element by element. Dimensions along which all operands lie alike are one loop;
 * operations that were fused are constants inside of it. */
#include "language/portable/writer.h"

#include <string.h>

enum { MOST_OPERANDS = 32 };

typedef struct loops {
    uint32_t rank;
    int64_t dim[TL_MAX_RANK];
    uint32_t count; /* operands; 0 is what is written */
    ir_value operands[MOST_OPERANDS];
    int64_t stride[MOST_OPERANDS][TL_MAX_RANK];
    int64_t offset[MOST_OPERANDS];
} loops;

static bool is_fused(const writer *w, ir_value v) {
    uint32_t s = w->l->position_of[v];
    return s != UINT32_MAX && w->l->steps[s].treatment == TREAT_FUSED;
}

/* ---- dimensions -------------------------------------------------------------------------------------------------- */

static void add_operand(writer *w, loops *at, const fact *shape, ir_value v) {
    const fact *own = layout_fact(w->l, v);
    const place *lies = &w->l->places[v];
    for (uint32_t k = 1; k < at->count; k++)
        if (at->operands[k] == v)
            return;
    if (at->count == MOST_OPERANDS) {
        portable_refuse(w->p, NULL, (source_span){0},
                        "an expression with more than %d tensors: give a part of it a name", MOST_OPERANDS - 1);
        return;
    }
    uint32_t more = shape->rank - own->rank;
    at->operands[at->count] = v;
    at->offset[at->count] = lies->offset;
    for (uint32_t d = 0; d < shape->rank; d++)
        at->stride[at->count][d] = d < more || own->dim[d - more] == 1 ? 0 : lies->stride[d - more];
    at->count++;
}

static void add_operands(writer *w, loops *at, const fact *shape, const ir_instr *i) {
    if (layout_is_fill(i))
        return;
    for (uint32_t a = 0; a < i->arg_count && !portable_stopped(w->p); a++) {
        ir_value v = i->args[a];
        if (ir_type_of(w->f, v) != IR_TENSOR)
            continue;
        if (is_fused(w, v))
            add_operands(w, at, shape, w->f->values[v].def);
        else
            add_operand(w, at, shape, v);
    }
}

static void begin(loops *at, const fact *shape, int64_t offset, const int64_t *stride) {
    *at = (loops){.rank = shape->rank, .count = 1};
    memcpy(at->dim, shape->dim, sizeof at->dim);
    at->offset[0] = offset;
    memcpy(at->stride[0], stride, sizeof at->stride[0]);
}

static bool merges(const loops *at, uint32_t d) {
    for (uint32_t k = 0; k < at->count; k++)
        if (at->stride[k][d] != at->stride[k][d + 1] * at->dim[d + 1])
            return false;
    return true;
}

static void drop_dim(loops *at, uint32_t d) {
    at->rank--;
    memmove(at->dim + d, at->dim + d + 1, (at->rank - d) * sizeof at->dim[0]);
    for (uint32_t k = 0; k < at->count; k++)
        memmove(at->stride[k] + d, at->stride[k] + d + 1, (at->rank - d) * sizeof at->stride[0][0]);
}

static void merge(loops *at) {
    for (uint32_t d = at->rank; d-- > 0;)
        if (at->dim[d] == 1)
            drop_dim(at, d);
    for (uint32_t d = at->rank; d-- > 1;)
        if (merges(at, d - 1)) {
            at->dim[d] *= at->dim[d - 1];
            drop_dim(at, d - 1);
        }
}

static const char *index_of(writer *w, const loops *at, uint32_t k) {
    masu__buffer text = {0};
    for (uint32_t d = 0; d < at->rank; d++) {
        if (at->stride[k][d] == 0)
            continue;
        masu__buffer_puts(&text, text.length ? " + " : "");
        if (at->stride[k][d] == 1)
            masu__buffer_printf(&text, "i%u", d);
        else
            masu__buffer_printf(&text, "i%u * %lld", d, (long long)at->stride[k][d]);
    }
    if (at->offset[k] || text.length == 0)
        masu__buffer_printf(&text, text.length ? " + %lld" : "%lld", (long long)at->offset[k]);
    const char *kept = writer_printf(w, "%s", masu__buffer_text(&text));
    write_drop(w, &text);
    return kept;
}

static void open_loops(writer *w, const loops *at) {
    for (uint32_t d = 0; d < at->rank; d++) {
        write_line(w, "for (int32_t i%u = 0; i%u < %lld; i%u++)%s", d, d, (long long)at->dim[d], d,
                   d + 1 == at->rank ? " {" : "");
        w->depth++;
    }
    if (at->rank == 0) {
        write_line(w, "{");
        w->depth++;
    }
}

static void close_loops(writer *w, const loops *at) {
    w->depth -= at->rank ? at->rank : 1;
    w->depth += at->rank ? at->rank - 1 : 0;
    write_line(w, "}");
    w->depth -= at->rank ? at->rank - 1 : 0;
}

/* ---- one element ------------------------------------------------------------------------------------------------- */

/* An element of one type as one of another: runtime/value/tensor_copy.c. */
static const char *converted(writer *w, const char *text, tl_dtype from, tl_dtype to) {
    if (from == to)
        return text;
    if (to == TL_BOOL)
        return writer_printf(w, "(unsigned char)(%s != 0)", text);
    if (to == TL_I64 && from != TL_BOOL)
        return writer_printf(w, "%s(%s)", functions_saturating(w->set, from == TL_F32 ? IR_F32 : IR_F64, IR_I64), text);
    return writer_printf(w, "(%s)%s", functions_element_type(to), text);
}

static const char *element(writer *w, const loops *at, const ir_instr *i, uint32_t first);

static const char *fill_text(writer *w, const ir_instr *i) {
    tl_dtype dtype = layout_fact(w->l, i->result)->dtype;
    ir_value v = portable_operand(i, "value");
    switch ((int)i->abi) {
    case TL_FN_tl_tensor_zeros:
    case TL_FN_tl_tensor_zeros_like:
        return write_number_of(w, dtype, 0);
    case TL_FN_tl_tensor_ones:
    case TL_FN_tl_tensor_ones_like:
        return write_number_of(w, dtype, 1);
    default:
        break;
    }
    const ir_instr *def = w->f->values[v].def;
    if (def && def->op == IR_CONST && ir_type_of(w->f, v) == IR_F64 && (dtype == TL_F32 || dtype == TL_F64))
        return write_number_of(w, dtype, def->imm.f);
    if (ir_type_of(w->f, v) == IR_I64)
        return writer_printf(w, "(%s)%s", functions_element_type(dtype), write_text(w, v));
    return converted(w, write_text(w, v), TL_F64, dtype);
}

static const char *read_operand(writer *w, const loops *at, ir_value v) {
    if (is_fused(w, v)) {
        const ir_instr *def = w->f->values[v].def;
        return layout_is_fill(def) ? fill_text(w, def) : element(w, at, def, 0);
    }
    uint32_t k = 1;
    while (k + 1 < at->count && at->operands[k] != v)
        k++;
    return writer_printf(w, "%s[%s]", write_root(w, w->l->places[v].root), index_of(w, at, k));
}

/* How often the expression looks at the operand. */
static int occurs(const char *value, char letter) {
    int count = 0;
    for (const char *c = value; *c; c++) {
        bool before = c > value && (c[-1] == '_' || (c[-1] >= 'a' && c[-1] <= 'z') || (c[-1] >= 'A' && c[-1] <= 'Z') ||
                                    (c[-1] >= '0' && c[-1] <= '9'));
        bool behind = c[1] == '_' || (c[1] >= 'a' && c[1] <= 'z') || (c[1] >= 'A' && c[1] <= 'Z') ||
                      (c[1] >= '0' && c[1] <= '9');
        count += *c == letter && !before && !behind;
    }
    return count;
}

static bool is_name(const char *text) {
    for (; *text; text++)
        if (!(*text == '_' || (*text >= 'a' && *text <= 'z') || (*text >= 'A' && *text <= 'Z') ||
              (*text >= '0' && *text <= '9')))
            return false;
    return true;
}

static const char *number_part(writer *w, const element_form *form, ir_value v) {
    const ir_instr *def = w->f->values[v].def;
    if (def && def->op == IR_CONST)
        return write_number_of(w, form->dtype, def->imm.f);
    return converted(w, write_text(w, v), TL_F64, form->dtype);
}

/* (a op b) as an operand of another expression. */
static const char *wrapped(writer *w, const char *text) {
    return is_name(text) ? text : writer_printf(w, "(%s)", text);
}

/* The element that i makes, as an expression; constants that it needs are written before. */
static const char *element(writer *w, const loops *at, const ir_instr *i, uint32_t first) {
    static const char letters[] = "xyz";
    element_form form;
    const char *why = portable_element_form(w->l->flat, i, &form), *parts[5] = {NULL};
    if (why) {
        portable_refuse(w->p, NULL, i->span, "%s", why);
        return "0";
    }
    uint32_t n = 0;
    for (uint32_t a = first; a < i->arg_count && n < 3 && !portable_stopped(w->p); a++) {
        ir_value v = i->args[a];
        if (ir_type_of(w->f, v) != IR_TENSOR)
            continue;
        tl_dtype want = n == 0 && strcmp(form.kernel, "select") == 0 ? TL_BOOL : form.dtype;
        const char *text = read_operand(w, at, v);
        if (layout_fact(w->l, v)->dtype != want)
            text = converted(w, is_fused(w, v) ? wrapped(w, text) : text, layout_fact(w->l, v)->dtype, want);
        if (!is_name(text) &&
            (occurs(form.row->value, letters[n]) > 1 || (is_fused(w, v) && !layout_is_fill(w->f->values[v].def)))) {
            const char *name = writer_printf(w, "%c%u", letters[n], i->result);
            write_line(w, "const %s %s = %s;", functions_element_type(want), name, text);
            text = name;
        }
        parts[n++] = text;
    }
    if (form.number_is_operand)
        parts[n++] = number_part(w, &form, form.numbers[0]);
    for (uint32_t k = 0; k < form.number_count && !form.number_is_operand; k++)
        parts[3 + k] = number_part(w, &form, form.numbers[k]);
    if (form.may_fail) {
        const char *by = strstr(form.kernel, "_scalar") ? parts[3] : parts[1];
        write_line(w, "if (%s == 0)", by);
        w->depth++;
        write_failure(w, i, "INVALID_ARGUMENT", "division by zero");
        w->depth--;
    }
    const char *value = form.row->value;
    ir_value by = form.number_count ? form.numbers[0] : 0;
    const ir_instr *exponent = by ? w->f->values[by].def : NULL;
    if (i->abi == TL_FN_tl_tensor_pow_scalar && exponent && exponent->op == IR_CONST && exponent->imm.f == 2.0)
        value = "x * x";
    masu__buffer made = {0};
    functions_put_value(w->set, value, form.dtype, parts, &made);
    const char *kept = writer_printf(w, "%s", masu__buffer_text(&made));
    write_drop(w, &made);
    return kept;
}

void write_element_loop(writer *w, const ir_instr *i) {
    const fact *shape = layout_fact(w->l, i->result);
    const place *to = &w->l->places[i->result];
    loops at;
    begin(&at, shape, to->offset, to->stride);
    add_operands(w, &at, shape, i);
    merge(&at);
    open_loops(w, &at);
    const char *value = layout_is_fill(i) ? fill_text(w, i) : element(w, &at, i, 0);
    write_line(w, "%s[%s] = (%s)(%s);", write_root(w, to->root), index_of(w, &at, 0),
               functions_element_type(shape->dtype), value);
    close_loops(w, &at);
}

/* ---- copies ------------------------------------------------------------------------------------------------------ */

void write_copy(writer *w, const fact *shape, const char *to, tl_dtype dtype, int64_t to_offset,
                const int64_t *to_stride, ir_value from) {
    loops at;
    begin(&at, shape, to_offset, to_stride);
    add_operand(w, &at, shape, from);
    merge(&at);
    tl_dtype own = layout_fact(w->l, from)->dtype;
    const char *root = write_root(w, w->l->places[from].root);
    bool plain = own == dtype && at.rank <= 1 && (at.rank == 0 || (at.stride[0][0] == 1 && at.stride[1][0] == 1));
    if (plain) {
        const char *target = at.offset[0] ? writer_printf(w, "%s + %lld", to, (long long)at.offset[0]) : to;
        const char *source = at.offset[1] ? writer_printf(w, "%s + %lld", root, (long long)at.offset[1]) : root;
        write_line(w, "memcpy(%s, %s, %lld * sizeof *%s);", target, source, (long long)(at.rank ? at.dim[0] : 1), to);
        return;
    }
    open_loops(w, &at);
    write_line(w, "%s[%s] = %s;", to, index_of(w, &at, 0),
               converted(w, writer_printf(w, "%s[%s]", root, index_of(w, &at, 1)), own, dtype));
    close_loops(w, &at);
}

const char *write_place(writer *w, ir_value v, const char *const *index) {
    masu__buffer text = {0};
    const fact *shape = layout_fact(w->l, v);
    const place *lies = &w->l->places[v];
    for (uint32_t d = 0; d < shape->rank; d++) {
        if (lies->stride[d] == 0 || strcmp(index[d], "0") == 0)
            continue;
        masu__buffer_puts(&text, text.length ? " + " : "");
        if (lies->stride[d] == 1)
            masu__buffer_puts(&text, index[d]);
        else
            masu__buffer_printf(&text, is_name(index[d]) ? "%s * %lld" : "(%s) * %lld", index[d],
                                (long long)lies->stride[d]);
    }
    if (lies->offset || text.length == 0)
        masu__buffer_printf(&text, text.length ? " + %lld" : "%lld", (long long)lies->offset);
    const char *kept = writer_printf(w, "%s", masu__buffer_text(&text));
    write_drop(w, &text);
    return kept;
}

/* ---- in place ---------------------------------------------------------------------------------------------------- */

static const char *checked_index(writer *w, const ir_instr *i, const ir_value *index, uint32_t count, ir_value of) {
    const char *texts[TL_MAX_RANK];
    const fact *shape = layout_fact(w->l, of);
    for (uint32_t d = 0; d < count && d < TL_MAX_RANK; d++) {
        int64_t known;
        texts[d] = write_text(w, index[d]);
        if (ir_const_int(w->f, index[d], &known) && known >= 0 && known < shape->dim[d]) {
            texts[d] = writer_printf(w, "%lld", (long long)known);
            continue;
        }
        write_line(w, "if ((uint64_t)%s >= %lld)", texts[d], (long long)shape->dim[d]);
        w->depth++;
        write_failure(w, i, "INDEX_OUT_OF_RANGE", "index out of range");
        w->depth--;
    }
    return write_place(w, of, texts);
}

const char *write_checked_index(writer *w, const ir_instr *i, ir_value of) {
    const ir_value *index;
    uint32_t count = portable_list(i, &index);
    return checked_index(w, i, index, count, of);
}

static void write_set(writer *w, const ir_instr *i) {
    const fact *shape = layout_fact(w->l, i->result);
    ir_value v = portable_operand(i, "value");
    const char *at = write_checked_index(w, i, i->result), *text = write_text(w, v);
    bool whole = i->abi == TL_FN_tl_tensor_set_i64;
    if (whole)
        text = shape->dtype == TL_BOOL ? writer_printf(w, "(unsigned char)(%s != 0)", text)
               : shape->dtype == TL_I64
                   ? text
                   : writer_printf(w, "(%s)(double)%s", functions_element_type(shape->dtype), text);
    else
        text = converted(w, text, TL_F64, shape->dtype);
    write_line(w, "%s[%s] = %s;", write_root(w, w->l->places[i->result].root), at, text);
}

void write_update(writer *w, const step *at) {
    const ir_instr *i = at->i;
    const fact *shape = layout_fact(w->l, i->result);
    const place *to = &w->l->places[i->result];
    if (i->abi == TL_FN_tl_tensor_fill) {
        loops l;
        begin(&l, shape, to->offset, to->stride);
        merge(&l);
        open_loops(w, &l);
        write_line(w, "%s[%s] = %s;", write_root(w, to->root), index_of(w, &l, 0),
                   converted(w, write_text(w, portable_operand(i, "value")), TL_F64, shape->dtype));
        close_loops(w, &l);
        return;
    }
    if (i->abi == TL_FN_tl_tensor_set_f64 || i->abi == TL_FN_tl_tensor_set_i64) {
        if (!at->in_place)
            write_copy(w, shape, write_root(w, to->root), shape->dtype, to->offset, to->stride, i->args[0]);
        write_set(w, i);
        return;
    }
    write_element_loop(w, i);
}
