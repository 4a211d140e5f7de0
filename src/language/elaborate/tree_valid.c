/* tree_valid.c: the promises of tree.h, looked at one node at a time by code that knows nothing of
 * how they came about. */
#include "language/elaborate/elaborate.h"

typedef struct judge {
    const syntax_tree *tree;
    const function_item *function;
    masu__buffer *out;
    const expr *part; /* a[b..c] of the `&a[b..c]` that is being judged */
    bool good;
} judge;

static void fault(judge *j, source_span span, const char *what) {
    source_place place = source_place_of(span);
    masu__buffer_printf(j->out, "%s:%u:%u: %s: %s\n", span.file == NULL ? "?" : span.file->path, place.line,
                        place.column, j->function == NULL ? "a constant" : j->function->qualified, what);
    j->good = false;
}

static void demand(judge *j, bool holds, const expr *e, const char *what) {
    if (!holds)
        fault(j, e->span, what);
}

static bool is_value(const type *t) {
    return t->kind != TYPE_VOID && t->kind != TYPE_NEVER && t->kind != TYPE_ERROR;
}

static void judge_type(judge *j, const type *t, source_span span) {
    if (t == NULL)
        fault(j, span, "no type");
    else if (t->kind == TYPE_ERROR)
        fault(j, span, "the error type in a tree without errors");
    else if (t->kind == TYPE_OPEN || (t->kind == TYPE_VEC && t->vec.element->kind == TYPE_OPEN))
        fault(j, span, "an open type");
}

/* A part of a variable, or of what a reference leads to. */
static bool is_place(const expr *e) {
    while (!e->is_copied && (e->kind == EXPR_FIELD || e->kind == EXPR_TUPLE_FIELD || e->kind == EXPR_INDEX)) {
        e = e->kind == EXPR_INDEX ? e->index.base : e->field.base;
        if (e->type != NULL && type_is_reference(e->type))
            return true;
    }
    return !e->is_copied && e->kind == EXPR_NAME && e->name.binding != NULL;
}

/* ---- calls ----------------------------------------------------------------------------------- */

static bool kind_matches(tl_abi_kind kind, const type *t) {
    switch (kind) {
    case ABI_bool:
        return t->kind == TYPE_BOOL;
    case ABI_i32:
        return t->kind == TYPE_I32 || t->kind == TYPE_CHAR;
    case ABI_i64:
        return t->kind == TYPE_I64;
    case ABI_f32:
        return t->kind == TYPE_F32;
    case ABI_f64:
        return t->kind == TYPE_F64;
    case ABI_tensor:
        return t->kind == TYPE_TENSOR;
    case ABI_object:
        return t->kind == TYPE_STRING || t->kind == TYPE_VEC;
    case ABI_any:
        return t->kind == TYPE_STRING || t->kind == TYPE_VEC || t->kind == TYPE_TENSOR;
    default:
        return false;
    }
}

/* never fits: it does not arrive. */
static bool operand_matches(tl_abi_kind kind, const expr *operand) {
    return operand->type != NULL && (operand->type->kind == TYPE_NEVER || kind_matches(kind, operand->type));
}

static bool is_index(const expr *e) {
    return operand_matches(ABI_i64, e) ||
           (e->type != NULL && (e->type->kind == TYPE_USIZE || e->type->kind == TYPE_U64));
}

static void judge_abi(judge *j, const expr *e) {
    const tl_abi_function *f = &tl_abi_functions[e->call.abi];
    uint32_t parameters = 0, at = 0;
    bool list = false;
    for (const tl_abi_parameter *p = f->parameters; p->name != NULL; p++) {
        parameters++;
        list |= p->mode == TL_LIST;
    }
    demand(j, list ? e->call.operand_count + 1 >= parameters : e->call.operand_count == parameters, e,
           "number of operands");
    for (const tl_abi_parameter *p = f->parameters; p->name != NULL && j->good; p++) {
        uint32_t end = p->mode == TL_LIST ? at + e->call.operand_count + 1 - parameters : at + 1;
        for (; at < end && at < e->call.operand_count; at++) {
            demand(j, operand_matches(p->kind, e->call.operands[at]), e->call.operands[at],
                   "an operand's type is not the parameter's");
        }
    }
    bool nothing = f->result == ABI_none, is_written = e->call.writes_receiver && e->type->kind == TYPE_VOID;
    demand(j, is_written || (nothing ? !is_value(e->type) : kind_matches(f->result, e->type)), e,
           "the type is not that of the function's result");
    if (e->call.writes_receiver) {
        demand(j, (f->effects & REPLACES) != 0 && is_place(e->call.operands[0]), e,
               "writes a receiver that is not a place");
        demand(j, operand_matches(f->result, e->call.operands[0]), e, "writes a receiver of another type");
    }
}

/* i64 and usize are the same 64 bits: inside of lists, tuples and structs one may be the other. */
static bool is_length(const type *t) {
    return t->kind == TYPE_I64 || t->kind == TYPE_USIZE;
}

/* Rule 8 of tree.h: what one leaves open (elements and rank of a tensor, length of an array) the other may know. */
static bool alike(const type *a, const type *b, bool inside) {
    if (a == b || (inside && is_length(a) && is_length(b)))
        return true;
    if (a->kind != b->kind)
        return false;
    bool same = true;
    switch (a->kind) {
    case TYPE_TENSOR:
        return (a->tensor.element == NULL || b->tensor.element == NULL || a->tensor.element == b->tensor.element ||
                (type_is_integer(a->tensor.element) &&
                 type_is_integer(b->tensor.element))) && /* they are kept as i64 */
               (a->tensor.rank < 0 || b->tensor.rank < 0 || a->tensor.rank == b->tensor.rank);
    case TYPE_VEC:
    case TYPE_REFERENCE:
        return (a->vec.length == -1 || b->vec.length == -1 || a->vec.length == b->vec.length) &&
               alike(a->vec.element, b->vec.element, true);
    case TYPE_TUPLE:
        for (uint32_t i = 0; i < a->tuple.count && i < b->tuple.count; i++)
            same &= alike(a->tuple.items[i], b->tuple.items[i], true);
        return same && a->tuple.count == b->tuple.count;
    case TYPE_STRUCT:
        if (a->structure->template == NULL || a->structure->template != b->structure->template)
            return a->structure == b->structure;
        for (uint32_t i = 0; i < a->structure->template->generics.count; i++)
            same &= alike(a->structure->arguments[i], b->structure->arguments[i], true);
        return same;
    default:
        return false;
    }
}

static bool assignable(const expr *value, const type *to) {
    return value->type != NULL && to != NULL && (value->type->kind == TYPE_NEVER || alike(value->type, to, false));
}

/* A call may know the elements and ranks of tensors and the lengths of arrays that its function leaves open. */
static bool same_but_elements(const type *a, const type *b) {
    if (a == b)
        return true;
    if (a == NULL || a->kind != b->kind)
        return false;
    if (a->kind == TYPE_TENSOR) {
        return (b->tensor.element == NULL || a->tensor.element == b->tensor.element) &&
               (b->tensor.rank < 0 || a->tensor.rank == b->tensor.rank);
    }
    if (a->kind == TYPE_VEC)
        return same_but_elements(a->vec.element, b->vec.element);
    bool same = a->kind == TYPE_TUPLE && a->tuple.count == b->tuple.count;
    for (uint32_t i = 0; same && i < a->tuple.count; i++)
        same = same_but_elements(a->tuple.items[i], b->tuple.items[i]);
    return same;
}

static void judge_function(judge *j, const expr *e) {
    const function_item *f = e->call.function;
    demand(j, e->call.operand_count == f->parameter_count, e, "number of arguments");
    for (uint32_t i = 0; i < e->call.operand_count && i < f->parameter_count; i++) {
        demand(j, assignable(e->call.operands[i], f->parameters[i]->type), e->call.operands[i],
               "an argument's type is not the parameter's");
    }
    demand(j, same_but_elements(e->type, f->result), e, "the type is not that of the function's result");
    bool writes = f->has_self && f->writes_self && is_place(e->call.operands[0]);
    demand(j, e->call.writes_receiver == writes, e, "writes_receiver");
}

/* The meaning of a field by its name: one that holds a captured variable by reference is that variable. */
static const type *type_of_field(const struct_field *f) {
    return f->by_reference && type_is_reference(f->type) ? f->type->vec.element : f->type;
}

/* Operands that are fields of s, from `first` on. */
static void judge_fields(judge *j, const expr *e, const struct_item *s, uint32_t first, uint32_t count) {
    demand(j, e->call.operand_count == count && first + count <= s->field_count, e, "number of fields");
    demand(j, e->type->kind == TYPE_STRUCT && e->type->structure == s, e, "the fields of another struct");
    for (uint32_t i = 0; j->good && i < count; i++) {
        demand(j, assignable(e->call.operands[i], type_of_field(&s->fields[first + i])), e->call.operands[i],
               "a value of another type than its field");
    }
}

static void judge_list(judge *j, const expr *e) {
    const type *list = e->call.operands[0]->type;
    demand(j, list->kind == TYPE_VEC, e, "not a list");
    demand(j, !e->call.writes_receiver || is_place(e->call.operands[0]), e, "writes a receiver that is not a place");
    if (!j->good)
        return;
    const type *element = list->vec.element;
    switch (e->call.kind) {
    case CALL_VEC_PUSH:
        demand(j, e->call.operand_count == 2 && assignable(e->call.operands[1], element), e,
               "an element of another type");
        break;
    case CALL_VEC_SET:
        demand(j, e->call.operand_count == 3 && is_index(e->call.operands[1]), e, "an index that is not of 64 bits");
        demand(j, e->call.operand_count == 3 && assignable(e->call.operands[2], element), e,
               "an element of another type");
        break;
    default:
        demand(j, alike(e->type, element, true), e, "yields something else than an element");
        break;
    }
}

static void judge_call(judge *j, const expr *e) {
    switch (e->call.kind) {
    case CALL_FUNCTION:
        judge_function(j, e);
        break;
    case CALL_ABI:
        judge_abi(j, e);
        break;
    case CALL_STRUCT:
        judge_fields(j, e, e->call.structure, 0, e->call.structure->field_count);
        break;
    case CALL_VARIANT:
        demand(j, e->call.structure != NULL && e->call.variant < e->call.structure->variant_count, e,
               "a variant of nothing");
        if (j->good) {
            const variant_item *v = &e->call.structure->variants[e->call.variant];
            judge_fields(j, e, e->call.structure, v->first, v->count);
        }
        break;
    case CALL_PRINT: /* a piece is a text, which may be empty, or a value */
        break;
    case CALL_MATH:
        demand(j, e->call.operand_count == 1 || e->call.operand_count == 2, e, "number of operands");
        demand(j, type_is_float(e->type), e, "mathematics on something else than floats");
        for (uint32_t i = 0; i < e->call.operand_count; i++)
            demand(j, assignable(e->call.operands[i], e->type), e, "an operand's type is not the result's");
        break;
    case CALL_NOTHING:
        demand(j, e->call.operand_count == 0, e, "nothing is made of something");
        break;
    case CALL_VEC_NEW:
        demand(j, e->type->kind == TYPE_VEC, e, "Vec::new yields something else");
        break;
    case CALL_VEC_PUSH:
    case CALL_VEC_GET:
    case CALL_VEC_SET:
    case CALL_VEC_POP:
    case CALL_VEC_OUT:
        judge_list(j, e);
        break;
    default:
        fault(j, e->span, "an unresolved call");
        break;
    }
}

/* ---- the other nodes ------------------------------------------------------------------------- */

static void judge_block(judge *j, const block *b, const expr *owner) {
    judge_type(j, b->type, b->span);
    if (b->type == NULL)
        return;
    demand(j, (b->result != NULL) == is_value(b->type), owner, "a block has a result exactly when it has a value");
    demand(j, b->result == NULL || assignable(b->result, b->type), owner, "a block's result is of another type");
    for (const stmt *s = b->first; s != NULL; s = s->next)
        if (s->value == NULL)
            fault(j, s->span, "a statement without a value");
        else if (s->kind == STMT_LET && s->pattern->type == NULL)
            fault(j, s->span, "a pattern without a type");
        else if (s->kind == STMT_LET && !s->is_late)
            demand(j, assignable(s->value, s->pattern->type), s->value, "a value of another type than its pattern");
}

static bool scalar_operand(const type *t) {
    return type_is_numeric(t) || t->kind == TYPE_BOOL || t->kind == TYPE_CHAR;
}

static void judge_binary(judge *j, const expr *e) {
    const type *left = e->binary.left->type, *right = e->binary.right->type;
    if (left == NULL || right == NULL || left->kind == TYPE_NEVER || right->kind == TYPE_NEVER)
        return;
    demand(j, left == right && scalar_operand(left), e, "operands that are not two scalars of one type");
    bool logical = e->binary.op >= BINARY_EQ;
    demand(j, e->type == NULL || (logical ? e->type->kind == TYPE_BOOL : e->type == left), e, "an operator's type");
}

static void judge_if(judge *j, const expr *e) {
    judge_block(j, e->branch.then, e);
    const type *condition = e->branch.condition->type;
    demand(j, condition != NULL && (condition->kind == TYPE_BOOL || condition->kind == TYPE_NEVER), e,
           "a condition that is not a bool");
    const expr *otherwise = e->branch.otherwise;
    demand(j, otherwise == NULL || otherwise->kind == EXPR_IF || otherwise->kind == EXPR_BLOCK, e, "a strange else");
    if (is_value(e->type)) {
        demand(j, otherwise != NULL && assignable(otherwise, e->type), e, "else of another type");
        demand(j,
               e->branch.then->type == e->type || e->branch.then->type->kind == TYPE_NEVER ||
                   e->type->kind >= TYPE_SCALAR_END,
               e, "then of another type");
    }
}

static bool is_condition(const expr *e) {
    return e->type != NULL && (e->type->kind == TYPE_BOOL || e->type->kind == TYPE_NEVER);
}

static void judge_match(judge *j, const expr *e) {
    for (uint32_t i = 0; i < e->match.count; i++) {
        const match_arm *arm = &e->match.arms[i];
        demand(j, arm->guard == NULL || is_condition(arm->guard), e, "a guard that is not a bool");
        demand(j, arm->pattern->type != NULL && assignable(e->match.value, arm->pattern->type), e,
               "a pattern of another type");
        demand(j, !is_value(e->type) || assignable(arm->body, e->type), arm->body, "an arm of another type");
    }
}

static void judge_field(judge *j, const expr *e) {
    const type *base = e->field.base->type;
    demand(j, base->kind == TYPE_STRUCT, e, "a field of something else than a struct");
    demand(j, j->good && e->field.index < base->structure->field_count, e, "a field that is not there");
    demand(j, j->good && alike(e->type, type_of_field(&base->structure->fields[e->field.index]), true), e,
           "another type than the field's");
}

static void judge_part(judge *j, const expr *e) {
    const type *base = e->field.base->type;
    demand(j, base->kind == TYPE_TUPLE, e, "a part of something else than a tuple");
    demand(j, j->good && e->field.index < base->tuple.count, e, "a part that is not there");
    demand(j, j->good && alike(e->type, base->tuple.items[e->field.index], true), e, "another type than the part's");
}

static void judge_index(judge *j, const expr *e) {
    const type *base = e->index.base->type;
    demand(j, base->kind == TYPE_TENSOR || base->kind == TYPE_VEC || type_is_reference(base), e,
           "an index into something else");
    for (uint32_t i = 0; i < e->index.count; i++)
        demand(j, is_index(e->index.indices[i]), e, "an index that is not of 64 bits");
    if (e == j->part) {
        demand(j, e->index.count == 2 && (base->kind == TYPE_VEC || type_is_reference(base)), e,
               "a part of something else than a list");
        return;
    }
    demand(j, base->kind != TYPE_VEC || alike(e->type, base->vec.element, true), e, "another type than the element's");
    demand(j, base->kind != TYPE_TENSOR || scalar_operand(e->type), e, "an element that is not a scalar");
    demand(j, base->kind == TYPE_TENSOR || e->index.count == 1, e, "several indices into something else than a tensor");
}

static void judge_tuple(judge *j, const expr *e) {
    demand(j, e->type->kind == TYPE_TUPLE && e->type->tuple.count == e->list.count, e, "the parts of another tuple");
    for (uint32_t i = 0; j->good && i < e->list.count; i++) {
        demand(j,
               e->list.items[i]->type != NULL && (e->list.items[i]->type->kind == TYPE_NEVER ||
                                                  alike(e->list.items[i]->type, e->type->tuple.items[i], true)),
               e->list.items[i], "a part of another type");
    }
}

static void judge_struct(judge *j, const expr *e) {
    const struct_item *s = e->structure.structure;
    demand(j, s != NULL && e->type->kind == TYPE_STRUCT && e->type->structure == s, e, "the fields of another struct");
    demand(j, e->structure.base == NULL, e, "a base that elaborate writes out");
    for (uint32_t i = 0; j->good && s->variant_count == 0 && i < s->field_count; i++) {
        demand(j, e->structure.values[i] != NULL && assignable(e->structure.values[i], s->fields[i].type), e,
               "a value of another type than its field");
    }
}

static void judge_jump(judge *j, const expr *e) {
    const expr *loop = e->jump.target, *value = e->jump.value;
    demand(j, loop != NULL && (loop->kind == EXPR_LOOP || loop->kind == EXPR_WHILE || loop->kind == EXPR_FOR), e,
           "a jump without a target");
    demand(j, !j->good || value == NULL || !is_value(loop->type) || assignable(value, loop->type), e,
           "breaks with a value of another type");
}

static void judge_return(judge *j, const expr *e) {
    const expr *value = e->jump.value;
    const type *result = j->function == NULL ? NULL : j->function->result;
    demand(j, result != NULL, e, "returns from nothing");
    demand(j, !j->good || !is_value(result) || (value != NULL && assignable(value, result)), e,
           "returns a value of another type");
}

static void judge_name(judge *j, const expr *e) {
    demand(j, (e->name.binding != NULL) != (e->name.constant != NULL), e, "a name that is not resolved");
    const binding *b = e->name.binding;
    if (b != NULL && j->function != NULL) {
        demand(j, b->id < j->function->binding_count && j->function->bindings[b->id] == b, e,
               "a binding of another function");
    }
}

static void judge_comprehension(judge *j, const expr *e) {
    const comprehension_expr *c = e->comprehension;
    demand(j, e->type->kind == TYPE_TENSOR && e->type->tensor.rank == (int32_t)c->output_count, e,
           "the rank of a comprehension");
    demand(j, c->body->type == e->type->tensor.element || c->body->type->kind == TYPE_NEVER, c->body,
           "the body's type");
    for (uint32_t i = 0; i < c->output_count; i++)
        demand(j, c->outputs[i] != NULL && c->outputs[i]->kind == BINDING_INDEX, e, "an output without an index");
    for (uint32_t i = 0; i < c->clause_count; i++) {
        demand(j, (c->clauses[i].index == NULL) == (c->clauses[i].condition != NULL), e,
               "a clause that is neither range nor condition");
    }
}

static void judge_expr(expr *e, void *context);

static void judge_kind(judge *j, expr *e) {
    switch (e->kind) {
    case EXPR_ERROR:
    case EXPR_METHOD:
    case EXPR_TRY:
    case EXPR_CLOSURE:
        fault(j, e->span, "a node that the check removes");
        break;
    case EXPR_LIST:
    case EXPR_REPEAT:
        fault(j, e->span, "a list that elaborate writes out");
        break;
    case EXPR_NAME:
        judge_name(j, e);
        break;
    case EXPR_UNARY:
        demand(j, e->unary.op == UNARY_REFERENCE ? type_is_reference(e->type) : e->unary.operand->type == e->type, e,
               "a unary operator");
        if (e->unary.op == UNARY_REFERENCE && type_is_slice(e->type) && e->unary.operand->kind == EXPR_INDEX)
            j->part = e->unary.operand;
        break;
    case EXPR_BINARY:
        judge_binary(j, e);
        break;
    case EXPR_CAST:
        demand(j, scalar_operand(e->type) || e->type->kind == e->cast.operand->type->kind, e,
               "a cast to something else than a scalar");
        break;
    case EXPR_CALL:
        judge_call(j, e);
        break;
    case EXPR_FIELD:
        judge_field(j, e);
        break;
    case EXPR_TUPLE_FIELD:
        judge_part(j, e);
        break;
    case EXPR_INDEX:
        judge_index(j, e);
        break;
    case EXPR_TUPLE:
        judge_tuple(j, e);
        break;
    case EXPR_STRUCT:
        judge_struct(j, e);
        break;
    case EXPR_MATCH:
        judge_match(j, e);
        break;
    case EXPR_RETURN:
        judge_return(j, e);
        break;
    case EXPR_COMPREHENSION:
        judge_comprehension(j, e);
        break;
    case EXPR_BLOCK:
        judge_block(j, e->block, e);
        demand(j, e->block->type == e->type, e, "a block and its expression differ in type");
        break;
    case EXPR_IF:
        judge_if(j, e);
        break;
    case EXPR_WHILE:
    case EXPR_LOOP:
    case EXPR_FOR:
        judge_block(j, e->loop->body, e);
        demand(j, e->loop->body->result == NULL, e, "the body of a loop has a result");
        demand(j, e->kind != EXPR_WHILE || is_condition(e->loop->condition), e, "a condition that is not a bool");
        break;
    case EXPR_BREAK:
    case EXPR_CONTINUE:
        judge_jump(j, e);
        break;
    case EXPR_ASSIGN:
        demand(j, e->assign.op == BINARY_NONE && is_place(e->assign.target), e,
               "an assignment to something else than a place");
        demand(j, assignable(e->assign.value, e->assign.target->type), e, "an assignment of another type");
        break;
    default:
        break;
    }
}

static void judge_range(judge *j, const expr *e) {
    if (e->kind == EXPR_FOR && e->loop->iterable->kind == EXPR_RANGE) {
        const expr *range = e->loop->iterable;
        demand(j,
               range->range.low != NULL && range->range.high != NULL &&
                   range->range.low->type == range->range.high->type,
               e, "the ends of a range");
    }
}

/* Before the node that it is a part of, whose rules read its type. */
static void judge_child(expr *e, void *context) {
    judge *j = context;
    judge_type(j, e->type, e->span);
}

/* `good` is the node's own while it is judged: what one fault makes of its node says nothing of the others. */
static void judge_expr(expr *e, void *context) {
    judge *j = context;
    bool before = j->good;
    j->good = true;
    judge_type(j, e->type, e->span);
    expr_each_child(e, judge_child, j);
    if (!j->good)
        return; /* the rules lean on what is missing */
    judge_kind(j, e);
    judge_range(j, e);
    expr_each_child(e, judge_expr, context);
    j->good &= before;
}

bool check_function_valid(const syntax_tree *tree, const function_item *f, masu__buffer *out) {
    judge j = {.tree = tree, .function = f, .out = out, .good = true};
    if (f->body == NULL || f->is_template)
        return true; /* never compiled itself */
    for (uint32_t b = 0; b < f->binding_count; b++)
        judge_type(&j, f->bindings[b]->type, f->bindings[b]->span);
    if (f->is_template || f->body == NULL) /* its instances are judged: it is never compiled itself */
        return j.good;
    expr body = {.kind = EXPR_BLOCK, .span = f->body->span, .block = f->body, .type = f->body->type};
    judge_expr(&body, &j);
    return j.good;
}

bool check_tree_valid(const syntax_tree *tree, masu__buffer *out) {
    judge j = {.tree = tree, .out = out, .good = true};
    for (uint32_t i = 0; i < tree->constant_count; i++)
        if (!tree->constants[i]->is_composed && tree->constants[i]->value->type != NULL) /* else it is never used */
            judge_expr(tree->constants[i]->value, &j);
    for (uint32_t i = 0; i < tree->function_count; i++)
        j.good &= tree->functions[i]->is_left_out || check_function_valid(tree, tree->functions[i], out);
    return j.good;
}
