/* refusal.c: why there was no memory, and what would help: found from what is held at that moment, after everything
 * idle went back. */
#include "torch.h"

#include <stdarg.h>

enum { TEXT_BYTES = 1600 };

static _Thread_local char error[TEXT_BYTES];

void masu_torch_set_error(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(error, sizeof error, format, arguments);
    va_end(arguments);
    masu_torch_say("%s", error);
}

const char *masu_torch_error(void) {
    return error;
}

typedef struct amount {
    char text[32];
} amount;

static amount amount_of(uint64_t bytes) {
    static const char *const units[] = {"bytes", "KiB", "MiB", "GiB", "TiB"};
    int unit = 0;
    amount a;
    double value = (double)bytes;
    for (; value >= 1024 && unit < 4; unit++)
        value /= 1024;
    snprintf(a.text, sizeof a.text, unit ? "%.2f %s" : "%.0f %s", value, units[unit]);
    return a;
}
#define AMOUNT(bytes) (amount_of(bytes).text)

/* The reasons of a refusal, the most telling first. */
static void put_help(char *out, size_t room, const device_state *d, refusal r, uint64_t holes, uint64_t largest) {
    uint64_t held = d->stats.reserved_bytes;
    bool is_limit = d->limit_bytes && held + r.bytes > d->limit_bytes;
    if (r.bytes > d->memory_bytes && d->memory_bytes)
        snprintf(out, room, "nothing: the device has %s", AMOUNT(d->memory_bytes));
    else if (holes >= r.bytes && largest < r.bytes && !d->vm)
        snprintf(out, room,
                 "what is free would suffice in one piece: MASU_TORCH=vm maps it together; or free what lies between");
    else if (d->stats.private_pools && largest >= r.bytes)
        snprintf(out, room, "private pools hold free memory that is theirs alone: release them");
    else if (is_limit && held + r.bytes <= d->memory_bytes)
        snprintf(out, room, "a memory fraction of at least %.3f in place of %.3f, or %s less alive",
                 (double)(held + r.bytes) / (double)d->memory_bytes + 0.0005, d->fraction,
                 AMOUNT(held + r.bytes - d->limit_bytes));
    else if (held + r.bytes <= d->memory_bytes)
        snprintf(out, room,
                 "%s of the device's memory is not held here: other processes or libraries have it, or %s less alive",
                 AMOUNT(d->memory_bytes - held), AMOUNT(r.bytes));
    else
        snprintf(out, room, "%s less alive: smaller batches, or activations that are computed again",
                 AMOUNT(held + r.bytes - d->memory_bytes));
}

void masu_torch_refuse(device_state *d, const lane *l, refusal r) {
    char limit[64] = "no limit", help[300];
    uint64_t holes, largest, all_holes, all_largest;
    if (masu_torch_is_forked()) {
        masu_torch_set_error("device %d: %zu bytes refused: this is a forked child of a process that uses the device",
                             r.device, r.bytes);
        return;
    }
    if (!d) {
        const char *wrong = masu_torch_settings()->wrong;
        if (wrong)
            masu_torch_set_error("device %d: %zu bytes refused: MASU_TORCH=%s: heap or vm was expected", r.device,
                                 r.bytes, wrong);
        else
            masu_torch_set_error("device %d: %zu bytes refused: the device cannot be used%s (%s)", r.device, r.bytes,
                                 masu_torch_settings()->vm ? " with MASU_TORCH=vm" : "", masu_status_text(r.status));
        return;
    }
    masu_torch_holes(d, l, &holes, &largest);
    masu_torch_holes(d, NULL, &all_holes, &all_largest);
    put_help(help, sizeof help, d, r, all_holes, all_largest);
    if (d->limit_bytes)
        snprintf(limit, sizeof limit, "limit %s", AMOUNT(d->limit_bytes));
    masu_torch_set_error(
        "device %d: %s (%zu bytes) for stream %p refused: %s\n"
        "  held: %s of %s, %s; alive: %s in %llu blocks; waiting for other streams: %s\n"
        "  free where this request may lie: %s, largest hole %s, fragmentation %.0f %%; free in all: %s, largest hole "
        "%s\n"
        "  would help: %s",
        r.device, AMOUNT(r.bytes), r.bytes, r.stream, masu_status_text(r.status), AMOUNT(d->stats.reserved_bytes),
        AMOUNT(d->memory_bytes), limit, AMOUNT(d->stats.allocated_bytes), (unsigned long long)d->stats.live_blocks,
        AMOUNT(d->stats.waiting_bytes), AMOUNT(holes), AMOUNT(largest),
        holes ? 100.0 * (1 - (double)largest / (double)holes) : 0.0, AMOUNT(all_holes), AMOUNT(all_largest), help);
}
