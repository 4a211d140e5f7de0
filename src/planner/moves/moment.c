/* moment.c: what one moment costs at least: the rows that its operator uses are somewhere, and each memory holds no
 * more than it can. Where two large operands do not fit beside each other, one is in a slow memory, whole: prices see
 * only the bytes that are too many.
 */
#include <string.h>

#include "planner/moves/courses.h"

enum { MOST_TRIED = 1 << 14 };

typedef struct operand {
    uint32_t row;
    int64_t size;
} operand;

typedef struct moment {
    const masu__moves *m;
    uint32_t t, count;
    operand *all;
    int64_t spare[MASU_MOVES_MOST_MEMORIES];
    int64_t best;
    uint32_t tried;
} moment;

static int64_t cheapest(const moment *q, uint32_t from) {
    int64_t sum = 0;
    for (uint32_t i = from; i < q->count; i++) {
        int64_t best = MASU__MOVES_NEVER;
        for (uint8_t k = 0; k < q->m->memory_count; k++)
            if (masu__course_may(q->m, q->all[i].row, k, q->t == q->m->problem->rows[q->all[i].row].lower)) {
                int64_t cost = masu__course_use(q->m, q->all[i].row, q->t, k);
                best = cost < best ? cost : best;
            }
        sum += best >= MASU__MOVES_NEVER ? 0 : best * q->all[i].size;
    }
    return sum;
}

static void assign(moment *q, uint32_t at, int64_t cost) {
    if (++q->tried > MOST_TRIED || cost + cheapest(q, at) >= q->best)
        return;
    if (at == q->count) {
        q->best = cost;
        return;
    }
    const operand *o = &q->all[at];
    for (uint8_t k = 0; k < q->m->memory_count; k++) {
        if (q->spare[k] < o->size || !masu__course_may(q->m, o->row, k, q->t == q->m->problem->rows[o->row].lower))
            continue;
        q->spare[k] -= q->m->limit[k] == INT64_MAX ? 0 : o->size;
        assign(q, at + 1, cost + masu__course_use(q->m, o->row, q->t, k) * o->size);
        q->spare[k] += q->m->limit[k] == INT64_MAX ? 0 : o->size;
    }
}

int64_t masu__moment_least(const masu__moves *m, uint32_t t, const uint32_t *rows, uint32_t count) {
    operand all[64];
    moment q = {.m = m, .t = t, .all = all, .best = INT64_MAX};
    for (uint32_t i = 0; i < count; i++) {
        size_t at = m->at[rows[i]] + t - m->problem->rows[rows[i]].lower;
        if ((m->reads[at] || m->writes[at]) && q.count < sizeof all / sizeof *all)
            all[q.count++] = (operand){rows[i], masu__moves_size(m, rows[i])};
    }
    memcpy(q.spare, m->limit, sizeof q.spare);
    assign(&q, 0, 0);
    return q.tried > MOST_TRIED || q.best == INT64_MAX ? cheapest(&q, 0) : q.best;
}
