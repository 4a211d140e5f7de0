/* controls.h: a test program's hand on the simulated driver: opens it, and finds its controls and those entry
 * points that tests call themselves.
 *
 * MASU_TEST_CUDA=PATH runs the same tests on another driver's library, such as the real one; what only the simulated
 * one can do (failing on demand, counting misuse) is then left out, and says so.
 */
#ifndef MASU_TESTS_FAKE_CUDA_CONTROLS_H
#define MASU_TESTS_FAKE_CUDA_CONTROLS_H

#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "fake_cuda/driver.h"

typedef struct fake_controls {
    const char *path;
    bool simulated;
    void (*refuse)(const char *, uint64_t, int, int);
    uint64_t (*calls)(void);
    void (*report)(fake_cuda_report *);
    const char *(*last_misuse)(void);
    void (*forgive)(void);
    void (*run)(void *);
    int (*stream_create)(void **, unsigned);
    int (*stream_destroy)(void *);
    int (*fill)(uintptr_t, unsigned char, size_t, void *);
    int (*copy_async)(uintptr_t, uintptr_t, size_t, void *);
    int (*set_context)(void *);
} fake_controls;

static inline const fake_controls *fake_cuda(void) {
    static fake_controls c;
    if (c.path)
        return &c;
    const char *other = getenv("MASU_TEST_CUDA");
    c.path = other ? other : MASU_BUILD_DIR "/tests/fake_cuda/libcuda.so.1";
    void *library = dlopen(c.path, RTLD_NOW);
    if (!library) {
        fprintf(stderr, "%s\n", dlerror());
        abort();
    }
    c.simulated = dlsym(library, "fake_cuda_fail") != NULL;
#define FIND(member, name) *(void **)&c.member = dlsym(library, name)
    FIND(refuse, "fake_cuda_fail");
    FIND(calls, "fake_cuda_calls");
    FIND(report, "fake_cuda_get_report");
    FIND(last_misuse, "fake_cuda_last_misuse");
    FIND(forgive, "fake_cuda_forgive");
    FIND(run, "fake_cuda_run");
    FIND(stream_create, "cuStreamCreate");
    FIND(stream_destroy, "cuStreamDestroy_v2");
    FIND(fill, "cuMemsetD8Async");
    FIND(copy_async, "cuMemcpyAsync");
    FIND(set_context, "cuCtxSetCurrent");
#undef FIND
    return &c;
}

#endif
