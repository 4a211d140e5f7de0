/* interpret.c: walks lowered IR.
 *
 *     values of a function: one array, an entry for each SSA value
 *     places: the instruction at which each function on the stack stands, so that an error has a line
 *
 * Vectors and strings are immutable like everything else here: push copies. Records are arrays of values.
 */
#include "interpret.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "language/front/check.h"
#include "language/front/parser.h"
#include "language/front/prelude.h"
#include "language/ir/lower.h"
#include "naive.h"

enum { MOST_STEPS = 400000, DEEPEST = 400 };

typedef struct value {
    union {
        int64_t i;
        double f;
        tensor *t;
        void *p;
    };
    cell *c; /* in kernels: where a number comes from */
} value;

typedef struct object {
    value *words; /* of a vector: length * width */
    int64_t length, width;
    const char *bytes; /* of a string: length */
} object;

typedef struct kernel_run {
    const value *cells;
    tensor **captures;
    tensor *out;
} kernel_run;

typedef struct machine {
    naive n;
    const source_file *file;
    const ir_instr *places[DEEPEST + 4];
    int depth;
    uint64_t steps;
    bool careful; /* a kernel's function asked for its careful twin */
} machine;

typedef struct activation {
    machine *m;
    const ir_function *f;
    value *values;
    const kernel_run *kernel; /* NULL: no kernel */
} activation;

static value *run_function(machine *m, const ir_function *f, const value *args,
                           const kernel_run *kernel);

/* ---- numbers --------------------------------------------------------------------------------------- */

static ir_type type_of(const activation *a, const ir_instr *i, uint32_t arg) {
    return ir_type_of(a->f, i->args[arg]);
}

static int64_t cut(ir_type type, int64_t v) {
    switch (type) {
    case IR_BOOL:
        return v != 0;
    case IR_I8:
        return (int8_t)v;
    case IR_I16:
        return (int16_t)v;
    case IR_I32:
        return (int32_t)v;
    case IR_U8:
        return (uint8_t)v;
    case IR_U16:
        return (uint16_t)v;
    case IR_U32:
    case IR_CHAR:
        return (uint32_t)v;
    default:
        return v;
    }
}

static double as_type(ir_type type, double v) {
    return type == IR_F32 ? (double)(float)v : v;
}

static value divide(machine *m, ir_type type, int64_t a, int64_t b, bool rest) {
    if (b == 0)
        naive_fail(&m->n, "division by zero");
    if (ir_type_signed(type) && b == -1)
        return (value){.i = rest ? 0 : cut(type, (int64_t)(0 - (uint64_t)a))};
    if (ir_type_signed(type))
        return (value){.i = rest ? a % b : a / b};
    uint64_t x = (uint64_t)a, y = (uint64_t)b;
    return (value){.i = (int64_t)(rest ? x % y : x / y)};
}

static value whole(machine *m, const ir_instr *i, ir_type type, int64_t a, int64_t b) {
    uint64_t x = (uint64_t)a, y = (uint64_t)b;
    unsigned bits = ir_type_bits(type);
    uint64_t amount = y & (bits - 1);
    switch (i->op) {
    case IR_ADD:
        return (value){.i = cut(type, (int64_t)(x + y))};
    case IR_SUB:
        return (value){.i = cut(type, (int64_t)(x - y))};
    case IR_MUL:
        return (value){.i = cut(type, (int64_t)(x * y))};
    case IR_NEG:
        return (value){.i = cut(type, (int64_t)(0 - x))};
    case IR_NOT:
        return (value){.i = type == IR_BOOL ? !a : cut(type, (int64_t)~x)};
    case IR_AND:
        return (value){.i = (int64_t)(x & y)};
    case IR_OR:
        return (value){.i = (int64_t)(x | y)};
    case IR_XOR:
        return (value){.i = (int64_t)(x ^ y)};
    case IR_SHL:
        return (value){.i = cut(type, (int64_t)(x << amount))};
    case IR_SHR:
        return (value){.i = ir_type_signed(type) ? a >> amount : (int64_t)(x >> amount)};
    default:
        return divide(m, type, a, b, i->op == IR_REM);
    }
}

/* What a number of a kernel came from; others came from nowhere. */
static value real(machine *m, ir_type type, double v, value a, double slope_a, value b,
                  double slope_b) {
    value r = {.f = as_type(type, v)};
    if (a.c || b.c)
        r.c = naive_made(&m->n, type == IR_F32 ? TL_F32 : TL_F64, v, a.c, slope_a, b.c, slope_b);
    return r;
}

static value real_arithmetic(machine *m, const ir_instr *i, ir_type type, value a, value b) {
    double x = a.f, y = b.f;
    switch (i->op) {
    case IR_ADD:
        return real(m, type, x + y, a, 1, b, 1);
    case IR_SUB:
        return real(m, type, x - y, a, 1, b, -1);
    case IR_MUL:
        return real(m, type, x * y, a, y, b, x);
    case IR_DIV:
        return real(m, type, x / y, a, 1 / y, b, -x / (y * y));
    case IR_REM:
        return real(m, type, fmod(x, y), a, 1, b, -trunc(x / y));
    default:
        return real(m, type, -x, a, -1, b, 0);
    }
}

static value math(machine *m, const ir_instr *i, ir_type type, value a, value b) {
    double x = a.f, y = b.f, v;
    switch (i->imm.math) {
    case IR_MATH_SQRT:
        v = sqrt(x);
        return real(m, type, v, a, 0.5 / v, b, 0);
    case IR_MATH_EXP:
        return real(m, type, exp(x), a, exp(x), b, 0);
    case IR_MATH_LOG:
        return real(m, type, log(x), a, 1 / x, b, 0);
    case IR_MATH_SIN:
        return real(m, type, sin(x), a, cos(x), b, 0);
    case IR_MATH_COS:
        return real(m, type, cos(x), a, -sin(x), b, 0);
    case IR_MATH_TANH:
        v = tanh(x);
        return real(m, type, v, a, 1 - v * v, b, 0);
    case IR_MATH_ABS:
        return real(m, type, fabs(x), a, x < 0 ? -1 : x > 0, b, 0);
    case IR_MATH_FLOOR:
        return real(m, type, floor(x), a, 0, b, 0);
    case IR_MATH_CEIL:
        return real(m, type, ceil(x), a, 0, b, 0);
    case IR_MATH_POW:
        return real(m, type, pow(x, y), a, y * pow(x, y - 1), b, x > 0 ? pow(x, y) * log(x) : 0);
    case IR_MATH_MIN:
        return real(m, type, fmin(x, y), a, x < y, b, x >= y);
    default:
        return real(m, type, fmax(x, y), a, x > y, b, x <= y);
    }
}

static bool compare(const ir_instr *i, ir_type type, value a, value b) {
    bool below, equal;
    if (ir_type_float(type)) {
        if (isnan(a.f) || isnan(b.f))
            return i->op == IR_NE;
        below = a.f < b.f;
        equal = a.f == b.f;
    } else {
        below = ir_type_signed(type) ? a.i < b.i : (uint64_t)a.i < (uint64_t)b.i;
        equal = a.i == b.i;
    }
    switch (i->op) {
    case IR_EQ:
        return equal;
    case IR_NE:
        return !equal;
    case IR_LT:
        return below;
    case IR_LE:
        return below || equal;
    case IR_GT:
        return !below && !equal;
    default:
        return !below;
    }
}

static int64_t saturated(ir_type to, double v) {
    if (isnan(v))
        return 0;
    unsigned bits = ir_type_bits(to);
    double top = ldexp(1, ir_type_signed(to) ? (int)bits - 1 : (int)bits),
           low = ir_type_signed(to) ? -top : 0;
    if (v <= low)
        return ir_type_signed(to) ? cut(to, (int64_t)(1ull << (bits - 1))) : 0;
    if (v >= top)
        return cut(to, ir_type_signed(to) ? (int64_t)((1ull << (bits - 1)) - 1) : -1);
    return to == IR_U64 ? (int64_t)(uint64_t)v : (int64_t)v;
}

static value convert(machine *m, value v, ir_type from, ir_type to) {
    if (ir_type_float(from) && ir_type_float(to))
        return real(m, to, v.f, v, 1, (value){0}, 0);
    if (ir_type_float(from))
        return (value){.i = to == IR_BOOL ? v.f != 0 : saturated(to, v.f)};
    if (ir_type_float(to))
        return (value){.f = as_type(to, from == IR_U64 ? (double)(uint64_t)v.i : (double)v.i)};
    return (value){.i = cut(to, v.i)};
}

static value arithmetic(const activation *a, const ir_instr *i) {
    ir_type type = type_of(a, i, 0), to = ir_type_of(a->f, i->result);
    value x = a->values[i->args[0]], y = i->arg_count > 1 ? a->values[i->args[1]] : (value){0};
    if (i->op == IR_CAST)
        return convert(a->m, x, type, to);
    if (i->op == IR_MATH)
        return math(a->m, i, to, x, y);
    if (i->op >= IR_EQ && i->op <= IR_GE)
        return (value){.i = compare(i, type, x, y)};
    return ir_type_float(to) ? real_arithmetic(a->m, i, to, x, y) : whole(a->m, i, to, x.i, y.i);
}

/* ---- strings and vectors ----------------------------------------------------------------------------- */

static void *room(machine *m, size_t bytes) {
    return naive_room(&m->n, bytes);
}

static object *vector_of(machine *m, const object *from, int64_t length) {
    object *v = room(m, sizeof *v);
    v->length = length;
    v->width = from->width;
    v->words = room(m, (size_t)(length * v->width) * sizeof *v->words);
    int64_t kept = from->length < length ? from->length : length;
    for (int64_t w = 0; w < kept * v->width; w++)
        v->words[w] = from->words[w];
    return v;
}

static void check_index(machine *m, const object *v, int64_t index) {
    if (index < 0 || index >= v->length)
        naive_fail(&m->n, "out of range");
}

static void copy_words(value *to, const value *from, int64_t count) {
    for (int64_t w = 0; w < count; w++)
        to[w] = from[w];
}

static bool vector_operation(machine *m, const ir_instr *i, const value *args, value *result) {
    object *v = args[0].p;
    switch (i->abi) {
    case TL_FN_tl_vec_new:
        v = room(m, sizeof *v);
        v->width = ((const ir_instr *)args[0].p)->imm.record.count;
        break;
    case TL_FN_tl_vec_len:
        *result = (value){.i = v->length};
        return true;
    case TL_FN_tl_vec_push:
        v = vector_of(m, v, v->length + 1);
        copy_words(v->words + (v->length - 1) * v->width, args[1].p, v->width);
        break;
    case TL_FN_tl_vec_set:
        check_index(m, v, args[1].i);
        v = vector_of(m, v, v->length);
        copy_words(v->words + args[1].i * v->width, args[2].p, v->width);
        break;
    case TL_FN_tl_vec_get:
        check_index(m, v, args[1].i);
        copy_words(args[2].p, v->words + args[1].i * v->width, v->width);
        return true;
    case TL_FN_tl_vec_pop:
        if (v->length == 0)
            naive_fail(&m->n, "empty");
        copy_words(args[1].p, v->words + (v->length - 1) * v->width, v->width);
        v = vector_of(m, v, v->length - 1);
        break;
    default:
        return false;
    }
    *result = (value){.p = v};
    return true;
}

static bool string_operation(machine *m, const ir_instr *i, const value *args, value *result) {
    if (i->abi != TL_FN_tl_string_literal)
        return false;
    object *s = room(m, sizeof *s);
    s->bytes = args[0].p;
    s->length = args[1].i;
    *result = (value){.p = s};
    return true;
}

/* ---- printing ------------------------------------------------------------------------------------------- */

static bool print(machine *m, const ir_instr *i, const value *args) {
    masu__buffer *out = &m->n.out;
    switch (i->abi) {
    case TL_FN_tl_print_bytes:
        masu__buffer_append(out, args[0].p, (size_t)args[1].i);
        return true;
    case TL_FN_tl_print_string:
        masu__buffer_append(out, ((object *)args[0].p)->bytes,
                            (size_t)((object *)args[0].p)->length);
        return true;
    case TL_FN_tl_print_i64:
        masu__buffer_printf(out, "%lld", (long long)args[0].i);
        return true;
    case TL_FN_tl_print_u64:
        masu__buffer_printf(out, "%llu", (unsigned long long)args[0].i);
        return true;
    case TL_FN_tl_print_f32:
    case TL_FN_tl_print_f64:
        masu__buffer_printf(out, "%.9g", args[0].f);
        return true;
    case TL_FN_tl_print_tensor:
        naive_print(&m->n, args[0].t);
        return true;
    case TL_FN_tl_print_bool:
        masu__buffer_puts(out, args[0].i ? "true" : "false");
        return true;
    default:
        return false;
    }
}

static bool raise(machine *m, const ir_instr *i, const value *args) {
    switch (i->abi) {
    case TL_FN_tl_panic:
        naive_fail(&m->n, "%.*s", (int)((object *)args[0].p)->length, ((object *)args[0].p)->bytes);
    case TL_FN_tl_assert:
        if (!args[0].i)
            naive_fail(&m->n, "assert");
        return true;
    case TL_FN_tl_raise_divide:
        naive_fail(&m->n, "division by zero");
    case TL_FN_tl_raise_index:
        naive_fail(&m->n, "out of range");
    default:
        return false;
    }
}

/* ---- the runtime's operations ------------------------------------------------------------------------------ */

static double number_of(ir_type type, value v) {
    return ir_type_float(type) ? v.f : (double)v.i;
}

/* Where the list of the ABI function stands among its parameters, -1: it has none; and how many there are. */
static int list_place(const tl_abi_function *f, int *count) {
    int list = -1;
    for (*count = 0; f->parameters[*count].name; ++*count)
        if (f->parameters[*count].mode == TL_LIST)
            list = *count;
    return list;
}

static naive_call call_of(const activation *a, const ir_instr *i) {
    int count, list = list_place(&tl_abi_functions[i->abi], &count);
    naive_call c = {.abi = i->abi};
    c.list_count = list < 0 ? 0 : (int64_t)i->arg_count - (count - 1);
    c.tensors = room(a->m, (size_t)c.list_count * sizeof *c.tensors);
    c.numbers = room(a->m, (size_t)c.list_count * sizeof *c.numbers);
    for (uint32_t k = 0; k < i->arg_count; k++) {
        ir_type type = type_of(a, i, k);
        value v = a->values[i->args[k]];
        int64_t in_list = list < 0 ? -1 : (int64_t)k - list;
        if (in_list >= 0 && in_list < c.list_count) {
            c.tensors[in_list] = type == IR_TENSOR ? v.t : NULL;
            c.numbers[in_list] = type == IR_TENSOR ? 0 : number_of(type, v);
            continue;
        }
        int place = list >= 0 && (int64_t)k >= list + c.list_count ? (int)k - (int)c.list_count + 1
                                                                   : (int)k;
        if (type == IR_TENSOR)
            c.t[place] = v.t;
        else if (!ir_type_managed(type))
            c.number[place] = number_of(type, v);
    }
    return c;
}

static void operate(const activation *a, const ir_instr *i) {
    machine *m = a->m;
    value args[8] = {0}, result = {0};
    for (uint32_t k = 0; k < i->arg_count && k < 8; k++)
        args[k] = a->values[i->args[k]];
    if (!print(m, i, args) && !raise(m, i, args) && !vector_operation(m, i, args, &result) &&
        !string_operation(m, i, args, &result)) {
        naive_call c = call_of(a, i);
        tensor *t = NULL;
        double number = 0;
        if (!naive_operate(&m->n, &c, &t, &number))
            naive_unsupported(&m->n, tl_abi_functions[i->abi].symbol);
        ir_type type = i->result_count ? ir_type_of(a->f, i->result) : IR_NONE;
        if (t)
            result.t = t;
        else if (ir_type_float(type))
            result.f = as_type(type, number);
        else
            result.i = (int64_t)number;
    }
    if (i->result_count)
        a->values[i->result] = result;
}

/* ---- comprehensions ------------------------------------------------------------------------------------------- */

static int64_t place_in(const activation *a, const tensor *t, const ir_instr *i, uint32_t first) {
    double index[TL_MAX_RANK] = {0};
    for (uint32_t d = 0; first + d < i->arg_count; d++)
        index[d] = (double)a->values[i->args[first + d]].i;
    return naive_offset(&a->m->n, t, (int64_t)i->arg_count - first, index);
}

static void kernel_step(const activation *a, const ir_instr *i) {
    const kernel_run *k = a->kernel;
    ir_type type = i->result_count ? ir_type_of(a->f, i->result) : IR_NONE;
    value *result = &a->values[i->result];
    switch (i->op) {
    case IR_KERNEL_CELL:
        *result = k->cells[i->imm.i];
        return;
    case IR_KERNEL_EXTENT:
        *result = (value){.i = k->captures[i->imm.i]->shape[a->values[i->args[0]].i]};
        return;
    case IR_KERNEL_LOAD: {
        cell *c = k->captures[i->imm.i]->e[place_in(a, k->captures[i->imm.i], i, 0)];
        *result = ir_type_float(type) ? (value){.f = c->v, .c = c} : (value){.i = (int64_t)c->v};
        return;
    }
    default: {
        cell **e = &k->out->e[place_in(a, k->out, i, 1)];
        value v = a->values[i->args[0]];
        double number = number_of(type_of(a, i, 0), v);
        if (i->imm.i)
            *e = naive_made(&a->m->n, k->out->dtype, number, v.c, 1, NULL, 0);
        else
            *e = naive_made(&a->m->n, k->out->dtype, (*e)->v + number, *e, 1, v.c, 1);
    }
    }
}

static tensor *comprehend(const activation *a, const ir_instr *i) {
    machine *m = a->m;
    const ir_kernel *k = i->kernel;
    int64_t shape[TL_MAX_RANK];
    value *cells = room(m, k->cell_count * sizeof *cells);
    tensor **captures = room(m, (k->capture_count + 1) * sizeof *captures);
    for (uint32_t c = 0; c < k->cell_count; c++)
        cells[c] = a->values[i->args[c]];
    for (uint32_t d = 0; d < k->rank; d++)
        shape[d] = cells[d].i;
    for (uint32_t c = 0; c < k->capture_count; c++) {
        captures[c] = a->values[i->args[k->cell_count + c]].t;
        if ((uint32_t)captures[c]->rank != k->capture_rank[c])
            naive_fail(&m->n, "given for a tensor of shape");
    }
    kernel_run run = {cells, captures, naive_full(&m->n, k->dtype, (int)k->rank, shape, 0)};
    m->careful = false;
    if (run.out->count > 0)
        run_function(m, k->forward, NULL, &run);
    if (m->careful) {
        run.out = naive_full(&m->n, k->dtype, (int)k->rank, shape, 0);
        run_function(m, k->forward_careful, NULL, &run);
    }
    if (!k->backward)
        for (uint32_t c = 0; c < k->capture_count; c++)
            if (captures[c]->node)
                naive_unsupported(&m->n, "this comprehension's derivative");
    return naive_record(&m->n, run.out, (int)k->capture_count, captures);
}

/* ---- instructions ------------------------------------------------------------------------------------------------ */

static void call(const activation *a, const ir_instr *i) {
    value *args = room(a->m, (i->arg_count + 1) * sizeof *args);
    for (uint32_t k = 0; k < i->arg_count; k++)
        args[k] = a->values[i->args[k]];
    value *results = run_function(a->m, i->callee, args, NULL);
    for (uint32_t r = 0; r < i->result_count; r++)
        a->values[i->result + r] = results[r];
}

static void record(const activation *a, const ir_instr *i) {
    value *words =
        room(a->m, (size_t)(i->op == IR_RECORD ? i->arg_count : i->imm.i) * sizeof *words);
    for (uint32_t k = 0; i->op == IR_RECORD && k < i->arg_count; k++)
        words[k] = a->values[i->args[k]];
    a->values[i->result] = (value){.p = words};
}

static void step(const activation *a, const ir_instr *i) {
    value *result = &a->values[i->result];
    switch (i->op) {
    case IR_CONST:
        if (ir_type_float(ir_type_of(a->f, i->result)))
            *result = (value){.f = as_type(ir_type_of(a->f, i->result), i->imm.f)};
        else
            *result = (value){.i = i->imm.i};
        return;
    case IR_BYTES:
        *result = (value){.p = (void *)(uintptr_t)i->imm.bytes.data};
        return;
    case IR_NOTHING:
        *result = (value){0};
        return;
    case IR_ABI:
        operate(a, i);
        return;
    case IR_CALL:
        call(a, i);
        return;
    case IR_COMPREHEND:
        result->t = comprehend(a, i);
        return;
    case IR_RECORD:
    case IR_RECORD_EMPTY:
        record(a, i);
        return;
    case IR_RECORD_WORD:
        *result = ((value *)a->values[i->args[0]].p)[i->imm.i];
        return;
    case IR_RECORD_TYPE:
        *result = (value){.p = (void *)(uintptr_t)i};
        return;
    case IR_KEEP:
        return;
    case IR_KERNEL_CELL:
    case IR_KERNEL_EXTENT:
    case IR_KERNEL_LOAD:
    case IR_KERNEL_OUT_ADD:
        kernel_step(a, i);
        return;
    default:
        if (i->op > IR_MATH)
            naive_unsupported(&a->m->n, ir_opcode_name(i->op));
        *result = arithmetic(a, i);
    }
}

/* To the next block; its parameters are all written at once. */
static const ir_block *follow(const activation *a, const ir_target *t) {
    value *moved = room(a->m, (t->count + 1) * sizeof *moved);
    for (uint32_t k = 0; k < t->count; k++)
        moved[k] = a->values[t->args[k]];
    for (uint32_t k = 0; k < t->count; k++)
        a->values[t->block->params[k]] = moved[k];
    return t->block;
}

static value *run_body(const activation *a) {
    machine *m = a->m;
    for (const ir_block *b = a->f->blocks[0];;) {
        const ir_instr *i = b->first;
        for (; !ir_is_terminator(i->op); i = i->next) {
            if (++m->steps > MOST_STEPS)
                naive_unsupported(&m->n, "an end to this");
            m->places[m->depth] = i;
            step(a, i);
        }
        m->steps++;
        if (i->op == IR_RET) {
            value *results = room(m, (i->arg_count + 1) * sizeof *results);
            for (uint32_t k = 0; k < i->arg_count; k++)
                results[k] = a->values[i->args[k]];
            return results;
        }
        if (i->op == IR_KERNEL_CAREFUL) {
            m->careful = true;
            return NULL;
        }
        if (i->op == IR_UNREACHABLE)
            naive_unsupported(&m->n, "what follows an end");
        b = follow(a, &i->target[i->op == IR_BRANCH && !a->values[i->args[0]].i]);
    }
}

static value *run_function(machine *m, const ir_function *f, const value *args,
                           const kernel_run *kernel) {
    if (m->depth + 1 >= DEEPEST)
        naive_unsupported(&m->n, "such deep recursion");
    activation a = {m, f, room(m, f->value_count * sizeof(value)), kernel};
    for (uint32_t p = 0; args && p < f->param_count; p++)
        a.values[f->params[p]] = args[p];
    m->depth++;
    value *results = run_body(&a);
    m->depth--;
    return results;
}

/* ---- the front ------------------------------------------------------------------------------------------------------ */

typedef struct front {
    masu__arena arena;
    source_file file, prelude;
    diagnostics found;
    type_table types;
    syntax_tree *tree;
    ir_module *module;
} front;

static bool read_prelude(front *f) {
    masu__buffer text = {0};
    masu__buffer_append(&text, prelude_text, prelude_length);
    masu__buffer_append(&text, prelude_tensor_text, prelude_tensor_length);
    bool good = !text.failed && source_file_init(&f->prelude, &f->arena, "<prelude>",
                                                 masu__buffer_text(&text), text.length) == MASU_OK;
    masu__buffer_destroy(&text);
    return good;
}

static bool lower(front *f, const char *text, size_t length) {
    diagnostics_init(&f->found, &f->arena);
    return source_file_init(&f->file, &f->arena, "program.tl", text, length) == MASU_OK &&
           read_prelude(f) &&
           parse_source(&f->file, &f->prelude, &f->arena, &f->found, &f->tree) == MASU_OK &&
           type_table_init(&f->types, &f->arena) &&
           check_tree(f->tree, &f->types, &f->found) == MASU_OK && f->found.error_count == 0 &&
           lower_tree(f->tree, &f->types, &f->arena, &f->found, &f->module) == MASU_OK;
}

/* The innermost place that the user wrote. */
static uint32_t line_of(const machine *m) {
    for (int d = m->depth; d > 0; d--)
        if (m->places[d] && m->places[d]->span.file == m->file)
            return source_place_of(m->places[d]->span).line;
    return 0;
}

static void run(front *f, interpretation *out) {
    machine *m = masu__arena_calloc(&f->arena, 1, sizeof *m, 16);
    m->file = &f->file;
    out->how = INTERPRETED_WELL;
    if (setjmp(m->n.ended) == 0) {
        run_function(m, f->module->main, NULL, NULL);
    } else {
        out->how = m->n.unsupported ? INTERPRETED_TOO_MUCH : INTERPRETED_ERROR;
        out->line = line_of(m);
        snprintf(out->text, sizeof out->text, "%s", m->n.error);
    }
    out->output = m->n.out;
    masu__arena_destroy(&m->n.arena);
}

void interpret(const char *text, size_t length, interpretation *out) {
    front f = {0};
    *out = (interpretation){.how = INTERPRETED_NOT};
    if (lower(&f, text, length))
        run(&f, out);
    masu__arena_destroy(&f.arena);
}
