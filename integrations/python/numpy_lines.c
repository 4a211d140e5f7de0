/* numpy_lines.c: for each line of Python what its arrays take, and have taken.
 *
 *     blocks[]  address ─► place, bytes      open addressing, one entry a live block
 *     places[]  (code, line) ─► counts       open addressing, never shrinks; holds the code object
 *
 * While a recording is on, each block is an event of it too, with its line as the place.
 *
 * A line of NumPy's own files is passed over for the one that called it. A place is made under the interpreter's lock,
 * counts change under the mutex; the mutex is never held while Python runs.
 *
 * What stays true: the live blocks and bytes of all places are those of the entries in blocks[].
 */
#include "masu_python.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include <masu/alloc.h>
#include <masu/record.h>

#include "numpy_lines.h"

typedef struct place {
    PyObject *code; /* held for good, so that its address is its name; NULL: an empty entry */
    int line;
    bool inside_numpy;
    uint32_t number;  /* from 1 on, in a recording */
    uint32_t said_in; /* the recording that knows it; 0: none */
    uint64_t allocations, total_bytes, live_blocks, live_bytes, peak_bytes;
} place;

typedef struct block {
    uintptr_t address; /* 0: empty */
    size_t bytes;
    place *from;
    uint32_t recorded_in; /* 0: in none */
} block;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static place **places; /* a power of two of them */
static size_t place_count, place_room;
static block *blocks;
static size_t block_count, block_room;
/* The recording that is on, and its number, by which places and blocks know it; NULL: none. */
static masu_trace *recording;
static uint32_t recording_pool, recording_number;
static _Thread_local uint32_t place_here;

static char *numpy_folder; /* with its last slash; kept for good */

static size_t mixed(uint64_t number) {
    number *= UINT64_C(0x9E3779B97F4A7C15);
    return (size_t)(number ^ number >> 32);
}

/* ---- places ------------------------------------------------------------------------------------------------------ */

static size_t place_slot(place **table, size_t room, PyObject *code, int line) {
    size_t at = mixed((uintptr_t)code ^ (uint64_t)(unsigned)line << 48) & (room - 1);
    while (table[at] && (table[at]->code != code || table[at]->line != line))
        at = (at + 1) & (room - 1);
    return at;
}

static bool places_make_room(void) {
    if (place_count * 2 < place_room)
        return true;
    size_t room = place_room ? 2 * place_room : 64;
    place **table = masu_alloc_zeroed(room, sizeof(place *));
    if (!table)
        return false;
    for (size_t i = 0; i < place_room; i++)
        if (places[i])
            table[place_slot(table, room, places[i]->code, places[i]->line)] = places[i];
    (void)masu_free(places, place_room * sizeof(place *));
    places = table;
    place_room = room;
    return true;
}

/* Text that NumPy 1.x compiles when it is imported, and that lies in no file. */
static const char numpy_text[] = "<__array_function__ internals>";

static bool is_inside_numpy(PyObject *code) {
    PyObject *name = PyObject_GetAttrString(code, "co_filename");
    PyObject *text = name && PyUnicode_Check(name) ? PyUnicode_AsEncodedString(name, "utf-8", "surrogateescape") : NULL;
    const char *file = text ? PyBytes_AsString(text) : "";
    bool inside = (numpy_folder && !strncmp(file, numpy_folder, strlen(numpy_folder))) || !strcmp(file, numpy_text);
    Py_XDECREF(text);
    Py_XDECREF(name);
    PyErr_Clear();
    return inside;
}

/* With the interpreter's lock, which alone lets places come; NULL: no memory. */
static place *place_of(PyObject *code, int line) {
    if (place_room) {
        place *known = places[place_slot(places, place_room, code, line)];
        if (known)
            return known;
    }
    bool inside = is_inside_numpy(code);
    pthread_mutex_lock(&lock);
    place *made = places_make_room() ? masu_alloc_zeroed(1, sizeof *made) : NULL;
    if (made) {
        made->code = Py_NewRef(code);
        made->line = line;
        made->number = (uint32_t)place_count + 1;
        made->inside_numpy = inside;
        places[place_slot(places, place_room, code, line)] = made;
        place_count++;
    }
    pthread_mutex_unlock(&lock);
    return made;
}

/* The limited interface knows the caller of a frame as an attribute only. NULL: there is none. */
static PyFrameObject *caller_of(PyFrameObject *frame) {
    PyObject *caller = PyObject_GetAttrString((PyObject *)frame, "f_back");
    if (caller == Py_None)
        Py_CLEAR(caller);
    return (PyFrameObject *)caller;
}

/* The recording hears of a place before the first block from there. With the interpreter's lock. */
static void say_place(place *from) {
    if (!recording || from->said_in == recording_number)
        return;
    PyObject *file = PyObject_GetAttrString(from->code, "co_filename"),
             *function = PyObject_GetAttrString(from->code, "co_qualname");
    const char *path = file ? PyUnicode_AsUTF8AndSize(file, NULL) : NULL;
    const char *name = function ? PyUnicode_AsUTF8AndSize(function, NULL) : NULL;
    pthread_mutex_lock(&lock);
    if (recording) {
        masu_trace_place(recording, from->number, 0, path ? path : "?", name ? name : "?", (uint32_t)from->line);
        from->said_in = recording_number;
    }
    pthread_mutex_unlock(&lock);
    Py_XDECREF(file);
    Py_XDECREF(function);
    PyErr_Clear();
}

/* The innermost line that runs and is not NumPy's own. */
static place *place_now(void) {
    place *found = NULL;
    PyFrameObject *frame = PyEval_GetFrame();
    Py_XINCREF((PyObject *)frame);
    while (frame) {
        PyObject *code = (PyObject *)PyFrame_GetCode(frame);
        place *here = place_of(code, PyFrame_GetLineNumber(frame));
        Py_DECREF(code);
        if (here)
            found = here;
        PyFrameObject *caller = !here || here->inside_numpy ? caller_of(frame) : NULL;
        Py_DECREF((PyObject *)frame);
        frame = caller;
    }
    return found;
}

/* ---- blocks ------------------------------------------------------------------------------------------------------ */

static size_t block_slot(const block *table, size_t room, uintptr_t address) {
    size_t at = mixed(address) & (room - 1);
    while (table[at].address && table[at].address != address)
        at = (at + 1) & (room - 1);
    return at;
}

static bool blocks_make_room(void) {
    if (block_count * 2 < block_room)
        return true;
    size_t room = block_room ? 2 * block_room : 1024;
    block *table = masu_alloc_zeroed(room, sizeof *table);
    if (!table)
        return false;
    for (size_t i = 0; i < block_room; i++)
        if (blocks[i].address)
            table[block_slot(table, room, blocks[i].address)] = blocks[i];
    (void)masu_free(blocks, block_room * sizeof *blocks);
    blocks = table;
    block_room = room;
    return true;
}

/* Entries behind the hole that would not be found across it move into it. */
static void block_drop(size_t hole) {
    blocks[hole].address = 0;
    block_count--;
    for (size_t at = (hole + 1) & (block_room - 1); blocks[at].address; at = (at + 1) & (block_room - 1)) {
        size_t home = mixed(blocks[at].address) & (block_room - 1);
        if (((at - home) & (block_room - 1)) < ((at - hole) & (block_room - 1)))
            continue;
        blocks[hole] = blocks[at];
        blocks[at].address = 0;
        hole = at;
    }
}

/* With the mutex; gives the number of the recording, 0: there is none. */
static uint32_t record(masu_event_kind kind, void *address, size_t bytes, uint32_t from) {
    if (!recording)
        return 0;
    masu_event event = {.address = (uintptr_t)address,
                        .bytes = bytes,
                        .block_bytes = bytes,
                        .alignment_bytes = kind == MASU_EVENT_ALLOC ? MASU_BUCKET_MIN_BYTES : 0,
                        .pool = recording_pool,
                        .kind = kind};
    place_here = from;
    masu_trace_put(recording, &event);
    place_here = 0;
    return recording_number;
}

static uint32_t tell_place(void *unused) {
    (void)unused;
    return place_here;
}

masu_status masu_py_lines_record(const char *path) {
    if (recording)
        return MASU_ERR_LIMIT_REACHED;
    masu_trace_config shape = {.start_on = true};
    masu_record_config config = {.program = "python", .here = tell_place};
    masu_trace *trace = NULL;
    masu_status status = masu_trace_create(&shape, &trace);
    if (status == MASU_OK)
        status = masu_trace_record_to(trace, path, &config);
    if (status != MASU_OK) {
        masu_trace_destroy(trace);
        return status;
    }
    uint32_t pool = masu_trace_add_pool(trace, "numpy", "arrays", 0);
    pthread_mutex_lock(&lock);
    recording = trace;
    recording_pool = pool;
    recording_number++;
    pthread_mutex_unlock(&lock);
    return MASU_OK;
}

masu_status masu_py_lines_record_end(void) {
    pthread_mutex_lock(&lock);
    masu_trace *trace = recording;
    recording = NULL;
    pthread_mutex_unlock(&lock);
    masu_status status = trace ? masu_trace_record_end(trace, NULL) : MASU_OK;
    masu_trace_destroy(trace);
    return status;
}

void masu_py_lines_allocated(void *address, size_t bytes) {
    if (!address || !Py_IsInitialized())
        return;
    PyGILState_STATE held = PyGILState_Ensure();
    PyObject *type, *value, *trace;
    PyErr_Fetch(&type, &value, &trace);
    place *from = place_now();
    if (from)
        say_place(from);
    PyErr_Restore(type, value, trace);
    PyGILState_Release(held);
    if (!from)
        return;
    pthread_mutex_lock(&lock);
    if (blocks_make_room()) {
        size_t at = block_slot(blocks, block_room, (uintptr_t)address);
        if (!blocks[at].address) {
            blocks[at] = (block){(uintptr_t)address, bytes, from,
                                 record(MASU_EVENT_ALLOC, address, bytes, from->number)};
            block_count++;
            from->allocations++;
            from->total_bytes += bytes;
            from->live_blocks++;
            from->live_bytes += bytes;
            if (from->peak_bytes < from->live_bytes)
                from->peak_bytes = from->live_bytes;
        }
    }
    pthread_mutex_unlock(&lock);
}

void masu_py_lines_freed(void *address) {
    if (!address)
        return;
    pthread_mutex_lock(&lock);
    size_t at = block_room ? block_slot(blocks, block_room, (uintptr_t)address) : 0;
    if (block_room && blocks[at].address) {
        if (blocks[at].recorded_in == recording_number)
            (void)record(MASU_EVENT_FREE, address, blocks[at].bytes, 0);
        blocks[at].from->live_blocks--;
        blocks[at].from->live_bytes -= blocks[at].bytes;
        block_drop(at);
    }
    pthread_mutex_unlock(&lock);
}

bool masu_py_lines_start(void) {
    if (numpy_folder)
        return true;
    PyObject *numpy = PyImport_ImportModule("numpy");
    PyObject *file = numpy ? PyObject_GetAttrString(numpy, "__file__") : NULL;
    PyObject *text = file ? PyUnicode_AsEncodedString(file, "utf-8", "surrogateescape") : NULL;
    const char *path = text ? PyBytes_AsString(text) : NULL;
    const char *slash = path ? strrchr(path, '/') : NULL;
    if (slash) {
        size_t length = (size_t)(slash + 1 - path);
        char *folder = masu_alloc_zeroed(1, length + 1);
        if (folder)
            numpy_folder = memcpy(folder, path, length);
        else
            PyErr_NoMemory();
    } else if (!PyErr_Occurred()) {
        PyErr_SetString(PyExc_RuntimeError, "numpy_handler: NumPy does not say where its files lie");
    }
    Py_XDECREF(text);
    Py_XDECREF(file);
    Py_XDECREF(numpy);
    return numpy_folder != NULL;
}

/* ---- what was counted -------------------------------------------------------------------------------------------- */

static PyStructSequence_Field line_fields[] = {
    {"file", "Path of the file."},
    {"line", "Number of the line."},
    {"function", "Name of the function."},
    {"live_bytes", "Bytes of its arrays that are there now."},
    {"live_blocks", "Arrays that are there now."},
    {"peak_bytes", "The most that live_bytes was."},
    {"allocations", "Arrays ever made."},
    {"total_bytes", "Their bytes."},
    {NULL, NULL},
};

static PyStructSequence_Desc line_description = {
    "masu.NumpyLine", "What the arrays that a line of Python asked for take.", line_fields, 8};

int masu_py_lines_add_type(PyObject *module, module_state *state) {
    state->line_type = PyStructSequence_NewType(&line_description);
    return state->line_type ? PyModule_AddType(module, state->line_type) : -1;
}

static int by_live_bytes(const void *a, const void *b) {
    const place *first = a, *second = b;
    if (first->live_bytes != second->live_bytes)
        return first->live_bytes < second->live_bytes ? 1 : -1;
    if (first->total_bytes != second->total_bytes)
        return first->total_bytes < second->total_bytes ? 1 : -1;
    return 0;
}

/* Copies of the places with a count, sorted; *bytes: of the copy. Starts the counts again where asked. */
static place *places_taken(bool reset, size_t *count, size_t *bytes) {
    pthread_mutex_lock(&lock);
    *bytes = (place_count + 1) * sizeof(place);
    *count = 0;
    place *taken = masu_alloc(*bytes);
    for (size_t i = 0; taken && i < place_room; i++) {
        if (!places[i] || !(places[i]->allocations || places[i]->live_blocks))
            continue;
        taken[(*count)++] = *places[i];
        if (reset) {
            places[i]->allocations = places[i]->total_bytes = 0;
            places[i]->peak_bytes = places[i]->live_bytes;
        }
    }
    pthread_mutex_unlock(&lock);
    if (taken)
        qsort(taken, *count, sizeof *taken, by_live_bytes);
    return taken;
}

static PyObject *line_of(PyTypeObject *type, const place *from) {
    PyObject *line = PyStructSequence_New(type);
    if (!line)
        return NULL;
    const uint64_t numbers[] = {from->live_bytes, from->live_blocks, from->peak_bytes, from->allocations,
                                from->total_bytes};
    PyStructSequence_SetItem(line, 0, PyObject_GetAttrString(from->code, "co_filename"));
    PyStructSequence_SetItem(line, 1, PyLong_FromLong(from->line));
    PyStructSequence_SetItem(line, 2, PyObject_GetAttrString(from->code, "co_qualname"));
    for (Py_ssize_t i = 0; i < 5; i++)
        PyStructSequence_SetItem(line, 3 + i, PyLong_FromUnsignedLongLong(numbers[i]));
    if (PyErr_Occurred())
        Py_CLEAR(line);
    return line;
}

PyObject *masu_py_call_numpy_statistics(PyObject *module, PyObject *const *args, Py_ssize_t count, PyObject *names) {
    static const char *const parameters[] = {"reset", NULL};
    PyObject *given[1];
    if (!masu_py_arguments("numpy_statistics", parameters, 0, 0, args, count, names, given))
        return NULL;
    if (given[0] && !PyBool_Check(given[0]))
        return PyErr_Format(PyExc_TypeError, "numpy_statistics: reset is True or False, not %R", given[0]);
    size_t found, bytes;
    place *taken = places_taken(given[0] == Py_True, &found, &bytes);
    if (!taken)
        return PyErr_NoMemory();
    PyObject *list = PyList_New((Py_ssize_t)found);
    for (size_t i = 0; list && i < found; i++) {
        PyObject *line = line_of(masu_py_state(module)->line_type, &taken[i]);
        if (!line || PyList_SetItem(list, (Py_ssize_t)i, line) < 0)
            Py_CLEAR(list);
    }
    (void)masu_free(taken, bytes);
    return list;
}
