/* check_late.c: variables that get their value later.
 *
 *     let name;                         nothing is in it yet
 *     if n == 0 { name = "zero"; }      a way on which it is assigned
 *     else { return; }                  a way that never comes back
 *     println(name);                    assigned on every way to here
 *
 * Follows the ways through a checked body. For each such variable it knows whether some way to a place has assigned it
 * and whether some way has not; where no way leads to a place, neither. A read wants the second to be false, an
 * assignment to a variable without `mut` the first. A loop is walked without a word until what its begin knows changes
 * no more, then once more to speak.
 */

#include "language/front/check_expr.h"
#include "language/types/check_context.h"

enum { LATE_MAX = 63 }; /* variables that are followed in one walk */

/* In `set`: some way leads here. */
#define LATE_REACHED (UINT64_C(1) << LATE_MAX)

typedef struct ways {
    uint64_t set, unset; /* by variable: on some way to here it was assigned, was not */
} ways;

typedef struct late_loop {
    const expr *loop;
    ways left, again; /* at its breaks, at its continues */
    struct late_loop *outer;
} late_loop;

typedef struct late_walk {
    checker *c;
    binding *names[LATE_MAX];
    uint32_t count;
    ways now;
    late_loop *loops;
    bool silent;
} late_walk;

static void walk(late_walk *w, const expr *e);
static void walk_block(late_walk *w, const block *b);

static void join(ways *to, ways from) {
    to->set |= from.set;
    to->unset |= from.unset;
}

static uint64_t bit_of(const late_walk *w, const binding *b) {
    uint32_t i = 0;
    while (i < w->count && w->names[i] != b)
        i++;
    return i < w->count ? UINT64_C(1) << i : 0;
}

/* ---- names ----------------------------------------------------------------------------------- */

static void read_name(late_walk *w, const expr *e) {
    uint64_t bit = e->name.binding != NULL && e->name.binding->is_late ? bit_of(w, e->name.binding) : 0;
    if ((w->now.unset & bit) == 0 || w->silent)
        return;
    diagnostic *d = diagnostics_say(w->c->diagnostics, e->span, SAY(late_is_read_before), e->name.binding->name);
    diagnostics_note(w->c->diagnostics, d, e->name.binding->span,
                     (w->now.set & bit) != 0 ? "it is declared here, and one of the ways from here does not assign it"
                                             : "it is declared here, and nothing has assigned it yet");
    w->now.unset &= ~bit; /* said once */
}

static void assign(late_walk *w, const binding *b, bool is_set) {
    uint64_t bit = (w->now.set & LATE_REACHED) != 0 ? bit_of(w, b) : 0;
    w->now.set = is_set ? w->now.set | bit : w->now.set & ~bit;
    w->now.unset = is_set ? w->now.unset & ~bit : w->now.unset | bit;
}

static void write_name(late_walk *w, const expr *e) {
    binding *b = e->name.binding;
    uint64_t bit = b != NULL && b->is_late ? bit_of(w, b) : 0;
    if ((w->now.set & bit) != 0 && b->is_once && !w->silent) {
        diagnostic *d = diagnostics_say(w->c->diagnostics, e->span, SAY(late_is_assigned_again), b->name);
        diagnostics_note(w->c->diagnostics, d, b->span, "make it mutable: `let mut %s`", b->name);
        b->is_once = false; /* reported once */
    }
    assign(w, b, true);
}

/* ---- ways that part and meet ------------------------------------------------------------------ */

static const ways no_way = {0, 0};

static void walk_if(late_walk *w, const expr *e) {
    walk(w, e->branch.condition);
    ways otherwise = w->now;
    walk_block(w, e->branch.then);
    ways then = w->now;
    w->now = otherwise;
    if (e->branch.otherwise != NULL)
        walk(w, e->branch.otherwise);
    join(&w->now, then);
}

static void walk_match(late_walk *w, const expr *e) {
    walk(w, e->match.value);
    ways begin = w->now, all = no_way;
    for (uint32_t i = 0; i < e->match.count; i++) {
        w->now = begin;
        if (e->match.arms[i].guard != NULL)
            walk(w, e->match.arms[i].guard);
        walk(w, e->match.arms[i].body);
        join(&all, w->now);
    }
    w->now = all;
}

static void walk_body_once(late_walk *w, const expr *e, late_loop *l, ways head) {
    l->left = l->again = no_way;
    w->now = head;
    if (e->kind == EXPR_WHILE)
        walk(w, e->loop->condition);
    if (e->kind != EXPR_LOOP)
        join(&l->left, w->now);
    walk_block(w, e->loop->body);
    join(&l->again, w->now);
}

static void walk_loop(late_walk *w, const expr *e) {
    if (e->loop->iterable != NULL)
        walk(w, e->loop->iterable);
    late_loop l = {.loop = e, .outer = w->loops};
    ways head = w->now;
    bool silent = w->silent, once = e->loop->is_block;
    w->loops = &l;
    w->silent = silent || !once;
    for (bool changed = !once; changed;) {
        walk_body_once(w, e, &l, head);
        ways more = head;
        join(&more, l.again);
        changed = more.set != head.set || more.unset != head.unset;
        head = more;
    }
    w->silent = silent;
    walk_body_once(w, e, &l, head);
    w->loops = l.outer;
    w->now = l.left;
    if (once)
        join(&w->now, l.again);
}

static void walk_jump(late_walk *w, const expr *e) {
    if (e->jump.value != NULL)
        walk(w, e->jump.value);
    for (late_loop *l = w->loops; l != NULL && e->kind != EXPR_RETURN; l = l->outer) {
        if (l->loop == e->jump.target || (e->jump.target != NULL && l->loop->loop == e->jump.target->loop)) {
            join(e->kind == EXPR_BREAK ? &l->left : &l->again, w->now);
            break;
        }
    }
    w->now = no_way;
}

static void walk_child(expr *e, void *context) {
    walk(context, e);
}

/* A block that the checker wrote beside a call takes the place of its statements. */
static void walk_statements(late_walk *w, const stmt *s) {
    for (; s != NULL; s = s->next) {
        if (s->is_late)
            assign(w, s->pattern->binding, false);
        else if (s->value != NULL)
            walk(w, s->value);
        if (s->otherwise != NULL) {
            ways fits = w->now;
            walk_block(w, s->otherwise);
            w->now = fits;
        }
    }
}

static void walk_call(late_walk *w, const expr *e) {
    walk_statements(w, e->call.before);
    expr_each_child((expr *)e, walk_child, w);
    walk_statements(w, e->call.after);
}

static void walk(late_walk *w, const expr *e) {
    switch (e->kind) {
    case EXPR_NAME:
        read_name(w, e);
        break;
    case EXPR_ASSIGN:
        walk(w, e->assign.value);
        if (e->assign.target->kind == EXPR_NAME)
            write_name(w, e->assign.target);
        else
            walk(w, e->assign.target);
        break;
    case EXPR_IF:
        walk_if(w, e);
        break;
    case EXPR_MATCH:
        walk_match(w, e);
        break;
    case EXPR_WHILE:
    case EXPR_LOOP:
    case EXPR_FOR:
        walk_loop(w, e);
        break;
    case EXPR_BREAK:
    case EXPR_CONTINUE:
    case EXPR_RETURN:
        walk_jump(w, e);
        break;
    case EXPR_BLOCK:
        walk_block(w, e->block);
        break;
    case EXPR_BINARY:
        walk(w, e->binary.left);
        if (e->binary.op == BINARY_AND || e->binary.op == BINARY_OR) {
            ways without = w->now;
            walk(w, e->binary.right);
            join(&w->now, without);
        } else {
            walk(w, e->binary.right);
        }
        break;
    case EXPR_CALL:
        walk_call(w, e);
        break;
    default:
        expr_each_child((expr *)e, walk_child, w);
        break;
    }
    if (e->type != NULL && e->type->kind == TYPE_NEVER)
        w->now = no_way; /* panic(…) */
}

static void walk_block(late_walk *w, const block *b) {
    walk_statements(w, b->first);
    if (b->result != NULL)
        walk(w, b->result);
}

void check_late_names(checker *c, const function_item *f) {
    uint32_t next = 0;
    while (f->has_late && next < f->binding_count) {
        late_walk w = {.c = c, .now = {.set = LATE_REACHED}};
        for (; next < f->binding_count && w.count < LATE_MAX; next++)
            if (f->bindings[next]->is_late)
                w.names[w.count++] = f->bindings[next];
        if (w.count > 0)
            walk_block(&w, f->body);
    }
}
