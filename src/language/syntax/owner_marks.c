/* owner_marks.c: see owner_marks.h. */
#include "language/syntax/owner_marks.h"

#include <stdlib.h>

static int by_span(const void *a, const void *b) {
    const source_span *x = &((const owner_mark *)a)->span, *y = &((const owner_mark *)b)->span;
    if (x->file != y->file)
        return (uintptr_t)x->file < (uintptr_t)y->file ? -1 : 1;
    if (x->offset != y->offset)
        return x->offset < y->offset ? -1 : 1;
    return x->length < y->length ? -1 : x->length > y->length;
}

void owner_marks_sort(owner_marks *m) {
    if (m->count == 0)
        return;
    qsort(m->items, m->count, sizeof *m->items, by_span);
    uint32_t kept = 0;
    for (uint32_t i = 1; i < m->count; i++)
        if (by_span(&m->items[kept], &m->items[i]) == 0)
            m->items[kept].kinds |= m->items[i].kinds;
        else
            m->items[++kept] = m->items[i];
    m->count = kept + 1;
}

unsigned owner_marks_at(const owner_marks *marks, source_span span) {
    owner_mark wanted = {.span = span};
    const owner_mark *found = marks == NULL || marks->count == 0
                                  ? NULL
                                  : bsearch(&wanted, marks->items, marks->count, sizeof wanted, by_span);
    return found == NULL ? 0 : found->kinds;
}
