#!/bin/sh
# Fails on an include against the project's one direction, and on calls outside their homes.
#
#     tool ─► language ─► runtime ─► allocators ─► devices ─► base        (each also: <masu/…>)
#       │  │      └─ sees base and <masu/…> only                 └───► planner ────►┘
#       │  └─► recording (sees base and <masu/…> only)
#       └─► models (sees base and <masu/…> only)
#
#   * A layer shows one header to those above it: src/LAYER/LAYER.h (base: each of its headers).
#   * Inside a layer a room (src/LAYER/ROOM) sees the rooms that the table below names, and the headers that lie in the
#     layer itself; a file that lies in the layer itself sees all its rooms.
#   * bench/ and integrations/ see <masu/…> and the files of their own folder; include/ sees itself.
#   * LLVM's headers only in src/language/codegen, BLAS only in src/runtime, CUDA only in src/devices, FlatBuffers and
#     protobuf only in src/models.
#   * In src/: the malloc family only in base; printf and its kin, stdout and stderr only in tool, runtime/system/print*
#     and base/assert* (runtime/runtime.c may name the streams as its defaults); getenv only in tool,
#     runtime/system/config* and base/record_environment* (a library reads the environment only when it is told to);
#     exit and abort only in tool and base/assert*.
#   * Every header under src/ is included by somebody, and no two files of src/ have one name.
#
#     scripts/check_layers.sh [ROOT]     prints FILE:LINE: what is wrong; status 1 when anything is
set -eu
cd "${1:-$(dirname "$0")/..}"

folders=
for folder in include src bench integrations; do
    [ ! -d "$folder" ] || folders="$folders $folder"
done
[ -n "$folders" ] || {
    echo "check_layers: no source folder in $(pwd)" >&2
    exit 2
}
# shellcheck disable=SC2086 # a list of folders
files=$(find $folders \( -name '*.c' -o -name '*.cc' -o -name '*.h' -o -name '*.def' \) -type f | sort)
[ -n "$files" ] || {
    echo "check_layers: no source file in $(pwd)" >&2
    exit 2
}
tests=
[ ! -d tests ] || tests=$(find tests -name '*.[ch]' -type f | sort)


export MASU_FILES="$files"
# shellcheck disable=SC2086 # a list of files
awk '
BEGIN {
    layers = split("base devices allocators planner runtime models language recording tool", name, " ")
    for (i = 1; i <= layers; i++) rank[name[i]] = i
    files = split(ENVIRON["MASU_FILES"], path_of, "\n")
    for (i = 1; i <= files; i++) is_file[path_of[i]] = 1
    # Who sees whom. Rooms that see each other in a circle say so here: a row grows only with a reason.
    rooms("language", "diagnose", "")
    rooms("language", "syntax", "diagnose")
    rooms("language", "library", "syntax diagnose") # a token asks for a declaration
    rooms("language", "names", "library syntax diagnose")
    rooms("language", "types", "names library syntax diagnose")
    rooms("language", "front", "types names library syntax diagnose")
    rooms("language", "elaborate", "syntax diagnose") # neither names nor messages: it asks and reports nothing
    rooms("language", "borrow", "library syntax diagnose")
    rooms("language", "ir", "diagnose")
    rooms("language", "lower", "ir syntax diagnose")
    rooms("language", "facts", "ir diagnose")
    rooms("language", "pass", "facts ir diagnose")
    rooms("language", "explain", "pass facts ir diagnose")
    rooms("language", "codegen", "ir")
    rooms("language", "portable", "codegen facts ir diagnose") # a generator: codegen.h says what one is
    rooms("runtime", "value", "grad")
    rooms("runtime", "frames", "value")
    rooms("runtime", "grad", "value ops")
    rooms("runtime", "ops", "value grad")
    rooms("runtime", "system", "value grad")
    rooms("runtime", "files", "value system")
    rooms("runtime", "calls", "value")
    rooms("allocators", "bestfit", "")
    rooms("allocators", "bucket", "bestfit")
    rooms("allocators", "vm", "")
    rooms("allocators", "heap", "bucket bestfit vm")
    rooms("allocators", "judge", "")
    rooms("planner", "model", "fixed")
    rooms("planner", "fixed", "model search")
    rooms("planner", "skyline", "model fixed search")
    rooms("planner", "search", "model fixed skyline")
    rooms("planner", "share", "model search")
    rooms("planner", "moves", "") # asks <masu/plan.h> for offsets
    rooms("models", "import", "")
    rooms("tool", "plan", "")
    rooms("tool", "report", "")
    rooms("tool", "lsp", "")
    rooms("tool", "whatif", "")
    rooms("tool", "export", "")
    rooms("tool", "top", "")
    rooms("tool", "native", "")
    rooms("tool", "compiler", "native")
    call = "(^|[^A-Za-z0-9_.>])"
    heap = call "(malloc|calloc|realloc|reallocarray|free|strdup|strndup|asprintf|vasprintf|aligned_alloc|posix_memalign|memalign|valloc)[ \t]*\\("
    print_call = call "(printf|vprintf|puts|putchar|perror|psignal|dprintf|vdprintf)[ \t]*\\("
    print_to = call "(stdout|stderr)([^A-Za-z0-9_]|$)"
    environment = call "(getenv|secure_getenv|setenv|putenv|unsetenv)[ \t]*\\("
    ending = call "(exit|_exit|_Exit|quick_exit|abort|__builtin_trap|raise)[ \t]*\\("
    driver = call "cu[A-Z][A-Za-z0-9_]*[ \t]*\\("
}

function rooms(layer, room, sees) { seen_from[layer "/" room] = " " room " " sees " " }

function wrong(text) {
    print FILENAME ":" FNR ": " text
    count++
}

# The line without comments, and with string and character literals emptied. in_comment is carried over.
function code_of(line,    out, end, mark) {
    out = ""
    while (line != "") {
        if (in_comment) {
            end = index(line, "*/")
            if (end == 0) return out
            in_comment = 0
            line = substr(line, end + 2)
            continue
        }
        if (!match(line, /["\047]|\/\/|\/\*/)) return out line
        mark = substr(line, RSTART, RLENGTH)
        out = out substr(line, 1, RSTART - 1)
        line = substr(line, RSTART)
        if (mark == "//") return out
        if (mark == "/*") { in_comment = 1; line = substr(line, 3); continue }
        if (mark == "\"" && match(line, /^"([^"\\]|\\.)*"/)) out = out "\"\""
        else if (mark == "\047" && match(line, /^\047([^\047\\]|\\.)*\047/)) out = out "0"
        else return out
        line = substr(line, RLENGTH + 1)
    }
    return out
}

function starts(text, head) { return substr(text, 1, length(head)) == head }

# The folder of this file, and the layer when it lies in src/.
function enter_file() {
    in_comment = 0
    folder = FILENAME
    sub(/[^\/]*$/, "", folder)
    top = FILENAME
    sub(/\/.*/, "", top)
    layer = ""
    if (top == "src") {
        layer = substr(FILENAME, 5)
        if (index(layer, "/") == 0) wrong("a source file belongs into a layer")
        sub(/\/.*/, "", layer)
        if (!(layer in rank)) wrong("src/" layer " is no layer of the project")
        room = room_of(FILENAME)
        if (room != "" && !((layer "/" room) in seen_from))
            wrong("src/" layer "/" room " is not a room of " layer ": name it in scripts/check_layers.sh, with what it sees")
        base = FILENAME
        sub(/.*\//, "", base)
        if (base in first_of_name) wrong("has the name of " first_of_name[base])
        else first_of_name[base] = FILENAME
        if (FILENAME ~ /\.h$/) header[FILENAME] = 1
    }
}

# Own folder first, as the compiler does; the rest of the path counts from src/.
function resolve(path,    own) {
    own = folder path
    if (own in is_file) return own
    if (("src/" path) in is_file) return "src/" path
    return ""
}

function check_project_include(path,    target, other) {
    if (index(path, "../")) { wrong("\"" path "\": write the path from src/"); return }
    target = resolve(path)
    if (target != "") included[target] = 1
    if (top == "include") { wrong("\"" path "\": an installed header includes <masu/…> only"); return }
    if (top != "src") {
        if (!starts(target, top "/")) wrong("\"" path "\": " top " sees include/ only")
        return
    }
    other = path
    if (target != "") other = substr(target, 5)
    sub(/\/.*/, "", other)
    if (!(other in rank)) { wrong("\"" path "\": no file of a layer"); return }
    if (other == layer) check_room(path, room_of(target == "" ? "src/" path : target))
    if (other == layer || other == "base" ) return
    if (!(layer in rank)) return
    if (layer == "language" || layer == "planner" || layer == "models" || layer == "recording") wrong("\"" path "\": " layer " sees base and <masu/…> only")
    else if (rank[other] > rank[layer]) wrong("\"" path "\": " layer " stands below " other)
    else if (path != other "/" other ".h") wrong("\"" path "\": private to " other ", which shows " other "/" other ".h")
}

function room_of(file,    part, count) {
    count = split(file, part, "/")
    return count > 3 ? part[3] : ""
}

function check_room(path, other,    own) {
    own = room_of(FILENAME)
    if (own == "" || other == "") return
    if ((layer "/" own) in seen_from && !index(seen_from[layer "/" own], " " other " "))
        wrong("\"" path "\": the room " own " does not see " other)
}

function check_include(line,    path, quoted) {
    path = line
    sub(/^[ \t]*#[ \t]*include[ \t]*/, "", path)
    quoted = starts(path, "\"")
    if (!quoted && !starts(path, "<")) return
    path = substr(path, 2)
    sub(quoted ? "\".*" : ">.*", "", path)
    if (quoted && starts(path, "masu/")) { wrong("\"" path "\": write <" path ">"); return }
    if (path ~ /^(llvm|llvm-c|clang|clang-c)\// && !starts(FILENAME, "src/language/codegen/"))
        wrong(path ": LLVM belongs to src/language/codegen")
    if (path ~ /^(cblas|lapacke)[a-z_]*\.h$/ && layer != "runtime") wrong(path ": BLAS belongs to src/runtime")
    if (path ~ /^(cuda|cuda_runtime|cuda_runtime_api)\.h$/ && layer != "devices" && top != "integrations")
        wrong(path ": CUDA belongs to src/devices")
    if (path ~ /^(flatbuffers\/|protobuf-c\/|tflite_generated|onnx\.pb-c)/ && layer != "models") wrong(path ": belongs to src/models")
    if (path ~ /^(curses|ncurses.*)\.h$/ && FILENAME != "src/tool/top/screen.c") wrong(path ": belongs to src/tool/top/screen.c")
    if (path == "perfetto.pb-c.h" && !starts(FILENAME, "src/tool/export/")) wrong(path ": belongs to src/tool/export")
    if (path == "err.h" && layer != "tool") wrong(path ": prints and ends the process; belongs to src/tool")
    if (quoted || (path ~ /\// && (substr(path, 1, index(path, "/") - 1) in rank))) check_project_include(path)
}

function check_calls(code) {
    if (layer == "") return
    if (code ~ heap && layer != "base") wrong("malloc family outside src/base")
    if ((code ~ print_call || (code ~ print_to && FILENAME != "src/runtime/runtime.c")) && layer != "tool" &&
        FILENAME !~ /^src\/(runtime\/system\/print|base\/assert)[^\/]*$/)
        wrong("prints, outside src/tool, src/runtime/system/print* and src/base/assert*")
    if (code ~ environment && layer != "tool" && FILENAME !~ /^src\/(runtime\/system\/config|base\/record_environment)[^\/]*$/)
        wrong("reads the environment outside src/tool, src/runtime/system/config* and src/base/record_environment*")
    if (code ~ ending && layer != "tool" && FILENAME !~ /^src\/base\/assert[^\/]*$/)
        wrong("ends the process outside src/tool and src/base/assert*")
    if (code ~ driver && layer != "devices") wrong("CUDA driver call outside src/devices")
}

FNR == 1 && FILENAME ~ /^tests\// { top = "tests"; folder = FILENAME; sub(/[^\/]*$/, "", folder) }
FNR == 1 && FILENAME !~ /^tests\// { enter_file() }
top == "tests" {
    if ($0 ~ /^[ \t]*#[ \t]*include[ \t]*"/) {
        path = $0
        sub(/^[^"]*"/, "", path)
        sub(/".*/, "", path)
        included[resolve(path)] = 1
    }
    next
}
{
    was_comment = in_comment
    code = code_of($0)
    if (!was_comment && $0 ~ /^[ \t]*#[ \t]*include/) check_include($0)
    else check_calls(code)
}

END {
    for (i = 1; i <= files; i++)
        if ((path_of[i] in header) && !(path_of[i] in included)) {
            print path_of[i] ":1: no file includes this header"
            count++
        }
    exit count > 0
}
' $files $tests
