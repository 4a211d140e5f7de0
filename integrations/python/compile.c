/* compile.c: a program's source becomes a library, once. The command `masu build --shared` does the work; what it made
 * lies in a cache under the hash of all that went into it, and is taken from there as long as that is the same.
 *
 *     CACHE/masu_HASH.so      hash of: the command, its size and time; the flags; each file of the program, its path
 *                             and text
 *
 * The files of a program are found as the compiler finds them (`mod name;`), but by the letters alone: one too many (a
 * `mod` in a comment) costs a compilation, no more. The library is written under another name and then renamed, so that
 * processes that compile the same at once do not see half of it.
 */
#include "commands.h"
#include "program.h"

#include <string.h>
#include <unistd.h>

#include <masu/alloc.h>

/* ---- files ------------------------------------------------------------------------------------------------------- */

static int is_true(PyObject *object) {
    int truth = object ? PyObject_IsTrue(object) : -1;
    Py_XDECREF(object);
    return truth;
}

static int is_file(PyObject *path) {
    return is_true(masu_py_call_of("os.path", "isfile", "(O)", path));
}

static PyObject *read_file(PyObject *path) {
    PyObject *file = masu_py_call_of("io", "open", "(Os)", path, "rb");
    PyObject *bytes = file ? PyObject_CallMethod(file, "read", NULL) : NULL;
    PyObject *closed = file ? PyObject_CallMethod(file, "close", NULL) : NULL;
    if (file && !closed)
        Py_CLEAR(bytes);
    Py_XDECREF(closed);
    Py_XDECREF(file);
    return bytes;
}

/* ---- the hash ---------------------------------------------------------------------------------------------------- */

static int hash_add(PyObject *hash, PyObject *bytes) {
    PyObject *length = PyUnicode_FromFormat("%zd:", PyBytes_Size(bytes)),
             *head = length ? PyUnicode_AsUTF8String(length) : NULL;
    PyObject *first = head ? PyObject_CallMethod(hash, "update", "O", head) : NULL;
    PyObject *second = first ? PyObject_CallMethod(hash, "update", "O", bytes) : NULL;
    int status = second ? 0 : -1;
    Py_XDECREF(length);
    Py_XDECREF(head);
    Py_XDECREF(first);
    Py_XDECREF(second);
    return status;
}

static int hash_text(PyObject *hash, PyObject *text) {
    PyObject *bytes = text ? PyUnicode_AsEncodedString(text, "utf-8", "surrogateescape") : NULL;
    int status = bytes ? hash_add(hash, bytes) : -1;
    Py_XDECREF(bytes);
    return status;
}

/* Size and time of a file, where there is one. */
static int hash_stamp(PyObject *hash, PyObject *path) {
    int there = is_file(path);
    if (there <= 0)
        return there;
    PyObject *facts = masu_py_call_of("os", "stat", "(O)", path);
    PyObject *bytes = facts ? PyObject_GetAttrString(facts, "st_size") : NULL;
    PyObject *time = facts ? PyObject_GetAttrString(facts, "st_mtime_ns") : NULL;
    PyObject *text = bytes && time ? PyUnicode_FromFormat("%U %S %S", path, bytes, time) : NULL;
    int status = text ? hash_text(hash, text) : -1;
    Py_XDECREF(facts);
    Py_XDECREF(bytes);
    Py_XDECREF(time);
    Py_XDECREF(text);
    return status;
}

/* The command, and what it links and runs from the same folder or prefix. */
static int hash_command(PyObject *hash, PyObject *command) {
    static const char *const beside[] = {"masu-compiler", "libmasu_program.a", "../libexec/masu-compiler",
                                         "../lib/libmasu_program.a"};
    PyObject *real = masu_py_call_of("os.path", "realpath", "(O)", command);
    PyObject *folder = real ? masu_py_call_of("os.path", "dirname", "(O)", real) : NULL;
    int status = folder ? hash_stamp(hash, real) : -1;
    for (size_t i = 0; status == 0 && i < sizeof beside / sizeof beside[0]; i++) {
        PyObject *path = PyUnicode_FromFormat("%U/%s", folder, beside[i]);
        status = path ? hash_stamp(hash, path) : -1;
        Py_XDECREF(path);
    }
    Py_XDECREF(folder);
    Py_XDECREF(real);
    return status;
}

/* ---- files of the program ---------------------------------------------------------------------------------------- */

static bool is_letter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/* The next `mod NAME ;` from *at on: the name and its length; NULL: none. */
static const char *next_mod(const char **at, size_t *length) {
    for (const char *found = strstr(*at, "mod"); found; found = strstr(found + 1, "mod")) {
        const char *name = found + 3 + strspn(found + 3, " \t\r\n");
        if (name == found + 3)
            continue;
        *length = 0;
        while (is_letter(name[*length]))
            ++*length;
        const char *end = name + *length + strspn(name + *length, " \t\r\n");
        if (*length == 0 || *end != ';')
            continue;
        *at = end;
        return name;
    }
    return NULL;
}

static int hash_file(PyObject *hash, PyObject *path, PyObject *seen);

/* The files in which a module of that name may lie, from a file in folder whose own name is stem. */
static int hash_module(PyObject *hash, PyObject *folder, PyObject *stem, const char *name, size_t length,
                       PyObject *seen) {
    PyObject *word = PyUnicode_FromStringAndSize(name, (Py_ssize_t)length);
    int status = word ? 0 : -1;
    for (int i = 0; status == 0 && i < 4; i++) {
        PyObject *inside = i < 2 ? Py_NewRef(folder) : PyUnicode_FromFormat("%U/%U", folder, stem);
        PyObject *path = inside ? PyUnicode_FromFormat(i % 2 ? "%U/%U/mod.tl" : "%U/%U.tl", inside, word) : NULL;
        int there = path ? is_file(path) : -1;
        status = there > 0 ? hash_file(hash, path, seen) : there;
        Py_XDECREF(inside);
        Py_XDECREF(path);
    }
    Py_XDECREF(word);
    return status;
}

static int hash_file(PyObject *hash, PyObject *path, PyObject *seen) {
    int known = PySet_Contains(seen, path);
    if (known)
        return known < 0 ? -1 : 0;
    PyObject *bytes = PySet_Add(seen, path) == 0 ? read_file(path) : NULL;
    PyObject *pair = bytes ? masu_py_call_of("os.path", "split", "(O)", path) : NULL;
    PyObject *parts = pair ? masu_py_call_of("os.path", "splitext", "(O)", PyTuple_GetItem(pair, 1)) : NULL;
    int status = parts ? hash_text(hash, path) : -1;
    if (status == 0)
        status = hash_add(hash, bytes);
    PyObject *folder = status == 0 ? PyTuple_GetItem(pair, 0) : NULL;
    PyObject *where = !folder ? NULL : PyUnicode_GetLength(folder) ? Py_NewRef(folder) : PyUnicode_FromString(".");
    if (status == 0 && !where)
        status = -1;
    const char *at = bytes ? PyBytes_AsString(bytes) : NULL, *name;
    size_t length;
    while (status == 0 && (name = next_mod(&at, &length)))
        status = hash_module(hash, where, PyTuple_GetItem(parts, 0), name, length, seen);
    Py_XDECREF(where);
    Py_XDECREF(parts);
    Py_XDECREF(pair);
    Py_XDECREF(bytes);
    return status;
}

static int hash_flags(PyObject *hash, PyObject *flags) {
    int status = 0;
    for (Py_ssize_t i = 0; status == 0 && i < PyList_Size(flags); i++)
        status = hash_text(hash, PyList_GetItem(flags, i));
    return status;
}

static PyObject *hash_of(PyObject *command, PyObject *path, PyObject *flags) {
    PyObject *hash = masu_py_call_of("hashlib", "sha256", "()"), *seen = PySet_New(NULL), *text = NULL;
    if (hash && seen && hash_command(hash, command) == 0 && hash_flags(hash, flags) == 0 &&
        hash_file(hash, path, seen) == 0)
        text = PyObject_CallMethod(hash, "hexdigest", NULL);
    Py_XDECREF(seen);
    Py_XDECREF(hash);
    return text;
}

/* ---- where things are -------------------------------------------------------------------------------------------- */

static PyObject *cache_of(PyObject *given) {
    PyObject *folder = NULL;
    if (given && given != Py_None) {
        folder = masu_py_path_text(given);
    } else {
        PyObject *base = masu_py_call_of("os", "getenv", "(s)", "XDG_CACHE_HOME");
        bool set = base && base != Py_None && PyUnicode_GetLength(base) > 0;
        PyObject *home = base && !set ? masu_py_call_of("os.path", "expanduser", "(s)", "~/.cache") : NULL;
        folder = set ? PyUnicode_FromFormat("%U/masu", base) : home ? PyUnicode_FromFormat("%U/masu", home) : NULL;
        Py_XDECREF(home);
        Py_XDECREF(base);
    }
    PyObject *made = folder ? masu_py_call_of("os", "makedirs", "(Oii)", folder, 0777, 1) : NULL;
    if (!made)
        Py_CLEAR(folder);
    Py_XDECREF(made);
    return folder;
}

/* ---- the compiler ------------------------------------------------------------------------------------------------ */

static PyObject *words_of(PyObject *command, PyObject *flags, PyObject *path, PyObject *into) {
    PyObject *words = Py_BuildValue("[Oss]", command, "build", "--shared");
    PyObject *rest = words ? Py_BuildValue("[OsO]", path, "-o", into) : NULL;
    PyObject *first = rest ? PySequence_Concat(words, flags) : NULL;
    PyObject *all = first ? PySequence_Concat(first, rest) : NULL;
    Py_XDECREF(first);
    Py_XDECREF(rest);
    Py_XDECREF(words);
    return all;
}

/* Warnings of a program that compiles are warnings of Python. */
static int tell_warnings(PyObject *text) {
    const char *words = PyUnicode_AsUTF8AndSize(text, NULL);
    return words && *words ? PyErr_WarnFormat(PyExc_UserWarning, 1, "%s", words) : words ? 0 : -1;
}

static int build(module_state *state, PyObject *command, PyObject *flags, PyObject *path, PyObject *library) {
    static unsigned long number; /* changes under the interpreter's lock */
    PyObject *part = PyUnicode_FromFormat("%U.%ld.%lu", library, (long)getpid(), number++);
    PyObject *words = part ? words_of(command, flags, path, part) : NULL;
    long status = -1;
    PyObject *text = NULL, *out = NULL;
    int outcome = -1;
    if (words && masu_py_run(words, &status, &out, &text))
        Py_DECREF(out);
    if (text && status == 0) {
        PyObject *moved = masu_py_call_of("os", "replace", "(OO)", part, library);
        outcome = moved ? tell_warnings(text) : -1;
        Py_XDECREF(moved);
    } else if (text) {
        const char *said = PyUnicode_AsUTF8AndSize(text, NULL);
        if (said)
            masu_py_raise(state, *said ? said : "the command ended without a word", "MASU_ERR_SYNTAX");
    }
    Py_XDECREF(text);
    Py_XDECREF(words);
    Py_XDECREF(part);
    return outcome;
}

static program *compiled(module_state *state, PyObject *path, PyObject *command, PyObject *cache, PyObject *flags,
                         uint64_t seed) {
    PyObject *hash = hash_of(command, path, flags);
    PyObject *library = hash ? PyUnicode_FromFormat("%U/masu_%U.so", cache, hash) : NULL;
    int there = library ? is_file(library) : -1;
    if (there == 0)
        there = build(state, command, flags, path, library) == 0 ? 1 : -1;
    program *made = there > 0 ? masu_py_program_load(state, library, seed, "compile") : NULL;
    Py_XDECREF(library);
    Py_XDECREF(hash);
    return made;
}

/* ---- functions of the module ------------------------------------------------------------------------------------- */

static bool seed_of(PyObject *given, const char *function, uint64_t *out) {
    *out = 0;
    if (!given)
        return true;
    PyObject *index = PyNumber_Index(given);
    *out = index ? PyLong_AsUnsignedLongLong(index) : 0;
    Py_XDECREF(index);
    if (!PyErr_Occurred())
        return true;
    PyErr_Format(PyExc_TypeError, "%s: seed is a whole number of at most 64 bits, not %R", function, given);
    return false;
}

/* A list of str. */
static PyObject *flags_of(PyObject *given) {
    PyObject *list = !given ? PyList_New(0) : PyUnicode_Check(given) ? NULL : PySequence_List(given);
    for (Py_ssize_t i = 0; list && i < PyList_Size(list); i++)
        if (!PyUnicode_Check(PyList_GetItem(list, i)))
            Py_CLEAR(list);
    if (!list && (!PyErr_Occurred() || PyErr_ExceptionMatches(PyExc_TypeError)))
        PyErr_Format(PyExc_TypeError, "compile: flags is a sequence of str, not %R", given);
    return list;
}

PyObject *masu_py_call_compile(PyObject *module, PyObject *const *args, Py_ssize_t count, PyObject *names) {
    enum { PATH, SEED, CACHE, COMMAND, FLAGS, PARAMETERS };
    static const char *const parameters[] = {"path", "seed", "cache", "command", "flags", NULL};
    PyObject *given[PARAMETERS];
    uint64_t seed;
    if (!masu_py_arguments("compile", parameters, 1, 1, args, count, names, given) ||
        !seed_of(given[SEED], "compile", &seed))
        return NULL;
    module_state *state = masu_py_state(module);
    PyObject *path = masu_py_path_text(given[PATH]);
    PyObject *flags = path ? flags_of(given[FLAGS]) : NULL;
    PyObject *command = flags ? masu_py_command(given[COMMAND], "compile") : NULL;
    PyObject *cache = command ? cache_of(given[CACHE]) : NULL;
    program *made = cache ? compiled(state, path, command, cache, flags, seed) : NULL;
    Py_XDECREF(cache);
    Py_XDECREF(command);
    Py_XDECREF(flags);
    Py_XDECREF(path);
    return made ? masu_py_module_new(state, made) : NULL;
}

PyObject *masu_py_call_load(PyObject *module, PyObject *const *args, Py_ssize_t count, PyObject *names) {
    static const char *const parameters[] = {"path", "seed", NULL};
    PyObject *given[2];
    uint64_t seed;
    if (!masu_py_arguments("load", parameters, 1, 1, args, count, names, given) || !seed_of(given[1], "load", &seed))
        return NULL;
    module_state *state = masu_py_state(module);
    PyObject *path = masu_py_call_of("os.path", "abspath", "(O)", given[0]);
    program *made = path ? masu_py_program_load(state, path, seed, "load") : NULL;
    Py_XDECREF(path);
    return made ? masu_py_module_new(state, made) : NULL;
}
