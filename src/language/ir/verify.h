/* verify.h: what the two halves of the verifier share. Private to ir/. */
#ifndef MASU_LANGUAGE_IR_VERIFY_H
#define MASU_LANGUAGE_IR_VERIFY_H

#include "language/ir/cfg.h"

typedef struct ir_checker {
    const ir_module *m;
    const ir_function *f; /* being checked */
    ir_phase phase;
    masu__buffer *out;
    uint32_t faults;
    bool enough;         /* memory */
    masu__arena scratch; /* emptied after each function */
    ir_order order;
} ir_checker;

/* One line: function, block, instruction (NULL: none), what. */
void ir_fault(ir_checker *c, const ir_block *b, const ir_instr *i, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* %5.x, for messages; in the checker's scratch. */
const char *ir_value_text(ir_checker *c, ir_value v);

/* Number and types of operands and results of every instruction, when links and definitions are
 * sound (verify_types.c). */
void ir_check_types(ir_checker *c);

/* Owners and slots, when structure and types are sound (verify_owners.c). False when memory runs
 * out. */
bool ir_check_owners(ir_checker *c);

#endif
