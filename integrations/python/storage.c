/* storage.c: who keeps the bytes of a tensor, counted, so that Tensors and the capsules made from them may end in any
 * order and in any thread.
 *
 * Bytes of this module's own heap, and of a compiled program, need no lock of the interpreter to go back. Bytes that a
 * Python object or a foreign tensor keeps do: the last that lets go takes the lock, and when the interpreter is gone
 * already, a Python object is left alone (there is nothing that could free it) and a foreign deleter is called all the
 * same.
 */
#include "masu_python.h"

#include <stdatomic.h>
#include <stddef.h>

#include <masu/alloc.h>

typedef enum storage_kind { KEEPS_BLOCK, KEEPS_BUFFER, KEEPS_LEGACY, KEEPS_VERSIONED, KEEPS_VALUE } storage_kind;

struct storage {
    _Atomic size_t holds;
    storage_kind kind;
    size_t bytes; /* of this struct and the block behind it, as allocated */
    union {
        Py_buffer buffer;
        dl_managed *legacy;
        dl_managed_versioned *versioned;
        struct {
            masu_value value;
            void (*release)(masu_value *value); /* any thread, without the lock */
        };
    };
};

enum { BLOCK_AT = 64 };
_Static_assert(offsetof(struct storage, buffer) <= BLOCK_AT, "the block begins behind the counts");

/* NULL without an exception. */
static storage *storage_alloc(size_t bytes, storage_kind kind) {
    storage *self = masu_alloc(bytes);
    if (!self)
        return NULL;
    atomic_init(&self->holds, 1);
    self->kind = kind;
    self->bytes = bytes;
    return self;
}

storage *masu_py_storage_try(size_t bytes, void **data) {
    if (bytes > PY_SSIZE_T_MAX - BLOCK_AT)
        return NULL;
    storage *self = storage_alloc(BLOCK_AT + (bytes ? bytes : 1), KEEPS_BLOCK);
    if (self)
        *data = (char *)self + BLOCK_AT;
    return self;
}

storage *masu_py_storage_new(size_t bytes, void **data) {
    storage *self = masu_py_storage_try(bytes, data);
    if (!self)
        PyErr_NoMemory();
    return self;
}

static storage *storage_of(storage_kind kind) {
    storage *self = storage_alloc(sizeof *self, kind);
    if (!self)
        PyErr_NoMemory();
    return self;
}

storage *masu_py_storage_of_buffer(const Py_buffer *view) {
    storage *self = storage_of(KEEPS_BUFFER);
    if (self)
        self->buffer = *view;
    return self;
}

storage *masu_py_storage_of_value(const masu_value *value, void (*release)(masu_value *value)) {
    storage *self = storage_of(KEEPS_VALUE);
    if (self) {
        self->value = *value;
        self->release = release;
    }
    return self;
}

storage *masu_py_storage_of_legacy(dl_managed *managed) {
    storage *self = storage_of(KEEPS_LEGACY);
    if (self)
        self->legacy = managed;
    return self;
}

storage *masu_py_storage_of_versioned(dl_managed_versioned *managed) {
    storage *self = storage_of(KEEPS_VERSIONED);
    if (self)
        self->versioned = managed;
    return self;
}

void masu_py_storage_hold(storage *self) {
    atomic_fetch_add_explicit(&self->holds, 1, memory_order_relaxed);
}

static bool last_hold(storage *self) {
    return atomic_fetch_sub_explicit(&self->holds, 1, memory_order_acq_rel) == 1;
}

static void call_deleter(storage *self) {
    if (self->kind == KEEPS_LEGACY && self->legacy->deleter)
        self->legacy->deleter(self->legacy);
    if (self->kind == KEEPS_VERSIONED && self->versioned->deleter)
        self->versioned->deleter(self->versioned);
}

static bool needs_lock(const storage *self) {
    return self->kind != KEEPS_BLOCK && self->kind != KEEPS_VALUE;
}

static void end_without_lock(storage *self) {
    if (self->kind == KEEPS_VALUE)
        self->release(&self->value);
    (void)masu_free(self, self->bytes);
}

/* An exception that is on its way while a tensor ends is none of what ends here. */
static void storage_end(storage *self) {
    if (!needs_lock(self)) {
        end_without_lock(self);
        return;
    }
    PyObject *type, *value, *trace;
    PyErr_Fetch(&type, &value, &trace);
    if (self->kind == KEEPS_BUFFER)
        PyBuffer_Release(&self->buffer);
    else
        call_deleter(self);
    PyErr_Restore(type, value, trace);
    (void)masu_free(self, self->bytes);
}

void masu_py_storage_forget(storage *self) {
    (void)masu_free(self, self->bytes);
}

void masu_py_storage_drop(storage *self) {
    if (last_hold(self))
        storage_end(self);
}

void masu_py_storage_drop_anywhere(storage *self) {
    if (!last_hold(self))
        return;
    if (!needs_lock(self)) {
        end_without_lock(self);
    } else if (Py_IsInitialized()) {
        PyGILState_STATE lock = PyGILState_Ensure();
        storage_end(self);
        PyGILState_Release(lock);
    } else {
        call_deleter(self);
        (void)masu_free(self, self->bytes);
    }
}

PyObject *masu_py_storage_object(storage *self) {
    bool alone = atomic_load_explicit(&self->holds, memory_order_acquire) == 1;
    return alone && self->kind == KEEPS_BUFFER ? self->buffer.obj : NULL;
}
