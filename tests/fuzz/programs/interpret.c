/* interpret.c: walks lowered IR.
 *
 *     values of a function: one array, an entry for each SSA value
 *     places: the instruction at which each function on the stack stands, so that an error has a line
 *
 * Vectors and strings are immutable like everything else here: push copies. Records are arrays of values.
 */
#include "interpret.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "language/elaborate/elaborate.h"
#include "language/front/check.h"
#include "language/library/library.h"
#include "language/lower/lower.h"
#include "language/syntax/parser.h"
#include "machine.h"

static value *run_function(machine *m, const ir_function *f, const value *args, const kernel_run *kernel);

/* ---- strings and vectors ----------------------------------------------------------------------------- */

static void *room(machine *m, size_t bytes) {
    return naive_room(&m->n, bytes);
}

static object *vector_of(machine *m, const object *from, int64_t length) {
    object *v = room(m, sizeof *v);
    v->length = length;
    v->width = from->width;
    v->words = room(m, (size_t)(length * v->width) * sizeof *v->words);
    int64_t kept = from->length < length ? from->length : length;
    for (int64_t w = 0; w < kept * v->width; w++)
        v->words[w] = from->words[w];
    return v;
}

static void check_index(machine *m, const object *v, int64_t index) {
    if (index < 0 || index >= v->length)
        naive_fail(&m->n, "out of range");
}

static void copy_words(value *to, const value *from, int64_t count) {
    for (int64_t w = 0; w < count; w++)
        to[w] = from[w];
}

/* args: list, element type, rank, and from `at` to `end` which word of each element leads on; -1: not stated. */
static void check_stated(machine *m, const object *v, const value *args, uint32_t at, uint32_t end) {
    for (int64_t k = 0; v != NULL && k < v->length; k++) {
        const void *held = v->words[k * v->width + args[at].i].p;
        const tensor *t = held;
        if (at + 1 < end)
            check_stated(m, held, args, at + 1, end);
        else if (t != NULL && ((args[1].i >= 0 && args[1].i != t->dtype) || (args[2].i >= 0 && args[2].i != t->rank)))
            naive_fail(&m->n, "is stated here");
    }
}

static bool holds(const object *v, int64_t dtype, const value *path, uint32_t depth) {
    bool some = false;
    for (int64_t k = 0; v != NULL && !some && k < v->length; k++) {
        const void *held = v->words[k * v->width + path[0].i].p;
        const tensor *t = held;
        some = depth > 1 ? holds(held, dtype, path + 1, depth - 1) : t != NULL && t->dtype == dtype;
    }
    return some;
}

static bool vector_operation(machine *m, const ir_instr *i, const value *args, value *result) {
    object *v = args[0].p;
    switch (i->abi) {
    case TL_FN_tl_vec_new:
        v = room(m, sizeof *v);
        v->width = ((const ir_instr *)args[0].p)->imm.record.count;
        break;
    case TL_FN_tl_vec_len:
        *result = (value){.i = v->length};
        return true;
    case TL_FN_tl_vec_push:
        v = vector_of(m, v, v->length + 1);
        copy_words(v->words + (v->length - 1) * v->width, args[1].p, v->width);
        break;
    case TL_FN_tl_vec_fill:
        for (int64_t old = v->length; old > 0 && old < args[1].i; old++) {
            v = vector_of(m, v, old + 1);
            copy_words(v->words + old * v->width, v->words + (old - 1) * v->width, v->width);
        }
        break;
    case TL_FN_tl_vec_reserve:
        break;
    case TL_FN_tl_vec_set:
        check_index(m, v, args[1].i);
        v = vector_of(m, v, v->length);
        copy_words(v->words + args[1].i * v->width, args[2].p, v->width);
        break;
    case TL_FN_tl_vec_get:
    case TL_FN_tl_vec_at: /* asks all the same: the compiler says that the place is one of the list */
        check_index(m, v, args[1].i);
        copy_words(args[2].p, v->words + args[1].i * v->width, v->width);
        return true;
    case TL_FN_tl_vec_take: /* that the place is empty until it is set again, no program sees */
        check_index(m, v, args[1].i);
        copy_words(args[2].p, v->words + args[1].i * v->width, v->width);
        break;
    case TL_FN_tl_vec_get_in:
        for (uint32_t k = 2;; k += 3) {
            check_index(m, v, args[k].i);
            const value *at = v->words + args[k].i * v->width;
            if (k + 1 == i->arg_count) {
                copy_words(args[1].p, at, v->width);
                return true;
            }
            v = at[args[k + 2].i].p;
        }
    case TL_FN_tl_vec_stated:
        check_stated(m, v, args, 3, i->arg_count);
        return true;
    case TL_FN_tl_vec_holds:
        *result = (value){.i = holds(v, args[1].i, args + 2, i->arg_count - 2)};
        return true;
    case TL_FN_tl_vec_pop:
        if (v->length == 0)
            naive_fail(&m->n, "empty");
        copy_words(args[1].p, v->words + (v->length - 1) * v->width, v->width);
        v = vector_of(m, v, v->length - 1);
        break;
    default:
        return false;
    }
    *result = (value){.p = v};
    return true;
}

static bool string_operation(machine *m, const ir_instr *i, const value *args, value *result) {
    const bool number = (i->abi == TL_FN_tl_text_f32 || i->abi == TL_FN_tl_text_f64) && args[1].i == 0;
    if (i->abi != TL_FN_tl_string_literal && !number)
        return false;
    object *s = room(m, sizeof *s);
    if (number) { /* as print has it */
        char *text = room(m, 32);
        s->length = snprintf(text, 32, "%.9g", args[0].f);
        s->bytes = text;
    } else {
        s->bytes = args[0].p;
        s->length = args[1].i;
    }
    *result = (value){.p = s};
    return true;
}

/* ---- printing ------------------------------------------------------------------------------------------- */

static bool print(machine *m, const ir_instr *i, const value *args) {
    masu__buffer *out = &m->n.out;
    switch (i->abi) {
    case TL_FN_tl_print_bytes:
        masu__buffer_append(out, args[0].p, (size_t)args[1].i);
        return true;
    case TL_FN_tl_print_string:
        masu__buffer_append(out, ((object *)args[0].p)->bytes, (size_t)((object *)args[0].p)->length);
        return true;
    case TL_FN_tl_print_i64:
        masu__buffer_printf(out, "%lld", (long long)args[0].i);
        return true;
    case TL_FN_tl_print_u64:
        masu__buffer_printf(out, "%llu", (unsigned long long)args[0].i);
        return true;
    case TL_FN_tl_print_f32:
    case TL_FN_tl_print_f64:
        masu__buffer_printf(out, "%.9g", args[0].f);
        return true;
    case TL_FN_tl_print_tensor:
        naive_print(&m->n, args[0].t);
        return true;
    case TL_FN_tl_print_bool:
        masu__buffer_puts(out, args[0].i ? "true" : "false");
        return true;
    default:
        return false;
    }
}

static bool raise(machine *m, const ir_instr *i, const value *args) {
    switch (i->abi) {
    case TL_FN_tl_exit:
        naive_fail(&m->n, "exit");
    case TL_FN_tl_panic:
        naive_fail(&m->n, "%.*s", (int)((object *)args[0].p)->length, ((object *)args[0].p)->bytes);
    case TL_FN_tl_refuse:
        naive_fail(&m->n, "%.*s: %.*s", (int)((object *)args[0].p)->length, ((object *)args[0].p)->bytes,
                   (int)((object *)args[1].p)->length, ((object *)args[1].p)->bytes);
    case TL_FN_tl_assert:
        if (!args[0].i)
            naive_fail(&m->n, "assert");
        return true;
    case TL_FN_tl_raise_divide:
        naive_fail(&m->n, "division by zero");
    case TL_FN_tl_raise_below_zero:
        naive_fail(&m->n, "below zero");
    case TL_FN_tl_raise_index:
        naive_fail(&m->n, "out of range");
    default:
        return false;
    }
}

/* ---- the runtime's operations ------------------------------------------------------------------------------ */

static double number_of(ir_type type, value v) {
    return ir_type_float(type) ? v.f : (double)v.i;
}

/* Where the list of the ABI function stands among its parameters, -1: it has none; and how many there are. */
static int list_place(const tl_abi_function *f, int *count) {
    int list = -1;
    for (*count = 0; f->parameters[*count].name; ++*count)
        if (f->parameters[*count].mode == TL_LIST)
            list = *count;
    return list;
}

static naive_call call_of(const activation *a, const ir_instr *i) {
    int count, list = list_place(&tl_abi_functions[i->abi], &count);
    naive_call c = {.abi = i->abi};
    c.list_count = list < 0 ? 0 : (int64_t)i->arg_count - (count - 1);
    c.tensors = room(a->m, (size_t)c.list_count * sizeof *c.tensors);
    c.numbers = room(a->m, (size_t)c.list_count * sizeof *c.numbers);
    for (uint32_t k = 0; k < i->arg_count; k++) {
        ir_type type = machine_type_of(a, i, k);
        value v = a->values[i->args[k]];
        int64_t in_list = list < 0 ? -1 : (int64_t)k - list;
        if (in_list >= 0 && in_list < c.list_count) {
            c.tensors[in_list] = type == IR_TENSOR ? v.t : NULL;
            c.numbers[in_list] = type == IR_TENSOR ? 0 : number_of(type, v);
            continue;
        }
        int place = list >= 0 && (int64_t)k >= list + c.list_count ? (int)k - (int)c.list_count + 1 : (int)k;
        if (type == IR_TENSOR)
            c.t[place] = v.t;
        else if (!ir_type_managed(type))
            c.number[place] = number_of(type, v);
    }
    return c;
}

static void operate(const activation *a, const ir_instr *i) {
    machine *m = a->m;
    value args[8] = {0}, result = {0};
    for (uint32_t k = 0; k < i->arg_count && k < 8; k++)
        args[k] = a->values[i->args[k]];
    if (!print(m, i, args) && !raise(m, i, args) && !vector_operation(m, i, args, &result) &&
        !string_operation(m, i, args, &result)) {
        naive_call c = call_of(a, i);
        tensor *t = NULL;
        double number = 0;
        if (!naive_operate(&m->n, &c, &t, &number))
            naive_unsupported(&m->n, tl_abi_functions[i->abi].symbol);
        ir_type type = i->result_count ? ir_type_of(a->f, i->result) : IR_NONE;
        if (t)
            result.t = t;
        else if (ir_type_float(type))
            result.f = machine_as_type(type, number);
        else
            result.i = (int64_t)number;
    }
    if (i->result_count)
        a->values[i->result] = result;
}

/* ---- comprehensions ------------------------------------------------------------------------------------------- */

static int64_t place_in(const activation *a, const tensor *t, const ir_instr *i, uint32_t first) {
    double index[TL_MAX_RANK] = {0};
    for (uint32_t d = 0; first + d < i->arg_count; d++)
        index[d] = (double)a->values[i->args[first + d]].i;
    return naive_offset(&a->m->n, t, (int64_t)i->arg_count - first, index);
}

static void kernel_step(const activation *a, const ir_instr *i) {
    const kernel_run *k = a->kernel;
    ir_type type = i->result_count ? ir_type_of(a->f, i->result) : IR_NONE;
    value *result = &a->values[i->result];
    switch (i->op) {
    case IR_KERNEL_CELL:
        *result = k->cells[i->imm.i];
        return;
    case IR_KERNEL_EXTENT:
        *result = (value){.i = k->captures[i->imm.i]->shape[a->values[i->args[0]].i]};
        return;
    case IR_KERNEL_LOAD: {
        cell *c = k->captures[i->imm.i]->e[place_in(a, k->captures[i->imm.i], i, 0)];
        *result = ir_type_float(type) ? (value){.f = c->v, .c = c} : (value){.i = (int64_t)c->v};
        return;
    }
    default: {
        cell **e = &k->out->e[place_in(a, k->out, i, 1)];
        value v = a->values[i->args[0]];
        double number = number_of(machine_type_of(a, i, 0), v);
        if (i->imm.i)
            *e = naive_made(&a->m->n, k->out->dtype, number, v.c, 1, NULL, 0);
        else
            *e = naive_made(&a->m->n, k->out->dtype, (*e)->v + number, *e, 1, v.c, 1);
    }
    }
}

static tensor *comprehend(const activation *a, const ir_instr *i) {
    machine *m = a->m;
    const ir_kernel *k = i->kernel;
    int64_t shape[TL_MAX_RANK];
    value *cells = room(m, k->cell_count * sizeof *cells);
    tensor **captures = room(m, (k->capture_count + 1) * sizeof *captures);
    for (uint32_t c = 0; c < k->cell_count; c++)
        cells[c] = a->values[i->args[c]];
    for (uint32_t d = 0; d < k->rank; d++)
        shape[d] = cells[d].i;
    for (uint32_t c = 0; c < k->capture_count; c++) {
        captures[c] = a->values[i->args[k->cell_count + c]].t;
        if ((uint32_t)captures[c]->rank != k->capture_rank[c])
            naive_fail(&m->n, "given for a tensor of shape");
    }
    kernel_run run = {cells, captures, naive_full(&m->n, k->dtype, (int)k->rank, shape, 0)};
    m->careful = false;
    if (run.out->count > 0)
        run_function(m, k->forward, NULL, &run);
    if (m->careful) {
        run.out = naive_full(&m->n, k->dtype, (int)k->rank, shape, 0);
        run_function(m, k->forward_careful, NULL, &run);
    }
    if (!k->backward)
        for (uint32_t c = 0; c < k->capture_count; c++)
            if (captures[c]->node)
                naive_unsupported(&m->n, "this comprehension's derivative");
    return naive_record(&m->n, run.out, (int)k->capture_count, captures);
}

/* ---- instructions ------------------------------------------------------------------------------------------------ */

static void call(const activation *a, const ir_instr *i) {
    value *args = room(a->m, (i->arg_count + 1) * sizeof *args);
    for (uint32_t k = 0; k < i->arg_count; k++)
        args[k] = a->values[i->args[k]];
    value *results = run_function(a->m, i->callee, args, NULL);
    for (uint32_t r = 0; r < i->result_count; r++)
        a->values[i->result + r] = results[r];
}

static void record(const activation *a, const ir_instr *i) {
    value *words = room(a->m, (size_t)(i->op == IR_RECORD ? i->arg_count : i->imm.i) * sizeof *words);
    for (uint32_t k = 0; i->op == IR_RECORD && k < i->arg_count; k++)
        words[k] = a->values[i->args[k]];
    a->values[i->result] = (value){.p = words};
}

static void step(const activation *a, const ir_instr *i) {
    value *result = &a->values[i->result];
    switch (i->op) {
    case IR_CONST:
        if (ir_type_float(ir_type_of(a->f, i->result)))
            *result = (value){.f = machine_as_type(ir_type_of(a->f, i->result), i->imm.f)};
        else
            *result = (value){.i = i->imm.i};
        return;
    case IR_BYTES:
        *result = (value){.p = (void *)(uintptr_t)i->imm.bytes.data};
        return;
    case IR_NOTHING:
        *result = (value){0};
        return;
    case IR_ABI:
        operate(a, i);
        return;
    case IR_CALL:
        call(a, i);
        return;
    case IR_COMPREHEND:
        result->t = comprehend(a, i);
        return;
    case IR_RECORD:
    case IR_RECORD_EMPTY:
        record(a, i);
        return;
    case IR_RECORD_WORD:
        *result = ((value *)a->values[i->args[0]].p)[i->imm.i];
        return;
    case IR_RECORD_TYPE:
        *result = (value){.p = (void *)(uintptr_t)i};
        return;
    case IR_KEEP:
        return;
    case IR_KERNEL_CELL:
    case IR_KERNEL_EXTENT:
    case IR_KERNEL_LOAD:
    case IR_KERNEL_OUT_ADD:
        kernel_step(a, i);
        return;
    default:
        if (i->op > IR_MATH)
            naive_unsupported(&a->m->n, ir_opcode_name(i->op));
        *result = machine_arithmetic(a, i);
    }
}

/* To the next block; its parameters are all written at once. */
static const ir_block *follow(const activation *a, const ir_target *t) {
    value *moved = room(a->m, (t->count + 1) * sizeof *moved);
    for (uint32_t k = 0; k < t->count; k++)
        moved[k] = a->values[t->args[k]];
    for (uint32_t k = 0; k < t->count; k++)
        a->values[t->block->params[k]] = moved[k];
    return t->block;
}

static value *run_body(const activation *a) {
    machine *m = a->m;
    for (const ir_block *b = a->f->blocks[0];;) {
        const ir_instr *i = b->first;
        for (; !ir_is_terminator(i->op); i = i->next) {
            if (++m->steps > MOST_STEPS)
                naive_unsupported(&m->n, "an end to this");
            m->places[m->depth] = i;
            step(a, i);
        }
        m->steps++;
        if (i->op == IR_RET) {
            value *results = room(m, (i->arg_count + 1) * sizeof *results);
            for (uint32_t k = 0; k < i->arg_count; k++)
                results[k] = a->values[i->args[k]];
            return results;
        }
        if (i->op == IR_KERNEL_CAREFUL) {
            m->careful = true;
            return NULL;
        }
        if (i->op == IR_UNREACHABLE)
            naive_unsupported(&m->n, "what follows an end");
        b = follow(a, &i->target[i->op == IR_BRANCH && !a->values[i->args[0]].i]);
    }
}

static value *run_function(machine *m, const ir_function *f, const value *args, const kernel_run *kernel) {
    if (m->depth + 1 >= DEEPEST)
        naive_unsupported(&m->n, "such deep recursion");
    activation a = {m, f, room(m, f->value_count * sizeof(value)), kernel};
    for (uint32_t p = 0; args && p < f->param_count; p++)
        a.values[f->params[p]] = args[p];
    m->depth++;
    value *results = run_body(&a);
    m->depth--;
    return results;
}

/* ---- the front --------------------------------------------------------------------------------------------------- */

typedef struct front {
    masu__arena arena;
    source_file file, prelude;
    diagnostics found;
    type_table types;
    syntax_tree *tree;
    ir_module *module;
} front;

static bool read_prelude(front *f) {
    masu__buffer text = {0};
    bool good = library_load(&f->file, LIBRARY_ASKED, &text) == MASU_OK &&
                source_file_init(&f->prelude, &f->arena, "<prelude>", masu__buffer_text(&text), text.length) == MASU_OK;
    masu__buffer_destroy(&text);
    return good;
}

static bool lower(front *f, const char *text, size_t length) {
    diagnostics_init(&f->found, &f->arena);
    return source_file_init(&f->file, &f->arena, "program.tl", text, length) == MASU_OK && read_prelude(f) &&
           parse_source(&f->file, &f->prelude, &f->arena, &f->found, NULL, &f->tree) == MASU_OK &&
           type_table_init(&f->types, &f->arena) && check_tree(f->tree, &f->types, &f->found) == MASU_OK &&
           f->found.error_count == 0 && elaborate_tree(f->tree, &f->types) == MASU_OK &&
           lower_tree(f->tree, &f->types, &f->arena, &f->found, &f->module) == MASU_OK;
}

/* The innermost place that the user wrote. */
static uint32_t line_of(const machine *m) {
    for (int d = m->depth; d > 0; d--)
        if (m->places[d] && m->places[d]->span.file == m->file)
            return source_place_of(m->places[d]->span).line;
    return 0;
}

static void run(front *f, interpretation *out) {
    machine *m = masu__arena_calloc(&f->arena, 1, sizeof *m, 16);
    m->file = &f->file;
    m->n.is_program = true;
    out->how = INTERPRETED_WELL;
    if (setjmp(m->n.ended) == 0) {
        run_function(m, f->module->main, NULL, NULL);
    } else {
        out->how = m->n.unsupported ? INTERPRETED_TOO_MUCH : INTERPRETED_ERROR;
        out->line = line_of(m);
        snprintf(out->text, sizeof out->text, "%s", m->n.error);
    }
    out->output = m->n.out;
    masu__arena_destroy(&m->n.arena);
}

void interpret(const char *text, size_t length, interpretation *out) {
    front f = {0};
    *out = (interpretation){.how = INTERPRETED_NOT};
    if (lower(&f, text, length))
        run(&f, out);
    masu__arena_destroy(&f.arena);
}
