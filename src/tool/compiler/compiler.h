/* compiler.h: the commands that need LLVM, in the program masu-compiler (compiling.c starts it). */
#ifndef MASU_TOOL_COMPILER_H
#define MASU_TOOL_COMPILER_H

/* argv[0] is the subcommand's name; an exit status of tool.h. */
int tool_run_program(int argc, char **argv);
int tool_build_program(int argc, char **argv);

#endif
