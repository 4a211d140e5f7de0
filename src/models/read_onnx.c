/* read_onnx.c: an .onnx file as a model.
 *
 *     bytes ─► protobuf-c ─► graphs: names become numbers ─► onnx_infer, operator by operator
 *
 * Operators come in an order in which each tensor is made before it is read; the format demands it, and it is checked.
 * So shapes are found on the way. Graphs inside attributes are bytes until their operator is reached (onnx.proto): how
 * deep they nest is limited here. They see the names of the graphs around them.
 *
 * What protobuf-c makes lies in the model's arena and is kept: names point into it.
 */
#include <stdio.h>
#include <string.h>

#include "models/onnx_nodes.h"

enum { MOST_WORDS = 64, MOST_FLOAT_VALUES = 64 };

typedef struct name_slot {
    const char *name;
    size_t graph;
    int32_t tensor; /* + 1; 0: free */
} name_slot;

typedef struct reader {
    masu__model *model;
    masu__buffer *why;
    masu__model_dim *dims;
    size_t dim_count;
    ProtobufCAllocator allocator;
    bool out_of_memory;
    name_slot *slots;
    size_t slot_count, slots_used;
    unsigned tensor_room, graph_room;
    size_t *parents; /* per graph; SIZE_MAX: none */
    bool *made;      /* per tensor: something gives it a value */
    size_t made_room, edges, operators;
} reader;

static bool no_memory(reader *r) {
    r->out_of_memory = true;
    return masu__model_refuse(r->why, "out of memory");
}

static masu__model_text text_of(const char *text) {
    return (masu__model_text){text, strlen(text)};
}

static void *take(void *context, size_t bytes) {
    reader *r = context;
    void *at = masu__arena_alloc(&r->model->arena, bytes, 16);
    if (!at)
        r->out_of_memory = true;
    return at;
}

static void give_back(void *context, void *at) {
    (void)context, (void)at; /* the arena's end is its end, too */
}

/* ---- names ----------------------------------------------------------------------------------- */

static size_t hash_of(const char *name, size_t graph) {
    uint64_t hash = UINT64_C(14695981039346656037) ^ graph * UINT64_C(0x9E3779B97F4A7C15);
    for (; *name; name++)
        hash = (hash ^ (unsigned char)*name) * UINT64_C(1099511628211);
    return (size_t)(hash ^ hash >> 29);
}

static name_slot *slot_of(const reader *r, const char *name, size_t graph) {
    size_t at = hash_of(name, graph) & (r->slot_count - 1);
    while (r->slots[at].tensor && (r->slots[at].graph != graph || strcmp(r->slots[at].name, name) != 0))
        at = (at + 1) & (r->slot_count - 1);
    return &r->slots[at];
}

static bool grow_names(reader *r) {
    name_slot *old = r->slots;
    size_t count = r->slot_count;
    r->slot_count = count ? 2 * count : 1024;
    r->slots = masu__arena_calloc(&r->model->arena, r->slot_count, sizeof *r->slots, 16);
    if (!r->slots)
        return no_memory(r);
    for (size_t i = 0; i < count; i++)
        if (old[i].tensor)
            *slot_of(r, old[i].name, old[i].graph) = old[i];
    return true;
}

/* The value with this name in the graph and those around it; -1: nothing. A body may describe what lies
 * outside of it. */
static int32_t find_name(const reader *r, const char *name, size_t graph) {
    for (; graph != SIZE_MAX; graph = r->parents[graph]) {
        int32_t tensor = slot_of(r, name, graph)->tensor;
        if (tensor && r->made[tensor - 1])
            return tensor - 1;
    }
    return -1;
}

/* The tensor of this name in this graph, a new one where there is none. Tensors may move: hold no pointer across. */
static bool declare(reader *r, const char *name, size_t graph, int32_t *out) {
    masu__model *m = r->model;
    unsigned count = (unsigned)m->tensor_count;
    if (2 * r->slots_used >= r->slot_count && !grow_names(r))
        return false;
    name_slot *slot = slot_of(r, name, graph);
    if (slot->tensor) {
        *out = slot->tensor - 1;
        return true;
    }
    if (m->tensor_count == MASU__MODEL_MOST_THINGS)
        return masu__model_refuse(r->why, "more than %d tensors", MASU__MODEL_MOST_THINGS);
    masu__model_tensor made = {.name = text_of(name), .type = "?", .graph = graph};
    MASU_ARENA_PUSH(&m->arena, m->tensors, count, r->tensor_room, made, return no_memory(r));
    if (r->made_room < r->tensor_room) {
        r->made = masu__arena_grow(&m->arena, r->made, r->made_room, r->tensor_room, sizeof *r->made, 16);
        if (!r->made)
            return no_memory(r);
        memset(r->made + r->made_room, 0, r->tensor_room - r->made_room);
        r->made_room = r->tensor_room;
    }
    m->tensor_count = count;
    *slot = (name_slot){name, graph, (int32_t)count};
    r->slots_used++;
    *out = (int32_t)count - 1;
    return true;
}

/* ---- types, shapes, values ------------------------------------------------------------------- */

static bool measure(reader *r, int32_t tensor) {
    masu__model_tensor *t = &r->model->tensors[tensor];
    return masu__model_measure(t) || masu__model_refuse(r->why, "`%.80s` is larger than 2^62 bytes", t->name.at);
}

/* Whole numbers of few elements; of float32 the bits, for scales. */
static bool read_values(reader *r, masu__model_tensor *t, const Masu__Onnx__Tensor *from) {
    size_t count = 1;
    bool is_long = from->data_type == 7, is_word = from->data_type == 6, is_float = from->data_type == 1;
    for (size_t i = 0; i < t->rank; i++) {
        if (t->dims[i] > ONNX_MOST_VALUES)
            return true;
        count *= (size_t)t->dims[i];
        if (count > (is_float ? MOST_FLOAT_VALUES : ONNX_MOST_VALUES))
            return true;
    }
    bool in_bytes = from->raw_data.len == count * (is_long ? 8 : 4) && count > 0;
    if ((!is_long && !is_word && !is_float) ||
        (!in_bytes && !(is_long && from->n_int64_data == count) && !(is_word && from->n_int32_data == count)))
        return true;
    int64_t *values = masu__arena_calloc(&r->model->arena, count + 1, sizeof *values, 16);
    if (!values)
        return no_memory(r);
    for (size_t i = 0; i < count; i++) {
        int32_t word;
        if (in_bytes && is_long)
            memcpy(&values[i], from->raw_data.data + 8 * i, 8);
        else if (in_bytes)
            memcpy(&word, from->raw_data.data + 4 * i, 4), values[i] = word;
        else
            values[i] = is_long ? from->int64_data[i] : from->int32_data[i];
    }
    t->values = values;
    t->value_count = count;
    return true;
}

static bool read_constant(reader *r, int32_t tensor, const Masu__Onnx__Tensor *from) {
    masu__model_tensor *t = &r->model->tensors[tensor];
    if (from->n_dims > MASU__MODEL_MOST_RANK)
        return masu__model_refuse(r->why, "`%.80s` has %zu dimensions; at most %d are read", t->name.at, from->n_dims,
                                  MASU__MODEL_MOST_RANK);
    t->type = onnx_type_name(from->data_type, &t->bits);
    t->is_constant = true;
    t->constant = from;
    t->has_shape = true;
    t->rank = from->n_dims;
    t->dims = from->dims;
    for (size_t i = 0; i < t->rank; i++)
        if (t->dims[i] < 0)
            return masu__model_refuse(r->why, "`%.80s` has a dimension of %lld", t->name.at, (long long)t->dims[i]);
    return measure(r, tensor) && read_values(r, t, from);
}

/* --dim says NAME of dimensions or INPUT:AXIS. */
static int64_t asked_dim(reader *r, const char *symbol, const char *tensor, size_t axis) {
    size_t length = strlen(tensor);
    for (size_t i = 0; i < r->dim_count; i++) {
        masu__model_dim *d = &r->dims[i];
        char number[24];
        int digits = snprintf(number, sizeof number, ":%zu", axis);
        bool by_name = *symbol && d->name.length == strlen(symbol) && memcmp(d->name.at, symbol, d->name.length) == 0;
        bool by_place = d->name.length == length + (size_t)digits && memcmp(d->name.at, tensor, length) == 0 &&
                        memcmp(d->name.at + length, number, (size_t)digits) == 0;
        if (by_name || by_place) {
            d->was_used = true;
            return d->size;
        }
    }
    return MASU__MODEL_OPEN;
}

static bool read_info(reader *r, int32_t tensor, const Masu__Onnx__ValueInfo *from) {
    masu__model_tensor *t = &r->model->tensors[tensor];
    const Masu__Onnx__TensorType *type = from->type ? from->type->tensor_type : NULL;
    if (!type)
        return true;
    unsigned bits;
    const char *name = onnx_type_name(type->elem_type, &bits);
    onnx_set_type(t, name, bits);
    if (!type->shape || t->has_shape)
        return true;
    if (type->shape->n_dim > MASU__MODEL_MOST_RANK)
        return masu__model_refuse(r->why, "`%.80s` has %zu dimensions; at most %d are read", t->name.at,
                                  type->shape->n_dim, MASU__MODEL_MOST_RANK);
    masu__model_text *names = masu__arena_calloc(&r->model->arena, type->shape->n_dim + 1, sizeof *names, 16);
    t->dims = masu__arena_calloc(&r->model->arena, type->shape->n_dim + 1, sizeof *t->dims, 16);
    if (!t->dims || !names)
        return no_memory(r);
    t->rank = type->shape->n_dim;
    t->has_shape = true;
    t->dim_names = names;
    for (size_t i = 0; i < t->rank; i++) {
        const Masu__Onnx__Dimension *dim = type->shape->dim[i];
        bool is_known = dim->value_case == MASU__ONNX__DIMENSION__VALUE_DIM_VALUE;
        const char *symbol = dim->value_case == MASU__ONNX__DIMENSION__VALUE_DIM_PARAM ? dim->dim_param : "";
        names[i] = text_of(symbol);
        t->dims[i] = is_known && dim->dim_value >= 0 ? dim->dim_value : asked_dim(r, symbol, from->name, i);
    }
    return measure(r, tensor);
}

/* ---- graphs ---------------------------------------------------------------------------------- */

static bool read_graph(reader *r, size_t graph, const Masu__Onnx__Graph *from, size_t depth);

static bool new_graph(reader *r, size_t parent, size_t *out) {
    masu__model *m = r->model;
    unsigned count = (unsigned)m->graph_count, room = r->graph_room;
    if (m->graph_count == MASU__MODEL_MOST_THINGS)
        return masu__model_refuse(r->why, "more than %d graphs", MASU__MODEL_MOST_THINGS);
    MASU_ARENA_PUSH(&m->arena, r->parents, count, room, parent, return no_memory(r));
    count = (unsigned)m->graph_count, room = r->graph_room;
    masu__model_graph made = {.name = text_of("")};
    MASU_ARENA_PUSH(&m->arena, m->graphs, count, room, made, return no_memory(r));
    r->graph_room = room;
    *out = m->graph_count;
    m->graph_count = count;
    return true;
}

static bool make(reader *r, int32_t tensor) {
    if (r->made[tensor])
        return masu__model_refuse(r->why, "two operators or inputs make `%.80s`", r->model->tensors[tensor].name.at);
    r->made[tensor] = true;
    return true;
}

static bool read_constants(reader *r, size_t graph, const Masu__Onnx__Graph *from) {
    int32_t tensor;
    for (size_t i = 0; i < from->n_initializer; i++)
        if (!declare(r, from->initializer[i]->name, graph, &tensor) || !make(r, tensor) ||
            !read_constant(r, tensor, from->initializer[i]))
            return false;
    for (size_t i = 0; i < from->n_sparse_initializer; i++) {
        Masu__Onnx__Tensor *values = from->sparse_initializer[i]->values;
        if (!values)
            return masu__model_refuse(r->why, "a sparse constant has no values");
        if (!declare(r, values->name, graph, &tensor) || !make(r, tensor))
            return false;
        Masu__Onnx__Tensor whole = *values;
        whole.n_dims = from->sparse_initializer[i]->n_dims;
        whole.dims = from->sparse_initializer[i]->dims;
        whole.raw_data.len = whole.n_int32_data = whole.n_int64_data = 0;
        if (!read_constant(r, tensor, &whole))
            return false;
        r->model->tensors[tensor].constant = NULL;
    }
    return true;
}

/* Old files name their constants among the inputs, too. */
static bool read_inputs(reader *r, size_t graph, const Masu__Onnx__Graph *from) {
    int32_t tensor, *inputs = masu__arena_calloc(&r->model->arena, from->n_input + 1, sizeof *inputs, 16);
    size_t count = 0;
    if (!inputs)
        return no_memory(r);
    for (size_t i = 0; i < from->n_input; i++) {
        if (!declare(r, from->input[i]->name, graph, &tensor))
            return false;
        if (r->model->tensors[tensor].is_constant)
            continue;
        if (!make(r, tensor) || !read_info(r, tensor, from->input[i]))
            return false;
        inputs[count++] = tensor;
    }
    r->model->graphs[graph].inputs = inputs;
    r->model->graphs[graph].input_count = count;
    return true;
}

static bool read_infos(reader *r, size_t graph, Masu__Onnx__ValueInfo *const *infos, size_t count) {
    int32_t tensor;
    for (size_t i = 0; i < count; i++)
        if (!declare(r, infos[i]->name, graph, &tensor) || !read_info(r, tensor, infos[i]))
            return false;
    return true;
}

static bool read_outputs(reader *r, size_t graph, const Masu__Onnx__Graph *from) {
    int32_t *outputs = masu__arena_calloc(&r->model->arena, from->n_output + 1, sizeof *outputs, 16);
    if (!outputs)
        return no_memory(r);
    for (size_t i = 0; i < from->n_output; i++) {
        int32_t tensor = find_name(r, from->output[i]->name, graph);
        if (tensor < 0)
            return masu__model_refuse(r->why, "nothing makes the output `%.80s`", from->output[i]->name);
        outputs[i] = tensor;
    }
    r->model->graphs[graph].outputs = outputs;
    r->model->graphs[graph].output_count = from->n_output;
    return true;
}

/* ---- operators that run graphs --------------------------------------------------------------- */

/* A body's inputs have the shapes of what the operator gives them, where the file does not say. */
static void give_inputs(onnx_node *v, size_t graph) {
    masu__model_graph *g = &v->model->graphs[graph];
    bool is_loop = onnx_is(v, "Loop"), is_scan = onnx_is(v, "Scan");
    size_t scanned = is_scan ? (size_t)onnx_int(v, "num_scan_inputs", 0) : 0;
    for (size_t i = 0; (is_loop || is_scan) && i < g->input_count; i++) {
        masu__model_tensor *to = &v->model->tensors[g->inputs[i]], *from = onnx_in(v, i);
        if (is_loop && i < 2) {
            onnx_set_type(to, i == 0 ? "int64" : "bool", i == 0 ? 64 : 8);
            onnx_set_shape(v, to, &(onnx_dims){0});
        } else if (from && is_scan && scanned <= v->op->input_count && i >= v->op->input_count - scanned) {
            onnx_set_type_of(to, from);
            if (from->has_shape && from->rank > 0) {
                onnx_dims dims = {.rank = from->rank - 1};
                memcpy(dims.at, from->dims + 1, dims.rank * sizeof *dims.at);
                if (!onnx_attribute(v, "scan_input_axes"))
                    onnx_set_shape(v, to, &dims);
            }
        } else if (from) {
            onnx_set_type_of(to, from);
            onnx_set_shape_of(v, to, from);
        }
    }
}

static bool same_dims(const masu__model_tensor *a, const masu__model_tensor *b) {
    if (!a->has_shape || !b->has_shape || a->rank != b->rank)
        return false;
    for (size_t i = 0; i < a->rank; i++)
        if (a->dims[i] != b->dims[i])
            return false;
    return true;
}

/* The shape of a loop's gathered results: that of a round behind the number of rounds. */
static void give_stacked(onnx_node *v, masu__model_tensor *out, const masu__model_tensor *each, int64_t rounds) {
    onnx_set_type_of(out, each);
    if (!each->has_shape || each->rank == MASU__MODEL_MOST_RANK)
        return;
    onnx_dims dims = {.rank = each->rank + 1, .at = {rounds}};
    memcpy(dims.at + 1, each->dims, each->rank * sizeof *dims.at);
    onnx_set_shape(v, out, &dims);
}

/* The operator's outputs from those of its bodies. */
static void take_outputs(onnx_node *v) {
    const masu__model_graph *g = &v->model->graphs[v->op->bodies[0]];
    bool is_loop = onnx_is(v, "Loop"), is_scan = onnx_is(v, "Scan");
    size_t carried = is_loop ? (v->op->input_count > 2 ? v->op->input_count - 2 : 0) : 0;
    int64_t rounds = MASU__MODEL_OPEN;
    if (is_scan) {
        int64_t scanned = onnx_int(v, "num_scan_inputs", 0);
        carried = scanned >= 0 && (size_t)scanned <= v->op->input_count ? v->op->input_count - (size_t)scanned : 0;
        const masu__model_tensor *first = onnx_in(v, carried);
        rounds = first && first->has_shape && first->rank > 0 && !onnx_attribute(v, "scan_input_axes") ? first->dims[0]
                                                                                                       : rounds;
    } else if (is_loop && onnx_in(v, 0) && onnx_in(v, 0)->values && onnx_in(v, 0)->value_count == 1) {
        rounds = onnx_in(v, 0)->values[0];
    }
    for (size_t i = 0; i < v->op->output_count; i++) {
        masu__model_tensor *out = onnx_out(v, i);
        size_t at = is_loop ? i + 1 : i; /* a loop's body gives its condition first */
        if (!out || at >= g->output_count)
            continue;
        const masu__model_tensor *inner = &v->model->tensors[g->outputs[at]], *before = onnx_in(v, is_loop ? i + 2 : i);
        if (is_loop || is_scan) {
            if (i >= carried) {
                if (!onnx_attribute(v, "scan_output_axes"))
                    give_stacked(v, out, inner, rounds);
            } else if (before && same_dims(inner, before)) { /* as large in each round */
                onnx_set_type_of(out, inner);
                onnx_set_shape_of(v, out, inner);
            }
        } else if (onnx_is(v, "If") && v->op->body_count == 2 && i < v->model->graphs[v->op->bodies[1]].output_count) {
            onnx_set_type_of(out, inner);
            if (same_dims(inner, &v->model->tensors[v->model->graphs[v->op->bodies[1]].outputs[i]]))
                onnx_set_shape_of(v, out, inner);
        }
    }
}

static bool read_body(reader *r, onnx_node *v, size_t graph, const ProtobufCBinaryData *bytes, size_t depth) {
    size_t body;
    if (v->op->body_count == MASU__MODEL_MOST_BODIES)
        return masu__model_refuse(r->why, "an operator has more than %d graphs", MASU__MODEL_MOST_BODIES);
    if (depth == MASU__MODEL_MOST_NESTED)
        return masu__model_refuse(r->why, "graphs lie more than %d deep in each other", MASU__MODEL_MOST_NESTED);
    Masu__Onnx__Graph *from = masu__onnx__graph__unpack(&r->allocator, bytes->len, bytes->data);
    if (!from)
        return masu__model_refuse(r->why,
                                  r->out_of_memory ? "out of memory" : "a graph inside of an operator is damaged");
    if (!new_graph(r, graph, &body) || !read_constants(r, body, from) || !read_inputs(r, body, from))
        return false;
    v->op->bodies[v->op->body_count++] = body;
    give_inputs(v, body);
    for (size_t i = 0; i < r->model->graphs[body].input_count; i++)
        if (!measure(r, r->model->graphs[body].inputs[i]))
            return false;
    return read_graph(r, body, from, depth + 1);
}

static bool read_bodies(reader *r, onnx_node *v, size_t graph, size_t depth) {
    static const char *const order[] = {"then_branch", "else_branch", "body"};
    for (size_t k = 0; k < sizeof order / sizeof *order; k++) {
        const Masu__Onnx__Attribute *a = onnx_attribute(v, order[k]);
        if (a && a->g.len > 0 && !read_body(r, v, graph, &a->g, depth))
            return false;
    }
    for (size_t i = 0; i < v->node->n_attribute; i++) {
        const Masu__Onnx__Attribute *a = v->node->attribute[i];
        bool is_known = false;
        for (size_t k = 0; k < sizeof order / sizeof *order; k++)
            is_known = is_known || onnx_attribute(v, order[k]) == a;
        if (!is_known && a->g.len > 0 && !read_body(r, v, graph, &a->g, depth))
            return false;
        for (size_t k = 0; k < a->n_graphs; k++)
            if (!read_body(r, v, graph, &a->graphs[k], depth))
                return false;
    }
    if (v->op->body_count > 0)
        take_outputs(v);
    return true;
}

/* ---- operators ------------------------------------------------------------------------------- */

static void read_constant_node(reader *r, onnx_node *v) {
    masu__model_tensor *out = onnx_out(v, 0);
    size_t count;
    const Masu__Onnx__Attribute *value = onnx_attribute(v, "value"), *floats = onnx_attribute(v, "value_floats");
    if (!out)
        return;
    if (value && value->t) {
        masu__buffer ignored = {0};
        reader quiet = *r;
        quiet.why = &ignored;
        (void)read_constant(&quiet, v->op->outputs[0], value->t);
        masu__buffer_destroy(&ignored);
        return;
    }
    (void)onnx_ints(v, "value_ints", &count);
    bool is_list = onnx_attribute(v, "value_ints") || floats,
         is_whole = onnx_attribute(v, "value_int") || onnx_attribute(v, "value_ints");
    onnx_dims dims = {is_list ? 1 : 0, {(int64_t)(floats ? floats->n_floats : count)}};
    if (!is_whole && !floats && !onnx_attribute(v, "value_float"))
        return;
    onnx_set_type(out, is_whole ? "int64" : "float32", is_whole ? 64 : 32);
    onnx_set_shape(v, out, &dims);
}

static bool resolve(reader *r, size_t graph, const Masu__Onnx__Node *from, masu__model_operator *to) {
    to->input_count = from->n_input;
    to->output_count = from->n_output;
    r->edges += from->n_input + from->n_output;
    if (r->edges > 4u * MASU__MODEL_MOST_THINGS)
        return masu__model_refuse(r->why, "more than %d places name a tensor", 4 * MASU__MODEL_MOST_THINGS);
    to->inputs = masu__arena_calloc(&r->model->arena, from->n_input + 1, sizeof *to->inputs, 16);
    to->outputs = masu__arena_calloc(&r->model->arena, from->n_output + 1, sizeof *to->outputs, 16);
    if (!to->inputs || !to->outputs)
        return no_memory(r);
    for (size_t i = 0; i < from->n_input; i++) {
        to->inputs[i] = *from->input[i] ? find_name(r, from->input[i], graph) : MASU__MODEL_NONE;
        if (*from->input[i] && to->inputs[i] < 0)
            return masu__model_refuse(r->why, "operator %.60s reads `%.80s`, which nothing before it makes",
                                      from->op_type, from->input[i]);
    }
    for (size_t i = 0; i < from->n_output; i++) {
        to->outputs[i] = MASU__MODEL_NONE;
        if (*from->output[i] && (!declare(r, from->output[i], graph, &to->outputs[i]) || !make(r, to->outputs[i])))
            return false;
    }
    return true;
}

static bool read_node(reader *r, size_t graph, const Masu__Onnx__Node *from, masu__model_operator *to, size_t depth) {
    to->name = text_of(from->name);
    to->type = text_of(from->op_type);
    to->domain = text_of(from->domain);
    to->node = from;
    to->is_custom = *from->domain && strcmp(from->domain, "ai.onnx") != 0;
    if (++r->operators > MASU__MODEL_MOST_THINGS)
        return masu__model_refuse(r->why, "more than %d operators", MASU__MODEL_MOST_THINGS);
    if (!resolve(r, graph, from, to))
        return false;
    onnx_node v = {r->model, from, to, false};
    if (!read_bodies(r, &v, graph, depth))
        return false;
    if (!to->is_custom && onnx_is(&v, "Constant"))
        read_constant_node(r, &v);
    onnx_infer(&v);
    if (v.out_of_memory)
        return no_memory(r);
    for (size_t i = 0; i < to->output_count; i++)
        if (to->outputs[i] >= 0 && !measure(r, to->outputs[i]))
            return false;
    return true;
}

/* Constants that operators make of constants are not run: they are made once, when the network is loaded. */
static bool is_folded(const masu__model *m, const masu__model_operator *op) {
    bool folded = op->output_count > 0;
    for (size_t i = 0; i < op->output_count; i++)
        folded = folded && (op->outputs[i] < 0 || m->tensors[op->outputs[i]].is_constant);
    return folded;
}

static bool read_graph(reader *r, size_t graph, const Masu__Onnx__Graph *from, size_t depth) {
    masu__model_operator *operators = masu__arena_calloc(&r->model->arena, from->n_node + 1, sizeof *operators, 16);
    size_t count = 0;
    if (!operators)
        return no_memory(r);
    r->model->graphs[graph].name = text_of(from->name);
    if (!read_infos(r, graph, from->value_info, from->n_value_info) ||
        !read_infos(r, graph, from->output, from->n_output))
        return false;
    for (size_t i = 0; i < from->n_node; i++) {
        operators[count] = (masu__model_operator){.name = {"", 0}};
        if (!read_node(r, graph, from->node[i], &operators[count], depth))
            return false;
        count += r->model->keeps_all || !is_folded(r->model, &operators[count]);
    }
    r->model->graphs[graph].operators = operators;
    r->model->graphs[graph].operator_count = count;
    return read_outputs(r, graph, from);
}

bool masu__model_read_onnx(const void *bytes, size_t length, masu__model_dim *dims, size_t dim_count, masu__model *out,
                           masu__buffer *why) {
    reader r = {.model = out, .why = why, .dims = dims, .dim_count = dim_count};
    size_t main;
    r.allocator = (ProtobufCAllocator){take, give_back, &r};
    Masu__Onnx__Model *file = masu__onnx__model__unpack(&r.allocator, length, bytes);
    if (!file)
        return masu__model_refuse(why, r.out_of_memory ? "out of memory" : "not an ONNX file, or a damaged one");
    if (!file->graph)
        return masu__model_refuse(why, "the file has no graph");
    for (size_t i = 0; i < file->n_opset_import; i++)
        if (!*file->opset_import[i]->domain || strcmp(file->opset_import[i]->domain, "ai.onnx") == 0) {
            out->has_opset = true;
            out->opset = file->opset_import[i]->version;
        }
    return grow_names(&r) && new_graph(&r, SIZE_MAX, &main) && read_constants(&r, main, file->graph) &&
           read_inputs(&r, main, file->graph) && read_graph(&r, main, file->graph, 0);
}
