/* host.c: a program that uses libmasu-torch as PyTorch does: opens it, looks the functions up, and calls them from its
 * threads for its devices and streams. On the simulated driver, whose queued work is done at the latest possible
 * moment.
 *
 *     host LIBRARY PART [FILE]     0 and "all as promised", or the line where it is not so
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../integrations/torch/masu_torch.h"
#include "../fake_cuda/driver.h"

#define MIB ((size_t)1 << 20)
#define HOLDS(x)                                                                                       \
    do {                                                                                               \
        if (!(x)) {                                                                                    \
            fprintf(stderr, "%s:%d: not so: %s (%s)\n", __FILE__, __LINE__, #x, t_masu_torch_error()); \
            exit(1);                                                                                   \
        }                                                                                              \
    } while (0)

/* clang-format off */
#define FUNCTIONS(X) \
    X(masu_torch_malloc) X(masu_torch_free) X(masu_torch_record_stream) X(masu_torch_init) \
    X(masu_torch_empty_cache) X(masu_torch_reset) X(masu_torch_memory_fraction) \
    X(masu_torch_begin_allocate_to_pool) X(masu_torch_end_allocate_to_pool) X(masu_torch_release_pool) \
    X(masu_torch_get_stats) X(masu_torch_reset_peak_stats) X(masu_torch_memory_allocated) \
    X(masu_torch_max_memory_allocated) X(masu_torch_memory_reserved) X(masu_torch_max_memory_reserved) \
    X(masu_torch_error) X(masu_torch_record_history) X(masu_torch_snapshot) X(masu_torch_verdict) \
    X(masu_torch_shutdown)
/* clang-format on */
#define DECLARE(name) static __typeof__(&name) t_##name;
FUNCTIONS(DECLARE)

static void (*refuse)(const char *, uint64_t, int, int);
static uint64_t (*calls)(void);
static void (*driver_report)(fake_cuda_report *);
static const char *(*last_misuse)(void);
static void (*run)(void *);
static int (*stream_create)(void **, unsigned);
static int (*fill)(uintptr_t, unsigned char, size_t, void *);
static int (*copy_async)(uintptr_t, uintptr_t, size_t, void *);
static int (*set_context)(void *);
static int (*retain)(void **, int);
static void *streams[14];

static void find(void *library, const char *name, void *to) {
    *(void **)to = dlsym(library, name);
    if (!*(void **)to) {
        fprintf(stderr, "%s is missing\n", name);
        exit(1);
    }
}

static void open_all(const char *path) {
    void *torch = dlopen(path, RTLD_LAZY), *cuda = dlopen("libcuda.so.1", RTLD_NOW), *context;
    int (*init)(unsigned);
    if (!torch || !cuda) {
        fprintf(stderr, "%s\n", dlerror());
        exit(1);
    }
#define FIND(name) find(torch, #name, &t_##name);
    FUNCTIONS(FIND)
    find(cuda, "fake_cuda_fail", &refuse);
    find(cuda, "fake_cuda_calls", &calls);
    find(cuda, "fake_cuda_get_report", &driver_report);
    find(cuda, "fake_cuda_last_misuse", &last_misuse);
    find(cuda, "fake_cuda_run", &run);
    find(cuda, "cuStreamCreate", &stream_create);
    find(cuda, "cuMemsetD8Async", &fill);
    find(cuda, "cuMemcpyAsync", &copy_async);
    find(cuda, "cuCtxSetCurrent", &set_context);
    find(cuda, "cuDevicePrimaryCtxRetain", &retain);
    find(cuda, "cuInit", &init);
    HOLDS(init(0) == 0 && retain(&context, 0) == 0 && set_context(context) == 0);
    for (size_t i = 1; i < sizeof streams / sizeof *streams; i++)
        HOLDS(stream_create(&streams[i], 0) == 0);
}

static masu_torch_stats stats_of(int device) {
    masu_torch_stats s = {.struct_bytes = sizeof s};
    t_masu_torch_get_stats(device, &s);
    return s;
}

static void *take(size_t bytes, int stream) {
    void *ptr = t_masu_torch_malloc((ssize_t)bytes, 0, streams[stream]);
    HOLDS(ptr && (uintptr_t)ptr % 512 == 0);
    return ptr;
}

static void give(void *ptr, size_t bytes, int stream) {
    t_masu_torch_free(ptr, (ssize_t)bytes, 0, streams[stream]);
}

static void plain(void) {
    static const size_t sizes[] = {1, 511, 512, 513, 4096, 1 << 20, (1 << 20) + 1, 3 << 20, 25 << 20};
    enum { COUNT = sizeof sizes / sizeof *sizes };
    void *ptr[COUNT];
    size_t sum = 0;
    t_masu_torch_init(2);
    HOLDS(t_masu_torch_malloc(0, 0, NULL) == NULL && t_masu_torch_malloc(-1, 0, NULL) == NULL);
    t_masu_torch_free(NULL, 0, 0, NULL);
    for (int i = 0; i < COUNT; i++) {
        ptr[i] = take(sizes[i], 0);
        HOLDS(fill((uintptr_t)ptr[i], (unsigned char)i, sizes[i], NULL) == 0);
        sum += sizes[i];
    }
    HOLDS(stats_of(0).allocated_bytes == sum && stats_of(0).live_blocks == COUNT);
    HOLDS(t_masu_torch_memory_allocated(0) == sum && t_masu_torch_memory_reserved(0) >= sum);
    run(NULL);
    for (int i = 0; i < COUNT; i++)
        HOLDS(((unsigned char *)ptr[i])[0] == i && ((unsigned char *)ptr[i])[sizes[i] - 1] == i);
    give((char *)ptr[7] + 512, 1, 0);
    HOLDS(stats_of(0).refused_frees == 1 && strstr(t_masu_torch_error(), "not a live block"));
    for (int i = 0; i < COUNT; i++)
        give(ptr[i], sizes[i] + (i == 3), 0);
    give(ptr[0], 1, 0);
    HOLDS(stats_of(0).refused_frees == 2 && stats_of(0).wrong_sizes == 1 && stats_of(0).live_blocks == 0);
    HOLDS(t_masu_torch_max_memory_allocated(0) == sum && stats_of(0).allocations == COUNT &&
          stats_of(0).frees == COUNT);
    t_masu_torch_empty_cache();
    HOLDS(t_masu_torch_memory_reserved(0) == 0 && t_masu_torch_max_memory_reserved(0) >= sum);
    t_masu_torch_reset_peak_stats(0);
    HOLDS(t_masu_torch_max_memory_reserved(0) == 0 && t_masu_torch_max_memory_allocated(0) == 0);
    masu_torch_stats shorter = {.struct_bytes = 2 * sizeof(size_t), .peak_allocated_bytes = 77};
    HOLDS(t_masu_torch_get_stats(0, &shorter) && shorter.peak_allocated_bytes == 77);
    HOLDS(!t_masu_torch_get_stats(1, &shorter) && !t_masu_torch_get_stats(-1, &shorter) &&
          !t_masu_torch_get_stats(1000, &shorter));
}

static void by_streams(void) {
    for (size_t bytes = 4096; bytes <= 3 * MIB; bytes = bytes == 4096 ? 3 * MIB : 4 * MIB) {
        unsigned char *a = take(bytes, 1), *b, *c;
        fill((uintptr_t)a, 1, bytes, streams[1]);
        give(a, bytes, 1);
        HOLDS(take(bytes, 1) == (void *)a); /* its own stream keeps the order */
        give(a, bytes, 1);
        b = take(bytes, 2);
        HOLDS(b != a); /* the work of the first is still queued */
        fill((uintptr_t)b, 2, bytes, streams[2]);
        run(streams[2]);
        run(streams[1]);
        HOLDS(b[0] == 2 && b[bytes - 1] == 2);
        HOLDS(take(bytes, 2) == (void *)a); /* now it is done */
        /* used by another stream too: not even its own stream gets it before that has come by */
        t_masu_torch_record_stream(a, streams[3]);
        t_masu_torch_record_stream(a, streams[3]);
        fill((uintptr_t)a, 3, bytes, streams[3]);
        give(a, bytes, 2);
        HOLDS(stats_of(0).waiting_bytes == bytes);
        c = take(bytes, 2);
        HOLDS(c != a);
        run(streams[2]);
        run(streams[3]);
        HOLDS(take(bytes, 2) == (void *)a && stats_of(0).waiting_bytes == 0);
        /* freed on another stream than its own */
        fill((uintptr_t)a, 4, bytes, streams[2]);
        give(a, bytes, 4);
        run(streams[4]);
        HOLDS(take(bytes, 5) != (void *)a);
        t_masu_torch_free(c, (ssize_t)bytes, 0, streams[2]);
        t_masu_torch_free(b, (ssize_t)bytes, 0, streams[2]);
        t_masu_torch_shutdown();
    }
    /* more streams than are kept apart: the free waits for them */
    unsigned char *a = take(4096, 1), *b;
    for (int i = 2; i < 14; i++) {
        t_masu_torch_record_stream(a, streams[i]);
        fill((uintptr_t)a, (unsigned char)i, 4096, streams[i]);
    }
    give(a, 4096, 1);
    run(streams[1]);
    for (int i = 1; i < 9; i++)
        run(streams[i]);
    b = take(4096, 13);
    memset(b, 99, 4096);
    for (int i = 1; i < 14; i++)
        run(streams[i]);
    HOLDS(b[0] == 99 && b[4095] == 99);
    give(b, 4096, 13);
}

/* Every block is marked by work of its own stream, and read by work of others, all of it queued until long after the
 * block is freed. What a reader sees must be the mark of that block: had the memory gone to somebody too early, it
 * would be another. */
static void at_random(void) {
    enum { STEPS = 6000, LIVE = 48 };
    static unsigned char seen[2 * STEPS], wanted[2 * STEPS];
    struct {
        unsigned char *ptr;
        size_t bytes;
        int stream;
        unsigned char mark;
    } live[LIVE] = {{0}};
    unsigned seed = 11, reads = 0;
    for (int i = 0; i < STEPS; i++) {
        unsigned at = (unsigned)rand_r(&seed) % LIVE;
        if (!live[at].ptr) {
            live[at].stream = rand_r(&seed) % 6;
            live[at].bytes = rand_r(&seed) % 8 ? (size_t)(1 + rand_r(&seed) % 40) * 700
                                               : (size_t)(1 + rand_r(&seed) % 5) << 20;
            live[at].mark = (unsigned char)(1 + i % 251);
            live[at].ptr = take(live[at].bytes, live[at].stream);
            fill((uintptr_t)live[at].ptr, live[at].mark, live[at].bytes, streams[live[at].stream]);
            continue;
        }
        int others = rand_r(&seed) % 4 ? rand_r(&seed) % 3 : 12, reader = live[at].stream;
        if (others) /* they come behind the mark */
            run(streams[live[at].stream]);
        for (int k = 0; k <= others && reads < 2 * STEPS; k++, reader = 1 + (reader + 1) % 13) {
            if (reader != live[at].stream)
                t_masu_torch_record_stream(live[at].ptr, streams[reader]);
            wanted[reads] = live[at].mark;
            copy_async((uintptr_t)&seen[reads++], (uintptr_t)live[at].ptr + live[at].bytes - 1, 1, streams[reader]);
        }
        give(live[at].ptr, live[at].bytes, live[at].stream);
        live[at].ptr = NULL;
        if (i % 7 == 0)
            run(streams[rand_r(&seed) % 13]);
        if (i % 1500 == 1499)
            t_masu_torch_empty_cache();
    }
    for (int at = 0; at < LIVE; at++)
        if (live[at].ptr)
            give(live[at].ptr, live[at].bytes, live[at].stream);
    for (int i = 0; i < 14; i++)
        run(streams[i]);
    for (unsigned i = 0; i < reads; i++)
        HOLDS(seen[i] == wanted[i]);
    HOLDS(reads > STEPS && stats_of(0).live_blocks == 0);
}

static void by_devices(void) {
    void *a = t_masu_torch_malloc(3 << 20, 0, NULL), *b = t_masu_torch_malloc(5 << 20, 1, NULL);
    HOLDS(a && b && a != b);
    HOLDS(stats_of(0).allocated_bytes == 3 * MIB && stats_of(1).allocated_bytes == 5 * MIB);
    t_masu_torch_free(a, 3 << 20, 1, NULL); /* of the wrong device: left alone */
    HOLDS(stats_of(1).refused_frees == 1 && stats_of(0).live_blocks == 1);
    t_masu_torch_record_stream(b, streams[1]);
    HOLDS(t_masu_torch_malloc(1, 2, NULL) == NULL && strstr(t_masu_torch_error(), "device 2: 1 bytes refused"));
    HOLDS(t_masu_torch_malloc(1, 64, NULL) == NULL && t_masu_torch_malloc(1, -1, NULL) == NULL);
    t_masu_torch_free(a, 3 << 20, 0, NULL);
    t_masu_torch_free(b, 5 << 20, 1, NULL);
}

/* Each byte range has the mark of who has it, written by the processor: the blocks of two threads share none. */
static void *one_thread(void *number) {
    unsigned seed = 7u * (unsigned)(uintptr_t)number + 1, who = (unsigned)(uintptr_t)number;
    struct {
        unsigned char *ptr;
        size_t bytes;
        int device;
    } live[24] = {{0}};
    for (int i = 0; i < 1500; i++) {
        unsigned at = (unsigned)rand_r(&seed) % 24;
        if (live[at].ptr) {
            HOLDS(live[at].ptr[0] == who + 1 && live[at].ptr[live[at].bytes - 1] == who + 1);
            if (rand_r(&seed) % 4 == 0)
                t_masu_torch_record_stream(live[at].ptr, streams[1 + rand_r(&seed) % 4]);
            t_masu_torch_free(live[at].ptr, (ssize_t)live[at].bytes, live[at].device, streams[1 + who]);
            live[at].ptr = NULL;
            continue;
        }
        live[at].device = rand_r(&seed) % 2;
        live[at].bytes = (size_t)1 << rand_r(&seed) % 22;
        live[at].ptr = t_masu_torch_malloc((ssize_t)live[at].bytes, live[at].device, streams[1 + who]);
        HOLDS(live[at].ptr);
        memset(live[at].ptr, (int)who + 1, live[at].bytes < 64 ? live[at].bytes : 64);
        live[at].ptr[live[at].bytes - 1] = (unsigned char)(who + 1);
        if (i % 400 == 99)
            t_masu_torch_empty_cache();
        stats_of(i % 2);
    }
    for (int at = 0; at < 24; at++)
        if (live[at].ptr)
            t_masu_torch_free(live[at].ptr, (ssize_t)live[at].bytes, live[at].device, streams[1 + who]);
    return NULL;
}

static void by_threads(void) {
    pthread_t thread[4];
    t_masu_torch_record_history(500);
    for (uintptr_t i = 0; i < 4; i++)
        HOLDS(pthread_create(&thread[i], NULL, one_thread, (void *)i) == 0);
    for (int i = 0; i < 20; i++)
        HOLDS(t_masu_torch_snapshot("/dev/null"));
    for (int i = 0; i < 4; i++)
        pthread_join(thread[i], NULL);
    HOLDS(stats_of(0).live_blocks == 0 && stats_of(1).live_blocks == 0);
    HOLDS(stats_of(0).refused_frees + stats_of(1).refused_frees == 0);
}

static _Atomic int ended;
static void *busy(void *unused) {
    for (; !ended;)
        give(take(4096, 1), 4096, 1);
    return unused;
}

static void by_fork(void) {
    pthread_t thread;
    int status, first = fork();
    if (first == 0) /* before anything was used: the child may */
        _exit(t_masu_torch_malloc(1, 0, NULL) ? 0 : 1);
    HOLDS(waitpid(first, &status, 0) == first && status == 0);
    void *mine = take(MIB, 2);
    pthread_create(&thread, NULL, busy, NULL);
    for (int i = 0; i < 20; i++) {
        int child = fork();
        if (child == 0) {
            bool refused = !t_masu_torch_malloc(4096, 0, NULL) && strstr(t_masu_torch_error(), "forked child");
            t_masu_torch_free(mine, (ssize_t)MIB, 0, NULL);
            t_masu_torch_record_stream(mine, streams[1]);
            t_masu_torch_empty_cache();
            _exit(refused && t_masu_torch_memory_allocated(0) >= MIB ? 0 : 1);
        }
        HOLDS(waitpid(child, &status, 0) == child && status == 0);
    }
    ended = 1;
    pthread_join(thread, NULL);
    give(mine, MIB, 2);
}

static bool odd_streams(void *context, masu_torch_stream stream) {
    ++*(int *)context;
    return stream == streams[1] || stream == streams[3];
}

static void by_pools(void) {
    int asked = 0;
    void *common = take(4096, 1), *a, *b, *c;
    t_masu_torch_begin_allocate_to_pool(0, 0, 0, NULL, NULL);
    HOLDS(strstr(t_masu_torch_error(), "cannot be made"));
    t_masu_torch_begin_allocate_to_pool(0, 0, 7, odd_streams, &asked);
    a = take(3 * MIB, 1);
    b = take(3 * MIB, 2);
    HOLDS(asked == 2 && stats_of(0).private_pools == 1);
    t_masu_torch_begin_allocate_to_pool(0, 9, 1, NULL, NULL);
    c = take(3 * MIB, 1);
    HOLDS(asked == 2 && stats_of(0).private_pools == 2);
    t_masu_torch_end_allocate_to_pool(0, 9, 1);
    t_masu_torch_end_allocate_to_pool(0, 0, 7);
    give(a, 3 * MIB, 1); /* the pool's memory stays the pool's */
    void *d = take(3 * MIB, 1);
    HOLDS(d != a && asked == 2);
    t_masu_torch_begin_allocate_to_pool(0, 0, 7, NULL, NULL);
    HOLDS(take(3 * MIB, 1) == a);
    t_masu_torch_end_allocate_to_pool(0, 0, 7);
    give(a, 3 * MIB, 1);
    t_masu_torch_release_pool(0, 0, 7);
    HOLDS(stats_of(0).private_pools == 1);
    t_masu_torch_release_pool(0, 9, 1);
    HOLDS(stats_of(0).private_pools == 1); /* one block is still out */
    give(c, 3 * MIB, 1);
    HOLDS(stats_of(0).private_pools == 0);
    t_masu_torch_release_pool(0, 9, 1);
    give(common, 4096, 1);
    give(b, 3 * MIB, 2);
    give(d, 3 * MIB, 1);
}

/* With 64 MiB of memory. */
static void by_limit(void) {
    bool vm = getenv("MASU_TORCH") && strcmp(getenv("MASU_TORCH"), "vm") == 0;
    void *ptr[15];
    HOLDS(t_masu_torch_malloc(65 << 20, 0, NULL) == NULL &&
          strstr(t_masu_torch_error(), "would help: nothing: the device has 64.00 MiB"));
    for (int i = 0; i < 15; i++)
        ptr[i] = take(4 * MIB, 1);
    for (int i = 0; i < 15; i += 2)
        give(ptr[i], 4 * MIB, 1);
    void *large = t_masu_torch_malloc(24 << 20, 0, streams[1]);
    HOLDS((large != NULL) == vm); /* eight holes of 4 MiB: mapped together, or not */
    if (!vm) {
        const char *text = t_masu_torch_error();
        HOLDS(strstr(text, "24.00 MiB (25165824 bytes)") && strstr(text, "alive: 28.00 MiB in 7 blocks"));
        HOLDS(strstr(text, "largest hole ") &&
              strstr(text, "would help: what is free would suffice in one piece: MASU_TORCH=vm"));
    }
    t_masu_torch_free(large, 24 << 20, 0, streams[1]);
    for (int i = 1; i < 15; i += 2)
        give(ptr[i], 4 * MIB, 1);
    HOLDS(stats_of(0).refusals == (vm ? 1u : 2u));
    t_masu_torch_empty_cache();
    t_masu_torch_memory_fraction(0.25, 0);
    HOLDS(stats_of(0).limit_bytes == 16 * MIB);
    ptr[0] = take(12 * MIB, 1);
    ptr[1] = take(4096, 1);
    HOLDS(t_masu_torch_malloc(4 << 20, 0, streams[1]) == NULL &&
          strstr(t_masu_torch_error(), "a memory fraction of at least 0."));
    HOLDS(t_masu_torch_max_memory_reserved(0) > 0 && t_masu_torch_memory_reserved(0) <= 16 * MIB);
    give(ptr[0], 12 * MIB, 1); /* free of a stream whose work is queued: it is waited for */
    ptr[0] = take(12 * MIB, 2);
    HOLDS(t_masu_torch_memory_reserved(0) <= 16 * MIB);
    t_masu_torch_memory_fraction(1, 0);
    ptr[2] = take(20 * MIB, 2);
    t_masu_torch_memory_fraction(1.5, 0);
    HOLDS(strstr(t_masu_torch_error(), "more than 0 and at most 1"));
    give(ptr[0], 12 * MIB, 2);
    give(ptr[1], 4096, 1);
    give(ptr[2], 20 * MIB, 2);
    /* what is free, but a private pool's alone */
    t_masu_torch_empty_cache();
    t_masu_torch_memory_fraction(0.25, 0);
    t_masu_torch_begin_allocate_to_pool(0, 0, 1, NULL, NULL);
    ptr[0] = take(9 * MIB, 1);
    ptr[1] = take(5 * MIB, 1);
    t_masu_torch_end_allocate_to_pool(0, 0, 1);
    HOLDS(t_masu_torch_malloc(1 << 20, 0, streams[1]) == NULL);
    if (vm) {
        HOLDS(strstr(t_masu_torch_error(), "free in all: 0 bytes") &&
              strstr(t_masu_torch_error(), "would help: a memory fraction"));
    } else {
        HOLDS(strstr(t_masu_torch_error(), "largest hole 0 bytes") &&
              strstr(t_masu_torch_error(), "free in all: 2.00 MiB"));
        HOLDS(strstr(t_masu_torch_error(), "would help: private pools hold free memory that is theirs alone"));
    }
    give(ptr[0], 9 * MIB, 1);
    give(ptr[1], 5 * MIB, 1);
    t_masu_torch_release_pool(0, 0, 1);
}

/* A step of training, of which any part may be refused. */
static void step(void) {
    static const size_t sizes[] = {4096, 3 << 20, 700, 21 << 20, 2 << 20};
    void *ptr[5];
    for (int i = 0; i < 5; i++)
        ptr[i] = t_masu_torch_malloc((ssize_t)sizes[i], 0, streams[i % 3]);
    t_masu_torch_begin_allocate_to_pool(0, 1, 1, NULL, NULL);
    void *mine = t_masu_torch_malloc(5000, 0, streams[1]);
    t_masu_torch_end_allocate_to_pool(0, 1, 1);
    for (int i = 2; i < 13; i++)
        t_masu_torch_record_stream(ptr[0], streams[i]);
    t_masu_torch_record_stream(ptr[1], streams[2]);
    for (int i = 0; i < 5; i++)
        t_masu_torch_free(ptr[i], (ssize_t)sizes[i], 0, streams[(i + i / 3) % 3]);
    t_masu_torch_free(mine, 5000, 0, streams[1]);
    t_masu_torch_release_pool(0, 1, 1);
    t_masu_torch_empty_cache();
}

static void each_call_refused(void) {
    static const int errors[] = {2, 700}; /* out of memory; a failure */
    uint64_t most = 0;
    for (int e = 0; e < 2; e++)
        for (uint64_t nth = 1;; nth++) {
            refuse(NULL, nth, errors[e], 0);
            step();
            most = calls();
            refuse(NULL, 0, 0, 0);
            void *after = take(4 * MIB, 1); /* all is well again, and what was owed is paid */
            give(after, 4 * MIB, 1);
            HOLDS(stats_of(0).live_blocks == 0 && strcmp(t_masu_torch_verdict(), "fine") == 0);
            HOLDS(t_masu_torch_shutdown() == 0);
            if (nth > most)
                break;
        }
    HOLDS(most > 40);
}

static void to_snapshot(const char *path) {
    unsigned seed = 5;
    struct {
        void *ptr;
        size_t bytes;
        int device, stream;
    } live[40] = {{0}};
    t_masu_torch_record_history(100000);
    for (int i = 0; i < 900; i++) {
        unsigned at = (unsigned)rand_r(&seed) % 40;
        if (live[at].ptr) {
            if (rand_r(&seed) % 3 == 0)
                t_masu_torch_record_stream(live[at].ptr, streams[4]);
            t_masu_torch_free(live[at].ptr, (ssize_t)live[at].bytes, live[at].device, streams[live[at].stream]);
            live[at].ptr = NULL;
        } else {
            live[at].device = rand_r(&seed) % 2;
            live[at].stream = rand_r(&seed) % 3;
            live[at].bytes = (size_t)(rand_r(&seed) % 1000 + 1) << rand_r(&seed) % 14;
            live[at].ptr = t_masu_torch_malloc((ssize_t)live[at].bytes, live[at].device, streams[live[at].stream]);
            HOLDS(live[at].ptr);
        }
        if (i % 100 == 50)
            run(streams[i / 100 % 5]);
    }
    t_masu_torch_begin_allocate_to_pool(0, 3, 0, NULL, NULL);
    void *mine = t_masu_torch_malloc(123456, 0, streams[1]);
    HOLDS(t_masu_torch_malloc((ssize_t)1 << 45, 0, NULL) == NULL);
    HOLDS(t_masu_torch_snapshot(path) && !t_masu_torch_snapshot("/no/such/folder/file"));
    printf("%llu %llu\n", (unsigned long long)stats_of(0).allocated_bytes,
           (unsigned long long)stats_of(1).allocated_bytes);
    t_masu_torch_free(mine, 123456, 0, streams[1]);
    for (int at = 0; at < 40; at++)
        if (live[at].ptr)
            t_masu_torch_free(live[at].ptr, (ssize_t)live[at].bytes, live[at].device, streams[live[at].stream]);
}

int main(int argc, char **argv) {
    fake_cuda_report report;
    const char *part = argc > 2 ? argv[2] : "";
    open_all(argv[1]);
    static const struct {
        const char *name;
        void (*run)(void);
    } parts[] = {{"plain", plain},        {"streams", by_streams}, {"random", at_random},
                 {"devices", by_devices}, {"threads", by_threads}, {"fork", by_fork},
                 {"pools", by_pools},     {"limit", by_limit},     {"refused", each_call_refused}};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (strcmp(part, parts[i].name) == 0)
            parts[i].run();
    if (strcmp(part, "snapshot") == 0)
        to_snapshot(argv[3]);
    HOLDS(strcmp(t_masu_torch_verdict(), getenv("MASU_TORCH_CHECK") ? "fine" : "not judged") == 0);
    HOLDS(t_masu_torch_shutdown() == 0);
    HOLDS(strcmp(t_masu_torch_verdict(), getenv("MASU_TORCH_CHECK") ? "fine" : "not judged") == 0);
    driver_report(&report);
    if (report.misuses)
        fprintf(stderr, "driver misused: %s\n", last_misuse());
    if (strcmp(part, "refused") == 0 && report.events <= 2) /* whose end the driver refused, once for each error */
        report.events = 0;
    if (report.handles + report.events + report.allocations + report.mappings + report.reservations)
        fprintf(stderr, "left: %llu handles, %llu events, %llu allocations, %llu mappings, %llu reservations\n",
                (unsigned long long)report.handles, (unsigned long long)report.events,
                (unsigned long long)report.allocations, (unsigned long long)report.mappings,
                (unsigned long long)report.reservations);
    HOLDS(report.misuses == 0);
    HOLDS(report.handles + report.events + report.allocations + report.mappings + report.reservations == 0);
    puts("all as promised");
    return 0;
}
