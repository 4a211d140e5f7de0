/* directory.c: what a program asks of the file system and of its surroundings, beside the bytes of files. Variables of
 * the environment: config.c.
 *
 * As in file.c nothing raises because of what is found there: each call notes how it ended (tl_file_error).
 */
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/state.h"
#include "runtime/system/file.h"
#include "runtime/value/display.h"
#include "runtime/value/objects.h"

static int64_t noted(int result) {
    tl__file_note(result == 0 ? 0 : errno);
    return 0;
}

static tl_object *text(const char *bytes) {
    tl_object *out = NULL;
    masu_status status = tl__string_new(bytes, bytes ? (int64_t)strlen(bytes) : 0, &out);
    return tl__object_or_raise(status, out);
}

/* ---- what a path names ------------------------------------------------------------------------------------------- */

/* what: 0 the length in bytes, 2 the kind (1 a file, 2 a directory, 3 a link, 0 another), 3 as 2 of the link itself. */
int64_t tl_path_ask(tl_object *path, int64_t what) {
    const char *name = tl__path(path);
    struct stat about;
    if (!name)
        return 0;
    if ((what == 3 ? lstat : stat)(name, &about) != 0)
        return noted(-1);
    mode_t kind = about.st_mode;
    return what == 0 ? about.st_size : S_ISREG(kind) ? 1 : S_ISDIR(kind) ? 2 : S_ISLNK(kind) ? 3 : 0;
}

/* Without links and `..`. */
tl_object *tl_path_whole(tl_object *path) {
    char whole[PATH_MAX];
    const char *name = tl__path(path), *found = name ? realpath(name, whole) : NULL;
    if (name)
        noted(found ? 0 : -1);
    return text(found);
}

static int by_name(const void *a, const void *b) {
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* The names, each with the zero byte behind it. */
static size_t read_names(const char *path, masu__buffer *out) {
    DIR *directory = opendir(path);
    size_t count = 0;
    noted(directory ? 0 : -1);
    for (struct dirent *entry; directory && (errno = 0, entry = readdir(directory)) != NULL;)
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0) {
            masu__buffer_append(out, entry->d_name, strlen(entry->d_name) + 1);
            count++;
        }
    if (directory && errno != 0)
        noted(-1);
    if (directory)
        closedir(directory);
    return count;
}

static masu_status sorted_names(const masu__buffer *names, size_t count, tl_object **out) {
    void *memory = NULL;
    masu_status status = names->failed ? tl__error(TL_SAY(names_of_directory_too_many))
                                       : tl__alloc(count * sizeof(char *), &memory);
    if (status != MASU_OK)
        return status;
    const char **sorted = memory, *at = masu__buffer_text(names);
    for (size_t i = 0; i < count; i++, at += strlen(at) + 1)
        sorted[i] = at;
    if (count > 0)
        qsort(sorted, count, sizeof *sorted, by_name);
    status = tl__string_list(sorted, count, out);
    tl__free(memory, count * sizeof(char *));
    return status;
}

/* The names in a directory, in their order as bytes: a program lists the same on every machine. */
tl_object *tl_path_names(tl_object *path) {
    const char *name = tl__path(path);
    masu__buffer names = {0};
    tl_object *out = NULL;
    size_t count = name ? read_names(name, &names) : 0;
    masu_status status = sorted_names(&names, count, &out);
    masu__buffer_destroy(&names);
    return tl__object_or_raise(status, out);
}

/* ---- changes ----------------------------------------------------------------------------------------------------- */

void tl_path_make(tl_object *path) {
    const char *name = tl__path(path);
    if (name)
        noted(mkdir(name, 0777));
}

/* is_directory: an empty one. */
void tl_path_remove(tl_object *path, bool is_directory) {
    const char *name = tl__path(path);
    if (name)
        noted(is_directory ? rmdir(name) : unlink(name));
}

void tl_path_rename(tl_object *from, tl_object *to) {
    const char *old = tl__path(from), *new = old ? tl__path(to) : NULL;
    if (new)
        noted(rename(old, new));
}

/* ---- the surroundings -------------------------------------------------------------------------------------------- */

tl_object *tl_environment_directory(void) {
    char path[PATH_MAX];
    const char *found = getcwd(path, sizeof path);
    noted(found ? 0 : -1);
    return text(found);
}

/* Rust's words for errno: those of the C library. */
tl_object *tl_error_words(int64_t error) {
    char words[128];
    return text(strerror_r((int)error, words, sizeof words));
}
