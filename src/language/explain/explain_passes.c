/* explain_passes.c: what each pass left behind, function by function.
 *
 *     behind           acquires  releases  over  in the frame  growing  for the caller  protected
 *     step{ob}
 *       ownership             0         2     0             0        0               0          0
 *       reuse                 0         2     2             0        0               0          0
 *
 * A function has a row for each pass that changed its numbers. Before `ownership` there are none: nothing is counted
 * that has to be uncounted later.
 */
#include <inttypes.h>
#include <string.h>

#include "language/explain/explain_frame.h"

static bool same(const ir_tally *a, const ir_tally *b) {
    return a->acquires == b->acquires && a->releases == b->releases && a->over == b->over && a->framed == b->framed &&
           a->slotted == b->slotted && a->built == b->built && a->rooted == b->rooted;
}

static void put_row(const ir_tally *t, masu__buffer *out) {
    masu__buffer_printf(out,
                        "  %-14s  %8" PRIu32 "  %8" PRIu32 "  %4" PRIu32 "  %12" PRIu32 "  %7" PRIu32 "  %14" PRIu32
                        "  %9" PRIu32 "\n",
                        t->pass, t->acquires, t->releases, t->over, t->framed, t->slotted, t->built, t->rooted);
}

static void put_changes(const ir_tally *tallies, uint32_t count, masu__buffer *out) {
    static const ir_tally nothing;
    const ir_tally *last = &nothing;
    for (uint32_t k = 0; k < count; k++) {
        if (!same(&tallies[k], last))
            put_row(&tallies[k], out);
        last = &tallies[k];
    }
}

static bool has_numbers(const ir_function *f) {
    static const ir_tally nothing;
    for (uint32_t k = 0; k < f->tally_count; k++)
        if (!same(&f->tallies[k], &nothing))
            return true;
    return false;
}

void explain_tallies(const ir_module *m, masu__buffer *out) {
    masu__buffer_puts(out,
                      "\nWhat each pass left behind in the text of the program: counts taken and given back, results\n"
                      "written over an operand, tensors in the frame, in growing slots, where the caller has room, "
                      "and\n"
                      "entries into owner slots. It is empty before `ownership`.\n");
    masu__buffer_puts(
        out, "\nbehind            acquires  releases  over  in the frame  growing  for the caller  protected\n");
    for (uint32_t f = 0; f < m->function_count; f++) {
        const ir_function *fn = m->functions[f];
        if (fn->is_kernel || !has_numbers(fn))
            continue;
        masu__buffer_printf(out, "%s\n", fn->name);
        put_changes(fn->tallies, fn->tally_count, out);
    }
    masu__buffer_puts(out, "the whole program\n");
    for (uint32_t k = 0; k < m->tally_count; k++)
        put_row(&m->tallies[k], out);
}

static void put_json(const ir_tally *tallies, uint32_t count, const char *indent, masu__buffer *out) {
    masu__buffer_putc(out, '[');
    for (uint32_t k = 0; k < count; k++) {
        const ir_tally *t = &tallies[k];
        masu__buffer_printf(out,
                            "%s\n%s{\"pass\": \"%s\", \"acquires\": %" PRIu32 ", \"releases\": %" PRIu32
                            ", \"over\": %" PRIu32 ", \"framed\": %" PRIu32 ", \"growing\": %" PRIu32
                            ", \"built\": %" PRIu32 ", \"rooted\": %" PRIu32 "}",
                            k ? "," : "", indent, t->pass, t->acquires, t->releases, t->over, t->framed, t->slotted,
                            t->built, t->rooted);
    }
    masu__buffer_putc(out, ']');
}

void explain_tallies_json(const ir_module *m, masu__buffer *out) {
    put_json(m->tallies, m->tally_count, "    ", out);
}

void explain_function_tallies_json(const ir_function *f, masu__buffer *out) {
    masu__buffer_puts(out, "\"passes\": ");
    put_json(f->tallies, f->tally_count, "      ", out);
}
