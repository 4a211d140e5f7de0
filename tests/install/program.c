/* program.c: what a user writes first. Built against an installed copy by tests/install/*.sh.
 *
 * A heap serves a small and a large block, both keep what is written, and everything balances at the end.
 */
#include <masu/masu.h>
#include <stdio.h>
#include <string.h>

#define REQUIRE(condition)                                 \
    do {                                                   \
        if (!(condition)) {                                \
            printf("line %d: %s\n", __LINE__, #condition); \
            return 1;                                      \
        }                                                  \
    } while (0)

enum { SMALL_BYTES = 100, LARGE_BYTES = 1 << 20 };

int main(void) {
    REQUIRE(strcmp(masu_version(), MASU_VERSION_TEXT) == 0);

    masu_heap *heap = NULL;
    REQUIRE(masu_heap_create(NULL, &heap) == MASU_OK);
    void *small = NULL;
    void *large = NULL;
    REQUIRE(masu_heap_alloc(heap, SMALL_BYTES, 0, &small) == MASU_OK && small != NULL);
    REQUIRE(masu_heap_alloc(heap, LARGE_BYTES, 4096, &large) == MASU_OK);
    REQUIRE((uintptr_t)large % 4096 == 0);
    memset(small, 0x5a, SMALL_BYTES);
    memset(large, 0xa5, LARGE_BYTES);
    REQUIRE(((unsigned char *)small)[SMALL_BYTES - 1] == 0x5a);
    REQUIRE(((unsigned char *)large)[LARGE_BYTES - 1] == 0xa5);

    masu_heap_stats stats;
    masu_heap_get_stats(heap, &stats);
    REQUIRE(stats.live_blocks == 2 && stats.live_bytes == SMALL_BYTES + LARGE_BYTES);
    REQUIRE(masu_heap_valid(heap));

    REQUIRE(masu_heap_free(heap, small, SMALL_BYTES) == MASU_OK);
    REQUIRE(masu_heap_free(heap, large, LARGE_BYTES) == MASU_OK);
    masu_heap_get_stats(heap, &stats);
    REQUIRE(stats.live_blocks == 0 && stats.live_bytes == 0);
    REQUIRE(masu_heap_destroy(heap) == MASU_OK);

    printf("masu %s served two blocks\n", masu_version());
    return 0;
}
