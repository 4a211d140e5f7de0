/* The shared library closed while threads that have used it live on, and opened again. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <dlfcn.h>
#include <pthread.h>

#include <masu/alloc.h>

#include "base/annotate.h"

enum { THREADS = 20, ROUNDS = 5 };

typedef masu_status (*aligned_call)(size_t bytes, size_t alignment, void **out);
typedef masu_status (*free_call)(void *ptr, size_t bytes);

static pthread_barrier_t turn;
static aligned_call take;
static free_call give;

static void *library_open(void) {
    void *library = dlopen(MASU_BUILD_DIR "/libmasu.so", RTLD_NOW | RTLD_LOCAL);
    assert_non_null(library);
    *(void **)&take = dlsym(library, "masu_alloc_aligned");
    *(void **)&give = dlsym(library, "masu_free_slow");
    assert_true(take && give);
    return library;
}

static void *lives_longer(void *argument) {
    void *ptr, *large;
    bool good = take(100, 0, &ptr) == MASU_OK && take(100000, 0, &large) == MASU_OK && give(ptr, 100) == MASU_OK &&
                give(large, 100000) == MASU_OK;
    pthread_barrier_wait(&turn); /* the library is closed */
    pthread_barrier_wait(&turn);
    return good ? argument : NULL; /* its cache goes home now */
}

static void closed_while_threads_live_and_opened_again(void **state) {
    (void)state;
    if (MASU__ASAN)
        skip(); /* the library would want the sanitizer twice */
    pthread_t threads[THREADS];
    for (int round = 0; round < ROUNDS; round++) {
        void *library = library_open(), *result;
        assert_int_equal(pthread_barrier_init(&turn, NULL, THREADS + 1), 0);
        for (int i = 0; i < THREADS; i++)
            assert_int_equal(pthread_create(&threads[i], NULL, lives_longer, &turn), 0);
        pthread_barrier_wait(&turn);
        assert_int_equal(dlclose(library), 0);
        pthread_barrier_wait(&turn);
        for (int i = 0; i < THREADS; i++) {
            assert_int_equal(pthread_join(threads[i], &result), 0);
            assert_ptr_equal(result, &turn);
        }
        pthread_barrier_destroy(&turn);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(closed_while_threads_live_and_opened_again)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
