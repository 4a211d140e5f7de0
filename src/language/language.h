/* language.h: the compiler's one header for the command.
 *
 *     text ─► front (lex, parse, check) ─► ir ─► passes ─► LLVM ─► entry point
 *
 * masu_program_compile goes as far as the options ask. Diagnostics are collected, never printed; the caller prints
 * them. Thread safety: a program belongs to one thread. Nothing is global but LLVM's own one-time initialisation.
 */
#ifndef MASU_LANGUAGE_LANGUAGE_H
#define MASU_LANGUAGE_LANGUAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <masu/module.h>
#include <masu/status.h>

typedef struct masu_program masu_program;

/* The back end that makes machine code. Named by its address only; programs that do not name it do not link it. */
typedef struct masu_generator masu_generator;
extern const masu_generator masu_llvm;
/* plain C: object 0 is the file, 1 its header; with `module` and `objects` */
extern const masu_generator masu_portable;

/* A tensor of a file of weights. */
typedef struct masu_weight {
    const char *name, *type; /* what its elements are stored as, for messages */
    uint32_t rank;
    const int64_t *shape;
    uint32_t fits; /* bit of each masu_element that holds every value of the type */
} masu_weight;

/* masu_portable: what a struct's fields hold, as constants of the C (`masu build --c --weights NAME=FILE`). All of it
 * is borrowed until the compilation has ended. */
typedef struct masu_weights {
    const char *name; /* a struct of the program, or what `calls` names an instance of one */
    const char *path; /* for messages */
    const masu_weight *items;
    size_t count;
    /* Writes the item's elements, in row-major order. NULL; else what is wrong, borrowed from `user`. */
    const char *(*read)(void *user, size_t item, masu_element element, void *to);
    void *user;
} masu_weights;

typedef enum masu_stage { MASU_STAGE_CHECK, MASU_STAGE_PASSES, MASU_STAGE_CODE } masu_stage;

typedef struct masu_compile_options {
    masu_stage until;            /* CHECK includes shape errors: everything that is diagnosed at compile time */
    const char *const *disabled; /* names of optional passes switched off */
    size_t disabled_count;
    const char *const *dumps; /* "after:NAME", "ir" (after lowering), "llvm": text collected, see masu_program_dump */
    size_t dump_count;
    const masu_generator *generator; /* &masu_llvm, needed for CODE only */
    bool verify;                     /* ir_verify after every pass */
    bool objects;                    /* CODE makes objects for the linker instead of code in this process */
    bool audit;                      /* the code checks what is alive after every operation (masu run --audit) */
    bool count_by_line;              /* the code counts per source line (masu run --by-line) */
    const char *module;              /* a shared module, whose names in C begin so (exports.h); NULL: a program */
    /* masu_portable: which functions, for which shapes (portable/stated_calls.c); NULL: all that need none said */
    const char *calls;
    const masu_weights *weights; /* masu_portable: constants of the file, one of a name */
    size_t weights_count;
    bool library; /* the text is a file of the library and takes its place there; until is CHECK */
    /* The text of a module's file, valid until the compilation has ended; NULL: there is no such file. read NULL: a
     * program is one file. */
    const char *(*read)(void *user, const char *path, size_t *length);
    void *user;
} masu_compile_options;

/* Status OK, INVALID_PROGRAM when there are error diagnostics, OUT_OF_MEMORY, or INTERNAL (verifier or LLVM failure,
 * described by a diagnostic). *out is set in every case but OUT_OF_MEMORY and must be destroyed. text is copied. */
masu_status masu_program_compile(const char *path, const char *text, size_t length, const masu_compile_options *options,
                                 masu_program **out);
void masu_program_destroy(masu_program *p); /* NULL is fine */

size_t masu_program_error_count(const masu_program *p);
/* All diagnostics as text, in the form FILE:LINE:COL: error: message, source line, caret, notes; sorted by place. Owned
 * by p. */
const char *masu_program_diagnostics(const masu_program *p);
const char *masu_program_dump(const masu_program *p); /* what the dump options collected, "" otherwise */
typedef enum masu_explain_form {
    MASU_EXPLAIN_SHORT, /* totals, then the source with a few numbers a line */
    MASU_EXPLAIN_TEXT,  /* all of it in words */
    MASU_EXPLAIN_JSON,
    MASU_EXPLAIN_HTML
} masu_explain_form;
/* The annotated source (after PASSES); owned by p until the next call. */
const char *masu_program_explain(masu_program *p, masu_explain_form form);
/* After CODE without `objects`. */
void (*masu_program_entry(const masu_program *p))(void);
/* A raised error in the same form as diagnostics: place, source line, caret, then one "note: called from" per frame.
 * Result owned by p until the next call. */
typedef struct masu_run_error {
    const char *message;
    const char *help;      /* NULL: none */
    const uint32_t *sites; /* innermost first */
    uint32_t site_count;
    uint64_t omitted;      /* calls that are not among the sites */
    uint32_t related_site; /* 0: none */
    const char *related_text;
    bool is_warning;
    uint32_t name_length; /* of the operation's name with its colon, which the message begins with; 0: none */
    bool is_quoted;       /* the operation's source may be shown for its name */
    bool is_said;         /* the words of a `panic`: no operation speaks for them */
    struct {
        uint32_t at, length; /* in the message; 0: none */
    } shapes[2];             /* of what the operation reads, in its order */
} masu_run_error;
const char *masu_program_format_error(masu_program *p, const masu_run_error *error);

/* After CODE with `objects`: object file `number`, from 0; data NULL behind the last. Owned by p. */
typedef struct masu_object {
    const char *data;
    size_t length;
} masu_object;
/* With `module`, after any stage without an error: what the module shows, without functions to call. Owned by p. */
const masu_module *masu_program_module(const masu_program *p);
masu_object masu_program_object(const masu_program *p, unsigned number);

/* ---- what an executable carries (masu build), and what it does with it (native_error.c) -------------------------- */

typedef struct masu_native_file {
    const char *path, *text; /* length bytes and a zero */
    uint64_t length;
} masu_native_file;

typedef struct masu_native_site { /* a place that may raise */
    uint32_t file;                /* 1 + index in files; 0: no place */
    uint32_t offset, length;
    const char *function;
    struct { /* tensors that the operation reads, in the same file; length 0: none */
        uint32_t offset, length;
        const char *name; /* NULL: it has none */
    } operands[2];
} masu_native_site;

typedef struct masu_native_program {
    const masu_native_file *files;
    uint64_t file_count;
    uint64_t prelude; /* 1 + index of the file in which nothing is shown; 0: none */
    uint64_t file; /* 1 + index of the file that was compiled, beside which others were read; 0: no place lies in it */
    const masu_native_site *sites;
    uint64_t site_count;
} masu_native_program;

/* The text as `masu fmt` lays it out, into *formatted (to be freed with masu_text_free(text, capacity)); nothing where
 * it cannot be read. diagnostics, freed as *formatted: what is wrong with it, or "". MASU_OK; INVALID_PROGRAM;
 * OUT_OF_MEMORY. */
typedef struct masu_text {
    char *data;
    size_t length, capacity;
} masu_text;
masu_status masu_format(const char *path, const char *text, size_t length, masu_text *formatted,
                        masu_text *diagnostics);
void masu_text_free(masu_text *text);

/* masu_program_format_error for an executable; to be freed with masu_text_free. MASU_OK;
 * MASU_ERR_OUT_OF_MEMORY. */
masu_status masu_native_format_error(const masu_native_program *program, const masu_run_error *error, masu_text *out);

/* docs/operations.md; to be freed with masu_text_free. MASU_OK; MASU_ERR_OUT_OF_MEMORY. */
masu_status masu_operations(masu_text *out);

/* For editors, of a program without errors that was compiled until CHECK or PASSES. line and column from 1, in
 * characters. text: "name: type", owned by p until the next call. Where it is declared: path NULL when nowhere. False:
 * nothing is there. */
typedef struct masu_place_info {
    const char *text;
    const char *type;   /* in the text: type_length bytes */
    size_t type_length; /* 0: what is there is a function or a place, and has no type */
    const char *path;   /* of the file in which it is declared */
    uint32_t line, column, length;
    uint32_t column16, length16; /* in UTF-16 units, for editors */
} masu_place_info;
const char *masu_program_path(const masu_program *p);
/* Where site number `site` of the running program is; text: the function's name. False: nowhere that the user wrote. */
bool masu_program_site(const masu_program *p, uint32_t site, masu_place_info *out);
/* masu_program_site for an executable; path NULL: the file that was compiled. O(offset in the file). False:
 * there is no such place, or it lies in the prelude. */
bool masu_native_place(const masu_native_program *program, uint32_t site, masu_place_info *out);
/* path: of which of the program's files; NULL: the first. column in characters, or in UTF-16 units. After PASSES the
 * text has a second line: what shape the value has, where it lives, when it moves and dies. */
bool masu_program_look_up(masu_program *p, const char *path, uint32_t line, uint32_t column, bool utf16,
                          masu_place_info *out);

/* A kind of messages: a code (E0101; W0101 for warnings), a line, an explanation with an
 * example. */
typedef struct masu_message_kind {
    const char *code, *title, *explanation;
} masu_message_kind;

/* In the order of the codes; NULL behind the last. Static. */
const masu_message_kind *masu_message_kind_number(size_t number);
const masu_message_kind *masu_message_kind_by_code(const char *code); /* NULL: there is none */
/* For people who have a message and no code; NULL: the compiler says nothing like it. *letters: how many of the message
 * are the row's own. */
const masu_message_kind *masu_message_kind_of_text(const char *message, size_t *letters);
/* How many letters of the format are in the message, if it may have been made of the format; else 0. */
size_t masu_message_letters(const char *format, const char *message);
/* The formats of a kind, from 0; NULL behind the last. */
const char *masu_message_format_number(const masu_message_kind *kind, size_t number);

/* One diagnostic after the other, by number from 0; false behind the last. */
typedef struct masu_diagnostic_info {
    const char *message;
    const masu_message_kind *kind;
    bool misses_main; /* the program has no `main`: all is well if it is a module */
    bool is_error;
    const char *path;
    uint32_t line, column, end_line, end_column;
    uint32_t column16, end_column16; /* in UTF-16 units */
    const char *note;                /* the first one without a place, NULL: none */
} masu_diagnostic_info;
bool masu_program_diagnostic(const masu_program *p, size_t number, masu_diagnostic_info *out);

typedef struct masu_pass_info {
    const char *name;
    const char *summary; /* one line */
    const char *requires;
    const char *establishes;
    bool optional;
} masu_pass_info;

const masu_pass_info *masu_passes(size_t *count);

#endif
