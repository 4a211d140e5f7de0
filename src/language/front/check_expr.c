/* check_expr.c: dispatch, literals, names, fields, struct literals, tuples. */
#include <string.h>

#include "language/front/check_call.h"
#include "language/front/check_closure.h"
#include "language/front/check_convert.h"
#include "language/front/check_dyn.h"
#include "language/front/check_expr.h"
#include "language/front/check_iterator.h"
#include "language/front/check_part.h"
#include "language/front/check_place.h"
#include "language/front/check_tensor.h"
#include "language/front/check_types.h"
#include "language/front/check_variant.h"
#include "language/types/check_context.h"
#include "language/types/check_instances.h"
#include "language/types/check_scopes.h"
#include "language/types/hints.h"

/* ---- names ----------------------------------------------------------------------------------- */

static void unknown_name(checker *c, expr *e) {
    symbol *s = check_find(c, e->name.name);
    if (s != NULL && s->refused)
        return;
    if (s != NULL && (s->function != NULL || s->structure != NULL)) {
        diagnostic *d = diagnostics_say(c->diagnostics, e->span, SAY(item_is_not_value), e->name.name,
                                        s->function != NULL ? "function" : "struct");
        if (s->function == NULL) {
            diagnostics_note(c->diagnostics, d, (source_span){0}, "what belongs to it is reached with `::`: `%s::name`",
                             e->name.name);
        }
        return;
    }
    if (strcmp(e->name.name, "self") == 0) {
        diagnostic *d = diagnostics_say(c->diagnostics, e->span, SAY(there_is_no_self_here));
        diagnostics_note(c->diagnostics, d, (source_span){0},
                         "a method takes it as its first parameter: `fn m(self, …)`");
        return;
    }
    diagnostic *d = diagnostics_say(c->diagnostics, e->span, SAY(there_is_no_variable), e->name.name);
    if (hint_for_variable(c, d, e->name.name))
        return;
    suggestion near = check_suggest(d, e->name.name);
    names_suggest_visible(c->names, &near);
    check_suggest_note(c, d, &near);
}

/* The value of a constant, copied to where it is used. owner: the type that the constant is of, where that is
 * generic. */
static void copy_constant(checker *c, expr **slot, const const_item *item, const type *owner) {
    const type_environment *outer = c->environment;
    type_environment environment = {0};
    const type *t = item->type;
    if (item->impl != NULL && item->impl->generics.count > 0 && owner != NULL) {
        environment = check_impl_environment(c, item->impl, owner);
        c->environment = &environment;
        t = check_type(c, item->annotation);
    } else if (item->impl != NULL) {
        environment.self = check_constant_self(c, item);
        c->environment = &environment;
    }
    source_span span = (*slot)->span;
    *slot = check_copy_tree(c, item->value);
    check_expr(c, slot, t);
    check_coerce_branch(c, slot, t, NULL);
    (*slot)->span = span;
    c->environment = outer;
}

static void check_constant_use(checker *c, expr **slot, const_item *item, const type *owner) {
    expr *e = *slot;
    check_constant_now(c, item, e->span);
    if (item->is_made) {
        diagnostic *d = diagnostics_say(c->diagnostics, e->span, SAY(name_is_made_as_main_begins), item->name);
        diagnostics_note(c->diagnostics, d, item->span,
                         "only what is made of literals is known to all functions: pass this one");
    }
    if (item->is_made || !item->is_composed || item->type == NULL) {
        e->name.constant = item;
        e->type = item->type;
        return;
    }
    copy_constant(c, slot, item, owner);
}

static void check_scoped_name(checker *c, expr **slot, const type *expected) {
    expr *e = *slot;
    check_part_scope(c, &e->name);
    if (check_variant_name(c, e, expected) || check_function_name(c, e))
        return;
    const type *of = e->name.of == NULL ? NULL : type_resolve(c->types, check_type(c, e->name.of));
    const char *scope = e->name.scope = of == NULL ? e->name.scope : check_type_text(c, of);
    struct_item *owner = of == NULL ? check_struct_named(c, scope) : NULL;
    of = owner == NULL && of == NULL ? check_scope_type(c, scope) : of;
    if (owner != NULL)
        of = check_struct_open(c, owner, e->name.arguments, e->name.argument_count)->type;
    symbol *known = check_find(c, check_printf(c, "%s::%s", owner == NULL ? scope : owner->name, e->name.name));
    if (known != NULL && known->constant != NULL && known->constant->type != NULL) {
        check_constant_use(c, slot, check_constant_for(c, known->constant, of), of);
        return;
    }
    const_item *associated = check_associated_constant(c, owner == NULL ? of : check_scope_type(c, scope),
                                                       e->name.name);
    if (associated != NULL) {
        check_constant_use(c, slot, associated, of);
        return;
    }
    if (check_number_function(c, slot))
        return;
    check_make_error(c, e);
    if (check_scalar_constant(c, e, scope, e->name.name, false))
        return;
    symbol *s = check_find(c, scope);
    if ((s != NULL && s->refused) || check_report_variant(c, e))
        return;
    struct_item *structure = check_struct_named(c, scope);
    if (structure != NULL && check_find_method(c, structure, e->name.name) != NULL) {
        diagnostics_say(c->diagnostics, e->span, SAY(is_function_not_value), scope, e->name.name);
        return;
    }
    if (check_report_outside(c, e->span, scope, e->name.name))
        return;
    diagnostics_say(c->diagnostics, e->span, SAY(there_is_no_such_item), scope, e->name.name);
}

const type *check_type_of_constant(checker *c, const expr *e) {
    const char *scope = e->name.scope;
    const type *of = e->name.of == NULL ? NULL : type_resolve(c->types, check_type(c, e->name.of));
    scope = of == NULL ? scope : check_type_text(c, of);
    struct_item *owner = of == NULL ? check_struct_named(c, scope) : NULL;
    of = of == NULL && owner == NULL ? check_scope_type(c, scope) : of;
    const symbol *known = names_find(c->names,
                                     check_printf(c, "%s::%s", owner == NULL ? scope : owner->name, e->name.name));
    if (known != NULL && known->constant != NULL)
        return known->constant->type;
    const const_item *associated = check_associated_constant(c, owner == NULL ? of : check_scope_type(c, scope),
                                                             e->name.name);
    if (associated != NULL)
        return associated->type;
    expr number = *e;
    return check_scalar_constant(c, &number, scope, e->name.name, false) ? number.type : NULL;
}

/* N of `const N: usize` */
static bool number_argument(checker *c, expr *e, const type *expected) {
    const type *t = check_type_argument(c, e->name.name);
    t = t == NULL ? NULL : type_resolve(c->types, t);
    if (t == NULL || !check_is_number_type(t))
        return false;
    e->kind = EXPR_INT;
    e->integer.value = (uint64_t)t->vec.length;
    e->integer.suffix = TYPE_VOID;
    check_int(c, e, expected, false);
    return true;
}

static void check_name(checker *c, expr **slot, const type *expected) {
    expr *e = *slot;
    names_settle(c->names, &e->name);
    const closure_signature *wanted = expected == NULL ? NULL : check_dyn_signature(type_resolve(c->types, expected));
    if (wanted != NULL) /* ("max", std::cmp::max) where a function is wanted */
        check_name_as_closure(c, slot, wanted->count);
    if (*slot != e) {
        check_expr(c, slot, expected);
        return;
    }
    if (e->name.scope != NULL) {
        check_scoped_name(c, slot, expected);
        return;
    }
    symbol *s = check_find(c, e->name.name);
    if (check_made_name(c, slot)) {
        check_expr(c, slot, expected);
        return;
    }
    if (check_wants_reference(c, e, expected) && check_names_place(c, e)) {
        e->is_kept = false;
        check_make_reference(c, slot, expected);
        return;
    }
    if (s != NULL && s->binding != NULL && s->binding->alias != NULL) {
        s->binding->is_read = true;
        *slot = check_alias_copy(c, s->binding->alias);
        check_captured_by_alias(c, *slot);
        return;
    }
    if (s != NULL && s->binding != NULL && s->binding->is_late)
        s->binding->type = type_resolve(c->types, s->binding->type); /* its first value has said it */
    if (s != NULL && s->binding != NULL && c->function != NULL && !check_is_own(c->function, s->binding)) {
        e->name.binding = s->binding;
        check_captured_name(c, slot);
    } else if (s != NULL && s->binding != NULL) {
        e->name.binding = s->binding;
        e->type = s->binding->type;
        check_use_binding(c, s->binding);
    } else if (s != NULL && s->constant != NULL) {
        check_constant_use(c, slot, s->constant, NULL);
    } else if (!check_variant_name(c, e, expected) && !check_function_name(c, e) && !check_unit_struct(c, e) &&
               !number_argument(c, e, expected)) {
        unknown_name(c, e);
        check_make_error(c, e);
    }
}

/* ---- fields ---------------------------------------------------------------------------------- */

static void check_field(checker *c, expr *e) {
    check_expr(c, &e->field.base, NULL);
    const type *base = type_resolve(c->types, e->field.base->type);
    if (base->kind == TYPE_STRUCT && check_find_field(base->structure, e->field.name) < 0 && check_leads(c, base)) {
        e->field.base = check_led(c, e->field.base, false);
        check_field(c, e);
        return;
    }
    check_make_error(c, e);
    if (type_is_silent(base))
        return;
    if (base->kind != TYPE_STRUCT || base->structure->is_enum) {
        diagnostic *d = diagnostics_say(c->diagnostics, e->field.name_span, SAY(has_no_fields),
                                        check_type_text(c, base));
        hint_for_field(c, d, base, e->field.name);
        return;
    }
    int64_t index = check_find_field(base->structure, e->field.name);
    if (index < 0) {
        check_unknown_field(c, e, base->structure);
        return;
    }
    e->field.index = (uint32_t)index;
    e->type = type_resolve(c->types, base->structure->fields[index].type);
}

/* t.0; and p.0 of a struct with fields without names. */
static void check_tuple_field(checker *c, expr *e) {
    check_expr(c, &e->field.base, NULL);
    const type *base = type_resolve(c->types, e->field.base->type);
    bool positional = base->kind == TYPE_STRUCT && base->structure->positional;
    if (!positional && check_leads(c, base)) {
        e->field.base = check_led(c, e->field.base, false);
        check_tuple_field(c, e);
        return;
    }
    check_make_error(c, e);
    if (type_is_silent(base))
        return;
    if (base->kind != TYPE_TUPLE && !positional) {
        diagnostics_say(c->diagnostics, e->field.name_span, SAY(is_not_tuple), check_type_text(c, base));
        return;
    }
    uint32_t count = positional ? base->structure->field_count : base->tuple.count;
    if (e->field.index >= count) {
        diagnostics_say(c->diagnostics, e->field.name_span, SAY(parts_are_counted_from_0), check_type_text(c, base),
                        count, count == 1 ? "part" : "parts");
        return;
    }
    if (positional) {
        e->kind = EXPR_FIELD;
        e->field.name = base->structure->fields[e->field.index].name;
        e->type = base->structure->fields[e->field.index].type;
    } else {
        e->type = base->tuple.items[e->field.index];
    }
}

/* ---- tuples ---------------------------------------------------------------------------------- */

static void check_tuple(checker *c, expr *e, const type *expected) {
    bool wished = expected != NULL && expected->kind == TYPE_TUPLE && expected->tuple.count == e->list.count;
    const type **items = CHECK_ARRAY(c, const type *, e->list.count);
    bool broken = false;
    for (uint32_t i = 0; i < e->list.count; i++) {
        const type *wish = wished ? expected->tuple.items[i] : NULL;
        check_keep_reference(e->list.items[i]);
        check_unit_value(c, &e->list.items[i]);
        check_expr(c, &e->list.items[i], wish);
        if (wish != NULL)
            check_coerce(c, &e->list.items[i], wish, NULL);
        items[i] = e->list.items[i]->type->kind == TYPE_VOID ? check_as_unit(c, &e->list.items[i])
                                                             : e->list.items[i]->type;
        broken |= type_is_silent(items[i]);
    }
    e->type = broken ? check_scalar(c, TYPE_ERROR)
                     : check_bounded(c, type_tuple(c->types, items, e->list.count), e->span);
}

/* ---- dispatch -------------------------------------------------------------------------------- */

static void check_block_expr(checker *c, expr *e, const type *expected) {
    const bool outer = c->around->unrecorded;
    c->around->unrecorded |= e->block->unrecorded;
    check_block(c, e->block, expected);
    c->around->unrecorded = outer;
    e->type = e->block->type;
}

typedef struct arrival {
    checker *c;
    bool broken;
} arrival;

static void demand_arrival(expr *child, void *context) {
    arrival *a = context;
    if (child->type != NULL && child->type->kind == TYPE_NEVER) {
        diagnostics_say(a->c->diagnostics, child->span, SAY(this_never_yields_value));
        a->broken = true;
    }
}

/* f(return), 1 + panic("…"): what is computed from something that never arrives. A statement, a
 * branch, a let or a result may be so. */
static void check_arrivals(checker *c, expr **slot) {
    expr *e = *slot;
    arrival a = {c, false};
    switch (e->kind) {
    case EXPR_ASSIGN:
        if (e->assign.value->type != NULL && e->assign.value->type->kind == TYPE_NEVER)
            *slot = e->assign.value;
        return;
    case EXPR_UNARY:
    case EXPR_BINARY:
    case EXPR_CAST:
    case EXPR_CALL:
    case EXPR_METHOD:
    case EXPR_FIELD:
    case EXPR_TUPLE_FIELD:
    case EXPR_INDEX:
    case EXPR_STRUCT:
    case EXPR_TUPLE:
    case EXPR_ARRAY:
    case EXPR_LIST:
    case EXPR_REPEAT:
        expr_each_child(e, demand_arrival, &a);
        break;
    case EXPR_MATCH:
        demand_arrival(e->match.value, &a);
        break;
    default:
        return;
    }
    if (a.broken)
        check_make_error(c, e);
}

static void check_node(checker *c, expr **slot, const type *expected) {
    expr *e = *slot;
    switch (e->kind) {
    case EXPR_ERROR:
        check_make_error(c, e);
        break;
    case EXPR_INT:
        check_int(c, e, expected, false);
        break;
    case EXPR_FLOAT:
        check_float(c, e, e->becomes != NULL ? e->becomes->tensor.element : expected);
        if (e->becomes != NULL) /* a sum of tensors begins with it */
            check_number_as_tensor(c, slot);
        break;
    case EXPR_BOOL:
        e->type = check_scalar(c, TYPE_BOOL);
        break;
    case EXPR_CHAR:
        e->type = check_scalar(c, TYPE_CHAR);
        break;
    case EXPR_STRING:
        e->type = check_scalar(c, TYPE_STRING);
        break;
    case EXPR_NAME:
        check_name(c, slot, expected);
        break;
    case EXPR_UNARY:
        if (!check_negative_literal(c, e, expected))
            check_unary(c, slot, expected);
        break;
    case EXPR_BINARY:
        check_binary(c, slot, expected);
        break;
    case EXPR_CAST:
        check_cast(c, slot, expected);
        break;
    case EXPR_CALL:
        if (e->call.late != NULL) {
            check_expr(c, &e->call.operands[0], NULL);
            e->type = e->call.late->failure;
            break;
        }
        check_refuse_names(c, e);
        check_call(c, slot, expected);
        check_call_wrap(c, slot);
        break;
    case EXPR_METHOD: {
        check_refuse_names(c, e);
        const expr *copied = check_copied_by_receiver(c, e);
        check_method(c, slot, expected);
        check_refuse_copied(c, *slot, copied);
        check_call_wrap(c, slot);
        break;
    }
    case EXPR_FIELD:
        check_field(c, e);
        break;
    case EXPR_TUPLE_FIELD:
        if (!check_value_part(c, slot))
            check_tuple_field(c, e);
        break;
    case EXPR_INDEX:
        check_index(c, slot, expected);
        break;
    case EXPR_STRUCT:
        check_struct(c, e, expected);
        break;
    case EXPR_TUPLE:
        if (expected != NULL && expected == check_unit_type(c) && check_unit_value(c, slot))
            break;
        if (e->list.count == 0) { /* () is not a value */
            e->kind = EXPR_BLOCK;
            e->block = CHECK_ARRAY(c, block, 1);
            e->block->span = e->span;
            check_block_expr(c, e, expected);
        } else {
            check_tuple(c, e, expected);
        }
        break;
    case EXPR_ARRAY:
        check_array(c, slot, expected);
        break;
    case EXPR_COMPREHENSION:
        check_comprehension(c, slot, expected);
        break;
    case EXPR_RANGE:
        if (!check_range_for(c, slot, expected))
            check_range_value(c, slot, expected);
        break;
    case EXPR_BLOCK:
        check_block_expr(c, e, expected);
        break;
    case EXPR_IF:
        check_if(c, e, expected);
        break;
    case EXPR_MATCH:
        check_match(c, slot, expected);
        break;
    case EXPR_WHILE:
    case EXPR_LOOP:
    case EXPR_FOR:
        check_loop(c, slot, expected);
        break;
    case EXPR_BREAK:
    case EXPR_CONTINUE:
    case EXPR_RETURN:
        check_jump(c, e);
        break;
    case EXPR_ASSIGN:
        check_assign(c, slot);
        break;
    case EXPR_TRY:
        check_try(c, slot, expected);
        break;
    case EXPR_REPEAT:
        check_repeat(c, slot, expected);
        break;
    case EXPR_CLOSURE:
        check_closure(c, e, expected == NULL ? NULL : check_dyn_signature(expected));
        break;
    case EXPR_LIST: /* has its type */
    case EXPR_KIND_COUNT:
        break;
    }
}

/* A call whose place is wanted as a reference. */
static bool yields_place(checker *c, const expr *e, const type *expected) {
    const type *wish = expected == NULL ? NULL : type_resolve(c->types, expected);
    return wish != NULL && e->kind == EXPR_METHOD && type_is_reference(wish) && check_refers(c, e);
}

static void check_expression(checker *c, expr **slot, const type *expected) {
    const type *made_as = (*slot)->kind == EXPR_CALL ? (*slot)->becomes : NULL;
    const uint8_t holds = (*slot)->holds; /* so does what it becomes */
    const bool bound = (*slot)->is_kept && (expected == NULL || type_resolve(c->types, expected)->kind == TYPE_OPEN) &&
                       !(*slot)->is_followed; /* let a = make_rc(): the Rc, not the value in it */
    bool kept = check_wants_reference(c, *slot, expected);
    if (!kept && check_chooses(*slot) && (expected == NULL || type_resolve(c->types, expected)->kind == TYPE_OPEN))
        check_keep_reference(*slot); /* what it yields is followed behind it: the place stays the one that was meant */
    const uint32_t stars = check_stars(c, *slot), written = (*slot)->is_followed ? (*slot)->stars : 0;
    const bool place = kept && yields_place(c, *slot, expected);
    if (place)
        check_make_reference(c, slot, expected);
    else
        check_node(c, slot, expected);
    if ((*slot)->type == NULL && c->diagnostics->error_count > 0) /* refused, and said */
        check_make_error(c, *slot);
    check_arrivals(c, slot);
    if (!kept)
        check_follow(c, slot);
    check_follow_stars(c, slot, written, stars, expected);
    bool made = (*slot)->is_boxed || (bound && type_is_box(type_resolve(c->types, (*slot)->type)));
    const type *wish = expected == NULL ? NULL : type_resolve(c->types, expected);
    if (wish != NULL && check_is_dyn(wish) && (*slot)->type->kind != TYPE_VOID)
        check_dyn_convert(c, slot, wish);
    if (!made && (expected == NULL || !type_is_box(type_resolve(c->types, expected))))
        check_unbox(c, slot);
    if (holds != 0)
        (*slot)->holds = holds;
    if (made_as != NULL && expected == NULL && (*slot)->type->kind == TYPE_TENSOR)
        check_create_as(c, slot, made_as);
}

const check_walk check_all_forms = {check_expression, check_let_statement, check_convert_to_dyn};
