/* shape_users.c: see shape_users.h. Two walks: one counts, one writes down. */
#include "language/facts/shape_users.h"

#include <string.h>

#include "language/facts/shape_facts.h"

typedef struct user_walk {
    const ir_function *f;
    value_users *users;
    uint32_t *latest; /* by value: 1 + the block that was noted last */
    bool fill;
} user_walk;

static void note_user(user_walk *w, ir_value v, const ir_block *b) {
    const ir_value_info *info = &w->f->values[v];
    bool own = info->block == b && !info->is_parameter;
    if ((info->type != IR_TENSOR && !shape_is_number(info->type)) || own || w->latest[v] == b->id + 1)
        return;
    w->latest[v] = b->id + 1;
    if (w->fill)
        w->users->blocks[w->users->first[v]] = b->id;
    w->users->first[v]++;
}

static void note_operands(user_walk *w, const ir_instr *i, const ir_block *b, int depth) {
    for (uint32_t a = 0; a < i->arg_count; a++) {
        const ir_instr *def = w->f->values[i->args[a]].def;
        note_user(w, i->args[a], b);
        if (depth == 0 && def && (def->op == IR_ABI || ir_type_of(w->f, i->args[a]) == IR_BOOL))
            note_operands(w, def, b, 1); /* x.shape()[0] and conditions are seen through */
    }
}

static void note_all(user_walk *w) {
    for (uint32_t n = 0; n < w->f->block_count; n++) {
        const ir_block *b = w->f->blocks[n];
        for (const ir_instr *i = b->first; i; i = i->next)
            note_operands(w, i, b, 0);
        for (int t = 0; b->last && t < ir_target_count(b->last); t++)
            for (uint32_t a = 0; a < b->last->target[t].count; a++)
                note_user(w, b->last->target[t].args[a], b);
    }
}

bool value_users_find(value_users *users, const ir_function *f, masu__arena *arena) {
    user_walk w = {.f = f, .users = users};
    uint32_t total = 0;
    users->first = MASU_ARENA_ARRAY(arena, uint32_t, f->value_count + 1);
    w.latest = MASU_ARENA_ARRAY(arena, uint32_t, f->value_count);
    if (!users->first || !w.latest)
        return false;
    note_all(&w);
    for (ir_value v = 0; v <= f->value_count; v++) { /* where each one's part begins */
        uint32_t count = users->first[v];
        users->first[v] = total;
        total += count;
    }
    users->blocks = MASU_ARENA_ARRAY(arena, uint32_t, total);
    if (!users->blocks)
        return false;
    memset(w.latest, 0, f->value_count * sizeof w.latest[0]);
    w.fill = true;
    note_all(&w);
    for (ir_value v = f->value_count; v > 0; v--) /* each has moved to its end */
        users->first[v] = users->first[v - 1];
    users->first[0] = 0;
    return true;
}
