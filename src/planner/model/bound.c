/* bound.c: the lower bounds. The load is the largest sum of sizes alive at once, fixed rows where they lie; where
 * offsets are aligned, what lies above an item begins at a multiple of its own alignment, so that the item takes more
 * than its size.
 *
 *     alignment 4:   0   4   8   12        sizes 5, 3, 2: the load is 10, but 5 takes 8, 3 takes 4,
 *                    [5    |3  |2 ]        and only the topmost ends where it ends
 *
 *     in a section, for each power of two g: of the items alive with an alignment of g or more
 *     height >= sum of sizes rounded up to g - the largest such rounding
 *
 * Items with less alignment are left out there: they may lie in what the rounding leaves.
 */
#include "planner/model/model.h"

#include <string.h>

/* ---- the load ---------------------------------------------------------------------------------- */

static int64_t common_divisor(int64_t a, int64_t b) {
    while (b) {
        int64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

void masu__plan_model_load_bound(masu__plan_model *m) {
    int64_t load = 0;
    m->unit = 0;
    m->bound = m->fixed_end;
    for (uint32_t i = 0; i < m->item_count; i++) {
        for (uint32_t k = m->piece_start[i]; k < m->piece_start[i + 1]; k++) {
            int64_t kept = m->pieces[k].height - m->pieces[k].hole;
            m->load[m->pieces[k].first] += kept;
            m->load[m->pieces[k].end] -= kept;
            m->unit = common_divisor(m->unit, m->pieces[k].height);
            m->unit = common_divisor(m->unit, m->pieces[k].base);
        }
        m->unit = common_divisor(m->unit, m->size[i]);
        m->unit = common_divisor(m->unit, m->alignment[i] > 1 ? m->alignment[i] : 0);
        if (m->size[i] > m->bound)
            m->bound = m->size[i];
    }
    for (uint32_t i = 0; i < m->obstacle_count; i++) {
        const masu__plan_obstacle *o = &m->obstacles[i];
        if (o->end > o->first && !m->holes) { /* an obstacle with one takes more than it keeps */
            m->load[o->first] += o->size;
            m->load[o->end] -= o->size;
        }
        m->unit = common_divisor(m->unit, o->size);
        m->unit = common_divisor(m->unit, o->offset);
        if (o->offset + o->size > m->bound)
            m->bound = o->offset + o->size;
    }
    for (uint32_t s = 0; s < m->section_count; s++) {
        load += m->load[s];
        m->load[s] = load;
        if (load > m->bound)
            m->bound = load;
    }
    /* what is kept apart ends where its rows end, not its groups */
    for (uint32_t r = 0; r < m->apart_count; r++)
        m->unit = common_divisor(common_divisor(m->unit, m->apart[r].height_a), m->apart[r].height_b);
    for (uint32_t r = 0; r < m->apart_fixed_count; r++)
        m->unit = common_divisor(m->unit, m->apart_fixed[r].height_a);
    m->unit = common_divisor(m->unit, m->fixed_end);
    if (m->unit == 0 || m->holes)
        m->unit = 1;
}

/* ---- with alignment ----------------------------------------------------------------------------- */

/* A piece with a base begins somewhere above its item's offset: not at a multiple of g. */
static bool counts(const masu__plan_model *m, uint32_t item, uint32_t piece, int64_t g) {
    return m->alignment[item] >= g && m->pieces[piece].base == 0 && m->pieces[piece].hole == 0;
}

/* The largest rounding of those alive in each section: a tree over the sections, in which an item marks
 * the nodes that tile its life. */
static void mark_rounding(int64_t *largest, size_t leaves, const masu__plan_piece *p, int64_t by) {
    for (size_t l = p->first + leaves, h = p->end + leaves; l < h; l /= 2, h /= 2) {
        if (l & 1) {
            largest[l] = by > largest[l] ? by : largest[l];
            l++;
        }
        if (h & 1) {
            --h;
            largest[h] = by > largest[h] ? by : largest[h];
        }
    }
}

static int64_t bound_of(const masu__plan_model *m, int64_t g, int64_t *taken, int64_t *largest, size_t leaves) {
    int64_t sum = 0, bound = 0;
    memset(taken, 0, ((size_t)m->section_count + 1) * sizeof *taken);
    memset(largest, 0, 2 * leaves * sizeof *largest);
    for (uint32_t i = 0; i < m->item_count; i++)
        for (uint32_t k = m->piece_start[i]; k < m->piece_start[i + 1]; k++) {
            if (!counts(m, i, k, g))
                continue;
            int64_t height = masu__plan_align(m->pieces[k].height, g);
            taken[m->pieces[k].first] += height;
            taken[m->pieces[k].end] -= height;
            mark_rounding(largest, leaves, &m->pieces[k], height - m->pieces[k].height);
        }
    for (size_t k = 2; k < 2 * leaves; k++)
        if (largest[k / 2] > largest[k])
            largest[k] = largest[k / 2];
    for (uint32_t s = 0; s < m->section_count; s++) {
        sum += taken[s];
        if (sum - largest[leaves + s] > bound)
            bound = sum - largest[leaves + s];
    }
    return bound;
}

bool masu__plan_model_aligned_bound(masu__plan_model *m) {
    uint64_t alignments = 0;
    for (uint32_t i = 0; i < m->item_count; i++)
        alignments |= m->alignment[i] > 1 ? (uint64_t)m->alignment[i] : 0;
    if (alignments == 0)
        return true;
    size_t leaves = 1;
    while (leaves < m->section_count)
        leaves *= 2;
    masu__arena_mark mark = masu__arena_get_mark(&m->arena);
    int64_t *taken = MASU_ARENA_ARRAY(&m->arena, int64_t, (size_t)m->section_count + 1);
    int64_t *largest = MASU_ARENA_ARRAY(&m->arena, int64_t, 2 * leaves);
    if (!taken || !largest)
        return false;
    for (; alignments != 0; alignments &= alignments - 1) {
        int64_t g = (int64_t)(alignments & -alignments);
        int64_t bound = bound_of(m, g, taken, largest, leaves);
        m->bound = bound > m->bound ? bound : m->bound;
    }
    masu__arena_release(&m->arena, mark);
    return true;
}
