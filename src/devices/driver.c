/* driver.c: finding the CUDA driver. */
#include "devices/driver.h"

#include <dlfcn.h>
#include <string.h>

/* A function's address out of an object's: dlsym can say it no other way. */
static int look_up(void *library, const char *name, void *member, size_t bytes) {
    void *symbol = dlsym(library, name);
    memcpy(member, &symbol, bytes);
    return symbol != NULL;
}

masu_status masu__cu_open(const char *path, masu__cu_driver *out) {
    masu__cu_driver driver = {.library = dlopen(path ? path : "libcuda.so.1", RTLD_NOW)};
    if (!driver.library)
        return MASU_ERR_UNSUPPORTED;
    int found = 1;
#define LOOK_UP(member, name, arguments) found &= look_up(driver.library, name, &driver.member, sizeof driver.member);
    MASU__CU_CALLS(LOOK_UP)
#undef LOOK_UP
    look_up(driver.library, "cuStreamGetId", &driver.stream_id, sizeof driver.stream_id);
    if (!found || driver.init(0) != MASU__CU_OK) {
        masu__cu_close(&driver);
        return MASU_ERR_UNSUPPORTED;
    }
    *out = driver;
    return MASU_OK;
}

void masu__cu_close(masu__cu_driver *driver) {
    dlclose(driver->library);
}
