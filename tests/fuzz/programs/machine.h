/* machine.h: the state of the naive interpreter, and what its two files share.
 *
 *     interpret.c            instructions, strings and vectors, the runtime's operations
 *     interpret_numbers.c    arithmetic of plain values, as the language defines it
 */
#ifndef MASU_FUZZ_MACHINE_H
#define MASU_FUZZ_MACHINE_H

#include "language/ir/ir.h"
#include "naive.h"

enum { MOST_STEPS = 400000, DEEPEST = 400 };

typedef struct value {
    union {
        int64_t i;
        double f;
        tensor *t;
        void *p;
    };
    cell *c; /* in kernels: where a number comes from */
} value;

typedef struct object {
    value *words; /* of a vector: length * width */
    int64_t length, width;
    const char *bytes; /* of a string: length */
} object;

typedef struct kernel_run {
    const value *cells;
    tensor **captures;
    tensor *out;
} kernel_run;

typedef struct machine {
    naive n;
    const source_file *file;
    const ir_instr *places[DEEPEST + 4];
    int depth;
    uint64_t steps;
    bool careful; /* a kernel's function asked for its careful twin */
} machine;

typedef struct activation {
    machine *m;
    const ir_function *f;
    value *values;
    const kernel_run *kernel; /* NULL: no kernel */
} activation;

ir_type machine_type_of(const activation *a, const ir_instr *i, uint32_t arg);
double machine_as_type(ir_type type, double v);
value machine_arithmetic(const activation *a, const ir_instr *i);

#endif
