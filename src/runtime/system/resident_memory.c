/* resident_memory.c: resident memory of this process, as the kernel counts it (/proc/self/status). */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/state.h"

/* "VmRSS:\t    1234 kB"; 0 when the line is missing. */
static uint64_t status_bytes(const char *text, const char *name) {
    const char *line = strstr(text, name);
    return line ? strtoull(line + strlen(name), NULL, 10) * 1024 : 0;
}

/* Without stdio: nothing is allocated by looking at what is allocated. */
static bool read_status(char *text, size_t capacity) {
    int file = open("/proc/self/status", O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return false;
    size_t length = 0;
    ssize_t got;
    while (length < capacity - 1 && (got = read(file, text + length, capacity - 1 - length)) > 0)
        length += (size_t)got;
    close(file);
    text[length] = '\0';
    return length > 0;
}

tl_process_memory tl__process_memory(void) {
    char text[8192];
    tl_process_memory memory = {0};
    if (!read_status(text, sizeof text))
        return memory;
    memory.rss_bytes = status_bytes(text, "\nVmRSS:");
    memory.rss_peak_bytes = status_bytes(text, "\nVmHWM:");
    memory.rss_anon_bytes = status_bytes(text, "\nRssAnon:");
    return memory;
}
