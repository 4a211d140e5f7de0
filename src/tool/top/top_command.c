/* top_command.c: `masu top`: which program, and where its numbers go. */
#include "tool/top/top.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/publish.h"
#include "tool/tool.h"

static const char usage[] =
    "Usage: masu top [OPTIONS] [PID|FILE]\n"
    "\n"
    "Shows what the memory of a running program does, as it happens. The program publishes a page when it is asked "
    "to:\n"
    "`masu run --publish`, or MASU_PUBLISH=1 in the environment of an executable of `masu build`, of a program under\n"
    "libmasu-malloc.so, or of one that calls masu_publish_from_environment. FILE is such a page. Without PID and FILE: "
    "the one\n"
    "program that publishes, or a list of them.\n"
    "\n"
    "  --once           one look as text, and the end\n"
    "  --text           lines instead of a screen, as where standard output is not a terminal\n"
    "  --interval MS    time between looks, in milliseconds (default 500)\n"
    "  --count N        so many looks; without it until the program ends, or for ever on a screen\n"
    "  --help           this text\n"
    "\n"
    "Keys: q ends, space stops and goes on, l shows the levels of each heap or not, + and - change the interval.\n"
    "\n"
    "Exit status: 0; 1 when there is no such program or its page cannot be read; 2 when the command line is wrong.\n";

/* ---- which page -------------------------------------------------------------------------------------------------- */

static const char *folder_at(unsigned i) {
    const char *own = getenv("XDG_RUNTIME_DIR");
    bool has_own = own && *own && strcmp(own, MASU__PAGE_FOLDER) != 0;
    return i == 0 ? (has_own ? own : MASU__PAGE_FOLDER) : i == 1 && has_own ? MASU__PAGE_FOLDER : NULL;
}

static bool find_process(uint64_t process, char path[MASU__PAGE_PATH_BYTES]) {
    for (unsigned i = 0; folder_at(i); i++)
        if (masu__page_path(path, folder_at(i), process) && access(path, F_OK) == 0)
            return true;
    return false;
}

/* Of pages whose program lives, the last; how many there are; each is printed when out is there. A page of a dead
 * program is removed where that is allowed. */
static unsigned find_running(char path[MASU__PAGE_PATH_BYTES], FILE *out) {
    static top_page page;
    unsigned found = 0;
    const char *why;
    for (unsigned i = 0; folder_at(i); i++) {
        DIR *folder = opendir(folder_at(i));
        const struct dirent *entry;
        while (folder && (entry = readdir(folder))) {
            char candidate[MASU__PAGE_PATH_BYTES], end[8];
            unsigned long long process;
            if (sscanf(entry->d_name, "masu-%llu.%5s", &process, end) != 2 || strcmp(end, "page") != 0 ||
                !masu__page_path(candidate, folder_at(i), process) || top_page_read(candidate, &page, &why) != TOP_READ)
                continue;
            if (masu__process_start(process) == 0) {
                (void)unlink(candidate);
                continue;
            }
            found++;
            strcpy(path, candidate);
            if (out)
                fprintf(out, "%8llu  %s\n", process, page.head.program);
        }
        if (folder)
            closedir(folder);
    }
    return found;
}

static int find_only(char path[MASU__PAGE_PATH_BYTES]) {
    unsigned found = find_running(path, NULL);
    if (found == 1)
        return TOOL_OK;
    if (found == 0) {
        fprintf(stderr,
                "masu top: no program publishes its memory: start one with `masu run --publish` or MASU_PUBLISH=1\n");
        return TOOL_FAILED;
    }
    fprintf(stderr, "masu top: which of these programs?\n");
    (void)find_running(path, stderr);
    return TOOL_FAILED;
}

static int find_page(const char *which, char path[MASU__PAGE_PATH_BYTES]) {
    if (!which)
        return find_only(path);
    if (strlen(which) >= MASU__PAGE_PATH_BYTES) {
        fprintf(stderr, "masu top: the path is too long\n");
        return TOOL_FAILED;
    }
    bool is_number = which[strspn(which, "0123456789")] == 0 && strlen(which) < 20;
    if (!is_number || access(which, F_OK) == 0) {
        strcpy(path, which);
        return TOOL_OK;
    }
    uint64_t process = strtoull(which, NULL, 10);
    if (find_process(process, path))
        return TOOL_OK;
    if (masu__process_start(process) == 0)
        fprintf(stderr, "masu top: there is no process %s\n", which);
    else
        fprintf(stderr,
                "masu top: process %s publishes nothing: start it with `masu run --publish`, or with MASU_PUBLISH=1\n",
                which);
    return TOOL_FAILED;
}

/* ---- the command line -------------------------------------------------------------------------------------------- */

static bool read_number(const char *text, uint64_t least, uint64_t most, uint64_t *out) {
    char *end;
    if (*text < '0' || *text > '9' || strlen(text) > 18)
        return false;
    *out = strtoull(text, &end, 10);
    return *end == 0 && *out >= least && *out <= most;
}

static int parse(int argc, char **argv, top_options *options) {
    static const char *const known[] = {"--once", "--text", "--interval", "--count", "--help", NULL};
    const char *value;
    bool once = false;
    for (int i = 1; i < argc; i++) {
        bool missing = false;
        uint64_t number;
        if (strcmp(argv[i], "--once") == 0) {
            options->as_text = true;
            once = true;
        } else if (strcmp(argv[i], "--text") == 0) {
            options->as_text = true;
        } else if ((value = tool_option_value("--interval", argc, argv, &i, &missing))) {
            if (!read_number(value, 10, 3600 * 1000, &number))
                return tool_misuse("top", "--interval: `%s` is not a number of milliseconds from 10 to 3,600,000",
                                   value);
            options->interval_ms = (unsigned)number;
        } else if (!missing && (value = tool_option_value("--count", argc, argv, &i, &missing))) {
            if (!read_number(value, 1, UINT32_MAX, &options->looks))
                return tool_misuse("top", "--count: `%s` is not a number of looks", value);
        } else if (missing) {
            return tool_misuse("top", "%s: a value is missing", argv[i]);
        } else if (argv[i][0] == '-' && argv[i][1]) {
            return tool_unknown_option("top", argv[i], known);
        } else if (options->path) {
            return tool_misuse("top", "one program at a time, not `%s` as well", argv[i]);
        } else {
            options->path = argv[i];
        }
    }
    if (once && options->looks)
        return tool_misuse("top", "--once is one look: leave --count out");
    options->looks += once;
    return TOOL_OK;
}

static int run(int argc, char **argv) {
    static char path[MASU__PAGE_PATH_BYTES];
    static top_look look;
    top_options options = {.interval_ms = 500};
    const char *why;
    int status = parse(argc, argv, &options);
    if (status == TOOL_OK)
        status = find_page(options.path, path);
    if (status != TOOL_OK)
        return status;
    look.path = path;
    if (!top_look_at(&look, &why)) {
        fprintf(stderr, "masu top: %s: %s\n", path, why);
        return TOOL_FAILED;
    }
    return options.as_text || !isatty(STDOUT_FILENO) ? top_text(&look, &options) : top_screen(&look, &options);
}

const tool_command tool_top = {"top", "watch the memory of a running program", usage, run};
