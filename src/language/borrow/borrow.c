/* borrow.c: who may use a place while references into it live, as Rust has it.
 *
 *     functions as written ─► graph (expressions.c …) ─► loans followed to their last use (loans.c) ─► errors
 *
 * A `&mut` is an address: only this check keeps it from outliving its place, and a list from moving while one leads
 * into it. A `&` is a value, which would be one of before: `let r = &v[0]; v.push(1); println(r)` has no meaning in
 * Rust.
 *
 * It reads the functions as they were parsed, not the IR: the checker writes names of places out (`let r = &mut v[i]`
 * leaves no reference behind) and makes values of shared references, so that neither the checked tree nor the IR knows
 * the loans. It takes from the check what variables, fields and results are. The order of the text does not matter: a
 * graph of blocks is made, on which a loan lives until the last use of what holds it, over branches and loops.
 *
 * What lies behind a reference is apart from it (graph_behind): `&mut list` borrows the list, behind it is what the
 * list holds. Where something may be written there, both are one (graph_join), so that what is put in through one name
 * is found through all. Where a call may leave what, its signature says (signatures.c).
 *
 * What must stay true (tests/cli/borrows.sh asks rustc): a program that Rust accepts is accepted. Where something is
 * not known there is no loan.
 */
#include "language/borrow/borrow.h"

#include <stdlib.h>
#include <string.h>

#include "language/borrow/builder.h"

static bool is_own(const syntax_tree *tree, const function_item *f) {
    return f->span.file != tree->prelude && f->body != NULL && f->unread.file == NULL && !f->is_wide;
}

masu_status borrow_begin(const syntax_tree *tree, borrow_source *out) {
    *out = (borrow_source){0};
    out->functions = masu__arena_calloc(tree->arena, tree->function_count + 1, sizeof *out->functions,
                                        _Alignof(max_align_t));
    if (out->functions == NULL)
        return MASU_ERR_OUT_OF_MEMORY;
    for (uint32_t i = 0; i < tree->function_count; i++) {
        if (is_own(tree, tree->functions[i])) {
            function_item *copy = function_copy(tree->arena, tree->functions[i]);
            if (copy == NULL)
                return MASU_ERR_OUT_OF_MEMORY;
            out->functions[out->count++] = copy;
        }
    }
    return MASU_OK;
}

/* ---- what the check found out ------------------------------------------------------------------------------ */

static int structs_by_name(const void *a, const void *b) {
    const struct_item *x = *(struct_item *const *)a, *y = *(struct_item *const *)b;
    int order = strcmp(x->name, y->name);
    return order != 0 ? order : x->index < y->index ? -1 : x->index > y->index;
}

/* Those that have names; instances are known by what they are made from. */
static bool sort_structs(const syntax_tree *tree, masu__arena *arena, world *w) {
    w->structs = masu__arena_calloc(arena, tree->struct_count + 1, sizeof *w->structs, _Alignof(max_align_t));
    for (uint32_t i = 0; w->structs != NULL && i < tree->struct_count; i++)
        if (tree->structs[i]->name != NULL && tree->structs[i]->template == NULL)
            w->structs[w->struct_count++] = tree->structs[i];
    if (w->struct_count > 1)
        qsort(w->structs, w->struct_count, sizeof *w->structs, structs_by_name);
    return w->structs != NULL;
}

static bool make_world(const syntax_tree *tree, const borrow_source *source, masu__arena *arena, world *w) {
    size_t count = 0;
    for (uint32_t i = 0; i < tree->function_count; i++)
        count += tree->functions[i]->span.file == tree->prelude ? 0 : tree->functions[i]->binding_count;
    *w = (world){.tree = tree, .function_count = source->count};
    w->types = masu__arena_calloc(arena, count + 1, sizeof *w->types, _Alignof(max_align_t));
    w->functions = masu__arena_calloc(arena, source->count + 1, sizeof *w->functions, _Alignof(max_align_t));
    if (w->types == NULL || w->functions == NULL || !sort_structs(tree, arena, w))
        return false;
    for (uint32_t i = 0; i < tree->function_count; i++) {
        const function_item *f = tree->functions[i];
        for (uint32_t k = 0; f->span.file != tree->prelude && k < f->binding_count; k++)
            if (f->bindings[k]->type != NULL)
                w->types[w->type_count++] = (known_type){f->bindings[k]->span, f->bindings[k]->type};
    }
    memcpy(w->functions, source->functions, source->count * sizeof *w->functions);
    qsort(w->types, w->type_count, sizeof *w->types, borrow_by_place);
    qsort(w->functions, w->function_count, sizeof *w->functions, borrow_by_name);
    return true;
}

/* ---- one function ---------------------------------------------------------------------------------------------- */

static const sort *sort_of_self(builder *b, const binding *self) {
    const struct_item *s = borrow_struct_named(b, b->function->owner_name);
    const sort *owner = s != NULL && s->type != NULL ? sort_of_type(b, s->type) : &sort_value;
    return self->is_lent || self->is_shared ? sort_reference(b, owner, self->is_lent) : owner;
}

static void declare_parameters(builder *b) {
    const function_item *f = b->function;
    for (uint32_t i = 0; i < f->parameter_count; i++) {
        const binding *p = f->parameters[i];
        const type *t = borrow_known_type_at(b, p->span);
        const sort *s = p->kind == BINDING_SELF ? sort_of_self(b, p) : sort_of_written(b, p->annotation, t);
        borrow_declare_name(b, p->name, p->span, s);
    }
}

static void build_function_graph(builder *b) {
    const function_item *f = b->function;
    b->at = graph_new_block(&b->g);
    b->end = graph_new_block(&b->g);
    declare_parameters(b);
    const sort *result = f->result_annotation == NULL ? &sort_value : sort_of_written(b, f->result_annotation, NULL);
    b->result = sort_holds(result) ? graph_new_variable(&b->g, "<result>", f->span, result) : NO_VARIABLE;
    if (b->result != NO_VARIABLE)
        b->g.variables[b->result].is_result = true;
    borrow_begin_lives(b);
    value v = build_block_value(b, f->body);
    if (b->result != NO_VARIABLE && sort_holds(v.sort))
        borrow_flow(b, b->result, borrow_coerce(b, v, result).held,
                    f->body->result == NULL ? f->span : f->body->result->span);
    borrow_leave_names(b, 0, f->body->span, false);
    borrow_go_to(b, b->end);
    borrow_start_block(b, b->end);
    borrow_use(b, b->result, f->span);
    borrow_end_lives(b);
}

static masu_status check_function(const world *w, const function_item *f, masu__arena *arena, diagnostics *found) {
    jmp_buf memory_ended;
    builder *b = MASU_ARENA_NEW(arena, builder);
    if (b == NULL || setjmp(memory_ended) != 0)
        return MASU_ERR_OUT_OF_MEMORY;
    b->g.arena = arena;
    b->g.memory_ended = &memory_ended;
    b->world = w;
    b->function = f;
    build_function_graph(b);
    graph_judge(&b->g, found);
    return MASU_OK;
}

/* The call of a dyn FnOnce takes it, and so does the function that chooses among what it may be. */
static masu_status mark_functions(const world *w, masu__arena *arena) {
    jmp_buf memory_ended;
    builder *b = MASU_ARENA_NEW(arena, builder);
    if (b == NULL || setjmp(memory_ended) != 0)
        return MASU_ERR_OUT_OF_MEMORY;
    b->g.memory_ended = &memory_ended;
    b->world = w;
    for (uint32_t i = 0; i < w->tree->struct_count; i++)
        if (w->tree->structs[i]->is_once)
            borrow_mark(b, w->tree->structs[i]->span, MARK_TAKEN);
    return MASU_OK;
}

masu_status borrow_check(syntax_tree *tree, const borrow_source *source, diagnostics *found) {
    masu__arena scratch = {.first_block_bytes = 64 << 10};
    world w;
    masu_status status = make_world(tree, source, &scratch, &w) ? MASU_OK : MASU_ERR_OUT_OF_MEMORY;
    if (tree->has_destructors && status == MASU_OK) {
        w.marks = masu__arena_calloc(tree->arena, 1, sizeof *w.marks, _Alignof(owner_marks));
        status = w.marks == NULL ? MASU_ERR_OUT_OF_MEMORY : mark_functions(&w, &scratch);
    }
    masu__arena_mark before = masu__arena_get_mark(&scratch);
    for (uint32_t i = 0; i < source->count && status == MASU_OK; i++) {
        status = check_function(&w, source->functions[i], &scratch, found);
        masu__arena_release(&scratch, before);
    }
    if (w.marks != NULL && status == MASU_OK) {
        owner_marks_sort(w.marks);
        tree->marks = w.marks;
    }
    masu__arena_destroy(&scratch);
    return status;
}
