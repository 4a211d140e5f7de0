/* facts_same.c: whether two facts say the same; facts of lists and tensors are compared by their contents, wherever
 * they lie. */
#include "language/portable/portable.h"

#include <string.h>

int64_t fact_elements(const fact *t) {
    int64_t elements = 1;
    for (uint32_t d = 0; d < t->rank; d++)
        if (__builtin_mul_overflow(elements, t->dim[d], &elements))
            return INT64_MAX;
    return elements;
}

static bool same_list(const fact_list *a, const fact_list *b) {
    if (a->count != b->count || a->width != b->width)
        return false;
    for (uint32_t k = 0; k < a->count * a->width; k++)
        if (!fact_same(&a->words[k], &b->words[k]))
            return false;
    return true;
}

bool fact_same(const fact *a, const fact *b) {
    if (a->kind != b->kind)
        return false;
    switch (a->kind) {
    case FACT_NUMBER:
        return a->i == b->i && memcmp(&a->f, &b->f, sizeof a->f) == 0;
    case FACT_TENSOR:
        return a->dtype == b->dtype && a->rank == b->rank && memcmp(a->dim, b->dim, a->rank * sizeof a->dim[0]) == 0 &&
               (a->list == b->list || (a->list && b->list && same_list(a->list, b->list)));
    case FACT_LIST:
        return same_list(a->list, b->list);
    case FACT_TEXT:
        return a->text == b->text;
    default:
        return true;
    }
}

bool fact_numbers_differ(const fact *a, const fact *b) {
    return a->kind == FACT_TENSOR && b->kind == FACT_TENSOR && a->list && b->list && a->list->count <= TL_MAX_RANK &&
           !same_list(a->list, b->list);
}
