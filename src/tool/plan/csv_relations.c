/* csv_relations.c: what holds between rows, as columns of CSV, so that a plan in place can be judged from its table.
 *
 *     id,lower,upper,size,offset,may_share
 *     x,0,3,64,0,
 *     y,2,5,64,0,x           y may take x's bytes over: in JSON {"kind": "may_share", "a": "x", "b": "y"}
 *
 * Ids are separated by spaces; before a space or a backslash of an id is a backslash.
 */
#include <string.h>

#include "base/meta.h"
#include "tool/plan/plan_table.h"

const char *const plan_relation_names[PLAN_RELATION_KINDS] = {"must_share", "must_not_share", "may_share"};

/* ---- writing --------------------------------------------------------------------------------------------------- */

bool plan_csv_links_open(plan_csv_links *links, const plan_table *t) {
    *links = (plan_csv_links){.table = t};
    if (t->relation_count == 0)
        return true;
    links->first = masu__meta_calloc(t->count + 1, sizeof *links->first);
    links->next = masu__meta_calloc(t->relation_count + 1, sizeof *links->next);
    if (!links->first || !links->next) {
        plan_csv_links_close(links);
        return false;
    }
    for (size_t i = t->relation_count; i-- > 0;) {
        size_t *first = &links->first[t->relations[i].b];
        links->next[i] = *first;
        *first = i + 1;
        links->has[t->relations[i].kind] = true;
    }
    return true;
}

void plan_csv_links_close(plan_csv_links *links) {
    const plan_table *t = links->table;
    masu__meta_free(links->first, links->first ? (t->count + 1) * sizeof *links->first : 0);
    masu__meta_free(links->next, links->next ? (t->relation_count + 1) * sizeof *links->next : 0);
    *links = (plan_csv_links){.table = t};
}

void plan_put_id(masu__buffer *out, const char *id) {
    if (!strpbrk(id, ",\t\"\r\n") && id[0] != ' ') {
        masu__buffer_puts(out, id);
        return;
    }
    masu__buffer_putc(out, '"');
    for (; *id; id++) {
        if (*id == '"')
            masu__buffer_putc(out, '"');
        masu__buffer_putc(out, *id);
    }
    masu__buffer_putc(out, '"');
}

static void put_escaped(masu__buffer *out, const char *id) {
    for (; *id; id++) {
        if (*id == ' ' || *id == '\\')
            masu__buffer_putc(out, '\\');
        masu__buffer_putc(out, *id);
    }
}

void plan_csv_put_links(const plan_csv_links *links, size_t row, masu__buffer *out) {
    const plan_table *t = links->table;
    for (int kind = 0; kind < PLAN_RELATION_KINDS; kind++) {
        masu__buffer cell = {0};
        if (!links->has[kind])
            continue;
        for (size_t at = links->first[row]; at > 0; at = links->next[at - 1]) {
            if ((int)t->relations[at - 1].kind != kind)
                continue;
            if (cell.length > 0)
                masu__buffer_putc(&cell, ' ');
            put_escaped(&cell, t->ids[t->relations[at - 1].a]);
        }
        masu__buffer_putc(out, ',');
        if (cell.length > 0)
            plan_put_id(out, masu__buffer_text(&cell));
        out->failed |= cell.failed;
        masu__buffer_destroy(&cell);
    }
}

/* ---- reading --------------------------------------------------------------------------------------------------- */

bool plan_csv_note_cell(plan_reader *r, plan_cells *cells, plan_cell cell) {
    if (cells->count == cells->room) {
        size_t room = cells->room ? 2 * cells->room : 64;
        plan_cell *grown = masu__arena_grow(&r->table->arena, cells->list, cells->count, room, sizeof *grown, 16);
        r->out_of_memory |= !grown;
        if (!grown)
            return false;
        cells->list = grown;
        cells->room = room;
    }
    cells->list[cells->count++] = cell;
    return true;
}

/* The next id of a cell, without its backslashes, in id[]. */
static size_t next_id(const plan_cell *cell, size_t *at, char *id) {
    size_t length = 0;
    while (*at < cell->length && cell->text[*at] == ' ')
        ++*at;
    for (; *at < cell->length && cell->text[*at] != ' '; ++*at) {
        *at += cell->text[*at] == '\\' && *at + 1 < cell->length;
        id[length++] = cell->text[*at];
    }
    return length;
}

static bool relate_cell(plan_reader *r, const plan_index *index, const plan_cell *cell, char *id) {
    for (size_t at = 0, length; (length = next_id(cell, &at, id)) > 0;) {
        size_t row = plan_index_find(r->table, index, id, length);
        if (row == SIZE_MAX || row == cell->row)
            return plan_complain_found(r, cell->place, "ids of other buffers, separated by spaces", id, length);
        if (!plan_table_relate(r->table, cell->kind, row, cell->row)) {
            r->out_of_memory = true;
            return false;
        }
    }
    return true;
}

bool plan_csv_relate(plan_reader *r, const plan_index *index, const plan_cells *cells) {
    for (size_t i = 0; i < cells->count; i++) {
        const plan_cell *cell = &cells->list[i];
        char *id = masu__arena_calloc(&r->table->arena, cell->length + 1, 1, 1);
        r->out_of_memory |= !id;
        if (!id || !relate_cell(r, index, cell, id))
            return false;
    }
    return true;
}
