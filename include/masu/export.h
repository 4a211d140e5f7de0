/* export.h: which symbols leave the shared library. Everything else is built with hidden
 * visibility. */
#ifndef MASU_EXPORT_H
#define MASU_EXPORT_H

#if defined(__GNUC__) || defined(__clang__)
#define MASU_API __attribute__((visibility("default")))
#else
#define MASU_API
#endif

#endif
