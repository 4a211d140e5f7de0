/* plot.c: see plot.h.
 *
 *     loss                            0.12     a panel for each name: the name, and its last value at the right
 *     2.0 ┤╲
 *     1.0 ┤ ╲__                                lines at round numbers, at most five
 *     0.0 ┤    ╲________
 *         0        500      1000  step         one axis of steps for all panels
 *
 * A line of very many points is drawn by the smallest and the largest value of each column of pixels.
 */
#include "tool/native/plot.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "runtime/runtime.h"
#include "tool/tool.h"

enum {
    WIDTH = 720,
    PANEL = 170,
    LEFT = 64,
    RIGHT = 20,
    TOP = 34,
    BOTTOM = 40,
    GAP = 44,
    COLUMNS = WIDTH - LEFT - RIGHT
};

typedef struct point {
    double step, value;
} point;

typedef struct curve {
    const char *name; /* in the text of the file */
    masu__buffer points;
} curve;

typedef struct drawing {
    masu__buffer text, curves, out;
    double first, last; /* steps of all curves */
} drawing;

static size_t curve_count(const drawing *d) {
    return d->curves.length / sizeof(curve);
}

static curve *curve_at(const drawing *d, size_t number) {
    return (curve *)(void *)d->curves.data + number;
}

static size_t point_count(const curve *c) {
    return c->points.length / sizeof(point);
}

static point point_at(const curve *c, size_t number) {
    return ((const point *)(const void *)c->points.data)[number];
}

/* ---- the file ---------------------------------------------------------------------------------------------------- */

static curve *curve_of(drawing *d, const char *name) {
    for (size_t i = 0; i < curve_count(d); i++)
        if (strcmp(curve_at(d, i)->name, name) == 0)
            return curve_at(d, i);
    curve made = {.name = name};
    masu__buffer_append(&d->curves, (const char *)&made, sizeof made);
    return d->curves.failed ? NULL : curve_at(d, curve_count(d) - 1);
}

/* The name is written over the line, without its quotes. NULL: this is not a line of the log. */
static char *take_name(char **at) {
    char *from = *at, *name = from, *to = from;
    bool quoted = *from == '"';
    from += quoted;
    while (*from && (quoted || *from != ',')) {
        if (quoted && *from == '"' && *++from != '"')
            break;
        *to++ = *from++;
    }
    if (*from != ',')
        return NULL;
    *at = from + 1;
    *to = 0;
    return name;
}

/* False: no memory. A line that says something else is passed over. */
static bool read_line(drawing *d, char *line) {
    char *at = line, *end, *name;
    point p = {.step = strtod(line, &end)};
    if (end == line || *end != ',')
        return true;
    at = end + 1;
    name = take_name(&at);
    p.value = name ? strtod(at, &end) : 0;
    if (!name || end == at || *end != ',')
        return true;
    curve *c = curve_of(d, name);
    d->first = p.step < d->first ? p.step : d->first;
    d->last = p.step > d->last ? p.step : d->last;
    if (c)
        masu__buffer_append(&c->points, (const char *)&p, sizeof p);
    return c && !c->points.failed;
}

static bool read_values(drawing *d, FILE *file) {
    char part[16384];
    for (size_t got; (got = fread(part, 1, sizeof part, file)) > 0;)
        masu__buffer_append(&d->text, part, got);
    bool fits = !d->text.failed && masu__buffer_text(&d->text)[0] != 0;
    for (char *line = d->text.data, *end; fits && line; line = end ? end + 1 : NULL) {
        end = strchr(line, '\n');
        if (end)
            *end = 0;
        fits = read_line(d, line);
    }
    return !d->text.failed && (fits || d->text.length == 0);
}

/* ---- an axis ----------------------------------------------------------------------------------------------------- */

typedef struct axis {
    double low, high, step; /* lines lie at multiples of step */
} axis;

static double round_step(double raw) {
    double size = pow(10, floor(log10(raw))), part = raw / size;
    return size * (part <= 1 ? 1 : part <= 2 ? 2 : part <= 5 ? 5 : 10);
}

static axis axis_of(double low, double high, int lines) {
    if (!(high > low)) {
        double around = low == 0 ? 1 : fabs(low) * 0.1;
        low -= around;
        high += around;
    }
    double step = round_step((high - low) / lines);
    return (axis){floor(low / step) * step, ceil(high / step) * step, step};
}

static axis values_axis(const curve *c) {
    double low = INFINITY, high = -INFINITY;
    for (size_t i = 0; i < point_count(c); i++) {
        double value = point_at(c, i).value;
        low = isfinite(value) && value < low ? value : low;
        high = isfinite(value) && value > high ? value : high;
    }
    return low <= high ? axis_of(low, high, 4) : (axis){0, 1, 0.5};
}

/* ---- the picture ------------------------------------------------------------------------------------------------- */

static double column_of(const drawing *d, double step) {
    return d->last > d->first ? (step - d->first) / (d->last - d->first) * COLUMNS : COLUMNS / 2.0;
}

static double row_of(const axis *a, double value) {
    return (a->high - value) / (a->high - a->low) * PANEL;
}

static void put_lines(drawing *d, const axis *a) {
    int count = (int)lround((a->high - a->low) / a->step);
    for (int i = 0; i <= count; i++) {
        double value = a->low + i * a->step, y = row_of(a, value);
        value = fabs(value) < a->step * 1e-6 ? 0 : value;
        masu__buffer_printf(
            &d->out, "<path class=\"grid\" d=\"M0 %.1fH%d\"/><text class=\"end\" x=\"-8\" y=\"%.1f\">%.6g</text>\n", y,
            COLUMNS, y + 4, value);
    }
}

static void put_points(drawing *d, const curve *c, const axis *a) {
    char next = 'M';
    for (size_t i = 0; i < point_count(c);) {
        point first = point_at(c, i);
        double x = column_of(d, first.step), low = first.value, high = low, last = low;
        size_t from = i;
        for (; i < point_count(c) && floor(column_of(d, point_at(c, i).step)) == floor(x); i++) {
            last = point_at(c, i).value;
            low = last < low ? last : low;
            high = last > high ? last : high;
        }
        bool finite = isfinite(low) && isfinite(high);
        if (finite && i - from > 2)
            masu__buffer_printf(&d->out, "%c%.1f %.1fL%.1f %.1f", next, x, row_of(a, high), x, row_of(a, low));
        else if (finite)
            masu__buffer_printf(&d->out, "%c%.1f %.1f", next, x, row_of(a, first.value));
        if (finite && i - from > 1)
            masu__buffer_printf(&d->out, "L%.1f %.1f", x, row_of(a, last));
        next = finite ? 'L' : 'M'; /* a gap where the value is not finite */
    }
}

/* As much of a name as lies beside its last value. */
static void put_name(drawing *d, const char *name) {
    enum { MOST = 60 };
    size_t length = strlen(name), kept = length > MOST ? MOST : length;
    while (kept < length && ((unsigned char)name[kept] & 0xC0) == 0x80) /* no part of a character */
        kept--;
    masu__buffer_puts(&d->out, "<text class=\"name\" x=\"0\" y=\"-10\">");
    masu__buffer_html(&d->out, name, kept);
    masu__buffer_puts(&d->out, kept < length ? "…</text>" : "</text>");
}

static void put_panel(drawing *d, size_t number) {
    const curve *c = curve_at(d, number);
    size_t count = point_count(c);
    double last = point_at(c, count - 1).value;
    axis a = values_axis(c);
    masu__buffer_printf(&d->out, "<g transform=\"translate(%d %zu)\">\n", LEFT, TOP + number * (PANEL + GAP));
    put_lines(d, &a);
    put_name(d, c->name);
    masu__buffer_printf(&d->out, "<text class=\"end\" x=\"%d\" y=\"-10\">last %.6g</text>\n<path class=\"line\" d=\"",
                        COLUMNS, last);
    put_points(d, c, &a);
    masu__buffer_puts(&d->out, "\"/>\n");
    if (count == 1 && isfinite(last))
        masu__buffer_printf(&d->out, "<circle class=\"dot\" cx=\"%.1f\" cy=\"%.1f\" r=\"3\"/>\n",
                            column_of(d, point_at(c, 0).step), row_of(&a, last));
    masu__buffer_puts(&d->out, "</g>\n");
}

static void put_steps(drawing *d, double y) {
    if (!(d->last > d->first)) {
        masu__buffer_printf(&d->out, "<text class=\"mid\" x=\"%d\" y=\"%.0f\">step %.0f</text>\n", LEFT + COLUMNS / 2,
                            y, d->first);
        return;
    }
    double step = round_step((d->last - d->first) / 6);
    step = step < 1 ? 1 : step;
    const double right = COLUMNS - 24; /* a number behind it would be cut off at the picture's edge */
    for (double at = ceil(d->first / step) * step; at <= d->last; at += step)
        masu__buffer_printf(&d->out, "<text class=\"%s\" x=\"%.1f\" y=\"%.0f\">%.0f</text>\n",
                            column_of(d, at) > right ? "end" : "mid", LEFT + column_of(d, at), y, at);
    masu__buffer_printf(&d->out, "<text class=\"end\" x=\"%d\" y=\"%.0f\">step</text>\n", LEFT + COLUMNS, y + 17);
}

static void draw(drawing *d) {
    size_t height = TOP + curve_count(d) * (PANEL + GAP) - GAP + BOTTOM;
    masu__buffer_printf(
        &d->out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %zu\" width=\"%d\" height=\"%zu\">\n"
        "<style>\n"
        "svg { background: #fff; font: 12px system-ui, sans-serif; fill: #444 }\n"
        ".grid { stroke: #ddd } .line { stroke: #1763b6; stroke-width: 1.5; fill: none; stroke-linejoin: round }\n"
        ".dot { fill: #1763b6 } .end { text-anchor: end } .mid { text-anchor: middle }\n"
        ".name { font-weight: 600; fill: #111 }\n"
        "@media (prefers-color-scheme: dark) { svg { background: #16181c; fill: #aaa } .grid { stroke: #333 }\n"
        ".line { stroke: #6db3f8 } .dot { fill: #6db3f8 } .name { fill: #eee } }\n"
        "</style>\n",
        WIDTH, height, WIDTH, height);
    for (size_t i = 0; i < curve_count(d); i++)
        put_panel(d, i);
    put_steps(d, (double)height - BOTTOM + 17);
    masu__buffer_puts(&d->out, "</svg>\n");
}

/* ---- all of it --------------------------------------------------------------------------------------------------- */

static int write_picture(drawing *d, const char *path) {
    const char *text = masu__buffer_text(&d->out);
    FILE *file = d->out.failed ? NULL : fopen(path, "w");
    bool written = file && fputs(text, file) >= 0;
    written = file && fclose(file) == 0 && written;
    if (!written)
        fprintf(stderr, "masu: cannot write the plot to %s: %s\n", path, d->out.failed ? "no memory" : strerror(errno));
    return written ? TOOL_OK : TOOL_FAILED;
}

static int draw_file(drawing *d, FILE *file, const char *log_path, const char *plot_path) {
    if (!read_values(d, file)) {
        fprintf(stderr, "masu: no memory for the values of %s\n", log_path);
        return TOOL_FAILED;
    }
    if (curve_count(d) == 0) {
        fprintf(stderr, "masu: no values in %s, so there is no plot\n", log_path);
        return TOOL_FAILED;
    }
    draw(d);
    return write_picture(d, plot_path);
}

int tool_write_plot(const char *log_path, const char *program, const char *plot_path) {
    char own[256];
    tl_values_path(log_path ? NULL : program, own, sizeof own);
    log_path = log_path ? log_path : own;
    drawing d = {.first = INFINITY, .last = -INFINITY};
    FILE *file = fopen(log_path, "r");
    int status = TOOL_FAILED;
    if (file)
        status = draw_file(&d, file, log_path, plot_path);
    else
        fprintf(stderr, "masu: no plot: log() wrote no values (%s: %s)\n", log_path, strerror(errno));
    if (file)
        fclose(file);
    for (size_t i = 0; i < curve_count(&d); i++)
        masu__buffer_destroy(&curve_at(&d, i)->points);
    masu__buffer_destroy(&d.curves);
    masu__buffer_destroy(&d.text);
    masu__buffer_destroy(&d.out);
    return status;
}
