/* module_text.c: what `masu build --shared` writes in C: the table of a module (module.c, compiled into the library)
 * and the header with a typed function for each of the table's, for people. */
#include <ctype.h>
#include <string.h>

#include "tool/compiler/compiler.h"

/* ---- texts of C ------------------------------------------------------------------------------------------------- */

static void put_string(masu__buffer *out, const char *text) {
    if (!text) {
        masu__buffer_puts(out, "0");
        return;
    }
    masu__buffer_putc(out, '"');
    for (; *text; text++) {
        unsigned char c = (unsigned char)*text;
        if (c == '"' || c == '\\' || c == '?' || c < ' ' || c > '~')
            masu__buffer_printf(out, "\\%03o", c);
        else
            masu__buffer_putc(out, (char)c);
    }
    masu__buffer_putc(out, '"');
}

/* Inside a comment: what would begin or end one, or a trigraph, is taken apart. */
static void put_letter(masu__buffer *out, const char *at) {
    masu__buffer_putc(out, *at);
    if ((at[0] == '*' && at[1] == '/') || (at[0] == '/' && at[1] == '*') || (at[0] == '?' && at[1] == '?'))
        masu__buffer_putc(out, ' ');
}

static void put_comment(masu__buffer *out, const char *text) {
    for (bool starts = true; *text; text++) {
        if (starts)
            masu__buffer_puts(out, *text == '\n' ? " *" : " * ");
        starts = *text == '\n';
        put_letter(out, text);
    }
    masu__buffer_putc(out, '\n');
}

static bool is_among(const char *words, const char *name) {
    size_t length = strlen(name);
    for (const char *at = words; (at = strstr(at, name)); at++)
        if (at[-1] == ' ' && at[length] == ' ')
            return true;
    return false;
}

bool tool_is_word_of_c(const char *name) {
    return is_among(
        " alignas alignof and and_eq asm auto bitand bitor bool break case catch char char16_t char32_t char8_t class "
        "compl concept const "
        "const_cast consteval constexpr constinit continue co_await co_return co_yield decltype default delete do "
        "double dynamic_cast else enum explicit export extern false float for friend goto if inline int long mutable "
        "namespace new "
        "noexcept not not_eq nullptr operator or or_eq private protected public register reinterpret_cast requires "
        "restrict return "
        "short signed sizeof static static_assert static_cast struct switch template this thread_local throw true try "
        "typedef typeid typename union unsigned using virtual void volatile wchar_t while xor xor_eq linux unix ",
        name);
}

/* These words, and names that the functions of the header use. */
static bool is_taken(const char *name) {
    return tool_is_word_of_c(name) || is_among(" instance arguments results status out ", name) ||
           (strncmp(name, "out", 3) == 0 && isdigit((unsigned char)name[3]));
}

static void put_name(masu__buffer *out, const masu_parameter *p) {
    masu__buffer_puts(out, p->name);
    if (is_taken(p->name))
        masu__buffer_putc(out, '_');
}

/* ---- the table --------------------------------------------------------------------------------------------------- */

static const char *const kinds[] = {"MASU_KIND_NONE", "MASU_KIND_TENSOR", "MASU_KIND_F32",  "MASU_KIND_F64",
                                    "MASU_KIND_I64",  "MASU_KIND_BOOL",   "MASU_KIND_TEXT", "MASU_KIND_HANDLE"};
static const char *const elements[] = {"MASU_F32", "MASU_F64", "MASU_I64", "MASU_BOOL"};

static void put_i64(masu__buffer *out, int64_t v) {
    if (v == INT64_MIN)
        masu__buffer_puts(out, "INT64_MIN");
    else
        masu__buffer_printf(out, "INT64_C(%lld)", (long long)v);
}

static void put_parameters(masu__buffer *out, const char *what, uint32_t number, const masu_parameter *all,
                           uint32_t count) {
    if (count == 0)
        return;
    masu__buffer_printf(out, "static const masu_parameter %s_%u[] = {\n", what, number);
    for (uint32_t i = 0; i < count; i++) {
        const masu_parameter *p = &all[i];
        masu__buffer_puts(out, "    {");
        put_string(out, p->name);
        masu__buffer_puts(out, ", ");
        put_string(out, p->type);
        masu__buffer_printf(out, ", %s, %s, %s, %d, 0, ", kinds[p->kind], p->is_written ? "true" : "false",
                            elements[p->element], p->rank);
        put_i64(out, p->least);
        masu__buffer_puts(out, ", ");
        put_i64(out, p->most);
        masu__buffer_printf(out, ", %u},\n", p->handle_type);
    }
    masu__buffer_puts(out, "};\n");
}

static void put_functions(masu__buffer *out, const masu_module *m) {
    for (uint32_t i = 0; i < m->function_count; i++) {
        put_parameters(out, "parameters", i, m->functions[i].parameters, m->functions[i].parameter_count);
        put_parameters(out, "results", i, m->functions[i].results, m->functions[i].result_count);
    }
    masu__buffer_puts(out, "static const masu_function functions[] = {\n");
    for (uint32_t i = 0; i < m->function_count; i++) {
        const masu_function *f = &m->functions[i];
        masu__buffer_puts(out, "    {");
        put_string(out, f->name);
        masu__buffer_puts(out, ", ");
        put_string(out, f->c_name);
        masu__buffer_puts(out, ", ");
        put_string(out, f->documentation);
        masu__buffer_printf(out, ", %u, %u, %u, ", f->line, f->parameter_count, f->result_count);
        masu__buffer_printf(out, f->parameter_count ? "parameters_%u, " : "0, ", i);
        masu__buffer_printf(out, f->result_count ? "results_%u, " : "0, ", i);
        masu__buffer_printf(out, "%s},\n", f->is_tuple ? "true" : "false");
    }
    masu__buffer_puts(out, "};\n");
}

void tool_put_module(const masu_module *m, masu__buffer *out) {
    masu__buffer_puts(
        out,
        "#include <masu/module.h>\n"
        "masu_status masu_native_create(const masu_module *, const masu_instance_options *, masu_instance **);\n"
        "void masu_native_destroy(masu_instance *);\n"
        "masu_status masu_native_call(masu_instance *, uint32_t, const masu_value *, masu_value *);\n"
        "const char *masu_native_error(const masu_instance *);\n"
        "void masu_native_release(masu_value *);\n"
        "masu_status masu_native_clone(masu_handle *, masu_handle **);\n"
        "void masu_native_drop(masu_handle *);\n"
        "size_t masu_native_arena_used(const masu_instance *);\n");
    put_functions(out, m);
    if (m->handle_type_count > 0)
        masu__buffer_puts(out, "static const masu_handle_type handle_types[] = {\n");
    for (uint32_t i = 0; i < m->handle_type_count; i++) {
        masu__buffer_puts(out, "    {");
        put_string(out, m->handle_types[i].name);
        masu__buffer_puts(out, ", ");
        put_string(out, m->handle_types[i].documentation);
        masu__buffer_puts(out, i + 1 < m->handle_type_count ? "},\n" : "},\n};\n");
    }
    masu__buffer_printf(out,
                        "extern const masu_module %s_module;\n"
                        "const masu_module %s_module = {MASU_MODULE_VERSION, sizeof(masu_module), ",
                        m->name, m->name);
    put_string(out, m->name);
    masu__buffer_puts(out, ", ");
    put_string(out, m->source);
    masu__buffer_printf(
        out,
        ", %u, %u, functions, %s,\n"
        "    masu_native_create, masu_native_destroy, masu_native_call, masu_native_error, masu_native_release, "
        "masu_native_clone, masu_native_drop, masu_native_arena_used};\n",
        m->function_count, m->handle_type_count, m->handle_type_count ? "handle_types" : "0");
    masu__buffer_printf(out,
                        "extern const masu_module the_module __asm__(\"" MASU_MODULE_SYMBOL
                        "\") __attribute__((alias(\"%s_module\")));\n",
                        m->name);
}

void tool_put_module_symbols(const masu_module *m, masu__buffer *out) {
    masu__buffer_printf(out, "{ global: " MASU_MODULE_SYMBOL "; %s_module; local: *; };\n", m->name);
}

/* ---- the header -------------------------------------------------------------------------------------------------- */

static void put_guard(masu__buffer *out, const char *name) {
    for (; *name; name++)
        masu__buffer_putc(out, (char)toupper((unsigned char)*name));
    masu__buffer_puts(out, "_MODULE_H");
}

static void put_what(masu__buffer *out, const masu_module *m, const masu_parameter *p) {
    static const char *const names[] = {"f32", "f64", "i64", "bool"};
    switch (p->kind) {
    case MASU_KIND_TENSOR:
        masu__buffer_printf(out, "elements %s, ", names[p->element]);
        if (p->rank < 0)
            masu__buffer_puts(out, "any shape");
        else
            masu__buffer_printf(out, "%d dimension%s", p->rank, p->rank == 1 ? "" : "s");
        masu__buffer_puts(out, p->is_written ? "; written" : "");
        break;
    case MASU_KIND_I64:
        if (p->least == INT64_MIN)
            masu__buffer_puts(out, "a whole number");
        else
            masu__buffer_printf(out, "a whole number from %lld to %lld", (long long)p->least, (long long)p->most);
        break;
    case MASU_KIND_TEXT:
        masu__buffer_puts(out, p->name ? "UTF-8, ended by a zero" : "UTF-8");
        break;
    case MASU_KIND_HANDLE:
        masu__buffer_printf(out, "a %s%s", m->handle_types[p->handle_type].name, p->is_written ? "; written" : "");
        break;
    default:
        masu__buffer_puts(out, "a number");
        break;
    }
}

static void put_out(masu__buffer *out, const masu_function *f, uint32_t i) {
    if (f->result_count > 1)
        masu__buffer_printf(out, "out%u", i);
    else
        masu__buffer_puts(out, "out");
}

static void put_function_comment(masu__buffer *out, const masu_module *m, const masu_function *f) {
    masu__buffer_printf(out, "/* %s, line %u.\n", f->name, f->line);
    if (*f->documentation)
        put_comment(out, f->documentation);
    for (uint32_t i = 0; i < f->parameter_count; i++) {
        masu__buffer_puts(out, " *     ");
        put_name(out, &f->parameters[i]);
        masu__buffer_printf(out, ": %s: ", f->parameters[i].type);
        put_what(out, m, &f->parameters[i]);
        masu__buffer_putc(out, '\n');
    }
    for (uint32_t i = 0; i < f->result_count; i++) {
        masu__buffer_puts(out, " *     ");
        put_out(out, f, i);
        masu__buffer_printf(out, ": %s: ", f->results[i].type);
        put_what(out, m, &f->results[i]);
        masu__buffer_putc(out, '\n');
    }
    masu__buffer_puts(out, " */\n");
}

static void put_c_type(masu__buffer *out, const masu_module *m, const masu_parameter *p, bool is_result) {
    static const char *const plain[] = {[MASU_KIND_F32] = "float ",
                                        [MASU_KIND_F64] = "double ",
                                        [MASU_KIND_I64] = "int64_t ",
                                        [MASU_KIND_BOOL] = "bool "};
    switch (p->kind) {
    case MASU_KIND_TENSOR:
        masu__buffer_puts(out, is_result || p->is_written ? "masu_tensor " : "const masu_tensor *");
        masu__buffer_puts(out, !is_result && p->is_written ? "*" : "");
        break;
    case MASU_KIND_TEXT:
        masu__buffer_puts(out, is_result ? "masu_string " : "const char *");
        break;
    case MASU_KIND_HANDLE:
        masu__buffer_printf(out, "%s%s_%s *", is_result || p->is_written ? "" : "const ", m->name,
                            m->handle_types[p->handle_type].name);
        break;
    default:
        masu__buffer_puts(out, plain[p->kind]);
        break;
    }
    masu__buffer_puts(out, is_result ? "*" : "");
}

static const char *const fields[] = {"", "tensor", "f32", "f64", "i64", "truth", "text", "handle"};

/* NULL is a value of no kind: the call refuses it. */
static void put_argument_in(masu__buffer *out, const masu_parameter *p, uint32_t i) {
    bool is_pointer = p->kind == MASU_KIND_TENSOR || p->kind == MASU_KIND_TEXT;
    masu__buffer_printf(out, "    arguments[%u].kind = ", i);
    if (is_pointer) {
        masu__buffer_puts(out, "!");
        put_name(out, p);
        masu__buffer_puts(out, " ? MASU_KIND_NONE : ");
    }
    masu__buffer_printf(out, "%s;\n    ", kinds[p->kind]);
    if (is_pointer) {
        masu__buffer_puts(out, "if (");
        put_name(out, p);
        masu__buffer_puts(out, ")\n        ");
    }
    masu__buffer_printf(out, "arguments[%u].as.%s = ", i, fields[p->kind]);
    masu__buffer_puts(out, p->kind == MASU_KIND_TENSOR   ? "*"
                           : p->kind == MASU_KIND_HANDLE ? "(masu_handle *)(uintptr_t)"
                           : p->kind == MASU_KIND_TEXT   ? "masu_string_of("
                                                         : "");
    put_name(out, p);
    masu__buffer_puts(out, p->kind == MASU_KIND_TEXT ? ");\n" : ";\n");
}

static void put_arguments_in(masu__buffer *out, const masu_function *f) {
    if (f->parameter_count > 0)
        masu__buffer_printf(out, "    masu_value arguments[%u];\n", f->parameter_count);
    if (f->result_count > 0)
        masu__buffer_printf(out, "    masu_value results[%u];\n", f->result_count);
    masu__buffer_puts(out, "    masu_status status;\n");
    for (uint32_t i = 0; i < f->parameter_count; i++)
        put_argument_in(out, &f->parameters[i], i);
    for (uint32_t i = 0; i < f->result_count; i++) {
        masu__buffer_printf(out, "    results[%u].kind = MASU_KIND_NONE;\n", i);
        if (f->results[i].kind != MASU_KIND_TENSOR)
            continue;
        masu__buffer_puts(out, "    if (");
        put_out(out, f, i);
        masu__buffer_printf(out, ") {\n        results[%u].kind = MASU_KIND_TENSOR;\n        results[%u].as.tensor = *",
                            i, i);
        put_out(out, f, i);
        masu__buffer_puts(out, ";\n    }\n");
    }
}

static void put_results_out(masu__buffer *out, const masu_module *m, const masu_function *f) {
    for (uint32_t i = 0; i < f->result_count; i++) {
        const masu_parameter *p = &f->results[i];
        masu__buffer_puts(out, "    if (status == MASU_OK && ");
        put_out(out, f, i);
        masu__buffer_puts(out, ")\n        *");
        put_out(out, f, i);
        masu__buffer_puts(out, " = ");
        if (p->kind == MASU_KIND_HANDLE)
            masu__buffer_printf(out, "(%s_%s *)(void *)", m->name, m->handle_types[p->handle_type].name);
        masu__buffer_printf(out, "results[%u].as.%s;\n", i, fields[p->kind]);
        if (p->kind == MASU_KIND_HANDLE) {
            masu__buffer_puts(out, "    else if (");
            put_out(out, f, i);
            masu__buffer_puts(out, ")\n        *");
            put_out(out, f, i);
            masu__buffer_puts(out, " = NULL;\n");
        }
        if (p->kind == MASU_KIND_TENSOR || p->kind == MASU_KIND_TEXT || p->kind == MASU_KIND_HANDLE) {
            masu__buffer_puts(out, "    else if (status == MASU_OK)\n");
            masu__buffer_printf(out, "        %s_module.release(&results[%u]);\n", m->name, i);
        }
    }
}

static void put_typed_function(masu__buffer *out, const masu_module *m, uint32_t number) {
    const masu_function *f = &m->functions[number];
    put_function_comment(out, m, f);
    masu__buffer_printf(out, "static inline masu_status %s(%s *instance", f->c_name, m->name);
    for (uint32_t i = 0; i < f->parameter_count; i++) {
        masu__buffer_puts(out, ", ");
        put_c_type(out, m, &f->parameters[i], false);
        put_name(out, &f->parameters[i]);
    }
    for (uint32_t i = 0; i < f->result_count; i++) {
        masu__buffer_puts(out, ", ");
        put_c_type(out, m, &f->results[i], true);
        put_out(out, f, i);
    }
    masu__buffer_puts(out, ") {\n");
    put_arguments_in(out, f);
    masu__buffer_printf(out, "    status = %s_module.call(instance, %u, %s, %s);\n", m->name, number,
                        f->parameter_count ? "arguments" : "NULL", f->result_count ? "results" : "NULL");
    put_results_out(out, m, f);
    masu__buffer_puts(out, "    return status;\n}\n\n");
}

static void put_handle_type(masu__buffer *out, const masu_module *m, const masu_handle_type *h) {
    const char *n = m->name, *t = h->name;
    masu__buffer_printf(out, "/* A `%s` of the program. The caller owns it until %s_%s_drop, from any thread.\n", t, n,
                        t);
    if (*h->documentation)
        put_comment(out, h->documentation);
    masu__buffer_puts(out, " */\n");
    masu__buffer_printf(out, "typedef struct %s_%s %s_%s;\n", n, t, n, t);
    masu__buffer_printf(out,
                        "static inline void %s_%s_drop(%s_%s *handle) {\n"
                        "    %s_module.handle_drop((masu_handle *)(void *)handle);\n}\n",
                        n, t, n, t, n);
    masu__buffer_printf(out,
                        "/* Another of the same value: O(1), copied when one of them is written. */\n"
                        "static inline masu_status %s_%s_clone(const %s_%s *handle, %s_%s **out) {\n"
                        "    masu_handle *made = NULL;\n"
                        "    masu_status status = %s_module.handle_clone((masu_handle *)(uintptr_t)handle, &made);\n"
                        "    *out = (%s_%s *)(void *)made;\n    return status;\n}\n\n",
                        n, t, n, t, n, t, n, n, t);
}

void tool_put_header(const masu_module *m, const char *calls, size_t arena_bytes, masu__buffer *out) {
    const char *n = m->name;
    masu__buffer_puts(out, "/* The functions of ");
    for (const char *at = m->source; *at; at++)
        put_letter(out, at);
    masu__buffer_printf(out,
                        ", made by `masu build --shared`: do not edit.\n"
                        " *\n"
                        " *     %s *instance;\n"
                        " *     masu_status status = %s_create(NULL, &instance);\n"
                        " *     … calls: MASU_OK, or what went wrong; %s_error(instance) then says it …\n"
                        " *     %s_destroy(instance);\n"
                        " *\n"
                        " * Tensors that come back: begin with masu_tensor_wanted() and end with %s_tensor_release, "
                        "or begin with a view of your\n"
                        " * own memory of the result's shape (masu_tensor_of). A result's pointer may be NULL. "
                        "<masu/module.h> says the rest: who owns\n"
                        " * what, threads, strides.\n"
                        " */\n"
                        "#ifndef ",
                        n, n, n, n, n);
    put_guard(out, n);
    masu__buffer_puts(out, "\n#define ");
    put_guard(out, n);
    masu__buffer_printf(
        out,
        "\n\n#include <masu/module.h>\n\n"
        "#ifdef __cplusplus\nextern \"C\" {\n#endif\n\nMASU_HEADER_BEGIN\n\n"
        "extern const masu_module %s_module;\n\n"
        "/* The state of the program: one thread at a time. */\ntypedef masu_instance %s;\n\n"
        "static inline masu_status %s_create(const masu_instance_options *options, %s **out) {\n"
        "    return %s_module.create(&%s_module, options, out);\n}\n"
        "static inline void %s_destroy(%s *instance) {\n    %s_module.destroy(instance);\n}\n"
        "static inline const char *%s_error(const %s *instance) {\n    return %s_module.error(instance);\n}\n"
        "static inline size_t %s_arena_used(const %s *instance) {\n    return %s_module.arena_used(instance);\n}\n",
        n, n, n, n, n, n, n, n, n, n, n, n, n, n, n);
    masu__buffer_printf(
        out,
        "/* Gives back what a call has made; nothing happens to memory of the caller. Any thread. */\n"
        "static inline void %s_tensor_release(masu_tensor *t) {\n"
        "    masu_value v;\n    v.kind = MASU_KIND_TENSOR;\n    v.as.tensor = *t;\n"
        "    %s_module.release(&v);\n    *t = masu_tensor_wanted();\n}\n"
        "static inline void %s_string_release(masu_string *s) {\n"
        "    masu_value v;\n    v.kind = MASU_KIND_TEXT;\n    v.as.text = *s;\n"
        "    %s_module.release(&v);\n    s->data = NULL;\n    s->length = 0;\n    s->owner = NULL;\n}\n\n",
        n, n, n, n);
    if (calls) {
        masu__buffer_puts(out,
                          "/* What an arena needs (masu_instance_options.arena_bytes, frame_bytes 0) for these "
                          "calls, however often, each result given back before\n"
                          " * the next:\n");
        put_comment(out, calls);
        masu__buffer_puts(out, " */\nenum { ");
        for (const char *at = n; *at; at++)
            masu__buffer_putc(out, (char)toupper((unsigned char)*at));
        masu__buffer_printf(out, "_ARENA_BYTES = %zu };\n\n", arena_bytes);
    }
    for (uint32_t i = 0; i < m->handle_type_count; i++)
        put_handle_type(out, m, &m->handle_types[i]);
    for (uint32_t i = 0; i < m->function_count; i++)
        put_typed_function(out, m, i);
    masu__buffer_puts(out, "MASU_HEADER_END\n\n#ifdef __cplusplus\n}\n#endif\n\n#endif\n");
}
