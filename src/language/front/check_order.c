/* check_order.c: what every type can do that its parts can, as `#[derive(…)]` says in Rust: order, hash, default.
 *
 *     (a, b).cmp((c, d))     { let l = …; let r = …; match l.0.cmp(r.0) { Equal => l.1.cmp(r.1), o => o } }
 *     key.__hash()           of the text that {:?} shows, where the type has no hash of its own
 *     Default::default()     0, "", an empty Vec, None, a struct of such
 *
 * An enum is compared by its tag first: the fields of other variants are nothing on both sides.
 */

#include "language/front/check_call.h"
#include "language/front/check_convert.h"
#include "language/front/check_text.h"
#include "language/front/check_walk.h"
#include "language/library/library.h"
#include "language/types/check_context.h"
#include "language/types/check_instances.h"
#include "language/types/check_scopes.h"
#include "language/types/check_tree_made.h"
#include "language/types/check_writes.h"
#include "language/types/check_written.h"

/* ---- order ----------------------------------------------------------------------------------- */

static bool is_compound(const type *t) {
    return t->kind == TYPE_TUPLE ||
           (t->kind == TYPE_STRUCT && t->structure->closure == NULL && t->structure->dyn == NULL);
}

static const type *part_type(checker *c, const type *t, uint32_t i) {
    return type_resolve(c->types, t->kind == TYPE_TUPLE ? t->tuple.items[i] : t->structure->fields[i].type);
}

expr *check_part_of(checker *c, source_span span, const char *name, const type *t, uint32_t i) {
    expr *e = check_new(c, t->kind == TYPE_TUPLE ? EXPR_TUPLE_FIELD : EXPR_FIELD, span, NULL);
    e->field.base = check_new_name(c, span, name);
    check_expr(c, &e->field.base, NULL);
    e->field.index = i;
    e->field.name = t->kind == TYPE_TUPLE ? NULL : t->structure->fields[i].name;
    e->type = part_type(c, t, i);
    return e;
}

/* match first { Ordering::Equal => rest, <o> => <o> } */
static expr *then(checker *c, source_span span, expr *first, expr *rest, bool partial) {
    return rest == NULL ? first : BUILD_QUOTE(c, span, partial ? "__order_or($0, $1)" : "$0.__or($1)", first, rest);
}

static bool has(checker *c, const type *t, const char *name) {
    return t->kind == TYPE_STRUCT && check_method_named(c, t->structure, name) != NULL;
}

bool check_asks_itself(const checker *c, const type *t, const char *const *names, int *budget) {
    t = type_resolve(c->types, t);
    bool asks = --*budget < 0;
    if (t->kind == TYPE_STRUCT) {
        const struct_item *s = t->structure->template != NULL ? t->structure->template : t->structure;
        for (uint32_t i = 0; names[i] != NULL; i++)
            asks |= check_find_method(c, s, names[i]) != NULL;
        for (uint32_t i = 0; i < t->structure->field_count && !asks; i++)
            asks = check_asks_itself(c, t->structure->fields[i].type, names, budget);
    }
    for (uint32_t i = 0; t->kind == TYPE_TUPLE && i < t->tuple.count && !asks; i++)
        asks = check_asks_itself(c, t->tuple.items[i], names, budget);
    return asks || (type_is_box(t) && check_asks_itself(c, t->vec.element, names, budget));
}

const variant_item *check_variant_of_part(const type *t, uint32_t part) {
    const struct_item *s = t->kind == TYPE_STRUCT ? t->structure : NULL;
    for (uint32_t i = 0; s != NULL && s->is_enum && i < s->variant_count; i++)
        if (part >= s->variants[i].first && part < s->variants[i].first + s->variants[i].count)
            return &s->variants[i];
    return NULL;
}

/* In an enum the parts are compared where both values are of the variant that has them, else equal. */
static expr *in_its_variant(checker *c, expr *order, const char *const *both, const type *t, uint32_t part,
                            bool partial) {
    const variant_item *v = check_variant_of_part(t, part);
    const char *const names[] = {library_named(LIBRARY_form, SAID_CMP), library_named(LIBRARY_form, SAID_PARTIAL),
                                 NULL};
    if (v == NULL || !check_asks_itself(c, t->structure->fields[part].type, names, &(int){100}))
        return order;
    expr *is[2];
    for (int i = 0; i < 2; i++)
        is[i] = check_new_binary(c, BINARY_EQ, check_part_of(c, order->span, both[i], t, 0),
                                 check_new_int(c, order->span, v->tag), check_scalar(c, TYPE_BOOL));
    return BUILD_QUOTE(c, order->span,
                       partial ? "if $0 && $1 { $2 } else { Some(Ordering::Equal) }"
                               : "if $0 && $1 { $2 } else { Ordering::Equal }",
                       is[0], is[1], order);
}

/* Two values may have no order: there is a fraction in them, or a part that says so itself. */
static type_verdict lacks_order(const type *t, void *c) {
    if (t->kind == TYPE_VEC)
        return TYPE_LOOK_INSIDE;
    if (!is_compound(t))
        return type_is_float(t) ? TYPE_HAS : TYPE_LACKS;
    return has(c, t, "cmp") ? TYPE_LACKS : has(c, t, "partial_cmp") ? TYPE_HAS : TYPE_LOOK_INSIDE;
}

static bool is_partial(checker *c, const type *t) {
    return type_any(c->types, t, lacks_order, c);
}

static expr *order_of(checker *c, expr *left, expr *right, const type *t, bool partial) {
    source_span span = left->span;
    block_builder b = build_block(c, span);
    char *l = check_printf(c, "<left %u>", c->text_count), *r = check_printf(c, "<right %u>", c->text_count++);
    uint32_t mark = check_scope_open(c);
    build_let(&b, l, false, left);
    check_let(c, b.last);
    build_let(&b, r, false, right);
    check_let(c, b.last);
    expr *all = NULL;
    uint32_t count = t->kind == TYPE_TUPLE ? t->tuple.count : t->structure->field_count;
    for (uint32_t i = count; i-- > 0;) {
        expr *other = check_part_of(c, span, r, t, i);
        expr *mine = check_part_of(c, span, l, t, i);
        bool box = type_is_box(mine->type); /* it may hold a t itself */
        const char *how = partial ? (box ? "__partial_order" : "partial_cmp") : (box ? "__order" : "cmp");
        expr *order = build_method(c, span, mine, how, &other, 1);
        order = in_its_variant(c, order, (const char *const[]){l, r}, t, i, partial);
        all = then(c, span, order, all, partial);
    }
    if (all == NULL)
        all = BUILD_QUOTE(c, span, "Ordering::Equal", NULL);
    check_expr(c, &all, NULL);
    check_scope_close(c, mark);
    return build_checked(&b, all);
}

/* x.cmp(y), x.partial_cmp(y), x.max(y), x.min(y) and their like, of types that do not say themselves. */
bool check_order_method(checker *c, expr **slot, const type *t) {
    expr *e = *slot;
    const char *name = e->call.name;
    if (e->call.arg_count != 1)
        return false;
    const library_said form = library_said_of(LIBRARY_form, name);
    bool partial = form == SAID_PARTIAL, max = form == SAID_MAX;
    if (!partial && form != SAID_CMP && !max && form != SAID_MIN)
        return false;
    if (max || form == SAID_MIN) {
        if (!is_compound(t) && t->kind != TYPE_STRING && t->kind != TYPE_CHAR)
            return false;
        if (check_leads(c, t) && !has(c, t, "cmp") && !has(c, t, "partial_cmp"))
            return false; /* that of the value which `deref` leads to */
        expr *both[2] = {e->call.receiver, e->call.args[0]};
        *slot = build_call(c, e->span, NULL, max ? "__std_max" : "__std_min", both, 2);
        check_expr(c, slot, NULL);
        return true;
    }
    if (!is_compound(t))
        return false;
    if (partial && has(c, t, "cmp")) {
        e->call.name = "cmp";
        check_again(c, slot, NULL);
    } else if (!partial && has(c, t, "partial_cmp")) {
        e->call.name = "partial_cmp";
        *slot = build_method(c, e->span, e, "unwrap", NULL, 0);
        check_expr(c, slot, NULL);
    } else {
        check_expr(c, &e->call.args[0], t);
        check_coerce(c, &e->call.args[0], t, NULL);
        bool unordered = partial && is_partial(c, t);
        *slot = order_of(c, e->call.receiver, e->call.args[0], t, unordered);
        partial = partial && !unordered;
    }
    if (partial) {
        *slot = build_call(c, e->span, NULL, "Some", slot, 1);
        check_expr(c, slot, NULL);
    }
    return true;
}

/* l < r of types that are compared part by part: l.cmp(r).is_lt(), and false where they have no order */
bool check_order_operator(checker *c, expr **slot, const type *t, const type *other) {
    static const library_said tests[BINARY_OP_COUNT] = {
        [BINARY_LT] = SAID_LT, [BINARY_LE] = SAID_LE, [BINARY_GT] = SAID_GT, [BINARY_GE] = SAID_GE};
    expr *e = *slot;
    if (tests[e->binary.op] == SAID_NOTHING || !(is_compound(t) || t->kind == TYPE_VEC) || !check_fits(c, other, t))
        return false;
    bool partial = has(c, t, "partial_cmp") || is_partial(c, t);
    const bool less = e->binary.op == BINARY_LT || e->binary.op == BINARY_LE;
    *slot = BUILD_QUOTE(c, e->span,
                        !partial ? "$0.cmp($1).$2()"
                        : less   ? "$0.partial_cmp($1).unwrap_or(Ordering::Greater).$2()"
                                 : "$0.partial_cmp($1).unwrap_or(Ordering::Less).$2()",
                        e->binary.left, e->binary.right,
                        check_new_name(c, e->span, library_named(LIBRARY_order_test, tests[e->binary.op])));
    check_expr(c, slot, NULL);
    return true;
}

/* ---- hash ------------------------------------------------------------------------------------ */

bool check_hash_method(checker *c, expr **slot, const type *t) {
    expr *e = *slot;
    if (library_said_of(LIBRARY_form, e->call.name) != SAID_HASH || (!is_compound(t) && t->kind != TYPE_VEC))
        return false;
    expr *text = check_text_of(c, e->call.receiver, HOW(HOW_DEBUG));
    *slot = build_method(c, e->span, text, "__hash", NULL, 0);
    check_expr(c, slot, NULL);
    return true;
}

/* A checked value; NULL: the type has none. */
static expr *default_of(checker *c, source_span span, const type *t, int depth);

/* ---- default --------------------------------------------------------------------------------- */

static expr *default_struct(checker *c, source_span span, const type *t, int depth) {
    const struct_item *s = t->structure;
    if (s->is_enum) {
        const struct_item *written = s->template != NULL ? s->template : s;
        if (written->default_variant == 0)
            return NULL;
        uint32_t chosen = written->default_variant - 1;
        expr *e = check_new(c, EXPR_CALL, span, t);
        if (s->variants[chosen].count > 0)
            return NULL;
        e->call = (call_expr){.kind = CALL_VARIANT, .name_span = span, .structure = t->structure, .variant = chosen};
        return e;
    }
    expr *e = check_new(c, EXPR_CALL, span, t);
    e->call = (call_expr){.kind = CALL_STRUCT,
                          .name_span = span,
                          .structure = t->structure,
                          .operands = CHECK_ARRAY(c, expr *, s->field_count + 1),
                          .operand_count = s->field_count};
    for (uint32_t i = 0; i < s->field_count; i++) {
        e->call.operands[i] = default_of(c, span, s->fields[i].type, depth + 1);
        if (e->call.operands[i] == NULL)
            return NULL;
    }
    return e;
}

static expr *default_list(checker *c, source_span span, const type *t, int depth) {
    if (t->kind == TYPE_VEC && t->vec.length > 0) {
        expr *e = check_new(c, EXPR_REPEAT, span, NULL);
        e->repeat.value = default_of(c, span, t->vec.element, depth + 1);
        e->repeat.count = check_new_int(c, span, t->vec.length);
        if (e->repeat.value != NULL) {
            check_expr(c, &e, t);
            return e;
        }
        return NULL;
    }
    if (t->kind == TYPE_VEC && !type_is_box(t)) {
        expr *e = check_new(c, EXPR_CALL, span, t);
        e->call.kind = CALL_VEC_NEW;
        e->call.name_span = span;
        return e;
    }
    expr *e = check_new(c, EXPR_TUPLE, span, t);
    if (t->kind != TYPE_TUPLE)
        return NULL;
    e->list.items = CHECK_ARRAY(c, expr *, t->tuple.count);
    e->list.count = t->tuple.count;
    for (uint32_t i = 0; i < t->tuple.count; i++) {
        e->list.items[i] = default_of(c, span, t->tuple.items[i], depth + 1);
        if (e->list.items[i] == NULL)
            return NULL;
    }
    return e;
}

static expr *default_box(checker *c, source_span span, const type *t, int depth) {
    expr *e = default_of(c, span, t->vec.element, depth + 1);
    if (e == NULL)
        return NULL;
    check_coerce(c, &e, t, NULL);
    e->is_boxed = true;
    return e;
}

static expr *default_of(checker *c, source_span span, const type *t, int depth) {
    t = type_resolve(c->types, t);
    if (depth > 30)
        return NULL;
    if (t->kind == TYPE_OPEN)
        return check_default_later(c, span, t);
    if (t->kind == TYPE_VEC && type_is_box(t))
        return default_box(c, span, t, depth);
    if (type_is_float(t))
        return check_new_float(c, span, 0.0, t);
    if (type_is_integer(t)) {
        expr *e = check_new_int(c, span, 0);
        e->type = t;
        return e;
    }
    if (t->kind == TYPE_BOOL)
        return check_new_bool(c, span, false);
    if (t->kind == TYPE_CHAR)
        return check_new(c, EXPR_CHAR, span, t); /* '\0' */
    if (t->kind == TYPE_STRING)
        return check_text_node(c, span, "", 0);
    if (t->kind == TYPE_STRUCT && (has(c, t, "default") || has(c, t, "__shown"))) {
        expr *e = build_call(c, span, t->structure->name, has(c, t, "default") ? "default" : "new", NULL, 0);
        check_expr(c, &e, t);
        return e;
    }
    return t->kind == TYPE_STRUCT ? default_struct(c, span, t, depth) : default_list(c, span, t, depth);
}

void check_finish_default(checker *c, expr *e, const type *t) {
    expr *made = t->kind == TYPE_OPEN ? NULL : default_of(c, e->span, t, 0);
    if (made != NULL) {
        *e = *made;
        return;
    }
    if (t->kind == TYPE_OPEN)
        diagnostics_say(c->diagnostics, e->span, SAY(nothing_says_of_which_type_this));
    else if (!type_is_silent(t))
        diagnostics_say(c->diagnostics, e->span, SAY(has_no_default), check_type_text(c, t));
    check_make_error(c, e);
}

/* Default::default(), T::default() of a type that does not say itself. */
bool check_default_call(checker *c, expr **slot, const char *scope, const char *name, const type *expected) {
    expr *e = *slot;
    if (library_said_of(LIBRARY_form, name) != SAID_DEFAULT || e->call.arg_count != 0)
        return false;
    const type *t = expected == NULL ? NULL : type_resolve(c->types, expected);
    if (library_said_of(LIBRARY_trait_form, scope) != SAID_DEFAULT) {
        type_expr written = {.span = e->span,
                             .kind = TYPE_EXPR_NAME,
                             .name = scope,
                             .arguments = e->call.callee->name.arguments,
                             .argument_count = e->call.callee->name.argument_count};
        const struct_item *s = check_struct_named(c, scope);
        if (s != NULL && check_find_method(c, s->template != NULL ? s->template : s, name) != NULL)
            return false;
        const name_expr *callee = &e->call.callee->name;
        t = callee->of != NULL ? callee->of->type : check_type(c, &written);
    }
    if ((t == NULL || t->kind == TYPE_OPEN) && c->function != NULL && !c->open->is_closing) {
        *slot = check_default_later(c, e->span, t == NULL ? type_open(c->types, NULL) : t);
        return true;
    }
    if (t == NULL || t->kind == TYPE_OPEN || t->kind == TYPE_VOID) {
        diagnostics_say(c->diagnostics, e->span, SAY(nothing_says_of_which_type_this));
        check_make_error(c, e);
        return true;
    }
    expr *made = type_is_silent(t) ? NULL : default_of(c, e->span, t, 0);
    if (made == NULL) {
        if (!type_is_silent(t)) {
            diagnostic *d = diagnostics_say(c->diagnostics, e->span, SAY(has_no_default), check_type_text(c, t));
            if (t->kind == TYPE_STRUCT && t->structure->is_enum) {
                diagnostics_note(c->diagnostics, d, t->structure->span,
                                 "write `#[default]` before one of its variants without fields");
            }
        }
        check_make_error(c, e);
        return true;
    }
    *slot = made;
    return true;
}
