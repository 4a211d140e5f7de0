/* check_cursor.c: a name that refers to one place after another: `cur = &mut node.next`.
 *
 * A value has no address here. The name holds the value of the place where it stands; a list keeps the values above
 * it, each of which still holds what was there before; where the name is needed no more, they are put together again:
 *
 *     let mut cur = &mut self.head;                let mut cur = self.head; let mut <steps> = vec![0]; <above> = []
 *     while let Some(node) = cur {          ─►     while let Some(node) = &mut cur {
 *         cur = &mut node.next;                        { <next> = node.next; <above>.push(cur); <steps>.push(1); cur = <next>; }
 *     }                                            }
 *     *cur = Some(x);                              cur = Some(x);
 *                                                  while <steps>.len() > 0 {                     put_back
 *                                                      if <steps>.pop() == 1 { <next> = <above>.pop();
 *                                                          match &mut <next> { Some(node) => node.next = cur, … } cur = <next>; }
 *                                                      else { self.head = cur; } }
 *
 * Each place that the name is made to refer to is a site with a number; what a path needs to be found again (the key
 * of `children.entry(c)`, an index) goes into a list of the site's own. Putting back twice does nothing the second time.
 *
 * What must stay true: nothing of the block is checked yet. It is put back before each statement that mentions the place
 * where the name started (nobody may use both, so the name is not used behind it before it starts anew), and on
 * every way out of its block.
 */
#include <string.h>

#include "language/front/check_cursor.h"

/* ---- what an expression is rooted at ------------------------------------------------------------------ */

static bool is_method(const expr *e, const char *name, uint32_t count) {
    return e->kind == EXPR_METHOD && e->call.arg_count == count && strcmp(e->call.name, name) == 0;
}

static bool is_view(const expr *e) {
    return is_method(e, "as_mut", 0) || is_method(e, "as_deref_mut", 0);
}

static bool is_unwrap(const expr *e) {
    return is_method(e, "unwrap", 0) || is_method(e, "expect", 1);
}

static bool is_entry(const expr *e) {
    bool made = is_method(e, "or_insert", 1) || is_method(e, "or_insert_with", 1) ||
                is_method(e, "or_default", 0);
    return made && is_method(e->call.receiver, "entry", 1);
}

/* Where the next shorter path stands in e; NULL: e is a name, or no path. */
static expr **shorter(expr *e) {
    switch (e->kind) {
    case EXPR_FIELD:
    case EXPR_TUPLE_FIELD:
        return &e->field.base;
    case EXPR_INDEX:
        return &e->index.base;
    case EXPR_UNARY:
        return e->unary.op == UNARY_REFERENCE ? &e->unary.operand : NULL;
    case EXPR_METHOD:
        if (is_entry(e)) {
            return &e->call.receiver->call.receiver;
        }
        return is_view(e) || is_unwrap(e) || is_method(e, "get_mut", 1) ? &e->call.receiver : NULL;
    default:
        return NULL;
    }
}

static expr **first_name(expr **slot) {
    while (shorter(*slot) != NULL) {
        slot = shorter(*slot);
    }
    return (*slot)->kind == EXPR_NAME && (*slot)->name.scope == NULL ? slot : NULL;
}

static bool binds(const pattern *p, const char *name) {
    bool found = p->binding != NULL && strcmp(p->binding->name, name) == 0;
    for (uint32_t i = 0; !found && i < p->part_count; i++) {
        found = binds(p->parts[i], name);
    }
    return found;
}

const cursor_link *cursor_link_of(const cursor_link *at, const char *name) {
    while (at != NULL && !binds(at->pattern, name)) {
        at = at->outer;
    }
    return at;
}

static bool is_cursor(const cursor *k, const expr *e) {
    return e->kind == EXPR_NAME && e->name.scope == NULL && strcmp(e->name.name, k->name) == 0;
}

/* Whether e is the cursor's value or a part of it. */
static bool is_inside(const cursor *k, const cursor_link *links, expr *e) {
    expr **name = first_name(&e);
    if (name == NULL) {
        return false;
    }
    const cursor_link *link = cursor_link_of(links, (*name)->name.name);
    return link != NULL ? link->value != NULL : is_cursor(k, *name);
}

/* ---- places that overlap with where the cursor started -------------------------------------------------- */

enum { PATH_MAX_PARTS = 16 };

/* The fields behind the first name, from it outwards; stops at what is no field. */
static uint32_t fields_of(expr *e, const char **name, const expr **fields) {
    uint32_t count = 0;
    *name = NULL;
    for (expr **next = shorter(e); next != NULL; e = *next, next = shorter(e)) {
        bool field = e->kind == EXPR_FIELD || e->kind == EXPR_TUPLE_FIELD;
        if (!field && e->kind != EXPR_UNARY) {
            count = 0; /* what stands outside of it counts no more */
        }
        if (field && count < PATH_MAX_PARTS) {
            fields[count++] = e;
        }
    }
    if (e->kind == EXPR_NAME && e->name.scope == NULL) {
        *name = e->name.name;
    }
    return count;
}

static bool same_field(const expr *a, const expr *b) {
    return a->kind == b->kind && (a->kind == EXPR_FIELD ? strcmp(a->field.name, b->field.name) == 0
                                                        : a->field.index == b->field.index);
}

static bool overlaps(expr *a, expr *b) {
    const char *one, *other;
    const expr *left[PATH_MAX_PARTS], *right[PATH_MAX_PARTS];
    uint32_t lefts = fields_of(a, &one, left), rights = fields_of(b, &other, right);
    bool same = one != NULL && other != NULL && strcmp(one, other) == 0;
    while (same && lefts > 0 && rights > 0) {
        same = same_field(left[--lefts], right[--rights]);
    }
    return same;
}

typedef struct mention {
    const cursor *k;
    bool found;
} mention;

static bool is_block_like(const expr *e) {
    return e->kind == EXPR_BLOCK || e->kind == EXPR_LOOP || e->kind == EXPR_WHILE ||
           e->kind == EXPR_FOR;
}

static void find_mention(expr *e, void *context) {
    mention *m = context;
    expr **name = first_name(&e);
    if (name != NULL) {
        for (uint32_t i = 0; i < m->k->site_count; i++) {
            m->found |= m->k->sites[i].is_root && overlaps(e, m->k->sites[i].path);
        }
    }
    if (e->kind == EXPR_IF) { /* blocks have statements of their own */
        find_mention(e->branch.condition, m);
    } else if (e->kind == EXPR_MATCH) {
        find_mention(e->match.value, m);
    } else if (is_block_like(e)) {
        if (e->kind == EXPR_WHILE || e->kind == EXPR_FOR) {
            find_mention(e->kind == EXPR_WHILE ? e->loop->condition : e->loop->iterable, m);
        }
    } else if (name == NULL || e->kind != EXPR_NAME) {
        expr **base = name == NULL ? NULL : shorter(e);
        if (base == NULL) {
            expr_each_child(e, find_mention, m);
        } else if (e->kind == EXPR_INDEX || e->kind == EXPR_METHOD) {
            mention parts = {.k = m->k};
            expr nothing = {.kind = EXPR_BOOL}, *kept = *base;
            *base = &nothing;
            expr_each_child(e, find_mention, &parts);
            *base = kept;
            m->found |= parts.found;
        }
    }
}

static bool mentions_root(const cursor *k, expr *e) {
    mention m = {.k = k};
    find_mention(e, &m);
    return m.found;
}

/* ---- sites ---------------------------------------------------------------------------------------------- */

static expr *name_of(cursor *k, const char *name) {
    return check_new_name(k->c, k->span, name);
}

expr *cursor_name(cursor *k) {
    expr *e = name_of(k, k->name);
    e->is_followed = true;
    return e;
}

static expr *copy_of(cursor *k, const expr *e) {
    expr *copy = expr_copy(k->c->arena, e);
    if (copy == NULL) {
        check_out_of_memory(k->c);
    }
    return copy;
}

/* What &mut … and a last as_mut() are about. */
static expr *without_reference(expr *e) {
    while ((e->kind == EXPR_UNARY && e->unary.op == UNARY_REFERENCE) || is_view(e)) {
        e = e->kind == EXPR_UNARY ? e->unary.operand : e->call.receiver;
    }
    return e;
}

static cursor_site *site_of(cursor *k, const cursor_link *links, expr *written) {
    expr *path = without_reference(written);
    expr **name = first_name(&path);
    if (name == NULL || k->site_count == CURSOR_SITES_MAX) {
        k->broken = true;
        return NULL;
    }
    cursor_site *s = &k->sites[k->site_count];
    *s = (cursor_site){.number = k->site_count, .links = links};
    s->is_root = !is_inside(k, links, path);
    const cursor_link *link = cursor_link_of(links, (*name)->name.name);
    k->broken |= s->is_root && link != NULL && link->is_pattern; /* a part of something else */
    s->value = copy_of(k, path);
    s->path = copy_of(k, path);
    expr *last = s->path;
    bool found = is_unwrap(last) && is_method(last->call.receiver, "get_mut", 1);
    if (is_entry(last) || found) {
        expr *map = last->call.receiver; /* entry(key), get_mut(key) */
        s->key = map->call.args[0];
        s->keyed = found ? CURSOR_FOUND : CURSOR_ENTRY;
        s->path = map->call.receiver;
    } else if (last->kind == EXPR_INDEX && last->index.count == 1 &&
               last->index.indices[0]->kind != EXPR_INT) {
        s->key = last->index.indices[0];
        s->keyed = CURSOR_INDEX;
        s->path = last->index.base;
    } else if (is_unwrap(last)) {
        s->is_content = true;
        s->path = without_reference(last->call.receiver);
    }
    k->has_steps |= !s->is_root;
    k->site_count++;
    return s;
}

/* { <key> = key; <keys>.push(<key>); } and the site's value with <key> in it. */
static expr *keep_key(cursor *k, cursor_site *s, block_builder *b) {
    checker *c = k->c;
    if (s->keyed == CURSOR_PLAIN) {
        return copy_of(k, s->value);
    }
    char *key = check_printf(c, "<key %u>", c->text_count++);
    s->keys = check_printf(c, "<keys %u>", c->text_count++);
    build_let(b, key, false, copy_of(k, s->key));
    expr *pushed = name_of(k, key);
    build_stmt(b, build_method(c, k->span, name_of(k, s->keys), "push", &pushed, 1));
    expr *value = copy_of(k, s->value);
    if (s->keyed == CURSOR_INDEX) {
        value->index.indices[0] = name_of(k, key);
        return value;
    }
    value->call.receiver->call.args[0] = name_of(k, key);
    char *place = check_printf(c, "<place %u>", c->text_count++);
    build_let(b, place, false, value);
    return name_of(k, place);
}

static void push_step(cursor *k, const cursor_site *s, block_builder *b) {
    expr *number = check_new(k->c, EXPR_INT, k->span, NULL);
    number->integer.value = s->number;
    number->integer.suffix = TYPE_VOID;
    build_stmt(b, build_method(k->c, k->span, name_of(k, k->steps), "push", &number, 1));
}

/* cur = &mut path; */
static expr *go_to(cursor *k, const cursor_link *links, expr *written) {
    checker *c = k->c;
    cursor_site *s = site_of(k, links, written);
    if (s == NULL) {
        return written;
    }
    block_builder b = build_block(c, written->span);
    if (s->is_root) {
        build_stmt(&b, cursor_put_back(k));
        build_stmt(&b, build_assign(c, written->span, cursor_name(k), keep_key(k, s, &b)));
    } else {
        expr *value = keep_key(k, s, &b), *above = cursor_name(k);
        build_stmt(&b, build_assign(c, written->span, name_of(k, k->next), value));
        build_stmt(&b, build_method(c, k->span, name_of(k, k->above), "push", &above, 1));
        build_stmt(&b, build_assign(c, k->span, cursor_name(k), name_of(k, k->next)));
    }
    push_step(k, s, &b);
    return build_finish(&b, NULL);
}

/* ---- what follows in the block ------------------------------------------------------------------------- */

static void walk_block(cursor *k, const cursor_link *links, block *b);
static void walk(cursor *k, const cursor_link *links, expr *e);

static const cursor_link *linked(cursor *k, const cursor_link *links, pattern *p, expr *value,
                                 bool is_pattern) {
    cursor_link *link = CHECK_ARRAY(k->c, cursor_link, 1);
    *link = (cursor_link){.pattern = p, .value = value, .is_pattern = is_pattern, .outer = links};
    k->broken |= binds(p, k->name);
    return link;
}

static void replace(expr *e, const expr *by) {
    *e = *by;
}

/* A value that is there before the cursor is put back: { let <value> = e; put_back; <value> }. */
static expr *value_first(cursor *k, expr *e) {
    checker *c = k->c;
    block_builder b = build_block(c, e->span);
    char *name = check_printf(c, CURSOR_VALUE " %u>", c->text_count++);
    build_let(&b, name, false, e);
    build_stmt(&b, cursor_put_back(k));
    return build_finish(&b, name_of(k, name));
}

/* return e, break e, continue: what was put back stays. */
static void leave(cursor *k, expr *e) {
    checker *c = k->c;
    expr *jump = check_new(c, e->kind, e->span, NULL);
    *jump = *e;
    block_builder b = build_block(c, e->span);
    if (jump->jump.value != NULL && !mentions_root(k, jump->jump.value)) {
        jump->jump.value = value_first(k, jump->jump.value);
    } else {
        build_stmt(&b, cursor_put_back(k));
    }
    replace(e, build_finish(&b, jump));
}

static void walk_jump(cursor *k, const cursor_link *links, expr *e) {
    if (e->jump.value != NULL) {
        walk(k, links, e->jump.value);
    }
    bool out = e->kind == EXPR_RETURN || k->loop_depth == 0;
    for (uint32_t i = 0; e->jump.label != NULL && !out && i <= k->loop_depth; i++) {
        out = i == k->loop_depth; /* a label of a loop around the block */
        if (!out && k->labels[i] != NULL && strcmp(k->labels[i], e->jump.label) == 0) {
            break;
        }
    }
    if (out) {
        leave(k, e);
    }
}

static void walk_loop(cursor *k, const cursor_link *links, expr *e) {
    loop_expr *l = e->loop;
    if (l->condition != NULL) {
        walk(k, links, l->condition);
    }
    if (l->iterable != NULL) {
        walk(k, links, l->iterable);
        links = linked(k, links, l->pattern, NULL, true);
    }
    if (k->loop_depth == CURSOR_LOOPS_MAX) {
        k->broken = true;
        return;
    }
    k->labels[k->loop_depth++] = l->label;
    walk_block(k, links, l->body);
    k->loop_depth--;
}

/* A body that is no block becomes one where statements may have to stand in front. */
static void walk_arm(cursor *k, const cursor_link *links, match_arm *arm) {
    if (arm->guard != NULL) {
        walk(k, links, arm->guard);
    }
    if (arm->body->kind != EXPR_BLOCK && mentions_root(k, arm->body)) {
        arm->body = build_finish(
            &(block_builder){.c = k->c, .block = CHECK_ARRAY(k->c, block, 1), .span = k->span},
            arm->body);
    }
    walk(k, links, arm->body);
}

static const cursor_link *enter_match(cursor *k, const cursor_link *links, expr *e,
                                      pattern *pattern) {
    return linked(k, links, pattern, is_inside(k, links, e->match.value) ? e->match.value : NULL,
                  true);
}

/* The names of a pattern against the cursor stand for its parts. */
static void refer(cursor *k, const cursor_link *links, expr *e) {
    expr *value = e->match.value;
    bool name = value->kind == EXPR_NAME && is_inside(k, links, value);
    if (name && !value->is_followed) {
        expr *reference = check_new(k->c, EXPR_UNARY, value->span, NULL);
        reference->unary.op = UNARY_REFERENCE;
        reference->unary.is_mutable = true;
        reference->unary.operand = value;
        e->match.value = reference;
    }
}

static void walk_match(cursor *k, const cursor_link *links, expr *e) {
    if (!is_inside(k, links, e->match.value)) {
        walk(k, links, e->match.value);
    }
    refer(k, links, e);
    for (uint32_t i = 0; i < e->match.count; i++) {
        walk_arm(k, enter_match(k, links, e, e->match.arms[i].pattern), &e->match.arms[i]);
    }
}

static bool leaves(const expr *e) {
    return e->kind == EXPR_RETURN || e->kind == EXPR_BREAK || e->kind == EXPR_CONTINUE ||
           e->kind == EXPR_CALL;
}

/* cur = e, in every branch of e. */
static expr *assign(cursor *k, const cursor_link *links, expr *e) {
    if (e->kind == EXPR_IF && e->branch.otherwise != NULL) {
        walk(k, links, e->branch.condition);
        expr then = {.kind = EXPR_BLOCK, .block = e->branch.then, .span = e->span};
        e->branch.then = assign(k, links, &then)->block;
        expr *otherwise = assign(k, links, e->branch.otherwise);
        e->branch.otherwise = otherwise;
        return e;
    }
    if (e->kind == EXPR_MATCH) {
        walk(k, links, e->match.value);
        refer(k, links, e);
        for (uint32_t i = 0; i < e->match.count; i++) {
            match_arm *arm = &e->match.arms[i];
            const cursor_link *inner = enter_match(k, links, e, arm->pattern);
            arm->body = assign(k, inner, arm->body);
        }
        return e;
    }
    if (e->kind == EXPR_BLOCK) {
        expr *made = check_new(k->c, EXPR_BLOCK, e->span, NULL);
        made->block = e->block;
        expr *result = e->block->result;
        e->block->result = NULL;
        walk_block(k, links, e->block);
        const stmt *last = e->block->first;
        while (last != NULL && last->next != NULL) {
            last = last->next;
        }
        k->broken |= result == NULL && last == NULL;
        e->block->result = result == NULL ? NULL : assign(k, links, result);
        return made;
    }
    if (leaves(e)) {
        walk(k, links, e);
        return e;
    }
    return go_to(k, links, e);
}

static void walk_child(expr *e, void *context) {
    cursor *k = context;
    walk(k, k->links, e);
}

static void walk(cursor *k, const cursor_link *links, expr *e) {
    switch (e->kind) {
    case EXPR_ASSIGN:
        if (is_cursor(k, e->assign.target) && !e->assign.target->is_followed &&
            e->assign.op == BINARY_NONE) {
            replace(e, assign(k, links, e->assign.value));
            return;
        }
        break;
    case EXPR_MATCH:
        walk_match(k, links, e);
        return;
    case EXPR_IF:
        walk(k, links, e->branch.condition);
        walk_block(k, links, e->branch.then);
        if (e->branch.otherwise != NULL) {
            walk(k, links, e->branch.otherwise);
        }
        return;
    case EXPR_BLOCK:
        walk_block(k, links, e->block);
        return;
    case EXPR_LOOP:
    case EXPR_WHILE:
    case EXPR_FOR:
        walk_loop(k, links, e);
        return;
    case EXPR_RETURN:
    case EXPR_BREAK:
    case EXPR_CONTINUE:
        walk_jump(k, links, e);
        return;
    case EXPR_TRY: /* a way out that cannot be seen here */
        k->broken = true;
        return;
    case EXPR_CLOSURE:
        return;
    default:
        break;
    }
    const cursor_link *outer = k->links;
    k->links = links;
    expr_each_child(e, walk_child, k);
    k->links = outer;
}

static stmt *put_back_before(cursor *k, stmt *s) {
    stmt *made = CHECK_ARRAY(k->c, stmt, 1);
    *made = (stmt){.kind = STMT_EXPR, .span = k->span, .value = cursor_put_back(k), .next = s};
    return made;
}

static void walk_block(cursor *k, const cursor_link *links, block *b) {
    stmt **at = &b->first;
    for (stmt *s = b->first; s != NULL; s = s->next) {
        if (s->value != NULL && mentions_root(k, s->value)) {
            *at = put_back_before(k, s);
        }
        at = &s->next;
        if (s->value != NULL) {
            walk(k, links, s->value);
        }
        if (s->otherwise != NULL) {
            walk_block(k, links, s->otherwise);
        }
        if (s->kind == STMT_LET) {
            bool part = s->value != NULL && is_inside(k, links, s->value) &&
                        s->pattern->kind == PATTERN_NAME;
            links = linked(k, links, s->pattern, part ? s->value : NULL, false);
        }
    }
    if (b->result != NULL) {
        if (mentions_root(k, b->result)) {
            *at = put_back_before(k, NULL);
        }
        walk(k, links, b->result);
    }
}

/* ---- the whole --------------------------------------------------------------------------------------------- */

typedef struct move_search {
    const cursor *k;
    bool found;
} move_search;

static bool is_step(const expr *e) {
    if (e->kind == EXPR_UNARY) {
        return e->unary.op == UNARY_REFERENCE && e->unary.is_mutable;
    }
    return is_view(e) || is_entry(e) ||
           (is_unwrap(e) &&
            (is_view(e->call.receiver) || is_method(e->call.receiver, "get_mut", 1) ||
             is_method(e->call.receiver, "last_mut", 0)));
}

static void find_step(expr *e, void *context) {
    move_search *s = context;
    s->found |= is_step(e);
    if (!s->found && (e->kind == EXPR_IF || e->kind == EXPR_MATCH || e->kind == EXPR_BLOCK)) {
        expr_each_child(e, find_step, s);
    }
}

/* cur = &mut …, in this expression or below. */
static void find_move(expr *e, void *context) {
    move_search *s = context;
    if (e->kind == EXPR_ASSIGN && is_cursor(s->k, e->assign.target) &&
        !e->assign.target->is_followed && e->assign.op == BINARY_NONE) {
        find_step(e->assign.value, s);
    }
    if (!s->found) {
        expr_each_child(e, find_move, s);
    }
}

/* Evaluated twice it yields the same. */
static bool is_simple(const expr *e) {
    switch (e->kind) {
    case EXPR_NAME:
    case EXPR_INT:
        return true;
    case EXPR_CAST:
        return is_simple(e->cast.operand);
    case EXPR_FIELD:
        return is_simple(e->field.base);
    case EXPR_BINARY:
        return is_simple(e->binary.left) && is_simple(e->binary.right);
    default:
        return false;
    }
}

/* The end of the block: its value first where that does not ask for what has to be put back before. */
static void end_block(cursor *k, block *b) {
    stmt **at = &b->first;
    while (*at != NULL) {
        at = &(*at)->next;
    }
    if (b->result == NULL) {
        *at = put_back_before(k, NULL);
    } else if (!mentions_root(k, b->result)) {
        b->result = value_first(k, b->result);
    }
}

bool check_cursor(checker *c, block *b, stmt *s) {
    bool named = s->kind == STMT_LET && s->pattern->kind == PATTERN_NAME && s->pattern->binding;
    if (!named || s->pattern->binding->name[0] == '<' || !s->pattern->binding->is_mutable ||
        s->value == NULL || s->value->type != NULL || s->otherwise != NULL ||
        s->value->is_followed || c->function == NULL) {
        return false;
    }
    cursor k = {.c = c, .name = s->pattern->binding->name, .span = s->span};
    block rest = {.span = b->span, .first = s->next, .result = b->result};
    expr whole = {.kind = EXPR_BLOCK, .block = &rest};
    move_search moves = {.k = &k};
    expr_each_child(&whole, find_move, &moves);
    bool starts = s->value->kind == EXPR_NAME || is_step(s->value);
    if (!moves.found || !starts) {
        return false;
    }
    cursor_begin(&k);
    expr *written = s->value;
    cursor_site *first = site_of(&k, NULL, written);
    if (first != NULL && first->keyed == CURSOR_INDEX && is_simple(first->key)) {
        first->keys = check_printf(c, "<keys %u>", c->text_count++);
    } else {
        k.broken |= first != NULL && first->keyed != CURSOR_PLAIN;
    }
    if (!k.broken) {
        end_block(&k, &rest);
        walk_block(&k, NULL, &rest);
        s->value = copy_of(&k, k.sites[0].value);
    }
    if (k.broken) {
        return false;
    }
    cursor_fill(&k);
    s->next = cursor_lets(&k, rest.first);
    b->result = rest.result;
    return true;
}
