/* library.h: what the language brings along, written in itself: the .tl files of this folder, and what they say of their
 * functions. Embedded when masu is built (cmake/embed_library.c says how a file is read).
 */
#ifndef MASU_LANGUAGE_LIBRARY_H
#define MASU_LANGUAGE_LIBRARY_H

#include <stddef.h>

#include <masu/abi.h>

enum { LIBRARY_WORDS_MAX = 16, LIBRARY_WISHES_MAX = 32 };

/* What of a program asks for parts: a token that holds one of the words, or is one of the names (or one of
 * other_names.def). */
typedef struct library_wish {
    const char *words[LIBRARY_WORDS_MAX]; /* up to the first NULL */
    const char *const *names;             /* up to NULL; or NULL */
} library_wish;

extern const library_wish library_wishes[];
extern const size_t library_wishes_count; /* at most LIBRARY_WISHES_MAX */

/* A text that is read with every program, or with one that has the wish: reading takes time, and most programs need
 * few. A program with modules gets all. */
typedef struct library_part {
    const char *text;
    size_t length;
    int wish; /* -1: every program */
} library_part;

extern const library_part library_parts[];
extern const size_t library_parts_count;

/* A function that programs may call, and the doc comment above it. */
typedef struct library_function {
    const char *owner;     /* "Tensor", "Vec<T>" */
    const char *name;      /* with its type parameters: "map<U>" */
    const char *signature; /* "(self, dim: i64) -> Tensor" */
    tl_gradient gradient;
    const char *example, *text; /* "" of none */
} library_function;

extern const library_function library_operations[]; /* of tensors */
extern const size_t library_operations_count;
extern const library_function library_methods[]; /* of what is one type only */
extern const size_t library_methods_count;

#endif
