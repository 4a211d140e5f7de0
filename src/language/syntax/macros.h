/* macros.h: `macro_rules!`: a text without its macros, before anything reads it.
 *
 *     macro_rules! square { ($x:expr) => { $x * $x }; }
 *     let n = square!(a + 1);       ─►      let n = ((a + 1) * (a + 1));
 *
 * What is written where a macro is called is parsed with what the macro makes of it, on the same line: lines keep their
 * numbers, and a message shows what the macro made. As in Rust, a name that a macro binds is not one of the program's:
 * it gets another one where the two would meet; and an expression that is given to a macro stays one.
 */
#ifndef MASU_LANGUAGE_MACROS_H
#define MASU_LANGUAGE_MACROS_H

#include "language/syntax/lexer.h"

/* Replaces *file by a text without macros where it has any. A macro with a part that masu does not know (`$x:item`)
 * stays as it is, and the parser refuses it. MASU_OK also with errors; MASU_ERR_OUT_OF_MEMORY. */
masu_status macros_expand(source_file *file, masu__arena *arena, diagnostics *diagnostics);

#endif
