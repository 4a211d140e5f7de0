/* network_range.c: a network with a dimension that is not one number: offsets that hold for each value of a range, or
 * the largest value whose arena fits.
 *
 *     size(v)   <= size(low) + slope × (v − low)          for each value v of the range: all of them are read
 *     offset(v)  = base      + step  × (v − low)
 *
 * The plan for the highest value says which of two buffers that live together lies below. Along these pairs bases are
 * the longest path of sizes at the lowest value, steps the longest path of slopes: then base + step × (v − low) of the
 * upper is at least that of the lower and its size, for every v. Both are multiples of the alignment.
 *
 * In place, what shares an offset in that plan has one form; only what may share for each value is tried. An order of
 * operators is looked for at the highest value and is that of all.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/meta.h"
#include "tool/plan/network.h"

enum { MOST_VALUE = 1 << 20 };

typedef struct form {
    uint64_t base, step;
} form;

typedef struct range {
    const plan_arguments *args;
    const tool_text *text;
    network low;
    form *sizes, *offsets;
    uint64_t *at_high; /* offsets of the plan for the highest value */
    size_t *order;     /* of the operators; NULL: as they are */
    bool *holds;       /* per relation of low: for all values so far */
    size_t *leader;    /* per row: the row whose form it has */
    form height;
    masu_plan_result low_result, high_result;
} range;

static const masu__model_dim *open_dim(const plan_arguments *a) {
    return &a->dims[a->ranged];
}

/* The network with this value. The caller frees it in either case. */
static int load(const plan_arguments *args, const tool_text *text, int64_t value, network *n) {
    masu__buffer why = {0};
    masu__model_dim dims[PLAN_MOST_DIMS];
    *n = (network){.args = args};
    memcpy(dims, args->dims, sizeof dims);
    dims[args->ranged].size = value;
    if (!masu__model_read(MASU__MODEL_ONNX, text->data ? text->data : "", text->length, dims, args->dim_count,
                          &n->model, &why)) {
        fprintf(stderr, "%s: error: %s\n", args->path, masu__buffer_text(&why));
        masu__buffer_destroy(&why);
        return TOOL_FAILED;
    }
    int status = network_check_dims(n, dims);
    return status == TOOL_OK ? network_make(n, args) : status;
}

static int failed(masu_status status);

/* In the order of all, with what may be done in place. */
static int load_as_asked(const range *r, int64_t value, network *n) {
    int status = load(r->args, r->text, value, n);
    if (status == TOOL_OK && r->order && !network_set_order(n, r->order))
        status = failed(MASU_ERR_OUT_OF_MEMORY);
    if (status == TOOL_OK && r->args->in_place && !network_relate(n))
        status = failed(MASU_ERR_OUT_OF_MEMORY);
    return status;
}

static int failed(masu_status status) {
    fprintf(stderr, "masu plan: %s\n", masu_status_text(status));
    return TOOL_FAILED;
}

static masu_status solve(const network *n, uint64_t *offsets, masu_plan_result *result) {
    masu_plan_options options = masu_plan_options_default();
    options.time_limit_s = n->args->time_s / 2;
    options.seed = n->args->seed;
    options.threads = (unsigned)n->args->threads;
    masu_plan_problem problem = {n->table.rows, n->table.count, n->table.relations, n->table.relation_count, 0};
    return masu_plan_find(&problem, &options, offsets, result);
}

/* ---- forms ----------------------------------------------------------------------------------- */

/* Whether the same buffers live at the same moments; and slopes that cover this value, too. */
static bool cover(range *r, const network *n, int64_t value) {
    uint64_t width = (uint64_t)(value - r->args->range_low);
    if (n->table.count != r->low.table.count)
        return false;
    for (size_t i = 0; i < n->table.count; i++) {
        const masu_plan_row *row = &n->table.rows[i], *low = &r->low.table.rows[i];
        if (row->lower != low->lower || row->upper != low->upper || n->tensor_of[i] != r->low.tensor_of[i])
            return false;
        if (row->size_bytes <= low->size_bytes)
            continue;
        uint64_t slope = (row->size_bytes - low->size_bytes + width - 1) / width;
        slope = (slope + n->alignment - 1) / n->alignment * n->alignment;
        r->sizes[i].step = slope > r->sizes[i].step ? slope : r->sizes[i].step;
    }
    return true;
}

/* The in-place choices that hold for this value, too: both lists have the order of the operators. */
static void keep_common(range *r, const network *n) {
    const plan_table *low = &r->low.table, *other = &n->table;
    for (size_t k = 0, i = 0; k < low->relation_count; k++) {
        size_t at = i;
        while (at < other->relation_count &&
               (other->relations[at].a != low->relations[k].a || other->relations[at].b != low->relations[k].b))
            at++;
        r->holds[k] = r->holds[k] && at < other->relation_count;
        i = at < other->relation_count ? at + 1 : i;
    }
}

/* Only these are planned with. */
static void use_common(const range *r, network *n) {
    size_t kept = 0;
    for (size_t k = 0; k < r->low.table.relation_count; k++)
        if (r->holds[k])
            n->table.relations[kept++] = r->low.table.relations[k];
    n->table.relation_count = kept;
}

static size_t leader_of(const range *r, size_t row) {
    while (r->leader[row] != row)
        row = r->leader[row];
    return row;
}

/* Rows that share in the plan for the highest value. */
static void group(range *r) {
    for (size_t i = 0; i < r->low.table.count; i++)
        r->leader[i] = i;
    for (size_t k = 0; k < r->low.table.relation_count; k++) {
        const masu_plan_relation *relation = &r->low.table.relations[k];
        if (r->holds[k] && r->at_high[relation->a] == r->at_high[relation->b])
            r->leader[leader_of(r, relation->a)] = leader_of(r, relation->b);
    }
}

typedef struct placed {
    uint64_t offset;
    size_t row;
} placed;

static int by_offset(const void *x, const void *y) {
    const placed *a = x, *b = y;
    if (a->offset != b->offset)
        return a->offset < b->offset ? -1 : 1;
    return a->row < b->row ? -1 : a->row > b->row;
}

static void raise(form *at, form to) {
    at->base = to.base > at->base ? to.base : at->base;
    at->step = to.step > at->step ? to.step : at->step;
}

static form end_of(const range *r, size_t row) {
    return (form){r->offsets[row].base + r->sizes[row].base, r->offsets[row].step + r->sizes[row].step};
}

/* One row above those that lie below it: order[0 … count - 1]. */
static void lift(range *r, const placed *order, size_t count, size_t upper) {
    const masu_plan_row *rows = r->low.table.rows;
    for (size_t i = 0; i < count; i++) {
        const masu_plan_row *below = &rows[order[i].row];
        if (below->lower < rows[upper].upper && rows[upper].lower < below->upper)
            raise(&r->offsets[leader_of(r, upper)], end_of(r, order[i].row));
    }
}

/* Those at one offset at a time: rows of one group are among them. */
static bool make_forms(range *r) {
    size_t count = r->low.table.count;
    placed *order = masu__arena_calloc(&r->low.table.arena, count + 1, sizeof *order, 16);
    if (!order)
        return false;
    group(r);
    for (size_t i = 0; i < count; i++)
        order[i] = (placed){r->at_high[i], i};
    qsort(order, count, sizeof *order, by_offset);
    for (size_t k = 0, end; k < count; k = end) {
        for (end = k; end < count && order[end].offset == order[k].offset; end++)
            lift(r, order, k, order[end].row);
        for (size_t i = k; i < end; i++) {
            r->offsets[order[i].row] = r->offsets[leader_of(r, order[i].row)];
            raise(&r->height, end_of(r, order[i].row));
        }
    }
    return true;
}

static uint64_t value_of(form f, const range *r, int64_t value) {
    return f.base + f.step * (uint64_t)(value - r->args->range_low);
}

/* The judge at one value. */
static masu_status judge(range *r, const network *n, int64_t value) {
    plan_judgement judgement = {0};
    masu_plan_problem problem = {n->table.rows, n->table.count, n->table.relations, n->table.relation_count, 0};
    for (size_t i = 0; i < n->table.count; i++)
        r->at_high[i] = value_of(r->offsets[i], r, value);
    masu_status status = plan_judge_windows(&problem, r->at_high, value_of(r->height, r, value), &judgement);
    return status == MASU_OK && judgement.verdict != MASU_PLAN_FINE ? MASU_ERR_INTERNAL : status;
}

/* ---- saying ---------------------------------------------------------------------------------- */

/* "12,288 + 4,096 × batch" */
static void put_form(const range *r, form f, masu__buffer *out) {
    int64_t base = (int64_t)f.base - (int64_t)f.step * r->args->range_low;
    if (base < 0)
        masu__buffer_putc(out, '-');
    if (base != 0 || f.step == 0)
        masu__buffer_put_grouped(out, (uint64_t)(base < 0 ? -base : base));
    if (f.step > 0) {
        masu__buffer_puts(out, base != 0 ? " + " : "");
        masu__buffer_put_grouped(out, f.step);
        masu__buffer_printf(out, " × %.*s", MASU__MODEL_TEXT(open_dim(r->args)->name));
    }
}

static void put_end(const range *r, int64_t value, const masu_plan_result *result, masu__buffer *out) {
    masu__buffer_printf(out, "  %.*s = %" PRId64 ": ", MASU__MODEL_TEXT(open_dim(r->args)->name), value);
    masu__buffer_put_grouped(out, value_of(r->height, r, value));
    masu__buffer_puts(out, " bytes; planned for this value alone ");
    masu__buffer_put_grouped(out, result->height_bytes);
    masu__buffer_printf(out, "%s\n", result->optimal ? ", proven: none is lower" : "");
}

static void put_order(const range *r, masu__buffer *out) {
    masu__buffer_puts(out, "  order:");
    for (size_t k = 0; r->order && k < r->low.model.graphs[0].operator_count; k++)
        masu__buffer_printf(out, " %zu", r->order[k]);
    masu__buffer_puts(out, r->order ? "\n" : " as it is, no other is lower\n");
}

static void put_text(const range *r, masu__buffer *out) {
    const plan_arguments *a = r->args;
    masu__buffer_printf(
        out, "%s: %zu tensors, offsets for each value of %.*s from %" PRId64 " to %" PRId64 "\n  arena: ", a->path,
        r->low.table.count, MASU__MODEL_TEXT(open_dim(a)->name), a->range_low, a->range_high);
    put_form(r, r->height, out);
    masu__buffer_puts(out, " bytes\n");
    put_end(r, a->range_low, &r->low_result, out);
    put_end(r, a->range_high, &r->high_result, out);
    if (a->reorder)
        put_order(r, out);
    for (size_t i = 0; i < r->low.table.count; i++) {
        masu__buffer_printf(out, "  %s at ", r->low.table.ids[i]);
        put_form(r, r->offsets[i], out);
        masu__buffer_putc(out, '\n');
    }
}

static void put_json_form(const char *name, form f, masu__buffer *out) {
    masu__buffer_printf(out, "\"%s\": {\"base\": %" PRIu64 ", \"step\": %" PRIu64 "}", name, f.base, f.step);
}

/* Each size is base + step × (value − low). */
static void put_json(const range *r, masu__buffer *out) {
    const plan_arguments *a = r->args;
    masu__buffer_puts(out, "{\n  \"dim\": ");
    masu__buffer_json_string(out, open_dim(a)->name.at, open_dim(a)->name.length);
    masu__buffer_printf(out, ",\n  \"low\": %" PRId64 ",\n  \"high\": %" PRId64 ",\n  ", a->range_low, a->range_high);
    put_json_form("arena", r->height, out);
    for (size_t k = 0; r->order && k < r->low.model.graphs[0].operator_count; k++)
        masu__buffer_printf(out, "%s%zu", k ? ", " : ",\n  \"order\": [", r->order[k]);
    masu__buffer_puts(out, r->order ? "],\n  \"buffers\": [" : ",\n  \"buffers\": [");
    for (size_t i = 0; i < r->low.table.count; i++) {
        masu__buffer_printf(out, "%s\n    {\"id\": ", i ? "," : "");
        masu__buffer_json_string(out, r->low.table.ids[i], strlen(r->low.table.ids[i]));
        masu__buffer_puts(out, ", ");
        put_json_form("size", r->sizes[i], out);
        masu__buffer_puts(out, ", ");
        put_json_form("offset", r->offsets[i], out);
        masu__buffer_putc(out, '}');
    }
    masu__buffer_puts(out, "\n  ]\n}\n");
}

static int say(const range *r) {
    masu__buffer out = {0};
    if (r->args->json)
        put_json(r, &out);
    else if (!r->args->quiet)
        put_text(r, &out);
    bool whole = !out.failed;
    fputs(masu__buffer_text(&out), stdout);
    masu__buffer_destroy(&out);
    return whole ? TOOL_OK : failed(MASU_ERR_OUT_OF_MEMORY);
}

/* ---- a range --------------------------------------------------------------------------------- */

static int differs(const range *r, int64_t value) {
    fprintf(stderr,
            "masu plan: with %.*s = %" PRId64
            " other tensors are in the arena, or live at other moments, than with %" PRId64 "\n",
            MASU__MODEL_TEXT(open_dim(r->args)->name), value, r->args->range_low);
    return TOOL_FAILED;
}

/* Every value between is read once: what shapes become is the file's to say. */
static int read_between(range *r) {
    for (int64_t value = r->args->range_low + 1; value <= r->args->range_high; value++) {
        network n;
        int status = load_as_asked(r, value, &n);
        if (status == TOOL_OK && !cover(r, &n, value))
            status = differs(r, value);
        keep_common(r, &n);
        if (status == TOOL_OK && value == r->args->range_high) {
            use_common(r, &n);
            masu_status solved = solve(&n, r->at_high, &r->high_result);
            status = solved == MASU_OK ? TOOL_OK : failed(solved);
        }
        network_free(&n);
        if (status != TOOL_OK)
            return status;
    }
    return TOOL_OK;
}

static int judge_between(range *r) {
    int64_t low = r->args->range_low, high = r->args->range_high;
    const int64_t values[] = {low, low + (high - low) / 2, high};
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        network n;
        int status = load_as_asked(r, values[i], &n);
        masu_status judged = status == TOOL_OK ? judge(r, &n, values[i]) : MASU_OK;
        network_free(&n);
        if (status != TOOL_OK || judged != MASU_OK)
            return status != TOOL_OK ? status : failed(judged);
    }
    return TOOL_OK;
}

static int plan_range(range *r) {
    size_t count = r->low.table.count;
    masu__arena *arena = &r->low.table.arena;
    r->sizes = masu__arena_calloc(arena, count + 1, sizeof *r->sizes, 16);
    r->offsets = masu__arena_calloc(arena, count + 1, sizeof *r->offsets, 16);
    r->at_high = masu__arena_calloc(arena, count + 1, sizeof *r->at_high, 16);
    r->holds = masu__arena_calloc(arena, r->low.table.relation_count + 1, sizeof *r->holds, 16);
    r->leader = masu__arena_calloc(arena, count + 1, sizeof *r->leader, 16);
    if (!r->sizes || !r->offsets || !r->at_high || !r->holds || !r->leader)
        return failed(MASU_ERR_OUT_OF_MEMORY);
    memset(r->holds, 1, r->low.table.relation_count * sizeof *r->holds);
    for (size_t i = 0; i < count; i++)
        r->sizes[i].base = r->low.table.rows[i].size_bytes;
    masu_status solved = solve(&r->low, r->at_high, &r->low_result);
    if (solved != MASU_OK)
        return failed(solved);
    r->high_result = r->low_result;
    int status = read_between(r);
    if (status == TOOL_OK && !make_forms(r))
        status = failed(MASU_ERR_OUT_OF_MEMORY);
    if (status == TOOL_OK)
        status = judge_between(r);
    return status == TOOL_OK ? say(r) : status;
}

/* ---- the largest value ------------------------------------------------------------------------ */

/* TOOL_OK with the chosen way's height, or a failure that has been said. */
static int height_of(const plan_arguments *args, const tool_text *text, int64_t value, masu_plan_result *out) {
    network n;
    network_plans plans;
    int status = load(args, text, value, &n);
    if (status == TOOL_OK) {
        masu_status planned = network_plan_all(&n, &plans);
        if (planned == MASU_OK)
            *out = network_chosen(&n, &plans)->result;
        else
            status = failed(planned);
    }
    network_free(&n);
    return status;
}

/* Doubles until it does not fit, then halves the distance. */
static int largest(const plan_arguments *args, const tool_text *text) {
    masu_plan_result result = {0}, best = {0}, over = {0};
    int64_t fits = 0, fails = MOST_VALUE + 1;
    for (int64_t value = 1; fails - fits > 1;
         value = fails > MOST_VALUE ? (2 * fits > MOST_VALUE ? MOST_VALUE : 2 * fits) : fits + (fails - fits) / 2) {
        int status = height_of(args, text, value, &result);
        if (status != TOOL_OK)
            return status;
        if (result.height_bytes <= args->capacity)
            fits = value, best = result;
        else
            fails = value, over = result;
    }
    const masu__model_text name = open_dim(args)->name;
    if (fits == 0) {
        fprintf(stderr, "masu plan: not even %.*s = 1 fits: ", MASU__MODEL_TEXT(name));
        plan_say_bytes(stderr, over.height_bytes);
        fprintf(stderr, " are needed\n");
        return TOOL_FAILED;
    }
    if (args->quiet)
        return TOOL_OK;
    printf("%.*s = %" PRId64 " fits: ", MASU__MODEL_TEXT(name), fits);
    plan_say_bytes(stdout, best.height_bytes);
    if (fails <= MOST_VALUE) {
        printf("; %" PRId64 " does not%s: ", fails,
               over.lower_bound_bytes > args->capacity ? ", proven" : " as far as was found");
        plan_say_bytes(stdout, over.height_bytes);
    }
    printf("\n");
    return TOOL_OK;
}

/* For the network with the highest value, which owns it. */
static int find_order(range *r, network *high) {
    network_plans plans;
    int status = load(r->args, r->text, r->args->range_high, high);
    masu_status planned = status == TOOL_OK ? network_plan_all(high, &plans) : MASU_OK;
    if (status == TOOL_OK && planned != MASU_OK)
        status = failed(planned);
    if (status == TOOL_OK)
        r->order = network_chosen(high, &plans)->order;
    return status;
}

int network_run_range(const plan_arguments *args, const tool_text *text) {
    range r = {.args = args, .text = text};
    if (args->range_high == 0)
        return largest(args, text);
    network high = {0};
    int status = args->reorder ? find_order(&r, &high) : TOOL_OK;
    if (status == TOOL_OK)
        status = load_as_asked(&r, args->range_low, &r.low);
    if (status == TOOL_OK)
        status = plan_range(&r);
    network_free(&r.low);
    network_free(&high);
    return status;
}
