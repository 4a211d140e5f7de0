/* prelude.h: what the language brings along as source text, and what is said of its operations on tensors. */
#ifndef MASU_LANGUAGE_PRELUDE_H
#define MASU_LANGUAGE_PRELUDE_H

#include <stddef.h>

#include <masu/abi.h>

extern const char prelude_text[]; /* Option, Result, the methods of Vec */
extern const size_t prelude_length;
extern const char prelude_more_text[]; /* orders, collections, what Rust's library has besides */
extern const size_t prelude_more_length;
extern const char prelude_maps_text[]; /* HashMap and its like */
extern const size_t prelude_maps_length;
extern const char prelude_reals_text[]; /* rarer functions of f32 and f64 */
extern const size_t prelude_reals_length;
extern const char prelude_activations_text[]; /* what tensors have, of one number */
extern const size_t prelude_activations_length;
/* methods of integers; those of i64 are always read */
extern const char prelude_i64_text[], prelude_i32_text[], prelude_u32_text[], prelude_usize_text[],
    prelude_u64_text[], prelude_u8_text[], prelude_i8_text[], prelude_i16_text[],
    prelude_u16_text[];
extern const size_t prelude_i64_length, prelude_i32_length, prelude_u32_length,
    prelude_usize_length, prelude_u64_length, prelude_u8_length, prelude_i8_length,
    prelude_i16_length, prelude_u16_length;
extern const char prelude_older_text[]; /* functions by older names */
extern const size_t prelude_older_length;
extern const char prelude_lines_text[]; /* {:#?} */
extern const size_t prelude_lines_length;

/* Parts that are read only with a program one of whose tokens holds one of the words: reading takes time, and most programs
 * need none. A program with modules gets all. */
typedef struct prelude_part {
    const char *words[12]; /* up to the first NULL */
    const char *text;
    const size_t *length;
} prelude_part;
extern const prelude_part prelude_parts[];
extern const size_t prelude_part_count;

extern const char prelude_tensor_text[]; /* of ops_written.def */
extern const size_t prelude_tensor_length;

extern const char prelude_tensor_more_text
    []; /* of ops_more.def: for a program one of whose tokens is one of the names, up to NULL */
extern const size_t prelude_tensor_more_length;
extern const char *const prelude_tensor_more_names[];

/* A line of ops_written.def that programs may use. */
typedef struct written_operation {
    const char *name;
    const char *signature; /* "(self, dim: i64) -> Tensor" */
    tl_gradient gradient;
    const char *example, *text;
} written_operation;

extern const written_operation written_operations[];
extern const size_t written_operation_count;

#endif
