/* flat_words.h: lists, records and handles while a function is flattened: so many elements of so many words, each a
 * value. Private to the room. */
#ifndef MASU_LANGUAGE_PORTABLE_FLAT_WORDS_H
#define MASU_LANGUAGE_PORTABLE_FLAT_WORDS_H

#include "language/portable/portable.h"

typedef struct flat_words flat_words;

typedef struct flat_value {
    ir_value v; /* 0: it is a list, or nothing that is written */
    const flat_words *words;
} flat_value;

struct flat_words {
    uint32_t count, width;
    const flat_value *words;
};

/* Of values to be filled in, *words. NULL when memory runs out: then p says so, too. */
const flat_words *flat_words_new(portable *p, uint32_t count, uint32_t width, flat_value **words);
/* The list with element `at` replaced, or added where at is the count. */
const flat_words *flat_words_with(portable *p, const flat_words *l, int64_t at, const flat_words *element);
const flat_words *flat_words_element(portable *p, const flat_words *l, int64_t at);

#endif
