#!/bin/sh
# Makes the Debian package python3-masu of the module that a build folder holds, by dpkg-deb; asks no network, needs no
# root.
#
#     integrations/python/deb.sh [BUILD] [FOLDER]        build/release, the current folder; prints the package's path
#
# The module lies in /usr/lib/python3/dist-packages, where each python3 of Debian looks. It suggests the command `masu`,
# which masu.compile() runs and `make install` brings.
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
build=${1:-$root/build/release}
folder=${2:-.}
[ -f "$build/python/masu/__init__.abi3.so" ] || {
    echo "deb: there is no module in $build/python: build with Python's headers installed (python3-dev)" >&2
    exit 1
}
mkdir -p "$folder"
version=$(sed -n 's/.*MASU_VERSION_TEXT *"\([^"]*\)".*/\1/p' "$root/include/masu/version.h")
machine=$(dpkg --print-architecture)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
tree=$work/tree
there=$tree/usr/lib/python3/dist-packages
page=$tree/usr/share/doc/python3-masu
mkdir -p "$there/masu" "$page" "$tree/DEBIAN"
chmod 755 "$tree" "$tree/DEBIAN"
strip --strip-unneeded -o "$there/masu/__init__.abi3.so" "$build/python/masu/__init__.abi3.so"
cp "$build/python/masu/__init__.pyi" "$build/python/masu/executorch.py" "$build/python/masu/py.typed" "$there/masu"
mkdir "$there/masu-$version.dist-info"
printf 'Metadata-Version: 2.1\nName: masu\nVersion: %s\nRequires-Python: >=3.11\n' "$version" >"$there/masu-$version.dist-info/METADATA"
echo dpkg >"$there/masu-$version.dist-info/INSTALLER"
cp "$root/LICENSE" "$page/copyright"
cp "$root/docs/python.md" "$page"
find "$tree" -type f -exec chmod 644 {} +
# The oldest glibc whose functions the module names.
libc=$(objdump -T "$there/masu/__init__.abi3.so" | sed -n 's/.*(\{0,1\}GLIBC_\([0-9.]*\).*/\1/p' | sort -V | tail -n 1)
cat >"$tree/DEBIAN/control" <<CONTROL
Package: python3-masu
Version: $version
Architecture: $machine
Maintainer: masu maintainers <maintainers@users.noreply.masu.example>
Section: python
Priority: optional
Depends: python3 (>= 3.11), libc6 (>= ${libc:-2.36})
Recommends: python3-numpy
Suggests: python3-torch
Installed-Size: $(du -sk "$tree" | cut -f 1)
Description: memory of tensors, from Python
 Arrays without a copy (buffers and DLPack), compiled programs of the
 language, the static planner, and a heap for NumPy's arrays.
CONTROL
package=$folder/python3-masu_${version}_$machine.deb
dpkg-deb --root-owner-group --build "$tree" "$package" >&2
echo "$package"
