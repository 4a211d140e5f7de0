/* portable.c: the steps from an IR module to C, as a generator beside LLVM's. "Objects" 0 and 1 are the C file and its
 * header. */
#include "language/portable/portable.h"

#include <stdio.h>
#include <string.h>

#include "base/meta.h"
#include "language/language.h"

struct codegen_code {
    masu__buffer code, header;
};

const ir_function *portable_entry(const portable *p, uint32_t function) {
    char name[32];
    snprintf(name, sizeof name, "__export_%u", function);
    for (uint32_t k = 0; k < p->module->function_count; k++)
        if (strcmp(p->module->functions[k]->name, name) == 0)
            return p->module->functions[k];
    return NULL;
}

static void generate(portable *p) {
    p->out = ir_module_new(&p->arena);
    p->handles = MASU_ARENA_ARRAY(&p->arena, handle_shape, p->shown->handle_type_count + 1);
    if (!p->out || !p->handles) {
        p->out_of_memory = true;
        return;
    }
    p->symbols = (shape_symbols){.m = p->module, .arena = &p->arena};
    portable_read_calls(p);
    for (uint32_t k = 0; k < p->call_count && !portable_stopped(p); k++)
        if (!p->calls[k].name)
            portable_flatten(p, &p->flats[k]);
    if (!portable_stopped(p))
        portable_find_weights(p);
    if (!portable_stopped(p))
        portable_write(p);
    p->out_of_memory |= p->symbols.out_of_memory;
}

static masu_status compile(const ir_module *module, const codegen_options *options, masu__buffer *error,
                           codegen_code **out) {
    (void)error;
    portable p = {.module = module, .options = options, .shown = options->shown};
    codegen_code *code = masu__meta_calloc(1, sizeof *code);
    if (!code)
        return MASU_ERR_OUT_OF_MEMORY;
    generate(&p);
    masu_status status = p.out_of_memory ? MASU_ERR_OUT_OF_MEMORY : p.refused ? MASU_ERR_SHAPE_MISMATCH : MASU_OK;
    *code = (codegen_code){p.code, p.header};
    masu__arena_destroy(&p.arena);
    if (status != MASU_OK) {
        masu__buffer_destroy(&code->code);
        masu__buffer_destroy(&code->header);
        masu__meta_free(code, sizeof *code);
        return status;
    }
    *out = code;
    return MASU_OK;
}

static const char *object(const codegen_code *code, unsigned number, size_t *length) {
    const masu__buffer *text = number == 0 ? &code->code : number == 1 ? &code->header : NULL;
    if (!text)
        return NULL;
    *length = text->length;
    return text->data;
}

static void (*entry(const codegen_code *code))(void) {
    (void)code;
    return NULL;
}

static void destroy(codegen_code *code) {
    if (!code)
        return;
    masu__buffer_destroy(&code->code);
    masu__buffer_destroy(&code->header);
    masu__meta_free(code, sizeof *code);
}

const masu_generator masu_portable = {compile, object, entry, destroy};
