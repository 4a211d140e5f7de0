/* check_cursor_back.c: how what a cursor left behind is put together again, for check_cursor.c.
 *
 *     while <steps>.len() > 0 {
 *         let <site> = <steps>.pop();
 *         if <site> == 0 { self.head = cur; }
 *         else if <site> == 1 { <next> = <above>.pop(); match &mut <next> { Some(node) => { node.next = cur; } _ => {} } cur = <next>; }
 *     }
 */
#include <string.h>

#include "language/front/check_cursor.h"

static expr *name_of(cursor *k, const char *name) {
    return check_new_name(k->c, k->span, name);
}

static expr *copy_of(cursor *k, const expr *e) {
    expr *copy = expr_copy(k->c->arena, e);
    if (copy == NULL) {
        check_out_of_memory(k->c);
    }
    return copy;
}

static expr *number(cursor *k, uint64_t n) {
    expr *e = check_new(k->c, EXPR_INT, k->span, NULL);
    e->integer.value = n;
    e->integer.suffix = TYPE_VOID;
    return e;
}

void cursor_begin(cursor *k) {
    uint32_t n = k->c->text_count++;
    k->steps = check_printf(k->c, "<steps %u>", n);
    k->above = check_printf(k->c, "<above %u>", n);
    k->next = check_printf(k->c, "<next %u>", n);
}

expr *cursor_put_back(cursor *k) {
    checker *c = k->c;
    block_builder b = build_block(c, k->span);
    expr *e = build_finish(&b, NULL);
    e->is_put_back = true;
    CHECK_PUSH(c, k->put_backs, k->put_back_count, k->put_back_capacity, e);
    return e;
}

/* ---- one site ------------------------------------------------------------------------------------------ */

/* What e is a part of; NULL: of nothing. */
static expr *whole_of(const expr *e) {
    switch (e->kind) {
    case EXPR_FIELD:
    case EXPR_TUPLE_FIELD:
        return e->field.base;
    case EXPR_INDEX:
        return e->index.base;
    case EXPR_UNARY:
        return e->unary.operand;
    case EXPR_METHOD:
        return e->call.receiver;
    default:
        return NULL;
    }
}

static expr *first_name_of(expr *e) {
    for (expr *whole; (whole = whole_of(e)) != NULL;) {
        e = whole;
    }
    return e;
}

/* x.unwrap() of a place is a place where it is seen as one. */
static void view_places(cursor *k, expr *e) {
    for (; e != NULL; e = whole_of(e)) {
        bool unwrap = e->kind == EXPR_METHOD && strcmp(e->call.name, "unwrap") == 0;
        if (unwrap && e->call.receiver->kind != EXPR_METHOD) {
            e->call.receiver = build_method(k->c, k->span, e->call.receiver, "as_mut", NULL, 0);
        }
    }
}

/* Statement `inner` where value was held against the link's pattern. */
static expr *within(cursor *k, const cursor_link *link, expr *value, expr *inner) {
    checker *c = k->c;
    expr *e = check_new(c, EXPR_MATCH, k->span, NULL), pattern_holder = {.kind = EXPR_MATCH};
    match_arm arm = {.pattern = link->pattern, .body = inner};
    pattern_holder.match.arms = &arm;
    pattern_holder.match.count = 1;
    pattern_holder.match.value = value;
    block_builder nothing = build_block(c, k->span);
    pattern *any = CHECK_ARRAY(c, pattern, 1);
    *any = (pattern){.span = k->span, .kind = PATTERN_WILDCARD};
    expr *copy = copy_of(k, &pattern_holder);
    if (value->kind == EXPR_NAME) {
        expr *reference = check_new(c, EXPR_UNARY, k->span, NULL);
        reference->unary.op = UNARY_REFERENCE;
        reference->unary.is_mutable = true;
        reference->unary.operand = copy->match.value;
        copy->match.value = reference;
    }
    e->match.value = copy->match.value;
    e->match.is_let = true;
    e->match.count = 2;
    e->match.arms = CHECK_ARRAY(c, match_arm, 2);
    e->match.arms[0] = copy->match.arms[0];
    e->match.arms[1] = (match_arm){.pattern = any, .body = build_finish(&nothing, NULL)};
    return e;
}

/* The parts between the cursor's value above, <next>, and the place: what each first name means, outwards. */
static expr *reach(cursor *k, const cursor_link *links, expr **path, expr *statement) {
    view_places(k, *path);
    expr *name = first_name_of(*path);
    const cursor_link *link = cursor_link_of(links, name->name.name);
    if (link == NULL) {
        name->name.name = k->next;
        return statement;
    }
    expr *value = copy_of(k, link->value);
    if (!link->is_pattern) { /* let name = value: the same place */
        while (value->kind == EXPR_UNARY) {
            value = value->unary.operand;
        }
        *name = *value;
        return reach(k, link->outer, path, statement);
    }
    expr *outside = value;
    bool plain = outside->kind == EXPR_NAME;
    name->is_followed = true;
    if (plain && cursor_link_of(link->outer, outside->name.name) == NULL) {
        outside->name.name = k->next;
        return within(k, link, outside, statement);
    }
    expr *around = within(k, link, outside, statement);
    return reach(k, link->outer, &around->match.value, around);
}

static expr *some_of(cursor *k, expr *e) {
    return build_call(k->c, k->span, NULL, "Some", &e, 1);
}

static expr *store(cursor *k, const cursor_site *s, expr **path) {
    checker *c = k->c;
    expr *value = cursor_name(k);
    *path = copy_of(k, s->path);
    if (s->is_content) {
        value = some_of(k, value);
    }
    if (s->keyed == CURSOR_PLAIN) {
        expr *e = build_assign(c, k->span, *path, value);
        e->assign.target->is_followed |= s->path->kind == EXPR_NAME;
        return e;
    }
    expr *key = build_method(c, k->span, name_of(k, s->keys), "__pop", NULL, 0);
    if (s->keyed == CURSOR_INDEX) {
        expr *index = check_new(c, EXPR_INDEX, k->span, NULL);
        index->index.base = *path;
        index->index.indices = CHECK_ARRAY(c, expr *, 1);
        index->index.indices[0] = key;
        index->index.count = 1;
        *path = index;
        return build_assign(c, k->span, index, value);
    }
    expr *args[2] = {key, value}, *insert = build_method(c, k->span, *path, "insert", args, 2);
    *path = insert;
    return insert;
}

static expr *put_site(cursor *k, const cursor_site *s) {
    checker *c = k->c;
    block_builder b = build_block(c, k->span);
    expr *path = NULL, *statement = store(k, s, &path);
    if (s->is_root) {
        view_places(k, path);
        build_stmt(&b, statement);
        return build_finish(&b, NULL);
    }
    expr *above = build_method(c, k->span, name_of(k, k->above), "__pop", NULL, 0);
    build_stmt(&b, build_assign(c, k->span, name_of(k, k->next), above));
    expr **target = statement->kind == EXPR_ASSIGN   ? &statement->assign.target
                    : statement->kind == EXPR_METHOD ? &statement->call.receiver
                                                     : &statement;
    build_stmt(&b, reach(k, s->links, target, statement));
    build_stmt(&b, build_assign(c, k->span, cursor_name(k), name_of(k, k->next)));
    return build_finish(&b, NULL);
}

/* ---- all of them --------------------------------------------------------------------------------------- */

static expr *put_all(cursor *k) {
    checker *c = k->c;
    char *site = check_printf(c, "<site %u>", c->text_count++);
    block_builder body = build_block(c, k->span);
    build_let(&body, site, false, build_method(c, k->span, name_of(k, k->steps), "__pop", NULL, 0));
    expr *choice = NULL;
    for (uint32_t i = k->site_count; i-- > 0;) {
        expr *one = put_site(k, &k->sites[i]);
        if (choice == NULL) {
            choice = one;
            continue;
        }
        expr *branch = check_new(c, EXPR_IF, k->span, NULL);
        branch->branch.condition =
            check_new_binary(c, BINARY_EQ, name_of(k, site), number(k, i), NULL);
        branch->branch.then = one->block;
        branch->branch.otherwise = choice;
        choice = branch;
    }
    build_stmt(&body, choice);
    expr *loop = check_new(c, EXPR_WHILE, k->span, NULL);
    loop->loop = CHECK_ARRAY(c, loop_expr, 1);
    loop->loop->body = body.block;
    loop->loop->condition = check_new_binary(
        c, BINARY_GT, build_method(c, k->span, name_of(k, k->steps), "len", NULL, 0), number(k, 0),
        NULL);
    return loop;
}

void cursor_fill(cursor *k) {
    for (uint32_t i = 0; i < k->put_back_count; i++) {
        block_builder b = {.c = k->c, .block = k->put_backs[i]->block, .span = k->span};
        build_stmt(&b, put_all(k));
    }
}

static expr *list_of(cursor *k, expr *item) {
    expr *list = check_new(k->c, EXPR_ARRAY, k->span, NULL);
    list->is_vec = true;
    list->list.items = CHECK_ARRAY(k->c, expr *, 1);
    list->list.items[0] = item;
    list->list.count = 1;
    return list;
}

stmt *cursor_lets(cursor *k, stmt *rest) {
    checker *c = k->c;
    block_builder b = build_block(c, k->span);
    expr *none = build_call(c, k->span, "Vec", "new", NULL, 0);
    build_let(&b, k->steps, true, k->is_chosen ? none : list_of(k, number(k, 0)));
    if (k->has_steps) {
        build_let(&b, k->next, true, name_of(k, k->name));
        build_let(&b, k->above, true, build_call(c, k->span, "Vec", "new", NULL, 0));
    }
    for (uint32_t i = 0; i < k->site_count; i++) {
        if (k->sites[i].keys != NULL) {
            build_let(&b, k->sites[i].keys, true,
                      i == 0 && !k->is_chosen ? list_of(k, copy_of(k, k->sites[i].key))
                                              : build_call(c, k->span, "Vec", "new", NULL, 0));
        }
    }
    b.last->next = rest;
    return b.block->first;
}
