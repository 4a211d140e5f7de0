/* check_forms.c: forms of calls on tensors that mean another call. Programs of different ages and habits write the same
 * operation in several ways; each of these is written out as the one that the tables know:
 *
 *     t.get(i, j)      ─► t[i, j]               t.get(i) of a matrix: element i, row by row
 *     t.mod(n)         ─► t.rem(n)              and the other names of the list below
 *     t.to_i64()       ─► t as Tensor<i64>      (to_f32 too) where t holds more than a number, or a tensor is wanted
 *     softmax(t, 1)    ─► t.softmax(1)          where no function has that name and the first argument has the method
 */
#include <string.h>

#include "language/front/check_call.h"
#include "language/front/check_choose.h"
#include "language/front/check_closure.h"
#include "language/front/check_expr.h"
#include "language/front/check_place.h"
#include "language/front/check_tensor.h"
#include "language/library/library.h"
#include "language/syntax/lexer.h"
#include "language/types/check_context.h"
#include "language/types/check_fits.h"
#include "language/types/check_instances.h"
#include "language/types/check_scopes.h"
#include "language/types/check_written.h"

/* ---- other names ----------------------------------------------------------------------------- */

/* `arguments` is how many are kept; the others say what the operation knows by itself. */
static const struct other_name {
    const char *name, *meant;
    uint32_t least, most, kept;
} other_names[] = {
#define NAME(name, meant, least, most, kept) {#name, #meant, least, most, kept},
#include "language/front/other_names.def"
#undef NAME
};

const char *check_other_name(const char *name, uint32_t argument_count) {
    for (size_t i = 0; i < sizeof other_names / sizeof other_names[0]; i++) {
        const struct other_name *o = &other_names[i];
        if (strcmp(o->name, name) == 0 && argument_count >= o->least && argument_count <= o->most)
            return o->meant;
    }
    return NULL;
}

static void use_other_name(checker *c, expr *e) {
    for (size_t i = 0; i < sizeof other_names / sizeof other_names[0]; i++) {
        const struct other_name *o = &other_names[i];
        if (strcmp(o->name, e->call.name) == 0 && e->call.arg_count >= o->least && e->call.arg_count <= o->most) {
            e->call.name = o->meant;
            while (e->call.arg_count > o->kept) /* a device: there is one */
                check_expr(c, &e->call.args[--e->call.arg_count], NULL);
            return;
        }
    }
}

/* ---- get ------------------------------------------------------------------------------------- */

static bool get_element(checker *c, expr **slot, const type *t) {
    expr *e = *slot;
    if (library_said_of(LIBRARY_of_lists, e->call.name) != SAID_GET || e->call.arg_count == 0)
        return false;
    expr *first = e->call.args[0], *index = check_new(c, EXPR_INDEX, e->span, NULL);
    bool list = e->call.arg_count == 1 && first->kind == EXPR_ARRAY;
    index->index.indices = list ? first->list.items : e->call.args;
    index->index.count = list ? first->list.count : e->call.arg_count;
    bool flat = index->index.count == 1 && t->tensor.rank != 1;
    index->index.base = flat ? build_method(c, e->span, e->call.receiver, "flatten", NULL, 0) : e->call.receiver;
    *slot = index;
    check_expr(c, slot, NULL);
    return true;
}

/* ---- values and where they lie --------------------------------------------------------------- */

/* Tensor::topk(t, k), topk(t, k): as t.topk(k). */
static void name_as_method(checker *c, expr *e) {
    if (e->kind != EXPR_CALL || e->call.callee == NULL || e->call.callee->kind != EXPR_NAME || e->call.arg_count == 0 ||
        e->type != NULL)
        return;
    const name_expr *callee = &e->call.callee->name;
    if (callee->scope != NULL ? strcmp(callee->scope, "Tensor") != 0 : check_find(c, callee->name) != NULL)
        return;
    expr *method = build_method(c, e->span, e->call.args[0], callee->name, e->call.args + 1, e->call.arg_count - 1);
    if (check_has_places(method))
        *e = *method;
}

/* The method that yields the places of e's values; NULL: e is not such a method of a tensor. Its receiver is checked
 * then. */
static const char *places_of(checker *c, expr *e) {
    name_as_method(c, e);
    const char *name = check_name_of_places(e);
    if (name == NULL)
        return NULL;
    check_expr(c, &e->call.receiver, NULL);
    bool tensor = type_resolve(c->types, e->call.receiver->type)->kind == TYPE_TENSOR;
    return tensor ? name : NULL;
}

/* let (values, numbers) = t.topk(k): what PyTorch yields where two are taken. */
void check_value_pair(checker *c, const pattern *p, expr **slot, const type *wish) {
    expr *e = *slot;
    bool wished = wish != NULL && wish->kind == TYPE_TUPLE && wish->tuple.count == 2;
    if (!wished && (p->kind != PATTERN_TUPLE || p->part_count != 2))
        return;
    const char *places = places_of(c, e); /* the call is a method then */
    const char *names[2] = {e->call.name, places};
    if (places == NULL)
        return;
    block_builder b = build_block(c, e->span);
    build_let(&b, "<t>", false, e->call.receiver);
    expr *both[2];
    for (int k = 0; k < 2; k++) {
        expr **args = CHECK_ARRAY(c, expr *, e->call.arg_count + 1);
        for (uint32_t a = 0; a < e->call.arg_count; a++)
            args[a] = check_copy_place(c, e->call.args[a]);
        both[k] = build_method(c, e->span, check_new_name(c, e->span, "<t>"), names[k], args, e->call.arg_count);
    }
    *slot = build_finish(&b, build_list(c, EXPR_TUPLE, e->span, both, 2));
}

/* t.topk(k).0, t.topk(k).1: one of the two. */
bool check_value_part(checker *c, expr **slot) {
    expr *e = *slot, *base = e->field.base;
    const char *places = e->field.index < 2 ? places_of(c, base) : NULL;
    if (places == NULL)
        return false;
    base->call.name = e->field.index == 0 ? base->call.name : places;
    *slot = base;
    check_expr(c, slot, NULL);
    return true;
}

/* The type wanted of t.to_f64(), or the one that its uses say (check_infer.c). */
static const type *wish_of(checker *c, const expr *e, const type *expected) {
    const type *wish = expected == NULL ? NULL : type_resolve(c->types, expected);
    return wish == NULL || wish->kind == TYPE_OPEN ? e->becomes : wish;
}

/* ---- to_i64, to_f32 --------------------------------------------------------------------------- */

/* A number where one is wanted and of a tensor that holds one; else, and of a mask of any rank, all elements. */
static bool convert_all(checker *c, expr **slot, const type *t, const type *expected) {
    expr *e = *slot;
    const type *wish = wish_of(c, e, expected);
    const type *to = check_converted_to(c, e->call.name);
    bool whole = to != NULL && to->kind == TYPE_I64, real = to != NULL && to->kind == TYPE_F32;
    if ((!whole && !real) || e->call.arg_count > 0 || (wish != NULL && type_is_numeric(wish)))
        return false;
    const type *held = t->tensor.element == NULL ? NULL : type_resolve(c->types, t->tensor.element);
    bool converts = t->tensor.rank < 0 && held != NULL && (real || held->kind == TYPE_BOOL);
    bool many = t->tensor.rank > 0 || converts || (wish != NULL && wish->kind == TYPE_TENSOR);
    if (!many)
        return false;
    expr *operands[2] = {e->call.receiver, check_new_int(c, e->span, whole ? TL_I64 : TL_F32)};
    *slot = check_new_abi(c, TL_FN_tl_tensor_to_dtype, e->span, operands, 2);
    (*slot)->type = type_tensor(c->types, check_scalar(c, whole ? TYPE_I64 : TYPE_F32), t->tensor.rank);
    return true;
}

/* w.adam_step(g, m, v, step, lr, beta1, beta2, eps, decay): w, m and v are assigned to. */
static bool adam_step(checker *c, expr **slot) {
    enum { ARGUMENTS = 9 };
    expr *e = *slot, *parts[1 + ARGUMENTS] = {e->call.receiver};
    if (library_said_of(LIBRARY_form, e->call.name) != SAID_ADAM || e->call.arg_count != ARGUMENTS)
        return false;
    memcpy(parts + 1, e->call.args, ARGUMENTS * sizeof *parts);
    *slot = build_quote(c, e->span,
                        "{ let $g = $1; let $step = $4; let $lr = $5; let $beta1 = $6; let $beta2 = $7; let $eps = $8;"
                        "  let $decay = $9;"
                        "  $2 = $2.__adam_mean($g, $beta1);"
                        "  $3 = $3.__adam_mean($g * $g, $beta2);"
                        "  $0 = $0.__adam_step($2, $3, $step, $lr, $beta1, $beta2, $eps, $decay); }",
                        parts, 1 + ARGUMENTS);
    check_expr(c, slot, check_scalar(c, TYPE_VOID));
    return true;
}

/* x.batch_norm(mean, variance, weight, bias, training, momentum, eps): mean and variance, where the program may write
 * to them, move by momentum towards what this batch has. */
static bool moving_batch_norm(checker *c, expr **slot) {
    enum { MEAN, VARIANCE, WEIGHT, BIAS, TRAINING, MOMENTUM, EPS, ARGUMENTS };
    expr *e = *slot, **args = e->call.args;
    uint32_t count = e->call.arg_count;
    source_span span = e->span;
    if (library_said_of(LIBRARY_form, e->call.name) != SAID_NORM || count <= TRAINING || count > ARGUMENTS)
        return false;
    for (int i = 0; i < ARGUMENTS && i < (int)count; i++)
        if (args[i]->type == NULL && (i == TRAINING || i < WEIGHT))
            check_expr(c, &args[i], NULL);
    bool moves = true;
    for (int i = 0; i < WEIGHT; i++) {
        binding *root = check_root(args[i]);
        moves &= root != NULL && (root->kind == BINDING_SELF || root->is_mutable);
    }
    if (!moves || type_resolve(c->types, args[TRAINING]->type)->kind != TYPE_BOOL)
        return false;
    const bool paced = count > MOMENTUM;
    expr *momentum = paced ? args[MOMENTUM] : NULL, *training = args[TRAINING];
    args[TRAINING] = check_new_name(c, span, "<t>");
    if (paced)
        args[MOMENTUM] = check_new_name(c, span, "<m>");
    expr *normal = build_method(c, span, check_new_name(c, span, "<x>"), "__batch_norm", args, count);
    *slot = BUILD_QUOTE(c, span,
                        paced ? "{ let $$t = $0; let $$x = $1; let $$m = $5; let $n = $2;"
                                "  $3 = $3.__moved($$x, $$t, 0, $$m); $4 = $4.__moved($$x, $$t, 1, $$m); $n }"
                              : "{ let $$t = $0; let $$x = $1; let $n = $2;"
                                "  $3 = $3.__moved($$x, $$t, 0); $4 = $4.__moved($$x, $$t, 1); $n }",
                        training, e->call.receiver, normal, check_copy_place(c, args[MEAN]),
                        check_copy_place(c, args[VARIANCE]), momentum);
    check_expr(c, slot, NULL);
    return true;
}

const type *check_converted_to(const checker *c, const char *name) {
    const char *to = library_word(LIBRARY_converts, name);
    return to == NULL ? NULL : check_scalar(c, scalar_type_of_name(to, strlen(to)));
}

/* t.to_i64().sum(): what no number has is meant of all elements, also where only the program knows the rank. */
const type *check_converts_for(checker *c, const expr *e) {
    const expr *on = e->call.receiver;
    const type *to = on->kind == EXPR_METHOD && on->call.arg_count == 0 ? check_converted_to(c, on->call.name) : NULL;
    const char *name = e->call.name;
    if (to == NULL || (check_is_number_method(c, to, name) && !check_lacks_number(name, e->call.arg_count)))
        return NULL;
    return check_has_method(c, type_tensor(c->types, NULL, -1), name) ? to : NULL;
}

/* t.to_i32(), t.to_f64(): all elements, or the number in it where one is wanted or its rank says so. */
static bool convert_to(checker *c, expr **slot, const type *t, const type *expected) {
    expr *e = *slot;
    const char *name = e->call.name;
    const type *to = check_converted_to(c, name);
    bool has = to != NULL && (to->kind == TYPE_I64 || to->kind == TYPE_F32); /* convert_all */
    if (to == NULL || has || e->call.arg_count > 0)
        return false;
    const type *wish = wish_of(c, e, expected);
    bool number = t->tensor.rank == 0 || (t->tensor.rank < 0 && wish != NULL && type_is_numeric(wish));
    bool many = !number || (wish != NULL && wish->kind == TYPE_TENSOR);
    if (!many) {
        check_read_item(c, &e->call.receiver);
        return check_number_method(c, slot);
    }
    return check_cast_tensor(c, slot, e->call.receiver, type_tensor(c->types, to, t->tensor.rank));
}

/* t.to_vec() holds what is wanted, or what the tensor holds: where nothing says that, a number that is open. */
static bool name_list(checker *c, expr **slot, const type *t, const type *expected) {
    expr *e = *slot;
    const type *wish = expected == NULL ? NULL : type_resolve(c->types, expected);
    bool wanted = wish != NULL && wish->kind == TYPE_VEC &&
                  type_resolve(c->types, wish->vec.element)->kind != TYPE_OPEN;
    const type *held = wanted ? type_resolve(c->types, wish->vec.element) : t->tensor.element;
    if (library_said_of(LIBRARY_form, e->call.name) != SAID_VECTOR || e->call.arg_count > 0)
        return false;
    if (held == NULL || type_is_open_number(held)) {
        *slot = build_method(c, e->span, e->call.receiver, "__vec_of", NULL, 0);
        (*slot)->call.name_span = e->call.name_span;
        held = held != NULL ? held : check_unstated_element(c, e->span, e->call.receiver, NULL);
        check_expr(c, slot, type_vec(c->types, held));
        return true;
    }
    if ((type_is_numeric(held) || held->kind == TYPE_BOOL) && held->kind != TYPE_F32)
        e->call.name = check_printf(c, "__vec_%s", check_type_text(c, held));
    return false;
}

/* t.zeros_like() is Tensor::zeros_like(t). */
static bool made_like(checker *c, expr **slot) {
    expr *e = *slot;
    const char *name = e->call.name, *end = strstr(name, "_like");
    if (end == NULL || end[5] != 0 || name[0] == '_' || e->call.arg_count > 1)
        return false;
    expr *both[2] = {e->call.receiver, e->call.arg_count > 0 ? e->call.args[0] : NULL};
    *slot = build_call(c, e->span, "Tensor", name, both, 1 + e->call.arg_count);
    (*slot)->call.name_span = e->call.name_span;
    check_expr(c, slot, NULL);
    return true;
}

/* t.slice(start, length): rows. mask.where_cond(a, b) and a.where_cond(mask, b) are Tensor::where_cond(mask, a, b). */
static bool other_order(checker *c, expr **slot, const type *t, const type *expected) {
    expr *e = *slot, **args = e->call.args;
    if (e->call.arg_count != 2)
        return false;
    const library_said form = library_said_of(LIBRARY_form, e->call.name);
    if (form == SAID_SLICE) {
        expr *rows[3] = {check_new_int(c, e->span, 0), args[0], args[1]};
        *slot = build_method(c, e->span, e->call.receiver, "narrow", rows, 3);
    } else if (form == SAID_WHERE) {
        bool mask = t->tensor.element != NULL && t->tensor.element->kind == TYPE_BOOL;
        expr *three[3] = {mask ? e->call.receiver : args[0], mask ? args[0] : e->call.receiver, args[1]};
        *slot = build_call(c, e->span, "Tensor", "where_cond", three, 3);
    } else {
        return false;
    }
    (*slot)->call.name_span = e->call.name_span;
    check_expr(c, slot, expected);
    return true;
}

/* A checked place whose indices may be written twice. */
static bool has_plain_indices(const expr *place) {
    for (; place->kind == EXPR_INDEX || place->kind == EXPR_FIELD || place->kind == EXPR_TUPLE_FIELD;
         place = place->kind == EXPR_INDEX ? place->index.base : place->field.base)
        for (uint32_t i = 0; place->kind == EXPR_INDEX && i < place->index.count; i++)
            if (!check_is_harmless(place->index.indices[i], 0))
                return false;
    return true;
}

/* x.add_(b) is { x += b; x }; where the place asks for more than a name, it is a call of the method. */
static bool check_update_method(checker *c, expr **slot) {
    expr *e = *slot;
    const library_said said = library_said_of(LIBRARY_updates_and_yields, e->call.name);
    if (said == SAID_NOTHING || e->call.arg_count != 1 || !check_is_place(e->call.receiver) ||
        !has_plain_indices(e->call.receiver))
        return false;
    check_number_beside(c, &e->call.args[0], e->call.receiver->type);
    expr *update = build_assign(c, e->span, e->call.receiver, e->call.args[0]);
    update->assign.op = check_operator_said(said);
    *slot = BUILD_QUOTE(c, e->span, "{ $0; $1 }", update, check_copy_place(c, e->call.receiver));
    check_expr(c, slot, NULL);
    return true;
}

bool check_tensor_form(checker *c, expr **slot, const type *t, const type *expected) {
    use_other_name(c, *slot);
    if (other_order(c, slot, t, expected) || made_like(c, slot) || moving_batch_norm(c, slot))
        return true;
    if (check_nested_list(c, slot, t, expected))
        return true;
    return name_list(c, slot, t, expected) || check_update_method(c, slot) || convert_to(c, slot, t, expected) ||
           adam_step(c, slot) || get_element(c, slot, t) || convert_all(c, slot, t, expected);
}

/* let u = t.set(0, 1.0), t = t.add_assign(x): what t is then.
 *
 *     { t.set(0, 1.0); t }
 */
void check_written_value(checker *c, expr **slot) {
    expr *e = *slot;
    if (e->kind == EXPR_METHOD && library_says(LIBRARY_writes_value, e->call.name)) {
        check_expr(c, &e->call.receiver, NULL);
        bool tensor = type_resolve(c->types, e->call.receiver->type)->kind == TYPE_TENSOR;
        if (tensor && check_is_place(e->call.receiver))
            *slot = BUILD_QUOTE(c, e->span, "{ $0; $1 }", e, check_copy_place(c, e->call.receiver));
    }
}

/* ---- f(x, …) --------------------------------------------------------------------------------- */

bool check_has_method(checker *c, const type *t, const char *name) {
    suggestion near = {.wanted = name, .distance = 1};
    struct_item *owner = check_owner_of(c, t);
    if (owner != NULL && check_find_method(c, owner, name) != NULL)
        return check_find_method(c, owner, name)->has_self;
    check_suggest_methods(c, t, &near);
    return near.exact;
}

bool check_is_tensor_function(checker *c, const char *name, uint32_t count) {
    const choice rows = {.scope = "Tensor", .name = name};
    const struct_item *owner = c->instances->builtin_owners[TYPE_TENSOR];
    const function_item *f = owner == NULL ? NULL : names_find_method(c->names, owner, name);
    bool written = false;
    for (; f != NULL && !written; f = f->next_in_bucket)
        written = f->owner == owner && !f->has_self && strcmp(f->name, name) == 0 && f->parameter_count == count;
    return written || check_count_forms(c, &rows, count) > 0;
}

bool check_function_form(checker *c, expr **slot, const char *name, const type *expected) {
    expr *e = *slot;
    if (check_is_tensor_function(c, name, e->call.arg_count)) { /* zeros([2, 3]) */
        e->call.callee->name.scope = "Tensor";
        e->call.callee->name.scope_span = e->call.name_span;
        check_expr(c, slot, expected);
        return true;
    }
    if (e->call.arg_count == 0)
        return false;
    if (e->call.args[0]->type == NULL)
        check_expr(c, &e->call.args[0], NULL);
    const type *t = type_resolve(c->types, e->call.args[0]->type);
    bool known = (t->kind == TYPE_TENSOR && check_has_method(c, t, name)) ||
                 (t->kind == TYPE_STRING && check_is_string_method(name)) || check_is_number_method(c, t, name);
    if (!known)
        return false;
    expr *method = build_method(c, e->span, e->call.args[0], name, e->call.args + 1, e->call.arg_count - 1);
    method->call.name_span = e->call.name_span;
    *slot = method;
    check_expr(c, slot, expected);
    return true;
}

bool check_makes_of_values(const char *name) {
    return library_says(LIBRARY_tensor_of_values, name);
}

/* The one argument is the tensor, or a Vec of its elements, or a number. */
static void value_as_tensor(checker *c, expr **slot, bool grad, const type *expected) {
    expr *e = *slot, *value = e->call.args[0];
    check_expr(c, &value, value->kind == EXPR_ARRAY && !value->is_vec ? expected : NULL);
    const type *t = type_resolve(c->types, value->type);
    *slot = value;
    if (t->kind == TYPE_VEC)
        *slot = build_call(c, e->span, "Tensor", "from_vec", &value, 1);
    else if (type_is_numeric(t))
        *slot = BUILD_QUOTE(c, e->span, "Tensor::full([], $0)", value);
    if (grad)
        *slot = BUILD_QUOTE(c, e->span, "$0.detach(true)", *slot);
    if ((*slot)->type == NULL)
        check_expr(c, slot, expected);
}

bool check_tensor_static(checker *c, expr **slot, bool grad, const type *expected) {
    expr *e = *slot;
    name_expr *callee = &e->call.callee->name;
    uint32_t count = e->call.arg_count;
    if (check_makes_of_values(callee->name) && count == 1) {
        value_as_tensor(c, slot, grad, expected);
        return true;
    }
    if (check_makes_of_values(callee->name) && count == 2) {
        callee->name = e->call.name = "from_vec";
        check_expr(c, slot, expected);
        return true;
    }
    if (count == 0 || check_other_name(callee->name, count - 1) == NULL)
        return false;
    *slot = build_method(c, e->span, e->call.args[0], callee->name, e->call.args + 1, count - 1);
    check_expr(c, slot, expected);
    return true;
}

bool check_number_beside(checker *c, expr **slot, const type *beside) {
    expr *e = *slot;
    const type *own = beside == NULL ? NULL : type_resolve(c->types, beside);
    bool real = own != NULL && own->kind == TYPE_TENSOR && own->tensor.element != NULL &&
                type_is_float(type_resolve(c->types, own->tensor.element));
    bool number = e->type == NULL ? check_free_literal(e) : type_is_numeric(type_resolve(c->types, e->type));
    if (!number)
        return false;
    expr *list = build_list(c, EXPR_ARRAY, e->span, &e, 1), *zero = check_new_int(c, e->span, 0);
    check_expr(c, &list, real ? type_tensor(c->types, own->tensor.element, 1) : NULL);
    *slot = build_method(c, e->span, list, "squeeze", &zero, 1);
    check_expr(c, slot, NULL);
    return true;
}
