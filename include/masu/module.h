/* module.h: what a library made by `masu build --shared` shows: one table, `masu_module`, from which a program that has
 * never seen the source can call every exported function (dlsym(handle, MASU_MODULE_SYMBOL)). Programs in C and C++
 * mostly use the header that `--header` writes: typed functions over this table.
 *
 *     masu_module ─┬─ functions[] ─► name, documentation, parameters[], results[]
 *                  ├─ handle_types[]   structs of the program that callers hold without seeing into them
 *                  └─ create ─► masu_instance ─► call(instance, function, arguments, results) … ─► destroy
 *
 * An instance is the whole state of a program: its heaps, its random numbers, its last error. Nothing is shared between
 * instances but constant data, so many may live in one process, in one thread or in many. Thread safety: one thread
 * uses an instance at a time (any thread may, one after the other; `call` refuses a second one with INVALID_ARGUMENT
 * and says nothing); `release`, `handle_drop` and `destroy` may come from any thread at any time, in any order: results
 * and handles outlive their instance's destroy, and the last of them ends it.
 *
 * Arguments are borrowed for the call. A tensor that is row-major is read where it lies; one with other strides, or
 * with data that is not aligned to its elements, is copied first. The program never writes into an argument, but for
 * parameters that are written (`&mut Tensor`): the new elements are in the caller's memory when the call has ended
 * well, and nothing has changed there or in any handle when it has not.
 *
 * Results belong to the caller. A tensor result whose `data` is NULL when the call begins becomes a view of memory
 * of the instance, to be given back with `release`; one that is a view of the caller's memory (owner NULL, data not
 * NULL) is filled there: shape and element type must be the result's, strides may be any that name each element once.
 * Set every masu_value of the results to zero, or to such a view, before the call.
 *
 * Whatever goes wrong is a status, and a text with the place in the source (`error`). No call prints or ends the
 * process.
 */
#ifndef MASU_MODULE_H
#define MASU_MODULE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <masu/export.h>
#include <masu/status.h>
#include <masu/tensor.h>

#ifdef __cplusplus
extern "C" {
#endif

MASU_HEADER_BEGIN

#define MASU_MODULE_SYMBOL  "masu_module"
#define MASU_MODULE_VERSION 1u

typedef struct masu_instance masu_instance;
typedef struct masu_handle masu_handle; /* a value of the program; belongs to the caller and to one instance */
typedef struct masu_module masu_module;

/* The numbers are part of the binary interface. */
typedef enum masu_kind {
    MASU_KIND_NONE, /* a result that is not there yet */
    MASU_KIND_TENSOR,
    MASU_KIND_F32,
    MASU_KIND_F64,
    MASU_KIND_I64, /* every integer type of the program: see least and most */
    MASU_KIND_BOOL,
    MASU_KIND_TEXT,  /* UTF-8 */
    MASU_KIND_HANDLE /* a struct or enum of the program */
} masu_kind;

typedef struct masu_string {
    const char *data; /* not ended by a zero where the caller gives it; ended by one in results */
    size_t length;    /* in bytes */
    void *owner;      /* as in masu_tensor */
} masu_string;

typedef struct masu_value {
    masu_kind kind;
    union {
        masu_tensor tensor;
        float f32;
        double f64;
        int64_t i64;
        bool truth;
        masu_string text;
        masu_handle *handle;
    } as;
} masu_value;

/* A text that ends with a zero, borrowed. */
static inline masu_string masu_string_of(const char *text) {
    masu_string s;
    s.data = text;
    s.length = text ? strlen(text) : 0;
    s.owner = NULL;
    return s;
}

/* A parameter or a result. */
typedef struct masu_parameter {
    const char *name; /* NULL: a result */
    const char *type; /* as the program writes it, such as "&mut Net" */
    masu_kind kind;
    bool is_written; /* `&mut`: of tensors the elements, of handles the value */
    /* tensors */
    masu_element element; /* MASU_ELEMENT_COUNT: any of the four */
    int32_t rank;         /* -1: any */
    const int64_t *shape; /* `rank` lengths, -1 where any will do; NULL: any */
    /* integers */
    int64_t least, most; /* what the type holds; anything else is refused */
    /* handles */
    uint32_t handle_type; /* index in handle_types */
} masu_parameter;

typedef struct masu_function {
    const char *name;          /* as in the program: "step", "Net::step" */
    const char *c_name;        /* in the header: "net_step", "net_Net_step" */
    const char *documentation; /* the lines of `///` before it, "" where there are none */
    uint32_t line;             /* in the source */
    uint32_t parameter_count, result_count;
    const masu_parameter *parameters, *results;
    bool is_tuple; /* the results are the parts of a tuple; else there is one or none */
} masu_function;

typedef struct masu_handle_type {
    const char *name; /* "Net" */
    const char *documentation;
} masu_handle_type;

/* Pools take so much of an arena at a time, for each size that tensors and their headers have: the smallest network
 * needs some hundred KiB. */
enum { MASU_INSTANCE_UNIT = 128 * 1024 };

/* Zero means the default everywhere. */
typedef struct masu_instance_options {
    size_t struct_bytes; /* sizeof(masu_instance_options): set it, so that fields can be added */
    uint64_t seed;       /* of the program's random numbers; 0: 8, as `masu run` */
    /* Memory for all that calls ever need, borrowed until the instance has ended: no call then asks the system for any
     * (one that fails does for its text), and what does not fit is MASU_ERR_OUT_OF_MEMORY. At a multiple of
     * MASU_INSTANCE_UNIT. NULL: the instance asks the system. arena_used says how many bytes are enough. */
    void *arena;
    size_t arena_bytes; /* more than frame_bytes, a multiple of 4096 */
    /* of the arena, for the frames of functions: a multiple of 4096; 0: 65536. What is deeper is STACK_OVERFLOW */
    size_t frame_bytes;
} masu_instance_options;

struct masu_module {
    uint32_t version; /* MASU_MODULE_VERSION: another one is another table */
    uint32_t struct_bytes;
    const char *name;   /* the prefix of the header's names */
    const char *source; /* path of the program, as it was given to the compiler */
    uint32_t function_count, handle_type_count;
    const masu_function *functions;
    const masu_handle_type *handle_types;

    /* options NULL: defaults. MASU_OK; OUT_OF_MEMORY; INVALID_ARGUMENT for options that cannot be. *out is NULL but
     * with MASU_OK. Any thread. */
    masu_status (*create)(const masu_module *module, const masu_instance_options *options, masu_instance **out);
    /* Gives back everything but results and handles that are still out. NULL is fine. Any thread. */
    void (*destroy)(masu_instance *instance);
    /* functions[function] with parameter_count arguments and result_count results. MASU_OK, or what went wrong, with
     * `error` saying it: INVALID_ARGUMENT (a kind, a number or a handle that does not fit), DTYPE_MISMATCH,
     * SHAPE_MISMATCH, UNSUPPORTED (a device), PANIC (the program said so, returned an `Err`, or asked to end), and
     * whatever else a program fails with. Results are touched with MASU_OK only. */
    masu_status (*call)(masu_instance *instance, uint32_t function, const masu_value *arguments, masu_value *results);
    /* The error of the last call that failed, with place and source line; "" before the first. Valid until the next
     * call. */
    const char *(*error)(const masu_instance *instance);
    /* Gives back what a result holds (tensor, text, handle) and makes it MASU_KIND_NONE. Nothing happens to borrowed
     * memory. */
    void (*release)(masu_value *value);
    /* Another handle of the same value; writing through one does not change the other. O(1): what is shared is copied
     * when it is written. In a thread that may use the instance. */
    masu_status (*handle_clone)(masu_handle *handle, masu_handle **out);
    /* NULL is fine. Any thread. */
    void (*handle_drop)(masu_handle *handle);
    /* The bytes of its arena that the instance has needed so far: another instance with so many bytes does the same
     * calls again. 0 without an arena. */
    size_t (*arena_used)(const masu_instance *instance);
};

MASU_HEADER_END

#ifdef __cplusplus
}
#endif

#endif
