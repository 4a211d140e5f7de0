/* plan_options.c: the command line of `masu plan`, each option's value and which go together. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tool/plan/plan_options.h"
#include "tool/tool.h"
#include "tool/whole_files.h"

static const char *const known[] = {
    "--minimize", "--capacity",    "--time",      "--output",    "--svg",     "--check",   "--compare",   "--memory",
    "--ops",      "--in-place",    "--reorder",   "--alignment", "--seed",    "--threads", "--quiet",     "--help",
    "--verify",   "--write-model", "--header",    "--dim",       "--scratch", "--json",    "--csv",       "--device",
    "--moves",    "--channel",     "--move-cost", "--pin",       "--home",    "--reserve", "--constants", NULL};

/* ---- numbers on the command line ------------------------------------------------------------- */

static bool parse_bytes(const char *text, uint64_t *out) {
    char *end;
    if (*text < '0' || *text > '9')
        return false;
    errno = 0;
    unsigned long long value = strtoull(text, &end, 10);
    const char *units = "KMG";
    const char *unit = *end ? strchr(units, *end) : NULL;
    for (const char *u = units; unit && u <= unit; u++)
        if (__builtin_mul_overflow(value, 1024ull, &value))
            return false;
    end += unit != NULL;
    if (errno || *end || value == 0 || value > (uint64_t)1 << 62)
        return false;
    *out = value;
    return true;
}

static bool parse_number(const char *text, uint64_t *out) {
    char *end;
    errno = 0;
    *out = strtoull(text, &end, 10);
    return *text >= '0' && *text <= '9' && !*end && !errno;
}

static bool parse_seconds(const char *text, double *out) {
    char *end;
    *out = strtod(text, &end);
    return end != text && !*end && *out > 0 && *out < 1e9;
}

/* :latency=N or :bandwidth=N behind a memory. */
static bool parse_weight(const char *text, size_t length, plan_memory_option *m) {
    char value[32];
    bool is_latency = length > 8 && strncmp(text, "latency=", 8) == 0,
         is_bandwidth = length > 10 && strncmp(text, "bandwidth=", 10) == 0;
    size_t skip = is_latency ? 8 : 10;
    if ((!is_latency && !is_bandwidth) || length - skip >= sizeof value)
        return false;
    memcpy(value, text + skip, length - skip);
    value[length - skip] = 0;
    m->has_latency = is_latency;
    if (is_latency)
        return parse_number(value, &m->latency) && m->latency <= 1 << 20;
    return parse_bytes(value, &m->bandwidth);
}

/* NAME[=BYTES][:latency=N | :bandwidth=N]. A name alone: without limit. */
static bool parse_one_memory(const char *text, size_t length, plan_arguments *a) {
    const char *colon = memchr(text, ':', length), *end = text + length, *head = colon ? colon : end;
    const char *equals = memchr(text, '=', (size_t)(head - text));
    size_t name = (size_t)((equals ? equals : head) - text);
    char bytes[32] = {0};
    if (a->memory_count == PLAN_MOST_MEMORIES || name == 0 || name >= PLAN_NAME_BYTES)
        return false;
    plan_memory_option *m = &a->memories[a->memory_count];
    *m = (plan_memory_option){.capacity_bytes = 0};
    memcpy(m->name, text, name);
    for (const char *c = m->name; *c; c++)
        if (strchr(" \"\t", *c))
            return false;
    for (size_t i = 0; i < a->memory_count; i++)
        if (strcmp(a->memories[i].name, m->name) == 0)
            return false;
    if (equals && (size_t)(head - equals) > sizeof bytes)
        return false;
    if (equals)
        memcpy(bytes, equals + 1, (size_t)(head - equals - 1));
    if ((equals && !parse_bytes(bytes, &m->capacity_bytes)) ||
        (colon && !parse_weight(colon + 1, (size_t)(end - colon - 1), m)))
        return false;
    a->memory_count++;
    return true;
}

static bool parse_memory(const char *text, plan_arguments *a) {
    for (;;) {
        const char *comma = strchrnul(text, ',');
        if (!parse_one_memory(text, (size_t)(comma - text), a))
            return false;
        if (!*comma)
            return true;
        text = comma + 1;
    }
}

static size_t find_memory(const plan_arguments *a, const char *name, size_t length) {
    for (size_t m = 0; m < a->memory_count; m++)
        if (strlen(a->memories[m].name) == length && memcmp(a->memories[m].name, name, length) == 0)
            return m;
    return SIZE_MAX;
}

/* BUFFER=MEMORY */
static bool parse_pin(const char *text, bool is_home, plan_arguments *a) {
    const char *equals = strrchr(text, '=');
    if (a->pin_count == PLAN_MOST_PINS || !equals || equals == text || equals - text >= PLAN_MOST_CALLED)
        return false;
    plan_pin_option *pin = &a->pins[a->pin_count++];
    memcpy(pin->name, text, (size_t)(equals - text));
    pin->name[equals - text] = 0;
    pin->is_home = is_home;
    pin->memory = find_memory(a, equals + 1, strlen(equals + 1));
    return pin->memory != SIZE_MAX;
}

/* MEMORY=FROM..TO */
static bool parse_reserve(const char *text, plan_arguments *a) {
    const char *equals = strrchr(text, '='), *dots = equals ? strstr(equals, "..") : NULL;
    char from[32] = {0};
    if (a->reserve_count == PLAN_MOST_PINS || !dots || dots - equals < 2 || (size_t)(dots - equals) > sizeof from)
        return false;
    plan_reserve_option *r = &a->reserves[a->reserve_count++];
    memcpy(from, equals + 1, (size_t)(dots - equals - 1));
    r->memory = find_memory(a, text, (size_t)(equals - text));
    bool is_zero = strcmp(from, "0") == 0;
    r->from = 0;
    return r->memory != SIZE_MAX && (is_zero || parse_bytes(from, &r->from)) && parse_bytes(dots + 2, &r->to) &&
           r->from < r->to;
}

static int by_place(const void *a, const void *b) {
    const plan_reserve_option *x = a, *y = b;
    return x->memory != y->memory ? (x->memory < y->memory ? -1 : 1) : (x->from > y->from) - (x->from < y->from);
}

/* Ranges that overlap or touch are one: as rows of the plan they would be in each other's way. */
static void join_reserves(plan_arguments *a) {
    size_t kept = 0;
    if (a->reserve_count > 1)
        qsort(a->reserves, a->reserve_count, sizeof *a->reserves, by_place);
    for (size_t i = 0; i < a->reserve_count; i++) {
        plan_reserve_option *r = &a->reserves[i], *last = kept > 0 ? &a->reserves[kept - 1] : NULL;
        if (!last || last->memory != r->memory || last->to < r->from)
            a->reserves[kept++] = *r;
        else if (last->to < r->to)
            last->to = r->to;
    }
    a->reserve_count = kept;
}

/* When all memories are known. */
static int parse_pins(plan_arguments *a) {
    if (a->constants_text)
        a->constants = find_memory(a, a->constants_text, strlen(a->constants_text));
    if (a->constants_text && a->constants == SIZE_MAX)
        return tool_misuse("plan", "--constants %s: expected a memory that --memory names", a->constants_text);
    for (size_t i = 0; i < a->pin_text_count; i += 2) {
        const char *option = a->pin_texts[i], *value = a->pin_texts[i + 1];
        bool is_reserve = strcmp(option, "--reserve") == 0;
        if (is_reserve ? !parse_reserve(value, a) : !parse_pin(value, strcmp(option, "--home") == 0, a))
            return tool_misuse("plan", "%s %s: expected %s", option, value,
                               is_reserve ? "MEMORY=FROM..TO, bytes of a memory that --memory names"
                                          : "BUFFER=MEMORY, a memory that --memory names");
    }
    join_reserves(a);
    return TOOL_OK;
}

bool plan_has_moves(const plan_arguments *a) {
    bool weighted = false;
    for (size_t m = 0; m < a->memory_count; m++)
        weighted = weighted || a->memories[m].has_latency || a->memories[m].bandwidth > 0;
    return a->moves || weighted || a->constants_text || a->pin_count > 0 || a->reserve_count > 0;
}

/* N, LOW..HIGH or ?. */
static bool parse_dim(const char *text, plan_arguments *a) {
    const char *equals = strrchr(text, '='), *dots = equals ? strstr(equals, "..") : NULL;
    uint64_t size = 1, high = 0;
    if (a->dim_count == PLAN_MOST_DIMS || !equals || equals == text)
        return false;
    bool is_open = strcmp(equals, "=?") == 0;
    if (dots) {
        char low[24] = {0};
        if ((size_t)(dots - equals) > sizeof low || !parse_number(dots + 2, &high) || high > INT32_MAX)
            return false;
        memcpy(low, equals + 1, (size_t)(dots - equals - 1));
        if (!parse_number(low, &size) || size < 1 || size > high || high - size > PLAN_MOST_VALUES)
            return false;
    } else if (!is_open && (!parse_number(equals + 1, &size) || size > INT32_MAX)) {
        return false;
    }
    if (dots || is_open) {
        if (a->ranged != SIZE_MAX)
            return false;
        a->ranged = a->dim_count;
        a->range_low = (int64_t)size;
        a->range_high = (int64_t)high;
    }
    a->dims[a->dim_count++] = (masu__model_dim){{text, (size_t)(equals - text)}, (int64_t)size, false};
    return true;
}

static bool parse_scratch(const char *text, plan_arguments *a) {
    const char *equals = strrchr(text, '=');
    if (a->scratch_count == PLAN_MOST_SCRATCH || !equals || equals == text || equals - text >= PLAN_MOST_CALLED)
        return false;
    plan_scratch_option *s = &a->scratch[a->scratch_count];
    memcpy(s->name, text, (size_t)(equals - text));
    s->name[equals - text] = 0;
    if (!parse_bytes(equals + 1, &s->bytes))
        return false;
    a->scratch_count++;
    return true;
}

/* ---- options --------------------------------------------------------------------------------- */

static int take_value(const char *name, const char *value, plan_arguments *a) {
    bool right = true;
    const char *expected = "";
    if (strcmp(name, "--time") == 0 || strcmp(name, "--seed") == 0 || strcmp(name, "--threads") == 0)
        a->of_search = name;
    if (strcmp(name, "--capacity") == 0) {
        right = parse_bytes(value, &a->capacity);
        expected = "bytes, such as 1048576 or 512K";
    } else if (strcmp(name, "--alignment") == 0) {
        right = parse_bytes(value, &a->alignment) && (a->alignment & (a->alignment - 1)) == 0;
        expected = "a power of two";
    } else if (strcmp(name, "--time") == 0) {
        right = parse_seconds(value, &a->time_s);
        expected = "seconds above 0";
    } else if (strcmp(name, "--seed") == 0) {
        right = parse_number(value, &a->seed);
        expected = "a whole number";
    } else if (strcmp(name, "--threads") == 0) {
        right = parse_number(value, &a->threads) && a->threads >= 1 && a->threads <= 64;
        expected = "1 to 64";
    } else if (strcmp(name, "--memory") == 0) {
        right = parse_memory(value, a);
        expected =
            "NAME=BYTES (above 0) or NAME, without limit, and :latency=N or :bandwidth=N behind it; each name "
            "once, 16 at most";
    } else if (strcmp(name, "--channel") == 0) {
        right = a->has_channel = parse_bytes(value, &a->channel);
        expected = "bytes that are moved beside one operator, such as 64K";
    } else if (strcmp(name, "--move-cost") == 0) {
        right = a->has_move_cost = parse_number(value, &a->move_cost) && a->move_cost <= 1 << 20;
        expected = "a whole number, 1048576 at most";
    } else if (strcmp(name, "--pin") == 0 || strcmp(name, "--home") == 0 || strcmp(name, "--reserve") == 0) {
        right = a->pin_text_count < 2 * PLAN_MOST_PINS;
        expected = "64 of --pin, --home and --reserve at most";
        if (right) {
            a->pin_texts[a->pin_text_count++] = name;
            a->pin_texts[a->pin_text_count++] = value;
        }
    } else if (strcmp(name, "--dim") == 0) {
        right = parse_dim(value, a);
        expected = "NAME=N or INPUT:AXIS=N, 32 at most; one may be LOW..HIGH (1 or more, 1024 apart at most) or ?";
    } else if (strcmp(name, "--scratch") == 0) {
        right = parse_scratch(value, a);
        expected = "OPERATOR=BYTES (its number, type or name; above 0), 64 at most";
    } else if (strcmp(name, "--constants") == 0) {
        a->constants_text = value;
    } else if (strcmp(name, "--header") == 0) {
        a->header = value;
    } else if (strcmp(name, "--write-model") == 0) {
        a->write_model = value;
    } else if (strcmp(name, "--output") == 0) {
        a->output = value;
    } else if (strcmp(name, "--svg") == 0) {
        a->svg = value;
    } else if (strcmp(name, "--device") == 0) {
        a->device = value;
    } else {
        a->ops = value;
    }
    return right ? TOOL_OK : tool_misuse("plan", "%s %s: expected %s", name, value, expected);
}

static bool take_flag(const char *argument, plan_arguments *a) {
    const struct {
        const char *name;
        bool *flag;
    } flags[] = {{"--minimize", &a->minimize}, {"--check", &a->check},     {"--compare", &a->compare},
                 {"--in-place", &a->in_place}, {"--reorder", &a->reorder}, {"--quiet", &a->quiet},
                 {"--verify", &a->verify},     {"--json", &a->json},       {"--csv", &a->csv},
                 {"--moves", &a->moves}};
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++)
        if (strcmp(argument, flags[i].name) == 0)
            return *flags[i].flag = true;
    return false;
}

static int take_option(int argc, char **argv, int *index, plan_arguments *a) {
    static const char *const valued[] = {"--capacity",  "--time",   "--output",      "--svg",     "--memory",
                                         "--ops",       "--seed",   "--alignment",   "--threads", "--dim",
                                         "--scratch",   "--header", "--write-model", "--device",  "--channel",
                                         "--move-cost", "--pin",    "--home",        "--reserve", "--constants"};
    const char *argument = argv[*index];
    if (take_flag(argument, a))
        return TOOL_OK;
    for (size_t i = 0; i < sizeof valued / sizeof *valued; i++) {
        bool missing = false;
        const char *value = tool_option_value(valued[i], argc, argv, index, &missing);
        if (missing)
            return tool_misuse("plan", "%s: a value is missing", valued[i]);
        if (value)
            return take_value(valued[i], value, a);
    }
    return tool_unknown_option("plan", argument, known);
}

static int check_moves(const plan_arguments *a) {
    size_t latencies = 0, bandwidths = 0;
    for (size_t m = 0; m < a->memory_count; m++) {
        latencies += a->memories[m].has_latency;
        bandwidths += a->memories[m].bandwidth > 0;
    }
    if ((latencies > 0 && latencies < a->memory_count) || (bandwidths > 0 && bandwidths < a->memory_count))
        return tool_misuse("plan",
                           "--memory: all memories have :latency=N, or all have :bandwidth=N, or none has a weight");
    if ((a->has_channel || a->has_move_cost) && !a->moves)
        return tool_misuse("plan", "%s is about moves: say --moves, too", a->has_channel ? "--channel" : "--move-cost");
    if (a->moves && a->memory_count < 2)
        return tool_misuse("plan", "--moves needs two memories or more: --memory NAME=BYTES, the fastest first");
    if (plan_has_moves(a) && (a->check || a->verify))
        return tool_misuse(
            "plan", "%s judges one place for each buffer: leave --moves, --pin, --home, --reserve and weights out",
            a->check ? "--check" : "--verify");
    return TOOL_OK;
}

/* A plan, and a model with one, may be written over what it was made from; nothing else over what is read, and no two
 * over each other. */
static int check_files(const plan_arguments *a) {
    const char *const files[] = {a->svg, a->header, a->output, a->write_model};
    static const char *const names[] = {"--svg", "--header", "--output", "--write-model"};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        if (!files[i])
            continue;
        if ((a->json || a->csv) && strcmp(files[i], "-") == 0)
            return tool_misuse("plan", "%s has standard output: leave %s - out", a->json ? "--json" : "--csv",
                               names[i]);
        for (size_t k = 0; k < i; k++)
            if (files[k] && (strcmp(files[i], files[k]) == 0 || tool_is_same_file(files[i], files[k])))
                return tool_misuse("plan", "%s and %s cannot be the same file", names[i], names[k]);
        if (i < 2 && strcmp(a->path, "-") != 0 && tool_is_same_file(files[i], a->path))
            return tool_misuse("plan", "%s %s: that is the file that is planned", names[i], files[i]);
        if (a->ops && strcmp(a->ops, "-") != 0 && tool_is_same_file(files[i], a->ops))
            return tool_misuse("plan", "%s %s: that is the file of operators", names[i], files[i]);
    }
    return TOOL_OK;
}

static int check_together(const plan_arguments *a) {
    if (!a->path)
        return tool_misuse("plan", "which file?");
    if (a->minimize && a->capacity)
        return tool_misuse("plan", "--minimize and --capacity: one of the two");
    if (a->check && (a->output || a->compare || a->ops || a->minimize))
        return tool_misuse("plan", "--check only judges: leave the other options out");
    if ((a->check || a->verify) && a->of_search)
        return tool_misuse("plan", "%s only judges, and searches for nothing: leave %s out",
                           a->check ? "--check" : "--verify", a->of_search);
    if (a->memory_count > 0 && (a->capacity || a->minimize || a->compare))
        return tool_misuse("plan", "--memory says the capacities; no --capacity, --minimize or --compare beside it");
    if (a->compare && (a->output || a->svg || a->header || a->write_model || a->capacity))
        return tool_misuse("plan", "--compare only prints its table: leave %s out",
                           a->output        ? "--output"
                           : a->svg         ? "--svg"
                           : a->header      ? "--header"
                           : a->write_model ? "--write-model"
                                            : "--capacity");
    if (check_files(a) != TOOL_OK)
        return TOOL_MISUSED;
    if (a->verify && (a->output || a->svg || a->header || a->write_model || a->compare || a->memory_count > 0 ||
                      a->json || a->csv || a->in_place || a->reorder || a->capacity))
        return tool_misuse("plan", "--verify only judges: leave the other options out");
    if (a->json && a->csv)
        return tool_misuse("plan", "--json and --csv: one of the two");
    if ((a->json || a->csv) && ((a->memory_count > 0 && !plan_has_moves(a)) || a->compare))
        return tool_misuse("plan", "%s is one arena's table: leave %s out", a->json ? "--json" : "--csv",
                           a->compare ? "--compare" : "--memory");
    return TOOL_OK;
}

int plan_check_for_table(const plan_arguments *a) {
    const char *wrong = a->verify                         ? "--verify"
                        : a->write_model                  ? "--write-model"
                        : a->header && !plan_has_moves(a) ? "--header"
                        : a->dim_count > 0                ? "--dim"
                        : a->scratch_count > 0            ? "--scratch"
                        : a->constants_text               ? "--constants"
                        : a->json && !plan_has_moves(a)   ? "--json"
                        : a->csv && !plan_has_moves(a)    ? "--csv"
                                                          : NULL;
    if (wrong)
        return tool_misuse("plan", "%s is for networks (.tflite, .onnx): %s is a table of buffers", wrong, a->path);
    if (a->moves && !a->ops)
        return tool_misuse("plan", "--moves needs --ops FILE, which says when each buffer is made and read");
    if ((a->in_place || a->reorder) && !a->ops)
        return tool_misuse("plan", "%s needs --ops FILE", a->in_place ? "--in-place" : "--reorder");
    return TOOL_OK;
}

int plan_check_for_network(const plan_arguments *a, bool is_tflite) {
    if (a->ops || a->check)
        return tool_misuse("plan", "%s is for tables of buffers: %s is a network", a->ops ? "--ops" : "--check",
                           a->path);
    if (a->device)
        return tool_misuse("plan", "--device is for recordings: %s is a network", a->path);
    if (!is_tflite && (a->verify || a->write_model))
        return tool_misuse("plan", "%s is for .tflite files", a->verify ? "--verify" : "--write-model");
    if (is_tflite && a->dim_count > 0)
        return tool_misuse("plan", "--dim is for .onnx files: a .tflite file has a number for each dimension");
    if (a->write_model && a->memory_count > 0)
        return tool_misuse("plan",
                           "--write-model plans one arena; for several memories write a C header with --header");
    if (a->ranged != SIZE_MAX && (a->output || a->svg || a->header || a->compare || a->memory_count > 0 || a->csv))
        return tool_misuse("plan",
                           "--dim with a range or ? only says what it found: leave --output, --svg, --header, "
                           "--csv, --compare and --memory out");
    if (a->ranged != SIZE_MAX && a->range_high == 0 && (!a->capacity || a->json))
        return tool_misuse("plan",
                           "--dim NAME=? looks for the largest value that fits into --capacity N, and says it as text");
    if (a->ranged != SIZE_MAX && a->range_high > 0 && a->capacity)
        return tool_misuse("plan",
                           "--dim NAME=LOW..HIGH says offsets for all of them: leave --capacity out, or ask "
                           "for the largest value with --dim NAME=?");
    if (a->reorder && a->memory_count > 0 && !plan_has_moves(a))
        return tool_misuse("plan",
                           "--memory divides a network's buffers in the order that the file has: leave --reorder "
                           "out, or let them move with --moves");
    if (is_tflite && a->alignment && a->alignment < 16)
        return tool_misuse("plan", "--alignment %u: TensorFlow Lite Micro aligns to 16", (unsigned)a->alignment);
    return TOOL_OK;
}

int plan_check_for_kernel(const plan_arguments *a) {
    const char *wrong = a->check               ? "--check"
                        : a->compare           ? "--compare"
                        : a->ops               ? "--ops"
                        : a->in_place          ? "--in-place"
                        : a->reorder           ? "--reorder"
                        : a->memory_count > 0  ? "--memory"
                        : a->capacity > 0      ? "--capacity"
                        : a->minimize          ? "--minimize"
                        : a->device            ? "--device"
                        : a->verify            ? "--verify"
                        : a->write_model       ? "--write-model"
                        : a->header            ? "--header"
                        : a->dim_count > 0     ? "--dim"
                        : a->scratch_count > 0 ? "--scratch"
                        : a->csv               ? "--csv"
                                               : NULL;
    if (wrong)
        return tool_misuse("plan",
                           "%s: %s is the problem of a kernel, which says its own pools, capacities and objective",
                           wrong, a->path);
    return TOOL_OK;
}

int plan_parse_arguments(int argc, char **argv, plan_arguments *a) {
    for (int i = 1; i < argc; i++) {
        bool is_option = argv[i][0] == '-' && argv[i][1] != 0;
        if (!is_option && a->path)
            return tool_misuse("plan", "one file at a time: `%s` is too many", argv[i]);
        if (!is_option) {
            a->path = argv[i];
            continue;
        }
        int status = take_option(argc, argv, &i, a);
        if (status != TOOL_OK)
            return status;
    }
    int status = parse_pins(a);
    if (status == TOOL_OK)
        status = check_moves(a);
    return status == TOOL_OK ? check_together(a) : status;
}
