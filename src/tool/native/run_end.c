/* run_end.c: see run_end.h. */
#include "tool/native/run_end.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/meta.h"
#include "tool/tool.h"

bool tool_number(const char *text, uint64_t *out) {
    char *end;
    errno = 0;
    unsigned long long value = strtoull(text, &end, 10);
    *out = value;
    return text[0] >= '0' && text[0] <= '9' && *end == 0 && errno == 0;
}

void tool_arm_failure(void) {
    const char *text = getenv("MASU_FAIL_AT");
    uint64_t n;
    if (text && tool_number(text, &n))
        masu__fault_arm(n);
}

int tool_write_report(tl_runtime *rt, const tool_report_options *options) {
    tl_report report;
    tl_runtime_get_report(rt, &report);
    FILE *out = options->form == TOOL_REPORT_JSON ? stderr : stdout;
    if (options->path && !(out = fopen(options->path, "w"))) {
        fprintf(stderr, "masu: cannot write the report to %s: %s\n", options->path, strerror(errno));
        return TOOL_FAILED;
    }
    if (options->form == TOOL_REPORT_JSON)
        tl_report_print_json_lines(&report, options->lines, options->line_count, out);
    else
        tl_report_print(&report, out);
    bool written = !ferror(out);
    if (options->path)
        written = fclose(out) == 0 && written;
    if (written)
        return TOOL_OK;
    fprintf(stderr, "masu: the report could not be written\n");
    return TOOL_FAILED;
}

masu_run_error tool_run_error(const tl_error *error) {
    const tl_error_kind *kind = tl_error_kind_of(error->row);
    masu_run_error shown = {
        .message = error->text,
        .help = kind ? kind->help : NULL,
        .sites = error->sites,
        .site_count = error->site_count,
        .omitted = error->frames_omitted,
        .related_site = error->related_site,
        .related_text = error->related_text,
        .is_quoted = kind && kind->is_quoted,
        .is_said = kind && kind->is_said,
        .name_length = error->name_length,
    };
    for (int k = 0; k < 2; k++) {
        shown.shapes[k].at = error->shapes[k].at;
        shown.shapes[k].length = error->shapes[k].length;
    }
    return shown;
}

const char *tool_history_text(uint32_t operations, char text[128]) {
    snprintf(text, 128, "the history behind this is %u operations long and kept for `backward`: `detach()` cuts it off",
             operations);
    return text;
}

/* ---- the end of the process ------------------------------------------------------------------------------------- */

extern void openblas_set_num_threads(int) __attribute__((weak)); /* another BLAS has no such function */

static void leave(int status, void *unused) {
    (void)unused;
    fflush(NULL);
    _exit(status);
}

void tool_prepare_end(void) {
    const uint64_t mebi = UINT64_C(1) << 20;
    struct rlimit addresses;
    if (getrlimit(RLIMIT_AS, &addresses) != 0 || addresses.rlim_cur == RLIM_INFINITY)
        return;
    (void)on_exit(leave, NULL);
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    if (openblas_set_num_threads &&
        addresses.rlim_cur < 1024 * mebi + 64 * mebi * (uint64_t)(processors > 0 ? processors : 1))
        openblas_set_num_threads(1);
}
