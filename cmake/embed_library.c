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
 *     //! says writes: push pop                      a fact of these names (facts.def): some file declares them, or the
 *                                                    fact says that the compiler does
 *     //! says stage MAP: map                        the same, with a word; one in capitals is a row of words.def
 *     //! gives way                                  a program's type or trait may have the name of one of this file
 *
 * The index (library.h): a declaration is a function, a method, a struct, an enum or a constant. It is loaded when its
 * name is asked for, by a token of the program or of a declaration that is loaded, and a method when its type is, too.
 * A row NAME(other, name, …) of a .def file is `asks other: name`. A method of a `trait` is one whose type is the
 * trait.
 */
#include "embed.h"

#include <stdlib.h>
#include <string.h>

buffer operations, methods;
static buffer files;
static char *modules[MODULES_MAX];
static int module_count, file_count;

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
    read_math();
    ask_for_modules();
    if (check_facts() != 0)
        return 1;
    if (!number_names())
        return 1;
    FILE *out = fopen(arguments[1], "w");
    if (!out)
        return 1;
    fprintf(out,
            "/* Written by embed_library.c from src/language/library. */\n"
            "#include \"language/library/hash.h\"\n#include \"language/library/library.h\"\n\n");
    write_index(out);
    fprintf(out, "const char *const library_files[] = {\n%s    NULL};\n", files.text);
    fprintf(out, "const char *const library_modules[] = {\n");
    for (int m = 0; m < module_count; m++)
        fprintf(out, "    \"%s\",\n", modules[m]);
    fprintf(out, "    NULL};\n");
    write_facts(out);
    write_table(out, "library_function", "library_operations", &operations);
    write_table(out, "library_function", "library_methods", &methods);
    return fclose(out) == 0 ? 0 : 1;
}
