#!/usr/bin/env python3
"""217 problems made from MiniMalloc's seven: how many are planned to fit, and how soon.

    bench/planner_kin.py build/release/bench/planner [DATA] [--cpu 2] [--match both]

31 of each: sizes changed by up to 1, 3, 5 %; the rows shuffled, mirrored, stretched, left out, shrunk, scaled, shortened; two
problems one after the other; and two at the same time, each pair at 1.02 and 1.05 times the load of both together (those are 42).
One thread; "soon" is a fifth of a second of processor time. Whether a plan exists is not known for those that are not found.
"""
import argparse
import csv
import os
import random
import subprocess
import tempfile

NAMES = "ACDFGIK"
HEIGHT = 1048576


def read(data, name):
    with open(os.path.join(data, "minimalloc", "%s.%d.csv" % (name, HEIGHT))) as file:
        return [(int(r["lower"]), int(r["upper"]), int(r["size"])) for r in csv.DictReader(file)]


def load(rows):
    changes, now, most = {}, 0, 0
    for lower, upper, size in rows:
        changes[lower] = changes.get(lower, 0) + size
        changes[upper] = changes.get(upper, 0) - size
    for moment in sorted(changes):
        now += changes[moment]
        most = max(most, now)
    return most


def changed(rows, rng, per_cent):
    return [(lower, upper, max(1, int(size * (1 + rng.uniform(-per_cent, per_cent) / 100)))) for lower, upper, size in rows]


def stretched(rows, rng):
    at, where = 0, {}
    for moment in sorted({t for lower, upper, _ in rows for t in (lower, upper)}):
        where[moment] = at
        at += rng.randrange(1, 5000)
    return [(where[lower], where[upper], size) for lower, upper, size in rows]


def kin(problems, number, rng):
    """(name, rows, capacity) of the 31."""
    name, rows = NAMES[number], problems[number]
    for per_cent in (1, 3, 5):
        for seed in range(4):
            made = changed(rows, rng, per_cent)
            yield "%s_size%d_%d" % (name, per_cent, seed), made, 1.02 * load(made)
    made = changed(rows, rng, 5)
    yield name + "_size5_wide", made, 1.05 * load(made)
    yield name + "_same", list(rows), HEIGHT
    for i in range(2):
        yield "%s_shuffled%d" % (name, i), list(rows), HEIGHT
    yield name + "_mirrored", [(HEIGHT - upper, HEIGHT - lower, size) for lower, upper, size in rows], HEIGHT
    for i in range(2):
        yield "%s_stretched%d" % (name, i), stretched(rows, rng), HEIGHT
    for i in range(2):
        yield "%s_left%d" % (name, i), [row for row in rows if rng.random() > 0.1], HEIGHT
    yield name + "_shrunk", [(lower, upper, max(1, int(size * rng.uniform(0.95, 1)))) for lower, upper, size in rows], HEIGHT
    yield name + "_scaled", [(3 * lower, 3 * upper, size // 4) for lower, upper, size in rows], HEIGHT // 4
    made = [(lower, max(lower + 1, upper - int((upper - lower) * rng.uniform(0, 0.1))), size) for lower, upper, size in rows]
    yield name + "_short", made, 1.02 * load(made)
    behind = HEIGHT - 20000
    made = rows + [(lower + behind, upper + behind, size) for lower, upper, size in problems[(number + 1) % 7]]
    yield name + "_after", made, 1.07 * load(made)
    for distance in (1, 2, 3):
        other = (number + distance) % 7
        for per_cent in (2, 5):
            both = rows + problems[other]
            yield "%s%s_both%d" % (name, NAMES[other], per_cent), both, (1 + per_cent / 100) * load(both)


def found(bench, folder, name, rows, capacity, cpu):
    """The line of the bench; the capacity is a part of the file's name."""
    path = os.path.join(folder, "%s.%d.csv" % (name, capacity))
    with open(path, "w") as file:
        file.write("id,lower,upper,size\n")
        file.writelines("%d,%d,%d,%d\n" % (i, *row) for i, row in enumerate(rows))
    said = subprocess.run([bench, "--fit", "--threads", "1", "--cpu", str(cpu), path], capture_output=True, text=True).stdout
    os.remove(path)
    line = said.strip().splitlines()[-1]
    fields = line.split()
    return fields[5] in ("feasible", "optimal"), float(fields[7]), line


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("bench")
    parser.add_argument("data", nargs="?", default=os.environ.get("MASU_DATA", ""))
    parser.add_argument("--cpu", type=float, default=2)
    parser.add_argument("--match", default="")
    args = parser.parse_args()
    problems = [read(args.data, name) for name in NAMES]
    count = soon = later = 0
    with tempfile.TemporaryDirectory() as folder:
        for number in range(len(NAMES)):
            rng = random.Random(1000 + number)
            for name, rows, capacity in kin(problems, number, rng):
                rng.shuffle(rows)
                if args.match not in name:
                    continue
                fits, seconds, line = found(args.bench, folder, name, rows, capacity, args.cpu)
                count += 1
                soon += fits and seconds < 0.2
                later += fits and seconds >= 0.2
                if not fits:
                    print(line, flush=True)
    print("%d problems: %d within 0.2 s, %d later, %d not found" % (count, soon, later, count - soon - later))


main()
