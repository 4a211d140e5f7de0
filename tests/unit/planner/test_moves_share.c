/* Values that move and are made in place: the least of all that can be done with every choice of what takes over what,
 * byte for byte. */
#include "moves_world.h"

enum { SHARES = 4 };

typedef struct shared {
    small s;
    masu_moves_share shares[SHARES];
} shared;

/* ---- every choice ------------------------------------------------------------------------------------------- */

/* The row whose bytes a row shows in this set. */
static size_t shows(const shared *d, unsigned set, size_t row) {
    for (size_t i = 0; i < d->s.problem.share_count; i++)
        if (set >> i & 1 && d->shares[i].taker == row && d->shares[i].is_view)
            return shows(d, set, d->shares[i].giver);
    return row;
}

static size_t group_of(const shared *d, unsigned set, size_t row) {
    for (size_t i = 0; i < d->s.problem.share_count; i++)
        if (set >> i & 1 && d->shares[i].taker == row)
            return group_of(d, set, d->shares[i].giver);
    return row;
}

static bool may_read_beside(const shared *d, size_t row, size_t taker) {
    for (size_t i = 0; i < d->s.problem.share_count; i++)
        if (d->shares[i].giver == row && d->shares[i].taker == taker)
            return true;
    return false;
}

/* Group by group, moment by moment: are the bytes that each living row needs the last that were written? */
static bool bytes_last(const shared *d, unsigned set) {
    const small *s = &d->s;
    for (size_t group = 0; group < s->problem.count; group++) {
        size_t holds = group;
        for (size_t t = 0; t < s->problem.moment_count; t++) {
            size_t writer = SIZE_MAX;
            for (size_t i = 0; i < s->problem.share_count; i++) {
                const masu_moves_share *share = &d->shares[i];
                if (!(set >> i & 1) || share->is_view || s->rows[share->taker].lower != t ||
                    group_of(d, set, share->taker) != group)
                    continue;
                if (writer != SIZE_MAX)
                    return false;
                writer = share->taker;
            }
            for (size_t row = 0; row < s->problem.count; row++) {
                uint64_t reads, writes;
                if (group_of(d, set, row) != group || !lives(s, row, t) || row == writer)
                    continue;
                if (shows(d, set, row) != holds)
                    return false;
                used(s, row, t, &reads, &writes);
                if (writer != SIZE_MAX && reads + writes > 0 && !may_read_beside(d, row, writer))
                    return false;
            }
            holds = writer != SIZE_MAX ? writer : holds;
        }
    }
    return true;
}

/* The problem that a set of shares makes. False: it cannot be done. */
static bool apply(const shared *d, unsigned set, small *out) {
    const small *s = &d->s;
    size_t number[ROWS], count = 0;
    for (size_t i = 0; i < s->problem.share_count; i++)
        for (size_t k = 0; k < i; k++)
            if (set >> i & set >> k & 1 && d->shares[i].taker == d->shares[k].taker)
                return false;
    if (!bytes_last(d, set))
        return false;
    memset(out, 0, sizeof *out);
    for (size_t row = 0; row < s->problem.count; row++)
        if (group_of(d, set, row) == row) {
            number[row] = count;
            out->rows[count++] = s->rows[row];
        }
    for (size_t row = 0; row < s->problem.count; row++) {
        masu_moves_row *all = &out->rows[number[group_of(d, set, row)]];
        const masu_moves_row *one = &s->rows[row];
        all->upper = one->upper > all->upper ? one->upper : all->upper;
        all->alignment_bytes = one->alignment_bytes > all->alignment_bytes ? one->alignment_bytes
                                                                           : all->alignment_bytes;
        if (one->only != MASU_MOVES_ANY && all->only != MASU_MOVES_ANY && one->only != all->only)
            return false;
        all->only = one->only != MASU_MOVES_ANY ? one->only : all->only;
        if (all->only != MASU_MOVES_ANY && all->home != MASU_MOVES_ANY && all->only != all->home)
            return false;
    }
    memcpy(out->memories, s->memories, sizeof out->memories);
    memcpy(out->channel, s->channel, sizeof out->channel);
    out->problem = s->problem;
    out->problem.use_count = 0;
    unsigned no_read = set, no_write = set; /* a view saves one of each */
    for (size_t u = 0; u < s->problem.use_count; u++) {
        masu_moves_use use = s->uses[u];
        for (size_t i = 0; i < s->problem.share_count; i++) {
            const masu_moves_share *share = &d->shares[i];
            if (!share->is_view || use.moment != s->rows[share->taker].lower)
                continue;
            if (use.row == share->giver && use.reads > 0 && no_read >> i & 1) {
                use.reads--;
                no_read &= ~(1u << i);
            }
            if (use.row == share->taker && use.writes > 0 && no_write >> i & 1) {
                use.writes--;
                no_write &= ~(1u << i);
            }
        }
        use.row = number[group_of(d, set, use.row)];
        if (use.reads + use.writes > 0)
            out->uses[out->problem.use_count++] = use;
    }
    for (size_t i = 0; i < s->problem.share_count; i++)
        if (set >> i & 1)
            out->alone[number[group_of(d, set, d->shares[i].taker)]][s->rows[d->shares[i].taker].lower] = true;
    out->problem.rows = out->rows;
    out->problem.count = count;
    out->problem.uses = out->uses;
    out->problem.memories = out->memories;
    out->problem.channel_bytes = s->problem.channel_bytes ? out->channel : NULL;
    return true;
}

/* Of a view the row is not written once it is there. */
static bool is_kept(const small *s, size_t row) {
    for (size_t u = 0; u < s->problem.use_count; u++)
        if (s->uses[u].row == row && s->uses[u].writes > 0 && s->uses[u].moment > s->rows[row].lower)
            return false;
    return true;
}

static uint64_t least_of_all_choices(const shared *d, uint64_t *without) {
    uint64_t best = UINT64_MAX;
    for (unsigned set = 0; set < 1u << d->s.problem.share_count; set++) {
        small one;
        bool possible = apply(d, set, &one);
        for (size_t i = 0; i < d->s.problem.share_count; i++)
            possible = possible && (!(set >> i & 1) || !d->shares[i].is_view ||
                                    (is_kept(&d->s, d->shares[i].giver) && is_kept(&d->s, d->shares[i].taker)));
        uint64_t cost = possible ? all_that_can_be_done(&one) : UINT64_MAX;
        *without = set == 0 ? cost : *without;
        best = cost < best ? cost : best;
    }
    return best;
}

/* ---- drawn problems ----------------------------------------------------------------------------------------- */

static void draw_shared(shared *d, masu__rng *rng) {
    small *s = &d->s;
    draw(s, rng);
    memset(d->shares, 0, sizeof d->shares);
    for (size_t i = 1; i < s->problem.count; i++) {
        size_t g = masu__rng_below(rng, i);
        masu_moves_row *giver = &s->rows[g], *taker = &s->rows[i];
        if (masu__rng_below(rng, 5) == 0)
            continue;
        bool is_view = masu__rng_below(rng, 3) == 0;
        size_t lower = is_view ? giver->lower + masu__rng_below(rng, giver->upper - giver->lower) : giver->upper - 1;
        bool is_taker = false;
        for (size_t k = 0; k < s->problem.share_count; k++)
            is_taker = is_taker || d->shares[k].taker == g;
        if (lower == giver->lower && (is_taker || masu__rng_below(rng, 4)))
            continue;
        taker->size_bytes = giver->size_bytes;
        taker->alignment_bytes = giver->alignment_bytes;
        taker->home = MASU_MOVES_ANY;
        taker->lower = lower;
        taker->upper = lower + 1 + masu__rng_below(rng, s->problem.moment_count - lower);
        size_t kept = 0;
        for (size_t u = 0; u < s->problem.use_count; u++)
            if (s->uses[u].row != i)
                s->uses[kept++] = s->uses[u];
        if (masu__rng_below(rng, 6))
            s->uses[kept++] = (masu_moves_use){i, lower, 0, 1};
        for (size_t t = lower + 1; t < taker->upper && kept < USES; t++)
            if (masu__rng_below(rng, 3) == 0)
                s->uses[kept++] = (masu_moves_use){i, t, 1 + (uint32_t)masu__rng_below(rng, 5),
                                                   masu__rng_below(rng, 24) == 0};
        if (masu__rng_below(rng, 6) && kept < USES)
            s->uses[kept++] = (masu_moves_use){g, lower, 1, 0};
        s->problem.use_count = kept;
        d->shares[s->problem.share_count++] = (masu_moves_share){g, i, is_view};
    }
    s->problem.shares = d->shares;
}

static void show_shares(const shared *d, const masu_moves_plan *plan) {
    for (size_t i = 0; i < d->s.problem.share_count; i++)
        fprintf(stderr, "%s %zu → %zu%s\n", d->shares[i].is_view ? "view" : "in place", d->shares[i].giver,
                d->shares[i].taker, plan->shared && plan->shared[i] ? ", done" : "");
}

static void as_good_as_every_choice(void **state) {
    (void)state;
    masu__rng rng;
    masu__rng_seed(&rng, 4);
    unsigned lower = 0, moved = 0, views = 0, never = 0;
    for (int round = 0; round < 500; round++) {
        shared d;
        masu_moves_plan plan;
        uint64_t without = UINT64_MAX;
        draw_shared(&d, &rng);
        uint64_t best = least_of_all_choices(&d, &without);
        masu_moves_options options = {0};
        assert_int_equal(masu_moves_find(&d.s.problem, &options, &plan), MASU_OK);
        bool right = best == UINT64_MAX
                         ? plan.outcome == MASU_MOVES_INFEASIBLE
                         : plan.outcome == MASU_MOVES_OPTIMAL && plan.cost == best && plan.lower_bound == best;
        if (!right) {
            fprintf(stderr, "round %d: best %llu\n", round, (unsigned long long)best);
            show(&d.s);
            show_plan(&plan);
            show_shares(&d, &plan);
        }
        assert_true(right);
        masu_moves_verdict verdict = MASU_MOVES_FINE;
        if (best != UINT64_MAX)
            assert_int_equal(masu_moves_check(&d.s.problem, &plan, &verdict, NULL), MASU_OK);
        if (verdict != MASU_MOVES_FINE) {
            show(&d.s);
            show_shares(&d, &plan);
        }
        if (best != UINT64_MAX)
            assert_judged(&d.s.problem, &plan);
        lower += best < without;
        never += best == UINT64_MAX;
        for (size_t i = 0; i < plan.share_count; i++) {
            moved += plan.shared[i] && plan.move_count > 0;
            views += plan.shared[i] && d.shares[i].is_view;
        }
        masu_moves_free(&plan);
    }
    assert_true(lower > 100 && moved > 20 && views > 20 && never > 5); /* the draws are not all the same */
}

/* A view that nothing reads leaves its giver one place, too; two views of one row are held once, also in the bound. */
static void views_that_nothing_reads(void **state) {
    (void)state;
    const size_t any = MASU_MOVES_ANY;
    const masu_moves_row rows[2][ROWS] = {{{2, 0, 0, 7, any, 1, false, 0},
                                           {2, 0, 5, 6, any, any, false, 0},
                                           {2, 0, 2, 5, any, any, false, 0},
                                           {2, 0, 6, 7, any, any, false, 0}},
                                          {{1, 0, 3, 5, any, any, false, 0},
                                           {1, 0, 4, 6, any, any, false, 0},
                                           {1, 0, 5, 6, any, any, false, 0},
                                           {1, 0, 4, 6, 0, any, false, 0}}};
    const masu_moves_use uses[2][9] = {{{0, 0, 0, 1},
                                        {0, 1, 8, 0},
                                        {0, 3, 4, 0},
                                        {0, 4, 6, 0},
                                        {0, 5, 1, 0},
                                        {0, 6, 1, 0},
                                        {1, 5, 0, 1},
                                        {3, 6, 0, 1}},
                                       {{0, 3, 0, 1}, {0, 4, 1, 0}, {1, 5, 1, 0}, {2, 5, 0, 1}, {3, 4, 0, 1}}};
    const masu_moves_share shares[2][SHARES] = {{{0, 1, true}, {0, 3, false}},
                                                {{0, 1, true}, {1, 2, false}, {0, 3, true}}};
    for (size_t i = 0; i < 2; i++) {
        shared d = {.s = {.memories = {{2 - i, 0}, {0, 1}}}};
        memcpy(d.s.rows, rows[i], sizeof rows[i]);
        memcpy(d.s.uses, uses[i], sizeof uses[i]);
        memcpy(d.shares, shares[i], sizeof shares[i]);
        d.s.problem = (masu_moves_problem){.rows = d.s.rows,
                                           .count = ROWS,
                                           .uses = d.s.uses,
                                           .use_count = i ? 5 : 8,
                                           .memories = d.s.memories,
                                           .memory_count = MEMORIES,
                                           .moment_count = MOMENTS,
                                           .shares = d.shares,
                                           .share_count = 2 + i};
        uint64_t without, best = least_of_all_choices(&d, &without);
        masu_moves_plan plan;
        assert_int_equal(masu_moves_find(&d.s.problem, &(masu_moves_options){0}, &plan), MASU_OK);
        assert_true(plan.outcome == MASU_MOVES_OPTIMAL && plan.cost == best && plan.lower_bound == best);
        assert_judged(&d.s.problem, &plan);
        masu_moves_free(&plan);
    }
}

/* ---- many choices ------------------------------------------------------------------------------------------- */

enum { CHAIN = 60 };

/* A chain in which each row may lie over the one before, and every fifth is read again four later. */
static void many_choices(void **state) {
    (void)state;
    masu_moves_row rows[CHAIN];
    masu_moves_use uses[3 * CHAIN];
    masu_moves_share shares[CHAIN];
    masu_moves_memory memories[] = {{96, 0}, {0, 1}};
    masu_moves_problem p = {.rows = rows,
                            .count = CHAIN,
                            .uses = uses,
                            .memories = memories,
                            .memory_count = 2,
                            .moment_count = CHAIN + 1,
                            .shares = shares};
    for (size_t i = 0; i < CHAIN; i++) {
        bool stays = i % 5 == 0 && i + 5 < CHAIN;
        rows[i] = (masu_moves_row){.size_bytes = 64,
                                   .alignment_bytes = 32,
                                   .lower = i,
                                   .upper = i + (stays ? 5 : 2),
                                   .only = MASU_MOVES_ANY,
                                   .home = MASU_MOVES_ANY};
        uses[p.use_count++] = (masu_moves_use){i, i, 0, 1};
        uses[p.use_count++] = (masu_moves_use){i, i + 1, 1, 0};
        if (stays)
            uses[p.use_count++] = (masu_moves_use){i, i + 4, 1, 0};
        if (i > 0 && !(i % 5 == 1 && i + 4 < CHAIN))
            shares[p.share_count++] = (masu_moves_share){i - 1, i, i % 7 == 0};
    }
    masu_moves_plan plan, again, apart;
    masu_moves_options options = {.rounds = 200};
    assert_int_equal(masu_moves_find(&p, &options, &plan), MASU_OK);
    assert_int_equal(masu_moves_find(&p, &options, &again), MASU_OK);
    assert_judged(&p, &plan);
    masu_moves_problem without = p;
    without.share_count = 0;
    assert_int_equal(masu_moves_find(&without, &options, &apart), MASU_OK);
    assert_true(plan.cost < apart.cost && plan.lower_bound <= plan.cost && plan.cost == again.cost);
    assert_memory_equal(plan.shared, again.shared, plan.share_count);
    uint64_t operators[2], moves[2];
    masu_moves_traffic(&p, &plan, operators, moves);
    assert_int_equal(operators[1] + moves[1], plan.cost);
    masu_moves_free(&plan);
    masu_moves_free(&again);
    masu_moves_free(&apart);
}

/* ---- what the judge and the checks see ------------------------------------------------------------------------ */

/* a is made at 0 and read at 1, where b is made over it; c is b under another name, from 2 on. */
typedef struct scene {
    masu_moves_row rows[3];
    masu_moves_use uses[6];
    masu_moves_share shares[2];
    masu_moves_memory memories[2];
    masu_moves_place places[3];
    bool shared[2];
    masu_moves_problem problem;
    masu_moves_plan plan;
} scene;

static void set(scene *s) {
    const size_t any = MASU_MOVES_ANY;
    *s = (scene){
        .rows = {{8, 0, 0, 2, any, any, false, 0}, {8, 0, 1, 4, any, any, false, 0}, {8, 0, 2, 4, any, any, false, 0}},
        .uses = {{0, 0, 0, 1}, {0, 1, 1, 0}, {1, 1, 0, 1}, {1, 2, 1, 0}, {2, 2, 0, 1}, {2, 3, 1, 0}},
        .shares = {{0, 1, false}, {1, 2, true}},
        .memories = {{8, 1}, {0, 4}},
        .places = {{0, 0, 0, 2, 0}, {1, 0, 1, 4, 0}, {2, 0, 2, 4, 0}},
        .shared = {true, true}};
    s->problem = (masu_moves_problem){.rows = s->rows,
                                      .count = 3,
                                      .uses = s->uses,
                                      .use_count = 6,
                                      .memories = s->memories,
                                      .memory_count = 2,
                                      .moment_count = 4,
                                      .shares = s->shares,
                                      .share_count = 2};
    s->plan = (masu_moves_plan){
        .places = s->places, .place_count = 3, .shared = s->shared, .share_count = 2, .cost = 4 * 8};
}

static void expect(const scene *s, masu_moves_verdict wanted) {
    masu_moves_verdict verdict;
    assert_int_equal(masu_moves_check(&s->problem, &s->plan, &verdict, NULL), MASU_OK);
    assert_string_equal(masu_moves_verdict_name(verdict), masu_moves_verdict_name(wanted));
}

static void sees_what_is_taken_wrongly(void **state) {
    (void)state;
    scene s;
    set(&s), expect(&s, MASU_MOVES_FINE);
    set(&s), s.shared[0] = false, expect(&s, MASU_MOVES_CLOBBERED); /* b over a, and nobody said so */
    set(&s), s.shared[1] = false, expect(&s, MASU_MOVES_CLOBBERED);
    set(&s), s.plan.shared = NULL, expect(&s, MASU_MOVES_CLOBBERED);
    set(&s), s.places[2].memory = 1, expect(&s, MASU_MOVES_CLOBBERED); /* not where b's bytes are */
    set(&s), s.places[1].memory = s.places[2].memory = 1, expect(&s, MASU_MOVES_BAD_TAKING);
    set(&s), s.plan.cost += 16, expect(&s, MASU_MOVES_WRONG_COST); /* a view is not read and written */
    set(&s), s.shares[1].is_view = false, s.rows[1].upper = s.places[1].upper = 3, s.plan.cost = 6 * 8,
             expect(&s, MASU_MOVES_FINE);
    set(&s), s.uses[5] = (masu_moves_use){2, 3, 1, 1}, s.plan.cost += 8,
             expect(&s, MASU_MOVES_BAD_TAKING); /* b is needed */
}

static void shares_that_are_wrong(void **state) {
    (void)state;
    scene s;
    size_t where;
    set(&s);
    assert_int_equal(masu_moves_validate(&s.problem, &where), MASU_MOVES_RIGHT);
    for (int i = 0; i < 10; i++) {
        set(&s);
        switch (i) {
        case 0:
            s.shares[1].giver = 3;
            break;
        case 1:
            s.shares[1].taker = 1;
            break;
        case 2:
            s.rows[2].size_bytes = 16;
            break;
        case 3:
            s.shares[1].is_view = false;
            break; /* b lives on */
        case 4:
            s.rows[2].home = 0;
            break;
        case 5:
            s.rows[1].upper = 2, s.problem.use_count = 3;
            break; /* b is dead when c is born */
        case 6:
            s.shares[1] = (masu_moves_share){2, 1, true};
            break;
        case 7:
            s.rows[1].only = 0, s.rows[1].is_fixed = true;
            break;
        case 8:
            s.rows[2].only = 0, s.rows[2].is_fixed = true;
            break;
        default:
            s.rows[2].lower = 1, s.uses[4].moment = 1;
            break; /* b takes over at 1, and is taken over */
        }
        masu_moves_plan plan;
        assert_int_equal(masu_moves_validate(&s.problem, &where), MASU_MOVES_BAD_SHARE);
        assert_int_equal(where, i == 7 ? 0 : 1);
        assert_int_equal(masu_moves_find(&s.problem, NULL, &plan), MASU_ERR_INVALID_ARGUMENT);
    }
}

/* The first, second, third … piece of memory is refused: each time that is said, and nothing stays behind. */
static void refused_memory(void **state) {
    (void)state;
    uint64_t before = masu__meta_live_bytes();
    masu_moves_options options = {0};
    bool done = false;
    for (uint64_t nth = 1; !done; nth++) {
        scene s;
        masu_moves_plan plan;
        set(&s);
        s.plan = plan = (masu_moves_plan){0};
        masu__fault_arm(nth);
        masu_status status = masu_moves_find(&s.problem, &options, &plan);
        done = !masu__fault_fired();
        masu__fault_arm(0);
        assert_true(status == (done ? MASU_OK : MASU_ERR_OUT_OF_MEMORY) || (status == MASU_OK && plan.place_count > 0));
        assert_true(!done || plan.cost == 4 * 8);
        masu_moves_free(&plan);
        assert_int_equal(masu__meta_live_bytes(), before);
        assert_true(nth < 100000);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(as_good_as_every_choice),
        cmocka_unit_test(views_that_nothing_reads),
        cmocka_unit_test(many_choices),
        cmocka_unit_test(sees_what_is_taken_wrongly),
        cmocka_unit_test(shares_that_are_wrong),
        cmocka_unit_test(refused_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
