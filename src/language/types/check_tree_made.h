/* check_tree_made.h: trees that are written out. */
#ifndef MASU_LANGUAGE_TYPES_CHECK_TREE_MADE_H
#define MASU_LANGUAGE_TYPES_CHECK_TREE_MADE_H

#include "language/types/check_context.h"

typedef struct block_builder {
    checker *c;
    block *block;
    stmt *last;
    source_span span;
} block_builder;

/* The tree that the text means (syntax/quote.h), its parts in the holes. Not checked yet. */
expr *build_quote(checker *c, source_span span, const char *text, expr *const *parts, uint32_t count);
#define BUILD_QUOTE(c, span, text, ...) \
    build_quote((c), (span), (text), (expr *[]){__VA_ARGS__}, sizeof((expr *[]){__VA_ARGS__}) / sizeof(expr *))

block_builder build_block(checker *c, source_span span);
void build_let(block_builder *b, const char *name, bool is_mutable, expr *value);
void build_let_made(block_builder *b, const char *name, const made_of *of); /* see check_part.c */
void build_stmt(block_builder *b, expr *e);
expr *build_finish(block_builder *b, expr *result); /* NULL: no result */
/* { what is in b; e }, all of it checked, e as a statement where it has no value; e where nothing is in b. */
expr *build_checked(block_builder *b, expr *e);
expr *build_method(checker *c, source_span span, expr *receiver, const char *name, expr **args, uint32_t count);
expr *build_call(checker *c, source_span span, const char *scope, const char *name, expr **args, uint32_t count);
expr *build_bound(checker *c, pattern *p, expr *value, expr *body); /* { let p = value; body; } */
expr *build_field(checker *c, source_span span, expr *base, const char *name);
expr *build_assign(checker *c, source_span span, expr *target, expr *value);
/* |…| of so many parameters, its body still to come; args: a name of each. */
expr *build_closure(checker *c, source_span span, uint32_t count, expr **args);
void build_append(stmt **list, stmt *s);
pattern *build_name(checker *c, source_span span, const char *name, binding_kind kind);
expr *build_for(checker *c, source_span span, pattern *p, expr *over, block *body);
expr *build_range(checker *c, source_span span, expr *low, expr *high);
expr *build_list(checker *c, expr_kind kind, source_span span, expr *const *items, uint32_t count); /* TUPLE, ARRAY */
expr *build_part(checker *c, source_span span, expr *base, uint32_t index);                         /* base.0 */
expr *build_index(checker *c, source_span span, expr *base, expr *index);
/* list[place], where the place is one of the list's whatever the program does: it is not asked again */
expr *build_inside(checker *c, source_span span, expr *list, expr *place);
expr *build_unary(checker *c, source_span span, unary_op op, expr *operand, const type *t);
expr *build_reference(checker *c, source_span span, expr *place); /* &mut place */
/* if condition { then } else { otherwise }, which may be NULL */
expr *build_if(checker *c, expr *condition, expr *then, expr *otherwise, const type *t);
/* let <WHAT n> = value; yields the name */
const char *build_named(block_builder *b, const char *what, expr *value);

#endif
