/* expressions.c: see generator.h. */
#include <stdio.h>
#include <string.h>

#include "generator.h"

static void put(generator *g, const char *text) {
    masu__buffer_puts(g->out, text);
}

bool is_tensor(kind k) {
    return k <= NUMBER;
}

/* ---- names ----------------------------------------------------------------------------------------- */

const variable *any_variable(generator *g, kind k, bool is_mutable, bool untracked) {
    const variable *found = NULL;
    uint32_t seen = 0;
    for (int i = 0; i < g->variable_count; i++) {
        const variable *v = &g->variables[i];
        if (v->hidden || v->kind != k || (is_mutable && (!v->is_mutable || v->is_leaf)) || (untracked && v->tracked))
            continue;
        if (one_in(g, ++seen))
            found = v;
    }
    return found;
}

/* ---- pieces ------------------------------------------------------------------------------------------ */

static traits literal(generator *g, kind k) {
    static const char *const reals[] = {"0.5", "1.0", "2.0", "-1.0", "0.25", "-0.75", "1.5", "3.0"};
    switch (k) {
    case WIDE:
        switch (below(g, 4)) {
        case 0:
            put(g, "Tensor::ones([2, 3])");
            break;
        case 1:
            masu__buffer_printf(g->out, "Tensor::full([2, 3], %s)", reals[below(g, 8)]);
            break;
        case 2:
            put(g, "[[1.0, -2.0, 0.5], [0.0, 3.0, -1.5]]");
            break;
        default:
            put(g, "Tensor::zeros([2, 3])");
        }
        break;
    case SQUARE:
        put(g, one_in(g, 2) ? "Tensor::eye(3)" : "[[0.5, 1.0, -1.0], [2.0, 0.0, 1.0], [-0.5, 1.5, 1.0]]");
        break;
    case ROW:
        put(g, one_in(g, 2) ? "Tensor::arange(0.0, 3.0, 1.0)" : "[2.0, -1.0, 0.5]");
        break;
    case NUMBER:
        put(g, "Tensor::full([], 1.5)");
        break;
    case INTEGER:
        masu__buffer_printf(g->out, "%u", below(g, 5));
        break;
    case REAL:
        put(g, reals[below(g, 8)]);
        break;
    case TRUTH:
        put(g, one_in(g, 2) ? "true" : "false");
        break;
    case EMPTY:
        put(g, "Empty {}");
        break;
    default:
        break;
    }
    return (traits){4, false};
}

static traits named(generator *g, const variable *v) {
    put(g, v->name);
    return (traits){LIMIT, v->tracked};
}

/* A field of something there is, so that k comes out. */
static bool field(generator *g, kind k, traits *t) {
    static const struct {
        kind of, gives;
        const char *text;
    } fields[] = {{PAIR, WIDE, ".x"},
                  {PAIR, ROW, ".y"},
                  {PAIR, INTEGER, ".n"},
                  {NEST, PAIR, ".p"},
                  {NEST, SQUARE, ".m"},
                  {NEST, WIDE, ".p.x"},
                  {NEST, ROW, ".p.y"},
                  {NEST, EMPTY, ".e"},
                  {TUPLE, WIDE, ".0"},
                  {TUPLE, ROW, ".1"},
                  {PAIR, WIDE, ".get()"},
                  {NEST, INTEGER, ".p.n"},
                  {LIST, WIDE, "[0]"},
                  {LIST, WIDE, ".get(0)"},
                  {MAYBE, TRUTH, ".is_some()"},
                  {CRATE, WIDE, ".item"},
                  {CRATE, MAYBE, ".old"},
                  {CHEST, PAIR, ".item"},
                  {CHEST, WIDE, ".item.x"},
                  {CHEST, MAYBE_PAIR, ".old"},
                  {PAIRS, PAIR, "[0]"},
                  {PAIRS, WIDE, "[1].x"},
                  {PAIRS, ROW, "[0].y"},
                  {CHOICE, WIDE, ".weight()"},
                  {CHOICES, CHOICE, "[1]"},
                  {CHOICES, WIDE, "[0].twice()"},
                  {TREE, WIDE, ".total()"},
                  {TREE, WIDE, ".first()"},
                  {FIXED, WIDE, "[1]"},
                  {DEEP, PAIR, ".0"},
                  {DEEP, WIDE, ".1.0"},
                  {DEEP, INTEGER, ".1.1"},
                  {ROWS, LIST, "[0]"},
                  {ROWS, WIDE, "[1][0]"},
                  {RESULT, TRUTH, ".is_ok()"},
                  {MODEL, WIDE, ".w"},
                  {MODEL, ROW, ".b"}};
    size_t count = sizeof fields / sizeof fields[0], first = below(g, (uint32_t)count);
    for (size_t i = 0; i < count; i++) {
        size_t f = (first + i) % count;
        const variable *v = fields[f].gives == k ? any_variable(g, fields[f].of, false, false) : NULL;
        if (!v)
            continue;
        put(g, v->name);
        put(g, fields[f].text);
        *t = (traits){LIMIT, true};
        return true;
    }
    return false;
}

static traits leaf(generator *g, kind k) {
    traits t;
    const variable *v = any_variable(g, k, false, false);
    if (v && !one_in(g, 5))
        return named(g, v);
    if (!one_in(g, 4) && field(g, k, &t))
        return t;
    return v && !one_in(g, 3) ? named(g, v) : literal(g, k);
}

/* ---- composed ------------------------------------------------------------------------------------------ */

static traits joined(traits a, traits b, double bound) {
    return (traits){bound, a.tracked || b.tracked};
}

static traits of_two(generator *g, kind a, const char *op, kind b, int depth) {
    put(g, "(");
    traits x = value(g, a, depth - 1);
    put(g, op);
    traits y = value(g, b, depth - 1);
    put(g, ")");
    return joined(x, y, op[1] == '*' ? x.bound * y.bound : x.bound + y.bound);
}

static traits of_number(generator *g, kind k, int depth) {
    static const char *const forms[][2] = {{"(", " * 0.5)"}, {"(", " + 1.0)"}, {"(1.0 - ", ")"}, {"(2.0 * ", ")"},
                                           {"(", " - 0.5)"}, {"(", " / 2.0)"}, {"(0.25 + ", ")"}};
    uint32_t f = below(g, 7);
    put(g, forms[f][0]);
    traits t = value(g, k, depth - 1);
    put(g, forms[f][1]);
    return (traits){t.bound * 2 + 1, t.tracked};
}

static traits of_one(generator *g, kind k, int depth) {
    static const struct {
        const char *text;
        double bound; /* 0: as before */
    } forms[] = {{".relu()", 0},  {".tanh()", 1},           {".abs()", 0}, {".sigmoid()", 1}, {".sin()", 1},
                 {".clone()", 0}, {".clamp(-2.0, 2.0)", 2}, {".neg()", 0}, {".scale(0.5)", 0}};
    traits t = value(g, k, depth - 1);
    uint32_t f = below(g, sizeof forms / sizeof forms[0]);
    put(g, forms[f].text);
    return (traits){forms[f].bound > 0 ? forms[f].bound : t.bound, t.tracked};
}

static traits quotient(generator *g, kind k, int depth) {
    put(g, "(");
    traits x = value(g, k, depth - 1);
    put(g, " / (");
    traits y = value(g, k, depth - 1);
    put(g, ".abs() + 1.0))");
    return joined(x, y, x.bound);
}

/* if, block, match as values; both ways are of kind k. */
static traits chosen(generator *g, kind k, int depth) {
    traits x, y;
    if (one_in(g, 3)) {
        put(g, "match ");
        value(g, INTEGER, 1);
        put(g, " { 0 => ");
        x = small_value(g, k, depth - 1);
        put(g, ", 1 | 2 => ");
        y = small_value(g, k, depth - 1);
        put(g, ", _ => ");
        traits z = small_value(g, k, depth - 1);
        put(g, " }");
        return joined(joined(x, y, 0), z, LIMIT);
    }
    put(g, "if ");
    condition(g, depth - 1);
    put(g, " { ");
    x = small_value(g, k, depth - 1);
    put(g, " } else { ");
    y = small_value(g, k, depth - 1);
    put(g, " }");
    return joined(x, y, LIMIT);
}

static traits block_value(generator *g, kind k, int depth) {
    char name[16];
    snprintf(name, sizeof name, "u%d", g->names++);
    masu__buffer_printf(g->out, "{ let %s = ", name);
    traits x = small_value(g, k, depth - 1);
    masu__buffer_printf(g->out, "; %s%s }", name, is_tensor(k) && one_in(g, 2) ? " * 0.5" : "");
    return x;
}

/* Other shapes that lead to k. */
static traits reshaped(generator *g, kind k, int depth) {
    traits t, u;
    switch (k) {
    case WIDE:
        switch (below(g, 5)) {
        case 0:
            t = value(g, SQUARE, depth - 1);
            put(g, ".slice(0, 1, 3)");
            return t;
        case 1:
            t = value(g, ROW, depth - 1);
            put(g, ".unsqueeze(0).expand([2, 3])");
            return t;
        case 2:
            t = value(g, WIDE, depth - 1);
            put(g, ".transpose(0, 1).reshape([2, 3])");
            return t;
        case 3:
            put(g, "Tensor::stack([");
            t = value(g, ROW, depth - 1);
            put(g, ", ");
            u = value(g, ROW, depth - 1);
            put(g, "])");
            return joined(t, u, t.bound > u.bound ? t.bound : u.bound);
        default:
            t = value(g, WIDE, depth - 1);
            put(g, ".matmul(");
            u = value(g, SQUARE, depth - 1);
            put(g, ")");
            return joined(t, u, 3 * t.bound * u.bound);
        }
    case SQUARE:
        if (one_in(g, 2)) {
            t = value(g, WIDE, depth - 1);
            put(g, ".transpose(0, 1).matmul(");
            u = value(g, WIDE, depth - 1);
            put(g, ")");
            return joined(t, u, 2 * t.bound * u.bound);
        }
        t = value(g, SQUARE, depth - 1);
        put(g, ".transpose(0, 1)");
        return t;
    case ROW:
        t = value(g, WIDE, depth - 1);
        put(g, one_in(g, 2) ? ".sum(0)" : ".mean(0)");
        return (traits){2 * t.bound, t.tracked};
    default:
        t = value(g, (kind)below(g, NUMBER), depth - 1);
        put(g, one_in(g, 2) ? ".sum()" : ".mean()");
        return (traits){9 * t.bound, t.tracked};
    }
}

/* Indices are variables of their own, elements those of names. */
static traits comprehension(generator *g, int depth) {
    const variable *a = any_variable(g, WIDE, false, false), *b = any_variable(g, ROW, false, false);
    if (!a || !b || depth < 1)
        return leaf(g, WIDE);
    int i = g->names++, j = g->names++;
    switch (below(g, 3)) {
    case 0:
        masu__buffer_printf(g->out, "[i%d, j%d | i%d <- 0..2, j%d <- 0..3 { %s[i%d, j%d] * %s[j%d] }]", i, j, i, j,
                            a->name, i, j, b->name, j);
        return (traits){(double)LIMIT * LIMIT, true};
    case 1:
        masu__buffer_printf(g->out,
                            "[i%d, j%d | i%d <- 0..2, j%d <- 0..3, k%d <- 0..3, j%d >= k%d { %s[i%d, k%d] + 0.5 }]", i,
                            j, i, j, i, j, i, a->name, i, i);
        return (traits){3.0 * LIMIT + 3, true};
    default:
        masu__buffer_printf(g->out,
                            "[i%d, j%d | i%d <- 0..2, j%d <- 0..3, i%d != j%d { %s[j%d] - %s[i%d, j%d].abs() }]", i, j,
                            i, j, i, j, b->name, j, a->name, i, j);
        return (traits){2.0 * LIMIT, true};
    }
}

static traits tensor_value(generator *g, kind k, int depth) {
    switch (below(g, k == WIDE ? 18 : 13)) {
    case 0:
    case 1:
        return of_two(g, k, one_in(g, 2) ? " + " : one_in(g, 2) ? " - " : " * ", k, depth);
    case 2:
        return k == WIDE || k == SQUARE ? of_two(g, k, one_in(g, 2) ? " + " : " * ", one_in(g, 3) ? NUMBER : ROW, depth)
                                        : of_two(g, k, " - ", k, depth);
    case 3:
        return of_number(g, k, depth);
    case 4:
    case 5:
        return of_one(g, k, depth);
    case 6:
        return quotient(g, k, depth);
    case 7:
        return chosen(g, k, depth);
    case 8:
        return block_value(g, k, depth);
    case 9:
    case 10:
        return reshaped(g, k, depth);
    case 11:
        return leaf(g, k);
    case 12:
        return carried(g, k, depth);
    case 13:
        return comprehension(g, depth);
    default:
        return unpacked(g, depth);
    }
}

/* ---- numbers ------------------------------------------------------------------------------------------- */

static traits integer_value(generator *g, int depth) {
    switch (below(g, 5)) {
    case 0:
        put(g, "(");
        value(g, INTEGER, depth - 1);
        put(g, one_in(g, 2) ? " + " : " * ");
        value(g, INTEGER, depth - 1);
        put(g, ") % 5");
        return (traits){5, false};
    case 1:
        if (any_variable(g, LIST, false, false)) {
            masu__buffer_printf(g->out, "%s.len() as i64", any_variable(g, LIST, false, false)->name);
            return (traits){LIMIT, false};
        }
        return leaf(g, INTEGER);
    case 2:
        leaf(g, one_in(g, 2) ? WIDE : SQUARE);
        masu__buffer_printf(g->out, ".dim(%u)", below(g, 2));
        return (traits){3, false};
    default:
        return leaf(g, INTEGER);
    }
}

static traits real_value(generator *g, int depth) {
    switch (below(g, 5)) {
    case 0:
        value(g, NUMBER, depth - 1);
        put(g, ".item()");
        return (traits){1e6, false};
    case 1:
        leaf(g, WIDE);
        masu__buffer_printf(g->out, "[%u, %u]", below(g, 2), below(g, 3));
        return (traits){LIMIT, false};
    case 2:
        put(g, "(");
        value(g, INTEGER, depth - 1);
        put(g, ") as f32");
        return (traits){LIMIT, false};
    case 3:
        put(g, "(");
        value(g, REAL, depth - 1);
        put(g, " * 0.5 + ");
        value(g, REAL, depth - 1);
        put(g, ")");
        return (traits){1e6, false};
    default:
        return leaf(g, REAL);
    }
}

void condition(generator *g, int depth) {
    switch (depth <= 0 ? 5 : below(g, 8)) {
    case 0:
        put(g, "(");
        condition(g, depth - 1);
        put(g, one_in(g, 2) ? " && " : " || ");
        condition(g, depth - 1);
        put(g, ")");
        return;
    case 1:
        put(g, "!(");
        condition(g, depth - 1);
        put(g, ")");
        return;
    case 2:
    case 3:
        value(g, (kind)below(g, NUMBER), depth - 1);
        put(g, one_in(g, 2) ? ".sum().item() > 0.3717" : ".sum().item() < 2.6143");
        return;
    case 4:
        leaf(g, TRUTH);
        return;
    default:
        put(g, "(");
        value(g, INTEGER, 1);
        put(g, one_in(g, 2) ? ") % 2 == 0" : ") < 2");
    }
}

/* ---- structs, tuples, vectors ------------------------------------------------------------------------------ */

static traits compound(generator *g, kind k, int depth) {
    traits x, y;
    switch (k) {
    case PAIR:
        if (one_in(g, 3)) {
            put(g, "Pair::make(");
            x = small_value(g, WIDE, depth - 1);
            put(g, ", ");
            y = small_value(g, ROW, depth - 1);
            put(g, ")");
            return joined(x, y, LIMIT);
        }
        put(g, "Pair { x: ");
        x = small_value(g, WIDE, depth - 1);
        put(g, ", y: ");
        y = small_value(g, ROW, depth - 1);
        put(g, ", n: ");
        value(g, INTEGER, 1);
        put(g, " }");
        return joined(x, y, LIMIT);
    case NEST:
        put(g, "Nest { p: ");
        x = value(g, PAIR, depth - 1);
        put(g, ", m: ");
        y = small_value(g, SQUARE, depth - 1);
        put(g, ", e: Empty {} }");
        return joined(x, y, LIMIT);
    case TUPLE:
        put(g, "(");
        x = small_value(g, WIDE, depth - 1);
        put(g, ", ");
        y = small_value(g, ROW, depth - 1);
        put(g, ")");
        return joined(x, y, LIMIT);
    case LIST:
        put(g, "vec![");
        x = small_value(g, WIDE, depth - 1);
        put(g, ", ");
        y = small_value(g, WIDE, depth - 1);
        put(g, "]");
        return joined(x, y, LIMIT);
    default:
        if (one_in(g, 3)) {
            put(g, "None");
            return (traits){LIMIT, false};
        }
        put(g, "Some(");
        x = small_value(g, WIDE, depth - 1);
        put(g, ")");
        return x;
    }
}

traits call(generator *g, const routine *r, int depth) {
    masu__buffer_printf(g->out, "%s(", r->name);
    if (r->is_recursive)
        masu__buffer_printf(g->out, "%u%s", below(g, 4), r->parameter_count ? ", " : "");
    for (int p = 0; p < r->parameter_count; p++) {
        if (p > 0)
            put(g, ", ");
        small_value(g, r->parameters[p], depth - 1);
    }
    put(g, ")");
    return (traits){LIMIT, true};
}

static const routine *routine_giving(generator *g, kind k) {
    const routine *found = NULL;
    uint32_t seen = 0;
    for (int r = 0; r < g->routine_count; r++)
        if (g->routines[r].returns && g->routines[r].result == k && one_in(g, ++seen))
            found = &g->routines[r];
    return found;
}

traits value(generator *g, kind k, int depth) {
    const routine *r = depth > 0 && one_in(g, 4) ? routine_giving(g, k) : NULL;
    if (r)
        return call(g, r, depth);
    if (k > TRUTH && k != EMPTY) {
        const variable *v = any_variable(g, k, false, false);
        traits t;
        if (v && (depth <= 0 || !one_in(g, 3)))
            return named(g, v);
        if (one_in(g, 2) && field(g, k, &t))
            return t;
        if (depth > 1 && one_in(g, 4))
            return carried(g, k, depth);
        return k > MAYBE ? rich_value(g, k, depth > 0 ? depth : 1) : compound(g, k, depth > 0 ? depth : 1);
    }
    if (depth <= 0 || one_in(g, 4) || k == EMPTY)
        return leaf(g, k);
    if (is_tensor(k))
        return tensor_value(g, k, depth);
    if (k == INTEGER)
        return integer_value(g, depth);
    if (k == REAL)
        return real_value(g, depth);
    put(g, "(");
    condition(g, depth - 1);
    put(g, ")");
    return (traits){1, false};
}

traits small_value(generator *g, kind k, int depth) {
    if (!is_tensor(k))
        return value(g, k, depth);
    size_t from = g->out->length;
    put(g, "(");
    traits t = value(g, k, depth);
    if (t.bound > LIMIT) {
        put(g, ").clamp(-4.0, 4.0)");
        t.bound = 4;
        return t;
    }
    /* no parentheses, then */
    memmove(g->out->data + from, g->out->data + from + 1, g->out->length - from - 1);
    masu__buffer_truncate(g->out, g->out->length - 1);
    return t;
}

void plain_value(generator *g, kind k, int depth) {
    size_t from = g->out->length;
    put(g, "(");
    traits t = value(g, k, depth);
    put(g, t.tracked ? ").detach(false)" : ")");
    if (t.bound > LIMIT)
        put(g, ".clamp(-4.0, 4.0)");
    (void)from;
}
