/* error.c: how things go wrong. Describing, raising, and the conditions that compiled code finds itself.
 *
 *     describe: tl__error           writes rt->pending, nothing else happens
 *     raise:    tl__raise           adds the places of all frames, then
 *                                     a program runs   longjmp to tl_runtime_run, which unwinds and reports
 *                                     entered mode     keeps it for tl_runtime_error, returns
 *
 * Unwinding happens at the landing, not here: the native stack may be almost used up where an error is raised.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

#include "runtime/value/objects.h"
#include "runtime/state.h"

masu_status tl__error(masu_status status, const char *format, ...) {
    tl_error *pending = &tl__runtime()->pending;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(pending->text, sizeof pending->text, format, arguments);
    va_end(arguments);
    pending->status = status;
    pending->ends = false;
    pending->exit_status = 0;
    pending->related_site = 0;
    pending->related_text[0] = '\0';
    return status;
}

void tl__error_related(uint32_t site, const char *text) {
    tl_error *pending = &tl__runtime()->pending;
    pending->related_site = site;
    snprintf(pending->related_text, sizeof pending->related_text, "%s", text);
}

masu_status tl__error_memory(masu_status status, size_t bytes, const char *what) {
    return tl__error(status, "%s: %s needs %zu byte%s", masu_status_text(status), what, bytes,
                     bytes == 1 ? "" : "s");
}

const char *tl__shape_text(int rank, const int64_t *shape, char text[TL_SHAPE_TEXT]) {
    size_t used = 0;
    text[used++] = '[';
    for (int i = 0; i < rank && used < TL_SHAPE_TEXT - 24; i++)
        used += (size_t)snprintf(text + used, TL_SHAPE_TEXT - used, "%s%" PRId64, i ? ", " : "",
                                 shape[i]);
    snprintf(text + used, TL_SHAPE_TEXT - used, "]");
    return text;
}

/* The places of all frames that have one, innermost first. Of a stack deeper than the list the middle is left
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
    MASU_DEBUG_ASSERT(rt->pending.status != MASU_OK);
    collect_sites(rt, &rt->pending);
    if (rt->jump)
        longjmp(*rt->jump, 1);
    rt->error = rt->pending;
    rt->pending.status = MASU_OK;
}

/* ---- raised by compiled code ---------------------------------------------------------------------------- */

void tl_raise_divide(void) {
    tl__error(MASU_ERR_DIVISION_BY_ZERO, "division by zero");
    tl__raise();
}

void tl_raise_index(int64_t index, int64_t length) {
    tl__error(MASU_ERR_INDEX_OUT_OF_RANGE, "index %" PRId64 " is out of range for length %" PRId64,
              index, length);
    tl__raise();
}

void tl_raise_below_zero(int64_t from, int64_t taken) {
    tl__error(MASU_ERR_BELOW_ZERO, TL_BELOW_ZERO, (uint64_t)from, (uint64_t)taken);
    tl__raise();
}

void tl_panic(tl_object *message) {
    const char *bytes = tl__string_bytes(message);
    int64_t length = tl__string_length(message);
    int shown = length < TL_ERROR_TEXT ? (int)length : TL_ERROR_TEXT;
    tl__error(MASU_ERR_PANIC, "panic: %.*s", shown, bytes);
    tl__raise();
}

void tl_exit(int64_t status) {
    tl__error(MASU_ERR_PANIC, "exit with status %" PRId64, status);
    tl__runtime()->pending.ends = true;
    tl__runtime()->pending.exit_status = (int)(status & 255);
    tl__raise();
}

void tl_assert(bool condition) {
    if (MASU_LIKELY(condition))
        return;
    tl__error(MASU_ERR_ASSERTION, "assertion failed");
    tl__raise();
}
