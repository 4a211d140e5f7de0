/* codegen.c: the steps from an IR module to code that can be called.
 *
 * Functions are written in the order in which they are first called, from main on: what nobody calls never
 * reaches LLVM. Everything of LLVM's but the linked code is disposed of before codegen_compile returns, because its
 * memory would count as the running program's.
 */
#include "language/codegen/codegen.h"

#include <llvm-c/Analysis.h>

#include "base/meta.h"
#include "language/codegen/emit.h"

struct codegen_code {
    jit *jit;
};

/* LLVM tells its complaints here instead of printing them; what matters comes back as an error of the step. */
static void ignore_diagnostic(LLVMDiagnosticInfoRef info, void *unused) {
    (void)info;
    (void)unused;
}

static bool open_module(codegen *cg, const ir_module *module, masu__arena *arena) {
    *cg = (codegen){.module = module, .arena = arena};
    cg->functions = MASU_ARENA_ARRAY(arena, LLVMValueRef, module->function_count);
    cg->queue = MASU_ARENA_ARRAY(arena, const ir_function *, module->function_count);
    cg->plans = MASU_ARENA_ARRAY(arena, LLVMValueRef, module->kernel_count + 1);
    if (!cg->functions || !cg->queue || !cg->plans)
        return false;
    cg->context = LLVMContextCreate();
    LLVMContextSetDiagnosticHandler(cg->context, ignore_diagnostic, NULL);
    LLVMContextSetDiscardValueNames(cg->context, false);
    cg->llvm = LLVMModuleCreateWithNameInContext("program", cg->context);
    cg->builder = LLVMCreateBuilderInContext(cg->context);
    codegen_types_init(cg);
    return true;
}

static void close_module(codegen *cg) {
    if (!cg->context)
        return;
    LLVMDisposeBuilder(cg->builder);
    LLVMDisposeModule(cg->llvm);
    LLVMContextDispose(cg->context);
}

static void write_functions(codegen *cg) {
    codegen_declare(cg, cg->module->main);
    for (uint32_t i = 0; i < cg->queue_count && !cg->out_of_memory; i++)
        codegen_function(cg, cg->queue[i]);
}

static bool verified(codegen *cg, masu__buffer *error) {
    char *message = NULL;
    bool broken = LLVMVerifyModule(cg->llvm, LLVMReturnStatusAction, &message);
    if (broken)
        masu__buffer_puts(error, message);
    LLVMDisposeMessage(message);
    return !broken;
}

static void dump(codegen *cg, masu__buffer *out) {
    char *text = LLVMPrintModuleToString(cg->llvm);
    masu__buffer_puts(out, text);
    LLVMDisposeMessage(text);
}

static void note_used(const codegen *cg, bool used[TL_FN_COUNT]) {
    for (int k = 0; k < TL_FN_COUNT; k++)
        used[k] = cg->abi[k] != NULL;
}

/* From the IR to an object in memory. */
static masu_status translate(codegen *cg, const codegen_options *options, masu__buffer *error,
                             LLVMMemoryBufferRef *object, bool used[TL_FN_COUNT]) {
    write_functions(cg);
    if (cg->out_of_memory)
        return MASU_ERR_OUT_OF_MEMORY;
    if (options->dump)
        dump(cg, options->dump);
    if (options->verify && !verified(cg, error))
        return MASU_ERR_INTERNAL;
    note_used(cg, used);
    return jit_make_object(cg->llvm, object, error) ? MASU_OK : MASU_ERR_INTERNAL;
}

masu_status codegen_compile(const ir_module *module, const codegen_options *options,
                            masu__buffer *error, codegen_code **out) {
    masu__arena arena = {0};
    codegen cg;
    bool used[TL_FN_COUNT];
    LLVMMemoryBufferRef object = NULL;
    codegen_code *code = masu__meta_calloc(1, sizeof *code);
    masu_status status = MASU_ERR_OUT_OF_MEMORY;
    if (code && open_module(&cg, module, &arena)) {
        status = translate(&cg, options, error, &object, used);
        close_module(&cg);
    }
    masu__arena_destroy(&arena);
    if (status == MASU_OK) {
        code->jit = jit_load(object, used, error);
        status = code->jit ? MASU_OK : MASU_ERR_INTERNAL;
    }
    if (status != MASU_OK) {
        masu__meta_free(code, sizeof *code);
        return status;
    }
    *out = code;
    return MASU_OK;
}

void (*codegen_entry(const codegen_code *code))(void) {
    return jit_entry(code->jit);
}

void codegen_destroy(codegen_code *code) {
    if (!code)
        return;
    jit_destroy(code->jit);
    masu__meta_free(code, sizeof *code);
}
