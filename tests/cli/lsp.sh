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
capabilities='{"jsonrpc":"2.0","id":1,"result":{"capabilities":{"positionEncoding":"utf-16","textDocumentSync":1,"hoverProvider":true,"definitionProvider":true,"documentFormattingProvider":true,"documentSymbolProvider":true,"completionProvider":{"triggerCharacters":[".",":"]}},"serverInfo":{"name":"masu"}}}'

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

# Where values live: lent, moved, of unknown length, large; and while the text is broken, from the last one that was
# right.
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
sed -n '3,5p;7,8p' "$MASU_TMP/lines" | sed 's/.*"id"/"id"/' >"$MASU_TMP/some"
diff - "$MASU_TMP/some" <<'TEXT' || fail 'where values live'
"id":2,"result":{"contents":{"kind":"plaintext","value":"big: Tensor<f32, 2>\nshape [100, 100]; 10000 elements, as f32 from the best-fit pool; slot 0 of main; made on line 3; lent to f on line 4; dies on line 6"}}}
"id":3,"result":{"contents":{"kind":"plaintext","value":"lent: Tensor\nshape [100, 100]; 10000 elements, as f32 from the best-fit pool; received on line 4; moves into f on line 5"}}}
"id":4,"result":{"contents":{"kind":"plaintext","value":"t: Tensor\nshape [100, 100]; 10000 elements, as f32 from the best-fit pool; slot 0 of f; dies on line 1; borrowed from the caller"}}}
"id":5,"result":{"contents":{"kind":"plaintext","value":"big: Tensor<f32, 2>\nshape [100, 100]; 10000 elements, as f32 from the best-fit pool; slot 0 of main; made on line 3; lent to f on line 4; dies on line 6"}}}
"id":6,"result":null}
TEXT

# Lengths that are not known have the names of the source.
program='fn f(x: Tensor, w: Tensor) -> Tensor {\n    let B = x.dim(0);\n    let h = x.matmul(w);\n    h.reshape([B * 2, -1])\n}\nfn main() {\n    let n = args_count();\n    let made = f(Tensor::ones([n, 64]), Tensor::ones([64, n + 1]));\n    println(\"{}\", made);\n}\n'
{
    request 1 initialize '{}'
    opens $a "$program"
    request 2 textDocument/hover "$(at $a 2 8)"
    request 3 textDocument/hover "$(at $a 7 8)"
    request 4 textDocument/hover "$(at $a 0 16)"
    request 5 shutdown
    notify exit
} | session 0
sed -n '3,5p' "$MASU_TMP/lines" | sed 's/.*"value":"//; s/;.*//' >"$MASU_TMP/some"
diff - "$MASU_TMP/some" <<'TEXT' || fail 'symbolic lengths'
h: Tensor\nshape [B, w.dim(1)]
made: Tensor\nshape [n * 2, ?]
w: Tensor\nshape [64, ?]
TEXT

# Modules: read from the editor where it has them, else from the file; what is wrong with one is said of its own file.
mkdir "$MASU_TMP/two words"
folder="$MASU_TMP/two words"
printf 'fn area(w: f32) -> f32 { w * w }\n' >"$folder/shapes.tl"
main="file://$(printf %s "$folder" | sed 's/ /%20/g')/main.tl"
module="file://$(printf %s "$folder" | sed 's/ /%20/g')/shapes.tl"
{
    request 1 initialize '{}'
    opens "$main" 'mod shapes;\nfn main() {\n    println(\"{}\", area(2.0));\n}\n'
    request 2 textDocument/definition "$(at "$main" 2 19)"
    opens "$module" '// \ud83d\ude00 unsaved\nfn area(w: f32) -> f32 { \"\ud83d\ude00\"; wide * w }\n'
    changes "$module" '// unsaved\nfn area(w: f32) -> f32 { let \u00e9 = \"\ud83d\ude00\"; println(\u00e9); w * w }\n'
    request 3 textDocument/definition "$(at "$main" 2 19)"
    request 4 textDocument/hover "$(at "$module" 1 52)"
    request 5 shutdown
    notify exit
} | session 0
sed "s#$(printf %s "$folder" | sed 's/ /%20/g')##g" "$MASU_TMP/lines" >"$MASU_TMP/some"
diff - "$MASU_TMP/some" <<TEXT || fail 'modules'
$capabilities
{"jsonrpc":"2.0","method":"textDocument/publishDiagnostics","params":{"uri":"file:///main.tl","diagnostics":[]}}
{"jsonrpc":"2.0","id":2,"result":{"uri":"file:///shapes.tl","range":{"start":{"line":0,"character":3},"end":{"line":0,"character":7}}}}
{"jsonrpc":"2.0","method":"textDocument/publishDiagnostics","params":{"uri":"file:///main.tl","diagnostics":[]}}
{"jsonrpc":"2.0","method":"textDocument/publishDiagnostics","params":{"uri":"file:///shapes.tl","diagnostics":[{"range":{"start":{"line":1,"character":31},"end":{"line":1,"character":35}},"severity":1,"code":"E0102","source":"masu","message":"there is no variable \`wide\`"}]}}
{"jsonrpc":"2.0","method":"textDocument/publishDiagnostics","params":{"uri":"file:///main.tl","diagnostics":[]}}
{"jsonrpc":"2.0","method":"textDocument/publishDiagnostics","params":{"uri":"file:///shapes.tl","diagnostics":[]}}
{"jsonrpc":"2.0","id":3,"result":{"uri":"file:///shapes.tl","range":{"start":{"line":1,"character":3},"end":{"line":1,"character":7}}}}
{"jsonrpc":"2.0","id":4,"result":{"contents":{"kind":"plaintext","value":"f32"}}}
{"jsonrpc":"2.0","id":5,"result":null}
TEXT

# What is no message: an answer where one is due, and the next message is read.
{
    send '{"jsonrpc":"2.0","id":1,'
    send 'no JSON at all'
    send ''
    send '[1, 2'
    send "$(printf '%0300d' 0 | tr 0 '[')"
    send '{"jsonrpc":"2.0","id":2}'
    request 3 textDocument/hover "$(at $a 0 0)"
    printf 'X-Long: %05000d\r\ncontent-length: 60\r\nContent-Type: x\r\n\r\n%-60s' 0 '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}'
    opens $a 'fn main() { }\n'
    changes file:///tmp/unknown.tl '\ud800 \u00'
    notify textDocument/didOpen '{"textDocument":{"uri":7,"text":{}}}'
    notify textDocument/didChange '{"contentChanges":[]}'
    request 4 textDocument/hover '{"textDocument":{"uri":"'$a'"},"position":{"line":99999999999,"character":-3}}'
    request 5 textDocument/hover '[]'
    request 6 shutdown
    request 7 textDocument/hover "$(at $a 0 0)"
    notify exit
} | session 0
answers 'bad messages' <<TEXT
{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"this is no JSON"}}
{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"this is no JSON"}}
{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"this is no JSON"}}
{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"this is no JSON"}}
{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"this is no JSON"}}
{"jsonrpc":"2.0","id":2,"error":{"code":-32600,"message":"a message has a method"}}
{"jsonrpc":"2.0","id":3,"error":{"code":-32002,"message":"\`initialize\` comes first"}}
$capabilities
{"jsonrpc":"2.0","method":"textDocument/publishDiagnostics","params":{"uri":"file:///tmp/a.tl","diagnostics":[]}}
{"jsonrpc":"2.0","method":"textDocument/publishDiagnostics","params":{"uri":"file:///tmp/unknown.tl","diagnostics":[{"range":{"start":{"line":0,"character":0},"end":{"line":0,"character":1}},"severity":1,"code":"E0003","source":"masu","message":"\`�\` does not belong to the language"},{"range":{"start":{"line":0,"character":2},"end":{"line":0,"character":4}},"severity":1,"code":"E0001","source":"masu","message":"statements belong inside functions\na program starts at \`fn main() { … }\`"}]}}
{"jsonrpc":"2.0","id":4,"result":null}
{"jsonrpc":"2.0","id":5,"result":null}
{"jsonrpc":"2.0","id":6,"result":null}
{"jsonrpc":"2.0","id":7,"error":{"code":-32600,"message":"nothing comes after \`shutdown\` but \`exit\`"}}
TEXT

# The input ends without exit, or exit comes without shutdown, or nobody can tell how long a message is.
request 1 initialize | session 1
{ request 1 initialize; notify exit; } | session 1
for length in -1 99999999999 many '12 x'; do
    { printf 'Content-Length: %s\r\n\r\n{}' "$length"; request 1 initialize; } | session 1
    [ ! -s "$MASU_TMP/lines" ] || fail "an answer to a message of length $length"
done

# What a tensor holds decides how many bytes it takes; a module that is opened alone is asked about like a program.
m=file:///tmp/alone.tl
{
    request 1 initialize '{}'
    opens $a 'fn main() {\n    let b: Tensor<f64, 2> = Tensor::ones([40, 40]);\n    let d = b.argmax(1);\n    println(\"{} {}\", b, d);\n}\n'
    request 2 textDocument/hover "$(at $a 1 8)"
    request 3 textDocument/hover "$(at $a 2 8)"
    opens $m 'pub fn twice(x: Tensor<f64, 1>) -> Tensor<f64, 1> {\n    let y = x * 2.0;\n    y\n}\n'
    request 4 textDocument/hover "$(at $m 1 12)"
    request 5 textDocument/definition "$(at $m 2 4)"
    request 7 shutdown
    notify exit
} | session 0
answers 'elements and modules' <<TEXT
$capabilities
{"jsonrpc":"2.0","method":"textDocument/publishDiagnostics","params":{"uri":"file:///tmp/a.tl","diagnostics":[]}}
{"jsonrpc":"2.0","id":2,"result":{"contents":{"kind":"plaintext","value":"b: Tensor<f64, 2>\nshape [40, 40]; 1600 elements, as f64 from the bucket pool; slot 0 of main; made on line 2; dies on line 4"}}}
{"jsonrpc":"2.0","id":3,"result":{"contents":{"kind":"plaintext","value":"d: Tensor<i64, 1>\nshape [40]; 40 elements, as i64 from the bucket pool; slot 1 of main; made on line 3; dies on line 4"}}}
{"jsonrpc":"2.0","method":"textDocument/publishDiagnostics","params":{"uri":"file:///tmp/alone.tl","diagnostics":[]}}
{"jsonrpc":"2.0","id":4,"result":{"contents":{"kind":"plaintext","value":"x: Tensor<f64, 1>"}}}
{"jsonrpc":"2.0","id":5,"result":{"uri":"file:///tmp/alone.tl","range":{"start":{"line":1,"character":8},"end":{"line":1,"character":9}}}}
{"jsonrpc":"2.0","id":7,"result":null}
TEXT

# The outline of a text, whether it is right or not, and what may stand at a place.
head='struct Net { w: Tensor }\nimpl Net {\n    fn new() -> Net { Net { w: Tensor::ones([2]) } }\n    fn forward(self, x: Tensor) -> Tensor { x * self.w }\n}\n'
main='fn main() {\n    let net = Net::new();\n    println(\"{}\", net.forward(net.w));\n'
{
    request 1 initialize '{}'
    opens $a "$head$main}\n"
    request 2 textDocument/documentSymbol '{"textDocument":{"uri":"'$a'"}}'
    changes $a "$head$main    \\\"\ud83d\ude00\\\"; net.fo\n    Tensor::\n    net.w.\n    ne"
    request 3 textDocument/completion "$(at $a 8 16)"
    request 4 textDocument/completion "$(at $a 9 12)"
    request 5 textDocument/completion "$(at $a 10 10)"
    request 6 textDocument/completion "$(at $a 11 6)"
    request 7 textDocument/documentSymbol '{"textDocument":{"uri":"'$a'"}}'
    request 8 textDocument/completion "$(at $a 99 99)"
    request 9 textDocument/completion "$(at file:///none 0 0)"
    request 10 shutdown
    notify exit
} | session 0
grep -o '"name":"[^"]*","kind":[0-9]*' "$MASU_TMP/lines" | tr '\n' ' ' >"$MASU_TMP/some"
outline='"name":"Net","kind":23 "name":"impl Net","kind":5 "name":"new","kind":6 "name":"forward","kind":6 "name":"main","kind":12 '
[ "$(cat "$MASU_TMP/some")" = "$outline$outline" ] ||
    fail "the outline: $(cat "$MASU_TMP/some")"
grep -q '"id":2,.*"name":"forward","kind":6,"selectionRange":{"start":{"line":3,"character":7},"end":{"line":3,"character":14}},"range":{"start":{"line":3,"character":4},"end":{"line":3,"character":56}}' \
    "$MASU_TMP/lines" || fail "where forward stands: $(cat "$MASU_TMP/lines")"
grep -q '"id":3,"result":\[{"label":"forward","kind":2,"detail":"forward(self, x: Tensor) -> Tensor"}\]' "$MASU_TMP/lines" ||
    fail "methods of a struct"
grep -q '"id":4,.*"label":"zeros","kind":3,' "$MASU_TMP/lines" || fail 'functions of Tensor'
grep -q '"id":5,.*"label":"matmul","kind":2,' "$MASU_TMP/lines" || fail 'methods of a tensor'
grep -q '"id":6,.*"label":"Net".*"label":"main".*"label":"net".*"label":"while"' "$MASU_TMP/lines" || fail 'names'
grep -q '"id":9,"result":null' "$MASU_TMP/lines" || fail 'a document that is not open'

# Names that the compiler gives are never shown: of namesakes in two modules, of closures, of the language's own
# methods.
text='mod a { pub const L: i64 = 1; pub struct P { x: i64 } }\nmod b { pub const L: i64 = 2; #[derive(Debug)] pub struct P { x: i64 } }\nfn main() {\n    let v = vec![b::P { x: a::L + b::L }];\n    let add = |q: i64| q + 1;\n    let last = v.last().unwrap();\n    println(\"{:?} {} {}\", v, add(1), last.x);\n}\n'
{
    request 1 initialize '{}'
    opens $a "$text"
    for line in 3 4 5 6; do
        for column in 8 14 17 20 23 26 29 32 35 38 41; do request 2 textDocument/hover "$(at $a $line $column)"; done
    done
    request 3 shutdown
    notify exit
} | session 0
grep -q '"value":"v: Vec<P>' "$MASU_TMP/lines" || fail "no hover: $(cat "$MASU_TMP/lines")"
if grep -E 'u0001|__|<closure|\{[bo]' "$MASU_TMP/lines" | grep -v publish; then fail 'names of the compiler'; fi
