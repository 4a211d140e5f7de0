/* moves.h: values in several memories, which may move between them during their life.
 *
 * Operators run at moments 0, 1, 2, …; each reads and writes rows. A row has one place, or two at once, each a range of
 * one memory for a range of moments. An operator reads the cheapest valid one; what it writes goes to the only one. A
 * move copies a row to a new place while operators run: the channel carries so many bytes beside each of them, one move
 * after the other, in the plan's order.
 *
 *     fast │ aaaaaaaa             aaaa      a is made in fast, evicted, and fetched before its last reader;
 *          │     bbbbbbbbbbbbbbbbb          b needs the room meanwhile
 *     slow │      ▲aaaaaaaaaaaaaa▼          ▲ ▼ moves: the old place and the new one are both held until they end
 *          └───────────────────────► moments
 *
 *     cost = Σ uses: bytes × cost of the memory  +  Σ moves: bytes × (cost of both memories, or move_cost)
 *
 * Rows may be made in place: the operator that reads the last of a row (the giver) writes its result (the taker) over
 * it. The taker then begins where the giver ends, in one memory at one offset, and the bytes are held once.
 *
 * With cost 0 for the fast memory and 1 for the slow one that is the traffic of the slow one, in bytes. No plan costs
 * less than lower_bound: where the plan costs as much, it is optimal.
 *
 * Deterministic as long as no time limit ends the work early. Thread safety: any thread, no shared state; a problem is
 * only read.
 */
#ifndef MASU_MOVES_H
#define MASU_MOVES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <masu/export.h>
#include <masu/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- the problem ----------------------------------------------------------------------------- */

#define MASU_MOVES_ANY SIZE_MAX /* no memory is asked for */

enum { MASU_MOVES_MOST_MEMORIES = 16, MASU_MOVES_MOST_COST = 1 << 20 };

typedef struct masu_moves_memory {
    uint64_t capacity_bytes; /* 0: without limit */
    uint64_t cost;           /* of a byte that is read or written there; at most MASU_MOVES_MOST_COST */
} masu_moves_memory;

typedef struct masu_moves_row {
    uint64_t size_bytes;      /* above 0 */
    uint64_t alignment_bytes; /* of its offset in each memory, a power of two; 0 means 1 */
    size_t lower, upper;      /* moments of its life, half-open: lower < upper <= moment_count */
    size_t only;              /* the memory in which it stays; MASU_MOVES_ANY: none is asked for */
    size_t home;              /* the memory in which it lies when its life begins; MASU_MOVES_ANY: the plan chooses */
    bool is_fixed;            /* with `only`: at fixed_offset, a multiple of the alignment */
    uint64_t fixed_offset;
} masu_moves_row;

/* A use of all bytes of a row by an operator; a row's first moment may write it, too. */
typedef struct masu_moves_use {
    size_t row, moment;     /* within the row's life */
    uint32_t reads, writes; /* how often */
} masu_moves_use;

/* The taker may take over the bytes of the giver, which is as large and lives when the taker is born; neither is fixed,
 * and the taker has no home. In place: the giver's last moment is the taker's first, and each byte is read before it is
 * written. A view is the same bytes under another name: one read of the giver and one write of the taker then fall
 * away, and both may live on; neither is written after its first moment. A giver that may take over itself is born
 * before its taker. */
typedef struct masu_moves_share {
    size_t giver, taker;
    bool is_view;
} masu_moves_share;

/* Everything is borrowed and only read. Zero-initialise. */
typedef struct masu_moves_problem {
    const masu_moves_row *rows;
    size_t count;
    const masu_moves_use *uses; /* in any order */
    size_t use_count;
    const masu_moves_memory *memories; /* at least one */
    size_t memory_count;
    size_t moment_count;
    /* per moment: what the channel carries beside this operator; NULL: any number of bytes */
    const uint64_t *channel_bytes;
    bool has_move_cost;             /* a byte that is moved costs move_cost; otherwise what both memories cost */
    uint64_t move_cost;             /* at most MASU_MOVES_MOST_COST */
    bool stays;                     /* each row has one place for its life */
    const masu_moves_share *shares; /* what may be done in place; the plan chooses */
    size_t share_count;
} masu_moves_problem;

/* ---- the plan -------------------------------------------------------------------------------- */

typedef struct masu_moves_place {
    size_t row, memory;
    size_t lower, upper; /* moments in which its bytes are held; a move into it begins at lower */
    uint64_t offset;
} masu_moves_place;

/* The bytes are copied while operators begin … end - 1 run; they can be used from `end` on. */
typedef struct masu_moves_move {
    size_t from, to; /* places */
    size_t begin, end;
} masu_moves_move;

typedef enum masu_moves_outcome {
    MASU_MOVES_OPTIMAL,    /* the cost is the bound */
    MASU_MOVES_FEASIBLE,   /* a plan; a cheaper one is not ruled out */
    MASU_MOVES_INFEASIBLE, /* proven: the memories cannot hold the rows */
    MASU_MOVES_UNKNOWN,    /* no plan was found, and none is ruled out */
} masu_moves_outcome;

/* Filled by the library: masu_moves_free. */
typedef struct masu_moves_plan {
    masu_moves_place *places; /* by row, then lower */
    size_t place_count;
    masu_moves_move *moves; /* in the order in which the channel carries them */
    size_t move_count;
    bool *shared; /* per share: the taker took over; NULL where the problem has none */
    size_t share_count;
    masu_moves_outcome outcome;
    uint64_t cost, lower_bound;
    uint64_t greedy_cost;                       /* of the greedy method alone; UINT64_MAX: it has no plan */
    uint64_t heights[MASU_MOVES_MOST_MEMORIES]; /* the end of the highest place of each memory */
    uint64_t attempts;                          /* rows taken out and laid again */
    double seconds;                             /* wall clock */
} masu_moves_plan;

typedef struct masu_moves_options {
    double time_limit_s; /* wall clock; 0: none */
    uint64_t rounds;     /* of the search; 0: as many as suit the size */
    uint64_t seed;
    bool greedy; /* only the greedy method: rows by traffic, use after use, as XLA assigns memory spaces */
} masu_moves_options;

/* Ten seconds, seed 0. */
MASU_API masu_moves_options masu_moves_options_default(void);

typedef enum masu_moves_mistake {
    MASU_MOVES_RIGHT,
    MASU_MOVES_BAD_MEMORY, /* none, too many, or a cost too high: `where` is a memory */
    MASU_MOVES_BAD_ROW,    /* no size, a bad life or alignment, no such memory, or fixed without one */
    MASU_MOVES_BAD_USE,    /* of a row that is not there, outside of its life, or none at all: `where` is a use */
    MASU_MOVES_TOO_LARGE,  /* sizes, uses or costs add up beyond 2^62, or more than 2^30 moments, rows or uses */
    MASU_MOVES_BAD_SHARE,  /* not as masu_moves_share says: `where` is a share */
} masu_moves_mistake;

/* The first fault, and its place (may be NULL). O(rows + uses). */
MASU_API masu_moves_mistake masu_moves_validate(const masu_moves_problem *problem, size_t *where);

/* Fills *plan. options may be NULL. MASU_ERR_INVALID_ARGUMENT (see masu_moves_validate), MASU_ERR_OUT_OF_MEMORY: *plan
 * holds nothing then. Cost: O(moments of all lives × pairs of memories) a round. */
MASU_API masu_status masu_moves_find(const masu_moves_problem *problem, const masu_moves_options *options,
                                     masu_moves_plan *plan);

/* Gives back what a plan holds; a zeroed one is fine. */
MASU_API void masu_moves_free(masu_moves_plan *plan);

/* Traffic of each memory: bytes that operators read and write there, and that moves do. from_operators and from_moves
 * have room for memory_count. */
MASU_API void masu_moves_traffic(const masu_moves_problem *problem, const masu_moves_plan *plan,
                                 uint64_t *from_operators, uint64_t *from_moves);

/* ---- the judge ------------------------------------------------------------------------------- */

typedef enum masu_moves_verdict {
    MASU_MOVES_FINE,
    MASU_MOVES_NOWHERE,    /* a row has no valid place at a moment of its life */
    MASU_MOVES_OUTSIDE,    /* a place ends above the capacity, or lies outside of the row's life */
    MASU_MOVES_MISALIGNED, /* an offset is not a multiple of the row's alignment */
    MASU_MOVES_ELSEWHERE,  /* a row is not where `only`, `home` or its fixed offset say */
    MASU_MOVES_BAD_MOVE,   /* a move's places are not of one row, or not held while it lasts, or it lasts no moment */
    MASU_MOVES_LATE,       /* the channel cannot carry a move in its moments */
    MASU_MOVES_CROWDED,    /* a row has more than two places at once, or two when it is written */
    MASU_MOVES_CLOBBERED,  /* an operator or a move reads bytes that are not the row's, or two rows hold one byte */
    MASU_MOVES_WRONG_COST, /* the plan says another cost than it has */
    MASU_MOVES_BAD_TAKING, /* a taker is not where its giver is, or bytes that are needed are written over */
} masu_moves_verdict;

/* The judge: it has the memories' bytes before it (one for each unit that all offsets and sizes are multiples of), lets
 * operators write and read them and carries out the moves. It shares no code with the planner. *row (may be NULL):
 * which one. MASU_ERR_OVERFLOW: more than 2^28 units; MASU_ERR_OUT_OF_MEMORY. O(units that operators and moves touch +
 * moments × places). */
MASU_API masu_status masu_moves_check(const masu_moves_problem *problem, const masu_moves_plan *plan,
                                      masu_moves_verdict *verdict, size_t *row);

/* "CLOBBERED" and so on; static text. */
MASU_API const char *masu_moves_verdict_name(masu_moves_verdict verdict);

#ifdef __cplusplus
}
#endif

#endif
