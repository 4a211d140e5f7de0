/* devices.c: what each device has, made when it is first used; and fork: its child may not touch what the parent
 * has. */
#include "torch.h"

#include <stdlib.h>

static device_state devices[MOST_DEVICES] = {[0 ... MOST_DEVICES - 1] = {.lock = PTHREAD_MUTEX_INITIALIZER}};
static _Atomic bool is_used, is_forked;
static pthread_once_t fork_once = PTHREAD_ONCE_INIT;

/* ---- fork ------------------------------------------------------------------------------------------------------- */

static void take_all(void) {
    for (int i = 0; i < MOST_DEVICES; i++)
        pthread_mutex_lock(&devices[i].lock);
    masu_torch_history_hold();
}

static void release_all(void) {
    masu_torch_history_release();
    for (int i = MOST_DEVICES; i-- > 0;)
        pthread_mutex_unlock(&devices[i].lock);
}

static void in_child(void) {
    is_forked = is_used;
    release_all();
}

static void watch_fork(void) {
    pthread_atfork(take_all, release_all, in_child);
}

bool masu_torch_is_forked(void) {
    return is_forked;
}

/* ---- making ------------------------------------------------------------------------------------------------------ */

pool *masu_torch_pool(device_state *d, uint64_t first, uint64_t second, bool make, masu_status *status) {
    for (pool *p = d->pools; p; p = p->next)
        if (p->first == first && p->second == second && !p->is_released)
            return p;
    *status = MASU_ERR_OUT_OF_MEMORY;
    pool *p = make ? calloc(1, sizeof *p) : NULL;
    if (!p)
        return NULL;
    p->first = first;
    p->second = second;
    for (int i = 0; i < 2; i++) {
        *status = masu_torch_lane_open(&p->lanes[i], d, p, i == 0);
        if (*status != MASU_OK) {
            masu_torch_lane_close(&p->lanes[0]);
            masu_torch_lane_close(&p->lanes[1]);
            free(p);
            return NULL;
        }
    }
    p->next = d->pools;
    d->pools = p;
    d->stats.private_pools += first || second;
    return p;
}

static void pool_drop(device_state *d, pool *p) {
    pool **link = &d->pools;
    while (*link != p)
        link = &(*link)->next;
    *link = p->next;
    d->stats.private_pools -= p->first || p->second;
    masu_torch_lane_close(&p->lanes[0]);
    masu_torch_lane_close(&p->lanes[1]);
    for (size_t i = 0; i < d->blocks.capacity;) { /* what the driver refused to take back is its own now */
        block *b = &d->blocks.items[i];
        if (b->address && (b->lane == &p->lanes[0] || b->lane == &p->lanes[1]))
            masu_torch_blocks_drop(&d->blocks, b);
        else
            i++;
    }
    free(p);
}

void masu_torch_pool_end(device_state *d, pool *p) {
    p->is_released = true;
    p->opened = 0;
    bool is_empty = masu_torch_lane_empty(&p->lanes[0]);
    if (masu_torch_lane_empty(&p->lanes[1]) && is_empty && p->blocks == 0)
        pool_drop(d, p);
}

static masu_status make_vm(device_state *d) {
    masu_vm_config config = masu_vm_config_default(d->cuda);
    config.trace = masu_torch_trace();
    config.name = "torch memory";
    config.limit_bytes = (size_t)d->limit_bytes;
    masu_status status = masu_vm_create(&config, &d->vm);
    return status == MASU_OK ? masu_device_create_over_vm(d->vm, &d->over) : status;
}

static void unmake(device_state *d) {
    if (d->pools)
        masu_torch_reclaim(d);
    while (d->pools)
        pool_drop(d, d->pools);
    if (d->over)
        masu_device_destroy(d->over);
    masu_torch_work_on(NULL);
    if (d->vm)
        masu_vm_destroy(d->vm);
    if (d->cuda)
        masu_device_destroy(d->cuda);
    free(d->blocks.items);
    free(d->crowd);
    d->cuda = d->over = NULL;
    d->vm = NULL;
    d->blocks = (blocks){0};
    d->crowd = NULL;
    d->crowd_count = d->crowd_capacity = d->crowded = d->owed = 0;
    d->stats = (masu_torch_stats){0};
}

static masu_status make(device_state *d, int ordinal) {
    masu_cuda_config cuda = {.ordinal = ordinal};
    masu_device_info info;
    if (!masu_torch_trace())
        return MASU_ERR_OUT_OF_MEMORY;
    pthread_once(&fork_once, watch_fork); /* behind the library's own: then it runs before them */
    masu_status status = masu_device_create_cuda(&cuda, &d->cuda);
    if (status != MASU_OK)
        return status;
    d->ordinal = ordinal;
    masu_device_get_info(d->cuda, &info);
    d->memory_bytes = info.memory_bytes;
    d->limit_bytes = d->fraction > 0 ? (uint64_t)((double)info.memory_bytes * d->fraction) : 0;
    if (masu_torch_settings()->vm)
        status = make_vm(d);
    if (status == MASU_OK)
        masu_torch_pool(d, 0, 0, true, &status);
    if (d->pools)
        is_used = true;
    else
        unmake(d);
    return status;
}

/* ---- entering ---------------------------------------------------------------------------------------------------- */

device_state *masu_torch_enter(int ordinal) {
    if (ordinal < 0 || ordinal >= MOST_DEVICES)
        return NULL;
    pthread_mutex_lock(&devices[ordinal].lock);
    return &devices[ordinal];
}

void masu_torch_leave(device_state *d) {
    masu_torch_work_on(NULL);
    pthread_mutex_unlock(&d->lock);
}

device_state *masu_torch_enter_ready(int ordinal, masu_status *status) {
    *status = MASU_ERR_UNSUPPORTED;
    if (masu_torch_is_forked() || masu_torch_settings()->wrong)
        return NULL;
    *status = MASU_ERR_INVALID_ARGUMENT;
    device_state *d = masu_torch_enter(ordinal);
    if (!d)
        return NULL;
    *status = d->pools ? MASU_OK : make(d, ordinal);
    if (*status == MASU_OK)
        return d;
    masu_torch_leave(d);
    return NULL;
}

uint64_t masu_torch_shutdown(void) {
    uint64_t live = 0;
    for (int i = 0; i < MOST_DEVICES && !masu_torch_is_forked(); i++) {
        device_state *d = masu_torch_enter(i);
        live += d->stats.live_blocks;
        unmake(d);
        masu_torch_leave(d);
    }
    return live;
}
