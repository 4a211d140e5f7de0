/* lsp.c: `masu lsp`: a language server on standard input and output.
 *
 *     editor ── didOpen, didChange ──►  compile as far as the checks ──►  publishDiagnostics
 *            ── hover, definition  ──►  look up in the last text that compiled
 *
 * Messages have the form "Content-Length: N", an empty line, N bytes of JSON. Documents come whole (sync kind 1).
 * Modules are read from their files. The loop ends at `exit` and at the end of the input.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/meta.h"
#include "tool/json.h"
#include "tool/tool.h"

static const char usage[] = "Usage: masu lsp\n"
                            "\n"
                            "A language server: reads requests from standard input and answers on "
                            "standard output, as editors expect\n"
                            "it (Language Server Protocol 3.17). It shows errors and warnings "
                            "while you type, the type of what the\n"
                            "pointer is on, and where that is declared.\n"
                            "\n"
                            "  --help   this text\n"
                            "\n"
                            "Exit status: 0 after `exit`, 1 when the input ends without it.\n";

enum { MESSAGE_MAX = 64 << 20, DOCUMENTS_MAX = 64 };

typedef struct document {
    masu__buffer uri, text;
    masu_program *program; /* of the present text; NULL: memory ended */
    bool open;
} document;

typedef struct server {
    document documents[DOCUMENTS_MAX];
    masu__buffer message, out;
    bool ended;
} server;

/* ---- messages -------------------------------------------------------------------------------- */

static bool read_message(server *s) {
    char line[256];
    long length = -1;
    while (fgets(line, sizeof line, stdin)) {
        if (strncmp(line, "Content-Length:", 15) == 0)
            length = strtol(line + 15, NULL, 10);
        if (strcmp(line, "\r\n") == 0 || strcmp(line, "\n") == 0)
            break;
    }
    if (length < 0 || length > MESSAGE_MAX || feof(stdin))
        return false;
    masu__buffer_truncate(&s->message, 0);
    masu__buffer_fill(&s->message, ' ', (size_t)length);
    return !s->message.failed && fread(s->message.data, 1, (size_t)length, stdin) == (size_t)length;
}

static void begin(server *s) {
    masu__buffer_truncate(&s->out, 0);
    masu__buffer_puts(&s->out, "{\"jsonrpc\":\"2.0\",");
}

static void send(server *s) {
    masu__buffer_putc(&s->out, '}');
    printf("Content-Length: %zu\r\n\r\n", s->out.length);
    fwrite(masu__buffer_text(&s->out), 1, s->out.length, stdout);
    fflush(stdout);
}

static void begin_answer(server *s, json_value id) {
    begin(s);
    masu__buffer_puts(&s->out, "\"id\":");
    masu__buffer_append(&s->out, id.at, (size_t)(id.end - id.at));
    masu__buffer_puts(&s->out, ",\"result\":");
}

static void put_range(server *s, uint32_t line, uint32_t column, uint32_t end_line,
                      uint32_t end_column) {
    masu__buffer_printf(&s->out,
                        "{\"start\":{\"line\":%u,\"character\":%u},\"end\":{\"line\":%u,"
                        "\"character\":%u}}",
                        line - (line > 0), column - (column > 0), end_line - (end_line > 0),
                        end_column - (end_column > 0));
}

/* ---- documents ------------------------------------------------------------------------------- */

static document *document_of(server *s, json_value uri, bool make) {
    document *free_one = NULL;
    for (int i = 0; i < DOCUMENTS_MAX; i++) {
        document *d = &s->documents[i];
        if (!d->open) {
            free_one = free_one ? free_one : d;
        } else if (json_is(uri, masu__buffer_text(&d->uri))) {
            return d;
        }
    }
    if (!make || !free_one || !json_string(uri, &free_one->uri))
        return NULL;
    free_one->open = true;
    return free_one;
}

static void close_document(document *d) {
    masu_program_destroy(d->program);
    masu__buffer_destroy(&d->uri);
    masu__buffer_destroy(&d->text);
    *d = (document){0};
}

static const char *path_of(const document *d) {
    const char *uri = masu__buffer_text(&d->uri);
    return strncmp(uri, "file://", 7) == 0 ? uri + 7 : uri;
}

static void compile(document *d) {
    masu_compile_options options = {.until = MASU_STAGE_CHECK};
    masu_program_destroy(d->program);
    d->program = NULL;
    masu_program_compile(path_of(d), masu__buffer_text(&d->text), d->text.length, &options,
                         &d->program);
}

static void publish(server *s, const document *d) {
    masu_diagnostic_info info;
    begin(s);
    masu__buffer_puts(&s->out,
                      "\"method\":\"textDocument/publishDiagnostics\",\"params\":{\"uri\":");
    masu__buffer_json_string(&s->out, masu__buffer_text(&d->uri), d->uri.length);
    masu__buffer_puts(&s->out, ",\"diagnostics\":[");
    for (size_t i = 0, shown = 0; d->program && masu_program_diagnostic(d->program, i, &info);
         i++) {
        masu__buffer_puts(&s->out, shown++ ? ",{\"range\":" : "{\"range\":");
        put_range(s, info.line, info.column, info.end_line, info.end_column);
        masu__buffer_printf(
            &s->out, ",\"severity\":%d,\"source\":\"masu\",\"message\":", info.is_error ? 1 : 2);
        masu__buffer_json_string(&s->out, info.message, strlen(info.message));
        masu__buffer_putc(&s->out, '}');
    }
    masu__buffer_puts(&s->out, "]}");
    send(s);
}

static void take_text(server *s, json_value uri, json_value text) {
    document *d = document_of(s, uri, true);
    if (!d)
        return;
    masu__buffer_truncate(&d->text, 0);
    if (json_string(text, &d->text)) {
        compile(d);
        publish(s, d);
    }
}

/* ---- requests -------------------------------------------------------------------------------- */

static bool look_up(server *s, json_value message, masu_place_info *out) {
    document *d = document_of(s, json_find(message, "params.textDocument.uri"), false);
    int64_t line = json_number(json_find(message, "params.position.line"), -1);
    int64_t column = json_number(json_find(message, "params.position.character"), -1);
    return d && d->program && line >= 0 && column >= 0 &&
           masu_program_look_up(d->program, (uint32_t)line + 1, (uint32_t)column + 1, out);
}

static void answer_hover(server *s, json_value message, json_value id) {
    masu_place_info info;
    bool found = look_up(s, message, &info);
    begin_answer(s, id);
    if (found) {
        masu__buffer_puts(&s->out, "{\"contents\":{\"kind\":\"plaintext\",\"value\":");
        masu__buffer_json_string(&s->out, info.text, strlen(info.text));
        masu__buffer_puts(&s->out, "}}");
    } else {
        masu__buffer_puts(&s->out, "null");
    }
    send(s);
}

static void answer_definition(server *s, json_value message, json_value id) {
    masu_place_info info;
    bool found = look_up(s, message, &info) && info.path;
    begin_answer(s, id);
    if (found) {
        masu__buffer uri = {0};
        masu__buffer_printf(&uri, "file://%s", info.path);
        masu__buffer_puts(&s->out, "{\"uri\":");
        masu__buffer_json_string(&s->out, masu__buffer_text(&uri), uri.length);
        masu__buffer_puts(&s->out, ",\"range\":");
        put_range(s, info.line, info.column, info.line, info.column + info.length);
        masu__buffer_putc(&s->out, '}');
        masu__buffer_destroy(&uri);
    } else {
        masu__buffer_puts(&s->out, "null");
    }
    send(s);
}

static void answer_unknown(server *s, json_value id) {
    begin(s);
    masu__buffer_puts(&s->out, "\"id\":");
    masu__buffer_append(&s->out, id.at, (size_t)(id.end - id.at));
    masu__buffer_puts(&s->out, ",\"error\":{\"code\":-32601,\"message\":\"unknown method\"}");
    send(s);
}

static void handle(server *s) {
    json_value message = {s->message.data, s->message.data + s->message.length};
    json_value method = json_find(message, "method"), id = json_find(message, "id");
    json_value uri = json_find(message, "params.textDocument.uri");
    if (json_is(method, "initialize")) {
        begin_answer(s, id);
        masu__buffer_puts(&s->out, "{\"capabilities\":{\"textDocumentSync\":1,\"hoverProvider\":"
                                   "true,\"definitionProvider\":true},\"serverInfo\":{\"name\":"
                                   "\"masu\"}}");
        send(s);
    } else if (json_is(method, "textDocument/didOpen")) {
        take_text(s, uri, json_find(message, "params.textDocument.text"));
    } else if (json_is(method, "textDocument/didChange")) {
        take_text(s, uri, json_find(message, "params.contentChanges.0.text"));
    } else if (json_is(method, "textDocument/didClose")) {
        document *d = document_of(s, uri, false);
        if (d)
            close_document(d);
    } else if (json_is(method, "textDocument/hover")) {
        answer_hover(s, message, id);
    } else if (json_is(method, "textDocument/definition")) {
        answer_definition(s, message, id);
    } else if (json_is(method, "shutdown")) {
        begin_answer(s, id);
        masu__buffer_puts(&s->out, "null");
        send(s);
    } else if (json_is(method, "exit")) {
        s->ended = true;
    } else if (id.at) {
        answer_unknown(s, id);
    }
}

static int run(int argc, char **argv) {
    static const char *const known[] = {"--help", NULL};
    if (argc > 1)
        return tool_unknown_option("lsp", argv[1], known);
    server *s = masu__meta_calloc(1, sizeof *s);
    if (!s)
        return TOOL_FAILED;
    while (!s->ended && read_message(s))
        handle(s);
    bool ended = s->ended;
    for (int i = 0; i < DOCUMENTS_MAX; i++)
        close_document(&s->documents[i]);
    masu__buffer_destroy(&s->message);
    masu__buffer_destroy(&s->out);
    masu__meta_free(s, sizeof *s);
    return ended ? TOOL_OK : TOOL_FAILED;
}

const tool_command tool_lsp = {"lsp", "a language server for editors", usage, run};
