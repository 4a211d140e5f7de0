/* run_publish.h: a run that `masu top` can look at: `masu run --publish`, and MASU_PUBLISH for both `masu run` and
 * executables. */
#ifndef MASU_TOOL_RUN_PUBLISH_H
#define MASU_TOOL_RUN_PUBLISH_H

#include "tool/native/run_end.h"

/* where: NULL: as MASU_PUBLISH says, "": the usual place, else a path. *out NULL: nothing is published; its heaps are
 * to be made for several threads otherwise. Says why it cannot: TOOL_FAILED. Ended by masu_publish_end, before the
 * runtime is gone. */
int tool_publish_begin(const char *where, const char *program, masu_publisher **out);

#endif
