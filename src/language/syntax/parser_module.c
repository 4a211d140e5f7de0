/* parser_module.c: mod, use, and which item a name means where several modules declare it (modules.h). */
#include <string.h>

#include "language/syntax/parser_private.h"

/* ---- names ----------------------------------------------------------------------------------- */

static bool tells_apart(const parser *p) {
    return p->module != NULL && modules_are_settled(p->tree->names);
}

const char *parser_declare(parser *p, const char *name) {
    if (p->module == NULL || name == NULL)
        return name;
    if (!modules_declare(p->tree->names, p->module, name))
        parser_out_of_memory(p);
    return modules_declared(p->tree->names, p->module, name);
}

const char *parser_join(parser *p, const char *scope, const char *name) {
    return scope == NULL || name == NULL ? name : parser_printf(p, "%s::%s", scope, name);
}

void parser_find_item(parser *p, const char **scope, const char **name, source_span at) {
    if (!tells_apart(p) || *name == NULL)
        return;
    const char *path = parser_join(p, *scope, *name), *goes_on;
    const char *found = modules_find(p->tree->names, p->module, path, at, &goes_on);
    if (found == NULL)
        return;
    if (goes_on == NULL) {
        *scope = *scope == NULL ? NULL : "crate"; /* no variable is meant */
        *name = found;
        return;
    }
    size_t left = strlen(goes_on) - strlen(*name); /* a::T::U::x: U:: */
    *scope = left < 2 ? found : parser_printf(p, "%s::%.*s", found, (int)left - 2, goes_on);
}

const char *parser_found_item(parser *p, const char *name, source_span at) {
    const char *scope = NULL, *found = name;
    parser_find_item(p, &scope, &found, at);
    return found == name || (found != NULL && strcmp(found, name) == 0) ? NULL : found;
}

/* self:: in front of a path says what is so anyway. */
void parser_skip_self(parser *p) {
    while (parser_is(p, TOKEN_SELF) && parser_ahead(p, 1) == TOKEN_COLON_COLON) {
        parser_advance(p);
        parser_advance(p);
    }
}

/* ---- mod ------------------------------------------------------------------------------------- */

void parse_mod(parser *p) {
    parser_advance(p);
    module_name *m = PARSER_NEW(p, module_name);
    m->name = parser_name(p, &m->span);
    if (m->name == NULL) {
        parser_skip_item(p);
        return;
    }
    if (p->module != NULL) {
        m->scope = modules_enter(p->tree->names, p->module, m->name);
        if (m->scope == NULL)
            parser_out_of_memory(p);
    }
    m->next = p->tree->modules;
    p->tree->modules = m;
    if (parser_accept(p, TOKEN_SEMICOLON))
        return;
    source_span open = parser_span(p);
    m->is_read = true;
    if (!parser_expect(p, TOKEN_LEFT_BRACE)) {
        parser_skip_item(p);
        return;
    }
    module_scope *outer = p->module;
    p->module = m->scope;
    while (!parser_is(p, TOKEN_RIGHT_BRACE) && !parser_is(p, TOKEN_END)) {
        uint32_t before = p->at;
        if (parser_enter(p))
            parse_item(p);
        parser_leave(p);
        if (p->panic)
            parser_synchronise(p);
        if (p->at == before)
            parser_advance(p);
    }
    p->module = outer;
    if (!parser_accept(p, TOKEN_RIGHT_BRACE)) {
        parser_unclosed(p, open);
        p->panic = false;
    }
}

/* Refuses an import that Rust's library has and masu does not: each word is reported once, where it is imported. */
static void refuse_import(parser *p, const char *name) {
    static const char *const words[][2] = {
        {"mpsc", "threads: channels"},
        {"Mutex", "threads: `Mutex`"},
        {"RwLock", "threads: `RwLock`"},
        {"AtomicUsize", "threads: atomics"},
        {"AtomicI32", "threads: atomics"},
        {"AtomicBool", "threads: atomics"},
        {"OnceCell", "`OnceCell`: write a `RefCell` of an `Option`"},
        {"TcpStream", "the network"},
        {"TcpListener", "the network"},
        {"UdpSocket", "the network"},
    };
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (strcmp(words[i][0], name) == 0) {
            parser_refuse_name(p, name);
            parser_refuse(p, parser_span(p), words[i][1]);
            p->panic = false;
        }
    }
}

/* To the end of the block that the `use` is in. */
static uint32_t end_of_block(const parser *p) {
    uint32_t open = 0, at = p->at;
    for (; at + 1 < p->list.count; at++) {
        token_kind kind = p->list.tokens[at].kind;
        if (kind == TOKEN_RIGHT_BRACE && open-- == 0)
            break;
        open += kind == TOKEN_LEFT_BRACE;
    }
    return p->list.tokens[at].offset;
}

bool parser_declares(const token *at) {
    return (at->kind == TOKEN_FN || at->kind == TOKEN_STRUCT || at->kind == TOKEN_ENUM || at->kind == TOKEN_CONST) &&
           at[1].kind == TOKEN_NAME;
}

/* At `{` of a function: its own items are a module that sees everything around it. */
void parser_enter_body(parser *p) {
    uint32_t open = 0, at = p->at;
    bool declares = false;
    for (; p->module != NULL && !declares && at + 1 < p->list.count; at++) {
        token_kind kind = p->list.tokens[at].kind;
        if (kind == TOKEN_RIGHT_BRACE && --open == 0)
            break;
        open += kind == TOKEN_LEFT_BRACE;
        declares = parser_declares(&p->list.tokens[at]);
    }
    if (!declares)
        return;
    const char *name = parser_printf(p, "<in %u>", parser_token(p)->offset);
    p->module = modules_enter_block(p->tree->names, p->module, name);
    if (p->module == NULL)
        parser_out_of_memory(p);
}

static void note_use(parser *p, const char *path, const char *alias) {
    if (p->module == NULL || path == NULL)
        return;
    bool block = p->functions > 0;
    uint32_t from = 0, until = 0;
    if (block && !modules_are_settled(p->tree->names)) {
        from = parser_token(p)->offset;
        until = end_of_block(p);
    }
    if (!modules_use(p->tree->names, p->module, path, alias, block ? p->file : NULL, from, until))
        parser_out_of_memory(p);
}

/* a::E::*, a::E::{…}: E as the checker calls it */
static void import_variants(parser *p, const char *scope, const char *name) {
    if (name == NULL)
        return;
    parser_find_item(p, &scope, &name, parser_span(p));
    import_name *import = PARSER_NEW(p, import_name);
    *import = (import_name){name, p->tree->imports};
    p->tree->imports = import;
}

static void rename_import(parser *p, const char *scope, const char *name, const char *alias) {
    if (tells_apart(p) && modules_declared_anywhere(p->tree->names, alias))
        return; /* each module knows what it means */
    parser_find_item(p, &scope, &name, parser_span(p));
    rename_item *r = PARSER_NEW(p, rename_item);
    *r = (rename_item){alias, name, p->tree->renames};
    p->tree->renames = r;
}

/* use std::M::N: __M_N of the library, if it has that. */
static void import_from_library(parser *p, const char *scope, const char *name, const char *alias) {
    const char *last = strrchr(scope, ':');
    rename_item *r = PARSER_NEW(p, rename_item);
    *r = (rename_item){alias, parser_printf(p, "__%s_%s", last == NULL ? scope : last + 1, name), p->tree->renames};
    p->tree->renames = r;
}

/* use std::M::*, use std::M::prelude::*: a trait N may be __M_N; see names_trait. */
static void import_all(parser *p, const char *scope, const char *last) {
    const char *module = last != NULL && strcmp(last, "prelude") == 0 ? scope : last;
    const char *behind = module == NULL ? NULL : strrchr(module, ':');
    rename_item *r = PARSER_NEW(p, rename_item);
    *r = (rename_item){"*",
                       parser_printf(p, "__%s",
                                     behind != NULL   ? behind + 1
                                     : module != NULL ? module
                                                      : ""),
                       p->tree->renames};
    p->tree->renames = r;
}

static bool use_ends(const parser *p) {
    return parser_is(p, TOKEN_SEMICOLON) || parser_is(p, TOKEN_END) || parser_at_item(p);
}

static void parse_use_path(parser *p, const char *path, bool library);

static void parse_use_group(parser *p, const char *path, bool library) {
    parser_advance(p);
    while (!parser_is(p, TOKEN_RIGHT_BRACE) && !use_ends(p)) {
        uint32_t before = p->at;
        if (parser_enter(p))
            parse_use_path(p, path, library);
        parser_leave(p);
        parser_accept(p, TOKEN_COMMA);
        if (p->at == before)
            parser_advance(p);
    }
    parser_accept(p, TOKEN_RIGHT_BRACE);
}

/* use std::f64::consts::PI as alias; is const alias: f64 = std::f64::consts::PI; */
static bool import_constant(parser *p, const char *scope, const char *name, const char *alias, source_span span) {
    static const char *const scopes[] = {"std::f64::consts", "std::f32::consts", "core::f64::consts",
                                         "core::f32::consts"};
    size_t at = 0, count = sizeof scopes / sizeof scopes[0];
    while (at < count && (scope == NULL || strcmp(scopes[at], scope) != 0))
        at++;
    for (uint32_t i = 0; at < count && i < p->tree->constant_count; i++)
        if (strcmp(p->tree->constants[i]->name, alias) == 0)
            return true; /* imported before */
    if (at == count)
        return false;
    const_item *c = PARSER_NEW(p, const_item);
    *c = (const_item){.name = alias, .span = span, .value = parser_new(p, EXPR_NAME, span)};
    c->value->name.name = name;
    c->value->name.scope = scope;
    c->value->name.scope_span = span;
    c->value = parser_finish(p, c->value);
    c->annotation = PARSER_NEW(p, type_expr);
    *c->annotation = (type_expr){.span = span, .kind = TYPE_EXPR_NAME, .name = at % 2 == 0 ? "f64" : "f32"};
    PARSER_PUSH(p, p->tree->constants, p->tree->constant_count, p->tree->constant_capacity, c);
    return true;
}

/* The name behind `path::` */
static void parse_use_path(parser *p, const char *path, bool library) {
    const char *scope = NULL, *last = NULL; /* path = scope::last */
    const char *end = NULL;
    for (const char *at = path; at != NULL && (at = strstr(at, "::")) != NULL; at += 2)
        end = at;
    last = end == NULL ? path : end + 2;
    scope = end == NULL ? NULL : parser_printf(p, "%.*s", (int)(end - path), path);
    while (parser_is(p, TOKEN_NAME) || parser_is(p, TOKEN_SELF)) {
        const char *name = parser_text(p, parser_token(p));
        if (library && parser_is(p, TOKEN_NAME))
            refuse_import(p, name);
        if (path == NULL || !parser_is(p, TOKEN_SELF)) { /* a::{self}: a */
            scope = path;
            last = name;
            path = parser_join(p, path, name);
        }
        source_span span = parser_span(p);
        parser_advance(p);
        if (!parser_accept(p, TOKEN_COLON_COLON)) {
            const char *alias = last;
            bool other = parser_accept(p, TOKEN_AS);
            alias = other ? parser_name(p, &span) : alias;
            if (library && alias != NULL && import_constant(p, scope, last, alias, span))
                return;
            if (other) {
                if (alias != NULL)
                    rename_import(p, scope, last, alias);
            }
            if (library && alias != NULL && scope != NULL)
                import_from_library(p, scope, last, alias);
            note_use(p, alias == NULL ? NULL : path, alias);
            return;
        }
    }
    if (parser_is(p, TOKEN_STAR)) {
        parser_advance(p);
        import_variants(p, scope, last);
        if (library)
            import_all(p, scope, last);
        note_use(p, path, NULL);
    } else if (parser_is(p, TOKEN_LEFT_BRACE)) {
        import_variants(p, scope, last);
        parse_use_group(p, path, library);
    }
}

/* `use E::*` makes the variants of E names of their own; other names need no import where one module declares them. */
void parse_use(parser *p) {
    parser_advance(p);
    bool library = parser_is_word(p, "std");
    parser_accept(p, TOKEN_COLON_COLON);
    parse_use_path(p, NULL, library);
    while (!use_ends(p))
        parser_advance(p);
    parser_expect(p, TOKEN_SEMICOLON);
}
