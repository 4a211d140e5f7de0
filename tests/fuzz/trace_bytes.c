/* Bytes as a trace: as a whole file, and as the records of one chunk whose head and checksum are right. What is read
 * holds what recording.h promises; every form of the report is written from it; memory stays within a constant times
 * the file.
 *
 *     scripts/fuzz_traces.sh SECONDS
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/meta.h"
#include "base/trace_format.h"
#include "recording/recording.h"
#include "tool/report/report.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

const char report_page[] = "<!-- data -->";
const size_t report_page_bytes = sizeof report_page - 1;

static void demand(bool holds) {
    if (!holds)
        abort();
}

static void put_fixed(uint8_t *out, uint64_t value, unsigned count) {
    for (unsigned i = 0; i < count; i++)
        out[i] = (uint8_t)(value >> 8 * i);
}

static uint32_t crc_of(const uint8_t *bytes, size_t count) {
    uint32_t crc = 0xffffffffu;
    for (size_t i = 0; i < count; i++) {
        crc ^= bytes[i];
        for (int k = 0; k < 8; k++)
            crc = crc & 1 ? 0xedb88320u ^ crc >> 1 : crc >> 1;
    }
    return ~crc;
}

static void report_all(const masu__recording *r) {
    static void (*const forms[])(masu__buffer *, const report_facts *,
                                 const report_facts *) = {report_text, report_json, report_html};
    report_facts facts;
    demand(report_find_facts(r, "fuzz", &facts) == MASU_OK);
    uint64_t live = 0;
    for (size_t i = 0; i < facts.line_count; i++)
        live += facts.lines[i].live_bytes;
    demand(live == facts.live_bytes);
    for (int i = 0; i < 3; i++) {
        masu__buffer text = {0};
        forms[i](&text, &facts, i == 1 ? NULL : &facts);
        demand(!text.failed && text.length > 0);
        masu__buffer_destroy(&text);
    }
    report_destroy_facts(&facts);
}

static void read_file(const uint8_t *data, size_t size) {
    masu__recording r;
    masu__recording_fault fault = {0};
    uint64_t before = masu__meta_live_bytes();
    masu_status status = masu__trace_read(data, size, &r, &fault);
    demand(status == MASU_OK || (status == MASU_ERR_SYNTAX && fault.text && fault.offset <= size));
    if (status == MASU_OK) {
        demand(masu__meta_live_bytes() - before <= 65536 + (uint64_t)200 * size);
        demand(masu__recording_valid(&r));
        demand(!r.is_cut || (r.cut_reason && r.cut_at <= size));
        report_all(&r);
        masu__recording_destroy(&r);
    }
    demand(masu__meta_live_bytes() == before);
}

/* The first four bytes say how many records there are. */
static void read_records(const uint8_t *data, size_t size) {
    enum { HEAD = MASU__TRACE_HEADER_BYTES + MASU__TRACE_CHUNK_BYTES };
    if (size < 4)
        return;
    size_t length = HEAD + size - 4;
    uint8_t *file = calloc(length, 1), *chunk = file + MASU__TRACE_HEADER_BYTES;
    memcpy(file, MASU__TRACE_MAGIC, 8);
    put_fixed(file + 8, MASU__TRACE_VERSION, 2);
    put_fixed(file + 10, MASU__TRACE_HEADER_BYTES, 2);
    memcpy(chunk, MASU__TRACE_CHUNK, 4);
    put_fixed(chunk + 4, size - 4, 4);
    memcpy(chunk + 12, data, 4);
    memcpy(chunk + MASU__TRACE_CHUNK_BYTES, data + 4, size - 4);
    put_fixed(chunk + 8, crc_of(chunk + 12, length - MASU__TRACE_HEADER_BYTES - 12), 4);
    read_file(file, length);
    free(file);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    read_file(data, size);
    read_records(data, size);
    return 0;
}
