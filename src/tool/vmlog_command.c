/* vmlog_command.c: `masu vmlog`: a log of memory events becomes a picture, address against time.
 *
 *     address ▲  ┌────────────┐                 block: its addresses, from allocation to free
 *             │  │▒▒▒▒▒▒┌─────┴──┐              ▒ memory behind it, piece by piece
 *             │  └──────┤▒▒▒▒╲   │              ╲ a piece that moved
 *             └─────────┴──────────► events     below: memory in blocks, and the stock
 *
 * Addresses that were never used are left out, so that a reservation of terabytes fits on a page. Time is the number
 * of the event.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/meta.h"
#include "tool/tool.h"

#include <masu/trace.h>

static const char usage[] =
    "Usage: masu vmlog FILE [-o OUT.svg]\n"
    "\n"
    "Reads memory events, one a line (`-` is standard input), as the CUDA interposer writes them into VMM_LOG_FILE,\n"
    "and prints what they add up to.\n"
    "\n"
    "  -o OUT.svg   also draws them, address against time\n"
    "  --help       this text\n";

enum { MOST_EVENTS = 200000, WIDTH = 1100, HEIGHT = 460, LEFT = 20, TOP = 60, CURVE = 110 };
enum { CURVE_BASE = TOP + HEIGHT + 50 + CURVE };

/* Something that lies at addresses for a while: a block or a mapped piece. */
typedef struct span {
    uint64_t address, bytes, used_bytes;
    uint64_t number; /* of the piece; 0: a block */
    uint32_t pool;
    size_t from, to; /* positions of events */
    bool open;
} span;

typedef struct range {
    uint64_t from, to;
    double y, height;
} range;

typedef struct move {
    size_t at;
    uint64_t from, to;
} move;

#define LIST(type)              \
    struct {                    \
        type *items;            \
        size_t count, capacity; \
    }

typedef struct picture {
    LIST(masu_event) events;
    LIST(span) spans;
    LIST(range) ranges;
    LIST(move) moves;
    size_t skipped, comments;
    bool failed; /* no memory */
    uint64_t counts[MASU_EVENT_KIND_COUNT];
    uint64_t mapped, stock, peak_mapped, peak_stock;
} picture;

/* Room for one more item; false and failed without memory. */
static bool make_room(picture *p, void **items, size_t count, size_t *capacity, size_t bytes) {
    if (count < *capacity)
        return true;
    size_t wanted = *capacity ? 2 * *capacity : 256;
    void *grown = masu__meta_realloc(*items, *capacity * bytes, wanted * bytes);
    if (!grown) {
        p->failed = true;
        return false;
    }
    *items = grown;
    *capacity = wanted;
    return true;
}

#define ADD(p, list, ...)                                                                               \
    do {                                                                                                \
        if (make_room(p, (void **)&(list).items, (list).count, &(list).capacity, sizeof *(list).items)) \
            (list).items[(list).count++] = __VA_ARGS__;                                                 \
    } while (0)
#define DROP(list) masu__meta_free((list).items, (list).capacity * sizeof *(list).items)

/* ---- reading -------------------------------------------------------------------------------------------------- */

static void read_lines(picture *p, char *text) {
    for (char *line = text; *line;) {
        char *end = line + strcspn(line, "\n"), *next = *end ? end + 1 : end;
        masu_event event;
        *end = 0;
        if (line[0] == '#')
            p->comments++;
        else if (line[0] && (p->events.count == MOST_EVENTS || !masu_event_parse(line, &event)))
            p->skipped++;
        else if (line[0])
            ADD(p, p->events, event);
        line = next;
    }
}

/* ---- understanding ---------------------------------------------------------------------------------------------- */

static span *find_open(picture *p, const masu_event *event, uint64_t number) {
    for (size_t i = p->spans.count; i-- > 0;) {
        span *s = &p->spans.items[i];
        if (s->open && s->pool == event->pool && s->number == number && (number || s->address == event->address))
            return s;
    }
    return NULL;
}

static void close_span(span *s, size_t at) {
    if (s) {
        s->open = false;
        s->to = at;
    }
}

static void open_block(picture *p, const masu_event *event, size_t at) {
    uint64_t bytes = event->block_bytes > event->bytes ? event->block_bytes : event->bytes;
    ADD(p, p->spans, (span){event->address, bytes, event->bytes, 0, event->pool, at, at, true});
}

/* A piece that is mapped again in the same breath as it was unmapped has moved. */
static void note_move(picture *p, const masu_event *event, size_t at) {
    for (size_t i = at; i-- > 0;) {
        const masu_event *before = &p->events.items[i];
        if (before->kind != MASU_EVENT_UNMAP && before->kind != MASU_EVENT_MAP)
            return;
        if (before->kind == MASU_EVENT_UNMAP && before->owner == event->owner && before->pool == event->pool) {
            ADD(p, p->moves, (move){at, before->address, event->address});
            return;
        }
    }
}

/* A mapped piece becomes two, or two become one again; elsewhere nothing is to be seen of it. */
static void cut_or_join(picture *p, const masu_event *event, size_t at) {
    span *first = find_open(p, event, event->owner);
    if (!first)
        return;
    span base = *first;
    base.from = base.to = at;
    close_span(first, at);
    if (event->kind == MASU_EVENT_PIECE_JOIN)
        close_span(find_open(p, event, event->address), at);
    base.bytes = event->bytes;
    ADD(p, p->spans, base);
    if (event->kind == MASU_EVENT_PIECE_CUT) {
        base.address += event->bytes;
        base.bytes = event->block_bytes;
        base.number = event->address;
        ADD(p, p->spans, base);
    }
}

static void follow(picture *p, size_t at) {
    const masu_event event = p->events.items[at];
    p->counts[event.kind]++;
    switch ((masu_event_kind)event.kind) {
    case MASU_EVENT_ALLOC:
        open_block(p, &event, at);
        break;
    case MASU_EVENT_FREE:
        close_span(find_open(p, &event, 0), at);
        break;
    case MASU_EVENT_RESIZE:
        close_span(find_open(p, &event, 0), at);
        open_block(p, &event, at);
        break;
    case MASU_EVENT_MAP:
        note_move(p, &event, at);
        ADD(p, p->spans, (span){event.address, event.bytes, event.bytes, event.owner, event.pool, at, at, true});
        p->mapped += event.bytes;
        p->stock -= event.bytes;
        break;
    case MASU_EVENT_UNMAP:
        close_span(find_open(p, &event, event.owner), at);
        p->mapped -= event.bytes;
        p->stock += event.bytes;
        break;
    case MASU_EVENT_PIECE_CUT:
    case MASU_EVENT_PIECE_JOIN:
        cut_or_join(p, &event, at);
        break;
    case MASU_EVENT_PIECE_ADD:
        p->stock += event.bytes;
        break;
    case MASU_EVENT_PIECE_DROP:
        p->stock -= event.bytes;
        break;
    default:
        break;
    }
    p->peak_mapped = p->mapped > p->peak_mapped ? p->mapped : p->peak_mapped;
    p->peak_stock = p->stock > p->peak_stock ? p->stock : p->peak_stock;
}

/* ---- layout ----------------------------------------------------------------------------------------------------- */

static int by_start(const void *a, const void *b) {
    const range *x = a, *y = b;
    return (x->from > y->from) - (x->from < y->from);
}

/* The addresses that were used, merged, each with its place on the page. */
static void lay_out(picture *p) {
    for (size_t i = 0; i < p->spans.count; i++)
        if (p->spans.items[i].bytes > 0)
            ADD(p, p->ranges,
                (range){p->spans.items[i].address, p->spans.items[i].address + p->spans.items[i].bytes, 0, 0});
    if (p->failed || p->ranges.count == 0)
        return;
    qsort(p->ranges.items, p->ranges.count, sizeof *p->ranges.items, by_start);
    size_t last = 0;
    for (size_t i = 1; i < p->ranges.count; i++) {
        range next = p->ranges.items[i], *current = &p->ranges.items[last];
        if (next.from <= current->to)
            current->to = next.to > current->to ? next.to : current->to;
        else
            p->ranges.items[++last] = next;
    }
    p->ranges.count = last + 1;
    double total = 0, y = TOP, gap = p->ranges.count > 40 ? 1 : 6;
    for (size_t i = 0; i < p->ranges.count; i++)
        total += (double)(p->ranges.items[i].to - p->ranges.items[i].from);
    double scale = (HEIGHT - gap * (double)p->ranges.count) / total;
    for (size_t i = p->ranges.count; i-- > 0;) { /* low addresses at the bottom */
        range *r = &p->ranges.items[i];
        r->y = y;
        r->height = (double)(r->to - r->from) * (scale > 0 ? scale : 1e-9);
        y += r->height + gap;
    }
}

static double y_of(const picture *p, uint64_t address) {
    size_t low = 0, high = p->ranges.count;
    while (high - low > 1) {
        size_t middle = (low + high) / 2;
        if (p->ranges.items[middle].from <= address)
            low = middle;
        else
            high = middle;
    }
    const range *r = &p->ranges.items[low];
    double part = (double)(address - r->from) / (double)(r->to - r->from);
    return r->y + r->height * (1 - part);
}

static double x_of(const picture *p, size_t at) {
    return LEFT + (double)WIDTH * (double)at / (double)(p->events.count > 1 ? p->events.count - 1 : 1);
}

/* ---- drawing ---------------------------------------------------------------------------------------------------- */

static void draw_rectangle(FILE *out, const picture *p, const span *s, uint64_t bytes, const char *style) {
    if (bytes == 0)
        return;
    double top = y_of(p, s->address + bytes - 1), bottom = y_of(p, s->address);
    double left = x_of(p, s->from), right = x_of(p, s->open ? p->events.count - 1 : s->to);
    fprintf(out, "<rect x='%.2f' y='%.2f' width='%.2f' height='%.2f' %s/>\n", left, top,
            right - left > 0.4 ? right - left : 0.4, bottom - top > 0.4 ? bottom - top : 0.4, style);
}

/* Memory in blocks and in the stock, under the blocks. */
static void draw_curve(FILE *out, const picture *p, bool stock, const char *colour) {
    uint64_t mapped = 0, free_bytes = 0;
    uint64_t most = p->peak_mapped > p->peak_stock ? p->peak_mapped : p->peak_stock;
    double last = CURVE_BASE;
    fprintf(out, "<polyline fill='none' stroke='%s' points='", colour);
    for (size_t i = 0; i < p->events.count; i++) {
        const masu_event *event = &p->events.items[i];
        uint64_t add = event->kind == MASU_EVENT_MAP ? event->bytes : 0;
        uint64_t drop = event->kind == MASU_EVENT_UNMAP ? event->bytes : 0;
        mapped += add - drop;
        free_bytes += drop - add + (event->kind == MASU_EVENT_PIECE_ADD ? event->bytes : 0) -
                      (event->kind == MASU_EVENT_PIECE_DROP ? event->bytes : 0);
        double y = CURVE_BASE - (double)CURVE * (double)(stock ? free_bytes : mapped) / (double)(most ? most : 1);
        if (y != last || i + 1 == p->events.count) /* what did not change stays level */
            fprintf(out, "%.1f,%.1f %.1f,%.1f ", x_of(p, i), last, x_of(p, i), y);
        last = y;
    }
    fprintf(out, "'/>\n");
}

static void draw_legend(FILE *out) {
    static const char *const entries[][2] = {{"#cfe3f5", "addresses of a block"},
                                             {"#4a90c2", "asked for"},
                                             {"#2f6f4f", "pieces of memory in blocks"},
                                             {"#d1495b", "moved, refused"},
                                             {"#c98a1b", "pieces in the stock"}};
    for (int i = 0; i < 5; i++)
        fprintf(out, "<rect x='%d' y='12' width='12' height='12' fill='%s'/><text x='%d' y='22'>%s</text>\n",
                LEFT + 210 * i, entries[i][0], LEFT + 210 * i + 18, entries[i][1]);
}

/* Draws the two axes, and the values at their ends. */
static void draw_axes(FILE *out, const picture *p) {
    masu__buffer drawn = {0}, most = {0};
    uint64_t bytes = 0;
    for (size_t i = 0; i < p->ranges.count; i++)
        bytes += p->ranges.items[i].to - p->ranges.items[i].from;
    masu__buffer_put_bytes(&drawn, bytes);
    masu__buffer_put_bytes(&most, p->peak_mapped > p->peak_stock ? p->peak_mapped : p->peak_stock);
    fprintf(out,
            "<g fill='#555'><text x='%d' y='%d'>addresses, low ones below: %s that were used</text>\n"
            "<text x='%d' y='%d'>memory: the line is at %s</text>\n"
            "<text x='%d' y='%d' text-anchor='end'>%zu events, one after the other</text></g>\n"
            "<path d='M%d %dH%dM%d %dH%d' stroke='#ccc'/>\n",
            LEFT, TOP - 14, masu__buffer_text(&drawn), LEFT, CURVE_BASE - CURVE - 6, masu__buffer_text(&most),
            LEFT + WIDTH, CURVE_BASE + 18, p->events.count, LEFT, CURVE_BASE - CURVE, LEFT + WIDTH, LEFT, CURVE_BASE,
            LEFT + WIDTH);
    masu__buffer_destroy(&drawn);
    masu__buffer_destroy(&most);
}

static void draw(FILE *out, const picture *p) {
    fprintf(out,
            "<svg xmlns='http://www.w3.org/2000/svg' width='%d' height='%d' font-family='sans-serif' font-size='12'>\n"
            "<rect width='100%%' height='100%%' fill='white'/>\n",
            WIDTH + 2 * LEFT, CURVE_BASE + 30);
    draw_legend(out);
    draw_axes(out, p);
    for (size_t i = 0; i < p->spans.count; i++) {
        const span *s = &p->spans.items[i];
        if (s->number)
            continue;
        draw_rectangle(out, p, s, s->bytes, "fill='#cfe3f5'");
        draw_rectangle(out, p, s, s->used_bytes, "fill='#4a90c2'");
    }
    for (size_t i = 0; i < p->spans.count; i++)
        if (p->spans.items[i].number)
            draw_rectangle(out, p, &p->spans.items[i], p->spans.items[i].bytes,
                           "fill='none' stroke='#2f6f4f' stroke-width='0.5'");
    for (size_t i = 0; i < p->moves.count; i++)
        fprintf(out, "<path d='M%.1f %.1fL%.1f %.1f' stroke='#d1495b'/>\n", x_of(p, p->moves.items[i].at) - 4,
                y_of(p, p->moves.items[i].from), x_of(p, p->moves.items[i].at), y_of(p, p->moves.items[i].to));
    for (size_t i = 0; i < p->events.count; i++)
        if (p->events.items[i].kind == MASU_EVENT_REFUSED)
            fprintf(out, "<path d='M%.1f %dv8' stroke='#d1495b'/>\n", x_of(p, i), TOP - 10);
    draw_curve(out, p, false, "#2f6f4f");
    draw_curve(out, p, true, "#c98a1b");
    fprintf(out, "</svg>\n");
}

/* ---- the command ------------------------------------------------------------------------------------------------ */

static void summarise(const picture *p) {
    masu__buffer mapped = {0}, stock = {0};
    masu__buffer_put_bytes(&mapped, p->peak_mapped);
    masu__buffer_put_bytes(&stock, p->peak_stock);
    printf("%zu events, %zu notes, %zu lines not understood\n", p->events.count, p->comments, p->skipped);
    for (int kind = 0; kind < MASU_EVENT_KIND_COUNT; kind++)
        if (p->counts[kind])
            printf("  %-11s %llu\n", masu_event_kind_name((masu_event_kind)kind), (unsigned long long)p->counts[kind]);
    size_t open = 0;
    for (size_t i = 0; i < p->spans.count; i++)
        open += p->spans.items[i].open && !p->spans.items[i].number;
    printf("%zu pieces moved, %zu blocks live at the end\n", p->moves.count, open);
    if (p->counts[MASU_EVENT_MAP])
        printf("at most %s mapped, %s in the stock\n", masu__buffer_text(&mapped), masu__buffer_text(&stock));
    masu__buffer_destroy(&mapped);
    masu__buffer_destroy(&stock);
}

static int save(const picture *p, const char *path) {
    FILE *out = fopen(path, "w");
    if (!out) {
        perror(path);
        return TOOL_FAILED;
    }
    draw(out, p);
    if (fclose(out) != 0) {
        perror(path);
        return TOOL_FAILED;
    }
    return TOOL_OK;
}

static int show(picture *p, const char *input, const char *output) {
    tool_text text = {0};
    if (!tool_read(input, &text))
        return TOOL_FAILED;
    if (text.data)
        read_lines(p, text.data);
    tool_text_free(&text);
    for (size_t i = 0; i < p->events.count && !p->failed; i++)
        follow(p, i);
    lay_out(p);
    if (p->failed || p->events.count == 0) {
        fprintf(stderr, "masu vmlog: %s: %s\n", input, p->failed ? "out of memory" : "no event in it");
        return TOOL_FAILED;
    }
    summarise(p);
    return output && p->ranges.count > 0 ? save(p, output) : TOOL_OK;
}

static int run(int argc, char **argv) {
    static const char *const known[] = {"-o", NULL};
    const char *input = NULL, *output = NULL;
    for (int i = 1; i < argc; i++) {
        bool missing = false;
        const char *value = tool_option_value("-o", argc, argv, &i, &missing);
        if (missing)
            return tool_misuse("vmlog", "-o: a file name is missing");
        if (value)
            output = value;
        else if (argv[i][0] == '-' && argv[i][1])
            return tool_unknown_option("vmlog", argv[i], known);
        else if (input)
            return tool_misuse("vmlog", "one file at a time, not `%s` as well", argv[i]);
        else
            input = argv[i];
    }
    if (!input)
        return tool_misuse("vmlog", "a file is missing");
    picture p = {0};
    int status = show(&p, input, output);
    DROP(p.events);
    DROP(p.spans);
    DROP(p.ranges);
    DROP(p.moves);
    return status;
}

const tool_command tool_vmlog = {"vmlog", "draw a log of memory events", usage, run};
