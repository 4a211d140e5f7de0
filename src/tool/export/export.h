/* export.h: what the files of `masu export` share: one recording, written for other programs.
 *
 *     recording ─► export_command.c ─┬─► write_table.c      CSV: a line an event
 *                                    └─► write_perfetto.c   counters, slices and instants for ui.perfetto.dev
 */
#ifndef MASU_TOOL_EXPORT_H
#define MASU_TOOL_EXPORT_H

#include <stdio.h>

#include "base/buffer.h"
#include "recording/recording.h"
#include "tool/tool.h"

typedef struct export_input {
    const masu__recording *recording;
    masu__lives lives;
} export_input;

/* Both write to a stream and return false when memory ran out; what the stream refuses is found when it is closed. */
bool export_table(const export_input *in, FILE *out);
bool export_perfetto(const export_input *in, FILE *out);

/* The stack of a place, innermost first: "net.py:30 forward < train.py:9 main". At most so many places of it. */
void export_put_stack(masu__buffer *out, const masu__recording *recording, uint32_t place, unsigned most);

#endif
