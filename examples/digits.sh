#!/bin/sh
# Fetches the data of digits.tl into the folder that is named (or here): digits.csv, from Debian's package
# python3-sklearn.
set -eu
folder=$(cd "${1:-.}" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
apt-get download -q python3-sklearn
dpkg-deb --fsys-tarfile python3-sklearn_*.deb | tar -x --wildcards '*/digits.csv.gz'
find . -name digits.csv.gz -exec gunzip -c {} + >"$folder/digits.csv"
echo "$folder/digits.csv: $(wc -l <"$folder/digits.csv") digits; masu run examples/digits.tl $folder/digits.csv --plot digits.svg"
