/* generator.h: what the generator's files share.
 *
 *     generate.c     a program: types, functions, main
 *     statements.c   bodies: bindings, branches, loops, ways out, training
 *     expressions.c  values of each kind
 *     richer.c       what holds other kinds: values, and statements about them
 *     further.c      parts written, places lent, functions as values, tensors that grow
 *
 * Every value has one of a few kinds, so that whatever is drawn fits. Tensors have one of three shapes:
 *
 *     wide [2, 3]        square [3, 3]        row [3]        number []
 *
 * Elements stay small: `bound` says how large they may be, and what would exceed LIMIT is clamped. `tracked` says that
 * a value may have a history: then it is neither written in place nor asked for extremes. Once in a while both are
 * forgotten on purpose: errors are part of the language.
 */
#ifndef MASU_FUZZ_GENERATOR_H
#define MASU_FUZZ_GENERATOR_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buffer.h"
#include "base/rng.h"

typedef enum kind {
    WIDE,
    SQUARE,
    ROW,
    NUMBER,  /* a tensor of rank 0 */
    INTEGER, /* i64 */
    REAL,    /* f32 */
    TRUTH,
    PAIR,  /* struct Pair { x: WIDE, y: ROW, n: INTEGER } */
    NEST,  /* struct Nest { p: Pair, m: SQUARE, e: Empty } */
    EMPTY, /* struct Empty {} */
    TUPLE, /* (WIDE, ROW) */
    LIST,  /* Vec<WIDE>, never empty */
    MAYBE, /* Option<WIDE> */
    /* richer.c */
    CHOICE,     /* enum Choice */
    CRATE,      /* Crate<WIDE> */
    CHEST,      /* Crate<PAIR> */
    PAIRS,      /* Vec<PAIR>, never less than two */
    CHOICES,    /* Vec<CHOICE>, two */
    MAYBE_PAIR, /* Option<PAIR> */
    TREE,       /* enum Tree */
    FIXED,      /* [WIDE; 2] */
    DEEP,       /* (PAIR, (WIDE, INTEGER)) */
    ROWS,       /* Vec<LIST>, two */
    RESULT,     /* Result<WIDE, String> */
    MODEL,      /* struct Model */
    KINDS
} kind;

enum { LIMIT = 48, MOST_VARIABLES = 400, MOST_FUNCTIONS = 12, MOST_PARAMETERS = 4 };

typedef struct variable {
    char name[16];
    kind kind;
    bool is_mutable, tracked, is_leaf, hidden;
    int depth; /* of scope */
    int loop;  /* loops around its definition */
} variable;

typedef struct routine {
    char name[16];
    kind result;
    bool returns; /* false: nothing */
    kind parameters[MOST_PARAMETERS];
    int parameter_count;
    bool is_recursive; /* takes a depth in front */
} routine;

typedef struct traits { /* of a value */
    double bound;
    bool tracked;
} traits;

typedef struct generator {
    masu__rng rng;
    masu__buffer *out;
    variable variables[MOST_VARIABLES];
    int variable_count;
    routine routines[MOST_FUNCTIONS];
    int routine_count;
    const routine *inside; /* NULL: main */
    const char *self;      /* inside a method: "self", a Pair */
    int names;
    int indent;
    int depth; /* of scopes */
    int loops; /* around this place */
    int label; /* of a loop around it; 0: none */
    int budget;
    bool closed; /* what follows in this block is unreachable */
} generator;

static inline uint32_t below(generator *g, uint32_t n) {
    return (uint32_t)masu__rng_below(&g->rng, n);
}
static inline bool one_in(generator *g, uint32_t n) {
    return below(g, n) == 0;
}

const char *kind_type(kind k); /* as in source */
bool is_tensor(kind k);

/* A name of kind k that can be read here, NULL: there is none. */
const variable *any_variable(generator *g, kind k, bool is_mutable, bool untracked);
variable *declare(generator *g, kind k, bool is_mutable, bool tracked);

/* Writes a value of kind k. depth: how much deeper it may get. */
traits value(generator *g, kind k, int depth);
/* The same; its elements are small. */
traits small_value(generator *g, kind k, int depth);
/* The same, and it has no history. */
void plain_value(generator *g, kind k, int depth);
void condition(generator *g, int depth);
traits call(generator *g, const routine *r, int depth);

/* Writes `text` as a line of its own; open and close blocks. */
void line(generator *g, const char *format, ...) __attribute__((format(printf, 2, 3)));
void begin_line(generator *g);
void end_line(generator *g, const char *text);
void open_scope(generator *g);
void close_scope(generator *g);

void body(generator *g, int statements);
void prologue(generator *g, bool all);
void show(generator *g, const variable *v);

/* richer.c */
extern const char richer_types[];
traits rich_value(generator *g, kind k, int depth);
traits carried(generator *g, kind k, int depth);
traits unpacked(generator *g, int depth);
void change_inside(generator *g);
void change_by_method(generator *g);
void change_pairs(generator *g);
void match_choice(generator *g);
void taken_apart(generator *g);
void labelled_loops(generator *g);
void drained(generator *g);
void writing_closure(generator *g);
void train_model(generator *g);

/* further.c */
extern const char further_types[];
void part_written(generator *g);
void printed_whole(generator *g);
void widened(generator *g);
void lent_for_writing(generator *g);
void function_as_value(generator *g);
void grown(generator *g);
void several_results(generator *g);
void recursion_called(generator *g);

#endif
