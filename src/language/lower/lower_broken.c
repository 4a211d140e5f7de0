/* lower_broken.c: which functions of a program with errors can be lowered, so that what the passes diagnose comes with
 * the checker's errors. Nothing runs afterwards; the others become one `unreachable`.
 *
 *     error's place ─► in the body of a function?  no, or in a head: nothing is lowered
 *                                                  yes: that function is broken
 *     no error in it ─► is every type in it known?  no (it comes from a broken one): broken as well
 */
#include "language/lower/lower.h"

#include "language/lower/lowering.h"

/* ---- by place ---------------------------------------------------------------------------------------------------- */

static bool lies_in(source_span inner, source_span outer) {
    return inner.file == outer.file && inner.offset >= outer.offset && inner.offset <= outer.offset + outer.length;
}

static bool body_has(const function_item *item, const diagnostic *d) {
    return d->severity == SEVERITY_ERROR && lies_in(d->span, item->body->span);
}

static bool has_error(const function_item *item, const diagnostics *diagnostics) {
    for (const diagnostic *d = diagnostics->first; d; d = d->next)
        if (body_has(item, d))
            return true;
    return false;
}

/* The head of a function inside another one lies in the body of that. */
static bool head_has(const function_item *item, const diagnostic *d) {
    return d->span.file == item->body->span.file && d->span.offset >= item->span.offset &&
           d->span.offset < item->body->span.offset;
}

static bool is_confined(const syntax_tree *tree, const diagnostic *d) {
    bool inside = false;
    for (uint32_t f = 0; f < tree->function_count && d->severity == SEVERITY_ERROR; f++) {
        const function_item *item = tree->functions[f];
        if (item->body && head_has(item, d))
            return false;
        inside |= item->body && body_has(item, d);
    }
    return inside || d->severity != SEVERITY_ERROR;
}

bool lower_errors_confined(const syntax_tree *tree, const diagnostics *diagnostics) {
    if (diagnostics->dropped > 0) /* it is not known where those were */
        return false;
    for (const diagnostic *d = diagnostics->first; d; d = d->next)
        if (!is_confined(tree, d))
            return false;
    return true;
}

/* ---- by type ----------------------------------------------------------------------------------------------------- */

static bool is_unknown(const type *t) {
    return t && (t->kind == TYPE_ERROR || t->kind == TYPE_OPEN);
}

static bool part_is_unknown(const pattern *p, void *context) {
    (void)context;
    return is_unknown(p->type);
}

static bool pattern_is_unknown(const pattern *p) {
    return pattern_any(p, part_is_unknown, NULL);
}

static bool block_is_unknown(const block *b) {
    for (const stmt *s = b->first; s; s = s->next)
        if (s->pattern && pattern_is_unknown(s->pattern))
            return true;
    return false;
}

static bool patterns_are_unknown(const expr *e) {
    switch (e->kind) {
    case EXPR_BLOCK:
        return block_is_unknown(e->block);
    case EXPR_IF:
        return block_is_unknown(e->branch.then);
    case EXPR_WHILE:
    case EXPR_LOOP:
        return block_is_unknown(e->loop->body);
    case EXPR_FOR:
        return pattern_is_unknown(e->loop->pattern) || block_is_unknown(e->loop->body);
    case EXPR_MATCH:
        for (uint32_t i = 0; i < e->match.count; i++)
            if (pattern_is_unknown(e->match.arms[i].pattern))
                return true;
        return false;
    default:
        return false;
    }
}

static bool has_unknown(const expr *e, void *context) {
    (void)context;
    return is_unknown(e->type) || patterns_are_unknown(e);
}

static bool body_has_unknown(const function_item *f) {
    const expr body = {.kind = EXPR_BLOCK, .block = f->body};
    return expr_any(&body, has_unknown, NULL);
}

static bool has_signature(const function_item *f) {
    bool all = f->result != NULL;
    for (uint32_t p = 0; all && p < f->parameter_count; p++)
        all = f->parameters[p]->type != NULL;
    return all;
}

bool lower_is_compiled(const function_item *f) {
    return !f->is_template && (!f->is_closure || (f->body_is_checked && has_signature(f)));
}

static bool is_broken(const lowering *l, const function_item *f) {
    return !lower_is_compiled(f) || has_error(f, l->diagnostics) || is_unknown(f->result) || body_has_unknown(f);
}

bool lower_mark_broken(lowering *l) {
    l->broken = MASU_ARENA_ARRAY(l->scratch, bool, l->tree->function_count);
    for (uint32_t f = 0; l->broken && l->diagnostics->error_count > 0 && f < l->tree->function_count; f++)
        l->broken[f] = is_broken(l, l->tree->functions[f]);
    for (uint32_t f = 0; l->broken && f < l->tree->function_count; f++)
        l->broken[f] |= l->tree->functions[f]->is_left_out;
    return l->broken;
}
