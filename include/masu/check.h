/* check.h: the judge. It reads the event stream and believes no pool.
 *
 * From the events alone it derives again, by the slow and obvious way (every block against every
 * other), what a pool claims about itself. One verdict for each way of being wrong, so that a
 * test can demand each of them.
 *
 * Thread safety: one thread at a time. Cost: O(live blocks) an event.
 */
#ifndef MASU_CHECK_H
#define MASU_CHECK_H

#include <stddef.h>
#include <stdint.h>

#include <masu/export.h>
#include <masu/status.h>
#include <masu/trace.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum masu_verdict {
    MASU_VERDICT_FINE,
    MASU_VERDICT_SEQUENCE,         /* an event is missing or repeated */
    MASU_VERDICT_KIND,             /* unknown kind of event */
    MASU_VERDICT_EMPTY,            /* a block or extent of no bytes, or one that wraps round */
    MASU_VERDICT_EXTENT_OVERLAP,   /* an extent lies over another of the same pool */
    MASU_VERDICT_EXTENT_UNKNOWN,   /* a part that is not the pool's is dropped */
    MASU_VERDICT_EXTENT_IN_USE,    /* memory is dropped under a live block */
    MASU_VERDICT_OUTSIDE,          /* a block lies outside the pool's extents, or across two of them */
    MASU_VERDICT_OVERLAP,          /* two live blocks share a byte */
    MASU_VERDICT_MISALIGNED,       /* address is not a multiple of what was promised */
    MASU_VERDICT_SHORT,            /* the pool spent less than was asked for */
    MASU_VERDICT_FREE_UNKNOWN,     /* a free of what was never allocated, or is free already */
    MASU_VERDICT_FREE_SIZE,        /* a free of another size than was allocated */
    MASU_VERDICT_PIECE_TWICE,      /* a piece is added again, or mapped while it is mapped */
    MASU_VERDICT_PIECE_UNKNOWN,    /* no such piece, or of another size, or not mapped there */
    MASU_VERDICT_PIECE_IN_USE,     /* a piece is dropped while it is mapped */
    MASU_VERDICT_MAP_OVERLAP,      /* two pieces at one address */
    MASU_VERDICT_UNBACKED,         /* bytes of a live block have no memory behind them */
    MASU_VERDICT_CLAIM_LIVE_BYTES, /* the pool's own statistics differ from what the events say: */
    MASU_VERDICT_CLAIM_LIVE_BLOCKS,
    MASU_VERDICT_CLAIM_PEAK,
    MASU_VERDICT_CLAIM_RESERVED,
    MASU_VERDICT_CLAIM_ALLOCATIONS,
    MASU_VERDICT_CLAIM_FREES,
    MASU_VERDICT_NO_MEMORY, /* the judge itself has none left; nothing is said about the pool */
    MASU_VERDICT_COUNT
} masu_verdict;

typedef struct masu_check masu_check;

/* Counters of one pool, from its events. Bytes as requested, extents in reserved_bytes. */
typedef struct masu_check_totals {
    uint64_t allocations;
    uint64_t frees;
    uint64_t live_blocks;
    uint64_t live_bytes;
    uint64_t peak_bytes;
    uint64_t reserved_bytes;
} masu_check_totals;

MASU_API masu_status masu_check_create(masu_check **out);
MASU_API void masu_check_destroy(masu_check *check);

/* Judges the next event. After the first verdict that is not fine, the same verdict is returned
 * for ever. */
MASU_API masu_verdict masu_check_event(masu_check *check, const masu_event *event);

/* The same in the shape of a trace sink: give it as sink, the judge as sink_context, ask
 * masu_check_verdict. */
MASU_API void masu_check_sink(void *check, const masu_event *event);

MASU_API masu_verdict masu_check_verdict(const masu_check *check);
/* The event that the verdict is about; sequence UINT64_MAX while all is fine. */
MASU_API masu_event masu_check_culprit(const masu_check *check);

/* All zero for a pool that no event has named. */
MASU_API void masu_check_get_totals(const masu_check *check, uint32_t pool, masu_check_totals *out);

/* Compares what a pool claims with what the events said. Does not stick. */
MASU_API masu_verdict masu_check_claim(const masu_check *check, uint32_t pool, const masu_check_totals *claimed);

/* "overlap", …: static text. */
MASU_API const char *masu_verdict_name(masu_verdict verdict);

#ifdef __cplusplus
}
#endif

#endif
