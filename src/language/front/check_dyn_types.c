/* check_dyn_types.c: what a type says when it is a dyn type, and the variants that an attempt added. */
#include "language/front/check_closure.h"
#include "language/front/check_context.h"
#include "language/front/check_dyn.h"
#include "language/front/check_generic.h"
#include "language/front/check_scopes.h"

bool check_is_dyn(const type *t) {
    return t->kind == TYPE_STRUCT && t->structure->dyn != NULL;
}

const closure_signature *check_dyn_signature(const type *t) {
    return check_is_dyn(t) && t->structure->dyn->trait == NULL && t->structure->dyn->item == NULL
               ? &t->structure->dyn->signature
                                                               : NULL;
}

void check_dyn_mark(checker *c) {
    for (dyn_type *d = c->instances->dyns; d != NULL; d = d->next) {
        d->kept_fields = d->s->field_count;
        d->kept_variants = d->s->variant_count;
    }
}

void check_dyn_return(checker *c) {
    for (dyn_type *d = c->instances->dyns; d != NULL; d = d->next) {
        d->s->field_count = d->kept_fields > 1 ? d->kept_fields : 1; /* the tag stays */
        d->s->variant_count = d->kept_variants;
    }
}

bool check_inherits(const checker *c, const trait_item *trait, const trait_item *from, int depth) {
    if (trait == from) {
        return true;
    }
    for (uint32_t i = 0; i < trait->supertrait_count && depth < 20; i++) {
        const type_expr *t = trait->supertraits[i];
        const symbol *s = t->kind == TYPE_EXPR_NAME ? check_find(c, t->name) : NULL;
        if (s != NULL && s->trait != NULL && check_inherits(c, s->trait, from, depth + 1)) {
            return true;
        }
    }
    return false;
}

const trait_item *check_dyn_trait(const type *t) {
    return check_is_dyn(t) ? t->structure->dyn->trait : NULL;
}
