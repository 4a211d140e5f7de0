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
    while ((e->kind == EXPR_UNARY && e->unary.op == UNARY_REFERENCE) || cursor_is_view(e)) {
        e = e->kind == EXPR_UNARY ? e->unary.operand : e->call.receiver;
    }
    return e;
}

static cursor_site *site_of(cursor *k, const cursor_link *links, expr *written) {
    expr *path = without_reference(written);
    expr **name = cursor_first_name(&path);
    if (name == NULL || k->site_count == CURSOR_SITES_MAX) {
        k->broken = true;
        return NULL;
    }
    cursor_site *s = &k->sites[k->site_count];
    *s = (cursor_site){.number = k->site_count, .links = links};
    s->is_root = !cursor_is_inside(k, links, path);
    const cursor_link *link = cursor_link_of(links, (*name)->name.name);
    k->broken |= s->is_root && link != NULL && link->is_pattern; /* a part of something else */
    s->value = copy_of(k, path);
    s->path = copy_of(k, path);
    expr *last = s->path;
    bool found = cursor_is_unwrap(last) && cursor_is_method(last->call.receiver, "get_mut", 1);
    if (cursor_is_entry(last) || found) {
        expr *map = last->call.receiver; /* entry(key), get_mut(key) */
        s->key = map->call.args[0];
        s->keyed = found ? CURSOR_FOUND : CURSOR_ENTRY;
        s->path = map->call.receiver;
    } else if (last->kind == EXPR_INDEX && last->index.count == 1 &&
               last->index.indices[0]->kind != EXPR_INT) {
        s->key = last->index.indices[0];
        s->keyed = CURSOR_INDEX;
        s->path = last->index.base;
    } else if (cursor_is_unwrap(last)) {
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
    k->broken |= cursor_binds(p, k->name);
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
    if (jump->jump.value != NULL && !cursor_mentions_root(k, jump->jump.value)) {
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
    if (arm->body->kind != EXPR_BLOCK && cursor_mentions_root(k, arm->body)) {
        arm->body = build_finish(
            &(block_builder){.c = k->c, .block = CHECK_ARRAY(k->c, block, 1), .span = k->span},
            arm->body);
    }
    walk(k, links, arm->body);
}

static const cursor_link *enter_match(cursor *k, const cursor_link *links, expr *e,
                                      pattern *pattern) {
    return linked(k, links, pattern,
                  cursor_is_inside(k, links, e->match.value) ? e->match.value : NULL, true);
}

/* The names of a pattern against the cursor stand for its parts. */
static void refer(cursor *k, const cursor_link *links, expr *e) {
    expr *value = e->match.value;
    bool name = value->kind == EXPR_NAME && cursor_is_inside(k, links, value);
    if (name && !value->is_followed) {
        expr *reference = check_new(k->c, EXPR_UNARY, value->span, NULL);
        reference->unary.op = UNARY_REFERENCE;
        reference->unary.is_mutable = true;
        reference->unary.operand = value;
        e->match.value = reference;
    }
}

static void walk_match(cursor *k, const cursor_link *links, expr *e) {
    if (!cursor_is_inside(k, links, e->match.value)) {
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
    if (e->is_put_back) {
        return;
    }
    switch (e->kind) {
    case EXPR_ASSIGN:
        if (cursor_is(k, e->assign.target) && !e->assign.target->is_followed &&
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
        bool chooses =
            s->kind == STMT_LET && s->value != NULL && check_is_choice(k->c, s->value, true);
        if (s->value != NULL && (chooses || cursor_mentions_root(k, s->value))) {
            *at = put_back_before(k, s);
        }
        at = &s->next;
        if (s->value != NULL && !chooses) {
            walk(k, links, s->value);
        }
        if (s->otherwise != NULL) {
            walk_block(k, links, s->otherwise);
        }
        if (s->kind == STMT_LET) {
            bool part = s->value != NULL && cursor_is_inside(k, links, s->value) &&
                        s->pattern->kind == PATTERN_NAME;
            links = linked(k, links, s->pattern, part ? s->value : NULL, false);
        }
    }
    if (b->result != NULL) {
        if (cursor_mentions_root(k, b->result)) {
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
    return cursor_is_view(e) || cursor_is_entry(e) ||
           (cursor_is_unwrap(e) &&
            (cursor_is_view(e->call.receiver) || cursor_is_method(e->call.receiver, "get_mut", 1) ||
             cursor_is_method(e->call.receiver, "last_mut", 0)));
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
    if (e->kind == EXPR_ASSIGN && cursor_is(s->k, e->assign.target) &&
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
    } else if (!cursor_mentions_root(k, b->result)) {
        b->result = value_first(k, b->result);
    }
}

/* The name starts at one place and is moved on. */
static bool check_moved(cursor *k, block *b, stmt *s, block *rest) {
    cursor_begin(k);
    cursor_site *first = site_of(k, NULL, s->value);
    if (first != NULL && first->keyed == CURSOR_INDEX && is_simple(first->key)) {
        first->keys = check_printf(k->c, "<keys %u>", k->c->text_count++);
    } else {
        k->broken |= first != NULL && first->keyed != CURSOR_PLAIN;
    }
    if (!k->broken) {
        end_block(k, rest);
        walk_block(k, NULL, rest);
        s->value = copy_of(k, k->sites[0].value);
    }
    if (k->broken) {
        return false;
    }
    cursor_fill(k);
    s->next = cursor_lets(k, rest->first);
    b->result = rest->result;
    return true;
}

/* { <steps>.push(n); place } in every branch. */
static expr *choose(cursor *k, expr *e) {
    if (e->kind == EXPR_IF) {
        expr then = {.kind = EXPR_BLOCK, .block = e->branch.then, .span = e->span};
        e->branch.then = choose(k, &then)->block;
        e->branch.otherwise = choose(k, e->branch.otherwise);
        return e;
    }
    for (uint32_t i = 0; e->kind == EXPR_MATCH && i < e->match.count; i++) {
        match_arm *arm = &e->match.arms[i];
        k->links = linked(k, NULL, arm->pattern, NULL, true);
        arm->body = choose(k, arm->body);
        k->links = NULL;
    }
    if (e->kind == EXPR_MATCH || leaves(e) || (e->kind == EXPR_BLOCK && e->block->result == NULL)) {
        return e;
    }
    if (e->kind == EXPR_BLOCK) {
        e->block->result = choose(k, e->block->result);
        expr *made = check_new(k->c, EXPR_BLOCK, e->span, NULL);
        made->block = e->block;
        return made;
    }
    cursor_site *s = site_of(k, k->links, e);
    if (s == NULL) {
        return e;
    }
    block_builder b = build_block(k->c, e->span);
    expr *value = keep_key(k, s, &b);
    push_step(k, s, &b);
    return build_finish(&b, value);
}

/* let r = if c { &mut a } else { &mut b }: written on a copy, for the case that it cannot be. */
static bool check_chosen(cursor *k, block *b, stmt *s) {
    checker *c = k->c;
    block rest = {.span = b->span, .first = s->next, .result = b->result};
    expr *chosen, whole = {.kind = EXPR_BLOCK, .block = &rest, .span = b->span};
    expr *tail = copy_of(k, &whole);
    chosen = choose(k, copy_of(k, s->value));
    if (!k->broken) {
        end_block(k, tail->block);
        walk_block(k, NULL, tail->block);
    }
    if (k->broken || k->has_steps) {
        return false;
    }
    stmt *let = CHECK_ARRAY(c, stmt, 1);
    *let = *s;
    let->value = chosen;
    let->pattern->binding->is_mutable = true;
    let->next = tail->block->first;
    cursor_fill(k);
    *s = *cursor_lets(k, let);
    b->result = tail->block->result;
    return true;
}

bool check_cursor(checker *c, block *b, stmt *s) {
    bool named = s->kind == STMT_LET && s->pattern->kind == PATTERN_NAME && s->pattern->binding;
    if (!named || s->pattern->binding->name[0] == '<' || s->value == NULL ||
        s->value->type != NULL || s->otherwise != NULL || s->value->is_followed ||
        c->function == NULL) {
        return false;
    }
    cursor k = {.c = c, .name = s->pattern->binding->name, .span = s->span};
    if (check_is_choice(c, s->value, false)) {
        cursor_begin(&k);
        k.is_chosen = true;
        return check_chosen(&k, b, s);
    }
    block rest = {.span = b->span, .first = s->next, .result = b->result};
    expr whole = {.kind = EXPR_BLOCK, .block = &rest};
    move_search moves = {.k = &k};
    bool starts = s->value->kind == EXPR_NAME || is_step(s->value);
    if (starts && s->pattern->binding->is_mutable) {
        expr_each_child(&whole, find_move, &moves);
    }
    return moves.found && check_moved(&k, b, s, &rest);
}
