/* check_parse.c: s.parse() and x.into(), also where what is wanted of them is only known when the body has been
 * read. */
#include "language/front/check_call.h"
#include "language/front/check_convert.h"
#include "language/front/check_expr.h"
#include "language/library/library.h"
#include "language/types/check_context.h"
#include "language/types/check_instances.h"
#include "language/types/check_scopes.h"
#include "language/types/check_tree_made.h"
#include "language/types/check_variants.h"
#include "language/types/check_written.h"

/* impl FromStr for T */
static bool reads_itself(checker *c, const type *t) {
    return t->kind == TYPE_STRUCT && check_method_named(c, t->structure, "from_str") != NULL;
}

static const type *parse_target(checker *c, const expr *e, const type *expected) {
    const type *wish = c->around->parse_wish;
    c->around->parse_wish = NULL;
    expected = expected == NULL ? NULL : type_resolve(c->types, expected);
    if (e->call.type_argument_count == 1)
        return check_type(c, e->call.type_arguments[0]);
    if (expected != NULL && expected->kind == TYPE_STRUCT && expected->structure->template != NULL)
        wish = expected->structure->arguments[0];
    wish = wish == NULL ? NULL : type_resolve(c->types, wish);
    bool says = wish != NULL && (type_is_numeric(wish) || wish->kind == TYPE_BOOL || wish->kind == TYPE_CHAR ||
                                 wish->kind == TYPE_STRING || reads_itself(c, wish));
    return says && !type_is_open_number(wish) ? wish : NULL; /* an open one may yet be no number at all */
}

static bool type_is_u64(const type *t) {
    return t->kind == TYPE_U64 || t->kind == TYPE_USIZE;
}

static void parse_as(checker *c, expr **slot, const type *t, const type *expected) {
    expr *e = *slot;
    if (reads_itself(c, t)) {
        *slot = build_call(c, e->span, t->structure->name, "from_str", &e->call.receiver, 1);
        check_expr(c, slot, expected);
        return;
    }
    const char *name = t->kind == TYPE_BOOL     ? "__parse_bool"
                       : t->kind == TYPE_CHAR   ? "__parse_char"
                       : t->kind == TYPE_F32    ? "__parse_f32"
                       : t->kind == TYPE_F64    ? "__parse_f64"
                       : t->kind == TYPE_STRING ? "__parse_text"
                       : type_is_u64(t)         ? "__parse_u64"
                       : type_is_integer(t)     ? "__parse_i64"
                                                : NULL;
    if (name == NULL) {
        diagnostics_say(c->diagnostics, e->span, SAY(is_not_parsed_numbers_are_and), check_type_text(c, t));
        check_make_error(c, e);
        return;
    }
    expr *parsed = build_method(c, e->span, e->call.receiver, name, NULL, 0);
    if (t->kind == TYPE_USIZE) {
        parsed = check_map_cast(c, parsed, "usize");
    } else if (type_is_integer(t) && type_bits(t) < 64) {
        uint32_t bits = type_bits(t) - (type_is_signed(t) ? 1 : 0);
        int64_t high = (INT64_C(1) << bits) - 1;
        expr *ends[2] = {check_new_int(c, e->span, type_is_signed(t) ? -high - 1 : 0), check_new_int(c, e->span, high)};
        parsed = build_method(c, e->span, e->call.receiver, "__parse_within", ends, 2);
        parsed = check_map_cast(c, parsed, check_type_text(c, t));
    }
    parsed->call.name_span = e->call.name_span;
    *slot = parsed;
    check_expr(c, slot, NULL);
}

/* Its type is decided by what becomes of it; check_finish_parses. */
static void parse_later(checker *c, expr **slot) {
    expr *e = *slot;
    if (c->function == NULL || c->open->is_closing) {
        parse_as(c, slot, check_scalar(c, TYPE_I64), NULL);
        return;
    }
    const type **parts = CHECK_ARRAY(c, const type *, 2);
    parts[0] = type_open_number(c->types, TYPE_I64, e->call.name_span);
    parts[0]->number->is_parsed = true;
    parts[1] = type_open(c->types, NULL);
    c->open->has_open = true;
    e->type = check_struct_instance(c, check_form(c, SAID_RESULT), parts)->type;
    expr *text = e->call.receiver;
    e->kind = EXPR_CALL;
    e->call.receiver = NULL;
    e->call.operands = check_join_list(c, text, NULL, 0);
    e->call.operand_count = 1;
    late_parse later = {.e = e, .function = c->function, .parsed = parts[0], .error = parts[1]};
    CHECK_PUSH(c, c->open->parses.items, c->open->parses.count, c->open->parses.capacity, later);
}

void check_into_later(checker *c, expr **slot) {
    expr *e = *slot;
    e->call.operands = check_join_list(c, e->call.receiver, NULL, 0);
    e->call.operand_count = 1;
    e->call.receiver = NULL;
    e->kind = EXPR_CALL;
    e->type = type_open(c->types, NULL);
    c->open->has_open = true;
    late_parse later = {.e = e, .function = c->function, .parsed = e->type};
    CHECK_PUSH(c, c->open->parses.items, c->open->parses.count, c->open->parses.capacity, later);
}

expr *check_default_later(checker *c, source_span span, const type *t) {
    if (c->function == NULL || c->open->is_closing)
        return NULL;
    expr *e = check_new(c, EXPR_CALL, span, t);
    c->open->has_open = true;
    late_parse later = {.e = e, .function = c->function, .parsed = t, .is_default = true};
    CHECK_PUSH(c, c->open->parses.items, c->open->parses.count, c->open->parses.capacity, later);
    return e;
}

void check_settle_late(checker *c, const type *t) {
    for (uint32_t i = 0; t->kind == TYPE_OPEN && i < c->open->parses.count; i++) {
        const late_parse *p = &c->open->parses.items[i];
        const type *parsed = type_resolve(c->types, p->parsed);
        if (p->error == NULL && !p->is_default && parsed == t) { /* the value will do */
            check_fits(c, type_resolve(c->types, p->e->call.operands[0]->type), t);
            return;
        }
        if (p->error == NULL)
            continue;
        if (type_resolve(c->types, p->error) == t && type_is_numeric(parsed)) {
            struct_item *s = check_struct_named(c, type_is_float(parsed) ? "__ParseFloatError" : "__ParseIntError");
            check_fits(c, s->type, t);
            return;
        }
    }
}

void check_finish_parses(checker *c) {
    function_item *outer = c->function;
    for (uint32_t i = 0; i < c->open->parses.count; i++) {
        const late_parse p = c->open->parses.items[i];
        c->function = p.function;
        if (p.is_default) {
            check_finish_default(c, p.e, type_resolve(c->types, p.parsed));
            continue;
        }
        if (p.error == NULL) {
            check_settle_late(c, type_resolve(c->types, p.parsed));
            check_finish_into(c, p.e, type_resolve(c->types, p.parsed));
            continue;
        }
        expr *text = p.e->call.operands[0], *made = build_method(c, p.e->span, text, "parse", NULL, 0);
        made->call.name_span = p.e->call.name_span;
        const type *wanted = type_resolve(c->types, p.e->type);
        parse_as(c, &made, type_resolve(c->types, p.parsed), NULL);
        check_coerce(c, &made, wanted, NULL);
        *p.e = *made;
    }
    c->open->parses.count = 0;
    c->function = outer;
}

/* parse::<T>() yields a Result; which type is said by the call or by what is wanted. */
bool check_string_parse(checker *c, expr **slot, const type *expected) {
    expr *e = *slot;
    if (library_said_of(LIBRARY_form, e->call.name) != SAID_PARSE || e->call.arg_count > 0)
        return false;
    const type *t = parse_target(c, e, expected);
    if (t == NULL)
        parse_later(c, slot);
    else
        parse_as(c, slot, t, expected);
    return true;
}
