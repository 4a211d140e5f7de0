/* Bytes as a memory snapshot of PyTorch, and as a table of requests: the readers refuse them and say why, or what they
 * give is a recording that holds what its header promises; the model of PyTorch's allocator follows it or says where
 * they part. Memory stays within a constant times the file.
 *
 *     scripts/fuzz_snapshots.sh SECONDS
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/meta.h"
#include "recording/pickle.h"
#include "recording/recording.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void demand(bool holds) {
    if (!holds)
        abort();
}

static void follow(const masu__recording *r) {
    masu__torch_followed f;
    uint64_t *given = calloc(r->event_count + 1, sizeof *given);
    masu_status status = masu__torch_follow(r, given, &f);
    demand(status == MASU_OK);
    demand(!f.parted || f.why.length > 0);
    masu__torch_followed_destroy(&f);
    free(given);
}

static void read_as(const uint8_t *data, size_t size,
                    masu_status (*reader)(const void *, size_t, masu__recording *, masu__buffer *), bool may_follow) {
    masu__recording r;
    masu__buffer why = {0};
    uint64_t before = masu__meta_live_bytes();
    masu_status status = reader(data, size, &r, &why);
    demand(status == MASU_OK || (status == MASU_ERR_INVALID_ARGUMENT && why.length > 0));
    if (status == MASU_OK) {
        demand(masu__meta_live_bytes() - before <= 65536 + (uint64_t)1024 * size);
        demand(masu__recording_valid(&r));
        if (may_follow)
            follow(&r);
        masu__recording_destroy(&r);
    }
    masu__buffer_destroy(&why);
    demand(masu__meta_live_bytes() == before);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    masu__pickle pickle;
    masu__buffer why = {0};
    if (masu__pickle_read(data, size, &pickle, &why) == MASU_OK) {
        uint64_t bytes = pickle.box_capacity * sizeof *pickle.boxes;
        for (size_t i = 0; i < pickle.box_count; i++)
            bytes += pickle.boxes[i].capacity * sizeof *pickle.boxes[i].items;
        demand(bytes <= 4096 + (uint64_t)MASU__PICKLE_BYTES_A_BYTE * size);
    } else {
        demand(why.length > 0);
    }
    masu__pickle_destroy(&pickle);
    masu__buffer_destroy(&why);
    read_as(data, size, masu__snapshot_read, true);
    read_as(data, size, masu__request_table_read, false);
    return 0;
}
