/* dlpack.h: the binary interface by which array libraries hand each other tensors, as far as this module speaks it
 * (DLPack 1.x). The layout is fixed by that agreement: nothing here may be changed, only added to.
 *
 * Two generations: a legacy tensor says neither its version nor whether it may be written to; a versioned one does. In
 * Python each travels in a capsule whose name says which, and says "used_" once somebody has taken what was in it.
 */
#ifndef MASU_PYTHON_DLPACK_H
#define MASU_PYTHON_DLPACK_H

#include <stdint.h>

enum { DLPACK_MAJOR = 1, DLPACK_MINOR = 1 };

#define DLPACK_LEGACY         "dltensor"
#define DLPACK_LEGACY_USED    "used_dltensor"
#define DLPACK_VERSIONED      "dltensor_versioned"
#define DLPACK_VERSIONED_USED "used_dltensor_versioned"
#define DLPACK_EXCHANGE       "dlpack_exchange_api"

typedef enum dl_device_type { DL_CPU = 1, DL_CUDA_HOST = 3, DL_ROCM_HOST = 11 } dl_device_type;

typedef struct dl_device {
    int32_t type; /* dl_device_type, or another that this module does not know */
    int32_t id;
} dl_device;

enum { DL_INT = 0, DL_UINT = 1, DL_FLOAT = 2, DL_BFLOAT = 4, DL_COMPLEX = 5, DL_BOOL = 6 };

typedef struct dl_type {
    uint8_t code;
    uint8_t bits;
    uint16_t lanes;
} dl_type;

typedef struct dl_tensor {
    void *data;
    dl_device device;
    int32_t ndim;
    dl_type dtype;
    int64_t *shape;
    int64_t *strides; /* in elements; NULL: rows, one behind the other */
    uint64_t byte_offset;
} dl_tensor;

typedef struct dl_managed {
    dl_tensor tensor;
    void *context;
    void (*deleter)(struct dl_managed *self); /* may be NULL; any thread */
} dl_managed;

enum { DL_READ_ONLY = 1u << 0, DL_IS_COPIED = 1u << 1 };

typedef struct dl_version {
    uint32_t major, minor;
} dl_version;

typedef struct dl_managed_versioned {
    dl_version version;
    void *context;
    void (*deleter)(struct dl_managed_versioned *self); /* may be NULL; any thread */
    uint64_t flags;
    dl_tensor tensor;
} dl_managed_versioned;

/* The table that a type of tensors may offer to C: the same without capsules and calls of Python. Functions return 0,
 * or -1 with a Python exception. The caller holds the interpreter's lock. */
typedef struct dl_exchange_header {
    dl_version version;
    struct dl_exchange_header *previous; /* the table of an older major version, or NULL */
} dl_exchange_header;

typedef struct dl_exchange {
    dl_exchange_header header;
    int (*allocate)(dl_tensor *prototype, dl_managed_versioned **out, void *error_context,
                    void (*set_error)(void *error_context, const char *kind, const char *message));
    int (*from_object)(void *object, dl_managed_versioned **out); /* *out: the caller's, until its deleter */
    int (*to_object)(dl_managed_versioned *tensor, void **out);   /* takes the tensor when it returns 0 */
    int (*borrow)(void *object, dl_tensor *out); /* may be NULL; borrowed as long as the object lives */
    int (*current_stream)(int32_t device_type, int32_t device_id, void **out);
} dl_exchange;

#endif
