/* elaboration.h: what the files of this room share: the state of the walk, and nodes. */
#ifndef MASU_LANGUAGE_ELABORATION_H
#define MASU_LANGUAGE_ELABORATION_H

#include "base/arena.h"
#include "language/elaborate/elaborate.h"

typedef struct elaboration {
    syntax_tree *tree;
    type_table *types;
    function_item *function; /* whose body it is */
    bool out_of_memory;      /* nothing is rewritten any more */
} elaboration;

/* NULL, here and below: out of memory. */
expr *elaborate_new(elaboration *el, expr_kind kind, source_span span, const type *t);
/* A call of the runtime that yields a t. */
expr *elaborate_abi(elaboration *el, tl_abi_index abi, source_span span, expr *const *operands, uint32_t count,
                    const type *t);
/* e as the number type t. */
expr *elaborate_cast(elaboration *el, expr *e, const type *t);
/* `let NAME = value;`, a step of the expression around it; yields its name. */
expr *elaborate_let(elaboration *el, stmt *s, const char *name, bool is_mutable, expr *value);
/* The variable of such a `let`, once more. */
expr *elaborate_name(elaboration *el, source_span span, const stmt *let);
expr *elaborate_binary(elaboration *el, binary_op op, expr *left, expr *right, const type *t);
expr *elaborate_not(elaboration *el, expr *e);
block *elaborate_block(elaboration *el, source_span span, stmt *steps, expr *result, const type *t);
/* if condition { then } else { otherwise }, of the type of `then`; otherwise may be NULL. */
expr *elaborate_if(elaboration *el, expr *condition, block *then, block *otherwise);
/* e as { steps; result }, of the type that it has. */
void elaborate_become_block(elaboration *el, expr *e, stmt *steps, uint32_t count, expr *result);

/* Each rewrites *e where it is what the file is for. */
void elaborate_update(elaboration *el, expr *e);
void elaborate_append(elaboration *el, expr *e);
void elaborate_never(elaboration *el, expr *e);
void elaborate_choice(elaboration *el, expr *e);
void elaborate_text(elaboration *el, expr *e);
void elaborate_list(elaboration *el, expr *e);
void elaborate_repeat(elaboration *el, expr *e);
void elaborate_base(elaboration *el, expr *e);
void elaborate_total(elaboration *el, expr *e);
void elaborate_capture(elaboration *el, expr *e);

#endif
