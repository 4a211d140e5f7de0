/* portfolio.c: many orders for one question, over several threads.
 *
 *     attempts, in the order of their numbers:   round 0: order 0, 1, 2 …   round 1: …
 *     (with two targets each order comes twice, the higher target first)
 *     thread A  ──0──────2────────3──✓
 *     thread B  ────1──────────────────4…   stopped: its number is higher than the answer's
 *
 * The answer is that of the lowest number that has one; attempts with lower numbers are always
 * finished, higher ones are thrown away. So neither the number of threads nor their speed shows in
 * the result.
 */
#include <pthread.h>
#include <string.h>

#include "base/assert.h"
#include "base/meta.h"
#include "planner/search/solver.h"

/* Some searches end at once and some never, and no order is right for all: many short attempts that
 * differ find more than one long one. Those that jump back over what a failure is not about, and weigh
 * sections by their failures from restart to restart, find most; the two that do not jump end with
 * proofs as well. What has no noise is the same in each round, with more steps. */
#define JUMPING(how, its_name, its_keys, its_coarse, its_noise, its_learn, its_restarts)                  \
    {                                                                                                     \
        .name = its_name, .keys = its_keys, .coarse = its_coarse, .noise = its_noise, .learn = its_learn, \
        .restarts = its_restarts, .jumps = MASU__JUMPS_##how                                              \
    }

static const masu__search_order orders[] = {
    {.name = "contention, duration, area", .keys = "TWA", .infers = true},
    JUMPING(NEAR, "contention, sections", "TSA", 0.05, 0.3, 3, 6),
    JUMPING(FAR, "contention, duration", "TWA", 0.2, 0.3, 3, 6),
    {.name = "contention, duration, inferring",
     .keys = "TWA",
     .coarse = 0.01,
     .noise = 0.1,
     .restarts = 2,
     .jumps = MASU__JUMPS_FAR,
     .infers = true},
    JUMPING(NEAR, "contention, area", "TAW", 0.05, 0.3, 3, 6),
    JUMPING(NEAR, "contention, duration", "TWA", 0.1, 0.3, 10, 6),
    JUMPING(NEAR, "duration", "WAT", 0, 0.2, 0, 4),
    JUMPING(FAR, "contention, duration", "TWA", 0.1, 0.3, 3, 6),
    JUMPING(NEAR, "sections", "SAT", 0, 0.2, 0, 4),
    {.name = "contention, duration with little noise", .keys = "TWA", .noise = 0.1, .infers = true},
    JUMPING(FAR, "contention, duration with much noise", "TWA", 0.05, 0.6, 3, 6),
};

_Static_assert(sizeof orders / sizeof *orders == MASU__PLAN_ORDERS, "each order has its number");

typedef struct portfolio portfolio;

typedef struct worker {
    portfolio *run;
    masu__plan_search *search;
    uint32_t number; /* of the attempt at work */
    int stopped;     /* atomic */
    pthread_t thread;
    bool started;
} worker;

struct portfolio {
    masu__solver *solver;
    const int64_t *targets;
    unsigned target_count;
    int favourite;
    uint64_t first_steps; /* of round 0 */
    uint32_t first, count, next;
    pthread_mutex_t mutex;                       /* guards everything below, and next */
    uint32_t answer;                             /* the lowest number with an answer; count: none yet */
    uint32_t exhausted[MASU__PLAN_MOST_TARGETS]; /* the lowest number that said so; count: none */
    uint64_t used[MASU__PLAN_MOST_ATTEMPTS];     /* steps, by number - first */
    masu__search_end end;
    const char *name;
    bool cut_short;
    worker workers[MASU__PLAN_MOST_THREADS];
    unsigned worker_count;
};

static bool worker_stopped(void *context) {
    worker *w = context;
    return __atomic_load_n(&w->stopped, __ATOMIC_RELAXED) || masu__solver_stopped(w->run->solver);
}

static int64_t target_of(const portfolio *run, uint32_t number) {
    return run->targets[number % run->target_count];
}

/* In later rounds every other attempt is one more of what found the last plan. */
static uint32_t order_number(const portfolio *run, uint32_t number) {
    number /= run->target_count;
    bool again = run->favourite >= 0 && number % 2 == 1 && number >= MASU__PLAN_ORDERS;
    return again ? (uint32_t)run->favourite : number % MASU__PLAN_ORDERS;
}

static masu__search_order order_of(const portfolio *run, uint32_t number) {
    uint32_t mine = order_number(run, number), attempt = number / run->target_count;
    masu__search_order order = orders[mine];
    if (mine != attempt % MASU__PLAN_ORDERS && order.noise == 0)
        order.noise = 0.2;
    order.seed = run->solver->options->seed * UINT64_C(1000003) + attempt;
    return order;
}

/* Twice the steps in every other round; half as many of those that cost more. */
static uint64_t steps_of(const portfolio *run, uint32_t number) {
    const masu__search_order *order = &orders[order_number(run, number)];
    uint64_t steps = run->first_steps << (number / run->target_count / MASU__PLAN_ORDERS / 2);
    if (order->restarts > 0)
        steps *= order->restarts;
    return order->infers ? steps / 2 : steps;
}

/* The mutex is held. A target that is exhausted is no longer asked for; the highest one answers for
 * all. */
static bool is_answer(portfolio *run, const worker *w, masu__search_end end) {
    uint32_t *exhausted = &run->exhausted[w->number % run->target_count];
    if (end == MASU__SEARCH_EXHAUSTED && w->number < *exhausted)
        *exhausted = w->number;
    return end == MASU__SEARCH_FOUND || (end == MASU__SEARCH_EXHAUSTED && w->number % run->target_count == 0);
}

/* The mutex is held. The offsets are kept at once: the search may be used again. */
static void note_answer(portfolio *run, worker *w, masu__search_end end, const char *name) {
    masu__solver *s = run->solver;
    if (w->number >= run->answer)
        return;
    run->answer = w->number;
    run->end = end;
    run->name = name;
    if (end == MASU__SEARCH_FOUND)
        memcpy(s->offsets, masu__plan_search_offsets(w->search), s->model.item_count * sizeof *s->offsets);
    for (unsigned i = 0; i < run->worker_count; i++)
        if (run->workers[i].number > w->number)
            __atomic_store_n(&run->workers[i].stopped, 1, __ATOMIC_RELAXED);
}

static bool take_attempt(portfolio *run, worker *w) {
    pthread_mutex_lock(&run->mutex);
    bool more = run->next < run->count && run->next < run->answer && !run->cut_short;
    if (more)
        w->number = run->next++;
    while (more && w->number > run->exhausted[w->number % run->target_count]) {
        more = run->next < run->count && run->next < run->answer;
        w->number = more ? run->next++ : w->number;
    }
    __atomic_store_n(&w->stopped, 0, __ATOMIC_RELAXED);
    pthread_mutex_unlock(&run->mutex);
    return more;
}

static void *work(void *context) {
    worker *w = context;
    portfolio *run = w->run;
    masu__plan_stop stop = {worker_stopped, w};
    while (take_attempt(run, w)) {
        masu__search_order order = order_of(run, w->number);
        masu__search_end end = masu__plan_search_run(w->search, target_of(run, w->number), &order,
                                                     steps_of(run, w->number), &stop);
        pthread_mutex_lock(&run->mutex);
        run->used[w->number - run->first] = masu__plan_search_steps(w->search);
        run->solver->steps += masu__plan_search_steps(w->search);
        run->solver->attempts++;
        if (is_answer(run, w, end))
            note_answer(run, w, end, order.name);
        else if (end == MASU__SEARCH_STOPPED && masu__solver_stopped(run->solver))
            run->cut_short = true;
        pthread_mutex_unlock(&run->mutex);
    }
    return NULL;
}

/* Searches are made when they are first needed; fewer threads do when memory is short. */
static bool add_worker(portfolio *run) {
    masu__solver *s = run->solver;
    unsigned i = run->worker_count;
    bool too_large = false;
    if (!s->searches[i])
        s->searches[i] = masu__plan_search_create(&s->model, &too_large);
    if (!s->searches[i]) {
        if (i == 0) {
            s->searchable = false;
            s->out_of_memory |= !too_large;
        }
        return false;
    }
    run->workers[i] = (worker){.run = run, .search = s->searches[i], .number = MASU__PLAN_NONE};
    run->worker_count++;
    return true;
}

static void run_all(portfolio *run, unsigned threads) {
    while (run->worker_count < threads && add_worker(run))
        continue;
    if (run->worker_count == 0)
        return;
    for (unsigned i = 1; i < run->worker_count; i++)
        run->workers[i].started = pthread_create(&run->workers[i].thread, NULL, work, &run->workers[i]) == 0;
    work(&run->workers[0]);
    for (unsigned i = 1; i < run->worker_count; i++)
        if (run->workers[i].started)
            pthread_join(run->workers[i].thread, NULL);
}

/* Every plan can be let down to one whose offsets are sums of multiples of unit. */
static int64_t next_height(const masu__solver *s, int64_t height) {
    return height - height % s->model.unit + s->model.unit;
}

static void note_exhausted(masu__solver *s, int64_t height) {
    if (height > s->given_up)
        s->given_up = height;
    if (!s->model.raised && !s->model.holes && height > s->bound)
        s->bound = height;
}

/* As many attempts as there are steps for. */
static void count_attempts(portfolio *run, unsigned to) {
    const masu__solver *s = run->solver;
    uint64_t granted = s->steps_granted, limit = s->options->step_limit;
    run->count = run->first;
    while (run->count < to * run->target_count && run->count - run->first < MASU__PLAN_MOST_ATTEMPTS &&
           (limit == 0 || granted < limit))
        granted += steps_of(run, run->count++);
    run->answer = run->count;
    for (unsigned t = 0; t < run->target_count; t++)
        run->exhausted[t] = run->count;
}

/* The results of attempts behind the answer depend on the threads: they are not looked at. */
static void settle(portfolio *run) {
    masu__solver *s = run->solver;
    for (uint32_t number = run->first; number < run->count && number <= run->answer; number++)
        s->steps_granted += run->used[number - run->first];
    if (run->end == MASU__SEARCH_FOUND) {
        s->favourite = (int)order_number(run, run->answer);
        s->found_by = run->answer / run->target_count;
        masu__solver_offer(s, s->offsets, masu__plan_model_height(&s->model, s->offsets), run->name);
    }
    for (unsigned t = 0; t < run->target_count; t++)
        if (run->exhausted[t] < run->count && run->exhausted[t] <= run->answer)
            note_exhausted(s, next_height(s, run->targets[t]));
}

masu__search_end masu__solver_portfolio(masu__solver *s, const int64_t *targets, unsigned target_count, unsigned from,
                                        unsigned to) {
    portfolio run = {.solver = s,
                     .targets = targets,
                     .target_count = target_count,
                     .favourite = s->favourite,
                     .end = MASU__SEARCH_LIMIT};
    run.first_steps = 3 * (uint64_t)s->model.item_count + 800;
    run.first = run.next = from * target_count;
    count_attempts(&run, to);
    if (!s->searchable || run.count <= run.first)
        return MASU__SEARCH_LIMIT;
    pthread_mutex_init(&run.mutex, NULL);
    run_all(&run, from < MASU__PLAN_ORDERS && s->model.item_count < 64 ? 1 : s->thread_count);
    pthread_mutex_destroy(&run.mutex);
    settle(&run);
    return run.cut_short && run.end == MASU__SEARCH_LIMIT ? MASU__SEARCH_STOPPED : run.end;
}
