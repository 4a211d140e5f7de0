/* version.h: the version of the headers a program was compiled with, and of the library it runs
 * with. */
#ifndef MASU_VERSION_H
#define MASU_VERSION_H

#include <masu/export.h>

#ifdef __cplusplus
extern "C" {
#endif

#define MASU_VERSION_MAJOR 0
#define MASU_VERSION_MINOR 1
#define MASU_VERSION_PATCH 0
#define MASU_VERSION_TEXT  "0.1.0"

/* The version of the library itself, such as "0.1.0". Static text, never freed. Any thread. */
MASU_API const char *masu_version(void);

#ifdef __cplusplus
}
#endif

#endif
