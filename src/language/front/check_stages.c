/* check_stages.c: what the methods of a chain do with a value that comes to them: check_chain.c. Each stage is a piece
 * of the loop's body, and what is behind it is inside.
 */
#include <string.h>

#include "language/front/check_build.h"
#include "language/front/check_call.h"
#include "language/front/check_chain.h"
#include "language/library/library.h"
#include "language/types/check_context.h"

const chain_stage chain_stages[] = {
    [STAGE_MAP] = {SAID_MAP, 1, true, false},
    [STAGE_FILTER] = {SAID_FILTER, 1, true, false},
    [STAGE_FILTER_MAP] = {SAID_FILTER_MAP, 1, true, false},
    [STAGE_INSPECT] = {SAID_INSPECT, 1, true, false},
    [STAGE_FLAT_MAP] = {SAID_FLAT_MAP, 1, true, false},
    [STAGE_TAKE_WHILE] = {SAID_TAKE_WHILE, 1, true, true},
    [STAGE_SKIP_WHILE] = {SAID_SKIP_WHILE, 1, true, false},
    [STAGE_MAP_WHILE] = {SAID_MAP_WHILE, 1, true, true},
    [STAGE_ENUMERATE] = {SAID_ENUMERATE, 0, false, false},
    [STAGE_SKIP] = {SAID_SKIP, 1, false, false},
    [STAGE_TAKE] = {SAID_TAKE, 1, false, true},
    [STAGE_STEP_BY] = {SAID_STEP_BY, 1, false, false},
    [STAGE_ZIP] = {SAID_ZIP, 1, false, true},
    [STAGE_FIND] = {SAID_FIND, 1, true, true},
    [STAGE_FIND_MAP] = {SAID_FIND_MAP, 1, true, true},
    [STAGE_POSITION] = {SAID_POSITION, 1, true, true},
    [STAGE_ANY] = {SAID_ANY, 1, true, true},
    [STAGE_ALL] = {SAID_ALL, 1, true, true},
    [STAGE_SUM] = {SAID_SUM, 0, false, false},
    [STAGE_PRODUCT] = {SAID_PRODUCT, 0, false, false},
    [STAGE_COUNT] = {SAID_COUNT, 0, false, false},
    [STAGE_MAX] = {SAID_MAX, 0, false, false},
    [STAGE_MIN] = {SAID_MIN, 0, false, false},
    [STAGE_LAST] = {SAID_LAST, 0, false, false},
    [STAGE_FOLD] = {SAID_FOLD, 2, true, false},
    [STAGE_REDUCE] = {SAID_REDUCE, 1, true, false},
    [STAGE_COLLECT] = {SAID_COLLECT, 0, false, false},
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

static void find_way_out(expr *e, void *found) {
    *(bool *)found |= e->kind == EXPR_RETURN || e->kind == EXPR_TRY;
    if (!*(bool *)found)
        expr_each_child(e, find_way_out, found);
}

/* |p| body of a part of a list: { let p = value; body } NULL: it has to be called. */
static expr *written_out(checker *c, const expr *f, const char *value) {
    const bool one = f->kind == EXPR_CLOSURE && f->type == NULL && f->closure.parameter_count == 1;
    if (!one || f->closure.is_move || f->closure.result != NULL || f->closure.parameters[0]->is_mutable ||
        f->closure.parameters[0]->annotation != NULL)
        return NULL;
    bool leaves = false;
    find_way_out(f->closure.body, &leaves);
    if (leaves)
        return NULL;
    block_builder b = build_block(c, f->span);
    build_let(&b, f->closure.parameters[0]->name, false, check_new_name(c, f->span, value));
    b.last->pattern->binding->span = f->closure.parameters[0]->span;
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

static expr *apply(const chain *h, uint32_t at, const char *value) {
    checker *c = h->c;
    const expr *stage = h->stages[at];
    expr *inside = is_made(h, at) ? written_out(c, stage->call.args[0], value) : NULL;
    if (inside != NULL)
        return inside;
    expr *arg = chain_name(c, stage, value);
    return call_of(c, stage, stage->call.args[0], &arg, 1);
}

/* Out of the loop over the source. */
expr *chain_leave(const chain *h, const expr *e) {
    expr *jump = check_new(h->c, EXPR_BREAK, e->span, NULL);
    jump->jump.label = h->label;
    jump->jump.label_span = e->span;
    return jump;
}

/* if condition { then } */
static expr *when(checker *c, expr *condition, expr *then) {
    block_builder b = build_block(c, condition->span);
    build_stmt(&b, then);
    return build_if(c, condition, build_finish(&b, NULL), NULL, NULL);
}

static expr *negated(checker *c, expr *e) {
    return build_unary(c, e->span, UNARY_NOT, e, NULL);
}

static expr *nothing(checker *c, const expr *e) {
    block_builder b = build_block(c, e->span);
    return build_finish(&b, NULL);
}

static expr *push(checker *c, const expr *e, const char *value) {
    expr *item = chain_name(c, e, value);
    return build_method(c, e->span, chain_name(c, e, "<all>"), "push", &item, 1);
}

/* Places are lengths; what skip and take count to is what they are given. */
static bool counts_places(const expr *stage) {
    return chain_kind_of(stage) == STAGE_ENUMERATE || chain_kind_of(stage) == STAGE_POSITION;
}

static expr *number_of(checker *c, const expr *e, type_kind kind, uint64_t value) {
    expr *number = check_new_int(c, e->span, (int64_t)value);
    number->type = check_scalar(c, kind);
    number->integer.suffix = kind;
    return number;
}

expr *chain_one_more(checker *c, const expr *e, const char *counter) {
    bool places = counts_places(e) && counter[1] == 'n'; /* "<n …": what counter_of calls it */
    expr *sum = check_new_binary(c, BINARY_ADD, chain_name(c, e, counter),
                                 number_of(c, e, places ? TYPE_USIZE : TYPE_I64, 1), NULL);
    return build_assign(c, e->span, chain_name(c, e, counter), sum);
}

/* { <found> = value; break } */
static expr *found(const chain *h, const expr *e, expr *value) {
    block_builder b = build_block(h->c, e->span);
    build_stmt(&b, build_assign(h->c, e->span, chain_name(h->c, e, "<found>"), value));
    build_stmt(&b, chain_leave(h, e));
    return build_finish(&b, NULL);
}

static expr *some(checker *c, const expr *e, const char *value) {
    expr *v = chain_name(c, e, value);
    return build_call(c, e->span, NULL, "Some", &v, 1);
}

static char *counter_of(const chain *h, uint32_t at) {
    return check_printf(h->c, "<n %u>", at);
}

static bool keeps_count(stage_kind k) {
    return k == STAGE_ENUMERATE || k == STAGE_SKIP || k == STAGE_TAKE || k == STAGE_STEP_BY || k == STAGE_ZIP ||
           k == STAGE_POSITION;
}

/* The end of a chain: what becomes of a value that came through. */
static expr *last_of(const chain *h, const char *value) {
    checker *c = h->c;
    if (h->last_body == NULL)
        return push(c, h->e, value);
    stmt *let = CHECK_ARRAY(c, stmt, 1);
    *let = (stmt){.kind = STMT_LET, .span = h->pattern->span, .value = chain_name(c, h->e, value)};
    let->pattern = h->pattern;
    block_builder b = build_block(c, h->last_body->span);
    b.block->first = b.last = let;
    build_stmt(&b, h->last_body);
    return build_finish(&b, NULL);
}

/* list[at] */
expr *chain_element(checker *c, const expr *e, expr *list, expr *at) {
    return build_index(c, e->span, list, at);
}

expr *chain_length(checker *c, const expr *e, const char *list) {
    return build_method(c, e->span, chain_name(c, e, list), "len", NULL, 0);
}

/* Where elements can be had by their number and the end looks at all of them, Rust goes over the pairs: no function
 * runs for an element without a partner. Otherwise the left side is asked first. */
static bool counts_pairs(const chain *h, uint32_t at) {
    stage_kind end = chain_kind_of(h->stages[h->count - 1]);
    bool counted = h->last_body == NULL && end != STAGE_NONE && end >= STAGE_SUM;
    for (uint32_t i = 0; i < at; i++) {
        stage_kind k = chain_kind_of(h->stages[i]);
        counted &= k == STAGE_MAP || k == STAGE_ENUMERATE || k == STAGE_ZIP;
    }
    return counted;
}

/* if the other side of a `zip` has no more { break } */
static void leave_without_partner(const chain *h, uint32_t at, block_builder *body) {
    checker *c = h->c;
    const expr *stage = h->stages[at];
    expr *none = check_new_binary(c, BINARY_GE, chain_name(c, stage, counter_of(h, at)),
                                  chain_length(c, stage, check_printf(c, "<other %u>", at)), NULL);
    build_stmt(body, when(c, none, chain_leave(h, stage)));
}

/* At the head of the loop that stage `at` gets its values from: whether a `take` behind it has what it wants. */
void chain_limits(const chain *h, uint32_t at, block_builder *body) {
    checker *c = h->c;
    for (uint32_t i = at; i < h->count; i++) {
        const expr *stage = h->stages[i];
        if (chain_kind_of(stage) == STAGE_TAKE) {
            expr *enough = check_new_binary(c, BINARY_GE, chain_name(c, stage, counter_of(h, i)),
                                            chain_name(c, stage, check_printf(c, "<most %u>", i)), NULL);
            build_stmt(body, when(c, enough, chain_leave(h, stage)));
        } else if (at == 0 && chain_kind_of(stage) == STAGE_ZIP && counts_pairs(h, i)) {
            leave_without_partner(h, i, body);
        }
    }
}

/* for <v> in f(value) { … } */
static expr *flattened(const chain *h, uint32_t at, const char *value, const char *next) {
    checker *c = h->c;
    const expr *stage = h->stages[at];
    block_builder b = build_block(c, stage->span);
    chain_limits(h, at + 1, &b);
    build_stmt(&b, chain_body_of(h, at + 1, next));
    return build_for(c, stage->span, build_name(c, stage->span, next, BINDING_LOOP), apply(h, at, value), b.block);
}

/* (<n>, value) */
static expr *numbered(const chain *h, uint32_t at, const char *value) {
    expr *both[2] = {chain_name(h->c, h->stages[at], counter_of(h, at)), chain_name(h->c, h->stages[at], value)};
    return build_list(h->c, EXPR_TUPLE, h->stages[at]->span, both, 2);
}

/* (value, <other>[<n>]), or out of the loop where there is none. */
static void zipped(const chain *h, uint32_t at, const char *value, const char *next, block_builder *b) {
    checker *c = h->c;
    const expr *stage = h->stages[at];
    const char *other = check_printf(c, "<other %u>", at), *counter = counter_of(h, at);
    if (!counts_pairs(h, at))
        leave_without_partner(h, at, b);
    expr *partner = chain_element(c, stage, chain_name(c, stage, other), chain_name(c, stage, counter));
    if (is_made(h, at)) {
        let_pair(h, b, next, chain_name(c, stage, value), partner);
    } else {
        expr *both[2] = {chain_name(c, stage, value), partner};
        build_let(b, next, false, build_list(c, EXPR_TUPLE, stage->span, both, 2));
    }
    build_stmt(b, chain_one_more(c, stage, counter));
    build_stmt(b, chain_body_of(h, at + 1, next));
}

/* The first, and each that is `most` behind the last one that passed. */
static void stepped(const chain *h, uint32_t at, const char *value, block_builder *b) {
    checker *c = h->c;
    const expr *stage = h->stages[at];
    const char *passes = check_printf(c, "<passes %u>", at), *counter = counter_of(h, at);
    build_let(b, passes, false,
              check_new_binary(c, BINARY_EQ, chain_name(c, stage, counter), check_new_int(c, stage->span, 0), NULL));
    build_stmt(b, chain_one_more(c, stage, counter));
    build_stmt(b, when(c,
                       check_new_binary(c, BINARY_GE, chain_name(c, stage, counter),
                                        chain_name(c, stage, check_printf(c, "<most %u>", at)), NULL),
                       build_assign(c, stage->span, chain_name(c, stage, counter), check_new_int(c, stage->span, 0))));
    build_stmt(b, when(c, chain_name(c, stage, passes), chain_body_of(h, at + 1, value)));
}

/* <found> = what it is with one value more, for ends that look at every value. */
static expr *gathered(const chain *h, const expr *stage, const char *value) {
    checker *c = h->c;
    expr *so_far = chain_name(c, stage, "<found>"), *args[2] = {so_far, chain_name(c, stage, value)};
    stage_kind kind = chain_kind_of(stage);
    expr *more;
    switch (kind) {
    case STAGE_COUNT:
        return chain_one_more(c, stage, "<found>");
    case STAGE_LAST:
        more = some(c, stage, value);
        break;
    case STAGE_FOLD:
        more = call_of(c, stage, stage->call.args[1], args, 2);
        break;
    case STAGE_REDUCE: { /* the first value says what the type is */
        args[0] = build_method(c, stage->span, so_far, "unwrap", NULL, 0);
        expr *both = call_of(c, stage, stage->call.args[0], args, 2);
        expr *joined = build_call(c, stage->span, NULL, "Some", &both, 1);
        expr *none = build_method(c, stage->span, chain_name(c, stage, "<found>"), "is_none", NULL, 0);
        expr *first = when(c, none,
                           build_assign(c, stage->span, chain_name(c, stage, "<found>"), some(c, stage, value)));
        block_builder other = build_block(c, stage->span);
        build_stmt(&other, build_assign(c, stage->span, chain_name(c, stage, "<found>"), joined));
        first->branch.otherwise = build_finish(&other, NULL);
        return first;
    }
    default:
        more = build_method(c, stage->span, so_far, library_named(LIBRARY_gathers, chain_stages[kind].said), &args[1],
                            1);
    }
    return build_assign(c, stage->span, chain_name(c, stage, "<found>"), more);
}

/* The way of the value from stage `at` on. */
expr *chain_body_of(const chain *h, uint32_t at, const char *value) {
    if (at == h->count)
        return last_of(h, value);
    checker *c = h->c;
    const expr *stage = h->stages[at];
    stage_kind kind = chain_kind_of(stage);
    block_builder b = build_block(c, stage->span);
    char *next = check_printf(c, "<v %u>", at + 1), *counter = counter_of(h, at);
    switch (kind) {
    case STAGE_MAP:
        build_let(&b, next, false, apply(h, at, value));
        build_stmt(&b, chain_body_of(h, at + 1, next));
        break;
    case STAGE_FILTER:
        build_stmt(&b, when(c, apply(h, at, value), chain_body_of(h, at + 1, value)));
        break;
    case STAGE_FILTER_MAP:
        build_stmt(&b, build_unpack(c, apply(h, at, value), next, chain_body_of(h, at + 1, next), nothing(c, stage)));
        break;
    case STAGE_INSPECT:
        build_stmt(&b, apply(h, at, value));
        build_stmt(&b, chain_body_of(h, at + 1, value));
        break;
    case STAGE_FLAT_MAP:
        build_stmt(&b, flattened(h, at, value, next));
        break;
    case STAGE_TAKE_WHILE:
        build_stmt(&b, when(c, negated(c, apply(h, at, value)), chain_leave(h, stage)));
        build_stmt(&b, chain_body_of(h, at + 1, value));
        break;
    case STAGE_SKIP_WHILE: {
        expr *skips = chain_name(c, stage, counter);
        expr *goes_on = check_new_binary(c, BINARY_AND, skips, apply(h, at, value), NULL);
        build_stmt(&b, build_assign(c, stage->span, chain_name(c, stage, counter), goes_on));
        build_stmt(&b, when(c, negated(c, chain_name(c, stage, counter)), chain_body_of(h, at + 1, value)));
        break;
    }
    case STAGE_MAP_WHILE:
        build_stmt(&b,
                   build_unpack(c, apply(h, at, value), next, chain_body_of(h, at + 1, next), chain_leave(h, stage)));
        break;
    case STAGE_ENUMERATE:
        if (is_made(h, at))
            let_pair(h, &b, next, chain_name(c, stage, counter), chain_name(c, stage, value));
        else
            build_let(&b, next, false, numbered(h, at, value));
        build_stmt(&b, chain_one_more(c, stage, counter));
        build_stmt(&b, chain_body_of(h, at + 1, next));
        break;
    case STAGE_SKIP: {
        expr *past = check_new_binary(c, BINARY_GT, chain_name(c, stage, counter),
                                      chain_name(c, stage, check_printf(c, "<most %u>", at)), NULL);
        build_stmt(&b, chain_one_more(c, stage, counter));
        build_stmt(&b, when(c, past, chain_body_of(h, at + 1, value)));
        break;
    }
    case STAGE_TAKE:
        build_stmt(&b, chain_one_more(c, stage, counter));
        build_stmt(&b, chain_body_of(h, at + 1, value));
        break;
    case STAGE_STEP_BY:
        stepped(h, at, value, &b);
        break;
    case STAGE_ZIP:
        zipped(h, at, value, next, &b);
        break;
    case STAGE_FIND:
        build_stmt(&b, when(c, apply(h, at, value), found(h, stage, some(c, stage, value))));
        break;
    case STAGE_FIND_MAP:
        build_stmt(
            &b, build_unpack(c, apply(h, at, value), next, found(h, stage, some(c, stage, next)), nothing(c, stage)));
        break;
    case STAGE_POSITION:
        build_stmt(&b, when(c, apply(h, at, value), found(h, stage, some(c, stage, counter))));
        build_stmt(&b, chain_one_more(c, stage, counter));
        break;
    case STAGE_ANY:
        build_stmt(&b, when(c, apply(h, at, value), found(h, stage, check_new_bool(c, stage->span, true))));
        break;
    case STAGE_ALL:
        build_stmt(&b,
                   when(c, negated(c, apply(h, at, value)), found(h, stage, check_new_bool(c, stage->span, false))));
        break;
    case STAGE_COLLECT:
        build_stmt(&b, push(c, stage, value));
        break;
    default:
        build_stmt(&b, gathered(h, stage, value));
    }
    return build_finish(&b, NULL);
}

/* The counters of the stages: how many came through, how many may. */
void chain_counters(const chain *h, block_builder *before) {
    checker *c = h->c;
    for (uint32_t i = 0; i < h->count; i++) {
        const expr *stage = h->stages[i];
        stage_kind kind = chain_kind_of(stage);
        char *counter = counter_of(h, i), *most = check_printf(c, "<most %u>", i);
        if (kind == STAGE_SKIP_WHILE) {
            build_let(before, counter, true, check_new_bool(c, stage->span, true));
        } else if (keeps_count(kind)) {
            type_kind counted = counts_places(stage) ? TYPE_USIZE : TYPE_I64;
            build_let(before, counter, true, number_of(c, stage, counted, 0));
        }
        if (kind == STAGE_SKIP || kind == STAGE_TAKE)
            build_let(before, most, false, stage->call.args[0]);
        else if (kind == STAGE_STEP_BY)
            build_let(before, most, false, build_call(c, stage->span, NULL, "__step", stage->call.args, 1));
        else if (kind == STAGE_ZIP)
            build_let(before, check_printf(c, "<other %u>", i), false, stage->call.args[0]);
    }
}
