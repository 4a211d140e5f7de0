/* braces.c: a `}` that is missing. The parser would notice it at the end of the file, far from the mistake, after it
 * took everything behind it for something else. Where braces do not come out even, the indentation says which `{` was
 * forgotten:
 *
 *     fn f(x: i64) -> i64 {
 *         if x > 0 {                 this one: what follows is not deeper than its own line
 *             x + 1
 *         else { x }                 a `}` is put in front of it, and the rest is read as if it had been there
 *     }
 *
 * What must stay true (tests/golden/err_teach_syntax): a file whose braces come out even is left as it is; an error is
 * reported for each `}` that is added.
 */

#include "language/syntax/parser_private.h"

typedef struct open_brace {
    uint32_t token;
    uint32_t column; /* of the first character of its line */
} open_brace;

/* Every brace of a long line asks, so the line's beginning is not looked for letter by letter. */
static uint32_t line_column(const parser *p, uint32_t offset) {
    const char *text = p->file->text;
    uint32_t from = source_line_start(p->file, offset), column = 0;
    while (text[from + column] == ' ' || text[from + column] == '\t')
        column++;
    return column;
}

static bool begins_line(const parser *p, uint32_t at) {
    const token *t = &p->list.tokens[at];
    const char *text = p->file->text;
    uint32_t from = t->offset;
    while (from > 0 && (text[from - 1] == ' ' || text[from - 1] == '\t'))
        from--;
    return from == 0 || text[from - 1] == '\n';
}

/* The token is outside of the brace: it is not deeper than the brace's line. */
static bool is_outside(const parser *p, uint32_t at, const open_brace *top, uint32_t column) {
    bool arm = top->token > 0 && p->list.tokens[top->token - 1].kind == TOKEN_FAT_ARROW;
    if (arm && p->list.tokens[at].kind != TOKEN_RIGHT_BRACE)
        return column <= top->column; /* the next arm */
    switch (p->list.tokens[at].kind) {
    case TOKEN_RIGHT_BRACE:
        return column < top->column;
    case TOKEN_ELSE:
        return column <= top->column && p->list.tokens[at - 1].kind != TOKEN_RIGHT_BRACE;
    case TOKEN_FN:
    case TOKEN_STRUCT:
    case TOKEN_ENUM:
    case TOKEN_IMPL:
    case TOKEN_TRAIT:
    case TOKEN_PUB:
    case TOKEN_MOD:
        return column <= top->column;
    default:
        return false;
    }
}

static void report(parser *p, const open_brace *open, uint32_t at) {
    const token *brace = &p->list.tokens[open->token], *t = &p->list.tokens[at];
    diagnostic *d = diagnostics_say(p->diagnostics, source_span_make(p->file, brace->offset, 1),
                                    SAY(brace_is_never_closed));
    diagnostics_note(p->diagnostics, d, source_span_make(p->file, t->offset, t->length),
                     "by the indentation its `}` is missing in front of this");
}

void parser_close_braces(parser *p) {
    const token_list *list = &p->list;
    uint32_t left = 0, right = 0, depth = 0;
    for (uint32_t i = 0; i < list->count; i++) {
        left += list->tokens[i].kind == TOKEN_LEFT_BRACE;
        right += list->tokens[i].kind == TOKEN_RIGHT_BRACE;
    }
    if (left <= right)
        return;
    uint32_t missing = left - right, count = 0;
    open_brace *open = parser_alloc(p, left * sizeof *open);
    token *tokens = parser_alloc(p, (list->count + missing) * sizeof *tokens);
    for (uint32_t i = 0; i < list->count; i++) {
        const token *t = &list->tokens[i];
        uint32_t column = depth > 0 && missing > 0 && begins_line(p, i) ? line_column(p, t->offset) : UINT32_MAX;
        while (depth > 0 && missing > 0 && column != UINT32_MAX && is_outside(p, i, &open[depth - 1], column)) {
            report(p, &open[--depth], i);
            tokens[count++] = (token){.kind = TOKEN_RIGHT_BRACE, .offset = t->offset};
            missing--;
        }
        if (t->kind == TOKEN_LEFT_BRACE)
            open[depth++] = (open_brace){i, line_column(p, t->offset)};
        else if (t->kind == TOKEN_RIGHT_BRACE)
            depth -= depth > 0;
        tokens[count++] = *t;
    }
    p->list.tokens = tokens;
    p->list.count = count;
}
