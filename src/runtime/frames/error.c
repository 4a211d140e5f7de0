/* error.c: how things go wrong. Describing, raising, and the conditions that compiled code finds itself.
 *
 *     describe: tl__error           a row of errors.def: writes rt->pending, nothing else happens
 *     raise:    tl__raise           adds the places of all frames, then
 *                                     a program runs   longjmp to tl_runtime_run, which unwinds and reports
 *                                     entered mode     keeps it for tl_runtime_error, returns
 *
 * Unwinding happens at the landing, not here: the native stack may be almost used up where an error is raised.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

#include "runtime/state.h"
#include "runtime/value/objects.h"

static const tl_error_kind kinds[TL_ERROR_ROWS] = {
#define PLAIN        false, false, 0, 0
#define SAID         false, true, 0, 0
#define SHAPES(k, n) false, false, k, n
#define QUOTED(k, n) true, false, k, n
#define RUN_ERROR(row, code, status, marks, help, name, format) \
    [TL_ROW_##row] = {#code, MASU_ERR_##status, name, name format, help, marks},
#include "runtime/errors.def"
#undef RUN_ERROR
};

const tl_error_kind *tl_error_kind_of(unsigned row) {
    return row == TL_ROW_NONE || row >= TL_ERROR_ROWS ? NULL : &kinds[row];
}

/* Where conversion number k of the format begins, and where it ends. */
static const char *conversion(const char *format, unsigned k, const char **end) {
    for (const char *at = format; *at; at = *end) {
        *end = at + 1;
        if (*at != '%')
            continue;
        *end = at + strcspn(at, "diusgfc") + 1;
        if (k-- == 0)
            return at;
    }
    return NULL;
}

/* How long the text of the format up to `end` becomes. */
static uint32_t length_up_to(const char *format, const char *end, va_list arguments) {
    char head[TL_ERROR_TEXT];
    va_list copy;
    va_copy(copy, arguments);
    snprintf(head, sizeof head, "%.*s", (int)(end - format), format);
    int length = vsnprintf(NULL, 0, head, copy);
    va_end(copy);
    return length > 0 && length < TL_ERROR_TEXT ? (uint32_t)length : 0;
}

/* Where in the text the row's shapes are, and how much of it is the operation's name. */
static void note_parts(tl_error *error, const tl_error_kind *kind, va_list arguments) {
    const char *end = kind->format;
    for (unsigned k = 0; k < kind->shape_count; k++) {
        const char *at = conversion(kind->format, kind->first_shape + k, &end);
        uint32_t from = length_up_to(kind->format, at, arguments);
        uint32_t to = length_up_to(kind->format, end, arguments);
        error->shapes[k].at = from;
        error->shapes[k].length = to > from ? to - from : 0;
    }
    error->name_length = length_up_to(kind->format, kind->format + strlen(kind->name), arguments);
}

static masu_status describe(masu_status status, tl_error_row row, const char *format, va_list arguments) {
    tl_error *pending = &tl__runtime()->pending;
    va_list copy;
    MASU_DEBUG_ASSERT(kinds[row].format && strcmp(format, kinds[row].format) == 0);
    va_copy(copy, arguments);
    vsnprintf(pending->text, sizeof pending->text, format, copy);
    va_end(copy);
    pending->status = status;
    pending->ends = false;
    pending->exit_status = 0;
    pending->related_site = 0;
    pending->related_text[0] = '\0';
    pending->row = row;
    memset(pending->shapes, 0, sizeof pending->shapes);
    note_parts(pending, &kinds[row], arguments);
    return status;
}

masu_status tl__error(tl_error_row row, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    masu_status status = describe(kinds[row].status, row, format, arguments);
    va_end(arguments);
    return status;
}

masu_status tl__error_as(masu_status status, tl_error_row row, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    describe(status, row, format, arguments);
    va_end(arguments);
    return status;
}

void tl__error_related(uint32_t site, const char *text) {
    tl_error *pending = &tl__runtime()->pending;
    pending->related_site = site;
    snprintf(pending->related_text, sizeof pending->related_text, "%s", text);
}

masu_status tl__error_memory(masu_status status, size_t bytes, const char *what) {
    return tl__error_as(status, TL_SAY(memory_is_missing), masu_status_text(status), what, bytes,
                        bytes == 1 ? "" : "s");
}

const char *tl__shape_text(int rank, const int64_t *shape, char text[TL_SHAPE_TEXT]) {
    size_t used = 0;
    text[used++] = '[';
    for (int i = 0; i < rank && used < TL_SHAPE_TEXT - 24; i++)
        used += (size_t)snprintf(text + used, TL_SHAPE_TEXT - used, "%s%" PRId64, i ? ", " : "", shape[i]);
    snprintf(text + used, TL_SHAPE_TEXT - used, "]");
    return text;
}

/* The places of all frames that have one, innermost first. In a stack deeper than the list the middle is left
 * out: where it happened and how the program came there both say something, the turns between do not. */
static void collect_sites(const tl_runtime *rt, tl_error *error) {
    enum { INNER = TL_ERROR_FRAMES / 2, OUTER = TL_ERROR_FRAMES - INNER };
    uint64_t total = 0;
    for (const tl_frame *frame = rt->frame; frame; frame = frame->parent)
        total += frame->site != 0;
    uint64_t omitted = total > TL_ERROR_FRAMES ? total - TL_ERROR_FRAMES : 0;
    uint64_t index = 0;
    error->site_count = 0;
    error->frames_omitted = omitted;
    for (const tl_frame *frame = rt->frame; frame; frame = frame->parent) {
        if (frame->site == 0)
            continue;
        if (index < INNER || index >= INNER + omitted)
            error->sites[error->site_count++] = frame->site;
        index++;
    }
}

void tl__raise(void) {
    tl_runtime *rt = tl__runtime();
    if (rt->pending.status == MASU_OK) /* a fault of ours, and yet no run ends as if nothing had happened */
        tl__error(TL_SAY(failed_without_a_reason));
    collect_sites(rt, &rt->pending);
    if (rt->jump)
        longjmp(*rt->jump, 1);
    rt->error = rt->pending;
    rt->pending.status = MASU_OK;
}

/* ---- raised by compiled code ---------------------------------------------------------------------------- */

void tl_raise_divide(void) {
    tl__error(TL_SAY(division_by_zero));
    tl__raise();
}

void tl_raise_index(int64_t index, int64_t length) {
    tl__error(TL_SAY(index_is_out_range_for_length), index, length);
    tl__raise();
}

void tl_raise_below_zero(int64_t from, int64_t taken) {
    tl__error(TL_SAY(attempt_subtract_with_overflow_is_below_0), (uint64_t)from, (uint64_t)taken);
    tl__raise();
}

void tl_panic(tl_object *message) {
    int64_t length = tl__string_length(message);
    tl__error(TL_SAY(panic), length < TL_ERROR_TEXT ? (int)length : TL_ERROR_TEXT, tl__string_bytes(message));
    tl__raise();
}

void tl_refuse(tl_object *operation, tl_object *message) {
    int64_t length = tl__string_length(message);
    tl__error(TL_SAY(operation_refuses), tl__string_bytes(operation),
              length < TL_ERROR_TEXT ? (int)length : TL_ERROR_TEXT, tl__string_bytes(message));
    tl__raise();
}

void tl_exit(int64_t status) {
    tl__error(TL_SAY(exit_with_status), status);
    tl__runtime()->pending.ends = true;
    tl__runtime()->pending.exit_status = (int)(status & 255);
    tl__raise();
}

void tl_assert(bool condition) {
    if (MASU_LIKELY(condition))
        return;
    tl__error(TL_SAY(assertion_failed));
    tl__raise();
}
