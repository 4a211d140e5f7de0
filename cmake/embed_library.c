/* embed_library.c: writes the library of the language, src/language/library, as one C file for the compiler: the text
 * of its declarations, an index from names to them, and a table of what is documented.
 *
 *     masu_embed OUT.c FILE.tl … NAMES.def …
 *
 * A file is a program in the language: `masu check --library` and `masu fmt` read it as any other. Its comments carry
 * what is said of it, and are not embedded:
 *
 *     /// what the function below does               of docs/operations.md
 *     /// gradient: no                               backward stops at it
 *     /// example: a[2,3]: a.var()                   operands and a call, from which tests draw cases
 *     //! model i16 u16 16                           the words of this file that others take the place of,
 *     //! is u8 u8 8                                 once for each such line
 *     //! asks adam_step: __adam_step                the compiler writes a call of the second where a program names the
 *                                                    first
 *     //! asks *: len push                           it writes these into any program
 *     //! module fs                                  `std::fs::read` and `fs::read` are __fs_read, in any file of the
 *                                                    library
 *     //! only asked                                 its types are loaded with the whole library, too, only if
 *                                                    asked for
 *     //! says writes: push pop                      a fact of these names (facts.def)
 *     //! says stage MAP: map                        the same, with a word
 *     //! gives way                                  a program's type or trait may have the name of one of this file
 *
 * The index (library.h): a declaration is a function, a method, a struct, an enum or a constant. It is loaded when its
 * name is asked for, by a token of the program or of a declaration that is loaded, and a method when its type is, too.
 * A row NAME(other, name, …) of a .def file is `asks other: name`. A method of a `trait` is one whose type is the
 * trait.
 *
 * Declarations are told apart by their indentation, which `masu fmt` keeps: one begins outside of any block or directly
 * in an `impl`, and ends in its line or with the `}` that stands below its beginning.
 */
#include <ctype.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../src/language/library/hash.h"

enum { MODULES_MAX = 32, WORDS_MAX = 64, COPIES_MAX = 24, TEXT_MAX = 400, LINE_MAX_BYTES = 2000 };

typedef struct buffer {
    char *text;
    size_t length, capacity;
} buffer;

/* Numbers of names. */
typedef struct number_list {
    int *items;
    int count, capacity;
} number_list;

typedef struct name {
    char *text;
    uint32_t facts; /* bit f: facts.def's row f holds */
    bool is_owner, gives_way, only_asked;
    int number;           /* in the index; -1: no declaration has it, nothing is asked for by it */
    number_list declared; /* declarations */
    number_list asked;    /* names */
} name;

typedef struct block {
    size_t offset, length; /* `impl<T> Vec<T> {`; length 0: what stands outside of any */
    int owner;             /* -1: none */
} block;

typedef struct declaration {
    size_t offset, length;
    int name, block, file; /* file UINT16_MAX: none says it in these words */
    number_list asked;
} declaration;

/* What the lines of one file have said so far. */
typedef struct reader {
    const char *path;
    int line, file;
    char *model[WORDS_MAX];
    char *copies[COPIES_MAX][WORDS_MAX];
    int copy_count;
    buffer text; /* without comments */
    char owner[TEXT_MAX], about[TEXT_MAX], example[TEXT_MAX];
    bool no_gradient, gives_way, only_asked;
} reader;

static const char *const facts[] = {
#define FACT(name, text) #name,
#include "../src/language/library/facts.def"
#undef FACT
};
enum { FACT_COUNT = sizeof facts / sizeof facts[0], ALL_FACTS_FIT = 1 / (FACT_COUNT <= 32) };

static buffer library, operations, methods, files, words_of_facts;
static char *modules[MODULES_MAX];
static int module_count;
static name *names;
static block *blocks;
static declaration *declarations;
static int name_count, block_count, declaration_count, file_count;
static int name_capacity, block_capacity, declaration_capacity;

static void fail(const reader *r, const char *what) {
    fprintf(stderr, "%s:%d: %s\n", r->path, r->line, what);
    exit(1);
}

static void put_bytes(buffer *b, const char *text, size_t length) {
    if (b->length + length + 1 > b->capacity) {
        b->capacity = 2 * (b->length + length) + 1024;
        b->text = realloc(b->text, b->capacity);
        if (!b->text)
            exit(1);
    }
    memcpy(b->text + b->length, text, length);
    b->length += length;
    b->text[b->length] = 0;
}

static void put(buffer *b, const char *format, ...) {
    char text[4 * TEXT_MAX];
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (length < 0 || (size_t)length >= sizeof text)
        exit(1);
    put_bytes(b, text, (size_t)length);
}

static void put_quoted(buffer *b, const char *text, size_t length) {
    put_bytes(b, "\"", 1);
    for (size_t i = 0; i < length; i++)
        if (text[i] == '\n')
            put_bytes(b, i + 1 < length ? "\\n\"\n    \"" : "\\n", i + 1 < length ? 9 : 2);
        else if (text[i] == '"' || text[i] == '\\')
            put(b, "\\%c", text[i]);
        else
            put_bytes(b, text + i, 1);
    put_bytes(b, "\"", 1);
}

static void *room(void *items, int count, int *capacity, size_t size) {
    if (count < *capacity)
        return items;
    *capacity = 2 * *capacity + 64;
    items = realloc(items, (size_t)*capacity * size);
    if (!items)
        exit(1);
    return items;
}

static void add_number(number_list *l, int number) {
    for (int i = 0; i < l->count; i++)
        if (l->items[i] == number)
            return;
    l->items = room(l->items, l->count, &l->capacity, sizeof *l->items);
    l->items[l->count++] = number;
}

static int name_of(const char *text, size_t length) {
    for (int i = 0; i < name_count; i++)
        if (strlen(names[i].text) == length && memcmp(names[i].text, text, length) == 0)
            return i;
    names = room(names, name_count, &name_capacity, sizeof *names);
    names[name_count] = (name){.text = strndup(text, length)};
    return name_count++;
}

/* The words between blanks; the text must outlive them. */
static int split(const reader *r, char *text, char **words) {
    int count = 0;
    for (char *word = strtok(text, " "); word; word = strtok(NULL, " ")) {
        if (count + 1 == WORDS_MAX)
            fail(r, "too many words");
        words[count++] = word;
    }
    words[count] = NULL;
    return count;
}

/* ---- what a text asks for ------------------------------------------------------------------------------------- */

/* Behind the literal that begins here; at itself: none does. */
static const char *behind_literal(const char *at, const char *end) {
    const char *to = at + 1;
    if (*at == '\'' && to < end && (*to == '\\' || (to + 1 < end && to[1] == '\''))) {
        for (to += *to == '\\'; to < end && *to != '\'';)
            to++;
        return to + 1;
    }
    if (*at != '"')
        return at;
    while (to < end && *to != '"')
        to += *to == '\\' ? 2 : 1;
    return to + 1;
}

/* Also the i8 of 1i8. */
static void add_words(const char *text, size_t length, number_list *out) {
    for (const char *at = text, *end = text + length; at < end;) {
        const char *to = behind_literal(at, end);
        if (to != at) {
            at = to;
            continue;
        }
        while (isdigit((unsigned char)*at))
            at++;
        for (to = at; to < end && (isalnum((unsigned char)*to) || *to == '_');)
            to++;
        if (to > at)
            add_number(out, name_of(at, (size_t)(to - at)));
        at = to > at ? to : at + 1;
    }
}

/* ---- declarations --------------------------------------------------------------------------------------------- */

static int add_block(const char *head, size_t length, int owner) {
    blocks = room(blocks, block_count, &block_capacity, sizeof *blocks);
    blocks[block_count] = (block){library.length, length, owner};
    put_bytes(&library, head, length);
    return block_count++;
}

/* Of `<I, F: Fn(I::Item) -> U>` the last `>` closes. */
static const char *skip_generics(const char *at) {
    int depth = 0;
    do {
        bool arrow = *at == '>' && at[-1] == '-';
        depth += *at == '<' ? 1 : *at == '>' && !arrow ? -1 : 0;
        at += depth > 0 || *at == '>';
    } while (depth > 0 && *at);
    return at + strspn(at, " ");
}

static size_t word_length(const char *at) {
    return strspn(at, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_0123456789");
}

/* `impl<T> Vec<T> {`, `trait __Iterator {` */
static int open_block(const reader *r, const char *line, size_t length) {
    const char *owner = skip_generics(line + (*line == 'i' ? 4 : 6));
    const char *of = memmem(owner, length - (size_t)(owner - line), " for ", 5);
    owner = of ? of + 5 : owner;                     /* impl TRAIT for T */
    owner += strncmp(owner, "dyn ", 4) == 0 ? 4 : 0; /* what is had of the trait alone */
    int named = name_of(owner, word_length(owner));
    names[named].is_owner = true;
    names[named].gives_way |= *line == 't' && r->gives_way;
    return add_block(line, length, named);
}

static void add_declaration(const reader *r, const char *text, size_t length, int in, int file) {
    static const char *const kinds[] = {"fn ", "struct ", "enum ", "type ", "const "};
    enum { KINDS = sizeof kinds / sizeof kinds[0] };
    size_t kind = 0;
    while (kind < KINDS && strncmp(text, kinds[kind], strlen(kinds[kind])) != 0)
        kind++;
    if (kind == KINDS)
        fail(r, "a declaration is a function, a struct, an enum, a type or a constant");
    const char *named = text + strlen(kinds[kind]);
    declarations = room(declarations, declaration_count, &declaration_capacity, sizeof *declarations);
    declaration *d = &declarations[declaration_count];
    *d = (declaration){.offset = library.length,
                       .length = length,
                       .name = name_of(named, word_length(named)),
                       .block = in,
                       .file = file};
    names[d->name].gives_way |= kind > 0 && kind < KINDS - 1 && r->gives_way; /* types */
    names[d->name].only_asked |= kind > 0 && r->only_asked;
    put_bytes(&library, text, length);
    add_words(text, length, &d->asked);
    add_number(&names[d->name].declared, declaration_count++);
}

static bool begins_block(const char *line) {
    return strncmp(line, "impl", 4) == 0 || strncmp(line, "trait ", 6) == 0;
}

/* The text of a whole file, indented as it was written. */
static void index_text(const reader *r, const buffer *text, int file) {
    int outside = add_block("", 0, -1), in = outside;
    const char *begun = NULL; /* a declaration of several lines */
    size_t indent = 0;
    for (const char *at = text->text, *next; *at; at = next) {
        const char *end = strchr(at, '\n');
        next = end + 1;
        size_t blanks = strspn(at, " ");
        bool closes = end > at && (end[-1] == '}' || end[-1] == ';');
        if (begun) {
            if (blanks == indent && at[blanks] == '}') {
                add_declaration(r, begun, (size_t)(next - begun), in, file);
                begun = NULL;
            }
        } else if (in == outside && begins_block(at)) {
            in = open_block(r, at, (size_t)(next - at));
        } else if (in != outside && *at == '}') {
            in = outside = add_block("", 0, -1);
        } else if (closes) {
            add_declaration(r, at + blanks, (size_t)(next - at) - blanks, in, file);
        } else {
            begun = at + blanks;
            indent = blanks;
        }
    }
    if (begun || in != outside)
        fail(r, "the last declaration does not end");
}

/* The text with the words of a copy where those of the model are. */
static void add_copy(const reader *r, char *const *is) {
    buffer out = {0};
    bool as_written = true;
    for (size_t w = 0; r->model[w]; w++)
        as_written &= strcmp(r->model[w], is[w]) == 0;
    for (const char *at = r->text.text, *end = at + r->text.length; at < end;) {
        size_t length = word_length(at), w = 0;
        while (length > 0 && r->model[w] && (strlen(r->model[w]) != length || memcmp(r->model[w], at, length)))
            w++;
        if (length > 0 && r->model[w])
            put_bytes(&out, is[w], strlen(is[w]));
        else
            put_bytes(&out, at, length ? length : 1);
        at += length ? length : 1;
    }
    index_text(r, &out, as_written ? r->file : UINT16_MAX);
    free(out.text);
}

static void end_of_file(const reader *r) {
    if (r->text.length == 0)
        return;
    for (int i = 0; i < r->copy_count; i++)
        add_copy(r, r->copies[i]);
    if (r->copy_count == 0)
        index_text(r, &r->text, r->file);
}

/* ---- lines ------------------------------------------------------------------------------------------------------ */

/* `NAME: NAME …` */
static void read_asks(const reader *r, char *text) {
    char *words[WORDS_MAX], *colon = strchr(text, ':');
    if (!colon)
        fail(r, "which names are asked for?");
    *colon = 0;
    int from = name_of(text, strlen(text));
    split(r, colon + 1, words);
    for (int w = 0; words[w]; w++) {
        int to = name_of(words[w], strlen(words[w]));
        add_number(&names[from].asked, to);
    }
}

/* `FACT: NAME …`, `FACT WORD: NAME …` */
static void read_says(const reader *r, char *text) {
    char *said[WORDS_MAX], *words[WORDS_MAX], *colon = strchr(text, ':');
    if (!colon)
        fail(r, "of which names is this said?");
    *colon = 0;
    int count = split(r, text, said), fact = 0;
    while (fact < FACT_COUNT && count > 0 && strcmp(facts[fact], said[0]) != 0)
        fact++;
    if (count < 1 || count > 2 || fact == FACT_COUNT)
        fail(r, "unknown fact");
    split(r, colon + 1, words);
    for (int w = 0; words[w]; w++) {
        names[name_of(words[w], strlen(words[w]))].facts |= 1u << fact;
        if (count == 2)
            put(&words_of_facts, "    {LIBRARY_%s, \"%s\", \"%s\"},\n", facts[fact], words[w], said[1]);
    }
}

static void read_directive(reader *r, char *text) {
    if (strncmp(text, "module ", 7) == 0 && module_count < MODULES_MAX) {
        modules[module_count++] = strdup(text + 7);
        return;
    }
    if (strcmp(text, "gives way") == 0) {
        r->gives_way = true;
    } else if (strcmp(text, "only asked") == 0) {
        r->only_asked = true;
    } else if (strncmp(text, "asks ", 5) == 0) {
        read_asks(r, strdup(text + 5));
    } else if (strncmp(text, "says ", 5) == 0) {
        read_says(r, strdup(text + 5));
    } else if (strncmp(text, "model ", 6) == 0) {
        split(r, strdup(text + 6), r->model);
    } else if (strncmp(text, "is ", 3) == 0 && r->copy_count < COPIES_MAX) {
        int wanted = 0;
        while (r->model[wanted])
            wanted++;
        if (split(r, strdup(text + 3), r->copies[r->copy_count++]) != wanted)
            fail(r, "a copy has as many words as the model");
    } else {
        fail(r, "unknown directive");
    }
}

static void append_text(const reader *r, char *to, const char *text) {
    if (strlen(to) + strlen(text) + 2 > TEXT_MAX)
        fail(r, "too long");
    if (to[0])
        strcat(to, " ");
    strcat(to, text);
}

static void read_doc(reader *r, const char *text) {
    if (strcmp(text, "gradient: no") == 0)
        r->no_gradient = true;
    else if (strncmp(text, "example: ", 9) == 0)
        append_text(r, r->example, text + 9);
    else
        append_text(r, r->about, text);
}

/* What the trait of the library has is what every iterator has. */
static void read_owner(reader *r, const char *line) {
    bool trait = *line == 't';
    const char *at = skip_generics(line + (trait ? 6 : 4)), *brace = strrchr(line, '{');
    at += trait && strncmp(at, "__error_", 8) != 0 ? strspn(at, "_") : 0;
    if (!brace || (size_t)(brace - at) >= sizeof r->owner)
        fail(r, "an impl begins with its head on one line");
    while (brace > at && brace[-1] == ' ')
        brace--;
    memcpy(r->owner, at, (size_t)(brace - at));
    r->owner[brace - at] = 0;
}

static void read_function(reader *r, const char *line) {
    const char *name = line + 3, *open = skip_generics(name + word_length(name)), *brace = strstr(name, " {");
    brace = brace ? brace : strrchr(name, ';'); /* what a trait asks for */
    if (*open != '(' || !brace)
        fail(r, "a function begins with its head on one line");
    bool tensor = strcmp(r->owner, "Tensor") == 0;
    if (strncmp(name, "__", 2) != 0 && r->owner[0] && strncmp(r->owner, "__", 2) != 0 && !r->model[0] &&
        (!tensor || r->about[0])) {
        buffer *to = tensor ? &operations : &methods;
        put_bytes(to, "    {", 5);
        put_quoted(to, r->owner, strlen(r->owner));
        put_bytes(to, ", ", 2);
        put_quoted(to, name, (size_t)(open - name));
        put_bytes(to, ", ", 2);
        put_quoted(to, open, (size_t)(brace - open));
        put(to, ", %s, ", r->no_gradient ? "TL_GRADIENT_NONE" : "TL_GRADIENT_FOLLOWS");
        put_quoted(to, r->example, strlen(r->example));
        put_bytes(to, ", ", 2);
        put_quoted(to, r->about, strlen(r->about));
        put_bytes(to, "},\n", 3);
    }
    r->about[0] = r->example[0] = 0;
    r->no_gradient = false;
}

static void read_line(reader *r, char *line) {
    r->line++;
    line[strcspn(line, "\n")] = 0;
    char *text = line + strspn(line, " ");
    if (strncmp(text, "//! ", 4) == 0) {
        read_directive(r, text + 4);
        return;
    }
    if (strncmp(text, "/// ", 4) == 0) {
        read_doc(r, text + 4);
        return;
    }
    if (text[0] == 0 || strncmp(text, "//", 2) == 0)
        return;
    if (begins_block(line))
        read_owner(r, line);
    else if (text == line && text[0] != '}')
        r->owner[0] = 0;
    if (strncmp(text, "fn ", 3) == 0)
        read_function(r, text);
    put_bytes(&r->text, line, strlen(line));
    put_bytes(&r->text, "\n", 1);
}

/* Below src/language/library, as `masu check --library` compares it. */
static void add_file(const char *path) {
    const char *inside = strstr(path, "language/library/");
    put_bytes(&files, "    ", 4);
    put_quoted(&files, inside ? inside : path, strlen(inside ? inside : path));
    put_bytes(&files, ",\n", 2);
}

static void read_names(const char *path) {
    reader r = {.path = path};
    char *line = NULL, *words[WORDS_MAX];
    size_t capacity = 0;
    FILE *file = fopen(path, "r");
    if (!file)
        fail(&r, "cannot be read");
    while (getline(&line, &capacity, file) >= 0) {
        line[strcspn(line, ")")] = 0;
        if (strncmp(line, "NAME(", 5) != 0)
            continue;
        for (char *c = line; *c; c++)
            *c = *c == ',' ? ' ' : *c;
        if (split(&r, line + 5, words) > 1) {
            int meant = name_of(words[1], strlen(words[1])), other = name_of(words[0], strlen(words[0]));
            add_number(&names[other].asked, meant); /* name_of may have moved the names */
        }
    }
    fclose(file);
    free(line);
}

static void read_file(const char *path) {
    reader r = {.path = path, .file = file_count++};
    add_file(path);
    char *line = NULL;
    size_t capacity = 0;
    FILE *file = fopen(path, "r");
    if (!file)
        fail(&r, "cannot be read");
    while (getline(&line, &capacity, file) >= 0)
        read_line(&r, line);
    end_of_file(&r);
    fclose(file);
    free(line);
    free(r.text.text);
}

/* ---- the C file ------------------------------------------------------------------------------------------------- */

static void write_table(FILE *out, const char *type, const char *name, const buffer *rows) {
    fprintf(out, "const %s %s[] = {\n%s};\nconst size_t %s_count = sizeof %s / sizeof %s[0];\n", type, name,
            rows->text ? rows->text : "", name, name, name);
}

static int number_names(void) {
    int count = 0;
    for (int i = 0; i < name_count; i++) {
        const name *n = &names[i];
        bool counts = n->declared.count > 0 || n->asked.count > 0 || n->is_owner || n->facts;
        names[i].number = counts ? count++ : -1;
    }
    return count;
}

static void write_number(FILE *out, int number, int *next) {
    fprintf(out, "%d,%s", number, ++*next % 20 == 0 ? "\n    " : " ");
}

static void write_asked(FILE *out, const number_list *l, int *next) {
    for (int i = 0; i < l->count; i++)
        if (names[l->items[i]].number >= 0)
            write_number(out, names[l->items[i]].number, next);
}

static void write_names(FILE *out) {
    buffer rows = {0};
    int next = 0;
    fprintf(out, "const uint16_t library_name_lists[] = {\n    ");
    for (int i = 0; i < name_count; i++) {
        const name *n = &names[i];
        if (n->number < 0)
            continue;
        int declared = next;
        for (int d = 0; d < n->declared.count; d++)
            write_number(out, n->declared.items[d], &next);
        int asked = next;
        write_asked(out, &n->asked, &next);
        put(&rows, "    {%zu, %zu, %d, %d, %d, %s, %s, %s, %u},\n", library.length, strlen(n->text), declared, asked,
            next, n->is_owner ? "true" : "false", n->gives_way ? "true" : "false", n->only_asked ? "true" : "false",
            n->facts);
        put_bytes(&library, n->text, strlen(n->text));
    }
    fprintf(out, "0};\n");
    write_table(out, "library_name", "library_names", &rows);
    free(rows.text);
}

/* Open addressing: 1 + the number of a name, 0 where there is none. */
static void write_slots(FILE *out) {
    static uint16_t slots[LIBRARY_SLOTS];
    for (int i = 0; i < name_count; i++) {
        if (names[i].number < 0)
            continue;
        uint32_t at = library_hash(names[i].text, strlen(names[i].text)) % LIBRARY_SLOTS;
        while (slots[at] != 0)
            at = (at + 1) % LIBRARY_SLOTS;
        slots[at] = (uint16_t)(names[i].number + 1);
    }
    fprintf(out, "const uint16_t library_slots[LIBRARY_SLOTS] = {");
    for (int i = 0; i < LIBRARY_SLOTS; i++)
        fprintf(out, "%s%d,", i % 20 == 0 ? "\n    " : " ", slots[i]);
    fprintf(out, "\n};\n");
}

static void write_declarations(FILE *out) {
    buffer rows = {0}, of_blocks = {0};
    int next = 0;
    fprintf(out, "const uint16_t library_declaration_lists[] = {\n    ");
    for (int i = 0; i < declaration_count; i++) {
        const declaration *d = &declarations[i];
        int first = next;
        write_asked(out, &d->asked, &next);
        put(&rows, "    {%zu, %zu, %d, %d, %d, %d, %d},\n", d->offset, d->length, names[d->name].number, d->block,
            d->file, first, next);
    }
    fprintf(out, "0};\n");
    write_table(out, "library_declaration", "library_declarations", &rows);
    for (int i = 0, at = 0; i < block_count; i++) {
        int from = at;
        while (at < declaration_count && declarations[at].block <= i)
            at++;
        put(&of_blocks, "    {%zu, %zu, %d, %d, %d},\n", blocks[i].offset, blocks[i].length,
            blocks[i].owner < 0 ? -1 : names[blocks[i].owner].number, from, at);
    }
    write_table(out, "library_block", "library_blocks", &of_blocks);
    free(rows.text);
    free(of_blocks.text);
}

/* A program says N where the library says __M_N. */
static void ask_for_modules(void) {
    for (int i = 0; i < name_count; i++)
        for (int m = 0; m < module_count; m++) {
            size_t length = strlen(modules[m]);
            const char *text = names[i].text;
            bool in = strncmp(text, "__", 2) == 0 && strncmp(text + 2, modules[m], length) == 0 &&
                      text[2 + length] == '_' && names[i].declared.count > 0;
            if (in) {
                const char *rest = text + 3 + length;
                int asks = name_of(rest, strlen(rest));
                add_number(&names[asks].asked, i);
            }
        }
}

static bool ends_with(const char *text, const char *end) {
    size_t length = strlen(text), bytes = strlen(end);
    return length >= bytes && strcmp(text + length - bytes, end) == 0;
}

int main(int count, char **arguments) {
    if (count < 3)
        return 2;
    name_of("*", 1); /* the first */
    for (int i = 2; i < count; i++)
        if (ends_with(arguments[i], ".def"))
            read_names(arguments[i]);
        else
            read_file(arguments[i]);
    ask_for_modules();
    if (2 * number_names() > LIBRARY_SLOTS) {
        fprintf(stderr, "LIBRARY_SLOTS of hash.h is too small\n");
        return 1;
    }
    FILE *out = fopen(arguments[1], "w");
    if (!out)
        return 1;
    fprintf(out,
            "/* Written by embed_library.c from src/language/library. */\n"
            "#include \"language/library/hash.h\"\n#include \"language/library/library.h\"\n\n");
    write_declarations(out);
    write_names(out);
    write_slots(out);
    buffer text = {0};
    put_quoted(&text, library.text, library.length);
    fprintf(out, "const char library_text[] =\n    %s;\n", text.text);
    fprintf(out, "const char *const library_files[] = {\n%s    NULL};\n", files.text);
    fprintf(out, "const char *const library_modules[] = {\n");
    for (int m = 0; m < module_count; m++)
        fprintf(out, "    \"%s\",\n", modules[m]);
    fprintf(out, "    NULL};\n");
    write_table(out, "library_fact_word", "library_fact_words", &words_of_facts);
    write_table(out, "library_function", "library_operations", &operations);
    write_table(out, "library_function", "library_methods", &methods);
    return fclose(out) == 0 ? 0 : 1;
}
