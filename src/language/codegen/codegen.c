/* codegen.c: the steps from an IR module to code that can be called.
 *
 * Functions are written in the order in which they are first called, from main on: what is not called never
 * reaches LLVM. Each goes into the module of its tier (emit.h). Everything of LLVM's but the linked code is disposed of
 * before codegen_compile returns, because its memory would count as the running program's.
 */
#include "language/codegen/codegen.h"

#include <llvm-c/Analysis.h>

#include "base/meta.h"
#include "language/codegen/emit.h"
#include "language/language.h"

struct codegen_code {
    jit *jit;                                /* NULL: objects for an executable */
    LLVMMemoryBufferRef objects[TIER_COUNT]; /* in order, NULL at the end */
};

/* LLVM tells its complaints here instead of printing them; what matters comes back as an error of the step. */
static void ignore_diagnostic(LLVMDiagnosticInfoRef info, void *unused) {
    (void)info;
    (void)unused;
}

static bool open_unit(codegen *cg, codegen_unit *unit) {
    unit->functions = MASU_ARENA_ARRAY(cg->arena, LLVMValueRef, cg->module->function_count);
    unit->plans = MASU_ARENA_ARRAY(cg->arena, LLVMValueRef, cg->module->kernel_count);
    if (!unit->functions || !unit->plans)
        return false;
    unit->llvm = LLVMModuleCreateWithNameInContext("program", cg->context);
    return true;
}

static bool open_modules(codegen *cg, const ir_module *module, masu__arena *arena) {
    *cg = (codegen){.module = module, .arena = arena};
    cg->queue = MASU_ARENA_ARRAY(arena, const ir_function *, module->function_count);
    cg->queued = MASU_ARENA_ARRAY(arena, bool, module->function_count);
    cg->kernels_written = MASU_ARENA_ARRAY(arena, bool, module->kernel_count);
    if (!cg->queue || !cg->queued || !cg->kernels_written)
        return false;
    cg->context = LLVMContextCreate();
    LLVMContextSetDiagnosticHandler(cg->context, ignore_diagnostic, NULL);
    cg->builder = LLVMCreateBuilderInContext(cg->context);
    codegen_types_init(cg);
    cg->unit = &cg->units[TIER_PLAIN];
    return open_unit(cg, &cg->units[TIER_PLAIN]) && open_unit(cg, &cg->units[TIER_FAST]);
}

static void close_modules(codegen *cg) {
    if (!cg->context)
        return;
    LLVMDisposeBuilder(cg->builder);
    for (int t = 0; t < TIER_COUNT; t++)
        if (cg->units[t].llvm)
            LLVMDisposeModule(cg->units[t].llvm);
    LLVMContextDispose(cg->context);
}

static void write_functions(codegen *cg) {
    codegen_declare(cg, cg->module->main);
    for (uint32_t i = 0; i < cg->queue_count && !cg->out_of_memory; i++)
        codegen_function(cg, cg->queue[i]);
}

static bool verified(LLVMModuleRef module, masu__buffer *error) {
    char *message = NULL;
    bool broken = LLVMVerifyModule(module, LLVMReturnStatusAction, &message);
    if (broken)
        masu__buffer_puts(error, message);
    LLVMDisposeMessage(message);
    return !broken;
}

static void dump(LLVMModuleRef module, masu__buffer *out) {
    char *text = LLVMPrintModuleToString(module);
    masu__buffer_puts(out, text);
    LLVMDisposeMessage(text);
}

/* One unit as an object, which stays NULL when the unit has no code. */
static bool finish_unit(codegen *cg, codegen_tier tier, const codegen_options *options, masu__buffer *error,
                        LLVMMemoryBufferRef *object) {
    codegen_unit *unit = &cg->units[tier];
    if (!unit->has_code)
        return true;
    if (options->dump)
        dump(unit->llvm, options->dump);
    if (options->verify && !verified(unit->llvm, error))
        return false;
    return jit_make_object(unit->llvm, tier, options->carried != NULL, object, error);
}

static void note_used(const codegen *cg, bool used[TL_FN_COUNT]) {
    for (int k = 0; k < TL_FN_COUNT; k++)
        used[k] = cg->units[TIER_PLAIN].abi[k] || cg->units[TIER_FAST].abi[k];
}

/* From the IR to objects in memory. */
static masu_status translate(codegen *cg, const codegen_options *options, masu__buffer *error,
                             LLVMMemoryBufferRef objects[TIER_COUNT], bool used[TL_FN_COUNT]) {
    write_functions(cg);
    if (options->carried && !cg->out_of_memory) {
        cg->unit = &cg->units[TIER_PLAIN];
        cg->unit->has_code = true;
        codegen_carry(cg, options->carried);
    }
    if (cg->out_of_memory)
        return MASU_ERR_OUT_OF_MEMORY;
    note_used(cg, used);
    for (int t = 0; t < TIER_COUNT; t++)
        if (!finish_unit(cg, t, options, error, &objects[t]))
            return MASU_ERR_INTERNAL;
    return MASU_OK;
}

/* All that knows the module is gone before the objects are linked. */
static masu_status make_objects(const ir_module *module, const codegen_options *options, masu__buffer *error,
                                LLVMMemoryBufferRef objects[TIER_COUNT], bool used[TL_FN_COUNT]) {
    masu__arena arena = {0};
    codegen cg;
    masu_status status = MASU_ERR_OUT_OF_MEMORY;
    if (open_modules(&cg, module, &arena))
        status = translate(&cg, options, error, objects, used);
    close_modules(&cg);
    masu__arena_destroy(&arena);
    if (status != MASU_OK)
        jit_drop_objects(objects);
    return status;
}

masu_status codegen_compile(const ir_module *module, const codegen_options *options, masu__buffer *error,
                            codegen_code **out) {
    bool used[TL_FN_COUNT];
    LLVMMemoryBufferRef objects[TIER_COUNT] = {NULL};
    codegen_code *code = masu__meta_calloc(1, sizeof *code);
    if (!code)
        return MASU_ERR_OUT_OF_MEMORY;
    masu_status status = make_objects(module, options, error, objects, used);
    if (status == MASU_OK && options->carried) {
        unsigned count = 0;
        for (int t = 0; t < TIER_COUNT; t++)
            if (objects[t])
                code->objects[count++] = objects[t];
    } else if (status == MASU_OK) {
        code->jit = jit_load(objects, used, error);
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
    return code->jit ? jit_entry(code->jit) : NULL;
}

/* With `carried`: object file `number`, from 0; NULL behind the last. Valid until codegen_destroy. */
static const char *codegen_object(const codegen_code *code, unsigned number, size_t *length) {
    if (number >= TIER_COUNT || !code->objects[number])
        return NULL;
    *length = LLVMGetBufferSize(code->objects[number]);
    return LLVMGetBufferStart(code->objects[number]);
}

void codegen_destroy(codegen_code *code) {
    if (!code)
        return;
    jit_destroy(code->jit);
    jit_drop_objects(code->objects);
    masu__meta_free(code, sizeof *code);
}

const masu_generator masu_llvm = {codegen_compile, codegen_object, codegen_entry, codegen_destroy};
