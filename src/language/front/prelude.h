/* prelude.h: Option, Result and the methods of Vec, as a source text. */
#ifndef MASU_LANGUAGE_PRELUDE_H
#define MASU_LANGUAGE_PRELUDE_H

#include <stddef.h>

extern const char prelude_text[];
extern const size_t prelude_length;
extern const char prelude_tensor_text[];
extern const size_t prelude_tensor_length;

#endif
