/* lives.c: which events belong to one block: the blocks that are live are followed through the events. A file may say
 * anything; what does not fit is counted and otherwise passed over. */
#include "recording/recording.h"

#include <string.h>

#include "base/meta.h"
#include "recording/live_table.h"

/* False: memory ran out. */
static bool put_block(masu__lives *lives, masu__live_table *t, masu__live_block block, uint32_t now) {
    masu__live_block *old = masu__live_find(t, block.pool, block.address);
    if (old) {
        lives->doubled++;
        lives->of[old->alloc] = now;
        masu__live_drop(t, old);
    }
    return masu__live_put(t, block) != NULL;
}

static void reset_pool(masu__lives *lives, masu__live_table *t, uint32_t pool, uint32_t now) {
    for (masu__live_block *block; (block = masu__live_any(t, pool)) != NULL; masu__live_drop(t, block))
        lives->of[block->alloc] = now;
}

static bool follow(const masu__recording *r, masu__lives *lives, masu__live_table *t, uint32_t now) {
    const masu__recorded_event *e = &r->events[now];
    masu__live_block block = {.address = e->address, .pool = e->pool, .alloc = now};
    if (e->kind == MASU__RECORDED_ALLOC)
        return put_block(lives, t, block, now);
    if (e->kind == MASU__RECORDED_RESET)
        reset_pool(lives, t, e->pool, now);
    if (e->kind >= MASU__RECORDED_RESET)
        return true;
    masu__live_block *found = masu__live_find(t, e->pool, e->kind == MASU__RECORDED_MOVE ? e->other : e->address);
    if (!found) {
        lives->strays++;
        return true;
    }
    lives->of[now] = block.alloc = found->alloc;
    if (e->kind == MASU__RECORDED_FREE)
        lives->of[found->alloc] = now;
    if (e->kind == MASU__RECORDED_FREE || e->kind == MASU__RECORDED_MOVE)
        masu__live_drop(t, found);
    return e->kind != MASU__RECORDED_MOVE || put_block(lives, t, block, now);
}

masu_status masu__lives_find(const masu__recording *recording, masu__lives *out) {
    *out = (masu__lives){.count = recording->event_count};
    size_t bytes = recording->event_count * sizeof *out->of;
    if (bytes) {
        out->of = masu__meta_alloc(bytes);
        if (!out->of)
            return MASU_ERR_OUT_OF_MEMORY;
        memset(out->of, 0xff, bytes);
    }
    masu__live_table t = {0};
    bool whole = true;
    for (size_t i = 0; i < recording->event_count && whole; i++)
        whole = follow(recording, out, &t, (uint32_t)i);
    out->live_at_end = t.live;
    masu__live_destroy(&t);
    if (whole)
        return MASU_OK;
    masu__lives_destroy(out);
    return MASU_ERR_OUT_OF_MEMORY;
}

void masu__lives_destroy(masu__lives *lives) {
    masu__meta_free(lives->of, lives->count * sizeof *lives->of);
    *lives = (masu__lives){0};
}
