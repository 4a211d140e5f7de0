/* results.c: what a function yields on its way to a caller in C: everything, or nothing and why.
 *
 *     prepare ─► run ─► deliver:  look at all of it ─► write elements, hand out owners
 *
 * Only the first half of deliver can fail, so a caller never sees a part.
 */
#include "runtime/calls/calls.h"
#include "runtime/value/objects.h"

/* ---- what compiled code gives ------------------------------------------------------------------------------------ */

/* Elements in a frame or in a slot are there until the function ends only, those behind which there is room may go on
 * growing. */
static bool stays(const tl_runtime *rt, const tl_tensor *t) {
    return !tl__in_frame(rt, t->data) && (t->storage->slot == 0 || t->storage->slot == TL_SLOT_FOREIGN) &&
           t->storage->growth == TL_GROWTH_NONE;
}

void tl_give_tensor(int64_t index, tl_tensor *t) {
    tl_runtime *rt = tl__runtime();
    tl_tensor *given = t;
    masu_status status = MASU_OK;
    if (!stays(rt, t) || t->node) {
        status = stays(rt, t) ? tl__tensor_view(t, &given) : tl__tensor_copied(t, &given);
        tl__tensor_drop(t);
    }
    if (status != MASU_OK) {
        tl__raise();
        return;
    }
    rt->called->given[index].object = &given->head;
}

void tl_give_object(int64_t index, tl_object *o) {
    tl__runtime()->called->given[index].object = o;
}

void tl_give_f64(int64_t index, double v) {
    tl__runtime()->called->given[index].f64 = v;
}

void tl_give_i64(int64_t index, int64_t v) {
    tl__runtime()->called->given[index].i64 = v;
}

/* ---- places of the caller ---------------------------------------------------------------------------------------- */

static bool is_counted(masu_kind kind) {
    return kind == MASU_KIND_TENSOR || kind == MASU_KIND_TEXT || kind == MASU_KIND_HANDLE;
}

/* The caller's memory, which the result is written into. */
static bool is_place(const masu_value *v) {
    return v->kind == MASU_KIND_TENSOR && v->as.tensor.data && !v->as.tensor.owner;
}

static masu_status spare_owner(masu_instance *i) {
    void *memory;
    masu_status status = tl__alloc(sizeof(masu_handle), &memory);
    if (status != MASU_OK)
        return tl__call_refuse(i, status, NULL, "out of memory for an owner of its results");
    masu_handle *made = memory;
    *made = (masu_handle){.instance = i, .next = i->spare};
    i->spare = made;
    return MASU_OK;
}

static masu_status check_place(masu_instance *i, const masu_parameter *p, const masu_value *v) {
    const masu_tensor *t = &v->as.tensor;
    bool wanted = v->kind == MASU_KIND_NONE ||
                  (v->kind == MASU_KIND_TENSOR && p->kind == MASU_KIND_TENSOR && !t->data && !t->owner);
    if (wanted)
        return MASU_OK;
    if (!is_place(v) || p->kind != MASU_KIND_TENSOR)
        return tl__call_refuse(i, MASU_ERR_INVALID_ARGUMENT, p,
                               "its place holds something: set it to zero, or to a view of memory");
    if (t->device != MASU_TENSOR_ON_HOST)
        return tl__call_refuse(i, MASU_ERR_UNSUPPORTED, p,
                               "its place is on device %d; only memory of the host can be written", t->device);
    if (t->flags & MASU_TENSOR_READ_ONLY)
        return tl__call_refuse(i, MASU_ERR_INVALID_ARGUMENT, p, "its place is read-only");
    if (!tl__view_is_possible(t) || !tl__view_is_plain(t))
        return tl__call_refuse(i, MASU_ERR_INVALID_ARGUMENT, p,
                               "its place cannot be: its shape is wrong, or its strides name an element twice");
    return MASU_OK;
}

masu_status tl__results_prepare(masu_instance *i, const masu_value *results) {
    const masu_function *f = i->function;
    masu_status status = MASU_OK;
    uint32_t wanted = 0, spare = 0;
    if (f->result_count > 0 && !results)
        return tl__call_refuse(i, MASU_ERR_INVALID_ARGUMENT, NULL,
                               "it has %" PRIu32 " results, and there is no place for them", f->result_count);
    for (uint32_t n = 0; status == MASU_OK && n < f->result_count; n++) {
        status = check_place(i, &f->results[n], &results[n]);
        wanted += is_counted(f->results[n].kind);
    }
    for (const masu_handle *h = i->spare; h; h = h->next)
        spare++;
    for (; status == MASU_OK && spare < wanted; spare++)
        status = spare_owner(i);
    for (uint32_t n = 0; n < 2 * TL_CALL_PARTS; n++)
        i->given[n].object = NULL;
    return status;
}

/* ---- to the caller ----------------------------------------------------------------------------------------------- */

static masu_status check_fit(masu_instance *i, const masu_parameter *p, const tl_tensor *t, const masu_tensor *to) {
    char has[TL_SHAPE_TEXT], given[TL_SHAPE_TEXT];
    bool same = t->rank == to->rank;
    for (int d = 0; same && d < t->rank; d++)
        same = t->shape[d] == to->shape[d];
    if (!same)
        return tl__call_refuse(i, MASU_ERR_SHAPE_MISMATCH, p, "shape %s does not fit into a place of shape %s",
                               tl__shape_text(t->rank, t->shape, has), tl__shape_text(to->rank, to->shape, given));
    if ((int)t->dtype != (int)to->element)
        return tl__call_refuse(i, MASU_ERR_DTYPE_MISMATCH, p, "its elements are not of the type that its place has");
    return MASU_OK;
}

static masu_status check_result(masu_instance *i, const masu_parameter *p, const tl_given *given, const masu_value *v) {
    if (p->kind == MASU_KIND_TENSOR && is_place(v))
        return check_fit(i, p, (const tl_tensor *)(const void *)given->object, &v->as.tensor);
    if (p->kind == MASU_KIND_I64 && (given->i64 < p->least || given->i64 > p->most))
        return tl__call_refuse(i, MASU_ERR_OVERFLOW, p, "a number of type %s that an int64_t does not hold", p->type);
    return MASU_OK;
}

static const tl_tensor *given_tensor(const tl_given *given) {
    return (const tl_tensor *)(const void *)given->object;
}

static void write_elements(const tl_tensor *t, const masu_tensor *to) {
    if (t->elements > 0)
        tl__elements_copy(to->data, to->stride, t->data, t->stride, t->rank, t->shape,
                          tl__dtype_size((tl_dtype)t->dtype));
}

static masu_handle *hand_out(masu_instance *i, const masu_parameter *p, tl_given *given) {
    masu_handle *owner = i->spare;
    i->spare = owner->next;
    *owner = (masu_handle){.instance = i, .object = given->object, .type = p->handle_type, .kind = (uint32_t)p->kind};
    given->object = NULL;
    atomic_fetch_add(&i->holds, 1);
    return owner;
}

static void show_tensor(masu_tensor *out, tl_tensor *t, masu_handle *owner) {
    *out = masu_tensor_of((masu_element)t->dtype, t->data, t->rank, t->shape);
    for (int d = 0; d < t->rank; d++)
        out->stride[d] = t->stride[d];
    out->flags = t->storage->count > 1 || t->head.count > 1 || !tl__view_is_plain(out) ? MASU_TENSOR_READ_ONLY : 0;
    out->owner = owner;
}

static void deliver_one(masu_instance *i, const masu_parameter *p, tl_given *given, masu_value *v) {
    if (p->kind == MASU_KIND_TENSOR && is_place(v)) {
        write_elements(given_tensor(given), &v->as.tensor);
        return;
    }
    v->kind = p->kind;
    if (p->kind == MASU_KIND_F32) {
        v->as.f32 = (float)given->f64;
    } else if (p->kind == MASU_KIND_F64) {
        v->as.f64 = given->f64;
    } else if (p->kind == MASU_KIND_I64) {
        v->as.i64 = given->i64;
    } else if (p->kind == MASU_KIND_BOOL) {
        v->as.truth = given->i64 != 0;
    } else {
        tl_object *object = given->object;
        masu_handle *owner = hand_out(i, p, given);
        if (p->kind == MASU_KIND_TENSOR)
            show_tensor(&v->as.tensor, (tl_tensor *)(void *)object, owner);
        else if (p->kind == MASU_KIND_TEXT)
            v->as.text = (masu_string){tl__string_bytes(object), (size_t)tl__string_length(object), owner};
        else
            v->as.handle = owner;
    }
}

/* Parameters that the function wrote to. */
static void deliver_written(masu_instance *i, uint32_t n) {
    const masu_value *v = &i->arguments[n];
    tl_given *given = &i->given[i->function->result_count + n];
    if (v->kind == MASU_KIND_TENSOR) {
        write_elements(given_tensor(given), &v->as.tensor);
        return;
    }
    tl_object *before = v->as.handle->object;
    v->as.handle->object = given->object;
    given->object = before;
}

masu_status tl__results_deliver(masu_instance *i, masu_value *results) {
    const masu_function *f = i->function;
    masu_status status = MASU_OK;
    for (uint32_t n = 0; status == MASU_OK && n < f->result_count; n++)
        status = check_result(i, &f->results[n], &i->given[n], &results[n]);
    for (uint32_t n = 0; status == MASU_OK && n < f->parameter_count; n++)
        if (f->parameters[n].is_written && f->parameters[n].kind == MASU_KIND_TENSOR)
            status = check_fit(i, &f->parameters[n], given_tensor(&i->given[f->result_count + n]),
                               &i->arguments[n].as.tensor);
    for (uint32_t n = 0; status == MASU_OK && n < f->parameter_count; n++)
        if (f->parameters[n].is_written)
            deliver_written(i, n);
    for (uint32_t n = 0; status == MASU_OK && n < f->result_count; n++)
        deliver_one(i, &f->results[n], &i->given[n], &results[n]);
    return status;
}

void tl__results_drop(masu_instance *i) {
    const masu_function *f = i->function;
    for (uint32_t n = 0; n < f->result_count + f->parameter_count; n++) {
        bool is_result = n < f->result_count;
        masu_kind kind = is_result ? f->results[n].kind : f->parameters[n - f->result_count].kind;
        if (!is_counted(kind) || (!is_result && !f->parameters[n - f->result_count].is_written))
            continue;
        tl__object_drop(i->given[n].object);
        i->given[n].object = NULL;
    }
}
