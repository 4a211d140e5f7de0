/* write_numbers.c: numbers: expressions, calls, functions of numbers only, kernels of comprehensions; and the blocks of
 * any function as labels and jumps. */
#include "language/portable/writer.h"

#include <string.h>

#include "language/ir/cfg.h"

/* ---- expressions ------------------------------------------------------------------------------------------------- */

static bool is_float(const writer *w, ir_value v) {
    return ir_type_float(ir_type_of(w->f, v));
}

static const char *cast(writer *w, const ir_instr *i) {
    ir_type from = ir_type_of(w->f, i->args[0]), to = ir_type_of(w->f, i->result);
    const char *x = write_text(w, i->args[0]);
    if (to == IR_BOOL)
        return writer_printf(w, "%s != 0", x);
    if (ir_type_float(from) && !ir_type_float(to))
        return writer_printf(w, "%s(%s)", functions_saturating(w->set, from, to), x);
    return writer_printf(w, "(%s)%s", functions_c_type(to), x);
}

static const char *math(writer *w, const ir_instr *i) {
    const char *name = math_row_of(i->imm.math)->c;
    const char *end = ir_type_of(w->f, i->result) == IR_F32 ? "f" : "";
    if (i->arg_count == 1)
        return writer_printf(w, "%s%s(%s)", name, end, write_text(w, i->args[0]));
    return writer_printf(w, "%s%s(%s, %s)", name, end, write_text(w, i->args[0]), write_text(w, i->args[1]));
}

static const char *of_reals(writer *w, const ir_instr *i) {
    const char *end = ir_type_of(w->f, i->result) == IR_F32 ? "f" : "", *a = write_text(w, i->args[0]);
    const char *b = i->arg_count > 1 ? write_text(w, i->args[1]) : NULL;
    switch (i->op) {
    case IR_ADD:
        return writer_printf(w, "%s + %s", a, b);
    case IR_SUB:
        return writer_printf(w, "%s - %s", a, b);
    case IR_MUL:
        return writer_printf(w, "%s * %s", a, b);
    case IR_DIV:
        return writer_printf(w, "%s / %s", a, b);
    case IR_REM:
        return writer_printf(w, "fmod%s(%s, %s)", end, a, b);
    default:
        return writer_printf(w, "-%s", a);
    }
}

/* Divisors that may be 0, and differences of lengths below 0. */
static void check_whole(writer *w, const ir_instr *i) {
    int64_t known;
    bool divides = i->op == IR_DIV || i->op == IR_REM;
    if (divides && ir_const_int(w->f, i->args[1], &known) && known != 0)
        return;
    if (!divides && i->op != IR_SUB_LENGTH)
        return;
    if (divides)
        write_line(w, "if (%s == 0)", write_text(w, i->args[1]));
    else
        write_line(w, "if ((uint64_t)%s < (uint64_t)%s)", write_text(w, i->args[0]), write_text(w, i->args[1]));
    w->depth++;
    write_failure(w, i, "INVALID_ARGUMENT", divides ? "division by zero" : "a length below 0");
    w->depth--;
}

static const char *of_wholes(writer *w, const ir_instr *i) {
    ir_type type = ir_type_of(w->f, i->result);
    const char *c = functions_c_type(type), *a = write_text(w, i->args[0]),
               *b = i->arg_count > 1 ? write_text(w, i->args[1]) : NULL;
    static const char *const bits[] = {"&", "|", "^"};
    switch (i->op) {
    case IR_AND:
    case IR_OR:
    case IR_XOR:
        return writer_printf(w, "(%s)(%s %s %s)", c, a, bits[i->op - IR_AND], b);
    case IR_NOT:
        return type == IR_BOOL ? writer_printf(w, "!%s", a) : writer_printf(w, "(%s)~%s", c, a);
    case IR_NEG:
        return writer_printf(w, "%s(0, %s)", functions_whole(w->set, IR_SUB, type), a);
    default:
        check_whole(w, i);
        return writer_printf(w, "%s(%s, %s)", functions_whole(w->set, i->op, type), a, b);
    }
}

static const char *expression(writer *w, const ir_instr *i) {
    static const char *const relations[] = {"==", "!=", "<", "<=", ">", ">="};
    if (i->op >= IR_EQ && i->op <= IR_GE)
        return writer_printf(w, "%s %s %s", write_text(w, i->args[0]), relations[i->op - IR_EQ],
                             write_text(w, i->args[1]));
    if (i->op == IR_CAST)
        return cast(w, i);
    if (i->op == IR_MATH)
        return math(w, i);
    return is_float(w, i->result) ? of_reals(w, i) : of_wholes(w, i);
}

static const char *bits(writer *w, const ir_instr *i) {
    static const struct {
        tl_abi_index abi;
        const char *name, *text;
    } rows[] = {
        {TL_FN_tl_f64_to_bits, "bits_of_f64",
         "static inline int64_t bits_of_f64(double x) {\n"
         "    int64_t bits;\n"
         "    memcpy(&bits, &x, sizeof bits);\n"
         "    return bits;\n"
         "}\n"},
        {TL_FN_tl_f64_from_bits, "f64_of_bits",
         "static inline double f64_of_bits(int64_t bits) {\n"
         "    double x;\n"
         "    memcpy(&x, &bits, sizeof x);\n"
         "    return x;\n"
         "}\n"},
        {TL_FN_tl_f32_to_bits, "bits_of_f32",
         "static inline int64_t bits_of_f32(float x) {\n"
         "    uint32_t bits;\n"
         "    memcpy(&bits, &x, sizeof bits);\n"
         "    return (int64_t)bits;\n"
         "}\n"},
        {TL_FN_tl_f32_from_bits, "f32_of_bits",
         "static inline float f32_of_bits(int64_t all) {\n"
         "    uint32_t bits = (uint32_t)all;\n"
         "    float x;\n"
         "    memcpy(&x, &bits, sizeof x);\n"
         "    return x;\n"
         "}\n"},
    };
    for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++)
        if (i->op == IR_ABI && i->abi == rows[k].abi) {
            functions_need(w->set, rows[k].name, rows[k].text);
            return writer_printf(w, "%s(%s)", rows[k].name, write_text(w, i->args[0]));
        }
    return NULL;
}

bool write_scalar(writer *w, const ir_instr *i) {
    const char *by_bits = bits(w, i);
    if (by_bits) {
        write_line(w, "v%u = %s;", i->result, by_bits);
        return true;
    }
    if (i->op >= IR_ABI && i->op != IR_CALL)
        return false;
    if (i->op == IR_CONST)
        return true;
    if (i->op == IR_CALL) {
        write_call(w, i);
        return true;
    }
    const char *text = expression(w, i);
    write_line(w, "v%u = %s;", i->result, text);
    return true;
}

/* ---- what fails -------------------------------------------------------------------------------------------------- */

static bool fails_within(const ir_function *f, uint32_t deep) {
    int64_t known;
    for (uint32_t b = 0; b < f->block_count; b++)
        for (const ir_instr *i = f->blocks[b]->first; i; i = i->next) {
            bool divides = (i->op == IR_DIV || i->op == IR_REM) && !ir_type_float(ir_type_of(f, i->result));
            if (divides && (!ir_const_int(f, i->args[1], &known) || known == 0))
                return true;
            if (i->op == IR_SUB_LENGTH || i->op == IR_UNREACHABLE || ir_is_panic(i) ||
                (i->op == IR_ABI && i->abi == TL_FN_tl_assert))
                return true;
            if (i->op == IR_CALL && (deep == 0 || fails_within(i->callee, deep - 1)))
                return true;
        }
    return false;
}

bool portable_function_fails(const ir_function *f) {
    return fails_within(f, 12);
}

void write_call(writer *w, const ir_instr *i) {
    const char *name = write_function(w, i->callee);
    bool fails = portable_function_fails(i->callee), yields = !fails && i->result_count == 1;
    masu__buffer text = {0};
    if (yields)
        masu__buffer_printf(&text, "v%u = ", i->result);
    masu__buffer_printf(&text, "%s(%s", name, fails ? "context" : "");
    for (uint32_t a = 0; a < i->arg_count; a++)
        masu__buffer_printf(&text, "%s%s", a > 0 || fails ? ", " : "", write_text(w, i->args[a]));
    for (uint32_t r = 0; r < i->result_count && !yields; r++)
        masu__buffer_printf(&text, "%s&v%u", r > 0 || i->arg_count > 0 || fails ? ", " : "", i->result + r);
    masu__buffer_puts(&text, ")");
    if (!fails) {
        write_line(w, "%s;", masu__buffer_text(&text));
    } else {
        write_line(w, "if (%s != 0)", masu__buffer_text(&text));
        w->depth++;
        write_line(w, "return context->status;");
        w->depth--;
    }
    write_drop(w, &text);
}

/* ---- blocks ------------------------------------------------------------------------------------------------------ */

/* Variables that the function reads. */
static bool *read_values(writer *w, const ir_function *f) {
    bool *read = MASU_ARENA_ARRAY(&w->p->arena, bool, f->value_count + 1);
    if (!read) {
        w->p->out_of_memory = true;
        return NULL;
    }
    for (uint32_t b = 0; b < f->block_count; b++)
        for (const ir_instr *i = f->blocks[b]->first; i; i = i->next) {
            for (uint32_t a = 0; a < i->arg_count; a++)
                read[i->args[a]] = true;
            for (int t = 0; t < ir_target_count(i); t++)
                for (uint32_t a = 0; a < i->target[t].count; a++)
                    read[i->target[t].args[a]] = true;
        }
    return read;
}

static bool has_variable(const writer *w, const ir_function *f, ir_value v) {
    const ir_instr *def = f->values[v].def;
    ir_type type = ir_type_of(f, v);
    if (ir_type_managed(type) || type == IR_ADDRESS || type == IR_NONE || f->values[v].is_parameter ||
        (def && def->op == IR_CONST))
        return false;
    if (w->l && def && w->l->position_of[v] != UINT32_MAX && w->l->steps[w->l->position_of[v]].treatment == TREAT_DEAD)
        return false;
    return def != NULL || f->values[v].block != NULL;
}

/* All at once, before the first jump. */
void write_variables(writer *w, const ir_function *f) {
    const bool *read = read_values(w, f);
    for (ir_value v = 1; v < f->value_count && read; v++) {
        if (!has_variable(w, f, v))
            continue;
        const char *name = f->values[v].name;
        write_indent(w);
        masu__buffer_printf(w->out, "%s v%u = 0;", functions_c_type(ir_type_of(f, v)), v);
        if (name && name[0] != '<' && name[0] != '_')
            masu__buffer_printf(w->out, " /* %s */", name);
        masu__buffer_putc(w->out, '\n');
    }
    for (ir_value v = 1; v < f->value_count && read; v++)
        if (has_variable(w, f, v) && !read[v])
            write_line(w, "(void)v%u;", v);
}

/* Arguments of numbers into parameters: at once, as one may be another's. */
static void carry_numbers(writer *w, const ir_target *target) {
    bool crosses = false;
    for (uint32_t a = 0; a < target->count; a++)
        for (uint32_t b = 0; b < a; b++)
            crosses |= target->args[a] == target->block->params[b];
    if (crosses) {
        write_line(w, "{");
        w->depth++;
    }
    for (uint32_t a = 0; a < target->count; a++) {
        ir_value to = target->block->params[a];
        if (ir_type_managed(ir_type_of(w->f, to)) || target->args[a] == to)
            continue;
        if (crosses)
            write_line(w, "const %s n%u = %s;", functions_c_type(ir_type_of(w->f, to)), a,
                       write_text(w, target->args[a]));
        else
            write_line(w, "v%u = %s;", to, write_text(w, target->args[a]));
    }
    for (uint32_t a = 0; a < target->count && crosses; a++)
        if (!ir_type_managed(ir_type_of(w->f, target->block->params[a])) && target->args[a] != target->block->params[a])
            write_line(w, "v%u = n%u;", target->block->params[a], a);
    if (crosses) {
        w->depth--;
        write_line(w, "}");
    }
}

typedef void carry_function(writer *, const ir_target *, uint32_t);

static bool has_tensors(const writer *w, const ir_target *target) {
    for (uint32_t a = 0; a < target->count; a++)
        if (ir_type_managed(ir_type_of(w->f, target->args[a])))
            return true;
    return false;
}

static void go(writer *w, const ir_target *target, uint32_t edge, carry_function *carry, const ir_block *next) {
    if (carry && has_tensors(w, target))
        carry(w, target, edge);
    carry_numbers(w, target);
    if (target->block != next)
        write_line(w, "goto L%u;", target->block->id);
}

static void write_terminator(writer *w, const ir_instr *last, uint32_t position, carry_function *carry,
                             const ir_block *next) {
    if (last->op == IR_JUMP) {
        go(w, &last->target[0], 2 * position, carry, next);
        return;
    }
    if (last->op == IR_UNREACHABLE) {
        write_failure(w, last, "PANIC", "this place is not reached");
        return;
    }
    if (last->op != IR_BRANCH)
        return;
    bool swaps = last->target[0].block == next && last->target[0].count == 0;
    const ir_target *first = &last->target[swaps], *second = &last->target[!swaps];
    write_line(w, swaps ? "if (!%s) {" : "if (%s) {", write_text(w, last->args[0]));
    w->depth++;
    go(w, first, 2 * position + swaps, carry, NULL);
    w->depth--;
    write_line(w, "}");
    go(w, second, 2 * position + !swaps, carry, next);
}

/* Whether something jumps to the block: else its label would be one that nothing uses. */
static bool is_jumped_to(const ir_order *order, uint32_t k) {
    const ir_block *b = order->blocks[k], *before = k > 0 ? order->blocks[k - 1] : NULL;
    for (uint32_t e = 0; e < b->pred_count; e++) {
        const ir_block *from = b->preds[e];
        if (order->position[from->id] == UINT32_MAX)
            continue;
        if (from != before)
            return true;
        const ir_instr *last = from->last;
        bool swaps = last->op == IR_BRANCH && last->target[0].block == b && last->target[0].count == 0;
        if (last->op == IR_BRANCH && last->target[swaps].block == b)
            return true;
    }
    return false;
}

void write_blocks(writer *w, const ir_function *f, void (*instruction)(writer *, const ir_instr *, uint32_t),
                  carry_function *carry) {
    ir_order order;
    uint32_t position = 0;
    if (!ir_order_compute(&order, f, &w->p->arena)) {
        w->p->out_of_memory = true;
        return;
    }
    for (uint32_t k = 0; k < order.count && !portable_stopped(w->p); k++) {
        const ir_block *b = order.blocks[k];
        if (is_jumped_to(&order, k)) {
            w->depth--;
            write_line(w, "L%u:;", b->id);
            w->depth++;
        }
        for (const ir_instr *i = b->first; i && !portable_stopped(w->p); i = i->next) {
            if (i->op == IR_CONST)
                continue;
            if (ir_is_terminator(i->op) && i->op != IR_RET)
                write_terminator(w, i, position, carry, k + 1 < order.count ? order.blocks[k + 1] : NULL);
            else
                instruction(w, i, position);
            position++;
        }
    }
}

void write_assertion(writer *w, const ir_instr *i) {
    write_line(w, "if (!%s)", write_text(w, i->args[0]));
    w->depth++;
    write_failure(w, i, "PANIC", "an assertion does not hold");
    w->depth--;
}

/* ---- functions of numbers ---------------------------------------------------------------------------------------- */

static void write_plain(writer *w, const ir_instr *i, uint32_t position) {
    (void)position;
    if (portable_passes_over(i))
        return;
    if (i->op == IR_RET) {
        bool yields = !w->fails && w->f->result_count == 1;
        for (uint32_t r = 0; r < i->arg_count && !yields; r++)
            write_line(w, "*r%u = %s;", r, write_text(w, i->args[r]));
        if (yields)
            write_line(w, "return %s;", write_text(w, i->args[0]));
        else
            write_line(w, w->fails ? "return 0;" : "return;");
        return;
    }
    if (ir_is_panic(i)) {
        const ir_instr *made = w->f->values[i->args[i->arg_count - 1]].def,
                       *bytes = made && made->op == IR_ABI && made->abi == TL_FN_tl_string_literal
                                    ? w->f->values[made->args[0]].def
                                    : NULL;
        write_failure(w, i, "PANIC", bytes && bytes->op == IR_BYTES ? bytes->imm.bytes.data : "the program panicked");
        return;
    }
    if (i->op == IR_ABI && i->abi == TL_FN_tl_assert) {
        write_assertion(w, i);
        return;
    }
    bool makes_text = i->op == IR_BYTES ||
                      (i->op == IR_ABI && i->result_count == 1 && ir_type_of(w->f, i->result) == IR_OBJECT &&
                       (strncmp(tl_abi_functions[i->abi].symbol, "tl_text_", 8) == 0 ||
                        i->abi == TL_FN_tl_string_literal || i->abi == TL_FN_tl_string_concat ||
                        i->abi == TL_FN_tl_string_append || i->abi == TL_FN_tl_string_push));
    if (!makes_text && !write_scalar(w, i))
        portable_refuse(w->p, NULL, i->span, "`%s` has no form in plain C",
                        i->op == IR_ABI ? tl_abi_functions[i->abi].symbol + 3 : ir_opcode_name(i->op));
}

static bool calls(const ir_function *f, const ir_function *to, uint32_t deep) {
    for (uint32_t b = 0; b < f->block_count; b++)
        for (const ir_instr *i = f->blocks[b]->first; i; i = i->next)
            if (i->op == IR_CALL && (i->callee == to || (deep > 0 && calls(i->callee, to, deep - 1))))
                return true;
    return false;
}

static void put_c_name(masu__buffer *out, const char *name) {
    for (; *name && *name != '{'; name++)
        masu__buffer_putc(out, (*name >= 'a' && *name <= 'z') || (*name >= 'A' && *name <= 'Z') ||
                                       (*name >= '0' && *name <= '9')
                                   ? *name
                                   : '_');
}

static const char *function_name(writer *w, const ir_function *f) {
    masu__buffer text = {0};
    put_c_name(&text, f->name);
    const char *name = writer_printf(w, "f%u_%s", f->id, masu__buffer_text(&text));
    write_drop(w, &text);
    return name;
}

static void put_signature(writer *w, const ir_function *f, const char *name) {
    bool fails = portable_function_fails(f), yields = !fails && f->result_count == 1;
    masu__buffer_printf(w->out, "/* %s */\nstatic %s %s(%s", f->name,
                        fails    ? "int"
                        : yields ? functions_c_type(f->results[0])
                                 : "void",
                        name, fails ? writer_printf(w, "%s *context", w->p->shown->name) : "");
    for (uint32_t k = 0; k < f->param_count; k++)
        masu__buffer_printf(w->out, "%s%s v%u", k > 0 || fails ? ", " : "",
                            functions_c_type(ir_type_of(f, f->params[k])), f->params[k]);
    for (uint32_t r = 0; r < f->result_count && !yields; r++)
        masu__buffer_printf(w->out, "%s%s *r%u", r > 0 || f->param_count > 0 || fails ? ", " : "",
                            functions_c_type(f->results[r]), r);
    masu__buffer_puts(w->out,
                      !fails && f->param_count == 0 && (yields || f->result_count == 0) ? "void) {\n" : ") {\n");
}

const char *write_function(writer *w, const ir_function *f) {
    const char *name = function_name(w, f);
    masu__buffer text = {0};
    if (w->written[f->id] || portable_stopped(w->p))
        return name;
    w->written[f->id] = true;
    if (calls(f, f, 12)) {
        portable_refuse(w->p, NULL, f->span, "`%s` calls itself: plain C has no bound for its stack; write a loop",
                        f->name);
        return name;
    }
    writer inner = *w;
    inner.l = NULL;
    inner.f = f;
    inner.out = &text;
    inner.depth = 1;
    inner.fails = portable_function_fails(f);
    inner.kernel = NULL;
    put_signature(&inner, f, name);
    write_variables(&inner, f);
    const bool *read = read_values(&inner, f);
    for (uint32_t k = 0; k < f->param_count && read; k++)
        if (!read[f->params[k]])
            write_line(&inner, "(void)v%u;", f->params[k]);
    write_blocks(&inner, f, write_plain, NULL);
    masu__buffer_puts(w->before, masu__buffer_text(&text));
    masu__buffer_puts(w->before, "}\n\n");
    write_drop(w, &text);
    return name;
}

/* ---- kernels ----------------------------------------------------------------------------------------------------- */

/* The kernel's arguments: words first, then tensors. */
static const char *kernel_place(writer *w, const ir_instr *i, uint32_t capture, uint32_t first) {
    ir_value v = w->comprehension->args[w->kernel->cell_count + capture];
    const fact *shape = layout_fact(w->l, v);
    const char *index[TL_MAX_RANK];
    for (uint32_t d = 0; first + d < i->arg_count && d < shape->rank; d++) {
        index[d] = write_text(w, i->args[first + d]);
        if (i->site == 0)
            continue;
        write_line(w, "if ((uint64_t)%s >= %lld)", index[d], (long long)shape->dim[d]);
        w->depth++;
        write_failure(w, i, "INDEX_OUT_OF_RANGE", "index out of range");
        w->depth--;
    }
    return write_place(w, v, index);
}

static void write_kernel_load(writer *w, const ir_instr *i) {
    uint32_t n = (uint32_t)i->imm.i;
    const char *at = kernel_place(w, i, n, 0);
    write_line(w, w->kernel->capture_dtype[n] == TL_BOOL ? "v%u = c%u[%s] != 0;" : "v%u = c%u[%s];", i->result, n, at);
}

static void write_kernel_out(writer *w, const ir_instr *i) {
    masu__buffer at = {0};
    const fact *shape = layout_fact(w->l, w->comprehension->result);
    for (uint32_t d = 0; d + 1 < i->arg_count; d++) {
        int64_t stride = 1;
        for (uint32_t k = d + 1; k < shape->rank; k++)
            stride *= shape->dim[k];
        masu__buffer_printf(&at, d > 0 ? " + %s * %lld" : "%s * %lld", write_text(w, i->args[d + 1]),
                            (long long)stride);
    }
    if (i->arg_count == 1)
        masu__buffer_puts(&at, "0");
    const char *text = masu__buffer_text(&at), *v = write_text(w, i->args[0]);
    if (i->imm.i == 1)
        write_line(w, "out[%s] = %s;", text, v);
    else if (w->kernel->dtype == TL_BOOL)
        write_line(w, "out[%s] |= %s;", text, v);
    else if (w->kernel->dtype == TL_I64)
        write_line(w, "out[%s] = %s(out[%s], %s);", text, functions_whole(w->set, IR_ADD, IR_I64), text, v);
    else
        write_line(w, "out[%s] += %s;", text, v);
    write_drop(w, &at);
}

static void write_kernel_instr(writer *w, const ir_instr *i, uint32_t position) {
    int64_t dim = 0;
    (void)position;
    switch (i->op) {
    case IR_KERNEL_CELL: {
        ir_type type = ir_type_of(w->f, i->result);
        write_line(w, "v%u = (%s)k%lld;", i->result, functions_c_type(type), (long long)i->imm.i);
        break;
    }
    case IR_KERNEL_EXTENT:
        ir_const_int(w->f, i->args[0], &dim);
        write_line(
            w, "v%u = %lld;", i->result,
            (long long)layout_fact(w->l, w->comprehension->args[w->kernel->cell_count + (uint32_t)i->imm.i])->dim[dim]);
        break;
    case IR_KERNEL_LOAD:
        write_kernel_load(w, i);
        break;
    case IR_KERNEL_OUT_ADD:
        write_kernel_out(w, i);
        break;
    case IR_RET:
        write_line(w, "return 0;");
        break;
    default:
        if (!write_scalar(w, i))
            portable_refuse(w->p, NULL, i->span, "this comprehension has no form in plain C");
        break;
    }
}

const char *write_kernel(writer *w, const ir_instr *comprehension) {
    const ir_kernel *kernel = comprehension->kernel;
    const ir_function *f = kernel->forward_careful ? kernel->forward_careful : kernel->forward;
    const char *name = writer_printf(w, "kernel_%u_of_%u", comprehension->result, w->f->id);
    masu__buffer text = {0};
    writer inner = *w;
    inner.f = f;
    inner.out = &text;
    inner.depth = 1;
    inner.fails = true;
    inner.kernel = kernel;
    inner.comprehension = comprehension;
    const layout *outer = w->l;
    masu__buffer_printf(&text, "/* the loops of a comprehension, line %u */\nstatic int %s(%s *context",
                        source_place_of(comprehension->span).line, name, w->p->shown->name);
    for (uint32_t k = 0; k < kernel->cell_count; k++)
        masu__buffer_printf(&text, ", %s k%u", functions_c_type(kernel->cell_types[k]), k);
    for (uint32_t k = 0; k < kernel->capture_count; k++)
        masu__buffer_printf(&text, ", const %s *c%u", functions_element_type(kernel->capture_dtype[k]), k);
    masu__buffer_printf(&text, ", %s *out) {\n", functions_element_type(kernel->dtype));
    inner.l = NULL; /* its values are the kernel's own */
    write_variables(&inner, f);
    inner.l = outer;
    write_line(&inner, "(void)context;");
    for (uint32_t k = 0; k < kernel->cell_count; k++)
        write_line(&inner, "(void)k%u;", k);
    for (uint32_t k = 0; k < kernel->capture_count; k++)
        write_line(&inner, "(void)c%u;", k);
    write_blocks(&inner, f, write_kernel_instr, NULL);
    masu__buffer_puts(w->before, masu__buffer_text(&text));
    masu__buffer_puts(w->before, "}\n\n");
    write_drop(w, &text);
    return name;
}
