/* driver.h: what the simulated CUDA driver offers beyond the real one: failing on demand, and saying what it
 * was misused for.
 *
 *     device memory   one memory object (memfd); a handle is a range of it
 *     addresses       real ones of this process: reserved without access, mapped shared, and readable only after
 *                     cuMemSetAccess, so that a missing call faults as it would on the device
 *     streams         queues. Work given to a stream is done when somebody waits for it (stream, event, context, or
 *                     a plain copy), or when fake_cuda_run says so, and never before: on purpose the latest moment
 *                     that the real driver could choose.
 *
 * Environment: FAKE_CUDA_DEVICES (2), FAKE_CUDA_MEMORY_MB (each, 65536), FAKE_CUDA_FAIL=NAME:N (the Nth call of
 * NAME fails), FAKE_CUDA_SAY=1 (misuse goes to standard error as it happens, a summary at exit).
 */
#ifndef MASU_TESTS_FAKE_CUDA_DRIVER_H
#define MASU_TESTS_FAKE_CUDA_DRIVER_H

#include <stddef.h>
#include <stdint.h>

/* The nth call from now (1: the next) of the named entry point fails with that error; NULL: of any that can; nth 0:
 * none; repeat: every later one too. */
void fake_cuda_fail(const char *name, uint64_t nth, int error, int repeat);
/* How many calls that can fail were made since fake_cuda_fail. */
uint64_t fake_cuda_calls(void);

typedef struct fake_cuda_report {
    uint64_t misuses;               /* mapped over a mapping, unmapped what is not, released twice, …; 0 is right */
    uint64_t unmapped_under_work;   /* of these: memory taken away while queued work would touch it */
    uint64_t handles, handle_bytes; /* created and not yet gone */
    uint64_t mappings, reservations;
    uint64_t aliases;     /* handles that are mapped more than once now */
    uint64_t allocations; /* cuMemAlloc less cuMemFree */
    uint64_t events, streams;
    uint64_t maps, unmaps, creates;
} fake_cuda_report;

void fake_cuda_get_report(fake_cuda_report *out);
/* What the latest misuse was; "" when there was none. */
const char *fake_cuda_last_misuse(void);
/* Forgets counters of misuse. */
void fake_cuda_forgive(void);
/* Does the work queued on that stream now. */
void fake_cuda_run(void *stream);

#endif
