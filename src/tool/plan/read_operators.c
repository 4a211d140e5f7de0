/* read_operators.c: operator lists for `masu plan --ops`: op,type,inputs,outputs in order of execution. */
#include <inttypes.h>
#include <string.h>
#include <strings.h>

#include "tool/plan/plan_table.h"

/* Results element by element: each byte of an input is read before the same byte of the output is
 * written. Names of ONNX and TensorFlow Lite. */
static const char *const in_place_types[] = {
    "Relu",     "Clip",     "Sigmoid",   "HardSigmoid", "Tanh",
    "Add",      "Sub",      "Mul",       "Div",         "Sum",
    "Elu",      "Cast",     "LeakyRelu", "Dropout",     "Identity",
    "Reshape",  "Flatten",  "Squeeze",   "Unsqueeze",   "BatchNormalization",
    "Softmax",  "Logistic", "Relu6",     "Hard_Swish",  "HardSwish",
    "Quantize", "Prelu",    "Neg",       "Exp",         "Sqrt",
    "Abs",      "Pow",
};

typedef struct ops_reader {
    plan_reader base;
    size_t at, line, line_begin;
    plan_index index;
    masu_plan_operator *operators;
    const char **types;
    const char **names;
    size_t *begins; /* per operator: where in the text it is */
    size_t count, room;
} ops_reader;

static plan_place here(const ops_reader *r) {
    return (plan_place){r->line, r->at - r->line_begin + 1};
}

static bool no_memory(ops_reader *r) {
    r->base.out_of_memory = true;
    return false;
}

static bool at_end(const ops_reader *r) {
    return r->at >= r->base.length || r->base.text[r->at] == '\n' || r->base.text[r->at] == '\r';
}

static void next_line(ops_reader *r) {
    while (r->at < r->base.length && r->base.text[r->at] != '\n')
        r->at++;
    r->at++;
    r->line++;
    r->line_begin = r->at;
}

/* Ids up to the next comma. */
static bool read_rows(ops_reader *r, const size_t **out, size_t *count) {
    const char *text = r->base.text;
    size_t end = r->at, most = 1;
    while (end < r->base.length && text[end] != ',' && text[end] != '\n' && text[end] != '\r')
        most += text[end++] == ' ';
    size_t *rows = masu__arena_calloc(&r->base.table->arena, most, sizeof *rows, 16);
    if (!rows)
        return no_memory(r);
    while (r->at < end) {
        size_t from = r->at;
        while (r->at < end && text[r->at] != ' ')
            r->at++;
        if (r->at > from) {
            size_t row = plan_index_find(r->base.table, &r->index, text + from, r->at - from);
            if (row == SIZE_MAX) {
                plan_place place = {r->line, from - r->line_begin + 1};
                return plan_complain_found(&r->base, place, "ids of buffers", text + from, r->at - from);
            }
            rows[(*count)++] = row;
        }
        r->at += r->at < end;
    }
    *out = rows;
    return true;
}

static bool skip_comma(ops_reader *r) {
    if (r->at < r->base.length && r->base.text[r->at] == ',') {
        r->at++;
        return true;
    }
    return plan_complain(&r->base, here(r), "expected op,type,inputs,outputs");
}

static bool grow(ops_reader *r) {
    if (r->count < r->room)
        return true;
    size_t room = r->room ? 2 * r->room : 64;
    masu__arena *arena = &r->base.table->arena;
    r->operators = masu__arena_grow(arena, r->operators, r->count, room, sizeof *r->operators, 16);
    r->types = masu__arena_grow(arena, r->types, r->count, room, sizeof *r->types, 16);
    r->names = masu__arena_grow(arena, r->names, r->count, room, sizeof *r->names, 16);
    r->begins = masu__arena_grow(arena, r->begins, r->count, room, sizeof *r->begins, 16);
    r->room = room;
    return (r->operators && r->types && r->names && r->begins) || no_memory(r);
}

static bool read_operator(ops_reader *r) {
    const char *text = r->base.text;
    masu_plan_operator op = {0};
    size_t begin = r->at;
    while (!at_end(r) && text[r->at] != ',')
        r->at++;
    const char *name = masu__arena_strndup(&r->base.table->arena, text + begin, r->at - begin);
    if (!name)
        return no_memory(r);
    if (!skip_comma(r))
        return false;
    size_t from = r->at;
    while (!at_end(r) && text[r->at] != ',')
        r->at++;
    const char *type = masu__arena_strndup(&r->base.table->arena, text + from, r->at - from);
    if (!type)
        return no_memory(r);
    if (!skip_comma(r) || !read_rows(r, &op.inputs, &op.input_count) || !skip_comma(r) ||
        !read_rows(r, &op.outputs, &op.output_count))
        return false;
    if (!at_end(r))
        return plan_complain(&r->base, here(r), "expected the end of the line");
    if (!grow(r))
        return false;
    r->types[r->count] = type;
    r->names[r->count] = name;
    r->begins[r->count] = begin;
    r->operators[r->count++] = op;
    return true;
}

static bool disagrees(ops_reader *r, size_t operator, size_t row, const char *how) {
    const masu_plan_row *life = &r->base.table->rows[row];
    return plan_complain(&r->base, plan_place_at(&r->base, r->begins[operator]),
                         "expected %s to live when operator %s %s it, at moment %zu; its life is %" PRId64
                         " to %" PRId64,
                         r->base.table->ids[row], r->names[operator], how, operator, life->lower,
                         life->upper);
}

static bool lives_at(const ops_reader *r, size_t row, size_t moment) {
    const masu_plan_row *life = &r->base.table->rows[row];
    return life->lower <= (int64_t)moment && (int64_t)moment < life->upper;
}

/* The moments of the table are places in the list: each row lives when it is made and when it is read. Fills kept. */
static bool lives_agree(ops_reader *r, plan_graph *out) {
    plan_table *t = r->base.table;
    int64_t *last = masu__arena_calloc(&t->arena, t->count + 1, sizeof *last, 16);
    bool *is_read = masu__arena_calloc(&t->arena, t->count + 1, sizeof *is_read, 16);
    out->kept = masu__arena_calloc(&t->arena, t->count + 1, sizeof *out->kept, 16);
    if (!last || !is_read || !out->kept)
        return no_memory(r);
    for (size_t k = 0; k < r->count; k++) {
        const masu_plan_operator *op = &r->operators[k];
        for (size_t i = 0; i < op->output_count; i++) {
            if (!lives_at(r, op->outputs[i], k))
                return disagrees(r, k, op->outputs[i], "makes");
            last[op->outputs[i]] = (int64_t)k;
        }
        for (size_t i = 0; i < op->input_count; i++) {
            if (!lives_at(r, op->inputs[i], k))
                return disagrees(r, k, op->inputs[i], "reads");
            last[op->inputs[i]] = (int64_t)k;
            is_read[op->inputs[i]] = true;
        }
    }
    for (size_t i = 0; i < t->count; i++)
        out->kept[i] = t->rows[i].upper > last[i] + 1 || (!is_read[i] && t->rows[i].upper >= (int64_t)r->count);
    return true;
}

static void count_uses(const ops_reader *r) {
    plan_table *t = r->base.table;
    if (t->has_uses)
        return;
    memset(t->uses, 0, t->count * sizeof *t->uses);
    for (size_t k = 0; k < r->count; k++) {
        for (size_t i = 0; i < r->operators[k].input_count; i++)
            t->uses[r->operators[k].inputs[i]]++;
        for (size_t i = 0; i < r->operators[k].output_count; i++)
            t->uses[r->operators[k].outputs[i]]++;
    }
}

static bool read_all(ops_reader *r) {
    size_t twice;
    if (!plan_index_make(r->base.table, &r->index, &twice))
        return no_memory(r);
    if (r->base.length < 3 || strncmp(r->base.text, "op,", 3) != 0)
        return plan_complain(&r->base, (plan_place){1, 1}, "expected a first line op,type,inputs,outputs");
    for (next_line(r); r->at < r->base.length; next_line(r))
        if (!at_end(r) && !read_operator(r))
            return false;
    return true;
}

bool plan_parse_ops(const char *path, const char *text, size_t length, plan_table *table, plan_graph *out,
                    masu__buffer *message) {
    ops_reader r = {.base = {path, text, length, table, message, false}, .line = 1};
    plan_skip_mark(&r.base.text, &r.base.length);
    if (!plan_check_text(&r.base) || !read_all(&r)) {
        if (r.base.out_of_memory)
            masu__buffer_printf(message, "%s: error: out of memory\n", path);
        return false;
    }
    count_uses(&r);
    *out = (plan_graph){{r.operators, r.count}, r.types, r.names, NULL};
    bool right = lives_agree(&r, out);
    if (!right && r.base.out_of_memory)
        masu__buffer_printf(message, "%s: error: out of memory\n", path);
    return right;
}

static bool works_in_place(const char *type) {
    for (size_t i = 0; i < sizeof in_place_types / sizeof *in_place_types; i++)
        if (strcasecmp(type, in_place_types[i]) == 0)
            return true;
    return false;
}

/* Input i dies here: nothing reads it later, it need not be there at the end, and it ends where the output begins. */
static bool dies_at(const plan_table *t, const plan_graph *graph, size_t input, size_t output) {
    return !graph->kept[input] && t->rows[input].upper == t->rows[output].lower + 1;
}

static bool is_view(const char *type) {
    static const char *const types[] = {"Identity", "Reshape", "Flatten", "Squeeze", "Unsqueeze"};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (strcasecmp(type, types[i]) == 0)
            return true;
    return false;
}

bool plan_list_in_place(plan_table *t, const plan_graph *graph, plan_pair **out, size_t *count) {
    size_t most = 1;
    *count = 0;
    for (size_t k = 0; k < graph->graph.count; k++)
        most += graph->graph.operators[k].input_count;
    *out = MASU_ARENA_ARRAY(&t->arena, plan_pair, most);
    for (size_t k = 0; *out && k < graph->graph.count; k++) {
        const masu_plan_operator *op = &graph->graph.operators[k];
        if (!works_in_place(graph->types[k]) || op->output_count != 1)
            continue;
        for (size_t i = 0; i < op->input_count; i++)
            if (dies_at(t, graph, op->inputs[i], op->outputs[0]) && op->inputs[i] != op->outputs[0] &&
                t->rows[op->inputs[i]].size_bytes == t->rows[op->outputs[0]].size_bytes)
                (*out)[(*count)++] = (plan_pair){op->inputs[i], op->outputs[0], is_view(graph->types[k])};
    }
    return *out != NULL;
}

bool plan_relate_in_place(plan_table *t, const plan_graph *graph) {
    plan_pair *pairs;
    size_t count;
    bool right = plan_list_in_place(t, graph, &pairs, &count);
    for (size_t i = 0; right && i < count; i++)
        right = plan_table_relate(t, MASU_PLAN_MAY_SHARE, pairs[i].giver, pairs[i].taker);
    return right;
}

uint64_t plan_traffic(const plan_table *table, const size_t *memory_of, size_t memory, size_t *count) {
    uint64_t traffic = 0, more;
    *count = 0;
    for (size_t i = 0; i < table->count; i++) {
        if (memory_of[i] != memory)
            continue;
        ++*count;
        if (__builtin_mul_overflow(table->uses[i], table->rows[i].size_bytes, &more) ||
            __builtin_add_overflow(traffic, more, &traffic))
            traffic = UINT64_MAX;
    }
    return traffic;
}
