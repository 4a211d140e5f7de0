/* check_dyn_types.h: types of which only a trait is known. */
#ifndef MASU_LANGUAGE_TYPES_CHECK_DYN_TYPES_H
#define MASU_LANGUAGE_TYPES_CHECK_DYN_TYPES_H

#include "language/types/check_capture.h"
#include "language/types/check_context.h"

/* A dyn type, its variants and the functions that choose among them; see check_dyn.c.
 *     s->variants[i] is the type behind s->fields[i + 1], and i its tag
 *     trait, item and signature: at most one of them says what it is of
 *     s->type may have open types where arguments or signature have: type_resolve yields the one that it became, and
 *     none of its own variants or methods is asked for before check_dyn_decided */
typedef struct dyn_type dyn_type;

struct dyn_type {
    struct_item *s;
    const type *item;       /* of iterators that yield this; NULL: of others */
    trait_item *trait;      /* NULL: of functions, with this signature */
    const type **arguments; /* of the trait's type parameters: i64 of `dyn Conv<i64>` */
    closure_signature signature;
    function_item **methods;
    uint32_t method_count, method_capacity;
    uint32_t *arms; /* of each method's body; UINT32_MAX: not written yet */
    uint32_t field_capacity, variant_capacity;
    uint32_t kept_fields, kept_variants; /* see check_dyn_mark */
    dyn_type *next;
};

const type *check_dyn_type(checker *c, type_expr *t);
/* The dyn type that an open one is, now that some of its types are decided; with its numbers decided, too. */
const type *check_dyn_now(checker *c, const dyn_type *d);
struct_item *check_dyn_decided(checker *c, struct_item *s);
/* Variants that dyn types get from here on are gone after check_dyn_return. */
void check_dyn_mark(checker *c);
void check_dyn_return(checker *c);
/* At the end of a function: what it left open of its variants' types, as of the 1 of `&1`, is decided. */
void check_dyn_close(checker *c);
/* impl Iterator<Item = T>, Box<dyn Iterator<Item = T>>, impl Fn(T) -> T */
bool check_yields_dyn(const type_expr *t);
bool check_is_dyn(const type *t);
const trait_item *check_dyn_trait(const type *t);            /* NULL: of functions, or no dyn type */
const closure_signature *check_dyn_signature(const type *t); /* NULL: of no functions */
/* The i-th supertrait; NULL: nothing declares it. */
const trait_item *check_supertrait(const checker *c, const trait_item *trait, uint32_t i);
bool check_dyn_is_shown(const checker *c, const type *t); /* its trait asks for Display or Debug */
/* `impl dyn Trait`: what OWNER_DYN and the trait's name name; NULL: they name none. */
struct_item *check_dyn_owner(checker *c, const char *name);
bool check_inherits(const checker *c, const trait_item *trait, const trait_item *from, int depth);
/* The function that chooses among the variants; NULL: no such method. */
function_item *check_dyn_method(checker *c, struct_item *owner, const char *name);
/* A method whose body is written at the end. */
void check_add_dyn_method(checker *c, struct dyn_type *d, function_item *f);
binding *check_new_parameter(checker *c, source_span span, binding_kind kind, const char *name, const type *t);
const type *check_trait_dyn(checker *c, source_span span, trait_item *trait);

/* check_dyn_made.c: a value of this type becomes one as it is; by a `from` of the dyn type `to`. */
bool check_may_be_dyn(checker *c, const dyn_type *d, const type *t);
bool check_dyn_from(checker *c, const type *to, const type *t);

#endif
