/* library.h: what the language brings along, written in itself: the .tl files of this folder, and what they say of
 * their functions. Embedded when masu is built (cmake/embed_library.c says how a file is read).
 */
#ifndef MASU_LANGUAGE_LIBRARY_H
#define MASU_LANGUAGE_LIBRARY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"
#include "language/diagnose/source.h"

#include <masu/abi.h>
#include <masu/status.h>

/* ---- facts ------------------------------------------------------------------------------------------------------ */

typedef enum library_fact {
#define FACT(name, text)  LIBRARY_##name,
#define BUILT(name, text) LIBRARY_##name,
#include "language/library/facts.def"
#undef FACT
#undef BUILT
    LIBRARY_FACT_COUNT
} library_fact;

/* The word of a fact, where it is one that C knows. */
typedef enum library_said {
    SAID_NOTHING,
#define WORD(word) SAID_##word,
#include "language/library/words.def"
#undef WORD
} library_said;

/* The library says it of the name, whatever has that name; of NULL nothing. O(1). */
bool library_says(library_fact fact, const char *name);
/* The word of a fact that has one; NULL: it is not said. O(log of how often facts are said). */
const char *library_word(library_fact fact, const char *name);
/* The same, of a word in capitals; SAID_NOTHING: it is not said, or with no such word. */
library_said library_said_of(library_fact fact, const char *name);

/* The first name of which the fact is said with that word; NULL: there is none. O(how often the fact is said). */
const char *library_named(library_fact fact, library_said said);

/* The name with this number, from 0, of those of which it is said, in the order of letters; NULL: there are fewer. */
const char *library_nth(library_fact fact, uint32_t number);

/* By fact, then by name. */
typedef struct library_fact_word {
    library_fact fact;
    const char *name, *word; /* word: "" of none */
    library_said said;
} library_fact_word;
extern const library_fact_word library_fact_words[];
extern const size_t library_fact_words_count;

/* ---- the index: lists are indices into an array, from one to before another ------------------------------------- */

/* A name that a program or a declaration may ask for. */
typedef struct library_name {
    uint32_t offset, length;       /* in library_text */
    uint16_t declared, asked, end; /* in library_name_lists: declarations, then names that are asked for with it */
    bool is_owner;                 /* of methods */
    bool gives_way;                /* a type or trait of the program may have this name: the library's gets another */
    bool only_asked;               /* a type that means something else where nothing asks for it */
    uint64_t facts[2];             /* bit f: library_fact f holds */
} library_name;

/* A function, a method, a struct, an enum or another name of a type. */
typedef struct library_declaration {
    uint32_t offset, length;    /* in library_text */
    uint16_t name, block, file; /* in library_names, library_blocks, library_files */
    uint32_t asked, end;        /* in library_declaration_lists: the names in its text */
} library_declaration;

/* An `impl`, or what is between two of them. */
typedef struct library_block {
    uint32_t offset, length; /* its head; length 0: no impl */
    int16_t owner;           /* in library_names; -1: none */
    uint16_t first, end;     /* its declarations */
} library_block;

extern const char library_text[];
extern const library_name library_names[]; /* [0]: what every program asks for */
extern const size_t library_names_count;
extern const library_declaration library_declarations[];
extern const size_t library_declarations_count;
extern const library_block library_blocks[];
extern const size_t library_blocks_count;
extern const uint16_t library_name_lists[], library_declaration_lists[], library_slots[];
extern const char *const library_files[];   /* up to NULL */
extern const char *const library_modules[]; /* M where std::M::N is __M_N; up to NULL */

/* Which declarations are loaded. */
typedef enum library_part {
    LIBRARY_ASKED, /* what the tokens of the program ask for */
    LIBRARY_WHOLE,
    LIBRARY_OTHERS /* all but the file of the library that the program is */
} library_part;

/* Appends the declarations, in the order of the library. Time: linear in the tokens of the program. MASU_OK;
 * MASU_ERR_OUT_OF_MEMORY. */
masu_status library_load(const source_file *program, library_part part, masu__buffer *out);

/* ---- what is documented ------------------------------------------------------------------------------------------ */

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
