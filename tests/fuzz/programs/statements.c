/* statements.c: see generator.h. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "generator.h"

/* ---- lines ------------------------------------------------------------------------------------------ */

void begin_line(generator *g) {
    masu__buffer_fill(g->out, ' ', (size_t)(4 * g->indent));
}

void end_line(generator *g, const char *text) {
    masu__buffer_puts(g->out, text);
    masu__buffer_putc(g->out, '\n');
}

void line(generator *g, const char *format, ...) {
    va_list arguments;
    begin_line(g);
    va_start(arguments, format);
    masu__buffer_vprintf(g->out, format, arguments);
    va_end(arguments);
    end_line(g, "");
}

/* ---- scopes ------------------------------------------------------------------------------------------- */

void open_scope(generator *g) {
    g->depth++;
    g->indent++;
}

void close_scope(generator *g) {
    while (g->variable_count > 0 && g->variables[g->variable_count - 1].depth == g->depth) {
        const variable *gone = &g->variables[--g->variable_count];
        for (int i = g->variable_count - 1; i >= 0; i--) {
            if (strcmp(g->variables[i].name, gone->name) == 0) {
                g->variables[i].hidden = false;
                break;
            }
        }
    }
    g->depth--;
    g->indent--;
    g->closed = false;
}

/* A new name, or once in a while an old one, which is hidden as long as this one lives. */
variable *declare(generator *g, kind k, bool is_mutable, bool tracked) {
    if (g->variable_count == MOST_VARIABLES)
        g->variable_count--;
    variable v = {.kind = k, .is_mutable = is_mutable, .tracked = tracked, .depth = g->depth, .loop = g->loops};
    snprintf(v.name, sizeof v.name, "v%d", g->names++);
    if (g->variable_count > 0 && one_in(g, 6)) {
        variable *old = &g->variables[below(g, (uint32_t)g->variable_count)];
        if (!old->hidden && !old->is_leaf && old->name[0] == 'v') {
            strcpy(v.name, old->name);
            old->hidden = true;
        }
    }
    g->variables[g->variable_count++] = v;
    return &g->variables[g->variable_count - 1];
}

/* ---- simple statements ---------------------------------------------------------------------------------- */

static kind any_kind(generator *g) {
    static const kind often[] = {WIDE,  WIDE,    WIDE,       SQUARE, ROW,   ROW,   NUMBER, INTEGER, REAL,  PAIR,
                                 PAIR,  NEST,    EMPTY,      TUPLE,  LIST,  MAYBE, TRUTH,  CHOICE,  CRATE, CHEST,
                                 PAIRS, CHOICES, MAYBE_PAIR, TREE,   FIXED, DEEP,  ROWS,   RESULT,  MODEL};
    return often[below(g, sizeof often / sizeof often[0])];
}

/* The value is written before the name is known: it may use the name that will be hidden. */
static void let(generator *g) {
    kind k = any_kind(g);
    masu__buffer text = {0}, *out = g->out;
    g->out = &text;
    traits t = small_value(g, k, 3);
    g->out = out;
    bool is_mutable = one_in(g, 2);
    const variable *v = declare(g, k, is_mutable, t.tracked);
    line(g, "let %s%s%s%s = %s;", is_mutable ? "mut " : "", v->name, k >= MAYBE ? ": " : "",
         k >= MAYBE ? kind_type(k) : "", masu__buffer_text(&text));
    masu__buffer_destroy(&text);
}

/* A second name for the same value; sometimes the first is written right behind. */
static void alias(generator *g) {
    const variable *old = any_variable(g, any_kind(g), false, false);
    if (!old || old->kind == EMPTY)
        return;
    char name[sizeof old->name];
    strcpy(name, old->name);
    bool written = old->kind == WIDE && old->is_mutable && !old->is_leaf && !old->tracked;
    bool is_mutable = one_in(g, 2);
    const variable *v = declare(g, old->kind, is_mutable, old->tracked);
    line(g, "let %s%s = %s;", is_mutable ? "mut " : "", v->name, name);
    if (written && one_in(g, 2) && strcmp(v->name, name) != 0)
        line(g, "%s[1, 2] = 2.5;", name);
}

/* Names of most kinds, so that what follows has something to work on. */
void prologue(generator *g, bool all) {
    static const kind first[] = {WIDE, WIDE,  ROW,    PAIR,  SQUARE, LIST,  INTEGER, MAYBE,
                                 NEST, TUPLE, CHOICE, CHEST, PAIRS,  MODEL, DEEP};
    int count = all ? (int)(sizeof first / sizeof first[0]) : 3;
    for (int i = 0; i < count; i++) {
        if (!all && one_in(g, 2))
            continue;
        masu__buffer text = {0}, *out = g->out;
        g->out = &text;
        traits t = small_value(g, first[i], 1);
        g->out = out;
        const variable *v = declare(g, first[i], true, t.tracked || first[i] > NUMBER);
        line(g, "let mut %s%s%s = %s;", v->name, first[i] >= MAYBE ? ": " : "",
             first[i] >= MAYBE ? kind_type(first[i]) : "", masu__buffer_text(&text));
        masu__buffer_destroy(&text);
    }
}

static void destructure(generator *g) {
    masu__buffer text = {0}, *out = g->out;
    g->out = &text;
    traits t = value(g, TUPLE, 2);
    g->out = out;
    int a = g->names++, b = g->names++;
    line(g, "let (v%d, v%d) = %s;", a, b, masu__buffer_text(&text));
    masu__buffer_destroy(&text);
    for (int i = 0; i < 2 && g->variable_count < MOST_VARIABLES; i++) {
        variable v = {.kind = i ? ROW : WIDE, .tracked = t.tracked, .depth = g->depth, .loop = g->loops};
        snprintf(v.name, sizeof v.name, "v%d", i ? b : a);
        g->variables[g->variable_count++] = v;
    }
}

/* A value that may be tracked makes the name so from here on, and inside loops from their start: then it must have been
 * so. */
static void assign(generator *g) {
    kind k = any_kind(g);
    variable *v = (variable *)any_variable(g, k, true, false);
    if (!v || k == EMPTY)
        return;
    begin_line(g);
    masu__buffer_printf(g->out, "%s = ", v->name);
    if (is_tensor(k) && !v->tracked)
        plain_value(g, k, 3);
    else
        small_value(g, k, 3);
    end_line(g, ";");
}

static void assign_field(generator *g) {
    const variable *v = any_variable(g, one_in(g, 2) ? PAIR : NEST, true, false);
    if (!v)
        return;
    begin_line(g);
    bool nested = v->kind == NEST;
    switch (below(g, 4)) {
    case 0:
        masu__buffer_printf(g->out, "%s%s.x = ", v->name, nested ? ".p" : "");
        small_value(g, WIDE, 3);
        break;
    case 1:
        masu__buffer_printf(g->out, "%s%s.y = ", v->name, nested ? ".p" : "");
        small_value(g, ROW, 3);
        break;
    case 2:
        masu__buffer_printf(g->out, "%s%s.n += ", v->name, nested ? ".p" : "");
        value(g, INTEGER, 2);
        break;
    default:
        masu__buffer_printf(g->out, "%s%s.bump(", v->name, nested ? ".p" : "");
        small_value(g, WIDE, 2);
        masu__buffer_puts(g->out, ")");
    }
    end_line(g, ";");
}

static void change_in_place(generator *g) {
    const variable *v = any_variable(g, WIDE, true, !one_in(g, 60));
    if (!v)
        return;
    begin_line(g);
    switch (below(g, 5)) {
    case 0:
        masu__buffer_printf(g->out, "%s[%u, %u] = ", v->name, below(g, 2), below(g, 3));
        masu__buffer_puts(g->out, one_in(g, 2) ? "0.5" : "-1.25");
        break;
    case 1:
        masu__buffer_printf(g->out, "%s.fill_(0.75)", v->name);
        break;
    case 2:
        masu__buffer_printf(g->out, "%s.add_assign(", v->name);
        plain_value(g, one_in(g, 2) ? WIDE : ROW, 2);
        masu__buffer_printf(g->out, ");\n");
        begin_line(g);
        masu__buffer_printf(g->out, "%s = %s.clamp(-4.0, 4.0)", v->name, v->name);
        break;
    case 3:
        masu__buffer_printf(g->out, "%s *= 0.5", v->name);
        break;
    default:
        masu__buffer_printf(g->out, "%s -= ", v->name);
        plain_value(g, WIDE, 1);
        masu__buffer_printf(g->out, ";\n");
        begin_line(g);
        masu__buffer_printf(g->out, "%s = %s.clamp(-4.0, 4.0)", v->name, v->name);
    }
    end_line(g, ";");
}

static void change_list(generator *g) {
    const variable *v = any_variable(g, LIST, true, false);
    if (!v)
        return;
    begin_line(g);
    switch (below(g, 4)) {
    case 0:
        masu__buffer_printf(g->out, "%s.push(", v->name);
        small_value(g, WIDE, 2);
        end_line(g, ");");
        return;
    case 1:
        masu__buffer_printf(g->out, "%s.set(%u, ", v->name, below(g, 2));
        small_value(g, WIDE, 2);
        end_line(g, ");");
        return;
    case 2:
        masu__buffer_printf(g->out, "%s[%u] = ", v->name, one_in(g, 40) ? 9 : below(g, 2));
        small_value(g, WIDE, 2);
        end_line(g, ";");
        return;
    default:
        masu__buffer_printf(g->out, "%s.push(%s[0]);\n", v->name, v->name);
        begin_line(g);
        masu__buffer_printf(g->out, "%s.pop()", v->name);
        end_line(g, ";");
    }
}

void show(generator *g, const variable *v) {
    static const char *const how[KINDS] = {[WIDE] = ".sum().item()",
                                           [SQUARE] = ".sum().item()",
                                           [ROW] = ".sum().item()",
                                           [NUMBER] = ".item()",
                                           [INTEGER] = "",
                                           [REAL] = "",
                                           [TRUTH] = "",
                                           [PAIR] = ".x.sum().item()",
                                           [NEST] = ".m.sum().item()",
                                           [TUPLE] = ".1.sum().item()",
                                           [LIST] = "[0].sum().item()",
                                           [MAYBE] = ".is_some()",
                                           [CHOICE] = ".weight().sum().item()",
                                           [CRATE] = ".item.sum().item()",
                                           [CHEST] = ".item.x.sum().item()",
                                           [PAIRS] = "[1].x.sum().item()",
                                           [CHOICES] = "[0].weight().sum().item()",
                                           [MAYBE_PAIR] = ".is_none()",
                                           [TREE] = ".total().sum().item()",
                                           [FIXED] = "[1].sum().item()",
                                           [DEEP] = ".1.0.sum().item()",
                                           [ROWS] = "[1][0].sum().item()",
                                           [RESULT] = ".is_err()",
                                           [MODEL] = ".w.sum().item()"};
    if (v->kind != EMPTY)
        line(g, "println(\"{}\", %s%s);", v->name, how[v->kind]);
}

static void print(generator *g) {
    begin_line(g);
    masu__buffer_puts(g->out, "println(\"{} {}\", ");
    value(g, REAL, 3);
    masu__buffer_puts(g->out, ", ");
    value(g, one_in(g, 2) ? INTEGER : REAL, 2);
    end_line(g, ");");
}

static void discard(generator *g) {
    begin_line(g);
    if (g->routine_count > 0 && !one_in(g, 3))
        call(g, &g->routines[below(g, (uint32_t)g->routine_count)], 2);
    else
        value(g, one_in(g, 2) ? WIDE : PAIR, 2);
    end_line(g, ";");
}

static void swap(generator *g) {
    const variable *a = any_variable(g, WIDE, true, false), *b = any_variable(g, WIDE, true, false);
    if (!a || !b || a->tracked != b->tracked)
        return;
    int t = g->names++;
    line(g, "let t%d = %s;", t, a->name);
    line(g, "%s = %s;", a->name, b->name);
    line(g, "%s = t%d;", b->name, t);
}

static void closure(generator *g) {
    const variable *a = any_variable(g, WIDE, false, false);
    if (!a || g->variable_count >= MOST_VARIABLES)
        return;
    int f = g->names++, v = g->names++;
    line(g, "let f%d = |q: Tensor| -> Tensor { (q * 0.5 + %s).clamp(-4.0, 4.0) };", f, a->name);
    begin_line(g);
    masu__buffer_printf(g->out, "let v%d = f%d(", v, f);
    small_value(g, WIDE, 2);
    end_line(g, ");");
    variable made = {.kind = WIDE, .tracked = true, .depth = g->depth, .loop = g->loops};
    snprintf(made.name, sizeof made.name, "v%d", v);
    g->variables[g->variable_count++] = made;
}

/* ---- gradients ---------------------------------------------------------------------------------------------- */

static void make_leaf(generator *g) {
    variable *v = declare(g, one_in(g, 3) ? ROW : WIDE, true, true);
    snprintf(v->name, sizeof v->name, "w%d", g->names++);
    v->is_leaf = true;
    line(g, "let mut %s = GradTensor::full([%s3], %s);", v->name, v->kind == WIDE ? "2, " : "",
         one_in(g, 2) ? "0.5" : "-1.25");
}

static const variable *any_leaf(generator *g) {
    const variable *found = NULL;
    uint32_t seen = 0;
    for (int i = 0; i < g->variable_count; i++)
        if (g->variables[i].is_leaf && !g->variables[i].hidden && one_in(g, ++seen))
            found = &g->variables[i];
    return found;
}

static void use_gradient(generator *g, const variable *w) {
    switch (below(g, 4)) {
    case 0:
        line(g, "println(\"{}\", %s.grad().sum().item());", w->name);
        return;
    case 1:
        line(g, "%s = (%s - %s.grad() * 0.125).clamp(-4.0, 4.0);", w->name, w->name, w->name);
        line(g, "%s = %s.detach(false);", w->name, w->name);
        line(g, "%s.enable_grad();", w->name);
        return;
    case 2:
        line(g, "%s = (%s - %s.grad() * 0.125).clamp(-4.0, 4.0).detach(true);", w->name, w->name, w->name);
        return;
    default:
        return;
    }
}

/* loss, backward in one of its forms, or none; then what the gradient is good for. */
static void train(generator *g) {
    const variable *w = any_leaf(g);
    if (!w) {
        make_leaf(g);
        return;
    }
    int l = g->names++;
    begin_line(g);
    masu__buffer_printf(g->out, "let l%d = (%s * ", l, w->name);
    small_value(g, w->kind, 3);
    masu__buffer_puts(g->out, ").sum()");
    if (one_in(g, 2)) {
        masu__buffer_puts(g->out, " + ");
        small_value(g, NUMBER, 2);
    }
    end_line(g, ";");
    switch (below(g, 8)) {
    case 0:
        line(g, "l%d.backward(true);", l);
        if (one_in(g, 2))
            line(g, "l%d.backward();", l);
        break;
    case 1:
        break;
    case 2:
        if (one_in(g, 8))
            line(g, "l%d.backward();", l);
        line(g, "l%d.backward();", l);
        line(g, "println(\"{}\", l%d.item());", l);
        break;
    case 3:
        begin_line(g);
        masu__buffer_puts(g->out, "if ");
        condition(g, 2);
        end_line(g, " {");
        g->indent++;
        line(g, "l%d.backward();", l);
        g->indent--;
        line(g, "}");
        break;
    default:
        line(g, "l%d.backward();", l);
    }
    use_gradient(g, w);
}

/* ---- branches and loops --------------------------------------------------------------------------------------- */

static void inner(generator *g, int statements) {
    open_scope(g);
    body(g, statements);
    close_scope(g);
}

static void branch(generator *g) {
    begin_line(g);
    masu__buffer_puts(g->out, "if ");
    condition(g, 2);
    end_line(g, " {");
    inner(g, 1 + (int)below(g, 3));
    if (one_in(g, 2)) {
        line(g, "} else {");
        inner(g, 1 + (int)below(g, 3));
    }
    line(g, "}");
}

static void look_inside(generator *g) {
    const variable *o = any_variable(g, MAYBE, false, false);
    if (!o)
        return;
    int n = g->names++;
    line(g, "if let Some(v%d) = %s {", n, o->name);
    open_scope(g);
    variable v = {.kind = WIDE, .tracked = true, .depth = g->depth, .loop = g->loops};
    snprintf(v.name, sizeof v.name, "v%d", n);
    g->variables[g->variable_count++] = v;
    body(g, 1 + (int)below(g, 2));
    close_scope(g);
    line(g, "}");
}

static void loop(generator *g) {
    if (g->loops >= 3 || g->variable_count >= MOST_VARIABLES - 2)
        return;
    int n = g->names++;
    uint32_t form = below(g, 4), turns = 1 + below(g, g->loops ? 2 : 4);
    const variable *list = any_variable(g, LIST, false, false);
    variable v = {.kind = INTEGER, .depth = g->depth + 1, .loop = g->loops + 1};
    snprintf(v.name, sizeof v.name, "v%d", n);
    if (form == 0 || (form == 3 && !list))
        line(g, "for v%d in 0..%u {", n, turns);
    if (form == 1 || form == 2) {
        line(g, "let mut k%d = 0;", n);
        if (form == 1)
            line(g, "while k%d < %u {", n, turns);
        else
            line(g, "loop {");
        snprintf(v.name, sizeof v.name, "k%d", n);
    }
    if (form == 3 && list) {
        line(g, "for v%d in %s.clone() {", n, list->name);
        v.kind = WIDE;
        v.tracked = true;
    }
    open_scope(g);
    g->loops++;
    g->variables[g->variable_count++] = v;
    if (form == 1 || form == 2)
        line(g, "k%d += 1;", n);
    if (form == 2)
        line(g, "if k%d > %u { break; }", n, turns);
    body(g, 2 + (int)below(g, 4));
    g->loops--;
    close_scope(g);
    line(g, "}");
}

static void leave_loop(generator *g) {
    if (g->loops == 0)
        return;
    begin_line(g);
    masu__buffer_puts(g->out, "if ");
    condition(g, 2);
    if (g->label && one_in(g, 2)) {
        masu__buffer_printf(g->out, " { %s 'l%d; }", one_in(g, 2) ? "break" : "continue", g->label);
        end_line(g, "");
        return;
    }
    end_line(g, one_in(g, 2) ? " { break; }" : " { continue; }");
}

static void leave_function(generator *g) {
    if (!g->inside)
        return;
    begin_line(g);
    masu__buffer_puts(g->out, "if ");
    condition(g, 2);
    masu__buffer_puts(g->out, " { return ");
    if (g->inside->returns)
        small_value(g, g->inside->result, 2);
    end_line(g, "; }");
}

static void fail(generator *g) {
    if (!one_in(g, 6))
        return;
    begin_line(g);
    masu__buffer_puts(g->out, "if ");
    condition(g, 2);
    end_line(g, one_in(g, 2) ? " { panic(\"enough\"); }" : " { assert(1 > 2); }");
}

/* ---- bodies ---------------------------------------------------------------------------------------------------- */

typedef struct statement {
    void (*write)(generator *g);
    uint32_t weight;
} statement;

static const statement statements[] = {
    {let, 22},          {assign, 14},         {assign_field, 6},     {change_in_place, 5},
    {change_list, 4},   {print, 6},           {discard, 4},          {swap, 2},
    {closure, 2},       {train, 11},          {branch, 8},           {look_inside, 2},
    {loop, 8},          {leave_loop, 3},      {leave_function, 4},   {destructure, 2},
    {fail, 1},          {alias, 5},           {change_inside, 12},   {change_by_method, 8},
    {change_pairs, 3},  {match_choice, 5},    {taken_apart, 4},      {labelled_loops, 3},
    {drained, 4},       {writing_closure, 2}, {train_model, 4},      {part_written, 6},
    {printed_whole, 4}, {widened, 3},         {lent_for_writing, 6}, {function_as_value, 4},
    {grown, 4},         {several_results, 4}, {recursion_called, 3}};

void body(generator *g, int count) {
    uint32_t total = 0;
    for (size_t s = 0; s < sizeof statements / sizeof statements[0]; s++)
        total += statements[s].weight;
    for (int i = 0; i < count && g->budget > 0; i++) {
        uint32_t drawn = below(g, total);
        size_t s = 0;
        while (drawn >= statements[s].weight)
            drawn -= statements[s++].weight;
        g->budget--;
        statements[s].write(g);
    }
}
