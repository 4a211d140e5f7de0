/* parser_generic.c: type parameters with their bounds, structs, enums, traits. */
#include <string.h>

#include "language/syntax/parser_private.h"

/* ---- type parameters ------------------------------------------------------------------------- */

static void parse_bounds(parser *p, type_parameter *t) {
    uint32_t capacity = t->bound_count;
    do {
        if (parser_is(p, TOKEN_LABEL)) {
            parser_add_lifetime(p, &t->lives);
            continue;
        }
        parser_accept(p, TOKEN_QUESTION);
        type_expr *bound = parse_type(p);
        PARSER_PUSH(p, t->bounds, t->bound_count, capacity, bound);
    } while (!p->panic && parser_accept(p, TOKEN_PLUS));
}

/* 'a, 'a: 'b + 'c */
static void parse_lifetime_parameter(parser *p, type_parameters *out) {
    lifetime_parameter *made = PARSER_NEW(p, lifetime_parameter), **last = &out->lifetimes;
    made->name = parser_lifetime(p, NULL);
    if (parser_accept(p, TOKEN_COLON)) {
        do {
            if (parser_is(p, TOKEN_LABEL))
                parser_add_lifetime(p, &made->outlives);
        } while (!p->panic && parser_accept(p, TOKEN_PLUS));
    }
    while (*last != NULL)
        last = &(*last)->next;
    *last = made;
}

void parse_type_parameters(parser *p, type_parameters *out) {
    uint32_t capacity = out->count;
    if (!parser_accept(p, TOKEN_LESS))
        return;
    while (!parser_is(p, TOKEN_GREATER) && !parser_is(p, TOKEN_END) && !p->panic) {
        if (parser_is(p, TOKEN_LABEL)) {
            parse_lifetime_parameter(p, out);
        } else {
            bool number = parser_accept(p, TOKEN_CONST); /* const N: usize */
            type_parameter t = {.span = parser_span(p)};
            t.name = parser_name(p, &t.span);
            if (t.name != NULL && parser_accept(p, TOKEN_COLON)) {
                if (number)
                    parse_type(p);
                else
                    parse_bounds(p, &t);
            }
            if (t.name != NULL && parser_accept(p, TOKEN_EQUAL))
                t.otherwise = parse_type_argument(p);
            if (t.name != NULL)
                PARSER_PUSH(p, out->items, out->count, capacity, t);
        }
        if (!parser_accept(p, TOKEN_COMMA))
            break;
    }
    if (!parser_accept_first(p, TOKEN_GREATER))
        parser_expected(p, "`>`");
}

void parse_for_lifetimes(parser *p) {
    while (parser_accept(p, TOKEN_FOR)) {
        type_parameters lifetimes = {0};
        parse_type_parameters(p, &lifetimes);
    }
}

static type_parameter *find_parameter(type_parameters *all, const char *name) {
    for (uint32_t i = 0; all != NULL && i < all->count; i++)
        if (strcmp(all->items[i].name, name) == 0)
            return &all->items[i];
    return NULL;
}

/* One clause: `T: Bound`. Those of other types (C::Item: Debug, Vec<T>: Debug, 'a: 'b) say nothing to masu. */
static void parse_clause(parser *p, type_parameters *own, type_parameters *of_impl) {
    type_parameter unknown = {.span = parser_span(p)}, *t = NULL;
    parse_for_lifetimes(p);
    if (parser_is(p, TOKEN_LABEL)) { /* where 'a: 'b */
        parse_lifetime_parameter(p, own);
        return;
    }
    if (parser_is(p, TOKEN_NAME) && parser_ahead(p, 1) == TOKEN_COLON) {
        unknown.name = parser_name(p, &unknown.span);
        t = find_parameter(own, unknown.name);
        t = t == NULL ? find_parameter(of_impl, unknown.name) : t;
    } else {
        parse_type(p);
    }
    if (parser_expect(p, TOKEN_COLON))
        parse_bounds(p, t == NULL ? &unknown : t);
}

void parse_where(parser *p, type_parameters *own, type_parameters *of_impl) {
    if (!parser_is_word(p, "where"))
        return;
    parser_advance(p);
    while (!parser_is(p, TOKEN_LEFT_BRACE) && !parser_is(p, TOKEN_SEMICOLON) && !parser_is(p, TOKEN_END) && !p->panic) {
        parse_clause(p, own, of_impl);
        if (!parser_accept(p, TOKEN_COMMA))
            return;
    }
}

/* A parameter whose type is that of a function means a type of its own: each closure has one. */
void parser_hide_function_type(parser *p, binding *parameter, type_parameters *generics) {
    type_expr *t = parameter->annotation;
    bool impl = t->kind == TYPE_EXPR_NAME && t->name != NULL && strcmp(t->name, "<impl>") == 0;
    if (t->kind != TYPE_EXPR_FUNCTION && !impl)
        return;
    type_parameter hidden = {.span = t->span, .bound_count = 1};
    hidden.name = parser_printf(p, "<%s>", parameter->name);
    hidden.bounds = parser_alloc(p, sizeof *hidden.bounds);
    hidden.bounds[0] = impl ? t->arguments[0] : t;
    hidden.lives = t->held;
    type_expr *name = PARSER_NEW(p, type_expr);
    *name = (type_expr){.span = t->span, .kind = TYPE_EXPR_NAME, .name = hidden.name, .is_place = t->is_place};
    parameter->annotation = name;
    uint32_t capacity = generics->count;
    PARSER_PUSH(p, generics->items, generics->count, capacity, hidden);
}

/* ---- structs --------------------------------------------------------------------------------- */

/* A line is a field. */
static bool field_ends_with_line(parser *p, const struct_item *s) {
    bool ends = !p->panic && !s->positional && parser_first_on_line(p) &&
                (parser_is(p, TOKEN_NAME) || parser_is(p, TOKEN_PUB));
    if (ends)
        parser_warn_missing(p, "`,`");
    return ends;
}

/* Behind the partner of what was opened. */
static void skip_to_close(parser *p, token_kind close) {
    while (!parser_is(p, TOKEN_END) && !parser_is(p, close)) {
        token_kind kind = parser_kind(p);
        if (kind == TOKEN_LEFT_PAREN || kind == TOKEN_LEFT_BRACKET || kind == TOKEN_LEFT_BRACE)
            parser_skip_group(p);
        else
            parser_advance(p);
    }
    if (parser_accept(p, close))
        p->panic = false;
}

static void push_field(parser *p, struct_item *s, uint32_t *capacity, struct_field field) {
    PARSER_PUSH(p, s->fields, s->field_count, *capacity, field);
}

/* Those of the variant; NULL: of a struct. */
static void parse_fields(parser *p, struct_item *s, variant_item *v, uint32_t *capacity, token_kind close) {
    const bool positional = v != NULL ? v->positional : s->positional;
    while (!parser_is(p, close) && !parser_is(p, TOKEN_END)) {
        struct_field field = {.span = parser_span(p)};
        if (v == NULL && parser_accept(p, TOKEN_PUB) && parser_is(p, TOKEN_LEFT_PAREN))
            parser_skip_group(p);
        if (positional) {
            field.name = parser_printf(p, "%u", v != NULL ? v->count : s->field_count);
        } else {
            field.name = parser_name(p, &field.span);
            parser_expect(p, TOKEN_COLON);
        }
        field.annotation = parse_type(p);
        if (!p->panic && field.name != NULL) {
            push_field(p, s, capacity, field);
            if (v != NULL)
                v->count++;
        }
        parser_synchronise_list(p, close);
        if (!parser_accept(p, TOKEN_COMMA) && (v != NULL || !field_ends_with_line(p, s)))
            break;
    }
    if (!parser_expect(p, close) && v == NULL) /* the rest of the fields is not an item */
        skip_to_close(p, close);
}

void parse_struct(parser *p) {
    struct_item *s = parse_struct_head(p);
    if (s == NULL) {
        parser_skip_item(p);
        return;
    }
    if (parser_accept(p, TOKEN_LEFT_BRACE)) {
        parse_fields(p, s, NULL, &(uint32_t){0}, TOKEN_RIGHT_BRACE);
    } else if (parser_accept(p, TOKEN_LEFT_PAREN)) {
        s->positional = true;
        parse_fields(p, s, NULL, &(uint32_t){0}, TOKEN_RIGHT_PAREN);
        parse_where(p, &s->generics, NULL);
        parser_accept(p, TOKEN_SEMICOLON);
    } else if (!parser_accept(p, TOKEN_SEMICOLON)) {
        parser_expected(p, "`{`");
    }
    if (p->panic)
        parser_synchronise(p);
}

/* ---- enums ----------------------------------------------------------------------------------- */

static void parse_variant_fields(parser *p, struct_item *s, variant_item *v, uint32_t *capacity) {
    v->positional = parser_is(p, TOKEN_LEFT_PAREN);
    parser_advance(p);
    parse_fields(p, s, v, capacity, v->positional ? TOKEN_RIGHT_PAREN : TOKEN_RIGHT_BRACE);
}

static void parse_variants(parser *p, struct_item *s) {
    uint32_t fields = 0, variants = 0;
    push_field(p, s, &fields, (struct_field){.name = "<tag>", .span = s->span});
    while (!parser_is(p, TOKEN_RIGHT_BRACE) && !parser_is(p, TOKEN_END)) {
        while (parser_is(p, TOKEN_HASH) && parser_ahead(p, 1) == TOKEN_LEFT_BRACKET) {
            parser_advance(p);
            p->at++;
            s->default_variant = parser_is_word(p, "default") ? s->variant_count + 1 : s->default_variant;
            p->at--;
            parser_skip_group(p);
        }
        variant_item v = {.first = s->field_count, .positional = true};
        v.name = parser_name(p, &v.span);
        if (parser_is(p, TOKEN_LEFT_PAREN) || parser_is(p, TOKEN_LEFT_BRACE))
            parse_variant_fields(p, s, &v, &fields);
        else if (parser_accept(p, TOKEN_EQUAL))
            v.tag_value = parse_no_range(p);
        if (v.name != NULL)
            PARSER_PUSH(p, s->variants, s->variant_count, variants, v);
        parser_synchronise_list(p, TOKEN_RIGHT_BRACE);
        if (!parser_accept(p, TOKEN_COMMA))
            break;
    }
    parser_expect(p, TOKEN_RIGHT_BRACE);
}

struct_item *parse_struct_head(parser *p) {
    parser_advance(p);
    source_span span;
    const char *name = parser_name(p, &span);
    if (name == NULL)
        return NULL;
    name = parser_declare(p, name);
    struct_item *s = PARSER_NEW(p, struct_item);
    *s = (struct_item){.name = name,
                       .span = span,
                       .is_copy = p->derives_copy,
                       .is_clone = p->derives_clone,
                       .index = p->tree->struct_count};
    p->derives_copy = p->derives_clone = false;
    parse_type_parameters(p, &s->generics);
    parse_where(p, &s->generics, NULL);
    PARSER_PUSH(p, p->tree->structs, p->tree->struct_count, p->tree->struct_capacity, s);
    return s;
}

void parse_enum(parser *p) {
    struct_item *s = parse_struct_head(p);
    if (s == NULL) {
        parser_synchronise(p);
        return;
    }
    s->is_enum = true;
    if (parser_expect(p, TOKEN_LEFT_BRACE))
        parse_variants(p, s);
    if (p->panic)
        parser_synchronise(p);
}

/* ---- traits ---------------------------------------------------------------------------------- */

/* `const N: T;` or, for impls that do not say, `const N: T = e;` */
static void parse_trait_const(parser *p, trait_item *t) {
    parser_advance(p);
    const_item *item = PARSER_NEW(p, const_item);
    uint32_t capacity = t->constant_count;
    item->name = parser_name(p, &item->span);
    if (item->name != NULL && parser_expect(p, TOKEN_COLON)) {
        item->annotation = parse_type(p);
        item->value = parser_accept(p, TOKEN_EQUAL) ? parse_expression(p) : NULL;
        parser_expect(p, TOKEN_SEMICOLON);
    }
    if (p->panic)
        parser_synchronise(p);
    else
        PARSER_PUSH(p, t->constants, t->constant_count, capacity, item);
}

/* type N; type N: Bound; */
static void parse_associated(parser *p, trait_item *t) {
    parser_advance(p);
    associated_name *a = PARSER_NEW(p, associated_name);
    a->name = parser_name(p, &a->span);
    a->next = t->associated;
    if (a->name != NULL)
        t->associated = a;
    parser_synchronise(p);
}

static bool is_parameter(const type_parameters *of, const type_expr *t) {
    bool found = false;
    for (uint32_t i = 0; t->kind == TYPE_EXPR_NAME && t->argument_count == 0 && i < of->count; i++)
        found |= strcmp(of->items[i].name, t->name) == 0;
    return found;
}

/* An owner without a name gets one: impl … for [T], for (A, B), for dyn T, for every T. */
void parser_name_owner(parser *p, impl_item *impl) {
    type_expr *owner = impl->owner;
    bool boxed = owner->kind == TYPE_EXPR_NAME && owner->argument_count == 1 && strcmp(owner->name, "Box") == 0 &&
                 owner->arguments[0]->kind == TYPE_EXPR_DYN;
    if (boxed) /* a Box of it is the same value */
        owner = impl->owner = owner->arguments[0];
    if (owner->kind == TYPE_EXPR_ARRAY) { /* a slice or array is what a Vec is */
        owner->kind = TYPE_EXPR_NAME;     /* the length tells impls apart */
        owner->name = "Vec";
    } else if (owner->kind == TYPE_EXPR_TUPLE && owner->argument_count > 0) {
        owner->name = parser_printf(p, OWNER_TUPLE "%u", owner->argument_count);
    } else if (owner->kind == TYPE_EXPR_DYN && owner->arguments[0]->kind == TYPE_EXPR_NAME) {
        impl->owner = PARSER_NEW(p, type_expr);
        *impl->owner = (type_expr){.kind = TYPE_EXPR_NAME, .span = owner->span};
        impl->owner->name = parser_printf(p, OWNER_DYN "%s", owner->arguments[0]->name);
    } else if (is_parameter(&impl->generics, owner)) {
        impl->owner = PARSER_NEW(p, type_expr);
        *impl->owner = (type_expr){.kind = TYPE_EXPR_NAME, .span = owner->span, .name = OWNER_ANY};
        impl->owner->is_shared = owner->is_shared;
        impl->owner->is_place = owner->is_place;
        impl->owner->refers = owner->refers;
        impl->owner->arguments = parser_alloc(p, sizeof owner);
        impl->owner->arguments[0] = owner;
        impl->owner->argument_count = 1;
    }
}

void parse_trait(parser *p) {
    parser_advance(p);
    trait_item *t = PARSER_NEW(p, trait_item);
    uint32_t capacity = 0;
    t->name = parser_declare(p, parser_name(p, &t->span));
    type_parameters none = {0};
    parse_type_parameters(p, &t->generics);
    if (t->name != NULL && parser_accept(p, TOKEN_COLON)) {
        type_parameter supertraits = {0};
        parse_bounds(p, &supertraits);
        t->supertraits = supertraits.bounds;
        t->supertrait_count = supertraits.bound_count;
        for (uint32_t i = 0; i < t->supertrait_count; i++) {
            const char *name = t->supertraits[i]->name;
            t->is_shown |= name != NULL && (strcmp(name, "Display") == 0 || strcmp(name, "Debug") == 0);
        }
    }
    parse_where(p, &none, NULL);
    source_span open = parser_span(p);
    if (t->name == NULL || !parser_expect(p, TOKEN_LEFT_BRACE)) {
        parser_synchronise(p);
        return;
    }
    while (!parser_is(p, TOKEN_RIGHT_BRACE) && !parser_is(p, TOKEN_END)) {
        uint32_t before = p->at;
        if (parser_is_word(p, "type")) {
            parse_associated(p, t);
            continue;
        }
        if (parser_is(p, TOKEN_CONST)) {
            parse_trait_const(p, t);
            continue;
        }
        function_item *f = parser_is(p, TOKEN_FN) ? parse_method_of_trait(p) : NULL;
        if (f != NULL)
            PARSER_PUSH(p, t->methods, t->method_count, capacity, f);
        else if (before == p->at)
            parser_expected(p, "`fn`");
        if (p->panic)
            parser_synchronise(p);
        if (p->at == before)
            parser_advance(p);
    }
    if (!parser_accept(p, TOKEN_RIGHT_BRACE))
        parser_unclosed(p, open);
    PARSER_PUSH(p, p->tree->traits, p->tree->trait_count, p->tree->trait_capacity, t);
}
