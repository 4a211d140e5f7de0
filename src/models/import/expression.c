/* expression.c: the expression of an operator: the first of its rows that takes it, its template filled.
 *
 *     $0 … $9            an input, which must be there         $*                 all inputs, between commas
 *     ${i:NAME=1}        a whole attribute, and what it is where it is left out; without = it must be there
 *     ${f:NAME=1.0}      a real one                             ${b:NAME=0}        a whole one as true or false
 *     ${I:NAME=[1]}      a list of whole ones                   ${F:NAME=[1.0]}    a list of real ones
 *     ${c:NAME=a|b|c}    a text, one of these; a where it is left out
 *     ${ints:1}          input 1 as a list of whole numbers     ${reals:1}         of real ones, which f64 holds
 *     ${ints?:1} ${reals?:1}   the same; a list of none where it is left out
 *     ${o:1}             input 1 as an Option                   ${NAME}            a word that the row's function set
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "models/import/import.h"

typedef struct row {
    const char *op;
    int64_t since, before; /* opsets; before 0: all later ones */
    const char *types;     /* of input 0, as import_kind says; w: results in fewer bits wrap */
    int outputs; /* a tuple of so many, of which some may not be asked for; 0: a list of as many as there are */
    import_prepare *prepare;
    const char *text;
} row;

static const row rows[] = {
#define PREPARE(name)
#define ROW(op, since, before, types, outputs, prepare, text) {#op, since, before, types, outputs, prepare, text},
#include "models/import/operators.def"
};

/* ---- what is read -------------------------------------------------------------------------------- */

bool import_refuse(import_node *n, const char *format, ...) {
    va_list arguments;
    masu__buffer_truncate(&n->why, 0);
    va_start(arguments, format);
    masu__buffer_vprintf(&n->why, format, arguments);
    va_end(arguments);
    return false;
}

bool import_word(import_node *n, const char *name, const char *format, ...) {
    va_list arguments;
    if (n->word_count == IMPORT_MOST_WORDS)
        return import_refuse(n, "too many words");
    va_start(arguments, format);
    const char *text = masu__arena_vprintf(&n->im->model->arena, format, arguments);
    va_end(arguments);
    n->words[n->word_count].name = name;
    n->words[n->word_count].text = text;
    n->word_count += text != NULL;
    return text || import_refuse(n, "out of memory");
}

static void put_ints(masu__buffer *to, const int64_t *values, size_t count) {
    masu__buffer_putc(to, '[');
    for (size_t i = 0; i < count; i++)
        masu__buffer_printf(to, "%s%lld", i ? ", " : "", (long long)values[i]);
    masu__buffer_putc(to, ']');
}

bool import_word_ints(import_node *n, const char *name, const int64_t *values, size_t count) {
    masu__buffer text = {0};
    put_ints(&text, values, count);
    bool right = !text.failed ? import_word(n, name, "%s", masu__buffer_text(&text))
                              : import_refuse(n, "out of memory");
    masu__buffer_destroy(&text);
    return right;
}

const Masu__Onnx__Attribute *import_attribute(import_node *n, const char *name) {
    for (size_t i = 0; i < n->v.node->n_attribute && i < IMPORT_MOST_PLACES; i++)
        if (strcmp(n->v.node->attribute[i]->name, name) == 0) {
            n->attributes_read |= UINT64_C(1) << i;
            return n->v.node->attribute[i];
        }
    return NULL;
}

int64_t import_int(import_node *n, const char *name, int64_t otherwise) {
    const Masu__Onnx__Attribute *a = import_attribute(n, name);
    return a ? a->i : otherwise;
}

double import_float(import_node *n, const char *name, double otherwise) {
    const Masu__Onnx__Attribute *a = import_attribute(n, name);
    return a ? (double)a->f : otherwise;
}

const int64_t *import_ints(import_node *n, const char *name, size_t *count) {
    const Masu__Onnx__Attribute *a = import_attribute(n, name);
    *count = a ? a->n_ints : 0;
    return a ? a->ints : NULL;
}

bool import_choice(import_node *n, const char *name, const char *const *names, size_t *which) {
    const Masu__Onnx__Attribute *a = import_attribute(n, name);
    *which = 0;
    for (size_t i = 0; a && names[i]; i++)
        if (a->s.len == strlen(names[i]) && memcmp(a->s.data, names[i], a->s.len) == 0) {
            *which = i;
            return true;
        }
    return !a || import_refuse(n, "%s = \"%.*s\" is not known", name, a->s.len < 40 ? (int)a->s.len : 40,
                               (const char *)a->s.data);
}

const int64_t *import_values(import_node *n, size_t i, size_t *count) {
    const masu__model_tensor *t = onnx_in(&n->v, i);
    *count = 0;
    if (!t || !t->values || (import_kind(t) != 'l' && import_kind(t) != 'n'))
        return NULL;
    n->inputs_read |= UINT64_C(1) << i;
    *count = t->value_count;
    return t->values;
}

bool import_rank(import_node *n, size_t i, size_t *out) {
    const masu__model_tensor *t = onnx_in(&n->v, i);
    if (!t)
        return import_refuse(n, "input %zu is missing", i);
    *out = t->rank;
    return t->has_shape ||
           import_refuse(n, "the rank of `%.60s` is not known; a shape in the file's value_info helps", t->name.at);
}

bool import_lengths(import_node *n, size_t i, size_t first, const masu__model_tensor **out) {
    size_t rank;
    if (!import_rank(n, i, &rank))
        return false;
    *out = onnx_in(&n->v, i);
    for (size_t k = first; k < rank; k++)
        if ((*out)->dims[k] < 0)
            return import_refuse(
                n, "dimension %zu of `%.60s` is open, and the result depends on it; --dim gives it a number", k,
                (*out)->name.at);
    return true;
}

/* ---- types --------------------------------------------------------------------------------------- */

char import_kind(const masu__model_tensor *t) {
    if (t->is_widened)
        return 'f';
    static const struct {
        const char *type;
        char kind;
    } kinds[] = {{"float32", 'f'}, {"float64", 'd'},  {"int64", 'l'},  {"bool", 'b'},
                 {"float16", 'h'}, {"bfloat16", 'h'}, {"int32", 'n'},  {"int16", 'n'},
                 {"int8", 'n'},    {"uint8", 'n'},    {"uint16", 'n'}, {"uint32", 'n'}};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (strcmp(kinds[i].type, t->type) == 0)
            return kinds[i].kind;
    return 0;
}

const char *import_elements(const masu__model_tensor *t) {
    switch (import_kind(t)) {
    case 'f':
    case 'h':
        return "f32";
    case 'd':
        return "f64";
    case 'l':
    case 'n':
        return "i64";
    case 'b':
        return "bool";
    default:
        return NULL;
    }
}

/* ---- templates ----------------------------------------------------------------------------------- */

/* As short as it can be, with a point. */
void import_put_number(masu__buffer *to, double value) {
    char text[40];
    for (int digits = 1; digits <= 17; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, value);
        if ((float)value == value ? strtof(text, NULL) == (float)value : strtod(text, NULL) == value)
            break;
    }
    bool is_real = strpbrk(text, ".e") != NULL;
    for (const char *c = text; *c; c++)
        if (*c == 'e' && !memchr(text, '.', (size_t)(c - text)))
            masu__buffer_puts(to, ".0e");
        else if (*c != '+')
            masu__buffer_putc(to, *c);
    if (!is_real)
        masu__buffer_puts(to, ".0");
}

static bool put_input(import_node *n, size_t i) {
    if (!onnx_in(&n->v, i))
        return import_refuse(n, "input %zu is missing", i);
    int32_t tensor = n->v.op->inputs[i];
    const masu__model_tensor *t = &n->im->model->tensors[tensor];
    if (!import_elements(t))
        return import_refuse(n, "elements of `%.60s` are %s, which the language does not keep", t->name.at, t->type);
    n->inputs_read |= UINT64_C(1) << i;
    n->uses |= UINT64_C(1) << i;
    masu__buffer_printf(&n->text, "%s%s", t->constant ? "self." : "", n->im->names[tensor]);
    return true;
}

static bool put_inputs(import_node *n) {
    for (size_t i = 0; i < n->v.op->input_count; i++) {
        masu__buffer_puts(&n->text, i ? ", " : "");
        if (!put_input(n, i))
            return false;
    }
    return true;
}

static bool put_list_of_input(import_node *n, size_t i) {
    size_t count;
    const int64_t *values = import_values(n, i, &count);
    if (values) {
        put_ints(&n->text, values, count);
        return true;
    }
    if (!put_input(n, i))
        return false;
    masu__buffer_puts(&n->text, IMPORT_TO_LIST);
    return true;
}

static bool put_reals_of_input(import_node *n, size_t i) {
    const masu__model_tensor *t = onnx_in(&n->v, i);
    if (t && t->has_shape && t->rank == 1 && t->dims[0] == 0) { /* as good as left out */
        n->inputs_read |= UINT64_C(1) << i;
        masu__buffer_puts(&n->text, "[]");
        return true;
    }
    if (!put_input(n, i))
        return false;
    masu__buffer_puts(&n->text, IMPORT_TO_REALS);
    return true;
}

/* ints:1, reals:1, o:1; with ? what is left out is a list of none. *is_one: it is one of these. */
static bool put_input_as(import_node *n, const char *name, bool *is_one) {
    const char *place = strchr(name, ':');
    size_t i = place ? (size_t)(place[1] - '0') : 0;
    bool may_lack = place && place > name && place[-1] == '?', is_there = onnx_in(&n->v, i) != NULL;
    bool is_ints = strncmp(name, "ints", 4) == 0, is_reals = strncmp(name, "reals", 5) == 0;
    *is_one = place && i < 10 && (is_ints || is_reals || strncmp(name, "o:", 2) == 0);
    if (!*is_one)
        return false;
    if (may_lack && !is_there) {
        masu__buffer_puts(&n->text, "[]");
        return true;
    }
    if (is_ints)
        return put_list_of_input(n, i);
    if (is_reals)
        return put_reals_of_input(n, i);
    masu__buffer_puts(&n->text, is_there ? "Some(" : "None");
    if (is_there && !put_input(n, i))
        return false;
    masu__buffer_puts(&n->text, is_there ? ")" : "");
    return true;
}

/* One of a|b|c, as a text. */
static bool put_choice(import_node *n, const Masu__Onnx__Attribute *a, const char *name, const char *all) {
    size_t length = strcspn(all, "|");
    for (const char *at = all; a; at += length + 1, length = strcspn(at, "|")) {
        if (a->s.len == length && memcmp(a->s.data, at, length) == 0) {
            all = at;
            break;
        }
        if (!at[length])
            return import_refuse(n, "%s = \"%.*s\" is not known", name, a->s.len < 40 ? (int)a->s.len : 40,
                                 (const char *)a->s.data);
    }
    masu__buffer_printf(&n->text, "\"%.*s\"", (int)length, all);
    return true;
}

static bool put_reals(import_node *n, const Masu__Onnx__Attribute *a, const char *name) {
    masu__buffer_putc(&n->text, '[');
    for (size_t i = 0; i < a->n_floats; i++) {
        if (!isfinite(a->floats[i]))
            return import_refuse(n, "attribute `%s` has a number that is not finite", name);
        masu__buffer_puts(&n->text, i ? ", " : "");
        import_put_number(&n->text, (double)a->floats[i]);
    }
    masu__buffer_putc(&n->text, ']');
    return true;
}

static bool put_attribute(import_node *n, char kind, char *name) {
    char *otherwise = strchr(name, '=');
    if (otherwise)
        *otherwise++ = 0;
    const Masu__Onnx__Attribute *a = import_attribute(n, name);
    if (!a && !otherwise)
        return import_refuse(n, "attribute `%s` is missing", name);
    if (kind == 'c')
        return put_choice(n, a, name, otherwise);
    if (!a && kind != 'b') {
        masu__buffer_puts(&n->text, otherwise);
        return true;
    }
    switch (kind) {
    case 'i':
        masu__buffer_printf(&n->text, "%lld", (long long)a->i);
        return true;
    case 'b':
        masu__buffer_puts(&n->text, (a ? a->i != 0 : *otherwise != '0') ? "true" : "false");
        return true;
    case 'f':
        if (!isfinite(a->f))
            return import_refuse(n, "attribute `%s` is not a finite number", name);
        import_put_number(&n->text, (double)a->f);
        return true;
    case 'F':
        return put_reals(n, a, name);
    default:
        put_ints(&n->text, a->ints, a->n_ints);
        return true;
    }
}

static bool put_word(import_node *n, const char *at, size_t length) {
    char name[96];
    bool is_input;
    if (length >= sizeof name)
        return import_refuse(n, "a word of the table is too long");
    memcpy(name, at, length);
    name[length] = 0;
    bool put = put_input_as(n, name, &is_input);
    if (is_input)
        return put;
    if (length > 2 && name[1] == ':')
        return put_attribute(n, name[0], name + 2);
    for (size_t i = 0; i < n->word_count; i++)
        if (strcmp(n->words[i].name, name) == 0) {
            masu__buffer_puts(&n->text, n->words[i].text);
            return true;
        }
    return import_refuse(n, "the table has no word `%s`", name);
}

static bool fill(import_node *n, const char *text) {
    for (const char *at = text; *at; at++) {
        if (*at != '$') {
            masu__buffer_putc(&n->text, *at);
            continue;
        }
        at++;
        if (*at == '*') {
            if (!put_inputs(n))
                return false;
        } else if (*at == '{') {
            const char *end = strchr(at, '}');
            if (!put_word(n, at + 1, (size_t)(end - at - 1)))
                return false;
            at = end;
        } else if (!put_input(n, (size_t)(*at - '0'))) {
            return false;
        }
    }
    return true;
}

/* ---- rows ---------------------------------------------------------------------------------------- */

static bool all_looked_at(import_node *n, const row *r) {
    const masu__model_operator *op = n->v.op;
    for (size_t i = 0; i < n->v.node->n_attribute; i++)
        if (i >= IMPORT_MOST_PLACES || !(n->attributes_read >> i & 1))
            return import_refuse(n, "attribute `%.40s` is not supported", n->v.node->attribute[i]->name);
    for (size_t i = 0; i < op->input_count; i++)
        if (op->inputs[i] >= 0 && (i >= IMPORT_MOST_PLACES || !(n->inputs_read >> i & 1)))
            return import_refuse(n, "input %zu, `%.60s`, is not supported", i,
                                 n->im->model->tensors[op->inputs[i]].name.at);
    for (size_t i = 0; i < op->output_count; i++) {
        const masu__model_tensor *t = onnx_out(&n->v, i);
        if (!t)
            continue;
        if (r->outputs > 0 && i >= (size_t)r->outputs)
            return import_refuse(n, "output %zu, `%.60s`, is not supported", i, t->name.at);
        if (!import_elements(t))
            return import_refuse(n,
                                 t->type[0] == '?' ? "the type of `%.60s` is not known"
                                                   : "elements of `%.60s` are %s, which the language does not keep",
                                 t->name.at, t->type);
    }
    return true;
}

/* Integers of fewer bits than they are kept in. */
static void wrap(import_node *n, const row *r) {
    const masu__model_tensor *out = onnx_out(&n->v, 0);
    if (!strchr(r->types, 'w') || !out || import_kind(out) != 'n')
        return;
    masu__buffer inner = n->text;
    n->text = (masu__buffer){0};
    masu__buffer_printf(&n->text, IMPORT_WRAP, masu__buffer_text(&inner), out->bits,
                        out->type[0] == 'u' ? "false" : "true");
    masu__buffer_destroy(&inner);
}

static bool try_row(import_node *n, const row *r) {
    const masu__model_tensor *first = onnx_in(&n->v, 0);
    char kind = first ? import_kind(first) : 0;
    n->attributes_read = n->inputs_read = n->uses = 0;
    n->word_count = 0;
    n->parts = (size_t)r->outputs;
    masu__buffer_truncate(&n->text, 0);
    if (*r->types && *r->types != '-' && (!kind || !strchr(r->types, kind)))
        return n->why.length > 0
                   ? false
                   : import_refuse(n, "elements of type %s are not supported%s", first ? first->type : "nothing",
                                   kind == 'h' ? "; --widen computes with them as f32" : "");
    masu__buffer_truncate(&n->why, 0);
    if ((r->prepare && !r->prepare(n)) || !fill(n, r->text) || !all_looked_at(n, r))
        return false;
    wrap(n, r);
    return true;
}

static bool try_rows(import_node *n) {
    bool is_known = false, fits = false;
    int64_t opset = n->im->model->opset;
    if (n->v.op->is_custom)
        return import_refuse(n, "the domain `%.40s` is not supported", n->v.op->domain.at);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (strcmp(rows[i].op, n->v.node->op_type) != 0)
            continue;
        is_known = true;
        if (opset < rows[i].since || (rows[i].before && opset >= rows[i].before))
            continue;
        fits = true;
        if (try_row(n, &rows[i]))
            return true;
    }
    return fits ? false : import_refuse(n, is_known ? "it is not supported in this opset" : "it is not supported");
}

bool import_expression(importer *im, import_line *line) {
    import_node n = {.im = im, .v = {im->model, line->op->node, (masu__model_operator *)line->op, false}};
    masu__arena *arena = &im->model->arena;
    if (line->op->input_count > IMPORT_MOST_PLACES)
        import_refuse(&n, "more than %d inputs", IMPORT_MOST_PLACES);
    bool taken = n.why.length == 0 && (import_has_bodies(line->op) ? import_bodies(&n) : try_rows(&n)),
         failed = n.text.failed || n.why.failed;
    line->has_bodies = import_has_bodies(line->op);
    if (taken)
        line->text = masu__arena_strndup(arena, masu__buffer_text(&n.text), n.text.length);
    else
        line->refused = masu__arena_strndup(arena, masu__buffer_text(&n.why), n.why.length);
    line->uses = n.uses;
    line->parts = n.parts;
    masu__buffer_destroy(&n.text);
    masu__buffer_destroy(&n.why);
    return (!failed && (line->text || line->refused)) || masu__model_refuse(im->why, "out of memory");
}
