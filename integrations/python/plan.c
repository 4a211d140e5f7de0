/* plan.c: the static planner (masu/plan.h) on what a program of Python knows of its buffers. */
#include "masu_python.h"

#include <string.h>

#include <masu/alloc.h>
#include <masu/plan.h>

static PyStructSequence_Field plan_fields[] = {
    {"offsets", "Where each buffer lies in the arena, a list of bytes; None when no plan fits."},
    {"height", "Bytes of the arena."},
    {"lower_bound", "Proven: no arena is smaller."},
    {"outcome",
     "'optimal', 'feasible', 'infeasible' (proven), or 'unknown' (limits ended the search above the capacity)."},
    {"method", "What found the plan."},
    {"steps", "Nodes of the search."},
    {"seconds", "Time by the clock."},
    {NULL, NULL},
};

static PyStructSequence_Desc plan_description = {"masu.Plan", "What plan() found.", plan_fields, 7};

int masu_py_plan_add_type(PyObject *module, module_state *state) {
    state->plan_type = PyStructSequence_NewType(&plan_description);
    return state->plan_type ? PyModule_AddType(module, state->plan_type) : -1;
}

/* Everything that one call holds; ended by problem_end. */
typedef struct problem {
    masu_plan_row *rows;
    masu_plan_relation *relations;
    uint64_t *offsets;
    size_t count, relation_count;
} problem;

static void problem_end(problem *self) {
    (void)masu_free(self->rows, self->count * sizeof *self->rows);
    (void)masu_free(self->relations, self->relation_count * sizeof *self->relations);
    (void)masu_free(self->offsets, self->count * sizeof *self->offsets);
}

/* ---- what was given ---------------------------------------------------------------------------------------------- */

static bool number_of(PyObject *object, int64_t *out) {
    PyObject *index = object ? PyNumber_Index(object) : NULL;
    *out = index ? PyLong_AsLongLong(index) : -1;
    Py_XDECREF(index);
    return !PyErr_Occurred();
}

/* (size, lower, upper) or (size, lower, upper, alignment). */
static bool row_of(PyObject *life, Py_ssize_t at, masu_plan_row *out) {
    int64_t numbers[4] = {0};
    PyObject *parts = PySequence_Check(life) && !PyUnicode_Check(life) ? PySequence_Tuple(life) : NULL;
    Py_ssize_t length = parts ? PyTuple_Size(parts) : -1;
    bool fine = length == 3 || length == 4;
    for (Py_ssize_t i = 0; fine && i < length; i++)
        fine = number_of(PyTuple_GetItem(parts, i), &numbers[i]);
    Py_XDECREF(parts);
    if (fine && numbers[0] >= 0 && numbers[3] >= 0) {
        *out = (masu_plan_row){.size_bytes = (uint64_t)numbers[0],
                               .lower = numbers[1],
                               .upper = numbers[2],
                               .alignment_bytes = (uint64_t)numbers[3]};
        return true;
    }
    if (!PyErr_Occurred() || PyErr_ExceptionMatches(PyExc_TypeError) || PyErr_ExceptionMatches(PyExc_OverflowError))
        PyErr_Format(PyExc_ValueError,
                     "plan: lives[%zd]: is (size, lower, upper) or (size, lower, upper, alignment) of whole numbers, "
                     "size and alignment not below 0, not %R",
                     at, life);
    return false;
}

static bool rows_of(PyObject *lives, problem *into) {
    PyObject *list = PySequence_Check(lives) && !PyUnicode_Check(lives) ? PySequence_List(lives) : NULL;
    if (!list) {
        if (!PyErr_Occurred())
            PyErr_Format(PyExc_TypeError, "plan: lives is a sequence of (size, lower, upper), not %R", lives);
        return false;
    }
    into->count = (size_t)PyList_Size(list);
    bool fine = true;
    if (into->count > 0) {
        into->rows = masu_alloc_zeroed(into->count, sizeof *into->rows);
        into->offsets = masu_alloc_zeroed(into->count, sizeof *into->offsets);
        fine = into->rows && into->offsets;
        if (!fine)
            PyErr_NoMemory();
    }
    for (size_t i = 0; fine && i < into->count; i++)
        fine = row_of(PyList_GetItem(list, (Py_ssize_t)i), (Py_ssize_t)i, &into->rows[i]);
    Py_DECREF(list);
    return fine;
}

static bool relation_of(PyObject *given, Py_ssize_t at, size_t count, masu_plan_relation *out) {
    static const char *const names[] = {"must_share", "must_not_share", "may_share"};
    PyObject *parts = PyTuple_Check(given) ? Py_NewRef(given) : NULL;
    int64_t a = -1, b = -1;
    bool fine = parts && PyTuple_Size(parts) == 3 && PyUnicode_Check(PyTuple_GetItem(parts, 0)) &&
                number_of(PyTuple_GetItem(parts, 1), &a) && number_of(PyTuple_GetItem(parts, 2), &b);
    int kind = 0;
    while (fine && kind < 3 && PyUnicode_CompareWithASCIIString(PyTuple_GetItem(parts, 0), names[kind]))
        kind++;
    fine = fine && kind < 3 && a >= 0 && b >= 0 && (size_t)a < count && (size_t)b < count;
    Py_XDECREF(parts);
    if (fine) {
        *out = (masu_plan_relation){.kind = (masu_plan_relation_kind)kind, .a = (size_t)a, .b = (size_t)b};
        return true;
    }
    PyErr_Format(PyExc_ValueError,
                 "plan: relations[%zd]: is ('must_share' or 'must_not_share' or 'may_share', a, b), a and b numbers of "
                 "lives, not %R",
                 at, given);
    return false;
}

static bool relations_of(PyObject *given, problem *into) {
    if (!given)
        return true;
    PyObject *list = PySequence_Check(given) && !PyUnicode_Check(given) ? PySequence_List(given) : NULL;
    if (!list) {
        if (!PyErr_Occurred())
            PyErr_Format(PyExc_TypeError, "plan: relations is a sequence of (kind, a, b), not %R", given);
        return false;
    }
    into->relation_count = (size_t)PyList_Size(list);
    bool fine = into->relation_count == 0 ||
                (into->relations = masu_alloc_zeroed(into->relation_count, sizeof *into->relations));
    if (!fine)
        PyErr_NoMemory();
    for (size_t i = 0; fine && i < into->relation_count; i++)
        fine = relation_of(PyList_GetItem(list, (Py_ssize_t)i), (Py_ssize_t)i, into->count, &into->relations[i]);
    Py_DECREF(list);
    return fine;
}

static bool natural_of(PyObject *given, const char *name, uint64_t most, uint64_t *out) {
    if (!given)
        return true;
    PyObject *index = PyNumber_Index(given);
    *out = index ? PyLong_AsUnsignedLongLong(index) : 0;
    Py_XDECREF(index);
    if (!PyErr_Occurred() && *out <= most)
        return true;
    PyErr_Format(PyExc_ValueError, "plan: %s is a whole number, not below 0 and at most %llu, not %R", name,
                 (unsigned long long)most, given);
    return false;
}

static bool options_of(PyObject *const *given, masu_plan_options *options, uint64_t *capacity) {
    uint64_t threads = 0;
    if (!natural_of(given[0], "capacity", UINT64_MAX >> 1, capacity) ||
        !natural_of(given[2], "step_limit", UINT64_MAX >> 1, &options->step_limit) ||
        !natural_of(given[3], "threads", 1024, &threads) || !natural_of(given[4], "seed", UINT64_MAX, &options->seed))
        return false;
    options->threads = (unsigned)threads;
    if (given[1]) {
        options->time_limit_s = PyFloat_AsDouble(given[1]);
        if (PyErr_Occurred() || !(options->time_limit_s >= 0)) {
            PyErr_Format(PyExc_ValueError, "plan: time_limit is a number of seconds, 0 for none, not %R", given[1]);
            return false;
        }
    }
    return true;
}

/* ---- the call ---------------------------------------------------------------------------------------------------- */

static PyObject *offsets_of(const problem *from, const masu_plan_result *result) {
    if (result->outcome == MASU_PLAN_INFEASIBLE)
        return Py_NewRef(Py_None);
    PyObject *list = PyList_New((Py_ssize_t)from->count);
    for (size_t i = 0; list && i < from->count; i++) {
        PyObject *offset = PyLong_FromUnsignedLongLong(from->offsets[i]);
        if (!offset || PyList_SetItem(list, (Py_ssize_t)i, offset) < 0)
            Py_CLEAR(list);
    }
    return list;
}

static PyObject *plan_of(PyTypeObject *type, const problem *from, const masu_plan_result *result) {
    static const char *const outcomes[] = {[MASU_PLAN_OPTIMAL] = "optimal",
                                           [MASU_PLAN_FEASIBLE] = "feasible",
                                           [MASU_PLAN_INFEASIBLE] = "infeasible",
                                           [MASU_PLAN_UNKNOWN] = "unknown"};
    PyObject *plan = PyStructSequence_New(type);
    if (!plan)
        return NULL;
    PyStructSequence_SetItem(plan, 0, offsets_of(from, result));
    PyStructSequence_SetItem(plan, 1, PyLong_FromUnsignedLongLong(result->height_bytes));
    PyStructSequence_SetItem(plan, 2, PyLong_FromUnsignedLongLong(result->lower_bound_bytes));
    PyStructSequence_SetItem(plan, 3, PyUnicode_FromString(outcomes[result->outcome]));
    PyStructSequence_SetItem(plan, 4, PyUnicode_FromString(result->order ? result->order : ""));
    PyStructSequence_SetItem(plan, 5, PyLong_FromUnsignedLongLong(result->steps));
    PyStructSequence_SetItem(plan, 6, PyFloat_FromDouble(result->seconds));
    if (PyErr_Occurred())
        Py_CLEAR(plan);
    return plan;
}

static PyObject *refuse_problem(const masu_plan_problem *problem, masu_status status) {
    size_t where = 0;
    if (status != MASU_ERR_INVALID_ARGUMENT)
        return masu_py_refuse(status, "plan");
    masu_plan_mistake mistake = masu_plan_validate(problem, &where);
    const char *why = mistake == MASU_PLAN_BAD_RANGE       ? "its life ends before it begins, or at once"
                      : mistake == MASU_PLAN_BAD_ALIGNMENT ? "its alignment is not a power of two"
                                                           : "sizes and alignments add up beyond 2^62";
    if (mistake == MASU_PLAN_BAD_RELATION)
        return PyErr_Format(PyExc_ValueError, "plan: relations[%zu]: a buffer has no relation with itself", where);
    return PyErr_Format(PyExc_ValueError, "plan: lives[%zu]: %s", where, why);
}

PyObject *masu_py_call_plan(PyObject *module, PyObject *const *args, Py_ssize_t count, PyObject *names) {
    enum { LIVES, CAPACITY, TIME_LIMIT, STEP_LIMIT, THREADS, SEED, RELATIONS, PARAMETERS };
    static const char *const parameters[] = {"lives",   "capacity", "time_limit", "step_limit",
                                             "threads", "seed",     "relations",  NULL};
    PyObject *given[PARAMETERS], *plan = NULL;
    if (!masu_py_arguments("plan", parameters, 1, 1, args, count, names, given))
        return NULL;
    problem built = {0};
    masu_plan_options options = masu_plan_options_default();
    uint64_t capacity = 0;
    if (options_of(&given[CAPACITY], &options, &capacity) && rows_of(given[LIVES], &built) &&
        relations_of(given[RELATIONS], &built)) {
        masu_plan_problem asked = {.rows = built.rows,
                                   .count = built.count,
                                   .relations = built.relations,
                                   .relation_count = built.relation_count,
                                   .capacity_bytes = capacity};
        masu_plan_result result;
        PyThreadState *thread = PyEval_SaveThread();
        masu_status status = masu_plan_find(&asked, &options, built.offsets, &result);
        PyEval_RestoreThread(thread);
        plan = status == MASU_OK ? plan_of(masu_py_state(module)->plan_type, &built, &result)
                                 : refuse_problem(&asked, status);
    }
    problem_end(&built);
    return plan;
}
