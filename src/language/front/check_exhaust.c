/* check_exhaust.c: which values a match forgets, and which of its arms nothing reaches.
 *
 * One question answers both: is there a value that matches the row q of patterns and no row before it
 * (after Maranget, "Warnings for pattern matching", 2007)? The first column is taken apart by the
 * constructors of its type: each variant of an enum, both bools, the stretches into which the literals and ranges
 * of the column cut the integers:
 *
 *     rows before        q           as constructor Some     rows      q
 *     Some(1)  true      _  _                                1  true   _  _
 *     None     _                                             (gone)
 *
 * The answer is a value, as text, so that the message can name it. The number of steps is bounded; a match that
 * needs more counts as complete.
 */
#include <string.h>

#include "language/front/check_variant.h"
#include "language/types/check_context.h"

enum { STEPS_MAX = 20000 };

typedef __int128 wide;

typedef struct exhaust {
    checker *c;
    uint32_t steps;
} exhaust;

typedef struct matrix {
    const pattern *const **rows;
    uint32_t count, capacity;
} matrix;

typedef struct constructor {
    struct_item *s; /* of a struct or variant; NULL: a tuple, or a stretch of numbers */
    uint32_t variant;
    uint32_t arity;
    bool is_stretch;
    wide low, high;
} constructor;

static const char **useful(exhaust *x, const matrix *m, const pattern *const *q, const type *const *types,
                           uint32_t width);

/* ---- patterns -------------------------------------------------------------------------------- */

static const pattern *plain(const pattern *p) {
    while (p != NULL && p->kind == PATTERN_BOUND)
        p = p->parts[0];
    return p == NULL || p->kind == PATTERN_NAME || p->kind == PATTERN_WILDCARD ? NULL : p;
}

static bool is_counted(const type *t) {
    return type_is_integer(t) || t->kind == TYPE_BOOL || t->kind == TYPE_CHAR;
}

/* Nothing is a character from U+D800 to U+DFFF, and the last is U+10FFFF: characters are counted without that gap. */
enum { FIRST_SURROGATE = 0xD800, SURROGATES = 0x800, LAST_CHARACTER = 0x10FFFF - SURROGATES };

static wide value_of(const expr *e) {
    if (e->kind == EXPR_BOOL)
        return e->boolean;
    if (e->kind == EXPR_CHAR)
        return e->character < FIRST_SURROGATE ? (wide)e->character : (wide)e->character - SURROGATES;
    const expr *v = e->kind == EXPR_NAME && e->name.constant != NULL ? e->name.constant->value : e;
    return v->kind == EXPR_INT ? (type_is_signed(v->type) ? (wide)(int64_t)v->integer.value : (wide)v->integer.value)
                               : 0;
}

static void limits(const type *t, wide *low, wide *high) {
    uint32_t bits = type_bits(t);
    *low = 0;
    *high = t->kind == TYPE_CHAR ? LAST_CHARACTER : ((wide)1 << bits) - 1;
    if (type_is_signed(t)) {
        *low = -((wide)1 << (bits - 1));
        *high = ((wide)1 << (bits - 1)) - 1;
    }
}

static void stretch_of(const pattern *p, const type *t, wide *low, wide *high) {
    limits(t, low, high);
    if (p->kind == PATTERN_LITERAL) {
        *low = *high = value_of(p->low);
        return;
    }
    if (p->low != NULL)
        *low = value_of(p->low);
    if (p->high != NULL)
        *high = value_of(p->high) - !p->inclusive;
}

/* ---- matrices -------------------------------------------------------------------------------- */

static void push_row(exhaust *x, matrix *m, const pattern *const *row) {
    checker *c = x->c;
    CHECK_PUSH(c, m->rows, m->count, m->capacity, row);
}

static const pattern **copy_row(exhaust *x, const pattern *const *from, uint32_t skip, uint32_t front, uint32_t width) {
    const pattern **row = CHECK_ARRAY(x->c, const pattern *, front + width + 1);
    for (uint32_t i = skip; i < width; i++)
        row[front + i - skip] = from[i];
    return row;
}

static bool takes(const pattern *p, const constructor *k, const type *t) {
    if (p == NULL)
        return true;
    if (k->is_stretch) {
        wide low, high;
        stretch_of(p, t, &low, &high);
        return low <= k->low && k->high <= high;
    }
    return k->s == NULL || (p->kind == PATTERN_VARIANT && p->variant == k->variant);
}

/* The row with its first pattern's parts in its place; NULL when it is of another constructor. */
static const pattern *const *specialise(exhaust *x, const pattern *const *row, const constructor *k, const type *t,
                                        uint32_t width) {
    const pattern *p = plain(row[0]);
    if (!takes(p, k, t))
        return NULL;
    const pattern **made = copy_row(x, row, 1, k->arity, width);
    if (p == NULL || k->is_stretch)
        return made;
    uint32_t first = k->s != NULL && k->s->is_enum ? k->s->variants[k->variant].first : 0;
    for (uint32_t i = 0; i < p->part_count; i++) {
        uint32_t at = p->kind == PATTERN_TUPLE ? i : p->part_fields[i] - first;
        if (at < k->arity)
            made[at] = p->parts[i];
    }
    return made;
}

/* Alternatives in the first column become rows of their own. */
static void add_alternatives(exhaust *x, matrix *m, const pattern *const *row, uint32_t width) {
    const pattern *p = plain(row[0]);
    if (p == NULL || p->kind != PATTERN_OR) {
        push_row(x, m, row);
        return;
    }
    for (uint32_t i = 0; i < p->part_count; i++) {
        const pattern **made = copy_row(x, row, 0, 0, width);
        made[0] = p->parts[i];
        add_alternatives(x, m, made, width);
    }
}

/* ---- witnesses ------------------------------------------------------------------------------- */

static const char *text(exhaust *x, masu__buffer *b) {
    const char *made = b->failed ? NULL : masu__arena_strdup(x->c->arena, masu__buffer_text(b));
    masu__buffer_destroy(b);
    if (made == NULL)
        check_out_of_memory(x->c);
    return made;
}

static const char *stretch_text(exhaust *x, const constructor *k, const type *t) {
    masu__buffer b = {0};
    if (t->kind == TYPE_BOOL) {
        masu__buffer_puts(&b, k->low == 0 ? "false" : "true");
    } else if (t->kind == TYPE_CHAR) {
        wide shown = k->low < ' ' && k->high >= ' ' ? ' ' : k->low;
        shown += shown >= FIRST_SURROGATE ? SURROGATES : 0;
        bool plain_letter = shown >= ' ' && shown < 127;
        masu__buffer_printf(&b, plain_letter ? "'%c'" : "'\\u{%x}'", (int)shown);
    } else {
        wide shown = k->low <= 0 && k->high >= 0 ? 0 : k->low > 0 ? k->low : k->high;
        if (shown < 0)
            masu__buffer_printf(&b, "%lld", (long long)shown);
        else
            masu__buffer_printf(&b, "%llu", (unsigned long long)shown);
    }
    return text(x, &b);
}

static const char *constructor_text(exhaust *x, const constructor *k, const type *t, const char **parts) {
    masu__buffer b = {0};
    if (k->is_stretch)
        return stretch_text(x, k, t);
    bool positional = true;
    const struct_field *fields = NULL;
    if (k->s != NULL && k->s->is_enum) {
        const variant_item *v = &k->s->variants[k->variant];
        bool prelude = k->s->span.file == x->c->tree->prelude;
        masu__buffer_printf(&b, "%s%s%s", prelude ? "" : k->s->name, prelude ? "" : "::", v->name);
        positional = v->positional;
        fields = k->s->fields + v->first;
    } else if (k->s != NULL) {
        masu__buffer_puts(&b, k->s->name);
        positional = k->s->positional;
        fields = k->s->fields;
    }
    if (k->arity > 0 || k->s == NULL) {
        masu__buffer_puts(&b, positional ? "(" : " { ");
        for (uint32_t i = 0; i < k->arity; i++) {
            masu__buffer_puts(&b, i == 0 ? "" : ", ");
            if (!positional)
                masu__buffer_printf(&b, "%s: ", fields[i].name);
            masu__buffer_puts(&b, parts[i]);
        }
        masu__buffer_puts(&b, positional ? ")" : " }");
    }
    return text(x, &b);
}

/* ---- one constructor ------------------------------------------------------------------------- */

static const char **with_constructor(exhaust *x, const matrix *m, const pattern *const *q, const type *const *types,
                                     uint32_t width, const constructor *k) {
    checker *c = x->c;
    const pattern *const *row = specialise(x, q, k, types[0], width);
    if (row == NULL)
        return NULL;
    matrix smaller = {0};
    for (uint32_t i = 0; i < m->count; i++) {
        const pattern *const *made = specialise(x, m->rows[i], k, types[0], width);
        if (made != NULL)
            push_row(x, &smaller, made);
    }
    uint32_t inner = k->arity + width - 1;
    const type **parts = CHECK_ARRAY(c, const type *, inner + 1);
    uint32_t first = k->s != NULL && k->s->is_enum ? k->s->variants[k->variant].first : 0;
    for (uint32_t i = 0; i < inner; i++) {
        const type *t = i >= k->arity  ? types[i - k->arity + 1]
                        : k->s != NULL ? k->s->fields[first + i].type
                                       : types[0]->tuple.items[i];
        parts[i] = type_resolve(c->types, t);
    }
    const char **found = useful(x, &smaller, row, parts, inner);
    if (found == NULL)
        return NULL;
    const char **witness = CHECK_ARRAY(c, const char *, width + 1);
    witness[0] = constructor_text(x, k, types[0], found);
    for (uint32_t i = 1; i < width; i++)
        witness[i] = found[k->arity + i - 1];
    return witness;
}

/* ---- the first column ------------------------------------------------------------------------ */

/* Cuts are sorted, each once. Patterns mostly come in order: then the place is the end. */
static void add_cut(checker *c, wide **cuts, uint32_t *count, uint32_t *capacity, wide cut) {
    uint32_t from = 0, to = *count;
    while (from < to) {
        uint32_t middle = from + (to - from) / 2;
        if ((*cuts)[middle] == cut)
            return;
        from = (*cuts)[middle] < cut ? middle + 1 : from;
        to = (*cuts)[middle] < cut ? to : middle;
    }
    CHECK_PUSH(c, *cuts, *count, *capacity, cut);
    memmove(*cuts + from + 1, *cuts + from, (*count - 1 - from) * sizeof **cuts);
    (*cuts)[from] = cut;
}

/* Whether p names numbers; then which. */
static bool is_stretch(const pattern *p, const type *t, wide *low, wide *high) {
    if (p == NULL || (p->kind != PATTERN_LITERAL && p->kind != PATTERN_RANGE))
        return false;
    stretch_of(p, t, low, high);
    return true;
}

/* Cut where any row begins or ends, inside of what the question asks about: a question about one number has no cuts, so
 * that a long match takes quadratic time and not cubic. */
static const char **numbers(exhaust *x, const matrix *m, const pattern *const *q, const type *const *types,
                            uint32_t width) {
    wide first, last, low, high, *cuts = NULL;
    uint32_t count = 0, capacity = 0;
    if (!is_stretch(plain(q[0]), types[0], &first, &last))
        limits(types[0], &first, &last);
    if (first > last)
        return NULL;
    add_cut(x->c, &cuts, &count, &capacity, first);
    add_cut(x->c, &cuts, &count, &capacity, last + 1);
    for (uint32_t i = 0; i < m->count; i++) {
        bool any = is_stretch(plain(m->rows[i][0]), types[0], &low, &high);
        if (any && low > first && low <= last)
            add_cut(x->c, &cuts, &count, &capacity, low);
        if (any && high >= first && high < last)
            add_cut(x->c, &cuts, &count, &capacity, high + 1);
    }
    const char **found = NULL;
    for (uint32_t i = 0; found == NULL && i + 1 < count; i++) {
        constructor k = {.is_stretch = true, .low = cuts[i], .high = cuts[i + 1] - 1};
        found = with_constructor(x, m, q, types, width, &k);
    }
    return found;
}

static const char **parts_of(exhaust *x, const matrix *m, const pattern *const *q, const type *const *types,
                             uint32_t width) {
    const type *t = types[0];
    constructor k = {.arity = t->kind == TYPE_TUPLE ? t->tuple.count : 0};
    if (t->kind == TYPE_TUPLE)
        return with_constructor(x, m, q, types, width, &k);
    k.s = t->structure;
    k.arity = k.s->field_count;
    if (!k.s->is_enum)
        return with_constructor(x, m, q, types, width, &k);
    const char **found = NULL;
    const pattern *asked = plain(q[0]);
    bool one = asked != NULL && asked->kind == PATTERN_VARIANT;
    uint32_t end = one ? asked->variant + 1 : k.s->variant_count;
    for (uint32_t v = one ? asked->variant : 0; found == NULL && v < end; v++) {
        k.variant = v;
        k.arity = k.s->variants[v].count;
        found = with_constructor(x, m, q, types, width, &k);
    }
    return found;
}

static bool same_literal(const pattern *p, const pattern *q) {
    if (p->kind != PATTERN_LITERAL || q->kind != PATTERN_LITERAL || p->low->kind != EXPR_STRING ||
        q->low->kind != EXPR_STRING)
        return false;
    return p->low->string.length == q->low->string.length &&
           memcmp(p->low->string.data, q->low->string.data, p->low->string.length) == 0;
}

/* Strings, floats, tensors: only what matches everything counts, and the same literal again. */
static const char **uncountable(exhaust *x, const matrix *m, const pattern *const *q, const type *const *types,
                                uint32_t width) {
    matrix smaller = {0};
    const pattern *wanted = plain(q[0]);
    for (uint32_t i = 0; i < m->count; i++) {
        const pattern *p = plain(m->rows[i][0]);
        if (p == NULL || (wanted != NULL && same_literal(p, wanted)))
            push_row(x, &smaller, copy_row(x, m->rows[i], 1, 0, width));
    }
    const char **found = useful(x, &smaller, copy_row(x, q, 1, 0, width), types + 1, width - 1);
    if (found == NULL)
        return NULL;
    const char **witness = CHECK_ARRAY(x->c, const char *, width + 1);
    witness[0] = "_";
    memcpy(witness + 1, found, (width - 1) * sizeof *found);
    return witness;
}

static bool any_alternatives(const matrix *m) {
    bool any = false;
    for (uint32_t i = 0; i < m->count && !any; i++) {
        const pattern *p = plain(m->rows[i][0]);
        any = p != NULL && p->kind == PATTERN_OR;
    }
    return any;
}

static bool all_wild(const matrix *m, const pattern *const *q) {
    bool wild = plain(q[0]) == NULL;
    for (uint32_t i = 0; wild && i < m->count; i++)
        wild = plain(m->rows[i][0]) == NULL;
    return wild;
}

static const char **useful(exhaust *x, const matrix *m, const pattern *const *q, const type *const *types,
                           uint32_t width) {
    static const char *nothing[1] = {NULL};
    if (x->steps++ > STEPS_MAX)
        return NULL;
    if (width == 0)
        return m->count == 0 ? nothing : NULL;
    if (type_is_reference(types[0]) && !type_is_slice(types[0])) {
        const type **behind = CHECK_ARRAY(x->c, const type *, width);
        memcpy(behind, types, width * sizeof(const type *));
        behind[0] = type_resolve(x->c->types, type_target(x->c->types, types[0]));
        types = behind;
    }
    const pattern *first = plain(q[0]);
    if (first != NULL && first->kind == PATTERN_OR) {
        const char **found = NULL;
        for (uint32_t i = 0; found == NULL && i < first->part_count; i++) {
            const pattern **row = copy_row(x, q, 0, 0, width);
            row[0] = first->parts[i];
            found = useful(x, m, row, types, width);
        }
        return found;
    }
    matrix flat = any_alternatives(m) ? (matrix){0} : *m; /* long matches have none: no copy */
    for (uint32_t i = 0; i < m->count && flat.rows != m->rows; i++)
        add_alternatives(x, &flat, m->rows[i], width);
    if (all_wild(&flat, q))
        return uncountable(x, &flat, q, types, width);
    if (is_counted(types[0]))
        return numbers(x, &flat, q, types, width);
    if (types[0]->kind == TYPE_TUPLE || types[0]->kind == TYPE_STRUCT)
        return parts_of(x, &flat, q, types, width);
    return uncountable(x, &flat, q, types, width);
}

/* ---- numbers alone --------------------------------------------------------------------------
 *
 * A match of numbers without anything around them is answered by the stretches that the arms cover so far, sorted
 * and apart: long tables take n log n steps, where the question above takes n for each arm.
 */

typedef struct stretch {
    wide low, high;
} stretch;

typedef struct cover {
    stretch *items; /* items[i].high + 1 < items[i + 1].low */
    uint32_t count, capacity;
} cover;

static bool is_number(const pattern *p) {
    p = plain(p);
    if (p == NULL || p->kind == PATTERN_LITERAL || p->kind == PATTERN_RANGE)
        return true;
    for (uint32_t i = 0; p->kind == PATTERN_OR && i < p->part_count; i++)
        if (!is_number(p->parts[i]))
            return false;
    return p->kind == PATTERN_OR;
}

static bool only_numbers(const expr *match, const type *t) {
    for (uint32_t i = 0; i < match->match.count; i++)
        if (!is_number(match->match.arms[i].pattern))
            return false;
    return is_counted(t);
}

/* The first stretch that ends at `from` or behind it. */
static uint32_t cover_find(const cover *seen, wide from) {
    uint32_t low = 0, high = seen->count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        low = seen->items[middle].high < from ? middle + 1 : low;
        high = seen->items[middle].high < from ? high : middle;
    }
    return low;
}

static void cover_add(checker *c, cover *seen, stretch s) {
    uint32_t at = cover_find(seen, s.low - 1), end = at;
    for (; end < seen->count && seen->items[end].low <= s.high + 1; end++) {
        s.low = s.low < seen->items[end].low ? s.low : seen->items[end].low;
        s.high = s.high > seen->items[end].high ? s.high : seen->items[end].high;
    }
    if (end == at) {
        CHECK_PUSH(c, seen->items, seen->count, seen->capacity, s);
        end = at + 1;
        memmove(seen->items + end, seen->items + at, (seen->count - end) * sizeof s);
    } else {
        memmove(seen->items + at + 1, seen->items + end, (seen->count - end) * sizeof s);
        seen->count -= end - at - 1;
    }
    seen->items[at] = s;
}

/* Whether the pattern matches a number that is not covered; `add` then covers what it matches. */
static bool cover_pattern(checker *c, cover *seen, const pattern *p, const type *t, bool add) {
    stretch s;
    bool more = false;
    p = plain(p);
    if (p != NULL && p->kind == PATTERN_OR) {
        for (uint32_t i = 0; i < p->part_count; i++)
            more |= cover_pattern(c, seen, p->parts[i], t, add);
        return more;
    }
    if (p == NULL)
        limits(t, &s.low, &s.high);
    else
        stretch_of(p, t, &s.low, &s.high);
    uint32_t at = cover_find(seen, s.low);
    more = s.low <= s.high && (at == seen->count || seen->items[at].low > s.low || seen->items[at].high < s.high);
    if (more && add)
        cover_add(c, seen, s);
    return more;
}

/* A number that nothing covers, as text; NULL: there is none. */
static const char *cover_gap(exhaust *x, const cover *seen, const type *t) {
    constructor k = {.is_stretch = true};
    limits(t, &k.low, &k.high);
    if (seen->count > 0 && seen->items[0].low <= k.low)
        k.low = seen->items[0].high + 1;
    uint32_t next = cover_find(seen, k.low);
    if (next < seen->count)
        k.high = seen->items[next].low - 1;
    return k.low <= k.high ? stretch_text(x, &k, t) : NULL;
}

/* ---- a match --------------------------------------------------------------------------------- */

static const pattern *const *row_of(checker *c, const pattern *p) {
    const pattern **row = CHECK_ARRAY(c, const pattern *, 1);
    row[0] = p;
    return row;
}

static bool reaches(exhaust *x, const matrix *before, cover *seen, bool counted, const pattern *p, const type *t) {
    return counted ? cover_pattern(x->c, seen, p, t, false)
                   : useful(x, before, row_of(x->c, p), &t, 1) != NULL || x->steps > STEPS_MAX;
}

static void report_missing(checker *c, const expr *match, const char *missing) {
    diagnostic *d = diagnostics_say(c->diagnostics, source_span_make(match->span.file, match->span.offset, 5),
                                    SAY(this_match_does_not_cover_every));
    if (strcmp(missing, "_") != 0)
        diagnostics_note(c->diagnostics, d, (source_span){0}, "`%s` has no arm", missing);
    diagnostics_note(c->diagnostics, d, (source_span){0}, "a last arm `_ => …` does");
}

void check_exhaustive(checker *c, const expr *match, const type *t) {
    exhaust x = {.c = c};
    matrix before = {0};
    cover seen = {0};
    bool counted = only_numbers(match, t);
    for (uint32_t i = 0; i < match->match.count; i++) {
        const match_arm *arm = &match->match.arms[i];
        bool fallback = match->match.is_let && i + 1 == match->match.count;
        if (!fallback && !reaches(&x, &before, &seen, counted, arm->pattern, t)) {
            diagnostic *d = diagnostics_say(c->diagnostics, arm->pattern->span, SAY(nothing_reaches_this_arm));
            diagnostics_note(c->diagnostics, d, (source_span){0}, "the arms before it cover all that it matches");
        }
        if (arm->guard == NULL && counted)
            cover_pattern(c, &seen, arm->pattern, t, true);
        else if (arm->guard == NULL)
            push_row(&x, &before, row_of(c, arm->pattern));
    }
    const char **found = counted ? NULL : useful(&x, &before, row_of(c, NULL), &t, 1);
    const char *missing = counted ? cover_gap(&x, &seen, t) : found == NULL ? NULL : found[0];
    if (missing != NULL)
        report_missing(c, match, missing);
}
