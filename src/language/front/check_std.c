/* check_std.c: names of Rust's library that are not methods: std::cmp::max, i64::from, String::from as a function,
 * T::method(x), collect().
 *
 *     std::mem::swap(&mut a, &mut b)   __std_swap(&mut a, &mut b), of the prelude
 *     f64::max(a, b)                   a.max(b)
 *     u8::try_from(x)                  a Result: x as u8 where that is the same number
 *     v.map(f64::sqrt)                 v.map(|<0>| f64::sqrt(<0>))
 *     it.collect()                     what the wanted type makes of a Vec
 */
#include <string.h>

#include "language/front/check_build.h"
#include "language/front/check_call.h"
#include "language/front/check_convert.h"
#include "language/front/check_derive_clone.h"
#include "language/front/check_expr.h"
#include "language/front/check_generic.h"
#include "language/front/check_place.h"
#include "language/front/check_types.h"
#include "language/library/library.h"
#include "language/types/check_context.h"
#include "language/types/check_dyn_types.h"
#include "language/types/check_scopes.h"
#include "language/types/check_variants.h"
#include "language/types/check_view.h"
#include "language/types/check_written.h"

/* ---- functions of modules -------------------------------------------------------------------- */

static const char *last_of(const char *scope) {
    const char *last = strrchr(scope, ':');
    return last == NULL ? scope : last + 1;
}

static bool is_std_module(const char *scope) {
    return library_says(LIBRARY_std_module, last_of(scope));
}

/* max(a, b) of numbers of different types, or held by tensors of rank 0: a.max(b), which widens. */
static bool widest_of_two(checker *c, expr **slot, const type *expected) {
    expr *e = *slot, **args = e->call.args;
    bool same = true;
    for (uint32_t i = 0; i < 2; i++) {
        const type *t = type_resolve(c->types, args[i]->type);
        bool one = t->kind == TYPE_TENSOR && t->tensor.rank == 0;
        if (!one && !type_is_numeric(t))
            return false;
        same &= !one && t == type_resolve(c->types, args[0]->type);
    }
    if (same)
        return false;
    for (uint32_t i = 0; i < 2; i++)
        if (args[i]->type->kind == TYPE_TENSOR)
            check_read_item(c, &args[i]);
    *slot = build_method(c, e->span, args[0], e->call.callee->name.name, &args[1], 1);
    check_expr(c, slot, expected);
    return true;
}

bool check_std_call(checker *c, expr **slot, const char *scope, const char *name, const type *expected) {
    expr *e = *slot;
    if (scope != NULL && !is_std_module(scope))
        return false;
    const library_said form = library_said_of(LIBRARY_form, name);
    const bool widest = form == SAID_MAX || form == SAID_MIN;
    if (scope == NULL && e->call.arg_count == 1 && widest)
        return false; /* max(t) of a tensor */
    if (form == SAID_SIZE && e->call.callee->name.argument_count == 1) {
        const type *t = check_type(c, e->call.callee->name.arguments[0]);
        uint32_t bits = type_bits(t);
        *slot = check_new_int(c, e->span, bits == 0 ? 24 : bits < 8 ? 1 : bits / 8);
        return true;
    }
    if (form == SAID_EMPTY && e->call.arg_count == 0 && scope != NULL) {
        name_expr typed = e->call.callee->name; /* empty::<T>() */
        *slot = build_call(c, e->span, "Vec", "new", NULL, 0);
        (*slot)->call.callee->name.arguments = typed.arguments;
        (*slot)->call.callee->name.argument_count = typed.argument_count;
        check_expr(c, slot, expected);
        return true;
    }
    const char *full = check_std_name(c, name);
    if (full == NULL)
        return false;
    if (e->call.arg_count == 2 && widest) {
        bool swap = check_free_literal(e->call.args[0]) && !check_free_literal(e->call.args[1]);
        check_expr(c, &e->call.args[swap], NULL);
        check_expr(c, &e->call.args[!swap], e->call.args[swap]->type);
        if (widest_of_two(c, slot, expected))
            return true;
    }
    e->call.callee->name.name = full;
    e->call.callee->name.scope = NULL;
    check_again(c, slot, expected);
    return true;
}

/* ---- conversions ------------------------------------------------------------------------------ */

/* The library's, of a number of the type that is meant. */
static expr *try_from(checker *c, source_span span, expr *value, const char *scope) {
    expr *zero = check_new(c, EXPR_INT, span, NULL), *both[2] = {value, check_cast_as_written(c, zero, scope)};
    zero->integer.suffix = TYPE_VOID;
    return build_call(c, span, NULL, "__try_from", both, 2);
}

/* A list as an array: { let <v> = x; if <v>.len() == N { Ok(<v>) } else { Err(<v>) } }, the first <v> being one. */
static void list_as_array(checker *c, expr **slot, const type *array, const type *expected) {
    expr *e = *slot;
    block_builder b = build_block(c, e->span);
    const uint32_t mark = check_scope_open(c);
    expr *list = check_hold(&b, e->call.receiver, "list"), *made = check_alias_copy(c, list);
    expr *other = check_alias_copy(c, list);
    expr *length = build_method(c, e->span, list, "len", NULL, 0),
         *wanted = check_new_int(c, e->span, array->vec.length);
    check_expr(c, &made, NULL);
    if (check_fits(c, made->type, type_vec(c->types, array->vec.element)))
        made->type = array;
    expr *branch = build_if(c, check_new_binary(c, BINARY_EQ, length, wanted, NULL),
                            build_call(c, e->span, NULL, "Ok", &made, 1),
                            build_call(c, e->span, NULL, "Err", &other, 1), NULL);
    check_expr(c, &branch, expected);
    check_scope_close(c, mark);
    *slot = build_checked(&b, branch);
}

bool check_array_from(checker *c, expr **slot, const type *array, const type *expected) {
    expr *e = *slot;
    if (array->kind != TYPE_VEC || array->vec.length < 0 || e->call.arg_count != 1 ||
        library_said_of(LIBRARY_form, e->call.callee->name.name) != SAID_TRY_FROM)
        return false;
    e->call.receiver = e->call.args[0];
    list_as_array(c, slot, array, expected);
    return true;
}

bool check_try_into(checker *c, expr **slot, const type *expected) {
    expr *e = *slot;
    if (library_said_of(LIBRARY_form, e->call.name) != SAID_TRY_INTO || e->call.arg_count > 0)
        return false;
    const type *to = c->around->parse_wish;
    c->around->parse_wish = NULL;
    expected = expected == NULL ? NULL : type_resolve(c->types, expected);
    if (expected != NULL && expected->kind == TYPE_STRUCT && expected->structure->template != NULL)
        to = expected->structure->arguments[0];
    to = to == NULL ? NULL : type_resolve(c->types, to);
    const type *from = e->call.receiver->type == NULL ? NULL : type_resolve(c->types, e->call.receiver->type);
    if (to != NULL && from != NULL && to->kind == TYPE_VEC && to->vec.length >= 0 && from->kind == TYPE_VEC) {
        list_as_array(c, slot, to, expected);
        return true;
    }
    if (to != NULL && from != NULL && to->kind == TYPE_VEC && to->vec.length == -1 && from->kind == TYPE_VEC) {
        *slot = build_call(c, e->span, NULL, "__whole_list", &e->call.receiver, 1); /* it takes any length */
        check_expr(c, slot, expected);
        return true;
    }
    bool number = to != NULL && type_is_integer(to);
    if (!number &&
        (to == NULL || to->kind != TYPE_STRUCT || check_method_named(c, to->structure, "try_from") == NULL)) {
        diagnostic *d = diagnostics_say(c->diagnostics, e->call.name_span, SAY(nothing_says_what_try_into_yields));
        diagnostics_note(c->diagnostics, d, (source_span){0}, "write `u8::try_from(x)`");
        check_make_error(c, e);
        return true;
    }
    *slot = number ? try_from(c, e->span, e->call.receiver, check_type_text(c, to))
                   : build_call(c, e->span, to->structure->name, "try_from", &e->call.receiver, 1);
    check_expr(c, slot, expected);
    return true;
}

/* char::from_digit(d, 10), char::from_u32(n); false: not with so many arguments, which is said. */
static bool char_of(checker *c, expr **slot, const char *name) {
    expr *e = *slot, **args = e->call.args;
    bool digit = library_said_of(LIBRARY_form, name) == SAID_DIGIT;
    if (!check_count(c, e, name, digit ? 2 : 1, (source_span){0}))
        return false;
    expr *number = check_cast_as_written(c, args[0], "i64");
    *slot = digit ? build_method(c, e->span, number, "__digit", &args[1], 1)
                  : check_map_cast(c, build_method(c, e->span, number, "__code_point", NULL, 0), "char");
    return true;
}

/* i64::from(x), u8::try_from(x), u8::from_str_radix(s, 16), char::from_digit(d, 10), f64::max(a, b) */
bool check_scalar_call(checker *c, expr **slot, const char *scope, const char *name, const type *expected) {
    expr *e = *slot, **args = e->call.args;
    uint32_t count = e->call.arg_count;
    source_span span = e->span;
    if (count == 0 ||
        (!check_scalar_scope(scope) && !check_same_text(scope, "char") && !check_same_text(scope, "bool") &&
         !check_same_text(scope, "str") && !check_same_text(scope, "String")))
        return false;
    bool text = check_same_text(scope, "str") || check_same_text(scope, "String");
    expr *bytes = *check_behind(&args[0]);
    bytes->is_vec |= bytes->kind == EXPR_ARRAY && text;
    const library_said form = library_said_of(LIBRARY_form, name);
    if (form == SAID_UTF8 && text) {
        const char *made = check_same_text(scope, "str") ? "str" : "String";
        *slot = build_method(c, span, args[0], check_printf(c, "__%s_from_utf8", made), NULL, 0);
    } else if (form == SAID_LOSSY && text) {
        *slot = build_method(c, span, args[0], "__utf8", NULL, 0);
    } else if (text && form == SAID_COLLECT) {
        *slot = build_method(c, span, args[0], "__text_of", NULL, 0);
    } else if (text && form == SAID_FROM) {
        return false;
    } else if (form == SAID_FROM && count == 1) {
        *slot = check_cast_as_written(c, args[0], scope);
    } else if (form == SAID_TRY_FROM && count == 1) {
        *slot = try_from(c, span, args[0], scope);
    } else if (form == SAID_RADIX && count == 2) {
        expr *values[3] = {args[1], check_cast_as_written(c, build_call(c, span, scope, "min_value", NULL, 0), "i64"),
                           check_cast_as_written(c, build_call(c, span, scope, "max_value", NULL, 0), "i64")};
        expr *parsed = build_method(c, span, args[0], "__radix", values, 3);
        *slot = check_map_cast(c, parsed, scope);
    } else if (check_same_text(scope, "char") && (form == SAID_DIGIT || form == SAID_CODE_POINT)) {
        if (!char_of(c, slot, name)) {
            check_list(c, args, count);
            check_make_error(c, e);
            return true;
        }
    } else {
        expr *receiver = args[0];
        if (check_scalar_scope(scope) && receiver->type == NULL && check_free_literal(receiver))
            receiver = check_cast_as_written(c, receiver, scope);
        *slot = build_method(c, span, receiver, name, args + 1, count - 1);
    }
    check_expr(c, slot, expected);
    return true;
}

/* ---- methods by their path ------------------------------------------------------------------- */

void check_first_as_receiver(checker *c, expr **slot, const char *f, const type *expected) {
    expr *e = *slot, *receiver = c->tree->has_reference_impls ? e->call.args[0] : *check_behind(&e->call.args[0]);
    *slot = build_method(c, e->span, receiver, f, e->call.args + 1, e->call.arg_count - 1);
    (*slot)->call.name_span = e->call.name_span;
    (*slot)->call.trait = e->call.trait;
    (*slot)->call.views = e->call.views != NULL && e->call.views->of_type ? e->call.views : NULL;
    check_expr(c, slot, expected);
}

bool check_method_by_path(checker *c, expr **slot, struct_item *owner, const type *expected) {
    const expr *e = *slot;
    const name_expr *callee = &e->call.callee->name;
    const function_item *f = check_find_method(c, owner, callee->name);
    if (f == NULL || !f->has_self || owner->generics.count == 0 || owner->template != NULL || e->call.arg_count == 0 ||
        callee->argument_count > 0)
        return false;
    expr **first = check_behind(&e->call.args[0]), *seen = *first;
    const bool is_place = seen->kind == EXPR_NAME || seen->kind == EXPR_FIELD || seen->kind == EXPR_TUPLE_FIELD ||
                          seen->kind == EXPR_INDEX;
    seen = is_place ? check_copy_place(c, seen) : seen;
    check_expr(c, &seen, NULL);
    *first = is_place ? *first : seen;
    const type *t = type_resolve(c->types, seen->type);
    while (type_is_box(t) || (type_is_reference(t) && !type_is_slice(t)))
        t = type_resolve(c->types, t->vec.element);
    if (t->kind != TYPE_STRUCT || t->structure->template != owner)
        return false;
    check_first_as_receiver(c, slot, callee->name, expected);
    return true;
}

/* ---- collect --------------------------------------------------------------------------------- */

/* The receiver is a checked Vec. */
bool check_collect(checker *c, expr **slot, const type *expected) {
    expr *e = *slot;
    if (library_said_of(LIBRARY_stage, e->call.name) != SAID_COLLECT || e->call.arg_count != 0)
        return false;
    const type *t = expected == NULL ? e->becomes : type_resolve(c->types, expected);
    if (e->call.type_argument_count == 1)
        t = check_type(c, e->call.type_arguments[0]);
    source_span span = e->span;
    if (t == NULL || t->kind == TYPE_VEC || t->kind == TYPE_OPEN || type_is_silent(t))
        return false;
    if (t->kind == TYPE_STRING) {
        const type *item = type_resolve(c->types, type_resolve(c->types, e->call.receiver->type)->vec.element);
        if (type_is_numeric(item) || item->kind == TYPE_BOOL || item->kind == TYPE_TENSOR) {
            diagnostic *d = diagnostics_say(c->diagnostics, span, SAY(string_is_collected_of_texts),
                                            check_type_text(c, item));
            diagnostics_note(c->diagnostics, d, (source_span){0}, "`.map(|x| x.to_string())` makes texts");
            check_make_error(c, e);
            return true;
        }
        *slot = build_method(c, span, e->call.receiver, "__text_of", NULL, 0);
        check_expr(c, slot, NULL);
        return true;
    }
    if (check_is_form(c, t, SAID_OPTION) || check_is_form(c, t, SAID_RESULT)) {
        const type *inner = type_resolve(c->types, t->structure->arguments[0]);
        *slot = build_method(c, span, e->call.receiver, "__whole", NULL, 0);
        check_expr(c, slot, NULL);
        if (inner == check_unit_type(c)) { /* of nothings, one */
            *slot = BUILD_QUOTE(c, span, "$0.map(|$x| ())", *slot);
            check_expr(c, slot, t);
        } else if (inner->kind != TYPE_VEC && inner->kind != TYPE_OPEN) { /* of a map or text */
            *slot = BUILD_QUOTE(c, span, "$0.map(|$x| $x.collect())", *slot);
            check_expr(c, slot, t);
        }
        return true;
    }
    if (t->kind == TYPE_STRUCT && check_method_named(c, t->structure, "from_iter") != NULL) {
        const char *name = t->structure->template != NULL ? t->structure->template->name : t->structure->name;
        *slot = build_call(c, span, name, "from_iter", &e->call.receiver, 1);
        (*slot)->call.views = check_as_operand(c, e->call.views);
        check_expr(c, slot, t);
        return true;
    }
    return false;
}

/* let (a, b): (BTreeSet<_>, BTreeSet<_>) = v.partition(f): both lists of the pair are collected, one of pairs is taken
 * apart as the whole was. */
void check_collect_parts(checker *c, expr **slot, const type *expected) {
    expr *e = *slot;
    const type *wish = expected == NULL ? NULL : type_resolve(c->types, expected), *t = type_resolve(c->types, e->type);
    bool pair = e->kind == EXPR_CALL && e->call.kind == CALL_FUNCTION && wish != NULL && wish->kind == TYPE_TUPLE &&
                t->kind == TYPE_TUPLE && t->tuple.count == wish->tuple.count &&
                e->call.function->span.file == c->tree->prelude;
    uint32_t others = 0;
    for (uint32_t i = 0; pair && i < t->tuple.count; i++) {
        const type *part = type_resolve(c->types, wish->tuple.items[i]);
        pair = type_is(type_resolve(c->types, t->tuple.items[i]), TYPE_VEC);
        others += part->kind == TYPE_STRING || part->kind == TYPE_STRUCT || part->kind == TYPE_TUPLE;
    }
    if (!pair || others == 0)
        return;
    block_builder b = build_block(c, e->span);
    const char *name = build_named(&b, "parts", e);
    expr **parts = CHECK_ARRAY(c, expr *, t->tuple.count);
    for (uint32_t i = 0; i < t->tuple.count; i++) {
        expr *part = build_part(c, e->span, check_new_name(c, e->span, name), i);
        const bool again = type_is(type_resolve(c->types, wish->tuple.items[i]), TYPE_TUPLE); /* ((a, b), c) */
        parts[i] = build_method(c, e->span, part, again ? e->call.function->name : "collect", NULL, 0);
    }
    *slot = build_finish(&b, build_list(c, EXPR_TUPLE, e->span, parts, t->tuple.count));
    check_expr(c, slot, expected);
}

/* Two parameters may be one type here: the first says it. */
const type *check_bound_of_into(checker *c, const type *t) {
    const type_environment *e = c->environment;
    const type_parameters *lists[2] = {e == NULL ? NULL : e->parameters, e == NULL ? NULL : e->more};
    for (int l = 0; l < 2; l++) {
        for (uint32_t i = 0; lists[l] != NULL && i < lists[l]->count; i++) {
            const type_parameter *p = &lists[l]->items[i];
            const type *is = type_resolve(c->types, l == 0 ? e->arguments[i] : e->more_arguments[i]);
            for (uint32_t k = 0; is == t && k < p->bound_count; k++)
                if (p->bounds[k]->name != NULL &&
                    library_said_of(LIBRARY_trait_form, p->bounds[k]->name) == SAID_INTO &&
                    p->bounds[k]->argument_count == 1)
                    return type_resolve(c->types, check_type(c, p->bounds[k]->arguments[0]));
        }
    }
    return NULL;
}

/* x.into() is T::from(x) where a T is wanted that has it; else the value will do. */
void check_become_from(checker *c, expr **slot, const type *t, const type *expected) {
    expr *e = *slot, *value = e->call.receiver;
    const type *wish = expected == NULL ? NULL : type_resolve(c->types, expected);
    struct_item *owner = wish == NULL || type_is_silent(wish) || wish == t ? NULL
                         : wish->kind == TYPE_STRUCT                       ? wish->structure
                         : t->kind == TYPE_STRUCT || t->kind == TYPE_TUPLE ? check_owner_of(c, wish)
                                                                           : NULL;
    bool taken = owner != NULL && check_is_dyn(wish) && !check_dyn_from(c, wish, t);
    bool other = owner != NULL && !taken && check_method_named(c, owner, "from") != NULL;
    const char *name = !other ? NULL : wish->kind == TYPE_STRUCT ? owner->name : check_type_text(c, wish);
    *slot = other ? build_call(c, e->span, name, "from", &value, 1) : value;
    if (other) {
        (*slot)->call.views = check_as_operand(c, e->call.views);
        check_expr(c, slot, wish);
    }
}

void check_finish_into(checker *c, expr *e, const type *wanted) {
    expr *value = e->call.operands[0];
    const type *t = type_resolve(c->types, value->type);
    value->type = t;
    expr *made = check_from(c, value, e->call.views, wanted);
    if (made != NULL) {
        check_expr(c, &made, wanted);
    } else {
        made = build_method(c, e->span, value, "into", NULL, 0);
        made->call.views = e->call.views;
        check_become_from(c, &made, t, wanted);
    }
    check_coerce(c, &made, wanted, NULL);
    check_become(e, made);
}

/* ---- clones -------------------------------------------------------------------------------------- */

static expr *clone_of_tuple(checker *c, expr *value, const type *t) {
    block_builder b = build_block(c, value->span);
    const char *name = build_named(&b, "cloned", value);
    expr **parts = CHECK_ARRAY(c, expr *, t->tuple.count + 1);
    for (uint32_t i = 0; i < t->tuple.count; i++) {
        parts[i] = build_part(c, value->span, check_new_name(c, value->span, name), i);
        if (check_clone_differs(c, t->tuple.items[i]))
            parts[i] = build_method(c, value->span, parts[i], check_clone_method, NULL, 0);
    }
    return build_finish(&b, build_list(c, EXPR_TUPLE, value->span, parts, t->tuple.count));
}

expr *check_cloned(checker *c, expr *value) {
    const type *t = type_resolve(c->types, value->type);
    if (!check_clone_differs(c, t))
        return NULL;
    if (t->kind == TYPE_TUPLE)
        return clone_of_tuple(c, value, t);
    if (type_is_box(t))
        check_unbox(c, &value);
    const bool list = type_resolve(c->types, value->type)->kind == TYPE_VEC;
    return build_method(c, value->span, value, list ? "__cloned" : check_clone_method, NULL, 0);
}
