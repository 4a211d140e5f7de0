/* audit_model.c: see audit_model.h. */
#include "runtime/system/audit_model.h"

#include <string.h>

#include "base/meta.h"

enum { FIRST_CHAINS = 256, FEW_LEADS = 24 };

/* ---- arrays that grow ---------------------------------------------------------------------------------------- */

static bool reserve(audit_model *m, void *array_place, size_t element, size_t *capacity, size_t wanted) {
    void **array = array_place;
    if (wanted <= *capacity)
        return !m->failed;
    size_t larger = *capacity ? *capacity : 16;
    while (larger < wanted)
        larger *= 2;
    void *moved = masu__meta_realloc(*array, *capacity * element, larger * element);
    if (!moved) {
        m->failed = true;
        return false;
    }
    *array = moved;
    *capacity = larger;
    return !m->failed;
}

static bool reserve32(audit_model *m, void *array_place, size_t element, uint32_t *capacity, size_t wanted) {
    size_t room = *capacity;
    bool enough = wanted <= UINT32_MAX && reserve(m, array_place, element, &room, wanted);
    m->failed |= !enough;
    *capacity = (uint32_t)room;
    return enough;
}

/* ---- entries by address --------------------------------------------------------------------------------------- */

static uint32_t chain_of(const audit_model *m, const void *address) {
    return (uint32_t)(((uintptr_t)address >> 4) * 0x9E3779B97F4A7C15u >> 32) & (m->chain_count - 1);
}

static uint32_t find(const audit_model *m, const void *address) {
    uint32_t at = m->chain_count ? m->chains[chain_of(m, address)] : 0;
    while (at && m->entries[at].address != address)
        at = m->entries[at].next;
    return at;
}

static bool more_chains(audit_model *m) {
    uint32_t count = m->chain_count ? 2 * m->chain_count : FIRST_CHAINS;
    uint32_t *chains = masu__meta_calloc(count, sizeof *chains);
    if (!chains) {
        m->failed = true;
        return false;
    }
    uint32_t before = m->chain_count, *old = m->chains;
    m->chains = chains;
    m->chain_count = count;
    for (uint32_t c = 0; c < before; c++) {
        for (uint32_t at = old[c], next; at; at = next) {
            model_entry *e = &m->entries[at];
            next = e->next;
            uint32_t chain = chain_of(m, e->address);
            e->next = chains[chain];
            chains[chain] = at;
        }
    }
    masu__meta_free(old, before * sizeof *old);
    return true;
}

static void count_entry(audit_model *m, const model_entry *e, uint64_t by) {
    switch ((model_kind)e->kind) {
    case MODEL_STORAGE:
        m->storages += by;
        break;
    case MODEL_NODE:
        m->nodes += by;
        break;
    case MODEL_OBJECT:
        *(e->object == TL_TENSOR ? &m->headers : &m->objects) += by;
        break;
    case MODEL_LEAF:
        break;
    }
}

static uint32_t new_entry(audit_model *m) {
    uint32_t at = m->free;
    if (at) {
        m->free = m->entries[at].next;
        return at;
    }
    at = m->count ? m->count : 1;
    if (!reserve32(m, &m->entries, sizeof *m->entries, &m->capacity, (size_t)at + 1))
        return 0;
    m->count = at + 1;
    m->entries[at] = (model_entry){0};
    return at;
}

/* One way more; what was not there waits in new_entries to be looked at. So does a tensor that was: an operation may
 * have made its result of it (detach), and that went where it was not looked yet. */
static void arrive(audit_model *m, void *address, model_kind kind) {
    if (!address || m->failed)
        return;
    uint32_t at = find(m, address);
    if (at)
        m->entries[at].ways++;
    if ((at && (kind != MODEL_OBJECT || m->entries[at].object != TL_TENSOR)) ||
        !reserve32(m, &m->new_entries, sizeof *m->new_entries, &m->new_room, (size_t)m->new_count + 1))
        return;
    if (at) {
        m->new_entries[m->new_count++] = at;
        return;
    }
    if ((m->count >= m->chain_count && !more_chains(m)) || !(at = new_entry(m)))
        return;
    model_entry *e = &m->entries[at];
    uint32_t chain = chain_of(m, address);
    e->address = address;
    e->ways = 1;
    e->kind = (uint8_t)kind;
    if (kind == MODEL_OBJECT)
        e->object = (uint8_t)((tl_object *)address)->kind;
    e->lead_count = 0;
    e->next = m->chains[chain];
    m->chains[chain] = at;
    count_entry(m, e, 1);
    m->new_entries[m->new_count++] = at;
}

static void leave(audit_model *m, void *address) {
    if (address && reserve(m, &m->gone, sizeof *m->gone, &m->gone_room, m->gone_count + 1))
        m->gone[m->gone_count++] = address;
}

static void remove_entry(audit_model *m, uint32_t at) {
    model_entry *e = &m->entries[at];
    uint32_t *link = &m->chains[chain_of(m, e->address)];
    while (*link != at)
        link = &m->entries[*link].next;
    *link = e->next;
    count_entry(m, e, UINT64_MAX);
    for (uint32_t k = 0; k < e->lead_count; k++)
        leave(m, m->entries[at].leads[k]);
    e->lead_count = 0;
    e->address = NULL;
    e->next = m->free;
    m->free = at;
}

/* Removes entries that nothing leads to, and those they led to: by a list, without recursion. */
static void settle_gone(audit_model *m) {
    while (m->gone_count > 0 && !m->failed) {
        uint32_t at = find(m, m->gone[--m->gone_count]);
        if (at && --m->entries[at].ways == 0)
            remove_entry(m, at);
    }
}

/* ---- what an object leads to ------------------------------------------------------------------------------------- */

typedef struct leads { /* as they are now */
    void *few[FEW_LEADS];
    uint8_t kinds[FEW_LEADS];
    uint32_t count;
} leads;

static void lead(leads *l, void *address, model_kind kind) {
    if (l->count < FEW_LEADS) {
        l->few[l->count] = address;
        l->kinds[l->count] = (uint8_t)kind;
    }
    l->count++;
}

static model_kind kind_of_node(const tl_node *node) {
    return node && node->flags & TL_NODE_LEAF ? MODEL_LEAF : MODEL_NODE;
}

static void leads_of_node(tl_node *node, leads *l) {
    for (int i = 0; i < node->input_count; i++)
        lead(l, tl__node_inputs(node)[i], kind_of_node(tl__node_inputs(node)[i]));
    for (int i = 0; i < node->saved_count; i++)
        lead(l, tl__node_saved(node)[i], MODEL_OBJECT);
    lead(l, *tl__node_buffer(node), MODEL_OBJECT);
    lead(l, tl__node_gathers(node) != node ? tl__node_gathers(node) : NULL, MODEL_LEAF);
    if (node->flags & TL_NODE_LEAF)
        lead(l, tl__node_leaf(node)->gradient, MODEL_OBJECT);
}

static void leads_of(const model_entry *e, leads *l) {
    if (e->kind == MODEL_NODE || e->kind == MODEL_LEAF)
        leads_of_node(e->address, l);
    if (e->kind != MODEL_OBJECT || e->object != TL_TENSOR)
        return;
    tl_tensor *t = e->address;
    lead(l, t->storage, MODEL_STORAGE);
    lead(l, t->node, kind_of_node(t->node));
}

static bool as_remembered(const model_entry *e, const leads *l) {
    return e->lead_count == l->count && (l->count == 0 || memcmp(e->leads, l->few, l->count * sizeof(void *)) == 0);
}

static bool room_for_leads(audit_model *m, uint32_t at, uint32_t count) {
    model_entry *e = &m->entries[at];
    void **array = e->leads;
    uint32_t room = e->lead_room;
    bool enough = reserve32(m, &array, sizeof(void *), &room, count);
    e->leads = array;
    e->lead_room = room;
    return enough;
}

static void arrive_lead(audit_model *m, const leads *l, uint32_t k) {
    arrive(m, l->few[k], (model_kind)l->kinds[k]);
}

/* First the new ways, then the old ones go: what both lead to stays. Stacks and the like have more operands than
 * leads holds: they are walked again without being remembered in between. */
static void remember(audit_model *m, uint32_t at, const leads *l) {
    for (uint32_t k = 0; k < l->count; k++)
        arrive_lead(m, l, k);
    for (uint32_t k = 0; k < m->entries[at].lead_count; k++)
        leave(m, m->entries[at].leads[k]);
    if (!room_for_leads(m, at, l->count))
        return;
    memcpy(m->entries[at].leads, l->few, l->count * sizeof(void *));
    m->entries[at].lead_count = l->count;
}

static void remember_wide_node(audit_model *m, uint32_t at) {
    tl_node *node = m->entries[at].address;
    uint32_t count = (uint32_t)node->input_count + node->saved_count, before = 0;
    bool same = m->entries[at].lead_count == count;
    for (; same && before < count; before++)
        same = m->entries[at].leads[before] == (void *)(uintptr_t)node->words[before];
    if (same)
        return;
    for (uint32_t k = 0; k < count; k++)
        arrive(m, (void *)(uintptr_t)node->words[k],
               k < node->input_count ? kind_of_node(tl__node_inputs(node)[k]) : MODEL_OBJECT);
    for (uint32_t k = 0; k < m->entries[at].lead_count; k++)
        leave(m, m->entries[at].leads[k]);
    if (!room_for_leads(m, at, count))
        return;
    memcpy(m->entries[at].leads, node->words, count * sizeof(void *));
    m->entries[at].lead_count = count;
}

static void look_again(audit_model *m, uint32_t at) {
    leads l = {.count = 0};
    leads_of(&m->entries[at], &l);
    if (l.count > FEW_LEADS)
        remember_wide_node(m, at);
    else if (!as_remembered(&m->entries[at], &l))
        remember(m, at, &l);
}

/* ---- vectors ----------------------------------------------------------------------------------------------------- */

static void *word_of(const tl_vector *v, int64_t element, int64_t k) {
    return (void *)(uintptr_t)v->words[element * v->plan->word_count + v->plan->owned[k]];
}

static void look_at_element(audit_model *m, uint32_t at, const tl_vector *v, int64_t element) {
    int64_t owned = v->plan->owned_count, first = element * owned;
    for (int64_t k = 0; k < owned; k++)
        arrive(m, word_of(v, element, k), MODEL_OBJECT);
    for (int64_t k = first; k < first + owned && k < m->entries[at].lead_count; k++)
        leave(m, m->entries[at].leads[k]);
    if (!room_for_leads(m, at, (uint32_t)(first + owned)))
        return;
    for (int64_t k = 0; k < owned; k++)
        m->entries[at].leads[first + k] = word_of(v, element, k);
    if (m->entries[at].lead_count < first + owned)
        m->entries[at].lead_count = (uint32_t)(first + owned);
}

static void look_at_vector(audit_model *m, uint32_t at, const tl_vector *v) {
    for (int64_t e = 0; e < v->length && v->plan->owned_count > 0 && !m->failed; e++)
        look_at_element(m, at, v, e);
}

/* ---- the whole --------------------------------------------------------------------------------------------------- */

static bool is_vector(const model_entry *e) {
    return e->kind == MODEL_OBJECT && e->object == TL_VECTOR;
}

static void look_at_new(audit_model *m) {
    while (m->new_count > 0 && !m->failed) {
        uint32_t at = m->new_entries[--m->new_count];
        if (is_vector(&m->entries[at]))
            look_at_vector(m, at, m->entries[at].address);
        else
            look_again(m, at);
    }
}

void model_refresh_element(audit_model *m, const tl_vector *v, int64_t index) {
    uint32_t at = find(m, v);
    int64_t owned = v->plan->owned_count;
    if (!at || m->failed || owned == 0)
        return;
    if (index < v->length) {
        look_at_element(m, at, v, index);
        look_at_new(m);
    }
    while (index >= v->length && m->entries[at].lead_count > index * owned)
        leave(m, m->entries[at].leads[--m->entries[at].lead_count]);
    settle_gone(m);
}

void model_add(audit_model *m, void *object) {
    arrive(m, object, MODEL_OBJECT);
    look_at_new(m);
}

void model_drop(audit_model *m, void *object) {
    leave(m, object);
    settle_gone(m);
}

uint64_t model_ways(const audit_model *m, const void *object) {
    uint32_t at = find(m, object);
    return at ? m->entries[at].ways : 0;
}

void model_refresh(audit_model *m, void *object) {
    uint32_t at = m->failed ? 0 : find(m, object);
    if (!at)
        return;
    if (m->entries[at].kind == MODEL_OBJECT && m->entries[at].object == TL_TENSOR) {
        look_again(m, at);
        uint32_t node = find(m, ((tl_tensor *)object)->node);
        if (node)
            look_again(m, node);
    }
    look_at_new(m);
    settle_gone(m);
}

void model_refresh_node(audit_model *m, tl_node *node) {
    uint32_t at = m->failed ? 0 : find(m, node);
    if (!at)
        return;
    look_again(m, at);
    look_at_new(m);
    settle_gone(m);
}

void model_destroy(audit_model *m) {
    for (uint32_t at = 1; at < m->count; at++)
        masu__meta_free(m->entries[at].leads, m->entries[at].lead_room * sizeof(void *));
    masu__meta_free(m->entries, m->capacity * sizeof *m->entries);
    masu__meta_free(m->chains, m->chain_count * sizeof *m->chains);
    masu__meta_free(m->new_entries, m->new_room * sizeof *m->new_entries);
    masu__meta_free(m->gone, m->gone_room * sizeof *m->gone);
    *m = (audit_model){0};
}
