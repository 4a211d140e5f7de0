/* file.c: files that a program reads and writes. The library (library/fs.tl, io.tl) gives them Rust's names.
 *
 *     tl_handle   head │ length 0 │ "" │ …      tl_file   handle │ stream │ …      its last release closes the stream
 *
 * To the compiler a handle is a text, and it is the empty one: whatever shows or compares texts is safe with it. So
 * files need no type of their own, and they are closed by the counts that all values have.
 *
 * None of these functions raises because of what a file is or does: each notes how it ended, and tl_file_error tells
 * the note: 0 went well, -1 the end of the file, -2 bytes that are not UTF-8, -4 what tl_file_words says, else errno.
 * They raise when memory is out.
 *
 * What must stay true:
 *     length = 0, text = ""
 *     stream = NULL exactly when the file could not be opened
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/state.h"
#include "runtime/system/file.h"
#include "runtime/value/display.h"
#include "runtime/value/objects.h"

typedef struct tl_file {
    tl_handle handle;
    FILE *stream;
    bool is_ours; /* to close: standard input is not */
    bool is_kept; /* what is written waits for a flush */
    char last;    /* 'r' or 'w': a stream changes its direction only after a seek */
} tl_file;

_Static_assert(offsetof(tl_handle, text) == offsetof(tl_string, bytes), "a handle is an empty text");

void tl__file_note(int error) {
    tl__runtime()->file_error = error;
}

void tl__file_say(const char *words) {
    tl_runtime *rt = tl__runtime();
    rt->file_error = TL_FILE_SAID;
    snprintf(rt->file_words, sizeof rt->file_words, "%s", words);
}

int64_t tl_file_error(void) {
    return tl__runtime()->file_error;
}

tl_object *tl_file_words(void) {
    const char *words = tl__runtime()->file_words;
    tl_object *out = NULL;
    masu_status status = tl__string_new(words, (int64_t)strlen(words), &out);
    return tl__object_or_raise(status, out);
}

/* ---- opening and closing ----------------------------------------------------------------------------------------- */

masu_status tl__handle_new(size_t bytes, void (*end)(tl_handle *handle), void **out) {
    masu_status status = tl__alloc(bytes, out);
    if (status != MASU_OK)
        return status;
    memset(*out, 0, bytes);
    *(tl_handle *)*out = (tl_handle){.head = {.count = 1, .kind = TL_HANDLE}, .bytes = bytes, .end = end};
    tl__runtime()->live_objects++;
    return MASU_OK;
}

void *tl__handle_of(tl_object *object, void (*end)(tl_handle *handle)) {
    tl_handle *handle = object && object->kind == TL_HANDLE ? (tl_handle *)(void *)object : NULL;
    bool fits = handle && handle->end == end;
    tl__file_note(fits ? 0 : EBADF);
    return fits ? handle : NULL;
}

void tl__handle_free(tl_object *object) {
    tl_handle *handle = (tl_handle *)(void *)object;
    handle->end(handle);
    tl__free(handle, handle->bytes);
    tl__runtime()->live_objects--;
}

static void file_end(tl_handle *handle) {
    tl_file *f = (tl_file *)(void *)handle;
    if (f->stream && f->is_ours)
        fclose(f->stream);
}

static masu_status file_new(FILE *stream, bool is_ours, tl_object **out) {
    void *memory = NULL;
    masu_status status = tl__handle_new(sizeof(tl_file), file_end, &memory);
    if (status != MASU_OK) {
        if (is_ours && stream)
            fclose(stream);
        return status;
    }
    tl_file *f = memory;
    f->stream = stream;
    f->is_ours = is_ours;
    *out = &f->handle.head;
    return MASU_OK;
}

const char *tl__path(const tl_object *path) {
    const char *text = tl__string_bytes(path);
    bool whole = memchr(text, 0, (size_t)tl__string_length(path)) == NULL;
    tl__file_note(whole ? 0 : EINVAL);
    return whole ? text : NULL;
}

static int open_flags(int64_t mode) {
    bool read = mode & TL_FILE_READ, write = mode & (TL_FILE_WRITE | TL_FILE_APPEND);
    int flags = O_CLOEXEC | (read && write ? O_RDWR : write ? O_WRONLY : O_RDONLY);
    flags |= mode & TL_FILE_APPEND ? O_APPEND : 0;
    flags |= mode & TL_FILE_TRUNCATE ? O_TRUNC : 0;
    flags |= mode & TL_FILE_CREATE ? O_CREAT : 0;
    return flags | (mode & TL_FILE_CREATE_NEW ? O_CREAT | O_EXCL : 0);
}

static FILE *open_stream(const char *path, int64_t mode) {
    int descriptor = open(path, open_flags(mode), 0666);
    struct stat about;
    if (descriptor < 0 || fstat(descriptor, &about) != 0) {
        tl__file_note(errno);
        return NULL;
    }
    bool read = mode & TL_FILE_READ, write = mode & (TL_FILE_WRITE | TL_FILE_APPEND);
    const char *how = mode & TL_FILE_APPEND ? (read ? "a+" : "a") : !write ? "r" : read ? "r+" : "w";
    FILE *stream = fdopen(descriptor, how);
    if (!stream) {
        tl__file_note(errno);
        close(descriptor);
    }
    return stream;
}

tl_object *tl_file_open(tl_object *path, int64_t mode) {
    const char *name = tl__path(path);
    FILE *stream = name ? open_stream(name, mode) : NULL;
    tl_object *out = NULL;
    masu_status status = file_new(stream, true, &out);
    return tl__object_or_raise(status, out);
}

tl_object *tl_file_standard_input(void) {
    tl_flush();
    tl_object *out = NULL;
    masu_status status = file_new(stdin, false, &out);
    tl__file_note(0);
    return tl__object_or_raise(status, out);
}

/* From now on writes wait for a flush, or for the end of the file's life. */
void tl_file_keep(tl_object *file) {
    tl_file *f = tl__handle_of(file, file_end);
    if (f)
        f->is_kept = true;
}

/* The stream, turned to what comes next; NULL, and noted: it was never opened, or moved away. */
static FILE *turned(tl_object *file, char next) {
    tl_file *f = tl__handle_of(file, file_end);
    tl__file_note(f && f->stream ? 0 : EBADF);
    if (!f || !f->stream)
        return NULL;
    if (f->last != 0 && f->last != next && f->is_ours)
        fseeko(f->stream, 0, SEEK_CUR);
    f->last = next;
    errno = 0;
    return f->stream;
}

/* ---- reading ----------------------------------------------------------------------------------------------------- */

static void note_failure(FILE *stream) {
    if (!ferror(stream))
        return;
    tl__file_note(errno ? errno : EIO);
    clearerr(stream);
}

static masu_status give_text(masu__buffer *bytes, tl_object **out) {
    const char *text = masu__buffer_text(bytes);
    masu_status status = bytes->failed ? tl__error(TL_SAY(text_of_file_too_long), bytes->length) : MASU_OK;
    bool is_text = tl__is_utf8(text, bytes->length);
    if (!is_text)
        tl__file_note(TL_FILE_NOT_TEXT);
    if (status == MASU_OK)
        status = tl__string_new(is_text ? text : "", is_text ? (int64_t)bytes->length : 0, out);
    masu__buffer_destroy(bytes);
    return status;
}

/* Up to the end of a line, and this with it. */
static void read_line_into(FILE *stream, masu__buffer *line) {
    char part[1024];
    int c = 0;
    while (!line->failed && c != '\n' && c != EOF) {
        size_t length = 0;
        while (length < sizeof part && c != '\n' && (c = getc_unlocked(stream)) != EOF)
            part[length++] = (char)c;
        masu__buffer_append(line, part, length);
    }
}

static tl_object *read_line(tl_object *file, bool with_end) {
    FILE *stream = turned(file, 'r');
    masu__buffer line = {0};
    if (stream) {
        read_line_into(stream, &line);
        if (line.length == 0)
            tl__file_note(TL_FILE_END);
        note_failure(stream);
    }
    for (const char *end = "\n\r"; !with_end && *end && line.length > 0 && line.data[line.length - 1] == *end; end++)
        masu__buffer_truncate(&line, line.length - 1);
    tl_object *out = NULL;
    masu_status status = give_text(&line, &out);
    return tl__object_or_raise(status, out);
}

/* A line with its end; empty at the end of the file, which is noted. */
tl_object *tl_file_read_line(tl_object *file) {
    return read_line(file, true);
}

/* The same without its end. */
tl_object *tl_file_next_line(tl_object *file) {
    return read_line(file, false);
}

/* At most `bytes`, all when it is negative. */
static void read_into(FILE *stream, int64_t bytes, masu__buffer *out) {
    char part[16384];
    while (bytes != 0 && !out->failed) {
        size_t wanted = bytes > 0 && bytes < (int64_t)sizeof part ? (size_t)bytes : sizeof part;
        size_t got = fread(part, 1, wanted, stream);
        masu__buffer_append(out, part, got);
        bytes -= bytes > 0 ? (int64_t)got : 0;
        if (got < wanted)
            return;
    }
}

tl_object *tl_file_read_text(tl_object *file) {
    FILE *stream = turned(file, 'r');
    masu__buffer text = {0};
    if (stream) {
        read_into(stream, -1, &text);
        note_failure(stream);
    }
    tl_object *out = NULL;
    masu_status status = give_text(&text, &out);
    return tl__object_or_raise(status, out);
}

static masu_status give_bytes(masu__buffer *bytes, tl_object **out) {
    static const tl_record byte_record = {.word_count = 1};
    masu_status status = bytes->failed ? tl__error(TL_SAY(bytes_of_file_too_many), bytes->length)
                                       : tl__vector_new(&byte_record, out);
    const unsigned char *text = (const unsigned char *)masu__buffer_text(bytes);
    for (size_t i = 0; status == MASU_OK && i < bytes->length; i++) {
        int64_t word = text[i];
        status = tl__vector_push(out, &word);
    }
    masu__buffer_destroy(bytes);
    return status;
}

tl_object *tl_file_read_bytes(tl_object *file, int64_t bytes) {
    FILE *stream = turned(file, 'r');
    masu__buffer text = {0};
    if (stream) {
        read_into(stream, bytes, &text);
        note_failure(stream);
    }
    tl_object *out = NULL;
    masu_status status = give_bytes(&text, &out);
    if (status != MASU_OK && out)
        tl__object_drop(out);
    return tl__object_or_raise(status, out);
}

/* ---- writing ----------------------------------------------------------------------------------------------------- */

static void write_all(tl_file *f, FILE *stream, const void *bytes, size_t length) {
    bool fits = fwrite(bytes, 1, length, stream) == length && (f->is_kept || fflush(stream) == 0);
    if (!fits) {
        tl__file_note(errno ? errno : EIO);
        clearerr(stream);
    }
}

void tl_file_write_text(tl_object *file, tl_object *text) {
    FILE *stream = turned(file, 'w');
    if (stream)
        write_all((tl_file *)(void *)file, stream, tl__string_bytes(text), (size_t)tl__string_length(text));
}

void tl_file_write_bytes(tl_object *file, tl_object *bytes) {
    FILE *stream = turned(file, 'w');
    const tl_vector *v = (const tl_vector *)(const void *)bytes;
    masu__buffer text = {0};
    for (int64_t i = 0; v && i < v->length; i++) {
        char byte = (char)v->words[i];
        masu__buffer_append(&text, &byte, 1);
    }
    if (stream && !text.failed)
        write_all((tl_file *)(void *)file, stream, masu__buffer_text(&text), text.length);
    else if (stream)
        tl__file_note(ENOMEM);
    masu__buffer_destroy(&text);
}

void tl_file_flush(tl_object *file) {
    FILE *stream = turned(file, 'w');
    if (stream && fflush(stream) != 0)
        tl__file_note(errno ? errno : EIO);
}

/* The position in the file now: from its beginning (0), from here (1) or from its end (2). */
int64_t tl_file_seek(tl_object *file, int64_t from, int64_t offset) {
    FILE *stream = turned(file, 0);
    static const int whence[] = {SEEK_SET, SEEK_CUR, SEEK_END};
    if (!stream)
        return 0;
    if (fseeko(stream, offset, whence[from == 1 || from == 2 ? from : 0]) != 0) {
        tl__file_note(errno);
        return 0;
    }
    return ftello(stream);
}
