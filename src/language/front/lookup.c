/* lookup.c: what is at a place of a checked program: its type, and where it is declared. For editors. */
#include "language/front/lookup.h"

#include <string.h>

typedef struct lookup {
    const source_file *file;
    uint32_t offset;
    const expr *best;            /* the shortest expression around the place */
    const function_item *within; /* the function that it is in */
} lookup;

static bool holds(const lookup *l, source_span span) {
    return span.file == l->file && span.offset <= l->offset &&
           l->offset < span.offset + (span.length == 0 ? 1 : span.length);
}

static void look(expr *e, void *context) {
    lookup *l = context;
    bool shorter = l->best == NULL || e->span.length <= l->best->span.length;
    if (holds(l, e->span) && e->type != NULL && shorter)
        l->best = e;
    expr_each_child(e, look, l);
}

/* The next variable of the same name, or the end of the function. */
static uint32_t end_of(const function_item *f, const binding *b) {
    uint32_t end = f->body->span.offset + f->body->span.length;
    for (uint32_t i = 0; i < f->binding_count; i++) {
        const binding *other = f->bindings[i];
        if (other->span.file == b->span.file && other->span.offset > b->span.offset && other->span.offset < end &&
            strcmp(other->name, b->name) == 0)
            end = other->span.offset;
    }
    return end;
}

static void describe_variable(const function_item *f, const binding *b, lookup_result *out) {
    *out = (lookup_result){.name = b->name,
                           .type = b->type,
                           .declared = b->span,
                           .is_variable = true,
                           .until = f == NULL ? UINT32_MAX : end_of(f, b)};
}

static bool at_binding(const lookup *l, const function_item *f, lookup_result *out) {
    for (uint32_t i = 0; i < f->binding_count; i++) {
        const binding *b = f->bindings[i];
        if (holds(l, b->span) && b->name[0] != '<') {
            describe_variable(f, b, out);
            return true;
        }
    }
    return false;
}

static bool describe(const function_item *f, const expr *e, lookup_result *out) {
    *out = (lookup_result){.type = e->type};
    if (e->kind == EXPR_NAME && e->name.binding != NULL) {
        describe_variable(f, e->name.binding, out);
    } else if (e->kind == EXPR_NAME && e->name.constant != NULL) {
        out->name = e->name.constant->name;
        out->declared = e->name.constant->span;
    } else if (e->kind == EXPR_FIELD && e->field.base->type->kind == TYPE_STRUCT) {
        out->name = e->field.name;
        out->declared = e->field.base->type->structure->fields[e->field.index].span;
    } else if (e->kind == EXPR_CALL && e->call.kind == CALL_FUNCTION) {
        out->name = e->call.function->qualified;
        out->declared = e->call.function->span;
    } else if (e->kind == EXPR_STRUCT && e->structure.structure != NULL) {
        out->name = e->structure.structure->name;
        out->declared = e->structure.structure->span;
    }
    return e->type->kind != TYPE_NEVER;
}

bool lookup_at(const syntax_tree *tree, const source_file *file, uint32_t offset, lookup_result *out) {
    lookup l = {.file = file, .offset = offset};
    for (uint32_t i = 0; i < tree->function_count; i++) {
        function_item *f = tree->functions[i];
        if (f->is_template || f->body == NULL || !f->is_checked)
            continue;
        if (at_binding(&l, f, out))
            return true;
        if (holds(&l, f->body->span)) {
            const expr *before = l.best;
            block_each_child(f->body, look, &l);
            l.within = l.best != before ? f : l.within;
        }
    }
    return l.best != NULL && describe(l.within, l.best, out);
}
