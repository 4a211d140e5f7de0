/* kernel_command.c: `masu plan` of a kernel compiler's problem: each pool by itself, for nothing crosses from one to
 * another. */
#include <inttypes.h>
#include <string.h>
#include <time.h>

#include "base/meta.h"
#include "tool/plan/kernel.h"
#include "tool/whole_files.h"

/* One pool as a problem: its buffers, then what is reserved of it, as rows that stay where they are and live all the
 * time. */
typedef struct pool_problem {
    masu_plan_problem problem;
    masu_plan_row *rows;
    masu_plan_penalty *penalties;
    size_t penalty_count, buffer_count;
    uint64_t *offsets;
} pool_problem;

typedef struct pool_answer {
    size_t buffers;
    masu_plan_result result;
    masu_plan_price price; /* where the kernel asks for it; otherwise only cost */
    bool is_plan, pays;
} pool_answer;

typedef struct job {
    const plan_arguments *args;
    kernel k;
    uint64_t *offsets; /* per buffer */
    size_t *number;    /* per buffer: its row in the problem of its pool */
    pool_answer answers[PLAN_MOST_MEMORIES];
} job;

static double now_s(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static int failed(masu_status status) {
    fprintf(stderr, "masu plan: %s\n", masu_status_text(status));
    return TOOL_FAILED;
}

/* ---- one pool's problem -------------------------------------------------------------------------- */

static void stretch(const pool_problem *p, int64_t *first, int64_t *end) {
    *first = p->buffer_count > 0 ? p->rows[0].lower : 0;
    *end = p->buffer_count > 0 ? p->rows[0].upper : 1;
    for (size_t i = 1; i < p->buffer_count; i++) {
        *first = p->rows[i].lower < *first ? p->rows[i].lower : *first;
        *end = p->rows[i].upper > *end ? p->rows[i].upper : *end;
    }
}

static void add_buffers(job *j, size_t pool, pool_problem *p) {
    kernel *k = &j->k;
    for (size_t i = 0; i < k->table.count; i++)
        if (k->pool_of[i] == pool) {
            j->number[i] = p->buffer_count;
            p->rows[p->buffer_count++] = k->table.rows[i];
        }
    int64_t first, end;
    stretch(p, &first, &end);
    for (size_t i = 0; i < k->table.count; i++)
        if (k->pool_of[i] == pool && k->keeps_all_time[i]) {
            masu_plan_row *row = &p->rows[j->number[i]];
            row->lower = first;
            row->upper = end;
            row->gap_count = 0;
        }
}

/* The first so many ranges; what lies above them is not used. */
static void reserve(const kernel_pool *pool, size_t count, pool_problem *p) {
    int64_t first, end;
    stretch(p, &first, &end);
    p->problem.count = p->buffer_count + count;
    for (size_t i = 0; i < count; i++)
        p->rows[p->buffer_count + i] = (masu_plan_row){.size_bytes = pool->reserved[i].end - pool->reserved[i].begin,
                                                       .lower = first,
                                                       .upper = end,
                                                       .is_fixed = true,
                                                       .fixed_offset = pool->reserved[i].begin};
}

static bool make_problem(job *j, size_t pool, pool_problem *p) {
    kernel *k = &j->k;
    masu__arena *arena = &k->table.arena;
    size_t most = k->table.count + k->pools[pool].reserved_count + 1;
    masu_plan_relation *relations = MASU_ARENA_ARRAY(arena, masu_plan_relation, k->table.relation_count + 1);
    *p = (pool_problem){.rows = MASU_ARENA_ARRAY(arena, masu_plan_row, most),
                        .penalties = MASU_ARENA_ARRAY(arena, masu_plan_penalty, k->penalty_count + 1),
                        .offsets = MASU_ARENA_ARRAY(arena, uint64_t, most)};
    if (!relations || !p->rows || !p->penalties || !p->offsets)
        return false;
    add_buffers(j, pool, p);
    p->problem.rows = p->rows;
    p->problem.relations = relations;
    for (size_t i = 0; i < k->table.relation_count; i++) {
        masu_plan_relation r = k->table.relations[i];
        if (k->pool_of[r.a] == pool)
            relations[p->problem.relation_count++] = (masu_plan_relation){r.kind, j->number[r.a], j->number[r.b]};
    }
    for (size_t i = 0; i < k->penalty_count; i++) {
        masu_plan_penalty one = k->penalties[i];
        if (k->pool_of[one.a] == pool)
            p->penalties[p->penalty_count++] = (masu_plan_penalty){j->number[one.a], j->number[one.b], one.cost};
    }
    return true;
}

/* ---- planning ------------------------------------------------------------------------------------- */

static bool is_plan(const masu_plan_result *r) {
    return r->outcome == MASU_PLAN_OPTIMAL || r->outcome == MASU_PLAN_FEASIBLE;
}

static masu_plan_options options_of(const job *j, double time_s) {
    masu_plan_options options = masu_plan_options_default();
    options.time_limit_s = time_s;
    options.seed = j->args->seed;
    options.threads = (unsigned)j->args->threads;
    return options;
}

static uint64_t smaller(uint64_t a, uint64_t b) {
    return a == 0 || (b > 0 && b < a) ? b : a;
}

/* A range above all buffers adds nothing to the height, so a reserved range counts only where buffers do not fit
 * below it; then they lie above it, too. */
static masu_status find_lowest(const job *j, const kernel_pool *pool, double time_s, pool_problem *p,
                               masu_plan_result *result) {
    bool proven = true;
    uint64_t bound = UINT64_MAX; /* whichever ranges the buffers lie below */
    masu_status status = MASU_OK;
    for (size_t count = 0; count <= pool->reserved_count && status == MASU_OK; count++) {
        uint64_t below = count < pool->reserved_count ? pool->reserved[count].begin : 0;
        if (count < pool->reserved_count && below == 0)
            continue;
        masu_plan_options options = options_of(j, time_s / (double)(pool->reserved_count + 1));
        reserve(pool, count, p);
        p->problem.capacity_bytes = smaller(pool->capacity_bytes, below);
        status = masu_plan_find(&p->problem, &options, p->offsets, result);
        if (status == MASU_OK)
            bound = result->lower_bound_bytes < bound ? result->lower_bound_bytes : bound;
        if (status == MASU_OK && is_plan(result))
            break;
        proven &= result->outcome == MASU_PLAN_INFEASIBLE;
        if (below > 0 && p->problem.capacity_bytes < below) /* the capacity ends below this range */
            break;
    }
    if (status == MASU_OK && result->outcome == MASU_PLAN_OPTIMAL && !proven)
        result->outcome = MASU_PLAN_FEASIBLE;
    if (status == MASU_OK && result->outcome == MASU_PLAN_INFEASIBLE && !proven)
        result->outcome = MASU_PLAN_UNKNOWN;
    if (status == MASU_OK && !proven)
        result->lower_bound_bytes = bound;
    result->optimal = result->outcome == MASU_PLAN_OPTIMAL;
    return status;
}

/* Ranges above the capacity are out of the way. */
static masu_status find_cheapest(const job *j, const kernel_pool *pool, uint64_t capacity, double time_s,
                                 pool_problem *p, pool_answer *answer) {
    size_t count = 0;
    masu_plan_options options = options_of(j, time_s);
    while (count < pool->reserved_count && (capacity == 0 || pool->reserved[count].begin < capacity))
        count++;
    reserve(pool, count, p);
    for (size_t i = p->buffer_count; i < p->problem.count && capacity > 0; i++)
        if (p->rows[i].size_bytes > capacity - p->rows[i].fixed_offset)
            p->rows[i].size_bytes = capacity - p->rows[i].fixed_offset;
    p->problem.capacity_bytes = capacity;
    return masu_plan_find_cheapest(&p->problem, p->penalties, p->penalty_count, &options, p->offsets, &answer->result,
                                   &answer->price);
}

static uint64_t height_of(const pool_problem *p) {
    uint64_t height = 0;
    for (size_t i = 0; i < p->buffer_count; i++) {
        uint64_t end = p->offsets[i] + p->rows[i].size_bytes;
        height = end > height ? end : height;
    }
    return height;
}

/* The judge knows neither method: bytes, alignments, what is reserved, and what the plan costs. */
static bool judged(const pool_problem *p, const kernel_pool *pool, const pool_answer *answer) {
    uint64_t most = answer->result.height_bytes;
    for (size_t i = p->buffer_count; i < p->problem.count; i++) {
        uint64_t end = p->rows[i].fixed_offset + p->rows[i].size_bytes;
        most = end > most ? end : most;
    }
    return masu_plan_check_problem(&p->problem, p->offsets, most, NULL, NULL) == MASU_PLAN_FINE &&
           height_of(p) == answer->result.height_bytes &&
           (pool->capacity_bytes == 0 || answer->result.height_bytes <= pool->capacity_bytes) &&
           masu_plan_cost(&p->problem, p->penalties, p->penalty_count, p->offsets) == answer->price.cost;
}

static masu_status find(const job *j, const kernel_pool *pool, double time_s, pool_problem *p, pool_answer *answer) {
    bool both = j->k.lowest && j->k.cheapest && p->penalty_count > 0;
    masu_status status = MASU_OK;
    if (j->k.lowest)
        status = find_lowest(j, pool, both ? time_s / 2 : time_s, p, &answer->result);
    masu_plan_result lowest = answer->result;
    if (status == MASU_OK && j->k.cheapest && (!j->k.lowest || (both && is_plan(&lowest))))
        status = find_cheapest(j, pool, both ? lowest.height_bytes : pool->capacity_bytes, both ? time_s / 2 : time_s,
                               p, answer);
    if (both && status == MASU_OK && is_plan(&lowest)) {
        double seconds = lowest.seconds + answer->result.seconds;
        answer->result = lowest;
        answer->result.seconds = seconds;
    }
    return status;
}

/* More time may be needed for a plan, or for a proof. */
static bool is_open(const kernel *k, const pool_answer *a) {
    if (!a->is_plan)
        return a->result.outcome != MASU_PLAN_INFEASIBLE;
    return (k->lowest && !a->result.optimal) || (k->cheapest && !a->price.optimal);
}

static bool is_worse(const kernel *k, const pool_answer *a, const pool_answer *than) {
    if (!a->is_plan || !than->is_plan)
        return than->is_plan;
    if (k->lowest && a->result.height_bytes != than->result.height_bytes)
        return a->result.height_bytes > than->result.height_bytes;
    return k->cheapest && a->price.cost > than->price.cost;
}

/* Judged first. */
static int keep_plan(job *j, size_t number, const pool_problem *p) {
    const kernel_pool *pool = &j->k.pools[number];
    if (!judged(p, pool, &j->answers[number])) {
        fprintf(stderr, "masu plan: the judge does not agree with the plan of %s\n", pool->name);
        return TOOL_FAILED;
    }
    for (size_t i = 0; i < j->k.table.count; i++)
        if (j->k.pool_of[i] == number)
            j->offsets[i] = p->offsets[j->number[i]];
    return TOOL_OK;
}

/* before: what an earlier try came to, kept where this one comes to less; NULL at first. */
static int plan_pool(job *j, size_t number, double time_s, const pool_answer *before) {
    kernel_pool *pool = &j->k.pools[number];
    pool_answer *answer = &j->answers[number];
    pool_problem p;
    if (!make_problem(j, number, &p))
        return failed(MASU_ERR_OUT_OF_MEMORY);
    *answer = (pool_answer){.buffers = p.buffer_count,
                            .is_plan = true,
                            .pays = j->k.cheapest,
                            .price = {.optimal = true},
                            .result = {.optimal = true, .outcome = MASU_PLAN_OPTIMAL, .order = "none"}};
    if (p.buffer_count == 0)
        return TOOL_OK;
    masu_status status = find(j, pool, time_s, &p, answer);
    if (status != MASU_OK)
        return failed(status);
    answer->is_plan = is_plan(&answer->result);
    if (answer->is_plan) {
        answer->result.height_bytes = height_of(&p);
        answer->price.cost = masu_plan_cost(&p.problem, p.penalties, p.penalty_count, p.offsets);
    }
    if (before && is_worse(&j->k, answer, before))
        *answer = *before;
    else if (answer->is_plan)
        return keep_plan(j, number, &p);
    return TOOL_OK;
}
/* ---- saying --------------------------------------------------------------------------------------- */

static FILE *summary_stream(const plan_arguments *a) {
    bool taken = (a->output && strcmp(a->output, "-") == 0) || (a->svg && strcmp(a->svg, "-") == 0);
    return taken ? stderr : stdout;
}

static void say_failure(const kernel_pool *pool, const pool_answer *answer) {
    bool proven = answer->result.outcome == MASU_PLAN_INFEASIBLE;
    if (proven && answer->result.lower_bound_bytes >= (uint64_t)INT64_MAX) {
        fprintf(
            stderr,
            "masu plan: %s: fixed buffers, reserved ranges and buffers that share an offset contradict each other\n",
            pool->name);
        return;
    }
    fprintf(stderr,
            proven ? "masu plan: %s: no plan fits into " : "masu plan: %s: none was found in time that fits into ",
            pool->name);
    plan_say_bytes(stderr, pool->capacity_bytes);
    fputs(proven ? ": at least " : ", and none is ruled out", stderr);
    if (proven) {
        plan_say_bytes(stderr, answer->result.lower_bound_bytes);
        fputs(" are needed", stderr);
    }
    fputs("\n", stderr);
}

static void say_pool(FILE *to, const kernel *k, size_t number, const pool_answer *answer) {
    const kernel_pool *pool = &k->pools[number];
    if (!answer->is_plan) {
        say_failure(pool, answer);
        return;
    }
    fprintf(to, "%s: %zu buffers, height ", pool->name, answer->buffers);
    plan_say_bytes(to, answer->result.height_bytes);
    if (k->lowest)
        fprintf(to, answer->result.optimal ? ", optimal" : ", %.2f %% above the bound",
                100 * ((double)answer->result.height_bytes /
                           (double)(answer->result.lower_bound_bytes ? answer->result.lower_bound_bytes : 1) -
                       1));
    if (answer->pays)
        fprintf(to, ", reuse cost %" PRIu64, answer->price.cost);
    if (answer->pays && answer->price.optimal)
        fputs(", the least", to);
    else if (answer->pays)
        fprintf(to, ", at least %" PRIu64, answer->price.lower_bound);
    fputs("\n", to);
}

static void put_pool(masu__buffer *out, const kernel_pool *pool, const pool_answer *answer, bool lowest, bool last) {
    masu__buffer_printf(out, "    {\"pool\": %" PRIu64 ", \"name\": ", pool->id);
    masu__buffer_json_string(out, pool->name, strlen(pool->name));
    masu__buffer_printf(out, ", \"buffers\": %zu, \"planned\": %s", answer->buffers,
                        answer->is_plan ? "true" : "false");
    if (answer->is_plan)
        masu__buffer_printf(out, ", \"height\": %" PRIu64, answer->result.height_bytes);
    else
        masu__buffer_printf(out, ", \"infeasible\": %s",
                            answer->result.outcome == MASU_PLAN_INFEASIBLE ? "true" : "false");
    masu__buffer_printf(out, ", \"lower_bound\": %" PRIu64, answer->result.lower_bound_bytes);
    if (answer->is_plan && lowest)
        masu__buffer_printf(out, ", \"optimal\": %s", answer->result.optimal ? "true" : "false");
    if (answer->is_plan && answer->pays)
        masu__buffer_printf(out, ", \"reuse_cost\": %" PRIu64 ", \"reuse_cost_bound\": %" PRIu64, answer->price.cost,
                            answer->price.lower_bound);
    masu__buffer_printf(out, ", \"seconds\": %.6f}%s\n", answer->result.seconds, last ? "" : ",");
}

static int say(job *j) {
    const kernel *k = &j->k;
    FILE *to = summary_stream(j->args);
    for (size_t i = 0; i < k->pool_count && !j->args->json && !j->args->quiet; i++)
        say_pool(to, k, i, &j->answers[i]);
    if (!j->args->json)
        return TOOL_OK;
    masu__buffer text = {0};
    masu__buffer_puts(&text, "{\n  \"instance\": ");
    masu__buffer_json_string(&text, k->instance, strlen(k->instance));
    masu__buffer_puts(&text, ",\n  \"pools\": [\n");
    for (size_t i = 0; i < k->pool_count; i++)
        put_pool(&text, &k->pools[i], &j->answers[i], k->lowest, i + 1 == k->pool_count);
    masu__buffer_puts(&text, "  ]\n}\n");
    bool whole = !text.failed;
    fputs(masu__buffer_text(&text), to);
    masu__buffer_destroy(&text);
    return whole ? TOOL_OK : failed(MASU_ERR_OUT_OF_MEMORY);
}

/* ---- files ---------------------------------------------------------------------------------------- */

/* dsa-solver's solutions, but for problem_fingerprint, which only it computes. */
static void put_placements(const job *j, masu__buffer *out) {
    const kernel *k = &j->k;
    masu__buffer_puts(out, "{\n  \"schema_version\": 1,\n  \"profile\": ");
    masu__buffer_json_string(out, k->profile, strlen(k->profile));
    masu__buffer_puts(out, ",\n  \"instance\": ");
    masu__buffer_json_string(out, k->instance, strlen(k->instance));
    masu__buffer_puts(out, ",\n  \"metadata\": {\"solver\": \"masu\"},\n  \"placements\": [\n");
    for (size_t i = 0; i < k->table.count; i++)
        masu__buffer_printf(out, "    {\"buffer\": %" PRIu64 ", \"pool\": %" PRIu64 ", \"offset\": %" PRIu64 "}%s\n",
                            k->ids[i], k->pools[k->pool_of[i]].id, j->offsets[i], i + 1 < k->table.count ? "," : "");
    masu__buffer_puts(out, "  ]\n}\n");
}

static int write_all(job *j) {
    const plan_arguments *a = j->args;
    kernel *k = &j->k;
    plan_parts in = {.count = k->pool_count, .memory_of = k->pool_of};
    for (size_t i = 0; i < k->pool_count; i++)
        in.parts[i] = (plan_part){k->pools[i].name, k->pools[i].capacity_bytes, j->answers[i].result.height_bytes,
                                  j->answers[i].result.lower_bound_bytes};
    plan_answer answer = {&k->table, j->offsets, &in};
    tool_file files[] = {{a->output, {0}}, {a->svg, {0}}};
    size_t length = a->output ? strlen(a->output) : 0;
    if (length >= 5 && strcmp(a->output + length - 5, ".json") == 0)
        put_placements(j, &files[0].text);
    else if (a->output)
        plan_write_csv(&answer, &files[0].text);
    if (a->svg)
        plan_write_svg(&answer, &files[1].text);
    return tool_write_files("plan", files, 2);
}

/* ---- the whole ------------------------------------------------------------------------------------ */

static int prepare(job *j, const tool_text *text) {
    masu__buffer message = {0};
    const char *shown = strcmp(j->args->path, "-") == 0 ? "<stdin>" : j->args->path;
    if (!kernel_read(shown, text->data, text->length, &j->k, &message)) {
        fputs(masu__buffer_text(&message), stderr);
        masu__buffer_destroy(&message);
        return TOOL_FAILED;
    }
    for (size_t i = 0; i < j->k.table.count; i++)
        if (j->k.table.rows[i].alignment_bytes < j->args->alignment && !j->k.table.rows[i].is_fixed)
            j->k.table.rows[i].alignment_bytes = j->args->alignment;
    j->offsets = MASU_ARENA_ARRAY(&j->k.table.arena, uint64_t, j->k.table.count + 1);
    j->number = MASU_ARENA_ARRAY(&j->k.table.arena, size_t, j->k.table.count + 1);
    return j->offsets && j->number ? TOOL_OK : failed(MASU_ERR_OUT_OF_MEMORY);
}

/* Those that are still open, in equal shares of so much time. */
static int plan_open(job *j, double time_s, bool first) {
    size_t open = 0;
    for (size_t i = 0; i < j->k.pool_count; i++)
        open += first || is_open(&j->k, &j->answers[i]);
    for (size_t i = 0; i < j->k.pool_count; i++) {
        pool_answer before = j->answers[i];
        if (!first && !is_open(&j->k, &before))
            continue;
        double share = time_s / (double)open--;
        int status = plan_pool(j, i, share > 1e-3 ? share : 1e-3, first ? NULL : &before);
        if (status != TOOL_OK)
            return status;
        time_s -= j->answers[i].result.seconds;
    }
    return TOOL_OK;
}

static const double FIRST_SHARE = 0.25;

/* Most pools need no time, and the few that do should have all of it. */
static int plan_all(job *j) {
    double begin_s = now_s();
    int status = plan_open(j, j->args->time_s * FIRST_SHARE, true);
    if (status == TOOL_OK)
        status = plan_open(j, j->args->time_s - (now_s() - begin_s), false);
    bool all = true;
    for (size_t i = 0; i < j->k.pool_count; i++)
        all &= j->answers[i].is_plan;
    if (status == TOOL_OK)
        status = say(j);
    return status == TOOL_OK && all ? write_all(j) : TOOL_FAILED;
}

int kernel_run(const plan_arguments *args, const tool_text *text) {
    job j = {.args = args};
    int status = plan_check_for_kernel(args);
    if (status == TOOL_OK)
        status = prepare(&j, text);
    if (status == TOOL_OK)
        status = plan_all(&j);
    kernel_free(&j.k);
    return status;
}
