/* check_method.c: x.m(…): whose method it is, and the few that are written out as something else. */
#include <string.h>

#include "language/front/check_call.h"
#include "language/front/check_closure.h"
#include "language/front/check_derive.h"
#include "language/front/check_derive_clone.h"
#include "language/front/check_expr.h"
#include "language/front/check_generic.h"
#include "language/front/check_iterator.h"
#include "language/front/check_part.h"
#include "language/front/check_place.h"
#include "language/front/check_tensor.h"
#include "language/front/check_text.h"
#include "language/library/library.h"
#include "language/syntax/elsewhere.h"
#include "language/types/check_context.h"
#include "language/types/check_destructor.h"
#include "language/types/check_dyn_types.h"
#include "language/types/check_fits.h"
#include "language/types/check_scopes.h"
#include "language/types/check_variants.h"
#include "language/types/check_view.h"
#include "language/types/check_written.h"

/* ---- x.m(…) ---------------------------------------------------------------------------------- */

static void unknown_method(checker *c, expr *e, const type *t) {
    check_lost_arguments(c, e);
    check_make_error(c, e);
    if (e->call.name[0] == '_' && e->call.name_span.file != c->tree->prelude) /* as it is written */
        e->call.name = check_printf(c, "%.*s", (int)e->call.name_span.length,
                                    e->call.name_span.file->text + e->call.name_span.offset);
    if (check_report_outside(c, e->call.name_span, ".", e->call.name))
        return;
    diagnostic *d = diagnostics_say(c->diagnostics, e->call.name_span, SAY(has_no_method), check_type_text(c, t),
                                    e->call.name);
    if ((t->kind == TYPE_TENSOR && check_only_lists_have(c, e->call.name)) ||
        (t->kind == TYPE_VEC && check_has_method(c, type_tensor(c->types, NULL, -1), e->call.name)))
        check_note_bracket(c, d, e->call.receiver);
    suggestion near = check_suggest(d, e->call.name);
    check_suggest_methods(c, t, &near);
    if (t->kind == TYPE_STRUCT) {
        for (uint32_t i = 0; i < t->structure->field_count; i++)
            if (strcmp(t->structure->fields[i].name, e->call.name) == 0)
                diagnostics_note(c->diagnostics, d, t->structure->fields[i].span, "`%s` is a field", e->call.name);
    }
    if (type_is_float(t) && library_said_of(LIBRARY_form, e->call.name) == SAID_BACKWARD) {
        diagnostics_note(c->diagnostics, d, (source_span){0},
                         "a number has no history: leave the `f32` away where elements of tensors are added up, or "
                         "begin with a tensor: `Tensor::scalar(0.0)`");
        return;
    }
    const char *hint = near.exact ? NULL : hint_for_method(e->call.name);
    if (hint != NULL && (t->kind != TYPE_STRUCT || t->structure->closure == NULL)) {
        diagnostics_note(c->diagnostics, d, (source_span){0}, "%s", hint);
        return;
    }
    check_suggest_note(c, d, &near);
}

static bool struct_method(checker *c, expr *e, const type *t, const type *expected) {
    struct_item *owner = check_owner_of(c, t);
    function_item *f = owner == NULL ? NULL : check_method_meant(c, owner, e, e->call.name);
    f = f == NULL && owner != NULL ? check_iterator_method(c, owner, e->call.name) : f;
    f = f == NULL && owner != NULL ? check_derived_method(c, owner, e->call.name, e->call.name_span) : f;
    if (f == NULL)
        return false;
    for (function_item *o = f; o != NULL && !f->has_self; o = o->next_in_bucket)
        if (o->owner == f->owner && o->has_self && strcmp(o->name, f->name) == 0)
            f = o; /* Tensor::cat([a, b]) and a.cat(b) */
    if (!f->has_self) {
        check_list(c, e->call.args, e->call.arg_count);
        diagnostic *d = diagnostics_say(c->diagnostics, e->call.name_span, SAY(takes_no_self), f->qualified);
        diagnostics_note(c->diagnostics, d, (source_span){0}, "call it as `%s(…)`", f->qualified);
        e->type = f->result != NULL ? f->result : check_scalar(c, TYPE_ERROR);
        return true;
    }
    if (check_refuse_beside_iterator(c, e, t, f))
        return true;
    f = check_choose_overload(c, e, owner, f);
    if (check_refuse_drop_call(c, e, f)) {
        check_make_error(c, e);
        return true;
    }
    check_copy_self(c, &e->call.receiver, f);
    if (f->is_template) {
        check_template_call(c, e, f, owner, expected);
        return true;
    }
    check_arguments(c, e, f, 1);
    e->type = f->result;
    if (check_count_of(c, e, f))
        check_finish_call(c, e, f);
    return true;
}

/* Trait::m(x), and x.m() where x is known through a trait alone: its method, whatever else the type has. */
static bool method_through(checker *c, expr *e, const type *t, const type *expected) {
    struct_item *owner = c->tree->has_shared_methods && !type_is_silent(t) ? check_owner_of(c, t) : NULL;
    if (owner == NULL)
        return false;
    e->call.trait = e->call.trait != NULL ? e->call.trait : check_trait_known(c, owner, e->call.name);
    return e->call.trait != NULL && check_method_through(c, owner, e->call.name, e->call.trait) != NULL &&
           struct_method(c, e, t, expected);
}

/* t.set(i, j, v) is t[i, j] = v. */
static bool tensor_set(checker *c, expr **slot) {
    expr *e = *slot;
    if (library_said_of(LIBRARY_of_lists, e->call.name) != SAID_SET || e->call.arg_count < 2)
        return false;
    expr *index = check_new(c, EXPR_INDEX, e->span, NULL), *first = e->call.args[0];
    bool bracketed = e->call.arg_count == 2 && first->kind == EXPR_ARRAY;
    index->index.base = e->call.receiver;
    index->index.indices = bracketed ? first->list.items : e->call.args;
    index->index.count = bracketed ? first->list.count : e->call.arg_count - 1;
    *slot = build_assign(c, e->span, index, e->call.args[e->call.arg_count - 1]);
    (*slot)->assign.op_span = e->call.name_span;
    check_assign(c, slot);
    return true;
}

/* t.add(s) and t.add_assign(s) of a number s are t + s and t += s. */
static bool tensor_operator(checker *c, expr **slot) {
    expr *e = *slot;
    const library_said computed = library_said_of(LIBRARY_computes, e->call.name),
                       updated = library_said_of(LIBRARY_updates, e->call.name);
    const bool updates = updated != SAID_NOTHING;
    if (e->call.arg_count != 1 || (computed == SAID_NOTHING && !updates))
        return false;
    const binary_op op = check_operator_said(updates ? updated : computed);
    if (e->call.args[0]->type == NULL)
        check_expr(c, &e->call.args[0], NULL);
    if (!check_is_comparison(op) && !type_is_numeric(type_resolve(c->types, e->call.args[0]->type)))
        return false;
    expr *operation = check_new(c, EXPR_BINARY, e->span, NULL), *target = e->call.receiver;
    operation->binary.op = op;
    operation->binary.op_span = e->call.name_span;
    operation->binary.left = updates ? check_copy_place(c, target) : target;
    operation->binary.right = e->call.args[0];
    *slot = updates && check_is_place(target) ? build_assign(c, e->span, target, operation) : operation;
    check_expr(c, slot, NULL);
    return true;
}

bool check_is_identity(const char *name) {
    return library_says(LIBRARY_hands_on, name);
}

/* The receivers of a method that hands its receiver on. */
typedef struct hand_on {
    library_said said;
    bool over_elements, of_option; /* of a list, a tensor; or of an option, too */
    bool of_text, to_place;
    bool clones, copies; /* a part's own `clone` runs; what comes out is a value, not the place */
} hand_on;

static const hand_on *hand_on_of(const char *name) {
    static const hand_on all[] = {
        {SAID_CLONE, .clones = true, .copies = true},
        {SAID_ITERATE, .over_elements = true},
        {SAID_VIEW, .of_text = false},
        {SAID_TEXT, .of_text = true, .copies = true},
        {SAID_COLLECT, .over_elements = true, .copies = true},
        {SAID_LIST, .over_elements = true, .clones = true, .copies = true},
        {SAID_PLACE, .to_place = true},
        {SAID_COPY_EACH, .over_elements = true, .of_option = true, .copies = true},
        {SAID_CLONE_EACH, .over_elements = true, .of_option = true, .clones = true, .copies = true},
    };
    const library_said said = library_said_of(LIBRARY_hands_on, name);
    for (size_t i = 0; said != SAID_NOTHING && i < sizeof all / sizeof all[0]; i++)
        if (all[i].said == said)
            return &all[i];
    return NULL;
}

/* Values are values: a copy is the value, an iterator is what it runs over. */
static bool identity_method(checker *c, expr **slot, const type *t) {
    expr *e = *slot;
    const hand_on *h = e->call.arg_count == 0 ? hand_on_of(e->call.name) : NULL;
    if (h == NULL)
        return false;
    bool option = h->of_option && t->kind == TYPE_STRUCT;
    if ((h->over_elements && t->kind != TYPE_VEC && t->kind != TYPE_TENSOR && !option) ||
        (h->of_text && t->kind != TYPE_STRING))
        return false;
    if (h->to_place && check_option_by_reference(c, slot, t))
        return true;
    expr *clone = h->clones ? check_cloned(c, e->call.receiver) : NULL;
    if (clone != NULL) {
        *slot = clone;
        check_expr(c, slot, NULL);
        return true;
    }
    *slot = e->call.receiver;
    (*slot)->is_copied |= h->copies;
    return true;
}

/* The clone of an Rc is the same Rc, whatever it holds. */
static bool clone_of_shared(checker *c, expr **slot) {
    expr *e = *slot, *held = e->call.receiver;
    if (held->kind == EXPR_INDEX && type_is_box(type_resolve(c->types, held->index.base->type))) /* what is in it */
        held = held->index.base;
    const type *t = type_resolve(c->types, held->type);
    const hand_on *h = type_is_shared(t) && e->call.arg_count == 0 ? hand_on_of(e->call.name) : NULL;
    if (h == NULL || !h->clones || h->over_elements || (held->is_followed && held->stars > 0)) /* (*rc).clone() */
        return false;
    *slot = held;
    held->is_copied = true;
    return true;
}

/* An Option of a Box as one of what is in it. */
static bool deref_view(checker *c, expr **slot, const type *t, const type *expected) {
    expr *e = *slot, *option = e->call.receiver;
    const library_said view = library_said_of(LIBRARY_option_view, e->call.name);
    bool named = view == SAID_DEREF || view == SAID_DEREF_MUT;
    if (!named || e->call.arg_count > 0 || !check_is_form(c, t, SAID_OPTION))
        return false;
    if (view == SAID_DEREF_MUT && check_option_by_reference(c, slot, t))
        return true;
    *slot = option;
    if (type_is_box(type_resolve(c->types, t->structure->arguments[0]))) {
        *slot = BUILD_QUOTE(c, e->span, "match $0 { Some($inner) => Some($inner), _ => None }", option);
        check_expr(c, slot, expected);
    }
    return true;
}

static bool method_of_kind(checker *c, expr **slot, const type *t, const type *expected) {
    switch (t->kind) {
    case TYPE_STRUCT:
        return deref_view(c, slot, t, expected);
    case TYPE_TENSOR:
        return check_tensor_form(c, slot, t, expected) || tensor_operator(c, slot) ||
               check_abi_call(c, slot, "", (*slot)->call.name, false, expected) || tensor_set(c, slot);
    case TYPE_STRING:
        return check_string_method(c, slot, expected);
    case TYPE_VEC:
        return check_vec_method(c, slot);
    default:
        return type_is_numeric(t) && check_number_method(c, slot);
    }
}

/* An impl block of the program may add methods to types of the language, not replace them. */
static bool method_of(checker *c, expr **slot, const type *t, const type *expected) {
    bool into = library_said_of(LIBRARY_form, (*slot)->call.name) == SAID_INTO && (*slot)->call.arg_count == 0;
    const type *wish = expected == NULL ? NULL : type_resolve(c->types, expected);
    if (into && wish != NULL && type_is_integer(wish) && (t->kind == TYPE_BOOL || t->kind == TYPE_CHAR)) {
        *slot = (*slot)->call.receiver; /* 0 and 1, or the letter's number */
        check_cast_to(c, slot, wish);
        return true;
    }
    expr *made = into && expected != NULL ? check_from(c, (*slot)->call.receiver, (*slot)->call.views, expected) : NULL;
    if (made != NULL) {
        *slot = made;
        check_expr(c, slot, expected);
        return true;
    }
    return check_try_into(c, slot, expected) || (t->kind == TYPE_VEC && check_collect(c, slot, expected)) ||
           (t->kind == TYPE_STRUCT && struct_method(c, *slot, t, expected)) || method_of_kind(c, slot, t, expected) ||
           (t->kind != TYPE_STRUCT && struct_method(c, *slot, t, expected));
}

static bool is_of_option(checker *c, const char *user) {
    struct_item *option = check_form(c, SAID_OPTION);
    return user != NULL && option != NULL &&
           (check_find_method(c, option, user) != NULL || (check_is_identity(user) && hand_on_of(user)->of_option));
}

/* t.shape().get(0).unwrap(): a tensor of one dimension is asked as the list that it might be. */
static const type *tensor_as_list(checker *c, expr *e, const type *t, const char *user) {
    if (t->kind != TYPE_TENSOR || t->tensor.rank != 1 || library_said_of(LIBRARY_of_lists, e->call.name) != SAID_GET ||
        e->call.arg_count != 1 || !is_of_option(c, user))
        return t;
    e->call.receiver = check_tensor_as_list(c, e->call.receiver);
    check_expr(c, &e->call.receiver, NULL);
    return type_resolve(c->types, e->call.receiver->type);
}

/* get, pop, first, last yield an Option where one is taken apart or wanted. Else get yields the element, and
 * pop, first and last do where something else than an Option is wanted. */
static void choose_element_or_option(checker *c, expr *e, const type *t, const type *expected, const char *user,
                                     const pattern *arm) {
    const type *wish = expected == NULL ? NULL : type_resolve(c->types, expected);
    const type *element = type_resolve(c->types, t->vec.element);
    bool wanted = e->call.is_option || (arm != NULL && arm->kind == PATTERN_VARIANT);
    bool own = user != NULL &&
               (element->kind == TYPE_STRUCT
                    ? check_method_named(c, element->structure, user) != NULL
                    : element->kind == TYPE_TENSOR && check_has_method(c, element, user)); /* t.transpose(…) */
    wanted |= is_of_option(c, user) && !own;
    bool plain = !wanted && wish != NULL && wish->kind != TYPE_VOID && wish->kind != TYPE_OPEN;
    if (plain && check_is_form(c, wish, SAID_OPTION) && !check_is_form(c, element, SAID_OPTION)) {
        wanted = true;
        plain = false;
    }
    const char *of_option = library_word(LIBRARY_of_option, e->call.name),
               *of_element = library_word(LIBRARY_of_element, e->call.name);
    if (of_option != NULL && wanted)
        e->call.name = of_option;
    else if (of_element != NULL && plain && !wanted)
        e->call.name = of_element;
}

/* v[a..b].iter(), m[i].len(): whatever v is, nothing is written. */
static bool reads_part(checker *c, const expr *e) {
    return e->call.receiver->kind == EXPR_INDEX && check_only_reads(c, e->call.name);
}

/* map.entry(k).or_insert(v).push(x): { let <at> = …; place.push(x) } */
static bool method_of_found(checker *c, expr **slot, const type *expected) {
    expr *e = *slot;
    if (check_views_place(e->call.receiver) || reads_part(c, e))
        return false; /* an option of a reference, which the method is one of */
    block_builder b;
    uint32_t mark = check_scope_open(c);
    if (!check_freeze_target(c, &b, &e->call.receiver))
        return false;
    check_unbox(c, &e->call.receiver);
    check_follow(c, &e->call.receiver); /* of a `&mut &mut T` */
    check_method(c, slot, expected);
    check_call_wrap(c, slot); /* what is lent to it comes back here, behind the places that were looked up */
    check_scope_close(c, mark);
    *slot = build_checked(&b, *slot);
    return true;
}

/* A method of Vec on a struct that is an iterator: on what it yields. */
static bool method_of_list(checker *c, expr **slot, const type *t, const type *expected) {
    expr *e = *slot;
    if (check_is_map(t) && library_said_of(LIBRARY_form, e->call.name) == SAID_CONTAINS)
        return false; /* contains_key is meant */
    bool has = t->kind == TYPE_STRUCT && c->instances->builtin_owners[TYPE_VEC] != NULL &&
               (check_find_method(c, c->instances->builtin_owners[TYPE_VEC], e->call.name) != NULL ||
                library_said_of(LIBRARY_stage, e->call.name) == SAID_COLLECT);
    if (!has || !check_as_list(c, &e->call.receiver))
        return false;
    check_method(c, slot, expected);
    return true;
}

/* v.iter_mut().for_each(|x| e) is for x in v.iter_mut() { e } */
static bool for_each(checker *c, expr **slot) {
    expr *e = *slot, *f = e->call.arg_count == 1 ? e->call.args[0] : NULL;
    if (f == NULL || f->kind != EXPR_CLOSURE || f->type != NULL ||
        library_said_of(LIBRARY_form, e->call.name) != SAID_EACH || f->closure.parameter_count != 1)
        return false;
    expr *body = f->closure.body;
    pattern *p = CHECK_ARRAY(c, pattern, 1);
    *p = (pattern){.span = f->span, .kind = PATTERN_NAME, .binding = f->closure.parameters[0]};
    p->binding->kind = BINDING_LOOP;
    stmt *s = body->kind == EXPR_BLOCK ? body->block->first : NULL;
    if (p->binding->name[0] == '<' && s != NULL) { /* |(a, b)|: the pattern itself */
        p = s->pattern;
        body->block->first = s->next;
    }
    block_builder b = build_block(c, e->span);
    build_stmt(&b, body);
    *slot = build_for(c, e->span, p, e->call.receiver, b.block);
    check_expr(c, slot, check_scalar(c, TYPE_VOID));
    return true;
}

/* s.parse().unwrap() is parsed as what is wanted of it, or as what unwrap_or would put in its place. */
static bool wish_of_parse(checker *c, expr *e, const type *expected) {
    expr *parse = e->call.receiver;
    if (!check_is_parse(parse) ||
        (!library_says(LIBRARY_opens, e->call.name) && !library_says(LIBRARY_opens_or, e->call.name)))
        return false;
    bool other = library_says(LIBRARY_opens_or, e->call.name) && e->call.arg_count == 1 &&
                 e->call.args[0]->kind != EXPR_CLOSURE;
    if (expected == NULL && other) {
        check_expr(c, &e->call.args[0], NULL);
        expected = type_resolve(c->types, e->call.args[0]->type);
        expected = type_is_open_number(expected) ? NULL : expected; /* later uses say which */
    }
    c->around->parse_wish = expected;
    return true;
}

/* v.sum() where `impl Sum for T` says what that is: T::sum(v) */
static bool sum_of_their_own(checker *c, expr **slot, const type *t, const type *expected) {
    expr *e = *slot;
    const type *element = t->kind == TYPE_VEC ? type_resolve(c->types, t->vec.element) : t;
    const library_said stage = library_said_of(LIBRARY_stage, e->call.name);
    bool sums = stage == SAID_SUM || stage == SAID_PRODUCT;
    const type *of = element->kind == TYPE_STRUCT || expected == NULL ? element : type_resolve(c->types, expected);
    if (!sums || e->call.arg_count > 0 || t->kind != TYPE_VEC || of->kind != TYPE_STRUCT ||
        check_method_named(c, of->structure, e->call.name) == NULL)
        return false;
    const struct_item *owner = of->structure; /* impl Product<u64> for Big */
    *slot = build_call(c, e->span, owner->template != NULL ? owner->template->name : owner->name, e->call.name,
                       &e->call.receiver, 1);
    (*slot)->call.views = check_as_operand(c, e->call.views);
    check_expr(c, slot, expected);
    return true;
}

/* 2.5.double() where only f64 has it is an f64. A method of the program or library is one of a certain type: the
 * number's is decided here. */
static const type *number_with_method(checker *c, const type *t, const expr *call) {
    if (!type_is_open_number(t) || (call->call.trait == NULL && check_is_math_method(call->call.name)))
        return t;
    const number_use use = {.name = call->call.name};
    const type *is = check_number_among(c, t, type_is_float(t), &use, false);
    return is == NULL ? t : check_settle_number(c, t);
}

/* x.m() of `fn m(self: &Rc<Self>)` is T::m(x). */
static void call_of_holder(checker *c, expr **slot, const function_item *f, const type *expected) {
    expr *e = *slot, **args = CHECK_ARRAY(c, expr *, e->call.arg_count + 1);
    args[0] = e->call.receiver;
    for (uint32_t i = 0; i < e->call.arg_count; i++)
        args[i + 1] = e->call.args[i];
    expr *call = build_call(c, e->span, f->owner_name, f->name, args, e->call.arg_count + 1);
    call->call.name_span = call->call.callee->span = e->call.name_span;
    *slot = call;
    check_expr(c, slot, expected);
}

/* x.m() of what x leads to. */
static bool method_of_led(checker *c, expr **slot, const type *t, const type *expected) {
    expr *e = *slot;
    if (!check_leads(c, t))
        return false;
    expr *read = check_led(c, check_alias_copy(c, e->call.receiver), false);
    check_expr(c, &read, NULL);
    const type *led = type_resolve(c->types, read->type);
    const struct_item *owner = check_owner_of(c, led), *made = owner != NULL ? owner->template : NULL;
    function_item *f = owner == NULL ? NULL : check_find_method(c, made != NULL ? made : owner, e->call.name);
    if (f != NULL && f->has_holder) {
        call_of_holder(c, slot, f, expected);
        return true;
    }
    const bool writes = f == NULL ? check_changes_receiver(e->call.name)
                                  : f->has_self && (f->parameters[0]->is_lent || check_may_write_self(c, f));
    if (!writes) {
        e->call.receiver = check_led(c, e->call.receiver, false);
        check_method(c, slot, expected);
        return true;
    }
    block_builder b = build_block(c, e->span);
    const uint32_t mark = check_scope_open(c);
    expr *call = check_led(c, e->call.receiver, true), *place = check_freeze(&b, &call);
    if (place == NULL)
        diagnostics_say(c->diagnostics, e->span, SAY(value_is_not_a_reference), check_type_text(c, t));
    if (place != NULL)
        e->call.receiver = place;
    else
        check_make_error(c, e->call.receiver);
    check_method(c, slot, expected);
    check_call_wrap(c, slot);
    check_scope_close(c, mark);
    *slot = build_checked(&b, *slot);
    return true;
}

/* let r: Rev<Range<u32>> = (0..n).rev(): the range is asked one by one, and so is a chain on it. */
static void receiver_of_adapter(checker *c, expr *e, const type *expected) {
    const type *wish = expected == NULL ? NULL : type_resolve(c->types, expected);
    const struct_item *s = wish != NULL && wish->kind == TYPE_STRUCT ? wish->structure : NULL;
    const expr *receiver = e->call.receiver;
    if (s == NULL || s->template == NULL || s->span.file != c->tree->prelude || receiver->type != NULL ||
        (receiver->kind != EXPR_RANGE && receiver->kind != EXPR_METHOD) || !check_is_iterator(c, wish))
        return;
    const type *of = type_resolve(c->types, s->arguments[0]);
    if (of->kind == TYPE_STRUCT && check_is_iterator(c, of))
        check_expr(c, &e->call.receiver, of);
}

static void method(checker *c, expr **slot, const type *expected) {
    expr *e = *slot;
    check_chain_waits(c, e, expected);
    expected = check_wish_as_list(c, expected);
    receiver_of_adapter(c, e, expected);
    check_views(c, e);
    check_view_closures(c, e);
    while (e->call.receiver->kind == EXPR_UNARY && e->call.receiver->type == NULL &&
           e->call.receiver->unary.op == UNARY_REFERENCE) /* (&mut x).f() is x.f() */
        e->call.receiver = e->call.receiver->unary.operand;
    if (check_made_method(c, slot)) {
        check_expr(c, slot, expected);
        return;
    }
    if (check_converts_for(c, e) != NULL)
        check_expr(c, &e->call.receiver, type_tensor(c->types, NULL, -1));
    if (for_each(c, slot) || check_chain(c, slot, expected) || check_entry_value(c, slot) ||
        check_changed_row(c, slot, expected) || method_of_found(c, slot, expected))
        return;
    if (check_may_write_lists(c, e->call.name))
        check_part_receiver(c, &e->call.receiver);
    const char *user = c->around->receiver_of;
    const pattern *arm = c->around->wanted_variants;
    c->around->receiver_of = NULL;
    c->around->wanted_variants = NULL;
    if (e->call.receiver->kind == EXPR_RANGE && library_said_of(LIBRARY_form, e->call.name) == SAID_CONTAINS &&
        e->call.arg_count == 1) {
        check_range_contains(c, slot);
        return;
    }
    bool literal = check_free_literal(e->call.receiver) && expected != NULL && type_is_numeric(expected);
    check_range_as_list(c, &e->call.receiver);
    check_range_as_iterator(c, &e->call.receiver);
    c->around->receiver_of = e->call.receiver->kind == EXPR_METHOD ? e->call.name : NULL;
    const bool wishes = wish_of_parse(c, e, expected);
    check_expr(c, &e->call.receiver, literal ? expected : NULL);
    c->around->receiver_of = NULL;
    if (wishes)
        c->around->parse_wish = NULL; /* a list, which has no `parse`, has not taken it */
    if (clone_of_shared(c, slot))
        return;
    if (e->call.name[0] != '_' || e->call.name[1] != '_')
        check_unbox(c, &e->call.receiver);
    check_settle_late(c, type_resolve(c->types, e->call.receiver->type));
    const type *t = type_resolve(c->types, e->call.receiver->type);
    t = number_with_method(c, t, e);
    e->call.receiver->type = t;
    if (method_through(c, e, t, expected))
        return;
    t = tensor_as_list(c, e, t, user);
    check_split_range(c, e, t);
    if (t->kind == TYPE_VEC && check_list_beside_iterator(c, slot, expected))
        return;
    check_ranges_as_lists(c, e, t);
    if (sum_of_their_own(c, slot, t, expected))
        return;
    if (t->kind == TYPE_VEC)
        choose_element_or_option(c, e, t, expected, user, arm);
    if (check_rows_in_a_row(c, slot, t, expected))
        return;
    if (type_is_silent(t)) {
        check_lost_arguments(c, e);
        check_make_error(c, e);
    } else if (!method_of(c, slot, t, expected) && !check_flattened(c, slot, t, expected) &&
               !(check_is_guard(c, t) && method_of_led(c, slot, t, expected)) && !check_order_method(c, slot, t) &&
               !check_hash_method(c, slot, t) && !check_delegated_text(c, slot) &&
               !check_to_string(c, slot, t, expected) && !identity_method(c, slot, t) &&
               !method_of_list(c, slot, t, expected) && !method_of_led(c, slot, t, expected)) {
        unknown_method(c, e, t);
    }
}

void check_method(checker *c, expr **slot, const type *expected) {
    expr *e = *slot, *receiver = e->call.receiver;
    const bool part = check_made_of(c, receiver) != NULL, writes = part && check_may_write_lists(c, e->call.name);
    expr *named = part ? check_new_name(c, receiver->span, receiver->name.name) : NULL;
    const array_map array = check_array_map(c, e);
    method(c, slot, expected);
    check_collect_parts(c, slot, expected);
    e = *slot;
    check_become_array(c, e, &array);
    bool grows = e->kind == EXPR_CALL && (e->call.kind == CALL_VEC_PUSH || e->call.kind == CALL_VEC_SET);
    if (part && (writes || grows))
        (void)check_part_is_written(c, named);
}
