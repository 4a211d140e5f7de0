/* objects.h: strings and vectors, the counted things besides tensors. Private to the runtime.
 *
 *     tl_string   head │ grown │ length │ bytes … 0                 written only by who holds it alone, at its end
 *     tl_vector   head │ plan │ length │ capacity │ words ─► length * plan->word_count words, room for capacity
 *
 * What must stay true:
 *     string: bytes[length] = 0;  NULL is the empty string;  length <= 2^grown, or grown = 0 and there is no room
 *     vector: length <= capacity;  words == NULL exactly when capacity * word_count = 0;
 *             every owned word holds NULL or one count;  a vector that others hold is copied before it is written;
 *             its view holds one count of it and is none of those others (reference.c)
 */
#ifndef MASU_RUNTIME_OBJECTS_H
#define MASU_RUNTIME_OBJECTS_H

#include "base/buffer.h"
#include "runtime/value/tensor.h"

typedef struct tl_string {
    tl_object head;
    uint32_t grown; /* room for 2^grown bytes; 0: for its length */
    int64_t length;
    char bytes[];
} tl_string;

typedef struct tl_vector {
    tl_object head;
    const tl_record *plan;    /* borrowed: lies in the compiled program */
    int64_t length, capacity; /* in elements */
    int64_t *words;
    struct tl_vector *next_dead; /* only while it is being freed */
    struct tl_vector *view;      /* what all references into it hold; NULL: there are none; itself: this is a view */
} tl_vector;

static inline const char *tl__string_bytes(const tl_object *s) {
    return s ? ((const tl_string *)(const void *)s)->bytes : "";
}

static inline int64_t tl__string_length(const tl_object *s) {
    return s ? ((const tl_string *)(const void *)s)->length : 0;
}

masu_status tl__vector_new(const tl_record *plan, tl_object **out);
/* One of `length` elements that own nothing, whose words the caller fills. */
masu_status tl__vector_of(const tl_record *plan, int64_t length, tl_object **out, int64_t **words);
/* *v is the caller's only count; the element's counts pass to it, also on failure. */
masu_status tl__vector_push(tl_object **v, const int64_t *element);
/* The view of *v, with one more count. A view's view is itself. */
masu_status tl__vector_view(tl_vector *v, tl_vector **out);
/* Turns *v, of which the caller owns one count, into a vector that only the caller holds. On failure *v is as it
 * was. */
masu_status tl__vector_own(tl_vector **v);
bool tl__string_is_number(const tl_object *s, bool whole);

/* A fresh string of count 1. bytes may be NULL when length is 0. */
masu_status tl__string_new(const char *bytes, int64_t length, tl_object **out);
/* The text of the buffer, which is destroyed; raises when it failed. */
tl_object *tl__string_of(masu__buffer *out);
/* A vector of texts. On failure nothing is left, and *out is NULL. */
masu_status tl__string_list(const char *const *texts, size_t count, tl_object **out);
/* How many bytes fit without another allocation: what Rust calls the capacity. */
int64_t tl__string_room(const tl_object *s);

#endif
