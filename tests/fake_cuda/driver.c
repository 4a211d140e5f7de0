/* driver.c: a CUDA driver over pages of this process. See driver.h. Only what masu and its tests call. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fake_cuda/state.h"

int device_count;
uint64_t device_bytes;
fake_cuda_report report;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static bool initialised;
static __thread int context_stack[64];
static __thread int context_depth;
static __thread int current_device = -1; /* set by cuCtxSetCurrent */

static char fail_name[64];
static uint64_t fail_at, fail_calls;
static int fail_error, fail_repeats;
static char last_misuse[160];
static bool says;

/* ---- failing and misuse -------------------------------------------------------------------------------- */

int misuse(const char *call, const char *what) {
    report.misuses++;
    snprintf(last_misuse, sizeof last_misuse, "%s: %s", call, what);
    if (says)
        fprintf(stderr, "fake cuda: %s\n", last_misuse);
    return INVALID_VALUE;
}

static void initialise(void) {
    const char *text;
    if (device_count)
        return;
    device_count = (text = getenv("FAKE_CUDA_DEVICES")) ? atoi(text) : 2;
    device_bytes = (uint64_t)((text = getenv("FAKE_CUDA_MEMORY_MB")) ? atol(text) : 65536) << 20;
    says = getenv("FAKE_CUDA_SAY") != NULL;
    if ((text = getenv("FAKE_CUDA_FAIL"))) {
        const char *colon = strchr(text, ':');
        size_t length = colon ? (size_t)(colon - text) : strlen(text);
        if (length < sizeof fail_name)
            memcpy(fail_name, text, length);
        fail_at = colon ? strtoull(colon + 1, NULL, 10) : 1;
        fail_error = OUT_OF_MEMORY;
    }
    memory_start();
}

/* Entered by every call that can fail; 0: go on. */
int enter_call(const char *name) {
    pthread_mutex_lock(&lock);
    if (!initialised)
        return NOT_INITIALIZED;
    if (fail_name[0] && strcmp(fail_name, name) != 0)
        return OK;
    fail_calls++;
    if (fail_at == 0 || fail_calls < fail_at || (fail_calls > fail_at && !fail_repeats))
        return OK;
    return fail_error;
}

int leave_call(int status) {
    pthread_mutex_unlock(&lock);
    return status;
}

API void fake_cuda_fail(const char *name, uint64_t nth, int error, int repeat) {
    pthread_mutex_lock(&lock);
    snprintf(fail_name, sizeof fail_name, "%s", name ? name : "");
    fail_at = nth;
    fail_calls = 0;
    fail_error = error;
    fail_repeats = repeat;
    pthread_mutex_unlock(&lock);
}

API uint64_t fake_cuda_calls(void) {
    return fail_calls;
}

API const char *fake_cuda_last_misuse(void) {
    return last_misuse;
}

API void fake_cuda_forgive(void) {
    report.misuses = report.unmapped_under_work = 0;
    last_misuse[0] = 0;
}

API void fake_cuda_get_report(fake_cuda_report *out) {
    pthread_mutex_lock(&lock);
    *out = report;
    memory_count(out);
    streams_count(out);
    pthread_mutex_unlock(&lock);
}

static void __attribute__((destructor)) say_goodbye(void) {
    fake_cuda_report now = report;
    if (!says || !initialised)
        return;
    memory_count(&now);
    fprintf(stderr, "fake cuda: %llu misuses, %llu created, %llu mapped, %llu unmapped, %llu mappings left\n",
            (unsigned long long)now.misuses, (unsigned long long)now.creates, (unsigned long long)now.maps,
            (unsigned long long)now.unmaps, (unsigned long long)now.mappings);
}

/* ---- devices and contexts ------------------------------------------------------------------------------ */

API int cuInit(unsigned flags) {
    (void)flags;
    pthread_mutex_lock(&lock);
    initialise();
    initialised = device_count > 0;
    return leave_call(initialised ? OK : 100);
}

API int cuDriverGetVersion(int *out) {
    *out = 12040;
    return OK;
}

API int cuDeviceGetCount(int *out) {
    ENTER("cuDeviceGetCount");
    *out = device_count;
    return leave_call(OK);
}

API int cuDeviceGet(int *out, int ordinal) {
    ENTER("cuDeviceGet");
    if (ordinal < 0 || ordinal >= device_count)
        return leave_call(INVALID_DEVICE);
    *out = ordinal;
    return leave_call(OK);
}

API int cuDeviceGetAttribute(int *out, int attribute, int device) {
    (void)device;
    ENTER("cuDeviceGetAttribute");
    *out = attribute == 102; /* virtual memory management */
    return leave_call(OK);
}

API int cuDeviceTotalMem_v2(size_t *out, int device) {
    (void)device;
    ENTER("cuDeviceTotalMem_v2");
    *out = device_bytes;
    return leave_call(OK);
}

int chosen_device(void) {
    return context_depth ? context_stack[context_depth - 1] : current_device;
}

/* A context is its device's number, and one. */
API int cuDevicePrimaryCtxRetain(void **out, int device) {
    ENTER("cuDevicePrimaryCtxRetain");
    *out = (void *)(address)(device + 1);
    return leave_call(OK);
}

API int cuDevicePrimaryCtxRelease_v2(int device) {
    (void)device;
    ENTER("cuDevicePrimaryCtxRelease_v2");
    return leave_call(OK);
}

API int cuCtxPushCurrent_v2(void *context) {
    if (context_depth == 64)
        return INVALID_VALUE;
    context_stack[context_depth++] = (int)(address)context - 1;
    return OK;
}

API int cuCtxPopCurrent_v2(void **out) {
    if (context_depth == 0)
        return INVALID_CONTEXT;
    context_depth--;
    if (out)
        *out = (void *)(address)(context_stack[context_depth] + 1);
    return OK;
}

API int cuCtxSetCurrent(void *context) {
    current_device = (int)(address)context - 1;
    return OK;
}

API int cuCtxGetCurrent(void **out) {
    int device = chosen_device();
    *out = (void *)(address)(device + 1);
    return OK;
}

API int cuCtxGetDevice(int *out) {
    int device = chosen_device();
    *out = device;
    return device < 0 ? INVALID_CONTEXT : OK;
}
