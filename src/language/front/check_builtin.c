/* check_builtin.c: assert, System, and the methods of strings and vectors. */
#include <string.h>

#include "language/front/check_call.h"
#include "language/front/check_convert.h"
#include "language/front/check_expr.h"
#include "language/front/check_place.h"
#include "language/front/check_text.h"
#include "language/front/check_types.h"
#include "language/library/library.h"
#include "language/syntax/lexer.h"
#include "language/types/check_context.h"
#include "language/types/check_instances.h"
#include "language/types/check_written.h"

/* ---- panic, assert --------------------------------------------------------------------------- */

/* The arguments from `first` on as one text; "panic" and its like when there are none. */
static expr *message_of(checker *c, const expr *e, uint32_t first, const char *otherwise) {
    expr *message = check_text_node(c, e->span, otherwise, strlen(otherwise));
    if (e->call.arg_count > first) {
        message = build_call(c, e->span, NULL, "format", e->call.args + first, e->call.arg_count - first);
        check_format(c, &message);
    }
    return message;
}

static void check_panic(checker *c, expr *e, const char *otherwise) {
    expr *message = message_of(c, e, 0, otherwise);
    check_become_abi(c, e, TL_FN_tl_panic, &message, 1);
}

/* __refuse("topk", "{} is not a number of elements", k): an operation of the library speaks in the name of the one
 * that was called. */
static void check_refuse(checker *c, expr *e) {
    expr *parts[2] = {NULL, NULL};
    if (e->call.arg_count < 2) {
        check_list(c, e->call.args, e->call.arg_count);
        check_count(c, e, "__refuse", 2, (source_span){0});
        return;
    }
    parts[0] = e->call.args[0];
    check_expr(c, &parts[0], check_scalar(c, TYPE_STRING));
    parts[1] = message_of(c, e, 1, "");
    check_become_abi(c, e, TL_FN_tl_refuse, parts, 2);
}

static void check_assert(checker *c, expr **slot) {
    expr *e = *slot;
    e->type = check_scalar(c, TYPE_VOID);
    if (e->call.arg_count == 0) {
        check_count(c, e, "assert", 1, (source_span){0});
        return;
    }
    check_condition(c, &e->call.args[0]);
    if (e->call.arg_count == 1) {
        check_become_abi(c, e, TL_FN_tl_assert, e->call.args, 1);
        return;
    }
    expr *message = message_of(c, e, 1, "");
    *slot = BUILD_QUOTE(c, e->span, "if !$0 { $1; }", e->call.args[0],
                        check_new_abi(c, TL_FN_tl_panic, e->span, &message, 1));
    check_expr(c, slot, check_scalar(c, TYPE_VOID));
}

static void check_assert_equal(checker *c, expr **slot, bool equal) {
    expr *e = *slot;
    source_span span = e->span;
    e->type = check_scalar(c, TYPE_VOID);
    if (e->call.arg_count < 2) {
        check_list(c, e->call.args, e->call.arg_count);
        check_count(c, e, equal ? "assert_eq" : "assert_ne", 2, (source_span){0});
        return;
    }
    if (check_free_literal(e->call.args[1])) {
        check_expr(c, &e->call.args[0], NULL);
        const type *t = type_resolve(c->types, e->call.args[0]->type);
        check_expr(c, &e->call.args[1], type_is_numeric(t) ? t : NULL);
    }
    expr *message = NULL;
    if (e->call.arg_count > 2)
        message = build_call(c, span, NULL, "format", e->call.args + 2, e->call.arg_count - 2);
    const char *text =
        message == NULL
            ? equal ? "{ let $left = $0; let $right = $1;"
                      " assert($left == $right, \"left is {:?}, right is {:?}\", $left, $right); }"
                    : "{ let $left = $0; let $right = $1; assert($left != $right, \"both are {:?}\", $left); }"
        : equal ? "{ let $left = $0; let $right = $1; assert($left == $right, \"{}\", $2); }"
                : "{ let $left = $0; let $right = $1; assert($left != $right, \"{}\", $2); }";
    *slot = BUILD_QUOTE(c, span, text, e->call.args[0], e->call.args[1], message);
    check_expr(c, slot, NULL);
}

/* ---- functions without a scope --------------------------------------------------------------- */

static void check_suggest_builtin(suggestion *s) {
    for (size_t i = 0; i < library_fact_words_count; i++) {
        const library_fact_word *w = &library_fact_words[i];
        if ((w->fact == LIBRARY_function || w->fact == LIBRARY_system) && w->name[0] != '_')
            suggest_add(s, w->name);
    }
}

void check_suggest_functions(const checker *c, suggestion *s) {
    for (uint32_t i = 0; i < c->tree->function_count && s->distance > 0; i++)
        if (c->tree->functions[i]->owner_name == NULL && !c->tree->functions[i]->is_closure)
            suggest_add(s, c->tree->functions[i]->name);
    names_suggest_types(c->names, s);
    check_suggest_builtin(s);
}

/* A function of the runtime, as the library declares it; all take whole numbers only. */
static bool system_function(checker *c, expr **slot, const char *name) {
    expr *e = *slot;
    const char *symbol = library_word(LIBRARY_system, name);
    tl_abi_index function = symbol == NULL ? TL_FN_COUNT : check_function_of_symbol(symbol);
    if (function == TL_FN_COUNT)
        return false;
    uint32_t wanted = 0;
    while (wanted < TL_ABI_MAX_PARAMETERS && tl_abi_functions[function].parameters[wanted].name != NULL)
        wanted++;
    for (uint32_t a = 0; a < e->call.arg_count; a++) {
        check_expr(c, &e->call.args[a], check_scalar(c, TYPE_I64));
        check_coerce(c, &e->call.args[a], check_scalar(c, TYPE_I64), NULL);
    }
    check_make_error(c, e);
    if (check_count(c, e, name, wanted, (source_span){0}))
        check_become_abi(c, e, function, e->call.args, e->call.arg_count);
    return true;
}

bool check_builtin_function(checker *c, expr **slot, const char *name) {
    expr *e = *slot;
    switch (library_said_of(LIBRARY_function, name)) {
    case SAID_PRINT:
        check_print(c, slot, false);
        return true;
    case SAID_PRINT_LINE:
        check_print(c, slot, true);
        return true;
    case SAID_PRINT_ERROR:
        check_print_error(c, slot, false);
        return true;
    case SAID_PRINT_ERROR_LINE:
        check_print_error(c, slot, true);
        return true;
    case SAID_FORMAT:
        check_format(c, slot);
        return true;
    case SAID_WRITE:
    case SAID_WRITE_LINE:
        if (e->call.arg_count == 0)
            return false;
        check_write_text(c, slot, library_said_of(LIBRARY_function, name) == SAID_WRITE_LINE);
        return true;
    case SAID_PANIC:
        check_panic(c, e, "panic");
        return true;
    case SAID_REFUSE:
        check_refuse(c, e);
        return true;
    case SAID_UNREACHABLE:
        check_panic(c, e, "this was never to be reached");
        return true;
    case SAID_UNWRITTEN:
        check_panic(c, e, "this is not written yet");
        return true;
    case SAID_ASSERT:
        check_assert(c, slot);
        return true;
    case SAID_ASSERT_EQUAL:
        check_assert_equal(c, slot, true);
        return true;
    case SAID_ASSERT_UNEQUAL:
        check_assert_equal(c, slot, false);
        return true;
    case SAID_RANGE:
        check_range_call(c, slot);
        return true;
    default:
        return system_function(c, slot, name);
    }
}

/* ---- T::f() of the language ------------------------------------------------------------------ */

static void vec_new(checker *c, expr *e, const type *expected) {
    const name_expr *callee = &e->call.callee->name;
    const type *wish = expected == NULL ? NULL : type_resolve(c->types, expected);
    if (callee->argument_count == 1) {
        const type *element = check_type(c, callee->arguments[0]);
        e->type = element->kind == TYPE_ERROR ? element : type_vec(c->types, element);
    } else if (wish != NULL && wish->kind == TYPE_VEC) {
        e->type = wish;
    } else {
        c->open->has_open = true;
        e->type = type_vec(c->types, type_open(c->types, NULL));
    }
    e->call.kind = CALL_VEC_NEW;
}

static bool string_static(checker *c, expr **slot, const char *name) {
    expr *e = *slot;
    const library_said form = library_said_of(LIBRARY_form, name);
    if (form == SAID_NEW && e->call.arg_count == 0) {
        e->kind = EXPR_STRING;
        e->string.data = "";
        e->string.length = 0;
        e->type = check_scalar(c, TYPE_STRING);
        return true;
    }
    if ((form == SAID_FROM || form == SAID_FROM_TEXT) && e->call.arg_count == 1) {
        check_expr(c, &e->call.args[0], check_scalar(c, TYPE_STRING));
        if (type_resolve(c->types, e->call.args[0]->type)->kind == TYPE_CHAR)
            e->call.args[0] = check_text_of(c, e->call.args[0], 0);
        check_coerce(c, &e->call.args[0], check_scalar(c, TYPE_STRING), NULL);
        *slot = e->call.args[0];
        return true;
    }
    return false;
}

bool check_builtin_scope(checker *c, expr **slot, const type *expected) {
    expr *e = *slot;
    const char *scope = e->call.callee->name.scope, *name = e->call.callee->name.name;
    if (check_same_text(scope, "Vec") && library_said_of(LIBRARY_form, name) == SAID_NEW && e->call.arg_count == 0) {
        vec_new(c, e, expected);
        return true;
    }
    if (check_same_text(scope, "String"))
        return string_static(c, slot, name);
    if (library_said_of(LIBRARY_type_form, scope) == SAID_SYSTEM)
        return system_function(c, slot, name);
    return e->call.arg_count == 0 && check_scalar_constant(c, e, scope, name, true);
}

/* ---- methods of strings ---------------------------------------------------------------------- */

static void become_length(checker *c, expr **slot, tl_abi_index abi, bool is_empty) {
    source_span span = (*slot)->span;
    expr *length = check_new_abi(c, abi, span, &(*slot)->call.receiver, 1);
    *slot = !is_empty ? length
                      : check_new_binary(c, BINARY_EQ, length, check_new_int(c, span, 0), check_scalar(c, TYPE_BOOL));
    if (!is_empty)
        check_cast_to(c, slot, check_scalar(c, TYPE_USIZE));
}

/* Functions of the runtime that the library says methods of String are. What they take is texts and whole numbers.
 * yields: s String, b bool, i i64, c char, v Vec<String>, w Vec<char>, u Vec<u8>. */
typedef struct text_function {
    tl_abi_index abi;
    char yields;
} text_function;

static const text_function text_functions[] = {
    {TL_FN_tl_string_concat, 's'},       {TL_FN_tl_string_contains, 'b'},     {TL_FN_tl_string_starts_with, 'b'},
    {TL_FN_tl_string_ends_with, 'b'},    {TL_FN_tl_string_index_of, 'i'},     {TL_FN_tl_string_substring, 's'},
    {TL_FN_tl_string_char_at, 'c'},      {TL_FN_tl_string_trim, 's'},         {TL_FN_tl_string_split, 'v'},
    {TL_FN_tl_string_words, 'v'},        {TL_FN_tl_string_chars, 'w'},        {TL_FN_tl_string_replace, 's'},
    {TL_FN_tl_string_to_uppercase, 's'}, {TL_FN_tl_string_to_lowercase, 's'}, {TL_FN_tl_string_repeat, 's'},
    {TL_FN_tl_string_to_i64, 'i'},       {TL_FN_tl_string_bytes, 'u'},
};

static const text_function *text_function_of(const char *name) {
    const char *symbol = library_word(LIBRARY_text_call, name);
    for (size_t i = 0; symbol != NULL && i < sizeof text_functions / sizeof text_functions[0]; i++)
        if (strcmp(tl_abi_functions[text_functions[i].abi].symbol, symbol) == 0)
            return &text_functions[i];
    return NULL;
}

static const type *letter_type(checker *c, char letter) {
    switch (letter) {
    case 'b':
        return check_scalar(c, TYPE_BOOL);
    case 'i':
        return check_scalar(c, TYPE_I64);
    case 'c':
        return check_scalar(c, TYPE_CHAR);
    case 'v':
        return type_vec(c->types, check_scalar(c, TYPE_STRING));
    case 'w':
        return type_vec(c->types, check_scalar(c, TYPE_CHAR));
    case 'u':
        return type_vec(c->types, check_scalar(c, TYPE_U8));
    default:
        return check_scalar(c, TYPE_STRING);
    }
}

/* s.split(&separators[..]): a list of characters, or a function. */
static bool takes_letters(checker *c, expr *e) {
    if (e->call.arg_count == 0)
        return false;
    expr **slot = &e->call.args[0];
    const expr *bare = *check_behind(slot);
    bool view = bare->kind == EXPR_METHOD && bare->call.arg_count == 0 && bare->call.receiver->kind == EXPR_NAME &&
                library_said_of(LIBRARY_form, bare->call.name) == SAID_NOTHING;
    if (bare->kind != EXPR_NAME && bare->kind != EXPR_FIELD && bare->kind != EXPR_INDEX && !view)
        return false;
    if ((*slot)->type == NULL)
        check_expr(c, slot, NULL);
    const type *t = type_resolve(c->types, (*slot)->type);
    return t->kind == TYPE_VEC || (type_is_reference(t) && type_is_slice(t)) ||
           (t->kind == TYPE_STRUCT && t->structure->closure != NULL);
}

static bool table_method(checker *c, expr **slot) {
    expr *e = *slot;
    const expr *first = e->call.arg_count > 0 ? *check_behind(&e->call.args[0]) : NULL;
    bool function = first != NULL && first->type == NULL &&
                    (first->kind == EXPR_CLOSURE || first->kind == EXPR_ARRAY ||
                     (first->kind == EXPR_NAME && first->name.scope != NULL));
    const text_function *f = function ? NULL : text_function_of(e->call.name);
    if (f == NULL || takes_letters(c, e))
        return false;
    const tl_abi_parameter *takes = tl_abi_functions[f->abi].parameters + 1; /* behind the text itself */
    uint32_t count = 0;
    while (count + 1 < TL_ABI_MAX_PARAMETERS && takes[count].name != NULL)
        count++;
    bool good = check_count(c, e, e->call.name, count, (source_span){0});
    for (uint32_t a = 0; a < e->call.arg_count; a++) {
        const bool text = good && takes[a].kind == ABI_object;
        const type *t = good ? check_scalar(c, text ? TYPE_STRING : TYPE_I64) : NULL;
        check_expr(c, &e->call.args[a], t);
        if (text && e->call.args[a]->type->kind == TYPE_CHAR)
            e->call.args[a] = check_text_of(c, e->call.args[a], 0);
        good = good && check_coerce(c, &e->call.args[a], t, NULL);
    }
    if (!good) {
        check_make_error(c, e);
        return true;
    }
    const type *yields = letter_type(c, f->yields);
    check_become_abi(c, e, f->abi, check_join_list(c, e->call.receiver, e->call.args, e->call.arg_count),
                     e->call.arg_count + 1);
    if (yields->kind == TYPE_CHAR)
        check_cast_to(c, slot, yields);
    else
        e->type = yields;
    return true;
}

/* Calls of the runtime by the library's own methods: one that takes a number changes the list or text. */
static bool room_method(checker *c, expr **slot) {
    expr *e = *slot;
    const bool list = type_is(type_resolve(c->types, e->call.receiver->type), TYPE_VEC);
    const char *symbol = library_word(list ? LIBRARY_list_room : LIBRARY_text_room, e->call.name);
    tl_abi_index function = symbol == NULL ? TL_FN_COUNT : check_function_of_symbol(symbol);
    const bool writes = function != TL_FN_COUNT && tl_abi_functions[function].parameters[1].name != NULL;
    if (function == TL_FN_COUNT || e->call.arg_count != writes)
        return false;
    expr *operands[2] = {e->call.receiver, NULL};
    if (writes) {
        check_expr(c, &e->call.args[0], check_scalar(c, TYPE_I64));
        check_coerce_branch(c, &e->call.args[0], check_scalar(c, TYPE_I64), NULL);
        operands[1] = e->call.args[0];
    }
    bool place = writes && check_is_place(operands[0]) && check_write(c, operands[0], e->span, WRITE_METHOD);
    *slot = check_new_abi(c, function, e->span, operands, 1 + writes);
    (*slot)->type = check_scalar(c, writes ? TYPE_VOID : TYPE_I64);
    (*slot)->call.writes_receiver = place;
    return true;
}

bool check_string_method(checker *c, expr **slot, const type *expected) {
    expr *e = *slot;
    const char *name = e->call.name, *to = library_word(LIBRARY_converts, name);
    uint32_t args = e->call.arg_count;
    const library_said said = library_said_of(LIBRARY_of_texts, name);
    if (args == 0 && (said == SAID_LENGTH || said == SAID_EMPTY)) {
        become_length(c, slot, TL_FN_tl_string_len, said == SAID_EMPTY);
    } else if (args == 0 && to != NULL && to[0] == 'f') {
        check_become_abi(c, e, TL_FN_tl_string_to_f64, &e->call.receiver, 1);
        check_cast_to(c, slot, check_scalar(c, scalar_type_of_name(to, strlen(to))));
    } else if (args == 1 && said == SAID_IS_NUMBER) {
        check_expr(c, &e->call.args[0], NULL);
        expr *operands[2] = {e->call.receiver, e->call.args[0]};
        check_become_abi(c, e, TL_FN_tl_string_is_number, operands, 2);
    } else if (args == 1 && said == SAID_PUSH) {
        *slot = BUILD_QUOTE(c, e->span, "$0 = $1 + $2", check_copy_place(c, e->call.receiver), e->call.receiver,
                            e->call.args[0]);
        check_expr(c, slot, NULL);
    } else {
        return room_method(c, slot) || check_string_parse(c, slot, expected) || table_method(c, slot);
    }
    return true;
}

/* ---- methods of vectors ---------------------------------------------------------------------- */

static void become_vec_call(checker *c, expr *e, call_kind kind, const type *t) {
    uint32_t count = e->call.arg_count + 1;
    expr **operands = check_join_list(c, e->call.receiver, e->call.args, e->call.arg_count);
    e->kind = EXPR_CALL;
    e->type = t;
    e->call.kind = kind;
    e->call.operands = operands;
    e->call.operand_count = count;
    if (kind == CALL_VEC_PUSH || kind == CALL_VEC_SET || kind == CALL_VEC_POP || kind == CALL_VEC_OUT)
        e->call.writes_receiver = check_is_place(operands[0]) && check_write(c, operands[0], e->span, WRITE_METHOD);
}

static void vec_argument(checker *c, expr **slot, const type *t) {
    check_expr(c, slot, t->kind == TYPE_OPEN ? NULL : t);
    check_coerce_branch(c, slot, type_resolve(c->types, t), NULL);
}

/* Arrays keep their length. */
static bool may_grow(const expr *e) {
    return e->call.receiver->type->vec.length < 0;
}

bool check_is_list_method(const char *name) {
    return library_says(LIBRARY_of_lists, name);
}

bool check_vec_method(checker *c, expr **slot) {
    expr *e = *slot;
    const char *name = e->call.name;
    const type *element = e->call.receiver->type->vec.element, *integer = check_scalar(c, TYPE_I64);
    uint32_t args = e->call.arg_count;
    const library_said said = library_said_of(LIBRARY_of_lists, name);
    if (args == 0 && (said == SAID_LENGTH || said == SAID_EMPTY)) {
        become_length(c, slot, TL_FN_tl_vec_len, said == SAID_EMPTY);
    } else if (args == 0 && said == SAID_POP) {
        become_vec_call(c, e, CALL_VEC_POP, element);
    } else if (args == 1 && said == SAID_OUT) {
        vec_argument(c, &e->call.args[0], integer);
        become_vec_call(c, e, CALL_VEC_OUT, element);
    } else if (args == 1 && said == SAID_PUSH && may_grow(e)) {
        if (type_is(type_resolve(c->types, element), TYPE_OPEN))
            check_keep_reference(e->call.args[0]);
        vec_argument(c, &e->call.args[0], element);
        become_vec_call(c, e, CALL_VEC_PUSH, check_scalar(c, TYPE_VOID));
    } else if (room_method(c, slot)) {
        return true;
    } else if (args == 1 && said == SAID_GET) {
        vec_argument(c, &e->call.args[0], integer);
        become_vec_call(c, e, CALL_VEC_GET, element);
    } else if (args == 2 && said == SAID_SET) {
        vec_argument(c, &e->call.args[0], integer);
        vec_argument(c, &e->call.args[1], element);
        become_vec_call(c, e, CALL_VEC_SET, check_scalar(c, TYPE_VOID));
    } else if (said == SAID_PUSH && args != 1 && may_grow(e) &&
               check_method_named(c, check_owner_of(c, e->call.receiver->type), name) == NULL) {
        check_count(c, e, name, 1, (source_span){0});
        check_list(c, e->call.args, args);
        check_make_error(c, e);
    } else {
        return false;
    }
    return true;
}
