/* ir_support.h: what the tests of ir/ and pass/ share. Everything fails the running test when it
 * goes wrong. */
#ifndef MASU_TESTS_IR_SUPPORT_H
#define MASU_TESTS_IR_SUPPORT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/rng.h"
#include "language/ir/ir.h"
#include "language/pass/pass.h"

/* A module from text. */
ir_module *support_parse(masu__arena *arena, const char *text);

ir_function *support_function(const ir_module *m, const char *name); /* must exist */

/* No faults in that phase, or the test fails showing them and the module. */
void support_verify(const ir_module *m, ir_phase phase);

/* The verifier must refuse, with a fault that contains `what`. */
void support_refuse(const ir_module *m, ir_phase phase, const char *what);

/* Equal but for blanks, line ends and what stands behind ; in a line. */
bool support_same_text(const char *a, const char *b);
void support_expect_text(const char *actual, const char *expected);

/* What reporting passes said: "message [note] [note]\n". Zero-initialise; destroy the buffer. */
bool support_collect(void *user, source_span span, message_row row, const char *message, const pass_note *notes,
                     size_t count);

/* ---- running IR that has been through ownership, perhaps through slots ----------------------- */

typedef struct machine_report {
    uint64_t steps, acquires, releases, objects, peak_live;
    bool raised; /* ended by an error that was raised on purpose */
    bool cut;    /* ended because it would not end by itself: also by raising */
} machine_report;

/* Runs `f` (its managed parameters get objects that the caller keeps or hands over as declared)
 * with branches decided by chance, and with errors raised by chance (one in `raise_one_in`
 * operations that may, 0: never; only after slots). Checks at every step that what is used is
 * alive and no count falls below zero, at the end that nothing is left. */
machine_report support_run(const ir_function *f, masu__rng *rng, uint32_t raise_one_in);

/* ---- random programs (ir_random.c) ----------------------------------------------------------- */

/* A module with several functions whose bodies are random: structured statements, or any graph
 * of blocks. */
ir_module *support_random(masu__arena *arena, masu__rng *rng, bool structured);

#endif
