/* embed_facts.c: what the library says of its names: `//! says FACT: NAME …`, `//! says FACT WORD: NAME …`.
 *
 * A fact is a row of facts.def, a word in capitals one of words.def. A name has a declaration in some file of the
 * library, or is an operation of abi.def; where the fact is one of those that the compiler declares (BUILT), it needs
 * none. Of one name a fact is said once. Methods of numbers are those of math.def.
 */
#include "embed.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *name;
    bool declares;
} facts[] = {
#define FACT(name, text)  {#name, false},
#define BUILT(name, text) {#name, true},
#include "../src/language/library/facts.def"
#undef FACT
#undef BUILT
};
enum { FACT_COUNT = sizeof facts / sizeof facts[0], ALL_FACTS_FIT = 1 / (FACT_COUNT <= 128) };

static const char *const known_words[] = {
#define WORD(word) #word,
#include "../src/language/library/words.def"
#undef WORD
};

/* Operations by the names under which programs call them: abi.def declares these. */
static const char *const operations_named[] = {
#define ABI(...)
#define OP(...)
#define METHOD(name, symbol)        #name,
#define STATIC(name, symbol)        #name,
#define SYSTEM(scope, name, symbol) #name,
#include <masu/abi.def>
};

typedef struct said_word {
    int fact, name;
    const char *word;
} said_word;
static said_word *said;
static int said_count, said_capacity;

static int fact_of(const char *text) {
    int fact = 0;
    while (fact < FACT_COUNT && strcmp(facts[fact].name, text) != 0)
        fact++;
    return fact;
}

static bool is_known_word(const char *word) {
    for (size_t i = 0; i < sizeof known_words / sizeof known_words[0]; i++)
        if (strcmp(known_words[i], word) == 0)
            return true;
    return false;
}

/* The fact, with the word, of the names in text, which must outlive them. */
static void say(const reader *r, int fact, const char *word, char *text) {
    char *of[WORDS_MAX];
    split(r, text, of);
    for (int w = 0; of[w]; w++) {
        int name = name_of(of[w], strlen(of[w]));
        if (names[name].facts[fact / 64] >> fact % 64 & 1)
            fail(r, "said twice of a name");
        names[name].facts[fact / 64] |= 1ull << fact % 64;
        said = room(said, said_count, &said_capacity, sizeof *said);
        said[said_count++] = (said_word){fact, name, word};
    }
}

void read_says(const reader *r, char *text) {
    char *about[WORDS_MAX], *colon = strchr(text, ':');
    if (!colon)
        fail(r, "of which names is this said?");
    *colon = 0;
    int count = split(r, text, about), fact = count > 0 ? fact_of(about[0]) : FACT_COUNT;
    if (count < 1 || count > 2 || fact == FACT_COUNT)
        fail(r, "unknown fact");
    const char *word = count == 2 ? about[1] : NULL;
    if (word && isupper((unsigned char)word[0]) && !is_known_word(word))
        fail(r, "no row of words.def is this word");
    say(r, fact, word, colon + 1);
}

/* math.def says them of its names. */
void read_math(void) {
    static const struct {
        const char *word, *name, *also;
    } rows[] = {
#define MATH(word, name, also, arguments, whole, slope, llvm, c) {"MATH_" #word, name, also},
#define ALSO(word, math, names, arguments)                       {"MATH_" #word, "", names},
#include "../src/language/library/math.def"
#undef MATH
#undef ALSO
    };
    const reader r = {.path = "src/language/library/math.def"};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        say(&r, fact_of("math"), rows[i].word, strdup(rows[i].name));
        say(&r, fact_of("math"), rows[i].word, strdup(rows[i].also));
    }
}

static bool is_declared(const name *n) {
    for (int i = 0; i < FACT_COUNT; i++)
        if (facts[i].declares && (n->facts[i / 64] >> i % 64 & 1))
            return true;
    for (size_t i = 0; i < sizeof operations_named / sizeof operations_named[0]; i++)
        if (strcmp(operations_named[i], n->text) == 0)
            return true;
    return n->declared.count > 0;
}

int check_facts(void) {
    int status = 0;
    for (int i = 0; i < said_count; i++) {
        const name *n = &names[said[i].name];
        if (!is_declared(n)) {
            fprintf(stderr, "//! says %s: nothing declares `%s`\n", facts[said[i].fact].name, n->text);
            status = 1;
        }
    }
    return status;
}

/* By fact, then by name, as library_word searches. */
static int compare(const void *left, const void *right) {
    const said_word *a = left, *b = right;
    return a->fact != b->fact ? a->fact - b->fact : strcmp(names[a->name].text, names[b->name].text);
}

void write_facts(FILE *out) {
    buffer rows = {0};
    if (said_count > 0)
        qsort(said, (size_t)said_count, sizeof *said, compare);
    for (int i = 0; i < said_count; i++) {
        const char *word = said[i].word ? said[i].word : "", *name = names[said[i].name].text;
        bool known = isupper((unsigned char)word[0]);
        put(&rows, "    {LIBRARY_%s, \"%s\", \"%s\", SAID_%s},\n", facts[said[i].fact].name, name, word,
            known ? word : "NOTHING");
    }
    write_table(out, "library_fact_word", "library_fact_words", &rows);
    free(rows.text);
}
