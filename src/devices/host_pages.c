/* host_pages.c: virtual memory of this process.
 *
 * A piece is a range of private anonymous pages. It always lies somewhere: in the reservation
 * while it is mapped, in a parking place of its own while it is not. Mapping, unmapping and moving
 * are all the same act, mremap, which moves page tables and never a byte:
 *
 *     create   a parking place of fresh pages
 *     map      parking place ─► reservation
 *     unmap    reservation ─► parking place;  where it was becomes inaccessible at once
 *     remap    reservation ─► reservation
 *     release  the parking place goes back to the kernel
 *
 * Why not a shared memory object (memfd) mapped here and there: after each mapping every page
 * faults again, which costs more than copying it; and a forked child would share the bytes.
 * Private pages are copied on write, so two processes never hand out the same byte. Measured in
 * docs/virtual-memory.md.
 *
 * The place a piece leaves must never be free for somebody else's mmap, not even for an instant:
 * so pieces are moved with MREMAP_DONTUNMAP and the place is then covered.
 *
 * Giving back never fails. A process may have no mapping or no address left for a parking place: a piece whose contents
 * is not wanted (discard) is then emptied where it lies and is bare, pages without a place, until it is mapped
 * again. What munmap refuses at that limit (it would cut a mapping in two) is emptied, owed, and unmapped later.
 *
 * A move that fails may have removed what it was to replace: the place is covered again, and when
 * even that fails the answer is MASU_ERR_CORRUPT and the place is never used again.
 *
 * The kernel moves a whole gigabyte of page table in one step when both places are congruent modulo
 * one gigabyte (else two megabytes): parking places are chosen so.
 */
#include "devices/host.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/meta.h"
#include "base/size.h"

enum { NOBODY = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE };

/* parked: where the piece lies while it is not mapped; NULL while it is.
 * moved: since it was created or cut. Halves that have not are one mapping of the kernel's still; once one has
 * been away they may be two, which one mremap cannot move. */
typedef struct host_piece {
    char *parked;
    bool moved;
    bool bare; /* neither mapped nor parked: it has no pages, and gets fresh ones where it is mapped */
} host_piece;

static host_piece *piece_of(masu__piece piece) {
    return (host_piece *)(uintptr_t)piece.handle;
}

/* parked NULL: mapped */
static void note_place(masu__piece piece, char *parked) {
    *piece_of(piece) = (host_piece){.parked = parked, .moved = true};
}

/* ---- what the kernel says ------------------------------------------------------------------------ */

static size_t read_file(const char *path, char *out, size_t capacity) {
    int file = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t got = file < 0 ? -1 : read(file, out, capacity);
    if (file >= 0)
        close(file);
    return got > 0 ? (size_t)got : 0;
}

static size_t count_mappings(void) {
    char part[4096];
    size_t lines = 0;
    int file = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return 0;
    for (ssize_t got; (got = read(file, part, sizeof part)) > 0;)
        for (ssize_t i = 0; i < got; i++)
            lines += part[i] == '\n';
    close(file);
    return lines;
}

/* vm.max_map_count; 0 when it cannot be read. */
static size_t most_mappings(void) {
    char text[32];
    size_t length = read_file("/proc/sys/vm/max_map_count", text, sizeof text), number = 0;
    for (size_t i = 0; i < length && text[i] >= '0' && text[i] <= '9'; i++)
        number = number * 10 + (size_t)(text[i] - '0');
    return number;
}

/* "No memory" has two meanings: no pages, or as many mappings as a process may have. */
static masu_status status_of(int error) {
    if (error != ENOMEM)
        return MASU_ERR_DEVICE_FAILURE;
    size_t most = most_mappings();
    return most > 0 && count_mappings() + 4 >= most ? MASU_ERR_LIMIT_REACHED : MASU_ERR_OUT_OF_MEMORY;
}

/* ---- places ---------------------------------------------------------------------------------------- */

/* Inaccessible addresses of that size, congruent to `like` modulo the largest step that helps. */
static char *place_like(uintptr_t like, size_t bytes) {
    size_t step = bytes >= MASU__HOST_LARGE ? MASU__HOST_LARGE : MASU__HOST_GRANULE;
    char *place = mmap(NULL, bytes, PROT_NONE, NOBODY, -1, 0);
    if (place == MAP_FAILED || masu__is_aligned((uintptr_t)place - like, step))
        return place;
    munmap(place, bytes);
    char *wide = mmap(NULL, bytes + step, PROT_NONE, NOBODY, -1, 0);
    if (wide == MAP_FAILED)
        return wide;
    size_t before = (like - (uintptr_t)wide) & (step - 1);
    if (before > 0)
        munmap(wide, before);
    if (before < step)
        munmap(wide + before + bytes, step - before);
    return wide + before;
}

static bool cover(void *address, size_t bytes) {
    return mmap(address, bytes, PROT_NONE, NOBODY | MAP_FIXED, -1, 0) != MAP_FAILED;
}

static bool fresh_pages(void *address, size_t bytes) {
    if (mmap(address, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == MAP_FAILED)
        return false;
    madvise(address, bytes, MADV_HUGEPAGE); /* a wish, as in pages_create */
    return true;
}

static bool move_pages(void *from, void *to, size_t bytes) {
    return mremap(from, bytes, bytes, MREMAP_MAYMOVE | MREMAP_FIXED | MREMAP_DONTUNMAP, to) != MAP_FAILED;
}

/* Moves without keeping the place they came from. */
static bool leave_for(void *from, void *to, size_t bytes) {
    return mremap(from, bytes, bytes, MREMAP_MAYMOVE | MREMAP_FIXED, to) != MAP_FAILED;
}

bool masu__host_can_move(void) {
    size_t page = (size_t)getpagesize();
    char *from = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    char *to = mmap(NULL, page, PROT_NONE, NOBODY, -1, 0);
    bool can = from != MAP_FAILED && to != MAP_FAILED && move_pages(from, to, page);
    if (from != MAP_FAILED)
        munmap(from, page);
    if (to != MAP_FAILED)
        munmap(to, page);
    return can;
}

/* ---- the table ------------------------------------------------------------------------------------- */

static masu_status pages_reserve(masu_device *device, size_t bytes, void **out) {
    (void)device;
    if (masu__fault_hit())
        return MASU_ERR_OUT_OF_MEMORY;
    char *place = place_like(0, bytes);
    if (place == MAP_FAILED)
        return MASU_ERR_ADDRESS_SPACE;
    *out = place;
    return MASU_OK;
}

static masu_status pages_unreserve(masu_device *device, void *address, size_t bytes) {
    (void)device;
    return munmap(address, bytes) == 0 ? MASU_OK : status_of(errno);
}

static masu_status pages_create(masu_device *device, size_t bytes, uint64_t *out) {
    (void)device;
    host_piece *piece = masu__meta_alloc(sizeof *piece);
    if (!piece)
        return MASU_ERR_OUT_OF_MEMORY;
    void *pages = masu__fault_hit() ? (errno = ENOMEM, MAP_FAILED)
                                    : mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages == MAP_FAILED) {
        masu_status status = status_of(errno);
        masu__meta_free(piece, sizeof *piece);
        return status;
    }
    madvise(pages, bytes, MADV_HUGEPAGE); /* a wish; without it all works, with more faults */
    *piece = (host_piece){.parked = pages};
    *out = (uintptr_t)piece;
    return MASU_OK;
}

static masu_status pages_release(masu_device *device, masu__piece piece) {
    host_piece *host = piece_of(piece);
    if (!host->bare && !masu__host_unmap(device, host->parked, piece.bytes))
        return status_of(errno);
    masu__meta_free(host, sizeof *host);
    return MASU_OK;
}

static masu_status pages_map(masu_device *device, void *address, masu__piece piece) {
    (void)device;
    host_piece *host = piece_of(piece);
    bool there = host->bare ? fresh_pages(address, piece.bytes) : leave_for(host->parked, address, piece.bytes);
    if (!there) {
        masu_status status = status_of(errno);
        return cover(address, piece.bytes) ? status : MASU_ERR_CORRUPT;
    }
    note_place(piece, NULL);
    return MASU_OK;
}

/* Private pages are readable and writable wherever they lie. */
static masu_status pages_access(masu_device *device, void *address, size_t bytes) {
    (void)device, (void)address, (void)bytes;
    return MASU_OK;
}

static masu_status park(char *address, masu__piece piece) {
    char *place = place_like((uintptr_t)address, piece.bytes);
    if (place == MAP_FAILED)
        return status_of(errno);
    if (!move_pages(address, place, piece.bytes)) {
        masu_status status = status_of(errno);
        munmap(place, piece.bytes);
        return status;
    }
    note_place(piece, place);
    return MASU_OK;
}

/* Back to where the pieces were. The places are still there, so that this asks for nothing new. */
static void unpark(char *address, const masu__piece *pieces, size_t count) {
    for (size_t i = 0; i < count; address += pieces[i++].bytes)
        if (leave_for(piece_of(pieces[i])->parked, address, pieces[i].bytes))
            note_place(pieces[i], NULL);
}

static masu_status pages_unmap(masu_device *device, void *address, const masu__piece *pieces, size_t count) {
    (void)device;
    char *next = address;
    for (size_t i = 0; i < count; next += pieces[i++].bytes) {
        masu_status status = park(next, pieces[i]);
        if (status != MASU_OK) {
            unpark(address, pieces, i);
            return status;
        }
    }
    if (!cover(address, (size_t)(next - (char *)address))) {
        masu_status status = status_of(errno);
        unpark(address, pieces, count);
        return status;
    }
    return MASU_OK;
}

/* Empties what could not be parked. A place that cannot even be covered (that would cut a mapping in two) stays
 * accessible, without memory, until something is mapped over it or the reservation ends. */
static void make_bare(char *address, masu__piece piece) {
    if (!cover(address, piece.bytes))
        madvise(address, piece.bytes, MADV_DONTNEED);
    *piece_of(piece) = (host_piece){.moved = true, .bare = true};
}

static masu_status pages_discard(masu_device *device, void *address, const masu__piece *pieces, size_t count) {
    (void)device;
    char *next = address;
    for (size_t i = 0; i < count; next += pieces[i++].bytes) {
        char *place = place_like((uintptr_t)next, pieces[i].bytes);
        bool parked = place != MAP_FAILED && move_pages(next, place, pieces[i].bytes);
        if (parked && cover(next, pieces[i].bytes)) {
            note_place(pieces[i], place);
            continue;
        }
        if (place != MAP_FAILED)
            munmap(place, pieces[i].bytes);
        make_bare(next, pieces[i]);
    }
    return MASU_OK;
}

static masu_status pages_remap(masu_device *device, void *from, void *to, const masu__piece *pieces, size_t count) {
    (void)device;
    size_t done = 0, i = 0;
    while (i < count && move_pages((char *)from + done, (char *)to + done, pieces[i].bytes)) {
        note_place(pieces[i], NULL);
        done += pieces[i++].bytes;
    }
    if (i == count && cover(from, done))
        return MASU_OK;
    masu_status status = status_of(errno);
    for (size_t back = 0, k = 0; k < i; back += pieces[k++].bytes)
        if (!move_pages((char *)to + back, (char *)from + back, pieces[k].bytes))
            return MASU_ERR_CORRUPT;
    size_t touched = done + (i < count ? pieces[i].bytes : 0);
    return cover(to, touched) ? status : MASU_ERR_CORRUPT;
}

static masu_status pages_split(masu_device *device, masu__piece piece, size_t first_bytes, uint64_t *rest) {
    (void)device;
    host_piece *host = piece_of(piece), *second = masu__meta_alloc(sizeof *second);
    if (!second)
        return MASU_ERR_OUT_OF_MEMORY;
    *second = (host_piece){.parked = host->parked ? host->parked + first_bytes : NULL, .bare = host->bare};
    host->moved = false;
    *rest = (uintptr_t)second;
    return MASU_OK;
}

static bool pages_join(masu_device *device, masu__piece first, masu__piece rest) {
    (void)device;
    if (piece_of(first)->moved || piece_of(rest)->moved)
        return false;
    masu__meta_free(piece_of(rest), sizeof(host_piece));
    return true;
}

static masu_status pages_copy(masu_device *device, void *to, const void *from, size_t bytes) {
    (void)device;
    memcpy(to, from, bytes);
    return MASU_OK;
}

const masu__device_vm_ops masu__host_vm_ops = {
    .reserve = pages_reserve,
    .unreserve = pages_unreserve,
    .create = pages_create,
    .release = pages_release,
    .map = pages_map,
    .access = pages_access,
    .unmap = pages_unmap,
    .discard = pages_discard,
    .remap = pages_remap,
    .split = pages_split,
    .join = pages_join,
    .copy = pages_copy,
};
