/* errors.h: the rows of errors.def, as calls name them: return tl__error(TL_SAY(row), …). The compiler checks the
 * arguments against the row's format. */
#ifndef MASU_RUNTIME_ERRORS_H
#define MASU_RUNTIME_ERRORS_H

#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>

#include <masu/status.h>

typedef enum tl_error_row {
    TL_ROW_NONE,
#define RUN_ERROR(row, code, status, marks, help, name, format) TL_ROW_##row,
#include "runtime/errors.def"
#undef RUN_ERROR
    TL_ERROR_ROWS
} tl_error_row;

#define RUN_ERROR(row, code, status, marks, help, name, format) \
    static const char TL_TEXT_##row[] __attribute__((unused)) = name format;
#include "runtime/errors.def"
#undef RUN_ERROR

/* A row and its whole format, two arguments of a call. */
#define TL_SAY(row) TL_ROW_##row, TL_TEXT_##row

typedef struct tl_error_kind {
    const char *code; /* "E0125" */
    masu_status status;
    const char *name;                  /* of the operation, with its colon; "%s: ": the first argument; "": none */
    const char *format, *help;         /* format: with the name; help NULL: none */
    bool is_quoted;                    /* the source of the operation may be shown for its name */
    bool is_said;                      /* the words of a `panic` */
    unsigned first_shape, shape_count; /* conversions of the format */
} tl_error_kind;

/* The columns of a row; NULL for TL_ROW_NONE and behind the last. */
const tl_error_kind *tl_error_kind_of(unsigned row);

#endif
