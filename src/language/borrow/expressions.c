/* expressions.c: expressions and statements of a function as a graph. */
#include <ctype.h>
#include <string.h>

#include "language/borrow/builder.h"
#include "language/library/library.h"

/* ---- blocks ---------------------------------------------------------------------------------------- */

void borrow_go_to(builder *b, uint32_t block) {
    graph_edge(&b->g, b->at, block);
}

void borrow_start_block(builder *b, uint32_t block) {
    b->at = block;
}

static void after_jump(builder *b) {
    b->at = graph_new_block(&b->g);
}

/* ---- small helpers ------------------------------------------------------------------------------------ */

value build_taken(builder *b, expr *e) {
    value v = build_expr(b, e);
    borrow_mark_taken(b, v, e->span);
    return borrow_take_value(b, v, e->span);
}

void build_look(builder *b, expr *e) {
    borrow_mark(b, e->span, MARK_LOOKED);
    borrow_look_at_value(b, build_expr(b, e), e->span);
}

static void look_at_child(expr *e, void *context) {
    build_look(context, e);
}

/* A value with the loans of several; its sort is the first known one. */
static void join_into(builder *b, value *joined, value v, source_span span) {
    if (joined->sort->kind == SORT_UNKNOWN || (!sort_holds(joined->sort) && sort_holds(v.sort)))
        joined->sort = v.sort;
    b->g.variables[joined->held].sort = joined->sort;
    if (sort_holds(v.sort))
        borrow_flow(b, joined->held, v.held, span);
}

value borrow_new_join(builder *b, source_span span) {
    value v = borrow_plain_value(&sort_unknown);
    v.held = borrow_new_temporary(b, span, v.sort);
    graph_event(&b->g, b->at, (event){.kind = EVENT_CLEAR, .into = v.held, .span = span});
    return v;
}

/* ---- places --------------------------------------------------------------------------------------------- */

static value build_field(builder *b, expr *e) {
    borrow_mark(b, e->field.base->span, MARK_LOOKED);
    value base = borrow_follow(b, build_expr(b, e->field.base), e->span);
    const char *name = e->kind == EXPR_TUPLE_FIELD ? masu__arena_printf(b->g.arena, "%u", e->field.index)
                                                   : e->field.name;
    if (name == NULL)
        longjmp(*b->g.memory_ended, 1);
    const sort *s = base.sort->kind == SORT_TUPLE && e->field.index < base.sort->count && e->kind == EXPR_TUPLE_FIELD
                        ? base.sort->parts[e->field.index]
                        : sort_field(b, base.sort, name);
    return borrow_step_to(b, base, (step){.kind = STEP_FIELD, .name = name}, s, e->span);
}

static value build_index(builder *b, expr *e) {
    borrow_mark(b, e->index.base->span, MARK_LOOKED);
    value base = build_expr(b, e->index.base);
    step s = {.kind = STEP_ANY};
    bool part = false;
    for (uint32_t i = 0; i < e->index.count; i++) {
        expr *at = e->index.indices[i];
        part |= at->kind == EXPR_RANGE;
        build_look(b, at);
        if (at->kind == EXPR_INT && e->index.count == 1)
            s = (step){.kind = STEP_NUMBER, .number = at->integer.value};
    }
    base = borrow_follow(b, base, e->span);
    if (base.sort->type != NULL && base.sort->type->kind == TYPE_STRUCT) /* what its Index makes of it is not known */
        s = (step){.kind = STEP_ANY};
    return borrow_step_to(b, base, s, part ? base.sort : sort_element(b, base.sort), e->span);
}

static value build_name(builder *b, expr *e) {
    uint32_t v = e->name.scope == NULL ? borrow_find_name(b, e->name.name) : NO_VARIABLE;
    if (v == NO_VARIABLE)
        return borrow_plain_value(&sort_value);
    value made = borrow_plain_value(b->g.variables[v].sort);
    made.place = borrow_place_of_variable(b, v);
    return made;
}

/* ---- compound values -------------------------------------------------------------------------------------- */

static value build_tuple(builder *b, expr *e) {
    uint32_t n = e->list.count;
    value *parts = GRAPH_ARRAY(&b->g, value, n + 1);
    sort *s = GRAPH_ARRAY(&b->g, sort, 1);
    *s = (sort){.kind = SORT_TUPLE, .count = n};
    s->parts = GRAPH_ARRAY(&b->g, const sort *, n + 1);
    for (uint32_t i = 0; i < n; i++) {
        parts[i] = build_taken(b, e->list.items[i]);
        s->parts[i] = parts[i].sort;
    }
    value made = borrow_plain_value(n == 0 ? &sort_value : s);
    made.parts = parts;
    made.part_count = n;
    if (sort_holds(made.sort)) {
        made.held = borrow_new_temporary(b, e->span, made.sort);
        for (uint32_t i = 0; i < n; i++)
            borrow_flow(b, made.held, parts[i].held, e->span);
    }
    return made;
}

static value build_list(builder *b, expr *e) {
    value all = borrow_new_join(b, e->span);
    for (uint32_t i = 0; i < e->list.count; i++)
        join_into(b, &all, build_taken(b, e->list.items[i]), e->span);
    all.sort = sort_holds(all.sort) || e->list.count == 0 ? sort_holder(b, all.sort, false) : &sort_value;
    b->g.variables[all.held].sort = all.sort;
    return all;
}

static bool is_given(const struct_expr *s, const char *field) {
    for (uint32_t i = 0; i < s->init_count; i++)
        if (strcmp(s->inits[i].name, field) == 0)
            return true;
    return false;
}

/* ..base: the fields that are not given are taken out of it. */
static void build_base(builder *b, expr *e) {
    expr *base = e->structure.base;
    value v = build_expr(b, base);
    const struct_item *s = v.sort->type != NULL && v.sort->type->kind == TYPE_STRUCT ? v.sort->type->structure : NULL;
    if (v.place == NULL || s == NULL) {
        borrow_mark(b, base->span, MARK_LOOKED);
        borrow_look_at_value(b, v, base->span);
        return;
    }
    v = borrow_follow(b, v, base->span);
    for (uint32_t i = 0; i < s->field_count; i++) {
        const char *name = s->fields[i].name;
        if (is_given(&e->structure, name))
            continue;
        value part = borrow_step_to(b, v, (step){.kind = STEP_FIELD, .name = name}, sort_field(b, v.sort, name),
                                    base->span);
        borrow_mark_taken(b, part, base->span);
        borrow_take_value(b, part, base->span);
    }
}

static value build_struct(builder *b, expr *e) {
    const struct_item *s = borrow_struct_named(b, e->structure.name);
    value all = borrow_new_join(b, e->span);
    bool holds = false;
    for (uint32_t i = 0; i < e->structure.init_count; i++) {
        value v = build_taken(b, e->structure.inits[i].value);
        holds |= sort_holds(v.sort);
        join_into(b, &all, v, e->span);
    }
    if (e->structure.base != NULL)
        build_base(b, e);
    sort *made = GRAPH_ARRAY(&b->g, sort, 1);
    bool says = s != NULL && borrow_struct_is_view(b, s); /* so it may come to hold some later */
    bool view = says || (holds && (s == NULL || !borrow_refers_to_nothing(b, s)));
    *made = (sort){.kind = view ? SORT_VIEW : SORT_VALUE,
                   .is_mutable = view,
                   .type = s == NULL || s->generics.count > 0 ? NULL : s->type};
    all.sort = view && made->type != NULL ? sort_of_type(b, made->type) : made;
    b->g.variables[all.held].sort = all.sort;
    return all;
}

static bool is_pointer(const char *name) {
    const char *last = name == NULL ? NULL : strrchr(name, ':');
    last = last == NULL ? name : last + 1;
    return library_says(LIBRARY_pointer, last);
}

/* let x = Rc::new(y); let x: Box<T> = …; of those `move` takes all. */
static void mark_pointer(builder *b, const stmt *s) {
    const expr *callee = s->value->kind == EXPR_CALL ? s->value->call.callee : NULL;
    bool made = callee != NULL && callee->kind == EXPR_NAME && is_pointer(callee->name.scope);
    bool written = s->annotation != NULL && s->annotation->kind == TYPE_EXPR_NAME && is_pointer(s->annotation->name);
    if ((made || written) && s->pattern->kind == PATTERN_NAME && s->pattern->binding != NULL)
        borrow_mark(b, s->pattern->binding->span, MARK_POINTER);
}

/* ---- branches ---------------------------------------------------------------------------------------------- */

/* let [a, b] = v; of an array the parts are its own, of what only lends its elements they are references. */
static value part_of_list(builder *b, const stmt *s, value v) {
    bool copied = v.sort->kind == SORT_VALUE && sort_is_copied(b, v.sort);
    if (v.place == NULL || copied || s->pattern->kind != PATTERN_NAME)
        return v;
    const sort *list = b->g.variables[v.place->root].sort;
    const type *t = list->kind == SORT_VALUE ? list->type : NULL;
    if (list->kind == SORT_REFERENCE)
        return borrow_refer_to(b, v, list->is_mutable, s->span);
    if (t == NULL || t->kind != TYPE_VEC || t->vec.length < 0)
        return v;
    borrow_mark(b, s->pattern->binding->span, MARK_TAKEN);
    borrow_touch(b, v.place, TOUCH_READ, s->span, NULL);
    return borrow_plain_value(v.sort);
}

/* Of `let x: T = …`: the check says it of the name, of an instance as of any other type. */
static const type *stated_type(const builder *b, const stmt *s) {
    const bool named = s->annotation->type == NULL && s->pattern->kind == PATTERN_NAME && s->pattern->binding != NULL;
    return named ? borrow_known_type_at(b, s->pattern->binding->span) : s->annotation->type;
}

value build_block_value(builder *b, block *body) {
    uint32_t names = b->name_count;
    for (stmt *s = body->first; s != NULL; s = s->next) {
        if (s->kind == STMT_EXPR) {
            value v = build_expr(b, s->value);
            if (v.place != NULL && s->value->kind != EXPR_NAME)
                borrow_touch(b, v.place, TOUCH_READ, s->span, NULL);
            continue;
        }
        if (s->value == NULL) { /* let x; */
            const sort *later = s->annotation == NULL ? &sort_unknown
                                                      : sort_of_written(b, s->annotation, s->annotation->type);
            borrow_bind_pattern(b, s->pattern, borrow_plain_value(later));
            continue;
        }
        value v = build_expr(b, s->value);
        mark_pointer(b, s);
        if (s->value->kind == EXPR_UNARY && s->value->unary.op == UNARY_REFERENCE && v.place == NULL &&
            v.held == NO_VARIABLE && s->pattern->kind == PATTERN_NAME && s->pattern->binding != NULL)
            borrow_mark(b, s->pattern->binding->span, MARK_EXTENDED);
        if (s->annotation != NULL) {
            borrow_mark_taken(b, v, s->value->span);
            v = borrow_take_value(b, v, s->value->span);
            const sort *written = sort_of_written(b, s->annotation, stated_type(b, s));
            bool open = written->kind == SORT_UNKNOWN ||
                        (written->kind == SORT_HOLDER && written->item->kind == SORT_UNKNOWN);
            v.sort = open ? v.sort : written;
            v.parts = NULL;
        }
        if (s->otherwise != NULL) {
            uint32_t fits = graph_new_block(&b->g), other = graph_new_block(&b->g);
            borrow_go_to(b, fits);
            borrow_go_to(b, other);
            borrow_start_block(b, other);
            build_block_value(b, s->otherwise);
            borrow_start_block(b, fits);
        }
        borrow_bind_pattern(b, s->pattern, s->is_part ? part_of_list(b, s, v) : v);
    }
    value result = borrow_plain_value(&sort_value);
    if (body->result != NULL)
        result = build_taken(b, body->result);
    borrow_leave_names(b, names, body->span, true);
    return result;
}

static value build_if(builder *b, expr *e) {
    build_look(b, e->branch.condition);
    uint32_t then = graph_new_block(&b->g), otherwise = graph_new_block(&b->g), end = graph_new_block(&b->g);
    value joined = borrow_new_join(b, e->span);
    borrow_go_to(b, then);
    borrow_go_to(b, otherwise);
    borrow_start_block(b, then);
    join_into(b, &joined, build_block_value(b, e->branch.then), e->span);
    borrow_go_to(b, end);
    borrow_start_block(b, otherwise);
    if (e->branch.otherwise != NULL)
        join_into(b, &joined, build_taken(b, e->branch.otherwise), e->span);
    borrow_go_to(b, end);
    borrow_start_block(b, end);
    return joined;
}

static value build_match(builder *b, expr *e) {
    value v = build_expr(b, e->match.value);
    if (v.place != NULL)
        borrow_touch(b, v.place, TOUCH_READ, e->match.value->span, NULL);
    value joined = borrow_new_join(b, e->span);
    uint32_t end = graph_new_block(&b->g), next = b->at;
    for (uint32_t i = 0; i < e->match.count; i++) {
        match_arm *arm = &e->match.arms[i];
        uint32_t body = graph_new_block(&b->g), names = b->name_count;
        graph_edge(&b->g, next, body);
        borrow_start_block(b, body);
        borrow_bind_pattern(b, arm->pattern, v);
        if (arm->guard != NULL) {
            build_look(b, arm->guard);
            next = b->at;
            uint32_t taken = graph_new_block(&b->g);
            borrow_go_to(b, taken);
            borrow_start_block(b, taken);
        }
        if (arm->body != NULL)
            join_into(b, &joined, build_taken(b, arm->body), e->span);
        borrow_leave_names(b, names, arm->body == NULL ? e->span : arm->body->span, true);
        borrow_go_to(b, end);
    }
    if (e->match.count == 0)
        borrow_go_to(b, end);
    borrow_start_block(b, end);
    return joined;
}

/* ---- loops ----------------------------------------------------------------------------------------------- */

/* Each time round the loop yields another item: what referred to parts of the last one does not refer to this. */
static value item_of_its_own(builder *b, value item, source_span span) {
    if (!borrow_is_lent(item.sort))
        return item;
    uint32_t made = borrow_declare_name(b, "<item>", span, item.sort);
    graph_event(&b->g, b->at, (event){.kind = EVENT_CLEAR, .into = made, .span = span});
    borrow_flow(b, made, item.held, span);
    return (value){.sort = item.sort, .place = borrow_place_of_variable(b, made), .held = NO_VARIABLE};
}

static value build_body(builder *b, expr *e, uint32_t again, uint32_t end, uint32_t names, const pattern *p,
                        value item) {
    value joined = borrow_new_join(b, e->span);
    jump_frame frame = {.label = e->loop->label,
                        .is_block = e->loop->is_block,
                        .end = end,
                        .again = again,
                        .result = joined.held,
                        .names = names,
                        .outer = b->jumps};
    b->jumps = &frame;
    if (p != NULL)
        borrow_bind_pattern(b, p, p->kind == PATTERN_NAME ? item : item_of_its_own(b, item, p->span));
    build_block_value(b, e->loop->body);
    borrow_leave_names(b, names, e->loop->body->span, true);
    borrow_go_to(b, again);
    b->jumps = frame.outer;
    borrow_start_block(b, end);
    joined.sort = b->g.variables[joined.held].sort;
    return joined;
}

/* The source of a `for`, and what it yields. */
static value build_source(builder *b, expr *e) {
    value v = build_expr(b, e);
    if (v.place != NULL) {
        borrow_mark_taken(b, v, e->span);
        v = borrow_take_value(b, v, e->span);
    }
    const sort *s = v.sort;
    uint32_t it = graph_new_variable(&b->g, NULL, e->span, s);
    b->g.variables[it].is_loop = true;
    graph_event(&b->g, b->at, (event){.kind = EVENT_CLEAR, .into = it, .span = e->span});
    borrow_flow(b, it, v.held, e->span);
    const sort *item = s->kind == SORT_REFERENCE ? sort_reference(b, sort_element(b, s->item), s->is_mutable)
                       : s->kind == SORT_HOLDER  ? s->item
                                                 : sort_element(b, s);
    if (borrow_is_lent(item))
        borrow_mark(b, e->span, MARK_RUN_OVER);
    return (value){.sort = item, .held = s->is_behind ? graph_behind(&b->g, it, 1) : it};
}

static value build_loop(builder *b, expr *e) {
    uint32_t again = graph_new_block(&b->g), body = graph_new_block(&b->g), end = graph_new_block(&b->g),
             names = b->name_count;
    value item = borrow_plain_value(&sort_unknown);
    if (e->kind == EXPR_FOR)
        item = build_source(b, e->loop->iterable);
    borrow_go_to(b, again);
    borrow_start_block(b, again);
    if (e->kind == EXPR_FOR)
        borrow_use(b, b->g.variables[item.held].owner, e->loop->iterable->span);
    else if (e->loop->condition != NULL)
        build_look(b, e->loop->condition);
    borrow_go_to(b, body);
    if (e->kind != EXPR_LOOP)
        borrow_go_to(b, end);
    borrow_start_block(b, body);
    return build_body(b, e, again, end, names, e->kind == EXPR_FOR ? e->loop->pattern : NULL, item);
}

static const jump_frame *frame_of(const builder *b, const expr *e) {
    const jump_frame *f = b->jumps;
    for (; f != NULL; f = f->outer) {
        bool meant = e->kind == EXPR_RETURN  ? f->is_closure
                     : e->jump.label != NULL ? f->label != NULL && strcmp(f->label, e->jump.label) == 0
                                             : !f->is_block && !f->is_closure;
        if (meant)
            return f;
        if (f->is_closure)
            return NULL;
    }
    return NULL;
}

static void give_result(builder *b, uint32_t into, value v, source_span span) {
    if (into == NO_VARIABLE || !sort_holds(v.sort))
        return;
    if (!sort_holds(b->g.variables[into].sort))
        b->g.variables[into].sort = v.sort;
    v = borrow_coerce(b, v, b->g.variables[into].sort);
    borrow_flow(b, into, v.held, span);
}

static value build_jump(builder *b, expr *e) {
    value v = e->jump.value == NULL ? borrow_plain_value(&sort_value) : build_taken(b, e->jump.value);
    const jump_frame *f = frame_of(b, e);
    if (f != NULL) {
        give_result(b, f->result, v, e->span);
        borrow_leave_names(b, f->names, e->span, false);
        borrow_go_to(b, e->kind == EXPR_CONTINUE ? f->again : f->end);
    } else if (e->kind == EXPR_RETURN) {
        give_result(b, b->result, v, e->span);
        borrow_leave_names(b, 0, e->span, false);
        borrow_go_to(b, b->end);
    }
    after_jump(b);
    return borrow_plain_value(&sort_unknown);
}

/* ---- the rest -------------------------------------------------------------------------------------------- */

static value build_assign(builder *b, expr *e) {
    bool updates = e->assign.op != BINARY_NONE;
    value from = updates ? build_expr(b, e->assign.value) : build_taken(b, e->assign.value);
    if (updates) {
        borrow_look_at_value(b, from, e->assign.value->span);
        from = borrow_plain_value(&sort_value);
    }
    if (e->assign.target->kind == EXPR_TUPLE) { /* (a, b) = v */
        for (uint32_t i = 0; i < e->assign.target->list.count; i++) {
            value part = from.parts != NULL && i < from.part_count ? from.parts[i] : borrow_plain_value(&sort_value);
            borrow_write_to(b, build_expr(b, e->assign.target->list.items[i]), part, e->span);
        }
        return borrow_plain_value(&sort_value);
    }
    value target = build_expr(b, e->assign.target);
    if (updates)
        target = borrow_follow(b, target, e->span);
    borrow_write_to(b, target, from, e->span);
    return borrow_plain_value(&sort_value);
}

static value build_binary(builder *b, expr *e) {
    build_look(b, e->binary.left);
    if (e->binary.op == BINARY_AND || e->binary.op == BINARY_OR) {
        uint32_t right = graph_new_block(&b->g), end = graph_new_block(&b->g);
        borrow_go_to(b, right);
        borrow_go_to(b, end);
        borrow_start_block(b, right);
        build_look(b, e->binary.right);
        borrow_go_to(b, end);
        borrow_start_block(b, end);
    } else {
        build_look(b, e->binary.right);
    }
    return borrow_plain_value(&sort_value);
}

static value build_unary(builder *b, expr *e) {
    if (e->unary.op != UNARY_REFERENCE) {
        build_look(b, e->unary.operand);
        return borrow_plain_value(&sort_value);
    }
    borrow_mark(b, e->unary.operand->span, MARK_LOOKED);
    return borrow_refer_to(b, build_expr(b, e->unary.operand), e->unary.is_mutable, e->span);
}

static value build_try(builder *b, expr *e) {
    value v = build_taken(b, e->attempt.operand);
    v.sort = v.sort->kind == SORT_HOLDER ? v.sort->item : sort_element(b, v.sort);
    return v;
}

/* `&x as &dyn T` refers to what &x does; between numbers nothing is lent. */
static value build_cast(builder *b, expr *e) {
    value v = build_taken(b, e->cast.operand);
    const sort *s = sort_of_written(b, e->cast.target, e->cast.target->type);
    if (s->kind != SORT_UNKNOWN && sort_holds(s))
        v.sort = s;
    return sort_holds(v.sort) ? v : borrow_plain_value(s);
}

static value build_plain(builder *b, expr *e) {
    switch (e->kind) {
    case EXPR_NAME:
        return build_name(b, e);
    case EXPR_STRING:
        return borrow_plain_value(&sort_text);
    case EXPR_FIELD:
    case EXPR_TUPLE_FIELD:
        return build_field(b, e);
    case EXPR_INDEX:
        return build_index(b, e);
    case EXPR_UNARY:
        return build_unary(b, e);
    case EXPR_CAST:
        return build_cast(b, e);
    case EXPR_BINARY:
        return build_binary(b, e);
    case EXPR_CALL:
        return build_call_value(b, e);
    case EXPR_METHOD:
        return build_method_value(b, e);
    case EXPR_TUPLE:
        return build_tuple(b, e);
    case EXPR_ARRAY:
        return build_list(b, e);
    case EXPR_STRUCT:
        return build_struct(b, e);
    case EXPR_BLOCK:
        return build_block_value(b, e->block);
    case EXPR_IF:
        return build_if(b, e);
    case EXPR_MATCH:
        return build_match(b, e);
    case EXPR_WHILE:
    case EXPR_LOOP:
    case EXPR_FOR:
        return build_loop(b, e);
    case EXPR_BREAK:
    case EXPR_CONTINUE:
    case EXPR_RETURN:
        return build_jump(b, e);
    case EXPR_ASSIGN:
        return build_assign(b, e);
    case EXPR_TRY:
        return build_try(b, e);
    case EXPR_CLOSURE:
        return build_closure_value(b, e);
    default:
        expr_each_child(e, look_at_child, b);
        return borrow_plain_value(&sort_value);
    }
}

value build_expr(builder *b, expr *e) {
    value v = build_plain(b, e);
    if (e->is_followed)
        borrow_mark(b, e->span, MARK_LOOKED);
    if (e->is_followed && v.sort->kind == SORT_REFERENCE)
        v = borrow_follow(b, v, e->span);
    return v;
}
