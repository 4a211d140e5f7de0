/* import_command.c: `masu import`: a network as a program, its weights beside it. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "language/language.h"
#include "models/models.h"
#include "tool/tool.h"

enum { MOST_DIMS = 64, MOST_PATH = 4096 };

static const char usage[] =
    "Usage: masu import MODEL.onnx [-o OUT.tl] [--dim NAME=N]… [--widen]\n"
    "\n"
    "Writes the network as a program of the language: a function `forward` over typed tensors, a line for each "
    "operator, and\n"
    "its weights in OUT.safetensors beside OUT.tl. `masu run OUT.tl INPUTS.safetensors OUTPUTS.safetensors` runs it, "
    "`masu build\n"
    "--shared` makes a library of it.\n"
    "\n"
    "  -o OUT.tl         the program's file; without it MODEL.tl in the folder where the command runs\n"
    "  --dim NAME=N      a number for an open dimension: by its name, or as INPUT:AXIS\n"
    "  --widen           float16 and bfloat16 are computed with as f32: rounded less than the network says\n"
    "  --help            this text\n"
    "\n"
    "An operator, attribute or element type that is not supported is an error that names it; nothing is written then.\n"
    "\n"
    "Exit status: 0; 1 when MODEL cannot be read or taken, or a file not be written; 2 when the command line is "
    "wrong.\n";

typedef struct arguments {
    const char *path, *out;
    masu__model_dim dims[MOST_DIMS];
    size_t dim_count;
    bool widens;
} arguments;

typedef struct paths {
    char program[MOST_PATH], weights[MOST_PATH];
    char new_program[MOST_PATH + 32],
        new_weights[MOST_PATH + 32]; /* beside them; another run at the same time has others */
} paths;

static const char *last_part(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static bool ends_with(const char *text, const char *end) {
    size_t length = strlen(text), tail = strlen(end);
    return length > tail && strcmp(text + length - tail, end) == 0;
}

static bool make_paths(const arguments *a, paths *p) {
    const char *from = a->out ? a->out : last_part(a->path), *end = a->out ? ".tl" : ".onnx";
    int stem = (int)(strlen(from) - (ends_with(from, end) ? strlen(end) : 0));
    if (stem + 20 > MOST_PATH || stem == 0 || from[stem - 1] == '/')
        return false;
    snprintf(p->program, sizeof p->program, "%.*s.tl", stem, from);
    snprintf(p->weights, sizeof p->weights, "%.*s.safetensors", stem, from);
    snprintf(p->new_program, sizeof p->new_program, "%s.%ld.tmp", p->program, (long)getpid());
    snprintf(p->new_weights, sizeof p->new_weights, "%s.%ld.tmp", p->weights, (long)getpid());
    return true;
}

typedef struct sink {
    const char *path;
    FILE *file; /* opened by the first bytes */
} sink;

static bool take(void *context, const void *bytes, size_t length) {
    sink *s = context;
    if (!s->file)
        s->file = fopen(s->path, "wb");
    return s->file && fwrite(bytes, 1, length, s->file) == length;
}

static int cannot_write(const char *path) {
    fprintf(stderr, "masu import: cannot write %s: %s\n", path, strerror(errno));
    return TOOL_FAILED;
}

/* Refuses a target that cannot be replaced by a file, before the other one is written. */
static bool is_replaceable(const char *path) {
    struct stat now;
    if (stat(path, &now) != 0 || S_ISREG(now.st_mode))
        return true;
    errno = S_ISDIR(now.st_mode) ? EISDIR : EEXIST;
    return false;
}

/* Both files under their names, or none of them. */
static int put(const paths *p, sink *weights, const masu__buffer *program) {
    sink text = {.path = p->new_program};
    if (!is_replaceable(p->program))
        return cannot_write(p->program);
    if (!is_replaceable(p->weights))
        return cannot_write(p->weights);
    bool has_weights = weights->file != NULL, right = take(&text, program->data, program->length);
    if (text.file)
        right &= fclose(text.file) == 0;
    if (!right)
        return cannot_write(p->program);
    if (has_weights) {
        right = fclose(weights->file) == 0;
        weights->file = NULL;
        if (!right || rename(p->new_weights, p->weights) != 0)
            return cannot_write(p->weights);
    }
    return rename(p->new_program, p->program) == 0 ? TOOL_OK : cannot_write(p->program);
}

static const char *line_of(const masu__buffer *text, uint32_t number, int *length) {
    const char *at = masu__buffer_text(text);
    for (; number > 1 && strchr(at, '\n'); number--)
        at = strchr(at, '\n') + 1;
    at += strspn(at, " ");
    *length = (int)strcspn(at, "\n");
    return at;
}

static int all_dims_used(const arguments *a) {
    for (size_t i = 0; i < a->dim_count; i++)
        if (!a->dims[i].was_used) {
            fprintf(stderr, "masu import: --dim %.*s: the network has no open dimension of this name\n",
                    MASU__MODEL_TEXT(a->dims[i].name));
            return TOOL_FAILED;
        }
    return TOOL_OK;
}

/* A file may say of a tensor what its operators do not make, or give an operator what it does not take: the compiler
 * sees it. */
static int check(const arguments *a, const paths *p, const masu__buffer *text) {
    masu_compile_options options = {.until = MASU_STAGE_CHECK};
    masu_diagnostic_info found = {0};
    masu_program *program = NULL;
    masu_status status = masu_program_compile(p->program, text->data, text->length, &options, &program);
    bool right = status != MASU_ERR_OUT_OF_MEMORY && masu_program_error_count(program) == 0;
    if (status == MASU_ERR_OUT_OF_MEMORY)
        fprintf(stderr, "%s: error: out of memory\n", a->path);
    for (size_t i = 0; !right && program && masu_program_diagnostic(program, i, &found); i++)
        if (found.is_error) {
            int length = 0;
            const char *line = line_of(text, found.line, &length);
            fprintf(stderr,
                    "%s: error: the network's operators and what it says of its tensors do not agree: %s in `%.*s`\n",
                    a->path, found.message, length, line);
            break;
        }
    masu_program_destroy(program);
    return right ? TOOL_OK : TOOL_FAILED;
}

static int import(arguments *a, const tool_text *file) {
    paths p;
    masu__buffer program = {0}, why = {0};
    if (!make_paths(a, &p))
        return tool_misuse("import", "-o: `%s` is not the path of a program, or is too long",
                           a->out ? a->out : a->path);
    sink weights = {.path = p.new_weights};
    int status = TOOL_FAILED;
    if (!masu__model_import(file->data, file->length, a->dims, a->dim_count, last_part(a->path), a->widens, &program,
                            take, &weights, &why))
        fprintf(stderr, "%s: error: %s\n", a->path, masu__buffer_text(&why));
    else if (all_dims_used(a) == TOOL_OK && check(a, &p, &program) == TOOL_OK)
        status = put(&p, &weights, &program);
    if (weights.file)
        fclose(weights.file);
    remove(p.new_weights);
    remove(p.new_program);
    masu__buffer_destroy(&program);
    masu__buffer_destroy(&why);
    return status;
}

static bool read_dim(arguments *a, const char *text) {
    const char *equals = strrchr(text, '=');
    char *end;
    if (!equals || equals == text || a->dim_count == MOST_DIMS)
        return false;
    errno = 0;
    long long size = strtoll(equals + 1, &end, 10);
    if (errno || end == equals + 1 || *end || size < 0)
        return false;
    a->dims[a->dim_count++] = (masu__model_dim){{text, (size_t)(equals - text)}, size, false};
    return true;
}

static int run(int argc, char **argv) {
    static const char *const known[] = {"-o", "--dim", "--widen", "--help", NULL};
    arguments a = {0};
    const char *value;
    for (int i = 1; i < argc; i++) {
        bool missing = false;
        if ((value = tool_option_value("-o", argc, argv, &i, &missing))) {
            a.out = value;
        } else if (!missing && (value = tool_option_value("--dim", argc, argv, &i, &missing))) {
            if (!read_dim(&a, value))
                return tool_misuse("import", "--dim: `%s` is not NAME=N, or there are more than %d", value, MOST_DIMS);
        } else if (missing) {
            return tool_misuse("import", "%s: a value is missing", argv[i]);
        } else if (strcmp(argv[i], "--widen") == 0) {
            a.widens = true;
        } else if (argv[i][0] == '-' && argv[i][1]) {
            return tool_unknown_option("import", argv[i], known);
        } else if (a.path) {
            return tool_misuse("import", "one file at a time, not `%s` as well", argv[i]);
        } else {
            a.path = argv[i];
        }
    }
    if (!a.path)
        return tool_misuse("import", "a file is missing");
    if (!a.out && strcmp(a.path, "-") == 0)
        return tool_misuse("import", "-o OUT.tl is missing");
    tool_text file;
    if (!tool_read(a.path, &file))
        return TOOL_FAILED;
    int status = import(&a, &file);
    tool_text_free(&file);
    return status;
}

const tool_command tool_import = {"import", "write a network as a program", usage, run};
