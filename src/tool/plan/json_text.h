/* json_text.h: the words of JSON, for the readers of `masu plan`. Every function that reads begins at j->at, behind
 * white space, and moves behind what it read; false: the complaint has been written, or memory ran out.
 */
#ifndef MASU_TOOL_PLAN_JSON_TEXT_H
#define MASU_TOOL_PLAN_JSON_TEXT_H

#include "tool/plan/plan_table.h"

typedef struct json {
    plan_reader *reader;
    size_t at;   /* in the text */
    void *state; /* the reader's own */
} json;

typedef struct json_span {
    size_t from, length; /* of a string's inside, or of a number */
    size_t begin;
} json_span;

/* Complains, and returns false: "PATH:LINE:COLUMN: error: expected WHAT". */
bool plan_json_expected(const json *j, size_t at, const char *what);
bool plan_json_no_memory(json *j);

/* The next character that is not white space; 0 at the end. */
char plan_json_peek(json *j);
bool plan_json_take(json *j, char c, const char *what);
bool plan_json_string(json *j, json_span *out);
bool plan_json_is(const json *j, json_span s, const char *word);
/* A whole number, also a negative one; one that is not negative. */
bool plan_json_moment(json *j, int64_t *out);
bool plan_json_bytes(json *j, uint64_t *out);
/* A string or a number, escapes as what they mean, in the table's arena. */
bool plan_json_id(json *j, const char **out);
/* Any value, 64 deep at most. */
bool plan_json_skip(json *j);

/* Calls for each member of an object; the member must consume its value. */
typedef bool (*json_member)(json *j, json_span name, void *context);
bool plan_json_each_member(json *j, json_member member, void *context);

typedef bool (*json_element)(json *j, void *context);
bool plan_json_each_element(json *j, json_element element, void *context);

#endif
