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
 * that nobody asks for: what a user of Rust expects, and one list in place of one a method. The source may have no end:
 * a range, or an iterator (match <i>.next() { Some(<v>) => …, _ => break }). `for p in CHAIN { … }` is the same with the
 * loop's own body at the end of the chain.
 *
 * An end that looks at every value (sum, count, fold, max, …) keeps what it has so far and no list:
 *
 *     v.iter().map(f).sum()   ─►   { let mut <found> = None; for <v 0> in v.iter() { let <v 1> = f(<v 0>);
 *                                    <found> = <found>.__plus(<v 1>); } <found>.__sum() }
 *
 * What must stay true: a chain is written so where the difference can be seen, by functions that run in another order
 * or not at all (two methods with functions, or one before a method that may stop), or where its end saves a list. Any
 * other chain of a list is a Vec and methods of it, and of an iterator an iterator (iterator.tl): this is a faster way
 * to say the same. Methods that are not stages here (partition, …) work on what a chain yields, or yield what it starts from.
 */
#include <string.h>

#include "language/front/check_private.h"

enum { STAGES_MAX = 16 };

/* ---- methods of a chain ------------------------------------------------------------------------ */

typedef enum stage_kind {
    STAGE_MAP,
    STAGE_FILTER,
    STAGE_FILTER_MAP,
    STAGE_INSPECT,
    STAGE_FLAT_MAP,
    STAGE_TAKE_WHILE,
    STAGE_SKIP_WHILE,
    STAGE_MAP_WHILE,
    STAGE_ENUMERATE,
    STAGE_SKIP,
    STAGE_TAKE,
    STAGE_STEP_BY,
    STAGE_ZIP,
    /* these end a chain */
    STAGE_FIND,
    STAGE_FIND_MAP,
    STAGE_POSITION,
    STAGE_ANY,
    STAGE_ALL,
    STAGE_SUM,
    STAGE_PRODUCT,
    STAGE_COUNT,
    STAGE_MAX,
    STAGE_MIN,
    STAGE_LAST,
    STAGE_FOLD,
    STAGE_REDUCE,
    STAGE_COLLECT,
    STAGE_NONE
} stage_kind;

static const struct {
    const char *name;
    uint32_t args;
    bool has_function, may_stop;
} stage_rows[] = {
    [STAGE_MAP] = {"map", 1, true, false},
    [STAGE_FILTER] = {"filter", 1, true, false},
    [STAGE_FILTER_MAP] = {"filter_map", 1, true, false},
    [STAGE_INSPECT] = {"inspect", 1, true, false},
    [STAGE_FLAT_MAP] = {"flat_map", 1, true, false},
    [STAGE_TAKE_WHILE] = {"take_while", 1, true, true},
    [STAGE_SKIP_WHILE] = {"skip_while", 1, true, false},
    [STAGE_MAP_WHILE] = {"map_while", 1, true, true},
    [STAGE_ENUMERATE] = {"enumerate", 0, false, false},
    [STAGE_SKIP] = {"skip", 1, false, false},
    [STAGE_TAKE] = {"take", 1, false, true},
    [STAGE_STEP_BY] = {"step_by", 1, false, false},
    [STAGE_ZIP] = {"zip", 1, false, true},
    [STAGE_FIND] = {"find", 1, true, true},
    [STAGE_FIND_MAP] = {"find_map", 1, true, true},
    [STAGE_POSITION] = {"position", 1, true, true},
    [STAGE_ANY] = {"any", 1, true, true},
    [STAGE_ALL] = {"all", 1, true, true},
    [STAGE_SUM] = {"sum", 0, false, false},
    [STAGE_PRODUCT] = {"product", 0, false, false},
    [STAGE_COUNT] = {"count", 0, false, false},
    [STAGE_MAX] = {"max", 0, false, false},
    [STAGE_MIN] = {"min", 0, false, false},
    [STAGE_LAST] = {"last", 0, false, false},
    [STAGE_FOLD] = {"fold", 2, true, false},
    [STAGE_REDUCE] = {"reduce", 1, true, false},
    [STAGE_COLLECT] = {"collect", 0, false, false},
};

static stage_kind kind_of(const expr *e) {
    for (int k = 0; e->kind == EXPR_METHOD && k < STAGE_NONE; k++) {
        if (strcmp(e->call.name, stage_rows[k].name) == 0 &&
            e->call.arg_count == stage_rows[k].args) {
            return (stage_kind)k;
        }
    }
    return STAGE_NONE;
}

static bool passes_on(const expr *e) {
    return kind_of(e) < STAGE_FIND;
}

typedef struct chain {
    checker *c;
    const expr *e; /* the chain; of a loop: what it runs over */
    expr *stages[STAGES_MAX];
    uint32_t count;
    expr **start;
    bool backwards;    /* the list that the chain starts from, from its end on */
    expr *behind;      /* another list that follows it; NULL: none */
    expr *last_body;   /* of `for`: what is done with each value; NULL: it goes to <all> */
    pattern *pattern;  /* likewise: what the value is called there */
    const char *label; /* of the loop over the source; NULL: none */
} chain;

static expr *name(checker *c, const expr *e, const char *n) {
    return check_new_name(c, e->span, n);
}

/* f(args) */
static expr *call_of(checker *c, const expr *e, expr *f, expr **args, uint32_t count) {
    expr *call = check_new(c, EXPR_CALL, e->span, NULL);
    call->call.callee = f;
    call->call.name_span = e->kind == EXPR_METHOD ? e->call.name_span : e->span;
    call->call.args = CHECK_ARRAY(c, expr *, count + 1);
    call->call.arg_count = count;
    for (uint32_t i = 0; i < count; i++) {
        call->call.args[i] = args[i];
    }
    return call;
}

static expr *apply(checker *c, const expr *stage, const char *value) {
    expr *arg = name(c, stage, value);
    return call_of(c, stage, stage->call.args[0], &arg, 1);
}

/* Out of the loop over the source. */
static expr *leave(const chain *h, const expr *e) {
    expr *jump = check_new(h->c, EXPR_BREAK, e->span, NULL);
    jump->jump.label = h->label;
    jump->jump.label_span = e->span;
    return jump;
}

/* if condition { then } */
static expr *when(checker *c, expr *condition, expr *then) {
    expr *e = check_new(c, EXPR_IF, condition->span, NULL);
    block_builder b = build_block(c, condition->span);
    build_stmt(&b, then);
    e->branch.condition = condition;
    e->branch.then = b.block;
    return e;
}

static expr *negated(checker *c, expr *e) {
    expr *n = check_new(c, EXPR_UNARY, e->span, NULL);
    n->unary.op = UNARY_NOT;
    n->unary.operand = e;
    return n;
}

static expr *nothing(checker *c, const expr *e) {
    block_builder b = build_block(c, e->span);
    return build_finish(&b, NULL);
}

static expr *push(checker *c, const expr *e, const char *value) {
    expr *item = name(c, e, value);
    return build_method(c, e->span, name(c, e, "<all>"), "push", &item, 1);
}

/* Places are lengths; what skip and take count to is what they are given. */
static bool counts_places(const expr *stage) {
    return kind_of(stage) == STAGE_ENUMERATE || kind_of(stage) == STAGE_POSITION;
}

static expr *number_of(checker *c, const expr *e, type_kind kind, uint64_t value) {
    expr *number = check_new_int(c, e->span, (int64_t)value);
    number->type = check_scalar(c, kind);
    number->integer.suffix = kind;
    return number;
}

static expr *one_more(checker *c, const expr *e, const char *counter) {
    bool places = counts_places(e) && counter[1] == 'n'; /* "<n …": what counter_of calls it */
    expr *sum = check_new_binary(c, BINARY_ADD, name(c, e, counter),
                                 number_of(c, e, places ? TYPE_USIZE : TYPE_I64, 1), NULL);
    return build_assign(c, e->span, name(c, e, counter), sum);
}

/* { <found> = value; break } */
static expr *found(const chain *h, const expr *e, expr *value) {
    block_builder b = build_block(h->c, e->span);
    build_stmt(&b, build_assign(h->c, e->span, name(h->c, e, "<found>"), value));
    build_stmt(&b, leave(h, e));
    return build_finish(&b, NULL);
}

static expr *some(checker *c, const expr *e, const char *value) {
    expr *v = name(c, e, value);
    return build_call(c, e->span, NULL, "Some", &v, 1);
}

static char *counter_of(const chain *h, uint32_t at) {
    return check_printf(h->c, "<n %u>", at);
}

static bool keeps_count(stage_kind k) {
    return k == STAGE_ENUMERATE || k == STAGE_SKIP || k == STAGE_TAKE || k == STAGE_STEP_BY ||
           k == STAGE_ZIP || k == STAGE_POSITION;
}

/* The end of a chain: what becomes of a value that came through. */
static expr *last_of(const chain *h, const char *value) {
    checker *c = h->c;
    if (h->last_body == NULL) {
        return push(c, h->e, value);
    }
    stmt *let = CHECK_ARRAY(c, stmt, 1);
    *let = (stmt){.kind = STMT_LET, .span = h->pattern->span, .value = name(c, h->e, value)};
    let->pattern = h->pattern;
    block_builder b = build_block(c, h->last_body->span);
    b.block->first = b.last = let;
    build_stmt(&b, h->last_body);
    return build_finish(&b, NULL);
}

static expr *body_of(const chain *h, uint32_t at, const char *value);

/* list[at] */
static expr *element(checker *c, const expr *e, expr *list, expr *at) {
    expr *item = check_new(c, EXPR_INDEX, e->span, NULL);
    item->index.base = list;
    item->index.indices = CHECK_ARRAY(c, expr *, 1);
    item->index.indices[0] = at;
    item->index.count = 1;
    return item;
}

static expr *length(checker *c, const expr *e, const char *list) {
    return build_method(c, e->span, name(c, e, list), "len", NULL, 0);
}

/* Where elements can be had by their number and the end looks at all of them, Rust goes over the pairs: no function runs
 * for an element without a partner. Otherwise the left side is asked first. */
static bool counts_pairs(const chain *h, uint32_t at) {
    stage_kind end = kind_of(h->stages[h->count - 1]);
    bool counted = h->last_body == NULL && end != STAGE_NONE && end >= STAGE_SUM;
    for (uint32_t i = 0; i < at; i++) {
        stage_kind k = kind_of(h->stages[i]);
        counted &= k == STAGE_MAP || k == STAGE_ENUMERATE || k == STAGE_ZIP;
    }
    return counted;
}

/* if the other side of a `zip` has no more { break } */
static void leave_without_partner(const chain *h, uint32_t at, block_builder *body) {
    checker *c = h->c;
    const expr *stage = h->stages[at];
    expr *none = check_new_binary(c, BINARY_GE, name(c, stage, counter_of(h, at)),
                                  length(c, stage, check_printf(c, "<other %u>", at)), NULL);
    build_stmt(body, when(c, none, leave(h, stage)));
}

/* At the head of the loop that stage `at` gets its values from: whether a `take` behind it has what it wants. */
static void build_limits(const chain *h, uint32_t at, block_builder *body) {
    checker *c = h->c;
    for (uint32_t i = at; i < h->count; i++) {
        const expr *stage = h->stages[i];
        if (kind_of(stage) == STAGE_TAKE) {
            expr *enough = check_new_binary(c, BINARY_GE, name(c, stage, counter_of(h, i)),
                                            name(c, stage, check_printf(c, "<most %u>", i)), NULL);
            build_stmt(body, when(c, enough, leave(h, stage)));
        } else if (at == 0 && kind_of(stage) == STAGE_ZIP && counts_pairs(h, i)) {
            leave_without_partner(h, i, body);
        }
    }
}

/* for <v> in f(value) { … } */
static expr *flattened(const chain *h, uint32_t at, const char *value, const char *next) {
    checker *c = h->c;
    const expr *stage = h->stages[at];
    expr *loop = check_new(c, EXPR_FOR, stage->span, NULL);
    block_builder b = build_block(c, stage->span);
    build_limits(h, at + 1, &b);
    build_stmt(&b, body_of(h, at + 1, next));
    loop->loop = CHECK_ARRAY(c, loop_expr, 1);
    loop->loop->iterable = apply(c, stage, value);
    loop->loop->pattern = CHECK_ARRAY(c, pattern, 1);
    *loop->loop->pattern =
        (pattern){.span = stage->span, .kind = PATTERN_NAME, .binding = CHECK_ARRAY(c, binding, 1)};
    *loop->loop->pattern->binding =
        (binding){.name = next, .span = stage->span, .kind = BINDING_LOOP};
    loop->loop->body = b.block;
    return loop;
}

/* (<n>, value) */
static expr *numbered(const chain *h, uint32_t at, const char *value) {
    expr *pair = check_new(h->c, EXPR_TUPLE, h->stages[at]->span, NULL);
    pair->list.count = 2;
    pair->list.items = CHECK_ARRAY(h->c, expr *, 2);
    pair->list.items[0] = name(h->c, h->stages[at], counter_of(h, at));
    pair->list.items[1] = name(h->c, h->stages[at], value);
    return pair;
}

/* (value, <other>[<n>]), or out of the loop where there is none. */
static void zipped(const chain *h, uint32_t at, const char *value, const char *next,
                   block_builder *b) {
    checker *c = h->c;
    const expr *stage = h->stages[at];
    const char *other = check_printf(c, "<other %u>", at), *counter = counter_of(h, at);
    if (!counts_pairs(h, at)) {
        leave_without_partner(h, at, b);
    }
    expr *pair = check_new(c, EXPR_TUPLE, stage->span, NULL);
    pair->list.count = 2;
    pair->list.items = CHECK_ARRAY(c, expr *, 2);
    pair->list.items[0] = name(c, stage, value);
    pair->list.items[1] = element(c, stage, name(c, stage, other), name(c, stage, counter));
    build_let(b, next, false, pair);
    build_stmt(b, one_more(c, stage, counter));
    build_stmt(b, body_of(h, at + 1, next));
}

/* The first, and each that is `most` behind the last one that passed. */
static void stepped(const chain *h, uint32_t at, const char *value, block_builder *b) {
    checker *c = h->c;
    const expr *stage = h->stages[at];
    const char *passes = check_printf(c, "<passes %u>", at), *counter = counter_of(h, at);
    build_let(b, passes, false,
              check_new_binary(c, BINARY_EQ, name(c, stage, counter),
                               check_new_int(c, stage->span, 0), NULL));
    build_stmt(b, one_more(c, stage, counter));
    build_stmt(b, when(c,
                       check_new_binary(c, BINARY_GE, name(c, stage, counter),
                                        name(c, stage, check_printf(c, "<most %u>", at)), NULL),
                       build_assign(c, stage->span, name(c, stage, counter),
                                    check_new_int(c, stage->span, 0))));
    build_stmt(b, when(c, name(c, stage, passes), body_of(h, at + 1, value)));
}

/* <found> = what it is with one value more, for ends that look at every value. */
static expr *gathered(const chain *h, const expr *stage, const char *value) {
    static const char *const methods[STAGE_NONE] = {[STAGE_SUM] = "__plus",
                                                    [STAGE_PRODUCT] = "__times",
                                                    [STAGE_MAX] = "__larger",
                                                    [STAGE_MIN] = "__smaller"};
    checker *c = h->c;
    expr *so_far = name(c, stage, "<found>"), *args[2] = {so_far, name(c, stage, value)};
    stage_kind kind = kind_of(stage);
    expr *more;
    switch (kind) {
    case STAGE_COUNT:
        return one_more(c, stage, "<found>");
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
        expr *none = build_method(c, stage->span, name(c, stage, "<found>"), "is_none", NULL, 0);
        expr *first =
            when(c, none,
                 build_assign(c, stage->span, name(c, stage, "<found>"), some(c, stage, value)));
        block_builder other = build_block(c, stage->span);
        build_stmt(&other, build_assign(c, stage->span, name(c, stage, "<found>"), joined));
        first->branch.otherwise = build_finish(&other, NULL);
        return first;
    }
    default:
        more = build_method(c, stage->span, so_far, methods[kind], &args[1], 1);
    }
    return build_assign(c, stage->span, name(c, stage, "<found>"), more);
}

/* What happens with the value from stage `at` on. */
static expr *body_of(const chain *h, uint32_t at, const char *value) {
    if (at == h->count) {
        return last_of(h, value);
    }
    checker *c = h->c;
    const expr *stage = h->stages[at];
    stage_kind kind = kind_of(stage);
    block_builder b = build_block(c, stage->span);
    char *next = check_printf(c, "<v %u>", at + 1), *counter = counter_of(h, at);
    switch (kind) {
    case STAGE_MAP:
        build_let(&b, next, false, apply(c, stage, value));
        build_stmt(&b, body_of(h, at + 1, next));
        break;
    case STAGE_FILTER:
        build_stmt(&b, when(c, apply(c, stage, value), body_of(h, at + 1, value)));
        break;
    case STAGE_FILTER_MAP:
        build_stmt(&b, build_unpack(c, apply(c, stage, value), next, body_of(h, at + 1, next),
                                    nothing(c, stage)));
        break;
    case STAGE_INSPECT:
        build_stmt(&b, apply(c, stage, value));
        build_stmt(&b, body_of(h, at + 1, value));
        break;
    case STAGE_FLAT_MAP:
        build_stmt(&b, flattened(h, at, value, next));
        break;
    case STAGE_TAKE_WHILE:
        build_stmt(&b, when(c, negated(c, apply(c, stage, value)), leave(h, stage)));
        build_stmt(&b, body_of(h, at + 1, value));
        break;
    case STAGE_SKIP_WHILE: {
        expr *skips = name(c, stage, counter);
        expr *goes_on = check_new_binary(c, BINARY_AND, skips, apply(c, stage, value), NULL);
        build_stmt(&b, build_assign(c, stage->span, name(c, stage, counter), goes_on));
        build_stmt(&b, when(c, negated(c, name(c, stage, counter)), body_of(h, at + 1, value)));
        break;
    }
    case STAGE_MAP_WHILE:
        build_stmt(&b, build_unpack(c, apply(c, stage, value), next, body_of(h, at + 1, next),
                                    leave(h, stage)));
        break;
    case STAGE_ENUMERATE:
        build_let(&b, next, false, numbered(h, at, value));
        build_stmt(&b, one_more(c, stage, counter));
        build_stmt(&b, body_of(h, at + 1, next));
        break;
    case STAGE_SKIP: {
        expr *past = check_new_binary(c, BINARY_GT, name(c, stage, counter),
                                      name(c, stage, check_printf(c, "<most %u>", at)), NULL);
        build_stmt(&b, one_more(c, stage, counter));
        build_stmt(&b, when(c, past, body_of(h, at + 1, value)));
        break;
    }
    case STAGE_TAKE:
        build_stmt(&b, one_more(c, stage, counter));
        build_stmt(&b, body_of(h, at + 1, value));
        break;
    case STAGE_STEP_BY:
        stepped(h, at, value, &b);
        break;
    case STAGE_ZIP:
        zipped(h, at, value, next, &b);
        break;
    case STAGE_FIND:
        build_stmt(&b, when(c, apply(c, stage, value), found(h, stage, some(c, stage, value))));
        break;
    case STAGE_FIND_MAP:
        build_stmt(&b, build_unpack(c, apply(c, stage, value), next,
                                    found(h, stage, some(c, stage, next)), nothing(c, stage)));
        break;
    case STAGE_POSITION:
        build_stmt(&b, when(c, apply(c, stage, value), found(h, stage, some(c, stage, counter))));
        build_stmt(&b, one_more(c, stage, counter));
        break;
    case STAGE_ANY:
        build_stmt(&b, when(c, apply(c, stage, value),
                            found(h, stage, check_new_bool(c, stage->span, true))));
        break;
    case STAGE_ALL:
        build_stmt(&b, when(c, negated(c, apply(c, stage, value)),
                            found(h, stage, check_new_bool(c, stage->span, false))));
        break;
    case STAGE_COLLECT:
        build_stmt(&b, push(c, stage, value));
        break;
    default:
        build_stmt(&b, gathered(h, stage, value));
    }
    return build_finish(&b, NULL);
}

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
    stage_kind end = h->count == 0 ? STAGE_NONE : kind_of(h->stages[h->count - 1]);
    bool form = (*start)->kind == EXPR_NAME || (*start)->kind == EXPR_CALL ||
                (*start)->kind == EXPR_STRUCT || (*start)->kind == EXPR_METHOD;
    if (!form || !check_may_be_iterators(c)) {
        return false;
    }
    check_expr(c, start, NULL);
    bool keeps_rest = h->count == 1 && end >= STAGE_FIND && end <= STAGE_ALL && check_is_place(*start);
    return !keeps_rest && check_is_iterator(c, (*start)->type);
}

/* x.iter() and its like, when a list comes out of it and its elements are values. */
static bool is_list(checker *c, expr **start) {
    static const char *const names[] = {
        "iter",  "into_iter", "chars",     "bytes",       "char_indices",
        "lines", "split",     "rev",       "windows",     "chunks",
        "keys",  "values",    "into_keys", "into_values", "split_whitespace"};
    static const char *const others[] = {"iter_mut", "by_ref", "cycle", "peekable"};
    bool named = false;
    for (size_t i = 0; (*start)->kind == EXPR_METHOD && i < sizeof names / sizeof names[0]; i++) {
        named |= strcmp((*start)->call.name, names[i]) == 0;
    }
    for (const expr *e = *start; named && e->kind == EXPR_METHOD; e = e->call.receiver) {
        for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
            named &= strcmp(e->call.name, others[i]) != 0;
        }
    }
    if (!named) {
        return false;
    }
    check_expr(c, start, NULL);
    return type_resolve(c->types, (*start)->type)->kind == TYPE_VEC;
}

/* A list that is there before the loop begins: no function runs as its elements are asked for. */
static bool is_ready_list(checker *c, expr **slot) {
    static const char *const others[] = {"iter_mut", "by_ref", "cycle", "peekable", "repeat"};
    const expr *e = *slot;
    for (; e->kind == EXPR_METHOD; e = e->call.receiver) {
        stage_kind k = kind_of(e);
        bool other = k != STAGE_NONE && stage_rows[k].has_function;
        for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
            other |= strcmp(e->call.name, others[i]) == 0;
        }
        if (other) {
            return false;
        }
    }
    if (e->kind == EXPR_RANGE || e->kind == EXPR_CALL || e->kind == EXPR_ARRAY) {
        return false;
    }
    check_expr(c, slot, NULL);
    return type_resolve(c->types, (*slot)->type)->kind == TYPE_VEC;
}

/* ---- the loop ------------------------------------------------------------------------------------ */

/* Fills in the stages in the order in which a value passes them, and where the chain starts. */
static void take_apart(chain *h, expr **slot) {
    expr **at = slot;
    while ((*at)->kind == EXPR_METHOD && (*at)->type == NULL && h->count < STAGES_MAX &&
           (passes_on(*at) || (at == slot && kind_of(*at) != STAGE_NONE && h->last_body == NULL)) &&
           (kind_of(*at) != STAGE_ZIP || is_ready_list(h->c, &(*at)->call.args[0]))) {
        h->stages[h->count++] = *at;
        at = &(*at)->call.receiver;
    }
    for (uint32_t i = 0; i < h->count / 2; i++) {
        expr *held = h->stages[i];
        h->stages[i] = h->stages[h->count - 1 - i];
        h->stages[h->count - 1 - i] = held;
    }
    h->start = at;
}

/* Whether it can be seen that a chain over a list is one loop. */
static bool can_be_seen(const chain *h) {
    uint32_t functions = h->last_body != NULL;
    for (uint32_t i = 0; i < h->count; i++) {
        stage_kind k = kind_of(h->stages[i]);
        if (stage_rows[k].may_stop && functions > 0) {
            return true;
        }
        functions += stage_rows[k].has_function;
    }
    return functions > 1;
}

/* An end that looks at every value needs no list of them. */
static bool saves_list(const chain *h) {
    stage_kind end = h->count == 0 ? STAGE_NONE : kind_of(h->stages[h->count - 1]);
    return end != STAGE_NONE && end >= STAGE_FIND &&
           end != STAGE_COLLECT &&
           (h->count > 1 || end == STAGE_FOLD || end == STAGE_REDUCE || h->backwards ||
            h->behind != NULL);
}

/* `reduce` of what methods yield is an Option, that of a list itself is a value (Vec::reduce). */
static bool reduces_list(const chain *h) {
    expr **start = h->start;
    bool reduces = h->count > 0 && kind_of(h->stages[h->count - 1]) == STAGE_REDUCE &&
                   ((*start)->kind == EXPR_METHOD || (h->count > 1 && (*start)->kind == EXPR_NAME));
    if (!reduces) {
        return false;
    }
    check_expr(h->c, start, NULL);
    return type_resolve(h->c->types, (*start)->type)->kind == TYPE_VEC;
}

/* x.rev() and x.chain(y) at the start of a chain: x, and how it is gone over. */
static void take_way(chain *h) {
    expr *e = *h->start;
    if (e->kind != EXPR_METHOD || e->type != NULL || h->last_body != NULL) {
        return;
    }
    if (strcmp(e->call.name, "rev") == 0 && e->call.arg_count == 0 &&
        e->call.receiver->kind != EXPR_RANGE) {
        h->backwards = true;
    } else if (strcmp(e->call.name, "chain") == 0 && e->call.arg_count == 1) {
        h->behind = e->call.args[0];
    } else {
        return;
    }
    bool ready = saves_list(h) && is_list(h->c, &e->call.receiver) &&
                 (h->behind == NULL || is_ready_list(h->c, &e->call.args[0]));
    if (ready) {
        h->start = &e->call.receiver;
        h->behind = h->behind != NULL ? e->call.args[0] : NULL;
    } else {
        h->backwards = false;
        h->behind = NULL;
    }
}

static source source_of(chain *h) {
    take_way(h);
    source from = source_by_form(*h->start);
    stage_kind end = h->count == 0 ? STAGE_NONE : kind_of(h->stages[h->count - 1]);
    if (h->backwards || h->behind != NULL) {
        return SOURCE_LIST;
    }
    bool ends = h->last_body != NULL || (end != STAGE_NONE && end >= STAGE_FIND);
    if (from == SOURCE_LIST) {
        return can_be_seen(h) || saves_list(h) ? from : SOURCE_NONE;
    }
    if (from != SOURCE_NONE) {
        return ends ? from : SOURCE_NONE;
    }
    if ((can_be_seen(h) || saves_list(h)) && is_list(h->c, h->start)) {
        return SOURCE_LIST;
    }
    if (reduces_list(h)) {
        return SOURCE_LIST;
    }
    return ends && is_used_up(h) ? SOURCE_NEXT : SOURCE_NONE;
}

/* One value of a source without an end, and what becomes of it. */
static void take_next(const chain *h, block_builder *body, source from, expr *then) {
    checker *c = h->c;
    const expr *e = h->e;
    if (from == SOURCE_NEXT) {
        expr *next = build_method(c, e->span, name(c, e, "<i>"), "next", NULL, 0);
        build_stmt(body, build_unpack(c, next, "<v 0>", then, leave(h, e)));
        return;
    }
    build_let(body, "<v 0>", false, name(c, e, "<i>"));
    build_stmt(body, one_more(c, e, "<i>"));
    build_stmt(body, then);
}

/* What the stages keep: how many came through, how many may. */
static void build_counters(const chain *h, block_builder *before) {
    checker *c = h->c;
    for (uint32_t i = 0; i < h->count; i++) {
        const expr *stage = h->stages[i];
        stage_kind kind = kind_of(stage);
        char *counter = counter_of(h, i), *most = check_printf(c, "<most %u>", i);
        if (kind == STAGE_SKIP_WHILE) {
            build_let(before, counter, true, check_new_bool(c, stage->span, true));
        } else if (keeps_count(kind)) {
            type_kind counted = counts_places(stage) ? TYPE_USIZE : TYPE_I64;
            build_let(before, counter, true, number_of(c, stage, counted, 0));
        }
        if (kind == STAGE_SKIP || kind == STAGE_TAKE) {
            build_let(before, most, false, stage->call.args[0]);
        } else if (kind == STAGE_STEP_BY) {
            build_let(before, most, false,
                      build_call(c, stage->span, NULL, "__step", stage->call.args, 1));
        } else if (kind == STAGE_ZIP) {
            build_let(before, check_printf(c, "<other %u>", i), false, stage->call.args[0]);
        }
    }
}

/* The places of the list, from its end on, or of two lists, one behind the other: what the loop runs over. */
static expr *places_of(const chain *h, block_builder *before, block_builder *body) {
    checker *c = h->c;
    const expr *e = h->e;
    build_let(before, "<list>", false, *h->start);
    expr *range = check_new(c, EXPR_RANGE, e->span, NULL);
    range->range.low = check_new_int(c, e->span, 0);
    range->range.high = length(c, e, "<list>");
    expr *at = name(c, e, "<at>");
    if (h->backwards) {
        expr *last = check_new_binary(c, BINARY_SUB, length(c, e, "<list>"),
                                      check_new_int(c, e->span, 1), NULL);
        build_let(
            body, "<v 0>", false,
            element(c, e, name(c, e, "<list>"), check_new_binary(c, BINARY_SUB, last, at, NULL)));
        return range;
    }
    build_let(before, "<behind>", false, h->behind);
    range->range.high =
        check_new_binary(c, BINARY_ADD, range->range.high, length(c, e, "<behind>"), NULL);
    expr *first = check_new(c, EXPR_IF, e->span, NULL);
    block_builder here = build_block(c, e->span), there = build_block(c, e->span);
    expr *past = check_new_binary(c, BINARY_SUB, name(c, e, "<at>"), length(c, e, "<list>"), NULL);
    build_finish(&here, element(c, e, name(c, e, "<list>"), at));
    first->branch.condition =
        check_new_binary(c, BINARY_LT, name(c, e, "<at>"), length(c, e, "<list>"), NULL);
    first->branch.then = here.block;
    first->branch.otherwise = build_finish(&there, element(c, e, name(c, e, "<behind>"), past));
    build_let(body, "<v 0>", false, first);
    return range;
}

/* for <v 0> in source { … }, or loop { … }; `label`: what the program calls it. */
static expr *build_loop_of(chain *h, source from, const char *label, block_builder *before) {
    checker *c = h->c;
    const expr *e = h->e;
    for (uint32_t i = 0; i < h->count; i++) {
        bool nested = kind_of(h->stages[i]) == STAGE_FLAT_MAP;
        h->label =
            nested && h->label == NULL ? check_printf(c, "<chain %u>", c->text_count++) : h->label;
    }
    h->label = label != NULL ? label : h->label;
    block_builder body = build_block(c, e->span);
    build_counters(h, before);
    build_limits(h, 0, &body);
    bool by_place = h->backwards || h->behind != NULL;
    expr *places = by_place ? places_of(h, before, &body) : NULL;
    expr *then = body_of(h, 0, "<v 0>");
    expr *loop = check_new(c, from == SOURCE_LIST ? EXPR_FOR : EXPR_LOOP, e->span, NULL);
    loop->loop = CHECK_ARRAY(c, loop_expr, 1);
    loop->loop->label = h->label;
    if (from == SOURCE_LIST) {
        loop->loop->iterable = by_place ? places : *h->start;
        loop->loop->pattern = CHECK_ARRAY(c, pattern, 1);
        *loop->loop->pattern =
            (pattern){.span = e->span, .kind = PATTERN_NAME, .binding = CHECK_ARRAY(c, binding, 1)};
        *loop->loop->pattern->binding =
            (binding){.name = by_place ? "<at>" : "<v 0>", .span = e->span, .kind = BINDING_LOOP};
        build_stmt(&body, then);
    } else {
        build_let(before, "<i>", true, from == SOURCE_NEXT ? *h->start : (*h->start)->range.low);
        take_next(h, &body, from, then);
    }
    loop->loop->body = body.block;
    return loop;
}

/* What <found> is before the first value. */
static expr *begin_of(const chain *h, stage_kind end) {
    checker *c = h->c;
    switch (end) {
    case STAGE_ANY:
    case STAGE_ALL:
        return check_new_bool(c, h->e->span, end == STAGE_ALL);
    case STAGE_COUNT:
        return check_new_int(c, h->e->span, 0);
    case STAGE_FOLD:
        return h->e->call.args[0];
    default:
        return name(c, h->e, "None");
    }
}

/* A sum of a type that says itself what that is, or that is an Option or a Result. */
static bool sums_otherwise(checker *c, const expr *e, const type *expected) {
    stage_kind end = kind_of(e);
    if (end != STAGE_SUM && end != STAGE_PRODUCT) {
        return false;
    }
    const type *t = e->call.type_argument_count == 1 ? check_type(c, e->call.type_arguments[0])
                    : expected == NULL               ? NULL
                                                     : type_resolve(c->types, expected);
    bool own = t != NULL && t->kind == TYPE_STRUCT;
    for (uint32_t i = 0; !own && i < c->tree->function_count; i++) {
        const function_item *f = c->tree->functions[i];
        own = f->span.file != c->tree->prelude && f->owner_name != NULL &&
              strcmp(f->name, stage_rows[end].name) == 0;
    }
    return own;
}

/* *slot is a method that a chain may end with. */
bool check_chain(checker *c, expr **slot, const type *expected) {
    expr *e = *slot;
    stage_kind kind = kind_of(e);
    if (kind == STAGE_NONE || sums_otherwise(c, e, expected)) {
        return false;
    }
    chain h = {.c = c, .e = e};
    take_apart(&h, slot);
    source from = source_of(&h);
    if (from == SOURCE_NONE) {
        return false;
    }
    block_builder b = build_block(c, e->span);
    bool listed = kind < STAGE_FIND || kind == STAGE_COLLECT;
    const char *result = listed ? "<all>" : "<found>";
    build_let(&b, result, true,
              listed ? build_call(c, e->span, "Vec", "new", NULL, 0) : begin_of(&h, kind));
    build_stmt(&b, build_loop_of(&h, from, NULL, &b));
    expr *value = name(c, e, result);
    if (kind == STAGE_COLLECT) {
        value = build_method(c, e->span, value, e->call.name, NULL, 0);
        value->call.type_arguments = e->call.type_arguments;
        value->call.type_argument_count = e->call.type_argument_count;
    }
    if (kind == STAGE_SUM || kind == STAGE_PRODUCT) {
        value = build_method(c, e->span, value, kind == STAGE_SUM ? "__sum" : "__product", NULL, 0);
    }
    *slot = build_finish(&b, value);
    check_expr(c, slot, kind >= STAGE_SUM ? expected : NULL);
    return true;
}

/* for p in CHAIN { … } */
bool check_loop_over_chain(checker *c, expr **slot) {
    expr *e = *slot;
    if (kind_of(e->loop->iterable) == STAGE_NONE || e->loop->iterable->type != NULL) {
        return false;
    }
    expr *body = check_new(c, EXPR_BLOCK, e->loop->body->span, NULL);
    body->block = e->loop->body;
    chain h = {.c = c, .e = e->loop->iterable, .last_body = body, .pattern = e->loop->pattern};
    take_apart(&h, &e->loop->iterable);
    for (uint32_t i = 0; i < h.count;
         i++) { /* `break` of the body would leave the inner loop only */
        if (kind_of(h.stages[i]) == STAGE_FLAT_MAP) {
            return false;
        }
    }
    source from = h.count == 0 ? SOURCE_NONE : source_of(&h);
    if (from == SOURCE_NONE) {
        return false;
    }
    block_builder b = build_block(c, e->span);
    build_stmt(&b, build_loop_of(&h, from, e->loop->label, &b));
    *slot = build_finish(&b, NULL);
    check_expr(c, slot, check_scalar(c, TYPE_VOID));
    return true;
}
