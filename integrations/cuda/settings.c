/* settings.c: the environment, and the log. */
#include "interpose.h"

#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static settings current;
static FILE *log_file;
static pthread_mutex_t log_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void say(log_level level, const char *format, va_list arguments) {
    if (level > current.level)
        return;
    pthread_mutex_lock(&log_lock);
    FILE *out = log_file ? log_file : stderr;
    fputs(log_file ? "# " : "masu: ", out);
    vfprintf(out, format, arguments);
    fputc('\n', out);
    fflush(out);
    pthread_mutex_unlock(&log_lock);
}

/* Before the settings are complete; warnings come through unless the level itself says no. */
static void complain(const char *name, const char *text, const char *instead) {
    if (current.level >= LOG_WARNINGS)
        fprintf(log_file ? log_file : stderr, "%s%s=%s makes no sense; taken as %s\n", log_file ? "# " : "masu: ", name,
                text, instead);
}

static void read_level(void) {
    static const char *const names[] = {"nothing", "warnings", "summary", "everything"};
    const char *text = getenv("VMM_LOG_LEVEL");
    current.level = LOG_WARNINGS;
    if (!text)
        return;
    for (int i = 0; i < 4; i++)
        if (strcasecmp(text, names[i]) == 0 || (text[0] == '0' + i && text[1] == 0)) {
            current.level = (log_level)i;
            return;
        }
    complain("VMM_LOG_LEVEL", text, "warnings");
}

static void read_mode(void) {
    const char *text = getenv("VMM_MODE");
    if (!text || strcasecmp(text, "VMM") == 0)
        return;
    if (strcasecmp(text, "MONITOR") == 0)
        current.mode = MODE_MONITOR;
    else
        complain("VMM_MODE", text, "VMM");
}

static void read_reservation(void) {
    const char *text = getenv("VMM_RESERVE_SIZE_MB");
    char *end;
    if (!text)
        return;
    errno = 0;
    unsigned long long mib = strtoull(text, &end, 10);
    if (text[0] >= '0' && text[0] <= '9' && *end == 0 && errno == 0 && mib > 0 && mib < 1ull << 32)
        current.reserve_bytes = (uint64_t)mib << 20;
    else
        complain("VMM_RESERVE_SIZE_MB", text, "many times the device's memory");
}

static void read_ratio(void) {
    const char *text = getenv("VMM_FRAG_RATIO");
    char *end;
    current.fragment_ratio = MASU_VM_FRAGMENT_RATIO;
    if (!text)
        return;
    double ratio = strtod(text, &end);
    if (end != text && *end == 0 && ratio >= 0 && ratio <= 1)
        current.fragment_ratio = ratio;
    else
        complain("VMM_FRAG_RATIO", text, "0.25");
}

static void read_all(void) {
    const char *path = getenv("VMM_LOG_FILE");
    if (path && path[0]) {
        log_file = fopen(path, "we");
        if (!log_file)
            fprintf(stderr, "masu: VMM_LOG_FILE=%s cannot be written; logging to standard error\n", path);
    }
    read_level();
    read_mode();
    read_reservation();
    read_ratio();
    if (log_file)
        fflush(log_file);
}

const settings *masu_cuda_settings(void) {
    pthread_once(&once, read_all);
    return &current;
}

void masu_cuda_say(log_level level, const char *format, ...) {
    va_list arguments;
    masu_cuda_settings();
    va_start(arguments, format);
    say(level, format, arguments);
    va_end(arguments);
}

bool masu_cuda_wants_events(void) {
    masu_cuda_settings();
    return log_file != NULL;
}

void masu_cuda_write_event(void *ignored, const masu_event *event) {
    char line[MASU_EVENT_TEXT_BYTES];
    (void)ignored;
    if (!log_file)
        return;
    masu_event_format(event, line, sizeof line);
    pthread_mutex_lock(&log_lock);
    fputs(line, log_file);
    fputc('\n', log_file);
    fflush(log_file);
    pthread_mutex_unlock(&log_lock);
}
