/* explain_frame.h: the parts of `explain` that are below the source: the picture of each function's frame,
 * and what each pass left behind. */
#ifndef MASU_LANGUAGE_EXPLAIN_FRAME_H
#define MASU_LANGUAGE_EXPLAIN_FRAME_H

#include "base/buffer.h"
#include "language/ir/ir.h"

/* Nothing for a function whose frame holds no tensor. */
void explain_frame(const ir_function *f, masu__buffer *out);
/* The same picture for a page, with the list as tooltips. */
void explain_frame_svg(const ir_function *f, masu__buffer *out);
/* "frame_bytes": …, "frame_lower_bound": …, "tensors": […] */
void explain_frame_json(const ir_function *f, masu__buffer *out);

/* explain_passes.c */
void explain_tallies(const ir_module *m, masu__buffer *out);
void explain_tallies_json(const ir_module *m, masu__buffer *out);
/* "passes": […] */
void explain_function_tallies_json(const ir_function *f, masu__buffer *out);

#endif
