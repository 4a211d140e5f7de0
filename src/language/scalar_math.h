/* scalar_math.h: the rows of library/math.def, as the tree, the IR and the generators of code read them. */
#ifndef MASU_LANGUAGE_SCALAR_MATH_H
#define MASU_LANGUAGE_SCALAR_MATH_H

#include <stdbool.h>

typedef enum scalar_math {
#define MATH(word, name, also, arguments, whole, slope, llvm, c) MATH_##word,
#define ALSO(word, math, names, arguments)
#include "language/library/math.def"
#undef MATH
#undef ALSO
    MATH_COUNT
} scalar_math;

typedef enum math_arguments { MATH_ALONE, MATH_WITH_FLOAT, MATH_WITH_INTEGER, MATH_WITH_SAME } math_arguments;

typedef struct math_row {
    const char *name, *llvm, *c;
    math_arguments arguments;
    bool whole, slope;
} math_row;

/* math < MATH_COUNT. */
static inline const math_row *math_row_of(scalar_math math) {
    static const math_row rows[] = {
#define MATH(word, name, also, arguments, whole, slope, llvm, c) {name, llvm, c, arguments, whole, slope},
#define ALSO(word, math, names, arguments)
#include "language/library/math.def"
#undef MATH
#undef ALSO
    };
    return &rows[math];
}

#endif
