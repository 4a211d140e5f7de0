/* check_match.c: match, the patterns of its arms, and `?`, which is one. */

#include "language/front/check_call.h"
#include "language/front/check_closure.h"
#include "language/front/check_convert.h"
#include "language/front/check_expr.h"
#include "language/front/check_generic.h"
#include "language/front/check_place.h"
#include "language/front/check_variant.h"
#include "language/types/check_context.h"
#include "language/types/check_dyn_types.h"
#include "language/types/check_scopes.h"
#include "language/types/check_variants.h"
#include "language/types/check_view.h"
#include "language/types/check_written.h"

/* ---- patterns -------------------------------------------------------------------------------- */

static void check_pattern_literal(checker *c, expr **slot, const type *t) {
    check_expr(c, slot, t);
    if (!type_is_silent((*slot)->type) && !type_is_silent(t) && !check_fits(c, (*slot)->type, t))
        check_mismatch(c, *slot, t, NULL);
}

static void check_range_pattern(checker *c, pattern *p, const type *t) {
    if (p->low != NULL)
        check_pattern_literal(c, &p->low, t);
    if (p->high != NULL)
        check_pattern_literal(c, &p->high, t);
    if (!type_is_silent(t) && !type_is_integer(t) && t->kind != TYPE_CHAR)
        diagnostics_say(c->diagnostics, p->span, SAY(only_integers_and_characters_have_ranges));
}

/* All alternatives bind the same names: the first one's bindings are used for those of the others. */
static void check_alternatives(checker *c, pattern *p, const type *t) {
    for (uint32_t i = 0; i < p->part_count; i++) {
        uint32_t before = c->names->entry_count;
        check_pattern(c, p->parts[i], t);
        if (c->names->entry_count != before)
            diagnostics_say(c->diagnostics, p->parts[i]->span, SAY(names_cannot_stand_between));
    }
}

void check_pattern(checker *c, pattern *p, const type *t) {
    p->type = t;
    if (check_alias_element(c, p, t))
        return;
    const bool may_be_name = p->kind == PATTERN_VARIANT && p->part_count == 0;
    if (!may_be_name && check_bind_behind(c, p, t, check_pattern))
        return;
    if (p->kind == PATTERN_NAME && p->binding != NULL && check_name_is_pattern(c, p)) {
        check_pattern(c, p, t);
        return;
    }
    switch (p->kind) {
    case PATTERN_WILDCARD:
        break;
    case PATTERN_BOUND:
    case PATTERN_NAME:
        if (p->binding != NULL && p->kind == PATTERN_BOUND && check_alias_bound(c, p, t)) {
            check_pattern(c, p, t);
            break;
        }
        if (p->binding != NULL && p->kind == PATTERN_NAME && check_alias_name(c, p, c->places->alias_place, t))
            break;
        if (p->binding != NULL) {
            if (p->binding->kind == BINDING_LET)
                p->binding->kind = BINDING_LOOP;
            check_declare(c, p->binding, t);
        }
        if (p->kind == PATTERN_BOUND)
            check_pattern(c, p->parts[0], t);
        break;
    case PATTERN_TUPLE:
        if (!check_tuple_parts(c, p, t, check_pattern))
            p->kind = PATTERN_WILDCARD;
        break;
    case PATTERN_VARIANT:
        check_variant_pattern(c, p, t, check_pattern);
        break;
    case PATTERN_LITERAL:
        check_pattern_literal(c, &p->low, t);
        break;
    case PATTERN_RANGE:
        check_range_pattern(c, p, t);
        break;
    case PATTERN_OR:
        check_alternatives(c, p, t);
        break;
    }
}

/* ---- match ----------------------------------------------------------------------------------- */

static void check_arm(checker *c, match_arm *arm, const type *t, const type *expected, const match_alias *alias) {
    uint32_t mark = check_scope_open(c), made = c->tree->function_count;
    c->places->alias_place = alias->place;
    c->places->alias_elements = alias->elements;
    c->places->alias_all = alias->all;
    check_pattern(c, arm->pattern, t);
    c->places->alias_place = NULL;
    c->places->alias_elements = NULL;
    check_twice(c, mark);
    if (arm->guard != NULL)
        check_condition(c, &arm->guard);
    check_expr(c, &arm->body, expected);
    check_scope_end(c, mark, made);
}

/* Each arm by itself is judged by what is wanted of all. */
static void judge_arms(checker *c, expr *e, const type *expected) {
    bool good = true;
    for (uint32_t i = 0; i < e->match.count; i++)
        good &= check_coerce_branch(c, &e->match.arms[i].body, expected, NULL);
    e->type = good ? expected : check_scalar(c, TYPE_ERROR);
}

/* The type of the arms before arm `end` when what they make is made as `t` is; NULL: they do not meet. */
static const type *made_as(checker *c, expr *e, uint32_t end, const type *t) {
    const type *joined = t;
    for (uint32_t i = 0; joined != NULL && i < end; i++) {
        check_create_alike(c, &e->match.arms[i].body, t);
        joined = check_join(c, joined, type_resolve(c->types, e->match.arms[i].body->type));
    }
    return joined;
}

static void join_arms(checker *c, expr *e, const type *expected) {
    const type *joined = check_scalar(c, TYPE_NEVER);
    for (uint32_t i = 0; i < e->match.count; i++) {
        const expr *body = e->match.arms[i].body;
        const type *t = type_resolve(c->types, body->type), *next = check_join(c, joined, t);
        if (next == NULL && check_create_alike(c, &e->match.arms[i].body, joined)) {
            body = e->match.arms[i].body;
            t = type_resolve(c->types, body->type);
            next = check_join(c, joined, t);
        } else if (next == NULL && check_is_dyn(joined) && check_converts(c, &e->match.arms[i].body, joined)) {
            next = joined;
        } else if (next == NULL) {
            next = made_as(c, e, i, t);
        }
        if (next == NULL && expected != NULL) {
            judge_arms(c, e, expected);
            return;
        }
        if (next == NULL) {
            diagnostics_say(c->diagnostics, body->span, SAY(arms_differ_here_before), check_type_text(c, t),
                            check_type_text(c, joined));
            check_make_error(c, e);
            return;
        }
        joined = next;
    }
    e->type = joined;
    for (uint32_t i = 0; !type_is_silent(joined) && joined->kind != TYPE_VOID && i < e->match.count; i++)
        check_coerce_branch(c, &e->match.arms[i].body, joined, NULL);
}

static bool binds_name(const pattern *p, void *context) {
    (void)context;
    return p->kind == PATTERN_BOUND ||
           (p->kind == PATTERN_NAME && p->binding != NULL && p->binding->name[0] >= 'a' && p->binding->name[0] <= 'z');
}

/* A(x) | B(x) => e is two arms. */
static void split_alternatives(checker *c, expr *e) {
    uint32_t count = 0, capacity = 0;
    match_arm *arms = NULL;
    for (uint32_t i = 0; i < e->match.count; i++) {
        match_arm arm = e->match.arms[i];
        bool split = arm.pattern->kind == PATTERN_OR && pattern_any(arm.pattern, binds_name, NULL);
        for (uint32_t k = 0; k < (split ? arm.pattern->part_count : 1); k++) {
            match_arm part = arm;
            if (split)
                part.pattern = arm.pattern->parts[k];
            if (k > 0) {
                part.guard = check_copy_tree(c, arm.guard);
                part.body = check_copy_tree(c, arm.body);
            }
            CHECK_PUSH(c, arms, count, capacity, part);
        }
    }
    e->match.arms = arms;
    e->match.count = count;
}

/* The first arm that says what is taken apart: `None` alone may be a name. */
static const pattern *telling_arm(const expr *e) {
    uint32_t i = 0;
    while (i + 1 < e->match.count && e->match.arms[i].pattern->kind == PATTERN_NAME)
        i++;
    return e->match.arms[i].pattern;
}

/* A variant of the pattern that takes part `at` of a tuple apart; NULL: none does. */
static const pattern *variant_of_part(const pattern *p, uint32_t at) {
    const pattern *found = NULL;
    for (uint32_t i = 0; p->kind == PATTERN_OR && found == NULL && i < p->part_count; i++)
        found = variant_of_part(p->parts[i], at);
    bool takes = p->kind == PATTERN_TUPLE && !p->rest && at < p->part_count;
    return takes && p->parts[at]->kind == PATTERN_VARIANT ? p->parts[at] : found;
}

/* match (v.first(), v.get(1)) { (Some(a), Some(b)) => … }: each part is taken apart as if it were alone. */
static void check_parts_taken_apart(checker *c, const expr *e) {
    const expr *tuple = e->match.value;
    for (uint32_t i = 0; tuple->kind == EXPR_TUPLE && i < tuple->list.count; i++) {
        const pattern *found = NULL;
        for (uint32_t a = 0; found == NULL && a < e->match.count; a++)
            found = variant_of_part(e->match.arms[a].pattern, i);
        if (found != NULL && tuple->list.items[i]->kind == EXPR_METHOD && tuple->list.items[i]->type == NULL) {
            check_keep_reference(tuple->list.items[i]);
            c->around->wanted_variants = found;
            check_expr(c, &tuple->list.items[i], NULL);
            c->around->wanted_variants = NULL;
        }
    }
}

/* match find(&mut v) { x => … }: what yields a reference is the place behind it. */
static void match_lent(block_builder *b, expr *e, match_alias *alias) {
    expr *place = e->match.value->is_kept && alias->place == NULL ? check_hold_lent(b, &e->match.value) : NULL;
    if (place != NULL) {
        *alias = (match_alias){.place = place, .all = true};
        e->match.value = check_alias_copy(b->c, place);
    }
}

static void match_of(block_builder *b, expr *e, const type *expected, match_alias *alias) {
    checker *c = b->c;
    const diagnostics *d = c->diagnostics;
    bool wanted = expected == NULL || expected->kind != TYPE_VOID, never = e->match.count > 0;
    bool method = e->match.count > 0 && e->match.value->kind == EXPR_METHOD;
    check_parts_taken_apart(c, e);
    c->around->wanted_variants = method ? telling_arm(e) : NULL;
    if (e->match.value->type == NULL && (method || e->match.value->kind == EXPR_CALL))
        check_keep_reference(e->match.value);
    check_unit_value(c, &e->match.value);
    check_expr(c, &e->match.value, NULL);
    c->around->wanted_variants = NULL;
    match_lent(b, e, alias);
    const type *t = check_as_unit(c, &e->match.value);
    uint32_t errors = d->error_count + d->dropped;
    const type *wish = expected;
    for (uint32_t i = 0; i < e->match.count; i++) {
        check_arm(c, &e->match.arms[i], t, wish, alias);
        const type *body = e->match.arms[i].body->type;
        never &= body->kind == TYPE_NEVER;
        if (wish == NULL && (type_is_numeric(body) || body->kind == TYPE_TENSOR || body->kind == TYPE_STRUCT))
            wish = body; /* literals of the other arms follow the first */
    }
    if (!type_is_silent(t) && errors == d->error_count + d->dropped)
        check_exhaustive(c, e, t);
    if (wanted)
        join_arms(c, e, expected);
    else
        e->type = check_scalar(c, never ? TYPE_NEVER : TYPE_VOID);
}

void check_match(checker *c, expr **slot, const type *expected) {
    expr *e = *slot;
    for (uint32_t i = 0; c->tree->has_reference_impls && e->match.value->type == NULL && i < e->match.count; i++)
        check_view_pattern(c, e->match.arms[i].pattern, check_view(c, e->match.value));
    uint32_t mark = check_scope_open(c);
    block_builder b = build_block(c, e->span);
    match_alias alias;
    split_alternatives(c, e);
    check_match_alias(c, e, &b, &alias);
    match_of(&b, e, expected, &alias);
    check_scope_close(c, mark);
    *slot = build_checked(&b, e); /* what the place needs is evaluated before */
}

/* ---- ? --------------------------------------------------------------------------------------- */

/* In place of the name of a type with `from`. */
static const char error_text[] = "<text>";

static expr *made_error(checker *c, source_span span, const char *from, expr *error) {
    return from == NULL         ? error
           : from == error_text ? build_method(c, span, error, "to_string", NULL, 0)
                                : build_call(c, span, from, "from", &error, 1);
}

/* An error with a text of its own where a text is wanted: Box<dyn Display>. */
static bool shows_itself(checker *c, const type *error, const type *wanted) {
    return wanted->kind == TYPE_STRING && error->kind == TYPE_STRUCT &&
           check_method_named(c, error->structure, "fmt") != NULL;
}

/* The name of what makes an error one that is wanted; NULL: nothing has to. */
static const char *maker_between(checker *c, const type *error, const type *wanted) {
    if (shows_itself(c, error, wanted) && check_maker(c, error, wanted) == NULL)
        return error_text;
    const bool open = error->may_have_open || (wanted->kind == TYPE_STRUCT && wanted->structure->template != NULL);
    return open ? NULL : check_maker(c, error, wanted);
}

/* The name of the error that is wanted, when it is another one and has a `from`. */
static const char *error_maker(checker *c, const type *from, const type *to) {
    return to == NULL || to->kind != TYPE_STRUCT
               ? NULL
               : maker_between(c, type_resolve(c->types, from->structure->arguments[1]),
                               type_resolve(c->types, to->structure->arguments[1]));
}

/* The error of a parse() depends on its value's type, which may not be known yet. */
static bool fail_later(checker *c, expr *jump, const type *from, const type *to) {
    const type *wanted = to == NULL || to->kind != TYPE_STRUCT ? NULL
                                                               : type_resolve(c->types, to->structure->arguments[1]);
    bool later = wanted != NULL && !wanted->may_have_open &&
                 type_is(type_resolve(c->types, from->structure->arguments[1]), TYPE_OPEN);
    if (later) {
        expr **error = &jump->jump.value->call.args[0];
        *error = check_new_late(c, jump->span, *error, NULL, (late_call){.failure = wanted});
    }
    return later;
}

void check_finish_failure(checker *c, expr *e) {
    const type *wanted = e->call.late->failure;
    expr *error = e->call.operands[0];
    const char *from = maker_between(c, type_resolve(c->types, error->type), wanted);
    error = made_error(c, e->span, from, error);
    check_expr(c, &error, wanted);
    check_coerce(c, &error, wanted, NULL);
    check_become(e, error);
}

/* from: of an error that the function's own error is made of. */
static expr *early_return(checker *c, source_span span, bool result, const char *from) {
    if (!result)
        return BUILD_QUOTE(c, span, "return None", NULL);
    return BUILD_QUOTE(c, span, "return Err($0)", made_error(c, span, from, check_new_name(c, span, "<failure>")));
}

/* Err(e)?, which always leaves. */
static bool try_of_error(checker *c, expr **slot) {
    expr *call = (*slot)->attempt.operand;
    bool fails = call->kind == EXPR_CALL && call->type == NULL && call->call.callee != NULL &&
                 call->call.callee->kind == EXPR_NAME && call->call.callee->name.scope == NULL &&
                 call->call.arg_count == 1;
    const type *yields = c->function->result == NULL ? NULL : type_resolve(c->types, c->function->result);
    if (!fails || yields == NULL || !check_is_form(c, yields, SAID_RESULT) ||
        !library_says(LIBRARY_fails, call->call.callee->name.name))
        return false;
    const type *wanted = type_resolve(c->types, yields->structure->arguments[1]);
    expr *error = call->call.args[0];
    check_expr(c, &error, wanted->kind == TYPE_STRUCT || wanted->kind == TYPE_STRING ? NULL : wanted);
    const type *t = type_resolve(c->types, error->type);
    const char *from = shows_itself(c, t, wanted) ? error_text : check_maker(c, t, wanted);
    expr *jump = early_return(c, (*slot)->span, true, NULL);
    jump->jump.value->call.args[0] = made_error(c, call->span, from, error);
    *slot = jump;
    check_expr(c, slot, NULL);
    return true;
}

void check_try(checker *c, expr **slot, const type *expected) {
    expr *e = *slot;
    source_span span = e->span;
    static const pattern variant = {.kind = PATTERN_VARIANT};
    if (try_of_error(c, slot))
        return;
    c->around->wanted_variants = e->attempt.operand->kind == EXPR_METHOD ? &variant : NULL;
    c->around->parse_wish = check_is_parse(e->attempt.operand) ? expected : NULL;
    check_expr(c, &e->attempt.operand, NULL);
    c->around->wanted_variants = NULL;
    c->around->parse_wish = NULL; /* an operand without `parse` has not taken it */
    const type *t = type_resolve(c->types, e->attempt.operand->type);
    bool result = check_is_form(c, t, SAID_RESULT), option = check_is_form(c, t, SAID_OPTION);
    const type *yields = c->function->result == NULL ? NULL : type_resolve(c->types, c->function->result);
    if (type_is_silent(t)) {
        check_make_error(c, e);
        return;
    }
    if (!result && !option) {
        diagnostics_say(c->diagnostics, span, SAY(question_mark_takes_option_or_result), check_type_text(c, t));
        check_make_error(c, e);
        return;
    }
    if (yields != NULL && !type_is_silent(yields) && !check_is_form(c, yields, result ? SAID_RESULT : SAID_OPTION)) {
        diagnostic *d = diagnostics_say(c->diagnostics, span, SAY(question_mark_leaves_function),
                                        c->function->qualified, result ? "a `Result`" : "an `Option`");
        diagnostics_note(c->diagnostics, d, c->function->span, "it is declared here");
        check_make_error(c, e);
        return;
    }
    expr *leaves = early_return(c, span, result, NULL);
    if (result && !fail_later(c, leaves, t, yields)) {
        check_settle_late(c, type_resolve(c->types, t->structure->arguments[1]));
        leaves = early_return(c, span, true, error_maker(c, type_resolve(c->types, t), yields));
    }
    expr *match = BUILD_QUOTE(c, span,
                              result ? "match $0 { Ok($$value) => $$value, Err($$failure) => $1 }"
                                     : "match $0 { Some($$value) => $$value, None => $1 }",
                              e->attempt.operand, leaves);
    *slot = match;
    check_keep_reference(match->match.arms[0].body); /* followed where a value is wanted */
    check_match(c, slot, NULL);
}
