/* outlet.c: a file is written beside the one that it replaces, brought to the disk, and renamed.
 *
 *     a file without a name in FOLDER ─► write ─► fsync ─► FOLDER/.NAME.PID-N.new
 *                                                       ─► rename to FOLDER/NAME ─► fsync of FOLDER
 *
 * What must stay true: at every moment, also when the process is killed or the machine stops, FOLDER/NAME is the whole
 * old file or the whole new one. A file without a name goes with its process; where the file system has no such thing
 * the file is written under its .new name, and that is what a killed process leaves.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/files/outlet.h"

/* Where a link leads to: it stays one, and what it names is replaced. */
static int follow(const char *path, char out[PATH_MAX]) {
    struct stat about;
    bool is_there = stat(path, &about) == 0;
    if (is_there && !S_ISREG(about.st_mode))
        return S_ISDIR(about.st_mode) ? EISDIR : EINVAL;
    if (is_there)
        return realpath(path, out) ? 0 : errno;
    if (strlen(path) >= PATH_MAX)
        return ENAMETOOLONG;
    strcpy(out, path);
    return path[0] == '\0' ? ENOENT : 0;
}

static int name_beside(tl__outlet *o) {
    static atomic_uint counter;
    const char *slash = strrchr(o->path, '/'), *name = slash ? slash + 1 : o->path;
    int length = snprintf(o->written, sizeof o->written, "%.*s.%s.%ld-%u.new", (int)(name - o->path), o->path, name,
                          (long)getpid(), atomic_fetch_add(&counter, 1));
    return length < 0 || (size_t)length >= sizeof o->written ? ENAMETOOLONG : 0;
}

/* The folder of the path, with its slash; "./" where it has none. */
static void folder_of(const char *path, char out[PATH_MAX]) {
    const char *slash = strrchr(path, '/');
    snprintf(out, PATH_MAX, "%.*s", slash ? (int)(slash - path + 1) : 2, slash ? path : "./");
}

/* A descriptor, below 0: errno says why not. */
static int open_new(tl__outlet *o) {
    char folder[PATH_MAX];
    folder_of(o->path, folder);
    int descriptor = open(folder, O_TMPFILE | O_WRONLY | O_CLOEXEC, 0666);
    o->has_name = descriptor < 0;
    return o->has_name ? open(o->written, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666) : descriptor;
}

int tl__outlet_open(tl__outlet *o, const char *path) {
    o->stream = NULL;
    int error = follow(path, o->path);
    error = error ? error : name_beside(o);
    if (error)
        return error;
    int descriptor = open_new(o);
    if (descriptor < 0)
        return errno;
    struct stat about;
    if (stat(o->path, &about) == 0) /* who may read it stays as it is; where that may not be said it is the default */
        (void)!fchmod(descriptor, about.st_mode & 07777);
    o->stream = fdopen(descriptor, "w");
    error = o->stream ? 0 : errno;
    if (error) {
        close(descriptor);
        if (o->has_name)
            unlink(o->written);
    }
    return error;
}

int tl__outlet_put(tl__outlet *o, const void *bytes, size_t length) {
    errno = 0;
    return fwrite(bytes, 1, length, o->stream) == length ? 0 : errno ? errno : EIO;
}

static int sync_folder(const char *path) {
    char folder[PATH_MAX];
    folder_of(path, folder);
    int descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (descriptor < 0)
        return errno == EACCES ? 0 : errno; /* a folder that may be written and not read */
    int error = fsync(descriptor) == 0 || errno == EINVAL ? 0 : errno;
    close(descriptor);
    return error;
}

static int give_name(tl__outlet *o) {
    char self[40];
    snprintf(self, sizeof self, "/proc/self/fd/%d", fileno(o->stream));
    if (!o->has_name && linkat(AT_FDCWD, self, AT_FDCWD, o->written, AT_SYMLINK_FOLLOW) != 0)
        return errno;
    o->has_name = true;
    return 0;
}

int tl__outlet_close(tl__outlet *o) {
    int error = fflush(o->stream) == 0 && fsync(fileno(o->stream)) == 0 ? 0 : errno;
    error = error ? error : give_name(o);
    int closed = fclose(o->stream) == 0 ? 0 : errno;
    o->stream = NULL;
    error = error ? error : closed;
    if (!error && rename(o->written, o->path) != 0)
        error = errno;
    if (error && o->has_name)
        unlink(o->written);
    return error ? error : sync_folder(o->path);
}

void tl__outlet_drop(tl__outlet *o) {
    if (!o->stream)
        return;
    fclose(o->stream);
    if (o->has_name)
        unlink(o->written);
    o->stream = NULL;
}
