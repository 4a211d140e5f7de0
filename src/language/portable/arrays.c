/* arrays.c: where the elements of each tensor of a flat function lie.
 *
 *     root ─┬─ of the caller     a parameter: read only
 *           ├─ constant          a literal, in the C file
 *           └─ in the arena      at an offset that the planner found, from its first step to the last that looks at it
 *
 *     value ─► root, offset, strides      a view has its operand's root; what is written in place, its first operand's
 *
 * An operation may write over an operand when nothing looks at that operand's root behind it, by any name. A parameter
 * of a block has a root of its own, into which jumps copy. What is read once, by the next operation element by element,
 * lies nowhere: it is part of that loop. Tensors of different element types never share bytes, so that no C compiler
 * may take one for another.
 */
#include "language/portable/functions.h"
#include "language/portable/portable.h"

#include <string.h>

#include "language/ir/cfg.h"
#include <masu/plan.h>

enum { NOWHERE = UINT32_MAX };

typedef struct planner {
    portable *p;
    layout *l;
    bool *needed;                 /* by value */
    uint64_t *live_in, *live_out; /* by block of the order, bits of values */
    uint64_t *before;             /* one of them, as it was */
    uint32_t words;
    uint32_t *last_use;     /* by value: position in the block that is looked at */
    uint32_t *next_of_root; /* by value: the one before it with its root; 0: none */
    uint32_t *head_of_root; /* by root */
    uint32_t heads;
} planner;

static bool is_tensor(const layout *l, ir_value v) {
    return ir_type_of(l->f, v) == IR_TENSOR;
}

static uint32_t element_bytes(tl_dtype dtype) {
    return dtype == TL_BOOL ? 1 : dtype == TL_F32 ? 4 : 8;
}

bool layout_is_dense(const layout *l, ir_value v) {
    const fact *t = layout_fact(l, v);
    int64_t stride = 1;
    for (uint32_t d = t->rank; d-- > 0; stride *= t->dim[d])
        if (t->dim[d] != 1 && l->places[v].stride[d] != stride)
            return false;
    return true;
}

void layout_dense_strides(const fact *t, int64_t *stride) {
    int64_t step = 1;
    for (uint32_t d = t->rank; d-- > 0; step *= t->dim[d])
        stride[d] = step;
}

/* ---- the steps --------------------------------------------------------------------------------------------------- */

static bool collect(planner *pl, const ir_order *order) {
    layout *l = pl->l;
    portable *p = pl->p;
    uint32_t count = 0;
    for (uint32_t k = 0; k < order->count; k++)
        for (const ir_instr *i = order->blocks[k]->first; i; i = i->next)
            count += i->op != IR_CONST;
    l->steps = MASU_ARENA_ARRAY(&p->arena, step, count + 1);
    l->block_first = MASU_ARENA_ARRAY(&p->arena, uint32_t, order->count + 1);
    if (!l->steps || !l->block_first)
        return false;
    for (uint32_t k = 0; k < order->count; k++) {
        l->block_first[k] = l->step_count;
        for (const ir_instr *i = order->blocks[k]->first; i; i = i->next)
            if (i->op != IR_CONST)
                l->steps[l->step_count++] = (step){.i = i, .treatment = TREAT_DEAD, .position = l->step_count};
    }
    l->block_first[order->count] = l->step_count;
    return true;
}

/* Arguments of jumps, too. */
static void each_use(const ir_instr *i, void (*use)(planner *, ir_value, const ir_instr *), planner *pl) {
    for (uint32_t k = 0; k < i->arg_count; k++)
        use(pl, i->args[k], i);
    for (int t = 0; t < ir_target_count(i); t++)
        for (uint32_t a = 0; a < i->target[t].count; a++)
            use(pl, i->target[t].args[a], i);
}

static void need(planner *pl, ir_value v, const ir_instr *i) {
    (void)i;
    pl->needed[v] = true;
}

/* Backwards over and over, as a loop's parameter is needed by what is behind it. Parameters of blocks are always
 * kept. */
static void find_needed(planner *pl) {
    layout *l = pl->l;
    for (bool news = true; news;) {
        news = false;
        for (uint32_t s = l->step_count; s-- > 0;) {
            step *at = &l->steps[s];
            bool wanted = ir_is_terminator(at->i->op) || portable_may_fail(l, at->i);
            for (uint32_t r = 0; r < at->i->result_count; r++)
                wanted |= pl->needed[at->i->result + r];
            if (!wanted || at->treatment != TREAT_DEAD)
                continue;
            at->treatment = TREAT_CODE;
            each_use(at->i, need, pl);
            news = true;
        }
    }
}

static void count_use(planner *pl, ir_value v, const ir_instr *i) {
    pl->l->uses[v]++;
    pl->l->only_user[v] = ir_is_terminator(i->op) || i->result_count == 0 ? 0 : i->result;
}

static void count_uses(planner *pl) {
    layout *l = pl->l;
    for (uint32_t s = 0; s < l->step_count; s++) {
        const ir_instr *i = l->steps[s].i;
        if (l->steps[s].treatment != TREAT_DEAD)
            each_use(i, count_use, pl);
        for (uint32_t r = 0; r < i->result_count; r++)
            l->position_of[i->result + r] = s;
    }
}

/* ---- one loop for several operations ----------------------------------------------------------------------------- */

static bool same_shape(const fact *a, const fact *b) {
    return a->rank == b->rank && memcmp(a->dim, b->dim, a->rank * sizeof a->dim[0]) == 0;
}

static void fuse(planner *pl) {
    layout *l = pl->l;
    for (uint32_t s = 0; s < l->step_count; s++) {
        const ir_instr *i = l->steps[s].i;
        if (l->steps[s].treatment != TREAT_CODE || i->op != IR_ABI || i->result_count != 1 || !is_tensor(l, i->result))
            continue;
        bool fills = layout_is_fill(i);
        ir_value user = l->uses[i->result] == 1 ? l->only_user[i->result] : 0;
        const ir_instr *by = user ? l->f->values[user].def : NULL;
        if ((!fills && portable_written(i->abi) != WRITTEN_ELEMENT) || portable_may_fail(l, i) || !by ||
            by->block != i->block || by->op != IR_ABI)
            continue;
        bool element = portable_written(by->abi) == WRITTEN_ELEMENT;
        if (element && (fills || same_shape(layout_fact(l, i->result), layout_fact(l, user))))
            l->steps[s].treatment = TREAT_FUSED;
    }
}

/* ---- what is alive ----------------------------------------------------------------------------------------------- */

static bool has_bit(const uint64_t *bits, ir_value v) {
    return bits[v / 64] >> (v % 64) & 1;
}

static void set_bit(uint64_t *bits, ir_value v) {
    bits[v / 64] |= (uint64_t)1 << (v % 64);
}

static bool find_live(planner *pl, const ir_order *order) {
    layout *l = pl->l;
    pl->words = (l->f->value_count + 63) / 64;
    pl->live_in = MASU_ARENA_ARRAY(&pl->p->arena, uint64_t, (size_t)order->count * pl->words + 1);
    pl->live_out = MASU_ARENA_ARRAY(&pl->p->arena, uint64_t, (size_t)order->count * pl->words + 1);
    pl->before = MASU_ARENA_ARRAY(&pl->p->arena, uint64_t, pl->words + 1);
    if (!pl->live_in || !pl->live_out || !pl->before)
        return false;
    for (bool news = true; news;) {
        news = false;
        for (uint32_t k = order->count; k-- > 0;) {
            const ir_block *b = order->blocks[k];
            uint64_t *in = pl->live_in + (size_t)k * pl->words, *out = pl->live_out + (size_t)k * pl->words;
            for (int t = 0; t < ir_target_count(b->last); t++) {
                const uint64_t *next = pl->live_in + (size_t)order->position[b->last->target[t].block->id] * pl->words;
                for (uint32_t w = 0; w < pl->words; w++)
                    out[w] |= next[w];
            }
            for (uint32_t w = 0; w < pl->words; w++) {
                pl->before[w] = in[w];
                in[w] |= out[w];
            }
            for (uint32_t s = l->block_first[k + 1]; s-- > l->block_first[k];) {
                const ir_instr *i = l->steps[s].i;
                for (uint32_t r = 0; r < i->result_count; r++)
                    in[(i->result + r) / 64] &= ~((uint64_t)1 << ((i->result + r) % 64));
                for (uint32_t a = 0; l->steps[s].treatment != TREAT_DEAD && a < i->arg_count; a++)
                    if (is_tensor(l, i->args[a]))
                        set_bit(in, i->args[a]);
                for (int t = 0; t < ir_target_count(i); t++)
                    for (uint32_t a = 0; a < i->target[t].count; a++)
                        if (is_tensor(l, i->target[t].args[a]))
                            set_bit(in, i->target[t].args[a]);
            }
            for (uint32_t q = 0; q < b->param_count; q++)
                in[b->params[q] / 64] &= ~((uint64_t)1 << (b->params[q] % 64));
            news |= memcmp(in, pl->before, pl->words * sizeof *in) != 0;
        }
    }
    return true;
}

/* Where the value is looked at in truth: a fused one's operands where the loop is. */
static uint32_t effective(const layout *l, uint32_t s) {
    while (l->steps[s].treatment == TREAT_FUSED)
        s = l->position_of[l->only_user[l->steps[s].i->result]];
    return s;
}

static void find_last_uses(planner *pl, uint32_t k) {
    layout *l = pl->l;
    for (uint32_t s = l->block_first[k]; s < l->block_first[k + 1]; s++) {
        const ir_instr *i = l->steps[s].i;
        if (l->steps[s].treatment == TREAT_DEAD)
            continue;
        uint32_t at = effective(l, s);
        for (uint32_t a = 0; a < i->arg_count; a++)
            if (pl->last_use[i->args[a]] == NOWHERE || pl->last_use[i->args[a]] < at)
                pl->last_use[i->args[a]] = at;
        for (int t = 0; t < ir_target_count(i); t++)
            for (uint32_t a = 0; a < i->target[t].count; a++)
                pl->last_use[i->target[t].args[a]] = s;
    }
}

static void forget_last_uses(planner *pl, uint32_t k) {
    layout *l = pl->l;
    for (uint32_t s = l->block_first[k]; s < l->block_first[k + 1]; s++) {
        const ir_instr *i = l->steps[s].i;
        for (uint32_t a = 0; a < i->arg_count; a++)
            pl->last_use[i->args[a]] = NOWHERE;
        for (int t = 0; t < ir_target_count(i); t++)
            for (uint32_t a = 0; a < i->target[t].count; a++)
                pl->last_use[i->target[t].args[a]] = NOWHERE;
    }
}

/* Nothing looks at the root behind step s of block k. */
static bool dies(const planner *pl, uint32_t root, uint32_t k, uint32_t s) {
    const uint64_t *out = pl->live_out + (size_t)k * pl->words;
    for (ir_value v = pl->head_of_root[root]; v; v = pl->next_of_root[v])
        if (has_bit(out, v) || (pl->last_use[v] != NOWHERE && pl->last_use[v] > s))
            return false;
    return true;
}

/* ---- roots ------------------------------------------------------------------------------------------------------- */

static uint32_t new_root(planner *pl, root_kind kind, ir_value v) {
    layout *l = pl->l;
    const fact *t = layout_fact(l, v);
    if (l->root_count == l->root_capacity) {
        uint32_t wanted = 2 * l->root_capacity + 16;
        root *grown = masu__arena_grow(&pl->p->arena, l->roots, l->root_capacity, wanted, sizeof *grown,
                                       _Alignof(root));
        uint32_t *heads = masu__arena_grow(&pl->p->arena, pl->head_of_root, l->root_capacity, wanted, sizeof *heads,
                                           _Alignof(uint32_t));
        if (!grown || !heads) {
            pl->p->out_of_memory = true;
            return 0;
        }
        l->roots = grown;
        pl->head_of_root = heads;
        l->root_capacity = wanted;
    }
    l->roots[l->root_count] = (root){
        .kind = kind, .dtype = t->dtype, .elements = fact_elements(t), .first = NOWHERE, .value = v};
    pl->head_of_root[l->root_count] = 0;
    return l->root_count++;
}

static void put_at(planner *pl, ir_value v, uint32_t root) {
    pl->l->places[v].root = root;
    if (pl->p->out_of_memory)
        return;
    pl->next_of_root[v] = pl->head_of_root[root];
    pl->head_of_root[root] = v;
}

static void give_root(planner *pl, root_kind kind, ir_value v) {
    put_at(pl, v, new_root(pl, kind, v));
    pl->l->places[v].offset = 0;
    layout_dense_strides(layout_fact(pl->l, v), pl->l->places[v].stride);
}

/* ---- in place ---------------------------------------------------------------------------------------------------- */

static bool same_place(const layout *l, ir_value a, ir_value b) {
    const fact *fa = layout_fact(l, a), *fb = layout_fact(l, b);
    const place *pa = &l->places[a], *pb = &l->places[b];
    return pa->root == pb->root && pa->offset == pb->offset && same_shape(fa, fb) &&
           memcmp(pa->stride, pb->stride, fa->rank * sizeof pa->stride[0]) == 0;
}

static bool covers_root(const layout *l, ir_value v) {
    const root *r = &l->roots[l->places[v].root];
    return r->kind == ROOT_ARENA && l->places[v].offset == 0 && r->elements == fact_elements(layout_fact(l, v)) &&
           layout_is_dense(l, v);
}

/* Every operand of the loop that lies in the root lies there as `over` does. */
static bool reads_alike(const layout *l, const ir_instr *i, ir_value over) {
    for (uint32_t a = 0; a < i->arg_count; a++) {
        ir_value v = i->args[a];
        if (!is_tensor(l, v))
            continue;
        uint32_t s = l->position_of[v];
        if (s != NOWHERE && l->steps[s].treatment == TREAT_FUSED) {
            if (!layout_is_fill(l->steps[s].i) && !reads_alike(l, l->steps[s].i, over))
                return false;
        } else if (l->places[v].root == l->places[over].root && !same_place(l, v, over)) {
            return false;
        }
    }
    return true;
}

static bool take_over(planner *pl, const ir_instr *top, const ir_instr *i, uint32_t k, uint32_t s) {
    layout *l = pl->l;
    for (uint32_t a = 0; a < i->arg_count; a++) {
        ir_value v = i->args[a];
        if (!is_tensor(l, v))
            continue;
        uint32_t def = l->position_of[v];
        if (def != NOWHERE && l->steps[def].treatment == TREAT_FUSED) {
            if (!layout_is_fill(l->steps[def].i) && take_over(pl, top, l->steps[def].i, k, s))
                return true;
            continue;
        }
        if (layout_fact(l, v)->dtype == layout_fact(l, top->result)->dtype &&
            same_shape(layout_fact(l, v), layout_fact(l, top->result)) && covers_root(l, v) &&
            dies(pl, l->places[v].root, k, s) && reads_alike(l, top, v)) {
            l->places[top->result] = l->places[v];
            put_at(pl, top->result, l->places[v].root);
            return true;
        }
    }
    return false;
}

static void place_update(planner *pl, step *at, uint32_t k, uint32_t s) {
    layout *l = pl->l;
    ir_value over = at->i->args[0];
    bool alone = covers_root(l, over) && dies(pl, l->places[over].root, k, s);
    for (uint32_t a = 1; a < at->i->arg_count && alone; a++)
        alone = !is_tensor(l, at->i->args[a]) || l->places[at->i->args[a]].root != l->places[over].root ||
                same_place(l, over, at->i->args[a]);
    at->in_place = alone;
    if (!alone) {
        give_root(pl, ROOT_ARENA, at->i->result);
        return;
    }
    l->places[at->i->result] = l->places[over];
    put_at(pl, at->i->result, l->places[over].root);
}

static bool all_constant(const layout *l, const ir_instr *i) {
    for (uint32_t a = 0; a < i->arg_count; a++)
        if (!l->f->values[i->args[a]].def || l->f->values[i->args[a]].def->op != IR_CONST)
            return false;
    return true;
}

static void place_result(planner *pl, uint32_t k, uint32_t s) {
    layout *l = pl->l;
    step *at = &l->steps[s];
    const ir_instr *i = at->i;
    place seen;
    if (at->treatment != TREAT_CODE || i->result_count != 1 || !is_tensor(l, i->result))
        return;
    written how = i->op == IR_ABI ? portable_written(i->abi) : WRITTEN_LOOPS;
    if (how == WRITTEN_VIEW && layout_view_of(l, i, &seen)) {
        at->treatment = TREAT_VIEW;
        l->places[i->result] = seen;
        put_at(pl, i->result, seen.root);
    } else if (how == WRITTEN_UPDATE) {
        place_update(pl, at, k, s);
    } else if (layout_is_literal(i) && all_constant(l, i)) {
        give_root(pl, ROOT_CONSTANT, i->result);
    } else if (how != WRITTEN_ELEMENT || !take_over(pl, i, i, k, s)) {
        give_root(pl, ROOT_ARENA, i->result);
    }
}

static void place_all(planner *pl, const ir_order *order) {
    layout *l = pl->l;
    for (uint32_t k = 0; k < l->f->param_count; k++)
        if (is_tensor(l, l->f->params[k]))
            give_root(pl, ROOT_PARAMETER, l->f->params[k]);
    for (uint32_t k = 0; k < order->count; k++)
        for (uint32_t q = 0; q < order->blocks[k]->param_count; q++)
            if (is_tensor(l, order->blocks[k]->params[q]))
                give_root(pl, ROOT_ARENA, order->blocks[k]->params[q]);
    for (uint32_t k = 0; k < order->count && !pl->p->out_of_memory; k++) {
        find_last_uses(pl, k);
        for (uint32_t s = l->block_first[k]; s < l->block_first[k + 1] && !pl->p->out_of_memory; s++)
            place_result(pl, k, s);
        forget_last_uses(pl, k);
    }
}

/* ---- jumps ------------------------------------------------------------------------------------------------------- */

/* Whether an argument lies where another parameter of the target is about to be written: then all go through copies. */
static bool arguments_cross(const layout *l, const ir_target *target) {
    for (uint32_t a = 0; a < target->count; a++)
        for (uint32_t b = 0; b < target->count; b++) {
            ir_value from = target->args[a], to = target->block->params[b];
            if (!is_tensor(l, from) || !is_tensor(l, to) || l->places[from].root != l->places[to].root)
                continue;
            if (a != b || !same_place(l, from, to))
                return true;
        }
    return false;
}

/* Outgoing values that lie in the caller's memory are set aside until the end: another result may be written over
 * it. */
static void find_asides(planner *pl) {
    layout *l = pl->l;
    uint32_t first = NOWHERE;
    for (uint32_t s = 0; s < l->step_count; s++)
        if (layout_gives(l->steps[s].i))
            first = first == NOWHERE ? s : first;
    for (uint32_t s = 0; s < l->step_count && !pl->p->out_of_memory; s++) {
        const ir_instr *i = l->steps[s].i;
        if (!layout_gives(i) || !is_tensor(l, i->args[0]) ||
            l->roots[l->places[i->args[0]].root].kind != ROOT_PARAMETER || layout_is_own(l, i))
            continue;
        l->copies[2 * s] = 1 + l->root_count;
        uint32_t aside = new_root(pl, ROOT_ARENA, i->args[0]);
        if (pl->p->out_of_memory)
            return;
        l->roots[aside].first = first;
        l->roots[aside].last = l->step_count - 1;
        l->roots[aside].is_used = true;
    }
}

/* copies[2 s + t]: 1 + the first of the roots that edge t of step s copies through. */
static void find_crossings(planner *pl) {
    layout *l = pl->l;
    l->copies = MASU_ARENA_ARRAY(&pl->p->arena, uint32_t, 2 * l->step_count + 1);
    pl->p->out_of_memory |= !l->copies;
    for (uint32_t s = 0; s < l->step_count && !pl->p->out_of_memory; s++)
        for (int t = 0; t < ir_target_count(l->steps[s].i); t++) {
            const ir_target *target = &l->steps[s].i->target[t];
            if (!arguments_cross(l, target))
                continue;
            l->copies[2 * s + (uint32_t)t] = 1 + l->root_count;
            for (uint32_t a = 0; a < target->count; a++)
                if (is_tensor(l, target->args[a])) {
                    uint32_t through = new_root(pl, ROOT_ARENA, target->args[a]);
                    if (pl->p->out_of_memory)
                        return;
                    l->roots[through].first = l->roots[through].last = s;
                    l->roots[through].is_used = true;
                }
        }
}

/* ---- lives and the plan ------------------------------------------------------------------------------------------ */

static void lives_at(layout *l, ir_value v, uint32_t position) {
    if (!is_tensor(l, v) || (l->position_of[v] != NOWHERE && (l->steps[l->position_of[v]].treatment == TREAT_FUSED ||
                                                              l->steps[l->position_of[v]].treatment == TREAT_DEAD)))
        return;
    root *r = &l->roots[l->places[v].root];
    r->is_used = true;
    if (r->first == NOWHERE) {
        r->first = r->last = position;
        return;
    }
    r->first = position < r->first ? position : r->first;
    r->last = position > r->last ? position : r->last;
}

static void find_lives(planner *pl, const ir_order *order) {
    layout *l = pl->l;
    for (uint32_t k = 0; k < order->count; k++) {
        uint32_t first = l->block_first[k], end = l->block_first[k + 1];
        for (ir_value v = 1; v < l->f->value_count; v++) {
            if (has_bit(pl->live_in + (size_t)k * pl->words, v))
                lives_at(l, v, first);
            if (has_bit(pl->live_out + (size_t)k * pl->words, v))
                lives_at(l, v, end - 1);
        }
        for (uint32_t q = 0; q < order->blocks[k]->param_count; q++)
            lives_at(l, order->blocks[k]->params[q], first);
        for (uint32_t s = first; s < end; s++) {
            const ir_instr *i = l->steps[s].i;
            if (l->steps[s].treatment == TREAT_DEAD)
                continue;
            for (uint32_t a = 0; a < i->arg_count; a++)
                lives_at(l, i->args[a], effective(l, s));
            for (uint32_t r = 0; r < i->result_count && l->steps[s].treatment != TREAT_FUSED; r++)
                lives_at(l, i->result + r, s);
            for (int t = 0; t < ir_target_count(i); t++)
                for (uint32_t a = 0; a < i->target[t].count; a++) {
                    lives_at(l, i->target[t].args[a], s);
                    lives_at(l, i->target[t].block->params[a], s);
                }
        }
    }
}

/* Rows of one element type, behind what is there. */
static bool plan_type(planner *pl, tl_dtype dtype) {
    layout *l = pl->l;
    portable *p = pl->p;
    masu_plan_row *rows = MASU_ARENA_ARRAY(&p->arena, masu_plan_row, l->root_count + 1);
    uint64_t *offsets = MASU_ARENA_ARRAY(&p->arena, uint64_t, l->root_count + 1);
    uint32_t *of_row = MASU_ARENA_ARRAY(&p->arena, uint32_t, l->root_count + 1), count = 0;
    masu_plan_result result = {0};
    if (!rows || !offsets || !of_row)
        return false;
    for (uint32_t r = 0; r < l->root_count; r++) {
        const root *at = &l->roots[r];
        if (at->kind != ROOT_ARENA || at->dtype != dtype || !at->is_used)
            continue;
        of_row[count] = r;
        rows[count++] = (masu_plan_row){.size_bytes = (uint64_t)at->elements * element_bytes(dtype),
                                        .lower = at->first,
                                        .upper = (int64_t)at->last + 1,
                                        .alignment_bytes = element_bytes(dtype)};
    }
    if (count == 0)
        return true;
    if (masu_plan_solve(rows, count, offsets, &result, NULL) != MASU_OK)
        return false;
    for (uint32_t k = 0; k < count; k++)
        l->roots[of_row[k]].offset = l->bytes + offsets[k];
    l->bytes += result.height_bytes;
    l->bound += result.lower_bound_bytes;
    return true;
}

bool portable_lay_out(portable *p, flat *f, layout *out) {
    ir_order *order = MASU_ARENA_NEW(&p->arena, ir_order);
    uint32_t values = f->f->value_count + 1;
    planner pl = {.p = p, .l = out};
    *out = (layout){.flat = f, .f = f->f, .order = order};
    out->position_of = MASU_ARENA_ARRAY(&p->arena, uint32_t, values);
    out->places = MASU_ARENA_ARRAY(&p->arena, place, values);
    out->uses = MASU_ARENA_ARRAY(&p->arena, uint32_t, values);
    out->only_user = MASU_ARENA_ARRAY(&p->arena, ir_value, values);
    pl.needed = MASU_ARENA_ARRAY(&p->arena, bool, values);
    pl.last_use = MASU_ARENA_ARRAY(&p->arena, uint32_t, values);
    pl.next_of_root = MASU_ARENA_ARRAY(&p->arena, uint32_t, values);
    if (!order || !out->position_of || !out->places || !out->uses || !out->only_user || !pl.needed || !pl.last_use ||
        !pl.next_of_root || !ir_order_compute(order, f->f, &p->arena) || !collect(&pl, order))
        return false;
    memset(out->position_of, 0xff, values * sizeof *out->position_of);
    memset(pl.last_use, 0xff, values * sizeof *pl.last_use);
    find_needed(&pl);
    count_uses(&pl);
    fuse(&pl);
    if (!find_live(&pl, order))
        return false;
    place_all(&pl, order);
    find_crossings(&pl);
    find_asides(&pl);
    if (p->out_of_memory)
        return false;
    find_lives(&pl, order);
    static const tl_dtype pools[] = {TL_F64, TL_I64, TL_F32, TL_BOOL};
    for (size_t k = 0; k < sizeof pools / sizeof pools[0]; k++)
        if (!plan_type(&pl, pools[k]))
            return false;
    f->arena_bytes = out->bytes;
    return true;
}
