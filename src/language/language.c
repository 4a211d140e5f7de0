/* language.c: the compiler's stages in order, and what is left of them for the command.
 *
 *     source ─► parse ─► check ─► lower ─► passes ─► codegen
 *     └────── work: tree, types, IR; gone once there is code ──────┘
 *     kept: the source, the sites of the code, what was said about the program
 *
 * A stage runs only when the ones before it found no error; but errors inside some functions do not keep the shapes
 * in the others from being examined, so that all independent errors come at once. Whatever went wrong becomes a
 * diagnostic, also what is the compiler's own fault.
 */
#include "language/language.h"
#include "language/borrow/borrow.h"

#include <stdio.h>
#include <string.h>

#include "base/assert.h"
#include "base/meta.h"
#include "language/codegen/codegen.h"
#include "language/elaborate/elaborate.h"
#include "language/exports.h"
#include "language/front/check.h"
#include "language/library/library.h"
#include "language/lower/lower.h"
#include "language/pass/pass.h"
#include "language/program.h"
#include "language/syntax/macros.h"
#include "language/syntax/parser.h"

/* ---- stages ------------------------------------------------------------------------------------------------------ */

static masu_status stop_on_errors(const masu_program *p, masu_status status) {
    return p->diagnostics.error_count > 0 ? status : MASU_OK;
}

/* Reports a mistake of the compiler, not of the program. */
static masu_status internal_error(masu_program *p, const char *stage, masu__buffer *what) {
    diagnostics_say(&p->diagnostics, (source_span){0}, SAY(internal_error_in), stage, masu__buffer_text(what));
    masu__buffer_destroy(what);
    return MASU_ERR_INTERNAL;
}

/* ---- modules ----------------------------------------------------------------------------------------------------- */

/* FOLDER/name.tl, where FOLDER is that of the file that says `mod name;`. */
static bool module_path(const module_name *m, const char *tail, masu__buffer *out) {
    const char *path = m->span.file->path, *slash = strrchr(path, '/');
    masu__buffer_truncate(out, 0);
    if (slash)
        masu__buffer_append(out, path, (size_t)(slash - path) + 1);
    masu__buffer_printf(out, "%s%s", m->name, tail);
    return !out->failed;
}

static masu_status keep_module(masu_program *p, source_file *file) {
    if (p->module_count == p->module_capacity) {
        size_t wanted = 2 * p->module_capacity + 4;
        source_file **larger = masu__arena_grow(&p->kept, p->modules, p->module_capacity, wanted, sizeof *larger,
                                                _Alignof(source_file *));
        if (!larger)
            return MASU_ERR_OUT_OF_MEMORY;
        p->modules = larger;
        p->module_capacity = wanted;
    }
    p->modules[p->module_count++] = file;
    return MASU_OK;
}

/* The file that is compiled is not a module of its own. */
static bool names_program(masu_program *p, const module_name *m, masu__buffer *path) {
    if (!module_path(m, ".tl", path) || strcmp(masu__buffer_text(path), p->tree->file->path) != 0)
        return false;
    diagnostics_say(&p->diagnostics, m->span, SAY(module_is_program_itself), m->name);
    return true;
}

/* The module of a first reading. */
static source_file *kept_module(const masu_program *p, const module_name *m, masu__buffer *path) {
    static const char *const tails[] = {".tl", "/mod.tl"};
    for (size_t t = 0; t < sizeof tails / sizeof tails[0]; t++)
        for (size_t i = 0; i < p->module_count && module_path(m, tails[t], path); i++)
            if (strcmp(p->modules[i]->path, masu__buffer_text(path)) == 0)
                return p->modules[i];
    return NULL;
}

static masu_status read_module(masu_program *p, const masu_compile_options *options, module_name *m) {
    masu__buffer path = {0};
    size_t length = 0;
    const char *text = NULL;
    m->is_read = true;
    if (names_program(p, m, &path)) {
        masu__buffer_destroy(&path);
        return MASU_OK;
    }
    source_file *known = kept_module(p, m, &path);
    if (known) {
        masu__buffer_destroy(&path);
        return parse_module(p->tree, known, m->scope, &p->diagnostics);
    }
    if (options->read && module_path(m, ".tl", &path))
        text = options->read(options->user, masu__buffer_text(&path), &length);
    if (options->read && !text && module_path(m, "/mod.tl", &path))
        text = options->read(options->user, masu__buffer_text(&path), &length);
    masu_status status = MASU_OK;
    if (text) {
        source_file *file = MASU_ARENA_NEW(&p->kept, source_file);
        status = file ? source_file_init(file, &p->kept, masu__buffer_text(&path), text, length)
                      : MASU_ERR_OUT_OF_MEMORY;
        if (status == MASU_OK)
            status = macros_expand(file, &p->kept, &p->diagnostics);
        if (status == MASU_OK)
            status = keep_module(p, file);
        if (status == MASU_OK)
            status = parse_module(p->tree, file, m->scope, &p->diagnostics);
    } else {
        diagnostic *d = diagnostics_say(&p->diagnostics, m->span, SAY(there_is_no_file_for_this), m->name);
        diagnostics_note(&p->diagnostics, d, (source_span){0}, "a module is a file beside the one that names it");
    }
    masu__buffer_destroy(&path);
    return status;
}

static module_name *unread_module(const masu_program *p) {
    module_name *m = p->tree->modules;
    while (m && m->is_read)
        m = m->next;
    return m;
}

/* Modules may name modules. */
static masu_status read_modules(masu_program *p, const masu_compile_options *options) {
    masu_status status = MASU_OK;
    for (module_name *m; status == MASU_OK && (m = unread_module(p)) != NULL;) {
        for (const module_name *other = p->tree->modules; other; other = other->next)
            if (other != m && other->is_read && strcmp(other->name, m->name) == 0) {
                m->is_read = true;
                if (m->scope && other->scope)
                    modules_same(m->scope, other->scope);
            }
        if (!m->is_read)
            status = read_module(p, options, m);
    }
    return status;
}

static bool wants_dump(const masu_compile_options *options, const char *what) {
    for (size_t i = 0; i < options->dump_count; i++)
        if (strcmp(options->dumps[i], what) == 0)
            return true;
    return false;
}

/* Puts the `main` of a shared module behind the library and reads all again: the text needs the types of what it calls.
 * What the first reading said, the second one does not say again. */
static masu_status read_exports(masu_program *p, const masu_compile_options *options) {
    masu__buffer text = {0};
    module_names *names = p->tree->names;
    if (p->diagnostics.error_count > 0)
        return MASU_OK;
    masu__buffer_append(&text, p->prelude.text, p->prelude.length);
    masu_status status = exports_read(p->tree, options->module, &p->kept, &p->diagnostics, &text, &p->shown_module);
    if (status == MASU_OK && p->diagnostics.error_count > 0)
        status = MASU_ERR_SYNTAX;
    if (status == MASU_OK)
        status = source_file_init(&p->prelude, &p->kept, "<prelude>", masu__buffer_text(&text), text.length);
    if (status == MASU_OK && wants_dump(options, "exports"))
        masu__buffer_puts(&p->dump, masu__buffer_text(&text));
    masu__buffer_destroy(&text);
    if (status == MASU_OK)
        status = parse_source(&p->file, &p->prelude, &p->work, &p->diagnostics,
                              names && modules_are_settled(names) ? names : NULL, &p->tree);
    if (status == MASU_OK)
        status = read_modules(p, options);
    if (status == MASU_OK)
        exports_hide_main(p->tree);
    return status;
}

static masu_status read_source(masu_program *p, const masu_compile_options *options) {
    masu_status status = parse_source(&p->file, &p->prelude, &p->work, &p->diagnostics, NULL, &p->tree);
    if (status == MASU_OK)
        status = read_modules(p, options);
    /* The second reading does not say again what the first one said. */
    module_names *names = status == MASU_OK && p->diagnostics.dropped == 0 ? p->tree->names : NULL;
    if (names && modules_clash(names, &status)) {
        status = parse_source(&p->file, &p->prelude, &p->work, &p->diagnostics, names, &p->tree);
        if (status == MASU_OK)
            status = read_modules(p, options);
    }
    if (status == MASU_OK && options->module)
        status = read_exports(p, options);
    if (status != MASU_OK)
        return status;
    bool parsed = p->diagnostics.error_count == 0;
    diagnostics_end_of_reading(&p->diagnostics);
    if (!parsed && p->tree->is_broken) /* what a check would say follows from that */
        return stop_on_errors(p, MASU_ERR_SYNTAX);
    if (!type_table_init(&p->types, &p->work))
        return MASU_ERR_OUT_OF_MEMORY;
    p->tree->examined = p->examined;
    borrow_source written;
    status = borrow_begin(p->tree, &written);
    if (status == MASU_OK)
        status = check_tree(p->tree, &p->types, &p->diagnostics);
    if (status == MASU_OK && p->diagnostics.error_count == 0)
        status = borrow_check(p->tree, &written, &p->diagnostics);
    return status != MASU_OK ? status : stop_on_errors(p, parsed ? MASU_ERR_TYPE : MASU_ERR_SYNTAX);
}

static masu_status lower_program(masu_program *p, const masu_compile_options *options) {
    masu_status status = lower_tree(p->tree, &p->types, &p->work, &p->diagnostics, &p->module);
    if (status == MASU_OK && wants_dump(options, "ir"))
        ir_print_module(p->module, &p->dump);
    return status;
}

/* In the library, or in text that the checker wrote (check_derive.c). */
static bool is_hidden(const masu_program *p, source_span span) {
    return span.file && span.file != &p->file;
}

static bool report_of_pass(void *user, source_span span, message_row row, const char *message, const pass_note *notes,
                           size_t count) {
    masu_program *p = user;
    if (is_hidden(p, span))
        return false;
    diagnostic *d = diagnostics_say(&p->diagnostics, span, row, "%s", message);
    for (size_t i = 0; i < count; i++) {
        bool shown = !is_hidden(p, notes[i].span);
        diagnostics_note(&p->diagnostics, d, shown ? notes[i].span : (source_span){0}, "%s", notes[i].text);
    }
    return true;
}

static masu_status run_passes(masu_program *p, const masu_compile_options *options) {
    masu__buffer faults = {0};
    if (options->until == MASU_STAGE_CHECK && !options->verify && options->dump_count == 0 &&
        options->disabled_count == 0)
        return pass_run_diagnosis(p->module, report_of_pass, p);
    pass_options passes = {.disabled = options->disabled,
                           .disabled_count = options->disabled_count,
                           .dumps = options->dumps,
                           .dump_count = options->dump_count,
                           .dump = &p->dump,
                           .verify = options->verify,
                           .faults = &faults,
                           .report = report_of_pass,
                           .user = p,
                           .audit = options->audit,
                           .by_line = options->count_by_line};
    masu_status status = pass_run_all(p->module, &passes);
    if (status == MASU_ERR_INTERNAL)
        return internal_error(p, "the passes", &faults);
    masu__buffer_destroy(&faults);
    return status;
}

/* Texts of the checker go with the tree; their places become ones of the library, which is kept. */
static source_span kept_span(const masu_program *p, source_span span) {
    bool is_written = is_hidden(p, span) && span.file != &p->prelude;
    return is_written ? (source_span){.file = &p->prelude} : span;
}

/* The table of places outlives the IR: errors of the running program name them. */
static bool keep_sites(masu_program *p) {
    p->site_count = p->module->site_count;
    p->sites = MASU_ARENA_ARRAY(&p->kept, ir_site, p->site_count);
    if (!p->sites)
        return false;
    const char *last = NULL, *copy = NULL;
    for (uint32_t i = 1; i < p->site_count; i++) {
        const ir_site *site = &p->module->sites[i];
        if (site->function != last) {
            last = site->function;
            copy = last ? masu__arena_strdup(&p->kept, last) : NULL;
            if (last && !copy)
                return false;
        }
        p->sites[i] = *site;
        p->sites[i].span = kept_span(p, site->span);
        p->sites[i].function = copy;
        for (int o = 0; o < IR_SITE_OPERANDS; o++) {
            const char *name = site->operands[o].name;
            p->sites[i].operands[o].span = kept_span(p, site->operands[o].span);
            p->sites[i].operands[o].name = name ? masu__arena_strdup(&p->kept, name) : NULL;
            if (name && !p->sites[i].operands[o].name)
                return false;
        }
    }
    return true;
}

/* The functions without errors still go through the passes that diagnose. status is what the checker said. */
static masu_status examine_the_rest(masu_program *p, masu_status status) {
    if (status != MASU_ERR_TYPE || !lower_errors_confined(p->tree, &p->diagnostics))
        return status;
    if (elaborate_tree(p->tree, &p->types) != MASU_OK ||
        lower_tree(p->tree, &p->types, &p->work, &p->diagnostics, &p->module) != MASU_OK)
        return MASU_ERR_OUT_OF_MEMORY;
    return pass_run_diagnosis(p->module, report_of_pass, p) == MASU_ERR_OUT_OF_MEMORY ? MASU_ERR_OUT_OF_MEMORY : status;
}

static void refuse_portable(void *user, source_span span, const char *why) {
    masu_program *p = user;
    diagnostics_say(&p->diagnostics, is_hidden(p, span) ? (source_span){0} : span, SAY(has_no_form_in_plain_c), why);
}

static masu_status generate(masu_program *p, const masu_compile_options *options) {
    masu__buffer error = {0};
    codegen_options code = {.verify = options->verify, .dump = wants_dump(options, "llvm") ? &p->dump : NULL};
    if (!keep_sites(p))
        return MASU_ERR_OUT_OF_MEMORY;
    codegen_program carried = {p->sites, p->site_count, &p->prelude, &p->file};
    if (options->objects)
        code.carried = &carried;
    code.shown = p->shown_module;
    code.calls = options->calls;
    code.weights = options->weights;
    code.weights_count = options->weights_count;
    code.refuse = refuse_portable;
    code.user = p;
    MASU_ASSERT(options->generator);
    p->generator = options->generator;
    masu_status status = p->generator->compile(p->module, &code, &error, &p->code);
    if (status == MASU_ERR_INTERNAL)
        return internal_error(p, "code generation", &error);
    masu__buffer_destroy(&error);
    return status;
}

/* The tree is as tree.h promises: looked at where that is asked for, and in heavy builds. */
static masu_status judge_tree(masu_program *p, const masu_compile_options *options) {
    masu__buffer faults = {0};
#ifdef MASU_HEAVY
    const bool heavy = true;
#else
    const bool heavy = false;
#endif
    if ((heavy || options->verify) && !check_tree_valid(p->tree, &faults))
        return internal_error(p, "the check", &faults);
    masu__buffer_destroy(&faults);
    return MASU_OK;
}

static masu_status run_stages(masu_program *p, const masu_compile_options *options) {
    masu_status status = read_source(p, options);
    if (status != MASU_OK)
        return examine_the_rest(p, status);
    status = elaborate_tree(p->tree, &p->types);
    if (status == MASU_OK)
        status = judge_tree(p, options);
    if (status == MASU_OK)
        status = lower_program(p, options);
    if (status == MASU_OK)
        status = run_passes(p, options);
    if (status == MASU_OK && options->until == MASU_STAGE_CODE)
        status = generate(p, options);
    return status;
}

/* ---- a program --------------------------------------------------------------------------------------------------- */

static const char *bare_note(masu_program *p, const diagnostic *d) {
    for (const diagnostic_note *n = d->first_note; n; n = n->next)
        if (!n->span.file)
            return masu__arena_strdup(&p->kept, n->text);
    return NULL;
}

/* Places by line and column, so that nothing of the tree is needed to name them. */
static void keep_diagnostics(masu_program *p) {
    p->found = MASU_ARENA_ARRAY(&p->kept, masu_diagnostic_info, p->diagnostics.count + 1);
    for (const diagnostic *d = p->diagnostics.first; d && p->found; d = d->next) {
        source_span end = d->span;
        end.offset += end.length;
        source_place from = source_place_of(d->span), to = source_place_of(end);
        const char *message = masu__arena_strdup(&p->kept, d->message);
        p->found[p->found_count++] = (masu_diagnostic_info){.message = message ? message : "",
                                                            .kind = message_kind_of((message_row)d->row),
                                                            .misses_main = d->row == ROW_there_is_no_function_main,
                                                            .is_error = d->severity == SEVERITY_ERROR,
                                                            .path = d->span.file ? d->span.file->path : NULL,
                                                            .line = from.line,
                                                            .column = from.column,
                                                            .end_line = to.line,
                                                            .end_column = to.column,
                                                            .column16 = source_utf16_column(d->span),
                                                            .end_column16 = source_utf16_column(end),
                                                            .note = bare_note(p, d)};
    }
}

/* Renders what was said, then lets go of all that the caller cannot ask for any more. */
static bool settle(masu_program *p, const masu_compile_options *options, masu_status status) {
    p->error_count = p->diagnostics.error_count;
    keep_diagnostics(p);
    diagnostics_render(&p->diagnostics, &p->rendered);
    if (status != MASU_OK || options->until == MASU_STAGE_CODE) {
        p->tree = NULL;
        p->module = NULL;
        masu__arena_destroy(&p->work);
    }
    return !p->diagnostics.out_of_memory && !p->rendered.failed && !p->dump.failed;
}

/* A file of the library that is examined comes before the others, as one text with them: so it is library like them,
 * and keeps its places. */
static masu_status read_library(masu_program *p, const masu_compile_options *options, library_part part) {
    masu__buffer text = {0};
    p->examined = options->library ? (uint32_t)p->file.length : 0;
    masu__buffer_append(&text, p->file.text, p->examined);
    masu_status status = library_load(&p->file, part, &text);
    if (status == MASU_OK)
        status = source_file_init(&p->prelude, &p->kept, options->library ? p->file.path : "<prelude>",
                                  masu__buffer_text(&text), text.length);
    masu__buffer_destroy(&text);
    if (status == MASU_OK && options->library)
        status = source_file_init(&p->file, &p->kept, p->file.path, "fn main() {}", 12);
    return status;
}

static void begin_diagnostics(masu_program *p) {
    diagnostics_init(&p->diagnostics, &p->work);
    p->diagnostics.hidden = p->examined ? NULL : &p->prelude;
}

/* Messages name what the whole library has; the first round is given up. What compiles now only is missing in the
 * index: heavy builds say so. */
static masu_status run_with_whole_library(masu_program *p, const masu_compile_options *options) {
    masu__buffer missing = {0};
    const diagnostic *first = p->diagnostics.first;
    masu__buffer_printf(&missing, "%s: %s", p->file.path, first ? first->message : "");
    masu__buffer_truncate(&p->dump, 0);
    masu__arena_destroy(&p->work);
    p->work.in_huge_pages = true;
    p->tree = NULL;
    p->module = NULL;
    masu_status status = read_library(p, options, LIBRARY_WHOLE);
    begin_diagnostics(p);
    status = status == MASU_OK ? run_stages(p, options) : status;
#ifdef MASU_HEAVY
    if (status == MASU_OK)
        return internal_error(p, "the index of the library (`//! asks`)", &missing);
#endif
    masu__buffer_destroy(&missing);
    return status;
}

static masu_status compile(masu_program *p, const masu_compile_options *options) {
    masu_status status = read_library(p, options, options->library ? LIBRARY_OTHERS : LIBRARY_ASKED);
    begin_diagnostics(p);
    if (status == MASU_OK)
        status = run_stages(p, options);
    return status == MASU_ERR_TYPE && !options->library ? run_with_whole_library(p, options) : status;
}

masu_status masu_program_compile(const char *path, const char *text, size_t length, const masu_compile_options *options,
                                 masu_program **out) {
    masu_compile_options actual = *options;
#ifdef MASU_HEAVY
    actual.verify = true;
#endif
    masu_program *p = masu__meta_calloc(1, sizeof *p);
    if (!p)
        return MASU_ERR_OUT_OF_MEMORY;
    p->work.in_huge_pages = true;
    begin_diagnostics(p);
    masu_status status = source_file_init(&p->file, &p->kept, path, text, length);
    if (status == MASU_OK)
        status = macros_expand(&p->file, &p->kept, &p->diagnostics);
    if (status == MASU_OK)
        status = stop_on_errors(p, MASU_ERR_SYNTAX);
    if (status == MASU_ERR_LIMIT_REACHED)
        diagnostics_say(&p->diagnostics, (source_span){0}, SAY(file_is_too_large), path);
    if (status == MASU_OK)
        status = compile(p, &actual);
    if (!settle(p, &actual, status) && status == MASU_OK)
        status = MASU_ERR_OUT_OF_MEMORY;
    if (status == MASU_ERR_OUT_OF_MEMORY) {
        masu_program_destroy(p);
        return status;
    }
    *out = p;
    return status;
}

void masu_program_destroy(masu_program *p) {
    if (!p)
        return;
    if (p->code)
        p->generator->destroy(p->code);
    masu__buffer_destroy(&p->rendered);
    masu__buffer_destroy(&p->dump);
    masu__buffer_destroy(&p->explained);
    masu__buffer_destroy(&p->error);
    masu__buffer_destroy(&p->shown);
    masu__arena_destroy(&p->work);
    masu__arena_destroy(&p->kept);
    masu__meta_free(p, sizeof *p);
}
