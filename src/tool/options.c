/* options.c: reading command lines, and saying kindly what is wrong with them. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "tool/tool.h"

int tool_misuse(const char *command, const char *format, ...) {
    va_list arguments;
    fprintf(stderr, "masu %s: ", command);
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fprintf(stderr, "\nTry `masu %s --help`.\n", command);
    return TOOL_MISUSED;
}

/* ---- nearness ------------------------------------------------------------------------------------------------ */

enum { LONGEST_NAME = 63 };

static size_t smallest(size_t a, size_t b, size_t c) {
    size_t ab = a < b ? a : b;
    return ab < c ? ab : c;
}

/* Insertions, deletions and replacements that turn a into b. */
static size_t distance(const char *a, const char *b) {
    size_t row[LONGEST_NAME + 1], length = strlen(b);
    if (length > LONGEST_NAME)
        return LONGEST_NAME;
    for (size_t j = 0; j <= length; j++)
        row[j] = j;
    for (size_t i = 1; a[i - 1]; i++) {
        size_t diagonal = row[0];
        row[0] = i;
        for (size_t j = 1; j <= length; j++) {
            size_t above = row[j];
            row[j] = smallest(row[j - 1] + 1, above + 1, diagonal + (a[i - 1] != b[j - 1]));
            diagonal = above;
        }
    }
    return row[length];
}

const char *tool_nearest(const char *name, const char *const *known) {
    const char *best = NULL;
    size_t least = strlen(name) / 3 + 1;
    for (size_t i = 0; known[i]; i++) {
        size_t d = distance(name, known[i]);
        if (d <= least && (!best || d < least)) {
            best = known[i];
            least = d;
        }
    }
    return best;
}

int tool_unknown_option(const char *command, const char *argument, const char *const *known) {
    const char *near = tool_nearest(argument, known);
    if (near)
        return tool_misuse(command, "there is no option `%s`; did you mean `%s`?", argument, near);
    return tool_misuse(command, "there is no option `%s`", argument);
}

/* ---- values ---------------------------------------------------------------------------------------------------- */

const char *tool_option_value(const char *name, int argc, char **argv, int *index, bool *missing) {
    const char *argument = argv[*index];
    size_t length = strlen(name);
    if (strncmp(argument, name, length) != 0)
        return NULL;
    if (argument[length] == '=')
        return argument + length + 1;
    if (argument[length] != 0)
        return NULL;
    if (*index + 1 < argc)
        return argv[++*index];
    *missing = true;
    return NULL;
}

/* ---- options that compile ---------------------------------------------------------------------------------------- */

static const masu_pass_info *find_pass(const char *name) {
    size_t count;
    const masu_pass_info *passes = masu_passes(&count);
    for (size_t i = 0; i < count; i++)
        if (strcmp(passes[i].name, name) == 0)
            return &passes[i];
    return NULL;
}

static tool_option wrong(int ignored) {
    (void)ignored;
    return TOOL_OPTION_WRONG;
}

static tool_option disable(const char *command, const char *name, tool_compile_flags *flags) {
    const masu_pass_info *pass = find_pass(name);
    if (!pass)
        return wrong(tool_misuse(command, "--no-%s: there is no pass `%s`; see `masu help --passes`", name, name));
    if (!pass->optional)
        return wrong(tool_misuse(command, "--no-%s: the pass `%s` cannot be left out", name, name));
    if (flags->disabled_count == TOOL_MOST_NAMES)
        return wrong(tool_misuse(command, "too many --no-PASS options"));
    flags->disabled[flags->disabled_count++] = pass->name;
    return TOOL_OPTION_TAKEN;
}

static tool_option dump(const char *command, const char *what, tool_compile_flags *flags) {
    bool known = strcmp(what, "ir") == 0 || strcmp(what, "llvm") == 0 ||
                 (strncmp(what, "after:", 6) == 0 && find_pass(what + 6));
    if (!known)
        return wrong(
            tool_misuse(command, "--dump=%s: expected ir, llvm, or after:PASS; see `masu help --passes`", what));
    if (flags->dump_count == TOOL_MOST_NAMES)
        return wrong(tool_misuse(command, "too many --dump options"));
    flags->dumps[flags->dump_count++] = what;
    return TOOL_OPTION_TAKEN;
}

tool_option tool_compile_option(const char *command, const char *argument, tool_compile_flags *flags) {
    if (strcmp(argument, "--verify") == 0) {
        flags->verify = true;
        return TOOL_OPTION_TAKEN;
    }
    if (strcmp(argument, "-q") == 0 || strcmp(argument, "--quiet") == 0) {
        flags->quiet = true;
        return TOOL_OPTION_TAKEN;
    }
    if (strncmp(argument, "--no-", 5) == 0)
        return disable(command, argument + 5, flags);
    if (strncmp(argument, "--dump=", 7) == 0)
        return dump(command, argument + 7, flags);
    return TOOL_OPTION_UNKNOWN;
}

masu_compile_options tool_compile_options(const tool_compile_flags *flags, masu_stage until) {
    bool verify = flags->verify;
#ifdef MASU_HEAVY
    verify = true;
#endif
    return (masu_compile_options){.until = until,
                                  .disabled = flags->disabled,
                                  .disabled_count = flags->disabled_count,
                                  .dumps = flags->dumps,
                                  .dump_count = flags->dump_count,
                                  .verify = verify,
                                  .library = flags->library};
}
