# The commands and programs of README.md, docs/embedding.md, docs/report.md, docs/pools.md and docs/virtual-memory.md run
# as they are written there, on files of the names that they use. (Other pages: language_page, plan_page, ownership_page,
# long_runs, explain, contributing.)
cc=$(sed -n 's/^CMAKE_C_COMPILER:[A-Z]*=//p' "$MASU_BUILD/CMakeCache.txt")
sanitize=${MASU_SANITIZE:+-fsanitize=$MASU_SANITIZE}
root=$PWD
work=$MASU_TMP/work
mkdir "$work"
PATH=$(dirname "$MASU"):$PATH
export PATH

# block PAGE LANGUAGE NUMBER: the text between ```LANGUAGE and ```
block() {
    awk -v language="$2" -v wanted="$3" '
        /^```/ { inside = $0 == "```" language && !inside ? ++count == wanted : 0; next }
        inside { print }' "$1"
}
# indented PAGE FIRST: the indented block with that line, without its margin
indented() {
    FIRST=$2 awk '
        /^    / { text = text substr($0, 5) "\n"; if (index($0, ENVIRON["FIRST"])) found = 1; next }
        found { exit }
        { text = "" }
        END { if (found) printf "%s", text }' "$1"
}
compiled() { # NAME FLAGS…: NAME.c with what it includes, then run
    name=$1
    shift
    # shellcheck disable=SC2086 # a list of flags
    expect_status 0 "$cc" $sanitize -std=gnu11 -Wall -Wextra -I"$root/include" -I"$work" "$work/$name.c" -o "$work/$name" "$@"
    expect_status 0 "$work/$name"
}

block docs/embedding.md rust 1 >"$work/net.tl"
printf 'pub fn forward(x: Tensor<f32, 2>) -> Tensor<f32, 2> { x * 2.0 }\n' >>"$work/net.tl" # README.md's
printf 'fn main() { let t = Tensor::ones([8, 8]); println("{}", (t * 2.0).sum()); }\n' >"$work/program.tl"
printf 'id,lower,upper,size\na,0,2,64\nb,1,3,64\nc,2,4,64\n' >"$work/lifetimes.csv"
cd "$work"

# docs/report.md, then the commands of README.md, which read what it records.
sed 's/^struct Net/fn main() { let n = Net::new(3, 2); println("{}", n.forward(Tensor::ones([4, 3])).shape()); }\n&/' net.tl >recorded.tl
expect_status 0 "$MASU" run --trace net.trace recorded.tl
cp net.trace other.trace
cp net.trace run.trace
cp net.trace snapshot.pickle
indented "$root/docs/report.md" 'masu report net.trace ' | sed -n 's/^\(masu report net.trace[^ ]*\( -[-a-z]*\)*\( [a-z]*\.[a-z]*\)*\)   *.*/\1/p' >commands
[ "$(wc -l <commands)" -eq 4 ] || fail "docs/report.md: $(cat commands)"
while read -r command; do expect_status 0 sh -c "$command"; done <commands
[ -s net.html ] || fail 'masu report -o writes no page'

block "$root/README.md" sh 2 | grep -v 'masu top' | sed 's/ *#.*//; s|^build/release/||' >commands
[ "$(wc -l <commands)" -ge 9 ] || fail "README.md: $(cat commands)"
while read -r command; do expect_status 0 sh -c "$command"; done <commands
for made in program libnet.so net.h net.c run.html; do [ -s "$made" ] || fail "README.md: $made was not made"; done

# README.md: its program, with the energy of the example, and fewer epochs.
{
    sed -n '/^fn energy/,/^}/p' "$root/examples/n_queens.tl"
    echo 'fn main() {'
    block "$root/README.md" rust 1 | sed 's/0\.\.20000/0..300/'
    echo 'println("{}", energy(board, 8).item() < 2.0); }'
} >board.tl
expect_status 0 "$MASU" run board.tl --seed 1
expect_stdout true

# docs/embedding.md: the library, its caller, its arena.
block "$root/docs/embedding.md" sh 1 | sed -n 1p >commands
expect_status 0 sh -c "$(cat commands)"
{
    printf '#include <stdio.h>\n'
    block "$root/docs/embedding.md" c 1 | sed '/^#include/!d'
    printf 'int main(void) {\n'
    block "$root/docs/embedding.md" c 1 | sed '/^#include/d; s/^…$/printf("%%d %%g\\n", (int)y.shape[1], ((float *)y.data)[0] <= 1 ? 1.0 : 0.0);/; s/%%/%/g'
    printf 'return 0;\n}\n'
} >caller.c
compiled caller ./libnet.so "-Wl,-rpath,$work"
expect_stdout '4 1'
expect_status 0 sh -c "masu build --shared net.tl -o libnet.so --header net.h --arena 'm = Net::new(3, 4); Net::forward(m, [2, 3])'"
{
    printf '#include "net.h"\n#include <stdio.h>\nint main(void) {\nnet *instance;\n'
    block "$root/docs/embedding.md" c 2
    printf 'printf("%%d\\n", NET_ARENA_BYTES > 0 && net_arena_used(instance) <= NET_ARENA_BYTES);\nnet_destroy(instance);\nreturn 0;\n}\n'
} >arena.c
compiled arena ./libnet.so "-Wl,-rpath,$work"
expect_stdout 1

# The same as plain C, its weights from the caller and in the file.
mkdir plain
cd plain
cp ../net.tl .
block "$root/docs/embedding.md" sh 2 | sed -n 1p >commands
expect_status 0 sh -c "$(cat commands)"
{
    printf '#include "net.h"\n#include <stdio.h>\n#include <stdlib.h>\n'
    printf 'static void stop(unsigned line, unsigned column, const char *message) { printf("%%u %%u %%s\\n", line, column, message); exit(1); }\n'
    printf 'int main(void) {\nstatic float weights[12], bias[4] = {1}, numbers[6], results[8];\n'
    block "$root/docs/embedding.md" c 3
    printf 'printf("%%.4f\\n", results[0]);\nreturn 0;\n}\n'
} >plain.c
# shellcheck disable=SC2086 # a list of flags
expect_status 0 "$cc" $sanitize -std=gnu11 -Wall -Wextra plain.c net.c -o caller -lm
expect_status 0 ./caller
expect_stdout 0.7616
cat net.tl >save.tl
printf 'fn main() { let n = Net::new(3, 4); n.save("net.safetensors"); }\n' >>save.tl
expect_status 0 "$MASU" run save.tl
block "$root/docs/embedding.md" sh 3 >commands
expect_status 0 sh -c "$(cat commands)"
grep -q 'extern const net_Net net_m_weights;' net.h || fail 'docs/embedding.md: the header has no net_m_weights'
cd "$work"

# docs/pools.md: statistics as text; docs/virtual-memory.md: a block that grows.
[ -z "$MASU_SANITIZE" ] || skip 'the library is linked without a sanitizer below'
library="$root/$MASU_BUILD/libmasu.a -lm -lpthread -ldl"
case $MASU_BUILD in /*) library="$MASU_BUILD/libmasu.a -lm -lpthread -ldl" ;; esac
{
    printf '#include <masu/masu.h>\n#include <stdio.h>\nint main(void) {\nmasu_heap_config config = masu_heap_config_default();\n'
    printf 'masu_heap *heap;\nstatic char buffer[16384];\nsize_t length;\nif (masu_heap_create(&config, &heap) != MASU_OK) return 1;\n'
    indented "$root/docs/pools.md" 'masu_stats stats' | sed -n '/;/p' | sed 's/;  *tells.*/;/'
    printf 'fputs(buffer, stdout);\nreturn masu_heap_destroy(heap) != MASU_OK;\n}\n'
} >stats.c
# shellcheck disable=SC2086 # a list of libraries
compiled stats $library
indented "$root/docs/pools.md" '# HELP masu_refusals_total' | grep -v ';' | while read -r line; do
    [ -z "$line" ] || expect_in_stdout "$line"
done
{
    printf '#include <masu/masu.h>\n#include <masu/vm.h>\nint main(void) {\nmasu_device *device;\nmasu_vm *vm;\n'
    indented "$root/docs/virtual-memory.md" 'masu_vm_reserve_growable' | sed 's/(size_t)4 << 30/(size_t)4 << 20/'
    printf 'if (out != cache) return 1;\nreturn masu_vm_free(vm, cache) != MASU_OK || masu_vm_destroy(vm) != MASU_OK;\n}\n'
} >grows.c
# shellcheck disable=SC2086 # a list of libraries
compiled grows $library
