/* program.c: the text of the program: what it is of, the weights as a struct, forward, main, and the functions that its
 * operators call. */
#include <ctype.h>
#include <string.h>

#include "models/import/import.h"

/* ---- types and shapes ---------------------------------------------------------------------------- */

void import_put_type(const masu__model_tensor *t, masu__buffer *to) {
    if (t->has_shape)
        masu__buffer_printf(to, "Tensor<%s, %zu>", import_elements(t), t->rank);
    else
        masu__buffer_printf(to, "Tensor<%s>", import_elements(t));
}

static void put_name(const masu__model_text *name, masu__buffer *to) {
    for (size_t i = 0; i < name->length && i < 80; i++)
        masu__buffer_putc(to, iscntrl((unsigned char)name->at[i]) ? ' ' : name->at[i]);
}

/* "[1, batch, 8] int8": the element type where the language keeps another. */
static void put_shape(const masu__model_tensor *t, masu__buffer *to) {
    if (t->has_shape) {
        masu__buffer_putc(to, '[');
        for (size_t i = 0; i < t->rank; i++) {
            masu__buffer_puts(to, i ? ", " : "");
            if (t->dims[i] >= 0)
                masu__buffer_printf(to, "%lld", (long long)t->dims[i]);
            else if (t->dim_names && t->dim_names[i].length > 0)
                put_name(&t->dim_names[i], to);
            else
                masu__buffer_putc(to, '?');
        }
        masu__buffer_putc(to, ']');
    } else {
        masu__buffer_puts(to, "[..]");
    }
    if (import_kind(t) == 'n' || import_kind(t) == 'h')
        masu__buffer_printf(to, " %s", t->type);
}

static bool is_weight(const importer *im, size_t i) {
    return im->is_needed[i] && im->model->tensors[i].constant;
}

static bool has_weights(const importer *im) {
    for (size_t i = 0; i < im->model->tensor_count; i++)
        if (is_weight(im, i))
            return true;
    return false;
}

/* ---- the weights --------------------------------------------------------------------------------- */

static void put_weights(const importer *im, masu__buffer *to) {
    masu__buffer_puts(to, "struct Net {\n");
    for (size_t i = 0; i < im->model->tensor_count; i++)
        if (is_weight(im, i)) {
            masu__buffer_printf(to, "    %s: ", im->names[i]);
            import_put_type(&im->model->tensors[i], to);
            masu__buffer_puts(to, ", // ");
            put_shape(&im->model->tensors[i], to);
            masu__buffer_putc(to, '\n');
        }
    masu__buffer_puts(to,
                      "}\n\nimpl Net {\n    /// The weights, from the file that was written beside this program.\n"
                      "    pub fn open(path: &str) -> Net {\n" IMPORT_OPEN "        Net {\n");
    for (size_t i = 0; i < im->model->tensor_count; i++)
        if (is_weight(im, i)) {
            masu__buffer_printf(to, "            %s: " IMPORT_READ ",\n", im->names[i],
                                import_elements(&im->model->tensors[i]), im->names[i]);
        }
    masu__buffer_puts(to, "        }\n    }\n\n");
}

/* ---- forward ------------------------------------------------------------------------------------- */

void import_put_value(const importer *im, int32_t tensor, masu__buffer *to) {
    masu__buffer_printf(to, "%s%s", im->model->tensors[tensor].constant ? "self." : "", im->names[tensor]);
}

static void put_signature(const importer *im, const char *indent, bool has_self, masu__buffer *to) {
    const masu__model_graph *g = &im->model->graphs[0];
    for (size_t i = 0; i < g->input_count; i++) {
        masu__buffer_printf(to, "%s/// %s: ", indent, im->names[g->inputs[i]]);
        put_shape(&im->model->tensors[g->inputs[i]], to);
        masu__buffer_putc(to, '\n');
    }
    masu__buffer_printf(to, "%spub fn forward(%s", indent, has_self ? "&self" : "");
    for (size_t i = 0; i < g->input_count; i++) {
        masu__buffer_printf(to, "%s%s: ", i || has_self ? ", " : "", im->names[g->inputs[i]]);
        import_put_type(&im->model->tensors[g->inputs[i]], to);
    }
    masu__buffer_printf(to, ") -> %s", g->output_count > 1 ? "(" : "");
    for (size_t i = 0; i < g->output_count; i++) {
        masu__buffer_puts(to, i ? ", " : "");
        import_put_type(&im->model->tensors[g->outputs[i]], to);
    }
    masu__buffer_printf(to, "%s {\n", g->output_count > 1 ? ")" : "");
}

void import_put_comment(const importer *im, const import_line *line, masu__buffer *to) {
    masu__buffer_puts(to, " // ");
    put_name(&line->op->type, to);
    for (size_t i = 0; i < line->op->output_count; i++)
        if (line->op->outputs[i] >= 0) {
            masu__buffer_puts(to, i ? ", " : " ");
            put_shape(&im->model->tensors[line->op->outputs[i]], to);
        }
    masu__buffer_putc(to, '\n');
}

/* let y: Tensor<f32, 2> = …; or let (a, _): (…) = …; */
static void put_line(const importer *im, const import_line *line, size_t depth, masu__buffer *to) {
    const masu__model_operator *op = line->op;
    bool is_tuple = line->parts > 1;
    masu__buffer_fill(to, ' ', 4 * depth);
    masu__buffer_printf(to, "let %s", is_tuple ? "(" : "");
    for (size_t i = 0; i < line->parts; i++)
        masu__buffer_printf(to, "%s%s", i ? ", " : "",
                            i < op->output_count && op->outputs[i] >= 0 ? im->names[op->outputs[i]] : "_");
    if (is_tuple) {
        masu__buffer_printf(to, ") = %s;", line->text);
    } else {
        masu__buffer_puts(to, ": ");
        import_put_type(&im->model->tensors[line->op->outputs[0]], to);
        masu__buffer_printf(to, " = %s;", line->text);
    }
    import_put_comment(im, line, to);
}

/* let y_parts = …; let y: Tensor<f32, 2> = y_parts[0]; … */
static void put_list(const importer *im, const import_line *line, size_t depth, masu__buffer *to) {
    masu__buffer_fill(to, ' ', 4 * depth);
    masu__buffer_printf(to, "let parts = %s;", line->text);
    import_put_comment(im, line, to);
    for (size_t i = 0; i < line->op->output_count; i++)
        if (line->op->outputs[i] >= 0) {
            masu__buffer_fill(to, ' ', 4 * depth);
            masu__buffer_printf(to, "let %s: ", im->names[line->op->outputs[i]]);
            import_put_type(&im->model->tensors[line->op->outputs[i]], to);
            masu__buffer_printf(to, " = parts[%zu];\n", i);
        }
}

void import_put_lines(const importer *im, size_t graph, size_t depth, masu__buffer *to) {
    const import_graph *g = &im->graphs[graph];
    for (size_t i = 0; i < g->line_count; i++)
        if (g->lines[i].is_needed && g->lines[i].has_bodies)
            import_put_bodies(im, &g->lines[i], depth, to);
        else if (g->lines[i].is_needed)
            (g->lines[i].parts == 0 ? put_list : put_line)(im, &g->lines[i], depth, to);
}

static void put_forward(const importer *im, masu__buffer *to) {
    const masu__model_graph *g = &im->model->graphs[0];
    bool has_self = has_weights(im);
    const char *indent = has_self ? "    " : "", *inner = has_self ? "        " : "    ";
    put_signature(im, indent, has_self, to);
    import_put_lines(im, 0, has_self ? 2 : 1, to);
    masu__buffer_printf(to, "%s%s", inner, g->output_count > 1 ? "(" : "");
    for (size_t i = 0; i < g->output_count; i++) {
        masu__buffer_puts(to, i ? ", " : "");
        import_put_value(im, g->outputs[i], to);
    }
    masu__buffer_printf(to, "%s\n%s}\n%s\n", g->output_count > 1 ? ")" : "", indent, has_self ? "}\n" : "");
}

/* ---- main ---------------------------------------------------------------------------------------- */

static void put_main(const importer *im, masu__buffer *to) {
    const masu__model_graph *g = &im->model->graphs[0];
    masu__buffer_puts(to, "struct Outputs {\n");
    for (size_t i = 0; i < g->output_count; i++) {
        masu__buffer_printf(to, "    %s: ", im->names[g->outputs[i]]);
        import_put_type(&im->model->tensors[g->outputs[i]], to);
        masu__buffer_puts(to, ",\n");
    }
    masu__buffer_puts(to, "}\n\n" IMPORT_MAIN);
    masu__buffer_printf(to, "%s    let %s", has_weights(im) ? IMPORT_MAIN_NET : "", g->output_count > 1 ? "(" : "");
    for (size_t i = 0; i < g->output_count; i++)
        masu__buffer_printf(to, "%s%s", i ? ", " : "", im->names[g->outputs[i]]);
    masu__buffer_printf(to, "%s = %s(", g->output_count > 1 ? ")" : "", has_weights(im) ? "net.forward" : "forward");
    for (size_t i = 0; i < g->input_count; i++)
        masu__buffer_printf(to, "%s" IMPORT_READ, i ? ", " : "", import_elements(&im->model->tensors[g->inputs[i]]),
                            im->names[g->inputs[i]]);
    masu__buffer_puts(to, ");\n    let outputs = Outputs { ");
    for (size_t i = 0; i < g->output_count; i++)
        masu__buffer_printf(to, "%s%s", i ? ", " : "", im->names[g->outputs[i]]);
    masu__buffer_puts(to, " };\n" IMPORT_MAIN_END);
}

/* ---- the functions that are called ---------------------------------------------------------------- */

typedef struct function {
    const char *begin, *end; /* with the comment above it */
    const char *name;
    size_t name_length;
    bool is_needed;
} function;

enum { MOST_FUNCTIONS = 256 };

static size_t find_functions(function *all) {
    size_t count = 0;
    const char *begin = import_library, *end = import_library + import_library_bytes;
    while (begin < end && count < MOST_FUNCTIONS) {
        const char *close = strstr(begin, "\n}\n"), *name = strstr(begin, "\nfn ");
        if (!close || !name || name > close)
            break;
        all[count].name = name + 4;
        all[count].name_length = strcspn(name + 4, "<(");
        while (*begin == '\n')
            begin++;
        all[count].begin = begin;
        all[count++].end = begin = close + 3;
    }
    return count;
}

static bool names(const char *begin, const char *end, const function *f) {
    for (const char *at = begin; (at = strstr(at, "onnx_")) && at < end; at += 5)
        if (strncmp(at, f->name, f->name_length) == 0 && (at[f->name_length] == '(' || at[f->name_length] == '<') &&
            !(isalnum((unsigned char)at[-1]) || at[-1] == '_'))
            return true;
    return false;
}

static void mark(function *all, size_t count, const char *begin, const char *end) {
    for (size_t i = 0; i < count; i++)
        if (!all[i].is_needed && names(begin, end, &all[i])) {
            all[i].is_needed = true;
            mark(all, count, strchr(all[i].name, '{'), all[i].end);
        }
}

static void put_functions(const importer *im, masu__buffer *to) {
    function all[MOST_FUNCTIONS] = {{0}};
    size_t count = find_functions(all);
    masu__buffer text = {0}; /* a blank in front, for the first name */
    masu__buffer_putc(&text, ' ');
    import_put_lines(im, 0, 0, &text);
    if (!text.failed)
        mark(all, count, masu__buffer_text(&text) + 1, masu__buffer_text(&text) + text.length);
    to->failed |= text.failed;
    masu__buffer_destroy(&text);
    for (size_t i = 0; i < count; i++)
        if (all[i].is_needed) {
            masu__buffer_putc(to, '\n');
            masu__buffer_append(to, all[i].begin, (size_t)(all[i].end - all[i].begin));
        }
}

/* ---- all ----------------------------------------------------------------------------------------- */

/* Refuses inputs and outputs that have no form: no line would show them. */
static bool ends_fit(importer *im) {
    const masu__model_graph *g = &im->model->graphs[0];
    for (size_t side = 0; side < 2; side++)
        for (size_t i = 0; i < (side ? g->output_count : g->input_count); i++) {
            const masu__model_tensor *t = &im->model->tensors[side ? g->outputs[i] : g->inputs[i]];
            if (!import_elements(t))
                return masu__model_refuse(im->why,
                                          "the %s `%.80s` has elements of type %s, which the language does not keep",
                                          side ? "output" : "input", t->name.at, t->type);
            for (size_t k = 0; side && k < i; k++)
                if (g->outputs[k] == g->outputs[i])
                    return masu__model_refuse(im->why, "`%.80s` is an output twice", t->name.at);
        }
    return true;
}

bool import_program(importer *im, const masu__model_text *title, masu__buffer *out) {
    if (!ends_fit(im))
        return false;
    masu__buffer_puts(out, "// ");
    put_name(title, out);
    masu__buffer_printf(out, " as a program: `masu import` wrote it, opset %lld.\n//\n", (long long)im->model->opset);
    masu__buffer_puts(out,
                      "//     masu run THIS.tl INPUTS.safetensors OUTPUTS.safetensors\n"
                      "//     masu build --shared THIS.tl -o libnet.so --header net.h\n//\n"
                      "// Beside each line: the operator of the network, and the shape of its result.\n\n");
    if (has_weights(im))
        put_weights(im, out);
    put_forward(im, out);
    put_main(im, out);
    put_functions(im, out);
    return !out->failed || masu__model_refuse(im->why, "out of memory");
}
