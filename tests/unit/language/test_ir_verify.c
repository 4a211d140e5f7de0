/* Every kind of fault that the verifier knows, made once, must be refused with its own words. The
 * sound original of each must pass: a verifier that refuses everything would pass the other half.
 */
#include <string.h>

#include "ir_support.h"
#include "language/ir/edit.h"

/* ---- from texts ------------------------------------------------------------------------------ */

typedef struct fault {
    const char *what; /* in the fault's words; NULL: the module is sound */
    const char *text;
} fault;

static void expect_faults(const fault *faults, size_t count, ir_phase phase) {
    for (size_t n = 0; n < count; n++) {
        masu__arena arena = {0};
        ir_module *m = support_parse(&arena, faults[n].text);
        if (faults[n].what)
            support_refuse(m, phase, faults[n].what);
        else
            support_verify(m, phase);
        masu__arena_destroy(&arena);
    }
}

#define EXPECT(faults, phase) expect_faults(faults, sizeof(faults) / sizeof((faults)[0]), phase)

static void structure(void **state) {
    (void)state;
    static const fault faults[] = {
        {NULL, "fn f(%1: bool) { b0: branch %1, b1, b2 b1: jump b2 b2: ret }"},
        {"no blocks", "fn f() { }"},
        {"empty block", "fn f() { b0: jump b1 b2: ret }"},
        {"no terminator at the end", "fn f() { b0: %1: i64 = const 1 }"},
        {"entry has predecessors", "fn f() { b0: jump b0 }"},
        {"entry has predecessors or parameters", "fn f() { b0(%1: i64): ret }"},
        {"passes 0 arguments to b1, which has 1 parameters", "fn f() { b0: jump b1 b1(%1: i64): ret }"},
        {"passes an argument of the wrong type", "fn f(%1: bool) { b0: jump b1(%1) b1(%2: i64): ret }"},
        {"defined nowhere", "fn f() -> (i64) { b0: ret %5 }"},
        {"does not come before it",
         "fn f(%1: bool) -> (i64) { b0: branch %1, b1, b2 b1: %2: i64 = const 1 jump b2 b2: ret %2 }"},
        {"does not come before it", "fn f() -> (i64) { b0: %1: i64 = neg %2  %2: i64 = const 1  ret %1 }"},
        {"does not come before it", "fn f(%1: bool) -> (i64) { b0: jump b1(%2) b1(%2: i64): ret %2 }"},
    };
    EXPECT(faults, IR_PHASE_BUILT);
}

static void types(void **state) {
    (void)state;
    static const fault faults[] = {
        {NULL, "fn f(%1: i64, %2: f32) -> (bool, f32) { b0: %3: bool = lt %1, %1  %4: f32 = add %2, %2  ret %3, %4 }"},
        {"operands of different types", "fn f(%1: i64, %2: i32) { b0: %3: i64 = add %1, %2 ret }"},
        {"a type that the operation does not know", "fn f(%1: bool) { b0: %3: bool = add %1, %1 ret }"},
        {"a type that the operation does not know", "fn f(%1: f64) { b0: %3: f64 = and %1, %1 ret }"},
        {"a type that the operation does not know", "fn f(%1: i64) { b0: %3: i64 = math.exp %1 ret }"},
        {"a type that the operation does not know", "fn f(%1: bool) { b0: %3: bool = neg %1 ret }"},
        {"a type that the operation does not know", "fn f(%1: tensor) { b0: %3: bool = eq %1, %1 ret }"},
        {"a result of the wrong type", "fn f(%1: i64) { b0: %3: i32 = add %1, %1 ret }"},
        {"a result of the wrong type", "fn f(%1: i64) { b0: %3: i64 = lt %1, %1 ret }"},
        {"1 operands and 1 results instead of 2 and 1", "fn f(%1: i64) { b0: %3: i64 = add %1 ret }"},
        {"nothing has written", "fn f() { b0: %1: tensor = const 0 ret }"},
        {"casts are between plain types", "fn f(%1: tensor) { b0: %2: i64 = cast %1 ret }"},
        {"yields an address", "fn f() { b0: %1: i64 = bytes \"x\" ret }"},
        {"not a bool", "fn f(%1: i64) { b0: branch %1, b1, b1 b1: ret }"},
        {"0 operands and 0 results instead of 1 and 0", "fn f() -> (i64) { b0: ret }"},
        {"returns a value of the wrong type", "fn f(%1: bool) -> (i64) { b0: ret %1 }"},
        {"does not fit parameter `b`", "fn f(%1: tensor, %2: f64) { b0: %3: tensor = tl_tensor_add %1, %2 ret }"},
        {"does not fit parameter `grad`", "fn f(%1: i64) { b0: %3: tensor = tl_tensor_zeros %1, %1 ret }"},
        {"2 operands and 1 results instead of 1 and 1",
         "fn f(%1: tensor) { b0: %3: tensor = tl_tensor_exp %1, %1 ret }"},
        {"1 operands and 1 results instead of 1 and 0", "fn f(%1: tensor) { b0: %3: tensor = tl_print_tensor %1 ret }"},
        {"a result of the wrong type", "fn f(%1: tensor) { b0: %3: object = tl_tensor_exp %1 ret }"},
        {"an argument of the wrong type", "fn f(%1: i64) { b0: call g(%1) ret } fn g(%1: bool) { b0: ret }"},
        {"0 operands and 0 results instead of 1 and 0", "fn f() { b0: call g() ret } fn g(%1: bool) { b0: ret }"},
        {"not in the module's list", "fn f() { b0: call k() ret } kernel_fn k() { b0: ret }"},
        {"operand that is not counted", "fn f(%1: i64) { b0: keep %1 ret }"},
    };
    EXPECT(faults, IR_PHASE_BUILT);
}

static void kernels_and_records(void **state) {
    (void)state;
    static const fault faults[] = {
        {NULL,
         "kernel k = f32 rank 1 cells (i64, f64) captures (f32 rank 1) forward k.f "
         "fn f(%1: i64, %2: f64, %3: tensor) { b0: %4: tensor = comprehend k(%1, %2, %3) ret }"
         "kernel_fn k.f() { b0: %1: i64 = kernel_cell 0  %2: f32 = kernel_load 0, %1  kernel_out_add %2, %1 ret }"},
        {"2 operands and 1 results instead of 3 and 1",
         "kernel k = f32 rank 1 cells (i64, f64) captures (f32 rank 1) "
         "fn f(%1: i64, %3: tensor) { b0: %4: tensor = comprehend k(%1, %3) ret }"},
        {"a cell of the wrong type",
         "kernel k = f32 rank 1 cells (i64, f64) captures () "
         "fn f(%1: i64) { b0: %4: tensor = comprehend k(%1, %1) ret }"},
        {"only tensors are captured",
         "kernel k = f32 rank 1 cells (i64) captures (f32 rank 1) "
         "fn f(%1: i64) { b0: %4: tensor = comprehend k(%1, %1) ret }"},
        {"is outside of a kernel", "fn f() { b0: %1: i64 = kernel_cell 0 ret }"},
        {"an index that is not an i64", "kernel_fn f(%1: f32) { b0: kernel_out_add %1, %1 ret }"},
        {"adds nothing", "kernel_fn f() { b0: kernel_out_add ret }"},
        {"does not belong into a kernel", "kernel_fn f() { b0: call g() ret } fn g() { b0: ret }"},
        {"does not belong into a kernel", "kernel_fn f(%1: i64) { b0: %2: tensor = tl_tensor_eye %1 ret }"},
        {NULL, "fn f(%1: object, %2: tensor) { b0: %3: address = record %2  %4: object = tl_vec_push %1, %3 ret }"},
        {"nothing takes the record",
         "fn f(%1: object, %2: tensor) { b0: %3: address = record %2  tl_print_tensor %2"
         " %4: object = tl_vec_push %1, %3 ret }"},
        {"nothing takes the record", "fn f(%1: tensor) { b0: %3: address = record %1 ret }"},
        {"reads from something that is not a record", "fn f(%1: address) { b0: %2: i64 = record_word %1, 0 ret }"},
        {"reads behind the record's end",
         "fn f(%1: object, %2: i64) { b0: %3: address = record_empty 1  tl_vec_get %1, %2, %3"
         " %4: tensor = record_word %3, 1 ret }"},
        {"before the word's count has an owner",
         "fn f(%1: object, %2: i64) { b0: %3: address = record_empty 1  tl_vec_get %1, %2, %3"
         " %5: i64 = tl_string_to_i64 %1  %4: tensor = record_word %3, 0 ret }"},
    };
    EXPECT(faults, IR_PHASE_BUILT);
}

static void phases(void **state) {
    (void)state;
    static const fault built[] = {
        {NULL, "fn f(%1: tensor) { b0: keep %1 ret }"},
        {"does not belong into this phase", "fn f(%1: tensor) { b0: acquire %1 ret }"},
        {"does not belong into this phase", "fn f(%1: tensor) { b0: release %1 ret }"},
        {"does not belong into this phase", "fn f(%1: tensor) { b0: root %1, slot 0 ret }"},
    };
    static const fault owned[] = {
        {NULL, "fn f(%1: tensor borrow) { b0: keep %1 ret }"},
        {"does not belong into this phase",
         "fn f(%1: tensor own) slots 1 bound 1 { b0: root %1, slot 0 release %1 ret }"},
        {"is lent, but g declares otherwise",
         "fn f(%1: tensor own) { b0: call g(%1) release %1 ret } fn g(%1: tensor own) { b0: release %1 ret }"},
        {"is handed over, but g declares otherwise",
         "fn f(%1: tensor own) { b0: call g(own %1) ret } fn g(%1: tensor borrow) { b0: ret }"},
        {"hands over a plain value", "fn f(%1: i64) { b0: call g(own %1) ret } fn g(%1: i64) { b0: ret }"},
    };
    static const fault rooted[] = {
        {"does not belong into this phase", "fn f(%1: tensor borrow) { b0: keep %1 ret }"},
    };
    EXPECT(built, IR_PHASE_BUILT);
    EXPECT(owned, IR_PHASE_OWNED);
    EXPECT(rooted, IR_PHASE_ROOTED);
}

static void owners(void **state) {
    (void)state;
    static const fault faults[] = {
        {NULL,
         "fn f(%1: tensor own, %2: bool) -> (tensor) { b0: branch %2, b1, b2"
         " b1: jump b3(%1) b2: release %1  %3: i64 = const 1  %4: tensor = tl_tensor_eye %3  jump b3(%4)"
         " b3(%5: tensor): ret %5 }"},
        {"is still owned at the end", "fn f(%1: tensor own) { b0: ret }"},
        {"is still owned at the end", "fn f(%1: i64) { b0: %2: tensor = tl_tensor_eye %1 ret }"},
        {"is still owned at the end", "fn f(%1: tensor borrow) { b0: acquire %1 ret }"},
        {"is still owned at the end", "fn f(%1: tensor own) { b0: unreachable }"},
        {"is still owned at the end", "fn f(%1: tensor own) { b0: jump b1(%1) b1(%2: tensor): ret }"},
        {"has no owner left", "fn f(%1: tensor own) { b0: release %1 release %1 ret }"},
        {"has no owner left", "fn f(%1: tensor own) -> (tensor, tensor) { b0: ret %1, %1 }"},
        {"has no owner left",
         "fn f(%1: tensor own) { b0: jump b1(%1, %1) b1(%2: tensor, %3: tensor): release %2 release %3 ret }"},
        {"uses %1 after its last count was given away",
         "fn f(%1: tensor own) { b0: release %1 tl_print_tensor %1 ret }"},
        {"uses %1 after its last count was given away",
         "fn f(%1: tensor own) { b0: release %1 acquire %1 release %1 ret }"},
        {"is only borrowed", "fn f(%1: tensor borrow) -> (tensor) { b0: ret %1 }"},
        {"is only borrowed", "fn f(%1: tensor borrow) { b0: release %1 ret }"},
        {"is only borrowed",
         "fn f(%1: tensor borrow) { b0: call g(own %1) ret } fn g(%1: tensor own) { b0: release %1 ret }"},
        {"is only borrowed",
         "fn f(%1: tensor borrow, %2: object own) -> (object) { b0: %3: address = record %1"
         " %4: object = tl_vec_push %2, %3  ret %4 }"},
        {"gives the last count of %1 away and reads it",
         "fn f(%1: tensor own) -> (tensor) { b0: %2: tensor = tl_tensor_add_assign %1, %1  ret %2 }"},
        {"gives the last count of %1 away and reads it",
         "fn f(%1: tensor own) { b0: call g(own %1, %1) ret }"
         "fn g(%1: tensor own, %2: tensor borrow) { b0: release %1 ret }"},
        /* lost on one way, given away on the other */
        {"%1 has 0 owners here, but 1 when b2 is entered from b0",
         "fn f(%1: tensor own, %2: bool) { b0: branch %2, b1, b2 b1: release %1 jump b2 b2: release %1 ret }"},
        {"%3 has 1 owners here, but 0 when b2 is entered from b0",
         "fn f(%2: bool, %1: i64) { b0: branch %2, b1, b2 b1: %3: tensor = tl_tensor_eye %1 jump b2 b2: ret }"},
        /* moved in the first round of a loop, used in the second */
        {"%1 has 0 owners here, but 1 when b1 is entered from b0",
         "fn f(%1: tensor own, %2: bool) { b0: jump b1 b1: branch %2, b2, b3 b2: release %1 jump "
         "b1 b3: release %1 ret }"},
        /* one more in every round */
        {"%1 has 2 owners here, but 1 when b1 is entered from b0",
         "fn f(%1: tensor own, %2: bool) { b0: jump b1 b1: branch %2, b2, b3 b2: acquire %1 jump "
         "b1 b3: release %1 ret }"},
        {"%3 has 1 owners here, but 0 when b1 is entered from b0",
         "fn f(%1: i64, %2: bool) { b0: jump b1 b1: %3: tensor = tl_tensor_eye %1  branch %2, b1, "
         "b2 b2: release %3 ret }"},
        {"its edges must be split",
         "fn f(%1: tensor own, %2: bool) { b0: branch %2, b1(%1), b2 b1(%3: tensor): release %3 ret"
         " b2: release %1 ret }"},
    };
    EXPECT(faults, IR_PHASE_OWNED);
}

static void protection(void **state) {
    (void)state;
    static const fault faults[] = {
        {NULL,
         "fn f(%1: tensor own) slots 1 bound 1 { b0: root %1, slot 0 tl_print_tensor %1 "
         "unroot %1, slot 0 release %1 ret }"},
        {NULL, "fn f(%1: tensor own) { b0: root %1, registry tl_print_tensor %1 unroot %1, registry release %1 ret }"},
        {NULL, "fn f(%1: tensor own) -> (tensor) { b0: ret %1 }"},
        {"may raise while %1 is in no slot", "fn f(%1: tensor own) { b0: tl_print_tensor %1 release %1 ret }"},
        {"may raise while %2 is in no slot",
         "fn f(%1: tensor own, %2: tensor own, %3: bool) slots 1 bound 1 { b0: root %1, slot 0 "
         "tl_tensor_backward %1, %3 unroot %1, slot 0 release %1 release %2 ret }"},
        {"may raise while %1 has 2 owners and one slot",
         "fn f(%1: tensor own) slots 1 bound 1 { b0: root %1, slot 0 acquire %1 tl_print_tensor %1 release %1"
         " unroot %1, slot 0 release %1 ret }"},
        {"may raise while %1 is in no slot",
         "fn f(%1: tensor borrow) { b0: acquire %1 tl_print_tensor %1 release %1 ret }"},
        {"may raise while %2 is in no slot", /* registering may itself run out of memory */
         "fn f(%1: tensor own, %2: tensor own) { b0: root %1, registry unroot %1, registry release "
         "%1 release %2 ret }"},
        {"that a slot still protects", "fn f(%1: tensor own) slots 1 bound 1 { b0: root %1, slot 0 release %1 ret }"},
        {"that the registry still protects", "fn f(%1: tensor own) -> (tensor) { b0: root %1, registry ret %1 }"},
        {"protects %1 twice",
         "fn f(%1: tensor own) slots 2 bound 1 { b0: root %1, slot 0 root %1, "
         "slot 1 unroot %1, slot 0 release %1 ret }"},
        {"slot 1 of 1", "fn f(%1: tensor own) slots 1 bound 1 { b0: root %1, slot 1 release %1 ret }"},
        {"overwrites slot 0, which holds %1",
         "fn f(%1: tensor own, %2: tensor own) slots 1 bound 1 { b0: root %1, slot 0 root %2, slot "
         "0 unroot %1, slot 0 release %1 release %2 ret }"},
        {"%1 is not protected there",
         "fn f(%1: tensor own) slots 2 bound 1 { b0: root %1, slot 0 "
         "unroot %1, slot 1 unroot %1, slot 0 release %1 ret }"},
        {"%1 is not protected there", "fn f(%1: tensor own) slots 1 bound 1 { b0: unroot %1, slot 0 release %1 ret }"},
        {"protects %1, which is not owned here", "fn f(%1: tensor borrow) slots 1 bound 1 { b0: root %1, slot 0 ret }"},
        {"%1 is protected otherwise when b2 is entered from b0",
         "fn f(%1: tensor own, %2: bool) slots 1 bound 1 { b0: branch %2, b1, b2 b1: root %1, slot 0 jump b2"
         " b2: release %1 ret }"},
    };
    EXPECT(faults, IR_PHASE_ROOTED);
}

/* ---- by hand: what no text can say ----------------------------------------------------------- */

typedef struct victim {
    masu__arena arena;
    ir_module *m;
    ir_function *f;
} victim;

static ir_module *fresh(victim *v) {
    memset(v, 0, sizeof *v);
    v->m = support_parse(&v->arena,
                         "fn main(%1: bool, %2: i64) -> (i64) { b0: branch %1, b1, b2(%2)"
                         " b1: %3: i64 = const 1 %4: i64 = add %3, %2 jump b2(%4) b2(%5: i64): ret %5 }"
                         "fn g(%1: tensor) { b0: ret }");
    v->f = v->m->functions[0];
    support_verify(v->m, IR_PHASE_BUILT);
    return v->m;
}

static void refuse(victim *v, ir_phase phase, const char *what) {
    support_refuse(v->m, phase, what);
    masu__arena_destroy(&v->arena);
}

static void broken_links(void **state) {
    (void)state;
    victim v;
    fresh(&v);
    v.f->blocks[1]->first->next->prev = NULL;
    refuse(&v, IR_PHASE_BUILT, "linked wrongly");
    fresh(&v);
    v.f->blocks[1]->last = v.f->blocks[1]->last->prev;
    refuse(&v, IR_PHASE_BUILT, "terminator");
    fresh(&v);
    v.f->blocks[1]->id = 2;
    refuse(&v, IR_PHASE_BUILT, "does not know its place");
    fresh(&v);
    v.f->blocks[2]->pred_count = 1;
    refuse(&v, IR_PHASE_BUILT, "predecessors do not mirror");
    fresh(&v);
    v.f->blocks[2]->preds[0] = v.f->blocks[1];
    refuse(&v, IR_PHASE_BUILT, "predecessors do not mirror");
    fresh(&v);
    v.f->blocks[1]->last->target[0].block = v.m->functions[1]->blocks[0];
    refuse(&v, IR_PHASE_BUILT, "not of this function");
    fresh(&v);
    v.f->values[4].def = NULL;
    refuse(&v, IR_PHASE_BUILT, "does not know its definition");
    fresh(&v);
    v.f->values[4].type = IR_NONE;
    refuse(&v, IR_PHASE_BUILT, "does not know its definition");
    fresh(&v);
    v.f->blocks[1]->first->result = 4;
    refuse(&v, IR_PHASE_BUILT, "%4 is defined twice");
    fresh(&v);
    v.f->blocks[1]->first->result = 99;
    refuse(&v, IR_PHASE_BUILT, "a value that does not exist");
    fresh(&v);
    v.f->blocks[1]->first->next->args[0] = 99;
    refuse(&v, IR_PHASE_BUILT, "%99, which is defined nowhere");
    fresh(&v);
    v.m->functions[1]->id = 0;
    refuse(&v, IR_PHASE_BUILT, "does not know its place");
    fresh(&v);
    v.m->function_count = 1;
    v.m->main = v.m->functions[1];
    refuse(&v, IR_PHASE_BUILT, "main is not in the list");
    fresh(&v);
    v.m->functions[1]->values[1].borrowed = true;
    v.f->values[3].borrowed = true;
    refuse(&v, IR_PHASE_OWNED, "%3 is marked borrowed but is not a managed parameter");
}

/* A branch with both edges to one block: two entries, and one too many is seen. */
static void double_edges(void **state) {
    (void)state;
    masu__arena arena = {0};
    ir_module *m = support_parse(&arena, "fn f(%1: bool) { b0: branch %1, b1, b1 b1: ret }");
    support_verify(m, IR_PHASE_BUILT);
    assert_int_equal(m->functions[0]->blocks[1]->pred_count, 2);
    m->functions[0]->blocks[1]->pred_count = 1;
    support_refuse(m, IR_PHASE_BUILT, "predecessors do not mirror");
    masu__arena_destroy(&arena);
}

/* ---- single changes to sound programs -------------------------------------------------------- */

static bool can_end(const ir_block *b, bool *seen) {
    if (seen[b->id])
        return false;
    seen[b->id] = true;
    bool ends = ir_target_count(b->last) == 0;
    for (int t = 0; t < ir_target_count(b->last); t++)
        ends |= can_end(b->last->target[t].block, seen);
    return ends;
}

/* What is owned when a loop without end is entered is owned for ever, counted or not. */
static bool ends(const ir_block *b) {
    bool seen[1024] = {0};
    assert_true(b->function->block_count <= 1024);
    return can_end(b, seen);
}

/* Owned IR in which one counting instruction is missing is never sound, wherever it stands that
 * a return can be reached. */
static void any_change_of_counting_is_seen(void **state) {
    (void)state;
    masu__rng rng;
    uint32_t changed = 0;
    masu__rng_seed(&rng, 11);
    for (int n = 0; n < 120; n++) {
        masu__arena arena = {0};
        pass_context context = {0};
        ir_module *m = support_random(&arena, &rng, n & 1);
        pass_lastuse(m, &context);
        pass_ownership(m, &context);
        if (n & 2)
            pass_slots(m, &context);
        for (uint32_t f = 0; f < m->function_count; f++) {
            for (uint32_t b = 0; b < m->functions[f]->block_count; b++) {
                for (ir_instr *i = m->functions[f]->blocks[b]->first, *next; i; i = next) {
                    next = i->next;
                    bool counts = i->op == IR_ACQUIRE || i->op == IR_RELEASE || i->op == IR_ROOT || i->op == IR_UNROOT;
                    if (!counts || masu__rng_below(&rng, 4) > 0 || !ends(i->block))
                        continue;
                    masu__buffer faults = {0};
                    ir_remove(i);
                    if (ir_verify(m, n & 2 ? IR_PHASE_ROOTED : IR_PHASE_OWNED, &faults)) {
                        ir_print_module(m, &faults);
                        fail_msg("not missed: %s of %%%u\n%s", ir_opcode_name(i->op), i->args[0],
                                 masu__buffer_text(&faults));
                    }
                    masu__buffer_destroy(&faults);
                    ir_insert_before(next, i);
                    changed++;
                }
            }
        }
        support_verify(m, n & 2 ? IR_PHASE_ROOTED : IR_PHASE_OWNED);
        masu__arena_destroy(&arena);
    }
    assert_true(changed > 500);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(structure),
        cmocka_unit_test(types),
        cmocka_unit_test(kernels_and_records),
        cmocka_unit_test(phases),
        cmocka_unit_test(owners),
        cmocka_unit_test(protection),
        cmocka_unit_test(broken_links),
        cmocka_unit_test(double_edges),
        cmocka_unit_test(any_change_of_counting_is_seen),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
