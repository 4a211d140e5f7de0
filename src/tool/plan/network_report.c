/* network_report.c: one table for a network: what its runtime needs, what is needed at least, and what makes the
 * peak. */
#include <inttypes.h>
#include <string.h>

#include "tool/plan/network.h"

enum { MOST_SHOWN = 12 };

/* ---- the peak -------------------------------------------------------------------------------- */

typedef struct peak {
    int64_t moment;
    uint64_t load;                /* of what lives then */
    uint64_t next;                /* the highest load at a moment in which another operator runs */
    const masu__model_moment *op; /* NULL: before the first operator */
} peak;

static const masu__model_moment *operator_at(const network *n, int64_t moment) {
    const masu__model_moment *found = NULL;
    for (size_t k = 0; k < n->lives.moment_count; k++)
        if (n->lives.moments[k].begin <= moment && moment <= n->lives.moments[k].end)
            found = &n->lives.moments[k];
    return found;
}

/* Loads of all moments by differences; false: memory. */
static bool find_peak(const network *n, masu__arena *arena, peak *out) {
    size_t moments = (size_t)(n->lives.end + 3);
    int64_t *change = masu__arena_calloc(arena, moments, sizeof *change, 16), load = 0;
    *out = (peak){.moment = -1};
    if (!change)
        return false;
    for (size_t row = 0; row < n->table.count; row++) {
        change[n->table.rows[row].lower + 1] += (int64_t)n->table.rows[row].size_bytes;
        change[n->table.rows[row].upper + 1] -= (int64_t)n->table.rows[row].size_bytes;
    }
    for (size_t m = 0; m < moments; m++) {
        load += change[m];
        if ((uint64_t)load > out->load) {
            out->next = out->load;
            out->load = (uint64_t)load;
            out->moment = (int64_t)m - 1;
        } else if ((uint64_t)load > out->next) {
            out->next = (uint64_t)load;
        }
    }
    out->op = operator_at(n, out->moment);
    return true;
}

static bool is_alive(const network *n, size_t row, int64_t moment) {
    return n->table.rows[row].lower <= moment && moment < n->table.rows[row].upper;
}

/* The largest of those alive that comes after the one before. */
static size_t next_largest(const network *n, int64_t moment, size_t before) {
    size_t best = SIZE_MAX;
    for (size_t row = 0; row < n->table.count; row++) {
        uint64_t size = n->table.rows[row].size_bytes;
        if (!is_alive(n, row, moment))
            continue;
        if (before != SIZE_MAX &&
            (size > n->table.rows[before].size_bytes || (size == n->table.rows[before].size_bytes && row <= before)))
            continue;
        if (best == SIZE_MAX || size > n->table.rows[best].size_bytes)
            best = row;
    }
    return best;
}

static void put_bytes(masu__buffer *out, uint64_t bytes) {
    masu__buffer_put_grouped(out, bytes);
    masu__buffer_puts(out, " bytes");
    if (bytes >= 1024) {
        masu__buffer_puts(out, " (");
        masu__buffer_put_bytes(out, bytes);
        masu__buffer_putc(out, ')');
    }
}

static void put_tensor(const network *n, size_t row, const peak *p, masu__buffer *out) {
    const masu_plan_row *r = &n->table.rows[row];
    size_t tensor = n->tensor_of[row], start = out->length;
    masu__buffer_puts(out, "  ");
    masu__buffer_put_grouped(out, r->size_bytes);
    for (size_t width = out->length - start; width < 14; width++)
        masu__buffer_putc(out, ' ');
    masu__buffer_printf(out, "  %s", n->table.ids[row]);
    if (tensor == SIZE_MAX) {
        masu__buffer_puts(out, ": scratch\n");
        return;
    }
    const masu__model_tensor *t = &n->model.tensors[tensor];
    masu__buffer_printf(out, ": %s", t->type);
    for (size_t i = 0; i < t->rank; i++)
        masu__buffer_printf(out, "%s%" PRId64, i ? "x" : " ", t->dims[i]);
    const masu__model_moment *from = operator_at(n, r->lower), *to = operator_at(n, r->upper - 1);
    if (r->lower <= 0 || !from)
        masu__buffer_puts(out, ", an input");
    else if (r->lower < p->moment)
        masu__buffer_puts(out, ", made by "), network_say_operator(n, from, out);
    if (n->kept[row])
        masu__buffer_puts(out, ", a result");
    else if (r->upper - 1 > p->moment && to)
        masu__buffer_puts(out, ", waits for "), network_say_operator(n, to, out);
    masu__buffer_putc(out, '\n');
}

static void put_advice(const network *n, const network_plans *plans, const peak *p, masu__buffer *out) {
    const network_plan *plain = &plans->ways[NETWORK_PLANNED];
    masu__buffer_puts(out, "What lowers it:\n");
    for (size_t w = NETWORK_IN_PLACE; w < NETWORK_WAYS; w++) {
        const network_plan *way = &plans->ways[w];
        if (!way->is_there)
            continue;
        masu__buffer_printf(out, "  %s%s%s: ", way->reordered ? "--reorder" : "",
                            way->reordered && way->in_place ? " " : "", way->in_place ? "--in-place" : "");
        if (way->result.height_bytes < plain->result.height_bytes) {
            put_bytes(out, plain->result.height_bytes - way->result.height_bytes);
            masu__buffer_printf(out, " less (%.1f %%)\n",
                                100 * (1 - (double)way->result.height_bytes / (double)plain->result.height_bytes));
        } else {
            masu__buffer_puts(out, "nothing\n");
        }
    }
    if (n->fixed_why)
        masu__buffer_printf(out, "  --reorder: not tried: %s\n", n->fixed_why);
    else if (!plans->ways[NETWORK_REORDERED].is_there)
        masu__buffer_puts(out, "  --reorder: no order with a lower peak was found\n");
    if (p->op) {
        masu__buffer_puts(out, "  a smaller ");
        network_say_operator(n, p->op, out);
        masu__buffer_puts(out, ": at most ");
        put_bytes(out, p->load - p->next);
        masu__buffer_puts(out, " less, then another moment is the highest\n");
    }
}

/* ---- text ------------------------------------------------------------------------------------ */

static const char *plural(size_t count) {
    return count == 1 ? "" : "s";
}

static void put_head(const network *n, masu__buffer *out) {
    size_t operators = n->lives.moment_count, tensors = n->table.count - n->scratch_count;
    masu__buffer_printf(out, "%s: %s, %zu graph%s, %zu operator%s, %zu tensor%s in the arena, aligned to %" PRIu64 "\n",
                        n->args->path, n->model.format == MASU__MODEL_TFLITE ? "TensorFlow Lite" : "ONNX",
                        n->model.graph_count, plural(n->model.graph_count), operators, plural(operators), tensors,
                        plural(tensors), n->alignment);
    masu__buffer_printf(out, "Not in it: %zu constants (", n->constant_count);
    put_bytes(out, n->constant_bytes);
    masu__buffer_puts(out, ")");
    if (n->variable_count > 0) {
        masu__buffer_printf(out, ", %zu variables, which keep their values (", n->variable_count);
        put_bytes(out, n->variable_bytes);
        masu__buffer_puts(out, ")");
    }
    masu__buffer_puts(out,
                      n->scratch_count == 0 && n->model.format == MASU__MODEL_TFLITE
                          ? ", what kernels ask for while they run (--scratch says it), and the runtime's own records\n"
                          : "\n");
    if (n->scratch_count > 0)
        masu__buffer_printf(out, "In it: %zu scratch buffer%s of --scratch\n", n->scratch_count,
                            n->scratch_count > 1 ? "s" : "");
    if (n->open_count > 0)
        masu__buffer_printf(out, "%zu tensors may be resized at run time: planned as large as the file says\n",
                            n->open_count);
}

static void put_way(const network_plan *way, masu__buffer *out) {
    const masu_plan_result *r = &way->result;
    if (!way->is_there)
        return;
    masu__buffer_printf(out, "  %-24s", way->name);
    masu__buffer number = {0};
    masu__buffer_put_grouped(&number, r->height_bytes);
    masu__buffer_printf(out, "%16s", masu__buffer_text(&number));
    masu__buffer_truncate(&number, 0);
    if (!way->is_runtime) {
        masu__buffer_put_grouped(&number, r->lower_bound_bytes);
        masu__buffer_printf(out, "%16s  %s", masu__buffer_text(&number), r->optimal ? "proven: none is lower" : "");
        if (!r->optimal && r->lower_bound_bytes > 0)
            masu__buffer_printf(out, "%.2f %% above the bound",
                                100 * ((double)r->height_bytes / (double)r->lower_bound_bytes - 1));
    }
    masu__buffer_destroy(&number);
    masu__buffer_putc(out, '\n');
}

void network_report_text(const network *n, const network_plans *plans, masu__buffer *out) {
    masu__arena arena = {0};
    peak p;
    put_head(n, out);
    masu__buffer_printf(out, "\n  %-24s%16s%16s\n", "", "arena, bytes", "at least");
    for (size_t w = 0; w < NETWORK_WAYS; w++)
        put_way(&plans->ways[w], out);
    const network_plan *today = &plans->ways[NETWORK_RUNTIME], *plain = &plans->ways[NETWORK_PLANNED];
    if (today->result.height_bytes > plain->result.height_bytes && plain->result.height_bytes > 0)
        masu__buffer_printf(out, "  the runtime's is %.1f %% larger than planned\n",
                            100 * ((double)today->result.height_bytes / (double)plain->result.height_bytes - 1));
    if (n->table.count == 0 || !find_peak(n, &arena, &p)) {
        masu__arena_destroy(&arena);
        return;
    }
    masu__buffer_puts(out, "\nThe peak, ");
    put_bytes(out, p.load);
    masu__buffer_puts(out, ", is ");
    if (p.op)
        masu__buffer_puts(out, "at "), network_say_operator(n, p.op, out);
    else
        masu__buffer_puts(out, "before the first operator");
    if (p.load > plain->result.height_bytes)
        masu__buffer_puts(out, " (more than the arena: the file lays some of these on the same bytes)");
    masu__buffer_puts(out, ":\n");
    size_t shown = 0, row = SIZE_MAX;
    while (shown < MOST_SHOWN && (row = next_largest(n, p.moment, row)) != SIZE_MAX) {
        put_tensor(n, row, &p, out);
        shown++;
    }
    if (shown == MOST_SHOWN && next_largest(n, p.moment, row) != SIZE_MAX)
        masu__buffer_puts(out, "  and smaller ones\n");
    put_advice(n, plans, &p, out);
    masu__arena_destroy(&arena);
}

/* ---- tables for programs --------------------------------------------------------------------- */

void network_report_csv(const network *n, const network_plans *plans, masu__buffer *out) {
    (void)n;
    masu__buffer_puts(out, "way,arena,at_least,proven\n");
    for (size_t w = 0; w < NETWORK_WAYS; w++) {
        const network_plan *way = &plans->ways[w];
        if (!way->is_there)
            continue;
        masu__buffer_printf(out, "%s,%" PRIu64, way->name, way->result.height_bytes);
        if (way->is_runtime)
            masu__buffer_puts(out, ",,\n");
        else
            masu__buffer_printf(out, ",%" PRIu64 ",%s\n", way->result.lower_bound_bytes,
                                way->result.optimal ? "yes" : "no");
    }
}

static void put_json_tensor(const network *n, size_t tensor, masu__buffer *out) {
    const masu__model_tensor *t = &n->model.tensors[tensor];
    masu__buffer_printf(out, ", \"tensor\": %zu, \"type\": \"%s\", \"shape\": [", tensor, t->type);
    for (size_t i = 0; i < t->rank; i++)
        masu__buffer_printf(out, "%s%" PRId64, i ? ", " : "", t->dims[i]);
    masu__buffer_putc(out, ']');
}

static void put_json_buffers(const network *n, const network_plan *way, masu__buffer *out) {
    masu__buffer_puts(out, "  \"buffers\": [");
    for (size_t row = 0; row < n->table.count; row++) {
        masu__buffer_printf(out, "%s\n    {\"id\": ", row ? "," : "");
        masu__buffer_json_string(out, n->table.ids[row], strlen(n->table.ids[row]));
        if (n->tensor_of[row] != SIZE_MAX)
            put_json_tensor(n, n->tensor_of[row], out);
        masu__buffer_printf(
            out, ", \"lower\": %" PRId64 ", \"upper\": %" PRId64 ", \"size\": %" PRIu64 ", \"offset\": %" PRIu64 "}",
            way->rows[row].lower, way->rows[row].upper, way->rows[row].size_bytes, way->offsets[row]);
    }
    masu__buffer_puts(out, n->table.count ? "\n  ]" : "]");
}

void network_report_json(const network *n, const network_plans *plans, masu__buffer *out) {
    const network_plan *chosen = network_chosen(n, plans);
    masu__arena arena = {0};
    peak p;
    masu__buffer_puts(out, "{\n  \"file\": ");
    masu__buffer_json_string(out, n->args->path, strlen(n->args->path));
    masu__buffer_printf(out,
                        ",\n  \"format\": \"%s\",\n  \"operators\": %zu,\n  \"alignment\": %" PRIu64 ",\n  \"ways\": [",
                        n->model.format == MASU__MODEL_TFLITE ? "tflite" : "onnx", n->lives.moment_count, n->alignment);
    bool first = true;
    for (size_t w = 0; w < NETWORK_WAYS; w++) {
        const network_plan *way = &plans->ways[w];
        if (!way->is_there)
            continue;
        masu__buffer_printf(out, "%s\n    {\"way\": \"%s\", \"arena\": %" PRIu64, first ? "" : ",", way->name,
                            way->result.height_bytes);
        first = false;
        if (!way->is_runtime)
            masu__buffer_printf(out, ", \"at_least\": %" PRIu64 ", \"proven\": %s", way->result.lower_bound_bytes,
                                way->result.optimal ? "true" : "false");
        masu__buffer_putc(out, '}');
    }
    masu__buffer_puts(out, "\n  ],\n");
    if (find_peak(n, &arena, &p) && n->table.count > 0)
        masu__buffer_printf(out, "  \"peak\": {\"moment\": %" PRId64 ", \"bytes\": %" PRIu64 "},\n", p.moment, p.load);
    masu__arena_destroy(&arena);
    masu__buffer_printf(out, "  \"chosen\": \"%s\",\n", chosen->name);
    if (chosen->order) {
        masu__buffer_puts(out, "  \"order\": [");
        for (size_t k = 0; k < n->model.graphs[0].operator_count; k++)
            masu__buffer_printf(out, "%s%zu", k ? ", " : "", chosen->order[k]);
        masu__buffer_puts(out, "],\n");
    }
    put_json_buffers(n, chosen, out);
    masu__buffer_puts(out, "\n}\n");
}
