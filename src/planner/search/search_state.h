/* search_state.h: what the exact search knows at a node, and how it takes steps back.
 *
 * Every change goes on a trail; undoing pops it. The equations are in search.h.
 */
#ifndef MASU_PLANNER_SEARCH_STATE_H
#define MASU_PLANNER_SEARCH_STATE_H

#include "planner/fixed/obstacles.h"
#include "planner/fixed/walls.h"

#define MASU__PLACED INT64_MAX

typedef struct masu__meeting {
    uint32_t item;    /* that lives at the same time, or must be kept apart */
    int64_t height;   /* of the one whose list this is, where they meet */
    int64_t opposite; /* of the item, there */
} masu__meeting;

typedef struct masu__change {
    enum { MASU__CHANGE_SUPPORT, MASU__CHANGE_LOWEST, MASU__CHANGE_WITNESS, MASU__CHANGE_PLACED } kind;
    uint32_t index, witness;
    int64_t value;
} masu__change;

/* The cause of a failed placement or inference: a section without room, or an item (and_met: and all that it
 * meets). */
typedef struct masu__culprit {
    uint32_t section; /* NONE: the item */
    uint32_t item;
    bool and_met;
} masu__culprit;

/* witness[s]: an unplaced member of s with lowest + rest[s] (+ obstacles above) <= capacity: the
 * floor of the section is no higher. NONE: nothing is left to be placed there. */

typedef struct masu__search_state {
    const masu__plan_model *model;
    uint32_t model_items;
    int64_t capacity;
    int64_t *offsets;        /* of placed items */
    int64_t *lowest;         /* per item: support, or what was inferred above it */
    int64_t *support;        /* per item: where it would lie on what has been placed */
    int64_t *start;          /* per item: support before anything is placed */
    uint32_t *twin;          /* per item: the one before it that is the same in everything */
    uint32_t *meeting_start; /* [items + 1] into meetings */
    masu__meeting *meetings;
    uint32_t *member_start; /* [sections + 1] into members */
    uint32_t *members;
    int64_t *rest; /* per section */
    uint32_t *witness, *crossing;
    uint32_t *witnessed;   /* per item: sections that it is the witness of */
    uint32_t *block_start; /* [items + 1] into blocks: an item's, by offset */
    masu__block *blocks;   /* NULL: there are no obstacles */
    masu__walls walls;
    uint32_t *queue; /* sections that need another witness */
    uint32_t queue_count;
    bool *queued;
    uint32_t *failures; /* per section: how often it had no room; the search halves and clears it */
    masu__culprit culprit;
    masu__change *trail;
    size_t trail_count, trail_room;
    bool failed_memory;
    masu__arena arena; /* owns the arrays, but not the trail */
} masu__search_state;

bool masu__state_open(masu__search_state *state, const masu__plan_model *model, bool *too_large);
void masu__state_close(masu__search_state *state);

/* Nothing is placed. False: the capacity is too small at sight. */
bool masu__state_reset(masu__search_state *state, int64_t capacity);

/* Places an item at its lowest offset. False: some section has no room left; the changes made so
 * far are on the trail. */
bool masu__state_place(masu__search_state *state, uint32_t item);

/* Items that were passed over: the ones among items[count] (a part, in its order) that lie below
 * offset, or at it and before place. They will not lie on their support any more, so each rises
 * above the lowest item that could lie in its way there. False: nothing could, or a section has no
 * room left; the changes are on the trail. */
bool masu__state_infer(masu__search_state *state, const uint32_t *items, uint32_t count, int64_t offset,
                       uint32_t place);

void masu__state_undo(masu__search_state *state, size_t mark);

bool masu__state_valid(const masu__search_state *state);

#endif
