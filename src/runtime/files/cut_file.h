/* cut_file.h: mapped files that another process may cut while they are read. Private to the runtime. */
#ifndef MASU_RUNTIME_CUT_FILE_H
#define MASU_RUNTIME_CUT_FILE_H

#include <stdbool.h>
#include <stddef.h>

/* From now on this mapping reads as zeros where its file ends too early, in place of SIGBUS. False: too many are
 * watched, or the signal cannot be handled; the mapping is then as any other. Any thread; some hundred nanoseconds.
 * Puts a handler of SIGBUS there when it is called for the first time, which hands on what is not its own. */
bool tl__cut_file_watch(const void *data, size_t length);
/* Before it is unmapped. One that is not watched is passed over. */
void tl__cut_file_forget(const void *data);

#endif
