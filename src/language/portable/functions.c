/* functions.c: the small functions of C that a program needs, taken from the texts that the runtime itself is compiled
 * from. */
#include "language/portable/functions.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

typedef struct function_row {
    const char *name, *parameters, *body;
} function_row;

#define WHOLE_FUNCTION(name, parameters, ...) {#name, #parameters, #__VA_ARGS__},
#define FLOAT_FUNCTION(name, parameters, ...)
static const function_row whole_functions[] = {
#include <masu/element_functions.def>
    {NULL, NULL, NULL}};
#undef WHOLE_FUNCTION
#undef FLOAT_FUNCTION
#define WHOLE_FUNCTION(name, parameters, ...)
#define FLOAT_FUNCTION(name, parameters, ...) {#name, #parameters, #__VA_ARGS__},
static const function_row real_functions[] = {
#include <masu/element_functions.def>
    {NULL, NULL, NULL}};
#undef WHOLE_FUNCTION
#undef FLOAT_FUNCTION

static const function_row *row_named(const function_row *rows, const char *name) {
    for (; rows->name; rows++)
        if (strcmp(rows->name, name) == 0)
            return rows;
    return NULL;
}

static bool is_new(function_set *set, const char *name) {
    for (uint32_t k = 0; k < set->count; k++)
        if (strcmp(set->names[k], name) == 0)
            return false;
    if (set->count == set->capacity) {
        uint32_t wanted = 2 * set->capacity + 16;
        const char **grown = masu__arena_grow(set->arena, set->names, set->capacity, wanted, sizeof *grown,
                                              _Alignof(const char *));
        set->failed |= !grown;
        if (!grown)
            return false;
        set->names = grown;
        set->capacity = wanted;
    }
    const char *kept = masu__arena_strdup(set->arena, name);
    set->failed |= !kept;
    if (kept)
        set->names[set->count++] = kept;
    return kept != NULL;
}

static void drop(function_set *set, masu__buffer *part) {
    set->failed |= part->failed;
    masu__buffer_destroy(part);
}

void functions_need(function_set *set, const char *name, const char *text) {
    if (is_new(set, name))
        masu__buffer_printf(&set->text, "%s\n", text);
}

const char *functions_element_type(tl_dtype dtype) {
    static const char *const names[] = {"float", "double", "int64_t", "unsigned char"};
    return names[dtype];
}

const char *functions_c_type(ir_type type) {
    static const char *const names[] = {
        [IR_BOOL] = "unsigned char", [IR_I8] = "int8_t",  [IR_I16] = "int16_t",  [IR_I32] = "int32_t",
        [IR_I64] = "int64_t",        [IR_U8] = "uint8_t", [IR_U16] = "uint16_t", [IR_U32] = "uint32_t",
        [IR_U64] = "uint64_t",       [IR_F32] = "float",  [IR_F64] = "double",   [IR_CHAR] = "uint32_t"};
    return type < sizeof names / sizeof names[0] && names[type] ? names[type] : "int64_t";
}

/* ---- layout ------------------------------------------------------------------------------------------------------ */

/* A body that the preprocessor made one line of, a statement a line. */
static void put_lines(const char *text, masu__buffer *out) {
    int deep = 0, round = 0;
    for (const char *at = text; *at; at++) {
        if (*at == '}') {
            deep--;
            masu__buffer_truncate(out, out->length >= 4 && strncmp(out->data + out->length - 4, "    ", 4) == 0
                                           ? out->length - 4
                                           : out->length);
        }
        masu__buffer_putc(out, *at);
        round += *at == '(' ? 1 : *at == ')' ? -1 : 0;
        deep += *at == '{';
        bool ends = (*at == ';' && round == 0) || *at == '{' || *at == '}';
        if (!ends)
            continue;
        while (at[1] == ' ')
            at++;
        masu__buffer_putc(out, '\n');
        for (int k = 0; k < deep && at[1]; k++)
            masu__buffer_puts(out, "    ");
    }
}

/* ---- vector_math.h ----------------------------------------------------------------------------------------------- */

static bool is_word(char c) {
    return isalnum((unsigned char)c) || c == '_';
}

/* The function's text in the header, from `static` to its closing brace at the start of a line; NULL: it has none. */
static const char *find_vector_function(const char *name, size_t *length) {
    const char *text = portable_vector_math, *end = text + portable_vector_math_bytes;
    for (const char *at = text; (at = strstr(at, "static inline ")) && at < end; at++) {
        const char *open = strchr(at, '('), *named = open;
        while (named > at && is_word(named[-1]))
            named--;
        if ((size_t)(open - named) == strlen(name) && strncmp(named, name, strlen(name)) == 0) {
            *length = (size_t)(strstr(at, "\n}\n") + 3 - at);
            return at;
        }
    }
    return NULL;
}

/* Its names begin with tl__, which the written text leaves out. */
static void need_vector_function(function_set *set, const char *name) {
    size_t length = 0;
    const char *text = find_vector_function(name, &length);
    masu__buffer body = {0};
    if (!text || !is_new(set, name))
        return;
    for (size_t k = 0; k < length; k++) {
        if (strncmp(text + k, "tl__", 4) == 0) {
            size_t word = 0;
            char called[64];
            while (is_word(text[k + word]) && word + 1 < sizeof called)
                word++;
            snprintf(called, sizeof called, "%.*s", (int)word, text + k);
            need_vector_function(set, called);
            k += 4;
        }
        masu__buffer_putc(&body, text[k]);
    }
    masu__buffer_puts(&set->text, masu__buffer_text(&body));
    masu__buffer_putc(&set->text, '\n');
    drop(set, &body);
}

/* ---- expressions ------------------------------------------------------------------------------------------------- */

static bool is_math(const char *word) {
    static const char names[] =
        " fmod floor ceil copysign sqrt sin cos tan fabs pow atan2 hypot log1p expm1 exp exp2 "
        "log log2 log10 nearbyint asin acos atan asinh acosh atanh sinh cosh tanh trunc ";
    char spaced[72];
    snprintf(spaced, sizeof spaced, " %s ", word);
    return strstr(names, spaced) != NULL;
}

static void need_real(function_set *set, const function_row *row, tl_dtype dtype) {
    char name[80];
    masu__buffer text = {0}, lines = {0};
    snprintf(name, sizeof name, "%s_%s", row->name, dtype == TL_F32 ? "f32" : "f64");
    for (uint32_t k = 0; k < set->count; k++)
        if (strcmp(set->names[k], name) == 0)
            return;
    functions_put_value(set, row->parameters, dtype, NULL, &text);
    masu__buffer_putc(&text, ' ');
    functions_put_value(set, row->body, dtype, NULL, &text);
    put_lines(masu__buffer_text(&text), &lines);
    if (is_new(set, name))
        masu__buffer_printf(&set->text, "static inline %s %s%s\n", functions_element_type(dtype), name,
                            masu__buffer_text(&lines));
    drop(set, &text);
    drop(set, &lines);
}

static void need_whole(function_set *set, const function_row *row) {
    masu__buffer text = {0}, lines = {0};
    for (uint32_t k = 0; k < set->count; k++)
        if (strcmp(set->names[k], row->name) == 0)
            return;
    functions_put_value(set, row->body, TL_I64, NULL, &text);
    put_lines(masu__buffer_text(&text), &lines);
    if (is_new(set, row->name))
        masu__buffer_printf(&set->text, "static inline int64_t %s%s %s\n", row->name, row->parameters,
                            masu__buffer_text(&lines));
    drop(set, &text);
    drop(set, &lines);
}

/* f32 has it in vector_math.h; f64 in the table or in the C library. */
static void put_of(function_set *set, const char *word, tl_dtype dtype, masu__buffer *out) {
    char name[32];
    int stem = (int)(strlen(word) - 3); /* without _of */
    snprintf(name, sizeof name, "%.*s", stem, word);
    if (dtype != TL_F32) {
        const function_row *row = row_named(real_functions, name);
        if (row)
            need_real(set, row, dtype);
        masu__buffer_printf(out, "%s%s", name, row ? "_f64" : "");
        return;
    }
    snprintf(name, sizeof name, "tl__%.*s_f32", stem, word);
    need_vector_function(set, name);
    masu__buffer_puts(out, name + 4);
}

static void put_word(function_set *set, const char *word, tl_dtype dtype, const char *const parts[5],
                     masu__buffer *out) {
    static const char *const names[5] = {"x", "y", "z", "P0", "P1"};
    bool floats = dtype == TL_F32 || dtype == TL_F64;
    const function_row *row;
    for (int k = 0; k < 5; k++)
        if (parts && strcmp(word, names[k]) == 0) {
            masu__buffer_puts(out, parts[k] ? parts[k] : "0");
            return;
        }
    if (strcmp(word, "T") == 0) {
        masu__buffer_puts(out, functions_element_type(dtype));
    } else if (floats && (strcmp(word, "exp_of") == 0 || strcmp(word, "log_of") == 0 || strcmp(word, "erf_of") == 0 ||
                          strcmp(word, "tanh_of") == 0 || strcmp(word, "normal_of") == 0)) {
        put_of(set, word, dtype, out);
    } else if (floats && (row = row_named(real_functions, word))) {
        need_real(set, row, dtype);
        masu__buffer_printf(out, "%s_%s", word, dtype == TL_F32 ? "f32" : "f64");
    } else if ((row = row_named(whole_functions, word))) {
        need_whole(set, row);
        masu__buffer_puts(out, word);
    } else {
        masu__buffer_puts(out, word);
        if (dtype == TL_F32 && is_math(word))
            masu__buffer_putc(out, 'f');
    }
}

void functions_put_value(function_set *set, const char *value, tl_dtype dtype, const char *const parts[5],
                         masu__buffer *out) {
    for (const char *at = value; *at;) {
        size_t length = 0;
        char word[64];
        if (isdigit((unsigned char)*at)) { /* a number, with its exponent */
            while (is_word(at[length]) || at[length] == '.')
                length++;
            masu__buffer_append(out, at, length);
            at += length;
            continue;
        }
        while (is_word(at[length]) && length + 1 < sizeof word)
            length++;
        if (length == 0) {
            masu__buffer_putc(out, *at++);
            continue;
        }
        snprintf(word, sizeof word, "%.*s", (int)length, at);
        put_word(set, word, dtype, parts, out);
        at += length;
    }
}

/* ---- whole numbers ----------------------------------------------------------------------------------------------- */

static const char *short_name(ir_type type) {
    static const char *const names[] = {
        [IR_I8] = "i8",   [IR_I16] = "i16", [IR_I32] = "i32", [IR_I64] = "i64", [IR_U8] = "u8",    [IR_U16] = "u16",
        [IR_U32] = "u32", [IR_U64] = "u64", [IR_F32] = "f32", [IR_F64] = "f64", [IR_CHAR] = "u32", [IR_BOOL] = "u8"};
    return names[type];
}

const char *functions_whole(function_set *set, ir_opcode op, ir_type type) {
    static const struct {
        ir_opcode op;
        const char *name, *with_sign, *without;
    } rows[] = {
        {IR_ADD, "add", "(%T)((%U)a + (%U)b)", NULL},
        {IR_SUB, "sub", "(%T)((%U)a - (%U)b)", NULL},
        {IR_SUB_LENGTH, "sub", "(%T)((%U)a - (%U)b)", NULL},
        {IR_MUL, "mul", "(%T)((%U)a * (%U)b)", NULL},
        {IR_DIV, "div", "b == -1 ? (%T)(0 - (%U)a) : (%T)(a / b)", "(%T)(a / b)"},
        {IR_REM, "rem", "b == -1 ? 0 : (%T)(a % b)", "(%T)(a % b)"},
        {IR_SHL, "shl", "(%T)((%U)a << ((unsigned)b & %B))", NULL},
        {IR_SHR, "shr", "(%T)(a >> ((unsigned)b & %B))", NULL},
    };
    size_t k = 0;
    while (k + 1 < sizeof rows / sizeof rows[0] && rows[k].op != op)
        k++;
    const char *name = masu__arena_printf(set->arena, "%s_%s", rows[k].name, short_name(type));
    if (!name) {
        set->failed = true;
        return "";
    }
    if (!is_new(set, name))
        return name;
    const char *text = rows[k].without && !ir_type_signed(type) ? rows[k].without : rows[k].with_sign;
    const char *c = functions_c_type(type), *wide = ir_type_bits(type) == 64 ? "uint64_t" : "uint32_t";
    masu__buffer_printf(&set->text, "static inline %s %s(%s a, %s b) {\n    return ", c, name, c, c);
    for (; *text; text++)
        if (*text != '%' || (text[1] != 'T' && text[1] != 'U' && text[1] != 'B'))
            masu__buffer_putc(&set->text, *text);
        else if (*++text == 'B')
            masu__buffer_printf(&set->text, "%uu", ir_type_bits(type) - 1);
        else
            masu__buffer_puts(&set->text, *text == 'T' ? c : wide);
    masu__buffer_puts(&set->text, ";\n}\n\n");
    return name;
}

const char *functions_saturating(function_set *set, ir_type from, ir_type to) {
    const char *name = masu__arena_printf(set->arena, "%s_of_%s", short_name(to), short_name(from));
    if (!name) {
        set->failed = true;
        return "";
    }
    if (!is_new(set, name))
        return name;
    const char *c = functions_c_type(to), *real = functions_c_type(from), *end = from == IR_F32 ? "f" : "";
    unsigned bits = ir_type_bits(to);
    masu__buffer_printf(&set->text,
                        "/* Towards zero, the nearest that the type holds; 0 of NaN. */\nstatic inline %s %s(%s x) {\n",
                        c, name, real);
    if (ir_type_signed(to))
        masu__buffer_printf(
            &set->text,
            "    if (x >= 0x1p%u%s)\n        return INT%u_MAX;\n    if (x <= -0x1p%u%s)\n        return INT%u_MIN;\n",
            bits - 1, end, bits, bits - 1, end, bits);
    else
        masu__buffer_printf(&set->text,
                            "    if (x >= 0x1p%u%s)\n        return UINT%u_MAX;\n    if (x <= 0)\n        return 0;\n",
                            bits, end, bits);
    masu__buffer_printf(&set->text, "    return x != x ? 0 : (%s)x;\n}\n\n", c);
    return name;
}
