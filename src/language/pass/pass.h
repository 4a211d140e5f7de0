/* pass.h: the column of passes, what each needs and gives, and how they are run.
 *
 *     ir ─► fold ─► shapes ─► identity ─► lastuse ─► gradients ─► ownership ─► cancel ─► reuse ─► destinations
 *           opt.    required   opt.       opt.       required     required     opt.      opt.     opt.
 *        ─► frames ─► growing ─► slots ─► codegen
 *           opt.      opt.       opt.
 *
 * Everything that decides where a value lives happens between `ir` and `slots`, on a form that
 * prints and verifies itself. Any optional pass can be left out: the program prints the same.
 *
 * Thread safety: a module belongs to one thread.
 */
#ifndef MASU_LANGUAGE_PASS_H
#define MASU_LANGUAGE_PASS_H

#include "language/diagnose/messages.h"
#include "language/ir/ir.h"
#include "language/language.h"
#include <masu/status.h>

typedef struct pass_note {
    source_span span; /* file NULL: a note without a place */
    const char *text;
} pass_note;

/* An error in the program. Texts are valid during the call only. False: it is not in the program's text, nothing was
 * said. */
typedef bool (*pass_report)(void *user, source_span span, message_row row, const char *message, const pass_note *notes,
                            size_t note_count);

typedef struct pass_context {
    pass_report report; /* NULL: errors are only counted */
    void *user;
    uint32_t error_count;
    masu__arena scratch;              /* of facts */
    const struct tensor_facts *facts; /* of the module, once they were asked for; NULL: not yet */
} pass_context;

/* The facts of all tensors (tensor_facts.h): computed at the first call, after `ownership`, and good until the text
 * changes in more than places. NULL when memory runs out: then m says so, too. */
const struct tensor_facts *pass_facts(ir_module *m, pass_context *context);

typedef struct pass {
    masu_pass_info info;
    ir_phase phase;                                         /* what ir_verify must find afterwards */
    void (*run)(ir_module *m, pass_context *context);       /* memory: m->out_of_memory */
    void (*otherwise)(ir_module *m, pass_context *context); /* when switched off; NULL: nothing is done */
} pass;

typedef struct pass_options {
    const char *const *disabled; /* names of optional passes that are left out */
    size_t disabled_count;
    const char *const *dumps; /* "after:NAME"; other texts are somebody else's */
    size_t dump_count;
    masu__buffer *dump;   /* receives them; may be NULL when there are none */
    bool verify;          /* ir_verify before the first pass and after each */
    masu__buffer *faults; /* what ir_verify found; may be NULL when verify is off */
    pass_report report;
    void *user;
    bool audit, by_line; /* see instrument.c */
} pass_options;

/* Runs the column. MASU_OK; MASU_ERR_SHAPE_MISMATCH when the program has errors that were
 * reported (later passes did not run); MASU_ERR_INVALID_ARGUMENT when `disabled` or an "after:"
 * names no pass, or a required one is disabled: nothing was done; MASU_ERR_INTERNAL when the
 * verifier found faults; MASU_ERR_OUT_OF_MEMORY. After anything but MASU_OK the module is only
 * good for being thrown away with its arena. */
masu_status pass_run_all(ir_module *m, const pass_options *options);

/* Only the passes that diagnose (fold, shapes), on a module that is good for nothing else. */
/* destructors.c: uses of what moved, an error each; and calls of the destructors, behind `ownership`. */
void pass_find_moved(ir_module *m, pass_context *context);
void pass_run_destructors(ir_module *m);
masu_status pass_run_diagnosis(ir_module *m, pass_report report, void *user);

/* The table, in order. */
const pass *pass_table(size_t *count);

/* One file each; see there. */
#define PASS(name, summary, requires, establishes, optional, phase, run, otherwise) \
    void run(ir_module *m, pass_context *context);
#include "language/pass/passes.def"
#undef PASS
void pass_register_owners(ir_module *m, pass_context *context); /* owner_slots.c: when `slots` is off */

/* Where the values of the variable live that is declared there (where.c); it means them in its file until the byte
 * `until`. Nothing is written when it holds no tensor or object. After the last pass. */
void pass_where(const ir_module *m, const char *name, const char *element, source_span declared, uint32_t until,
                masu__buffer *out);

typedef struct pass_instruments {
    bool audit, by_line;
    bool scoped; /* values are meant to live until their scope ends */
} pass_instruments;

/* Into the finished IR (instrument.c). */
void pass_instrument(ir_module *m, pass_instruments what);

/* Counts for listings and tests. */
typedef struct pass_counts {
    uint32_t acquires, releases, slots, bound;
} pass_counts;

pass_counts pass_count(const ir_function *f);

/* The source, annotated: what happens to tensors and objects on each line (explain.c). After the
 * last pass. `source` may be NULL: then the file of main is taken. */
void pass_explain(const ir_module *m, const source_file *source, masu__buffer *out);
void pass_explain_as(const ir_module *m, const source_file *source, masu_explain_form form, masu__buffer *out);

#endif
