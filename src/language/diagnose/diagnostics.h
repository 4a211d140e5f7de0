/* diagnostics.h: what is wrong with a program, collected in any order and shown by place.
 *
 *     n_queens.tl:12:5: error: `lr` is not mutable
 *         lr = lr * 2.0;
 *         ^~
 *     n_queens.tl:10:9: note: make it mutable: `let mut lr`
 *         let lr = 1.0;
 *             ^~
 *
 * What must stay true (asserted as each is added):
 *     error_count = diagnostics of severity error; sequence numbers are dense and in order of arrival
 *
 * A message ends without a full stop. Everything is copied into the arena. One thread at a time.
 */
#ifndef MASU_LANGUAGE_DIAGNOSTICS_H
#define MASU_LANGUAGE_DIAGNOSTICS_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buffer.h"
#include "language/diagnose/source.h"

typedef enum severity { SEVERITY_ERROR, SEVERITY_WARNING } severity;

typedef struct diagnostic_note {
    source_span span; /* file NULL: a note without a place */
    const char *text;
    struct diagnostic_note *next;
} diagnostic_note;

typedef struct diagnostic {
    severity severity;
    uint32_t row; /* of diagnostics.def: which message it is (messages.h) */
    source_span span;
    const char *message;
    const char *about; /* what a message is about that is said once of each subject; or NULL */
    diagnostic_note *first_note, *last_note;
    uint32_t sequence;
    struct diagnostic *next;
} diagnostic;

typedef struct diagnostics {
    masu__arena *arena;
    diagnostic *first, *last;
    uint32_t count, error_count;
    uint32_t limit; /* errors kept; what comes later is counted in `dropped` only */
    uint32_t dropped;
    bool out_of_memory;        /* sticky */
    const source_file *hidden; /* notes about places in this file are left out; may be NULL */
    /* A mistake inside of `hidden` is reported at `home`, the call that led there, of the function home_name; file
     * NULL: where it is. */
    source_span home;
    const char *home_name;
    /* Up to here the text was read. What is said later about a line that could not be read is left out: it follows
     * from that. NULL: nothing was wrong, or reading goes on. */
    const diagnostic *last_of_reading;
} diagnostics;

enum { DIAGNOSTICS_LIMIT = 200 };
/* The byte in front of what tells names of several modules apart (syntax/modules.h); it is never shown. */
enum { DIAGNOSTICS_MODULE_MARK = 1 };

void diagnostics_init(diagnostics *d, masu__arena *arena);
/* Takes out of the text what tells names of several modules apart: it is not shown. */
void diagnostics_plain_names(masu__buffer *text);

/* One more, of a row of diagnostics.def: called by diagnostics_say (messages.h), which says what it returns. */
diagnostic *diagnostics_add(diagnostics *d, severity severity, uint32_t row, source_span span, const char *format,
                            va_list arguments);
void diagnostics_note(diagnostics *d, diagnostic *to, source_span span, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* Whether an error lies within span: what is unknown about the whole may follow from it. Linear in the diagnostics. */
bool diagnostics_has_error_in(const diagnostics *d, source_span span);
/* Everything is read: see last_of_reading. */
void diagnostics_end_of_reading(diagnostics *d);
/* Forgets what was added since the copy `before` was taken of it. */
void diagnostics_return_to(diagnostics *d, const diagnostics *before);

/* All of it as text, sorted by place. O(n log n). */
void diagnostics_render(const diagnostics *d, masu__buffer *out);

/* One entry in the same form: `label` is "error", "note", … A span without a file gives the line
 * `label: message` alone. Used for run-time errors: the error at sites[0], then notes "called from
 * here". */
void diagnostic_render_entry(source_span span, const char *label, const char *message, masu__buffer *out);

#endif
