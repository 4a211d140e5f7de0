/* decimal.h: short decimal numbers in text, many times faster than the C library reads them.
 *
 * What must stay true: a number that is read here has the bits that strtod would give it.
 */
#ifndef MASU_BASE_DECIMAL_H
#define MASU_BASE_DECIMAL_H

#include <stdbool.h>
#include <stddef.h>

/* The whole of the text: a sign, digits with a point among, before or behind them, an exponent; no blanks. False: it is
 * not that, or too long for this; *out is not written then. Any thread. */
bool masu__decimal_read(const char *text, size_t length, double *out);

#endif
