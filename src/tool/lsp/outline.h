/* outline.h: the items of a text, for the outline and for completion in editors. */
#ifndef MASU_TOOL_LSP_OUTLINE_H
#define MASU_TOOL_LSP_OUTLINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"

/* The numbers of the Language Server Protocol's SymbolKind. */
typedef enum lsp_symbol_kind {
    LSP_NOTHING = 0,
    LSP_MODULE = 2,
    LSP_IMPL = 5,
    LSP_METHOD = 6,
    LSP_ENUM = 10,
    LSP_TRAIT = 11,
    LSP_FUNCTION = 12,
    LSP_CONSTANT = 14,
    LSP_STRUCT = 23
} lsp_symbol_kind;

typedef struct lsp_symbol {
    lsp_symbol_kind kind;
    uint32_t depth;
    uint32_t from, to;          /* bytes of the text: from the keyword to behind the body */
    uint32_t name, name_length; /* of an `impl`: all of its head */
} lsp_symbol;

/* Into out, which is emptied first: as many as are returned, in the order of the text. 0 also when memory ended. Linear
 * in the text times the depth of modules in one another. */
size_t lsp_outline(const masu__buffer *text, masu__buffer *out);
const lsp_symbol *lsp_outline_symbols(const masu__buffer *out);

#endif
