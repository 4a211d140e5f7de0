/* Where each known shape of a fault of virtual memory, of streams and of an interposer is tested: rows B14 to B22, the
 * reports of part C that are about them, and what other pools of virtual memory promise; and the one report that wants
 * a sweep of its own.
 *
 * The table below is checked by the first test: every function it names stands in the file it names and is run there.
 */
#include <stdio.h>

#include "fake_cuda/controls.h"
#include "unit/allocators/vm_fixture.h"

#include "hostile/source_text.h"

#define VM      "tests/unit/allocators/test_vm.c"
#define PIECES  "tests/unit/allocators/test_vm_pieces.c"
#define STREAMS "tests/unit/allocators/test_streams.c"
#define CUDA    "tests/unit/devices/test_cuda.c"
#define DEVICES "tests/unit/devices/test_device_vm.c"
#define MODEL   "tests/model/test_vm.c"
#define FAULTS  "tests/hostile/test_vm_faults.c"
#define HERE    "tests/hostile/test_vm_shapes.c"
#define PROGRAM "tests/fake_cuda/program.c"   /* a part of the program, which the script runs */
#define SCRIPT  "tests/hostile/interposer.sh" /* words of the script */

static const struct row {
    const char *shape, *file, *function;
} rows[] = {
    {"B14 grow in place", VM, "grows_in_place_when_there_is_room"},
    {"B14 grow elsewhere", VM, "grows_elsewhere_when_the_neighbour_is_taken"},
    {"B14 shrink", VM, "shrinks_and_gives_its_end_back"},
    {"B14 move, to itself, of nothing", VM, "moves_and_leaves_the_source_empty"},
    {"B14 move into a larger block", VM, "a_move_into_a_larger_block_extends"},
    {"B14 no handle in two places, random life", MODEL, "on_pages"},
    {"B14 the same on the driver", MODEL, "on_the_driver"},
    {"B15 each call of the device fails", FAULTS, "every_call_of_the_device_fails_once"},
    {"B15 each call of the driver fails", FAULTS, "every_call_of_the_driver_fails_once"},
    {"B15 the way back is refused as well", FAULTS, "the_driver_refuses_the_way_back_too"},
    {"B15 drained once, asked again once", FAULTS, "exhaustion_drains_once"},
    {"B16 81 blocks, fragments left alone", PIECES, "small_fragments_are_left_alone"},
    {"B16 the reverse: 36 fragments", PIECES, "small_fragments_are_used_when_allowed"},
    {"B17 ratios of a configuration", VM, "bad_configurations_are_refused"},
    {"B17 what the ratio is of", PIECES, "the_ratio_is_of_the_request"},
    {"B17 garbage in the environment", SCRIPT, "VMM_FRAG_RATIO=$ratio makes no sense; taken as 0.25"},
    {"B18 one byte, about a granule", VM, "three_sizes"},
    {"B18 copies of user bytes only", VM, "copies_or_moves"},
    {"B19 addresses or memory run out", PIECES, "addresses_and_memory_run_out_differently"},
    {"B19 scarce addresses", VM, "scarce_addresses"},
    {"B20 a hundred thousand swaps by moves", MODEL, "swapped_by_moves"},
    {"B21 a runtime inside the program", SCRIPT, "A runtime inside the program is taken over"},
    {"B21 C malloc of 0, free of NULL, foreign", PROGRAM, "edges"},
    {"B21 managed, pitched, host, async", PROGRAM, "families"},
    {"B21 three dimensions, arrays", PROGRAM, "shapes"},
    {"B21 graphs", PROGRAM, "capture"},
    {"B21 memory information", PROGRAM, "info"},
    {"B22 a copy used as a backup", PROGRAM, "backup"},
    {"C3 two options together", PIECES, "rounds_of_unlike_sizes_stay_bounded"},
    {"C6 C23 chunks fail, one good request after", HERE, "c06_c23_each_chunk_fails_once"},
    {"C9 merging forgets no event", STREAMS, "merging_forgets_no_event"},
    {"C9 a handle used again", STREAMS, "a_handle_used_again_is_another_stream"},
    {"C10 another device is current", CUDA, "the_current_device_does_not_matter"},
    {"C10 work is queued", CUDA, "nothing_is_unmapped_under_work"},
    {"C12 a forked child", VM, "a_forked_child_shares_no_byte"},
    {"C15 the driver is gone", CUDA, "a_driver_that_is_gone_took_all_back"},
    {"C22 trimmed pages leave the process", VM, "trim_gives_pages_back"},
    {"C24 borders of stitched pieces", PIECES, "fragments_are_stitched"},
    {"C24 the system's limit of mappings", DEVICES, "host_tells_the_limit_of_mappings"},
    {"C25 a static runtime needs no advice", SCRIPT, "static runtime, $part: says something"},
    {"C free of NULL as the very first call", PROGRAM, "first"},
    {"C every name is found by every way", PROGRAM, "lookup"},
    {"C pool memory, freed crosswise", PROGRAM, "families"},
    {"C every hook is called", SCRIPT, "hooks that no part of the program calls"},
    {"C memory during a capture", PROGRAM, "capture"},
    {"C handles for other processes", PROGRAM, "families"},
    {"names of per-thread streams", PROGRAM, "per_thread"},
    {"the stock: first use, cap, trim", PIECES, "the_cap_is_kept_and_trim_empties"},
    {"one reservation for small blocks", PIECES, "small_blocks_share_one_reservation"},
    {"streams: a block that others use", STREAMS, "a_block_that_others_use_waits_for_them"},
    {"streams: waits when there is no more", STREAMS, "when_there_is_no_more_it_waits"},
};

static bool says(const char *text, const char *format, const char *name) {
    char wanted[160];
    snprintf(wanted, sizeof wanted, format, name);
    return strstr(text, wanted) != NULL;
}

static bool row_holds(const struct row *row) {
    const char *text = text_of(row->file);
    if (strcmp(row->file, SCRIPT) == 0)
        return strstr(text, row->function) != NULL;
    if (strcmp(row->file, PROGRAM) == 0)
        return says(text, "static void %s(void) {", row->function) && says(text, "{\"%s\",", row->function) &&
               says(text_of(SCRIPT), "%s", row->function);
    return says(text, "static void %s(void **state) {", row->function) &&
           (says(text, "cmocka_unit_test(%s)", row->function) || says(text, "ON_PAGES(%s)", row->function) ||
            says(text, "ON_SIZES(%s)", row->function));
}

static void every_row_has_its_test(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (!row_holds(&rows[i]))
            fail_msg("%s: no %s in %s", rows[i].shape, rows[i].function, rows[i].file);
}

/* ---- one to eight chunks, each refused once ------------------------------------------------------------------ */

enum { MOST_CHUNKS = 8, SOME_ERROR = 999 };

typedef struct scene {
    vm_fixture f;
    void *witness;
} scene;

static void open_scene(scene *s) {
    masu_vm_config config = vm_small_config();
    config.max_piece_bytes = GRANULE;
    assert_int_equal(masu_device_create_cuda(&(masu_cuda_config){.library = fake_cuda()->path}, &vm_copier), MASU_OK);
    vm_open(&s->f, vm_copier, config);
    s->witness = vm_take(&s->f, 2 * GRANULE);
    vm_fill(s->witness, 2 * GRANULE, 9);
}

static void close_scene(scene *s) {
    fake_cuda_report report;
    assert_true(vm_has(s->witness, 2 * GRANULE, 2 * GRANULE, 9));
    vm_give(&s->f, s->witness);
    vm_close(&s->f, MASU_OK);
    vm_copier = NULL;
    fake_cuda()->report(&report);
    if (report.misuses > 0)
        fail_msg("driver misused: %s", fake_cuda()->last_misuse());
    assert_int_equal(report.handles + report.mappings + report.reservations, 0);
}

/* One good request, all of it usable, and nothing of it released twice. */
static void good_request(scene *s, size_t bytes) {
    void *ptr = vm_take(&s->f, bytes);
    vm_fill(ptr, bytes, 3);
    assert_true(vm_has(ptr, bytes, bytes, 3));
    vm_give(&s->f, ptr);
    assert_int_equal(masu_vm_free(s->f.vm, ptr), MASU_ERR_DOUBLE_FREE);
    assert_int_equal(masu_vm_trim(s->f.vm, 0), MASU_OK);
}

/* False: the nth call of that name does not take place. */
static bool refused_once(const char *call, uint64_t nth, size_t chunks) {
    scene s;
    void *ptr = &s;
    fake_cuda_report before, after;
    open_scene(&s);
    masu_vm_stats was = vm_stats(s.f.vm);
    fake_cuda()->report(&before);
    fake_cuda()->refuse(call, nth, SOME_ERROR, 0);
    masu_status status = masu_vm_alloc(s.f.vm, chunks * GRANULE, 0, 0, &ptr);
    fake_cuda()->refuse(NULL, 0, 0, 0);
    if (status == MASU_OK) {
        vm_give(&s.f, ptr);
        close_scene(&s);
        return false;
    }
    masu_vm_stats is = vm_stats(s.f.vm);
    fake_cuda()->report(&after);
    assert_int_equal(status, MASU_ERR_DEVICE_FAILURE);
    assert_null(ptr);
    assert_int_equal(is.held_bytes, was.held_bytes);
    assert_int_equal(is.stock_bytes, was.stock_bytes);
    assert_int_equal(is.mapped_bytes, was.mapped_bytes);
    assert_int_equal(is.stuck_bytes, 0);
    assert_int_equal(after.handles, before.handles);
    assert_int_equal(after.handle_bytes, before.handle_bytes);
    assert_int_equal(after.mappings, before.mappings);
    assert_int_equal(after.aliases, 0);
    vm_judge(&s.f);
    good_request(&s, chunks * GRANULE);
    close_scene(&s);
    return true;
}

static void c06_c23_each_chunk_fails_once(void **state) {
    (void)state;
    static const char *const calls[] = {"cuMemCreate", "cuMemMap", "cuMemSetAccess"};
    if (!fake_cuda()->simulated) {
        print_message("skipped: only the simulated driver fails on demand\n");
        skip();
    }
    for (size_t chunks = 1; chunks <= MOST_CHUNKS; chunks++)
        for (int call = 0; call < 3; call++) {
            uint64_t nth = 1;
            while (refused_once(calls[call], nth, chunks))
                nth++;
            assert_int_equal(nth - 1, call < 2 ? chunks : 1);
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_row_has_its_test),
        cmocka_unit_test(c06_c23_each_chunk_fails_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
