/* explain_values.h: what is known of each binding and temporary of a function, for the three forms of `explain`. */
#ifndef MASU_LANGUAGE_EXPLAIN_VALUES_H
#define MASU_LANGUAGE_EXPLAIN_VALUES_H

#include "base/buffer.h"
#include "language/ir/ir.h"

/* The first of those that share something with a value, and how many there are. */
enum { EXPLAIN_MOST_SHARERS = 16, EXPLAIN_MOST_LENT = 8 };
typedef struct explain_sharers {
    ir_value of[EXPLAIN_MOST_SHARERS];
    uint32_t count;
} explain_sharers;

typedef struct explain_account {
    ir_value value;       /* that it is, or of which it is another name; 0: of one that is not read */
    uint32_t line;        /* 0: it has no place in the source */
    const char *kind;     /* parameter, made, received, taken, joined, nothing, name */
    const char *where;    /* frame, growing, caller, pool, view, object, elsewhere */
    const char *why_pool; /* why its elements could lie nowhere better; or NULL */
    int32_t slot;         /* owner slot, -1: none */
    uint32_t last_use;    /* a line, 0: none */
    uint32_t lent, counted;
    const ir_function *const *lent_to; /* the first EXPLAIN_MOST_LENT, each once */
    uint32_t lent_kinds;
    const char *why_counted; /* of the first count; NULL: there is none */
    bool moved, borrowed;
    masu__buffer name;            /* between marks, as everything that is quoted */
    masu__buffer origin;          /* how it came to be, and where its elements lie */
    masu__buffer slot_words;      /* ", slot 2 with `a`, `b`" */
    masu__buffer ends;            /* "dies in line 5, moves out in line 7" */
    explain_sharers slot_sharers; /* at other times they are in the same owner slot */
    explain_sharers byte_sharers; /* they lie in some of the same bytes of the frame */
} explain_account;

typedef void explain_visit(void *user, const explain_account *account);
/* ", shared with `a`, `b`"; nothing when there are none. */
void explain_put_sharers(const ir_function *f, const explain_sharers *s, masu__buffer *out);
/* "lent to f{b}, g{ob}"; nothing when it was not. */
void explain_put_lent(const explain_account *account, masu__buffer *out);

/* Calls visit for each, in the order of their lines. False when memory runs out. O(values x values). */
bool explain_tell(const ir_function *f, explain_visit *visit, void *user);

#endif
