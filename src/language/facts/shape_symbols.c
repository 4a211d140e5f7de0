/* shape_symbols.c: see shape_symbols.h. */
#include "language/facts/shape_symbols.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_SYMBOLS = 1 << 20, LONGEST_NAME = 32, DEEPEST = 6 };

/* ---- the table ------------------------------------------------------------------------------- */

static uint32_t hash_of(const shape_symbol *x) {
    uint64_t h = (uint64_t)x->kind * 0x9E3779B97F4A7C15u ^ x->function;
    const uint64_t parts[4] = {x->a, x->b, (uint64_t)x->mul, (uint64_t)x->add};
    for (int i = 0; i < 4; i++)
        h = (h ^ parts[i]) * 0xBF58476D1CE4E5B9u, h ^= h >> 29;
    return (uint32_t)(h ^ h >> 32);
}

static bool same(const shape_symbol *x, const shape_symbol *y) {
    return x->kind == y->kind && x->function == y->function && x->a == y->a && x->b == y->b && x->mul == y->mul &&
           x->add == y->add;
}

static bool grow(shape_symbols *s) {
    uint32_t capacity = s->capacity ? s->capacity * 2 : 64;
    shape_symbol *all = masu__arena_grow(s->arena, s->all, s->capacity, capacity, sizeof *all, _Alignof(shape_symbol));
    uint32_t *buckets = MASU_ARENA_ARRAY(s->arena, uint32_t, capacity * 2);
    if (!all || !buckets || capacity > MOST_SYMBOLS) {
        s->out_of_memory |= capacity <= MOST_SYMBOLS;
        return false;
    }
    s->all = all;
    s->capacity = capacity;
    s->buckets = buckets;
    s->bucket_count = capacity * 2;
    s->count = s->count ? s->count : 1;
    for (uint32_t i = 1; i < s->count; i++) {
        uint32_t at = hash_of(&all[i]) & (s->bucket_count - 1);
        while (buckets[at])
            at = (at + 1) & (s->bucket_count - 1);
        buckets[at] = i;
    }
    return true;
}

static uint32_t intern(shape_symbols *s, shape_symbol x) {
    if (s->count == s->capacity && !grow(s))
        return 0;
    uint32_t at = hash_of(&x) & (s->bucket_count - 1);
    for (; s->buckets[at]; at = (at + 1) & (s->bucket_count - 1))
        if (same(&s->all[s->buckets[at]], &x))
            return s->buckets[at];
    s->buckets[at] = s->count;
    s->all[s->count] = x;
    return s->count++;
}

uint32_t shape_symbol_value(shape_symbols *s, const ir_function *f, ir_value v) {
    return intern(s, (shape_symbol){.kind = ATOM_VALUE, .function = f->id, .a = v});
}

uint32_t shape_symbol_dim(shape_symbols *s, const ir_function *f, ir_value v, uint32_t dim) {
    return intern(s, (shape_symbol){.kind = ATOM_DIM, .function = f->id, .a = v, .b = dim});
}

/* ---- arithmetic ------------------------------------------------------------------------------ */

static int64_t wrap_mul(int64_t a, int64_t b) {
    return (int64_t)((uint64_t)a * (uint64_t)b);
}

static int64_t wrap_add(int64_t a, int64_t b) {
    return (int64_t)((uint64_t)a + (uint64_t)b);
}

static const shape_length nothing = {0};

static shape_length number(int64_t n) {
    return (shape_length){.known = true, .number = n};
}

static shape_length symbol(uint32_t x) {
    return (shape_length){.symbol = x};
}

/* The symbol as mul * atom + add. */
static shape_symbol affine_of(const shape_symbols *s, uint32_t x) {
    if (s->all[x].kind == ATOM_AFFINE)
        return s->all[x];
    return (shape_symbol){.kind = ATOM_AFFINE, .function = s->all[x].function, .a = x, .mul = 1, .add = 0};
}

static shape_length of_affine(shape_symbols *s, shape_symbol x) {
    if (x.mul == 0)
        return number(x.add);
    return symbol(x.mul == 1 && x.add == 0 ? x.a : intern(s, x));
}

static shape_length with_number(shape_symbols *s, ir_opcode op, uint32_t x, int64_t n) {
    if (!x)
        return nothing;
    shape_symbol affine = affine_of(s, x);
    if (op == IR_ADD || op == IR_SUB) {
        affine.add = wrap_add(affine.add, op == IR_ADD ? n : wrap_mul(n, -1));
    } else if (op == IR_MUL) {
        affine.mul = wrap_mul(affine.mul, n);
        affine.add = wrap_mul(affine.add, n);
    } else if (n == 1) {
        return symbol(x);
    } else {
        return symbol(
            intern(s, (shape_symbol){.kind = ATOM_QUOTIENT, .function = s->all[x].function, .a = x, .add = n}));
    }
    return of_affine(s, affine);
}

static shape_length of_two(shape_symbols *s, ir_opcode op, uint32_t x, uint32_t y) {
    shape_symbol a = affine_of(s, x), b = affine_of(s, y);
    static const shape_atom kinds[] = {
        [IR_ADD] = ATOM_SUM, [IR_SUB] = ATOM_DIFFERENCE, [IR_MUL] = ATOM_PRODUCT, [IR_DIV] = ATOM_QUOTIENT};
    if (a.a == b.a && (op == IR_ADD || op == IR_SUB)) {
        int64_t sign = op == IR_ADD ? 1 : -1;
        a.mul = wrap_add(a.mul, wrap_mul(b.mul, sign));
        a.add = wrap_add(a.add, wrap_mul(b.add, sign));
        return of_affine(s, a);
    }
    if (op == IR_MUL && a.add == 0 && b.add == 0 && (a.mul != 1 || b.mul != 1))
        return with_number(s, IR_MUL, of_two(s, IR_MUL, a.a, b.a).symbol, wrap_mul(a.mul, b.mul));
    shape_symbol made = {.kind = kinds[op], .function = s->all[x].function, .a = x, .b = y};
    if (x > y && (op == IR_ADD || op == IR_MUL)) { /* one order, so that equal ones are found */
        made.a = y;
        made.b = x;
    }
    return symbol(intern(s, made));
}

shape_length shape_combine(shape_symbols *s, ir_opcode op, shape_length a, shape_length b) {
    bool both = (a.known || a.symbol) && (b.known || b.symbol);
    if (!both || (op != IR_ADD && op != IR_SUB && op != IR_MUL && op != IR_DIV))
        return nothing;
    if (a.known && b.known) {
        if (op == IR_DIV)
            return b.number > 0 ? number(a.number / b.number) : nothing;
        return number(op == IR_MUL ? wrap_mul(a.number, b.number)
                                   : wrap_add(a.number, op == IR_ADD ? b.number : wrap_mul(b.number, -1)));
    }
    if (b.known)
        return op == IR_DIV && b.number <= 0 ? nothing : with_number(s, op, a.symbol, b.number);
    if (!a.known)
        return of_two(s, op, a.symbol, b.symbol);
    if (op == IR_ADD || op == IR_MUL)
        return with_number(s, op, b.symbol, a.number);
    if (op == IR_DIV)
        return nothing;
    shape_length negated = with_number(s, IR_MUL, b.symbol, -1);
    return negated.symbol ? with_number(s, IR_ADD, negated.symbol, a.number) : nothing;
}

shape_length shape_divide(shape_symbols *s, shape_length a, shape_length b) {
    if (!b.known || b.number <= 0)
        return nothing;
    if (a.known)
        return a.number % b.number == 0 ? number(a.number / b.number) : nothing;
    shape_symbol affine = a.symbol ? affine_of(s, a.symbol) : (shape_symbol){0};
    if (!a.symbol || affine.mul % b.number != 0 || affine.add % b.number != 0)
        return nothing;
    affine.mul /= b.number;
    affine.add /= b.number;
    return of_affine(s, affine);
}

bool shape_lengths_differ(const shape_symbols *s, int64_t dim, int64_t other) {
    if (dim >= 0 && other >= 0)
        return dim != other;
    uint32_t x = shape_symbol_of_dim(dim), y = shape_symbol_of_dim(other);
    if (!x || !y || x == y)
        return false;
    shape_symbol a = affine_of(s, x), b = affine_of(s, y);
    return a.a == b.a && a.mul == b.mul && a.add != b.add;
}

/* ---- from callee to caller ------------------------------------------------------------------- */

static shape_length translate(shape_symbols *s, uint32_t x, shape_leaf *leaf, void *context, int depth) {
    static const ir_opcode ops[] = {
        [ATOM_SUM] = IR_ADD, [ATOM_DIFFERENCE] = IR_SUB, [ATOM_PRODUCT] = IR_MUL, [ATOM_QUOTIENT] = IR_DIV};
    if (!x || depth == DEEPEST)
        return nothing;
    shape_symbol it = s->all[x]; /* a copy: the table may move */
    if (it.kind == ATOM_VALUE || it.kind == ATOM_DIM)
        return leaf(context, &it);
    shape_length a = translate(s, it.a, leaf, context, depth + 1);
    if (it.kind == ATOM_AFFINE)
        return shape_combine(s, IR_ADD, shape_combine(s, IR_MUL, a, number(it.mul)), number(it.add));
    shape_length b = it.kind == ATOM_QUOTIENT && !it.b ? number(it.add) : translate(s, it.b, leaf, context, depth + 1);
    return shape_combine(s, ops[it.kind], a, b);
}

shape_length shape_translate(shape_symbols *s, uint32_t x, shape_leaf *leaf, void *context) {
    return translate(s, x, leaf, context, 0);
}

/* ---- text ------------------------------------------------------------------------------------ */

typedef struct writer {
    const shape_symbols *s;
    masu__buffer *out;
    bool failed; /* something has no short name */
} writer;

/* alone: nothing is beside it, so that it needs no parentheses */
static void put_source(writer *w, const ir_value_info *info, bool alone) {
    source_span span = info->span;
    const char *text = span.file ? span.file->text + span.offset : NULL;
    if (info->name && info->name[0] != '<')
        masu__buffer_puts(w->out, info->name);
    else if (text && span.length > 0 && span.length <= LONGEST_NAME / 2 && !memchr(text, '\n', span.length) &&
             (alone || !memchr(text, ' ', span.length)))
        masu__buffer_append(w->out, text, span.length);
    else
        w->failed = true;
}

static void put(writer *w, uint32_t x, int depth, int binds);

/* binds: 0 a sum may be here, 1 a product, 2 only a name */
static void put_pair(writer *w, uint32_t a, const char *op, uint32_t b, int64_t n, int depth, int level, int binds) {
    bool parentheses = binds > level;
    masu__buffer_puts(w->out, parentheses ? "(" : "");
    put(w, a, depth, level);
    masu__buffer_puts(w->out, op);
    if (b)
        put(w, b, depth, level + 1);
    else
        masu__buffer_printf(w->out, "%" PRId64, n);
    masu__buffer_puts(w->out, parentheses ? ")" : "");
}

static void put_affine(writer *w, const shape_symbol *x, int depth, int binds) {
    bool sum = x->add != 0, parentheses = sum && binds > 0;
    masu__buffer_puts(w->out, parentheses ? "(" : "");
    if (x->mul == -1 && sum) { /* 8 - n */
        masu__buffer_printf(w->out, "%" PRId64 " - ", x->add);
        put(w, x->a, depth, 1);
    } else {
        if (x->mul == 1)
            put(w, x->a, depth, 0);
        else
            put_pair(w, x->a, " * ", 0, x->mul, depth, 1, sum ? 0 : binds);
        if (sum)
            masu__buffer_printf(w->out, x->add > 0 ? " + %" PRIu64 : " - %" PRIu64,
                                x->add > 0 ? (uint64_t)x->add : 0 - (uint64_t)x->add);
    }
    masu__buffer_puts(w->out, parentheses ? ")" : "");
}

static void put(writer *w, uint32_t number, int depth, int binds) {
    const shape_symbol *x = &w->s->all[number];
    const ir_function *f = w->s->m->functions[x->function];
    if (depth == DEEPEST || w->failed) {
        w->failed = true;
        return;
    }
    if (x->alias) {
        masu__buffer_puts(w->out, x->alias);
        return;
    }
    switch (x->kind) {
    case ATOM_VALUE:
        put_source(w, &f->values[x->a], depth == 0);
        break;
    case ATOM_DIM:
        put_source(w, &f->values[x->a], false);
        masu__buffer_printf(w->out, ".dim(%" PRIu32 ")", x->b);
        break;
    case ATOM_SUM:
        put_pair(w, x->a, " + ", x->b, 0, depth + 1, 0, binds);
        break;
    case ATOM_DIFFERENCE:
        put_pair(w, x->a, " - ", x->b, 0, depth + 1, 0, binds);
        break;
    case ATOM_PRODUCT:
        put_pair(w, x->a, " * ", x->b, 0, depth + 1, 1, binds);
        break;
    case ATOM_QUOTIENT:
        put_pair(w, x->a, " / ", x->b, x->add, depth + 1, 1, binds);
        break;
    case ATOM_AFFINE:
        put_affine(w, x, depth + 1, binds);
        break;
    }
}

bool shape_symbol_is_own(const shape_symbols *s, uint32_t x, const ir_function *f, ir_value v) {
    const shape_symbol *it = &s->all[x];
    return it->kind == ATOM_DIM && it->function == f->id && it->a == v && !it->alias;
}

const char *shape_symbol_text(shape_symbols *s, uint32_t x) {
    masu__buffer out = {0};
    writer w = {.s = s, .out = &out};
    const char *text = x ? s->all[x].text : "?";
    if (text)
        return text;
    put(&w, x, 0, 0);
    text = "?";
    if (!w.failed && out.length > 0 && out.length <= LONGEST_NAME)
        text = masu__arena_strdup(s->m->arena, masu__buffer_text(&out));
    masu__buffer_destroy(&out);
    s->out_of_memory |= !text;
    s->all[x].text = text ? text : "?";
    return s->all[x].text;
}

/* ---- variables ------------------------------------------------------------------------------- */

typedef struct naming {
    const char *name;
    uint32_t symbol;
} naming;

static int by_name(const void *a, const void *b) {
    const naming *x = a, *y = b;
    int order = strcmp(x->name, y->name);
    return order ? order : (x->symbol > y->symbol) - (x->symbol < y->symbol);
}

/* A name that means different lengths at different places says nothing. */
void shape_symbols_name(shape_symbols *s, const ir_function *f, const uint32_t *symbols) {
    naming *named = MASU_ARENA_ARRAY(s->arena, naming, f->value_count);
    size_t count = 0;
    for (ir_value v = 1; named && v < f->value_count; v++)
        if (f->values[v].type == IR_I64 && f->values[v].name && f->values[v].name[0] != '<')
            named[count++] = (naming){f->values[v].name, symbols[v]};
    s->out_of_memory |= !named;
    if (count > 1)
        qsort(named, count, sizeof *named, by_name);
    for (size_t first = 0, end; first < count; first = end) {
        for (end = first + 1; end < count && strcmp(named[end].name, named[first].name) == 0;)
            end++;
        uint32_t x = named[first].symbol;
        if (x && x == named[end - 1].symbol && !s->all[x].alias &&
            !(s->all[x].kind == ATOM_VALUE && s->all[x].function == f->id && f->values[s->all[x].a].name))
            s->all[x].alias = named[first].name;
    }
}
