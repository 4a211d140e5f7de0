/* runtime.h: the one header of the runtime that the command may include.
 *
 * A runtime owns two heaps (payloads of tensors over the device; headers, nodes, strings, vectors over the
 * host), the frame arena, the scope registry, the random numbers and the counters of one program run. One
 * thread uses it at a time: the thread that entered it with tl_runtime_run or tl_runtime_enter.
 */
#ifndef MASU_RUNTIME_H
#define MASU_RUNTIME_H

#include <stdio.h>

#include "base/buffer.h"
#include "runtime/errors.h"
#include <masu/abi.h>
#include <masu/masu.h>
#include <masu/module.h>

typedef struct tl_runtime tl_runtime;

typedef struct tl_runtime_config {
    uint64_t seed;      /* of rand and randn */
    int argument_count; /* the program's own arguments, borrowed */
    const char *const *arguments;
    const char *program;      /* the name it was started by, borrowed; NULL: not known */
    const char *values_path;  /* of what log() writes, borrowed; NULL: PROGRAM.log.csv in the current directory */
    size_t frame_arena_bytes; /* 0: 64 MiB of address space, touched as used */
    masu_device *device;      /* NULL: host */
    void *frame_arena; /* memory for the frames, frame_arena_bytes of it, borrowed, aligned to 64; NULL: mapped */
    /* headers, nodes, strings and vectors lie on the device, too, and it is asked for little at a time */
    bool only_device;
    masu_trace *trace; /* borrowed: tensors and frames emit into it; NULL: none */
    bool trace_all;    /* and lists, strings, nodes, headers: most events, of little memory where there are tensors */
    bool is_published; /* a publisher's thread looks at the heaps: each call of them takes a lock */
    uint32_t history_limit; /* a history of so many operations is pointed out; 0: TL_HISTORY_LIMIT */
    FILE *out;              /* where print goes; NULL: stdout */
    FILE *err;              /* where eprint goes; NULL: stderr */
    FILE *log;              /* where tl_dump_gpu_pool_stats goes; NULL: stderr */
} tl_runtime_config;

enum { TL_HISTORY_LIMIT = 10000 };

/* Shows the heaps and frames of a runtime that was created for it (is_published) on that page, which ends before the
 * runtime does. Statuses of masu_publish_source. */
masu_status tl_runtime_publish(tl_runtime *rt, masu_publisher *publisher);

/* A place in the program's source; texts live as long as the program. */
typedef struct tl_source_place {
    const char *file, *function;
    uint32_t line;
} tl_source_place;
/* False: nowhere that the user wrote. */
typedef bool (*tl_place_of)(const void *program, uint32_t site, tl_source_place *out);

/* For masu_record_config.here: where the runtime of the calling thread is; 0 before tl_runtime_set_places. */
uint32_t tl_runtime_here(void *ignored);
/* From now on places are said to the trace of the configuration. program is borrowed as long as the runtime lives. */
masu_status tl_runtime_set_places(tl_runtime *rt, tl_place_of place_of, const void *program);

enum { TL_ERROR_TEXT = 512, TL_ERROR_FRAMES = 64 };

/* A raised error: what, and where in the program. */
typedef struct tl_error {
    masu_status status;
    char text[TL_ERROR_TEXT];
    uint32_t site_count; /* sites filled; innermost first */
    uint32_t sites[TL_ERROR_FRAMES];
    uint64_t frames_omitted; /* deeper stacks: frames not listed, in the middle */
    uint32_t related_site;   /* e.g. the first backward of a freed graph; 0: none */
    char related_text[128];
    tl_error_row row;
    uint32_t name_length; /* of the operation's name and ": ", which the text begins with; 0: it names none */
    struct {
        uint32_t at, length; /* in text */
    } shapes[2];             /* of the operation's operands, as the row says; length 0: none */
    bool ends; /* the program asked to end, with exit_status (0 to 255); tl_runtime_run says MASU_OK then */
    int exit_status;
} tl_error;

/* Everything the report shows. Bytes are payload bytes as requested, not class sizes, unless said otherwise. */
typedef struct tl_report {
    uint64_t live_tensors, live_bytes, peak_bytes, allocations, frees;
    uint64_t grown_tensors, kept_bytes; /* joined in place (growth.c), and what was not copied for it */
    uint64_t pool_hits, pool_misses, device_allocations, device_frees;
    uint64_t reserved_bytes, cached_bytes;         /* of the payload heap */
    uint64_t metadata_bytes, metadata_reserved;    /* headers, nodes, strings, vectors */
    uint64_t retain_ops, release_ops;              /* done by compiled code and ABI calls, not internal holds */
    uint64_t live_nodes, live_grads, live_objects; /* objects: strings, vectors */
    uint64_t scope_depth, frame_depth, frame_depth_peak, registered;
    uint64_t placed, frame_bytes_peak; /* buffers in frames, and the most bytes that frames had for them */
    uint64_t reused;                   /* results written over a dying operand */
    uint64_t slotted,
        slot_growths;         /* tensors in growing slots, and how often a slot's buffer was made or made larger */
    uint64_t slot_bytes_peak; /* of those buffers, of which peak_bytes knows nothing */
    uint64_t rss_bytes, rss_peak_bytes, rss_anon_bytes, rss_anon_peak_bytes; /* of the process, from the kernel */
    uint64_t seed;                                                           /* of the random numbers */
    double wall_seconds;
} tl_report;

/* Counts of the program's operations, by the number of their place. */
typedef struct tl_line_counts {
    uint64_t visits, acquires, releases, moves, borrows, slots; /* slots: of the frame, for owners */
    uint64_t allocations, placed, reused; /* buffers: from a pool, in the frame, over an operand */
    uint64_t slotted;                     /* in a growing slot */
} tl_line_counts;

typedef struct tl_audit_result {
    uint64_t points, faults;
    uint32_t site; /* of the first fault */
    const char *text;
} tl_audit_result;

/* Where log() writes when nothing says it: PROGRAM.log.csv, of the name without its folder and its ending. */
void tl_values_path(const char *program, char *path, size_t size);
masu_status tl_runtime_create(const tl_runtime_config *config, tl_runtime **out);
/* Runs entry(). Status OK, or that of the error it raised, with *error filled. Frames, scopes, registry are as before
 * in either case. */
masu_status tl_runtime_run(tl_runtime *rt, void (*entry)(void), tl_error *error);
/* Makes rt current in this thread without a program (C callers of tl_*; there a raise returns NULL/0 and is kept for
 * tl_runtime_error). */
void tl_runtime_enter(tl_runtime *rt);
void tl_runtime_leave(tl_runtime *rt);
const tl_error *tl_runtime_error(const tl_runtime *rt); /* last raised in entered mode; status OK when none */
void tl_runtime_clear_error(tl_runtime *rt);
void tl_runtime_get_report(tl_runtime *rt, tl_report *out);
/* Of code compiled for it (audit.c). False: something was alive that nothing needed, or the other way round. */
bool tl_runtime_audit(const tl_runtime *rt, tl_audit_result *out);
/* Where a history first grew to the limit; 0: none did. A loop that never detaches does so sooner or later. */
uint32_t tl_runtime_long_history(const tl_runtime *rt, uint32_t *operations);
/* *lines has so many entries, borrowed; 0 when the code does not count. */
uint32_t tl_runtime_lines(tl_runtime *rt, const tl_line_counts **lines);
/* Samples anonymous resident memory into the peak: called when heaps grow, after compilation, at the end. */
void tl_runtime_sample_memory(tl_runtime *rt);
bool tl_runtime_valid(const tl_runtime *rt);

/* ---- functions for callers in C (calls/instance.c): masu_module.create, … of a program whose `main` is `entry` --- */

/* Appends what a raised error says, with places. */
typedef void tl_describe(const tl_error *error, masu__buffer *out);
masu_status tl_instance_create(const masu_module *module, const masu_instance_options *options, void (*entry)(void),
                               tl_describe *describe, masu_instance **out);
void tl_instance_destroy(masu_instance *instance);
masu_status tl_instance_call(masu_instance *instance, uint32_t number, const masu_value *arguments,
                             masu_value *results);
size_t tl_instance_arena_used(const masu_instance *instance);
const char *tl_instance_error(const masu_instance *instance);
void tl_value_release(masu_value *value);
masu_status tl_handle_clone(masu_handle *handle, masu_handle **out);
void tl_handle_drop(masu_handle *handle);

/* ---- weights for the command (files/weights_file.c): a .safetensors file, whose elements are read when asked for - */

typedef struct tl_weights_file tl_weights_file;
typedef struct tl_weights_item { /* borrowed from the file */
    const char *name, *type;     /* what its elements are stored as: f16, i32, … */
    uint32_t rank;
    const int64_t *shape;
    uint32_t fits; /* bit of each masu_element that holds every value of the type */
} tl_weights_item;

/* MASU_OK; OUT_OF_MEMORY; INVALID_ARGUMENT: it cannot be opened or is broken, `why` says how. *out is the caller's to
 * close on MASU_OK only. Needs no runtime. O(tensors log tensors). */
masu_status tl_weights_open(const char *path, tl_weights_file **out, masu__buffer *why);
void tl_weights_close(tl_weights_file *file); /* NULL is fine */
size_t tl_weights_count(const tl_weights_file *file);
tl_weights_item tl_weights_number(const tl_weights_file *file, size_t number);
/* Writes the elements, in row-major order. NULL; else what is wrong with them, borrowed from the file. */
const char *tl_weights_read(tl_weights_file *file, size_t number, masu_element element, void *to);

void tl_runtime_destroy(tl_runtime *rt); /* NULL is fine; frees everything, also what leaked */
/* The report for a person, or as one JSON object. */
void tl_report_print(const tl_report *report, FILE *out);
void tl_report_print_json(const tl_report *report, FILE *out);
/* The same, with one group of keys a line: "line_12_acquires": 0, …; of other files than the main one with their
 * path in front. */
typedef struct tl_report_line {
    const char *path; /* NULL: the main file */
    uint32_t line;
    tl_line_counts counts;
} tl_report_line;
void tl_report_print_json_lines(const tl_report *report, const tl_report_line *lines, size_t line_count, FILE *out);

#endif
