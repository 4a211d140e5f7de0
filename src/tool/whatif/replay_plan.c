/* replay_plan.c: the planner knows all requests before the first one. What it reaches is possible without moving a
 * block; what is live at once is needed by everyone. */
#include "tool/whatif/whatif.h"

#include <masu/plan.h>

#include "base/meta.h"

enum { PLAN_ALIGNMENT = 64 };

/* The blocks of one lane as rows. A moment is a request. */
static size_t rows_of(const whatif_requests *q, uint16_t lane, masu_plan_row *rows, uint32_t *row_of) {
    size_t count = 0;
    for (size_t i = 0; i < q->count; i++) {
        const whatif_request *request = &q->items[i];
        if (request->lane != lane)
            continue;
        if (request->kind == WHATIF_TAKE) {
            row_of[request->id] = (uint32_t)count;
            rows[count++] = (masu_plan_row){.size_bytes = request->bytes,
                                            .lower = (int64_t)i,
                                            .upper = (int64_t)q->count + 1,
                                            .alignment_bytes = PLAN_ALIGNMENT};
        } else if (request->kind == WHATIF_GIVE) {
            rows[row_of[request->id]].upper = (int64_t)i;
        }
    }
    return count;
}

masu_status whatif_replay_plan(const whatif_requests *q, const whatif_options *options, whatif_row *out,
                               bool *is_optimal) {
    *out = (whatif_row){.is_bound = true, .device_calls = q->lane_count};
    snprintf(out->name, sizeof out->name, "planner");
    size_t room = (size_t)q->blocks + 1;
    masu_plan_row *rows = masu__meta_alloc(room * sizeof *rows);
    uint64_t *offsets = masu__meta_alloc(room * sizeof *offsets);
    uint32_t *row_of = masu__meta_alloc(room * sizeof *row_of);
    masu_status status = rows && offsets && row_of ? MASU_OK : MASU_ERR_OUT_OF_MEMORY;
    *is_optimal = true;
    out->judged = WHATIF_FINE;
    for (uint16_t lane = 0; lane < q->lane_count && status == MASU_OK; lane++) {
        size_t count = rows_of(q, lane, rows, row_of);
        masu_plan_problem problem = {.rows = rows, .count = count};
        masu_plan_options how = {.step_limit = options->plan_steps, .threads = 2};
        masu_plan_result result = {0};
        status = masu_plan_find(&problem, &how, offsets, &result);
        if (status != MASU_OK)
            break;
        out->seconds += result.seconds;
        out->peak_reserved_bytes += result.height_bytes;
        *is_optimal &= result.optimal;
        if ((uint64_t)count * count > options->judge_most)
            out->judged = out->judged == WHATIF_WRONG ? WHATIF_WRONG : WHATIF_NOT_JUDGED;
        else if (masu_plan_check(rows, count, offsets, result.height_bytes, NULL, NULL) != MASU_PLAN_FINE)
            out->judged = WHATIF_WRONG;
    }
    out->ran = status == MASU_OK;
    snprintf(out->note, sizeof out->note, "%s", *is_optimal ? "proven: nothing lower exists" : "not proven");
    masu__meta_free(rows, room * sizeof *rows);
    masu__meta_free(offsets, room * sizeof *offsets);
    masu__meta_free(row_of, room * sizeof *row_of);
    return status;
}
