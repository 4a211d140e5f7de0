/* test_match_numbers.c: which arms of a match of numbers are reached, and whether one is forgotten, against trying all
 * 256 bytes. */
#include "unit/language/front_testing.h"

typedef struct arm {
    int low, high; /* of the first alternative; low > high: nothing */
    int more_low, more_high;
    bool any, has_more, guarded;
} arm;

enum { BYTES = 256, MOST_ARMS = 14 };

static void draw(uint64_t *seed, int *low, int *high) {
    static const int edges[] = {0, 1, 254, 255};
    *low = front_random(seed) % 5 == 0 ? edges[front_random(seed) % 4] : (int)(front_random(seed) % BYTES);
    int length = front_random(seed) % 3 == 0 ? 0 : (int)(front_random(seed) % 90);
    *high = *low + length > 255 ? 255 : *low + length;
}

static void put(masu__buffer *b, int low, int high) {
    if (low == high)
        masu__buffer_printf(b, "%d", low);
    else if (high == 255)
        masu__buffer_printf(b, "%d..", low);
    else if (high % 2 == 0)
        masu__buffer_printf(b, "%d..=%d", low, high);
    else
        masu__buffer_printf(b, "%d..%d", low, high + 1);
}

static bool matches(const arm *a, int value) {
    return a->any || (value >= a->low && value <= a->high) ||
           (a->has_more && value >= a->more_low && value <= a->more_high);
}

static uint32_t make(uint64_t *seed, arm *arms, masu__buffer *text) {
    uint32_t count = 1 + (uint32_t)(front_random(seed) % MOST_ARMS);
    masu__buffer_puts(text, "fn f(v: u8, g: bool) -> i64 {\n    match v {\n");
    for (uint32_t i = 0; i < count; i++) {
        arm *a = &arms[i];
        *a = (arm){.any = front_random(seed) % 12 == 0,
                   .has_more = front_random(seed) % 3 == 0,
                   .guarded = front_random(seed) % 5 == 0};
        draw(seed, &a->low, &a->high);
        draw(seed, &a->more_low, &a->more_high);
        masu__buffer_puts(text, "        ");
        if (a->any)
            masu__buffer_puts(text, "_");
        else
            put(text, a->low, a->high);
        if (!a->any && a->has_more) {
            masu__buffer_puts(text, " | ");
            put(text, a->more_low, a->more_high);
        }
        masu__buffer_printf(text, "%s => %u,\n", a->guarded ? " if g" : "", i);
    }
    masu__buffer_puts(text, "    }\n}\nfn main() {\n    println(\"{}\", f(1, true));\n}\n");
    return count;
}

/* How many arms match nothing that is left; covered: what no value falls through. */
static uint32_t judge(const arm *arms, uint32_t count, bool covered[BYTES]) {
    uint32_t dead = 0;
    memset(covered, 0, BYTES * sizeof *covered);
    for (uint32_t i = 0; i < count; i++) {
        bool reached = false;
        for (int v = 0; v < BYTES; v++)
            reached |= !covered[v] && matches(&arms[i], v);
        for (int v = 0; v < BYTES; v++)
            covered[v] |= !arms[i].guarded && matches(&arms[i], v);
        dead += !reached;
    }
    return dead;
}

static uint32_t occurrences(const char *text, const char *word) {
    uint32_t count = 0;
    for (const char *at = strstr(text, word); at; at = strstr(at + 1, word))
        count++;
    return count;
}

static void every_byte_agrees(void **state) {
    (void)state;
    uint64_t seed = 20;
    uint32_t forgotten = 0, dead_arms = 0;
    for (int round = 0; round < 3000; round++) {
        masu__buffer text = {0};
        arm arms[MOST_ARMS];
        bool covered[BYTES];
        uint32_t count = make(&seed, arms, &text), dead = judge(arms, count, covered);
        front f;
        front_check(&f, masu__buffer_text(&text), text.length);
        assert_int_equal(f.status, MASU_OK);
        const char *said = front_rendered(&f), *note = strstr(said, "` has no arm");
        bool all = true;
        for (int v = 0; v < BYTES; v++)
            all &= covered[v];
        if (occurrences(said, "nothing reaches this arm") != dead || (strstr(said, "does not cover") != NULL) == all)
            fail_msg("%s\n%s\n%u arms are dead", masu__buffer_text(&text), said, dead);
        assert_true((note == NULL) == all);
        if (note) {
            while (note[-1] != '`')
                note--;
            assert_false(covered[strtol(note, NULL, 10)]);
        }
        forgotten += !all;
        dead_arms += dead;
        front_end(&f);
        masu__buffer_destroy(&text);
    }
    assert_true(forgotten > 300 && dead_arms > 300);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_byte_agrees)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
