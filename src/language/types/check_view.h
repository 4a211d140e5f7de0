/* check_view.h: how many references are before a value, as Rust counts them (check_view.c). */
#ifndef MASU_LANGUAGE_TYPES_CHECK_VIEW_H
#define MASU_LANGUAGE_TYPES_CHECK_VIEW_H

#include "language/types/check_context.h"

typedef struct view {
    uint32_t references;
    bool is_mutable;                    /* the outermost is `&mut` */
    bool is_parameter, is_of_reference; /* its type is a `T: Trait`, or Self of a trait; that is `&U` */
    const struct view *item;            /* of what gives elements, of an Option: each; NULL: not known */
    const struct view *parts[2];        /* of a pair; NULL: not known */
} view;

const view *check_view_kept(const checker *c, view v); /* a copy that stays */
/* e is not checked yet. */
view check_view(const checker *c, const expr *e);
view check_view_of_let(const checker *c, const stmt *s);
view check_view_of_written(const checker *c, const type_expr *t);
view check_view_of_item(view of); /* of what `for` gives over it */
/* The names of a pattern are parts of such a value. */
void check_view_pattern(checker *c, pattern *p, view of);
/* How the receiver and the only operand of a call are written; <&T as Trait>::f is one of a type. */
typedef struct call_views {
    view receiver, operand;
    bool has_receiver, of_type, of_reference;
} call_views;

const call_views *check_views_kept(const checker *c, call_views v); /* a copy that stays */
/* Notes how a call, not checked yet, is written. */
void check_views(const checker *c, expr *call);
void check_views_of_type(const checker *c, expr *call); /* <T as Trait>::f(…), T::f(…) */
/* x.into(), x.sum(): T::from(x), T::sum(x). */
const call_views *check_as_operand(const checker *c, const call_views *written);
/* How far f is from what is written. */
uint32_t check_distance(const function_item *f, const call_views *written);

#endif
