/* check_place.h: places: who may write them, and names and calls that are one.
 *
 *     check_writes.c   what is a place, and who may write it
 *     check_place.c    assignments
 *     check_alias.c    names that are a place: `&mut`; check_alias_part.c: parts of it
 *     check_may_write.c  whether a method may write to self, before its body is checked
 *     check_freeze.c   expressions that refer to a place; check_freeze_method.c: methods that yield one
 *     check_refer.c    references as values; types/check_reference.c: where one is wanted or followed;
 *                      types/check_reference_made.c: to a checked place
 *     check_deref.c    `impl Deref`; of what: types/check_leads.c
 */
#ifndef MASU_LANGUAGE_CHECK_PLACE_H
#define MASU_LANGUAGE_CHECK_PLACE_H

#include "language/front/check_build.h"
#include "language/types/check_context.h"
#include "language/types/check_writes.h"

typedef struct match_alias { /* what the patterns of a match take apart in place; NULL: a value */
    expr *place;
    expr *elements; /* Some(p) is the index of one of these */
    bool all;       /* every name of a pattern is its part; else those with `ref mut` */
} match_alias;

typedef struct for_alias {
    expr *place;
    pattern *element;
    const char *name; /* of the index */
    bool values;
} for_alias;

/* A call that yields Some(place) or None: where the elements lie, and the index as an unchecked Option<i64>. */
typedef struct maybe_place {
    expr *elements, *index;
} maybe_place;

/* &mut e, or e itself where it is a place. */
void check_make_reference(checker *c, expr **slot, const type *expected);
/* written: how many stars there are. */
void check_follow_stars(checker *c, expr **slot, uint32_t written, uint32_t stars, const type *expected);
bool check_lead_to(checker *c, expr **slot, const type *wish); /* whether it did */
bool check_may_lead(const checker *c, const expr *reference, const expr *e);
expr *check_freeze_to(block_builder *b, expr **slot, const type *wanted);
bool check_part_receiver(checker *c, expr **slot);
/* Renames the guards that nothing can meet in what is not checked yet. */
void check_find_guards(checker *c);
void check_brief_guards(checker *c, expr *e);
void check_brief_statement(checker *c, stmt *s);
/* The names of p mean the parts of the place, which check_part gives their types. */
void check_bind_at(checker *c, pattern *p, const expr *place, void (*check_part)(checker *, pattern *, const type *));
bool check_bind_behind(checker *c, pattern *p, const type *t, void (*check_part)(checker *, pattern *, const type *));
void check_assign(checker *c, expr **slot);
bool check_option_by_reference(checker *c, expr **slot, const type *t);
const expr *check_let_by_name(checker *c, stmt **slot);
/* let <what n> = e; checked, in b. Yields the variable's name. */
expr *check_hold(block_builder *b, expr *e, const char *what);
bool check_entry_value(checker *c, expr **slot);
bool check_freeze_maybe(block_builder *b, expr *e, maybe_place *out);
/* o.as_mut() and its like: an Option of the place in o. */
bool check_views_place(const expr *e);
/* The place in which the values of the Vec or map m lie, one after another. */
expr *check_elements_of(checker *c, const expr *m);
expr *check_element_at(checker *c, expr *all, expr *at);
/* A checked place, as the function that is being checked sees it. */
expr *check_alias_copy(checker *c, const expr *e);
/* An unchecked expression as a place that can be written out many times; what has to be evaluated once becomes a
 * let in b. NULL: it is not a place; parts of it may be checked already. */
expr *check_freeze(block_builder *b, expr **slot);
/* x.mul_(2.0) and its like: a method of the library that changes its receiver and yields it (check_in_place.c). */
bool check_yields_receiver(const checker *c, const expr *e);
expr *check_freeze_changed(block_builder *b, expr *e); /* it is done in b, and the place is its receiver's */
/* … of a part of a tensor, which is written back; true when *slot was checked */
bool check_changed_row(checker *c, expr **slot, const type *expected);
/* v[a..b] of a list, as the place behind a reference that is held (check_refer.c). NULL: of something else. */
expr *check_freeze_part(block_builder *b, expr *e);
/* A reference that such a call yields is asked for once, and is the place. NULL: it yields a value, which is checked
 * then. */
void check_give_up(checker *c, expr **slot);
expr *check_freeze_method(block_builder *b, expr *e); /* NULL: its body does more than name a place */
expr *check_freeze_lent(block_builder *b, expr **slot);
expr *check_hold_lent(block_builder *b, expr **slot); /* of what is checked, and was to keep its reference */
void check_build_let(block_builder *b, stmt *let);    /* in b, checked */
/* Whether Rust would say that e is a `&mut T`, by its form. */
bool check_refers(const checker *c, const expr *e); /* check_refers.c */
bool check_refers_by_method(const checker *c, const expr *e);
bool check_folds_places(const checker *c, const expr *e);
expr *check_fold_start(checker *c, const expr *e); /* where such a fold begins; any other one: its first argument */
void check_keep_folded(const checker *c, const expr *e, expr *made); /* a fold of places yields a reference */
/* The target of an assignment or receiver of a method, when a call in it yields a place. */
bool check_freeze_target(checker *c, block_builder *b, expr **slot);
bool check_let_alias(checker *c, stmt *s);
/* [p, q].f(): the first variable of the list, which is copied into it; NULL: none is. The call is not checked yet. */
const expr *check_copied_by_receiver(const checker *c, expr *e);
void check_refuse_copied(checker *c, const expr *e, const expr *copied); /* behind the check */
bool check_has_getter(const checker *c, const char *name); /* some function yields `&mut` under that name */
bool check_let_temporaries(checker *c, stmt *s); /* true: s is nothing now, and what follows it says the same */
expr *check_alias_part(checker *c, const expr *place, pattern *p, uint32_t part, const type *t);
bool check_alias_bound(checker *c, pattern *p, const type *t);
bool check_alias_name(checker *c, pattern *p, const expr *place, const type *t);
bool check_alias_element(checker *c, pattern *p, const type *t);
void check_match_alias(checker *c, expr *e, block_builder *b, match_alias *out);
/* for p in x.iter_mut(), with stages behind it that only choose or number places. */
bool check_runs_over_places(const checker *c, const expr *e);
bool check_for_alias(checker *c, expr *e, block_builder *b, for_alias *out);
bool check_refer_inside(checker *c, expr *e, for_alias *f);
void check_for_element(checker *c, const for_alias *f);

#endif
