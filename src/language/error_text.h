/* error_text.h: a raised error as the text that the user sees. Shared by the command, which has the
 * compiled program beside it, and by executables, which carry places and sources as data. Needs
 * nothing of LLVM's: executables link this file and the ones it uses. */
#ifndef MASU_LANGUAGE_ERROR_TEXT_H
#define MASU_LANGUAGE_ERROR_TEXT_H

#include "base/buffer.h"
#include "language/ir/ir.h" /* ir_site */
#include "language/language.h"

typedef struct error_places {
    const ir_site *sites; /* [0] unused */
    uint32_t site_count;
    const source_file *prelude; /* calls inside it are not shown; may be NULL */
} error_places;

/* Place, source line, caret, then one "note: called from" a frame. O(text). */
void error_text_put(const error_places *places, const masu_run_error *error, masu__buffer *out);

/* The buffer's bytes as a text of the caller's; the buffer is destroyed. */
masu_text masu__text_of(masu__buffer *buffer);

#endif
