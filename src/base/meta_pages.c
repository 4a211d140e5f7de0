/* meta_pages.c: see meta_pages.h. Every byte of a chunk is either in a block that is out, in a list, or behind the
 * mark. */
#include "base/meta_pages.h"

#ifdef MASU_META_PAGES

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

#include "base/size.h"

enum { LEAST_LOG = 4, MOST_LOG = 16, CLASSES = 2 * (MOST_LOG - LEAST_LOG) + 1, PAGE = 4096 };
#define CHUNK_BYTES ((size_t)256 << 10)

typedef struct spare {
    struct spare *next;
} spare;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static spare *lists[CLASSES];
static char *mark, *end; /* of the chunk that is cut now */

void masu__meta_pages_before_fork(void) {
    pthread_mutex_lock(&lock);
}

void masu__meta_pages_after_fork(void) {
    pthread_mutex_unlock(&lock);
}

static void *map(size_t bytes) {
    void *pages = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return pages == MAP_FAILED ? NULL : pages;
}

static bool is_large(size_t bytes) {
    return bytes > (size_t)1 << MOST_LOG;
}

/* 0 when the sum overflows. */
static size_t whole_pages(size_t bytes) {
    size_t rounded;
    return masu__align_up(bytes, PAGE, &rounded) ? rounded : 0;
}

/* 16, 32, 48, 64, 96, 128, … */
static unsigned class_of(size_t bytes) {
    if (bytes <= (size_t)1 << LEAST_LOG)
        return 0;
    unsigned log = masu__log2_floor(bytes - 1);
    return 2 * (log - LEAST_LOG) + 1 + ((bytes - 1) >> (log - 1) & 1);
}

static size_t class_bytes(unsigned index) {
    if (index == 0)
        return (size_t)1 << LEAST_LOG;
    size_t base = (size_t)1 << (LEAST_LOG + (index - 1) / 2);
    return index % 2 == 1 ? masu__align_up_small(base + base / 2, 1 << LEAST_LOG) : 2 * base;
}

/* Fresh memory, zero. What is left of the old chunk is not used again: less than the largest class. */
static void *cut(size_t bytes) {
    if ((size_t)(end - mark) < bytes) {
        char *chunk = map(CHUNK_BYTES);
        if (!chunk)
            return NULL;
        mark = chunk;
        end = chunk + CHUNK_BYTES;
    }
    void *block = mark;
    mark += bytes;
    return block;
}

static void *take(size_t bytes, bool *zero) {
    unsigned index = class_of(bytes);
    pthread_mutex_lock(&lock);
    spare *block = lists[index];
    *zero = block == NULL;
    if (block)
        lists[index] = block->next;
    else
        block = cut(class_bytes(index));
    pthread_mutex_unlock(&lock);
    return block;
}

void *masu__meta_pages_alloc(size_t bytes) {
    bool zero;
    if (!is_large(bytes))
        return take(bytes, &zero);
    size_t rounded = whole_pages(bytes);
    return rounded ? map(rounded) : NULL;
}

void *masu__meta_pages_calloc(size_t bytes) {
    bool zero = true;
    void *block = is_large(bytes) ? masu__meta_pages_alloc(bytes) : take(bytes, &zero);
    return block && !zero ? memset(block, 0, bytes) : block;
}

void masu__meta_pages_free(void *ptr, size_t bytes) {
    spare *block = ptr;
    if (is_large(bytes)) {
        munmap(ptr, whole_pages(bytes));
        return;
    }
    unsigned index = class_of(bytes);
    pthread_mutex_lock(&lock);
    block->next = lists[index];
    lists[index] = block;
    pthread_mutex_unlock(&lock);
}

void *masu__meta_pages_realloc(void *ptr, size_t old_bytes, size_t new_bytes) {
    if (ptr && is_large(old_bytes) && is_large(new_bytes)) {
        size_t rounded = whole_pages(new_bytes);
        void *moved = rounded ? mremap(ptr, whole_pages(old_bytes), rounded, MREMAP_MAYMOVE) : MAP_FAILED;
        return moved == MAP_FAILED ? NULL : moved;
    }
    void *block = masu__meta_pages_alloc(new_bytes);
    if (!block || !ptr)
        return block;
    memcpy(block, ptr, masu__min(old_bytes, new_bytes));
    masu__meta_pages_free(ptr, old_bytes);
    return block;
}

#else

typedef int masu__meta_pages_unused; /* a file needs a declaration */

#endif
