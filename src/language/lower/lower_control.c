/* lower_control.c: blocks, if, match, && and || as values.
 *
 * Where paths meet, the value is a variable that each path writes; the builder turns it into a block parameter.
 */
#include <string.h>

#include "language/lower/lowering.h"

/* ---- where paths meet -------------------------------------------------------------------------------------------- */

typedef struct meeting {
    ir_block *block;
    ir_variable first;
    uint32_t count;
    source_span span;
} meeting;

static meeting meeting_new(lower_fn *fn, const type *t, source_span span) {
    return (meeting){.block = lower_block_new(fn),
                     .first = lower_variables(fn, t, NULL, span),
                     .count = lower_leaf_count(fn->l, t),
                     .span = span};
}

static void arrive(lower_fn *fn, const meeting *m, const ir_value *values) {
    lower_write(fn, m->first, m->count, values);
    lower_jump(fn, m->block, m->span);
}

static void go_on_at(lower_fn *fn, const meeting *m, ir_value *out) {
    lower_enter_block(fn, m->block);
    lower_read(fn, m->first, m->count, out, m->span);
}

/* ---- blocks ------------------------------------------------------------------------------------------------------ */

/* let P = v else { … }: the block leaves. */
static void lower_otherwise(lower_fn *fn, const stmt *s, const ir_value *values) {
    ir_value fits = lower_pattern_test(fn, s->pattern, values);
    if (!fits)
        return;
    ir_block *yes = lower_block_new(fn), *no = lower_block_new(fn);
    lower_branch(fn, fits, yes, no, s->span);
    lower_enter_block(fn, no);
    ir_value nothing;
    lower_block_as(fn, s->otherwise, s->otherwise->type, &nothing);
    lower_enter_block(fn, yes);
}

/* The value that a pattern takes apart. Where a part has a destructor it is a place: bound parts move out of it,
 * and the rest stays. */
typedef struct scrutinee {
    lower_place *place; /* NULL: nothing has */
    bool is_value;      /* nothing else names it: it lives to the end of the statement */
} scrutinee;

static scrutinee scrutinee_of(lower_fn *fn, const expr *e, const type *t, bool has_parts, ir_value *values) {
    scrutinee s = {0};
    bool drops = fn->owns && lower_drops(fn->l, t);
    if (drops && lower_is_place(e) && !lower_marked(fn, e->span, MARK_TAKEN)) {
        s.place = lower_place_of(fn, e);
        memset(values, 0, lower_leaf_count(fn->l, t) * sizeof *values);
        if (s.place)
            lower_place_read(fn, s.place, values);
        return s;
    }
    lower_expr_as(fn, e, t, values);
    s.is_value = true;
    if (drops && has_parts && lower_open(fn))
        s.place = lower_temporary(fn, t, values, e->span);
    return s;
}

/* let [a, b] = v; where the parts move out of v. */
static bool takes_part(const lower_fn *fn, const stmt *s) {
    const expr *e = s->value;
    return s->is_part && fn->owns && s->pattern->kind == PATTERN_NAME && lower_drops(fn->l, s->pattern->type) &&
           lower_marked(fn, s->pattern->binding->span, MARK_TAKEN) && e->kind == EXPR_INDEX &&
           e->index.base->kind == EXPR_NAME && e->index.base->name.binding && !e->index.base->name.binding->in_cell;
}

static void lower_part(lower_fn *fn, const stmt *s, ir_value *values) {
    const binding *list = s->value->index.base->name.binding;
    if (s->is_tried)
        lower_refuse_part(fn, s->span);
    ir_value at = lower_scalar(fn, s->value->index.indices[0]);
    lower_vec_take(fn, fn->variables[list->id], at, list->type->vec.element, values, s->span);
    if (lower_open(fn))
        lower_pattern_bind(fn, s->pattern, values);
}

static void lower_let(lower_fn *fn, const stmt *s, bool is_step) {
    const type *t = s->pattern->type;
    ir_value *values = lower_room(fn, lower_leaf_count(fn->l, t));
    if (!values || !s->value)
        return;
    if (takes_part(fn, s)) {
        lower_part(fn, s, values);
        return;
    }
    uint32_t mark = fn->kept_count;
    if (s->is_base && fn->owns && lower_drops(fn->l, t) && lower_is_place(s->value))
        lower_refuse_update(fn, s->value->span);
    scrutinee from = scrutinee_of(fn, s->value, t, s->pattern->kind != PATTERN_NAME, values);
    if (s->otherwise && lower_open(fn))
        lower_otherwise(fn, s, values);
    uint32_t end = fn->kept_count;
    if (lower_open(fn))
        lower_pattern_bind(fn, s->pattern, values);
    if (from.place && lower_open(fn))
        lower_clear_bound(fn, from.place, s->pattern, from.is_value);
    if (!is_step)
        lower_end_temporaries(fn, mark, end, s->span);
}

void lower_opening(lower_fn *fn, const stmt *s) {
    lower_let(fn, s, false);
}

static void lower_stmt(lower_fn *fn, const stmt *s, bool is_step) {
    if (s->kind == STMT_LET) {
        lower_let(fn, s, is_step);
        return;
    }
    uint32_t mark = fn->kept_count;
    lower_effect(fn, s->value);
    if (!is_step)
        lower_end_temporaries(fn, mark, fn->kept_count, s->span);
}

/* Values that the steps of an expression look at outlive the block: it ends with the statement that the expression is
 * of. */
static void lower_block_at(lower_fn *fn, const block *b, bool is_within, const type *wanted, ir_value *out) {
    uint32_t mark = lower_scope_open(fn);
    if (fn->l->tree->has_scoped_calls)
        lower_arena_open(fn, b);
    for (const stmt *s = b->first; s && lower_open(fn); s = s->next)
        if (!s->is_opening || !fn->item || b != fn->item->body) /* of what is written out in another function: here */
            lower_stmt(fn, s, is_within && s->is_made);
    memset(out, 0, lower_leaf_count(fn->l, wanted) * sizeof *out);
    uint32_t names = fn->kept_count;
    if (b->result)
        lower_expr(fn, b->result, out);
    source_span end = b->span;
    if (end.length > 0) {
        end.offset += end.length - 1;
        end.length = 1;
    }
    lower_end_names(fn, mark, names, end); /* what the result looks at outlives the names */
    fn->scope_depth--;
}

void lower_block_as(lower_fn *fn, const block *b, const type *wanted, ir_value *out) {
    lower_block_at(fn, b, false, wanted, out);
}

void lower_block_within(lower_fn *fn, const block *b, const type *wanted, ir_value *out) {
    lower_block_at(fn, b, true, wanted, out);
}

/* ---- if ---------------------------------------------------------------------------------------------------------- */

void lower_if(lower_fn *fn, const expr *e, ir_value *out) {
    ir_block *yes = lower_block_new(fn), *no = lower_block_new(fn);
    meeting m = meeting_new(fn, e->type, e->span);
    ir_value *values = lower_room(fn, m.count);
    if (!values)
        return;
    uint32_t mark = fn->kept_count;
    lower_condition(fn, e->branch.condition, yes, no);
    lower_enter_block(fn, yes);
    lower_block_as(fn, e->branch.then, e->type, values);
    lower_end_temporaries(fn, mark, fn->kept_count, e->span);
    arrive(fn, &m, values);
    lower_enter_block(fn, no);
    if (e->branch.otherwise)
        lower_expr_as(fn, e->branch.otherwise, e->type, values);
    lower_end_temporaries(fn, mark, fn->kept_count, e->span);
    arrive(fn, &m, values);
    go_on_at(fn, &m, out);
}

void lower_logical(lower_fn *fn, const expr *e, ir_value *out) {
    ir_block *yes = lower_block_new(fn), *no = lower_block_new(fn);
    meeting m = meeting_new(fn, e->type, e->span);
    lower_condition(fn, e, yes, no);
    for (int truth = 1; truth >= 0; truth--) {
        lower_enter_block(fn, truth ? yes : no);
        ir_value v = lower_int(fn, IR_BOOL, truth, e->span);
        arrive(fn, &m, &v);
    }
    go_on_at(fn, &m, out);
}

/* ---- match ------------------------------------------------------------------------------------------------------- */

/* Writes the arm; afterwards the current block is the one that tries the next arm, none after the last. */
static void lower_arm(lower_fn *fn, const match_arm *arm, const scrutinee *from, const ir_value *values,
                      const meeting *m, const type *t, bool last) {
    ir_block *body = lower_block_new(fn), *next = lower_block_new(fn);
    ir_value *results = lower_room(fn, m->count);
    if (!results)
        return;
    ir_value fits = last && !arm->guard ? 0 : lower_pattern_test(fn, arm->pattern, values);
    if (fits)
        lower_branch(fn, fits, body, next, arm->pattern->span);
    else
        lower_jump(fn, body, arm->pattern->span);
    lower_enter_block(fn, body);
    uint32_t mark = lower_scope_open(fn);
    lower_pattern_bind(fn, arm->pattern, values);
    if (arm->guard) {
        ir_block *chosen = lower_block_new(fn), *refused = lower_block_new(fn);
        lower_condition(fn, arm->guard, chosen, refused);
        lower_enter_block(fn, refused);
        lower_keep(fn, mark, arm->guard->span);
        lower_jump(fn, next, arm->guard->span);
        lower_enter_block(fn, chosen);
    }
    if (from->place && lower_open(fn))
        lower_clear_bound(fn, from->place, arm->pattern, from->is_value);
    lower_expr_as(fn, arm->body, t, results);
    lower_scope_close(fn, mark, arm->body->span);
    arrive(fn, m, results);
    lower_enter_block(fn, next);
}

void lower_match(lower_fn *fn, const expr *e, ir_value *out) {
    ir_value *values = lower_room(fn, lower_leaf_count(fn->l, e->match.value->type));
    if (!values)
        return;
    scrutinee from = scrutinee_of(fn, e->match.value, e->match.value->type, true, values);
    meeting m = meeting_new(fn, e->type, e->span);
    for (uint32_t i = 0; values && i < e->match.count; i++)
        lower_arm(fn, &e->match.arms[i], &from, values, &m, e->type, i + 1 == e->match.count);
    if (lower_open(fn)) /* after the last arm: one always matches */
        ir_emit(fn->b, IR_UNREACHABLE, NULL, 0, NULL, 0, e->span);
    go_on_at(fn, &m, out);
}

void lower_condition(lower_fn *fn, const expr *e, ir_block *yes, ir_block *no) {
    if (!lower_open(fn))
        return;
    if (e->kind == EXPR_UNARY && e->unary.op == UNARY_NOT) {
        lower_condition(fn, e->unary.operand, no, yes);
        return;
    }
    if (e->kind != EXPR_BINARY || (e->binary.op != BINARY_AND && e->binary.op != BINARY_OR)) {
        uint32_t mark = fn->kept_count;
        ir_value c = lower_scalar(fn, e);
        lower_end_temporaries(fn, mark, fn->kept_count, e->span);
        lower_branch(fn, c, yes, no, e->span);
        return;
    }
    ir_block *second = lower_block_new(fn);
    if (e->binary.op == BINARY_AND)
        lower_condition(fn, e->binary.left, second, no);
    else
        lower_condition(fn, e->binary.left, yes, second);
    lower_enter_block(fn, second);
    lower_condition(fn, e->binary.right, yes, no);
}
