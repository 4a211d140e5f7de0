/* blas_room.c: whether BLAS finds memory of its own. OpenBLAS takes a buffer with its first call, keeps it, and asks
 * for it again and again where there is none: where addresses are limited (ulimit -v), that would be for ever.
 */
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include "runtime/ops/ops.h"
#include "runtime/state.h"

static const size_t buffer_bytes = (size_t)130 << 20; /* 128 MiB, and a little for the book of it */

masu_status tl__blas_room(void) {
    static atomic_bool is_found; /* of the process, as the buffer is */
    struct rlimit addresses;
    if (atomic_load_explicit(&is_found, memory_order_relaxed))
        return MASU_OK;
    if (getrlimit(RLIMIT_AS, &addresses) == 0 && addresses.rlim_cur != RLIM_INFINITY) {
        void *at = mmap(NULL, buffer_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (at == MAP_FAILED)
            return tl__error_memory(MASU_ERR_OUT_OF_MEMORY, buffer_bytes, "the buffer of BLAS");
        munmap(at, buffer_bytes);
    }
    atomic_store_explicit(&is_found, true, memory_order_relaxed);
    return MASU_OK;
}
