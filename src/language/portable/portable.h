/* portable.h: the other back end: functions of a module as plain C11, for processors that LLVM, BLAS and an operating
 * system never see (`masu build --c`).
 *
 *     calls of known shapes ─► facts ─► one flat function an export ─► places ─► C and its header
 *     (stated_calls.c)               (follow.c)  (flatten.c)                  (arrays.c)  (write*.c)
 *
 * Everything is known before a line is written: shapes follow from what the calls say, so each function of the program
 * that has to do with tensors is taken apart where it is called, with its constants put in and branches that cannot be
 * taken left out. What is left are loops over arrays at fixed offsets of one arena, whose height the planner has
 * proved. What C cannot say so is refused with its place.
 *
 * Values are values: that a tensor is written in place, or is a view of another, is decided here again from what is
 * alive (arrays.c), so instructions of ownership are passed over.
 */
#ifndef MASU_LANGUAGE_PORTABLE_H
#define MASU_LANGUAGE_PORTABLE_H

#include "base/arena.h"
#include "base/buffer.h"
#include "language/codegen/codegen.h"
#include "language/facts/shape_facts.h"
#include "language/ir/ir.h"
#include <masu/module.h>

/* ---- what is known of a value ------------------------------------------------------------------------------------ */

typedef enum fact_kind {
    FACT_UNSET,  /* nothing has reached it */
    FACT_NUMBER, /* i, or f where the type is a real one */
    FACT_TENSOR,
    FACT_LIST,    /* so many elements of so many words, each with its fact: lists, records, handles */
    FACT_TEXT,    /* a text: only panics look at it */
    FACT_NOTHING, /* no tensor and no list */
    FACT_ANY      /* a number; of anything else: not known, and good for nothing */
} fact_kind;

typedef struct fact fact;

typedef struct leaf {
    const char *name; /* what the program calls it, or NULL */
    ir_type type;
} leaf;

typedef struct fact_list {
    uint32_t count, width; /* elements, words of each */
    const fact *words;     /* count * width */
    const leaf *leaves;    /* width; NULL: not known */
} fact_list;

struct fact {
    fact_kind kind;
    tl_dtype dtype; /* tensors */
    uint32_t rank;
    int64_t dim[TL_MAX_RANK];
    int64_t i;
    double f;
    const char *text;      /* of a text that is written out in the program; else NULL */
    const fact_list *list; /* of a list; of a tensor: its elements, where they are known */
};

static inline fact fact_of(fact_kind kind) {
    return (fact){.kind = kind};
}
int64_t fact_elements(const fact *t);
bool fact_same(const fact *a, const fact *b);
/* Both are tensors whose numbers are known and may be a shape, and these are others. */
bool fact_numbers_differ(const fact *a, const fact *b);

/* ---- one call ---------------------------------------------------------------------------------------------------- */

typedef struct stated_call {
    const char *name;  /* that its one handle gets; NULL: the function is written */
    uint32_t function; /* of the module */
    const fact *arguments;
    const char *const *shown; /* each as it was written */
} stated_call;

/* One function with what is known of its values when it is called from there. */
typedef struct frame {
    const struct frame *caller;
    source_span at; /* of the call */
    const ir_function *f;
    fact *facts;        /* by value */
    bool *taken;        /* by block */
    shape_fact *shapes; /* by value, for the rules of shapes */
    number_fact *numbers;
    const ir_instr **cut; /* by block: the call that does not come back; what is behind it is not reached */
    fact *results;
    bool returns;
    bool traced; /* one way through f, loops turn by turn: facts are those of the last turn */
} frame;

/* An output of an export: result or written parameter `index`, word `word` of a handle. */
typedef struct outcome {
    uint32_t index, word;
    ir_value value;
    ir_type type;
} outcome;

typedef struct flat { /* one export, everything it calls put in */
    const masu_function *shown;
    const stated_call *call;
    ir_function *f;
    fact *facts; /* by value of f */
    uint32_t fact_capacity;
    ir_value *parameters[32]; /* by parameter and word */
    uint32_t words[32];
    bool changes[32]; /* by parameter: some of it goes out otherwise than it came in */
    fact given[64];   /* by index of what goes out */
    const fact *made; /* by word of the one handle that is yielded, with what is known of numbers; NULL: not one */
    uint64_t arena_bytes;
} flat;

typedef struct handle_shape { /* of a type of handles: from the first call that yields one */
    const fact_list *list;
    bool *varies; /* by word: calls disagree on the number, so it is a field of C; NULL: on none */
    bool is_written;
} handle_shape;

typedef struct baked { /* what a handle holds, as constants of the file */
    const struct masu_weights *from;
    const char *symbol;  /* of the handle in C */
    uint32_t type, call; /* of handles; that makes one */
    const size_t *item;  /* of the file of weights, by word of the handle; the number of items: none */
} baked;

typedef struct portable {
    masu__arena arena;
    const ir_module *module;
    const codegen_options *options;
    const masu_module *shown;
    ir_module *out; /* the flat functions */
    shape_symbols symbols;
    handle_shape *handles; /* by type */
    stated_call *calls;
    uint32_t call_count;
    baked *baked;         /* by weights of the options */
    uint64_t flash_bytes; /* of constant arrays: literals and weights */
    flat *flats;          /* by call */
    flat *now;            /* whose export is looked at; given, parameters */
    const fact *arguments;
    uint32_t depth;
    bool again; /* a number that was known varies: the calls are followed once more */
    bool refused, out_of_memory;
    masu__buffer code, header;
} portable;

/* Says why not, at the innermost place that the user wrote. The first refusal counts. */
void portable_refuse(portable *p, const frame *where, source_span span, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* The same where there is no frame: `span` is the user's. */
static inline bool portable_stopped(const portable *p) {
    return p->refused || p->out_of_memory;
}
/* The innermost place of the user's, from the instruction outwards. */
source_span portable_place(const portable *p, const frame *where, source_span span);
const ir_function *portable_entry(const portable *p, uint32_t function);

/* ---- stated_calls.c ---------------------------------------------------------------------------------------------- */

/* options->calls, each followed (follow.c), handles named. */
void portable_read_calls(portable *p);

/* ---- handle_words.c ---------------------------------------------------------------------------------------------- */

/* A struct of that type as it is in C: its shapes, variants and constants, its fields by their names. `call` makes it:
 * its file of weights counts. */
fact handle_words(portable *p, const fact_list *given, uint32_t type, const stated_call *call);
/* The word is known when the C is written, and no call changes it: it is not a field of C. */
bool handle_word_is_chosen(const fact_list *list, uint32_t word);
/* Whether `now` has the numbers of the type's handles; where it has others, those vary, and false. */
bool handle_keeps(portable *p, uint32_t type, const fact_list *now);
/* Whether this word of what i gives goes out; refuses another variant than the handle has. */
bool handle_gives(portable *p, const frame *fr, const ir_instr *i, int64_t index, uint32_t word);
/* A parameter of which each word goes out as it came in is not written, though the program says `&mut`: a layer that is
 * not trained stays in flash. */
void handle_note_changes(portable *p, flat *out);

/* ---- follow.c ---------------------------------------------------------------------------------------------------- */

/* The facts inside f when it is called with these; NULL: refused. */
frame *portable_follow(portable *p, const frame *caller, source_span at, const ir_function *f, const fact *arguments);
/* The facts of i's results, from those of its operands. */
void portable_evaluate(portable *p, frame *fr, const ir_instr *i);
/* The block behind `b` of a frame that is traced, with its parameters' facts; NULL behind the last. */
const ir_block *portable_next(portable *p, frame *fr, const ir_block *b);
/* Only numbers go in and out, and only numbers and such functions are inside: written as a function of C. */
bool portable_is_plain(const ir_function *f);
/* Whether the edge is taken. */
bool portable_takes(const frame *fr, const ir_instr *terminator, int which);
/* Elements of that type, read as the other one, whatever their values. */
bool portable_reads_exactly(tl_dtype held, tl_dtype as);
bool portable_passes_over(const ir_instr *i); /* ownership, and what only counts */

/* ---- facts_number.c ---------------------------------------------------------------------------------------------- */

fact portable_number(const ir_function *f, const ir_instr *i, const fact *facts);

/* ---- facts_tensor.c ---------------------------------------------------------------------------------------------- */

fact portable_tensor(portable *p, frame *fr, const ir_instr *i);
/* Operand of a parameter, 0 none; elements of the list. */
ir_value portable_operand(const ir_instr *i, const char *parameter);
uint32_t portable_list(const ir_instr *i, const ir_value **values);

/* ---- element_forms.c --------------------------------------------------------------------------------------------- */

/* How an operation is written; WRITTEN_NOT: it is not. */
typedef enum written {
    WRITTEN_NOT,
    WRITTEN_ELEMENT, /* element by element */
    WRITTEN_VIEW,    /* another way to look at the same elements, or a copy */
    WRITTEN_UPDATE,  /* the first operand with some elements replaced */
    WRITTEN_FILL,    /* all elements the same number */
    WRITTEN_MAKE,    /* a tensor from numbers */
    WRITTEN_LOOPS,   /* loops of its own */
    WRITTEN_NUMBER   /* reads a number */
} written;

written portable_written(tl_abi_index abi);

/* ---- flatten.c --------------------------------------------------------------------------------------------------- */

void portable_flatten(portable *p, flat *out);

/* ---- arrays.c ---------------------------------------------------------------------------------------------------- */

typedef enum root_kind { ROOT_ARENA, ROOT_PARAMETER, ROOT_CONSTANT } root_kind;

typedef struct root { /* bytes in which the elements of one or more values lie */
    root_kind kind;
    tl_dtype dtype;
    int64_t elements;
    uint64_t offset;      /* in the arena */
    uint32_t first, last; /* positions: its life */
    ir_value value;       /* that it was made for */
    bool is_used;
} root;

typedef struct place { /* of a tensor value */
    uint32_t root;
    int64_t offset; /* elements */
    int64_t stride[TL_MAX_RANK];
} place;

typedef enum treatment {
    TREAT_CODE,  /* it is written */
    TREAT_DEAD,  /* nothing reads it */
    TREAT_FUSED, /* inside the loop of the one that reads it */
    TREAT_VIEW,  /* a name for elements that are there */
} treatment;

typedef struct step { /* an instruction in the order of the code */
    const ir_instr *i;
    treatment treatment;
    bool in_place; /* writes over its first operand */
    uint32_t position;
} step;

typedef struct layout {
    flat *flat;
    const ir_function *f;
    struct ir_order *order;
    step *steps; /* in order, blocks one behind the other */
    uint32_t step_count;
    uint32_t *block_first; /* by place in the order: its first step */
    uint32_t *position_of; /* of the step that makes a value, by value; UINT32_MAX: none */
    place *places;         /* by value */
    root *roots;
    uint32_t root_count, root_capacity;
    uint32_t *uses;      /* by value: how many look at it */
    ir_value *only_user; /* by value */
    /* by step and edge: 1 + the first root that the jump's tensors go through, or a result; 0: straight */
    uint32_t *copies;
    uint64_t bytes; /* of the arena */
    uint64_t bound; /* no plan is lower */
} layout;

bool portable_may_fail(const layout *l, const ir_instr *i);
bool layout_gives(const ir_instr *i); /* writes a result, or a parameter that is written */
/* Its value is in place already: a parameter that stays as it was. */
bool layout_is_own(const layout *l, const ir_instr *i);
bool layout_is_fill(const ir_instr *i); /* all elements the same number */
bool layout_is_literal(const ir_instr *i);
bool portable_lay_out(portable *p, flat *f, layout *out);
void layout_dense_strides(const fact *t, int64_t *stride);
/* The place of i's result as another look at its operand; false: it is copied. */
bool layout_view_of(const layout *l, const ir_instr *i, place *at);
bool layout_is_dense(const layout *l, ir_value v);
static inline const fact *layout_fact(const layout *l, ir_value v) {
    return &l->flat->facts[v];
}

/* ---- write_weights.c --------------------------------------------------------------------------------------------- */

/* Which struct each file of weights fills; all that does not fit is one refusal. */
void portable_find_weights(portable *p);
/* The name of the word in a file; the number that the file of weights has for it, if it fits. */
const char *portable_file_name(portable *p, const fact_list *list, uint32_t word);
bool portable_weight_number(portable *p, const struct masu_weights *from, const fact_list *list, uint32_t word,
                            fact *out);
uint64_t portable_bytes(tl_dtype dtype, int64_t elements);

/* ---- write.c, write_*.c ------------------------------------------------------------------------------------------ */

void portable_write(portable *p);

#endif
