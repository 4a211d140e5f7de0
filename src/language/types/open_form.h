/* open_form.h: what a bracket, a row of a tensor and the like may become; check_infer.c decides it. */
#ifndef MASU_LANGUAGE_TYPES_OPEN_FORM_H
#define MASU_LANGUAGE_TYPES_OPEN_FORM_H

#include "language/syntax/tree.h"

typedef enum form_kind {
    FORM_BRACKET, /* [a, b]: a list or a tensor */
    FORM_ROW,   /* t[i] of a tensor: a number or, where its rank leaves that open or its history is wanted, a tensor */
    FORM_PAIR,  /* t.topk(k): the values, or these and where they are */
    FORM_TRUTH, /* a == b of brackets: one answer of lists, one for each element of tensors */
    FORM_MADE,  /* the elements of Tensor::zeros([2]): f64 where it is stored as such or beside one that is */
    FORM_FUNCTION /* a closure */
} form_kind;

/* The forms that an open type (type.open.form) may take. */
struct open_form {
    form_kind kind;
    expr *e;
    const type *open;
    /* of a bracket: what a list of it holds; of an element: its number; of a truth: what is compared */
    const type *element;
    bool prefers_list;   /* nothing demands a list, but most of what is done with it is done with lists */
    bool grows;          /* it gets longer or shorter: a Vec */
    bool is_element;     /* of a row: it has as many indices as its tensor has dimensions */
    bool is_shown;       /* of a row: it is printed, as what it is when the program runs */
    bool is_literal;     /* of an element: a number that sums begin with, as no element of a tensor has joined it */
    bool has_literal;    /* such a number has joined it */
    bool prefers_tensor; /* of a row: nothing demands a number, and beside a tensor its history counts */
    source_span because; /* what decided it; no file: nothing */
    const type **parameters, *result; /* of a closure */
    uint32_t count;
};

typedef struct open_form open_form;

#endif
