/* record.c: filling the ring, and the beginning and end of a recording. See record.h. */
#include "base/record.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/meta.h"
#include "base/populate.h"
#include "base/size.h"
#include "base/trace.h"
#include "base/trace_format.h"

enum { DEFAULT_RECORDS = 16384, LEAST_RECORDS = 64, FILE_MODE = 0666, NAP_NS = 20 * 1000 };
enum { HERE_RECORDS = 64, HERE_LOOK_NS = 50 * 1000 * 1000 };

#define INITIAL_EXEC __attribute__((tls_model("initial-exec")))
static _Thread_local uint32_t this_thread INITIAL_EXEC; /* as the kernel counts it; 0: not asked yet */
static _Thread_local uint32_t known_to INITIAL_EXEC;    /* the last recorder that heard of it */
_Thread_local masu_place masu__trace_here INITIAL_EXEC;

static _Atomic uint32_t generations;
static pthread_mutex_t list_lock = PTHREAD_MUTEX_INITIALIZER;
static masu__recorder *recorders; /* all that record: fork stops them in the child */
static pthread_once_t watch_once = PTHREAD_ONCE_INIT;

/* Places of masu_heap_alloc_at, by address of the file's name and line; once it is full, further ones are not known. */
enum { HERE_PLACES = 4096, HERE_FIRST = 1u << 30 };
struct masu__here_table {
    uint32_t count;
    masu_place places[2 * HERE_PLACES]; /* file NULL: empty */
    uint32_t numbers[2 * HERE_PLACES];
};

static masu__record_mode mode_of(const masu__recorder *r) {
    return atomic_load_explicit(&r->mode, memory_order_relaxed);
}

/* ---- the ring ---------------------------------------------------------------------------------------------------- */

static bool has_room(masu__recorder *r, uint64_t slots) {
    uint64_t head = atomic_load_explicit(&r->head, memory_order_relaxed);
    r->known_tail = atomic_load_explicit(&r->tail, memory_order_acquire);
    uint64_t used = head - r->known_tail;
    if (used > r->size / 2 && atomic_load_explicit(&r->sleeps, memory_order_relaxed))
        pthread_cond_signal(&r->bell.rings);
    return r->size - used >= slots;
}

/* The writer takes no lock of masu, so it gets on while this thread holds some. */
static bool wait_for_room(masu__recorder *r, uint64_t slots) {
    if (r->when_full == MASU_RECORD_DROPS || mode_of(r) == MASU__RECORD_NOBODY)
        return false;
    r->waits++;
    while (!has_room(r, slots)) {
        pthread_cond_signal(&r->bell.rings);
        nanosleep(&(struct timespec){.tv_nsec = NAP_NS}, NULL);
    }
    return true;
}

static void copy_in(masu__recorder *r, const masu__record *record, const char *text) {
    uint64_t head = atomic_load_explicit(&r->head, memory_order_relaxed);
    r->ring[head++ & (r->size - 1)] = *record;
    for (size_t done = 0; done < record->text_bytes; head++) {
        size_t left = record->text_bytes - done;
        size_t part = left < sizeof *record ? left : sizeof *record;
        memcpy(&r->ring[head & (r->size - 1)], text + done, part);
        done += part;
    }
    atomic_store_explicit(&r->head, head, memory_order_release);
}

/* The way of a ring that is more than half full, or was. False: it was dropped. */
static __attribute__((noinline)) bool put_or_drop(masu__recorder *r, const masu__record *record, const char *text,
                                                  uint64_t slots) {
    if (mode_of(r) == MASU__RECORD_HERE)
        masu__record_take(r, false);
    else if (!has_room(r, slots + 1) && !wait_for_room(r, slots + 1)) {
        r->dropped++;
        r->unsaid_drops++;
        return false;
    }
    if (r->unsaid_drops) {
        masu__record lost = {.time_ns = record->time_ns,
                             .kind = MASU__TRACE_LOST,
                             .bytes = r->unsaid_drops,
                             .given_bytes = r->unsaid_drops};
        copy_in(r, &lost, NULL);
        r->unsaid_drops = 0;
    }
    copy_in(r, record, text);
    return true;
}

/* No text is longer than half of the least ring. */
static bool is_roomy(const masu__recorder *r, uint64_t head) {
    return MASU_LIKELY(head - r->known_tail <= r->size / 2);
}

static bool put(masu__recorder *r, const masu__record *record, const char *text) {
    if (MASU_UNLIKELY(atomic_load_explicit(&r->is_child, memory_order_relaxed)))
        return false; /* there is no writer here to wait for */
    if (!is_roomy(r, atomic_load_explicit(&r->head, memory_order_relaxed)))
        return put_or_drop(r, record, text, 1 + (record->text_bytes + sizeof *record - 1) / sizeof *record);
    copy_in(r, record, text);
    return true;
}

/* Two texts with a zero between them, cut where there is no room. */
static uint16_t join(char out[MASU__TRACE_MOST_TEXT], const char *first, const char *second) {
    size_t first_bytes = first ? strnlen(first, MASU__TRACE_MOST_TEXT / 2) : 0;
    size_t room = MASU__TRACE_MOST_TEXT - first_bytes - 1;
    size_t second_bytes = second ? strnlen(second, room) : 0;
    if (first_bytes)
        memcpy(out, first, first_bytes);
    out[first_bytes] = 0;
    if (second_bytes)
        memcpy(out + first_bytes + 1, second, second_bytes);
    return (uint16_t)(first_bytes + 1 + second_bytes);
}

static void put_pair(masu__recorder *r, masu__record record, const char *first, const char *second) {
    char text[MASU__TRACE_MOST_TEXT];
    record.text_bytes = join(text, first, second);
    record.time_ns = masu__clock_ns() - r->start_ns;
    put(r, &record, text);
}

/* Under the list's lock: no fork may come between the thread and what is known of it. */
static masu_status start_thread(masu__recorder *r) {
    uint8_t before = atomic_load(&r->mode);
    masu__populate(r->ring, r->ring_records * sizeof *r->ring);
    if (before == MASU__RECORD_NOBODY)
        atomic_store(&r->mode, MASU__RECORD_THREAD);
    r->has_thread = masu__thread_start(&r->thread, 0, masu__record_writer, r) == 0;
    if (!r->has_thread)
        atomic_store(&r->mode, before);
    return r->has_thread ? MASU_OK : MASU_ERR_IO;
}

/* ---- events ------------------------------------------------------------------------------------------------------ */

static uint32_t thread_of(masu__recorder *r) {
    if (MASU_LIKELY(known_to == r->generation))
        return this_thread;
    char name[32] = "";
    this_thread = (uint32_t)gettid();
    known_to = r->generation;
    pthread_getname_np(pthread_self(), name, sizeof name);
    masu__record record = {.kind = MASU__TRACE_THREAD,
                           .thread = this_thread,
                           .text_bytes = (uint16_t)strlen(name),
                           .time_ns = masu__clock_ns() - r->start_ns};
    put(r, &record, name);
    return this_thread;
}

/* The number of the place that masu_heap_alloc_at named. */
static uint32_t here_of(masu__recorder *r) {
    masu_place here = masu__trace_here;
    struct masu__here_table *t = r->places;
    if (MASU_LIKELY(!here.file))
        return 0;
    uint64_t mixed = ((uint64_t)(uintptr_t)here.file ^ (uint64_t)(unsigned)here.line << 40) * 0x9e3779b97f4a7c15u;
    size_t at = (size_t)(mixed >> 32) & (2 * HERE_PLACES - 1);
    for (; t->places[at].file; at = (at + 1) & (2 * HERE_PLACES - 1))
        if (t->places[at].file == here.file && t->places[at].line == here.line)
            return t->numbers[at];
    if (t->count == HERE_PLACES)
        return 0;
    t->places[at] = here;
    t->numbers[at] = HERE_FIRST + t->count++;
    uint64_t line = here.line > 0 ? (uint64_t)here.line : 0;
    put_pair(r, (masu__record){.kind = MASU__TRACE_PLACE, .place = t->numbers[at], .bytes = line, .given_bytes = line},
             here.file, "");
    return t->numbers[at];
}

static __attribute__((noinline, cold)) void look(masu__recorder *r, uint64_t time_ns) {
    masu__record_take(r, true);
    r->look_ns = time_ns + HERE_LOOK_NS;
}

void masu__record_event(masu__recorder *r, const masu_event *event, const masu__event_more *more) {
    if (MASU_UNLIKELY(atomic_load_explicit(&r->is_child, memory_order_relaxed) ||
                      atomic_load_explicit(&r->failed, memory_order_relaxed))) {
        r->dropped++;
        return;
    }
    uint32_t place = more->place ? more->place : masu__event_is_request(event->kind) ? here_of(r) : 0;
    uint32_t thread = thread_of(r);
    uint64_t head = atomic_load_explicit(&r->head, memory_order_relaxed);
    bool fits = !more->text && is_roomy(r, head);
    masu__record elsewhere, *record = fits ? &r->ring[head & (r->size - 1)] : &elsewhere;
    record->time_ns = masu__clock_ns() - r->start_ns;
    record->address = event->address;
    record->bytes = event->bytes;
    record->given_bytes = event->block_bytes;
    record->other = event->owner;
    record->stream = more->stream;
    record->pool = event->pool;
    record->place = place;
    record->thread = thread;
    record->text_bytes = more->text ? (uint16_t)strnlen(more->text, MASU__TRACE_MOST_TEXT) : 0;
    record->kind = (uint8_t)event->kind;
    record->alignment_log2 = event->alignment_bytes ? (uint8_t)masu__log2_floor(event->alignment_bytes) : 0;
    uint64_t time_ns = record->time_ns; /* before the slot is the writer's */
    if (fits)
        atomic_store_explicit(&r->head, head + 1, memory_order_release);
    r->events += fits || put(r, record, more->text);
    if (MASU_UNLIKELY(time_ns >= r->look_ns))
        look(r, time_ns);
}

/* ---- fork -------------------------------------------------------------------------------------------------------- */

static void before_fork(void) {
    pthread_mutex_lock(&list_lock);
}

static void in_parent(void) {
    pthread_mutex_unlock(&list_lock);
}

/* The writer lives on in the parent, and the file is the parent's. */
static void in_child(void) {
    for (masu__recorder *r = recorders; r; r = r->next) {
        atomic_store(&r->is_child, true);
        close(r->file);
        r->file = -1;
    }
    pthread_mutex_unlock(&list_lock);
}

static void watch_forks(void) {
    pthread_atfork(before_fork, in_parent, in_child);
}

/* ---- beginning and end ------------------------------------------------------------------------------------------- */

enum { CHUNK_ROOM = MASU__TRACE_CHUNK_BYTES + MASU__TRACE_MOST_PAYLOAD / 4 + MASU__TRACE_MOST_RECORD };

static void recorder_free(masu__recorder *r) {
    if (r->file >= 0)
        close(r->file);
    if (!atomic_load(&r->is_child)) /* there a copy of the writer seems to wait, for ever */
        masu__bell_destroy(&r->bell);
    masu__meta_free(r->chunk, CHUNK_ROOM);
    masu__meta_free(r->places, sizeof *r->places);
    masu__meta_free(r->ring, r->ring_records * sizeof *r->ring);
    masu__meta_free(r, sizeof *r);
}

static bool is_file(int file) {
    struct stat about;
    return fstat(file, &about) == 0 && S_ISREG(about.st_mode);
}

/* False: another recording writes it. One that was killed holds nothing; a file system without locks lets all in. */
static bool take_file(int file) {
    if (!is_file(file))
        return true; /* a pipe, a terminal */
    if (flock(file, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
        return false;
    return ftruncate(file, 0) == 0;
}

/* Who will write. A pipe is never written HERE: its reader may be this program. */
static void choose_mode(masu__recorder *r, const masu_record_config *config) {
    bool here = config->later && is_file(r->file);
    atomic_init(&r->mode, here ? MASU__RECORD_HERE : config->later ? MASU__RECORD_NOBODY : MASU__RECORD_THREAD);
    r->size = here && r->ring_records > HERE_RECORDS ? HERE_RECORDS : r->ring_records;
    r->look_ns = here ? 0 : UINT64_MAX;
}

static masu_status open_file(masu__recorder *r, const char *path) {
    struct timespec began;
    unsigned char head[MASU__TRACE_HEADER_BYTES] = {0};
    r->file = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, FILE_MODE);
    if (r->file < 0 || !take_file(r->file))
        return MASU_ERR_IO;
    clock_gettime(CLOCK_REALTIME, &began);
    memcpy(head, MASU__TRACE_MAGIC, 8);
    masu__record_fixed(head + 8, MASU__TRACE_VERSION, 2);
    masu__record_fixed(head + 10, MASU__TRACE_HEADER_BYTES, 2);
    masu__record_fixed(head + 16, (uint64_t)began.tv_sec * 1000000000u + (uint64_t)began.tv_nsec, 8);
    masu__record_fixed(head + 24, (uint64_t)getpid(), 8);
    return masu__record_write(r->file, head, sizeof head) ? MASU_OK : MASU_ERR_IO;
}

static masu_status recorder_create(const masu_record_config *config, masu_trace *trace, masu__recorder **out) {
    size_t records = config->ring_records ? config->ring_records : DEFAULT_RECORDS;
    if (records > SIZE_MAX / 4 / sizeof(masu__record))
        return MASU_ERR_OVERFLOW;
    masu__recorder *r = masu__meta_calloc(1, sizeof *r);
    if (!r)
        return MASU_ERR_OUT_OF_MEMORY;
    masu__bell_init(&r->bell);
    r->file = -1;
    r->lock = &trace->lock;
    r->ring_records = (size_t)1 << masu__log2_ceil(records < LEAST_RECORDS ? LEAST_RECORDS : records);
    r->ring = masu__meta_alloc(r->ring_records * sizeof *r->ring);
    r->chunk = masu__meta_alloc(CHUNK_ROOM);
    r->places = masu__meta_calloc(1, sizeof *r->places);
    r->when_full = config->when_full;
    r->start_ns = masu__clock_ns();
    r->generation = atomic_fetch_add(&generations, 1) + 1;
    *out = r;
    return r->ring && r->chunk && r->places ? MASU_OK : MASU_ERR_OUT_OF_MEMORY;
}

static void put_pool(masu__recorder *r, const masu__known_pool *pool) {
    put_pair(r, (masu__record){.kind = MASU__TRACE_POOL, .pool = pool->number, .other = pool->below}, pool->layer,
             pool->name);
}

/* The records that a reader needs before all others. */
static void introduce(masu_trace *trace, masu__recorder *r, const masu_record_config *config) {
    masu__lock_take(&trace->lock);
    if (config->program)
        put_pair(r, (masu__record){.kind = MASU__TRACE_SETTING}, "program", config->program);
    for (uint32_t i = 0; i < trace->pool_count; i++)
        put_pool(r, &trace->pools[i]);
    trace->recorder = r;
    atomic_store(&trace->here_context, config->here_context);
    atomic_store(&trace->here, config->here);
    masu__lock_release(&trace->lock);
}

masu_status masu_trace_record_to(masu_trace *trace, const char *path, const masu_record_config *config) {
    static const masu_record_config defaults;
    if (!trace || !path || trace->recorder)
        return MASU_ERR_INVALID_ARGUMENT;
    config = config ? config : &defaults;
    pthread_once(&watch_once, watch_forks);
    masu__recorder *r = NULL;
    masu_status status = recorder_create(config, trace, &r);
    if (status == MASU_OK)
        status = open_file(r, path);
    pthread_mutex_lock(&list_lock); /* no fork may come between the thread and the list */
    if (status == MASU_OK)
        choose_mode(r, config);
    if (status == MASU_OK && mode_of(r) == MASU__RECORD_THREAD)
        status = start_thread(r);
    if (status == MASU_OK) {
        r->next = recorders;
        recorders = r;
    }
    pthread_mutex_unlock(&list_lock);
    if (status != MASU_OK) {
        if (r)
            recorder_free(r);
        return status;
    }
    introduce(trace, r, config);
    masu_trace_set_on(trace, true);
    return MASU_OK;
}

void masu_trace_set_here(const masu_place *place) {
    masu__trace_here = place ? *place : (masu_place){0};
}

masu_status masu_trace_record_start(masu_trace *trace) {
    masu__recorder *r = trace ? trace->recorder : NULL;
    masu_status status = MASU_OK;
    pthread_mutex_lock(&list_lock);
    if (r && !atomic_load(&r->is_child) && !r->has_thread)
        status = start_thread(r);
    pthread_mutex_unlock(&list_lock);
    return status;
}

static void forget(masu__recorder *r) {
    pthread_mutex_lock(&list_lock);
    masu__recorder **link = &recorders;
    while (*link != r)
        link = &(*link)->next;
    *link = r->next;
    pthread_mutex_unlock(&list_lock);
}

/* Writes what is left: by the thread, or here where there is none. */
static void finish(masu__recorder *r) {
    if (!r->has_thread) {
        masu__record_close(r);
        return;
    }
    pthread_mutex_lock(&r->bell.mutex);
    atomic_store(&r->ends, true);
    pthread_cond_signal(&r->bell.rings);
    pthread_mutex_unlock(&r->bell.mutex);
    pthread_join(r->thread, NULL);
}

static masu_record_stats stats_of(masu__recorder *r) {
    return (masu_record_stats){.events = r->events,
                               .dropped = r->dropped,
                               .waits = r->waits,
                               .written_bytes = atomic_load(&r->written_bytes) + MASU__TRACE_HEADER_BYTES};
}

masu_status masu_trace_record_end(masu_trace *trace, masu_record_stats *stats) {
    if (stats)
        *stats = (masu_record_stats){0};
    if (!trace)
        return MASU_ERR_INVALID_ARGUMENT;
    masu__lock_take(&trace->lock);
    masu__recorder *r = trace->recorder;
    trace->recorder = NULL;
    atomic_store(&trace->here, NULL);
    masu__lock_release(&trace->lock);
    if (!r)
        return MASU_OK;
    forget(r);
    bool is_child = atomic_load(&r->is_child);
    if (!is_child)
        finish(r);
    bool failed = !is_child && (atomic_load(&r->failed) || close(r->file) != 0);
    r->file = -1;
    if (stats)
        *stats = stats_of(r);
    recorder_free(r);
    return failed ? MASU_ERR_IO : MASU_OK;
}

void masu_trace_record_get_stats(masu_trace *trace, masu_record_stats *out) {
    *out = (masu_record_stats){0};
    if (!trace)
        return;
    masu__lock_take(&trace->lock);
    if (trace->recorder)
        *out = stats_of(trace->recorder);
    masu__lock_release(&trace->lock);
}

/* ---- what pools do not know -------------------------------------------------------------------------------------- */

/* Whether it records, with the lock taken. */
static bool lock_if_recording(masu_trace *trace) {
    if (!trace || !trace->recorder)
        return false;
    masu__lock_take(&trace->lock);
    if (trace->recorder && !atomic_load(&trace->recorder->is_child))
        return true;
    masu__lock_release(&trace->lock);
    return false;
}

void masu_trace_place(masu_trace *trace, uint32_t place, uint32_t caller, const char *file, const char *function,
                      uint32_t line) {
    if (!lock_if_recording(trace))
        return;
    put_pair(
        trace->recorder,
        (masu__record){.kind = MASU__TRACE_PLACE, .place = place, .other = caller, .bytes = line, .given_bytes = line},
        file, function);
    masu__lock_release(&trace->lock);
}

void masu__trace_know_pool(masu_trace *trace, uint32_t number, const char *layer, const char *name, uint32_t below) {
    if (!trace)
        return;
    masu__lock_take(&trace->lock);
    if (trace->pool_count == trace->pool_capacity) {
        uint32_t wanted = trace->pool_capacity ? 2 * trace->pool_capacity : 8;
        masu__known_pool *grown = masu__meta_realloc(trace->pools, trace->pool_capacity * sizeof *grown,
                                                     wanted * sizeof *grown);
        if (grown) {
            trace->pools = grown;
            trace->pool_capacity = wanted;
        }
    }
    masu__known_pool pool = {.number = number, .below = below};
    strncpy(pool.layer, layer, sizeof pool.layer - 1);
    strncpy(pool.name, name ? name : "", sizeof pool.name - 1);
    if (trace->pool_count < trace->pool_capacity)
        trace->pools[trace->pool_count++] = pool;
    if (trace->recorder)
        put_pool(trace->recorder, &pool);
    masu__lock_release(&trace->lock);
}

uint32_t masu_trace_add_pool(masu_trace *trace, const char *layer, const char *name, uint32_t below) {
    uint32_t number = masu__trace_new_pool();
    masu__trace_know_pool(trace, number, layer ? layer : "", name, below);
    return number;
}

void masu_trace_put(masu_trace *trace, const masu_event *event) {
    if (trace && event && masu__trace_wanted(trace))
        masu__trace_emit(trace, *event);
}

static void put_mark(masu_trace *trace, masu_event event, const char *name) {
    if (trace && masu__trace_wanted(trace))
        masu__trace_emit_more(trace, event, (masu__event_more){.text = name});
}

void masu_trace_begin(masu_trace *trace, masu_mark mark, const char *name) {
    put_mark(trace, (masu_event){.kind = MASU_EVENT_BEGIN, .owner = mark}, name);
}

void masu_trace_end(masu_trace *trace, masu_mark mark, const char *name) {
    put_mark(trace, (masu_event){.kind = MASU_EVENT_END, .owner = mark}, name);
}

void masu_trace_mark(masu_trace *trace, masu_mark mark, const char *name, uint64_t bytes, uint64_t block_bytes) {
    put_mark(trace, (masu_event){.kind = MASU_EVENT_MARK, .owner = mark, .bytes = bytes, .block_bytes = block_bytes},
             name);
}
