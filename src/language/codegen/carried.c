/* carried.c: what an executable carries besides its code: the texts of the program and the places
 * that may raise, as one constant that native_error.c reads (language.h: masu_native_program).
 *
 *     masu_native_data ─► files ─► path, text            only files that a place lies in
 *                     └─► sites: file, offset, length, function
 */
#include <string.h>

#include "language/codegen/emit.h"

typedef struct carrier {
    codegen *cg;
    const codegen_program *program;
    const source_file **files;
    LLVMValueRef *texts;
    uint32_t file_count;
    const char *last_name; /* equal functions lie beside each other */
    LLVMValueRef last_text;
} carrier;

static LLVMValueRef text(codegen *cg, const char *bytes, size_t length) {
    return codegen_constant(cg, "text", LLVMConstStringInContext2(cg->context, bytes, length, false));
}

static LLVMValueRef number(const codegen *cg, uint32_t v) {
    return LLVMConstInt(cg->i32, v, false);
}

/* 1 + the file's index; 0 for no file. Programs have few files. */
static uint32_t file_of(carrier *c, const source_file *file) {
    uint32_t f = 0;
    while (f < c->file_count && c->files[f] != file)
        f++;
    if (!file)
        return 0;
    if (f == c->file_count)
        c->files[c->file_count++] = file;
    return f + 1;
}

static LLVMValueRef name_text(carrier *c, const char *name) {
    if (!name)
        return LLVMConstPointerNull(c->cg->ptr);
    if (name != c->last_name)
        c->last_text = text(c->cg, name, strlen(name));
    c->last_name = name;
    return c->last_text;
}

static LLVMValueRef array_of(codegen *cg, const char *name, LLVMTypeRef type, LLVMValueRef *items, uint32_t count) {
    if (count == 0)
        return LLVMConstPointerNull(cg->ptr);
    return codegen_constant(cg, name, LLVMConstArray2(type, items, count));
}

static void operand_parts(carrier *c, const ir_site *site, int o, LLVMValueRef *parts) {
    source_span span = site->operands[o].span;
    const char *name = site->operands[o].name;
    bool here = span.file && span.file == site->span.file;
    parts[0] = number(c->cg, here ? span.offset : 0);
    parts[1] = number(c->cg, here ? span.length : 0);
    parts[2] = name ? text(c->cg, name, strlen(name)) : LLVMConstPointerNull(c->cg->ptr);
}

static LLVMValueRef sites_of(carrier *c) {
    codegen *cg = c->cg;
    LLVMTypeRef fields[] = {cg->i32, cg->i32, cg->i32, cg->ptr, cg->i32, cg->i32, cg->ptr, cg->i32, cg->i32, cg->ptr};
    LLVMTypeRef type = LLVMStructTypeInContext(cg->context, fields, 10, false);
    LLVMValueRef *items = MASU_ARENA_ARRAY(cg->arena, LLVMValueRef, c->program->site_count + 1);
    if (!items)
        return NULL;
    for (uint32_t s = 0; s < c->program->site_count; s++) {
        const ir_site *site = &c->program->sites[s];
        LLVMValueRef parts[10] = {number(cg, file_of(c, site->span.file)), number(cg, site->span.offset),
                                  number(cg, site->span.length), name_text(c, site->function)};
        for (int o = 0; o < IR_SITE_OPERANDS; o++)
            operand_parts(c, site, o, parts + 4 + 3 * o);
        items[s] = LLVMConstStructInContext(cg->context, parts, 10, false);
    }
    return array_of(cg, "sites", type, items, c->program->site_count);
}

static LLVMValueRef files_of(carrier *c) {
    codegen *cg = c->cg;
    LLVMTypeRef fields[] = {cg->ptr, cg->ptr, cg->i64};
    LLVMTypeRef type = LLVMStructTypeInContext(cg->context, fields, 3, false);
    LLVMValueRef *items = MASU_ARENA_ARRAY(cg->arena, LLVMValueRef, c->file_count + 1);
    if (!items)
        return NULL;
    for (uint32_t f = 0; f < c->file_count; f++) {
        const source_file *file = c->files[f];
        LLVMValueRef parts[] = {text(cg, file->path, strlen(file->path)), text(cg, file->text, file->length),
                                codegen_i64(cg, (int64_t)file->length)};
        items[f] = LLVMConstStructInContext(cg->context, parts, 3, false);
    }
    return array_of(cg, "files", type, items, c->file_count);
}

/* Into the unit that is being written. */
void codegen_carry(codegen *cg, const codegen_program *program) {
    carrier c = {.cg = cg, .program = program};
    c.files = MASU_ARENA_ARRAY(cg->arena, const source_file *, program->site_count + 1);
    LLVMValueRef sites = c.files ? sites_of(&c) : NULL;
    LLVMValueRef files = sites ? files_of(&c) : NULL;
    if (!files) {
        cg->out_of_memory = true;
        return;
    }
    uint32_t prelude = 0, file = 0;
    for (uint32_t f = 0; f < c.file_count; f++) {
        prelude = c.files[f] == program->prelude ? f + 1 : prelude;
        file = c.files[f] == program->file ? f + 1 : file;
    }
    LLVMValueRef parts[] = {files, codegen_i64(cg, c.file_count),       codegen_i64(cg, prelude), codegen_i64(cg, file),
                            sites, codegen_i64(cg, program->site_count)};
    LLVMValueRef data = LLVMConstStructInContext(cg->context, parts, 6, false);
    LLVMValueRef global = LLVMAddGlobal(cg->unit->llvm, LLVMTypeOf(data), CODEGEN_DATA_NAME);
    LLVMSetInitializer(global, data);
    LLVMSetGlobalConstant(global, true);
}
