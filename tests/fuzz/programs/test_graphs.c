/* test_graphs.c: ten thousand random histories, by the runtime and by a naive tape (naive.h), step by step.
 *
 *     values: up to MOST, each held twice, as the runtime's tensor and as the naive one
 *     steps:  an operation on some of them, a value let go, detach, enable_grad, backward in one of its forms,
 *             a gradient read, an iteration's end
 *
 * After every step that reads, both say the same or both refuse; when the last value is gone nothing is left.
 * No language, no compiler: histories of shapes that no program of theirs would have.
 */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "naive.h"
#include "runtime/runtime.h"

enum { GRAPHS = 10000, MOST = 10, STEPS = 24 };

typedef struct held {
    tl_tensor *real;
    tensor *naive;
} held;

typedef struct graph {
    masu__rng rng;
    naive n;
    tl_runtime *rt;
    held values[MOST];
    int count;
    uint64_t seed;
} graph;

/* Of all graphs: what was seen. */
static uint64_t refusals, walks, gradients;

static uint32_t below(graph *g, uint32_t n) {
    return (uint32_t)masu__rng_below(&g->rng, n);
}

static _Noreturn void differ(const graph *g, const char *format, ...) __attribute__((format(printf, 2, 3)));

static _Noreturn void differ(const graph *g, const char *format, ...) {
    va_list arguments;
    printf("graph %llu: ", (unsigned long long)g->seed);
    va_start(arguments, format);
    vprintf(format, arguments);
    va_end(arguments);
    printf("\n");
    exit(1);
}

/* ---- both at once ------------------------------------------------------------------------------- */

/* Of the naive side; false: refused. */
static bool naively(graph *g, const naive_call *call, tensor **result, double *number) {
    *result = NULL;
    g->n.error[0] = 0;
    if (setjmp(g->n.ended) != 0) {
        if (g->n.unsupported)
            differ(g, "%s", g->n.error);
        return false;
    }
    if (!naive_operate(&g->n, call, result, number))
        differ(g, "unknown: %s", tl_abi_functions[call->abi].symbol);
    return true;
}

static bool refused(graph *g) {
    bool failed = tl_runtime_error(g->rt)->status != MASU_OK;
    tl_runtime_clear_error(g->rt);
    return failed;
}

/* Whether both did it; differs when only one did. */
static bool agreed(graph *g, const char *what, bool naive_did) {
    char text[200];
    snprintf(text, sizeof text, "%.150s", tl_runtime_error(g->rt)->text);
    bool failed = refused(g);
    if (failed == naive_did)
        differ(g, "%s: the runtime %s %s, the tape %s %s", what, failed ? "refuses" : "does it", text,
               naive_did ? "does it" : "refuses", g->n.error);
    refusals += failed;
    return naive_did;
}

static void keep(graph *g, tl_tensor *real, tensor *t) {
    g->values[g->count++] = (held){real, t};
}

static void let_go(graph *g, int which) {
    tl_tensor_release_safe(g->values[which].real);
    g->values[which] = g->values[--g->count];
}

static void compare_values(graph *g, const char *what, tl_tensor *real, const tensor *t) {
    if (tl_tensor_rank(real) != t->rank)
        differ(g, "%s: ranks", what);
    for (int d = 0; d < t->rank; d++)
        if (tl_tensor_dim(real, d) != t->shape[d])
            differ(g, "%s: shapes", what);
    tl_tensor *flat = tl_tensor_flatten(real);
    for (int64_t i = 0; i < t->count; i++) {
        double x = tl_tensor_get_f64(flat, 1, &i), y = t->e[i]->v;
        if (!(fabs(x - y) <= 1e-3 * fmax(1, fmax(fabs(x), fabs(y)))))
            differ(g, "%s: element %lld is %g, not %g", what, (long long)i, x, y);
    }
    tl_tensor_release_safe(flat);
}

/* ---- operations ------------------------------------------------------------------------------------ */

typedef enum form { ONE, WITH_NUMBER, WITH_TWO, WITH_DIM, WITH_DIMS, TWO } form;

typedef struct operation {
    tl_abi_index abi;
    form form;
    double number, second;
    bool square_only; /* operands are [3, 3] */
} operation;

#define OP(name) TL_FN_tl_tensor_##name
static const operation operations[] = {
    {OP(add), TWO, 0, 0, false},
    {OP(sub), TWO, 0, 0, false},
    {OP(mul), TWO, 0, 0, false},
    {OP(mul), TWO, 0, 0, false},
    {OP(matmul), TWO, 0, 0, true},
    {OP(tanh), ONE, 0, 0, false},
    {OP(sin), ONE, 0, 0, false},
    {OP(cos), ONE, 0, 0, false},
    {OP(sigmoid), ONE, 0, 0, false},
    {OP(relu), ONE, 0, 0, false},
    {OP(neg), ONE, 0, 0, false},
    {OP(abs), ONE, 0, 0, false},
    {OP(round), ONE, 0, 0, false},
    {OP(clone), ONE, 0, 0, false},
    {OP(shallow_clone), ONE, 0, 0, false},
    {OP(add_scalar), WITH_NUMBER, 0.5, 0, false},
    {OP(mul_scalar), WITH_NUMBER, -0.5, 0, false},
    {OP(rsub_scalar), WITH_NUMBER, 1, 0, false},
    {OP(div_scalar), WITH_NUMBER, 2, 0, false},
    {OP(pow_scalar), WITH_NUMBER, 2, 0, false},
    {OP(clamp), WITH_TWO, -2, 2, false},
    {OP(transpose), WITH_DIMS, 0, 1, true},
    {OP(sum_dim), WITH_DIM, 0, 0, true},
    {OP(mean_dim), WITH_DIM, 1, 0, true},
    {OP(sum), ONE, 0, 0, false},
    {OP(mean), ONE, 0, 0, false},
    {OP(row), WITH_DIM, 1, 0, true},
};

static tl_tensor *really(const operation *o, tl_tensor *a, tl_tensor *b) {
    void *address = tl_abi_addresses[o->abi];
    switch (o->form) {
    case ONE:
        return ((tl_tensor * (*)(tl_tensor *)) address)(a);
    case WITH_NUMBER:
        return ((tl_tensor * (*)(tl_tensor *, double)) address)(a, o->number);
    case WITH_TWO:
        return ((tl_tensor * (*)(tl_tensor *, double, double)) address)(a, o->number, o->second);
    case WITH_DIM:
        return ((tl_tensor * (*)(tl_tensor *, int64_t)) address)(a, (int64_t)o->number);
    case WITH_DIMS:
        return ((tl_tensor * (*)(tl_tensor *, int64_t, int64_t)) address)(a, (int64_t)o->number, (int64_t)o->second);
    default:
        return ((tl_tensor * (*)(tl_tensor *, tl_tensor *)) address)(a, b);
    }
}

/* Where values grow they are clamped: gradients of large numbers say little. */
static bool is_large(const tensor *t) {
    for (int64_t i = 0; i < t->count; i++)
        if (fabs(t->e[i]->v) > 8)
            return true;
    return false;
}

static void operate(graph *g) {
    const held *a = &g->values[below(g, (uint32_t)g->count)], *b = &g->values[below(g, (uint32_t)g->count)];
    operation o = operations[below(g, sizeof operations / sizeof operations[0])];
    if (is_large(a->naive))
        o = (operation){OP(clamp), WITH_TWO, -2, 2, false};
    if (o.square_only && (a->naive->rank != 2 || b->naive->rank != 2))
        o = (operation){OP(mul), TWO, 0, 0, false};
    naive_call call = {.abi = o.abi, .t = {a->naive, o.form == TWO ? b->naive : NULL}};
    call.number[1] = o.number;
    call.number[2] = o.second;
    tensor *t;
    double number;
    bool did = naively(g, &call, &t, &number);
    tl_tensor *real = really(&o, a->real, b->real);
    if (!agreed(g, tl_abi_functions[o.abi].symbol, did))
        return;
    compare_values(g, tl_abi_functions[o.abi].symbol, real, t);
    keep(g, real, t);
}

/* detach(false), detach(true), enable_grad, freeze: the value gives up its history, others that share it do not. */
static void change_history(graph *g) {
    static const tl_abi_index how[] = {OP(detach), OP(detach), OP(enable_grad), OP(freeze)};
    held *h = &g->values[below(g, (uint32_t)g->count)];
    uint32_t which = below(g, 4);
    naive_call call = {.abi = how[which], .t = {h->naive}};
    call.number[1] = which == 1;
    tensor *t;
    double number;
    bool did = naively(g, &call, &t, &number);
    tl_tensor *real = which < 2    ? tl_tensor_detach(h->real, which == 1)
                      : which == 2 ? tl_tensor_enable_grad(h->real)
                                   : tl_tensor_freeze(h->real);
    if (!agreed(g, "history", did))
        differ(g, "a history cannot be changed");
    *h = (held){real, t};
}

static void read_gradient_of(graph *g, int which, bool may_keep) {
    const held *h = &g->values[which];
    naive_call call = {.abi = OP(grad), .t = {h->naive}};
    tensor *t;
    double number;
    bool did = naively(g, &call, &t, &number);
    tl_tensor *real = tl_tensor_grad(h->real);
    if (!agreed(g, "grad", did))
        return;
    compare_values(g, "gradient", real, t);
    gradients += t->count > 0 && t->e[0]->v != 0;
    if (may_keep && g->count < MOST && below(g, 3) == 0)
        keep(g, real, t);
    else
        tl_tensor_release_safe(real);
}

static void read_gradient(graph *g) {
    read_gradient_of(g, (int)below(g, (uint32_t)g->count), true);
}

static void read_gradients_of_leaves(graph *g) {
    for (int i = 0; i < g->count; i++)
        if (g->values[i].naive->node && g->values[i].naive->node->is_leaf)
            read_gradient_of(g, i, false);
}

/* The sum of some value, which may be let go before, or a value itself, which may be no number or have no history. */
static void go_back(graph *g) {
    int which = (int)below(g, (uint32_t)g->count);
    held h = g->values[which];
    tl_tensor *loss = NULL;
    tensor *t = h.naive;
    double number;
    if (below(g, 8) > 0) {
        loss = tl_tensor_sum(h.real);
        (void)naively(g, &(naive_call){.abi = OP(sum), .t = {h.naive}}, &t, &number);
        if (below(g, 3) == 0 && g->count > 1)
            let_go(g, which);
    }
    for (int times = 1 + (below(g, 4) == 0); times > 0; times--) {
        bool keep_graph = below(g, 3) == 0;
        tensor *nothing;
        naive_call call = {.abi = OP(backward), .t = {t}};
        call.number[1] = keep_graph;
        bool did = naively(g, &call, &nothing, &number);
        tl_tensor_backward(loss ? loss : h.real, keep_graph);
        walks += agreed(g, "backward", did);
    }
    if (loss)
        tl_tensor_release_safe(loss);
    if (below(g, 2) == 0)
        read_gradients_of_leaves(g);
}

static void end_iteration(graph *g) {
    tl_clear_grads();
    naive_clear_grads(&g->n);
}

/* ---- one graph ----------------------------------------------------------------------------------------- */

static void begin(graph *g) {
    static const int64_t shape[] = {3, 3};
    for (int i = 0; i < 3; i++) {
        bool tracked = i < 2;
        double v = 0.25 + 0.5 * i;
        tensor *t = naive_full(&g->n, TL_F32, i == 1 ? 1 : 2, shape, v);
        if (tracked)
            t = naive_detach(&g->n, t, true);
        keep(g, tl_tensor_full(t->rank, shape, v, tracked), t);
    }
    tl_grad_loop_enter();
    g->n.grad_depth++;
}

static void step(graph *g) {
    uint32_t drawn = below(g, 20);
    if (g->count == MOST || (drawn == 0 && g->count > 2)) /* the first leaf goes seldom */
        let_go(g, g->count - 1 - (int)below(g, (uint32_t)g->count - (drawn > 0)));
    else if (drawn < 3)
        change_history(g);
    else if (drawn < 5)
        read_gradient(g);
    else if (drawn < 8)
        go_back(g);
    else if (drawn == 8)
        end_iteration(g);
    else
        operate(g);
}

static void end(graph *g) {
    read_gradients_of_leaves(g);
    for (int i = 0; i < g->count; i++)
        compare_values(g, "at the end", g->values[i].real, g->values[i].naive);
    while (g->count > 0)
        let_go(g, (int)below(g, (uint32_t)g->count));
    tl_grad_loop_exit();
    tl_report r;
    tl_runtime_get_report(g->rt, &r);
    if (r.live_tensors || r.live_nodes || r.live_grads || r.live_bytes)
        differ(g, "%llu tensors, %llu nodes, %llu gradients, %llu bytes left", (unsigned long long)r.live_tensors,
               (unsigned long long)r.live_nodes, (unsigned long long)r.live_grads, (unsigned long long)r.live_bytes);
}

static void one_graph(tl_runtime *rt, uint64_t seed) {
    graph g = {.rt = rt, .seed = seed};
    masu__rng_seed(&g.rng, seed);
    begin(&g);
    for (int s = 0; s < STEPS; s++)
        step(&g);
    end(&g);
    masu__arena_destroy(&g.n.arena);
}

int main(int argc, char **argv) {
    uint64_t first = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;
    tl_runtime *rt = NULL;
    if (tl_runtime_create(NULL, &rt) != MASU_OK)
        return 2;
    tl_runtime_enter(rt);
    for (uint64_t seed = first; seed < first + GRAPHS; seed++)
        one_graph(rt, seed);
    bool valid = tl_runtime_valid(rt);
    tl_runtime_leave(rt);
    tl_runtime_destroy(rt);
    printf("%d graphs: %llu walks back, %llu gradients other than 0, %llu steps refused by both\n", GRAPHS,
           (unsigned long long)walks, (unsigned long long)gradients, (unsigned long long)refusals);
    return valid && walks > GRAPHS && gradients > GRAPHS / 2 && refusals > GRAPHS ? 0 : 1;
}
