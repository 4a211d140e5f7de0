#!/bin/sh
# Installs what building masu needs on Debian 12, as root or through sudo. What is there is left alone, and
# when nothing is missing no package tool is called at all.
#
#     scripts/setup.sh [GROUP…]     groups: build (always), clang, format, bench
set -eu

packages="gcc libc6-dev make cmake ninja-build pkg-config llvm-19-dev libopenblas-dev libjansson-dev zlib1g-dev libcmocka-dev libstdc++-12-dev libzstd-dev python3-dev python3-numpy python3-pytest g++ libflatbuffers-dev flatbuffers-compiler libprotobuf-c-dev protobuf-c-compiler libncurses-dev libjs-dygraphs"
for group in "$@"; do
    case $group in
    build) ;;
    clang) packages="$packages clang" ;;
    format) packages="$packages clang-format" ;;
    bench) packages="$packages python3-torch libmimalloc2.0 libjemalloc2 libtcmalloc-minimal4" ;;
    *)
        echo "setup: unknown group '$group'; there are build, clang, format and bench" >&2
        exit 2
        ;;
    esac
done

if ! command -v dpkg-query >/dev/null 2>&1; then
    echo "setup: this is no Debian system; masu expects to find here: $packages" >&2
    exit 0
fi

missing=
for package in $packages; do
    case " $(dpkg-query -W -f '${db:Status-Status} ' "$package" 2>/dev/null || true)" in
    *" installed "*) ;; # not those that are known as not-installed
    *) missing="$missing $package" ;;
    esac
done
[ -n "$missing" ] || exit 0

as_root=
if [ "$(id -u)" -ne 0 ]; then
    if ! command -v sudo >/dev/null 2>&1; then
        echo "setup: missing packages:$missing" >&2
        echo "setup: install them as root (there is no sudo here): apt-get install$missing" >&2
        exit 1
    fi
    as_root=sudo
fi

echo "setup: installing$missing"
$as_root apt-get update -q
# shellcheck disable=SC2086 # one word a package
$as_root env DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends $missing
echo "setup: done"
