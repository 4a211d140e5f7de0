/* ssa.c: static single assignment while the tree is being lowered, after Braun, Buchwald, Hack,
 * Leissa, Mallon and Zwinkau, "Simple and efficient construction of SSA form" (2013).
 *
 * A variable has one current value at the end of each block, kept in a table. Reading looks into
 * the current block, then upwards:
 *
 *     one predecessor               ask it (a loop, no recursion)
 *     several, block sealed         a new parameter takes the place of the value; its arguments are looked up
 *                                   afterwards
 *     block not sealed yet          a new parameter; its arguments are looked up when the block is sealed
 *     none                          the variable was never written: zero
 *
 * Arguments that wait to be looked up form a list of their own, so the machine stack does not
 * grow with the length of the program. Parameters that turn out to be superfluous are removed at
 * the end, all at once.
 *
 * What must stay true: in a sealed block every parameter has one argument on every edge; in an
 * unsealed one the variables' parameters have none yet.
 */
#include "base/assert.h"
#include "language/ir/edit.h"
#include "language/ir/ir.h"
#include "language/ir/store.h"

typedef struct variable_info {
    ir_type type;
    const char *name;
    source_span span;
    ir_value settled; /* all that it ever is, 0: it may be written again */
} variable_info;

typedef struct definition { /* a slot of the table; value 0: free */
    uint32_t block;
    ir_variable variable;
    ir_value value;
} definition;

typedef struct pending { /* a parameter of a block that waits for its arguments */
    ir_block *block;
    ir_variable variable;
} pending;

struct ir_builder {
    ir_function *function;
    ir_block *block;
    variable_info *variables;
    uint32_t variable_count;
    definition *table; /* open addressing; size a power of two, at most half full */
    uint32_t table_size, table_used;
    bool *sealed; /* by block id */
    uint32_t sealed_size;
    pending *incomplete; /* of blocks not sealed, in order of creation */
    uint32_t incomplete_count;
    pending *waiting; /* of sealed blocks */
    uint32_t waiting_count;
};

static ir_module *module_of(const ir_builder *b) {
    return b->function->module;
}

/* ---- the table of definitions ---------------------------------------------------------------- */

static definition *table_find(const ir_builder *b, uint32_t block, ir_variable v) {
    uint64_t hash = ((uint64_t)block << 32 | v) * 0x9E3779B97F4A7C15u;
    uint32_t mask = b->table_size - 1, at = (uint32_t)(hash >> 32) & mask;
    while (b->table[at].value && (b->table[at].block != block || b->table[at].variable != v))
        at = (at + 1) & mask;
    return &b->table[at];
}

static bool table_grow(ir_builder *b) {
    definition *old = b->table;
    uint32_t old_size = b->table_size, size = old_size ? old_size * 2 : 64;
    definition *larger = ir_alloc(module_of(b), size, sizeof *larger);
    if (!larger)
        return false;
    b->table = larger;
    b->table_size = size;
    for (uint32_t i = 0; i < old_size; i++)
        if (old[i].value)
            *table_find(b, old[i].block, old[i].variable) = old[i];
    return true;
}

static void define(ir_builder *b, const ir_block *block, ir_variable v, ir_value value) {
    if (!block || !value || (b->table_used * 2 >= b->table_size && !table_grow(b)))
        return;
    definition *d = table_find(b, block->id, v);
    b->table_used += d->value == 0;
    *d = (definition){.block = block->id, .variable = v, .value = value};
}

static ir_value defined(const ir_builder *b, const ir_block *block, ir_variable v) {
    return b->table_size ? table_find(b, block->id, v)->value : 0;
}

/* ---- sealing --------------------------------------------------------------------------------- */

static bool is_sealed(const ir_builder *b, const ir_block *block) {
    return block->id < b->sealed_size && b->sealed[block->id];
}

static void mark_sealed(ir_builder *b, const ir_block *block) {
    if (block->id >= b->sealed_size) {
        uint32_t size = b->sealed_size ? b->sealed_size : 16;
        while (size <= block->id)
            size *= 2;
        bool *larger = ir_alloc(module_of(b), size, sizeof *larger);
        if (!larger)
            return;
        for (uint32_t i = 0; i < b->sealed_size; i++)
            larger[i] = b->sealed[i];
        b->sealed = larger;
        b->sealed_size = size;
    }
    b->sealed[block->id] = true;
}

static void push(ir_builder *b, pending **list, uint32_t *count, pending entry) {
    pending *room = ir_room(module_of(b), *list, *count, sizeof **list);
    if (!room)
        return;
    *list = room;
    (*list)[(*count)++] = entry;
}

/* ---- reading --------------------------------------------------------------------------------- */

/* The zero that an unwritten variable reads as, at the start of a block without predecessors. */
static ir_value undefined(ir_builder *b, ir_block *block, ir_variable v) {
    const variable_info *info = &b->variables[v];
    ir_instr *zero = ir_instr_new(b->function, IR_CONST, NULL, 0, &info->type, 1, info->span);
    if (!zero)
        return 0;
    b->function->values[zero->result].name = info->name;
    if (block->first)
        ir_insert_before(block->first, zero);
    else
        ir_append(block, zero);
    return zero->result;
}

static ir_value parameter_for(ir_builder *b, ir_block *block, ir_variable v) {
    const variable_info *info = &b->variables[v];
    return ir_block_add_param(block, info->type, info->name, info->span);
}

/* The value at the end of `from`. Leaves arguments of new parameters waiting. */
static ir_value look_up(ir_builder *b, ir_block *from, ir_variable v) {
    ir_block *block = from;
    ir_value value = defined(b, block, v);
    uint32_t steps = 0; /* a ring of blocks that nothing enters has no beginning */
    while (!value && is_sealed(b, block) && block->pred_count == 1 && steps++ < b->function->block_count) {
        block = block->preds[0];
        value = defined(b, block, v);
    }
    if (!value && is_sealed(b, block) && block->pred_count <= 1) {
        value = undefined(b, block, v);
    } else if (!value) {
        value = parameter_for(b, block, v);
        if (is_sealed(b, block))
            push(b, &b->waiting, &b->waiting_count, (pending){block, v});
        else
            push(b, &b->incomplete, &b->incomplete_count, (pending){block, v});
    }
    define(b, block, v, value);
    for (ir_block *at = from; at != block; at = at->preds[0]) /* the next question ends sooner */
        define(b, at, v, value);
    return value;
}

/* Looks the argument up on every edge into the block. The argument's place is behind those that
 * are there. */
static void pass_argument(ir_builder *b, pending p) {
    for (uint32_t k = 0; k < p.block->pred_count; k++) {
        ir_block *pred = p.block->preds[k];
        bool met = false; /* both edges of a branch lead here */
        for (uint32_t earlier = 0; earlier < k; earlier++)
            met |= p.block->preds[earlier] == pred;
        if (met)
            continue;
        ir_value value = look_up(b, pred, p.variable);
        for (int t = 0; t < ir_target_count(pred->last); t++)
            if (pred->last->target[t].block == p.block)
                ir_add_target_arg(pred->last, t, value);
    }
}

/* Parameters of one block were made in the order in which they wait, and wait in a queue:
 * arguments keep that order. */
static void settle_waiting(ir_builder *b) {
    for (uint32_t i = 0; i < b->waiting_count && !module_of(b)->out_of_memory; i++)
        pass_argument(b, b->waiting[i]);
    b->waiting_count = 0;
}

ir_value ir_read(ir_builder *b, ir_variable v, source_span span) {
    (void)span; /* the value keeps the place of its definition */
    if (!b || module_of(b)->out_of_memory)
        return 0;
    ir_block *block = b->block;
    if (!block) { /* unreachable code: any value will do */
        block = ir_block_new(b->function);
        if (!block)
            return 0;
        mark_sealed(b, block);
        b->block = block;
    }
    if (b->variables[v].settled)
        return b->variables[v].settled;
    ir_value value = look_up(b, block, v);
    settle_waiting(b);
    return value;
}

void ir_write(ir_builder *b, ir_variable v, ir_value value) {
    MASU_DEBUG_ASSERT(!b || !b->variables[v].settled);
    if (b)
        define(b, b->block, v, value);
}

void ir_write_last(ir_builder *b, ir_variable v, ir_value value) {
    ir_write(b, v, value);
    if (b && b->variable_count > v)
        b->variables[v].settled = value;
}

void ir_seal(ir_builder *b, ir_block *block) {
    if (!b || !block || is_sealed(b, block))
        return;
    mark_sealed(b, block);
    uint32_t kept = 0;
    for (uint32_t i = 0; i < b->incomplete_count; i++) {
        pending p = b->incomplete[i];
        if (p.block == block)
            push(b, &b->waiting, &b->waiting_count, p);
        else
            b->incomplete[kept++] = p;
    }
    b->incomplete_count = kept;
    settle_waiting(b);
}

/* ---- the rest of the builder ----------------------------------------------------------------- */

ir_builder *ir_builder_new(ir_function *f) {
    ir_builder *b = f ? ir_alloc(f->module, 1, sizeof *b) : NULL;
    if (!b)
        return NULL;
    b->function = f;
    b->block = f->block_count > 0 ? f->blocks[0] : ir_block_new(f);
    if (!b->block)
        return NULL;
    mark_sealed(b, f->blocks[0]);
    return b;
}

ir_block *ir_builder_block(const ir_builder *b) {
    return b ? b->block : NULL;
}

void ir_builder_set_block(ir_builder *b, ir_block *block) {
    if (b)
        b->block = block;
}

ir_instr *ir_emit(ir_builder *b, ir_opcode op, const ir_value *args, uint32_t arg_count, const ir_type *results,
                  uint32_t result_count, source_span span) {
    if (!b)
        return NULL;
    if (!b->block) {
        b->block = ir_block_new(b->function);
        if (!b->block)
            return NULL;
        mark_sealed(b, b->block);
    }
    ir_instr *i = ir_instr_new(b->function, op, args, arg_count, results, result_count, span);
    ir_append(b->block, i);
    if (i && ir_is_terminator(op))
        b->block = NULL;
    return i;
}

static ir_instr *emit_const(ir_builder *b, ir_type type, source_span span) {
    return ir_emit(b, IR_CONST, NULL, 0, &type, 1, span);
}

ir_value ir_emit_const_int(ir_builder *b, ir_type type, int64_t v, source_span span) {
    ir_instr *i = emit_const(b, type, span);
    if (!i)
        return 0;
    i->imm.i = v;
    return i->result;
}

ir_value ir_emit_const_float(ir_builder *b, ir_type type, double v, source_span span) {
    ir_instr *i = emit_const(b, type, span);
    if (!i)
        return 0;
    i->imm.f = type == IR_F32 ? (double)(float)v : v; /* as it is written, it is an f32: 0.1 */
    return i->result;
}

void ir_emit_jump(ir_builder *b, ir_block *to, source_span span) {
    MASU_DEBUG_ASSERT(!b || !to || !is_sealed(b, to));
    ir_set_target(ir_emit(b, IR_JUMP, NULL, 0, NULL, 0, span), 0, to, NULL, 0);
}

void ir_emit_branch(ir_builder *b, ir_value c, ir_block *yes, ir_block *no, source_span span) {
    MASU_DEBUG_ASSERT(!b || !yes || !no || (!is_sealed(b, yes) && !is_sealed(b, no)));
    ir_instr *branch = ir_emit(b, IR_BRANCH, &c, 1, NULL, 0, span);
    ir_set_target(branch, 0, yes, NULL, 0);
    ir_set_target(branch, 1, no, NULL, 0);
}

void ir_emit_ret(ir_builder *b, const ir_value *values, uint32_t count, source_span span) {
    ir_emit(b, IR_RET, values, count, NULL, 0, span);
}

const char *ir_variable_name(const ir_builder *b, ir_variable v) {
    return b && v < b->variable_count ? b->variables[v].name : NULL;
}

ir_variable ir_variable_new(ir_builder *b, ir_type type, const char *name, source_span span) {
    variable_info *room = b ? ir_room(module_of(b), b->variables, b->variable_count, sizeof *room) : NULL;
    if (!room)
        return 0;
    b->variables = room;
    b->variables[b->variable_count] = (variable_info){.type = type, .name = name, .span = span};
    return b->variable_count++;
}

void ir_builder_finish(ir_builder *b) {
    if (!b)
        return;
    for (uint32_t i = 0; i < b->function->block_count; i++)
        ir_seal(b, b->function->blocks[i]);
    if (module_of(b)->out_of_memory)
        return;
    ir_remove_unreachable_blocks(b->function);
    ir_simplify_params(b->function);
    ir_merge_chains(b->function);
}
