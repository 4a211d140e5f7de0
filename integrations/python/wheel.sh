#!/bin/sh
# Makes a wheel of the module that a build folder holds, for `pip install`: one for every Python from 3.11 on, on this
# kind of machine. Needs python3 (any) and nothing else; asks no network. The same build gives the same bytes.
#
#     integrations/python/wheel.sh [BUILD] [FOLDER]      build/release, the current folder; prints the wheel's path
#
# The wheel has the module alone: masu.compile() runs the command `masu`, which `make install` or the Debian package
# brings.
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
build=${1:-$root/build/release}
folder=${2:-.}
module=$build/python/masu/__init__.abi3.so
[ -f "$module" ] || {
    echo "wheel: there is no $module: build with Python's headers installed (python3-dev)" >&2
    exit 1
}
mkdir -p "$folder"
version=$(sed -n 's/.*MASU_VERSION_TEXT *"\([^"]*\)".*/\1/p' "$root/include/masu/version.h")
strip=$(command -v strip || true)
exec python3 - "$build/python/masu" "$folder" "$version" "$root" "$strip" <<'PYTHON'
import base64, hashlib, os, platform, subprocess, sys, tempfile, zipfile

source, folder, version, root, strip = sys.argv[1:]
libc = platform.libc_ver()[1] or "2.36"
tag = f"cp311-abi3-manylinux_{libc.replace('.', '_')}_{platform.machine()}"
info = f"masu-{version}.dist-info"
files = {}
for name in ("__init__.abi3.so", "__init__.pyi", "executorch.py", "py.typed"):
    path = os.path.join(source, name)
    with tempfile.TemporaryDirectory() as work:
        if strip and name.endswith(".so"):
            subprocess.run([strip, "--strip-unneeded", "-o", os.path.join(work, name), path], check=True)
            path = os.path.join(work, name)
        with open(path, "rb") as file:
            files["masu/" + name] = file.read()
with open(os.path.join(root, "docs/python.md"), encoding="utf-8") as file:
    page = file.read()
with open(os.path.join(root, "LICENSE"), "rb") as file:
    files[info + "/LICENSE"] = file.read()
files[info + "/METADATA"] = (
    f"Metadata-Version: 2.1\nName: masu\nVersion: {version}\nSummary: Memory of tensors: arrays without a copy, compiled "
    f"programs, the planner, a heap for NumPy\nRequires-Python: >=3.11\nLicense-File: LICENSE\n"
    f"Description-Content-Type: text/markdown\n\n{page}"
).encode()
files[info + "/WHEEL"] = f"Wheel-Version: 1.0\nGenerator: masu wheel.sh\nRoot-Is-Purelib: false\nTag: {tag}\n".encode()

def digest(data):
    return "sha256=" + base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()

record = "".join(f"{name},{digest(data)},{len(data)}\n" for name, data in files.items()) + f"{info}/RECORD,,\n"
files[info + "/RECORD"] = record.encode()
wheel = os.path.join(folder, f"masu-{version}-{tag}.whl")
with zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED) as archive:
    for name, data in files.items():
        entry = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
        entry.compress_type = zipfile.ZIP_DEFLATED
        entry.external_attr = (0o100755 if name.endswith(".so") else 0o100644) << 16
        archive.writestr(entry, data)
print(wheel)
PYTHON
