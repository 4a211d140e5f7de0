/* tensor.c: the life of a tensor: header, storage, bytes.
 *
 *     make    header from its pool ─► storage from its pool ─► bytes from the payload heap
 *     free    history ─► storage: one tensor less, bytes back at zero ─► header back to its pool
 *
 * Nothing here recurses: a dying header lets go of its node, tl__node_drop takes graphs apart with a list of its
 * own, and the values saved in nodes are tensors without history.
 *
 * A dimension of length 1 may have any stride; a tensor without elements counts as contiguous and has strides 0.
 */
#include <string.h>

#include "base/size.h"
#include "runtime/state.h"
#include "runtime/value/growth.h"

/* ---- shapes ------------------------------------------------------------------------------------------------- */

static __attribute__((cold, noinline)) masu_status refuse_shape(masu_status status, int rank, const int64_t *shape,
                                                                const char *why) {
    char text[TL_SHAPE_TEXT];
    return tl__error_as(status, TL_SAY(shape_is_refused), tl__shape_text(rank, shape, text), why);
}

/* Refuses a shape whose product overflowed or met a negative number; nothing when a dimension is 0. */
static __attribute__((cold, noinline)) masu_status judge_shape(int rank, const int64_t *shape) {
    bool empty = false;
    for (int i = 0; i < rank; i++) {
        if (shape[i] < 0)
            return refuse_shape(MASU_ERR_INVALID_ARGUMENT, rank, shape, "a dimension is negative");
        empty = empty || shape[i] == 0;
    }
    return empty ? MASU_OK : refuse_shape(MASU_ERR_OVERFLOW, rank, shape, "too many elements");
}

/* The number of elements, checked so that their bytes can be counted in a ptrdiff_t. */
static inline masu_status count_elements(size_t element_bytes, int rank, const int64_t *shape, int64_t *out) {
    if (MASU_UNLIKELY(rank < 0 || rank > TL_MAX_RANK))
        return tl__error(TL_SAY(tensor_at_most_dimensions_not_too), TL_MAX_RANK, rank);
    int64_t elements = 1, signs = 0, bytes;
    bool overflows = false;
    for (int i = 0; i < rank; i++) {
        overflows |= __builtin_mul_overflow(elements, shape[i], &elements);
        signs |= shape[i];
    }
    overflows |= __builtin_mul_overflow(elements, (int64_t)element_bytes, &bytes);
    if (MASU_UNLIKELY(overflows || signs < 0)) {
        *out = 0;
        return judge_shape(rank, shape);
    }
    *out = elements;
    return MASU_OK;
}

masu_status tl__tensor_countable(tl_dtype dtype, int rank, const int64_t *shape) {
    int64_t elements;
    return count_elements(tl__dtype_size(dtype), rank, shape, &elements);
}

static inline void set_row_major(tl_tensor *t, const int64_t *shape) {
    int64_t stride = t->elements > 0;
    for (int i = t->rank - 1; i >= 0; i--) {
        t->shape[i] = shape[i];
        t->stride[i] = stride;
        stride *= shape[i];
    }
}

void tl__tensor_relay(tl_tensor *t) {
    t->elements = 1;
    for (int i = 0; i < t->rank; i++)
        t->elements *= t->shape[i];
    t->contiguous = true;
    set_row_major(t, t->shape);
}

static bool is_row_major(const tl_tensor *t) {
    int64_t stride = 1;
    for (int i = t->rank - 1; i >= 0 && t->elements > 0; i--) {
        if (t->shape[i] == 1)
            continue;
        if (t->stride[i] != stride)
            return false;
        stride *= t->shape[i];
    }
    return true;
}

/* A view may name more elements than it has bytes (stride 0): the product is held at the largest number. */
static int64_t product_of_shape(const tl_tensor *t) {
    int64_t elements = 1;
    for (int i = 0; i < t->rank; i++) {
        if (t->shape[i] == 0)
            return 0;
        if (__builtin_mul_overflow(elements, t->shape[i], &elements))
            elements = INT64_MAX;
    }
    return elements;
}

void tl__tensor_refresh(tl_tensor *t) {
    t->elements = product_of_shape(t);
    t->contiguous = is_row_major(t);
}

/* ---- storages ------------------------------------------------------------------------------------------------- */

/* The place in the innermost frame that compiled code names for a result of exactly so many bytes. */
static inline void *planned_place(tl_runtime *rt, size_t bytes) {
    tl_frame *frame = rt->frame;
    if (frame->place_bytes != bytes)
        return NULL;
    frame->place_bytes = 0;
    rt->placed++;
    return frame->place;
}

/* Where hints say, else in a pool. *slot: 1 + the growing slot it is; 0: none. */
static masu_status data_new(tl_runtime *rt, size_t bytes, void **data, uint32_t *slot) {
    tl_frame *frame = rt->frame;
    *slot = 0;
    *data = NULL;
    if (frame && frame->place_bytes > 0)
        *data = planned_place(rt, bytes);
    if (frame && !*data && (frame->grow | frame->want)) {
        masu_status status = tl__slot_take(rt, bytes, data, slot);
        if (MASU_UNLIKELY(status != MASU_OK))
            return status;
    }
    return *data ? MASU_OK : tl__payload_alloc(bytes, data);
}

static void data_free(tl_runtime *rt, void *data, size_t bytes) {
    if (!tl__in_frame(rt, data))
        tl__payload_free(data, bytes);
}

static masu_status storage_new(size_t bytes, tl_storage **out) {
    tl_runtime *rt = tl__runtime();
    void *data;
    uint32_t slot;
    masu_status status = data_new(rt, bytes, &data, &slot);
    if (MASU_UNLIKELY(status != MASU_OK))
        return status;
    tl_storage *storage = tl__cells_take(&rt->storages);
    if (MASU_UNLIKELY(!storage)) {
        if (!slot)
            data_free(rt, data, bytes);
        return tl__error_memory(MASU_ERR_OUT_OF_MEMORY, TL_CELL_CHUNK_BYTES, "the pool of storages");
    }
    *storage = (tl_storage){.count = 1, .slot = slot, .bytes = bytes, .data = data};
    if (slot)
        tl__slot_settle(rt, storage);
    *out = storage;
    return MASU_OK;
}

void tl__storage_written(tl_storage *s) {
    s->version++;
    s->written_site = tl__site();
}

void tl__storage_drop(tl_storage *s) {
    if (!s)
        return;
    MASU_DEBUG_ASSERT(s->count > 0);
    if (--s->count > 0)
        return;
    tl_runtime *rt = tl__runtime();
    if (MASU_UNLIKELY(s->growth == TL_GROWTH_ROOM))
        tl__growth_free(s);
    else if (s->slot && s->slot != TL_SLOT_FOREIGN)
        tl__slot_leave(rt, s);
    else if (!s->slot)
        data_free(rt, s->data, s->bytes);
    tl__cells_give(&rt->storages, s);
}

/* ---- tensors ----------------------------------------------------------------------------------------------------- */

static tl_tensor *header_new(tl_runtime *rt) {
    tl_tensor *t = tl__cells_take(&rt->tensors);
    if (MASU_UNLIKELY(!t)) {
        tl__error_memory(MASU_ERR_OUT_OF_MEMORY, TL_CELL_CHUNK_BYTES, "the pool of tensor headers");
        return NULL;
    }
    t->head = (tl_object){.count = 1, .kind = TL_TENSOR};
    t->node = NULL;
    return t;
}

/* storage: given up on failure */
static inline masu_status tensor_over(tl_storage *storage, tl_dtype dtype, int rank, const int64_t *shape,
                                      int64_t elements, tl_tensor **out) {
    tl_tensor *t = header_new(tl__runtime());
    if (MASU_UNLIKELY(!t)) {
        tl__storage_drop(storage);
        return MASU_ERR_OUT_OF_MEMORY;
    }
    t->dtype = (uint8_t)dtype;
    t->rank = (uint8_t)rank;
    t->contiguous = true;
    t->storage = storage;
    t->data = storage->data;
    t->elements = elements;
    set_row_major(t, shape);
    *out = t;
    return MASU_OK;
}

masu_status tl__tensor_new(tl_dtype dtype, int rank, const int64_t *shape, tl_tensor **out) {
    int64_t elements = 0;
    masu_status status = count_elements(tl__dtype_size(dtype), rank, shape, &elements);
    if (MASU_UNLIKELY(status != MASU_OK))
        return status;
    tl_storage *storage = NULL;
    status = storage_new((size_t)elements * tl__dtype_size(dtype), &storage);
    if (MASU_UNLIKELY(status != MASU_OK))
        return status;
    return tensor_over(storage, dtype, rank, shape, elements, out);
}

masu_status tl__tensor_new_with_room(tl_dtype dtype, int rank, const int64_t *shape, tl_tensor **out) {
    int64_t elements = 0;
    tl_storage *storage;
    masu_status status = count_elements(tl__dtype_size(dtype), rank, shape, &elements);
    if (status != MASU_OK)
        return status;
    if (!tl__growth_storage((size_t)elements * tl__dtype_size(dtype), &storage))
        return MASU_ERR_LIMIT_REACHED;
    return tensor_over(storage, dtype, rank, shape, elements, out);
}

masu_status tl__tensor_new_zeroed(tl_dtype dtype, int rank, const int64_t *shape, tl_tensor **out) {
    masu_status status = tl__tensor_new(dtype, rank, shape, out);
    if (status == MASU_OK && (*out)->elements > 0)
        memset((*out)->data, 0, (*out)->storage->bytes);
    return status;
}

masu_status tl__tensor_view(const tl_tensor *t, tl_tensor **out) {
    tl_tensor *view = header_new(tl__runtime());
    if (!view)
        return MASU_ERR_OUT_OF_MEMORY;
    *view = *t;
    view->head = (tl_object){.count = 1, .kind = TL_TENSOR};
    view->node = NULL;
    view->storage->count++;
    *out = view;
    return MASU_OK;
}

masu_status tl__tensor_foreign(tl_dtype dtype, int rank, const int64_t *shape, void *data, tl_tensor **out) {
    int64_t elements = 0;
    tl_runtime *rt = tl__runtime();
    masu_status status = count_elements(tl__dtype_size(dtype), rank, shape, &elements);
    if (status != MASU_OK)
        return status;
    tl_storage *storage = tl__cells_take(&rt->storages);
    if (!storage)
        return tl__error_memory(MASU_ERR_OUT_OF_MEMORY, TL_CELL_CHUNK_BYTES, "the pool of storages");
    *storage = (tl_storage){
        .count = 1, .slot = TL_SLOT_FOREIGN, .bytes = (size_t)elements * tl__dtype_size(dtype), .data = data};
    return tensor_over(storage, dtype, rank, shape, elements, out);
}

static void move_views(const tl_cells *tensors, const tl_storage *storage, const char *from, char *to) {
    for (const tl_cell_chunk *chunk = tensors->chunks; chunk; chunk = chunk->next)
        for (uint64_t i = 0; i < chunk->cell_count; i++) {
            tl_cell *cell = tl__chunk_cell(tensors, chunk, i);
            tl_tensor *t = (tl_tensor *)(void *)cell;
            if (cell->count > 0 && t->storage == storage)
                t->data = to + ((const char *)t->data - from);
        }
}

masu_status tl__tensor_settle(tl_tensor *t) {
    tl_storage *storage = t->storage;
    void *data = NULL;
    if (storage->slot != TL_SLOT_FOREIGN || (storage->count == 1 && t->head.count == 1))
        return MASU_OK;
    masu_status status = tl__payload_alloc(storage->bytes, &data);
    if (status != MASU_OK)
        return status;
    memcpy(data, storage->data, storage->bytes);
    move_views(&tl__runtime()->tensors, storage, storage->data, data);
    storage->data = data;
    storage->slot = 0;
    return MASU_OK;
}

static bool is_laid_out_as(const tl_tensor *t, tl_dtype dtype, int rank, const int64_t *shape) {
    if (t->dtype != dtype || t->rank != rank || !t->contiguous)
        return false;
    for (int i = 0; i < rank; i++)
        if (t->shape[i] != shape[i])
            return false;
    return (size_t)t->elements * tl__dtype_size(dtype) == t->storage->bytes;
}

tl_tensor *tl__tensor_over(tl_tensor *spent, tl_dtype dtype, int rank, const int64_t *shape) {
    tl_runtime *rt = tl__runtime();
    if (spent->head.count > 1 || spent->storage->count > 1 || !is_laid_out_as(spent, dtype, rank, shape))
        return NULL;
    if ((spent->storage->slot || tl__in_frame(rt, spent->data)) && !tl__slot_lends(rt, spent->storage))
        return NULL;
    tl_tensor *t = tl__cells_take(&rt->tensors);
    if (!t)
        return NULL;
    *t = *spent;
    t->head = (tl_object){.count = 1, .kind = TL_TENSOR};
    t->node = NULL;
    t->storage->count++;
    rt->reused++;
    tl__storage_written(t->storage);
    return t;
}

void tl__tensor_free(tl_tensor *t) {
    tl_runtime *rt = tl__runtime();
    tl_node *node = t->node;
    tl_storage *storage = t->storage;
    bool longest = MASU_UNLIKELY(storage->growth == TL_GROWTH_ROOM) && tl__growth_is_longest(t);
    tl__storage_drop(storage);
    tl__cells_give(&rt->tensors, t);
    if (MASU_UNLIKELY(longest))
        tl__growth_settle(storage);
    if (node)
        tl__node_drop(node);
}

void tl__tensor_drop(tl_tensor *t) {
    if (!t)
        return;
    MASU_DEBUG_ASSERT(t->head.count > 0);
    if (--t->head.count == 0)
        tl__tensor_free(t);
}

/* ---- checks ------------------------------------------------------------------------------------------------------ */

/* Every reachable element lies inside the storage. */
static bool inside_storage(const tl_tensor *t) {
    int64_t size = (int64_t)tl__dtype_size(t->dtype);
    int64_t low = 0, high = size;
    for (int i = 0; i < t->rank; i++) {
        int64_t reach = (t->shape[i] - 1) * t->stride[i] * size;
        *(reach < 0 ? &low : &high) += reach;
    }
    int64_t offset = (const char *)t->data - (const char *)t->storage->data;
    return offset + low >= 0 && offset + high <= (int64_t)t->storage->bytes;
}

bool tl__tensor_valid(const tl_tensor *t) {
    if (t->head.count == 0 || t->head.kind != TL_TENSOR || t->dtype >= TL_DTYPE_COUNT || t->rank > TL_MAX_RANK)
        return false;
    if (!t->storage || t->storage->count == 0)
        return false;
    if (t->node && t->dtype != TL_F32 && t->dtype != TL_F64)
        return false;
    for (int i = 0; i < t->rank; i++)
        if (t->shape[i] < 0)
            return false;
    return t->elements == product_of_shape(t) && t->contiguous == is_row_major(t) &&
           (t->elements == 0 || inside_storage(t));
}

/* Counts for each storage the tensors that point to it, in the storage's own scratch word. */
static bool count_holders(const tl_runtime *rt) {
    const tl_cells *tensors = &rt->tensors;
    for (const tl_cell_chunk *chunk = tensors->chunks; chunk; chunk = chunk->next) {
        for (uint64_t i = 0; i < chunk->cell_count; i++) {
            const tl_cell *cell = tl__chunk_cell(tensors, chunk, i);
            if (cell->count == 0)
                continue;
            const tl_tensor *t = (const tl_tensor *)(const void *)cell;
            if (!tl__tensor_valid(t))
                return false;
            t->storage->holders++;
        }
    }
    return true;
}

static bool compare_holders(const tl_runtime *rt, uint64_t *bytes) {
    bool same = true;
    const tl_cells *storages = &rt->storages;
    for (const tl_cell_chunk *chunk = storages->chunks; chunk; chunk = chunk->next) {
        for (uint64_t i = 0; i < chunk->cell_count; i++) {
            tl_cell *cell = tl__chunk_cell(storages, chunk, i);
            if (cell->count == 0)
                continue;
            tl_storage *storage = (tl_storage *)(void *)cell;
            same = same && storage->holders == storage->count && (storage->data == NULL) == (storage->bytes == 0);
            *bytes += storage->slot || tl__in_frame(rt, storage->data) ? 0 : storage->bytes;
            storage->holders = 0;
        }
    }
    return same;
}

bool tl__tensors_valid(const tl_runtime *rt) {
    uint64_t bytes = 0;
    bool counted = tl__cells_valid(&rt->tensors) && tl__cells_valid(&rt->storages) && count_holders(rt);
    bool same = compare_holders(rt, &bytes);
    return counted && same && bytes <= rt->live_bytes && tl__growth_valid(rt);
}

bool tl_tensor_is_like(tl_tensor *a, tl_tensor *b) {
    bool alike = a->dtype == b->dtype && a->rank == b->rank;
    for (int d = 0; alike && d < a->rank; d++)
        alike = a->shape[d] == b->shape[d];
    return alike;
}
