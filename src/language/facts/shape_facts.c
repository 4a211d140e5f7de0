/* shape_facts.c: see shape_facts.h. */
#include "language/facts/shape_facts.h"

#include <inttypes.h>
#include <string.h>

/* ---- facts ----------------------------------------------------------------------------------- */

const shape_fact shape_unset = {.state = SHAPE_IS_UNSET};
const shape_fact shape_unknown = {.state = SHAPE_IS_UNKNOWN};

shape_fact shape_of_rank(uint32_t rank) {
    shape_fact fact = {.state = SHAPE_IS_KNOWN, .shape = {.known_rank = true, .rank = (uint8_t)rank}};
    for (uint32_t d = 0; d < TL_MAX_RANK; d++)
        fact.shape.dim[d] = -1;
    return rank <= TL_MAX_RANK ? fact : shape_unknown;
}

bool shape_fact_meet(shape_fact *fact, const shape_fact *other) {
    if (other->state == SHAPE_IS_UNSET || fact->state == SHAPE_IS_UNKNOWN)
        return false;
    if (fact->state == SHAPE_IS_UNSET) {
        *fact = *other;
        return true;
    }
    if (other->state == SHAPE_IS_UNKNOWN || other->shape.rank != fact->shape.rank) {
        *fact = shape_unknown;
        return true;
    }
    bool changed = false;
    for (uint32_t d = 0; d < fact->shape.rank; d++) {
        if (fact->shape.dim[d] == -1 || fact->shape.dim[d] == other->shape.dim[d])
            continue;
        fact->shape.dim[d] = -1;
        changed = true;
    }
    return changed;
}

void shape_put_dim(shape_symbols *symbols, int64_t dim, masu__buffer *out) {
    if (dim < 0)
        masu__buffer_puts(out, shape_symbol_text(symbols, shape_symbol_of_dim(dim)));
    else
        masu__buffer_printf(out, "%" PRId64, dim);
}

void shape_put(shape_symbols *symbols, const ir_shape *shape, masu__buffer *out) {
    masu__buffer_putc(out, '[');
    for (uint32_t d = 0; d < shape->rank; d++) {
        masu__buffer_puts(out, d ? ", " : "");
        shape_put_dim(symbols, shape->dim[d], out);
    }
    masu__buffer_putc(out, ']');
}

/* ---- operands -------------------------------------------------------------------------------- */

/* The operand of the plain parameter of that name, 0 when there is none. */
ir_value shape_operand(const shape_query *q, const char *name) {
    for (uint32_t a = 0; a < q->i->arg_count; a++) {
        const tl_abi_parameter *p = ir_abi_parameter(q->i, a);
        if (p && p->mode == TL_VALUE && strcmp(p->name, name) == 0)
            return q->i->args[a];
    }
    return 0;
}

shape_list shape_list_of(const shape_query *q) {
    shape_list l = {0};
    for (uint32_t a = 0; a < q->i->arg_count; a++) {
        const tl_abi_parameter *p = ir_abi_parameter(q->i, a);
        if (!p || p->mode != TL_LIST)
            continue;
        if (l.count == 0)
            l.values = &q->i->args[a];
        l.count++;
    }
    return l;
}

/* The n-th tensor operand, 0 when there is none. */
ir_value shape_tensor(const shape_query *q, uint32_t n) {
    for (uint32_t a = 0; a < q->i->arg_count; a++)
        if (ir_type_of(q->f, q->i->args[a]) == IR_TENSOR && n-- == 0)
            return q->i->args[a];
    return 0;
}

static bool constant_number(const ir_function *f, ir_value v, int64_t *out) {
    const ir_instr *def = v ? f->values[v].def : NULL;
    if (!def)
        return false;
    if (def->op == IR_NEG && constant_number(f, def->args[0], out)) {
        *out = (int64_t)(0 - (uint64_t)*out);
        return true;
    }
    if (def->op == IR_CAST && (ir_type_of(f, v) == IR_I64 || ir_type_of(f, v) == IR_F64))
        return constant_number(f, def->args[0], out);
    if (def->op != IR_CONST)
        return false;
    if (!ir_type_float(ir_type_of(f, v)))
        return ir_const_int(f, v, out);
    if (!(def->imm.f > -0x1p53 && def->imm.f < 0x1p53) || def->imm.f != (double)(int64_t)def->imm.f)
        return false;
    *out = (int64_t)def->imm.f;
    return true;
}

bool shape_known_number(const shape_query *q, ir_value v, int64_t *out) {
    if (q->numbers[v].state != SHAPE_IS_KNOWN)
        return constant_number(q->f, v, out);
    *out = q->numbers[v].number;
    return true;
}

shape_length shape_number_length(const shape_query *q, ir_value v) {
    shape_length l = {.symbol = q->numbers[v].state == SHAPE_IS_UNKNOWN ? q->numbers[v].symbol : 0};
    l.known = shape_known_number(q, v, &l.number);
    return l;
}

/* ---- faults ---------------------------------------------------------------------------------- */

bool shape_wanted(const shape_fault *fault) {
    return fault && fault->text.length == 0;
}

void shape_blame(shape_fault *fault, ir_value v) {
    for (uint32_t n = 0; n < fault->about_count; n++)
        if (fault->about[n] == v)
            return; /* `a.matmul(a)`: once is enough */
    if (v && fault->about_count < 3)
        fault->about[fault->about_count++] = v;
}

void shape_say(shape_fault *fault, message_row row, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    masu__buffer_vprintf(&fault->text, format, arguments);
    va_end(arguments);
    fault->row = row;
}

static const char *kept_text(shape_fault *fault, masu__buffer *text) {
    const char *kept = text->failed ? NULL : masu__arena_strdup(fault->symbols->m->arena, masu__buffer_text(text));
    masu__buffer_destroy(text);
    fault->symbols->out_of_memory |= kept == NULL;
    return kept ? kept : "?";
}

const char *shape_text(shape_fault *fault, const ir_shape *shape) {
    masu__buffer text = {0};
    shape_put(fault->symbols, shape, &text);
    return kept_text(fault, &text);
}

const char *shape_dim_text(shape_fault *fault, int64_t dim) {
    masu__buffer text = {0};
    shape_put_dim(fault->symbols, dim, &text);
    return kept_text(fault, &text);
}

bool shape_elements(const ir_shape *s, int64_t *out) {
    int64_t n = 1;
    for (uint32_t d = 0; d < s->rank; d++)
        if (s->dim[d] < 0 || __builtin_mul_overflow(n, s->dim[d], &n))
            return false;
    *out = n;
    return true;
}
