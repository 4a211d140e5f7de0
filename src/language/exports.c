/* exports.c: the functions of a program that callers in C see, and the function through which they come in.
 *
 *     pub fn step(net: &mut Net, x: Tensor<f32, 2>) -> Tensor { … }
 *     ─►
 *     fn __export_3() {
 *         let mut __a0: Vec<Net> = __runtime::tl_call_object(0);
 *         let mut __a1: Tensor<f32, 2> = __runtime::tl_call_tensor(1);
 *         let __r0 = step(&mut __a0[0], __a1);
 *         __runtime::tl_give_tensor(0, __r0);
 *         __runtime::tl_give_object(1, __a0);
 *     }
 *     fn __exports() { let __n = __runtime::tl_call_function(); … if __n == 3 { __export_3(); return; } … }
 *     fn main() { __exports(); }                                                    (front/check_main.c)
 *
 * So ownership, frames, errors and passes know nothing of C: a module is a program whose `main` asks the runtime
 * (runtime/calls/) which function is wanted. A struct or enum of the program goes out as a list of one, which is
 * counted and copied when it is written while others hold it: after an error the caller's is what it was.
 *
 * Works on the tree as it was parsed: types are names here, and what has no name in C is refused.
 */
#include "language/exports.h"
#include "language/export_calls.h"

#include <string.h>

enum { MOST_PARTS = 32, MOST_ALIASES = 16 };

typedef struct exporter {
    syntax_tree *tree;
    const char *prefix;
    masu__arena *kept;
    diagnostics *diagnostics;
    masu__buffer *out;
    masu_module *module;
    masu_function *functions;
    const function_item **items; /* of the tree, by number */
    uint32_t function_count;
    const struct_item **structs; /* by number of the handle's type */
    masu_handle_type *handle_types;
    uint32_t handle_count;
    const function_item *f; /* the one that is looked at */
    bool refused;
} exporter;

/* ---- saying no ------------------------------------------------------------------------------------------------- */

static void refuse(exporter *x, source_span span, const char *reason, const char *what) {
    const char *why = masu__arena_printf(x->kept, reason, what);
    if (!x->refused && why)
        diagnostics_say(x->diagnostics, span, SAY(cannot_be_called_from_c), x->f->qualified, why);
    x->refused = true;
}

/* ---- types as they are written --------------------------------------------------------------------------------- */

static void put_type(masu__buffer *out, const type_expr *t) {
    masu__buffer_puts(out, t->is_place ? "&mut " : t->is_shared ? "&" : "");
    if (t->kind == TYPE_EXPR_NUMBER)
        masu__buffer_printf(out, "%llu", (unsigned long long)t->number);
    else if (t->kind == TYPE_EXPR_TUPLE || t->kind == TYPE_EXPR_ARRAY)
        masu__buffer_puts(out, t->kind == TYPE_EXPR_TUPLE ? "(" : "[");
    else if (t->kind == TYPE_EXPR_NAME)
        masu__buffer_puts(out, t->name);
    else if (t->kind == TYPE_EXPR_DYN)
        masu__buffer_puts(out, "dyn ");
    else
        masu__buffer_puts(out, "fn(…)");
    for (uint32_t i = 0; t->kind != TYPE_EXPR_FUNCTION && i < t->argument_count; i++) {
        masu__buffer_puts(out, i > 0 ? ", " : t->kind == TYPE_EXPR_NAME ? "<" : "");
        put_type(out, t->arguments[i]);
    }
    if (t->kind == TYPE_EXPR_NAME)
        masu__buffer_puts(out, t->argument_count > 0 ? ">" : "");
    else if (t->kind == TYPE_EXPR_TUPLE || t->kind == TYPE_EXPR_ARRAY)
        masu__buffer_puts(out, t->kind == TYPE_EXPR_TUPLE ? ")" : "]");
}

static const char *type_text(exporter *x, const type_expr *t) {
    masu__buffer text = {0};
    put_type(&text, t);
    const char *kept = masu__arena_strdup(x->kept, masu__buffer_text(&text));
    masu__buffer_destroy(&text);
    return kept ? kept : "";
}

static bool is_named(const type_expr *t, const char *name) {
    return t->kind == TYPE_EXPR_NAME && strcmp(t->name, name) == 0;
}

/* The type behind `type N = T;`, references kept. */
static const type_expr *unaliased(const exporter *x, const type_expr *t, bool *is_place, bool *is_shared) {
    *is_place = t->is_place;
    *is_shared = t->is_shared;
    for (int deep = 0; deep < MOST_ALIASES && t->kind == TYPE_EXPR_NAME && t->argument_count == 0; deep++) {
        const alias_item *alias = x->tree->aliases;
        while (alias && (alias->impl || alias->generics.count > 0 || strcmp(alias->name, t->name) != 0))
            alias = alias->next;
        if (!alias)
            break;
        t = alias->type;
        *is_place |= t->is_place;
        *is_shared |= t->is_shared;
    }
    return t;
}

static const struct_item *struct_named(const exporter *x, const char *name) {
    if (strcmp(name, "Self") == 0 && x->f->owner_name)
        name = x->f->owner_name;
    for (uint32_t i = 0; i < x->tree->struct_count; i++) {
        const struct_item *s = x->tree->structs[i];
        if (!s->is_builtin && strcmp(s->name, name) == 0)
            return s;
    }
    return NULL;
}

static bool has_impl(const exporter *x, const char *trait, const char *name) {
    for (uint32_t i = 0; i < x->tree->impl_count; i++) {
        const impl_item *impl = x->tree->impls[i];
        if (impl->trait_name && strcmp(impl->trait_name, trait) == 0 && impl->owner->name &&
            strcmp(impl->owner->name, name) == 0)
            return true;
    }
    return false;
}

/* The type that has an `impl Drop` in the value, NULL: none. seen: so many structs are on the way. */
static const char *dropped_in(const exporter *x, const type_expr *t, const struct_item **seen, uint32_t deep) {
    const char *found = NULL;
    if (!t || deep == MOST_PARTS)
        return NULL;
    for (uint32_t i = 0; i < t->argument_count && !found; i++)
        found = dropped_in(x, t->arguments[i], seen, deep);
    const struct_item *s = t->kind == TYPE_EXPR_NAME && !found ? struct_named(x, t->name) : NULL;
    for (uint32_t i = 0; s && i < deep; i++)
        s = seen[i] == s ? NULL : s;
    if (!s)
        return found;
    if (has_impl(x, "Drop", s->name))
        return s->name;
    seen[deep] = s;
    for (uint32_t i = 0; i < s->field_count && !found; i++)
        found = dropped_in(x, s->fields[i].annotation, seen, deep + 1);
    return found;
}

/* ---- what a type is in C ----------------------------------------------------------------------------------------- */

typedef struct scalar_row {
    const char *name;
    masu_kind kind;
    int64_t least, most;
} scalar_row;

static const scalar_row scalars[] = {
    {"f32", MASU_KIND_F32, 0, 0},
    {"f64", MASU_KIND_F64, 0, 0},
    {"bool", MASU_KIND_BOOL, 0, 1},
    {"i8", MASU_KIND_I64, INT8_MIN, INT8_MAX},
    {"i16", MASU_KIND_I64, INT16_MIN, INT16_MAX},
    {"i32", MASU_KIND_I64, INT32_MIN, INT32_MAX},
    {"i64", MASU_KIND_I64, INT64_MIN, INT64_MAX},
    {"isize", MASU_KIND_I64, INT64_MIN, INT64_MAX},
    {"u8", MASU_KIND_I64, 0, UINT8_MAX},
    {"u16", MASU_KIND_I64, 0, UINT16_MAX},
    {"u32", MASU_KIND_I64, 0, UINT32_MAX},
    {"u64", MASU_KIND_I64, 0, INT64_MAX},
    {"usize", MASU_KIND_I64, 0, INT64_MAX},
    {"String", MASU_KIND_TEXT, 0, 0},
    {"str", MASU_KIND_TEXT, 0, 0},
};

static const scalar_row *scalar_of(const type_expr *t) {
    for (size_t i = 0; i < sizeof scalars / sizeof scalars[0]; i++)
        if (is_named(t, scalars[i].name) && t->argument_count == 0)
            return &scalars[i];
    return NULL;
}

static bool read_element(masu_parameter *p, const type_expr *t) {
    for (int e = 0; e < MASU_ELEMENT_COUNT; e++)
        if (is_named(t, export_element_names[e])) {
            p->element = (masu_element)e;
            return true;
        }
    return false;
}

static void read_tensor(exporter *x, masu_parameter *p, const type_expr *t) {
    p->kind = MASU_KIND_TENSOR;
    p->element = MASU_F32;
    p->rank = -1;
    if (t->argument_count > 2)
        refuse(x, t->span, "`%s` is not a type of tensors", p->type);
    for (uint32_t i = 0; i < t->argument_count && i < 2; i++) {
        const type_expr *a = t->arguments[i];
        if (a->kind == TYPE_EXPR_NUMBER && a->number <= MASU_RANK_MAX)
            p->rank = (int32_t)a->number;
        else if (i > 0 || !read_element(p, a))
            refuse(x, t->span, "the elements of `%s` are not one of f32, f64, i64 and bool", p->type);
    }
}

static uint32_t handle_of(exporter *x, const struct_item *s) {
    uint32_t n = 0;
    while (n < x->handle_count && x->structs[n] != s)
        n++;
    if (n == x->handle_count) {
        x->structs[n] = s;
        x->handle_types[n] = (masu_handle_type){.name = s->name, .documentation = ""};
        x->handle_count++;
    }
    return n;
}

static void read_struct(exporter *x, masu_parameter *p, source_span span, const struct_item *s) {
    const struct_item *seen[MOST_PARTS];
    type_expr named = {.kind = TYPE_EXPR_NAME, .name = s->name};
    p->kind = MASU_KIND_HANDLE;
    if (s->generics.count > 0) {
        refuse(x, span, "`%s` has type parameters", s->name);
        return;
    }
    const char *dropped = dropped_in(x, &named, seen, 0);
    if (dropped)
        refuse(x, span, "`%s` has a `drop`, which runs when its owner ends; no caller in C is one", dropped);
    p->handle_type = handle_of(x, s);
}

/* A type that one value in C can be. */
static void read_type(exporter *x, masu_parameter *p, const type_expr *written) {
    bool is_place, is_shared;
    const type_expr *t = unaliased(x, written, &is_place, &is_shared);
    p->type = type_text(x, written);
    p->is_written = is_place;
    const scalar_row *scalar = scalar_of(t);
    const struct_item *s = t->kind == TYPE_EXPR_NAME && !scalar ? struct_named(x, t->name) : NULL;
    if (scalar) {
        p->kind = scalar->kind;
        p->least = scalar->least;
        p->most = scalar->most;
        if (is_place)
            refuse(x, written->span, "`%s` would write to a number or a text of the caller: yield it", p->type);
    } else if (is_named(t, "Tensor") || is_named(t, "GradTensor")) {
        read_tensor(x, p, t);
    } else if (s) {
        read_struct(x, p, written->span, s);
    } else {
        refuse(x, written->span, "`%s` has no form there; tensors, numbers, bool, texts and structs have", p->type);
    }
}

/* ---- one function ------------------------------------------------------------------------------------------------ */

/* self, also as it is written plainly, is the caller's value: language.md. */
static void read_self(exporter *x, masu_parameter *p, const binding *b) {
    const struct_item *s = struct_named(x, x->f->owner_name);
    p->name = "self";
    p->is_written = !b->is_shared;
    p->type = masu__arena_printf(x->kept, "%s%s", b->is_shared ? "&" : b->is_lent ? "&mut " : "", x->f->owner_name);
    if (s)
        read_struct(x, p, b->span, s);
    else
        refuse(x, b->span, "`%s` is not a struct or an enum of the program", x->f->owner_name);
}

static void read_parameters(exporter *x, masu_function *out) {
    masu_parameter *all = MASU_ARENA_ARRAY(x->kept, masu_parameter, x->f->parameter_count + 1);
    out->parameters = all;
    if (!all || x->f->parameter_count > MOST_PARTS) {
        refuse(x, x->f->span, "it has more than %s parameters", "32");
        return;
    }
    out->parameter_count = x->f->parameter_count;
    for (uint32_t i = 0; i < x->f->parameter_count; i++) {
        const binding *b = x->f->parameters[i];
        all[i] = (masu_parameter){.name = b->name[0] == '<' ? masu__arena_printf(x->kept, "part%u", i)
                                                            : masu__arena_strdup(x->kept, b->name)};
        if (b->kind == BINDING_SELF)
            read_self(x, &all[i], b);
        else
            read_type(x, &all[i], b->annotation);
    }
}

static void read_results(exporter *x, masu_function *out, export_outcome *how) {
    bool is_place, is_shared;
    const type_expr *t = x->f->result_annotation ? unaliased(x, x->f->result_annotation, &is_place, &is_shared) : NULL;
    *how = (export_outcome){0};
    if (t && is_named(t, "Result") && t->argument_count > 0) {
        const type_expr *e = t->argument_count > 1 ? t->arguments[1] : NULL;
        const struct_item *s = e && e->kind == TYPE_EXPR_NAME ? struct_named(x, e->name) : NULL;
        bool shown = !s || s->span.file != x->tree->file || has_impl(x, "Display", s->name);
        *how = (export_outcome){true, shown ? "{}" : "{:?}"};
        t = unaliased(x, t->arguments[0], &is_place, &is_shared);
    }
    bool is_tuple = t && t->kind == TYPE_EXPR_TUPLE;
    uint32_t count = !t ? 0 : is_tuple ? t->argument_count : 1;
    masu_parameter *all = MASU_ARENA_ARRAY(x->kept, masu_parameter, count + 1);
    out->results = all;
    out->is_tuple = is_tuple && count > 0;
    if (!all || count > MOST_PARTS) {
        refuse(x, x->f->span, "it has more than %s results", "32");
        return;
    }
    out->result_count = count;
    for (uint32_t i = 0; i < count; i++) {
        all[i] = (masu_parameter){0};
        read_type(x, &all[i], is_tuple ? t->arguments[i] : t);
        if (all[i].is_written)
            refuse(x, x->f->span, "it yields a place (`%s`)", all[i].type);
    }
}

/* The lines of `///` above the line in which `at` lies, attributes between them left out; one text, lines ended by
 * \n. */
static const char *documentation_above(exporter *x, source_span span) {
    const char *text = span.file->text;
    masu__buffer found = {0};
    uint32_t first = source_line_start(span.file, span.offset), line = first;
    while (line > 0) {
        uint32_t start = source_line_start(span.file, line - 1), at = start;
        while (text[at] == ' ' || text[at] == '\t')
            at++;
        if (memcmp(text + at, "///", 3) != 0 && text[at] != '#')
            break;
        line = start;
    }
    while (line < first) {
        uint32_t end = line;
        while (text[end] != '\n')
            end++;
        while (text[line] == ' ' || text[line] == '\t')
            line++;
        if (text[line] == '/') {
            line += text[line + 3] == ' ' ? 4 : 3;
            masu__buffer_append(&found, text + line, end > line ? end - line : 0);
            masu__buffer_putc(&found, '\n');
        }
        line = end + 1;
    }
    if (found.length > 0)
        masu__buffer_truncate(&found, found.length - 1);
    const char *kept = masu__arena_strdup(x->kept, masu__buffer_text(&found));
    masu__buffer_destroy(&found);
    return kept ? kept : "";
}

/* ---- all --------------------------------------------------------------------------------------------------------- */

static bool is_exported(const syntax_tree *tree, const function_item *f) {
    bool at_top = !f->module || !tree->names || f->module == modules_root(tree->names);
    return f->exported.file && f->span.file == tree->file && at_top;
}

static const char *c_name(exporter *x) {
    const char *owner = x->f->owner_name;
    return owner ? masu__arena_printf(x->kept, "%s_%s_%s", x->prefix, owner, x->f->name)
                 : masu__arena_printf(x->kept, "%s_%s", x->prefix, x->f->name);
}

static void read_function(exporter *x, const function_item *f) {
    masu_function *out = &x->functions[x->function_count];
    export_outcome how;
    x->f = f;
    x->refused = false;
    *out = (masu_function){.name = masu__arena_strdup(x->kept, f->qualified),
                           .c_name = c_name(x),
                           .documentation = documentation_above(x, f->exported),
                           .line = source_place_of(f->span).line};
    if (!out->name || !out->c_name) {
        x->diagnostics->out_of_memory = true;
        return;
    }
    if (f->generics.count > 0 || (f->impl && f->impl->generics.count > 0))
        refuse(x, f->span, "it has type parameters%s", "");
    for (uint32_t i = 0; i < x->function_count; i++)
        if (strcmp(x->functions[i].c_name, out->c_name) == 0)
            refuse(x, f->span, "another function is called `%s` there", out->c_name);
    read_parameters(x, out);
    read_results(x, out, &how);
    if (x->refused)
        return;
    export_put_function(x->out, x->handle_types, f, out, x->function_count, &how);
    x->items[x->function_count++] = f;
}

/* The header has functions of its own. */
static bool is_own_name(const exporter *x, const char *name) {
    static const char *const plain[] = {"create",         "destroy",        "error",     "module",
                                        "tensor_release", "string_release", "arena_used"};
    static const char *const of_type[] = {"", "_clone", "_drop"};
    for (size_t i = 0; i < sizeof plain / sizeof plain[0]; i++)
        if (strcmp(name, plain[i]) == 0)
            return true;
    for (uint32_t i = 0; i < x->handle_count; i++) {
        size_t length = strlen(x->structs[i]->name);
        for (size_t k = 0; k < sizeof of_type / sizeof of_type[0]; k++)
            if (strncmp(name, x->structs[i]->name, length) == 0 && strcmp(name + length, of_type[k]) == 0)
                return true;
    }
    return false;
}

static void refuse_own_names(exporter *x) {
    for (uint32_t i = 0; i < x->function_count; i++) {
        x->f = x->items[i];
        x->refused = false;
        if (is_own_name(x, x->functions[i].c_name + strlen(x->prefix) + 1))
            refuse(x, x->f->span, "another function is called `%s` there", x->functions[i].c_name);
    }
}

/* Names of types outlive the tree. */
static void keep_types(exporter *x) {
    for (uint32_t i = 0; i < x->handle_count; i++) {
        const struct_item *s = x->structs[i];
        x->handle_types[i].name = masu__arena_strdup(x->kept, s->name);
        if (s->span.file == x->tree->file)
            x->handle_types[i].documentation = documentation_above(x, s->span);
    }
}

static bool begin(exporter *x) {
    x->module = MASU_ARENA_NEW(x->kept, masu_module);
    x->functions = MASU_ARENA_ARRAY(x->kept, masu_function, x->tree->function_count + 1);
    x->items = MASU_ARENA_ARRAY(x->kept, const function_item *, x->tree->function_count + 1);
    x->structs = MASU_ARENA_ARRAY(x->kept, const struct_item *, x->tree->struct_count + 1);
    x->handle_types = MASU_ARENA_ARRAY(x->kept, masu_handle_type, x->tree->struct_count + 1);
    return x->module && x->functions && x->items && x->structs && x->handle_types;
}

/* Statements beside the functions have become a `main` whose place is none of its name. */
static const function_item *script_of(const syntax_tree *tree) {
    for (uint32_t i = 0; i < tree->function_count; i++) {
        const function_item *f = tree->functions[i];
        if (!f->owner_name && f->span.file == tree->file && strcmp(f->name, "main") == 0 && f->body &&
            f->span.offset == f->body->span.offset)
            return f;
    }
    return NULL;
}

void exports_hide_main(syntax_tree *tree) {
    for (uint32_t i = 0; i < tree->function_count; i++) {
        function_item *f = tree->functions[i];
        if (!f->owner_name && f->span.file != tree->prelude && strcmp(f->name, "main") == 0)
            f->name = f->qualified = "<main of the program>";
    }
    tree->is_module = true;
}

masu_status exports_read(syntax_tree *tree, const char *prefix, masu__arena *kept, diagnostics *diagnostics,
                         masu__buffer *text, masu_module **out) {
    exporter x = {.tree = tree, .prefix = prefix, .kept = kept, .diagnostics = diagnostics, .out = text};
    uint32_t found = 0;
    if (!begin(&x))
        return MASU_ERR_OUT_OF_MEMORY;
    const function_item *script = script_of(tree);
    if (script)
        diagnostics_say(diagnostics, script->span, SAY(never_runs_in_module));
    for (uint32_t i = 0; i < tree->function_count; i++)
        if (is_exported(tree, tree->functions[i])) {
            found++;
            read_function(&x, tree->functions[i]);
        }
    if (found == 0)
        diagnostics_say(diagnostics, source_span_make(tree->file, 0, 0), SAY(module_shows_nothing));
    export_put_choice(text, x.function_count);
    refuse_own_names(&x);
    keep_types(&x);
    *x.module = (masu_module){.version = MASU_MODULE_VERSION,
                              .struct_bytes = sizeof(masu_module),
                              .name = masu__arena_strdup(kept, prefix),
                              .source = tree->file->path,
                              .function_count = x.function_count,
                              .handle_type_count = x.handle_count,
                              .functions = x.functions,
                              .handle_types = x.handle_types};
    *out = x.module;
    return text->failed || diagnostics->out_of_memory || !x.module->name ? MASU_ERR_OUT_OF_MEMORY : MASU_OK;
}
