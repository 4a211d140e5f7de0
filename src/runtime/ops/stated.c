/* stated.c: a tensor comes to where its element type or rank is stated, of which the compiler did not know it.
 *
 *     fn f(x: Tensor) -> Tensor<i64, 1> { x }        what x is is found here, once, where it meets what is stated
 *
 * Compiled code believes what a type states: how elements are read, and how many indices there are. So nothing passes
 * that is otherwise. What is converted says so itself (`as Tensor<i64>`).
 *
 * Where nothing is stated, what is passed says whether a function's copy for f64 runs (lower_wide.c).
 */
#include <stdio.h>

#include "runtime/ops/ops.h"
#include "runtime/state.h"
#include "runtime/value/objects.h"

enum { NOT_STATED = -1, STATED_TEXT = 48 };

static const char *stated_text(int64_t dtype, int64_t rank, char text[STATED_TEXT]) {
    const char *element = dtype == NOT_STATED ? "_" : tl__dtype_name((tl_dtype)dtype);
    if (rank == NOT_STATED)
        snprintf(text, STATED_TEXT, "Tensor<%s>", element);
    else
        snprintf(text, STATED_TEXT, "Tensor<%s, %d>", element, (int)rank);
    return text;
}

/* A variant that holds no tensor has none here. */
static bool is_as_stated(const tl_tensor *t, int64_t dtype, int64_t rank) {
    if (MASU_LIKELY(!t || ((dtype == NOT_STATED || t->dtype == dtype) && (rank == NOT_STATED || t->rank == rank))))
        return true;
    char stated[STATED_TEXT], shape[TL_SHAPE_TEXT];
    (void)tl__error(TL_SAY(tensor_is_not_as_stated), stated_text(dtype, rank, stated),
                    tl__dtype_name((tl_dtype)t->dtype), (int)t->rank, tl__shape_text(t->rank, t->shape, shape));
    return false;
}

void tl_tensor_stated(tl_tensor *t, int64_t dtype, int64_t rank) {
    if (!is_as_stated(t, dtype, rank))
        tl__raise();
}

/* O(elements). Deep as the type is, which is written in the program. */
static bool all_are(const tl_vector *v, int64_t dtype, int64_t rank, int64_t depth, const int64_t *path) {
    bool all = true;
    for (int64_t i = 0; v && all && i < v->length; i++) {
        const void *word = (const void *)(uintptr_t)v->words[i * v->plan->word_count + path[0]];
        all = depth == 1 ? is_as_stated(word, dtype, rank) : all_are(word, dtype, rank, depth - 1, path + 1);
    }
    return all;
}

/* O(elements), until one is found. */
static bool some_holds(const tl_vector *v, int64_t dtype, int64_t depth, const int64_t *path) {
    bool some = false;
    for (int64_t i = 0; v && !some && i < v->length; i++) {
        const void *word = (const void *)(uintptr_t)v->words[i * v->plan->word_count + path[0]];
        const tl_tensor *t = word;
        some = depth == 1 ? t && t->dtype == dtype : some_holds(word, dtype, depth - 1, path + 1);
    }
    return some;
}

bool tl_vec_holds(tl_object *v, int64_t dtype, int64_t depth, const int64_t *path) {
    return some_holds((const tl_vector *)(const void *)v, dtype, depth, path);
}

void tl_vec_stated(tl_object *v, int64_t dtype, int64_t rank, int64_t depth, const int64_t *path) {
    if (!all_are((const tl_vector *)(const void *)v, dtype, rank, depth, path))
        tl__raise();
}
