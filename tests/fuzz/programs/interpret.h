/* interpret.h: what a program must print, found without the passes, the code generator and the runtime.
 *
 *     text ─► front ─► lowered IR ─► interpret ─► output, or the line and the words of an error
 *
 * The IR is taken as lowering left it: no pass has run. Its values are immutable, tensors are naive ones (naive.h).
 */
#ifndef MASU_FUZZ_INTERPRET_H
#define MASU_FUZZ_INTERPRET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"

typedef enum interpreted {
    INTERPRETED_WELL,    /* ended by itself */
    INTERPRETED_ERROR,   /* ended in the error of line, text */
    INTERPRETED_NOT,     /* no program: it does not compile */
    INTERPRETED_TOO_MUCH /* needs more than the interpreter knows or wants to do; text says what */
} interpreted;

typedef struct interpretation {
    interpreted how;
    masu__buffer output; /* to be destroyed */
    uint32_t line;
    char text[200];
} interpretation;

void interpret(const char *text, size_t length, interpretation *out);

#endif
