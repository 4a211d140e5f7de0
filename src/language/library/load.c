/* load.c: which declarations of the library a program needs.
 *
 * Reading takes time, and most programs need little: so a token asks for a name, a name for the declarations that have
 * it and for the names that the compiler writes where a program writes that one, a declaration for the names in its
 * text. A method is loaded when its name and its type are asked for. What comments and texts say asks for nothing.
 *
 * A type of the program may have the name of one of the library that gives way. The library's own then goes on under
 * another name, in all of its text:
 *
 *     struct Linear { w: Tensor }     the program's; what the library calls Linear is loaded as __Linear
 *
 * What must stay true (tests/cli/library_files.sh):
 *     a declaration is loaded  ⟺  its name is asked for, and the owner of its block is, where it has one
 */
#include <string.h>

#include "base/arena.h"
#include "language/library/hash.h"
#include "language/library/library.h"
#include "language/syntax/lexer.h"

typedef struct loader {
    bool *asked;    /* by name */
    bool *loaded;   /* by declaration */
    bool *renamed;  /* by name: the program has a type of this name */
    bool renames;   /* one is */
    bool waits;     /* a chain is a value */
    uint16_t *work; /* names that were asked for, and what they ask for is not yet */
    size_t work_count;
} loader;

/* library_names_count: nothing has this name. */
static size_t find_name(const char *text, size_t length) {
    uint32_t at = library_hash(text, length) % LIBRARY_SLOTS;
    for (; library_slots[at] != 0; at = (at + 1) % LIBRARY_SLOTS) {
        const library_name *n = &library_names[library_slots[at] - 1];
        if (n->length == length && memcmp(library_text + n->offset, text, length) == 0)
            return library_slots[at] - 1;
    }
    return library_names_count;
}

/* A type that gave way is found by the name under which it goes on, too. */
static size_t find_declared(const char **name) {
    size_t number = find_name(*name, strlen(*name));
    if (number == library_names_count && (*name)[0] == '_' && (*name)[1] == '_') {
        *name += 2;
        number = find_name(*name, strlen(*name));
    }
    return number;
}

static bool says(library_fact fact, const char **name) {
    size_t number = *name ? find_declared(name) : library_names_count;
    return number < library_names_count && (library_names[number].facts[fact / 64] >> fact % 64 & 1) != 0;
}

bool library_says(library_fact fact, const char *name) {
    return says(fact, &name);
}

/* NULL: it is not said. */
static const library_fact_word *find_fact(library_fact fact, const char *name) {
    if (!says(fact, &name))
        return NULL;
    size_t low = 0, high = library_fact_words_count;
    while (low < high) {
        const library_fact_word *w = &library_fact_words[low + (high - low) / 2];
        const int order = w->fact != fact ? (w->fact < fact ? -1 : 1) : strcmp(w->name, name);
        if (order == 0)
            return w;
        if (order < 0)
            low = (size_t)(w - library_fact_words) + 1;
        else
            high = (size_t)(w - library_fact_words);
    }
    return NULL;
}

const char *library_word(library_fact fact, const char *name) {
    const library_fact_word *w = find_fact(fact, name);
    return w && w->word[0] ? w->word : NULL;
}

library_said library_said_of(library_fact fact, const char *name) {
    const library_fact_word *w = find_fact(fact, name);
    return w ? w->said : SAID_NOTHING;
}

static size_t first_of(library_fact fact) {
    size_t low = 0, high = library_fact_words_count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (library_fact_words[middle].fact < fact)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

const char *library_named(library_fact fact, library_said said) {
    for (size_t i = first_of(fact); i < library_fact_words_count && library_fact_words[i].fact == fact; i++)
        if (library_fact_words[i].said == said)
            return library_fact_words[i].name;
    return NULL;
}

const char *library_nth(library_fact fact, uint32_t number) {
    const size_t at = first_of(fact) + number;
    return at < library_fact_words_count && library_fact_words[at].fact == fact ? library_fact_words[at].name : NULL;
}

static void ask(loader *l, size_t name) {
    if (name < library_names_count && !l->asked[name]) {
        l->asked[name] = true;
        l->work[l->work_count++] = (uint16_t)name;
    }
}

static void load(loader *l, size_t number) {
    const library_declaration *d = &library_declarations[number];
    int owner = library_blocks[d->block].owner;
    if (l->loaded[number] || !l->asked[d->name] || (owner >= 0 && !l->asked[owner]))
        return;
    l->loaded[number] = true;
    for (uint32_t i = d->asked; i < d->end; i++)
        ask(l, library_declaration_lists[i]);
}

static void load_methods(loader *l, size_t owner) {
    for (size_t b = 0; b < library_blocks_count; b++)
        for (size_t i = library_blocks[b].first; library_blocks[b].owner == (int)owner && i < library_blocks[b].end;
             i++)
            load(l, i);
}

static void load_all_asked(loader *l) {
    while (l->work_count > 0) {
        uint16_t number = l->work[--l->work_count];
        const library_name *n = &library_names[number];
        for (uint32_t i = n->declared; i < n->asked; i++)
            load(l, library_name_lists[i]);
        for (uint32_t i = n->asked; i < n->end; i++)
            ask(l, library_name_lists[i]);
        if (n->is_owner)
            load_methods(l, number);
    }
}

/* ---- tokens ------------------------------------------------------------------------------------------------------ */

static void ask_token(loader *l, const char *text, const token *t) {
    size_t length = t->length, begin = 0;
    if (t->kind == TOKEN_INT || t->kind == TOKEN_FLOAT) { /* the i8 of 1i8 */
        for (begin = length; begin > 0 && text[begin - 1] >= '0' && text[begin - 1] <= '9';)
            begin--;
        if (begin == 0 || begin == length)
            return;
        begin--;
    }
    ask(l, find_name(text + begin, length - begin));
}

/* Only a token that begins with a letter, a digit or a quote has a name. */
static bool may_ask(token_kind kind, char first) {
    return kind == TOKEN_INT || kind == TOKEN_FLOAT || first == '_' || (first >= 'a' && first <= 'z') ||
           (first >= 'A' && first <= 'Z');
}

static void ask_text(loader *l, const char *name) {
    ask(l, find_name(name, strlen(name)));
}

/* Behind `a..`, which is an iterator then. */
static bool ends_range(token_kind next) {
    return next == TOKEN_RIGHT_PAREN || next == TOKEN_SEMICOLON || next == TOKEN_COMMA || next == TOKEN_RIGHT_BRACE;
}

/* Whether a range is a value of its own: before it is not `in`, not what is indexed, not `(` of `(a..b).map(…)`. */
static bool range_is_value(const token_list *list, uint32_t at) {
    uint32_t deep = 0, from = at;
    for (uint32_t back = 0; from > 0 && back < 64; back++) {
        const token_kind k = list->tokens[--from].kind;
        deep += k == TOKEN_RIGHT_PAREN || k == TOKEN_RIGHT_BRACKET || k == TOKEN_RIGHT_BRACE;
        const bool opens = k == TOKEN_LEFT_PAREN || k == TOKEN_LEFT_BRACKET || k == TOKEN_LEFT_BRACE;
        if (deep == 0 && k == TOKEN_LEFT_BRACKET && from > 0) {
            const token_kind before = list->tokens[from - 1].kind;
            return before != TOKEN_NAME && before != TOKEN_RIGHT_PAREN && before != TOKEN_RIGHT_BRACKET;
        }
        if (deep == 0 && (opens || k == TOKEN_EQUAL || k == TOKEN_COMMA || k == TOKEN_COLON || k == TOKEN_SEMICOLON ||
                          k == TOKEN_FAT_ARROW || k == TOKEN_RETURN || k == TOKEN_IN))
            return k != TOKEN_IN;
        deep -= opens && deep > 0;
    }
    return false;
}

/* The method at `at` is a stage of a chain that is a value: behind its `)` nothing is called on it, and no body of a
 * `for` begins. Then its functions may have to wait (front/check_waits.c). */
static bool chain_is_value(const char *text, const token_list *list, uint32_t at) {
    char name[16] = {0};
    const token *t = &list->tokens[at];
    if (t->kind != TOKEN_NAME || t->length >= sizeof name || at == 0 || list->tokens[at - 1].kind != TOKEN_DOT)
        return false;
    memcpy(name, text + t->offset, t->length);
    if (!library_says(LIBRARY_passes_on, name))
        return false;
    uint32_t deep = 0, to = at + 1;
    for (; to < list->count; to++) {
        const token_kind k = list->tokens[to].kind;
        deep += k == TOKEN_LEFT_PAREN || k == TOKEN_LEFT_BRACKET || k == TOKEN_LEFT_BRACE;
        deep -= deep > 0 && (k == TOKEN_RIGHT_PAREN || k == TOKEN_RIGHT_BRACKET || k == TOKEN_RIGHT_BRACE);
        if (deep == 0)
            break;
    }
    const token_kind next = to + 1 < list->count ? list->tokens[to + 1].kind : TOKEN_DOT;
    return ends_range(next) || next == TOKEN_RIGHT_BRACKET;
}

static bool declares(const char *text, const token *t) {
    return t->kind == TOKEN_STRUCT || t->kind == TOKEN_ENUM || t->kind == TOKEN_TRAIT ||
           (t->length == 4 && memcmp(text + t->offset, "type", 4) == 0);
}

/* A program does not ask for a name that it declares. */
static void rename_declared(loader *l, const source_file *program, const token_list *list) {
    for (uint32_t i = 1; i < list->count; i++) {
        const token *t = &list->tokens[i];
        size_t name = declares(program->text, &t[-1]) ? find_name(program->text + t->offset, t->length)
                                                      : library_names_count;
        if (name < library_names_count && library_names[name].gives_way)
            l->renamed[name] = l->renames = true;
    }
}

static bool is_renamed(const loader *l, const char *text, size_t length) {
    size_t name = l->renames ? find_name(text, length) : library_names_count;
    return name < library_names_count && l->renamed[name];
}

/* std::cell::Cell: the library's, whatever the program declares. */
static bool is_full_path(const char *text, const token_list *list, uint32_t at) {
    const uint32_t last = at;
    while (at > 1 && list->tokens[at - 1].kind == TOKEN_COLON_COLON && list->tokens[at - 2].kind == TOKEN_NAME)
        at -= 2;
    const token *first = &list->tokens[at];
    return at < last && first->length == 3 && memcmp(text + first->offset, "std", 3) == 0;
}

/* *modules: there are files that are not read yet. */
static masu_status ask_tokens(loader *l, const source_file *program, masu__arena *arena, bool *modules) {
    diagnostics unsaid; /* the parser says it */
    diagnostics_init(&unsaid, arena);
    token_list list = {0};
    masu_status status = lex_source(program, arena, &unsaid, &list);
    if (status == MASU_OK)
        rename_declared(l, program, &list);
    for (uint32_t i = 0; status == MASU_OK && i < list.count; i++) {
        const token *t = &list.tokens[i];
        const char *text = program->text + t->offset;
        *modules |= t->kind == TOKEN_MOD;
        if (t->kind == TOKEN_DOT_DOT && i + 1 < list.count && ends_range(t[1].kind))
            ask_text(l, "__range_from");
        if ((t->kind == TOKEN_DOT_DOT || t->kind == TOKEN_DOT_DOT_EQUAL) && range_is_value(&list, i))
            ask_text(l, t->kind == TOKEN_DOT_DOT ? "__ranged" : "__ranged_to");
        if (t->length > 0 && (text[0] == '/' || text[0] == '%')) /* of elements that are not known */
            ask_text(l, text[0] == '/' ? "__quotient" : "__remainder");
        if (!l->waits && t->kind == TOKEN_NAME && chain_is_value(program->text, &list, i)) {
            l->waits = true;
            ask_text(l, "__items");
            ask_text(l, "__list");
            ask_text(l, "__Iterator");
        }
        if (t->length > 0 && may_ask(t->kind, text[0]) &&
            (!is_renamed(l, text, t->length) || is_full_path(program->text, &list, i)))
            ask_token(l, text, t);
    }
    return status;
}

/* ---- the text ---------------------------------------------------------------------------------------------------- */

static bool in_word(char c) {
    return c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

/* Texts in quotes stay as they are. */
static void put_text(const loader *l, const char *text, size_t length, masu__buffer *out) {
    const char *end = text + length, *from = text;
    bool quoted = false;
    for (const char *at = text; l && l->renames && at < end;) {
        const char *word = at;
        while (at < end && in_word(*at))
            at++;
        if (at == word) {
            quoted ^= *at == '"' && at > text && at[-1] != '\\' && at[-1] != '\'';
            at++;
        } else if (!quoted && is_renamed(l, word, (size_t)(at - word))) {
            masu__buffer_append(out, from, (size_t)(word - from));
            masu__buffer_puts(out, "__");
            from = word;
        }
    }
    masu__buffer_append(out, from, (size_t)(end - from));
}

/* A type that only a program that names it gets, or a method of one. */
static bool is_kept_back(const loader *l, const library_declaration *d) {
    int owner = library_blocks[d->block].owner;
    size_t type = owner >= 0 ? (size_t)owner : d->name;
    return l && library_names[type].only_asked && !l->asked[type];
}

/* everything: not only what is asked for. */
static void put_loaded(const loader *l, bool everything, int left_out, masu__buffer *out) {
    for (size_t b = 0; b < library_blocks_count; b++) {
        const library_block *block = &library_blocks[b];
        bool open = false;
        for (size_t i = block->first; i < block->end; i++) {
            const library_declaration *d = &library_declarations[i];
            if ((!everything && !l->loaded[i]) || d->file == left_out || is_kept_back(l, d))
                continue;
            if (!open)
                put_text(l, library_text + block->offset, block->length, out);
            open = true;
            put_text(l, library_text + d->offset, d->length, out);
        }
        if (open && block->length > 0)
            masu__buffer_puts(out, "}\n");
    }
}

/* By the end of its path. -1: the program is none of them. */
static int file_of(const source_file *program) {
    for (int i = 0; library_files[i]; i++) {
        size_t length = strlen(program->path), bytes = strlen(library_files[i]);
        if (length >= bytes && strcmp(program->path + length - bytes, library_files[i]) == 0)
            return i;
    }
    return -1;
}

/* everything: what the program declares itself gives way there, too. */
static masu_status load_asked(const source_file *program, bool everything, masu__arena *arena, masu__buffer *out) {
    loader l = {MASU_ARENA_ARRAY(arena, bool, library_names_count),
                MASU_ARENA_ARRAY(arena, bool, library_declarations_count),
                MASU_ARENA_ARRAY(arena, bool, library_names_count),
                false,
                false,
                MASU_ARENA_ARRAY(arena, uint16_t, library_names_count),
                0};
    if (!l.asked || !l.loaded || !l.renamed || !l.work)
        return MASU_ERR_OUT_OF_MEMORY;
    bool modules = false;
    ask(&l, 0);
    masu_status status = ask_tokens(&l, program, arena, &modules);
    if (status != MASU_OK)
        return status;
    load_all_asked(&l);
    put_loaded(&l, modules || everything, -1, out);
    return MASU_OK;
}

masu_status library_load(const source_file *program, library_part part, masu__buffer *out) {
    masu__arena arena = {0};
    masu_status status = MASU_OK;
    if (part == LIBRARY_OTHERS)
        put_loaded(NULL, true, file_of(program), out);
    else
        status = load_asked(program, part == LIBRARY_WHOLE, &arena, out);
    masu__arena_destroy(&arena);
    return status == MASU_OK && out->failed ? MASU_ERR_OUT_OF_MEMORY : status;
}
