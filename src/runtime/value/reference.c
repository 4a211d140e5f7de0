/* reference.c: places in vectors, read and written where they lie.
 *
 *     reference   view │ word                 a variable in a cell (a vector of one), a field of it, an element
 *     slice       view │ word │ length        `length` elements from that word on
 *
 * All references into a vector hold its view: a vector of one, whose element is that vector. So a reference never
 * dangles, and the vector knows whether references are what holds it beside its owner: they do not make it shared. The
 * owner and every reference write in place, each sees what the others wrote; a value that was copied off before stays
 * as it was. A cell is not a value of the program, so that references to it hold the cell itself.
 */
#include <inttypes.h>
#include <string.h>

#include "runtime/state.h"
#include "runtime/value/objects.h"

static tl_object *word_object(int64_t word) {
    return (tl_object *)(uintptr_t)word;
}

static tl_vector *vector_of(tl_object *object) {
    tl_vector *v = (tl_vector *)(void *)object;
    return v->view == v ? (tl_vector *)(void *)word_object(v->words[0]) : v;
}

/* The words [at, at + count), or NULL with an error: the vector has become shorter since. */
static int64_t *words_at(const tl_vector *v, int64_t at, int64_t count) {
    if (count == 0)
        return v->words ? v->words : (int64_t *)(uintptr_t)v;
    int64_t end;
    if (at >= 0 && !__builtin_add_overflow(at, count, &end) && end <= v->length * v->plan->word_count)
        return v->words + at;
    (void)tl__error(TL_SAY(reference_element_list_that_became_shorter));
    return NULL;
}

typedef void owned_word(int64_t *word);

static void retain_word(int64_t *word) {
    tl_object *object = word_object(*word);
    if (object) {
        object->count++;
        tl__runtime()->retain_ops++;
    }
}

static void drop_word(int64_t *word) {
    tl__object_drop(word_object(*word));
}

static void clear_word(int64_t *word) {
    *word = 0;
}

/* Visits the owning words among words[0 .. count), the first of which is word `at` of the vector. */
static void each_owned(const tl_record *plan, int64_t at, int64_t count, int64_t *words, owned_word *visit) {
    for (int64_t first = at - (plan->word_count ? at % plan->word_count : 0);
         plan->owned_count > 0 && first < at + count; first += plan->word_count)
        for (int64_t i = 0; i < plan->owned_count; i++) {
            int64_t word = first + plan->owned[i] - at;
            if (word >= 0 && word < count)
                visit(words + word);
        }
}

static void tell_audit(tl_vector *v, int64_t at, int64_t count) {
    if (MASU_LIKELY(!tl__runtime()->audit) || count == 0)
        return;
    for (int64_t i = at / v->plan->word_count; i * v->plan->word_count < at + count; i++)
        tl__audit_element(&v->head, i);
}

/* ---- words ---------------------------------------------------------------------------------------------- */

tl_object *tl_vec_unshare(tl_object *object) {
    tl_vector *v = vector_of(object);
    if (tl__vector_own(&v) == MASU_OK)
        return &v->head;
    tl__object_drop(object);
    tl__raise();
    return NULL;
}

tl_object *tl_ref_view(tl_object *object) {
    tl_vector *view = NULL;
    masu_status status = tl__vector_view((tl_vector *)(void *)object, &view);
    return tl__object_or_raise(status, view ? &view->head : NULL);
}

/* A record may have no words, and then no place either. */
static void copy_words(int64_t *to, const int64_t *from, int64_t count) {
    if (count > 0)
        memcpy(to, from, (size_t)count * sizeof *to);
}

int64_t tl_ref_size(tl_object *object) {
    return vector_of(object)->length;
}

void tl_ref_get(tl_object *object, int64_t at, int64_t count, void *out) {
    tl_vector *v = vector_of(object);
    const int64_t *words = words_at(v, at, count);
    if (!words) {
        tl__raise();
        return;
    }
    copy_words(out, words, count);
    each_owned(v->plan, at, count, out, retain_word);
}

void tl_ref_take(tl_object *object, int64_t at, int64_t count, void *out) {
    tl_vector *v = vector_of(object);
    int64_t *words = words_at(v, at, count);
    if (!words) {
        tl__raise();
        return;
    }
    copy_words(out, words, count);
    each_owned(v->plan, at, count, words, clear_word);
    tell_audit(v, at, count);
}

void tl_ref_set(tl_object *object, int64_t at, int64_t count, void *values) {
    tl_vector *v = vector_of(object);
    int64_t *words = words_at(v, at, count);
    if (!words) {
        each_owned(v->plan, at, count, values, drop_word);
        tl__raise();
        return;
    }
    each_owned(v->plan, at, count, words, drop_word);
    copy_words(words, values, count);
    tell_audit(v, at, count);
}

tl_object *tl_ref_enter(tl_object *object, int64_t at) {
    tl_vector *v = vector_of(object);
    int64_t *word = words_at(v, at, 1);
    tl_vector *inner = word ? (tl_vector *)(void *)word_object(*word) : NULL;
    if (word && !inner)
        (void)tl__error(TL_SAY(there_is_no_list_here_it_was));
    if (!inner || tl__vector_own(&inner) != MASU_OK) {
        tl__raise();
        return NULL;
    }
    *word = (int64_t)(uintptr_t)inner;
    tell_audit(v, at, 1);
    return tl_ref_view(&inner->head);
}

/* ---- parts of lists ----------------------------------------------------------------------------------------- */

/* A fresh vector of these elements, which holds what their words held. */
static tl_object *part_of(tl_object *object, int64_t at, int64_t length, owned_word *left) {
    tl_vector *v = vector_of(object);
    const int64_t width = v->plan->word_count;
    int64_t *words = words_at(v, at, length * width);
    tl_object *part = NULL;
    if (!words || tl__vector_new(v->plan, &part) != MASU_OK) {
        tl__raise();
        return NULL;
    }
    for (int64_t i = 0; i < length; i++) {
        int64_t *element = width ? words + i * width : words;
        each_owned(v->plan, 0, width, element, retain_word);
        if (tl__vector_push(&part, element) != MASU_OK) {
            tl__object_drop(part);
            tl__raise();
            return NULL;
        }
    }
    if (left) {
        each_owned(v->plan, at, length * width, words, drop_word);
        each_owned(v->plan, at, length * width, words, left);
        tell_audit(v, at, length * width);
    }
    return part;
}

tl_object *tl_ref_part(tl_object *object, int64_t at, int64_t length) {
    return part_of(object, at, length, NULL);
}

tl_object *tl_ref_part_take(tl_object *object, int64_t at, int64_t length) {
    return part_of(object, at, length, clear_word);
}

void tl_ref_put(tl_object *object, int64_t at, int64_t length, tl_object *given) {
    tl_vector *v = vector_of(object), *part = vector_of(given);
    const int64_t count = length * v->plan->word_count;
    int64_t *words = part->length == length ? words_at(v, at, count) : NULL;
    if (part->length != length)
        (void)tl__error(TL_SAY(slice_elements_cannot_become_one), length, part->length);
    if (!words) {
        tl__object_drop(given);
        tl__raise();
        return;
    }
    if (count > 0) {
        each_owned(v->plan, 0, count, part->words, retain_word);
        each_owned(v->plan, at, count, words, drop_word);
        memcpy(words, part->words, (size_t)count * sizeof *words);
    }
    tl__object_drop(given);
    tell_audit(v, at, count);
}

/* ---- where elements and parts begin ----------------------------------------------------------------------------- */

int64_t tl_ref_index(int64_t index, int64_t length, int64_t width) {
    if (index >= 0 && index < length)
        return index * width;
    (void)tl__error(TL_SAY(index_is_out_range_for_slice_length), index, length);
    tl__raise();
    return 0;
}

int64_t tl_ref_length(int64_t low, int64_t high, int64_t length) {
    high = high == INT64_MAX ? length : high;
    if (low >= 0 && low <= high && high <= length)
        return high - low;
    (void)tl__error(TL_SAY(range_is_out_range_for_list_length), low, high, length);
    tl__raise();
    return 0;
}

int64_t tl_ref_low(int64_t low, int64_t high, int64_t length, int64_t width) {
    (void)tl_ref_length(low, high, length);
    return low * width;
}
