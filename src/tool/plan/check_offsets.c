/* check_offsets.c: `masu plan --check`: the judge on the offsets that a file gives, in each of its memories. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/meta.h"
#include "tool/plan/plan_table.h"

typedef struct checker {
    const masu_plan_problem *problem;
    const plan_table *table;
    const plan_arguments *args;
    plan_parts *out;
} checker;

static int complain_row(const checker *c, size_t row, const char *what) {
    fprintf(stderr, "masu plan: %s: buffer %s %s\n", c->args->path, c->table->ids[row], what);
    return TOOL_FAILED;
}

/* The number of a memory, a new one where the command line names none; SIZE_MAX: not there. */
static size_t find_memory(checker *c, const char *name) {
    plan_parts *p = c->out;
    for (size_t m = 0; m < p->count; m++)
        if (strcmp(p->parts[m].name, name) == 0)
            return m;
    if (c->args->memory_count > 0 || p->count == PLAN_MOST_MEMORIES)
        return SIZE_MAX;
    p->parts[p->count++] = (plan_part){.name = name};
    return p->count - 1;
}

/* Which memory each row is in. memory_of stays NULL when the file has none. */
static int find_memories(checker *c) {
    const plan_table *t = c->table;
    for (size_t m = 0; m < c->args->memory_count; m++)
        c->out->parts[m] = (plan_part){c->args->memories[m].name, c->args->memories[m].capacity_bytes, 0, 0};
    c->out->count = c->args->memory_count;
    for (size_t i = 0; i < t->count; i++) {
        if (t->given[i] == UINT64_MAX)
            return complain_row(c, i, "has no offset to check");
        if (!t->has_memories && c->args->memory_count == 0)
            continue;
        if (!t->memories[i])
            return complain_row(c, i, "is in no memory");
        c->out->memory_of[i] = find_memory(c, t->memories[i]);
        if (c->out->memory_of[i] == SIZE_MAX)
            return complain_row(c, i,
                                c->args->memory_count > 0 ? "is in a memory that --memory does not name"
                                                          : "is in the 17th memory; 16 are the most");
    }
    if (c->out->count > 0)
        return TOOL_OK;
    c->out->memory_of = NULL;
    c->out->parts[0] = (plan_part){.capacity_bytes = c->problem->capacity_bytes};
    c->out->count = 1;
    return TOOL_OK;
}

/* Where the chosen rows end. */
static void measure(const checker *c, size_t m, const size_t *chosen, size_t count) {
    plan_part *part = &c->out->parts[m];
    for (size_t k = 0; k < count; k++) {
        uint64_t end;
        if (__builtin_add_overflow(c->table->given[chosen[k]], c->table->rows[chosen[k]].size_bytes, &end))
            end = UINT64_MAX;
        part->height_bytes = end > part->height_bytes ? end : part->height_bytes;
    }
}

static int say_verdict(const checker *c, const plan_judgement *j) {
    printf("%s: %s", masu_plan_verdict_name(j->verdict), c->table->ids[j->a]);
    if (j->b != SIZE_MAX)
        printf(" and %s", c->table->ids[j->b]);
    printf("\n");
    return TOOL_FAILED;
}

/* Tied rows in different memories: each alone looks right. */
static int check_ties(const checker *c) {
    for (size_t i = 0; c->out->memory_of && i < c->problem->relation_count; i++) {
        const masu_plan_relation *r = &c->problem->relations[i];
        if (r->kind == MASU_PLAN_MUST_SHARE && c->out->memory_of[r->a] != c->out->memory_of[r->b])
            return say_verdict(c, &(plan_judgement){MASU_PLAN_APART, r->a, r->b});
    }
    return TOOL_OK;
}

static int check_memory(const checker *c, size_t m, size_t *chosen) {
    size_t count = 0;
    plan_judgement judgement;
    plan_part *part = &c->out->parts[m];
    for (size_t i = 0; i < c->table->count; i++)
        if (!c->out->memory_of || c->out->memory_of[i] == m)
            chosen[count++] = i;
    measure(c, m, chosen, count);
    uint64_t limit = part->capacity_bytes ? part->capacity_bytes : part->height_bytes;
    masu_status status = plan_judge_some(c->problem, c->table->given, limit, chosen, count, &judgement,
                                         &part->lower_bound_bytes);
    if (status != MASU_OK) {
        fprintf(stderr, "masu plan: %s\n", masu_status_text(status));
        return TOOL_FAILED;
    }
    return judgement.verdict == MASU_PLAN_FINE ? TOOL_OK : say_verdict(c, &judgement);
}

int plan_check_memories(const masu_plan_problem *problem, const plan_table *table, const plan_arguments *args,
                        plan_parts *out) {
    checker c = {problem, table, args, out};
    size_t bytes = (table->count + 1) * sizeof(size_t), *chosen = masu__meta_alloc(bytes);
    if (!chosen) {
        fprintf(stderr, "masu plan: %s\n", masu_status_text(MASU_ERR_OUT_OF_MEMORY));
        return TOOL_FAILED;
    }
    int status = find_memories(&c);
    if (status == TOOL_OK && out->memory_of && problem->capacity_bytes > 0) {
        fprintf(stderr, "masu plan: %s has several memories: their capacities are --memory NAME=BYTES\n", args->path);
        status = TOOL_FAILED;
    }
    for (size_t m = 0; m < out->count && status == TOOL_OK; m++)
        status = check_memory(&c, m, chosen);
    if (status == TOOL_OK)
        status = check_ties(&c);
    masu__meta_free(chosen, bytes);
    return status;
}
