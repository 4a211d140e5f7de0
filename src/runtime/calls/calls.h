/* calls.h: what the files of this room tell each other: a function of the program is called from C.
 *
 *     caller's values ─► check ─► tl_call_tensor, … ─► the function ─► tl_give_tensor, … ─► given[] ─► caller's values
 *                      (arguments.c)     compiled code asks and gives              (results.c)
 *
 * A tensor argument is read where it lies. Its storage is then one that the runtime does not free (TL_SLOT_FOREIGN),
 * and the instance holds a header of its own over it, so that the program is never its only holder: a writer copies
 * first, nothing is written over it. What still holds such a storage when the function has ended gets a copy.
 *
 *     holds = 1 until destroy + results and handles that callers have
 *
 * Who brings `holds` to 0 ends the instance. `busy` is held by the thread that uses it; what another thread gives back
 * meanwhile waits in `returned`.
 */
#ifndef MASU_RUNTIME_CALLS_H
#define MASU_RUNTIME_CALLS_H

#include <stdatomic.h>

#include <masu/module.h>

#include "runtime/state.h"

enum { TL_CALL_PARTS = 32 }; /* parameters, and results, at most */

/* A thing that a caller holds: the owner of a tensor or of a text, or a handle. */
struct masu_handle {
    masu_instance *instance;
    tl_object *object;        /* one count; NULL: an empty text */
    struct masu_handle *next; /* while it is returned or spare */
    uint32_t type;            /* of a handle: index in handle_types */
    uint32_t kind;            /* masu_kind */
};

typedef union tl_given {
    tl_object *object; /* one count */
    double f64;
    int64_t i64;
} tl_given;

struct masu_instance {
    const masu_module *module;
    tl_runtime *rt;
    masu_device *arena; /* of the caller's memory behind the frames; NULL: the system's */
    size_t frame_bytes; /* of it, before that */
    void (*entry)(void);
    tl_describe *describe;
    masu__buffer error;
    atomic_uint_fast32_t holds;
    atomic_bool busy;
    _Atomic(masu_handle *) returned;
    masu_handle *spare;
    bool broken; /* memory of a caller may still be held: nothing is called any more */
    /* of the call that runs */
    uint32_t number;
    const masu_function *function;
    const masu_value *arguments;
    tl_tensor *foreign[TL_CALL_PARTS]; /* over the caller's elements; NULL: none */
    tl_given given[2 * TL_CALL_PARTS];
};

/* Says why a call is refused, and returns the status. `part`: the argument or result that it is about; NULL: none. */
masu_status tl__call_refuse(masu_instance *i, masu_status status, const masu_parameter *part, const char *format, ...)
    __attribute__((format(printf, 4, 5), cold));

/* ---- arguments.c ------------------------------------------------------------------------------------------------- */

masu_status tl__arguments_check(masu_instance *i);
/* The function has ended: no storage is the caller's any more. OUT_OF_MEMORY: some still are. */
masu_status tl__arguments_end(masu_instance *i);
/* Whether each element of a view has a place of its own: no stride leads twice to one. */
bool tl__view_is_plain(const masu_tensor *view);
bool tl__view_is_possible(const masu_tensor *view);
void tl__elements_copy(void *to, const int64_t *to_stride, const void *from, const int64_t *from_stride, int rank,
                       const int64_t *shape, size_t size);

/* ---- results.c --------------------------------------------------------------------------------------------------- */

/* Before the function runs: what is wrong with the caller's places, and the owners that the results will need. */
masu_status tl__results_prepare(masu_instance *i, const masu_value *results);
/* After it ran well: everything to the caller, or nothing and why. */
masu_status tl__results_deliver(masu_instance *i, masu_value *results);
/* Drops what was given. */
void tl__results_drop(masu_instance *i);

#endif
