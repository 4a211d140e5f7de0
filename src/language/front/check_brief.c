/* check_brief.c: guards that nothing can meet.
 *
 *     cell.borrow_mut().n += 1;     ─►     cell.__write().n += 1;
 *     let guard = cell.borrow();           stays: a write to the cell while `guard` lives ends the program
 *
 * A guard of the library counts who uses its cell until it is dropped at the end of its statement. Where no function of
 * the program runs in the statement, nothing else asks for a guard there and the guard itself goes nowhere, nothing can
 * see that count: the library has a method for it that looks whether the cell is free and yields the place in it.
 *
 * What must stay true (tests/golden/lang_cells_in_use, err_cell_in_loop): a statement whose guards are renamed runs
 * nothing that is not in its text or in the library.
 */
#include <string.h>

#include "language/front/check_place.h"
#include "language/library/library.h"
#include "language/types/check_context.h"
#include "language/types/check_dyn_types.h"
#include "language/types/check_instances.h"
#include "language/types/check_scopes.h"

typedef struct guard_scan {
    checker *c;
    const expr *parent;
    uint32_t looks, writes; /* guards that are asked for */
    bool runs;              /* functions of the program, perhaps */
    bool operates;          /* an operator is written */
    bool escapes;           /* a guard is handed on, stored or named */
    bool rename;            /* the second way through */
} guard_scan;

static bool is_own(const checker *c, const function_item *f) {
    return f->span.file != c->tree->prelude;
}

static const own_functions *own_functions_of(checker *c) {
    own_functions *own = &c->instances->own;
    for (; own->looked_at < c->tree->function_count; own->looked_at++)
        if (is_own(c, c->tree->functions[own->looked_at]))
            CHECK_PUSH(c, own->items, own->count, own->capacity, c->tree->functions[own->looked_at]);
    return own;
}

static bool program_has(checker *c, const char *name) {
    const own_functions *own = own_functions_of(c);
    for (uint32_t i = 0; i < own->count; i++)
        if (strcmp(own->items[i]->name, name) == 0)
            return true;
    return false;
}

/* Functions that run though no call names them: of operators, at the end of a value, where a text is made of one. */
static bool program_says(checker *c, library_fact fact) {
    const own_functions *own = own_functions_of(c);
    for (uint32_t i = 0; i < own->count; i++)
        if (library_says(fact, own->items[i]->name))
            return true;
    return false;
}

/* A function that an operator runs takes its operands and nothing else. */
static bool program_operates(const checker *c) {
    for (uint32_t i = 0; i < c->tree->function_count; i++) {
        const function_item *f = c->tree->functions[i];
        if (is_own(c, f) && f->has_self && f->parameter_count <= 2 && library_says(LIBRARY_runs_by_operator, f->name))
            return true;
    }
    return false;
}

void check_find_guards(checker *c) {
    for (uint32_t i = 0; i < c->tree->struct_count; i++)
        c->places->has_guards |= c->tree->structs[i]->span.file == c->tree->prelude &&
                                 library_says(LIBRARY_is_guard, c->tree->structs[i]->name);
}

static bool is_function_value(checker *c, const binding *b) {
    const type *t = b->type == NULL ? NULL : type_resolve(c->types, b->type);
    return t == NULL || (t->kind == TYPE_STRUCT && t->structure->closure != NULL) || check_dyn_signature(t) != NULL;
}

static bool name_runs(checker *c, const expr *e) {
    const symbol *s = e->name.scope == NULL ? check_find(c, e->name.name) : NULL;
    if (s != NULL && s->binding != NULL)
        return is_function_value(c, s->binding);
    return s != NULL && s->function != NULL ? is_own(c, s->function) : program_has(c, e->name.name);
}

static bool call_runs(checker *c, const expr *e) {
    const expr *callee = e->call.callee;
    if (callee == NULL || callee->kind != EXPR_NAME)
        return true;
    if (library_says(LIBRARY_looks_at, callee->name.name))
        return program_says(c, LIBRARY_runs_in_text);
    return name_runs(c, callee);
}

static bool method_runs(checker *c, const char *name) {
    return program_has(c, name) ||
           (library_said_of(LIBRARY_hands_on, name) == SAID_TEXT && program_says(c, LIBRARY_runs_in_text));
}

/* The guard is used in this place and nowhere else. */
static bool is_used_here(const expr *guard, const expr *parent) {
    if (guard->stars > 0)
        return true;
    if (parent == NULL)
        return false;
    switch (parent->kind) {
    case EXPR_FIELD:
    case EXPR_TUPLE_FIELD:
        return parent->field.base == guard;
    case EXPR_INDEX:
        return parent->index.base == guard;
    case EXPR_METHOD:
        return parent->call.receiver == guard;
    case EXPR_UNARY:
        return parent->unary.op == UNARY_REFERENCE;
    default:
        return false;
    }
}

static void scan(expr *e, void *context) {
    guard_scan *s = context;
    const expr *parent = s->parent;
    const bool method = e->kind == EXPR_METHOD && e->call.name != NULL;
    const char *looks = method && e->call.arg_count == 0 ? library_word(LIBRARY_looks_briefly, e->call.name) : NULL;
    const char *writes = method && e->call.arg_count == 0 ? library_word(LIBRARY_writes_briefly, e->call.name) : NULL;
    if (s->rename && (looks != NULL || writes != NULL))
        e->call.name = looks != NULL ? looks : writes;
    s->looks += looks != NULL;
    s->writes += writes != NULL;
    s->escapes |= (looks != NULL || writes != NULL) && !is_used_here(e, parent);
    if (!s->rename && !s->runs)
        s->runs = e->type != NULL || (method && method_runs(s->c, e->call.name)) ||
                  (e->kind == EXPR_CALL && call_runs(s->c, e)) || (e->kind == EXPR_NAME && name_runs(s->c, e));
    s->operates |= e->kind == EXPR_BINARY || (e->kind == EXPR_ASSIGN && e->assign.op != BINARY_NONE) ||
                   (e->kind == EXPR_UNARY && e->unary.op != UNARY_REFERENCE);
    s->parent = e;
    expr_each_child(e, scan, s);
    s->parent = parent;
}

static void whole(checker *c, expr *e) {
    guard_scan s = {.c = c};
    scan(e, &s);
    if (s.looks + s.writes == 0 || s.runs || s.escapes || s.writes > 1 || (s.writes > 0 && s.looks > 0) ||
        program_says(c, LIBRARY_runs_unseen) || (s.operates && program_operates(c)))
        return;
    s.rename = true;
    scan(e, &s);
}

void check_brief_guards(checker *c, expr *e) {
    if (e == NULL || e->type != NULL || !c->places->has_guards)
        return;
    switch (e->kind) {
    case EXPR_BLOCK:
    case EXPR_LOOP:
        break; /* each statement for itself */
    case EXPR_IF:
        whole(c, e->branch.condition);
        check_brief_guards(c, e->branch.otherwise);
        break;
    case EXPR_WHILE:
        whole(c, e->loop->condition);
        break;
    default:
        whole(c, e);
    }
}

void check_brief_statement(checker *c, stmt *s) {
    const bool extended = s->kind == STMT_LET && s->value != NULL && s->value->kind == EXPR_UNARY &&
                          s->value->unary.op == UNARY_REFERENCE;
    if (!extended)
        check_brief_guards(c, s->value);
}
