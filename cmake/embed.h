/* embed.h: what the files of masu_embed share; embed_library.c says what it is for. Each allocation that fails ends it. */
#ifndef MASU_EMBED_H
#define MASU_EMBED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum { MODULES_MAX = 32, WORDS_MAX = 64, COPIES_MAX = 24, TEXT_MAX = 400, LINE_MAX_BYTES = 2000 };

typedef struct buffer {
    char *text;
    size_t length, capacity;
} buffer;

/* Numbers of names. */
typedef struct number_list {
    int *items;
    int count, capacity;
} number_list;

typedef struct name {
    char *text;
    uint64_t facts[2]; /* bit f: facts.def's row f holds */
    bool is_owner, gives_way, only_asked;
    int number;           /* in the index; -1: no declaration has it, nothing is asked for by it */
    number_list declared; /* declarations */
    number_list asked;    /* names */
} name;

typedef struct block {
    size_t offset, length; /* `impl<T> Vec<T> {`; length 0: what stands outside of any */
    int owner;             /* -1: none */
} block;

typedef struct declaration {
    size_t offset, length;
    int name, block, file; /* file UINT16_MAX: none says it in these words */
    number_list asked;
} declaration;

/* What the lines of one file have said so far. */
typedef struct reader {
    const char *path;
    int line, file;
    char *model[WORDS_MAX];
    char *copies[COPIES_MAX][WORDS_MAX];
    int copy_count;
    buffer text; /* without comments */
    char owner[TEXT_MAX], about[TEXT_MAX], example[TEXT_MAX];
    bool no_gradient, gives_way, only_asked;
} reader;

extern buffer library, operations, methods;
extern name *names;
extern int name_count;

/* ---- embed_text.c: texts, lists, names ---- */
void fail(const reader *r, const char *what);
void put_bytes(buffer *b, const char *text, size_t length);
void put(buffer *b, const char *format, ...);
void put_quoted(buffer *b, const char *text, size_t length);
/* items with room for one more than count. */
void *room(void *items, int count, int *capacity, size_t size);
void add_number(number_list *l, int number); /* once */
int name_of(const char *text, size_t length);
/* The words between blanks; the text must outlive them. */
int split(const reader *r, char *text, char **words);
size_t word_length(const char *at);
/* Behind `<…>`, and behind blanks. */
const char *skip_generics(const char *at);
/* The names in a text of the language; also the i8 of 1i8. */
void add_words(const char *text, size_t length, number_list *out);

/* ---- embed_index.c: declarations ---- */
bool begins_block(const char *line);
void end_of_file(const reader *r); /* of the text that r has read */
bool number_names(void);           /* false: there are too many */
void write_index(FILE *out);
void write_table(FILE *out, const char *type, const char *name, const buffer *rows);

/* ---- embed_facts.c: what is said of names ---- */
void read_says(const reader *r, char *text); /* `FACT: NAME …`, `FACT WORD: NAME …` */
void read_math(void);
/* Behind all files: 1 where a fact is said of a name that nothing declares. */
int check_facts(void);
void write_facts(FILE *out);

#endif
