/* shape_faults.c: operations that fail whenever they are reached, as far as shapes are known.
 *
 * Operations that are written in the language itself are looked at once for each call, with the shapes of that call:
 *
 *     a.inverse()  ─►  facts of `inverse` for [2, 3]  ─►  its own operations, and the calls of such functions in it
 *
 * What is found there is said of the call, in terms of its arguments. The facts that all calls agree on, which shapes.c
 * keeps, wait aside meanwhile.
 */
#include <inttypes.h>
#include <string.h>

#include "language/pass/shape_flow.h"

enum { LONGEST_QUOTE = 60, DEEPEST_CALL = 4 };

/* The source text of the span when it is short and on one line; else the fallback. */
static void quote(source_span span, const char *fallback, masu__buffer *out) {
    const char *text = span.file ? span.file->text + span.offset : NULL;
    bool fits = text && span.length > 0 && span.length <= LONGEST_QUOTE && !memchr(text, '\n', span.length);
    masu__buffer_putc(out, '`');
    if (fits)
        masu__buffer_append(out, text, span.length);
    else
        masu__buffer_puts(out, fallback);
    masu__buffer_putc(out, '`');
}

static void describe_value(shaper *s, const ir_function *f, ir_value v, const shape_fact *fact, masu__buffer *out) {
    const char *name = f->values[v].name, *inner = name ? strchr(name, '.') : NULL;
    if (name && (name[0] != '<' || inner)) /* `<closure>.w` is the w of outside */
        masu__buffer_printf(out, "`%s`", name[0] == '<' && inner ? inner + 1 : name);
    else
        quote(f->values[v].span, "this tensor", out);
    masu__buffer_puts(out, " has shape ");
    shape_put(&s->symbols, &fact->shape, out);
}

static void report(shaper *s, const ir_function *f, const ir_instr *i, shape_fault *fault) {
    const function_facts *ff = shape_facts_of(s, f);
    masu__buffer texts[3] = {0};
    pass_note notes[3];
    bool said = true;
    masu__buffer_puts(&fault->text, " in ");
    quote(i->span, i->op == IR_ABI ? tl_abi_functions[i->abi].symbol : i->callee->name, &fault->text);
    for (uint32_t n = 0; n < fault->about_count; n++) {
        describe_value(s, f, fault->about[n], &ff->facts[fault->about[n]], &texts[n]);
        notes[n] = (pass_note){.span = f->values[fault->about[n]].span, .text = masu__buffer_text(&texts[n])};
    }
    if (s->context->report)
        said = s->context->report(s->context->user, i->span, fault->row, masu__buffer_text(&fault->text), notes,
                                  fault->about_count);
    s->context->error_count += said;
    for (uint32_t n = 0; n < fault->about_count; n++)
        masu__buffer_destroy(&texts[n]);
}

/* ---- calls of what the language is written in -------------------------------------------------- */

static bool is_written(const ir_function *f) {
    return f->span.file && strcmp(f->span.file->path, "<prelude>") == 0;
}

static bool find_in_call(shaper *s, const ir_function *f, const ir_instr *call, shape_fault *fault, int depth);

/* Where the block leads for certain; NULL: it depends. */
static const ir_block *next_certain(shaper *s, const ir_function *f, const ir_block *b) {
    if (b->last->op == IR_JUMP)
        return b->last->target[0].block;
    if (b->last->op != IR_BRANCH)
        return NULL;
    shape_query q = shape_query_of(s, f, b->last);
    unsigned takes = shape_condition(&q, b->last->args[0]);
    return takes == SHAPE_TAKES_FIRST    ? b->last->target[0].block
           : takes == SHAPE_TAKES_SECOND ? b->last->target[1].block
                                         : NULL;
}

/* ---- panics in what the language is written in ------------------------------------------------------------------- */

enum { PIECES_MAX = 32 };

/* The text as far as all of it is known: literals, numbers, and what puts them together. */
static bool put_text(const shape_query *q, ir_value v, uint32_t *pieces, masu__buffer *out) {
    const ir_instr *def = q->f->values[v].def;
    int64_t number;
    if (!def || def->op != IR_ABI || (*pieces)++ == PIECES_MAX)
        return false;
    switch (def->abi) {
    case TL_FN_tl_string_literal: {
        const ir_instr *bytes = q->f->values[def->args[0]].def;
        if (!bytes || bytes->op != IR_BYTES)
            return false;
        masu__buffer_append(out, bytes->imm.bytes.data, bytes->imm.bytes.length);
        return true;
    }
    case TL_FN_tl_text_i64:
        if (!shape_known_number(q, def->args[0], &number))
            return false;
        masu__buffer_printf(out, "%" PRId64, number);
        return true;
    case TL_FN_tl_string_concat:
        return put_text(q, def->args[0], pieces, out) && put_text(q, def->args[1], pieces, out);
    default:
        return false;
    }
}

/* `__refuse` of the library is an operation's refusal of its operands; a panic is what the program does. */
static void refusal(const shape_query *q, shape_fault *fault) {
    masu__buffer text = {0};
    uint32_t pieces = 0;
    if (q->i->abi == TL_FN_tl_refuse && put_text(q, q->i->args[1], &pieces, &text)) {
        shape_say(fault, SAY(operation_refuses_its_operands), masu__buffer_text(&text));
        for (uint32_t p = 0; p < q->f->param_count; p++)
            if (shape_fact_of(q, q->f->params[p])->state == SHAPE_IS_KNOWN && fault->about_count < 2)
                shape_blame(fault, q->f->params[p]);
    }
    masu__buffer_destroy(&text);
}

/* ---- ways through a function ------------------------------------------------------------------------------------ */

enum { WAYS_MAX = 64 }; /* blocks of one function that are looked at */

typedef enum way { WAY_NOT_SEEN, WAY_LEADS_ON, WAY_FAILS } way;

typedef struct ways {
    const ir_function *f;
    way *from; /* by block; one that is being looked at leads on: a loop may go on for ever */
    uint32_t left;
    int depth;
} ways;

static bool fails_from(shaper *s, ways *w, const ir_block *b, shape_fault *fault);

/* A panic whose text is not known ends the way as well, but says nothing. */
static bool fails_here(shaper *s, const ways *w, const ir_block *b, shape_fault *fault) {
    for (const ir_instr *i = b->first; i; i = i->next) {
        shape_query q = shape_query_of(s, w->f, i);
        if (ir_is_panic(i))
            refusal(&q, fault);
        else if (i->op == IR_ABI)
            shape_rule_apply(&q, fault);
        if (ir_is_panic(i) || fault->text.length > 0 ||
            (i->op == IR_CALL && find_in_call(s, w->f, i, fault, w->depth + 1)))
            return true;
    }
    return false;
}

/* Both ways on. The fault is that of the first one that says something. */
static bool both_fail(shaper *s, ways *w, const ir_instr *branch, shape_fault *fault) {
    shape_fault other = {.symbols = &s->symbols};
    if (!fails_from(s, w, branch->target[0].block, fault))
        return false;
    bool fail = fails_from(s, w, branch->target[1].block, fault->text.length > 0 ? &other : fault);
    masu__buffer_destroy(&other.text);
    return fail;
}

/* Every way from the block on fails. */
static bool fails_from(shaper *s, ways *w, const ir_block *b, shape_fault *fault) {
    if (w->from[b->id] != WAY_NOT_SEEN || w->left == 0)
        return w->from[b->id] == WAY_FAILS;
    w->left--;
    w->from[b->id] = WAY_LEADS_ON;
    const ir_block *certain = next_certain(s, w->f, b);
    if (fails_here(s, w, b, fault) || (certain && fails_from(s, w, certain, fault)) ||
        (!certain && b->last->op == IR_BRANCH && both_fail(s, w, b->last, fault)))
        w->from[b->id] = WAY_FAILS;
    return w->from[b->id] == WAY_FAILS;
}

/* A fault where every run of the function meets one; the values that it is about are those of the function. */
static bool find_first(shaper *s, const ir_function *f, shape_fault *fault, int depth) {
    ways w = {.f = f, .left = WAYS_MAX, .depth = depth};
    w.from = MASU_ARENA_ARRAY(&s->calls, way, f->block_count);
    bool found = w.from != NULL && fails_from(s, &w, f->blocks[0], fault) && fault->text.length > 0;
    if (!found) { /* one way failed, another did not */
        masu__buffer_truncate(&fault->text, 0);
        fault->about_count = 0;
    }
    return found;
}

static bool prepare_call(shaper *s, const function_facts *ff, const ir_instr *call, function_facts *made) {
    const ir_function *callee = call->callee;
    made->facts = MASU_ARENA_ARRAY(&s->calls, shape_fact, callee->value_count);
    made->numbers = MASU_ARENA_ARRAY(&s->calls, number_fact, callee->value_count);
    made->taken = MASU_ARENA_ARRAY(&s->calls, bool, callee->block_count);
    made->stale = MASU_ARENA_ARRAY(&s->calls, bool, callee->block_count);
    made->results = MASU_ARENA_ARRAY(&s->calls, shape_fact, callee->result_count);
    made->number_results = MASU_ARENA_ARRAY(&s->calls, number_fact, callee->result_count);
    if (!made->facts || !made->numbers || !made->taken || !made->stale || !made->results || !made->number_results ||
        callee->block_count == 0)
        return false;
    for (uint32_t a = 0; a < call->arg_count; a++) { /* the caller's symbols may stay: nothing here leaves */
        made->facts[callee->params[a]] = ff->facts[call->args[a]];
        made->numbers[callee->params[a]] = ff->numbers[call->args[a]];
    }
    made->callers = NULL;
    made->stale[0] = made->taken[0] = true;
    made->next = 0;
    return true;
}

/* Replaces the callee's parameters in the fault by the call's arguments. */
static void in_terms_of_caller(const function_facts *ff, const ir_instr *call, shape_fault *fault) {
    uint32_t kept = 0;
    for (uint32_t n = 0; n < fault->about_count; n++)
        for (uint32_t a = 0; a < call->arg_count; a++)
            if (call->callee->params[a] == fault->about[n]) {
                fault->about[kept++] = call->args[a];
                break;
            }
    fault->about_count = kept;
    for (uint32_t a = 0; a < call->arg_count && kept == 0 && fault->about_count < 2; a++)
        if (ff->facts[call->args[a]].state == SHAPE_IS_KNOWN) /* what it was made of */
            shape_blame(fault, call->args[a]);
}

static bool find_in_call(shaper *s, const ir_function *f, const ir_instr *call, shape_fault *fault, int depth) {
    function_facts *place = shape_facts_of(s, call->callee), outer = *place, made = *place;
    if (depth == DEEPEST_CALL || !is_written(call->callee) || call->callee == f || !outer.reached)
        return false;
    masu__arena_mark mark = masu__arena_get_mark(&s->calls);
    bool found = false;
    if (prepare_call(s, shape_facts_of(s, f), call, &made)) {
        *place = made;
        shape_flow_function(s, call->callee);
        found = find_first(s, call->callee, fault, depth);
        *place = outer;
    }
    masu__arena_release(&s->calls, mark);
    if (found)
        in_terms_of_caller(shape_facts_of(s, f), call, fault);
    return found;
}

/* ---- all ------------------------------------------------------------------------------------- */

void shape_find_faults(shaper *s, const ir_function *f) {
    const function_facts *ff = shape_facts_of(s, f);
    for (uint32_t k = 0; k < ff->order.count && !is_written(f); k++) {
        if (!ff->taken[ff->order.blocks[k]->id])
            continue;
        for (const ir_instr *i = ff->order.blocks[k]->first; i; i = i->next) {
            shape_query q = shape_query_of(s, f, i);
            shape_fault fault = {.symbols = &s->symbols};
            if (i->op == IR_ABI)
                shape_rule_apply(&q, &fault);
            else if (i->op == IR_CALL)
                find_in_call(s, f, i, &fault, 0);
            if (fault.text.length > 0)
                report(s, f, i, &fault);
            masu__buffer_destroy(&fault.text);
        }
    }
}
