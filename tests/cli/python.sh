# The Python module in real Pythons: its suite with NumPy and PyTorch under pytest, and that each Python from 3.11 on
# that is here starts with it, three times in turn.
[ -f "$MASU_BUILD/python/masu/__init__.abi3.so" ] || skip 'no Python.h of 3.11 or later when this was built (python3-dev)'
python=
for candidate in /usr/bin/python3 python3; do
    [ -n "$python" ] || ! "$candidate" -c 'import sys, numpy, pytest; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || python=$candidate
done
[ -n "$python" ] || skip 'no Python of 3.11 or later with numpy and pytest (python3-numpy, python3-pytest)'
"$python" -c 'import torch' 2>/dev/null || echo 'skipped: what the module gives PyTorch: it is not installed (python3-torch)'
"$MASU" help build | grep -q -e --shared || echo 'skipped: compiled programs in Python: this masu has no build --shared'
export PYTHONPATH="$MASU_BUILD/python:$PWD/tests/python" PYTHONDONTWRITEBYTECODE=1

# A sanitizer must be there before the interpreter, whose own leaks are its own.
preload=
case $MASU_SANITIZE in
*address*) preload="$(gcc -print-file-name=libasan.so):$(gcc -print-file-name=libstdc++.so.6)" ;;
*thread*) preload=$(gcc -print-file-name=libtsan.so) ;;
esac
in_python() { env ${preload:+LD_PRELOAD="$preload" PYTHONMALLOC=malloc ASAN_OPTIONS="$ASAN_OPTIONS:detect_leaks=0"} "$@"; }

MASU_SUITE=${MASU_SUITE:-}
cp -r tests/python "$MASU_TMP/suite"
cd "$MASU_TMP/suite"
# shellcheck disable=SC2086 # words
expect_status 0 in_python "$python" -m pytest -q -p no:cacheprovider -W error ${MASU_SUITE:-. --ignore=test_programs.py}
grep -E '^SKIPPED|skipped' "$MASU_TMP.stdout" | sed 's/^/# /' || true

[ -z "$MASU_SANITIZE$MASU_SUITE" ] || exit 0
tried=0
for other in "$python" python3 python3.11 python3.12 python3.13 python3.14; do
    "$other" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || continue
    tried=$((tried + 1))
    for start in 1 2 3; do
        expect_status 0 "$other" -c "import masu; t = masu.from_dlpack(masu.zeros((2, 3))); print(t.tolist(), $start)"
        expect_stdout "[[0.0, 0.0, 0.0], [0.0, 0.0, 0.0]] $start"
    done
done
[ "$tried" -ge 1 ] || fail 'no Python was tried'
