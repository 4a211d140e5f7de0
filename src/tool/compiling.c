/* compiling.c: `masu run` and `masu build`: what they are is said here, the work is done by masu-compiler.
 *
 *     masu ─── check, explain, fmt, lsp, plan, …: starts in a millisecond
 *       └─ exec ─► masu-compiler (compiler/): LLVM's tables and BLAS, tens of megabytes that take their time to load
 *
 * The process stays the same one, so nothing that looks at it from outside sees a difference.
 */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "tool/tool.h"

static const char run_usage[] =
    "Usage: masu run [OPTIONS] FILE [ARGUMENTS]\n"
    "\n"
    "Compiles FILE (- is standard input) in memory and runs it. ARGUMENTS are the program's own: args_get(0), …\n"
    "Options go before or right after FILE; -- ends them.\n"
    "\n"
    "  --report            end with a report of what the program's memory did\n"
    "  --report=json       the same as one JSON object, on standard error unless --report-file says otherwise\n"
    "  --report-file FILE  where the report goes\n"
    "  --by-line           the JSON report also counts per source line\n"
    "  --history=N         warn of a history of N operations (10000): a loop that never detaches\n"
    "  --audit             before every operation, compare what is alive with what is needed\n"
    "  --seed N            start of the random numbers (default 8); equal seeds, equal runs\n"
    "  --log FILE          where log(\"name\", x) writes (default PROGRAM.log.csv)\n"
    "  --trace FILE        records what tensors and frames do, for `masu report`; also MASU_TRACE=FILE\n"
    "  --trace-all         lists, strings and history, too; also MASU_TRACE_ALL=1\n"
    "  --publish[=FILE]    a page that `masu top` shows while the program runs; also MASU_PUBLISH=1 or "
    "MASU_PUBLISH=FILE\n"
    "  --plot FILE.svg     draws what was logged when the program ends\n"
    "  --no-PASS           leave an optional pass out (masu help --passes lists them)\n"
    "  --dump=WHAT         print ir, llvm, or after:PASS before running\n"
    "  -q, --quiet         no warnings when there are no errors\n"
    "  --verify            check the compiler's work after every pass\n"
    "  --help              this text\n"
    "\n"
    "Exit status: 0 fine, 1 the program is wrong or failed, 2 used wrongly.\n";

static const char build_usage[] =
    "Usage: masu build [OPTIONS] FILE -o EXE\n"
    "       masu build --shared [OPTIONS] FILE -o LIB.so [--header FILE.h]\n"
    "       masu build --c [OPTIONS] FILE -o FILE.c --header FILE.h [--arena CALLS]\n"
    "                      [--weights NAME=FILE.safetensors]...\n"
    "\n"
    "Compiles FILE into the executable EXE with the system's C compiler as linker ($CC, else cc).\n"
    "EXE prints what `masu run FILE` prints; its command line is the program's own. The environment\n"
    "variables MASU_REPORT (text or json), MASU_REPORT_FILE, MASU_SEED, MASU_HISTORY, MASU_TRACE and\n"
    "MASU_PUBLISH replace the\n"
    "options of run.\n"
    "\n"
    "With --shared, LIB.so has each `pub fn` of FILE for callers in C, and FILE.h declares them: docs/embedding.md.\n"
    "With --c, FILE.c has them as plain C11, for the shapes that CALLS says: no library, no memory of the system's.\n"
    "\n"
    "  -o EXE            the executable, or the library\n"
    "  --shared          a library of functions; FILE needs no main\n"
    "  --c               functions as plain C for microcontrollers; FILE needs no main\n"
    "  --header FILE.h   with --shared or --c: a header with typed functions\n"
    "  --arena CALLS     with --header: the size of an arena in which these calls can be made, which is found by "
    "making\n"
    "                    them: \"m = Net::new(3, 2); Net::forward(m, [8, 3])\". With --c: which functions are "
    "written,\n"
    "                    for which shapes and numbers; _ is any number\n"
    "  --weights NAME=FILE.safetensors\n"
    "                    with --c: the fields of the struct NAME, or of what CALLS names so, as constants of FILE.c;\n"
    "                    FILE has a tensor for each field, by its name\n"
    "  --name NAME       with --shared or --c: what names in C begin with (default: that of the header or library)\n"
    "  --library FILE    the program library (default: libmasu_program.a beside this command or in\n"
    "                    its prefix)\n"
    "  --by-line         its JSON report also counts per source line\n"
    "  --no-PASS         leave an optional pass out (masu help --passes lists them)\n"
    "  --dump=WHAT       print ir, llvm, or after:PASS\n"
    "  -q, --quiet       no warnings when there are no errors\n"
    "  --verify          check the compiler's work after every pass\n"
    "  --help            this text\n"
    "\n"
    "Exit status: 0 fine, 1 the program is wrong or cannot be linked, 2 used wrongly.\n";

static int become_compiler(int argc, char **argv) {
    enum { PATH_BYTES = 4096 };
    static const char name[] = "masu-compiler";
    char path[PATH_BYTES];
    (void)argc;
    if (!tool_find_file(name, MASU_COMPILER_FOLDER, path, sizeof path)) {
        fprintf(stderr, "masu %s: %s is missing: it lies beside this command or in ../%s\n", argv[0], name,
                MASU_COMPILER_FOLDER);
        return TOOL_FAILED;
    }
    execv(path, argv - 1); /* argv[-1] is the command's name: main hands on what is behind it */
    fprintf(stderr, "masu %s: cannot start %s: %s\n", argv[0], path, strerror(errno));
    return TOOL_FAILED;
}

const tool_command tool_run = {"run", "compile a program in memory and run it", run_usage, become_compiler};
const tool_command tool_build = {"build", "make an executable", build_usage, become_compiler};
