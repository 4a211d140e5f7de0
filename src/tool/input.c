/* input.c: from a path to a compiled program, with everything that went wrong on standard error. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/meta.h"
#include "tool/tool.h"

static bool refuse(const char *path, const char *why) {
    fprintf(stderr, "masu: cannot read %s: %s\n", strcmp(path, "-") == 0 ? "standard input" : path, why);
    return false;
}

/* Keeps one byte free for the closing zero. */
static bool make_room(tool_text *text) {
    if (text->length + 1 < text->capacity)
        return true;
    size_t capacity = text->capacity ? text->capacity * 2 : 16384;
    char *data = masu__meta_realloc(text->data, text->capacity, capacity);
    if (!data)
        return false;
    text->data = data;
    text->capacity = capacity;
    return true;
}

static bool read_all(FILE *file, tool_text *text) {
    for (;;) {
        if (!make_room(text)) {
            errno = ENOMEM;
            return false;
        }
        size_t got = fread(text->data + text->length, 1, text->capacity - text->length - 1, file);
        text->length += got;
        text->data[text->length] = 0;
        if (got == 0)
            return !ferror(file);
    }
}

bool tool_read(const char *path, tool_text *out) {
    *out = (tool_text){0};
    bool standard = strcmp(path, "-") == 0;
    FILE *file = standard ? stdin : fopen(path, "rb");
    if (!file)
        return refuse(path, strerror(errno));
    bool done = read_all(file, out);
    int reason = errno;
    if (!standard)
        fclose(file);
    if (done)
        return true;
    tool_text_free(out);
    return refuse(path, strerror(reason));
}

void tool_text_free(tool_text *text) {
    masu__meta_free(text->data, text->capacity);
    *text = (tool_text){0};
}

/* ---- modules ------------------------------------------------------------------------------------ */

enum { MODULES_MAX = 256 };

typedef struct modules {
    tool_text texts[MODULES_MAX];
    size_t count;
} modules;

static const char *read_module(void *user, const char *path, size_t *length) {
    modules *all = user;
    FILE *file = all->count < MODULES_MAX ? fopen(path, "rb") : NULL;
    if (!file)
        return NULL;
    tool_text *text = &all->texts[all->count];
    *text = (tool_text){0};
    bool done = read_all(file, text);
    fclose(file);
    if (!done) {
        tool_text_free(text);
        return NULL;
    }
    all->count++;
    *length = text->length;
    return text->data;
}

int tool_compile(const char *path, const masu_compile_options *options, bool quiet, masu_program **out) {
    *out = NULL;
    tool_text text;
    if (!tool_read(path, &text))
        return TOOL_FAILED;
    const char *shown = strcmp(path, "-") == 0 ? "<stdin>" : path;
    masu_compile_options with_modules = *options;
    modules *all = masu__meta_calloc(1, sizeof *all);
    with_modules.read = all ? read_module : NULL;
    with_modules.user = all;
    masu_status status = masu_program_compile(shown, text.data, text.length, &with_modules, out);
    tool_text_free(&text);
    for (size_t i = 0; all && i < all->count; i++)
        tool_text_free(&all->texts[i]);
    masu__meta_free(all, sizeof *all);
    if (!*out) {
        fprintf(stderr, "masu: %s: %s\n", shown, masu_status_text(status));
        return TOOL_FAILED;
    }
    fputs(masu_program_dump(*out), stdout);
    if (!quiet || masu_program_error_count(*out) > 0)
        fputs(masu_program_diagnostics(*out), stderr);
    return status == MASU_OK ? TOOL_OK : TOOL_FAILED;
}

int tool_finish(int status) {
    if (fflush(stdout) == 0 && !ferror(stdout))
        return status;
    fprintf(stderr, "masu: cannot write to standard output: %s\n", strerror(errno));
    return status == TOOL_OK ? TOOL_FAILED : status;
}

/* ---- the command's own files ------------------------------------------------------------------------------- */

bool tool_is_file(const char *path) {
    struct stat info;
    return stat(path, &info) == 0 && S_ISREG(info.st_mode);
}

bool tool_find_file(const char *name, const char *folder, char *path, size_t bytes) {
    enum { PATH_BYTES = 4096 };
    char self[PATH_BYTES];
    ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    if (length <= 0)
        return false;
    self[length] = 0;
    char *slash = strrchr(self, '/');
    if (slash)
        slash[1] = 0;
    int written = snprintf(path, bytes, "%s%s", self, name);
    if (written > 0 && (size_t)written < bytes && tool_is_file(path))
        return true;
    written = snprintf(path, bytes, "%s../%s/%s", self, folder, name);
    return written > 0 && (size_t)written < bytes && tool_is_file(path);
}
