/* Recorded problems from $MASU_DATA (default ../shared/data beside the project): what is known of each is reached
 * within a number of steps, and the judge agrees. Without the folder only the problem of this file is solved,
 * and that is said. */
#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <masu/plan.h>

enum { MOST = 2000 };

static masu_plan_row rows[MOST];
static uint64_t offsets[MOST];

/* id,lower,upper,size. 0: there is no such file, or it has too many rows. */
static size_t read_rows(const char *path) {
    char line[256];
    size_t count = 0;
    FILE *file = fopen(path, "r");
    if (!file)
        return 0;
    while (fgets(line, sizeof line, file)) {
        long long lower, upper;
        unsigned long long size;
        const char *comma = strchr(line, ',');
        if (!comma || sscanf(comma + 1, "%lld,%lld,%llu", &lower, &upper, &size) != 3)
            continue;
        if (count == MOST) {
            count = 0;
            break;
        }
        rows[count++] = (masu_plan_row){.size_bytes = size, .lower = lower, .upper = upper};
    }
    fclose(file);
    return count;
}

static masu_plan_result solve(size_t count, uint64_t capacity, uint64_t steps) {
    masu_plan_problem problem = {.rows = rows, .count = count, .capacity_bytes = capacity};
    masu_plan_options options = {.goal = capacity ? MASU_PLAN_FIT : MASU_PLAN_MINIMIZE, .step_limit = steps};
    masu_plan_result r;
    assert_int_equal(masu_plan_find(&problem, &options, offsets, &r), MASU_OK);
    assert_int_equal(masu_plan_check(rows, count, offsets, r.height_bytes, NULL, NULL), MASU_PLAN_FINE);
    return r;
}

static const char *data_folder(void) {
    const char *folder = getenv("MASU_DATA");
    return folder ? folder : MASU_SOURCE_DIR "/../shared/data";
}

static void the_worked_example(void **state) {
    (void)state;
    const masu_plan_row example[] = {{.size_bytes = 4, .lower = 0, .upper = 3},
                                     {.size_bytes = 4, .lower = 3, .upper = 9},
                                     {.size_bytes = 4, .lower = 0, .upper = 9},
                                     {.size_bytes = 4, .lower = 9, .upper = 21},
                                     {.size_bytes = 4, .lower = 0, .upper = 21}};
    memcpy(rows, example, sizeof example);
    assert_int_equal(solve(5, 12, 0).outcome, MASU_PLAN_OPTIMAL);
}

static void hard_ones_fit(void **state) {
    (void)state;
    static const char names[] = "ACDFGIK";
    for (const char *name = names; *name; name++) {
        char path[1024];
        snprintf(path, sizeof path, "%s/minimalloc/%c.1048576.csv", data_folder(), *name);
        size_t count = read_rows(path);
        if (count == 0) {
            printf("%s is not there: left out\n", path);
            continue;
        }
        masu_plan_result r = solve(count, 1048576, 300000);
        assert_true(r.height_bytes <= 1048576);
        if (*name == 'C')
            assert_true(solve(count, 0, 300000).height_bytes == 1039360);
    }
}

typedef enum change { MIRRORED, SHIFTED, THINNED, SHRUNK, ROOMIER, CHANGES } change;

/* What has a plan still has one, and it is found: time runs backwards, or begins elsewhere, rows are missing, each
 * is smaller, there is more room. */
static size_t changed(size_t count, change how, uint64_t *capacity) {
    size_t kept = 0;
    *capacity = how == ROOMIER ? 1048576 + 1048576 / 50 : 1048576;
    for (size_t i = 0; i < count; i++) {
        masu_plan_row row = rows[i];
        if (how == MIRRORED)
            row.lower = -rows[i].upper, row.upper = -rows[i].lower;
        if (how == SHIFTED)
            row.lower += INT64_C(1) << 40, row.upper += INT64_C(1) << 40;
        if (how == SHRUNK)
            row.size_bytes = row.size_bytes * 97 / 100 / 1024 * 1024;
        if (how != THINNED || i % 25 != 24)
            rows[kept++] = row;
    }
    return kept;
}

/* K with less in it needs a second or two: not asked here. */
static bool is_asked(char name, change how) {
    return name != 'K' || (how != THINNED && how != SHRUNK);
}

static void changed_ones_fit_as_well(void **state) {
    (void)state;
    for (const char *name = "ACDFGIK"; *name; name++)
        for (change how = 0; how < CHANGES; how++) {
            char path[1024];
            snprintf(path, sizeof path, "%s/minimalloc/%c.1048576.csv", data_folder(), *name);
            size_t count = read_rows(path);
            if (count == 0) {
                printf("%s is not there: left out\n", path);
                break;
            }
            uint64_t capacity;
            count = changed(count, how, &capacity);
            if (is_asked(*name, how))
                assert_true(solve(count, capacity, 500000).height_bytes <= capacity);
        }
}

static int is_problem(const struct dirent *entry) {
    const char *name = entry->d_name;
    size_t length = strlen(name);
    return length > 4 && strcmp(name + length - 4, ".csv") == 0 && !strstr(name, ".ops.csv");
}

static void networks_are_at_their_bound(void **state) {
    (void)state;
    char path[1024];
    struct dirent **entries;
    snprintf(path, sizeof path, "%s/models", data_folder());
    int found = scandir(path, &entries, is_problem, alphasort);
    if (found < 0)
        printf("%s is not there: left out\n", path);
    for (int i = 0; i < found; i++) {
        snprintf(path, sizeof path, "%s/models/%s", data_folder(), entries[i]->d_name);
        size_t count = read_rows(path);
        assert_true(count > 0);
        assert_int_equal(solve(count, 0, 100000).outcome, MASU_PLAN_OPTIMAL);
        free(entries[i]);
    }
    if (found >= 0)
        free(entries);
}

static void recorded_programs_are_at_their_bound(void **state) {
    (void)state;
    static const char *const names[] = {"G_1", "resnet50"};
    for (size_t i = 0; i < 2; i++) {
        char path[1024];
        snprintf(path, sizeof path, "%s/idealloc/%s.csv", data_folder(), names[i]);
        size_t count = read_rows(path);
        if (count == 0)
            printf("%s is not there: left out\n", path);
        else
            assert_int_equal(solve(count, 0, 100000).outcome, MASU_PLAN_OPTIMAL);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_worked_example),
        cmocka_unit_test(hard_ones_fit),
        cmocka_unit_test(changed_ones_fit_as_well),
        cmocka_unit_test(networks_are_at_their_bound),
        cmocka_unit_test(recorded_programs_are_at_their_bound),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
