/* write_moves.c: operations that move elements: join, pad, slide windows, choose, copy views; tensors from numbers,
 * comprehensions. */
#include "language/portable/writer.h"

void write_cat(writer *w, const ir_instr *i) {
    const fact *a = layout_fact(w->l, i->args[0]), *b = layout_fact(w->l, i->args[1]),
               *out = layout_fact(w->l, i->result);
    const place *to = &w->l->places[i->result];
    uint32_t dim = write_dim_of(w, i, a);
    write_copy(w, a, write_root(w, to->root), out->dtype, to->offset, to->stride, i->args[0]);
    write_copy(w, b, write_root(w, to->root), out->dtype, to->offset + a->dim[dim] * to->stride[dim], to->stride,
               i->args[1]);
}

void write_stack(writer *w, const ir_instr *i) {
    const fact *out = layout_fact(w->l, i->result);
    const place *to = &w->l->places[i->result];
    for (uint32_t k = 0; k < i->arg_count; k++)
        write_copy(w, layout_fact(w->l, i->args[k]), write_root(w, to->root), out->dtype,
                   to->offset + (int64_t)k * to->stride[0], to->stride + 1, i->args[k]);
}

static const char *fill_number(writer *w, const ir_instr *i, const char *name, tl_dtype dtype) {
    ir_value v = portable_operand(i, name);
    const ir_instr *def = v ? w->f->values[v].def : NULL;
    return def && def->op == IR_CONST ? write_number_of(w, dtype, def->imm.f)
                                      : writer_printf(w, "(%s)%s", functions_element_type(dtype), write_text(w, v));
}

void write_pad(writer *w, const ir_instr *i) {
    const fact *t = layout_fact(w->l, i->args[0]), *out = layout_fact(w->l, i->result);
    const place *to = &w->l->places[i->result];
    const ir_value *pads;
    uint32_t count = portable_list(i, &pads);
    int64_t offset = to->offset, number = 0;
    write_line(w, "for (int32_t i = 0; i < %lld; i++)", (long long)fact_elements(out));
    w->depth++;
    write_line(w, "%s[i] = %s;", write_array(w, i->result), fill_number(w, i, "value", out->dtype));
    w->depth--;
    for (uint32_t k = 0; k < count / 2; k++) {
        ir_const_int(w->f, pads[2 * k], &number);
        offset += number * to->stride[t->rank - 1 - k];
    }
    write_copy(w, t, write_root(w, to->root), out->dtype, offset, to->stride, i->args[0]);
}

static write_window window_of(writer *w, const ir_instr *i, const fact *t) {
    const ir_value *list;
    int64_t v[8] = {0};
    write_window made;
    portable_list(i, &list);
    for (int k = 0; k < 8; k++)
        ir_const_int(w->f, list[k], &v[k]);
    for (int k = 0; k < 2; k++) {
        made.kernel[k] = v[k];
        made.stride[k] = v[2 + k];
        made.padding[k] = v[4 + k];
        made.dilation[k] = v[6 + k];
        made.places[k] = (t->dim[2 + k] + 2 * v[4 + k] - v[6 + k] * (v[k] - 1) - 1) / v[2 + k] + 1;
    }
    return made;
}

/* y and x, the pixel below the window's (ky, kx) at (oy, ox). */
static void write_pixel(writer *w, const write_window *by, int k) {
    static const char names[] = "yx";
    write_indent(w);
    masu__buffer_printf(w->out, "const int32_t %c = o%c", names[k], names[k]);
    if (by->stride[k] != 1)
        masu__buffer_printf(w->out, " * %lld", by->stride[k]);
    masu__buffer_printf(w->out, by->dilation[k] == 1 ? " + k%c" : " + k%c * %lld", names[k], by->dilation[k]);
    masu__buffer_printf(w->out, by->padding[k] == 0 ? ";\n" : " - %lld;\n", by->padding[k]);
}

/* Six loops: each pixel below each window of the images. */
static void open_windows(writer *w, const write_window *by, const fact *images) {
    write_open(w, "n", images->dim[0]);
    write_open(w, "c", images->dim[1]);
    write_open(w, "ky", by->kernel[0]);
    write_open(w, "kx", by->kernel[1]);
    write_open(w, "oy", by->places[0]);
    write_open(w, "ox", by->places[1]);
    write_pixel(w, by, 0);
    write_pixel(w, by, 1);
}

void write_unfold(writer *w, const ir_instr *i) {
    const fact *t = layout_fact(w->l, i->args[0]);
    tl_dtype dtype = layout_fact(w->l, i->result)->dtype;
    const char *const index[] = {t->dim[0] == 1 ? "0" : "n", t->dim[1] == 1 ? "0" : "c", "y", "x"};
    if (!write_is_of(w, i, i->args[0], dtype))
        return;
    write_window by = window_of(w, i, t);
    write_line(w, "{");
    w->depth++;
    write_line(w, "int32_t at = 0;");
    open_windows(w, &by, t);
    write_line(w, "%s[at++] = y >= 0 && y < %lld && x >= 0 && x < %lld ? %s : %s;", write_array(w, i->result),
               (long long)t->dim[2], (long long)t->dim[3], write_at(w, i->args[0], index),
               fill_number(w, i, "fill", dtype));
    write_close_all(w, 7);
}

/* In the order of fold_into (runtime/ops/windows.c). */
void write_fold(writer *w, const ir_instr *i) {
    const fact *out = layout_fact(w->l, i->result);
    const char *const to[] = {out->dim[0] == 1 ? "0" : "n", out->dim[1] == 1 ? "0" : "c", "y", "x"};
    if (!write_is_of(w, i, i->args[0], out->dtype))
        return;
    write_window by = window_of(w, i, out);
    const char *const from[] = {to[0], writer_printf(w, "((c * %lld + ky) * %lld + kx)", by.kernel[0], by.kernel[1]),
                                writer_printf(w, "(oy * %lld + ox)", by.places[1])};
    write_line(w, "for (int32_t i = 0; i < %lld; i++)", (long long)fact_elements(out));
    w->depth++;
    write_line(w, "%s[i] = 0;", write_array(w, i->result));
    w->depth--;
    open_windows(w, &by, out);
    write_line(w, "if (y >= 0 && y < %lld && x >= 0 && x < %lld)", (long long)out->dim[2], (long long)out->dim[3]);
    w->depth++;
    write_line(w, "%s += %s;", write_at(w, i->result, to), write_at(w, i->args[0], from));
    w->depth--;
    write_close_all(w, 6);
}

void write_convolve(writer *w, const ir_instr *i) {
    tl_dtype dtype = layout_fact(w->l, i->result)->dtype;
    if (!write_is_of(w, i, i->args[0], dtype) || !write_is_of(w, i, i->args[1], dtype))
        return;
    write_window over = window_of(w, i, layout_fact(w->l, i->args[0]));
    write_real_convolution(w, i, &over);
}

void write_triangle(writer *w, const ir_instr *i) {
    const fact *t = layout_fact(w->l, i->result);
    const char *index[TL_MAX_RANK];
    int64_t k = write_known(w, i, "diagonal", INT64_MIN);
    if (k == INT64_MIN || t->rank < 2) {
        portable_refuse(w->p, NULL, i->span, "which diagonal is not known when the C is written");
        return;
    }
    uint32_t opened = write_open_without(w, t, t->rank, index);
    write_line(w, "%s = %s - %s %s %lld ? 0 : %s;", write_at(w, i->result, index), index[t->rank - 1],
               index[t->rank - 2], i->abi == TL_FN_tl_tensor_tril ? ">" : "<", (long long)k,
               write_at(w, i->args[0], index));
    write_close_all(w, opened);
}

/* ---- chosen ------------------------------------------------------------------------------------------------------ */

static void check_index(writer *w, const ir_instr *i, const char *index, int64_t length) {
    write_line(w, "if ((uint64_t)%s >= %lld)", index, (long long)length);
    w->depth++;
    write_failure(w, i, "INDEX_OUT_OF_RANGE", "index out of range");
    w->depth--;
}

/* Rows that an index of any shape names: out[index…, rest…] = table[index[…], rest…]; for index_select along dim. */
void write_select(writer *w, const ir_instr *i, ir_value table, ir_value index, uint32_t dim) {
    const fact *t = layout_fact(w->l, table), *n = layout_fact(w->l, index), *out = layout_fact(w->l, i->result);
    const char *places[TL_MAX_RANK], *from[TL_MAX_RANK], *named[TL_MAX_RANK];
    if (!write_is_of(w, i, index, TL_I64))
        return;
    for (uint32_t d = 0; d < out->rank; d++)
        places[d] = out->dim[d] == 1 ? "0" : write_letters[d];
    for (uint32_t d = 0; d < n->rank; d++)
        named[d] = places[dim + d];
    uint32_t opened = 0;
    for (uint32_t d = 0; d < out->rank; d++) {
        if (out->dim[d] == 1)
            continue;
        write_open(w, write_letters[d], out->dim[d]);
        opened++;
    }
    write_line(w, "{");
    w->depth++;
    write_line(w, "const int64_t at = %s;", write_at(w, index, named));
    check_index(w, i, "at", t->dim[dim]);
    for (uint32_t d = 0; d < t->rank; d++)
        from[d] = d < dim ? places[d] : d == dim ? "at" : places[d + n->rank - 1];
    write_line(w, "%s = %s;", write_at(w, i->result, places), write_at(w, table, from));
    write_close(w);
    write_close_all(w, opened);
}

void write_gather(writer *w, const ir_instr *i) {
    const fact *t = layout_fact(w->l, i->args[0]), *out = layout_fact(w->l, i->result);
    ir_value index = portable_operand(i, "index");
    const char *places[TL_MAX_RANK], *from[TL_MAX_RANK];
    uint32_t dim = write_dim_of(w, i, t), opened = write_open_without(w, out, out->rank, places);
    if (!write_is_of(w, i, index, TL_I64))
        return;
    write_line(w, "{");
    w->depth++;
    write_line(w, "const int64_t at = %s;", write_at(w, index, places));
    check_index(w, i, "at", t->dim[dim]);
    for (uint32_t d = 0; d < t->rank; d++)
        from[d] = d == dim ? "at" : places[d];
    write_line(w, "%s = %s;", write_at(w, i->result, places), write_at(w, i->args[0], from));
    write_close(w);
    write_close_all(w, opened);
}

/* ---- copies of views --------------------------------------------------------------------------------------------- */

/* A part that begins where the running program says. */
static void write_part(writer *w, const ir_instr *i) {
    const fact *t = layout_fact(w->l, i->args[0]), *out = layout_fact(w->l, i->result);
    bool row = i->abi == TL_FN_tl_tensor_row;
    ir_value first = portable_operand(i, row ? "index" : "from");
    int64_t dim = row ? 0 : write_known(w, i, "dim", INT64_MIN);
    if (dim == INT64_MIN) {
        portable_refuse(w->p, NULL, i->span, "along which dimension is not known when the C is written");
        return;
    }
    dim += dim < 0 ? t->rank : 0;
    write_line(w, "{");
    w->depth++;
    write_line(w, "int64_t from = %s;", write_text(w, first));
    if (!row)
        write_line(w, "from += from < 0 ? %lld : 0;", (long long)t->dim[dim]);
    check_index(w, i, "from", t->dim[dim] - (row ? 1 : out->dim[dim]) + 1);
    const char *index[TL_MAX_RANK], *from[TL_MAX_RANK];
    uint32_t opened = write_open_without(w, out, out->rank, index);
    for (uint32_t d = 0; d < t->rank; d++)
        from[d] = row                  ? (d == 0 ? "from" : index[d - 1])
                  : d == (uint32_t)dim ? writer_printf(w, "from + %s", index[d])
                                       : index[d];
    write_line(w, "%s = %s;", write_at(w, i->result, index), write_at(w, i->args[0], from));
    write_close_all(w, opened);
    write_close(w);
}

void write_view(writer *w, const ir_instr *i) {
    const fact *from = layout_fact(w->l, i->args[0]), *out = layout_fact(w->l, i->result);
    const place *to = &w->l->places[i->result];
    int64_t stride[TL_MAX_RANK], step = 1;
    if (i->abi == TL_FN_tl_tensor_row || i->abi == TL_FN_tl_tensor_slice || i->abi == TL_FN_tl_tensor_narrow) {
        write_part(w, i);
        return;
    }
    for (uint32_t d = from->rank; d-- > 0; step *= from->dim[d])
        stride[d] = step;
    write_copy(w, from, write_root(w, to->root), out->dtype, to->offset, stride, i->args[0]);
}

/* ---- made -------------------------------------------------------------------------------------------------------- */

void write_made(writer *w, const ir_instr *i) {
    const fact *out = layout_fact(w->l, i->result);
    const ir_value *list;
    if (layout_is_fill(i)) {
        write_element_loop(w, i);
        return;
    }
    if (i->abi == TL_FN_tl_tensor_shape) {
        for (int64_t d = 0; d < out->dim[0]; d++)
            write_line(w, "%s[%lld] = %lld;", write_array(w, i->result), (long long)d,
                       (long long)layout_fact(w->l, i->args[0])->dim[d]);
        return;
    }
    if (i->abi == TL_FN_tl_tensor_eye) {
        write_line(w, "for (int32_t i = 0; i < %lld; i++)", (long long)fact_elements(out));
        write_line(w, "    %s[i] = i %% %lld == 0;", write_array(w, i->result), (long long)out->dim[0] + 1);
        return;
    }
    if (w->l->roots[w->l->places[i->result].root].kind == ROOT_CONSTANT)
        return; /* written with the constants */
    uint32_t count = portable_list(i, &list);
    for (uint32_t k = out->rank; k < count; k++) {
        const char *text = write_text(w, list[k]);
        write_line(w, out->dtype == TL_BOOL ? "%s[%u] = %s%s != 0;" : "%s[%u] = (%s)%s;", write_array(w, i->result),
                   k - out->rank, out->dtype == TL_BOOL ? "" : functions_element_type(out->dtype), text);
    }
}

void write_comprehension(writer *w, const ir_instr *i) {
    const fact *out = layout_fact(w->l, i->result);
    const ir_kernel *kernel = i->kernel;
    for (uint32_t k = 0; k < kernel->capture_count; k++) {
        const fact *t = layout_fact(w->l, i->args[kernel->cell_count + k]);
        if (t->dtype == kernel->capture_dtype[k] && t->rank == kernel->capture_rank[k])
            continue;
        portable_refuse(w->p, NULL, i->span,
                        "a comprehension that reads a tensor of other elements or dimensions than its type says");
        return;
    }
    const char *name = write_kernel(w, i);
    masu__buffer text = {0};
    for (uint32_t k = 0; k < kernel->cell_count; k++)
        masu__buffer_printf(&text, ", %s", write_text(w, i->args[k]));
    for (uint32_t k = 0; k < kernel->capture_count; k++)
        masu__buffer_printf(&text, ", %s", write_array(w, i->args[kernel->cell_count + k]));
    write_line(w, "memset(%s, 0, %lld * sizeof *%s);", write_array(w, i->result), (long long)fact_elements(out),
               write_array(w, i->result));
    write_line(w, "if (%s(context%s, %s) != 0)", name, masu__buffer_text(&text), write_array(w, i->result));
    w->depth++;
    write_line(w, "return context->status;");
    w->depth--;
    write_drop(w, &text);
}
