/* moves_header.c: a plan with moves as C: sizes of the memories, each place of each buffer, and the moves in the order
 * of the channel.
 *
 * A runtime starts move i when operator `begin` is about to run (-1: before the first) and waits for it before operator
 * `end`; moves are never started out of order.
 */
#include <inttypes.h>

#include "tool/plan/move_values.h"
#include "tool/plan/network.h"

static void put_places(const moves_work *w, const char *prefix, masu__buffer *out) {
    size_t count = 0;
    for (size_t i = 0; i < w->plan.place_count; i++)
        count += !moves_is_reserved(w, &w->plan.places[i]);
    masu__buffer_puts(out,
                      "\n/* Where each buffer is: its number (of the tensor; -1: scratch), the memory, held for "
                      "operators begin … end - 1, the offset. */\n");
    masu__buffer_printf(out,
                        "typedef struct %s_place {\n"
                        "    int32_t buffer;\n"
                        "    int32_t memory;\n"
                        "    int32_t begin, end;\n"
                        "    uint64_t offset, bytes;\n"
                        "} %s_place;\n",
                        prefix, prefix);
    masu__buffer_printf(out, "static const %s_place %s_places[%zu] = {\n", prefix, prefix, count ? count : 1);
    for (size_t i = 0; i < w->plan.place_count; i++) {
        const masu_moves_place *p = &w->plan.places[i];
        if (moves_is_reserved(w, p))
            continue;
        size_t row = w->row_of[p->row];
        int64_t number = w->tensor_of ? (w->tensor_of[row] == SIZE_MAX ? -1 : (int64_t)w->tensor_of[row])
                                      : (int64_t)row;
        masu__buffer_printf(out, "    {%" PRId64 ", %zu, %" PRId64 ", %" PRId64 ", %" PRIu64 ", %" PRIu64 "},\n",
                            number, p->memory, moves_operator(w, p->lower), moves_operator(w, p->upper), p->offset,
                            moves_bytes(w, p));
    }
    masu__buffer_puts(out, count ? "};\n" : "    {0, 0, 0, 0, 0, 0}};\n");
}

static void put_moves(const moves_work *w, const char *prefix, masu__buffer *out) {
    masu__buffer_puts(out,
                      "\n/* In this order: begun when operator `begin` is about to run (-1: before the first), over "
                      "before operator `end` runs. */\n");
    masu__buffer_printf(
        out,
        "typedef struct %s_move {\n    int32_t begin, end;\n    int32_t buffer;\n    int32_t from, to; /* memories */\n"
        "    uint64_t from_offset, to_offset, bytes;\n} %s_move;\n",
        prefix, prefix);
    masu__buffer_printf(out, "static const %s_move %s_moves[%zu] = {\n", prefix, prefix,
                        w->plan.move_count ? w->plan.move_count : 1);
    for (size_t i = 0; i < w->plan.move_count; i++) {
        const masu_moves_move *move = &w->plan.moves[i];
        const masu_moves_place *from = &w->plan.places[move->from], *to = &w->plan.places[move->to];
        size_t row = w->row_of[to->row];
        int64_t number = w->tensor_of ? (w->tensor_of[row] == SIZE_MAX ? -1 : (int64_t)w->tensor_of[row])
                                      : (int64_t)row;
        masu__buffer_printf(
            out, "    {%" PRId64 ", %" PRId64 ", %" PRId64 ", %zu, %zu, %" PRIu64 ", %" PRIu64 ", %" PRIu64 "},\n",
            moves_operator(w, move->begin), moves_operator(w, move->end), number, from->memory, to->memory,
            from->offset, to->offset, moves_bytes(w, to));
    }
    masu__buffer_puts(out, w->plan.move_count ? "};\n" : "    {0, 0, 0, 0, 0, 0, 0, 0}};\n");
}

/* Places and moves count operators in this order. */
static void put_order(const moves_work *w, const char *prefix, masu__buffer *out) {
    if (!w->args->reorder || w->source.graph.count == 0)
        return;
    masu__buffer_puts(out, "\n/* Operator i of this plan is the one with this number in the file. */\n");
    masu__buffer_printf(out, "static const int32_t %s_order[%zu] = {", prefix, w->source.graph.count);
    for (size_t k = 0; k < w->source.graph.count; k++)
        masu__buffer_printf(out, "%s%zu", k ? ", " : "", moves_operator_number(w, k));
    masu__buffer_puts(out, "};\n");
}

void moves_write_header(const moves_work *w, masu__buffer *out) {
    char prefix[NETWORK_MOST_PREFIX];
    size_t places = 0;
    for (size_t i = 0; i < w->plan.place_count; i++)
        places += !moves_is_reserved(w, &w->plan.places[i]);
    network_begin_header(w->args->path, prefix, out);
    for (size_t m = 0; m < w->problem.memory_count; m++)
        network_put_define(out, prefix, w->args->memories[m].name, "ARENA_BYTES", w->plan.heights[m]);
    network_put_define(out, prefix, NULL, "ALIGNMENT", w->alignment ? w->alignment : 1);
    network_put_define(out, prefix, NULL, "MEMORY_COUNT", w->problem.memory_count);
    network_put_define(out, prefix, NULL, "PLACE_COUNT", places);
    network_put_define(out, prefix, NULL, "MOVE_COUNT", w->plan.move_count);
    put_order(w, prefix, out);
    put_places(w, prefix, out);
    put_moves(w, prefix, out);
    masu__buffer_puts(out, "\n#endif\n");
}
