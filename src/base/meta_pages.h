/* meta_pages.h: metadata from pages of its own, for a build that is itself the process's malloc (MASU_META_PAGES).
 *
 * There the C library's functions are ours, and what they need for their records cannot come from them. Sizes are known
 * at each free, so a block has no header; up to 64 KiB it goes to the list of its class, two classes for each doubling,
 * and stays for the life of the process. Larger ones are mappings of their own.
 *
 * Thread safety: any thread; a fork is safe as long as lock.c takes the lock around it.
 */
#ifndef MASU_BASE_META_PAGES_H
#define MASU_BASE_META_PAGES_H

#include <stddef.h>

/* bytes > 0; at a multiple of 16; NULL: there is no memory. */
void *masu__meta_pages_alloc(size_t bytes);
/* The same, zeroed. */
void *masu__meta_pages_calloc(size_t bytes);
/* NULL: there is no memory, and the old block is untouched. ptr NULL with old_bytes 0: as alloc. */
void *masu__meta_pages_realloc(void *ptr, size_t old_bytes, size_t new_bytes);
/* bytes as asked for. */
void masu__meta_pages_free(void *ptr, size_t bytes);

#ifdef MASU_META_PAGES
/* Around a fork, inside of all other locks. */
void masu__meta_pages_before_fork(void);
void masu__meta_pages_after_fork(void);
#else
static inline void masu__meta_pages_before_fork(void) {}
static inline void masu__meta_pages_after_fork(void) {}
#endif

#endif
