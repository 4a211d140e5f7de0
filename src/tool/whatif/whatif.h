/* whatif.h: what the files of `masu whatif` share.
 *
 *     recording ─► requests.c ─► requests of one device ─┬─► replay_torch.c    PyTorch's allocator, by its model
 *                                                        ├─► replay_pools.c    masu's own pools, judged
 *                                                        ├─► replay_malloc.c   installed malloc libraries, each in a
 *                                                        │                     process of its own
 *                                                        └─► replay_plan.c     the planner: what is possible
 *                                                                 │
 *                    whatif_command.c ◄── rows of one table ◄─────┘      refusals.c: why a request was refused, and
 *                                                                        what would have served it
 *
 * Every replay is given the same requests in the same order. A lane is what may share memory without waiting: one
 * stream of the device, in a private pool or not. Each lane has a pool of its own; their memory adds up.
 */
#ifndef MASU_TOOL_WHATIF_H
#define MASU_TOOL_WHATIF_H

#include <stdio.h>

#include "base/arena.h"
#include "base/buffer.h"
#include "recording/recording.h"
#include "tool/tool.h"

typedef enum whatif_kind {
    WHATIF_TAKE,    /* block id of bytes */
    WHATIF_GIVE,    /* and back */
    WHATIF_RELEASE, /* the program gives back what is cached */
    WHATIF_REFUSED, /* a request for bytes that was not served; its block ends at once */
} whatif_kind;

typedef struct whatif_request {
    uint64_t bytes;
    uint32_t id;    /* of a block: 0, 1, 2, … in the order of their births */
    uint32_t event; /* of the recording */
    uint16_t lane;
    uint8_t kind;
} whatif_request;

typedef struct whatif_lane {
    uint64_t stream, private_pool;
} whatif_lane;

typedef struct whatif_requests {
    masu__arena arena;
    const masu__recording *recording;
    whatif_request *items;
    whatif_lane *lanes;
    unsigned count, capacity, lane_count, lane_capacity;
    uint32_t blocks;
    uint16_t device; /* index of the recording */
    size_t standing; /* the first so many are of blocks that were there when the recording began */
    uint64_t peak_live_bytes, peak_live_blocks, taken_bytes;
    size_t peak_at; /* request */
    size_t refused;
} whatif_requests;

/* The requests of one device. MASU_ERR_OUT_OF_MEMORY, MASU_ERR_LIMIT_REACHED. The caller destroys *out. */
masu_status whatif_requests_of(const masu__recording *recording, const masu__lives *lives, uint16_t device,
                               whatif_requests *out);
void whatif_requests_destroy(whatif_requests *requests);

/* ---- rows -------------------------------------------------------------------------------------------------------- */

typedef enum whatif_judged { WHATIF_NOT_JUDGED, WHATIF_FINE, WHATIF_WRONG } whatif_judged;

typedef struct whatif_row {
    char name[64];
    char note[160]; /* why it did not run, or what its figures are */
    bool ran, is_model, is_bound;
    double seconds; /* of all requests; a model has none */
    uint64_t peak_reserved_bytes;
    uint64_t device_calls; /* UINT64_MAX: not known */
    uint64_t refused;
    whatif_judged judged;
} whatif_row;

typedef struct whatif_options {
    bool on_host; /* pools take real memory */
    bool json;
    uint64_t limit_bytes; /* of the device; 0: none */
    uint64_t judge_most;  /* events times live blocks that the judge may cost */
    uint64_t plan_steps;
} whatif_options;

/* Replays on the model. settings.capacity_bytes limits it. */
masu_status whatif_replay_torch(const whatif_requests *requests, const masu__torch_settings *settings, const char *name,
                                const whatif_options *options, whatif_row *out);

enum { WHATIF_POOLS = 4 };
/* number: 0 … WHATIF_POOLS - 1. A row that could not run says why; the status is of this process alone. */
masu_status whatif_replay_pool(const whatif_requests *requests, unsigned number, const whatif_options *options,
                               whatif_row *out);

/* The number-th malloc library that this system has, 0: its own; false: there are no more. */
bool whatif_replay_malloc(const whatif_requests *requests, unsigned number, const whatif_options *options,
                          whatif_row *out);
/* The body of such a process: requests on `descriptor`, the answer to standard output. */
int whatif_malloc_child(int descriptor);

masu_status whatif_replay_plan(const whatif_requests *requests, const whatif_options *options, whatif_row *out,
                               bool *is_optimal);

/* Why requests were refused, and which settings would have served them. */
masu_status whatif_explain_refusals(const whatif_requests *requests, const whatif_options *options, FILE *out,
                                    masu__buffer *json);

/* ---- the table as text (rows.c) ---------------------------------------------------------------------------------- */

/* "52,326.3 MiB"; below one "64.0 KiB". */
void whatif_put_mib(masu__buffer *out, uint64_t bytes);

/* How much more was reserved than was live at once. */
double whatif_waste_percent(const whatif_row *row, uint64_t live_bytes);

/* A line each. limit_bytes: of the device, 0: none. */
void whatif_put_head(masu__buffer *out);
void whatif_put_row(masu__buffer *out, const whatif_row *row, uint64_t live_bytes, uint64_t limit_bytes);

#endif
