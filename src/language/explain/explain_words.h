/* explain_words.h: how a value is called, and what is said of it. Shared by the files of `explain`. */
#ifndef MASU_LANGUAGE_EXPLAIN_WORDS_H
#define MASU_LANGUAGE_EXPLAIN_WORDS_H

#include "base/buffer.h"
#include "language/ir/ir.h"

/* `name`, or the beginning of the source text between the same marks. */
void explain_name(const ir_function *f, ir_value v, masu__buffer *out);
/* " [8, n]", or nothing when not even the rank is known. */
void explain_shape(const ir_function *f, ir_value v, masu__buffer *out);
/* Where its elements lie: " in the frame at 0, 256 bytes", " in growing slot 2 (…)", " where the caller wants it",
 * " in a pool (…)", or nothing when v is not made here. */
void explain_buffer(const ir_function *f, ir_value v, masu__buffer *out);
/* The same as a number of explain_place, for elements that v has for itself. */
int explain_place_of(const ir_function *f, ir_value v);
/* An object that is i's first operand, written into: a vector that something is pushed on. */
bool explain_changes(const ir_function *f, const ir_instr *i);
/* v has no elements of its own: it is made by a view, or by what writes into its operand. */
bool explain_is_view(const ir_function *f, ir_value v);
/* Why a count was needed: looks at the operation that takes it. */
const char *explain_reason(const ir_function *f, const ir_instr *acquire);

/* The first names of those that are in each owner slot. */
enum { EXPLAIN_MOST_SHARING = 4 };
typedef struct explain_sharing {
    const char *names[EXPLAIN_MOST_SHARING];
    uint32_t count;
} explain_sharing;
/* One a slot of f, in scratch; NULL when memory runs out. O(values). */
explain_sharing *explain_sharing_of(const ir_function *f, masu__arena *scratch);
/* ", slot 2 with `a`, `b`"; nothing for a value that is in none. */
void explain_slot(const ir_function *f, ir_value v, const explain_sharing *sharing, masu__buffer *out);

#endif
