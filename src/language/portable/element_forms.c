/* element_forms.c: how each operation is written in C; and what those that go element by element do to one. */
#include "language/portable/functions.h"
#include "language/portable/portable.h"

#include <string.h>

written portable_written(tl_abi_index abi) {
    switch ((int)abi) {
#define ELEMENT(name, parameters, dtype, saves, back, numbers, example, text) case TL_FN_tl_tensor_##name:
#define BINARY(name, dtype, share_a, back_a, share_b, back_b, operand, text)  case TL_FN_tl_tensor_##name:
#include <masu/ops.def>
        return abi == TL_FN_tl_tensor_erfinv || abi == TL_FN_tl_tensor_lgamma || abi == TL_FN_tl_tensor_digamma
                   ? WRITTEN_NOT
                   : WRITTEN_ELEMENT;
    case TL_FN_tl_tensor_compare:
    case TL_FN_tl_tensor_compare_scalar:
    case TL_FN_tl_tensor_logical_and:
    case TL_FN_tl_tensor_logical_or:
    case TL_FN_tl_tensor_logical_not:
    case TL_FN_tl_tensor_where:
    case TL_FN_tl_tensor_to_dtype:
        return WRITTEN_ELEMENT;
    case TL_FN_tl_tensor_zeros:
    case TL_FN_tl_tensor_ones:
    case TL_FN_tl_tensor_full:
    case TL_FN_tl_tensor_full_f64:
    case TL_FN_tl_tensor_full_i64:
    case TL_FN_tl_tensor_scalar:
    case TL_FN_tl_tensor_scalar_like:
    case TL_FN_tl_tensor_zeros_like:
    case TL_FN_tl_tensor_ones_like:
        return WRITTEN_FILL;
    case TL_FN_tl_tensor_literal_f32:
    case TL_FN_tl_tensor_literal_f64:
    case TL_FN_tl_tensor_literal_i64:
    case TL_FN_tl_tensor_literal_bool:
    case TL_FN_tl_tensor_eye:
    case TL_FN_tl_tensor_shape:
        return WRITTEN_MAKE;
    case TL_FN_tl_tensor_reshape:
    case TL_FN_tl_tensor_reshape_to:
    case TL_FN_tl_tensor_flatten:
    case TL_FN_tl_tensor_transpose:
    case TL_FN_tl_tensor_permute:
    case TL_FN_tl_tensor_squeeze:
    case TL_FN_tl_tensor_unsqueeze:
    case TL_FN_tl_tensor_expand:
    case TL_FN_tl_tensor_expand_to:
    case TL_FN_tl_tensor_slice:
    case TL_FN_tl_tensor_narrow:
    case TL_FN_tl_tensor_row:
    case TL_FN_tl_tensor_contiguous:
    case TL_FN_tl_tensor_copied:
    case TL_FN_tl_tensor_clone:
    case TL_FN_tl_tensor_shallow_clone:
    case TL_FN_tl_tensor_detach:
    case TL_FN_tl_tensor_freeze:
        return WRITTEN_VIEW;
    case TL_FN_tl_tensor_set_f64:
    case TL_FN_tl_tensor_set_i64:
    case TL_FN_tl_tensor_fill:
    case TL_FN_tl_tensor_add_assign:
    case TL_FN_tl_tensor_sub_assign:
    case TL_FN_tl_tensor_mul_assign:
    case TL_FN_tl_tensor_div_assign:
    case TL_FN_tl_tensor_add_update:
    case TL_FN_tl_tensor_sub_update:
    case TL_FN_tl_tensor_mul_update:
    case TL_FN_tl_tensor_div_update:
        return WRITTEN_UPDATE;
    case TL_FN_tl_tensor_matmul:
    case TL_FN_tl_tensor_sum:
    case TL_FN_tl_tensor_sum_dim:
    case TL_FN_tl_tensor_mean:
    case TL_FN_tl_tensor_mean_dim:
    case TL_FN_tl_tensor_prod:
    case TL_FN_tl_tensor_max:
    case TL_FN_tl_tensor_max_dim:
    case TL_FN_tl_tensor_min:
    case TL_FN_tl_tensor_min_dim:
    case TL_FN_tl_tensor_argmax:
    case TL_FN_tl_tensor_argmax_dim:
    case TL_FN_tl_tensor_argmin:
    case TL_FN_tl_tensor_argmin_dim:
    case TL_FN_tl_tensor_softmax:
    case TL_FN_tl_tensor_log_softmax:
    case TL_FN_tl_tensor_standardise:
    case TL_FN_tl_tensor_standardise_to:
    case TL_FN_tl_tensor_cat:
    case TL_FN_tl_tensor_stack:
    case TL_FN_tl_tensor_unfold:
    case TL_FN_tl_tensor_fold:
    case TL_FN_tl_tensor_convolve:
    case TL_FN_tl_tensor_pad:
    case TL_FN_tl_tensor_tril:
    case TL_FN_tl_tensor_triu:
    case TL_FN_tl_tensor_index_select:
    case TL_FN_tl_tensor_gather:
    case TL_FN_tl_tensor_embedding:
        return WRITTEN_LOOPS;
    case TL_FN_tl_tensor_get_f64:
    case TL_FN_tl_tensor_get_i64:
    case TL_FN_tl_tensor_exact_f32:
    case TL_FN_tl_tensor_exact_f64:
    case TL_FN_tl_tensor_exact_i64:
    case TL_FN_tl_tensor_item:
    case TL_FN_tl_tensor_item_i64:
    case TL_FN_tl_tensor_item_bool:
    case TL_FN_tl_f64_to_bits:
    case TL_FN_tl_f64_from_bits:
    case TL_FN_tl_f32_to_bits:
    case TL_FN_tl_f32_from_bits:
        return WRITTEN_NUMBER;
    default:
        return WRITTEN_NOT;
    }
}

/* ---- kernels.def as data ----------------------------------------------------------------------------------------- */

static const kernel_row kernel_rows[] = {
#define KERNEL(name)
#define FLOAT1(name, R, A, ...)            {#name, 'f', {#A}, #__VA_ARGS__},
#define FLOAT1_ROW(name, R, A, value, row) {#name, 'f', {#A}, #value},
#define FLOAT2(name, R, A, B, ...)         {#name, 'f', {#A, #B}, #__VA_ARGS__},
#define FLOAT3(name, R, A, B, C, ...)      {#name, 'f', {#A, #B, #C}, #__VA_ARGS__},
#define INT1(name, R, A, ...)              {#name, 'i', {#A}, #__VA_ARGS__},
#define INT2(name, R, A, B, ...)           {#name, 'i', {#A, #B}, #__VA_ARGS__},
#define INT3(name, R, A, B, C, ...)        {#name, 'i', {#A, #B, #C}, #__VA_ARGS__},
#define BOOL1(name, R, A, ...)             {#name, 'b', {#A}, #__VA_ARGS__},
#define BOOL2(name, R, A, B, ...)          {#name, 'b', {#A, #B}, #__VA_ARGS__},
#define BOOL3(name, R, A, B, C, ...)       {#name, 'b', {#A, #B, #C}, #__VA_ARGS__},
#include <masu/kernels.def>
};

const kernel_row *portable_kernel(const char *name, tl_dtype dtype) {
    char domain = dtype == TL_I64 ? 'i' : dtype == TL_BOOL ? 'b' : 'f';
    for (size_t k = 0; k < sizeof kernel_rows / sizeof kernel_rows[0]; k++)
        if (kernel_rows[k].domain == domain && strcmp(kernel_rows[k].name, name) == 0)
            return &kernel_rows[k];
    return NULL;
}

/* ---- what an operation is made of -------------------------------------------------------------------------------- */

static bool whole_scalar(const flat *f, ir_value v) {
    const ir_instr *def = f->f->values[v].def;
    return def && def->op == IR_CONST && def->imm.f == (double)(int64_t)def->imm.f;
}

static const char *relation_kernel(const flat *f, const ir_instr *i) {
    static const char *const names[] = {"equal", "not_equal", "less", "less_equal", "greater", "greater_equal"};
    int64_t relation;
    ir_value v = portable_operand(i, "relation");
    return v && ir_const_int(f->f, v, &relation) && relation >= 0 && relation < 6 ? names[relation] : NULL;
}

static tl_dtype wider(tl_dtype a, tl_dtype b) {
    static const int order[] = {[TL_BOOL] = 0, [TL_I64] = 1, [TL_F32] = 2, [TL_F64] = 3};
    return order[a] > order[b] ? a : b;
}

static const char *update_kernel(tl_abi_index abi) {
    switch ((int)abi) {
    case TL_FN_tl_tensor_add_assign:
    case TL_FN_tl_tensor_add_update:
        return "add";
    case TL_FN_tl_tensor_sub_assign:
    case TL_FN_tl_tensor_sub_update:
        return "sub";
    case TL_FN_tl_tensor_mul_assign:
    case TL_FN_tl_tensor_mul_update:
        return "mul";
    default:
        return "div";
    }
}

/* The numbers of an operation, P0 and P1. */
static void find_numbers(const flat *f, const ir_instr *i, element_form *form) {
    for (uint32_t k = 0; k < i->arg_count && form->number_count < 2; k++)
        if (ir_type_of(f->f, i->args[k]) == IR_F64)
            form->numbers[form->number_count++] = i->args[k];
}

static bool element_rest(const flat *f, const ir_instr *i, element_form *form) {
    tl_dtype first = f->facts[i->args[0]].dtype;
    switch ((int)i->abi) {
    case TL_FN_tl_tensor_compare:
        form->kernel = relation_kernel(f, i);
        form->dtype = wider(TL_I64, wider(first, f->facts[i->args[1]].dtype));
        return true;
    case TL_FN_tl_tensor_compare_scalar:
        form->kernel = relation_kernel(f, i);
        form->dtype = first == TL_F32 || first == TL_F64 ? first : whole_scalar(f, i->args[1]) ? TL_I64 : TL_F64;
        form->number_is_operand = true;
        return true;
    case TL_FN_tl_tensor_logical_and:
    case TL_FN_tl_tensor_logical_or:
    case TL_FN_tl_tensor_logical_not:
        form->kernel = i->abi == TL_FN_tl_tensor_logical_and  ? "logical_and"
                       : i->abi == TL_FN_tl_tensor_logical_or ? "logical_or"
                                                              : "logical_not";
        form->dtype = TL_BOOL;
        return true;
    case TL_FN_tl_tensor_where:
        form->kernel = "select";
        return true;
    case TL_FN_tl_tensor_to_dtype:
        form->kernel = "copy";
        return true;
    default:
        return portable_written(i->abi) == WRITTEN_UPDATE;
    }
}

/* i64 elements beside a number: of which type the result is depends on the number. */
static bool number_fits(const flat *f, const ir_instr *i, const element_form *form) {
    tl_dtype first = f->facts[i->args[0]].dtype;
    if (form->number_count == 0 || first == TL_F32 || first == TL_F64 || i->abi == TL_FN_tl_tensor_compare_scalar)
        return true;
    for (uint32_t k = 0; k < form->number_count; k++)
        if (form->dtype != TL_F32 && (first == TL_BOOL || !whole_scalar(f, form->numbers[k])))
            return false;
    return true;
}

const char *portable_element_form(const flat *f, const ir_instr *i, element_form *form) {
    *form = (element_form){.dtype = f->facts[i->result].dtype};
    switch ((int)i->abi) {
#define ELEMENT(name, parameters, type, saves, back, numbers, example, text) \
    case TL_FN_tl_tensor_##name:                                             \
        form->kernel = #name;                                                \
        break;
#define BINARY(name, type, share_a, back_a, share_b, back_b, operand, text) \
    case TL_FN_tl_tensor_##name:                                            \
        form->kernel = #name;                                               \
        break;
#include <masu/ops.def>
    default:
        if (!element_rest(f, i, form))
            return "it does not go element by element";
        break;
    }
    if (!form->kernel)
        form->kernel = update_kernel(i->abi);
    find_numbers(f, i, form);
    form->row = portable_kernel(form->kernel, form->dtype);
    if (!form->row)
        return "it is not defined for these elements";
    if (!number_fits(f, i, form))
        return "of which type the result is depends on the number: write it out as a whole number, or convert the "
               "tensor";
    const char *name = form->kernel;
    form->may_fail = form->dtype == TL_I64 &&
                     (strcmp(name, "rem") == 0 || strcmp(name, "fmod") == 0 || strcmp(name, "floor_divide") == 0 ||
                      strcmp(name, "rem_scalar") == 0 || strcmp(name, "fmod_scalar") == 0);
    if (form->dtype == TL_I64 && strncmp(name, "pow", 3) == 0)
        return "a power of whole numbers; convert them to real ones";
    return NULL;
}

/* ---- what kind of step ------------------------------------------------------------------------------------------- */

bool layout_is_fill(const ir_instr *i) {
    return i->op == IR_ABI && portable_written(i->abi) == WRITTEN_FILL;
}

bool layout_is_literal(const ir_instr *i) {
    return i->op == IR_ABI && (i->abi == TL_FN_tl_tensor_literal_f32 || i->abi == TL_FN_tl_tensor_literal_f64 ||
                               i->abi == TL_FN_tl_tensor_literal_i64 || i->abi == TL_FN_tl_tensor_literal_bool);
}

bool layout_gives(const ir_instr *i) {
    return i->op == IR_ABI && i->abi == TL_FN_tl_give_tensor;
}

bool layout_is_own(const layout *l, const ir_instr *i) {
    const flat *f = l->flat;
    uint32_t index = (uint32_t)(i->imm.i >> 8), word = (uint32_t)(i->imm.i & 255), written = f->shown->result_count;
    for (uint32_t k = 0; k < f->shown->parameter_count; k++)
        if (f->shown->parameters[k].is_written && written++ == index)
            return f->parameters[k][word] == i->args[0];
    return false;
}

static bool is_element_read(const ir_instr *i) {
    bool exact = i->abi == TL_FN_tl_tensor_exact_f32 || i->abi == TL_FN_tl_tensor_exact_f64 ||
                 i->abi == TL_FN_tl_tensor_exact_i64;
    return i->abi == TL_FN_tl_tensor_get_f64 || i->abi == TL_FN_tl_tensor_get_i64 || (exact && i->arg_count > 1);
}

bool portable_may_fail(const layout *l, const ir_instr *i) {
    element_form form;
    int64_t number;
    if (i->op == IR_DIV || i->op == IR_REM)
        return !ir_type_float(ir_type_of(l->f, i->result)) && (!ir_const_int(l->f, i->args[1], &number) || number == 0);
    if (i->op == IR_SUB_LENGTH || i->op == IR_CALL || i->op == IR_COMPREHEND)
        return true;
    if (i->op != IR_ABI)
        return false;
    switch (portable_written(i->abi)) {
    case WRITTEN_ELEMENT:
        return portable_element_form(l->flat, i, &form) == NULL && form.may_fail;
    case WRITTEN_NUMBER:
    case WRITTEN_UPDATE:
        return is_element_read(i) || i->abi == TL_FN_tl_tensor_set_f64 || i->abi == TL_FN_tl_tensor_set_i64;
    case WRITTEN_VIEW:
        return i->abi == TL_FN_tl_tensor_row || i->abi == TL_FN_tl_tensor_slice || i->abi == TL_FN_tl_tensor_narrow;
    case WRITTEN_LOOPS:
        return i->abi == TL_FN_tl_tensor_index_select || i->abi == TL_FN_tl_tensor_gather ||
               i->abi == TL_FN_tl_tensor_embedding;
    default:
        return ir_is_panic(i) || i->abi == TL_FN_tl_assert || i->abi == TL_FN_tl_give_tensor;
    }
}
