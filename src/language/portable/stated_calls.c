/* stated_calls.c: the calls that `masu build --c --arena CALLS` names: which functions are written, and for which
 * shapes.
 *
 *     "m = Net::new(3, 4); Net::forward(m, [2, 3], _)"
 *
 *     [2, 3]    a tensor of this shape                3, 0.5, true    this number and no other
 *     _         any number                            m               the handle that a call before yields: its shapes,
 *                                                                       no value
 *
 * A call that is given a name only says shapes; the others are written. A function without tensors and handles needs no
 * call where there are none.
 */
#include "language/portable/portable.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_CALLS = 64, NAME_BYTES = 96 };

typedef struct reader {
    portable *p;
    const char *at;
} reader;

static bool wrong(reader *r, const char *what) {
    portable_refuse(r->p, NULL, (source_span){0}, "--arena: %s at `%.40s`", what, r->at);
    return false;
}

static void skip(reader *r) {
    while (isspace((unsigned char)*r->at))
        r->at++;
}

static bool accept(reader *r, char letter) {
    skip(r);
    bool is = *r->at == letter;
    r->at += is;
    return is;
}

static const char *read_name(reader *r) {
    skip(r);
    size_t length = 0;
    while (isalnum((unsigned char)r->at[length]) || r->at[length] == '_' || r->at[length] == ':')
        length++;
    if (length == 0 || length >= NAME_BYTES || isdigit((unsigned char)*r->at)) {
        wrong(r, "a name is wanted");
        return NULL;
    }
    const char *name = masu__arena_strndup(&r->p->arena, r->at, length);
    r->p->out_of_memory |= !name;
    r->at += length;
    return name;
}

static bool read_shape(reader *r, const masu_parameter *p, fact *out) {
    *out = (fact){.kind = FACT_TENSOR, .dtype = (tl_dtype)p->element};
    if (!accept(r, '['))
        return wrong(r, "a shape such as [2, 3] is wanted");
    while (!accept(r, ']')) {
        char *end;
        if ((out->rank > 0 && !accept(r, ',')) || out->rank == TL_MAX_RANK)
            return wrong(r, "a shape is wanted");
        skip(r);
        out->dim[out->rank++] = strtoll(r->at, &end, 10);
        if (end == r->at || out->dim[out->rank - 1] < 0 || out->dim[out->rank - 1] > INT32_MAX)
            return wrong(r, "a length is wanted");
        r->at = end;
    }
    if (p->rank >= 0 && (uint32_t)p->rank != out->rank)
        return wrong(r, "another number of dimensions is wanted before this");
    if (fact_elements(out) > INT32_MAX)
        return wrong(r, "this shape has too many elements");
    return true;
}

static bool read_number(reader *r, const masu_parameter *p, fact *out) {
    char *end;
    *out = fact_of(FACT_NUMBER);
    skip(r);
    if (*r->at == '_' && !isalnum((unsigned char)r->at[1])) {
        r->at++;
        *out = fact_of(FACT_ANY);
        return true;
    }
    if (p->kind == MASU_KIND_BOOL) {
        bool yes = strncmp(r->at, "true", 4) == 0;
        if (!yes && strncmp(r->at, "false", 5) != 0)
            return wrong(r, "true, false or _ is wanted");
        out->i = yes;
        r->at += yes ? 4 : 5;
        return true;
    }
    errno = 0;
    if (p->kind == MASU_KIND_I64)
        out->i = strtoll(r->at, &end, 10);
    else
        out->f = p->kind == MASU_KIND_F32 ? (double)strtof(r->at, &end) : strtod(r->at, &end);
    if (end == r->at || isnan(out->f))
        return wrong(r, "a number or _ is wanted");
    if (p->kind == MASU_KIND_I64 ? errno || out->i < p->least || out->i > p->most : errno && isinf(out->f))
        return wrong(r, "the type does not hold the number before this");
    r->at = end;
    return true;
}

static bool read_handle(reader *r, const masu_parameter *p, fact *out) {
    portable *all = r->p;
    const char *name = read_name(r);
    for (uint32_t k = all->call_count; name && k-- > 0;) {
        if (!all->calls[k].name || strcmp(all->calls[k].name, name) != 0)
            continue;
        const masu_function *f = &all->shown->functions[all->calls[k].function];
        if (f->results[0].handle_type != p->handle_type)
            return wrong(r, "a handle of another type is wanted before this");
        *out = all->flats[k].given[0];
        return true;
    }
    return name ? wrong(r, "no call before yields a handle of this name") : false;
}

static bool read_argument(reader *r, const masu_parameter *p, fact *out) {
    if (p->kind == MASU_KIND_TENSOR)
        return read_shape(r, p, out);
    if (p->kind == MASU_KIND_HANDLE)
        return read_handle(r, p, out);
    if (p->kind == MASU_KIND_TEXT)
        return wrong(r, "texts have no form in plain C; there is one");
    return read_number(r, p, out);
}

/* ---- following --------------------------------------------------------------------------------------------------- */

static bool keep_handle(portable *p, const masu_parameter *shown, fact *given) {
    handle_shape *known = &p->handles[shown->handle_type];
    if (given->kind != FACT_LIST || given->list->count != 1)
        return true;
    for (uint32_t k = 0; k < given->list->width; k++)
        if (given->list->words[k].kind == FACT_LIST || given->list->words[k].kind == FACT_TEXT ||
            given->list->words[k].kind == FACT_NOTHING) {
            portable_refuse(p, NULL, (source_span){0},
                            "a `%s` holds a list, a text or a None, which has no form in plain C",
                            p->shown->handle_types[shown->handle_type].name);
            return false;
        }
    bool same = !known->list || known->list->width == given->list->width;
    if (!handle_keeps(p, shown->handle_type, given->list))
        return false;
    for (uint32_t k = 0; known->list && same && k < given->list->width; k++)
        same = known->list->words[k].kind == FACT_ANY || fact_same(&known->list->words[k], &given->list->words[k]);
    if (!same) {
        portable_refuse(p, NULL, (source_span){0}, "--arena: a `%s` has one shape in C; here are two",
                        p->shown->handle_types[shown->handle_type].name);
        return false;
    }
    known->list = known->list ? known->list : given->list;
    given->list = known->list;
    return true;
}

/* Handles that the call writes to have the numbers that they had, or those vary. */
static bool keeps_written(portable *p, const flat *out) {
    const masu_function *shown = out->shown;
    uint32_t index = shown->result_count;
    for (uint32_t k = 0; k < shown->parameter_count; k++) {
        if (!shown->parameters[k].is_written)
            continue;
        const fact *given = &out->given[index++];
        if (shown->parameters[k].kind == MASU_KIND_HANDLE && given->kind == FACT_LIST && given->list->count == 1 &&
            !handle_keeps(p, shown->parameters[k].handle_type, given->list))
            return false;
    }
    return true;
}

/* The call's results, into its flat; numbers of handles may be any. */
static bool follow(portable *p, const stated_call *call, flat *out) {
    const ir_function *entry = portable_entry(p, call->function);
    const masu_function *shown = &p->shown->functions[call->function];
    out->shown = shown;
    out->call = call;
    p->now = out;
    p->arguments = call->arguments;
    if (!entry || !portable_follow(p, NULL, entry->span, entry, NULL))
        return false;
    for (uint32_t r = 0; r < shown->result_count; r++)
        if (shown->results[r].kind == MASU_KIND_HANDLE) {
            fact *given = &out->given[r];
            if (given->kind != FACT_LIST || given->list->count != 1)
                continue;
            out->made = shown->result_count == 1 ? given->list->words : NULL;
            *given = handle_words(p, given->list, shown->results[r].handle_type, call);
            if (!keep_handle(p, &shown->results[r], given))
                return false;
            if (!call->name)
                p->handles[shown->results[r].handle_type].is_written = true;
        }
    return keeps_written(p, out) && !portable_stopped(p);
}

static bool add_call(portable *p, const char *name, uint32_t function, const fact *arguments,
                     const char *const *shown) {
    if (p->call_count == MOST_CALLS) {
        portable_refuse(p, NULL, (source_span){0}, "--arena: more than %d calls", MOST_CALLS);
        return false;
    }
    for (uint32_t k = 0; k < p->call_count && !name; k++)
        if (!p->calls[k].name && p->calls[k].function == function) {
            portable_refuse(p, NULL, (source_span){0}, "--arena: `%s` is called twice: a function of C has one shape",
                            p->shown->functions[function].name);
            return false;
        }
    uint32_t at = p->call_count;
    p->calls[at] = (stated_call){name, function, arguments, shown};
    if (!follow(p, &p->calls[at], &p->flats[at]))
        return false;
    p->call_count++;
    return true;
}

static bool read_call(reader *r) {
    portable *p = r->p;
    const char *name = NULL, *function = read_name(r);
    if (!function)
        return false;
    if (accept(r, '=')) {
        name = function;
        function = read_name(r);
    }
    uint32_t n = 0;
    while (function && n < p->shown->function_count && strcmp(p->shown->functions[n].name, function) != 0)
        n++;
    if (!function || n == p->shown->function_count)
        return function ? wrong(r, "the program has no such `pub fn` before this") : false;
    const masu_function *f = &p->shown->functions[n];
    fact *arguments = MASU_ARENA_ARRAY(&p->arena, fact, f->parameter_count + 1);
    const char **shown = MASU_ARENA_ARRAY(&p->arena, const char *, f->parameter_count + 1);
    if (!arguments || !shown) {
        p->out_of_memory = true;
        return false;
    }
    if (name && (f->result_count != 1 || f->results[0].kind != MASU_KIND_HANDLE))
        return wrong(r, "only a function that yields one handle gives it a name");
    if (!accept(r, '('))
        return wrong(r, "`(` is wanted");
    for (uint32_t k = 0; k < f->parameter_count; k++) {
        if (k > 0 && !accept(r, ','))
            return wrong(r, "another argument is wanted");
        skip(r);
        const char *from = r->at;
        if (!read_argument(r, &f->parameters[k], &arguments[k]))
            return false;
        shown[k] = masu__arena_strndup(&p->arena, from, (size_t)(r->at - from));
    }
    return (accept(r, ')') || wrong(r, "`)` is wanted")) && add_call(p, name, n, arguments, shown);
}

/* Without calls: every export, if its types say all. */
static void call_all(portable *p) {
    for (uint32_t n = 0; n < p->shown->function_count && !portable_stopped(p); n++) {
        const masu_function *f = &p->shown->functions[n];
        fact *arguments = MASU_ARENA_ARRAY(&p->arena, fact, f->parameter_count + 1);
        if (!arguments) {
            p->out_of_memory = true;
            return;
        }
        for (uint32_t k = 0; k < f->parameter_count; k++) {
            const masu_parameter *shown = &f->parameters[k];
            if (shown->kind == MASU_KIND_TENSOR && shown->rank == 0)
                arguments[k] = (fact){.kind = FACT_TENSOR, .dtype = (tl_dtype)shown->element};
            else if (shown->kind == MASU_KIND_TENSOR || shown->kind == MASU_KIND_HANDLE ||
                     shown->kind == MASU_KIND_TEXT)
                portable_refuse(p, NULL, portable_entry(p, n) ? portable_entry(p, n)->span : (source_span){0},
                                "say the shapes with which `%s` is called, line %u: --arena \"%s(%s…)\"", f->name,
                                f->line, f->name, shown->kind == MASU_KIND_TENSOR ? "[2, 3], " : "");
            else
                arguments[k] = fact_of(FACT_ANY);
        }
        if (!portable_stopped(p))
            add_call(p, NULL, n, arguments, NULL);
    }
}

static void read_all(reader *r) {
    while (read_call(r)) {
        bool more = accept(r, ';');
        skip(r);
        if (!*r->at)
            return;
        if (!more) {
            wrong(r, "`;` is wanted");
            return;
        }
    }
}

static void forget_calls(portable *p) {
    p->again = false;
    p->call_count = 0;
    memset(p->flats, 0, MOST_CALLS * sizeof *p->flats);
    for (uint32_t h = 0; h < p->shown->handle_type_count; h++)
        p->handles[h] = (handle_shape){.varies = p->handles[h].varies};
}

void portable_read_calls(portable *p) {
    reader r = {p, p->options->calls};
    p->calls = MASU_ARENA_ARRAY(&p->arena, stated_call, MOST_CALLS);
    p->flats = MASU_ARENA_ARRAY(&p->arena, flat, MOST_CALLS);
    if (!p->calls || !p->flats) {
        p->out_of_memory = true;
        return;
    }
    if (!r.at) {
        call_all(p);
        return;
    }
    read_all(&r);
    while (p->again && !portable_stopped(p)) { /* each time, a number more varies */
        forget_calls(p);
        r.at = p->options->calls;
        read_all(&r);
    }
}
