# masu import: networks as programs. What tests/cli/import_networks.py writes is compared with NumPy, what PyTorch
# exports with PyTorch.
expect_status 2 "$MASU" import
expect_status 2 "$MASU" import a.onnx b.onnx
expect_status 2 "$MASU" import a.onnx --dim batch
expect_status 2 "$MASU" import a.onnx -o
expect_status 2 "$MASU" import a.onnx --colour
for nothing in '' "$MASU_TMP/" "$MASU_TMP/.tl"; do
    expect_status 2 "$MASU" import examples/structs.tl -o "$nothing"
    [ -n "$nothing" ] || expect_in_stderr '-o: `` is not the path of a program'
done
expect_status 1 "$MASU" import /nowhere/net.onnx
expect_status 1 "$MASU" import examples/structs.tl -o "$MASU_TMP/x.tl"
expect_in_stderr 'not an ONNX file'
[ ! -e "$MASU_TMP/x.tl" ] || fail 'a program of a file that is not a network'

python=
for candidate in /usr/bin/python3 python3; do
    "$candidate" -c 'import numpy' 2>/dev/null && python=$candidate && break
done
[ -n "$python" ] || skip "no Python with NumPy"
expect_status 0 env PYTHONDONTWRITEBYTECODE=1 "$python" tests/cli/import_networks.py "$MASU" "$MASU_TMP"
if "$python" -c 'import torch.onnx' 2>/dev/null; then
    expect_status 0 env PYTHONDONTWRITEBYTECODE=1 "$python" tests/cli/import_torch.py "$MASU" "$MASU_TMP"
    expect_status 0 env PYTHONDONTWRITEBYTECODE=1 "$python" tests/cli/import_operators.py "$MASU" "$MASU_TMP"
else
    echo 'skipped: PyTorch is not installed: only networks that the tests write themselves are imported'
fi
