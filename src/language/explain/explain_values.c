/* explain_values.c: each tensor and object of a function, and each further name of one: where its elements lie, in
 * which slot it is while something may fail, what was done with it, and where it ends.
 *
 *     values of step{ob}
 *         `w`, line 3: parameter, owned, slot 0; last used in line 6; moves into f{o} in line 6
 *         `g * 0.1`, line 4: made [8, 8] in the frame at 0, 256 bytes, slot 1; last used in line 5; dies in line 5
 *         `v`, line 5: another name of `w`
 *
 * Names are of the source, numbers of the final text: nothing is said that the program does not do.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "language/explain/explain_values.h"
#include "language/explain/explain_words.h"

enum { MOST_ENDS = 3, MOST_LENT_SHOWN = 2, MOST_SOURCES = 3 };

typedef struct ending {
    const ir_instr *by; /* a release, or who takes it; NULL: a jump */
    uint32_t line;
} ending;

typedef struct story {
    ending ends[MOST_ENDS];
    const ir_function *lent[EXPLAIN_MOST_LENT]; /* those called, each once */
    ir_value sources[MOST_SOURCES];             /* of a parameter of a block: what leads there */
    uint32_t end_count, lent_count, source_count;
    uint32_t lent_kinds;     /* of lent */
    const ir_instr *counted; /* the first acquire */
    uint32_t acquires;
    uint32_t last_line; /* of its last use in the text */
    bool exists;        /* a value that is still in the text */
} story;

typedef struct entry {
    uint32_t line, order;
    ir_value value;
    const ir_alias *alias; /* NULL: the value itself */
} entry;

typedef struct teller {
    const ir_function *f;
    masu__arena scratch;
    story *stories; /* by value */
    explain_sharing *sharing;
    entry *entries;
    uint32_t entry_count;
    uint32_t line;
} teller;

static bool managed(const ir_function *f, ir_value v) {
    return ir_type_managed(ir_type_of(f, v));
}

static uint32_t line_of(source_span span) {
    return span.file ? source_place_of(span).line : 0;
}

/* ---- gathering --------------------------------------------------------------------------------- */

static bool reads_the_same(const ir_instr *a, const ir_instr *b) {
    return a == b || (a && b && a->op == b->op && a->callee == b->callee);
}

static void end(teller *t, ir_value v, const ir_instr *by) {
    story *s = &t->stories[v];
    if (!managed(t->f, v))
        return;
    for (uint32_t k = 0; k < s->end_count && k < MOST_ENDS; k++)
        if (s->ends[k].line == t->line && reads_the_same(s->ends[k].by, by))
            return;
    if (s->end_count < MOST_ENDS)
        s->ends[s->end_count] = (ending){by, t->line};
    s->end_count++;
}

static void lend(story *s, const ir_function *to) {
    s->lent_count++;
    for (uint32_t k = 0; k < s->lent_kinds && k < EXPLAIN_MOST_LENT; k++)
        if (s->lent[k] == to)
            return;
    if (s->lent_kinds < EXPLAIN_MOST_LENT)
        s->lent[s->lent_kinds] = to;
    s->lent_kinds++;
}

static void hear_operand(teller *t, const ir_instr *i, uint32_t a) {
    ir_value v = i->args[a];
    story *s = &t->stories[v];
    if (i->op == IR_ACQUIRE) {
        s->counted = s->counted ? s->counted : i;
        s->acquires++;
    } else if (i->op == IR_RELEASE || ir_consumes(i, a)) {
        end(t, v, i);
    } else if (i->op == IR_CALL) {
        lend(s, i->callee);
    }
    if (i->op != IR_RELEASE && i->op != IR_ROOT && i->op != IR_UNROOT && i->op != IR_ACQUIRE && t->line > s->last_line)
        s->last_line = t->line;
}

static bool same_name(const ir_function *f, ir_value a, ir_value b) {
    const char *x = f->values[a].name, *y = f->values[b].name;
    return a == b || (x && y && strcmp(x, y) == 0);
}

/* Another source of what a block is given, unless it is one more of the same name. */
static void lead(teller *t, ir_value to, ir_value from) {
    story *s = &t->stories[to];
    for (uint32_t k = 0; k < s->source_count && k < MOST_SOURCES; k++)
        if (same_name(t->f, s->sources[k], from))
            return;
    if (same_name(t->f, from, to))
        return;
    if (s->source_count < MOST_SOURCES)
        s->sources[s->source_count] = from;
    s->source_count++;
}

static void hear(teller *t, const ir_instr *i) {
    uint32_t line = line_of(i->span);
    t->line = line ? line : t->line;
    for (uint32_t a = 0; a < i->arg_count; a++)
        if (managed(t->f, i->args[a]))
            hear_operand(t, i, a);
    for (uint32_t r = 0; r < i->result_count; r++)
        t->stories[i->result + r].exists = true;
    for (int k = 0; k < ir_target_count(i); k++)
        for (uint32_t a = 0; a < i->target[k].count; a++) {
            end(t, i->target[k].args[a], NULL);
            lead(t, i->target[k].block->params[a], i->target[k].args[a]);
        }
}

/* An instruction that a pass inserted at the start of a block belongs to the line behind it. */
static uint32_t first_line(const ir_function *f, const ir_block *b) {
    for (const ir_instr *i = b->first; i; i = i->next)
        if (line_of(i->span))
            return line_of(i->span);
    return line_of(f->span);
}

static void add_entry(teller *t, ir_value v, const ir_alias *alias) {
    uint32_t line = line_of(alias ? alias->span : t->f->values[v].span);
    t->entries[t->entry_count] = (entry){line, t->entry_count, v, alias};
    t->entry_count++;
}

static int by_line(const void *a, const void *b) {
    const entry *x = a, *y = b;
    if (x->line != y->line)
        return x->line < y->line ? -1 : 1;
    return (x->order > y->order) - (x->order < y->order);
}

/* A word of an enum that another variant would use; it is not shown. */
static bool is_bare_nothing(const ir_function *f, ir_value v) {
    const ir_value_info *info = &f->values[v];
    return info->def && info->def->op == IR_NOTHING && !info->name;
}

static bool list(teller *t) {
    t->entries = MASU_ARENA_ARRAY(&t->scratch, entry, t->f->value_count + t->f->alias_count);
    if (!t->entries)
        return false;
    for (ir_value v = 1; v < t->f->value_count; v++)
        if (managed(t->f, v) && t->stories[v].exists && !is_bare_nothing(t->f, v))
            add_entry(t, v, NULL);
    for (uint32_t a = 0; a < t->f->alias_count; a++)
        add_entry(t, t->f->aliases[a].value, &t->f->aliases[a]);
    if (t->entry_count > 0)
        qsort(t->entries, t->entry_count, sizeof *t->entries, by_line);
    return true;
}

static bool gather(teller *t) {
    t->stories = MASU_ARENA_ARRAY(&t->scratch, story, t->f->value_count);
    t->sharing = explain_sharing_of(t->f, &t->scratch);
    if (!t->stories || !t->sharing)
        return false;
    for (uint32_t p = 0; p < t->f->param_count; p++)
        t->stories[t->f->params[p]].exists = true;
    for (uint32_t b = 0; b < t->f->block_count; b++) {
        const ir_block *block = t->f->blocks[b];
        t->line = first_line(t->f, block);
        for (uint32_t k = 0; k < block->param_count; k++)
            t->stories[block->params[k]].exists = true;
        for (const ir_instr *i = block->first; i; i = i->next)
            hear(t, i);
    }
    return list(t);
}

/* ---- telling ----------------------------------------------------------------------------------- */

static const char *kind_of(const ir_value_info *info) {
    if (info->is_parameter)
        return "parameter";
    if (!info->def)
        return "joined";
    switch (info->def->op) {
    case IR_CALL:
        return "received";
    case IR_NOTHING:
        return "nothing";
    case IR_RECORD_WORD:
        return "taken";
    default:
        return "made";
    }
}

static const char *where_of(const ir_function *f, ir_value v) {
    const ir_place *place = ir_place_of(f, v);
    const ir_value_info *info = &f->values[v];
    if (place && place->bytes)
        return "frame";
    if (place && place->slot)
        return "growing";
    if (place && place->dest)
        return "caller";
    if (info->pooled)
        return explain_is_view(f, v) ? "view" : "pool";
    bool made = info->def && (info->def->op == IR_ABI || info->def->op == IR_RECORD);
    return made && info->type == IR_OBJECT ? "object" : "elsewhere";
}

static void put_sources(const teller *t, ir_value v, masu__buffer *out) {
    const story *s = &t->stories[v];
    for (uint32_t k = 0; k < s->source_count && k < MOST_SOURCES; k++) {
        masu__buffer_puts(out, k == 0 ? ": " : k + 1 < s->source_count ? ", " : " or ");
        explain_name(t->f, s->sources[k], out);
    }
    if (s->source_count > MOST_SOURCES)
        masu__buffer_puts(out, ", …");
}

/* The origin of an element of a vector, which counts where the vector keeps it. */
static void put_taken(const ir_instr *word, masu__buffer *out) {
    const ir_instr *by = word->prev;
    while (by && !(by->op == IR_ABI && by->arg_count > 0 && by->args[by->arg_count - 1] == word->args[0]))
        by = by->prev;
    masu__buffer_puts(out, "taken from a vector or box");
    if (by && (by->abi == TL_FN_tl_vec_get || by->abi == TL_FN_tl_vec_at))
        masu__buffer_puts(out, " with a count, for that keeps it");
}

static void put_origin(const teller *t, ir_value v, explain_account *account) {
    const ir_value_info *info = &t->f->values[v];
    masu__buffer *out = &account->origin;
    if (info->is_parameter)
        masu__buffer_puts(out, info->borrowed ? "parameter, borrowed" : "parameter, owned");
    else if (!info->def)
        masu__buffer_puts(out, "whichever way led here");
    else if (info->def->op == IR_CALL)
        masu__buffer_printf(out, "received from %s", info->def->callee->name);
    else if (info->def->op == IR_NOTHING)
        masu__buffer_puts(out, "holds nothing");
    else if (info->def->op == IR_RECORD_WORD)
        put_taken(info->def, out);
    else if (explain_changes(t->f, info->def))
        masu__buffer_puts(out, "changed in place, copied first where others have it");
    else
        masu__buffer_puts(out, "made");
    explain_shape(t->f, v, out);
    if (!info->is_parameter && !info->def)
        put_sources(t, v, out);
    if (info->def && info->def->reuse) {
        masu__buffer_puts(out, " over ");
        explain_name(t->f, info->def->reuse, out);
    }
    explain_buffer(t->f, v, out);
    if (strcmp(account->where, "object") == 0 && !explain_changes(t->f, info->def))
        masu__buffer_puts(out, " in a pool, as texts, vectors and boxes are");
}

static void put_end(const ending *e, bool changed, masu__buffer *out) {
    if (!e->by)
        masu__buffer_puts(out, "goes on under another name");
    else if (e->by->op == IR_RELEASE)
        masu__buffer_puts(out, "dies");
    else if (e->by->op == IR_RET)
        masu__buffer_puts(out, "moves out");
    else if (e->by->op == IR_CALL)
        masu__buffer_printf(out, "moves into %s", e->by->callee->name);
    else if (e->by->op == IR_RECORD)
        masu__buffer_puts(out, "moves into a vector or box");
    else if (changed)
        masu__buffer_puts(out, "is changed in place");
    else
        masu__buffer_puts(out, "moves");
    if (e->line)
        masu__buffer_printf(out, " in line %" PRIu32, e->line);
}

static void put_ends(const teller *t, ir_value v, explain_account *account) {
    const story *s = &t->stories[v];
    for (uint32_t k = 0; k < s->end_count && k < MOST_ENDS; k++) {
        masu__buffer_puts(&account->ends, k ? ", " : "");
        const ir_instr *by = s->ends[k].by;
        bool changed = by && explain_changes(t->f, by) && by->args[0] == v;
        put_end(&s->ends[k], changed, &account->ends);
        account->moved |= by && by->op != IR_RELEASE && !changed;
    }
    if (s->end_count > MOST_ENDS)
        masu__buffer_puts(&account->ends, ", …");
}

void explain_put_lent(const explain_account *account, masu__buffer *out) {
    for (uint32_t k = 0; k < account->lent_kinds && k < MOST_LENT_SHOWN; k++)
        masu__buffer_printf(out, "%s%s", k ? ", " : "lent to ", account->lent_to[k]->name);
    if (account->lent_kinds > MOST_LENT_SHOWN)
        masu__buffer_printf(out, " and %" PRIu32 " more", account->lent_kinds - MOST_LENT_SHOWN);
}

void explain_put_sharers(const ir_function *f, const explain_sharers *s, masu__buffer *out) {
    for (uint32_t k = 0; k < s->count && k < EXPLAIN_MOST_SHARERS; k++) {
        masu__buffer_puts(out, k ? ", " : ", shared with ");
        explain_name(f, s->of[k], out);
    }
    if (s->count > EXPLAIN_MOST_SHARERS)
        masu__buffer_printf(out, " and %" PRIu32 " more", s->count - EXPLAIN_MOST_SHARERS);
}

static void add_sharer(explain_sharers *s, ir_value v) {
    if (s->count < EXPLAIN_MOST_SHARERS)
        s->of[s->count] = v;
    s->count++;
}

static bool meets(const ir_place *a, const ir_place *b) {
    return a->at < b->at + b->bytes && b->at < a->at + a->bytes;
}

static void find_sharers(const teller *t, ir_value v, explain_account *account) {
    const ir_place *place = ir_place_of(t->f, v);
    bool framed = place && place->bytes > 0;
    for (ir_value other = 1; (account->slot >= 0 || framed) && other < t->f->value_count; other++) {
        if (other == v || !t->stories[other].exists)
            continue;
        if (account->slot >= 0 && t->f->values[other].slot == account->slot)
            add_sharer(&account->slot_sharers, other);
        const ir_place *its = framed ? ir_place_of(t->f, other) : NULL;
        if (its && its->bytes && meets(its, place))
            add_sharer(&account->byte_sharers, other);
    }
}

static void tell_value(const teller *t, ir_value v, explain_account *account) {
    const ir_value_info *info = &t->f->values[v];
    const story *s = &t->stories[v];
    account->kind = kind_of(info);
    account->where = where_of(t->f, v);
    account->why_pool = strcmp(account->where, "pool") == 0 ? info->pooled : NULL;
    account->slot = info->slot;
    account->last_use = s->last_line;
    account->lent = s->lent_count;
    account->counted = s->acquires;
    account->why_counted = s->acquires > 0 ? explain_reason(t->f, s->counted) : NULL;
    account->borrowed = info->borrowed || s->lent_count > 0;
    explain_name(t->f, v, &account->name);
    put_origin(t, v, account);
    explain_slot(t->f, v, t->sharing, &account->slot_words);
    account->lent_to = s->lent;
    account->lent_kinds = s->lent_kinds;
    put_ends(t, v, account);
    find_sharers(t, v, account);
}

static void tell_name(const teller *t, const ir_alias *alias, explain_account *account) {
    bool exists = t->stories[alias->value].exists;
    account->kind = "name";
    account->where = "elsewhere";
    account->slot = -1;
    account->value = exists ? alias->value : 0;
    masu__buffer_printf(&account->name, "`%s`", alias->name);
    masu__buffer_puts(&account->origin, exists ? "another name of " : "never read");
    if (exists)
        explain_name(t->f, alias->value, &account->origin);
}

bool explain_tell(const ir_function *f, explain_visit *visit, void *user) {
    teller t = {.f = f};
    explain_account account = {0};
    masu__buffer *all[] = {&account.name, &account.origin, &account.slot_words, &account.ends};
    const int count = sizeof all / sizeof *all;
    bool well = f->is_kernel || gather(&t);
    for (uint32_t k = 0; well && k < t.entry_count; k++) {
        account.line = t.entries[k].line;
        account.value = t.entries[k].value;
        account.lent = account.lent_kinds = account.counted = account.last_use = 0;
        account.slot_sharers.count = account.byte_sharers.count = 0;
        account.moved = account.borrowed = false;
        account.why_pool = account.why_counted = NULL;
        for (int b = 0; b < count; b++)
            masu__buffer_truncate(all[b], 0);
        if (t.entries[k].alias)
            tell_name(&t, t.entries[k].alias, &account);
        else
            tell_value(&t, t.entries[k].value, &account);
        visit(user, &account);
    }
    for (int b = 0; b < count; b++) {
        well &= !all[b]->failed;
        masu__buffer_destroy(all[b]);
    }
    masu__arena_destroy(&t.scratch);
    return well;
}
