/* settings.c: the environment, read once, before the first block. Nothing here may allocate.
 *
 * What is not understood is said on standard error and has no effect. Programs that run with other rights than their
 * caller's read nothing (secure_getenv).
 */
#include "adapter.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* Whole programs free many small blocks at once and want them again. */
#define CACHED_BYTES ((size_t)64 << 20)

static settings current;
static bool known;
static pthread_once_t once = PTHREAD_ONCE_INIT;

void masu_malloc_say(const char *format, ...) {
    char line[512] = "masu-malloc: ";
    size_t length = strlen(line);
    va_list arguments;
    va_start(arguments, format);
    int more = vsnprintf(line + length, sizeof line - length - 1, format, arguments);
    va_end(arguments);
    if (more > 0)
        length += (size_t)more < sizeof line - length - 1 ? (size_t)more : sizeof line - length - 2;
    line[length++] = '\n';
    if (write(STDERR_FILENO, line, length) < 0)
        return; /* there is no other place to say it */
}

void masu_malloc_name_file(const char *pattern, char *out, size_t room) {
    size_t at = 0;
    for (; *pattern && at + 1 < room; pattern++)
        if (pattern[0] == '%' && pattern[1] == 'p') {
            int more = snprintf(out + at, room - at, "%ld", (long)getpid());
            at = more < 0 || (size_t)more >= room - at ? room - 1 : at + (size_t)more;
            pattern++;
        } else {
            out[at++] = *pattern;
        }
    out[at] = 0;
}

/* A number, in bytes, K, M or G. */
static bool read_number(const char *name, uint64_t *out) {
    const char *text = secure_getenv(name);
    char *end;
    if (!text || !text[0])
        return false;
    errno = 0;
    unsigned long long number = strtoull(text, &end, 10);
    const char *units = "KMG", *unit = *end ? strchr(units, *end) : NULL;
    unsigned shift = unit ? 10 * (unsigned)(unit - units + 1) : 0;
    bool fits = text[0] >= '0' && text[0] <= '9' && errno == 0 && number <= UINT64_MAX >> shift &&
                end[unit != NULL] == 0;
    if (!fits)
        masu_malloc_say("%s=%s is not understood: write a number, or one with K, M or G; it has no effect", name, text);
    *out = fits ? number << shift : 0;
    return fits;
}

static bool read_switch(const char *name) {
    const char *text = secure_getenv(name);
    bool off = !text || !text[0] || strcmp(text, "0") == 0;
    if (!off && strcmp(text, "1") != 0)
        masu_malloc_say("%s=%s is not understood: write 0 or 1; it has no effect", name, text);
    return !off && strcmp(text, "1") == 0;
}

static report_form read_report(void) {
    const char *text = secure_getenv("MASU_REPORT");
    if (!text || !text[0])
        return REPORT_NONE;
    if (strcmp(text, "text") == 0)
        return REPORT_TEXT;
    if (strcmp(text, "json") == 0)
        return REPORT_JSON;
    masu_malloc_say("MASU_REPORT=%s is not understood: write text or json; it has no effect", text);
    return REPORT_NONE;
}

/* Most programs are started without any: then nothing is looked for by its name, in code that they may never run. */
static bool any_is_set(void) {
    char **at = environ;
    while (at && *at && strncmp(*at, "MASU_", 5) != 0)
        at++;
    return at && *at;
}

static void read_wanted(void) {
    uint64_t limit = 0, idle = 0;
    current.report = read_report();
    current.report_file = secure_getenv("MASU_REPORT_FILE");
    if (current.report_file && !current.report_file[0])
        current.report_file = NULL;
    current.trace_file = secure_getenv("MASU_TRACE");
    if (current.trace_file && !current.trace_file[0])
        current.trace_file = NULL;
    current.publish = secure_getenv("MASU_PUBLISH");
    if (current.publish && !current.publish[0])
        current.publish = NULL;
    current.huge_pages = read_switch("MASU_HUGE_PAGES");
    current.checked = read_switch("MASU_CHECKED");
    (void)read_number("MASU_FAIL_AT", &current.fail_at);
    (void)read_number("MASU_LIMIT", &limit);
    current.limit_bytes = (size_t)limit;
    (void)read_number("MASU_MAX_IDLE", &idle);
    current.max_idle_bytes = (size_t)idle;
    (void)read_number("MASU_DECAY_MS", &current.decay_ms);
    current.decay_thread = read_switch("MASU_DECAY_THREAD");
    if (current.decay_thread && current.decay_ms == 0) {
        masu_malloc_say("MASU_DECAY_THREAD=1 has no effect without MASU_DECAY_MS");
        current.decay_thread = false;
    }
}

static void read_all(void) {
    if (any_is_set())
        read_wanted();
    known = true;
}

const settings *masu_malloc_settings(void) {
    if (!known)
        pthread_once(&once, read_all);
    return &current;
}

/* ---- the pool -------------------------------------------------------------------------------- */

/* NULL: the pool makes the device that it needs. */
static masu_device *device_chosen(const settings *wanted) {
    masu_device *device = NULL, *host = NULL;
    if (wanted->huge_pages)
        (void)masu_malloc_huge_device(&device);
    if (wanted->fail_at == 0)
        return device;
    if (!device && masu_device_create_host(&host) == MASU_OK)
        device = host;
    masu_device *faulty = NULL;
    if (!device || masu_device_create_faulty(device, &faulty) != MASU_OK)
        return device;
    (void)masu_device_fail_as(faulty, MASU_ERR_OUT_OF_MEMORY);
    (void)masu_device_fail_at(faulty, wanted->fail_at, true);
    return faulty;
}

/* The pool asks for it when the first block is wanted, which may be before any constructor has run. */
const masu_heap_config *masu_wanted_config(void) {
    static masu_heap_config config;
    const settings *wanted = masu_malloc_settings();
    config = masu_configure_default();
    config.device = device_chosen(wanted);
    config.limit_bytes = wanted->limit_bytes;
    config.max_cached_bytes = CACHED_BYTES;
    config.checked = wanted->checked;
    config.trace = masu_malloc_trace();
    return &config;
}
