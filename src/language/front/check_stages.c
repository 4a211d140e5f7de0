/* check_stages.c: what the methods of a chain do with a value that comes to them: check_chain.c. Each stage is a piece
 * of the loop's body, and what is behind it is inside.
 */
#include <string.h>

#include "language/front/check_chain.h"
#include "language/front/check_place.h"
#include "language/library/library.h"
#include "language/types/check_context.h"

static const char gathers[] = "{ $$found = $$found.$8($6); }";
/* all values up to the first failure: what is made of them finds it there */
static const char gathers_whole[] = "{ $$all.push($6); if $6.__ends() { $4; }; }";

/* `way`: what becomes of a value, with
 *
 *     $0  f(value)      $1  what is behind the stage      $2  its counter          $3  how many it counts to
 *     $4  break         $5  the value behind it           $6  the value            $7  1, as the counter has it
 *     $8  the element of the other side of a zip; the method that gathers; what is asked at the head of an inner loop
 */
const chain_stage chain_stages[] = {
    [STAGE_MAP] = {SAID_MAP, 1, true, false, "{ let $5 = $0; $1; }"},
    [STAGE_FILTER] = {SAID_FILTER, 1, true, false, "{ if $0 { $1; }; }"},
    [STAGE_FILTER_MAP] = {SAID_FILTER_MAP, 1, true, false, "{ match $0 { Some($5) => $1, _ => {} }; }"},
    [STAGE_INSPECT] = {SAID_INSPECT, 1, true, false, "{ $0; $1; }"},
    [STAGE_FLAT_MAP] = {SAID_FLAT_MAP, 1, true, false, "{ for $5 in $0 { $8; $1; }; }"},
    [STAGE_TAKE_WHILE] = {SAID_TAKE_WHILE, 1, true, true, "{ if !$0 { $4; }; $1; }"},
    [STAGE_SKIP_WHILE] = {SAID_SKIP_WHILE, 1, true, false, "{ $2 = $2 && $0; if !$2 { $1; }; }"},
    [STAGE_MAP_WHILE] = {SAID_MAP_WHILE, 1, true, true, "{ match $0 { Some($5) => $1, _ => $4 }; }"},
    [STAGE_SCAN] = {SAID_SCAN, 2, true, true, "{ match $0 { Some($5) => $1, _ => $4 }; }"},
    [STAGE_ENUMERATE] = {SAID_ENUMERATE, 0, false, false, "{ let $5 = ($2, $6); $2 = $2 + $7; $1; }"},
    [STAGE_SKIP] = {SAID_SKIP, 1, false, false, "{ $2 = $2 + $7; if $2 > $3 { $1; }; }"},
    [STAGE_TAKE] = {SAID_TAKE, 1, false, true, "{ $2 = $2 + $7; $1; }"},
    [STAGE_STEP_BY] = {SAID_STEP_BY, 1, false, false,
                       "{ let $passes = $2 == 0; $2 = $2 + $7; if $2 >= $3 { $2 = 0; }; if $passes { $1; }; }"},
    [STAGE_ZIP] = {SAID_ZIP, 1, false, true, "{ let $5 = ($6, $8); $2 = $2 + $7; $1; }"},
    [STAGE_FIND] = {SAID_FIND, 1, true, true, "{ if $0 { $$found = Some($6); $4; }; }"},
    [STAGE_FIND_MAP] = {SAID_FIND_MAP, 1, true, true,
                        "{ match $0 { Some($5) => { $$found = Some($5); $4; } _ => {} }; }"},
    [STAGE_POSITION] = {SAID_POSITION, 1, true, true, "{ if $0 { $$found = Some($2); $4; }; $2 = $2 + $7; }"},
    [STAGE_ANY] = {SAID_ANY, 1, true, true, "{ if $0 { $$found = true; $4; }; }"},
    [STAGE_ALL] = {SAID_ALL, 1, true, true, "{ if !$0 { $$found = false; $4; }; }"},
    [STAGE_SUM] = {SAID_SUM, 0, false, false, gathers},
    [STAGE_PRODUCT] = {SAID_PRODUCT, 0, false, false, gathers},
    [STAGE_COUNT] = {SAID_COUNT, 0, false, false, "{ $$found = $$found + $7; }"},
    [STAGE_MAX] = {SAID_MAX, 0, false, false, gathers},
    [STAGE_MIN] = {SAID_MIN, 0, false, false, gathers},
    [STAGE_LAST] = {SAID_LAST, 0, false, false, "{ $$found = Some($6); }"},
    [STAGE_FOLD] = {SAID_FOLD, 2, true, false, "{ $$found = $0; }"},
    /* the first value says what the type is */
    [STAGE_REDUCE] = {SAID_REDUCE, 1, true, false,
                      "{ if $$found.is_none() { $$found = Some($6); } else { $$found = Some($0); }; }"},
    [STAGE_COLLECT] = {SAID_COLLECT, 0, false, false, "{ $$all.push($6); }"},
};

stage_kind chain_stage_named(const char *name) {
    const library_said said = library_said_of(LIBRARY_stage, name);
    for (int k = 0; said != SAID_NOTHING && k < STAGE_NONE; k++)
        if (said == chain_stages[k].said)
            return (stage_kind)k;
    return STAGE_NONE;
}

stage_kind chain_kind_of(const expr *e) {
    const stage_kind kind = e->kind == EXPR_METHOD ? chain_stage_named(e->call.name) : STAGE_NONE;
    return kind == STAGE_NONE || e->call.arg_count == chain_stages[kind].args ? kind : STAGE_NONE;
}

bool chain_passes_on(const expr *e) {
    return chain_kind_of(e) < STAGE_FIND;
}

expr *chain_name(checker *c, const expr *e, const char *n) {
    return check_new_name(c, e->span, n);
}

/* f(args) */
static expr *call_of(checker *c, const expr *e, expr *f, expr **args, uint32_t count) {
    expr *call = check_new(c, EXPR_CALL, e->span, NULL);
    call->call.callee = f;
    call->call.name_span = e->kind == EXPR_METHOD ? e->call.name_span : e->span;
    call->call.args = CHECK_ARRAY(c, expr *, count + 1);
    call->call.arg_count = count;
    for (uint32_t i = 0; i < count; i++)
        call->call.args[i] = args[i];
    return call;
}

static bool leaves(const expr *e, void *context) {
    (void)context;
    return e->kind == EXPR_RETURN || e->kind == EXPR_TRY;
}

/* |p, q| body of such values: { let p = first; let q = second; body } NULL: it has to be called. */
static expr *written_out(checker *c, const expr *f, expr **values, uint32_t count) {
    const bool fits = f->kind == EXPR_CLOSURE && f->type == NULL && f->closure.parameter_count == count;
    if (!fits || f->closure.is_move || f->closure.result != NULL || expr_any(f->closure.body, leaves, NULL))
        return NULL;
    block_builder b = build_block(c, f->span);
    for (uint32_t i = 0; i < count; i++) {
        const binding *p = f->closure.parameters[i];
        if (p->is_mutable || p->annotation != NULL)
            return NULL;
        build_let(&b, p->name, false, values[i]);
        b.last->pattern->binding->span = p->span;
        b.last->pattern->binding->view = p->view;
    }
    return build_finish(&b, f->closure.body);
}

/* The value that comes to the stage is a part of a list, or a pair with one. */
static bool is_made(const chain *h, uint32_t at) {
    bool made = h->parts != NULL;
    for (uint32_t i = 0; i < at; i++) {
        stage_kind k = chain_kind_of(h->stages[i]);
        made &= k == STAGE_FILTER || k == STAGE_INSPECT || k == STAGE_TAKE_WHILE || k == STAGE_SKIP_WHILE ||
                k == STAGE_SKIP || k == STAGE_TAKE || k == STAGE_STEP_BY || k == STAGE_ENUMERATE || k == STAGE_ZIP;
    }
    return made;
}

/* let <v> = (a, b), of which one may be such a part. */
static void let_pair(const chain *h, block_builder *b, const char *name, expr *first, expr *second) {
    checker *c = h->c;
    const uint32_t number = c->text_count++;
    made_of *of = CHECK_ARRAY(c, made_of, 1);
    *of = (made_of){.names = {check_printf(c, "<first %u>", number), check_printf(c, "<second %u>", number)},
                    .is_pair = true};
    build_let(b, of->names[0], false, first);
    build_let(b, of->names[1], false, second);
    build_let_made(b, name, of);
}

/* filter_map(|i| v.get(i)): what the function ends with is an Option. */
static void want_option(expr *e) {
    if (e == NULL)
        return;
    if (e->kind == EXPR_METHOD) {
        e->call.is_option |= library_word(LIBRARY_of_option, e->call.name) != NULL;
    } else if (e->kind == EXPR_BLOCK) {
        want_option(e->block->result);
    } else if (e->kind == EXPR_IF) {
        want_option(e->branch.then->result);
        want_option(e->branch.otherwise);
    }
}

static expr *apply(const chain *h, uint32_t at, const char *value) {
    checker *c = h->c;
    const expr *stage = h->stages[at];
    const stage_kind kind = chain_kind_of(stage);
    const bool takes_apart = kind == STAGE_FILTER_MAP || kind == STAGE_MAP_WHILE || kind == STAGE_FIND_MAP;
    if (takes_apart && stage->call.args[0]->kind == EXPR_CLOSURE && stage->call.args[0]->type == NULL)
        want_option(stage->call.args[0]->closure.body);
    expr *arg = chain_name(c, stage, value);
    expr *inside = is_made(h, at) ? written_out(c, stage->call.args[0], &arg, 1) : NULL;
    if (inside != NULL)
        return inside;
    return call_of(c, stage, stage->call.args[0], &arg, 1);
}

/* Out of the loop over the source. */
expr *chain_leave(const chain *h, const expr *e) {
    expr *jump = check_new(h->c, EXPR_BREAK, e->span, NULL);
    jump->jump.label = h->label;
    jump->jump.label_span = e->span;
    return jump;
}

/* They count with usize. */
static bool counts_places(const expr *stage) {
    const stage_kind k = chain_kind_of(stage);
    return k == STAGE_ENUMERATE || k == STAGE_POSITION || k == STAGE_SKIP || k == STAGE_TAKE;
}

static expr *number_of(checker *c, const expr *e, type_kind kind, uint64_t value) {
    expr *number = check_new_int(c, e->span, (int64_t)value);
    number->type = check_scalar(c, kind);
    number->integer.suffix = kind;
    return number;
}

static bool counts_pairs(const chain *h, uint32_t at);

/* A zip whose pairs are as many as places are counted before the loop: the number of a pair is its place. */
bool chain_is_by_place(const chain *h, uint32_t at) {
    if (!h->pairs || chain_kind_of(h->stages[at]) != STAGE_ZIP)
        return false;
    bool each = true, runs = false;
    for (uint32_t i = h->placing; i < at; i++) {
        const stage_kind k = chain_kind_of(h->stages[i]);
        each &= k == STAGE_MAP || k == STAGE_ENUMERATE || k == STAGE_ZIP;
        runs |= k == STAGE_MAP;
    }
    return each && (!runs || counts_pairs(h, at));
}

static const char *counter_of(const chain *h, uint32_t at) {
    return chain_is_by_place(h, at) ? "<at>" : check_printf(h->c, "<n %u>", at);
}

static bool keeps_count(stage_kind k) {
    return k == STAGE_ENUMERATE || k == STAGE_SKIP || k == STAGE_TAKE || k == STAGE_STEP_BY || k == STAGE_ZIP ||
           k == STAGE_POSITION;
}

/* The end of a chain: what becomes of a value that came through. */
static expr *last_of(const chain *h, const char *value) {
    checker *c = h->c;
    if (h->last_body == NULL)
        return BUILD_QUOTE(c, h->e->span, "$$all.push($0)", chain_name(c, h->e, value));
    return build_bound(c, h->pattern, chain_name(c, h->e, value), h->last_body);
}

/* An end that Rust computes from the number of pairs, which it knows. */
static bool folds_pairs(const chain *h, uint32_t at) {
    const stage_kind end = h->last_body != NULL ? STAGE_NONE : chain_kind_of(h->stages[h->count - 1]);
    bool folds = end != STAGE_NONE && end >= STAGE_SUM && h->is_sized && !h->fails;
    for (uint32_t i = at + 1; i < h->count && end == STAGE_COLLECT; i++)
        folds &= chain_kind_of(h->stages[i]) != STAGE_FILTER && chain_kind_of(h->stages[i]) != STAGE_FILTER_MAP;
    return folds;
}

/* Rust goes over the pairs where it has the elements of both sides by their number, or where it knows how many there
 * are and the end looks at all of them: no function runs for an element without a partner. Otherwise the left side is
 * asked first. */
static bool counts_pairs(const chain *h, uint32_t at) {
    bool each = true, by_number = h->by_number && h->sides[at]->by_number;
    for (uint32_t i = h->placing; i < at; i++) {
        const stage_kind k = chain_kind_of(h->stages[i]);
        each &= k == STAGE_MAP || k == STAGE_ENUMERATE || k == STAGE_ZIP;
        by_number &= k != STAGE_ZIP || h->sides[i]->by_number;
    }
    return each && (by_number || folds_pairs(h, at));
}

/* if the other side of a `zip` has no more { break } */
static void leave_without_partner(const chain *h, uint32_t at, block_builder *body) {
    checker *c = h->c;
    const expr *stage = h->stages[at];
    build_stmt(body,
               BUILD_QUOTE(c, stage->span, "if $0 as usize >= $1 { $2; }", chain_name(c, stage, counter_of(h, at)),
                           chain_name(c, stage, check_printf(c, "<others %u>", at)), chain_leave(h, stage)));
}

/* At the head of the loop that stage `at` gets its values from: whether a `take` behind it has what it wants. */
void chain_limits(const chain *h, uint32_t at, block_builder *body) {
    checker *c = h->c;
    for (uint32_t i = at; i < h->count; i++) {
        const expr *stage = h->stages[i];
        if (chain_kind_of(stage) == STAGE_TAKE) {
            build_stmt(body, BUILD_QUOTE(c, stage->span, "if $0 >= $1 { $2; }", chain_name(c, stage, counter_of(h, i)),
                                         chain_name(c, stage, check_printf(c, "<most %u>", i)), chain_leave(h, stage)));
        } else if (at == h->placing && !chain_is_by_place(h, i) && chain_kind_of(stage) == STAGE_ZIP &&
                   counts_pairs(h, i)) {
            leave_without_partner(h, i, body);
        }
    }
}

/* f(&mut <state>, value) */
static expr *scanned(const chain *h, uint32_t at, const char *value) {
    checker *c = h->c;
    const expr *stage = h->stages[at];
    expr *f = stage->call.args[1];
    if (f->kind == EXPR_CLOSURE && f->type == NULL)
        want_option(f->closure.body);
    expr *args[2] = {BUILD_QUOTE(c, stage->span, "&mut $0", chain_name(c, stage, counter_of(h, at))),
                     chain_name(c, stage, value)};
    return call_of(c, stage, f, args, 2);
}

/* f(value), or of ends that look at every value f(so far, value). */
static expr *applied(const chain *h, uint32_t at, const char *value) {
    checker *c = h->c;
    const expr *stage = h->stages[at];
    const stage_kind kind = chain_kind_of(stage);
    if (kind == STAGE_SCAN)
        return scanned(h, at, value);
    if (kind != STAGE_FOLD && kind != STAGE_REDUCE)
        return chain_stages[kind].has_function ? apply(h, at, value) : NULL;
    expr *args[2] = {chain_name(c, stage, "<found>"), chain_name(c, stage, value)};
    if (kind == STAGE_REDUCE)
        args[0] = build_method(c, stage->span, args[0], "unwrap", NULL, 0);
    /* fold(&mut root, |n, c| …): what goes from place to place is a variable of the loop's own function */
    expr *inside = check_folds_places(c, stage) ? written_out(c, stage->call.args[1], args, 2) : NULL;
    if (inside != NULL)
        return inside;
    return call_of(c, stage, stage->call.args[kind == STAGE_FOLD], args, 2);
}

/* ---- the other side of a zip ------------------------------------------------------------------------------------- */

/* A list as it is: the number of a pair is the place. */
static bool is_plain_list(const chain *side) {
    return side->range == NULL && side->placing == 0 && !side->backwards;
}

static expr *part_of_side(const chain *h, uint32_t at, const char *part) {
    return chain_name(h->c, h->stages[at], check_printf(h->c, "<%s %u>", part, at));
}

static void let_part(const chain *h, uint32_t at, block_builder *before, const char *part, expr *value) {
    build_let(before, check_printf(h->c, "<%s %u>", part, at), false, value);
}

/* The places of the other side: (how many there are, the first, how far apart they are). */
static expr *places_of_side(const chain *h, uint32_t at) {
    checker *c = h->c;
    const chain *side = h->sides[at];
    const source_span span = h->stages[at]->span;
    block_builder places = build_block(c, span);
    if (side->range == NULL)
        build_let(&places, "<list>", false, part_of_side(h, at, "other"));
    else
        build_let(&places, "<low>", false, part_of_side(h, at, "low"));
    if (side->range != NULL && side->range->range.high != NULL)
        build_let(&places, "<high>", false, part_of_side(h, at, "high"));
    chain_places(side, &places);
    return build_finish(&places, BUILD_QUOTE(c, span, "($$count, $$first, $$stride)", NULL));
}

static void let_other(const chain *h, uint32_t at, block_builder *before) {
    checker *c = h->c;
    const chain *side = h->sides[at];
    const source_span span = h->stages[at]->span;
    if (side->range == NULL)
        let_part(h, at, before, "other", *side->start);
    else
        let_part(h, at, before, "low", side->range->range.low);
    if (side->range != NULL && side->range->range.high != NULL)
        let_part(h, at, before, "high", side->range->range.high);
    if (!is_plain_list(side))
        let_part(h, at, before, "places", places_of_side(h, at));
    let_part(h, at, before, "others",
             is_plain_list(side) ? BUILD_QUOTE(c, span, "$0.len()", part_of_side(h, at, "other"))
                                 : BUILD_QUOTE(c, span, "$0.0", part_of_side(h, at, "places")));
}

/* The element of the other side that a pair has. */
static expr *partner(const chain *h, uint32_t at) {
    checker *c = h->c;
    const chain *side = h->sides[at];
    const expr *zip = h->stages[at];
    expr *place = chain_name(c, zip, counter_of(h, at));
    if (!is_plain_list(side))
        place = BUILD_QUOTE(c, zip->span, "$0.1 + $1 * $0.2", part_of_side(h, at, "places"), place);
    expr *value = side->range == NULL ? build_inside(c, zip->span, part_of_side(h, at, "other"), place)
                  : !side->backwards
                      ? BUILD_QUOTE(c, zip->span, "__range_on($0, $1)", part_of_side(h, at, "low"), place)
                      : BUILD_QUOTE(c, zip->span, "__range_back($0, $1 + $2)", part_of_side(h, at, "high"), place,
                                    check_new_int(c, zip->span, !side->range->range.inclusive));
    block_builder b = build_block(c, zip->span);
    const char *name = check_printf(c, "<partner %u>", at);
    for (uint32_t i = side->placing; i < side->count; i++) {
        build_let(&b, name, false, value);
        value = chain_kind_of(side->stages[i]) == STAGE_MAP
                    ? apply(side, i, name)
                    : BUILD_QUOTE(c, zip->span, "($0 as usize, $1)", chain_name(c, zip, counter_of(h, at)),
                                  chain_name(c, zip, name));
    }
    return side->count == side->placing ? value : build_finish(&b, value);
}

/* The eighth part of a way. */
static expr *beside(const chain *h, uint32_t at) {
    checker *c = h->c;
    const expr *stage = h->stages[at];
    const stage_kind kind = chain_kind_of(stage);
    if (kind == STAGE_FLAT_MAP) {
        block_builder b = build_block(c, stage->span);
        chain_limits(h, at + 1, &b);
        return build_finish(&b, NULL);
    }
    return kind == STAGE_ZIP ? partner(h, at)
           : chain_stages[kind].way == gathers
               ? chain_name(c, stage, library_named(LIBRARY_gathers, chain_stages[kind].said))
               : NULL;
}

/* The way of the value from stage `at` on. */
expr *chain_body_of(const chain *h, uint32_t at, const char *value) {
    if (at == h->count)
        return last_of(h, value);
    checker *c = h->c;
    const expr *stage = h->stages[at];
    const stage_kind kind = chain_kind_of(stage);
    const char *next = check_printf(c, "<v %u>", at + 1), *counter = counter_of(h, at);
    const char *plain = chain_is_by_place(h, at)                               ? "{ let $5 = ($6, $8); $1; }"
                        : h->fails && at + 1 == h->count && kind >= STAGE_FIND ? gathers_whole
                                                                               : chain_stages[kind].way;
    const bool renames = strstr(plain, "$5") != NULL;
    expr *parts[] = {applied(h, at, value),
                     kind < STAGE_FIND ? chain_body_of(h, at + 1, renames ? next : value) : NULL,
                     chain_name(c, stage, counter),
                     chain_name(c, stage, check_printf(c, "<most %u>", at)),
                     chain_leave(h, stage),
                     chain_name(c, stage, next),
                     chain_name(c, stage, value),
                     number_of(c, stage, counts_places(stage) ? TYPE_USIZE : TYPE_I64, 1),
                     beside(h, at)};
    const bool zips = kind == STAGE_ZIP, pair = (zips || kind == STAGE_ENUMERATE) && is_made(h, at);
    block_builder b = build_block(c, stage->span);
    if (zips && !counts_pairs(h, at) && !chain_is_by_place(h, at))
        leave_without_partner(h, at, &b);
    if (pair)
        let_pair(h, &b, next, chain_name(c, stage, zips ? value : counter), zips ? parts[8] : parts[6]);
    expr *way = build_quote(c, stage->span, pair ? chain_stages[STAGE_TAKE].way : plain, parts, 9);
    if (b.last == NULL)
        return way;
    b.last->next = way->block->first;
    return build_finish(&b, NULL);
}

/* let <most> = the number that the stage is given */
static void let_most(const chain *h, uint32_t at, block_builder *before) {
    checker *c = h->c;
    const expr *stage = h->stages[at];
    const stage_kind kind = chain_kind_of(stage);
    const char *most = check_printf(c, "<most %u>", at), *judge = kind == STAGE_STEP_BY ? "__step" : "__places";
    if (kind == STAGE_SKIP || kind == STAGE_TAKE || kind == STAGE_STEP_BY)
        build_let(before, most, false, build_call(c, stage->span, NULL, judge, stage->call.args, 1));
}

/* The counters of the stages: how many came through, how many may. */
void chain_counters(const chain *h, block_builder *before) {
    checker *c = h->c;
    for (uint32_t i = h->placing; i < h->count; i++) {
        if (chain_is_by_place(h, i))
            continue;
        const expr *stage = h->stages[i];
        stage_kind kind = chain_kind_of(stage);
        const char *counter = counter_of(h, i);
        if (kind == STAGE_SKIP_WHILE) {
            build_let(before, counter, true, check_new_bool(c, stage->span, true));
        } else if (kind == STAGE_SCAN) {
            build_let(before, counter, true, stage->call.args[0]);
        } else if (keeps_count(kind)) {
            type_kind counted = counts_places(stage) ? TYPE_USIZE : TYPE_I64;
            build_let(before, counter, true, number_of(c, stage, counted, 0));
        }
        let_most(h, i, before);
        if (kind == STAGE_ZIP)
            let_other(h, i, before);
    }
}

/* $0: what the stage is given */
static const char *placing_way(const expr *stage) {
    switch (chain_kind_of(stage)) {
    case STAGE_SKIP:
        return "{ let $$skipped = if $0 < $$count { $0 } else { $$count };"
               " $$first = $$first + $$skipped as i64 * $$stride; $$count = $$count - $$skipped; }";
    case STAGE_TAKE:
        return "{ if $0 < $$count { $$count = $0; }; }";
    case STAGE_STEP_BY:
        return "{ if $$count > 0 { $$count = ($$count - 1) / $0 as usize + 1; }; $$stride = $$stride * $0; }";
    default:
        return NULL;
    }
}

bool chain_is_placing(const expr *stage) {
    return placing_way(stage) != NULL;
}

/* A list gives its elements from the first or from the last one on; a range as many numbers, counted from its end where
 * it goes backwards. */
static void first_places(const chain *h, block_builder *before) {
    checker *c = h->c;
    const source_span span = h->e->span;
    const bool from_end = h->backwards && h->range == NULL;
    build_let(before, "<count>", true,
              h->range != NULL && h->range->range.high == NULL ? BUILD_QUOTE(c, span, "i64::MAX as usize", NULL)
              : h->range != NULL ? BUILD_QUOTE(c, span, "__range_count($$low, $$high, $0)",
                                               check_new_int(c, span, h->range->range.inclusive))
                                 : BUILD_QUOTE(c, span, "$$list.len()", NULL));
    build_let(before, "<first>", true, BUILD_QUOTE(c, span, from_end ? "$$list.len() as i64 - 1" : "0i64", NULL));
    build_let(before, "<stride>", true, BUILD_QUOTE(c, span, from_end ? "-1i64" : "1i64", NULL));
}

void chain_places(const chain *h, block_builder *before) {
    checker *c = h->c;
    first_places(h, before);
    for (uint32_t i = 0; i < h->placing; i++) {
        const expr *stage = h->stages[i];
        let_most(h, i, before);
        build_stmt(before, BUILD_QUOTE(c, stage->span, placing_way(stage),
                                       chain_name(c, stage, check_printf(c, "<most %u>", i))));
    }
    for (uint32_t i = h->placing; i < h->count; i++)
        if (chain_is_by_place(h, i)) {
            let_other(h, i, before);
            build_stmt(before, BUILD_QUOTE(c, h->stages[i]->span, "if $0 < $$count { $$count = $0; }",
                                           part_of_side(h, i, "others")));
        }
}
