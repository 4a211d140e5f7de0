/* write.c: the C file and its header: what the caller sees, what each export checks, its arrays, its steps, what it
 * gives back. */
#include "language/portable/writer.h"

#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- lines ------------------------------------------------------------------------------------------------------- */

const char *writer_printf(writer *w, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    const char *text = masu__arena_vprintf(&w->p->arena, format, arguments);
    va_end(arguments);
    w->p->out_of_memory |= !text;
    return text ? text : "";
}

void write_drop(writer *w, masu__buffer *part) {
    w->p->out_of_memory |= part->failed;
    masu__buffer_destroy(part);
}

void write_indent(writer *w) {
    masu__buffer_fill(w->out, ' ', 4 * (size_t)w->depth);
}

void write_line(writer *w, const char *format, ...) {
    va_list arguments;
    write_indent(w);
    va_start(arguments, format);
    masu__buffer_vprintf(w->out, format, arguments);
    va_end(arguments);
    masu__buffer_putc(w->out, '\n');
}

void write_string(masu__buffer *out, const char *text) {
    masu__buffer_putc(out, '"');
    for (; *text; text++)
        masu__buffer_printf(out, *text >= ' ' && *text <= '~' && !strchr("\"\\?", *text) ? "%c" : "\\%03o",
                            (unsigned char)*text);
    masu__buffer_putc(out, '"');
}

void write_comment(masu__buffer *out, const char *text) {
    for (; *text; text++) {
        masu__buffer_putc(out, *text);
        if ((text[0] == '*' && text[1] == '/') || (text[0] == '/' && text[1] == '*') ||
            (text[0] == '?' && text[1] == '?'))
            masu__buffer_putc(out, ' ');
    }
}

const char *write_source(portable *p) {
    masu__buffer text = {0};
    write_comment(&text, p->shown->source);
    const char *kept = text.failed ? NULL : masu__arena_strdup(&p->arena, masu__buffer_text(&text));
    p->out_of_memory |= !kept;
    masu__buffer_destroy(&text);
    return kept ? kept : "";
}

/* ---- numbers ----------------------------------------------------------------------------------------------------- */

static void put_real(masu__buffer *out, double v, bool narrow) {
    enum { LONGEST = 320 }; /* of any double, whatever the digits, as compilers count */
    char text[LONGEST];
    if (v != v || isinf(v)) {
        masu__buffer_printf(out, "%s(%s)%s", v < 0 ? "-" : "", narrow ? "float" : "double",
                            v != v ? "NAN" : "INFINITY");
        return;
    }
    snprintf(text, sizeof text, narrow ? "%.9g" : "%.17g", v);
    for (int digits = narrow ? 6 : 15; digits < (narrow ? 9 : 17); digits++) {
        char shorter[LONGEST];
        snprintf(shorter, sizeof shorter, "%.*g", digits, v);
        double back = strtod(shorter, NULL);
        if (narrow ? (float)back == (float)v : back == v) {
            memcpy(text, shorter, sizeof text);
            break;
        }
    }
    masu__buffer_printf(out, "%s%s%s", text, strpbrk(text, ".e") ? "" : ".0", narrow ? "f" : "");
}

void write_number(masu__buffer *out, ir_type type, int64_t i, double f) {
    if (ir_type_float(type))
        put_real(out, f, type == IR_F32);
    else if (type == IR_U64)
        masu__buffer_printf(out, "UINT64_C(%llu)", (unsigned long long)i);
    else if (type == IR_I64 && i == INT64_MIN)
        masu__buffer_puts(out, "INT64_MIN");
    else if (type == IR_I64)
        masu__buffer_printf(out, i < 0 ? "(INT64_C(%lld))" : "INT64_C(%lld)", (long long)i);
    else if (type == IR_U32 || type == IR_CHAR)
        masu__buffer_printf(out, "UINT32_C(%lu)", (unsigned long)(uint32_t)i);
    else if (type == IR_I32 && i == INT32_MIN)
        masu__buffer_puts(out, "INT32_MIN");
    else
        masu__buffer_printf(out, i < 0 ? "(%lld)" : "%lld", (long long)i);
}

const char *write_number_of(writer *w, tl_dtype dtype, double f) {
    masu__buffer text = {0};
    if (dtype == TL_F32 || dtype == TL_F64)
        put_real(&text, dtype == TL_F32 ? (double)(float)f : f, dtype == TL_F32);
    else if (dtype == TL_BOOL)
        masu__buffer_puts(&text, f != 0 ? "1" : "0");
    else
        write_number(&text, IR_I64, f >= 0x1p63 ? INT64_MAX : f <= -0x1p63 ? INT64_MIN : (int64_t)f, 0);
    const char *kept = f < 0 && masu__buffer_text(&text)[0] == '-' ? writer_printf(w, "(%s)", masu__buffer_text(&text))
                                                                   : writer_printf(w, "%s", masu__buffer_text(&text));
    write_drop(w, &text);
    return kept;
}

void write_value(writer *w, ir_value v, masu__buffer *out) {
    const ir_instr *def = w->f->values[v].def;
    ir_type type = ir_type_of(w->f, v);
    if (def && def->op == IR_CONST) {
        bool minus = ir_type_float(type) && (def->imm.f < 0 || (def->imm.f == 0 && signbit(def->imm.f)));
        masu__buffer_puts(out, minus ? "(" : "");
        write_number(out, type, def->imm.i, def->imm.f);
        masu__buffer_puts(out, minus ? ")" : "");
    } else {
        masu__buffer_printf(out, "v%u", v);
    }
}

const char *write_text(writer *w, ir_value v) {
    masu__buffer text = {0};
    write_value(w, v, &text);
    const char *kept = writer_printf(w, "%s", masu__buffer_text(&text));
    write_drop(w, &text);
    return kept;
}

void write_upper(masu__buffer *out, const char *name) {
    for (; *name; name++)
        masu__buffer_putc(out, (char)toupper((unsigned char)*name));
}

void write_failure(writer *w, const ir_instr *i, const char *status, const char *message) {
    source_place at = source_place_of(i->span);
    write_indent(w);
    masu__buffer_printf(w->out, "return fail(context, ");
    write_upper(w->out, w->p->shown->name);
    masu__buffer_printf(w->out, "_ERR_%s, %u, %u, ", status, at.line, at.column);
    write_string(w->out, message);
    masu__buffer_puts(w->out, ");\n");
}

/* ---- names ------------------------------------------------------------------------------------------------------- */

static bool is_among(const char *name, const char *words) {
    char spaced[96];
    snprintf(spaced, sizeof spaced, " %.80s ", name);
    return strstr(words, spaced) != NULL;
}

static bool is_keyword(const char *name) {
    return is_among(name,
                    " auto break case char const continue default do double else enum extern float for goto if "
                    "inline int long register restrict return short "
                    "signed sizeof static struct switch typedef union unsigned void volatile while alignas bool "
                    "true false this class "
                    "new delete template operator private public protected namespace using virtual friend try "
                    "catch throw typename explicit mutable export and or not xor linux unix ");
}

/* Names that functions use themselves; v12, t3, L4, i0 are of that kind. */
static bool is_used_inside(const char *name) {
    size_t letter = strspn(name, "vtLirckxyzn");
    bool numbered = letter == 1 && name[1] != 0 && name[1 + strspn(name + 1, "0123456789")] == 0;
    return numbered ||
           is_among(name,
                    " context out fail memcpy memset arena begin exp exp2 expm1 log log2 log10 log1p sqrt sin "
                    "cos tan asin acos atan atan2 sinh cosh tanh asinh acosh atanh pow hypot fabs floor ceil "
                    "trunc fmod fmin fmax copysign nearbyint memmove NAN INFINITY ");
}

const char *write_parameter_name(portable *p, const char *name) {
    const char *made = masu__arena_printf(
        &p->arena, "%s%s", name, is_keyword(name) || is_used_inside(name) || strncmp(name, "out", 3) == 0 ? "_" : "");
    return made ? made : name;
}

/* The field of a handle's word: without the variable that held the whole. */
const char *write_field_name(portable *p, const leaf *l, uint32_t word) {
    const char *dot = l->name ? strchr(l->name, '.') : NULL;
    if (!dot)
        return masu__arena_printf(&p->arena, "field%u", word);
    char *made = masu__arena_printf(&p->arena, "%s%s", dot + 1, is_keyword(dot + 1) ? "_" : "");
    for (char *at = made; at && *at; at++)
        *at = isalnum((unsigned char)*at) ? *at : '_';
    return made ? made : "field";
}

const char *write_root(writer *w, uint32_t root) {
    return writer_printf(w, "t%u", root);
}

const char *write_short_type(tl_dtype dtype) {
    static const char *const names[] = {"f32", "f64", "i64", "bool"};
    return names[dtype];
}

void write_shape(masu__buffer *out, const fact *t) {
    masu__buffer_putc(out, '[');
    for (uint32_t d = 0; d < t->rank; d++)
        masu__buffer_printf(out, d > 0 ? ", %lld" : "%lld", (long long)t->dim[d]);
    masu__buffer_putc(out, ']');
}

/* ---- the steps --------------------------------------------------------------------------------------------------- */

static const masu_parameter *given_as(const flat *f, uint32_t index, uint32_t *parameter) {
    uint32_t written = f->shown->result_count;
    if (index < written)
        return &f->shown->results[index];
    for (uint32_t k = 0; k < f->shown->parameter_count; k++)
        if (f->shown->parameters[k].is_written && written++ == index) {
            *parameter = k;
            return &f->shown->parameters[k];
        }
    return NULL;
}

/* Where what goes out is written: the whole left side. */
static const char *target_of(writer *w, const ir_instr *i, bool tensor) {
    const flat *f = w->l->flat;
    uint32_t index = (uint32_t)(i->imm.i >> 8), word = (uint32_t)(i->imm.i & 255), parameter = 0;
    const masu_parameter *shown = given_as(f, index, &parameter);
    if (!shown)
        return "";
    bool result = index < f->shown->result_count;
    const char *name = !result                      ? write_parameter_name(w->p, shown->name)
                       : f->shown->result_count > 1 ? writer_printf(w, "out%u", index)
                                                    : "out";
    if (shown->kind == MASU_KIND_HANDLE) {
        const fact_list *list = w->p->handles[shown->handle_type].list;
        return writer_printf(w, "%s->%s", name, write_field_name(w->p, &list->leaves[word], word));
    }
    return tensor ? writer_printf(w, "%s->data", name) : writer_printf(w, "*%s", name);
}

static void dense(const fact *t, int64_t stride[TL_MAX_RANK]) {
    int64_t step = 1;
    for (uint32_t d = t->rank; d-- > 0; step *= t->dim[d])
        stride[d] = step;
}

/* Values that go out through parameters are set aside before the first result is written: that may be the same
 * array. */
static void set_aside(writer *w, uint32_t position) {
    const layout *l = w->l;
    int64_t stride[TL_MAX_RANK];
    for (uint32_t s = position; s < l->step_count; s++) {
        uint32_t aside = layout_gives(l->steps[s].i) ? l->copies[2 * s] : 0;
        if (!aside)
            continue;
        ir_value v = l->steps[s].i->args[0];
        dense(layout_fact(l, v), stride);
        write_copy(w, layout_fact(l, v), write_root(w, aside - 1), layout_fact(l, v)->dtype, 0, stride, v);
    }
}

static void write_given(writer *w, const ir_instr *i, uint32_t position) {
    ir_value v = i->args[0];
    bool tensor = ir_type_of(w->f, v) == IR_TENSOR;
    const char *to = target_of(w, i, tensor);
    if (position == 0 || !layout_gives(w->l->steps[position - 1].i))
        set_aside(w, position);
    if (!tensor) {
        if (!layout_is_own(w->l, i))
            write_line(w, "%s = %s;", to, write_text(w, v));
        return;
    }
    const fact *t = layout_fact(w->l, v);
    int64_t stride[TL_MAX_RANK];
    uint32_t aside = w->l->copies[2 * position];
    dense(t, stride);
    if (aside)
        write_line(w, "memcpy(%s, t%u, %lld * sizeof *t%u);", to, aside - 1, (long long)fact_elements(t), aside - 1);
    else if (!layout_is_own(w->l, i))
        write_copy(w, t, to, t->dtype, 0, stride, v);
}

static void name_step(writer *w, const ir_instr *i) {
    source_place at = source_place_of(i->span);
    const char *symbol = i->op == IR_COMPREHEND
                             ? "comprehension"
                             : tl_abi_functions[i->abi].symbol +
                                   (strncmp(tl_abi_functions[i->abi].symbol, "tl_tensor_", 10) == 0 ? 10 : 3);
    write_indent(w);
    masu__buffer_printf(w->out, "/* line %u: %s", at.line, symbol);
    if (i->result_count == 1 && ir_type_of(w->f, i->result) == IR_TENSOR) {
        masu__buffer_puts(w->out, " to ");
        write_shape(w->out, layout_fact(w->l, i->result));
    }
    masu__buffer_puts(w->out, " */\n");
}

static void write_step(writer *w, const ir_instr *i, uint32_t position) {
    const step *at = &w->l->steps[position];
    if (at->treatment != TREAT_CODE)
        return;
    if (i->op == IR_RET) {
        write_line(w, "return context->status;");
        return;
    }
    if (i->op == IR_ABI && i->abi == TL_FN_tl_give_tensor) {
        write_given(w, i, position);
        return;
    }
    if (ir_is_panic(i)) {
        write_failure(w, i, "PANIC", i->imm.bytes.data ? i->imm.bytes.data : "the program panicked");
        return;
    }
    if (i->op == IR_ABI && i->abi == TL_FN_tl_assert) {
        write_assertion(w, i);
        return;
    }
    if (i->op == IR_COMPREHEND || (i->op == IR_ABI && i->arg_count > 0 &&
                                   (ir_type_of(w->f, i->args[0]) == IR_TENSOR ||
                                    (i->result_count == 1 && ir_type_of(w->f, i->result) == IR_TENSOR)))) {
        name_step(w, i);
        write_tensor(w, at);
        return;
    }
    if (i->op == IR_ABI && i->result_count == 1 && ir_type_of(w->f, i->result) == IR_TENSOR) {
        name_step(w, i);
        write_tensor(w, at);
        return;
    }
    if (!write_scalar(w, i))
        portable_refuse(w->p, NULL, i->span, "`%s` has no form in plain C",
                        i->op == IR_ABI ? tl_abi_functions[i->abi].symbol + 3 : ir_opcode_name(i->op));
}

/* Tensors along an edge, into the parameters' arrays. */
static void carry_tensors(writer *w, const ir_target *target, uint32_t edge) {
    const layout *l = w->l;
    uint32_t through = l->copies[edge];
    for (int round = 0; round < (through ? 2 : 1); round++) {
        uint32_t temporary = through ? through - 1 : 0;
        for (uint32_t a = 0; a < target->count; a++) {
            ir_value from = target->args[a], to = target->block->params[a];
            if (ir_type_of(w->f, from) != IR_TENSOR)
                continue;
            const fact *t = layout_fact(l, from);
            const place *there = &l->places[to];
            if (through && round == 0) {
                write_copy(w, t, write_root(w, temporary++), t->dtype, 0, there->stride, from);
            } else if (through) {
                write_line(w, "memcpy(t%u, t%u, %lld * sizeof *t%u);", there->root, temporary,
                           (long long)fact_elements(t), there->root);
                temporary++;
            } else if (l->places[from].root != there->root) {
                write_copy(w, t, write_root(w, there->root), t->dtype, 0, there->stride, from);
            }
        }
    }
}

/* ---- arrays ------------------------------------------------------------------------------------------------------ */

static void put_elements(writer *w, masu__buffer *out, const root *r) {
    const ir_instr *i = w->f->values[r->value].def;
    const ir_value *list;
    const fact *t = layout_fact(w->l, r->value);
    uint32_t count = portable_list(i, &list);
    for (uint32_t k = t->rank; k < count; k++) {
        const ir_instr *def = w->f->values[list[k]].def;
        bool real = ir_type_float(ir_type_of(w->f, list[k]));
        masu__buffer_puts(out, (k - t->rank) % 8 == 0 ? "\n    " : " ");
        if (t->dtype == TL_F32 || t->dtype == TL_F64)
            put_real(out,
                     t->dtype == TL_F32 ? (double)(float)(real ? def->imm.f : (double)def->imm.i)
                     : real             ? def->imm.f
                                        : (double)def->imm.i,
                     t->dtype == TL_F32);
        else if (t->dtype == TL_BOOL)
            masu__buffer_puts(out, (real ? def->imm.f != 0 : def->imm.i != 0) ? "1" : "0");
        else
            write_number(out, IR_I64, def->imm.i, 0);
        masu__buffer_putc(out, ',');
    }
}

/* The parameter, or the word of a handle, that holds the value. */
static const char *parameter_data(writer *w, ir_value v) {
    const flat *f = w->l->flat;
    for (uint32_t k = 0; k < f->shown->parameter_count; k++)
        for (uint32_t word = 0; word < f->words[k]; word++) {
            if (f->parameters[k][word] != v)
                continue;
            const char *name = write_parameter_name(w->p, f->shown->parameters[k].name);
            if (f->shown->parameters[k].kind != MASU_KIND_HANDLE)
                return ir_type_of(w->f, v) == IR_TENSOR ? writer_printf(w, "%s->data", name) : name;
            return writer_printf(
                w, "%s->%s", name,
                write_field_name(w->p, &w->p->handles[f->shown->parameters[k].handle_type].list->leaves[word], word));
        }
    return "0";
}

static void write_arrays(writer *w) {
    const layout *l = w->l;
    bool used = false;
    for (uint32_t r = 0; r < l->root_count; r++) {
        const root *at = &l->roots[r];
        const char *type = functions_element_type(at->dtype), *name = w->f->values[at->value].name;
        if (!at->is_used)
            continue;
        write_indent(w);
        if (at->kind == ROOT_PARAMETER)
            masu__buffer_printf(w->out, "const %s *const t%u = %s;", type, r, parameter_data(w, at->value));
        else if (at->kind == ROOT_CONSTANT)
            masu__buffer_printf(w->out, "const %s *const t%u = literal_%u_%u;", type, r, l->f->id, r);
        else
            masu__buffer_printf(w->out, "%s *const t%u = (%s *)(void *)(arena + %llu);", type, r, type,
                                (unsigned long long)at->offset);
        masu__buffer_puts(w->out, " /* ");
        if (name && name[0] != '_' && name[0] != '<') {
            write_comment(w->out, name);
            masu__buffer_puts(w->out, ": ");
        }
        write_shape(w->out, layout_fact(l, at->value));
        if (at->kind == ROOT_ARENA)
            masu__buffer_printf(w->out, " %s, %llu bytes, steps %u to %u", write_short_type(at->dtype),
                                (unsigned long long)portable_bytes(at->dtype, at->elements), at->first, at->last);
        masu__buffer_puts(w->out, " */\n");
        used |= at->kind == ROOT_ARENA;
    }
    for (uint32_t r = 0; r < l->root_count; r++)
        if (l->roots[r].is_used)
            write_line(w, "(void)t%u;", r);
    if (!used)
        write_line(w, "(void)arena;");
}

static void write_literals(writer *w) {
    const layout *l = w->l;
    for (uint32_t r = 0; r < l->root_count; r++) {
        if (l->roots[r].kind != ROOT_CONSTANT || !l->roots[r].is_used)
            continue;
        masu__buffer_printf(w->before, "static const %s literal_%u_%u[%lld] = {",
                            functions_element_type(l->roots[r].dtype), l->f->id, r,
                            (long long)(l->roots[r].elements ? l->roots[r].elements : 1));
        put_elements(w, w->before, &l->roots[r]);
        w->p->flash_bytes += portable_bytes(l->roots[r].dtype, l->roots[r].elements ? l->roots[r].elements : 1);
        masu__buffer_puts(w->before, l->roots[r].elements ? "};\n\n" : "0};\n\n");
    }
}

/* Numbers that come in, under the names of their values. */
static void write_numbers_in(writer *w) {
    const flat *f = w->l->flat;
    for (uint32_t k = 0; k < f->shown->parameter_count; k++)
        for (uint32_t word = 0; word < f->words[k]; word++) {
            ir_value v = f->parameters[k][word];
            const fact *given = &f->call->arguments[k];
            bool chosen = given->kind == FACT_LIST && handle_word_is_chosen(given->list, word);
            if (ir_type_of(w->f, v) == IR_TENSOR || chosen)
                continue;
            const char *from = parameter_data(w, v);
            bool truth = ir_type_of(w->f, v) == IR_BOOL;
            write_line(w, truth ? "const %s v%u = %s != 0;" : "const %s v%u = (%s)%s;",
                       functions_c_type(ir_type_of(w->f, v)), v, truth ? from : functions_c_type(ir_type_of(w->f, v)),
                       from);
            write_line(w, "(void)v%u;", v);
        }
}

static void write_export(writer *w, flat *f) {
    layout l;
    if (!portable_lay_out(w->p, f, &l)) {
        w->p->out_of_memory |= !w->p->refused;
        return;
    }
    masu__buffer text = {0};
    w->l = &l;
    w->f = f->f;
    w->out = &text;
    w->depth = 1;
    w->fails = true;
    masu__buffer_printf(&text, "/* %s, line %u. */\n", f->shown->name, f->shown->line);
    write_signature(w, &text, f);
    masu__buffer_puts(&text, " {\n");
    write_line(w, "if (!context)");
    write_indent(w);
    masu__buffer_puts(w->out, "    return ");
    write_upper(w->out, w->p->shown->name);
    masu__buffer_puts(w->out, "_ERR_INVALID_ARGUMENT;\n");
    write_line(w, "begin(context, \"%s\");", f->shown->name);
    write_checks(w);
    write_line(w, "unsigned char *const arena = (unsigned char *)context->arena;");
    write_arrays(w);
    write_numbers_in(w);
    write_variables(w, f->f);
    masu__buffer_putc(&text, '\n');
    write_literals(w);
    write_blocks(w, f->f, write_step, carry_tensors);
    masu__buffer_puts(&text, "}\n\n");
    masu__buffer_puts(w->before, masu__buffer_text(&text));
    write_drop(w, &text);
}

/* ---- the file ---------------------------------------------------------------------------------------------------- */

static void write_begin(portable *p, masu__buffer *out) {
    const char *name = p->shown->name;
    masu__buffer_printf(
        out,
        "/* %s.c: see %s.h. Written by `masu build --c` from %s.\n"
        " *\n"
        " * t1, t2, … are arrays: in the arena at offsets of a plan that no other can undercut by more than the "
        "header says; v1, v2, … are numbers.\n"
        " */\n",
        name, name, write_source(p));
    masu__buffer_printf(out,
                        "#include \"%s.h\"\n\n"
                        "#include <math.h>\n"
                        "#include <string.h>\n\n"
                        "#if defined(__clang__)\n"
                        "#pragma STDC FP_CONTRACT OFF\n"
                        "#endif\n\n",
                        name);
    masu__buffer_printf(out,
                        "static inline void begin(%s *context, const char *function) {\n"
                        "    context->status = (%s_status)0;\n"
                        "    context->line = context->column = 0;\n"
                        "    context->function = function;\n"
                        "    context->message = \"\";\n"
                        "}\n\n",
                        name, name);
    masu__buffer_printf(out,
                        "static inline %s_status fail(%s *context, %s_status status, int32_t line, int32_t column, "
                        "const char *message) {\n"
                        "    context->status = status;\n"
                        "    context->line = line;\n"
                        "    context->column = column;\n"
                        "    context->message = message;\n"
                        "    return status;\n"
                        "}\n\n",
                        name, name, name);
}

void portable_write(portable *p) {
    masu__buffer before = {0};
    function_set set = {.arena = &p->arena};
    writer w = {.p = p, .set = &set, .before = &before};
    w.written = MASU_ARENA_ARRAY(&p->arena, bool, p->module->function_count + 1);
    p->out_of_memory |= !w.written;
    for (uint32_t k = 0; k < p->call_count && !portable_stopped(p); k++)
        if (p->flats[k].f)
            write_export(&w, &p->flats[k]);
    if (!portable_stopped(p)) {
        write_begin(p, &p->code);
        write_weights(&w, &p->code);
        masu__buffer_puts(&p->code, masu__buffer_text(&set.text));
        masu__buffer_puts(&p->code, masu__buffer_text(&before));
        write_header(&w);
    }
    p->out_of_memory |= set.failed || set.text.failed || before.failed || p->code.failed || p->header.failed;
    masu__buffer_destroy(&set.text);
    masu__buffer_destroy(&before);
}
