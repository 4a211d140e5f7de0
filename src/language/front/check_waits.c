/* check_waits.c: chains over a list that become a value, as an iterator where it can be seen when their functions run.
 *
 *     let it = v.iter().map(|x| { println!("{}", x); x + 1 });    ─►    __items(v.iter()).map(…)
 *
 * A method that makes a list of a list runs its function for every element at once (iter.tl), one that makes an
 * iterator of an iterator as the program asks for elements (iterator.tl). Where the functions only compute, that cannot
 * be seen, and the list is faster. A chain that ends in a method that wants all elements at once asks for them there
 * and then, and so does a `for` over it (check_chain.c).
 *
 * What must stay true (tests/rust/programs/chains_wait.tl): a function whose run can be seen, or of which that is not
 * known, runs for an element when the program asks for that one.
 */
#include <string.h>

#include "language/front/check_build.h"
#include "language/front/check_call.h"
#include "language/front/check_chain.h"
#include "language/front/check_iterator.h"
#include "language/front/check_walk.h"
#include "language/library/library.h"
#include "language/types/check_context.h"
#include "language/types/check_instances.h"
#include "language/types/check_operator_types.h"
#include "language/types/check_scopes.h"

enum { LOOK_DEPTH = 4 };

typedef struct look {
    checker *c;
    int depth;
    bool seen;
} look;

static void look_at(expr *e, void *context);

/* Any function of the program that has this name. */
static void look_at_functions(look *l, const char *scope, const char *name, bool method) {
    checker *c = l->c;
    for (uint32_t i = 0; i < c->tree->function_count && !l->seen; i++) {
        function_item *f = c->tree->functions[i];
        const bool other = strcmp(f->name, name) != 0 || f->span.file == c->tree->prelude || f->has_self != method;
        if (other || (scope == NULL) != (f->owner_name == NULL && !method))
            continue;
        look inside = {.c = c, .depth = l->depth + 1};
        if (inside.depth > LOOK_DEPTH || f->is_checked || f->is_closure) {
            l->seen = true;
            return;
        }
        check_read_body(c, f);
        if (f->body == NULL)
            continue;
        block_each_child(f->body, look_at, &inside);
        l->seen |= inside.seen;
    }
}

static void look_at_call(look *l, const expr *callee) {
    if (callee->kind != EXPR_NAME) {
        l->seen = true;
        return;
    }
    const char *name = callee->name.name;
    const library_said said = library_said_of(LIBRARY_function, name);
    const symbol *found = callee->name.scope == NULL ? check_find(l->c, name) : NULL;
    l->seen |= (found != NULL && found->binding != NULL) || (said != SAID_NOTHING && said != SAID_FORMAT);
    if (!l->seen)
        look_at_functions(l, callee->name.scope, name, false);
}

/* v.push(1) can be seen; v.iter_mut() only lends. */
static bool changes(const char *method) {
    const library_said lends = library_said_of(LIBRARY_lends, method);
    const bool only_lends = lends == SAID_ELEMENTS || lends == SAID_PIECES || lends == SAID_MAYBE ||
                            lends == SAID_PART || lends == SAID_TWO || lends == SAID_MAYBE_TWO;
    return library_says(LIBRARY_writes, method) || (library_says(LIBRARY_exclusive, method) && !only_lends);
}

static void look_at(expr *e, void *context) {
    look *l = context;
    if (e->type != NULL)
        return;
    l->seen |= e->kind == EXPR_ASSIGN;
    if (e->kind == EXPR_CALL) {
        look_at_call(l, e->call.callee);
    } else if (e->kind == EXPR_METHOD) {
        l->seen |= changes(e->call.name) || library_says(LIBRARY_writes_briefly, e->call.name);
        if (!l->seen)
            look_at_functions(l, "", e->call.name, true);
    }
    if (!l->seen)
        expr_each_child(e, look_at, l);
}

/* A function that is given to a stage: what it captured is dropped with the chain, which can be seen as well. */
bool check_is_seen(checker *c, expr *f) {
    look l = {.c = c};
    if (f->kind == EXPR_CLOSURE)
        l.seen = f->closure.is_move && c->tree->has_destructors;
    else if (f->kind == EXPR_NAME)
        look_at_call(&l, f);
    look_at(f, &l);
    return l.seen;
}

/* v.iter().map(f).rev(): f runs for the last element first. */
static bool goes_back_behind_stage(const expr *e) {
    const expr *of = e->call.receiver;
    return library_says(LIBRARY_goes_back, e->call.name) && of->kind == EXPR_METHOD && of->type == NULL &&
           !library_says(LIBRARY_goes_over, of->call.name);
}

/* A method of iterators that yields an iterator, or asks for some of its elements only. */
static bool waits(const checker *c, const expr *e) {
    const stage_kind kind = chain_stage_named(e->call.name);
    if (goes_back_behind_stage(e))
        return true;
    if (library_says(LIBRARY_goes_over, e->call.name) || library_says(LIBRARY_lends_each, e->call.name))
        return false;
    const bool asks = library_said_of(LIBRARY_form, e->call.name) == SAID_NEXT && e->call.arg_count == 0;
    return kind == STAGE_NONE ? asks || check_iterators_method(c, e->call.name) != NULL : kind < STAGE_FIND;
}

/* Every method of this name yields a list: that can be said before anything is checked. */
static bool yields_list(const checker *c, const char *name) {
    bool all = library_says(LIBRARY_goes_over, name) || library_says(LIBRARY_of_texts, name), lists = all;
    for (uint32_t i = 0; i < c->tree->function_count; i++) {
        const function_item *f = c->tree->functions[i];
        if (!f->has_self || strcmp(f->name, name) != 0 || (all && f->span.file == c->tree->prelude))
            continue;
        const type_expr *t = f->result_annotation;
        lists = t != NULL && t->kind == TYPE_EXPR_NAME && strcmp(t->name, "Vec") == 0;
        if (!lists)
            return false;
    }
    return lists;
}

bool check_chain_waits(checker *c, expr *e, const type *expected) {
    const type *wish = expected == NULL ? NULL : type_resolve(c->types, expected);
    if ((c->around->receiver_of != NULL && !goes_back_behind_stage(e)) || !waits(c, e) ||
        check_find(c, "__items") == NULL || (wish != NULL && wish->kind == TYPE_VEC))
        return false;
    const char *outer = c->around->receiver_of;
    bool seen = false;
    expr **start = &e->call.receiver;
    const expr *after = e;
    for (const expr *at = e;; at = after = *start, start = &(*start)->call.receiver) {
        const bool calls = chain_stage_named(at->call.name) != STAGE_NONE || at->call.arg_count > 1;
        for (uint32_t i = 0; i < at->call.arg_count && at->kind == EXPR_METHOD && calls; i++)
            seen = seen || check_is_seen(c, at->call.args[i]);
        if ((*start)->kind != EXPR_METHOD || (*start)->type != NULL || !waits(c, *start))
            break;
    }
    const bool called = (*start)->kind == EXPR_METHOD;
    if (!seen || (called ? !yields_list(c, (*start)->call.name) : (*start)->kind != EXPR_RANGE))
        return false;
    check_range_as_list(c, start);
    c->around->receiver_of = called ? after->call.name : NULL;
    check_expr(c, start, NULL);
    c->around->receiver_of = outer;
    if (type_resolve(c->types, (*start)->type)->kind != TYPE_VEC)
        return false;
    check_as_iterator(c, start);
    return true;
}
