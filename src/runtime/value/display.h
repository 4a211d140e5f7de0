/* display.h: numbers as text. Private to the runtime.
 *
 * A float is shown as the shortest decimal that reads back as the same float, nearest to it among those of that
 * length, without exponent: 1, 0.1, 100000000000000000000, NaN, inf, -0.
 */
#ifndef MASU_RUNTIME_DISPLAY_H
#define MASU_RUNTIME_DISPLAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"
#include "runtime/value/tensor.h"

/* The longest text: minus, "0.", 323 zeros, 17 digits; or 309 digits. */
enum { TL_FLOAT_TEXT = 400 };

/* Both return the length of the text written. */
size_t tl__show_f32(float value, char text[TL_FLOAT_TEXT]);
size_t tl__show_f64(double value, char text[TL_FLOAT_TEXT]);
/* Four decimals: an element of a tensor. */
size_t tl__show_fixed(double value, char text[TL_FLOAT_TEXT]);

/* The character's bytes; of any other code those of U+FFFD. Returns how many. */
size_t tl__encode_utf8(uint32_t c, char bytes[4]);
/* Whether the bytes are UTF-8: no overlong forms, no surrogates, nothing above U+10FFFF. */
bool tl__is_utf8(const char *bytes, size_t length);
/* The text of tl_print_tensor, with so many decimals (-1: four) into out, whose `failed` says when memory ended. */
masu_status tl__tensor_text(const tl_tensor *t, int precision, masu__buffer *out);

#endif
