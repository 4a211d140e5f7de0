/* check_constant.c: F32::max_value(), i64::MAX, i64::sizeof(), std::f32::consts::PI: names that are
 * numbers. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "language/front/check_types.h"
#include "language/library/library.h"
#include "language/syntax/lexer.h"
#include "language/types/check_context.h"

/* F32, I64 …, as well as f32, i64 …, with std:: and core:: in front; the rest behind the type in
 * *rest. */
static type_kind scope_type(const char *scope, const char **rest) {
    static const char *const prefixes[] = {"std::", "core::"};
    for (size_t i = 0; i < sizeof prefixes / sizeof prefixes[0]; i++)
        if (strncmp(scope, prefixes[i], strlen(prefixes[i])) == 0)
            scope += strlen(prefixes[i]);
    if (library_said_of(LIBRARY_constant, scope) == SAID_CONSTANTS) /* use std::f64::consts; */
        scope = "f64::consts";
    size_t length = strcspn(scope, ":");
    char lower[8];
    if (length == 0 || length >= sizeof lower)
        return TYPE_ERROR;
    memcpy(lower, scope, length);
    lower[0] = (char)(lower[0] >= 'A' && lower[0] <= 'Z' ? lower[0] - 'A' + 'a' : lower[0]);
    type_kind kind = scalar_type_of_name(lower, length);
    *rest = scope + length;
    return kind >= TYPE_BOOL && kind <= TYPE_CHAR ? kind : TYPE_ERROR;
}

static void become_float(expr *e, const type *t, double value) {
    e->kind = EXPR_FLOAT;
    e->type = t;
    e->floating.is_whole = false;
    e->floating.value = value;
    e->floating.suffix = t->kind;
}

static void become_int(expr *e, const type *t, uint64_t value) {
    e->kind = EXPR_INT;
    e->type = t;
    e->integer.value = value;
    e->integer.suffix = t->kind;
}

static bool float_constant(expr *e, const type *t, const char *name) {
    bool wide = t->kind == TYPE_F64;
    const struct {
        const char *name;
        double value;
    } constants[] = {
        {"max_value", wide ? DBL_MAX : FLT_MAX},
        {"MAX", wide ? DBL_MAX : FLT_MAX},
        {"min_value", wide ? -DBL_MAX : -FLT_MAX},
        {"MIN", wide ? -DBL_MAX : -FLT_MAX},
        {"infinity", INFINITY},
        {"INFINITY", INFINITY},
        {"neg_infinity", -INFINITY},
        {"NEG_INFINITY", -INFINITY},
        {"nan", NAN},
        {"NAN", NAN},
        {"epsilon", wide ? DBL_EPSILON : FLT_EPSILON},
        {"EPSILON", wide ? DBL_EPSILON : FLT_EPSILON},
        {"MIN_POSITIVE", wide ? DBL_MIN : FLT_MIN},
        {"min_positive", wide ? DBL_MIN : FLT_MIN},
        {"pi", M_PI},
        {"PI", M_PI},
        {"E", M_E},
        {"TAU", 2 * M_PI},
        {"LN_2", M_LN2},
        {"LN_10", M_LN10},
        {"LOG2_E", M_LOG2E},
        {"LOG10_E", M_LOG10E},
        {"SQRT_2", M_SQRT2},
        {"FRAC_1_SQRT_2", M_SQRT1_2},
        {"FRAC_PI_2", M_PI_2},
        {"FRAC_PI_3", M_PI / 3},
        {"FRAC_PI_4", M_PI_4},
        {"FRAC_PI_6", M_PI / 6},
        {"FRAC_PI_8", M_PI / 8},
        {"FRAC_1_PI", M_1_PI},
        {"FRAC_2_PI", M_2_PI},
    };
    for (size_t i = 0; i < sizeof constants / sizeof constants[0]; i++) {
        if (strcmp(constants[i].name, name) == 0) {
            become_float(e, t, constants[i].value);
            return true;
        }
    }
    return false;
}

static bool integer_constant(checker *c, expr *e, const type *t, const char *name) {
    uint32_t bits = type_bits(t);
    uint64_t all = bits == 64 ? UINT64_MAX : (UINT64_C(1) << bits) - 1;
    uint64_t max = type_is_signed(t) ? all >> 1 : all;
    const library_said said = library_said_of(LIBRARY_constant, name);
    if (said == SAID_MAX)
        become_int(e, t, max);
    else if (said == SAID_MIN)
        become_int(e, t, type_is_signed(t) ? ~max : 0);
    else if (said == SAID_BITS)
        become_int(e, check_scalar(c, TYPE_U32), bits);
    else
        return false;
    return true;
}

bool check_scalar_scope(const char *scope) {
    const char *rest;
    return scope_type(scope, &rest) != TYPE_ERROR;
}

bool check_scalar_constant(checker *c, expr *e, const char *scope, const char *name, bool called) {
    const char *rest;
    type_kind kind = scope_type(scope, &rest);
    if (kind == TYPE_ERROR)
        return false;
    const type *t = check_scalar(c, kind);
    if (called && library_said_of(LIBRARY_constant, name) == SAID_SIZE) {
        become_int(e, check_scalar(c, TYPE_I64), kind == TYPE_BOOL ? 1 : type_bits(t) / 8);
        return true;
    }
    bool known = false;
    if (type_is_float(t) && (rest[0] == 0 || strcmp(rest, "::consts") == 0))
        known = float_constant(e, t, name);
    else if (type_is_integer(t) && rest[0] == 0)
        known = integer_constant(c, e, t, name);
    return known;
}
