/* export.h: which symbols leave the shared library (everything else is built with hidden visibility), and what
 * declarations tell a compiler that wants to know. */
#ifndef MASU_EXPORT_H
#define MASU_EXPORT_H

#if defined(__GNUC__) || defined(__clang__)
#ifdef MASU_HIDDEN /* a library that has this one inside and does not show it */
#define MASU_API __attribute__((visibility("hidden")))
#else
#define MASU_API __attribute__((visibility("default")))
#endif
/* Marks a function that gives a fresh block: the arguments whose product is its size, counted from 1. */
#define MASU_ALLOCATED(...) __attribute__((malloc, alloc_size(__VA_ARGS__), warn_unused_result))
/* The same of one that may give the block that it was given. */
#define MASU_REALLOCATED(...) __attribute__((alloc_size(__VA_ARGS__), warn_unused_result))
/* Its result must be looked at. */
#define MASU_MUST_USE __attribute__((warn_unused_result))
#else
#define MASU_API
#define MASU_ALLOCATED(...)
#define MASU_REALLOCATED(...)
#define MASU_MUST_USE
#endif

/* Around functions that are compiled into C++ callers too: they are C, whatever that side asks to be warned of. */
#if defined(__cplusplus) && defined(__GNUC__)
#define MASU_HEADER_BEGIN                                                                 \
    _Pragma("GCC diagnostic push") _Pragma("GCC diagnostic ignored \"-Wold-style-cast\"") \
        _Pragma("GCC diagnostic ignored \"-Wcast-align\"")                                \
            _Pragma("GCC diagnostic ignored \"-Wzero-as-null-pointer-constant\"")
#define MASU_HEADER_END _Pragma("GCC diagnostic pop")
#else
#define MASU_HEADER_BEGIN
#define MASU_HEADER_END
#endif

#endif
