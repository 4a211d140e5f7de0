/* explain_words.c: see explain_words.h. */
#include <inttypes.h>
#include <string.h>

#include "language/explain/explain_events.h"
#include "language/facts/tensor_facts.h"

enum { SHORT_QUOTE = 24, MOST_SHOWN = 2 };

/* ---- names ----------------------------------------------------------------------------------- */

/* As much of the source text as fits: no line end, no half of a character. */
static void put_quote(source_span span, masu__buffer *out) {
    const char *text = span.file->text + span.offset;
    uint32_t length = 0, shown = 0;
    while (length < span.length && text[length] != '\n' && shown < SHORT_QUOTE)
        shown += ((unsigned char)text[length++] & 0xC0) != 0x80;
    while (length < span.length && ((unsigned char)text[length] & 0xC0) == 0x80)
        length++;
    masu__buffer_append(out, text, length);
    masu__buffer_puts(out, length < span.length ? "…" : "");
}

void explain_name(const ir_function *f, ir_value v, masu__buffer *out) {
    const ir_value_info *info = &f->values[v];
    masu__buffer_putc(out, '`');
    bool spoken = info->name && info->name[0] != '<'; /* not `<list>`: the compiler's own */
    if (spoken)
        masu__buffer_puts(out, info->name);
    else if (info->span.file && info->span.length > 0)
        put_quote(info->span, out);
    else if (info->name)
        masu__buffer_puts(out, info->name);
    else
        masu__buffer_printf(out, "%%%" PRIu32, v);
    masu__buffer_putc(out, '`');
}

void explain_shape(const ir_function *f, ir_value v, masu__buffer *out) {
    const ir_shape *s = f->values[v].shape;
    if (!s || !s->known_rank)
        return;
    masu__buffer_putc(out, ' ');
    ir_shape_put(s, out);
}

/* ---- places ---------------------------------------------------------------------------------- */

/* The operation that has no elements of its own to place: a view, or what writes into its operand. NULL: v is none of
 * these. */
static const ir_instr *sharing_one(const ir_function *f, ir_value v) {
    const ir_instr *i = f->values[v].def;
    bool shares = i && i->op == IR_ABI && tensor_kind(i) & TENSOR_SHARES;
    return shares && !tensor_makes_fresh(f, i) ? i : NULL;
}

bool explain_changes(const ir_function *f, const ir_instr *i) {
    return i->op == IR_ABI && i->arg_count > 0 && i->result_count == 1 && tl_abi_functions[i->abi].effects & REPLACES &&
           ir_type_of(f, i->result) == IR_OBJECT;
}

bool explain_is_view(const ir_function *f, ir_value v) {
    return f->values[v].pooled && sharing_one(f, v);
}

static void put_shared(const ir_function *f, const ir_instr *i, masu__buffer *out) {
    bool writes = tl_abi_functions[i->abi].effects & REPLACES;
    masu__buffer_puts(out, writes ? " written into " : " with the elements of ");
    explain_name(f, i->args[0], out);
    masu__buffer_puts(out, writes ? ", copied first where others have them" : "");
}

void explain_buffer(const ir_function *f, ir_value v, masu__buffer *out) {
    const ir_place *place = ir_place_of(f, v);
    const char *why = f->values[v].pooled;
    if (place && place->bytes)
        masu__buffer_printf(out, " in the frame at %" PRIu64 ", %" PRIu64 " bytes", place->at, place->bytes);
    else if (place && place->slot)
        masu__buffer_printf(out, " in growing slot %" PRIu32, place->slot - 1);
    else if (place && place->dest)
        masu__buffer_puts(out, " where the caller has room");
    else if (why && sharing_one(f, v))
        put_shared(f, sharing_one(f, v), out);
    else if (why)
        masu__buffer_printf(out, " in a pool (%s)", why);
}

int explain_place_of(const ir_function *f, ir_value v) {
    const ir_place *place = ir_place_of(f, v);
    if (place && place->bytes)
        return EXPLAIN_IN_FRAME;
    if (place && place->slot)
        return EXPLAIN_IN_SLOT;
    if (place && place->dest)
        return EXPLAIN_AT_CALLER;
    return f->values[v].pooled && !sharing_one(f, v) ? EXPLAIN_IN_POOL : EXPLAIN_NOWHERE;
}

static void add_name(explain_sharing *s, const char *name) {
    for (uint32_t k = 0; k < s->count; k++)
        if (strcmp(s->names[k], name) == 0)
            return;
    if (s->count < EXPLAIN_MOST_SHARING)
        s->names[s->count++] = name;
}

explain_sharing *explain_sharing_of(const ir_function *f, masu__arena *scratch) {
    explain_sharing *s = MASU_ARENA_ARRAY(scratch, explain_sharing, f->slot_count + 1);
    for (ir_value v = 1; s && v < f->value_count; v++)
        if (f->values[v].slot >= 0 && f->values[v].name && f->values[v].name[0] != '<' &&
            (uint32_t)f->values[v].slot < f->slot_count)
            add_name(&s[f->values[v].slot], f->values[v].name);
    return s;
}

/* Where the value is while something may raise, and the names of others that are there. */
void explain_slot(const ir_function *f, ir_value v, const explain_sharing *sharing, masu__buffer *out) {
    const char *own = f->values[v].name;
    int32_t slot = f->values[v].slot;
    uint32_t shown = 0;
    if (slot < 0)
        return;
    masu__buffer_printf(out, ", slot %" PRId32, slot);
    for (uint32_t k = 0; (uint32_t)slot < f->slot_count && k < sharing[slot].count; k++) {
        const char *name = sharing[slot].names[k];
        if (own && strcmp(own, name) == 0)
            continue;
        masu__buffer_puts(out, shown == 0 ? " with " : ", ");
        if (shown == MOST_SHOWN) {
            masu__buffer_puts(out, "…");
            return;
        }
        masu__buffer_printf(out, "`%s`", name);
        shown++;
    }
}

/* ---- counts ---------------------------------------------------------------------------------- */

const char *explain_reason(const ir_function *f, const ir_instr *acquire) {
    ir_value v = acquire->args[0];
    const ir_instr *taker = acquire->next;
    uint32_t takes = 0, acquired = 1;
    while (taker && (taker->op == IR_ACQUIRE || taker->op == IR_UNROOT || taker->op == IR_ROOT)) {
        acquired += taker->op == IR_ACQUIRE && taker->args[0] == v;
        taker = taker->next;
    }
    for (const ir_instr *i = acquire->prev; i && i->op == IR_ACQUIRE; i = i->prev)
        acquired += i->args[0] == v;
    for (uint32_t a = 0; taker && a < taker->arg_count; a++)
        takes += taker->args[a] == v && ir_consumes(taker, a);
    for (uint32_t a = 0; taker && taker->op == IR_JUMP && a < taker->target[0].count; a++)
        takes += taker->target[0].args[a] == v;
    if (f->values[v].borrowed)
        return "it is only borrowed and must outlive the call";
    return takes > acquired ? "it is given away twice" : "it is still needed afterwards";
}
