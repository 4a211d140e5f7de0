# masu plan of .onnx files that tests/cli/onnx_files.py writes, and of those of $MASU_DATA where it is there.
python=
for candidate in /usr/bin/python3 python3; do
    "$candidate" -c 'import numpy' 2>/dev/null && python=$candidate && break
done
[ -n "$python" ] || skip "no Python with NumPy"
expect_status 0 "$python" tests/cli/onnx_files.py "$MASU" "$MASU_TMP"
misuse() { expect_status 2 "$MASU" plan "$@"; }
misuse "$MASU_TMP/n.onnx" --verify
misuse "$MASU_TMP/n.onnx" --write-model y
misuse "$MASU_TMP/n.onnx" --dim batch
misuse "$MASU_TMP/n.onnx" --dim batch=-1

folder=${MASU_DATA:-../shared/data}/models
[ -d "$folder/source" ] || exit 0
# The tables beside the files were made of them by another program: the same arena.
for file in "$folder"/source/*.onnx; do
    expect_status 0 "$MASU" plan "$folder/$(basename "$file" .onnx).csv"
    height=$(sed -nE 's/.*height ([0-9,]+) bytes.*/\1/p' "$MASU_TMP.stdout" | tr -d ,)
    expect_status 0 "$MASU" plan "$file" --csv --alignment 1
    grep -q "^planned,$height,$height,yes\$" "$MASU_TMP.stdout" || fail "$file: $(cat "$MASU_TMP.stdout"), expected $height"
    ! grep -q ',no$' "$MASU_TMP.stdout" || fail "$file: $(cat "$MASU_TMP.stdout")"
done
