/* rehearse.c: `masu build --shared --arena CALLS`: how large an arena calls of known shapes need, found by making them.
 *
 *     "m = Net::new(3, 2); Net::forward(m, [8, 3])"      tensors are zeros of the shape, their elements what the
 *                                                        function wants
 *
 * The library that was built is loaded and does the calls in an arena, ROUNDS times, each result given back before the
 * next call: what the pools keep for the second round is counted, too. arena_used is then exact for these calls, as a
 * module does the same with the same arguments.
 */
#include <ctype.h>
#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/meta.h"
#include "tool/compiler/compiler.h"

enum { ROUNDS = 3, MOST_NAMES = 16, NAME_BYTES = 64, MOST_ARGUMENTS = 32, TEXT_BYTES = 256 };

static const size_t ARENA_BYTES = (size_t)16 << 30;

typedef struct named {
    char name[NAME_BYTES];
    masu_handle *handle;
} named;

typedef struct rehearsal {
    const masu_module *module;
    masu_instance *instance;
    const char *at; /* in the calls */
    named names[MOST_NAMES];
    uint32_t name_count;
    char texts[MOST_ARGUMENTS][TEXT_BYTES];
    void *zeros[MOST_ARGUMENTS];
    size_t zero_bytes[MOST_ARGUMENTS];
} rehearsal;

/* ---- reading ----------------------------------------------------------------------------------------------------- */

static bool wrong(const rehearsal *r, const char *what) {
    fprintf(stderr, "masu build: --arena: %s at `%.40s`\n", what, r->at);
    return false;
}

static bool accept(rehearsal *r, char letter) {
    while (isspace((unsigned char)*r->at))
        r->at++;
    bool is = *r->at == letter;
    r->at += is;
    return is;
}

static bool read_name(rehearsal *r, char name[NAME_BYTES]) {
    size_t length = 0;
    while (isspace((unsigned char)*r->at))
        r->at++;
    while (isalnum((unsigned char)r->at[length]) || r->at[length] == '_' || r->at[length] == ':')
        length++;
    if (length == 0 || length >= NAME_BYTES || isdigit((unsigned char)*r->at))
        return wrong(r, "a name is wanted");
    memcpy(name, r->at, length);
    name[length] = 0;
    r->at += length;
    return true;
}

static bool read_number(rehearsal *r, masu_value *v) {
    char *end;
    double real = strtod(r->at, &end);
    int64_t whole = v->kind == MASU_KIND_I64 ? strtoll(r->at, &end, 10) : 0;
    if (end == r->at)
        return wrong(r, "a number is wanted");
    r->at = end;
    if (v->kind == MASU_KIND_I64)
        v->as.i64 = whole;
    else if (v->kind == MASU_KIND_F32)
        v->as.f32 = (float)real;
    else
        v->as.f64 = real;
    return true;
}

static bool read_tensor(rehearsal *r, const masu_parameter *p, uint32_t n, masu_value *v) {
    int64_t shape[MASU_RANK_MAX], elements = 1;
    int32_t rank = 0;
    if (!accept(r, '['))
        return wrong(r, "a shape such as [2, 3] is wanted");
    while (!accept(r, ']')) {
        masu_value length = {.kind = MASU_KIND_I64};
        if (rank == MASU_RANK_MAX || (rank > 0 && !accept(r, ',')) || !read_number(r, &length))
            return wrong(r, "a shape is wanted");
        shape[rank++] = length.as.i64;
        if (length.as.i64 < 0 || __builtin_mul_overflow(elements, length.as.i64, &elements))
            return wrong(r, "a shape is wanted");
    }
    r->zero_bytes[n] = ((size_t)elements + 1) * 8;
    if (elements > INT64_MAX / 16 || !(r->zeros[n] = masu__meta_calloc(1, r->zero_bytes[n])))
        return wrong(r, "there is no memory for a tensor of this shape");
    v->as.tensor = masu_tensor_of(p->element, r->zeros[n], rank, shape);
    return true;
}

static bool read_text(rehearsal *r, uint32_t n, masu_value *v) {
    size_t length = 0;
    if (!accept(r, '"'))
        return wrong(r, "a text in quotes is wanted");
    while (r->at[length] && r->at[length] != '"' && length + 1 < TEXT_BYTES) {
        r->texts[n][length] = r->at[length];
        length++;
    }
    r->texts[n][length] = 0;
    r->at += length;
    v->as.text = masu_string_of(r->texts[n]);
    return accept(r, '"') || wrong(r, "a text ends with a quote");
}

static named *find_name(rehearsal *r, const char *name) {
    for (uint32_t i = 0; i < r->name_count; i++)
        if (strcmp(r->names[i].name, name) == 0)
            return &r->names[i];
    return NULL;
}

static bool read_argument(rehearsal *r, const masu_parameter *p, uint32_t n, masu_value *v) {
    char name[NAME_BYTES];
    v->kind = p->kind;
    while (isspace((unsigned char)*r->at))
        r->at++;
    if (p->kind == MASU_KIND_TENSOR)
        return read_tensor(r, p, n, v);
    if (p->kind == MASU_KIND_TEXT)
        return read_text(r, n, v);
    if (p->kind != MASU_KIND_HANDLE && p->kind != MASU_KIND_BOOL)
        return read_number(r, v);
    if (!read_name(r, name))
        return false;
    const named *known = p->kind == MASU_KIND_HANDLE ? find_name(r, name) : NULL;
    if (p->kind == MASU_KIND_HANDLE)
        v->as.handle = known ? known->handle : NULL;
    else
        v->as.truth = strcmp(name, "true") == 0;
    return true;
}

/* ---- doing ------------------------------------------------------------------------------------------------------- */

/* The results go back, but for a handle that the calls name. */
static bool keep_results(rehearsal *r, const char *name, const masu_function *f, masu_value *results) {
    named *known = name[0] ? find_name(r, name) : NULL;
    bool keeps = name[0] && f->result_count == 1 && results[0].kind == MASU_KIND_HANDLE;
    if (keeps && !known && r->name_count < MOST_NAMES) {
        known = &r->names[r->name_count++];
        snprintf(known->name, NAME_BYTES, "%s", name);
        known->handle = NULL;
    }
    if (keeps && known) {
        r->module->handle_drop(known->handle);
        known->handle = results[0].as.handle;
        results[0].kind = MASU_KIND_NONE;
    }
    for (uint32_t i = 0; i < f->result_count; i++)
        r->module->release(&results[i]);
    return !name[0] || (keeps && known) || wrong(r, "only a function that yields one handle gives it a name");
}

static bool call(rehearsal *r, const char *name, uint32_t number) {
    const masu_function *f = &r->module->functions[number];
    masu_value arguments[MOST_ARGUMENTS], results[MOST_ARGUMENTS];
    memset(results, 0, sizeof results);
    bool good = accept(r, '(') || wrong(r, "`(` is wanted");
    for (uint32_t n = 0; good && n < f->parameter_count; n++)
        good = (n == 0 || accept(r, ',') || wrong(r, "another argument is wanted")) &&
               read_argument(r, &f->parameters[n], n, &arguments[n]);
    good = good && (accept(r, ')') || wrong(r, "`)` is wanted"));
    if (good && r->module->call(r->instance, number, arguments, results) != MASU_OK) {
        fprintf(stderr, "masu build: --arena: %s\n", r->module->error(r->instance));
        good = false;
    } else if (good) {
        good = keep_results(r, name, f, results);
    }
    for (uint32_t n = 0; n < f->parameter_count; n++) {
        masu__meta_free(r->zeros[n], r->zero_bytes[n]);
        r->zeros[n] = NULL;
    }
    return good;
}

static bool one_call(rehearsal *r) {
    char name[NAME_BYTES] = "", function[NAME_BYTES];
    if (!read_name(r, function))
        return false;
    if (accept(r, '=')) {
        memcpy(name, function, NAME_BYTES);
        if (!read_name(r, function))
            return false;
    }
    for (uint32_t i = 0; i < r->module->function_count; i++)
        if (strcmp(r->module->functions[i].name, function) == 0)
            return call(r, name, i);
    return wrong(r, "the module has no such function before this");
}

static bool all_calls(rehearsal *r, const char *calls) {
    r->at = calls;
    while (one_call(r)) {
        bool more = accept(r, ';');
        while (isspace((unsigned char)*r->at))
            r->at++;
        if (!*r->at)
            return true;
        if (!more)
            return wrong(r, "`;` is wanted");
    }
    return false;
}

static bool rehearse(rehearsal *r, const char *calls, void *arena, size_t *bytes) {
    masu_instance_options options = {.struct_bytes = sizeof options, .arena = arena, .arena_bytes = ARENA_BYTES};
    if (r->module->create(r->module, &options, &r->instance) != MASU_OK) {
        fprintf(stderr, "masu build: --arena: no instance can be made\n");
        return false;
    }
    bool good = true;
    for (int round = 0; good && round < ROUNDS; round++)
        good = all_calls(r, calls);
    for (uint32_t i = 0; i < r->name_count; i++)
        r->module->handle_drop(r->names[i].handle);
    *bytes = r->module->arena_used(r->instance);
    r->module->destroy(r->instance);
    return good;
}

bool tool_rehearse(const char *library, const char *calls, size_t *bytes) {
    rehearsal r = {0};
    char path[PATH_MAX];
    void *loaded = realpath(library, path) ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : NULL;
    r.module = loaded ? (const masu_module *)dlsym(loaded, MASU_MODULE_SYMBOL) : NULL;
    size_t room = ARENA_BYTES + MASU_INSTANCE_UNIT;
    char *memory = mmap(NULL, room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (!r.module || memory == MAP_FAILED) {
        fprintf(stderr, "masu build: --arena: %s\n", r.module ? "no room for an arena" : dlerror());
        return false;
    }
    char *arena = memory + (MASU_INSTANCE_UNIT - (uintptr_t)memory % MASU_INSTANCE_UNIT) % MASU_INSTANCE_UNIT;
    bool good = rehearse(&r, calls, arena, bytes);
    munmap(memory, room);
    return good;
}
