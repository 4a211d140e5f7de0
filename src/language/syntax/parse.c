/* parse.c: from files to trees. A file of its own, as what parser.c offers to the files of the parser needs none of
 * them.
 */
#include <string.h>

#include "language/syntax/parser_private.h"

/* `mod`, or an item in the body of a function. */
static bool has_modules(const token_list *list) {
    uint32_t depth = 0, body = 0; /* 0: outside of functions */
    bool head = false;
    for (uint32_t i = 0; i + 1 < list->count; i++) {
        switch (list->tokens[i].kind) {
        case TOKEN_MOD:
            return true;
        case TOKEN_LEFT_BRACE:
            depth++;
            body = head && body == 0 ? depth : body;
            head = false;
            break;
        case TOKEN_RIGHT_BRACE:
            body = body == depth ? 0 : body;
            depth -= depth > 0;
            break;
        case TOKEN_SEMICOLON:
            head = false;
            break;
        default:
            if (body > 0 && parser_declares(&list->tokens[i]))
                return true;
            head |= list->tokens[i].kind == TOKEN_FN && list->tokens[i + 1].kind == TOKEN_NAME;
            break;
        }
    }
    return false;
}

/* Names with `__` in front are the library's own: a program that uses one would break when the library changes. */
static void refuse_inner_names(parser *p) {
    for (uint32_t i = 0; i < p->list.count; i++) {
        const token *t = &p->list.tokens[i];
        const char *text = p->file->text + t->offset;
        if (t->kind != TOKEN_NAME || t->length < 2 || text[0] != '_' || text[1] != '_')
            continue;
        source_span span = {p->file, t->offset, t->length};
        diagnostic *d = diagnostics_say(p->diagnostics, span, SAY(name_is_the_librarys_own), (int)t->length, text);
        diagnostics_note(p->diagnostics, d, (source_span){0}, "begin it with one `_` or with a letter");
    }
}

static bool says_no_grad(const parser *p) {
    static const char word[] = "no_grad";
    for (uint32_t i = 0; i < p->list.count; i++) {
        const token *t = &p->list.tokens[i];
        if (t->kind == TOKEN_NAME && t->length == sizeof word - 1 &&
            memcmp(p->file->text + t->offset, word, sizeof word - 1) == 0)
            return true;
    }
    return false;
}

static masu_status parse_into(syntax_tree *tree, const source_file *file, module_scope *module,
                              diagnostics *diagnostics) {
    parser p = {.file = file, .arena = tree->arena, .diagnostics = diagnostics, .tree = tree, .module = module};
    masu_status status = file == tree->prelude ? lex_heads(file, tree->arena, diagnostics, &p.list)
                                               : lex_source(file, tree->arena, diagnostics, &p.list);
    if (status != MASU_OK)
        return status;
    if (file == tree->file && tree->names == NULL && has_modules(&p.list)) {
        tree->names = modules_new(tree->arena);
        if (tree->names == NULL)
            return MASU_ERR_OUT_OF_MEMORY;
    }
    if (file == tree->file && tree->names != NULL)
        p.module = modules_root(tree->names);
    if (setjmp(p.memory_ended) != 0)
        return MASU_ERR_OUT_OF_MEMORY;
    if (file != tree->prelude) {
        if (tree->prelude != NULL) /* else the text may be the library itself, which is laid out */
            refuse_inner_names(&p);
        tree->unrecords |= says_no_grad(&p);
        parser_close_braces(&p);
    }
    parse_items(&p);
    return diagnostics->out_of_memory ? MASU_ERR_OUT_OF_MEMORY : MASU_OK;
}

masu_status parse_source(const source_file *file, const source_file *prelude, masu__arena *arena,
                         diagnostics *diagnostics, module_names *names, syntax_tree **out) {
    syntax_tree *tree = masu__arena_calloc(arena, 1, sizeof *tree, _Alignof(syntax_tree));
    if (tree == NULL)
        return MASU_ERR_OUT_OF_MEMORY;
    tree->arena = arena;
    tree->file = file;
    tree->prelude = prelude;
    tree->names = names;
    masu_status status = prelude == NULL ? MASU_OK : parse_into(tree, prelude, NULL, diagnostics);
    if (status == MASU_OK)
        status = parse_into(tree, file, NULL, diagnostics);
    if (status == MASU_OK)
        *out = tree;
    return status;
}

masu_status parse_module(syntax_tree *tree, const source_file *file, module_scope *module, diagnostics *diagnostics) {
    return parse_into(tree, file, module, diagnostics);
}

masu_status parse_unread(syntax_tree *tree, function_item *f, diagnostics *diagnostics) {
    parser p = {.file = f->unread.file, .arena = tree->arena, .diagnostics = diagnostics, .tree = tree};
    masu_status status = lex_part(f->unread.file, f->unread.offset, f->unread.length, tree->arena, diagnostics,
                                  &p.list);
    if (status != MASU_OK)
        return status;
    if (setjmp(p.memory_ended) != 0)
        return MASU_ERR_OUT_OF_MEMORY;
    f->body = parse_block(&p);
    f->unread = (source_span){0};
    return diagnostics->out_of_memory ? MASU_ERR_OUT_OF_MEMORY : MASU_OK;
}
