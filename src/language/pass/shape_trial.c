/* shape_trial.c: one call of an operation that is written in the language itself, run on what is known of shapes.
 *
 *     a.sum([0, 5])  ─►  dims = [0, 5], a: [2, 3]  ─►  for d in dims { … }  ─►  the sum along 5 of [1, 3] fails
 *
 * Each block on the way runs once for each time that the program would run it: values have the facts of that moment,
 * and lists know their elements. Where a condition is not known, both ways run, and the call fails when both do. Its
 * results are what the ways that return agree on; one that leads back to before the condition, as in a loop, would
 * change what the other way begins with, so such a call may return anything. There is room for BLOCKS_MAX blocks.
 *
 * What must stay true: what a run says of a value holds whenever the program runs that way. So what is not known has no
 * symbol of the callee, as the next round of a loop would give it the same one; the caller's symbols stay.
 */
#include <inttypes.h>
#include <string.h>

#include "base/assert.h"
#include "language/pass/shape_flow.h"

enum { BLOCKS_MAX = 128, DEEPEST_CALL = 6, LIST_MAX = 16 };

typedef struct trial_list trial_list;

typedef struct trial_object {
    const trial_list *list; /* NULL: nothing is known */
    const char *text;       /* of a string; NULL: nothing is known */
} trial_object;

typedef struct trial_item { /* what is known of a value, by its type */
    shape_fact shape;
    number_fact number;
    trial_object object;
} trial_item;

struct trial_list {
    uint32_t count;
    const trial_item *items;
};

/* One function with the facts of its values at this moment, those of a value in the array of its type. A value has one
 * from when its instruction has run: nothing is read before. */
typedef struct frame {
    const ir_function *f;
    shape_fact *facts;
    number_fact *numbers;
    trial_object *objects; /* NULL in the frame of the call: its lists are read off their values */
    uint32_t *rounds;      /* by block: when it ran last, counted from 1; 0: it has not */
    uint32_t round, fork;  /* the last one, and that of the latest condition that is not known */
    trial_item *results;   /* what the ways that have returned agree on */
    bool returns, is_lost; /* it has returned; its results are not known */
    int depth;
} frame;

typedef struct trial {
    shaper *s;
    uint32_t left;   /* blocks */
    bool incomplete; /* there was no room for more blocks, or no memory */
} trial;

static const shape_fact any_shape = {.state = SHAPE_IS_UNKNOWN};
static const number_fact any_number = {.state = SHAPE_IS_UNKNOWN};
static const struct trial_list no_elements = {0};

static shape_query query_of(trial *t, const frame *fr, const ir_instr *i) {
    return (shape_query){.f = fr->f, .i = i, .facts = fr->facts, .numbers = fr->numbers, .symbols = &t->s->symbols};
}

static trial_item item_of(trial *t, const frame *fr, ir_value v, uint32_t depth);

static void set_item(frame *fr, ir_value v, const trial_item *item) {
    ir_type type = ir_type_of(fr->f, v);
    fr->numbers[v] = shape_is_number(type) ? item->number : any_number; /* rules look at constants of any type */
    if (type == IR_TENSOR)
        fr->facts[v] = item->shape;
    else if (type == IR_OBJECT)
        fr->objects[v] = item->object;
}

/* ---- lists ------------------------------------------------------------------------------------------------------- */

static const trial_list *list_in(trial *t, const frame *fr, ir_value v, uint32_t depth);

/* The list with one element more; NULL: of more than one word, or too many. */
static const trial_list *with_pushed(trial *t, const frame *fr, const trial_list *list, const ir_instr *push,
                                     uint32_t depth) {
    const ir_instr *record = fr->f->values[push->args[1]].def;
    if (!list || list->count == LIST_MAX || !record || record->op != IR_RECORD || record->arg_count != 1)
        return NULL;
    trial_list *more = MASU_ARENA_NEW(&t->s->calls, trial_list);
    trial_item *items = MASU_ARENA_ARRAY(&t->s->calls, trial_item, list->count + 1);
    if (!more || !items)
        return NULL;
    if (list->count > 0)
        memcpy(items, list->items, list->count * sizeof items[0]);
    items[list->count] = item_of(t, fr, record->args[0], depth);
    *more = (trial_list){list->count + 1, items};
    return more;
}

/* The list as the program wrote it: [2, 3] is two pushes behind an empty list. */
static const trial_list *list_in(trial *t, const frame *fr, ir_value v, uint32_t depth) {
    const ir_instr *def = fr->f->values[v].def;
    if (fr->objects)
        return fr->objects[v].list;
    if (!def || def->op != IR_ABI || depth > LIST_MAX)
        return NULL;
    if (def->abi == TL_FN_tl_vec_new)
        return &no_elements;
    return def->abi == TL_FN_tl_vec_push ? with_pushed(t, fr, list_in(t, fr, def->args[0], depth + 1), def, depth + 1)
                                         : NULL;
}

static trial_item item_of(trial *t, const frame *fr, ir_value v, uint32_t depth) {
    ir_type type = ir_type_of(fr->f, v);
    trial_item item = {.shape = any_shape, .number = any_number};
    if (type == IR_TENSOR)
        item.shape = fr->facts[v];
    else if (shape_is_number(type))
        item.number = fr->numbers[v];
    else if (type == IR_OBJECT && fr->objects)
        item.object = fr->objects[v];
    else if (type == IR_OBJECT)
        item.object.list = list_in(t, fr, v, depth);
    return item;
}

/* The element that a call filled the record with just before: words of records are read behind their one writer. */
static trial_item read_word(trial *t, const frame *fr, const ir_instr *i) {
    const trial_item any = {.shape = any_shape, .number = any_number};
    const ir_instr *get = i->prev;
    while (get && !(get->op == IR_ABI && get->arg_count > 0 && get->args[get->arg_count - 1] == i->args[0]))
        get = get->prev;
    if (!get || (get->abi != TL_FN_tl_vec_get && get->abi != TL_FN_tl_vec_at) || i->imm.i != 0)
        return any;
    shape_query q = query_of(t, fr, get);
    const trial_list *list = list_in(t, fr, get->args[0], 0);
    int64_t at;
    bool there = list && shape_known_number(&q, get->args[1], &at) && at >= 0 && at < list->count;
    return there ? list->items[at] : any;
}

/* ---- texts ------------------------------------------------------------------------------------------------------- */

/* Which trait asks is all that `how` says: a number is written plainly. */
static bool is_plain(const shape_query *q, ir_value how) {
    int64_t bits;
    return shape_known_number(q, how, &bits) && (bits & ~INT64_C(0x3e00000000000000)) == 0;
}

static const char *number_text(trial *t, const shape_query *q) {
    int64_t number;
    bool known = shape_known_number(q, q->i->args[0], &number) && is_plain(q, q->i->args[1]);
    return known ? masu__arena_printf(&t->s->calls, "%" PRId64, number) : NULL;
}

static const char *literal_text(trial *t, const shape_query *q) {
    const ir_instr *bytes = q->f->values[q->i->args[0]].def;
    return bytes && bytes->op == IR_BYTES
               ? masu__arena_strndup(&t->s->calls, bytes->imm.bytes.data, bytes->imm.bytes.length)
               : NULL;
}

/* Of `x.shape()`, where x has one without symbols. */
static const char *shape_tensor_text(trial *t, const shape_query *q) {
    const ir_instr *def = q->f->values[q->i->args[0]].def;
    if (!def || def->op != IR_ABI || def->abi != TL_FN_tl_tensor_shape || !is_plain(q, q->i->args[1]))
        return NULL;
    const shape_fact *fact = shape_fact_of(q, def->args[0]);
    masu__buffer text = {0};
    bool known = fact->state == SHAPE_IS_KNOWN;
    for (uint32_t d = 0; known && d < fact->shape.rank; d++)
        known = fact->shape.dim[d] >= 0;
    if (known)
        shape_put(q->symbols, &fact->shape, &text);
    const char *kept = known && !text.failed ? masu__arena_strdup(&t->s->calls, masu__buffer_text(&text)) : NULL;
    masu__buffer_destroy(&text);
    return kept;
}

static const char *text_made(trial *t, const frame *fr, const shape_query *q) {
    const ir_value *args = q->i->args;
    const char *a, *b;
    switch (q->i->abi) {
    case TL_FN_tl_string_literal:
        return literal_text(t, q);
    case TL_FN_tl_text_i64:
        return number_text(t, q);
    case TL_FN_tl_text_tensor:
        return shape_tensor_text(t, q);
    case TL_FN_tl_string_concat:
    case TL_FN_tl_string_append:
        a = fr->objects[args[0]].text;
        b = fr->objects[args[1]].text;
        return a && b ? masu__arena_printf(&t->s->calls, "%s%s", a, b) : NULL;
    default:
        return NULL;
    }
}

static bool has_shape(const frame *fr, ir_value v) {
    return ir_type_of(fr->f, v) == IR_TENSOR && fr->facts[v].state == SHAPE_IS_KNOWN;
}

/* `__refuse` of the library is an operation's refusal of its operands; a panic is what the program does. */
static void say_refusal(const frame *fr, const ir_instr *i, shape_fault *fault) {
    const char *text = i->abi == TL_FN_tl_refuse ? fr->objects[i->args[1]].text : NULL;
    if (!text)
        return;
    shape_say(fault, SAY(operation_refuses_its_operands), text);
    for (uint32_t p = 0; p < fr->f->param_count; p++)
        if (has_shape(fr, fr->f->params[p]) && fault->about_count < 2)
            shape_blame(fault, fr->f->params[p]);
}

/* ---- one instruction --------------------------------------------------------------------------------------------- */

static bool run_call(trial *t, frame *fr, const ir_instr *i, shape_fault *fault);

static trial_item made_by(trial *t, const frame *fr, const ir_instr *i, shape_fact shape) {
    shape_query q = query_of(t, fr, i);
    trial_item item = {.shape = shape, .number = any_number};
    ir_type type = ir_type_of(fr->f, i->result);
    bool on_object = i->arg_count > 0 && ir_type_of(fr->f, i->args[0]) == IR_OBJECT;
    const trial_list *list = on_object ? fr->objects[i->args[0]].list : NULL;
    if (i->op == IR_RECORD_WORD)
        return read_word(t, fr, i);
    if (shape_is_number(type))
        item.number = shape_number_apply(&q);
    if (i->op != IR_ABI)
        return item;
    if (i->abi == TL_FN_tl_vec_len && list)
        item.number = (number_fact){.state = SHAPE_IS_KNOWN, .number = list->count};
    else if (i->abi == TL_FN_tl_vec_new)
        item.object.list = &no_elements;
    else if (i->abi == TL_FN_tl_vec_push)
        item.object.list = with_pushed(t, fr, list, i, 0);
    else if (type == IR_OBJECT)
        item.object.text = text_made(t, fr, &q);
    return item;
}

/* True: it fails. A panic whose text is not known fails, but says nothing. */
static bool run_instr(trial *t, frame *fr, const ir_instr *i, shape_fault *fault) {
    const trial_item any = {.shape = any_shape, .number = any_number};
    shape_query q = query_of(t, fr, i);
    shape_fact shape = any_shape;
    if (i->op == IR_CALL)
        return run_call(t, fr, i, fault);
    if (ir_is_panic(i)) {
        say_refusal(fr, i, fault);
        return true;
    }
    if (i->op == IR_ABI || i->op == IR_COMPREHEND)
        shape = shape_rule_apply(&q, fault);
    if (fault->text.length > 0)
        return true;
    for (uint32_t r = 0; r < i->result_count; r++) {
        trial_item made = i->result_count == 1 ? made_by(t, fr, i, shape) : any;
        set_item(fr, i->result + r, &made);
    }
    return false;
}

/* ---- ways -------------------------------------------------------------------------------------------------------- */

static bool run_from(trial *t, frame *fr, const ir_block *b, shape_fault *fault);

/* The parameters all change at once. */
static void enter(trial *t, frame *fr, const ir_target *target) {
    trial_item *items = MASU_ARENA_ARRAY(&t->s->calls, trial_item, target->count);
    t->incomplete |= !items;
    for (uint32_t a = 0; items && a < target->count; a++)
        items[a] = item_of(t, fr, target->args[a], 0);
    for (uint32_t a = 0; items && a < target->count; a++)
        set_item(fr, target->block->params[a], &items[a]);
}

static void meet_item(trial_item *known, const trial_item *other) {
    shape_fact_meet(&known->shape, &other->shape);
    number_fact_meet(&known->number, &other->number);
    known->object.list = known->object.list == other->object.list ? known->object.list : NULL;
    known->object.text = known->object.text == other->object.text ? known->object.text : NULL;
}

static void meet_results(trial *t, frame *fr, const ir_instr *ret) {
    for (uint32_t r = 0; r < ret->arg_count; r++) {
        trial_item item = item_of(t, fr, ret->args[r], 0);
        if (fr->returns)
            meet_item(&fr->results[r], &item);
        else
            fr->results[r] = item;
    }
    fr->returns = true;
}

/* Facts are not read before they are set: no need to clear them. */
static bool give_room(trial *t, frame *fr) {
    size_t count = fr->f->value_count;
    fr->facts = masu__arena_alloc(&t->s->calls, count * sizeof fr->facts[0], _Alignof(shape_fact));
    fr->numbers = masu__arena_alloc(&t->s->calls, count * sizeof fr->numbers[0], _Alignof(number_fact));
    fr->objects = masu__arena_alloc(&t->s->calls, count * sizeof fr->objects[0], _Alignof(trial_object));
    return fr->facts && fr->numbers && fr->objects;
}

/* Both ways on. The fault is that of the first one that says something. */
static bool run_both(trial *t, frame *fr, const ir_instr *branch, shape_fault *fault) {
    shape_fault other = {.symbols = fault->symbols};
    uint32_t outer = fr->fork;
    fr->fork = fr->round;
    enter(t, fr, &branch->target[0]);
    bool fails = run_from(t, fr, branch->target[0].block, fault);
    bool asked = fails || fr->depth > 1; /* else the call does not fail, and its results are not asked for */
    if (asked && !fr->is_lost && !t->incomplete) {
        enter(t, fr, &branch->target[1]);
        fails &= run_from(t, fr, branch->target[1].block, fault->text.length > 0 ? &other : fault);
    }
    fr->fork = outer;
    masu__buffer_destroy(&other.text);
    return fails && !fr->is_lost && !t->incomplete;
}

/* True: every way from the block on fails. */
static bool run_from(trial *t, frame *fr, const ir_block *b, shape_fault *fault) {
    for (; t->left > 0 && !t->incomplete; t->left--) {
        fr->is_lost |= fr->rounds[b->id] > 0 && fr->rounds[b->id] <= fr->fork;
        if (fr->is_lost)
            return false;
        fr->rounds[b->id] = ++fr->round;
        for (const ir_instr *i = b->first; i != b->last; i = i->next)
            if (run_instr(t, fr, i, fault))
                return true;
        const ir_instr *last = b->last;
        if (last->op == IR_RET)
            meet_results(t, fr, last);
        if (last->op != IR_JUMP && last->op != IR_BRANCH)
            return last->op == IR_UNREACHABLE;
        shape_query q = query_of(t, fr, last);
        unsigned takes = last->op == IR_JUMP ? SHAPE_TAKES_FIRST : shape_condition(&q, last->args[0]);
        if (takes != SHAPE_TAKES_FIRST && takes != SHAPE_TAKES_SECOND) {
            t->left--;
            return run_both(t, fr, last, fault);
        }
        const ir_target *target = &last->target[takes == SHAPE_TAKES_FIRST ? 0 : 1];
        enter(t, fr, target);
        b = target->block;
    }
    t->incomplete = true;
    return false;
}

/* ---- calls ------------------------------------------------------------------------------------------------------- */

static bool open_frame(trial *t, const frame *outer, const ir_instr *call, frame *fr) {
    const ir_function *f = call->callee;
    *fr = (frame){.f = f, .depth = outer->depth + 1};
    fr->results = MASU_ARENA_ARRAY(&t->s->calls, trial_item, f->result_count);
    fr->rounds = MASU_ARENA_ARRAY(&t->s->calls, uint32_t, f->block_count);
    if (!fr->results || !fr->rounds || !give_room(t, fr))
        return false;
    for (uint32_t a = 0; a < call->arg_count; a++) {
        trial_item item = item_of(t, outer, call->args[a], 0);
        set_item(fr, f->params[a], &item);
    }
    return true;
}

/* Replaces the callee's parameters in the fault by the call's arguments. */
static void in_terms_of_caller(const frame *outer, const ir_instr *call, shape_fault *fault) {
    uint32_t kept = 0;
    for (uint32_t n = 0; n < fault->about_count; n++)
        for (uint32_t a = 0; a < call->arg_count; a++)
            if (call->callee->params[a] == fault->about[n]) {
                fault->about[kept++] = call->args[a];
                break;
            }
    fault->about_count = kept;
    for (uint32_t a = 0; a < call->arg_count && kept == 0 && fault->about_count < 2; a++)
        if (has_shape(outer, call->args[a])) /* what it was made of */
            shape_blame(fault, call->args[a]);
}

/* The results lie in fr->results where the callee returns. */
static bool run_callee(trial *t, const frame *outer, const ir_instr *i, frame *fr, shape_fault *fault) {
    bool followed = shape_is_library(i->callee) && i->callee->block_count > 0 && outer->depth < DEEPEST_CALL;
    bool fails = followed && open_frame(t, outer, i, fr) && run_from(t, fr, i->callee->blocks[0], fault);
    if (fails)
        in_terms_of_caller(outer, i, fault);
    else { /* some way may have */
        masu__buffer_truncate(&fault->text, 0);
        fault->about_count = 0;
    }
    return fails;
}

static bool run_call(trial *t, frame *fr, const ir_instr *i, shape_fault *fault) {
    const trial_item any = {.shape = any_shape, .number = any_number};
    frame inner = {0};
    if (run_callee(t, fr, i, &inner, fault))
        return true;
    for (uint32_t r = 0; r < i->result_count; r++)
        set_item(fr, i->result + r, inner.returns && !inner.is_lost && !t->incomplete ? &inner.results[r] : &any);
    return false;
}

/* Shapes have a say in it, or it looks at its operands itself. */
static bool may_fail(shaper *s, const ir_function *f) {
    bool found = shape_facts_of(s, f)->refuses;
    for (uint32_t p = 0; p < f->param_count && !found; p++)
        found = ir_type_of(f, f->params[p]) == IR_TENSOR;
    for (uint32_t r = 0; r < f->result_count && !found; r++)
        found = f->results[r] == IR_TENSOR;
    return found;
}

void shape_try_call(shaper *s, const ir_function *f, const ir_instr *call, shape_fault *fault) {
    if (!may_fail(s, call->callee))
        return;
    function_facts *ff = shape_facts_of(s, f);
    trial t = {.s = s, .left = BLOCKS_MAX};
    const frame outer = {.f = f, .facts = ff->facts, .numbers = ff->numbers};
    frame inner = {0};
    masu__arena_mark mark = masu__arena_get_mark(&s->calls);
    run_callee(&t, &outer, call, &inner, fault);
    masu__arena_release(&s->calls, mark);
}
