/* settings.c: the environment, read once, and what is said on standard error. */
#include "torch.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

static settings current;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static bool is_on(const char *name) {
    const char *text = getenv(name);
    return text && *text && strcmp(text, "0") != 0;
}

static void read_all(void) {
    const char *kind = getenv("MASU_TORCH"), *history = getenv("MASU_TORCH_HISTORY");
    char *end;
    current.reports = is_on("MASU_TORCH_REPORT");
    current.checks = is_on("MASU_TORCH_CHECK");
    current.vm = kind && strcmp(kind, "vm") == 0;
    if (kind && *kind && !current.vm && strcmp(kind, "heap") != 0)
        current.wrong = kind;
    if (history && *history) {
        unsigned long long events = strtoull(history, &end, 10);
        if (*end == 0 && *history >= '0' && *history <= '9')
            current.history = (size_t)events;
        else
            fprintf(stderr, "masu: MASU_TORCH_HISTORY=%s is not a number of events; none are kept\n", history);
    }
}

const settings *masu_torch_settings(void) {
    pthread_once(&once, read_all);
    return &current;
}

void masu_torch_say(const char *format, ...) {
    if (!masu_torch_settings()->reports)
        return;
    va_list arguments;
    va_start(arguments, format);
    char text[2000];
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    fprintf(stderr, "masu: %s\n", text);
}
