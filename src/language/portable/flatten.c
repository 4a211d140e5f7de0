/* flatten.c: one export as one function: what it calls put in where it is called, with what is known there.
 *
 *     branches whose condition is known    are gone, and so is what they do not lead to
 *     numbers that are known               are constants
 *     lists, records, handles              are their words, each a value
 *     functions of numbers only            stay calls
 *     ownership, texts                     are gone; a panic keeps the text that is written out at it
 */
#include "language/portable/flat_words.h"
#include "language/portable/portable.h"

#include <string.h>

#include "language/ir/cfg.h"

typedef struct cloner { /* one frame that is being written */
    portable *p;
    frame *fr;
    flat_value *to;    /* by value */
    ir_block **starts; /* by block: where it begins; NULL: not yet */
    uint32_t *edges;   /* by block: how many taken ones lead there */
    ir_block *exit;    /* of a function that returns in several places */
    flat_value *results;
    ir_block **at; /* the block that is being written */
} cloner;

static void put_in(portable *p, frame *fr, const flat_value *arguments, ir_block **at, flat_value *results);

/* ---- values of the flat function --------------------------------------------------------------------------------- */

static void keep_fact(portable *p, ir_value v, const fact *known) {
    flat *out = p->now;
    if (v >= out->fact_capacity) {
        uint32_t wanted = 2 * v + 64;
        fact *grown = masu__arena_grow(&p->arena, out->facts, out->fact_capacity, wanted, sizeof *grown,
                                       _Alignof(fact));
        if (!grown) {
            p->out_of_memory = true;
            return;
        }
        memset(grown + out->fact_capacity, 0, sizeof *grown * (wanted - out->fact_capacity));
        out->facts = grown;
        out->fact_capacity = wanted;
    }
    out->facts[v] = *known;
}

static ir_instr *append(cloner *c, ir_opcode op, const ir_value *args, uint32_t arg_count, const ir_instr *like,
                        const ir_type *types, uint32_t count) {
    source_span span = like ? portable_place(c->p, c->fr, like->span) : (source_span){0};
    ir_instr *made = ir_instr_new(c->p->now->f, op, args, arg_count, types, count, span);
    if (!made) {
        c->p->out_of_memory = true;
        return NULL;
    }
    ir_append(*c->at, made);
    return made;
}

static ir_value constant(cloner *c, ir_type type, const fact *known) {
    ir_instr *made = append(c, IR_CONST, NULL, 0, NULL, &type, 1);
    if (!made)
        return 0;
    if (ir_type_float(type))
        made->imm.f = known->f;
    else
        made->imm.i = known->i;
    keep_fact(c->p, made->result, known);
    return made->result;
}

static flat_value value_of(cloner *c, ir_value v) {
    const fact *known = &c->fr->facts[v];
    if (known->kind == FACT_NUMBER && !ir_type_managed(ir_type_of(c->fr->f, v)))
        return (flat_value){constant(c, ir_type_of(c->fr->f, v), known), NULL};
    return c->to[v];
}

/* One that an instruction needs. */
static ir_value operand(cloner *c, const ir_instr *i, ir_value v) {
    flat_value found = value_of(c, v);
    if (found.v || portable_stopped(c->p))
        return found.v;
    fact_kind kind = c->fr->facts[v].kind;
    portable_refuse(c->p, c->fr, i->span, "%s",
                    kind == FACT_TEXT ? "texts have no form in plain C: only a panic may say one"
                    : kind == FACT_LIST
                        ? "a list has no form in plain C where its elements are not known by number: use a tensor"
                    : kind == FACT_NOTHING ? "whether there is a value here is not known when the C is written"
                                           : "this value has no form in plain C");
    return 0;
}

static ir_value *operands(cloner *c, const ir_instr *i) {
    ir_value *args = MASU_ARENA_ARRAY(&c->p->arena, ir_value, i->arg_count + 1);
    c->p->out_of_memory |= !args;
    for (uint32_t k = 0; args && k < i->arg_count && !portable_stopped(c->p); k++)
        args[k] = operand(c, i, i->args[k]);
    return portable_stopped(c->p) ? NULL : args;
}

/* The instruction as it is, on values of the flat function. */
static ir_instr *copy(cloner *c, const ir_instr *i) {
    const ir_value *args = operands(c, i);
    ir_type types[IR_MOST_BUILT];
    if (!args)
        return NULL;
    if (i->result_count > IR_MOST_BUILT) {
        portable_refuse(c->p, c->fr, i->span, "a function that yields more than %d values", IR_MOST_BUILT);
        return NULL;
    }
    for (uint32_t r = 0; r < i->result_count; r++)
        types[r] = ir_type_of(c->fr->f, i->result + r);
    ir_instr *made = append(c, i->op, args, i->arg_count, i, types, i->result_count);
    if (!made)
        return NULL;
    made->imm = i->imm;
    made->abi = i->abi;
    made->callee = i->callee;
    made->kernel = i->kernel;
    for (uint32_t r = 0; r < i->result_count; r++) {
        c->p->now->f->values[made->result + r].name = c->fr->f->values[i->result + r].name;
        keep_fact(c->p, made->result + r, &c->fr->facts[i->result + r]);
        c->to[i->result + r] = (flat_value){made->result + r, NULL};
    }
    return made;
}

/* ---- lists ------------------------------------------------------------------------------------------------------- */

static void clone_record(cloner *c, const ir_instr *i) {
    flat_value *words;
    const flat_words *list = flat_words_new(c->p, 1, i->arg_count, &words);
    for (uint32_t k = 0; list && k < i->arg_count; k++)
        words[k] = value_of(c, i->args[k]);
    c->to[i->result] = (flat_value){0, list};
}

static bool clone_list(cloner *c, const ir_instr *i) {
    const flat_words *list = i->arg_count > 0 ? c->to[i->args[0]].words : NULL, *made = NULL;
    const fact *index = i->arg_count > 1 ? &c->fr->facts[i->args[1]] : NULL;
    flat_value *words;
    bool gets = i->abi == TL_FN_tl_vec_get || i->abi == TL_FN_tl_vec_at || i->abi == TL_FN_tl_vec_take;
    if (gets || i->abi == TL_FN_tl_vec_set || i->abi == TL_FN_tl_vec_push) {
        bool known = list && (i->abi == TL_FN_tl_vec_push ||
                              (index->kind == FACT_NUMBER && index->i >= 0 && index->i < list->count));
        if (!known)
            portable_refuse(c->p, c->fr, i->span,
                            "a list has a form in plain C only where its length and the index are known when the C is "
                            "written: use a tensor");
        if (!known || portable_stopped(c->p))
            return true;
    }
    switch (i->abi) {
    case TL_FN_tl_vec_new:
        made = flat_words_new(c->p, 0, 0, &words);
        break;
    case TL_FN_tl_vec_reserve:
    case TL_FN_tl_vec_unshare:
        made = list;
        break;
    case TL_FN_tl_vec_len:
        return list != NULL;
    case TL_FN_tl_vec_push:
        made = flat_words_with(c->p, list, list->count, c->to[i->args[1]].words);
        break;
    case TL_FN_tl_vec_set:
        made = flat_words_with(c->p, list, index->i, c->to[i->args[2]].words);
        break;
    case TL_FN_tl_vec_get:
    case TL_FN_tl_vec_at:
    case TL_FN_tl_vec_take:
        c->to[i->args[2]] = (flat_value){0, flat_words_element(c->p, list, index->i)};
        made = list;
        break;
    default:
        return false;
    }
    if (i->result_count > 0)
        c->to[i->result] = (flat_value){0, made};
    return true;
}

/* ---- what comes in and goes out ---------------------------------------------------------------------------------- */

static void take_parameter(cloner *c, const ir_instr *i) {
    flat *out = c->p->now;
    int64_t index;
    flat_value *words;
    if (!ir_const_int(c->fr->f, i->args[0], &index))
        return;
    if (i->abi != TL_FN_tl_call_object) {
        c->to[i->result] = (flat_value){out->parameters[index][0], NULL};
        return;
    }
    const flat_words *list = flat_words_new(c->p, 1, out->words[index], &words);
    for (uint32_t k = 0; list && k < out->words[index]; k++)
        words[k] = (flat_value){out->parameters[index][k], NULL};
    c->to[i->result] = (flat_value){0, list};
}

static void give(cloner *c, const ir_instr *i, int64_t index, uint32_t word, ir_value v) {
    ir_instr *made = v ? append(c, IR_ABI, &v, 1, i, NULL, 0) : NULL;
    if (!v)
        portable_refuse(c->p, c->fr, i->span, "what goes out of here has no form in plain C");
    if (!made)
        return;
    made->abi = TL_FN_tl_give_tensor;
    made->imm.i = index << 8 | word;
}

static void give_result(cloner *c, const ir_instr *i) {
    int64_t index;
    if (!ir_const_int(c->fr->f, i->args[0], &index))
        return;
    flat_value v = value_of(c, i->args[1]);
    if (!v.words)
        give(c, i, index, 0, v.v);
    for (uint32_t k = 0; v.words && k < v.words->count * v.words->width && !portable_stopped(c->p); k++)
        if (handle_gives(c->p, c->fr, i, index, k))
            give(c, i, index, k, v.words->words[k].v);
}

static void clone_panic(cloner *c, const ir_instr *i) {
    ir_instr *made = append(c, IR_ABI, NULL, 0, i, NULL, 0);
    if (!made)
        return;
    made->abi = TL_FN_tl_panic;
    const char *name = c->fr->facts[i->args[0]].text, *text = c->fr->facts[i->args[i->arg_count - 1]].text;
    made->imm.bytes.data = i->arg_count > 1 && name && text ? masu__arena_printf(&c->p->arena, "%s: %s", name, text)
                                                            : text;
}

/* ---- instructions ------------------------------------------------------------------------------------------------ */

static void clone_call(cloner *c, const ir_instr *i) {
    portable *p = c->p;
    bool known = i->result_count > 0, given = true;
    for (uint32_t r = 0; r < i->result_count; r++)
        known = known && c->fr->facts[i->result + r].kind == FACT_NUMBER;
    for (uint32_t k = 0; k < i->arg_count; k++)
        given = given && c->fr->facts[i->args[k]].kind == FACT_NUMBER;
    if (portable_is_plain(i->callee)) {
        if (!known || !given)
            copy(c, i);
        return;
    }
    fact *facts = MASU_ARENA_ARRAY(&p->arena, fact, i->arg_count + 1);
    flat_value *arguments = MASU_ARENA_ARRAY(&p->arena, flat_value, i->arg_count + 1);
    flat_value *results = MASU_ARENA_ARRAY(&p->arena, flat_value, i->result_count + 1);
    if (!facts || !arguments || !results) {
        p->out_of_memory = true;
        return;
    }
    for (uint32_t k = 0; k < i->arg_count; k++) {
        facts[k] = c->fr->facts[i->args[k]];
        arguments[k] = value_of(c, i->args[k]);
    }
    frame *called = portable_follow(p, c->fr, i->span, i->callee, facts);
    if (!called)
        return;
    put_in(p, called, arguments, c->at, results);
    for (uint32_t r = 0; r < i->result_count; r++)
        c->to[i->result + r] = results[r];
}

static void clone_abi(cloner *c, const ir_instr *i) {
    const char *symbol = tl_abi_functions[i->abi].symbol;
    if (strncmp(symbol, "tl_call_", 8) == 0)
        take_parameter(c, i);
    else if (strncmp(symbol, "tl_give_", 8) == 0)
        give_result(c, i);
    else if (ir_is_panic(i))
        clone_panic(c, i);
    else if (i->result_count == 1 && c->fr->facts[i->result].kind == FACT_TEXT)
        return;
    else if (i->abi == TL_FN_tl_assert || portable_written(i->abi) != WRITTEN_NOT)
        copy(c, i);
    else if (!clone_list(c, i))
        portable_refuse(c->p, c->fr, i->span, "`%s` has no form in plain C",
                        strncmp(symbol, "tl_tensor_", 10) == 0 ? symbol + 10 : symbol + 3);
}

static void clone_instr(cloner *c, const ir_instr *i) {
    bool is_number = i->result_count == 1 && i->op != IR_CALL && !ir_type_managed(ir_type_of(c->fr->f, i->result));
    if (portable_passes_over(i) || (is_number && c->fr->facts[i->result].kind == FACT_NUMBER))
        return;
    switch (i->op) {
    case IR_ABI:
        clone_abi(c, i);
        break;
    case IR_CALL:
        clone_call(c, i);
        break;
    case IR_RECORD:
        clone_record(c, i);
        break;
    case IR_RECORD_WORD: {
        const flat_words *words = c->to[i->args[0]].words;
        if (words && i->imm.i < words->width)
            c->to[i->result] = words->words[i->imm.i];
        break;
    }
    case IR_NOTHING:
    case IR_BYTES:
    case IR_RECORD_EMPTY:
    case IR_RECORD_TYPE:
        break;
    default:
        copy(c, i);
        break;
    }
}

/* ---- borders of blocks ------------------------------------------------------------------------------------------- */

typedef struct sent { /* what goes along an edge, word by word */
    ir_value values[256];
    uint32_t count;
} sent;

static void send(cloner *c, sent *s, const flat_value *v) {
    if (v->words)
        for (uint32_t k = 0; k < v->words->count * v->words->width; k++)
            send(c, s, &v->words->words[k]);
    else if (v->v && s->count < sizeof s->values / sizeof s->values[0])
        s->values[s->count++] = v->v;
    else if (v->v)
        portable_refuse(c->p, c->fr, (source_span){0}, "too many variables live through this loop");
}

/* The parameters of the flat block, for one of the block, as this edge brings it. */
static flat_value receive(cloner *c, ir_block *b, const flat_value *like, const fact *known, const char *name) {
    flat_value *words;
    if (like->words) {
        const flat_words *list = flat_words_new(c->p, like->words->count, like->words->width, &words);
        for (uint32_t k = 0; list && k < list->count * list->width; k++)
            words[k] = receive(c, b, &like->words->words[k], known->kind == FACT_LIST ? &known->list->words[k] : known,
                               NULL);
        return (flat_value){0, list};
    }
    if (!like->v)
        return *like;
    ir_value v = ir_block_add_param(b, ir_type_of(c->p->now->f, like->v), name, (source_span){0});
    fact any = known->kind == FACT_TENSOR ? *known : fact_of(FACT_ANY);
    keep_fact(c->p, v, &any);
    return (flat_value){v, NULL};
}

static bool is_constant(const cloner *c, ir_value v) {
    return c->fr->facts[v].kind == FACT_NUMBER && !ir_type_managed(ir_type_of(c->fr->f, v));
}

/* Ends the current block with an edge of `terminator`, or readies the edge for a branch. */
static ir_block *edge(cloner *c, const ir_target *target, sent *s) {
    const ir_block *to = target->block;
    ir_block **start = &c->starts[to->id];
    flat_value brought[256];
    s->count = 0;
    if (target->count > sizeof brought / sizeof brought[0]) {
        portable_refuse(c->p, c->fr, to->last->span, "too many variables live through this loop");
        return NULL;
    }
    for (uint32_t a = 0; a < target->count; a++)
        brought[a] = is_constant(c, to->params[a]) ? (flat_value){0} : value_of(c, target->args[a]);
    bool fresh = !*start;
    if (fresh)
        *start = ir_block_new(c->p->now->f);
    if (!*start) {
        c->p->out_of_memory = true;
        return NULL;
    }
    for (uint32_t a = 0; a < target->count; a++) {
        if (is_constant(c, to->params[a]))
            continue;
        if (c->edges[to->id] == 1)
            c->to[to->params[a]] = brought[a];
        else if (fresh)
            c->to[to->params[a]] = receive(c, *start, &brought[a], &c->fr->facts[to->params[a]],
                                           c->fr->f->values[to->params[a]].name);
        if (c->edges[to->id] != 1)
            send(c, s, &brought[a]);
    }
    return *start;
}

static void jump(cloner *c, ir_block *to, const sent *s, const ir_instr *like) {
    ir_instr *made = append(c, IR_JUMP, NULL, 0, like, NULL, 0);
    if (made)
        ir_set_target(made, 0, to, s->values, s->count);
}

static void clone_ret(cloner *c, const ir_instr *last) {
    if (!c->exit) {
        for (uint32_t r = 0; r < last->arg_count; r++)
            c->results[r] = value_of(c, last->args[r]);
        return;
    }
    bool fresh = c->exit->pred_count == 0;
    sent s = {.count = 0};
    for (uint32_t r = 0; r < last->arg_count; r++) {
        if (c->fr->results[r].kind == FACT_NUMBER && !ir_type_managed(c->fr->f->results[r]))
            continue;
        flat_value v = value_of(c, last->args[r]);
        if (fresh)
            c->results[r] = receive(c, c->exit, &v, &c->fr->results[r], NULL);
        send(c, &s, &v);
    }
    jump(c, c->exit, &s, last);
}

static void clone_terminator(cloner *c, const ir_instr *last) {
    sent s[2];
    int which[2], count = 0;
    if (last->op == IR_RET) {
        clone_ret(c, last);
        return;
    }
    for (int t = 0; t < ir_target_count(last); t++)
        if (portable_takes(c->fr, last, t))
            which[count++] = t;
    if (count == 0) {
        append(c, IR_UNREACHABLE, NULL, 0, last, NULL, 0);
        return;
    }
    if (count == 1 && c->edges[last->target[which[0]].block->id] == 1) {
        c->starts[last->target[which[0]].block->id] = *c->at; /* goes on in the same block */
        edge(c, &last->target[which[0]], &s[0]);
        return;
    }
    if (count == 1) {
        ir_block *to = edge(c, &last->target[which[0]], &s[0]);
        if (to)
            jump(c, to, &s[0], last);
        return;
    }
    ir_value condition = operand(c, last, last->args[0]);
    ir_block *yes = edge(c, &last->target[0], &s[0]), *no = edge(c, &last->target[1], &s[1]);
    ir_instr *made = yes && no && condition ? append(c, IR_BRANCH, &condition, 1, last, NULL, 0) : NULL;
    if (!made)
        return;
    ir_set_target(made, 0, yes, s[0].values, s[0].count);
    ir_set_target(made, 1, no, s[1].values, s[1].count);
}

/* ---- functions --------------------------------------------------------------------------------------------------- */

/* False: the end of the block is not reached. */
static bool clone_block(cloner *c, const ir_block *b) {
    for (const ir_instr *i = b->first; i && !ir_is_terminator(i->op) && !portable_stopped(c->p); i = i->next) {
        if (c->fr->traced)
            portable_evaluate(c->p, c->fr, i);
        clone_instr(c, i);
        if (c->fr->cut[b->id] == i) {
            append(c, IR_UNREACHABLE, NULL, 0, i, NULL, 0);
            return false;
        }
    }
    return !portable_stopped(c->p);
}

static void clone_all_ways(cloner *c) {
    const frame *fr = c->fr;
    ir_order order;
    uint32_t rets = 0;
    if (!ir_order_compute(&order, fr->f, &c->p->arena)) {
        c->p->out_of_memory = true;
        return;
    }
    for (uint32_t k = 0; k < order.count; k++) {
        const ir_block *b = order.blocks[k];
        if (!fr->taken[b->id] || fr->cut[b->id])
            continue;
        rets += b->last->op == IR_RET;
        for (int t = 0; t < ir_target_count(b->last); t++)
            if (portable_takes(fr, b->last, t))
                c->edges[b->last->target[t].block->id]++;
    }
    if (rets > 1)
        c->exit = ir_block_new(c->p->now->f);
    c->starts[0] = *c->at;
    ir_block *end = NULL;
    for (uint32_t k = 0; k < order.count && !portable_stopped(c->p); k++) {
        const ir_block *b = order.blocks[k];
        if (!fr->taken[b->id] || !c->starts[b->id])
            continue;
        *c->at = c->starts[b->id];
        if (!clone_block(c, b))
            continue;
        clone_terminator(c, b->last);
        if (b->last->op == IR_RET)
            end = *c->at;
    }
    *c->at = rets > 1 ? c->exit : rets == 1 && end ? end : ir_block_new(c->p->now->f);
    c->p->out_of_memory |= !*c->at;
}

static void clone_one_way(cloner *c) {
    const ir_block *b = c->fr->f->blocks[0];
    while (b && !portable_stopped(c->p)) {
        flat_value brought[256];
        if (!clone_block(c, b)) {
            *c->at = ir_block_new(c->p->now->f);
            return;
        }
        for (uint32_t r = 0; b->last->op == IR_RET && r < b->last->arg_count; r++)
            c->results[r] = value_of(c, b->last->args[r]);
        const ir_instr *last = b->last;
        int t = last->op == IR_BRANCH && c->fr->facts[last->args[0]].i == 0 ? 1 : 0;
        uint32_t count = ir_target_count(last) > 0 ? last->target[t].count : 0;
        for (uint32_t a = 0; a < count && a < 256; a++)
            brought[a] = c->to[last->target[t].args[a]];
        b = portable_next(c->p, c->fr, b);
        for (uint32_t a = 0; b && a < count && a < 256; a++)
            c->to[b->params[a]] = brought[a];
    }
}

/* The function's code behind what is in *at, which is then where it goes on. */
static void put_in(portable *p, frame *fr, const flat_value *arguments, ir_block **at, flat_value *results) {
    cloner c = {.p = p, .fr = fr, .results = results, .at = at};
    c.to = MASU_ARENA_ARRAY(&p->arena, flat_value, fr->f->value_count + 1);
    c.starts = MASU_ARENA_ARRAY(&p->arena, ir_block *, fr->f->block_count + 1);
    c.edges = MASU_ARENA_ARRAY(&p->arena, uint32_t, fr->f->block_count + 1);
    if (!c.to || !c.starts || !c.edges) {
        p->out_of_memory = true;
        return;
    }
    for (uint32_t k = 0; k < fr->f->param_count; k++)
        c.to[fr->f->params[k]] = arguments[k];
    if (fr->traced)
        clone_one_way(&c);
    else
        clone_all_ways(&c);
    for (uint32_t r = 0; r < fr->f->result_count && !portable_stopped(p); r++)
        if (fr->results[r].kind == FACT_NUMBER && !ir_type_managed(fr->f->results[r]))
            results[r] = (flat_value){constant(&c, fr->f->results[r], &fr->results[r]), NULL};
}

/* ---- an export --------------------------------------------------------------------------------------------------- */

static ir_type type_of_kind(masu_kind kind) {
    /* As tl_call_*: every real number comes in as f64, every whole one as i64. */
    static const ir_type types[] = {[MASU_KIND_TENSOR] = IR_TENSOR,
                                    [MASU_KIND_F32] = IR_F64,
                                    [MASU_KIND_F64] = IR_F64,
                                    [MASU_KIND_I64] = IR_I64,
                                    [MASU_KIND_BOOL] = IR_BOOL};
    return types[kind];
}

static ir_value add_parameter(portable *p, ir_type type, const char *name, const fact *known) {
    ir_value v = ir_function_add_param(p->now->f, type, name, (source_span){0});
    fact kept = known->kind == FACT_TENSOR ? *known : fact_of(FACT_ANY);
    kept.list = NULL;
    keep_fact(p, v, &kept);
    return v;
}

static bool add_parameters(portable *p, flat *out) {
    for (uint32_t k = 0; k < out->shown->parameter_count; k++) {
        const masu_parameter *shown = &out->shown->parameters[k];
        const fact *given = &out->call->arguments[k];
        uint32_t words = given->kind == FACT_LIST ? given->list->width : 1;
        ir_value *values = MASU_ARENA_ARRAY(&p->arena, ir_value, words);
        if (!values)
            return false;
        for (uint32_t w = 0; w < words; w++)
            values[w] = given->kind == FACT_LIST ? add_parameter(p, given->list->leaves[w].type,
                                                                 given->list->leaves[w].name, &given->list->words[w])
                                                 : add_parameter(p, type_of_kind(shown->kind), shown->name, given);
        out->parameters[k] = values;
        out->words[k] = words;
    }
    return true;
}

void portable_flatten(portable *p, flat *out) {
    const ir_function *entry = portable_entry(p, out->call->function);
    p->now = out;
    p->arguments = out->call->arguments;
    out->f = ir_function_new(p->out, out->shown->name, (source_span){0});
    ir_block *at = out->f ? ir_block_new(out->f) : NULL;
    if (!at || !add_parameters(p, out)) {
        p->out_of_memory = true;
        return;
    }
    frame *fr = entry ? portable_follow(p, NULL, entry->span, entry, NULL) : NULL;
    if (!fr)
        return;
    put_in(p, fr, NULL, &at, NULL);
    if (portable_stopped(p))
        return;
    ir_instr *ret = ir_instr_new(out->f, IR_RET, NULL, 0, NULL, 0, (source_span){0});
    if (ret)
        ir_append(at, ret);
    ir_remove_unreachable_blocks(out->f);
    handle_note_changes(p, out);
    p->out_of_memory |= !ret || p->out->out_of_memory;
}
