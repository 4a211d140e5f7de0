/* check_choose.c: which form of an operation a call means.
 *
 *     t.max(1)          a row of abi.def: a dimension          t.max(b)             written in the library: a tensor
 *     s.find(|c| …)     a function                             s.find("x")          a text
 *     Fault::from(3)    of two impls the one of i64            Tensor::cat([a, b], 1)
 *
 * The rows of abi.def and the functions of one name of the library, or of the impls of a trait, are its forms. A form
 * takes a call when it takes so many arguments, and each of them. How well it takes one has a degree:
 *
 *     AS_IS       the type itself, a bracket for a list or a tensor, a literal for the type that it has when nothing
 *                 decides
 *     WIDENED     a number that becomes longer
 *     AS_OTHER    a number where a tensor is wanted, a char where a text is; a number of a width that the call will
 *                 refuse
 *     NOT
 *
 * Meant is the form whose worst argument is taken best, then the one with the better sum, then the one that says more
 * of the lists it takes (Vec<Vec<T>> before Vec<T>), then a row before what is written, then the one that is declared
 * first. One form alone is not asked: its arguments are checked with what it wants. What is meant follows from the
 * arguments alone, never from what is wanted of the result.
 */
#include <string.h>

#include "language/front/check_call.h"
#include "language/front/check_choose.h"
#include "language/types/check_dyn_types.h"
#include "language/types/check_fits.h"
#include "language/types/check_instances.h"
#include "language/types/check_scopes.h"
#include "language/types/check_view.h"

typedef enum degree { NOT, AS_OTHER, WIDENED, AS_IS } degree;

/* A parameter's type, as far as two forms differ by it. */
typedef struct demand {
    type_kind kind;            /* TYPE_OPEN: anything */
    const type *exact;         /* the whole type, where it is known */
    const struct_item *owner;  /* of a struct: itself or what it is made from */
    type_kind item;            /* of a list: what is in it; TYPE_OPEN: anything */
    const struct demand *held; /* of a list of lists: what is wanted of those */
    bool function;
    bool takes_number; /* a tensor, or a number in its place */
} demand;

/* ---- what is wanted ----------------------------------------------------------------------------- */

static demand demand_of_type(const checker *c, const type *t) {
    t = type_resolve(c->types, t);
    if (t->kind == TYPE_REFERENCE && !type_is_slice(t))
        t = type_resolve(c->types, t->vec.element);
    demand d = {.kind = t->kind, .exact = t, .item = TYPE_OPEN};
    if (t->kind == TYPE_REFERENCE || t->kind == TYPE_VEC) {
        d.kind = TYPE_VEC;
        d.item = type_resolve(c->types, t->vec.element)->kind;
    } else if (t->kind == TYPE_STRUCT) {
        d.owner = t->structure->template != NULL ? t->structure->template : t->structure;
        d.function = t->structure->closure != NULL || check_dyn_signature(t) != NULL;
    }
    return d;
}

static demand demand_of_owner(const checker *c, const struct_item *owner) {
    demand d = {.kind = owner == check_any_owner(c) ? TYPE_OPEN : TYPE_STRUCT, .owner = owner, .item = TYPE_OPEN};
    if (owner->type != NULL && owner->type->kind != TYPE_STRUCT) {
        d = demand_of_type(c, owner->type);
        d.exact = owner->type->kind < TYPE_SCALAR_END ? owner->type : NULL;
    }
    return d;
}

/* For a generic function: what is written, its type parameters being anything. */
static demand demand_of_written(checker *c, const function_item *f, const type_expr *t) {
    demand any = {.kind = TYPE_OPEN, .item = TYPE_OPEN};
    if (t == NULL || t->kind == TYPE_EXPR_TUPLE) {
        any.kind = t == NULL ? TYPE_TENSOR : TYPE_TUPLE;
        return any;
    }
    if (t->kind == TYPE_EXPR_FUNCTION || t->kind == TYPE_EXPR_DYN) {
        any.function = t->kind == TYPE_EXPR_FUNCTION;
        return any;
    }
    if (t->kind != TYPE_EXPR_NAME || check_parameter_named(f, t->name) != NULL) {
        any.kind = t->kind == TYPE_EXPR_ARRAY ? TYPE_VEC : TYPE_OPEN;
        return any;
    }
    if (strcmp(t->name, "Self") == 0)
        return f->owner == NULL ? any : demand_of_owner(c, f->owner);
    const struct_item *owner = check_builtin_owner(c, t->name);
    if (owner == check_vec_owner(c)) {
        any.kind = TYPE_VEC;
        if (t->argument_count == 1) {
            demand *held = CHECK_ARRAY(c, demand, 1);
            *held = demand_of_written(c, f, t->arguments[0]);
            any.item = held->kind;
            any.held = held->kind == TYPE_VEC ? held : NULL;
        }
        return any;
    }
    owner = owner != NULL ? owner : check_struct_named(c, t->name);
    return owner == NULL ? any : demand_of_owner(c, owner);
}

static demand demand_of_parameter(checker *c, const function_item *f, uint32_t at) {
    const binding *p = f->parameters[at];
    demand d = {.kind = TYPE_OPEN, .item = TYPE_OPEN};
    if (at == 0 && f->has_self && f->owner != NULL)
        d = demand_of_owner(c, f->owner);
    else if (check_function_bound(f, p) != NULL)
        d.function = true;
    else if (!f->is_template && p->type != NULL)
        d = demand_of_type(c, p->type);
    else
        d = demand_of_written(c, f, p->annotation);
    d.takes_number = d.kind == TYPE_TENSOR && f->span.file == c->tree->prelude;
    return d;
}

static demand demand_of_row(const checker *c, const tl_abi_parameter *p, bool takes_number) {
    demand d = {.kind = TYPE_OPEN, .item = TYPE_OPEN};
    if (p->kind == ABI_tensor) {
        d.kind = TYPE_TENSOR;
        d.takes_number = takes_number;
    } else if (p->kind != ABI_any) {
        d = demand_of_type(c, check_kind_type((checker *)c, p->kind));
    }
    return d;
}

bool check_wants_tensor(checker *c, const function_item *f, uint32_t at) {
    return demand_of_parameter(c, f, at).kind == TYPE_TENSOR;
}

/* ---- how well it is met ------------------------------------------------------------------------- */

static degree number_meets(const checker *c, const type *t, const demand *d, bool literal) {
    if (d->kind == TYPE_TENSOR)
        return d->takes_number ? AS_OTHER : NOT;
    if (d->kind >= TYPE_SCALAR_END || !type_is_numeric(check_scalar(c, d->kind)))
        return NOT;
    if (t->kind == d->kind)
        return AS_IS;
    const type *to = check_scalar(c, d->kind);
    if (type_is_float(t) && !type_is_float(to))
        return NOT;
    if (literal) /* i32 is what Rust makes of a literal: before the other widths */
        return d->kind == TYPE_I32 || type_is_float(to) ? WIDENED : AS_OTHER;
    return check_widens(t, to) ? WIDENED : AS_OTHER;
}

static degree type_meets(checker *c, const type *t, const demand *d);

static degree bracket_meets(checker *c, const offer *o, const demand *d) {
    const expr *first = o->e != NULL && o->e->kind == EXPR_ARRAY && o->e->list.count > 0 ? o->e->list.items[0] : NULL;
    const type *becomes = o->e == NULL ? NULL : o->e->becomes;
    bool list = (o->e != NULL && o->e->is_vec) || (becomes != NULL && becomes->kind == TYPE_VEC);
    if (d->kind == TYPE_TENSOR)
        return list || (first != NULL && first->kind == EXPR_STRING) ? NOT : AS_IS;
    if (d->kind != TYPE_VEC || (becomes != NULL && becomes->kind == TYPE_TENSOR))
        return NOT;
    if (d->held != NULL && first != NULL && first->type != NULL)
        return type_meets(c, first->type, d->held);
    if (d->held != NULL && first != NULL && first->kind != EXPR_ARRAY)
        return first->kind == EXPR_INT || first->kind == EXPR_FLOAT || first->kind == EXPR_STRING ? NOT : AS_OTHER;
    if (d->held != NULL && first != NULL)
        return bracket_meets(c, &(offer){.kind = OFFER_BRACKET, .e = first}, d->held);
    bool whole = d->item < TYPE_SCALAR_END && type_is_integer(check_scalar(c, d->item));
    return first != NULL && offer_is_real(first) && whole ? NOT : AS_IS;
}

static degree type_meets(checker *c, const type *t, const demand *d) {
    t = type_resolve(c->types, t);
    if (t->kind == TYPE_REFERENCE && !type_is_slice(t))
        t = type_resolve(c->types, t->vec.element);
    if (t == d->exact || type_is_silent(t) || t->kind == TYPE_OPEN)
        return AS_IS;
    bool function = t->kind == TYPE_STRUCT && (t->structure->closure != NULL || check_dyn_signature(t) != NULL);
    if (function != d->function && (d->function || d->kind != TYPE_OPEN))
        return NOT;
    if (d->function || d->kind == TYPE_OPEN)
        return AS_IS;
    if (type_is_numeric(t))
        return number_meets(c, t, d, type_is_open_number(t));
    const type_kind kind = t->kind == TYPE_REFERENCE ? TYPE_VEC : t->kind;
    if (t->kind == TYPE_TENSOR && d->kind < TYPE_SCALAR_END && type_is_numeric(check_scalar(c, d->kind)))
        return t->tensor.rank == 0 ? AS_OTHER : NOT;
    if (kind != d->kind)
        return kind == TYPE_CHAR && d->kind == TYPE_STRING ? AS_OTHER : NOT; /* s.find('x') */
    if (kind == TYPE_STRUCT) {
        const struct_item *own = t->structure->template != NULL ? t->structure->template : t->structure;
        return own != d->owner ? NOT : d->exact == NULL || check_fits(c, t, d->exact) ? AS_IS : NOT;
    }
    if (kind == TYPE_VEC && d->item != TYPE_OPEN) {
        const type *item = type_resolve(c->types, t->vec.element);
        if (d->held != NULL)
            return type_meets(c, item, d->held);
        bool alike = item->kind == TYPE_OPEN || type_is_silent(item) || item->kind == d->item ||
                     type_is_open_number(item);
        return alike ? AS_IS : type_is_numeric(item) && d->item < TYPE_SCALAR_END ? AS_OTHER : NOT;
    }
    return kind != TYPE_TUPLE || d->exact == NULL || check_fits(c, t, d->exact) ? AS_IS : NOT;
}

static degree meets(checker *c, const offer *o, const demand *d) {
    switch (o->kind) {
    case OFFER_WHOLE:
    case OFFER_REAL:
        if (d->function || d->kind == TYPE_OPEN)
            return d->function ? NOT : AS_IS;
        return number_meets(c, check_scalar(c, o->kind == OFFER_REAL ? TYPE_F32 : TYPE_I64), d, true);
    case OFFER_BRACKET:
        return d->function ? NOT : d->kind == TYPE_OPEN ? AS_IS : bracket_meets(c, o, d);
    case OFFER_TUPLE:
        return !d->function && (d->kind == TYPE_OPEN || d->kind == TYPE_TUPLE || d->kind == TYPE_VEC) ? AS_IS : NOT;
    case OFFER_FUNCTION:
        return d->function ? AS_IS : NOT;
    case OFFER_TYPE:
        return type_meets(c, o->type, d);
    case OFFER_UNKNOWN:
        return AS_IS;
    }
    return NOT;
}

/* ---- forms -------------------------------------------------------------------------------------- */

/* How well all arguments are taken: 0 not at all. The worst counts first. */
typedef struct score {
    degree worst;
    uint32_t sum;
    uint32_t far;  /* by the references that are written */
    uint32_t said; /* how much the parameters say: of types, and of lists in lists */
} score;

static void add_degree(score *s, degree d) {
    s->worst = d < s->worst ? d : s->worst;
    s->sum += d;
}

static bool is_better(score a, score b) {
    if (a.far != b.far && a.worst != NOT && b.worst != NOT)
        return a.far < b.far;
    if (a.worst != b.worst || a.worst == NOT)
        return a.worst > b.worst;
    return a.sum != b.sum ? a.sum > b.sum : a.said > b.said;
}

static bool takes_so_many(const function_item *f, bool method, uint32_t count) {
    uint32_t first = method && f->has_self, least = first;
    while (least < f->parameter_count && f->parameters[least]->otherwise == NULL)
        least++;
    return count + first >= least && count + first <= f->parameter_count;
}

static score score_of_written(checker *c, const function_item *f, const choice *of, const offer *offers,
                              uint32_t count) {
    const bool method = of->method;
    score s = {.worst = AS_IS, .far = check_distance(f, of->views)};
    for (uint32_t i = 0; i < count; i++) {
        demand d = demand_of_parameter(c, f, i + (method && f->has_self));
        add_degree(&s, meets(c, &offers[i], &d));
        if (f->span.file != c->tree->prelude) /* impl Mul<Matrix<T>> before impl Mul<T> */
            s.said += d.kind != TYPE_OPEN || d.function;
        for (const demand *held = d.held; held != NULL; held = held->held)
            s.said++;
    }
    return s;
}

/* 2, 3 and [2, 3] and, where a shape is wanted, what has its numbers when the program runs. Moves *next behind it. */
static void add_row_list(checker *c, score *s, const tl_abi_parameter *p, const demand *d, const offer *offers,
                         uint32_t *next, uint32_t end) {
    const offer *first = &offers[*next];
    const type *t = first->kind == OFFER_TYPE ? type_resolve(c->types, first->type) : NULL;
    bool shape = check_takes_shape(p);
    if (*next < end && ((first->kind == OFFER_BRACKET && !first->e->is_vec) || first->kind == OFFER_TUPLE ||
                        (t != NULL && t->kind == TYPE_TUPLE) ||
                        (shape && t != NULL && (t->kind == TYPE_VEC || t->kind == TYPE_TENSOR)))) {
        add_degree(s, AS_IS);
        (*next)++;
        return;
    }
    for (bool leading = true; *next < end; leading = false, (*next)++) {
        const offer *o = &offers[*next];
        if (!leading && o->kind == OFFER_TYPE && type_resolve(c->types, o->type)->kind == TYPE_BOOL)
            return;
        add_degree(s, meets(c, o, d));
    }
}

static score score_of_row(checker *c, tl_abi_index row, bool method, const offer *offers, uint32_t count) {
    score s = {.worst = AS_IS};
    const tl_abi_parameter *p = tl_abi_functions[row].parameters + method;
    bool broadcasts = tl_abi_functions[row].shape == SHAPE_BROADCAST;
    uint32_t next = 0;
    for (; p->name != NULL && next < count; p++) {
        const demand d = demand_of_row(c, p, broadcasts);
        if (p->mode != TL_LIST) {
            add_degree(&s, meets(c, &offers[next++], &d));
            continue;
        }
        uint32_t behind = 0;
        for (const tl_abi_parameter *q = p + 1; q->name != NULL; q++)
            behind += !q->optional;
        add_row_list(c, &s, p, &d, offers, &next, count - behind);
    }
    if (next < count)
        add_degree(&s, NOT);
    return s;
}

/* The first form from f on. */
static function_item *next_written(const checker *c, const choice *of, function_item *f) {
    while (f != NULL && ((f->owner != of->written->owner && (of->of_any == NULL || f->owner != of->of_any->owner)) ||
                         strcmp(f->name, of->written->name) != 0 || (of->method && !f->has_self) ||
                         !check_is_same_source(c, f, of->written)))
        f = f->next_in_bucket;
    return f;
}

/* impl Trait for P<f64> says nothing of P<i32>. */
static bool is_for(const checker *c, const choice *of, function_item *f) {
    const type *t = of->owner == NULL ? NULL : of->owner->type;
    if (t == NULL || t->may_have_open || f->span.file == c->tree->prelude)
        return true;
    type_environment e = check_environment_new((checker *)c, f);
    return check_impl_fits((checker *)c, f, of->owner, &e);
}

typedef void each_form(void *context, form f);

static void for_each_form(const checker *c, const choice *of, uint32_t count, each_form *visit, void *context) {
    for (size_t i = 0; of->scope != NULL && i < tl_abi_name_count; i++) {
        if (check_abi_named(&tl_abi_names[i], of->scope, of->name)) {
            abi_arity a = check_abi_arity(tl_abi_names[i].function, of->method);
            if (count >= a.least && count <= a.most)
                visit(context, (form){NULL, tl_abi_names[i].function});
        }
    }
    for (int refused = 0; refused < 2; refused++) /* a form that only says why it is none: where no other is as good */
        for (int any = 0; any < 2; any++)
            for (function_item *f = next_written(c, of, any ? of->of_any : of->written); f != NULL;
                 f = next_written(c, of, f->next_in_bucket))
                if ((f->refusal != NULL) == refused && takes_so_many(f, of->method, count) && is_for(c, of, f))
                    visit(context, (form){f, TL_FN_COUNT});
}

typedef struct search {
    checker *c;
    const choice *of;
    const offer *offers;
    uint32_t count;
    uint32_t forms; /* that take so many arguments */
    form best;
    score how;
} search;

static void count_form(void *context, form f) {
    search *s = context;
    s->best = s->forms++ == 0 ? f : s->best;
}

static void weigh_form(void *context, form f) {
    search *s = context;
    score how = f.written != NULL ? score_of_written(s->c, f.written, s->of, s->offers, s->count)
                                  : score_of_row(s->c, f.row, s->of->method, s->offers, s->count);
    if (is_better(how, s->how)) {
        s->best = f;
        s->how = how;
    }
}

uint32_t check_count_forms(const checker *c, const choice *of, uint32_t count) {
    search s = {.of = of};
    for_each_form(c, of, count, count_form, &s);
    return s.forms;
}

form check_choose_offered(checker *c, const choice *of, const offer *offers, uint32_t count) {
    search s = {
        .c = c, .of = of, .offers = offers, .count = count, .best = {next_written(c, of, of->written), TL_FN_COUNT}};
    for_each_form(c, of, count, count_form, &s);
    if (s.forms > 1)
        for_each_form(c, of, count, weigh_form, &s);
    return s.best;
}
