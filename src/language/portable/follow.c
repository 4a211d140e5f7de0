/* follow.c: what is known of the values of one function when it is called from one place.
 *
 * Facts flow forward, optimistically: a value has none until something reaches it, and then what all ways of reaching
 * it agree on; only branches that can be taken are followed. Where ways disagree on the shape of a tensor or the length
 * of a list, which happens in loops that gather parts, the one way through is followed turn by turn, if every condition
 * on it is known ("traced"). So it is where they disagree on numbers that may be a shape, if that is done in the few
 * turns that a shape has lengths; otherwise those numbers are not known.
 */
#include "language/portable/portable.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "language/ir/cfg.h"

enum { DEEPEST = 64, MOST_TURNS = 4096, TURNS_OF_A_SHAPE = 8 * TL_MAX_RANK };

/* ---- saying no --------------------------------------------------------------------------------------------------- */

source_span portable_place(const portable *p, const frame *where, source_span span) {
    const source_file *hidden = p->options->carried->prelude;
    while (where && (!span.file || span.file == hidden)) {
        span = where->at;
        where = where->caller;
    }
    return span.file == hidden ? (source_span){0} : span;
}

void portable_refuse(portable *p, const frame *where, source_span span, const char *format, ...) {
    va_list arguments;
    if (portable_stopped(p))
        return;
    va_start(arguments, format);
    const char *text = masu__arena_vprintf(&p->arena, format, arguments);
    va_end(arguments);
    p->refused = true;
    if (text)
        p->options->refuse(p->options->user, portable_place(p, where, span), text);
    else
        p->out_of_memory = true;
}

/* ---- facts ------------------------------------------------------------------------------------------------------- */

/* The facts that both share. Lists: word by word. */
static fact meet(portable *p, const fact *a, const fact *b) {
    if (a->kind == FACT_UNSET)
        return *b;
    if (b->kind == FACT_UNSET || fact_same(a, b))
        return *a;
    if (a->kind == FACT_TEXT && b->kind == FACT_TEXT)
        return fact_of(FACT_TEXT);
    if (a->kind == FACT_TENSOR && b->kind == FACT_TENSOR) { /* perhaps only the elements differ */
        fact x = *a, y = *b;
        x.list = y.list = NULL;
        return fact_same(&x, &y) ? x : fact_of(FACT_ANY);
    }
    if (a->kind != FACT_LIST || b->kind != FACT_LIST || a->list->count != b->list->count ||
        a->list->width != b->list->width)
        return fact_of(FACT_ANY);
    uint32_t count = a->list->count * a->list->width;
    fact *words = MASU_ARENA_ARRAY(&p->arena, fact, count + 1);
    fact_list *list = MASU_ARENA_NEW(&p->arena, fact_list);
    if (!words || !list) {
        p->out_of_memory = true;
        return fact_of(FACT_ANY);
    }
    for (uint32_t k = 0; k < count; k++)
        words[k] = meet(p, &a->list->words[k], &b->list->words[k]);
    *list = *a->list;
    list->words = words;
    return (fact){.kind = FACT_LIST, .list = list};
}

/* The rules of shapes read facts of their own kind. */
static void tell_rules(frame *fr, ir_value v) {
    const fact *known = &fr->facts[v];
    shape_fact *shape = &fr->shapes[v];
    number_fact *number = &fr->numbers[v];
    *shape = (shape_fact){.state = known->kind == FACT_UNSET ? SHAPE_IS_UNSET : SHAPE_IS_UNKNOWN};
    *number = (number_fact){.state = known->kind == FACT_UNSET ? SHAPE_IS_UNSET : SHAPE_IS_UNKNOWN};
    if (known->kind == FACT_NUMBER && !ir_type_float(ir_type_of(fr->f, v)))
        *number = (number_fact){.state = SHAPE_IS_KNOWN, .number = known->i};
    if (known->kind != FACT_TENSOR)
        return;
    shape->state = SHAPE_IS_KNOWN;
    shape->shape = (ir_shape){.known_rank = true, .rank = (uint8_t)known->rank};
    memcpy(shape->shape.dim, known->dim, sizeof shape->shape.dim);
}

static void set_fact(frame *fr, ir_value v, fact known) {
    fr->facts[v] = known;
    tell_rules(fr, v);
}

/* ---- lists ------------------------------------------------------------------------------------------------------- */

static fact new_list(portable *p, uint32_t count, uint32_t width, fact **words, const leaf *leaves) {
    fact_list *list = MASU_ARENA_NEW(&p->arena, fact_list);
    *words = MASU_ARENA_ARRAY(&p->arena, fact, (size_t)count * width + 1);
    if (!list || !*words) {
        p->out_of_memory = true;
        return fact_of(FACT_ANY);
    }
    *list = (fact_list){count, width, *words, leaves};
    return (fact){.kind = FACT_LIST, .list = list};
}

static fact record_of(portable *p, const frame *fr, const ir_instr *i) {
    fact *words;
    leaf *leaves = MASU_ARENA_ARRAY(&p->arena, leaf, i->arg_count + 1);
    fact made = new_list(p, 1, i->arg_count, &words, leaves);
    if (!words || !leaves) {
        p->out_of_memory = true;
        return fact_of(FACT_ANY);
    }
    for (uint32_t k = 0; k < i->arg_count; k++) {
        words[k] = fr->facts[i->args[k]];
        leaves[k] = (leaf){fr->f->values[i->args[k]].name, ir_type_of(fr->f, i->args[k])};
    }
    return made;
}

/* The list with one more element, or with another at `at`. */
static fact with_element(portable *p, const fact *list, int64_t at, const fact *element) {
    fact *words;
    const fact_list *l = list->list;
    uint32_t width = l->count > 0 ? l->width : element->list->width;
    uint32_t count = at == l->count ? l->count + 1 : l->count;
    fact made = new_list(p, count, width, &words, element->list->leaves ? element->list->leaves : l->leaves);
    if (!words)
        return made;
    memcpy(words, l->words, sizeof *words * l->count * l->width);
    memcpy(words + (size_t)at * width, element->list->words, sizeof *words * width);
    return made;
}

static bool is_list(const fact *f) {
    return f->kind == FACT_LIST;
}

static bool index_in(const fact *list, const fact *index, int64_t *at) {
    *at = index->i;
    return is_list(list) && index->kind == FACT_NUMBER && index->i >= 0 && index->i < list->list->count;
}

static fact element_of(portable *p, const fact *list, int64_t at) {
    fact *words;
    uint32_t width = list->list->width;
    fact made = new_list(p, 1, width, &words, list->list->leaves);
    if (words)
        memcpy(words, list->list->words + (size_t)at * width, sizeof *words * width);
    return made;
}

/* False: it is not one of a list. */
static bool evaluate_list(portable *p, frame *fr, const ir_instr *i) {
    const fact *a = i->arg_count > 0 ? &fr->facts[i->args[0]] : NULL,
               *b = i->arg_count > 1 ? &fr->facts[i->args[1]] : NULL;
    fact *words;
    int64_t at;
    switch (i->abi) {
    case TL_FN_tl_vec_new:
        set_fact(fr, i->result, new_list(p, 0, 0, &words, NULL));
        return true;
    case TL_FN_tl_vec_reserve:
    case TL_FN_tl_vec_unshare:
        set_fact(fr, i->result, *a);
        return true;
    case TL_FN_tl_vec_len:
        set_fact(fr, i->result, is_list(a) ? (fact){.kind = FACT_NUMBER, .i = a->list->count} : fact_of(FACT_ANY));
        return true;
    case TL_FN_tl_vec_push:
        set_fact(fr, i->result, is_list(a) && is_list(b) ? with_element(p, a, a->list->count, b) : fact_of(FACT_ANY));
        return true;
    case TL_FN_tl_vec_set:
        set_fact(fr, i->result,
                 index_in(a, b, &at) && is_list(&fr->facts[i->args[2]]) ? with_element(p, a, at, &fr->facts[i->args[2]])
                                                                        : fact_of(FACT_ANY));
        return true;
    case TL_FN_tl_vec_get:
    case TL_FN_tl_vec_at:
    case TL_FN_tl_vec_take:
        set_fact(fr, i->args[2], index_in(a, b, &at) ? element_of(p, a, at) : fact_of(FACT_ANY));
        if (i->result_count > 0)
            set_fact(fr, i->result, *a);
        return true;
    default:
        return false;
    }
}

/* ---- what comes in and goes out ---------------------------------------------------------------------------------- */

static bool evaluate_border(portable *p, frame *fr, const ir_instr *i) {
    int64_t index;
    switch (i->abi) {
    case TL_FN_tl_call_tensor:
    case TL_FN_tl_call_object:
    case TL_FN_tl_call_f64:
    case TL_FN_tl_call_i64:
    case TL_FN_tl_call_bool:
        if (ir_const_int(fr->f, i->args[0], &index))
            set_fact(fr, i->result, p->arguments[index]);
        return true;
    case TL_FN_tl_give_tensor:
    case TL_FN_tl_give_object:
    case TL_FN_tl_give_f64:
    case TL_FN_tl_give_i64:
        if (ir_const_int(fr->f, i->args[0], &index) &&
            index < (int64_t)(sizeof p->now->given / sizeof p->now->given[0]))
            p->now->given[index] = fr->facts[i->args[1]];
        return true;
    default:
        return false;
    }
}

/* A text that is written out, or one that is made of others. */
static bool evaluate_text(frame *fr, const ir_instr *i) {
    const char *symbol = tl_abi_functions[i->abi].symbol;
    bool makes = strncmp(symbol, "tl_text_", 8) == 0 || i->abi == TL_FN_tl_string_literal ||
                 i->abi == TL_FN_tl_string_concat || i->abi == TL_FN_tl_string_append || i->abi == TL_FN_tl_string_push;
    fact made = fact_of(FACT_TEXT);
    if (i->abi == TL_FN_tl_string_literal) {
        const ir_instr *bytes = fr->f->values[i->args[0]].def;
        made.text = bytes && bytes->op == IR_BYTES ? bytes->imm.bytes.data : NULL;
    }
    if (makes)
        set_fact(fr, i->result, made);
    return makes;
}

/* ---- calls ------------------------------------------------------------------------------------------------------- */

static bool is_on_the_way(const frame *fr, const ir_function *f) {
    for (; fr; fr = fr->caller)
        if (fr->f == f || (f->specialised_from && fr->f->specialised_from == f->specialised_from))
            return true;
    return false;
}

static void evaluate_call(portable *p, frame *fr, const ir_instr *i) {
    const ir_function *callee = i->callee;
    bool again = is_on_the_way(fr, callee);
    fact *arguments = MASU_ARENA_ARRAY(&p->arena, fact, i->arg_count + 1);
    if (!arguments) {
        p->out_of_memory = true;
        return;
    }
    if (again && !portable_is_plain(callee)) {
        portable_refuse(p, fr, i->span, "`%s` calls itself with tensors, for which plain C has no arena: write a loop",
                        callee->name);
        return;
    }
    for (uint32_t k = 0; k < i->arg_count; k++)
        arguments[k] = fr->facts[i->args[k]];
    const frame *called = again ? NULL : portable_follow(p, fr, i->span, callee, arguments);
    fr->cut[i->block->id] = called && !called->returns ? i : NULL;
    for (uint32_t r = 0; r < i->result_count; r++)
        set_fact(fr, i->result + r, called ? called->results[r] : fact_of(FACT_ANY));
}

/* ---- one instruction --------------------------------------------------------------------------------------------- */

/* There is no history in plain C: what asks for one, or that there is none, is said already. */
static bool is_of_history(const ir_instr *i) {
    return i->op == IR_ABI && (i->abi == TL_FN_tl_tensor_require_untracked || i->abi == TL_FN_tl_tensor_keep_grad ||
                               i->abi == TL_FN_tl_grad_loop_enter || i->abi == TL_FN_tl_grad_loop_exit ||
                               i->abi == TL_FN_tl_clear_grads || i->abi == TL_FN_tl_clear_all_grads);
}

/* Decided where the operand's facts are: nothing of it is left in C. */
static bool is_statement(const ir_instr *i) {
    return i->op == IR_ABI && (i->abi == TL_FN_tl_tensor_stated || i->abi == TL_FN_tl_tensor_read_as);
}

static void judge_statement(portable *p, frame *fr, const ir_instr *i) {
    const fact *t = &fr->facts[i->args[0]], *dtype = &fr->facts[i->args[1]];
    if (i->abi == TL_FN_tl_tensor_read_as) {
        if (t->kind == FACT_TENSOR && !portable_reads_exactly(t->dtype, (tl_dtype)dtype->i))
            portable_refuse(p, fr, i->span, "nothing says here what this tensor holds, and it is read as less");
        return;
    }
    const fact *rank = &fr->facts[i->args[2]];
    if (t->kind == FACT_TENSOR &&
        ((dtype->i >= 0 && dtype->i != (int64_t)t->dtype) || (rank->i >= 0 && rank->i != t->rank)))
        portable_refuse(p, fr, i->span, "this tensor has another element type or rank than is stated here");
}

bool portable_reads_exactly(tl_dtype held, tl_dtype as) {
    return held == as || held == TL_BOOL || (held == TL_F32 && as == TL_F64);
}

bool portable_passes_over(const ir_instr *i) {
    return is_of_history(i) || is_statement(i) || i->op == IR_KEEP || i->op == IR_ACQUIRE || i->op == IR_RELEASE ||
           i->op == IR_ROOT || i->op == IR_UNROOT;
}

static void evaluate_abi(portable *p, frame *fr, const ir_instr *i) {
    if (evaluate_border(p, fr, i) || evaluate_list(p, fr, i) || evaluate_text(fr, i))
        return;
    if (i->result_count == 0)
        return;
    set_fact(fr, i->result, portable_tensor(p, fr, i));
}

void portable_evaluate(portable *p, frame *fr, const ir_instr *i) {
    const fact *word;
    if (is_statement(i))
        judge_statement(p, fr, i);
    if (portable_passes_over(i) || ir_is_terminator(i->op))
        return;
    switch (i->op) {
    case IR_ABI:
        evaluate_abi(p, fr, i);
        break;
    case IR_COMPREHEND:
        set_fact(fr, i->result, portable_tensor(p, fr, i));
        break;
    case IR_CALL:
        evaluate_call(p, fr, i);
        break;
    case IR_NOTHING:
        set_fact(fr, i->result, fact_of(FACT_NOTHING));
        break;
    case IR_RECORD:
        set_fact(fr, i->result, record_of(p, fr, i));
        break;
    case IR_RECORD_EMPTY:
        break; /* what fills it says it */
    case IR_RECORD_WORD:
        word = &fr->facts[i->args[0]];
        set_fact(fr, i->result,
                 is_list(word) && i->imm.i < word->list->width ? word->list->words[i->imm.i] : fact_of(FACT_ANY));
        break;
    case IR_BYTES:
    case IR_RECORD_TYPE:
        set_fact(fr, i->result, fact_of(FACT_ANY));
        break;
    default:
        set_fact(fr, i->result, portable_number(fr->f, i, fr->facts));
        break;
    }
}

/* ---- all ways at once -------------------------------------------------------------------------------------------- */

bool portable_takes(const frame *fr, const ir_instr *terminator, int which) {
    if (terminator->op != IR_BRANCH)
        return true;
    const fact *condition = &fr->facts[terminator->args[0]];
    return condition->kind == FACT_ANY || (condition->kind == FACT_NUMBER && (condition->i != 0) == (which == 0));
}

typedef struct walk {
    portable *p;
    frame *fr;
    bool news;    /* a block is new, or knows less */
    bool differs; /* ways disagree on a shape or a length */
    bool follows; /* numbers that may be a shape count as well */
} walk;

static void bring(walk *w, ir_value to, const fact *brought) {
    frame *fr = w->fr;
    fact met = meet(w->p, &fr->facts[to], brought);
    w->differs |= w->follows && fact_numbers_differ(&fr->facts[to], brought);
    if (fact_same(&met, &fr->facts[to]))
        return;
    ir_type type = ir_type_of(fr->f, to);
    w->differs |= met.kind == FACT_ANY && (ir_type_managed(type) || type == IR_ADDRESS);
    set_fact(fr, to, met);
    w->news = true;
}

static void leave_block(walk *w, const ir_block *b) {
    const ir_instr *last = b->last;
    frame *fr = w->fr;
    for (int t = 0; t < ir_target_count(last); t++) {
        const ir_block *to = last->target[t].block;
        if (!portable_takes(fr, last, t))
            continue;
        w->news |= !fr->taken[to->id];
        fr->taken[to->id] = true;
        for (uint32_t a = 0; a < last->target[t].count; a++)
            bring(w, to->params[a], &fr->facts[last->target[t].args[a]]);
    }
    for (uint32_t r = 0; last->op == IR_RET && r < last->arg_count; r++)
        fr->results[r] = meet(w->p, &fr->results[r], &fr->facts[last->args[r]]);
    fr->returns |= last->op == IR_RET;
}

/* False: its end is not reached. */
static bool evaluate_block(portable *p, frame *fr, const ir_block *b) {
    fr->cut[b->id] = NULL;
    for (const ir_instr *i = b->first; i && !fr->cut[b->id] && !portable_stopped(p); i = i->next)
        portable_evaluate(p, fr, i);
    return !fr->cut[b->id];
}

static bool flow(portable *p, frame *fr, bool follows) {
    ir_order order;
    walk w = {.p = p, .fr = fr, .news = true, .follows = follows};
    if (!ir_order_compute(&order, fr->f, &p->arena)) {
        p->out_of_memory = true;
        return false;
    }
    fr->taken[0] = true;
    while (w.news && !w.differs && !portable_stopped(p)) {
        w.news = false;
        fr->returns = false;
        for (uint32_t r = 0; r < fr->f->result_count; r++)
            fr->results[r] = fact_of(FACT_UNSET);
        for (uint32_t k = 0; k < order.count && !portable_stopped(p) && !w.differs; k++) {
            if (!fr->taken[order.blocks[k]->id])
                continue;
            if (evaluate_block(p, fr, order.blocks[k]))
                leave_block(&w, order.blocks[k]);
        }
    }
    return !w.differs;
}

/* ---- one way, turn by turn --------------------------------------------------------------------------------------- */

const ir_block *portable_next(portable *p, frame *fr, const ir_block *b) {
    const ir_instr *last = b->last;
    if (last->op == IR_RET || ir_target_count(last) == 0)
        return NULL;
    int t = 0;
    if (last->op == IR_BRANCH) {
        const fact *condition = &fr->facts[last->args[0]];
        if (condition->kind != FACT_NUMBER) {
            portable_refuse(p, fr, last->span,
                            "which shapes there are depends on numbers that are not known here: plain C needs them "
                            "when it is written");
            return NULL;
        }
        t = condition->i ? 0 : 1;
    }
    const ir_target *target = &last->target[t];
    fact brought[256];
    if (target->count > sizeof brought / sizeof brought[0]) {
        portable_refuse(p, fr, last->span, "too many variables live through this loop");
        return NULL;
    }
    for (uint32_t a = 0; a < target->count; a++)
        brought[a] = fr->facts[target->args[a]];
    for (uint32_t a = 0; a < target->count; a++)
        set_fact(fr, target->block->params[a], brought[a]);
    return target->block;
}

/* Whether the way through is found: within so many blocks, and each turn of it known. */
static bool trace(portable *p, frame *fr, uint32_t most) {
    uint32_t turns = 0;
    fr->traced = true;
    for (const ir_block *b = fr->f->blocks[0]; b && !portable_stopped(p);) {
        if (++turns > most) {
            if (most == MOST_TURNS)
                portable_refuse(p, fr, b->last->span, "a loop in which shapes change takes more than %s turns", "4096");
            return false;
        }
        if (!evaluate_block(p, fr, b))
            return true;
        for (uint32_t r = 0; b->last->op == IR_RET && r < b->last->arg_count; r++)
            fr->results[r] = fr->facts[b->last->args[r]];
        fr->returns |= b->last->op == IR_RET;
        if (most < MOST_TURNS && b->last->op == IR_BRANCH && fr->facts[b->last->args[0]].kind != FACT_NUMBER)
            return false;
        b = portable_next(p, fr, b);
    }
    return true;
}

/* ---- a function -------------------------------------------------------------------------------------------------- */

static frame *new_frame(portable *p, const frame *caller, source_span at, const ir_function *f, const fact *arguments) {
    frame *fr = MASU_ARENA_NEW(&p->arena, frame);
    if (!fr)
        return NULL;
    *fr = (frame){.caller = caller, .at = at, .f = f};
    fr->facts = MASU_ARENA_ARRAY(&p->arena, fact, f->value_count + 1);
    fr->shapes = MASU_ARENA_ARRAY(&p->arena, shape_fact, f->value_count + 1);
    fr->numbers = MASU_ARENA_ARRAY(&p->arena, number_fact, f->value_count + 1);
    fr->taken = MASU_ARENA_ARRAY(&p->arena, bool, f->block_count + 1);
    fr->results = MASU_ARENA_ARRAY(&p->arena, fact, f->result_count + 1);
    fr->cut = MASU_ARENA_ARRAY(&p->arena, const ir_instr *, f->block_count + 1);
    if (!fr->cut || !fr->facts || !fr->shapes || !fr->numbers || !fr->taken || !fr->results)
        return NULL;
    for (uint32_t k = 0; k < f->param_count; k++)
        set_fact(fr, f->params[k], arguments[k]);
    return fr;
}

static frame *again(portable *p, const frame *caller, source_span at, const ir_function *f, const fact *arguments) {
    frame *fr = new_frame(p, caller, at, f, arguments);
    p->out_of_memory |= !fr;
    return fr;
}

/* Where ways disagree: in few turns, as a shape has, or without the numbers that may be one, or in all its turns. */
static frame *turn_by_turn(portable *p, const frame *caller, source_span at, const ir_function *f,
                           const fact *arguments) {
    frame *fr = again(p, caller, at, f, arguments);
    if (!fr || trace(p, fr, TURNS_OF_A_SHAPE) || portable_stopped(p))
        return fr;
    fr = again(p, caller, at, f, arguments);
    if (!fr || flow(p, fr, false) || portable_stopped(p))
        return fr;
    fr = again(p, caller, at, f, arguments);
    if (fr)
        trace(p, fr, MOST_TURNS);
    return fr;
}

frame *portable_follow(portable *p, const frame *caller, source_span at, const ir_function *f, const fact *arguments) {
    if (p->depth == DEEPEST) {
        portable_refuse(p, caller, at, "calls are nested more than %s deep here", "64");
        return NULL;
    }
    frame *fr = new_frame(p, caller, at, f, arguments);
    if (!fr) {
        p->out_of_memory = true;
        return NULL;
    }
    p->depth++;
    if (!flow(p, fr, true) && !portable_stopped(p))
        fr = turn_by_turn(p, caller, at, f, arguments);
    p->depth--;
    return portable_stopped(p) ? NULL : fr;
}

/* ---- functions of numbers ---------------------------------------------------------------------------------------- */

static bool is_plain_abi(tl_abi_index abi) {
    return abi == TL_FN_tl_f64_to_bits || abi == TL_FN_tl_f64_from_bits || abi == TL_FN_tl_f32_to_bits ||
           abi == TL_FN_tl_f32_from_bits || abi == TL_FN_tl_panic || abi == TL_FN_tl_refuse || abi == TL_FN_tl_assert ||
           strncmp(tl_abi_functions[abi].symbol, "tl_string_", 10) == 0 ||
           strncmp(tl_abi_functions[abi].symbol, "tl_text_", 8) == 0;
}

static bool is_plain_inside(const ir_function *f, uint32_t deep, const ir_function *top) {
    for (uint32_t v = 0; v < f->param_count; v++)
        if (ir_type_managed(ir_type_of(f, f->params[v])) || ir_type_of(f, f->params[v]) == IR_ADDRESS)
            return false;
    for (uint32_t r = 0; r < f->result_count; r++)
        if (ir_type_managed(f->results[r]) || f->results[r] == IR_ADDRESS)
            return false;
    for (uint32_t b = 0; b < f->block_count; b++)
        for (const ir_instr *i = f->blocks[b]->first; i; i = i->next) {
            if (i->op == IR_COMPREHEND || i->op == IR_NOTHING || i->op == IR_RECORD || i->op == IR_RECORD_EMPTY ||
                i->op == IR_RECORD_TYPE || (i->op == IR_ABI && !is_plain_abi(i->abi)))
                return false;
            if (i->op == IR_CALL && i->callee != f && i->callee != top &&
                (deep == 0 || !is_plain_inside(i->callee, deep - 1, top)))
                return false;
        }
    return true;
}

bool portable_is_plain(const ir_function *f) {
    return is_plain_inside(f, 12, f);
}
