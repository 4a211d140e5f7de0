/* write_header.c: the header: what the caller sees. */
#include "language/portable/writer.h"

#include <string.h>

const char *write_result_name(writer *w, const masu_function *f, uint32_t r) {
    return f->result_count > 1 ? writer_printf(w, "out%u", r) : "out";
}

void write_signature(writer *w, masu__buffer *out, const flat *f) {
    const char *prefix = w->p->shown->name;
    static const char *const plain[] = {[MASU_KIND_F32] = "float",
                                        [MASU_KIND_F64] = "double",
                                        [MASU_KIND_I64] = "int64_t",
                                        [MASU_KIND_BOOL] = "unsigned char"};
    masu__buffer_printf(out, "%s_status %s(%s *context", prefix, f->shown->c_name, prefix);
    for (uint32_t k = 0; k < f->shown->parameter_count; k++) {
        const masu_parameter *p = &f->shown->parameters[k];
        const char *name = write_parameter_name(w->p, p->name);
        if (p->kind == MASU_KIND_TENSOR)
            masu__buffer_printf(out, ", const %s_%s%s *%s", prefix, f->changes[k] ? "" : "const_",
                                write_short_type(f->call->arguments[k].dtype), name);
        else if (p->kind == MASU_KIND_HANDLE)
            masu__buffer_printf(out, ", %s%s_%s *%s", f->changes[k] ? "" : "const ", prefix,
                                w->p->shown->handle_types[p->handle_type].name, name);
        else
            masu__buffer_printf(out, ", %s %s", plain[p->kind], name);
    }
    for (uint32_t r = 0; r < f->shown->result_count; r++) {
        const masu_parameter *p = &f->shown->results[r];
        const char *name = write_result_name(w, f->shown, r);
        if (p->kind == MASU_KIND_TENSOR)
            masu__buffer_printf(out, ", const %s_%s *%s", prefix, write_short_type(f->given[r].dtype), name);
        else if (p->kind == MASU_KIND_HANDLE)
            masu__buffer_printf(out, ", %s_%s *%s", prefix, w->p->shown->handle_types[p->handle_type].name, name);
        else
            masu__buffer_printf(out, ", %s *%s", plain[p->kind], name);
    }
    masu__buffer_putc(out, ')');
}

static void put_status(masu__buffer *out, const char *prefix, const char *name, int number) {
    masu__buffer_puts(out, "    ");
    write_upper(out, prefix);
    masu__buffer_printf(out, "_%s = %d,\n", name, number);
}

static void put_views(masu__buffer *out, const char *prefix) {
    for (int d = 0; d < TL_DTYPE_COUNT; d++)
        for (int constant = 1; constant >= 0; constant--)
            masu__buffer_printf(out,
                                "typedef struct %s_%s%s {\n"
                                "    %s%s *data; /* row-major, without gaps */\n"
                                "    int32_t rank, shape[%d];\n"
                                "} %s_%s%s;\n",
                                prefix, constant ? "const_" : "", write_short_type((tl_dtype)d),
                                constant ? "const " : "", functions_element_type((tl_dtype)d), TL_MAX_RANK, prefix,
                                constant ? "const_" : "", write_short_type((tl_dtype)d));
}

static void put_handles(writer *w, masu__buffer *out) {
    const portable *p = w->p;
    for (uint32_t h = 0; h < p->shown->handle_type_count; h++) {
        const fact_list *list = p->handles[h].list;
        if (!list)
            continue;
        masu__buffer_printf(out, "\n/* %s: its arrays are the caller's. */\ntypedef struct %s_%s {\n",
                            p->shown->handle_types[h].name, p->shown->name, p->shown->handle_types[h].name);
        bool empty = true;
        for (uint32_t k = 0; k < list->width; k++) {
            if (handle_word_is_chosen(list, k))
                continue;
            empty = false;
            const char *field = write_field_name(w->p, &list->leaves[k], k);
            const fact *t = &list->words[k];
            if (list->leaves[k].type != IR_TENSOR) {
                masu__buffer_printf(out, "    %s %s;\n", functions_c_type(list->leaves[k].type), field);
                continue;
            }
            masu__buffer_printf(out, "    %s%s *%s; /* ", p->handles[h].is_written ? "" : "const ",
                                functions_element_type(t->dtype), field);
            write_shape(out, t);
            masu__buffer_printf(out, ": %lld elements */\n", (long long)fact_elements(t));
        }
        if (empty)
            masu__buffer_puts(out, "    unsigned char unused; /* a struct of C has a field */\n");
        masu__buffer_printf(out, "} %s_%s;\n", p->shown->name, p->shown->handle_types[h].name);
    }
}

static void put_maker(writer *w, masu__buffer *out, const flat *f, const char *name, const fact *t, bool constant) {
    const char *prefix = w->p->shown->name;
    masu__buffer_printf(out, "static inline %s_%s%s %s_%s(%s%s *data) {\n    %s_%s%s view = {data, %u, {", prefix,
                        constant ? "const_" : "", write_short_type(t->dtype), f->shown->c_name, name,
                        constant ? "const " : "", functions_element_type(t->dtype), prefix, constant ? "const_" : "",
                        write_short_type(t->dtype), t->rank);
    for (uint32_t d = 0; d < t->rank; d++)
        masu__buffer_printf(out, d > 0 ? ", %lld" : "%lld", (long long)t->dim[d]);
    masu__buffer_puts(out, t->rank ? "}};\n    return view;\n}\n" : "0}};\n    return view;\n}\n");
}

static void put_declaration(writer *w, masu__buffer *out, const flat *f) {
    masu__buffer_printf(out, "\n/* %s, line %u.\n", f->shown->name, f->shown->line);
    for (const char *at = f->shown->documentation; at && *at;) {
        size_t length = strcspn(at, "\n");
        const char *line = writer_printf(w, "%.*s", (int)length, at);
        masu__buffer_puts(out, " * ");
        write_comment(out, line);
        masu__buffer_putc(out, '\n');
        at += length + (at[length] == '\n');
    }
    for (uint32_t k = 0; k < f->shown->parameter_count; k++) {
        const fact *given = &f->call->arguments[k];
        masu__buffer_printf(out, " *     %s: ", write_parameter_name(w->p, f->shown->parameters[k].name));
        if (given->kind == FACT_TENSOR) {
            masu__buffer_printf(out, "%s ", write_short_type(given->dtype));
            write_shape(out, given);
        } else {
            write_comment(out, f->shown->parameters[k].type);
        }
        if (given->kind == FACT_NUMBER)
            masu__buffer_printf(out, ", %s: another one is refused", f->call->shown[k]);
        masu__buffer_puts(out, f->changes[k] ? "; written\n" : "\n");
    }
    for (uint32_t r = 0; r < f->shown->result_count; r++) {
        masu__buffer_printf(out, " *     %s: ", write_result_name(w, f->shown, r));
        if (f->given[r].kind == FACT_TENSOR) {
            masu__buffer_printf(out, "%s ", write_short_type(f->given[r].dtype));
            write_shape(out, &f->given[r]);
        } else {
            write_comment(out, f->shown->results[r].type);
        }
        masu__buffer_putc(out, '\n');
    }
    masu__buffer_puts(out, " */\n#define ");
    write_upper(out, f->shown->c_name);
    masu__buffer_printf(out, "_ARENA_BYTES %llu\n", (unsigned long long)f->arena_bytes);
    write_signature(w, out, f);
    masu__buffer_puts(out, ";\n");
    for (uint32_t k = 0; k < f->shown->parameter_count; k++)
        if (f->call->arguments[k].kind == FACT_TENSOR)
            put_maker(w, out, f, write_parameter_name(w->p, f->shown->parameters[k].name), &f->call->arguments[k],
                      !f->changes[k]);
    for (uint32_t r = 0; r < f->shown->result_count; r++)
        if (f->given[r].kind == FACT_TENSOR)
            put_maker(w, out, f, write_result_name(w, f->shown, r), &f->given[r], false);
}

void write_header(writer *w) {
    portable *p = w->p;
    masu__buffer *out = &p->header;
    const char *prefix = p->shown->name;
    uint64_t most = 0;
    masu__buffer_printf(out, "/* %s.h: functions of %s as plain C, written by `masu build --c`.\n *\n", prefix,
                        write_source(p));
    masu__buffer_puts(out,
                      " * No function asks for memory, keeps state or prints: what it needs lies in the caller's "
                      "arena, at a multiple of 8. Callers in several threads\n"
                      " * have a context and an arena each. Shapes are those below; others are refused. A call that "
                      "does not return OK has written to nothing but\n"
                      " * its context and its arena. A result may go where an argument came from.\n"
                      " */\n"
                      "#ifndef ");
    write_upper(out, prefix);
    masu__buffer_puts(out, "_PORTABLE_H\n#define ");
    write_upper(out, prefix);
    masu__buffer_puts(out,
                      "_PORTABLE_H\n\n"
                      "#include <stddef.h>\n"
                      "#include <stdint.h>\n\n"
                      "#ifdef __cplusplus\n"
                      "extern \"C\" {\n"
                      "#endif\n\n"
                      "typedef enum ");
    masu__buffer_printf(out, "%s_status {\n", prefix);
    put_status(out, prefix, "OK", MASU_OK);
    put_status(out, prefix, "ERR_OUT_OF_MEMORY", MASU_ERR_OUT_OF_MEMORY);
    put_status(out, prefix, "ERR_INVALID_ARGUMENT", MASU_ERR_INVALID_ARGUMENT);
    put_status(out, prefix, "ERR_SHAPE_MISMATCH", MASU_ERR_SHAPE_MISMATCH);
    put_status(out, prefix, "ERR_INDEX_OUT_OF_RANGE", MASU_ERR_INDEX_OUT_OF_RANGE);
    put_status(out, prefix, "ERR_PANIC", MASU_ERR_PANIC);
    masu__buffer_printf(
        out,
        "} %s_status;\n\n"
        "/* arena and arena_bytes are set by the caller; the rest says how the last call ended, and where in %s. */\n"
        "typedef struct %s {\n"
        "    void *arena;\n"
        "    size_t arena_bytes;\n"
        "    %s_status status;\n"
        "    int32_t line, column;\n"
        "    const char *function, *message; /* constant texts */\n"
        "} %s;\n\n",
        prefix, write_source(p), prefix, prefix, prefix);
    put_views(out, prefix);
    put_handles(w, out);
    write_weights_declared(w, out);
    for (uint32_t k = 0; k < p->call_count; k++) {
        if (!p->flats[k].f)
            continue;
        put_declaration(w, out, &p->flats[k]);
        most = p->flats[k].arena_bytes > most ? p->flats[k].arena_bytes : most;
    }
    masu__buffer_puts(out, "\n/* Enough for each of them. */\n#define ");
    write_upper(out, prefix);
    masu__buffer_printf(out, "_ARENA_BYTES %llu\n", (unsigned long long)most);
    masu__buffer_puts(
        out, "\n/* Constant arrays, which lie in flash: weights and literals. The code comes on top. */\n#define ");
    write_upper(out, prefix);
    masu__buffer_printf(out, "_FLASH_BYTES %llu\n\n#ifdef __cplusplus\n}\n#endif\n\n#endif\n",
                        (unsigned long long)p->flash_bytes);
}
