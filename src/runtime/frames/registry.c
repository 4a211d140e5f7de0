/* registry.c: dynamic owners. Scopes, registered objects, and the counts that compiled code takes and gives.
 *
 * An object that compiled code holds is in one of three states:
 *
 *              tl_mem_register_*, tl_tensor_register
 *     ┌────────────┐ ───────────────────────────────► ┌────────────┐  tl_mem_exit_scope, end of the function,
 *     │  floating  │                                  │ registered │ ─► unwinding: released
 *     └────────────┘ ◄─────────────────────────────── └────────────┘
 *       │    ▲ ▲       tl_tensor_promote, tl_mem_unregister
 *       │    │ └────── a fresh result: one count, owned by the caller
 *       ▼    │
 *     ┌────────────┐
 *     │   stored   │   in a vector, a graph node or an owner slot: that place holds the count
 *     └────────────┘
 *
 * Each arrow moves one count; none makes or destroys one. tl_ptr_acquire makes one, tl_ptr_release destroys one.
 *
 * The registry is one array, cut into scopes by their marks. Registering takes a free entry of the innermost scope
 * or a new one on top; unregistering frees the entry in whichever scope it lies, found through the object's own
 * head: both O(1). So a loop that registers and promotes for ever needs no more entries than live at once.
 *
 *     entries  [ A | · | B ][ C | A ][ D ]         head.registered of A ─► its newest entry ─► `previous`
 *     scopes     ^mark 0      ^mark 3  ^mark 5
 *
 * What must stay true (tl__registry_valid checks it):
 *     registered = entries with an object = sum over objects of the length of their chain
 *     an object's count >= length of its chain;  a chain never leads to a younger scope
 *     free entries of a scope lie in its free list, each once
 *     scope_depth = scopes that are not implicit
 *
 * NULL is a value of no size: every function here returns at once when given it.
 */
#include <inttypes.h>

#include "base/meta.h"
#include "runtime/state.h"

enum { FIRST_CAPACITY = 32 };

/* ---- scopes ------------------------------------------------------------------------------------------------ */

/* Twice the capacity. On failure the array is as it was. */
static masu_status grow_array(void **array, size_t *capacity, size_t element_bytes, const char *what) {
    size_t larger = *capacity ? 2 * *capacity : FIRST_CAPACITY;
    void *moved = NULL;
    if (larger < UINT32_MAX)
        moved = masu__meta_realloc(*array, *capacity * element_bytes, larger * element_bytes);
    if (!moved)
        return tl__error_memory(MASU_ERR_OUT_OF_MEMORY, larger * element_bytes, what);
    *array = moved;
    *capacity = larger;
    return MASU_OK;
}

static masu_status open_scope(tl_runtime *rt, bool implicit) {
    if (rt->scope_count == rt->scope_capacity) {
        void *scopes = rt->scopes;
        masu_status status = grow_array(&scopes, &rt->scope_capacity, sizeof *rt->scopes, "the table of scopes");
        if (status != MASU_OK)
            return status;
        rt->scopes = scopes;
    }
    rt->scopes[rt->scope_count++] = (tl_scope){.mark = (uint32_t)rt->entry_count, .implicit = implicit};
    rt->scope_depth += !implicit;
    return MASU_OK;
}

/* Takes the entries of the innermost scope out of their objects' chains. An object's entries in this scope are
 * the newest of its chain, in any order of place. */
static void detach_entries(tl_runtime *rt, size_t mark) {
    for (size_t i = mark; i < rt->entry_count; i++) {
        tl_object *object = rt->entries[i].object;
        if (!object)
            continue;
        while (object->registered > mark)
            object->registered = rt->entries[object->registered - 1].previous;
    }
}

static void close_scope(tl_runtime *rt) {
    tl_scope scope = rt->scopes[rt->scope_count - 1];
    detach_entries(rt, scope.mark);
    while (rt->entry_count > scope.mark) {
        tl_object *object = rt->entries[--rt->entry_count].object;
        if (!object)
            continue;
        rt->registered--;
        rt->release_ops++;
        tl__object_drop(object);
    }
    rt->scope_count--;
    rt->scope_depth -= !scope.implicit;
}

void tl__close_scopes(tl_runtime *rt, size_t scope_count) {
    while (rt->scope_count > scope_count)
        close_scope(rt);
}

/* How many scopes belong to callers, who alone may close them. */
static size_t foreign_scopes(const tl_runtime *rt) {
    return rt->frame ? rt->frame->scope_mark : 0;
}

void tl_mem_enter_scope(void) {
    if (open_scope(tl__runtime(), false) != MASU_OK)
        tl__raise();
    else
        masu_trace_begin(tl__runtime()->trace, MASU_MARK_SCOPE, NULL);
}

void tl_mem_exit_scope(void) {
    tl_runtime *rt = tl__runtime();
    if (rt->scope_count == foreign_scopes(rt) || rt->scopes[rt->scope_count - 1].implicit) {
        tl__error(TL_SAY(scope_exit_without_matching_enter_at_scope), rt->scope_depth);
        tl__raise();
        return;
    }
    close_scope(rt);
    masu_trace_end(rt->trace, MASU_MARK_SCOPE, NULL);
}

/* ---- registered ----------------------------------------------------------------------------------------------- */

/* The place of a free entry of the innermost scope, on top or reused. */
static masu_status take_entry(tl_runtime *rt, uint32_t *out) {
    if (rt->scope_count == foreign_scopes(rt)) {
        masu_status status = open_scope(rt, true);
        if (status != MASU_OK)
            return status;
    }
    tl_scope *scope = &rt->scopes[rt->scope_count - 1];
    if (scope->free) {
        *out = scope->free - 1;
        scope->free = rt->entries[*out].previous;
        return MASU_OK;
    }
    if (rt->entry_count == rt->entry_capacity) {
        void *entries = rt->entries;
        masu_status status = grow_array(&entries, &rt->entry_capacity, sizeof *rt->entries,
                                        "the registry of live values");
        if (status != MASU_OK)
            return status;
        rt->entries = entries;
    }
    *out = (uint32_t)rt->entry_count++;
    return MASU_OK;
}

static masu_status register_object(tl_object *object) {
    tl_runtime *rt = tl__runtime();
    uint32_t place;
    masu_status status = take_entry(rt, &place);
    if (status != MASU_OK)
        return status;
    rt->entries[place] = (tl_entry){object, object->registered, (uint32_t)rt->scope_count - 1};
    object->registered = place + 1;
    rt->registered++;
    return MASU_OK;
}

/* The count passes to the scope; should there be no entry for it, it is released before the error is raised. */
static void register_or_raise(tl_object *object) {
    if (!object || register_object(object) == MASU_OK)
        return;
    tl__object_drop(object);
    tl__raise();
}

static void unregister(tl_object *object) {
    if (!object || object->registered == 0)
        return;
    tl_runtime *rt = tl__runtime();
    uint32_t place = object->registered - 1;
    tl_entry *entry = &rt->entries[place];
    tl_scope *scope = &rt->scopes[entry->scope];
    object->registered = entry->previous;
    entry->object = NULL;
    entry->previous = scope->free;
    scope->free = place + 1;
    rt->registered--;
}

void tl_mem_register_tensor(tl_tensor *t) {
    register_or_raise((tl_object *)t);
}

void tl_mem_register_struct(tl_object *o) {
    register_or_raise(o);
}

void tl_tensor_register(tl_tensor *t) {
    register_or_raise((tl_object *)t);
}

/* Registered or not: afterwards one registration less, and its count is the caller's. */
void tl_mem_unregister(void *p) {
    unregister(p);
}

void tl_tensor_promote(tl_tensor *t) {
    unregister((tl_object *)t);
}

/* ---- counts ------------------------------------------------------------------------------------------------------ */

static void acquire(tl_object *object) {
    if (!object)
        return;
    MASU_DEBUG_ASSERT(object->count > 0 && object->count < UINT32_MAX);
    object->count++;
    tl__runtime()->retain_ops++;
}

static void release(tl_object *object) {
    if (!object)
        return;
    tl__runtime()->release_ops++;
    tl__object_drop(object);
}

void tl_ptr_acquire(void *p) {
    acquire(p);
}

void tl_ptr_release(void *p) {
    release(p);
}

void tl_tensor_acquire(tl_tensor *t) {
    acquire((tl_object *)t);
}

void tl_tensor_release_safe(tl_tensor *t) {
    release((tl_object *)t);
}

void tl__object_drop(tl_object *object) {
    if (!object)
        return;
    MASU_DEBUG_ASSERT(object->count > 0);
    if (--object->count > 0)
        return;
    MASU_DEBUG_ASSERT(object->registered == 0);
    switch ((tl_kind)object->kind) {
    case TL_TENSOR:
        tl__tensor_free((tl_tensor *)object);
        break;
    case TL_STRING:
        tl__string_free(object);
        break;
    case TL_VECTOR:
        tl__vector_free(object);
        break;
    case TL_HANDLE:
        tl__handle_free(object);
        break;
    }
}

/* ---- the check --------------------------------------------------------------------------------------------------- */

static bool free_list_valid(const tl_runtime *rt, uint32_t scope, size_t end, uint64_t *length) {
    const tl_scope *s = &rt->scopes[scope];
    for (uint32_t at = s->free; at; at = rt->entries[at - 1].previous)
        if (at - 1 < s->mark || at - 1 >= end || rt->entries[at - 1].object || ++*length > end)
            return false;
    return true;
}

/* Entry i must be reachable from its object, through entries of the same object in scopes not older than its own. */
static bool entry_valid(const tl_runtime *rt, size_t i) {
    const tl_object *object = rt->entries[i].object;
    uint64_t steps = 0;
    bool found = false;
    uint32_t scope = UINT32_MAX;
    for (uint32_t at = object->registered; at; at = rt->entries[at - 1].previous) {
        const tl_entry *entry = &rt->entries[at - 1];
        if (at > rt->entry_count || entry->object != object || entry->scope > scope || ++steps > object->count)
            return false;
        scope = entry->scope;
        found = found || at - 1 == i;
    }
    return found;
}

static bool scope_valid(const tl_runtime *rt, uint32_t scope, uint64_t *registered) {
    size_t mark = rt->scopes[scope].mark;
    size_t end = scope + 1 < rt->scope_count ? rt->scopes[scope + 1].mark : rt->entry_count;
    uint64_t empty = 0, listed = 0;
    if (mark > end)
        return false;
    for (size_t i = mark; i < end; i++)
        if (!rt->entries[i].object)
            empty++;
        else if (rt->entries[i].scope != scope || !entry_valid(rt, i))
            return false;
    *registered += end - mark - empty;
    return free_list_valid(rt, scope, end, &listed) && listed == empty;
}

bool tl__registry_valid(const tl_runtime *rt) {
    uint64_t registered = 0, explicit = 0;
    if (rt->entry_count > rt->entry_capacity || rt->scope_count > rt->scope_capacity)
        return false;
    if (rt->scope_count == 0 ? rt->entry_count != 0 : rt->scopes[0].mark != 0)
        return false;
    for (uint32_t i = 0; i < rt->scope_count; i++) {
        if (!scope_valid(rt, i, &registered))
            return false;
        explicit += !rt->scopes[i].implicit;
    }
    return registered == rt->registered && explicit == rt->scope_depth;
}
