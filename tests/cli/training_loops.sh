# A hundred thousand training steps of eight queens, as `for`, as `while` and as `loop`: the same losses, no pool miss
# and no memory from the device after step 100, resident memory of its own flat from there.
long=100000
[ -z "$MASU_SANITIZE" ] || long=2000

# Only the loop over the epochs is written anew.
as_while='s/^    for epoch in 1\.\.(epochs + 1) {$/    let mut epoch = 0;\n    while epoch < epochs {\n        epoch += 1;/'
as_loop='s/^    for epoch in 1\.\.(epochs + 1) {$/    let mut epoch = 0;\n    loop {\n        if epoch == epochs {\n            break;\n        }\n        epoch += 1;/'
cp examples/n_queens.tl "$MASU_TMP/for.tl"
sed "$as_while" examples/n_queens.tl >"$MASU_TMP/while.tl"
sed "$as_loop" examples/n_queens.tl >"$MASU_TMP/loop.tl"
for form in while loop; do
    cmp -s "$MASU_TMP/for.tl" "$MASU_TMP/$form.tl" && fail "the loop over epochs was not found in examples/n_queens.tl"
done

value() { # FORM-EPOCHS KEY
    sed 's/[{},]/\n/g' "$MASU_TMP/$1" | sed -n "s/^ *\"$2\": *//p"
}
train() { # FORM EPOCHS: one attempt, whatever its board
    expect_status 0 "$MASU" run --report=json --report-file="$MASU_TMP/$1-$2" "$MASU_TMP/$1.tl" "$2" 1
    sed 's/memory.*//' "$MASU_TMP.stdout" >"$MASU_TMP/$1-$2.losses"
}
for form in for while loop; do
    train $form 100
    train $form "$long"
    cmp "$MASU_TMP/for-$long.losses" "$MASU_TMP/$form-$long.losses" || fail "$form: other losses than for"
    [ "$(value "$form-$long" allocations)" -gt "$(($(value "$form-100" allocations) + long))" ] ||
        fail "$form: $long steps allocate no more than 100"
    for key in pool_misses device_allocations peak_bytes; do
        expect_report "$MASU_TMP/$form-$long" "$key" == "$(value "$form-100" "$key")"
    done
    for key in live_tensors live_nodes live_grads; do
        expect_report "$MASU_TMP/$form-$long" "$key" == 0
    done
    # Pages of the heap and the stacks: those of the executable come and go with the page cache. A little room for what
    # the kernel does.
    if [ -z "$MASU_SANITIZE" ]; then
        expect_report "$MASU_TMP/$form-100" rss_anon_bytes '>=' 1
        expect_report "$MASU_TMP/$form-$long" rss_anon_bytes '<=' "$(($(value "$form-100" rss_anon_bytes) + 512 * 1024))"
    fi
    echo "$form: resident $(value "$form-100" rss_anon_bytes) bytes after 100 steps, $(value "$form-$long" rss_anon_bytes) after $long"
done
