/* export_calls.h: see export_calls.c. */
#ifndef MASU_LANGUAGE_EXPORT_CALLS_H
#define MASU_LANGUAGE_EXPORT_CALLS_H

#include "base/buffer.h"
#include "language/syntax/tree.h"
#include <masu/module.h>

typedef struct export_outcome {
    bool is_result;    /* Result<…, E> */
    const char *shows; /* how its E is shown: {} or {:?} */
} export_outcome;

extern const char *const export_element_names[MASU_ELEMENT_COUNT];

/* fn __export_NUMBER() { … }: calls f, which the caller in C sees as m. Appends. */
void export_put_function(masu__buffer *out, const masu_handle_type *types, const function_item *f,
                         const masu_function *m, uint32_t number, const export_outcome *how);
/* fn __exports() { … }: asks which of them is wanted. Appends. */
void export_put_choice(masu__buffer *out, uint32_t count);

#endif
