/* generate.c: see generate.h and generator.h. */
#include "generate.h"

#include <stdio.h>

#include "generator.h"

const char *kind_type(kind k) {
    static const char *const types[KINDS] = {"Tensor",
                                             "Tensor",
                                             "Tensor",
                                             "Tensor",
                                             "i64",
                                             "f32",
                                             "bool",
                                             "Pair",
                                             "Nest",
                                             "Empty",
                                             "(Tensor, Tensor)",
                                             "Vec<Tensor>",
                                             "Option<Tensor>",
                                             "Choice",
                                             "Crate<Tensor>",
                                             "Crate<Pair>",
                                             "Vec<Pair>",
                                             "Vec<Choice>",
                                             "Option<Pair>",
                                             "Tree",
                                             "[Tensor; 2]",
                                             "(Pair, (Tensor, i64))",
                                             "Vec<Vec<Tensor>>",
                                             "Result<Tensor, String>",
                                             "Model"};
    return types[k];
}

static const char types[] =
    "struct Empty {}\n"
    "struct Pair {\n    x: Tensor,\n    y: Tensor,\n    n: i64,\n}\n"
    "struct Nest {\n    p: Pair,\n    m: Tensor,\n    e: Empty,\n}\n";

/* ---- functions -------------------------------------------------------------------------------------- */

static void parameters(generator *g, routine *r) {
    for (int p = 0; p < r->parameter_count; p++) {
        bool is_mutable = one_in(g, 3);
        variable v = {.kind = r->parameters[p], .is_mutable = is_mutable, .tracked = true, .depth = g->depth + 1};
        snprintf(v.name, sizeof v.name, "v%d", g->names++);
        masu__buffer_printf(g->out, "%s%s%s: %s", p > 0 || r->is_recursive ? ", " : "", is_mutable ? "mut " : "",
                            v.name, kind_type(v.kind));
        g->variables[g->variable_count++] = v;
    }
}

static void recursion(generator *g, const routine *r) {
    line(g, "if depth > 0 {");
    g->indent++;
    begin_line(g);
    masu__buffer_printf(g->out, "return %s(depth - 1", r->name);
    for (int p = 0; p < r->parameter_count; p++) {
        masu__buffer_puts(g->out, ", ");
        small_value(g, r->parameters[p], 2);
    }
    end_line(g, ");");
    g->indent--;
    line(g, "}");
}

static void function(generator *g) {
    routine r = {.returns = !one_in(g, 6)};
    static const kind results[] = {WIDE, WIDE, WIDE, ROW,   SQUARE, NUMBER, REAL, INTEGER,
                                   PAIR, PAIR, NEST, TUPLE, LIST,   MAYBE,  EMPTY};
    static const kind taken[] = {WIDE,    WIDE,       WIDE,  WIDE,  ROW,  SQUARE, PAIR,   PAIR,  NEST,  TUPLE,
                                 INTEGER, REAL,       TRUTH, EMPTY, LIST, MAYBE,  CHOICE, CRATE, CHEST, PAIRS,
                                 CHOICES, MAYBE_PAIR, TREE,  FIXED, DEEP, ROWS,   RESULT, MODEL};
    r.result = results[below(g, sizeof results / sizeof results[0])];
    r.parameter_count = (int)below(g, MOST_PARAMETERS);
    r.is_recursive = r.returns && one_in(g, 5);
    snprintf(r.name, sizeof r.name, "f%d", g->names++);
    for (int p = 0; p < r.parameter_count; p++)
        r.parameters[p] = taken[below(g, sizeof taken / sizeof taken[0])];
    g->variable_count = 0;
    masu__buffer_printf(g->out, "fn %s(%s", r.name, r.is_recursive ? "depth: i64" : "");
    parameters(g, &r);
    masu__buffer_printf(g->out, ")%s%s {\n", r.returns ? " -> " : "", r.returns ? kind_type(r.result) : "");
    g->inside = &r;
    open_scope(g);
    prologue(g, false);
    body(g, 2 + (int)below(g, 4));
    if (r.is_recursive)
        recursion(g, &r);
    body(g, (int)below(g, 3));
    if (r.returns) {
        begin_line(g);
        small_value(g, r.result, 3);
        end_line(g, "");
    }
    close_scope(g);
    g->inside = NULL;
    line(g, "}");
    g->routines[g->routine_count++] = r;
}

/* make, get and bump of Pair. */
static void methods(generator *g) {
    line(g, "impl Pair {");
    g->indent++;
    line(g, "fn make(a: Tensor, b: Tensor) -> Pair {");
    line(g, one_in(g, 2) ? "    Pair { x: a, y: b, n: 1 }" : "    let p = Pair { x: a * 0.5, y: b, n: 2 };\n        p");
    line(g, "}");
    line(g, "fn get(self) -> Tensor {");
    line(g, one_in(g, 2) ? "    self.x"
                         : "    if self.n > 1 { return self.x; }\n        self.x + self.y.clamp(-1.0, 1.0)");
    line(g, "}");
    line(g, "fn bump(mut self, a: Tensor) -> Tensor {");
    line(g, "    let old = self.x;");
    line(g, "    self.x = (self.x + a).clamp(-4.0, 4.0);");
    line(g, "    self.n += 1;");
    line(g, one_in(g, 2) ? "    old" : "    if self.n > 3 { self.y = old.sum(0).clamp(-4.0, 4.0); }\n        self.x");
    line(g, "}");
    g->indent--;
    line(g, "}");
}

void generate(const generate_options *options, masu__buffer *out) {
    generator g = {.out = out};
    masu__rng_seed(&g.rng, options->seed);
    masu__buffer_puts(out, types);
    methods(&g);
    masu__buffer_puts(out, richer_types);
    masu__buffer_puts(out, further_types);
    int functions = 1 + (int)below(&g, 4);
    g.budget = (int)options->size;
    for (int f = 0; f < functions && g.budget > 0; f++)
        function(&g);
    g.variable_count = 0;
    line(&g, "fn main() {");
    open_scope(&g);
    prologue(&g, true);
    if (g.budget < 10)
        g.budget = 10;
    while (g.budget > 0)
        body(&g, g.budget);
    for (int i = 0; i < g.variable_count; i++)
        if (!g.variables[i].hidden && !one_in(&g, 3))
            show(&g, &g.variables[i]);
    close_scope(&g);
    line(&g, "}");
}
