/* compiler_main.c: masu-compiler, the part of the command that holds LLVM and BLAS: `masu run` and `masu build` become
 * it.
 *
 *     masu run FILE  ─► compiling.c ─► exec masu-compiler run FILE
 */
#include <stdio.h>
#include <string.h>

#include "tool/compiler/compiler.h"
#include "tool/native/run_end.h"
#include "tool/tool.h"

int main(int argc, char **argv) {
    tool_prepare_end();
    if (argc > 1 && strcmp(argv[1], "run") == 0)
        return tool_finish(tool_run_program(argc - 1, argv + 1));
    if (argc > 1 && strcmp(argv[1], "build") == 0)
        return tool_finish(tool_build_program(argc - 1, argv + 1));
    fputs("masu-compiler: a part of `masu`, which starts it\n", stderr);
    return TOOL_MISUSED;
}
