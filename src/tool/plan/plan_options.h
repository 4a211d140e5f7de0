/* plan_options.h: what the command line of `masu plan` says. */
#ifndef MASU_TOOL_PLAN_OPTIONS_H
#define MASU_TOOL_PLAN_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "models/models.h"

enum {
    PLAN_MOST_MEMORIES = 16,
    PLAN_NAME_BYTES = 32,
    PLAN_MOST_DIMS = 32,
    PLAN_MOST_SCRATCH = 64,
    PLAN_MOST_CALLED = 128,
    PLAN_MOST_VALUES = 1024,
    PLAN_MOST_PINS = 64
};

typedef struct plan_memory_option {
    char name[PLAN_NAME_BYTES];
    uint64_t capacity_bytes;
    uint64_t latency, bandwidth; /* of a byte; per second */
    bool has_latency;
} plan_memory_option;

/* --pin ID=MEMORY, --home ID=MEMORY */
typedef struct plan_pin_option {
    char name[PLAN_MOST_CALLED];
    size_t memory;
    bool is_home;
} plan_pin_option;

/* --reserve MEMORY=FROM..TO: bytes that are not the plan's. */
typedef struct plan_reserve_option {
    size_t memory;
    uint64_t from, to;
} plan_reserve_option;

/* --scratch OP=BYTES: a number, type or name of an operator. */
typedef struct plan_scratch_option {
    char name[PLAN_MOST_CALLED];
    uint64_t bytes;
} plan_scratch_option;

typedef struct plan_arguments {
    const char *path, *output, *svg, *ops, *header, *write_model, *device;
    bool minimize, check, compare, in_place, reorder, quiet, verify, json, csv;
    uint64_t capacity, alignment, seed, threads;
    double time_s;
    const char *of_search; /* the last of --time, --seed and --threads that was given; NULL */
    plan_memory_option memories[PLAN_MOST_MEMORIES];
    size_t memory_count;
    masu__model_dim dims[PLAN_MOST_DIMS]; /* names are borrowed from the command line */
    size_t dim_count;
    size_t ranged; /* the one of dims that is a range, or whose largest value is wanted; SIZE_MAX: none */
    int64_t range_low, range_high; /* range_high 0: the largest value that fits into capacity */
    plan_scratch_option scratch[PLAN_MOST_SCRATCH];
    size_t scratch_count;
    const char
        *pin_texts[2 *
                   PLAN_MOST_PINS]; /* option and value, borrowed from the command line, until all memories are known */
    size_t pin_text_count;
    plan_pin_option pins[PLAN_MOST_PINS];
    size_t pin_count;
    plan_reserve_option reserves[PLAN_MOST_PINS];
    size_t reserve_count;
    const char *constants_text;
    size_t constants; /* the memory in which they begin; SIZE_MAX: they stay in the file */
    bool moves, has_channel, has_move_cost;
    uint64_t channel, move_cost; /* bytes beside each operator; of a byte moved */
} plan_arguments;

/* Values move, or their memories have weights, pins or reserved ranges: the plan is one of masu/moves.h. */
bool plan_has_moves(const plan_arguments *a);

/* Fills *out, which holds the defaults. TOOL_OK, or TOOL_MISUSED: the complaint has been printed. */
int plan_parse_arguments(int argc, char **argv, plan_arguments *out);

/* Options that mean nothing for what the file turned out to be. TOOL_OK or TOOL_MISUSED. */
int plan_check_for_table(const plan_arguments *a);
int plan_check_for_kernel(const plan_arguments *a);
int plan_check_for_network(const plan_arguments *a, bool is_tflite);

#endif
