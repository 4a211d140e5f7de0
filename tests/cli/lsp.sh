# Recorded sessions of masu lsp: each request and what is answered, byte for byte but for the lengths.
send() { printf 'Content-Length: %d\r\n\r\n%s' "$(printf %s "$1" | wc -c)" "$1"; }
request() { send '{"jsonrpc":"2.0","id":'"$1"',"method":"'"$2"'","params":'"${3:-null}"'}'; }
notify() { send '{"jsonrpc":"2.0","method":"'"$1"'","params":'"${2:-null}"'}'; }
opens() { notify textDocument/didOpen '{"textDocument":{"uri":"'"$1"'","text":"'"$2"'"}}'; }
changes() { notify textDocument/didChange '{"textDocument":{"uri":"'"$1"'"},"contentChanges":[{"text":"'"$2"'"}]}'; }
at() { printf '{"textDocument":{"uri":"%s"},"position":{"line":%d,"character":%d}}' "$@"; }
# The answers on standard output, one a line, of the session on standard input; the status of the server is $1.
session() {
    status=0
    "$MASU" lsp >"$MASU_TMP/answers" || status=$?
    [ "$status" -eq "$1" ] || fail "masu lsp ended with status $status"
    tr -d '\r' <"$MASU_TMP/answers" | grep -o '{"jsonrpc.*' | sed 's/Content-Length: [0-9]*$//' >"$MASU_TMP/lines"
}
answers() { diff - "$MASU_TMP/lines" || fail "$1: the answers differ"; }
capabilities='{"jsonrpc":"2.0","id":1,"result":{"capabilities":{"positionEncoding":"utf-16","textDocumentSync":1,"hoverProvider":true,"definitionProvider":true,"documentFormattingProvider":true},"serverInfo":{"name":"masu"}}}'
nothing() { printf '{"jsonrpc":"2.0","method":"textDocument/publishDiagnostics","params":{"uri":"%s","diagnostics":[]}}\n' "$1"; }

# A program is opened with a mistake, corrected, asked about, laid out.
a=file:///tmp/a.tl
{
    request 1 initialize '{"capabilities":{}}'
    notify initialized '{}'
    opens $a 'fn main() {\n    let mut x = [1.0, 2.0];\n    println(\"{}\", y);\n}\n'
    changes $a 'fn main() {\n    let mut x = [1.0, 2.0];\n    println(\"{}\",x);\n}\n'
    request 2 textDocument/hover "$(at $a 2 17)"
    request '"d"' textDocument/definition "$(at $a 2 17)"
    request 3 textDocument/hover "$(at $a 0 0)"
    request 4 textDocument/rename '{}'
    request 5 textDocument/formatting '{"textDocument":{"uri":"'$a'"}}'
    notify textDocument/didClose '{"textDocument":{"uri":"'$a'"}}'
    request 6 textDocument/hover "$(at $a 2 17)"
    request 7 shutdown
    notify exit
} | session 0
answers 'one file' <<TEXT
$capabilities
{"jsonrpc":"2.0","method":"textDocument/publishDiagnostics","params":{"uri":"file:///tmp/a.tl","diagnostics":[{"range":{"start":{"line":2,"character":18},"end":{"line":2,"character":19}},"severity":1,"code":"E0102","source":"masu","message":"there is no variable \`y\`"}]}}
{"jsonrpc":"2.0","method":"textDocument/publishDiagnostics","params":{"uri":"file:///tmp/a.tl","diagnostics":[{"range":{"start":{"line":1,"character":12},"end":{"line":1,"character":13}},"severity":2,"code":"W0101","source":"masu","message":"nothing writes to \`x\`: it needs no \`mut\`"}]}}
{"jsonrpc":"2.0","id":2,"result":{"contents":{"kind":"plaintext","value":"x: Tensor<f32, 1>\nshape [2]; 2 elements, as f32 from the bucket pool; slot 0 of main; made on line 2; dies on line 3"}}}
{"jsonrpc":"2.0","id":"d","result":{"uri":"file:///tmp/a.tl","range":{"start":{"line":1,"character":12},"end":{"line":1,"character":13}}}}
{"jsonrpc":"2.0","id":3,"result":null}
{"jsonrpc":"2.0","id":4,"error":{"code":-32601,"message":"unknown method"}}
{"jsonrpc":"2.0","id":5,"result":[{"range":{"start":{"line":0,"character":0},"end":{"line":2147483646,"character":0}},"newText":"fn main() {\n    let mut x = [1.0, 2.0];\n    println(\"{}\", x);\n}\n"}]}
{"jsonrpc":"2.0","id":6,"result":null}
{"jsonrpc":"2.0","id":7,"result":null}
TEXT

# Where values live: lent, moved, of unknown length, large; and while the text is broken, from the last one that was right.
program='fn f(t: Tensor) -> Tensor { t * 2.0 }\nfn main() {\n    let big = Tensor::ones([100, 100]);\n    let lent = f(big);\n    let moved = f(lent);\n    println(\"{} {}\", big.sum(), moved.sum());\n}\n'
{
    request 1 initialize '{}'
    opens $a "$program"
    request 2 textDocument/hover "$(at $a 2 9)"
    request 3 textDocument/hover "$(at $a 4 18)"
    request 4 textDocument/hover "$(at $a 0 5)"
    changes $a "// one more line\nfn g( {\n$program"
    request 5 textDocument/hover "$(at $a 4 9)"
    request 6 textDocument/hover "$(at $a 1 4)"
    request 7 shutdown
    notify exit
} | session 0
sed -n '3,6p;8,9p' "$MASU_TMP/lines" | sed 's/.*"id"/"id"/' >"$MASU_TMP/some"
diff - "$MASU_TMP/some" <<'TEXT' || fail 'where values live'
"id":2,"result":{"contents":{"kind":"plaintext","value":"big: Tensor<f32, 2>\nTODO"}}
TEXT
