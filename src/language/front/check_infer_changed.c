/* check_infer_changed.c: fields that hold tensors and may be replaced: what a record was made of says nothing of them
 * later (check_infer_record.c).
 *
 *     self.t = x, s.t += x     &mut s.t     s.list.push(x), s.list[i] = x     *self = …
 *
 * By the names that are written in the program's bodies: two fields of one name are one here. An element of a tensor
 * and an operation in place leave a tensor's elements what they are. Cost: the program once.
 */
#include <string.h>

#include "language/front/check_closure.h"
#include "language/front/check_infer.h"
#include "language/library/library.h"
#include "language/types/check_context.h"

typedef struct marker {
    inference *n;
    struct_field **fields; /* that hold tensors of which nothing is said */
    uint32_t count, capacity;
} marker;

static bool is_tensor(const marker *m, const struct_field *field) {
    return field->type != NULL && infer_value(m->n, field->type)->kind == TYPE_TENSOR;
}

static void mark(const marker *m, const char *name, bool inside) {
    for (uint32_t i = 0; i < m->count; i++)
        if (strcmp(m->fields[i]->name, name) == 0 && !(inside && is_tensor(m, m->fields[i])))
            m->fields[i]->is_changed = true;
}

/* inside: an element of it is written, or a method does something to it. */
static void mark_path(const marker *m, const expr *e, bool inside) {
    for (;;) {
        if (e->kind == EXPR_FIELD)
            mark(m, e->field.name, inside);
        else if (e->kind == EXPR_TUPLE_FIELD) /* of a struct without names */
            mark(m, check_printf(m->n->c, "%u", e->field.index), inside);
        else if (e->kind == EXPR_NAME && strcmp(e->name.name, "self") == 0 && !inside)
            for (uint32_t i = 0; i < m->count; i++)
                m->fields[i]->is_changed |= true;
        if (e->kind == EXPR_FIELD || e->kind == EXPR_TUPLE_FIELD)
            inside = true, e = e->field.base;
        else if (e->kind == EXPR_INDEX)
            inside = true, e = e->index.base;
        else if (e->kind == EXPR_METHOD)
            inside = true, e = e->call.receiver;
        else if (e->kind == EXPR_UNARY)
            e = e->unary.operand;
        else
            return;
    }
}

/* list.push(x), list.iter_mut(): some method of that name takes `&mut self`. */
static bool may_write(const marker *m, const expr *call) {
    const syntax_tree *tree = m->n->c->tree;
    const expr *base = call->call.receiver;
    bool writes = check_changes_receiver(call->call.name);
    if (base->kind != EXPR_FIELD && base->kind != EXPR_TUPLE_FIELD && base->kind != EXPR_INDEX)
        return writes;
    for (uint32_t i = 0; i < tree->function_count && !writes; i++) {
        const function_item *f = tree->functions[i];
        writes = f->has_self && f->parameters[0]->is_mutable && strcmp(f->name, call->call.name) == 0;
    }
    return writes;
}

static void find(expr *e, void *context) {
    const marker *m = context;
    if (e->kind == EXPR_ASSIGN)
        mark_path(m, e->assign.target, false);
    else if (e->kind == EXPR_UNARY && e->unary.op == UNARY_REFERENCE && e->unary.is_mutable)
        mark_path(m, e->unary.operand, false);
    else if (e->kind == EXPR_METHOD && may_write(m, e))
        mark_path(m, e->call.receiver, true);
    expr_each_child(e, find, context);
}

void infer_mark_changed(inference *n) {
    const syntax_tree *tree = n->c->tree;
    marker m = {.n = n};
    for (uint32_t i = 0; i < tree->struct_count; i++) {
        const struct_item *s = tree->structs[i];
        for (uint32_t k = 0; s->span.file != tree->prelude && k < s->field_count; k++)
            if (s->fields[k].type == NULL || infer_leaves_elements(n, s->fields[k].type)) /* a template's: any */
                CHECK_PUSH(n->c, m.fields, m.count, m.capacity, &s->fields[k]);
    }
    for (uint32_t i = 0; i < tree->function_count && m.count > 0; i++) {
        const function_item *f = tree->functions[i], *written = f->is_checked ? f->as_written : f;
        if (f->span.file != tree->prelude && written != NULL && written->body != NULL)
            block_each_child(written->body, find, &m);
    }
}
