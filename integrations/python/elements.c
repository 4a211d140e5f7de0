/* elements.c: the types of elements, by each name that they travel under. */
#include "masu_python.h"

#include <string.h>

#define LONG_IS_64 (sizeof(long) == 8)

/* int64 is `l` where long has 64 bits: NumPy's own int64 is that one, not `q`. */
const element_type masu_py_elements[ELEMENT_KIND_COUNT] = {
    [ELEMENT_BOOL] = {"bool", 1, 1, DL_BOOL, "?"},
    [ELEMENT_INT8] = {"int8", 1, 1, DL_INT, "b"},
    [ELEMENT_INT16] = {"int16", 2, 2, DL_INT, "h"},
    [ELEMENT_INT32] = {"int32", 4, 4, DL_INT, "i"},
    [ELEMENT_INT64] = {"int64", 8, 8, DL_INT, LONG_IS_64 ? "l" : "q"},
    [ELEMENT_UINT8] = {"uint8", 1, 1, DL_UINT, "B"},
    [ELEMENT_UINT16] = {"uint16", 2, 2, DL_UINT, "H"},
    [ELEMENT_UINT32] = {"uint32", 4, 4, DL_UINT, "I"},
    [ELEMENT_UINT64] = {"uint64", 8, 8, DL_UINT, LONG_IS_64 ? "L" : "Q"},
    [ELEMENT_FLOAT16] = {"float16", 2, 2, DL_FLOAT, "e"},
    [ELEMENT_BFLOAT16] = {"bfloat16", 2, 2, DL_BFLOAT, NULL},
    [ELEMENT_FLOAT32] = {"float32", 4, 4, DL_FLOAT, "f"},
    [ELEMENT_FLOAT64] = {"float64", 8, 8, DL_FLOAT, "d"},
    [ELEMENT_COMPLEX64] = {"complex64", 8, 4, DL_COMPLEX, "Zf"},
    [ELEMENT_COMPLEX128] = {"complex128", 16, 8, DL_COMPLEX, "Zd"},
};

static bool element_of(uint8_t code, size_t bytes, element_kind *out) {
    for (int kind = 0; kind < ELEMENT_KIND_COUNT; kind++)
        if (masu_py_elements[kind].code == code && masu_py_elements[kind].bytes == bytes) {
            *out = (element_kind)kind;
            return true;
        }
    return false;
}

bool masu_py_element_of_dlpack(dl_type type, element_kind *out) {
    return type.lanes == 1 && type.bits % 8 == 0 && element_of(type.code, type.bits / 8, out);
}

/* A letter says the kind of number, the exporter's item size how long it is: `l` is 4 bytes in the standard sizes and 8
 * in the native ones. */
bool masu_py_element_of_format(const char *format, Py_ssize_t bytes, element_kind *out) {
    if (!format)
        format = "B";
    if (*format == '@' || *format == '=' || *format == '<')
        format++;
    else if ((*format == '>' || *format == '!') && bytes == 1)
        format++;
    uint8_t code;
    if (strlen(format) == 1 && strchr("bhilqn", *format))
        code = DL_INT;
    else if (strlen(format) == 1 && strchr("BHILQN", *format))
        code = DL_UINT;
    else if (strlen(format) == 1 && strchr("efd", *format))
        code = DL_FLOAT;
    else if (!strcmp(format, "?"))
        code = DL_BOOL;
    else if (!strcmp(format, "Zf") || !strcmp(format, "Zd"))
        code = DL_COMPLEX;
    else
        return false;
    return element_of(code, (size_t)bytes, out);
}

bool masu_py_element_of_name(const char *name, element_kind *out) {
    for (int kind = 0; kind < ELEMENT_KIND_COUNT; kind++)
        if (!strcmp(masu_py_elements[kind].name, name)) {
            *out = (element_kind)kind;
            return true;
        }
    return false;
}
