/* valid_names.c: what tensors are called in the program: their names in the file, of letters, digits and _, each
 * once. */
#include <ctype.h>
#include <string.h>

#include "models/import/import.h"

enum { MOST_NAME = 60 };

/* Words that the language keeps for itself, and names that the program's text has. */
static const char *const taken[] = {
    "as",      "async",     "await",   "box",    "break", "const",    "continue", "crate",   "do",    "dyn",
    "else",    "enum",      "extern",  "f16",    "f32",   "f64",      "false",    "final",   "fn",    "for",
    "i16",     "i32",       "i64",     "i8",     "if",    "impl",     "in",       "isize",   "let",   "loop",
    "macro",   "match",     "mod",     "move",   "mut",   "override", "priv",     "pub",     "ref",   "return",
    "self",    "static",    "str",     "struct", "super", "tensor",   "trait",    "true",    "try",   "type",
    "typeof",  "u16",       "u32",     "u64",    "u8",    "union",    "unsafe",   "unsized", "use",   "usize",
    "vec",     "virtual",   "where",   "while",  "yield", "bool",     "char",     "void",    "args",  "inputs",
    "outputs", "net",       "weights", "file",   "main",  "forward",  "panic",    "println", "print", "format",
    "grad",    "gradcheck", "no_grad", "parts",  NULL};

static bool is_taken(const char *name) {
    for (size_t i = 0; taken[i]; i++)
        if (strcmp(taken[i], name) == 0)
            return true;
    static const char *const prefixes[] = {"onnx_", "tl_", "round_", "go_", "rounds_", NULL};
    for (size_t i = 0; prefixes[i]; i++)
        if (strncmp(name, prefixes[i], strlen(prefixes[i])) == 0)
            return true;
    return false;
}

/* Runs of other characters become one _; none in front or at the end; a letter first. */
static char *valid_name(masu__arena *arena, masu__model_text from) {
    char *out = masu__arena_alloc(arena, MOST_NAME + 16, 1);
    size_t length = 0, begin = from.length > MOST_NAME ? from.length - MOST_NAME : 0;
    if (!out)
        return NULL;
    for (size_t i = begin; i < from.length; i++) {
        unsigned char c = (unsigned char)from.at[i];
        if (c < 128 && isalnum(c))
            out[length++] = (char)tolower(c);
        else if (length > 0 && out[length - 1] != '_')
            out[length++] = '_';
    }
    while (length > 0 && out[length - 1] == '_')
        length--;
    out[length] = 0;
    if (length == 0 || isdigit((unsigned char)out[0]) || is_taken(out)) {
        memmove(out + 2, out, length + 1);
        memcpy(out, "t_", 2);
        if (length == 0)
            out[1] = 0;
    }
    return out;
}

static size_t hash_of(const char *name) {
    uint64_t hash = UINT64_C(14695981039346656037);
    for (; *name; name++)
        hash = (hash ^ (unsigned char)*name) * UINT64_C(1099511628211);
    return (size_t)(hash ^ hash >> 29);
}

/* The name, or the first of name_2, name_3, … that no other tensor has. counts[]: how many asked for what lies in this
 * slot. */
static const char *only_name(masu__arena *arena, const char **slots, uint32_t *counts, size_t mask, const char *name) {
    size_t at = hash_of(name) & mask;
    while (slots[at] && strcmp(slots[at], name) != 0)
        at = (at + 1) & mask;
    if (!slots[at]) {
        slots[at] = name;
        return name;
    }
    for (;;) {
        const char *other = masu__arena_printf(arena, "%s_%u", name, ++counts[at] + 1);
        if (!other)
            return NULL;
        size_t next = hash_of(other) & mask;
        while (slots[next] && strcmp(slots[next], other) != 0)
            next = (next + 1) & mask;
        if (!slots[next])
            return slots[next] = other;
    }
}

bool import_names(importer *im) {
    masu__model *m = im->model;
    size_t slots_count = 64;
    while (slots_count < 2 * m->tensor_count)
        slots_count *= 2;
    const char **slots = masu__arena_calloc(&m->arena, slots_count, sizeof *slots, 16);
    uint32_t *counts = masu__arena_calloc(&m->arena, slots_count, sizeof *counts, 16);
    im->names = masu__arena_calloc(&m->arena, m->tensor_count + 1, sizeof *im->names, 16);
    if (!slots || !counts || !im->names)
        return masu__model_refuse(im->why, "out of memory");
    for (size_t i = 0; i < m->tensor_count; i++) {
        char *name = valid_name(&m->arena, m->tensors[i].name);
        im->names[i] = name ? only_name(&m->arena, slots, counts, slots_count - 1, name) : NULL;
        if (!im->names[i])
            return masu__model_refuse(im->why, "out of memory");
    }
    return true;
}
