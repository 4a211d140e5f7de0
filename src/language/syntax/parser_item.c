/* parser_item.c: fn, impl, const, and which item is at the top level of a file. */
#include <string.h>

#include "language/syntax/parser_private.h"

/* ---- functions ------------------------------------------------------------------------------- */

static binding *parse_self(parser *p, bool is_mutable, source_span start) {
    parser_advance(p);
    binding *self = parser_new_binding(p, "self", parser_span_from(p, start), BINDING_SELF, is_mutable);
    if (parser_accept(p, TOKEN_COLON)) { /* self: &mut Self */
        self->annotation = parse_type(p);
        self->is_lent = self->annotation->is_place;
        self->is_shared = self->annotation->is_shared;
        const type_expr *t = self->annotation;
        if (t->kind == TYPE_EXPR_NAME && t->argument_count == 1 && parser_is_counted(p, t->name))
            self->kind = BINDING_PARAMETER; /* `self: &Rc<Self>`: what counts the value, not the value */
    }
    return self;
}

/* Behind the name: its type. */
static binding *parse_annotated(parser *p, binding *parameter) {
    const char *name = parameter->name;
    source_span span = parameter->span;
    if (!parser_is(p, TOKEN_COLON)) {
        parser_say(p, span, SAY(parameter_without_type), name, name);
        p->panic = false; /* it is clear how it goes on */
        parameter->annotation = PARSER_NEW(p, type_expr);
        parameter->annotation->span = span; /* TYPE_EXPR_ERROR: silent */
        return parameter;
    }
    parser_advance(p);
    parameter->annotation = parse_type(p);
    if (parser_accept(p, TOKEN_EQUAL))
        parameter->otherwise = parse_no_range(p);
    return parameter;
}

/* At a pattern that is more than a name: `(`, `[`, `&(`, `Point {`, `W(`, `shapes::W(`. */
static bool at_parts(const parser *p, bool reference) {
    token_kind next = parser_ahead(p, 1);
    return reference || parser_is(p, TOKEN_LEFT_PAREN) || parser_is(p, TOKEN_LEFT_BRACKET) ||
           (parser_is(p, TOKEN_NAME) &&
            (next == TOKEN_LEFT_PAREN || next == TOKEN_LEFT_BRACE || next == TOKEN_COLON_COLON));
}

/* (a, b): (A, B) is a parameter of a hidden name, taken apart by the first statement of the body. */
static binding *parse_parts(parser *p, function_item *f, bool reference) {
    stmt *s = PARSER_NEW(p, stmt);
    const uint32_t from = p->step_count;
    *s = (stmt){.kind = STMT_LET, .span = parser_span(p), .pattern = parse_pattern(p)};
    s->pattern->is_behind |= reference;
    const char *name = parser_printf(p, "<parameter %u>", f->parameter_count);
    s->value = parser_new(p, EXPR_NAME, s->span);
    s->value->name.name = name;
    s->is_opening = true;
    stmt **last = &f->opening;
    while (*last != NULL)
        last = &(*last)->next;
    *last = s;
    s->next = parser_step_lets(p, from);
    return parse_annotated(p, parser_new_binding(p, name, s->span, BINDING_PARAMETER, false));
}

static binding *parse_parameter(parser *p, function_item *f, bool first, bool in_impl) {
    source_span start = parser_span(p), span;
    bool reference = parser_accept_first(p, TOKEN_AND);
    const char *lifetime = reference ? parser_lifetime(p, NULL) : NULL; /* &'a self */
    bool is_mutable = parser_accept(p, TOKEN_MUT);
    if (parser_is(p, TOKEN_SELF)) {
        if (!first || !in_impl)
            parser_say(p, parser_span(p), SAY_IF(in_impl, self_is_first_parameter, self_belongs_into_impl_block));
        binding *self = parse_self(p, is_mutable, start);
        self->is_lent |= reference && is_mutable;
        self->is_shared |= reference && !is_mutable;
        self->lifetime = lifetime;
        return self;
    }
    if (!is_mutable && at_parts(p, reference))
        return parse_parts(p, f, reference);
    if (reference) {
        parser_expected(p, "a name");
        return NULL;
    }
    const char *name = parser_name(p, &span);
    if (name == NULL)
        return NULL;
    return parse_annotated(p, parser_new_binding(p, name, span, BINDING_PARAMETER, is_mutable));
}

/* `impl Trait for &T`: `self` is the reference. */
static void lend_by_owner(binding *self, const type_expr *owner) {
    bool whole = !self->is_lent && !self->is_shared;
    self->is_lent |= whole && owner->is_place;
    self->is_shared |= whole && owner->is_shared;
    self->is_owner = whole && (owner->is_place || owner->is_shared);
    if (self->is_owner)
        self->lifetime = owner->refers;
}

static void parse_parameters(parser *p, function_item *f, bool in_impl) {
    uint32_t capacity = 0;
    bool first = true;
    if (!parser_expect(p, TOKEN_LEFT_PAREN))
        return;
    while (!parser_is(p, TOKEN_RIGHT_PAREN) && !parser_is(p, TOKEN_END)) {
        binding *parameter = parse_parameter(p, f, first, in_impl);
        if (parameter != NULL) {
            if (parameter->kind == BINDING_SELF && parameter->annotation == NULL && f->impl != NULL)
                lend_by_owner(parameter, f->impl->owner);
            f->has_self |= parameter->kind == BINDING_SELF && first;
            f->has_holder |= parameter->kind != BINDING_SELF && strcmp(parameter->name, "self") == 0;
            if (parameter->annotation != NULL && parameter->kind != BINDING_SELF)
                parser_hide_function_type(p, parameter, &f->generics);
            PARSER_PUSH(p, f->parameters, f->parameter_count, capacity, parameter);
        }
        first = false;
        parser_synchronise_list(p, TOKEN_RIGHT_PAREN);
        if (!parser_accept(p, TOKEN_COMMA))
            break;
    }
    parser_expect(p, TOKEN_RIGHT_PAREN);
}

static void add_function(parser *p, function_item *f) {
    f->index = p->tree->function_count;
    PARSER_PUSH(p, p->tree->functions, p->tree->function_count, p->tree->function_capacity, f);
}

/* &mut T, Option<&mut T>, Result<&mut T, E>, or by another name for one of them */
static bool yields_place(const type_expr *t) {
    return t->is_place || (t->kind == TYPE_EXPR_NAME && t->argument_count > 0 && t->arguments[0]->is_place &&
                           strcmp(t->name, "Vec") != 0);
}

/* Between the parameters and the body. */
static void parse_result(parser *p, function_item *f) {
    bool arrow = parser_accept(p, TOKEN_ARROW);
    f->never_returns = arrow && parser_accept(p, TOKEN_NOT);
    if (arrow && !f->never_returns) {
        f->result_annotation = parse_type(p);
        if (yields_place(f->result_annotation))
            PARSER_PUSH(p, p->tree->getters, p->tree->getter_count, p->tree->getter_capacity, f);
    }
    parse_where(p, &f->generics, f->impl == NULL ? NULL : &f->impl->generics);
    if (p->panic) { /* the body is good all the same */
        while (!parser_is(p, TOKEN_LEFT_BRACE) && !parser_is(p, TOKEN_RIGHT_BRACE) && !parser_is(p, TOKEN_SEMICOLON) &&
               !parser_is(p, TOKEN_FN) && !parser_is(p, TOKEN_END))
            parser_advance(p);
        p->panic = false;
    }
}

/* Whether t holds a reference whose life has no name. What a function type takes and yields is not held. */
static bool holds_reference(const type_expr *t, bool *is_written) {
    bool holds = t->lifetime == NULL && (t->is_place || t->is_shared);
    *is_written |= holds && t->is_place;
    for (uint32_t i = 0; t->kind != TYPE_EXPR_FUNCTION && i < t->argument_count; i++)
        holds |= holds_reference(t->arguments[i], is_written);
    return holds;
}

/* fn peek(self) -> &T: a method's `self` is a reference (docs/language.md). A reference that comes back can lead to
 * nothing else when no other parameter is one: self is lent for as long, as `&self` and `&mut self` are. */
static void lend_self(function_item *f) {
    binding *self = f->has_self ? f->parameters[0] : NULL;
    bool other = false, is_written = false;
    if (!self || !f->result_annotation || self->annotation || self->is_lent || self->is_shared)
        return;
    for (uint32_t i = 1; i < f->parameter_count; i++)
        other |= f->parameters[i]->annotation && holds_reference(f->parameters[i]->annotation, &is_written);
    is_written = false;
    if (other || !holds_reference(f->result_annotation, &is_written))
        return;
    self->is_lent = self->is_mutable || is_written;
    self->is_shared = !self->is_lent;
}

/* OWNER::NAME */
static const char *qualified_name(parser *p, const char *owner, const char *name) {
    size_t first = modules_plain_length(owner), second = strlen(name);
    char *made = masu__arena_alloc(p->arena, first + second + sizeof "::", 1);
    if (made == NULL)
        parser_out_of_memory(p);
    memcpy(made, owner, first);
    memcpy(made + first, "::", 2);
    memcpy(made + first + 2, name, second + 1);
    return made;
}

/* From `fn` to the body, exclusive. NULL after a message and without a name. */
static function_item *parse_head(parser *p, impl_item *impl, const char *owner, source_span owner_span, bool methods) {
    parser_advance(p);
    source_span span;
    const char *name = parser_name(p, &span);
    function_item *f = PARSER_NEW(p, function_item);
    if (name == NULL)
        return NULL;
    *f = (function_item){.name = name,
                         .module = p->module,
                         .qualified = name,
                         .span = span,
                         .impl = impl,
                         .owner_name = owner,
                         .owner_span = owner_span};
    if (owner != NULL)
        f->qualified = qualified_name(p, owner, name);
    else if (!methods)
        f->name = parser_declare(p, name);
    parse_type_parameters(p, &f->generics);
    parse_parameters(p, f, methods);
    parse_result(p, f);
    lend_self(f);
    return f;
}

/* The text of `{ compile_error("…") }`. */
static const char *refusal_in(parser *p, source_span body) {
    static const char opens[] = "compile_error(\"";
    const char *text = p->file->text + body.offset + 1, *end = p->file->text + body.offset + body.length;
    while (text < end && (*text == ' ' || *text == '\n'))
        text++;
    if ((size_t)(end - text) < sizeof opens || memcmp(text, opens, sizeof opens - 1) != 0)
        return NULL;
    text += sizeof opens - 1;
    const char *close = memchr(text, '"', (size_t)(end - text));
    const char *said = close == NULL ? NULL : masu__arena_strndup(p->arena, text, (size_t)(close - text));
    if (said == NULL)
        parser_out_of_memory(p);
    return said;
}

/* The results `-> &mut T` and `-> Option<&mut T>` are places of the caller's: such a function is written out where it
 * is called. The prelude has none. */
static void parse_body(parser *p, function_item *f) {
    if (parser_is(p, TOKEN_BODY)) {
        f->unread = parser_span(p);
        f->refusal = refusal_in(p, f->unread);
        parser_advance(p);
        return;
    }
    module_scope *outer = p->module;
    parser_enter_body(p);
    p->functions++;
    f->body = parse_block(p);
    p->functions--;
    p->module = outer;
    if (f->opening != NULL) {
        stmt *last = f->opening;
        while (last->next != NULL)
            last = last->next;
        last->next = f->body->first;
        f->body->first = f->opening;
    }
    if (f->result_annotation != NULL && yields_place(f->result_annotation) && !p->panic) {
        const function_item *copy = function_copy(p->arena, f);
        if (copy == NULL)
            parser_out_of_memory(p);
        f->unchecked = copy->body;
    }
}

static bool at_const_function(const parser *p) {
    return parser_is(p, TOKEN_CONST) && parser_ahead(p, 1) == TOKEN_FN;
}

/* exported: the `pub` before it (tree.h) */
static void parse_function(parser *p, impl_item *impl, source_span exported) {
    bool is_const = at_const_function(p) && parser_accept(p, TOKEN_CONST);
    const char *owner = impl == NULL ? NULL : impl->owner->name;
    function_item *f = parse_head(p, impl, owner, impl == NULL ? (source_span){0} : impl->owner->span, impl);
    if (f == NULL) {
        parser_skip_item(p);
        return;
    }
    if (!parser_is(p, TOKEN_LEFT_BRACE) && !parser_is(p, TOKEN_BODY)) {
        parser_expected(p, "`{`");
        parser_refuse_name(p, owner == NULL ? f->name : NULL);
        parser_synchronise(p);
        return;
    }
    f->is_const = is_const;
    f->exported = exported;
    parse_body(p, f);
    add_function(p, f);
}

function_item *parse_method_of_trait(parser *p) {
    function_item *f = parse_head(p, NULL, NULL, (source_span){0}, true);
    if (f == NULL || p->panic)
        return NULL;
    if (parser_is(p, TOKEN_LEFT_BRACE) || parser_is(p, TOKEN_BODY))
        parse_body(p, f);
    else
        parser_expect(p, TOKEN_SEMICOLON);
    return f;
}

/* ---- impl, const ----------------------------------------------------------------------------- */

static void parse_const(parser *p, const impl_item *impl);

/* type N = T; type N<A> = T; */
static void parse_alias(parser *p, const impl_item *impl) {
    source_span span;
    parser_advance(p);
    alias_item *a = PARSER_NEW(p, alias_item);
    const char *name = parser_name(p, &span);
    name = impl == NULL ? parser_declare(p, name) : name;
    *a = (alias_item){.name = name, .impl = impl, .next = p->tree->aliases};
    parse_type_parameters(p, &a->generics);
    if (name != NULL && parser_expect(p, TOKEN_EQUAL)) {
        a->type = parse_type(p);
        p->tree->aliases = a;
    }
    parser_expect(p, TOKEN_SEMICOLON);
    if (p->panic)
        parser_synchronise(p);
}

static bool at_alias(const parser *p) {
    return parser_is_word(p, "type") && parser_ahead(p, 1) == TOKEN_NAME;
}

static bool at_static(const parser *p) {
    return parser_is_word(p, "static") && parser_ahead(p, 1) == TOKEN_NAME;
}

/* `unsafe` says nothing: there is nothing that it would allow. */
static bool at_unsafe(const parser *p) {
    token_kind next = parser_ahead(p, 1);
    return parser_is_word(p, "unsafe") && (next == TOKEN_FN || next == TOKEN_IMPL || next == TOKEN_TRAIT);
}

/* pub, pub(crate). The `pub` that says no more. */
static source_span skip_pub(parser *p) {
    source_span exported = {0};
    while (parser_is(p, TOKEN_PUB) || at_unsafe(p)) {
        bool public = parser_is(p, TOKEN_PUB);
        exported = public ? parser_span(p) : exported;
        parser_advance(p);
        if (public && parser_is(p, TOKEN_LEFT_PAREN)) {
            parser_skip_group(p);
            exported = (source_span){0};
        }
    }
    return exported;
}

static void parse_methods(parser *p, impl_item *impl, source_span open) {
    while (!parser_is(p, TOKEN_RIGHT_BRACE) && !parser_is(p, TOKEN_END)) {
        uint32_t before = p->at;
        source_span exported = skip_pub(p);
        if (parser_is(p, TOKEN_HASH) && parser_ahead(p, 1) == TOKEN_LEFT_BRACKET) {
            parser_advance(p);
            parser_skip_group(p);
        } else if (parser_is(p, TOKEN_FN) || at_const_function(p)) {
            parse_function(p, impl, exported);
        } else if (parser_is(p, TOKEN_CONST) && parser_ahead(p, 1) == TOKEN_NAME) {
            parse_const(p, impl);
        } else if (at_alias(p)) {
            parse_alias(p, impl);
        } else if (parser_is(p, TOKEN_STRUCT) || parser_is(p, TOKEN_IMPL)) {
            break; /* a `}` is missing */
        } else {
            parser_expected(p, "`fn`");
            parser_synchronise(p);
        }
        if (p->at == before)
            parser_advance(p);
    }
    if (!parser_accept(p, TOKEN_RIGHT_BRACE)) {
        parser_unclosed(p, open);
        p->panic = false;
    }
}

/* `impl` may be followed by nothing that is an item: then the file goes on behind its braces. */
static void parse_impl(parser *p) {
    impl_item *impl = PARSER_NEW(p, impl_item);
    parser_advance(p);
    parse_type_parameters(p, &impl->generics);
    impl->owner = parse_type(p);
    if (parser_accept(p, TOKEN_FOR)) {
        impl->trait_name = impl->owner->name;
        impl->trait_type = impl->owner;
        impl->trait_span = impl->owner->span;
        impl->owner = parse_type(p);
    }
    parse_where(p, &impl->generics, NULL);
    parser_name_owner(p, impl);
    source_span open = parser_span(p);
    if (p->panic || impl->owner->kind == TYPE_EXPR_ERROR || impl->owner->name == NULL ||
        !parser_expect(p, TOKEN_LEFT_BRACE)) {
        if (!p->panic)
            parser_say(p, impl->owner->span, SAY(methods_belong_to_type_that_has));
        parser_skip_item(p);
        return;
    }
    PARSER_PUSH(p, p->tree->impls, p->tree->impl_count, p->tree->impl_capacity, impl);
    parse_methods(p, impl, open);
}

/* The `;` behind an item that has one. An item that is complete at the end of its line needs none, as a statement. */
static void end_item(parser *p) {
    if (!p->panic && parser_first_on_line(p) && (parser_at_item(p) || parser_at_let_item(p)))
        parser_warn_missing(p, "`;`");
    else
        parser_expect(p, TOKEN_SEMICOLON);
}

static void parse_const(parser *p, const impl_item *impl) {
    parser_advance(p);
    source_span span;
    const char *name = parser_name(p, &span);
    const_item *c = PARSER_NEW(p, const_item);
    if (name == NULL) {
        parser_synchronise(p);
        return;
    }
    *c = (const_item){.name = name, .span = span, .impl = impl};
    if (impl != NULL)
        c->name = parser_printf(p, "%s::%s", impl->owner->name, name);
    else
        c->name = parser_declare(p, name);
    if (parser_accept(p, TOKEN_COLON))
        c->annotation = parse_type(p);
    if (parser_expect(p, TOKEN_EQUAL))
        c->value = parse_expression(p);
    end_item(p);
    if (p->panic) {
        parser_refuse_name(p, name);
        parser_synchronise(p);
        return;
    }
    PARSER_PUSH(p, p->tree->constants, p->tree->constant_count, p->tree->constant_capacity, c);
}

/* `let NAME: T = …;` and `tensor NAME: T = …;` beside `main` */
bool parser_at_let_item(const parser *p) {
    bool let = parser_is(p, TOKEN_LET) && parser_ahead(p, 1) == TOKEN_NAME;
    return let ||
           (parser_is_word(p, "tensor") && parser_ahead(p, 1) == TOKEN_NAME && parser_ahead(p, 2) == TOKEN_COLON);
}

void parse_let_item(parser *p) {
    uint32_t before = p->tree->constant_count;
    parse_const(p, NULL);
    for (uint32_t i = before; i < p->tree->constant_count; i++)
        p->tree->constants[i]->is_let = true;
}

/* ---- what is at the top --------------------------------------------------------------------- */

/* #[…] and #![…] */
static bool skip_attribute(parser *p) {
    uint32_t behind = parser_ahead(p, 1) == TOKEN_NOT ? 2 : 1;
    if (!parser_is(p, TOKEN_HASH) || parser_ahead(p, behind) != TOKEN_LEFT_BRACKET)
        return false;
    for (uint32_t i = 0; i < behind; i++)
        parser_advance(p);
    uint32_t from = p->at;
    parser_skip_group(p);
    for (; from < p->at; from++) {
        const token *t = &p->list.tokens[from];
        p->derives_clone |= t->kind == TOKEN_NAME && t->length == 5 &&
                            memcmp(p->file->text + t->offset, "Clone", 5) == 0;
        p->derives_copy |= t->kind == TOKEN_NAME && t->length == 4 && memcmp(p->file->text + t->offset, "Copy", 4) == 0;
    }
    return true;
}

bool parser_at_item(const parser *p) {
    switch (parser_kind(p)) {
    case TOKEN_FN:
    case TOKEN_STRUCT:
    case TOKEN_IMPL:
    case TOKEN_CONST:
    case TOKEN_PUB:
    case TOKEN_ENUM:
    case TOKEN_TRAIT:
    case TOKEN_MOD:
    case TOKEN_USE:
        return true;
    case TOKEN_HASH:
        return parser_ahead(p, 1) == TOKEN_LEFT_BRACKET ||
               (parser_ahead(p, 1) == TOKEN_NOT && parser_ahead(p, 2) == TOKEN_LEFT_BRACKET);
    case TOKEN_NAME:
        return at_static(p) || at_alias(p) || parser_at_macro(p) || at_unsafe(p) || parser_at_foreign(p);
    default:
        return false;
    }
}

void parse_item(parser *p) {
    source_span exported = skip_pub(p);
    switch (parser_kind(p)) {
    case TOKEN_FN:
        parse_function(p, NULL, exported);
        return;
    case TOKEN_STRUCT:
        parse_struct(p);
        return;
    case TOKEN_IMPL:
        parse_impl(p);
        return;
    case TOKEN_CONST:
        if (at_const_function(p)) {
            parse_function(p, NULL, exported);
            return;
        }
        parse_const(p, NULL);
        return;
    case TOKEN_ENUM:
        parse_enum(p);
        return;
    case TOKEN_TRAIT:
        parse_trait(p);
        return;
    case TOKEN_MOD:
        parse_mod(p);
        return;
    case TOKEN_USE:
        parse_use(p);
        return;
    case TOKEN_HASH: /* attributes say nothing to masu */
        if (skip_attribute(p))
            return;
        break;
    default:
        if (at_static(p)) {
            parse_const(p, NULL);
            return;
        }
        if (at_alias(p)) {
            parse_alias(p, NULL);
            return;
        }
        if (parser_at_macro(p)) {
            parser_refuse_macro(p);
            return;
        }
        if (parser_at_foreign(p)) {
            const char *what = parser_is_word(p, "async") ? "asynchronous functions" : "external functions";
            parser_advance(p);
            parser_refuse_item(p, what);
            return;
        }
        break;
    }
    parser_refuse_top_level(p);
}

void parse_items(parser *p) {
    while (!parser_is(p, TOKEN_END)) {
        if (parser_accept(p, TOKEN_SEMICOLON)) /* struct P { … }; */
            continue;
        parse_item(p);
        if (p->panic)
            parser_synchronise(p);
    }
    if (p->script != NULL) {
        function_item *f = PARSER_NEW(p, function_item);
        *f = (function_item){.name = "main", .qualified = "main", .span = p->script->span, .body = p->script};
        add_function(p, f);
    }
}
