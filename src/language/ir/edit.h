/* edit.h: changes to functions that several passes and the builder share. Shared inside ir/ and
 * pass/. */
#ifndef MASU_LANGUAGE_IR_EDIT_H
#define MASU_LANGUAGE_IR_EDIT_H

#include "language/ir/ir.h"

/* Replaces uses of v by to[v], followed to the end of the chain (to[v] == v: stays).
 * O(instructions). */
void ir_replace_values(ir_function *f, ir_value *to);

/* Removes block parameters that are another value in disguise (every edge passes the same value
 * or the parameter itself) and those that nothing needs, with the arguments on the edges. True
 * when any was removed. Every block must be reachable. */
bool ir_simplify_params(ir_function *f);

/* Joins each block that ends in a jump with the block that only this jump leads to. Every block
 * must be reachable, superfluous parameters removed. O(instructions). */
void ir_merge_chains(ir_function *f);

/* A copy with the same value numbers and block ids, not in the module's list. */
ir_function *ir_function_clone(ir_function *f, const char *name);

#endif
