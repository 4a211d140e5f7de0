/* network_offline.c: plans inside .tflite files: writing one, and judging one that is there.
 *
 * TensorFlow Lite Micro takes offsets as they are: it looks at neither overlap nor alignment. What is -1 it places
 * itself, around the others. So the judge places those as it does, and looks at all of them together.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

#include "base/meta.h"
#include "tool/plan/network.h"

enum { MOST_MISTAKES = 20 };

/* ---- judging --------------------------------------------------------------------------------- */

typedef struct judge {
    network *n;
    const masu__model_offline *plan;
    masu_plan_row *rows; /* those of the table, with what the plan fixes */
    size_t mistakes;
} judge;

static void __attribute__((format(printf, 2, 3))) mistake(judge *j, const char *format, ...) {
    va_list arguments;
    if (j->mistakes++ >= MOST_MISTAKES)
        return;
    printf("WRONG: ");
    va_start(arguments, format);
    vprintf(format, arguments);
    va_end(arguments);
    printf("\n");
}

static bool head_is_right(judge *j) {
    const masu__model_offline *o = j->plan;
    if (o->byte_count < 12)
        mistake(j, "the plan has %zu bytes: version, number of graphs and number of offsets need 12", o->byte_count);
    else if (o->count < 0 || (size_t)o->count != j->n->model.tensor_count)
        mistake(j, "the plan is for %" PRId32 " tensors; the file has %zu", o->count, j->n->model.tensor_count);
    else if (o->offset_count < (size_t)o->count)
        mistake(j, "the plan says %" PRId32 " offsets and ends after %zu", o->count, o->offset_count);
    else if (!o->is_aligned)
        mistake(j, "the plan's bytes do not lie at a multiple of 16, and are read as whole numbers");
    return j->mistakes == 0;
}

static bool is_fixed(const judge *j, size_t tensor) {
    return j->plan->offsets[tensor] != -1;
}

/* The runtime looks up variables by their number in their own graph, as if it were the first. */
static void check_variable(judge *j, size_t tensor) {
    const masu__model_tensor *t = &j->n->model.tensors[tensor];
    size_t local = tensor - j->n->model.graphs[t->graph].tensor_begin;
    if (is_fixed(j, tensor))
        mistake(j,
                "tensor %zu is a variable and has the offset %" PRId32 ": others may take its bytes between two runs",
                tensor, j->plan->offsets[tensor]);
    else if (t->graph > 0 && is_fixed(j, local))
        mistake(j,
                "tensor %zu is a variable of graph %zu: the runtime looks for its offset at tensor %zu, which has one, "
                "and gives it no bytes",
                tensor, t->graph, local);
}

static void take_offsets(judge *j) {
    for (size_t i = 0; i < j->n->model.tensor_count; i++) {
        int32_t offset = j->plan->offsets[i];
        size_t row = j->n->row_of[i];
        if (j->n->model.tensors[i].is_variable) {
            check_variable(j, i);
        } else if (row == SIZE_MAX || offset == -1) {
            continue; /* the runtime does not look at it */
        } else if (offset < 0) {
            mistake(j, "%s has the offset %" PRId32, j->n->table.ids[row], offset);
        } else if (offset % 16 != 0) {
            mistake(j, "%s has the offset %" PRId32 ", which is not a multiple of 16", j->n->table.ids[row], offset);
        } else {
            j->rows[row].is_fixed = true;
            j->rows[row].fixed_offset = (uint64_t)offset;
        }
    }
}

static bool related(const network *n, size_t a, size_t b) {
    for (size_t i = 0; i < n->table.relation_count; i++)
        if ((n->table.relations[i].a == a && n->table.relations[i].b == b) ||
            (n->table.relations[i].a == b && n->table.relations[i].b == a))
            return true;
    return false;
}

static bool overlap(const judge *j, const uint64_t *offsets, size_t a, size_t b) {
    const masu_plan_row *x = &j->rows[a], *y = &j->rows[b];
    return x->lower < y->upper && y->lower < x->upper && offsets[a] < offsets[b] + y->size_bytes &&
           offsets[b] < offsets[a] + x->size_bytes;
}

static void note_custom(const network *n, size_t a, size_t b, const masu__model_moment *custom) {
    masu__buffer text = {0};
    network_say_operator(n, custom, &text);
    printf("NOTE: %s and %s share bytes: %s is custom and must know\n", n->table.ids[a], n->table.ids[b],
           masu__buffer_text(&text));
    masu__buffer_destroy(&text);
}

/* Two that share bytes while both live: fine where the one is made in place of the other. */
static size_t check_overlaps(judge *j, const uint64_t *offsets) {
    const network *n = j->n;
    size_t in_place = 0;
    for (size_t a = 0; a < n->table.count; a++)
        for (size_t b = a + 1; b < n->table.count; b++) {
            if (!overlap(j, offsets, a, b))
                continue;
            const masu__model_moment *custom = network_custom_of(n, a, b);
            if (related(n, a, b) && offsets[a] == offsets[b])
                in_place++;
            else if (custom)
                note_custom(n, a, b, custom);
            else
                mistake(j,
                        "%s (%" PRIu64 " to %" PRIu64 ") and %s (%" PRIu64 " to %" PRIu64
                        ") share bytes while both are needed",
                        n->table.ids[a], offsets[a], offsets[a] + j->rows[a].size_bytes, n->table.ids[b], offsets[b],
                        offsets[b] + j->rows[b].size_bytes);
        }
    return in_place;
}

static int say_verdict(judge *j, uint64_t height, size_t in_place) {
    size_t fixed = 0;
    if (j->mistakes > MOST_MISTAKES)
        printf("WRONG: and %zu more\n", j->mistakes - MOST_MISTAKES);
    if (j->mistakes > 0)
        return TOOL_FAILED;
    for (size_t row = 0; row < j->n->table.count; row++)
        fixed += j->rows[row].is_fixed;
    printf("FINE: %zu of %zu buffers have an offset, the runtime places %zu; ", fixed, j->n->table.count,
           j->n->table.count - fixed);
    if (in_place > 0)
        printf("%zu in place; ", in_place);
    printf("arena ");
    plan_say_bytes(stdout, height);
    printf("\n");
    return TOOL_OK;
}

int network_verify(network *n) {
    judge j = {.n = n, .plan = &n->model.offline};
    bool enough;
    if (!j.plan->is_there) {
        printf("%s has no plan: the runtime makes one\n", n->args->path);
        return TOOL_FAILED;
    }
    if (!head_is_right(&j))
        return say_verdict(&j, 0, 0);
    j.rows = masu__arena_calloc(&n->table.arena, n->table.count + 1, sizeof *j.rows, 16);
    uint64_t *offsets = masu__arena_calloc(&n->table.arena, n->table.count + 1, sizeof *offsets, 16);
    if (!j.rows || !offsets || !network_relate(n)) {
        fprintf(stderr, "masu plan: out of memory\n");
        return TOOL_FAILED;
    }
    memcpy(j.rows, n->table.rows, n->table.count * sizeof *j.rows);
    take_offsets(&j);
    uint64_t height = runtime_greedy(j.rows, n->table.count, offsets, &n->table.arena, &enough);
    if (!enough) {
        fprintf(stderr, "masu plan: out of memory\n");
        return TOOL_FAILED;
    }
    return say_verdict(&j, height, j.mistakes ? 0 : check_overlaps(&j, offsets));
}

/* ---- writing --------------------------------------------------------------------------------- */

/* The runtime would give a variable of a later graph no bytes: see check_variable. */
static bool variables_are_safe(const network *n, const int32_t *offsets, masu__buffer *why) {
    for (size_t i = 0; i < n->model.tensor_count; i++) {
        const masu__model_tensor *t = &n->model.tensors[i];
        size_t local = i - n->model.graphs[t->graph].tensor_begin;
        if (t->is_variable && t->graph > 0 && offsets[local] != -1) {
            masu__buffer_printf(why,
                                "tensor %zu is a variable of graph %zu: the runtime looks for its offset at tensor %zu "
                                "of graph 0, which has one; such a file keeps the runtime's own plan",
                                i, t->graph, local);
            return false;
        }
    }
    return true;
}

/* Tensors that a custom operator has in each other at different offsets cannot be moved here. */
static bool custom_is_safe(const network *n, masu__buffer *why) {
    for (size_t a = 0; network_has_offline(n) && a < n->scratch_begin; a++)
        for (size_t b = a + 1; b < n->scratch_begin; b++) {
            int64_t x = n->model.offline.offsets[n->tensor_of[a]], y = n->model.offline.offsets[n->tensor_of[b]];
            if (x < 0 || y < 0 || x == y || x >= y + (int64_t)n->table.rows[b].size_bytes ||
                y >= x + (int64_t)n->table.rows[a].size_bytes || !network_custom_of(n, a, b))
                continue;
            masu__buffer_printf(
                why,
                "%s and %s share bytes in the file's plan, at offsets that a custom operator knows: it stays as it is",
                n->table.ids[a], n->table.ids[b]);
            return false;
        }
    return true;
}

/* Scratch is not in the plan: the runtime places it around the tensors, and may be worse at it. */
static bool scratch_fits(network *n, const network_plan *plan, const int32_t *offsets, masu__buffer *why) {
    bool enough;
    masu_plan_row *rows = masu__arena_calloc(&n->table.arena, n->table.count + 1, sizeof *rows, 16);
    uint64_t *all = masu__arena_calloc(&n->table.arena, n->table.count + 1, sizeof *all, 16);
    if (n->scratch_count == 0)
        return true;
    for (size_t row = 0; rows && row < n->table.count; row++) {
        rows[row] = plan->rows[row];
        rows[row].is_fixed = n->tensor_of[row] != SIZE_MAX;
        rows[row].fixed_offset = rows[row].is_fixed ? (uint64_t)offsets[n->tensor_of[row]] : 0;
    }
    uint64_t height = rows && all ? runtime_greedy(rows, n->table.count, all, &n->table.arena, &enough) : 0;
    if (!rows || !all || !enough) {
        masu__buffer_puts(why, "out of memory");
        return false;
    }
    if (height > plan->result.height_bytes)
        fprintf(stderr,
                "masu plan: the runtime places scratch buffers itself: its arena has %" PRIu64
                " bytes instead of %" PRIu64 "\n",
                height, plan->result.height_bytes);
    return true;
}

bool network_write_model(network *n, const network_plan *plan, const void *bytes, size_t length, masu__buffer *out,
                         masu__buffer *why) {
    int32_t *offsets = masu__arena_calloc(&n->table.arena, n->model.tensor_count + 1, sizeof *offsets, 16);
    void *written;
    size_t written_length, written_capacity;
    if (!offsets) {
        masu__buffer_puts(why, "out of memory");
        return false;
    }
    if (plan->result.height_bytes > INT32_MAX) {
        masu__buffer_puts(why, "offsets in the file have 31 bits: the arena is larger");
        return false;
    }
    for (size_t i = 0; i < n->model.tensor_count; i++)
        offsets[i] = n->row_of[i] == SIZE_MAX ? -1 : (int32_t)plan->offsets[n->row_of[i]];
    if (!variables_are_safe(n, offsets, why) || !custom_is_safe(n, why) || !scratch_fits(n, plan, offsets, why) ||
        !masu__model_write_tflite(&n->model, bytes, length, offsets, plan->order, &written, &written_length,
                                  &written_capacity, why))
        return false;
    masu__buffer_append(out, written, written_length);
    masu__meta_free(written, written_capacity);
    return true;
}
