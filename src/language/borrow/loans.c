/* loans.c: follows each loan from where it is made for as long as something that holds it is used later.
 *
 *     loan ─► the variables that hold it, event by event: flow adds one, clear takes one away
 *          ─► a touch of an overlapping place that the loan forbids, while one of them is live: an error
 *
 * Liveness is asked for a variable at a time: the blocks from which a use is reached without a clear before it. So a
 * loan costs the blocks in which it lives, and a function without loans nothing.
 */
#include <stdlib.h>
#include <string.h>

#include "language/borrow/graph.h"

enum { HOLDERS_MAX = 64 }; /* a loan that more variables hold is not followed further */

typedef struct mark { /* a use or a clear */
    uint32_t block, at;
    bool is_use;
} mark;

typedef struct uses {
    mark *marks; /* in the order of blocks and events */
    uint32_t count, capacity;
    bool is_known;  /* where it is live */
    uint32_t *live; /* the blocks at whose start it is, in order */
    uint32_t live_count, live_capacity;
} uses;

typedef struct before { /* edges the other way */
    uint32_t *blocks, count, capacity;
} before;

typedef struct judge {
    graph *g;
    diagnostics *found;
    uses *uses;
    before *before;
    uint32_t *seen_by; /* of each block: 1 + the variable whose life was looked at last */
    const event *loan;
    uint32_t holders[HOLDERS_MAX], holder_count;
    uint32_t *permitted;              /* of each variable: the lives that are one with it, a bit for each */
    uint64_t *state;                  /* of each block: the holders that were in it when it began */
    uint32_t *touched, touched_count; /* the blocks whose state is not 0 */
    uint32_t *work;
    bool *waiting;
    bool is_said;
} judge;

/* ---- liveness ----------------------------------------------------------------------------------- */

static bool goes_behind(const place *p, uint32_t from) {
    for (uint32_t i = from; i < p->count; i++)
        if (p->steps[i].kind == STEP_FOLLOW)
            return true;
    return false;
}

static uint32_t used_by(const graph *g, const event *e) {
    switch (e->kind) {
    case EVENT_FLOW:
    case EVENT_USE:
        return g->variables[e->from].owner;
    case EVENT_TOUCH:
    case EVENT_BORROW: {
        bool part = e->mode != TOUCH_WRITE && e->mode != TOUCH_END;
        return part || goes_behind(e->place, 0) ? e->place->root : NO_VARIABLE;
    }
    default:
        return NO_VARIABLE;
    }
}

static void collect_uses(judge *j) {
    graph *g = j->g;
    j->uses = GRAPH_ARRAY(g, uses, g->variable_count);
    for (uint32_t b = 0; b < g->block_count; b++) {
        for (uint32_t i = 0; i < g->blocks[b].count; i++) {
            const event *e = &g->blocks[b].events[i];
            bool clears = e->kind == EVENT_CLEAR;
            uint32_t v = clears ? e->into : used_by(g, e);
            if (v != NO_VARIABLE) {
                uses *u = &j->uses[v];
                mark m = {b, i, !clears};
                GRAPH_PUSH(g, u->marks, u->count, u->capacity, m);
            }
        }
    }
}

/* The first mark of the variable in the block, from event `from` on; NULL: there is none. */
static const mark *next_mark(const uses *u, uint32_t block, uint32_t from) {
    uint32_t low = 0, high = u->count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        const mark *m = &u->marks[middle];
        if (m->block < block || (m->block == block && m->at < from))
            low = middle + 1;
        else
            high = middle;
    }
    return low < u->count && u->marks[low].block == block ? &u->marks[low] : NULL;
}

static int by_number(const void *a, const void *b) {
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

static void find_edges_back(judge *j) {
    graph *g = j->g;
    j->before = GRAPH_ARRAY(g, before, g->block_count);
    j->seen_by = GRAPH_ARRAY(g, uint32_t, g->block_count);
    for (uint32_t b = 0; b < g->block_count; b++) {
        for (uint32_t i = 0; i < g->blocks[b].next_count; i++) {
            before *to = &j->before[g->blocks[b].next[i]];
            GRAPH_PUSH(g, to->blocks, to->count, to->capacity, b);
        }
    }
}

static void add_live(judge *j, uses *u, uint32_t v, uint32_t block) {
    if (j->seen_by[block] != v + 1) {
        j->seen_by[block] = v + 1;
        GRAPH_PUSH(j->g, u->live, u->live_count, u->live_capacity, block);
    }
}

/* Backwards from the blocks that use the variable before they clear it. */
static void find_live(judge *j, uint32_t v) {
    uses *u = &j->uses[v];
    u->is_known = true;
    for (uint32_t i = 0; i < u->count; i++) {
        bool first = i == 0 || u->marks[i - 1].block != u->marks[i].block;
        if (first && u->marks[i].is_use)
            add_live(j, u, v, u->marks[i].block);
    }
    for (uint32_t i = 0; i < u->live_count; i++) {
        const before *from = &j->before[u->live[i]];
        for (uint32_t k = 0; k < from->count; k++)
            if (next_mark(u, from->blocks[k], 0) == NULL)
                add_live(j, u, v, from->blocks[k]);
    }
    if (u->live_count > 1)
        qsort(u->live, u->live_count, sizeof *u->live, by_number);
}

static bool is_live_at(const uses *u, uint32_t block) {
    return u->live_count > 0 && bsearch(&block, u->live, u->live_count, sizeof *u->live, by_number) != NULL;
}

static bool is_live_from(judge *j, uint32_t v, uint32_t block, uint32_t from) {
    uses *u = &j->uses[v];
    const mark *m = next_mark(u, block, from);
    if (m != NULL)
        return m->is_use;
    if (u->count == 0)
        return false;
    if (!u->is_known)
        find_live(j, v);
    const graph_block *b = &j->g->blocks[block];
    for (uint32_t i = 0; i < b->next_count; i++)
        if (is_live_at(u, b->next[i]))
            return true;
    return false;
}

/* ---- what forbids what -------------------------------------------------------------------------- */

static bool steps_differ(const step *a, const step *b) {
    if (a->kind == STEP_FIELD && b->kind == STEP_FIELD)
        return strcmp(a->name, b->name) != 0;
    if (a->kind == STEP_NUMBER && b->kind == STEP_NUMBER)
        return a->number != b->number;
    bool indexes = (a->kind == STEP_NUMBER || a->kind == STEP_ANY) && (b->kind == STEP_NUMBER || b->kind == STEP_ANY);
    return !indexes && a->kind != b->kind;
}

static bool forbids(const event *loan, const place *p, touch_mode mode) {
    const place *q = loan->place;
    if (q->root != p->root || p->unsure || (loan->mode == TOUCH_SHARE && (mode == TOUCH_READ || mode == TOUCH_SHARE)))
        return false;
    uint32_t both = q->count < p->count ? q->count : p->count;
    for (uint32_t i = 0; i < both; i++)
        if (steps_differ(&q->steps[i], &p->steps[i]))
            return false;
    bool shallow = mode == TOUCH_WRITE || mode == TOUCH_END || mode == TOUCH_MOVE || mode == TOUCH_READ;
    return !shallow || !goes_behind(q, both);
}

/* r = …: what was behind the old r is out of reach. */
static bool ends_loan(const event *loan, const event *e) {
    const place *q = loan->place, *p = e->place;
    if (e->kind != EVENT_TOUCH || e->mode != TOUCH_WRITE || q->root != p->root || q->count <= p->count ||
        !goes_behind(q, p->count))
        return false;
    for (uint32_t i = 0; i < p->count; i++)
        if (steps_differ(&q->steps[i], &p->steps[i]) || p->steps[i].kind == STEP_ANY)
            return false;
    return true;
}

/* ---- messages ----------------------------------------------------------------------------------- */

static const char *place_text(judge *j, const place *p) {
    graph *g = j->g;
    const char *text = g->variables[p->root].name;
    for (uint32_t i = 0; text != NULL && i < p->count; i++) {
        const step *s = &p->steps[i];
        if (s->kind == STEP_FIELD && strchr(s->name, '.') == NULL)
            text = masu__arena_printf(j->found->arena, "%s.%s", text, s->name);
        else if (s->kind == STEP_NUMBER)
            text = masu__arena_printf(j->found->arena, "%s[%llu]", text, (unsigned long long)s->number);
        else if (s->kind == STEP_ANY)
            text = masu__arena_printf(j->found->arena, "%s[…]", text);
        else if (s->kind == STEP_FOLLOW && i + 1 == p->count && strcmp(text, "self") != 0)
            text = masu__arena_printf(j->found->arena, "*%s", text);
    }
    return text == NULL || text[0] == '<' ? "this value" : text;
}

/* Where the variable is used next; a walk forwards, of an error only. */
static const event *next_use(judge *j, uint32_t v, uint32_t block, uint32_t from) {
    graph *g = j->g;
    bool *seen = GRAPH_ARRAY(g, bool, g->block_count);
    uint32_t *queue = GRAPH_ARRAY(g, uint32_t, g->block_count + 1), head = 0, tail = 0;
    queue[tail++] = block;
    while (head < tail) {
        uint32_t b = queue[head++];
        const mark *m = next_mark(&j->uses[v], b, head == 1 ? from : 0);
        if (m != NULL && m->is_use)
            return &g->blocks[b].events[m->at];
        for (uint32_t i = 0; m == NULL && i < g->blocks[b].next_count; i++) {
            uint32_t next = g->blocks[b].next[i];
            if (!seen[next] && tail <= g->block_count) {
                seen[next] = true;
                queue[tail++] = next;
            }
        }
    }
    return NULL;
}

/* The value of the body's last expression is on its way to the result when the names of the body end. */
static bool is_returned(const judge *j, uint32_t holder) {
    bool returned = j->g->variables[holder].is_result;
    for (uint32_t b = 0; b < j->g->block_count && !returned; b++) {
        const graph_block *block = &j->g->blocks[b];
        for (uint32_t i = 0; i < block->count && !returned; i++) {
            const event *e = &block->events[i];
            returned = e->kind == EVENT_FLOW && e->from == holder && j->g->variables[e->into].is_result;
        }
    }
    return returned;
}

static diagnostic *say_end(judge *j, const event *e, uint32_t holder) {
    const char *name = place_text(j, e->place);
    source_span span = j->g->variables[e->place->root].span;
    if (is_returned(j, holder))
        return diagnostics_say(j->found, j->loan->span, SAY(returns_reference_to_local), name);
    diagnostic *d = diagnostics_say(j->found, j->loan->span, SAY(does_not_live_long_enough), name);
    diagnostics_note(j->found, d, span, "`%s` is declared here and ends with its block", name);
    if (j->g->variables[holder].lives != 0)
        diagnostics_note(j->found, d, j->g->variables[holder].span, "it comes to be in %s, which outlives the function",
                         j->g->variables[holder].name);
    return d;
}

static diagnostic *say_conflict(judge *j, const event *e, const char *place, const char *by) {
    switch (e->mode) {
    case TOUCH_WRITE:
        return diagnostics_say(j->found, e->span, SAY(cannot_assign_while_referred), place, by);
    case TOUCH_CHANGE:
        return diagnostics_say(j->found, e->span, SAY(cannot_change_while_referred), place,
                               e->by == NULL ? "this call" : e->by, by);
    case TOUCH_SHARE:
    case TOUCH_EXCLUSIVE:
        return diagnostics_say(j->found, e->span, SAY(cannot_refer_while_referred), place, by);
    case TOUCH_MOVE:
        return diagnostics_say(j->found, e->span, SAY(cannot_move_while_referred), place, by);
    default:
        return diagnostics_say(j->found, e->span, SAY(cannot_use_while_referred), place, by);
    }
}

/* The life of what one parameter refers to comes to be in what the other does. */
static void say_lives(judge *j, uint32_t from, uint32_t into, source_span span) {
    const variable *one = &j->g->variables[from], *other = &j->g->variables[into];
    const char *name = j->g->function;
    diagnostic *d = diagnostics_say(j->found, span, SAY(may_not_live_as_long), one->name, other->name, name);
    diagnostics_note(j->found, d, one->span, "%s comes from here", one->name);
    diagnostics_note(
        j->found, d, (source_span){0},
        "say that they live equally long: one name for both, as in `fn %s<'a>(list: &mut Vec<&'a T>, item: "
        "&'a T)`",
        name);
    j->is_said = true;
}

static const char *remedy_of(const judge *j, const event *e) {
    const place *q = j->loan->place, *p = e->place;
    if (e->mode == TOUCH_END)
        return "yield the value itself, or declare it outside of this block";
    bool elements = q->count > 0 && p->count > 0 && q->steps[q->count - 1].kind >= STEP_NUMBER &&
                    p->steps[p->count - 1].kind >= STEP_NUMBER && p->steps[p->count - 1].kind != STEP_FOLLOW;
    if (elements && j->loan->mode == TOUCH_EXCLUSIVE)
        return "they may be one element: use `v.swap(i, j)` or `split_at_mut`";
    return "end the use of the reference before this, keep an index in its place, or take a copy: `.clone()`";
}

static void say(judge *j, const event *e, uint32_t holder, uint32_t block, uint32_t at) {
    const variable *v = &j->g->variables[holder];
    const char *by = v->is_loop ? "the loop" : v->name == NULL || v->name[0] == '<' ? "a reference" : v->name;
    const char *shown = by == v->name && v->lives == 0 ? masu__arena_printf(j->found->arena, "`%s`", by) : by;
    diagnostic *d = e->mode == TOUCH_END ? say_end(j, e, holder) : say_conflict(j, e, place_text(j, e->place), shown);
    j->is_said = true;
    if (e->mode != TOUCH_END) {
        diagnostics_note(j->found, d, j->loan->span, "the reference to `%s` is made here",
                         place_text(j, j->loan->place));
    }
    const event *later = next_use(j, holder, block, at + 1);
    const bool inner = later != NULL && !v->is_result && v->lives == 0;
    if (inner && later->kind == EVENT_USE && later->mode == TOUCH_END)
        diagnostics_note(j->found, d, v->span, "and its destructor uses it where `%s` ends", v->name);
    else if (inner && later->span.offset != e->span.offset && later->span.offset != j->loan->span.offset)
        diagnostics_note(j->found, d, later->span, "and it is used later, here");
    diagnostics_note(j->found, d, (source_span){0}, "%s", remedy_of(j, e));
}

/* ---- one loan ----------------------------------------------------------------------------------- */

/* The bit of those that hold what v does; 0: none of them has one. */
static uint64_t known_bit(const judge *j, uint32_t v) {
    const uint32_t one = graph_alike(j->g, v);
    for (uint32_t i = 0; i < j->holder_count; i++)
        if (j->holders[i] == one)
            return UINT64_C(1) << i;
    return 0;
}

/* Whether any of them is ever looked at. */
static bool is_used(const judge *j, uint32_t one) {
    const variable *all = j->g->variables;
    bool used = false;
    for (uint32_t at = one + 1; at != 0 && !used; at = all[at - 1].next)
        used = j->uses[all[at - 1].owner].count > 0;
    return used;
}

/* The same, which gets one. 0: there are too many, or they are never used. */
static uint64_t bit_of(judge *j, uint32_t v) {
    const uint64_t known = known_bit(j, v);
    const uint32_t one = graph_alike(j->g, v);
    if (known != 0 || j->holder_count == HOLDERS_MAX || !is_used(j, one))
        return known;
    j->holders[j->holder_count] = one;
    return UINT64_C(1) << j->holder_count++;
}

/* From a variable to another, with what lies behind them. */
static uint64_t flow(judge *j, const event *e, uint64_t state) {
    const variable *all = j->g->variables;
    uint32_t into = e->into, from = e->from;
    uint64_t after = state;
    for (;;) {
        if (state & known_bit(j, from))
            after |= bit_of(j, into);
        if (e->is_flat || all[from].behind == 0)
            return after;
        from = all[from].behind - 1;
        into = all[into].behind == 0 ? into : all[into].behind - 1; /* the last one holds the rest */
    }
}

/* A variable gets a new value: it holds nothing, unless others hold the same. */
static uint64_t clear(const judge *j, uint32_t v, uint64_t state) {
    const variable *all = j->g->variables;
    for (uint32_t at = v + 1; at != 0; at = all[at - 1].behind)
        if (all[at - 1].alike == at - 1 && all[at - 1].next == 0)
            state &= ~known_bit(j, at - 1);
    return state;
}

/* A holder that is used behind event `at`, one with a name if there is one; NO_VARIABLE: none is. */
static uint32_t live_holder(judge *j, uint64_t state, uint32_t block, uint32_t at) {
    uint32_t found = NO_VARIABLE;
    for (uint32_t i = 0; i < j->holder_count; i++) {
        for (uint32_t next = state >> i & 1 ? j->holders[i] + 1 : 0; next != 0;) {
            const uint32_t v = j->g->variables[next - 1].owner;
            const variable *of = &j->g->variables[v];
            next = j->g->variables[next - 1].next;
            bool named = of->is_result || (of->name != NULL && of->name[0] != '<');
            if ((found == NO_VARIABLE || named) && is_live_from(j, v, block, at + 1)) {
                found = v;
                if (named)
                    return found;
            }
        }
    }
    return found;
}

/* ---- lives that a signature names ---------------------------------------------------------------- */

/* A life that the loan of another came to be in has to be as long. */
static void judge_lives(judge *j, uint64_t state, source_span span) {
    const graph *g = j->g;
    const uint32_t of = g->variables[j->loan->place->root].lives;
    if (of == 0 || j->is_said)
        return;
    for (uint32_t i = 0; i < j->holder_count; i++) {
        const uint32_t in = state >> i & 1 ? j->permitted[j->holders[i]] & ~g->outlives[of - 1] : 0;
        for (uint32_t other = 0; in != 0 && other < g->life_count; other++) {
            if (in >> other & 1) {
                say_lives(j, g->lives[of - 1], g->lives[other], span);
                return;
            }
        }
    }
}

/* f(&mut v, v.len()): a value that is read beside a reference on its way is what it is then. */
static bool reads_beside(const judge *j, const event *e, uint32_t holder) {
    const variable *v = &j->g->variables[holder];
    return e->mode == TOUCH_READ && v->name == NULL && !v->is_loop;
}

static uint64_t after_event(judge *j, const event *e, uint64_t state, uint32_t block, uint32_t at) {
    switch (e->kind) {
    case EVENT_FLOW: {
        const uint64_t after = flow(j, e, state);
        if (after != state)
            judge_lives(j, after, e->span);
        return after;
    }
    case EVENT_CLEAR: /* and what was behind the old value is out of reach */
        return j->loan->place->root == e->into && goes_behind(j->loan->place, 0) ? 0 : clear(j, e->into, state);
    case EVENT_TOUCH:
    case EVENT_BORROW:
        if (forbids(j->loan, e->place, e->mode)) {
            uint32_t holder = live_holder(j, state, block, at);
            if (holder != NO_VARIABLE && !reads_beside(j, e, holder)) {
                say(j, e, holder, block, at);
                return 0;
            }
        }
        return ends_loan(j->loan, e) ? 0 : e == j->loan ? state | bit_of(j, e->into) : state;
    default:
        return state;
    }
}

static void enter_block(judge *j, uint32_t block, uint64_t state, uint32_t *count) {
    uint64_t before = j->state[block];
    if ((before | state) == before)
        return;
    if (before == 0)
        j->touched[j->touched_count++] = block;
    j->state[block] = before | state;
    if (!j->waiting[block]) {
        j->waiting[block] = true;
        j->work[(*count)++] = block;
    }
}

/* Looks now and then whether a holder lives, so that a loan costs what its life is long, not what the block is. */
static uint64_t run_block(judge *j, uint32_t block, uint32_t from, uint64_t state) {
    enum { STRIDE = 32 };
    const graph_block *b = &j->g->blocks[block];
    for (uint32_t i = from; i < b->count && state != 0 && !j->is_said; i++) {
        state = after_event(j, &b->events[i], state, block, i);
        if ((i - from) % STRIDE == STRIDE - 1 && live_holder(j, state, block, i) == NO_VARIABLE)
            return 0;
    }
    return j->is_said ? 0 : state;
}

static void leave_block(judge *j, uint32_t block, uint64_t state, uint32_t *count) {
    const graph_block *b = &j->g->blocks[block];
    if (state == 0 || live_holder(j, state, block, b->count) == NO_VARIABLE)
        return;
    for (uint32_t i = 0; i < b->next_count; i++)
        enter_block(j, b->next[i], state, count);
}

/* Where the life of the loan became one with another. */
static source_span link_of_lives(const judge *j, const event *loan) {
    const graph *g = j->g;
    const uint32_t one = graph_alike(g, loan->into);
    for (uint32_t i = 0; i < g->link_count; i++)
        if (graph_alike(g, g->links[i].a) == one && g->links[i].span.file != NULL)
            return g->links[i].span;
    return loan->span;
}

static void follow_loan(judge *j, uint32_t block, uint32_t at) {
    uint32_t count = 0;
    j->loan = &j->g->blocks[block].events[at];
    j->holder_count = 0;
    j->is_said = false;
    const uint64_t first = bit_of(j, j->loan->into);
    if (j->g->life_count > 0)
        judge_lives(j, first, link_of_lives(j, j->loan));
    leave_block(j, block, j->is_said ? 0 : run_block(j, block, at + 1, first), &count);
    while (count > 0 && !j->is_said) {
        uint32_t b = j->work[--count];
        j->waiting[b] = false;
        leave_block(j, b, run_block(j, b, 0, j->state[b]), &count);
    }
    while (count > 0)
        j->waiting[j->work[--count]] = false;
    while (j->touched_count > 0)
        j->state[j->touched[--j->touched_count]] = 0;
}

/* A loan of what lies behind a shared reference forbids writes only, and there are none. */
static bool is_free(const place *p) {
    for (uint32_t i = 0; i < p->count; i++)
        if (p->steps[i].kind == STEP_FOLLOW && p->steps[i].is_shared)
            return true;
    return p->unsure;
}

void graph_judge(graph *g, diagnostics *found) {
    judge j = {.g = g, .found = found};
    if (!g->has_loans)
        return;
    graph_join(g);
    collect_uses(&j);
    find_edges_back(&j);
    j.permitted = GRAPH_ARRAY(g, uint32_t, g->variable_count);
    for (uint32_t i = 0; i < g->life_count; i++)
        j.permitted[graph_alike(g, g->lives[i])] |= UINT32_C(1) << i;
    j.state = GRAPH_ARRAY(g, uint64_t, g->block_count);
    j.touched = GRAPH_ARRAY(g, uint32_t, g->block_count);
    j.work = GRAPH_ARRAY(g, uint32_t, g->block_count);
    j.waiting = GRAPH_ARRAY(g, bool, g->block_count);
    for (uint32_t b = 0; b < g->block_count; b++) {
        for (uint32_t i = 0; i < g->blocks[b].count; i++) {
            const event *e = &g->blocks[b].events[i];
            if (e->kind == EVENT_BORROW && !is_free(e->place))
                follow_loan(&j, b, i);
        }
    }
}
