/* where.c: where one variable's value lives, for an editor that points at it: what explain.c says of a line, said of a
 * name. Read from the final IR, as there.
 *
 *     shape [2, 3], 24 bytes (bucket pool); slot 0; made on line 3; lent to f on line 5; dies on line 7
 *
 * A variable is many values of the IR: every assignment makes one, and every version of its function has them all.
 */
#include <inttypes.h>
#include <string.h>

#include <masu/bucket.h>

#include "language/pass/pass.h"

enum { MOST_FACTS = 12, LONGEST_NAME = 80 };

typedef struct finder {
    const ir_module *m;
    const source_file *file;
    const char *name, *element;
    uint32_t from, to; /* bytes of the file in which the name means this variable */
    masu__buffer *out;
    char *said[MOST_FACTS]; /* each once, whatever the version */
    uint32_t count;
    masu__arena scratch;
} finder;

static bool is_it(const finder *x, const ir_function *f, ir_value v) {
    const ir_value_info *info = &f->values[v];
    return info->name && strcmp(info->name, x->name) == 0 && info->span.file == x->file &&
           info->span.offset >= x->from && info->span.offset < x->to && ir_type_managed(info->type);
}

static void say(finder *x, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    char *text = masu__arena_vprintf(&x->scratch, format, arguments);
    va_end(arguments);
    for (uint32_t i = 0; text && i < x->count; i++)
        if (strcmp(x->said[i], text) == 0)
            return;
    if (!text || x->count == MOST_FACTS)
        return;
    x->said[x->count++] = text;
    masu__buffer_printf(x->out, "%s%s", x->count > 1 ? "; " : "", text);
}

/* "f" of f{ob}, the version of f; NULL: a name that the program does not have. */
static const char *spoken(finder *x, const ir_function *f) {
    size_t length = strcspn(f->name, "{");
    bool own = f->span.file && strcmp(f->span.file->path, "<prelude>") != 0;
    if (f->name[0] == '<' || length > LONGEST_NAME || (!own && strstr(f->name, "__")))
        return NULL;
    return masu__arena_strndup(&x->scratch, f->name, length);
}

static uint32_t line_near(const ir_instr *i) {
    for (const ir_instr *at = i; at; at = at->prev)
        if (at->span.file)
            return source_place_of(at->span).line;
    return i->next ? source_place_of(i->next->span).line : 0;
}

/* ---- what is known of the value itself ------------------------------------------------------- */

static const char *pool_of(uint64_t bytes) {
    return bytes == 0 ? "nothing is allocated" : bytes <= MASU_BUCKET_MAX_BYTES ? "bucket pool" : "best-fit pool";
}

static uint64_t bytes_of(const char *element) {
    return strcmp(element, "bool") == 0 ? 1 : strstr(element, "64") ? 8 : 4;
}

static void say_shape(finder *x, const ir_function *f, ir_value v) {
    const ir_shape *s = f->values[v].shape;
    masu__buffer text = {0};
    uint64_t elements = 1;
    bool known = s && s->known_rank;
    if (!known)
        return;
    ir_shape_put(s, &text);
    for (uint32_t d = 0; d < s->rank; d++)
        known &= s->dim[d] >= 0 && !__builtin_mul_overflow(elements, (uint64_t)s->dim[d], &elements);
    say(x, "shape %s", masu__buffer_text(&text));
    if (known && elements < UINT64_MAX / 8)
        say(x, "%" PRIu64 " elements, as %s from the %s", elements, x->element,
            pool_of(elements * bytes_of(x->element)));
    masu__buffer_destroy(&text);
}

static void say_place(finder *x, const ir_function *f, ir_value v) {
    say_shape(x, f, v);
    const char *name = spoken(x, f);
    if (f->values[v].slot >= 0 && name)
        say(x, "slot %" PRId32 " of %s", f->values[v].slot, name);
    if (f->values[v].borrowed)
        say(x, "borrowed from the caller");
}

/* ---- what happens to it ---------------------------------------------------------------------- */

static void say_handed_on(finder *x, const char *to, bool taken, uint32_t line) {
    if (to)
        say(x, taken ? "moves into %s on line %" PRIu32 : "lent to %s on line %" PRIu32, to, line);
    else if (taken)
        say(x, "moves on line %" PRIu32, line);
}

static void say_operand(finder *x, const ir_function *f, const ir_instr *i, uint32_t a) {
    uint32_t line = line_near(i);
    bool taken = ir_consumes(i, a);
    if (!is_it(x, f, i->args[a]))
        return;
    if (i->op == IR_RET)
        say(x, "moves out on line %" PRIu32, line);
    else if (i->op == IR_CALL)
        say_handed_on(x, spoken(x, i->callee), taken, line);
    else if (i->op == IR_RELEASE)
        say(x, "dies on line %" PRIu32, line);
    else if (i->op == IR_ACQUIRE)
        say(x, "counted once more on line %" PRIu32, line);
    else if (taken)
        say(x, "moves on line %" PRIu32, line);
}

static void look_at(finder *x, const ir_function *f) {
    for (uint32_t p = 0; p < f->param_count; p++)
        if (is_it(x, f, f->params[p]))
            say_place(x, f, f->params[p]);
    for (uint32_t b = 0; b < f->block_count; b++) {
        for (const ir_instr *i = f->blocks[b]->first; i; i = i->next) {
            for (uint32_t r = 0; r < i->result_count; r++) {
                if (!is_it(x, f, i->result + r))
                    continue;
                say_place(x, f, i->result + r);
                say(x, i->op == IR_CALL ? "received on line %" PRIu32 : "made on line %" PRIu32, line_near(i));
            }
            for (uint32_t a = 0; a < i->arg_count; a++)
                say_operand(x, f, i, a);
        }
    }
}

void pass_where(const ir_module *m, const char *name, const char *element, source_span declared, uint32_t until,
                masu__buffer *out) {
    finder x = {.m = m,
                .file = declared.file,
                .name = name,
                .element = element,
                .from = declared.offset,
                .to = until,
                .out = out};
    for (uint32_t f = 0; f < m->function_count; f++)
        if (!m->functions[f]->is_kernel)
            look_at(&x, m->functions[f]);
    masu__arena_destroy(&x.scratch);
}
