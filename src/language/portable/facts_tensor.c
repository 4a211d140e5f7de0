/* facts_tensor.c: shape and element type of what an operation makes, from the rules that the compiler has of it
 * (facts/shape_rules.c, ops.def) and, where those leave it to the running program, from the numbers that are known
 * here. */
#include "language/portable/portable.h"

#include <math.h>
#include <string.h>

#include "language/facts/tensor_facts.h"

ir_value portable_operand(const ir_instr *i, const char *parameter) {
    for (uint32_t k = 0; k < i->arg_count; k++) {
        const tl_abi_parameter *named = ir_abi_parameter(i, k);
        if (named && strcmp(named->name, parameter) == 0)
            return i->args[k];
    }
    return 0;
}

uint32_t portable_list(const ir_instr *i, const ir_value **values) {
    uint32_t first = 0, count = 0;
    for (uint32_t k = 0; k < i->arg_count; k++) {
        const tl_abi_parameter *named = ir_abi_parameter(i, k);
        if (!named || named->mode != TL_LIST)
            continue;
        first = count == 0 ? k : first;
        count++;
    }
    *values = i->args + first;
    return count;
}

/* ---- element types ----------------------------------------------------------------------------------------------- */

static tl_dtype rank_of(tl_dtype t) {
    static const tl_dtype order[] = {[TL_BOOL] = 0, [TL_I64] = 1, [TL_F32] = 2, [TL_F64] = 3};
    return order[t];
}

static tl_dtype promoted(const frame *fr, const ir_instr *i, uint32_t from) {
    tl_dtype widest = TL_BOOL;
    uint32_t seen = 0;
    for (uint32_t k = 0; k < i->arg_count; k++) {
        const fact *known = &fr->facts[i->args[k]];
        if (ir_type_of(fr->f, i->args[k]) != IR_TENSOR || seen++ < from)
            continue;
        widest = rank_of(known->dtype) > rank_of(widest) ? known->dtype : widest;
    }
    return widest;
}

static tl_dtype dtype_of(const frame *fr, const ir_instr *i) {
    const tl_dtype_rule rule = tl_abi_functions[i->abi].dtype;
    tl_dtype widest = promoted(fr, i, rule == DTYPE_CHOICE);
    tl_dtype made = tensor_dtype_by_rule(rule, i->arg_count > 0 ? fr->facts[i->args[0]].dtype : widest, widest);
    return made == TL_DTYPE_COUNT ? TL_F32 : made;
}

/* ---- shapes that the rules leave open ---------------------------------------------------------------------------- */

static bool number(const frame *fr, const ir_instr *i, const char *parameter, fact *out) {
    ir_value v = portable_operand(i, parameter);
    *out = v ? fr->facts[v] : fact_of(FACT_ANY);
    return out->kind == FACT_NUMBER;
}

static bool numbers(const frame *fr, const ir_instr *i, int64_t *out, uint32_t most, uint32_t *count) {
    const ir_value *values;
    *count = portable_list(i, &values);
    for (uint32_t k = 0; k < *count && k < most; k++) {
        if (fr->facts[values[k]].kind != FACT_NUMBER)
            return false;
        out[k] = fr->facts[values[k]].i;
    }
    return *count <= most;
}

static bool unfolded(const frame *fr, const ir_instr *i, fact *out) {
    const fact *t = &fr->facts[i->args[0]];
    int64_t w[8];
    uint32_t count;
    if (!numbers(fr, i, w, 8, &count) || count != 8 || t->rank != 4)
        return false;
    int64_t high = (t->dim[2] + 2 * w[4] - w[6] * (w[0] - 1) - 1) / w[2] + 1,
            wide = (t->dim[3] + 2 * w[5] - w[7] * (w[1] - 1) - 1) / w[3] + 1;
    out->rank = 3;
    out->dim[0] = t->dim[0];
    out->dim[1] = t->dim[1] * w[0] * w[1];
    out->dim[2] = high * wide;
    return true;
}

/* Its inverse: the window, then height and width of the images. */
static bool folded(const frame *fr, const ir_instr *i, fact *out) {
    const fact *t = &fr->facts[i->args[0]];
    int64_t w[10];
    uint32_t count;
    if (!numbers(fr, i, w, 10, &count) || count != 10 || t->rank != 3 || w[0] < 1 || w[1] < 1 || w[2] < 1 || w[3] < 1 ||
        t->dim[1] % (w[0] * w[1]) != 0)
        return false;
    int64_t high = (w[8] + 2 * w[4] - w[6] * (w[0] - 1) - 1) / w[2] + 1,
            wide = (w[9] + 2 * w[5] - w[7] * (w[1] - 1) - 1) / w[3] + 1;
    out->rank = 4;
    out->dim[0] = t->dim[0];
    out->dim[1] = t->dim[1] / (w[0] * w[1]);
    out->dim[2] = w[8];
    out->dim[3] = w[9];
    return high * wide == t->dim[2];
}

static bool convolved(const frame *fr, const ir_instr *i, fact *out) {
    const fact *t = &fr->facts[i->args[0]], *kernel = &fr->facts[i->args[1]];
    int64_t w[8];
    uint32_t count;
    if (!numbers(fr, i, w, 8, &count) || count != 8 || t->rank != 4 || kernel->rank != 4 ||
        t->dim[1] != kernel->dim[1] || w[2] < 1 || w[3] < 1)
        return false;
    out->rank = 4;
    out->dim[0] = t->dim[0];
    out->dim[1] = kernel->dim[0];
    out->dim[2] = (t->dim[2] + 2 * w[4] - w[6] * (w[0] - 1) - 1) / w[2] + 1;
    out->dim[3] = (t->dim[3] + 2 * w[5] - w[7] * (w[1] - 1) - 1) / w[3] + 1;
    return true;
}

static bool padded(const frame *fr, const ir_instr *i, fact *out) {
    int64_t pads[2 * TL_MAX_RANK];
    uint32_t count;
    if (!numbers(fr, i, pads, 2 * TL_MAX_RANK, &count))
        return false;
    const fact *t = &fr->facts[i->args[0]];
    if (count % 2 || count > 2 * t->rank)
        return false;
    memcpy(out->dim, t->dim, sizeof out->dim);
    for (uint32_t k = 0; k < count / 2; k++) {
        out->dim[t->rank - 1 - k] += pads[2 * k] + pads[2 * k + 1];
        if (pads[2 * k] < 0 || pads[2 * k + 1] < 0)
            return false;
    }
    return true;
}

static bool looked_up(const frame *fr, const ir_instr *i, fact *out) {
    const fact *index = &fr->facts[i->args[0]], *table = &fr->facts[i->args[1]];
    if (index->dtype != TL_I64) {
        const fact *other = index;
        index = table;
        table = other;
    }
    if (index->dtype != TL_I64 || table->rank != 2 || index->rank >= TL_MAX_RANK)
        return false;
    *out = *index;
    out->list = NULL;
    out->dtype = table->dtype;
    out->dim[out->rank++] = table->dim[1];
    return true;
}

static bool counted(const frame *fr, const ir_instr *i, fact *out) {
    fact from, to, step = {.f = 1};
    if (!number(fr, i, "from", &from) || !number(fr, i, "to", &to))
        return false;
    if (portable_operand(i, "step") && !number(fr, i, "step", &step))
        return false;
    double steps = i->abi == TL_FN_tl_tensor_arange_i64 ? (step.i ? ceil((double)(to.i - from.i) / (double)step.i) : -1)
                   : step.f != 0                        ? ceil((to.f - from.f) / step.f)
                                                        : -1;
    if (steps < 0 || steps > 1e9)
        return false;
    out->rank = 1;
    out->dim[0] = (int64_t)steps;
    return true;
}

/* The elements of a tensor of numbers, as a shape. */
static bool by_tensor(const frame *fr, const ir_instr *i, fact *out) {
    const fact_list *list = fr->facts[i->args[1]].list;
    if (!list || list->count > TL_MAX_RANK)
        return false;
    *out = fr->facts[i->args[0]];
    int64_t all = fact_elements(out), product = 1, open = -1;
    uint32_t old = out->rank;
    bool expands = i->abi == TL_FN_tl_tensor_expand_to;
    int64_t own[TL_MAX_RANK];
    memcpy(own, out->dim, sizeof own);
    out->rank = list->count;
    out->list = NULL;
    for (uint32_t d = 0; d < list->count; d++) {
        out->dim[d] = list->words[d].i;
        if (list->words[d].kind != FACT_NUMBER)
            return false;
        if (expands && out->dim[d] == -1 && d + old >= out->rank)
            out->dim[d] = own[d + old - out->rank];
        if (!expands && out->dim[d] == -1)
            open = d;
        else
            product *= out->dim[d];
    }
    if (open >= 0 && product > 0)
        out->dim[open] = all / product;
    return true;
}

static bool by_numbers(const frame *fr, const ir_instr *i, fact *out) {
    fact n;
    switch ((int)i->abi) {
    case TL_FN_tl_tensor_unfold:
        return unfolded(fr, i, out);
    case TL_FN_tl_tensor_fold:
        return folded(fr, i, out);
    case TL_FN_tl_tensor_convolve:
        return convolved(fr, i, out);
    case TL_FN_tl_tensor_pad:
        out->rank = fr->facts[i->args[0]].rank;
        return padded(fr, i, out);
    case TL_FN_tl_tensor_embedding:
        return looked_up(fr, i, out);
    case TL_FN_tl_tensor_arange:
    case TL_FN_tl_tensor_arange_f64:
    case TL_FN_tl_tensor_arange_i64:
        return counted(fr, i, out);
    case TL_FN_tl_tensor_linspace:
    case TL_FN_tl_tensor_linspace_f64:
        out->rank = 1;
        out->dim[0] = number(fr, i, "n", &n) ? n.i : -1;
        return out->dim[0] >= 0;
    case TL_FN_tl_tensor_reshape_to:
    case TL_FN_tl_tensor_expand_to:
        return by_tensor(fr, i, out);
    case TL_FN_tl_tensor_shape:
        out->rank = 1;
        out->dim[0] = fr->facts[i->args[0]].rank;
        return true;
    default:
        return false;
    }
}

/* ---- elements that are known ------------------------------------------------------------------------------------- */

/* So few whole numbers in one row, or one alone, may be a shape or come of one: they are followed like numbers. */
static bool may_be_shape(const fact *t) {
    return t->rank <= 1 && fact_elements(t) <= TL_MAX_RANK;
}

static fact whole(int64_t i) {
    return (fact){.kind = FACT_NUMBER, .i = i};
}

/* Each element that i makes, as far as it is known; false: none is. `words` has room for fact_elements(out). */
static bool made_elements(const frame *fr, const ir_instr *i, const fact *out, fact *words) {
    const ir_value *values;
    const fact *t = i->arg_count > 0 ? &fr->facts[i->args[0]] : NULL;
    uint32_t count = (uint32_t)fact_elements(out);
    const fact *from = t && t->kind == FACT_TENSOR && t->list ? t->list->words : NULL;
    switch ((int)i->abi) {
    case TL_FN_tl_tensor_shape:
        for (uint32_t k = 0; k < count; k++)
            words[k] = whole(t->dim[k]);
        return true;
    case TL_FN_tl_tensor_literal_i64:
        if (out->rank != 1 || portable_list(i, &values) != count + 1)
            return false;
        for (uint32_t k = 0; k < count; k++)
            words[k] = fr->facts[values[k + 1]];
        return true;
    case TL_FN_tl_tensor_zeros:
    case TL_FN_tl_tensor_ones:
        for (uint32_t k = 0; k < count; k++)
            words[k] = whole(i->abi == TL_FN_tl_tensor_ones);
        return may_be_shape(out);
    case TL_FN_tl_tensor_to_dtype:
        for (uint32_t k = 0; from && k < count; k++)
            words[k] = from[k];
        return from && out->dtype == TL_I64;
    case TL_FN_tl_tensor_set_i64:
        if (!from || out->rank != 1 || portable_list(i, &values) != 1 || fr->facts[values[0]].kind != FACT_NUMBER ||
            fr->facts[values[0]].i < 0 || fr->facts[values[0]].i >= count)
            return false;
        for (uint32_t k = 0; k < count; k++)
            words[k] = k == fr->facts[values[0]].i ? fr->facts[i->args[1]] : from[k];
        return out->dtype == TL_I64;
    case TL_FN_tl_tensor_prod:
        words[0] = whole(1);
        for (uint32_t k = 0; from && k < fact_elements(t); k++)
            if (from[k].kind != FACT_NUMBER || __builtin_mul_overflow(words[0].i, from[k].i, &words[0].i))
                return false;
        return from && t->dtype == TL_I64;
    default:
        return false;
    }
}

static void keep_elements(portable *p, const frame *fr, const ir_instr *i, fact *out) {
    bool literal = i->abi == TL_FN_tl_tensor_literal_i64;
    if (i->op != IR_ABI || (!literal && !may_be_shape(out)))
        return;
    fact *words = MASU_ARENA_ARRAY(&p->arena, fact, (size_t)fact_elements(out) + 1);
    fact_list *list = MASU_ARENA_NEW(&p->arena, fact_list);
    if (!words || !list) {
        p->out_of_memory = true;
        return;
    }
    *list = (fact_list){(uint32_t)fact_elements(out), 1, words, NULL};
    if (made_elements(fr, i, out, words))
        out->list = list;
}

/* A number that an operation reads of a tensor. */
static fact read_number(const frame *fr, const ir_instr *i) {
    const fact *t = &fr->facts[i->args[0]];
    fact known = {.kind = FACT_NUMBER}, dim;
    switch ((int)i->abi) {
    case TL_FN_tl_tensor_rank:
        known.i = t->rank;
        return known;
    case TL_FN_tl_tensor_len:
        known.i = t->rank > 0 ? t->dim[0] : 0;
        return t->rank > 0 ? known : fact_of(FACT_ANY);
    case TL_FN_tl_tensor_dim:
        if (!number(fr, i, "dim", &dim) || dim.i >= t->rank || dim.i < -(int64_t)t->rank)
            return fact_of(FACT_ANY);
        known.i = t->dim[dim.i < 0 ? dim.i + t->rank : dim.i];
        return known;
    case TL_FN_tl_tensor_is_bool:
        known.i = t->dtype == TL_BOOL;
        return known;
    case TL_FN_tl_tensor_is_tracked:
        return known;
    case TL_FN_tl_tensor_kind:
        known.i = t->dtype;
        return known;
    case TL_FN_tl_tensor_item_i64:
        return t->list && t->dtype == TL_I64 && t->list->count == 1 ? t->list->words[0] : fact_of(FACT_ANY);
    case TL_FN_tl_tensor_get_i64:
        if (t->list && i->arg_count == 2 && fr->facts[i->args[1]].kind == FACT_NUMBER && fr->facts[i->args[1]].i >= 0 &&
            fr->facts[i->args[1]].i < t->list->count)
            return t->list->words[fr->facts[i->args[1]].i];
        return fact_of(FACT_ANY);
    default:
        return fact_of(FACT_ANY);
    }
}

/* ---- all --------------------------------------------------------------------------------------------------------- */

static const char *name_of(const ir_instr *i) {
    const char *symbol = i->op == IR_COMPREHEND ? "a comprehension" : tl_abi_functions[i->abi].symbol;
    return strncmp(symbol, "tl_tensor_", 10) == 0 ? symbol + 10 : strncmp(symbol, "tl_", 3) == 0 ? symbol + 3 : symbol;
}

/* Whether each tensor that goes in has a shape; says which has not. */
static bool operands_known(portable *p, const frame *fr, const ir_instr *i, bool *unset) {
    for (uint32_t k = 0; k < i->arg_count; k++) {
        const fact *known = &fr->facts[i->args[k]];
        *unset |= known->kind == FACT_UNSET;
        if (ir_type_of(fr->f, i->args[k]) != IR_TENSOR || known->kind == FACT_TENSOR || known->kind == FACT_UNSET)
            continue;
        const char *name = fr->f->values[i->args[k]].name;
        portable_refuse(
            p, fr, i->span,
            "the shape of `%s` is not known when the C is written: it must follow from the shapes that --arena says",
            name ? name : "a tensor");
        return false;
    }
    return true;
}

static bool is_whole(const fact *t) {
    for (uint32_t d = 0; d < t->rank; d++)
        if (t->dim[d] < 0)
            return false;
    return true;
}

static bool shape_of(portable *p, frame *fr, const ir_instr *i, fact *out) {
    shape_fault fault = {.symbols = &p->symbols};
    shape_query q = {.f = fr->f, .i = i, .facts = fr->shapes, .numbers = fr->numbers, .symbols = &p->symbols};
    shape_fact ruled = shape_rule_apply(&q, &fault);
    p->out_of_memory |= fault.text.failed;
    if (fault.text.length > 0)
        portable_refuse(p, fr, i->span, "%s", masu__buffer_text(&fault.text));
    masu__buffer_destroy(&fault.text);
    if (portable_stopped(p))
        return false;
    if (i->op == IR_ABI && by_numbers(fr, i, out))
        return is_whole(out);
    if (ruled.state != SHAPE_IS_KNOWN)
        return false;
    out->rank = ruled.shape.rank;
    memcpy(out->dim, ruled.shape.dim, sizeof out->dim);
    return is_whole(out);
}

fact portable_tensor(portable *p, frame *fr, const ir_instr *i) {
    bool unset = false;
    fact out = {.kind = FACT_TENSOR};
    if (!operands_known(p, fr, i, &unset))
        return fact_of(FACT_ANY);
    if (unset)
        return fact_of(FACT_UNSET);
    ir_type type = ir_type_of(fr->f, i->result);
    if (type != IR_TENSOR) {
        bool reads = i->op == IR_ABI && i->arg_count > 0 && ir_type_of(fr->f, i->args[0]) == IR_TENSOR;
        return reads ? read_number(fr, i) : fact_of(FACT_ANY);
    }
    out.dtype = i->op == IR_COMPREHEND ? i->kernel->dtype : dtype_of(fr, i);
    if (i->op == IR_ABI && i->abi == TL_FN_tl_tensor_to_dtype && fr->facts[i->args[1]].kind == FACT_NUMBER)
        out.dtype = (tl_dtype)fr->facts[i->args[1]].i;
    if (!shape_of(p, fr, i, &out)) {
        portable_refuse(p, fr, i->span, "the shape that `%s` makes is not known when the C is written", name_of(i));
        return fact_of(FACT_ANY);
    }
    if (fact_elements(&out) > INT32_MAX) {
        portable_refuse(p, fr, i->span, "a tensor of more than %d elements", INT32_MAX);
        return fact_of(FACT_ANY);
    }
    keep_elements(p, fr, i, &out);
    return out;
}
