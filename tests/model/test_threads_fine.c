/* The same threads over a process-wide pool with fine classes. */
#include <masu/masu.h>

static masu_status choose_fine(masu_heap_config *config) {
    config->fine_classes = true;
    config->max_cached_bytes = (size_t)4 << 20; /* and little room for caches */
    return MASU_OK;
}
#define CONFIGURE choose_fine

#include "model/test_threads.c"
