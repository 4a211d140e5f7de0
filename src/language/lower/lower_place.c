/* lower_place.c: places, elements and fields.
 *
 * A place is a range of variables, or a part of an element of a vector, or an element of a tensor; the last two
 * are parts of another place, which holds the vector or tensor:
 *
 *     body.position.x        variables [first + 0, + 1)
 *     points[i].x            leaves [0, 1) of element i of the vector in (variables of points)
 *     layers[i].w[j, k]      element (j, k) of the tensor in (leaf 0 of element i of …)
 *     (*r).x                 words [offset, + 1) from where the reference r points to, or from a cell's variable
 *
 * A place is written from the inside out, and what holds it is moved out of its own holder for that time, so that each
 * vector and tensor on the way has one owner and is written where it lies:
 *
 *     rows[i][j] = x      rows, row = take(rows, i);  row = set(row, j, x);  rows = set(rows, i, row)
 *
 * Between the take and the last set, the place is open: nothing else may be read from the same variables. What the
 * write needs was evaluated before; only the call whose result goes to the place is between. Indices are evaluated when
 * the place is made, once.
 */
#include <string.h>

#include "base/assert.h"
#include "language/lower/lowering.h"

struct lower_place {
    enum { PLACE_VARIABLES, PLACE_VEC_ELEMENT, PLACE_TENSOR_ELEMENT, PLACE_REFERENCE } kind;
    const type *type; /* what lies there */
    ir_value at[3];   /* PLACE_REFERENCE: list, word; and length, of a slice, which `type` Vec<T> means then */
    bool is_slice;
    const type *holder; /* of the two elements: type of the vector or tensor */
    lower_place *base;  /* of the two elements: where the vector or tensor is */
    ir_value *indices;
    uint32_t index_count;
    bool converts;          /* an element of any type will do */
    bool is_inside;         /* the index is one of the list's places */
    ir_variable first;      /* PLACE_VARIABLES */
    uint32_t offset, count; /* leaves: of the element of a vector; count also of the others */
    source_span span;
    /* an element of a vector that is open: the element's leaves, and the vector without them */
    ir_value *taken, rest;
};

/* ---- places ------------------------------------------------------------------------------------------------------ */

static bool follows_reference(const expr *e) {
    return e->kind == EXPR_INDEX && type_is_reference(e->index.base->type);
}

bool lower_is_place(const expr *e) {
    while ((e->kind == EXPR_FIELD || e->kind == EXPR_TUPLE_FIELD || e->kind == EXPR_INDEX) && !e->is_copied &&
           !follows_reference(e))
        e = e->kind == EXPR_INDEX ? e->index.base : e->field.base;
    if (e->is_copied)
        return false;
    if (follows_reference(e))
        return true;
    return e->kind == EXPR_NAME && e->name.binding;
}

static ir_value *lower_indices(lower_fn *fn, const expr *e) {
    ir_value *indices = lower_room(fn, e->index.count);
    for (uint32_t i = 0; indices && i < e->index.count; i++)
        indices[i] = lower_scalar(fn, e->index.indices[i]);
    return indices;
}

static lower_place *place_new(lower_fn *fn, const expr *e);

/* The fields of what lies in a cell: its one element. */
static lower_place *step_into_cell(lower_fn *fn, lower_place *p, const expr *e) {
    lower_place *inside = place_new(fn, e);
    ir_value *first = lower_room(fn, 1);
    if (!inside || !first)
        return NULL;
    *first = lower_int(fn, IR_I64, 0, e->span);
    inside->kind = PLACE_VEC_ELEMENT;
    inside->type = lower_inside(e->type);
    inside->count = lower_leaf_count(fn->l, inside->type);
    inside->holder = e->type->structure->cell;
    inside->base = p;
    inside->indices = first;
    inside->index_count = 1;
    return inside;
}

static void step_into_field(lower_fn *fn, lower_place *p, const expr *e) {
    uint32_t offset = lower_field_offset(fn->l, e->field.base->type, e->field.index);
    p->count = lower_leaf_count(fn->l, e->type);
    p->type = e->type;
    if (p->kind == PLACE_VARIABLES)
        p->first += offset;
    else
        p->offset += offset;
}

static lower_place *place_new(lower_fn *fn, const expr *e) {
    lower_place *p = MASU_ARENA_NEW(fn->l->scratch, lower_place);
    if (!p) {
        fn->l->m->out_of_memory = true;
        return NULL;
    }
    p->span = e->span;
    p->type = e->type;
    p->count = lower_leaf_count(fn->l, e->type);
    return p;
}

/* Where a reference with these leaves leads to. */
static lower_place *place_behind(lower_fn *fn, const expr *e, const ir_value *leaves, bool slice) {
    lower_place *p = place_new(fn, e);
    if (!p)
        return NULL;
    p->kind = PLACE_REFERENCE;
    p->is_slice = slice;
    memcpy(p->at, leaves, (slice ? 3 : 2) * sizeof *leaves);
    return p;
}

const ir_value *lower_read_behind(lower_fn *fn, const type *t, const ir_value *reference, source_span span) {
    lower_place p = {.kind = PLACE_REFERENCE, .type = t, .count = lower_leaf_count(fn->l, t), .span = span};
    ir_value *out = lower_room(fn, p.count);
    memcpy(p.at, reference, 2 * sizeof *reference);
    if (out && lower_open(fn))
        lower_place_read(fn, &p, out);
    return out ? out : reference;
}

static lower_place *place_in_cell(lower_fn *fn, const expr *e) {
    ir_value leaves[2] = {0};
    lower_read(fn, fn->variables[e->name.binding->id], 1, leaves, e->span);
    leaves[1] = lower_int(fn, IR_I64, 0, e->span);
    return place_behind(fn, e, leaves, false);
}

/* The element of a slice: it lies in the same list. */
static lower_place *element_of_slice(lower_fn *fn, lower_place *p, const expr *e) {
    ir_value index = lower_scalar(fn, e->index.indices[0]);
    if (!lower_open(fn))
        return NULL;
    ir_value width = lower_int(fn, IR_I64, lower_leaf_count(fn->l, p->type->vec.element), e->span);
    ir_value word = lower_abi(fn, TL_FN_tl_ref_index, (ir_value[]){index, p->at[2], width}, 3, e->span);
    if (!lower_open(fn))
        return NULL;
    p->at[1] = lower_op2(fn, IR_ADD, IR_I64, p->at[1], word, e->span);
    p->is_slice = false;
    p->type = e->type;
    p->count = lower_leaf_count(fn->l, e->type);
    p->span = e->span;
    return p;
}

bool lower_field_by_reference(const expr *e) {
    const type *t = e->kind == EXPR_FIELD ? e->field.base->type : NULL;
    return t && t->kind == TYPE_STRUCT && t->structure->fields[e->field.index].by_reference;
}

lower_place *lower_place_of(lower_fn *fn, const expr *e) {
    lower_place *p;
    if (lower_field_by_reference(e)) {
        ir_value leaves[2] = {0};
        p = lower_place_of(fn, e->field.base);
        if (!p)
            return NULL;
        step_into_field(fn, p, e);
        p->type = e->field.base->type->structure->fields[e->field.index].type;
        p->count = 2;
        lower_place_read(fn, p, leaves);
        return lower_open(fn) ? place_behind(fn, e, leaves, false) : NULL;
    }
    if (follows_reference(e)) {
        const ir_value *leaves = lower_values(fn, e->index.base);
        return leaves && lower_open(fn) ? place_behind(fn, e, leaves, type_is_slice(e->index.base->type)) : NULL;
    }
    if (e->kind == EXPR_NAME && e->name.binding->in_cell)
        return place_in_cell(fn, e);
    if (e->kind == EXPR_FIELD || e->kind == EXPR_TUPLE_FIELD) {
        p = lower_place_of(fn, e->field.base);
        if (p && lower_has_cell(e->field.base->type))
            p = step_into_cell(fn, p, e->field.base);
        if (p)
            step_into_field(fn, p, e);
        return p;
    }
    if (e->kind == EXPR_INDEX && e->index.base->type->kind == TYPE_VEC) {
        lower_place *base = lower_place_of(fn, e->index.base);
        if (!base || (base->kind == PLACE_REFERENCE && base->is_slice))
            return base ? element_of_slice(fn, base, e) : NULL;
        p = place_new(fn, e);
        if (!p)
            return NULL;
        p->base = base;
    } else {
        p = place_new(fn, e);
    }
    if (!p)
        return NULL;
    if (e->kind == EXPR_NAME) {
        p->kind = PLACE_VARIABLES;
        p->first = fn->variables[e->name.binding->id];
        return p;
    }
    p->holder = e->index.base->type;
    p->kind = p->holder->kind == TYPE_VEC ? PLACE_VEC_ELEMENT : PLACE_TENSOR_ELEMENT;
    if (!p->base)
        p->base = lower_place_of(fn, e->index.base);
    p->indices = lower_indices(fn, e);
    p->index_count = e->index.count;
    p->converts = e->is_converted;
    p->is_inside = e->is_inside;
    return p->base && p->indices && lower_open(fn) ? p : NULL;
}

lower_place *lower_place_of_variables(lower_fn *fn, const type *t, ir_variable first, source_span span) {
    lower_place *p = MASU_ARENA_NEW(fn->l->scratch, lower_place);
    if (!p) {
        fn->l->m->out_of_memory = true;
        return NULL;
    }
    *p = (lower_place){
        .kind = PLACE_VARIABLES, .type = t, .count = lower_leaf_count(fn->l, t), .first = first, .span = span};
    return p;
}

bool lower_is_variable(const lower_place *p) {
    return p->kind == PLACE_VARIABLES;
}

static const lower_place *root_of(const lower_place *p) {
    while (p->kind == PLACE_VEC_ELEMENT || p->kind == PLACE_TENSOR_ELEMENT)
        p = p->base;
    return p;
}

static uint32_t vectors_deep(const lower_place *p) {
    uint32_t depth = 0;
    for (; p->kind == PLACE_VEC_ELEMENT; p = p->base)
        depth++;
    return depth;
}

/* ---- behind references ------------------------------------------------------------------------------------------- */

static ir_value word_of(lower_fn *fn, const lower_place *p) {
    if (p->offset == 0)
        return p->at[1];
    return lower_op2(fn, IR_ADD, IR_I64, p->at[1], lower_int(fn, IR_I64, p->offset, p->span), p->span);
}

static void read_reference(lower_fn *fn, const lower_place *p, bool moved, ir_value *out) {
    if (p->is_slice) {
        *out = lower_abi(fn, moved ? TL_FN_tl_ref_part_take : TL_FN_tl_ref_part, p->at, 3, p->span);
        return;
    }
    ir_value word = word_of(fn, p), count = lower_int(fn, IR_I64, p->count, p->span);
    ir_value record = lower_record_begin(fn, p->type, p->span);
    if (!record)
        return;
    lower_abi(fn, moved ? TL_FN_tl_ref_take : TL_FN_tl_ref_get, (ir_value[]){p->at[0], word, count, record}, 4,
              p->span);
    lower_record_end(fn, record, p->type, out, p->span);
}

static void write_reference(lower_fn *fn, const lower_place *p, const ir_value *values) {
    if (p->is_slice) {
        lower_abi(fn, TL_FN_tl_ref_put, (ir_value[]){p->at[0], p->at[1], p->at[2], values[0]}, 4, p->span);
        return;
    }
    ir_value word = word_of(fn, p), count = lower_int(fn, IR_I64, p->count, p->span);
    ir_value record = lower_op(fn, IR_RECORD, IR_ADDRESS, values, p->count, p->span);
    lower_abi(fn, TL_FN_tl_ref_set, (ir_value[]){p->at[0], word, count, record}, 4, p->span);
}

/* The view of the list in p, which no other value holds from now on. */
static ir_value own_list(lower_fn *fn, lower_place *p);

static void address_of(lower_fn *fn, lower_place *p, ir_value out[2]) {
    if (p->kind == PLACE_REFERENCE) {
        out[0] = p->at[0];
        out[1] = word_of(fn, p);
        return;
    }
    MASU_ASSERT(p->kind == PLACE_VEC_ELEMENT); /* of a variable: it lies in a cell */
    ir_value list = own_list(fn, p->base);
    if (!lower_open(fn))
        return;
    ir_value width = lower_int(fn, IR_I64, lower_leaf_count(fn->l, p->holder->vec.element), p->span);
    ir_value length = lower_abi(fn, TL_FN_tl_ref_size, &list, 1, p->span);
    ir_value word = lower_abi(fn, TL_FN_tl_ref_index, (ir_value[]){p->indices[0], length, width}, 3, p->span);
    out[0] = list;
    if (lower_open(fn))
        out[1] = lower_op2(fn, IR_ADD, IR_I64, word, lower_int(fn, IR_I64, p->offset, p->span), p->span);
}

static ir_value own_list(lower_fn *fn, lower_place *p) {
    ir_value list = 0, at[2] = {0};
    if (p->kind == PLACE_VARIABLES) {
        lower_read(fn, p->first, 1, &list, p->span);
        list = lower_abi(fn, TL_FN_tl_vec_unshare, &list, 1, p->span);
        lower_write(fn, p->first, 1, &list);
        return lower_open(fn) ? lower_abi(fn, TL_FN_tl_ref_view, &list, 1, p->span) : 0;
    }
    address_of(fn, p, at);
    return lower_open(fn) ? lower_abi(fn, TL_FN_tl_ref_enter, at, 2, p->span) : 0;
}

/* v[a..b] of a list or of a slice */
static void refer_to_part(lower_fn *fn, const expr *e, ir_value *out) {
    lower_place *base = lower_place_of(fn, e->index.base);
    ir_value *range = base ? lower_indices(fn, e) : NULL;
    if (!range || !lower_open(fn))
        return;
    ir_value width = lower_int(fn, IR_I64, lower_leaf_count(fn->l, e->index.base->type->vec.element), e->span);
    ir_value list = base->kind == PLACE_REFERENCE && base->is_slice ? base->at[0] : own_list(fn, base);
    if (!lower_open(fn))
        return;
    ir_value length = base->kind == PLACE_REFERENCE && base->is_slice
                          ? base->at[2]
                          : lower_abi(fn, TL_FN_tl_ref_size, &list, 1, e->span);
    ir_value low = lower_abi(fn, TL_FN_tl_ref_low, (ir_value[]){range[0], range[1], length, width}, 4, e->span);
    if (!lower_open(fn))
        return;
    out[0] = list;
    out[1] = base->kind == PLACE_REFERENCE && base->is_slice ? lower_op2(fn, IR_ADD, IR_I64, base->at[1], low, e->span)
                                                             : low;
    out[2] = lower_abi(fn, TL_FN_tl_ref_length, (ir_value[]){range[0], range[1], length}, 3, e->span);
}

void lower_refer(lower_fn *fn, const expr *place, ir_value *out) {
    if (place->kind == EXPR_INDEX && place->index.count == 2 && place->index.base->type->kind == TYPE_VEC) {
        refer_to_part(fn, place, out);
        return;
    }
    lower_place *p = lower_open(fn) ? lower_place_of(fn, place) : NULL;
    if (p)
        address_of(fn, p, out);
}

/* ---- cells ------------------------------------------------------------------------------------------------------- */

void lower_cell_read(lower_fn *fn, const binding *b, bool moved, ir_value *out, source_span span) {
    lower_place p = {.kind = PLACE_REFERENCE, .type = b->type, .count = lower_leaf_count(fn->l, b->type), .span = span};
    lower_read(fn, fn->variables[b->id], 1, p.at, span);
    p.at[1] = lower_int(fn, IR_I64, 0, span);
    read_reference(fn, &p, moved, out);
}

/* ---- reading ----------------------------------------------------------------------------------------------------- */

/* Numbers in a vector in a vector: nothing on the way is counted. */
static void read_along(lower_fn *fn, const lower_place *p, uint32_t depth, ir_value *out) {
    const type *element = p->holder->vec.element;
    ir_value *args = lower_room(fn, 3 * depth);
    if (!args)
        return;
    uint32_t at = 3 * depth - 1;
    args[at] = p->indices[0];
    const lower_place *base = p->base;
    for (; base->kind == PLACE_VEC_ELEMENT; base = base->base) {
        args[--at] = lower_int(fn, IR_I64, base->offset, p->span);
        args[--at] = lower_int(fn, IR_I64, lower_leaf_count(fn->l, base->holder->vec.element), p->span);
        args[--at] = base->indices[0];
    }
    lower_read(fn, base->first, 1, args, base->span);
    args[1] = lower_record_begin(fn, element, p->span);
    if (!args[1])
        return;
    lower_abi(fn, TL_FN_tl_vec_get_in, args, 3 * depth, p->span);
    lower_record_end(fn, args[1], element, out, p->span);
}

static void read_element(lower_fn *fn, const lower_place *p, ir_value *out) {
    uint32_t depth = vectors_deep(p);
    if (depth > 1 && root_of(p)->kind == PLACE_VARIABLES && !lower_holds_counts(fn, p->holder->vec.element)) {
        read_along(fn, p, depth, out);
        return;
    }
    ir_value holder = 0;
    lower_place_read(fn, p->base, &holder);
    (p->is_inside ? lower_vec_at : lower_vec_get)(fn, holder, p->indices[0], p->holder->vec.element, out, p->span);
}

void lower_place_read(lower_fn *fn, const lower_place *p, ir_value *out) {
    if (p->kind == PLACE_VARIABLES) {
        lower_read(fn, p->first, p->count, out, p->span);
        return;
    }
    if (p->kind == PLACE_REFERENCE) {
        read_reference(fn, p, false, out);
        return;
    }
    if (p->kind == PLACE_TENSOR_ELEMENT) {
        ir_value holder = 0;
        lower_place_read(fn, p->base, &holder);
        *out = lower_element_get(fn, holder, p->holder,
                                 &(element_read){p->type, p->indices, p->index_count, p->converts}, p->span);
        return;
    }
    ir_value *all = lower_room(fn, lower_leaf_count(fn->l, p->holder->vec.element));
    if (!all)
        return;
    read_element(fn, p, all);
    memcpy(out, all + p->offset, p->count * sizeof *out);
}

/* ---- writing ----------------------------------------------------------------------------------------------------- */

static ir_value open_holder(lower_fn *fn, lower_place *p);

/* The element of a vector, out of it; a copy where it holds numbers only. */
static void open_element(lower_fn *fn, lower_place *p) {
    const type *element = p->holder->vec.element;
    bool counts = lower_holds_counts(fn, element);
    ir_value holder = open_holder(fn, p);
    p->taken = lower_room(fn, lower_leaf_count(fn->l, element));
    if (!p->taken)
        return;
    p->rest = lower_words_by(fn, counts ? TL_FN_tl_vec_take : TL_FN_tl_vec_get, holder, p->indices[0], element,
                             p->taken, p->span);
    if (!counts)
        p->rest = holder;
}

/* The vector or tensor that p is an element of, out of what holds that. */
static ir_value open_holder(lower_fn *fn, lower_place *p) {
    lower_place *base = p->base;
    ir_value holder = 0;
    if (base->kind == PLACE_VARIABLES) {
        lower_read(fn, base->first, base->count, &holder, base->span);
        return holder;
    }
    if (base->kind == PLACE_REFERENCE) {
        read_reference(fn, base, true, &holder);
        return holder;
    }
    open_element(fn, base);
    return base->taken ? base->taken[base->offset] : 0;
}

static void close_element(lower_fn *fn, lower_place *p, const ir_value *values);

static void close_holder(lower_fn *fn, lower_place *p, ir_value holder) {
    if (p->base->kind == PLACE_VARIABLES || p->base->kind == PLACE_REFERENCE)
        lower_place_write(fn, p->base, &holder);
    else
        close_element(fn, p->base, &holder);
}

/* Values take the place of p's leaves of the element, which goes back. */
static void close_element(lower_fn *fn, lower_place *p, const ir_value *values) {
    if (!p->taken)
        return;
    memcpy(p->taken + p->offset, values, p->count * sizeof *values);
    ir_value holder = lower_vec_set(fn, p->rest, p->indices[0], p->holder->vec.element, p->taken, p->span);
    p->taken = NULL;
    close_holder(fn, p, holder);
}

void lower_place_open(lower_fn *fn, lower_place *p, ir_value *out) {
    if (p->kind == PLACE_REFERENCE) {
        read_reference(fn, p, p->is_slice || lower_holds_counts(fn, p->type), out);
        return;
    }
    if (p->kind != PLACE_VEC_ELEMENT) {
        lower_place_read(fn, p, out);
        return;
    }
    open_element(fn, p);
    if (p->taken)
        memcpy(out, p->taken + p->offset, p->count * sizeof *out);
}

void lower_place_write(lower_fn *fn, lower_place *p, const ir_value *values) {
    if (p->kind == PLACE_VARIABLES) {
        lower_name_values(fn, p->first, p->count, values, p->span);
        lower_write(fn, p->first, p->count, values);
    } else if (p->kind == PLACE_REFERENCE) {
        write_reference(fn, p, values);
    } else if (p->kind == PLACE_TENSOR_ELEMENT) {
        ir_value holder = open_holder(fn, p);
        const element_read place = {p->type, p->indices, p->index_count, false};
        close_holder(fn, p, lower_element_set(fn, holder, p->holder, values[0], &place, p->span));
    } else if (p->taken) {
        close_element(fn, p, values);
    } else if (p->count < lower_leaf_count(fn->l, p->holder->vec.element)) {
        open_element(fn, p);
        close_element(fn, p, values);
    } else {
        ir_value holder = open_holder(fn, p);
        close_holder(fn, p, lower_vec_set(fn, holder, p->indices[0], p->holder->vec.element, values, p->span));
    }
}

static bool is_captured(const lower_fn *fn, const lower_place *p) {
    const binding *self = fn->item && fn->item->is_closure ? fn->item->parameters[0] : NULL;
    ir_variable first = self ? fn->variables[self->id] : 0;
    return self && p->first >= first && p->first < first + lower_leaf_count(fn->l, self->type);
}

void lower_clear(lower_fn *fn, const lower_place *p, uint32_t offset, const type *t, source_span span) {
    ir_value *taken = lower_room(fn, lower_leaf_count(fn->l, t));
    if (taken)
        lower_take_out(fn, p, offset, t, taken, span);
}

void lower_take_out(lower_fn *fn, const lower_place *p, uint32_t offset, const type *t, ir_value *taken,
                    source_span span) {
    lower_place part = *p;
    part.count = lower_leaf_count(fn->l, t);
    part.type = t;
    part.span = span;
    ir_type *types = MASU_ARENA_ARRAY(fn->l->scratch, ir_type, part.count);
    ir_value *nothings = lower_room(fn, part.count);
    if (!types || !nothings)
        return;
    lower_leaf_types(fn->l, t, types);
    if (p->kind == PLACE_VARIABLES)
        lower_read(fn, p->first + offset, part.count, taken, span);
    for (uint32_t i = 0; i < part.count && lower_open(fn); i++) {
        if (p->kind == PLACE_VARIABLES && !ir_type_managed(types[i]))
            continue;
        nothings[i] = lower_nothing(fn, types[i], span);
        if (nothings[i] && ir_type_managed(types[i]))
            fn->f->values[nothings[i]].def->imm.i = p->kind != PLACE_VARIABLES ? 0 : is_captured(fn, p) ? 2 : 1;
        if (nothings[i] && p->kind == PLACE_VARIABLES)
            fn->f->values[nothings[i]].name = ir_variable_name(fn->b, p->first + offset + i);
        if (p->kind == PLACE_VARIABLES)
            lower_write(fn, p->first + offset + i, 1, &nothings[i]);
    }
    if (p->kind == PLACE_VARIABLES || !lower_open(fn))
        return;
    part.offset += offset;
    lower_place_open(fn, &part, taken);
    if (part.kind == PLACE_VEC_ELEMENT && lower_open(fn))
        close_element(fn, &part, nothings);
    else if (lower_open(fn))
        lower_place_write(fn, &part, nothings);
}

bool lower_places_meet(const lower_place *a, const lower_place *b) {
    const lower_place *x = root_of(a), *y = root_of(b);
    if (x->kind == PLACE_REFERENCE || y->kind == PLACE_REFERENCE)
        return x->kind == y->kind;
    return x->first < y->first + y->count && y->first < x->first + x->count;
}

/* ---- as expressions ---------------------------------------------------------------------------------------------- */

static void read_place(lower_fn *fn, const expr *e, ir_value *out) {
    lower_place *p = lower_place_of(fn, e);
    if (p)
        lower_place_read(fn, p, out);
}

void lower_index(lower_fn *fn, const expr *e, ir_value *out) {
    if (lower_is_place(e) || follows_reference(e)) { /* a copy of what a reference leads to is read there, too */
        read_place(fn, e, out);
        return;
    }
    ir_value holder = lower_scalar(fn, e->index.base);
    ir_value *indices = lower_indices(fn, e);
    const type *t = e->index.base->type;
    if (!indices || !lower_open(fn))
        return;
    if (t->kind == TYPE_VEC)
        (e->is_inside ? lower_vec_at : lower_vec_get)(fn, holder, indices[0], t->vec.element, out, e->span);
    else
        *out = lower_element_get(fn, holder, t, &(element_read){e->type, indices, e->index.count, e->is_converted},
                                 e->span);
}
