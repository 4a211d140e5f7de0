/* heap.c: what the heap of this module holds, in numbers. */
#include "masu_python.h"

#include <stddef.h>

#include <masu/alloc.h>

PyObject *masu_py_refuse(masu_status status, const char *what) {
    PyObject *kind = status == MASU_ERR_OUT_OF_MEMORY                                        ? PyExc_MemoryError
                     : status == MASU_ERR_OVERFLOW                                           ? PyExc_OverflowError
                     : status == MASU_ERR_INVALID_ARGUMENT || status == MASU_ERR_UNSUPPORTED ? PyExc_ValueError
                                                                                             : PyExc_RuntimeError;
    return PyErr_Format(kind, "%s: %s (%s)", what, masu_status_text(status), masu_status_name(status));
}

#define FIELD(name) \
    { #name, offsetof(masu_heap_stats, name) }

static const struct {
    const char *name;
    size_t at;
} fields[] = {
    FIELD(allocations),   FIELD(frees),          FIELD(failures),           FIELD(hits),
    FIELD(misses),        FIELD(bypasses),       FIELD(device_allocations), FIELD(device_frees),
    FIELD(live_bytes),    FIELD(live_blocks),    FIELD(peak_bytes),         FIELD(reserved_bytes),
    FIELD(cached_bytes),  FIELD(free_bytes),     FIELD(slack_bytes),        FIELD(peak_reserved_bytes),
    FIELD(thread_caches), FIELD(metadata_bytes), FIELD(largest_free_bytes), FIELD(thread_cached_bytes),
};

PyObject *masu_py_call_heap_statistics(PyObject *module, PyObject *unused) {
    (void)module, (void)unused;
    masu_heap_stats stats;
    masu_get_stats(&stats);
    PyObject *dict = PyDict_New();
    for (size_t i = 0; dict && i < sizeof fields / sizeof fields[0]; i++) {
        PyObject *number = PyLong_FromUnsignedLongLong(*(const uint64_t *)((const char *)&stats + fields[i].at));
        if (!number || PyDict_SetItemString(dict, fields[i].name, number) < 0)
            Py_CLEAR(dict);
        Py_XDECREF(number);
    }
    return dict;
}

PyObject *masu_py_call_heap_trim(PyObject *module, PyObject *unused) {
    (void)module, (void)unused;
    masu_status status = masu_trim(0);
    return status == MASU_OK ? Py_NewRef(Py_None) : masu_py_refuse(status, "heap_trim");
}
