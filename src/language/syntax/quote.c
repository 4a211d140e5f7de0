/* quote.c: see quote.h. */
#include <string.h>

#include "base/assert.h"
#include "language/syntax/parser_private.h"
#include "language/syntax/quote.h"

struct quoted {
    const char *text;
    const expr *tree;
    const trait_item *trait; /* of a text that is one */
    struct quoted *next;
};

static const trait_item *read_trait(syntax_tree *tree, const char *text) {
    source_file *file = MASU_ARENA_NEW(tree->arena, source_file);
    syntax_tree *apart = MASU_ARENA_NEW(tree->arena, syntax_tree);
    diagnostics found;
    diagnostics_init(&found, tree->arena);
    if (file == NULL || apart == NULL || source_file_init(file, tree->arena, "<quote>", text, strlen(text)) != MASU_OK)
        return NULL;
    *apart = (syntax_tree){.arena = tree->arena, .file = file};
    parser p = {.file = file, .arena = tree->arena, .diagnostics = &found, .tree = apart};
    if (lex_source(file, tree->arena, &found, &p.list) != MASU_OK || setjmp(p.memory_ended) != 0)
        return NULL;
    parse_trait(&p);
    MASU_DEBUG_ASSERT(found.count == 0 && apart->trait_count == 1);
    return apart->traits[0];
}

const trait_item *quote_trait(syntax_tree *tree, const char *text) {
    struct quoted *q = tree->quotes;
    while (q != NULL && q->text != text)
        q = q->next;
    if (q != NULL)
        return q->trait;
    const trait_item *trait = read_trait(tree, text);
    q = trait != NULL ? MASU_ARENA_NEW(tree->arena, struct quoted) : NULL;
    if (q == NULL)
        return NULL;
    *q = (struct quoted){.text = text, .trait = trait, .next = tree->quotes};
    tree->quotes = q;
    return trait;
}

static expr *read_quote(syntax_tree *tree, const char *text) {
    source_file *file = MASU_ARENA_NEW(tree->arena, source_file);
    diagnostics found;
    diagnostics_init(&found, tree->arena);
    parser p = {.file = file, .arena = tree->arena, .diagnostics = &found, .tree = tree};
    if (file == NULL || source_file_init(file, tree->arena, "<quote>", text, strlen(text)) != MASU_OK ||
        lex_quote(file, tree->arena, &found, &p.list) != MASU_OK)
        return NULL;
    if (setjmp(p.memory_ended) != 0)
        return NULL;
    expr *e = parse_expression(&p);
    MASU_DEBUG_ASSERT(found.count == 0 && parser_is(&p, TOKEN_END));
    return e;
}

expr *quote_write(syntax_tree *tree, const char *text, source_span span, uint32_t number, expr *const *parts,
                  uint32_t count) {
    struct quoted *q = tree->quotes;
    while (q != NULL && q->text != text)
        q = q->next;
    if (q == NULL) {
        q = MASU_ARENA_NEW(tree->arena, struct quoted);
        const expr *e = q == NULL ? NULL : read_quote(tree, text);
        if (e == NULL)
            return NULL;
        *q = (struct quoted){.text = text, .tree = e, .next = tree->quotes};
        tree->quotes = q;
    }
    return expr_fill(tree->arena, q->tree, &(quote_use){span, number, parts, count, 0});
}
