# A running program is seen from outside (masu top): as text, on the screen of a terminal, from every front that
# publishes; one that is stopped, died or ended is told apart; nothing is left behind, and what is not a page is
# refused.
page=$MASU_TMP/a.page
cat >"$MASU_TMP/busy.tl" <<'END'
use std::thread;
use std::time::Duration;
fn main() {
    let kept = Tensor::ones([512, 512]);
    let mut list: Vec<String> = Vec::new();
    for i in 0..2000 {
        list.push(format!("line {}", i));
        thread::sleep(Duration::from_millis(10));
    }
    println("{} {}", kept.sum().item(), list.len());
}
END
# wait_for FILE   until it is there
wait_for() {
    for _ in $(seq 200); do
        [ -e "$1" ] && return
        sleep 0.05
    done
    fail "$1 does not appear"
}
end_it() { kill -KILL "$1" 2>/dev/null && wait "$1" 2>/dev/null || true; }

"$MASU" run --publish="$page" "$MASU_TMP/busy.tl" &
runs=$!
trap 'end_it $runs' EXIT
wait_for "$page"
for _ in $(seq 100); do # until the program is compiled and holds its tensor
    "$MASU" top --once "$page" | grep -q '^tensors *1.0 MiB' && break
    sleep 0.05
done
expect_status 0 "$MASU" top --once "$page"
expect_in_stdout "busy.tl, process $runs, runs, "
expect_in_stdout ' resident, at most '
grep -qE '^tensors +1\.0 MiB +1\.0 MiB +[0-9.]+ [KM]iB +.* 4\.0 MiB +1 ' "$MASU_TMP.stdout"
grep -qE '^lists, strings, nodes +[0-9.]+ [KM]iB' "$MASU_TMP.stdout"
grep -qE '^  best fit +' "$MASU_TMP.stdout"
expect_stderr ''
expect_status 0 "$MASU" top --text --count 3 --interval 100 "$page"
[ "$(grep -c '^pool ' "$MASU_TMP.stdout")" = 3 ]
# strings come, a hundred a second: the rate of the last look is not nothing
grep '^lists' "$MASU_TMP.stdout" | tail -1 | grep -qE ' [1-9][0-9]* +[0-9.]+ % +0$' || fail 'no rate'

if command -v python3 >/dev/null; then
    # screen.py: the last screen, and that with l pressed before it
    expect_status 0 python3 tests/cli/screen.py 30 100 '*l~*q' "$MASU" top --interval 100 "$page"
    expect_in_stdout "process $runs, "
    expect_in_stdout 'live 1.0 MiB of 8.0 MiB held'
    grep -qE '^ +8\.0 MiB \|' "$MASU_TMP.stdout"
    grep -qE '^ +0 B \| +#+$' "$MASU_TMP.stdout"
    grep -qE '^tensors +1\.0 MiB +4\.0 MiB +1\.0 MiB ' "$MASU_TMP.stdout"
    expect_in_stdout 'q ends  space stops  l levels  + - interval'
    # levels once in the first screen, for each heap, and in none of the others
    [ "$(grep -c '^  best fit ' "$MASU_TMP.stdout")" = 2 ]
    # small, smaller, and the smallest windows: nothing beyond their edge, and no end
    for size in '2 3' '60 250'; do
        # shellcheck disable=SC2086 # two numbers
        expect_status 0 python3 tests/cli/screen.py $size '+-  *q' "$MASU" top --interval 50 "$page"
    done
    expect_status 0 python3 tests/cli/screen.py 24 80 '' "$MASU" top --count 2 --interval 50 "$page"
    expect_status 1 python3 tests/cli/screen.py 24 80 '' env TERM=none-such "$MASU" top "$page"
    expect_in_stdout 'the terminal `none-such` is not known here: --text needs none'
else
    echo 'skipped: no python3, so that there is no terminal'
fi

kill -STOP "$runs"
sleep 2.3
expect_status 0 "$MASU" top --once "$page"
expect_in_stdout ', is stopped, '
kill -CONT "$runs"
sleep 0.3
expect_status 0 "$MASU" top --once "$page"
expect_in_stdout ', runs, '
end_it "$runs"
expect_status 0 "$MASU" top "$page"
expect_in_stdout ", died without a word, "
grep -qE '^tensors +1\.0 MiB' "$MASU_TMP.stdout"

# The usual place: found by number, found alone, gone at the end.
export XDG_RUNTIME_DIR="$MASU_TMP/runtime"
mkdir "$XDG_RUNTIME_DIR"
cp "$page" "$XDG_RUNTIME_DIR/masu-$runs.page" # of a dead program: swept away
expect_status 1 "$MASU" top --once
expect_in_stderr 'no program publishes its memory: start one with `masu run --publish` or MASU_PUBLISH=1'
[ ! -e "$XDG_RUNTIME_DIR/masu-$runs.page" ]
"$MASU" build "$MASU_TMP/busy.tl" -o "$MASU_TMP/busy"
MASU_PUBLISH=1 "$MASU_TMP/busy" &
runs=$!
wait_for "$XDG_RUNTIME_DIR/masu-$runs.page"
expect_status 0 "$MASU" top --once
expect_in_stdout "$MASU_TMP/busy, process $runs, runs, "
expect_status 0 "$MASU" top --once "$runs"
MASU_PUBLISH=1 "$MASU_TMP/busy" &
second=$!
wait_for "$XDG_RUNTIME_DIR/masu-$second.page"
expect_status 1 "$MASU" top
expect_in_stderr 'which of these programs?'
expect_in_stderr "$second  $MASU_TMP/busy"
end_it "$second"
end_it "$runs"
cat >"$MASU_TMP/short.tl" <<'END'
fn main() { println("{}", Tensor::ones([3]).sum().item()); }
END
expect_status 0 "$MASU" run --publish "$MASU_TMP/short.tl"
expect_stdout 3
expect_stderr ''
[ "$(ls "$XDG_RUNTIME_DIR" | wc -l)" -le 2 ] # of the two that were killed
expect_status 0 "$MASU" run --publish="$page" "$MASU_TMP/short.tl"
expect_status 0 "$MASU" top --once "$page"
expect_in_stdout ', ended, '
expect_status 2 "$MASU" run --publish= "$MASU_TMP/short.tl"
expect_in_stderr '--publish=: a path is missing'
expect_status 2 "$MASU" top --once --count 3 "$page"
expect_status 2 "$MASU" top --count 3 --once "$page"
expect_in_stderr '--once is one look: leave --count out'
expect_status 1 "$MASU" top $$
expect_in_stderr "process $$ publishes nothing: start it with"
expect_status 1 "$MASU" top 4194305
expect_in_stderr 'there is no process 4194305'

# A program that links the library; the puzzle's server is asked by nobody, so it shows what is its own.
cc=$(sed -n 's/^CMAKE_C_COMPILER:[A-Z]*=//p' "$MASU_BUILD/CMakeCache.txt")
cat >"$MASU_TMP/server.c" <<'END'
#include <masu/masu.h>
#include <unistd.h>
int main(void) {
    masu_heap_config config = masu_heap_config_default();
    masu_publisher *publisher;
    masu_heap *heap;
    void *block;
    if (masu_publish_from_environment(NULL, &publisher) != MASU_OK || masu_heap_create(&config, &heap) != MASU_OK ||
        masu_publish_heap(publisher, heap, "server") != MASU_OK || masu_heap_alloc(heap, 3 << 20, 0, &block) != MASU_OK)
        return 1;
    sleep(60);
    masu_publish_end(publisher);
    return 0;
}
END
# shellcheck disable=SC2086 # no word when nothing is sanitized
expect_status 0 "$cc" -O1 -Wall -Wextra -Werror ${MASU_SANITIZE:+-fsanitize=$MASU_SANITIZE} -Iinclude -I"$MASU_BUILD/include" \
    "$MASU_TMP/server.c" "$MASU_BUILD/libmasu.a" -o "$MASU_TMP/server" -pthread -lm
MASU_PUBLISH=1 "$MASU_TMP/server" &
runs=$!
wait_for "$XDG_RUNTIME_DIR/masu-$runs.page"
sleep 0.3
expect_status 0 "$MASU" top --once "$runs"
grep -qE '^server +3\.0 MiB' "$MASU_TMP.stdout"
end_it "$runs"

# Any program under the preloaded malloc.
if [ -e "$MASU_BUILD/libmasu-malloc.so" ]; then
    mkfifo "$MASU_TMP/never"
    MASU_PUBLISH=1 LD_PRELOAD="$MASU_BUILD/libmasu-malloc.so" sort "$MASU_TMP/never" &
    runs=$!
    exec 9>"$MASU_TMP/never"
    seq 20000 >&9
    wait_for "$XDG_RUNTIME_DIR/masu-$runs.page"
    sleep 0.3
    expect_status 0 "$MASU" top --once "$runs"
    expect_in_stdout "sort, process $runs, runs, "
    grep -qE '^malloc +[0-9.]+ [KMG]iB' "$MASU_TMP.stdout"
    exec 9>&-
    wait "$runs"
    [ ! -e "$XDG_RUNTIME_DIR/masu-$runs.page" ] || fail 'sort left its page'
    expect_status 0 env MASU_PUBLISH=/dev/null LD_PRELOAD="$MASU_BUILD/libmasu-malloc.so" true
    expect_in_stderr 'masu-malloc: MASU_PUBLISH=/dev/null: the page cannot be written'
else
    echo 'skipped: no libmasu-malloc.so in this build'
fi

# What is no page, and what may not be replaced.
echo 'my thesis' >"$MASU_TMP/thesis"
expect_status 1 "$MASU" run --publish="$MASU_TMP/thesis" "$MASU_TMP/short.tl"
expect_in_stderr 'there is something else there, which is left alone'
[ "$(cat "$MASU_TMP/thesis")" = 'my thesis' ]
expect_status 1 "$MASU" top "$MASU_TMP/thesis"
expect_in_stderr 'it is not a page of `masu run --publish` or MASU_PUBLISH'
expect_status 1 "$MASU" top "$MASU_TMP/none"
expect_in_stderr 'No such file or directory'
head -c 5000 "$page" >"$MASU_TMP/cut"
expect_status 1 "$MASU" top "$MASU_TMP/cut"
expect_in_stderr 'the page is cut off'
expect_status 2 "$MASU" top --interval 5 "$page"
expect_in_stderr '--interval: `5` is not a number of milliseconds from 10'
expect_status 2 "$MASU" top --count
expect_status 2 "$MASU" top --onse
expect_in_stderr '--once'
expect_status 2 "$MASU" top "$page" "$page"
