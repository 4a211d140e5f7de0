/* explain_totals.c: see explain_totals.h. */
#include "language/explain/explain_totals.h"

#include <inttypes.h>

#include "language/pass/pass.h"

static void count_event(const explain_event *e, explain_costs *c) {
    c->in_frame += e->place == EXPLAIN_IN_FRAME;
    c->in_slot += e->place == EXPLAIN_IN_SLOT;
    c->at_caller += e->place == EXPLAIN_AT_CALLER;
    c->in_pool += e->place == EXPLAIN_IN_POOL;
    c->acquires += e->kind == 'a';
    c->deaths += e->kind == 'd';
    c->bytes += e->bytes;
    c->has_open |= e->place != EXPLAIN_NOWHERE && e->bytes == 0;
}

explain_costs explain_costs_of(const explain_event *first, const explain_event *end) {
    explain_costs c = {.line = first < end ? first->line : 0};
    for (const explain_event *e = first; e < end; e++)
        if (!explain_said_before(first, e))
            count_event(e, &c);
    return c;
}

static uint32_t price(const explain_costs *c) {
    return c->in_pool + c->acquires;
}

/* Keeps the dearest, in their order; among equals the first line. */
static void offer(explain_totals *t, const explain_costs *c) {
    enum { ROOM = sizeof t->most / sizeof t->most[0] };
    uint32_t at = t->most_count;
    while (at > 0 && price(&t->most[at - 1]) < price(c))
        at--;
    if (price(c) == 0 || c->line == 0 || at == ROOM)
        return;
    t->most_count += t->most_count < ROOM;
    for (uint32_t k = t->most_count - 1; k > at; k--)
        t->most[k] = t->most[k - 1];
    t->most[at] = *c;
}

static void count_functions(const explainer *x, explain_totals *t) {
    for (uint32_t f = 0; f < x->m->function_count; f++) {
        const ir_function *function = x->m->functions[f];
        if (function->is_kernel)
            continue;
        pass_counts c = pass_count(function);
        t->functions++;
        t->slots += c.slots;
        t->acquires += c.acquires;
        t->releases += c.releases;
        t->growing += function->growing_count;
        t->frame_bytes += function->room_bytes;
        t->frame_bound += function->room_bound;
    }
}

explain_totals explain_totals_of(const explainer *x) {
    explain_totals t = {0};
    count_functions(x, &t);
    for (const explain_event *at = x->events, *end = at + x->count, *to; at < end; at = to) {
        for (to = at; to < end && to->line == at->line;)
            to++;
        explain_costs c = explain_costs_of(at, to);
        offer(&t, &c);
        if (c.line == 0)
            t.elsewhere = c;
        t.all.in_frame += c.in_frame;
        t.all.in_slot += c.in_slot;
        t.all.at_caller += c.at_caller;
        t.all.in_pool += c.in_pool;
    }
    return t;
}

static bool put_count(uint32_t count, const char *one, const char *many, bool any, masu__buffer *out) {
    if (count == 0)
        return any;
    masu__buffer_printf(out, "%s%" PRIu32 " %s", any ? ", " : "", count, count == 1 ? one : many);
    return true;
}

void explain_put_costs(const explain_costs *c, masu__buffer *out) {
    bool any = put_count(c->in_pool, "from a pool", "from pools", false, out);
    any = put_count(c->in_frame, "in the frame", "in the frame", any, out);
    any = put_count(c->in_slot, "in a growing slot", "in growing slots", any, out);
    any = put_count(c->at_caller, "where the caller has room", "where the caller has room", any, out);
    any = put_count(c->acquires, "count", "counts", any, out);
    put_count(c->deaths, "dies", "die", any, out);
}

void explain_put_bytes(const explain_costs *c, masu__buffer *out) {
    if (c->bytes > 0)
        masu__buffer_printf(out, "; %" PRIu64 " bytes%s", c->bytes, c->has_open ? " and more" : "");
}

void explain_put_totals(const explain_totals *t, masu__buffer *out) {
    bool any = put_count(t->functions, "function", "functions", false, out);
    any = put_count(t->slots, "owner slot", "owner slots", any, out);
    masu__buffer_printf(out, ", %" PRIu32 " acquire%s, %" PRIu32 " release%s\n", t->acquires,
                        t->acquires == 1 ? "" : "s", t->releases, t->releases == 1 ? "" : "s");
    masu__buffer_puts(out, "tensors made: ");
    masu__buffer_printf(out, "%" PRIu32 " in frames of %" PRIu64 " bytes (any plan needs %" PRIu64 ")", t->all.in_frame,
                        t->frame_bytes, t->frame_bound);
    any = put_count(t->all.in_slot, "in a growing slot", "in growing slots", true, out);
    any = put_count(t->all.at_caller, "where the caller has room", "where the caller has room", any, out);
    masu__buffer_printf(out, ", %" PRIu32 " from pools", t->all.in_pool);
    if (t->elsewhere.in_pool > 0)
        masu__buffer_printf(out, ", of which %" PRIu32 " in functions of the library", t->elsewhere.in_pool);
    masu__buffer_putc(out, '\n');
    if (t->most_count == 0)
        return;
    masu__buffer_puts(out, "cost most: ");
    for (uint32_t k = 0; k < t->most_count; k++) {
        explain_costs c = t->most[k];
        c.deaths = c.in_frame = c.in_slot = c.at_caller = 0;
        masu__buffer_printf(out, "%sline %" PRIu32 " (", k ? "; " : "", c.line);
        explain_put_costs(&c, out);
        masu__buffer_putc(out, ')');
    }
    masu__buffer_putc(out, '\n');
}
