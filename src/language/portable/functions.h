/* functions.h: what one element becomes, and the functions of C that such expressions call. Private to the room. */
#ifndef MASU_LANGUAGE_PORTABLE_FUNCTIONS_H
#define MASU_LANGUAGE_PORTABLE_FUNCTIONS_H

#include "language/portable/portable.h"

typedef struct kernel_row { /* of kernels.def */
    const char *name;
    char domain; /* f real, i whole, b bool */
    const char *operands[3];
    const char *value;
} kernel_row;

const kernel_row *portable_kernel(const char *name, tl_dtype dtype); /* NULL: there is none */

typedef struct element_form {
    const char *kernel;
    const kernel_row *row;
    tl_dtype dtype;      /* in which it is calculated */
    ir_value numbers[2]; /* P0, P1 */
    uint32_t number_count;
    bool number_is_operand; /* the first is the second operand of the kernel */
    bool may_fail;          /* by a divisor of 0 */
} element_form;

/* NULL, or why it cannot be written. */
const char *portable_element_form(const flat *f, const ir_instr *i, element_form *form);

/* runtime/ops/vector_math.h */
extern const char portable_vector_math[];
extern const size_t portable_vector_math_bytes;

/* Functions that were asked for, each once, behind those that it calls. */
typedef struct function_set {
    masu__arena *arena;
    const char **names;
    uint32_t count, capacity;
    masu__buffer text;
    bool failed;
} function_set;

/* `value`, of kernels.def or element_functions.def, for elements of the type; x, y, z, P0, P1 are replaced by the texts
 * in `parts` (NULL: stay). */
void functions_put_value(function_set *set, const char *value, tl_dtype dtype, const char *const parts[5],
                         masu__buffer *out);
/* Arithmetic on whole numbers as IR_ADD and so on do it; the function's name. */
const char *functions_whole(function_set *set, ir_opcode op, ir_type type);
/* A real number as a whole one: saturates, 0 of NaN. */
const char *functions_saturating(function_set *set, ir_type from, ir_type to);
/* By name: "bits" functions and such. */
void functions_need(function_set *set, const char *name, const char *text);
const char *functions_c_type(ir_type type);
const char *functions_element_type(tl_dtype dtype);

#endif
