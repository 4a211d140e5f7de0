/* threads.c: the workers behind tl__in_parts.
 *
 * A loop is published under `lock` as the next round; workers and caller take chunks by counting `next` up; the last
 * worker to find none left wakes the caller. What must hold: `working` = workers that have seen this round and are not
 * done; the caller changes the loop only while that is 0. Workers are never joined: they sleep until the process ends.
 * After a fork the child has none and works alone.
 */
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <unistd.h>

#include "runtime/ops/threads.h"
#include "runtime/state.h"

enum { MOST_WORKERS = 15, CHUNKS_EACH = 4, STACK_BYTES = 1 << 18 };

typedef struct loop {
    tl_part_function *part;
    void *context;
    int64_t n, chunk;
} loop;

static struct {
    pthread_mutex_t busy; /* held by the caller that is being served */
    pthread_mutex_t lock; /* of what follows */
    pthread_cond_t go, done;
    uint64_t round;
    int workers, working;
    pid_t process; /* whose threads they are; 0: not yet started */
    loop loop;
    atomic_int_least64_t next; /* element */
} pool = {.busy = PTHREAD_MUTEX_INITIALIZER,
          .lock = PTHREAD_MUTEX_INITIALIZER,
          .go = PTHREAD_COND_INITIALIZER,
          .done = PTHREAD_COND_INITIALIZER};

static void take_chunks(const loop *l) {
    for (;;) {
        int64_t from = atomic_fetch_add(&pool.next, l->chunk);
        if (from >= l->n)
            return;
        l->part(l->context, from, from + l->chunk < l->n ? from + l->chunk : l->n);
    }
}

static void *work(void *unused) {
    (void)unused;
    uint64_t seen = 0;
    pthread_mutex_lock(&pool.lock);
    for (;;) {
        while (pool.round == seen)
            pthread_cond_wait(&pool.go, &pool.lock);
        seen = pool.round;
        loop l = pool.loop;
        pthread_mutex_unlock(&pool.lock);
        take_chunks(&l);
        pthread_mutex_lock(&pool.lock);
        if (--pool.working == 0)
            pthread_cond_signal(&pool.done);
    }
    return NULL;
}

static int processors(void) {
    cpu_set_t set;
    return sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
}

/* As many as can be had; none is fine. Signals are the program's own threads' business. */
static void start_workers(void) {
    int wanted = tl__config_threads(processors()) - 1;
    sigset_t all, before;
    pthread_attr_t attributes;
    pthread_t thread;
    pool.process = getpid();
    if (wanted <= 0 || pthread_attr_init(&attributes) != 0)
        return;
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    pthread_attr_setstacksize(&attributes, STACK_BYTES);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    while (pool.workers < wanted && pool.workers < MOST_WORKERS &&
           pthread_create(&thread, &attributes, work, NULL) == 0)
        pool.workers++;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
}

static int64_t chunk_of(int64_t n, int64_t unit) {
    int64_t parts = (int64_t)(pool.workers + 1) * CHUNKS_EACH, units = (n + unit - 1) / unit;
    return (units + parts - 1) / parts * unit;
}

static void serve(const loop *l) {
    pthread_mutex_lock(&pool.lock);
    pool.loop = *l;
    atomic_store(&pool.next, 0);
    pool.working = pool.workers;
    pool.round++;
    pthread_cond_broadcast(&pool.go);
    pthread_mutex_unlock(&pool.lock);
    take_chunks(l);
    pthread_mutex_lock(&pool.lock);
    while (pool.working > 0)
        pthread_cond_wait(&pool.done, &pool.lock);
    pthread_mutex_unlock(&pool.lock);
}

void tl__in_parts(int64_t n, int64_t unit, int64_t elements, tl_part_function *part, void *context) {
    bool served = false;
    if (elements >= TL_LARGE_LOOP && n > unit && pthread_mutex_trylock(&pool.busy) == 0) {
        if (pool.process == 0)
            start_workers();
        served = pool.workers > 0 && pool.process == getpid();
        if (served)
            serve(&(loop){part, context, n, chunk_of(n, unit)});
        pthread_mutex_unlock(&pool.busy);
    }
    if (!served)
        part(context, 0, n);
}
