/* frame_arena.c: function frames. The arena they lie in, their slots' buffers, and unwinding.
 *
 *     arena ─►┌────────────┐
 *             │ frame main │◄─ parent ─┐      a frame: head, then its owner slots, zeroed at entry
 *             ├────────────┤           │
 *             │ frame f    │───────────┘◄─ rt->frame
 *             ├────────────┤◄─ arena_top
 *             │            │    address space from the kernel; a page costs memory once a frame has touched it
 *             └────────────┘◄─ arena_end
 *
 * Entering is a bump and a clear; leaving takes the bump back. A frame also closes every scope that was opened
 * while it was innermost, so that nothing a function registered outlives it unless it was promoted.
 *
 * What must stay true (tl__frames_valid checks it):
 *     frames lie in the arena in order of call, without gaps;  arena_top = end of the innermost
 *     frame_depth = number of frames;  every slot holds NULL or an object with count >= 1
 *     scope_mark of a frame <= that of the frames inside it <= scope_count
 *
 * A frame may have room behind its slots for the elements of tensors that never leave the function. Their headers
 * and storages are as all others; only the bytes are not to be freed.
 *
 * Two limits end a recursion, whichever comes first: the arena is full, or the native stack is used up to a
 * reserve that the runtime's own functions need (256 KiB, less on a stack that is itself small).
 */
#include <inttypes.h>
#include <pthread.h>
#include <string.h>

#include "runtime/state.h"

typedef struct slot_buffer {
    void *data;
    size_t bytes;
} slot_buffer;

enum { NATIVE_RESERVE_BYTES = 256 * 1024, NATIVE_UNKNOWN_BYTES = 512 * 1024 };

static uintptr_t find_stack_limit(void) {
    pthread_attr_t attributes;
    void *lowest = NULL;
    size_t bytes = 0;
    if (pthread_getattr_np(pthread_self(), &attributes) == 0) {
        if (pthread_attr_getstack(&attributes, &lowest, &bytes) != 0)
            bytes = 0;
        pthread_attr_destroy(&attributes);
    }
    if (bytes == 0)
        return (uintptr_t)__builtin_frame_address(0) - NATIVE_UNKNOWN_BYTES;
    size_t reserve = bytes / 2 < NATIVE_RESERVE_BYTES ? bytes / 2 : NATIVE_RESERVE_BYTES;
    return (uintptr_t)lowest + reserve;
}

/* Asked once a thread: of the first one the C library reads a file of the kernel's, which costs more than most
 * calls. */
uintptr_t tl__stack_limit(void) {
    static _Thread_local uintptr_t known __attribute__((tls_model("initial-exec")));
    if (known == 0)
        known = find_stack_limit();
    return known;
}

enum { ROOM_ALIGNMENT = 64 };

static size_t frame_bytes(uint64_t slot_count, uint64_t room_bytes) {
    uint64_t aligned = room_bytes ? room_bytes + ROOM_ALIGNMENT : 0;
    return sizeof(tl_frame) + slot_count * sizeof(void *) + aligned;
}

/* ---- buffers ------------------------------------------------------------------------------------------------- */

static void free_buffers(tl_frame *frame) {
    slot_buffer *buffers = frame->buffers;
    if (MASU_LIKELY(!buffers))
        return;
    for (uint32_t i = 0; i < frame->slot_count; i++)
        tl__free(buffers[i].data, buffers[i].bytes);
    tl__free(buffers, frame->slot_count * sizeof *buffers);
    frame->buffers = NULL;
}

static masu_status make_buffer_table(tl_frame *frame) {
    void *table;
    size_t bytes = frame->slot_count * sizeof(slot_buffer);
    masu_status status = tl__alloc(bytes, &table);
    if (status != MASU_OK)
        return status;
    memset(table, 0, bytes);
    frame->buffers = table;
    return MASU_OK;
}

/* The old block stays until the new one is there: on failure the slot is as it was. Nothing is copied, because a
 * slot is grown before it is written. */
static masu_status grow_buffer(slot_buffer *buffer, size_t bytes) {
    void *data;
    masu_status status = tl__alloc(bytes, &data);
    if (status != MASU_OK)
        return status;
    tl__free(buffer->data, buffer->bytes);
    *buffer = (slot_buffer){data, bytes};
    return MASU_OK;
}

static masu_status get_buffer(int64_t slot, int64_t bytes, void **out) {
    tl_frame *frame = tl__runtime()->frame;
    if (!frame)
        return tl__error(TL_SAY(no_function_frame_slot_was_asked_for), slot);
    if (slot < 0 || slot >= frame->slot_count)
        return tl__error(TL_SAY(slot_is_out_range_frame), slot, frame->slot_count);
    if (bytes < 0)
        return tl__error(TL_SAY(slot_cannot_hold_bytes), slot, bytes);
    if (bytes == 0)
        return MASU_OK;
    masu_status status = frame->buffers ? MASU_OK : make_buffer_table(frame);
    if (status != MASU_OK)
        return status;
    slot_buffer *buffer = (slot_buffer *)frame->buffers + slot;
    if (buffer->bytes < (size_t)bytes)
        status = grow_buffer(buffer, (size_t)bytes);
    if (status == MASU_OK)
        *out = buffer->data;
    return status;
}

/* The slot's buffer with room for at least bytes, owned by the frame. The same address as before while it is
 * large enough; contents are undefined after it has grown. bytes 0: NULL. */
void *tl_mem_get_buffer(int64_t slot, int64_t bytes) {
    void *buffer = NULL;
    if (get_buffer(slot, bytes, &buffer) != MASU_OK)
        tl__raise();
    return buffer;
}

/* ---- frames ---------------------------------------------------------------------------------------------------- */

static __attribute__((cold)) masu_status refuse_frame(const tl_runtime *rt, int64_t slots) {
    if (slots < 0 || slots > UINT32_MAX)
        return tl__error(TL_SAY(frame_slots), slots);
    return tl__error(TL_SAY(stack_overflow_frames_deep), rt->frame_depth);
}

/* NULL: there is no room for a frame of so many slots. */
static inline tl_frame *push_frame(tl_runtime *rt, int64_t slots, int64_t room_bytes) {
    bool countable = slots >= 0 && slots <= UINT32_MAX && room_bytes >= 0 && room_bytes <= TL_ROOM_BYTES_MAX;
    size_t bytes = countable ? frame_bytes((uint64_t)slots, (uint64_t)room_bytes) : SIZE_MAX;
    if (MASU_UNLIKELY(bytes > (size_t)(rt->arena_end - rt->arena_top) ||
                      (uintptr_t)__builtin_frame_address(0) < rt->stack_limit))
        return NULL;
    tl_frame *frame = (tl_frame *)(void *)rt->arena_top;
    rt->arena_top += bytes;
    frame->parent = rt->frame;
    frame->site = 0;
    frame->slot_count = (uint32_t)slots;
    frame->scope_mark = rt->scope_count;
    frame->buffers = NULL;
    frame->room = NULL;
    frame->room_bytes = (uint32_t)room_bytes;
    frame->place_bytes = 0;
    frame->grow = frame->want = 0;
    frame->growing_first = frame->growing_end = 0;
    frame->dests = NULL;
    frame->spent = NULL;
    for (int64_t i = 0; i < slots; i++)
        frame->slots[i] = NULL;
    rt->frame = frame;
    if (++rt->frame_depth > rt->frame_depth_peak)
        rt->frame_depth_peak = rt->frame_depth;
    return frame;
}

tl_frame *tl_mem_function_enter(int64_t slots) {
    tl_runtime *rt = tl__runtime();
    tl_frame *frame = push_frame(rt, slots, 0);
    if (MASU_UNLIKELY(!frame)) {
        refuse_frame(rt, slots);
        tl__raise();
    }
    return frame;
}

static tl_frame *enter_room(int64_t slots, int64_t bytes, int64_t owned_count, void *const *owned) {
    tl_runtime *rt = tl__runtime();
    tl_frame *frame = push_frame(rt, slots, bytes);
    if (MASU_UNLIKELY(!frame)) {
        for (int64_t i = 0; i < owned_count; i++)
            tl__object_drop(owned[i]);
        refuse_frame(rt, slots);
        tl__raise();
    }
    return frame;
}

tl_frame *tl_mem_function_enter_with(int64_t slots, int64_t owned_count, void *const *owned) {
    return enter_room(slots, 0, owned_count, owned);
}

/* A publisher's thread may look. */
static inline void set_whole(uint64_t *number, uint64_t value) {
    __atomic_store_n(number, value, __ATOMIC_RELAXED);
}

tl_frame *tl_mem_function_enter_room(int64_t slots, int64_t bytes, int64_t owned_count, void *const *owned) {
    tl_runtime *rt = tl__runtime();
    tl_frame *frame = enter_room(slots, bytes, owned_count, owned);
    if (frame && bytes > 0) {
        uintptr_t behind = (uintptr_t)(frame->slots + slots);
        frame->room = (char *)frame +
                      ((behind + ROOM_ALIGNMENT - 1) / ROOM_ALIGNMENT * ROOM_ALIGNMENT - (uintptr_t)frame);
        set_whole(&rt->room_bytes, rt->room_bytes + (uint64_t)bytes);
        if (rt->room_bytes > rt->room_bytes_peak)
            set_whole(&rt->room_bytes_peak, rt->room_bytes);
        if (MASU_UNLIKELY(rt->trace))
            tl__trace_frame(rt, frame, true);
    }
    return frame;
}

static void release_slots(tl_frame *frame) {
    for (uint32_t i = 0; i < frame->slot_count; i++) {
        tl_object *owned = frame->slots[i];
        if (MASU_LIKELY(!owned))
            continue;
        frame->slots[i] = NULL;
        tl__object_drop(owned);
    }
}

static void pop_frame(tl_runtime *rt) {
    tl_frame *frame = rt->frame;
    release_slots(frame);
    free_buffers(frame);
    set_whole(&rt->room_bytes, rt->room_bytes - frame->room_bytes);
    if (MASU_UNLIKELY(rt->trace && frame->room))
        tl__trace_frame(rt, frame, false);
    if (MASU_UNLIKELY(rt->scope_count > frame->scope_mark))
        tl__close_scopes(rt, frame->scope_mark);
    rt->frame = frame->parent;
    rt->arena_top = (char *)frame;
    rt->frame_depth--;
}

/* Pops the frame and whatever frames are still inside it. NULL, and an address outside the arena, is left alone. */
void tl_mem_function_exit(tl_frame *frame) {
    tl_runtime *rt = tl__runtime();
    if ((char *)frame < rt->arena)
        return;
    while (rt->frame && rt->frame >= frame)
        pop_frame(rt);
}

void tl__unwind(tl_runtime *rt, tl_frame *frame, size_t scope_count, uint32_t grad_depth) {
    rt->unrecorded = false;
    while (rt->frame != frame)
        pop_frame(rt);
    tl__close_scopes(rt, scope_count);
    while (rt->grad_depth > grad_depth) {
        tl_clear_grads();
        tl_grad_loop_exit();
    }
}

/* ---- the check --------------------------------------------------------------------------------------------------- */

static bool buffers_valid(const tl_frame *frame) {
    const slot_buffer *buffers = frame->buffers;
    for (uint32_t i = 0; buffers && i < frame->slot_count; i++)
        if ((buffers[i].data == NULL) != (buffers[i].bytes == 0))
            return false;
    return true;
}

static bool slots_valid(const tl_frame *frame) {
    for (uint32_t i = 0; i < frame->slot_count; i++) {
        const tl_object *owned = frame->slots[i];
        if (owned && (owned->count == 0 || owned->kind > TL_VECTOR))
            return false;
    }
    return true;
}

bool tl__frames_valid(const tl_runtime *rt) {
    const char *end = rt->arena_top;
    uint64_t depth = 0, mark = rt->scope_count;
    if (rt->arena_top < rt->arena || rt->arena_top > rt->arena_end)
        return false;
    for (const tl_frame *frame = rt->frame; frame; frame = frame->parent) {
        if ((const char *)frame < rt->arena ||
            (const char *)frame + frame_bytes(frame->slot_count, frame->room_bytes) != end || frame->scope_mark > mark)
            return false;
        if (!slots_valid(frame) || !buffers_valid(frame))
            return false;
        end = (const char *)frame;
        mark = frame->scope_mark;
        depth++;
    }
    return end == rt->arena && depth == rt->frame_depth;
}
