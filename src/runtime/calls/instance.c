/* instance.c: a program that callers in C use function by function: made, called, given back.
 *
 *     call:  take `busy` ─► what was returned ─► check ─► tl_runtime_run(main) ─► deliver or say why ─► leave `busy`
 *
 * The runtime's own ways do the rest: a function that fails leaves nothing behind (frames, owners), and what it was
 * given is still the caller's.
 */
#include <stdarg.h>
#include <string.h>

#include "base/meta.h"
#include "runtime/calls/calls.h"

enum { DEFAULT_SEED = 8, FRAME_BYTES = 64 << 10, FRAME_UNIT_BYTES = 4096 };

/* ---- create, destroy --------------------------------------------------------------------------------------------- */

static void take_returned(masu_instance *i);

static void instance_end(masu_instance *i) {
    tl_runtime_enter(i->rt);
    take_returned(i);
    while (i->spare) {
        masu_handle *next = i->spare->next;
        tl__free(i->spare, sizeof *i->spare);
        i->spare = next;
    }
    tl_runtime_leave(i->rt);
    tl_runtime_destroy(i->rt);
    masu_device_destroy(i->arena);
    masu__buffer_destroy(&i->error);
    masu__meta_free(i, sizeof *i);
}

/* One hold less; the last one ends it. */
static void let_go(masu_instance *i) {
    if (atomic_fetch_sub(&i->holds, 1) == 1)
        instance_end(i);
}

static bool options_are_possible(const masu_instance_options *o) {
    if (o->struct_bytes != sizeof *o)
        return false;
    if (!o->arena)
        return o->arena_bytes == 0 && o->frame_bytes == 0;
    return (uintptr_t)o->arena % MASU_INSTANCE_UNIT == 0 && o->frame_bytes % FRAME_UNIT_BYTES == 0 &&
           o->arena_bytes % FRAME_UNIT_BYTES == 0 && o->arena_bytes > (o->frame_bytes ? o->frame_bytes : FRAME_BYTES);
}

/* The frames are at the end of the caller's memory. What is before them goes out in units as large as the pools' own
 * slabs, so that no address changes how many are needed. */
static masu_status use_arena(masu_instance *i, const masu_instance_options *options, tl_runtime_config *config) {
    i->frame_bytes = options->frame_bytes ? options->frame_bytes : FRAME_BYTES;
    masu_range_config range = {.struct_bytes = sizeof range,
                               .base = options->arena,
                               .bytes = options->arena_bytes - i->frame_bytes,
                               .flags = MASU_DEVICE_HOST_ACCESS,
                               .granularity_bytes = MASU_INSTANCE_UNIT};
    config->frame_arena = (char *)options->arena + range.bytes;
    config->frame_arena_bytes = i->frame_bytes;
    config->only_device = true;
    masu_status status = masu_device_create_range(&range, &i->arena);
    config->device = i->arena;
    return status == MASU_ERR_INVALID_ARGUMENT ? MASU_ERR_OUT_OF_MEMORY : status; /* not one granule */
}

static masu_status create_parts(masu_instance *i, const masu_instance_options *options) {
    tl_runtime_config config = {.seed = options && options->seed ? options->seed : DEFAULT_SEED,
                                .program = i->module->name};
    masu_status status = options && options->arena ? use_arena(i, options, &config) : MASU_OK;
    return status == MASU_OK ? tl_runtime_create(&config, &i->rt) : status;
}

masu_status tl_instance_create(const masu_module *module, const masu_instance_options *options, void (*entry)(void),
                               tl_describe *describe, masu_instance **out) {
    if (!out)
        return MASU_ERR_INVALID_ARGUMENT;
    *out = NULL;
    if (!module || (options && !options_are_possible(options)))
        return MASU_ERR_INVALID_ARGUMENT;
    masu_instance *i = masu__meta_calloc(1, sizeof *i);
    if (!i)
        return MASU_ERR_OUT_OF_MEMORY;
    i->module = module;
    masu_status status = create_parts(i, options);
    if (status != MASU_OK) {
        masu_device_destroy(i->arena);
        masu__meta_free(i, sizeof *i);
        return status;
    }
    i->entry = entry;
    i->describe = describe;
    i->rt->called = i;
    atomic_init(&i->holds, 1);
    *out = i;
    return MASU_OK;
}

size_t tl_instance_arena_used(const masu_instance *i) {
    masu_device_stats stats;
    if (!i || !i->arena)
        return 0;
    masu_device_get_stats(i->arena, &stats);
    return i->frame_bytes + stats.peak_bytes;
}

void tl_instance_destroy(masu_instance *i) {
    if (i)
        let_go(i);
}

/* ---- what was given back ----------------------------------------------------------------------------------------- */

/* By the thread that is busy. */
static void take_returned(masu_instance *i) {
    masu_handle *owner = atomic_exchange(&i->returned, NULL);
    while (owner) {
        masu_handle *next = owner->next;
        tl__object_drop(owner->object);
        owner->object = NULL;
        owner->next = i->spare;
        i->spare = owner;
        owner = next;
    }
}

static void give_back(masu_handle *owner) {
    masu_instance *i = owner->instance;
    owner->next = atomic_load(&i->returned);
    while (!atomic_compare_exchange_weak(&i->returned, &owner->next, owner)) {
    }
    if (!atomic_exchange(&i->busy, true)) {
        tl_runtime_enter(i->rt);
        take_returned(i);
        tl_runtime_leave(i->rt);
        atomic_store(&i->busy, false);
    }
    let_go(i);
}

void tl_value_release(masu_value *v) {
    void *owner = !v                            ? NULL
                  : v->kind == MASU_KIND_TENSOR ? v->as.tensor.owner
                  : v->kind == MASU_KIND_TEXT   ? v->as.text.owner
                  : v->kind == MASU_KIND_HANDLE ? (void *)v->as.handle
                                                : NULL;
    if (v)
        v->kind = MASU_KIND_NONE;
    if (owner)
        give_back(owner);
}

void tl_handle_drop(masu_handle *handle) {
    if (handle)
        give_back(handle);
}

masu_status tl_handle_clone(masu_handle *handle, masu_handle **out) {
    void *memory = NULL;
    if (!out || !handle || handle->kind != MASU_KIND_HANDLE)
        return MASU_ERR_INVALID_ARGUMENT;
    *out = NULL;
    masu_instance *i = handle->instance;
    if (atomic_exchange(&i->busy, true))
        return MASU_ERR_INVALID_ARGUMENT;
    tl_runtime_enter(i->rt);
    masu_status status = tl__alloc(sizeof(masu_handle), &memory);
    if (status == MASU_OK) {
        masu_handle *made = memory;
        *made = (masu_handle){.instance = i, .object = handle->object, .type = handle->type, .kind = handle->kind};
        made->object->count++;
        atomic_fetch_add(&i->holds, 1);
        *out = made;
    }
    tl_runtime_leave(i->rt);
    atomic_store(&i->busy, false);
    return status;
}

/* ---- errors ------------------------------------------------------------------------------------------------------ */

/* FILE:LINE: step: argument `x`: … */
masu_status tl__call_refuse(masu_instance *i, masu_status status, const masu_parameter *part, const char *format, ...) {
    va_list arguments;
    masu__buffer_truncate(&i->error, 0);
    if (i->function)
        masu__buffer_printf(&i->error, "%s:%" PRIu32 ": %s: ", i->module->source, i->function->line, i->function->name);
    if (part && part->name)
        masu__buffer_printf(&i->error, "argument `%s`: ", part->name);
    else if (part)
        masu__buffer_printf(&i->error, "result %d: ", (int)(part - i->function->results));
    va_start(arguments, format);
    masu__buffer_vprintf(&i->error, format, arguments);
    va_end(arguments);
    return status;
}

const char *tl_instance_error(const masu_instance *i) {
    return i ? masu__buffer_text(&i->error) : "";
}

/* An error without a shown place, such as an `Err` that the function yields, gets the place of the function. */
static masu_status explain(masu_instance *i, masu_status status, const tl_error *error) {
    size_t path = strlen(i->module->source);
    masu__buffer text = {0};
    i->describe(error, &text);
    masu__buffer_truncate(&i->error, 0);
    if (text.length < path || memcmp(text.data, i->module->source, path) != 0)
        masu__buffer_printf(&i->error, "%s:%" PRIu32 ": %s: ", i->module->source, i->function->line, i->function->name);
    masu__buffer_puts(&i->error, masu__buffer_text(&text));
    masu__buffer_destroy(&text);
    return status;
}

/* ---- call -------------------------------------------------------------------------------------------------------- */

/* The program holds no memory of the caller any more; where no memory is left for a copy of what does, the instance is
 * at its end. */
static masu_status end_arguments(masu_instance *i, masu_status status) {
    if (tl__arguments_end(i) == MASU_OK)
        return status;
    tl__results_drop(i);
    if (tl__arguments_end(i) == MASU_OK)
        return status != MASU_OK ? status
                                 : tl__call_refuse(i, MASU_ERR_OUT_OF_MEMORY, NULL,
                                                   "out of memory for a copy of an argument that the program keeps");
    i->broken = true;
    return tl__call_refuse(
        i, MASU_ERR_OUT_OF_MEMORY, NULL,
        "out of memory for a copy of an argument that the program keeps: this instance is at its end");
}

static masu_status run(masu_instance *i, masu_value *results) {
    tl_error error;
    masu_status status = tl_runtime_run(i->rt, i->entry, &error);
    if (status != MASU_OK)
        explain(i, status, &error);
    else if (error.exit_status != 0 || error.ends)
        status = tl__call_refuse(i, MASU_ERR_PANIC, NULL, "the program asked to end with status %d", error.exit_status);
    status = end_arguments(i, status);
    if (status == MASU_OK)
        status = tl__results_deliver(i, results);
    tl__results_drop(i);
    return status;
}

static masu_status checked_call(masu_instance *i, uint32_t number, const masu_value *arguments, masu_value *results) {
    i->function = NULL;
    if (number >= i->module->function_count)
        return tl__call_refuse(i, MASU_ERR_INVALID_ARGUMENT, NULL, "no function of number %" PRIu32, number);
    i->number = number;
    i->function = &i->module->functions[number];
    i->arguments = arguments;
    if (i->broken)
        return tl__call_refuse(i, MASU_ERR_OUT_OF_MEMORY, NULL, "this instance came to its end in an earlier call");
    masu_status status = tl__arguments_check(i);
    if (status == MASU_OK)
        status = tl__results_prepare(i, results);
    return status == MASU_OK ? run(i, results) : status;
}

masu_status tl_instance_call(masu_instance *i, uint32_t number, const masu_value *arguments, masu_value *results) {
    if (!i || atomic_exchange(&i->busy, true))
        return MASU_ERR_INVALID_ARGUMENT;
    tl_runtime_enter(i->rt);
    take_returned(i);
    masu_status status = checked_call(i, number, arguments, results);
    i->arguments = NULL;
    tl_runtime_leave(i->rt);
    atomic_store(&i->busy, false);
    return status;
}
