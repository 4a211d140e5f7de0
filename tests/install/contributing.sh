# CONTRIBUTING.md is followed to the letter on a copy of the tree: each recipe touches as many files as its title says,
# the copy builds, and what the recipes say about it is so. Not under a sanitizer: it is the page that is tested here.
[ -z "$MASU_SANITIZE" ] || skip 'not under a sanitizer'
command -v ninja >/dev/null || { echo 'needs ninja' >&2; exit 1; }
tree=$MASU_TMP/tree
mkdir "$tree"
cp -r CMakeLists.txt CONTRIBUTING.md cmake docs include integrations scripts src tests "$tree"
steps=$MASU_TMP/steps
mkdir "$steps"

# Steps become files: NUMBER.{at,below,text}, tries NUMBER.{program,printed|refused}; `counts` has a line a recipe.
awk -v steps="$steps" '
    function quoted(line, n,    part) { split(line, part, "`"); return part[2 * n] }
    /^## / {
        count = $0; sub(/.*: /, "", count)
        if (recipe != "") print wanted, touched, recipe >(steps "/counts")
        recipe = count ~ /^[0-9]+ files?( and one row)?$/ ? $0 : ""
        wanted = count + (count ~ /row/); touched = 0; split("", seen)
    }
    recipe == "" { next }
    /^(In|New file) `/ {
        file = quoted($0, 1)
        below = /^In/ ? quoted($0, 2) : ""
        if (!(file in seen)) { seen[file] = 1; touched++ }
        pending = "edit"
    }
    /^Try:/ { pending = "try" }
    /^```/ && inside { inside = 0; close(text); next }
    /^```/ && pending != "" {
        step++
        if (pending == "edit") {
            text = sprintf("%s/%03d.text", steps, step)
            print file >(text ".at"); print below >(text ".below")
            close(text ".at"); close(text ".below")
        } else text = sprintf("%s/%03d.program", steps, step)
        printf "" >text
        pending = ""; inside = 1
        next
    }
    inside { print >text }
    /^It prints `/ { print quoted($0, 1) >(text ".prints") }
    /^It is refused: ``/ { line = $0; sub(/^It is refused: ``/, "", line); sub(/``.*/, "", line); print line >(text ".refused") }
    END { if (recipe != "") print wanted, touched, recipe >(steps "/counts") }
' CONTRIBUTING.md
[ "$(wc -l <"$steps/counts")" -ge 12 ] || fail "only $(wc -l <"$steps/counts") recipes found"
while read -r wanted touched recipe; do
    [ "$wanted" -eq "$touched" ] || fail "$recipe: touches $touched files"
done <"$steps/counts"

# No recipe touches more files than these; a row of a table that lists things counts as a file here.
while read -r most name; do
    touched=$(sed -n "s/^[0-9]* \([0-9]*\) ## .*$name.*/\1/p" "$steps/counts")
    [ -n "$touched" ] || fail "no recipe: $name"
    [ "$touched" -le "$most" ] || fail "$name: $touched files, more than $most"
done <<TEXT
1 An operation written in the language
2 An element-wise kernel
3 An operation with a new rule of shapes
1 A function of one number
1 A function of libm
4 An allocator under the heap
3 A device
2 A pass
4 A kind of syntax node
TEXT

for text in "$steps"/*.text; do
    file=$tree/$(cat "$text.at") below=$(cat "$text.below")
    if [ -z "$below" ]; then
        [ ! -e "$file" ] || fail "$file exists already"
        mkdir -p "$(dirname "$file")"
        cp "$text" "$file"
        continue
    fi
    grep -qF -e "$below" "$file" || fail "$file has no line with: $below"
    BELOW=$below awk -v text="$text" '{ print } !done && index($0, ENVIRON["BELOW"]) { while ((getline line <text) > 0) print line; done = 1 }' \
        "$file" >"$MASU_TMP/edited"
    cp "$MASU_TMP/edited" "$file"
done
expect_status 0 cmake -G Ninja -S "$tree" -B "$MASU_TMP/built" -DCMAKE_BUILD_TYPE=Debug -DCMAKE_C_FLAGS_DEBUG=-O0 -DMASU_BENCH=OFF
expect_status 0 cmake --build "$MASU_TMP/built" --target masu unit_allocators_test_spare unit_devices_test_conform
expect_status 0 "$MASU_TMP/built/tests/unit/allocators/test_spare"
expect_status 0 "$MASU_TMP/built/tests/unit/devices/test_conform"
new=$MASU_TMP/built/masu
tried=0
for program in "$steps"/*.program; do
    tried=$((tried + 1))
    if [ -f "$program.refused" ]; then
        expect_status 1 "$new" check "$program"
        expect_in_stderr "$(cat "$program.refused")"
    else
        expect_status 0 "$new" run "$program"
        expect_stdout "$(cat "$program.prints")"
    fi
done
[ "$tried" -ge 8 ] || fail "only $tried programs tried"
expect_status 0 sh "$tree/scripts/check_layers.sh" "$tree"
expect_status 0 "$new" help --operations
expect_in_stdout '`t.soft_sine() -> Tensor`'
expect_in_stdout '`t.third_power()`'
expect_status 0 "$new" help --passes
expect_in_stdout nothing
printf 'fn main() { println(1); }\n' >"$MASU_TMP/one.tl"
expect_status 0 "$new" check --dump=after:nothing --verify "$MASU_TMP/one.tl"
expect_in_stdout 'fn main'
expect_status 0 "$new" run --no-nothing "$MASU_TMP/one.tl"
expect_status 0 "$new" hello
expect_stdout hello
expect_status 0 "$new" run "$tree/tests/golden/hello_contributing.tl"
expect_stdout 3
