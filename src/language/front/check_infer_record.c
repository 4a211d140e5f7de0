/* check_infer_record.c: what is known of the tensors in a value beyond what its type says.
 *
 *     struct Net { w: Tensor }           the type says nothing of the elements of w
 *     let net = Net { w: x };            x: Tensor<f64>  ─►  in the walk `net` is a Net whose w is f64
 *
 * Such a record is a struct of its own that `refines` the one of the program: same fields, same methods. It lives in
 * the walk only (check_infer.c), whose types are never those of the check.
 *
 * f64 is what is followed, as it is the one element that cannot be read as what nothing says more of (f32). Where ways
 * meet, f64 wins: an f32 is read as f64 exactly, the other way an error would end the program.
 */
#include "language/front/check_infer.h"
#include "language/types/check_instances.h"

enum { RECORDS_MAX = 8, PARTS_MAX = 64, DEPTH_MAX = 8 };

bool infer_is_f64(inference *n, const type *tensor) {
    const type *element = tensor->kind == TYPE_TENSOR && tensor->tensor.element != NULL
                              ? type_resolve(n->c->types, tensor->tensor.element)
                              : NULL;
    return element != NULL && element->kind == TYPE_F64 && !type_is_open_number(element);
}

static const type *followed(inference *n, const type *t, int depth);

static bool leaves(inference *n, const type *t, uint32_t *parts) {
    t = infer_value(n, t);
    if (++*parts > PARTS_MAX)
        return false;
    if (t->kind == TYPE_TENSOR)
        return t->tensor.element == NULL;
    if (t->kind == TYPE_VEC)
        return leaves(n, t->vec.element, parts);
    for (uint32_t i = 0; t->kind == TYPE_TUPLE && i < t->tuple.count; i++)
        if (leaves(n, t->tuple.items[i], parts))
            return true;
    const struct_item *s = t->kind == TYPE_STRUCT ? t->structure : NULL;
    for (uint32_t i = 0; s != NULL && s->closure == NULL && s->dyn == NULL && i < s->field_count; i++)
        if (s->fields[i].type != NULL && leaves(n, s->fields[i].type, parts))
            return true;
    return false;
}

bool infer_leaves_elements(inference *n, const type *t) {
    uint32_t parts = 0;
    return leaves(n, t, &parts);
}

static struct_item *base_of(struct_item *s) {
    return s->refines != NULL ? s->refines : s;
}

static bool same_fields(const struct_item *a, const struct_field *fields) {
    bool same = true;
    for (uint32_t i = 0; i < a->field_count && same; i++)
        same = a->fields[i].type == fields[i].type;
    return same;
}

/* The record of s with such fields; s itself when there are too many. */
static const type *record_of(inference *n, struct_item *s, struct_field *fields) {
    uint32_t count = 0;
    struct_item *base = base_of(s);
    for (struct_item *r = base->refined; r != NULL; r = r->refined, count++)
        if (same_fields(r, fields))
            return r->type;
    if (count >= RECORDS_MAX)
        return base->type;
    struct_item *made = CHECK_ARRAY(n->c, struct_item, 1);
    *made = *base;
    made->refines = base;
    made->refined = base->refined;
    made->fields = fields;
    made->type = type_struct(n->c->types, made);
    type_set_size(made->type, base->type->size);
    base->refined = made;
    return made->type;
}

static bool has_fields(const type *t) {
    return t->kind == TYPE_STRUCT && t->structure->field_count > 0 && t->structure->closure == NULL &&
           t->structure->dyn == NULL && t->structure->type != NULL && !t->structure->holds_itself;
}

static const type *refined(inference *n, const type *t, const type *given, int depth);

static const type *refined_struct(inference *n, const type *t, const type *given, int depth) {
    struct_item *s = t->structure, *other = given->structure;
    bool alike = base_of(s) == base_of(other) || (s->template != NULL && s->template == other->template);
    if (!alike || s == other || !has_fields(t) || s->field_count != other->field_count)
        return t;
    struct_field *fields = CHECK_ARRAY(n->c, struct_field, s->field_count);
    bool more = false;
    for (uint32_t i = 0; i < s->field_count; i++) {
        fields[i] = s->fields[i];
        if (fields[i].type != NULL && other->fields[i].type != NULL)
            fields[i].type = refined(n, fields[i].type, other->fields[i].type, depth + 1);
        more |= fields[i].type != s->fields[i].type;
    }
    return more ? record_of(n, s, fields) : t;
}

static const type *refined_tuple(inference *n, const type *t, const type *given, int depth) {
    const type **items = CHECK_ARRAY(n->c, const type *, t->tuple.count);
    for (uint32_t i = 0; i < t->tuple.count; i++)
        items[i] = refined(n, t->tuple.items[i], given->tuple.items[i], depth + 1);
    return type_tuple(n->c->types, items, t->tuple.count);
}

static const type *refined(inference *n, const type *t, const type *given, int depth) {
    const type *outside = t;
    t = infer_value(n, t);
    given = infer_value(n, given);
    if (t == given || t->kind != given->kind || depth > DEPTH_MAX)
        return outside;
    if (t->kind == TYPE_TENSOR) {
        bool open = t->tensor.element == NULL || infer_value(n, t->tensor.element)->kind == TYPE_OPEN;
        return open && infer_is_f64(n, given) ? type_tensor(n->c->types, given->tensor.element, t->tensor.rank)
                                              : outside;
    }
    if (t->kind == TYPE_VEC) {
        const type *element = refined(n, t->vec.element, given->vec.element, depth + 1);
        return element == t->vec.element ? outside : type_array(n->c->types, element, t->vec.length);
    }
    if (t->kind == TYPE_TUPLE && t->tuple.count == given->tuple.count)
        return refined_tuple(n, t, given, depth);
    return t->kind == TYPE_STRUCT ? refined_struct(n, t, given, depth) : outside;
}

const type *infer_refined(inference *n, const type *t, const type *given) {
    return refined(n, t, given, 0);
}

/* HashMap<String, Tensor>, Option<Tensor> */
static const type *followed_struct(inference *n, const type *t, int depth) {
    struct_item *s = t->structure;
    const uint32_t count = s->template != NULL ? s->template->generics.count : 0;
    const type **arguments = CHECK_ARRAY(n->c, const type *, count + 1);
    bool more = false;
    for (uint32_t i = 0; i < count; i++) {
        arguments[i] = followed(n, s->arguments[i], depth + 1);
        more |= arguments[i] != s->arguments[i];
    }
    return more ? check_struct_instance(n->c, s->template, arguments)->type : t;
}

static const type *followed(inference *n, const type *t, int depth) {
    const type *value = infer_value(n, t);
    if (value->kind == TYPE_TENSOR && value->tensor.element == NULL)
        return type_tensor(n->c->types, infer_open(n), value->tensor.rank);
    if (value->kind == TYPE_VEC && depth < DEPTH_MAX) {
        const type *element = followed(n, value->vec.element, depth + 1);
        return element == value->vec.element ? t : type_array(n->c->types, element, value->vec.length);
    }
    return value->kind == TYPE_STRUCT && depth < DEPTH_MAX ? followed_struct(n, value, depth) : t;
}

const type *infer_followed(inference *n, const type *t) {
    return followed(n, t, 0);
}

const type *infer_filled(inference *n, const struct_item *s, uint32_t first, const type *const *given, uint32_t count) {
    if (!has_fields(s->type))
        return s->type;
    struct_field *fields = CHECK_ARRAY(n->c, struct_field, s->field_count);
    bool more = false;
    for (uint32_t i = 0; i < s->field_count; i++) {
        bool known = i >= first && i - first < count && given[i - first] != NULL && s->fields[i].type != NULL;
        fields[i] = s->fields[i];
        if (known)
            fields[i].type = infer_refined(n, fields[i].type, given[i - first]);
        more |= fields[i].type != s->fields[i].type;
    }
    return more ? record_of(n, (struct_item *)s, fields) : s->type;
}

bool infer_some_f64(inference *n, const type *receiver, const type *const *arguments, uint32_t count) {
    bool some = receiver != NULL && infer_is_f64(n, receiver);
    for (uint32_t i = 0; i < count && !some; i++) {
        const type *t = infer_value(n, arguments[i]);
        some = infer_is_f64(n, t->kind == TYPE_VEC ? infer_value(n, t->vec.element) : t);
    }
    return some;
}

/* Every tensor in t. */
const type *infer_with_f64(inference *n, const type *t) {
    t = infer_value(n, t);
    if (t->kind == TYPE_TENSOR && t->tensor.element == NULL)
        return type_tensor(n->c->types, check_scalar(n->c, TYPE_F64), t->tensor.rank);
    if (t->kind == TYPE_VEC)
        return type_array(n->c->types, infer_with_f64(n, t->vec.element), t->vec.length);
    if (t->kind != TYPE_TUPLE)
        return t;
    const type **items = CHECK_ARRAY(n->c, const type *, t->tuple.count);
    for (uint32_t i = 0; i < t->tuple.count; i++)
        items[i] = infer_with_f64(n, t->tuple.items[i]);
    return type_tuple(n->c->types, items, t->tuple.count);
}
