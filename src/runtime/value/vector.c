/* vector.c: growing arrays of records, whose owned words hold counts.
 *
 * The record's plan says how many words an element has and which of them own something. An element without words
 * has no bytes: such a vector only counts.
 *
 * A vector is a value: push and set consume the count they are given, write in place when it was the only one,
 * and otherwise write into a copy. They also consume what the new element owns, whether they succeed or not.
 *
 * A vector of vectors of … dies without recursion: those whose count reaches zero wait in a list, linked
 * through next_dead.
 */
#include <assert.h>
#include <inttypes.h>
#include <stddef.h>
#include <string.h>

#include "base/assert.h"
#include "runtime/grad/autograd.h"
#include "runtime/state.h"
#include "runtime/value/objects.h"

static_assert(offsetof(tl_object, count) == TL_OBJECT_COUNT_AT && offsetof(tl_vector, length) == TL_VECTOR_LENGTH_AT &&
                  offsetof(tl_vector, capacity) == TL_VECTOR_CAPACITY_AT &&
                  offsetof(tl_vector, words) == TL_VECTOR_WORDS_AT,
              "compiled code looks there");

enum { FIRST_CAPACITY = 4, SHORTEST_GATHERING = 64 /* part of the limit of a history */ };

static tl_vector *vector_of(tl_object *object) {
    return (tl_vector *)(void *)object;
}

static size_t element_bytes(const tl_record *plan) {
    return (size_t)plan->word_count * sizeof(int64_t);
}

static int64_t *element_at(const tl_vector *v, int64_t index) {
    return v->words + index * v->plan->word_count;
}

static tl_object *owned_word(const int64_t *element, int64_t word) {
    return (tl_object *)(uintptr_t)element[word];
}

static void drop_owned(const tl_record *plan, const int64_t *element) {
    for (int64_t i = 0; i < plan->owned_count; i++)
        tl__object_drop(owned_word(element, plan->owned[i]));
}

static void retain_owned(const tl_record *plan, const int64_t *element) {
    for (int64_t i = 0; i < plan->owned_count; i++) {
        tl_object *object = owned_word(element, plan->owned[i]);
        if (object)
            object->count++;
    }
}

/* ---- making, copying, growing -------------------------------------------------------------------------------- */

static masu_status words_new(const tl_record *plan, int64_t capacity, int64_t **out) {
    void *words;
    size_t bytes;
    if (__builtin_mul_overflow((size_t)capacity, element_bytes(plan), &bytes))
        return tl__error(TL_SAY(vector_elements), capacity);
    masu_status status = tl__alloc(bytes, &words);
    if (status == MASU_OK)
        *out = words;
    return status;
}

/* A value with a destructor may be part of a circle that only the destructor would open (an Rc and the Weak that leads
 * back to it). An error runs none, so all of it is linked from its birth: tl__dying_abandon opens what is left.
 *
 *     rt->destructible ─► ┌ vector │ next ┼─► ┌ vector │ next ┼─► NULL       *back = what points to this one
 */
typedef struct destructible {
    tl_vector vector;
    struct destructible *next, **back; /* back NULL: no longer linked */
} destructible;

static size_t head_bytes(const tl_record *plan) {
    return plan->destructor == 0 ? sizeof(tl_vector) : sizeof(destructible);
}

static void link_in(tl_vector *v) {
    destructible *d = (destructible *)(void *)v, **first = &tl__runtime()->destructible;
    if (v->plan->destructor == 0)
        return;
    d->next = *first;
    d->back = first;
    if (d->next)
        d->next->back = &d->next;
    *first = d;
}

static void link_out(tl_vector *v) {
    destructible *d = (destructible *)(void *)v;
    if (v->plan->destructor == 0 || !d->back)
        return;
    *d->back = d->next;
    if (d->next)
        d->next->back = d->back;
    d->back = NULL;
}

static masu_status vector_new(const tl_record *plan, int64_t capacity, tl_vector **out) {
    void *memory;
    int64_t *words = NULL;
    masu_status status = words_new(plan, capacity, &words);
    if (status != MASU_OK)
        return status;
    status = tl__alloc(head_bytes(plan), &memory);
    if (status != MASU_OK) {
        tl__free(words, (size_t)capacity * element_bytes(plan));
        return status;
    }
    *out = memory;
    **out = (tl_vector){.head = {.count = 1, .kind = TL_VECTOR}, .plan = plan, .capacity = capacity, .words = words};
    link_in(*out);
    tl__runtime()->live_objects++;
    return MASU_OK;
}

static masu_status vector_copy(const tl_vector *v, int64_t capacity, tl_vector **out) {
    masu_status status = vector_new(v->plan, capacity, out);
    if (status != MASU_OK)
        return status;
    (*out)->length = v->length;
    if (!v->words)
        return MASU_OK;
    memcpy((*out)->words, v->words, (size_t)v->length * element_bytes(v->plan));
    for (int64_t i = 0; i < v->length && v->plan->owned_count > 0; i++)
        retain_owned(v->plan, element_at(*out, i));
    return MASU_OK;
}

static masu_status vector_grow(tl_vector *v, int64_t capacity) {
    int64_t *words = NULL;
    masu_status status = words_new(v->plan, capacity, &words);
    if (status != MASU_OK)
        return status;
    if (v->words) {
        memcpy(words, v->words, (size_t)v->length * element_bytes(v->plan));
        tl__free(v->words, (size_t)v->capacity * element_bytes(v->plan));
    }
    v->words = words;
    v->capacity = capacity;
    return MASU_OK;
}

/* Whether somebody else holds it as a value. What has a destructor is one thing, whatever else looks at it. */
static bool is_shared(const tl_vector *v) {
    return v->plan->destructor == 0 && v->head.count > (v->view != NULL && v->view != v ? 2u : 1u);
}

/* Turns *v, of which the caller owns one count, into a vector that only the caller holds, with room for `capacity`
 * elements or what it has. On failure *v is as it was. */
static masu_status make_room(tl_vector **v, int64_t capacity) {
    tl_vector *old = *v;
    capacity = capacity > old->capacity ? capacity : old->capacity;
    if (is_shared(old)) {
        masu_status status = vector_copy(old, capacity, v);
        if (status == MASU_OK)
            old->head.count--;
        return status;
    }
    return capacity == old->capacity ? MASU_OK : vector_grow(old, capacity);
}

/* The same, with room to grow. */
static masu_status make_own(tl_vector **v, int64_t length) {
    int64_t capacity = (*v)->capacity;
    while (capacity < length)
        capacity = capacity ? 2 * capacity : FIRST_CAPACITY;
    return make_room(v, capacity);
}

/* ---- freeing ----------------------------------------------------------------------------------------------------- */

/* One count less of each owned word; vectors that die join the list at its end. */
static tl_vector **drop_element(const tl_record *plan, const int64_t *element, tl_vector **end) {
    for (int64_t i = 0; i < plan->owned_count; i++) {
        tl_object *object = owned_word(element, plan->owned[i]);
        if (!object || object->kind != TL_VECTOR || object->count > 1) {
            tl__object_drop(object);
            continue;
        }
        object->count = 0;
        *end = vector_of(object);
        end = &vector_of(object)->next_dead;
    }
    return end;
}

/* Whether v waits for its destructor from now on, behind those that do. */
static bool waits(tl_vector *v) {
    tl_runtime *rt = tl__runtime();
    if (v->plan->destructor == 0 || v->head.is_dropped || rt->ends_early)
        return false;
    struct tl_vector **end = &rt->dying;
    while (*end)
        end = &(*end)->next_dead;
    v->next_dead = NULL;
    *end = v;
    if (MASU_UNLIKELY(rt->audit))
        tl__audit_waits(&v->head, true);
    return true;
}

static void free_all(tl_vector *dead) {
    while (dead) {
        tl_vector *v = dead, *inner = NULL, **end = &inner;
        dead = v->next_dead;
        if (waits(v))
            continue;
        if (v->view == v)
            vector_of(owned_word(v->words, 0))->view = NULL;
        for (int64_t i = 0; i < v->length && v->plan->owned_count > 0; i++)
            end = drop_element(v->plan, element_at(v, i), end);
        *end = dead;
        dead = inner;
        tl__free(v->words, (size_t)v->capacity * element_bytes(v->plan));
        link_out(v);
        tl__free(v, head_bytes(v->plan));
        tl__runtime()->live_objects--;
    }
}

void tl__vector_free(tl_object *object) {
    if (!object->is_dropped) /* else those behind it in rt->dying go with it */
        vector_of(object)->next_dead = NULL;
    free_all(vector_of(object));
}

/* ---- destructors ------------------------------------------------------------------------------------------------- */

/* A value with a `drop` runs it when its last count goes, and only compiled code can run it. So it waits in rt->dying,
 * in the order in which Rust drops, and compiled code takes what waits behind each instruction that may let go of
 * something:
 *
 *     release %list        rt->dying = a, b, c
 *     next                 a, which keeps b and c behind itself: rt->dying is empty for what a's own drop lets go of
 *     a.drop()
 *     done a               its fields go: those with a drop of their own wait before b and c
 *
 * An error ends that: everything is released, and no destructor runs. */
tl_object *tl_dying_next(void) {
    tl_runtime *rt = tl__runtime();
    tl_vector *v = rt->dying;
    if (!v)
        return NULL;
    rt->dying = NULL;
    if (MASU_UNLIKELY(rt->audit))
        tl__audit_waits(&v->head, false);
    v->head.count = 1;
    v->head.is_dropped = true;
    return &v->head;
}

int64_t tl_dying_destructor(tl_object *object) {
    return object ? vector_of(object)->plan->destructor : 0;
}

void tl_dying_done(tl_object *object) {
    tl_runtime *rt = tl__runtime();
    if (!object)
        return;
    tl_vector *rest = vector_of(object)->next_dead, **end = &rt->dying;
    vector_of(object)->next_dead = NULL;
    tl__object_drop(object);
    while (*end)
        end = &(*end)->next_dead;
    *end = rest;
}

/* Lets go of all that v holds, while others hold v. */
static void empty(tl_vector *v) {
    int64_t length = v->length;
    v->head.count++;
    v->length = 0;
    for (int64_t i = 0; i < length; i++)
        drop_owned(v->plan, element_at(v, i));
    tl__object_drop(&v->head);
}

void tl__dying_abandon(tl_runtime *rt, bool opens_circles) {
    tl_vector *dead = rt->dying;
    rt->dying = NULL;
    free_all(dead);
    while (opens_circles && rt->destructible) {
        tl_vector *v = &rt->destructible->vector;
        link_out(v);
        empty(v);
    }
}

/* ---- for other files of the runtime ------------------------------------------------------------------------------ */

masu_status tl__vector_new(const tl_record *plan, tl_object **out) {
    tl_vector *v = NULL;
    masu_status status = vector_new(plan, 0, &v);
    if (status == MASU_OK)
        *out = &v->head;
    return status;
}

masu_status tl__vector_of(const tl_record *plan, int64_t length, tl_object **out, int64_t **words) {
    tl_vector *v = NULL;
    MASU_ASSERT(plan->owned_count == 0);
    masu_status status = vector_new(plan, length, &v);
    if (status != MASU_OK)
        return status;
    v->length = length;
    *out = &v->head;
    *words = v->words;
    return MASU_OK;
}

masu_status tl__vector_own(tl_vector **v) {
    return make_own(v, (*v)->length);
}

masu_status tl__vector_view(tl_vector *v, tl_vector **out) {
    static const int64_t first_word[] = {0};
    static const tl_record plan = {.word_count = 1, .owned_count = 1, .owned = first_word};
    masu_status status = v->view ? MASU_OK : vector_new(&plan, 1, out);
    if (status != MASU_OK)
        return status;
    if (v->view) {
        *out = v->view;
        v->view->head.count++;
        return MASU_OK;
    }
    (*out)->length = 1;
    (*out)->words[0] = (int64_t)(uintptr_t)v;
    (*out)->view = *out;
    v->view = *out;
    v->head.count++;
    tl__runtime()->retain_ops++;
    if (MASU_UNLIKELY(tl__runtime()->audit))
        tl__audit_element(&(*out)->head, 0);
    return MASU_OK;
}

masu_status tl__vector_push(tl_object **object, const int64_t *element) {
    tl_vector *v = vector_of(*object);
    masu_status status = make_own(&v, v->length + 1);
    if (status != MASU_OK) {
        drop_owned(v->plan, element);
        return status;
    }
    if (element_bytes(v->plan) > 0)
        memcpy(element_at(v, v->length), element, element_bytes(v->plan));
    v->length++;
    *object = &v->head;
    return MASU_OK;
}

/* ---- entry points ------------------------------------------------------------------------------------------------ */

tl_object *tl_vec_new(void *plan) {
    tl_vector *v = NULL;
    masu_status status = vector_new(plan, 0, &v);
    return tl__object_or_raise(status, v ? &v->head : NULL);
}

int64_t tl_vec_len(tl_object *v) {
    return v ? vector_of(v)->length : 0;
}

int64_t tl_vec_capacity(tl_object *v) {
    return v ? vector_of(v)->capacity : 0;
}

/* Exactly what is asked for, where there is less: a program that says how much it needs gets no more. */
tl_object *tl_vec_reserve(tl_object *object, int64_t more) {
    tl_vector *v = vector_of(object);
    int64_t all;
    masu_status status = more < 0 || __builtin_add_overflow(v->length, more, &all)
                             ? tl__error(TL_SAY(room_for_more_elements), more)
                             : make_room(&v, all);
    if (status == MASU_OK)
        return &v->head;
    tl__object_drop(&v->head);
    tl__raise();
    return NULL;
}

static masu_status check_index(const tl_vector *v, int64_t index) {
    if (index >= 0 && index < v->length)
        return MASU_OK;
    return tl__error(TL_SAY(index_is_out_range_for_vector_length), index, v->length);
}

/* Gives back what a failing push or set has consumed. */
static tl_object *consume_and_raise(tl_vector *v, const int64_t *element) {
    drop_owned(v->plan, element);
    tl__object_drop(&v->head);
    tl__raise();
    return NULL;
}

/* The audit follows a vector by its stores. */
static tl_object *audited(tl_vector *v, int64_t index) {
    if (MASU_UNLIKELY(tl__runtime()->audit))
        tl__audit_element(&v->head, index);
    return &v->head;
}

/* Losses that are gathered with their histories: each is short, and together they never end. Where as much is alive as
 * one history may be long, the vector that has grown with it is pointed out; one of a few elements is what a model is
 * made of. */
static void watch_history(const tl_vector *v, const int64_t *element) {
    const tl_runtime *rt = tl__runtime();
    if (v->length < rt->history_limit / SHORTEST_GATHERING)
        return;
    for (int64_t i = 0; i < v->plan->owned_count; i++) {
        const tl_object *object = owned_word(element, v->plan->owned[i]);
        if (object && object->kind == TL_TENSOR && tl__keeps_history((const tl_tensor *)(const void *)object))
            tl__history_is_long();
    }
}

tl_object *tl_vec_push(tl_object *object, void *element) {
    tl_vector *v = vector_of(object);
    const tl_runtime *rt = tl__runtime();
    if (MASU_UNLIKELY(tl__kept_nodes(rt) >= rt->history_limit))
        watch_history(v, element);
    if (make_own(&v, v->length + 1) != MASU_OK)
        return consume_and_raise(v, element);
    if (v->words)
        memcpy(element_at(v, v->length), element, element_bytes(v->plan));
    v->length++;
    return audited(v, v->length - 1);
}

/* Each of the new elements is the one before them; none when there are `length` or more already. */
static void repeat_last(tl_vector *v, int64_t length) {
    const int64_t width = v->plan->word_count, first = v->length;
    const int64_t *last = element_at(v, first - 1);
    for (int64_t i = first; width == 1 && i < length; i++)
        v->words[i] = *last;
    for (int64_t i = first; width > 1 && i < length; i++)
        memcpy(element_at(v, i), last, element_bytes(v->plan));
    for (int64_t i = 0; i < v->plan->owned_count; i++) {
        tl_object *object = owned_word(last, v->plan->owned[i]);
        if (object)
            object->count += length - first;
    }
}

tl_object *tl_vec_fill(tl_object *object, int64_t length) {
    tl_vector *v = vector_of(object);
    if (v->length == 0 || v->length >= length)
        return object;
    if (make_room(&v, length) != MASU_OK) {
        tl__object_drop(&v->head);
        tl__raise();
        return NULL;
    }
    const int64_t first = v->length;
    if (v->words)
        repeat_last(v, length);
    v->length = length;
    for (int64_t i = first; MASU_UNLIKELY(tl__runtime()->audit) && i < length; i++)
        tl__audit_element(&v->head, i);
    return &v->head;
}

tl_object *tl_vec_set(tl_object *object, int64_t index, void *element) {
    tl_vector *v = vector_of(object);
    if (check_index(v, index) != MASU_OK || make_own(&v, v->length) != MASU_OK)
        return consume_and_raise(v, element);
    if (v->words) {
        drop_owned(v->plan, element_at(v, index));
        memcpy(element_at(v, index), element, element_bytes(v->plan));
    }
    return audited(v, index);
}

/* The last element's counts move to the program. */
tl_object *tl_vec_pop(tl_object *object, void *element) {
    tl_vector *v = vector_of(object);
    if (v->length == 0 || make_own(&v, v->length) != MASU_OK) {
        if (v->length == 0)
            (void)tl__error(TL_SAY(pop_empty_vector));
        tl__object_drop(&v->head);
        tl__raise();
        return NULL;
    }
    v->length--;
    if (v->words)
        memcpy(element, element_at(v, v->length), element_bytes(v->plan));
    return audited(v, v->length);
}

/* Its counts move to the program. In a vector that others hold, too, the copy's are moved. */
tl_object *tl_vec_take(tl_object *object, int64_t index, void *element) {
    tl_vector *v = vector_of(object);
    if (check_index(v, index) != MASU_OK || make_own(&v, v->length) != MASU_OK) {
        tl__object_drop(&v->head);
        tl__raise();
        return NULL;
    }
    if (v->words) {
        memcpy(element, element_at(v, index), element_bytes(v->plan));
        for (int64_t i = 0; i < v->plan->owned_count; i++)
            element_at(v, index)[v->plan->owned[i]] = 0;
    }
    return audited(v, index);
}

static void hand_out_copy(const tl_vector *v, int64_t index, int64_t *element) {
    if (!v->words)
        return;
    memcpy(element, element_at(v, index), element_bytes(v->plan));
    retain_owned(v->plan, element);
    tl_runtime *rt = tl__runtime();
    for (int64_t i = 0; i < v->plan->owned_count; i++)
        rt->retain_ops += owned_word(element, v->plan->owned[i]) != NULL;
}

/* Copies the words; the program owns one more count of each owned one. */
void tl_vec_get(tl_object *object, int64_t index, void *element) {
    if (check_index(vector_of(object), index) != MASU_OK)
        tl__raise();
    else
        hand_out_copy(vector_of(object), index, element);
}

/* The compiler knows that the index is one of the vector's. */
void tl_vec_at(tl_object *object, int64_t index, void *element) {
    const tl_vector *v = vector_of(object);
    MASU_DEBUG_ASSERT(index >= 0 && index < v->length);
    hand_out_copy(v, index, element);
}

void tl_vec_get_in(tl_object *object, void *element, int64_t count, const int64_t *path) {
    enum { INDEX, WIDTH, WORD, LEVEL };
    const tl_vector *v = vector_of(object);
    for (; check_index(v, path[INDEX]) == MASU_OK; path += LEVEL, count -= LEVEL) {
        if (count == 1) {
            hand_out_copy(v, path[INDEX], element);
            return;
        }
        v = vector_of(owned_word(element_at(v, path[INDEX]), path[WORD]));
    }
    tl__raise();
}
