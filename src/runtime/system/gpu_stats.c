/* gpu_stats.c: the statistics of the device pool that seed programs ask for, for whichever device runs: all from
 * the counters of the payload heap. */

#include "base/buffer.h"
#include "runtime/state.h"

static masu_heap_stats payload_stats(void) {
    masu_heap_stats stats;
    masu_heap_get_stats(tl__runtime()->payload, &stats);
    return stats;
}

/* Bytes of all tensor buffers ever handed out. */
int64_t tl_get_gpu_total_allocated_bytes(void) {
    return (int64_t)tl__runtime()->allocated_bytes;
}

int64_t tl_get_gpu_free_count(void) {
    return (int64_t)payload_stats().frees;
}

int64_t tl_get_gpu_free_bytes(void) {
    return (int64_t)tl__runtime()->freed_bytes;
}

static double hit_rate(const masu_heap_stats *stats) {
    uint64_t asked = stats->hits + stats->misses;
    return asked ? (double)stats->hits / (double)asked : 0.0;
}

/* Buffers served without asking the device, as a part of all: 0 to 1; 0 before the first. */
double tl_get_gpu_pool_hit_rate(void) {
    masu_heap_stats stats = payload_stats();
    return hit_rate(&stats);
}

static void put_line(masu__buffer *text, const char *name, uint64_t count, const char *unit, uint64_t bytes) {
    masu__buffer_printf(text, "  %-12s", name);
    masu__buffer_put_grouped(text, count);
    masu__buffer_printf(text, " %s, ", unit);
    masu__buffer_put_bytes(text, bytes);
    masu__buffer_putc(text, '\n');
}

/* To the runtime's log, standard error unless configured otherwise. */
void tl_dump_gpu_pool_stats(void) {
    const tl_runtime *rt = tl__runtime();
    masu_heap_stats stats = payload_stats();
    masu__buffer text = {0};
    masu__buffer_puts(&text, "device pool\n");
    put_line(&text, "allocated", stats.allocations, "buffers", rt->allocated_bytes);
    put_line(&text, "freed", stats.frees, "buffers", rt->freed_bytes);
    put_line(&text, "live", stats.live_blocks, "buffers", stats.live_bytes);
    put_line(&text, "reserved", stats.device_allocations - stats.device_frees, "device blocks", stats.reserved_bytes);
    masu__buffer_printf(&text, "  %-12s%.1f %%\n", "hit rate", 100.0 * hit_rate(&stats));
    fputs(masu__buffer_text(&text), rt->log);
    masu__buffer_destroy(&text);
}
