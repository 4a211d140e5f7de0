/* build_shared_threads.c: an instance a thread, one instance for all of them, and results that other threads give back,
 * also when the instance is gone. Made to run under ThreadSanitizer as well. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "net.h"

enum { THREADS = 4, ROUNDS = 200 };

#define CHECK(what)                                   \
    do {                                              \
        if (!(what)) {                                \
            printf("line %d: %s\n", __LINE__, #what); \
            exit(1);                                  \
        }                                             \
    } while (0)

static net *shared;
static net_Net *model;
static atomic_int served, refused;

/* A place where threads leave results for each other. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static masu_tensor left[THREADS * ROUNDS];
static int left_count;

static void leave(masu_tensor t) {
    pthread_mutex_lock(&lock);
    left[left_count++] = t;
    pthread_mutex_unlock(&lock);
}

static bool take(masu_tensor *out) {
    pthread_mutex_lock(&lock);
    bool is = left_count > 0;
    if (is)
        *out = left[--left_count];
    pthread_mutex_unlock(&lock);
    return is;
}

static masu_tensor row(float *x) {
    int64_t shape[2] = {1, 3};
    return masu_tensor_of(MASU_F32, x, 2, shape);
}

static void *alone(void *number) {
    net *n;
    net_Net *m;
    float by = (float)(intptr_t)number, x[3] = {1, 2, 3};
    masu_tensor view = row(x), other;
    CHECK(net_create(NULL, &n) == MASU_OK && net_Net_new(n, 3, 2, &m) == MASU_OK);
    for (int i = 1; i <= ROUNDS; i++) {
        int64_t steps;
        float v;
        masu_tensor y = masu_tensor_wanted();
        CHECK(net_Net_learn(n, m, by, &steps) == MASU_OK && steps == i);
        CHECK(net_Net_break_off(n, m, 99, &v) == MASU_ERR_INDEX_OUT_OF_RANGE && strstr(net_error(n), "index 99"));
        CHECK(net_Net_forward(n, m, &view, &y) == MASU_OK && ((float *)y.data)[0] == 6 * (0.5f + by * (float)i));
        leave(y);
        if (i % 2 == 0 && take(&other))
            net_tensor_release(&other);
    }
    net_destroy(n);
    net_Net_drop(m);
    return NULL;
}

static void *together(void *number) {
    float x[3] = {1, 2, 3};
    masu_tensor view = row(x), other;
    (void)number;
    for (int i = 0; i < ROUNDS; i++) {
        masu_tensor y = masu_tensor_wanted();
        masu_status status = net_Net_forward(shared, model, &view, &y);
        CHECK(status == MASU_OK || status == MASU_ERR_INVALID_ARGUMENT);
        atomic_fetch_add(status == MASU_OK ? &served : &refused, 1);
        if (status == MASU_OK) {
            CHECK(((float *)y.data)[0] == 3);
            leave(y);
        }
        if (take(&other))
            net_tensor_release(&other);
    }
    return NULL;
}

static void in_threads(void *(*work)(void *)) {
    pthread_t threads[THREADS];
    for (intptr_t t = 0; t < THREADS; t++)
        CHECK(pthread_create(&threads[t], NULL, work, (void *)(t + 1)) == 0);
    for (int t = 0; t < THREADS; t++)
        pthread_join(threads[t], NULL);
}

/* Another module, which comes and goes, and whose loops were large enough for workers; found by name in its table. */
static void loaded(const char *path) {
    static float x[1 << 20];
    int64_t length = 1 << 20;
    x[5] = -3;
    x[6] = 4;
    for (int i = 0; i < 3; i++) {
        void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
        CHECK(library);
        const masu_module *module = (const masu_module *)dlsym(library, MASU_MODULE_SYMBOL);
        CHECK(module && strcmp(module->name, "two") == 0 && module->version == MASU_MODULE_VERSION);
        uint32_t relu = 0;
        while (strcmp(module->functions[relu].name, "relu") != 0)
            relu++;
        masu_instance *instance;
        CHECK(module->create(module, NULL, &instance) == MASU_OK);
        masu_value argument = {.kind = MASU_KIND_TENSOR, .as.tensor = masu_tensor_of(MASU_F32, x, 1, &length)},
                   result = {.kind = MASU_KIND_NONE};
        CHECK(module->call(instance, relu, &argument, &result) == MASU_OK);
        CHECK(((float *)result.as.tensor.data)[5] == 0 && ((float *)result.as.tensor.data)[6] == 4);
        module->release(&result);
        module->destroy(instance);
        CHECK(dlclose(library) == 0);
    }
}

int main(int count, char **arguments) {
    masu_tensor other;
    CHECK(count == 2);
    loaded(arguments[1]);
    in_threads(alone);
    while (take(&other))
        net_tensor_release(&other);
    CHECK(net_create(NULL, &shared) == MASU_OK && net_Net_new(shared, 3, 2, &model) == MASU_OK);
    in_threads(together);
    CHECK(served > 0 && served + refused == THREADS * ROUNDS);
    net_destroy(shared);
    while (take(&other))
        net_tensor_release(&other);
    net_Net_drop(model);
    return 0;
}
