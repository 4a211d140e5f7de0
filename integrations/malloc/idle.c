/* idle.c: memory that goes back to the system by itself, as the environment and mallopt ask for it. */
#include "adapter.h"

#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <time.h>

#include "names.h"

/* For programs that rest without a call. */
static void *decay_for_ever(void *unused) {
    uint64_t pause_ms = masu_malloc_settings()->decay_ms / 2 + 1;
    struct timespec pause = {.tv_sec = (time_t)(pause_ms / 1000), .tv_nsec = (long)(pause_ms % 1000) * 1000000};
    (void)unused;
    for (;;) {
        (void)nanosleep(&pause, NULL);
        masu_decay();
    }
    return NULL;
}

/* The program's signals are not for it. */
static bool start_thread(void) {
    sigset_t all, before;
    pthread_attr_t small;
    pthread_t thread;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, PTHREAD_STACK_MIN + (64 << 10));
    pthread_attr_setdetachstate(&small, PTHREAD_CREATE_DETACHED);
    int error = pthread_create(&thread, &small, decay_for_ever, NULL);
    pthread_attr_destroy(&small);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return error == 0;
}

static __attribute__((constructor)) void idle_begin(void) {
    const settings *wanted = masu_malloc_settings();
    bool asked = wanted->max_idle_bytes > 0 || wanted->decay_ms > 0;
    if (asked && masu_set_idle(wanted->max_idle_bytes, wanted->decay_ms) != MASU_OK)
        masu_malloc_say("MASU_MAX_IDLE and MASU_DECAY_MS have no effect beside MASU_CHECKED");
    if (wanted->decay_thread && !start_thread())
        masu_malloc_say("MASU_DECAY_THREAD=1: no thread can be made");
}

/* M_TRIM_THRESHOLD has a counterpart: so much idle memory is kept, and 4 MiB in any case, for glibc means
 * the end of its heap alone. The others have none: 0, as for an error. */
SHOWN int mallopt(int parameter, int value) {
    enum { LEAST_KEPT = 4 << 20 };
    if (parameter != M_TRIM_THRESHOLD)
        return 0;
    size_t wanted = value < 0 ? 0 : value < LEAST_KEPT ? LEAST_KEPT : (size_t)value;
    return masu_set_idle(wanted, masu_malloc_settings()->decay_ms) == MASU_OK;
}
