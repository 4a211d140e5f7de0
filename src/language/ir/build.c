/* build.c: making modules, functions, blocks and instructions, and linking them.
 *
 * What must stay true: a block's predecessor list holds one entry for each edge of an attached
 * terminator that leads to it. So edges are entered when a terminator is attached or retargeted
 * and struck when it is removed; nothing else touches the lists.
 */
#include <string.h>

#include "base/assert.h"
#include "language/ir/ir.h"
#include "language/ir/store.h"

enum { FIRST_CAPACITY = 4 };

/* ---- memory ---------------------------------------------------------------------------------- */

void *ir_alloc(ir_module *m, size_t count, size_t element_bytes) {
    void *memory = masu__arena_calloc(m->arena, count, element_bytes, _Alignof(max_align_t));
    if (!memory)
        m->out_of_memory = true;
    return memory;
}

const char *ir_copy_text(ir_module *m, const char *text) {
    if (!text)
        return NULL;
    char *copy = masu__arena_strdup(m->arena, text);
    if (!copy)
        m->out_of_memory = true;
    return copy;
}

static uint32_t growing_capacity(uint32_t count) {
    uint32_t capacity = FIRST_CAPACITY;
    while (capacity < count)
        capacity *= 2;
    return capacity;
}

void *ir_room(ir_module *m, void *array, uint32_t count, size_t element_bytes) {
    if (array && count < growing_capacity(count))
        return array;
    void *larger = ir_alloc(m, growing_capacity(count + 1), element_bytes);
    if (larger && count > 0)
        memcpy(larger, array, count * element_bytes);
    return larger;
}

void *ir_copy_growing(ir_module *m, const void *array, uint32_t count, size_t element_bytes) {
    void *copy = ir_alloc(m, growing_capacity(count), element_bytes);
    if (copy && count > 0)
        memcpy(copy, array, count * element_bytes);
    return copy;
}

/* Doubles an array with a stored capacity when it is full. */
static bool grow(ir_module *m, void **array, uint32_t count, uint32_t *capacity, size_t element_bytes) {
    if (count < *capacity)
        return true;
    uint32_t wanted = *capacity ? *capacity * 2 : 16;
    void *larger = ir_alloc(m, wanted, element_bytes);
    if (!larger)
        return false;
    if (count > 0)
        memcpy(larger, *array, count * element_bytes);
    *array = larger;
    *capacity = wanted;
    return true;
}

/* ---- modules, functions, values -------------------------------------------------------------- */

ir_module *ir_module_new(masu__arena *arena) {
    ir_module *m = MASU_ARENA_NEW(arena, ir_module);
    if (!m)
        return NULL;
    m->arena = arena;
    if (!grow(m, (void **)&m->sites, 0, &m->site_capacity, sizeof *m->sites))
        return NULL;
    m->site_count = 1;
    return m;
}

ir_function *ir_function_detached(ir_module *m, const char *name, source_span span) {
    ir_function *f = ir_alloc(m, 1, sizeof *f);
    if (!f || !grow(m, (void **)&f->values, 0, &f->value_capacity, sizeof *f->values))
        return NULL;
    f->module = m;
    f->name = ir_copy_text(m, name);
    f->span = span;
    f->value_count = 1;
    f->values[0].slot = -1;
    return f;
}

ir_function *ir_function_new(ir_module *m, const char *name, source_span span) {
    ir_function *f = ir_function_detached(m, name, span);
    if (!f || !grow(m, (void **)&m->functions, m->function_count, &m->function_capacity, sizeof(ir_function *)))
        return NULL;
    f->id = m->function_count;
    m->functions[m->function_count++] = f;
    return f;
}

ir_value ir_value_new(ir_function *f, ir_type type, const char *name, source_span span) {
    if (!f || !grow(f->module, (void **)&f->values, f->value_count, &f->value_capacity, sizeof *f->values))
        return 0;
    f->values[f->value_count] = (ir_value_info){.type = type, .name = name, .span = span, .slot = -1};
    return f->value_count++;
}

void ir_function_alias(ir_function *f, ir_value v, const char *name, source_span span) {
    if (!f || !grow(f->module, (void **)&f->aliases, f->alias_count, &f->alias_capacity, sizeof *f->aliases))
        return;
    f->aliases[f->alias_count++] = (ir_alias){.name = name, .span = span, .value = v};
}

ir_value ir_function_add_param(ir_function *f, ir_type type, const char *name, source_span span) {
    ir_value v = ir_value_new(f, type, name, span);
    ir_value *room = v ? ir_room(f->module, f->params, f->param_count, sizeof *f->params) : NULL;
    if (!room)
        return 0;
    f->params = room;
    f->params[f->param_count++] = v;
    f->values[v].is_parameter = true;
    f->values[v].block = f->block_count > 0 ? f->blocks[0] : NULL;
    return v;
}

void ir_function_set_results(ir_function *f, const ir_type *types, uint32_t count) {
    ir_type *copy = f ? ir_copy_growing(f->module, types, count, sizeof *types) : NULL;
    if (!copy)
        return;
    f->results = copy;
    f->result_count = count;
}

ir_kernel *ir_kernel_new(ir_module *m, const char *name) {
    ir_kernel *k = ir_alloc(m, 1, sizeof *k);
    if (!k || !grow(m, (void **)&m->kernels, m->kernel_count, &m->kernel_capacity, sizeof(ir_kernel *)))
        return NULL;
    k->name = ir_copy_text(m, name);
    m->kernels[m->kernel_count++] = k;
    return k;
}

uint32_t ir_site_new(ir_module *m, source_span span, const char *function) {
    if (!grow(m, (void **)&m->sites, m->site_count, &m->site_capacity, sizeof *m->sites))
        return 0;
    m->sites[m->site_count] = (ir_site){.span = span, .function = function};
    return m->site_count++;
}

/* ---- blocks ---------------------------------------------------------------------------------- */

static void adopt_parameters(ir_function *f, ir_block *entry) {
    for (uint32_t i = 0; i < f->param_count; i++)
        f->values[f->params[i]].block = entry;
}

ir_block *ir_block_new(ir_function *f) {
    ir_block *b = f ? ir_alloc(f->module, 1, sizeof *b) : NULL;
    if (!b || !grow(f->module, (void **)&f->blocks, f->block_count, &f->block_capacity, sizeof(ir_block *)))
        return NULL;
    b->id = f->block_count;
    b->function = f;
    f->blocks[f->block_count++] = b;
    if (b->id == 0)
        adopt_parameters(f, b);
    return b;
}

ir_value ir_block_add_param(ir_block *b, ir_type type, const char *name, source_span span) {
    if (!b)
        return 0;
    ir_module *m = b->function->module;
    ir_value v = ir_value_new(b->function, type, name, span);
    ir_value *room = v ? ir_room(m, b->params, b->param_count, sizeof *b->params) : NULL;
    if (!room)
        return 0;
    b->params = room;
    b->params[b->param_count++] = v;
    b->function->values[v].block = b;
    return v;
}

static void pred_add(ir_block *b, ir_block *pred) {
    ir_block **room = ir_room(b->function->module, b->preds, b->pred_count, sizeof(ir_block *));
    if (!room)
        return;
    b->preds = room;
    b->preds[b->pred_count++] = pred;
}

static void pred_remove(ir_block *b, const ir_block *pred) {
    for (uint32_t i = 0; i < b->pred_count; i++) {
        if (b->preds[i] != pred)
            continue;
        memmove(b->preds + i, b->preds + i + 1, (b->pred_count - i - 1) * sizeof(ir_block *));
        b->pred_count--;
        return;
    }
}

/* ---- instructions ---------------------------------------------------------------------------- */

ir_instr *ir_instr_new(ir_function *f, ir_opcode op, const ir_value *args, uint32_t arg_count, const ir_type *results,
                       uint32_t result_count, source_span span) {
    ir_instr *i = f ? ir_alloc(f->module, 1, sizeof *i) : NULL;
    if (!i)
        return NULL;
    i->op = op;
    i->span = span;
    i->args = ir_alloc(f->module, arg_count, sizeof *i->args);
    if (!i->args)
        return NULL;
    if (arg_count > 0)
        memcpy(i->args, args, arg_count * sizeof *args);
    i->arg_count = arg_count;
    for (uint32_t r = 0; r < result_count; r++) {
        ir_value v = ir_value_new(f, results[r], NULL, span);
        if (!v)
            return NULL;
        if (r == 0)
            i->result = v;
        f->values[v].def = i;
    }
    i->result_count = result_count;
    return i;
}

/* Besides linking: results get their block, edges are entered. */
static void settle(ir_instr *i, ir_block *b) {
    i->block = b;
    for (uint32_t r = 0; r < i->result_count; r++)
        b->function->values[i->result + r].block = b;
    for (int t = 0; t < ir_target_count(i); t++)
        if (i->target[t].block)
            pred_add(i->target[t].block, b);
}

void ir_append(ir_block *b, ir_instr *i) {
    if (!b || !i)
        return;
    MASU_DEBUG_ASSERT(!b->last || !ir_is_terminator(b->last->op));
    i->prev = b->last;
    i->next = NULL;
    if (b->last)
        b->last->next = i;
    else
        b->first = i;
    b->last = i;
    settle(i, b);
}

void ir_insert_before(ir_instr *where, ir_instr *i) {
    if (!where || !i)
        return;
    i->prev = where->prev;
    i->next = where;
    if (where->prev)
        where->prev->next = i;
    else
        where->block->first = i;
    where->prev = i;
    settle(i, where->block);
}

void ir_insert_after(ir_instr *where, ir_instr *i) {
    if (!where || !i)
        return;
    if (where->next) {
        ir_insert_before(where->next, i);
        return;
    }
    i->prev = where;
    i->next = NULL;
    where->next = i;
    where->block->last = i;
    settle(i, where->block);
}

void ir_remove(ir_instr *i) {
    if (!i || !i->block)
        return;
    for (int t = 0; t < ir_target_count(i); t++)
        if (i->target[t].block)
            pred_remove(i->target[t].block, i->block);
    *(i->prev ? &i->prev->next : &i->block->first) = i->next;
    *(i->next ? &i->next->prev : &i->block->last) = i->prev;
    i->prev = i->next = NULL;
    i->block = NULL;
}

/* ---- targets --------------------------------------------------------------------------------- */

void ir_set_target(ir_instr *terminator, int which, ir_block *to, const ir_value *args, uint32_t count) {
    if (!terminator || !to)
        return;
    ir_target *target = &terminator->target[which];
    ir_value *copy = ir_copy_growing(to->function->module, args, count, sizeof *args);
    if (!copy)
        return;
    if (terminator->block && target->block)
        pred_remove(target->block, terminator->block);
    *target = (ir_target){.block = to, .args = copy, .count = count};
    if (terminator->block)
        pred_add(to, terminator->block);
}

void ir_add_target_arg(ir_instr *terminator, int which, ir_value arg) {
    ir_target *target = terminator ? &terminator->target[which] : NULL;
    if (!target || !target->block)
        return;
    ir_value *room = ir_room(target->block->function->module, target->args, target->count, sizeof *target->args);
    if (!room)
        return;
    target->args = room;
    target->args[target->count++] = arg;
}

ir_place *ir_place_for(ir_function *f, ir_value v) {
    ir_instr *i = f->values[v].def;
    if (i->op != IR_CALL)
        return &i->place;
    if (!i->places)
        i->places = ir_alloc(f->module, i->result_count, sizeof *i->places);
    return i->places ? &i->places[v - i->result] : NULL;
}
