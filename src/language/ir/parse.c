/* parse.c: reads the text that print.c writes. Tests and reduced faults are written in it.
 *
 * One pass over the text with one position. Blocks come into being where they are first mentioned, in the
 * order of their numbers; values get exactly the numbers of the text; names of functions and kernels are
 * resolved at the end, since they may be used before they are defined. The first error ends the reading.
 */
#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "language/ir/ir.h"
#include "language/ir/store.h"

typedef struct late { /* a name to be resolved at the end */
    enum { LATE_CALLEE, LATE_KERNEL, LATE_FORWARD, LATE_BACKWARD } kind;
    void *where;      /* ir_instr or ir_kernel */
    const char *name;
} late;

typedef struct parser {
    ir_module *m;
    ir_function *f;
    const char *text, *at;
    masu__buffer *error;
    bool failed;
    late *lates;
    uint32_t late_count;
    ir_value *args; /* operands of the instruction being read */
    bool *owned;
    uint32_t arg_count;
} parser;

/* ---- characters and words ---------------------------------------------------------------------------------------- */

static void fail(parser *p, const char *wanted) {
    if (p->failed)
        return;
    p->failed = true;
    unsigned line = 1;
    for (const char *c = p->text; c < p->at; c++)
        line += *c == '\n';
    masu__buffer_printf(p->error, "line %u: expected %s before \"%.20s\"\n", line, wanted, p->at);
}

static void skip(parser *p) {
    for (;;) {
        while (isspace((unsigned char)*p->at))
            p->at++;
        if (*p->at != ';')
            return;
        while (*p->at && *p->at != '\n')
            p->at++;
    }
}

static bool try_text(parser *p, const char *text) {
    skip(p);
    size_t length = strlen(text);
    if (p->failed || strncmp(p->at, text, length) != 0)
        return false;
    p->at += length;
    return true;
}

static void need_text(parser *p, const char *text) {
    if (!try_text(p, text))
        fail(p, text);
}

static bool in_word(char c, const char *more) { return isalnum((unsigned char)c) || c == '_' || (c && strchr(more, c)); }

static bool try_word(parser *p, const char *word) {
    const char *before = p->at;
    if (try_text(p, word) && !in_word(*p->at, ""))
        return true;
    p->at = before;
    return false;
}

/* A run of letters, digits, _ and the characters in `more`; "" at an error. */
static const char *read_word(parser *p, const char *more, const char *what) {
    skip(p);
    const char *start = p->at;
    while (in_word(*p->at, more))
        p->at++;
    if (p->at == start)
        fail(p, what);
    char *copy = masu__arena_strndup(p->m->arena, start, (size_t)(p->at - start));
    if (!copy)
        p->m->out_of_memory = p->failed = true;
    return copy ? copy : "";
}

/* A function's or kernel's name: everything up to a blank or an opening parenthesis. */
static const char *read_name(parser *p) { return read_word(p, ":.{}<>[]*$#", "a name"); }

static int64_t read_int(parser *p) {
    skip(p);
    char *end = NULL;
    long long v = strtoll(p->at, &end, 10);
    if (end == p->at)
        fail(p, "a number");
    p->at = end;
    return v;
}

static double read_float(parser *p) {
    skip(p);
    char *end = NULL;
    double v = strtod(p->at, &end);
    if (end == p->at)
        fail(p, "a number");
    p->at = end;
    return v;
}

/* ---- types, values, blocks --------------------------------------------------------------------------------------------- */

static ir_type read_type(parser *p) {
    for (int t = IR_NONE + 1; t < IR_TYPE_COUNT; t++)
        if (try_word(p, ir_type_name((ir_type)t)))
            return (ir_type)t;
    fail(p, "a type");
    return IR_NONE;
}

static const ir_shape *read_shape(parser *p) {
    if (*p->at != '[')
        return NULL;
    p->at++;
    ir_shape *shape = ir_alloc(p->m, 1, sizeof *shape);
    while (shape && !p->failed && !try_text(p, "]")) {
        if (shape->rank == TL_MAX_RANK) {
            fail(p, "at most 8 dimensions");
            break;
        }
        if (shape->rank > 0)
            need_text(p, ",");
        shape->dim[shape->rank++] = try_text(p, "?") ? -1 : read_int(p);
    }
    if (shape)
        shape->known_rank = true;
    return shape;
}

/* The number; the name, when there is one, is skipped or handed out. */
static ir_value read_value(parser *p, const char **name) {
    need_text(p, "%");
    int64_t v = p->failed ? 0 : read_int(p);
    if (v <= 0 || v > 1 << 24)
        fail(p, "a value's number");
    const char *text = NULL;
    if (!p->failed && *p->at == '.') {
        p->at++;
        text = read_word(p, ".", "a name");
    }
    if (name)
        *name = text;
    return p->failed ? 0 : (ir_value)v;
}

static void make_room_for(parser *p, ir_value v) {
    while (!p->failed && !p->m->out_of_memory && p->f->value_count <= v)
        ir_value_new(p->f, IR_NONE, NULL, (source_span){0});
    p->failed |= p->m->out_of_memory;
}

/* %5.x: tensor[8,?]: declares the value. */
static ir_value read_declaration(parser *p) {
    const char *name;
    ir_value v = read_value(p, &name);
    make_room_for(p, v);
    need_text(p, ":");
    ir_type type = read_type(p);
    const ir_shape *shape = read_shape(p);
    if (p->failed)
        return 0;
    if (p->f->values[v].type != IR_NONE)
        fail(p, "a value that is not defined yet");
    p->f->values[v] = (ir_value_info){.type = type, .name = name, .shape = shape, .slot = -1};
    return v;
}

static ir_block *block_numbered(parser *p, int64_t id) {
    if (id < 0 || id > 1 << 20) {
        fail(p, "a block's number");
        return NULL;
    }
    while (!p->m->out_of_memory && p->f->block_count <= id)
        ir_block_new(p->f);
    p->failed |= p->m->out_of_memory;
    return p->failed ? NULL : p->f->blocks[id];
}

static ir_block *read_block_name(parser *p) {
    need_text(p, "b");
    return p->failed ? NULL : block_numbered(p, read_int(p));
}

/* ---- instructions ---------------------------------------------------------------------------------------------------------- */

static void add_arg(parser *p, ir_value v, bool owned) {
    ir_value *args = ir_room(p->m, p->args, p->arg_count, sizeof *args);
    bool *mask = ir_room(p->m, p->owned, p->arg_count, sizeof *mask);
    if (!args || !mask) {
        p->failed = true;
        return;
    }
    p->args = args;
    p->owned = mask;
    p->args[p->arg_count] = v;
    p->owned[p->arg_count++] = owned;
}

static void read_operands(parser *p) {
    skip(p);
    while (!p->failed && *p->at == '%') {
        add_arg(p, read_value(p, NULL), false);
        if (!try_text(p, ","))
            return;
        skip(p);
    }
}

/* (own %1, %2); true when any is owned. */
static bool read_call_operands(parser *p) {
    bool any = false;
    need_text(p, "(");
    while (!p->failed && !try_text(p, ")")) {
        if (p->arg_count > 0)
            need_text(p, ",");
        bool owned = try_word(p, "own");
        any |= owned;
        add_arg(p, read_value(p, NULL), owned);
    }
    return any;
}

static void resolve_later(parser *p, int kind, void *where, const char *name) {
    late *room = ir_room(p->m, p->lates, p->late_count, sizeof *room);
    if (!room) {
        p->failed = true;
        return;
    }
    p->lates = room;
    p->lates[p->late_count].kind = kind;
    p->lates[p->late_count].where = where;
    p->lates[p->late_count++].name = name;
}

static int hex_digit(char c) {
    return isdigit((unsigned char)c) ? c - '0' : isxdigit((unsigned char)c) ? tolower((unsigned char)c) - 'a' + 10 : -1;
}

static void read_bytes(parser *p, ir_instr *i) {
    need_text(p, "\"");
    char *data = p->failed ? NULL : ir_alloc(p->m, strlen(p->at) + 1, 1);
    size_t n = 0;
    while (data && *p->at && *p->at != '"') {
        char c = *p->at++;
        if (c == '\\' && *p->at == 'x' && hex_digit(p->at[1]) >= 0 && hex_digit(p->at[2]) >= 0) {
            c = (char)(hex_digit(p->at[1]) * 16 + hex_digit(p->at[2]));
            p->at += 3;
        } else if (c == '\\' && *p->at) {
            c = *p->at++;
        }
        data[n++] = c;
    }
    i->imm.bytes.data = data;
    i->imm.bytes.length = n;
    need_text(p, "\"");
}

static void read_record_type(parser *p, ir_instr *i) {
    ir_type *types = NULL;
    uint32_t count = 0;
    need_text(p, "{");
    while (!p->failed && !try_text(p, "}")) {
        if (count > 0)
            need_text(p, ",");
        types = ir_room(p->m, types, count, sizeof *types);
        ir_type t = read_type(p);
        if (!types)
            return;
        types[count++] = t;
    }
    i->imm.record.types = types;
    i->imm.record.count = count;
}

static void read_targets(parser *p, ir_instr *i) {
    for (int t = 0; t < ir_target_count(i) && !p->failed; t++) {
        if (t > 0)
            need_text(p, ",");
        ir_block *to = read_block_name(p);
        p->arg_count = 0;
        skip(p);
        if (*p->at == '(')
            read_call_operands(p);
        if (!p->failed)
            ir_set_target(i, t, to, p->args, p->arg_count);
    }
}

/* What follows the opcode. */
static void read_rest(parser *p, ir_instr *i, ir_type result) {
    switch (i->op) {
    case IR_CONST:
        if (ir_type_float(result))
            i->imm.f = read_float(p);
        else
            i->imm.i = read_int(p);
        break;
    case IR_BYTES:
        read_bytes(p, i);
        break;
    case IR_RECORD_TYPE:
        read_record_type(p, i);
        break;
    case IR_CALL:
    case IR_COMPREHEND:
        resolve_later(p, i->op == IR_CALL ? LATE_CALLEE : LATE_KERNEL, i, read_name(p));
        if (read_call_operands(p) && !p->failed)
            i->owned = ir_copy_growing(p->m, p->owned, p->arg_count, sizeof *p->owned);
        break;
    case IR_RECORD_WORD:
        read_operands(p); /* eats the comma before the number */
        i->imm.i = read_int(p);
        break;
    case IR_RECORD_EMPTY:
    case IR_KERNEL_CELL:
    case IR_KERNEL_EXTENT:
    case IR_KERNEL_LOAD:
    case IR_KERNEL_GRAD_ADD:
        i->imm.i = read_int(p);
        if (try_text(p, ","))
            read_operands(p);
        break;
    case IR_ROOT:
    case IR_UNROOT:
        read_operands(p);
        if (try_word(p, "registry")) {
            i->imm.i = -1;
        } else {
            need_text(p, "slot");
            i->imm.i = read_int(p);
        }
        break;
    case IR_BRANCH:
        add_arg(p, read_value(p, NULL), false);
        need_text(p, ",");
        break;
    case IR_JUMP:
        break;
    default:
        read_operands(p);
    }
}

static bool opcode_named(const char *word, ir_instr *i) {
    if (strncmp(word, "tl_", 3) == 0) {
        for (int k = 0; k < TL_FN_COUNT; k++) {
            if (strcmp(tl_abi_functions[k].symbol, word) != 0)
                continue;
            i->op = IR_ABI;
            i->abi = (tl_abi_index)k;
            return true;
        }
        return false;
    }
    for (int m = 0; strncmp(word, "math.", 5) == 0 && m <= IR_MATH_MAX; m++) {
        if (strcmp(ir_math_name((ir_math)m), word + 5) != 0)
            continue;
        i->op = IR_MATH;
        i->imm.math = (ir_math)m;
        return true;
    }
    for (int op = 0; op < IR_OPCODE_COUNT; op++) {
        if (op == IR_ABI || op == IR_MATH || strcmp(ir_opcode_name((ir_opcode)op), word) != 0)
            continue;
        i->op = (ir_opcode)op;
        return true;
    }
    return false;
}

static void read_results(parser *p, ir_instr *i) {
    skip(p);
    while (!p->failed && *p->at == '%') {
        ir_value v = read_declaration(p);
        if (p->failed)
            return;
        if (i->result_count == 0)
            i->result = v;
        else if (v != i->result + i->result_count)
            fail(p, "results with consecutive numbers");
        i->result_count++;
        p->f->values[v].def = i;
        if (!try_text(p, ",")) {
            need_text(p, "=");
            return;
        }
        skip(p);
    }
}

static void read_instr(parser *p, ir_block *b) {
    ir_instr *i = ir_instr_new(p->f, IR_UNREACHABLE, NULL, 0, NULL, 0, (source_span){0});
    if (!i) {
        p->failed = true;
        return;
    }
    read_results(p, i);
    if (!p->failed && !opcode_named(read_word(p, ".", "an operation"), i))
        fail(p, "a known operation");
    p->arg_count = 0;
    if (!p->failed)
        read_rest(p, i, i->result_count ? p->f->values[i->result].type : IR_NONE);
    if (p->failed)
        return;
    i->args = ir_copy_growing(p->m, p->args, p->arg_count, sizeof *i->args);
    i->arg_count = p->arg_count;
    read_targets(p, i);
    if (p->failed)
        return;
    if (b->last && ir_is_terminator(b->last->op))
        fail(p, "a new block after a terminator");
    else
        ir_append(b, i);
}

/* ---- functions and kernels ------------------------------------------------------------------------------------------------------ */

static void read_block(parser *p) {
    ir_block *b = read_block_name(p);
    if (!p->failed && try_text(p, "(")) {
        while (!p->failed && !try_text(p, ")")) {
            if (b->param_count > 0)
                need_text(p, ",");
            ir_value v = read_declaration(p);
            ir_value *room = p->failed ? NULL : ir_room(p->m, b->params, b->param_count, sizeof *room);
            if (!room)
                return;
            b->params = room;
            b->params[b->param_count++] = v;
            p->f->values[v].block = b;
        }
    }
    need_text(p, ":");
    for (;;) { /* a block ends where the next begins */
        skip(p);
        if (p->failed || *p->at == '}' || !*p->at)
            return;
        const char *before = p->at;
        if (*p->at == 'b' && isdigit((unsigned char)p->at[1]))
            return;
        read_instr(p, b);
        if (p->at == before)
            return;
    }
}

static void read_params(parser *p) {
    ir_function *f = p->f;
    char *letters = NULL;
    uint32_t managed = 0;
    while (!p->failed && !try_text(p, ")")) {
        if (f->param_count > 0)
            need_text(p, ",");
        ir_value v = read_declaration(p);
        ir_value *room = p->failed ? NULL : ir_room(p->m, f->params, f->param_count, sizeof *room);
        if (!room)
            return;
        f->params = room;
        f->params[f->param_count++] = v;
        f->values[v].is_parameter = true;
        if (!ir_type_managed(f->values[v].type))
            continue;
        bool borrowed = try_word(p, "borrow");
        if (!borrowed && !try_word(p, "own"))
            continue;
        f->values[v].borrowed = borrowed;
        letters = ir_room(p->m, letters, letters ? managed + 1 : 0, 1); /* one more for the end */
        if (letters)
            letters[managed++] = borrowed ? 'b' : 'o';
    }
    f->ownership = letters;
}

static void read_result_types(parser *p) {
    ir_type types[64];
    uint32_t count = 0;
    need_text(p, "(");
    while (!p->failed && !try_text(p, ")")) {
        if (count > 0)
            need_text(p, ",");
        if (count == sizeof types / sizeof types[0]) {
            fail(p, "fewer results");
            return;
        }
        types[count++] = read_type(p);
    }
    if (!p->failed)
        ir_function_set_results(p->f, types, count);
}

static void read_function(parser *p, bool kernel) {
    const char *name = read_name(p);
    p->f = p->failed ? NULL : ir_function_new(p->m, name, (source_span){0});
    if (!p->f) {
        p->failed = true;
        return;
    }
    p->f->is_kernel = kernel;
    need_text(p, "(");
    read_params(p);
    if (try_text(p, "->"))
        read_result_types(p);
    if (try_word(p, "slots")) {
        p->f->slot_count = (uint32_t)read_int(p);
        need_text(p, "bound");
        p->f->slot_bound = (uint32_t)read_int(p);
    }
    need_text(p, "{");
    while (!p->failed && !try_text(p, "}"))
        read_block(p);
    if (p->failed)
        return;
    for (uint32_t k = 0; k < p->f->param_count && p->f->block_count > 0; k++)
        p->f->values[p->f->params[k]].block = p->f->blocks[0];
    if (strcmp(name, "main") == 0)
        p->m->main = p->f;
}

static tl_dtype read_dtype(parser *p) {
    static const char *const names[TL_DTYPE_COUNT] = {"f32", "f64", "i64", "bool"};
    for (int t = 0; t < TL_DTYPE_COUNT; t++)
        if (try_word(p, names[t]))
            return (tl_dtype)t;
    fail(p, "an element type");
    return TL_F32;
}

static void read_kernel(parser *p) {
    ir_kernel *k = ir_kernel_new(p->m, read_name(p));
    enum { MOST = 32 };
    ir_type cells[MOST];
    tl_dtype dtypes[MOST];
    uint32_t ranks[MOST];
    bool needed[MOST];
    if (!k) {
        p->failed = true;
        return;
    }
    need_text(p, "=");
    k->dtype = read_dtype(p);
    need_text(p, "rank");
    k->rank = (uint32_t)read_int(p);
    need_text(p, "cells (");
    while (!p->failed && !try_text(p, ")") && k->cell_count < MOST) {
        if (k->cell_count > 0)
            need_text(p, ",");
        cells[k->cell_count++] = read_type(p);
    }
    need_text(p, "captures (");
    while (!p->failed && !try_text(p, ")") && k->capture_count < MOST) {
        if (k->capture_count > 0)
            need_text(p, ",");
        dtypes[k->capture_count] = read_dtype(p);
        need_text(p, "rank");
        ranks[k->capture_count] = (uint32_t)read_int(p);
        needed[k->capture_count++] = !try_word(p, "unread");
    }
    k->cell_types = ir_copy_growing(p->m, cells, k->cell_count, sizeof *cells);
    k->capture_dtype = ir_copy_growing(p->m, dtypes, k->capture_count, sizeof *dtypes);
    k->capture_rank = ir_copy_growing(p->m, ranks, k->capture_count, sizeof *ranks);
    k->needs_value = ir_copy_growing(p->m, needed, k->capture_count, sizeof *needed);
    if (try_word(p, "forward"))
        resolve_later(p, LATE_FORWARD, k, read_name(p));
    if (try_word(p, "backward"))
        resolve_later(p, LATE_BACKWARD, k, read_name(p));
}

/* ---- the module -------------------------------------------------------------------------------------------------------------------- */

static ir_function *function_named(const ir_module *m, const char *name) {
    for (uint32_t f = 0; f < m->function_count; f++)
        if (strcmp(m->functions[f]->name, name) == 0)
            return m->functions[f];
    return NULL;
}

static ir_kernel *kernel_named(const ir_module *m, const char *name) {
    for (uint32_t k = 0; k < m->kernel_count; k++)
        if (strcmp(m->kernels[k]->name, name) == 0)
            return m->kernels[k];
    return NULL;
}

static void resolve(parser *p, const late *l) {
    void *found = l->kind == LATE_KERNEL ? (void *)kernel_named(p->m, l->name) : (void *)function_named(p->m, l->name);
    if (!found) {
        p->failed = true;
        masu__buffer_printf(p->error, "nothing is named %s\n", l->name);
    } else if (l->kind == LATE_CALLEE) {
        ((ir_instr *)l->where)->callee = found;
    } else if (l->kind == LATE_KERNEL) {
        ((ir_instr *)l->where)->kernel = found;
    } else if (l->kind == LATE_FORWARD) {
        ((ir_kernel *)l->where)->forward = found;
    } else {
        ((ir_kernel *)l->where)->backward = found;
    }
}

ir_module *ir_parse_module(masu__arena *arena, const char *text, masu__buffer *error) {
    parser p = {.m = ir_module_new(arena), .text = text, .at = text, .error = error};
    if (!p.m)
        return NULL;
    for (skip(&p); *p.at && !p.failed; skip(&p)) {
        if (try_word(&p, "kernel"))
            read_kernel(&p);
        else if (try_word(&p, "kernel_fn"))
            read_function(&p, true);
        else if (try_word(&p, "fn"))
            read_function(&p, false);
        else
            fail(&p, "fn or kernel");
    }
    for (uint32_t l = 0; l < p.late_count && !p.failed; l++)
        resolve(&p, &p.lates[l]);
    return p.failed || p.m->out_of_memory ? NULL : p.m;
}
