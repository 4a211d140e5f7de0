/* write_weights.c: `masu build --c --weights NAME=FILE`: what a struct's fields hold, as constants of the C.
 *
 *     NAME ─► a type of handles ─► its words, by the names of fields ─► static const arrays, and the struct of them
 *
 * A number that the file does not have is what the call of --arena gives the field, as where a program makes the struct
 * and loads the file into it.
 *
 * What must stay true (tests/cli/plain_c.sh): each word has its item and each item its word, of one shape and a type
 * that holds every value; else nothing is written, and one refusal names them all. The struct is written by no function
 * of the file.
 */
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/meta.h"
#include "language/language.h"
#include "language/portable/writer.h"

uint64_t portable_bytes(tl_dtype dtype, int64_t elements) {
    return (uint64_t)elements * masu_element_bytes((masu_element)dtype);
}

/* ---- which struct ------------------------------------------------------------------------------------------------ */

/* The struct of that name, or of the instance that a call of --arena names so, and the call that makes it. */
static bool find_call(const portable *p, const char *name, baked *out) {
    for (int round = 0; round < 2; round++)
        for (uint32_t k = 0; k < p->call_count; k++) {
            const masu_function *f = &p->shown->functions[p->calls[k].function];
            if (f->result_count != 1 || f->results[0].kind != MASU_KIND_HANDLE)
                continue;
            const char *called = round == 0 ? p->calls[k].name : p->shown->handle_types[f->results[0].handle_type].name;
            out->call = k;
            out->type = f->results[0].handle_type;
            if (called && strcmp(called, name) == 0)
                return true;
        }
    return false;
}

/* The name is one that C has for something else of the header. */
static bool is_taken(const portable *p, const char *symbol, size_t before) {
    for (size_t k = 0; k < before; k++)
        if (strcmp(p->baked[k].symbol, symbol) == 0)
            return true;
    size_t prefix = strlen(p->shown->name) + 1;
    for (uint32_t h = 0; h < p->shown->handle_type_count; h++)
        if (strcmp(p->shown->handle_types[h].name, symbol + prefix) == 0)
            return true;
    for (uint32_t n = 0; n < p->shown->function_count; n++) {
        const char *name = p->shown->functions[n].c_name;
        size_t length = strlen(name);
        bool begins = strncmp(symbol, name, length) == 0; /* and views of arguments are made by NAME_parameter */
        if (begins && (!symbol[length] || strcmp(symbol + length, "_weights") == 0))
            return true;
    }
    return false;
}

static const char *symbol_of(portable *p, const char *name) {
    char *symbol = masu__arena_printf(&p->arena, "%s_%s_weights", p->shown->name, name);
    for (char *at = symbol; at && *at; at++)
        *at = isalnum((unsigned char)*at) ? *at : '_';
    p->out_of_memory |= !symbol;
    return symbol;
}

/* ---- what fits --------------------------------------------------------------------------------------------------- */

/* The field, with dots where structs lie in it. */
const char *portable_file_name(portable *p, const fact_list *list, uint32_t word) {
    const char *dot = list->leaves[word].name ? strchr(list->leaves[word].name, '.') : NULL;
    const char *name = dot ? dot + 1 : masu__arena_printf(&p->arena, "field%u", word);
    p->out_of_memory |= !name;
    return name ? name : "";
}

static masu_element element_of(const fact_list *list, uint32_t word) {
    ir_type type = list->leaves[word].type;
    if (type == IR_TENSOR)
        return (masu_element)list->words[word].dtype;
    return type == IR_F32 ? MASU_F32 : type == IR_F64 ? MASU_F64 : type == IR_BOOL ? MASU_BOOL : MASU_I64;
}

static void put_wanted(masu__buffer *out, const fact_list *list, uint32_t word) {
    bool number = list->leaves[word].type != IR_TENSOR;
    masu__buffer_puts(out, write_short_type((tl_dtype)element_of(list, word)));
    write_shape(out, number ? &(fact){.kind = FACT_TENSOR} : &list->words[word]);
}

static bool fits(const masu_weight *item, const fact_list *list, uint32_t word) {
    const fact *t = &list->words[word];
    uint32_t rank = list->leaves[word].type == IR_TENSOR ? t->rank : 0;
    bool same = item->rank == rank && (item->fits >> element_of(list, word) & 1);
    for (uint32_t d = 0; same && d < rank; d++)
        same = item->shape[d] == t->dim[d];
    return same;
}

/* from->count: there is none. */
static size_t find_item(const masu_weights *from, const char *name) {
    size_t i = 0;
    while (i < from->count && strcmp(from->items[i].name, name) != 0)
        i++;
    return i;
}

/* The number that the call which made the struct gives the word; NULL: it says none. */
static const fact *number_of(const portable *p, const baked *b, uint32_t word) {
    const fact *made = p->flats[b->call].made;
    return made && made[word].kind == FACT_NUMBER ? &made[word] : NULL;
}

static bool holds(ir_type type, int64_t v) {
    unsigned bits = ir_type_bits(type);
    if (!ir_type_integer(type) && type != IR_CHAR)
        return true;
    if (!ir_type_signed(type))
        return v >= 0 && (bits >= 64 || v >> bits == 0);
    return bits >= 64 || (v >= -(INT64_C(1) << (bits - 1)) && v < INT64_C(1) << (bits - 1));
}

/* The elements of a word, to be given back with masu__meta_free; NULL: refused. */
static void *read_word(portable *p, const baked *b, uint32_t word, size_t bytes) {
    const fact_list *list = p->handles[b->type].list;
    masu_element element = element_of(list, word);
    void *data = masu__meta_calloc(1, bytes);
    if (!data) {
        p->out_of_memory = true;
        return NULL;
    }
    const char *why = b->from->read(b->from->user, b->item[word], element, data);
    if (!why && list->leaves[word].type != IR_TENSOR && element == MASU_I64 &&
        !holds(list->leaves[word].type, *(const int64_t *)data))
        why = masu__arena_printf(&p->arena, "the type of `%s` does not hold its number",
                                 portable_file_name(p, list, word));
    if (!why)
        return data;
    portable_refuse(p, NULL, (source_span){0}, "--weights %s=%s: %s", b->from->name, b->from->path, why);
    masu__meta_free(data, bytes);
    return NULL;
}

/* A number that is not a field of C is read all the same: it may be one that its type does not hold. */
static void judge_number(portable *p, const baked *b, uint32_t word) {
    int64_t room = 0;
    void *data = read_word(p, b, word, sizeof room);
    if (data)
        masu__meta_free(data, sizeof room);
}

bool portable_weight_number(portable *p, const masu_weights *from, const fact_list *list, uint32_t word, fact *out) {
    size_t at = find_item(from, portable_file_name(p, list, word));
    masu_element element = element_of(list, word);
    int64_t number = 0;
    bool truth = false;
    if (at == from->count || !fits(&from->items[at], list, word))
        return false;
    if (from->read(from->user, at, element, element == MASU_BOOL ? (void *)&truth : &number))
        return false;
    number = element == MASU_BOOL ? truth : number;
    if (!holds(list->leaves[word].type, number))
        return false;
    *out = (fact){.kind = FACT_NUMBER, .i = number};
    return true;
}

/* The items of all words, or what is missing, too many or of another shape. */
static void match(portable *p, baked *b, masu__buffer *wrong) {
    const fact_list *list = p->handles[b->type].list;
    const masu_weights *from = b->from;
    size_t *item = MASU_ARENA_ARRAY(&p->arena, size_t, list->width + 1);
    bool *used = MASU_ARENA_ARRAY(&p->arena, bool, from->count + 1);
    if (!item || !used) {
        p->out_of_memory = true;
        return;
    }
    b->item = item;
    for (uint32_t k = 0; k < list->width && !portable_stopped(p); k++) {
        const char *name = portable_file_name(p, list, k);
        bool chosen = handle_word_is_chosen(list, k);
        size_t at = item[k] = find_item(from, name);
        used[at] = true;
        if (at < from->count ? fits(&from->items[at], list, k) : chosen || number_of(p, b, k)) {
            if (chosen && at < from->count)
                judge_number(p, b, k);
            continue;
        }
        masu__buffer_printf(wrong, "%s`%s` is ", wrong->length ? "; " : "", name);
        if (at == from->count) {
            masu__buffer_puts(wrong, "missing, a ");
            put_wanted(wrong, list, k);
            continue;
        }
        fact there = {.kind = FACT_TENSOR, .rank = from->items[at].rank};
        memcpy(there.dim, from->items[at].shape, there.rank * sizeof *there.dim);
        masu__buffer_puts(wrong, from->items[at].type);
        write_shape(wrong, &there);
        masu__buffer_puts(wrong, " and not ");
        put_wanted(wrong, list, k);
    }
    for (size_t i = 0; i < from->count; i++)
        if (!used[i])
            masu__buffer_printf(wrong, "%s`%s` is not a field", wrong->length ? "; " : "", from->items[i].name);
}

static const char *why_not(portable *p, baked *b, size_t number, masu__buffer *wrong) {
    if (!find_call(p, b->from->name, b))
        return "no call of --arena yields a struct or an instance of this name, such as m = Net::new(3, 4)";
    if (p->handles[b->type].is_written)
        return "a function of this file writes to it, so that its arrays cannot be constants: leave the function out "
               "of --arena";
    b->symbol = symbol_of(p, b->from->name);
    if (!b->symbol || is_taken(p, b->symbol, number))
        return "its constant would have the name of something else in C: name an instance otherwise in --arena";
    match(p, b, wrong);
    return wrong->length ? masu__buffer_text(wrong) : NULL;
}

void portable_find_weights(portable *p) {
    size_t count = p->options->weights_count;
    p->baked = MASU_ARENA_ARRAY(&p->arena, baked, count + 1);
    p->out_of_memory |= !p->baked;
    for (size_t k = 0; k < count && !portable_stopped(p); k++) {
        masu__buffer wrong = {0};
        p->baked[k].from = &p->options->weights[k];
        const char *why = why_not(p, &p->baked[k], k, &wrong);
        p->out_of_memory |= wrong.failed;
        if (why)
            portable_refuse(p, NULL, (source_span){0}, "--weights %s=%s: %s", p->baked[k].from->name,
                            p->baked[k].from->path, why);
        masu__buffer_destroy(&wrong);
    }
}

/* ---- C ----------------------------------------------------------------------------------------------------------- */

/* In base 16, so that every bit is kept. */
static void put_real(masu__buffer *out, double v, bool narrow) {
    if (isfinite(v))
        masu__buffer_printf(out, "%a%s", v, narrow ? "f" : "");
    else
        masu__buffer_printf(out, "%s(%s)%s", v < 0 ? "-" : "", narrow ? "float" : "double",
                            isnan(v) ? "NAN" : "INFINITY");
}

static void put_number(masu__buffer *out, ir_type type, int64_t i, double f) {
    if (ir_type_float(type))
        put_real(out, f, type == IR_F32);
    else
        write_number(out, type, i, f);
}

static void put_element(masu__buffer *out, masu_element element, ir_type type, const void *data, int64_t at) {
    if (element == MASU_F32)
        put_real(out, (double)((const float *)data)[at], true);
    else if (element == MASU_F64)
        put_real(out, ((const double *)data)[at], false);
    else
        write_number(out, type, element == MASU_BOOL ? ((const unsigned char *)data)[at] : ((const int64_t *)data)[at],
                     0);
}

static int64_t elements_of(const fact_list *list, uint32_t word) {
    return list->leaves[word].type == IR_TENSOR ? fact_elements(&list->words[word]) : 1;
}

/* An array before the struct, or a number in it. */
static void put_word(writer *w, masu__buffer *out, size_t number, uint32_t word, masu__buffer *fields) {
    const baked *b = &w->p->baked[number];
    const fact_list *list = w->p->handles[b->type].list;
    masu_element element = element_of(list, word);
    bool tensor = list->leaves[word].type == IR_TENSOR;
    int64_t elements = elements_of(list, word), kept = elements ? elements : 1;
    size_t bytes = (size_t)portable_bytes((tl_dtype)element, kept);
    masu__buffer_printf(fields, "    .%s = ", write_field_name(w->p, &list->leaves[word], word));
    if (b->item[word] == b->from->count) {
        const fact *made = number_of(w->p, b, word);
        put_number(fields, list->leaves[word].type, made->i, made->f);
        masu__buffer_puts(fields, ",\n");
        return;
    }
    void *data = read_word(w->p, b, word, bytes);
    if (!data)
        return;
    if (tensor) {
        masu__buffer_printf(fields, "weights_%zu_%u,\n", number, word);
        masu__buffer_printf(out, "/* %s of %s: ", write_field_name(w->p, &list->leaves[word], word), b->symbol);
        write_shape(out, &list->words[word]);
        masu__buffer_printf(out, " */\nstatic const _Alignas(8) %s weights_%zu_%u[%lld] = {",
                            functions_element_type((tl_dtype)element), number, word, (long long)kept);
        for (int64_t e = 0; e < kept; e++) {
            masu__buffer_puts(out, e % 8 == 0 ? "\n    " : " ");
            put_element(out, element, element == MASU_BOOL ? IR_BOOL : IR_I64, data, e);
            masu__buffer_putc(out, ',');
        }
        masu__buffer_puts(out, "};\n\n");
        w->p->flash_bytes += bytes;
    } else {
        put_element(fields, element, list->leaves[word].type, data, 0);
        masu__buffer_puts(fields, ",\n");
    }
    masu__meta_free(data, bytes);
}

void write_weights(writer *w, masu__buffer *out) {
    portable *p = w->p;
    for (size_t k = 0; k < p->options->weights_count; k++) {
        masu__buffer fields = {0};
        const fact_list *list = p->handles[p->baked[k].type].list;
        for (uint32_t word = 0; word < list->width && !portable_stopped(p); word++)
            if (!handle_word_is_chosen(list, word))
                put_word(w, out, k, word, &fields);
        if (!fields.length)
            masu__buffer_puts(&fields, "    0,\n");
        masu__buffer_printf(out, "const %s_%s %s = {\n%s};\n\n", p->shown->name,
                            p->shown->handle_types[p->baked[k].type].name, p->baked[k].symbol,
                            masu__buffer_text(&fields));
        write_drop(w, &fields);
    }
}

void write_weights_declared(writer *w, masu__buffer *out) {
    const portable *p = w->p;
    for (size_t k = 0; k < p->options->weights_count; k++) {
        masu__buffer_puts(out, "\n/* The weights of ");
        write_comment(out, p->baked[k].from->path);
        masu__buffer_printf(out, ", in flash. */\nextern const %s_%s %s;\n", p->shown->name,
                            p->shown->handle_types[p->baked[k].type].name, p->baked[k].symbol);
    }
}
