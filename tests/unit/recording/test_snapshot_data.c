/* Eight real snapshots from $MASU_DATA (default ../shared/data beside the project): the model of PyTorch's allocator
 * makes every step that was recorded, in order and at the recorded addresses, holds the same segments and blocks at the
 * end, and its reserved bytes are the sum of the recorded segments, which was read off them with Python's pickle
 * module. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/meta.h"
#include "recording/recording.h"

static const struct {
    const char *name;
    uint64_t reserved_bytes;
    size_t segments, live_blocks, steps; /* steps: entries alloc, segment_alloc and segment_free */
} known[] = {
    {"conv_c", 134217728, 10, 40, 1942},
    {"forward_a_128", 24245174272, 688, 1613, 3164},
    {"infer_b_128", 1763704832, 98, 223, 1280},
    {"infer_b_512", 1981808640, 101, 223, 1666},
    {"train_a_128", 61111009280, 1010, 1201, 7554},
    {"train_a_512", 62830673920, 820, 1201, 8148},
    {"train_b_1024", 25178406912, 234, 885, 7591},
    {"train_b_256", 9265217536, 495, 885, 6624},
};

static char *read_file(const char *name, size_t *length) {
    const char *folder = getenv("MASU_DATA");
    char path[1024];
    snprintf(path, sizeof path, "%s/snapshots/%s.pickle", folder ? folder : MASU_SOURCE_DIR "/../shared/data", name);
    FILE *file = fopen(path, "rb");
    if (!file)
        return NULL;
    fseek(file, 0, SEEK_END);
    *length = (size_t)ftell(file);
    rewind(file);
    char *bytes = malloc(*length);
    assert_int_equal(fread(bytes, 1, *length, file), *length);
    fclose(file);
    return bytes;
}

static void the_model_does_what_was_recorded(void **state) {
    (void)state;
    size_t followed = 0;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        size_t length;
        char *bytes = read_file(known[i].name, &length);
        if (!bytes)
            continue;
        masu__recording r;
        masu__buffer why = {0};
        masu__torch_followed f;
        assert_int_equal(masu__snapshot_read(bytes, length, &r, &why), MASU_OK);
        assert_true(masu__recording_valid(&r));
        assert_int_equal(masu__torch_follow(&r, NULL, &f), MASU_OK);
        if (f.parted)
            fail_msg("%s, event %zu: %s", known[i].name, f.parted_at, masu__buffer_text(&f.why));
        assert_int_equal(f.steps, known[i].steps);
        assert_int_equal(f.holdings, known[i].segments + known[i].live_blocks);
        assert_int_equal(f.stats.reserved_bytes, known[i].reserved_bytes);
        masu__torch_followed_destroy(&f);
        masu__recording_destroy(&r);
        free(bytes);
        followed++;
    }
    if (followed < sizeof known / sizeof *known) {
        printf(
            "skipped: only %zu of the 8 recorded snapshots are there: set MASU_DATA to the folder that has "
            "snapshots/\n",
            followed);
        skip();
    }
}

/* Every fifth thousandth beginning of a real one, and a byte changed here and there: refused or read, and nothing is
 * left over. */
static void damaged_ones(void **state) {
    (void)state;
    size_t length;
    char *bytes = read_file("conv_c", &length);
    if (!bytes) {
        printf("skipped: the recorded snapshots are not there: set MASU_DATA to the folder that has snapshots/\n");
        skip();
    }
    uint64_t before = masu__meta_live_blocks();
    for (size_t step = 0; step < 40; step++) {
        size_t at = length / 40 * step + step;
        char old = bytes[at];
        bytes[at] = (char)(old + 1 + (char)step);
        for (int cut = 0; cut < 2; cut++) {
            masu__recording r;
            masu__buffer why = {0};
            masu_status status = masu__snapshot_read(bytes, cut ? at : length, &r, &why);
            assert_true(status == MASU_OK || (status == MASU_ERR_INVALID_ARGUMENT && why.length > 0));
            assert_true(!cut || status != MASU_OK);
            masu__torch_followed f;
            if (status == MASU_OK) {
                assert_int_equal(masu__torch_follow(&r, NULL, &f), MASU_OK);
                masu__torch_followed_destroy(&f);
                masu__recording_destroy(&r);
            }
            masu__buffer_destroy(&why);
            assert_int_equal(masu__meta_live_blocks(), before);
        }
        bytes[at] = old;
    }
    free(bytes);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_model_does_what_was_recorded),
        cmocka_unit_test(damaged_ones),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
