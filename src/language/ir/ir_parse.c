/* ir_parse.c: reads the text that ir_print.c writes. Tests and reduced faults are written in it.
 *
 * One pass over the text with one position. Blocks come into being where they are first
 * mentioned, in the order of their numbers; values get exactly the numbers of the text; names of
 * functions and kernels are resolved at the end, since they may be used before they are defined.
 * The first error ends the reading.
 */
#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "language/ir/ir_words.h"
#include "language/ir/store.h"

typedef struct late { /* a name to be resolved at the end */
    enum { LATE_CALLEE, LATE_KERNEL, LATE_FUNCTION } kind;
    void *where; /* ir_instr, or the ir_function * of a kernel */
    const char *name;
} late;

typedef struct parser {
    words w;
    ir_function *f;
    late *lates;
    uint32_t late_count;
    ir_value *args; /* operands of the instruction being read */
    bool *owned;
    uint32_t arg_count;
} parser;

/* ---- types, values, blocks ------------------------------------------------------------------- */

static ir_type read_type(parser *p) {
    for (int t = IR_NONE + 1; t < IR_TYPE_COUNT; t++)
        if (words_try_word(&p->w, ir_type_name((ir_type)t)))
            return (ir_type)t;
    words_fail(&p->w, "a type");
    return IR_NONE;
}

static const ir_shape *read_shape(parser *p) {
    if (*p->w.at != '[')
        return NULL;
    p->w.at++;
    ir_shape *shape = ir_alloc(p->w.m, 1, sizeof *shape);
    while (shape && !p->w.failed && !words_try(&p->w, "]")) {
        if (shape->rank == TL_MAX_RANK) {
            words_fail(&p->w, "at most 8 dimensions");
            break;
        }
        if (shape->rank > 0)
            words_need(&p->w, ",");
        shape->dim[shape->rank++] = words_try(&p->w, "?") ? -1 : words_int(&p->w);
    }
    if (shape)
        shape->known_rank = true;
    return shape;
}

/* The number; the name, when there is one, is skipped or handed out. */
static ir_value read_value(parser *p, const char **name) {
    words_need(&p->w, "%");
    int64_t v = p->w.failed ? 0 : words_int(&p->w);
    if (v <= 0 || v > 1 << 24)
        words_fail(&p->w, "a value's number");
    const char *text = NULL;
    if (!p->w.failed && *p->w.at == '.') {
        p->w.at++;
        text = words_read(&p->w, ".", "a name");
    }
    if (name)
        *name = text;
    return p->w.failed ? 0 : (ir_value)v;
}

static void make_room_for(parser *p, ir_value v) {
    while (!p->w.failed && !p->w.m->out_of_memory && p->f->value_count <= v)
        ir_value_new(p->f, IR_NONE, NULL, (source_span){0});
    p->w.failed |= p->w.m->out_of_memory;
}

/* %5.x: tensor[8,?]: declares the value. */
static ir_value read_declaration(parser *p) {
    const char *name;
    ir_value v = read_value(p, &name);
    make_room_for(p, v);
    words_need(&p->w, ":");
    ir_type type = read_type(p);
    const ir_shape *shape = read_shape(p);
    if (p->w.failed)
        return 0;
    if (p->f->values[v].type != IR_NONE)
        words_fail(&p->w, "a value that is not defined yet");
    p->f->values[v] = (ir_value_info){.type = type, .name = name, .shape = shape, .slot = -1};
    return v;
}

static ir_block *block_numbered(parser *p, int64_t id) {
    if (id < 0 || id > 1 << 20) {
        words_fail(&p->w, "a block's number");
        return NULL;
    }
    while (!p->w.m->out_of_memory && p->f->block_count <= id)
        ir_block_new(p->f);
    p->w.failed |= p->w.m->out_of_memory;
    return p->w.failed ? NULL : p->f->blocks[id];
}

static ir_block *read_block_name(parser *p) {
    words_need(&p->w, "b");
    return p->w.failed ? NULL : block_numbered(p, words_int(&p->w));
}

/* ---- instructions ---------------------------------------------------------------------------- */

static void add_arg(parser *p, ir_value v, bool owned) {
    ir_value *args = ir_room(p->w.m, p->args, p->arg_count, sizeof *args);
    bool *mask = ir_room(p->w.m, p->owned, p->arg_count, sizeof *mask);
    if (!args || !mask) {
        p->w.failed = true;
        return;
    }
    p->args = args;
    p->owned = mask;
    p->args[p->arg_count] = v;
    p->owned[p->arg_count++] = owned;
}

static void read_operands(parser *p) {
    words_skip(&p->w);
    while (!p->w.failed && *p->w.at == '%') {
        add_arg(p, read_value(p, NULL), false);
        if (!words_try(&p->w, ","))
            return;
        words_skip(&p->w);
    }
}

/* (own %1, %2); true when any is owned. */
static bool read_call_operands(parser *p) {
    bool any = false;
    words_need(&p->w, "(");
    while (!p->w.failed && !words_try(&p->w, ")")) {
        if (p->arg_count > 0)
            words_need(&p->w, ",");
        bool owned = words_try_word(&p->w, "own");
        any |= owned;
        add_arg(p, read_value(p, NULL), owned);
    }
    return any;
}

static void resolve_later(parser *p, int kind, void *where, const char *name) {
    late *room = ir_room(p->w.m, p->lates, p->late_count, sizeof *room);
    if (!room) {
        p->w.failed = true;
        return;
    }
    p->lates = room;
    p->lates[p->late_count].kind = kind;
    p->lates[p->late_count].where = where;
    p->lates[p->late_count++].name = name;
}

static void read_bytes(parser *p, ir_instr *i) {
    i->imm.bytes.data = words_bytes(&p->w, &i->imm.bytes.length);
}

static void read_record_type(parser *p, ir_instr *i) {
    ir_type *types = NULL;
    uint32_t count = 0;
    words_need(&p->w, "{");
    while (!p->w.failed && !words_try(&p->w, "}")) {
        if (count > 0)
            words_need(&p->w, ",");
        types = ir_room(p->w.m, types, count, sizeof *types);
        ir_type t = read_type(p);
        if (!types)
            return;
        types[count++] = t;
    }
    i->imm.record.types = types;
    i->imm.record.count = count;
}

static void read_targets(parser *p, ir_instr *i) {
    for (int t = 0; t < ir_target_count(i) && !p->w.failed; t++) {
        if (t > 0)
            words_need(&p->w, ",");
        ir_block *to = read_block_name(p);
        p->arg_count = 0;
        words_skip(&p->w);
        if (*p->w.at == '(')
            read_call_operands(p);
        if (!p->w.failed)
            ir_set_target(i, t, to, p->args, p->arg_count);
    }
}

/* at 128 bytes 4096   or   growing 2   or   dest 0   or   - */
static void read_place(parser *p, ir_place *place) {
    if (words_try_word(&p->w, "at")) {
        place->at = (uint64_t)words_int(&p->w);
        words_need(&p->w, "bytes");
        place->bytes = (uint64_t)words_int(&p->w);
    } else if (words_try_word(&p->w, "growing")) {
        place->slot = (uint32_t)words_int(&p->w) + 1;
    } else if (words_try_word(&p->w, "dest")) {
        place->dest = (uint32_t)words_int(&p->w) + 1;
    }
}

/* over %1 and a place */
static void read_result_place(parser *p, ir_instr *i) {
    if (words_try_word(&p->w, "over"))
        i->reuse = read_value(p, NULL);
    read_place(p, &i->place);
    if (words_try_word(&p->w, "work"))
        i->work = (uint32_t)words_int(&p->w) + 1;
}

/* into PLACE, PLACE: of a call, one a result */
static void read_result_places(parser *p, ir_instr *i) {
    if (!words_try_word(&p->w, "into"))
        return;
    i->places = ir_alloc(p->w.m, i->result_count, sizeof *i->places);
    for (uint32_t r = 0; i->places && r < i->result_count && !p->w.failed; r++) {
        if (r)
            words_need(&p->w, ",");
        if (!words_try(&p->w, "-"))
            read_place(p, &i->places[r]);
    }
}

/* The text behind the opcode. */
static void read_rest(parser *p, ir_instr *i, ir_type result) {
    switch (i->op) {
    case IR_CONST:
        if (ir_type_float(result))
            i->imm.f = result == IR_F32 ? (double)(float)words_float(&p->w) : words_float(&p->w);
        else
            i->imm.i = words_int(&p->w);
        break;
    case IR_BYTES:
        read_bytes(p, i);
        break;
    case IR_RECORD_TYPE:
        read_record_type(p, i);
        break;
    case IR_CALL:
    case IR_COMPREHEND:
        resolve_later(p, i->op == IR_CALL ? LATE_CALLEE : LATE_KERNEL, i, words_name(&p->w));
        if (read_call_operands(p) && !p->w.failed)
            i->owned = ir_copy_growing(p->w.m, p->owned, p->arg_count, sizeof *p->owned);
        if (i->op == IR_COMPREHEND)
            read_result_place(p, i);
        else
            read_result_places(p, i);
        break;
    case IR_RECORD_WORD:
        read_operands(p); /* eats the comma before the number */
        i->imm.i = words_int(&p->w);
        break;
    case IR_RECORD_EMPTY:
    case IR_KERNEL_CELL:
    case IR_KERNEL_EXTENT:
    case IR_KERNEL_LOAD:
    case IR_KERNEL_GRAD_ADD:
        i->imm.i = words_int(&p->w);
        if (words_try(&p->w, ","))
            read_operands(p);
        break;
    case IR_ROOT:
    case IR_UNROOT:
        read_operands(p);
        if (words_try_word(&p->w, "registry")) {
            i->imm.i = -1;
        } else {
            words_need(&p->w, "slot");
            i->imm.i = words_int(&p->w);
        }
        break;
    case IR_ABI:
        read_operands(p);
        read_result_place(p, i);
        break;
    case IR_BRANCH:
        add_arg(p, read_value(p, NULL), false);
        words_need(&p->w, ",");
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
    for (int m = 0; strncmp(word, "math.", 5) == 0 && m < MATH_COUNT; m++) {
        if (strcmp(math_row_of((scalar_math)m)->name, word + 5) != 0)
            continue;
        i->op = IR_MATH;
        i->imm.math = (scalar_math)m;
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
    words_skip(&p->w);
    while (!p->w.failed && *p->w.at == '%') {
        ir_value v = read_declaration(p);
        if (p->w.failed)
            return;
        if (i->result_count == 0)
            i->result = v;
        else if (v != i->result + i->result_count)
            words_fail(&p->w, "results with consecutive numbers");
        i->result_count++;
        p->f->values[v].def = i;
        if (!words_try(&p->w, ",")) {
            words_need(&p->w, "=");
            return;
        }
        words_skip(&p->w);
    }
}

static void read_instr(parser *p, ir_block *b) {
    ir_instr *i = ir_instr_new(p->f, IR_UNREACHABLE, NULL, 0, NULL, 0, (source_span){0});
    if (!i) {
        p->w.failed = true;
        return;
    }
    read_results(p, i);
    if (!p->w.failed && !opcode_named(words_read(&p->w, ".", "an operation"), i))
        words_fail(&p->w, "a known operation");
    p->arg_count = 0;
    if (!p->w.failed)
        read_rest(p, i, i->result_count ? p->f->values[i->result].type : IR_NONE);
    if (p->w.failed)
        return;
    i->args = ir_copy_growing(p->w.m, p->args, p->arg_count, sizeof *i->args);
    i->arg_count = p->arg_count;
    read_targets(p, i);
    if (p->w.failed)
        return;
    if (b->last && ir_is_terminator(b->last->op))
        words_fail(&p->w, "a new block after a terminator");
    else
        ir_append(b, i);
}

/* ---- functions and kernels ------------------------------------------------------------------- */

static void read_block(parser *p) {
    ir_block *b = read_block_name(p);
    if (!p->w.failed && words_try(&p->w, "(")) {
        while (!p->w.failed && !words_try(&p->w, ")")) {
            if (b->param_count > 0)
                words_need(&p->w, ",");
            ir_value v = read_declaration(p);
            ir_value *room = p->w.failed ? NULL : ir_room(p->w.m, b->params, b->param_count, sizeof *room);
            if (!room)
                return;
            b->params = room;
            b->params[b->param_count++] = v;
            p->f->values[v].block = b;
        }
    }
    words_need(&p->w, ":");
    for (;;) { /* a block ends where the next begins */
        words_skip(&p->w);
        if (p->w.failed || *p->w.at == '}' || !*p->w.at)
            return;
        const char *before = p->w.at;
        if (*p->w.at == 'b' && isdigit((unsigned char)p->w.at[1]))
            return;
        read_instr(p, b);
        if (p->w.at == before)
            return;
    }
}

static void read_params(parser *p) {
    ir_function *f = p->f;
    char *letters = NULL;
    uint32_t managed = 0;
    while (!p->w.failed && !words_try(&p->w, ")")) {
        if (f->param_count > 0)
            words_need(&p->w, ",");
        ir_value v = read_declaration(p);
        ir_value *room = p->w.failed ? NULL : ir_room(p->w.m, f->params, f->param_count, sizeof *room);
        if (!room)
            return;
        f->params = room;
        f->params[f->param_count++] = v;
        f->values[v].is_parameter = true;
        if (!ir_type_managed(f->values[v].type))
            continue;
        bool borrowed = words_try_word(&p->w, "borrow");
        if (!borrowed && !words_try_word(&p->w, "own"))
            continue;
        f->values[v].borrowed = borrowed;
        letters = ir_room(p->w.m, letters, letters ? managed + 1 : 0, 1); /* one more for the end */
        if (letters)
            letters[managed++] = borrowed ? 'b' : 'o';
    }
    f->ownership = letters;
}

static void read_result_types(parser *p) {
    ir_type types[64];
    uint32_t count = 0;
    words_need(&p->w, "(");
    while (!p->w.failed && !words_try(&p->w, ")")) {
        if (count > 0)
            words_need(&p->w, ",");
        if (count == sizeof types / sizeof types[0]) {
            words_fail(&p->w, "fewer results");
            return;
        }
        types[count++] = read_type(p);
    }
    if (!p->w.failed)
        ir_function_set_results(p->f, types, count);
}

static void read_function(parser *p, bool kernel) {
    const char *name = words_name(&p->w);
    p->f = p->w.failed ? NULL : ir_function_new(p->w.m, name, (source_span){0});
    if (!p->f) {
        p->w.failed = true;
        return;
    }
    p->f->is_kernel = kernel;
    words_need(&p->w, "(");
    read_params(p);
    if (words_try(&p->w, "->"))
        read_result_types(p);
    if (words_try_word(&p->w, "slots")) {
        p->f->slot_count = (uint32_t)words_int(&p->w);
        words_need(&p->w, "bound");
        p->f->slot_bound = (uint32_t)words_int(&p->w);
    }
    if (words_try_word(&p->w, "room")) {
        p->f->room_bytes = (uint64_t)words_int(&p->w);
        words_need(&p->w, "bound");
        p->f->room_bound = (uint64_t)words_int(&p->w);
    }
    if (words_try_word(&p->w, "growing")) {
        p->f->growing_count = (uint32_t)words_int(&p->w);
        words_need(&p->w, "from");
        p->f->growing_first = (uint32_t)words_int(&p->w);
    }
    if (words_try_word(&p->w, "builds"))
        p->f->built = (uint32_t)words_int(&p->w);
    words_need(&p->w, "{");
    while (!p->w.failed && !words_try(&p->w, "}"))
        read_block(p);
    if (p->w.failed)
        return;
    for (uint32_t k = 0; k < p->f->param_count && p->f->block_count > 0; k++)
        p->f->values[p->f->params[k]].block = p->f->blocks[0];
    if (strcmp(name, "main") == 0)
        p->w.m->main = p->f;
}

static tl_dtype read_dtype(parser *p) {
    static const char *const names[TL_DTYPE_COUNT] = {"f32", "f64", "i64", "bool"};
    for (int t = 0; t < TL_DTYPE_COUNT; t++)
        if (words_try_word(&p->w, names[t]))
            return (tl_dtype)t;
    words_fail(&p->w, "an element type");
    return TL_F32;
}

static void read_twins(parser *p, const char *word, ir_function **plain, ir_function **careful) {
    if (!words_try_word(&p->w, word))
        return;
    resolve_later(p, LATE_FUNCTION, plain, words_name(&p->w));
    if (words_try_word(&p->w, "careful"))
        resolve_later(p, LATE_FUNCTION, careful, words_name(&p->w));
}

static void read_kernel(parser *p) {
    ir_kernel *k = ir_kernel_new(p->w.m, words_name(&p->w));
    enum { MOST = 32 };
    ir_type cells[MOST];
    tl_dtype dtypes[MOST];
    uint32_t ranks[MOST];
    bool needed[MOST];
    if (!k) {
        p->w.failed = true;
        return;
    }
    words_need(&p->w, "=");
    k->dtype = read_dtype(p);
    words_need(&p->w, "rank");
    k->rank = (uint32_t)words_int(&p->w);
    words_need(&p->w, "cells (");
    while (!p->w.failed && !words_try(&p->w, ")") && k->cell_count < MOST) {
        if (k->cell_count > 0)
            words_need(&p->w, ",");
        cells[k->cell_count++] = read_type(p);
    }
    words_need(&p->w, "captures (");
    while (!p->w.failed && !words_try(&p->w, ")") && k->capture_count < MOST) {
        if (k->capture_count > 0)
            words_need(&p->w, ",");
        dtypes[k->capture_count] = read_dtype(p);
        words_need(&p->w, "rank");
        ranks[k->capture_count] = (uint32_t)words_int(&p->w);
        needed[k->capture_count++] = !words_try_word(&p->w, "unread");
    }
    k->cell_types = ir_copy_growing(p->w.m, cells, k->cell_count, sizeof *cells);
    k->capture_dtype = ir_copy_growing(p->w.m, dtypes, k->capture_count, sizeof *dtypes);
    k->capture_rank = ir_copy_growing(p->w.m, ranks, k->capture_count, sizeof *ranks);
    k->needs_value = ir_copy_growing(p->w.m, needed, k->capture_count, sizeof *needed);
    read_twins(p, "forward", &k->forward, &k->forward_careful);
    read_twins(p, "backward", &k->backward, &k->backward_careful);
}

/* ---- the module ------------------------------------------------------------------------------ */

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
    void *found = l->kind == LATE_KERNEL ? (void *)kernel_named(p->w.m, l->name)
                                         : (void *)function_named(p->w.m, l->name);
    if (!found) {
        p->w.failed = true;
        masu__buffer_printf(p->w.error, "nothing is named %s\n", l->name);
    } else if (l->kind == LATE_CALLEE) {
        ((ir_instr *)l->where)->callee = found;
    } else if (l->kind == LATE_KERNEL) {
        ((ir_instr *)l->where)->kernel = found;
    } else {
        *(ir_function **)l->where = found;
    }
}

ir_module *ir_parse_module(masu__arena *arena, const char *text, masu__buffer *error) {
    parser p = {.w = {.m = ir_module_new(arena), .text = text, .at = text, .error = error}};
    if (!p.w.m)
        return NULL;
    for (words_skip(&p.w); *p.w.at && !p.w.failed; words_skip(&p.w))
        if (words_try_word(&p.w, "kernel"))
            read_kernel(&p);
        else if (words_try_word(&p.w, "kernel_fn"))
            read_function(&p, true);
        else if (words_try_word(&p.w, "fn"))
            read_function(&p, false);
        else
            words_fail(&p.w, "fn or kernel");
    for (uint32_t l = 0; l < p.late_count && !p.w.failed; l++)
        resolve(&p, &p.lates[l]);
    return p.w.failed || p.w.m->out_of_memory ? NULL : p.w.m;
}
