# What was recorded is reported: the three puzzles of examples/puzzles are solved by masu report alone, in each of its
# forms; a killed program, two runs, executables, and what is not a recording.
cc=$(sed -n 's/^CMAKE_C_COMPILER:[A-Z]*=//p' "$MASU_BUILD/CMakeCache.txt")
sanitize=${MASU_SANITIZE:+-fsanitize=$MASU_SANITIZE}
for puzzle in leak fragments; do
    # shellcheck disable=SC2086 # no word when nothing is sanitized
    expect_status 0 "$cc" -O1 -Wall -Wextra -Werror $sanitize -Iinclude -I"$MASU_BUILD/include" "examples/puzzles/$puzzle.c" \
        "$MASU_BUILD/libmasu.a" -o "$MASU_TMP/$puzzle" -pthread -lm
done

# A leak: every tenth answer is never freed; where it was born is the answer.
born=$(grep -n 'r->answer = take' examples/puzzles/leak.c | cut -d: -f1)
expect_status 0 env MASU_TRACE="$MASU_TMP/leak.trace" ASAN_OPTIONS=detect_leaks=0 "$MASU_TMP/leak"
expect_status 0 "$MASU" report "$MASU_TMP/leak.trace"
expect_in_stdout "500 blocks of 1000.0 KiB were never given back; 100 % of that from leak.c:$born."
expect_in_stdout "What grew all the time: leak.c:$born"
expect_in_stdout 'Requests  15,000 served, 14,500 given back, 0 refused'
expect_in_stdout 'server (bucket)'
expect_stderr ''
expect_status 0 "$MASU" report "$MASU_TMP/leak.trace" --json
expect_in_stdout '"live_bytes":1024000,"live_blocks":500,'
expect_in_stdout "\"where\":\"leak.c:$born\",\"number\":2,"
expect_in_stdout '"end_bytes":1024000,"end_blocks":500,"allocations":5000,"total_bytes":10240000,"grows":true'

# Fragmentation: labels that stay between pictures that went.
label=$(grep -n 'alloc_at(heap, LABEL' examples/puzzles/fragments.c | cut -d: -f1)
poster=$(grep -n 'alloc_at(heap, 6' examples/puzzles/fragments.c | cut -d: -f1)
expect_status 0 env MASU_TRACE="$MASU_TMP/fragments.trace" "$MASU_TMP/fragments"
expect_stdout 'the poster does not fit'
expect_status 0 "$MASU" report "$MASU_TMP/fragments.trace" --text
expect_in_stdout "A request for 6.0 MiB was refused at event 67, asked for by fragments.c:$poster: 63.1 MiB were free, 2.8 MiB of it in one piece. 22 blocks were in the way, all from fragments.c:$label."
expect_in_stdout '63.1 MiB were free in 23 holes'
expect_in_stdout 'Every block was given back.'
# Two pools refuse one request; the page marks it once.
expect_status 0 "$MASU" report "$MASU_TMP/fragments.trace" -o "$MASU_TMP/fragments.html"
[ "$(grep -o '\[[0-9]*,"refused"' "$MASU_TMP/fragments.html")" = '[67,"refused"' ] || fail 'a refusal is marked twice'

# A peak with a reason: all pairs of points in one line, in one of twenty steps.
pairs=$(grep -n 'reshape(\[1, n, 2\])' examples/puzzles/peak.tl | cut -d: -f1)
expect_status 0 "$MASU" run --trace "$MASU_TMP/peak.trace" examples/puzzles/peak.tl
expect_in_stdout 'the points lie'
expect_status 0 "$MASU" report "$MASU_TMP/peak.trace"
expect_in_stdout "step 12 of 20): 66 % of them from peak.tl:$pairs in spread."
expect_in_stdout 'tensors (best fit)'
# 600 points, 600 points, two numbers of four bytes each; and what that was summed up to
expect_status 0 "$MASU" report --json "$MASU_TMP/peak.trace"
expect_in_stdout "[2097152,1,$((600 * 600 * 2 * 4)),$((600 * 600 * 2 * 4))]"
expect_in_stdout "\"stack\":[\"peak.tl:$pairs in spread\",\"peak.tl:$(grep -n 'spread(points).item' examples/puzzles/peak.tl | cut -d: -f1) in main\"]"

# Lists and strings only where they are asked for.
! grep -q 'lists, strings' "$MASU_TMP.stdout" || fail 'lists are recorded'
expect_status 0 "$MASU" run --trace "$MASU_TMP/all.trace" --trace-all examples/n_queens.tl
expect_status 0 "$MASU" report "$MASU_TMP/all.trace"
expect_in_stdout 'lists, strings, nodes (bucket)'
expect_status 2 "$MASU" run --trace-all examples/n_queens.tl
expect_in_stderr '--trace-all needs --trace FILE'

# An executable records when the environment says so, and a run without it says nothing of it.
expect_status 0 "$MASU" build examples/puzzles/peak.tl -o "$MASU_TMP/peak"
expect_status 0 "$MASU_TMP/peak"
expect_status 0 env MASU_TRACE="$MASU_TMP/built.trace" "$MASU_TMP/peak"
expect_status 0 "$MASU" report "$MASU_TMP/built.trace"
expect_in_stdout "66 % of them from peak"

# One page that asks the network for nothing; the facts lie in it.
expect_status 0 "$MASU" report "$MASU_TMP/leak.trace" -o "$MASU_TMP/leak.html"
expect_stdout ''
for part in facts0 spans0 times0 segments0 'id="memory"' 'id="map"' 'id="search"'; do
    grep -q "$part" "$MASU_TMP/leak.html" || fail "the page has no $part"
done
# The library of the plots is in it, with its licence; what is not that library names nothing to fetch, and nothing may be.
grep -q "Content-Security-Policy\" content=\"default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'\"" \
    "$MASU_TMP/leak.html" || fail 'the page may ask the network'
sed '/@license .*dygraphs/,/<\/script>/d' "$MASU_TMP/leak.html" >"$MASU_TMP/bare.html"
for part in 'class="plot" id="memory"' 'Permission is hereby granted' 'Dan Vanderkam'; do
    grep -q "$part" "$MASU_TMP/bare.html" || fail "the page has no $part"
done
[ $(($(wc -c <"$MASU_TMP/leak.html") - $(wc -c <"$MASU_TMP/bare.html"))) -gt 100000 ] || fail 'the page has no dygraphs'
! grep -qE '(src|href)="|https?://|sourceMappingURL' "$MASU_TMP/bare.html" || fail 'the page asks for something else'
! grep -q sourceMappingURL "$MASU_TMP/leak.html" || fail 'the page asks for a map of its source'
blocks=
# Its numbers, read by somebody else: 15,000 blocks, of which 500 are never given back; times never fall.
if command -v python3 >/dev/null; then
    expect_status 0 python3 tests/cli/report_numbers.py "$MASU_TMP/leak.html"
    expect_stdout '15000 blocks, 500 at the end with 1024000 bytes; the map is as high as it says'
    blocks=$(python3 - "$MASU_TMP/leak.html" <<'PY'
import json, re, sys
page = open(sys.argv[1], encoding="utf-8").read()
facts = json.loads(re.search('id="facts0">(.*?)</script>', page, re.S).group(1))
packed = sum(len(m) for m in re.findall('id="(?:spans|times|segments)0">([^<]*)<', page))
assert packed < 16 * facts["events"], packed / facts["events"]
print(facts["span_count"] + facts["segment_count"])
PY
    )
else
    echo 'skipped: no python3 to read the numbers of the page'
fi
# In a browser, where there is one: the script comes to its end, and the plots are not empty.
if command -v chromium >/dev/null; then
    page="file://$(cd "$MASU_TMP" && pwd)/leak.html"
    expect_status 0 timeout 120 chromium --headless --no-sandbox --disable-gpu --user-data-dir="$MASU_TMP/chromium" --dump-dom "$page"
    expect_in_stdout 'data-ready-ms='
    expect_in_stdout "leak.c:$born</td>"
    # How fast it opens is what it has to do: each block is drawn once, and what no plot needs stays packed.
    [ -z "$blocks" ] || expect_in_stdout "data-drawn=\"$blocks\""
    expect_in_stdout 'id="times0"'
    ! grep -q 'id="spans0"' "$MASU_TMP.stdout" || fail 'the blocks are kept twice'
    expect_in_stdout 'data-plots="2"'
    # A page without the library says so, and shows the rest.
    page="file://$(cd "$MASU_TMP" && pwd)/bare.html"
    expect_status 0 timeout 120 chromium --headless --no-sandbox --disable-gpu --user-data-dir="$MASU_TMP/chromium" --dump-dom "$page"
    expect_in_stdout 'The plots over time are missing: this page lacks dygraphs'
    expect_in_stdout 'data-plots="0"'
    expect_in_stdout "leak.c:$born</td>"
    # Each plot has its colours, on the screen as on paper, and units at its axes; a drag over one zooms all. Dark on a
    # dark screen, light on its paper; keys zoom, and the peak is in sight.
    { cat "$MASU_TMP/leak.html" && cat <<'JS'; } >"$MASU_TMP/keys.html"
<script>
const ground = () => [...$("map").getContext("2d").getImageData(2, 2, 1, 1).data.slice(0, 3)].join(" "), all = view.slice();
const painted = (id, colour, layer) => {
    const c = [...$(id).querySelectorAll(layer)].sort((a, b) => a.style.zIndex - b.style.zIndex)[0], like = rgba(getComputedStyle(document.documentElement).getPropertyValue(colour).trim());
    const all = new Uint32Array(c.getContext("2d").getImageData(0, 0, c.width, c.height).data.buffer), near = (a, b) => [0, 8, 16].every(k => Math.abs((a >> k & 255) - (b >> k & 255)) < 4);
    let count = 0; for (const p of all) count += p >>> 24 > 150 && near(p, like);
    return count > all.length / 10 ? "painted" : "only " + count + " of " + all.length;
};
const labels = (id, side, form) => { const all = [...$(id).querySelectorAll(".dygraph-axis-label-" + side)].map(l => l.textContent); return all.length > 1 && all.every(l => form.test(l)) ? all.length : "wrong: " + all; };
const axes = id => (labels(id, "y", /^[\d.]+ ([KMGT]i)?B$/) > 1 && labels(id, "x", /^[\d,]+$/) > 1 && $(id).querySelector(".dygraph-xlabel").textContent);
const drag = (id, from, to) => {
    const r = $(id).getBoundingClientRect(), at = (type, part, target) => target.dispatchEvent(new MouseEvent(type, { bubbles: true, clientX: r.left + LEFT + part * (r.width - LEFT - RIGHT), clientY: r.top + 50 }));
    at("mousedown", from, [...$(id).querySelectorAll("canvas")].pop()); at("mousemove", from + .01, document); at("mousemove", to, document); at("mouseup", to, document);
};
const press = key => dispatchEvent(new KeyboardEvent("keydown", { key })), said = [ground()];
const plotted = [painted("memory", "--s0", "canvas"), painted("holes", "--s2", "canvas"), axes("memory"), axes("holes")];
dispatchEvent(new Event("beforeprint")); said.push(ground()); plotted.push(painted("memory", "--s0", ".paper"), painted("holes", "--s2", ".paper")); dispatchEvent(new Event("afterprint")); said.push(ground());
drag("memory", .25, .5); plotted.push(Math.abs(view[0] - all[1] / 4) < 100 && Math.abs(view[1] - all[1] / 2) < 100 ? "dragged" : "at " + view);
plotted.push(document.querySelectorAll(".paper").length); press("0");
document.documentElement.dataset.plotted = plotted.join(", ");
press("+"); said.push(2 * (view[1] - view[0]) <= all[1] - all[0] + 2 ? "nearer" : "as before");
press("p"); said.push(view[0] <= run.f.peak_event && run.f.peak_event < view[1] ? "peak" : "elsewhere");
press("0"); said.push(String(view) === String(all) ? "all" : "a part");
press("/"); said.push(document.activeElement.id);
document.documentElement.dataset.said = said.join(", ");
</script>
JS
    page="file://$(cd "$MASU_TMP" && pwd)/keys.html"
    expect_status 0 timeout 120 chromium --headless --no-sandbox --disable-gpu --user-data-dir="$MASU_TMP/chromium" \
        --blink-settings=preferredColorScheme=0 --dump-dom "$page"
    expect_in_stdout 'data-plotted="painted, painted, events, events, painted, painted, dragged, 0"'
    expect_in_stdout 'data-said="20 24 28, 255 255 255, 20 24 28, nearer, peak, all, search"'
else
    echo 'skipped: no chromium to open the page'
fi

# What fuzzing found: a segment of nearly all addresses there are. No number of the page is more than 63 bits hold.
expect_status 0 "$MASU" report tests/fuzz/found/addresses_past_64_bits.trace -o "$MASU_TMP/wide.html"
if command -v python3 >/dev/null; then
    expect_status 0 python3 - "$MASU_TMP/wide.html" <<'PY'
import base64, re, sys
text, numbers, value, shift = open(sys.argv[1], errors="replace").read(), [], 0, 0
for byte in base64.b64decode(re.search('id="segments0">([^<]*)<', text).group(1)):
    value, shift = value | (byte & 127) << shift, shift + 7
    if byte < 128:
        numbers, value, shift = numbers + [value], 0, 0
assert len(numbers) == 8 and max(numbers) == 9 * 10**18, numbers
PY
fi

# Arenas and rings: layers of their own, with lines; what a reset ends was given back, and the heap's piece is no request.
cat >"$MASU_TMP/arenas.c" <<'C'
#include <masu/masu.h>
int main(int count, char **words) {
    masu_trace *trace;
    masu_heap *heap;
    masu_arena *arena;
    masu_ring *ring;
    masu_heap_config of_heap = masu_heap_config_default();
    if (count != 2 || masu_trace_create(&(masu_trace_config){0}, &trace) || masu_trace_record_to(trace, words[1], NULL))
        return 1;
    of_heap.trace = trace;
    masu_arena_config of_arena = {.struct_bytes = sizeof of_arena, .trace = trace, .name = "step"};
    masu_ring_config of_ring = {.struct_bytes = sizeof of_ring, .bytes = 65536, .trace = trace, .name = "staging"};
    if (masu_heap_create(&of_heap, &heap))
        return 1;
    of_arena.heap = of_ring.heap = heap;
    if (masu_arena_create(&of_arena, &arena) || masu_ring_create(&of_ring, &ring))
        return 1;
    for (int step = 0; step < 20; step++) {
        masu_trace_set_here(MASU_HERE);
        for (int i = 0; i < 100; i++)
            if (!masu_arena_alloc(arena, 2000, 0))
                return 1;
        masu_trace_set_here(NULL);
        if (!masu_ring_alloc(ring, 5000, 0))
            return 1;
        masu_ring_reset(ring);
        masu_arena_reset(arena);
    }
    masu_ring_destroy(ring);
    masu_arena_destroy(arena);
    masu_heap_destroy(heap);
    masu_trace_destroy(trace);
}
C
# shellcheck disable=SC2086 # no word when nothing is sanitized
expect_status 0 "$cc" -O1 -Wall -Wextra -Werror $sanitize -Iinclude -I"$MASU_BUILD/include" "$MASU_TMP/arenas.c" \
    "$MASU_BUILD/libmasu.a" -o "$MASU_TMP/arenas" -pthread -lm
expect_status 0 "$MASU_TMP/arenas" "$MASU_TMP/arenas.trace"
expect_status 0 "$MASU" report "$MASU_TMP/arenas.trace"
expect_in_stdout 'Requests  2,020 served, 2,020 given back, 0 refused'
expect_in_stdout 'were alive in 101 blocks'
expect_in_stdout '% of them from arenas.c:19.'
expect_in_stdout '  step (arena)                                    195.3 KiB  195.3 KiB      2,000 '
expect_in_stdout 'staging (ring)'

# Two runs.
expect_status 0 "$MASU" report "$MASU_TMP/leak.trace" --diff "$MASU_TMP/fragments.trace"
expect_in_stdout 'alive at the end                               1000.0 KiB          0 B       -100.0 %'
expect_status 0 "$MASU" report "$MASU_TMP/leak.trace" --diff "$MASU_TMP/fragments.trace" -o "$MASU_TMP/two.html"
grep -q facts1 "$MASU_TMP/two.html" || fail 'the second run is not in the page'
if command -v chromium >/dev/null; then
    page="file://$(cd "$MASU_TMP" && pwd)/two.html"
    expect_status 0 timeout 120 chromium --headless --no-sandbox --disable-gpu --user-data-dir="$MASU_TMP/chromium" --dump-dom "$page"
    expect_in_stdout 'data-plots="3"'
    expect_in_stdout '>100 %</div>'
    expect_in_stdout '</i>fragments.trace (dashed)</li>'
else
    echo 'skipped: no chromium to open the page of two runs'
fi

# Cut: said, and read up to there. What is not a recording: said, with the place.
head -c 20000 "$MASU_TMP/leak.trace" >"$MASU_TMP/cut.trace"
expect_status 0 "$MASU" report "$MASU_TMP/cut.trace"
expect_in_stdout 'The recording ends at byte '
expect_in_stdout 'were alive where the recording ends'
for command in 'whatif --no-malloc' plan "export -o $MASU_TMP/cut.csv"; do
    # shellcheck disable=SC2086 # a command and its options
    expect_status 0 "$MASU" $command "$MASU_TMP/cut.trace"
    expect_in_stderr "masu ${command%% *}: $MASU_TMP/cut.trace: note: the recording ends at byte "
    # shellcheck disable=SC2086
    expect_status 0 "$MASU" $command "$MASU_TMP/leak.trace"
    expect_stderr ''
done
for wrong in '' 'hello' "$(printf '\211MASU\r\n\032')"; do
    printf '%s' "$wrong" >"$MASU_TMP/wrong"
    expect_status 1 "$MASU" report "$MASU_TMP/wrong"
    expect_in_stderr 'masu report: '
done
expect_status 1 "$MASU" report "$MASU_TMP/none"
expect_status 2 "$MASU" report
expect_status 2 "$MASU" report a b
expect_in_stderr '--diff b shows two'
expect_status 2 "$MASU" report --json --text a
expect_status 2 "$MASU" run --trace= examples/puzzles/peak.tl
expect_in_stderr '--trace: a file name is missing'
expect_status 1 "$MASU" run --trace /no/folder/file examples/puzzles/peak.tl
expect_in_stderr 'cannot record into /no/folder/file: No such file or directory'
expect_status 1 "$MASU" run --trace /dev/full examples/puzzles/peak.tl
expect_in_stderr 'cannot record into /dev/full: No space left on device'
