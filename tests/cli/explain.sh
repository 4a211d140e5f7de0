# `masu explain` shows the whole source, every line of it, with what happens to tensors beside it.
for example in examples/*.tl; do
    expect_status 0 "$MASU" explain "$example"
    expect_stderr ''
    while IFS= read -r line; do
        case $line in
        *[a-z]*) grep -qF -e "$line" "$MASU_TMP.stdout" || fail "$example: this line is missing: $line" ;;
        esac
    done <"$example"
    [ "$(wc -c <"$MASU_TMP.stdout")" -gt "$(wc -c <"$example")" ] || fail "$example: nothing is explained"
done

# The same as data and as a page.
expect_status 0 "$MASU" explain --json examples/n_queens.tl
expect_in_stdout '"lower_bound": '
expect_status 0 "$MASU" explain --html examples/n_queens.tl
expect_in_stdout '<span class=d>'
expect_in_stdout '<pre>'
expect_status 0 "$MASU" explain --json examples/n_queens.tl
expect_in_stdout '"passes": ['
expect_in_stdout '"frame_lower_bound": '

# Every binding of every kind is in the margin and among the values, also those that are only one more name; hostile
# texts in names' places stay texts.
cat >"$MASU_TMP/bindings.tl" <<'TL'
struct Layer { w: Tensor, b: Tensor }
enum Choice { Small(Tensor), Empty }
fn given(first: Tensor, second: Tensor) -> Tensor { first + second }
fn main() {
    let layer = Layer { w: Tensor::ones([4]), b: Tensor::zeros([4]) };
    let copied = layer;
    let (left, right) = (copied.w, copied.b * 2.0);
    let chosen = Choice::Small(left);
    match chosen { Choice::Small(inside) => println(inside.sum().item()), Choice::Empty => println(0) }
    let mut kept = right;
    kept = left;
    let listed = vec![kept, right];
    for each in listed { println(each.sum().item()); }
    let added = |part: Tensor| part + kept;
    println(given(added(right), left).sum().item());
    let text = "</pre><script>\"\\\t'&é";
    println(text + "…");
}
TL
expect_status 0 "$MASU" explain --verbose "$MASU_TMP/bindings.tl"
for name in layer.w layer.b copied.w copied.b left right chosen.0 inside kept listed each first second part text; do
    case $name in # a parameter that is only lent needs no word in the margin
    first | second | part) ;;
    *) grep -q "^ *[0-9]* |.* | .*\`$name\` " "$MASU_TMP.stdout" || fail "nothing in the margin about $name" ;;
    esac
    grep -q "^    \`$name\`, line [0-9]*: " "$MASU_TMP.stdout" || fail "$name is not among the values"
done
grep -q '`copied.w`, line 6: another name of `layer.w`' "$MASU_TMP.stdout" || fail "what is copied is not another name"
grep -q '`left` acquired\|`layer.w` acquired: it is still needed afterwards' "$MASU_TMP.stdout" || fail "no reason for a count"

# The members of the data are those that docs/explain.md describes.
expect_status 0 "$MASU" explain --json "$MASU_TMP/bindings.tl"
expect_in_stdout '"format": 1'
sed 's/"\([^"\\]\|\\.\)*"\( *[],}]\)/""\2/g' "$MASU_TMP.stdout" | grep -o '"[a-z_]*":' | tr -d '":' | sort -u >"$MASU_TMP/members"
grep -E '^\| `' docs/explain.md | cut -d'|' -f2 | grep -o '`[a-z_]*`' | tr -d '`' | sort -u >"$MASU_TMP/described"
grep -vxF -f "$MASU_TMP/described" "$MASU_TMP/members" && fail "members that docs/explain.md does not describe"
grep -vxF -f "$MASU_TMP/members" "$MASU_TMP/described" | grep -vx growing_slot && fail "docs/explain.md describes members that are not there"

# A page of its own: nothing is fetched, and nothing of the source is read as a mark.
expect_status 0 "$MASU" explain --html "$MASU_TMP/bindings.tl"
! grep -q '<script\|href=\|src=\|url(' "$MASU_TMP.stdout" || fail "the page is not its own"
expect_in_stdout '&#60;/pre&#62;&#60;script&#62;'
expect_in_stdout '<svg '
expect_in_stdout '<td>another name of `layer.w`<td>'

# Short without --verbose: the totals, then each line of the source once, with a few numbers; the dearest lines are
# named, and what they are said to cost is beside them.
cat >"$MASU_TMP/short.tl" <<'TL'
fn twice(t: Tensor) -> Tensor { t + t }
fn main() {
    let a = Tensor::ones([4, 4]);
    let b = twice(a);
    println(b.sum().item() + a.sum().item());
}
TL
expect_status 0 "$MASU" explain "$MASU_TMP/short.tl"
sed -n 1p "$MASU_TMP.stdout" | grep -q 'short.tl: [0-9]* functions, ' || fail 'the totals are not first'
sed -n 2p "$MASU_TMP.stdout" | grep -q '^tensors made: [0-9]* in frames of [0-9]* bytes' || fail 'no bytes'
[ "$(grep -c '^ *[0-9]* | ' "$MASU_TMP.stdout")" -eq "$(wc -l <"$MASU_TMP/short.tl")" ] || fail 'not one line a line'
awk 'length > 120' "$MASU_TMP.stdout" >"$MASU_TMP/wide"
[ ! -s "$MASU_TMP/wide" ] || fail "wide: $(cat "$MASU_TMP/wide")"
! grep -q 'values of' "$MASU_TMP.stdout" || fail 'the values of each function are not for the short text'
expect_status 0 "$MASU" explain examples/mlp.tl
named=$(sed -n 's/^cost most: line \([0-9]*\) (\([0-9]* from a\{0,1\} \{0,1\}pools\{0,1\}\).*/\1 \2/p' "$MASU_TMP.stdout")
[ -n "$named" ] || fail 'no line costs most'
grep -q "^ *${named%% *} | .*| ${named#* }" "$MASU_TMP.stdout" || fail "line ${named%% *} does not cost ${named#* }"
# A function that is compiled for f32 and for f64 is one function of the source: each of its lines costs once.
expect_status 0 "$MASU" explain examples/n_queens.tl
grep -q '^ *[0-9]* |     let probs = board.softmax(1);  *| 1 from a pool$' "$MASU_TMP.stdout" || fail "softmax: $(grep 'let probs' "$MASU_TMP.stdout")"
expect_status 0 "$MASU" explain --html examples/mlp.tl
expect_in_stdout '<p class=t>'
expect_in_stdout 'cost most: line'
[ "$(grep -o '<details[ >]' "$MASU_TMP.stdout" | wc -l)" -eq "$(grep -o '</details>' "$MASU_TMP.stdout" | wc -l)" ] || fail 'a fold is not closed'
[ "$(grep -o '<details>' "$MASU_TMP.stdout" | wc -l)" -ge 4 ] || fail 'nothing is folded'
# The dearest lines are open; what a line makes is beside it in bytes: a tensor of [4, 4] has 64.
grep -q "^<details open><summary class=r><b>${named%% *}</b>" "$MASU_TMP.stdout" || fail "line ${named%% *} is folded"
expect_status 0 "$MASU" explain --html "$MASU_TMP/short.tl"
grep -q '<b>3</b>.*; 64 bytes</i>' "$MASU_TMP.stdout" || fail 'no bytes beside line 3'
