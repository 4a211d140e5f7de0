/* network.c: rows for a network's tensors: those that the arena must hold, with their lives in the order of execution.
 *
 * Not in the arena: constants, which stay in the file, and variables, which keep their value from run to run. Sizes are
 * rounded up to the alignment, as TensorFlow Lite Micro does.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "tool/plan/network.h"

enum { TFLITE_ALIGNMENT = 16, ONNX_ALIGNMENT = 64, MOST_SAID = 8, MOST_NAMED = 16, MOST_NAME = 160 };

static int complain(const network *n, masu__buffer *why) {
    fprintf(stderr, "%s: error: %s\n", n->args->path, masu__buffer_text(why));
    masu__buffer_destroy(why);
    return TOOL_FAILED;
}

static int no_memory(const network *n) {
    fprintf(stderr, "%s: error: out of memory\n", n->args->path);
    return TOOL_FAILED;
}

/* ---- names ----------------------------------------------------------------------------------- */

static bool is_plain(masu__model_text name) {
    if (name.length == 0 || name.length > MOST_NAME || name.at[0] == '#')
        return false;
    for (size_t i = 0; i < name.length; i++)
        if ((unsigned char)name.at[i] <= ' ' || (unsigned char)name.at[i] >= 0x7f || strchr(",;\"", name.at[i]))
            return false;
    return true;
}

/* A tensor's name where it is plain, its number otherwise; both where two have one name. */
static bool name_row(network *n, size_t row, bool with_number) {
    masu__arena *arena = &n->table.arena;
    size_t tensor = n->tensor_of[row];
    masu__model_text name = tensor == SIZE_MAX ? (masu__model_text){"", 0} : n->model.tensors[tensor].name;
    if (tensor == SIZE_MAX)
        n->table.ids[row] = masu__arena_printf(arena, "#scratch%zu", row);
    else if (!is_plain(name))
        n->table.ids[row] = masu__arena_printf(arena, "#%zu", tensor);
    else if (with_number)
        n->table.ids[row] = masu__arena_printf(arena, "%.*s#%zu", MASU__MODEL_TEXT(name), tensor);
    else
        n->table.ids[row] = masu__arena_strndup(arena, name.at, name.length);
    return n->table.ids[row] != NULL;
}

static bool name_rows(network *n) {
    plan_index index;
    size_t twice;
    for (size_t row = 0; row < n->table.count; row++)
        if (!name_row(n, row, false))
            return false;
    if (plan_index_make(&n->table, &index, &twice))
        return true;
    for (size_t row = 0; row < n->table.count; row++)
        if (!name_row(n, row, true))
            return false;
    return true;
}

void network_say_operator(const network *n, const masu__model_moment *moment, masu__buffer *out) {
    const masu__model_operator *op = &n->model.graphs[moment->graph].operators[moment->index];
    if (moment->graph > 0)
        masu__buffer_printf(out, "graph %zu, ", moment->graph);
    masu__buffer_printf(out, "operator %zu ", moment->index);
    masu__model_text type = op->type.length > MOST_NAME ? (masu__model_text){op->type.at, MOST_NAME} : op->type;
    for (size_t i = 0; i < type.length; i++)
        masu__buffer_putc(out, (unsigned char)type.at[i] > ' ' && (unsigned char)type.at[i] < 0x7f ? type.at[i] : '?');
    if (is_plain(op->name))
        masu__buffer_printf(out, " %.*s", MASU__MODEL_TEXT(op->name));
}

/* ---- rows ------------------------------------------------------------------------------------ */

static uint64_t round_up(uint64_t bytes, uint64_t alignment) {
    return (bytes + alignment - 1) / alignment * alignment;
}

static bool is_used(const network *n, size_t tensor) {
    return n->model.format == MASU__MODEL_TFLITE || n->lives.tensors[tensor].last >= 0;
}

static masu_plan_row *add_row(network *n, size_t tensor, uint64_t bytes) {
    masu_plan_row *row = plan_table_add(&n->table);
    if (!row)
        return NULL;
    row->size_bytes = round_up(bytes, n->alignment);
    row->alignment_bytes = n->alignment;
    n->tensor_of[n->table.count - 1] = tensor;
    return row;
}

static const masu__model_operator *maker_of(const network *n, size_t tensor) {
    for (size_t g = 0; g < n->model.graph_count; g++)
        for (size_t k = 0; k < n->model.graphs[g].operator_count; k++)
            for (size_t i = 0; i < n->model.graphs[g].operators[k].output_count; i++)
                if (n->model.graphs[g].operators[k].outputs[i] == (int32_t)tensor)
                    return &n->model.graphs[g].operators[k];
    return NULL;
}

/* " (a dimension is open: batch; made by NonZero)" */
static void say_open(const network *n, size_t tensor, masu__buffer *why) {
    const masu__model_tensor *t = &n->model.tensors[tensor];
    const masu__model_operator *op = maker_of(n, tensor);
    masu__buffer_printf(why, " (%s",
                        t->bits == 0    ? t->type[0] == '?' ? "its type is not known" : "elements without a fixed size"
                        : !t->has_shape ? "no shape"
                                        : "a dimension is open");
    for (size_t i = 0, said = 0; t->has_shape && t->dim_names && i < t->rank; i++)
        if (t->dims[i] < 0)
            masu__buffer_printf(why, "%s%.*s", said++ ? ", " : ": ",
                                is_plain(t->dim_names[i]) ? (int)t->dim_names[i].length : 1,
                                is_plain(t->dim_names[i]) ? t->dim_names[i].at : "?");
    if (op && is_plain(op->type))
        masu__buffer_printf(why, "; made by %s%.*s", op->is_custom ? "the custom operator " : "",
                            MASU__MODEL_TEXT(op->type));
    masu__buffer_putc(why, ')');
}

/* Names a dimension of an input as --dim does: by its name, or INPUT:AXIS. False: it has a size, or no name that can be
 * typed. */
static bool name_dim(const masu__model_tensor *t, size_t axis, bool open_only, masu__buffer *out) {
    masu__model_text name = t->dim_names ? t->dim_names[axis] : (masu__model_text){0};
    if (t->dims[axis] >= 0 && (open_only || name.length == 0))
        return false;
    if (is_plain(name))
        masu__buffer_printf(out, "%.*s", MASU__MODEL_TEXT(name));
    else if (is_plain(t->name))
        masu__buffer_printf(out, "%.*s:%zu", MASU__MODEL_TEXT(t->name), axis);
    else
        return false;
    return true;
}

static bool was_said(const masu__buffer *said, const char *name) {
    size_t length = strlen(name);
    for (const char *at = masu__buffer_text(said); (at = strstr(at, name)); at += length)
        if ((at == masu__buffer_text(said) || at[-1] == ' ') && (at[length] == ',' || at[length] == '\0'))
            return true;
    return false;
}

size_t network_say_dims(const network *n, bool open_only, masu__buffer *out) {
    masu__buffer said = {0};
    size_t count = 0;
    const masu__model_graph *g = &n->model.graphs[0];
    for (size_t i = 0; i < g->input_count && count < MOST_NAMED; i++) {
        const masu__model_tensor *t = g->inputs[i] >= 0 ? &n->model.tensors[g->inputs[i]] : NULL;
        for (size_t axis = 0; t && !t->is_constant && t->has_shape && axis < t->rank && count < MOST_NAMED; axis++) {
            masu__buffer name = {0};
            if (name_dim(t, axis, open_only, &name) && !was_said(&said, masu__buffer_text(&name)))
                masu__buffer_printf(&said, "%s%s", count++ ? ", " : "", masu__buffer_text(&name));
            masu__buffer_destroy(&name);
        }
    }
    if (count > 0)
        masu__buffer_printf(out, "%s%s", masu__buffer_text(&said), count == MOST_NAMED ? ", ..." : "");
    masu__buffer_destroy(&said);
    return count;
}

static void say_how_to_close(const network *n, masu__buffer *why) {
    masu__buffer dims = {0};
    size_t count = n->model.format == MASU__MODEL_ONNX ? network_say_dims(n, true, &dims) : 0;
    if (n->model.format != MASU__MODEL_ONNX)
        masu__buffer_puts(why, "; the file must have a fixed shape for each tensor");
    else if (count == 0)
        masu__buffer_puts(why, "; no dimension of an input is open: write the shapes into the file (value_info)");
    else
        masu__buffer_printf(why, "; open in the inputs: %s: give each a number, --dim %.*s=1", masu__buffer_text(&dims),
                            (int)strcspn(masu__buffer_text(&dims), ","), masu__buffer_text(&dims));
    masu__buffer_destroy(&dims);
}

/* Lists the tensors of unknown size, up to a few. */
static bool sizes_known(network *n, masu__buffer *why) {
    size_t missing = 0;
    for (size_t i = 0; i < n->model.tensor_count; i++) {
        const masu__model_tensor *t = &n->model.tensors[i];
        if (t->has_bytes || t->is_constant || !is_used(n, i))
            continue;
        if (missing++ < MOST_SAID) {
            masu__buffer_printf(why, "%s", missing > 1 ? ", " : "cannot tell the size of ");
            if (is_plain(t->name))
                masu__buffer_printf(why, "`%.*s`", MASU__MODEL_TEXT(t->name));
            else
                masu__buffer_printf(why, "tensor %zu", i);
            say_open(n, i, why);
        }
    }
    if (missing == 0)
        return true;
    if (missing > MOST_SAID)
        masu__buffer_printf(why, " and %zu more", missing - MOST_SAID);
    say_how_to_close(n, why);
    return false;
}

static bool add_tensors(network *n) {
    for (size_t i = 0; i < n->model.tensor_count; i++) {
        const masu__model_tensor *t = &n->model.tensors[i];
        n->row_of[i] = SIZE_MAX;
        n->open_count += t->is_open && !t->is_constant;
        if (t->is_constant) {
            n->constant_count++;
            n->constant_bytes += t->has_bytes ? t->bytes : 0;
        } else if (t->is_variable) {
            n->variable_count++;
            n->variable_bytes += t->has_bytes ? round_up(t->bytes, n->alignment) : 0;
        } else if (is_used(n, i) && t->bytes > 0) {
            n->row_of[i] = n->table.count;
            if (!add_row(n, i, t->bytes))
                return false;
        }
    }
    return true;
}

/* "CONV_2D, PAD", each once, of all graphs; the first few. */
static void say_types(const network *n, masu__buffer *out) {
    size_t count = 0;
    for (size_t k = 0; k < n->lives.moment_count && count < MOST_NAMED; k++) {
        const masu__model_moment *m = &n->lives.moments[k];
        masu__buffer type = {0};
        masu__model_text name = n->model.graphs[m->graph].operators[m->index].type;
        if (is_plain(name))
            masu__buffer_printf(&type, "%.*s", MASU__MODEL_TEXT(name));
        if (is_plain(name) && !was_said(out, masu__buffer_text(&type)))
            masu__buffer_printf(out, "%s%s", count++ ? ", " : "", masu__buffer_text(&type));
        masu__buffer_destroy(&type);
    }
    if (count == MOST_NAMED)
        masu__buffer_puts(out, ", ...");
}

static bool is_called(const masu__model_operator *op, size_t index, size_t graph, const char *name) {
    size_t length = strlen(name);
    char *end;
    unsigned long long number = strtoull(name, &end, 10);
    if (*name >= '0' && *name <= '9' && *end == 0)
        return graph == 0 && number == index;
    return (op->type.length == length && memcmp(op->type.at, name, length) == 0) ||
           (op->name.length == length && memcmp(op->name.at, name, length) == 0);
}

/* One row each for what --scratch says of an operator, in the order in which kernels ask. */
static int add_scratch(network *n) {
    bool used[PLAN_MOST_SCRATCH] = {false};
    for (size_t k = 0; k < n->lives.moment_count; k++) {
        const masu__model_moment *m = &n->lives.moments[k];
        const masu__model_operator *op = &n->model.graphs[m->graph].operators[m->index];
        for (size_t s = 0; s < n->args->scratch_count; s++) {
            if (!is_called(op, m->index, m->graph, n->args->scratch[s].name))
                continue;
            used[s] = true;
            n->scratch_at[n->table.count] = k;
            if (!add_row(n, SIZE_MAX, n->args->scratch[s].bytes))
                return no_memory(n);
            n->scratch_count++;
        }
    }
    for (size_t s = 0; s < n->args->scratch_count; s++)
        if (!used[s]) {
            masu__buffer types = {0};
            say_types(n, &types);
            fprintf(stderr, "masu plan: --scratch %s: no operator has this number, type or name; types are: %s\n",
                    n->args->scratch[s].name, masu__buffer_text(&types));
            masu__buffer_destroy(&types);
            return TOOL_FAILED;
        }
    return TOOL_OK;
}

static void set_lives(network *n) {
    for (size_t row = 0; row < n->table.count; row++) {
        size_t tensor = n->tensor_of[row];
        masu_plan_row *r = &n->table.rows[row];
        if (row >= n->constants_begin) {
            r->lower = 0; /* there all the time */
            r->upper = n->lives.end + 1;
        } else if (tensor != SIZE_MAX) {
            r->lower = n->lives.tensors[tensor].first;
            r->upper = n->lives.tensors[tensor].last + 1;
        } else {
            r->lower = n->lives.moments[n->scratch_at[row]].begin;
            r->upper = n->lives.moments[n->scratch_at[row]].end + 1;
        }
    }
}

static void mark_kept(network *n) {
    for (size_t g = 0; g < n->model.graph_count; g++)
        for (size_t i = 0; i < n->model.graphs[g].output_count; i++) {
            int32_t tensor = n->model.graphs[g].outputs[i];
            if (tensor >= 0 && n->row_of[tensor] != SIZE_MAX)
                n->kept[n->row_of[tensor]] = true;
        }
}

static void count_uses(network *n) {
    memset(n->table.uses, 0, n->table.count * sizeof *n->table.uses);
    for (size_t k = 0; k < n->lives.moment_count; k++) {
        const masu__model_operator *op =
            &n->model.graphs[n->lives.moments[k].graph].operators[n->lives.moments[k].index];
        for (size_t i = 0; i < op->input_count; i++)
            if (op->inputs[i] >= 0 && n->row_of[op->inputs[i]] != SIZE_MAX)
                n->table.uses[n->row_of[op->inputs[i]]]++;
        for (size_t i = 0; i < op->output_count; i++)
            if (op->outputs[i] >= 0 && n->row_of[op->outputs[i]] != SIZE_MAX)
                n->table.uses[n->row_of[op->outputs[i]]]++;
    }
    for (size_t row = 0; row < n->table.count; row++)
        if (n->tensor_of[row] == SIZE_MAX)
            n->table.uses[row] = 2;
}

/* A custom operator may have tensors that lie in each other by its own plan: an accelerator's arena with input and
 * output. */
const masu__model_moment *network_custom_of(const network *n, size_t a, size_t b) {
    for (size_t k = 0; k < n->lives.moment_count; k++) {
        const masu__model_operator *op =
            &n->model.graphs[n->lives.moments[k].graph].operators[n->lives.moments[k].index];
        bool has_a = false, has_b = false;
        for (size_t i = 0; op->is_custom && i < op->input_count + op->output_count; i++) {
            int32_t tensor = i < op->input_count ? op->inputs[i] : op->outputs[i - op->input_count];
            has_a = has_a || (tensor >= 0 && n->row_of[tensor] == a);
            has_b = has_b || (tensor >= 0 && n->row_of[tensor] == b);
        }
        if (has_a && has_b)
            return &n->lives.moments[k];
    }
    return NULL;
}

bool network_has_offline(const network *n) {
    const masu__model_offline *o = &n->model.offline;
    return o->is_there && o->byte_count >= 12 && o->count >= 0 && (size_t)o->count == n->model.tensor_count &&
           o->offset_count >= (size_t)o->count;
}

/* Tensors of a custom operator that the file's plan puts at one offset stay together. */
static bool bind_custom(network *n) {
    for (size_t k = 0; network_has_offline(n) && k < n->lives.moment_count; k++) {
        const masu__model_operator *op =
            &n->model.graphs[n->lives.moments[k].graph].operators[n->lives.moments[k].index];
        size_t count = op->is_custom ? op->input_count + op->output_count : 0, first = SIZE_MAX;
        for (size_t i = 0; i < count; i++) {
            int32_t tensor = i < op->input_count ? op->inputs[i] : op->outputs[i - op->input_count];
            size_t row = tensor >= 0 ? n->row_of[tensor] : SIZE_MAX;
            if (row == SIZE_MAX || row == first || n->model.offline.offsets[tensor] < 0)
                continue;
            if (first == SIZE_MAX)
                first = row;
            else if (n->model.offline.offsets[tensor] == n->model.offline.offsets[n->tensor_of[first]] &&
                     !plan_table_relate(&n->table, MASU_PLAN_MUST_SHARE, first, row))
                return false;
        }
    }
    n->bound_count = n->table.relation_count;
    return true;
}

/* Operators of the main graph may change places when each makes its own tensors and none has effects beside them. */
static void judge_order(network *n) {
    const masu__model_graph *g = &n->model.graphs[0];
    size_t makers = 0, outputs = 0;
    for (size_t k = 0; k < g->operator_count; k++) {
        if (g->operators[k].body_count > 0)
            n->fixed_why = "an operator runs other graphs";
        else if (!masu__model_may_move(&n->model, &g->operators[k]) && !n->fixed_why)
            n->fixed_why = "an operator is custom, keeps a state or draws random numbers";
        outputs += g->operators[k].output_count;
    }
    bool *made = masu__arena_calloc(&n->table.arena, n->model.tensor_count + 1, sizeof *made, 16);
    for (size_t k = 0; made && k < g->operator_count; k++)
        for (size_t i = 0; i < g->operators[k].output_count; i++) {
            int32_t tensor = g->operators[k].outputs[i];
            makers += tensor < 0 || !made[tensor];
            if (tensor >= 0)
                made[tensor] = true;
        }
    if (!n->fixed_why && makers != outputs)
        n->fixed_why = "two operators make the same tensor";
}

int network_make(network *n, const plan_arguments *args) {
    masu__buffer why = {0};
    n->args = args;
    n->alignment = args->alignment                         ? args->alignment
                   : n->model.format == MASU__MODEL_TFLITE ? TFLITE_ALIGNMENT
                                                           : ONNX_ALIGNMENT;
    if (!masu__model_lives_find(&n->model, NULL, &n->lives, &why) || !sizes_known(n, &why))
        return complain(n, &why);
    size_t rows = n->model.tensor_count + n->lives.moment_count * args->scratch_count + 1;
    n->row_of = masu__arena_calloc(&n->table.arena, n->model.tensor_count + 1, sizeof *n->row_of, 16);
    n->tensor_of = masu__arena_calloc(&n->table.arena, rows, sizeof *n->tensor_of, 16);
    n->scratch_at = masu__arena_calloc(&n->table.arena, rows, sizeof *n->scratch_at, 16);
    n->kept = masu__arena_calloc(&n->table.arena, rows, sizeof *n->kept, 16);
    if (!n->row_of || !n->tensor_of || !n->scratch_at || !n->kept || !add_tensors(n))
        return no_memory(n);
    n->scratch_begin = n->table.count;
    n->constants_begin = SIZE_MAX;
    int status = add_scratch(n);
    if (status != TOOL_OK)
        return status;
    if (!name_rows(n) || !bind_custom(n))
        return no_memory(n);
    set_lives(n);
    mark_kept(n);
    count_uses(n);
    judge_order(n);
    return TOOL_OK;
}

static bool is_read(const network *n, size_t tensor) {
    for (size_t k = 0; k < n->lives.moment_count; k++) {
        const masu__model_operator *op =
            &n->model.graphs[n->lives.moments[k].graph].operators[n->lives.moments[k].index];
        for (size_t i = 0; i < op->input_count; i++)
            if (op->inputs[i] == (int32_t)tensor)
                return true;
    }
    return false;
}

bool network_add_constants(network *n) {
    n->constants_begin = n->table.count;
    for (size_t i = 0; i < n->model.tensor_count; i++) {
        const masu__model_tensor *t = &n->model.tensors[i];
        if (!t->is_constant || !t->has_bytes || t->bytes == 0 || n->row_of[i] != SIZE_MAX || !is_read(n, i))
            continue;
        n->row_of[i] = n->table.count;
        if (!add_row(n, i, t->bytes))
            return false;
    }
    set_lives(n);
    return name_rows(n);
}

void network_free(network *n) {
    plan_table_free(&n->table);
    masu__model_free(&n->model);
}

/* ---- orders and relations -------------------------------------------------------------------- */

/* Scratch follows its operator. */
bool network_set_order(network *n, const size_t *order) {
    masu__buffer why = {0};
    const masu__model_moment *old = n->lives.moments;
    size_t *at = n->scratch_at;
    masu__model_lives lives;
    bool right = masu__model_lives_find(&n->model, order, &lives, &why);
    masu__buffer_destroy(&why);
    if (!right)
        return false;
    for (size_t row = n->scratch_begin; row < n->scratch_begin + n->scratch_count; row++)
        for (size_t k = 0; k < lives.moment_count; k++)
            if (lives.moments[k].graph == old[at[row]].graph && lives.moments[k].index == old[at[row]].index) {
                at[row] = k;
                break;
            }
    n->lives = lives;
    set_lives(n);
    return true;
}

static bool may_share(const network *n, const masu__model_moment *m, const masu__model_operator *op, size_t input) {
    int32_t from = op->inputs[input], to = op->outputs[0];
    if (from < 0 || to < 0 || from == to || n->row_of[from] == SIZE_MAX || n->row_of[to] == SIZE_MAX)
        return false;
    const masu__model_tensor *a = &n->model.tensors[from], *b = &n->model.tensors[to];
    const masu_plan_row *x = &n->table.rows[n->row_of[from]], *y = &n->table.rows[n->row_of[to]];
    masu__model_sharing sharing = masu__model_sharing_of(&n->model, op, input);
    if (sharing == MASU__MODEL_APART || a->bytes != b->bytes || a->bits != b->bits || a->graph != m->graph ||
        b->graph != m->graph || y->lower != m->begin || m->begin != m->end)
        return false;
    bool dies = x->upper == y->lower + 1 && !n->kept[n->row_of[from]];
    return dies || (sharing == MASU__MODEL_VIEW && x->upper > y->lower + 1 && m->graph == 0);
}

void network_unrelate(network *n) {
    n->table.relation_count = n->bound_count;
}

bool network_list_in_place(network *n, plan_pair **out, size_t *count) {
    size_t most = 1;
    *count = 0;
    for (size_t k = 0; k < n->lives.moment_count; k++)
        most += n->model.graphs[n->lives.moments[k].graph].operators[n->lives.moments[k].index].input_count;
    *out = MASU_ARENA_ARRAY(&n->table.arena, plan_pair, most);
    for (size_t k = 0; *out && k < n->lives.moment_count; k++) {
        const masu__model_moment *m = &n->lives.moments[k];
        const masu__model_operator *op = &n->model.graphs[m->graph].operators[m->index];
        bool single = op->output_count >= 1;
        for (size_t i = 1; i < op->output_count; i++)
            single = single && (op->outputs[i] < 0 || n->row_of[op->outputs[i]] == SIZE_MAX);
        for (size_t i = 0; single && i < op->input_count; i++)
            if (may_share(n, m, op, i))
                (*out)[(*count)++] = (plan_pair){n->row_of[op->inputs[i]], n->row_of[op->outputs[0]],
                                                 masu__model_sharing_of(&n->model, op, i) == MASU__MODEL_VIEW};
    }
    return *out != NULL;
}

bool network_relate(network *n) {
    plan_pair *pairs;
    size_t count;
    network_unrelate(n);
    bool right = network_list_in_place(n, &pairs, &count);
    for (size_t i = 0; right && i < count; i++)
        right = plan_table_relate(&n->table, MASU_PLAN_MAY_SHARE, pairs[i].giver, pairs[i].taker);
    return right;
}
