/* check_place.c: assignments, as what they are: of a name, a part, an element, what a call yields. check_writes.c
 * decides which of them may be assigned to.
 */
#include "language/front/check_place.h"
#include "language/front/check_convert.h"
#include "language/front/check_expr.h"
#include "language/front/check_part.h"
#include "language/front/check_tensor.h"
#include "language/types/check_context.h"
#include "language/types/check_instances.h"
#include "language/types/check_operation.h"
#include "language/types/check_scopes.h"
#include "language/types/check_written.h"
#include "language/types/hints.h"

/* ---- op= ------------------------------------------------------------------------------------- */

/* Puts `let <index> = e;` into the block and the name where e stood. */
static void hoist(block_builder *b, expr **slot, uint32_t number) {
    char *name = check_printf(b->c, "<index %u>", number);
    const source_span span = (*slot)->span;
    build_let(b, name, false, *slot);
    b->last->span = b->last->pattern->span = b->last->pattern->binding->span = span;
    *slot = check_new_name(b->c, span, name);
}

static bool place_form(const expr *e) {
    while (e->kind == EXPR_FIELD || e->kind == EXPR_TUPLE_FIELD || e->kind == EXPR_INDEX)
        e = e->kind == EXPR_INDEX ? e->index.base : e->field.base;
    return e->kind == EXPR_NAME;
}

/* Indices with effects are bound first, so that the place can be written twice. Innermost first, as
 * they are evaluated. */
static void hoist_indices(block_builder *b, expr *place, uint32_t *number) {
    if (place->kind == EXPR_FIELD || place->kind == EXPR_TUPLE_FIELD) {
        hoist_indices(b, place->field.base, number);
    } else if (place->kind == EXPR_INDEX) {
        hoist_indices(b, place->index.base, number);
        for (uint32_t i = 0; i < place->index.count; i++)
            if (!check_is_harmless(place->index.indices[i], 0) && place->index.indices[i]->kind != EXPR_RANGE)
                hoist(b, &place->index.indices[i], (*number)++);
    }
}

static bool has_range_index(const expr *e) {
    for (; e->kind == EXPR_FIELD || e->kind == EXPR_TUPLE_FIELD || e->kind == EXPR_INDEX;
         e = e->kind == EXPR_INDEX ? e->index.base : e->field.base) {
        for (uint32_t i = 0; e->kind == EXPR_INDEX && i < e->index.count; i++)
            if (e->index.indices[i]->kind == EXPR_RANGE)
                return true;
    }
    return false;
}

/* a op= b becomes a = a op b, in a block with the hoisted indices where there are some. */
static void write_out(checker *c, expr **slot) {
    expr *e = *slot;
    block_builder b = build_block(c, e->span);
    uint32_t number = 0;
    hoist_indices(&b, e->assign.target, &number);
    expr *operation = check_new(c, EXPR_BINARY, source_span_join(e->assign.target->span, e->assign.value->span), NULL);
    operation->binary.op = e->assign.op;
    operation->binary.op_span = e->assign.op_span;
    operation->binary.left = check_copy_place(c, e->assign.target);
    operation->binary.left->is_updated = operation->binary.is_update = true;
    operation->binary.right = e->assign.value;
    e->assign.value = operation;
    e->assign.op = BINARY_NONE;
    if (b.last == NULL)
        return;
    build_stmt(&b, e);
    *slot = build_finish(&b, NULL);
}

/* ---- = --------------------------------------------------------------------------------------- */

static void report_no_place(checker *c, const expr *target) {
    if (target->kind == EXPR_NAME && target->name.constant != NULL) {
        diagnostic *d = diagnostics_say(c->diagnostics, target->span, SAY(is_constant), target->name.name);
        diagnostics_note(c->diagnostics, d, target->name.constant->span, "it is declared here");
    } else {
        diagnostics_say(c->diagnostics, target->span, SAY(only_variables_fields_and_elements_can));
    }
}

/* An element of a tensor takes any number, as the tensor's own type. */
static bool assign_element(checker *c, expr *e) {
    expr *target = e->assign.target;
    bool element = target->kind == EXPR_INDEX && target->index.base->type->kind == TYPE_TENSOR;
    if (!element || !type_is_float(target->type) || !type_is_float(e->assign.value->type))
        return false;
    check_unstated_stored(c, target, e->assign.value);
    if (type_resolve(c->types, target->type)->kind == TYPE_F64)
        check_widen_to(c, &e->assign.value, target->type);
    else
        check_cast_to(c, &e->assign.value, target->type);
    return true;
}

static bool has_field(const expr *place) {
    while (place->kind == EXPR_INDEX || place->kind == EXPR_TUPLE_FIELD)
        place = place->kind == EXPR_INDEX ? place->index.base : place->field.base;
    return place->kind == EXPR_FIELD;
}

/* x = 5 as in languages that do not declare: said once, and the name is known from here on. */
static bool declares(checker *c, expr *e) {
    expr *target = e->assign.target;
    if (target->kind != EXPR_NAME || target->name.scope != NULL || e->assign.op != BINARY_NONE ||
        target->name.name[0] == '<' || c->function == NULL || c->function->is_closure)
        return false;
    names_settle(c->names, &target->name);
    const symbol *s = check_find(c, target->name.name);
    if (s != NULL && (s->binding != NULL || s->constant != NULL || s->function != NULL || s->structure != NULL ||
                      s->variant_of != NULL || s->refused))
        return false;
    check_expr(c, &e->assign.value, NULL);
    target->type = check_scalar(c, TYPE_ERROR);
    diagnostic *d = diagnostics_say(c->diagnostics, target->span, SAY(there_is_no_variable), target->name.name);
    suggestion near = check_suggest(d, target->name.name);
    names_suggest_visible(c->names, &near);
    if (!hint_for_variable(c, d, target->name.name)) {
        check_suggest_note(c, d, &near);
        diagnostics_note(c->diagnostics, d, (source_span){0}, "a variable begins with `let %s = …`", target->name.name);
    }
    binding *b = CHECK_ARRAY(c, binding, 1);
    *b = (binding){.name = target->name.name, .span = target->span, .kind = BINDING_LET, .is_mutable = true};
    b->is_read = true;
    const type *t = type_resolve(c->types, e->assign.value->type);
    check_declare(c, b, t->kind == TYPE_VOID ? check_scalar(c, TYPE_ERROR) : t);
    e->type = check_scalar(c, TYPE_VOID);
    return true;
}

/* a = a + b that a += b is written out as. */
static bool is_update(const expr *value) {
    return value->kind == EXPR_BINARY && value->binary.left->is_updated;
}

/* A variable, field or element, not written `*r`: where it holds a reference, another reference is wanted. */
static bool names_holder(checker *c, const expr *e) {
    const expr *target = e->assign.target;
    if (target->kind == EXPR_FIELD || target->kind == EXPR_TUPLE_FIELD || target->kind == EXPR_INDEX)
        return target->type == NULL && !target->is_followed && !is_update(e->assign.value);
    const symbol *s = target->kind == EXPR_NAME && target->name.scope == NULL ? check_find(c, target->name.name) : NULL;
    const binding *b = s == NULL ? NULL : s->binding;
    return b != NULL && b->alias == NULL && b->type != NULL && !target->is_followed &&
           type_is_reference(type_resolve(c->types, b->type));
}

/* `*x` of a variable that is not a reference and not a name for a place: `*x = …` would write to a copy. */
static bool follows_nothing(checker *c, const expr *e) {
    const symbol *s = e->kind == EXPR_NAME && e->name.scope == NULL && e->type == NULL && e->is_followed
                          ? check_find(c, e->name.name)
                          : NULL;
    const binding *b = s == NULL ? NULL : s->binding;
    const type *t = b == NULL || b->type == NULL ? NULL : type_resolve(c->types, b->type);
    return t != NULL && b->alias == NULL && b->kind != BINDING_SELF && !b->is_lent && !b->in_cell &&
           !check_comes_back(b) && !type_is_reference(t) && !type_is_box(t) && b->name[0] != '<';
}

static void report_copy(checker *c, const expr *target) {
    diagnostic *d = diagnostics_say(c->diagnostics, target->span, SAY(value_is_not_a_reference), target->name.name);
    diagnostics_note(c->diagnostics, d, (source_span){0},
                     "a place is referred to by `&mut place`, `iter_mut()`, `get_mut(…)`, `ref mut`; "
                     "a variable itself is written without `*`");
}

/* A reference to a reference leads to the same place: what lies between is not there to be replaced. */
static bool report_reference(checker *c, source_span value, const type *t) {
    if (value.file == c->tree->prelude)
        return false;
    diagnostic *d = diagnostics_say(c->diagnostics, value, SAY(expected_found), check_type_text(c, t),
                                    check_type_text(c, type_reference(c->types, t, false)));
    diagnostics_note(c->diagnostics, d, (source_span){0}, "a `*` in front reads what it refers to");
    diagnostics_note(c->diagnostics, d, (source_span){0},
                     "a variable, field or element of a `Vec` that holds a reference gets another one without `*`");
    return true;
}

/* `*slot = …` of `slot: &mut &mut T`. */
static bool replaces_between(const checker *c, const expr *target) {
    const symbol *s = target->kind == EXPR_NAME && target->name.scope == NULL && target->is_followed &&
                              target->stars == 1
                          ? check_find(c, target->name.name)
                          : NULL;
    return s != NULL && s->binding != NULL && s->binding->annotation != NULL && s->binding->annotation->leads_twice;
}

static bool is_lent(const expr *value) { /* `&mut x`, not looked at yet */
    return value->kind == EXPR_UNARY && value->unary.op == UNARY_REFERENCE && value->unary.is_mutable &&
           value->type == NULL;
}

static void assign(checker *c, expr *e) {
    if (declares(c, e))
        return;
    c->around->index_goes_on = e->assign.target->kind == EXPR_INDEX;
    if (names_holder(c, e)) /* r = &mut other, list[i] = r */
        e->assign.target->is_kept = true;
    const bool copy = follows_nothing(c, e->assign.target), replaces = replaces_between(c, e->assign.target);
    check_expr(c, &e->assign.target, NULL);
    c->around->index_goes_on = false;
    expr *target = e->assign.target;
    if (check_is_unstated(c, target)) /* what is stored is rounded to what the tensor holds, not before */
        target->type = check_scalar(c, TYPE_F64);
    if (copy && !type_is_silent(target->type) && !type_is_box(type_resolve(c->types, target->type)))
        report_copy(c, target);
    const type *t = type_resolve(c->types, target->type);
    check_written_value(c, &e->assign.value);
    const expr *const written = e->assign.value;
    const bool lends = is_lent(written) || replaces;
    const expr *number = e->assign.value->kind == EXPR_UNARY ? e->assign.value->unary.operand : e->assign.value;
    check_expr(c, &e->assign.value, number->kind == EXPR_INT && check_is_unstated(c, target) ? NULL : t);
    if (check_stores_unstated(c, target, e->assign.value))
        t = target->type;
    e->type = check_scalar(c, TYPE_VOID);
    if (type_is_silent(t) && (t->kind != TYPE_NEVER || check_is_place(target)))
        return;
    if (!check_is_place(target)) { /* also `return = x`: nothing is ever assigned */
        report_no_place(c, target);
        return;
    }
    if (!check_write(c, target, target->span, has_field(target) ? WRITE_FIELD : WRITE_ASSIGN))
        return;
    const binding *root = check_root(target);
    coerce_reason why = {root == NULL ? target->span : root->span, "it is declared here"};
    if (target->kind != EXPR_NAME && type_is_reference(t))
        why = (coerce_reason){target->span, "this holds a reference: a `*` in front writes to the place it refers to"};
    if (!type_is_reference(t) && (lends || (!written->is_followed && check_follows(e->assign.value, written))) &&
        report_reference(c, written->span, t))
        return;
    const type *given = type_resolve(c->types, e->assign.value->type);
    if (type_is_open_number(t) && given->kind == TYPE_TENSOR && given->tensor.rank == 0 &&
        given->tensor.element != NULL) {
        check_unify_numbers(c, t, type_resolve(c->types, given->tensor.element));
        t = type_resolve(c->types, t);
    }
    if (!check_put_element(c, e) && !assign_element(c, e))
        check_coerce_branch(c, &e->assign.value, t, target->kind == EXPR_NAME || type_is_reference(t) ? &why : NULL);
}

static bool is_nothing(const expr *target) { /* `_` */
    return target->kind == EXPR_NAME && target->name.scope == NULL && target->name.name[0] == '_' &&
           target->name.name[1] == '\0';
}

/* (a, b) = v is { let (<0>, <1>) = v; a = <0>; b = <1>; } */
static void assign_parts(block_builder *b, checker *c, expr *target, pattern *p, uint32_t *count) {
    p->span = target->span;
    if (target->kind == EXPR_TUPLE) {
        p->kind = PATTERN_TUPLE;
        p->part_count = target->list.count;
        p->parts = CHECK_ARRAY(c, pattern *, p->part_count + 1);
        for (uint32_t i = 0; i < p->part_count; i++) {
            p->parts[i] = CHECK_ARRAY(c, pattern, 1);
            assign_parts(b, c, target->list.items[i], p->parts[i], count);
        }
        return;
    }
    if (is_nothing(target)) {
        p->kind = PATTERN_WILDCARD;
        return;
    }
    p->kind = PATTERN_NAME;
    p->binding = CHECK_ARRAY(c, binding, 1);
    char *name = check_printf(c, "<part %u>", (*count)++);
    *p->binding = (binding){.name = name, .span = target->span, .kind = BINDING_LET};
    for (uint32_t i = 0; target->kind == EXPR_ARRAY && i < target->list.count; i++) { /* [a, b] = v */
        expr *item = build_index(c, target->span, check_new_name(c, target->span, name),
                                 check_new_int(c, target->span, i));
        if (!is_nothing(target->list.items[i]))
            build_stmt(b, build_assign(c, target->span, target->list.items[i], item));
    }
    if (target->kind != EXPR_ARRAY)
        build_stmt(b, build_assign(c, target->span, target, check_new_name(c, target->span, name)));
}

static void assign_tuple(checker *c, expr **slot) {
    expr *e = *slot;
    block_builder b = build_block(c, e->span);
    stmt *s = CHECK_ARRAY(c, stmt, 1);
    uint32_t count = 0;
    *s = (stmt){.kind = STMT_LET, .span = e->span, .value = e->assign.value};
    s->value->is_vec |= e->assign.target->kind == EXPR_ARRAY && s->value->kind == EXPR_ARRAY;
    s->pattern = CHECK_ARRAY(c, pattern, 1);
    assign_parts(&b, c, e->assign.target, s->pattern, &count);
    s->next = b.block->first;
    b.block->first = s;
    *slot = build_finish(&b, NULL);
    check_expr(c, slot, check_scalar(c, TYPE_VOID));
}

/* Whether an impl of the program has a method of that name: only then may `a += b` be one. */
static bool some_type_has(const checker *c, const char *name) {
    for (uint32_t i = 0; i < c->tree->function_count; i++) {
        const function_item *f = c->tree->functions[i];
        if (f->has_self && f->span.file != c->tree->prelude && strcmp(f->name, name) == 0)
            return true;
    }
    return false;
}

/* a += b is a.add_assign(b) where a's type has such a method, wherever a lies: v[i] += b, *x += b,
 * m.entry(k).or_default() += b. */
static bool assign_by_method(checker *c, expr **slot) {
    expr *e = *slot;
    const char *name = e->assign.op == BINARY_NONE ? NULL : check_assigning_method(c, e->assign.op);
    if (name == NULL || !place_form(e->assign.target) || !some_type_has(c, name))
        return false;
    expr *target = check_copy_place(c, e->assign.target);
    check_expr(c, &target, NULL);
    const type *t = type_resolve(c->types, target->type);
    if (t->kind == TYPE_OPEN) { /* nothing said yet what it is: what is added to it */
        check_expr(c, &e->assign.value, NULL);
        const type *given = type_resolve(c->types, e->assign.value->type);
        if (given->kind == TYPE_STRUCT && check_method_named(c, given->structure, name) != NULL)
            check_fits(c, t, given);
        t = type_resolve(c->types, t);
    }
    if (t->kind != TYPE_STRUCT || check_method_named(c, t->structure, name) == NULL)
        return false;
    *slot = build_method(c, e->span, e->assign.target, name, &e->assign.value, 1);
    check_expr(c, slot, check_scalar(c, TYPE_VOID));
    return true;
}

/* A call in the target yields the place: { let <at> = …; place = v } */
typedef struct running {
    const checker *c;
    bool own, any; /* a function of the program, one of the library that makes a place, a block */
} running;

static void find_call(expr *e, void *context) {
    running *r = context;
    const bool call = e->kind == EXPR_CALL && e->type == NULL, method = e->kind == EXPR_METHOD && e->type == NULL;
    const expr *callee = call ? e->call.callee : NULL;
    const symbol *s = callee != NULL && callee->kind == EXPR_NAME ? check_find(r->c, callee->name.name) : NULL;
    r->own |= (s != NULL && s->function != NULL && s->function->span.file != r->c->tree->prelude) ||
              (method && (some_type_has(r->c, e->call.name) || library_says(LIBRARY_makes_place, e->call.name))) ||
              e->kind == EXPR_BLOCK;
    r->any |= call || method || e->kind == EXPR_BLOCK;
    if (e->kind != EXPR_CLOSURE)
        expr_each_child(e, find_call, context);
}

/* v[f()] = g(): what the value says runs before what the place needs; its type is known behind the place. */
static void hold_value_before(checker *c, expr *e, block_builder *b) {
    block_builder first = build_block(c, e->span);
    e->assign.value = check_hold(&first, e->assign.value, "value");
    first.last->next = b->block->first;
    b->block->first = first.block->first;
}

static bool assign_to_found(checker *c, expr **slot) {
    block_builder b;
    expr *e = *slot, *written = e->assign.target;
    const bool holds = e->assign.op == BINARY_NONE && names_holder(c, e);
    uint32_t mark = check_scope_open(c);
    if (!check_freeze_target(c, &b, &e->assign.target))
        return false;
    if (holds && check_follows(e->assign.target, written))
        e->assign.target = written;
    running of_value = {c, false, false};
    find_call(e->assign.value, &of_value);
    const bool first = of_value.any && b.block->first != NULL && e->assign.op == BINARY_NONE;
    if (e->assign.op == BINARY_NONE || !assign_by_method(c, &e)) {
        if (e->assign.op != BINARY_NONE)
            write_out(c, &e);
        if (e->kind == EXPR_ASSIGN)
            assign(c, e);
        else /* an index that is refused was not held */
            check_expr(c, &e, NULL);
    }
    if (first && e->kind == EXPR_ASSIGN && !type_is_silent(check_type_of(c, e->assign.value)))
        hold_value_before(c, e, &b);
    check_scope_close(c, mark);
    *slot = build_checked(&b, e);
    return true;
}

/* f(x).n = 1, += 1 where f yields a reference: { let <found> = f(x); <found>.n = 1 } */
static bool update_found(checker *c, expr **slot) {
    expr *e = *slot, **root = &e->assign.target;
    while ((*root)->kind == EXPR_FIELD || (*root)->kind == EXPR_TUPLE_FIELD || (*root)->kind == EXPR_INDEX)
        root = (*root)->kind == EXPR_INDEX ? &(*root)->index.base : &(*root)->field.base;
    if ((*root)->type != NULL || ((*root)->kind != EXPR_METHOD && (*root)->kind != EXPR_CALL))
        return false;
    uint32_t mark = check_scope_open(c);
    block_builder b = build_block(c, e->span);
    char *name = check_printf(c, "<found %u>", c->text_count++);
    const source_span span = (*root)->span;
    (*root)->is_followed = false;
    build_let(&b, name, false, *root);
    const binding *found = b.last->pattern->binding;
    check_let(c, b.last);
    while (b.last->next != NULL)
        b.last = b.last->next;
    c->places->checked_up_to = NULL;
    *root = check_new_name(c, span, name);
    (*root)->is_followed = true;
    if (found->alias == NULL && !type_is_silent(found->type) && !type_is_reference(type_resolve(c->types, found->type)))
        report_no_place(c, e->assign.target);
    else
        check_assign(c, &e);
    check_scope_close(c, mark);
    e->type = check_scalar(c, TYPE_VOID);
    *slot = build_checked(&b, e);
    return true;
}

/* f(x).n = g(): { let <value> = g(); f(x).n = <value> }. The value is there before its place is looked for. */
static bool value_first(checker *c, expr **slot) {
    expr *e = *slot;
    running of_target = {c, false, false}, of_value = {c, false, false};
    expr *root = e->assign.target; /* where nothing is read, its indices are computed behind the value anyway */
    while (e->assign.op == BINARY_NONE &&
           (root->kind == EXPR_FIELD || root->kind == EXPR_TUPLE_FIELD || root->kind == EXPR_INDEX))
        root = root->kind == EXPR_INDEX ? root->index.base : root->field.base;
    find_call(root, &of_target);
    if (!of_target.own)
        return false;
    find_call(e->assign.value, &of_value);
    const char *method = e->assign.op == BINARY_NONE ? NULL : check_assigning_method(c, e->assign.op);
    if (!of_value.any || (method != NULL && some_type_has(c, method)))
        return false;
    expr *value = e->assign.value;
    e->assign.value = check_new_name(c, value->span, "<value>");
    *slot = BUILD_QUOTE(c, e->span, "{ let $$value = $0; $1; }", value, e);
    check_expr(c, slot, check_scalar(c, TYPE_VOID));
    return true;
}

void check_assign(checker *c, expr **slot) {
    expr *e = *slot;
    if (check_part_is_written(c, e->assign.target)) {
        check_expr(c, &e->assign.value, NULL);
        check_make_error(c, e);
        return;
    }
    if (value_first(c, slot))
        return;
    if (assign_to_found(c, slot))
        return;
    bool updates = e->assign.op != BINARY_NONE;
    if (updates && assign_by_method(c, slot))
        return;
    const bool parts = e->assign.target->kind == EXPR_TUPLE || e->assign.target->kind == EXPR_ARRAY;
    if (parts && e->assign.op == BINARY_NONE) {
        assign_tuple(c, slot);
        return;
    }
    if (updates && place_form(e->assign.target)) {
        write_out(c, slot);
        if (*slot != e) {
            check_expr(c, slot, check_scalar(c, TYPE_VOID));
            return;
        }
    }
    if (update_found(c, slot))
        return;
    e->assign.op = BINARY_NONE;
    if (check_assign_part(c, slot))
        return;
    if (has_range_index(e->assign.target)) {
        diagnostics_say(c->diagnostics, e->assign.target->span, SAY(slice_cannot_be_assigned_to));
        check_expr(c, &e->assign.value, NULL);
        check_make_error(c, e);
        return;
    }
    assign(c, e);
    if (e->kind == EXPR_ASSIGN)
        e->assign.is_step = updates && check_is_step(c, e);
}
