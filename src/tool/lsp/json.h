/* json.h: just enough of JSON for `masu lsp`: values are looked up in the text by the path of their keys. */
#ifndef MASU_TOOL_JSON_H
#define MASU_TOOL_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"

typedef struct json_value { /* a piece of the text; at NULL: not there */
    const char *at, *end;
} json_value;

/* Whether it is one JSON value and nothing else, at most 200 levels deep. Linear. */
bool json_valid(json_value v);
/* "params.position.line"; a number is the place in a list. Linear in the text. */
json_value json_find(json_value in, const char *path);
int64_t json_number(json_value v, int64_t otherwise);
/* A string without quotes, escapes resolved, appended to out. False when it is none. */
bool json_string(json_value v, masu__buffer *out);
bool json_is(json_value v, const char *text); /* a string equal to text without escapes in it */

#endif
