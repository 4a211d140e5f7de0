/* jit.c: LLVM's optimiser, its code generator for this machine, and its linker into this process.
 *
 * The module is turned into an object first and linked afterwards, so that everything that knows the module is
 * gone before the program runs. Names that the code needs are resolved in this order:
 *
 *     tl_…    tl_abi_addresses: no lookup by name, so that a stripped or static command works too
 *     others  what LLVM itself calls (memset, expf, …): the process's own libraries
 */
#include <llvm-c/Error.h>
#include <llvm-c/LLJIT.h>
#include <llvm-c/Orc.h>
#include <llvm-c/Target.h>
#include <llvm-c/TargetMachine.h>
#include <llvm-c/Transforms/PassBuilder.h>
#include <pthread.h>

#include "base/meta.h"
#include "language/codegen/emit.h"

struct jit {
    LLVMOrcLLJITRef lljit;
    void (*entry)(void);
};

static pthread_once_t target_once = PTHREAD_ONCE_INIT;
static bool target_failed;

static void initialise_target(void) {
    target_failed = LLVMInitializeNativeTarget() || LLVMInitializeNativeAsmPrinter();
}

/* True when there was no error; otherwise its text goes to `out`. Consumes the error. */
static bool fine(LLVMErrorRef error, masu__buffer *out) {
    if (!error)
        return true;
    char *message = LLVMGetErrorMessage(error);
    masu__buffer_puts(out, message);
    LLVMDisposeErrorMessage(message);
    return false;
}

/* ---- object ------------------------------------------------------------------------------------------------------ */

static LLVMTargetMachineRef make_machine(codegen_tier tier, bool for_linker, masu__buffer *error) {
    pthread_once(&target_once, initialise_target);
    if (target_failed) {
        masu__buffer_puts(error, "LLVM has no code generator for this machine");
        return NULL;
    }
    char *triple = LLVMGetDefaultTargetTriple(), *message = NULL;
    LLVMTargetRef target;
    LLVMTargetMachineRef machine = NULL;
    if (LLVMGetTargetFromTriple(triple, &target, &message)) {
        masu__buffer_puts(error, message);
        LLVMDisposeMessage(message);
    } else {
        char *cpu = LLVMGetHostCPUName(), *features = LLVMGetHostCPUFeatures();
        machine = LLVMCreateTargetMachine(target, triple, cpu, features,
                                          tier == TIER_FAST ? LLVMCodeGenLevelDefault : LLVMCodeGenLevelNone,
                                          LLVMRelocPIC, for_linker ? LLVMCodeModelDefault : LLVMCodeModelJITDefault);
        LLVMDisposeMessage(cpu);
        LLVMDisposeMessage(features);
    }
    LLVMDisposeMessage(triple);
    return machine;
}

static void set_layout(LLVMModuleRef module, LLVMTargetMachineRef machine) {
    LLVMTargetDataRef layout = LLVMCreateTargetDataLayout(machine);
    LLVMSetModuleDataLayout(module, layout);
    LLVMDisposeTargetData(layout);
    char *triple = LLVMGetTargetMachineTriple(machine);
    LLVMSetTarget(module, triple);
    LLVMDisposeMessage(triple);
}

/* The passes of -O2 that matter to loops over numbers, without those that a program waiting for the runtime does not
 * feel: half the time of "default<O2>", which is half the time of a start.
 *
 *     mergefunc              equal comprehensions share their loops
 *     inline                 small functions of numbers; those that enter a frame are marked noinline
 *     jump-threading         an Option that `next` makes is asked once, where it is made
 *     loop-rotate … indvars  loops as the vectoriser likes them, what does not change moved out
 *     simple-loop-unswitch   whether the last place is one of the list is asked before the loop
 *     gvn, loop-vectorize    one load for each element; several elements at a time
 *
 * instcombine runs to its first fixed point: more rounds were not found to change the code of any example. */
static const char passes[] =
    "mergefunc,function(sroa<modify-cfg>,early-cse<memssa>,simplifycfg,instsimplify),ipsccp,globaldce,"
    "cgscc(inline,function(sroa<modify-cfg>,early-cse<memssa>,simplifycfg,instsimplify)),"
    "function(jump-threading,loop-mssa(loop-rotate),instcombine<max-iterations=1;no-verify-fixpoint>,simplifycfg,"
    "loop-mssa(licm<allowspeculation>),loop(indvars,loop-idiom,loop-deletion),"
    "loop-mssa(simple-loop-unswitch,licm<allowspeculation>),gvn,"
    "instcombine<max-iterations=1;no-verify-fixpoint>,loop-vectorize,loop-mssa(licm<allowspeculation>),dse,"
    "instcombine<max-iterations=1;no-verify-fixpoint>,simplifycfg),globaldce";

static bool optimise(LLVMModuleRef module, LLVMTargetMachineRef machine, masu__buffer *error) {
    LLVMPassBuilderOptionsRef options = LLVMCreatePassBuilderOptions();
    bool done = fine(LLVMRunPasses(module, passes, machine, options), error);
    LLVMDisposePassBuilderOptions(options);
    return done;
}

static bool write_object(LLVMModuleRef module, LLVMTargetMachineRef machine, LLVMMemoryBufferRef *object,
                         masu__buffer *error) {
    char *message = NULL;
    if (!LLVMTargetMachineEmitToMemoryBuffer(machine, module, LLVMObjectFile, &message, object))
        return true;
    masu__buffer_puts(error, message ? message : "LLVM cannot write the object");
    LLVMDisposeMessage(message);
    return false;
}

bool jit_make_object(LLVMModuleRef module, codegen_tier tier, bool for_linker, LLVMMemoryBufferRef *object,
                     masu__buffer *error) {
    LLVMTargetMachineRef machine = make_machine(tier, for_linker, error);
    if (!machine)
        return false;
    set_layout(module, machine);
    bool done = (tier == TIER_PLAIN || optimise(module, machine, error)) &&
                write_object(module, machine, object, error);
    LLVMDisposeTargetMachine(machine);
    return done;
}

/* ---- linking ----------------------------------------------------------------------------------------------------- */

static void keep_first_error(void *buffer, LLVMErrorRef error) {
    masu__buffer *out = buffer;
    if (out->length > 0)
        LLVMConsumeError(error);
    else
        fine(error, out);
}

static void ignore_error(void *unused, LLVMErrorRef error) {
    (void)unused;
    LLVMConsumeError(error);
}

static bool define_runtime(LLVMOrcLLJITRef lljit, const bool *used, masu__buffer *error) {
    LLVMOrcCSymbolMapPair pairs[TL_FN_COUNT];
    size_t count = 0;
    for (int k = 0; k < TL_FN_COUNT; k++) {
        if (!used[k])
            continue;
        LLVMOrcCSymbolMapPair *pair = &pairs[count++];
        pair->Name = LLVMOrcLLJITMangleAndIntern(lljit, tl_abi_functions[k].symbol);
        pair->Sym.Address = (LLVMOrcExecutorAddress)(uintptr_t)tl_abi_addresses[k];
        pair->Sym.Flags.GenericFlags = LLVMJITSymbolGenericFlagsExported | LLVMJITSymbolGenericFlagsCallable;
        pair->Sym.Flags.TargetFlags = 0;
    }
    if (count == 0)
        return true;
    LLVMOrcMaterializationUnitRef unit = LLVMOrcAbsoluteSymbols(pairs, count);
    LLVMErrorRef failure = LLVMOrcJITDylibDefine(LLVMOrcLLJITGetMainJITDylib(lljit), unit);
    if (failure)
        LLVMOrcDisposeMaterializationUnit(unit);
    return fine(failure, error);
}

static bool search_process(LLVMOrcLLJITRef lljit, masu__buffer *error) {
    LLVMOrcDefinitionGeneratorRef generator;
    char prefix = LLVMOrcLLJITGetGlobalPrefix(lljit);
    if (!fine(LLVMOrcCreateDynamicLibrarySearchGeneratorForProcess(&generator, prefix, NULL, NULL), error))
        return false;
    LLVMOrcJITDylibAddGenerator(LLVMOrcLLJITGetMainJITDylib(lljit), generator);
    return true;
}

/* Consumes the objects. */
static bool add_objects(LLVMOrcLLJITRef lljit, LLVMMemoryBufferRef objects[TIER_COUNT], masu__buffer *error) {
    bool added = true;
    for (int t = 0; t < TIER_COUNT; t++)
        if (objects[t] && added)
            added = fine(LLVMOrcLLJITAddObjectFile(lljit, LLVMOrcLLJITGetMainJITDylib(lljit), objects[t]), error);
        else if (objects[t])
            LLVMDisposeMemoryBuffer(objects[t]);
    return added;
}

static bool find_entry(jit *j, masu__buffer *error) {
    LLVMOrcExecutorAddress address = 0;
    LLVMErrorRef failure = LLVMOrcLLJITLookup(j->lljit, &address, CODEGEN_ENTRY_NAME);
    if (failure && error->length > 0) { /* the reporter has heard the cause; this one only says that it failed */
        LLVMConsumeError(failure);
        return false;
    }
    if (!fine(failure, error))
        return false;
    j->entry = (void (*)(void))(uintptr_t)address;
    return true;
}

void jit_drop_objects(LLVMMemoryBufferRef objects[TIER_COUNT]) {
    for (int t = 0; t < TIER_COUNT; t++)
        if (objects[t])
            LLVMDisposeMemoryBuffer(objects[t]);
}

jit *jit_load(LLVMMemoryBufferRef objects[TIER_COUNT], const bool *used, masu__buffer *error) {
    jit *j = masu__meta_calloc(1, sizeof *j);
    if (!j || !fine(LLVMOrcCreateLLJIT(&j->lljit, NULL), error)) {
        jit_drop_objects(objects);
        masu__meta_free(j, sizeof *j);
        return NULL;
    }
    LLVMOrcExecutionSessionRef session = LLVMOrcLLJITGetExecutionSession(j->lljit);
    LLVMOrcExecutionSessionSetErrorReporter(session, keep_first_error, error);
    bool ready = define_runtime(j->lljit, used, error) && search_process(j->lljit, error);
    if (!ready)
        jit_drop_objects(objects);
    else
        ready = add_objects(j->lljit, objects, error) && find_entry(j, error);
    LLVMOrcExecutionSessionSetErrorReporter(session, ignore_error, NULL); /* `error` is the caller's */
    if (ready)
        return j;
    jit_destroy(j);
    return NULL;
}

void (*jit_entry(const jit *j))(void) {
    return j->entry;
}

void jit_destroy(jit *j) {
    if (!j)
        return;
    LLVMErrorRef failure = LLVMOrcDisposeLLJIT(j->lljit);
    if (failure)
        LLVMConsumeError(failure);
    masu__meta_free(j, sizeof *j);
}
