/* storm.c: a malloc under threads, forks and signals. Every block carries a mark at its beginning and its end, made of
 * its address and size, that is looked at before it is freed: two owners of one block are seen.
 *
 *     storm threads N      N threads at once that hand blocks to each other and die with some
 *     storm waves N        threads that come and go, N in all
 *     storm fork           forks while eight threads are inside; the children work on, with threads of their own
 *     storm signals        a timer whose handler allocates and frees
 *     storm refused        requests may be refused: ENOMEM, and everything else goes on
 *     storm grow N         N threads whose blocks of many MiB grow and shrink, and forks meanwhile
 *     storm ends           threads that are cancelled, and destructors of their data that allocate again
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PLACES = 512 };

typedef struct block {
    uint64_t mark;
    size_t bytes;
} block;

static _Atomic(block *) places[PLACES]; /* where threads leave blocks for each other */
static _Atomic bool stop;
static _Atomic uint64_t refused;
static bool may_refuse;

static void end(const char *why) {
    ssize_t ignored = write(2, why, strlen(why));
    (void)ignored;
    _exit(1);
}

static uint64_t mark_of(const void *at, size_t bytes) {
    return ((uint64_t)(uintptr_t)at * 0x9e3779b97f4a7c15u) ^ bytes;
}

static void mark(block *b, size_t bytes) {
    uint64_t word = mark_of(b, bytes);
    *b = (block){word, bytes};
    memcpy((char *)b + bytes - sizeof word, &word, sizeof word);
}

static block *make(size_t bytes, unsigned way) {
    void *at = NULL;
    size_t alignment = way % 8 == 1 ? (size_t)16 << (way / 8 % 13) : 16;
    errno = 0;
    if (way % 8 == 0)
        at = calloc(1, bytes);
    else if (way % 8 == 1)
        errno = posix_memalign(&at, alignment, bytes);
    else
        at = malloc(bytes);
    if ((uintptr_t)at % alignment != 0)
        end("not aligned\n");
    if (!at) {
        if (!may_refuse || errno != ENOMEM)
            end("refused, or not said\n");
        atomic_fetch_add(&refused, 1);
        return NULL;
    }
    if (way % 8 == 0)
        for (size_t i = 0; i < bytes; i += 61)
            if (((char *)at)[i] != 0)
                end("calloc gave what is not zero\n");
    mark(at, bytes);
    return at;
}

static void look(const block *b) {
    uint64_t behind;
    memcpy(&behind, (const char *)b + b->bytes - sizeof behind, sizeof behind);
    if (b->mark != mark_of(b, b->bytes) || behind != b->mark)
        end("a block has two owners\n");
}

static void drop(block *b) {
    if (!b)
        return;
    look(b);
    b->mark = 0;
    free(b);
}

static block *change(block *b, size_t bytes) {
    if (!b)
        return NULL;
    look(b);
    size_t old = b->bytes;
    uint64_t word = b->mark;
    block *changed = realloc(b, bytes);
    if (!changed) {
        if (!may_refuse)
            end("realloc refused\n");
        return b;
    }
    uint64_t behind = word;
    if (bytes >= old)
        memcpy(&behind, (char *)changed + old - sizeof behind, sizeof behind);
    if (changed->mark != word || changed->bytes != old || behind != word)
        end("realloc lost the contents\n");
    mark(changed, bytes);
    return changed;
}

static uint64_t draw(uint64_t *state) {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

static size_t size_of_draw(uint64_t *state) {
    uint64_t r = draw(state);
    size_t most = r % 64 == 0 ? 300000 : r % 8 == 0 ? 20000 : 600;
    return 24 + (size_t)(r >> 8) % most;
}

static void work(uint64_t seed, int rounds) {
    block *own[32] = {0};
    for (int i = 0; i < rounds && !atomic_load(&stop); i++) {
        unsigned at = (unsigned)(draw(&seed) % 32);
        if (own[at] && draw(&seed) % 8 == 0) {
            own[at] = change(own[at], size_of_draw(&seed));
            continue;
        }
        if (own[at] && draw(&seed) % 4 == 0)
            own[at] = atomic_exchange(&places[draw(&seed) % PLACES], own[at]);
        drop(own[at]);
        own[at] = make(size_of_draw(&seed), (unsigned)draw(&seed));
    }
    for (int i = 0; i < 32; i++)
        if (i % 4 == 0)
            own[i] = atomic_exchange(&places[draw(&seed) % PLACES], own[i]), drop(own[i]);
        else
            drop(own[i]);
}

typedef struct task {
    uint64_t seed;
    int rounds;
} task;

static void *thread_main(void *context) {
    const task *t = context;
    work(t->seed, t->rounds);
    return NULL;
}

static void sweep(void) {
    for (int i = 0; i < PLACES; i++)
        drop(atomic_exchange(&places[i], NULL));
}

/* How many there are: a thread needs memory too. */
static int run_threads(int count, int rounds, pthread_t *threads, task *tasks) {
    for (int i = 0; i < count; i++) {
        tasks[i] = (task){(uint64_t)i * 77 + 5, rounds};
        if (pthread_create(&threads[i], NULL, thread_main, &tasks[i]) == 0)
            continue;
        if (!may_refuse)
            end("no thread\n");
        return i;
    }
    return count;
}

static void join_threads(int count, pthread_t *threads) {
    for (int i = 0; i < count; i++)
        pthread_join(threads[i], NULL);
}

static pthread_t threads[1000];
static task tasks[1000];

static void storm_threads(int count) {
    join_threads(run_threads(count, 400, threads, tasks), threads);
}

static void storm_waves(int count) {
    for (int i = 0; i < count; i += 10)
        join_threads(run_threads(10, 100, threads, tasks), threads);
}

static void child(int number) {
    alarm(60); /* a lock that is held for ever ends here */
    atomic_store(&stop, false);
    work((uint64_t)number + 3, 300);
    if (number % 4 == 0)
        join_threads(run_threads(4, 200, threads, tasks), threads);
    if (number % 8 == 0) {
        pid_t grandchild = fork();
        int status = 1;
        if (grandchild == 0) {
            work(9, 200);
            _exit(0);
        }
        waitpid(grandchild, &status, 0);
        _exit(status != 0);
    }
    _exit(0);
}

static void storm_fork(void) {
    int inside = run_threads(8, 1 << 30, threads, tasks);
    for (int i = 0; i < 60; i++) {
        int status = 1;
        pid_t pid = fork();
        if (pid == 0)
            child(i);
        if (waitpid(pid, &status, 0) != pid || status != 0)
            end("a child failed\n");
    }
    atomic_store(&stop, true);
    join_threads(inside, threads);
}

/* Sizes that the program itself does not use, for what is compiled in has no lock to look at; none is kept. */
static void on_timer(int number) {
    (void)number;
    static _Atomic unsigned turn;
    size_t bytes = 3000 + atomic_fetch_add(&turn, 1) % 1000;
    void *a = malloc(bytes), *b = calloc(1, bytes + 1000), *c = malloc(200000);
    if (a)
        memset(a, 1, bytes);
    if (b)
        memset(b, 2, bytes + 1000);
    if (c)
        memset(c, 3, 200000);
    free(c);
    free(b);
    free(a);
}

static void storm_signals(void) {
    struct sigaction action = {.sa_handler = on_timer, .sa_flags = SA_RESTART};
    struct itimerval often = {{0, 100}, {0, 100}}, never = {{0, 0}, {0, 0}};
    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &often, NULL);
    block *own[64] = {0};
    uint64_t seed = 99;
    for (int i = 0; i < 400000; i++) {
        unsigned at = (unsigned)(draw(&seed) % 64);
        drop(own[at]);
        own[at] = make(24 + draw(&seed) % (i % 16 ? 1000 : 100000) % (i % 16 ? 1000 : 2000) + (i % 16 ? 0 : 30000), 2);
    }
    setitimer(ITIMER_REAL, &never, NULL);
    for (int i = 0; i < 64; i++)
        drop(own[i]);
}

static void storm_refused(void) {
    may_refuse = true;
    storm_threads(4);
    work(1, 3000);
    block *held[2000];
    size_t count = 0;
    while (count < 2000 && (held[count] = make(1 << 20, 2)))
        count++;
    while (count > 0)
        drop(held[--count]);
    work(2, 3000);
}

static void *until_cancelled(void *context) {
    uint64_t seed = (uint64_t)(uintptr_t)context + 1;
    for (;;) {
        drop(make(size_of_draw(&seed), (unsigned)draw(&seed)));
        pthread_testcancel();
    }
    return NULL;
}

static pthread_key_t key;

/* Runs after the library's own destructor too, in every round there is. */
static void on_end(void *value) {
    drop(value);
    for (size_t bytes = 24; bytes < 100000; bytes *= 2)
        drop(change(make(bytes, 3), bytes * 3));
    pthread_setspecific(key, make(500, 2));
}

static void *with_data(void *context) {
    pthread_setspecific(key, make(100 + (size_t)(uintptr_t)context, 2));
    return NULL;
}

static void storm_ends(void) {
    for (uintptr_t i = 0; i < 20; i++)
        if (pthread_create(&threads[i], NULL, until_cancelled, (void *)i) != 0)
            end("no thread\n");
    usleep(20000);
    for (int i = 0; i < 20; i++)
        pthread_cancel(threads[i]);
    join_threads(20, threads);
    pthread_key_create(&key, on_end);
    for (uintptr_t i = 0; i < 50; i++)
        if (pthread_create(&threads[i], NULL, with_data, (void *)i) != 0)
            end("no thread\n");
    join_threads(50, threads);
}

/* Sizes around those from which pages are moved, up to 32 MiB; a fork in between finds all as it was. */
static void *grow_main(void *context) {
    uint64_t seed = ((const task *)context)->seed;
    block *own[4] = {0};
    for (int i = 0; i < ((const task *)context)->rounds; i++) {
        block **b = &own[draw(&seed) % 4];
        size_t bytes = 24 + (size_t)(draw(&seed) % ((uint64_t)1 << (18 + draw(&seed) % 8)));
        if (*b && draw(&seed) % 4 == 0) {
            drop(*b);
            *b = NULL;
        } else {
            *b = *b ? change(*b, draw(&seed) % 2 && (*b)->bytes < 20u << 20 ? (*b)->bytes * 3 / 2 : bytes)
                    : make(bytes, 2);
        }
        if (i % 50 != 49)
            continue;
        pid_t child = fork();
        if (child == 0) {
            for (int k = 0; k < 4; k++)
                drop(own[k] ? change(own[k], own[k]->bytes + (3u << 20)) : NULL);
            _exit(0);
        }
        int status;
        if (child < 0 || waitpid(child, &status, 0) != child || status != 0)
            end("a child failed\n");
    }
    for (int k = 0; k < 4; k++)
        drop(own[k]);
    return NULL;
}

static void storm_grow(int count) {
    pthread_t threads[64];
    task tasks[64];
    for (int i = 0; i < count; i++) {
        tasks[i] = (task){77 + (uint64_t)i * 7919, 300};
        if (pthread_create(&threads[i], NULL, grow_main, &tasks[i]) != 0)
            end("no thread\n");
    }
    for (int i = 0; i < count; i++)
        pthread_join(threads[i], NULL);
}

int main(int argc, char **argv) {
    const char *what = argc > 1 ? argv[1] : "";
    int count = argc > 2 ? atoi(argv[2]) : 0;
    if (strcmp(what, "threads") == 0)
        storm_threads(count);
    else if (strcmp(what, "waves") == 0)
        storm_waves(count);
    else if (strcmp(what, "fork") == 0)
        storm_fork();
    else if (strcmp(what, "signals") == 0)
        storm_signals();
    else if (strcmp(what, "grow") == 0)
        storm_grow(count);
    else if (strcmp(what, "ends") == 0)
        storm_ends();
    else if (strcmp(what, "refused") == 0)
        storm_refused();
    else
        return 2;
    sweep();
    if (may_refuse)
        printf("%llu\n", (unsigned long long)atomic_load(&refused));
    return 0;
}
