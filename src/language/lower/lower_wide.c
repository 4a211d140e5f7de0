/* lower_wide.c: a function that reads elements of which nothing says the type is compiled for f32, f64 and i64
 * (check_unstated.c); what is passed says which of them runs.
 *
 *     fn show(x: Tensor, more: Vec<Tensor>) { … }
 *
 *     if x holds f64 or one of more does { return show of the wide(x, more) }
 *     if x holds i64 or one of more does, and none of them f32 or f64 { return show of the whole(x, more) }
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
    tl_dtype dtype;
    ir_value any;   /* 0: nothing may hold it so far */
    ir_value value; /* the leaf: a tensor, or the list in which the tensors lie */
    source_span span;
    uint32_t depth, looks;
    int64_t path[PATH_MAX];
} search;

static void look(search *s) {
    ir_value args[2 + PATH_MAX] = {s->value, lower_int(s->fn, IR_I64, s->dtype, s->span)}, one;
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

/* Whether one of the tensors passed holds elements of that type; 0: there is none that may. */
static ir_value holds(lower_fn *fn, tl_dtype dtype) {
    const function_item *item = fn->item;
    search s = {.fn = fn, .dtype = dtype, .span = item->span};
    uint32_t at = 0;
    for (uint32_t p = 0; p < item->parameter_count; p++) {
        const type *t = item->parameters[p]->type;
        if (lower_leaf_count(fn->l, t) > 0)
            visit(&s, t, fn->f->params + at, 0, NULL);
        at += lower_leaf_count(fn->l, t);
    }
    return s.any;
}

/* Goes on in a block of its own where `condition` does not hold. */
static void pass_on_if(lower_fn *fn, ir_value condition, ir_function *to) {
    ir_block *pass_on = lower_block_new(fn), *body = lower_block_new(fn);
    lower_branch(fn, condition, pass_on, body, fn->item->span);
    lower_enter_block(fn, pass_on);
    lower_pass_on(fn, to, fn->item->span);
    lower_enter_block(fn, body);
}

static void begin_with_whole(lower_fn *fn, ir_function *whole) {
    const source_span span = fn->item->span;
    const ir_value some = holds(fn, TL_I64);
    if (!some)
        return;
    ir_block *found = lower_block_new(fn), *look = lower_block_new(fn), *body = lower_block_new(fn);
    lower_branch(fn, some, look, body, span);
    lower_enter_block(fn, look);
    const ir_value single = holds(fn, TL_F32), real = lower_op2(fn, IR_OR, IR_BOOL, single, holds(fn, TL_F64), span);
    lower_branch(fn, real, body, found, span);
    lower_enter_block(fn, found);
    lower_pass_on(fn, whole, span);
    lower_enter_block(fn, body);
}

void lower_begin_with_copies(lower_fn *fn) {
    const function_item *item = fn->item;
    const function_item *whole = item->whole && !item->whole->is_left_out ? item->whole : NULL;
    ir_value wide = item->wide ? holds(fn, TL_F64) : 0;
    if (wide && fn->l->functions[item->wide->index])
        pass_on_if(fn, wide, fn->l->functions[item->wide->index]);
    if (whole && fn->l->functions[whole->index])
        begin_with_whole(fn, fn->l->functions[whole->index]);
}
