/* liveness.c: see liveness.h. Blocks are visited in postorder, so that most need one visit and one more for each
 * loop around them.
 */
#include "language/pass/liveness.h"

#include "language/ir/cfg.h"

static uint64_t *row(const liveness *l, uint64_t *rows, const ir_block *b) { return rows + (size_t)b->id * l->words; }

static void set_bit(uint64_t *bits, uint32_t at) { bits[at / 64] |= UINT64_C(1) << at % 64; }

/* ---- which values are tracked ------------------------------------------------------------------------------------------- */

static void note_use(liveness *l, const ir_block *b, ir_value v) {
    const ir_value_info *info = &l->function->values[v];
    if (ir_type_managed(info->type) && info->block != b)
        l->index[v] = 1;
}

static void note_uses(liveness *l, const ir_block *b) {
    for (const ir_instr *i = b->first; i; i = i->next) {
        for (uint32_t a = 0; a < i->arg_count; a++)
            note_use(l, b, i->args[a]);
        for (int t = 0; t < ir_target_count(i); t++)
            for (uint32_t a = 0; a < i->target[t].count; a++)
                note_use(l, b, i->target[t].args[a]);
    }
}

static bool number_tracked(liveness *l, masu__arena *scratch) {
    const ir_function *f = l->function;
    l->index = MASU_ARENA_ARRAY(scratch, uint32_t, f->value_count);
    l->values = MASU_ARENA_ARRAY(scratch, ir_value, f->value_count);
    if (!l->index || !l->values)
        return false;
    for (uint32_t b = 0; b < f->block_count; b++)
        note_uses(l, f->blocks[b]);
    l->tracked = 0;
    for (ir_value v = 1; v < f->value_count; v++) {
        if (!l->index[v])
            continue;
        l->values[l->tracked++] = v;
        l->index[v] = l->tracked;
    }
    l->words = (l->tracked + 63) / 64;
    return true;
}

/* ---- the equations ------------------------------------------------------------------------------------------------------------ */

static void use(const liveness *l, uint64_t *used, const ir_block *b, ir_value v) {
    if (l->index[v] && l->function->values[v].block != b)
        set_bit(used, l->index[v] - 1);
}

static void fill_used(const liveness *l, uint64_t *rows, const ir_block *b) {
    uint64_t *used = row(l, rows, b);
    for (const ir_instr *i = b->first; i; i = i->next) {
        for (uint32_t a = 0; a < i->arg_count; a++)
            use(l, used, b, i->args[a]);
        for (int t = 0; t < ir_target_count(i); t++)
            for (uint32_t a = 0; a < i->target[t].count; a++)
                use(l, used, b, i->target[t].args[a]);
    }
}

static void fill_defined(const liveness *l, uint64_t *rows) {
    for (uint32_t t = 0; t < l->tracked; t++) {
        const ir_block *home = l->function->values[l->values[t]].block;
        set_bit(row(l, rows, home), t);
    }
}

/* True when in(b) grew. */
static bool update(liveness *l, const uint64_t *defined, const ir_block *b) {
    uint64_t *in = row(l, l->in, b), *out = row(l, l->out, b);
    const uint64_t *def = defined + (size_t)b->id * l->words;
    for (int t = 0; t < ir_target_count(b->last); t++) {
        const uint64_t *next = row(l, l->in, b->last->target[t].block);
        for (uint32_t w = 0; w < l->words; w++)
            out[w] |= next[w];
    }
    bool grew = false;
    for (uint32_t w = 0; w < l->words; w++) { /* in starts as used(b) */
        uint64_t more = in[w] | (out[w] & ~def[w]);
        grew |= more != in[w];
        in[w] = more;
    }
    return grew;
}

bool liveness_compute(liveness *l, const ir_function *f, masu__arena *scratch) {
    ir_order order;
    l->function = f;
    if (!number_tracked(l, scratch) || !ir_order_compute(&order, f, scratch))
        return false;
    size_t all = (size_t)l->words * f->block_count;
    l->in = MASU_ARENA_ARRAY(scratch, uint64_t, all);
    l->out = MASU_ARENA_ARRAY(scratch, uint64_t, all);
    uint64_t *defined = MASU_ARENA_ARRAY(scratch, uint64_t, all);
    if (!l->in || !l->out || !defined)
        return false;
    for (uint32_t b = 0; b < f->block_count; b++)
        fill_used(l, l->in, f->blocks[b]);
    fill_defined(l, defined);
    for (bool grew = true; grew;) {
        grew = false;
        for (uint32_t k = order.count; k-- > 0;)
            grew |= update(l, defined, order.blocks[k]);
    }
    return true;
}

uint32_t liveness_list(const liveness *l, const uint64_t *rows, const ir_block *b, ir_value *list) {
    uint32_t count = 0;
    for (uint32_t w = 0; w < l->words; w++)
        for (uint64_t bits = rows[(size_t)b->id * l->words + w]; bits; bits &= bits - 1)
            list[count++] = l->values[w * 64 + (uint32_t)__builtin_ctzll(bits)];
    return count;
}
