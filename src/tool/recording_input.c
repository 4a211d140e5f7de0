/* recording_input.c: a recording of any kind from a file, for the subcommands that ask about memory. */
#include <stdio.h>
#include <string.h>

#include "recording/recording.h"
#include "tool/tool.h"

static masu_status read_trace(const char *data, size_t length, masu__recording *out, masu__buffer *why) {
    masu__recording_fault fault = {0};
    masu_status status = masu__trace_read(data, length, out, &fault);
    if (status != MASU_OK && fault.text)
        masu__buffer_printf(why, "byte %llu: %s", (unsigned long long)fault.offset, fault.text);
    return status;
}

masu_status tool_parse_recording(const char *data, size_t length, masu__recording *out, masu__buffer *why) {
    if (masu__pickle_begins(data, length))
        return masu__snapshot_read(data, length, out, why);
    if (masu__trace_is(data, length))
        return read_trace(data, length, out, why);
    if (masu__request_table_begins(data, length))
        return masu__request_table_read(data, length, out, why);
    masu__buffer_puts(
        why,
        "neither a memory snapshot of PyTorch (a pickle), nor a trace of masu, nor a table with the columns event, "
        "id and bytes");
    return MASU_ERR_INVALID_ARGUMENT;
}

static const char *shown(const char *path) {
    return strcmp(path, "-") == 0 ? "standard input" : path;
}

static void put_missing(masu__buffer *out, const masu__recording *recording) {
    if (recording->is_cut)
        masu__buffer_printf(out, "the recording ends at byte %llu: %s; only what is before it is looked at",
                            (unsigned long long)recording->cut_at,
                            recording->cut_reason ? recording->cut_reason : "the file ends");
    if (recording->lost_events)
        masu__buffer_printf(out, "%s%llu events are missing: the ring was full", recording->is_cut ? "; " : "",
                            (unsigned long long)recording->lost_events);
}

void tool_say_missing(const char *command, const char *path, const masu__recording *recording) {
    masu__buffer missing = {0};
    put_missing(&missing, recording);
    if (missing.length)
        fprintf(stderr, "masu %s: %s: note: %s\n", command, shown(path), masu__buffer_text(&missing));
    masu__buffer_destroy(&missing);
}

bool tool_read_recording(const char *command, const char *path, masu__recording *out) {
    tool_text text = {0};
    masu__buffer why = {0};
    if (!tool_read(path, &text))
        return false;
    masu_status status = tool_parse_recording(text.data ? text.data : "", text.length, out, &why);
    if (status != MASU_OK)
        fprintf(stderr, "masu %s: %s: %s\n", command, shown(path),
                why.length ? masu__buffer_text(&why) : masu_status_text(status));
    masu__buffer_destroy(&why);
    tool_text_free(&text);
    return status == MASU_OK;
}
