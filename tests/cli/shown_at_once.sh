# What a program prints is seen while it runs: whole lines in a pipe, each piece on a terminal, errors at once; from
# masu run and from an executable.
cat >"$MASU_TMP/line.tl" <<'TEXT'
fn main() {
    eprintln!("to the log");
    println!("first line");
    print!("part");
    loop { }
}
TEXT

# sees NAME COMMAND TEXT: TEXT comes out of COMMAND while it runs on.
sees() {
    name=$1 command=$2 text=$3
    rm -f "$MASU_TMP/out"
    (eval "exec $command" >"$MASU_TMP/out" 2>"$MASU_TMP/err") &
    job=$!
    seen=no
    for _ in $(seq 100); do
        if grep -q "$text" "$MASU_TMP/out" 2>/dev/null && grep -qs "to the log" "$MASU_TMP/out" "$MASU_TMP/err"; then
            seen=yes && break
        fi
        sleep 0.1
    done
    kill -0 "$job" 2>/dev/null || seen=ended
    kill "$job" 2>/dev/null || true
    wait "$job" 2>/dev/null || true
    [ "$seen" = yes ] || { echo "$name: '$text' was not seen in 10 s while the program ran ($seen)"; exit 1; }
}
"$MASU" build "$MASU_TMP/line.tl" -o "$MASU_TMP/line"
sees "run, no terminal" "$MASU run $MASU_TMP/line.tl" "first line"
sees "executable, no terminal" "$MASU_TMP/line" "first line"
sees "terminal" "script -qfc '$MASU_TMP/line' /dev/null" "part"
