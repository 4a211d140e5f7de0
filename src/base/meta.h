/* meta.h: memory for masu's own records. The only home of malloc and free.
 *
 * Everything that is not tensor data (pool nodes, tables, handles, arenas, texts) comes from
 * here, so that it can be counted, and so that a test can make the nth request fail:
 * masu__fault_arm. Devices ask the same counter, so one sweep reaches every place that can run
 * out.
 *
 *     masu__meta_live_bytes() = sum of the sizes of all blocks not yet freed
 *
 * Thread safety: everything here, any thread.
 */
#ifndef MASU_BASE_META_H
#define MASU_BASE_META_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Uninitialised memory for bytes > 0, aligned to 16; NULL when there is none. The caller owns
 * it. */
void *masu__meta_alloc(size_t bytes);

/* The same, zeroed, for count * bytes; NULL also when the product overflows. */
void *masu__meta_calloc(size_t count, size_t bytes);

/* Grows or shrinks; on NULL the old block is untouched. old_bytes must be the size it was
 * allocated with. */
void *masu__meta_realloc(void *ptr, size_t old_bytes, size_t new_bytes);

/* bytes must be the size it was allocated with. NULL is allowed. */
void masu__meta_free(void *ptr, size_t bytes);

/* For handles of destroyed pools: counts as freed at once. With MASU_HEAVY the last 64 stay
 * readable, so that a call on a destroyed pool finds its mark of death instead of somebody else's
 * memory. */
void masu__meta_retire(void *ptr, size_t bytes);

/* Zeroed pages of their own, aligned to MASU__HUGE_PAGE_BYTES, of which bytes is a multiple; the system is asked for
 * huge ones and may give others. NULL: there is no memory. Given back by masu__meta_unmap with the same size. */
enum { MASU__HUGE_PAGE_BYTES = 2 << 20 };
void *masu__meta_map(size_t bytes);
void masu__meta_unmap(void *ptr, size_t bytes);

/* Zeroed pages for a table that lives as long as the process: not counted, and no fault is armed for them. NULL:
 * memory has run out. */
void *masu__meta_pages(size_t bytes);
void masu__meta_pages_back(void *ptr, size_t bytes);

uint64_t masu__meta_live_bytes(void);
uint64_t masu__meta_live_blocks(void);

/* The nth request from now (1 = the next) that asks the counter fails; 0 switches off. With
 * repeat every later one fails too. */
void masu__fault_arm(uint64_t nth);
void masu__fault_arm_repeat(uint64_t nth, bool repeat);

/* How many requests asked the counter since it was armed; 0 when it is off. */
uint64_t masu__fault_count(void);

/* Whether an armed fault has fired. */
bool masu__fault_fired(void);

/* For devices: counts one request and says whether it must fail. */
bool masu__fault_hit(void);

#endif
