#!/bin/sh
# A program that misuses blocks of the pools, under Valgrind: each misuse is reported at the block, with its size and
# where it was allocated, as for malloc; a program that does nothing wrong is left in peace.
#
#     through tests/run.sh, or MASU_BUILD=build/release sh tests/hostile/valgrind.sh
#
# Needs valgrind (Debian: apt-get install valgrind) and a build without sanitizers, which do not go together.
set -eu
build=${MASU_BUILD:-build/release}
work=${MASU_TMP:-$(mktemp -d)}
mkdir -p "$work"
command -v valgrind >/dev/null 2>&1 || {
    echo "skipped: valgrind is not installed"
    exit 77
}
[ -z "${MASU_SANITIZE:-}" ] || {
    echo "skipped: a build with -fsanitize=$MASU_SANITIZE does not run under valgrind"
    exit 77
}
[ -f "$build/libmasu.a" ] || {
    echo "$build/libmasu.a is not there"
    exit 1
}

cat >"$work/misuse.c" <<'C'
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <masu/masu.h>

static masu_heap *heap;
static size_t bytes;

static volatile unsigned char *block_of_heap(void) {
    void *ptr = NULL;
    if (masu_heap_alloc(heap, bytes, 0, &ptr) != MASU_OK)
        exit(3);
    return ptr;
}

static volatile unsigned char *block_of_process(void) {
    return masu_alloc(bytes);
}

int main(int argc, char **argv) {
    int process = argc > 2 && strcmp(argv[1], "process") == 0;
    const char *what = argv[2];
    bytes = strtoull(argv[3], NULL, 0);
    if (masu_heap_create(NULL, &heap) != MASU_OK)
        return 3;
    volatile unsigned char *block = process ? block_of_process() : block_of_heap();
    if (strcmp(what, "uninitialised") == 0 && block[5] == 7)
        puts("seven");
    for (size_t i = 0; i < bytes; i++)
        block[i] = 7;
    if (strcmp(what, "behind") == 0)
        block[bytes] = 1;
    if (strcmp(what, "leak") == 0) {
        block = NULL;
        return masu_heap_destroy(heap) == (process ? MASU_OK : MASU_ERR_LEAK) ? 0 : 4;
    }
    masu_status status = process ? masu_free((void *)block, bytes)
                                 : masu_heap_free(heap, (void *)block, bytes);
    if (strcmp(what, "freed") == 0 && block[bytes / 2] == 9)
        puts("nine");
    for (int i = 0; i < 1000; i++) { /* what a pool does with its own lists is nobody's business */
        volatile unsigned char *other = process ? block_of_process() : block_of_heap();
        other[0] = 1;
        status |= process ? masu_free((void *)other, bytes)
                          : masu_heap_free(heap, (void *)other, bytes);
    }
    status |= process ? masu_trim(0) : masu_heap_trim(heap, 0);
    status |= masu_heap_destroy(heap);
    return status == MASU_OK ? 0 : 4;
}
C
${CC:-cc} -g -O1 -Iinclude "$work/misuse.c" "$build/libmasu.a" -o "$work/misuse" -lpthread -lm

# A lost block of a destroyed heap is definitely lost. The process-wide pool lives on, and its own records know the
# address of every large block and of the first one of a slab: those Valgrind calls still reachable.
watch() { # OWNER WHAT BYTES: the report in $work/report, Valgrind's status 9 for anything wrong
    status=0
    valgrind -q --error-exitcode=9 --leak-check=full --show-leak-kinds=definite,reachable --errors-for-leak-kinds=definite --num-callers=20 \
        "$work/misuse" "$@" >"$work/out" 2>"$work/report" || status=$?
}

stop() {
    echo "$1"
    head -n 40 "$work/report"
    exit 1
}

demand() { # PATTERN…: in the report
    for pattern in "$@"; do
        grep -qE "$pattern" "$work/report" || stop "$case: no line matches '$pattern'"
    done
}

cases=0
for owner in heap process; do
    lost='definitely lost'
    [ "$owner" = heap ] || lost='(definitely lost|still reachable)'
    for bytes in 24 1000 300000; do
        grouped=$(echo "$bytes" | sed 's/\(.*[0-9]\)\([0-9]\{3\}\)$/\1,\2/')
        for what in nothing behind freed uninitialised leak; do
            case="$owner $what $bytes"
            watch "$owner" "$what" "$bytes"
            cases=$((cases + 1))
            if [ "$what" = nothing ]; then
                [ "$status" -eq 0 ] || stop "$case: status $status"
                continue
            fi
            [ "$status" -eq 9 ] || [ "$owner $what" = "process leak" ] || stop "$case: status $status, and 9 was expected"
            case $what in
            behind) demand 'Invalid write of size 1' "0 bytes after a block of size $grouped alloc'd" ;;
            freed) demand 'Invalid read of size 1' "inside a block of size $grouped free'd" ;;
            uninitialised) demand 'depends on uninitialised value' ;;
            leak) demand "[^0-9,]$grouped bytes in 1 blocks are $lost" ;;
            esac
            [ "$what" = uninitialised ] || demand "block_of_$owner"
        done
    done
done
echo "$cases cases"
