/* test_front_hostile.c: what no person writes: huge types, long programs, no memory, broken programs. */
#include "unit/language/front_testing.h"

static function_item *function_named(const front *f, const char *qualified) {
    for (uint32_t i = 0; i < f->tree->function_count; i++)
        if (strcmp(f->tree->functions[i]->qualified, qualified) == 0)
            return f->tree->functions[i];
    fail_msg("no function %s", qualified);
    return NULL;
}

static void types_are_bounded(void **state) {
    (void)state;
    masu__buffer program = {0};
    masu__buffer_puts(&program, "fn main() { let t0 = (1, 2);\n");
    for (int i = 1; i < 64; i++)
        masu__buffer_printf(&program, "let t%d = (t%d, t%d);\n", i, i - 1, i - 1);
    masu__buffer_puts(&program, "}\nstruct S0 { x: i64 }\n");
    for (int i = 1; i < 64; i++)
        masu__buffer_printf(&program, "struct S%d { a: S%d, b: (S%d, S%d) }\n", i, i - 1, i - 1, i - 1);
    front f;
    front_check(&f, masu__buffer_text(&program), program.length);
    assert_int_equal(f.status, MASU_OK);
    assert_non_null(strstr(front_rendered(&f), "error: a type of more than 4096 parts"));
    assert_non_null(strstr(front_rendered(&f), "has more than 4096 parts"));
    front_end(&f);
    masu__buffer_destroy(&program);
}

static void time_is_linear(void **state) {
    (void)state;
    /* Would take minutes with a quadratic step in it. */
    masu__buffer program = {0};
    masu__buffer_puts(&program, "struct P { x: i64 }\nimpl P { ");
    for (int i = 0; i < 5000; i++)
        masu__buffer_printf(&program, "fn m%d(self) { self.m%d(); }\n", i, i + 1);
    masu__buffer_puts(&program,
                      "fn m5000(self) { self.x = 1; } }\nfn main() { let mut p = P(1); p.m0(); let t = [0.0];\n");
    for (int i = 0; i < 20000; i++)
        masu__buffer_printf(&program, "let v%d = %d + t[0]; println(v%d);\n", i, i, i);
    masu__buffer_puts(&program, "let y = [i | i <- 0..1 { 0.0");
    for (int i = 0; i < 900; i++)
        masu__buffer_printf(&program, " + v%d", i);
    masu__buffer_puts(&program, "}]; }");
    front f;
    front_good(&f, masu__buffer_text(&program));
    assert_true(function_named(&f, "P::m0")->writes_self);
    front_end(&f);
    masu__buffer_destroy(&program);
}

static void every_failing_allocation(void **state) {
    (void)state;
    size_t length;
    char *text = front_read(front_programs[0], &length);
    bool finished = false;
    uint64_t before = masu__meta_live_blocks();
    for (uint64_t nth = 1; !finished && nth < 1000; nth++) {
        front f;
        masu__fault_arm(nth);
        front_check(&f, text, length);
        finished = !masu__fault_fired();
        masu__fault_arm(0);
        if (finished) {
            assert_int_equal(f.status, MASU_OK);
            assert_int_equal(f.diagnostics.error_count, 0);
        } else {
            assert_int_equal(f.status, MASU_ERR_OUT_OF_MEMORY);
        }
        front_end(&f);
        assert_int_equal(masu__meta_live_blocks(), before);
    }
    assert_true(finished);
    free(text);
}

static bool inside(const function_item *f, const diagnostic *d) {
    source_span body = f->body->span;
    return d->span.offset >= body.offset && d->span.offset < body.offset + body.length;
}

static bool all_inside_bodies(const front *f) {
    for (const diagnostic *d = f->diagnostics.first; d != NULL; d = d->next) {
        bool found = false;
        for (uint32_t i = 0; i < f->tree->function_count && !found; i++)
            found = inside(f->tree->functions[i], d);
        if (!found)
            return false;
    }
    return f->diagnostics.dropped == 0;
}

/* Functions without a mistake are as the tree promises, whatever is wrong in the others; but a program
 * that was not even read may have signatures that nobody could check. */
static void judge_the_rest(const front *f, const char *program) {
    front parsed;
    front_parse(&parsed, program, strlen(program));
    uint32_t unread = parsed.diagnostics.error_count;
    front_end(&parsed);
    if (unread > 0)
        return;
    for (uint32_t i = 0; all_inside_bodies(f) && i < f->tree->function_count; i++) {
        bool wrong = false;
        for (const diagnostic *d = f->diagnostics.first; d != NULL; d = d->next)
            wrong |= inside(f->tree->functions[i], d);
        masu__buffer faults = {0};
        if (!wrong && !check_function_valid(f->tree, f->tree->functions[i], &faults))
            print_message("%s\n", program);
        assert_string_equal(masu__buffer_text(&faults), "");
        masu__buffer_destroy(&faults);
    }
}

/* Drops, doubles, exchanges and replaces tokens of real programs. Whatever passes must also please the judge. */
static void mutated_programs(void **state) {
    (void)state;
    uint64_t seed = 0xBADC0DE;
    print_message("seed %llu\n", (unsigned long long)seed);
    for (int round = 0; round < 1500; round++) {
        size_t length;
        char *text = front_read(front_programs[round % FRONT_PROGRAMS], &length);
        front f;
        token_list list;
        front_begin(&f, text, length);
        assert_int_equal(lex_source(&f.file, &f.arena, &f.diagnostics, &list), MASU_OK);
        masu__buffer mutated = {0};
        uint64_t changes = 1 + front_random(&seed) % 4, at[4], how[4];
        for (uint64_t i = 0; i < changes; i++) {
            at[i] = front_random(&seed) % list.count;
            how[i] = front_random(&seed) % 4;
        }
        for (uint32_t i = 0; i + 1 < list.count; i++) {
            uint32_t copies = 1, from = i;
            for (uint64_t k = 0; k < changes; k++) {
                if (at[k] == i) {
                    copies = how[k] == 0 ? 0 : how[k] == 1 ? 2 : 1;
                    from = how[k] >= 2 ? (uint32_t)(front_random(&seed) % (list.count - 1)) : i;
                }
            }
            for (; copies > 0; copies--) {
                masu__buffer_append(&mutated, text + list.tokens[from].offset, list.tokens[from].length);
                masu__buffer_putc(&mutated, ' ');
            }
        }
        front_end(&f);
        front_check(&f, masu__buffer_text(&mutated), mutated.length);
        assert_int_equal(f.status, MASU_OK);
        front_rendered(&f);
        judge_the_rest(&f, masu__buffer_text(&mutated));
        front_end(&f);
        masu__buffer_destroy(&mutated);
        free(text);
    }
}

static void mutated_bytes(void **state) {
    (void)state;
    uint64_t seed = 0x5EED;
    print_message("seed %llu\n", (unsigned long long)seed);
    for (int round = 0; round < 1000; round++) {
        size_t length;
        char *text = front_read(front_programs[round % FRONT_PROGRAMS], &length);
        for (uint64_t changes = 1 + front_random(&seed) % 8; changes > 0; changes--)
            text[front_random(&seed) % length] = (char)front_random(&seed);
        front f;
        front_check(&f, text, front_random(&seed) % (length + 1));
        assert_int_equal(f.status, MASU_OK);
        front_rendered(&f);
        front_end(&f);
        free(text);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(types_are_bounded),
        cmocka_unit_test(time_is_linear),
        cmocka_unit_test(every_failing_allocation),
        cmocka_unit_test(mutated_programs),
        cmocka_unit_test(mutated_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
