/* plot.h: the picture of what a run logged, for `masu run --plot` and for executables (MASU_PLOT). */
#ifndef MASU_TOOL_PLOT_H
#define MASU_TOOL_PLOT_H

/* Reads the file that log() wrote and draws its values by step as SVG. Says on standard error what went wrong. TOOL_OK
 * or TOOL_FAILED. log_path NULL: PROGRAM.log.csv, as the runtime names it. */
int tool_write_plot(const char *log_path, const char *program, const char *plot_path);

#endif
