/* check_match.c: match and the patterns of its arms. */
#include "language/front/check_private.h"

typedef struct coverage {
    bool all, yes, no; /* `_` or a name; true; false */
} coverage;

static void check_pattern_literal(checker *c, expr **slot, const type *t) {
    check_expr(c, slot, t);
    if (!type_is_silent((*slot)->type) && !type_is_silent(t) && (*slot)->type != t) {
        check_mismatch(c, *slot, t, NULL);
    }
}

static void check_range_pattern(checker *c, pattern *p, const type *t) {
    check_pattern_literal(c, &p->low, t);
    check_pattern_literal(c, &p->high, t);
    if (!type_is_integer(t) && t->kind != TYPE_CHAR) {
        diagnostics_error(c->diagnostics, p->span, "only integers and characters have ranges");
    }
}

static void check_arm_pattern(checker *c, pattern *p, const type *t, coverage *covered,
                              bool nested);

static void check_tuple_arm(checker *c, pattern *p, const type *t, coverage *covered) {
    bool fits = t->kind == TYPE_TUPLE && t->tuple.count == p->part_count, all = fits;
    if (!fits) {
        diagnostics_error(c->diagnostics, p->span, "this pattern has %u parts, the value is `%s`",
                          p->part_count, check_type_text(c, t));
    }
    for (uint32_t i = 0; i < p->part_count; i++) {
        coverage part = {0};
        check_arm_pattern(c, p->parts[i],
                          fits ? type_resolve(c->types, t->tuple.items[i])
                               : check_scalar(c, TYPE_ERROR),
                          &part, true);
        all &= part.all;
    }
    covered->all |= all;
}

static void check_arm_pattern(checker *c, pattern *p, const type *t, coverage *covered,
                              bool nested) {
    p->type = t;
    switch (p->kind) {
    case PATTERN_WILDCARD:
        covered->all = true;
        break;
    case PATTERN_NAME:
        covered->all = true;
        if (p->binding != NULL) {
            p->binding->kind = BINDING_LOOP;
            check_declare(c, p->binding, t);
        }
        break;
    case PATTERN_TUPLE:
        check_tuple_arm(c, p, t, covered);
        break;
    case PATTERN_LITERAL:
        check_pattern_literal(c, &p->low, t);
        covered->yes |= p->low->kind == EXPR_BOOL && p->low->boolean;
        covered->no |= p->low->kind == EXPR_BOOL && !p->low->boolean;
        break;
    case PATTERN_RANGE:
        check_range_pattern(c, p, t);
        break;
    case PATTERN_OR:
        for (uint32_t i = 0; i < p->part_count; i++) {
            uint32_t before = c->scope_count;
            check_arm_pattern(c, p->parts[i], t, covered, nested);
            if (c->scope_count != before) {
                diagnostics_error(c->diagnostics, p->parts[i]->span,
                                  "names cannot stand between `|`");
            }
        }
        break;
    }
}

static bool matchable(const type *t) {
    return type_is_integer(t) || t->kind == TYPE_BOOL || t->kind == TYPE_CHAR ||
           t->kind == TYPE_TUPLE;
}

static void report_uncovered(checker *c, expr *e, const type *t, const coverage *covered) {
    if (covered->all || (t->kind == TYPE_BOOL && covered->yes && covered->no)) {
        return;
    }
    diagnostic *d =
        diagnostics_error(c->diagnostics, source_span_make(e->span.file, e->span.offset, 5),
                          "this `match` does not cover every value");
    diagnostics_note(c->diagnostics, d, (source_span){0}, "a last arm `_ => …` does");
}

static void check_arm(checker *c, expr *e, match_arm *arm, const type *t, const type *expected,
                      coverage *covered) {
    uint32_t mark = check_scope_open(c);
    coverage arm_covers = {0};
    check_arm_pattern(c, arm->pattern, t, &arm_covers, false);
    check_twice(c, mark);
    if (arm->guard != NULL) {
        check_condition(c, &arm->guard);
    } else {
        covered->all |= arm_covers.all;
        covered->yes |= arm_covers.yes;
        covered->no |= arm_covers.no;
    }
    check_expr(c, &arm->body, expected);
    check_scope_close(c, mark);
    (void)e;
}

static void join_arms(checker *c, expr *e) {
    const type *joined = check_scalar(c, TYPE_NEVER);
    for (uint32_t i = 0; i < e->match.count; i++) {
        const expr *body = e->match.arms[i].body;
        const type *t = type_resolve(c->types, body->type), *next = check_join(c, joined, t);
        if (next == NULL) {
            diagnostics_error(c->diagnostics, body->span, "the arms differ: `%s` here, `%s` before",
                              check_type_text(c, t), check_type_text(c, joined));
            check_make_error(c, e);
            return;
        }
        joined = next;
    }
    e->type = joined;
    for (uint32_t i = 0; !type_is_silent(joined) && joined->kind != TYPE_VOID && i < e->match.count;
         i++) {
        check_coerce_branch(c, &e->match.arms[i].body, joined, NULL);
    }
}

void check_match(checker *c, expr *e, const type *expected) {
    check_expr(c, &e->match.value, NULL);
    const type *t = type_resolve(c->types, e->match.value->type);
    bool wanted = expected == NULL || expected->kind != TYPE_VOID, never = e->match.count > 0;
    coverage covered = {0};
    if (!type_is_silent(t) && !matchable(t)) {
        diagnostic *d = diagnostics_error(c->diagnostics, e->match.value->span,
                                          "`%s` cannot be matched", check_type_text(c, t));
        diagnostics_note(c->diagnostics, d, (source_span){0},
                         "integers, bools, characters and tuples of them can");
        t = check_scalar(c, TYPE_ERROR);
    }
    for (uint32_t i = 0; i < e->match.count; i++) {
        check_arm(c, e, &e->match.arms[i], t, expected, &covered);
        never &= e->match.arms[i].body->type->kind == TYPE_NEVER;
    }
    if (!type_is_silent(t)) {
        report_uncovered(c, e, t, &covered);
    }
    if (wanted) {
        join_arms(c, e);
    } else {
        e->type = check_scalar(c, never ? TYPE_NEVER : TYPE_VOID);
    }
}
