/* store.h: memory of a module. Shared inside ir/ and pass/.
 *
 * Everything a module consists of lies in its arena and is freed with it. A request that fails
 * marks the module (out_of_memory, sticky) and yields NULL; functions of ir/ accept NULL blocks
 * and instructions and then do nothing, so that one check after a stage is enough.
 *
 * Growing arrays (parameters, predecessors, arguments of jumps) store no capacity: it follows
 * from the length,
 *
 *     capacity = the smallest power of two >= max(4, length)
 *
 * An array that shrank has more room than this says, never less.
 */
#ifndef MASU_LANGUAGE_IR_STORE_H
#define MASU_LANGUAGE_IR_STORE_H

#include "language/ir/ir.h"

/* Zeroed memory for count elements; a valid address also for none. */
void *ir_alloc(ir_module *m, size_t count, size_t element_bytes);

/* A copy of text; NULL stays NULL. */
const char *ir_copy_text(ir_module *m, const char *text);

/* The array, perhaps moved, with room for one element behind its `count`. */
void *ir_room(ir_module *m, void *array, uint32_t count, size_t element_bytes);

/* A copy of the array with room for growth as above. */
void *ir_copy_growing(ir_module *m, const void *array, uint32_t count, size_t element_bytes);

/* A function of the module that is not in its list. */
ir_function *ir_function_detached(ir_module *m, const char *name, source_span span);

#endif
