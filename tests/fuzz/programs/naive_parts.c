/* naive_parts.c: parts of tensors written, and tensors printed, one number after the other. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "naive.h"

/* ---- t[a..b, i] = value ------------------------------------------------------------------------------ */

/* Bounds are pairs: from and to, or from and the smallest number for one index alone. The largest means up to the
 * end. */
static const double SELECT = -0x1p63, END = 0x1p63;

typedef struct part {
    int rank;
    int64_t from[TL_MAX_RANK], length[TL_MAX_RANK];
    bool alone[TL_MAX_RANK]; /* by dimension of the tensor: one index */
} part;

static void one_dimension(naive *n, const tensor *t, int d, double from, double to, part *p) {
    bool alone = to == SELECT;
    double end = alone ? from + 1 : to >= END ? (double)t->shape[d] : to;
    if (from < 0 || end > (double)t->shape[d] || from > end)
        naive_fail(n, "out of range");
    p->alone[d] = alone;
    p->from[d] = (int64_t)from;
    p->length[d] = (int64_t)(end - from);
    p->rank += !alone;
}

static bool is_inside(const tensor *t, const part *p, const int64_t *index) {
    for (int d = 0; d < t->rank; d++)
        if (index[d] < p->from[d] || index[d] >= p->from[d] + p->length[d])
            return false;
    return true;
}

/* The value's element for this one, aligned at the last dimension; dimensions of one index are not counted. */
static cell *element_for(naive *n, const tensor *t, const part *p, const tensor *value, const int64_t *index) {
    double place[TL_MAX_RANK];
    int own = value->rank;
    for (int d = t->rank; d-- > 0 && own > 0;)
        if (!p->alone[d]) {
            own--;
            place[own] = value->shape[own] == 1 ? 0 : (double)(index[d] - p->from[d]);
        }
    return value->e[naive_offset(n, value, value->rank, place)];
}

static void check_fit(naive *n, const tensor *t, const part *p, const tensor *value) {
    int own = value->rank;
    for (int d = t->rank; d-- > 0 && own > 0;)
        if (!p->alone[d] && value->shape[--own] != 1 && value->shape[own] != p->length[d])
            naive_fail(n, "cannot take up");
    if (value->rank > p->rank)
        naive_fail(n, "cannot take up");
}

tensor *naive_put(naive *n, tensor *t, const tensor *value, int64_t count, const double *bounds) {
    if (t->node || value->node)
        naive_unsupported(n, "a write in place with a history");
    if (count > 2 * (int64_t)t->rank)
        naive_fail(n, "indices given");
    part p = {0};
    for (int d = 0; d < t->rank; d++)
        one_dimension(n, t, d, 2 * d < count ? bounds[2 * d] : 0, 2 * d < count ? bounds[2 * d + 1] : END, &p);
    check_fit(n, t, &p, value);
    tensor *r = naive_detach(n, t, false);
    int64_t index[TL_MAX_RANK] = {0};
    for (int64_t i = 0; i < r->count; i++) {
        int64_t rest = i;
        for (int d = r->rank; d-- > 0; rest /= r->shape[d])
            index[d] = rest % r->shape[d];
        if (is_inside(r, &p, index))
            r->e[i] = naive_number(n, r->dtype, element_for(n, r, &p, value, index)->v);
    }
    return r;
}

/* ---- printing ----------------------------------------------------------------------------------------- */

static void print_element(const tensor *t, int64_t i, char *text, size_t room) {
    double v = t->e[i]->v;
    if (t->dtype == TL_BOOL)
        snprintf(text, room, "%s", v != 0 ? "true" : "false");
    else if (t->dtype == TL_I64)
        snprintf(text, room, "%lld", (long long)v);
    else if (!isfinite(v))
        snprintf(text, room, "%s", isnan(v) ? "NaN" : v < 0 ? "-inf" : "inf");
    else
        snprintf(text, room, t->rank ? "%.4f" : "%.9g", t->dtype == TL_F32 ? (double)(float)v : v);
}

/* Elements padded to the widest; rows on lines of their own. Those of more than a thousand are shortened: not done
 * here. */
void naive_print(naive *n, const tensor *t) {
    char text[64];
    int widest = 0;
    if (t->count > 1000 || t->count == 0)
        naive_unsupported(n, "a tensor to print of no or of many elements");
    for (int64_t i = 0; i < t->count && t->rank > 1; i++) {
        print_element(t, i, text, sizeof text);
        int length = (int)strlen(text);
        widest = length > widest ? length : widest;
    }
    for (int64_t i = 0; i < t->count; i++) {
        int opened = 0;
        int64_t block = 1;
        for (int d = t->rank; d-- > 0 && i % (block *= t->shape[d]) == 0;)
            opened++;
        if (i > 0) {
            masu__buffer_puts(&n->out, ",");
            masu__buffer_fill(&n->out, '\n', (size_t)opened);
            masu__buffer_fill(&n->out, ' ', opened ? (size_t)(t->rank - opened) : 1);
        }
        masu__buffer_fill(&n->out, '[', (size_t)opened);
        print_element(t, i, text, sizeof text);
        masu__buffer_printf(&n->out, "%*s", widest, text);
        block = 1;
        for (int d = t->rank; d-- > 0 && (i + 1) % (block *= t->shape[d]) == 0;)
            masu__buffer_puts(&n->out, "]");
    }
}
