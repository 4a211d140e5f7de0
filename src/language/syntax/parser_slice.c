/* parser_slice.c: patterns of lists, `[a, b, ..]`, `[first, rest @ ..]`, and matches!(…).
 *
 *     match v { [] => e, [h, t @ ..] => f, … }
 *     ─►  match v { <s 0> if { <s 0>.len() == 0 } => e,
 *                   <s 1> if { <s 1>.len() >= 1 } => { let h = <s 1>[0]; let t = <s 1>[1..]; f }, … }
 *
 * Such a pattern is a name; what it asks for is a test, in the arm's guard, and what it binds are lets in front of the
 * arm's body, whatever pattern it is in. p->steps gathers both while a pattern is parsed. A match with such
 * patterns gets a last arm that stops the program: what lists it forgets is found when it runs.
 */
#include <string.h>

#include "language/syntax/parser_private.h"

/* ---- small trees ----------------------------------------------------------------------------- */

static expr *name_of(parser *p, source_span span, const char *name) {
    expr *e = parser_new(p, EXPR_NAME, span);
    e->name.name = name;
    return parser_finish(p, e);
}

static expr *number(parser *p, source_span span, uint64_t value) {
    expr *e = parser_new(p, EXPR_INT, span);
    e->integer.value = value;
    e->integer.suffix = TYPE_VOID;
    return parser_finish(p, e);
}

static expr *truth(parser *p, source_span span, bool value) {
    expr *e = parser_new(p, EXPR_BOOL, span);
    e->boolean = value;
    return parser_finish(p, e);
}

static expr *length_of(parser *p, source_span span, const char *list) {
    expr *e = parser_new(p, EXPR_METHOD, span);
    e->call.receiver = name_of(p, span, list);
    e->call.name = "len";
    e->call.name_span = span;
    return parser_finish(p, e);
}

static expr *binary(parser *p, binary_op op, expr *left, expr *right) {
    expr *e = parser_new(p, EXPR_BINARY, left->span);
    e->binary.op = op;
    e->binary.op_span = left->span;
    e->binary.left = left;
    e->binary.right = right;
    return parser_finish(p, e);
}

/* The place `at` elements from the start, or from the end. */
static expr *place(parser *p, source_span span, const char *list, uint64_t at, bool from_end) {
    expr *n = number(p, span, at);
    return from_end ? binary(p, BINARY_SUB, length_of(p, span, list), n) : n;
}

static expr *element(parser *p, source_span span, const char *list, expr *at) {
    expr *e = parser_new(p, EXPR_INDEX, span);
    e->index.base = name_of(p, span, list);
    e->index.indices = parser_alloc(p, sizeof *e->index.indices);
    e->index.indices[0] = at;
    e->index.count = 1;
    return parser_finish(p, e);
}

static expr *block_of(parser *p, stmt *first, expr *result) {
    expr *e = parser_new(p, EXPR_BLOCK, result->span);
    e->block = PARSER_NEW(p, block);
    *e->block = (block){.span = result->span, .first = first, .result = result};
    return parser_finish(p, e);
}

static expr *copy_of(parser *p, const expr *e) {
    expr *copy = expr_copy(p->arena, e);
    if (copy == NULL)
        parser_out_of_memory(p);
    return copy;
}

/* match value { pattern if guard => true, _ => false } */
static expr *test_of(parser *p, expr *value, pattern *wanted, expr *guard) {
    expr *e = parser_new_match(p, value->span, value, 2);
    pattern *other = PARSER_NEW(p, pattern);
    *other = (pattern){.span = value->span, .kind = PATTERN_WILDCARD};
    e->match.arms[0] = (match_arm){wanted, guard, truth(p, value->span, true)};
    e->match.arms[1] = (match_arm){other, NULL, truth(p, value->span, false)};
    return parser_finish(p, e);
}

/* ---- [ … ] ----------------------------------------------------------------------------------- */

static void add_step(parser *p, expr *test, stmt *let) {
    pattern_step step = {.test = test, .let = let};
    PARSER_PUSH(p, p->steps, p->step_count, p->step_capacity, step);
}

static void add_let(parser *p, pattern *part, expr *value) {
    stmt *s = PARSER_NEW(p, stmt);
    *s = (stmt){.kind = STMT_LET, .span = part->span, .pattern = part, .value = value, .is_part = true};
    add_step(p, NULL, s);
}

static bool is_plain(const pattern *part) {
    const char *name = part->binding == NULL ? NULL : part->binding->name;
    return part->kind == PATTERN_WILDCARD || (part->kind == PATTERN_NAME && name != NULL &&
                                              (name[0] == '<' || name[0] == '_' || (name[0] >= 'a' && name[0] <= 'z')));
}

/* [ref mut a, ..] is of the list where it lies, not of a copy. */
static bool writes_list(pattern *const *parts, uint32_t count, const pattern *rest) {
    bool writes = rest != NULL && rest->binding->is_alias;
    for (uint32_t i = 0; !writes && i < count; i++)
        writes = (parts[i]->binding != NULL && parts[i]->binding->is_alias) ||
                 writes_list(parts[i]->parts, parts[i]->part_count, NULL);
    return writes;
}

/* A tuple of names matches everything, too. */
static bool takes_all(const pattern *part) {
    bool all = is_plain(part) || (part->kind == PATTERN_TUPLE && !part->rest);
    for (uint32_t i = 0; all && i < part->part_count; i++)
        all = takes_all(part->parts[i]);
    return all;
}

/* A part that does not match everything is tested; what it binds is taken apart after the test. */
static void add_part(parser *p, pattern *part, expr *value) {
    if (takes_all(part)) {
        if (part->kind != PATTERN_WILDCARD)
            add_let(p, part, value);
        return;
    }
    expr *test = test_of(p, value, part, NULL);
    add_step(p, copy_of(p, test), NULL);
    expr *again = copy_of(p, test), *stop = parser_new(p, EXPR_CALL, part->span);
    stop->call.callee = name_of(p, part->span, "unreachable");
    stop->call.name_span = part->span;
    stmt *s = PARSER_NEW(p, stmt), *never = PARSER_NEW(p, stmt);
    *never = (stmt){.kind = STMT_EXPR, .span = part->span, .value = parser_finish(p, stop)};
    *s = (stmt){
        .kind = STMT_LET, .span = part->span, .pattern = again->match.arms[0].pattern, .value = again->match.value};
    s->otherwise = PARSER_NEW(p, block);
    *s->otherwise = (block){.span = part->span, .first = never};
    add_step(p, NULL, s);
}

/* rest @ ..: what lies between the first `before` and the last `after`. */
static void add_rest(parser *p, pattern *rest, const char *list, uint32_t before, uint32_t after) {
    expr *range = parser_new(p, EXPR_RANGE, rest->span);
    range->range.low = number(p, rest->span, before);
    range->range.high = place(p, rest->span, list, after, true);
    add_let(p, rest, element(p, rest->span, list, parser_finish(p, range)));
}

static bool at_rest(parser *p, pattern **bound) {
    *bound = NULL;
    uint32_t ahead = parser_is_word(p, "ref") ? 1 : 0;
    const bool is_alias = ahead == 1 && parser_ahead(p, 1) == TOKEN_MUT;
    ahead += is_alias;
    if (parser_ahead(p, ahead) == TOKEN_NAME && parser_ahead(p, ahead + 1) == TOKEN_AT &&
        parser_ahead(p, ahead + 2) == TOKEN_DOT_DOT) {
        source_span span;
        for (uint32_t i = 0; i < ahead; i++)
            parser_advance(p);
        const char *name = parser_name(p, &span);
        *bound = PARSER_NEW(p, pattern);
        **bound = (pattern){.span = span, .kind = PATTERN_NAME};
        (*bound)->binding = parser_new_binding(p, name, span, BINDING_LET, is_alias);
        (*bound)->binding->is_alias = is_alias;
        parser_advance(p);
        parser_advance(p);
        return true;
    }
    return parser_accept(p, TOKEN_DOT_DOT);
}

void parse_slice_pattern(parser *p, pattern *made) {
    source_span span = parser_span(p);
    const char *list = parser_printf(p, "<s %u>", p->slice_count++);
    pattern **parts = NULL, *rest = NULL;
    uint32_t count = 0, capacity = 0, rest_at = UINT32_MAX;
    uint32_t first = p->step_count;
    parser_advance(p);
    while (!parser_is(p, TOKEN_RIGHT_BRACKET) && !parser_is(p, TOKEN_END) && !p->panic) {
        pattern *bound;
        if (at_rest(p, &bound)) {
            rest = bound;
            rest_at = count;
        } else {
            pattern *part = parse_pattern(p);
            PARSER_PUSH(p, parts, count, capacity, part);
        }
        if (!parser_accept(p, TOKEN_COMMA))
            break;
    }
    parser_expect(p, TOKEN_RIGHT_BRACKET);
    span = parser_span_from(p, span);
    *made = (pattern){.span = span, .kind = PATTERN_NAME};
    made->binding = parser_new_binding(p, list, span, BINDING_LET, false);
    made->binding->is_alias = writes_list(parts, count, rest);
    /* The steps of inner lists come after those that bind these lists. */
    uint32_t inner = p->step_count - first;
    pattern_step *later = parser_alloc(p, (inner + 1) * sizeof *later);
    if (inner > 0)
        memcpy(later, p->steps + first, inner * sizeof *later);
    p->step_count = first;
    add_step(p,
             binary(p, rest_at == UINT32_MAX ? BINARY_EQ : BINARY_GE, length_of(p, span, list), number(p, span, count)),
             NULL);
    for (uint32_t i = 0; i < count; i++) {
        bool from_end = rest_at != UINT32_MAX && i >= rest_at;
        add_part(p, parts[i],
                 element(p, parts[i]->span, list, place(p, parts[i]->span, list, from_end ? count - i : i, from_end)));
    }
    if (rest != NULL)
        add_rest(p, rest, list, rest_at, count - rest_at);
    for (uint32_t i = 0; i < inner; i++)
        PARSER_PUSH(p, p->steps, p->step_count, p->step_capacity, later[i]);
}

/* ---- where a pattern ends ---------------------------------------------------------------------- */

/* The names are in the guard and in the body: in one of them they may well be unused. */
static void mark_read(pattern *part) {
    if (part->binding != NULL)
        part->binding->is_read = true;
    for (uint32_t i = 0; i < part->part_count; i++)
        mark_read(part->parts[i]);
}

static stmt *copy_let(parser *p, const stmt *s) {
    expr *block = block_of(p, NULL, truth(p, s->span, true));
    stmt held = *s;
    held.next = NULL;
    block->block->first = &held;
    stmt *copy = copy_of(p, block)->block->first;
    mark_read(copy->pattern);
    return copy;
}

/* All lets, copied: { let h = <s>[0]; … } */
static stmt *all_lets(parser *p, uint32_t from) {
    stmt *first = NULL, **last = &first;
    for (uint32_t i = from; i < p->step_count; i++) {
        if (p->steps[i].let != NULL) {
            *last = copy_let(p, p->steps[i].let);
            last = &(*last)->next;
        }
    }
    return first;
}

/* Names of the program are for its own guard; those of lists inside the list are for tests. */
static bool is_for_guard(const stmt *let, const expr *guard) {
    const pattern *part = let->pattern;
    bool hidden = part->kind == PATTERN_NAME && part->binding != NULL && part->binding->name[0] == '<';
    return hidden || guard->kind != EXPR_BOOL;
}

/* { let …; if test { … guard … } else { false } } */
static expr *guard_of(parser *p, uint32_t from, expr *guard) {
    expr *all = guard;
    for (uint32_t i = p->step_count; i-- > from;) {
        pattern_step *step = &p->steps[i];
        if (step->let != NULL) {
            stmt *let = is_for_guard(step->let, guard) ? copy_let(p, step->let) : NULL;
            if (let != NULL) {
                let->is_tried = let->is_part;
                all = block_of(p, let, all);
            }
            continue;
        }
        all = binary(p, BINARY_AND, copy_of(p, step->test), all);
    }
    return all;
}

static expr *stop_call(parser *p, source_span span, const char *message) {
    expr *text = parser_new(p, EXPR_STRING, span), *stop = parser_new(p, EXPR_CALL, span);
    text->string.data = message;
    text->string.length = strlen(message);
    uint32_t capacity = 0;
    stop->call.callee = name_of(p, span, "panic");
    stop->call.name_span = span;
    PARSER_PUSH(p, stop->call.args, stop->call.arg_count, capacity, text);
    return parser_finish(p, stop);
}

/* Behind let [a, b] = v else { … }:  if !(v.len() == 2) { … }  without `else` the program stops. NULL: nothing is
 * asked. */
stmt *parser_step_check(parser *p, uint32_t from, source_span span, block *otherwise) {
    bool asks = false;
    for (uint32_t i = from; i < p->step_count; i++)
        asks |= p->steps[i].test != NULL;
    if (!asks)
        return NULL;
    expr *fails = parser_new(p, EXPR_UNARY, span), *branch = parser_new(p, EXPR_IF, span);
    fails->unary.op = UNARY_NOT;
    fails->unary.operand = guard_of(p, from, truth(p, span, true));
    expr held = {.kind = EXPR_BLOCK, .span = span, .block = otherwise};
    stmt *stop = PARSER_NEW(p, stmt), *check = PARSER_NEW(p, stmt);
    *stop = (stmt){.kind = STMT_EXPR, .span = span};
    stop->value = otherwise == NULL ? stop_call(p, span, "the list is not as long as its pattern") : copy_of(p, &held);
    branch->branch.condition = parser_finish(p, fails);
    branch->branch.then = PARSER_NEW(p, block);
    *branch->branch.then = (block){.span = span, .first = stop};
    *check = (stmt){.kind = STMT_EXPR, .span = span, .value = parser_finish(p, branch)};
    return check;
}

static void parser_apply_steps(parser *p, uint32_t from, match_arm *arm) {
    if (p->step_count == from || arm->body == NULL)
        return;
    expr *guard = arm->guard != NULL ? arm->guard : truth(p, arm->body->span, true);
    arm->guard = guard_of(p, from, guard);
    arm->body = block_of(p, all_lets(p, from), arm->body);
    p->step_count = from;
}

pattern_choice parse_pattern_choice(parser *p, uint32_t from) {
    pattern_choice made = {0};
    parser_accept(p, TOKEN_OR);
    do {
        pattern *one = parse_pattern_no_or(p);
        uint32_t count = p->step_count - from;
        pattern_step *steps = parser_alloc(p, (count + 1) * sizeof *steps);
        if (count > 0)
            memcpy(steps, p->steps + from, count * sizeof *steps);
        p->step_count = from;
        made.lists |= count > 0;
        uint32_t n = made.count, m = made.count;
        PARSER_PUSH(p, made.steps, n, made.step_capacity, steps);
        PARSER_PUSH(p, made.step_counts, m, made.count_capacity, count);
        PARSER_PUSH(p, made.patterns, made.count, made.capacity, one);
    } while (!p->panic && parser_accept(p, TOKEN_OR));
    if (!made.lists && made.count > 1) {
        pattern *either = PARSER_NEW(p, pattern);
        *either = (pattern){.kind = PATTERN_OR, .parts = made.patterns, .part_count = made.count};
        either->span = parser_span_from(p, made.patterns[0]->span);
        made.patterns = parser_alloc(p, sizeof(pattern *));
        made.patterns[0] = either;
        made.count = 1;
    }
    return made;
}

void parser_add_arms(parser *p, const pattern_choice *choice, uint32_t from, match_arm arm, match_arm **arms,
                     uint32_t *count, uint32_t *capacity) {
    for (uint32_t i = 0; i < choice->count; i++) {
        match_arm one = arm;
        one.pattern = choice->patterns[i];
        if (i + 1 < choice->count && arm.body != NULL) {
            one.body = copy_of(p, arm.body);
            one.guard = arm.guard == NULL ? NULL : copy_of(p, arm.guard);
        }
        p->step_count = from;
        for (uint32_t k = 0; k < choice->step_counts[i]; k++)
            PARSER_PUSH(p, p->steps, p->step_count, p->step_capacity, choice->steps[i][k]);
        parser_apply_steps(p, from, &one);
        p->step_count = from;
        PARSER_PUSH(p, *arms, *count, *capacity, one);
    }
}

stmt *parser_step_lets(parser *p, uint32_t from) {
    stmt *lets = all_lets(p, from);
    p->step_count = from;
    return lets;
}

void parser_close_match(parser *p, expr *e) {
    const match_arm *written = e->match.count == 0 ? NULL : &e->match.arms[e->match.count - 1];
    if (written != NULL && written->guard == NULL &&
        (written->pattern->kind == PATTERN_NAME || written->pattern->kind == PATTERN_WILDCARD))
        return; /* it takes what is left */
    match_arm last = {.pattern = PARSER_NEW(p, pattern)};
    last.pattern->span = e->span;
    last.pattern->kind = PATTERN_WILDCARD;
    last.body = stop_call(p, e->span, "no arm of this `match` fits the list");
    match_arm *arms = parser_alloc(p, (e->match.count + 1) * sizeof *arms);
    memcpy(arms, e->match.arms, e->match.count * sizeof *arms);
    arms[e->match.count++] = last;
    e->match.arms = arms;
}

/* matches!(value, pattern if guard), behind the `!`. */
expr *parse_matches(parser *p, source_span start) {
    uint32_t from = p->step_count;
    bool no_struct = p->no_struct;
    p->no_struct = false;
    parser_advance(p);
    expr *value = parse_expression(p), *guard = NULL;
    parser_expect(p, TOKEN_COMMA);
    pattern_choice choice = parse_pattern_choice(p, from);
    if (parser_accept(p, TOKEN_IF))
        guard = parse_expression(p);
    parser_accept(p, TOKEN_COMMA);
    parser_expect(p, TOKEN_RIGHT_PAREN);
    p->no_struct = no_struct;
    expr *e = parser_new_match(p, value->span, value, 0);
    uint32_t capacity = 0;
    match_arm arm = {.guard = guard, .body = truth(p, value->span, true)}, other = {0};
    parser_add_arms(p, &choice, from, arm, &e->match.arms, &e->match.count, &capacity);
    other.pattern = PARSER_NEW(p, pattern);
    *other.pattern = (pattern){.span = value->span, .kind = PATTERN_WILDCARD};
    other.body = truth(p, value->span, false);
    PARSER_PUSH(p, e->match.arms, e->match.count, capacity, other);
    e->span = parser_span_from(p, start);
    return parser_finish(p, e);
}
