/* assert.c: what a broken invariant says last. Writes without buffers or locks, since those may
 * be what broke. */
#include "base/assert.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void say(const char *text) {
    size_t left = strlen(text);
    while (left > 0) {
        ssize_t n = write(2, text, left);
        if (n <= 0)
            return;
        text += n;
        left -= (size_t)n;
    }
}

static void say_number(int n) {
    char digits[12];
    char *p = digits + sizeof digits - 1;
    *p = '\0';
    do {
        *--p = (char)('0' + n % 10);
        n /= 10;
    } while (n > 0);
    say(p);
}

void masu__assert_failed(const char *file, int line, const char *expression) {
    say("masu: broken invariant at ");
    say(file);
    say(":");
    say_number(line);
    say(": ");
    say(expression);
    say("\n");
    abort();
}
