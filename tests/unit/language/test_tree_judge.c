/* test_tree_judge.c: each promise of tree.h, broken in a tree that was right: the judge (check_tree_valid) names it.
 */
#include "unit/language/front_testing.h"

static const char program[] =
    "struct P { x: i64, y: f64 }\n"
    "impl P { fn step(&mut self) { self.x = self.x + 1; } }\n"
    "enum E { A(i64), B }\n"
    "fn twice(n: i64) -> i64 { if n > 9 { return n; } n * 2 }\n"
    "fn main() {\n"
    "    let mut p = P { x: 1, y: 0.5 };\n"
    "    p.step();\n"
    "    let pair = (p.x, 1.5);\n"
    "    let e = E::A(twice(pair.0));\n"
    "    let mut v: Vec<i64> = Vec::new();\n"
    "    v.push(3);\n"
    "    let t = Tensor::ones([2, 2]);\n"
    "    let u = t.relu();\n"
    "    let f = -p.y;\n"
    "    let w = v[0] as f64;\n"
    "    while v.len() > 1 { v.push(4); }\n"
    "    loop { if p.x > 5 { break; } p.x = p.x + 1; }\n"
    "    let c = [i | i <- 0..3 { i }];\n"
    "    let n = match e { E::A(k) => k, E::B => 0 };\n"
    "    println(\"{} {} {} {} {}\", n, f, w, u, c);\n"
    "}\n";

typedef struct search {
    bool (*is)(const expr *e);
    expr *found;
} search;

static void look(expr *e, void *context) {
    search *s = context;
    if (s->found == NULL && s->is(e))
        s->found = e;
    expr_each_child(e, look, s);
}

static bool is_field(const expr *e) {
    return e->kind == EXPR_FIELD;
}
static bool is_part(const expr *e) {
    return e->kind == EXPR_TUPLE_FIELD;
}
static bool is_tuple(const expr *e) {
    return e->kind == EXPR_TUPLE;
}
static bool is_struct(const expr *e) {
    return e->kind == EXPR_STRUCT;
}
static bool is_unary(const expr *e) {
    return e->kind == EXPR_UNARY;
}
static bool is_binary(const expr *e) {
    return e->kind == EXPR_BINARY;
}
static bool is_cast(const expr *e) {
    return e->kind == EXPR_CAST;
}
static bool is_assign(const expr *e) {
    return e->kind == EXPR_ASSIGN;
}
static bool is_match(const expr *e) {
    return e->kind == EXPR_MATCH;
}
static bool is_while(const expr *e) {
    return e->kind == EXPR_WHILE;
}
static bool is_break(const expr *e) {
    return e->kind == EXPR_BREAK;
}
static bool is_return(const expr *e) {
    return e->kind == EXPR_RETURN;
}
static bool is_comprehension(const expr *e) {
    return e->kind == EXPR_COMPREHENSION;
}
static bool is_if(const expr *e) {
    return e->kind == EXPR_IF;
}
static bool is_name(const expr *e) {
    return e->kind == EXPR_NAME && e->name.binding != NULL;
}
static bool is_element(const expr *e) {
    return (e->kind == EXPR_INDEX && e->index.base->type->kind == TYPE_VEC);
}
static bool is_call_of(const expr *e, call_kind kind) {
    return e->kind == EXPR_CALL && e->call.kind == kind;
}
static bool is_variant(const expr *e) {
    return is_call_of(e, CALL_VARIANT);
}
static bool is_push(const expr *e) {
    return is_call_of(e, CALL_VEC_PUSH);
}
static bool is_operation(const expr *e) {
    return is_call_of(e, CALL_ABI) && e->type->kind == TYPE_TENSOR && e->call.operand_count == 1;
}
static bool is_method(const expr *e) {
    return is_call_of(e, CALL_FUNCTION) && e->call.writes_receiver;
}
static bool is_function(const expr *e) {
    return is_call_of(e, CALL_FUNCTION) && !e->call.writes_receiver;
}

static const type *boolean; /* of the tree that is being broken */

static void lose_type(expr *e) {
    e->type = NULL;
}
static void come_back(expr *e) {
    e->kind = EXPR_METHOD;
}
static void stay_a_list(expr *e) {
    e->kind = EXPR_LIST;
}
static void miss(expr *e) {
    e->field.index = 99;
}
static void be_boolean(expr *e) {
    e->type = boolean;
}
static void change_left(expr *e) {
    e->binary.left->type = boolean;
}
static void change_operand(expr *e) {
    e->unary.operand->type = boolean;
}
static void change_part(expr *e) {
    e->list.items[0]->type = boolean;
}
static void change_value(expr *e) {
    e->structure.values[0]->type = boolean;
}
static void change_first(expr *e) {
    e->call.operands[0]->type = boolean;
}
static void change_second(expr *e) {
    e->call.operands[1]->type = boolean;
}
static void lose_operand(expr *e) {
    e->call.operand_count--;
}
static void forget_write(expr *e) {
    e->call.writes_receiver = !e->call.writes_receiver;
}
static void change_condition(expr *e) {
    e->loop->condition->type = e->loop->body->type;
}
static void change_branch(expr *e) {
    e->branch.condition->type = e->branch.condition->binary.left->type;
}
static void lose_target(expr *e) {
    e->jump.target = NULL;
}
static void change_returned(expr *e) {
    e->jump.value->type = boolean;
}
static void change_pattern(expr *e) {
    e->match.arms[0].pattern->type = boolean;
}
static void change_arm(expr *e) {
    e->match.arms[1].body->type = boolean;
}
static void change_assigned(expr *e) {
    e->assign.value->type = boolean;
}
static void lose_place(expr *e) {
    e->assign.target = e->assign.value;
}
static void change_index(expr *e) {
    e->index.indices[0]->type = boolean;
}
static void lose_name(expr *e) {
    e->name.binding = NULL;
}
static void lose_output(expr *e) {
    e->comprehension->output_count--;
}
static void cast_to_list(expr *e) {
    e->type = e->cast.operand->kind == EXPR_INDEX ? e->cast.operand->index.base->type : boolean;
}

static const struct {
    bool (*is)(const expr *e);
    void (*break_it)(expr *e);
    const char *fault;
} cases[] = {
    {is_name, lose_type, "no type"},
    {is_operation, come_back, "a node that the check removes"},
    {is_tuple, stay_a_list, "a list that elaborate writes out"},
    {is_field, miss, "a field that is not there"},
    {is_field, be_boolean, "another type than the field's"},
    {is_part, miss, "a part that is not there"},
    {is_part, be_boolean, "another type than the part's"},
    {is_tuple, change_part, "a part of another type"},
    {is_struct, change_value, "a value of another type than its field"},
    {is_variant, change_first, "a value of another type than its field"},
    {is_variant, lose_operand, "number of fields"},
    {is_unary, change_operand, "a unary operator"},
    {is_binary, change_left, "operands that are not two scalars of one type"},
    {is_cast, cast_to_list, "a cast to something else than a scalar"},
    {is_push, change_second, "an element of another type"},
    {is_operation, lose_operand, "number of operands"},
    {is_operation, be_boolean, "the type is not that of the function's result"},
    {is_function, lose_operand, "number of arguments"},
    {is_function, change_first, "an argument's type is not the parameter's"},
    {is_method, forget_write, "writes_receiver"},
    {is_while, change_condition, "a condition that is not a bool"},
    {is_if, change_branch, "a condition that is not a bool"},
    {is_break, lose_target, "a jump without a target"},
    {is_return, change_returned, "returns a value of another type"},
    {is_match, change_pattern, "a pattern of another type"},
    {is_match, change_arm, "an arm of another type"},
    {is_assign, change_assigned, "an assignment of another type"},
    {is_assign, lose_place, "an assignment to something else than a place"},
    {is_element, change_index, "an index that is not of 64 bits"},
    {is_element, be_boolean, "another type than the element's"},
    {is_name, lose_name, "a name that is not resolved"},
    {is_comprehension, lose_output, "the rank of a comprehension"},
};

static void each_broken_promise_is_named(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        front f;
        front_good(&f, program);
        boolean = f.types.scalars[TYPE_BOOL];
        search s = {.is = cases[i].is};
        for (uint32_t k = 0; k < f.tree->function_count && s.found == NULL; k++) {
            function_item *of = f.tree->functions[k];
            if (of->body != NULL && !of->is_template) {
                expr body = {.kind = EXPR_BLOCK, .block = of->body};
                expr_each_child(&body, look, &s);
            }
        }
        if (s.found == NULL)
            fail_msg("%s: the program has no such node", cases[i].fault);
        cases[i].break_it(s.found);
        masu__buffer faults = {0};
        assert_false(check_tree_valid(f.tree, &faults));
        if (strstr(masu__buffer_text(&faults), cases[i].fault) == NULL)
            fail_msg("%zu: expected \"%s\", found \"%s\"", i, cases[i].fault, masu__buffer_text(&faults));
        masu__buffer_destroy(&faults);
        front_end(&f);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(each_broken_promise_is_named)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
