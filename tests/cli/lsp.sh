# A session of masu lsp: a program is opened with a mistake, corrected, asked about, closed.
send() { printf 'Content-Length: %d\r\n\r\n%s' "$(printf %s "$1" | wc -c)" "$1"; }
uri='"uri":"file:///tmp/a.tl"'
{
    send '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"capabilities":{}}}'
    send '{"jsonrpc":"2.0","method":"initialized","params":{}}'
    send '{"jsonrpc":"2.0","method":"textDocument/didOpen","params":{"textDocument":{'"$uri"',"text":"fn main() {\n    let mut x = [1.0, 2.0];\n    println(\"{}\", y);\n}\n"}}}'
    send '{"jsonrpc":"2.0","method":"textDocument/didChange","params":{"textDocument":{'"$uri"'},"contentChanges":[{"text":"fn main() {\n    let mut x = [1.0, 2.0];\n    println(\"{}\", x);\n}\n"}]}}'
    send '{"jsonrpc":"2.0","id":2,"method":"textDocument/hover","params":{"textDocument":{'"$uri"'},"position":{"line":2,"character":18}}}'
    send '{"jsonrpc":"2.0","id":"d","method":"textDocument/definition","params":{"textDocument":{'"$uri"'},"position":{"line":2,"character":18}}}'
    send '{"jsonrpc":"2.0","id":3,"method":"textDocument/hover","params":{"textDocument":{'"$uri"'},"position":{"line":0,"character":0}}}'
    send '{"jsonrpc":"2.0","id":4,"method":"textDocument/rename","params":{}}'
    send '{"jsonrpc":"2.0","id":5,"method":"shutdown"}'
    send '{"jsonrpc":"2.0","method":"exit"}'
} >"$MASU_TMP/session"
"$MASU" lsp <"$MASU_TMP/session" >"$MASU_TMP/answers" || fail "masu lsp ended with status $?"
tr -d '\r' <"$MASU_TMP/answers" | grep -o '{"jsonrpc.*' | sed 's/Content-Length: [0-9]*$//' >"$MASU_TMP/lines"
diff - "$MASU_TMP/lines" <<'TEXT' || fail 'the answers differ'
{"jsonrpc":"2.0","id":1,"result":{"capabilities":{"textDocumentSync":1,"hoverProvider":true,"definitionProvider":true},"serverInfo":{"name":"masu"}}}
{"jsonrpc":"2.0","method":"textDocument/publishDiagnostics","params":{"uri":"file:///tmp/a.tl","diagnostics":[{"range":{"start":{"line":2,"character":18},"end":{"line":2,"character":19}},"severity":1,"source":"masu","message":"there is no variable `y`"}]}}
{"jsonrpc":"2.0","method":"textDocument/publishDiagnostics","params":{"uri":"file:///tmp/a.tl","diagnostics":[{"range":{"start":{"line":1,"character":12},"end":{"line":1,"character":13}},"severity":2,"source":"masu","message":"nothing writes to `x`: it needs no `mut`"}]}}
{"jsonrpc":"2.0","id":2,"result":{"contents":{"kind":"plaintext","value":"x: Tensor<f32>"}}}
{"jsonrpc":"2.0","id":"d","result":{"uri":"file:///tmp/a.tl","range":{"start":{"line":1,"character":12},"end":{"line":1,"character":13}}}}
{"jsonrpc":"2.0","id":3,"result":null}
{"jsonrpc":"2.0","id":4,"error":{"code":-32601,"message":"unknown method"}}
{"jsonrpc":"2.0","id":5,"result":null}
TEXT
# Without `exit` the input has ended too early.
expect_status 1 "$MASU" lsp
