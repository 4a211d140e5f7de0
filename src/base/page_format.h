/* page_format.h: the page of masu/publish.h, version 1, for its writer (publish.c) and its reader (tool/top).
 *
 *     ┌ head: written once ┐┌ begin · now ┐┌ source 0 ┐ … ┌ source 31 ┐┌ end ┐
 *
 * All in the byte order of the machine, which both share. The writer counts: it writes the number n into begin, then
 * everything between, then n into end. A reader that takes end first, then what lies between, then begin, and finds
 * them equal, has one whole state; if not, somebody wrote meanwhile, or died while writing.
 *
 * A later version 1 may append fields to each part: the head says how long the parts are. A reader takes what it knows
 * of what is there; the rest is 0.
 */
#ifndef MASU_BASE_PAGE_FORMAT_H
#define MASU_BASE_PAGE_FORMAT_H

#include <stdint.h>

#include <masu/publish.h>

#define MASU__PAGE_MAGIC "\x89MASUPG\n"

enum { MASU__PAGE_VERSION = 1, MASU__PAGE_PROGRAM_BYTES = 128 };

typedef struct masu__page_head {
    char magic[8];
    uint32_t version;
    uint32_t head_bytes, now_bytes, source_bytes, source_capacity; /* end lies behind all of them */
    uint32_t period_ms;
    uint64_t process;
    uint64_t process_start; /* field 22 of /proc/PROCESS/stat: tells a later process of the same number; 0: not known */
    uint64_t began_at_ns;   /* since 1970 */
    uint64_t began_clock_ns;                /* the same by CLOCK_MONOTONIC, which reader and writer share */
    char program[MASU__PAGE_PROGRAM_BYTES]; /* a zero ends it */
} masu__page_head;

typedef enum masu__page_state { MASU__PAGE_RUNS = 1, MASU__PAGE_ENDED } masu__page_state;

typedef struct masu__page_now {
    uint64_t begin;
    uint64_t time_ns; /* since the beginning */
    uint32_t state, source_count;
    uint64_t spare[4]; /* 0 */
} masu__page_now;

typedef struct masu__page_source {
    char name[MASU_PUBLISH_NAME_BYTES]; /* a zero ends it */
    masu_stats stats;                   /* struct_bytes: how much of it is there */
} masu__page_source;

#endif
