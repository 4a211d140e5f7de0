/* embed_library.c: writes the library of the language, src/language/library, as one C file for the compiler: the text
 * of its parts and a table of what is documented.
 *
 *     masu_embed OUT.c FILE.tl …
 *
 * A file is a program in the language: it can be checked and formatted as any other. Its comments carry what is said
 * of it, and are not embedded:
 *
 *     /// what the function below does               of docs/operations.md
 *     /// gradient: no                               backward stops at it
 *     /// example: a[2,3]: a.var()                   operands and a call, from which tests draw cases
 *     //! when Map Set                               this file is read with a program one of whose tokens holds one of these
 *     //! when named                                 what follows is read with a program that names one of its functions
 *     //! model i16 u16 16                           the words of this file that others take the place of,
 *     //! is u8 u8 8 when u8                         once for each such line
 */
#include <ctype.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WORDS_MAX = 16, COPIES_MAX = 24, TEXT_MAX = 400, WISHES_MAX = 31 };

typedef struct buffer {
    char *text;
    size_t length, capacity;
} buffer;

typedef struct copy {
    char *is[WORDS_MAX];
    char *when;
} copy;

/* What the lines of one file have said so far. */
typedef struct reader {
    const char *path;
    int line;
    bool named; /* behind `//! when named` */
    char *model[WORDS_MAX];
    copy copies[COPIES_MAX];
    int copy_count;
    buffer text;
    char owner[TEXT_MAX], about[TEXT_MAX], example[TEXT_MAX];
    bool no_gradient;
} reader;

static buffer parts, tables, wishes, operations, methods, named_text, named_names;
static const char *wish_words[WISHES_MAX];
static int part_count, wish_count;

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
    for (size_t i = 0; i < length; i++) {
        if (text[i] == '\n')
            put_bytes(b, i + 1 < length ? "\\n\"\n    \"" : "\\n", i + 1 < length ? 9 : 2);
        else if (text[i] == '"' || text[i] == '\\')
            put(b, "\\%c", text[i]);
        else
            put_bytes(b, text + i, 1);
    }
    put_bytes(b, "\"", 1);
}

static bool is_word(char c) { return isalnum((unsigned char)c) || c == '_'; }

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

/* ---- a part --------------------------------------------------------------------------------------------------- */

/* The number of a wish; a new row for words that no part before had. -1: none. */
static int wish_of(const reader *r, const char *when) {
    int i = 0;
    while (when && i < wish_count && strcmp(wish_words[i], when) != 0)
        i++;
    if (!when || i < wish_count)
        return when ? i : -1;
    if (wish_count == WISHES_MAX)
        fail(r, "too many wishes");
    wish_words[wish_count++] = when;
    char *words[WORDS_MAX];
    split(r, strdup(when), words);
    put_bytes(&wishes, "    {{", 6);
    for (int w = 0; words[w]; w++) {
        put_quoted(&wishes, words[w], strlen(words[w]));
        put_bytes(&wishes, ", ", 2);
    }
    put(&wishes, "NULL}, NULL},\n");
    return i;
}

static void put_part(const char *text, size_t length, int wish) {
    put(&parts, "static const char text_%d[] =\n    ", part_count);
    put_quoted(&parts, text, length);
    put_bytes(&parts, ";\n", 2);
    put(&tables, "    {text_%d, sizeof text_%d - 1, %d},\n", part_count, part_count, wish);
    part_count++;
}

/* The text with the words of a copy where those of the model are. */
static void put_copy(const reader *r, const copy *c) {
    buffer out = {0};
    const char *at = r->text.text, *end = at + r->text.length;
    while (at < end) {
        size_t length = 1;
        while (is_word(*at) && at + length < end && is_word(at[length]))
            length++;
        int w = 0;
        while (r->model[w] && (strlen(r->model[w]) != length || memcmp(r->model[w], at, length)))
            w++;
        if (r->model[w])
            put_bytes(&out, c->is[w], strlen(c->is[w]));
        else
            put_bytes(&out, at, length);
        at += length;
    }
    put_part(out.text, out.length, wish_of(r, c->when));
    free(out.text);
}

static void end_of_part(reader *r) {
    if (r->text.length == 0)
        return;
    if (r->named)
        put_bytes(&named_text, r->text.text, r->text.length);
    else if (r->model[0])
        for (int i = 0; i < r->copy_count; i++)
            put_copy(r, &r->copies[i]);
    else
        put_copy(r, &r->copies[0]); /* without a model: its words are none */
    r->text.length = 0;
}

/* ---- lines ------------------------------------------------------------------------------------------------------ */

static void read_directive(reader *r, char *text) {
    if (strcmp(text, "when named") == 0) {
        end_of_part(r);
        r->named = true;
    } else if (strncmp(text, "when ", 5) == 0) {
        r->copies[0].when = strdup(text + 5);
    } else if (strncmp(text, "model ", 6) == 0) {
        split(r, strdup(text + 6), r->model);
    } else if (strncmp(text, "is ", 3) == 0 && r->copy_count < COPIES_MAX) {
        copy *c = &r->copies[r->copy_count++];
        char *words = strdup(text + 3), *when = strstr(words, " when ");
        if (when) {
            *when = 0;
            c->when = when + 6;
        }
        int wanted = 0;
        while (r->model[wanted])
            wanted++;
        if (split(r, words, c->is) != wanted)
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

static void read_owner(reader *r, const char *line) {
    const char *at = line + 4, *brace = strrchr(line, '{');
    if (*at == '<')
        at += strcspn(at, ">") + 1;
    while (*at == ' ')
        at++;
    if (!brace || (size_t)(brace - at) >= sizeof r->owner)
        fail(r, "an impl begins with its head on one line");
    while (brace > at && brace[-1] == ' ')
        brace--;
    memcpy(r->owner, at, (size_t)(brace - at));
    r->owner[brace - at] = 0;
}

static void read_function(reader *r, const char *line) {
    const char *name = line + 3, *open = strchr(name, '('), *brace = strstr(name, " {");
    if (!open || !brace)
        fail(r, "a function begins with its head on one line");
    size_t bare = strcspn(name, "<(");
    bool tensor = strcmp(r->owner, "Tensor") == 0;
    if (strncmp(name, "__", 2) != 0 && r->owner[0] && !r->model[0] &&
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
        if (r->named) {
            put_bytes(&named_names, "    ", 4);
            put_quoted(&named_names, name, bare);
            put_bytes(&named_names, ",\n", 2);
        }
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
    if (strncmp(line, "impl", 4) == 0)
        read_owner(r, line);
    else if (text == line && text[0] != '}')
        r->owner[0] = 0;
    if (strncmp(text, "fn ", 3) == 0)
        read_function(r, text);
    put_bytes(&r->text, text, strlen(text));
    put_bytes(&r->text, "\n", 1);
}

static void read_file(const char *path) {
    reader r = {.path = path};
    char *line = NULL;
    size_t capacity = 0;
    FILE *file = fopen(path, "r");
    if (!file)
        fail(&r, "cannot be read");
    while (getline(&line, &capacity, file) >= 0)
        read_line(&r, line);
    end_of_part(&r);
    fclose(file);
    free(line);
    free(r.text.text);
}

static void write_table(FILE *out, const char *type, const char *name, const buffer *rows) {
    fprintf(out, "const %s %s[] = {\n%s};\nconst size_t %s_count = sizeof %s / sizeof %s[0];\n",
            type, name, rows->text ? rows->text : "", name, name, name);
}

int main(int count, char **arguments) {
    if (count < 3)
        return 2;
    for (int i = 2; i < count; i++)
        read_file(arguments[i]);
    put_part(named_text.text, named_text.length, wish_count);
    put(&wishes, "    {{NULL}, named},\n");
    FILE *out = fopen(arguments[1], "w");
    if (!out)
        return 1;
    fprintf(out, "/* Written by embed_library.c from src/language/library. */\n"
                 "#include \"language/library/library.h\"\n\n");
    fprintf(out, "%s", parts.text);
    fprintf(out, "static const char *const named[] = {\n%s    NULL};\n", named_names.text);
    write_table(out, "library_wish", "library_wishes", &wishes);
    write_table(out, "library_part", "library_parts", &tables);
    write_table(out, "library_function", "library_operations", &operations);
    write_table(out, "library_function", "library_methods", &methods);
    return fclose(out) == 0 ? 0 : 1;
}
