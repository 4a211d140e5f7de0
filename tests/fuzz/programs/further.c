/* further.c: statements about what came to the language later: parts written, places lent for writing, functions as
 * values, tensors that grow, tensors printed, results handed out and built for the caller. See generator.h.
 */
#include <stdio.h>

#include "generator.h"

const char further_types[] =
    "fn poked(t: &mut Tensor, by: f32) -> f32 {\n    let was = t.sum().item();\n"
    "    *t = (t * 0.5 + by).clamp(-4.0, 4.0);\n    was\n}\n"
    "fn mixed(p: &mut Pair, t: &Tensor) {\n    p.x = (p.x + t).clamp(-4.0, 4.0);\n    p.n += 1;\n"
    "    if p.n > 2 { return; }\n    p.y = p.x.sum(0).clamp(-4.0, 4.0);\n}\n"
    "fn turned(v: &mut Vec<Tensor>, n: i64) {\n    let a = v[0];\n    if n > 1 { v[0] = v[v.len() - 1]; }\n"
    "    v.push((a * 0.5).clamp(-4.0, 4.0));\n    v.pop();\n}\n"
    "fn doubled(t: Tensor) -> Tensor {\n    (t + t).clamp(-4.0, 4.0)\n}\n"
    "fn same(t: Tensor) -> Tensor {\n    t\n}\n"
    "fn chosen(n: i64) -> fn(Tensor) -> Tensor {\n    if n % 2 == 0 { doubled } else { same }\n}\n"
    "fn scaled(by: Tensor) -> impl Fn(Tensor) -> Tensor {\n    move |t| (t * by).clamp(-4.0, 4.0)\n}\n"
    "fn outer(n: i64, t: Tensor) -> Tensor {\n    let row = t.sum(0).clamp(-4.0, 4.0);\n"
    "    if n <= 0 { return row; }\n    (outer(n - 1, (t * 0.5).clamp(-4.0, 4.0)) + row).clamp(-4.0, 4.0)\n}\n"
    "fn parts(a: Tensor, b: Tensor) -> (Tensor, Tensor, Tensor) {\n"
    "    (b, (a * 0.5 + b).clamp(-4.0, 4.0), a)\n}\n";

/* What is not tracked, and so may be written in place. */
void part_written(generator *g) {
    const variable *v = any_variable(g, WIDE, true, true);
    if (!v)
        return;
    begin_line(g);
    switch (below(g, 5)) {
    case 0:
        masu__buffer_printf(g->out, "%s[%u, 0..3] = ", v->name, one_in(g, 40) ? 2 : below(g, 2));
        plain_value(g, ROW, 2);
        break;
    case 1:
        masu__buffer_printf(g->out, "%s[0..1] = %s[1..2]", v->name, v->name);
        break;
    case 2:
        masu__buffer_printf(g->out, "%s[%u, 0..2] = %s[%u, 1..3]", v->name, below(g, 2), v->name, below(g, 2));
        break;
    case 3:
        masu__buffer_printf(g->out, "%s[0..2, %u] = Tensor::full([1], 0.25)", v->name, below(g, 3));
        break;
    default:
        masu__buffer_printf(g->out, "%s[0..2] = ", v->name);
        plain_value(g, one_in(g, 20) ? SQUARE : WIDE, 2);
    }
    end_line(g, ";");
}

void printed_whole(generator *g) {
    begin_line(g);
    masu__buffer_puts(g->out, "println(\"{}\", ");
    small_value(g, one_in(g, 2) ? WIDE : ROW, 2);
    end_line(g, ");");
}

/* An f32 that no f64 is, where an f64 is wanted: it keeps the value that it has. */
void widened(generator *g) {
    static const char *const literals[] = {"0.1", "-0.3", "2.7", "16777217.0"};
    int n = g->names++;
    line(g, "let n%d = %s;", n, literals[below(g, 4)]);
    line(g, "println((n%d %s) as f64);", n, one_in(g, 2) ? "* 3.0" : "+ 0.0");
}

/* Names are tracked from the start in the generator's eyes only when they were declared so. */
static const variable *tracked_one(generator *g, kind k) {
    const variable *v = any_variable(g, k, true, false);
    return v && v->tracked ? v : NULL;
}

void lent_for_writing(generator *g) {
    static const kind kinds[] = {WIDE, PAIR, LIST};
    kind k = kinds[below(g, 3)];
    const variable *v = k == WIDE ? any_variable(g, k, true, false) : tracked_one(g, k);
    if (!v)
        return;
    begin_line(g);
    if (k == WIDE)
        masu__buffer_printf(g->out, "println(\"{}\", poked(&mut %s, 0.25)", v->name);
    if (k == PAIR) {
        if (one_in(g, 3)) {
            masu__buffer_printf(g->out, "poked(&mut %s.x, -0.5);\n", v->name);
            begin_line(g);
        }
        masu__buffer_printf(g->out, "mixed(&mut %s, &", v->name);
        const variable *t = any_variable(g, WIDE, false, false);
        masu__buffer_puts(g->out, t ? t->name : "Tensor::ones([2, 3])");
    }
    if (k == LIST) {
        masu__buffer_printf(g->out, "turned(&mut %s, ", v->name);
        value(g, INTEGER, 1);
    }
    end_line(g, ");");
}

static void named_wide(generator *g, int name) {
    if (g->variable_count >= MOST_VARIABLES)
        return;
    variable made = {.kind = WIDE, .tracked = true, .depth = g->depth, .loop = g->loops};
    snprintf(made.name, sizeof made.name, "v%d", name);
    g->variables[g->variable_count++] = made;
}

void function_as_value(generator *g) {
    int f = g->names++, v = g->names++;
    begin_line(g);
    masu__buffer_printf(g->out, "let f%d = ", f);
    masu__buffer_puts(g->out, one_in(g, 2) ? "chosen(" : "scaled(");
    if (masu__buffer_text(g->out)[g->out->length - 2] == 'n')
        value(g, INTEGER, 1);
    else
        small_value(g, one_in(g, 2) ? WIDE : ROW, 2);
    end_line(g, ");");
    begin_line(g);
    masu__buffer_printf(g->out, "let v%d = f%d(", v, f);
    small_value(g, WIDE, 2);
    end_line(g, ");");
    named_wide(g, v);
}

/* The number of its rows is known only when it runs. */
void grown(generator *g) {
    int t = g->names++, i = g->names++;
    line(g, "let mut g%d = Tensor::ones([1, 3]);", t);
    line(g, "for i%d in 0..%u {", i, 1 + below(g, 4));
    g->indent++;
    begin_line(g);
    masu__buffer_printf(g->out, "g%d = Tensor::cat(g%d, ", t, t);
    plain_value(g, WIDE, 2);
    end_line(g, ", 0);");
    if (one_in(g, 2))
        line(g, "let h%d = (g%d * 0.5 + g%d.sum(0).clamp(-4.0, 4.0)).clamp(-4.0, 4.0);", t, t, t);
    if (one_in(g, 2))
        line(g, "println(\"{} {}\", g%d.len(), g%d.sum().item());", t, t);
    g->indent--;
    line(g, "}");
    int v = g->names++;
    line(g, "let v%d = g%d.slice(0, 0, 2) * 1.0;", v, t);
    named_wide(g, v);
}

/* Results that are arguments, and results that are made for the caller, in one row. */
void several_results(generator *g) {
    int a = g->names++, b = g->names++, c = g->names++;
    begin_line(g);
    masu__buffer_printf(g->out, "let (v%d, v%d, v%d) = parts(", a, b, c);
    small_value(g, WIDE, 2);
    masu__buffer_puts(g->out, ", ");
    small_value(g, WIDE, 2);
    end_line(g, ");");
    named_wide(g, a);
    named_wide(g, b);
    named_wide(g, c);
}

void recursion_called(generator *g) {
    begin_line(g);
    masu__buffer_printf(g->out, "println(\"{}\", outer(%u, ", below(g, 5));
    small_value(g, WIDE, 2);
    end_line(g, ").sum().item());");
}
