/* thread.c: see thread.h. */
#include "base/thread.h"

#include <signal.h>
#include <time.h>

#define SECOND_NS 1000000000u

uint64_t masu__clock_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * SECOND_NS + (uint64_t)now.tv_nsec;
}

int masu__thread_start(pthread_t *out, size_t stack_bytes, void *(*run)(void *), void *context) {
    sigset_t all, before;
    pthread_attr_t attributes;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    pthread_attr_init(&attributes);
    if (stack_bytes > 0)
        pthread_attr_setstacksize(&attributes, stack_bytes);
    int failed = pthread_create(out, &attributes, run, context);
    pthread_attr_destroy(&attributes);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return failed;
}

void masu__bell_init(masu__bell *bell) {
    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&bell->rings, &monotonic);
    pthread_condattr_destroy(&monotonic);
    pthread_mutex_init(&bell->mutex, NULL);
}

void masu__bell_destroy(masu__bell *bell) {
    pthread_cond_destroy(&bell->rings);
    pthread_mutex_destroy(&bell->mutex);
}

void masu__bell_wait(masu__bell *bell, uint64_t ns) {
    uint64_t until = masu__clock_ns() + ns;
    struct timespec when = {.tv_sec = (time_t)(until / SECOND_NS), .tv_nsec = (long)(until % SECOND_NS)};
    pthread_cond_timedwait(&bell->rings, &bell->mutex, &when);
}
