/* whatif_command.c: `masu whatif`: one recorded run on every allocator, as a table and a sentence. */
#include "tool/whatif/whatif.h"

#include <stdlib.h>
#include <string.h>

#include "base/meta.h"

static const char usage[] =
    "Usage: masu whatif FILE [options]\n"
    "\n"
    "Replays the requests of a recorded run on every allocator there is, and on the planner, which knows all of them "
    "in\n"
    "advance: what each would have reserved, how much of it in vain, and how often it would have asked the device.\n"
    "\n"
    "FILE is\n"
    "  a snapshot       that torch.cuda.memory._dump_snapshot wrote (a pickle; nothing in it is run)\n"
    "  a trace          that masu recorded\n"
    "  a table          event,id,bytes: `alloc,7,4096`, `free,7,`\n"
    "  -                standard input\n"
    "\n"
    "For a snapshot the table begins with PyTorch's allocator as it was: a model makes every recorded step again, "
    "which is\n"
    "checked, so that its figures for other settings can be trusted. When a request was refused, the report says what "
    "was\n"
    "free, which live blocks split it, and which settings would have served it.\n"
    "\n"
    "Options:\n"
    "  --device null    sizes only, for runs that are larger than this machine (the default for snapshots)\n"
    "  --device host    memory of this process\n"
    "  --limit SIZE     the memory of the device: 40GiB, 8000MiB, 1000000; says who needs more, and what would be "
    "refused\n"
    "  --json           the same as one JSON object\n"
    "  --no-malloc      leave out the installed malloc libraries\n"
    "  --steps N        how far the planner searches (20000)\n"
    "  --help           this text\n"
    "\n"
    "Columns:\n"
    "  time             of all requests, of the processor (the planner: by the clock); a model has none\n"
    "  peak reserved    the most that was taken from the device at any time\n"
    "  waste            how much more that is than what was live at most\n"
    "  device calls     for memory: taken, given back, mapped, unmapped\n"
    "  judge            `fine`: the judge followed every step, found no fault, and counted the same peak\n"
    "\n"
    "Where a run has several streams, each has a pool of its own, for memory goes from one stream to another only when "
    "one waits\n"
    "for the other. Blocks that are older than the recording come first, in order of address.\n"
    "\n"
    "Exit status: 0; 1 when the file cannot be read; 2 when the command line is wrong.\n";

enum { MOST_ROWS = 24 };

typedef struct report {
    whatif_options options;
    bool with_malloc;
    const char *path;
    const masu__recording *recording;
    whatif_requests requests;
    bool is_snapshot, is_proven;
    masu__torch_followed followed;
    whatif_row rows[MOST_ROWS];
    size_t count, recorded, fresh, expandable, planner; /* rows; MOST_ROWS: there is none */
} report;

/* ---- words ------------------------------------------------------------------------------------------------------- */

static double waste_of(const report *r, const whatif_row *row) {
    return whatif_waste_percent(row, r->requests.peak_live_bytes);
}

/* "7.1 GiB": for sentences. */
static void put_bytes(masu__buffer *out, uint64_t bytes) {
    masu__buffer_put_bytes(out, bytes);
}

/* ---- rows -------------------------------------------------------------------------------------------------------- */

static masu_status add_torch(report *r, const masu__torch_settings *settings, const char *name, size_t *index) {
    masu__torch_settings limited = *settings;
    limited.capacity_bytes = r->options.limit_bytes;
    *index = r->count;
    return whatif_replay_torch(&r->requests, &limited, name, &r->options, &r->rows[r->count++]);
}

/* The row of the snapshot itself: the model followed it from the state that it found. */
static void add_recorded(report *r) {
    whatif_row *row = &r->rows[r->count];
    *row = (whatif_row){.is_model = true, .ran = !r->followed.parted};
    snprintf(row->name, sizeof row->name, "PyTorch, as recorded");
    row->peak_reserved_bytes = r->followed.stats.peak_reserved_bytes;
    row->device_calls = r->followed.stats.segments_added + r->followed.stats.segments_dropped + r->followed.stats.maps +
                        r->followed.stats.unmaps;
    row->judged = WHATIF_NOT_JUDGED;
    if (r->followed.parted)
        snprintf(row->note, sizeof row->note, "the model and the recording part at event %zu", r->followed.parted_at);
    else
        snprintf(row->note, sizeof row->note, "the model made all %zu recorded steps", r->followed.steps);
    r->recorded = r->count++;
}

static masu_status add_models(report *r) {
    masu__torch_settings defaults = masu__torch_settings_default(), recorded = masu__torch_settings_of(r->recording);
    if (r->is_snapshot)
        add_recorded(r);
    masu_status status = add_torch(r, &defaults, "PyTorch, its defaults", &r->fresh);
    if (status == MASU_OK && memcmp(&defaults, &recorded, sizeof recorded) != 0 && !recorded.expandable)
        status = add_torch(r, &recorded, "PyTorch, settings of the snapshot", &r->fresh);
    recorded.expandable = true;
    return status == MASU_OK ? add_torch(r, &recorded, "PyTorch, expandable segments", &r->expandable) : status;
}

static masu_status add_all(report *r) {
    masu_status status = add_models(r);
    for (unsigned i = 0; i < WHATIF_POOLS && status == MASU_OK; i++)
        status = whatif_replay_pool(&r->requests, i, &r->options, &r->rows[r->count++]);
    for (unsigned i = 0; r->with_malloc && status == MASU_OK && r->count + 1 < MOST_ROWS; i++) {
        if (!whatif_replay_malloc(&r->requests, i, &r->options, &r->rows[r->count]))
            break;
        r->count++;
    }
    if (status == MASU_OK) {
        r->planner = r->count;
        status = whatif_replay_plan(&r->requests, &r->options, &r->rows[r->count++], &r->is_proven);
    }
    return status;
}

/* ---- the sentence ------------------------------------------------------------------------------------------------ */

static const whatif_row *least_row(const report *r, bool models) {
    const whatif_row *best = NULL;
    for (size_t i = 0; i < r->count; i++) {
        const whatif_row *row = &r->rows[i];
        if (row->ran && !row->is_bound && row->refused == 0 && row->is_model == models &&
            row->device_calls != UINT64_MAX && i != r->recorded &&
            (!best || row->peak_reserved_bytes < best->peak_reserved_bytes))
            best = row;
    }
    return best;
}

static void put_floor(const report *r, masu__buffer *out) {
    const whatif_row *plan = &r->rows[r->planner];
    masu__buffer_puts(out, "a plan of all blocks needs ");
    whatif_put_mib(out, plan->peak_reserved_bytes);
    masu__buffer_puts(out, ", and no allocator can go below ");
    whatif_put_mib(out, r->requests.peak_live_bytes);
    masu__buffer_puts(out, ", which is live at once.");
}

/* The advice for PyTorch's user: one setting. A hundredth more or less is not worth a change. */
static void put_torch_advice(const report *r, masu__buffer *out) {
    const whatif_row *now = &r->rows[r->recorded], *expandable = &r->rows[r->expandable], *own = least_row(r, false);
    const whatif_row *fresh = &r->rows[r->fresh];
    uint64_t had = now->peak_reserved_bytes, other = expandable->peak_reserved_bytes;
    /* Memory reserved before the trace began may be of requests that are not in it: other settings are not judged by
     * those. */
    bool is_older = now->ran && !fresh->refused && fresh->peak_reserved_bytes < had;
    had = is_older ? fresh->peak_reserved_bytes : had;
    if (r->requests.count == r->requests.standing) {
        masu__buffer_puts(out,
                          "No history is in this snapshot, so that only what lives at its end was replayed: call "
                          "torch.cuda.memory._record_memory_history() before the run; ");
        return;
    }
    if (!now->ran) {
        masu__buffer_puts(out, "The model does not follow this recording, so that nothing is said of other settings; ");
        return;
    }
    if (masu__torch_settings_of(r->recording).expandable) {
        masu__buffer_puts(out, "expandable_segments is on already; ");
    } else if (expandable->refused) {
        masu__buffer_puts(out, "expandable_segments:True would not serve this run within the limit; ");
    } else if (other < had - had / 100) {
        masu__buffer_puts(out, "Set expandable_segments:True: it would have saved ");
        put_bytes(out, had - other);
        masu__buffer_puts(out, " of ");
        put_bytes(out, had);
        masu__buffer_puts(out, "; ");
    } else {
        masu__buffer_puts(out, other > had
                                   ? "Leave expandable_segments off: with it the peak would have been "
                                   : "expandable_segments:True matters little: with it the peak would have been ");
        whatif_put_mib(out, other);
        masu__buffer_puts(out, other == had ? ", too; " : ", not ");
        if (other != had) {
            whatif_put_mib(out, had);
            masu__buffer_puts(out, "; ");
        }
    }
    if (own && own->peak_reserved_bytes < had) {
        masu__buffer_printf(out, "%s would have needed ", own->name);
        whatif_put_mib(out, own->peak_reserved_bytes);
        masu__buffer_puts(out, "; ");
    }
}

static void put_pool_advice(const report *r, masu__buffer *out) {
    const whatif_row *own = least_row(r, false);
    if (!own)
        return;
    masu__buffer_printf(out, "Among masu's pools %s takes least: ", own->name);
    whatif_put_mib(out, own->peak_reserved_bytes);
    masu__buffer_printf(out, ", %.1f %% more than is live; ", waste_of(r, own));
}

static void put_sentence(const report *r, masu__buffer *out) {
    if (r->requests.peak_live_bytes == 0) {
        masu__buffer_puts(out, "Nothing was requested.");
        return;
    }
    if (r->is_snapshot)
        put_torch_advice(r, out);
    else
        put_pool_advice(r, out);
    put_floor(r, out);
    uint64_t limit = r->options.limit_bytes;
    if (limit && r->requests.peak_live_bytes > limit)
        masu__buffer_puts(out, " That is more than the limit: nothing serves this run within it.");
}

/* ---- text -------------------------------------------------------------------------------------------------------- */

static void print_text(const report *r) {
    masu__buffer text = {0};
    const char *device = masu__recording_text(r->recording, r->recording->devices[r->requests.device].name);
    printf("%s: %s%s%s, %u requests for %u blocks", r->path, r->recording->source_format, *device ? ", device " : "",
           device, r->requests.count, r->requests.blocks);
    whatif_put_mib(&text, r->requests.peak_live_bytes);
    printf(", at most %s live\n", masu__buffer_text(&text));
    if (r->is_snapshot && r->followed.parted)
        printf("The model of PyTorch's allocator does not follow this recording: event %zu: %s\n",
               r->followed.parted_at, masu__buffer_text(&r->followed.why));
    masu__buffer_truncate(&text, 0);
    masu__buffer_putc(&text, '\n');
    whatif_put_head(&text);
    for (size_t i = 0; i < r->count; i++)
        whatif_put_row(&text, &r->rows[i], r->requests.peak_live_bytes, r->options.limit_bytes);
    fputs(masu__buffer_text(&text), stdout);
    masu__buffer_truncate(&text, 0);
    put_sentence(r, &text);
    printf("\n%s\n", masu__buffer_text(&text));
    masu__buffer_destroy(&text);
}

/* ---- JSON -------------------------------------------------------------------------------------------------------- */

static void put_json_text(masu__buffer *out, const char *key, const char *text) {
    masu__buffer_printf(out, "\"%s\":", key);
    masu__buffer_json_string(out, text, strlen(text));
}

static void put_json_row(const report *r, masu__buffer *out, const whatif_row *row) {
    masu__buffer_putc(out, '{');
    put_json_text(out, "allocator", row->name);
    masu__buffer_printf(out, ",\"ran\":%s", row->ran ? "true" : "false");
    if (row->ran) {
        if (row->is_model)
            masu__buffer_puts(out, ",\"seconds\":null");
        else
            masu__buffer_printf(out, ",\"seconds\":%.6f", row->seconds);
        masu__buffer_printf(out, ",\"peak_reserved_bytes\":%llu,\"waste_percent\":%.3f",
                            (unsigned long long)row->peak_reserved_bytes, waste_of(r, row));
        if (row->device_calls == UINT64_MAX)
            masu__buffer_puts(out, ",\"device_calls\":null");
        else
            masu__buffer_printf(out, ",\"device_calls\":%llu", (unsigned long long)row->device_calls);
        masu__buffer_printf(out, ",\"refused\":%llu,\"judge\":", (unsigned long long)row->refused);
        masu__buffer_puts(out, row->judged == WHATIF_FINE    ? "\"fine\""
                               : row->judged == WHATIF_WRONG ? "\"wrong\""
                                                             : "null");
    }
    masu__buffer_putc(out, ',');
    put_json_text(out, "note", row->note);
    masu__buffer_putc(out, '}');
}

static void put_json(const report *r, masu__buffer *out, const masu__buffer *refusals) {
    masu__buffer sentence = {0};
    masu__buffer_putc(out, '{');
    put_json_text(out, "device", masu__recording_text(r->recording, r->recording->devices[r->requests.device].name));
    masu__buffer_printf(out, ",\"requests\":%u,\"blocks\":%u,\"peak_live_bytes\":%llu,\"lanes\":%u", r->requests.count,
                        r->requests.blocks, (unsigned long long)r->requests.peak_live_bytes, r->requests.lane_count);
    if (r->is_snapshot) {
        masu__buffer_printf(out, ",\"model\":{\"follows\":%s,\"steps\":%zu,\"reserved_bytes\":%llu,",
                            r->followed.parted ? "false" : "true", r->followed.steps,
                            (unsigned long long)r->followed.stats.reserved_bytes);
        put_json_text(out, "why", masu__buffer_text(&r->followed.why));
        masu__buffer_putc(out, '}');
    }
    masu__buffer_puts(out, ",\"rows\":[");
    for (size_t i = 0; i < r->count; i++) {
        masu__buffer_puts(out, i ? "," : "");
        put_json_row(r, out, &r->rows[i]);
    }
    masu__buffer_printf(out, "],\"refusals\":[%s],", masu__buffer_text(refusals));
    put_sentence(r, &sentence);
    put_json_text(out, "advice", masu__buffer_text(&sentence));
    masu__buffer_putc(out, '}');
    masu__buffer_destroy(&sentence);
}

/* ---- the command ------------------------------------------------------------------------------------------------- */

static masu_status answer_device(report *r, const masu__lives *lives, uint16_t device, masu__buffer *json, bool *any) {
    masu_status status = whatif_requests_of(r->recording, lives, device, &r->requests);
    if (status != MASU_OK)
        return status;
    if (r->requests.blocks > 0 || r->requests.refused > 0) {
        masu__buffer refusals = {0};
        r->count = 0;
        r->recorded = r->fresh = r->expandable = r->planner = MOST_ROWS;
        status = add_all(r);
        if (status == MASU_OK && !r->options.json) {
            if (*any)
                putchar('\n');
            print_text(r);
        }
        if (status == MASU_OK && r->requests.refused && r->is_snapshot)
            status = whatif_explain_refusals(&r->requests, &r->options, r->options.json ? NULL : stdout, &refusals);
        if (status == MASU_OK && r->options.json) {
            masu__buffer_puts(json, *any ? "," : "");
            put_json(r, json, &refusals);
        }
        masu__buffer_destroy(&refusals);
        *any = true;
    }
    whatif_requests_destroy(&r->requests);
    return status;
}

static int answer(report *r, const masu__recording *recording) {
    masu__lives lives = {0};
    masu__buffer json = {0};
    bool any = false;
    r->recording = recording;
    r->is_snapshot = strcmp(recording->source_format, "PyTorch snapshot") == 0;
    masu_status status = masu__lives_find(recording, &lives);
    if (status == MASU_OK && r->is_snapshot)
        status = masu__torch_follow(recording, NULL, &r->followed);
    masu__buffer_puts(&json, "{");
    put_json_text(&json, "file", r->path);
    masu__buffer_putc(&json, ',');
    put_json_text(&json, "format", recording->source_format);
    masu__buffer_puts(&json, ",\"devices\":[");
    for (unsigned device = 0; device < recording->device_count && status == MASU_OK; device++)
        status = answer_device(r, &lives, (uint16_t)device, &json, &any);
    masu__buffer_puts(&json, "]}\n");
    if (status == MASU_OK && json.failed)
        status = MASU_ERR_OUT_OF_MEMORY;
    if (status == MASU_OK && r->options.json)
        fputs(masu__buffer_text(&json), stdout);
    if (status == MASU_OK && !r->options.json && !any)
        printf("%s: nothing was requested in it\n", r->path);
    if (status != MASU_OK)
        fprintf(stderr, "masu whatif: %s: %s\n", r->path, masu_status_text(status));
    masu__buffer_destroy(&json);
    masu__torch_followed_destroy(&r->followed);
    masu__lives_destroy(&lives);
    return status == MASU_OK ? TOOL_OK : TOOL_FAILED;
}

static bool read_size(const char *text, uint64_t *out) {
    static const struct {
        const char *name;
        unsigned shift;
    } units[] = {{"", 0},     {"B", 0},  {"KiB", 10}, {"MiB", 20}, {"GiB", 30},
                 {"TiB", 40}, {"K", 10}, {"M", 20},   {"G", 30}};
    char *end;
    if (*text < '0' || *text > '9')
        return false;
    uint64_t number = strtoull(text, &end, 10);
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (strcmp(end, units[i].name) == 0 && number > 0 && number < (uint64_t)1 << (60 - units[i].shift)) {
            *out = number << units[i].shift;
            return true;
        }
    return false;
}

static int take_option(report *r, int argc, char **argv, int *i, const char **device) {
    static const char *const known[] = {"--device", "--limit", "--json", "--no-malloc", "--steps", NULL};
    bool missing = false;
    const char *value;
    if ((value = tool_option_value("--device", argc, argv, i, &missing))) {
        if (strcmp(value, "null") != 0 && strcmp(value, "host") != 0)
            return tool_misuse("whatif", "--device: `%s` is neither null nor host", value);
        *device = value;
    } else if (!missing && (value = tool_option_value("--limit", argc, argv, i, &missing))) {
        if (!read_size(value, &r->options.limit_bytes))
            return tool_misuse("whatif", "--limit: `%s` is not a size such as 40GiB", value);
    } else if (!missing && (value = tool_option_value("--steps", argc, argv, i, &missing))) {
        if (!read_size(value, &r->options.plan_steps))
            return tool_misuse("whatif", "--steps: `%s` is not a number from 1 on", value);
    } else if (missing) {
        return tool_misuse("whatif", "%s: a value is missing", argv[*i]);
    } else if (strcmp(argv[*i], "--json") == 0) {
        r->options.json = true;
    } else if (strcmp(argv[*i], "--no-malloc") == 0) {
        r->with_malloc = false;
    } else {
        return tool_unknown_option("whatif", argv[*i], known);
    }
    return TOOL_OK;
}

static int run(int argc, char **argv) {
    report r = {.with_malloc = true, .options = {.judge_most = 200000000, .plan_steps = 20000}};
    const char *device = NULL;
    if (argc == 2 && strncmp(argv[1], "--serve-requests=", 17) == 0)
        return whatif_malloc_child(atoi(argv[1] + 17));
    for (int i = 1; i < argc; i++) {
        if (argv[i][0] == '-' && argv[i][1]) {
            int status = take_option(&r, argc, argv, &i, &device);
            if (status != TOOL_OK)
                return status;
        } else if (r.path) {
            return tool_misuse("whatif", "one file at a time, not `%s` as well", argv[i]);
        } else {
            r.path = argv[i];
        }
    }
    if (!r.path)
        return tool_misuse("whatif", "a file is missing");
    masu__recording recording;
    if (!tool_read_recording("whatif", r.path, &recording))
        return TOOL_FAILED;
    tool_say_missing("whatif", r.path, &recording);
    bool is_snapshot = strcmp(recording.source_format, "PyTorch snapshot") == 0;
    r.options.on_host = device ? strcmp(device, "host") == 0 : !is_snapshot;
    int status = answer(&r, &recording);
    masu__recording_destroy(&recording);
    return status;
}

const tool_command tool_whatif = {"whatif", "replay a recorded run on every allocator", usage, run};
