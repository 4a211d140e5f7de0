/* declared.c: the names of variables in a function, by a hash, and their end: a variable ends where its block does, and
 * then a destructor uses what it holds. The newest of a name hides those before it (tests/cli/borrows.sh). */
#include <string.h>

#include "language/borrow/builder.h"

static uint32_t hash_of(const char *name) {
    uint32_t hash = 2166136261u;
    for (; *name != 0; name++)
        hash = (hash ^ (unsigned char)*name) * 16777619u;
    return hash;
}

uint32_t borrow_find_name(const builder *b, const char *name) {
    const uint32_t hash = hash_of(name);
    uint32_t at = b->bucket_count == 0 ? 0 : b->buckets[hash & (b->bucket_count - 1)];
    while (at != 0 && (b->names[at - 1].hash != hash || strcmp(b->names[at - 1].name, name) != 0))
        at = b->names[at - 1].before;
    return at == 0 ? NO_VARIABLE : b->names[at - 1].variable;
}

static void link_name(builder *b, uint32_t i) {
    uint32_t *bucket = &b->buckets[b->names[i].hash & (b->bucket_count - 1)];
    b->names[i].before = *bucket;
    *bucket = i + 1;
}

static void grow_buckets(builder *b) {
    b->bucket_count = b->bucket_count == 0 ? 32 : b->bucket_count * 2;
    b->buckets = GRAPH_ARRAY(&b->g, uint32_t, b->bucket_count);
    for (uint32_t i = 0; i < b->name_count; i++)
        link_name(b, i);
}

uint32_t borrow_declare_name(builder *b, const char *name, source_span span, const sort *s) {
    if (borrow_is_lent(s))
        borrow_mark(b, span, MARK_LENT);
    bound_name n = {.name = name, .variable = graph_new_variable(&b->g, name, span, s), .hash = hash_of(name)};
    if (b->name_count == b->bucket_count)
        grow_buckets(b);
    GRAPH_PUSH(&b->g, b->names, b->name_count, b->name_capacity, n);
    link_name(b, b->name_count - 1);
    return n.variable;
}

void borrow_forget_names(builder *b, uint32_t count) {
    for (uint32_t i = b->name_count; i-- > count;)
        b->buckets[b->names[i].hash & (b->bucket_count - 1)] = b->names[i].before;
    b->name_count = count;
}

/* The variables behind the first `count` end here; they stay known when this is a jump out of their block. */
void borrow_leave_names(builder *b, uint32_t count, source_span span, bool forget) {
    for (uint32_t i = b->name_count; i-- > count;) {
        uint32_t v = b->names[i].variable;
        if (sort_ends(b, b->g.variables[v].sort))
            graph_event(&b->g, b->at, (event){.kind = EVENT_USE, .mode = TOUCH_END, .from = v, .span = span});
        if (b->g.variables[v].is_borrowed)
            borrow_touch(b, borrow_place_of_variable(b, v), TOUCH_END, span, NULL);
        if (forget)
            b->buckets[b->names[i].hash & (b->bucket_count - 1)] = b->names[i].before;
    }
    b->name_count = forget ? count : b->name_count;
}
