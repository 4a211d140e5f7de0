/* specialise.c: see specialise.h. */
#include "language/pass/specialise.h"

#include <string.h>

#include "base/assert.h"
#include "language/ir/edit.h"
#include "language/ir/store.h"

bool specialiser_init(specialiser *s, ir_module *m, masu__arena *scratch) {
    *s = (specialiser){.m = m, .scratch = scratch};
    s->versions = MASU_ARENA_ARRAY(scratch, version *, m->function_count);
    s->counts = MASU_ARENA_ARRAY(scratch, uint32_t, m->function_count);
    return s->versions && s->counts;
}

/* ---- finding and making versions ------------------------------------------------------------- */

static bool is_managed(const ir_function *f, uint32_t k) {
    return ir_type_managed(ir_type_of(f, f->params[k]));
}

static bool matches(const ir_function *version, const bool *owned) {
    for (uint32_t k = 0; k < version->param_count; k++)
        if (is_managed(version, k) && version->values[version->params[k]].borrowed == owned[k])
            return false;
    return true;
}

static ir_function *existing(const specialiser *s, const ir_function *original, const bool *owned) {
    for (const version *v = s->versions[original->id]; v; v = v->next)
        if (matches(v->function, owned))
            return v->function;
    return NULL;
}

static char *letters_for(specialiser *s, const ir_function *f, const bool *owned) {
    char *letters = ir_alloc(s->m, (size_t)f->param_count + 1, 1);
    uint32_t count = 0;
    for (uint32_t k = 0; letters && k < f->param_count; k++)
        if (is_managed(f, k))
            letters[count++] = owned[k] ? 'o' : 'b';
    return letters;
}

static const char *name_for(specialiser *s, const ir_function *f, const char *letters) {
    if (!*letters)
        return f->name;
    const char *name = masu__arena_printf(s->m->arena, "%s{%s}", f->name, letters);
    s->m->out_of_memory |= !name;
    return name;
}

static bool enqueue(specialiser *s, const ir_function *original, ir_function *f) {
    version *v = MASU_ARENA_NEW(s->scratch, version);
    ir_function **room = ir_room(s->m, s->queue, s->queued, sizeof(ir_function *));
    if (!v || !room)
        return false;
    *v = (version){.function = f, .next = s->versions[original->id]};
    s->versions[original->id] = v;
    s->counts[original->id]++;
    s->queue = room;
    s->queue[s->queued++] = f;
    return true;
}

static ir_function *make(specialiser *s, ir_function *original, const bool *owned) {
    const char *letters = letters_for(s, original, owned);
    const char *name = letters ? name_for(s, original, letters) : NULL;
    ir_function *f = name ? ir_function_clone(original, name) : NULL;
    if (!f)
        return NULL;
    f->specialised_from = original;
    f->ownership = letters;
    for (uint32_t k = 0; k < f->param_count; k++)
        f->values[f->params[k]].borrowed = is_managed(f, k) && !owned[k];
    if (!enqueue(s, original, f)) {
        s->m->out_of_memory = true;
        return NULL;
    }
    return f;
}

ir_function *specialise(specialiser *s, ir_function *original, bool *owned) {
    ir_function *found = existing(s, original, owned);
    if (!found && s->counts[original->id] + 1 >= SPECIALISE_MOST_VERSIONS) {
        for (uint32_t k = 0; k < original->param_count; k++)
            owned[k] = is_managed(original, k);
        found = existing(s, original, owned);
    }
    found = found ? found : make(s, original, owned);
    MASU_DEBUG_ASSERT(!found || (matches(found, owned) && found->param_count == original->param_count));
    return found;
}

ir_function *specialiser_next(specialiser *s) {
    return s->done < s->queued ? s->queue[s->done++] : NULL;
}

/* ---- the module's new lists ------------------------------------------------------------------ */

static void add_function(ir_module *m, ir_function *f) {
    if (!f)
        return;
    f->id = m->function_count;
    m->functions[m->function_count++] = f;
}

static void mark_kernels(const ir_function *f, const ir_module *m, bool *used) {
    for (uint32_t b = 0; b < f->block_count; b++)
        for (const ir_instr *i = f->blocks[b]->first; i; i = i->next)
            for (uint32_t k = 0; i->op == IR_COMPREHEND && k < m->kernel_count; k++)
                used[k] |= m->kernels[k] == i->kernel;
}

/* Kernels that no version uses go, with their functions. */
static void keep_kernels(specialiser *s) {
    ir_module *m = s->m;
    bool *used = MASU_ARENA_ARRAY(s->scratch, bool, m->kernel_count);
    if (!used) {
        m->out_of_memory = true;
        return;
    }
    for (uint32_t f = 0; f < s->queued; f++)
        mark_kernels(s->queue[f], m, used);
    uint32_t kept = 0;
    for (uint32_t k = 0; k < m->kernel_count; k++) {
        if (!used[k])
            continue;
        m->kernels[kept++] = m->kernels[k];
        add_function(m, m->kernels[kept - 1]->forward);
        add_function(m, m->kernels[kept - 1]->backward);
        add_function(m, m->kernels[kept - 1]->forward_careful);
        add_function(m, m->kernels[kept - 1]->backward_careful);
    }
    m->kernel_count = kept;
}

void specialiser_finish(specialiser *s) {
    ir_module *m = s->m;
    uint32_t most = s->queued + 4 * m->kernel_count;
    m->functions = ir_alloc(m, most ? most : 1, sizeof(ir_function *));
    m->function_count = 0;
    m->function_capacity = most ? most : 1;
    if (!m->functions)
        return;
    for (uint32_t f = 0; f < s->queued; f++) {
        add_function(m, s->queue[f]);
        if (s->queue[f]->specialised_from == m->main)
            m->main = s->queue[f];
    }
    keep_kernels(s);
    MASU_DEBUG_ASSERT(m->function_count <= most && (!m->main || m->functions[m->main->id] == m->main));
}
