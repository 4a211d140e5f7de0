/* behind.c: what stands behind the hooks, and how often each hook was called.
 *
 * Nothing found is kept for good: libraries come and go, each caller may have been loaded into a scope of its own with
 * a runtime of its own. What was found for the callers of one object is kept until anything is loaded or unloaded.
 * The loader is never asked under our lock: it calls constructors under its own, and those may call hooks.
 */
#include "interpose.h"
#include "loaded.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

enum { SCOPES = 16 };

/* The definitions that the code of one object finds. */
typedef struct scope {
    uintptr_t first, last;
    bool looked[CALL_COUNT];
    void *symbol[CALL_COUNT];
} scope;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards what follows */
static scope scopes[SCOPES];
static size_t scope_count, next_scope;
static uint64_t scopes_of;       /* the generation that they belong to */
static void *looked[CALL_COUNT]; /* where somebody looked them up */

static _Atomic dlsym_function real_dlsym;
static _Atomic dlvsym_function real_dlvsym;
static _Atomic uint64_t counts[CALL_COUNT];

static const char *const names[] = {
#define CALL_NAME(name, arguments) [CALL_##name] = #name,
    CUDA_CALLS(CALL_NAME) DRIVER_CALLS(CALL_NAME) LOOKUP_CALLS(CALL_NAME) CUDA_HELPERS(CALL_NAME)
#undef CALL_NAME
};

/* ---- the loader ---------------------------------------------------------------------------------------------- */

/* Ours stand in front of the C library's under the same names, so that only the symbols themselves tell them apart. The
 * first caller may be a library that is not set up itself, such as a sanitizer's: nothing is used but the loader's
 * list of objects, and whoever comes at the same time finds the same. */
dlsym_function masu_cuda_real_dlsym(void) {
    dlsym_function found = real_dlsym;
    if (!found)
        *(void **)&found = masu_cuda_defined_behind("dlsym");
    real_dlsym = found;
    return found;
}

dlvsym_function masu_cuda_real_dlvsym(void) {
    dlvsym_function found = real_dlvsym;
    if (!found)
        *(void **)&found = masu_cuda_defined_behind("dlvsym");
    real_dlvsym = found;
    return found;
}

/* ---- looking --------------------------------------------------------------------------------------------------- */

/* Not we, and nobody in front of us: they come back to us. */
static bool is_behind(const void *symbol) {
    masu_object o;
    return symbol && masu_cuda_object_of(symbol, &o) && !o.ours && !o.in_front;
}

/* In the object of the caller and in what it was loaded with. */
static void *look_beside(const masu_object *caller, const char *name) {
    void *handle = caller->path[0] ? dlopen(caller->path, RTLD_LAZY | RTLD_NOLOAD) : NULL;
    void *symbol = handle ? masu_cuda_real_dlsym()(handle, name) : NULL;
    if (handle)
        dlclose(handle);
    return is_behind(symbol) ? symbol : NULL;
}

/* A definition that was once looked up, if it is still there. */
static void *look_where_found(enum call call) {
    masu_object o;
    pthread_mutex_lock(&lock);
    void *symbol = looked[call];
    pthread_mutex_unlock(&lock);
    bool there = symbol && masu_cuda_object_of(symbol, &o) && masu_cuda_defined(&o, names[call]) == symbol;
    return there ? symbol : NULL;
}

static void *look_for(enum call call, const masu_object *caller) {
    void *symbol = masu_cuda_real_dlsym()(RTLD_NEXT, names[call]);
    if (!is_behind(symbol))
        symbol = look_beside(caller, names[call]);
    if (!symbol)
        symbol = look_where_found(call);
    return symbol ? symbol : masu_cuda_defined_behind(names[call]);
}

/* ---- what is kept ------------------------------------------------------------------------------------------------ */

/* Under the lock. NULL: nothing is kept for that caller. */
static scope *scope_of(const void *caller) {
    for (size_t i = 0; i < scope_count; i++)
        if ((uintptr_t)caller >= scopes[i].first && (uintptr_t)caller < scopes[i].last)
            return &scopes[i];
    return NULL;
}

static bool recall(enum call call, const void *caller, uint64_t generation, void **out) {
    pthread_mutex_lock(&lock);
    if (scopes_of != generation)
        scope_count = 0;
    scopes_of = generation;
    const scope *s = scope_of(caller);
    bool known = s && s->looked[call];
    if (known)
        *out = s->symbol[call];
    pthread_mutex_unlock(&lock);
    return known;
}

static void keep(enum call call, const masu_object *caller, uint64_t generation, void *symbol) {
    pthread_mutex_lock(&lock);
    if (scopes_of == generation) {
        scope *s = scope_of((const void *)caller->first);
        if (!s) {
            s = &scopes[scope_count < SCOPES ? scope_count++ : next_scope++ % SCOPES];
            *s = (scope){.first = caller->first, .last = caller->last};
        }
        s->looked[call] = true;
        s->symbol[call] = symbol;
    }
    pthread_mutex_unlock(&lock);
}

void *masu_cuda_behind(enum call call, const void *caller) {
    masu_object object = {.path = ""};
    void *symbol;
    uint64_t generation = masu_cuda_generation();
    if (recall(call, caller, generation, &symbol))
        return symbol;
    bool placed = masu_cuda_object_of(caller, &object);
    if (!placed)
        object.path = "";
    symbol = look_for(call, &object);
    /* The next who looks may find a missing one. */
    if (placed && symbol)
        keep(call, &object, generation, symbol);
    return symbol;
}

void masu_cuda_found(enum call call, void *symbol) {
    pthread_mutex_lock(&lock);
    looked[call] = symbol;
    pthread_mutex_unlock(&lock);
}

/* ---- counting ---------------------------------------------------------------------------------------------------- */

void masu_cuda_count(enum call call) {
    atomic_fetch_add_explicit(&counts[call], 1, memory_order_relaxed);
}

uint64_t masu_cuda_counted(enum call call) {
    return atomic_load_explicit(&counts[call], memory_order_relaxed);
}

const char *masu_cuda_call_name(enum call call) {
    return names[call];
}
