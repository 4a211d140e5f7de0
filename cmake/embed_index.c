/* embed_index.c: the declarations of the library's text, and the index from names to them.
 *
 * Declarations are told apart by their indentation, which `masu fmt` keeps: one begins outside of any block or directly
 * in an `impl`, and ends in its line or with the `}` that stands below its beginning.
 */
#include "embed.h"

#include <stdlib.h>
#include <string.h>

#include "../src/language/library/hash.h"

buffer library;
static block *blocks;
static declaration *declarations;
static int block_count, declaration_count, block_capacity, declaration_capacity;

/* ---- declarations --------------------------------------------------------------------------------------------- */

static int add_block(const char *head, size_t length, int owner) {
    blocks = room(blocks, block_count, &block_capacity, sizeof *blocks);
    blocks[block_count] = (block){library.length, length, owner};
    put_bytes(&library, head, length);
    return block_count++;
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

bool begins_block(const char *line) {
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

void end_of_file(const reader *r) {
    if (r->text.length == 0)
        return;
    for (int i = 0; i < r->copy_count; i++)
        add_copy(r, r->copies[i]);
    if (r->copy_count == 0)
        index_text(r, &r->text, r->file);
}

/* ---- the C file ------------------------------------------------------------------------------------------------- */

void write_table(FILE *out, const char *type, const char *name, const buffer *rows) {
    fprintf(out, "const %s %s[] = {\n%s};\nconst size_t %s_count = sizeof %s / sizeof %s[0];\n", type, name,
            rows->text ? rows->text : "", name, name, name);
}

bool number_names(void) {
    int count = 0;
    for (int i = 0; i < name_count; i++) {
        const name *n = &names[i];
        bool counts = n->declared.count > 0 || n->asked.count > 0 || n->is_owner || n->facts[0] || n->facts[1];
        names[i].number = counts ? count++ : -1;
    }
    if (2 * count > LIBRARY_SLOTS)
        fprintf(stderr, "LIBRARY_SLOTS of hash.h is too small\n");
    return 2 * count <= LIBRARY_SLOTS;
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
        put(&rows, "    {%zu, %zu, %d, %d, %d, %s, %s, %s, {0x%llx, 0x%llx}},\n", library.length, strlen(n->text), declared,
            asked, next, n->is_owner ? "true" : "false", n->gives_way ? "true" : "false",
            n->only_asked ? "true" : "false", (unsigned long long)n->facts[0], (unsigned long long)n->facts[1]);
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

void write_index(FILE *out) {
    write_declarations(out);
    write_names(out);
    write_slots(out);
    buffer text = {0};
    put_quoted(&text, library.text, library.length);
    fprintf(out, "const char library_text[] =\n    %s;\n", text.text);
    free(text.text);
}
