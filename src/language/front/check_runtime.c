/* check_runtime.c: how the library calls the runtime: __runtime::tl_file_open(path, mode), a line of the table by its symbol.
 * And __runtime::held::<T>(x): the T that a value of a dyn type is, None of another. Only the library's text may.
 */
#include <string.h>

#include "language/front/check_call.h"
#include "language/front/check_context.h"
#include "language/front/check_convert.h"
#include "language/front/check_dyn.h"
#include "language/front/check_expr.h"

static tl_abi_index function_of_symbol(const char *symbol) {
    tl_abi_index at = 0;
    while (at < TL_FN_COUNT && strcmp(tl_abi_functions[at].symbol, symbol) != 0) {
        at++;
    }
    return at;
}

/* What the table calls an object is what is wanted of it, a String where nothing is. */
bool check_runtime_call(checker *c, expr *e, const type *expected) {
    const char *scope = e->call.callee->name.scope;
    if (strcmp(scope, "__runtime") != 0 || e->span.file != c->tree->prelude) {
        return false;
    }
    if (strcmp(e->call.callee->name.name, "held") == 0 && check_dyn_held(c, e)) {
        return true;
    }
    tl_abi_index function = function_of_symbol(e->call.callee->name.name);
    const tl_abi_parameter *p = function == TL_FN_COUNT ? NULL : tl_abi_functions[function].parameters;
    uint32_t count = 0;
    while (p != NULL && count < TL_ABI_MAX_PARAMETERS && p[count].name != NULL) {
        count++;
    }
    if (p == NULL || count != e->call.arg_count) {
        check_list(c, e->call.args, e->call.arg_count);
        check_make_error(c, e);
        diagnostics_say(c->diagnostics, e->span, SAY(there_is_no_function), e->call.callee->name.name);
        return true;
    }
    for (uint32_t i = 0; i < count; i++) {
        const type *wanted = p[i].kind == ABI_object ? NULL : check_kind_type(c, p[i].kind);
        check_expr(c, &e->call.args[i], wanted);
        if (wanted != NULL) {
            check_coerce(c, &e->call.args[i], wanted, NULL);
        }
    }
    check_become_abi(c, e, function, e->call.args, count);
    if (tl_abi_functions[function].result == ABI_object && expected != NULL) {
        e->type = type_resolve(c->types, expected);
    }
    return true;
}
