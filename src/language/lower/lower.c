/* lower.c: the whole tree, function by function.
 *
 * All functions get their signatures first, so that calls find them in any order:
 *
 *     fn Layer::step(mut self, rate: f32)        params   self.w, self.b, rate
 *                                                results  (result's leaves,) self.w, self.b      it writes self
 *     fn fill(n: i64, out: &mut Vec<i64>)        results  (result's leaves,) out
 */
#include "language/lower/lower.h"

#include "language/lower/lowering.h"

/* ---- signatures -------------------------------------------------------------------------------------------------- */

/* The result, then what the parameters that come back have become, in their order. */
static void declare_results(lowering *l, const function_item *item, ir_function *f) {
    uint32_t count = lower_leaf_count(l, item->result), at = 0;
    for (uint32_t p = 0; p < item->parameter_count; p++)
        count += lower_comes_back(l, item, p) ? lower_leaf_count(l, item->parameters[p]->type) : 0;
    ir_type *all = MASU_ARENA_ARRAY(l->scratch, ir_type, count);
    if (!all) {
        l->m->out_of_memory = true;
        return;
    }
    lower_leaf_types(l, item->result, all);
    at = lower_leaf_count(l, item->result);
    for (uint32_t p = 0; p < item->parameter_count; p++) {
        if (!lower_comes_back(l, item, p))
            continue;
        lower_leaf_types(l, item->parameters[p]->type, all + at);
        at += lower_leaf_count(l, item->parameters[p]->type);
    }
    ir_function_set_results(f, all, count);
}

static void declare_function(lowering *l, const function_item *item) {
    ir_function *f = ir_function_new(l->m, item->qualified, item->span);
    l->functions[item->index] = f;
    for (uint32_t p = 0; f && p < item->parameter_count; p++) {
        const binding *b = item->parameters[p];
        uint32_t count;
        ir_type *types = lower_types_of(l, b->type, &count);
        for (uint32_t i = 0; types && i < count; i++)
            ir_function_add_param(f, types[i], NULL, b->span);
    }
    if (f)
        declare_results(l, item, f);
    if (item == l->tree->main)
        l->m->main = f;
}

/* ---- bodies ------------------------------------------------------------------------------------------------------ */

static void bind_parameters(lower_fn *fn) {
    uint32_t at = 0;
    for (uint32_t p = 0; p < fn->item->parameter_count; p++) {
        const binding *b = fn->item->parameters[p];
        lower_bind(fn, b, fn->f->params + at);
        at += lower_leaf_count(fn->l, b->type);
        for (const stmt *s = fn->item->body->first; s && (s->is_opening || s->is_part) && lower_open(fn); s = s->next)
            if (s->is_opening && s->value->kind == EXPR_NAME && s->value->name.binding == b)
                lower_opening(fn, s);
    }
}

static void lower_function(lowering *l, const function_item *item) {
    lower_fn fn = {.l = l, .item = item, .name = item->qualified, .f = l->functions[item->index]};
    fn.owns = l->tree->marks != NULL && item->span.file != l->tree->prelude;
    fn.b = ir_builder_new(fn.f);
    fn.variables = MASU_ARENA_ARRAY(l->scratch, ir_variable, item->binding_count);
    ir_value *result = lower_room(&fn, lower_leaf_count(l, item->result));
    if (!fn.b || !fn.variables || !result) {
        l->m->out_of_memory = true;
        return;
    }
    if (l->broken[item->index]) {
        ir_emit(fn.b, IR_UNREACHABLE, NULL, 0, NULL, 0, item->span);
        ir_builder_finish(fn.b);
        return;
    }
    if (item == l->tree->main)
        lower_run_destructors(&fn, item->span);
    if (item->wide || item->whole)
        lower_begin_with_copies(&fn);
    bind_parameters(&fn);
    lower_block_as(&fn, item->body, item->result, result);
    const expr *last = item->body->result;
    lower_return(&fn, result, last ? last->span : item->body->span);
    ir_builder_finish(fn.b);
}

static void lower_all(lowering *l) {
    for (uint32_t f = 0; f < l->tree->function_count; f++)
        if (lower_is_compiled(l->tree->functions[f]))
            declare_function(l, l->tree->functions[f]);
    lower_destructors(l);
    for (uint32_t f = 0; f < l->tree->function_count && !l->m->out_of_memory; f++) {
        if (!lower_is_compiled(l->tree->functions[f]))
            continue;
        masu__arena_mark mark = masu__arena_get_mark(l->scratch);
        lower_function(l, l->tree->functions[f]);
        masu__arena_release(l->scratch, mark);
        l->kernel_room[0] = l->kernel_room[1] = NULL;
    }
}

masu_status lower_tree(const syntax_tree *tree, const type_table *types, masu__arena *arena,
                       const diagnostics *diagnostics, ir_module **out) {
    masu__arena scratch = {0};
    lowering l = {
        .any = lower_any, .tree = tree, .diagnostics = diagnostics, .scratch = &scratch, .m = ir_module_new(arena)};
    l.functions = MASU_ARENA_ARRAY(&scratch, ir_function *, tree->function_count);
    l.runs_backward = MASU_ARENA_ARRAY(&scratch, bool, tree->function_count);
    l.leaf_counts = MASU_ARENA_ARRAY(&scratch, uint32_t, types->count);
    l.drops = MASU_ARENA_ARRAY(&scratch, uint8_t, types->count);
    l.type_count = types->count;
    bool ready = l.m && l.drops && l.functions && l.runs_backward && l.leaf_counts && lower_mark_broken(&l) &&
                 lower_find_backward(&l);
    if (ready)
        lower_all(&l);
    masu__arena_destroy(&scratch);
    if (!ready || l.m->out_of_memory)
        return MASU_ERR_OUT_OF_MEMORY;
    *out = l.m;
    return MASU_OK;
}
