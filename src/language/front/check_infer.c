/* check_infer.c: whether a bracket is a list or a tensor, whether `t[i]` is a number or a row: from all of its uses,
 * before its function is checked.
 *
 *     let a = [1, 2, 3];          a: a list of an open number, or a tensor
 *     let n = a.len();            both have a length
 *     f(&a[1..]);                 fn f(v: &[i32]): a list, and the number an i32
 *     let b = a * 2;              a tensor, had nothing said list: only tensors are multiplied
 *
 * One walk over the body gives every expression a type, with variables (check_infer_type.c) where it has none of its
 * own; what is stored, handed on, returned, compared or lies side by side unifies, in any order. A method, a field, an
 * operator of what is still open waits until it is known. What demands a list: a parameter, field, result or annotation
 * that is one. What demands a tensor: such a place of type Tensor, arithmetic, `as`, two indices, a method that only
 * tensors have. Where neither demands, a list is preferred if a method that only lists have is called, `{:?}` shows it,
 * a call on it can only change it (`a.sort();`), or its numbers are of a type that tensors do not keep. What is left is
 * a tensor, as `[1.0, 2.0]` that is only printed.
 *
 * The walk writes its answers into the brackets, indices and pairs (expr.becomes) and leaves no other trace: its
 * messages are taken back, its variables are its own. The check follows the answers where it expects nothing else. So
 * what the walk cannot see through costs an annotation, never a wrong program: a contradiction is the check's to
 * report, with the bracket's place and the use that decided it (check_note_bracket). Cost: O(size of the body).
 */
#include <string.h>

#include "language/front/check_expr.h"
#include "language/front/check_infer.h"
#include "language/front/check_tensor.h"
#include "language/types/check_context.h"
#include "language/types/check_instances.h"
#include "language/types/check_scopes.h"
#include "language/types/check_variants.h"

/* ---- names ------------------------------------------------------------------------------------- */

static const type *type_of_name(inference *n, expr *e) {
    const symbol *s = e->name.scope == NULL ? names_find(n->c->names, e->name.name) : NULL;
    if (s != NULL && s->inferred != NULL)
        return s->inferred;
    if (s != NULL && s->constant != NULL && s->constant->type != NULL)
        return s->constant->type;
    struct_item *of = s != NULL ? s->variant_of : NULL;
    if (e->name.scope != NULL) {
        struct_item *named = check_struct_named(n->c, e->name.scope);
        of = named != NULL && named->is_enum && check_find_variant(named, e->name.name) >= 0 ? named : NULL;
        const type *constant = of == NULL ? check_type_of_constant(n->c, e) : NULL;
        if (constant != NULL)
            return constant;
    }
    return of == NULL || of->type == NULL ? n->any : check_struct_open(n->c, of, NULL, 0)->type;
}

/* ---- patterns ---------------------------------------------------------------------------------- */

static void tuple_pattern(inference *n, const pattern *p, const type *t) {
    const type **parts = CHECK_ARRAY(n->c, const type *, p->part_count + 1);
    for (uint32_t i = 0; i < p->part_count; i++)
        parts[i] = infer_open(n);
    if (!p->rest && p->part_count > 0) {
        infer_same(n, type_tuple(n->c->types, parts, p->part_count), t);
    } else if (t->kind == TYPE_TUPLE && p->part_count <= t->tuple.count) {
        for (uint32_t i = 0; i < p->part_count; i++) {
            bool behind = i >= p->rest_at;
            infer_same(n, parts[i], t->tuple.items[behind ? t->tuple.count - p->part_count + i : i]);
        }
    }
    for (uint32_t i = 0; i < p->part_count; i++)
        infer_pattern(n, p->parts[i], parts[i]);
}

static void variant_pattern(inference *n, const pattern *p, const type *t) {
    checker *c = n->c;
    const symbol *s = p->scope == NULL && p->name != NULL ? names_find(c->names, p->name) : NULL;
    struct_item *of = p->scope != NULL       ? check_struct_named(c, p->scope)
                      : s == NULL            ? NULL
                      : s->structure != NULL ? s->structure
                                             : s->variant_of;
    uint32_t first = 0, count = of == NULL ? 0 : of->field_count;
    int64_t variant = of != NULL && of->is_enum ? check_find_variant(of, p->name) : -1;
    if (variant >= 0) {
        first = of->variants[variant].first;
        count = of->variants[variant].count;
    }
    bool known = of != NULL && of->type != NULL && (variant >= 0 || !of->is_enum) && !of->is_builtin;
    const struct_item *made = known ? check_struct_open(c, of, NULL, 0) : NULL;
    if (made != NULL && t->kind == TYPE_STRUCT &&
        ((made->template == NULL && t->structure->template == of) || t->structure->refines == made))
        made = t->structure;
    if (made != NULL)
        infer_same(n, made->type, t);
    for (uint32_t i = 0; i < p->part_count; i++) {
        const type *part = n->any;
        for (uint32_t k = 0; made != NULL && k < count; k++) {
            bool meant = p->part_names == NULL ? k == (p->rest && i >= p->rest_at ? count - p->part_count + i : i)
                                               : strcmp(made->fields[first + k].name, p->part_names[i]) == 0;
            part = meant && made->fields[first + k].type != NULL ? made->fields[first + k].type : part;
        }
        infer_pattern(n, p->parts[i], part);
    }
}

static bool names_a_variant(inference *n, const pattern *p) {
    const symbol *s = p->binding->is_mutable ? NULL : names_find(n->c->names, p->binding->name);
    return s != NULL && s->inferred == NULL && (s->variant_of != NULL || s->constant != NULL) &&
           p->binding->name[0] >= 'A' && p->binding->name[0] <= 'Z';
}

void infer_pattern(inference *n, const pattern *p, const type *t) {
    t = infer_value(n, t);
    bool names = p->kind == PATTERN_NAME || p->kind == PATTERN_BOUND;
    if (names && p->binding == NULL) /* the parser has said why */
        return;
    switch (p->kind) {
    case PATTERN_NAME:
        if (!names_a_variant(n, p))
            infer_name(n, p->binding, t);
        return;
    case PATTERN_TUPLE:
        tuple_pattern(n, p, t);
        return;
    case PATTERN_VARIANT:
        variant_pattern(n, p, t);
        return;
    case PATTERN_BOUND:
        infer_name(n, p->binding, t);
        infer_pattern(n, p->parts[0], t);
        return;
    default:
        return;
    }
}

/* ---- brackets ---------------------------------------------------------------------------------- */

static const type *type_of_bracket(inference *n, expr *e) {
    const type *element = infer_open(n);
    for (uint32_t i = 0; i < e->list.count; i++)
        infer_same(n, element, infer_expr(n, e->list.items[i]));
    if (e->is_vec)
        return type_vec(n->c->types, element);
    open_form *f = infer_form(n, FORM_BRACKET, e);
    f->element = element;
    if (infer_only_lists_hold(infer_value(n, element))) {
        f->because = e->span;
        type_decide(f->open, type_vec(n->c->types, element));
    }
    return f->open;
}

/* ---- statements -------------------------------------------------------------------------------- */

/* let mut s = 0.0: a number, or a tensor where elements of tensors are added to it and their history is wanted. */
static bool begins_a_sum(const stmt *s) {
    return infer_is_bare(s->value) && s->annotation == NULL && s->pattern->kind == PATTERN_NAME &&
           s->pattern->binding != NULL && s->pattern->binding->is_mutable;
}

/* if b { w[0] } else { 0.0 } */
static const type *infer_result(inference *n, expr *e) {
    return infer_is_bare(e) ? infer_sum(n, e) : infer_expr(n, e);
}

/* let (mut a, mut b) = (0.0, 1.0); */
static const type *type_of_sums(inference *n, stmt *s) {
    const type **items = CHECK_ARRAY(n->c, const type *, s->value->list.count + 1);
    for (uint32_t i = 0; i < s->value->list.count; i++) {
        expr *item = s->value->list.items[i];
        const pattern *part = s->pattern->parts[i];
        bool begins = infer_is_bare(item) && part->kind == PATTERN_NAME && part->binding != NULL &&
                      part->binding->is_mutable;
        items[i] = begins ? infer_sum(n, item) : infer_expr(n, item);
    }
    return type_tuple(n->c->types, items, s->value->list.count);
}

static void infer_let(inference *n, stmt *s) {
    const type *written = s->annotation == NULL ? NULL : infer_written(n, s->annotation);
    if (written != NULL && infer_value(n, written)->kind != TYPE_TENSOR)
        written = infer_followed(n, written);
    const type *t;
    bool named = s->pattern->kind == PATTERN_NAME || s->pattern->kind == PATTERN_TUPLE;
    if (s->value != NULL && written == NULL && named && check_has_places(s->value)) {
        infer_expr(n, s->value);
        t = infer_form(n, FORM_PAIR, s->value)->open;
    } else if (begins_a_sum(s)) {
        t = infer_sum(n, s->value);
    } else if (s->value != NULL && s->value->kind == EXPR_TUPLE && s->pattern->kind == PATTERN_TUPLE &&
               !s->pattern->rest && written == NULL && s->pattern->part_count == s->value->list.count &&
               s->value->list.count > 0) {
        t = type_of_sums(n, s);
    } else {
        t = s->value == NULL ? infer_open(n) : infer_expr(n, s->value);
    }
    if (written != NULL) {
        n->at = s->span;
        infer_into(n, t, written, MIXED_BOTH);
        const type *value = infer_value(n, t);
        const open_form *f = infer_form_of(value);
        const bool function = f != NULL && f->kind == FORM_FUNCTION && infer_value(n, written)->kind == TYPE_ERROR;
        t = value->kind == TYPE_NEVER || s->value == NULL ? written
            : function                                    ? value
                                                          : infer_refined(n, infer_value(n, written), value);
    }
    if (s->otherwise != NULL)
        infer_block(n, s->otherwise);
    infer_pattern(n, s->pattern, t);
}

const type *infer_block(inference *n, block *b) {
    if (b == NULL)
        return n->any;
    uint32_t mark = n->name_count;
    bool never = false;
    for (stmt *s = b->first; s != NULL; s = s->next) {
        if (s->kind == STMT_LET) {
            infer_let(n, s);
            continue;
        }
        n->drops = s->value != NULL && s->value->kind == EXPR_METHOD;
        const type *t = s->value == NULL ? NULL : infer_expr(n, s->value);
        never |= t != NULL && type_is(type_resolve(n->c->types, t), TYPE_NEVER);
    }
    const type *t = b->result != NULL ? infer_result(n, b->result) : check_scalar(n->c, never ? TYPE_NEVER : TYPE_VOID);
    infer_close_names(n, mark);
    return t;
}

/* The type that two ways to one value agree on. */
static const type *joined(inference *n, const type *a, const type *b) {
    if (a == NULL || type_is(type_resolve(n->c->types, a), TYPE_NEVER))
        return b;
    infer_same(n, a, b);
    const type *one = infer_value(n, a), *other = infer_value(n, b);
    return one->kind == TYPE_OPEN || other->kind == TYPE_OPEN ? a : infer_met(n, a, b);
}

static const type *type_of_if(inference *n, expr *e) {
    infer_condition(n, e->branch.condition);
    const type *t = infer_block(n, e->branch.then);
    return e->branch.otherwise == NULL ? check_scalar(n->c, TYPE_VOID)
                                       : joined(n, t, infer_expr(n, e->branch.otherwise));
}

static const type *type_of_match(inference *n, expr *e) {
    const type *value = infer_expr(n, e->match.value), *t = NULL;
    for (uint32_t i = 0; i < e->match.count; i++) {
        uint32_t mark = n->name_count;
        infer_pattern(n, e->match.arms[i].pattern, value);
        if (e->match.arms[i].guard != NULL)
            infer_condition(n, e->match.arms[i].guard);
        t = joined(n, t, infer_result(n, e->match.arms[i].body));
        infer_close_names(n, mark);
    }
    return t == NULL ? n->any : t;
}

static const type *type_of_loop(inference *n, expr *e) {
    uint32_t mark = n->name_count;
    inferred_loop l = {.label = e->loop->label, .is_block = e->loop->is_block, .outer = n->loops};
    l.result = e->kind == EXPR_LOOP ? infer_open(n) : n->any;
    if (e->kind == EXPR_WHILE)
        infer_condition(n, e->loop->condition);
    else if (e->kind == EXPR_FOR)
        infer_for_head(n, e);
    n->loops = &l;
    infer_block(n, e->loop->body);
    n->loops = l.outer;
    infer_close_names(n, mark);
    return e->kind == EXPR_LOOP ? l.result : check_scalar(n->c, TYPE_VOID);
}

static const type *type_of_jump(inference *n, expr *e) {
    const type *value = e->jump.value == NULL ? NULL : infer_expr(n, e->jump.value);
    const type *wanted = e->kind == EXPR_RETURN ? n->result : NULL;
    if (e->kind == EXPR_RETURN && n->yields != NULL && value != NULL)
        CHECK_PUSH(n->c, n->yields->types, n->yields->count, n->yields->capacity, value);
    for (const inferred_loop *l = e->kind == EXPR_BREAK ? n->loops : NULL; l != NULL && wanted == NULL; l = l->outer) {
        bool meant = e->jump.label == NULL ? !l->is_block : l->label != NULL && strcmp(l->label, e->jump.label) == 0;
        wanted = meant ? l->result : NULL;
    }
    if (value != NULL && wanted != NULL) {
        n->at = e->span;
        infer_into(n, value, wanted, e->kind == EXPR_RETURN ? n->result_states : 0);
    }
    return check_scalar(n->c, TYPE_NEVER);
}

/* x = value: what follows reads x with what is known of the value, too. */
static void name_holds(inference *n, const expr *target, const type *value) {
    symbol *s = target->kind == EXPR_NAME && target->name.scope == NULL ? names_symbol(n->c->names, target->name.name)
                                                                        : NULL;
    if (s != NULL && s->inferred != NULL)
        s->inferred = infer_refined(n, s->inferred, value);
}

static const type *type_of_assign(inference *n, expr *e) {
    const type *value = infer_value(n, infer_expr(n, e->assign.value)),
               *target = infer_value(n, infer_expr(n, e->assign.target));
    n->at = e->span;
    if (e->assign.op == BINARY_NONE && infer_is_row(target) && target->open.form->is_literal &&
        value->kind == TYPE_TENSOR)
        return check_scalar(n->c, TYPE_VOID); /* a tensor of rank 0 will do where a number is wanted */
    if (e->assign.op == BINARY_NONE) {
        infer_same(n, target, value);
        if (target->kind == TYPE_TENSOR && value->kind == TYPE_TENSOR && target->tensor.rank != value->tensor.rank)
            n->mixes |= MIXED_RANKS;
        name_holds(n, e->assign.target, value);
    } else if (infer_is_arithmetic(e->assign.op)) {
        const type *t = infer_arithmetic(n, e->assign.op, target, value);
        if (t != NULL && (type_is_numeric(t) || (infer_is_row(t) && infer_is_row(target))))
            infer_same(n, target, value);
        else if (t != NULL && t->kind == TYPE_TENSOR && target->kind == TYPE_TENSOR)
            infer_same(n, target, t);
    }
    return check_scalar(n->c, TYPE_VOID);
}

/* ---- the rest of the expressions --------------------------------------------------------------- */

static const type *type_of_closure(inference *n, expr *e) {
    open_form *f = infer_form(n, FORM_FUNCTION, e);
    const inference outer = *n;
    inferred_yields yields = {0};
    const type *written = e->closure.result == NULL ? NULL : infer_written(n, e->closure.result);
    f->count = e->closure.parameter_count;
    f->parameters = CHECK_ARRAY(n->c, const type *, f->count + 1);
    f->result = written == NULL ? infer_open(n) : infer_followed(n, written);
    for (uint32_t i = 0; i < f->count; i++) {
        binding *b = e->closure.parameters[i];
        f->parameters[i] = b->annotation == NULL ? infer_open(n) : infer_followed(n, infer_written(n, b->annotation));
        infer_name(n, b, f->parameters[i]);
    }
    n->result = f->result;
    n->result_states = written == NULL ? 0 : MIXED_RANKS; /* the elements of what is written are followed */
    n->yields = &yields;
    n->loops = NULL;
    const type *last = infer_expr(n, e->closure.body);
    CHECK_PUSH(n->c, yields.types, yields.count, yields.capacity, last);
    infer_into(n, last, f->result, n->result_states);
    if (written != NULL)
        f->result = infer_yielded(n, &yields, f->result);
    n->result = outer.result;
    n->result_states = outer.result_states;
    n->yields = outer.yields;
    n->loops = outer.loops;
    infer_close_names(n, outer.name_count);
    return f->open;
}

static const type *type_of_comprehension(inference *n, expr *e) {
    comprehension_expr *made = e->comprehension;
    uint32_t mark = n->name_count;
    n->comprehensions++;
    for (uint32_t i = 0; i < made->clause_count; i++) {
        comprehension_clause *clause = &made->clauses[i];
        expr *parts[3] = {clause->low, clause->high, clause->condition};
        for (int k = 0; k < 3; k++)
            if (parts[k] != NULL)
                infer_expr(n, parts[k]);
        if (clause->index != NULL)
            infer_name(n, clause->index, check_scalar(n->c, TYPE_I64));
    }
    const type *element = made->body == NULL ? n->any : infer_expr(n, made->body);
    n->comprehensions--;
    infer_close_names(n, mark);
    if (made->einstein || made->output_count != 1)
        return type_tensor(n->c->types, NULL, made->einstein ? -1 : (int32_t)made->output_count);
    open_form *f = infer_form(n, FORM_BRACKET, e); /* a tensor, unless something demands a list */
    f->element = element;
    return f->open;
}

static const type *type_of_tuple(inference *n, expr *e) {
    const type **items = CHECK_ARRAY(n->c, const type *, e->list.count + 1);
    for (uint32_t i = 0; i < e->list.count; i++)
        items[i] = infer_expr(n, e->list.items[i]);
    return e->list.count == 0 ? n->any : type_tuple(n->c->types, items, e->list.count);
}

const type *infer_numbers(inference *n, expr *e) {
    if (e->kind != EXPR_RANGE)
        return infer_expr(n, e);
    const type *low = e->range.low == NULL ? infer_open(n) : infer_expr(n, e->range.low);
    if (e->range.high != NULL)
        infer_same(n, low, infer_expr(n, e->range.high));
    return type_vec(n->c->types, low);
}

/* NULL: the base has to be known first. */
static const type *type_of_field(inference *n, const expr *e, const type *base) {
    const open_form *f = infer_form_of(base);
    if (e->kind == EXPR_TUPLE_FIELD && f != NULL && f->kind == FORM_PAIR && e->field.index < 2) {
        const type *both[2] = {infer_any_tensor(n), infer_any_tensor(n)};
        infer_same(n, base, type_tuple(n->c->types, both, 2));
        return both[0];
    }
    if (base->kind == TYPE_TUPLE && e->kind == EXPR_TUPLE_FIELD)
        return e->field.index < base->tuple.count ? base->tuple.items[e->field.index] : n->any;
    const struct_item *s = base->kind == TYPE_STRUCT ? base->structure : NULL;
    for (uint32_t i = 0; s != NULL && i < s->field_count; i++) {
        bool meant = e->kind == EXPR_TUPLE_FIELD ? s->positional && i == e->field.index
                                                 : strcmp(s->fields[i].name, e->field.name) == 0;
        if (meant && s->fields[i].type != NULL)
            return s->fields[i].type;
    }
    const type *led = s != NULL ? infer_led(n, base) : NULL;
    return led != NULL ? type_of_field(n, e, led) : base->kind == TYPE_OPEN ? NULL : n->any;
}

static const type *field_or_wait(inference *n, expr *e) {
    const type *base = infer_value(n, infer_expr(n, e->field.base));
    const type *t = type_of_field(n, e, base);
    if (t == NULL) {
        t = infer_open(n);
        infer_wait(n, (waiting){.e = e, .operand = base, .result = t});
    }
    return t;
}

static const type *type_of_try(inference *n, expr *e) {
    const type *t = infer_value(n, infer_expr(n, e->attempt.operand));
    return t->kind == TYPE_STRUCT && t->structure->template != NULL ? t->structure->arguments[0] : n->any;
}

/* [x; n]: a list, unless something demands a tensor. */
static const type *type_of_repeat(inference *n, expr *e) {
    infer_expr(n, e->repeat.count);
    const type *element = infer_expr(n, e->repeat.value);
    if (e->is_vec || infer_only_lists_hold(infer_value(n, element)))
        return type_vec(n->c->types, element);
    open_form *f = infer_form(n, FORM_BRACKET, e);
    f->element = element;
    f->prefers_list = true;
    return f->open;
}

static const type *type_of(inference *n, expr *e) {
    checker *c = n->c;
    bool dropped = n->drops;
    n->drops = false;
    if (e->type != NULL && e->type->kind != TYPE_VOID) /* the parser's, or of a constant that was looked at */
        return e->type;
    switch (e->kind) {
    case EXPR_INT:
    case EXPR_FLOAT:
        return infer_number(n, e);
    case EXPR_BOOL:
        return check_scalar(c, TYPE_BOOL);
    case EXPR_CHAR:
        return check_scalar(c, TYPE_CHAR);
    case EXPR_STRING:
        return check_scalar(c, TYPE_STRING);
    case EXPR_NAME:
        return type_of_name(n, e);
    case EXPR_UNARY:
        return infer_unary(n, e);
    case EXPR_BINARY:
        return infer_binary(n, e);
    case EXPR_CAST:
        return infer_cast(n, e);
    case EXPR_CALL:
        return infer_call(n, e);
    case EXPR_METHOD:
        n->drops = dropped;
        return infer_method(n, e);
    case EXPR_FIELD:
    case EXPR_TUPLE_FIELD:
        return field_or_wait(n, e);
    case EXPR_INDEX:
        return infer_indexed(n, e);
    case EXPR_STRUCT:
        return infer_struct(n, e);
    case EXPR_TUPLE:
        return type_of_tuple(n, e);
    case EXPR_ARRAY:
        return type_of_bracket(n, e);
    case EXPR_REPEAT:
        return type_of_repeat(n, e);
    case EXPR_COMPREHENSION:
        return type_of_comprehension(n, e);
    case EXPR_RANGE:
        return infer_range(n, e);
    case EXPR_BLOCK:
        return infer_block(n, e->block);
    case EXPR_IF:
        return type_of_if(n, e);
    case EXPR_MATCH:
        return type_of_match(n, e);
    case EXPR_WHILE:
    case EXPR_LOOP:
    case EXPR_FOR:
        return type_of_loop(n, e);
    case EXPR_BREAK:
    case EXPR_CONTINUE:
    case EXPR_RETURN:
        return type_of_jump(n, e);
    case EXPR_ASSIGN:
        return type_of_assign(n, e);
    case EXPR_TRY:
        return type_of_try(n, e);
    case EXPR_CLOSURE:
        return type_of_closure(n, e);
    default:
        return n->any;
    }
}

const type *infer_expr(inference *n, expr *e) {
    if (e == NULL) {
        n->drops = false;
        return n->any;
    }
    const type *t = type_of(n, e);
    if (e->type == NULL)
        infer_holds(n, e, t);
    return t;
}

/* ---- what waited ------------------------------------------------------------------------------- */

static const type *now_known(inference *n, waiting *w) {
    const type *t = infer_value(n, w->operand);
    switch (w->e->kind) {
    case EXPR_METHOD:
        return infer_method_of(n, w->e, t, w->arguments, w->dropped);
    case EXPR_BINARY:
        return infer_arithmetic(n, w->e->binary.op, t, infer_value(n, w->other));
    case EXPR_INDEX:
        return infer_index(n, w->e, t, w->arguments);
    case EXPR_FOR:
        return infer_item_of(n, t);
    default:
        return type_of_field(n, w->e, t);
    }
}

void infer_answer_waiting(inference *n) {
    uint32_t from = 0;
    for (bool more = true; more;) {
        more = false;
        for (uint32_t i = from; i < n->queue_count; i++) {
            waiting w = n->queue[i];
            n->at = w.e->span;
            const type *t = w.done ? NULL : now_known(n, &w);
            if (t != NULL) {
                n->queue[i].done = more = true;
                infer_same(n, w.result, t);
            }
            from += i == from && n->queue[i].done;
        }
    }
}
