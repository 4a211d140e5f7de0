/* check_infer_shown.c: what it says of a value that it is printed.
 *
 * `{:?}` prefers a list where a bracket may be one. A row that is shown is shown as what it is when the program runs.
 */
#include <string.h>

#include "language/front/check_infer.h"
#include "language/library/library.h"

static bool is_shown_by(library_said function) {
    return function == SAID_PRINT || function == SAID_PRINT_LINE || function == SAID_PRINT_ERROR ||
           function == SAID_PRINT_ERROR_LINE || function == SAID_FORMAT;
}

void infer_shown(inference *n, const expr *e, const char *name, const type **arguments) {
    for (uint32_t i = 0; i < e->call.arg_count && is_shown_by(library_said_of(LIBRARY_function, name)); i++) {
        const open_form *f = infer_form_of(infer_value(n, arguments[i]));
        const type *row = f != NULL && f->kind == FORM_TRUTH ? infer_value(n, f->element)
                                                             : infer_value(n, arguments[i]);
        if (infer_is_row(row))
            row->open.form->is_shown = true;
    }
    const expr *text = e->call.arg_count > 1 ? e->call.args[0] : NULL;
    if (text == NULL || text->kind != EXPR_STRING)
        return;
    uint32_t next = 1;
    const char *at = text->string.data, *end = at + text->string.length;
    for (; at < end && next < e->call.arg_count; at++) {
        if (at + 1 < end && *at == '{' && at[1] == '{') {
            at++;
        } else if (*at == '{') {
            const char *close = memchr(at, '}', (size_t)(end - at));
            bool debug = close != NULL && close[-1] == '?';
            bool unnamed = close != NULL && (at[1] == '}' || at[1] == ':');
            if (unnamed && debug)
                infer_prefer_list(n, arguments[next]);
            next += unnamed;
        }
    }
}
