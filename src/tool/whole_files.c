/* whole_files.c: what several commands write. All files of a command are written beside their place first and only then
 * renamed, so that a full disk or a wrong path of the second leaves the first as it was.
 *
 *     open all ─► write all ─► rename all          an error before the last step: remove what was begun
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tool/tool.h"
#include "tool/whole_files.h"

typedef struct target {
    tool_file *file;
    FILE *stream;
    char place[PATH_MAX];   /* the path, links followed */
    masu__buffer temporary; /* the name beside it; "": written as it is */
} target;

enum { MOST_FILES = TOOL_MOST_FILES };

/* errno says why on false. */
static bool open_target(target *t) {
    const char *path = t->file->path;
    struct stat now;
    if (strcmp(path, "-") == 0) {
        t->stream = stdout;
        return true;
    }
    bool exists = stat(path, &now) == 0;
    if (exists && !S_ISREG(now.st_mode)) {
        t->stream = fopen(path, "wb");
        return t->stream != NULL;
    }
    if (exists && (access(path, W_OK) != 0 || !realpath(path, t->place)))
        return false;
    if (!exists && (errno != ENOENT || strlen(path) >= sizeof t->place)) {
        errno = errno != ENOENT ? errno : ENAMETOOLONG;
        return false;
    }
    if (!exists)
        strcpy(t->place, path);
    masu__buffer_printf(&t->temporary, "%s.%ld.tmp", t->place, (long)getpid());
    int number = t->temporary.failed
                     ? -1
                     : open(masu__buffer_text(&t->temporary), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (number < 0) {
        int reason = t->temporary.failed ? ENOMEM : errno;
        masu__buffer_destroy(&t->temporary);
        errno = reason;
        return false;
    }
    if (exists)
        (void)fchmod(number, now.st_mode & 07777);
    t->stream = fdopen(number, "wb");
    if (!t->stream)
        close(number);
    return t->stream != NULL;
}

static bool write_target(target *t) {
    const masu__buffer *text = &t->file->text;
    bool standard = t->stream == stdout;
    bool right = fwrite(masu__buffer_text(text), 1, text->length, t->stream) == text->length;
    right = (standard ? fflush(t->stream) : fclose(t->stream)) == 0 && right;
    t->stream = NULL;
    return right;
}

static int give_up(const char *command, target *targets, size_t count, const char *path) {
    fprintf(stderr, "masu %s: cannot write %s: %s\n", command, path, strerror(errno));
    for (size_t i = 0; i < count; i++) {
        if (targets[i].stream && targets[i].stream != stdout)
            fclose(targets[i].stream);
        if (targets[i].temporary.length > 0)
            unlink(masu__buffer_text(&targets[i].temporary));
        masu__buffer_destroy(&targets[i].temporary);
    }
    return TOOL_FAILED;
}

static int write_all(const char *command, tool_file *files, size_t count) {
    target targets[MOST_FILES] = {0};
    for (size_t i = 0; i < count; i++) {
        targets[i].file = &files[i];
        errno = files[i].text.failed ? ENOMEM : 0;
        if (files[i].path && (files[i].text.failed || !open_target(&targets[i])))
            return give_up(command, targets, count, files[i].path);
    }
    for (size_t i = 0; i < count; i++)
        if (files[i].path && !write_target(&targets[i]))
            return give_up(command, targets, count, files[i].path);
    for (size_t i = 0; i < count; i++) {
        if (targets[i].temporary.length > 0 && rename(masu__buffer_text(&targets[i].temporary), targets[i].place) != 0)
            return give_up(command, targets, count, files[i].path);
        masu__buffer_destroy(&targets[i].temporary);
    }
    return TOOL_OK;
}

int tool_write_files(const char *command, tool_file *files, size_t count) {
    int status = write_all(command, files, count);
    for (size_t i = 0; i < count; i++)
        masu__buffer_destroy(&files[i].text);
    return status;
}

bool tool_is_same_file(const char *one, const char *other) {
    struct stat a, b;
    if (stat(one, &a) != 0 || stat(other, &b) != 0)
        return strcmp(one, other) == 0;
    return S_ISREG(a.st_mode) && a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}
