/* publish.h: where a page goes that the caller gave no path. */
#ifndef MASU_BASE_PUBLISH_H
#define MASU_BASE_PUBLISH_H

#include <masu/publish.h>

enum { MASU__PAGE_PATH_BYTES = 4096 };
#define MASU__PAGE_FOLDER "/dev/shm" /* without $XDG_RUNTIME_DIR */

/* FOLDER/masu-PROCESS.page into out of MASU__PAGE_PATH_BYTES; false: there is no room. */
bool masu__page_path(char *out, const char *folder, uint64_t process);

/* The start of a process as the kernel counts it; 0: there is no such process, or it is dead and waits to be
 * collected. */
uint64_t masu__process_start(uint64_t process);

/* As masu_publish_begin, in that folder when config has no path. */
masu_status masu__publish_in(const char *folder, const masu_publish_config *config, masu_publisher **out);

#endif
