/* check_main.c: where a program starts. A `main` that yields something is called by one that does not: the number that
 * it ends with is dropped, an `Err` ends the program as panic does.
 *
 *     fn main() -> Result<(), String> { … }   ─►   fn <main>() -> … { … }   fn main() { __end(<main>()); }
 */
#include <string.h>

#include "language/front/check_items.h"
#include "language/library/library.h"
#include "language/types/check_context.h"
#include "language/types/check_scopes.h"
#include "language/types/check_tree_made.h"

static function_item *main_with_result(const syntax_tree *tree) {
    for (uint32_t i = 0; i < tree->function_count; i++) {
        function_item *f = tree->functions[i];
        const type_expr *result = f->result_annotation;
        if (f->owner_name != NULL || strcmp(f->name, "main") != 0 || result == NULL || f->parameter_count > 0 ||
            f->generics.count > 0)
            continue;
        bool nothing = (result->kind == TYPE_EXPR_TUPLE && result->argument_count == 0) ||
                       (result->kind == TYPE_EXPR_NAME && strcmp(result->name, "void") == 0);
        return nothing ? NULL : f;
    }
    return NULL;
}

static void add_main(checker *c, source_span span, block_builder *b) {
    function_item *outer = CHECK_ARRAY(c, function_item, 1);
    *outer = (function_item){.name = "main",
                             .qualified = "main",
                             .span = span,
                             .body = build_finish(b, NULL)->block,
                             .index = c->tree->function_count};
    CHECK_PUSH(c, c->tree->functions, c->tree->function_count, c->tree->function_capacity, outer);
}

/* fn main() { __exports(); }: what it calls is written by exports.c. */
static void add_main_of_module(checker *c) {
    source_span span = source_span_make(c->tree->file, 0, 0);
    source_span hidden = source_span_make(c->tree->prelude, 0, 0); /* no error shows this call */
    block_builder b = build_block(c, hidden);
    build_stmt(&b, build_call(c, hidden, NULL, "__exports", NULL, 0));
    add_main(c, span, &b);
}

void check_main_result(checker *c) {
    function_item *inner = c->tree->is_module ? NULL : main_with_result(c->tree);
    if (c->tree->is_module)
        add_main_of_module(c);
    if (inner == NULL || inner->span.file == c->tree->prelude)
        return;
    const type_expr *result = inner->result_annotation;
    bool attempt = result->kind == TYPE_EXPR_NAME && library_said_of(LIBRARY_type_form, result->name) == SAID_RESULT;
    inner->name = "<main>";
    block_builder b = build_block(c, inner->span);
    expr *call = build_call(c, inner->span, NULL, "<main>", NULL, 0);
    if (attempt)
        build_stmt(&b, build_call(c, inner->span, NULL, "__end", &call, 1));
    else
        build_let(&b, "_", false, call);
    add_main(c, inner->span, &b);
}

/* The function whose body is the program's: `main`, or what a `main` that yields nothing calls. */
static function_item *first_function(const syntax_tree *tree) {
    function_item *main = NULL;
    for (uint32_t i = 0; i < tree->function_count; i++) {
        function_item *f = tree->functions[i];
        bool inner = strcmp(f->name, "<main>") == 0;
        if (f->owner_name == NULL && f->body != NULL && (inner || (main == NULL && strcmp(f->name, "main") == 0)))
            main = f;
        if (inner)
            break;
    }
    return main;
}

void check_made_lets(checker *c) {
    function_item *main = first_function(c->tree);
    if (main == NULL)
        return;
    stmt *own = main->body->first;
    block_builder b = {.c = c, .block = main->body};
    main->body->first = NULL;
    for (uint32_t i = 0; i < c->tree->constant_count; i++) {
        const const_item *item = c->tree->constants[i];
        if (item->is_made && c->tree->is_module) {
            diagnostics_say(c->diagnostics, item->span, SAY(never_runs_in_module));
        } else if (item->is_made) {
            build_let(&b, item->name, false, item->value);
            b.last->span = b.last->pattern->span = b.last->pattern->binding->span = item->span;
            b.last->annotation = item->annotation;
        }
    }
    if (b.last != NULL)
        b.last->next = own;
    else
        main->body->first = own;
}

void check_find_main(checker *c) {
    symbol *s = check_find(c, "main");
    if (s == NULL || s->function == NULL) {
        if (c->diagnostics->error_count == 0) { /* else it may be what could not be read */
            diagnostic *d = diagnostics_say(c->diagnostics, source_span_make(c->tree->file, 0, 0),
                                            SAY(there_is_no_function_main));
            diagnostics_note(c->diagnostics, d, (source_span){0}, "a program starts at `fn main() { … }`");
        }
        return;
    }
    if (s->function->is_template) {
        diagnostics_say(c->diagnostics, s->function->span, SAY(main_is_not_generic));
        return;
    }
    c->tree->main = s->function;
    if (s->function->parameter_count > 0) {
        diagnostic *d = diagnostics_say(c->diagnostics, s->function->parameters[0]->span,
                                        SAY(main_takes_no_parameters));
        diagnostics_note(c->diagnostics, d, (source_span){0}, "`args_get(i)` reads the program's arguments");
    }
}
