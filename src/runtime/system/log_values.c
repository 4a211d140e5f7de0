/* log_values.c: what a long run shows of itself: values by step in a CSV file, whether somebody looks, and whether it
 * is to end.
 *
 *     log("loss", x)   ─►   step,name,value,seconds
 *                           0,loss,2.3025,0.013
 *                           1,loss,2.2816,0.027
 *
 * The file is begun by the first value and holds whole lines at any moment. Steps are counted by name where none is
 * given.
 *
 * What must stay true:
 *     file = NULL  ⟺  nothing was logged yet
 */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "base/meta.h"
#include "runtime/state.h"
#include "runtime/system/log_values.h"
#include "runtime/value/objects.h"

typedef struct logged_name {
    struct logged_name *next;
    int64_t step; /* of the next value */
    size_t length;
    char text[];
} logged_name;

struct tl_values {
    FILE *file;
    logged_name *names;
};

/* ---- the file ---------------------------------------------------------------------------------------------------- */

void tl_values_path(const char *program, char *path, size_t size) {
    const char *slash = program ? strrchr(program, '/') : NULL;
    const char *name = slash ? slash + 1 : program ? program : "masu";
    const char *dot = strrchr(name, '.');
    int length = dot && dot > name ? (int)(dot - name) : (int)strlen(name);
    snprintf(path, size, "%.*s.log.csv", length < 200 ? length : 200, name);
}

static masu_status open_file(tl_runtime *rt) {
    char own[256];
    tl_values_path(rt->program, own, sizeof own);
    const char *path = rt->values_path ? rt->values_path : own;
    rt->values = masu__meta_calloc(1, sizeof *rt->values);
    if (!rt->values)
        return tl__error(TL_SAY(out_memory_for_text));
    rt->values->file = fopen(path, "we");
    if (!rt->values->file) {
        masu__meta_free(rt->values, sizeof *rt->values);
        rt->values = NULL;
        return tl__error(TL_SAY(values_file_cannot_be_opened), path, strerror(errno));
    }
    fputs("step,name,value,seconds\n", rt->values->file);
    return MASU_OK;
}

void tl__values_end(tl_runtime *rt) {
    struct tl_values *v = rt->values;
    if (!v)
        return;
    fclose(v->file);
    for (logged_name *n = v->names, *next; n; n = next) {
        next = n->next;
        masu__meta_free(n, sizeof *n + n->length);
    }
    masu__meta_free(v, sizeof *v);
    rt->values = NULL;
}

/* ---- a value ----------------------------------------------------------------------------------------------------- */

static logged_name *name_of(struct tl_values *v, const char *text, size_t length) {
    for (logged_name *n = v->names; n; n = n->next)
        if (n->length == length && memcmp(n->text, text, length) == 0)
            return n;
    logged_name *made = masu__meta_calloc(1, sizeof *made + length);
    if (!made)
        return NULL;
    made->length = length;
    memcpy(made->text, text, length);
    made->next = v->names;
    v->names = made;
    return made;
}

/* In quotes where it has what ends a field. */
static void put_name(FILE *file, const logged_name *n) {
    bool plain = true;
    for (size_t i = 0; i < n->length; i++)
        plain &= n->text[i] != ',' && n->text[i] != '"' && n->text[i] != '\n' && n->text[i] != '\r';
    if (!plain)
        putc('"', file);
    for (size_t i = 0; i < n->length; i++) {
        if (n->text[i] == '"')
            putc('"', file);
        putc(n->text[i], file);
    }
    if (!plain)
        putc('"', file);
}

static masu_status log_value(tl_runtime *rt, const tl_object *name, int64_t step, double value) {
    masu_status status = rt->values ? MASU_OK : open_file(rt);
    if (status != MASU_OK)
        return status;
    logged_name *n = name_of(rt->values, tl__string_bytes(name), (size_t)tl__string_length(name));
    if (!n)
        return tl__error(TL_SAY(out_memory_for_text));
    FILE *file = rt->values->file;
    step = step < 0 ? n->step : step;
    n->step = step < INT64_MAX ? step + 1 : step;
    fprintf(file, "%" PRId64 ",", step);
    put_name(file, n);
    fprintf(file, ",%.9g,%.3f\n", value, tl_system_time() - rt->start_epoch_seconds);
    return fflush(file) == 0 ? MASU_OK : tl__error(TL_SAY(values_file_cannot_be_written), strerror(errno));
}

/* step < 0: the one behind the last of this name. */
void tl_log_value(tl_object *name, int64_t step, double value) {
    if (log_value(tl__runtime(), name, step, value) != MASU_OK)
        tl__raise();
}

/* ---- who looks, and who calls it off ----------------------------------------------------------------------------- */

/* stream: 0 input, 1 output, 2 errors. */
bool tl_is_terminal(int64_t stream) {
    const tl_runtime *rt = tl__runtime();
    FILE *file = stream == 0 ? stdin : stream == 1 ? rt->out : rt->err;
    int descriptor = fileno(file);
    return descriptor >= 0 && isatty(descriptor);
}

static volatile sig_atomic_t interrupted;

static void note_interrupt(int signal) {
    (void)signal;
    interrupted = 1;
}

/* From the first call on the first interrupt only sets what the next calls say; the second ends the process as ever. */
bool tl_interrupted(void) {
    static bool listens;
    if (!listens) {
        struct sigaction action = {.sa_handler = note_interrupt, .sa_flags = (int)(SA_RESETHAND | SA_RESTART)};
        sigemptyset(&action.sa_mask);
        sigaction(SIGINT, &action, NULL);
        sigaction(SIGTERM, &action, NULL);
        listens = true;
    }
    return interrupted != 0;
}
