/* complete.c: what may be at a place, and the outline of a document, as the editor wants them.
 *
 *     t.|        methods of what `t` is: its type is asked of the last text that was right, where the name is on a
 *                line that has not changed; tensors' when nothing is known
 *     Net::|     functions of the `impl` blocks of Net, or of Tensor
 *     |          items, variables that were declared before, words of the language
 *
 * Operations come out of docs/operations.md as the compiler writes it: one line each, `t.relu()` or
 * `Tensor::ones(shape…)`.
 */
#include <ctype.h>
#include <string.h>

#include "tool/lsp/lsp.h"
#include "tool/lsp/outline.h"

enum { ITEMS_MAX = 2000, LINES_BACK = 200, KIND_METHOD = 2, KIND_FUNCTION = 3, KIND_VARIABLE = 6, KIND_WORD = 14 };

/* ---- places ---------------------------------------------------------------------------------- */

typedef struct place {
    const masu__buffer *text;
    uint32_t at, line, column;
} place;

static void move_to(place *p, uint32_t at) {
    const char *text = masu__buffer_text(p->text);
    if (at < p->at)
        p->at = p->line = p->column = 0;
    for (; p->at < at; p->at++) {
        unsigned char c = (unsigned char)text[p->at];
        if (c == '\n') {
            p->line++;
            p->column = 0;
        } else if ((c & 0xC0) != 0x80) {
            p->column += c >= 0xF0 ? 2 : 1;
        }
    }
}

static uint32_t offset_of(const masu__buffer *text, uint32_t line, uint32_t column) {
    const char *data = masu__buffer_text(text);
    uint32_t at = 0, units = 0;
    for (; line > 0 && at < text->length; at++)
        line -= data[at] == '\n';
    for (; at < text->length && data[at] != '\n' && units < column; at++) {
        unsigned char c = (unsigned char)data[at];
        units += c >= 0xF0 ? 2 : 1;
        while (at + 1 < text->length && ((unsigned char)data[at + 1] & 0xC0) == 0x80)
            at++;
    }
    return at;
}

/* ---- the outline ----------------------------------------------------------------------------- */

static size_t put_symbol(lsp_server *s, place *p, const lsp_symbol *all, size_t count, size_t i);

static size_t put_symbols(lsp_server *s, place *p, const lsp_symbol *all, size_t count, size_t i, uint32_t depth) {
    bool first = true;
    masu__buffer_putc(&s->out, '[');
    while (i < count && all[i].depth >= depth) {
        masu__buffer_puts(&s->out, first ? "" : ",");
        first = false;
        i = put_symbol(s, p, all, count, i);
    }
    masu__buffer_putc(&s->out, ']');
    return i;
}

static size_t put_symbol(lsp_server *s, place *p, const lsp_symbol *all, size_t count, size_t i) {
    const lsp_symbol *symbol = &all[i];
    const char *text = masu__buffer_text(p->text);
    masu__buffer name = {0};
    masu__buffer_puts(&name, symbol->kind == LSP_IMPL ? "impl " : "");
    masu__buffer_append(&name, text + symbol->name, symbol->name_length);
    move_to(p, symbol->from);
    uint32_t line = p->line + 1, column = p->column + 1;
    move_to(p, symbol->name);
    uint32_t name_line = p->line + 1, name_column = p->column + 1;
    move_to(p, symbol->name + symbol->name_length);
    masu__buffer_puts(&s->out, "{\"name\":");
    masu__buffer_json_string(&s->out, masu__buffer_text(&name), name.length);
    masu__buffer_printf(&s->out, ",\"kind\":%d,\"selectionRange\":", (int)symbol->kind);
    lsp_put_range(s, name_line, name_column, p->line + 1, p->column + 1);
    uint32_t depth = symbol->depth;
    i++;
    if (i < count && all[i].depth > depth) {
        masu__buffer_puts(&s->out, ",\"children\":");
        i = put_symbols(s, p, all, count, i, depth + 1);
    }
    move_to(p, symbol->to);
    masu__buffer_puts(&s->out, ",\"range\":");
    lsp_put_range(s, line, column, p->line + 1, p->column + 1);
    masu__buffer_putc(&s->out, '}');
    masu__buffer_destroy(&name);
    return i;
}

void lsp_put_outline(lsp_server *s, const lsp_document *d) {
    masu__buffer found = {0};
    place p = {.text = &d->text};
    size_t count = lsp_outline(&d->text, &found);
    put_symbols(s, &p, count > 0 ? lsp_outline_symbols(&found) : NULL, count, 0, 0);
    masu__buffer_destroy(&found);
}

/* ---- completion ------------------------------------------------------------------------------ */

typedef struct completion {
    lsp_server *s;
    masu__buffer said; /* "\nname\n…": each once */
    uint32_t count;
} completion;

static bool is_word(char c) {
    return isalnum((unsigned char)c) || c == '_' || (unsigned char)c >= 0x80;
}

static void offer(completion *c, const char *name, size_t length, int kind, const char *detail, size_t detail_length) {
    masu__buffer wanted = {0};
    masu__buffer_printf(&wanted, "\n%.*s\n", (int)length, name);
    bool again = strstr(masu__buffer_text(&c->said), masu__buffer_text(&wanted)) != NULL;
    masu__buffer_destroy(&wanted);
    if (again || length == 0 || c->count == ITEMS_MAX || (length > 1 && memcmp(name, "__", 2) == 0))
        return;
    masu__buffer_printf(&c->said, "\n%.*s\n", (int)length, name);
    masu__buffer_puts(&c->s->out, c->count++ ? ",{\"label\":" : "{\"label\":");
    masu__buffer_json_string(&c->s->out, name, length);
    masu__buffer_printf(&c->s->out, ",\"kind\":%d", kind);
    if (detail_length > 0) {
        masu__buffer_puts(&c->s->out, ",\"detail\":");
        masu__buffer_json_string(&c->s->out, detail, detail_length);
    }
    masu__buffer_putc(&c->s->out, '}');
}

/* Each with a blank behind it. */
static void offer_words(completion *c, const char *words, int kind) {
    for (const char *w = words; *w; w += strcspn(w, " ") + 1)
        offer(c, w, strcspn(w, " "), kind, NULL, 0);
}

/* Takes of the lines "| `FORM` | …" between the headings forms that begin with `prefix`. */
static void offer_operations(completion *c, const char *from, const char *prefix, const char *until) {
    masu_text text = {0};
    if (masu_operations(&text) != MASU_OK)
        return;
    const char *at = strstr(text.data, from), *end = at ? strstr(at, until) : NULL;
    for (; at && *at && (!end || at < end); at = strchr(at, '\n'), at += at != NULL) {
        size_t line = strcspn(at, "\n");
        if (strncmp(at, "| `", 3) != 0 || strncmp(at + 3, prefix, strlen(prefix)) != 0)
            continue;
        const char *form = at + 3, *name = form + strlen(prefix);
        size_t length = 0;
        while (is_word(name[length]))
            length++;
        if (name[length] == '(' && line > 3)
            offer(c, name, length, *prefix == 'T' ? KIND_FUNCTION : KIND_METHOD, form, strcspn(form, "`\n"));
    }
    masu_text_free(&text);
}

/* The type's name in the head of `impl<T> Named for Net<T> {`. */
static bool is_impl_of(const char *head, size_t length, const char *name, size_t name_length) {
    const char *at = head, *end = head + length;
    for (const char *f = head; f + 5 < end; f++)
        at = strncmp(f, " for ", 5) == 0 ? f + 5 : at;
    if (at == head && *at == '<') {
        int depth = 0;
        do
            depth += (*at == '<') - (*at == '>');
        while (++at < end && depth > 0);
    }
    while (at < end && isspace((unsigned char)*at))
        at++;
    return (size_t)(end - at) >= name_length && memcmp(at, name, name_length) == 0 &&
           ((size_t)(end - at) == name_length || !is_word(at[name_length]));
}

/* As far as the head of an item goes, without the blanks behind it. */
static size_t head_length(const char *from) {
    size_t length = strcspn(from, "{\n;");
    while (length > 0 && from[length - 1] == ' ')
        length--;
    return length;
}

static bool takes_self(const char *head, size_t length) {
    const char *found = strstr(head, "self");
    return found && found < head + length;
}

static void offer_methods(completion *c, const lsp_document *d, const char *name, size_t length, bool of_value) {
    masu__buffer found = {0};
    size_t count = lsp_outline(&d->text, &found);
    const lsp_symbol *all = count > 0 ? lsp_outline_symbols(&found) : NULL;
    const char *text = masu__buffer_text(&d->text);
    bool inside = false;
    for (size_t i = 0; i < count; i++) {
        const char *symbol = text + all[i].name;
        if (all[i].kind == LSP_IMPL || all[i].kind == LSP_TRAIT)
            inside = is_impl_of(symbol, all[i].name_length, name, length);
        else if (inside && all[i].kind == LSP_METHOD && (!of_value || takes_self(symbol, head_length(symbol))))
            offer(c, symbol, all[i].name_length, KIND_METHOD, symbol, head_length(symbol));
    }
    masu__buffer_destroy(&found);
}

/* "Vec<f32>" of v, where the name is above on a line that has not changed. */
static bool type_of(lsp_server *s, lsp_document *d, uint32_t at, const char *name, size_t length, masu__buffer *out) {
    const char *text = masu__buffer_text(&d->text);
    place p = {.text = &d->text};
    for (uint32_t lines = 0; at > 0 && lines < LINES_BACK; at--) {
        lines += text[at] == '\n';
        bool here = at + length < d->text.length && memcmp(text + at, name, length) == 0 && !is_word(text[at - 1]) &&
                    !is_word(text[at + length]);
        masu_place_info info;
        if (!here)
            continue;
        move_to(&p, at);
        if (!lsp_look_up(s, d, p.line, p.column, &info))
            continue;
        bool named = info.type == info.text + length + 2 && memcmp(info.text, name, length) == 0;
        if (named && info.type_length > 0) {
            masu__buffer_append(out, info.type, info.type_length);
            return true;
        }
    }
    return false;
}

static void offer_members(completion *c, lsp_document *d, uint32_t dot) {
    const char *text = masu__buffer_text(&d->text);
    uint32_t from = dot;
    while (from > 0 && is_word(text[from - 1]))
        from--;
    masu__buffer type = {0};
    if (dot > from)
        type_of(c->s, d, from, text + from, dot - from, &type);
    const char *name = masu__buffer_text(&type);
    name += *name == '&';
    size_t length = 0;
    while (is_word(name[length]))
        length++;
    if (strncmp(name, "Vec<", 4) == 0 || *name == '[') {
        offer_words(c, "push len get set is_empty ", KIND_METHOD);
        offer_operations(c, "\n## Vec\n", "", "\n## Option\n");
    } else if (strncmp(name, "Option<", 7) == 0)
        offer_operations(c, "\n## Option\n", "", "\n## Result\n");
    else if (strncmp(name, "Result<", 7) == 0)
        offer_operations(c, "\n## Result\n", "", "\n## Nothing\n");
    else if (length == 0 || strncmp(name, "Tensor", 6) == 0 || strncmp(name, "GradTensor", 10) == 0)
        offer_operations(c, "\n## Made of kernels\n", "t.", "\n## Other names\n");
    else
        offer_methods(c, d, name, length, true);
    masu__buffer_destroy(&type);
}

static void offer_of_type(completion *c, const lsp_document *d, uint32_t colons) {
    const char *text = masu__buffer_text(&d->text);
    uint32_t from = colons;
    while (from > 0 && is_word(text[from - 1]))
        from--;
    bool tensor = (colons - from == 6 && memcmp(text + from, "Tensor", 6) == 0) ||
                  (colons - from == 10 && memcmp(text + from, "GradTensor", 10) == 0);
    if (tensor)
        offer_operations(c, "\n## Made of kernels\n", "Tensor::", "\n## Other names\n");
    else if (colons > from)
        offer_methods(c, d, text + from, colons - from, false);
}

static void offer_names(completion *c, const lsp_document *d, uint32_t until) {
    static const char words[] =
        "let mut fn struct enum impl trait const if else match while loop for in return break "
        "continue true false self as mod use pub Tensor GradTensor Vec String Option Result Some "
        "None Ok Err HashMap println print format assert panic ";
    const char *text = masu__buffer_text(&d->text);
    masu__buffer found = {0};
    size_t count = lsp_outline(&d->text, &found);
    const lsp_symbol *all = count > 0 ? lsp_outline_symbols(&found) : NULL;
    for (size_t i = 0; i < count; i++)
        if (all[i].depth == 0 && all[i].kind != LSP_IMPL)
            offer(c, text + all[i].name, all[i].name_length,
                  all[i].kind == LSP_FUNCTION ? KIND_FUNCTION : KIND_WORD + 8, text + all[i].from,
                  head_length(text + all[i].from));
    for (uint32_t at = 0; at + 4 < until; at++) {
        if (memcmp(text + at, "let ", 4) != 0 || (at > 0 && is_word(text[at - 1])))
            continue;
        at += strncmp(text + at + 4, "mut ", 4) == 0 ? 8 : 4;
        uint32_t end = at;
        while (end < until && is_word(text[end]))
            end++;
        if (end < until)
            offer(c, text + at, end - at, KIND_VARIABLE, NULL, 0);
    }
    offer_words(c, words, KIND_WORD);
    masu__buffer_destroy(&found);
}

void lsp_put_completion(lsp_server *s, lsp_document *d, uint32_t line, uint32_t column) {
    completion c = {.s = s};
    const char *text = masu__buffer_text(&d->text);
    uint32_t at = offset_of(&d->text, line, column);
    while (at > 0 && is_word(text[at - 1]))
        at--;
    masu__buffer_putc(&s->out, '[');
    if (at > 0 && text[at - 1] == '.' && !(at > 1 && text[at - 2] == '.'))
        offer_members(&c, d, at - 1);
    else if (at > 1 && text[at - 1] == ':' && text[at - 2] == ':')
        offer_of_type(&c, d, at - 2);
    else
        offer_names(&c, d, at);
    masu__buffer_putc(&s->out, ']');
    masu__buffer_destroy(&c.said);
}
