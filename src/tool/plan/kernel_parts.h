/* kernel_parts.h: what kernel_read.c has read, before numbers are known to be those of buffers and pools. */
#ifndef MASU_TOOL_PLAN_KERNEL_PARTS_H
#define MASU_TOOL_PLAN_KERNEL_PARTS_H

#include "tool/plan/json_text.h"
#include "tool/plan/kernel.h"

typedef enum pair_kind { COLOCATION, SEPARATION, EXCLUSION, PENALTY } pair_kind;

/* Two buffers, by the numbers that the document gives them. */
typedef struct pair {
    pair_kind kind;
    uint64_t first, second, cost;
    size_t at; /* in the text */
} pair;

typedef struct pin {
    uint64_t buffer, pool, offset;
    bool all_time;
    size_t at;
} pin;

typedef struct list {
    void *items;
    size_t count, room;
} list;

typedef struct reading {
    kernel *k;
    list pools, pairs, pins;
    list ids, pool_ids; /* uint64_t per buffer */
    list names;         /* const char * per buffer */
} reading;

/* Finishes r->k. False: complained at the place of what is wrong, or memory ran out. */
bool kernel_resolve(json *j, reading *r);

#endif
