/* ir_print.c: the module as text, for people, for tests and for ir_parse_module, which reads it back.
 *
 *     fn step{ob}(%1.w: tensor own, %2.g: tensor borrow) -> (tensor) slots 1 bound 1 {
 *     b0:
 *         %3: f64 = const 0.1
 *         %4: tensor[8,8] = tl_tensor_mul_scalar %2.g, %3    ; line 14
 *         ret %4
 *     }
 *
 * A value prints as % and its number, with the name of its binding behind a dot. What is
 * behind ; is for people only.
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "language/ir/ir.h"

#define INDENT "    "

/* ---- values and types ------------------------------------------------------------------------ */

static void put_value(const ir_function *f, ir_value v, masu__buffer *out) {
    const char *name = v < f->value_count ? f->values[v].name : NULL;
    masu__buffer_printf(out, "%%%" PRIu32, v);
    if (name)
        masu__buffer_printf(out, ".%s", name);
}

static void put_values(const ir_function *f, const ir_value *values, uint32_t count, masu__buffer *out) {
    for (uint32_t i = 0; i < count; i++) {
        masu__buffer_puts(out, i ? ", " : "");
        put_value(f, values[i], out);
    }
}

static void put_shape(const ir_shape *shape, masu__buffer *out) {
    masu__buffer_putc(out, '[');
    for (uint32_t i = 0; i < shape->rank; i++) {
        masu__buffer_puts(out, i ? "," : "");
        if (shape->dim[i] < 0)
            masu__buffer_putc(out, '?');
        else
            masu__buffer_printf(out, "%" PRId64, shape->dim[i]);
    }
    masu__buffer_putc(out, ']');
}

static void put_typed(const ir_function *f, ir_value v, masu__buffer *out) {
    put_value(f, v, out);
    masu__buffer_printf(out, ": %s", ir_type_name(ir_type_of(f, v)));
    if (f->values[v].shape && f->values[v].shape->known_rank)
        put_shape(f->values[v].shape, out);
}

static void put_types(const ir_type *types, uint32_t count, masu__buffer *out) {
    for (uint32_t i = 0; i < count; i++)
        masu__buffer_printf(out, "%s%s", i ? ", " : "", ir_type_name(types[i]));
}

/* Shortest form that reads back as the same number of the type. */
static void put_float(ir_type type, double v, masu__buffer *out) {
    if (isnan(v) || isinf(v)) {
        masu__buffer_puts(out, isnan(v) ? "nan" : v > 0 ? "inf" : "-inf");
        return;
    }
    size_t start = out->length;
    for (int digits = 1; digits <= 17 && !out->failed; digits++) {
        masu__buffer_truncate(out, start);
        masu__buffer_printf(out, "%.*g", digits, v);
        double read = out->failed ? v : strtod(out->data + start, NULL);
        if (read == v || (type == IR_F32 && (float)read == (float)v))
            break;
    }
}

/* ---- instructions ---------------------------------------------------------------------------- */

static void put_bytes(const ir_instr *i, masu__buffer *out) {
    masu__buffer_putc(out, '"');
    for (size_t k = 0; k < i->imm.bytes.length; k++) {
        unsigned char c = (unsigned char)i->imm.bytes.data[k];
        if (c == '"' || c == '\\')
            masu__buffer_printf(out, "\\%c", c);
        else if (c < 32 || c > 126)
            masu__buffer_printf(out, "\\x%02x", c);
        else
            masu__buffer_putc(out, (char)c);
    }
    masu__buffer_putc(out, '"');
}

static void put_target(const ir_function *f, const ir_target *t, masu__buffer *out) {
    masu__buffer_printf(out, "b%" PRIu32, t->block->id);
    if (t->count == 0)
        return;
    masu__buffer_putc(out, '(');
    put_values(f, t->args, t->count, out);
    masu__buffer_putc(out, ')');
}

static void put_call(const ir_function *f, const ir_instr *i, masu__buffer *out) {
    masu__buffer_printf(out, "call %s(", i->callee->name);
    for (uint32_t a = 0; a < i->arg_count; a++) {
        masu__buffer_puts(out, a ? ", " : "");
        if (i->owned && i->owned[a])
            masu__buffer_puts(out, "own ");
        put_value(f, i->args[a], out);
    }
    masu__buffer_putc(out, ')');
}

static void put_const(const ir_function *f, const ir_instr *i, masu__buffer *out) {
    masu__buffer_puts(out, "const ");
    ir_type type = ir_type_of(f, i->result);
    if (ir_type_float(type))
        put_float(type, i->imm.f, out);
    else
        masu__buffer_printf(out, "%" PRId64, i->imm.i);
}

static void put_operands(const ir_function *f, const ir_instr *i, masu__buffer *out) {
    masu__buffer_puts(out, i->arg_count ? " " : "");
    put_values(f, i->args, i->arg_count, out);
}

/* Opcodes with an integer in front of their operands, behind them, or a slot. */
static void put_with_number(const ir_function *f, const ir_instr *i, masu__buffer *out) {
    masu__buffer_puts(out, ir_opcode_name(i->op));
    if (i->op == IR_RECORD_WORD) {
        put_operands(f, i, out);
        masu__buffer_printf(out, ", %" PRId64, i->imm.i);
        return;
    }
    masu__buffer_printf(out, " %" PRId64 "%s", i->imm.i, i->arg_count ? "," : "");
    put_operands(f, i, out);
}

static void put_rooting(const ir_function *f, const ir_instr *i, masu__buffer *out) {
    masu__buffer_puts(out, ir_opcode_name(i->op));
    put_operands(f, i, out);
    if (i->imm.i < 0)
        masu__buffer_puts(out, ", registry");
    else
        masu__buffer_printf(out, ", slot %" PRId64, i->imm.i);
}

static void put_place(const ir_place *place, masu__buffer *out) {
    if (place->bytes)
        masu__buffer_printf(out, "at %" PRIu64 " bytes %" PRIu64, place->at, place->bytes);
    else if (place->slot)
        masu__buffer_printf(out, "growing %" PRIu32, place->slot - 1);
    else if (place->dest)
        masu__buffer_printf(out, "dest %" PRIu32, place->dest - 1);
    else
        masu__buffer_putc(out, '-');
}

/* Behind the operands: over which of them the result is written, and where it lies. */
static void put_result_place(const ir_function *f, const ir_instr *i, masu__buffer *out) {
    if (i->reuse) {
        masu__buffer_puts(out, " over ");
        put_value(f, i->reuse, out);
    }
    if (i->place.bytes || i->place.slot || i->place.dest) {
        masu__buffer_putc(out, ' ');
        put_place(&i->place, out);
    }
    if (i->work)
        masu__buffer_printf(out, " work %" PRIu32, i->work - 1);
    for (uint32_t r = 0; i->places && r < i->result_count; r++) {
        masu__buffer_puts(out, r ? ", " : " into ");
        put_place(&i->places[r], out);
    }
}

static void put_operation(const ir_function *f, const ir_instr *i, masu__buffer *out) {
    switch (i->op) {
    case IR_CONST:
        put_const(f, i, out);
        break;
    case IR_BYTES:
        masu__buffer_puts(out, "bytes ");
        put_bytes(i, out);
        break;
    case IR_MATH:
        masu__buffer_printf(out, "math.%s", math_row_of(i->imm.math)->name);
        put_operands(f, i, out);
        break;
    case IR_ABI:
        masu__buffer_puts(out, tl_abi_functions[i->abi].symbol);
        put_operands(f, i, out);
        put_result_place(f, i, out);
        break;
    case IR_CALL:
        put_call(f, i, out);
        put_result_place(f, i, out);
        break;
    case IR_COMPREHEND:
        masu__buffer_printf(out, "comprehend %s(", i->kernel->name);
        put_values(f, i->args, i->arg_count, out);
        masu__buffer_putc(out, ')');
        put_result_place(f, i, out);
        break;
    case IR_RECORD_TYPE:
        masu__buffer_puts(out, "record_type {");
        put_types(i->imm.record.types, i->imm.record.count, out);
        masu__buffer_putc(out, '}');
        break;
    case IR_RECORD_EMPTY:
    case IR_RECORD_WORD:
    case IR_KERNEL_CELL:
    case IR_KERNEL_EXTENT:
    case IR_KERNEL_LOAD:
    case IR_KERNEL_GRAD_ADD:
        put_with_number(f, i, out);
        break;
    case IR_ROOT:
    case IR_UNROOT:
        put_rooting(f, i, out);
        break;
    default:
        masu__buffer_puts(out, ir_opcode_name(i->op));
        put_operands(f, i, out);
        break;
    }
}

void ir_print_instr(const ir_function *f, const ir_instr *i, masu__buffer *out) {
    for (uint32_t r = 0; r < i->result_count; r++) {
        masu__buffer_puts(out, r ? ", " : "");
        put_typed(f, i->result + r, out);
    }
    masu__buffer_puts(out, i->result_count ? " = " : "");
    put_operation(f, i, out);
    for (int t = 0; t < ir_target_count(i); t++) {
        masu__buffer_puts(out, t || i->arg_count ? ", " : " ");
        put_target(f, &i->target[t], out);
    }
}

/* ---- functions ------------------------------------------------------------------------------- */

static void put_line_number(const ir_instr *i, masu__buffer *out) {
    if (i->span.file)
        masu__buffer_printf(out, INDENT "; line %" PRIu32, source_place_of(i->span).line);
}

static void put_block_head(const ir_function *f, const ir_block *b, masu__buffer *out) {
    masu__buffer_printf(out, "b%" PRIu32, b->id);
    for (uint32_t k = 0; k < b->param_count; k++) {
        masu__buffer_puts(out, k ? ", " : "(");
        put_typed(f, b->params[k], out);
    }
    masu__buffer_puts(out, b->param_count ? "):" : ":");
    for (uint32_t p = 0; p < b->pred_count; p++)
        masu__buffer_printf(out, "%sb%" PRIu32, p ? ", " : INDENT "; from ", b->preds[p]->id);
    masu__buffer_putc(out, '\n');
}

static void put_function_head(const ir_function *f, masu__buffer *out) {
    masu__buffer_printf(out, "%s %s(", f->is_kernel ? "kernel_fn" : "fn", f->name);
    for (uint32_t k = 0; k < f->param_count; k++) {
        masu__buffer_puts(out, k ? ", " : "");
        put_typed(f, f->params[k], out);
        if (f->ownership && ir_type_managed(ir_type_of(f, f->params[k])))
            masu__buffer_puts(out, f->values[f->params[k]].borrowed ? " borrow" : " own");
    }
    masu__buffer_putc(out, ')');
    if (f->result_count > 0) {
        masu__buffer_puts(out, " -> (");
        put_types(f->results, f->result_count, out);
        masu__buffer_putc(out, ')');
    }
    if (f->slot_count > 0 || f->slot_bound > 0)
        masu__buffer_printf(out, " slots %" PRIu32 " bound %" PRIu32, f->slot_count, f->slot_bound);
    if (f->room_bytes > 0)
        masu__buffer_printf(out, " room %" PRIu64 " bound %" PRIu64, f->room_bytes, f->room_bound);
    if (f->growing_count > 0)
        masu__buffer_printf(out, " growing %" PRIu32 " from %" PRIu32, f->growing_count, f->growing_first);
    if (f->built != 0)
        masu__buffer_printf(out, " builds %" PRIu32, f->built);
    masu__buffer_puts(out, " {\n");
}

void ir_print_function(const ir_function *f, masu__buffer *out) {
    put_function_head(f, out);
    for (uint32_t b = 0; b < f->block_count; b++) {
        put_block_head(f, f->blocks[b], out);
        for (const ir_instr *i = f->blocks[b]->first; i; i = i->next) {
            masu__buffer_puts(out, INDENT);
            ir_print_instr(f, i, out);
            put_line_number(i, out);
            masu__buffer_putc(out, '\n');
        }
    }
    masu__buffer_puts(out, "}\n");
}

/* ---- modules --------------------------------------------------------------------------------- */

static const char *dtype_name(tl_dtype t) {
    static const char *const names[TL_DTYPE_COUNT] = {"f32", "f64", "i64", "bool"};
    return t < TL_DTYPE_COUNT ? names[t] : "?";
}

static void put_twins(const char *word, const ir_function *f, const ir_function *careful, masu__buffer *out) {
    if (f)
        masu__buffer_printf(out, " %s %s", word, f->name);
    if (f && careful)
        masu__buffer_printf(out, " careful %s", careful->name);
}

/* kernel K = f32 rank 1 cells (i64, i64) captures (f32 rank 2, f32 rank 1 unread) forward K.f
 * careful K.fc backward K.b */
static void put_kernel(const ir_kernel *k, masu__buffer *out) {
    masu__buffer_printf(out, "kernel %s = %s rank %" PRIu32 " cells (", k->name, dtype_name(k->dtype), k->rank);
    put_types(k->cell_types, k->cell_count, out);
    masu__buffer_puts(out, ") captures (");
    for (uint32_t c = 0; c < k->capture_count; c++)
        masu__buffer_printf(out, "%s%s rank %" PRIu32 "%s", c ? ", " : "", dtype_name(k->capture_dtype[c]),
                            k->capture_rank[c], k->needs_value[c] ? "" : " unread");
    masu__buffer_puts(out, ")");
    put_twins("forward", k->forward, k->forward_careful, out);
    put_twins("backward", k->backward, k->backward_careful, out);
    masu__buffer_putc(out, '\n');
}

void ir_print_module(const ir_module *m, masu__buffer *out) {
    for (uint32_t k = 0; k < m->kernel_count; k++)
        put_kernel(m->kernels[k], out);
    for (uint32_t f = 0; f < m->function_count; f++) {
        if (f > 0 || m->kernel_count > 0)
            masu__buffer_putc(out, '\n');
        ir_print_function(m->functions[f], out);
    }
}
