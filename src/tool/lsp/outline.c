/* outline.c: the items of a text, whether it is right or not: functions, types, `impl` blocks and what is in them.
 *
 *     impl Net {                   ─►  5  impl Net        depth 0
 *         fn forward(self) { … }       6    forward       depth 1, `parent` is Net's
 *     }
 *
 * Read from the words and brackets alone, so that a text that is being typed has an outline, too: a `}` that is missing
 * makes the last item long. In the order of the text; what must stay true: a symbol lies within its parent.
 */
#include <ctype.h>
#include <string.h>

#include "tool/lsp/outline.h"

enum { DEEPEST = 16, LONGEST_HEAD = 80 };

typedef struct reader {
    const char *text;
    uint32_t end;
    masu__buffer *out;
} reader;

static bool is_word(char c) {
    return isalnum((unsigned char)c) || c == '_' || (unsigned char)c >= 0x80;
}

static uint32_t behind(const reader *r, uint32_t at, const char *what) {
    const char *found = at < r->end ? strstr(r->text + at, what) : NULL;
    uint32_t to = found ? (uint32_t)(found - r->text + strlen(what)) : r->end;
    return to < r->end ? to : r->end;
}

static uint32_t behind_string(const reader *r, uint32_t at) {
    for (at++; at < r->end && r->text[at] != '"'; at++)
        at += r->text[at] == '\\';
    return at < r->end ? at + 1 : r->end;
}

/* 'c', '\n'; of a label only the quote. */
static uint32_t behind_quote(const reader *r, uint32_t at) {
    uint32_t to = at + 1;
    if (to < r->end && r->text[to] == '\\')
        to += 2;
    else
        for (to++; to < r->end && ((unsigned char)r->text[to] & 0xC0) == 0x80;)
            to++;
    return to < r->end && r->text[to] == '\'' ? to + 1 : at + 1;
}

/* Behind the comment, text, word or sign that begins here. */
static uint32_t behind_unit(const reader *r, uint32_t at) {
    const char *t = r->text + at;
    if (t[0] == '/' && t[1] == '/')
        return behind(r, at, "\n");
    if (t[0] == '/' && t[1] == '*')
        return behind(r, at + 2, "*/");
    if (t[0] == '"')
        return behind_string(r, at);
    if (t[0] == '\'')
        return behind_quote(r, at);
    if (!is_word(t[0]))
        return at + 1;
    while (at < r->end && is_word(r->text[at]))
        at++;
    return at;
}

static uint32_t behind_blanks(const reader *r, uint32_t at) {
    while (at < r->end && isspace((unsigned char)r->text[at]))
        at++;
    return at;
}

/* At `{`: behind the `}` that closes it. */
static uint32_t behind_block(const reader *r, uint32_t at) {
    uint32_t depth = 0;
    for (; at < r->end; at = behind_unit(r, at)) {
        depth += r->text[at] == '{';
        if (r->text[at] == '}' && --depth == 0)
            return at + 1;
    }
    return r->end;
}

static bool same(const reader *r, uint32_t from, uint32_t to, const char *word) {
    return to - from == strlen(word) && memcmp(r->text + from, word, to - from) == 0;
}

static lsp_symbol_kind kind_of(const reader *r, uint32_t from, uint32_t to, bool inside) {
    static const struct {
        const char *word;
        lsp_symbol_kind kind;
    } kinds[] = {{"fn", LSP_FUNCTION}, {"struct", LSP_STRUCT},  {"enum", LSP_ENUM}, {"trait", LSP_TRAIT},
                 {"impl", LSP_IMPL},   {"const", LSP_CONSTANT}, {"mod", LSP_MODULE}};
    for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++)
        if (same(r, from, to, kinds[k].word))
            return inside && kinds[k].kind == LSP_FUNCTION ? LSP_METHOD : kinds[k].kind;
    return LSP_NOTHING;
}

/* The head of an item ends at its `{`, `;` or the end. */
static uint32_t head_end(const reader *r, uint32_t at) {
    int32_t depth = 0;
    for (; at < r->end; at = behind_unit(r, at)) {
        char c = r->text[at];
        depth += (c == '(' || c == '[') - (c == ')' || c == ']');
        if (c == '{' || (c == ';' && depth <= 0) || c == '}')
            break;
    }
    return at;
}

static void find_items(reader *r, uint32_t from, uint32_t to, uint32_t depth, bool inside);

/* At the word behind the item's keyword, which begins at `from`. Behind the item; `at` itself when it is none. */
static uint32_t take_item(reader *r, uint32_t from, uint32_t at, lsp_symbol_kind kind, uint32_t depth) {
    uint32_t name = behind_blanks(r, at), name_end = behind_unit(r, name), head = head_end(r, name);
    if (kind == LSP_IMPL) {
        for (name_end = head; name_end > name && isspace((unsigned char)r->text[name_end - 1]);)
            name_end--;
        name_end = name_end - name > LONGEST_HEAD ? name + LONGEST_HEAD : name_end;
    } else if (name >= r->end || !is_word(r->text[name]) || same(r, name, name_end, "fn")) {
        return at;
    }
    bool body = head < r->end && r->text[head] == '{';
    uint32_t to = body ? behind_block(r, head) : head < r->end && r->text[head] == ';' ? head + 1 : head;
    if (name_end <= name)
        return at;
    lsp_symbol made = {
        .kind = kind, .depth = depth, .from = from, .to = to, .name = name, .name_length = name_end - name};
    masu__buffer_append(r->out, (const char *)&made, sizeof made);
    if (body && (kind == LSP_IMPL || kind == LSP_TRAIT || kind == LSP_MODULE))
        find_items(r, head + 1, to - 1 > head ? to - 1 : head + 1, depth + 1, kind != LSP_MODULE);
    return to;
}

static void find_items(reader *r, uint32_t from, uint32_t to, uint32_t depth, bool inside) {
    for (uint32_t at = from; at < to && depth < DEEPEST;) {
        uint32_t next = r->text[at] == '{' ? behind_block(r, at) : behind_unit(r, at);
        lsp_symbol_kind kind = is_word(r->text[at]) ? kind_of(r, at, next, inside) : LSP_NOTHING;
        at = kind == LSP_NOTHING ? next : take_item(r, at, next, kind, depth);
    }
}

size_t lsp_outline(const masu__buffer *text, masu__buffer *out) {
    reader r = {.text = masu__buffer_text(text), .end = (uint32_t)text->length, .out = out};
    masu__buffer_truncate(out, 0);
    find_items(&r, 0, r.end, 0, false);
    return out->failed ? 0 : out->length / sizeof(lsp_symbol);
}

const lsp_symbol *lsp_outline_symbols(const masu__buffer *out) {
    return (const lsp_symbol *)(const void *)masu__buffer_text(out);
}
