/* print.c: what programs write. Scalars, strings, tensors.
 *
 * Everything goes through the runtime's FILE, which buffers. The first failing write is remembered and nothing is
 * written after it; tl_runtime_run reports it when the program has ended, because most of these functions cannot
 * raise.
 *
 * When the buffer is handed on (tl_shows): to a terminal after each piece, so that a line of progress shows at once;
 * to anything else at the end of each line, so that a log can be followed; a FILE that the host gave keeps its own
 * ways. Errors of the program (eprint) go to standard error at once and are not a failure when they cannot be
 * written.
 *
 * A tensor is shown as nested brackets, floats with four decimals. From two dimensions on every row is on a
 * line of its own, elements padded to one width, matrices apart by an empty line:
 *
 *     [[ 1.0000, -2.5000],
 *      [10.0000,  0.0000]]
 *
 * Of more than 1000 elements only the first and last three of each long dimension are shown, "..." between.
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "runtime/state.h"
#include "runtime/value/display.h"
#include "runtime/value/objects.h"

enum { SUMMARY_ELEMENTS = 1000, SUMMARY_EDGE = 3 };

static void put(const char *text, size_t length) {
    tl_runtime *rt = tl__runtime();
    if (rt->capture) {
        masu__buffer_append(rt->capture, text, length);
        return;
    }
    if (rt->write_error != 0 || length == 0)
        return;
    errno = 0;
    if (fwrite(text, 1, length, rt->out) != length)
        rt->write_error = errno ? errno : EIO;
}

static void put_text(const char *text) {
    put(text, strlen(text));
}

void tl_flush(void) {
    tl_runtime *rt = tl__runtime();
    errno = 0;
    if (fflush(rt->out) != 0 && rt->write_error == 0)
        rt->write_error = errno ? errno : EIO;
}

/* A piece has been written, and ends a line or not. */
static void show(bool ends_line) {
    const tl_runtime *rt = tl__runtime();
    if (!rt->capture && (rt->shows == TL_SHOWS_PIECES || (rt->shows == TL_SHOWS_LINES && ends_line)))
        tl_flush();
}

static void put_piece(const char *text, size_t length) {
    put(text, length);
    if (length > 0)
        show(text[length - 1] == '\n');
}

/* ---- scalars and strings ----------------------------------------------------------------------------------------- */

void tl_print_bytes(void *bytes, int64_t length) {
    if (length > 0)
        put_piece(bytes, (size_t)length);
}

void tl_print_i64(int64_t v) {
    char text[24];
    put_piece(text, (size_t)snprintf(text, sizeof text, "%" PRId64, v));
}

void tl_print_u64(int64_t v) {
    char text[24];
    put_piece(text, (size_t)snprintf(text, sizeof text, "%" PRIu64, (uint64_t)v));
}

void tl_print_f32(float v) {
    char text[TL_FLOAT_TEXT];
    put_piece(text, tl__show_f32(v, text));
}

void tl_print_f64(double v) {
    char text[TL_FLOAT_TEXT];
    put_piece(text, tl__show_f64(v, text));
}

void tl_print_bool(bool v) {
    put_piece(v ? "true" : "false", v ? 4 : 5);
}

size_t tl__encode_utf8(uint32_t c, char bytes[4]) {
    if (c > 0x10FFFF || (c >= 0xD800 && c <= 0xDFFF))
        c = 0xFFFD;
    size_t length = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
    for (size_t i = length; i-- > 1; c >>= 6)
        bytes[i] = (char)(0x80 | (c & 0x3F));
    static const uint8_t leads[] = {0, 0x00, 0xC0, 0xE0, 0xF0};
    bytes[0] = (char)(leads[length] | c);
    return length;
}

bool tl__is_utf8(const char *bytes, size_t length) {
    const unsigned char *at = (const unsigned char *)bytes, *end = at + length;
    while (at < end) {
        size_t size = *at < 0x80 ? 1 : *at < 0xC2 ? 0 : *at < 0xE0 ? 2 : *at < 0xF0 ? 3 : *at < 0xF5 ? 4 : 0;
        if (size == 0 || (size_t)(end - at) < size)
            return false;
        unsigned low = *at == 0xE0   ? 0xA0
                       : *at == 0xF0 ? 0x90
                                     : 0x80,
                 high = *at == 0xED   ? 0x9F
                        : *at == 0xF4 ? 0x8F
                                      : 0xBF;
        for (size_t i = 1; i < size; i++, low = 0x80, high = 0xBF)
            if (at[i] < low || at[i] > high)
                return false;
        at += size;
    }
    return true;
}

void tl_print_char(int32_t v) {
    char bytes[4];
    put_piece(bytes, tl__encode_utf8((uint32_t)v, bytes));
}

void tl_print_string(tl_object *s) {
    put_piece(tl__string_bytes(s), (size_t)tl__string_length(s));
}

void tl_print_error(tl_object *s) {
    FILE *err = tl__runtime()->err;
    fwrite(tl__string_bytes(s), 1, (size_t)tl__string_length(s), err);
    fflush(err);
}

/* ---- tensors ----------------------------------------------------------------------------------------------------- */

typedef struct tensor_printer {
    const tl_tensor *t;
    bool summarised;
    size_t width;  /* of every element; 0: as wide as each is */
    int precision; /* decimals; -1: as is usual */
} tensor_printer;

static size_t show_element(const tensor_printer *p, const void *element, char text[TL_FLOAT_TEXT]) {
    const tl_tensor *t = p->t;
    if (p->precision >= 0 && (t->dtype == TL_F32 || t->dtype == TL_F64)) {
        double v = t->dtype == TL_F32 ? (double)*(const float *)element : *(const double *)element;
        return (size_t)snprintf(text, TL_FLOAT_TEXT, "%.*f", p->precision > 60 ? 60 : p->precision, v);
    }
    switch ((tl_dtype)t->dtype) {
    case TL_F32:
        return t->rank ? tl__show_fixed((double)*(const float *)element, text)
                       : tl__show_f32(*(const float *)element, text);
    case TL_F64:
        return t->rank ? tl__show_fixed(*(const double *)element, text) : tl__show_f64(*(const double *)element, text);
    case TL_I64:
        return (size_t)snprintf(text, TL_FLOAT_TEXT, "%" PRId64, *(const int64_t *)element);
    default:
        return (size_t)snprintf(text, TL_FLOAT_TEXT, "%s", *(const uint8_t *)element ? "true" : "false");
    }
}

static const char *element_at(const tl_tensor *t, const char *from, int dim, int64_t index) {
    return from + index * t->stride[dim] * (int64_t)tl__dtype_size(t->dtype);
}

/* The index shown after this one: the middle of a summarised dimension is skipped. */
static int64_t next_shown(const tensor_printer *p, int dim, int64_t index) {
    int64_t length = p->t->shape[dim];
    bool leap = p->summarised && length > 2 * SUMMARY_EDGE && index + 1 == SUMMARY_EDGE;
    return leap ? length - SUMMARY_EDGE : index + 1;
}

static size_t widest(const tensor_printer *p, int dim, const char *from) {
    char text[TL_FLOAT_TEXT];
    if (dim == p->t->rank)
        return show_element(p, from, text);
    size_t width = 0;
    for (int64_t i = 0; i < p->t->shape[dim]; i = next_shown(p, dim, i)) {
        size_t inner = widest(p, dim + 1, element_at(p->t, from, dim, i));
        width = inner > width ? inner : width;
    }
    return width;
}

static void put_element(const tensor_printer *p, const char *element) {
    char text[TL_FLOAT_TEXT];
    size_t length = show_element(p, element, text);
    for (size_t i = length; i < p->width; i++)
        put(" ", 1);
    put(text, length);
}

/* Between two neighbours along dim: a blank in the last, else line ends and an indentation. */
static void put_gap(const tensor_printer *p, int dim) {
    put(",", 1);
    if (dim == p->t->rank - 1) {
        put(" ", 1);
        return;
    }
    for (int i = dim; i < p->t->rank - 1; i++)
        put("\n", 1);
    for (int i = 0; i <= dim; i++)
        put(" ", 1);
}

/* Recursion of at most TL_MAX_RANK. */
static void put_dimension(const tensor_printer *p, int dim, const char *from) {
    if (dim == p->t->rank) {
        put_element(p, from);
        return;
    }
    put("[", 1);
    for (int64_t i = 0; i < p->t->shape[dim];) {
        put_dimension(p, dim + 1, element_at(p->t, from, dim, i));
        int64_t next = next_shown(p, dim, i);
        if (next < p->t->shape[dim])
            put_gap(p, dim);
        if (next > i + 1) {
            put_text("...");
            put_gap(p, dim);
        }
        i = next;
    }
    put("]", 1);
}

static masu_status show_tensor(const tl_tensor *t, int precision) {
    if (!t)
        return tl__error(TL_SAY(there_is_no_tensor_print));
    if (t->elements == 0) {
        put_text("[]");
        return MASU_OK;
    }
    tensor_printer p = {.t = t, .summarised = t->elements > SUMMARY_ELEMENTS, .precision = precision};
    if (t->rank >= 2)
        p.width = widest(&p, 0, t->data);
    put_dimension(&p, 0, t->data);
    show(false);
    return MASU_OK;
}

masu_status tl__tensor_text(const tl_tensor *t, int precision, masu__buffer *out) {
    tl_runtime *rt = tl__runtime();
    rt->capture = out;
    masu_status status = show_tensor(t, precision);
    rt->capture = NULL;
    return status;
}

void tl_print_tensor(tl_tensor *t) {
    if (show_tensor(t, -1) != MASU_OK)
        tl__raise();
}
