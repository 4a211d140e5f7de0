/* format.h: a source text as `masu fmt` lays it out. */
#ifndef MASU_LANGUAGE_FORMAT_H
#define MASU_LANGUAGE_FORMAT_H

#include "base/buffer.h"
#include "language/diagnose/diagnostics.h"
#include "language/diagnose/source.h"

/* Appends the formatted text to out. What cannot be read as tokens is reported and nothing is written. Linear.
 * MASU_OK; MASU_ERR_OUT_OF_MEMORY. */
masu_status format_source(const source_file *file, masu__arena *arena, diagnostics *diagnostics, masu__buffer *out);

#endif
