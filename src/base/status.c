/* status.c: names and texts of the statuses, expanded from the one table. */
#include <masu/status.h>
#include <masu/version.h>

#include <stddef.h>

static const char *const status_names[] = {
#define MASU_STATUS(name, text) [name] = #name,
#include <masu/status.def>
#undef MASU_STATUS
};

static const char *const status_texts[] = {
#define MASU_STATUS(name, text) [name] = text,
#include <masu/status.def>
#undef MASU_STATUS
};

_Static_assert(sizeof status_names / sizeof *status_names == MASU_STATUS_COUNT, "one name for each status");

const char *masu_status_name(masu_status status) {
    return (size_t)status < MASU_STATUS_COUNT ? status_names[status] : "MASU_STATUS_UNKNOWN";
}

const char *masu_status_text(masu_status status) {
    return (size_t)status < MASU_STATUS_COUNT ? status_texts[status] : "unknown status";
}

const char *masu_version(void) {
    return MASU_VERSION_TEXT;
}
