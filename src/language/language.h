/* language.h: the compiler's one header for the command.
 *
 *     text ─► front (lex, parse, check) ─► ir ─► passes ─► LLVM ─► entry point
 *
 * masu_program_compile goes as far as the options ask. Diagnostics are collected, never printed; the caller prints them.
 * Thread safety: a program belongs to one thread. Nothing is global but LLVM's own one-time initialisation.
 */
#ifndef MASU_LANGUAGE_LANGUAGE_H
#define MASU_LANGUAGE_LANGUAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <masu/status.h>

typedef struct masu_program masu_program;

typedef enum masu_stage { MASU_STAGE_CHECK, MASU_STAGE_PASSES, MASU_STAGE_CODE } masu_stage;

typedef struct masu_compile_options {
    masu_stage
        until; /* CHECK includes shape errors: everything that is diagnosed at compile time */
    const char *const *disabled; /* names of optional passes switched off */
    size_t disabled_count;
    const char *const *
        dumps; /* "after:NAME", "ir" (after lowering), "llvm": text collected, see masu_program_dump */
    size_t dump_count;
    bool verify; /* ir_verify after every pass */
} masu_compile_options;

/* Status OK, INVALID_PROGRAM when there are error diagnostics, OUT_OF_MEMORY, or INTERNAL (verifier or LLVM failure, described by a
 * diagnostic). *out is set in every case but OUT_OF_MEMORY and must be destroyed. text is copied. */
masu_status masu_program_compile(const char *path, const char *text, size_t length,
                                 const masu_compile_options *options, masu_program **out);
void masu_program_destroy(masu_program *p); /* NULL is fine */

size_t masu_program_error_count(const masu_program *p);
/* All diagnostics as text, in the form FILE:LINE:COL: error: message, source line, caret, notes; sorted by place. Owned by p. */
const char *masu_program_diagnostics(const masu_program *p);
const char *
masu_program_dump(const masu_program *p); /* what the dump options collected, "" otherwise */
const char *
masu_program_explain(masu_program *p); /* the annotated source (after PASSES); owned by p */
/* After CODE. */
void (*masu_program_entry(const masu_program *p))(void);
/* A raised error in the same form as diagnostics: place, source line, caret, then one "note: called from" per frame. The sites are
 * those of tl_error. Result owned by p until the next call. */
const char *masu_program_format_error(masu_program *p, const char *message, const uint32_t *sites,
                                      uint32_t site_count, uint64_t omitted, uint32_t related_site,
                                      const char *related_text);

typedef struct masu_pass_info {
    const char *name;
    const char *summary; /* one line */
    const char *requires;
    const char *establishes;
    bool optional;
} masu_pass_info;

const masu_pass_info *masu_passes(size_t *count);

#endif
