# The interposer in front of unchanged programs, on the simulated CUDA: each part of tests/fake_cuda/program.c alone, in both
# modes, with the runtime beside it, inside it, and with the driver refusing each of its calls once.
folder=$MASU_BUILD/tests/fake_cuda
hooks=$MASU_BUILD/libmasu_cuda.so
# A sanitized library in a program that is not: the sanitizer comes first, where the compiler has it as a library.
preload=$hooks
case $MASU_SANITIZE in
*address*) sanitizer=libasan.so ;;
*thread*) sanitizer=libtsan.so ;;
*) sanitizer= ;;
esac
if [ -n "$sanitizer" ]; then
    runtime=$(ldd "$hooks" | sed -n "s/^.*$sanitizer[^ ]* => \([^ ]*\) .*/\1/p")
    [ -n "$runtime" ] || { echo "skipped: this compiler's $sanitizer is not a library of its own" && exit 0; }
    preload=$runtime:$hooks
fi
program=$folder/fake_cuda_program
alone=$folder/fake_cuda_static_program
log=$MASU_TMP/log
counts=$MASU_TMP/counts
LD_LIBRARY_PATH=$folder
export LD_LIBRARY_PATH

with() { # MODE [NAME=VALUE…] PROGRAM PART
    mode=$1
    shift
    env VMM_MODE="$mode" LD_PRELOAD="$preload" FAKE_CUDA_SAY=1 FAKE_CUDART_COUNT="$counts" "$@"
}
calls() { sed -n "s/^$1 //p" "$counts"; }
expect_calls() { # NAME NUMBER   that the runtime itself got
    [ "$(calls "$1")" = "$2" ] || fail "$last_command: expected $2 calls of $1, actual: $(calls "$1")"
}
expect_no_misuse() { expect_in_stderr "fake cuda: 0 misuses"; }

parts='resize backup small first families shapes per_thread info capture devices threads lookup'
for part in $parts edges; do
    expect_status 0 "$program" "$part"
    expect_stdout 'all as promised'
    for mode in VMM MONITOR; do
        expect_status 0 with "$mode" "$program" "$part"
        expect_stdout 'all as promised'
        case $part in edges) ;; *) expect_no_misuse ;; esac
        ! grep -q '^masu:' "$MASU_TMP.stderr" || fail "$part, $mode: says something: $(grep '^masu:' "$MASU_TMP.stderr")"
    done
done

# Who served what: the runtime gets none of the allocations in VMM mode, and all in MONITOR mode.
expect_status 0 with VMM "$program" resize
expect_calls cudaMalloc ''
expect_calls cudaMemcpy 40
expect_status 0 with MONITOR "$program" resize
expect_calls cudaMalloc 20
expect_calls cudaFree 20
# Physical memory is created twice, not twenty times.
expect_status 0 with VMM "$program" resize
expect_in_stderr '2 created'
# Small requests: one piece of memory for two thousand.
expect_status 0 with VMM "$program" small
expect_in_stderr '1 created'
# What is not ours reaches the runtime as it came.
expect_status 0 with VMM "$program" families
for call in cudaMallocManaged cudaMallocPitch cudaMallocHost cudaHostAlloc cudaMallocAsync cudaMallocAsync_ptsz \
    cudaIpcGetMemHandle; do
    expect_calls "$call" 1
done
expect_calls cudaMallocFromPoolAsync 2
expect_calls cudaFree 3
expect_calls cudaFreeAsync 2
expect_calls cudaFreeHost 2
expect_status 0 with VMM "$program" shapes
expect_calls cudaMalloc ''
expect_calls cudaFree 2
for call in cudaMalloc3D cudaMallocPitch cudaMallocArray cudaMalloc3DArray; do expect_calls "$call" 1; done
expect_calls cudaFreeArray 2
expect_status 0 with VMM "$program" per_thread
expect_calls cudaMalloc ''
for call in cudaMallocAsync_ptsz cudaMallocFromPoolAsync_ptsz; do expect_calls "$call" 1; done
for call in cudaMemcpy_ptds cudaFreeAsync_ptsz; do expect_calls "$call" 2; done # one of three frees was ours
# Every hook of the runtime's calls was seen at work in one part or another.
for part in backup families shapes per_thread info capture; do
    expect_status 0 with MONITOR VMM_LOG_LEVEL=summary "$program" "$part"
    sed -n 's/^masu: \([A-Za-z0-9_]*\): [0-9]* calls$/\1/p' "$MASU_TMP.stderr"
done | sort -u >"$MASU_TMP/seen"
expect_status 0 nm -D --defined-only "$hooks"
awk '$3 ~ /^cuda[A-Z]/ { print $3 }' "$MASU_TMP.stdout" | sort -u >"$MASU_TMP/hooked"
unseen=$(comm -13 "$MASU_TMP/seen" "$MASU_TMP/hooked")
[ -z "$unseen" ] || fail "hooks that no part of the program calls: $unseen"
expect_status 0 with VMM "$program" grow
expect_no_misuse

# Settings that make no sense are told once each, and replaced.
expect_status 0 with VMM VMM_FRAG_RATIO=nan VMM_RESERVE_SIZE_MB=-3 VMM_LOG_LEVEL=loud "$program" threads
for name in VMM_FRAG_RATIO=nan VMM_RESERVE_SIZE_MB=-3 VMM_LOG_LEVEL=loud; do
    [ "$(grep -c -e "$name makes no sense" "$MASU_TMP.stderr")" = 1 ] || fail "$name: not told once: $(cat "$MASU_TMP.stderr")"
done
for ratio in 0.0 0.25 1.0 1; do
    expect_status 0 with VMM VMM_FRAG_RATIO=$ratio "$program" resize
    ! grep -q 'makes no sense' "$MASU_TMP.stderr" || fail "VMM_FRAG_RATIO=$ratio: $(cat "$MASU_TMP.stderr")"
done
for ratio in -1 1.5 0.25x '' inf garbage; do
    expect_status 0 with VMM VMM_FRAG_RATIO=$ratio "$program" resize
    expect_in_stderr "VMM_FRAG_RATIO=$ratio makes no sense; taken as 0.25"
done
expect_status 0 with turbo "$program" resize
expect_in_stderr 'VMM_MODE=turbo makes no sense; taken as VMM'
expect_status 0 with VMM VMM_RESERVE_SIZE_MB=64 "$program" resize
expect_no_misuse
expect_calls cudaMalloc ''
# More than the addresses hold goes to the runtime.
expect_status 0 with VMM VMM_RESERVE_SIZE_MB=4 "$program" resize
expect_no_misuse
expect_calls cudaMalloc 10
expect_status 0 with VMM VMM_LOG_LEVEL=0 VMM_FRAG_RATIO=x "$program" resize

# A runtime inside the program cannot be taken over; that is said, once, and the program runs as ever.
expect_status 0 with VMM "$alone" resize
expect_stdout 'all as promised'
[ "$(grep -c 'no call of the CUDA runtime came by' "$MASU_TMP.stderr")" = 1 ] ||
    fail "static runtime: not told once: $(cat "$MASU_TMP.stderr")"
expect_calls cudaMalloc 20
expect_status 0 with VMM VMM_LOG_LEVEL=nothing "$alone" resize
! grep -q '^masu:' "$MASU_TMP.stderr" || fail 'told although nothing was to be said'
# A program without CUDA is none of its business.
expect_status 0 with VMM sh -c 'echo fine'
expect_stdout 'fine'
! grep -q '^masu:' "$MASU_TMP.stderr" || fail 'says something about a program without CUDA'

# Without virtual memory on the device everything goes to the runtime, said once.
expect_status 0 with VMM VMM_RESERVE_SIZE_MB=1024 FAKE_CUDA_FAIL=cuMemAddressReserve:1 "$program" resize
[ "$(grep -c "its memory stays the runtime's" "$MASU_TMP.stderr")" = 1 ] || fail "not told once: $(cat "$MASU_TMP.stderr")"
expect_calls cudaMalloc 20

# A default reservation that is refused is halved and asked again, and nobody notices.
expect_status 0 with VMM FAKE_CUDA_FAIL=cuMemAddressReserve:1 "$program" resize
expect_no_misuse
expect_calls cudaMalloc ''

# Only the hooks leave the library.
expect_status 0 nm -D --defined-only "$hooks"
private=$(awk '$3 !~ /^(cuda[A-Z]|cuMemFree_v2$|cuGetProcAddress|dlsym$|masu_cuda_resize$)/ { print $3 }' "$MASU_TMP.stdout")
[ -z "$private" ] || fail "leaves the library as well: $private"

# The driver refuses a call in between: an error for the program, or nothing; never wrong contents, never misuse.
refusals=0
for call in cuMemCreate cuMemMap cuMemSetAccess cuMemUnmap cuMemRelease cuCtxSynchronize; do
    for nth in 1 2 3 7; do
        expect_status 0 with VMM FAKE_CUDA_FAIL=$call:$nth "$program" refused
        expect_no_misuse
        refusals=$((refusals + 1))
    done
done
echo "$refusals refusals survived"

# The log: events that the judge of a picture can read, and notes.
for mode in VMM MONITOR; do
    expect_status 0 with "$mode" VMM_LOG_FILE="$log" VMM_LOG_LEVEL=everything "$program" resize
    grep -q '^[0-9]*,alloc,' "$log" || fail "$mode: no allocation in the log"
    grep -q '^[0-9]*,free,' "$log" || fail "$mode: no free in the log"
    grep -q '^# ' "$log" || fail "$mode: no note in the log"
    ! grep -qv -e '^# ' -e '^[0-9]*,[a-z-]*,[0-9]*,[0-9]*,[0-9]*,[0-9]*,[0-9]*,[0-9]*$' "$log" || fail "$mode: other lines in the log"
done
expect_status 0 with VMM VMM_LOG_FILE=/nowhere/log "$program" first
expect_in_stderr 'VMM_LOG_FILE=/nowhere/log cannot be written'
