/* stats_pools.c: the numbers of virtual memory, streams and arenas in the words of masu/stats.h, so that one text has
 * them all. */
#include <masu/stats.h>

static void put_level(masu_stats *out, const masu_stats_level *level) {
    *out = (masu_stats){.struct_bytes = offsetof(masu_stats, buckets), .heap = *level};
}

void masu_stats_of_vm(const masu_vm_stats *from, masu_stats *out) {
    put_level(out, &(masu_stats_level){
                       .allocations = from->allocations,
                       .frees = from->frees,
                       .refusals = from->failures,
                       .hits = from->hot_allocs,
                       .misses = from->cold_allocs,
                       .live_bytes = from->user_bytes,
                       .live_blocks = from->live_blocks,
                       .peak_live_bytes = from->peak_user_bytes,
                       .reserved_bytes = from->held_bytes,
                       .peak_reserved_bytes = from->peak_held_bytes,
                       .idle_bytes = from->stock_bytes + from->stuck_bytes,
                       .slack_bytes = from->mapped_bytes - from->user_bytes,
                       .metadata_bytes = from->metadata_bytes,
                   });
}

void masu_stats_of_streams(const masu_streams_stats *from, masu_stats *out) {
    put_level(out, &(masu_stats_level){
                       .allocations = from->allocations,
                       .frees = from->frees,
                       .refusals = from->failures,
                       .hits = from->same_stream + from->other_stream,
                       .misses = from->fetched,
                       .live_bytes = from->live_bytes,
                       .live_blocks = from->live_blocks,
                       .reserved_bytes = from->live_bytes + from->cached_bytes,
                       .idle_bytes = from->cached_bytes,
                   });
}

void masu_stats_of_arena(const masu_arena_stats *from, masu_stats *out) {
    put_level(out, &(masu_stats_level){
                       .live_bytes = from->used_bytes,
                       .peak_live_bytes = from->peak_used_bytes,
                       .reserved_bytes = from->reserved_bytes,
                       .idle_bytes = from->reserved_bytes - from->used_bytes,
                   });
}

void masu_stats_of_ring(const masu_ring_stats *from, masu_stats *out) {
    put_level(out, &(masu_stats_level){
                       .refusals = from->refusals,
                       .live_bytes = from->used_bytes,
                       .reserved_bytes = from->capacity_bytes,
                       .idle_bytes = from->capacity_bytes - from->used_bytes,
                   });
}
