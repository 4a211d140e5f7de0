/* linalg.h: what the files that call LAPACK share: linalg.c and its two types (matrices taken apart), systems.c
 * (systems, inverses). */
#ifndef MASU_RUNTIME_OPS_LINALG_H
#define MASU_RUNTIME_OPS_LINALG_H

#include "runtime/ops/ops.h"

/* The longest side of a matrix: LAPACK counts in int, and a matrix has the square of it. */
enum { TL_MATRIX_LONGEST = 1 << 14 };

/* Whether the last two dimensions of t are a matrix, a square one where square, else an error that begins with what;
 * and whether LAPACK finds memory of its own. */
masu_status tl__check_matrix(const char *what, const tl_tensor *t, bool square);

/* How many matrices of this many elements t holds. */
int64_t tl__matrices(const tl_tensor *t, int64_t size);

/* The error of LAPACK's info, which is not 0. */
masu_status tl__lapack_failed(const char *what, int info);

/* Decompositions, and what is made of them, as the language numbers them; the layout of the parts is in linalg.c. */
typedef enum tl_decomposition {
    TL_INVERSE,
    TL_DET,
    TL_CHOLESKY,
    TL_EIGH,
    TL_SVD,
    TL_QR,
    TL_LU,
    TL_DECOMPOSITIONS
} tl_decomposition;

/* Each matrix of a, which has elements and lies by rows, into to; both of the type that the name says. */
masu_status tl__take_apart_f32(tl_decomposition what, const tl_tensor *a, tl_tensor *to);
masu_status tl__take_apart_f64(tl_decomposition what, const tl_tensor *a, tl_tensor *to);

/* The inverse of each matrix of t, in f64 of f64 and in f32 of all other types; the caller owns it. */
masu_status tl__inverse(tl_tensor *t, tl_tensor **out);

#endif
