/* status.h: how every call of masu ends.
 *
 * A function that can fail returns a masu_status and changes nothing observable when it is not
 * MASU_OK. The library never prints and never exits on a caller's condition.
 */
#ifndef MASU_STATUS_H
#define MASU_STATUS_H

#include <masu/export.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum masu_status {
#define MASU_STATUS(name, text) name,
#include <masu/status.def>
#undef MASU_STATUS
    MASU_STATUS_COUNT
} masu_status;

/* The enumerator's own name, such as "MASU_ERR_DOUBLE_FREE"; "MASU_STATUS_UNKNOWN" for anything
 * else. Static text, never freed. Any thread, O(1). */
MASU_API const char *masu_status_name(masu_status status);

/* One line for a person, without a full stop. Static text, never freed. Any thread, O(1). */
MASU_API const char *masu_status_text(masu_status status);

#ifdef __cplusplus
}
#endif

#endif
