/* state.h: the runtime's inside, and what its files tell each other. Private to the runtime.
 *
 *     this thread ─► tl__current ─► tl_runtime ─┬─ payload, metadata   two heaps
 *                                               ├─ arena               frames, innermost on top
 *                                               ├─ registry, scopes    dynamic owners (frame_arena.c)
 *                                               ├─ tensors, storages   pooled headers (cells.h)
 *                                               ├─ pending, error      what went wrong (error.c)
 *                                               └─ rng, counters
 *
 * How an entry point ends badly:
 *
 *     tl__… function fails ─► tl__error(row, …) describes it ─► status travels up ─► the tl_… entry point has
 *     given back all it held ─► tl__raise()
 *
 * tl__raise returns only when no program runs (entered mode): the entry point then returns NULL, 0 or false.
 *
 * Everything here uses the runtime that is current in the calling thread.
 */
#ifndef MASU_RUNTIME_STATE_H
#define MASU_RUNTIME_STATE_H

#include <setjmp.h>
#include <stdio.h>
#include <time.h>

#include <masu/heap.h>
#include <masu/record.h>
#include <masu/vm.h>

#include "base/assert.h"
#include "base/buffer.h"
#include "base/rng.h"
#include "runtime/runtime.h"
#include "runtime/value/cells.h"
#include "runtime/value/tensor.h"

/* One owner in the dynamic registry. A free entry has object NULL and links to the next free one of its scope. */
typedef struct tl_entry {
    tl_object *object;
    uint32_t previous; /* 1 + the same object's older entry, 0: none; while free: 1 + next free entry */
    uint32_t scope;    /* index into scopes */
} tl_entry;

typedef struct tl_scope {
    uint32_t mark; /* registry height when it opened: its entries are [mark, next scope's mark) */
    uint32_t free; /* 1 + first free entry of this scope */
    bool implicit; /* opened by a registration outside any scope of its function; not counted in scope_depth */
} tl_scope;

/* A buffer that stays when the tensor in it goes. */
typedef struct tl_slot {
    void *data; /* NULL: none yet */
    size_t bytes;
    tl_storage *tenant; /* who lies in it; NULL: none */
} tl_slot;

typedef struct tl_auditor tl_auditor;
typedef struct tl_trace_places tl_trace_places;

typedef enum tl_shows { TL_SHOWS_NOTHING, TL_SHOWS_LINES, TL_SHOWS_PIECES } tl_shows; /* see print.c */

struct tl_runtime {
    /* memory */
    masu_heap *payload;
    masu_heap *metadata;
    tl_cells tensors;
    tl_cells storages;
    uint64_t live_bytes;      /* payload bytes as requested = live_bytes of the payload heap */
    uint64_t allocated_bytes; /* ever; allocated_bytes - freed_bytes = live_bytes */
    uint64_t freed_bytes;
    uint64_t peak_bytes;          /* of live_bytes */
    uint64_t metadata_live_bytes; /* = live_bytes of the metadata heap, without chunks of cells */
    uint64_t growth_watch;        /* live payload + metadata bytes at which growth is looked for again */
    uint64_t device_allocations_seen;
    uint64_t rss_anon_peak_bytes;

    /* growth.c */
    masu_device *device;         /* of payloads, borrowed; NULL: the host */
    masu_device *growing_device; /* owned; NULL: not needed */
    masu_vm *growing;            /* made when first needed */
    bool growing_refused;
    size_t growing_from;        /* a smaller tensor is copied */
    size_t growing_reach;       /* of addresses for each, at least */
    void *growing_refused_back; /* blocks that the device would not take back: growth.c */
    uint64_t growing_refused_count;
    uint64_t growing_bytes; /* live_bytes = those of the payload heap + growing_bytes */
    uint64_t grown_tensors; /* results that continue an operand's storage */
    uint64_t kept_bytes;    /* of those operands: what was not copied */

    /* frames */
    char *arena;
    char *arena_top; /* first free byte */
    char *arena_end;
    bool arena_is_borrowed;
    tl_frame *frame;       /* innermost, NULL: none */
    uintptr_t stack_limit; /* frames must lie above this address of the native stack */
    uint64_t frame_depth, frame_depth_peak;
    uint64_t room_bytes, room_bytes_peak; /* sum over the frames */
    uint64_t placed;                      /* buffers that lay in a frame's room, ever */
    uint64_t reused;                      /* results written over a dying operand, ever */

    /* growing slots: result_slots.c */
    tl_slot *slots; /* of the whole program, in metadata memory */
    uint32_t slot_capacity;
    uint64_t slot_bytes, slot_bytes_peak; /* of their buffers: of the payload heap, but not in live_bytes */
    uint64_t slotted, slot_growths;       /* tensors that lay in one; buffers made or made larger, ever */

    /* dynamic owners */
    tl_entry *entries;
    size_t entry_count, entry_capacity;
    uint64_t registered; /* entries with an object */
    tl_scope *scopes;
    size_t scope_count, scope_capacity;
    uint64_t scope_depth; /* scopes that are not implicit */

    /* vector.c */
    struct tl_vector *dying;           /* wait for their destructors, linked through next_dead, in order; NULL: none */
    struct destructible *destructible; /* all that has a destructor and is alive; NULL: there is nothing */
    bool ends_early;                   /* an error: no destructor runs any more */

    /* errors */
    jmp_buf *jump;    /* where a raise goes; NULL: entered without a program */
    tl_error pending; /* described, not yet raised */
    tl_error error;   /* last raised in entered mode */

    /* printing */
    FILE *out;
    tl_shows shows;
    FILE *err;
    FILE *log;
    void *own_arena; /* of Arena::init: memory that programs measure out themselves; NULL: none */
    size_t own_arena_bytes, own_arena_used;
    masu__buffer *capture; /* where printing goes instead; NULL: to out */
    int write_error;       /* errno of the first failed write, 0: none */
    int file_error;        /* how the last call on a file ended: file.c */
    char file_words[512];  /* in words, when file_error says so */

    /* autograd.c */
    uint32_t grad_depth; /* loops entered and not left: tl_grad_loop_enter, _exit */
    uint32_t grad_round; /* tl_clear_all_grads begins the next */
    bool unrecorded;     /* no_grad { … }: results get no history */
    bool grads_end;      /* some leaf's gradient ends with an iteration */
    bool grads_kept;     /* tl_grad_keeping: the caller keeps what the running function makes of gradients */
    tl_node *grad_read;  /* leaves whose gradient was read, the most recently read first */
    uint64_t live_nodes, live_grads;
    uint64_t walked_nodes;                /* of the live ones: freed by backward, still named by a tensor */
    uint32_t history_limit, history_site; /* of the operation whose history first was so long; 0: none */

    /* random numbers: rand, randn */
    masu__rng rng;
    uint64_t seed;

    /* log_values.c */
    struct tl_values *values; /* NULL: nothing was logged */
    const char *values_path;  /* NULL: PROGRAM.log.csv */

    /* audit.c */
    struct tl_auditor *audit; /* NULL: not audited */
    uint64_t audit_points, audit_faults;
    uint32_t audit_site; /* of the first fault */
    char audit_text[160];
    tl_line_counts *lines; /* by site; NULL: not counted */
    size_t line_capacity;
    uint32_t line_site;                                                /* of the last tl_count_line */
    uint64_t line_allocations, line_placed, line_reused, line_slotted; /* ever, then */

    /* trace_places.c */
    masu_trace *trace;       /* borrowed, NULL: none */
    tl_trace_places *places; /* NULL: none are said */
    uint32_t frame_pool;

    struct masu_instance *called; /* calls/: whose functions a caller in C calls; NULL: a program of its own */

    /* the rest */
    uint64_t live_objects; /* strings and vectors */
    uint64_t retain_ops, release_ops;
    int argument_count;
    const char *const *arguments;
    const char *program; /* what was started; NULL: not known */
    struct timespec start;
    double start_epoch_seconds;
    tl_runtime *outer;    /* current in this thread before */
    uint32_t enter_count; /* tl_runtime_enter and _run not yet left */
};

extern _Thread_local tl_runtime *tl__current __attribute__((tls_model("initial-exec")));

/* The current runtime: there must be one whenever an entry point is called. */
static inline tl_runtime *tl__runtime(void) {
    MASU_DEBUG_ASSERT(tl__current);
    return tl__current;
}

/* Operations that a backward may still walk. */
static inline uint64_t tl__kept_nodes(const tl_runtime *rt) {
    return rt->live_nodes - rt->walked_nodes;
}

/* Where the program is now, for messages and for errors that later name this place; 0: nowhere. */
static inline uint32_t tl__site(void) {
    tl_runtime *rt = tl__runtime();
    return rt->frame ? rt->frame->site : 0;
}

/* ---- the environment (config.c) ------------------------------------------------------------------------------ */

/* The bytes that TL_GPU_PREALLOCATE_MB asks for, 0 for none. False when it is not a number of MiB; *bytes is 0 then. */
bool tl__config_preallocate(size_t *bytes);
/* How many threads may share a loop (config.c). */
int tl__config_threads(int processors);

/* ---- errors (error.c) -------------------------------------------------------------------------------------- */

void tl__arena_end(tl_runtime *rt); /* gives back what Arena::init took */

/* Describes a failure by a row of errors.def and returns the row's status: return tl__error(TL_SAY(row), …). Replaces
 * the description before. tl__error_as: with another status. */
masu_status tl__error(tl_error_row row, const char *format, ...) __attribute__((format(printf, 2, 3), cold));
masu_status tl__error_as(masu_status status, tl_error_row row, const char *format, ...)
    __attribute__((format(printf, 3, 4), cold));
/* Adds a second place to the described failure, such as the first backward of a freed graph. */
void tl__error_related(uint32_t site, const char *text);
/* Out of memory, or whatever a heap said instead, while `what` (such as "a tensor of shape [2, 3]") needed bytes. */
masu_status tl__error_memory(masu_status status, size_t bytes, const char *what);
/* Writes "[2, 3]" and returns text. */
enum { TL_SHAPE_TEXT = 192 };
const char *tl__shape_text(int rank, const int64_t *shape, char text[TL_SHAPE_TEXT]);

/* Raises what was described. The caller holds nothing. */
void tl__raise(void) __attribute__((cold));

/* The usual last line of an entry point that returns a tensor or an object. */
static inline tl_tensor *tl__tensor_or_raise(masu_status status, tl_tensor *out) {
    if (MASU_LIKELY(status == MASU_OK))
        return out;
    tl__raise();
    return NULL;
}

static inline tl_object *tl__object_or_raise(masu_status status, tl_object *out) {
    if (MASU_LIKELY(status == MASU_OK))
        return out;
    tl__raise();
    return NULL;
}

/* ---- bytes (heaps.c) ---------------------------------------------------------------------------------------- */

/* Bytes of tensor data from the payload heap, aligned to 64, contents undefined. bytes 0: NULL. Describes its failure.
 * Every request asks the fault counter (base/meta.h). */
masu_status tl__payload_alloc(size_t bytes, void **out);
void tl__payload_free(void *data, size_t bytes);
/* The same without counting and describing. When nothing is left, growing slots that are not used make room. */
masu_status tl__payload_request(tl_runtime *rt, size_t bytes, void **out);
/* For tensor data that comes from elsewhere (growth.c): counted all the same. */
void tl__payload_taken(size_t bytes);
void tl__payload_given(size_t bytes);
/* Bytes from the metadata heap (strings, vectors, nodes, scratch), aligned to 64. bytes 0: NULL. Describes its
 * failure. */
masu_status tl__alloc(size_t bytes, void **out);
void tl__free(void *p, size_t bytes);

/* ---- owners (frame_arena.c: frames, registry.c: scopes and counts) ----------------------------------------------- */

/* One internal hold less, of any kind; NULL is fine; frees at zero, without recursion. */
void tl__object_drop(tl_object *object);
/* Closes the innermost scopes until scope_count are left, releasing what is registered in them. */
void tl__close_scopes(tl_runtime *rt, size_t scope_count);
/* Releases frames above `frame`, scopes above `scope_count`, and leaves the gradient loops above `grad_depth`. */
void tl__unwind(tl_runtime *rt, tl_frame *frame, size_t scope_count, uint32_t grad_depth);
/* Where the native stack of this thread must not grow beyond. */
uintptr_t tl__stack_limit(void);
bool tl__frames_valid(const tl_runtime *rt);
bool tl__registry_valid(const tl_runtime *rt);

/* Called at zero counts, by tl__object_drop only. */
void tl__string_free(tl_object *string); /* string.c */
void tl__vector_free(tl_object *vector); /* vector.c */
/* vector.c: those that wait for destructors go without; what holds itself in a circle goes, too, where asked. */
void tl__dying_abandon(tl_runtime *rt, bool opens_circles);
void tl__tensor_free(tl_tensor *t);      /* tensor.c */
void tl__handle_free(tl_object *handle); /* file.c */
bool tl__tensors_valid(const tl_runtime *rt);

/* ---- growing slots (result_slots.c) ------------------------------------------------------------------------------ */

/* Where the frame's hints put a result of so many bytes: in the caller's room, or in a slot (*slot: 1 + its number).
 * NULL: in a pool. Describes its failure. */
masu_status tl__slot_take(tl_runtime *rt, size_t bytes, void **data, uint32_t *slot);
void tl__slot_settle(tl_runtime *rt, tl_storage *storage); /* lies there from now on */
void tl__slot_leave(tl_runtime *rt, const tl_storage *storage);
/* Whether a result may be written over elements that lie in a slot, or where the caller wants them: it must not go
 * further than they may. */
bool tl__slot_lends(const tl_runtime *rt, const tl_storage *storage);
/* Gives back the buffers in which no tensor lies; whether there were any. */
bool tl__slots_trim(tl_runtime *rt);
void tl__slots_end(tl_runtime *rt); /* the thread leaves */
bool tl__slots_valid(const tl_runtime *rt);

/* ---- hints for the operation that runs (frame_arena.c, tensor.c) ------------------------------------------------- */

/* Elements that lie in some frame's room: they are not freed. */
static inline bool tl__in_frame(const tl_runtime *rt, const void *data) {
    return (const char *)data >= rt->arena && (const char *)data < rt->arena_end;
}

/* The operation keeps its operand's elements for backward: they must stay as they are. */
static inline void tl__keep_spent(void) {
    tl_frame *frame = tl__runtime()->frame;
    if (frame)
        frame->spent = NULL;
}

/* A new tensor of the same type and shape over the elements of `spent`, which is only released from here on. NULL
 * when that may not be: somebody else holds them, or they are not laid out as the result's would be. Says nothing
 * of memory: without a header it is also NULL. */
tl_tensor *tl__tensor_over(tl_tensor *spent, tl_dtype dtype, int rank, const int64_t *shape);

/* ---- the audit (audit.c) ---------------------------------------------------------------------------------------- */

void tl__audit_reset(tl_runtime *rt); /* no call is running any more */
/* Only while audited (tl_runtime.audit): a node leads elsewhere now; an element of a vector has changed, come or
 * gone. */
void tl__audit_node(tl_node *node);
void tl__audit_element(tl_object *vector, int64_t index);
/* The runtime holds an object that waits for its destructor; no longer. */
void tl__audit_waits(tl_object *object, bool waits);
void tl__audit_destroy(tl_runtime *rt);

/* ---- a recording (trace_places.c) -------------------------------------------------------------------------------- */

void tl__trace_places_destroy(tl_runtime *rt);
/* The frame's room begins, or ends. There is a trace. */
void tl__trace_frame(tl_runtime *rt, const tl_frame *frame, bool begins) __attribute__((cold));

/* ---- the process (resident_memory.c) ----------------------------------------------------------------------------- */

typedef struct tl_process_memory {
    uint64_t rss_bytes, rss_peak_bytes, rss_anon_bytes; /* 0 when the kernel does not say */
} tl_process_memory;

tl_process_memory tl__process_memory(void);

#endif
