/* check_infer_answer.c: the walk of a function's body (check_infer.c), what is preferred where nothing was demanded,
 * and the answers, written into the brackets, indices and pairs.
 */
#include <string.h>

#include "language/front/check_infer.h"
#include "language/front/check_tensor.h"
#include "language/types/check_dyn_types.h"
#include "language/types/check_instances.h"
#include "language/types/check_scopes.h"

/* ---- the whole --------------------------------------------------------------------------------- */

/* Tensors keep f32, f64, i64 and bool. */
static bool tensors_keep(const type *t) {
    return t->kind == TYPE_OPEN || type_is_open_number(t) || type_is_float(t) || t->kind == TYPE_I64 ||
           t->kind == TYPE_BOOL || t->kind == TYPE_TENSOR || type_is_silent(t);
}

static void prefer_lists(inference *n) {
    for (uint32_t i = 0; i < n->form_count; i++) { /* what is inside comes first */
        open_form *f = n->forms[i];
        if (f->kind != FORM_BRACKET || f->e->kind == EXPR_COMPREHENSION ||
            type_resolve(n->c->types, f->open)->kind != TYPE_OPEN)
            continue;
        const type *element = infer_value(n, f->element);
        open_form *now = infer_value(n, f->open)->open.form;
        now->prefers_list |= !tensors_keep(element) || (infer_is_bracket(element) && element->open.form->prefers_list);
        if (now->prefers_list) {
            n->at = f->because = f->e->span;
            infer_same(n, now->open, type_vec(n->c->types, infer_open(n)));
        }
    }
    for (uint32_t i = n->form_count; i-- > 0;) { /* and what is inside of a list of them is one */
        const open_form *f = n->forms[i];
        const type *t = infer_value(n, f->open);
        if (f->kind == FORM_BRACKET && t->kind == TYPE_VEC && infer_is_bracket(infer_value(n, t->vec.element)))
            infer_same(n, t->vec.element, type_vec(n->c->types, infer_open(n)));
    }
}

/* An element beside a tensor is one, for its history's sake, where the program asks for gradients; any other is a
 * number. A row that is shown is shown as what it is when the program runs. */
static void settle_row(inference *n, const open_form *f, const type *t, bool differentiates) {
    const open_form *now = t->open.form;
    n->at = f->e->span;
    if ((now->prefers_tensor && !now->is_literal && differentiates) ||
        (now->is_shown && !now->is_element && !now->has_literal))
        infer_tensor(n, t);
    else if (now->is_element)
        infer_same(n, t, now->element);
}

static void settle_rows(inference *n) {
    const struct_item *tensor = n->c->instances->builtin_owners[TYPE_TENSOR];
    bool differentiates = tensor != NULL && names_find_method(n->c->names, tensor, "__differentiates") != NULL;
    for (uint32_t i = 0; i < n->form_count; i++) {
        const open_form *f = n->forms[i];
        const type *t = infer_value(n, f->open);
        if (f->kind == FORM_ROW && infer_is_row(t))
            f->e->is_shown = t->open.form->is_shown && !(t->open.form->prefers_tensor && differentiates);
    }
    for (uint32_t i = 0; i < n->form_count; i++) {
        const open_form *f = n->forms[i];
        const type *t = infer_value(n, f->open);
        if (f->kind == FORM_ROW && infer_is_row(t))
            settle_row(n, f, t, differentiates);
    }
}

/* A list of what will turn out to be in it: the numbers of this walk are not those of the check. */
static const type *list_like(inference *n, const open_form *f, const type *t) {
    if (f->e->kind != EXPR_ARRAY)
        return type_vec(n->c->types, type_open(n->c->types, NULL));
    const type *element = infer_value(n, t->vec.element);
    bool nested = element->kind == TYPE_VEC && f->e->list.count > 0 && f->e->list.items[0]->kind == EXPR_ARRAY &&
                  !f->e->list.items[0]->is_vec;
    const type *held = nested ? f->e->list.items[0]->becomes : NULL;
    int64_t length = f->grows || f->e->list.count == 0 ? -1 : (int64_t)f->e->list.count;
    return type_array(n->c->types, held != NULL ? held : type_open(n->c->types, NULL), length);
}

static const type *tensor_like(inference *n, const open_form *f) {
    const type *element = infer_value(n, f->element);
    while (element->kind == TYPE_OPEN && infer_is_bracket(element))
        element = infer_value(n, element->open.form->element);
    bool wide = element->kind == TYPE_F64 && !type_is_open_number(element);
    return type_tensor(n->c->types, wide ? element : NULL, -1);
}

static const type *number_like(inference *n, const type *element) {
    bool wide = element->kind == TYPE_F64 && !type_is_open_number(element);
    return type_tensor(n->c->types, check_scalar(n->c, wide ? TYPE_F64 : TYPE_F32), 0);
}

static void answer(inference *n, const open_form *f) {
    const type *t = infer_value(n, f->open);
    const open_form *now = t->kind == TYPE_OPEN ? t->open.form : f;
    switch (f->kind) {
    case FORM_BRACKET:
        if (f->e->kind == EXPR_ARRAY)
            f->e->list.form = now;
        f->e->becomes = t->kind == TYPE_VEC ? list_like(n, f, t) : t->kind == TYPE_TENSOR ? tensor_like(n, f) : NULL;
        if (t->kind == TYPE_OPEN && tensor_like(n, now)->tensor.element != NULL)
            f->e->becomes = tensor_like(n, now);
        return;
    case FORM_ROW:
        f->e->becomes = t->kind != TYPE_TENSOR     ? (f->e->kind == EXPR_METHOD && type_is_numeric(t) ? t : NULL)
                        : f->e->kind == EXPR_FLOAT ? number_like(n, infer_value(n, f->element))
                                                   : t;
        return;
    case FORM_PAIR:
        f->e->becomes = t->kind == TYPE_TENSOR || t->kind == TYPE_TUPLE ? t : NULL;
        return;
    case FORM_TRUTH:
        f->e->is_undecided = t->kind == TYPE_OPEN && infer_is_bracket(infer_value(n, f->element));
        return;
    case FORM_MADE:
        f->e->becomes = t->kind == TYPE_F64 ? type_tensor(n->c->types, t, -1) : NULL;
        return;
    case FORM_FUNCTION:
        return;
    }
}

void infer_holds(inference *n, expr *e, const type *t) {
    const inferred_tensor one = {e, t};
    if (t->kind == TYPE_TENSOR || t->kind == TYPE_OPEN || t->kind == TYPE_REFERENCE)
        CHECK_PUSH(n->c, n->tensors, n->tensor_count, n->tensor_capacity, one);
}

/* An element of the tensor e that nothing else decides is read so. */
static void answer_tensor(inference *n, const inferred_tensor *one) {
    const type *t = infer_value(n, one->t), *element = t->kind == TYPE_TENSOR ? infer_element(n, t) : NULL;
    const bool whole = infer_is_whole(n, element);
    one->e->holds = element == NULL || element->kind == TYPE_F32 ? 0
                    : whole && element->kind != TYPE_BOOL        ? TYPE_I64
                                                                 : element->kind;
}

/* Whether a function of the program, or a struct, has tensors whose elements its signature leaves open. */
static bool leaves_elements(inference *n) {
    const syntax_tree *tree = n->c->tree;
    bool leaves = false;
    for (uint32_t i = 0; i < tree->function_count && !leaves; i++) {
        const function_item *f = tree->functions[i];
        leaves = f->span.file != tree->prelude && f->result_annotation != NULL &&
                 (f->result == NULL || infer_leaves_elements(n, f->result));
    }
    for (uint32_t i = 0; i < tree->struct_count && !leaves; i++) {
        const struct_item *s = tree->structs[i];
        leaves = s->span.file != tree->prelude && s->type != NULL && infer_leaves_elements(n, s->type);
    }
    return leaves;
}

static void find_leaving(checker *c) {
    for (uint32_t i = 0; i < c->tree->function_count; i++) {
        const function_item *f = c->tree->functions[i];
        if (f->span.file != c->tree->prelude && infer_leaves_numbers(f))
            CHECK_PUSH(c, c->open->leaving, c->open->leaving_count, c->open->leaving_capacity, f->name);
    }
}

static bool leaves_numbers(const checker *c, const expr *e) {
    const bool call = e->kind == EXPR_CALL && e->call.callee != NULL && e->call.callee->kind == EXPR_NAME;
    const char *name = call ? e->call.callee->name.name : e->kind == EXPR_METHOD ? e->call.name : NULL;
    bool leaves = false;
    for (uint32_t i = 0; name != NULL && !leaves && i < c->open->leaving_count; i++)
        leaves = strcmp(name, c->open->leaving[i]) == 0;
    return leaves;
}

static bool is_question(const expr *e, void *context) {
    const checker *c = context;
    const bool calls = c->open->left == ELEMENTS_LEFT_SOME; /* a call is a question, too */
    const bool bracket = (e->kind == EXPR_ARRAY || e->kind == EXPR_REPEAT) && !e->is_vec;
    return bracket || e->kind == EXPR_COMPREHENSION || e->kind == EXPR_INDEX ||
           (e->kind == EXPR_METHOD && (check_has_places(e) || infer_collects(e))) ||
           (calls && (e->kind == EXPR_METHOD || e->kind == EXPR_CALL)) || leaves_numbers(c, e);
}

static bool asks_in_block(inference *n, const block *b) {
    elements_left *left = &n->c->open->left;
    if (*left == ELEMENTS_LEFT_UNKNOWN) {
        *left = leaves_elements(n) ? ELEMENTS_LEFT_SOME : ELEMENTS_LEFT_NONE;
        find_leaving(n->c);
        if (*left == ELEMENTS_LEFT_SOME)
            infer_mark_changed(n);
    }
    return block_any(b, is_question, n->c);
}

static void walk_body(inference *n, function_item *f) {
    for (uint32_t i = 0; i < f->parameter_count; i++)
        infer_name(n, f->parameters[i], f->parameters[i]->type);
    const type *result = infer_block(n, f->body);
    n->at = f->result_annotation != NULL ? f->result_annotation->span : f->span;
    if (f->result != NULL)
        infer_into(n, result, f->result, MIXED_BOTH);
    infer_close_names(n, 0);
    infer_answer_waiting(n);
}

void check_infer(checker *c, function_item *f) {
    inference start = {.c = c, .any = check_scalar(c, TYPE_ERROR), .result = f->result, .result_states = MIXED_BOTH};
    inference n = start;
    if (f->body == NULL || !asks_in_block(&n, f->body))
        return;
    const diagnostics before = *c->diagnostics;
    const uint32_t structs = c->tree->struct_count;
    said_type *said = c->said->types;
    const type_environment *environment = c->environment;
    function_item *function = c->function;
    unsigned outside = c->said->outside;
    bool had_open = c->open->has_open;
    check_dyn_mark(c);
    c->environment = f->template != NULL ? &f->environment : NULL;
    c->function = f;
    walk_body(&n, f);
    if (n.deeper || n.collects ||
        n.mixes != 0) { /* t[i] of a tensor that is t[i, j] elsewhere is a row: its uses are those of a row */
        const inference first = n;
        start.plain = n.mixes;
        n = start;
        n.places = first.places;
        n.place_count = first.place_count;
        n.place_capacity = first.place_capacity;
        walk_body(&n, f);
    }
    prefer_lists(&n);
    infer_answer_waiting(&n);
    settle_rows(&n);
    infer_answer_waiting(&n);
    for (uint32_t i = 0; i < n.form_count; i++)
        answer(&n, n.forms[i]);
    for (uint32_t i = 0; i < n.tensor_count; i++)
        answer_tensor(&n, &n.tensors[i]);
    infer_answer_calls(&n);
    type_default_numbers(c->types);
    check_dyn_return(c);
    diagnostics_return_to(c->diagnostics, &before);
    for (; c->said->types != said; c->said->types = c->said->types->before)
        c->said->types->symbol->refused = false;
    c->said->outside = outside;
    check_fields_again(c, structs);
    c->open->has_open = had_open;
    c->environment = environment;
    c->function = function;
}
