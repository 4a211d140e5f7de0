# libmasu-torch.so under a program that calls it as PyTorch does, on the simulated driver, over both kinds of pools,
# judged: streams, devices, threads, fork, private pools, limits, each call of the driver refused, snapshots. And
# PyTorch's own way to open it, where its version has one.
library=$MASU_BUILD/libmasu-torch.so
[ -f "$library" ] || skip 'this build has no libmasu-torch.so'
cc=$(sed -n 's/^CMAKE_C_COMPILER:[A-Z]*=//p' "$MASU_BUILD/CMakeCache.txt")
sanitize=
case $MASU_SANITIZE in *?*) sanitize=-fsanitize=$MASU_SANITIZE ;; esac
host=$MASU_TMP/host
# shellcheck disable=SC2086 # no or one word
expect_status 0 "$cc" -O1 -g -w $sanitize tests/torch/host.c -o "$host" -pthread -ldl
LD_LIBRARY_PATH=$MASU_BUILD/tests/fake_cuda
export LD_LIBRARY_PATH

for kind in heap vm; do
    for part in plain streams random devices threads fork pools refused; do
        # events whose end the driver refuses are the driver's
        case $part in refused) leaks=0 ;; *) leaks=1 ;; esac
        expect_status 0 env ASAN_OPTIONS="${ASAN_OPTIONS:-}:detect_leaks=$leaks" MASU_TORCH=$kind MASU_TORCH_CHECK=1 "$host" "$library" "$part"
        expect_stdout 'all as promised'
        expect_stderr ''
    done
    expect_status 0 env MASU_TORCH=$kind MASU_TORCH_CHECK=1 FAKE_CUDA_MEMORY_MB=64 "$host" "$library" limit
    expect_stdout 'all as promised'
done

# What is refused is said on standard error only where that is wanted.
expect_status 0 env MASU_TORCH_REPORT=1 "$host" "$library" devices
expect_in_stderr 'masu: device 2: 1 bytes refused: the device cannot be used'
expect_status 1 env MASU_TORCH=cuda "$host" "$library" plain
expect_in_stderr 'MASU_TORCH=cuda: heap or vm was expected'
expect_status 0 env MASU_TORCH_HISTORY=many "$host" "$library" pools
expect_in_stderr 'MASU_TORCH_HISTORY=many is not a number of events'

# Only its own functions leave it.
[ -z "$(nm -D --defined-only "$library" | awk '$3 !~ /^masu_torch_/ && $2 == "T" { print $3 }')" ] || fail 'other names leave the library'

# A snapshot and a trace of one run are read again; the bytes alive at the end are those that the program counted.
for kind in heap vm; do
    expect_status 0 env MASU_TORCH=$kind MASU_TRACE="$MASU_TMP/$kind.trace" "$host" "$library" snapshot "$MASU_TMP/$kind.pickle"
    alive=$(awk 'NR == 1 { print $1 + $2 }' "$MASU_TMP.stdout")
    expect_status 0 "$MASU" report "$MASU_TMP/$kind.pickle"
    expect_in_stdout 'PyTorch snapshot'
    expect_in_stdout "MASU_TORCH: $kind"
    expect_in_stdout '1 refused'
    expect_status 0 "$MASU" whatif "$MASU_TMP/$kind.pickle"
    expect_in_stdout 'device cuda:1'
    ! grep -q -i 'overlap' "$MASU_TMP.stdout" || fail 'blocks overlap'
    expect_status 0 "$MASU" report "$MASU_TMP/$kind.trace"
    expect_in_stdout 'Every block was given back'
    expect_status 0 /usr/bin/env python3 tests/torch/snapshot.py "$MASU_TMP/$kind.pickle" "$alive"
done

# PyTorch itself, where it is: 2.0 brought this interface.
python='' found=''
for candidate in /usr/bin/python3 python3; do
    [ -n "$found" ] || ! found=$("$candidate" -c 'import torch; print(torch.__version__, hasattr(torch.cuda.memory, "CUDAPluggableAllocator"))' 2>/dev/null) ||
        python=$candidate
done
if [ -z "$python" ]; then
    echo 'skipped: PyTorch opening the library: it is not installed (python3-torch)'
elif [ "${found#* }" = False ]; then
    echo "skipped: PyTorch opening the library: ${found% *} has no CUDAPluggableAllocator (2.0 brought it)"
elif [ -z "$MASU_SANITIZE" ]; then
    expect_status 0 "$python" -c "
import sys, torch
try:
    torch.cuda.memory.CUDAPluggableAllocator('$library', 'masu_torch_malloc', 'masu_torch_free')
except AttributeError as error:  # a PyTorch without CUDA has the class, and nothing behind it
    print('skipped: PyTorch opening the library:', error)"
fi
# And from Python through ctypes, which is how PyTorch is given the other functions.
[ -n "$MASU_SANITIZE" ] || {
    expect_status 0 python3 -c "
import ctypes
m = ctypes.CDLL('$library')
m.masu_torch_malloc.restype, m.masu_torch_malloc.argtypes = ctypes.c_void_p, (ctypes.c_ssize_t, ctypes.c_int, ctypes.c_void_p)
m.masu_torch_free.argtypes = (ctypes.c_void_p, ctypes.c_ssize_t, ctypes.c_int, ctypes.c_void_p)
m.masu_torch_memory_allocated.restype = ctypes.c_uint64
p = m.masu_torch_malloc(1000, 0, None)
print(m.masu_torch_memory_allocated(0), p % 512)
m.masu_torch_free(p, 1000, 0, None)
print(m.masu_torch_memory_allocated(0))"
    expect_stdout '1000 0
0'
}
