/* assert.h: three prices of assertion.
 *
 *     MASU_ASSERT        always on: a comparison on a path that is slow anyway
 *     MASU_DEBUG_ASSERT  on unless NDEBUG: a comparison on a hot path
 *     MASU_HEAVY_ASSERT  on with MASU_HEAVY: walks whole structures (the *_valid functions)
 *
 * An assertion is about a bug of masu's own. What a caller may do wrong is a status, never an
 * assertion.
 */
#ifndef MASU_BASE_ASSERT_H
#define MASU_BASE_ASSERT_H

/* Writes one line to file descriptor 2 and aborts. */
_Noreturn void masu__assert_failed(const char *file, int line, const char *expression);

#define MASU_LIKELY(x)   __builtin_expect(!!(x), 1)
#define MASU_UNLIKELY(x) __builtin_expect(!!(x), 0)

/* A large table of which few entries are ever written. Small variables do not lie between two of them, so that they
 * share a page: linkers put this section behind the others. */
#if defined(__x86_64__) && defined(__ELF__)
#define MASU_LARGE_TABLE __attribute__((section(".lbss.masu")))
#else
#define MASU_LARGE_TABLE
#endif

#define MASU_ASSERT(x) (MASU_LIKELY(x) ? (void)0 : masu__assert_failed(__FILE__, __LINE__, #x))

#ifdef NDEBUG
#define MASU_DEBUG_ASSERT(x) ((void)sizeof(!(x)))
#else
#define MASU_DEBUG_ASSERT(x) MASU_ASSERT(x)
#endif

#ifdef MASU_HEAVY
#define MASU_HEAVY_ASSERT(x) MASU_ASSERT(x)
#else
#define MASU_HEAVY_ASSERT(x) ((void)sizeof(!(x)))
#endif

#endif
