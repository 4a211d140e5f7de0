# libfuzzer.sh: what the scripts that fuzz one reader share; read with `.` after $work and $seconds are set.
status=0

# PROGRAM SEEDS LENGTH MIB SECONDS: runs a program of libFuzzer for $seconds, with inputs up to LENGTH bytes, at most
# MIB of memory and SECONDS for one input. Findings and the corpus lie beside the program.
fuzz_run() {
    mkdir "$1.found" "$1.corpus"
    "$1" -max_total_time="$seconds" -max_len="$3" -rss_limit_mb="$4" -timeout="$5" -print_final_stats=1 -verbosity=0 \
        -artifact_prefix="$1.found/" "$1.corpus" "$2" >"$1.log" 2>&1 || {
        status=1
        tail -n 40 "$1.log"
    }
    sed -n 's/^stat::number_of_executed_units: */  runs: /p; s/^stat::peak_rss_mb: */  MiB at most: /p' "$1.log"
}

# Ends the script: what was found stays, and is named.
fuzz_end() {
    if [ "$status" -eq 0 ]; then rm -rf "$work"; else echo "findings lie in $work"; fi
    exit "$status"
}
