/* Bytes as a file for `masu plan`: the readers refuse it with a place, or what they give is a problem that the
 * planner solves and the judge accepts.
 *
 *     clang -D_GNU_SOURCE -fsanitize=fuzzer,address,undefined -Isrc -Iinclude tests/fuzz/plan_bytes.c \
 *         src/tool/plan/{read_rows,read_json,json_text,read_operators,csv_relations}.c \
 *         src/tool/plan/{kernel_read,kernel_resolve,file_text}.c \
 *         build/release/libmasu.a -lm
 *     ./a.out CORPUS
 *
 * A byte 0x1e separates the table from a list of operators. Without libFuzzer, -DMASU_FUZZ_MAIN gives a main that
 * mutates files named on the command line: a.out ROUNDS FILE…
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tool/plan/kernel.h"

enum { MOST_ROWS = 200 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void demand(bool holds) {
    if (!holds)
        abort();
}

/* Every complaint has file, line, column and what was expected. */
static void demand_message(masu__buffer *message) {
    const char *text = masu__buffer_text(message);
    demand(strncmp(text, "fuzz:", 5) == 0 && strstr(text, "error: ") != NULL);
    masu__buffer_destroy(message);
}

static void solve(plan_table *t) {
    uint64_t offsets[MOST_ROWS];
    masu_plan_result r = {0};
    for (size_t i = 0; i < t->count; i++) {
        t->rows[i].is_fixed = t->given[i] != UINT64_MAX;
        t->rows[i].fixed_offset = t->rows[i].is_fixed ? t->given[i] : 0;
    }
    masu_plan_problem problem = {t->rows, t->count, t->relations, t->relation_count, 0};
    masu_plan_options options = {.step_limit = 300, .threads = 1};
    masu_status status = masu_plan_find(&problem, &options, offsets, &r);
    bool none = r.outcome == MASU_PLAN_INFEASIBLE || (r.outcome == MASU_PLAN_UNKNOWN && r.height_bytes == 0);
    if (status == MASU_OK && !none)
        demand(masu_plan_check_problem(&problem, offsets, r.height_bytes, NULL, NULL) == MASU_PLAN_FINE);
}

static void read_kernel(const char *text, size_t length) {
    kernel k;
    masu__buffer message = {0};
    bool right = kernel_read("fuzz", text, length, &k, &message);
    if (!right)
        demand_message(&message);
    for (size_t i = 0; i < k.table.count && right; i++)
        demand(k.pool_of[i] < k.pool_count);
    masu_plan_problem all = {k.table.rows, k.table.count, k.table.relations, k.table.relation_count, 0};
    demand(!right || masu_plan_validate(&all, NULL) == MASU_PLAN_RIGHT);
    kernel_free(&k);
    masu__buffer_destroy(&message);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (kernel_is_problem((const char *)data, size)) {
        read_kernel((const char *)data, size);
        return 0;
    }
    const uint8_t *split = memchr(data, 0x1e, size);
    size_t length = split ? (size_t)(split - data) : size;
    plan_table table;
    masu__buffer message = {0};
    bool right = plan_parse("fuzz", (const char *)data, length, &table, &message);
    if (!right) {
        demand_message(&message);
    } else if (split) {
        plan_graph graph;
        masu__buffer complaint = {0};
        if (!plan_parse_ops("fuzz", (const char *)split + 1, size - length - 1, &table, &graph, &complaint))
            demand_message(&complaint);
        else
            demand(plan_relate_in_place(&table, &graph));
    }
    if (right && table.count <= MOST_ROWS)
        solve(&table);
    plan_table_free(&table);
    masu__buffer_destroy(&message);
    return 0;
}

#ifdef MASU_FUZZ_MAIN
static uint64_t state = 88172645463325252u;

static uint64_t draw(uint64_t below) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state % below;
}

static size_t mutate(uint8_t *data, size_t size, size_t room) {
    static const char *const words[] = {",", "\n", "\r\n", "\t",   "\"", "-", "9999999999999999999", "{", "}", "[", "]",
                                        ":", " ",  "@",    "\x1e", "",   "0"};
    for (uint64_t round = 1 + draw(6); round > 0 && size > 0; round--) {
        size_t at = draw(size), length = draw(8);
        const char *word = words[draw(sizeof words / sizeof *words)];
        length = at + length > size ? size - at : length;
        memmove(data + at, data + at + length, size - at - length);
        size -= length;
        if (size + strlen(word) < room) {
            memmove(data + at + strlen(word), data + at, size - at);
            memcpy(data + at, word, strlen(word));
            size += strlen(word);
        }
    }
    return size;
}

int main(int argc, char **argv) {
    enum { ROOM = 1 << 16 };
    static uint8_t seed[ROOM], data[ROOM];
    long rounds = argc > 1 ? atol(argv[1]) : 0;
    for (int i = 2; i < argc; i++) {
        FILE *file = fopen(argv[i], "rb");
        size_t size = file ? fread(seed, 1, ROOM / 2, file) : 0;
        if (file)
            fclose(file);
        for (long k = 0; k < rounds; k++) {
            memcpy(data, seed, size);
            LLVMFuzzerTestOneInput(data, mutate(data, size, ROOM));
        }
    }
    return 0;
}
#endif
