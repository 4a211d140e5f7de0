/* import.c: the steps from a network to a program. */
#include <string.h>

#include "models/import/import.h"

static bool read(const void *bytes, size_t length, masu__model_dim *dims, size_t dim_count, masu__model *model,
                 masu__buffer *why) {
    *model = (masu__model){.format = MASU__MODEL_ONNX, .keeps_all = true};
    if (!masu__model_read_onnx(bytes, length, dims, dim_count, model, why))
        return false;
    if (!model->has_opset)
        return masu__model_refuse(why, "the file does not say which opset its operators are of");
    if (model->opset < 1 || model->opset > IMPORT_MOST_OPSET)
        return masu__model_refuse(why, "opset %lld is not known; those from 1 to %d are", (long long)model->opset,
                                  IMPORT_MOST_OPSET);
    if (model->graphs[0].output_count == 0)
        return masu__model_refuse(why, "the network has no outputs");
    return true;
}

/* A Constant whose elements the weights have. */
static bool is_weight(const importer *im, const masu__model_operator *op) {
    return op->output_count == 1 && op->outputs[0] >= 0 && im->model->tensors[op->outputs[0]].constant;
}

static bool make_lines(importer *im, size_t graph) {
    const masu__model_graph *g = &im->model->graphs[graph];
    import_graph *to = &im->graphs[graph];
    to->lines = masu__arena_calloc(&im->model->arena, g->operator_count + 1, sizeof *to->lines, 16);
    if (!to->lines)
        return masu__model_refuse(im->why, "out of memory");
    to->line_count = g->operator_count;
    for (size_t i = 0; i < to->line_count; i++) {
        to->lines[i].op = &g->operators[i];
        if (is_weight(im, &g->operators[i])) /* no line, but a field */
            to->lines[i].text = "";
        else if (!import_expression(im, &to->lines[i]))
            return false;
    }
    return true;
}

static bool make_all_lines(importer *im) {
    masu__arena *arena = &im->model->arena;
    im->graphs = masu__arena_calloc(arena, im->model->graph_count + 1, sizeof *im->graphs, 16);
    im->is_needed = masu__arena_calloc(arena, im->model->tensor_count + 1, sizeof *im->is_needed, 16);
    if (!im->graphs || !im->is_needed)
        return masu__model_refuse(im->why, "out of memory");
    for (size_t i = 0; i < im->model->graph_count; i++)
        if (!make_lines(im, i))
            return false;
    return true;
}

/* From the outputs backwards: what shapes alone were computed with is not a part of the program. Bodies are as deep as
 * the reader lets them be. */
static void find_needed(importer *im, size_t graph) {
    const masu__model_graph *g = &im->model->graphs[graph];
    for (size_t i = 0; i < g->output_count; i++)
        im->is_needed[g->outputs[i]] = true;
    for (size_t i = im->graphs[graph].line_count; i-- > 0;) {
        import_line *line = &im->graphs[graph].lines[i];
        for (size_t k = 0; (line->has_bodies || *(line->text ? line->text : "?")) && k < line->op->output_count; k++)
            line->is_needed |= line->op->outputs[k] >= 0 && im->is_needed[line->op->outputs[k]];
        for (size_t k = 0; line->is_needed && k < line->op->input_count && k < IMPORT_MOST_PLACES; k++)
            if (line->op->inputs[k] >= 0 && line->uses >> k & 1)
                im->is_needed[line->op->inputs[k]] = true;
        for (size_t k = 0; line->is_needed && k < line->op->body_count; k++)
            find_needed(im, line->op->bodies[k]);
    }
}

/* Many files give their nodes no names: then the first output says which one it is. */
static bool refuse_line(importer *im, const import_line *line) {
    const masu__model_operator *op = line->op;
    const masu__model_text *name = &op->name;
    for (size_t k = 0; k < op->output_count && name->length == 0; k++)
        if (op->outputs[k] >= 0)
            name = &im->model->tensors[op->outputs[k]].name;
    return masu__model_refuse(im->why, "operator %.*s, node %s`%.*s`, opset %lld: %s", MASU__MODEL_TEXT(op->type),
                              op->name.length == 0 ? "that yields " : "", MASU__MODEL_TEXT(*name),
                              (long long)im->model->opset, line->refused);
}

static bool all_taken(importer *im) {
    for (size_t k = 0; k < im->model->graph_count; k++)
        for (size_t i = 0; i < im->graphs[k].line_count; i++) {
            const import_line *line = &im->graphs[k].lines[i];
            if (line->is_needed && line->refused)
                return refuse_line(im, line);
        }
    return true;
}

bool masu__model_import(const void *bytes, size_t length, masu__model_dim *dims, size_t dim_count, const char *title,
                        bool widen, masu__buffer *program, masu__model_write *write, void *context, masu__buffer *why) {
    masu__model model;
    importer im = {.model = &model, .why = why};
    masu__model_text name = {title, strlen(title)};
    bool right = read(bytes, length, dims, dim_count, &model, why);
    for (size_t i = 0; right && widen && i < model.tensor_count; i++)
        model.tensors[i].is_widened = import_kind(&model.tensors[i]) == 'h';
    right = right && import_constant_nodes(&im) && import_names(&im) && make_all_lines(&im);
    if (right)
        find_needed(&im, 0);
    right = right && all_taken(&im) && import_program(&im, &name, program) && import_write_weights(&im, write, context);
    masu__model_free(&model);
    return right;
}
