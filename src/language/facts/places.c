/* places.c: see places.h. */
#include "language/facts/places.h"

typedef struct surveyor {
    const tensor_facts *facts;
    const ir_function *f;
    place_life *lives;
    int64_t now;
    bool changed;
    uint32_t *deeper; /* by point: calls before it that may lead back here; NULL: there are none */
} surveyor;

/* ---- own lives ------------------------------------------------------------------------------------- */

static void touch(surveyor *s, ir_value v) {
    place_life *l = &s->lives[v];
    if (l->first < 0 || s->now < l->first)
        l->first = s->now;
    if (s->now > l->last)
        l->last = s->now;
}

static void touch_set(surveyor *s, liveness_set set) {
    for (uint32_t k = 0; k < set.count; k++)
        touch(s, set.values[k]);
}

static void walk_block(surveyor *s, const liveness *l, const ir_block *b) {
    s->now++;
    touch_set(s, l->in[b->id]);
    for (uint32_t p = 0; p < b->param_count; p++)
        touch(s, b->params[p]);
    for (const ir_instr *i = b->first; i; i = i->next) {
        s->now++;
        for (uint32_t a = 0; a < i->arg_count; a++)
            touch(s, i->args[a]);
        for (uint32_t r = 0; r < i->result_count; r++) {
            touch(s, i->result + r);
            s->lives[i->result + r].made = s->now;
        }
    }
    for (int t = 0; t < ir_target_count(b->last); t++) {
        touch_set(s, l->in[b->last->target[t].block->id]);
        for (uint32_t a = 0; a < b->last->target[t].count; a++)
            touch(s, b->last->target[t].args[a]);
    }
}

/* ---- where elements go ------------------------------------------------------------------------------- */

static int64_t smaller(int64_t a, int64_t b) {
    return a < b ? a : b;
}

static void follow(void *user, ir_value from, ir_value to) {
    surveyor *s = user;
    place_life *a = &s->lives[from];
    const place_life *b = &s->lives[to];
    int64_t others = b->first < 0 ? b->others : smaller(b->first, b->others);
    a->flows = true;
    if (b->until > a->until) {
        a->until = b->until;
        s->changed = true;
    }
    if (others < a->others) {
        a->others = others;
        s->changed = true;
    }
}

/* Against the flow: from the last instruction to the first, until nothing changes. */
static void follow_all(surveyor *s) {
    do {
        s->changed = false;
        for (uint32_t b = s->f->block_count; b-- > 0;)
            for (const ir_instr *i = s->f->blocks[b]->last; i; i = i->prev)
                tensor_flows(s->facts, s->f, i, follow, s);
    } while (s->changed);
}

/* ---- recursion --------------------------------------------------------------------------------------- */

static bool leads_back(const surveyor *s, const ir_instr *i) {
    return i->op == IR_CALL && s->facts->recursive[i->callee->id];
}

/* Points as walk_block counts them. */
static bool count_deeper(surveyor *s, masu__arena *scratch) {
    s->deeper = MASU_ARENA_ARRAY(scratch, uint32_t, (size_t)s->now + 2);
    if (!s->deeper)
        return false;
    int64_t now = 0;
    for (uint32_t b = 0; b < s->f->block_count; b++) {
        now++;
        s->deeper[now + 1] = s->deeper[now];
        for (const ir_instr *i = s->f->blocks[b]->first; i; i = i->next) {
            now++;
            s->deeper[now + 1] = s->deeper[now] + leads_back(s, i);
        }
    }
    return true;
}

/* Values that the call makes or takes do not live through it. */
static void find_deep(surveyor *s) {
    for (ir_value v = 1; v < s->f->value_count; v++) {
        place_life *l = &s->lives[v];
        l->deep = l->first >= 0 && l->until > l->first && s->deeper[l->until] > s->deeper[l->first + 1];
    }
}

place_life *place_lives(const tensor_facts *facts, const ir_function *f, masu__arena *scratch) {
    liveness l;
    surveyor s = {.facts = facts, .f = f};
    s.lives = MASU_ARENA_ARRAY(scratch, place_life, f->value_count);
    if (!s.lives || !liveness_compute(&l, f, scratch))
        return NULL;
    for (ir_value v = 0; v < f->value_count; v++)
        s.lives[v] = (place_life){.first = -1, .last = -1, .others = INT64_MAX};
    for (uint32_t b = 0; b < f->block_count; b++)
        walk_block(&s, &l, f->blocks[b]);
    for (ir_value v = 0; v < f->value_count; v++)
        s.lives[v].until = s.lives[v].last;
    follow_all(&s);
    if (facts->recursive[f->id]) {
        if (!count_deeper(&s, scratch))
            return NULL;
        find_deep(&s);
    }
    return s.lives;
}

/* ---- sizes ------------------------------------------------------------------------------------------- */

uint64_t place_bytes_of(const tensor_facts *facts, const ir_function *f, ir_value v) {
    static const uint8_t sizes[] = {4, 8, 8, 1};
    const ir_shape *shape = f->values[v].shape;
    uint8_t dtype = facts->values[f->id][v].dtype;
    if (!shape || !shape->known_rank || dtype >= TL_DTYPE_COUNT)
        return 0;
    uint64_t bytes = sizes[dtype];
    for (uint32_t d = 0; d < shape->rank; d++)
        if (shape->dim[d] < 0 || __builtin_mul_overflow(bytes, (uint64_t)shape->dim[d], &bytes))
            return 0;
    return bytes;
}

bool place_is_private(const tensor_facts *facts, const ir_function *f, ir_value v) {
    const tensor_fact *fact = &facts->values[f->id][v];
    return !fact->kept && !fact->returned && !fact->tracked;
}
