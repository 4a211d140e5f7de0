/* generate.h: random programs that are well typed and end. The same seed gives the same program. */
#ifndef MASU_FUZZ_GENERATE_H
#define MASU_FUZZ_GENERATE_H

#include <stdint.h>

#include "base/buffer.h"

typedef struct generate_options {
    uint64_t seed;
    uint32_t size; /* about so many statements; the text is some lines longer */
} generate_options;

void generate(const generate_options *options, masu__buffer *out);

#endif
