/* lookup.h: what is at a place of a checked program. */
#ifndef MASU_LANGUAGE_LOOKUP_H
#define MASU_LANGUAGE_LOOKUP_H

#include "language/syntax/tree.h"

typedef struct lookup_result {
    const char *name; /* NULL: an expression without a name */
    const type *type;
    source_span declared; /* file NULL: nowhere */
    bool is_variable;
    uint32_t until; /* of a variable: from here on its name means another one, or its function has ended */
} lookup_result;

/* The binding or the shortest expression around the byte at offset. False when there is none. O(size of the tree). */
bool lookup_at(const syntax_tree *tree, const source_file *file, uint32_t offset, lookup_result *out);

#endif
