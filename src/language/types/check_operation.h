/* check_operation.h: operations of the table by name, and calls of the runtime as nodes. */
#ifndef MASU_LANGUAGE_TYPES_CHECK_OPERATION_H
#define MASU_LANGUAGE_TYPES_CHECK_OPERATION_H

#include <string.h>

#include "language/library/library.h"
#include "language/types/check_context.h"

void check_suggest_methods(const checker *c, const type *t, suggestion *s); /* of values of type t */
void check_finish_pending(checker *c, expr *e, function_item *made);
bool check_comes_back(const binding *parameter); /* of type `&mut T` */
bool check_is_parse(const expr *e);              /* s.parse(), x.try_into(), not checked yet */
/* Whether a Vec has such a method and a tensor has none. */
bool check_only_lists_have(checker *c, const char *name);
expr *check_new_abi(checker *c, tl_abi_index abi, source_span span, expr *const *operands, uint32_t count);
/* Says once of each subject that it is outside of the language (outside.h); false: it is nothing of the kind. */
bool check_report_outside(checker *c, source_span span, const char *scope, const char *name);
bool check_is_abi_method(const char *name);
bool check_abi_scope(const char *scope);
void check_suggest_abi(const char *scope, suggestion *s);
/* The call's node becomes one of a single ABI function with these operands, already checked. */
const type *check_kind_type(checker *c, tl_abi_kind kind);
void check_become_abi(checker *c, expr *e, tl_abi_index abi, expr *const *operands, uint32_t count);
/* Asked of every row for every call: most differ in their first letter. */
static inline bool check_abi_named(const tl_abi_name *n, const char *scope, const char *name) {
    return n->name[0] == name[0] && strcmp(n->name, name) == 0 && strcmp(n->scope, scope) == 0;
}
bool check_abi_known(const char *scope, const char *name);
tl_abi_index check_function_of_symbol(const char *symbol); /* TL_FN_COUNT: there is none */
bool check_takes_shape(const tl_abi_parameter *p);         /* several numbers, in the order of the dimensions */
static inline bool check_is_string_method(const char *name) {
    return library_says(LIBRARY_of_texts, name) || library_word(LIBRARY_text_call, name) != NULL;
}

#endif
