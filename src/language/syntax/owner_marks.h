/* owner_marks.h: where the text moves, lends and looks at values, by its places: borrow/ writes them, lower/ reads
 * them. */
#ifndef MASU_LANGUAGE_OWNER_MARKS_H
#define MASU_LANGUAGE_OWNER_MARKS_H

#include "base/arena.h"
#include "language/diagnose/source.h"

/* Marks for lowering, of types with a destructor, since the checked tree knows no moves. A mark says what happens at a
 * place of the source, whatever the type. */
typedef enum owner_mark_kind {
    MARK_TAKEN = 1,           /* a place as a value: what lies there moves */
    MARK_BEHIND = 2,          /* such a place behind a reference or in a list: nothing may move from there */
    MARK_LENT = 4,            /* a name: it is a reference, or holds some */
    MARK_EXTENDED = 8,        /* a name of `let x = &value();`: the value lives as long as it */
    MARK_LOOKED = 16,         /* a value that is used where it is: it lives to the end of the statement */
    MARK_RUN_OVER = 32,       /* what a `for` runs over by reference */
    MARK_CAPTURED = 64,       /* a name: a closure takes it away */
    MARK_CAPTURED_PART = 128, /* a name: a closure with `move` uses a part of it only */
    MARK_POINTER = 256,       /* a name: of a Box or Rc, of which nothing is a part */
    MARK_ONCE = 512           /* a closure: its body gives away what it captured, so that it is called once */
} owner_mark_kind;

typedef struct owner_mark {
    source_span span;
    unsigned kinds;
} owner_mark;

typedef struct owner_marks { /* by place, each place once */
    owner_mark *items;
    uint32_t count, capacity;
} owner_marks;

/* The kinds of marks at a place; 0: none. */
unsigned owner_marks_at(const owner_marks *marks, source_span span);
/* Each place once from here on: marks of one place are put together. */
void owner_marks_sort(owner_marks *marks);

#endif
