/* explain_json.c: see explain_events.h. docs/explain.md describes the format; its number grows when a member goes or
 * changes its meaning, not when one is added.
 */
#include <inttypes.h>
#include <string.h>

#include "language/explain/explain_events.h"
#include "language/explain/explain_frame.h"
#include "language/explain/explain_values.h"
#include "language/pass/pass.h"

static void put_string(const char *text, masu__buffer *out) {
    masu__buffer_json_string(out, text, strlen(text));
}

/* The text between the marks of a name. */
static void put_bare(const masu__buffer *name, masu__buffer *out) {
    const char *text = masu__buffer_text(name);
    masu__buffer_json_string(out, name->length > 1 ? text + 1 : "", name->length > 1 ? name->length - 2 : 0);
}

static void put_member(const char *name, const masu__buffer *text, masu__buffer *out) {
    masu__buffer_printf(out, ", \"%s\": ", name);
    masu__buffer_json_string(out, masu__buffer_text(text), text->length);
}

static void put_words_member(const char *name, const char *text, masu__buffer *out) {
    masu__buffer_printf(out, ", \"%s\": ", name);
    if (text)
        put_string(text, out);
    else
        masu__buffer_puts(out, "null");
}

static void put_sharers(const char *name, const ir_function *f, const explain_sharers *sharers, masu__buffer *out) {
    masu__buffer one = {0};
    masu__buffer_printf(out, ", \"%s\": [", name);
    for (uint32_t k = 0; k < sharers->count && k < EXPLAIN_MOST_SHARERS; k++) {
        masu__buffer_truncate(&one, 0);
        explain_name(f, sharers->of[k], &one);
        masu__buffer_puts(out, k ? ", " : "");
        put_bare(&one, out);
    }
    masu__buffer_putc(out, ']');
    out->failed |= one.failed;
    masu__buffer_destroy(&one);
}

static void put_lent_to(const explain_account *account, masu__buffer *out) {
    masu__buffer_puts(out, ", \"lent_to\": [");
    for (uint32_t k = 0; k < account->lent_kinds && k < EXPLAIN_MOST_LENT; k++) {
        masu__buffer_puts(out, k ? ", " : "");
        put_string(account->lent_to[k]->name, out);
    }
    masu__buffer_putc(out, ']');
}

static void put_place(const ir_function *f, const explain_account *account, masu__buffer *out) {
    const ir_place *place = account->value ? ir_place_of(f, account->value) : NULL;
    masu__buffer_printf(out, ", \"where\": \"%s\"", account->where);
    put_words_member("why_pool", account->why_pool, out);
    if (strcmp(account->where, "frame") == 0) {
        masu__buffer_printf(out, ", \"offset\": %" PRIu64 ", \"bytes\": %" PRIu64, place->at, place->bytes);
        put_sharers("shares_bytes_with", f, &account->byte_sharers, out);
    }
    if (strcmp(account->where, "growing") == 0)
        masu__buffer_printf(out, ", \"growing_slot\": %" PRIu32, place->slot - 1);
    masu__buffer_printf(out, ", \"slot\": %" PRId32, account->slot);
    put_sharers("shares_slot_with", f, &account->slot_sharers, out);
}

typedef struct listing {
    const ir_function *f;
    masu__buffer *out;
    const char *comma;
} listing;

static void put_value(void *user, const explain_account *account) {
    listing *l = user;
    masu__buffer_printf(l->out, "%s\n      {\"value\": ", l->comma);
    put_bare(&account->name, l->out);
    masu__buffer_printf(l->out, ", \"line\": %" PRIu32 ", \"kind\": \"%s\"", account->line, account->kind);
    put_member("origin", &account->origin, l->out);
    put_place(l->f, account, l->out);
    masu__buffer_printf(l->out, ", \"moved\": %s, \"borrowed\": %s, \"lent\": %" PRIu32,
                        account->moved ? "true" : "false", account->borrowed ? "true" : "false", account->lent);
    put_lent_to(account, l->out);
    masu__buffer_printf(l->out, ", \"counted\": %" PRIu32, account->counted);
    put_words_member("why", account->why_counted, l->out);
    masu__buffer_printf(l->out, ", \"last_use\": %" PRIu32, account->last_use);
    put_member("ends", &account->ends, l->out);
    masu__buffer_putc(l->out, '}');
    l->comma = ",";
}

static void put_values(const ir_function *f, masu__buffer *out) {
    listing l = {f, out, ""};
    masu__buffer_puts(out, "\"values\": [");
    out->failed |= !explain_tell(f, put_value, &l);
    masu__buffer_putc(out, ']');
}

static void put_json_functions(const explainer *x, masu__buffer *out) {
    const char *comma = "";
    for (uint32_t f = 0; f < x->m->function_count; f++) {
        const ir_function *fn = x->m->functions[f];
        if (fn->is_kernel)
            continue;
        pass_counts c = pass_count(fn);
        masu__buffer_printf(out, "%s\n    {\"name\": ", comma);
        put_string(fn->name, out);
        masu__buffer_printf(out,
                            ", \"line\": %" PRIu32 ", \"slots\": %" PRIu32 ", \"lower_bound\": %" PRIu32
                            ", \"acquires\": %" PRIu32 ", \"releases\": %" PRIu32 ", ",
                            explain_line_of(x, fn->span), c.slots, c.bound, c.acquires, c.releases);
        masu__buffer_printf(out, "\"growing_slots\": %" PRIu32 ", ", fn->growing_count);
        explain_frame_json(fn, out);
        masu__buffer_puts(out, ", ");
        explain_function_tallies_json(fn, out);
        masu__buffer_puts(out, ", ");
        put_values(fn, out);
        masu__buffer_putc(out, '}');
        comma = ",";
    }
}

void explain_json(const explainer *x, masu__buffer *out) {
    const char *comma = "";
    masu__buffer_puts(out, "{\n  \"format\": 1,\n  \"file\": ");
    put_string(x->source->path, out);
    masu__buffer_puts(out, ",\n  \"functions\": [");
    put_json_functions(x, out);
    masu__buffer_puts(out, "\n  ],\n  \"events\": [");
    for (const explain_event *e = x->events; e < x->events + x->count; e++) {
        if (explain_is_summary(e))
            continue;
        masu__buffer_printf(out, "%s\n    {\"line\": %" PRIu32 ", \"function\": ", comma, e->line);
        put_string(e->version->name, out);
        masu__buffer_puts(out, ", \"what\": ");
        put_string(e->text, out);
        masu__buffer_putc(out, '}');
        comma = ",";
    }
    masu__buffer_puts(out, "\n  ],\n  \"passes\": ");
    explain_tallies_json(x->m, out);
    masu__buffer_puts(out, "\n}\n");
}
