/* codegen.h: IR to machine code in memory.
 *
 *     ir_module ─► LLVM module ─► optimised ─► object ─► linked into this process ─► entry point
 *
 * What is LLVM's stays in this folder. Modules, contexts and target machines are gone when codegen_compile returns:
 * only the code and the linker's own small records remain, until codegen_destroy.
 *
 * Thread safety: one compilation belongs to one thread; LLVM's target is initialised once per process.
 */
#ifndef MASU_LANGUAGE_CODEGEN_H
#define MASU_LANGUAGE_CODEGEN_H

#include "base/buffer.h"
#include "language/ir/ir.h"
#include <masu/module.h>
#include <masu/status.h>

typedef struct codegen_code codegen_code;

typedef struct codegen_program { /* what an executable carries besides its code */
    const ir_site *sites;
    uint32_t site_count;
    const source_file *prelude;
    const source_file *file; /* that was given to the compiler */
} codegen_program;

typedef struct codegen_options {
    bool verify;                    /* let LLVM check the module before it is optimised */
    masu__buffer *dump;             /* receives the LLVM module before optimisation; NULL: not wanted */
    const codegen_program *carried; /* for an executable: objects, not linked; NULL: in this process */
    /* masu_portable: what the module shows, the calls that say shapes (NULL: none), weights that become constants, and
     * who hears why something cannot be written. */
    const masu_module *shown;
    const char *calls;
    const struct masu_weights *weights;
    size_t weights_count;
    void (*refuse)(void *user, source_span span, const char *why);
    void *user;
} codegen_options;

/* The module must be in IR_PHASE_ROOTED; only what main reaches is compiled. MASU_OK, MASU_ERR_OUT_OF_MEMORY, or
 * MASU_ERR_INTERNAL with LLVM's words in `error`. *out is set on MASU_OK only; the caller destroys it. */
masu_status codegen_compile(const ir_module *module, const codegen_options *options, masu__buffer *error,
                            codegen_code **out);
/* To be called inside tl_runtime_run; NULL with `carried`. Valid until codegen_destroy. */
void (*codegen_entry(const codegen_code *code))(void);
void codegen_destroy(codegen_code *code); /* NULL is fine */

/* These, for who compiles with masu_compile_options: a program that does not name masu_llvm (language.h) is linked
 * without LLVM. */
struct masu_generator {
    masu_status (*compile)(const ir_module *module, const codegen_options *options, masu__buffer *error,
                           codegen_code **out);
    const char *(*object)(const codegen_code *code, unsigned number, size_t *length);
    void (*(*entry)(const codegen_code *code))(void);
    void (*destroy)(codegen_code *code);
};

#endif
