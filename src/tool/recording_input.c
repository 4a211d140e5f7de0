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

bool tool_read_recording(const char *command, const char *path, masu__recording *out) {
    tool_text text = {0};
    masu__buffer why = {0};
    if (!tool_read(path, &text))
        return false;
    const char *data = text.data ? text.data : "";
    masu_status status = MASU_ERR_INVALID_ARGUMENT;
    if (masu__pickle_begins(data, text.length))
        status = masu__snapshot_read(data, text.length, out, &why);
    else if (masu__trace_is(data, text.length))
        status = read_trace(data, text.length, out, &why);
    else if (masu__request_table_begins(data, text.length))
        status = masu__request_table_read(data, text.length, out, &why);
    else
        masu__buffer_puts(
            &why, "neither a memory snapshot of PyTorch (a pickle), nor a trace of masu, nor a table with the columns event, id "
                  "and bytes");
    if (status != MASU_OK)
        fprintf(stderr, "masu %s: %s: %s\n", command, strcmp(path, "-") == 0 ? "standard input" : path,
                why.length ? masu__buffer_text(&why) : masu_status_text(status));
    masu__buffer_destroy(&why);
    tool_text_free(&text);
    return status == MASU_OK;
}
