/* streams.c: queues of work of the simulated driver, done at the latest possible moment. */
#include <stdlib.h>
#include <string.h>

#include "fake_cuda/state.h"

/* records: recording again replaces what was recorded before, also what has not come yet */
typedef struct event {
    bool recorded, done;
    int records;
} event;

typedef enum work_kind { FILL, COPY, SIGNAL, WAIT } work_kind;

typedef struct work {
    work_kind kind;
    address to, from;
    size_t bytes;
    int value;
    event *event;
} work;

typedef struct stream {
    work *items;
    size_t count, capacity;
    uint64_t id;
    int device;
    bool used;
} stream;

static stream streams[256]; /* [0]: the default stream */
static uint64_t stream_ids;

void streams_count(fake_cuda_report *out) {
    for (size_t i = 1; i < sizeof streams / sizeof *streams; i++)
        out->streams += streams[i].used;
}

bool work_touches(address at, size_t bytes) {
    for (size_t s = 0; s < sizeof streams / sizeof *streams; s++)
        for (size_t i = 0; i < streams[s].count; i++) {
            const work *w = &streams[s].items[i];
            if ((w->kind == FILL || w->kind == COPY) &&
                (touches(w->to, w->bytes, at, bytes) || (w->kind == COPY && touches(w->from, w->bytes, at, bytes))))
                return true;
        }
    return false;
}

static stream *stream_of(void *s) {
    return s ? (stream *)s : &streams[0];
}

static void run_stream(stream *s);

static void do_work(const work *w) {
    if (w->kind == FILL)
        memset((void *)w->to, w->value, w->bytes);
    else if (w->kind == COPY)
        memmove((void *)w->to, (void *)w->from, w->bytes);
    else if (w->kind == SIGNAL)
        w->event->done |= w->event->records == w->value;
    else if (!w->event->done) /* the stream it was recorded on must come first */
        for (size_t s = 0; s < sizeof streams / sizeof *streams && !w->event->done; s++)
            for (size_t i = 0; i < streams[s].count; i++)
                if (streams[s].items[i].kind == SIGNAL && streams[s].items[i].event == w->event &&
                    streams[s].items[i].value == w->event->records) {
                    run_stream(&streams[s]);
                    break;
                }
}

static void run_stream(stream *s) {
    work *items = s->items;
    size_t count = s->count, capacity = s->capacity;
    s->items = NULL; /* work that waits for another stream may come back here */
    s->count = s->capacity = 0;
    for (size_t i = 0; i < count; i++)
        do_work(&items[i]);
    if (s->items == NULL) {
        s->items = items;
        s->capacity = capacity;
    } else {
        free(items);
    }
}

void run_all(void) {
    for (size_t s = 0; s < sizeof streams / sizeof *streams; s++)
        run_stream(&streams[s]);
}

static int queue(stream *s, work w) {
    if (s->count == s->capacity) {
        size_t capacity = s->capacity ? 2 * s->capacity : 16;
        work *items = realloc(s->items, capacity * sizeof *items);
        if (!items)
            return OUT_OF_MEMORY;
        s->items = items;
        s->capacity = capacity;
    }
    s->items[s->count++] = w;
    return OK;
}

API void fake_cuda_run(void *s) {
    if (enter_call("fake_cuda_run") == OK)
        run_stream(stream_of(s));
    leave_call(OK);
}

API int cuStreamCreate(void **out, unsigned flags) {
    (void)flags;
    ENTER("cuStreamCreate");
    for (size_t i = 1; i < sizeof streams / sizeof *streams; i++)
        if (!streams[i].used) {
            streams[i] = (stream){.used = true, .id = ++stream_ids};
            *out = &streams[i];
            return leave_call(OK);
        }
    return leave_call(OUT_OF_MEMORY);
}

API int cuStreamDestroy_v2(void *s) {
    ENTER("cuStreamDestroy_v2");
    run_stream(stream_of(s));
    free(stream_of(s)->items);
    *stream_of(s) = (stream){0};
    return leave_call(OK);
}

API int cuStreamGetId(void *s, unsigned long long *id) {
    ENTER("cuStreamGetId");
    *id = stream_of(s)->id;
    return leave_call(OK);
}

API int cuStreamSynchronize(void *s) {
    ENTER("cuStreamSynchronize");
    run_stream(stream_of(s));
    return leave_call(OK);
}

API int cuCtxSynchronize(void) {
    ENTER("cuCtxSynchronize");
    run_all();
    return leave_call(OK);
}

API int cuEventCreate(void **out, unsigned flags) {
    (void)flags;
    ENTER("cuEventCreate");
    event *e = calloc(1, sizeof *e);
    if (!e)
        return leave_call(OUT_OF_MEMORY);
    report.events++;
    *out = e;
    return leave_call(OK);
}

API int cuEventDestroy_v2(void *e) {
    ENTER("cuEventDestroy_v2");
    for (size_t s = 0; s < sizeof streams / sizeof *streams; s++)
        for (size_t i = 0; i < streams[s].count; i++)
            if (streams[s].items[i].event == e)
                run_stream(&streams[s]);
    free(e);
    report.events--;
    return leave_call(OK);
}

API int cuEventRecord(void *e, void *s) {
    ENTER("cuEventRecord");
    event *marked = e;
    marked->recorded = true;
    marked->done = false;
    marked->records++;
    return leave_call(queue(stream_of(s), (work){.kind = SIGNAL, .event = e, .value = marked->records}));
}

API int cuEventQuery(void *e) {
    ENTER("cuEventQuery");
    const event *asked = e;
    return leave_call(asked->recorded && !asked->done ? NOT_READY : OK);
}

API int cuEventSynchronize(void *e) {
    ENTER("cuEventSynchronize");
    do_work(&(work){.kind = WAIT, .event = e});
    return leave_call(OK);
}

API int cuStreamWaitEvent(void *s, void *e, unsigned flags) {
    (void)flags;
    ENTER("cuStreamWaitEvent");
    return leave_call(queue(stream_of(s), (work){.kind = WAIT, .event = e}));
}

API int cuMemsetD8Async(address to, unsigned char value, size_t bytes, void *s) {
    ENTER("cuMemsetD8Async");
    return leave_call(queue(stream_of(s), (work){FILL, to, 0, bytes, value, NULL}));
}

API int cuMemcpyAsync(address to, address from, size_t bytes, void *s) {
    ENTER("cuMemcpyAsync");
    return leave_call(queue(stream_of(s), (work){COPY, to, from, bytes, 0, NULL}));
}

/* Waits for everything, as the default stream does. */
API int cuMemcpy(address to, address from, size_t bytes) {
    ENTER("cuMemcpy");
    run_all();
    memmove((void *)to, (void *)from, bytes);
    return leave_call(OK);
}

API int cuMemsetD8_v2(address to, unsigned char value, size_t bytes) {
    ENTER("cuMemsetD8_v2");
    run_all();
    memset((void *)to, value, bytes);
    return leave_call(OK);
}
