/* shape_users.h: which blocks have to be looked at again when what is known of a value changes.
 *
 * blocks[first[v] .. first[v + 1]) are the ids of those that read v. The block that defines it is not among them: its
 * uses there come behind it.
 */
#ifndef MASU_LANGUAGE_SHAPE_USERS_H
#define MASU_LANGUAGE_SHAPE_USERS_H

#include "language/ir/ir.h"

typedef struct value_users {
    uint32_t *first, *blocks;
} value_users;

/* O(function), in the arena. False: no memory. */
bool value_users_find(value_users *users, const ir_function *f, masu__arena *arena);

#endif
