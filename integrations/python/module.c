/* module.c: the door of `import masu`. Each interpreter that imports it gets a state of its own. */
#include "masu_python.h"

#include <masu/version.h>

module_state *masu_py_state(PyObject *module) {
    return PyModule_GetState(module);
}

#define FAST(function) (PyCFunction)(void (*)(void))(function), METH_FASTCALL | METH_KEYWORDS

static PyMethodDef functions[] = {
    {"asarray", FAST(masu_py_call_asarray),
     "asarray($module, x, /, *, copy=None)\n"
     "--\n\n"
     "A Tensor of the bytes of x, which has a buffer or __dlpack__. copy: True\n"
     "always, False never, None only where the elements of x are not aligned."},
    {"from_dlpack", FAST(masu_py_call_from_dlpack),
     "from_dlpack($module, x, /, *, copy=None)\n"
     "--\n\n"
     "A Tensor of the bytes of x, which has __dlpack__ or is a DLPack capsule."},
    {"empty", FAST(masu_py_call_empty),
     "empty($module, shape, dtype='float32')\n--\n\nA Tensor of new bytes, which hold anything."},
    {"zeros", FAST(masu_py_call_zeros), "zeros($module, shape, dtype='float32')\n--\n\nA Tensor of zeros."},
    {"heap_statistics", masu_py_call_heap_statistics, METH_NOARGS,
     "heap_statistics($module, /)\n"
     "--\n\n"
     "What this module's heap holds, a dict of numbers: Tensors made here, results of compiled\n"
     "functions, and arrays of NumPy under numpy_handler()."},
    {"heap_trim", masu_py_call_heap_trim, METH_NOARGS,
     "heap_trim($module, /)\n--\n\nGives free memory of this module's heap back to the system."},
    {"compile", FAST(masu_py_call_compile),
     "compile($module, path, /, *, seed=0, cache=None, command=None, flags=())\n"
     "--\n\n"
     "A Module of the program in a .tl file: its public functions, by name.\n"
     "Compiled once by `masu build --shared`; what is in the cache is used as long as no file of the program has "
     "changed."},
    {"load", FAST(masu_py_call_load),
     "load($module, path, /, *, seed=0)\n--\n\nA Module of a library that `masu build --shared` made."},
    {"plan", FAST(masu_py_call_plan),
     "plan($module, lives, /, *, capacity=0, time_limit=10.0, step_limit=0, threads=0, seed=0, relations=())\n"
     "--\n\n"
     "Offsets in one arena for buffers\n"
     "of known sizes and lives: (size, lower, upper) or (size, lower, upper, alignment) each, alive in [lower, "
     "upper)."},
    {"report", FAST(masu_py_call_report),
     "report($module, path, /, *, command=None)\n--\n\nWhat `masu report --json` says of a recorded run."},
    {"whatif", FAST(masu_py_call_whatif),
     "whatif($module, path, /, *, limit=None, command=None)\n"
     "--\n\n"
     "What `masu whatif --json` says: a recorded run on every allocator."},
    {"numpy_handler", FAST(masu_py_call_numpy_handler),
     "numpy_handler($module, /, *, lines=False, record=None)\n"
     "--\n\n"
     "A context in which NumPy's arrays come from this module's heap. lines: it is\n"
     "counted which line of Python asked for them; record: that, and a trace of it all into a file, for `masu "
     "report`."},
    {"numpy_statistics", FAST(masu_py_call_numpy_statistics),
     "numpy_statistics($module, /, *, reset=False)\n"
     "--\n\n"
     "For each line of Python that asked for arrays under numpy_handler(lines=True) what\n"
     "they take and have taken, the most live bytes first. reset: counts and peaks start again from now."},
    {NULL, NULL, 0, NULL},
};

static int add_error(PyObject *module, module_state *state) {
    state->error = PyErr_NewExceptionWithDoc(
        "masu.Error", "A program in the language is wrong, or went wrong while it ran. Its text says where and why.",
        NULL, NULL);
    return state->error ? PyModule_AddObjectRef(module, "Error", state->error) : -1;
}

static int add_names(module_state *state) {
    state->dlpack_name = PyUnicode_InternFromString("__dlpack__");
    state->device_name = PyUnicode_InternFromString("__dlpack_device__");
    state->exchange_name = PyUnicode_InternFromString("__dlpack_c_exchange_api__");
    state->version_words = Py_BuildValue("{s:(ii)}", "max_version", DLPACK_MAJOR, DLPACK_MINOR);
    return state->dlpack_name && state->device_name && state->exchange_name && state->version_words ? 0 : -1;
}

static int module_exec(PyObject *module) {
    module_state *state = masu_py_state(module);
    if (add_names(state) < 0 || add_error(module, state) < 0 || masu_py_tensor_add_type(module, state) < 0 ||
        masu_py_plan_add_type(module, state) < 0 || masu_py_numpy_add_type(module, state) < 0 ||
        masu_py_programs_add_types(module, state) < 0 || masu_py_lines_add_type(module, state) < 0 ||
        masu_py_add_exchange(state) < 0)
        return -1;
    return PyModule_AddStringConstant(module, "__version__", MASU_VERSION_TEXT);
}

static int module_traverse(PyObject *module, visitproc visit, void *arg) {
    module_state *state = masu_py_state(module);
    Py_VISIT(state->tensor_type);
    Py_VISIT(state->module_type);
    Py_VISIT(state->function_type);
    Py_VISIT(state->handle_of_program);
    Py_VISIT(state->handler_type);
    Py_VISIT(state->line_type);
    Py_VISIT(state->plan_type);
    Py_VISIT(state->error);
    Py_VISIT(state->peer);
    return 0;
}

static int module_clear(PyObject *module) {
    module_state *state = masu_py_state(module);
    Py_CLEAR(state->tensor_type);
    Py_CLEAR(state->module_type);
    Py_CLEAR(state->function_type);
    Py_CLEAR(state->handle_of_program);
    Py_CLEAR(state->handler_type);
    Py_CLEAR(state->line_type);
    Py_CLEAR(state->plan_type);
    Py_CLEAR(state->error);
    Py_CLEAR(state->dlpack_name);
    Py_CLEAR(state->device_name);
    Py_CLEAR(state->exchange_name);
    Py_CLEAR(state->version_words);
    Py_CLEAR(state->peer);
    return 0;
}

static void module_free(void *module) {
    (void)module_clear(module);
}

static PyModuleDef_Slot slots[] = {{Py_mod_exec, module_exec}, {0, NULL}};

static PyModuleDef definition = {
    PyModuleDef_HEAD_INIT,
    .m_name = "masu",
    .m_doc = "Memory of tensors: arrays without a copy, compiled programs, the planner, and a heap for NumPy.",
    .m_size = sizeof(module_state),
    .m_methods = functions,
    .m_slots = slots,
    .m_traverse = module_traverse,
    .m_clear = module_clear,
    .m_free = module_free,
};

PyMODINIT_FUNC PyInit_masu(void);

PyMODINIT_FUNC PyInit_masu(void) {
    return PyModuleDef_Init(&definition);
}
