/* flat_words.c: see flat_words.h. */
#include "language/portable/flat_words.h"

#include <string.h>

const flat_words *flat_words_new(portable *p, uint32_t count, uint32_t width, flat_value **words) {
    flat_words *list = MASU_ARENA_NEW(&p->arena, flat_words);
    *words = MASU_ARENA_ARRAY(&p->arena, flat_value, (size_t)count * width + 1);
    if (!list || !*words) {
        p->out_of_memory = true;
        return NULL;
    }
    *list = (flat_words){count, width, *words};
    return list;
}

const flat_words *flat_words_with(portable *p, const flat_words *l, int64_t at, const flat_words *element) {
    flat_value *words;
    uint32_t width = l->count > 0 ? l->width : element->width;
    const flat_words *made = flat_words_new(p, at == l->count ? l->count + 1 : l->count, width, &words);
    if (!made)
        return NULL;
    memcpy(words, l->words, sizeof *words * l->count * l->width);
    memcpy(words + (size_t)at * width, element->words, sizeof *words * width);
    return made;
}

const flat_words *flat_words_element(portable *p, const flat_words *l, int64_t at) {
    flat_value *words;
    const flat_words *made = flat_words_new(p, 1, l->width, &words);
    if (made)
        memcpy(words, l->words + (size_t)at * l->width, sizeof *words * l->width);
    return made;
}
