/* screen.c: `masu top` in a terminal, through ncurses. Every line is drawn whole at every look; ncurses sends what
 * differs. */
#define NCURSES_WIDECHAR 1
#include "tool/top/top.h"

#include <curses.h>
#include <langinfo.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>

#include "tool/tool.h"

enum { TITLE = 1, LIVE, HELD, FAINT, ALARM }; /* pairs of colours */
enum { LEAST_COLUMNS = 20, PLOT_LEFT = 11, PLOT_MOST_LINES = 12, SLOWEST_MS = 60 * 1000, FASTEST_MS = 10 };

typedef struct view {
    top_look *look;
    unsigned interval_ms;
    bool is_stopped, with_levels, is_unicode;
} view;

static void add_cut(int line, int column, const char *text) {
    if (line < LINES && column < COLS)
        mvaddnstr(line, column, text, COLS - column);
}

static void add_right(int line, int end, const char *text) {
    int length = (int)strlen(text);
    if (end <= COLS && end >= length)
        add_cut(line, end - length, text);
}

/* ---- the head ---------------------------------------------------------------------------------------------------- */

static int draw_head(const view *v) {
    const top_look *look = v->look;
    const top_page *page = &look->page;
    char line[512], w[3][TOP_WORDS];
    bool is_well = look->life == TOP_RUNS;
    attron(COLOR_PAIR(TITLE) | A_BOLD);
    snprintf(line, sizeof line, "%s", page->head.program[0] ? page->head.program : "(no name)");
    add_cut(0, 0, line);
    attroff(COLOR_PAIR(TITLE) | A_BOLD);
    snprintf(line, sizeof line, "process %llu, %s since it began, every %u ms%s",
             (unsigned long long)page->head.process, top_span_text(page->now.time_ns, w[0]), v->interval_ms,
             v->is_stopped ? ", stopped here: space goes on" : "");
    add_cut(1, 0, line);
    attron(is_well ? A_NORMAL : (COLOR_PAIR(ALARM) | A_BOLD));
    snprintf(line, sizeof line, "%s%s", top_life_text(look->life), look->torn > 2 ? ", its page half written" : "");
    add_cut(2, 0, line);
    attroff(is_well ? A_NORMAL : (COLOR_PAIR(ALARM) | A_BOLD));
    if (look->resident_bytes) {
        snprintf(line, sizeof line, "%s resident, at most %s", top_bytes_text(look->resident_bytes, w[1]),
                 top_bytes_text(look->resident_peak_bytes, w[2]));
        add_right(2, COLS, line);
    }
    return 4;
}

/* ---- the plot ---------------------------------------------------------------------------------------------------- */

static uint64_t most_of(const uint64_t *values, unsigned from, unsigned to) {
    uint64_t most = 0;
    for (unsigned i = from; i < to; i++)
        most = values[i] > most ? values[i] : most;
    return most;
}

/* How much of the cell of this line, 0 below, a column of this height fills: 0 to 8 eighths. */
static unsigned eighths(uint64_t value, uint64_t most, int lines, int line) {
    double filled = most > 0 ? (double)value / (double)most * lines * 8 - line * 8.0 : 0;
    return filled <= 0 ? 0 : filled >= 8 ? 8 : (unsigned)filled;
}

static void draw_cell(const view *v, int line, int column, unsigned live, unsigned held) {
    static const wchar_t blocks[] = L" \u2581\u2582\u2583\u2584\u2585\u2586\u2587\u2588";
    bool is_live = live > 0;
    unsigned filled = is_live ? live : held;
    if (filled == 0)
        return;
    attron(COLOR_PAIR(is_live ? LIVE : HELD));
    if (!v->is_unicode)
        mvaddch(line, column, is_live ? '#' : '.');
    else
        mvaddnwstr(line, column, is_live ? &blocks[filled] : L"\u2591", 1);
    attroff(COLOR_PAIR(is_live ? LIVE : HELD));
}

/* One column a look, the newest at the right. What is live is below, what is held beyond it is dotted. */
static int draw_plot(const view *v, int top, int lines) {
    const top_look *look = v->look;
    int columns = COLS - PLOT_LEFT - 1;
    if (lines < 3 || columns < 4)
        return top;
    unsigned shown = look->history < (unsigned)columns ? look->history : (unsigned)columns;
    unsigned from = look->history - shown;
    uint64_t most = most_of(look->reserved, from, look->history);
    uint64_t most_live = most_of(look->live, from, look->history);
    most = most > most_live ? most : most_live;
    char line[128], w[2][TOP_WORDS];
    snprintf(line, sizeof line, "live %s of %s held, the last %u looks",
             top_bytes_text(look->live[look->history - 1], w[0]),
             top_bytes_text(look->reserved[look->history - 1], w[1]), shown);
    add_cut(top, PLOT_LEFT, line);
    attron(COLOR_PAIR(FAINT));
    add_right(top + 1, PLOT_LEFT - 1, top_bytes_text(most, w[0]));
    add_right(top + lines, PLOT_LEFT - 1, "0 B");
    for (int i = 0; i < lines; i++)
        add_cut(top + 1 + i, PLOT_LEFT, "|");
    attroff(COLOR_PAIR(FAINT));
    for (unsigned i = 0; i < shown; i++)
        for (int k = 0; k < lines; k++)
            draw_cell(v, top + lines - k, PLOT_LEFT + 1 + columns - (int)shown + (int)i,
                      eighths(look->live[from + i], most, lines, k), eighths(look->reserved[from + i], most, lines, k));
    return top + lines + 2;
}

/* ---- the table --------------------------------------------------------------------------------------------------- */

typedef struct column {
    const char *head;
    int width;
} column;
static const column columns[] = {{"live", 10}, {"reserved", 11}, {"peak", 10},  {"idle", 10},  {"allocs/s", 10},
                                 {"hits", 9},  {"blocks", 8},    {"slack", 10}, {"refused", 9}};
enum { NAME_COLUMNS = 22, COLUMNS = sizeof columns / sizeof *columns };

static void cell_text(const top_row *row, unsigned which, char out[TOP_WORDS]) {
    const masu_stats_level *l = row->level;
    const uint64_t bytes[] = {l->live_bytes, l->reserved_bytes, l->peak_live_bytes, l->idle_bytes};
    if (which < 4)
        (void)top_bytes_text(bytes[which], out);
    else if (which == 4)
        row->rates ? (void)top_count_text(row->rates->allocations, out) : (void)(out[0] = 0);
    else if (which == 5)
        (void)top_share_text(l->hits, l->allocations, out);
    else if (which == 7)
        (void)top_bytes_text(l->slack_bytes, out);
    else
        (void)top_count_text((double)(which == 6 ? l->live_blocks : l->refusals), out);
}

/* As many columns as there is room for, the most telling first. */
static void draw_row(int line, const top_row *row) {
    char name[NAME_COLUMNS + 1], text[TOP_WORDS];
    if (row && !row->is_level)
        attron(A_BOLD);
    snprintf(name, sizeof name, "%s%s", row && row->is_level ? "  " : "", row ? row->name : "pool");
    add_cut(line, 0, name);
    if (row && !row->is_level)
        attroff(A_BOLD);
    int end = NAME_COLUMNS;
    for (unsigned i = 0; i < COLUMNS && (end += columns[i].width) <= COLS; i++) {
        if (row)
            cell_text(row, i, text);
        if (row && i == COLUMNS - 1 && row->level->refusals > 0)
            attron(COLOR_PAIR(ALARM));
        add_right(line, end, row ? text : columns[i].head);
        attroff(COLOR_PAIR(ALARM));
    }
}

static void draw(const view *v) {
    top_row rows[TOP_MOST_ROWS];
    unsigned count = top_rows(v->look, v->with_levels, rows);
    erase();
    int line = draw_head(v);
    int room = LINES - line - (int)count - 5;
    line = draw_plot(v, line, room < PLOT_MOST_LINES ? room : PLOT_MOST_LINES);
    attron(A_UNDERLINE);
    draw_row(line++, NULL);
    attroff(A_UNDERLINE);
    unsigned i = 0;
    for (; i < count && line < LINES - 1; i++)
        draw_row(line++, &rows[i]);
    char left[64];
    snprintf(left, sizeof left, "lines that do not fit: %u. Make the window higher, or press l", count - i);
    attron(COLOR_PAIR(FAINT));
    add_cut(LINES - 1, 0, i < count ? left : "q ends  space stops  l levels  + - interval");
    attroff(COLOR_PAIR(FAINT));
    refresh();
}

/* ---- keys -------------------------------------------------------------------------------------------------------- */

static void begin(view *v) {
    v->is_unicode = strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
    cbreak();
    noecho();
    curs_set(0);
    keypad(stdscr, TRUE);
    if (!has_colors())
        return;
    start_color();
    use_default_colors();
    init_pair(TITLE, COLOR_CYAN, -1);
    init_pair(LIVE, COLOR_GREEN, -1);
    init_pair(HELD, COLOR_BLUE, -1);
    init_pair(FAINT, -1, -1);
    init_pair(ALARM, COLOR_RED, -1);
}

/* False: it is over. */
static bool take_key(view *v, int key) {
    if (key == 'q' || key == 'Q' || key == 3)
        return false;
    if (key == ' ')
        v->is_stopped = !v->is_stopped;
    if (key == 'l')
        v->with_levels = !v->with_levels;
    if (key == '+' && v->interval_ms < SLOWEST_MS)
        v->interval_ms *= 2;
    if (key == '-' && v->interval_ms / 2 >= FASTEST_MS)
        v->interval_ms /= 2;
    return true;
}

int top_screen(top_look *look, const top_options *options) {
    view v = {.look = look, .interval_ms = options->interval_ms, .with_levels = true};
    const char *why, *terminal = getenv("TERM");
    setlocale(LC_ALL, "");
    SCREEN *screen = newterm(NULL, stdout, stdin);
    if (!screen) {
        fprintf(stderr, "masu top: the terminal `%s` is not known here: --text needs none\n", terminal ? terminal : "");
        return TOOL_FAILED;
    }
    begin(&v);
    for (uint64_t looks = 1;; looks++) {
        draw(&v);
        if (options->looks > 0 && looks >= options->looks)
            break;
        timeout((int)v.interval_ms);
        int key = getch();
        if (key == KEY_RESIZE || key == ERR)
            key = 0;
        if (!take_key(&v, key))
            break;
        if (!v.is_stopped && key == 0)
            (void)top_look_at(look, &why);
    }
    endwin();
    delscreen(screen);
    return TOOL_OK;
}
