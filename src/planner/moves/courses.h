/* courses.h: what the files of the moves share.
 *
 * A row's course is where it is through its life: stays, one after the other or two at once, each but the first begun
 * by a move from another. All methods are about which course each row has; they see each other through loads and the
 * channel.
 *
 *     prices.c     rows apart, memory at a price: the bound         greedy.c   row after row, use after use: a baseline
 *     course.c     the cheapest course for one row, given the rest  improve.c  rows out, rows in again
 *     frontier.c   all rows, moment after moment                    exhaust.c  all courses that may still be cheaper
 *     settle.c     offsets                                          moment.c   what one operator costs at least
 *     share.c      rows made in place: which, and all of the above for the rows that they become
 *
 * States are sets of one or two memories; a course is a path through (moment, state).
 */
#ifndef MASU_PLANNER_MOVES_COURSES_H
#define MASU_PLANNER_MOVES_COURSES_H

#include <masu/moves.h>

#include "base/arena.h"
#include "base/rng.h"

enum {
    MASU__MOVES_MOST_STATES = MASU_MOVES_MOST_MEMORIES * (MASU_MOVES_MOST_MEMORIES + 1) / 2,
    MASU__MOVES_PRICE_ONE = 1 << 12, /* prices are in parts of a cost of 1 */
    MASU__MOVES_NONE = 0xff,
};

/* Per byte, in parts; no sum of a life comes near. */
#define MASU__MOVES_NEVER ((int64_t)1 << 60)

typedef struct masu__stay {
    uint32_t lower, upper; /* held */
    uint32_t begin, end;   /* the move into it; begin == end: there is none */
    uint32_t from;         /* the stay that is copied */
    uint8_t memory;
} masu__stay;

typedef struct masu__course {
    masu__stay *stays;
    uint32_t count, room;
    int64_t cost; /* per byte, in parts, without prices; MASU__MOVES_NEVER: there is none */
} masu__course;

/* A stretch of the channel's time, counted in bytes, that one move has. */
typedef struct masu__busy {
    int64_t from, to;
    uint32_t row, stay;
} masu__busy;

typedef struct masu__state {
    uint8_t memory[2]; /* ascending; [1] MASU__MOVES_NONE: one */
    uint8_t cheapest;
    uint8_t without[2]; /* the state without memory[k]; MASU__MOVES_NONE: none is left */
} masu__state;

typedef struct masu__step { /* how a path goes on */
    uint32_t next;          /* moment */
    uint8_t state;          /* there */
    uint8_t from, to;       /* a move, or MASU__MOVES_NONE */
} masu__step;

/* A moment at which a row has one place though nothing writes it. */
typedef struct masu__moves_alone {
    size_t row, moment;
} masu__moves_alone;

typedef struct masu__moves {
    const masu_moves_problem *problem;
    const masu_moves_options *options;
    uint32_t moments;
    uint8_t memory_count, state_count;
    bool stays; /* as the problem says, or for a while, to see what is had without moves */
    masu__state states[MASU__MOVES_MOST_STATES];
    uint8_t state_of[MASU_MOVES_MOST_MEMORIES][MASU_MOVES_MOST_MEMORIES];
    int64_t cost[MASU_MOVES_MOST_MEMORIES];  /* of a byte, in parts */
    int64_t limit[MASU_MOVES_MOST_MEMORIES]; /* bytes that may be held; INT64_MAX: any */
    int64_t *carried; /* per moment + 1: bytes that the channel carries before it; NULL: no limit */
    /* per row, moment by moment of its life */
    size_t *at; /* where the row begins in reads and writes */
    uint32_t *reads, *writes;
    bool *single; /* one place then: the row is written, or another takes it over */
    /* what the present courses hold */
    masu__course *courses;                   /* per row */
    int64_t *load[MASU_MOVES_MOST_MEMORIES]; /* per moment */
    masu__busy *busy;                        /* ascending */
    size_t busy_count, busy_room;
    int64_t total; /* bytes × cost of all courses, in parts */
    /* prices of the bound: per memory and moment, of a byte held, in parts; before[m][t] is the sum of those before
     * t */
    int64_t *before[MASU_MOVES_MOST_MEMORIES];
    /* scratch of one row */
    int64_t *value; /* per moment of a life + 1, and state */
    masu__step *steps;
    int64_t *finish; /* per moment: the moment in which a move begun here is over; moments + 1: never */
    uint64_t attempts;
    double end_s; /* 0: none */
    masu__arena arena;
    bool out_of_memory;
} masu__moves;

static inline int64_t masu__moves_size(const masu__moves *m, size_t row) {
    return (int64_t)m->problem->rows[row].size_bytes;
}

bool masu__moves_open(masu__moves *m, const masu_moves_problem *problem, const masu_moves_options *options);
/* masu_moves_find for rows with bytes of their own; `shares` is not looked at. share.c does the rest with it. */
masu_status masu__moves_find_apart(const masu_moves_problem *problem, const masu__moves_alone *alone,
                                   size_t alone_count, const masu_moves_options *options, masu_moves_plan *plan);
void masu__moves_close(masu__moves *m);
bool masu__moves_late(const masu__moves *m);
/* 0: there is no limit. */
double masu__moves_time_left(const masu__moves *m);

/* ---- course.c ---------------------------------------------------------------------------------- */

typedef struct masu__ask {
    size_t row;
    bool with_loads;  /* beside the present courses: no limit is passed, the channel is free */
    int64_t price_of; /* prices count so many parts of MASU__MOVES_PRICE_ONE */
} masu__ask;

/* The least cost per byte, prices with it, in parts; MASU__MOVES_NEVER: there is no course. Fills value and steps. */
int64_t masu__course_value(masu__moves *m, const masu__ask *ask);
/* The course that masu__course_value just found. False: memory. */
bool masu__course_take(masu__moves *m, size_t row, masu__course *out);
/* The cost of the stays per byte: reads go to the cheapest that is valid, writes to the only one; moves. */
int64_t masu__course_cost(const masu__moves *m, size_t row, const masu__course *course);
bool masu__course_push(masu__course *course, const masu__stay *stay);
bool masu__course_copy(const masu__course *from, masu__course *to);
/* Whether a state is allowed for the row at its first moment, or at a later one. */
bool masu__course_may(const masu__moves *m, size_t row, uint8_t state, bool first);
/* A row's own cost per byte at a moment in a state, in parts. */
int64_t masu__course_use(const masu__moves *m, size_t row, uint32_t moment, uint8_t state);
int64_t masu__course_move_cost(const masu__moves *m, uint8_t from, uint8_t to);
/* The stays of a path, built while it is walked. */
typedef struct masu__walk {
    masu__course *course;
    uint32_t open[2]; /* stays by place in the state's memories */
    uint8_t state;
} masu__walk;
bool masu__walk_begin(const masu__moves *m, masu__course *course, uint32_t moment, uint8_t state, masu__walk *walk);
bool masu__walk_step(const masu__moves *m, masu__walk *walk, uint32_t moment, const masu__step *step);
void masu__walk_end(const masu__walk *walk, const masu__moves *m, uint32_t moment);

/* ---- loads.c ----------------------------------------------------------------------------------- */

/* The row's course comes in or goes: loads, channel, total. add is false when the channel has no room or memory runs
 * out; nothing has changed then. */
bool masu__loads_add(masu__moves *m, size_t row);
void masu__loads_remove(masu__moves *m, size_t row);
/* False: memory, which is noted. */
bool masu__busy_insert(masu__moves *m, size_t at, masu__busy stretch);
/* Bytes more, or less, at each moment of the course. */
void masu__loads_hold(masu__moves *m, const masu__course *course, int64_t bytes);
/* Fills finish between two moments for moves of so many bytes. with_busy: beside those that are there. */
void masu__channel_finish(masu__moves *m, int64_t bytes, bool with_busy, uint32_t lower, uint32_t upper);

/* ---- moment.c ---------------------------------------------------------------------------------- */

/* A lower bound of the cost at t of these rows, which live then, in parts, without prices. */
int64_t masu__moment_least(const masu__moves *m, uint32_t t, const uint32_t *rows, uint32_t count);

/* ---- methods ----------------------------------------------------------------------------------- */

/* Raises *bound (cost, rounded up). target: a cost that a plan has, or INT64_MAX. False: memory. */
bool masu__prices_find(masu__moves *m, int64_t target, int rounds, int64_t *bound, bool *infeasible);
/* Rows in the order in which they choose: what must be in one memory, then the most traffic first, or the most bytes ×
 * moments. From the arena; NULL: memory, which is noted. */
uint32_t *masu__moves_rank(masu__moves *m, bool by_area);
/* Courses for all rows, use after use; false: some row has none. */
bool masu__moves_greedy(masu__moves *m);
/* The cheapest course for one row beside the others. */
bool masu__moves_lay_row(masu__moves *m, size_t row);
/* Courses for all rows by price, then better ones. false: some row has none. */
bool masu__moves_lay(masu__moves *m);
void masu__moves_improve(masu__moves *m, masu__rng *rng, uint64_t rounds, int64_t enough);
/* Looks at all courses that may make a plan cheaper than this cost (INT64_MAX: there is none), by the prices that are
 * there. settles keeps the present courses as a plan, if offsets are found. True: nothing cheaper exists than what it
 * has kept by then. */
bool masu__moves_exhaust(masu__moves *m, int64_t cost, bool (*settles)(void *context, bool *unsure), void *context);

/* All rows moment after moment (frontier.c), at most so many presents a moment (0: as many as there is room for), with
 * so many times the work: raises *bound, and fills courses when they may cost less than `cost`; loads and the channel
 * have not seen them. False: memory. */
bool masu__moves_frontier(masu__moves *m, uint32_t most, uint32_t effort, int64_t cost, int64_t *bound, bool *found);

/* ---- settle.c ---------------------------------------------------------------------------------- */

/* Offsets of the present courses, into *plan (places, moves, cost). full: a memory that could not hold them, or -1.
 * unsure: limits ended the planner. MASU_OK also when a memory is full. */
masu_status masu__moves_settle(masu__moves *m, uint64_t steps, masu_moves_plan *plan, int *full, bool *unsure);

#endif
