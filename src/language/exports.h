/* exports.h: what a shared module shows to callers in C. See exports.c. */
#ifndef MASU_LANGUAGE_EXPORTS_H
#define MASU_LANGUAGE_EXPORTS_H

#include "base/arena.h"
#include "base/buffer.h"
#include "language/diagnose/messages.h"
#include "language/syntax/tree.h"
#include <masu/module.h>
#include <masu/status.h>

/* Finds the functions that the tree's file exports, as it is parsed and not yet checked, says what C cannot call, and
 * writes the `main` that calls them, for the prelude. prefix: of the names in C. *out, in `kept`, has no functions to
 * call but the names, types and numbers of all; valid when nothing was said. MASU_OK; MASU_ERR_OUT_OF_MEMORY. Linear in
 * the tree and the files. */
masu_status exports_read(syntax_tree *tree, const char *prefix, masu__arena *kept, diagnostics *diagnostics,
                         masu__buffer *text, masu_module **out);

/* The program's own `main` is a function like any other in a module. */
void exports_hide_main(syntax_tree *tree);

#endif
