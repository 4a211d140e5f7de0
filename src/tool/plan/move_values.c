/* move_values.c: the problem that the command line and the table make, planned, judged and written. */
#include <inttypes.h>
#include <string.h>
#include <time.h>

#include "tool/plan/move_values.h"
#include "tool/whole_files.h"

enum { MOST_MOMENTS = 1 << 20, BANDWIDTH_ONE = 1024 };

static int failed(masu_status status) {
    fprintf(stderr, "masu plan: %s\n", masu_status_text(status));
    return TOOL_FAILED;
}

bool moves_begin(moves_work *w, size_t uses, size_t shares) {
    masu__arena *arena = &w->table->arena;
    w->use_room = uses;
    w->share_room = shares;
    w->uses = MASU_ARENA_ARRAY(arena, masu_moves_use, uses + 1);
    w->shares = MASU_ARENA_ARRAY(arena, masu_moves_share, shares + 1);
    return w->uses != NULL && w->shares != NULL;
}

/* The table's rows and moments; numbers of the problem come later. */
void moves_use(moves_work *w, size_t row, int64_t moment, bool writes) {
    if (w->use_count < w->use_room)
        w->uses[w->use_count++] = (masu_moves_use){row, (size_t)(uint64_t)moment, !writes, writes};
}

void moves_use_often(moves_work *w, size_t row, int64_t moment, uint64_t reads) {
    if (w->use_count < w->use_room && reads > 0)
        w->uses[w->use_count++] = (masu_moves_use){row, (size_t)(uint64_t)moment, (uint32_t)reads, 0};
}

void moves_share(moves_work *w, const plan_pair *pair) {
    if (w->share_count < w->share_room)
        w->shares[w->share_count++] = (masu_moves_share){pair->giver, pair->taker, pair->is_view};
}

/* ---- the problem ----------------------------------------------------------------------------------------- */

static int complain_row(const moves_work *w, size_t row, const char *what) {
    fprintf(stderr, "%s: error: buffer %s %s\n", w->args->path, w->table->ids[row], what);
    return TOOL_FAILED;
}

static int check_rows(const moves_work *w) {
    if (w->table->relation_count > 0) {
        fprintf(stderr,
                "%s: error: some buffers must or may share bytes; where values move or are pinned only --in-place says "
                "which do\n",
                w->args->path);
        return TOOL_FAILED;
    }
    for (size_t i = 0; i < w->table->count; i++) {
        const masu_plan_row *row = &w->table->rows[i];
        if (row->gap_count > 0)
            return complain_row(w, i,
                                "has gaps; where values move or are pinned there are none: a value that is not needed "
                                "for a while is moved away");
        if (w->table->uses[i] > UINT32_MAX)
            return complain_row(w, i, "has more than 4294967295 uses");
        if (row->has_hint)
            return complain_row(w, i,
                                "has a hint; where values move or are pinned there are none: leave the column out");
    }
    return TOOL_OK;
}

static bool find_moments(moves_work *w) {
    int64_t low = w->first_operator, high = low + 1;
    for (size_t i = 0; i < w->table->count; i++) {
        low = w->table->rows[i].lower < low ? w->table->rows[i].lower : low;
        high = w->table->rows[i].upper > high ? w->table->rows[i].upper : high;
    }
    w->first_moment = low;
    w->problem.moment_count = (size_t)((uint64_t)high - (uint64_t)low);
    return w->problem.moment_count <= MOST_MOMENTS;
}

static bool set_memories(moves_work *w) {
    const plan_arguments *a = w->args;
    uint64_t fastest = 0;
    for (size_t m = 0; m < a->memory_count; m++)
        fastest = a->memories[m].bandwidth > fastest ? a->memories[m].bandwidth : fastest;
    for (size_t m = 0; m < a->memory_count; m++) {
        const plan_memory_option *o = &a->memories[m];
        double relative = o->bandwidth ? (double)fastest / (double)o->bandwidth * BANDWIDTH_ONE + 0.5 : 0;
        if (relative > MASU_MOVES_MOST_COST)
            return false;
        w->memories[m].capacity_bytes = o->capacity_bytes;
        w->memories[m].cost = o->has_latency ? o->latency : o->bandwidth ? (uint64_t)relative : m;
    }
    return true;
}

static bool set_rows(moves_work *w) {
    plan_table *t = w->table;
    masu__arena *arena = &t->arena;
    size_t most = t->count + w->args->reserve_count + 1, count = 0;
    masu_moves_row *rows = MASU_ARENA_ARRAY(arena, masu_moves_row, most);
    w->row_of = MASU_ARENA_ARRAY(arena, size_t, most);
    w->problem_row = MASU_ARENA_ARRAY(arena, size_t, most);
    if (!rows || !w->row_of || !w->problem_row)
        return false;
    for (size_t i = 0; i < t->count; i++) {
        const masu_plan_row *row = &t->rows[i];
        w->problem_row[i] = row->size_bytes > 0 ? count : SIZE_MAX;
        if (row->size_bytes == 0)
            continue;
        w->row_of[count] = i;
        rows[count++] = (masu_moves_row){.size_bytes = row->size_bytes,
                                         .alignment_bytes = row->alignment_bytes,
                                         .lower = (size_t)(row->lower - w->first_moment),
                                         .upper = (size_t)(row->upper - w->first_moment),
                                         .only = MASU_MOVES_ANY,
                                         .home = i >= w->constants_begin ? w->args->constants : MASU_MOVES_ANY,
                                         .is_fixed = row->is_fixed,
                                         .fixed_offset = row->fixed_offset};
    }
    for (size_t i = 0; i < w->args->reserve_count; i++) {
        const plan_reserve_option *r = &w->args->reserves[i];
        w->row_of[count] = SIZE_MAX;
        rows[count++] = (masu_moves_row){.size_bytes = r->to - r->from,
                                         .upper = w->problem.moment_count,
                                         .only = r->memory,
                                         .home = MASU_MOVES_ANY,
                                         .is_fixed = true,
                                         .fixed_offset = r->from};
    }
    w->problem.rows = rows;
    w->problem.count = count;
    return true;
}

static int set_pins(moves_work *w) {
    plan_index index;
    size_t twice = 0;
    masu_moves_row *rows = (masu_moves_row *)w->problem.rows;
    if (!plan_index_make(w->table, &index, &twice))
        return failed(MASU_ERR_OUT_OF_MEMORY);
    for (size_t i = 0; i < w->args->pin_count; i++) {
        const plan_pin_option *pin = &w->args->pins[i];
        size_t row = plan_index_find(w->table, &index, pin->name, strlen(pin->name));
        if (row == SIZE_MAX) {
            fprintf(stderr, "masu plan: %s %s: no buffer of %s has this name\n", pin->is_home ? "--home" : "--pin",
                    pin->name, w->args->path);
            return TOOL_FAILED;
        }
        if (w->problem_row[row] == SIZE_MAX)
            return complain_row(w, row, "takes no bytes: it cannot be pinned");
        masu_moves_row *r = &rows[w->problem_row[row]];
        size_t *place = pin->is_home ? &r->home : &r->only;
        if (*place != MASU_MOVES_ANY && *place != pin->memory)
            return complain_row(w, row, "is in two memories by --pin or --home");
        *place = pin->memory;
        if (r->only != MASU_MOVES_ANY && r->home != MASU_MOVES_ANY && r->only != r->home)
            return complain_row(w, row, "stays in one memory by --pin and begins in another by --home");
    }
    for (size_t i = 0; i < w->table->count; i++)
        if (w->table->rows[i].is_fixed && w->problem_row[i] != SIZE_MAX &&
            rows[w->problem_row[i]].only == MASU_MOVES_ANY)
            return complain_row(w, i, "has an offset: say of which memory, with --pin BUFFER=MEMORY");
    return TOOL_OK;
}

/* Uses by the numbers of the problem. */
static void set_uses(moves_work *w) {
    size_t kept = 0;
    for (size_t i = 0; i < w->use_count; i++) {
        masu_moves_use use = w->uses[i];
        int64_t moment = (int64_t)(uint64_t)use.moment;
        use.row = w->problem_row[use.row];
        use.moment = (size_t)(moment - w->first_moment);
        if (use.row != SIZE_MAX)
            w->uses[kept++] = use;
    }
    w->use_count = kept;
    w->problem.uses = w->uses;
    w->problem.use_count = kept;
}

/* Pairs by the numbers of the problem; who has a place of its own by an offset or --home takes over nothing. */
static void set_shares(moves_work *w) {
    size_t kept = 0;
    for (size_t i = 0; i < w->share_count; i++) {
        masu_moves_share share = w->shares[i];
        share.giver = w->problem_row[share.giver];
        share.taker = w->problem_row[share.taker];
        if (share.giver != SIZE_MAX && share.taker != SIZE_MAX && !w->problem.rows[share.giver].is_fixed &&
            !w->problem.rows[share.taker].is_fixed && w->problem.rows[share.taker].home == MASU_MOVES_ANY)
            w->shares[kept++] = share;
    }
    w->share_count = kept;
    w->problem.shares = w->shares;
    w->problem.share_count = kept;
}

static bool set_channel(moves_work *w) {
    uint64_t *bytes = MASU_ARENA_ARRAY(&w->table->arena, uint64_t, w->problem.moment_count + 1);
    for (size_t t = 0; bytes && t < w->problem.moment_count; t++)
        bytes[t] = w->args->channel;
    w->problem.channel_bytes = w->args->has_channel ? bytes : NULL;
    w->problem.has_move_cost = w->args->has_move_cost;
    w->problem.move_cost = w->args->move_cost;
    return bytes != NULL;
}

static int make_problem(moves_work *w) {
    int status = check_rows(w);
    if (status != TOOL_OK)
        return status;
    if (!find_moments(w)) {
        fprintf(
            stderr,
            "%s: error: the lives span more than %d moments; where values move or are pinned a moment is an operator\n",
            w->args->path, MOST_MOMENTS);
        return TOOL_FAILED;
    }
    w->problem.memories = w->memories;
    w->problem.memory_count = w->args->memory_count;
    w->problem.stays = !w->args->moves;
    if (!set_memories(w))
        return tool_misuse("plan", "--memory: bandwidths differ by more than 1024 times");
    if (!set_rows(w) || !set_channel(w))
        return failed(MASU_ERR_OUT_OF_MEMORY);
    set_uses(w);
    status = set_pins(w);
    set_shares(w);
    return status;
}

/* ---- the plan --------------------------------------------------------------------------------------------- */

static int say_mistake(const moves_work *w) {
    size_t where = 0;
    masu_moves_mistake mistake = masu_moves_validate(&w->problem, &where);
    if (mistake == MASU_MOVES_BAD_ROW && w->row_of[where] != SIZE_MAX)
        return complain_row(w, w->row_of[where], "has an offset that is not a multiple of its alignment");
    if (mistake == MASU_MOVES_TOO_LARGE) {
        fprintf(stderr, "%s: error: bytes × uses × weights add up beyond 2^50\n", w->args->path);
        return TOOL_FAILED;
    }
    return failed(MASU_ERR_INVALID_ARGUMENT);
}

/* The judge looks at each plan before anything is said of it. */
static masu_status judge(moves_work *w, const masu_moves_problem *problem, const masu_moves_plan *plan) {
    masu_moves_verdict verdict;
    masu_status status = masu_moves_check(problem, plan, &verdict, NULL);
    w->is_judged = status == MASU_OK;
    if (status == MASU_ERR_OVERFLOW)
        return MASU_OK;
    return status == MASU_OK && verdict != MASU_MOVES_FINE ? MASU_ERR_INTERNAL : status;
}

bool moves_has_plan(const masu_moves_plan *plan) {
    return plan->outcome == MASU_MOVES_OPTIMAL || plan->outcome == MASU_MOVES_FEASIBLE;
}

double moves_now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Where time was short, moves may have come out dearer than none: then there are none. */
static void take_cheaper(masu_moves_plan *plan, masu_moves_plan *life) {
    if (!moves_has_plan(life) || (moves_has_plan(plan) && plan->cost <= life->cost)) {
        masu_moves_free(life);
        return;
    }
    life->lower_bound = plan->lower_bound;
    life->greedy_cost = plan->greedy_cost;
    life->outcome = life->cost <= life->lower_bound ? MASU_MOVES_OPTIMAL : MASU_MOVES_FEASIBLE;
    masu_moves_free(plan);
    *plan = *life;
}

static void note_life(moves_work *w, const masu_moves_problem *stays, const masu_moves_plan *life) {
    uint64_t operators[PLAN_MOST_MEMORIES], moves[PLAN_MOST_MEMORIES];
    if (w->life.is_there && w->life.cost <= life->cost)
        return;
    masu_moves_traffic(stays, life, operators, moves);
    w->life = (moves_life){true, life->outcome == MASU_MOVES_OPTIMAL, life->cost, life->lower_bound,
                           operators[stays->memory_count - 1]};
}

/* The plan for the problem as it is, judged. */
static masu_status find(moves_work *w, double seconds, masu_moves_plan *plan) {
    masu_moves_options options = masu_moves_options_default();
    masu_moves_plan life = {0};
    masu_moves_problem stays = w->problem;
    stays.stays = true;
    options.seed = w->args->seed;
    options.time_limit_s = w->args->moves ? seconds * 0.7 : seconds;
    masu_status status = masu_moves_find(&w->problem, &options, plan);
    options.time_limit_s = seconds * 0.3;
    if (status == MASU_OK && w->args->moves) {
        status = masu_moves_find(&stays, &options, &life);
        if (status == MASU_OK && moves_has_plan(&life)) {
            status = judge(w, &stays, &life);
            note_life(w, &stays, &life);
        }
        take_cheaper(plan, &life);
    }
    return status == MASU_OK && moves_has_plan(plan) ? judge(w, &w->problem, plan) : status;
}

/* The problem of one order. */
static int take_order(moves_work *w, const size_t *order) {
    w->use_count = w->share_count = 0;
    w->order = order;
    return w->source.settle(w->source.context, w, order) ? make_problem(w) : failed(MASU_ERR_OUT_OF_MEMORY);
}

static int say_none(const moves_work *w) {
    bool never = w->plan.outcome == MASU_MOVES_INFEASIBLE &&
                 (!w->args->reorder || (w->all_orders && w->all_bound == UINT64_MAX));
    fprintf(stderr, "masu plan: %s\n",
            never ? "no plan is possible: the memories cannot hold these buffers"
                  : "no plan was found, and none is ruled out");
    return TOOL_FAILED;
}

static bool ends_with(const char *text, const char *end) {
    size_t a = strlen(text), b = strlen(end);
    return a >= b && strcmp(text + a - b, end) == 0;
}

static int write_files(const moves_work *w) {
    const plan_arguments *a = w->args;
    tool_file files[] = {{a->output, {0}}, {a->svg, {0}}, {a->header, {0}}};
    plan_table table = {0};
    plan_parts in = {0};
    uint64_t *offsets = NULL;
    if ((a->output || a->svg) && !moves_as_table(w, &table, &offsets, &in)) {
        plan_table_free(&table);
        return failed(MASU_ERR_OUT_OF_MEMORY);
    }
    plan_answer answer = {&table, offsets, &in};
    if (a->output)
        (ends_with(a->output, ".json") ? plan_write_json : plan_write_csv)(&answer, &files[0].text);
    if (a->svg)
        plan_write_svg(&answer, &files[1].text);
    if (a->header)
        moves_write_header(w, &files[2].text);
    plan_table_free(&table);
    return tool_write_files("plan", files, sizeof files / sizeof *files);
}

static bool has_stdout(const char *path) {
    return path && strcmp(path, "-") == 0;
}

static int say(const moves_work *w) {
    const plan_arguments *a = w->args;
    masu__buffer text = {0};
    if (a->json)
        moves_report_json(w, &text);
    else if (a->csv)
        moves_report_csv(w, &text);
    else if (!a->quiet)
        moves_report_text(w, &text);
    bool whole = !text.failed;
    fputs(masu__buffer_text(&text),
          has_stdout(a->output) || has_stdout(a->svg) || has_stdout(a->header) ? stderr : stdout);
    masu__buffer_destroy(&text);
    return whole ? TOOL_OK : failed(MASU_ERR_OUT_OF_MEMORY);
}

int moves_try_order(moves_work *w, const size_t *order, double seconds) {
    masu_moves_plan plan;
    const size_t *before = w->order;
    int result = take_order(w, order);
    if (result != TOOL_OK)
        return result;
    masu_status status = find(w, seconds, &plan);
    if (status != MASU_OK) {
        masu_moves_free(&plan);
        return status == MASU_ERR_INVALID_ARGUMENT ? say_mistake(w) : failed(status);
    }
    w->orders_tried++;
    uint64_t bound = plan.outcome == MASU_MOVES_INFEASIBLE ? UINT64_MAX : plan.lower_bound;
    w->all_bound = bound < w->all_bound ? bound : w->all_bound;
    bool is_better = w->orders_tried == 1 ||
                     (moves_has_plan(&plan) && (!moves_has_plan(&w->plan) || plan.cost < w->plan.cost));
    masu_moves_free(is_better ? &w->plan : &plan);
    w->order = is_better ? order : before;
    if (is_better)
        w->plan = plan;
    return TOOL_OK;
}

/* A proof for the plan's own order is one for all orders only when all were tried. */
static void settle_bound(moves_work *w) {
    if (!w->all_orders || !moves_has_plan(&w->plan))
        return;
    w->plan.lower_bound = w->all_bound;
    w->plan.outcome = w->plan.cost <= w->plan.lower_bound ? MASU_MOVES_OPTIMAL : MASU_MOVES_FEASIBLE;
}

static int try_all(moves_work *w) {
    double begin = moves_now(), time_s = w->args->time_s;
    w->all_bound = UINT64_MAX;
    int result = moves_try_order(w, NULL, w->args->reorder ? time_s * 0.4 : time_s);
    if (result != TOOL_OK || !w->args->reorder)
        return result;
    result = moves_try_orders(w, begin + time_s);
    if (result == TOOL_OK)
        result = take_order(w, w->order); /* what is said and written is of this one */
    settle_bound(w);
    return result;
}

int moves_run(moves_work *w) {
    int result = try_all(w);
    if (result == TOOL_OK && !moves_has_plan(&w->plan))
        result = say_none(w);
    if (result == TOOL_OK)
        result = say(w);
    if (result == TOOL_OK)
        result = write_files(w);
    masu_moves_free(&w->plan);
    return result;
}
