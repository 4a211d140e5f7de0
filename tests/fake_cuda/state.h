/* state.h: what the parts of the simulated driver know of each other.
 *
 *     driver.c   failing, misuse, devices, contexts      memory.c   handles, mappings, reservations
 *     streams.c  queues of work                      lookup.c   captures, and calls by name and version
 *
 * One lock around every call: enter_call takes it, leave_call lets go.
 */
#ifndef MASU_TESTS_FAKE_CUDA_STATE_H
#define MASU_TESTS_FAKE_CUDA_STATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fake_cuda/driver.h"

enum {
    OK = 0,
    INVALID_VALUE = 1,
    OUT_OF_MEMORY = 2,
    NOT_INITIALIZED = 3,
    INVALID_DEVICE = 101,
    INVALID_CONTEXT = 201,
    NOT_FOUND = 500,
    NOT_READY = 600,
    CAPTURED = 900
};
enum { GRANULE = 2 << 20, MOST_DEVICES = 8, MOST = 1 << 16 };

#define API __attribute__((visibility("default")))

typedef uintptr_t address;

typedef struct location {
    int type, id;
} location;

extern int device_count;
extern uint64_t device_bytes;   /* of each */
extern fake_cuda_report report; /* what is counted as it happens */

/* 0: go on; else the error that the call shall end with. */
int enter_call(const char *name);
int leave_call(int status);
int misuse(const char *call, const char *what);
/* The device of the calling thread's context; -1: none. */
int chosen_device(void);

#define ENTER(name)                   \
    do {                              \
        int error = enter_call(name); \
        if (error)                    \
            return leave_call(error); \
    } while (0)

/* ---- memory.c: called under the lock ------------------------------------------------------------------ */

void memory_start(void);
void memory_count(fake_cuda_report *out);

/* ---- streams.c: likewise -------------------------------------------------------------------------------- */

void streams_count(fake_cuda_report *out);
bool work_touches(address at, size_t bytes);
bool touches(address a, size_t a_bytes, address b, size_t b_bytes);
void run_all(void);

/* ---- lookup.c: under the lock ----------------------------------------------------------------------------- */

/* Whether a stream is being captured: memory is then refused. */
bool captures_open(void);

#endif
