/* compare.h: one program, run in every way, all of which must agree.
 *
 *     text ─┬─► naive interpreter ────────────────────────────► output, or a line     (interpret.h)
 *           ├─► all passes, code ─► runtime, judged ──────────► the same; nothing alive; the judge is content
 *           ├─► all passes, audited ──────────────────────────► the same; every statement's live set is right
 *           └─► without optional passes, one or all ──────────► byte for byte what all passes gave
 */
#ifndef MASU_FUZZ_COMPARE_H
#define MASU_FUZZ_COMPARE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buffer.h"

typedef enum comparison {
    COMPARED_SAME,
    COMPARED_DIFFERENT, /* why is said */
    COMPARED_REFUSED,   /* by the rules of references, which the generator does not know; why is said */
    COMPARED_NOTHING    /* no program, or more than the interpreter does; why is said */
} comparison;

typedef enum compare_depth {
    COMPARE_PLAIN,   /* all passes; none of the optional ones */
    COMPARE_AUDITED, /* all passes, audited; none of the optional ones */
    COMPARE_ALL,     /* both, and without each optional pass alone */
    COMPARE_TURN     /* COMPARE_TURN + n: audited, and without the n-th optional pass (n counts round) */
} compare_depth;

/* In this process: a crash is the caller's to survive. */
comparison compare(const char *text, size_t length, compare_depth depth, masu__buffer *why);

#endif
