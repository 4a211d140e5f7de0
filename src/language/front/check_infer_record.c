/* check_infer_record.c: what is known of the tensors in a value beyond what its type says.
 *
 *     struct Net { w: Tensor }           the type says nothing of the elements of w
 *     let net = Net { w: x };            x: Tensor<f64>  ─►  in the walk `net` is a Net whose w is f64
 *
 * Such a record is a struct of its own that `refines` the one of the program: same fields, same methods. It lives in
 * the walk only (check_infer.c), whose types are never those of the check.
 *
 * Followed are f64, i64 and bool (f32 is what is read where nothing says more) and ranks. Where ways meet, f64 wins: an
 * f32 is read as f64 exactly, the other way an error would end the program. Of others that differ nothing is said, nor
 * of what is written to out of sight (check_infer_changed.c): in a function where such ways meet in a variable or list,
 * only f64 is followed (inference.plain).
 */
#include "language/front/check_infer.h"
#include "language/types/check_instances.h"

enum { RECORDS_MAX = 8, PARTS_MAX = 64, DEPTH_MAX = 8 };

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

typedef enum joining {
    REFINED, /* with what is known of a value of that type */
    MET      /* with another value: what is known of both */
} joining;

static const type *combined(inference *n, const type *t, const type *other, joining how, int depth);

/* Nothing but f64 is said of what is written to out of sight. */
static const type *combined_field(inference *n, const struct_field *field, const type *other, joining how, int depth) {
    const unsigned plain = n->plain;
    n->plain |= field->is_changed ? MIXED_BOTH : 0;
    const type *t = combined(n, field->type, other, how, depth + 1);
    n->plain = plain;
    return t;
}

/* Option<Tensor>: the instance for what its arguments are then. */
static const type *combined_instance(inference *n, const type *t, const struct_item *other, joining how, int depth) {
    const struct_item *s = t->structure;
    const uint32_t count = s->template->generics.count;
    const type **arguments = CHECK_ARRAY(n->c, const type *, count + 1);
    const unsigned plain = n->plain;
    bool more = false;
    n->plain |= s->template->drop != NULL ? MIXED_BOTH : 0; /* a cell */
    for (uint32_t i = 0; i < count; i++) {
        arguments[i] = combined(n, s->arguments[i], other->arguments[i], how, depth + 1);
        more |= arguments[i] != s->arguments[i];
    }
    n->plain = plain;
    return more ? check_struct_instance(n->c, s->template, arguments)->type : t;
}

static const type *combined_struct(inference *n, const type *t, const type *given, joining how, int depth) {
    struct_item *s = t->structure, *other = given->structure;
    if (s->template != NULL && s->template == other->template && s->refines == NULL && other->refines == NULL)
        return combined_instance(n, t, other, how, depth);
    bool alike = base_of(s) == base_of(other) || (s->template != NULL && s->template == other->template);
    if (!alike || s == other || !has_fields(t) || s->field_count != other->field_count)
        return t;
    struct_field *fields = CHECK_ARRAY(n->c, struct_field, s->field_count);
    bool more = false;
    for (uint32_t i = 0; i < s->field_count; i++) {
        fields[i] = s->fields[i];
        if (fields[i].type != NULL && other->fields[i].type != NULL)
            fields[i].type = combined_field(n, &s->fields[i], other->fields[i].type, how, depth);
        more |= fields[i].type != s->fields[i].type;
    }
    return more ? record_of(n, s, fields) : t;
}

static const type *combined_tuple(inference *n, const type *t, const type *given, joining how, int depth) {
    const type **items = CHECK_ARRAY(n->c, const type *, t->tuple.count);
    for (uint32_t i = 0; i < t->tuple.count; i++)
        items[i] = combined(n, t->tuple.items[i], given->tuple.items[i], how, depth + 1);
    return type_tuple(n->c->types, items, t->tuple.count);
}

/* Of t, where nothing is said of its elements so far. */
static const type *element_given(inference *n, const type *t, const type *given) {
    const type *held = t->tensor.element, *other = infer_element(n, given);
    if (held != NULL && infer_value(n, held)->kind != TYPE_OPEN)
        return held;
    if (infer_is_f64(n, given))
        return given->tensor.element;
    return (n->plain & MIXED_ELEMENTS) == 0 && infer_is_whole(n, other) ? other : held;
}

static const type *element_of_either(inference *n, const type *a, const type *b) {
    if (infer_is_f64(n, a) || infer_is_f64(n, b))
        return check_scalar(n->c, TYPE_F64);
    const type *element = infer_element(n, a);
    return element != NULL && element == infer_element(n, b) ? element : NULL;
}

static const type *combined_tensor(inference *n, const type *t, const type *other, joining how) {
    const int32_t a = t->tensor.rank, b = other->tensor.rank;
    if (how == MET)
        return type_tensor(n->c->types, element_of_either(n, t, other), a == b ? a : -1);
    const bool ranks = (n->plain & MIXED_RANKS) == 0;
    return type_tensor(n->c->types, element_given(n, t, other), a < 0 && ranks ? b : a);
}

static const type *combined(inference *n, const type *t, const type *other, joining how, int depth) {
    const type *outside = t;
    const unsigned plain = n->plain;
    const bool shared = type_is_shared(type_resolve(n->c->types, t));
    t = infer_value(n, t);
    other = infer_value(n, other);
    if (t == other || t->kind != other->kind || depth > DEPTH_MAX)
        return outside;
    n->plain |= shared ? MIXED_BOTH : 0; /* another holder may write to it */
    const type *made = outside;
    if (t->kind == TYPE_TENSOR) {
        made = combined_tensor(n, t, other, how);
    } else if (t->kind == TYPE_VEC) {
        const type *element = combined(n, t->vec.element, other->vec.element, how, depth + 1);
        made = element == t->vec.element ? outside : type_array(n->c->types, element, t->vec.length);
    } else if (t->kind == TYPE_TUPLE && t->tuple.count == other->tuple.count) {
        made = combined_tuple(n, t, other, how, depth);
    } else if (t->kind == TYPE_STRUCT) {
        made = combined_struct(n, t, other, how, depth);
    }
    n->plain = plain;
    return made == t ? outside : made;
}

const type *infer_refined(inference *n, const type *t, const type *given) {
    return combined(n, t, given, REFINED, 0);
}

const type *infer_met(inference *n, const type *a, const type *b) {
    return a == NULL ? b : combined(n, a, b, MET, 0);
}

static bool says_whole(inference *n, const type *t, uint32_t *parts) {
    t = infer_value(n, t);
    if (++*parts > PARTS_MAX)
        return true;
    if (t->kind == TYPE_TENSOR)
        return infer_is_whole(n, t->tensor.element) || t->tensor.rank >= 0;
    if (t->kind == TYPE_VEC)
        return says_whole(n, t->vec.element, parts);
    for (uint32_t i = 0; t->kind == TYPE_TUPLE && i < t->tuple.count; i++)
        if (says_whole(n, t->tuple.items[i], parts))
            return true;
    for (uint32_t i = 0; has_fields(t) && i < t->structure->field_count; i++)
        if (t->structure->fields[i].type != NULL && says_whole(n, t->structure->fields[i].type, parts))
            return true;
    return false;
}

void infer_lent(inference *n, const type *t) {
    uint32_t parts = 0;
    if (says_whole(n, t, &parts))
        n->mixes |= MIXED_BOTH;
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
        return depth > 0 && value->tensor.rank < 0 ? infer_open(n)
                                                   : type_tensor(n->c->types, infer_open(n), value->tensor.rank);
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
            fields[i].type = combined_field(n, &s->fields[i], given[i - first], REFINED, 0);
        more |= fields[i].type != s->fields[i].type;
    }
    return more ? record_of(n, (struct_item *)s, fields) : s->type;
}
