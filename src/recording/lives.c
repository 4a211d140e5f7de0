/* lives.c: which events belong to one block: a table of the blocks that are live, by pool and address, followed through the
 * events. A file may say anything; what does not fit is counted and otherwise passed over.
 *
 *     table: pool, address ─► its ALLOC          filled < size / 4 * 3; removal closes the gap, so that no grave stays
 */
#include "recording/recording.h"

#include <string.h>

#include "base/meta.h"

typedef struct live {
    uint64_t address;
    uint32_t pool;
    uint32_t alloc; /* number of the event, plus one; 0: empty */
} live;

typedef struct table {
    live *slots;
    size_t size, filled;
} table;

static size_t home_of(const table *t, uint32_t pool, uint64_t address) {
    uint64_t mixed = (address ^ (uint64_t)pool << 48) * 0x9e3779b97f4a7c15u;
    return (size_t)(mixed ^ mixed >> 32) & (t->size - 1);
}

/* The block's slot, or the empty one where it would go. */
static size_t find(const table *t, uint32_t pool, uint64_t address) {
    size_t at = home_of(t, pool, address);
    while (t->slots[at].alloc && (t->slots[at].pool != pool || t->slots[at].address != address))
        at = (at + 1) & (t->size - 1);
    return at;
}

static bool make_room(table *t) {
    if (t->filled + 1 < t->size / 4 * 3)
        return true;
    table larger = {.size = t->size ? 2 * t->size : 1024, .filled = t->filled};
    larger.slots = masu__meta_calloc(larger.size, sizeof(live));
    if (!larger.slots)
        return false;
    for (size_t i = 0; i < t->size; i++)
        if (t->slots[i].alloc)
            larger.slots[find(&larger, t->slots[i].pool, t->slots[i].address)] = t->slots[i];
    masu__meta_free(t->slots, t->size * sizeof(live));
    *t = larger;
    return true;
}

static void take_out(table *t, size_t hole) {
    t->filled--;
    for (size_t at = (hole + 1) & (t->size - 1); t->slots[at].alloc; at = (at + 1) & (t->size - 1)) {
        size_t home = home_of(t, t->slots[at].pool, t->slots[at].address);
        if (((at - home) & (t->size - 1)) < ((at - hole) & (t->size - 1)))
            continue; /* it would come to lie before its home */
        t->slots[hole] = t->slots[at];
        hole = at;
    }
    t->slots[hole].alloc = 0;
}

/* ---- following ------------------------------------------------------------------------------------------------------ */

/* False: memory ran out. */
static bool put_block(masu__lives *lives, table *t, uint32_t pool, uint64_t address, uint32_t alloc,
                      uint32_t now) {
    if (!make_room(t))
        return false;
    size_t at = find(t, pool, address);
    if (t->slots[at].alloc) {
        lives->doubled++;
        lives->of[t->slots[at].alloc - 1] = now;
    } else {
        t->filled++;
    }
    t->slots[at] = (live){address, pool, alloc + 1};
    return true;
}

static void reset_pool(masu__lives *lives, table *t, uint32_t pool, uint32_t now) {
    for (size_t at = 0; at < t->size;) {
        if (t->slots[at].alloc && t->slots[at].pool == pool) {
            lives->of[t->slots[at].alloc - 1] = now;
            take_out(t, at); /* what follows may come to lie here: look again */
        } else {
            at++;
        }
    }
}

static bool follow(const masu__recording *r, masu__lives *lives, table *t, uint32_t now) {
    const masu__recorded_event *e = &r->events[now];
    if (e->kind == MASU__RECORDED_ALLOC)
        return put_block(lives, t, e->pool, e->address, now, now);
    if (e->kind == MASU__RECORDED_RESET) {
        reset_pool(lives, t, e->pool, now);
        return true;
    }
    if (e->kind > MASU__RECORDED_RESET)
        return true;
    uint64_t address = e->kind == MASU__RECORDED_MOVE ? e->other : e->address;
    size_t at = t->size ? find(t, e->pool, address) : 0;
    if (!t->size || !t->slots[at].alloc) {
        lives->strays++;
        return true;
    }
    uint32_t alloc = t->slots[at].alloc - 1;
    lives->of[now] = alloc;
    if (e->kind == MASU__RECORDED_FREE)
        lives->of[alloc] = now;
    if (e->kind == MASU__RECORDED_FREE || e->kind == MASU__RECORDED_MOVE)
        take_out(t, at);
    return e->kind != MASU__RECORDED_MOVE || put_block(lives, t, e->pool, e->address, alloc, now);
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
    table t = {0};
    bool whole = true;
    for (size_t i = 0; i < recording->event_count && whole; i++)
        whole = follow(recording, out, &t, (uint32_t)i);
    out->live_at_end = t.filled;
    masu__meta_free(t.slots, t.size * sizeof(live));
    if (!whole) {
        masu__lives_destroy(out);
        return MASU_ERR_OUT_OF_MEMORY;
    }
    return MASU_OK;
}

void masu__lives_destroy(masu__lives *lives) {
    masu__meta_free(lives->of, lives->count * sizeof *lives->of);
    *lives = (masu__lives){0};
}
