/* check_element.c: the elements of what an operation yields that is written in the language.
 *
 *     fn flip(self, dim: i64) -> Tensor            those of the first tensor that it takes
 *     fn var(self) -> Tensor<Real>                 real ones: f64 where an f64 is taken, f32 of whole numbers
 *     fn outer(self, b: Tensor) -> Tensor<Wide>    the widest that it takes: bool < i64 < f32 < f64
 *     fn prod(self, dim: i64) -> Tensor<Sum>       the widest, i64 of bools
 *     fn __rows(self) -> Tensor                    not known: helpers say it where it matters, as Tensor<Same>
 *
 * The words are in the results of the library's methods of tensors only. A result whose element type is written
 * (Tensor<i64>) has that one. What is not known of an operand is not known of the result; the tensor knows at run time.
 * tests/vectors/elements.txt holds what PyTorch's rules say of each operation.
 */
#include <string.h>

#include "language/library/library.h"
#include "language/types/check_context.h"
#include "language/types/check_written.h"

/* ELEMENT_UNKNOWN: the name is not a word for one. */
static element_rule rule_of(const char *name) {
    const library_said said = library_said_of(LIBRARY_element_rule, name);
    return said == SAID_SAME   ? ELEMENT_SAME
           : said == SAID_REAL ? ELEMENT_REAL
           : said == SAID_WIDE ? ELEMENT_WIDE
           : said == SAID_SUM  ? ELEMENT_SUM
                               : ELEMENT_UNKNOWN;
}

/* Takes the word out of a copy of t: what is left is a type. */
static type_expr *without_word(checker *c, const type_expr *t, element_rule *rule) {
    type_expr *made = CHECK_ARRAY(c, type_expr, 1);
    *made = *t;
    const type_expr *word = t->argument_count == 1 ? t->arguments[0] : NULL;
    bool tensor = t->name != NULL && strcmp(t->name, "Tensor") == 0 && word != NULL && word->name != NULL;
    if (tensor && rule_of(word->name) != ELEMENT_UNKNOWN) {
        *rule = rule_of(word->name);
        made->argument_count = 0;
        return made;
    }
    made->arguments = CHECK_ARRAY(c, type_expr *, t->argument_count + 1);
    for (uint32_t i = 0; i < t->argument_count; i++)
        made->arguments[i] = without_word(c, t->arguments[i], rule);
    return made;
}

void check_element_rule(checker *c, function_item *f) {
    bool of_tensor = f->owner_name != NULL && strcmp(f->owner_name, "Tensor") == 0;
    if (f->span.file != c->tree->prelude || !of_tensor || f->result_annotation == NULL ||
        f->elements != ELEMENT_UNKNOWN)
        return;
    f->elements = names_is_hidden(f->name) ? ELEMENT_UNKNOWN : ELEMENT_SAME;
    f->result_annotation = without_word(c, f->result_annotation, &f->elements);
}

/* The elements of a tensor, or of the tensors of a list; NULL: another type. */
static const type *tensor_in(checker *c, const type *t) {
    t = type_resolve(c->types, t);
    if (t->kind == TYPE_VEC)
        t = type_resolve(c->types, t->vec.element);
    return t->kind == TYPE_TENSOR ? t : NULL;
}

static const type *element_of(checker *c, const type *tensor) {
    const type *element = tensor->tensor.element;
    element = element == NULL ? NULL : type_resolve(c->types, element);
    return element == NULL || element->kind == TYPE_OPEN ? NULL : element;
}

/* A list that is written out is a block, already of the type that is wanted: its last expression says what it holds. */
static const type *type_given(const expr *e) {
    while (e->kind == EXPR_BLOCK && e->block->result != NULL)
        e = e->block->result;
    return e->type;
}

/* The one of the operands whose elements the operation leaves open; NULL when they are not known. */
static const type *operand_element(checker *c, const function_item *f, const expr *call) {
    const type *all = NULL;
    for (uint32_t i = 0; i < f->parameter_count && i < call->call.operand_count; i++) {
        const type *wanted = tensor_in(c, f->parameters[i]->type),
                   *given = tensor_in(c, type_given(call->call.operands[i]));
        if (wanted == NULL || wanted->tensor.element != NULL)
            continue;
        const type *element = given == NULL ? NULL : element_of(c, given);
        if (element == NULL || f->elements == ELEMENT_SAME || f->elements == ELEMENT_UNKNOWN)
            return element;
        all = all == NULL ? element : check_wider_element(c, all, element);
    }
    return all;
}

static const type *with_element(checker *c, const type *t, const type *element) {
    if (t->kind == TYPE_TENSOR)
        return t->tensor.element != NULL ? t : type_tensor(c->types, element, t->tensor.rank);
    if (t->kind == TYPE_VEC && t->vec.length == -1)
        return type_vec(c->types, with_element(c, t->vec.element, element));
    if (t->kind != TYPE_TUPLE)
        return t;
    const type **items = CHECK_ARRAY(c, const type *, t->tuple.count);
    for (uint32_t i = 0; i < t->tuple.count; i++)
        items[i] = with_element(c, t->tuple.items[i], element);
    return type_tuple(c->types, items, t->tuple.count);
}

/* grad(f, x): a free function of the library holds what the first tensor that it takes holds. */
static bool is_like_first(const checker *c, const function_item *f) {
    return f->span.file == c->tree->prelude && f->owner_name == NULL && f->result->kind == TYPE_TENSOR;
}

const type *check_result_of(checker *c, const function_item *f, const expr *call) {
    if (f->elements == ELEMENT_UNKNOWN && !is_like_first(c, f))
        return f->result;
    const type *element = operand_element(c, f, call);
    if (element == NULL)
        return f->result;
    if (f->elements == ELEMENT_REAL && !type_is_float(element))
        element = check_scalar(c, TYPE_F32);
    else if (f->elements == ELEMENT_SUM && element->kind == TYPE_BOOL)
        element = check_scalar(c, TYPE_I64);
    return with_element(c, f->result, element);
}
