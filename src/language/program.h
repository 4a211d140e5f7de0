/* program.h: a program between the stages (language.c) and the questions about it (program_answers.c). */
#ifndef MASU_LANGUAGE_PROGRAM_H
#define MASU_LANGUAGE_PROGRAM_H

#include "base/buffer.h"
#include "language/codegen/codegen.h"
#include "language/diagnose/messages.h"
#include "language/ir/ir.h"
#include "language/language.h"
#include "language/syntax/tree.h"

struct masu_program {
    masu__arena kept;
    masu__arena work;
    source_file file, prelude;
    uint32_t examined;     /* so many bytes of prelude are the file of the library that is compiled; 0: none is */
    source_file **modules; /* their files */
    size_t module_count, module_capacity;
    diagnostics diagnostics;
    syntax_tree *tree;
    type_table types;
    ir_module *module;
    ir_site *sites; /* [0] unused; functions' names and spans of what may raise */
    uint32_t site_count;
    const masu_generator *generator;
    codegen_code *code; /* NULL: none; else generator made it */
    size_t error_count;
    masu_diagnostic_info *found; /* what diagnostics held, for masu_program_diagnostic */
    size_t found_count;
    masu_module *shown_module; /* exports.h; NULL: a program */
    masu__buffer rendered, dump, explained, error, shown;
};

#endif
