/* Bytes as a file of tensors or a CSV file: a reader refuses it with words, or what it accepts holds: every tensor's
 * bytes lie in the file, no product wraps, and all elements can be read as each kind that masu computes in.
 *
 *     scripts/fuzz_files.sh SECONDS      builds this with libFuzzer, once a reader (FUZZ_READER), and runs each
 *
 * Without libFuzzer, -DMASU_FUZZ_MAIN gives a main that mutates files named on the command line: a.out ROUNDS FILE…
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/meta.h"
#include "runtime/files/csv.h"
#include "runtime/files/stored.h"

#ifndef FUZZ_READER
#define FUZZ_READER tl__table_read
#endif

enum { MOST_ELEMENTS = 1 << 22 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void demand(bool holds) {
    if (!holds)
        abort();
}

static void read_all(const tl__bytes *file, const tl__stored *s, tl__table *t) {
    static const size_t sizes[TL_DTYPE_COUNT] = {4, 8, 8, 1};
    size_t elements = 1;
    for (int d = 0; d < s->rank; d++) {
        demand(s->shape[d] >= 0);
        elements *= (size_t)s->shape[d];
    }
    demand(elements == s->elements);
    demand(s->bytes >= file->data && s->bytes + s->length <= file->data + file->length);
    demand(s->packing != TL_PACKED_NOT || s->skip + s->elements * tl__stored_kinds[s->type].bytes == s->length);
    for (int kind = 0; kind < TL_DTYPE_COUNT && s->elements <= MOST_ELEMENTS; kind++) {
        size_t bytes = s->elements * sizes[kind]; /* to the byte, so that the sanitizer sees one too many */
        void *to = malloc(bytes + !bytes);
        demand(to != NULL);
        bool right = tl__stored_read(file, s, (tl_dtype)kind, to, t);
        demand(right || t->out_of_memory || t->words[0] != '\0');
        free(to);
    }
}

static void try_tensors(const uint8_t *data, size_t size) {
    tl__bytes file = {.data = data, .length = size, .descriptor = -1};
    tl__table table = {.count = 0};
    if (FUZZ_READER(&file, &table)) {
        demand(table.words[0] == '\0');
        for (size_t i = 0; i < table.count; i++) {
            demand(tl__table_find(&table, table.items[i].name) == (int64_t)i);
            read_all(&file, &table.items[i], &table);
        }
        demand(tl__table_find(&table, "there is no such name") < 0);
    } else {
        demand(table.words[0] != '\0' || table.out_of_memory);
    }
    tl__table_destroy(&table);
}

static void try_csv(const uint8_t *data, size_t size) {
    tl__csv c;
    tl__csv_begin(&c, (const char *)data, size, size > 0 && data[0] == ';' ? ';' : ',');
    const char *before = c.at;
    while (tl__csv_next(&c)) {
        demand(c.count > 0 && c.at > before && c.at <= c.end);
        before = c.at;
        for (size_t i = 0; i < c.count; i++) {
            const tl__csv_field *f = &c.fields[i];
            double real, again;
            int64_t whole;
            demand(f->text >= c.record && f->text + f->length <= c.at);
            bool is_real = tl__csv_real(f, &real), is_whole = tl__csv_whole(f, &whole);
            demand(!is_whole || is_real);
            demand(!tl__csv_is_missing(f) || !is_real);
            char text[400]; /* what the C library makes of it, which rounds correctly */
            if (is_real && f->length < sizeof text) {
                memcpy(text, f->text, f->length);
                text[f->length] = '\0';
                again = strtod(text, NULL);
                demand(memcmp(&real, &again, sizeof real) == 0 || (real != real && again != again));
            }
        }
    }
    demand(c.words[0] != '\0' || c.out_of_memory || c.at == c.end);
    demand(c.words[0] == '\0' || strncmp(c.words, "line ", 5) == 0);
    tl__csv_end(&c);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    uint64_t live = masu__meta_live_blocks();
#ifdef FUZZ_CSV
    try_csv(data, size);
#else
    try_tensors(data, size);
#endif
    demand(masu__meta_live_blocks() == live);
    return 0;
}

#ifdef MASU_FUZZ_MAIN
static uint64_t state = 88172645463325252u;

static uint64_t draw(uint64_t below) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state % below;
}

/* Some bytes become others, some go, some come. */
static size_t mutate(uint8_t *data, size_t size, size_t room) {
    for (uint64_t round = 1 + draw(6); round > 0 && size > 0; round--) {
        size_t at = draw(size), count = 1 + draw(8);
        if (draw(4) == 0) {
            count = at + count > size ? size - at : count;
            memmove(data + at, data + at + count, size - at - count);
            size -= count;
        } else if (draw(3) == 0 && size + count <= room) {
            memmove(data + at + count, data + at, size - at);
            size += count;
        } else {
            data[at] = (uint8_t)(draw(2) ? draw(256) : data[draw(size)]);
        }
    }
    return size;
}

int main(int argc, char **argv) {
    enum { ROOM = 1 << 16 };
    static uint8_t seed[ROOM], data[ROOM];
    long rounds = argc > 1 ? atol(argv[1]) : 0;
    for (int i = 2; i < argc; i++) {
        FILE *file = fopen(argv[i], "rb");
        size_t size = file ? fread(seed, 1, ROOM / 2, file) : 0;
        if (file)
            fclose(file);
        LLVMFuzzerTestOneInput(seed, size);
        try_csv(seed, size);
        for (long k = 0; k < rounds; k++) {
            memcpy(data, seed, size);
            size_t mutated = mutate(data, size, ROOM);
            LLVMFuzzerTestOneInput(data, mutated);
            try_csv(data, mutated);
        }
    }
    printf("%ld files\n", rounds * (argc > 2 ? argc - 2 : 0));
    return 0;
}
#endif
