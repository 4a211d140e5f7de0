/* model_valid.c: the model checked against its equations, and what a plan of its items means for rows. */
#include "planner/model/model.h"
#include "planner/model/pieces.h"

static int64_t load_again(const masu__plan_model *m, uint32_t section) {
    int64_t load = 0;
    for (uint32_t k = 0; k < m->piece_start[m->item_count]; k++)
        if (m->pieces[k].first <= section && section < m->pieces[k].end)
            load += m->pieces[k].height - m->pieces[k].hole;
    for (uint32_t k = 0; k < m->obstacle_count; k++)
        if (m->obstacles[k].first <= section && section < m->obstacles[k].end)
            load += m->obstacles[k].size;
    return load;
}

bool masu__plan_model_valid(const masu__plan_model *m) {
    for (uint32_t i = 0; i < m->item_count; i++) {
        uint32_t from = m->piece_start[i], to = m->piece_start[i + 1];
        if (from >= to || m->first[i] != m->pieces[from].first || m->end[i] != m->pieces[to - 1].end ||
            masu__plan_pieces_meet(m->pieces + from, to - from))
            return false;
        for (uint32_t k = from; k < to; k++)
            if (m->pieces[k].base + m->pieces[k].height > m->size[i] || m->pieces[k].first >= m->pieces[k].end)
                return false;
    }
    /* quadratic: a sample of sections */
    uint32_t stride = m->section_count / 64 + 1;
    for (uint32_t s = 0; s < m->section_count; s += stride)
        if ((m->load[s] != load_again(m, s) && !m->holes) || m->load[s] > m->bound)
            return false;
    return true;
}

void masu__plan_model_rows(const masu__plan_model *model, const masu_plan_problem *problem, const int64_t *items,
                           uint64_t *offsets) {
    for (size_t i = 0; i < problem->count; i++) {
        const masu_plan_row *root = &problem->rows[model->row_root[i]];
        uint32_t item = model->row_item[model->row_root[i]];
        offsets[i] = root->is_fixed ? root->fixed_offset : item != MASU__PLAN_NONE ? (uint64_t)items[item] : 0;
    }
}

int64_t masu__plan_model_height(const masu__plan_model *m, const int64_t *offsets) {
    int64_t height = m->fixed_end;
    for (uint32_t i = 0; i < m->item_count; i++)
        if (offsets[i] + m->size[i] > height)
            height = offsets[i] + m->size[i];
    for (uint32_t i = 0; i < m->obstacle_count; i++)
        if (m->obstacles[i].offset + m->obstacles[i].size > height)
            height = m->obstacles[i].offset + m->obstacles[i].size;
    return height;
}
