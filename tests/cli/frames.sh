# A function with 300 temporaries of 40 shapes, alive for 1 to 17 statements each: its frame is as small as any plan, no
# tensor of it comes from a pool, and it prints what it prints without frames.
program=$MASU_TMP.tl
awk 'BEGIN {
    print "fn work(x: Tensor) -> f32 {\n    let mut total = 0.0;"
    for (k = 0; k < 300; k++) {
        shape = k % 40
        printf "    let t%d = Tensor::full([%d, %d], %d.0);\n", k, 1 + shape % 8, 3 + 5 * int(shape / 8), k % 7
        for (j = 0; j <= k; j++)
            if (j + 1 + (j * 7) % 17 == k) printf "    total = total + (t%d * 2.0).sum().item();\n", j
    }
    for (j = 280; j < 300; j++)
        if (j + 1 + (j * 7) % 17 >= 300) printf "    total = total + t%d.sum().item();\n", j
    print "    return total + x.sum().item();\n}"
    print "fn main() {\n    let x = Tensor::ones([4]);\n    for i in 0..3 { println(work(x)); }\n}"
}' >"$program"
expect_status 0 "$MASU" explain --verify --json "$program"
sed -n 's/.*"name": "work{b}".*"frame_bytes": \([0-9]*\), "frame_lower_bound": \([0-9]*\).*/\1 \2/p' "$MASU_TMP.stdout" >"$MASU_TMP.frame"
read -r frame bound <"$MASU_TMP.frame"
[ "$frame" -eq "$bound" ] || fail "a frame of $frame bytes, though $bound may do"
[ "$frame" -gt 0 ] || fail "no tensor lies in the frame"
expect_status 0 "$MASU" explain --verbose "$program"
expect_in_stdout "the frame of work{b}: $frame bytes, and no plan needs less"
expect_in_stdout 'shared with'
expect_status 0 "$MASU" run --audit --report=json --report-file="$MASU_TMP.report" "$program"
cp "$MASU_TMP.stdout" "$MASU_TMP.with"
expect_report "$MASU_TMP.report" allocations == 0
expect_report "$MASU_TMP.report" placed '>=' 1800
expect_report "$MASU_TMP.report" live_tensors == 0
for pass in frames reuse slots lastuse fold; do
    expect_status 0 "$MASU" run "--no-$pass" "$program"
    cmp "$MASU_TMP.with" "$MASU_TMP.stdout" || fail "--no-$pass prints something else"
done
