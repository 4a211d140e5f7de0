/* ops_called.h: operations called by what ops.def says of their parameters, so that a test of all of them names
 * none. */
#ifndef MASU_TEST_OPS_CALLED_H
#define MASU_TEST_OPS_CALLED_H

#include "ops_fixture.h"

/* "tt" takes two tensors, "tif" a tensor, an i64 and an f64; false: something else. */
static UNUSED bool signature_of(const tl_abi_function *f, char *out) {
    size_t n = 0;
    for (const tl_abi_parameter *p = f->parameters; p->name; p++) {
        bool tensor = p->kind == ABI_tensor && p->mode == TL_BORROWED;
        bool number = (p->kind == ABI_i64 || p->kind == ABI_f64) && p->mode == TL_VALUE;
        if (!tensor && !number)
            return false;
        out[n++] = tensor ? 't' : p->kind == ABI_i64 ? 'i' : 'f';
    }
    out[n] = 0;
    return f->result == ABI_tensor && out[0] == 't';
}

/* Numbers: dimension `dim`, elements 0 to 1, 0.5 to 1.5. False when the signature is not among these. *out is NULL
 * where the operation refuses. */
static UNUSED bool call_by_signature(const tl_abi_function *f, const char *signature, tl_tensor *a, tl_tensor *b,
                                     int64_t dim, tl_tensor **out) {
    typedef tl_tensor *of_t(tl_tensor *);
    typedef tl_tensor *of_tt(tl_tensor *, tl_tensor *);
    typedef tl_tensor *of_tf(tl_tensor *, double);
    typedef tl_tensor *of_tff(tl_tensor *, double, double);
    typedef tl_tensor *of_ti(tl_tensor *, int64_t);
    typedef tl_tensor *of_tii(tl_tensor *, int64_t, int64_t);
    typedef tl_tensor *of_tiii(tl_tensor *, int64_t, int64_t, int64_t);
    typedef tl_tensor *of_tti(tl_tensor *, tl_tensor *, int64_t);
    void *address = tl_abi_addresses[f - tl_abi_functions];
#define IS(text) (strcmp(signature, text) == 0)
    if (IS("t"))
        *out = ((of_t *)address)(a);
    else if (IS("tt"))
        *out = ((of_tt *)address)(a, b);
    else if (IS("tf"))
        *out = ((of_tf *)address)(a, 0.5);
    else if (IS("tff"))
        *out = ((of_tff *)address)(a, 0.5, 1.5);
    else if (IS("ti"))
        *out = ((of_ti *)address)(a, dim);
    else if (IS("tii"))
        *out = ((of_tii *)address)(a, dim, 1);
    else if (IS("tiii"))
        *out = ((of_tiii *)address)(a, dim, 0, 1);
    else if (IS("tti"))
        *out = ((of_tti *)address)(a, b, dim);
    else
        return false;
    return true;
}

#endif
