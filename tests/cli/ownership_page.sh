# The table of the forty shapes in docs/ownership.md: every shape stands there, every program that it names exists, and
# the first program of a row asserts what the row says was reached: so many buffers of 4,096 bytes, so many acquires.
page=docs/ownership.md
programs=tests/golden
sed -n 's/^| \([0-9][0-9]* [^|]*|.*\)|$/\1/p' "$page" >"$MASU_TMP/rows"
for shape in $(seq 40); do
    grep -q "^$shape " "$MASU_TMP/rows" || fail "$page: no row of shape $shape"
done

# Buffers are at least what the bound in the program allows, less a fraction of one that sums and signs take.
while IFS='|' read -r row must stretch ours named; do
    first=
    for program in $(echo "$named" | tr -d '`,'); do
        [ -f "$programs/$program.tl" ] || fail "$page, $row: no program $program"
        first=${first:-$programs/$program.tl}
    done
    [ -n "$first" ] || fail "$page, $row: no program"
    echo "$ours" | grep -qE '^ *[0-9.,]+ (B|bytes)' || continue
    bound=$(sed -n 's/^\/\/! report: peak_bytes [<=]*= \([0-9]*\)$/\1/p' "$first")
    counts=$(sed -n 's/^\/\/! report: retain_ops [<=]*= \([0-9]*\)$/\1/p' "$first")
    echo "$ours" | sed 's/\([0-9]\),\([0-9]\)/\1\2/' | awk -v bound="$bound" -v counts="$counts" '
        {
            bytes = $1 * ($2 ~ /^B/ ? 4096 : 1)
            if (bound == "" || bound < bytes || bound >= bytes + 200) { print "peak_bytes <= " bound; exit 1 }
            if ($2 == "B," && NF == 3 && $3 != counts) { print "retain_ops == " counts; exit 1 }
        }' || fail "$page, $row: says '$ours', $first says otherwise"
done <"$MASU_TMP/rows"
echo "$(wc -l <"$MASU_TMP/rows") rows"
