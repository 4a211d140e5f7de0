/* ir_support.c: see ir_support.h. */
#include "ir_support.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

ir_module *support_parse(masu__arena *arena, const char *text) {
    masu__buffer error = {0};
    ir_module *m = ir_parse_module(arena, text, &error);
    if (!m)
        fail_msg("%s in\n%s", masu__buffer_text(&error), text);
    masu__buffer_destroy(&error);
    return m;
}

ir_function *support_function(const ir_module *m, const char *name) {
    for (uint32_t f = 0; f < m->function_count; f++)
        if (strcmp(m->functions[f]->name, name) == 0)
            return m->functions[f];
    fail_msg("no function %s", name);
    return NULL;
}

void support_verify(const ir_module *m, ir_phase phase) {
    masu__buffer faults = {0};
    if (!ir_verify(m, phase, &faults)) {
        ir_print_module(m, &faults);
        fail_msg("%s", masu__buffer_text(&faults));
    }
    masu__buffer_destroy(&faults);
}

void support_refuse(const ir_module *m, ir_phase phase, const char *what) {
    masu__buffer faults = {0};
    bool good = ir_verify(m, phase, &faults);
    if (good || !strstr(masu__buffer_text(&faults), what))
        fail_msg("expected a fault with \"%s\", got %s", what, good ? "none" : masu__buffer_text(&faults));
    masu__buffer_destroy(&faults);
}

static const char *skip_blank(const char *c) {
    for (;;) {
        while (isspace((unsigned char)*c))
            c++;
        if (*c != ';')
            return c;
        while (*c && *c != '\n')
            c++;
    }
}

bool support_same_text(const char *a, const char *b) {
    for (;;) {
        a = skip_blank(a);
        b = skip_blank(b);
        if (*a != *b)
            return false;
        if (!*a)
            return true;
        a++;
        b++;
    }
}

void support_expect_text(const char *actual, const char *expected) {
    if (!support_same_text(actual, expected))
        fail_msg("got\n%s\nexpected\n%s", actual, expected);
}

bool support_collect(void *user, source_span span, message_row row, const char *message, const pass_note *notes,
                     size_t count) {
    masu__buffer *out = user;
    (void)span, (void)row;
    masu__buffer_puts(out, message);
    for (size_t n = 0; n < count; n++)
        masu__buffer_printf(out, " [%s]", notes[n].text);
    masu__buffer_putc(out, '\n');
    return true;
}
