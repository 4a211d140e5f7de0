/* replay_malloc.c: the requests on the malloc libraries that this system has. Each runs in a process of its own, with
 * the library preloaded, once for the time and once for the memory:
 *
 *     masu whatif ──requests in a file without a name──► masu whatif, LD_PRELOAD=libjemalloc.so.2
 *          ▲                                                   │
 *          └────────────── a pipe: times and pages ────────────┘
 *
 * The process asks for `malloc` by its name, so that it gets the one that was preloaded. Where the machine has room,
 * every page of a block is written to, and what counts is the memory that the process then has; else its addresses.
 */
#include "tool/whatif/whatif.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

typedef struct library {
    const char *name, *file; /* file NULL: the system's own */
} library;

/* Memory is looked at once so much was taken: what is not seen is less than that, and rounding. A look is a system
 * call, and dearer than many small requests. */
enum { SEEN_EACH = 4096 };

/* More than that would take minutes. */
#define MOST_WRITTEN ((uint64_t)4 << 30)
#define OWN_LIBRARY  "libmasu-malloc.so"

static const library libraries[] = {{"glibc malloc", NULL},
                                    {"masu malloc", OWN_LIBRARY},
                                    {"jemalloc", "libjemalloc.so.2"},
                                    {"mimalloc", "libmimalloc.so.2"},
                                    {"tcmalloc", "libtcmalloc_minimal.so.4"},
                                    {"tbbmalloc", "libtbbmalloc_proxy.so.2"}};

/* The head of what the process reads, in front of the requests. */
typedef struct order {
    uint32_t requests, blocks;
    uint32_t touch; /* 0: only take the time; 1: write to pages and watch memory; 2: watch addresses */
    uint32_t unused;
} order;

typedef struct answer {
    double seconds;
    uint64_t peak_bytes;
    uint32_t refused, done;
} answer;

/* ---- the process ------------------------------------------------------------------------------------------------- */

static uint64_t pages_now(int statm, bool addresses) {
    char text[128];
    ssize_t length = pread(statm, text, sizeof text - 1, 0);
    if (length <= 0)
        return 0;
    text[length] = 0;
    char *second;
    uint64_t all = strtoull(text, &second, 10), resident = strtoull(second, NULL, 10);
    return addresses ? all : resident;
}

static void touch(char *block, uint64_t bytes) {
    for (uint64_t at = 0; at < bytes; at += 4096)
        ((volatile char *)block)[at] = 1;
    ((volatile char *)block)[bytes - 1] = 1;
}

static int serve(const order *o, const whatif_request *requests, void **blocks) {
    void *(*take)(size_t) = (void *(*)(size_t))(uintptr_t)dlsym(RTLD_DEFAULT, "malloc");
    void (*give)(void *) = (void (*)(void *))(uintptr_t)dlsym(RTLD_DEFAULT, "free");
    int statm = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
    answer a = {0};
    struct timespec began, ended;
    if (!take || !give || statm < 0)
        return TOOL_FAILED;
    uint64_t before = pages_now(statm, o->touch == 2), most = before, unseen = SEEN_EACH;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &began);
    for (size_t i = 0; i < o->requests; i++) {
        const whatif_request *r = &requests[i];
        if (r->kind == WHATIF_TAKE) {
            blocks[r->id] = take(r->bytes);
            a.refused += !blocks[r->id];
            if (o->touch == 1 && blocks[r->id])
                touch(blocks[r->id], r->bytes);
            unseen += r->bytes;
            if (o->touch && unseen >= SEEN_EACH) {
                uint64_t pages = pages_now(statm, o->touch == 2);
                most = pages > most ? pages : most;
                unseen = 0;
            }
        } else if (r->kind == WHATIF_GIVE) {
            give(blocks[r->id]);
            blocks[r->id] = NULL;
        }
    }
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ended);
    for (size_t i = 0; i < o->blocks; i++) /* what still lives goes back: a library that looks for leaks finds none */
        give(blocks[i]);
    a.seconds = (double)(ended.tv_sec - began.tv_sec) + 1e-9 * (double)(ended.tv_nsec - began.tv_nsec);
    a.peak_bytes = (most - before) * (uint64_t)sysconf(_SC_PAGESIZE);
    a.done = 1;
    return write(STDOUT_FILENO, &a, sizeof a) == (ssize_t)sizeof a ? TOOL_OK : TOOL_FAILED;
}

/* Everything that it needs besides is mapped before the first request, so that it does not count. */
int whatif_malloc_child(int descriptor) {
    off_t bytes = lseek(descriptor, 0, SEEK_END);
    if (bytes < (off_t)sizeof(order))
        return TOOL_FAILED;
    const order *o = mmap(NULL, (size_t)bytes, PROT_READ, MAP_SHARED | MAP_POPULATE, descriptor, 0);
    if (o == MAP_FAILED || (off_t)(sizeof *o + o->requests * sizeof(whatif_request)) > bytes)
        return TOOL_FAILED;
    void **blocks = mmap(NULL, ((size_t)o->blocks + 1) * sizeof *blocks, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    return blocks == MAP_FAILED ? TOOL_FAILED : serve(o, (const whatif_request *)(o + 1), blocks);
}

/* ---- the caller -------------------------------------------------------------------------------------------------- */

static bool write_all(int to, const void *bytes, size_t length) {
    for (const char *at = bytes; length;) {
        ssize_t written = write(to, at, length);
        if (written <= 0)
            return false;
        at += written;
        length -= (size_t)written;
    }
    return true;
}

static int write_requests(const whatif_requests *q, uint32_t touch_pages) {
    int file = memfd_create("masu-whatif", 0);
    order o = {q->count, q->blocks, touch_pages, 0};
    _Static_assert(sizeof(order) % _Alignof(whatif_request) == 0, "requests lie behind it");
    if (file >= 0 && write_all(file, &o, sizeof o) && write_all(file, q->items, q->count * sizeof *q->items))
        return file;
    if (file >= 0)
        close(file);
    return -1;
}

static bool wait_for(pid_t child, int from, answer *out) {
    size_t read_bytes = 0;
    while (read_bytes < sizeof *out) {
        ssize_t got = read(from, (char *)out + read_bytes, sizeof *out - read_bytes);
        if (got <= 0)
            break;
        read_bytes += (size_t)got;
    }
    int status;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    return read_bytes == sizeof *out && out->done == 1 && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/* path NULL: nothing is preloaded. */
static bool run_child(const char *path, int requests, answer *out) {
    char option[48], preload[1024], *arguments[] = {(char *)"masu", (char *)"whatif", option, NULL};
    char **environment = NULL;
    int ends[2];
    size_t count = 0;
    masu__arena arena = {0};
    while (environ[count])
        count++;
    environment = masu__arena_calloc(&arena, count + 2, sizeof *environment, sizeof *environment);
    if (!environment || pipe2(ends, O_CLOEXEC) != 0) {
        masu__arena_destroy(&arena);
        return false;
    }
    snprintf(option, sizeof option, "--serve-requests=%d", requests);
    snprintf(preload, sizeof preload, "LD_PRELOAD=%s", path ? path : "");
    size_t kept = 0;
    for (size_t i = 0; i < count; i++)
        if (strncmp(environ[i], "LD_PRELOAD=", 11) != 0)
            environment[kept++] = environ[i];
    if (path)
        environment[kept++] = preload;
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    pid_t child;
    bool began = posix_spawn(&child, "/proc/self/exe", &actions, NULL, arguments, environment) == 0;
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    bool fine = began && wait_for(child, ends[0], out);
    close(ends[0]);
    masu__arena_destroy(&arena);
    return fine;
}

/* Whether the loader finds it: opened by the name under which it is preloaded. */
static bool is_installed(const char *file) {
    void *handle = dlopen(file, RTLD_LAZY | RTLD_LOCAL | RTLD_NOLOAD);
    static const char *const folders[] = {"/usr/lib/x86_64-linux-gnu",
                                          "/usr/lib/aarch64-linux-gnu",
                                          "/usr/local/lib",
                                          "/usr/lib",
                                          "/lib/x86_64-linux-gnu",
                                          "/usr/lib64"};
    char path[256];
    if (handle)
        dlclose(handle);
    for (size_t i = 0; i < sizeof folders / sizeof *folders && !handle; i++) {
        snprintf(path, sizeof path, "%s/%s", folders[i], file);
        if (access(path, R_OK) == 0)
            return true;
    }
    return handle != NULL;
}

static uint64_t available_bytes(void) {
    char text[4096];
    int file = open("/proc/meminfo", O_RDONLY | O_CLOEXEC);
    ssize_t length = file >= 0 ? read(file, text, sizeof text - 1) : -1;
    if (file >= 0)
        close(file);
    text[length > 0 ? length : 0] = 0;
    const char *line = strstr(text, "MemAvailable:");
    return line ? strtoull(line + 13, NULL, 10) * 1024 : 0;
}

static bool measure(const whatif_requests *q, const char *path, uint32_t touch_pages, answer *out) {
    int file = write_requests(q, touch_pages);
    bool fine = file >= 0 && run_child(path, file, out);
    if (file >= 0)
        close(file);
    return fine;
}

bool whatif_replay_malloc(const whatif_requests *q, unsigned number, const whatif_options *options, whatif_row *out) {
    (void)options;
    *out = (whatif_row){.device_calls = UINT64_MAX};
    if (number >= sizeof libraries / sizeof *libraries)
        return false;
    const library *of = &libraries[number];
    snprintf(out->name, sizeof out->name, "%s", of->name);
    const char *path = of->file;
    char own[1024];
    if (of->file && strcmp(of->file, OWN_LIBRARY) == 0)
        path = tool_find_file(OWN_LIBRARY, "lib", own, sizeof own) ? own : of->file;
    if (path == of->file && of->file && !is_installed(of->file))
        path = NULL;
    if (of->file && !path) {
        snprintf(out->note, sizeof out->note, "not installed");
        return true;
    }
    /* Twice over the peak is room enough for any of them. Each page costs a fault, up to 13 µs in virtual machines. */
    bool has_room = q->peak_live_bytes < available_bytes() / 4, fits = has_room && q->taken_bytes < MOST_WRITTEN;
    answer timed = {0}, watched = {0};
    out->ran = measure(q, path, 0, &timed) && measure(q, path, fits ? 1 : 2, &watched);
    out->seconds = timed.seconds;
    out->peak_reserved_bytes = watched.peak_bytes;
    out->refused = timed.refused;
    if (!out->ran)
        snprintf(out->note, sizeof out->note, "its process did not end well");
    else if (timed.refused)
        snprintf(out->note, sizeof out->note, "refused %u requests", timed.refused);
    else
        snprintf(out->note, sizeof out->note,
                 fits       ? "pages written to"
                 : has_room ? "addresses: to write to so many pages would take long"
                            : "addresses: the pages are more than this machine has");
    return true;
}
