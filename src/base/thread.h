/* thread.h: threads of the library's own, which write what others look at: they get no signals, for those are the
 * program's, and sleep by a clock that is never set.
 */
#ifndef MASU_BASE_THREAD_H
#define MASU_BASE_THREAD_H

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

uint64_t masu__clock_ns(void); /* CLOCK_MONOTONIC */

/* stack_bytes 0: as the system likes. 0, or the error of pthread_create. */
int masu__thread_start(pthread_t *out, size_t stack_bytes, void *(*run)(void *), void *context);

/* A bell: mutex and condition, to sleep until it rings or some time is over. */
typedef struct masu__bell {
    pthread_mutex_t mutex;
    pthread_cond_t rings;
} masu__bell;
void masu__bell_init(masu__bell *bell);
void masu__bell_destroy(masu__bell *bell);
/* With the mutex held. */
void masu__bell_wait(masu__bell *bell, uint64_t ns);

#endif
