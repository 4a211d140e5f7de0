/* lock.h: a mutex that survives fork.
 *
 * At fork only the calling thread lives on in the child; a lock that another thread held would
 * stay locked there for ever. So every lock of masu is in one list, and around a fork all of
 * them are taken, in the order in which the code takes them:
 *
 *     streams ─► heap ─► bucket ─► best fit ─► vm ─► device ─► trace  (rank rises; never back)
 *
 * so that the child finds all locks free and what they guard whole. A thread holds at most one
 * lock of each rank.
 *
 * A process of one thread pays for no lock: no other can come while it is inside. What a device does while a pool waits
 * for it may start threads, but those must not call that pool before the device has answered.
 *
 * Thread safety: init and destroy, any thread; not from inside a lock.
 */
#ifndef MASU_BASE_LOCK_H
#define MASU_BASE_LOCK_H

#include <pthread.h>
#include <stdbool.h>

#if defined(__has_include) && !defined(__SANITIZE_THREAD__)
#if __has_include(<sys/single_threaded.h>)
#include <sys/single_threaded.h>
#define MASU__ALONE (__libc_single_threaded != 0)
#endif
#endif
#ifndef MASU__ALONE
#define MASU__ALONE false
#endif

typedef enum masu__lock_rank {
    MASU__RANK_STREAMS,
    MASU__RANK_HEAP,
    MASU__RANK_BUCKET,
    MASU__RANK_BESTFIT,
    MASU__RANK_VM,
    MASU__RANK_DEVICE,
    MASU__RANK_TRACE,
    MASU__RANK_COUNT
} masu__lock_rank;

typedef struct masu__lock {
    pthread_mutex_t mutex;
    struct masu__lock *next, *before; /* in the list of its rank */
    masu__lock_rank rank;
    bool alone; /* taken without the mutex */
} masu__lock;

/* Cannot fail: no memory is asked for. */
void masu__lock_init(masu__lock *lock, masu__lock_rank rank);
void masu__lock_destroy(masu__lock *lock);

static inline void masu__lock_take(masu__lock *lock) {
    if (MASU__ALONE)
        lock->alone = true;
    else
        pthread_mutex_lock(&lock->mutex);
}

/* False: it is held, perhaps by the caller. */
static inline bool masu__lock_try(masu__lock *lock) {
    if (MASU__ALONE) {
        bool held = lock->alone;
        lock->alone = true;
        return !held;
    }
    return pthread_mutex_trylock(&lock->mutex) == 0;
}

static inline void masu__lock_release(masu__lock *lock) {
    if (lock->alone)
        lock->alone = false;
    else
        pthread_mutex_unlock(&lock->mutex);
}

/* Called in the child of a fork, once all locks are free again and while it has one thread.
 * Setting the same function again changes nothing; there is one. */
void masu__lock_in_child(void (*function)(void));

#endif
