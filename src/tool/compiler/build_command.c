/* build_command.c: `masu build`: a native executable, or a shared library for callers in C.
 *
 *     FILE ─► objects (LLVM) ─► temporary folder ─┐
 *     libmasu_program.a (runtime, main) ──────────┴─► the system's cc links ─► EXE
 *
 *     with --c: the file and its header are what the generator makes; nothing is linked
 *     with --shared: module.c, the table of what is exported, is written beside the objects and compiled with them
 *
 * The archive lies beside this command in a build folder, in the library folder of its prefix when
 * installed. Only what the program uses is taken from it: without a matrix product no BLAS is loaded.
 */
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buffer.h"
#include "tool/compiler/compiler.h"
#include "tool/tool.h"
#include "tool/whole_files.h"

extern char **environ;

static const char *const known[] = {"-o",      "--library", "--by-line", "--shared", "--c",    "--header", "--name",
                                    "--arena", "--weights", "--dump=",   "--verify", "--help", NULL};

typedef struct build_options {
    tool_compile_flags compile;
    const char *path, *output, *library;
    bool by_line;
    bool shared;
    bool plain_c;
    const char *header;   /* NULL: none is written */
    const char *arena;    /* calls whose arena the header tells; NULL: none */
    masu__buffer calls;   /* what arena points into where --arena is given more than once */
    tool_weights weights; /* constants of plain C */
    const char *name;     /* that names in C begin with; NULL: follows from the header or the library */
} build_options;

enum { PATH_BYTES = 4096, MOST_OBJECTS = 2, MOST_WORDS = 48, NAME_BYTES = 128 };

/* ---- linking --------------------------------------------------------------------------------- */

typedef struct work {
    char folder[64];
    char objects[MOST_OBJECTS][96];
    unsigned object_count;
    char table[96], symbols[96]; /* of a shared library; "": there are none */
} work;

static bool write_object(const char *path, masu_object object) {
    FILE *file = fopen(path, "wb");
    if (!file)
        return false;
    bool written = fwrite(object.data, 1, object.length, file) == object.length;
    return fclose(file) == 0 && written;
}

static bool write_objects(const masu_program *program, work *w) {
    masu_object object;
    strcpy(w->folder, "/tmp/masu-build-XXXXXX");
    if (!mkdtemp(w->folder)) {
        w->folder[0] = 0;
        return false;
    }
    while (w->object_count < MOST_OBJECTS && (object = masu_program_object(program, w->object_count)).data) {
        char *path = w->objects[w->object_count];
        strcpy(path, w->folder);
        strcat(path, w->object_count ? "/1.o" : "/0.o");
        w->object_count++;
        if (!write_object(path, object))
            return false;
    }
    return true;
}

/* Writes what `put` says of the module. */
static bool write_text(const char *path, const masu_module *module, void (*put)(const masu_module *, masu__buffer *)) {
    masu__buffer text = {0};
    put(module, &text);
    bool written = !text.failed && write_object(path, (masu_object){text.data, text.length});
    masu__buffer_destroy(&text);
    return written;
}

static bool write_table(const masu_module *module, work *w) {
    snprintf(w->table, sizeof w->table, "%s/module.c", w->folder);
    snprintf(w->symbols, sizeof w->symbols, "%s/symbols", w->folder);
    return write_text(w->table, module, tool_put_module) && write_text(w->symbols, module, tool_put_module_symbols);
}

static void clean(const work *w) {
    if (w->table[0])
        unlink(w->table);
    if (w->symbols[0])
        unlink(w->symbols);
    for (unsigned i = 0; i < w->object_count; i++)
        unlink(w->objects[i]);
    if (w->folder[0])
        rmdir(w->folder);
}

/* Splits at spaces, in place. */
static size_t add_words(char *text, char **words, size_t count) {
    for (char *word = strtok(text, " "); word && count + 1 < MOST_WORDS; word = strtok(NULL, " "))
        words[count++] = word;
    return count;
}

static int run_linker(char **words) {
    pid_t child;
    int state, failed = posix_spawnp(&child, words[0], NULL, NULL, words, environ);
    if (failed) {
        fprintf(stderr,
                "masu build: linking needs a C compiler, and `%s` cannot be run: %s\n"
                "Install one (gcc or clang), or name it in $CC.\n",
                words[0], strerror(failed));
        return TOOL_FAILED;
    }
    while (waitpid(child, &state, 0) < 0)
        if (errno != EINTR)
            return TOOL_FAILED;
    if (WIFEXITED(state) && WEXITSTATUS(state) == 0)
        return TOOL_OK;
    fprintf(stderr, "masu build: `%s` could not link the program\n", words[0]);
    return TOOL_FAILED;
}

/* The folder that has <masu/module.h>: beside the command, or in its prefix. */
static bool find_headers(char *path, size_t bytes) {
    static const char name[] = "include/masu/module.h";
    if (!tool_find_file(name, "", path, bytes))
        return false;
    path[strlen(path) - strlen("/masu/module.h")] = 0;
    return true;
}

static int link_program(const build_options *options, work *w, char *library) {
    const char *chosen = getenv("CC");
    char compiler[PATH_BYTES], headers[PATH_BYTES], symbols[PATH_BYTES], libraries[] = MASU_LINK_LIBRARIES;
    char *words[MOST_WORDS];
    snprintf(compiler, sizeof compiler, "%s", chosen && *chosen ? chosen : "cc");
    size_t count = add_words(compiler, words, 0);
    words[count++] = "-o";
    words[count++] = (char *)(uintptr_t)options->output;
    for (unsigned i = 0; i < w->object_count; i++)
        words[count++] = w->objects[i];
    if (options->shared) {
        static const char *const flags[] = {"-shared",
                                            "-fPIC",
                                            "-O1",
                                            "-std=gnu11",
                                            "-w",
                                            "-Wl,-z,nodelete",
                                            /* its workers sleep until the process ends */ "-I"};
        if (!find_headers(headers, sizeof headers)) {
            fprintf(stderr,
                    "masu build: the headers of masu are missing: include/masu/module.h lies beside this "
                    "command or in its prefix\n");
            return TOOL_FAILED;
        }
        for (size_t i = 0; i < sizeof flags / sizeof flags[0]; i++)
            words[count++] = (char *)(uintptr_t)flags[i];
        words[count++] = headers;
        words[count++] = w->table;
        snprintf(symbols, sizeof symbols, "-Wl,--version-script=%s", w->symbols);
        words[count++] = symbols;
    }
    words[count++] = library;
    words[count++] = "-Wl,--gc-sections";
    words[count++] = "-Wl,--as-needed";
    count = add_words(libraries, words, count);
    words[count] = NULL;
    return run_linker(words);
}

static int make_header(const build_options *options, const masu_module *module) {
    masu__buffer text = {0};
    size_t bytes = 0;
    if (options->arena && !tool_rehearse(options->output, options->arena, &bytes))
        return TOOL_FAILED;
    tool_put_header(module, options->arena, bytes, &text);
    bool written = !text.failed && write_object(options->header, (masu_object){text.data, text.length});
    masu__buffer_destroy(&text);
    if (!written)
        fprintf(stderr, "masu build: cannot write %s: %s\n", options->header, strerror(errno));
    return written ? TOOL_OK : TOOL_FAILED;
}

/* The prefix of names in C: that of the header or the library, without folder, `lib` and ending. False: it cannot. */
static bool module_name(const build_options *options, char name[NAME_BYTES]) {
    const char *from = options->name ? options->name : options->header ? options->header : options->output;
    const char *slash = options->name ? NULL : strrchr(from, '/');
    from = slash ? slash + 1 : from;
    if (!options->name && !options->header && strncmp(from, "lib", 3) == 0)
        from += 3;
    size_t length = options->name ? strlen(from) : strcspn(from, ".");
    snprintf(name, NAME_BYTES, "%.*s", (int)length, from);
    bool good = name[0] != 0 && !(name[0] >= '0' && name[0] <= '9') && length < NAME_BYTES;
    for (size_t i = 0; i < strlen(name); i++) {
        if (name[i] == '-' && !options->name)
            name[i] = '_';
        good = good && (name[i] == '_' || (name[i] >= '0' && name[i] <= '9') || (name[i] >= 'a' && name[i] <= 'z') ||
                        (name[i] >= 'A' && name[i] <= 'Z'));
    }
    return good && !tool_is_word_of_c(name);
}

/* The C file, which includes its header by name: both or neither. */
static int write_plain_c(const build_options *options, const masu_program *program) {
    tool_file files[] = {{options->output, {0}}, {options->header, {0}}};
    for (unsigned i = 0; i < 2; i++) {
        masu_object object = masu_program_object(program, i);
        masu__buffer_append(&files[i].text, object.data, object.length);
    }
    return tool_write_files("build", files, 2);
}

static int build_plain_c(build_options *options) {
    char name[NAME_BYTES];
    masu_compile_options compile = tool_compile_options(&options->compile, MASU_STAGE_CODE);
    masu_program *program;
    if (!module_name(options, name))
        return tool_misuse("build", "`%s` is not a name that C can begin with: say another with --name", name);
    compile.generator = &masu_portable;
    compile.objects = true;
    compile.module = name;
    compile.calls = options->arena;
    compile.weights = options->weights.given;
    compile.weights_count = options->weights.count;
    int status = tool_open_weights(&options->weights) ? TOOL_OK : TOOL_FAILED;
    if (status == TOOL_OK) {
        status = tool_compile(options->path, &compile, options->compile.quiet, &program);
        if (status == TOOL_OK)
            status = write_plain_c(options, program);
        masu_program_destroy(program);
    }
    tool_close_weights(&options->weights);
    return status;
}

static int build(const build_options *options) {
    char library[PATH_BYTES];
    bool found = options->library ? tool_is_file(options->library)
                                  : tool_find_file("libmasu_program.a", MASU_LIBRARY_FOLDER, library, sizeof library);
    if (!found) {
        fprintf(stderr, "masu build: there is no %s to link with; name it with --library\n",
                options->library ? options->library : "libmasu_program.a");
        return TOOL_FAILED;
    }
    if (options->library)
        snprintf(library, sizeof library, "%s", options->library);
    masu_compile_options compile = tool_compile_options(&options->compile, MASU_STAGE_CODE);
    compile.generator = &masu_llvm;
    compile.objects = true;
    compile.count_by_line = options->by_line;
    char name[NAME_BYTES];
    if (options->shared && !module_name(options, name))
        return tool_misuse("build", "`%s` is not a name that C can begin with: say another with --name", name);
    compile.module = options->shared ? name : NULL;
    masu_program *program;
    work w = {0};
    int status = tool_compile(options->path, &compile, options->compile.quiet, &program);
    if (status == TOOL_OK &&
        (!write_objects(program, &w) || (options->shared && !write_table(masu_program_module(program), &w)))) {
        fprintf(stderr, "masu build: cannot write to %s: %s\n", w.folder[0] ? w.folder : "/tmp", strerror(errno));
        status = TOOL_FAILED;
    }
    if (status == TOOL_OK)
        status = link_program(options, &w, library);
    if (status == TOOL_OK && options->header)
        status = make_header(options, masu_program_module(program));
    masu_program_destroy(program);
    clean(&w);
    return status;
}

static int check_files(const build_options *options) {
    const char *written[] = {options->output, options->header};
    for (unsigned i = 0; i < 2; i++)
        if (written[i] && strcmp(options->path, "-") != 0 && tool_is_same_file(written[i], options->path))
            return tool_misuse("build", "%s is the program itself: it would be written over", written[i]);
    for (size_t k = 0; k < options->weights.count; k++)
        for (unsigned i = 0; i < 2; i++)
            if (written[i] && tool_is_same_file(written[i], options->weights.given[k].path))
                return tool_misuse("build", "%s holds the weights: it would be written over", written[i]);
    if (options->header && tool_is_same_file(options->output, options->header))
        return tool_misuse("build", "-o and --header name the same file: %s", options->header);
    return TOOL_OK;
}

/* ---- the command line ------------------------------------------------------------------------ */

/* Calls of several --arena are one list. */
static int add_calls(build_options *options, const char *calls) {
    if (!options->arena) {
        options->arena = calls;
        return TOOL_OK;
    }
    if (options->calls.length == 0)
        masu__buffer_puts(&options->calls, options->arena);
    masu__buffer_printf(&options->calls, "; %s", calls);
    if (options->calls.failed)
        return tool_misuse("build", "out of memory for the calls of --arena");
    options->arena = masu__buffer_text(&options->calls);
    return TOOL_OK;
}

static int take_option(int argc, char **argv, int *index, build_options *options) {
    const char *argument = argv[*index], *value;
    bool missing = false;
    tool_option taken = tool_compile_option("build", argument, &options->compile);
    if (taken != TOOL_OPTION_UNKNOWN)
        return taken == TOOL_OPTION_TAKEN ? TOOL_OK : TOOL_MISUSED;
    if (strcmp(argument, "--by-line") == 0)
        options->by_line = true;
    else if (strcmp(argument, "--shared") == 0)
        options->shared = true;
    else if (strcmp(argument, "--c") == 0)
        options->plain_c = true;
    else if ((value = tool_option_value("-o", argc, argv, index, &missing)))
        options->output = value;
    else if ((value = tool_option_value("--header", argc, argv, index, &missing)))
        options->header = value;
    else if ((value = tool_option_value("--arena", argc, argv, index, &missing)))
        return add_calls(options, value);
    else if ((value = tool_option_value("--weights", argc, argv, index, &missing)))
        return tool_add_weights(&options->weights, value);
    else if ((value = tool_option_value("--name", argc, argv, index, &missing)))
        options->name = value;
    else if ((value = tool_option_value("--library", argc, argv, index, &missing)))
        options->library = value;
    else if (missing)
        return tool_misuse("build", "%s needs a value", argument);
    else
        return tool_unknown_option("build", argument, known);
    return TOOL_OK;
}

static int take_arguments(int argc, char **argv, build_options *options) {
    for (int i = 1; i < argc; i++) {
        bool is_option = argv[i][0] == '-' && argv[i][1] != 0;
        if (!is_option && options->path)
            return tool_misuse("build", "one file at a time: `%s` is too many", argv[i]);
        if (!is_option)
            options->path = argv[i];
        else if (take_option(argc, argv, &i, options) != TOOL_OK)
            return TOOL_MISUSED;
    }
    return TOOL_OK;
}

/* Options that need another one, or exclude it. */
static int check_options(const build_options *options) {
    if (!options->path)
        return tool_misuse("build", "which file?");
    if (!options->output)
        return tool_misuse("build", "-o EXE is missing: where shall the executable go?");
    if (!options->shared && !options->plain_c && (options->header || options->name))
        return tool_misuse("build", "%s goes with --shared or --c", options->header ? "--header" : "--name");
    if (options->plain_c && options->shared)
        return tool_misuse("build", "--shared or --c: one of the two");
    if (options->plain_c && !options->header)
        return tool_misuse("build", "--c needs --header FILE.h: callers and the C file include it");
    if (options->plain_c && options->by_line)
        return tool_misuse("build", "--by-line counts while a program runs: plain C has no one to tell");
    if (options->plain_c && options->library)
        return tool_misuse("build", "--library is what executables are linked with: plain C needs none");
    if (options->weights.count > 0 && !options->plain_c)
        return tool_misuse("build", "--weights goes with --c: elsewhere the program reads the file itself");
    if (options->arena && !options->header)
        return tool_misuse("build", "--arena goes with --header, where the size is written");
    return check_files(options);
}

int tool_build_program(int argc, char **argv) {
    build_options options = {0};
    int status = take_arguments(argc, argv, &options);
    if (status == TOOL_OK)
        status = check_options(&options);
    if (status == TOOL_OK)
        status = options.plain_c ? build_plain_c(&options) : build(&options);
    masu__buffer_destroy(&options.calls);
    return status;
}
