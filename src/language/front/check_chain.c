/* check_chain.c: chains of iterators as the loop that they mean.
 *
 *     v.iter().map(f).filter(g).take(n)   ─►   { let <most 2> = n; let mut <n 2> = 0; let mut <all> = Vec::new();
 *                                                for <v 0> in v.iter() {
 *                                                    if <n 2> >= <most 2> { break }
 *                                                    let <v 1> = f(<v 0>);
 *                                                    if g(<v 1>) { <n 2> += 1; <all>.push(<v 1>); } }
 *                                                <all> }
 *
 * So each element goes through the whole chain before the next one is looked at, and no function runs for an element
 * that is not asked for: what a user of Rust expects, and one list in place of one a method. The source may have no
 * end: a range, or an iterator (match <i>.next() { Some(<v>) => …, _ => break }). `for p in CHAIN { … }` is the same
 * with the loop's own body at the end of the chain.
 *
 * An end that looks at every value (sum, count, fold, max, …) keeps what it has so far and no list:
 *
 *     v.iter().map(f).sum()   ─►   { let mut <found> = None; for <v 0> in v.iter() { let <v 1> = f(<v 0>);
 *                                    <found> = <found>.__plus(<v 1>); } <found>.__sum() }
 *
 * What must stay true: a chain is written so where the difference can be seen, by functions that run in another order
 * or not at all (two methods with functions, or one before a method that may stop), or where its end saves a list. Any
 * other chain of a list is a Vec and methods of it, and of an iterator an iterator (iterator.tl): this is a faster way
 * to say the same. Methods that are not stages here (partition, …) work on what a chain yields, or yield what it starts
 * from.
 */
#include "language/front/check_chain.h"
#include "base/assert.h"
#include "language/front/check_call.h"
#include "language/front/check_convert.h"
#include "language/front/check_iterator.h"
#include "language/front/check_part.h"
#include "language/front/check_place.h"
#include "language/front/check_walk.h"
#include "language/library/library.h"
#include "language/types/check_context.h"
#include "language/types/check_instances.h"
#include "language/types/check_item.h"
#include "language/types/check_variants.h"
#include "language/types/check_view.h"
#include "language/types/check_written.h"

/* ---- where a chain starts ------------------------------------------------------------------------ */

typedef enum source {
    SOURCE_NONE,
    SOURCE_LIST,  /* a..b, v.iter(): what `for` runs over */
    SOURCE_RANGE, /* a.. */
    SOURCE_NEXT   /* an iterator: check_iterator.c */
} source;

static source source_by_form(const expr *e) {
    bool letters = e->kind == EXPR_RANGE && e->range.low != NULL && e->range.low->kind == EXPR_CHAR;
    return e->kind != EXPR_RANGE || e->range.low == NULL || letters ? SOURCE_NONE
           : e->range.high == NULL                                  ? SOURCE_RANGE
                                                                    : SOURCE_LIST;
}

/* An iterator that the chain uses up: `it.find(f)` of a variable leaves in it what comes behind. */
static bool is_used_up(const chain *h) {
    checker *c = h->c;
    expr **start = h->start;
    stage_kind end = h->count == 0 ? STAGE_NONE : chain_kind_of(h->stages[h->count - 1]);
    bool form = (*start)->kind == EXPR_NAME || (*start)->kind == EXPR_CALL || (*start)->kind == EXPR_STRUCT ||
                (*start)->kind == EXPR_METHOD;
    if (!form || !check_may_be_iterators(c))
        return false;
    check_expr(c, start, NULL);
    bool keeps_rest = h->count == 1 && end >= STAGE_FIND && end <= STAGE_ALL && check_is_place(*start);
    return !keeps_rest && check_has_steps(c, (*start)->type, h->count > 0 ? h->stages[0]->call.name : NULL);
}

/* Iterators, whatever they are made of. */
static bool makes_iterator(const expr *e) {
    return library_says(LIBRARY_iterates, e->call.name);
}

static bool copies_each(const char *name) {
    const library_said how = library_said_of(LIBRARY_hands_on, name);
    return how == SAID_COPY_EACH || how == SAID_CLONE_EACH;
}

/* x.iter() and its like, when a list comes out of it and its elements are values. */
static bool is_list(checker *c, expr **start) {
    if ((*start)->type != NULL) {
        const type *t = type_resolve(c->types, (*start)->type);
        return t->kind == TYPE_VEC && !type_is_reference(type_resolve(c->types, t->vec.element));
    }
    bool named = (*start)->kind == EXPR_METHOD &&
                 (library_says(LIBRARY_goes_over, (*start)->call.name) || copies_each((*start)->call.name));
    for (const expr *e = *start; named && e->kind == EXPR_METHOD; e = e->call.receiver)
        named &= !makes_iterator(e);
    if (!named)
        return false;
    check_expr(c, start, NULL);
    return type_resolve(c->types, (*start)->type)->kind == TYPE_VEC;
}

/* A list that is there before the loop begins: no function runs as its elements are asked for. */
static bool is_ready_list(checker *c, expr **slot) {
    const expr *e = *slot;
    for (; e->kind == EXPR_METHOD; e = e->call.receiver) {
        stage_kind k = chain_kind_of(e);
        if ((k != STAGE_NONE && chain_stages[k].has_function) || makes_iterator(e))
            return false;
    }
    if (e->kind == EXPR_RANGE || e->kind == EXPR_CALL || e->kind == EXPR_ARRAY)
        return false;
    check_expr(c, slot, NULL);
    return type_resolve(c->types, (*slot)->type)->kind == TYPE_VEC;
}

/* ---- the loop ------------------------------------------------------------------------------------ */

/* Whether it can be seen that a chain over a list is one loop. */
static bool can_be_seen(const chain *h) {
    uint32_t functions = h->last_body != NULL;
    for (uint32_t i = 0; i < h->count; i++) {
        stage_kind k = chain_kind_of(h->stages[i]);
        if ((chain_stages[k].may_stop && functions > 0) || k == STAGE_FLAT_MAP) /* what it yields may be no list */
            return true;
        functions += chain_stages[k].has_function;
    }
    return functions > 1 || (h->fails && functions > 0);
}

/* An end that looks at every value needs no list of them, nor does the body of a loop. */
static bool saves_list(const chain *h) {
    if (h->last_body != NULL)
        return h->count > 0 || h->backwards;
    stage_kind end = h->count == 0 ? STAGE_NONE : chain_kind_of(h->stages[h->count - 1]);
    if (end == STAGE_COLLECT) /* one list in place of two */
        return h->count + h->backwards + (h->behind != NULL) > ((*h->start)->kind == EXPR_RANGE ? 1u : 2u);
    return end != STAGE_NONE && end >= STAGE_FIND &&
           (h->count > 1 || end == STAGE_FOLD || end == STAGE_REDUCE || h->backwards || h->behind != NULL);
}

/* `reduce` of what methods yield is an Option, that of a list itself is a value (Vec::reduce). */
static bool reduces_list(const chain *h) {
    expr **start = h->start;
    bool reduces = h->count > 0 && chain_kind_of(h->stages[h->count - 1]) == STAGE_REDUCE &&
                   ((*start)->kind == EXPR_METHOD || (h->count > 1 && (*start)->kind == EXPR_NAME));
    if (!reduces)
        return false;
    check_expr(h->c, start, NULL);
    return type_resolve(h->c->types, (*start)->type)->kind == TYPE_VEC;
}

static bool is_whole(checker *c, expr **end) {
    if ((*end)->kind == EXPR_INT)
        return true;
    check_expr(c, end, NULL);
    return type_is_integer(type_resolve(c->types, (*end)->type));
}

/* Whether the numbers of a range can be had by their place: it has an end, and they are whole. */
static bool is_counted_range(checker *c, expr *e) {
    return source_by_form(e) == SOURCE_LIST && is_whole(c, &e->range.low) && is_whole(c, &e->range.high);
}

static void turn_round(chain *h) {
    for (uint32_t i = 0, k = h->count; i + 1 < k--; i++) {
        expr *stage = h->stages[i];
        chain *side = h->sides[i];
        h->stages[i] = h->stages[k];
        h->sides[i] = h->sides[k];
        h->stages[k] = stage;
        h->sides[k] = side;
    }
}

/* Where the elements of a side are: in a list, from its end on where it is turned round, or in a range. */
static bool side_starts(chain *side, expr **at) {
    checker *c = side->c;
    expr *e = *at;
    side->backwards = e->kind == EXPR_METHOD && e->type == NULL && e->call.arg_count == 0 &&
                      library_said_of(LIBRARY_form, e->call.name) == SAID_REVERSE;
    side->start = side->backwards ? &e->call.receiver : at;
    if ((*side->start)->kind != EXPR_RANGE)
        return is_ready_list(c, side->start);
    side->range = *side->start;
    return is_counted_range(c, *side->start) || (!side->backwards && source_by_form(*side->start) == SOURCE_RANGE &&
                                                 is_whole(c, &(*side->start)->range.low));
}

/* The other side of a zip, where its elements can be had by their number: maps of places of a list or range. NULL: it
 * is another. */
static chain *side_of(checker *c, const expr *zip, bool waits) {
    chain *side = CHECK_ARRAY(c, chain, 1);
    expr **at = &zip->call.args[0];
    *side = (chain){.c = c, .e = zip, .by_number = true};
    while ((*at)->kind == EXPR_METHOD && (*at)->type == NULL && side->count < STAGES_MAX) {
        const stage_kind k = chain_kind_of(*at);
        const bool places = chain_is_placing(*at);
        if (!places && (side->placing > 0 || (k != STAGE_MAP && k != STAGE_ENUMERATE)))
            break;
        if (waits && (*at)->call.arg_count > 0 && check_is_seen(c, (*at)->call.args[0]))
            return NULL; /* its function waits until the program asks (check_waits.c) */
        side->placing += places;
        side->by_number &= !places || k == STAGE_SKIP;
        side->stages[side->count++] = *at;
        at = &(*at)->call.receiver;
    }
    turn_round(side);
    if (!side_starts(side, at))
        return NULL;
    side->by_number &= !side->backwards &&
                       (side->range == NULL || (side->range->range.high != NULL && !side->range->range.inclusive));
    return side;
}

/* Fills in the stages in the order in which a value passes them, and where the chain starts. */
static void take_apart(chain *h, expr **slot) {
    expr **at = slot;
    const bool waits = h->last_body == NULL && (*at)->kind == EXPR_METHOD && chain_passes_on(*at);
    while ((*at)->kind == EXPR_METHOD && (*at)->type == NULL && h->count < STAGES_MAX &&
           (chain_passes_on(*at) || (at == slot && chain_kind_of(*at) != STAGE_NONE && h->last_body == NULL))) {
        const bool zips = chain_kind_of(*at) == STAGE_ZIP;
        chain *side = zips ? side_of(h->c, *at, waits) : NULL;
        if (zips && side == NULL)
            break;
        check_view_closures(h->c, *at);
        h->sides[h->count] = side;
        h->stages[h->count++] = *at;
        at = &(*at)->call.receiver;
    }
    turn_round(h);
    h->start = at;
    for (uint32_t i = 0; i + 1 < h->count; i++) /* what ends a chain is its last stage */
        MASU_DEBUG_ASSERT(chain_passes_on(h->stages[i]));
}

/* x.rev() and x.chain(y) at the start of a chain: x, and how it is gone over. */
static void take_way(chain *h) {
    expr *e = *h->start;
    if (e->kind != EXPR_METHOD || e->type != NULL)
        return;
    const library_said way = library_said_of(LIBRARY_form, e->call.name);
    if (way == SAID_REVERSE && e->call.arg_count == 0)
        h->backwards = true;
    else if (way == SAID_CHAIN && e->call.arg_count == 1 && h->last_body == NULL)
        h->behind = e->call.args[0];
    else
        return;
    const bool range = e->call.receiver->kind == EXPR_RANGE;
    const bool ends_late = h->last_body != NULL && !range && h->c->tree->has_destructors;
    bool ready = saves_list(h) && !ends_late &&
                 (range ? h->behind == NULL && is_counted_range(h->c, e->call.receiver)
                        : is_list(h->c, &e->call.receiver)) &&
                 (h->behind == NULL || is_ready_list(h->c, &e->call.args[0]));
    if (ready) {
        h->start = &e->call.receiver;
        h->behind = h->behind != NULL ? e->call.args[0] : NULL;
    } else {
        h->backwards = false;
        h->behind = NULL;
    }
}

static bool is_parts(checker *c, expr *e) {
    if (!check_gives_parts(c, e))
        return false;
    e->call.receiver->is_vec |= e->call.receiver->kind == EXPR_ARRAY;
    check_expr(c, &e->call.receiver, NULL);
    return type_resolve(c->types, e->call.receiver->type)->kind == TYPE_VEC;
}

/* Parts of a list, or the elements of a part: nothing is copied. */
static bool takes_parts(chain *h) {
    expr *e = *h->start;
    const bool ends = h->count > 0 || h->last_body != NULL;
    if (ends && is_parts(h->c, e)) {
        h->parts = e;
        return true;
    }
    h->part = ends ? check_elements_of_part(h->c, e) : NULL;
    return h->part != NULL;
}

static source source_of(chain *h) {
    if (takes_parts(h))
        return SOURCE_LIST;
    take_way(h);
    source from = source_by_form(*h->start);
    stage_kind end = h->count == 0 ? STAGE_NONE : chain_kind_of(h->stages[h->count - 1]);
    if (h->backwards || h->behind != NULL)
        return SOURCE_LIST;
    bool ends = h->last_body != NULL || (end != STAGE_NONE && end >= STAGE_FIND);
    if (from == SOURCE_LIST)
        return can_be_seen(h) || saves_list(h) ? from : SOURCE_NONE;
    if (from != SOURCE_NONE)
        return ends ? from : SOURCE_NONE;
    if ((can_be_seen(h) || saves_list(h)) && is_list(h->c, h->start))
        return SOURCE_LIST;
    if (reduces_list(h))
        return SOURCE_LIST;
    return ends && is_used_up(h) ? SOURCE_NEXT : SOURCE_NONE;
}

/* One value of a source without an end, and what becomes of it. */
static void take_next(const chain *h, block_builder *body, source from, expr *then) {
    checker *c = h->c;
    const expr *e = h->e;
    if (from == SOURCE_NEXT) {
        build_stmt(body, BUILD_QUOTE(c, e->span, "match $$i.next() { Some($0) => $1, _ => $2 }",
                                     chain_name(c, e, "<v 0>"), then, chain_leave(h, e)));
        return;
    }
    build_let(body, "<v 0>", false, chain_name(c, e, "<i>"));
    build_stmt(body, BUILD_QUOTE(c, e->span, "$$i = $$i + 1", NULL));
    build_stmt(body, then);
}

/* The numbers of the parts; each lies where the library says. */
static expr *places_of_parts(const chain *h, block_builder *before, block_builder *body) {
    checker *c = h->c;
    const expr *e = h->parts;
    const uint32_t number = c->text_count++;
    made_of *of = CHECK_ARRAY(c, made_of, 1);
    *of = (made_of){.names = {check_printf(c, "<list %u>", number), check_printf(c, "<low %u>", number),
                              check_printf(c, "<length %u>", number)}};
    const char *size = check_printf(c, "<size %u>", number);
    build_let(before, of->names[0], false, e->call.receiver);
    build_let(before, size, false, e->call.args[0]);
    build_stmt(before,
               BUILD_QUOTE(c, e->span, "$0.$1($2)", chain_name(c, e, of->names[0]),
                           chain_name(c, e, check_printf(c, "__%s_size", e->call.name)), chain_name(c, e, size)));
    for (int i = 1; i < 3; i++)
        build_let(body, of->names[i], false,
                  BUILD_QUOTE(c, e->span, "$0.$1($$at, $2)", chain_name(c, e, of->names[0]),
                              chain_name(c, e, check_printf(c, i == 1 ? "__%s_low" : "__%s_length", e->call.name)),
                              chain_name(c, e, size)));
    build_let_made(body, "<v 0>", of);
    return BUILD_QUOTE(c, h->e->span, "0i64..$0.$1($2)", chain_name(c, e, of->names[0]),
                       chain_name(c, e, check_printf(c, "__%s_count", e->call.name)), chain_name(c, e, size));
}

static expr *places_of_part(const chain *h, block_builder *body) {
    checker *c = h->c;
    const char *const *names = h->part->names;
    build_let(body, "<v 0>", false,
              build_inside(c, h->e->span, chain_name(c, h->e, names[0]), chain_name(c, h->e, "<at>")));
    return BUILD_QUOTE(c, h->e->span, "$0..$0 + $1", chain_name(c, h->e, names[1]), chain_name(c, h->e, names[2]));
}

/* The places of the list that there are: what the loop runs over. */
static expr *places_of(const chain *h, block_builder *before, block_builder *body) {
    checker *c = h->c;
    const source_span span = h->e->span;
    const bool from_end = h->range != NULL && h->backwards;
    if (h->range == NULL) {
        build_let(before, "<list>", false, *h->start);
    } else {
        build_let(before, "<low>", false, h->range->range.low);
        build_let(before, "<high>", false, h->range->range.high);
    }
    chain_places(h, before);
    if (h->counted)
        build_stmt(before, BUILD_QUOTE(c, span, "$$all.__reserve($$count as i64)", NULL));
    build_let(body, "<v 0>", false,
              h->range == NULL ? build_inside(c, span, chain_name(c, h->e, "<list>"),
                                              BUILD_QUOTE(c, span, "$$first + $$at * $$stride", NULL))
                               : BUILD_QUOTE(c, span,
                                             from_end ? "__range_back($$high, $$first + $$at * $$stride + $0)"
                                                      : "__range_on($$low, $$first + $$at * $$stride)",
                                             check_new_int(c, span, !h->range->range.inclusive)));
    return BUILD_QUOTE(c, span, "0i64..$$count as i64", NULL);
}

/* for <side> in 0..2 { let <part> = one list, then the other; loop over it } */
static expr *one_behind_the_other(const chain *h, expr *loop, block_builder *before) {
    checker *c = h->c;
    const expr *e = h->e;
    build_let(before, "<list>", false, *h->start);
    build_let(before, "<behind>", false, h->behind);
    block_builder both = build_block(c, e->span);
    build_let(&both, "<part>", false, BUILD_QUOTE(c, e->span, "if $$side == 0i64 { $$list } else { $$behind }", NULL));
    build_stmt(&both, loop);
    return build_for(c, e->span, build_name(c, e->span, "<side>", BINDING_LOOP),
                     BUILD_QUOTE(c, e->span, "0i64..2i64", NULL), both.block);
}

/* Whether as many values are collected as places are left. */
static bool keeps_count(const chain *h) {
    if (h->count == 0 || chain_kind_of(h->stages[h->count - 1]) != STAGE_COLLECT)
        return false;
    for (uint32_t i = h->placing; i + 1 < h->count; i++) {
        const stage_kind k = chain_kind_of(h->stages[i]);
        if (k != STAGE_MAP && k != STAGE_ENUMERATE && k != STAGE_INSPECT && !chain_is_by_place(h, i))
            return false;
    }
    return true;
}

/* The stages that only choose places of the list or range that the chain starts from. Values with destructors end where
 * they are taken, not with the list. */
static void find_placing(chain *h, source from) {
    const bool range = (*h->start)->kind == EXPR_RANGE;
    bool list = from == SOURCE_LIST && (h->last_body == NULL || range || !h->c->tree->has_destructors) &&
                h->behind == NULL && h->parts == NULL && h->part == NULL;
    bool chosen = h->count > 0 && (chain_is_placing(h->stages[0]) || keeps_count(h));
    for (uint32_t i = 0; i < h->count; i++)
        chosen |= h->sides[i] != NULL;
    bool places = list && (!range || h->backwards || (chosen && is_counted_range(h->c, *h->start)));
    while (places && h->placing < h->count && chain_is_placing(h->stages[h->placing]))
        h->placing++;
    if (range && places)
        h->range = *h->start;
    h->is_sized = from == SOURCE_LIST;
    h->by_number = h->is_sized && !h->backwards && h->behind == NULL && !(range && (*h->start)->range.inclusive);
    for (uint32_t i = 0; i < h->placing; i++)
        h->by_number &= chain_kind_of(h->stages[i]) == STAGE_SKIP;
    h->pairs = places;
    for (uint32_t i = h->placing; h->pairs && i < h->count && !chain_is_by_place(h, i); i++)
        h->pairs = i + 1 < h->count;
    h->counted = places && keeps_count(h);
}

/* for <v 0> in source { … }, or loop { … }; `label`: what the program calls it. */
static expr *build_loop_of(chain *h, source from, const char *label, block_builder *before) {
    checker *c = h->c;
    const expr *e = h->e;
    for (uint32_t i = 0; i < h->count; i++) {
        bool nested = chain_kind_of(h->stages[i]) == STAGE_FLAT_MAP || h->behind != NULL;
        h->label = nested && h->label == NULL ? check_printf(c, "<chain %u>", c->text_count++) : h->label;
    }
    h->label = label != NULL ? label : h->label;
    block_builder body = build_block(c, e->span);
    find_placing(h, from);
    bool by_place = h->backwards || h->placing > 0 || h->pairs || h->counted || h->parts != NULL || h->part != NULL;
    expr *places = h->parts != NULL  ? places_of_parts(h, before, &body)
                   : h->part != NULL ? places_of_part(h, &body)
                   : by_place        ? places_of(h, before, &body)
                                     : NULL;
    chain_counters(h, before);
    chain_limits(h, h->placing, &body);
    expr *then = chain_body_of(h, h->placing, "<v 0>");
    pattern *one = build_name(c, e->span, by_place ? "<at>" : "<v 0>", BINDING_LOOP);
    expr *over = by_place ? places : h->behind != NULL ? chain_name(c, e, "<part>") : *h->start;
    expr *loop = build_for(c, e->span, one, over, body.block);
    if (h->behind != NULL) {
        build_stmt(&body, then);
        loop = one_behind_the_other(h, loop, before);
        loop->loop->label = h->label;
        return loop;
    }
    loop->loop->label = h->label;
    if (from == SOURCE_LIST) {
        build_stmt(&body, then);
    } else {
        loop->kind = EXPR_LOOP;
        loop->loop->pattern = NULL;
        loop->loop->iterable = NULL;
        build_let(before, "<i>", true, from == SOURCE_NEXT ? *h->start : (*h->start)->range.low);
        take_next(h, &body, from, then);
    }
    return loop;
}

/* The value of <found> before the first value comes. */
static expr *begin_of(const chain *h, stage_kind end, const type *expected) {
    checker *c = h->c;
    const type *wish = expected == NULL ? NULL : type_resolve(c->types, expected);
    switch (end) {
    case STAGE_ANY:
    case STAGE_ALL:
        return check_new_bool(c, h->e->span, end == STAGE_ALL);
    case STAGE_COUNT:
        return check_new_int(c, h->e->span, 0);
    case STAGE_FOLD:
        if (wish != NULL && type_is_numeric(wish) && check_free_literal(h->e->call.args[0]))
            check_expr(c, &h->e->call.args[0], wish);
        return check_fold_start(c, h->e);
    default:
        return chain_name(c, h->e, "None");
    }
}

/* The type that a sum or `collect` is wanted as; NULL: nothing says it. */
static const type *wanted_as(checker *c, const expr *e, const type *expected) {
    const type *t = e->call.type_argument_count == 1 ? check_type(c, e->call.type_arguments[0])
                    : expected == NULL               ? e->becomes
                                                     : expected;
    return t == NULL ? NULL : type_resolve(c->types, t);
}

/* A sum of a type that says itself what that is. */
static bool sums_otherwise(checker *c, stage_kind end, const type *t) {
    if (end != STAGE_SUM && end != STAGE_PRODUCT)
        return false;
    chain_sums *sums = &c->instances->sums;
    for (; sums->looked_at < c->tree->function_count; sums->looked_at++) {
        const function_item *f = c->tree->functions[sums->looked_at];
        bool member = f->span.file != c->tree->prelude && f->owner_name != NULL;
        sums->has_sum |= member && chain_stage_named(f->name) == STAGE_SUM;
        sums->has_product |= member && chain_stage_named(f->name) == STAGE_PRODUCT;
    }
    return (t != NULL && t->kind == TYPE_STRUCT) || (end == STAGE_SUM ? sums->has_sum : sums->has_product);
}

/* *slot is a method that a chain may end with. */
bool check_chain(checker *c, expr **slot, const type *expected) {
    expr *e = *slot;
    stage_kind kind = chain_kind_of(e);
    const bool makes = kind == STAGE_SUM || kind == STAGE_PRODUCT || kind == STAGE_COLLECT;
    const type *wanted = makes ? wanted_as(c, e, expected) : NULL;
    const bool fails = wanted != NULL &&
                       (check_is_form(c, wanted, SAID_OPTION) || check_is_form(c, wanted, SAID_RESULT));
    if (kind == STAGE_NONE || (!fails && sums_otherwise(c, kind, wanted)))
        return false;
    chain h = {.c = c, .e = e, .fails = fails};
    const view *all = c->tree->has_reference_impls ? check_view_kept(c, check_view(c, e->call.receiver)) : NULL;
    take_apart(&h, slot);
    source from = source_of(&h);
    if (from == SOURCE_NONE)
        return false;
    block_builder b = build_block(c, e->span);
    bool listed = kind < STAGE_FIND || kind == STAGE_COLLECT || fails;
    const char *result = listed ? "<all>" : "<found>";
    build_let(&b, result, true, listed ? build_call(c, e->span, "Vec", "new", NULL, 0) : begin_of(&h, kind, expected));
    b.last->pattern->binding->view = listed ? all : NULL;
    const binary_op gathers = kind == STAGE_SUM ? BINARY_ADD : kind == STAGE_PRODUCT ? BINARY_MUL : BINARY_NONE;
    b.last->pattern->binding->gathers = listed ? BINARY_NONE : gathers;
    build_stmt(&b, build_loop_of(&h, from, NULL, &b));
    expr *value = chain_name(c, e, result);
    if (kind == STAGE_COLLECT || fails) {
        value = build_method(c, e->span, value, e->call.name, NULL, 0);
        value->becomes = e->becomes;
        value->call.type_arguments = e->call.type_arguments;
        value->call.type_argument_count = e->call.type_argument_count;
    }
    if (!fails && (kind == STAGE_SUM || kind == STAGE_PRODUCT))
        value = build_method(c, e->span, value, kind == STAGE_SUM ? "__sum" : "__product", NULL, 0);
    *slot = build_finish(&b, value);
    check_keep_folded(c, e, *slot);
    check_expr(c, slot, kind >= STAGE_SUM ? expected : NULL);
    return true;
}

/* How a list of rows that have to be made lists first is flattened: by which stage, by what of a row. False: rows are
 * lists. */
static bool way_of_rows(checker *c, const type *row, library_said *stage, const char **taken) {
    const type *led = type_is_reference(row) && !type_is_slice(row) ? type_resolve(c->types, row->vec.element) : row;
    *stage = SAID_FLAT_MAP;
    if (row->kind == TYPE_STRUCT) {
        *taken = "|$$row| $$row";
    } else if (led->kind == TYPE_VEC && type_is_reference(row)) {
        *taken = "|$$row| $$row.iter_mut()";
    } else if (type_is_reference(row) && check_is_form(c, led, SAID_OPTION)) {
        *stage = SAID_FILTER_MAP;
        *taken = "|$$row| $$row.as_mut()";
    } else {
        return false;
    }
    return true;
}

/* sets.flatten(), of what a `for` runs over: sets.flat_map(|<row>| <row>); rows.iter_mut().flatten() */
bool check_flattened(checker *c, expr **slot, const type *t, const type *expected) {
    expr *e = *slot;
    const library_said by = library_said_of(LIBRARY_goes_over_each, e->call.name);
    const type *row = by != SAID_FLAT_MAP || t->kind != TYPE_VEC ? NULL : type_resolve(c->types, t->vec.element);
    const char *taken = NULL;
    library_said stage = SAID_NOTHING;
    if (row == NULL || e->call.arg_count > 0 || !way_of_rows(c, row, &stage, &taken))
        return false;
    e->call.args = check_join_list(c, BUILD_QUOTE(c, e->span, taken, NULL), NULL, 0);
    e->call.arg_count = 1;
    e->call.name = library_named(LIBRARY_stage, stage);
    check_again(c, slot, expected);
    return true;
}

/* for p in CHAIN { … } */
bool check_loop_over_chain(checker *c, expr **slot) {
    expr *e = *slot;
    const expr *over = e->loop->iterable;
    const bool parts = is_parts(c, e->loop->iterable);
    const bool turned = over->kind == EXPR_METHOD && library_said_of(LIBRARY_form, over->call.name) == SAID_REVERSE;
    if ((chain_kind_of(over) == STAGE_NONE && !parts && !turned) || over->type != NULL)
        return false;
    expr *body = check_new(c, EXPR_BLOCK, e->loop->body->span, NULL);
    body->block = e->loop->body;
    chain h = {.c = c, .e = e->loop->iterable, .last_body = body, .pattern = e->loop->pattern};
    take_apart(&h, &e->loop->iterable);
    for (uint32_t i = 0; i < h.count; i++) /* `break` of the body would leave the inner loop only */
        if (chain_kind_of(h.stages[i]) == STAGE_FLAT_MAP)
            return false;
    source from = SOURCE_NONE;
    if (h.count > 0 || parts)
        from = source_of(&h);
    else if (take_way(&h), h.backwards)
        from = SOURCE_LIST;
    if (from == SOURCE_NONE)
        return false;
    block_builder b = build_block(c, e->span);
    build_stmt(&b, build_loop_of(&h, from, e->loop->label, &b));
    *slot = build_finish(&b, NULL);
    check_expr(c, slot, check_scalar(c, TYPE_VOID));
    return true;
}
