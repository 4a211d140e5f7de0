/* lsp.h: what the parts of `masu lsp` share.
 *
 *     lsp_command.c  messages in and out, requests
 *     documents.c    open documents: compiling them, what was said of them, what is at a place
 *     complete.c     completion, and the outline as the editor wants it; outline.c finds the items
 *
 * A document that another open one reads as its module is compiled as a part of that one, from the editor's text.
 */
#ifndef MASU_TOOL_LSP_H
#define MASU_TOOL_LSP_H

#include "base/buffer.h"
#include "language/language.h"
#include "tool/lsp/json.h"

enum { LSP_DOCUMENTS_MAX = 64, LSP_MODULES_MAX = 64 };

typedef struct lsp_document {
    bool open;
    masu__buffer uri, path, text;
    masu_program *program; /* of the present text; NULL: memory ended, or it is a module of another document */
    masu_program *good;    /* of the last text without errors; may be program; NULL: there was none */
    masu__buffer good_text;
    masu__buffer modules[LSP_MODULES_MAX]; /* paths that it reads */
    size_t module_count;
    masu__buffer said_of; /* "\npath\n…": other files about which something was said the last time */
} lsp_document;

typedef struct lsp_server {
    lsp_document documents[LSP_DOCUMENTS_MAX];
    masu__buffer texts[LSP_MODULES_MAX]; /* files read by the compilation that is going on */
    size_t text_count;
    lsp_document *compiling;
    masu__buffer message, out;
    bool initialized, shut_down, ended;
} lsp_server;

/* ---- lsp_command.c ---- */
void lsp_begin(lsp_server *s); /* a message into s->out; then its members, then lsp_send */
void lsp_send(lsp_server *s);
void lsp_put_range(lsp_server *s, uint32_t line, uint32_t column, uint32_t end_line, uint32_t end_column);
void lsp_put_uri(lsp_server *s, const char *path);

/* ---- documents.c ---- */
lsp_document *lsp_find(lsp_server *s, json_value uri); /* NULL: it is not open */
/* Takes the text over, opening the document when need be; compiles and publishes whatever depends on it. */
void lsp_take_text(lsp_server *s, json_value uri, json_value text);
void lsp_close(lsp_server *s, lsp_document *d);
void lsp_forget(lsp_server *s); /* everything, at the end */
/* line and column from 0, column in UTF-16 units. While the text is wrong the last right one answers, for lines that
 * are the same in both. */
bool lsp_look_up(lsp_server *s, lsp_document *d, uint32_t line, uint32_t column, masu_place_info *out);

/* ---- complete.c: the result, appended to s->out ---- */
void lsp_put_outline(lsp_server *s, const lsp_document *d);
/* line and column as above. Linear in the text, and in the list of operations. */
void lsp_put_completion(lsp_server *s, lsp_document *d, uint32_t line, uint32_t column);

#endif
