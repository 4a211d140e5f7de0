/* plan_options.h: what the command line of `masu plan` says. */
#ifndef MASU_TOOL_PLAN_OPTIONS_H
#define MASU_TOOL_PLAN_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PLAN_MOST_MEMORIES = 16, PLAN_NAME_BYTES = 32 };

typedef struct plan_memory_option {
    char name[PLAN_NAME_BYTES];
    uint64_t capacity_bytes;
} plan_memory_option;

typedef struct plan_arguments {
    const char *path, *output, *svg, *ops;
    bool minimize, check, compare, in_place, reorder, quiet;
    uint64_t capacity, alignment, seed, threads;
    double time_s;
    plan_memory_option memories[PLAN_MOST_MEMORIES];
    size_t memory_count;
} plan_arguments;

/* Fills *out, which holds the defaults. TOOL_OK, or TOOL_MISUSED: the complaint has been printed. */
int plan_parse_arguments(int argc, char **argv, plan_arguments *out);

#endif
