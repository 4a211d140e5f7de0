/* rows.c: the table of `masu whatif` as text. Each cell has its width and a space before it, so that no figure, however
 * large, runs into the one beside it.
 */
#include "tool/whatif/whatif.h"

void whatif_put_mib(masu__buffer *out, uint64_t bytes) {
    if (bytes < 1048576) {
        masu__buffer_put_bytes(out, bytes);
        return;
    }
    masu__buffer_put_grouped(out, bytes / 1048576);
    masu__buffer_printf(out, ".%llu MiB", (unsigned long long)(bytes % 1048576 * 10 / 1048576));
}

double whatif_waste_percent(const whatif_row *row, uint64_t live_bytes) {
    return live_bytes ? 100.0 * ((double)row->peak_reserved_bytes / (double)live_bytes - 1) : 0;
}

static const char *judged_name(whatif_judged judged) {
    return judged == WHATIF_FINE ? "fine" : judged == WHATIF_WRONG ? "WRONG" : "-";
}

/* Milliseconds as long as they fit. */
static void put_time(masu__buffer *out, const whatif_row *row) {
    if (row->is_model)
        masu__buffer_puts(out, " -");
    else if (row->seconds < 9.999995)
        masu__buffer_printf(out, "%.2f ms", 1000 * row->seconds);
    else
        masu__buffer_printf(out, "%.2f s", row->seconds);
}

/* Appends the cell to the line at the right of its width, and empties it. */
static void put_cell(masu__buffer *line, masu__buffer *cell, int width) {
    masu__buffer_printf(line, " %*s", width - 1, masu__buffer_text(cell));
    masu__buffer_truncate(cell, 0);
}

void whatif_put_head(masu__buffer *out) {
    masu__buffer_printf(out, "%-36s       time   peak reserved      waste  device calls  judge\n", "allocator");
}

void whatif_put_row(masu__buffer *out, const whatif_row *row, uint64_t live_bytes, uint64_t limit_bytes) {
    masu__buffer cell = {0};
    masu__buffer_printf(out, "%-36s", row->name);
    if (!row->ran) {
        masu__buffer_printf(out, " %s\n", row->note);
        return;
    }
    put_time(&cell, row);
    put_cell(out, &cell, 11);
    whatif_put_mib(&cell, row->peak_reserved_bytes);
    put_cell(out, &cell, 16);
    masu__buffer_printf(&cell, "%.1f %%", whatif_waste_percent(row, live_bytes));
    put_cell(out, &cell, 11);
    if (row->device_calls == UINT64_MAX)
        masu__buffer_putc(&cell, '-');
    else
        masu__buffer_put_grouped(&cell, row->device_calls);
    put_cell(out, &cell, 14);
    masu__buffer_printf(out, "  %-5s", judged_name(row->judged));
    if (row->refused)
        masu__buffer_printf(out, "  refuses %llu", (unsigned long long)row->refused);
    else if (limit_bytes && row->peak_reserved_bytes > limit_bytes)
        masu__buffer_puts(out, "  above the limit");
    if (*row->note)
        masu__buffer_printf(out, "  %s", row->note);
    masu__buffer_putc(out, '\n');
    masu__buffer_destroy(&cell);
}
