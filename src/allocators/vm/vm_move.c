/* vm_move.c: one block's memory to another block, and the choice between that and copying.
 *
 *     dst  ├──────── given up ────────┤── kept ──┤── rest ──┤      kept: where a piece of dst ends at the
 *     src  ├──────── memory ──────────┤                             border, or can be cut there
 *
 *     1. cut dst's piece across the border                           join
 *     2. gather the rest that dst needs behind                       ungather
 *     3. wait; unmap what is given up                                map it again
 *     4. map the rest                                                unmap it
 *     5. remap src's pieces to dst
 */
#include "allocators/vm/vm_pool.h"

#include <time.h>

#include "base/assert.h"
#include "base/size.h"

typedef struct plan {
    masu__segment *dst, *src;
    size_t src_bytes;           /* memory that moves */
    masu__vm_piece *cut;        /* dst's piece that was cut at the border; NULL: none */
    masu__vm_piece *kept;       /* dst's pieces from here on stay; NULL: none */
    masu__piece_list given_up;  /* dst's pieces that src's replace */
    masu__piece_list kept_list; /* from `kept` on */
    masu__piece_list rest;
    size_t rest_at; /* where, from dst's beginning, the rest goes */
} plan;

static void emit_resize(masu_vm *vm, const masu__segment *segment, size_t user) {
    if (masu__trace_wanted(vm->trace))
        masu__vm_emit(vm, MASU_EVENT_RESIZE, segment->address, user, segment->bytes, 0, segment->owner);
}

/* Step 1: p->kept is dst's piece that begins exactly at the border. */
static masu_status find_border(masu_vm *vm, plan *p) {
    size_t at = 0;
    masu__vm_piece *piece = p->dst->pieces.first, *before = NULL;
    while (piece && at < p->src_bytes) {
        at += piece->piece.bytes;
        before = piece;
        piece = piece->next;
    }
    if (at > p->src_bytes && (vm->device->info.flags & MASU_DEVICE_DIVISIBLE)) {
        size_t first_bytes = before->piece.bytes - (at - p->src_bytes);
        masu_status status = masu__vm_cut_mapped(vm, p->dst, before, first_bytes);
        if (status != MASU_OK)
            return status;
        p->cut = before;
        piece = before->next;
        at = p->src_bytes;
    }
    p->kept = at == p->src_bytes ? piece : NULL;
    return MASU_OK;
}

/* Step 2. */
static masu_status gather_rest(masu_vm *vm, plan *p, size_t wanted) {
    size_t covered = masu__max(p->src_bytes, p->kept ? p->dst->pieces.bytes : 0);
    p->rest_at = covered;
    if (wanted <= covered)
        return MASU_OK;
    masu_status status = masu__vm_gather(vm, wanted - covered, &p->rest);
    if (status == MASU_OK && !masu__vm_reserve_run(vm, p->dst->pieces.count + p->src->pieces.count + p->rest.count)) {
        masu__vm_ungather(vm, &p->rest);
        status = MASU_ERR_OUT_OF_MEMORY;
    }
    return status;
}

/* Step 3. */
static masu_status discard_old(masu_vm *vm, plan *p) {
    masu__segment *dst = p->dst;
    masu_status status = masu__device_wait(vm->device);
    if (status != MASU_OK)
        return status;
    if (p->kept)
        masu__list_move_tail(&p->kept_list, &dst->pieces, p->kept, MASU__PIECE_BLOCK);
    status = masu__vm_unmap_run(vm, dst->address, dst->pieces.first);
    if (status == MASU_OK) {
        emit_resize(vm, dst, 0);
        masu__vm_emit_run(vm, MASU_EVENT_UNMAP, dst->address, dst->pieces.first);
        masu__list_move(&p->given_up, &dst->pieces, MASU__PIECE_TRANSIT);
        return MASU_OK;
    }
    masu__list_move(&dst->pieces, &p->kept_list, MASU__PIECE_BLOCK);
    return status;
}

/* Undoes step 3: dst has its old pieces again, as far as the device lets them in: all or none. */
static void restore_old(masu_vm *vm, plan *p) {
    bool broken;
    masu__segment *dst = p->dst;
    masu_status status = MASU_OK;
    if (p->given_up.bytes > dst->bytes) /* its addresses were lost with the rest */
        status = MASU_ERR_DEVICE_FAILURE;
    else if (p->given_up.count > 0)
        status = masu__vm_map_run(vm, dst, dst->address, &p->given_up, &broken);
    if (status == MASU_OK) {
        masu__list_move(&dst->pieces, &p->given_up, MASU__PIECE_BLOCK);
        masu__list_move(&dst->pieces, &p->kept_list, MASU__PIECE_BLOCK);
        emit_resize(vm, dst, dst->user_bytes);
        return;
    }
    /* Twice refused. dst's contents were given up by the caller anyway: it is left without memory. */
    dst->user_bytes = 0;
    p->cut = NULL;
    if (p->kept_list.count > 0 && masu__vm_undo_map(vm, dst, dst->address + p->src_bytes, &p->kept_list))
        masu__vm_store(vm, &p->kept_list);
}

/* Steps 3 to 5, or none of them. */
static masu_status exchange(masu_vm *vm, plan *p) {
    bool broken = false;
    masu__segment *dst = p->dst, *src = p->src;
    masu_status status = discard_old(vm, p);
    if (status != MASU_OK)
        return status;
    uintptr_t rest_address = dst->address + p->rest_at;
    if (p->rest.count > 0)
        status = masu__vm_map_run(vm, dst, rest_address, &p->rest, &broken);
    bool rest_mapped = status == MASU_OK && p->rest.count > 0;
    if (status == MASU_OK)
        status = masu__vm_remap_run(vm, src->address, dst->address, &src->pieces);
    if (status == MASU_OK)
        return MASU_OK;
    if (rest_mapped)
        masu__vm_undo_map(vm, dst, rest_address, &p->rest);
    restore_old(vm, p);
    return status;
}

static void commit(masu_vm *vm, plan *p) {
    masu__segment *dst = p->dst, *src = p->src;
    emit_resize(vm, src, 0);
    masu__vm_emit_run(vm, MASU_EVENT_UNMAP, src->address, src->pieces.first);
    masu__vm_emit_run(vm, MASU_EVENT_MAP, dst->address, src->pieces.first);
    masu__list_move(&dst->pieces, &src->pieces, MASU__PIECE_BLOCK);
    masu__list_move(&dst->pieces, &p->kept_list, MASU__PIECE_BLOCK);
    masu__list_move(&dst->pieces, &p->rest, MASU__PIECE_BLOCK);
    dst->user_bytes = masu__max(dst->user_bytes, src->user_bytes);
    dst->no_access = false;
    src->user_bytes = 0;
    emit_resize(vm, dst, dst->user_bytes);
    vm->stats.moves++;
}

static masu_status move_blocks(masu_vm *vm, plan *p) {
    masu__segment *dst = p->dst, *src = p->src;
    size_t wanted;
    if (p->src_bytes > dst->bytes || !masu__vm_round(vm, dst->user_bytes, &wanted))
        return MASU_ERR_SIZE_MISMATCH;
    if (!masu__space_reserve(&vm->space, 4) || !masu__vm_reserve_run(vm, dst->pieces.count + src->pieces.count + 1))
        return MASU_ERR_OUT_OF_MEMORY;
    masu_status status = find_border(vm, p);
    if (status == MASU_OK)
        status = gather_rest(vm, p, wanted);
    if (status == MASU_OK) {
        status = exchange(vm, p);
        if (status != MASU_OK)
            masu__vm_ungather(vm, &p->rest);
    }
    if (status == MASU_OK)
        commit(vm, p);
    else if (p->cut)
        masu__vm_join_mapped(vm, dst, p->cut);
    return status == MASU_ERR_CORRUPT ? MASU_ERR_DEVICE_FAILURE : status;
}

static masu_status move_locked(masu_vm *vm, void *dst, void *src) {
    plan p = {0};
    masu_status status = masu__vm_find(vm, dst, &p.dst);
    if (status == MASU_OK)
        status = masu__vm_find(vm, src, &p.src);
    if (status != MASU_OK || p.dst == p.src || p.src->pieces.count == 0)
        return status;
    masu_vm_stats before = vm->stats;
    p.src_bytes = p.src->pieces.bytes;
    masu__vm_uncount(vm, p.dst);
    masu__vm_uncount(vm, p.src);
    status = move_blocks(vm, &p);
    masu__vm_count(vm, p.dst);
    masu__vm_count(vm, p.src);
    masu__vm_store(vm, &p.given_up);
    return status == MASU_OK ? MASU_OK : masu__vm_refuse(vm, &before, p.src->user_bytes, status);
}

masu_status masu_vm_move(masu_vm *vm, void *dst, void *src) {
    if (!vm || !dst || !src)
        return MASU_ERR_INVALID_ARGUMENT;
    if (vm->magic != MASU__VM_LIVE)
        return MASU_ERR_STALE_POOL;
    masu__vm_lock(vm);
    MASU_HEAVY_ASSERT(masu__vm_audit(vm));
    masu_status status = move_locked(vm, dst, src);
    MASU_HEAVY_ASSERT(masu__vm_audit(vm));
    masu__vm_unlock(vm);
    return status;
}

/* ---- copy or move ------------------------------------------------------------------------------------ */

static masu_status copy_or_move_locked(masu_vm *vm, void *dst, void *src, size_t bytes, bool give_up, bool *moved) {
    masu__segment *to, *from;
    masu_status status = masu__vm_find(vm, dst, &to);
    if (status == MASU_OK)
        status = masu__vm_find(vm, src, &from);
    if (status != MASU_OK)
        return status;
    if (bytes > to->user_bytes || bytes > from->user_bytes)
        return MASU_ERR_SIZE_MISMATCH;
    if (to == from || bytes == 0)
        return MASU_OK;
    /* Behind bytes dst must keep what it has: with a larger dst only a copy does that. */
    if (give_up && bytes == from->user_bytes && to->user_bytes == bytes && bytes >= vm->copy_below_bytes &&
        from->pieces.bytes <= to->bytes) {
        *moved = true;
        return move_locked(vm, dst, src);
    }
    status = masu__device_copy(vm->device, dst, src, bytes);
    vm->stats.copies += status == MASU_OK;
    return status;
}

masu_status masu_vm_copy_or_move(masu_vm *vm, void *dst, void *src, size_t bytes, bool give_up_source, bool *moved) {
    bool ignored;
    if (!moved)
        moved = &ignored;
    *moved = false;
    if (!vm || !dst || !src)
        return MASU_ERR_INVALID_ARGUMENT;
    if (vm->magic != MASU__VM_LIVE)
        return MASU_ERR_STALE_POOL;
    masu__vm_lock(vm);
    masu_status status = copy_or_move_locked(vm, dst, src, bytes, give_up_source, moved);
    *moved = *moved && status == MASU_OK;
    MASU_HEAVY_ASSERT(masu__vm_audit(vm));
    masu__vm_unlock(vm);
    return status;
}

static double now_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

enum { MEASURE_GRANULES = 16, MEASURE_ROUNDS = 8 };

/* The quickest of several rounds of each; the first copy also touches both blocks. */
static masu_status measure_between(masu_vm *vm, void *a, void *b, size_t bytes, double *copy_ns, double *move_ns) {
    *copy_ns = *move_ns = 1e300;
    for (int round = 0; round < MEASURE_ROUNDS; round++) {
        bool moved;
        double start = now_ns();
        masu_status status = masu_vm_copy_or_move(vm, b, a, bytes, false, &moved);
        double copied = now_ns();
        if (status == MASU_OK)
            status = masu_vm_move(vm, b, a);
        double done = now_ns();
        if (status == MASU_OK)
            status = masu_vm_resize(vm, a, bytes, &a);
        if (status != MASU_OK)
            return status;
        *copy_ns = copied - start < *copy_ns ? copied - start : *copy_ns;
        *move_ns = done - copied < *move_ns ? done - copied : *move_ns;
    }
    return MASU_OK;
}

masu_status masu_vm_measure(masu_vm *vm, size_t *out_bytes) {
    if (!vm)
        return MASU_ERR_INVALID_ARGUMENT;
    if (vm->magic != MASU__VM_LIVE)
        return MASU_ERR_STALE_POOL;
    size_t bytes = MEASURE_GRANULES * vm->granule;
    void *a, *b = NULL;
    double copy_ns = 0, move_ns = 0;
    masu_status status = masu_vm_alloc(vm, bytes, 0, 0, &a);
    if (status == MASU_OK)
        status = masu_vm_alloc(vm, bytes, 0, 0, &b);
    if (status == MASU_OK)
        status = measure_between(vm, a, b, bytes, &copy_ns, &move_ns);
    masu_vm_free(vm, a);
    masu_vm_free(vm, b);
    if (status != MASU_OK)
        return status;
    /* A move costs the same for one granule or a part of it; so much can be copied meanwhile. */
    double worth = copy_ns > 0 ? (double)bytes * (move_ns / MEASURE_GRANULES) / copy_ns : 0;
    masu__vm_lock(vm);
    vm->copy_below_bytes = worth < (double)bytes ? (size_t)worth : bytes;
    if (out_bytes)
        *out_bytes = vm->copy_below_bytes;
    masu__vm_unlock(vm);
    return MASU_OK;
}
