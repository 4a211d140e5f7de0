/* face.c: what C, POSIX and glibc say of malloc and its kin, asked of whichever malloc the program is run with. Prints
 * what does not hold. Compiled without built-ins, so that no call is left out. */
#include <errno.h>
#include <malloc.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int wrong;

#define HOLDS(what)                                           \
    do {                                                      \
        if (!(what)) {                                        \
            printf("line %d: not so: %s\n", __LINE__, #what); \
            wrong = 1;                                        \
        }                                                     \
    } while (0)

static volatile size_t much = SIZE_MAX;

static int all(const unsigned char *bytes, size_t count, unsigned char value) {
    for (size_t i = 0; i < count; i++)
        if (bytes[i] != value)
            return 0;
    return 1;
}

static void sizes(void) {
    for (size_t bytes = 0; bytes < 300000; bytes += bytes / 9 + 1) {
        unsigned char *block = malloc(bytes);
        HOLDS(block && (uintptr_t)block % 16 == 0);
        HOLDS(malloc_usable_size(block) >= bytes);
        memset(block, 0xa5, malloc_usable_size(block));
        unsigned char *zeros = calloc(bytes / 7 + 1, 7);
        HOLDS(zeros && zeros != block && all(zeros, (bytes / 7 + 1) * 7, 0));
        memset(zeros, 0x5a, bytes);
        HOLDS(all(block, malloc_usable_size(block), 0xa5));
        free(block);
        free(zeros);
        zeros = calloc(1, bytes);
        HOLDS(zeros && all(zeros, bytes, 0));
        free(zeros);
    }
    void *a = malloc(0), *b = malloc(0);
    HOLDS(a && b && a != b);
    free(a), free(b);
    free(NULL);
}

/* Memory that was written and freed is zero again for calloc, whatever its size was. */
static void zeros_again(void) {
    for (size_t bytes = 1 << 12; bytes <= (size_t)80 << 20; bytes *= 2) {
        unsigned char *block = malloc(bytes);
        HOLDS(block);
        memset(block, 1, bytes);
        free(block);
        malloc_trim(0);
        for (size_t part = bytes + 5000; part > bytes / 4; part -= part / 3) {
            block = calloc(1, part);
            HOLDS(block && all(block, part, 0));
            memset(block, 2, part);
            free(block);
        }
    }
}

static void refusals(void) {
    errno = 0;
    HOLDS(!malloc(much) && errno == ENOMEM);
    errno = 0;
    HOLDS(!malloc((size_t)PTRDIFF_MAX + 1) && errno == ENOMEM);
    errno = 0;
    HOLDS(!malloc(much - 100) && errno == ENOMEM);
    errno = 0;
    HOLDS(!calloc(much / 2, 3) && errno == ENOMEM);
    errno = 0;
    HOLDS(!calloc((size_t)1 << 33, (size_t)1 << 33) && errno == ENOMEM);
    errno = 0;
    char *block = malloc(100);
    strcpy(block, "kept");
    HOLDS(!realloc(block, much) && errno == ENOMEM && strcmp(block, "kept") == 0);
    errno = 0;
    HOLDS(!reallocarray(block, much / 2, 3) && errno == ENOMEM && strcmp(block, "kept") == 0);
    free(block);
    errno = 0;
    HOLDS(!memalign(64, much - 10) && errno == ENOMEM);
    errno = 0;
    HOLDS(!pvalloc(much - 10) && errno == ENOMEM);
    void *out = &wrong;
    errno = 5;
    HOLDS(posix_memalign(&out, 3, 100) == EINVAL && out == &wrong && errno == 5);
    HOLDS(posix_memalign(&out, 4, 100) == EINVAL && out == &wrong && errno == 5);
    HOLDS(posix_memalign(&out, 64, much - 10) == ENOMEM && out == &wrong && errno == 5);
    errno = 0;
    HOLDS(!aligned_alloc(24, 48) && errno == EINVAL);
}

static void free_keeps_errno(void) {
    for (size_t bytes = 1; bytes < (size_t)200 << 20; bytes = bytes * 3 + 1) {
        void *block = malloc(bytes);
        errno = 1234;
        free(block);
        HOLDS(errno == 1234);
    }
    errno = 1234;
    free(NULL);
    HOLDS(errno == 1234);
}

static void alignments(void) {
    static void *blocks[64];
    for (size_t alignment = 8; alignment <= (size_t)4 << 20; alignment *= 2)
        for (size_t bytes = 0; bytes < 100000; bytes = bytes * 3 + 1) {
            int count = 0;
            for (; count < 4; count++) {
                HOLDS(posix_memalign(&blocks[count], alignment, bytes) == 0);
                HOLDS((uintptr_t)blocks[count] % alignment == 0 && malloc_usable_size(blocks[count]) >= bytes);
                memset(blocks[count], count, bytes);
            }
            blocks[count++] = aligned_alloc(alignment, bytes);
            blocks[count++] = memalign(alignment, bytes);
            blocks[count++] = memalign(alignment - 1, bytes);
            for (int i = 0; i < count; i++) {
                HOLDS(blocks[i] && (uintptr_t)blocks[i] % alignment == 0);
                HOLDS(i >= 4 || all(blocks[i], bytes, (unsigned char)i));
            }
            unsigned char *changed = realloc(blocks[1], bytes + 5000);
            HOLDS(changed && all(changed, bytes, 1));
            blocks[1] = changed;
            while (count > 0)
                free(blocks[--count]);
        }
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    void *a = valloc(10), *b = pvalloc(10), *c = pvalloc(0), *d = valloc(0);
    HOLDS((uintptr_t)a % page == 0 && (uintptr_t)b % page == 0 && a && b && c && d);
    HOLDS(malloc_usable_size(b) >= page);
    free(a), free(b), free(c), free(d);
}

static void growing(void) {
    size_t held = 1;
    unsigned char *block = NULL;
    for (size_t bytes = 1; bytes < (size_t)90 << 20; bytes += bytes / 2 + 1) {
        unsigned char *grown = realloc(block, bytes);
        HOLDS(grown && (!block || all(grown, held < 5000 ? held : 5000, 7)));
        HOLDS(!block || grown[held - 1] == 7);
        memset(grown, 7, bytes);
        block = grown;
        held = bytes;
    }
    for (size_t bytes = held; bytes > 0; bytes /= 2) {
        block = realloc(block, bytes);
        HOLDS(block && block[0] == 7 && block[bytes - 1] == 7 && malloc_usable_size(block) >= bytes);
    }
    HOLDS(realloc(block, 0) == NULL);
    block = realloc(NULL, 0);
    HOLDS(block);
    free(block);
    block = reallocarray(NULL, 10, 10);
    HOLDS(block);
    free(block);
}

static void numbers(void) {
    HOLDS(malloc_usable_size(NULL) == 0);
    struct mallinfo2 before = mallinfo2();
    void *block = malloc(1 << 20);
    struct mallinfo2 after = mallinfo2();
    HOLDS(after.uordblks >= before.uordblks + (1 << 20));
    HOLDS(after.uordblks <= before.uordblks + (2 << 20) && after.arena + after.hblkhd >= after.uordblks);
    free(block);
    FILE *nowhere = fopen("/dev/null", "w");
    HOLDS(malloc_info(0, nowhere) == 0 && malloc_info(1, nowhere) != 0);
    fclose(nowhere);
}

int main(void) {
    sizes();
    zeros_again();
    refusals();
    free_keeps_errno();
    alignments();
    growing();
    numbers();
    return wrong;
}
