/* A mapped file that is cut reads as zeros behind its end while it is watched; other addresses are not its own. */
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "runtime/files/cut_file.h"

enum { PAGES = 4 };

/* A mapping of PAGES pages of sevens, and the file behind it. */
static volatile unsigned char *mapped(int *descriptor, size_t *length) {
    char path[] = "/tmp/masu_cut_file_XXXXXX";
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    unsigned char sevens[1 << 16];
    *length = PAGES * page;
    *descriptor = mkstemp(path);
    assert_true(*descriptor >= 0 && *length <= sizeof sevens);
    unlink(path);
    memset(sevens, 7, sizeof sevens);
    assert_int_equal(write(*descriptor, sevens, *length), *length);
    void *data = mmap(NULL, *length, PROT_READ, MAP_PRIVATE, *descriptor, 0);
    assert_true(data != MAP_FAILED);
    return data;
}

static void what_was_cut_is_zero(void **state) {
    (void)state;
    int descriptor;
    size_t length;
    volatile unsigned char *data = mapped(&descriptor, &length);
    assert_true(tl__cut_file_watch((void *)(uintptr_t)data, length));
    assert_int_equal(data[0], 7);
    assert_int_equal(ftruncate(descriptor, 100), 0);
    assert_int_equal(data[99], 7);
    assert_int_equal(data[length / PAGES], 0);
    assert_int_equal(data[length - 1], 0);
    assert_int_equal(data[length / 2 + 1], 0);
    tl__cut_file_forget((void *)(uintptr_t)data);
    munmap((void *)(uintptr_t)data, length);
    close(descriptor);
}

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
static void other_addresses_end_as_before(void **state) {
    (void)state;
    print_message("skipped: a sanitizer has a handler of its own\n");
    skip();
}
#else
/* The signal that ends a child which reads behind the end of a file that is not watched (more), or is sent one. */
static int ended_by(int sent) {
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        int descriptor;
        size_t length;
        signal(SIGBUS, SIG_DFL);
        volatile unsigned char *own = mapped(&descriptor, &length);
        volatile unsigned char *other = mapped(&descriptor, &length);
        if (!tl__cut_file_watch((void *)(uintptr_t)own, length) || ftruncate(descriptor, 0) != 0)
            _exit(3);
        if (sent)
            raise(SIGBUS);
        _exit(other[0]);
    }
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    return WIFSIGNALED(status) ? WTERMSIG(status) : -WEXITSTATUS(status);
}

static void other_addresses_end_as_before(void **state) {
    (void)state;
    assert_int_equal(ended_by(0), SIGBUS);
    assert_int_equal(ended_by(1), SIGBUS);
}
#endif

static void many_are_watched_and_then_refused(void **state) {
    (void)state;
    static char bytes[1000];
    int watched = 0;
    while (watched < 1000 && tl__cut_file_watch(bytes + watched, 1))
        watched++;
    assert_in_range(watched, 100, 999);
    for (int i = 0; i < watched; i++)
        tl__cut_file_forget(bytes + i);
    assert_true(tl__cut_file_watch(bytes, 1));
    tl__cut_file_forget(bytes);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(other_addresses_end_as_before), /* before this process has the handler */
        cmocka_unit_test(what_was_cut_is_zero),
        cmocka_unit_test(many_are_watched_and_then_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
