/* conflict.h: which items a failure of the search is about.
 *
 *     leaf      a section without room: its members. An item above the capacity: the item. One
 *               that was passed over and has nothing to lie on: it, and all that it meets
 *     step up   the decision placed an item of the set, or raised one:  set |= {the item placed},
 *               the next candidate is tried, and what it fails on is added.
 *               far: what it raised leaves the set, for why it lay so high is explained; near: it
 *               stays, and decisions that raised it before count as well
 *     jump      it did neither: no other candidate would help here, so further up at once
 *
 * A set is an array of bits, one an item; there is one for each level of the tree. Which candidates
 * there are depends on more than the set says (offsets that never fall, passing over): a search that
 * has jumped has proven nothing.
 *
 * Backjumping is Prosser's (1993), with sets of items in place of sets of decisions.
 */
#ifndef MASU_PLANNER_CONFLICT_H
#define MASU_PLANNER_CONFLICT_H

#include "planner/search/search_state.h"

typedef struct masu__conflicts {
    const masu__search_state *state; /* borrowed */
    uint64_t *bits;                  /* [levels][words] */
    uint32_t levels, words;
} masu__conflicts;

/* False: no memory. O(items²) bits. */
bool masu__conflicts_open(masu__conflicts *conflicts, const masu__search_state *state);
void masu__conflicts_close(masu__conflicts *conflicts);

void masu__conflict_clear(masu__conflicts *conflicts, uint32_t level);
void masu__conflict_of_section(masu__conflicts *conflicts, uint32_t level, uint32_t section);

/* Records the cause of the state's last failed placement or inference. */
void masu__conflict_of_culprit(masu__conflicts *conflicts, uint32_t level);

/* The changes since mark are those of a decision at level that the one below it failed under. True: it took part
 * in the conflict below, which is added to its own. False: it did not, and its own is that below. The one below
 * is spent. */
bool masu__conflict_step_up(masu__conflicts *conflicts, uint32_t level, size_t mark, bool far);

#endif
