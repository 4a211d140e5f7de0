/* minimise.h: the shortest program that still fails in the same way. */
#ifndef MASU_FUZZ_MINIMISE_H
#define MASU_FUZZ_MINIMISE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buffer.h"

/* Whether the text still fails. */
typedef bool (*minimise_test)(const char *text, size_t length, void *context);

/* Takes out lines, blocks with their contents, blocks around their contents, and parts of expressions, as long as the
 * rest still fails. text holds the result. At most `most` tests. */
void minimise(masu__buffer *text, minimise_test test, void *context, int most);

#endif
