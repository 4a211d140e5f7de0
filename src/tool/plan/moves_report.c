/* moves_report.c: what a plan with moves needs and costs: a table for people, JSON and CSV for programs, places for the
 * other writers. */
#include <inttypes.h>
#include <string.h>

#include "tool/plan/move_values.h"

enum { MOST_SAID = 16 };

bool moves_is_reserved(const moves_work *w, const masu_moves_place *place) {
    return w->row_of[place->row] == SIZE_MAX;
}

const char *moves_id(const moves_work *w, const masu_moves_place *place) {
    return moves_is_reserved(w, place) ? "" : w->table->ids[w->row_of[place->row]];
}

uint64_t moves_bytes(const moves_work *w, const masu_moves_place *place) {
    return w->problem.rows[place->row].size_bytes;
}

int64_t moves_operator(const moves_work *w, size_t moment) {
    int64_t number = (int64_t)moment + w->first_moment - w->first_operator;
    return number < 0 ? -1 : number;
}

static const char *name_of(const moves_work *w, size_t memory) {
    return w->args->memories[memory].name;
}

/* ---- text ------------------------------------------------------------------------------------------------- */

static void put_column(masu__buffer *out, uint64_t value, int width) {
    masu__buffer number = {0};
    masu__buffer_put_grouped(&number, value);
    masu__buffer_printf(out, "%*s", width, masu__buffer_text(&number));
    out->failed = out->failed || number.failed;
    masu__buffer_destroy(&number);
}

static void put_outcome(masu__buffer *out, uint64_t cost, uint64_t lower_bound, bool is_proven) {
    masu__buffer_put_grouped(out, cost);
    if (is_proven) {
        masu__buffer_puts(out, ", proven: none is cheaper");
        return;
    }
    masu__buffer_puts(out, ", at least ");
    masu__buffer_put_grouped(out, lower_bound);
    if (lower_bound > 0)
        masu__buffer_printf(out, " (%.2f %% above)", 100 * ((double)cost / (double)lower_bound - 1));
}

static void put_memories(const moves_work *w, masu__buffer *out) {
    uint64_t operators[PLAN_MOST_MEMORIES], moves[PLAN_MOST_MEMORIES];
    masu_moves_traffic(&w->problem, &w->plan, operators, moves);
    masu__buffer_printf(out, "  %-16s%16s%16s%10s%18s%18s\n", "memory", "capacity", "used", "a byte", "by operators",
                        "by moves");
    for (size_t m = 0; m < w->problem.memory_count; m++) {
        masu__buffer_printf(out, "  %-16s", name_of(w, m));
        if (w->memories[m].capacity_bytes)
            put_column(out, w->memories[m].capacity_bytes, 16);
        else
            masu__buffer_printf(out, "%16s", "any");
        put_column(out, w->plan.heights[m], 16);
        put_column(out, w->memories[m].cost, 10);
        put_column(out, operators[m], 18);
        put_column(out, moves[m], 18);
        masu__buffer_putc(out, '\n');
    }
}

/* Bytes of the last memory, the slowest, beside those without moves. */
static void put_life(const moves_work *w, masu__buffer *out) {
    uint64_t operators[PLAN_MOST_MEMORIES], moves[PLAN_MOST_MEMORIES];
    size_t last = w->problem.memory_count - 1;
    if (!w->args->moves)
        return;
    if (!w->life.is_there) {
        masu__buffer_puts(out, "  one memory for life: no plan\n");
        return;
    }
    masu_moves_traffic(&w->problem, &w->plan, operators, moves);
    masu__buffer_puts(out, "  one memory for life: ");
    put_outcome(out, w->life.cost, w->life.lower_bound, w->life.is_proven);
    masu__buffer_printf(out, "; bytes of %s: ", name_of(w, last));
    masu__buffer_put_grouped(out, w->life.slowest);
    masu__buffer_puts(out, ", now ");
    masu__buffer_put_grouped(out, operators[last] + moves[last]);
    if (operators[last] + moves[last] > 0)
        masu__buffer_printf(out, " (÷ %.2f)", (double)w->life.slowest / (double)(operators[last] + moves[last]));
    masu__buffer_putc(out, '\n');
}

static const masu_moves_share *share_done(const moves_work *w, size_t share) {
    return w->plan.shared && w->plan.shared[share] ? &w->problem.shares[share] : NULL;
}

static void put_in_place(const moves_work *w, masu__buffer *out) {
    size_t count = 0;
    uint64_t bytes = 0;
    for (size_t i = 0; i < w->plan.share_count; i++) {
        count += share_done(w, i) != NULL;
        bytes += share_done(w, i) ? w->problem.rows[share_done(w, i)->taker].size_bytes : 0;
    }
    if (!w->args->in_place)
        return;
    masu__buffer_printf(out, "  in place: %zu of %zu results that may, ", count, w->problem.share_count);
    masu__buffer_put_grouped(out, bytes);
    masu__buffer_puts(out, " bytes\n");
}

size_t moves_operator_number(const moves_work *w, size_t place) {
    return w->order ? w->order[place] : place;
}

static void put_order(const moves_work *w, masu__buffer *out) {
    if (!w->args->reorder)
        return;
    if (w->source.fixed_why) {
        masu__buffer_printf(out, "  order: as it is: %s\n", w->source.fixed_why);
        return;
    }
    masu__buffer_printf(out, "  order: the best of %s%zu that were planned", w->all_orders ? "all " : "",
                        w->orders_tried);
    masu__buffer_puts(out, w->all_orders ? "" : "; what is proven is of this one");
    if (w->order)
        masu__buffer_puts(out, "; run");
    for (size_t k = 0; w->order && k < w->source.graph.count; k++)
        if (w->source.names)
            masu__buffer_printf(out, " %s", w->source.names[moves_operator_number(w, k)]);
        else
            masu__buffer_printf(out, " %zu", moves_operator_number(w, k));
    masu__buffer_puts(out, w->order ? "\n" : ": as it is\n");
}

static void put_move(const moves_work *w, const masu_moves_move *move, masu__buffer *out) {
    const masu_moves_place *from = &w->plan.places[move->from], *to = &w->plan.places[move->to];
    masu__buffer_printf(out, "  %s: %s at %" PRIu64 " → %s at %" PRIu64 ", ", moves_id(w, to), name_of(w, from->memory),
                        from->offset, name_of(w, to->memory), to->offset);
    masu__buffer_put_grouped(out, moves_bytes(w, to));
    masu__buffer_printf(out, " bytes, from operator %" PRId64 " on, before operator %" PRId64 "\n",
                        moves_operator(w, move->begin), moves_operator(w, move->end));
}

void moves_report_text(const moves_work *w, masu__buffer *out) {
    put_memories(w, out);
    masu__buffer_puts(out, w->args->moves ? "  cost: " : "  one memory for life: cost ");
    put_outcome(out, w->plan.cost, w->plan.lower_bound, w->plan.outcome == MASU_MOVES_OPTIMAL);
    masu__buffer_putc(out, '\n');
    if (w->plan.greedy_cost != UINT64_MAX) {
        masu__buffer_puts(out, "  greedy, use after use: ");
        masu__buffer_put_grouped(out, w->plan.greedy_cost);
        masu__buffer_putc(out, '\n');
    }
    put_life(w, out);
    put_in_place(w, out);
    put_order(w, out);
    if (!w->is_judged)
        masu__buffer_puts(out, "  not judged on bytes: too many\n");
    if (w->plan.move_count > 0)
        masu__buffer_printf(out, "%zu move%s:\n", w->plan.move_count, w->plan.move_count == 1 ? "" : "s");
    for (size_t i = 0; i < w->plan.move_count && i < MOST_SAID; i++)
        put_move(w, &w->plan.moves[i], out);
    if (w->plan.move_count > MOST_SAID)
        masu__buffer_puts(out, "  … (--json and --csv have all)\n");
}

/* ---- for programs ------------------------------------------------------------------------------------------ */

static void put_text(masu__buffer *out, const char *text) {
    masu__buffer_json_string(out, text, strlen(text));
}

static void put_json_memories(const moves_work *w, masu__buffer *out) {
    uint64_t operators[PLAN_MOST_MEMORIES], moves[PLAN_MOST_MEMORIES];
    masu_moves_traffic(&w->problem, &w->plan, operators, moves);
    for (size_t m = 0; m < w->problem.memory_count; m++) {
        masu__buffer_puts(out, m ? ",\n    {\"name\": " : "\n    {\"name\": ");
        put_text(out, name_of(w, m));
        masu__buffer_printf(out,
                            ", \"capacity\": %" PRIu64 ", \"used\": %" PRIu64 ", \"cost\": %" PRIu64
                            ", \"by_operators\": %" PRIu64 ", \"by_moves\": %" PRIu64 "}",
                            w->memories[m].capacity_bytes, w->plan.heights[m], w->memories[m].cost, operators[m],
                            moves[m]);
    }
}

static void put_json_place(const moves_work *w, const masu_moves_place *p, masu__buffer *out) {
    put_text(out, moves_id(w, p));
    masu__buffer_puts(out, ", \"memory\": ");
    put_text(out, name_of(w, p->memory));
    masu__buffer_printf(
        out, ", \"lower\": %" PRId64 ", \"upper\": %" PRId64 ", \"size\": %" PRIu64 ", \"offset\": %" PRIu64 "}",
        (int64_t)p->lower + w->first_moment, (int64_t)p->upper + w->first_moment, moves_bytes(w, p), p->offset);
}

static void put_json_move(const moves_work *w, const masu_moves_move *move, masu__buffer *out) {
    const masu_moves_place *from = &w->plan.places[move->from], *to = &w->plan.places[move->to];
    put_text(out, moves_id(w, to));
    masu__buffer_printf(out, ", \"begin_operator\": %" PRId64 ", \"end_operator\": %" PRId64 ", \"from\": ",
                        moves_operator(w, move->begin), moves_operator(w, move->end));
    put_text(out, name_of(w, from->memory));
    masu__buffer_printf(out, ", \"from_offset\": %" PRIu64 ", \"to\": ", from->offset);
    put_text(out, name_of(w, to->memory));
    masu__buffer_printf(out, ", \"to_offset\": %" PRIu64 ", \"bytes\": %" PRIu64 "}", to->offset, moves_bytes(w, to));
}

static void put_json_in_place(const moves_work *w, masu__buffer *out) {
    const char *comma = "";
    if (!w->args->in_place)
        return;
    masu__buffer_puts(out, ",\n  \"in_place\": [");
    for (size_t i = 0; i < w->plan.share_count; i++) {
        const masu_moves_share *s = share_done(w, i);
        if (!s)
            continue;
        masu__buffer_printf(out, "%s\n    {\"id\": ", comma);
        put_text(out, w->table->ids[w->row_of[s->taker]]);
        masu__buffer_puts(out, ", \"over\": ");
        put_text(out, w->table->ids[w->row_of[s->giver]]);
        masu__buffer_puts(out, s->is_view ? ", \"view\": true}" : ", \"view\": false}");
        comma = ",";
    }
    masu__buffer_puts(out, *comma ? "\n  ]" : "]");
}

/* Numbers of operators in the file, in the order in which they run. */
static void put_json_order(const moves_work *w, masu__buffer *out) {
    if (!w->args->reorder)
        return;
    masu__buffer_printf(out, ",\n  \"orders\": %zu,\n  \"all_orders\": %s,\n  \"order\": [", w->orders_tried,
                        w->all_orders ? "true" : "false");
    for (size_t k = 0; k < w->source.graph.count; k++)
        masu__buffer_printf(out, "%s%zu", k ? ", " : "", moves_operator_number(w, k));
    masu__buffer_putc(out, ']');
}

void moves_report_json(const moves_work *w, masu__buffer *out) {
    masu__buffer_puts(out, "{\n  \"file\": ");
    put_text(out, w->args->path);
    masu__buffer_printf(out, ",\n  \"cost\": %" PRIu64 ",\n  \"at_least\": %" PRIu64 ",\n  \"proven\": %s",
                        w->plan.cost, w->plan.lower_bound, w->plan.outcome == MASU_MOVES_OPTIMAL ? "true" : "false");
    if (w->plan.greedy_cost != UINT64_MAX)
        masu__buffer_printf(out, ",\n  \"greedy\": %" PRIu64, w->plan.greedy_cost);
    if (w->args->moves && w->life.is_there)
        masu__buffer_printf(out, ",\n  \"for_life\": {\"cost\": %" PRIu64 ", \"at_least\": %" PRIu64 "}", w->life.cost,
                            w->life.lower_bound);
    masu__buffer_puts(out, ",\n  \"memories\": [");
    put_json_memories(w, out);
    masu__buffer_puts(out, "\n  ],\n  \"places\": [");
    const char *comma = "";
    for (size_t i = 0; i < w->plan.place_count; i++) {
        if (moves_is_reserved(w, &w->plan.places[i]))
            continue;
        masu__buffer_printf(out, "%s\n    {\"id\": ", comma);
        put_json_place(w, &w->plan.places[i], out);
        comma = ",";
    }
    masu__buffer_puts(out, "\n  ],\n  \"moves\": [");
    for (size_t i = 0; i < w->plan.move_count; i++) {
        masu__buffer_puts(out, i ? ",\n    {\"id\": " : "\n    {\"id\": ");
        put_json_move(w, &w->plan.moves[i], out);
    }
    masu__buffer_puts(out, w->plan.move_count ? "\n  ]" : "]");
    put_json_in_place(w, out);
    put_json_order(w, out);
    masu__buffer_puts(out, "\n}\n");
}

void moves_report_csv(const moves_work *w, masu__buffer *out) {
    masu__buffer_puts(out, "what,id,memory,begin,end,size,offset,from,from_offset\n");
    for (size_t i = 0; i < w->plan.place_count; i++) {
        const masu_moves_place *p = &w->plan.places[i];
        masu__buffer_puts(out, moves_is_reserved(w, p) ? "reserved," : "place,");
        plan_put_id(out, moves_id(w, p));
        masu__buffer_printf(out, ",%s,%" PRId64 ",%" PRId64 ",%" PRIu64 ",%" PRIu64 ",,\n", name_of(w, p->memory),
                            (int64_t)p->lower + w->first_moment, (int64_t)p->upper + w->first_moment, moves_bytes(w, p),
                            p->offset);
    }
    for (size_t i = 0; i < w->plan.move_count; i++) {
        const masu_moves_move *move = &w->plan.moves[i];
        const masu_moves_place *from = &w->plan.places[move->from], *to = &w->plan.places[move->to];
        masu__buffer_puts(out, "move,");
        plan_put_id(out, moves_id(w, to));
        masu__buffer_printf(out, ",%s,%" PRId64 ",%" PRId64 ",%" PRIu64 ",%" PRIu64 ",%s,%" PRIu64 "\n",
                            name_of(w, to->memory), (int64_t)move->begin + w->first_moment,
                            (int64_t)move->end + w->first_moment, moves_bytes(w, to), to->offset,
                            name_of(w, from->memory), from->offset);
    }
}

/* ---- for the other writers ------------------------------------------------------------------------------------ */

/* Places in which a result lies over an operand, as long as both are held. */
static bool relate_places(const moves_work *w, plan_table *table) {
    for (size_t i = 0; i < w->plan.share_count; i++) {
        const masu_moves_share *s = share_done(w, i);
        for (size_t a = 0; s && a < w->plan.place_count; a++)
            for (size_t b = 0; w->plan.places[a].row == s->giver && b < w->plan.place_count; b++) {
                const masu_moves_place *x = &w->plan.places[a], *y = &w->plan.places[b];
                if (y->row == s->taker && x->memory == y->memory && x->offset == y->offset && x->lower < y->upper &&
                    y->lower < x->upper && !plan_table_relate(table, MASU_PLAN_MAY_SHARE, a, b))
                    return false;
            }
    }
    return true;
}

bool moves_as_table(const moves_work *w, plan_table *table, uint64_t **offsets, plan_parts *in) {
    size_t last = SIZE_MAX, number = 1;
    *offsets = MASU_ARENA_ARRAY(&table->arena, uint64_t, w->plan.place_count + 1);
    in->memory_of = MASU_ARENA_ARRAY(&table->arena, size_t, w->plan.place_count + 1);
    in->count = w->problem.memory_count;
    for (size_t m = 0; m < in->count; m++)
        in->parts[m] = (plan_part){name_of(w, m), w->memories[m].capacity_bytes, w->plan.heights[m],
                                   w->plan.heights[m]};
    for (size_t i = 0; *offsets && in->memory_of && i < w->plan.place_count; i++) {
        const masu_moves_place *p = &w->plan.places[i];
        number = p->row == last ? number + 1 : 1;
        last = p->row;
        masu_plan_row *row = plan_table_add(table);
        if (!row)
            return false;
        *row = (masu_plan_row){.size_bytes = moves_bytes(w, p),
                               .lower = (int64_t)p->lower + w->first_moment,
                               .upper = (int64_t)p->upper + w->first_moment,
                               .alignment_bytes = w->problem.rows[p->row].alignment_bytes};
        const char *id = moves_is_reserved(w, p) ? masu__arena_printf(&table->arena, "#reserved%zu", i)
                         : number == 1           ? moves_id(w, p)
                                                 : masu__arena_printf(&table->arena, "%s:%zu", moves_id(w, p), number);
        if (!id)
            return false;
        table->ids[i] = id;
        (*offsets)[i] = p->offset;
        in->memory_of[i] = p->memory;
    }
    return *offsets && in->memory_of && relate_places(w, table);
}
