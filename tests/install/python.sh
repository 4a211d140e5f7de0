# The wheel is installed by pip, the package is unpacked, the module is installed: each is imported from where it then
# lies.
[ -f "$MASU_BUILD/python/masu/__init__.abi3.so" ] || skip 'no Python.h of 3.11 or later when this was built (python3-dev)'
[ -z "$MASU_SANITIZE" ] || skip 'not under a sanitizer: the interpreter would have to be'
python=/usr/bin/python3
"$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || skip 'no /usr/bin/python3 of 3.11 or later'
used='import masu; t = masu.from_dlpack(masu.zeros((2, 3), "int64")); print(t.tolist(), masu.plan([(4, 0, 1)]).height); print(masu.__file__)'
imports() { # FOLDER
    expect_status 0 env PYTHONPATH="$1" "$python" -c "$used"
    expect_in_stdout '[[0, 0, 0], [0, 0, 0]] 4'
    expect_in_stdout "$1/masu/__init__.abi3.so"
    [ -f "$1/masu/py.typed" ] && [ -f "$1/masu/__init__.pyi" ] || fail "no types in $1"
}

expect_status 0 integrations/python/wheel.sh "$MASU_BUILD" "$MASU_TMP/made"
wheel=$(cat "$MASU_TMP.stdout")
expect_status 0 integrations/python/wheel.sh "$MASU_BUILD" "$MASU_TMP/new/again"
cmp -s "$wheel" "$(cat "$MASU_TMP.stdout")" || fail 'two wheels of one build differ'
if "$python" -m pip --version >/dev/null 2>&1; then
    expect_status 0 "$python" -m pip install --no-index --no-deps --quiet --disable-pip-version-check --target "$MASU_TMP/site" "$wheel"
    imports "$MASU_TMP/site"
else
    echo 'skipped: the wheel is not installed: there is no pip'
fi

if command -v dpkg-deb >/dev/null; then
    expect_status 0 integrations/python/deb.sh "$MASU_BUILD" "$MASU_TMP/package"
    package=$(cat "$MASU_TMP.stdout")
    expect_status 0 dpkg-deb --extract "$package" "$MASU_TMP/unpacked"
    imports "$MASU_TMP/unpacked/usr/lib/python3/dist-packages"
    expect_status 0 dpkg-deb --field "$package" Package Depends
    expect_in_stdout 'Package: python3-masu'
    expect_in_stdout 'python3 (>= 3.11)'
else
    echo 'skipped: no Debian package: there is no dpkg-deb'
fi

folder=$(sed -n 's/^MASU_PYTHON_FOLDER:[A-Z]*=//p' "$MASU_BUILD/CMakeCache.txt")
expect_status 0 cmake --install "$MASU_BUILD" --prefix "$MASU_TMP/prefix"
imports "$MASU_TMP/prefix/$folder"

mkdir "$MASU_TMP/empty"
expect_status 1 integrations/python/wheel.sh "$MASU_TMP/empty"
expect_in_stderr 'python3-dev'
expect_status 1 integrations/python/deb.sh "$MASU_TMP/empty"
expect_in_stderr 'python3-dev'
