/* modules.h: what a name means where it is, when modules declare the same name.
 *
 *     parse ─► every item is noted under its module, every `use` under the module or block it is in
 *     modules_clash ─► false: all names are different, the tree is good as it is
 *                      true: each name that several modules declare got names of its own; the files are parsed
 *                            again, and the parser asks modules_find for each path
 *
 * One of the declarations keeps the plain name: the root's, or the first. The others are called NAME, the byte
 * MODULES_MARK and a number; diagnostics and printed values leave out what begins with the mark. What no module
 * declares keeps its name: types of the language, variants, variables.
 */
#ifndef MASU_LANGUAGE_MODULES_H
#define MASU_LANGUAGE_MODULES_H

#include <masu/status.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "language/diagnose/diagnostics.h"
#include "language/diagnose/source.h"

enum { MODULES_MARK = DIAGNOSTICS_MODULE_MARK };

typedef struct module_scope module_scope;
typedef struct module_names module_names;

/* Everything is the arena's. NULL: out of memory. */
module_names *modules_new(masu__arena *arena);
module_scope *modules_root(module_names *names);
/* The module of this name inside of `in`; made when it is not there. NULL: out of memory. */
module_scope *modules_enter(module_names *names, module_scope *in, const char *name);
/* The same for a function's body that declares items. */
module_scope *modules_enter_block(module_names *names, module_scope *in, const char *name);
/* Both `mod` name one file. */
void modules_same(module_scope *a, module_scope *b);

/* Notes an item. O(1) expected. False: out of memory. */
bool modules_declare(module_names *names, module_scope *in, const char *name);
/* `use path as alias;`, alias NULL: `use path::*`. It holds for the bytes from … until of the file; file NULL: for
 * the whole module. False: out of memory. */
bool modules_use(module_names *names, module_scope *in, const char *path, const char *alias, const source_file *file,
                 uint32_t from, uint32_t until);

/* All files are read: whether one name means several items. status is set when memory ends. */
bool modules_clash(module_names *names, masu_status *status);
bool modules_are_settled(const module_names *names); /* it has said yes */

/* The name that an item `name` declared in this module goes by. */
const char *modules_declared(const module_names *names, const module_scope *in, const char *name);
/* Whether some item has this name. */
bool modules_declared_anywhere(const module_names *names, const char *name);
size_t modules_plain_length(const char *name); /* of what people call it */
/* A path `a::b::c::d` written in `in`: the item that it names or begins with, and where the path goes on behind it
 * (`d`, or NULL). *goes_on is the path itself when it names no item that is known. at: the place, for the `use` of
 * blocks. NULL: unknown.
 */
const char *modules_find(const module_names *names, const module_scope *in, const char *path, source_span at,
                         const char **goes_on);

#endif
