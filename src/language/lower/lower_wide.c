/* lower_wide.c: a function that reads elements of which nothing says the type is compiled twice (check_unstated.c);
 * what is passed says which of the two runs.
 *
 *     fn show(x: Tensor, more: Vec<Tensor>) { … }
 *
 *     if x holds f64 or one of more does { return show of the wide(x, more) }
 *
 * Every tensor in what is passed is looked at: in its fields and variants, in its lists, boxes, Rc and what has a
 * destructor. A type that holds itself is looked at once: what lies deeper says nothing.
 */
#include "language/lower/lowering.h"

enum { PATH_MAX = 8, LOOKS_MAX = 64 };

typedef struct inside { /* the types that are being looked into */
    const struct_item *s;
    const struct inside *outer;
} inside;

typedef struct search {
    lower_fn *fn;
    ir_value any;   /* 0: nothing may hold f64 so far */
    ir_value value; /* the leaf: a tensor, or the list in which the tensors lie */
    source_span span;
    uint32_t depth, looks;
    int64_t path[PATH_MAX];
} search;

static void look(search *s) {
    ir_value args[2 + PATH_MAX] = {s->value, lower_int(s->fn, IR_I64, TL_F64, s->span)}, one;
    if (++s->looks > LOOKS_MAX)
        return;
    for (uint32_t i = 0; i < s->depth; i++)
        args[2 + i] = lower_int(s->fn, IR_I64, s->path[i], s->span);
    if (s->depth > 0) {
        one = lower_abi(s->fn, TL_FN_tl_vec_holds, args, 2 + s->depth, s->span);
    } else {
        ir_value kind = lower_abi(s->fn, TL_FN_tl_tensor_kind, args, 1, s->span);
        one = lower_op2(s->fn, IR_EQ, IR_BOOL, kind, args[1], s->span);
    }
    s->any = !s->any ? one : lower_op2(s->fn, IR_OR, IR_BOOL, s->any, one, s->span);
}

static void visit(search *s, const type *t, const ir_value *leaves, uint32_t word, const inside *outer);

static void visit_list(search *s, const type *element, const inside *outer) {
    if (s->depth == PATH_MAX)
        return;
    s->depth++;
    visit(s, element, NULL, 0, outer);
    s->depth--;
}

/* leaves: where the value's begin; in a list NULL, and `word` is where its words begin in the element. */
static void visit(search *s, const type *t, const ir_value *leaves, uint32_t word, const inside *outer) {
    const struct_item *item = t->kind == TYPE_STRUCT ? t->structure : NULL;
    const inside now = {item, outer};
    for (const inside *o = outer; item && o; o = o->outer)
        if (o->s == item)
            return;
    if (s->depth > 0)
        s->path[s->depth - 1] = word;
    else if (t->kind == TYPE_TENSOR || t->kind == TYPE_VEC || lower_has_cell(t))
        s->value = leaves[word];
    if (t->kind == TYPE_TENSOR && !t->tensor.element)
        look(s);
    else if (t->kind == TYPE_VEC)
        visit_list(s, t->vec.element, outer);
    else if (lower_has_cell(t))
        visit_list(s, lower_inside(t), &now);
    else if (t->kind == TYPE_STRUCT || t->kind == TYPE_TUPLE)
        for (uint32_t i = 0; i < lower_field_count(t); i++)
            visit(s, lower_field_type(t, i), leaves, word + lower_field_offset(s->fn->l, t, i), item ? &now : outer);
}

void lower_begin_with_wide(lower_fn *fn) {
    const function_item *item = fn->item;
    ir_function *wide = fn->l->functions[item->wide->index];
    search s = {.fn = fn, .span = item->span};
    uint32_t at = 0;
    for (uint32_t p = 0; p < item->parameter_count; p++) {
        const type *t = item->parameters[p]->type;
        if (lower_leaf_count(fn->l, t) > 0)
            visit(&s, t, fn->f->params + at, 0, NULL);
        at += lower_leaf_count(fn->l, t);
    }
    if (!s.any || !wide)
        return;
    ir_block *pass_on = lower_block_new(fn), *body = lower_block_new(fn);
    lower_branch(fn, s.any, pass_on, body, item->span);
    lower_enter_block(fn, pass_on);
    lower_pass_on(fn, wide, item->span);
    lower_enter_block(fn, body);
}
