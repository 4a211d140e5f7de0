/* check_infer_call.c: what calls and methods demand of their arguments, and what they yield (check_infer.c).
 *
 * A signature is taken as it is written, with a variable for each type parameter; so nothing here knows what a function
 * of the library means. What only the tables say (ops.def, abi.def) yields what they say.
 */
#include <string.h>

#include "language/front/check_call.h"
#include "language/front/check_choose.h"
#include "language/front/check_infer.h"
#include "language/front/check_iterator.h"
#include "language/front/check_place.h"
#include "language/front/check_tensor.h"
#include "language/library/library.h"
#include "language/types/check_instances.h"
#include "language/types/check_scopes.h"
#include "language/types/check_variants.h"
#include "language/types/check_written.h"

/* ---- signatures -------------------------------------------------------------------------------- */

/* A parameter that is a function: what it takes and yields meets the argument's. */
static void function_argument(inference *n, const type_expr *bound, const type *argument) {
    argument = infer_value(n, argument);
    const open_form *f = infer_form_of(argument);
    if (f == NULL || f->kind != FORM_FUNCTION)
        return;
    for (uint32_t i = 0; i < f->count && i < bound->argument_count; i++)
        infer_same(n, f->parameters[i], infer_written(n, bound->arguments[i]));
    if (bound->result != NULL)
        infer_into(n, f->result, infer_written(n, bound->result), MIXED_BOTH);
}

/* written: the argument; NULL: none is. */
static void argument_of(inference *n, const function_item *f, const binding *parameter, const expr *written,
                        const type *argument) {
    const type_expr *bound = check_function_bound(f, parameter);
    bound = bound == NULL ? infer_function_of(parameter) : bound;
    if (bound != NULL)
        function_argument(n, bound, argument);
    if (bound != NULL || parameter->annotation == NULL)
        return;
    const type *wanted = infer_written(n, parameter->annotation);
    if (wanted->kind == TYPE_OPEN && n->item_count > 0 && f->span.file != n->c->tree->prelude)
        infer_item_goes_anywhere(n, written);
    infer_same(n, argument, wanted);
}

/* A free function of the library yields a tensor of what the first that it takes holds (check_element.c). */
static const type *like_first(inference *n, const function_item *f, const type *result, const type *const *arguments,
                              uint32_t count) {
    if (f->span.file != n->c->tree->prelude || f->owner_name != NULL || infer_value(n, result)->kind != TYPE_TENSOR)
        return result;
    for (uint32_t i = 0; i < count; i++) {
        const type *t = infer_value(n, arguments[i]);
        if (t->kind == TYPE_TENSOR)
            return infer_refined(n, result, type_tensor(n->c->types, t->tensor.element, -1));
    }
    return result;
}

/* impl<T> Option<T>: T is all that the owner's type says; the check drops the ranks of tensors there. */
static void whole_arguments(const function_item *f, const struct_item *owner, const type_environment *e) {
    const type_expr *written = f->impl == NULL ? NULL : f->impl->owner;
    for (uint32_t i = 0; written != NULL && owner->template != NULL && i < owner->template->generics.count; i++)
        for (uint32_t p = 0; i < written->argument_count && p < f->impl->generics.count; p++)
            if (written->arguments[i]->kind == TYPE_EXPR_NAME && written->arguments[i]->argument_count == 0 &&
                strcmp(written->arguments[i]->name, f->impl->generics.items[p].name) == 0)
                e->more_arguments[p] = owner->arguments[i];
}

/* f with these arguments, the receiver not among them. owner: of a method; NULL: a free function. */
const type *infer_call_of(inference *n, function_item *f, struct_item *owner, const type *self, const type **arguments,
                          uint32_t count) {
    checker *c = n->c;
    uint32_t first = f->has_self ? 1 : 0;
    if (!f->is_template) {
        for (uint32_t i = 0; i < count && i + first < f->parameter_count; i++) {
            const binding *p = f->parameters[i + first];
            if (p->type != NULL)
                infer_into(n, arguments[i], p->type, MIXED_BOTH);
        }
        return f->result == NULL
                   ? n->any
                   : like_first(n, f, infer_result_of(n, f, NULL, self, arguments, count, f->result), arguments, count);
    }
    type_environment e = check_environment_new(c, f);
    e.self = owner;
    if (owner != NULL && !check_impl_fits(c, f, owner, &e))
        return n->any;
    if (owner != NULL)
        whole_arguments(f, owner, &e);
    const type_environment *outer = c->environment;
    c->environment = &e;
    const expr *call = n->calling;
    for (uint32_t i = 0; i < count && i + first < f->parameter_count; i++)
        argument_of(n, f, f->parameters[i + first],
                    call != NULL && i < call->call.arg_count ? call->call.args[i] : NULL, arguments[i]);
    const bool any = infer_leaves_numbers(f);
    const type *result = f->result_annotation == NULL ? check_scalar(c, TYPE_VOID)
                         : any                        ? infer_any_yielded(n, f)
                                                      : infer_written(n, f->result_annotation);
    if (any)
        infer_remember_call(n, f, &e);
    c->environment = outer;
    return like_first(n, f, infer_result_of(n, f, &e, self, arguments, count, result), arguments, count);
}

static const type **arguments_of(inference *n, expr *e) {
    const type **arguments = CHECK_ARRAY(n->c, const type *, e->call.arg_count + 1);
    for (uint32_t i = 0; i < e->call.arg_count; i++)
        arguments[i] = e->kind == EXPR_METHOD ? infer_numbers(n, e->call.args[i]) : infer_expr(n, e->call.args[i]);
    n->at = e->span;
    return arguments;
}

/* ---- operations of the tables ------------------------------------------------------------------ */

static const type *result_of_table(inference *n, tl_abi_index function) {
    static const tl_rank_rule ranks[] = {
#define SHAPE_RULE(rule, rank, text) [rule] = rank,
#include <masu/ops.def>
    };
    tl_rank_rule rank = ranks[tl_abi_functions[function].shape];
    bool known = rank == RANK_0 || rank == RANK_1 || rank == RANK_2;
    switch (tl_abi_functions[function].result) {
    case ABI_tensor:
        return type_tensor(n->c->types, NULL, known ? (int32_t)(rank - RANK_0) : -1);
    case ABI_bool:
        return check_scalar(n->c, TYPE_BOOL);
    case ABI_i64:
        return check_scalar(n->c, TYPE_I64);
    default:
        return n->any;
    }
}

static const type *call_of_table(inference *n, tl_abi_index function, bool method, const type **arguments,
                                 uint32_t count) {
    const tl_abi_parameter *p = tl_abi_functions[function].parameters + method;
    for (uint32_t i = 0; i < count && p->name != NULL; i++, p += p->mode != TL_LIST) {
        if (p->mode == TL_LIST && p->kind == ABI_i64) {
            infer_prefer_list(n, arguments[i]); /* dimensions */
        } else if (p->mode != TL_LIST && p->kind == ABI_tensor) {
            const type *t = infer_value(n, arguments[i]);
            if (infer_is_bracket(t) || infer_is_truth(t) || (infer_is_row(t) && !t->open.form->is_element))
                infer_tensor(n, t);
        }
    }
    return result_of_table(n, function);
}

/* ---- methods ----------------------------------------------------------------------------------- */

static struct_item *tensor_owner(const inference *n) {
    return n->c->instances->builtin_owners[TYPE_TENSOR];
}

/* An argument as it is known before the check. */
static offer offer_of(inference *n, const expr *arg, const type *t) {
    t = infer_value(n, t);
    const open_form *f = infer_form_of(t);
    if (f != NULL && f->kind == FORM_ROW && f->is_element && !check_free_literal(arg))
        return (offer){.kind = OFFER_TYPE, .type = infer_value(n, f->element)};
    if (check_free_literal(arg))
        return (offer){.kind = type_is_float(t) ? OFFER_REAL : OFFER_WHOLE};
    if (infer_is_bracket(t))
        return (offer){.kind = OFFER_BRACKET, .e = f->e};
    if (arg->kind == EXPR_CLOSURE || (f != NULL && f->kind == FORM_FUNCTION))
        return (offer){.kind = OFFER_FUNCTION};
    return (offer){.kind = arg->kind == EXPR_TUPLE             ? OFFER_TUPLE
                           : f != NULL || t->kind == TYPE_OPEN ? OFFER_UNKNOWN
                                                               : OFFER_TYPE,
                   .type = t};
}

/* A bracket is the tensor, a list holds its elements, a number is its one element. */
static const type *tensor_of_values(inference *n, const type *t) {
    t = infer_value(n, t);
    if (infer_is_bracket(t)) {
        infer_tensor(n, t);
        return infer_value(n, t);
    }
    const type *element = t->kind == TYPE_VEC ? infer_value(n, t->vec.element) : t;
    return t->kind == TYPE_TENSOR     ? t
           : type_is_numeric(element) ? type_tensor(n->c->types, element, -1)
                                      : infer_any_tensor(n);
}

/* t.to_f64(): a number where one is wanted and nothing says the rank. */
static const type *converted(inference *n, expr *e, const type *to, int32_t rank) {
    if (rank >= 0)
        return type_tensor(n->c->types, to, rank);
    open_form *f = infer_form(n, FORM_ROW, e);
    f->element = to;
    return f->open;
}

/* x.name(…), Tensor::name(…): what the form that is meant demands and yields. args: those of `arguments`. */
static const type *call_of_tensor(inference *n, expr *e, expr *const *args, const char *name, const type *receiver,
                                  const type **arguments, uint32_t count) {
    bool method = receiver != NULL;
    struct_item *owner = tensor_owner(n);
    if (owner == NULL)
        return n->any;
    offer *offers = CHECK_ARRAY(n->c, offer, count + 1);
    for (uint32_t i = 0; i < count; i++)
        offers[i] = offer_of(n, args[i], arguments[i]);
    function_item *f = names_find_method(n->c->names, owner, name);
    const choice of = {.scope = method ? "" : owner->name, .name = name, .method = method, .written = f};
    const form meant = check_choose_offered(n->c, &of, offers, count);
    if (meant.row != TL_FN_COUNT) {
        const type *t = call_of_table(n, meant.row, method, arguments, count);
        if (!method && e->kind == EXPR_CALL && check_creates(meant.row))
            return infer_with_element(n, t, infer_form(n, FORM_MADE, e)->open);
        return infer_with_element(n, t,
                                  infer_by_rule(n, tl_abi_functions[meant.row].dtype, receiver, arguments, count));
    }
    if (!method && count == 1 && check_makes_of_values(name))
        return tensor_of_values(n, arguments[0]);
    const type *to = method && count == 0 && receiver->tensor.rank != 0 ? check_converted_to(n->c, name) : NULL;
    if (meant.written == NULL && to != NULL)
        return converted(n, e, to, receiver->tensor.rank);
    if (meant.written == NULL || (!method && meant.written->has_self))
        return method ? n->any : infer_any_tensor(n);
    const type *t = infer_call_of(n, meant.written, owner, receiver, arguments, count);
    static const tl_dtype_rule rules[] = {[ELEMENT_SAME] = DTYPE_SAME,
                                          [ELEMENT_REAL] = DTYPE_REAL,
                                          [ELEMENT_WIDE] = DTYPE_PROMOTE,
                                          [ELEMENT_SUM] = DTYPE_COUNT};
    const element_rule rule = meant.written->elements;
    return rule == ELEMENT_UNKNOWN || (rule == ELEMENT_SAME && receiver == NULL)
               ? t
               : infer_with_element(n, t, infer_by_rule(n, rules[rule], receiver, arguments, count));
}

/* t.item() is a number. */
static const type *item_of(inference *n, const expr *e, const type *tensor) {
    const type *element = infer_element(n, tensor);
    return element != NULL ? element : type_open_number(n->c->types, TYPE_F32, e->span);
}

static const type *method_of_tensor(inference *n, expr *e, const type *receiver, const type **arguments) {
    if (e->call.arg_count == 0 && library_says(LIBRARY_reads_number, e->call.name) &&
        library_word(LIBRARY_reads_number, e->call.name) == NULL)
        return item_of(n, e, receiver);
    return call_of_tensor(n, e, e->call.args, e->call.name, receiver, arguments, e->call.arg_count);
}

static const type *method_of_owner(inference *n, const type *t, const char *name, const type **arguments,
                                   uint32_t count) {
    checker *c = n->c;
    struct_item *owner = check_owner_of(c, t);
    owner = owner != NULL && owner->refines != NULL ? owner->refines : owner;
    function_item *f = owner == NULL ? NULL : check_method_named(c, owner, name);
    if (f == NULL && owner != NULL && t->kind == TYPE_STRUCT)
        f = check_iterator_method(c, owner, name);
    if (f == NULL && owner != NULL && t->kind == TYPE_VEC) /* as an Option, where it may yield an element, too */
        f = check_method_named(c, owner, check_printf(c, "__%s", name));
    return f == NULL || !f->has_self ? NULL : infer_call_of(n, f, owner, t, arguments, count);
}

const type *infer_yield(inference *n, const type *t, const char *name, const type **arguments, uint32_t count) {
    return method_of_owner(n, t, name, arguments, count);
}

const type *infer_led(inference *n, const type *t) {
    const type *led = check_leads(n->c, t) ? infer_yield(n, t, "deref", NULL, 0) : NULL;
    return led == NULL ? NULL : infer_value(n, led);
}

static const type *method_of_list(inference *n, expr *e, const type *t, const type **arguments) {
    if (e->call.type_argument_count == 1) { /* sum::<f64>() */
        const type *written = infer_written(n, e->call.type_arguments[0]);
        if (type_is_numeric(written))
            infer_same(n, t->vec.element, written);
        else if (written->kind == TYPE_VEC && !type_is_box(written)) /* collect::<Vec<f64>>() */
            infer_same(n, t, written);
    }
    const type *found = method_of_owner(n, t, e->call.name, arguments, e->call.arg_count);
    if (found != NULL)
        return found;
    for (uint32_t i = 0; i < e->call.arg_count; i++) { /* push, set: what is put into it */
        const type *given = infer_value(n, arguments[i]);
        bool number = type_is_numeric(given) && !type_is_numeric(infer_value(n, t->vec.element));
        if (i + 1 == e->call.arg_count && !number && e->call.args[i]->kind != EXPR_CLOSURE)
            infer_same(n, t->vec.element, given);
    }
    return check_is_identity(e->call.name) ? t : e->call.arg_count == 0 ? check_scalar(n->c, TYPE_USIZE) : n->any;
}

/* No number or bracket is given where f wants a function. */
static bool takes_functions(const function_item *f, const expr *e) {
    bool fits = true;
    for (uint32_t i = 0; i < e->call.arg_count && i + 1 < f->parameter_count; i++) {
        const type_expr *t = f->parameters[i + 1]->annotation;
        bool wants = t != NULL && t->name != NULL && t->name[0] == '<';
        expr_kind kind = e->call.args[i]->kind;
        fits = fits && !(wants && (kind == EXPR_INT || kind == EXPR_FLOAT || kind == EXPR_ARRAY));
    }
    return fits;
}

/* With such arguments. */
static bool lists_have(inference *n, const expr *e) {
    const char *name = e->call.name;
    uint32_t count = e->call.arg_count;
    const struct_item *list = n->c->instances->builtin_owners[TYPE_VEC];
    const function_item *f = list == NULL ? NULL : names_find_method(n->c->names, list, name);
    bool has = check_is_list_method(name);
    for (; f != NULL && !has; f = f->next_in_bucket) {
        bool takes = f->owner == list && strcmp(f->name, name) == 0 && count + 1 <= f->parameter_count &&
                     takes_functions(f, e);
        has = takes && (count + 1 == f->parameter_count || f->parameters[count + 1]->otherwise != NULL);
    }
    return has;
}

static bool only_tensors_have(inference *n, const expr *e) {
    const char *name = e->call.name;
    const struct_item *tensor = tensor_owner(n);
    function_item *f = tensor == NULL ? NULL : names_find_method(n->c->names, tensor, name);
    const choice of = {.scope = "", .name = name, .method = true, .written = f};
    return check_count_forms(n->c, &of, e->call.arg_count) > 0 && !lists_have(n, e);
}

/* A method of lists that yields nothing can only change its list. */
static bool only_changes(inference *n, const char *name) {
    const struct_item *list = n->c->instances->builtin_owners[TYPE_VEC];
    const function_item *f = list == NULL ? NULL : names_find_method(n->c->names, list, name);
    return f != NULL && f->result_annotation == NULL;
}

static bool numbers_have(inference *n, const char *name) {
    return check_is_number_method(n->c, check_scalar(n->c, TYPE_F32), name);
}

/* t[i].log(): a number of a number, a tensor of a tensor. t[i].max(t[k]): so is what it is compared with. */
static bool stays_a_row(inference *n, const type *t, const char *name, const type **arguments, uint32_t count) {
    const type *number = check_scalar(n->c, TYPE_F32), *made = method_of_owner(n, number, name, NULL, 0);
    bool stays = made == NULL || infer_value(n, made) == number;
    for (uint32_t i = 0; i < count && stays; i++) {
        const type *beside = infer_value(n, arguments[i]);
        if (infer_is_row(beside) && !beside->open.form->is_literal)
            infer_same(n, t, beside);
    }
    return stays;
}

/* For a bracket of which nothing says yet what it is. NULL: neither does what it yields. */
static const type *method_of_bracket(inference *n, expr *e, const type *t, bool dropped) {
    open_form *f = t->open.form;
    const char *name = e->call.name;
    f->grows |= library_says(LIBRARY_resizes, name);
    if (infer_collects(e)) {
        infer_same(n, t, type_vec(n->c->types, infer_open(n)));
        return NULL; /* asked again, now of a list */
    }
    bool lists = check_only_lists_have(n->c, name);
    if (!lists && (check_is_identity(name) ||
                   library_said_of(LIBRARY_form, name) == SAID_INTO)) { /* what is wanted of that is wanted of it */
        f->prefers_list |= library_said_of(LIBRARY_form, name) == SAID_INTO; /* of a map, say */
        return t;
    }
    if (!lists && only_tensors_have(n, e))
        infer_tensor(n, t);
    else
        f->prefers_list |= (dropped && only_changes(n, name)) || lists;
    return NULL;
}

static const type *method_of_known(inference *n, expr *e, const type *t, const type **arguments, bool dropped) {
    if (infer_is_bracket(t)) {
        const type *same = method_of_bracket(n, e, t, dropped);
        if (same != NULL)
            return same;
    } else if ((infer_is_row(t) || infer_is_truth(t)) && (check_has_method(n->c, infer_any_tensor(n), e->call.name) ||
                                                          check_other_name(e->call.name, e->call.arg_count) != NULL)) {
        if (!numbers_have(n, e->call.name))
            infer_tensor(n, t);
        else if (infer_is_row(t) && stays_a_row(n, t, e->call.name, arguments, e->call.arg_count))
            return t;
    }
    t = infer_value(n, t);
    switch (t->kind) {
    case TYPE_OPEN:
        return NULL;
    case TYPE_TENSOR:
        return method_of_tensor(n, e, t, arguments);
    case TYPE_VEC:
        return method_of_list(n, e, t, arguments);
    case TYPE_ERROR:
    case TYPE_NEVER:
    case TYPE_VOID:
        return n->any;
    default: {
        const type *to = type_is_numeric(t) ? check_converts_for(n->c, e) : NULL;
        if (to != NULL)
            return method_of_tensor(n, e, type_tensor(n->c->types, to, -1), arguments);
        const type *found = method_of_owner(n, t, e->call.name, arguments, e->call.arg_count);
        const type *led = found == NULL ? infer_led(n, t) : NULL;
        if (led != NULL) {
            infer_holds(n, e->call.receiver, led);
            return method_of_known(n, e, led, arguments, dropped);
        }
        bool of_key = found == NULL && t->kind == TYPE_STRUCT && t->structure->template != NULL &&
                      e->call.arg_count == 1;
        if (of_key &&
            e->call.args[0]->kind != EXPR_CLOSURE) /* m.entry(k), which is a place: a key as the map has them */
            infer_same(n, arguments[0], t->structure->arguments[0]);
        return found != NULL ? found : type_is_numeric(t) || check_is_identity(e->call.name) ? t : n->any;
    }
    }
}

/* collect() makes a list of its own, but a type of the program may have another method of that name. */
const type *infer_method_of(inference *n, expr *e, const type *t, const type **arguments, bool dropped) {
    n->calling = e;
    const type *result = method_of_known(n, e, t, arguments, dropped);
    n->calling = NULL;
    if (result == NULL || !infer_collects(e) || e->becomes == result)
        return result;
    const type *list = infer_value(n, result);
    bool is_list = list->kind == TYPE_VEC && list->vec.length > TYPE_COLLECTED;
    if (!is_list && list->kind != TYPE_ERROR)
        return result;
    const type *element = is_list ? list->vec.element : infer_open(n), *made = infer_collected(n, e, element);
    infer_same(n, made, type_vec(n->c->types, element));
    return made;
}

const type *infer_method(inference *n, expr *e) {
    bool dropped = n->drops;
    n->drops = false;
    const type *t = infer_value(n, infer_numbers(n, e->call.receiver));
    const type **arguments = arguments_of(n, e);
    const type *result = infer_method_of(n, e, t, arguments, dropped);
    if (result == NULL) {
        result = infer_open(n);
        infer_wait(n, (waiting){.e = e, .operand = t, .arguments = arguments, .result = result, .dropped = dropped});
    }
    return result;
}

/* ---- structs and variants ---------------------------------------------------------------------- */

static const struct_item *open_struct(inference *n, struct_item *s, type_expr **written, uint32_t count) {
    bool plain = s != NULL && s->type != NULL && !s->is_builtin;
    return plain ? check_struct_open(n->c, s, written, count) : NULL;
}

static const type *filled(inference *n, const struct_item *s, uint32_t first, uint32_t fields, const type **arguments,
                          uint32_t count) {
    for (uint32_t i = 0; i < count && i < fields; i++)
        if (s->fields[first + i].type != NULL)
            infer_into(n, arguments[i], s->fields[first + i].type, MIXED_BOTH);
    return infer_filled(n, s, first, arguments, count);
}

static const type *filled_variant(inference *n, struct_item *of, int64_t variant, const type **arguments,
                                  uint32_t count) {
    const struct_item *s = open_struct(n, of, NULL, 0);
    return s == NULL ? n->any : filled(n, s, s->variants[variant].first, s->variants[variant].count, arguments, count);
}

const type *infer_struct(inference *n, expr *e) {
    const struct_expr *made = &e->structure;
    struct_item *of = check_struct_named(n->c, made->scope != NULL ? made->scope : made->name);
    const struct_item *s = open_struct(n, of, made->type_arguments, made->type_argument_count);
    const type **given = CHECK_ARRAY(n->c, const type *, s == NULL ? 1 : s->field_count + 1);
    for (uint32_t i = 0; i < made->init_count; i++) {
        const type *value = infer_expr(n, made->inits[i].value);
        n->at = made->inits[i].value->span;
        for (uint32_t k = 0; s != NULL && !s->is_enum && k < s->field_count; k++)
            if (strcmp(s->fields[k].name, made->inits[i].name) == 0 && s->fields[k].type != NULL) {
                infer_into(n, value, s->fields[k].type, MIXED_BOTH);
                given[k] = value;
            }
    }
    if (made->base != NULL)
        infer_expr(n, made->base);
    return s == NULL ? n->any : s->is_enum ? s->type : infer_filled(n, s, 0, given, s->field_count);
}

/* ---- calls ------------------------------------------------------------------------------------- */

static const type *call_of_closure(inference *n, const open_form *f, const type **arguments, uint32_t count) {
    for (uint32_t i = 0; i < count && i < f->count; i++)
        infer_into(n, arguments[i], f->parameters[i], MIXED_RANKS);
    return f->result;
}

static const type *call_plain(inference *n, expr *e, const char *name, const type **arguments) {
    checker *c = n->c;
    uint32_t count = e->call.arg_count;
    const symbol *s = names_find(c->names, name);
    if (s != NULL && s->inferred != NULL) {
        const open_form *f = infer_form_of(infer_value(n, s->inferred));
        return f != NULL && f->kind == FORM_FUNCTION ? call_of_closure(n, f, arguments, count) : n->any;
    }
    if (s != NULL && s->function != NULL)
        return infer_call_of(n, s->function, NULL, NULL, arguments, count);
    struct_item *structure = check_struct_named(c, name);
    if (structure != NULL && !structure->is_enum && structure->positional) {
        const struct_item *made = open_struct(n, structure, NULL, 0);
        return made == NULL ? n->any : filled(n, made, 0, made->field_count, arguments, count);
    }
    if (s != NULL && s->variant_of != NULL)
        return filled_variant(n, s->variant_of, s->variant, arguments, count);
    const library_said said = library_said_of(LIBRARY_function, name);
    if (count >= 2 && (said == SAID_ASSERT_EQUAL || said == SAID_ASSERT_UNEQUAL)) { /* both sides are of one type */
        infer_same(n, arguments[0], arguments[1]);
        infer_prefer_list(n, arguments[0]);
    } else if (count > 0 && said == SAID_ASSERT) {
        infer_same(n, arguments[0], check_scalar(c, TYPE_BOOL));
    }
    infer_shown(n, e, name, arguments);
    if (check_is_tensor_maker(name) && count == 1)
        return tensor_of_values(n, arguments[0]);
    if (check_is_tensor_function(c, name, count)) /* zeros([2, 3]) */
        return call_of_tensor(n, e, e->call.args, name, NULL, arguments, count);
    const type *first = count == 0 ? n->any : infer_value(n, arguments[0]);
    expr method = *e; /* sqrt(x) */
    method.call.name = name;
    method.call.args = e->call.args + (count > 0);
    method.call.arg_count = count > 0 ? count - 1 : 0;
    if (first->kind == TYPE_TENSOR || (infer_is_bracket(first) && only_tensors_have(n, &method))) {
        infer_tensor(n, first);
        return method_of_tensor(n, &method, infer_value(n, first), arguments + 1);
    }
    return n->any;
}

/* Tensor::zeros([2]), and Tensor::eigh(a), which is a.eigh(). */
static const type *function_of_tensor(inference *n, expr *e, const char *name, const type **arguments) {
    uint32_t count = e->call.arg_count;
    bool method = count > 0 && !check_makes_of_values(name) && !check_is_tensor_function(n->c, name, count);
    if (!method)
        return call_of_tensor(n, e, e->call.args, name, NULL, arguments, count);
    infer_tensor(n, arguments[0]);
    const type *t = infer_value(n, arguments[0]);
    t = t->kind == TYPE_TENSOR ? t : infer_any_tensor(n);
    return call_of_tensor(n, e, e->call.args + 1, name, t, arguments + 1, count - 1);
}

static const type *call_scoped(inference *n, expr *e, const char *scope, const char *name, const type **arguments) {
    checker *c = n->c;
    uint32_t count = e->call.arg_count;
    const type *stands_for = check_type_argument(c, scope);
    struct_item *owner = stands_for != NULL ? check_owner_of(c, type_resolve(c->types, stands_for))
                                            : check_struct_named(c, scope);
    if (owner != NULL && owner->is_enum && check_find_variant(owner, name) >= 0)
        return filled_variant(n, owner, check_find_variant(owner, name), arguments, count);
    if (owner == NULL && check_builtin_owner(c, scope) == tensor_owner(n) && tensor_owner(n) != NULL)
        return function_of_tensor(n, e, name, arguments);
    owner = owner != NULL ? owner : check_builtin_owner(c, scope);
    if (owner == NULL && count == 1 && library_says(LIBRARY_pointer, scope)) /* Rc::new(x) */
        return arguments[0];
    if (owner == NULL || (owner->type == NULL && owner->generics.count == 0))
        return n->any;
    if (owner->generics.count > 0 && owner->template == NULL) {
        const name_expr *callee = &e->call.callee->name;
        owner = check_struct_open(c, owner, callee->arguments, callee->argument_count);
    }
    function_item *f = check_method_named(c, owner, name);
    if (f != NULL && f->has_self && count > 0) { /* T::m(x, …) */
        infer_same(n, arguments[0], owner->type);
        return infer_call_of(n, f, owner, arguments[0], arguments + 1, count - 1);
    }
    if (f == NULL && count == 0 && owner->type != NULL && owner->type->kind == TYPE_VEC) /* new() */
        return owner->type;
    if (f == NULL) /* String::from(…), i64::max_value(): what only the checker knows yields what it belongs to */
        return owner->type != NULL && owner->type->kind < TYPE_SCALAR_END ? owner->type : n->any;
    return infer_call_of(n, f, owner, NULL, arguments, count);
}

const type *infer_call(inference *n, expr *e) {
    const expr *callee = e->call.callee;
    const type **arguments = arguments_of(n, e);
    n->calling = e;
    if (callee == NULL)
        return n->any;
    if (callee->kind != EXPR_NAME) { /* (p.f)(x), |x| e called at once */
        const open_form *f = infer_form_of(infer_value(n, infer_expr(n, e->call.callee)));
        return f != NULL && f->kind == FORM_FUNCTION ? call_of_closure(n, f, arguments, e->call.arg_count) : n->any;
    }
    if (callee->name.scope != NULL)
        check_alias_scope(n->c, &e->call.callee->name);
    const char *scope = names_without_modules(n->c->names, callee->name.scope);
    if (scope == NULL) {
        const char *name = callee->name.scope == NULL && callee->name.item != NULL &&
                                   (names_find(n->c->names, callee->name.name) == NULL ||
                                    names_find(n->c->names, callee->name.name)->inferred == NULL)
                               ? callee->name.item
                               : callee->name.name;
        return call_plain(n, e, name, arguments);
    }
    return call_scoped(n, e, scope, callee->name.name, arguments);
}
