/* plan_check.c: the judge of plans. Every row against every other, written to be believed. It
 * shares no code with the planner. */
#include <masu/plan.h>

static void say(size_t *where, size_t row) {
    if (where)
        *where = row;
}

static bool alive_together(const masu_plan_row *a, const masu_plan_row *b) {
    return a->size_bytes > 0 && b->size_bytes > 0 && a->lower < b->upper && b->lower < a->upper;
}

masu_plan_verdict masu_plan_check(const masu_plan_row *rows, size_t count, const uint64_t *offsets,
                                  uint64_t height_bytes, size_t *row_a, size_t *row_b) {
    for (size_t i = 0; i < count; i++) {
        say(row_a, i);
        if (rows[i].size_bytes > height_bytes || offsets[i] > height_bytes - rows[i].size_bytes)
            return MASU_PLAN_OUTSIDE;
        if (rows[i].alignment_bytes != 0 && offsets[i] % rows[i].alignment_bytes != 0)
            return MASU_PLAN_MISALIGNED;
        for (size_t j = 0; j < i; j++) {
            if (!alive_together(&rows[i], &rows[j]))
                continue;
            if (offsets[i] < offsets[j] + rows[j].size_bytes &&
                offsets[j] < offsets[i] + rows[i].size_bytes) {
                say(row_a, j);
                say(row_b, i);
                return MASU_PLAN_OVERLAP;
            }
        }
    }
    return MASU_PLAN_FINE;
}
