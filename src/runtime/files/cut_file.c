/* cut_file.c: files that are mapped while another process cuts them.
 *
 * What lies behind a file's new end is a SIGBUS for who reads it. A range that is watched reads as zeros there instead:
 * the handler puts pages of zeros under the address and the read goes on. Who reads asks afterwards whether the file is
 * still as long as it was (tl__bytes_there), and refuses what it read where it is not.
 *
 *     [ mapped file ........|.... cut .... ]
 *                           └─ read ─► SIGBUS ─► a page of zeros here ─► the read is done again
 *
 * What must stay true: an address outside of watched ranges is none of ours, and goes to the handler that was there
 * before. The handler calls nothing but mmap, sigaction and sigqueue, which are system calls; ranges are changed by
 * single atomic words: `end` is 0 while a row is not to be looked at.
 */
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

#include "runtime/files/cut_file.h"

enum { RANGES = 256 };

static struct {
    atomic_uintptr_t begin, end;
    atomic_bool taken;
} ranges[RANGES];

static struct sigaction before;
static uintptr_t page;   /* 0: the handler is not there */
static atomic_int state; /* 0 not asked for yet, 1 being put there, 2 there, 3 refused */

static bool is_watched(uintptr_t at) {
    for (int i = 0; i < RANGES; i++) {
        uintptr_t end = atomic_load(&ranges[i].end);
        if (end != 0 && at < end && at >= atomic_load(&ranges[i].begin))
            return true;
    }
    return false;
}

static void on_bus(int signal, siginfo_t *info, void *context) {
    (void)context;
    const uintptr_t at = (uintptr_t)info->si_addr;
    const bool sent = info->si_code <= 0; /* by kill or raise */
    if (!sent && is_watched(at)) {
        void *there = (void *)(at & ~(page - 1));
        if (mmap(there, page, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) != MAP_FAILED)
            return;
    }
    sigaction(SIGBUS, &before, NULL); /* the instruction is done again, and ends as it would have without this */
    if (sent)
        sigqueue(getpid(), signal, info->si_value); /* to the one that is there again */
}

static bool install(void) {
    int expected = 0;
    if (atomic_compare_exchange_strong(&state, &expected, 1)) {
        struct sigaction action = {.sa_sigaction = on_bus, .sa_flags = SA_SIGINFO | SA_NODEFER};
        sigemptyset(&action.sa_mask);
        page = (uintptr_t)sysconf(_SC_PAGESIZE);
        atomic_store(&state, sigaction(SIGBUS, &action, &before) == 0 ? 2 : 3);
    }
    while (atomic_load(&state) == 1)
        ;
    return atomic_load(&state) == 2;
}

bool tl__cut_file_watch(const void *data, size_t length) {
    if (!install())
        return false;
    for (int i = 0; i < RANGES; i++) {
        bool expected = false;
        if (!atomic_compare_exchange_strong(&ranges[i].taken, &expected, true))
            continue;
        atomic_store(&ranges[i].begin, (uintptr_t)data);
        atomic_store(&ranges[i].end, (uintptr_t)data + ((length + page - 1) & ~(page - 1)));
        return true;
    }
    return false;
}

void tl__cut_file_forget(const void *data) {
    for (int i = 0; i < RANGES; i++) {
        if (atomic_load(&ranges[i].end) == 0 || atomic_load(&ranges[i].begin) != (uintptr_t)data)
            continue;
        atomic_store(&ranges[i].end, 0);
        atomic_store(&ranges[i].taken, false);
        return;
    }
}
