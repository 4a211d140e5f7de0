/* conform.c: whether a device keeps its contract. The suite that every device of masu passes, and that the author of
 * another can run: it knows the contract (device.h), never the device.
 *
 * Each check is a clause with a name; the first that fails ends the suite. Whatever is out then is given back.
 */
#include "devices/devices.h"

#include <pthread.h>
#include <string.h>

#include "base/size.h"

enum { BLOCKS = 16, THREADS = 4, ROUNDS = 50 };

typedef struct block {
    char *at;
    size_t bytes;
} block;

typedef struct suite {
    masu_device *device;
    masu_conform_report report;
    block blocks[BLOCKS]; /* at NULL: not out */
} suite;

/* False ends the suite; the report names the clause. */
static bool holds(suite *s, bool condition, const char *clause) {
    if (condition) {
        s->report.checks++;
        return true;
    }
    s->report.what = clause;
    s->report.status = MASU_ERR_CORRUPT;
    return false;
}

static bool agrees(suite *s, masu_status status, const char *call) {
    if (status == MASU_OK) {
        s->report.checks++;
        return true;
    }
    s->report.what = call;
    s->report.status = status;
    return false;
}

static bool sees(const suite *s) {
    return s->device->info.flags & MASU_DEVICE_HOST_ACCESS;
}

/* ---- contents: a mark at both ends of each page --------------------------------------------------------------- */

enum { PAGE = 4096 };

static size_t page_end(size_t at, size_t bytes) {
    return at + PAGE < bytes ? at + PAGE - 1 : bytes - 1;
}

static void mark(const suite *s, char *at, size_t bytes, int value) {
    if (!sees(s))
        return;
    for (size_t i = 0; i < bytes; i += PAGE)
        at[i] = at[page_end(i, bytes)] = (char)value;
}

static bool marked(const suite *s, const char *at, size_t bytes, int value) {
    bool same = true;
    for (size_t i = 0; sees(s) && i < bytes; i += PAGE)
        same &= at[i] == (char)value && at[page_end(i, bytes)] == (char)value;
    return same;
}

static bool fresh(const suite *s, const char *at, size_t bytes) {
    bool zero = true;
    if (!sees(s) || !(s->device->info.flags & MASU_DEVICE_ZEROED))
        return true;
    for (size_t i = 0; i < bytes; i++)
        zero &= at[i] == 0;
    return zero;
}

/* ---- facts ---------------------------------------------------------------------------------------------------- */

static bool facts(suite *s) {
    masu_device_info info;
    masu_device_get_info(s->device, &info);
    return holds(s, info.name && info.name[0], "a device has a name") &&
           holds(s, masu__is_power_of_two(info.alignment_bytes), "alignment: a power of two") &&
           holds(s, masu__is_power_of_two(info.granularity_bytes), "granularity: a power of two") &&
           holds(s, info.vm_granularity_bytes == 0 || masu__is_power_of_two(info.vm_granularity_bytes),
                 "granularity of virtual memory: a power of two") &&
           holds(s, (info.vm_granularity_bytes != 0) == (s->device->vm != NULL),
                 "virtual memory: a granularity and functions, or neither");
}

/* ---- blocks --------------------------------------------------------------------------------------------------- */

static bool apart(const suite *s, const block *b) {
    for (int i = 0; i < BLOCKS; i++) {
        const block *o = &s->blocks[i];
        if (o != b && o->at && (uintptr_t)o->at < (uintptr_t)b->at + b->bytes &&
            (uintptr_t)b->at < (uintptr_t)o->at + o->bytes)
            return false;
    }
    return true;
}

static bool take(suite *s, int i, size_t bytes) {
    void *ptr;
    block *b = &s->blocks[i];
    if (!agrees(s, masu__device_alloc(s->device, bytes, &ptr, &b->bytes), "alloc"))
        return false;
    b->at = ptr;
    bool right = holds(s, b->bytes >= bytes && b->bytes - bytes < s->device->info.granularity_bytes,
                       "alloc: as many granules as it takes") &&
                 holds(s, apart(s, b), "alloc: blocks do not overlap") &&
                 holds(s, fresh(s, b->at, b->bytes), "alloc: fresh memory is zero");
    mark(s, b->at, b->bytes, i + 1);
    return right;
}

static bool give(suite *s, int i) {
    block *b = &s->blocks[i];
    if (!holds(s, marked(s, b->at, b->bytes, i + 1), "blocks keep their contents") ||
        !agrees(s, masu__device_free(s->device, b->at, b->bytes), "free"))
        return false;
    b->at = NULL;
    return true;
}

/* Sizes around the granule; order of freeing by `step`, which is odd. Every second place is taken again in between. */
static bool many_blocks(suite *s, int step) {
    size_t granule = s->device->info.granularity_bytes;
    bool right = true;
    for (int i = 0; right && i < BLOCKS; i++)
        right = take(s, i, i % 4 == 3 ? (size_t)i * granule + 1 : 1 + (size_t)(i % 3) * granule / 2);
    for (int i = 0; right && i < BLOCKS; i += 2)
        right = give(s, i) && take(s, i, granule * (size_t)(1 + i % 3));
    for (int i = 0; right && i < BLOCKS; i++)
        right = give(s, i * step % BLOCKS);
    return right;
}

/* Purged pages can be written again; pages beside them keep their bytes. */
static bool purges(suite *s) {
    size_t step = s->device->info.granularity_bytes;
    if (!take(s, 0, 8 * step))
        return false;
    char *at = s->blocks[0].at;
    masu__device_purge(s->device, at + 2 * step, 3 * step);
    mark(s, at + 2 * step, 3 * step, 1);
    return give(s, 0);
}

static bool carried(suite *s, const masu_device_carrying *what, block *b) {
    void *ptr;
    if (!agrees(s, masu__device_carry(s->device, what, &ptr, &b->bytes), "carry"))
        return false;
    b->at = ptr;
    return true;
}

/* A part of a block is carried away and then the whole of what it became; the block that it came from goes on. */
static bool carries(suite *s) {
    size_t step = s->device->info.granularity_bytes;
    block *b = &s->blocks[1];
    if (!s->device->carries)
        return true;
    if (!take(s, 0, 8 * step))
        return false;
    char *old = s->blocks[0].at;
    mark(s, old + 2 * step, 3 * step, 2);
    masu_device_carrying part = {old + 2 * step, 3 * step, false, 5 * step};
    if (!carried(s, &part, b))
        return false;
    bool right = holds(s, apart(s, b), "carry: a part becomes a block of its own") &&
                 holds(s, marked(s, b->at, 3 * step, 2), "carry: contents come along");
    mark(s, old + 2 * step, 3 * step, 1);
    mark(s, b->at, b->bytes, 2);
    masu_device_carrying whole = {b->at, b->bytes, true, 9 * step};
    if (!right || !carried(s, &whole, b))
        return false;
    right = holds(s, apart(s, b), "carry: blocks do not overlap") &&
            holds(s, marked(s, b->at, 5 * step, 2), "carry: a whole block keeps its contents");
    mark(s, b->at, b->bytes, 2);
    return right && give(s, 0) && give(s, 1);
}

/* More than there can be: refused, or given and given back; nothing else changes. */
static bool refusal(suite *s) {
    size_t bytes;
    void *ptr;
    if (!take(s, 0, 1))
        return false;
    masu_status status = masu__device_alloc(s->device, SIZE_MAX / 2 + 1, &ptr, &bytes);
    bool given = status == MASU_OK && masu__device_free(s->device, ptr, bytes) == MASU_OK;
    bool said = status == MASU_ERR_OUT_OF_MEMORY || status == MASU_ERR_LIMIT_REACHED ||
                status == MASU_ERR_ADDRESS_SPACE || status == MASU_ERR_OVERFLOW || status == MASU_ERR_DEVICE_FAILURE;
    return holds(s, given || said, "alloc: what there is not is refused as a lack") && give(s, 0);
}

/* ---- threads ---------------------------------------------------------------------------------------------------- */

typedef struct worker {
    suite own;
    pthread_t thread;
    bool right, started;
} worker;

static void *work(void *argument) {
    worker *w = argument;
    w->right = true;
    for (int round = 0; w->right && round < ROUNDS; round++) {
        int i = round % 3;
        if (w->own.blocks[i].at)
            w->right = give(&w->own, i);
        w->right = w->right && take(&w->own, i, (size_t)(1 + round % 2) * w->own.device->info.granularity_bytes);
    }
    for (int i = 0; w->right && i < 3; i++)
        w->right = give(&w->own, i);
    return NULL;
}

static void give_all_back(suite *s) {
    for (int i = 0; i < BLOCKS; i++)
        if (s->blocks[i].at && masu__device_free(s->device, s->blocks[i].at, s->blocks[i].bytes) == MASU_OK)
            s->blocks[i].at = NULL;
}

static bool threads(suite *s) {
    worker workers[THREADS];
    bool right = true;
    for (int i = 0; i < THREADS; i++) {
        workers[i] = (worker){.own = {.device = s->device, .report = {.what = ""}}};
        workers[i].started = pthread_create(&workers[i].thread, NULL, work, &workers[i]) == 0;
    }
    for (int i = 0; i < THREADS; i++) {
        if (workers[i].started)
            pthread_join(workers[i].thread, NULL);
        else
            work(&workers[i]);
        s->report.checks += workers[i].own.report.checks;
        if (!workers[i].right && right) {
            right = false;
            s->report.what = workers[i].own.report.what;
            s->report.status = workers[i].own.report.status;
        }
        give_all_back(&workers[i].own);
    }
    return right;
}

/* ---- virtual memory ---------------------------------------------------------------------------------------------- */

enum { PIECES = 4, GRANULES = 24 };

/* Where each piece is: NULL: without an address. */
typedef struct mapped {
    char *base; /* the reservation; NULL: none */
    masu__piece pieces[PIECES];
    char *at[PIECES];
    bool there[PIECES];
} mapped;

static bool make_pieces(suite *s, mapped *m) {
    size_t g = s->device->info.vm_granularity_bytes;
    void *base;
    if (!agrees(s, masu__device_reserve(s->device, GRANULES * g, &base), "reserve"))
        return false;
    m->base = base;
    for (int i = 0; i < 3; i++) {
        if (!agrees(s, masu__device_create(s->device, (size_t)(i + 1) * g, &m->pieces[i]), "create"))
            return false;
        m->there[i] = true;
    }
    return true;
}

static bool put(suite *s, mapped *m, int i, char *at) {
    if (!agrees(s, masu__device_map(s->device, at, m->pieces[i]), "map"))
        return false;
    m->at[i] = at;
    return agrees(s, masu__device_access(s->device, at, m->pieces[i].bytes), "access");
}

static bool take_out(suite *s, mapped *m, int i) {
    if (!agrees(s, masu__device_unmap(s->device, m->at[i], &m->pieces[i], 1), "unmap"))
        return false;
    m->at[i] = NULL;
    return true;
}

static bool has(suite *s, const mapped *m, int i, const char *clause) {
    return holds(s, marked(s, m->at[i], m->pieces[i].bytes, i + 1), clause);
}

/* Three pieces of one, two and three granules, side by side; out and back in another order; moved together. */
static bool moves(suite *s, mapped *m) {
    size_t g = s->device->info.vm_granularity_bytes;
    if (!put(s, m, 0, m->base) || !put(s, m, 1, m->base + g) || !put(s, m, 2, m->base + 3 * g))
        return false;
    for (int i = 0; i < 3; i++) {
        if (!holds(s, fresh(s, m->at[i], m->pieces[i].bytes), "create: fresh memory is zero"))
            return false;
        mark(s, m->at[i], m->pieces[i].bytes, i + 1);
    }
    for (int i = 0; i < 3; i++)
        if (!has(s, m, i, "map: pieces do not share memory"))
            return false;
    if (!take_out(s, m, 1) || !put(s, m, 1, m->base + 10 * g) ||
        !has(s, m, 1, "unmap and map: a piece keeps its contents") || !has(s, m, 0, "unmap: neighbours stay") ||
        !has(s, m, 2, "unmap: neighbours stay") || !take_out(s, m, 1) || !put(s, m, 1, m->base + g) ||
        !has(s, m, 1, "map: a place that was left is used again"))
        return false;
    if (!agrees(s, masu__device_remap(s->device, m->base, m->base + 12 * g, m->pieces, 3), "remap"))
        return false;
    for (int i = 0; i < 3; i++)
        m->at[i] += 12 * g;
    for (int i = 0; i < 3; i++)
        if (!has(s, m, i, "remap: pieces keep their contents and order"))
            return false;
    mark(s, m->at[2], m->pieces[2].bytes, 3); /* without asking for access again */
    return true;
}

static bool copies(suite *s, mapped *m) {
    size_t g = s->device->info.vm_granularity_bytes;
    if (!agrees(s, masu__device_copy(s->device, m->at[2] + g, m->at[1] + g, g), "copy") ||
        !agrees(s, masu__device_wait(s->device), "wait") ||
        !holds(s, marked(s, m->at[2] + g, g, 2), "copy: the contents are there") ||
        !has(s, m, 1, "copy: the source stays"))
        return false;
    mark(s, m->at[2], m->pieces[2].bytes, 3);
    return true;
}

/* The third piece in two, which move apart. */
static bool divides(suite *s, mapped *m) {
    size_t g = s->device->info.vm_granularity_bytes;
    if (!(s->device->info.flags & MASU_DEVICE_DIVISIBLE))
        return true;
    for (int time = 0; time < 2; time++) {
        if (!agrees(s, masu__device_split(s->device, &m->pieces[2], g, &m->pieces[3]), "split"))
            return false;
        m->there[3] = true;
        m->at[3] = m->at[2] + g;
        if (time == 0 && masu__device_join(s->device, &m->pieces[2], m->pieces[3])) {
            m->there[3] = false;
            m->at[3] = NULL;
            if (!holds(s, m->pieces[2].bytes == 3 * g, "join: what was cut is whole again"))
                return false;
        } else {
            break;
        }
    }
    if (!take_out(s, m, 3) || !put(s, m, 3, m->base + 20 * g) ||
        !holds(s, marked(s, m->at[3], 2 * g, 3), "split: each half keeps its contents") ||
        !has(s, m, 2, "split: the first half stays"))
        return false;
    bool joined = masu__device_join(s->device, &m->pieces[2], m->pieces[3]);
    m->there[3] = !joined;
    /* Where there are no contents, there is nothing that could have moved. */
    return holds(s, !joined || !sees(s), "join: halves that have moved stay two");
}

/* Without contents, and with a use afterwards. */
static bool discards(suite *s, mapped *m) {
    size_t g = s->device->info.vm_granularity_bytes;
    char *was = m->at[0];
    if (!agrees(s, masu__device_discard(s->device, was, m->pieces, 2), "discard"))
        return false;
    m->at[0] = m->at[1] = NULL;
    if (!put(s, m, 0, was + g) || !put(s, m, 1, m->base))
        return false;
    for (int i = 0; i < 2; i++)
        mark(s, m->at[i], m->pieces[i].bytes, i + 1);
    return has(s, m, 0, "discard: the piece is used again") && has(s, m, 1, "discard: the piece is used again") &&
           has(s, m, 2, "discard: neighbours stay");
}

static bool ends(suite *s, mapped *m) {
    for (int i = 0; i < PIECES; i++) {
        if (m->there[i] && m->at[i] && !take_out(s, m, i))
            return false;
        if (m->there[i] && !agrees(s, masu__device_release(s->device, m->pieces[i]), "release"))
            return false;
        m->there[i] = false;
    }
    if (!agrees(s, masu__device_unreserve(s->device, m->base, GRANULES * s->device->info.vm_granularity_bytes),
                "unreserve"))
        return false;
    m->base = NULL;
    return true;
}

/* After a failure; each call twice, for one may be refused once. */
static void take_all_back(suite *s, mapped *m) {
    for (int i = 0; i < 2 * PIECES; i++) {
        int k = i % PIECES;
        if (m->there[k] && m->at[k] && masu__device_unmap(s->device, m->at[k], &m->pieces[k], 1) == MASU_OK)
            m->at[k] = NULL;
        if (m->there[k] && !m->at[k] && masu__device_release(s->device, m->pieces[k]) == MASU_OK)
            m->there[k] = false;
    }
    for (int i = 0; i < 2 && m->base; i++)
        if (masu__device_unreserve(s->device, m->base, GRANULES * s->device->info.vm_granularity_bytes) == MASU_OK)
            m->base = NULL;
}

static bool virtual_memory(suite *s) {
    mapped m = {0};
    if (!s->device->vm)
        return true;
    bool right = make_pieces(s, &m) && moves(s, &m) && copies(s, &m) && divides(s, &m) && discards(s, &m) &&
                 ends(s, &m);
    if (!right)
        take_all_back(s, &m);
    return right;
}

/* ---- the suite --------------------------------------------------------------------------------------------------- */

static bool nothing_left(suite *s, const masu_device_stats *before) {
    masu_device_stats after;
    masu_device_get_stats(s->device, &after);
    return holds(s, after.live_bytes == before->live_bytes, "free: all is given back") &&
           holds(s, after.physical_bytes == before->physical_bytes && after.reserved_bytes == before->reserved_bytes,
                 "release, unreserve: all is given back");
}

masu_status masu_device_conform(masu_device *device, masu_conform_report *report) {
    masu_device_stats before;
    if (!device || (report && report->struct_bytes < sizeof *report))
        return MASU_ERR_INVALID_ARGUMENT;
    suite s = {.device = device, .report = {.what = "", .status = MASU_OK}};
    masu_device_get_stats(device, &before);
    bool right = facts(&s);
    for (int step = 1; right && step < 8; step += 2)
        right = many_blocks(&s, step);
    right = right && purges(&s) && carries(&s) && refusal(&s) && threads(&s) && virtual_memory(&s) &&
            nothing_left(&s, &before);
    for (int time = 0; !right && time < 2; time++)
        give_all_back(&s);
    if (report) {
        s.report.struct_bytes = report->struct_bytes;
        *report = s.report;
    }
    return s.report.status;
}
