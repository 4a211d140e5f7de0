# A run that is stopped and resumed in another process computes the bits of one that was not stopped. Killed at random
# moments while it saves, a program leaves the whole old file or the whole new one each time, and nothing beside it.
cat >"$MASU_TMP/train.tl" <<'TL'
struct Layer { weight: Tensor<f32, 2>, bias: Tensor<f32, 1> }
struct Run { layers: Vec<Layer>, adam: Adam, step: i64, losses: Vec<f64> }
fn layer(i: i64, o: i64) -> Layer {
    Layer { weight: (Tensor::randn([i, o]) * 0.5).detach(true), bias: Tensor::zeros([o]).detach(true) }
}
fn main() {
    let path = std::env::args().nth(1).unwrap();
    let until: i64 = std::env::args().nth(2).unwrap().parse().unwrap();
    let mut r = Run { layers: vec![layer(3, 8), layer(8, 1)], adam: Adam::new(0.01), step: 0, losses: vec![] };
    if std::fs::exists(&path).unwrap() { Checkpoint::load(&mut r, &path); }
    while r.step < until {
        let x = Tensor::randn([16, 3]);
        let mut h = x;
        for l in &r.layers { h = (h.matmul(l.weight) + l.bias).tanh(); }
        let loss = (h - x.sum(1).reshape([16, 1]).sin()).pow(2.0).mean();
        loss.backward();
        let all = [r.layers[0].weight, r.layers[0].bias, r.layers[1].weight, r.layers[1].bias];
        r.adam.step(r.layers.parameters());
        r.losses.push(loss.item() as f64);
        r.step += 1;
    }
    Checkpoint::save(r, &path);
    println!("{:?} {}", r.losses, r.layers[0].weight);
    for l in &r.layers { println!("{:?} {:?}", l.weight.flatten().to_vec(), l.bias.to_vec()); }
}
TL
sed -i '/let all = /d' "$MASU_TMP/train.tl"
expect_status 0 "$MASU" run --seed 3 "$MASU_TMP/train.tl" "$MASU_TMP/whole.safetensors" 30
cp "$MASU_TMP.stdout" "$MASU_TMP/whole.out"
expect_status 0 "$MASU" run --seed 3 "$MASU_TMP/train.tl" "$MASU_TMP/parts.safetensors" 11
expect_status 0 "$MASU" run --seed 4 "$MASU_TMP/train.tl" "$MASU_TMP/parts.safetensors" 12
expect_status 0 "$MASU" run --seed 5 "$MASU_TMP/train.tl" "$MASU_TMP/parts.safetensors" 30
expect_stdout "$(cat "$MASU_TMP/whole.out")"
cmp "$MASU_TMP/whole.safetensors" "$MASU_TMP/parts.safetensors" || fail "the checkpoints differ"

# In each file all elements are one number: a mixture of two would show.
cat >"$MASU_TMP/save.tl" <<'TL'
fn main() {
    let path = std::env::args().nth(1).unwrap();
    let mut k = 0.0;
    loop {
        let values = vec![Tensor::full([300, 300], k), Tensor::full([70000], k), Tensor::full([3], k)];
        Param::save(values, &path);
        k += 1.0;
    }
}
TL
cat >"$MASU_TMP/look.tl" <<'TL'
fn main() {
    let mut seen = -1.0;
    let mut values = vec![Tensor::zeros([300, 300]), Tensor::zeros([70000]), Tensor::zeros([3])];
    Param::load(&mut values, std::env::args().nth(1).unwrap());
    for t in &values {
        assert!(seen < 0.0 || t.max() == seen, "parts of two files");
        seen = t.max();
        assert!(t.min() == seen, "two numbers in one tensor");
    }
    println!("{}", seen);
}
TL
expect_status 0 "$MASU" build "$MASU_TMP/save.tl" -o "$MASU_TMP/save"
expect_status 0 "$MASU" build "$MASU_TMP/look.tl" -o "$MASU_TMP/look"
rounds=30
[ -z "$MASU_SANITIZE" ] || rounds=6
for end in safetensors npz; do
    mkdir "$MASU_TMP/$end"
    file="$MASU_TMP/$end/x.$end" random=$((17 + $(printf %s "$end" | wc -c))) round=0
    while [ "$round" -lt "$rounds" ]; do
        "$MASU_TMP/save" "$file" 2>/dev/null &
        saver=$!
        while [ ! -f "$file" ]; do sleep 0.01; done
        random=$(((random * 1103515245 + 12345) % 2147483648))
        sleep "0.$(printf %03d $((random / 65536 % 120 + 5)))"
        kill -9 "$saver"
        wait "$saver" 2>/dev/null || :
        expect_status 0 "$MASU_TMP/look" "$file"
        round=$((round + 1))
    done
    echo "$end: killed $round times, the last file holds $(cat "$MASU_TMP.stdout")"
    left=$(find "$MASU_TMP/$end" -name '.*.new' | wc -l)
    # a program that is killed while it writes leaves its one file; most are killed between two saves
    [ "$left" -le $((rounds / 3 + 1)) ] || fail "$left files beside it were left by $rounds killed programs"
done
