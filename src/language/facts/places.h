/* places.h: the lives of tensors' elements, for the passes that give them a place. Shared by `frames` and `growing`.
 *
 *     let t = a * 2.0;               point 1    own life of t: 1 to 2
 *     let v = t.transpose(0, 1);     point 2    v is t's elements: they are needed until 3
 *     v.sum()                        point 3
 *
 * Points count the instructions in the order of the blocks; a life is the hull over them.
 */
#ifndef MASU_LANGUAGE_PLACES_H
#define MASU_LANGUAGE_PLACES_H

#include "language/facts/liveness.h"
#include "language/facts/tensor_facts.h"

typedef struct place_life {
    int64_t first, last; /* of the value; -1: it has none */
    int64_t made;        /* by its operation; not `first` where a block of its life comes before in the order */
    int64_t until;       /* of its elements, wherever they flow to; >= last */
    int64_t others; /* the first point at which a value lives that its elements may have flowed to; INT64_MAX: none */
    bool flows;     /* its elements go on in another value */
    bool deep;      /* a call that may lead back to this function begins and ends within its elements' life */
} place_life;

/* The places of all tensors of f, by value, in scratch; NULL when memory runs out. O(instructions) a sweep; there are
 * about as many sweeps as loops are nested. */
place_life *place_lives(const tensor_facts *facts, const ir_function *f, masu__arena *scratch);

/* Bytes of v's elements; 0: not known, or none. */
uint64_t place_bytes_of(const tensor_facts *facts, const ir_function *f, ir_value v);

/* Whether nothing outside f's own text can have the elements of v, and history neither. */
bool place_is_private(const tensor_facts *facts, const ir_function *f, ir_value v);

#endif
