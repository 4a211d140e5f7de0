/* lower_drop.c: types with a destructor: how their values lie, and where their owners end.
 *
 * A value with a destructor is one counted thing, its cell: a list of one element, the fields. Its record says which
 * destructor it has, and the runtime runs that when the last count goes (runtime/value/vector.c). Lists, enums, boxes
 * and closures hold the cell as they hold any counted thing, so a destructor runs exactly once, whichever owner was the
 * last. What is left to do here is the time at which an owner's count goes:
 *
 *     a name                    at the end of its scope, in reverse order: an IR_KEEP that no pass removes
 *                               (lower_scope.c)
 *     a name that moved         not: where it lay there is nothing from then on, and at the end of the scope nothing
 *                               ends
 *     what is assigned to       when the new value is there
 *     a value with no name      at the end of the statement, where the text looks at it (`make().name()`)
 *     an element of a `for`     at the end of the iteration: it is taken out of the list
 *
 * Where a value moves is what the text says: marks of the borrow check (syntax/owner_marks.h). Reading what moved is an
 * error that pass/destructors.c finds, from the values alone. Functions of the library have no marks: there a value
 * ends with its last use, and counts keep it alive for what else holds it.
 */
#include <string.h>

#include "language/diagnose/messages.h"
#include "language/lower/lowering.h"

/* ---- types ------------------------------------------------------------------------------------------------------- */

/* A closure that only looks at what it captured does not own it. */
static bool is_looked_at(const lowering *l, const struct_item *closure, uint32_t field) {
    const binding *b = closure->fields[field].captured;
    return b && !closure->closure->is_move && (owner_marks_at(l->tree->marks, b->span) & MARK_CAPTURED) == 0;
}

/* A struct of the library that holds a reference owns what it leads to, together with its copies: it is a cell. */
static const type *owned_field(const lowering *l, const type *t, uint32_t field) {
    const type *part = lower_field_type(t, field);
    const bool cell = t->kind == TYPE_STRUCT && t->structure->span.file == l->tree->prelude &&
                      t->structure->closure == NULL && type_is_reference(part) && !type_is_slice(part);
    return cell ? part->vec.element : part;
}

static bool reaches(lowering *l, const type *t, uint8_t *seen) {
    if (t->kind == TYPE_VEC)
        return reaches(l, t->vec.element, seen);
    if (t->kind != TYPE_STRUCT && t->kind != TYPE_TUPLE)
        return false;
    if (lower_has_cell(t) || l->drops[t->id] == 2)
        return true;
    if (seen[t->id] || l->drops[t->id] == 1)
        return false;
    seen[t->id] = 1;
    const struct_item *s = t->kind == TYPE_STRUCT ? t->structure : NULL;
    for (uint32_t i = 0; i < lower_field_count(t); i++)
        if (!(s && s->closure && is_looked_at(l, s, i)) && reaches(l, owned_field(l, t, i), seen))
            return true;
    return false;
}

bool lower_drops(lowering *l, const type *t) {
    if (!l->tree->has_destructors || t->kind == TYPE_REFERENCE)
        return false;
    while (t->kind == TYPE_VEC)
        t = t->vec.element;
    if (l->drops[t->id] == 0) {
        uint8_t *seen = masu__arena_calloc(l->scratch, l->type_count, 1, 1);
        if (!seen) {
            l->m->out_of_memory = true;
            return false;
        }
        l->drops[t->id] = reaches(l, t, seen) ? 2 : 1;
    }
    return l->drops[t->id] == 2;
}

bool lower_takes_self(lowering *l, const function_item *item) {
    const binding *self = item->has_self ? item->parameters[0] : NULL;
    return self && self->kind == BINDING_SELF && !self->is_lent && !self->is_shared && !item->is_closure &&
           item->span.file != l->tree->prelude && lower_drops(l, self->type);
}

bool lower_marked(const lower_fn *fn, source_span span, unsigned kinds) {
    return fn->owns && (owner_marks_at(fn->l->tree->marks, span) & kinds) != 0;
}

/* ---- cells ------------------------------------------------------------------------------------------------------- */

void lower_into_cell(lower_fn *fn, const type *t, const ir_value *fields, ir_value *out, source_span span) {
    *out = lower_open(fn) ? lower_cell_new(fn, lower_inside(t), fields, span) : 0;
}

void lower_out_of_cell(lower_fn *fn, const type *t, ir_value cell, ir_value *fields, source_span span) {
    if (lower_open(fn))
        lower_vec_get(fn, cell, lower_int(fn, IR_I64, 0, span), lower_inside(t), fields, span);
}

/* ---- moves ------------------------------------------------------------------------------------------------------- */

static void refuse(lower_fn *fn, source_span span, message_row row, const char *text) {
    ir_refusal *r = MASU_ARENA_NEW(fn->l->m->arena, ir_refusal);
    if (!r) {
        fn->l->m->out_of_memory = true;
        return;
    }
    *r = (ir_refusal){.span = span, .row = row, .text = text, .next = fn->l->m->refusals};
    fn->l->m->refusals = r;
}

void lower_refuse_part(lower_fn *fn, source_span span) {
    refuse(fn, span, SAY(value_does_not_move_from_behind));
}

void lower_refuse_update(lower_fn *fn, source_span span) {
    refuse(fn, span, SAY(update_takes_parts));
}

static bool is_in_cell(const expr *e) { /* a field of what has a destructor, at any depth */
    for (; e->kind == EXPR_FIELD || e->kind == EXPR_TUPLE_FIELD; e = e->field.base)
        if (lower_has_cell(e->field.base->type))
            return true;
    return false;
}

static bool is_captured(const expr *e) {
    for (; e->kind == EXPR_FIELD || e->kind == EXPR_TUPLE_FIELD; e = e->field.base) {
        const type *t = e->field.base->type;
        if (e->kind == EXPR_FIELD && t->kind == TYPE_STRUCT && t->structure->closure)
            return true;
    }
    return false;
}

bool lower_moved(lower_fn *fn, const expr *e, ir_value *out) {
    bool place = e->kind == EXPR_NAME || e->kind == EXPR_FIELD || e->kind == EXPR_TUPLE_FIELD || e->kind == EXPR_INDEX;
    if (!place || !lower_drops(fn->l, e->type) || !lower_is_place(e))
        return false;
    if (lower_marked(fn, e->span, MARK_BEHIND))
        refuse(fn, e->span, SAY(value_does_not_move_from_behind));
    if (!lower_marked(fn, e->span, MARK_TAKEN))
        return false;
    if (is_in_cell(e))
        refuse(fn, e->span, SAY(value_does_not_move_out_of_destructor));
    if (is_captured(e) &&
        !(fn->item->is_closure && lower_comes_back(fn->l, fn->item, 0) && lower_marked(fn, fn->item->span, MARK_ONCE)))
        refuse(fn, e->span, SAY(value_does_not_move_out_of_closure));
    lower_place *p = lower_place_of(fn, e);
    if (!p)
        return true;
    lower_take_out(fn, p, 0, e->type, out, e->span);
    return true;
}

/* A pattern of what has a destructor looks at its fields. */
static void refuse_parts(lower_fn *fn, const pattern *p, bool is_value) {
    bool names = (p->kind == PATTERN_NAME || p->kind == PATTERN_BOUND) && p->binding;
    if (names && lower_drops(fn->l, p->binding->type) &&
        (is_value ? !lower_marked(fn, p->binding->span, MARK_LENT) : lower_marked(fn, p->binding->span, MARK_TAKEN)))
        refuse(fn, p->binding->span, SAY(value_does_not_move_out_of_destructor));
    for (uint32_t i = 0; i < p->part_count; i++)
        refuse_parts(fn, p->parts[i], is_value);
}

static void clear_part(lower_fn *fn, const lower_place *p, const pattern *bound, uint32_t offset, bool is_value) {
    bool names = (bound->kind == PATTERN_NAME || bound->kind == PATTERN_BOUND) && bound->binding;
    if (names && lower_open(fn) && lower_drops(fn->l, bound->binding->type)) {
        source_span span = bound->binding->span;
        if (!is_value && lower_marked(fn, span, MARK_BEHIND))
            refuse(fn, span, SAY(value_does_not_move_from_behind));
        if (is_value ? !lower_marked(fn, span, MARK_LENT) : lower_marked(fn, span, MARK_TAKEN))
            lower_clear(fn, p, offset, bound->binding->type, span);
        return;
    }
    if (bound->kind != PATTERN_TUPLE && bound->kind != PATTERN_VARIANT)
        return;
    for (uint32_t i = 0; i < bound->part_count; i++) {
        uint32_t field = bound->kind == PATTERN_VARIANT ? bound->part_fields[i] : i;
        if (lower_has_cell(bound->type))
            refuse_parts(fn, bound->parts[i], is_value);
        else
            clear_part(fn, p, bound->parts[i], offset + lower_field_offset(fn->l, bound->type, field), is_value);
    }
}

void lower_clear_bound(lower_fn *fn, const lower_place *p, const pattern *bound, bool is_value) {
    clear_part(fn, p, bound, 0, is_value);
}

/* ---- ends -------------------------------------------------------------------------------------------------------- */

lower_place *lower_temporary(lower_fn *fn, const type *t, const ir_value *values, source_span span) {
    uint32_t count = lower_leaf_count(fn->l, t);
    ir_variable first = lower_variables(fn, t, NULL, span);
    lower_write(fn, first, count, values);
    uint32_t mark = fn->kept_count;
    lower_keep_values(fn, t, first);
    for (uint32_t i = mark; i < fn->kept_count; i++)
        fn->kept[i].is_temporary = true;
    return lower_place_of_variables(fn, t, first, span);
}

void lower_end_temporaries(lower_fn *fn, uint32_t mark, uint32_t end, source_span span) {
    uint32_t above = fn->kept_count - end;
    if (end <= mark)
        return;
    fn->kept_count = end;
    lower_keep(fn, mark, span);
    memmove(fn->kept + mark, fn->kept + end, above * sizeof *fn->kept);
    fn->kept_count = mark + above;
}

void lower_end_names(lower_fn *fn, uint32_t mark, uint32_t end, source_span span) {
    for (uint32_t i = end; i > mark; i--)
        if (!fn->kept[i - 1].is_temporary)
            lower_end_temporaries(fn, i - 1, i, span);
}

void lower_end_values(lower_fn *fn, const type *t, const ir_value *values, source_span span) {
    for (uint32_t i = 0; i < lower_leaf_count(fn->l, t) && lower_open(fn); i++)
        if (values[i] && ir_type_managed(ir_type_of(fn->f, values[i]))) {
            ir_instr *keep = ir_emit(fn->b, IR_KEEP, &values[i], 1, NULL, 0, span);
            if (keep)
                keep->imm.i = 1;
        }
}

/* ---- the function that runs them --------------------------------------------------------------------------------- */

static ir_instr *emit_destructor(lower_fn *fn, const function_item *item, ir_function *callee, const ir_value *self) {
    ir_instr *call = lower_open(fn) ? ir_emit(fn->b, IR_CALL, self, callee->param_count, callee->results,
                                              callee->result_count, item->span)
                                    : NULL;
    if (call) {
        call->callee = callee;
        call->site = ir_site_new(fn->l->m, item->span, fn->name);
    }
    return call;
}

/* `&mut self` as a value that comes back, or as a reference to where it lies. */
static void call_destructor(lower_fn *fn, const function_item *item, ir_function *callee, const type *t, ir_value o) {
    source_span span = {0};
    ir_value left = o;
    if (callee->param_count == 1) {
        const ir_instr *call = emit_destructor(fn, item, callee, &o);
        left = call && callee->result_count > 0 ? call->result : o;
    } else {
        ir_value list = lower_cell_new(fn, t, &o, span), self[2] = {0};
        ir_variable lies = ir_variable_new(fn->b, IR_OBJECT, NULL, span);
        lower_write(fn, lies, 1, &list);
        self[0] = lower_abi(fn, TL_FN_tl_ref_view, &list, 1, span);
        self[1] = lower_int(fn, IR_I64, 0, span);
        emit_destructor(fn, item, callee, self);
        lower_vec_take(fn, lies, lower_int(fn, IR_I64, 0, span), t, &left, span);
    }
    lower_abi(fn, TL_FN_tl_dying_done, &left, 1, span);
}

/* Values with destructors that wait are taken one by one; the number says whose function it is. */
static void write_destructors(lower_fn *fn, const struct_item **by_number, uint32_t count) {
    source_span span = {0};
    ir_block *next = lower_block_new(fn), *ends = lower_block_new(fn);
    lower_jump(fn, next, span);
    ir_builder_set_block(fn->b, next);
    ir_value o = lower_abi(fn, TL_FN_tl_dying_next, NULL, 0, span);
    ir_value number = lower_abi(fn, TL_FN_tl_dying_destructor, &o, 1, span);
    for (uint32_t k = 1; k <= count && lower_open(fn); k++) {
        const function_item *item = by_number[k]->drop;
        ir_function *callee = fn->l->functions[item->index];
        ir_block *mine = lower_block_new(fn), *other = lower_block_new(fn);
        ir_value is = lower_op2(fn, IR_EQ, IR_BOOL, number, lower_int(fn, IR_I64, k, span), span);
        lower_branch(fn, is, mine, other, span);
        lower_enter_block(fn, mine);
        if (callee)
            call_destructor(fn, item, callee, by_number[k]->type, o);
        lower_jump(fn, next, span);
        lower_enter_block(fn, other);
    }
    lower_jump(fn, ends, span);
    ir_seal(fn->b, next);
    lower_enter_block(fn, ends);
    ir_emit_ret(fn->b, NULL, 0, span);
}

void lower_destructors(lowering *l) {
    uint32_t count = l->tree->destructor_count;
    if (count == 0)
        return;
    const struct_item **by_number = MASU_ARENA_ARRAY(l->scratch, const struct_item *, count + 1);
    ir_function *f = ir_function_new(l->m, "<destructors>", (source_span){0});
    lower_fn fn = {.l = l, .name = "<destructors>", .f = f, .b = f ? ir_builder_new(f) : NULL};
    if (!by_number || !fn.b) {
        l->m->out_of_memory = true;
        return;
    }
    for (uint32_t i = 0; i < l->tree->struct_count; i++)
        if (l->tree->structs[i]->destructor != 0 && l->tree->structs[i]->cell != NULL)
            by_number[l->tree->structs[i]->destructor] = l->tree->structs[i];
    ir_function_set_results(f, NULL, 0);
    write_destructors(&fn, by_number, count);
    ir_builder_finish(fn.b);
    l->m->destructors = f;
}

void lower_run_destructors(lower_fn *fn, source_span span) {
    if (!fn->l->m->destructors || !lower_open(fn))
        return;
    ir_instr *call = ir_emit(fn->b, IR_CALL, NULL, 0, NULL, 0, span);
    if (call) {
        call->callee = fn->l->m->destructors;
        call->site = ir_site_new(fn->l->m, span, fn->name);
    }
}

/* A closure that gives away what it captured: its caller's keeps what is left. */
static bool is_once(lowering *l, const function_item *item) {
    return item->is_closure && (owner_marks_at(l->tree->marks, item->span) & MARK_ONCE) != 0 &&
           lower_drops(l, item->parameters[0]->type);
}

bool lower_comes_back(lowering *l, const function_item *item, uint32_t parameter) {
    const binding *b = item->parameters[parameter];
    if (parameter == 0 && is_once(l, item))
        return true;
    if (b->by_reference || (parameter == 0 && lower_takes_self(l, item)))
        return false;
    if (b->kind == BINDING_SELF || (parameter == 0 && item->has_self))
        return item->writes_self;
    return b->comes_back || (b->annotation && b->annotation->is_place);
}
