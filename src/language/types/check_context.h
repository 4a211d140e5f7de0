/* check_context.h: what all of the checker's files share: the context, memory, nodes.
 *
 * This room answers what a type is: it reads declarations and types as written, and checks no expression; what checks
 * them, language/front, is above it.
 *
 *     check_node.c            making nodes
 *     check_declare.h         what a program declares
 *     check_written.h         types as written
 *     check_instances.h       instances, methods, traits     check_dyn_types.h   types of which a trait is known
 *     check_fits.h            what fits where                open_form.h         what a bracket may become
 *     check_item.h            what gives elements            check_variants.h    variants
 *     check_capture.h         functions as types             check_writes.h      places, references, what leads on
 *     check_operator_types.h  operators                      check_operation.h   operations of the table
 *     check_pieces.h          what is printed                check_tree_made.h   trees that are written out
 *
 * In language/front:
 *
 *     check.c             the order of the work, from declarations to main
 *     check_walk.h        the walk: from an expression to its parts
 *     check_expr.h        one function a kind of expression  check_convert.h     conversions
 *     check_call.h        calls                              check_closure.h     closures
 *     check_tensor.h      tensors                            check_text.h        printing
 *     check_variant.h     enums, match                       check_place.h       places
 *     check_dyn.h         dyn values                         check_iterator.h    iterators
 *     check_generic.h     calls of generic functions         check_types.h       constants
 *
 * A slot (expr **) is where a node hangs: checking may put another node there. `expected` is a wish
 * (literals follow it), NULL for none; TYPE_VOID says that the value is not wanted. check_coerce
 * makes the wish a demand.
 *
 * What must stay true (asserted in check_expr, and where a body begins and ends):
 *     each node is checked once; after check_expr the slot's node has a type
 *     symbol->binding is the innermost visible binding of that name: scopes restore it when they end
 */
#ifndef MASU_LANGUAGE_CHECK_CONTEXT_H
#define MASU_LANGUAGE_CHECK_CONTEXT_H

#include <setjmp.h>

#include "base/arena.h"
#include "language/diagnose/messages.h"
#include "language/names/names.h"
#include "language/syntax/tree.h"

/* Each part is described where its header is; who does not include that does not see into it. */
typedef struct checker {
    syntax_tree *tree;
    type_table *types;
    diagnostics *diagnostics;
    masu__arena *arena; /* the tree's */
    jmp_buf *memory_ended;
    function_item *function;             /* whose body is being checked; NULL: none */
    const type_environment *environment; /* NULL: no type parameters are in sight */
    uint32_t text_count;                 /* names that were made up so far */
    name_table *names;
    struct check_said *said;           /* check_scopes.h */
    struct check_nest *nest;           /* check_expr.h */
    struct check_around *around;       /* check_expr.h */
    struct check_inference *open;      /* check_convert.h */
    struct check_instances *instances; /* check_generic.h */
    struct check_places *places;       /* check_place.h */
    struct check_writes *writes;       /* check_place.h */
} checker;

#define CHECK_PUSH(c, array, count, capacity, item) \
    MASU_ARENA_PUSH((c)->arena, array, count, capacity, item, check_out_of_memory(c))

static inline const type *check_scalar(const checker *c, type_kind kind) {
    return c->types->scalars[kind];
}
/* Jumps out: everything made so far is the arena's. */
_Noreturn void check_out_of_memory(checker *c);
void *check_alloc(checker *c, size_t count, size_t bytes); /* zeroed */
char *check_printf(checker *c, const char *format, ...) __attribute__((format(printf, 2, 3)));
char *check_text_between(checker *c, const char *start, const char *end);
/* The tree is not checked yet. NULL where e is. */
expr *check_copy_tree(checker *c, const expr *e);
function_item *check_copy_function(checker *c, const function_item *f);
/* first (unless NULL) and then the items, in an array of the arena. */
expr **check_join_list(checker *c, expr *first, expr *const *items, uint32_t count);
#define CHECK_ARRAY(c, type, count) ((type *)check_alloc((c), (count), sizeof(type)))
expr *check_new(checker *c, expr_kind kind, source_span span, const type *t);
/* A call that is decided when the body is closed (check_late.c). */
expr *check_new_late(checker *c, source_span span, expr *operand, const type *t, late_call late);
expr *check_new_int(checker *c, source_span span, int64_t value);
expr *check_new_float(checker *c, source_span span, double value, const type *t);
expr *check_new_bool(checker *c, source_span span, bool value);
expr *check_new_name(checker *c, source_span span, const char *name); /* not checked yet */
expr *check_new_binary(checker *c, binary_op op, expr *left, expr *right, const type *t);
expr *check_range_end(checker *c, const expr *range); /* as it is written, exclusive */
/* The node e of the tree is what was made, checked. Who holds `made` (method_use) finds it behind a cast of what it is
 * now. */
void check_become(expr *e, expr *made);
void check_make_error(checker *c, expr *e);

#endif
