/* lock.c: the list of all locks, and what happens to them around a fork. */
#include "base/lock.h"

#include <stddef.h>

#include "base/meta_pages.h"

static pthread_mutex_t list_lock = PTHREAD_MUTEX_INITIALIZER;
static masu__lock *lists[MASU__RANK_COUNT];
static void (*in_child)(void);
static pthread_once_t watch_once = PTHREAD_ONCE_INIT;

static void before_fork(void) {
    pthread_mutex_lock(&list_lock);
    for (int rank = 0; rank < MASU__RANK_COUNT; rank++)
        for (masu__lock *lock = lists[rank]; lock; lock = lock->next)
            pthread_mutex_lock(&lock->mutex);
    masu__meta_pages_before_fork();
}

static void release_all(void) {
    masu__meta_pages_after_fork();
    for (int rank = MASU__RANK_COUNT; rank-- > 0;)
        for (masu__lock *lock = lists[rank]; lock; lock = lock->next)
            pthread_mutex_unlock(&lock->mutex);
    pthread_mutex_unlock(&list_lock);
}

static void after_fork_in_child(void) {
    release_all();
    if (in_child)
        in_child();
}

static void watch_forks(void) {
    pthread_atfork(before_fork, release_all, after_fork_in_child);
}

void masu__lock_init(masu__lock *lock, masu__lock_rank rank) {
    pthread_once(&watch_once, watch_forks);
    pthread_mutex_init(&lock->mutex, NULL);
    pthread_mutex_lock(&list_lock);
    lock->rank = rank;
    lock->alone = false;
    lock->before = NULL;
    lock->next = lists[rank];
    if (lock->next)
        lock->next->before = lock;
    lists[rank] = lock;
    pthread_mutex_unlock(&list_lock);
}

void masu__lock_destroy(masu__lock *lock) {
    pthread_mutex_lock(&list_lock);
    *(lock->before ? &lock->before->next : &lists[lock->rank]) = lock->next;
    if (lock->next)
        lock->next->before = lock->before;
    pthread_mutex_unlock(&list_lock);
    pthread_mutex_destroy(&lock->mutex);
}

void masu__lock_in_child(void (*function)(void)) {
    pthread_mutex_lock(&list_lock);
    in_child = function;
    pthread_mutex_unlock(&list_lock);
}
