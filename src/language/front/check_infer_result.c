/* check_infer_result.c: what the tensors hold that a function of the program yields.
 *
 *     fn half(t: &Tensor) -> Tensor { t / 2.0 }      half(&x): f64 where x is Tensor<f64>
 *     fn start() -> Tensor { tensor([0.1f64]) }      start(): f64
 *
 * A `Tensor` in a signature is any: which elements come out follows from the body, for the arguments of each call. So
 * the body is walked (check_infer.c) with what is known of the arguments, and the answer kept for all calls alike. It
 * says how an element is read that nothing else decides (check_unstated.c), exactly or not at all: a wrong answer costs
 * digits in what is shown, never a value.
 *
 * What must stay true (tests/golden/lang_unstated_*.tl): a body is walked as it is written, from a copy once it is
 * checked, and the walk leaves no answer in it. Cost: the body for each of a function's first WALKS_MAX kinds of
 * arguments; a function that calls itself says nothing.
 */
#include "language/front/check_infer.h"
#include "language/types/check_instances.h"

enum { WALKS_MAX = 8, WALKS_OF_TEMPLATE_MAX = 64, NESTED_MAX = 8 };

struct inferred_result {
    const type **given; /* of each parameter */
    const type *yields;
    struct inferred_result *next;
};
typedef struct inferred_result inferred_result;

/* The type of parameter i of f with all that is known. */
static const type *given_of(inference *n, const function_item *f, uint32_t i, const type *argument) {
    const binding *p = f->parameters[i];
    if (f->is_template && f->has_self && i == 0)
        return argument;
    if (!f->is_template)
        return p->type == NULL ? argument : infer_refined(n, p->type, argument);
    bool function = check_function_bound(f, p) != NULL || p->annotation == NULL ||
                    p->annotation->kind == TYPE_EXPR_FUNCTION;
    return function ? argument : infer_refined(n, infer_written(n, p->annotation), argument);
}

/* The types of a template are those of its call. */
static const inferred_result *found(const function_item *f, const type *const *given, uint32_t *count) {
    *count = 0;
    for (const inferred_result *r = f->results; r != NULL; r = r->next, ++*count) {
        bool same = !f->is_template;
        for (uint32_t i = 0; i < f->parameter_count && same; i++)
            same = r->given[i] == given[i];
        if (same)
            return r;
    }
    return NULL;
}

/* A way of which the walk knows nothing yields anything. */
const type *infer_yielded(inference *n, const inferred_yields *all, const type *declared) {
    const unsigned plain = n->plain;
    const type *met = NULL;
    for (uint32_t i = 0; i < all->count; i++) {
        const type *t = infer_value(n, all->types[i]);
        if (t->kind == TYPE_ERROR || t->kind == TYPE_OPEN)
            n->plain = MIXED_BOTH;
        else if (t->kind != TYPE_NEVER)
            met = infer_met(n, met, t);
    }
    const type *t = infer_value(n, declared);
    t = met == NULL ? t : infer_refined(n, t, met);
    n->plain = plain;
    return t;
}

void infer_name(inference *n, binding *b, const type *t) {
    symbol *s = names_symbol(n->c->names, b->name);
    inferred_name entry = {s, s->inferred, s->walked};
    CHECK_PUSH(n->c, n->names, n->name_count, n->name_capacity, entry);
    s->inferred = t;
    s->walked = b;
}

void infer_close_names(inference *n, uint32_t mark) {
    while (n->name_count > mark) {
        inferred_name *entry = &n->names[--n->name_count];
        entry->symbol->inferred = entry->hidden;
        entry->symbol->walked = entry->hidden_binding;
    }
}

static void exchange(inferred_name *entry) {
    const type *t = entry->symbol->inferred;
    binding *b = entry->symbol->walked;
    entry->symbol->inferred = entry->hidden;
    entry->symbol->walked = entry->hidden_binding;
    entry->hidden = t;
    entry->hidden_binding = b;
}

/* All that are in sight are hidden, and seen again. */
static void infer_hide_names(inference *n) {
    for (uint32_t i = n->name_count; i-- > 0;)
        exchange(&n->names[i]);
}

static void infer_show_names(inference *n) {
    for (uint32_t i = 0; i < n->name_count; i++)
        exchange(&n->names[i]);
}

/* The names and what surrounds the call are out of sight; what is open outside may be decided. */
static const type *walk(inference *n, function_item *f, const function_item *written, const type **given,
                        const type *declared) {
    const inference outer = *n;
    const function_item *function = n->c->function;
    inferred_yields yields = {0};
    infer_hide_names(n);
    n->c->function = f;
    n->result = declared;
    n->result_states = MIXED_BOTH;
    n->loops = NULL;
    n->comprehensions = 0;
    n->drops = false;
    n->yields = &yields;
    n->depth++;
    for (uint32_t i = 0; i < written->parameter_count; i++)
        infer_name(n, written->parameters[i], given[i]);
    const type *last = infer_block(n, written->body);
    CHECK_PUSH(n->c, yields.types, yields.count, yields.capacity, last);
    infer_into(n, last, declared, MIXED_BOTH);
    infer_close_names(n, outer.name_count);
    infer_answer_waiting(n);
    const type *t = infer_yielded(n, &yields, declared);
    n->c->function = (function_item *)function;
    n->result = outer.result;
    n->result_states = outer.result_states;
    n->loops = outer.loops;
    n->comprehensions = outer.comprehensions;
    n->drops = outer.drops;
    n->yields = outer.yields;
    n->at = outer.at;
    n->depth = outer.depth;
    n->form_count = outer.form_count;
    n->queue_count = outer.queue_count;
    n->tensor_count = outer.tensor_count;
    n->call_count = outer.call_count;
    infer_show_names(n);
    return t;
}

/* Where its ways differ, once more. */
static const type *walk_all(inference *n, function_item *f, const function_item *written, const type **given,
                            const type *declared) {
    const unsigned mixes = n->mixes, plain = n->plain;
    n->mixes = 0;
    const type *t = walk(n, f, written, given, declared);
    if ((n->mixes & ~n->plain) != 0) {
        n->plain |= n->mixes;
        t = walk(n, f, written, given, declared);
    }
    n->mixes = mixes;
    n->plain = plain;
    return t;
}

const type *infer_result_of(inference *n, function_item *f, const type_environment *environment, const type *self,
                            const type **arguments, uint32_t count, const type *declared) {
    checker *c = n->c;
    const function_item *written = f->is_checked ? f->as_written : f;
    if (f->span.file == c->tree->prelude || written == NULL || written->body == NULL || f->is_walked ||
        n->depth >= NESTED_MAX || !infer_leaves_elements(n, declared))
        return declared;
    const uint32_t first = f->has_self;
    const type_environment *outside = c->environment;
    const type **given = CHECK_ARRAY(c, const type *, f->parameter_count + 1);
    c->environment = environment;
    for (uint32_t i = 0; i < f->parameter_count; i++)
        given[i] = given_of(n, f, i,
                            i < first           ? self == NULL ? n->any : self
                            : i - first < count ? arguments[i - first]
                                                : n->any);
    uint32_t walks = 0;
    const inferred_result *known = found(f, given, &walks);
    if (known == NULL && walks < (f->is_template ? WALKS_OF_TEMPLATE_MAX : WALKS_MAX)) {
        inferred_result *made = CHECK_ARRAY(c, inferred_result, 1);
        f->is_walked = true;
        *made = (inferred_result){given, walk_all(n, f, written, given, declared), f->results};
        f->is_walked = false;
        f->results = made;
        known = made;
    }
    c->environment = outside;
    return known == NULL ? declared : infer_refined(n, declared, known->yields);
}
