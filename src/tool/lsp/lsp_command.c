/* lsp_command.c: `masu lsp`: a language server on standard input and output.
 *
 *     editor ── didOpen, didChange ──►  compile without code       ──►  publishDiagnostics
 *            ── hover, definition  ──►  look up in the last text that was right
 *            ── formatting         ──►  masu fmt
 *            ── outline, completion ─►  the items of the present text, and the operations
 *
 * Messages have the form "Content-Length: N", an empty line, N bytes of JSON. Documents come whole (sync kind 1),
 * positions count UTF-16 units. Anything else than a message is answered with an error and forgotten; only a header
 * without a length that can be believed ends the server: it is not known where the next message begins.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tool/lsp/lsp.h"
#include "tool/tool.h"

static const char usage[] =
    "Usage: masu lsp\n"
    "\n"
    "A language server: reads requests from standard input and answers on standard output, as editors expect\n"
    "it (Language Server Protocol 3.17). It shows errors and warnings while you type; of what the pointer is on\n"
    "the type, the shape, where the value lives and where it is declared; what may be written at a place; the\n"
    "items of a file; and lays files out.\n"
    "\n"
    "  --help   this text\n"
    "\n"
    "Exit status: 0 after `shutdown` and `exit`, 1 otherwise.\n";

enum { MESSAGE_MAX = 64 << 20, CHANGES_MAX = 64 };

typedef enum lsp_error {
    LSP_PARSE_ERROR = -32700,
    LSP_INVALID_REQUEST = -32600,
    LSP_UNKNOWN_METHOD = -32601,
    LSP_NOT_INITIALIZED = -32002
} lsp_error;

/* ---- messages -------------------------------------------------------------------------------- */

/* One header line; what does not fit into it is left out. False at the end of the input. */
static bool read_line(char *line, size_t size) {
    size_t length = 0;
    int c;
    while ((c = getchar()) != EOF && c != '\n')
        if (length + 1 < size)
            line[length++] = (char)c;
    while (length > 0 && line[length - 1] == '\r')
        length--;
    line[length] = 0;
    return c != EOF;
}

/* -1: there is none that can be believed, or the input has ended. */
static long read_header(void) {
    char line[256];
    long length = -1;
    while (read_line(line, sizeof line)) {
        if (*line == 0) {
            if (length >= 0)
                return length;
            continue; /* empty lines in front of a message */
        }
        char *end;
        if (strncasecmp(line, "Content-Length:", 15) != 0)
            continue;
        length = strtol(line + 15, &end, 10);
        if (*end || length < 0 || length > MESSAGE_MAX)
            return -1;
    }
    return -1;
}

static bool read_message(lsp_server *s) {
    long length = read_header();
    if (length < 0)
        return false;
    masu__buffer_truncate(&s->message, 0);
    masu__buffer_fill(&s->message, ' ', (size_t)length);
    return !s->message.failed && (length == 0 || fread(s->message.data, 1, (size_t)length, stdin) == (size_t)length);
}

void lsp_begin(lsp_server *s) {
    masu__buffer_truncate(&s->out, 0);
    masu__buffer_puts(&s->out, "{\"jsonrpc\":\"2.0\",");
}

void lsp_send(lsp_server *s) {
    masu__buffer_putc(&s->out, '}');
    if (s->out.failed) { /* memory ended: no answer is better than half of one */
        masu__buffer_destroy(&s->out);
        return;
    }
    printf("Content-Length: %zu\r\n\r\n", s->out.length);
    fwrite(masu__buffer_text(&s->out), 1, s->out.length, stdout);
    fflush(stdout);
}

static void begin_answer(lsp_server *s, json_value id) {
    lsp_begin(s);
    masu__buffer_puts(&s->out, "\"id\":");
    if (id.at)
        masu__buffer_append(&s->out, id.at, (size_t)(id.end - id.at));
    else
        masu__buffer_puts(&s->out, "null");
}

static void answer_error(lsp_server *s, json_value id, lsp_error code, const char *message) {
    begin_answer(s, id);
    masu__buffer_printf(&s->out, ",\"error\":{\"code\":%d,\"message\":\"%s\"}", (int)code, message);
    lsp_send(s);
}

static void answer_null(lsp_server *s, json_value id) {
    begin_answer(s, id);
    masu__buffer_puts(&s->out, ",\"result\":null");
    lsp_send(s);
}

/* All from 1, as the compiler counts. */
void lsp_put_range(lsp_server *s, uint32_t line, uint32_t column, uint32_t end_line, uint32_t end_column) {
    masu__buffer_printf(&s->out, "{\"start\":{\"line\":%u,\"character\":%u},\"end\":{\"line\":%u,\"character\":%u}}",
                        line - (line > 0), column - (column > 0), end_line - (end_line > 0),
                        end_column - (end_column > 0));
}

void lsp_put_uri(lsp_server *s, const char *path) {
    masu__buffer uri = {0};
    masu__buffer_puts(&uri, *path == '/' ? "file://" : "");
    for (; *path; path++) {
        unsigned char c = (unsigned char)*path;
        if (c > ' ' && c < 0x7F && !strchr("%?#\"<>\\^`{}|", c))
            masu__buffer_putc(&uri, (char)c);
        else
            masu__buffer_printf(&uri, "%%%02X", c);
    }
    masu__buffer_json_string(&s->out, masu__buffer_text(&uri), uri.length);
    masu__buffer_destroy(&uri);
}

/* ---- requests -------------------------------------------------------------------------------- */

static void answer_initialize(lsp_server *s, json_value id) {
    s->initialized = true;
    begin_answer(s, id);
    masu__buffer_puts(&s->out,
                      ",\"result\":{\"capabilities\":{\"positionEncoding\":\"utf-16\","
                      "\"textDocumentSync\":1,\"hoverProvider\":true,\"definitionProvider\":true,"
                      "\"documentFormattingProvider\":true,\"documentSymbolProvider\":true,"
                      "\"completionProvider\":{\"triggerCharacters\":[\".\",\":\"]}},"
                      "\"serverInfo\":{\"name\":\"masu\"}}");
    lsp_send(s);
}

static bool look_up(lsp_server *s, json_value message, masu_place_info *out) {
    lsp_document *d = lsp_find(s, json_find(message, "params.textDocument.uri"));
    int64_t line = json_number(json_find(message, "params.position.line"), -1);
    int64_t column = json_number(json_find(message, "params.position.character"), -1);
    return d && line >= 0 && column >= 0 && line < INT32_MAX && column < INT32_MAX &&
           lsp_look_up(s, d, (uint32_t)line, (uint32_t)column, out);
}

static void answer_hover(lsp_server *s, json_value message, json_value id) {
    masu_place_info info;
    if (!look_up(s, message, &info)) {
        answer_null(s, id);
        return;
    }
    begin_answer(s, id);
    masu__buffer_puts(&s->out, ",\"result\":{\"contents\":{\"kind\":\"plaintext\",\"value\":");
    masu__buffer_json_string(&s->out, info.text, strlen(info.text));
    masu__buffer_puts(&s->out, "}}");
    lsp_send(s);
}

static void answer_definition(lsp_server *s, json_value message, json_value id) {
    masu_place_info info;
    if (!look_up(s, message, &info) || !info.path) {
        answer_null(s, id);
        return;
    }
    begin_answer(s, id);
    masu__buffer_puts(&s->out, ",\"result\":{\"uri\":");
    lsp_put_uri(s, info.path);
    masu__buffer_puts(&s->out, ",\"range\":");
    lsp_put_range(s, info.line, info.column16, info.line, info.column16 + info.length16);
    masu__buffer_putc(&s->out, '}');
    lsp_send(s);
}

/* One edit of the whole text; none when it cannot be read. */
static void answer_formatting(lsp_server *s, json_value message, json_value id) {
    lsp_document *d = lsp_find(s, json_find(message, "params.textDocument.uri"));
    masu_text laid_out = {0}, said = {0};
    masu_status status = d ? masu_format("", masu__buffer_text(&d->text), d->text.length, &laid_out, &said)
                           : MASU_ERR_INVALID_ARGUMENT;
    begin_answer(s, id);
    masu__buffer_puts(&s->out, ",\"result\":[");
    if (status == MASU_OK) {
        masu__buffer_puts(&s->out, "{\"range\":");
        lsp_put_range(s, 1, 1, INT32_MAX, 1);
        masu__buffer_puts(&s->out, ",\"newText\":");
        masu__buffer_json_string(&s->out, laid_out.data ? laid_out.data : "", laid_out.length);
        masu__buffer_putc(&s->out, '}');
    }
    masu__buffer_putc(&s->out, ']');
    lsp_send(s);
    masu_text_free(&laid_out);
    masu_text_free(&said);
}

static void answer_outline(lsp_server *s, json_value message, json_value id) {
    lsp_document *d = lsp_find(s, json_find(message, "params.textDocument.uri"));
    begin_answer(s, id);
    masu__buffer_puts(&s->out, ",\"result\":");
    if (d)
        lsp_put_outline(s, d);
    else
        masu__buffer_puts(&s->out, "null");
    lsp_send(s);
}

static void answer_completion(lsp_server *s, json_value message, json_value id) {
    lsp_document *d = lsp_find(s, json_find(message, "params.textDocument.uri"));
    int64_t line = json_number(json_find(message, "params.position.line"), -1);
    int64_t column = json_number(json_find(message, "params.position.character"), -1);
    begin_answer(s, id);
    masu__buffer_puts(&s->out, ",\"result\":");
    if (d && line >= 0 && column >= 0 && line < INT32_MAX && column < INT32_MAX)
        lsp_put_completion(s, d, (uint32_t)line, (uint32_t)column);
    else
        masu__buffer_puts(&s->out, "null");
    lsp_send(s);
}

static void answer_shutdown(lsp_server *s, json_value id) {
    s->shut_down = true;
    answer_null(s, id);
}

/* Each change is a whole text: the last one counts. */
static json_value last_change(json_value message) {
    json_value last = {0};
    for (int i = 0; i < CHANGES_MAX; i++) {
        char path[48];
        snprintf(path, sizeof path, "params.contentChanges.%d.text", i);
        json_value next = json_find(message, path);
        if (!next.at)
            break;
        last = next;
    }
    return last;
}

/* Notifications: they are never answered. */
static void take_notification(lsp_server *s, json_value method, json_value message) {
    json_value uri = json_find(message, "params.textDocument.uri");
    if (json_is(method, "textDocument/didOpen")) {
        lsp_take_text(s, uri, json_find(message, "params.textDocument.text"));
    } else if (json_is(method, "textDocument/didChange")) {
        lsp_take_text(s, uri, last_change(message));
    } else if (json_is(method, "textDocument/didClose")) {
        lsp_document *d = lsp_find(s, uri);
        if (d)
            lsp_close(s, d);
    }
}

static void answer(lsp_server *s, json_value method, json_value message, json_value id) {
    if (json_is(method, "initialize"))
        answer_initialize(s, id);
    else if (!s->initialized)
        answer_error(s, id, LSP_NOT_INITIALIZED, "`initialize` comes first");
    else if (s->shut_down)
        answer_error(s, id, LSP_INVALID_REQUEST, "nothing comes after `shutdown` but `exit`");
    else if (json_is(method, "textDocument/hover"))
        answer_hover(s, message, id);
    else if (json_is(method, "textDocument/definition"))
        answer_definition(s, message, id);
    else if (json_is(method, "textDocument/formatting"))
        answer_formatting(s, message, id);
    else if (json_is(method, "textDocument/documentSymbol"))
        answer_outline(s, message, id);
    else if (json_is(method, "textDocument/completion"))
        answer_completion(s, message, id);
    else if (json_is(method, "shutdown"))
        answer_shutdown(s, id);
    else
        answer_error(s, id, LSP_UNKNOWN_METHOD, "unknown method");
}

static void handle(lsp_server *s) {
    json_value message = {s->message.data, s->message.data + s->message.length};
    if (!json_valid(message)) {
        answer_error(s, (json_value){0}, LSP_PARSE_ERROR, "this is no JSON");
        return;
    }
    json_value method = json_find(message, "method"), id = json_find(message, "id");
    if (json_is(method, "exit"))
        s->ended = true;
    else if (!method.at)
        answer_error(s, id, LSP_INVALID_REQUEST, "a message has a method");
    else if (id.at)
        answer(s, method, message, id);
    else if (s->initialized && !s->shut_down)
        take_notification(s, method, message);
}

static int run(int argc, char **argv) {
    static const char *const known[] = {"--help", NULL};
    if (argc > 1)
        return tool_unknown_option("lsp", argv[1], known);
    static lsp_server s; /* large */
    s = (lsp_server){0};
    while (!s.ended && read_message(&s))
        handle(&s);
    int status = s.ended && s.shut_down ? TOOL_OK : TOOL_FAILED;
    lsp_forget(&s);
    return tool_finish(status);
}

const tool_command tool_lsp = {"lsp", "a language server for editors", usage, run};
