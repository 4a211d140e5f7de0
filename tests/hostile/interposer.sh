# The interposer in front of unchanged programs, on the simulated CUDA: each part of tests/fake_cuda/program.c alone, in
# both modes, with the runtime beside it, inside it, and with the driver refusing each of its calls once.
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
    [ -n "$runtime" ] || skip "this compiler's $sanitizer is not a library of its own"
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

parts='resize backup small first families shapes per_thread info capture devices threads lookup entry_points'
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

# MASU_TRACE records in both modes, for masu report.
for mode in VMM MONITOR; do
    expect_status 0 with "$mode" MASU_TRACE="$MASU_TMP/$mode.trace" "$program" resize
    expect_stdout 'all as promised'
    expect_status 0 "$MASU" report "$MASU_TMP/$mode.trace"
    expect_in_stdout 'Requests  20 served, 20 given back, 0 refused'
    expect_in_stdout 'at most 6.0 MiB alive, 6.0 MiB taken from devices'
    expect_in_stdout "program: $program"
done
expect_in_stdout 'device memory (CUDA runtime)'
expect_status 0 with VMM MASU_TRACE=/no/such/folder/file "$program" resize
expect_in_stderr 'masu: MASU_TRACE=/no/such/folder/file cannot be written'

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
# Small requests: three pieces of memory for two thousand, together five megabytes.
expect_status 0 with VMM "$program" small
expect_in_stderr '3 created'
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
for part in backup families shapes per_thread info capture entry_points; do
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

# A runtime inside the program is taken over by the driver's calls that it makes.
expect_status 0 with VMM "$alone" resize
expect_stdout 'all as promised'
expect_calls cudaMalloc 20
expect_in_stderr '2 created'
for part in $parts; do
    expect_status 0 with VMM "$alone" "$part"
    expect_stdout 'all as promised'
    expect_no_misuse
    ! grep -q '^masu:' "$MASU_TMP.stderr" || fail "static runtime, $part: says something: $(cat "$MASU_TMP.stderr")"
done
# So is a program that has no runtime at all.
driver_parts='resize range info families capture contexts versions lookup memory_pools questions'
for part in $driver_parts; do
    expect_status 0 "$folder/fake_cuda_driver_program" "$part"
    for mode in VMM MONITOR; do
        expect_status 0 with "$mode" "$folder/fake_cuda_driver_program" "$part"
        expect_stdout 'all as promised'
        expect_no_misuse
        ! grep -q '^masu:' "$MASU_TMP.stderr" || fail "driver alone, $part: says something: $(cat "$MASU_TMP.stderr")"
    done
done
expect_status 0 with VMM "$folder/fake_cuda_driver_program" resize
expect_in_stderr '2 created'
for part in $driver_parts; do
    expect_status 0 with MONITOR VMM_LOG_LEVEL=summary "$folder/fake_cuda_driver_program" "$part"
    sed -n 's/^masu: \([A-Za-z0-9_]*\): [0-9]* calls$/\1/p' "$MASU_TMP.stderr"
done | sort -u >"$MASU_TMP/seen"
expect_status 0 nm -D --defined-only "$hooks"
awk '$3 ~ /^cu[A-Z]/ { print $3 }' "$MASU_TMP.stdout" | sort -u >"$MASU_TMP/hooked"
unseen=$(comm -13 "$MASU_TMP/seen" "$MASU_TMP/hooked")
[ -z "$unseen" ] || fail "hooks that no part of the driver's program calls: $unseen"

# Wherever the library stands among others: plug-ins with a scope of their own, wrappers before and behind it, a program
# that exports the runtime's names.
for way in local global twice probe; do
    for early in '' PLUGIN_EARLY=1; do
        expect_status 0 env $early "$folder/fake_cuda_host" "$folder/libfake_cuda_plugin.so" "$way"
        for mode in VMM MONITOR; do
            expect_status 0 with "$mode" $early "$folder/fake_cuda_host" "$folder/libfake_cuda_plugin.so" "$way"
            expect_stdout "$way: 0"
            ! grep -q '^masu:' "$MASU_TMP.stderr" || fail "plug-in, $way: says something: $(cat "$MASU_TMP.stderr")"
        done
    done
done
wrapper=$folder/libfake_cuda_wrapper.so
in_order() { # PRELOAD MODE [NAME=VALUE…] PROGRAM PART
    order=$1 mode=$2
    shift 2
    env VMM_MODE="$mode" LD_PRELOAD="$order" WRAPPER_SAYS=1 "$@"
}
for order in "$wrapper:$preload" "$preload:$wrapper"; do
    for mode in VMM MONITOR; do
        for handle in '' WRAPPER_HANDLE=1; do
            case $order:$MASU_SANITIZE in "$wrapper:"*:*[a-z]*) continue ;; esac # a sanitizer has to come first
            for part in resize small lookup capture threads; do
                case $part:$order in threads:*) continue ;; esac # the wrapper counts its depth for one thread
                expect_status 0 in_order "$order" "$mode" $handle "$program" "$part"
                expect_stdout 'all as promised'
                expect_in_stderr 'wrapper was here'
            done
            # From the wrapper's place a runtime in a scope of its own is not seen by RTLD_NEXT, with or without us.
            [ -z "$handle" ] || expect_status 0 in_order "$order" "$mode" $handle "$folder/fake_cuda_host" \
                "$folder/libfake_cuda_plugin.so" local
        done
    done
done
for part in $parts; do
    for mode in VMM MONITOR; do
        expect_status 0 with "$mode" "$folder/fake_cuda_exporting_program" "$part"
        expect_stdout 'all as promised'
        expect_no_misuse
    done
done

# Small blocks that live long, on a device that is nearly full.
for mode in VMM MONITOR; do
    case $mode in MONITOR) size=16384 ;; *) size=640 ;; esac # the simulated driver rounds each block to a granule
    expect_status 0 with "$mode" FAKE_CUDA_MEMORY_MB=$size "$program" sparse
    expect_stdout 'all as promised'
done

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
private=$(awk '$3 !~ /^(cuda[A-Z]|cu(Mem|Ipc|Stream|GetProc)|dlv?sym$|masu_cuda_resize$)/ { print $3 }' "$MASU_TMP.stdout")
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
