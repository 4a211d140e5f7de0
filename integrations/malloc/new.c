/* new.c: operators new and delete, by the names of the Itanium ABI (size_t is unsigned long: m).
 *
 * Without memory the program's new handler is called until there is some, and then std::bad_alloc is thrown: by
 * functions of the C++ library that the program has loaded, looked up when they are needed. This file is compiled with
 * -fexceptions, so that what they throw passes through it.
 */
#include "adapter.h"

#include <dlfcn.h>
#include <stdlib.h>

/* ---- out of memory --------------------------------------------------------------------------- */

/* A function of the program's C++ library; NULL: there is none. It may be known to a plugin alone. */
static void *library_function(const char *name) {
    static const char *const libraries[] = {"libstdc++.so.6", "libc++abi.so.1", "libc++.so.1"};
    void *found = dlsym(RTLD_NEXT, name);
    for (size_t i = 0; !found && i < sizeof libraries / sizeof *libraries; i++) {
        void *library = dlopen(libraries[i], RTLD_LAZY | RTLD_NOLOAD);
        found = library ? dlsym(library, name) : NULL;
        if (library)
            dlclose(library);
    }
    return found;
}

typedef void (*plain)(void);

static plain handler_now(void) {
    plain (*get)(void) = (plain(*)(void))library_function("_ZSt15get_new_handlerv");
    return get ? get() : NULL;
}

static void throw_bad_alloc(void) {
    plain thrower = (plain)library_function("_ZSt17__throw_bad_allocv");
    if (thrower)
        thrower();
    masu_malloc_say("operator new found no memory, and the program has no C++ library that could say so");
    abort();
}

/* Until there is memory, or the handler throws or ends the program. */
static RARELY void *new_rarely(size_t bytes, size_t alignment) {
    for (;;) {
        plain handler = handler_now();
        if (!handler)
            throw_bad_alloc();
        handler();
        void *block = masu_malloc_aligned(bytes ? bytes : 1, alignment);
        if (block)
            return block;
    }
}

/* In tail position, so that the way past it needs no frame. */
static __attribute__((noinline)) void *new_slowly(size_t bytes, const void *caller) {
    void *block = masu_malloc_slowly(bytes, caller);
    return LIKELY(block) ? block : new_rarely(bytes, MASU_PACKED_GRAIN);
}

/* The same, but NULL where it would throw. What a handler throws can be caught by the C++ library alone: its own
 * operator calls the one above. */
static RARELY void *nothrow_rarely(const char *name, size_t bytes, size_t alignment, const void *tag) {
    void *theirs = handler_now() ? library_function(name) : NULL;
    if (!theirs)
        return NULL;
    return alignment ? ((void *(*)(size_t, size_t, const void *))theirs)(bytes, alignment, tag)
                     : ((void *(*)(size_t, const void *))theirs)(bytes, tag);
}

/* ---- the operators --------------------------------------------------------------------------- */

#define PROTOTYPED(result, name, ...) \
    SHOWN result name(__VA_ARGS__);   \
    SHOWN result name(__VA_ARGS__)

#define NEW(name)                                                                             \
    PROTOTYPED(void *, name, size_t bytes) {                                                  \
        void *block = masu_try_alloc_packed(bytes);                                           \
        return LIKELY(block) ? block : new_slowly(bytes, CALLER);                             \
    }                                                                                         \
    PROTOTYPED(void *, name##RKSt9nothrow_t, size_t bytes, const void *tag) {                 \
        void *block = take(bytes);                                                            \
        return LIKELY(block) ? block : nothrow_rarely(#name "RKSt9nothrow_t", bytes, 0, tag); \
    }

#define NEW_ALIGNED(name)                                                                             \
    PROTOTYPED(void *, name, size_t bytes, size_t alignment) {                                        \
        void *block = masu_malloc_aligned(bytes ? bytes : 1, alignment);                              \
        return LIKELY(block) ? block : new_rarely(bytes, alignment);                                  \
    }                                                                                                 \
    PROTOTYPED(void *, name##RKSt9nothrow_t, size_t bytes, size_t alignment, const void *tag) {       \
        void *block = masu_malloc_aligned(bytes ? bytes : 1, alignment);                              \
        return LIKELY(block) ? block : nothrow_rarely(#name "RKSt9nothrow_t", bytes, alignment, tag); \
    }

NEW(_Znwm)
NEW(_Znam)
NEW_ALIGNED(_ZnwmSt11align_val_t)
NEW_ALIGNED(_ZnamSt11align_val_t)

/* The library knows the size, at the same cost. */
/* clang-format off */
#define DELETE(name)                                                                                          \
    PROTOTYPED(void, name, void *ptr) { give(ptr); }                                                          \
    PROTOTYPED(void, name##m, void *ptr, size_t bytes) { (void)bytes, give(ptr); }                            \
    PROTOTYPED(void, name##RKSt9nothrow_t, void *ptr, const void *tag) { (void)tag, give(ptr); }              \
    PROTOTYPED(void, name##St11align_val_t, void *ptr, size_t alignment) { (void)alignment, give(ptr); }      \
    PROTOTYPED(void, name##mSt11align_val_t, void *ptr, size_t bytes, size_t alignment) {                     \
        (void)bytes, (void)alignment, give(ptr);                                                              \
    }                                                                                                         \
    PROTOTYPED(void, name##St11align_val_tRKSt9nothrow_t, void *ptr, size_t alignment, const void *tag) {     \
        (void)alignment, (void)tag, give(ptr);                                                                \
    }
/* clang-format on */

DELETE(_ZdlPv)
DELETE(_ZdaPv)
