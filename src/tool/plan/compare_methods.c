/* compare_methods.c: `masu plan --compare`: what each method reaches on one problem. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/meta.h"
#include "tool/plan/plan_table.h"

enum { NAME_WIDTH = 42 };

typedef struct searched {
    const char *name;
    uint64_t step_limit;
    double time_limit_s; /* 0: that of the command */
} searched;

static const searched searches[] = {
    {"search, 100 000 steps", 100000, 0},
    {"search, 1 s", 0, 1},
    {"search, all the time", 0, 0},
};

static void say_line(const char *name, const masu_plan_result *r) {
    static const char *const outcomes[] = {"optimal", "feasible", "infeasible", "unknown"};
    double over = r->lower_bound_bytes > 0 && r->height_bytes > 0
                      ? 100 * ((double)r->height_bytes / (double)r->lower_bound_bytes - 1)
                      : 0;
    int letters = 0;
    for (const char *c = name; *c; c++)
        letters += ((unsigned char)*c & 0xC0) != 0x80;
    printf("%s%*s %16" PRIu64 " %9.3f %% %10.4f s %10" PRIu64 "  %-10s %s\n", name,
           letters < NAME_WIDTH ? NAME_WIDTH - letters : 0, "", r->height_bytes, over, r->seconds, r->steps,
           outcomes[r->outcome], r->order);
    fflush(stdout);
}

/* Solves, judges, prints. */
static masu_status compare_one(const masu_plan_problem *problem, const char *name, const masu_plan_options *options,
                               uint64_t *offsets) {
    masu_plan_result result;
    masu_status status = masu_plan_find(problem, options, offsets, &result);
    if (status != MASU_OK)
        return status;
    plan_judgement judgement = {0};
    if (result.outcome != MASU_PLAN_INFEASIBLE)
        status = plan_judge_windows(problem, offsets, result.height_bytes, &judgement);
    if (status != MASU_OK || judgement.verdict != MASU_PLAN_FINE)
        return status != MASU_OK ? status : MASU_ERR_INTERNAL;
    say_line(name, &result);
    return MASU_OK;
}

static masu_status compare_all(const masu_plan_problem *problem, const masu_plan_options *options, uint64_t *offsets) {
    masu_status status = MASU_OK;
    masu_plan_options mine = *options;
    mine.goal = MASU_PLAN_MINIMIZE;
    mine.improved = NULL;
    for (mine.only = 1; status == MASU_OK && masu_plan_method_name(mine.only); mine.only++)
        status = compare_one(problem, masu_plan_method_name(mine.only), &mine, offsets);
    mine.only = 0;
    for (size_t i = 0; i < sizeof searches / sizeof *searches && status == MASU_OK; i++) {
        mine.step_limit = searches[i].step_limit;
        mine.time_limit_s = options->time_limit_s;
        if (searches[i].time_limit_s > 0 && (mine.time_limit_s <= 0 || mine.time_limit_s > searches[i].time_limit_s))
            mine.time_limit_s = searches[i].time_limit_s;
        status = compare_one(problem, searches[i].name, &mine, offsets);
    }
    return status;
}

int plan_compare(const plan_table *table, const masu_plan_options *options) {
    masu_plan_problem problem = {table->rows, table->count, table->relations, table->relation_count, 0};
    size_t bytes = (table->count + 1) * sizeof(uint64_t);
    uint64_t *offsets = masu__meta_alloc(bytes);
    printf("%-*s %16s %11s %12s %10s  %-10s %s\n", NAME_WIDTH, "method", "height", "over bound", "time", "steps",
           "outcome", "found by");
    masu_status status = offsets ? compare_all(&problem, options, offsets) : MASU_ERR_OUT_OF_MEMORY;
    masu__meta_free(offsets, offsets ? bytes : 0);
    if (status == MASU_OK)
        return TOOL_OK;
    fprintf(stderr, "masu plan: %s\n", masu_status_text(status));
    return TOOL_FAILED;
}
