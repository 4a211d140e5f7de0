/* facts.h: what is said of a recording, by every form of `masu report`: computed once, printed by report_text.c,
 * report_json.c and report_html.c, so that they cannot disagree.
 *
 *     spans    stretches of a block's life: a resize or a move ends one and begins the next
 *     lines    where blocks were born: the place in the user's own source, or the pool where no place is known
 *     moments  samples over the whole run, the peak among them
 *
 * What must stay true:
 *     live at a moment = sum over lines = sum over pools
 *     given >= live
 *     a request is an ALLOC that is not a segment of a pool above
 */
#ifndef MASU_TOOL_REPORT_FACTS_H
#define MASU_TOOL_REPORT_FACTS_H

#include "recording/recording.h"

enum { REPORT_MOMENTS = 400, REPORT_SIZES = 64, REPORT_QUARTERS = 5, REPORT_REFUSALS = 16 };

typedef struct report_span {
    uint64_t address, bytes, given_bytes;
    uint32_t begin, end; /* events; end = event_count: until the end */
    uint32_t alloc;      /* the ALLOC of its block */
    uint32_t pool, line;
    uint16_t device;
    bool is_inner; /* a segment of a pool above */
    bool is_moved; /* lay elsewhere before */
} report_span;

typedef struct report_segment {
    uint64_t address, bytes;
    uint32_t begin, end;
    uint32_t pool;
    uint16_t device;
    bool is_mapping; /* memory at addresses that were reserved before */
} report_segment;

typedef struct report_line {
    uint32_t file, function, line; /* file and function are strings; line 0: not known */
    uint32_t pool;                 /* where no place is known; else 0 */
    uint32_t place;                /* of the first block: a whole stack */
    uint64_t allocations, total_bytes, live_bytes, live_blocks;
    uint64_t most_bytes;                     /* ever alive of this line */
    uint64_t peak_bytes, peak_blocks;        /* at the peak of all */
    uint64_t end_bytes, end_blocks;          /* at the end */
    uint64_t quarter_bytes[REPORT_QUARTERS]; /* alive after 1/5, 2/5, … of the events */
    bool grows;                              /* in every one of those more than before */
    uint32_t chain;                          /* of facts.c: the next line of the same hash, plus one */
} report_line;

typedef struct report_pool {
    uint64_t requests, live_bytes, most_bytes, peak_bytes, asked_bytes,
        given_bytes; /* asked, given: sums over the run */
    uint64_t segments, reserved_bytes;
    bool has_memory_events, has_segments;
} report_pool;

typedef struct report_moment {
    uint32_t event;
    uint64_t time_ns, live_bytes, given_bytes, reserved_bytes, free_bytes, largest_hole_bytes;
    uint64_t holes;
} report_moment;

typedef struct report_refusal {
    uint32_t event, line;
    uint64_t bytes;
    report_moment then; /* with the holes at that moment */
    uint64_t blocks;    /* alive then */
    uint32_t most_line; /* whose blocks were most of them; nothing is said of it where blocks is 0 */
    uint64_t most_blocks;
} report_refusal;

typedef struct report_facts {
    const masu__recording *recording; /* borrowed */
    const char *path;                 /* of the file, borrowed */
    report_span *spans;
    report_segment *segments;
    report_line *lines;
    report_pool *pools; /* as many as the recording has */
    size_t span_count, span_capacity, segment_count, segment_capacity, line_count, line_capacity;
    report_moment moments[REPORT_MOMENTS + 1]; /* in order; one of them is the peak */
    size_t moment_count, peak_moment;
    report_refusal refusals[REPORT_REFUSALS];
    size_t refusal_count, refusals_left_out;
    uint64_t requests, frees, resizes, moves, refused, steps, graphs;
    uint64_t known; /* of requests, those to pools whose segments are in the recording */
    uint64_t hits;  /* of those, the ones since whose predecessor no memory was taken from a device */
    uint64_t asked_bytes, given_bytes; /* over the run */
    uint64_t peak_bytes, peak_given_bytes, peak_reserved_bytes, most_reserved_bytes;
    uint64_t live_bytes, live_blocks, peak_blocks; /* at the end; at the peak */
    uint32_t peak_event, peak_step;
    uint64_t strays, doubled;
    uint64_t size_requests[REPORT_SIZES], size_bytes[REPORT_SIZES], size_given[REPORT_SIZES]; /* by the logarithm */
    uint32_t *by_peak; /* lines in the order of what they had at the peak; line_count */
    uint32_t *by_end;  /* of what they have at the end */
} report_facts;

/* MASU_ERR_OUT_OF_MEMORY: *out is empty. The recording must outlive it. O(events log events). */
masu_status report_find_facts(const masu__recording *recording, const char *path, report_facts *out);
void report_destroy_facts(report_facts *facts);

/* Whether the refusal at `now` is the one before it, said once more: what the pool below refuses the pool above does,
 * too, and a heap asks once more after it has given back what it could. */
bool report_is_again(const masu__recording *recording, size_t now);

/* holes.c: what is free inside segments at each moment. */
masu_status report_find_holes(report_facts *facts);

/* "step (net.tl:12)", "net.tl:12", "tensors (bucket)": appended. */
struct masu__buffer;
void report_put_line_name(struct masu__buffer *out, const report_facts *facts, const report_line *line);
void report_put_pool_name(struct masu__buffer *out, const report_facts *facts, uint32_t pool);
/* The last part of a path. */
const char *report_file_name(const char *path);
/* Only segments of other pools came from there: nothing to show. */
static inline bool report_is_empty(const report_line *line) {
    return line->allocations == 0 && line->most_bytes == 0 && line->live_blocks == 0;
}
/* Parts of a whole in percent, 0 for nothing of nothing. */
double report_percent(uint64_t part, uint64_t whole);

#endif
