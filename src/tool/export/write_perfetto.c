/* write_perfetto.c: a recording as a trace of Perfetto (ui.perfetto.dev): for each device what is live, given and
 * reserved as counters, what the program said of itself as slices, and refused requests as instants with their stack.
 *
 *     track 1 + 4 d     device d: its name, over its counters and slices
 *           2, 3, 4     live as asked for, given, reserved
 *
 * A file is a sequence of packets, and so may be written one packet after the other.
 */
#include "tool/export/export.h"

#include <string.h>

#include <perfetto.pb-c.h>

enum { PARENT = 1, LIVE = 2, GIVEN = 3, RESERVED = 4, TRACKS = 4, MOST_PLACES = 32, SEQUENCE = 1 };

typedef struct packer {
    const export_input *in;
    FILE *out;
    masu__buffer bytes; /* of the packet being written */
    int64_t *values;    /* live, given, reserved of each device */
    uint64_t time_ns;
} packer;

/* protobuf-c's buffer over ours. */
typedef struct sink {
    ProtobufCBuffer base;
    masu__buffer *to;
} sink;

static void append(ProtobufCBuffer *buffer, size_t length, const uint8_t *data) {
    masu__buffer_append(((sink *)(void *)buffer)->to, (const char *)data, length);
}

static void write_packet(packer *p, Masu__Perfetto__TracePacket *packet) {
    Masu__Perfetto__Trace trace = MASU__PERFETTO__TRACE__INIT;
    sink to = {{append}, &p->bytes};
    packet->has_timestamp = true;
    packet->timestamp = p->time_ns;
    packet->has_trusted_packet_sequence_id = true;
    packet->trusted_packet_sequence_id = SEQUENCE;
    trace.n_packet = 1;
    trace.packet = &packet;
    masu__buffer_truncate(&p->bytes, 0);
    masu__perfetto__trace__pack_to_buffer(&trace, &to.base);
    fwrite(masu__buffer_text(&p->bytes), 1, p->bytes.length, p->out);
}

static uint64_t track_of(uint16_t device, unsigned which) {
    return (uint64_t)TRACKS * device + which;
}

static void describe(packer *p, uint16_t device, unsigned which, const char *name) {
    Masu__Perfetto__TracePacket packet = MASU__PERFETTO__TRACE_PACKET__INIT;
    Masu__Perfetto__TrackDescriptor track = MASU__PERFETTO__TRACK_DESCRIPTOR__INIT;
    Masu__Perfetto__CounterDescriptor counter = MASU__PERFETTO__COUNTER_DESCRIPTOR__INIT;
    track.has_uuid = true;
    track.uuid = track_of(device, which);
    track.name = (char *)name;
    if (which != PARENT) {
        track.has_parent_uuid = true;
        track.parent_uuid = track_of(device, PARENT);
        counter.has_unit = true;
        counter.unit = MASU__PERFETTO__COUNTER_DESCRIPTOR__UNIT__UNIT_SIZE_BYTES;
        track.counter = &counter;
    }
    packet.track_descriptor = &track;
    write_packet(p, &packet);
}

static void count(packer *p, uint16_t device, unsigned which, int64_t change) {
    Masu__Perfetto__TracePacket packet = MASU__PERFETTO__TRACE_PACKET__INIT;
    Masu__Perfetto__TrackEvent event = MASU__PERFETTO__TRACK_EVENT__INIT;
    int64_t *value = &p->values[track_of(device, which) - 1];
    *value += change;
    event.has_type = event.has_track_uuid = event.has_counter_value = true;
    event.type = MASU__PERFETTO__TRACK_EVENT__TYPE__TYPE_COUNTER;
    event.track_uuid = track_of(device, which);
    event.counter_value = *value;
    packet.track_event = &event;
    write_packet(p, &packet);
}

static void mark(packer *p, const masu__recorded_event *e) {
    const masu__recording *r = p->in->recording;
    Masu__Perfetto__TracePacket packet = MASU__PERFETTO__TRACE_PACKET__INIT;
    Masu__Perfetto__TrackEvent event = MASU__PERFETTO__TRACK_EVENT__INIT;
    Masu__Perfetto__DebugAnnotation bytes = MASU__PERFETTO__DEBUG_ANNOTATION__INIT;
    Masu__Perfetto__DebugAnnotation stack = MASU__PERFETTO__DEBUG_ANNOTATION__INIT;
    Masu__Perfetto__DebugAnnotation *both[] = {&bytes, &stack};
    masu__buffer places = {0};
    const char *text = masu__recording_text(r, e->text);
    event.has_type = event.has_track_uuid = true;
    event.track_uuid = track_of(e->device, PARENT);
    event.type = e->kind == MASU__RECORDED_BEGIN ? MASU__PERFETTO__TRACK_EVENT__TYPE__TYPE_SLICE_BEGIN
                 : e->kind == MASU__RECORDED_END ? MASU__PERFETTO__TRACK_EVENT__TYPE__TYPE_SLICE_END
                                                 : MASU__PERFETTO__TRACK_EVENT__TYPE__TYPE_INSTANT;
    if (e->kind != MASU__RECORDED_END)
        event.name = (char *)(e->kind == MASU__RECORDED_REFUSED ? "refused" : *text ? text : "mark");
    if (e->kind == MASU__RECORDED_REFUSED) {
        export_put_stack(&places, r, e->place, MOST_PLACES);
        bytes.name = (char *)"bytes";
        bytes.has_uint_value = true;
        bytes.uint_value = e->bytes;
        stack.name = (char *)"stack";
        stack.string_value = (char *)masu__buffer_text(&places);
        event.n_debug_annotations = 2;
        event.debug_annotations = both;
    }
    packet.track_event = &event;
    write_packet(p, &packet);
    p->bytes.failed |= places.failed;
    masu__buffer_destroy(&places);
}

/* Memory that is taken from the device: whole segments, or what is mapped into or made for those that can expand. */
static int64_t reserved_by(const masu__recording *r, const masu__recorded_event *e) {
    bool from_device = r->pools[e->pool].below == 0;
    int64_t bytes = (int64_t)e->given_bytes;
    switch (e->kind) {
    case MASU__RECORDED_SEGMENT_ADD:
        return from_device && !(e->flags & MASU__RECORDED_EXPANDABLE) ? bytes : 0;
    case MASU__RECORDED_SEGMENT_DROP:
        return from_device && !(e->flags & MASU__RECORDED_EXPANDABLE) ? -bytes : 0;
    case MASU__RECORDED_MEMORY_ADD:
        return bytes;
    case MASU__RECORDED_MEMORY_DROP:
        return -bytes;
    case MASU__RECORDED_MAP:
        return e->other ? 0 : bytes; /* numbered memory was counted when it was added */
    case MASU__RECORDED_UNMAP:
        return e->other ? 0 : -bytes;
    default:
        return 0;
    }
}

static void put_event(packer *p, size_t i) {
    const masu__recording *r = p->in->recording;
    const masu__recorded_event *e = &r->events[i];
    uint32_t of = p->in->lives.of[i];
    int64_t reserved = reserved_by(r, e);
    p->time_ns = e->time_ns;
    if (reserved)
        count(p, e->device, RESERVED, reserved);
    if (e->flags & MASU__RECORDED_INNER)
        return;
    if (e->kind == MASU__RECORDED_ALLOC) {
        count(p, e->device, LIVE, (int64_t)e->bytes);
        count(p, e->device, GIVEN, (int64_t)e->given_bytes);
    } else if (e->kind == MASU__RECORDED_FREE && of != MASU__LIVES_NONE) {
        count(p, e->device, LIVE, -(int64_t)r->events[of].bytes);
        count(p, e->device, GIVEN, -(int64_t)r->events[of].given_bytes);
    } else if (e->kind >= MASU__RECORDED_BEGIN || e->kind == MASU__RECORDED_REFUSED) {
        mark(p, e);
    }
}

bool export_perfetto(const export_input *in, FILE *out) {
    const masu__recording *r = in->recording;
    packer p = {.in = in, .out = out};
    masu__arena arena = {0};
    p.values = masu__arena_calloc(&arena, (size_t)TRACKS * (r->device_count + 1), sizeof *p.values, sizeof *p.values);
    if (p.values) {
        for (unsigned d = 0; d < r->device_count; d++) {
            bool used = false;
            for (size_t i = 0; i < r->event_count && !used; i++)
                used = r->events[i].device == d;
            const char *name = masu__recording_text(r, r->devices[d].name);
            if (!used)
                continue;
            describe(&p, (uint16_t)d, PARENT, *name ? name : "memory");
            describe(&p, (uint16_t)d, LIVE, "live, as asked for");
            describe(&p, (uint16_t)d, GIVEN, "given");
            describe(&p, (uint16_t)d, RESERVED, "reserved");
        }
        for (size_t i = 0; i < r->event_count && !p.bytes.failed; i++)
            put_event(&p, i);
    }
    bool whole = p.values && !p.bytes.failed;
    masu__buffer_destroy(&p.bytes);
    masu__arena_destroy(&arena);
    return whole;
}
