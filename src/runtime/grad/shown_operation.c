/* shown_operation.c: operations as a program writes them, for messages: the tables name `x * 0.5` mul_scalar. */
#include <stdio.h>
#include <string.h>

#include "runtime/grad/autograd.h"

const char *tl__shown_operation(const char *name, char *out, size_t size) {
    static const char *const signs[][2] = {{"add", "`+`"}, {"sub", "`-`"},  {"rsub", "`-`"}, {"mul", "`*`"},
                                           {"div", "`/`"}, {"rdiv", "`/`"}, {"rem", "`%`"},  {"neg", "`-`"}};
    static const char scalar[] = "_scalar";
    size_t length = strlen(name);
    if (length >= sizeof scalar && strcmp(name + length - (sizeof scalar - 1), scalar) == 0)
        length -= sizeof scalar - 1;
    for (size_t i = 0; i < sizeof signs / sizeof signs[0]; i++)
        if (strlen(signs[i][0]) == length && memcmp(signs[i][0], name, length) == 0)
            return signs[i][1];
    if (strchr(name, ' '))
        return name; /* "max or min" */
    snprintf(out, size, "`%.*s`", (int)length, name);
    return out;
}
