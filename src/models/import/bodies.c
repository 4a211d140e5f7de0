/* bodies.c: If, Loop and Scan, whose graphs become blocks of the program.
 *
 *     let y: T = if c.item() {              let mut y: T = y_0;                  carried: the operator's output
 *         …                                 let mut rounds_3_z: Vec<T> = vec![];   what is collected, of graph 3
 *         a                                 while go_3 && round_3 < n.item() {
 *     } else {                                  let y_in: T = y;                   the body's inputs, then its lines
 *         …                                     …
 *         b                                     y = y_out; rounds_3_z.push(z_1); …
 *     };                                    }
 *
 * All names of a network are different, so that a body sees those around it and hides none. What must stay true: a
 * body's input is bound before any output of the round is written.
 */
#include <stdio.h>
#include <string.h>

#include "models/import/import.h"

bool import_has_bodies(const masu__model_operator *op) {
    return op->body_count > 0;
}

static bool is(const masu__model_operator *op, const char *type) {
    return op->type.length == strlen(type) && memcmp(op->type.at, type, op->type.length) == 0;
}

/* NONE: left out. */
static int32_t input(const masu__model_operator *op, size_t i) {
    return i < op->input_count ? op->inputs[i] : MASU__MODEL_NONE;
}

/* How many values go from round to round. */
static size_t carried(const masu__model_operator *op) {
    onnx_node v = {NULL, op->node, (masu__model_operator *)op, false};
    if (is(op, "Scan"))
        return op->input_count - (size_t)onnx_int(&v, "num_scan_inputs", 0);
    return op->input_count > 2 ? op->input_count - 2 : 0;
}

/* ---- whether it is taken ------------------------------------------------------------------------- */

static bool tensors_fit(import_node *n, const int32_t *tensors, size_t count) {
    for (size_t i = 0; i < count; i++) {
        const masu__model_tensor *t = tensors[i] >= 0 ? &n->im->model->tensors[tensors[i]] : NULL;
        if (t && !import_elements(t))
            return import_refuse(n,
                                 t->type[0] == '?' ? "the type of `%.60s` is not known, or it is not a tensor"
                                                   : "elements of `%.60s` are %s, which the language does not keep",
                                 t->name.at, t->type);
    }
    return true;
}

static bool graph_fits(import_node *n, size_t graph) {
    const masu__model_graph *g = &n->im->model->graphs[graph];
    return tensors_fit(n, g->inputs, g->input_count) && tensors_fit(n, g->outputs, g->output_count);
}

/* Each attribute is a graph or in names[]. */
static bool attributes_fit(import_node *n, const char *const *names) {
    for (size_t i = 0; i < n->v.node->n_attribute; i++) {
        const Masu__Onnx__Attribute *a = n->v.node->attribute[i];
        bool is_known = a->g.len > 0;
        for (size_t k = 0; names[k] && !is_known; k++)
            is_known = strcmp(names[k], a->name) == 0;
        if (!is_known)
            return import_refuse(n, "attribute `%.40s` is not supported", a->name);
    }
    return true;
}

static bool branches_fit(import_node *n) {
    static const char *const names[] = {NULL};
    const masu__model_operator *op = n->v.op;
    const masu__model_graph *graphs = n->im->model->graphs;
    if (op->body_count != 2 || op->input_count != 1 || !onnx_in(&n->v, 0) || import_kind(onnx_in(&n->v, 0)) != 'b')
        return import_refuse(n, "a condition and two graphs are wanted");
    for (size_t k = 0; k < 2; k++)
        if (graphs[op->bodies[k]].output_count != op->output_count || graphs[op->bodies[k]].input_count != 0)
            return import_refuse(n, "a branch does not yield what the operator does");
    return attributes_fit(n, names);
}

static bool rounds_fit(import_node *n) {
    static const char *const names[] = {"num_scan_inputs", NULL};
    const masu__model_operator *op = n->v.op;
    const masu__model_graph *g = &n->im->model->graphs[op->bodies[0]];
    bool is_loop = is(op, "Loop");
    int64_t scanned = is_loop ? 0 : onnx_int(&n->v, "num_scan_inputs", 0);
    if (op->body_count != 1 || scanned < 0 || (size_t)scanned > op->input_count || (!is_loop && scanned == 0))
        return import_refuse(n, "one graph, and at least one input to go through, are wanted");
    size_t values = carried(op), given = is_loop ? values + 2 : op->input_count;
    if (g->input_count != given || g->output_count < values + is_loop || op->output_count > g->output_count - is_loop)
        return import_refuse(n, "its graph takes %zu values and yields %zu, which does not fit", g->input_count,
                             g->output_count);
    if (is_loop && !onnx_in(&n->v, 0) && !onnx_in(&n->v, 1))
        return import_refuse(n, "a loop without an end: neither a number of rounds nor a condition");
    for (size_t i = is_loop ? 2 : 0; i < op->input_count; i++)
        if (!onnx_in(&n->v, i))
            return import_refuse(n, "input %zu is missing", i);
    if (!is_loop && n->im->model->opset < 9)
        return import_refuse(n, "it is not supported in this opset");
    return attributes_fit(n, names);
}

bool import_bodies(import_node *n) {
    const masu__model_operator *op = n->v.op;
    bool is_if = is(op, "If");
    if (op->is_custom || (!is_if && !is(op, "Loop") && !is(op, "Scan")))
        return import_refuse(n, "it is not supported");
    if (!(is_if ? branches_fit(n) : rounds_fit(n)) || !tensors_fit(n, op->inputs, op->input_count) ||
        !tensors_fit(n, op->outputs, op->output_count))
        return false;
    for (size_t k = 0; k < op->body_count; k++)
        if (!graph_fits(n, op->bodies[k]))
            return false;
    n->uses = ~UINT64_C(0);
    return true;
}

/* ---- text ---------------------------------------------------------------------------------------- */

static void indent(size_t depth, masu__buffer *to) {
    masu__buffer_fill(to, ' ', 4 * depth);
}

/* let y: Tensor<f32, 1> = */
static void put_let(const importer *im, size_t depth, const char *let, int32_t tensor, const char *name,
                    masu__buffer *to) {
    indent(depth, to);
    masu__buffer_printf(to, "%s%s: ", let, name ? name : im->names[tensor]);
    import_put_type(&im->model->tensors[tensor], to);
    masu__buffer_puts(to, " = ");
}

static void put_results(const importer *im, size_t graph, size_t depth, masu__buffer *to) {
    const masu__model_graph *g = &im->model->graphs[graph];
    indent(depth, to);
    masu__buffer_puts(to, g->output_count > 1 ? "(" : "");
    for (size_t i = 0; i < g->output_count; i++) {
        masu__buffer_puts(to, i ? ", " : "");
        import_put_value(im, g->outputs[i], to);
    }
    masu__buffer_puts(to, g->output_count > 1 ? ")\n" : "\n");
}

static void put_if(const importer *im, const import_line *line, size_t depth, masu__buffer *to) {
    const masu__model_operator *op = line->op;
    const char *open = op->output_count > 1 ? "(" : "", *close = op->output_count > 1 ? ")" : "";
    indent(depth, to);
    masu__buffer_printf(to, "let %s", open);
    for (size_t i = 0; i < op->output_count; i++)
        masu__buffer_printf(to, "%s%s", i ? ", " : "", op->outputs[i] >= 0 ? im->names[op->outputs[i]] : "_");
    masu__buffer_printf(to, "%s: %s", close, open);
    for (size_t i = 0; i < op->output_count; i++) {
        masu__buffer_puts(to, i ? ", " : "");
        import_put_type(
            &im->model->tensors[op->outputs[i] >= 0 ? op->outputs[i] : im->model->graphs[op->bodies[0]].outputs[i]],
            to);
    }
    masu__buffer_printf(to, "%s = if ", close);
    import_put_value(im, op->inputs[0], to);
    masu__buffer_puts(to, IMPORT_ITEM " {");
    import_put_comment(im, line, to);
    for (size_t k = 0; k < 2; k++) {
        import_put_lines(im, op->bodies[k], depth + 1, to);
        put_results(im, op->bodies[k], depth + 1, to);
        indent(depth, to);
        masu__buffer_puts(to, k ? "};\n" : "} else {\n");
    }
}

/* A loop while it is written. */
typedef struct rounds {
    const importer *im;
    const masu__model_operator *op;
    const masu__model_graph *body;
    size_t graph, depth, values, shift; /* shift: what the body yields before its values */
    bool is_loop;
    masu__buffer *to;
} rounds;

/* The name of output i of the operator: by the operator's own name for it, or by the body's where it has none. */
static int32_t output(const rounds *r, size_t i) {
    return i < r->op->output_count && r->op->outputs[i] >= 0 ? r->op->outputs[i] : r->body->outputs[i + r->shift];
}

static void put_state(const rounds *r, size_t i) {
    bool is_own = i < r->op->output_count && r->op->outputs[i] >= 0;
    masu__buffer_printf(r->to, is_own ? "%s" : "rounds_%s", r->im->names[output(r, i)]);
}

static bool is_collected(const rounds *r, size_t i) {
    return i < r->op->output_count && r->op->outputs[i] >= 0 && r->im->is_needed[r->op->outputs[i]];
}

static void put_start(const rounds *r) {
    masu__buffer *to = r->to;
    for (size_t i = 0; i < r->values; i++) {
        indent(r->depth, to);
        masu__buffer_puts(to, "let mut ");
        put_state(r, i);
        masu__buffer_puts(to, ": ");
        import_put_type(&r->im->model->tensors[output(r, i)], to);
        masu__buffer_puts(to, " = ");
        import_put_value(r->im, input(r->op, i + (r->is_loop ? 2 : 0)), to);
        masu__buffer_puts(to, ";\n");
    }
    for (size_t i = r->values; i + r->shift < r->body->output_count; i++)
        if (is_collected(r, i)) {
            indent(r->depth, to);
            masu__buffer_printf(to, "let mut rounds_%zu_%zu" IMPORT_ROUNDS, r->graph, i,
                                import_elements(&r->im->model->tensors[r->body->outputs[i + r->shift]]));
        }
    indent(r->depth, to);
    masu__buffer_printf(to, "let mut round_%zu: i64 = 0;\n", r->graph);
    if (r->is_loop && input(r->op, 1) >= 0) {
        indent(r->depth, to);
        masu__buffer_printf(to, "let mut go_%zu: bool = ", r->graph);
        import_put_value(r->im, input(r->op, 1), to);
        masu__buffer_puts(to, IMPORT_ITEM ";\n");
    }
}

static void put_condition(const rounds *r, const import_line *line) {
    masu__buffer *to = r->to;
    indent(r->depth, to);
    masu__buffer_puts(to, "while ");
    if (r->is_loop && input(r->op, 1) >= 0)
        masu__buffer_printf(to, "go_%zu%s", r->graph, input(r->op, 0) >= 0 ? " && " : "");
    if (!r->is_loop || input(r->op, 0) >= 0) {
        masu__buffer_printf(to, "round_%zu < ", r->graph);
        import_put_value(r->im, input(r->op, r->is_loop ? 0 : r->values), to);
        masu__buffer_puts(to, r->is_loop ? IMPORT_ITEM : IMPORT_LENGTH);
    }
    masu__buffer_puts(to, " {");
    import_put_comment(r->im, line, to);
}

/* The body's inputs that something reads. */
static void put_given(const rounds *r) {
    masu__buffer *to = r->to;
    char round[32];
    snprintf(round, sizeof round, "round_%zu", r->graph);
    for (size_t i = 0; i < r->body->input_count; i++) {
        int32_t tensor = r->body->inputs[i];
        if (!r->im->is_needed[tensor])
            continue;
        put_let(r->im, r->depth + 1, "let ", tensor, NULL, to);
        if (r->is_loop && i == 0)
            masu__buffer_printf(to, IMPORT_NUMBER, round);
        else if (r->is_loop && i == 1)
            masu__buffer_puts(to, IMPORT_YES);
        else if (!r->is_loop && i >= r->values) {
            import_put_value(r->im, input(r->op, i), to);
            masu__buffer_printf(to, IMPORT_SELECT, round);
        } else
            put_state(r, i - (r->is_loop ? 2 : 0));
        masu__buffer_puts(to, ";\n");
    }
}

static void put_yields(const rounds *r) {
    masu__buffer *to = r->to;
    for (size_t i = 0; i + r->shift < r->body->output_count; i++) {
        if (i >= r->values && !is_collected(r, i))
            continue;
        indent(r->depth + 1, to);
        if (i < r->values) {
            put_state(r, i);
            masu__buffer_puts(to, " = ");
        } else {
            masu__buffer_printf(to, "rounds_%zu_%zu.push(", r->graph, i);
        }
        import_put_value(r->im, r->body->outputs[i + r->shift], to);
        masu__buffer_puts(to, i < r->values ? ";\n" : ");\n");
    }
    if (r->is_loop && input(r->op, 1) >= 0) {
        indent(r->depth + 1, to);
        masu__buffer_printf(to, "go_%zu = ", r->graph);
        import_put_value(r->im, r->body->outputs[0], to);
        masu__buffer_puts(to, IMPORT_ITEM ";\n");
    }
    indent(r->depth + 1, to);
    masu__buffer_printf(to, "round_%zu += 1;\n", r->graph);
    indent(r->depth, to);
    masu__buffer_puts(to, "}\n");
}

/* Without a round there is nothing of the shape that a round yields, where that is known. */
static void put_stacks(const rounds *r) {
    for (size_t i = r->values; i + r->shift < r->body->output_count; i++) {
        const masu__model_tensor *each = &r->im->model->tensors[r->body->outputs[i + r->shift]];
        char name[64];
        bool is_open = !each->has_shape;
        if (!is_collected(r, i))
            continue;
        for (size_t k = 0; !is_open && k < each->rank; k++)
            is_open = each->dims[k] < 0;
        snprintf(name, sizeof name, "rounds_%zu_%zu", r->graph, i);
        put_let(r->im, r->depth, "let ", r->op->outputs[i], NULL, r->to);
        if (is_open) {
            masu__buffer_printf(r->to, IMPORT_STACKED ";\n", name);
            continue;
        }
        masu__buffer_printf(r->to, "onnx_stacked(%s, [0", name);
        for (size_t k = 0; k < each->rank; k++)
            masu__buffer_printf(r->to, ", %lld", (long long)each->dims[k]);
        masu__buffer_puts(r->to, "]);\n");
    }
}

void import_put_bodies(const importer *im, const import_line *line, size_t depth, masu__buffer *to) {
    const masu__model_operator *op = line->op;
    bool is_loop = is(op, "Loop");
    if (is(op, "If")) {
        put_if(im, line, depth, to);
        return;
    }
    rounds r = {im, op, &im->model->graphs[op->bodies[0]], op->bodies[0], depth, carried(op), is_loop, is_loop, to};
    put_start(&r);
    put_condition(&r, line);
    put_given(&r);
    import_put_lines(im, r.graph, depth + 1, to);
    put_yields(&r);
    put_stacks(&r);
}
