/* import.h: a network as a program of the language.
 *
 *     masu__model ─► import.c ─┬─ valid_names.c what tensors are called in the program
 *                              ├─ expression.c an operator by its rows of operators.def: templates, filled
 *                              │     └─ words*.c   what a template cannot say: paddings, axes, widths
 *                              ├─ bodies.c     If, Loop and Scan: the graphs inside of them as blocks of the language
 *                              ├─ weights.c    constants as a .safetensors file
 *                              └─ program.c    the text: struct, forward, main, the functions of onnx.tl that it needs
 *
 * What must stay true: every attribute and input of an operator is looked at by the row that takes it, or the operator
 * is refused with what is missing. The names of the language's library are in operators.def, program_text.h and
 * onnx.tl, nowhere else.
 */
#ifndef MASU_MODELS_IMPORT_H
#define MASU_MODELS_IMPORT_H

#include "models/import/program_text.h"
#include "models/onnx_nodes.h"

enum { IMPORT_MOST_WORDS = 16, IMPORT_MOST_PLACES = 64, IMPORT_MOST_OPSET = 26 };

typedef struct import_line {
    const masu__model_operator *op;
    const char *text;           /* the expression; NULL: refused */
    const char *refused;        /* why; NULL: it is not */
    uint64_t uses;              /* inputs that the text names, by bit */
    size_t parts;               /* the expression is a tuple of so many; 1: itself; 0: a list of the outputs */
    bool is_needed, has_bodies; /* If, Loop, Scan: text is its condition, or nothing */
} import_line;

typedef struct import_graph {
    import_line *lines; /* one for each operator */
    size_t line_count;
} import_graph;

typedef struct importer {
    masu__model *model;
    masu__buffer *why;
    const char **names;   /* of each tensor */
    bool *is_needed;      /* of each tensor, by the program's text */
    import_graph *graphs; /* of each graph; 0 is the main one */
} importer;

/* One operator while its text is made. */
typedef struct import_node {
    importer *im;
    onnx_node v;
    uint64_t attributes_read, inputs_read, uses; /* by bit */
    struct {
        const char *name, *text;
    } words[IMPORT_MOST_WORDS];
    size_t word_count, parts;
    masu__buffer text, why;
} import_node;

/* Sets words. False: the row does not take this operator, and why says what is missing. */
typedef bool import_prepare(import_node *n);

/* ---- valid_names.c */
bool import_names(importer *im);

/* ---- expression.c */
bool import_expression(importer *im, import_line *line);
bool import_refuse(import_node *n, const char *format, ...) __attribute__((format(printf, 2, 3)));
bool import_word(import_node *n, const char *name, const char *format, ...) __attribute__((format(printf, 3, 4)));
bool import_word_ints(import_node *n, const char *name, const int64_t *values, size_t count);
/* f float32, d float64, l int64, n shorter integers, b bool, h float16 and bfloat16; 0: the language has no such
 * elements */
char import_kind(const masu__model_tensor *t);
/* The element type of the language that keeps them; NULL: none. */
const char *import_elements(const masu__model_tensor *t);

/* Reading marks an attribute or an input as looked at. */
const Masu__Onnx__Attribute *import_attribute(import_node *n, const char *name);
int64_t import_int(import_node *n, const char *name, int64_t otherwise);
double import_float(import_node *n, const char *name, double otherwise);
const int64_t *import_ints(import_node *n, const char *name, size_t *count);
/* Among names[] (NULL ends it) the attribute's text; 0 where it is not there; false: another text. */
bool import_choice(import_node *n, const char *name, const char *const *names, size_t *which);
/* Of input i: whole numbers that are known. NULL: not there or not known. */
const int64_t *import_values(import_node *n, size_t i, size_t *count);
/* The rank of input i and its lengths from dimension `first`; false: refused, they are not known. */
bool import_lengths(import_node *n, size_t i, size_t first, const masu__model_tensor **out);
bool import_rank(import_node *n, size_t i, size_t *out);
void import_put_number(masu__buffer *to, double value);

/* ---- bodies.c */
bool import_has_bodies(const masu__model_operator *op);
/* Looks at all of the operator; its text is what it asks first. */
bool import_bodies(import_node *n);
void import_put_bodies(const importer *im, const import_line *line, size_t depth, masu__buffer *to);

/* ---- words.c, words_windows.c: named by operators.def */
#define ROW(...)
#define PREPARE(name) import_prepare name;
#include "models/import/operators.def"

/* ---- weights.c */
bool import_constant_nodes(importer *im);
bool import_write_weights(importer *im, masu__model_write *write, void *context);

/* ---- program.c */
void import_put_lines(const importer *im, size_t graph, size_t depth, masu__buffer *to);
void import_put_type(const masu__model_tensor *t, masu__buffer *to);
void import_put_value(const importer *im, int32_t tensor, masu__buffer *to);
/* Writes the source node of a line as a comment behind it. */
void import_put_comment(const importer *im, const import_line *line, masu__buffer *to);
bool import_program(importer *im, const masu__model_text *title, masu__buffer *out);

extern const char import_library[]; /* onnx.tl */
extern const size_t import_library_bytes;

#endif
