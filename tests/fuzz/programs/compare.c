/* compare.c: see compare.h. */
#include "compare.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "interpret.h"
#include "language/language.h"
#include "runtime/runtime.h"
#include <masu/check.h>

enum { MOST_PASSES = 32 };

typedef struct way {
    const char *name;
    const char *disabled[MOST_PASSES];
    size_t disabled_count;
    bool audit;
} way;

typedef struct outcome {
    bool compiled;
    masu_status status;
    uint32_t line;
    char error[200];
    char *output; /* to be freed */
    size_t length;
} outcome;

/* ---- one run ------------------------------------------------------------------------------------- */

static uint32_t line_of(const masu_program *p, const tl_error *error) {
    masu_place_info place;
    for (uint32_t s = 0; s < error->site_count; s++)
        if (masu_program_site(p, error->sites[s], &place))
            return place.line;
    return 0;
}

/* Nothing may be left, however the program ended. */
static void balance(tl_runtime *rt, const way *w, masu__buffer *why) {
    tl_report r;
    tl_runtime_get_report(rt, &r);
    const struct {
        const char *name;
        uint64_t value;
    } zeros[] = {{"live tensors", r.live_tensors},
                 {"live bytes", r.live_bytes},
                 {"live nodes", r.live_nodes},
                 {"live gradients", r.live_grads},
                 {"live objects", r.live_objects},
                 {"frames", r.frame_depth},
                 {"scopes", r.scope_depth},
                 {"registered owners", r.registered},
                 {"allocations without a free", r.allocations - r.frees}};
    for (size_t i = 0; i < sizeof zeros / sizeof zeros[0]; i++)
        if (zeros[i].value != 0)
            masu__buffer_printf(why, "%s: %llu %s left\n", w->name, (unsigned long long)zeros[i].value, zeros[i].name);
    if (!tl_runtime_valid(rt))
        masu__buffer_printf(why, "%s: the runtime's equations do not hold\n", w->name);
}

static void look_at_audit(tl_runtime *rt, const masu_program *p, const way *w, masu__buffer *why) {
    tl_audit_result audit;
    masu_place_info place = {0};
    if (!w->audit || tl_runtime_audit(rt, &audit))
        return;
    masu_program_site(p, audit.site, &place);
    masu__buffer_printf(why, "%s: line %u: %s\n", w->name, place.line, audit.text);
}

static void execute(const masu_program *p, const way *w, masu_check *judge, outcome *out, masu__buffer *why) {
    masu_trace *trace = NULL;
    tl_runtime *rt = NULL;
    tl_error error = {0};
    masu_trace_config events = {.sink = masu_check_sink, .sink_context = judge, .start_on = true};
    FILE *stream = open_memstream(&out->output, &out->length);
    tl_runtime_config config = {.seed = 1, .out = stream, .log = stream};
    if (masu_trace_create(&events, &trace) == MASU_OK) {
        config.trace = trace;
        if (tl_runtime_create(&config, &rt) == MASU_OK) {
            out->status = tl_runtime_run(rt, masu_program_entry(p), &error);
            out->line = line_of(p, &error);
            snprintf(out->error, sizeof out->error, "%.*s", (int)sizeof out->error - 1, error.text);
            look_at_audit(rt, p, w, why);
            balance(rt, w, why);
        }
    }
    fclose(stream);
    tl_runtime_destroy(rt);
    masu_trace_destroy(trace);
}

static void run(const char *text, size_t length, const way *w, outcome *out, masu__buffer *why) {
    masu_compile_options options = {.until = MASU_STAGE_CODE,
                                    .generator = &masu_llvm,
                                    .disabled = w->disabled,
                                    .disabled_count = w->disabled_count,
                                    .verify = true,
                                    .audit = w->audit};
    masu_program *p = NULL;
    masu_check *judge = NULL;
    *out = (outcome){0};
    masu_status status = masu_program_compile("program.tl", text, length, &options, &p);
    out->compiled = status == MASU_OK && masu_program_error_count(p) == 0;
    if (!out->compiled)
        masu__buffer_printf(why, "%s: does not compile\n%s", w->name, p ? masu_program_diagnostics(p) : "");
    if (out->compiled && masu_check_create(&judge) == MASU_OK) {
        execute(p, w, judge, out, why);
        if (masu_check_verdict(judge) != MASU_VERDICT_FINE)
            masu__buffer_printf(why, "%s: the judge says %s\n", w->name, masu_verdict_name(masu_check_verdict(judge)));
    }
    masu_check_destroy(judge);
    masu_program_destroy(p);
}

/* Every error says that something is changed or moved away while it is referred to. */
static bool refused_for_references(const char *text) {
    static const char mark[] = ": error: ";
    const char *error = strstr(text, mark);
    bool all = error != NULL;
    for (; error && all; error = strstr(error + sizeof mark, mark)) {
        const char *end = strchr(error, '\n'), *why = strstr(error, " refers to it");
        all = end && why && why < end;
    }
    return all;
}

/* ---- agreement ------------------------------------------------------------------------------------- */

static size_t word_length(const char *text) {
    return strcspn(text, " \n");
}

static bool same_number(const char *a, size_t a_length, const char *b, size_t b_length) {
    char *a_end, *b_end;
    double x = strtod(a, &a_end), y = strtod(b, &b_end);
    if (a_end != a + a_length || b_end != b + b_length || a_length == 0 || b_length == 0)
        return false;
    if (isnan(x) || isnan(y))
        return isnan(x) && isnan(y);
    return fabs(x - y) <= 2e-3 * fmax(1, fmax(fabs(x), fabs(y)));
}

/* Brackets and commas around a number of a printed tensor. */
static size_t frame_of(const char *text, size_t length, bool behind) {
    size_t at = 0;
    while (at < length && strchr(behind ? "]," : "[", behind ? text[length - 1 - at] : text[at]))
        at++;
    return at;
}

/* Blanks before a number that is padded to a width are words of no length. */
static bool same_word(const char *a, size_t a_length, const char *b, size_t b_length) {
    if (a_length == b_length && memcmp(a, b, a_length) == 0)
        return true;
    size_t front = frame_of(a, a_length, false), back = frame_of(a, a_length, true);
    if (front != frame_of(b, b_length, false) || back != frame_of(b, b_length, true) || front + back >= a_length ||
        front + back >= b_length)
        return false;
    return same_number(a + front, a_length - front - back, b + front, b_length - front - back);
}

/* Numbers may differ by what rounding does: sums are made in another order. */
static bool same_text(const char *a, const char *b) {
    for (;;) {
        size_t x = word_length(a), y = word_length(b);
        if (!same_word(a, x, b, y) || a[x] != b[y])
            return false;
        if (!a[x])
            return true;
        a += x + 1;
        b += y + 1;
    }
}

static void against_interpreter(const interpretation *wanted, const outcome *found, const way *w, masu__buffer *why) {
    bool failed = wanted->how == INTERPRETED_ERROR;
    if (failed != (found->status != MASU_OK))
        masu__buffer_printf(why, "%s: %s (line %u: %s), the interpreter: %s (line %u: %s)\n", w->name,
                            found->status ? "an error" : "no error", found->line, found->error,
                            failed ? "an error" : "no error", wanted->line, wanted->text);
    else if (failed && wanted->line != found->line)
        masu__buffer_printf(why, "%s: an error on line %u (%s), the interpreter: on line %u (%s)\n", w->name,
                            found->line, found->error, wanted->line, wanted->text);
    if (!same_text(masu__buffer_text(&wanted->output), found->output))
        masu__buffer_printf(why, "%s: other output\n---- interpreter\n%s---- program\n%s", w->name,
                            masu__buffer_text(&wanted->output), found->output);
}

static void against_first(const outcome *first, const outcome *found, const way *w, masu__buffer *why) {
    if (first->status != found->status || first->line != found->line || strcmp(first->error, found->error) != 0)
        masu__buffer_printf(why, "%s: ends in \"%s\" (line %u), with all passes in \"%s\" (line %u)\n", w->name,
                            found->error, found->line, first->error, first->line);
    if (first->length != found->length || memcmp(first->output, found->output, found->length) != 0)
        masu__buffer_printf(why, "%s: other output\n---- all passes\n%s---- program\n%s", w->name, first->output,
                            found->output);
}

static size_t ways_of(compare_depth depth, way *ways) {
    size_t pass_count, count = 0, optional = 0, turn = depth < COMPARE_TURN ? 0 : depth - COMPARE_TURN;
    const masu_pass_info *passes = masu_passes(&pass_count);
    for (size_t p = 0; p < pass_count; p++)
        optional += passes[p].optional;
    if (depth == COMPARE_PLAIN || depth == COMPARE_ALL)
        ways[count++] = (way){.name = "all passes"};
    if (depth != COMPARE_PLAIN)
        ways[count++] = (way){.name = "audited", .audit = true};
    way *none = &ways[count++];
    *none = (way){.name = "without optional passes"};
    for (size_t p = 0; p < pass_count && p < MOST_PASSES; p++) {
        if (!passes[p].optional)
            continue;
        bool alone = depth == COMPARE_ALL || (depth >= COMPARE_TURN && none->disabled_count == turn % optional);
        none->disabled[none->disabled_count++] = passes[p].name;
        if (alone)
            ways[count++] = (way){.name = passes[p].name, .disabled = {passes[p].name}, .disabled_count = 1};
    }
    return count;
}

static void compare_all(const char *text, size_t length, compare_depth depth, const interpretation *wanted,
                        masu__buffer *why) {
    way ways[MOST_PASSES + 3];
    outcome first, found;
    size_t count = ways_of(depth, ways);
    run(text, length, &ways[0], &first, why);
    if (first.compiled && first.output)
        against_interpreter(wanted, &first, &ways[0], why);
    for (size_t w = 1; w < count && first.compiled && first.output; w++) {
        run(text, length, &ways[w], &found, why);
        if (found.compiled && found.output)
            against_first(&first, &found, &ways[w], why);
        free(found.output);
    }
    free(first.output);
}

comparison compare(const char *text, size_t length, compare_depth depth, masu__buffer *why) {
    interpretation wanted;
    interpret(text, length, &wanted);
    comparison result = COMPARED_NOTHING;
    if (wanted.how == INTERPRETED_WELL || wanted.how == INTERPRETED_ERROR) {
        compare_all(text, length, depth, &wanted, why);
        result = why->length == 0                                 ? COMPARED_SAME
                 : refused_for_references(masu__buffer_text(why)) ? COMPARED_REFUSED
                                                                  : COMPARED_DIFFERENT;
    } else {
        masu__buffer_puts(why, wanted.how == INTERPRETED_NOT ? "no program" : wanted.text);
    }
    masu__buffer_destroy(&wanted.output);
    return result;
}
