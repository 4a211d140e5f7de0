/* lower_call.c: calls of every kind, tensor literals, printing.
 *
 * A call that writes its receiver opens the receiver's place after the other operands are evaluated, and writes
 * what comes back to the same place; the place's own indices are evaluated first, once.
 */
#include <string.h>

#include "language/lower/lowering.h"

/* ---- operands ---------------------------------------------------------------------------------------------------- */

/* The receiver of a call that writes it: a place, or a temporary whose new value is dropped. */
typedef struct receiver {
    lower_place *place;
    ir_value *values;
    uint32_t count;
} receiver;

static receiver receiver_begin(lower_fn *fn, const expr *e, bool written) {
    receiver r = {.count = lower_leaf_count(fn->l, e->type)};
    if (written && lower_is_place(e))
        r.place = lower_place_of(fn, e);
    else
        r.values = lower_values(fn, e);
    return r;
}

static void receiver_open(lower_fn *fn, receiver *r) {
    if (!r->place)
        return;
    r->values = lower_room(fn, r->count);
    if (r->values)
        lower_place_open(fn, r->place, r->values);
}

/* The same where another place that is written, too, may be part of the same variable: both hold counts then. */
static void receiver_read(lower_fn *fn, receiver *r) {
    r->values = lower_room(fn, r->count);
    if (r->values)
        lower_place_read(fn, r->place, r->values);
}

static void receiver_write(lower_fn *fn, const receiver *r, const ir_value *values) {
    if (r->place && lower_open(fn))
        lower_place_write(fn, r->place, values);
}

/* ---- functions of the program ------------------------------------------------------------------------------------ */

static void emit_call(lower_fn *fn, const call_expr *c, const ir_value *args, uint32_t count, ir_value *results,
                      source_span span) {
    if (!lower_open(fn))
        return;
    ir_function *callee = fn->l->functions[c->function->index];
    ir_instr *i = ir_emit(fn->b, IR_CALL, args, count, callee->results, callee->result_count, span);
    if (!i)
        return;
    i->callee = callee;
    i->site = ir_site_new(fn->l->m, span, fn->name);
    for (uint32_t r = 0; r < callee->result_count; r++)
        results[r] = i->result + r;
}

/* return callee(the parameters): both take and yield the same. */
void lower_pass_on(lower_fn *fn, ir_function *callee, source_span span) {
    ir_instr *i = lower_open(fn) ? ir_emit(fn->b, IR_CALL, fn->f->params, fn->f->param_count, callee->results,
                                           callee->result_count, span)
                                 : NULL;
    ir_value *results = lower_room(fn, callee->result_count);
    if (!i || !results)
        return;
    i->callee = callee;
    i->site = ir_site_new(fn->l->m, span, fn->name);
    for (uint32_t r = 0; r < callee->result_count; r++)
        results[r] = i->result + r;
    ir_emit_ret(fn->b, results, callee->result_count, span);
}

/* A FnOnce ends with its call, where that is written. */
static bool takes_closure(const lower_fn *fn, const call_expr *c) {
    return c->function->is_closure && c->function->has_self && lower_is_place(c->operands[0]) &&
           lower_marked(fn, c->operands[0]->span, MARK_TAKEN) && lower_drops(fn->l, c->operands[0]->type);
}

/* Captured values with a destructor that it still holds end with it; the others are not looked at, and stay. */
static void end_closure(lower_fn *fn, const type *t, lower_place *p, source_span span) {
    for (uint32_t i = 0; i < lower_field_count(t) && lower_open(fn); i++) {
        const type *part = lower_field_type(t, i);
        if (t->structure->fields[i].by_reference || !lower_drops(fn->l, part))
            continue;
        ir_value *held = lower_room(fn, lower_leaf_count(fn->l, part));
        if (!held)
            return;
        lower_take_out(fn, p, lower_field_offset(fn->l, t, i), part, held, span);
        lower_end_values(fn, part, held, span);
    }
}

/* The operands that the call writes: their places at once, their values when all others are known. */
static receiver *operands_begin(lower_fn *fn, const call_expr *c, ir_value *args) {
    receiver *all = MASU_ARENA_ARRAY(fn->l->scratch, receiver, c->operand_count);
    uint32_t at = 0;
    if (!all) {
        fn->l->m->out_of_memory = true;
        return NULL;
    }
    for (uint32_t i = 0; i < c->operand_count; i++) {
        const type *t = c->function->parameters[i]->type;
        if (i == 0 && c->function->has_self)
            all[i] = receiver_begin(fn, c->operands[0],
                                    takes_closure(fn, c) ||
                                        (c->writes_receiver && !lower_takes_self(fn->l, c->function)));
        else if (c->writes_back && c->writes_back[i])
            all[i] = receiver_begin(fn, c->operands[i], true);
        else
            lower_expr_as(fn, c->operands[i], t, args + at);
        at += lower_leaf_count(fn->l, t);
    }
    return all;
}

static bool meets_another(const receiver *all, uint32_t count, uint32_t i) {
    for (uint32_t k = 0; k < count; k++)
        if (k != i && all[k].place && lower_places_meet(all[i].place, all[k].place))
            return true;
    return false;
}

static void operands_read(lower_fn *fn, const call_expr *c, receiver *all, ir_value *args) {
    uint32_t at = 0;
    for (uint32_t i = 0; i < c->operand_count && lower_open(fn); i++) {
        if (all[i].place && meets_another(all, c->operand_count, i))
            receiver_read(fn, &all[i]);
        else
            receiver_open(fn, &all[i]);
        if (all[i].place && all[i].values)
            lower_stated(fn, c->operands[i]->type, c->function->parameters[i]->type, all[i].values,
                         c->operands[i]->span);
        if (all[i].count > 0 && all[i].values && lower_open(fn))
            memcpy(args + at, all[i].values, all[i].count * sizeof *args);
        at += lower_leaf_count(fn->l, c->function->parameters[i]->type);
    }
}

static void lower_function_call(lower_fn *fn, const expr *e, ir_value *out) {
    const call_expr *c = &e->call;
    const function_item *item = c->function;
    const ir_function *callee = fn->l->functions[item->index];
    ir_value *args = lower_room(fn, callee->param_count), *results = lower_room(fn, callee->result_count);
    receiver *written = args && results ? operands_begin(fn, c, args) : NULL;
    if (!written)
        return;
    operands_read(fn, c, written, args);
    if (!lower_open(fn))
        return;
    emit_call(fn, c, args, callee->param_count, results, e->span);
    uint32_t at = lower_leaf_count(fn->l, item->result);
    for (uint32_t i = 0; i < at; i++)
        out[i] = results[i];
    for (uint32_t i = 0; i < c->operand_count; i++) {
        if (!lower_comes_back(fn->l, item, i))
            continue;
        if (written[i].place && lower_open(fn))
            lower_stated(fn, item->parameters[i]->type, c->operands[i]->type, results + at, c->operands[i]->span);
        receiver_write(fn, &written[i], results + at);
        at += lower_leaf_count(fn->l, item->parameters[i]->type);
    }
    if (takes_closure(fn, c) && written[0].place)
        end_closure(fn, c->operands[0]->type, written[0].place, e->span);
}

/* ---- functions of the runtime ------------------------------------------------------------------------------------ */

static void lower_abi_call(lower_fn *fn, const expr *e, ir_value *out) {
    const call_expr *c = &e->call;
    ir_value *args = lower_room(fn, c->operand_count);
    receiver self = {0};
    if (!args)
        return;
    if (c->swapped) {
        args[1] = lower_scalar(fn, c->operands[1]);
        args[0] = lower_scalar(fn, c->operands[0]);
    }
    for (uint32_t i = c->swapped ? 2 : 0; i < c->operand_count; i++)
        if (i == 0 && c->writes_receiver)
            self = receiver_begin(fn, c->operands[0], c->writes_receiver);
        else
            args[i] = lower_scalar(fn, c->operands[i]);
    if (c->writes_receiver) {
        receiver_open(fn, &self);
        if (!self.values)
            return;
        args[0] = self.values[0];
    }
    ir_value result = lower_abi(fn, c->abi, args, c->operand_count, e->span);
    if (c->writes_receiver)
        receiver_write(fn, &self, &result);
    if (lower_leaf_count(fn->l, e->type) > 0)
        *out = result;
}

static void lower_math(lower_fn *fn, const expr *e, ir_value *out) {
    ir_value args[2] = {0, 0};
    for (uint32_t i = 0; i < e->call.operand_count; i++)
        args[i] = lower_scalar(fn, e->call.operands[i]);
    *out = lower_op(fn, IR_MATH, lower_scalar_type(e->type), args, e->call.operand_count, e->span);
    if (*out)
        fn->f->values[*out].def->imm.math = e->call.math;
}

static void lower_nothings(lower_fn *fn, const expr *e, ir_value *out) {
    uint32_t count;
    ir_type *types = lower_types_of(fn->l, e->type, &count);
    if (!types)
        return;
    for (uint32_t i = 0; i < count; i++)
        out[i] = lower_nothing(fn, types[i], e->span);
}

/* The tag, the variant's own fields, and nothing in the fields of the others. */
static void lower_variant(lower_fn *fn, const expr *e, ir_value *out) {
    const variant_item *v = &e->type->structure->variants[e->call.variant];
    const type *inside = lower_inside(e->type);
    uint32_t first = lower_field_offset(fn->l, e->type, v->first),
             last = lower_field_offset(fn->l, e->type, v->first + v->count), count = lower_leaf_count(fn->l, inside);
    ir_type *types = MASU_ARENA_ARRAY(fn->l->scratch, ir_type, count);
    ir_value *cell = lower_has_cell(e->type) ? out : NULL;
    if (cell)
        out = lower_room(fn, count);
    if (!types || !out) {
        fn->l->m->out_of_memory = true;
        return;
    }
    lower_leaf_types(fn->l, inside, types);
    for (uint32_t k = 0; k < e->call.operand_count; k++) {
        uint32_t i = e->call.order ? e->call.order[k] : k;
        lower_expr_as(fn, e->call.operands[i], lower_field_type(e->type, v->first + i),
                      out + lower_field_offset(fn->l, e->type, v->first + i));
    }
    for (uint32_t i = 1; i < count && lower_open(fn); i++)
        if (i < first || i >= last)
            out[i] = lower_nothing(fn, types[i], e->span);
    out[0] = lower_int(fn, IR_I64, v->tag, e->span);
    if (cell)
        lower_into_cell(fn, e->type, out, cell, e->span);
}

/* The variable does not own any more what a closure takes away. */
static void capture(lower_fn *fn, const expr *e, const binding *captured, const function_item *closure) {
    bool moves = fn->owns && lower_open(fn) && lower_drops(fn->l, e->type) && lower_is_place(e) &&
                 (closure->is_move || lower_marked(fn, captured->span, MARK_CAPTURED)) &&
                 !lower_marked(fn, captured->span, MARK_LENT);
    lower_place *p = moves ? lower_place_of(fn, e) : NULL;
    if (p)
        lower_clear(fn, p, 0, e->type, e->span);
}

static void lower_fields(lower_fn *fn, const expr *e, ir_value *out) {
    const struct_field *fields = e->type->kind == TYPE_STRUCT ? e->type->structure->fields : NULL;
    ir_value *cell = lower_has_cell(e->type) ? out : NULL;
    if (cell)
        out = lower_room(fn, lower_leaf_count(fn->l, lower_inside(e->type)));
    if (!out)
        return;
    for (uint32_t i = 0; i < e->call.operand_count; i++) {
        ir_value *part = out + lower_field_offset(fn->l, e->type, i);
        if (fields && fields[i].by_reference)
            lower_refer(fn, e->call.operands[i], part);
        else
            lower_expr_as(fn, e->call.operands[i], lower_field_type(e->type, i), part);
        if (fields && fields[i].captured && !fields[i].by_reference)
            capture(fn, e->call.operands[i], fields[i].captured, e->type->structure->closure);
    }
    if (cell)
        lower_into_cell(fn, e->type, out, cell, e->span);
}

/* ---- vectors ----------------------------------------------------------------------------------------------------- */

static void lower_vec_write(lower_fn *fn, const expr *e) {
    const call_expr *c = &e->call;
    const type *element = c->operands[0]->type->vec.element;
    receiver vec = receiver_begin(fn, c->operands[0], c->writes_receiver);
    ir_value index = c->kind == CALL_VEC_SET ? lower_scalar(fn, c->operands[1]) : 0;
    ir_value *values = lower_room(fn, lower_leaf_count(fn->l, element)), result;
    if (!values)
        return;
    lower_expr_as(fn, c->operands[c->operand_count - 1], element, values);
    receiver_open(fn, &vec);
    if (!lower_open(fn) || !vec.values)
        return;
    if (c->kind == CALL_VEC_SET) {
        result = lower_vec_set(fn, vec.values[0], index, element, values, e->span);
    } else {
        ir_value record = lower_op(fn, IR_RECORD, IR_ADDRESS, values, lower_leaf_count(fn->l, element), e->span);
        result = lower_abi(fn, TL_FN_tl_vec_push, (ir_value[]){vec.values[0], record}, 2, e->span);
    }
    receiver_write(fn, &vec, &result);
}

static void lower_vec_pop(lower_fn *fn, const expr *e, ir_value *out) {
    const type *element = e->call.operands[0]->type->vec.element;
    uint32_t count = lower_leaf_count(fn->l, element);
    receiver vec = receiver_begin(fn, e->call.operands[0], e->call.writes_receiver);
    receiver_open(fn, &vec);
    if (!lower_open(fn) || !vec.values)
        return;
    ir_type address = IR_ADDRESS, *types = MASU_ARENA_ARRAY(fn->l->scratch, ir_type, count);
    ir_instr *record = ir_emit(fn->b, IR_RECORD_EMPTY, NULL, 0, &address, 1, e->span);
    if (!record || !types) {
        fn->l->m->out_of_memory = true;
        return;
    }
    record->imm.i = count;
    lower_leaf_types(fn->l, element, types);
    ir_value rest = lower_abi(fn, TL_FN_tl_vec_pop, (ir_value[]){vec.values[0], record->result}, 2, e->span);
    for (uint32_t i = 0; i < count; i++) {
        ir_instr *word = ir_emit(fn->b, IR_RECORD_WORD, &record->result, 1, &types[i], 1, e->span);
        if (!word)
            return;
        word->imm.i = i;
        out[i] = word->result;
    }
    receiver_write(fn, &vec, &rest);
}

static void lower_vec_out(lower_fn *fn, const expr *e, ir_value *out) {
    const call_expr *c = &e->call;
    receiver vec = receiver_begin(fn, c->operands[0], c->writes_receiver);
    ir_value index = lower_scalar(fn, c->operands[1]);
    receiver_open(fn, &vec);
    if (!lower_open(fn) || !vec.values)
        return;
    ir_variable list = ir_variable_new(fn->b, IR_OBJECT, NULL, e->span);
    lower_write(fn, list, 1, vec.values);
    lower_vec_take(fn, list, index, c->operands[0]->type->vec.element, out, e->span);
    ir_value rest = 0;
    lower_read(fn, list, 1, &rest, e->span);
    receiver_write(fn, &vec, &rest);
}

static void lower_vec_read(lower_fn *fn, const expr *e, ir_value *out) {
    const call_expr *c = &e->call;
    ir_value vec = lower_scalar(fn, c->operands[0]), index = lower_scalar(fn, c->operands[1]);
    lower_vec_get(fn, vec, index, c->operands[0]->type->vec.element, out, e->span);
}

/* ---- printing ---------------------------------------------------------------------------------------------------- */

static void print_text(lower_fn *fn, const char *text, size_t length, source_span span) {
    if (!lower_open(fn) || length == 0)
        return;
    ir_type address = IR_ADDRESS;
    ir_instr *bytes = ir_emit(fn->b, IR_BYTES, NULL, 0, &address, 1, span);
    if (!bytes)
        return;
    bytes->imm.bytes.data = text;
    bytes->imm.bytes.length = length;
    ir_value length_value = lower_int(fn, IR_I64, (int64_t)length, span);
    lower_abi(fn, TL_FN_tl_print_bytes, (ir_value[]){bytes->result, length_value}, 2, span);
}

static void print_value(lower_fn *fn, const expr *e, ir_value v) {
    tl_abi_index abi;
    switch (e->type->kind) {
    case TYPE_BOOL:
        abi = TL_FN_tl_print_bool;
        break;
    case TYPE_F32:
        abi = TL_FN_tl_print_f32;
        break;
    case TYPE_F64:
        abi = TL_FN_tl_print_f64;
        break;
    case TYPE_CHAR:
        abi = TL_FN_tl_print_char;
        break;
    case TYPE_STRING:
        abi = TL_FN_tl_print_string;
        break;
    case TYPE_TENSOR:
        abi = TL_FN_tl_print_tensor;
        break;
    default:
        abi = type_is_signed(e->type) ? TL_FN_tl_print_i64 : TL_FN_tl_print_u64;
        v = lower_convert(fn, v, type_is_signed(e->type) ? IR_I64 : IR_U64, e->span);
        break;
    }
    lower_abi(fn, abi, &v, 1, e->span);
}

/* A text with the newline that ends the line, when it is the last piece. */
static void print_last_text(lower_fn *fn, const print_piece *p, source_span span) {
    char *text = masu__arena_alloc(fn->l->m->arena, p->length + 1, 1);
    if (!text) {
        fn->l->m->out_of_memory = true;
        return;
    }
    memcpy(text, p->text, p->length);
    text[p->length] = '\n';
    print_text(fn, text, p->length + 1, span);
}

/* All values are evaluated before anything is printed, as Rust does. */
static void lower_print(lower_fn *fn, const expr *e) {
    const call_expr *c = &e->call;
    ir_value *values = lower_room(fn, c->piece_count);
    if (!values)
        return;
    for (uint32_t i = 0; i < c->piece_count; i++)
        if (c->pieces[i].value)
            values[i] = lower_scalar(fn, c->pieces[i].value);
    bool newline = c->newline;
    for (uint32_t i = 0; i < c->piece_count && lower_open(fn); i++) {
        const print_piece *p = &c->pieces[i];
        if (p->value) {
            print_value(fn, p->value, values[i]);
        } else if (newline && i + 1 == c->piece_count) {
            print_last_text(fn, p, e->span);
            newline = false;
        } else {
            print_text(fn, p->text, p->length, e->span);
        }
    }
    if (newline)
        print_text(fn, "\n", 1, e->span);
}

/* ---- tensor literals --------------------------------------------------------------------------------------------- */

typedef struct literal {
    ir_value *numbers; /* the first is the rank, then the shape, then the elements */
    uint32_t count, capacity;
    ir_type type;
} literal;

static void literal_push(lower_fn *fn, literal *l, ir_value v) {
    MASU_ARENA_PUSH(fn->l->scratch, l->numbers, l->count, l->capacity, v, fn->l->m->out_of_memory = true);
}

/* A number of the list: a constant is made in the list's type at once. */
static ir_value literal_number(lower_fn *fn, const literal *l, const expr *e) {
    if (!lower_open(fn))
        return 0;
    if (e->kind == EXPR_FLOAT && l->type == IR_F64) {
        double v = e->type->kind == TYPE_F32 ? (double)(float)e->floating.value : e->floating.value;
        return ir_emit_const_float(fn->b, IR_F64, v, e->span);
    }
    return lower_convert(fn, lower_scalar(fn, e), l->type, e->span);
}

static void literal_elements(lower_fn *fn, literal *l, const expr *e) {
    for (uint32_t i = 0; i < e->list.count; i++) {
        const expr *item = e->list.items[i];
        if (item->kind == EXPR_ARRAY)
            literal_elements(fn, l, item);
        else
            literal_push(fn, l, literal_number(fn, l, item));
    }
}

static void literal_size(lower_fn *fn, literal *l, int64_t n, source_span span) {
    literal_push(fn, l,
                 l->type == IR_F64 && lower_open(fn) ? ir_emit_const_float(fn->b, IR_F64, (double)n, span)
                                                     : lower_int(fn, IR_I64, n, span));
}

void lower_array(lower_fn *fn, const expr *e, ir_value *out) {
    static const tl_abi_index makers[TL_DTYPE_COUNT] = {TL_FN_tl_tensor_literal_f32, TL_FN_tl_tensor_literal_f64,
                                                        TL_FN_tl_tensor_literal_i64, TL_FN_tl_tensor_literal_bool};
    tl_dtype dtype = lower_element_dtype(e->type);
    literal l = {.type = dtype == TL_F32 || dtype == TL_F64 ? IR_F64 : IR_I64};
    int64_t rank = 0;
    literal_push(fn, &l, 0);
    for (const expr *row = e; row && row->kind == EXPR_ARRAY; row = row->list.count ? row->list.items[0] : NULL) {
        literal_size(fn, &l, row->list.count, e->span);
        rank++;
    }
    literal_elements(fn, &l, e);
    if (!l.numbers || !lower_open(fn))
        return;
    l.numbers[0] = lower_int(fn, IR_I64, rank, e->span);
    *out = lower_abi(fn, makers[dtype], l.numbers, l.count, e->span);
}

/* ---- all of them ------------------------------------------------------------------------------------------------- */

void lower_call(lower_fn *fn, const expr *e, ir_value *out) {
    switch (e->call.kind) {
    case CALL_FUNCTION:
        lower_function_call(fn, e, out);
        break;
    case CALL_STRUCT:
        lower_fields(fn, e, out);
        break;
    case CALL_VARIANT:
        lower_variant(fn, e, out);
        break;
    case CALL_ABI:
        lower_abi_call(fn, e, out);
        break;
    case CALL_PRINT:
        lower_print(fn, e);
        break;
    case CALL_MATH:
        lower_math(fn, e, out);
        break;
    case CALL_NOTHING:
        lower_nothings(fn, e, out);
        break;
    case CALL_VEC_NEW:
        *out = lower_vec_empty(fn, e->type->vec.element, e->span);
        break;
    case CALL_VEC_PUSH:
    case CALL_VEC_SET:
        lower_vec_write(fn, e);
        break;
    case CALL_VEC_POP:
        lower_vec_pop(fn, e, out);
        break;
    case CALL_VEC_OUT:
        lower_vec_out(fn, e, out);
        break;
    case CALL_VEC_GET:
        lower_vec_read(fn, e, out);
        break;
    case CALL_UNRESOLVED:
        break;
    }
}
