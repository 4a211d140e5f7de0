# What a long run shows (docs/training.md): values by step in a CSV file, their picture, a line of progress only where
# somebody looks, an interrupt that waits for the end of the step.
cat >"$MASU_TMP/run.tl" <<'END'
fn main() {
    let mut p = Progress::new(40);
    for step in 0..40 {
        let loss = Tensor::ones([1]) / (step as f64 + 1.0);
        log("loss", loss);
        log("a, \"b\"", 0.5f32);
        if step % 10 == 0 { log("held out", 1, step); }
        p.step(loss);
    }
    log("held out", 2.0);
    p.finish();
    println!("{}", p.line(0.25, 80.0).replace(System::memory_mb().to_string() + " MB", "N MB"));
}
END
cd "$MASU_TMP"
expect_status 0 "$MASU" run --plot run.svg run.tl
[ ! -s "$MASU_TMP.stderr" ]
printf '40/40 100%%  loss 0.2500  0.5 steps/s  N MB  0:00 left\n' | diff - "$MASU_TMP.stdout"
head -5 run.log.csv | cut -d, -f1-4 | sed 's/,[0-9.]*$//' >begun
printf 'step,name,value\n0,loss,1\n0,"a, ""b"""\n0,held out,1\n1,loss,0.5\n' >expected
sed 's/^0,"a, ""b""",0.5$/0,"a, ""b"""/; s/,seconds$//' begun | diff expected -
[ "$(grep -c '^[0-9]*,loss,' run.log.csv)" = 40 ]
grep '^31,held out,2,[0-9.]*$' run.log.csv # the step behind the last one
xmllint --noout run.svg 2>/dev/null || ! command -v xmllint >/dev/null
for part in '>loss<' '>a, &#34;b&#34;<' '>held out<' '>last 0.025<' '>step<'; do grep -F "$part" run.svg >/dev/null; done
[ "$(grep -c 'class="line"' run.svg)" = 3 ]

# The same of an executable.
"$MASU" build run.tl -o run
MASU_LOG=other.csv MASU_PLOT=other.svg ./run >/dev/null
cut -d, -f1-3 run.log.csv >first
cut -d, -f1-3 other.csv | diff first -
grep -F '>loss<' other.svg >/dev/null

# Nothing logged, and places that cannot be written.
echo 'fn main() { println!("{}", 1); }' >none.tl
expect_status 1 "$MASU" run --log none.csv --plot none.svg none.tl
grep 'no plot: log() wrote no values (none.csv' "$MASU_TMP.stderr"
expect_status 1 "$MASU" run --log /nowhere/x.csv run.tl
grep 'run.tl:5:9: error: log: /nowhere/x.csv cannot be opened: No such file or directory' "$MASU_TMP.stderr"
expect_status 1 "$MASU" run --plot /nowhere/x.svg run.tl
grep 'cannot write the plot to /nowhere/x.svg' "$MASU_TMP.stderr"

# An interrupt ends the loop, not the program.
cat >endless.tl <<'END'
fn main() {
    let mut steps = 0;
    while !interrupted() {
        if steps == 0 { println!("begun"); }
        steps += 1;
        System::sleep(0.01);
    }
    println!("saved after {} steps", if steps > 0 { "some" } else { "no" });
}
END
"$MASU" run endless.tl >endless.out &
job=$!
for _ in $(seq 500); do grep begun endless.out >/dev/null 2>&1 && break; sleep 0.02; done
kill -TERM $job
wait $job
printf 'begun\nsaved after some steps\n' | diff - endless.out
