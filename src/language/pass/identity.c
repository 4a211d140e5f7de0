/* identity.c: a result that is always an argument is that argument, at every call.
 *
 *     fn id(x) { x }            fn f(self, t) { self.b = t; }      returns self.a as it was, and the new self.b
 *
 *     %2 = call id(%1)          call id(%1)                       the result goes from the function and from its calls;
 *     use %2                    use %1                            its users use the argument
 *
 * So handing an argument out costs no count, whether it lives on or not, and what looks like a second owner is none.
 * Only managed results: numbers cost nothing. A function may return what its own call of itself returns.
 *
 *     after it: no function but main has a managed result that every way out takes from the same parameter;
 *               a call has as many results as what it calls (asserted)
 */
#include "base/assert.h"
#include "language/ir/edit.h"
#include "language/pass/pass.h"

enum { NOT_MET = -2, NO_PARAMETER = -1 };

typedef struct forwarder {
    ir_module *m;
    masu__arena scratch;
    int32_t **from; /* by function id, by result: the parameter that it is, or NO_PARAMETER; NULL: no result is */
} forwarder;

/* ---- which results are parameters --------------------------------------------------------------------- */

static int32_t parameter_of(const ir_function *f, ir_value v) {
    for (uint32_t k = 0; k < f->param_count; k++)
        if (f->params[k] == v)
            return (int32_t)k;
    return NO_PARAMETER;
}

/* Result r of f's call of itself, with the parameter in its own place: is whatever the other ways out say. */
static bool asks_itself(const ir_function *f, ir_value v, uint32_t r, int32_t *parameter) {
    const ir_instr *i = f->values[v].def;
    if (!i || i->op != IR_CALL || i->callee != f || v != i->result + r)
        return false;
    for (uint32_t k = 0; k < i->arg_count; k++)
        if (i->args[k] == f->params[k] && *parameter == (int32_t)k)
            return true;
    return false;
}

static int32_t agree(const ir_function *f, const ir_instr *ret, uint32_t r, int32_t before) {
    if (before == NO_PARAMETER || asks_itself(f, ret->args[r], r, &before))
        return before;
    int32_t one = parameter_of(f, ret->args[r]);
    return before == NOT_MET || before == one ? one : NO_PARAMETER;
}

/* Ways out that hand a parameter out come before those that ask the function itself: two sweeps. */
static bool find_results(const ir_function *f, int32_t *from) {
    bool any = false;
    for (uint32_t r = 0; r < f->result_count; r++)
        from[r] = ir_type_managed(f->results[r]) ? NOT_MET : NO_PARAMETER;
    for (uint32_t sweep = 0; sweep < 2; sweep++)
        for (uint32_t b = 0; b < f->block_count; b++) {
            const ir_instr *ret = f->blocks[b]->last;
            for (uint32_t r = 0; ret->op == IR_RET && r < f->result_count; r++)
                if (sweep == 1 || parameter_of(f, ret->args[r]) != NO_PARAMETER)
                    from[r] = agree(f, ret, r, from[r]);
        }
    for (uint32_t r = 0; r < f->result_count; r++)
        any |= from[r] >= 0;
    return any;
}

static bool find_all(forwarder *w) {
    bool any = false;
    for (uint32_t n = 0; n < w->m->function_count; n++) {
        const ir_function *f = w->m->functions[n];
        w->from[n] = NULL;
        if (f->is_kernel || f == w->m->main || f->block_count == 0 || f->result_count == 0)
            continue;
        int32_t *from = MASU_ARENA_ARRAY(&w->scratch, int32_t, f->result_count);
        if (!from) {
            w->m->out_of_memory = true;
            return false;
        }
        if (find_results(f, from)) {
            w->from[n] = from;
            any = true;
        }
    }
    return any;
}

/* ---- taking them out ------------------------------------------------------------------------------------- */

static void strike_results(ir_function *f, const int32_t *from) {
    uint32_t kept = 0;
    for (uint32_t r = 0; r < f->result_count; r++) {
        if (from[r] >= 0)
            continue;
        for (uint32_t b = 0; b < f->block_count; b++)
            if (f->blocks[b]->last->op == IR_RET)
                f->blocks[b]->last->args[kept] = f->blocks[b]->last->args[r];
        f->results[kept++] = f->results[r];
    }
    for (uint32_t b = 0; b < f->block_count; b++)
        if (f->blocks[b]->last->op == IR_RET)
            f->blocks[b]->last->arg_count = kept;
    f->result_count = kept;
}

/* Results lie in a row: those that stay get a new one. */
static void strike_call(ir_function *f, ir_instr *call, const int32_t *from, ir_value *to) {
    ir_value old = call->result;
    uint32_t kept = 0;
    for (uint32_t r = 0; r < call->result_count; r++) {
        ir_value_info was = f->values[old + r], *gone = &f->values[old + r];
        to[old + r] = from[r] >= 0 ? call->args[from[r]] : f->value_count;
        if (from[r] < 0) {
            ir_value v = ir_value_new(f, was.type, was.name, was.span);
            if (!v)
                return;
            f->values[v] = was;
            gone = &f->values[old + r];
            call->result = kept++ == 0 ? v : call->result;
        }
        gone->def = NULL;
    }
    MASU_DEBUG_ASSERT(kept == call->callee->result_count);
    call->result_count = kept;
    call->result = kept ? call->result : 0;
}

static uint32_t results_struck(const forwarder *w, const ir_function *f) {
    uint32_t count = 0;
    for (uint32_t b = 0; b < f->block_count; b++)
        for (const ir_instr *i = f->blocks[b]->first; i; i = i->next)
            count += i->op == IR_CALL && w->from[i->callee->id] ? i->result_count : 0;
    return count;
}

static void strike_calls(forwarder *w, ir_function *f) {
    uint32_t most = results_struck(w, f);
    if (most == 0)
        return;
    ir_value *to = MASU_ARENA_ARRAY(&w->scratch, ir_value, f->value_count + most);
    w->m->out_of_memory |= !to;
    for (ir_value v = 0; to && v < f->value_count + most; v++)
        to[v] = v;
    for (uint32_t b = 0; to && b < f->block_count; b++)
        for (ir_instr *i = f->blocks[b]->first; i; i = i->next)
            if (i->op == IR_CALL && w->from[i->callee->id])
                strike_call(f, i, w->from[i->callee->id], to);
    if (to && !w->m->out_of_memory)
        ir_replace_values(f, to);
}

static void strike_all(forwarder *w) {
    for (uint32_t n = 0; n < w->m->function_count; n++)
        if (w->from[n])
            strike_results(w->m->functions[n], w->from[n]);
    for (uint32_t n = 0; n < w->m->function_count && !w->m->out_of_memory; n++)
        strike_calls(w, w->m->functions[n]);
}

/* A function that returns another one's result shows that its result is a parameter only when that one's has gone: a
 * round for each link of the longest such chain. Each strikes a result, so this ends. */
void pass_identity(ir_module *m, pass_context *context) {
    (void)context;
    forwarder w = {.m = m};
    w.from = MASU_ARENA_ARRAY(&w.scratch, int32_t *, m->function_count);
    m->out_of_memory |= !w.from;
    while (!m->out_of_memory && find_all(&w))
        strike_all(&w);
    MASU_HEAVY_ASSERT(m->out_of_memory || !find_all(&w));
    masu__arena_destroy(&w.scratch);
}
