"""Other people's programs on masu and on the best general allocators: time and peak resident memory.

    bench/programs.py CHECKOUT BUILD [--rounds N] [NAME …]        NAME: a program, traces, growth, torch, shares

CHECKOUT is a copy of mimalloc-bench whose programs lie built in CHECKOUT/out/bench, as its own script leaves them; of BUILD
come libmasu-malloc.so (integrations/malloc), libmasu.a and the headers. `none` instead of CHECKOUT: the traces and buffers that grow
by realloc (bench/programs/grow.c) alone; torch: training steps in PyTorch (bench/programs/torch_step.py). Each program runs with each allocator preloaded, by turns,
so that the load of the machine meets all alike; the tables have the lowest of all rounds. Time is processor time; a program that runs for a
fixed time and counts what it did is compared by processor time for so much work. Ratios are masu's to the best peer of that row. `$MASU_DATA/traces` (default
../shared/data beside the project): recorded training steps, replayed by bench/programs/replay.c, with masu inlined. What is missing is
said and passed over.

shares --times FILE: how much of each program's time each peer has (`perf record -e cpu-clock` for ten seconds), and from that what
the ratios of time could be at best: of an allocator that costs nothing, and of one that costs half of the best peer. FILE is
what an earlier run has printed: its times are taken.
"""
import glob
import math
import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
FOLDERS = ["/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/usr/lib64", "/usr/lib", "/usr/local/lib"]
PEERS = {
    "glibc": [""],
    "mimalloc": ["libmimalloc.so.2", "libmimalloc.so.2.0", "libmimalloc.so"],
    "jemalloc": ["libjemalloc.so.2", "libjemalloc.so"],
    "tcmalloc": ["libtcmalloc_minimal.so.4", "libtcmalloc_minimal.so"],
}
# name: (target, arguments, how the program tells its own time, standard input)
PROCESSORS = len(os.sched_getaffinity(0))
PROGRAMS = {
    "cfrac": ("cfrac", "17545186520507317056371138836327483792789528", None),
    "espresso": ("espresso", "{bench}/espresso/largest.espresso", None),
    "barnes": ("barnes", "", None),
    "alloc-test1": ("alloc-test", "1", None),
    "alloc-testN": ("alloc-test", "{n}", None),
    "larsonN": ("larson", "5 8 1000 5000 100 4141 {n}", r"relative time: ([0-9.]+)"),
    "larsonN-sized": ("larson-sized", "5 8 1000 5000 100 4141 {n}", r"relative time: ([0-9.]+)"),
    "sh6benchN": ("sh6bench", "{2n}", None),
    "sh8benchN": ("sh8bench", "{2n}", None),
    "xmalloc-testN": ("xmalloc-test", "-w {n} -t 5 -s 64", r"rtime: ([0-9.]+)"),
    "cache-scratch1": ("cache-scratch", "1 1000 1 2000000 {n}", None),
    "cache-scratchN": ("cache-scratch", "{n} 1000 1 2000000 {n}", None),
    "cache-thrash1": ("cache-thrash", "1 1000 1 2000000 {n}", None),
    "cache-thrashN": ("cache-thrash", "{n} 1000 1 2000000 {n}", None),
    "glibc-simple": ("glibc-simple", "", None),
    "glibc-thread": ("glibc-thread", "{n}", "iterations"),
    "malloc-large": ("malloc-large", "", None),
    "mleak10": ("mleak", "5", None),
    "mleak100": ("mleak", "50", None),
    "mstressN": ("mstress", "{n} 50 25", None),
    "rptestN": ("rptest", "{n} 0 1 2 500 1000 100 8 16000", None),
}


def call(*words, **more):
    return subprocess.run(words, check=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **more).stdout


def find_library(names):
    for name in names:
        for folder in FOLDERS:
            if os.access(os.path.join(folder, name), os.R_OK):
                return os.path.join(folder, name)
    return None


def find_programs(checkout):
    """The path of each program that was built."""
    folder = os.path.join(os.path.abspath(checkout), "out", "bench")
    built = {}
    for target in sorted({p[0] for p in PROGRAMS.values()}):
        path = os.path.join(folder, target)
        if os.access(path, os.X_OK):
            built[target] = path
        else:
            print(f"{target} is not in {folder}", file=sys.stderr)
    return built


def build_replay(build, folder):
    """The replay of traces, with the library in it."""
    replay = os.path.join(folder, "replay")
    call("cc", "-O2", "-I", os.path.join(HERE, "..", "include"), "-I", os.path.join(build, "include"),
         os.path.join(HERE, "programs", "replay.c"), "-o", replay, os.path.join(build, "libmasu.a"),
         "-Wl,--gc-sections", "-lpthread", "-lm", "-ldl")
    return replay


def run(command, preload, folder, own_time=None, stdin=None):
    """Seconds and KiB at most; None when it failed."""
    environment = dict(os.environ)
    words = ["/usr/bin/time", "-q", "-f", "%e %U %S %M %x", "-o", os.path.join(folder, "time"), "env"]
    if preload:
        words.append(f"LD_PRELOAD={preload}")
    done = subprocess.run(words + command, env=environment, stdin=stdin or subprocess.DEVNULL, cwd=folder,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace")
    wall, user, system, kib, _ = open(os.path.join(folder, "time")).read().split()[-5:]
    if done.returncode != 0:
        return None
    work = float(user) + float(system)
    if own_time == "iterations":
        work = 1e9 / float(re.search(r"([0-9.]+)\D*iterations", done.stdout).group(1)) * work / float(wall)
    elif own_time:
        work = float(re.search(own_time, done.stdout).group(1)) * work / float(wall)
    return work, int(kib), done.stdout


def geometric_mean(values):
    return math.exp(sum(map(math.log, values)) / len(values)) if values else float("nan")


class Table:
    def __init__(self, title, names, unit):
        self.title, self.names, self.unit, self.ratios = title, names, unit, []
        print(f"\n{title}\n\n| | {' | '.join(names)} | to the best peer |\n|---|{'---|' * (len(names) + 1)}")

    def row(self, name, values):
        peers = [values[n] for n in self.names if not n.startswith("masu") and values.get(n)]
        mine = [values[n] for n in self.names if n.startswith("masu") and values.get(n)]
        ratio = min(mine) / min(peers) if peers and mine else float("nan")
        if peers and mine:
            self.ratios.append(ratio)
        cells = [f"{values[n] * self.unit:.4g}" if values.get(n) else "-" for n in self.names]
        print(f"| {name} | {' | '.join(cells)} | {ratio:.2f} |", flush=True)

    def end(self):
        print(f"\nGeometric mean of {len(self.ratios)} rows: {geometric_mean(self.ratios):.3f}, "
              f"highest {max(self.ratios, default=float('nan')):.2f}")


def keep_lowest(into, key, value):
    if value is not None and (key not in into or value < into[key]):
        into[key] = value


def measure_programs(built, chosen, sides, rounds, folder, bench):
    results = {}
    for name in PROGRAMS:
        target, words, own_time, stdin = words_of(name, bench)
        if (chosen and name not in chosen) or target not in built:
            continue
        time, memory = results[name] = ({}, {})
        for _ in range(rounds):
            for side, preload in sides.items():
                with open(stdin) as file:
                    got = run([built[target]] + words, preload, folder, own_time, file)
                if got is None:
                    print(f"{name} fails with {side}", file=sys.stderr)
                    continue
                keep_lowest(time, side, got[0])
                keep_lowest(memory, side, got[1])
        print(name, "done", file=sys.stderr)
    for title, index, unit in (("Processor time: seconds, or for so much work", 0, 1), ("Peak resident MiB", 1, 1 / 1024)):
        table = Table(title, list(sides), unit)
        for name, values in results.items():
            table.row(name, values[index])
        table.end()


def measure_traces(replay, sides, rounds, folder):
    data = os.environ.get("MASU_DATA", os.path.join(HERE, "..", "..", "shared", "data"))
    files = sorted(glob.glob(os.path.join(data, "traces", "*.csv")))
    if not files:
        print(f"no traces in {data}", file=sys.stderr)
        return
    results = {}
    for file in files:
        time, calls, memory = results[os.path.basename(file)[:-4]] = ({}, {}, {})
        for _ in range(rounds):
            for side, preload in sides.items():
                words = [replay] + (["--masu"] if side == "masu" else []) + [os.path.abspath(file), "20"]
                got = run(words, None if side == "masu" else preload, folder)
                if got is None:
                    continue
                with_writes, without = map(float, got[2].split())
                keep_lowest(time, side, with_writes)
                keep_lowest(calls, side, without)
                keep_lowest(memory, side, got[1])
    for title, index, unit in (("Recorded training steps, ns an event, a byte of each page written", 0, 1),
                               ("The same, nothing written", 1, 1), ("Peak resident MiB", 2, 1 / 1024)):
        table = Table(title, list(sides), unit)
        for name, values in results.items():
            table.row(name, values[index])
        table.end()


def measure_growth(sides, rounds, folder):
    grow = os.path.join(folder, "grow")
    call("cc", "-O2", "-fno-builtin", os.path.join(HERE, "programs", "grow.c"), "-o", grow)
    results = {}
    for what in ("doubling", "steps", "turns", "bytes", "once", "half"):
        time, memory = results[what] = ({}, {})
        for _ in range(rounds):
            for side, preload in sides.items():
                got = run([grow, what], preload, folder)
                if got is None:
                    continue
                keep_lowest(time, side, float(got[2]))
                keep_lowest(memory, side, got[1])
    for title, index, unit in (("Buffers that grow by realloc: processor ms", 0, 1000), ("Peak resident MiB", 1, 1 / 1024)):
        table = Table(title, list(sides), unit)
        for name, values in results.items():
            table.row(name, values[index])
        table.end()


def measure_torch(sides, rounds, folder):
    time, memory, said = {}, {}, set()
    for _ in range(rounds):
        for side, preload in sides.items():
            got = run([sys.executable, os.path.join(HERE, "programs", "torch_step.py")], preload, folder)
            if got is None:
                print(f"PyTorch fails with {side}, or is not installed for {sys.executable}", file=sys.stderr)
                continue
            keep_lowest(time, side, got[0])
            keep_lowest(memory, side, got[1])
            said.add(got[2])
    for title, values, unit in (("Training steps in PyTorch: processor seconds", time, 1), ("Peak resident MiB", memory, 1 / 1024)):
        table = Table(title, list(sides), unit)
        table.row("PyTorch", values)
        table.end()
    print(f"\nLast losses that were seen: {' '.join(sorted(s.strip() for s in said))}")


def words_of(name, bench):
    target, arguments, own_time = PROGRAMS[name]
    words = arguments.replace("{bench}", bench).replace("{n}", str(PROCESSORS)).replace("{2n}", str(2 * PROCESSORS)).split()
    return target, words, own_time, os.path.join(bench, "barnes", "input") if target == "barnes" else os.devnull


# Of the C library only these are its malloc.
GLIBC_MALLOC = r"_int_(malloc|free|realloc|memalign)|malloc|free|calloc|realloc|memalign|unlink_chunk|sysmalloc|systrim|tcache\w*|arena_get\w*"


def share_of(command, preload, folder, stdin):
    """The part of the samples that lie in the preloaded library, or in the malloc of the C library."""
    data = os.path.join(folder, "perf.data")
    environment = [f"LD_PRELOAD={preload}"] if preload else []
    with open(stdin) as file:
        subprocess.run(["perf", "record", "-q", "-e", "cpu-clock", "-F", "997", "-o", data, "timeout", "10", "env"] + environment + command,
                       stdin=file, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    text = call("perf", "report", "-i", data, "--stdio", "--sort", "dso,symbol", "--comm", os.path.basename(command[0])[:15],
                stdin=subprocess.DEVNULL)
    own = re.escape(os.path.basename(os.path.realpath(preload))) if preload else r"libc\.so\.6"
    share = all_of_it = 0.0
    for line in text.splitlines():
        found = re.match(r"\s*([0-9.]+)%\s+(\S+)\s+\[[.k]\]\s+(?:__GI_+)?(?:__libc_)?(\S+)", line)
        if not found:
            continue
        all_of_it += float(found.group(1))
        if re.fullmatch(own, found.group(2)) and (preload or re.fullmatch(GLIBC_MALLOC, found.group(3).split("@")[0])):
            share += float(found.group(1))
    return share / all_of_it


def read_times(file):
    """The times of the programs in the output of an earlier run."""
    times, names = {}, []
    for line in open(file).read().split("Processor time: seconds, or for so much work")[1].splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if line.startswith("| | "):
            names = cells[1:-1]
        elif names and cells[0] in PROGRAMS:
            times[cells[0]] = {n: float(v) for n, v in zip(names, cells[1:]) if v != "-"}
        elif names and not line:
            break
    return times


def measure_shares(built, sides, times, folder, bench):
    """What is left beside the allocator is taken from the peer with which it is least."""
    peers = [side for side in sides if side != "masu"]
    print(f"\nShare of the processor time inside the allocator, and bounds of the ratio to the best peer\n\n"
          f"| | {' | '.join(peers)} | costs nothing | costs half |\n|---|{'---|' * (len(peers) + 2)}")
    nothing, half = [], []
    for name in PROGRAMS:
        target, words, _, stdin = words_of(name, bench)
        if target not in built or name not in times:
            continue
        time = times[name]
        shares = {side: share_of([built[target]] + words, sides[side], folder, stdin) for side in peers}
        best = min(peers, key=lambda side: time[side])
        beside = min(min(time[side] * (1 - shares[side]) for side in peers), time[best])
        nothing.append(beside / time[best])
        half.append((beside / time[best] + 1) / 2)
        cells = " | ".join(f"{100 * shares[side]:.0f} %" for side in peers)
        print(f"| {name} | {cells} | {nothing[-1]:.2f} | {half[-1]:.2f} |", flush=True)
    print(f"\nGeometric means: an allocator that costs nothing {geometric_mean(nothing):.3f}, one that costs half "
          f"{geometric_mean(half):.3f}")


def main():
    words, options = [], {"--rounds": "5", "--times": ""}
    arguments = iter(sys.argv[1:])
    for word in arguments:
        if word in options:
            options[word] = next(arguments)
        elif word.startswith("-"):
            sys.exit(__doc__)
        else:
            words.append(word)
    if len(words) < 2:
        sys.exit(__doc__)
    checkout, build, chosen = words[0], words[1], words[2:]
    folder = os.path.join(os.path.abspath(build), "bench", "programs")
    os.makedirs(folder, exist_ok=True)
    bench = os.path.join(os.path.abspath(checkout), "bench")
    replay = build_replay(build, folder)
    sides = {"masu": os.path.join(os.path.abspath(build), "libmasu-malloc.so")}
    for name, libraries in PEERS.items():
        path = "" if libraries == [""] else find_library(libraries)
        if path is None:
            print(f"{name} is not installed", file=sys.stderr)
        else:
            sides[name] = path
    rounds = int(options["--rounds"])
    if not chosen or "traces" in chosen:
        measure_traces(replay, sides, rounds, folder)
    if not chosen or "growth" in chosen:
        measure_growth(sides, rounds, folder)
    if "torch" in chosen:
        measure_torch(sides, rounds, folder)
    if checkout != "none" and "shares" in chosen:
        measure_shares(find_programs(checkout), sides, read_times(options["--times"]), folder, bench)
    elif checkout != "none" and not set(chosen) & {"traces", "growth", "torch"}:
        measure_programs(find_programs(checkout), chosen, sides, rounds, folder, bench)


main()
