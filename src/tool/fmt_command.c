/* fmt_command.c: `masu fmt`: lays source files out, in place. */
#include <stdio.h>
#include <string.h>

#include "tool/tool.h"

static const char usage[] =
    "Usage: masu fmt [--check] FILE…\n"
    "\n"
    "Lays the files out: indentation, blanks between words, at most one empty line in a row. Line breaks and\n"
    "comments stay. Files are rewritten in place; - reads standard input and writes standard output.\n"
    "\n"
    "  --check   write nothing; name the files that would change\n"
    "  --help    this text\n"
    "\n"
    "Exit status: 0 fine, 1 a file cannot be read as a program or (--check) would change, 2 used wrongly.\n";

static const char *const known[] = {"--check", "--help", NULL};

static int write_back(const char *path, const masu_text *text) {
    bool standard = strcmp(path, "-") == 0;
    FILE *file = standard ? stdout : fopen(path, "wb");
    bool good = file && fwrite(text->data, 1, text->length, file) == text->length;
    if (file && !standard)
        good &= fclose(file) == 0;
    if (good)
        return TOOL_OK;
    fprintf(stderr, "masu: cannot write %s\n", path);
    return TOOL_FAILED;
}

static int settle(const char *path, const tool_text *before, const masu_text *after, bool check) {
    bool same = before->length == after->length &&
                (after->length == 0 || memcmp(before->data, after->data, after->length) == 0);
    if (check) {
        if (!same)
            printf("%s\n", path);
        return same ? TOOL_OK : TOOL_FAILED;
    }
    return same && strcmp(path, "-") != 0 ? TOOL_OK : write_back(path, after);
}

static int format_file(const char *path, bool check) {
    tool_text text;
    masu_text formatted = {0}, said = {0};
    if (!tool_read(path, &text))
        return TOOL_FAILED;
    const char *shown = strcmp(path, "-") == 0 ? "<stdin>" : path;
    masu_status status = masu_format(shown, text.data, text.length, &formatted, &said);
    int result = TOOL_FAILED;
    if (status == MASU_OK)
        result = settle(path, &text, &formatted, check);
    else if (said.data)
        fputs(said.data, stderr);
    else
        fprintf(stderr, "masu: %s: %s\n", shown, masu_status_text(status));
    masu_text_free(&formatted);
    masu_text_free(&said);
    tool_text_free(&text);
    return result;
}

static int run(int argc, char **argv) {
    bool check = false;
    int files = 0, status = TOOL_OK;
    for (int i = 1; i < argc; i++)
        if (argv[i][0] != '-' || argv[i][1] == 0)
            argv[files++] = argv[i];
        else if (strcmp(argv[i], "--check") == 0)
            check = true;
        else
            return tool_unknown_option("fmt", argv[i], known);
    if (files == 0)
        return tool_misuse("fmt", "which file?");
    for (int i = 0; i < files; i++)
        if (format_file(argv[i], check) != TOOL_OK)
            status = TOOL_FAILED;
    return tool_finish(status);
}

const tool_command tool_fmt = {"fmt", "lay source files out", usage, run};
